// SPDX-License-Identifier: Apache-2.0
// The one linear system of every method (docs/theory/kkt.md):
//
//   [ S  -B^T ] [ x ]   [ b ]      S  n-by-n   (mass plus scaled tangents)
//   [ J    D  ] [ y ] = [ c ]      B, J  m-by-n, one pattern; B = J = G in the plain case
//                                  D  0 for an active row; an inactive row reads y_i = c_i
//
// The pattern is fixed at creation; values change, and rows are switched on and off, without a new
// analysis. Small or full systems are solved by dense LU, those in which near unknowns alone are
// coupled (bars, beams) as a band, others (chains, trees, nets) by small dense blocks, with KLU's
// ordering and pivots where these do not suit.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/pool.h"
#include "linalg/kkt_direct.h"
#include "pawl/pattern.h"

typedef enum PawlKktSolver {
  PAWL_KKT_AUTO,  // dense or a band where that was measured to be faster, blocks elsewhere
  PAWL_KKT_DENSE,
  PAWL_KKT_KLU,
  PAWL_KKT_BAND,
  PAWL_KKT_BLOCKS,  // small dense blocks along the graph; KLU where their pivots do not suit
} PawlKktSolver;

typedef struct PawlKkt PawlKkt;

// `S` is n-by-n, `G` is m-by-n (its pattern serves B and J); the patterns are copied.
PAWL_CHECKED PawlStatus pawl_kkt_create(const PawlPattern* S, const PawlPattern* G,
                                        PawlKktSolver solver, PawlKkt** out, PawlError* err);

// The same for an S of which more is known: `mass` flags the entries of S that the mass matrix has;
// the others are tangents, or stay 0 (`mass_only`). Blocks are then the masses of bodies. Where
// `mass_only` does not come true the solution is right all the same, but takes longer.
PAWL_CHECKED PawlStatus pawl_kkt_create_for(const PawlPattern* S, const unsigned char* mass,
                                            bool mass_only, const PawlPattern* G, PawlKkt** out,
                                            PawlError* err);
// The threads of a pool, which must outlive the solver, share the work where it is large. Bits are
// the same without.
void pawl_kkt_share(PawlKkt* kkt, PawlPool* pool);
void pawl_kkt_destroy(PawlKkt* kkt);  // NULL is allowed

// Factors with these values, given in the order of the patterns. `active` has m entries; NULL means
// every row is active; a row that is not costs almost nothing. Allocates nothing, but
// for the sparse solver beside blocks when it is needed first, for more entries of sparse factors
// than any before, and for machine code, once for a set of active rows.
// PAWL_RETRY: singular to working precision; ask pawl_kkt_diagnose why, or solve by
// pawl_kkt_min_norm. PAWL_ERROR_MEMORY is the only other failure.
PAWL_CHECKED PawlStatus pawl_kkt_factor(PawlKkt* kkt, const double* S, const double* B,
                                        const double* J, const unsigned char* active);

// The same, and keeps the numbers, so that pawl_kkt_holds knows them. For callers that expect them
// again: keeping and comparing costs less than a factorisation, but not nothing.
PAWL_CHECKED PawlStatus pawl_kkt_factor_and_keep(PawlKkt* kkt, const double* S, const double* B,
                                                 const double* J, const unsigned char* active);

// True when numbers and rows are, to the bit, those of the last factorisation, and
// pawl_kkt_factor_and_keep made it. A band keeps three, a small dense matrix two: then one of the
// others that fits is in use again, as if it had been made now.
// What stands at S stays until this is said of it again: then it need not be compared number by
// number. Of the last two arrays of which it was said.
void pawl_kkt_settle(PawlKkt* kkt, const double* S);
bool pawl_kkt_holds(PawlKkt* kkt, const double* S, const double* B, const double* J,
                    const unsigned char* active);
// Whether the factorisation of this number (PawlKktInfo.current) is kept, with these active rows:
// it is in use then, and nothing is left to be compared.
bool pawl_kkt_is_still(PawlKkt* kkt, long long number, const unsigned char* active);
// The factorisation made last is kept by its number alone: without its numbers there is nothing to
// be compared, and nothing is copied.
void pawl_kkt_name(PawlKkt* kkt);
// For matrices that do not come again after another: a dense one keeps the last alone. For two that
// take turns: blocks, too, keep both, and what was kept one may be two again. Before the first
// factorisation.
void pawl_kkt_keep_one(PawlKkt* kkt);
// For a caller who solves for what solutions leave until that is rounding: blocks serve with larger
// entries of L, and are refined for fewer of them. Before the first factorisation.
void pawl_kkt_rough(PawlKkt* kkt);
PAWL_CHECKED PawlStatus pawl_kkt_keep_two(PawlKkt* kkt);

// For comparisons: no machine code from now on (kkt_line.c). The bits are the same.
void pawl_kkt_line_stop(PawlKkt* kkt);

// True when the factorisation shows S, taken to be symmetric, to be positive definite: there were
// no row exchanges, and the pivots of S, which come first, are positive. Else it may be either.
bool pawl_kkt_is_definite(const PawlKkt* kkt);

// Solves in place: x (n) holds b and receives x; y (m) holds c and receives y. Needs a
// factorisation.
void pawl_kkt_solve(PawlKkt* kkt, double* x, double* y);

