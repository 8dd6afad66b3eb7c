// SPDX-License-Identifier: Apache-2.0
// Steps in which constraints switch (docs/theory/switching.md).
//
// Time stepping: a step is taken with the modes that hold at its end. They are found by taking the
// step with the present ones, looking where it ends, and taking it again with the modes of that
// place until they agree; when modes return that were tried before, the last are kept.
//
// Event-driven: a step that leaves the region of the present modes is taken again up to the
// surface, found by the method of regula falsi on the length of the step; the velocities jump,
// accelerations and multipliers are computed anew, and the rest of the step follows.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/model.h"
#include "step/stepper.h"
#include "switch/modes.h"
#include "system/system.h"

enum {
  MOST_TRIALS = 8,
  MOST_JUMPS = PAWL_MOST_INSTANTS,
  MOST_ROOT_STEPS = 200,
  LARGEST_DENSE = 600
};
static const double MOST_SURFACE_NUMBERS = 1e7;
static const double UNCOVERED =
    1e-6;  // z this far outside with no other region is a gap between regions
static const double SMALLEST_GAIN = -1e-9;  // [1/s] a rate of z below this does not go on

// ---- creation -----------------------------------------------------------------------------------
static PawlStatus make_instants(PawlStepper* s, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  for (int k = 0; k < PAWL_MOST_INSTANTS; k++) {
    w->instants[k] = (PawlInstant){.from = PAWL_NEW(&s->arena, int, s->sizes.modes),
                                   .to = PAWL_NEW(&s->arena, int, s->sizes.modes),
                                   .q = PAWL_NEW(&s->arena, double, s->sizes.q),
                                   .v_before = PAWL_NEW(&s->arena, double, s->sizes.v),
                                   .v_after = PAWL_NEW(&s->arena, double, s->sizes.v),
                                   .impulse = PAWL_NEW(&s->arena, double, s->sizes.rows)};
    const PawlInstant* i = &w->instants[k];
    if (!i->from || !i->to || !i->q || !i->v_before || !i->v_after || !i->impulse) {
      return pawl_fail_memory(err);
    }
  }
  return PAWL_OK;
}

PawlStatus pawl_switcher_create(PawlStepper* s, bool event_driven, PawlError* err) {
  PawlSwitcher* w = PAWL_NEW(&s->arena, PawlSwitcher, 1);
  s->switcher = w;
  if (!w) {
    return pawl_fail_memory(err);
  }
  w->event_driven = event_driven;
  int nonzeros_G = s->G.start[s->sizes.v];
  if (!s->active) {
    s->active = PAWL_NEW(&s->arena, unsigned char, s->sizes.rows);
  }
  w->active_before = PAWL_NEW(&s->arena, unsigned char, s->sizes.rows);
  w->next = PAWL_NEW(&s->arena, int, s->sizes.modes);
  w->active_modes = PAWL_NEW(&s->arena, int, s->sizes.modes);
  w->tried = PAWL_NEW(&s->arena, int, (size_t)s->sizes.modes* MOST_TRIALS);
  w->G_before = PAWL_NEW(&s->arena, double, nonzeros_G);
  w->B = PAWL_NEW(&s->arena, double, nonzeros_G);
  w->rate = PAWL_NEW(&s->arena, double, s->sizes.rows);
  w->spare_v = PAWL_NEW(&s->arena, double, s->sizes.v);
  w->spare_impulse = PAWL_NEW(&s->arena, double, s->sizes.rows);
  if (!s->active || !w->active_before || !w->next || !w->active_modes || !w->tried ||
      !w->G_before || !w->B || !w->spare_v || !w->spare_impulse || !w->rate) {
    return pawl_fail_memory(err);
  }
  size_t guards = (size_t)(s->system->guard_count + s->system->turn_count);
  w->held = PAWL_NEW(&s->arena, unsigned char, guards);
  w->held_modes = PAWL_NEW(&s->arena, int, s->sizes.modes);
  w->z = PAWL_NEW(&s->arena, double, guards);
  w->guards = PAWL_NEW(&s->arena, int, guards);
  if ((double)guards * s->sizes.v <= MOST_SURFACE_NUMBERS) {  // beyond, no surface is held
    w->Z = PAWL_NEW(&s->arena, double, guards*(size_t)s->sizes.v);
  }
  int most_rows = 0;
  for (int c = 0; c < s->system->constraint_count; c++) {
    int of_c = s->system->model->constraints[c].row_count;
    most_rows = of_c > most_rows ? of_c : most_rows;
  }
  w->rows = PAWL_NEW(&s->arena, double, (size_t)(most_rows + 1) * (size_t)s->sizes.v);
  if (!w->held || !w->held_modes || !w->z || !w->guards || !w->rows) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(make_instants(s, err));
  if (s->sizes.v <= LARGEST_DENSE) {
    PAWL_TRY(pawl_impact_create(s->sizes.v, s->sizes.rows, &w->impact, err));
  }
  PAWL_TRY(pawl_state_create(s, &w->before, err));
  PAWL_TRY(pawl_state_create(s, &w->kept, err));
  PAWL_TRY(pawl_eval_create(s->system, PAWL_ENERGY, &w->energy, err));
  PAWL_TRY(pawl_eval_create(s->system, PAWL_SURFACES, &w->surfaces, err));
  return pawl_eval_create(s->system, PAWL_SWITCHING, &w->eval, err);
}

