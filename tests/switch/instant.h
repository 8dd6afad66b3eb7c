// SPDX-License-Identifier: Apache-2.0
// The parts of an instant without any stepper: dynamics, watching, surfaces, law, guards and jump
// of a model from text, a state to be set by hand, and the equations as dense matrices by which a
// test recomputes what a jump did.
#pragma once

#include <math.h>
#include <string.h>

#include "check.h"
#include "model/model.h"
#include "pawl/model.h"
#include "switch/hold.h"
#include "switch/jump.h"
#include "switch/modes.h"
#include "switch/share.h"
#include "switch/tolerances.h"
#include "system/system.h"

enum { INSTANT_MOST = 8 };  // velocities, rows and modes of the models here

typedef struct Instant {
  PawlModel* model;
  PawlSystem* system;
  PawlSimulateDef def;
  PawlArena arena;
  PawlDynamics dynamics;
  PawlWatching watching;
  PawlLog log;
  PawlLaw law;
  PawlSurfaces surfaces;
  PawlGuards guards;
  PawlJump jump;
  PawlStateShape shape;
  PawlState* state;
  int next[INSTANT_MOST];
  PawlError err;
} Instant;

static inline void instant_need(PawlStatus status, const Instant* i, const char* file, int line) {
  if (status != PAWL_OK) {
    print_error("status %d: %s\n", (int)status, i->err.message);
    _fail(file, line);
  }
}
// The call must succeed; its message is shown when it does not.
#define MUST(call, i) instant_need((call), (i), __FILE__, __LINE__)

// `impact` is the law of the run, "model" for that of the model. Accelerations and multipliers of
// states are exact, regions are located.
static inline void instant_parts(Instant* i, const char* impact) {
  PawlError* err = &i->err;
  i->def = pawl_model_simulate(i->model);
  i->def.impact = impact;
  MUST(pawl_dynamics_create(&i->dynamics, &i->arena, i->system, &i->def, err), i);
  MUST(pawl_watch_create(&i->dynamics, &i->watching, err), i);
  MUST(pawl_log_create(&i->arena, i->system, &i->log, err), i);
  MUST(pawl_law_create(&i->dynamics, &i->law, err), i);
  MUST(pawl_surfaces_create(&i->dynamics, i->law.rates, &i->surfaces, err), i);
  MUST(pawl_guards_create(&i->watching, &i->surfaces, true, pawl_system_switches(i->system), false,
                          &i->guards, err),
       i);
  i->shape = (PawlStateShape){.q = i->dynamics.sizes.q,
                              .v = i->dynamics.sizes.v,
                              .rows = i->dynamics.sizes.rows,
                              .modes = i->dynamics.sizes.modes,
                              .since = i->guards.since_count,
                              .conditions = i->guards.condition_count,
                              .clocks = i->guards.clock_count,
                              .surfaces = pawl_system_surface_count(i->system)};
  MUST(pawl_jump_create(&i->guards, &i->law, &i->log, &i->shape, &i->jump, err), i);
  MUST(pawl_phase_state(&i->shape, &i->state, err), i);
  assert_in_range(i->dynamics.sizes.v, 1, INSTANT_MOST);
  assert_in_range(i->dynamics.sizes.rows, 0, INSTANT_MOST);
  assert_in_range(i->dynamics.sizes.modes, 0, INSTANT_MOST);
}

static inline PawlStatus instant_settle(Instant* i) {
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(i->state, false);
  PAWL_TRY(pawl_dynamics_evaluate(&i->dynamics, &phase, i->state, &values, &i->err));
  PAWL_TRY(pawl_dynamics_reduce(&i->dynamics, i->state, values, &i->err));
  return pawl_jump_settle_start(&i->jump, i->state, &i->err);
}

// The state at the q and v that it has, in the modes of the start.
static inline PawlStatus instant_start(Instant* i) {
  PawlState* s = i->state;
  PawlPoint point = {s->t, s->q, s->v, s->a, s->lambda, s->modes, s->held};
  memset(s->modes, 0, pawl_phase_mode_bytes(s));
  PAWL_TRY(pawl_surfaces_start(i->law.rates, i->system, &point, 1e-12, s->modes, &i->err));
  PAWL_TRY(pawl_jump_start(&i->jump, s, &i->err));
  return instant_settle(i);
}

