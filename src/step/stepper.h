// SPDX-License-Identifier: Apache-2.0
// Inside a stepper: what every method has, and what a method adds.
#pragma once

#include "base/arena.h"
#include "base/text.h"
#include "linalg/kkt.h"
#include "pawl/stepper.h"

// A method is one file with one table like this, listed in stepper.c.
typedef struct PawlMethod {
  PawlMethodInfo info;
  int memory_vectors;  // vectors of length sizes.v that the method keeps in a state
  int memory_rows;     // and of length sizes.rows
  int memory_numbers;  // and single numbers
  // Allocates from stepper->arena.
  PawlStatus (*create)(PawlStepper* stepper, PawlError* err);
  void (*destroy)(PawlStepper* stepper);
  // Sets the memory of a state whose a and lambda are consistent.
  void (*start)(PawlStepper* stepper, PawlState* state);
  PawlStatus (*step)(PawlStepper* stepper, PawlState* state, double h, PawlError* err);
} PawlMethod;

extern const PawlMethod pawl_method_ga_p, pawl_method_rk4;

struct PawlStepper {
  PawlArena arena;
  const PawlSystem* system;
  const PawlMethod* method;
  PawlSimulateDef def;
  PawlSizes sizes;
  PawlPattern H, G;
  int nonzeros_H;
  PawlKkt* kkt;
  PawlEval* eval_start;   // M, f, g, G, g_t, gamma
  unsigned char* active;  // rows in force; NULL when all are
  char* warning;
  double* start_room;  // workspace of initial.c
  PawlStepperInfo info;
  void* data;  // the method's own
};

// ---- shared by the methods ----------------------------------------------------------------------
// y += scale * A x  and  y += scale * A^T x, for values in the order of the pattern.
void pawl_sparse_add(const PawlPattern* A, const double* values, double scale, const double* x,
                     double* y);
void pawl_sparse_add_transposed(const PawlPattern* A, const double* values, double scale,
                                const double* x, double* y);

// Acceleration and multipliers from the index-1 equations [M -G^T; G 0] [a; lambda] = [f; -gamma].
// `values` holds M, f, G and gamma at the point. PAWL_RETRY: singular, named in err.
PAWL_CHECKED PawlStatus pawl_step_accelerate(PawlStepper* stepper, const PawlValues* values,
                                             double t, double* a, double* lambda, PawlError* err);
// Names why the matrix [S -G^T; G 0] is singular at time t; PAWL_RETRY.
PawlStatus pawl_step_singular(PawlStepper* stepper, const double* S, const double* G, double t,
                              PawlError* err);

// Appends "'track' (row 2), 'pin' (row 1)" for the flagged rows, at most a few names; returns how
// many rows are flagged.
int pawl_step_list_rows(const PawlStepper* stepper, const unsigned char* flags, PawlText* out);

// initial.c: fails (PAWL_ERROR_RUN) when a row that followed from the others at the start does not
// any more.
PAWL_CHECKED PawlStatus pawl_step_watch_redundant(PawlStepper* stepper, const PawlState* state,
                                                  PawlError* err);
// initial.c: see pawl_stepper_start.
PAWL_CHECKED PawlStatus pawl_step_initial(PawlStepper* stepper, PawlState* state, bool project,
                                          PawlError* err);