void pawl_switcher_destroy(PawlStepper* s) {
  PawlSwitcher* w = s->switcher;
  if (w) {
    pawl_impact_destroy(w->impact);
    pawl_state_destroy(w->before);
    pawl_state_destroy(w->kept);
    pawl_eval_destroy(w->energy);
    pawl_eval_destroy(w->eval);
    pawl_eval_destroy(w->surfaces);
  }
}

// ---- small things -------------------------------------------------------------------------------
static size_t mode_bytes(const PawlStepper* s) {
  return (size_t)s->sizes.modes * sizeof(int);
}

static PawlPoint point_of(const PawlState* state, const int* modes) {
  return (PawlPoint){state->t, state->q, state->v, state->a, state->lambda, modes};
}

// The arrays of a state lie behind each other, from q to the modes (pawl_state_create).
static void copy_state(const PawlStepper* s, PawlState* to, const PawlState* from) {
  size_t bytes = (size_t)((const char*)(from->modes + s->sizes.modes) - (const char*)from->q);
  to->t = from->t;
  to->step = from->step;
  memcpy(to->q, from->q, bytes);
}

static PawlStatus energy_of(PawlStepper* s, const PawlState* state, double* energy,
                            PawlError* err) {
  PawlPoint point = point_of(state, s->modes);
  PAWL_TRY(pawl_eval_run(s->switcher->energy, &point, err));
  const double* e = pawl_eval_values(s->switcher->energy)->energy;
  *energy = e[0] + e[1];
  return PAWL_OK;
}

void pawl_switcher_activate(PawlStepper* s) {
  PawlSwitcher* w = s->switcher;
  if (w->active_known && memcmp(w->active_modes, s->modes, mode_bytes(s)) == 0) {
    return;
  }
  w->active_known = true;
  memcpy(w->active_modes, s->modes, mode_bytes(s));
  pawl_modes_active(s->system, s->modes, s->active);
  for (int i = 0; s->redundant && i < s->sizes.rows; i++) {
    s->active[i] = s->active[i] && !s->redundant[i];
  }
}

PawlStatus pawl_switcher_start(PawlStepper* s, PawlState* state, PawlError* err) {
  memset(s->modes, 0, mode_bytes(s));
  if (!s->switcher) {
    return PAWL_OK;
  }
  PawlPoint point = point_of(state, s->modes);
  PAWL_TRY(pawl_eval_run(s->switcher->eval, &point, err));
  const PawlValues* values = pawl_eval_values(s->switcher->eval);
  PAWL_TRY(pawl_modes_start(s->system, values->z, values->z_rate, state->modes, err));
  memcpy(s->modes, state->modes, mode_bytes(s));
  s->switcher->active_known = s->switcher->held_known = false;
  pawl_switcher_activate(s);
  return PAWL_OK;
}

