// SPDX-License-Identifier: Apache-2.0
// The generalized-alpha core that ga-p, ga-v, ga-a and the methods built on them share. Equation
// labels refer to docs/theory/ga-p.md and docs/theory/generalized-alpha.md.
#pragma once

#include "linalg/balance_line.h"
#include "step/method.h"
#include "system/kernels_ga.h"

// At which level the constraints of the smooth motion are imposed.
typedef enum PawlLevel {
  PAWL_LEVEL_POSITION,
  PAWL_LEVEL_VELOCITY,
  PAWL_LEVEL_ACCELERATION
} PawlLevel;

// What follows from the state a step began with is not stored of a large model: an array that is
// written and read costs more than its numbers do. `v`, `a`, `delta` and `path` are
typedef enum PawlGaFold {
  PAWL_GA_STORED,
  PAWL_GA_GUESS,     // those of the guess
  PAWL_GA_CORRECTED  // those of the guess and the correction `dq`; `r`, `magnitude` are not stored
} PawlGaFold;        // but for parts of the coordinates that rows look at, unless it is `slim`

typedef struct PawlGaSource {  // what the guess is made of
  const double *v, *vdot, *a, *last_vdot;
  double more;
} PawlGaSource;

typedef struct PawlGa {
  PawlLevel level;
  bool simple;                // mass matrix and gradient instead of exact tangents
  bool between;               // force directions between the gradients in a step with a switch
  bool shifted;               // a of a first step is the acceleration at t + (alpha_m - alpha_f) h
  double baumgarte;           // B [1/s]; 0 unless the level is that of accelerations
  double baumgarte_position;  // the gain of positions, B where it has none of its own
  double alpha_m, alpha_f, beta, gamma;
  double h, beta_p, gamma_p;          // beta', gamma' of the step under way
  PawlEval* residual_eval;            // M, f, G, the constraint at its level, and more
  PawlEval* tangent_eval;             // K, C and the tangent of the constraint
  PawlEval* first_eval;               // both, of a guess that is corrected anyway; NULL: one by one
  bool tangents_there;                // they are those of the iterate
  double *q, *v, *vdot, *a, *lambda;  // the iterate
  double* delta;                      // q = retract(q_n, delta)
  double* a_first;                    // a_n of a first step, where it is shifted
  double *r, *magnitude;              // residual of the dynamics, and the size of its terms
  double *c, *c_size;                 // residual of the constraint at its level, and its size
  bool c_sized;                       // `c_size` is that of c; else computed where asked for
  double* row_errors;                 // by part of the rows
  double *dq, *dlambda;               // correction
  double *S, *J;                      // what a Newton step factors
  unsigned char* below;               // by part of S: some of it is below 0; NULL: nobody looks
  double* G_size;                     // room for |G|
  PawlBalanceLine balance;            // of forces, as machine code
  PawlPattern mass;                   // entries of M that are not 0, where it is constant
  double* mass_values;                // and their numbers; NULL: those of H
  double* weight;                     // diagonal of M; 0 for states
  bool lumped;                        // M is constant and has nothing else; of large models alone
  double* path;                       // |v'| of the guess and all its corrections, summed up
  double *size_q, *size_v, *size_a;   // what each coordinate, rate, acceleration counts as
  bool sizes_late, sized;       // but for the columns of rows computed where asked for; they are
                                // those of the iterate
  double* turned;               // (rows) how rows turn; NULL: constraints are of one level
  double *rounded, *rounded_c;  // terms of balances and rows that rounding is a part of
  const double* B;              // force directions: G, or between two gradients
  const double *U, *W;          // corrections of q and v by the caller; NULL: none
  bool still;                   // U and W are 0 so far
  unsigned char* moved;         // by part of the coordinates: U and W may be something else than 0
                                // there; NULL: they may be anywhere
  const int* columns;           // U and W are 0 but for these coordinates, which rows have; NULL:
  int column_count;             // they may be others anywhere
  double* v_total;              // v + W
  double error_r, error_c, error_own;  // dynamics, constraint; dynamics of the worst coordinate
  int worst_row;
  double change, last_change;  // largest part of its coordinate that a correction was
  const double *dU, *dW;       // the corrections of U and W by the caller; NULL: there were none
  bool change_known;           // `change` is that of the last correction
  double best;                 // smallest error of the iteration under way
  bool unjudged;               // the guess was the end: sizes are those of no residual       (A26)
  bool balanced;               // dynamics and constraint hold to the tolerance, or to rounding
  double S_beta, S_gamma;      // beta', gamma' of S and J, where these change with h and modes
  int* S_modes;                // alone, and the modes; beta' 0: none
  double* S_alone;             // S of the last correction with no row in force
  long long S_number;          // of their factorisation, 0: not yet known
  long long held;              // the factorisation of a correction of this step, 0: none
  double held_error;           // with which the last correction by it began, INFINITY: none
  double enough;               // an error from which on factors are held
  bool holding;                // the last correction was by factors of one before
  bool placed;                 // q and v_total are those of the iterate already
  bool known;                  // dq is the right side of the next correction already
  bool begun;                  // the next guess may begin where the iterate is, see pawl_ga_begins
  unsigned char* begins;       // by part of the coordinates; NULL: nobody asks
  bool lean;                   // only what is read later is stored, see pawl_ga_unfold
  bool slim;                   // and of coordinates that rows have: constraints are of positions,
                               // there is no U, and `v` and `size_q` are stored
  int corrections;             // of the step under way
  bool once;                   // there was one in the step before
  PawlGaFold fold;
  PawlGaSource source;
  double more;              // the guess extrapolates; of models with `off` alone
  double* off;              // by part of the rows, see ga_bend.c; NULL: without
  struct PawlGaSums* sums;  // by part of the coordinates, see ga_loops.h
  PawlKernelsGa* small;     // by which small models step, with arrays of the above; NULL: without
} PawlGa;

