// SPDX-License-Identifier: Apache-2.0
// Looking at switching functions. A surface on which the equation of the present mode itself lies
// cannot be left by motion, only by rounding and drift: it is held, and given that much slack.
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "step/stepper.h"
#include "system/system.h"

static const double SURFACE_NOISE =
    1e-13;  // z this little outside is rounding, at rest on a surface

static PawlPoint point_of(const PawlState* state, const int* modes) {
  return (PawlPoint){state->t, state->q, state->v, state->a, state->lambda, modes, state->held};
}

double pawl_switcher_noise(const PawlStepper* s, const PawlState* state) {
  double largest = 1.0;
  for (int j = 0; j < s->sizes.q; j++) {
    largest = fmax(largest, fabs(state->q[j]));
  }
  return SURFACE_NOISE * largest;
}

// How far a held surface may seem to be left: by the drift of the constraint that lies in it.
static double held_slack(const PawlStepper* s, const PawlState* state, int constraint) {
  static const double OF_DRIFT = 10.0, ROUNDING = 1e-14;
  const PawlConstraint* c = &s->system->constraints[constraint];
  const double* g = pawl_eval_values(s->eval_start)->g;
  double drift = 0.0;
  for (int r = c->first_row; r < c->first_row + c->row_count; r++) {
    drift = fmax(drift, fabs(g[r]));
  }
  return OF_DRIFT * drift + ROUNDING / SURFACE_NOISE * pawl_switcher_noise(s, state);
}

// The switching functions at a state, with slack where a surface is held.
PawlStatus pawl_switcher_look(PawlStepper* s, const PawlState* state, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  PawlPoint point = point_of(state, s->modes);
  PAWL_TRY(pawl_eval_run(w->surfaces, &point, err));
  int count = s->system->guard_count;
  const double* z = pawl_eval_values(w->surfaces)->z;
  w->seen = z;
  if (!w->any_held) {
    return PAWL_OK;
  }
  w->seen = w->z;
  memcpy(w->z, z, (size_t)(count + s->system->turn_count) * sizeof(double));
  bool known = false;
  for (int k = 0; k < count; k++) {
    int c = s->system->guards[k].constraint;
    if (!w->held[k] || s->modes[c] != s->system->guards[k].mode) {
      continue;
    }
    if (!known) {
      PAWL_TRY(pawl_eval_run(s->eval_start, &point, err));
      known = true;
    }
    w->z[k] += held_slack(s, state, c);
  }
  return PAWL_OK;
}

// Gradients of the listed switching functions at a state, Z[k n + j] = z_k'(e_j) - z_k'(0).
static PawlStatus surface_gradients(PawlStepper* s, const PawlState* state, int count,
                                    const int* guards, double* Z, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  int n = s->sizes.v;
  const double* rate = pawl_eval_values(w->eval)->z_rate;
  PawlPoint point = {state->t, state->q, w->spare_v, NULL, NULL, state->modes, state->held};
  memset(w->spare_v, 0, (size_t)n * sizeof(double));
  PAWL_TRY(pawl_eval_run(w->eval, &point, err));
  for (int k = 0; k < count; k++) {
    for (int j = 0; j < n; j++) {
      Z[(size_t)k * (size_t)n + (size_t)j] = -rate[guards[k]];
    }
  }
  for (int j = 0; j < n; j++) {
    w->spare_v[j] = 1.0;
    PAWL_TRY(pawl_eval_run(w->eval, &point, err));
    w->spare_v[j] = 0.0;
    for (int k = 0; k < count; k++) {
      Z[(size_t)k * (size_t)n + (size_t)j] += rate[guards[k]];
    }
  }
  return PAWL_OK;
}

// Takes the part along the `count` orthonormal rows of w->rows out of x; returns what is left of
// its length, relative.
static double take_out(const PawlStepper* s, int count, double* x) {
  int n = s->sizes.v;
  double before = 0.0, after = 0.0;
  for (int j = 0; j < n; j++) {
    before += x[j] * x[j];
  }
  for (int pass = 0; pass < 2; pass++) {
    for (int r = 0; r < count; r++) {
      const double* row = s->switcher->rows + (size_t)r * (size_t)n;
      double along = 0.0;
      for (int j = 0; j < n; j++) {
        along += row[j] * x[j];
      }
      for (int j = 0; j < n; j++) {
        x[j] -= along * row[j];
      }
    }
  }
  for (int j = 0; j < n; j++) {
    after += x[j] * x[j];
  }
  return before > 0.0 ? sqrt(after / before) : 0.0;
}

