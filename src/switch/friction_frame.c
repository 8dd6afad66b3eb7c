// SPDX-License-Identifier: Apache-2.0
// A frictional problem in scaled rows, where its search begins, and its result in the units of the
// caller (docs/theory/friction.md, section 1).
#include <string.h>

#include "switch/friction_impl.h"

// ---- scaling ------------------------------------------------------------------------------------

// The square root of d, to a power of two: scaling adds no rounding. 1 where nothing moves.
static double root_power(double d) {
  int exponent;
  (void)frexp(d, &exponent);
  return d > 0.0 ? ldexp(1.0, (exponent - (exponent & 1)) / 2) : 1.0;
}

// The two tangential rows of a block have one scale, which does not change when they are turned.
static void choose_scales(PawlFrictionWork* k, const PawlFrictionProblem* p, const double* own) {
  for (int i = 0; i < k->m; i++) {
    k->s[i] = root_power(own[i]);
  }
  for (int b = 0; b < p->blocks; b++) {
    const int* t = p->block[b].tangent;
    if (pawl_friction_spatial(&p->block[b])) {
      k->s[t[0]] = k->s[t[1]] = root_power(0.5 * (own[t[0]] + own[t[1]]));
    }
  }
}

// Rates of bodies at rest, halved again and again, end among numbers that have no digits.
static double flushed(double x) {
  return fabs(x) > PAWL_FLUSHED ? x : 0.0;
}

static void scale_rows(PawlFrictionWork* k, const PawlFrictionProblem* p) {
  for (int i = 0; i < k->m; i++) {
    double s = k->s[i];
    k->q[i] = flushed(p->q[i] / s);
    k->q_size[i] = flushed((p->size ? fabs(p->size[i]) : 0.0) / s);
    k->lo[i] = p->lo[i] * s;
    k->hi[i] = p->hi[i] * s;
  }
  for (int b = 0; b < k->blocks; b++) {
    const PawlFrictionBlock* block = &k->block[b];
    k->mu[b] = block->mu * (k->s[block->tangent[0]] / k->s[block->normal]);
  }
}

static bool is_finite(const PawlFrictionWork* k, const PawlFrictionProblem* p) {
  bool ok = true;
  for (int i = 0; i < k->m; i++) {
    ok = ok && isfinite(p->q[i]) && (k->owner[i] >= 0 || p->lo[i] <= p->hi[i]);
  }
  for (int b = 0; b < p->blocks; b++) {
    ok = ok && isfinite(p->block[b].mu) && p->block[b].mu >= 0.0;
  }
  return ok;
}

static void set_blocks(PawlFrictionWork* k, const PawlFrictionProblem* p) {
  k->blocks = p->blocks;
  k->block = p->block;
  k->near = p->near;
  for (int i = 0; i < k->m; i++) {
    k->owner[i] = -1;
  }
  for (int b = 0; b < p->blocks; b++) {
    const PawlFrictionBlock* block = &p->block[b];
    for (int j = 0; j < 1 + pawl_friction_spatial(block); j++) {
      assert(block->tangent[j] >= 0 && block->tangent[j] < k->m &&
             block->tangent[j] != block->normal);
      k->owner[block->tangent[j]] = b;
    }
  }
}

bool pawl_friction_frame(PawlFrictionWork* k, const PawlFrictionProblem* p, const double* own) {
  set_blocks(k, p);
  if (!is_finite(k, p)) {
    return false;
  }
  choose_scales(k, p, own);
  scale_rows(k, p);
  return true;
}

// ---- the start ----------------------------------------------------------------------------------

// Where to begin: what the caller knows, else all rows hold that would move the wrong way.
static PawlRowState first_place(const PawlFrictionWork* k, const PawlFrictionResult* result,
                                int i) {
  PawlRowState state = result->state[i];
  if (pawl_friction_bilateral(k, i)) {
    return PAWL_ROW_FREE;
  }
  if (pawl_friction_fixed(k, i) || (state == PAWL_ROW_LOW && k->lo[i] > -INFINITY)) {
    return PAWL_ROW_LOW;
  }
  bool apart = state == PAWL_ROW_UNKNOWN && k->lo[i] == 0.0 && k->q[i] > 0.0;
  return state == PAWL_ROW_HIGH && k->hi[i] < INFINITY ? PAWL_ROW_HIGH
         : apart                                       ? PAWL_ROW_LOW
                                                       : PAWL_ROW_FREE;
}

