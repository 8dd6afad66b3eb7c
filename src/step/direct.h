// SPDX-License-Identifier: Apache-2.0
// v' and lambda of a small system again and again within a step: phase, functions, gates and rows
// stay, so that they are looked at once, and nothing stands between the machine code of the
// equations and that of the linear system. The operations are those of pawl_forms_accelerate in the
// form index-1, and so are the bits.
//
// Where something is not as usual (a value that is not finite, a matrix that needs row exchanges)
// a call returns false, and the step is taken again from its beginning without this.
#pragma once

#include "step/kernels.h"
#include "step/method.h"
#include "system/eval_again.h"

typedef struct PawlDirect {
  const PawlEval* eval;
  const PawlValues* values;
  PawlKktDirect kkt;
  PawlPoint point;
  PawlSources from;
  int rows;
  const unsigned char* active;
} PawlDirect;

// For points (q, v) that stay where they are in memory. False: the step needs more than this.
PAWL_INLINE bool pawl_direct_begin(PawlStepper* s, const PawlPhase* phase, PawlEval* eval,
                                   const double* q, const double* v, PawlDirect* by) {
  if (s->seen || !pawl_dynamics_direct(&s->dynamics, phase, &by->kkt) ||
      !pawl_eval_settle(eval, phase->modes)) {
    return false;
  }
  by->eval = eval;
  by->values = &eval->values;
  by->point = pawl_phase_point(phase, 0.0, q, v, NULL, NULL);
  by->from = pawl_program_sources(s->system, &by->point);
  by->rows = s->sizes.rows;
  by->active = phase->active;
  return true;
}

// n: of v.
PAWL_INLINE bool pawl_direct_accelerate(PawlDirect* by, int n, double t, double* a,
                                        double* lambda) {
  const PawlValues* values = by->values;
  by->point.t = t;
  if (pawl_eval_again(by->eval, &by->point, &by->from) != 0.0 ||
      (by->kkt.factor && !pawl_kkt_direct_factor(&by->kkt, values->M, values->G, values->G))) {
    return false;
  }
  pawl_kernels_copy(n, values->f, a);
  pawl_kernels_bias(by->rows, by->active, values->gamma, lambda);
  pawl_kkt_direct_solve(&by->kkt, a, lambda);
  return true;
}
