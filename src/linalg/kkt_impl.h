// SPDX-License-Identifier: Apache-2.0
// What the files of the KKT solver share. The matrix that is factored is the scaled one,
//   A = R [ S  -B^T ; J  D ] C      R, C diagonal, powers of two
// kept in one array of values; `place` says where each given value goes, `factor` holds its
// r_i c_j (and the sign of -B^T).
#pragma once

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/pool.h"
#include "linalg/kkt.h"
#include "linalg/kkt_source.h"
#include "linalg/tolerances.h"

// When the choice is left to us (measured, docs/theory/kkt.md): dense up to this size, and beyond
// it when the factors would fill more than this part of the matrix.
#define PAWL_KKT_DENSE_SIZE 12
#define PAWL_KKT_DENSE_FILL 0.5
// A band when its entries, from the first to the last of each row and column, are no more than so
// many times those of A: then no other order has fewer, and a band looks up no index.
#define PAWL_KKT_BAND_FILL 1.5
// Blocks for sets with at most this part of the rows idle. Where they did not suit, so many
// factorisations go to KLU before they are tried again.
#define PAWL_KKT_IDLE 0.25
#define PAWL_KKT_PATIENCE 32
#define PAWL_KKT_DENSE_MAX 30000  // entries of a dense matrix are counted in an int
// The scaling is renewed when an entry of the scaled matrix has grown beyond this.
#define PAWL_KKT_DRIFT 0x1p10
#define PAWL_KKT_PART 8192             // entries, numbers or unknowns that a thread takes at once
#define PAWL_KKT_LARGEST_EXPONENT 500  // of R and C: r_i c_j stays a normal number

// Entries up to `end`, from where the one before ends: entry k + period has the factor of entry k
// and is `step` places behind it. Period 0: entries of which that is not known.
typedef struct PawlKktStretch {
  int end, period, step;
} PawlKktStretch;

typedef struct PawlKktBlock {  // one of S, B, J
  int count;
  int* row;                   // (count) position in the system, 0 .. size-1
  int* col;                   // (count)
  int* place;                 // (count) index in `values`, for the rows that are active
  double* factor;             // (count)
  PawlKktStretch* stretches;  // (stretch_most) of large blocks alone
  int stretch_most;
  int stretch_count;  // 0: none are known
  int calm;           // times that entries were placed since places or factors have changed
} PawlKktBlock;

// A factorisation that may be kept with the numbers it was given. Bands and small dense matrices
// have several, for matrices that take turns; all have the scaling and the layout that there are.
#define PAWL_KKT_KEPT 3
typedef struct PawlKktKept {
  bool on;
  bool named;          // by its number alone: S, B and J are not kept
  double *S, *B, *J;   // as given
  bool once;           // B was J
  unsigned char* set;  // (m) rows that were active
  double* values;      // of the factors
  int *pivot, *top;    // of the band, see there; dense, and blocks that exchange: the first alone
  bool plain;
  bool pinned;             // dense: rows of one entry were left out
  int solved;              // band: right sides so far, as far as that matters
  double *slim, *slim_up;  // band: L, and 1 / pivot and U, of columns with one neighbour
  bool even, refine, refines_loose, rescued;  // of blocks
  bool clean;         // 0 wherever the code of kkt_line.c or kkt_script.c does not write;
  bool based;         // dense: the factors of the S that stays are there
  long long number;   // of this factorisation
  long long settled;  // the number of S among those that were settled; 0: it was not
} PawlKktKept;

typedef struct PawlKktSettled {
  const double* S;
  long long number;
} PawlKktSettled;

typedef struct PawlKktKlu PawlKktKlu;        // kkt_klu.c
typedef struct PawlKktBand PawlKktBand;      // kkt_band.c
typedef struct PawlKktPins PawlKktPins;      // kkt_pins.c
typedef struct PawlKktLine PawlKktLine;      // kkt_line.c
typedef struct PawlKktBlocks PawlKktBlocks;  // kkt_blocks.c

// Machine code for the active rows (kkt_line.c). Factors into `values`, 0 when that is left to the
// others; solves with such factors. NULL: there is none.
typedef int PawlKktCodeFactor(double* values, const double* table, const double* S, const double* B,
                              const double* J);
