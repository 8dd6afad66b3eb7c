// SPDX-License-Identifier: Apache-2.0
// Impulses of contacts with friction by sweeps, for rub.c alone.
#pragma once

#include "switch/friction.h"

// Solves w = D lambda + q with the blocks of `problem`, whose rows are all rows, by going over the
// contacts again and again, each for itself (nonsmooth Gauss-Seidel). lambda holds where to begin.
// For what the solver of sets refuses: blocks in space, and contacts that depend on each other.
// `normal` rows without a block are contacts without friction. Returns the last change, relative to
// the largest impulse, rows measured by D_ii.
typedef struct PawlRubSweep {
  int m;
  const double* D;  // by columns
  const double* q;
  int contacts;
  const PawlFrictionBlock* block;  // one a contact; tangent[0] < 0: without friction
  double *lambda, *w;              // m
  int most;                        // sweeps
} PawlRubSweep;
double pawl_rub_sweep(const PawlRubSweep* p);
// How far lambda is off (F1), (F2), of the largest; w becomes that of lambda.             (F62)
double pawl_rub_sweep_off(const PawlRubSweep* p);
