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

// For points (q, v) that stay where they are in memory, as `by` does.
PAWL_INLINE void pawl_direct_create(const PawlStepper* s, PawlEval* eval, const double* q,
                                    const double* v, PawlDirect* by) {
  const PawlValues* values = &eval->values;
  const PawlProgram* p = eval->programs;
  by->eval = eval;
  if (!eval->repeats) {
    return;  // there may be no program
  }
  by->point = (PawlPoint){.q = q, .v = v};
  by->from = pawl_program_sources(s->system, &by->point);
  by->at = (PawlKernelsPoint){.t = &by->point.t,
                              .M = values->M,
                              .f = values->f,
                              .G = values->G,
                              .gamma = values->gamma,
                              .registers = p->registers,
                              .from = by->from.leaf,
                              .to = p->to};
}

// In a phase. False: the step needs more than this.
PAWL_INLINE bool pawl_direct_begin(PawlStepper* s, const PawlPhase* phase, PawlEval* eval,
                                   PawlDirect* by) {
  if (s->seen || !pawl_dynamics_direct(&s->dynamics, phase, &by->at.kkt) ||
      !pawl_eval_settle(eval, phase->modes)) {
    return false;
  }
  by->point.modes = phase->modes;
  by->point.held = phase->held;
  by->from.leaf[PAWL_LEAF_INPUT] = pawl_system_inputs(s->system, &by->point);
  by->at.active = phase->active;
  by->at.still = !by->at.kkt.factor && s->dynamics.still;
  return true;
}

PAWL_INLINE double pawl_direct_evaluate(const PawlKernelsPoint* at) {
  const PawlDirect* by = (const PawlDirect*)(const void*)at;
  return pawl_eval_again(by->eval, &by->point, &by->from);
}