typedef void PawlKktCodeSolve(const double* values, const double* table, double* x, double* y);
typedef struct PawlKktCode {
  PawlKktCodeFactor* factor;
  PawlKktCodeFactor* factor_rows;  // B = J, and S as before: its factors are there
  PawlKktCodeSolve* solve;
  PawlKktCodeSolve* solve_rows;  // x as if it were 0
  const double* table;
} PawlKktCode;

struct PawlKkt {
  PawlArena arena;
  int n, m, size;  // size = n + m
  PawlPattern S, G;
  unsigned char* mass;   // (entries of S) it is of the mass matrix; NULL: not known
  bool mass_only;        // blocks: other entries of S stay 0
  bool tight;            // blocks: none of them may be left out
  uint64_t pattern_sum;  // tells other patterns, and what was saved with them, from these
  PawlKktBlock block_S, block_B, block_J;
  int* place_D;     // (m) KLU only
  int* row_start;   // (m + 1) entries of G by rows: those of row i are
  int* row_entry;   //   row_entry[row_start[i] .. row_start[i+1]-1]
  int value_count;  // entries of the matrix in `values`
  int behind;       // where entries of inactive rows stand in it
  int zero_count;   // dense only: places of `values` that no entry writes to; below 0: not listed
  unsigned char* zeros;
  // The scaled matrix: dense or banded by columns, without the inactive rows, factored in place; or
  // as the compressed columns of KLU, inactive rows 0 but for 1 on the diagonal. Behind them, for
  // every entry of an inactive row, the k-th of B, then the k-th of J; dense: and, of coordinates
  // that a row pins, the k-th of S.
  double* values;
  double* row_scale;  // (size) R
  double* col_scale;  // (size) C
  bool scaled;        // R and C have been computed
  bool even_scale;    // and are the same
  PawlPool* pool;     // NULL: one thread
  uint64_t* tops;     // blocks: the largest of each part of the entries
  // The rows of the last assembly; before the first, every row is active.
  unsigned char* set;  // (m) rows that are active
  double* alone;       // KLU: numbers of B and J, those of idle rows zero
  int active_count, inactive_count;
  int *active, *inactive;           // (m) the rows, ascending
  PawlKktSettled settled[2];        // numbers that stay
  long long settled_count;          // how often some were
  PawlKktKept kept[PAWL_KKT_KEPT];  // kept[turn] is the factorisation in use
  int kept_count, turn;
  double inverse_pivot;                 // largest 1 / |pivot| of the last factorisation
  double* trial;                        // (size)
  double* work;                         // (size)
  int* pivot;                           // (size) dense only
  bool plain;                           // dense and band: factored without row exchanges
  double *dense_R, *dense_C, *dense_y;  // (size), (size), (m) dense only: R, C and y of the
                                        // coordinates and active rows, without gaps
  int dense_size;                       // dense only: of the matrix in `values`
  PawlKktPins* pins;                    // dense only, as these:
  int pin_count;                        // active rows of one entry
  PawlKktLine* line;
  bool fixed;  // pawl_kkt_fix
  PawlKktCode code;
  PawlKktKlu* klu;        // NULL: another solver, as is
  PawlKktBand* band;      // this,
  PawlKktBlocks* blocks;  // or this; all NULL: dense
  PawlKkt* rescue;        // with blocks: the same by KLU, once it was needed
  bool rescued;           // the last factorisation is there
  bool rescue_fits;       // it has factored these rows last, by KLU
  int patience;           // factorisations that go there without a look at blocks
  PawlKktInfo info;
};

// |v| as an integer: ordered like the doubles, infinity above them, and NaN above infinity.
static inline uint64_t pawl_kkt_magnitude(double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits & ~(UINT64_C(1) << 63);
}

// Entries first .. end - 1 of a block to their places, scaled; returns the largest.
static inline uint64_t pawl_kkt_scatter(const PawlKktBlock* block, int first, int end,
                                        const double* from, double* to) {
  const int* place = block->place;
  const double* factor = block->factor;
  uint64_t top = 0;
  for (int k = first; k < end; k++) {
    double v = from[k] * factor[k];
    uint64_t size = pawl_kkt_magnitude(v);
    to[place[k]] = v;
    top = size > top ? size : top;
  }
  return top;
}