// The method's part of a state.
typedef struct PawlGaMemory {
  double *a, *last_vdot, *last_lambda;
  double* last_h;  // 0 before there is a last step, below 0 where `a` is still to be shifted
} PawlGaMemory;
PAWL_INLINE PawlGaMemory pawl_ga_memory(const PawlStepper* s, PawlState* state) {
  int n = s->sizes.v;
  double* m = state->memory;
  return (PawlGaMemory){m, m + n, m + 2 * n, m + 2 * n + s->sizes.rows};
}

// Allocates a core; rho from the stepper's options. `more`: what the caller wants to be evaluated
// with each residual (a mask of PAWL_MASS and so on), besides M, f, G and the constraint's level.
PAWL_CHECKED PawlStatus pawl_ga_create(PawlStepper* s, PawlLevel level, unsigned more, PawlGa* ga,
                                       PawlError* err);
void pawl_ga_destroy(PawlGa* ga);
// gamma = 1, alpha_m = alpha_f = 0, beta = 1/2 instead of the coefficients of rho.
void pawl_ga_implicit(PawlGa* ga);

void pawl_ga_start(PawlStepper* s, PawlState* state);   // a_0 = v'_0, or left to the first step
void pawl_ga_forget(PawlStepper* s, PawlState* state);  // no extrapolation in the next step

// First guess of v', lambda; a, v and delta follow from (A1) to (A3). A first step may begin with
// the acceleration of a shifted time, under the rows of `phase`.
PAWL_CHECKED PawlStatus pawl_ga_predict(PawlStepper* s, PawlGa* ga, const PawlPhase* phase,
                                        PawlState* state, double h, PawlError* err);
// The parts of an iteration: residuals at the iterate (with U and W), whether it has ended after a
// number of corrections, one correction, and the message when it does not end. `judged`: the sizes
// of the residuals are computed, too, as the end asks for; else errors read 0.
PAWL_CHECKED PawlStatus pawl_ga_residual(PawlStepper* s, PawlGa* ga, const PawlPhase* phase,
                                         PawlState* state, bool judged, PawlError* err);
// `pawl_ga_balance` is the residual without a new evaluation, for other lambda or rows at the same
// point. Where `pawl_ga_may_end` is true `pawl_ga_ended` decides, with the error of the caller's
// own rows, 0 without.
PAWL_CHECKED PawlStatus pawl_ga_balance(PawlStepper* s, PawlGa* ga, const PawlPhase* phase,
                                        bool judged, PawlError* err);
bool pawl_ga_may_end(const PawlStepper* s, PawlGa* ga, const PawlPhase* phase, int corrections);
bool pawl_ga_ended(const PawlStepper* s, PawlGa* ga, double error_other);
PAWL_CHECKED PawlStatus pawl_ga_correct(PawlStepper* s, PawlGa* ga, const PawlPhase* phase,
                                        PawlState* state, PawlError* err);
// S of (A9), of tangents that are evaluated.
void pawl_ga_sum_tangents(const PawlStepper* s, PawlGa* ga);
// For methods at one level: first_eval.
PAWL_CHECKED PawlStatus pawl_ga_join_first(PawlStepper* s, PawlGa* ga, unsigned more,
                                           PawlError* err);
PawlStatus pawl_ga_stuck(PawlStepper* s, PawlGa* ga, double t, PawlError* err);
// What these are made of (ga_end.c). Sizes of q, v and v' at the iterate; those of other rates v;
// the errors of a residual; the largest |change_j| / size_j; the largest |c_i| of the rows in `set`
// (NULL: all) over their terms sum_j |G_ij| size_j, which go to `terms` (rows), and its row.
void pawl_ga_size(const PawlStepper* s, PawlGa* ga, const double* v, bool positions);  // alone
void pawl_ga_size_rates(const PawlStepper* s, PawlGa* ga, const double* v);
void pawl_ga_errors(const PawlStepper* s, PawlGa* ga, const PawlPhase* phase);
double pawl_ga_part(const PawlStepper* s, const PawlGa* ga, const double* change,
                    const double* size);
double pawl_ga_row_error(const PawlStepper* s, PawlGa* ga, const double* G, const double* size,
                         const double* c, const unsigned char* set, double* terms, int* row);
// Newton's method on dynamics and constraint at its level, from the guess.
PAWL_CHECKED PawlStatus pawl_ga_iterate(PawlStepper* s, PawlGa* ga, const PawlPhase* phase,
                                        PawlState* state, PawlError* err);
// Whether forces have outgrown the step to the iterate (pawl_dynamics_outgrown).            (A23)
PAWL_CHECKED PawlStatus pawl_ga_outgrown(const PawlStepper* s, const PawlGa* ga,
                                         const PawlState* state, PawlError* err);
// The iterate becomes the state; `flush`: with W, and without numbers next to the denormal ones.
void pawl_ga_accept(PawlStepper* s, PawlGa* ga, PawlState* state, bool flush);
