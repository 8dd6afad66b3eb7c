// SPDX-License-Identifier: Apache-2.0
// What ark and ida share around SUNDIALS: its objects, margins as root functions, failures in
// words, and the end of a step. SUNDIALS begins anew in every call, so that a step is a function of
// the state alone (docs/theory/sundials.md).
#pragma once

#include "step/method.h"
#include "step/project.h"
#include "step/sundials_vector.h"

#ifdef PAWL_WITH_SUNDIALS

#include <sundials/sundials_context.h>
#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sundials/sundials_nvector.h>

enum {
  PAWL_SUNDIALS_MOST = 3000,         // unknowns: matrices are full
  PAWL_SUNDIALS_MOST_STEPS = 20000,  // of SUNDIALS in one call
  PAWL_SUNDIALS_REASON_SIZE = 300,
};

// Where margins come from: pawl_loop_count and its companions, unless a test puts others here.
typedef struct PawlMargins {
  int (*count)(const PawlStepper* stepper);
  int (*most)(const PawlStepper* stepper);
  PawlStatus (*margins)(PawlStepper* stepper, double t, const double* q, const double* v,
                        double* margins, PawlError* err);
} PawlMargins;

typedef struct PawlSundials {  // the first member of the data of ark and of ida
  PawlStepper* stepper;
  SUNContext context;
  PawlVectors vectors;
  N_Vector y, y_rate;
  SUNMatrix jacobian;
  SUNLinearSolver solver;
  PawlEval* eval;          // M, f, G, gamma
  double *a, *lambda;      // at the end of a step, and of a stage
  PawlProjection onto;     // of ark; ida holds its constraints by itself
  const PawlState* state;  // of the call under way
  PawlPhase phase;         // of the same
  PawlMargins source;
  int room;                 // root functions that SUNDIALS knows
  int watched;              // of these, in force in the call under way
  double* margins;          // room
  int* directions;          // room: only the way down counts
  unsigned char* positive;  // room: the margin was seen positive in this call
  bool failed;              // the last of our functions that was called failed, as `inner` says
  bool troubled;            // one failed in this call, and SUNDIALS tried again
  PawlError inner;
  char reason[PAWL_SUNDIALS_REASON_SIZE];  // what SUNDIALS said last
} PawlSundials;

// What SUNDIALS can suffer from, whichever of its solvers it is.
typedef enum PawlSundialsFlaw {
  PAWL_FLAW_WORK,      // too many steps
  PAWL_FLAW_ACCURACY,  // tolerances below rounding
  PAWL_FLAW_ERROR,     // the error test fails however small the step
  PAWL_FLAW_NEWTON,    // Newton's method does not converge however small the step
  PAWL_FLAW_MEMORY,    // out of memory
  PAWL_FLAW_OTHER,
} PawlSundialsFlaw;

PAWL_CHECKED PawlStatus pawl_sundials_create(PawlStepper* stepper, PawlSundials* sun, int unknowns,
                                             PawlError* err);
void pawl_sundials_destroy(PawlSundials* sun);
// The error handler of every solver: keeps the text, prints nothing.
void pawl_sundials_hear(int code, const char* module, const char* function, char* text, void* sun);

// A call begins. `watch`: margins count.
PAWL_CHECKED PawlStatus pawl_sundials_begin(PawlSundials* sun, const PawlPhase* phase,
                                            const PawlState* state, bool watch, PawlError* err);
// The values to return to SUNDIALS from a function of ours that ended with `status`: 0 for success,
// > 0 when a smaller step may help, < 0 when none does.
int pawl_sundials_answer(PawlSundials* sun, PawlStatus status);
PawlPoint pawl_sundials_point(const PawlSundials* sun, double t, const double* q, const double* v,
                              const double* a, const double* lambda);
// v' and lambda of the index-1 equations at (t, q, v); the KKT matrix stays factored.
PAWL_CHECKED PawlStatus pawl_sundials_accelerate(PawlSundials* sun, double t, const double* q,
                                                 const double* v, double* a, double* lambda,
                                                 PawlError* err);
// Margins for SUNDIALS, `room` of them and none of them zero; those not watched are 1.
int pawl_sundials_margins(PawlSundials* sun, double t, const double* q, const double* v,
                          double* out);

// True for an h that SUNDIALS cannot tell from rounding of t; then a Taylor step takes its place.
bool pawl_sundials_tiny(double t, double h);
PAWL_CHECKED PawlStatus pawl_sundials_hop(PawlSundials* sun, PawlState* state, double h,
                                          bool* stopped, PawlError* err);
// The state becomes (t, q, v), moved onto the constraints with ark, with the v' and lambda that
// belong to it, or stays as it is when that fails. `*stopped` (may be NULL) is set too where a
// margin ends at or below zero unseen by SUNDIALS, which leaves the last rounding error of an
// interval out.
PAWL_CHECKED PawlStatus pawl_sundials_finish(PawlSundials* sun, PawlState* state, double t,
                                             double* q, double* v, bool* stopped, PawlError* err);
// Says that `solver` gave up at time t.
PawlStatus pawl_sundials_fail(PawlSundials* sun, const char* solver, PawlSundialsFlaw flaw,
                              double t, PawlError* err);

// True when q' = v.
bool pawl_sundials_plain_rates(const PawlStepper* stepper);

#else

// For the tables of methods in a build without SUNDIALS.
PawlStatus pawl_sundials_absent(PawlStepper* stepper, PawlError* err);

#endif