// kkt_stretches.c: the same by stretches, where these are known; `first` begins a part of
// PAWL_KKT_PART. They are searched when places and factors have been the same for a while, and
// forgotten when these change.
uint64_t pawl_kkt_stretches_scatter(const PawlKktBlock* block, int first, int end,
                                    const double* from, double* to);
// Without the largest; and to[k] <- from[place[k]] factor[k].
void pawl_kkt_stretches_place(const PawlKktBlock* block, int first, int end, const double* from,
                              double* to);
void pawl_kkt_stretches_gather(const PawlKktBlock* block, int first, int end, const double* from,
                               double* to);
void pawl_kkt_stretches_find(PawlKktBlock* block);
PAWL_CHECKED PawlStatus pawl_kkt_stretches_create(PawlKktBlock* block, PawlArena* arena);
void pawl_kkt_stretches_forget(PawlKktBlock* block);

// kkt.c: fills `values` from the given ones; returns the largest entry, NaN when one of them is not
// a number. `pins`: rows of one entry may be left out of a dense matrix.
double pawl_kkt_assemble(PawlKkt* kkt, const double* S, const double* B, const double* J,
                         const unsigned char* active, bool pins);

// kkt.c: -1 when the factored matrix is regular, else the unknown that is largest in a null vector.
// LU is the exact factorisation of a matrix within a few eps of ours; when ours is singular some
// solution exceeds 1 / eps however large the pivots look, and a right side without pattern finds
// it: singular where one exceeds 1 / limit.
int pawl_kkt_weakest(PawlKkt* kkt, double limit);

// kkt_scale.c: computes R and C from the values, then every `factor`. Uses `work` and `trial`.
void pawl_kkt_scale(PawlKkt* kkt, const double* S, const double* B, const double* J);

// kkt_scale.c: every `factor` for the R and C that are there.
void pawl_kkt_use_scale(PawlKkt* kkt);

// kkt_memory.c
uint64_t pawl_kkt_pattern_sum(const PawlKkt* kkt);

// kkt_dense.c: factors `values`. `smallest` is the smallest pivot accepted. PAWL_RETRY: singular.
// Solving leaves y of the inactive rows as it is, and does not look at it.
PAWL_CHECKED PawlStatus pawl_kkt_dense_create(PawlKkt* kkt);
void pawl_kkt_dense_fit(PawlKkt* kkt);    // after a change of the active rows, or of R and C
void pawl_kkt_dense_clear(PawlKkt* kkt);  // before its entries are written
PAWL_CHECKED PawlStatus pawl_kkt_dense_factor(PawlKkt* kkt, double smallest);
bool pawl_kkt_dense_factor_plain(PawlKkt* kkt, double smallest);  // false: rows must be exchanged
void pawl_kkt_dense_solve(PawlKkt* kkt, double* x, double* y);
void pawl_kkt_dense_turn(PawlKkt* kkt, int turn);  // to kept[turn], to factor or to solve

// kkt_pins.c: dense, rows of one entry. Which there are among the active ones; whether they are
// left out with these values; the place of all but the inactive rows then; the solution.
PAWL_CHECKED PawlStatus pawl_kkt_pins_create(PawlKkt* kkt);
void pawl_kkt_pins_find(PawlKkt* kkt);
void pawl_kkt_pins_choose(PawlKkt* kkt, const double* B, const double* J, bool allowed);
bool pawl_kkt_pins_are_on(const PawlKkt* kkt);
void pawl_kkt_pins_turn(PawlKkt* kkt, bool on);  // as it was with factors that were kept
void pawl_kkt_pins_invert(PawlKkt* kkt);         // the entries that pin, which are multiplied by
void pawl_kkt_pins_fit(PawlKkt* kkt);
void pawl_kkt_pins_list(PawlKkt* kkt);  // what the solution needs of them
void pawl_kkt_pins_solve(PawlKkt* kkt, double* x, double* y);

// kkt_line.c: dense, the code. After a change of R and C, and of the active rows; before a
// factorisation or solution for which there is none: whether there is some now.
PAWL_CHECKED PawlStatus pawl_kkt_line_create(PawlKkt* kkt);
void pawl_kkt_line_destroy(PawlKkt* kkt);
void pawl_kkt_line_scale(PawlKkt* kkt);
void pawl_kkt_line_turn(PawlKkt* kkt);
bool pawl_kkt_line_write(PawlKkt* kkt);
void pawl_kkt_line_meet(PawlKkt* kkt);  // the active rows are in use
void pawl_kkt_line_base(PawlKkt* kkt);  // the factors are by code, and of the S that stays

