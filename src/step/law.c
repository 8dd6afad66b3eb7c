// SPDX-License-Identifier: Apache-2.0
// The law of a jump: which gradient carries the impulse (docs/theory/impact.md).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "step/events.h"
#include "switch/modes.h"
#include "system/system.h"

PawlStatus pawl_switcher_parse_law(const char* text, double* epsilon, PawlError* err) {
  if (pawl_model_impact_word(text, epsilon)) {
    return PAWL_OK;
  }
  if (strcmp(text, "none") == 0) {
    *epsilon = PAWL_LAW_NONE;
    return PAWL_OK;
  }
  char* end;
  *epsilon = strtod(text, &end);
  if (*end != '\0' || end == text || !(*epsilon >= 0.0 && *epsilon <= 1.0)) {
    return pawl_fail(
        err, PAWL_ERROR_USAGE,
        "impact = %s: must be post, pre, bisector, none, model or a number from 0 to 1", text);
  }
  return PAWL_OK;
}

// The law of the constraints that differ between two sets of modes. What engages and lets go knows
// post and none; regions have what the model or the option says.
PawlStatus pawl_law_of(const PawlStepper* s, const int* from, const int* to, PawlImpactLaw* law,
                       PawlError* err) {
  const PawlConstraint* first = NULL;
  double given = 1.0;
  bool chosen = strcmp(s->def.impact, "model") != 0;
  law->arc = strcmp(s->def.between, "arc") == 0;
  law->epsilon = 1.0;
  if (chosen) {
    PAWL_TRY(pawl_switcher_parse_law(s->def.impact, &given, err));
  }
  for (int c = 0; c < s->system->constraint_count; c++) {
    const PawlConstraint* constraint = &s->system->constraints[c];
    if (!pawl_system_switched(s->system, c, from, to) ||
        (constraint->triggered && to[c] != PAWL_MODE_HELD)) {
      continue;
    }
    bool none =
        constraint->triggered && (chosen ? given == PAWL_LAW_NONE : constraint->impact_none);
    double own = none                    ? PAWL_LAW_NONE
                 : constraint->triggered ? 1.0
                 : chosen                ? given
                                         : constraint->impact;
    if (own == PAWL_LAW_NONE && !constraint->triggered) {
      return pawl_fail(err, PAWL_ERROR_USAGE,
                       "impact = none: is for locks and what engages; constraint '%s' switches by "
                       "regions",
                       constraint->name);
    }
    if (first && law->epsilon != own) {
      return pawl_fail(err, PAWL_ERROR_RUN,
                       "t = %.10g: constraints '%s' and '%s' switch together with different impact "
                       "laws; give them the same",
                       s->switcher->before->t, first->name, constraint->name);
    }
    law->epsilon = own;
    first = constraint;
  }
  return PAWL_OK;
}

static const char* first_switched(const PawlStepper* s, const int* from, const int* to) {
  for (int c = 0; c < s->system->constraint_count; c++) {
    if (pawl_system_switched(s->system, c, from, to)) {
      return s->system->model->constraints[c].name;
    }
  }
  return "?";
}

// Prepares the jump from the rows and gradient before to those after; `planes` may be turned.
PawlStatus pawl_law_prepare(PawlStepper* s, const double* M, const double* G, PawlImpactLaw law,
                            int* planes, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  if (!w->impact) {
    return pawl_fail(err, PAWL_ERROR_RUN,
                     "t = %.10g: a jump needs dense matrices, and %d velocities are more than %d",
                     w->before->t, s->sizes.v, (int)PAWL_LARGEST_DENSE);
  }
  PawlStatus status = pawl_impact_mass(w->impact, &s->H, M);
  status = status ? status : pawl_impact_before(w->impact, &s->G, w->G_before, w->active_before);
  status = status ? status : pawl_impact_after(w->impact, &s->G, G, s->active);
  status = status ? status : pawl_impact_directions(w->impact, law, planes);
  return status == PAWL_RETRY
             ? pawl_fail(err, PAWL_ERROR_RUN,
                         "t = %.10g: the mass matrix is singular where constraint '%s' switches",
                         w->before->t, first_switched(s, w->before->modes, s->modes))
             : status;
}

