// SPDX-License-Identifier: Apache-2.0
#include "switch/pinned.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "switch/tolerances.h"
#include "system/system.h"

enum { BY_V, BY_A };
enum { PUSHES = 2 };  // motions without pattern; one alone could miss a condition
static const unsigned FIRST_SEED = 12345u;

PawlStatus pawl_pinned_create(PawlDynamics* d, PawlPinned* h, PawlError* err) {
  size_t n = (size_t)d->sizes.v, places = (size_t)d->system->watch_count;
  *h = (PawlPinned){.dynamics = d,
                    .push = PAWL_NEW(d->arena, double, n),
                    .free = PAWL_NEW(d->arena, double, n),
                    .zero = PAWL_NEW(d->arena, double, n),
                    .rows = PAWL_NEW(d->arena, double, d->sizes.rows),
                    .along = PAWL_NEW(d->arena, double, places),
                    .largest = PAWL_NEW(d->arena, double, places)};
  for (int by = BY_V; by <= BY_A; by++) {
    h->base[by] = PAWL_NEW(d->arena, double, places);
    h->by_push[by] = PAWL_NEW(d->arena, double, places);
    h->by_free[by] = PAWL_NEW(d->arena, double, places);
  }
  return d->arena->failed ? pawl_fail_memory(err)
                          : pawl_eval_create(d->system, PAWL_WATCH_RATES, &h->rates, err);
}

void pawl_pinned_destroy(PawlPinned* h) {
  pawl_eval_destroy(h->rates);
}

// Numbers between 1/2 and 1 with signs, in units of the masses: every coordinate moves, none is
// special, and scaling the units scales the motion.
static void make_push(PawlPinned* h, const double* M, unsigned seed) {
  const PawlDynamics* d = h->dynamics;
  for (int j = 0; j < d->sizes.v; j++) {
    double mass = 0.0;
    for (int k = d->H.start[j]; k < d->H.start[j + 1]; k++) {
      mass = d->H.index[k] == j ? M[k] : mass;
    }
    seed = seed * 1664525u + 1013904223u;
    double size = 0.5 + 0.5 * (double)(seed >> 16) / 65536.0;
    h->push[j] = (seed >> 15 & 1u ? size : -size) / sqrt(mass > 0.0 ? mass : 1.0);
  }
}

// [M -G^T; G 0] [free; y] = [M push; 0]: the part of the push that the rows allow.          (V11)
static void make_free(PawlPinned* h, const double* M) {
  const PawlDynamics* d = h->dynamics;
  memset(h->free, 0, (size_t)d->sizes.v * sizeof(double));
  memset(h->rows, 0, (size_t)d->sizes.rows * sizeof(double));
  pawl_sparse_add(&d->H, M, 1.0, h->push, h->free);
  pawl_kkt_solve(d->kkt, h->free, h->rows);
}

static PawlStatus rates_at(PawlPinned* h, const PawlState* state, const double* v, const double* a,
                           double* out, PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, h->dynamics->plain);
  PawlPoint point = pawl_phase_point(&phase, state->t, state->q, v, a, state->lambda);
  PAWL_TRY(pawl_eval_run(h->rates, &point, err));
  memcpy(out, pawl_eval_values(h->rates)->watch_rate,
         (size_t)h->dynamics->system->watch_count * sizeof(double));
  return PAWL_OK;
}

// How much the rate of each condition changes by a motion, as velocities or as accelerations, from
// h->base[by] on; the largest so far, NaN where it has no value (hypot(x', y') by velocities).
static PawlStatus change_by(PawlPinned* h, const PawlState* state, int by, const double* motion,
                            double* largest, PawlError* err) {
  assert(by == BY_V || by == BY_A);
  PAWL_TRY(rates_at(h, state, by == BY_V ? motion : state->v, by == BY_V ? h->zero : motion,
                    h->along, err));
  for (int k = 0; k < h->dynamics->system->watch_count; k++) {
    double change = fabs(h->along[k] - h->base[by][k]);
    largest[k] = change > largest[k] || isnan(change) ? change : largest[k];
  }
  return PAWL_OK;
}

