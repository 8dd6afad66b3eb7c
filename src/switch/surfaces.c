// SPDX-License-Identifier: Apache-2.0
#include "switch/surfaces.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "linalg/span.h"
#include "model/model.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

static const double MOST_NUMBERS = 1e7;  // of all gradients: beyond, no surface is held

PawlStatus pawl_surfaces_create(PawlDynamics* d, PawlEval* rates, PawlSurfaces* s, PawlError* err) {
  int count = pawl_system_surface_count(d->system), most_rows = 0;
  for (int c = 0; c < d->system->constraint_count; c++) {
    int rows = d->system->constraints[c].row_count;
    most_rows = rows > most_rows ? rows : most_rows;
  }
  size_t n = (size_t)d->sizes.v;
  *s = (PawlSurfaces){.dynamics = d,
                      .rates = rates,
                      .list = PAWL_NEW(d->arena, int, count),
                      .z = PAWL_NEW(d->arena, double, count),
                      .modes = PAWL_NEW(d->arena, int, d->sizes.modes),
                      .room_modes = PAWL_NEW(d->arena, int, d->system->constraint_count),
                      .span = PAWL_NEW(d->arena, double, (size_t)(most_rows + 1) * n),
                      .row = PAWL_NEW(d->arena, double, n),
                      .v = PAWL_NEW(d->arena, double, n)};
  if ((double)count * d->sizes.v <= MOST_NUMBERS) {
    s->Z = PAWL_NEW(d->arena, double, (size_t)count* n);
  }
  return d->arena->failed ? pawl_fail_memory(err)
                          : pawl_eval_create(d->system, PAWL_SURFACES, &s->eval, err);
}

void pawl_surfaces_destroy(PawlSurfaces* s) {
  pawl_eval_destroy(s->eval);
}

// Turns are counted in periods, whatever the unit of the coordinates. (Of the last look.)
static double largest_turn(const PawlSurfaces* s) {
  const PawlSystem* system = s->dynamics->system;
  return pawl_dynamics_largest(system->turn_count,
                               pawl_eval_values(s->eval)->z + system->guard_count);
}

double pawl_surfaces_noise(const PawlSurfaces* s, const PawlState* state) {
  PawlSizes n = s->dynamics->sizes;
  if (s->dynamics->system->guard_count == 0 && !s->dynamics->system->has_sides) {
    return PAWL_SURFACE_NOISE * fmax(1.0, largest_turn(s));
  }
  double place = pawl_dynamics_largest(n.q, state->q);
  double move = s->dynamics->def->step * pawl_dynamics_largest(pawl_moving(n), state->v);
  double size = fmax(place, move);
  return PAWL_SURFACE_NOISE * (size > PAWL_NOTHING ? size : 1.0);
}

// ---- how far surfaces are
// ------------------------------------------------------------------------
static bool same_modes(const PawlSurfaces* s, const int* modes) {
  bool same = true;
  for (int c = 0; c < s->dynamics->system->constraint_count; c++) {
    same &= s->room_modes[c] == modes[c];
  }
  return same;
}

// How far a state is from where room was looked at.
static double moved(const PawlSurfaces* s, const PawlReach* r, const PawlState* state) {
  double sum = r->of_time * fabs(state->t - s->room_t);
  for (int j = 0; j < r->count; j++) {
    sum += r->slope[j] * fabs(state->q[r->place[j]] - s->room_q[j]);
  }
  return sum;
}

PAWL_APART static bool renew(PawlSurfaces* s, const PawlState* state, double more) {
  const PawlSystem* system = s->dynamics->system;
  const PawlReach* r = system->reach;
  s->room_t = state->t;
  for (int j = 0; j < r->count; j++) {
    s->room_q[j] = state->q[r->place[j]];
  }
  memcpy(s->room_modes, state->modes, (size_t)system->constraint_count * sizeof(int));
  s->room = pawl_reach_room(system, state->modes, state->t, state->q, PAWL_SURFACE_ROUNDING);
  return more < s->room;
}

bool pawl_surfaces_stay(PawlSurfaces* s, const PawlState* state, double more) {
  const PawlReach* r = s->dynamics->system->reach;
  if (!r || state->still_count > 0) {
    return false;
  }
  s->renewed = !(same_modes(s, state->modes) && moved(s, r, state) + more < s->room);
  return s->renewed ? renew(s, state, more) : true;
}

