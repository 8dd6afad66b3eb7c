// SPDX-License-Identifier: Apache-2.0
// v' and lambda of a small system again and again within a step: phase, functions, gates and rows
// stay, so that they are looked at once, and nothing stands between the machine code of the
// equations and that of the linear system. The operations are those of pawl_forms_accelerate in the
// form index-1, and so are the bits.
//
// Where something is not as usual (a value that is not finite, a matrix that needs row exchanges)
// a kernel returns 0, and the step is taken again from its beginning without this.
#pragma once

#include "step/method.h"
#include "system/eval_again.h"
#include "system/kernels.h"

typedef struct PawlDirect {
  PawlKernelsPoint at;  // first: kernels are given this
  const PawlEval* eval;
  PawlPoint point;
  PawlSources from;
} PawlDirect;

// For points (q, v) that stay where they are in memory, and as long as `by` does. False: the step
// needs more than this.
PAWL_INLINE bool pawl_direct_begin(PawlStepper* s, const PawlPhase* phase, PawlEval* eval,
                                   const double* q, const double* v, PawlDirect* by) {
  if (s->seen || !pawl_dynamics_direct(&s->dynamics, phase, &by->at.kkt) ||
      !pawl_eval_settle(eval, phase->modes)) {
    return false;
  }
  const PawlValues* values = &eval->values;
  const PawlProgram* p = eval->programs;
  by->eval = eval;
  by->point = pawl_phase_point(phase, 0.0, q, v, NULL, NULL);
  by->from = pawl_program_sources(s->system, &by->point);
  by->at.t = &by->point.t;
  by->at.M = values->M;
  by->at.f = values->f;
  by->at.G = values->G;
  by->at.gamma = values->gamma;
  by->at.active = phase->active;
  by->at.still = !by->at.kkt.factor && s->dynamics.still;
  by->at.registers = p->registers;
  by->at.from = by->from.leaf;
  by->at.to = p->to;
  return true;
}

PAWL_INLINE double pawl_direct_evaluate(const PawlKernelsPoint* at) {
  const PawlDirect* by = (const PawlDirect*)(const void*)at;
  return pawl_eval_again(by->eval, &by->point, &by->from);
}