// How much pushes change the rates.
static PawlStatus try_pushes(PawlPinned* h, const PawlState* state, const double* M,
                             PawlError* err) {
  for (int by = BY_V; by <= BY_A; by++) {
    memset(h->by_push[by], 0, (size_t)h->dynamics->system->watch_count * sizeof(double));
    PAWL_TRY(rates_at(h, state, by == BY_V ? h->zero : state->v, h->zero, h->base[by], err));
  }
  for (unsigned k = 0; k < PUSHES; k++) {
    make_push(h, M, FIRST_SEED + k);
    for (int by = BY_V; by <= BY_A; by++) {
      PAWL_TRY(change_by(h, state, by, h->push, h->by_push[by], err));
    }
  }
  return PAWL_OK;
}

// After that: how much the part of them does that the rows allow.
static PawlStatus try_free(PawlPinned* h, const PawlState* state, const double* M, PawlError* err) {
  for (int by = BY_V; by <= BY_A; by++) {
    memset(h->by_free[by], 0, (size_t)h->dynamics->system->watch_count * sizeof(double));
  }
  for (unsigned k = 0; k < PUSHES; k++) {
    make_push(h, M, FIRST_SEED + k);
    make_free(h, M);
    for (int by = BY_V; by <= BY_A; by++) {
      PAWL_TRY(change_by(h, state, by, h->free, h->by_free[by], err));
    }
  }
  return PAWL_OK;
}

// f depends on velocities: its value is of the size f_v v, its rate of f_v a; else f_q q and f_q v.
static int depends_by(const PawlPinned* h, int k) {
  return h->by_push[BY_A][k] == 0.0 ? BY_V : BY_A;
}

static double slope_of(const PawlPinned* h, int k) {
  return h->by_push[depends_by(h, k)][k] / pawl_dynamics_largest(h->dynamics->sizes.v, h->push);
}

// One that was held until now (`was`) may have drifted. One without a slope here is not held.
static bool is_zero(const PawlPinned* h, const PawlState* state, int k, double f, double zero,
                    bool was) {
  PawlSizes n = h->dynamics->sizes;
  double most = depends_by(h, k) == BY_A ? pawl_dynamics_largest(n.v, state->v)
                                         : pawl_dynamics_largest(n.q, state->q);
  double slope = slope_of(h, k), size = fmax(slope * most, h->largest[k]);
  return slope > 0.0 && isfinite(slope) && fabs(f) <= (was ? PAWL_PINNED_DRIFT : zero) * size;
}

// One whose value is zero: whether no motion that the rows allow changes it, nor the present one.
static bool is_held(const PawlPinned* h, const PawlState* state, const double* a, int k, bool was) {
  int by = depends_by(h, k), n = h->dynamics->sizes.v;
  double rate_size = slope_of(h, k) * pawl_dynamics_largest(n, by == BY_A ? a : state->v);
  return h->by_free[by][k] <= PAWL_PINNED_ALONG * h->by_push[by][k] &&
         (was || fabs(h->along[k]) <= PAWL_PINNED_ZERO * rate_size);
}

static PawlStatus factor(PawlDynamics* d, const PawlState* state, const PawlValues* values,
                         PawlError* err) {
  PawlStatus status = pawl_dynamics_factor(d, values, state->active);
  return status == PAWL_OK ? PAWL_OK
         : status == PAWL_RETRY
             ? pawl_dynamics_singular(d, values->M, values->G, state->active, state->t, err)
             : pawl_fail_memory(err);
}

