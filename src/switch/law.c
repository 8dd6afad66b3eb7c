// SPDX-License-Identifier: Apache-2.0
#include "switch/law.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

PawlStatus pawl_law_create(PawlDynamics* d, PawlLaw* law, PawlError* err) {
  *law = (PawlLaw){.dynamics = d,
                   .B = PAWL_NEW(d->arena, double, d->nonzeros_G),
                   .v = PAWL_NEW(d->arena, double, d->sizes.v),
                   .Lambda = PAWL_NEW(d->arena, double, d->sizes.rows)};
  if (d->arena->failed) {
    return pawl_fail_memory(err);
  }
  if (pawl_system_switches(d->system) && d->sizes.v <= PAWL_LARGEST_DENSE) {
    PAWL_TRY(pawl_impact_create(d->sizes.v, d->sizes.rows, &law->impact, err));
  }
  return pawl_eval_create(d->system, PAWL_SWITCHING, &law->rates, err);
}

void pawl_law_destroy(PawlLaw* law) {
  pawl_impact_destroy(law->impact);
  pawl_eval_destroy(law->rates);
}

PawlStatus pawl_law_parse(const char* text, double* epsilon, PawlError* err) {
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

PawlStatus pawl_law_of(const PawlDynamics* d, double t, const int* from, const int* to,
                       PawlImpactLaw* law, PawlError* err) {
  const PawlConstraint* first = NULL;
  double given = 1.0;
  bool chosen = strcmp(d->def->impact, "model") != 0;
  law->arc = strcmp(d->def->between, "arc") == 0;
  law->epsilon = 1.0;
  if (chosen) {
    PAWL_TRY(pawl_law_parse(d->def->impact, &given, err));
  }
  for (int c = 0; c < d->system->constraint_count; c++) {
    const PawlConstraint* constraint = &d->system->constraints[c];
    if (!pawl_system_switched(d->system, c, from, to) ||
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
                       t, first->name, constraint->name);
    }
    law->epsilon = own;
    first = constraint;
  }
  return PAWL_OK;
}

static const char* first_switched(const PawlSystem* system, const int* from, const int* to) {
  for (int c = 0; c < system->constraint_count; c++) {
    if (pawl_system_switched(system, c, from, to)) {
      return system->constraints[c].name;
    }
  }
  return "?";
}

// The largest rate of the switching functions of the regions entered, as the motion came; 1 when
// it did not move.
static PawlStatus approach(const PawlCrossing* k, const PawlPhase* after, double* size,
                           PawlError* err) {
  const PawlSystem* system = k->law->dynamics->system;
  const double* rate = pawl_eval_values(k->law->rates)->z_rate;
  PawlPoint point = pawl_phase_point(after, k->before->t, k->before->q, k->before->v, NULL, NULL);
  PAWL_TRY(pawl_eval_run(k->law->rates, &point, err));
  *size = 0.0;
  for (int g = 0; g < system->guard_count; g++) {
    int c = system->guards[g].constraint, mode = system->guards[g].mode;
    bool entered = after->modes[c] == mode && k->before->modes[c] != mode;
    *size = entered ? fmax(*size, fabs(rate[g])) : *size;
  }
  for (int g = system->guard_count; g < system->guard_count + system->turn_count; g++) {
    int c = system->constraint_count + g - system->guard_count;
    *size = after->modes[c] != k->before->modes[c] ? fmax(*size, fabs(rate[g])) : *size;
  }
  *size = *size > 0.0 ? *size : 1.0;
  return PAWL_OK;
}

PawlStatus pawl_law_gain(const PawlCrossing* k, const PawlPhase* after, const double* v,
                         double* gain, PawlError* err) {
  const PawlSystem* system = k->law->dynamics->system;
  *gain = INFINITY;
  if (!pawl_system_switches(system)) {
    return PAWL_OK;
  }
  PawlPoint point = pawl_phase_point(after, k->before->t, k->before->q, v, NULL, NULL);
  PAWL_TRY(pawl_eval_run(k->law->rates, &point, err));
  *gain = pawl_modes_entering(system, pawl_eval_values(k->law->rates)->z_rate, k->before->modes,
                              after->modes);
  if (*gain < 0.0) {
    double size;
    PAWL_TRY(approach(k, after, &size, err));
    *gain /= size;
  }
  return PAWL_OK;
}

// "pre", "post", "bisector", or the number.
static const char* label_of(PawlImpactLaw law, char room[32]) {
  snprintf(room, 32, "%.6g", law.epsilon);
  return law.epsilon == 0.0   ? "pre"
         : law.epsilon == 1.0 ? "post"
         : law.epsilon == 0.5 ? "bisector"
                              : room;
}

