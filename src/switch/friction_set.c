// SPDX-License-Identifier: Apache-2.0
// A set of the frictional problem: which rows are at which bound, and what is wrong with it
// (docs/theory/friction.md, section 2).
#include <string.h>

#include "switch/friction_impl.h"

bool pawl_friction_work_alloc(PawlFrictionWork* k, PawlArena* arena, int m, int blocks) {
  double** of_m[] = {&k->tie,   &k->lambda,  &k->w,     &k->size,   &k->before,
                     &k->s,     &k->q,       &k->lo,    &k->hi,     &k->q_size,
                     &k->point, &k->point_w, &k->trial, &k->trial_w};
  for (size_t i = 0; i < sizeof of_m / sizeof *of_m; i++) {
    *of_m[i] = PAWL_NEW(arena, double, m);
  }
  k->owner = PAWL_NEW(arena, int, m);
  k->place = PAWL_NEW(arena, unsigned char, m);
  k->next = PAWL_NEW(arena, unsigned char, m);
  k->in = PAWL_NEW(arena, unsigned char, m);
  k->mu = PAWL_NEW(arena, double, blocks);
  k->sign = PAWL_NEW(arena, signed char, blocks);
  return !arena->failed;
}

// ---- places -------------------------------------------------------------------------------------

static void arrange_block(PawlFrictionWork* k, int b) {
  const PawlFrictionBlock* block = &k->block[b];
  double limit = k->mu[b] * k->sign[b];  // of lambda_T by lambda_N
  bool closed = pawl_friction_closed(k, b);
  for (int j = 0; j < 1 + pawl_friction_spatial(block); j++) {
    int t = block->tangent[j];
    bool slips = k->place[t] != PAWL_ROW_FREE;
    double planar = !slips ? 0.0 : k->place[t] == PAWL_ROW_LOW ? -1.0 : 1.0;
    double side = block->sliding                 ? -block->direction[j]
                  : pawl_friction_spatial(block) ? -slips * k->slip[2 * b + j]
                                                 : planar;
    k->in[t] = closed && !block->sliding && limit != 0.0 && k->place[t] == PAWL_ROW_FREE;
    k->tie[t] = side * limit;
    k->lambda[t] = k->in[t] ? k->lambda[t] : k->tie[t] * k->lambda[block->normal];
  }
}

void pawl_friction_arrange(PawlFrictionWork* k) {
  for (int i = 0; i < k->m; i++) {
    if (k->owner[i] < 0) {
      k->in[i] = k->place[i] == PAWL_ROW_FREE;
      k->tie[i] = 0.0;
      k->lambda[i] = k->place[i] == PAWL_ROW_LOW    ? k->lo[i]
                     : k->place[i] == PAWL_ROW_HIGH ? k->hi[i]
                                                    : k->lambda[i];
      assert(k->in[i] || isfinite(k->lambda[i]));
    }
  }
  for (int b = 0; b < k->blocks; b++) {
    arrange_block(k, b);
  }
}

// ---- what is wrong ------------------------------------------------------------------------------

bool pawl_friction_turned(const PawlFrictionWork* k, int b) {
  int n = k->block[b].normal;
  return k->mu[b] > 0.0 && !k->block[b].pulls && k->lambda[n] * k->sign[b] < -k->loose * k->size[n];
}

// A row with lambda between these bounds, or at one of them.
static PawlRowState belongs(const PawlFrictionWork* k, int i, double lo, double hi, double slack) {
  double w = pawl_friction_w(k, i), none = pawl_friction_slack(k, i);
  switch (k->place[i]) {
    case PAWL_ROW_LOW:
      return w < -none ? PAWL_ROW_FREE : PAWL_ROW_LOW;
    case PAWL_ROW_HIGH:
      return w > none ? PAWL_ROW_FREE : PAWL_ROW_HIGH;
    default:
      return k->lambda[i] < lo - slack   ? PAWL_ROW_LOW
             : k->lambda[i] > hi + slack ? PAWL_ROW_HIGH
                                         : PAWL_ROW_FREE;
  }
}