// ---- the law of the jump ------------------------------------------------------------------------
PawlStatus pawl_switcher_parse_law(const char* text, double* epsilon, PawlError* err) {
  static const struct {
    const char* name;
    double epsilon;
  } laws[] = {{"post", 1.0}, {"pre", 0.0}, {"bisector", 0.5}};
  for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
    if (strcmp(text, laws[k].name) == 0) {
      *epsilon = laws[k].epsilon;
      return PAWL_OK;
    }
  }
  char* end;
  *epsilon = strtod(text, &end);
  if (*end != '\0' || end == text || !(*epsilon >= 0.0 && *epsilon <= 1.0)) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "impact = %s: must be post, pre, bisector, model or a number from 0 to 1",
                     text);
  }
  return PAWL_OK;
}

// The law of the constraints that differ between two sets of modes.
static PawlStatus law_of(const PawlStepper* s, const int* from, const int* to, PawlImpactLaw* law,
                         PawlError* err) {
  const PawlModel* model = s->system->model;
  law->arc = strcmp(s->def.between, "arc") == 0;
  if (strcmp(s->def.impact, "model") != 0) {
    return pawl_switcher_parse_law(s->def.impact, &law->epsilon, err);
  }
  const PawlConstraint* first = NULL;
  for (int c = 0; c < model->constraint_count; c++) {
    const PawlConstraint* constraint = &model->constraints[c];
    if (!pawl_system_switched(s->system, c, from, to)) {
      continue;
    }
    if (first && first->impact != constraint->impact) {
      return pawl_fail(err, PAWL_ERROR_RUN,
                       "t = %.10g: constraints '%s' and '%s' switch together with different impact "
                       "laws; give them the same",
                       s->switcher->before->t, first->name, constraint->name);
    }
    first = constraint;
  }
  law->epsilon = first ? first->impact : 1.0;
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
                     w->before->t, s->sizes.v, (int)LARGEST_DENSE);
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
    PawlPoint point = {state->t, state->q, v_plus, NULL, NULL, s->modes};
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

// ---- the log ------------------------------------------------------------------------------------
static void log_instant(PawlStepper* s, double t, const double* q, const double* v_before,
                        const double* v_after, const double* impulse, double energy_lost) {
  PawlSwitcher* w = s->switcher;
  if (w->instant_count == PAWL_MOST_INSTANTS) {
    s->info.unlogged++;
    return;
  }
  PawlInstant* i = &w->instants[w->instant_count++];
  i->contact = -1;
  i->t = t;
  i->energy_lost = energy_lost;
  memcpy((int*)i->from, w->before->modes, mode_bytes(s));
  memcpy((int*)i->to, s->modes, mode_bytes(s));
  memcpy((double*)i->q, q, (size_t)s->sizes.q * sizeof(double));
  memcpy((double*)i->v_before, v_before, (size_t)s->sizes.v * sizeof(double));
  memcpy((double*)i->v_after, v_after, (size_t)s->sizes.v * sizeof(double));
  memcpy((double*)i->impulse, impulse, (size_t)s->sizes.rows * sizeof(double));
}

void pawl_switcher_log_contact(PawlStepper* s, int row, double impulse, double energy_lost,
                               const PawlState* before, double t, const double* q_after,
                               const double* v_after) {
  PawlSwitcher* w = s->switcher;
  if (w->instant_count == PAWL_MOST_INSTANTS) {
    s->info.unlogged++;
    return;
  }
  memset(w->rate, 0, (size_t)s->sizes.rows * sizeof(double));
  w->rate[row] = impulse;
  memcpy(w->before->modes, before->modes, mode_bytes(s));
  log_instant(s, t, q_after, before->v, v_after, w->rate, energy_lost);
  w->instants[w->instant_count - 1].contact = row;
}

int pawl_stepper_instants(const PawlStepper* s) {
  return s->switcher ? s->switcher->instant_count : 0;
}

const PawlInstant* pawl_stepper_instant(const PawlStepper* s, int index) {
  return &s->switcher->instants[index];
}