// True when Z depends on the rows of constraint c in its present mode. Overwrites Z.
static bool is_along(PawlStepper* s, const PawlConstraint* c, int rows, const double* G,
                     double* Z) {
  static const double SAME_DIRECTION = 1e-6;
  int n = s->sizes.v, basis = 0;
  for (int r = 0; r < rows; r++) {
    double* row = s->switcher->rows + (size_t)basis * (size_t)n;
    double length = 0.0;
    for (int j = 0; j < n; j++) {
      row[j] = 0.0;
      for (int e = s->G.start[j]; e < s->G.start[j + 1]; e++) {
        row[j] = s->G.index[e] == c->first_row + r ? G[e] : row[j];
      }
    }
    bool independent = take_out(s, basis, row) > SAME_DIRECTION;
    for (int j = 0; j < n; j++) {
      length += row[j] * row[j];
    }
    for (int j = 0; independent && j < n; j++) {
      row[j] /= sqrt(length);
    }
    basis += independent;
  }
  return take_out(s, basis, Z) <= SAME_DIRECTION;
}

// True when the state is near the surface and the motion does not change the switching function.
static bool stands_still(const PawlStepper* s, const PawlState* state, int k, const double* Z) {
  static const double STILL = 1e-6, NEAR = 1e-2, SMALLEST_SIZE = 1e-3;
  const PawlValues* values = pawl_eval_values(s->switcher->eval);
  double rate_size = SMALLEST_SIZE, size = 0.0;
  for (int j = 0; j < s->sizes.v; j++) {
    double of_q = s->sizes.q == s->sizes.v ? fmax(fabs(state->q[j]), SMALLEST_SIZE) : 1.0;
    rate_size += fabs(Z[j] * state->v[j]);
    size += fabs(Z[j]) * of_q;
  }
  return fabs(values->z_rate[k]) <= STILL * rate_size && fabs(values->z[k]) <= NEAR * size;
}

// The guards of modes that have rows and were entered since the last look.
static int list_entered(const PawlStepper* s, const PawlState* state, int* guards) {
  const PawlSystem* system = s->system;
  int count = 0;
  for (int k = 0; k < system->guard_count; k++) {
    PawlGate g = system->guards[k];
    bool entered = !s->switcher->held_known ||
                   s->switcher->held_modes[g.constraint] != state->modes[g.constraint];
    bool present = state->modes[g.constraint] == g.mode;
    if (entered) {
      s->switcher->held[k] = 0;
    }
    if (entered && present && system->constraints[g.constraint].modes[g.mode].row_count > 0) {
      guards[count++] = k;
    }
  }
  return count;
}

// Where a mode's equation holds on the surface of its own region (a mass that has landed on y = 0
// with the region y < 0), motion along it cannot leave the region, but rounding could: such a
// surface is held, and ignored while the mode lasts.
PawlStatus pawl_switcher_hold(PawlStepper* s, const PawlState* state, PawlError* err) {
  PawlSwitcher* w = s->switcher;
  const PawlSystem* system = s->system;
  if (w->held_known && memcmp(w->held_modes, state->modes, pawl_mode_bytes(s)) == 0) {
    return PAWL_OK;
  }
  int count = list_entered(s, state, w->guards);
  memcpy(w->held_modes, state->modes, pawl_mode_bytes(s));
  w->held_known = true;
  if (!w->Z) {
    return PAWL_OK;
  }
  double* Z = w->Z;
  PawlPoint point = point_of(state, state->modes);
  PawlStatus status = pawl_eval_run(s->eval_start, &point, err);
  status = status ? status : surface_gradients(s, state, count, w->guards, Z, err);
  PawlPoint moving = point_of(state, state->modes);
  status = status ? status : pawl_eval_run(w->eval, &moving, err);
  for (int k = 0; status == PAWL_OK && k < count; k++) {
    PawlGate g = system->guards[w->guards[k]];
    const PawlConstraint* c = &system->constraints[g.constraint];
    double* Z_k = Z + (size_t)k * (size_t)s->sizes.v;
    w->held[w->guards[k]] =
        stands_still(s, state, w->guards[k], Z_k) &&
        is_along(s, c, c->modes[g.mode].row_count, pawl_eval_values(s->eval_start)->G, Z_k);
  }
  w->any_held = false;
  for (int k = 0; k < system->guard_count; k++) {
    w->any_held |= w->held[k];
  }
  return status;
}