// At the start of the model. *i must not move afterwards.
static inline void instant_make(Instant* i, const char* text, const char* impact) {
  *i = (Instant){0};
  MUST(pawl_model_parse(text, strlen(text), "test", 0, NULL, &i->model, &i->err), i);
  MUST(pawl_system_create(i->model, &i->system, &i->err), i);
  instant_parts(i, impact);
  pawl_system_start(i->system, i->state->q, i->state->v);
  MUST(instant_start(i), i);
}

static inline void instant_end(Instant* i) {
  pawl_jump_destroy(&i->jump);
  pawl_guards_destroy(&i->guards);
  pawl_surfaces_destroy(&i->surfaces);
  pawl_law_destroy(&i->law);
  pawl_watch_destroy(&i->watching);
  pawl_dynamics_destroy(&i->dynamics);
  pawl_state_destroy(i->state);
  pawl_arena_free(&i->arena);
  pawl_system_destroy(i->system);
  pawl_model_destroy(i->model);
}

// ---- a state by hand ----------------------------------------------------------------------------
static inline void instant_place(Instant* i, double t, const double* q, const double* v) {
  i->state->t = t;
  memcpy(i->state->q, q, (size_t)i->dynamics.sizes.q * sizeof(double));
  memcpy(i->state->v, v, (size_t)i->dynamics.sizes.v * sizeof(double));
}

static inline int instant_constraint(const Instant* i, const char* name) {
  for (int c = 0; c < i->system->constraint_count; c++) {
    if (strcmp(i->system->constraints[c].name, name) == 0) {
      return c;
    }
  }
  fail_msg("no constraint '%s'", name);
  return -1;
}

static inline int instant_row(const Instant* i, const char* name) {
  return i->system->constraints[instant_constraint(i, name)].first_row;
}

static inline int instant_mode(const Instant* i, const char* name) {
  return i->state->modes[instant_constraint(i, name)];
}

// The modes of the state but for one constraint.
static inline void instant_ask(Instant* i, const char* name, int mode) {
  i->next[instant_constraint(i, name)] = mode;
}

static inline void instant_keep_modes(Instant* i) {
  memcpy(i->next, i->state->modes, pawl_phase_mode_bytes(i->state));
}

// A jump that changes one constraint, as asked.
static inline PawlStatus instant_jump(Instant* i, const char* name, int mode) {
  instant_keep_modes(i);
  instant_ask(i, name, mode);
  return pawl_jump(&i->jump, i->state, i->next, &i->err);
}

// What is due at the state: margins of all that is armed, and what fires.
static inline PawlFired instant_fire(Instant* i, double slack) {
  PawlMargin margin;
  PawlFired fired;
  (void)pawl_guards_arm(&i->guards, i->state, slack);
  MUST(pawl_guards_margins(&i->guards, i->state, &margin, &i->err), i);
  pawl_guards_keep_margins(&i->guards);
  MUST(pawl_guards_fire(&i->guards, i->state, slack, true, i->next, &i->log, &fired, &i->err), i);
  return fired;
}

// ---- the equations ------------------------------------------------------------------------------
typedef struct Dense {
  double M[INSTANT_MOST][INSTANT_MOST], G[INSTANT_MOST][INSTANT_MOST];  // row, column
  double f[INSTANT_MOST], g[INSTANT_MOST], g_t[INSTANT_MOST], gamma[INSTANT_MOST];
  double energy;
} Dense;

