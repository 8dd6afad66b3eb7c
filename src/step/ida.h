// SPDX-License-Identifier: Apache-2.0
// The parts of ida: its equations as functions for SUNDIALS (ida_equations.c), its history
// (ida_history.c), the method (ida.c).
#pragma once

#include "step/sundials.h"

#ifdef PAWL_WITH_SUNDIALS

typedef struct PawlIda {
  PawlSundials sun;
  void* solver;
  N_Vector id;           // 1 where a derivative appears: q and v
  PawlEval* residual;    // M, f, g, G, g_t
  PawlEval* tangents;    // M, K, C, G and d(G v + g_t)/dq
  int roots;             // root functions that the solver was told of
  bool used;             // the solver has been through a first step
  double *q, *v, *jerk;  // of a beginning
} PawlIda;

// The unknowns, or the residuals in the same places.
typedef struct PawlIdaParts {
  double *q, *v, *lambda, *mu;
} PawlIdaParts;

PawlIdaParts pawl_ida_parts(const PawlStepper* stepper, N_Vector y);

// For SUNDIALS; `ida` is a PawlIda.
int pawl_ida_residual(double t, N_Vector y, N_Vector rate, N_Vector r, void* ida);
int pawl_ida_jacobian(double t, double c, N_Vector y, N_Vector rate, N_Vector r, SUNMatrix J,
                      void* ida, N_Vector unused1, N_Vector unused2, N_Vector unused3);
int pawl_ida_roots(double t, N_Vector y, N_Vector rate, double* out, void* ida);
int pawl_ida_weigh(N_Vector y, N_Vector weights, void* ida);

#endif