double pawl_surfaces_way(const PawlSurfaces* s, const PawlState* from, const PawlState* to) {
  const PawlReach* r = s->dynamics->system->reach;
  double h = to->t - from->t, way = r->of_time * h;
  for (int j = 0; j < r->count; j++) {
    int at = r->place[j];
    double bend = fmax(fabs(from->a[at]), fabs(to->a[at]));
    way += r->slope[j] * (fabs(to->q[at] - from->q[at]) + h * h * bend);
  }
  return way;
}

double pawl_surfaces_ahead(const PawlSurfaces* s, const PawlState* state, double h) {
  const PawlReach* r = s->dynamics->system->reach;
  double way = r->of_time * h;
  for (int j = 0; j < r->count; j++) {
    int at = r->place[j];
    way += h * r->slope[j] * (fabs(state->v[at]) + h * fabs(state->a[at]));
  }
  return way;
}

// How far a surface that stands still may seem to be left: by the drift of the constraint in it.
static double slack_of(const PawlSurfaces* s, const PawlState* state, const double* g, int c) {
  const PawlConstraint* k = &s->dynamics->system->constraints[c];
  return PAWL_SURFACE_DRIFT * pawl_dynamics_largest(k->row_count, g + k->first_row) +
         PAWL_ROUNDING / PAWL_SURFACE_NOISE * pawl_surfaces_noise(s, state);
}

PawlStatus pawl_surfaces_look(PawlSurfaces* s, const PawlPhase* phase, const PawlState* state,
                              const double** z, PawlError* err) {
  const PawlSystem* system = s->dynamics->system;
  PawlPoint point = pawl_phase_point(phase, state->t, state->q, state->v, state->a, state->lambda);
  assert(state->still_count >= 0 && state->still_count <= system->guard_count);
  PAWL_TRY(pawl_eval_run(s->eval, &point, err));
  *z = pawl_eval_values(s->eval)->z;
  if (state->still_count == 0) {
    return PAWL_OK;
  }
  const PawlValues* values = NULL;
  memcpy(s->z, *z, (size_t)pawl_system_surface_count(system) * sizeof(double));
  *z = s->z;
  for (int k = 0; k < system->guard_count; k++) {
    int c = system->guards[k].constraint;
    if (!state->still[k] || phase->modes[c] != system->guards[k].mode) {
      continue;
    }
    if (!values) {
      PAWL_TRY(pawl_dynamics_evaluate(s->dynamics, phase, state, &values, err));
    }
    s->z[k] += slack_of(s, state, values->g, c);
  }
  return PAWL_OK;
}

PawlStatus pawl_surfaces_next(PawlSurfaces* s, const PawlPhase* phase, const PawlState* state,
                              const double* z, double slack, int* next, bool* moved,
                              PawlError* err) {
  enum { MOST_ROUNDS = 8 };  // a turn moves a turn moves a region
  const PawlSystem* system = s->dynamics->system;
  *moved = pawl_modes_next(system, z, slack, phase->modes, next);
  bool again = *moved && system->turned;
  for (int k = 0; again && k < MOST_ROUNDS; k++) {
    PawlPhase after = *phase;
    after.modes = memcpy(s->modes, next, pawl_phase_mode_bytes(state));
    PAWL_TRY(pawl_surfaces_look(s, &after, state, &z, err));
    again = pawl_modes_next(system, z, slack, s->modes, next);
  }
  return PAWL_OK;
}

PawlStatus pawl_surfaces_start(PawlEval* rates, const PawlSystem* system, const PawlPoint* point,
                               double noise, int* modes, PawlError* err) {
  enum { MOST_ROUNDS = 8 };
  const PawlValues* values = pawl_eval_values(rates);
  bool again = true;
  for (int k = 0; again && k < MOST_ROUNDS; k++) {
    PAWL_TRY(pawl_eval_run(rates, point, err));
    again =
        pawl_modes_start_turns(system, values->z, values->z_rate, noise, modes) && system->turned;
  }
  return pawl_modes_start(system, values->z, values->z_rate, noise, modes, err);
}