// ---- time stepping ------------------------------------------------------------------------------
static bool was_tried(const PawlStepper* s, int count) {
  for (int k = 0; k < count; k++) {
    if (memcmp(s->switcher->tried + k * s->sizes.modes, s->switcher->next, mode_bytes(s)) == 0) {
      return true;
    }
  }
  return false;
}

// The gradient at the beginning of the step, with the modes before.
static PawlStatus keep_gradient(PawlStepper* s, const PawlState* state, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  PawlPoint point = point_of(state, state->modes);
  PAWL_TRY(pawl_eval_run(s->eval_start, &point, err));
  memcpy(w->G_before, pawl_eval_values(s->eval_start)->G,
         (size_t)s->G.start[s->sizes.v] * sizeof(double));
  memcpy(w->active_before, s->active, (size_t)s->sizes.rows);
  return PAWL_OK;
}

static PawlStatus finish_crossing(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  double before, after;
  PAWL_TRY(energy_of(s, w->before, &before, err));
  PAWL_TRY(energy_of(s, state, &after, err));
  double* impulse = w->rate;
  for (int i = 0; i < s->sizes.rows; i++) {
    impulse[i] = s->method->impulse ? s->method->impulse(s, i) : h * state->lambda[i];
  }
  log_instant(s, state->t, state->q, w->before->v, state->v, impulse, before - after);
  memcpy(state->modes, s->modes, mode_bytes(s));
  if (s->method->forget) {
    s->method->forget(s, state);
  }
  return PAWL_OK;
}

static PawlStatus no_region(const PawlStepper* s, const PawlState* state, int constraint,
                            PawlError* err) {
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: constraint '%s' leaves the region of its mode and no other region "
                   "holds it; the regions (where) must cover the motion",
                   state->t, s->system->model->constraints[constraint].name);
}

static PawlStatus time_step(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  PAWL_TRY(pawl_switcher_hold(s, state, err));
  copy_state(s, w->before, state);
  memcpy(s->modes, state->modes, mode_bytes(s));
  s->crossing = false;
  for (int trial = 0; trial < MOST_TRIALS; trial++) {
    pawl_switcher_activate(s);
    w->instant_count = 0;  // of this trial
    PawlStatus status = s->method->step(s, state, h, err);
    status = status ? status : pawl_switcher_look(s, state, err);
    if (status != PAWL_OK) {
      copy_state(s, state, w->before);
      return status;
    }
    memcpy(w->tried + trial * s->sizes.modes, s->modes, mode_bytes(s));
    const double* z = s->switcher->seen;
    int constraint = 0;
    if (!pawl_modes_next(s->system, z, 0.0, s->modes, w->next)) {
      if (pawl_modes_margin(s->system, z, s->modes, &constraint) < -UNCOVERED) {
        status = no_region(s, state, constraint, err);
        copy_state(s, state, w->before);
        return status;
      }
      break;
    }
    if (was_tried(s, trial + 1) || trial == MOST_TRIALS - 1) {
      break;
    }
    copy_state(s, state, w->before);
    if (!s->crossing) {
      PAWL_TRY(keep_gradient(s, state, err));
    }
    memcpy(s->modes, w->next, mode_bytes(s));
    s->crossing = memcmp(s->modes, state->modes, mode_bytes(s)) != 0;
  }
  return s->crossing ? finish_crossing(s, state, h, err) : PAWL_OK;
}

// ---- event-driven -------------------------------------------------------------------------------
// The margin to the surface after a step of length h from the state before.
static PawlStatus probe(PawlStepper* s, PawlState* state, double h, double* margin, int* constraint,
                        PawlError* err) {
  copy_state(s, state, s->switcher->before);
  if (h > 0.0) {
    PAWL_TRY(s->method->step(s, state, h, err));
  }
  PAWL_TRY(pawl_switcher_look(s, state, err));
  *margin = pawl_modes_margin(s->system, s->switcher->seen, s->modes, constraint);
  return PAWL_OK;
}