// Solves the jump with the choice of directions that lets the motion go on into the new regions:
// the shortest way first, then each set of planes turned.
PawlStatus pawl_law_solve(PawlStepper* s, PawlState* state, int planes, const double* rate,
                          double* v_plus, double* Lambda, unsigned* flips, double* gain_out,
                          PawlError* err) {
  enum { MOST_PLANES = 12 };
  PawlSwitcher* w = s->switcher;
  unsigned choices = 1u << (planes < MOST_PLANES ? planes : MOST_PLANES);
  double best_gain = -INFINITY;
  bool solved = false;
  *flips = 0;
  for (unsigned f = 0; f < choices; f++) {
    memset(Lambda, 0, (size_t)s->sizes.rows * sizeof(double));
    if (pawl_impact_solve(w->impact, f, w->before->v, rate, v_plus, Lambda) != PAWL_OK) {
      continue;
    }
    PawlPoint point = {state->t, state->q, v_plus, NULL, NULL, s->modes, s->held};
    PAWL_TRY(pawl_eval_run(w->eval, &point, err));
    double gain = pawl_modes_entering(s->system, pawl_eval_values(w->eval)->z_rate,
                                      w->before->modes, s->modes);
    if (!solved || gain > best_gain) {
      best_gain = gain;
      *flips = f;
    }
    solved = true;
    if (gain >= PAWL_SMALLEST_GAIN) {
      break;
    }
  }
  if (!solved) {
    return pawl_fail(err, PAWL_ERROR_RUN,
                     "t = %.10g: constraint '%s' cannot switch by this impact law: G M^-1 B^T is "
                     "singular; try impact: post or bisector",
                     state->t, first_switched(s, w->before->modes, s->modes));
  }
  *gain_out = best_gain;
  memset(Lambda, 0, (size_t)s->sizes.rows * sizeof(double));
  return pawl_impact_solve(w->impact, *flips, w->before->v, rate, v_plus, Lambda);
}

PawlStatus pawl_law_leads_back(const PawlStepper* s, PawlImpactLaw law, double gain,
                               PawlError* err) {
  return pawl_fail(
      err, PAWL_ERROR_RUN,
      "t = %.10g: the jump of constraint '%s' by impact law %g leads back from the "
      "switching surface (z' = %.3g behind it); a law nearer to bisector may carry the "
      "motion through",
      s->switcher->before->t, first_switched(s, s->switcher->before->modes, s->modes), law.epsilon,
      gain);
}

PawlStatus pawl_switcher_directions(PawlStepper* s, const PawlValues* values, const double** B,
                                    PawlError* err) {
  PawlSwitcher* w = s->switcher;
  *B = values->G;
  if (!s->crossing) {
    return PAWL_OK;
  }
  PawlImpactLaw law;
  PAWL_TRY(pawl_law_of(s, w->before->modes, s->modes, &law, err));
  if (law.epsilon == 1.0) {
    return PAWL_OK;
  }
  int planes;
  unsigned flips;
  double gain;
  PAWL_TRY(pawl_law_prepare(s, values->M, values->G, law, &planes, err));
  memcpy(w->rate, values->g_t, (size_t)s->sizes.rows * sizeof(double));
  PAWL_TRY(pawl_law_solve(s, w->before, planes, w->rate, w->spare_v, w->spare_impulse, &flips,
                          &gain, err));
  if (gain < PAWL_SMALLEST_GAIN) {
    pawl_law_leads_back(s, law, gain, err);
    return PAWL_RETRY;
  }
  pawl_impact_gradient(w->impact, flips, &s->G, values->G, w->B);
  *B = w->B;
  return PAWL_OK;
}