// Gradients of the listed switching functions at a state, Z[k n + j] = z_k'(e_j) - z_k'(0).
static PawlStatus gradients(PawlSurfaces* s, const PawlState* state, int count, PawlError* err) {
  size_t n = (size_t)s->dynamics->sizes.v;
  const double* rate = pawl_eval_values(s->rates)->z_rate;
  PawlPoint point = {state->t, state->q, s->v, NULL, NULL, state->modes, state->held};
  memset(s->v, 0, n * sizeof(double));
  PAWL_TRY(pawl_eval_run(s->rates, &point, err));
  for (size_t k = 0; k < (size_t)count; k++) {
    for (size_t j = 0; j < n; j++) {
      s->Z[k * n + j] = -rate[s->list[k]];
    }
  }
  for (size_t j = 0; j < n; j++) {
    s->v[j] = 1.0;
    PAWL_TRY(pawl_eval_run(s->rates, &point, err));
    s->v[j] = 0.0;
    for (size_t k = 0; k < (size_t)count; k++) {
      s->Z[k * n + j] += rate[s->list[k]];
    }
  }
  point.v = state->v;
  return pawl_eval_run(s->rates, &point, err);
}

// True when Z depends on the rows of constraint c in its present mode. Overwrites Z.
static bool is_along(PawlSurfaces* s, const PawlConstraint* c, int rows, const double* G,
                     double* Z) {
  const PawlPattern* pattern = &s->dynamics->G;
  assert(rows > 0 && rows <= c->row_count);
  PawlSpan span = {.n = s->dynamics->sizes.v, .Q = s->span};
  for (int r = 0; r < rows; r++) {
    for (int j = 0; j < span.n; j++) {
      s->row[j] = 0.0;
      for (int e = pattern->start[j]; e < pattern->start[j + 1]; e++) {
        s->row[j] = pattern->index[e] == c->first_row + r ? G[e] : s->row[j];
      }
    }
    (void)pawl_span_extend(&span, s->row);  // those that follow from others add nothing
  }
  return pawl_span_take_out(&span, Z) <= PAWL_DEPENDENT;
}

// True when the state is near the surface and the motion does not change the switching function.
static bool stands_still(const PawlSurfaces* s, const PawlState* state, int k, const double* Z) {
  const PawlValues* values = pawl_eval_values(s->rates);
  PawlSizes n = s->dynamics->sizes;
  double rate_size = 0.0, size = 0.0, fastest = pawl_dynamics_largest(pawl_moving(n), state->v);
  double least = pawl_dynamics_least(n.q, state->q);
  for (int j = 0; j < n.v; j++) {
    double of_q = n.q == n.v ? fmax(fabs(state->q[j]), least) : 1.0;
    rate_size += fabs(Z[j]) * fastest;
    size += fabs(Z[j]) * of_q;
  }
  return fabs(values->z_rate[k]) <= PAWL_SURFACE_STILL * rate_size &&
         fabs(values->z[k]) <= PAWL_SURFACE_NEAR * size;
}

// The guards of modes that have rows and were entered.
static int list_entered(const PawlSurfaces* s, PawlState* state, const int* from) {
  const PawlSystem* system = s->dynamics->system;
  int count = 0;
  for (int k = 0; k < system->guard_count; k++) {
    PawlGate g = system->guards[k];
    if (from && from[g.constraint] == state->modes[g.constraint]) {
      continue;
    }
    state->still[k] = 0;
    if (state->modes[g.constraint] == g.mode &&
        system->constraints[g.constraint].modes[g.mode].row_count > 0) {
      s->list[count++] = k;
    }
  }
  return count;
}

// Where a mode's equation holds on the surface of its own region (a mass that has landed on y = 0
// with the region y < 0), motion along it cannot leave the region, but rounding could.
PawlStatus pawl_surfaces_enter(PawlSurfaces* s, PawlState* state, const int* from, PawlError* err) {
  const PawlSystem* system = s->dynamics->system;
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, false);
  int count = list_entered(s, state, from);
  if (count > 0 && s->Z) {
    PAWL_TRY(pawl_dynamics_evaluate(s->dynamics, &phase, state, &values, err));
    PAWL_TRY(gradients(s, state, count, err));
    for (int k = 0; k < count; k++) {
      PawlGate g = system->guards[s->list[k]];
      const PawlConstraint* c = &system->constraints[g.constraint];
      double* Z = s->Z + (size_t)k * (size_t)s->dynamics->sizes.v;
      state->still[s->list[k]] = stands_still(s, state, s->list[k], Z) &&
                                 is_along(s, c, c->modes[g.mode].row_count, values->G, Z);
    }
  }
  state->still_count = 0;
  for (int k = 0; k < system->guard_count; k++) {
    state->still_count += state->still[k];
  }
  return PAWL_OK;
}
