// SPDX-License-Identifier: Apache-2.0
#include "step/regions.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/hold.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

enum { MOST_TRIALS = 8 };

PawlStatus pawl_regions_create(PawlStepper* s, PawlSurfaces* surfaces, PawlLaw* law,
                               const PawlStateShape* shape, PawlRegions* r, PawlError* err) {
  *r = (PawlRegions){
      .surfaces = surfaces,
      .law = law,
      .next = PAWL_NEW(&s->arena, int, s->sizes.modes),
      .tried = PAWL_NEW(&s->arena, int, (size_t)s->sizes.modes* MOST_TRIALS),
      .G = PAWL_NEW(&s->arena, double, s->dynamics.nonzeros_G),
      .impulse = PAWL_NEW(&s->arena, double, s->sizes.rows),
      .v = PAWL_NEW(&s->arena, double, s->sizes.v),
      .z = PAWL_NEW(&s->arena, double, s->system->guard_count + s->system->turn_count)};
  if (s->arena.failed) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_phase_state(shape, &r->before, err));
  return pawl_phase_state(shape, &r->trial, err);
}

void pawl_regions_destroy(PawlRegions* r) {
  pawl_state_destroy(r->before);
  pawl_state_destroy(r->trial);
}

PawlStatus pawl_regions_none(const PawlSystem* system, double t, int c, PawlError* err) {
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: constraint '%s' leaves the region of its mode and no other region "
                   "holds it; the regions (where) must cover the motion",
                   t, system->constraints[c].name);
}

static bool was_tried(const PawlRegions* r, int count, const PawlState* state) {
  size_t bytes = pawl_phase_mode_bytes(state);
  for (int k = 0; k < count; k++) {
    if (memcmp(r->tried + k * state->mode_count, r->next, bytes) == 0) {
      return true;
    }
  }
  return false;
}

// The gradient at the beginning of the step, with the modes before.
static PawlStatus keep_gradient(PawlStepper* s, PawlRegions* r, PawlError* err) {
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(r->before, false);
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, &phase, r->before, &values, err));
  memcpy(r->G, values->G, (size_t)s->dynamics.nonzeros_G * sizeof(double));
  return PAWL_OK;
}

// The phase of the modes r->next, with the rows that follow from others there.
static PawlStatus enter_trial(PawlStepper* s, PawlRegions* r, PawlError* err) {
  const PawlValues* values;
  pawl_phase_copy(r->trial, r->before);
  memcpy(r->trial->modes, r->next, pawl_phase_mode_bytes(r->trial));
  PawlPhase phase = pawl_phase_of(r->trial, false);
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, &phase, r->trial, &values, err));
  return pawl_dynamics_reduce(&s->dynamics, r->trial, values, err);
}

static PawlStatus energy_of(PawlStepper* s, const PawlState* state, double* energy,
                            PawlError* err) {
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, false);
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, &phase, state, &values, err));
  *energy = values->energy[0] + values->energy[1];
  return PAWL_OK;
}

