// SPDX-License-Identifier: Apache-2.0
// The instant of a switch: reference values, the jump of the velocities, and which joints stick
// (docs/theory/events.md, docs/theory/impact.md, docs/theory/transition.md).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/model.h"
#include "step/events.h"
#include "switch/modes.h"
#include "system/system.h"

static const double SMALLEST_GAIN = -1e-9;  // [1/s] a rate of z below this does not go on
static const double SMALLEST_SIZE = 1e-3;   // of the terms of a row
static const double REST = 1e-10;           // rates below this part of the largest count as zero
enum { BEGINS = 2 };                        // of resting: slides from this instant on
static const double LAW_NONE = -1.0;        // rates are set, momentum is not looked at

// ---- the law of the jump ------------------------------------------------------------------------
PawlStatus pawl_switcher_parse_law(const char* text, double* epsilon, PawlError* err) {
  static const struct {
    const char* name;
    double epsilon;
  } laws[] = {{"post", 1.0}, {"pre", 0.0}, {"bisector", 0.5}, {"none", -1.0}};
  for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
    if (strcmp(text, laws[k].name) == 0) {
      *epsilon = laws[k].epsilon;
      return PAWL_OK;
    }
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
static PawlStatus law_of(const PawlStepper* s, const int* from, const int* to, PawlImpactLaw* law,
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
    bool none = constraint->triggered && (chosen ? given == LAW_NONE : constraint->impact_none);
    double own = none                    ? LAW_NONE
                 : constraint->triggered ? 1.0
                 : chosen                ? given
                                         : constraint->impact;
    if (own == LAW_NONE && !constraint->triggered) {
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
static PawlStatus prepare_impact(PawlStepper* s, const double* M, const double* G,
                                 PawlImpactLaw law, int* planes, PawlError* err) {
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
static PawlStatus solve_impact(PawlStepper* s, PawlState* state, int planes, const double* rate,
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
    if (gain >= SMALLEST_GAIN) {
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

static PawlStatus leads_back(const PawlStepper* s, PawlImpactLaw law, double gain, PawlError* err) {
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
  PAWL_TRY(law_of(s, w->before->modes, s->modes, &law, err));
  if (law.epsilon == 1.0) {
    return PAWL_OK;
  }
  int planes;
  unsigned flips;
  double gain;
  PAWL_TRY(prepare_impact(s, values->M, values->G, law, &planes, err));
  memcpy(w->rate, values->g_t, (size_t)s->sizes.rows * sizeof(double));
  PAWL_TRY(solve_impact(s, w->before, planes, w->rate, w->spare_v, w->spare_impulse, &flips, &gain,
                        err));
  if (gain < SMALLEST_GAIN) {
    leads_back(s, law, gain, err);
    return PAWL_RETRY;
  }
  pawl_impact_gradient(w->impact, flips, &s->G, values->G, w->B);
  *B = w->B;
  return PAWL_OK;
}

// ---- meeting ------------------------------------------------------------------------------------
static size_t mode_bytes(const PawlStepper* s) {
  return (size_t)s->sizes.modes * sizeof(int);
}

// How large the terms of each row are, to switcher->sizes; a velocity is no coordinate where there
// are rotations.
static const double* row_sizes(PawlStepper* s, const PawlState* state, const double* G) {
  bool same = s->sizes.q == s->sizes.v;
  pawl_sparse_sizes(&s->G, G, same ? state->q : NULL, 0.0, s->switcher->sizes);
  return s->switcher->sizes;
}

// G v + g_t of every row, to switcher->rate.
static const double* rates(PawlStepper* s, const PawlState* state, const PawlValues* values) {
  double* rate = s->switcher->rate;
  memcpy(rate, values->g_t, (size_t)s->sizes.rows * sizeof(double));
  pawl_sparse_add(&s->G, values->G, 1.0, state->v, rate);
  return rate;
}

// The largest |g_i| in force, less what `slack` seconds of motion make, relative to the terms of
// its row.
static double worst_row(PawlStepper* s, const PawlState* state, const PawlValues* values,
                        const unsigned char* active, double slack, int* row) {
  const double *size = row_sizes(s, state, values->G), *rate = rates(s, state, values);
  double worst = 0.0;
  for (int i = 0; i < s->sizes.rows; i++) {
    double off = fabs(values->g[i]) - slack * fabs(rate[i]);
    if (active[i] && off > worst * (size[i] + SMALLEST_SIZE)) {
      worst = off / (size[i] + SMALLEST_SIZE);
      *row = i;
    }
  }
  return worst;
}

// The new equations must hold where they begin, but for the drift that the old ones had and the
// tolerance of the instant, or the motion would go on beside them.
static PawlStatus check_meeting(PawlStepper* s, const PawlState* state, double drift,
                                const PawlValues* values, PawlError* err) {
  static const double MEET_TOLERANCE = 1e-6, MORE_THAN_BEFORE = 10.0;
  int row = 0, number;
  double off = worst_row(s, state, values, s->active, 2 * s->def.event_tolerance, &row);
  if (off <= MEET_TOLERANCE + MORE_THAN_BEFORE * drift) {
    return PAWL_OK;
  }
  const char* name = pawl_system_row_name(s->system, row, &number);
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: constraint '%s' (row %d) is off by %.3g where its new mode begins: "
                   "the two branches do not meet on the switching surface",
                   state->t, name, number + 1, values->g[row]);
}

// Evaluates M, f, g, G, ... at a state in stepper->modes.
static PawlStatus evaluate(PawlStepper* s, const PawlState* state, const PawlValues** values,
                           PawlError* err) {
  PawlPoint point = {state->t, state->q, state->v, NULL, NULL, s->modes, state->held};
  *values = pawl_eval_values(s->eval_start);
  return pawl_eval_run(s->eval_start, &point, err);
}

// ---- reference values ---------------------------------------------------------------------------
PawlStatus pawl_jump_capture(PawlStepper* s, PawlState* state, int c, bool* refused,
                             PawlError* err) {
  static const double MEETS = 1e-6;
  const PawlConstraint* k = &s->system->constraints[c];
  const PawlValues* values;
  int mode = s->modes[c], at = s->system->watches[c].to;
  double to = at >= 0 ? pawl_eval_values(s->switcher->watch)->watch[at] : 0.0;
  memset(state->held + k->first_row, 0, (size_t)k->row_count * sizeof(double));
  s->modes[c] = PAWL_MODE_HELD;
  PawlStatus status = evaluate(s, state, &values, err);
  s->modes[c] = mode;
  const double* size = row_sizes(s, state, values->G);
  *refused = false;
  for (int r = k->first_row; status == PAWL_OK && r < k->first_row + k->row_count; r++) {
    state->held[r] = k->on_engage == PAWL_ENGAGE_KEEP ? values->g[r] : to;
    *refused |= k->on_engage == PAWL_ENGAGE_REFUSE &&
                fabs(values->g[r] - to) > MEETS * (size[r] + SMALLEST_SIZE);
  }
  return status;
}

// Positions move onto the equations by the least change in the metric of M:
// [M -G^T; G 0] [dq; mu] = [0; -g].                                                          (V4)
static PawlStatus snap(PawlStepper* s, PawlState* state, PawlError* err) {
  enum { MOST_ROUNDS = 30 };
  PawlSwitcher* w = s->switcher;
  const PawlValues* values;
  int row = 0, number;
  double before = INFINITY;
  for (int k = 0; k < MOST_ROUNDS; k++) {
    PAWL_TRY(evaluate(s, state, &values, err));
    double off = worst_row(s, state, values, s->active, 0.0, &row);
    if (off <= 1e-15 || (off <= 1e-12 && off >= 0.5 * before)) {
      return PAWL_OK;
    }
    before = off;
    memset(w->spare_v, 0, (size_t)s->sizes.v * sizeof(double));
    for (int i = 0; i < s->sizes.rows; i++) {
      w->spare_impulse[i] = s->active[i] ? -values->g[i] : 0.0;
    }
    PAWL_TRY(pawl_step_solve(s, values, values->M, values->G, values->G, s->active, state->t,
                             w->spare_v, w->spare_impulse, err));
    pawl_system_retract(s->system, state->q, w->spare_v, state->q);
  }
  const char* name = pawl_system_row_name(s->system, row, &number);
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: constraint '%s' cannot snap to its value: it is still off by %.3g",
                   state->t, name, values->g[row]);
}

// ---- the velocities -----------------------------------------------------------------------------
static double fastest(const PawlStepper* s, const double* v) {
  double most = 0.0;
  for (int j = 0; j < s->sizes.v; j++) {
    most = fmax(most, fabs(v[j]));
  }
  return most;
}

// Rows that were not in force before, or stand for another equation now; rows that follow from
// others count, too: they may ask for other rates.
static bool list_added(PawlStepper* s) {
  PawlSwitcher* w = s->switcher;
  bool any = false;
  pawl_modes_active(s->system, s->modes, w->set);
  for (int i = 0; i < s->sizes.rows; i++) {
    int c = s->system->row_constraint[i];
    bool other = c >= 0 && !s->system->constraints[c].triggered &&
                 pawl_system_switched(s->system, c, w->before->modes, s->modes);
    w->persistent[i] = w->active_before[i] && w->set[i] && !other;
    any |= w->set[i] && !w->persistent[i];
  }
  return any;
}

// A finite force carries no impulse: where something else jumps, joints with a capacity are left
// out, and slide afterwards if they are no longer at rest.
static bool leave_out_capacities(PawlStepper* s, const PawlState* state, const PawlValues* values) {
  PawlSwitcher* w = s->switcher;
  if (w->capacity_count == 0) {
    return false;
  }
  const double* rate = rates(s, state, values);
  bool jumps = false, any = false;
  for (int i = 0; i < s->sizes.rows; i++) {
    int c = s->system->row_constraint[i];
    bool limited = c >= 0 && s->system->watches[c].capacity >= 0;
    jumps |=
        w->set[i] && !w->persistent[i] && !limited && fabs(rate[i]) > REST * fastest(s, state->v);
  }
  for (int k = 0; jumps && k < w->capacity_count; k++) {
    int row = s->system->constraints[w->capacities[k]].first_row;
    any |= w->set[row];
    w->set[row] = 0;
  }
  return any;
}

// Rows that depend on each other may ask for different rates: then no velocity serves them all.
static PawlStatus check_rates(PawlStepper* s, const PawlState* state, const PawlValues* values,
                              PawlError* err) {
  static const double SAME_RATE = 1e-9;
  PawlSwitcher* w = s->switcher;
  double rounding = 1e3 * s->def.event_tolerance * fastest(s, state->a);  // of the instant
  const double* rate = rates(s, state, values);
  pawl_sparse_sizes(&s->G, values->G, state->v, 0.0, w->sizes);
  for (int i = 0; i < s->sizes.rows; i++) {
    double size = w->sizes[i] + fabs(values->g_t[i]) + REST * fastest(s, state->v);
    if (w->set[i] && fabs(rate[i]) > SAME_RATE * size + rounding) {
      int number;
      const char* name = pawl_system_row_name(s->system, i, &number);
      return pawl_fail(err, PAWL_ERROR_RUN,
                       "t = %.10g: constraint '%s' (row %d) contradicts the others that hold now: "
                       "no velocities satisfy all of them",
                       state->t, name, number + 1);
    }
  }
  return PAWL_OK;
}

// The law post in one of its forms: M dv = G^T Lambda, G (v + dv) = -g_t over the rows of w->set.
static PawlStatus jump_post(PawlStepper* s, PawlState* state, const PawlValues* values,
                            double* impulse, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  s->info.factorizations++;
  PawlStatus status =
      pawl_transition_solve(w->transition, values->M, values->G, w->persistent, w->set, state->v,
                            values->g_t, w->spare_v, impulse, w->dependent, &w->dependent_count);
  if (status != PAWL_OK) {
    return status == PAWL_RETRY ? pawl_step_singular(s, values->M, values->G, state->t, err)
                                : pawl_fail_memory(err);
  }
  for (int j = 0; j < s->sizes.v; j++) {
    state->v[j] += w->spare_v[j];
  }
  return w->dependent_count > 0 ? check_rates(s, state, values, err) : PAWL_OK;
}

// The rates of the rows are set by the least change of the velocities, whatever the masses:
// dv = G^T y, G G^T y = -(G v + g_t). For a joint that locks: its rate becomes zero, no other. (V5)
static PawlStatus jump_none(PawlStepper* s, PawlState* state, const PawlValues* values,
                            double* impulse, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const double* rate = rates(s, state, values);
  memset(w->spare_v, 0, (size_t)s->sizes.v * sizeof(double));
  for (int i = 0; i < s->sizes.rows; i++) {
    impulse[i] = s->active[i] ? -rate[i] : 0.0;
  }
  for (int j = 0; j < s->sizes.v; j++) {  // the identity in the place of M
    for (int k = s->H.start[j]; k < s->H.start[j + 1]; k++) {
      w->identity[k] = s->H.index[k] == j;
    }
  }
  PAWL_TRY(pawl_step_solve(s, values, w->identity, values->G, values->G, s->active, state->t,
                           w->spare_v, impulse, err));
  for (int j = 0; j < s->sizes.v; j++) {
    state->v[j] += w->spare_v[j];
  }
  memset(impulse, 0, (size_t)s->sizes.rows * sizeof(double));
  return PAWL_OK;
}

// The energy that each row takes: -Lambda_i (rate before + rate after)/2, which add up to the loss
// of kinetic energy, since M (v+ - v-) = G^T Lambda.                                         (V9)
static void share_loss(PawlStepper* s, const PawlState* state, const PawlValues* values,
                       const double* impulse) {
  PawlSwitcher* w = s->switcher;
  memset(w->row_loss, 0, (size_t)s->sizes.rows * sizeof(double));
  pawl_sparse_add(&s->G, values->G, 0.5, w->before->v, w->row_loss);
  pawl_sparse_add(&s->G, values->G, 0.5, state->v, w->row_loss);
  for (int i = 0; i < s->sizes.rows; i++) {
    w->row_loss[i] *= -impulse[i];
  }
}

static PawlStatus gain_of(PawlStepper* s, const PawlState* state, double* gain, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  *gain = INFINITY;
  if (!s->switches) {
    return PAWL_OK;
  }
  PawlPoint point = {state->t, state->q, state->v, NULL, NULL, s->modes, state->held};
  PAWL_TRY(pawl_eval_run(w->eval, &point, err));
  *gain =
      pawl_modes_entering(s->system, pawl_eval_values(w->eval)->z_rate, w->before->modes, s->modes);
  return PAWL_OK;
}

// After a jump that left joints with a capacity out: those that move now slide.
static void slide_after_jump(PawlStepper* s, PawlState* state, const PawlValues* values) {
  PawlSwitcher* w = s->switcher;
  const double* rate = rates(s, state, values);
  for (int k = 0; k < w->capacity_count; k++) {
    int c = w->capacities[k], row = s->system->constraints[c].first_row;
    if (s->modes[c] == PAWL_MODE_HELD && fabs(rate[row]) > REST * fastest(s, state->v)) {
      s->modes[c] = rate[row] > 0.0 ? PAWL_MODE_UP : PAWL_MODE_DOWN;
      state->held[row] = 0.0;
    }
  }
}

static PawlStatus jump_velocities(PawlStepper* s, PawlState* state, const PawlValues* values,
                                  double* impulse, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  PawlImpactLaw law;
  double gain;
  memset(impulse, 0, (size_t)s->sizes.rows * sizeof(double));
  if (!list_added(s)) {
    return PAWL_OK;
  }
  PAWL_TRY(law_of(s, w->before->modes, s->modes, &law, err));
  if (law.epsilon == LAW_NONE) {
    return jump_none(s, state, values, impulse, err);
  }
  if (law.epsilon == 1.0) {
    bool left_out = leave_out_capacities(s, state, values);
    PAWL_TRY(jump_post(s, state, values, impulse, err));
    share_loss(s, state, values, impulse);
    if (left_out) {
      slide_after_jump(s, state, values);
      PAWL_TRY(pawl_switcher_reduce(s, state, err));
    }
    PAWL_TRY(gain_of(s, state, &gain, err));
  } else {
    int planes;
    unsigned flips;
    PAWL_TRY(prepare_impact(s, values->M, values->G, law, &planes, err));
    memcpy(w->rate, values->g_t, (size_t)s->sizes.rows * sizeof(double));
    PAWL_TRY(solve_impact(s, state, planes, w->rate, state->v, impulse, &flips, &gain, err));
  }
  return gain < SMALLEST_GAIN ? leads_back(s, law, gain, err) : PAWL_OK;
}

// ---- stick or slide -----------------------------------------------------------------------------
// The first joint at rest whose multiplier is beyond its capacity slides against it.
static PawlStatus slide_first(PawlStepper* s, PawlState* state, bool* slides, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  double* lambda = w->impulse_room;  // of least norm where joints share a force
  memcpy(lambda, state->lambda, (size_t)s->sizes.rows * sizeof(double));
  PawlState shown = *state;
  shown.modes = s->modes;
  PAWL_TRY(pawl_step_least_multipliers(s, &shown, lambda, err));
  PawlPoint point = {state->t, state->q, state->v, state->a, lambda, s->modes, state->held};
  *slides = false;
  PAWL_TRY(pawl_eval_run(w->watch, &point, err));
  const double* watch = pawl_eval_values(w->watch)->watch;
  for (int k = 0; k < w->capacity_count; k++) {
    int c = w->capacities[k];
    const PawlConstraint* constraint = &s->system->constraints[c];
    const PawlWatch* at = &s->system->watches[c];
    double force = lambda[constraint->first_row];
    if (s->modes[c] != PAWL_MODE_HELD ||
        fabs(force) <= pawl_triggers_bound(s, state, watch[at->capacity], 0.1)) {
      continue;
    }
    s->modes[c] = force > 0.0 ? PAWL_MODE_DOWN : PAWL_MODE_UP;
    state->held[constraint->first_row] = 0.0;
    w->resting[k] = BEGINS;
    *slides = true;
    return PAWL_OK;
  }
  return PAWL_OK;
}

// G v' + gamma of every row, to switcher->rate, with the rows of joints flagged in `open` as if
// they were held.
static PawlStatus second_rates(PawlStepper* s, PawlState* state, const unsigned char* open,
                               const PawlValues** values, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  memcpy(w->tried, s->modes, mode_bytes(s));
  for (int k = 0; open && k < w->capacity_count; k++) {  // rows of free modes read zero
    int c = w->capacities[k];
    s->modes[c] = open[k] ? PAWL_MODE_HELD : s->modes[c];
  }
  PawlStatus status = evaluate(s, state, values, err);
  memcpy(s->modes, w->tried, mode_bytes(s));
  if (status == PAWL_OK) {
    memcpy(w->rate, (*values)->gamma, (size_t)s->sizes.rows * sizeof(double));
    pawl_sparse_add(&s->G, (*values)->G, 1.0, state->a, w->rate);
    pawl_sparse_sizes(&s->G, (*values)->G, NULL, 0.0, w->sizes);
  }
  return status;
}

// True when a row that was left out does not follow from the others at acceleration level.
static PawlStatus contradicts(PawlStepper* s, PawlState* state, bool* yes, PawlError* err) {
  static const double OFF = 1e-9;
  PawlSwitcher* w = s->switcher;
  const PawlValues* values;
  *yes = false;
  PAWL_TRY(second_rates(s, state, NULL, &values, err));
  for (int i = 0; i < s->sizes.rows; i++) {
    double size = w->sizes[i] * fastest(s, state->a) + fabs(values->gamma[i]);
    *yes |= s->redundant[i] && fabs(w->rate[i]) > OFF * size;
  }
  return PAWL_OK;
}

// Then the first joint with a capacity that shares in it cannot hold, and slides the way that the
// others take it: a driven joint that comes to rest and turns.
static PawlStatus slide_driven(PawlStepper* s, PawlState* state, bool* slides, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const PawlValues* values;
  bool off = false;
  int left_out = s->info.redundant_rows;
  *slides = false;
  if (s->redundant) {
    PAWL_TRY(contradicts(s, state, &off, err));
  }
  for (int k = 0; off && !*slides && k < w->capacity_count; k++) {
    int c = w->capacities[k], row = s->system->constraints[c].first_row;
    double held = state->held[row];
    if (s->modes[c] != PAWL_MODE_HELD) {
      continue;
    }
    s->modes[c] = PAWL_MODE_UP;
    state->held[row] = 0.0;
    PAWL_TRY(pawl_switcher_reduce(s, state, err));
    *slides = s->info.redundant_rows < left_out;
    if (!*slides) {  // it has no part in this
      s->modes[c] = PAWL_MODE_HELD;
      state->held[row] = held;
      PAWL_TRY(pawl_switcher_reduce(s, state, err));
      continue;
    }
    w->resting[k] = BEGINS;
    PAWL_TRY(evaluate(s, state, &values, err));
    PAWL_TRY(pawl_step_accelerate(s, values, state->t, state->a, state->lambda, err));
    PAWL_TRY(second_rates(s, state, w->resting, &values, err));
    s->modes[c] = w->rate[row] >= 0.0 ? PAWL_MODE_UP : PAWL_MODE_DOWN;
  }
  return PAWL_OK;
}

// Sliding joints whose rate is zero: they have just begun, or a jump has brought them to rest.
static PawlStatus list_resting(PawlStepper* s, const PawlState* state, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  PawlPoint point = {state->t, state->q, state->v, state->a, state->lambda, s->modes, state->held};
  double size = fmax(fastest(s, state->v), fastest(s, w->before->v));
  PAWL_TRY(pawl_eval_run(w->watch, &point, err));
  const double* watch = pawl_eval_values(w->watch)->watch;
  for (int k = 0; k < w->capacity_count; k++) {
    int c = w->capacities[k];
    w->resting[k] = c != w->forced && s->modes[c] >= PAWL_MODE_UP &&
                    fabs(watch[s->system->watches[c].rate]) <= REST * size;
  }
  return PAWL_OK;
}

// The first of these that does not move on in the direction in which it slides is held; one that
// has just exceeded its capacity only if it would move against it.
static PawlStatus hold_first(PawlStepper* s, PawlState* state, bool* holds, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const PawlValues* values;
  bool any = false;
  *holds = false;
  for (int k = 0; k < w->capacity_count; k++) {
    any |= w->resting[k] != 0;
  }
  if (!any) {
    return PAWL_OK;
  }
  PAWL_TRY(second_rates(s, state, w->resting, &values, err));
  const double* second = w->rate;
  double rounding = 1e-12 * fastest(s, state->a);
  for (int k = 0; k < w->capacity_count; k++) {
    int c = w->capacities[k], row = s->system->constraints[c].first_row;
    bool refused;
    double ahead = s->modes[c] == PAWL_MODE_UP ? second[row] : -second[row];
    double least = (w->resting[k] == BEGINS ? -rounding : rounding) * w->sizes[row];
    if (!w->resting[k] || ahead > least || (ahead == 0.0 && w->resting[k] == BEGINS)) {
      continue;
    }
    s->modes[c] = PAWL_MODE_HELD;
    w->resting[k] = 0;
    w->newly_held = *holds = true;
    return pawl_jump_capture(s, state, c, &refused, err);
  }
  return PAWL_OK;
}

// Each joint with a capacity that is at rest either holds within it, or slides in the direction in
// which it then accelerates. Found by changing one at a time, the first that does not fit.
PawlStatus pawl_jump_settle(PawlStepper* s, PawlState* state, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const PawlValues* values;
  bool changes = true;
  int capacities = w ? w->capacity_count : 0;
  if (capacities > 0) {
    w->newly_held = false;
    PAWL_TRY(list_resting(s, state, err));
  }
  for (int round = 0; changes; round++) {
    PAWL_TRY(evaluate(s, state, &values, err));
    PAWL_TRY(pawl_step_accelerate(s, values, state->t, state->a, state->lambda, err));
    changes = false;
    if (capacities > 0 && round < 4 * capacities + 8) {
      PAWL_TRY(slide_driven(s, state, &changes, err));
      if (!changes) {
        PAWL_TRY(slide_first(s, state, &changes, err));
      }
      if (!changes) {
        PAWL_TRY(hold_first(s, state, &changes, err));
      }
      if (changes) {
        PAWL_TRY(pawl_switcher_reduce(s, state, err));
      }
    }
  }
  if (capacities > 0) {
    PAWL_TRY(evaluate(s, state, &values, err));  // methods start from these values
  }
  if (capacities > 0 && w->newly_held) {  // takes rounding out of their rates
    pawl_modes_active(s->system, s->modes, w->set);
    memset(w->persistent, 0, (size_t)s->sizes.rows);
    PAWL_TRY(jump_post(s, state, values, w->impulse_room, err));
  }
  return PAWL_OK;
}

// ---- the instant --------------------------------------------------------------------------------
// What locks hold from now on; those that refuse stay as they were. *snaps: positions must move.
static PawlStatus capture(PawlStepper* s, PawlState* state, bool* snaps, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  *snaps = false;
  for (int k = 0; k < w->triggered_count; k++) {
    int c = w->triggered[k];
    const PawlConstraint* constraint = &s->system->constraints[c];
    if (w->next[c] != PAWL_MODE_HELD || state->modes[c] == PAWL_MODE_HELD) {
      continue;
    }
    bool refused;
    PAWL_TRY(pawl_jump_capture(s, state, c, &refused, err));
    if (refused) {
      memset(state->held + constraint->first_row, 0,
             (size_t)constraint->row_count * sizeof(double));
      w->next[c] = state->modes[c];
      pawl_switcher_log_refusal(s, state, c);
    }
    *snaps |= !refused && constraint->on_engage != PAWL_ENGAGE_KEEP;
  }
  return PAWL_OK;
}

// A change between free and not free starts the clocks of a constraint anew.
static void restart_clocks(PawlStepper* s, PawlState* state) {
  PawlSwitcher* w = s->switcher;
  for (int k = 0; k < w->triggered_count; k++) {
    int c = w->triggered[k], from = state->modes[c], to = s->modes[c];
    const PawlConstraint* constraint = &s->system->constraints[c];
    if (to != PAWL_MODE_HELD) {
      memset(state->held + constraint->first_row, 0,
             (size_t)constraint->row_count * sizeof(double));
    }
    bool idle = to == PAWL_MODE_FREE || to == PAWL_MODE_WAITING;
    bool was_idle = from == PAWL_MODE_FREE || from == PAWL_MODE_WAITING;
    if (from == to || (!idle && !was_idle)) {
      continue;  // nothing, or between sticking and sliding
    }
    state->since[c] = state->t;
    for (int j = 0; j < w->watcher_count; j++) {
      if (w->watchers[j].kind != PAWL_WATCH_EVENT && w->watchers[j].of == c) {
        state->sides[j] = 0;
      }
    }
  }
}

// How fast a joint slides is measured from where its sliding begins.
static void begin_sliding(PawlStepper* s, PawlState* state) {
  PawlSwitcher* w = s->switcher;
  for (int k = 0; k < w->watcher_count; k++) {
    int c = w->watchers[k].of;
    if (w->watchers[k].kind == PAWL_WATCH_SLIDE && s->modes[c] != state->modes[c]) {
      state->largest[k] = 0.0;
    }
  }
}

PawlStatus pawl_jump(PawlStepper* s, PawlState* state, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const PawlValues* values;
  double before, after;
  int row = 0;
  bool snaps;
  PAWL_TRY(pawl_switcher_keep_gradient(s, state, err));
  double drift = worst_row(s, state, pawl_eval_values(s->eval_start), w->active_before, 0.0, &row);
  pawl_switcher_copy(s, w->before, state);
  PAWL_TRY(pawl_switcher_energy(s, state, &before, err));
  PAWL_TRY(capture(s, state, &snaps, err));
  memcpy(s->modes, w->next, mode_bytes(s));
  restart_clocks(s, state);
  PAWL_TRY(pawl_switcher_reduce(s, state, err));
  if (snaps) {
    PAWL_TRY(snap(s, state, err));
  }
  PAWL_TRY(evaluate(s, state, &values, err));
  PAWL_TRY(check_meeting(s, state, drift, values, err));
  PAWL_TRY(jump_velocities(s, state, values, w->impulse, err));
  PAWL_TRY(pawl_jump_settle(s, state, err));
  PAWL_TRY(pawl_switcher_energy(s, state, &after, err));
  if (memcmp(s->modes, state->modes, mode_bytes(s)) != 0) {
    pawl_switcher_log(s, state->t, state->q, w->before->v, state->v, w->impulse, before - after);
  }
  begin_sliding(s, state);
  memcpy(state->modes, s->modes, mode_bytes(s));
  s->method->start(s, state);
  return PAWL_OK;
}
