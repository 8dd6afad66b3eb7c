// SPDX-License-Identifier: Apache-2.0
// The equations of a system as numbers, their one linear solver, and what is found out about them:
// which rows follow from others, and why a matrix is singular. It serves the instants of this
// folder and every method; it knows no stepper.
#pragma once

#include "base/text.h"
#include "linalg/columns.h"
#include "linalg/kkt.h"
#include "linalg/sparse_line.h"
#include "switch/mass.h"
#include "switch/phase.h"
#include "switch/slip.h"

// Who solves for contacts that depend on each other, of a method that has them: the solution of
// pawl_dynamics_solve with G in place of J, x unique and multipliers of minimum norm; PAWL_RETRY
// where there is none. `expects`: rows of this set do depend, and are not to be factored first.
typedef struct PawlDependent {
  void* of;  // NULL: nobody
  bool (*expects)(void* of, const unsigned char* set);
  PawlStatus (*solve)(void* of, const double* S, const double* B, const double* G,
                      const unsigned char* set, double* x, double* y);
} PawlDependent;

typedef struct PawlDynamics {
  PawlArena* arena;  // of the owner
  const PawlSystem* system;
  const PawlSimulateDef* def;
  PawlSizes sizes;
  PawlPattern H, G;
  PawlSparseLine by_H, by_G;  // products with them
  PawlColumns alike;          // columns of G, of models with many
  int nonzeros_H, nonzeros_G;
  bool diagonal_H;  // H has its diagonal alone
  int* diagonal;    // v: where M_jj is among the entries of H, -1: nowhere, or of a state
  double* weights;  // v: M_jj, 0 of a state; NULL where M is not constant
  PawlKkt* kkt;
  int compiled_kkt;  // its place in the list of system/compiled.h
  bool jams;       // a contact that slips is near its critical friction (jam.h): corrections along
                   // its force would be large
  PawlSlip* slip;  // friction of contacts whose instants are located, and such as hangs on
                   // multipliers; NULL without
  double* tied;    // rows: the multipliers that it is taken at
  PawlMass mass;
  PawlEval* masses;      // M alone; NULL where it is constant
  PawlEval* rates;       // f alone, where rates of states react; else NULL
  PawlEval* eval;        // M, f, g, G, g_t, gamma and the energies
  double* room;          // 3 rows + 2 v numbers, for checks of a state
  double* length_begin;  // rows: of the gradients at the start; zero where there is no start yet
  bool steady;           // M and G change with modes alone
  bool settles;          // they do so in some of the modes
  int* modes;            // the last that were looked at, where `noted`:
  bool noted, steady_now, still;  // M and G stay in them; f and gamma, too
  long long of_modes;  // the factorisation of M and G in them, by its number; 0: not known
  bool linear;         // and all tangents
  bool bare;      // in none: and no friction hangs on multipliers, no rate of a state on forces
  bool plain;     // all rows bind for good
  bool contacts;  // there are contact rows
  PawlDependent dependent;
  char* warning;  // what was noticed, NULL without
  int warnings;   // how often
  PawlStepperInfo info;
  const volatile int* stop;  // NULL, or other than 0 when no evaluation is wanted any more
} PawlDynamics;

static inline bool pawl_dynamics_stopped(const PawlDynamics* d) {
  return d->stop && *d->stop;
}

PAWL_CHECKED PawlStatus pawl_dynamics_create(PawlDynamics* d, PawlArena* arena,
                                             const PawlSystem* system, const PawlSimulateDef* def,
                                             PawlError* err);
void pawl_dynamics_destroy(PawlDynamics* d);
// Whenever this evaluation takes compiled functions, so does the linear system.
void pawl_dynamics_tie(const PawlDynamics* d, PawlEval* eval);

// M, f, g, G, g_t, gamma and energies at a state, in a phase. PAWL_STOPPED: by `stop`.
PAWL_CHECKED PawlStatus pawl_dynamics_evaluate(PawlDynamics* d, const PawlPhase* phase,
                                               const PawlState* state, const PawlValues** values,
                                               PawlError* err);