// The length of the step that ends on the surface, and the state there. The surface is between low
// (margin > 0 or the beginning) and high (margin < 0): regula falsi with the Illinois rule, ended
// by halving where that is too slow.
static PawlStatus locate(PawlStepper* s, PawlState* state, double low, double f_low, double high,
                         double f_high, double* length, PawlError* err) {
  int constraint;
  for (int k = 0; k < MOST_ROOT_STEPS && high - low > s->def.event_tolerance; k++) {
    double h = (low * f_high - high * f_low) / (f_high - f_low), f;
    double least = 0.25 * s->def.event_tolerance;
    if (!(h > low + least && h < high - least) || k % 8 == 7) {
      h = k % 8 == 7 || !(h > low && h < high) ? 0.5 * (low + high)
          : h <= low + least                   ? low + least
                                               : high - least;
    }
    PAWL_TRY(probe(s, state, h, &f, &constraint, err));
    if (f < 0.0) {
      f_low *= high == h ? 1.0 : (f_high < 0.0 && k > 0 ? 0.5 : 1.0);
      high = h;
      f_high = f;
    } else {
      f_high *= k > 0 ? 0.5 : 1.0;
      low = h;
      f_low = f;
    }
  }
  *length = high;
  double f;
  return probe(s, state, high, &f, &constraint, err);  // just past the surface
}