PawlStatus pawl_law_check_gain(const PawlCrossing* k, const PawlPhase* after, PawlImpactLaw law,
                               double gain, PawlError* err) {
  char room[32];
  return gain >= PAWL_SMALLEST_GAIN
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_RUN,
                         "t = %.10g: the jump of constraint '%s' by impact: %s leads back from "
                         "the switching surface (z' behind it is %.3g of that before); a law "
                         "nearer to bisector may carry the motion through",
                         k->before->t,
                         first_switched(k->law->dynamics->system, k->before->modes, after->modes),
                         label_of(law, room), gain);
}

// Prepares the jump from the rows and gradient before to those after; `planes` may be turned.
static PawlStatus prepare(const PawlCrossing* k, const PawlPhase* after, const PawlValues* values,
                          PawlImpactLaw law, int* planes, PawlError* err) {
  const PawlDynamics* d = k->law->dynamics;
  PawlImpact* impact = k->law->impact;
  if (!impact) {
    return pawl_fail(err, PAWL_ERROR_RUN,
                     "t = %.10g: a jump needs dense matrices, and %d velocities are more than %d",
                     k->before->t, d->sizes.v, (int)PAWL_LARGEST_DENSE);
  }
  PawlStatus status = pawl_impact_mass(impact, &d->H, values->M);
  status = status ? status : pawl_impact_before(impact, &d->G, k->G, k->before->active);
  status = status ? status : pawl_impact_after(impact, &d->G, values->G, after->active);
  status = status ? status : pawl_impact_directions(impact, law, planes);
  return status == PAWL_RETRY
             ? pawl_fail(err, PAWL_ERROR_RUN,
                         "t = %.10g: the mass matrix is singular where constraint '%s' switches",
                         k->before->t, first_switched(d->system, k->before->modes, after->modes))
             : status;
}

// The shortest way first, then each set of planes turned.
PawlStatus pawl_law_solve(const PawlCrossing* k, const PawlPhase* after, const PawlValues* values,
                          PawlImpactLaw law, double* v_plus, double* Lambda, unsigned* flips,
                          double* gain_out, PawlError* err) {
  enum { MOST_PLANES = 12 };
  const PawlDynamics* d = k->law->dynamics;
  PawlImpact* impact = k->law->impact;
  char room[32];
  int planes;
  PAWL_TRY(prepare(k, after, values, law, &planes, err));
  unsigned choices = 1u << (planes < MOST_PLANES ? planes : MOST_PLANES);
  double best_gain = -INFINITY;
  bool solved = false;
  *flips = 0;
  for (unsigned f = 0; f < choices; f++) {
    double gain;
    memset(Lambda, 0, (size_t)d->sizes.rows * sizeof(double));
    if (pawl_impact_solve(impact, f, k->before->v, values->g_t, v_plus, Lambda) != PAWL_OK) {
      continue;
    }
    PAWL_TRY(pawl_law_gain(k, after, v_plus, &gain, err));
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
    return pawl_fail(
        err, PAWL_ERROR_RUN,
        "t = %.10g: constraint '%s' cannot switch by impact: %s, whose impulse does not "
        "change the rate that the new mode forbids (G M^-1 B^T is singular); post and "
        "bisector can",
        k->before->t, first_switched(d->system, k->before->modes, after->modes),
        label_of(law, room));
  }
  *gain_out = best_gain;
  memset(Lambda, 0, (size_t)d->sizes.rows * sizeof(double));
  return pawl_impact_solve(impact, *flips, k->before->v, values->g_t, v_plus, Lambda);
}

PawlStatus pawl_law_directions(const PawlPhase* phase, const PawlValues* values, const double** B,
                               PawlError* err) {
  const PawlCrossing* k = phase->crossing;
  *B = values->G;
  if (!k) {
    return PAWL_OK;
  }
  const PawlDynamics* d = k->law->dynamics;
  PawlImpactLaw law;
  PAWL_TRY(pawl_law_of(d, k->before->t, k->before->modes, phase->modes, &law, err));
  if (law.epsilon == 1.0) {
    return PAWL_OK;
  }
  unsigned flips;
  double gain;
  PAWL_TRY(pawl_law_solve(k, phase, values, law, k->law->v, k->law->Lambda, &flips, &gain, err));
  if (pawl_law_check_gain(k, phase, law, gain, err) != PAWL_OK) {
    return PAWL_RETRY;
  }
  pawl_impact_gradient(k->law->impact, flips, &d->G, values->G, k->law->B);
  *B = k->law->B;
  return PAWL_OK;
}
