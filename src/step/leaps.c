// SPDX-License-Identifier: Apache-2.0
// Equation labels refer to docs/theory/energy.md.
#include "step/leaps.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "model/model.h"
#include "step/kinks.h"

enum { KINETIC, POTENTIAL };

PawlStatus pawl_leaps_create(PawlStepper* s, PawlLeaps* l, PawlError* err) {
  const PawlSystem* system = s->system;
  int located = system->timed_count + (pawl_kinks_wanted(s) ? system->kink_count : 0);
  *l =
      (PawlLeaps){.first = system->constraint_count + system->turn_count,
                  .first_timed = system->constraint_count + system->turn_count + system->kink_count,
                  .first_surface = system->guard_count + system->turn_count,
                  .t = NAN};
  if (located == 0) {
    return PAWL_OK;
  }
  l->modes = PAWL_NEW(&s->arena, int, s->sizes.modes);
  return l->modes ? pawl_eval_create(system, PAWL_ENERGY, &l->eval, err) : pawl_fail_memory(err);
}

void pawl_leaps_destroy(PawlLeaps* l) {
  pawl_eval_destroy(l->eval);
}

void pawl_leaps_mark(const PawlStepper* s, PawlLeaps* l, const PawlState* state) {
  if (l->eval) {
    memcpy(l->modes, state->modes, (size_t)s->sizes.modes * sizeof(int));
  }
}

// Whether a kink among the modes from `first` up to `end` was crossed; *which receives the first.
// One that chatters is crossed off its place, which a warning has told.
static bool is_crossed(const PawlLeaps* l, const PawlState* state, int first, int end, int* which) {
  for (*which = first; *which < end; ++*which) {
    bool chatters = *which < l->first_timed && state->still[l->first_surface + *which - l->first];
    if (state->modes[*which] != l->modes[*which] && !chatters) {
      return true;
    }
  }
  return false;
}

static PawlStatus energies(PawlLeaps* l, const PawlPhase* phase, const PawlState* state,
                           double* energy, PawlError* err) {
  PawlPoint point = pawl_phase_point(phase, state->t, state->q, state->v, NULL, NULL);
  PAWL_TRY(pawl_eval_run(l->eval, &point, err));
  memcpy(energy, pawl_eval_values(l->eval)->energy, 2 * sizeof(double));
  return PAWL_OK;
}

static PawlStatus warn(PawlStepper* s, const PawlState* state, int mode, const char* what,
                       double by, PawlError* err) {
  const PawlTurn* turn = &s->system->turns[mode - s->system->constraint_count];
  PawlText text = {0};
  pawl_text_printf(&text, "t = %.10g: the %s energy leaps by %.4g J at the kink ", state->t, what,
                   by);
  pawl_model_print(&text, s->system->model, turn->node);
  pawl_text_add(&text,
                "; the force of a leap is an impulse, which the motion is computed without: write "
                "energies that meet there, or a constraint with modes");
  PawlStatus status = text.failed ? PAWL_ERROR_MEMORY : pawl_dynamics_warn(&s->dynamics, text.s);
  pawl_text_free(&text);
  return status == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
}

// With q and v as they are, from the branches that held to those that hold now.
static PawlStatus cross(PawlStepper* s, PawlLeaps* l, const PawlState* state, int mode,
                        PawlError* err) {
  double before[2], after[2];
  PawlPhase phase = pawl_phase_of(state, s->dynamics.plain), old = phase;
  old.modes = l->modes;
  PAWL_TRY(energies(l, &old, state, before, err));
  PAWL_TRY(energies(l, &phase, state, after, err));
  double kinetic = after[KINETIC] - before[KINETIC];
  double potential = after[POTENTIAL] - before[POTENTIAL];
  double least = PAWL_LEAST_LEAP * (fabs(before[KINETIC]) + fabs(after[KINETIC]) +
                                    fabs(before[POTENTIAL]) + fabs(after[POTENTIAL]));
  bool by_time = mode >= l->first_timed;
  if (fabs(kinetic) > least) {
    PAWL_TRY(warn(s, state, mode, "kinetic", kinetic, err));
  }
  if (fabs(potential) > least && !by_time) {
    PAWL_TRY(warn(s, state, mode, "potential", potential, err));
  }
  l->t = state->t;
  l->work = by_time ? potential : 0.0;  // (B16)
  return PAWL_OK;
}

// Looks for kinks that were crossed since the last look; *any receives whether there were some.
static PawlStatus look(PawlStepper* s, PawlLeaps* l, const PawlState* state, bool* any,
                       PawlError* err) {
  int which;
  *any = l->eval && (is_crossed(l, state, l->first, l->first_timed, &which) ||
                     is_crossed(l, state, l->first_timed,
                                s->sizes.modes - s->system->model->contact_count, &which));
  PAWL_TRY(*any ? cross(s, l, state, which, err) : PAWL_OK);
  pawl_leaps_mark(s, l, state);
  return PAWL_OK;
}

PawlStatus pawl_leaps_look(PawlStepper* s, PawlLeaps* l, const PawlState* state, double* work,
                           PawlError* err) {
  bool any;
  PAWL_TRY(look(s, l, state, &any, err));
  *work = state->t == l->t ? l->work : 0.0;
  return PAWL_OK;
}

PawlStatus pawl_leaps_close(PawlStepper* s, PawlLeaps* l, const PawlState* state, double* work,
                            PawlError* err) {
  bool any;
  PAWL_TRY(look(s, l, state, &any, err));
  *work = any ? l->work : 0.0;
  l->t = NAN;  // no piece has it again
  return PAWL_OK;
}