// New equations hold at the beginning of the step but for what motion makes of them in h: with the
// rates of both ends as they are without the switch, and what accelerations add. Rates that follow
// from the correction of positions, as with ga-p, would explain any distance. (S9)
static PawlStatus check_meeting(PawlStepper* s, PawlRegions* r, double h, PawlError* err) {
  static const double OF_MOTION = 2.0, MORE_THAN_BEFORE = 10.0;
  PawlDynamics* d = &s->dynamics;
  const PawlValues* values;
  int row = 0, of_before = 0, number;
  double *size = d->room, *reach = size + s->sizes.rows, *rate = reach + 2 * s->sizes.rows;
  PawlPhase phase = pawl_phase_of(r->before, false);
  PAWL_TRY(pawl_dynamics_evaluate(d, &phase, r->before, &values, err));
  double drift =
      pawl_hold_worst(d, r->before, values, r->before->active, 0.0, NULL, size, &of_before);
  phase = pawl_phase_of(r->trial, false);
  PAWL_TRY(pawl_dynamics_evaluate(d, &phase, r->before, &values, err));
  for (int j = 0; j < s->sizes.v; j++) {
    rate[j] = fmax(fabs(r->before->v[j]), fabs(r->v[j])) + h * fabs(r->before->a[j]);
  }
  pawl_sparse_sizes(&s->G, values->G, rate, 0.0, reach);
  for (int i = 0; i < s->sizes.rows; i++) {
    reach[i] += fabs(values->g_t[i]);
  }
  double off =
      pawl_hold_worst(d, r->before, values, r->trial->active, OF_MOTION * h, reach, size, &row);
  const char* name = pawl_system_row_name(s->system, row, &number);
  return off <= PAWL_MEETS + MORE_THAN_BEFORE * drift
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_RUN,
                         "t = %.10g: constraint '%s' (row %d) is off by %.3g where its new mode "
                         "begins, more than the motion of a step explains: the two branches do not "
                         "meet on the switching surface",
                         r->before->t, name, number + 1, values->g[row]);
}

// The phase that was tried becomes that of the state.
static PawlStatus finish_crossing(PawlStepper* s, PawlRegions* r, PawlState* state, double h,
                                  PawlError* err) {
  double before, after;
  assert(pawl_modes_in_range(s->system, r->trial->modes));
  PAWL_TRY(check_meeting(s, r, h, err));
  memcpy(state->modes, r->trial->modes, pawl_phase_mode_bytes(state));
  memcpy(state->redundant, r->trial->redundant, (size_t)s->sizes.rows);
  state->redundant_count = r->trial->redundant_count;
  pawl_phase_activate(s->system, state);
  PAWL_TRY(energy_of(s, r->before, &before, err));
  PAWL_TRY(energy_of(s, state, &after, err));
  for (int i = 0; i < s->sizes.rows; i++) {
    r->impulse[i] = s->method->impulse ? s->method->impulse(s, i) : h * state->lambda[i];
  }
  PAWL_TRY(pawl_log_switch(&s->log, state, r->before->modes, r->before->v, r->impulse, NULL,
                           before - after, err));
  if (s->method->forget) {
    s->method->forget(s, state);
  }
  return pawl_surfaces_enter(r->surfaces, state, r->before->modes, err);
}

// Modes whose region was outside at the beginning already and is no farther away at the end are
// taken back from r->next: the motion is on its way into the region, (S5). *moved: some are left.
static PawlStatus keep_entering(PawlRegions* r, const PawlSystem* system, bool* moved,
                                PawlError* err) {
  const double* z;
  const int* modes = r->before->modes;
  PawlPhase phase = pawl_phase_of(r->before, false);
  PAWL_TRY(pawl_surfaces_look(r->surfaces, &phase, r->before, &z, err));
  for (int k = 0; k < system->guard_count; k++) {
    PawlGate g = system->guards[k];
    if (modes[g.constraint] == g.mode && z[k] < 0.0 &&
        r->z[k] >= (1.0 + PAWL_SURFACE_AT_REST) * z[k]) {
      r->next[g.constraint] = g.mode;
    }
  }
  for (int k = 0; k < system->turn_count; k++) {
    int mode = modes[system->constraint_count + k], at = system->guard_count + k;
    double before = pawl_turn_margin(&system->turns[k], z[at], mode);
    double end = pawl_turn_margin(&system->turns[k], r->z[at], mode);
    if (before < 0.0 && end >= (1.0 + PAWL_SURFACE_AT_REST) * before) {
      r->next[system->constraint_count + k] = mode;
    }
  }
  *moved = memcmp(r->next, modes, pawl_phase_mode_bytes(r->before)) != 0;
  return PAWL_OK;
}