// kkt_band.c: the same for a matrix whose unknowns, in the order given (size), are coupled to near
// ones only.
PAWL_CHECKED PawlStatus pawl_kkt_band_create(PawlKkt* kkt, const int* order);
void pawl_kkt_band_switch(PawlKkt* kkt, const unsigned char* active);  // from `set` to these rows
void pawl_kkt_band_clear(PawlKkt* kkt);  // `values`, before they are assembled
PAWL_CHECKED PawlStatus pawl_kkt_band_factor(PawlKkt* kkt, double smallest);
bool pawl_kkt_band_factor_plain(PawlKkt* kkt, double smallest);
void pawl_kkt_band_turn(PawlKkt* kkt, int turn);  // to kept[turn], to factor or to solve
bool pawl_kkt_band_is_definite(const PawlKkt* kkt);
void pawl_kkt_band_solve(PawlKkt* kkt, double* x, double* y);
// The best order found for a band (size), and the entries of L and U in it.
PAWL_CHECKED PawlStatus pawl_kkt_band_choose(const PawlKkt* kkt, PawlArena* arena, int** order,
                                             double* entries);

// kkt_order.c: the unknowns as they are numbered, or by breadth (Cuthill and McKee); multipliers
// after a coordinate of their own in either. Allocates.
PAWL_CHECKED PawlStatus pawl_kkt_order_band(const PawlKkt* kkt, bool by_breadth, int* Q);

// kkt_order.c: the order Q (size) of the unknowns of A, which is given by columns with every D in
// its pattern. Allocates.
PAWL_CHECKED PawlStatus pawl_kkt_order(const PawlKkt* kkt, const int* start, const int* index,
                                       int* Q);

// kkt_order.c: coordinates that the mass matrix couples are a mass. Pairs as above, a mass with as
// many rows of its own as it has coordinates; or every mass before all of its rows, which are
// ordered by the graph of J S^-1 J^T: `possible` where masses are small, and not too many rows
// share one. `inside` (entries of S) flags those that are within a mass; `second` (size, zero
// before) flags the first unknown of what may be eliminated beside what is before it in the order.
// `peeled`: every joint had one neighbour at most when its turn came. Allocate.
PAWL_CHECKED PawlStatus pawl_kkt_order_pairs(const PawlKkt* kkt, int* Q);
PAWL_CHECKED PawlStatus pawl_kkt_order_masses(const PawlKkt* kkt, int* Q, unsigned char* second,
                                              unsigned char* inside, bool* possible, bool* peeled);

// kkt_peel.c: rows by the graph that couples them (m + 1; with duplicates, both are overwritten);
// `beside` (m) is the row that goes beside each, or -1, and `follows` (m) flags rows that begin a
// joint beside the one before.
PAWL_CHECKED PawlStatus pawl_kkt_order_rows(int m, PawlArena* arena, int* start, int* index,
                                            int* rows, int* beside, unsigned char* follows,
                                            bool* peeled);

// kkt.c: lists the rows that are active now. kkt_create.c: memory of kept[turn].
void pawl_kkt_list_rows(PawlKkt* kkt, const unsigned char* active);
PAWL_CHECKED PawlStatus pawl_kkt_take_turn(PawlKkt* kkt, int turn);