static void begin_block(PawlFrictionWork* k, const PawlFrictionResult* result, int b) {
  const PawlFrictionBlock* block = &k->block[b];
  int n = block->normal;
  bool slips = result->block_state[b] == PAWL_FRICTION_SLIP;
  double slip = slips ? result->slip[2 * b] : 0.0;
  k->sign[b] = pawl_friction_fixed(k, n) && k->lo[n] < 0.0 ? -1 : 1;
  for (int j = 0; j < 1 + pawl_friction_spatial(block); j++) {
    bool spatial = pawl_friction_spatial(block) && slips;
    k->place[block->tangent[j]] = slip > 0.0 || spatial ? PAWL_ROW_LOW
                                  : slip < 0.0          ? PAWL_ROW_HIGH
                                                        : PAWL_ROW_FREE;
  }
}

void pawl_friction_begin(PawlFrictionWork* k, PawlFrictionResult* result) {
  k->slip = result->slip;
  for (int i = 0; i < k->m; i++) {
    k->before[i] = k->near ? k->near[i] * k->s[i] : 0.0;
    k->lambda[i] = 0.0;
    if (k->owner[i] < 0) {
      k->place[i] = (unsigned char)first_place(k, result, i);
    }
  }
  for (int b = 0; b < k->blocks; b++) {
    begin_block(k, result, b);
  }
  result->rounds = result->sweeps = result->exchanges = result->tried = result->solutions = 0;
}

// ---- the result ---------------------------------------------------------------------------------

// Back to the units of the caller; w is 0 where it is rounding.
static void show_rows(const PawlFrictionWork* k, PawlFrictionResult* result) {
  for (int i = 0; i < k->m; i++) {
    bool none = k->in[i] || fabs(k->w[i]) <= pawl_friction_slack(k, i);
    bool fixed = pawl_friction_fixed(k, i);
    result->w[i] = none && !fixed ? 0.0 : k->w[i] * k->s[i];
    result->lambda[i] = k->lambda[i] / k->s[i];
    result->state[i] = k->place[i];
  }
}

// Along what a block slips. In space a slip that has just begun is as small as rounding and its
// force is not; where the force is nothing, its rate is not. In scaled rows lambda and w are of one
// size where they do the same.                                                             (F63)
static void show_direction(const PawlFrictionWork* k, const PawlFrictionResult* result, int b,
                           double* slip) {
  const PawlFrictionBlock* block = &k->block[b];
  bool spatial = pawl_friction_spatial(block);
  slip[1] = 0.0;
  for (int j = 0; j < 1 + spatial; j++) {
    int t = block->tangent[j];
    slip[j] = block->sliding ? block->direction[j]
              : spatial      ? result->w[t] / k->s[t] - k->lambda[t]
                             : result->w[t];
  }
  double length = hypot(slip[0], slip[1]);
  slip[0] = length > 0.0 ? slip[0] / length : 0.0;
  slip[1] = length > 0.0 ? slip[1] / length : 0.0;
}

static void show_block(const PawlFrictionWork* k, PawlFrictionResult* result, int b) {
  const PawlFrictionBlock* block = &k->block[b];
  double* slip = result->slip + 2 * b;
  bool closed = pawl_friction_closed(k, b) || pawl_friction_bilateral(k, block->normal);
  bool slips = block->sliding;
  for (int j = 0; j < 1 + pawl_friction_spatial(block); j++) {
    slips |= result->w[block->tangent[j]] != 0.0;
  }
  slip[0] = slip[1] = 0.0;
  if (closed && slips) {
    show_direction(k, result, b, slip);
  }
  result->block_state[b] = !closed ? PAWL_FRICTION_OPEN
                           : slips ? PAWL_FRICTION_SLIP
                                   : PAWL_FRICTION_STICK;
}

// Bounds and cones are met exactly.
static void clip(PawlFrictionWork* k) {
  for (int i = 0; i < k->m; i++) {
    if (k->owner[i] < 0) {
      k->lambda[i] = fmin(fmax(k->lambda[i], k->lo[i]), k->hi[i]);
    }
  }
  for (int b = 0; b < k->blocks; b++) {
    const int* t = k->block[b].tangent;
    double limit = k->mu[b] * fabs(k->lambda[k->block[b].normal]);
    double force = hypot(k->lambda[t[0]], t[1] >= 0 ? k->lambda[t[1]] : 0.0);
    for (int j = 0; force > limit && j < 1 + pawl_friction_spatial(&k->block[b]); j++) {
      k->lambda[t[j]] *= limit / force;
    }
  }
}

void pawl_friction_show(PawlFrictionWork* k, PawlFrictionResult* result) {
  clip(k);
  result->residual = pawl_friction_residual(k);
  show_rows(k, result);
  for (int b = 0; b < k->blocks; b++) {
    show_block(k, result, b);
  }
}