// Bounds say nothing while the block is open, or is about to open.
static PawlRowState tangent_belongs(const PawlFrictionWork* k, int t) {
  int b = k->owner[t], n = k->block[b].normal;
  bool decided = k->block[b].sliding || k->mu[b] == 0.0 || !pawl_friction_closed(k, b);
  if (decided || pawl_friction_turned(k, b) || k->lambda[n] < k->lo[n] - k->loose * k->size[n]) {
    return k->place[t];
  }
  double limit = k->mu[b] * fabs(k->lambda[n]);
  double slack = k->loose * (k->size[t] + k->mu[b] * k->size[n]);
  return belongs(k, t, -limit, limit, slack);
}

PawlRowState pawl_friction_belongs(const PawlFrictionWork* k, int i) {
  if (k->owner[i] >= 0) {
    return tangent_belongs(k, i);
  }
  return pawl_friction_fixed(k, i) ? k->place[i]
                                   : belongs(k, i, k->lo[i], k->hi[i], k->loose * k->size[i]);
}

int pawl_friction_count_wrong(const PawlFrictionWork* k) {
  int count = 0;
  for (int i = 0; i < k->m; i++) {
    count += pawl_friction_belongs(k, i) != k->place[i];
  }
  for (int b = 0; b < k->blocks; b++) {
    count += pawl_friction_turned(k, b);
  }
  return count;
}

// ---- hardening ----------------------------------------------------------------------------------

// What the softened rows give way is more than rounding.
bool pawl_friction_gives_way(const PawlFrictionWork* k) {
  for (int i = 0; i < k->m; i++) {
    double given = k->soft * fabs(k->lambda[i] - k->before[i]);
    if (k->in[i] && given > pawl_friction_slack(k, i)) {
      return true;
    }
  }
  return false;
}

bool pawl_friction_harden_set(PawlFrictionWork* k) {
  memset(k->before, 0, (size_t)k->m * sizeof(double));
  return pawl_friction_harden_near(k);
}

bool pawl_friction_harden_near(PawlFrictionWork* k) {
  enum { MOST = 20 };
  pawl_friction_arrange(k);
  for (int round = 0; round < MOST && pawl_friction_solve_set(k) == PAWL_OK; round++) {
    bool more = pawl_friction_gives_way(k);
    memcpy(k->before, k->lambda, (size_t)k->m * sizeof(double));
    if (!more) {
      return true;
    }
  }
  return false;
}

// ---- the residual -------------------------------------------------------------------------------

static double nearest(double x, double lo, double hi) {
  return fmin(fmax(x, lo), hi);
}

// Of the tangential rows of block b: lambda_T - P(lambda_T - w_T), P onto the disc of mu
// |lambda_N|.
static double tangent_residual(const PawlFrictionWork* k, int b) {
  const PawlFrictionBlock* block = &k->block[b];
  double normal = k->lambda[block->normal];
  double limit = k->mu[b] * (block->pulls ? normal : fabs(normal));
  double point[2] = {0.0, 0.0}, square = 0.0;
  int count = 1 + pawl_friction_spatial(block);
  for (int j = 0; j < count; j++) {
    int t = block->tangent[j];
    point[j] = block->sliding ? -limit * block->direction[j] : k->lambda[t] - k->w[t];
  }
  double length = hypot(point[0], point[1]);
  double shrink = length > limit && !block->sliding ? limit / length : 1.0;
  for (int j = 0; j < count; j++) {
    double off = k->lambda[block->tangent[j]] - shrink * point[j];
    square += off * off;
  }
  return sqrt(square);
}

double pawl_friction_residual(const PawlFrictionWork* k) {
  double most = 0.0, size = 0.0;
  for (int i = 0; i < k->m; i++) {
    size = fmax(size, fmax(k->size[i], fabs(k->lambda[i])));
    if (k->owner[i] < 0) {
      most = fmax(most, fabs(k->lambda[i] - nearest(k->lambda[i] - k->w[i], k->lo[i], k->hi[i])));
    }
  }
  for (int b = 0; b < k->blocks; b++) {
    most = fmax(most, tangent_residual(k, b));
  }
  return most > 0.0 ? most / size : 0.0;
}