PawlStatus pawl_pinned_find(PawlPinned* h, const PawlState* state, const PawlValues* values,
                            const double* a, const double* watch, double zero, unsigned char* flags,
                            PawlError* err) {
  PawlDynamics* d = h->dynamics;
  assert(zero > 0.0 && (watch || d->system->watch_count == 0));
  bool any = false;
  PAWL_TRY(factor(d, state, values, err));
  PAWL_TRY(try_pushes(h, state, values->M, err));
  for (int k = 0; k < d->system->watch_count && !any; k++) {
    any = is_zero(h, state, k, watch[k], zero, flags[k]);
  }
  if (any) {
    PAWL_TRY(try_free(h, state, values->M, err));
    PAWL_TRY(rates_at(h, state, state->v, a, h->along, err));
  }
  for (int k = 0; k < d->system->watch_count; k++) {
    flags[k] =
        any && is_zero(h, state, k, watch[k], zero, flags[k]) && is_held(h, state, a, k, flags[k]);
  }
  return PAWL_OK;
}

PawlStatus pawl_pinned_measure(PawlPinned* h, const PawlState* state, const PawlValues* values,
                               PawlError* err) {
  return try_pushes(h, state, values->M, err);
}

double pawl_pinned_slope(const PawlPinned* h, int place) {
  double slope = h->by_push[BY_A][place] / pawl_dynamics_largest(h->dynamics->sizes.v, h->push);
  assert(place >= 0 && place < h->dynamics->system->watch_count);
  return isfinite(slope) ? slope : 0.0;
}

PawlStatus pawl_pinned_slopes(PawlPinned* h, const PawlState* state, const PawlValues* values,
                              int k, double* slopes, const double** motion, PawlError* err) {
  PAWL_TRY(factor(h->dynamics, state, values, err));
  make_push(h, values->M, FIRST_SEED + (unsigned)k);
  make_free(h, values->M);
  *motion = h->free;
  PAWL_TRY(rates_at(h, state, h->zero, h->zero, h->base[BY_V], err));
  PAWL_TRY(rates_at(h, state, h->free, h->zero, slopes, err));
  for (int j = 0; j < h->dynamics->system->watch_count; j++) {
    slopes[j] -= h->base[BY_V][j];
  }
  return PAWL_OK;
}

// [M -G^T; G 0] [dv; y] = [0; -(G v + g_t)]: takes the drift out of the velocities. To h->free.
static void make_correction(PawlPinned* h, const PawlState* state, const PawlValues* values) {
  const PawlDynamics* d = h->dynamics;
  memset(h->free, 0, (size_t)d->sizes.v * sizeof(double));
  pawl_dynamics_rows(d, values->G, state->v, values->g_t, h->rows);
  for (int i = 0; i < d->sizes.rows; i++) {
    h->rows[i] = state->active[i] ? -h->rows[i] : 0.0;
  }
  pawl_kkt_solve(d->kkt, h->free, h->rows);
}

// |f + f_v dv| <= ALONG f_v |v|,  |f_v v' + ...| <= ZERO f_v max(|v'|, |f|/M).               (V21)
PawlStatus pawl_pinned_rests(PawlPinned* h, const PawlState* state, const PawlValues* values,
                             const double* a, int place, double rate, bool* yes, PawlError* err) {
  PawlDynamics* d = h->dynamics;
  assert(place >= 0 && place < d->system->watch_count);
  PAWL_TRY(factor(d, state, values, err));
  PAWL_TRY(try_pushes(h, state, values->M, err));
  PAWL_TRY(try_free(h, state, values->M, err));
  bool held = h->by_free[BY_A][place] <= PAWL_PINNED_ALONG * h->by_push[BY_A][place];
  double slope = h->by_push[BY_A][place] / pawl_dynamics_largest(d->sizes.v, h->push);
  make_correction(h, state, values);
  PAWL_TRY(rates_at(h, state, state->v, h->free, h->along, err));
  double left = rate + h->along[place] - h->base[BY_A][place];
  PAWL_TRY(rates_at(h, state, state->v, a, h->along, err));
  *yes = held &&
         fabs(left) <= PAWL_PINNED_ALONG * slope * pawl_dynamics_largest(d->sizes.v, state->v) &&
         fabs(h->along[place]) <= PAWL_PINNED_ZERO * slope * pawl_dynamics_push(d, state, values);
  return PAWL_OK;
}