// Whether the room of an earlier look is enough: a step need not look at surfaces then. Where it
// has to be looked at again and again steps go without. (V42)
static bool has_room(PawlRegions* r, const PawlState* state) {
  enum { LONGEST = 16 };
  if (r->rest > 0) {
    r->rest--;
    return false;
  }
  bool stays = pawl_surfaces_stay(r->surfaces, state, 0.0), again = r->surfaces->renewed;
  if (again && r->renewed) {
    r->longer = r->longer < LONGEST ? 2 * r->longer + 1 : LONGEST;
    r->rest = r->longer;
  } else if (!again) {
    r->longer = 0;
  }
  r->renewed = again;
  return stays;
}

// Where one trial has led to; *moved: r->next are other modes, not tried before.
static PawlStatus judge(PawlStepper* s, PawlRegions* r, const PawlPhase* phase, int trial,
                        PawlState* state, bool* moved, PawlError* err) {
  const double* z;
  int constraint = 0;
  assert(trial >= 0 && trial < MOST_TRIALS);
  PAWL_TRY(pawl_surfaces_look(r->surfaces, phase, state, &z, err));
  double margin = pawl_modes_margin(s->system, z, phase->modes, &constraint);
  if (margin > 0.0) {  // inside of all
    *moved = false;
    return PAWL_OK;
  }
  memcpy(r->tried + trial * s->sizes.modes, phase->modes, pawl_phase_mode_bytes(state));
  double gap = PAWL_UNCOVERED / PAWL_SURFACE_NOISE * pawl_surfaces_noise(r->surfaces, state);
  memcpy(r->z, z, (size_t)(s->system->guard_count + s->system->turn_count) * sizeof(double));
  PAWL_TRY(pawl_surfaces_next(r->surfaces, phase, state, r->z, 0.0, r->next, moved, err));
  if (!*moved && margin < -gap) {
    return pawl_regions_none(s->system, state->t, constraint, err);
  }
  if (*moved && trial == 0) {
    PAWL_TRY(keep_entering(r, s->system, moved, err));
  }
  *moved = *moved && !was_tried(r, trial + 1, state);
  return PAWL_OK;
}

static PawlStatus step(PawlStepper* s, PawlRegions* r, PawlState* state, double h, int logged,
                       PawlError* err) {
  PawlCrossing crossing = {r->law, r->before, r->G};
  PawlPhase phase = pawl_phase_of(r->before, false);
  bool moved = false;
  PAWL_TRY(s->method->step(s, &phase, state, h, err));
  if (s->system->reach && has_room(r, state)) {
    return PAWL_OK;
  }
  PAWL_TRY(judge(s, r, &phase, 0, state, &moved, err));
  if (!moved) {
    return PAWL_OK;
  }
  memcpy(r->v, state->v, (size_t)s->sizes.v * sizeof(double));
  PAWL_TRY(keep_gradient(s, r, err));
  for (int trial = 1; moved && trial < MOST_TRIALS; trial++) {
    pawl_phase_copy(state, r->before);
    s->log.count = logged;  // drops those of the trial before
    PAWL_TRY(enter_trial(s, r, err));
    phase = pawl_phase_of(r->trial, false);
    bool same = memcmp(phase.modes, r->before->modes, pawl_phase_mode_bytes(state)) == 0;
    phase.crossing = same ? NULL : &crossing;
    PAWL_TRY(s->method->step(s, &phase, state, h, err));
    PAWL_TRY(judge(s, r, &phase, trial, state, &moved, err));
  }
  return phase.crossing ? finish_crossing(s, r, state, h, err) : PAWL_OK;
}

PawlStatus pawl_regions_step(PawlStepper* s, PawlRegions* r, PawlState* state, double h,
                             PawlError* err) {
  int logged = s->log.count;
  pawl_phase_copy(r->before, state);
  PawlStatus status = step(s, r, state, h, logged, err);
  if (status != PAWL_OK) {
    pawl_phase_copy(state, r->before);
    s->log.count = logged;
  }
  return status;
}