// Acceleration and multipliers from the index-1 equations [M -G^T; G 0] [a; lambda] = [f; -gamma].
// `values` holds M, f, G and gamma at the point (t, q, v). PAWL_RETRY: singular, named in err.
PAWL_CHECKED PawlStatus pawl_dynamics_accelerate(PawlDynamics* d, const PawlPhase* phase,
                                                 const PawlValues* values, double t,
                                                 const double* q, const double* v, double* a,
                                                 double* lambda, PawlError* err);
// The same again and again in one phase, by machine code: whether its solver is all that it takes,
// and what is to be noted of `count` times, the last of them at time t. `by->factor` is NULL where
// the factors in use are those of this phase.
bool pawl_dynamics_direct(PawlDynamics* d, const PawlPhase* phase, PawlKktDirect* by);
void pawl_dynamics_direct_count(PawlDynamics* d, const PawlKktDirect* by, int count, double t);
// The rates of states that depend on the accelerations and multipliers found: a of the states.
PAWL_CHECKED PawlStatus pawl_dynamics_rate_states(PawlDynamics* d, const PawlPhase* phase, double t,
                                                  const double* q, const double* v, double* a,
                                                  const double* lambda, PawlError* err);

// Whether forces grow with the motion faster than a step of an implicit formula can follow: with
// its matrix S = M + h C.. + h^2 K.. the change d of the rates from v_0 to v has d S d < 0 < d M d,
// so that the step is the way round through infinity. PAWL_RETRY, with what grows most in err.
// (A23)
PAWL_CHECKED PawlStatus pawl_dynamics_outgrown(const PawlDynamics* d, const double* M,
                                               const double* S, const double* v_0, const double* v,
                                               double t, PawlError* err);

// Factors the KKT matrix of M and G over the rows of `set`, unless the solver holds it: an instant
// asks for it again and again. PAWL_RETRY: singular.
PAWL_CHECKED PawlStatus pawl_dynamics_factor(PawlDynamics* d, const PawlValues* values,
                                             const unsigned char* set);
// True when the solver holds these factors already.
bool pawl_dynamics_is_factored(const PawlDynamics* d, const PawlValues* values,
                               const unsigned char* set);
// Factors as above; acceleration and multipliers of the state from it.
PAWL_CHECKED PawlStatus pawl_dynamics_react(PawlDynamics* d, PawlState* state,
                                            const PawlValues* values, PawlError* err);

// Factors [S -B^T; J D] over the rows of `set` (NULL: all) and solves in place. Contacts that
// depend on each other make it singular: then the solution with G in place of J, multipliers of
// minimum norm, takes its place; by `dependent`, or, where there is none, with M in place of S
// (allocates). PAWL_RETRY: singular for another reason, named.
PAWL_CHECKED PawlStatus pawl_dynamics_solve(PawlDynamics* d, const PawlValues* values,
                                            const double* S, const double* B, const double* J,
                                            const unsigned char* set, double t, double* x,
                                            double* y, PawlError* err);

// Rows of this set are known to depend on each other, by `dependent`.
bool pawl_dynamics_expects(const PawlDynamics* d, const unsigned char* set);

// The same for numbers that are known not to have changed since their factorisation `*number`, or
// by so little that its factors serve. They are not looked at, then. Set where it is made anew (0:
// none yet; NULL: they are not known to stay).
PAWL_CHECKED PawlStatus pawl_dynamics_solve_known(PawlDynamics* d, const PawlValues* values,
                                                  const double* S, const double* B, const double* J,
                                                  const unsigned char* set, double t, double* x,
                                                  double* y, long long* number, PawlError* err);

// Names why the matrix [S -G^T; G 0] over the rows of `set` is singular at time t; PAWL_RETRY.
PawlStatus pawl_dynamics_singular(PawlDynamics* d, const double* S, const double* G,
                                  const unsigned char* set, double t, PawlError* err);

