// SPDX-License-Identifier: Apache-2.0
#include "switch/pace.h"

#include <math.h>
#include <string.h>

#include "linalg/sparse.h"
#include "switch/tolerances.h"
#include "system/system.h"

static double mass_of(const PawlDynamics* d, const PawlValues* values, int j) {
  return d->diagonal[j] >= 0 ? values->M[d->diagonal[j]] : 0.0;
}

// sum_j G_ij^2/M_jj of every row.
static double* find_own(const PawlDynamics* d, const PawlValues* values) {
  double* own = d->room + 3 * d->sizes.rows;
  memset(own, 0, (size_t)d->sizes.rows * sizeof(double));
  for (int j = 0; j < pawl_moving(d->sizes); j++) {
    double mass = mass_of(d, values, j);
    for (int k = d->G.start[j]; mass > 0.0 && k < d->G.start[j + 1]; k++) {
      own[d->G.index[k]] += values->G[k] * values->G[k] / mass;
    }
  }
  return own;
}

static double* find_coordinates(const PawlDynamics* d, const PawlState* state,
                                const double* v_before, const PawlValues* values, PawlPace pace) {
  double* x = d->room + 4 * d->sizes.rows;
  memset(x, 0, (size_t)d->sizes.v * sizeof(double));
  for (int j = 0; j < pawl_moving(d->sizes); j++) {
    double mass = mass_of(d, values, j);
    double v = fmax(fabs(state->v[j]), v_before ? fabs(v_before[j]) : 0.0);
    double a = fmax(fabs(state->a[j]), mass > 0.0 ? fabs(values->f[j]) / mass : 0.0);
    x[j] = pace.of_v * v + pace.of_a * a;
  }
  return x;
}

// A row in force that moves as fast as its coordinates could, by an impulse, gives each of them
// its part; friction of what slips, too, where it is asked for.
static void pass_on(const PawlDynamics* d, const PawlState* state, const PawlValues* values,
                    bool slips, const double* own, const double* rows, double* x) {
  for (int j = 0; j < pawl_moving(d->sizes); j++) {
    double mass = mass_of(d, values, j);
    for (int k = d->G.start[j]; mass > 0.0 && k < d->G.start[j + 1]; k++) {
      int i = d->G.index[k];
      bool rubs = slips && pawl_system_row_kind(d->system, i) == PAWL_ROW_FRICTION;
      if ((state->in_force[i] || rubs) && own[i] > 0.0) {
        x[j] = fmax(x[j], fabs(values->G[k]) * rows[i] / (own[i] * mass));
      }
    }
  }
}

// Gap and slips of a contact hang together by its cone.
static void take_slips(const PawlDynamics* d, double* rows) {
  for (int i = d->sizes.rows - 1; i >= 0; i--) {
    if (pawl_system_row_kind(d->system, i) != PAWL_ROW_CONTACT) {
      return;  // contacts come last
    }
    PawlContactFriction of = pawl_system_friction(d->system, i);
    for (int k = of.first; k < of.first + of.count; k++) {
      rows[i] = fmax(rows[i], rows[k]);
    }
    for (int k = of.first; k < of.first + of.count; k++) {
      rows[k] = rows[i];
    }
  }
}

enum { ROUNDS = 2 };  // of passing on

void pawl_pace_rows(const PawlDynamics* d, const PawlState* state, const double* v_before,
                    const PawlValues* values, PawlPace pace, double* out) {
  double* x = find_coordinates(d, state, v_before, values, pace);
  const double* own = find_own(d, values);
  pawl_sparse_sizes(&d->G, values->G, x, 0.0, out);
  for (int round = 0; round < ROUNDS; round++) {
    take_slips(d, out);
    pass_on(d, state, values, false, own, out, x);
    pawl_sparse_sizes(&d->G, values->G, x, 0.0, out);
  }
  take_slips(d, out);
}

void pawl_pace_forces(const PawlDynamics* d, const PawlState* state, const double* v_before,
                      const PawlValues* values, PawlPace pace, double* out) {
  pawl_pace_rows(d, state, v_before, values, pace, out);
  const double* own = d->room + 3 * d->sizes.rows;
  for (int i = 0; i < d->sizes.rows; i++) {
    out[i] = own[i] > 0.0 ? out[i] / own[i] : 0.0;
  }
}

// What slips passes on along its slips what its gap has, for there is its force; what is open does
// not.
static void give_slips(const PawlDynamics* d, const PawlState* state, double* rows) {
  for (int i = d->sizes.rows - 1; i >= 0; i--) {
    if (pawl_system_row_kind(d->system, i) != PAWL_ROW_CONTACT) {
      return;  // contacts come last
    }
    PawlContactFriction of = pawl_system_friction(d->system, i);
    for (int k = of.first; k < of.first + of.count; k++) {
      rows[k] = state->in_force[k] ? rows[k] : state->in_force[i] ? rows[i] : 0.0;
    }
  }
}

void pawl_pace_places(const PawlDynamics* d, const PawlState* state, const PawlValues* values,
                      bool slips, double* out) {
  double* x = d->room + 4 * d->sizes.rows;
  const double* own = find_own(d, values);
  int plain = pawl_moving(d->sizes) - 3 * d->system->rotations;
  for (int j = 0; j < d->sizes.v; j++) {
    x[j] = j < plain ? fabs(state->q[j]) : 1.0;
  }
  pawl_sparse_sizes(&d->G, values->G, x, 0.0, out);
  for (int round = 0; round < ROUNDS; round++) {
    if (slips) {
      give_slips(d, state, out);
    }
    pass_on(d, state, values, slips, own, out, x);
    pawl_sparse_sizes(&d->G, values->G, x, 0.0, out);
  }
}

PawlPace pawl_pace_rest(const PawlDynamics* d, double t) {
  return (PawlPace){
      .of_v = PAWL_REST,
      .of_a = PAWL_REST * d->def->step + PAWL_REST_OF_INSTANT * pawl_dynamics_instant(d, t)};
}