// Both at once, with the bits of pawl_kkt_factor and pawl_kkt_solve one after the other. x and y
// stay as they are where it fails.
PAWL_CHECKED PawlStatus pawl_kkt_factor_and_solve(PawlKkt* kkt, const double* S, const double* B,
                                                  const double* J, const unsigned char* active,
                                                  double* x, double* y);
// For two right sides at once: the same bits.
void pawl_kkt_solve_two(PawlKkt* kkt, double* const x[2], double* const y[2]);

// The code of a small system (kkt_direct.h).
// False: there is none for these rows, or the factorisation in use is kept. Until something else
// is asked of the solver, `factor` and `solve` do what the calls above do, and nothing is counted
// before pawl_kkt_direct_count.
bool pawl_kkt_direct(PawlKkt* kkt, const unsigned char* active, PawlKktDirect* out);
// S, symmetric, is always the same in calls of such a `factor`, and B is J: then S is not factored
// again (docs/theory/kkt.md, (K14)). Before the first factorisation.
void pawl_kkt_fix(PawlKkt* kkt);
// The same for the factorisation in use, for solutions alone.
bool pawl_kkt_direct_solves(PawlKkt* kkt, PawlKktDirect* out);
void pawl_kkt_direct_count(PawlKkt* kkt, int factorizations, int solves);
// The same for two matrices that take turns, in the places that pawl_kkt_factor would take. Those
// that were factored, in their order, are then kept by their numbers (pawl_kkt_name), the last of
// them in use; where something failed, nothing is kept any more (pawl_kkt_forget).
bool pawl_kkt_direct_two(PawlKkt* kkt, const unsigned char* active, PawlKktDirect out[2]);
void pawl_kkt_direct_two_count(PawlKkt* kkt, const PawlKktDirect two[2], int factorizations,
                               int solves);
void pawl_kkt_forget(PawlKkt* kkt);  // no earlier factorisation serves any more

// A solution when rows of J (= B) depend on each other: x is unique, y has minimum norm, an
// inconsistent right side c is met in the least-squares sense. Works on the values given here, not
// on a factorisation. `*residual` (may be NULL) receives the largest violation of J x = c over the
// active rows. PAWL_RETRY when x is not unique (M singular on the free motions) or a value is not
// finite; x and y are then as before. S is taken to be a mass matrix: symmetric, semidefinite.
// Allocates, and leaves the factorisation as it is; for redundant constraints and initial values.
PAWL_CHECKED PawlStatus pawl_kkt_min_norm(PawlKkt* kkt, const double* S, const double* J,
                                          const unsigned char* active, double* x, double* y,
                                          double* residual);

// The same where forces go along B: x is that of rows which span the others, with their B, and what
// these carry is shared as if it were along J, which changes x no more than combinations of rows
// that vanish in J do by B. PAWL_RETRY also where B does not serve these rows.
PAWL_CHECKED PawlStatus pawl_kkt_min_norm_along(PawlKkt* kkt, const double* S, const double* B,
                                                const double* J, const unsigned char* active,
                                                double* x, double* y);

// Why the system is singular. `column` (0..n-1, or -1): a coordinate that moves freely with no mass
// behind it. `rows[]` (m flags): active rows that depend on the rows before them (on other rows,
// where more than 2^23 / m rows are dependent). Returns PAWL_OK also when nothing is wrong (column
// -1, no flag), PAWL_RETRY when a value is not finite. Allocates, and leaves the factorisation as
// it is.
PAWL_CHECKED PawlStatus pawl_kkt_diagnose(PawlKkt* kkt, const double* S, const double* J,
                                          const unsigned char* active, int* column,
                                          unsigned char* rows);
// The same with rows of `last` (m flags) after all others.
PAWL_CHECKED PawlStatus pawl_kkt_diagnose_last(PawlKkt* kkt, const double* S, const double* J,
                                               const unsigned char* active,
                                               const unsigned char* last, int* column,
                                               unsigned char* rows);

// What a solver remembers from earlier factorisations, and what the bits of later solutions depend
// on: the scaling and the order of the pivots. Plain bytes without pointers, for this machine;
// their number never changes. Another solver of the same patterns and kind that loads them gives,
// from its next pawl_kkt_factor on, the same solutions to the bit. Saving allocates nothing and may
// be done at any time, loading ends the validity of a factorisation. Counts of PawlKktInfo are not
// remembered. PAWL_ERROR_USAGE: the bytes are of another solver or damaged; nothing has changed.
size_t pawl_kkt_memory_bytes(const PawlKkt* kkt);
void pawl_kkt_save(const PawlKkt* kkt, void* bytes);
PAWL_CHECKED PawlStatus pawl_kkt_load(PawlKkt* kkt, const void* bytes);
// Nothing is remembered: the next solutions are to the bit those of a solver that was just created.
// The room that it has come to stays.
void pawl_kkt_renew(PawlKkt* kkt);

typedef struct PawlKktInfo {
  PawlKktSolver solver;  // the one in use
  long long factorizations;
  long long current;  // the number of the one in use, from 1 on
  long long full;     // of these, with a new choice of pivots
  long long by_code;  // of these, by machine code
  long long solves;
  int size, nonzeros;  // n + m; entries of the factors in use
} PawlKktInfo;
PawlKktInfo pawl_kkt_info(const PawlKkt* kkt);
long long pawl_kkt_current(const PawlKkt* kkt);  // that number alone