// Why a method cannot go on at (t, q, v): where a coordinate has lost its mass, the gradient of a
// row vanishes, or rows of `phase` are next to depending on each other, `err` is told which and
// where, and true is returned; else it stays as it is. Uses `room` and the factorisation.
bool pawl_dynamics_blame(PawlDynamics* d, const PawlPhase* phase, double t, const double* q,
                         const double* v, PawlError* err);

// A motion begins at a state with these values of M and G: whether M is watched from here, and what
// pawl_dynamics_blame() measures by.
void pawl_dynamics_begin(PawlDynamics* d, const double* M, const double* G);
// Fails (PAWL_ERROR_RUN, with coordinate and time) where M has lost definiteness since then. A look
// costs nothing where M is constant, or where pawl_dynamics_accelerate has just factored M without
// an exchange of rows; it is taken after every step, or every mass.period-th.
PAWL_CHECKED PawlStatus pawl_dynamics_watch_masses(PawlDynamics* d, const PawlState* state,
                                                   PawlError* err);

// One more line of what was noticed, up to a few. PAWL_ERROR_MEMORY or PAWL_OK.
PAWL_CHECKED PawlStatus pawl_dynamics_warn(PawlDynamics* d, const char* line);

// Which rows in force at a state follow from others: sets its redundant and active rows, and names
// the former in the warning. `values` are those of the state in its modes; afterwards the KKT
// matrix of the rows that bind is factored. PAWL_RETRY: singular for want of mass, named in err.
PAWL_CHECKED PawlStatus pawl_dynamics_reduce(PawlDynamics* d, PawlState* state,
                                             const PawlValues* values, PawlError* err);
// What it says in the warning, once for each set of redundant rows. Factors.
PAWL_CHECKED PawlStatus pawl_dynamics_warn_redundant(PawlDynamics* d, const PawlState* state,
                                                     const PawlValues* values, PawlError* err);
// The same without a warning, where modes are not decided yet.
PAWL_CHECKED PawlStatus pawl_dynamics_choose_rows(PawlDynamics* d, PawlState* state,
                                                  const PawlValues* values, PawlError* err);

// Appends "'track' (row 2), 'pin' (row 1)" for the flagged rows, at most a few names; returns how
// many rows are flagged.
int pawl_dynamics_list_rows(const PawlDynamics* d, const unsigned char* flags, PawlText* out);

// out = G x + plus for every row; `plus` may be NULL.
void pawl_dynamics_rows(const PawlDynamics* d, const double* G, const double* x, const double* plus,
                        double* out);
// The size that each of n coordinates, rates or accelerations counts with at least, in units of
// their own: see PAWL_SMALLEST_PART.
double pawl_dynamics_least(int n, const double* x);
// How large the terms of each row are with coordinates q; a velocity is no coordinate where there
// are rotations, then each counts as 1.
void pawl_dynamics_row_sizes(const PawlDynamics* d, const double* G, const double* q,
                             double* sizes);
// A joint with a capacity whose row was left out beside contacts that act on the same: while some
// slip, these carry all of the load. (F34)
bool pawl_dynamics_leaves_to_contacts(const PawlDynamics* d, const PawlState* state, int row);
// How fast things move, or would after one step if nothing held them: max |v| + h max(|v'|, |f|/M).
// What is far below is at rest, also where all is. `values` may be NULL: without |f|/M.
double pawl_dynamics_pace(const PawlDynamics* d, const PawlState* state, const PawlValues* values);
// The acceleration |f|/M that nothing holds back.
double pawl_dynamics_fall(const PawlDynamics* d, const PawlValues* values);
// The size of accelerations: max(|v'|, |f|/M).
double pawl_dynamics_push(const PawlDynamics* d, const PawlState* state, const PawlValues* values);
// How closely an instant at t is located [s]: event_tolerance, at most PAWL_INSTANT_OF_STEP of a
// step, but not below the rounding of t (V17).
double pawl_dynamics_instant(const PawlDynamics* d, double t);
// The same of methods that find zeros themselves, which know them to more rounding of t.     (V17)
double pawl_dynamics_found(const PawlDynamics* d, double t);
// The largest of n numbers by size.
double pawl_dynamics_largest(int n, const double* x);