// kkt_blocks.c: small dense blocks, without row exchanges.
PAWL_CHECKED PawlStatus pawl_kkt_blocks_create(PawlKkt* kkt);
double pawl_kkt_blocks_fill(const PawlKkt* kkt);  // as pawl_kkt_klu_fill
void pawl_kkt_blocks_switch(PawlKkt* kkt, const unsigned char* active);
// Sees whether there is symmetry, and factors by machine code where that is enough; else, before
// the values are written: true when J need not be, by symmetry.
bool pawl_kkt_blocks_by_script(PawlKkt* kkt, const double* S, const double* B, const double* J);
bool pawl_kkt_blocks_clear(PawlKkt* kkt);
void pawl_kkt_blocks_rescaled(PawlKkt* kkt);                                  // R or C have changed
void pawl_kkt_blocks_scaled(PawlKkt* kkt, const double* B, const double* J);  // R and C are new
// Whether the entries of S that are left out are 0, or so small that refinement makes up for them.
bool pawl_kkt_blocks_can_refine(PawlKkt* kkt, const double* S);
bool pawl_kkt_blocks_factor(PawlKkt* kkt, double smallest);  // false: they do not suit
// What is solved with next, unless it is changed before; NULL: not known.
void pawl_kkt_blocks_expect(PawlKkt* kkt, const double* x, const double* y);
// What was factored, where solutions are refined.
void pawl_kkt_blocks_note(PawlKkt* kkt, const double* S, const double* B, const double* J);
bool pawl_kkt_blocks_are_definite(const PawlKkt* kkt);
void pawl_kkt_blocks_turn(PawlKkt* kkt, int turn);  // to kept[turn], to factor or to solve
PAWL_CHECKED PawlStatus pawl_kkt_blocks_take_turn(PawlKkt* kkt, int turn);  // memory for it
void pawl_kkt_blocks_solve(PawlKkt* kkt, double* x, double* y);
void pawl_kkt_blocks_solve_two(PawlKkt* kkt, double* const x[2], double* const y[2]);

// kkt_script.c: machine code of blocks. After a change of R and C; none from now on.
void pawl_kkt_script_destroy(PawlKkt* kkt);
void pawl_kkt_script_scale(PawlKkt* kkt);
void pawl_kkt_script_stop(PawlKkt* kkt);

// kkt_create.c: the same anew, as it was before its first factorisation; blocks of the same
// patterns with all of S.
PAWL_CHECKED PawlStatus pawl_kkt_create_like(const PawlKkt* like, PawlKkt** out);
PAWL_CHECKED PawlStatus pawl_kkt_create_tight(const PawlKkt* like, PawlKkt** out);

// kkt.c: by KLU, with the rows of the last factorisation and a scaling. `active` are these.
PAWL_CHECKED PawlStatus pawl_kkt_factor_again(PawlKkt* kkt, const double* S, const double* B,
                                              const double* J, const unsigned char* active);

// kkt_rescue.c: where blocks do not suit. Created when it is needed first.
PAWL_CHECKED PawlStatus pawl_kkt_rescue(PawlKkt* kkt, const double* S, const double* B,
                                        const double* J, const unsigned char* active);
PAWL_CHECKED PawlStatus pawl_kkt_rescue_create(PawlKkt* kkt);
// Whether the rescue is made of blocks, with all of S, and has a rescue of its own.
bool pawl_kkt_blocks_are_loose(const PawlKkt* kkt);

// kkt_klu.c
PAWL_CHECKED PawlStatus pawl_kkt_klu_create(PawlKkt* kkt);
void pawl_kkt_klu_destroy(PawlKkt* kkt);
void pawl_kkt_klu_switch(PawlKkt* kkt, const unsigned char* active);  // from `set` to these rows
double pawl_kkt_klu_fill(const PawlKkt* kkt);  // entries of L and U by size squared, as expected
PAWL_CHECKED PawlStatus pawl_kkt_klu_factor(PawlKkt* kkt, double smallest);
void pawl_kkt_klu_solve(PawlKkt* kkt, double* x, double* y);
void pawl_kkt_klu_solve_two(PawlKkt* kkt, double* const x[2], double* const y[2]);
// The pivot rows P (size) in force, NULL when there are none; and taking over saved ones, a
// permutation, as bytes. The columns' order follows from the pattern.
const int* pawl_kkt_klu_order(const PawlKkt* kkt);
PAWL_CHECKED PawlStatus pawl_kkt_klu_set_order(PawlKkt* kkt, const void* P);
void pawl_kkt_klu_choose_order(PawlKkt* kkt);  // anew, from the next values
// Factors `values` although they may be singular: each column that depends on the columns
// eliminated before it is reported in `columns` (room for size) and replaced by a unit pivot.
// `diagonal` (size) are the places of the diagonal entries, all of which must exist. Without a
// defect the factorisation is valid for pawl_kkt_klu_solve.
PAWL_CHECKED PawlStatus pawl_kkt_klu_defects(PawlKkt* kkt, const int* diagonal, double smallest,
                                             int* columns, int* count);
