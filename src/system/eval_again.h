// SPDX-License-Identifier: Apache-2.0
// Inside an evaluation, and runs of it that follow each other in one set of modes: what a run looks
// up anew each time, the functions and the gates, is looked up once for all of them.
#pragma once

#include <stdatomic.h>

#include "base/copy.h"
#include "system/eval_first.h"

struct PawlEval {
  PawlArena arena;
  const PawlSystem* system;
  unsigned mask;  // without the next two
  bool stages;    // PAWL_STAGES
  bool idle;      // PAWL_IDLE_CONTACTS
  PawlValues values;
  double* array[PAWL_PROGRAM_ARRAYS];  // by quantity, then what is reset
  int program_count, reset_count;
  PawlProgram* programs;
  PawlReset resets[PAWL_QUANTITY_COUNT];
  int list_count;  // of places that are reset one by one
  struct {
    PawlSpot* spots;
    int count;
  } lists[PAWL_QUANTITY_COUNT];
  PawlOpenGates open;
  int* modes;                  // of the constraints that have gates, in the last run
  bool holds;                  // g of locks is less what they hold
  const atomic_int* compiled;  // generation of the functions that there are
  int generation;              // of those that it has
  PawlKkt* kkt;                // takes compiled functions with it; NULL: none does
  int compiled_kkt;            // its place in the list of compiled.h
  const PawlProgram* lone;     // the one there is, as code and without numbers of modes; or NULL
  bool bare;                   // and it writes all that varies, without gates
  PawlTapeWhole* whole;        // all of a run with the open gates; NULL: there is no such function
  PawlTapeWhole* but_held;     // the same but for what locks hold, where they do
  PawlKernelsStep* step;       // compiled with it; NULL without
  bool repeats;                // pawl_eval_again can do all that there is
};

PAWL_INLINE void pawl_eval_reset(const PawlEval* eval) {
  for (int k = 0; k < eval->reset_count; k++) {
    const PawlReset* reset = &eval->resets[k];
    if (reset->base) {
      pawl_copy(reset->count, reset->base, reset->array);
    } else {
      pawl_copy_zeros(reset->count, reset->array);
    }
  }
  for (int k = 0; k < eval->list_count; k++) {
    for (int i = 0; i < eval->lists[k].count; i++) {
      *eval->lists[k].spots[i].at = eval->lists[k].spots[i].base;
    }
  }
}

// An evaluation into the arrays of another one or two, which must outlive it, of quantities that
// these have.
PAWL_CHECKED PawlStatus pawl_eval_create_part(const PawlEval* const of[2], unsigned mask,
                                              PawlEval** out, PawlError* err);

// A linear system of the same thread takes compiled functions whenever the evaluation does.
void pawl_eval_tie(PawlEval* eval, PawlKkt* kkt, int compiled_kkt);

// Small steps of generalized-alpha methods of this shape that run this evaluation, and that of
// their tangents unless these are decoupled (NULL), are compiled with it where a module is made.
void pawl_eval_offer_steps(PawlEval* eval, const PawlEval* tangents, PawlKernelsShape shape);

// g = expression - held, for locks.
void pawl_eval_subtract_held(const PawlEval* eval, const PawlPoint* point);

// Takes functions that were compiled and opens the gates of these modes (NULL: those of the start).
// True: until another run, or other modes, pawl_eval_again does what pawl_eval_run would.
bool pawl_eval_settle_anew(PawlEval* eval, const int* modes);

// Whether the gates of these modes are open.
PAWL_INLINE bool pawl_eval_are_open(const PawlEval* eval, const int* modes) {
  const PawlGated* gated = eval->system->gated;
  for (int k = 0; k < eval->open.count; k++) {
    if (eval->modes[k] != (modes ? modes[gated[k].constraint] : 0)) {
      return false;
    }
  }
  return true;
}

PAWL_INLINE bool pawl_eval_settle(PawlEval* eval, const int* modes) {
  bool same = eval->generation == atomic_load_explicit(eval->compiled, memory_order_acquire);
  return (same && eval->repeats && pawl_eval_are_open(eval, modes)) ||
         pawl_eval_settle_anew(eval, modes);
}

// The same where there may be several programs, and locks that hold.
double pawl_eval_again_any(const PawlEval* eval, const PawlPoint* point, const PawlSources* from);

// 0, or NaN where a value is not finite: pawl_eval_run says which. `from`: the sources of `point`,
// whose time may have changed since.
PAWL_INLINE double pawl_eval_again(const PawlEval* eval, const PawlPoint* point,
                                   const PawlSources* from) {
  const PawlProgram* p = eval->programs;
  if (eval->whole) {
    return eval->whole(p->registers, from->leaf, p->to);
  }
  if (eval->lone) {
    pawl_eval_reset(eval);
    double check = p->whole(p->registers, from->leaf, p->to);
    return check + pawl_program_run_gates(p);
  }
  return pawl_eval_again_any(eval, point, from);
}