// M, G and the rest at a state, by a plan of their own.
static inline Dense instant_dense(Instant* i, const PawlState* s) {
  PawlEval* eval;
  Dense d = {0};
  unsigned mask = PAWL_MASS | PAWL_FORCE | PAWL_POSITION | PAWL_GRADIENT | PAWL_TIME_GRADIENT |
                  PAWL_BIAS | PAWL_ENERGY;
  PawlPoint point = {s->t, s->q, s->v, s->a, s->lambda, s->modes, s->held};
  MUST(pawl_eval_create(i->system, mask, &eval, &i->err), i);
  MUST(pawl_eval_run(eval, &point, &i->err), i);
  const PawlValues* x = pawl_eval_values(eval);
  for (int c = 0; c < i->dynamics.sizes.v; c++) {
    for (int k = i->dynamics.H.start[c]; k < i->dynamics.H.start[c + 1]; k++) {
      d.M[i->dynamics.H.index[k]][c] = x->M[k];
    }
    for (int k = i->dynamics.G.start[c]; k < i->dynamics.G.start[c + 1]; k++) {
      d.G[i->dynamics.G.index[k]][c] = x->G[k];
    }
    d.f[c] = x->f[c];
  }
  size_t rows = (size_t)i->dynamics.sizes.rows * sizeof(double);
  memcpy(d.g, x->g, rows);
  memcpy(d.g_t, x->g_t, rows);
  memcpy(d.gamma, x->gamma, rows);
  d.energy = x->energy[0] + x->energy[1];
  pawl_eval_destroy(eval);
  return d;
}

static inline double along(int n, const double* row, const double* x) {
  double sum = 0.0;
  for (int k = 0; k < n; k++) {
    sum += row[k] * x[k];
  }
  return sum;
}

// The last entry of the log, which must be a switch.
static inline const PawlInstant* instant_last(const Instant* i) {
  assert_true(i->log.count > 0);
  return i->log.instants[i->log.count - 1];
}

// The defining equations of the last jump by the law post, at the state after it: momentum, rates
// of the rows in force, the loss of energy and its parts.
static inline void check_jump(Instant* i, double tolerance) {
  const PawlInstant* e = instant_last(i);
  Dense d = instant_dense(i, i->state);
  int n = i->dynamics.sizes.v, rows = i->dynamics.sizes.rows;
  double lost = 0.0, parts = 0.0;
  for (int j = 0; j < n; j++) {
    double momentum = 0.0, impulse = 0.0;
    for (int k = 0; k < n; k++) {
      momentum += d.M[j][k] * (e->v_after[k] - e->v_before[k]);
      lost += 0.5 * d.M[j][k] * (e->v_before[j] * e->v_before[k] - e->v_after[j] * e->v_after[k]);
    }
    for (int r = 0; r < rows; r++) {
      impulse += d.G[r][j] * e->impulse[r];
    }
    CHECK_NEAR(momentum, impulse, tolerance);
    CHECK_NEAR(e->v_after[j], i->state->v[j], 0);
  }
  for (int r = 0; r < rows; r++) {
    double before = along(n, d.G[r], e->v_before), after = along(n, d.G[r], e->v_after);
    if (i->state->active[r] || i->state->redundant[r]) {
      CHECK_NEAR(after + d.g_t[r], 0, tolerance);
    }
    CHECK_NEAR(e->loss[r], -e->impulse[r] * (before + after) / 2, tolerance);  // (V9)
    parts += e->loss[r];
  }
  CHECK_NEAR(parts, lost, tolerance);
}

// The index-1 equations of the state: M a = f + G^T lambda, G a + gamma = 0 where rows bind.
static inline void check_accelerations(Instant* i, double tolerance) {
  const PawlState* s = i->state;
  Dense d = instant_dense(i, s);
  int n = i->dynamics.sizes.v, rows = i->dynamics.sizes.rows;
  for (int j = 0; j < n; j++) {
    double force = d.f[j];
    for (int r = 0; r < rows; r++) {
      force += d.G[r][j] * s->lambda[r];
    }
    CHECK_NEAR(along(n, d.M[j], s->a), force, tolerance);
  }
  for (int r = 0; r < rows; r++) {
    if (s->active[r] || s->redundant[r]) {
      CHECK_NEAR(along(n, d.G[r], s->a) + d.gamma[r], 0, tolerance);
    }
  }
}