// The largest |g_i| in force, less what `slack` seconds of motion make, relative to the terms of
// its row.
static double worst_row(const PawlStepper* s, const PawlState* state, const PawlValues* values,
                        const unsigned char* active, double slack, int* row) {
  static const double SMALLEST_SIZE = 1e-3;
  double worst = 0.0;
  for (int i = 0; i < s->sizes.rows; i++) {
    double size = SMALLEST_SIZE, rate = values->g_t[i];
    for (int j = 0; active[i] && j < s->G.cols; j++) {
      for (int k = s->G.start[j]; k < s->G.start[j + 1]; k++) {
        if (s->G.index[k] == i) {
          size += fabs(values->G[k]) * fabs(state->q[j]);
          rate += values->G[k] * state->v[j];
        }
      }
    }
    double off = fabs(values->g[i]) - slack * fabs(rate);
    if (active[i] && off > worst * size) {
      worst = off / size;
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

// The law post needs no directions between gradients: [M -G^T; G 0] [dv; Lambda] = [0; -(G v- +
// g_t)].
static PawlStatus solve_post(PawlStepper* s, PawlState* state, const PawlValues* values,
                             double* impulse, double* gain, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  memcpy(w->rate, values->g_t, (size_t)s->sizes.rows * sizeof(double));
  pawl_sparse_add(&s->G, values->G, 1.0, state->v, w->rate);
  for (int i = 0; i < s->sizes.rows; i++) {
    impulse[i] = s->active[i] ? -w->rate[i] : 0.0;
  }
  memset(w->spare_v, 0, (size_t)s->sizes.v * sizeof(double));
  PAWL_TRY(pawl_step_solve(s, values, values->M, values->G, values->G, s->active, state->t,
                           w->spare_v, impulse, err));
  for (int j = 0; j < s->sizes.v; j++) {
    state->v[j] += w->spare_v[j];
  }
  PawlPoint point = {state->t, state->q, state->v, NULL, NULL, s->modes};
  PAWL_TRY(pawl_eval_run(w->eval, &point, err));
  *gain =
      pawl_modes_entering(s->system, pawl_eval_values(w->eval)->z_rate, w->before->modes, s->modes);
  return PAWL_OK;
}

// The velocities jump, accelerations and multipliers follow, the method starts anew.
static PawlStatus jump(PawlStepper* s, PawlState* state, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  double before, after;
  int row = 0;
  PAWL_TRY(keep_gradient(s, state, err));
  double drift = worst_row(s, state, pawl_eval_values(s->eval_start), w->active_before, 0.0, &row);
  copy_state(s, w->before, state);
  PAWL_TRY(energy_of(s, state, &before, err));
  memcpy(s->modes, w->next, mode_bytes(s));
  pawl_switcher_activate(s);
  PawlPoint point = point_of(state, s->modes);
  PAWL_TRY(pawl_eval_run(s->eval_start, &point, err));
  const PawlValues* values = pawl_eval_values(s->eval_start);
  PAWL_TRY(check_meeting(s, state, drift, values, err));
  PawlImpactLaw law;
  int planes;
  unsigned flips;
  double gain;
  double* impulse = w->spare_impulse;
  PAWL_TRY(law_of(s, state->modes, s->modes, &law, err));
  if (law.epsilon == 1.0) {
    PAWL_TRY(solve_post(s, state, values, impulse, &gain, err));
  } else {
    PAWL_TRY(prepare_impact(s, values->M, values->G, law, &planes, err));
    memcpy(w->rate, values->g_t, (size_t)s->sizes.rows * sizeof(double));
    PAWL_TRY(solve_impact(s, state, planes, w->rate, state->v, impulse, &flips, &gain, err));
  }
  if (gain < SMALLEST_GAIN) {
    return leads_back(s, law, gain, err);
  }
  PAWL_TRY(energy_of(s, state, &after, err));
  log_instant(s, state->t, state->q, w->before->v, state->v, impulse, before - after);
  memcpy(state->modes, s->modes, mode_bytes(s));
  PAWL_TRY(pawl_eval_run(s->eval_start, &point, err));
  PAWL_TRY(pawl_step_accelerate(s, values, state->t, state->a, state->lambda, err));
  s->method->start(s, state);
  return PAWL_OK;
}

// After a jump the motion begins on the surface: a length at which it is inside the new region, or
// 0 when there is none.
static PawlStatus find_inside(PawlStepper* s, PawlState* state, double h, double* inside, double* f,
                              PawlError* err) {
  int constraint;
  *inside = 0.0;
  for (int k = 0; k < 40; k++) {
    h *= 0.5;
    PAWL_TRY(probe(s, state, h, f, &constraint, err));
    if (*f > 0.0) {
      *inside = h;
      return PAWL_OK;
    }
  }
  return PAWL_OK;
}

static PawlStatus event_step(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  double end = state->t + h, margin, start_margin, length;
  int constraint = 0;
  for (int jumps = 0; jumps < MOST_JUMPS; jumps++) {
    PAWL_TRY(pawl_switcher_hold(s, state, err));
    memcpy(s->modes, state->modes, mode_bytes(s));
    pawl_switcher_activate(s);
    copy_state(s, w->before, state);
    double rest = end - state->t;
    if (!(rest > 0.0)) {
      return PAWL_OK;
    }
    PAWL_TRY(probe(s, state, 0.0, &start_margin, &constraint, err));
    PAWL_TRY(probe(s, state, rest, &margin, &constraint, err));
    if (margin >= -pawl_switcher_noise(s, state)) {
      return PAWL_OK;
    }
    double low = 0.0, f_low = start_margin;
    if (!(start_margin > 0.0)) {
      PAWL_TRY(find_inside(s, state, rest, &low, &f_low, err));
    }
    if (low > 0.0 || start_margin > 0.0) {
      PAWL_TRY(locate(s, state, low, f_low, rest, margin, &length, err));
    } else {
      PAWL_TRY(probe(s, state, s->def.event_tolerance, &margin, &constraint, err));
    }
    const double* z = s->switcher->seen;
    if (!pawl_modes_next(s->system, z, 0.0, s->modes, w->next)) {
      if (pawl_modes_margin(s->system, z, s->modes, &constraint) >=
          -pawl_switcher_noise(s, state)) {
        continue;  // on the surface to rounding: go on from here
      }
      return no_region(s, state, constraint, err);
    }
    PAWL_TRY(jump(s, state, err));
  }
  return pawl_fail(
      err, PAWL_ERROR_RUN,
      "t = %.10g: constraint '%s' switched %d times within one step: switches accumulate here; a "
      "time-stepping method (nsga-pva, nsga-pvv) passes such a point",
      state->t, s->system->model->constraints[constraint].name, (int)MOST_JUMPS);
}

PawlStatus pawl_switcher_step(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  s->switcher->instant_count = 0;
  if (!s->switcher->event_driven) {
    return time_step(s, state, h, err);
  }
  PawlState* kept = s->switcher->kept;
  copy_state(s, kept, state);
  PawlStatus status = event_step(s, state, h, err);
  if (status != PAWL_OK) {
    copy_state(s, state, kept);
    s->switcher->instant_count = 0;
  }
  return status;
}
