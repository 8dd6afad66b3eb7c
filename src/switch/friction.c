// SPDX-License-Identifier: Apache-2.0
// Rows with bounds and dry friction, by their compliance (docs/theory/friction.md).
#include "switch/friction.h"

#include <string.h>

#include "base/alloc.h"
#include "switch/friction_impl.h"

struct PawlFriction {
  PawlArena arena;
  int most, most_blocks;
  PawlFrictionWork work;
  PawlFrictionDense dense;
  PawlFrictionLemke lemke;
  PawlFrictionSearch search;
  PawlFrictionCone cone;
  double* given;               // m-by-m: D as it is given
  double* own;                 // m: D_ii; 0: the row does not move
  double* s;                   // m: the scale of a row
  double *q, *size, *lo, *hi;  // m, scaled
};

// ---- creation -----------------------------------------------------------------------------------

static bool build(PawlFriction* f, int m, int blocks) {
  static const PawlFrictionOps dense = {pawl_friction_dense_solve};
  PawlArena* arena = &f->arena;
  double** of_m[] = {&f->own, &f->s, &f->q, &f->size, &f->lo, &f->hi};
  for (size_t i = 0; i < sizeof of_m / sizeof *of_m; i++) {
    *of_m[i] = PAWL_NEW(arena, double, m);
  }
  f->given = PAWL_NEW(arena, double, (size_t)m*(size_t)m);
  f->most = m;
  f->most_blocks = blocks;
  f->dense.work = &f->work;
  f->work.ops = &dense;
  f->work.self = &f->dense;
  return pawl_friction_work_alloc(&f->work, arena, m, blocks) &&
         pawl_friction_dense_alloc(&f->dense, arena, m) &&
         pawl_friction_lemke_alloc(&f->lemke, arena, m) &&
         pawl_friction_search_alloc(&f->search, arena, m, blocks) &&
         pawl_friction_cone_alloc(&f->cone, arena, m, blocks) && !arena->failed;
}

PawlStatus pawl_friction_create(int most_rows, int most_blocks, PawlFriction** out,
                                PawlError* err) {
  PawlFriction* f = pawl_alloc(1, sizeof *f);
  *out = f;
  if (!f || !build(f, most_rows, most_blocks)) {
    pawl_friction_destroy(f);
    *out = NULL;
    return pawl_fail_memory(err);
  }
  return PAWL_OK;
}

void pawl_friction_destroy(PawlFriction* friction) {
  if (friction) {
    pawl_arena_free(&friction->arena);
    pawl_free(friction);
  }
}

PawlStatus pawl_friction_set(PawlFriction* f, int m, const double* D, const double* own) {
  bool finite = true;
  assert(m >= 0 && m <= f->most);
  f->work.m = m;
  for (int i = 0; i < m; i++) {
    double d = D[i + i * m], least = own ? PAWL_DEPENDENT_PIVOT * own[i] : 0.0;
    f->own[i] = d > least ? d : 0.0;
  }
  for (int e = 0; e < m * m; e++) {
    f->given[e] = D[e];
    finite = finite && isfinite(D[e]);
  }
  return finite ? PAWL_OK : PAWL_RETRY;
}

// ---- scaling ------------------------------------------------------------------------------------

// The square root of d, to a power of two: scaling adds no rounding. 1 where nothing moves.
static double root_power(double d) {
  int exponent;
  (void)frexp(d, &exponent);
  return d > 0.0 ? ldexp(1.0, (exponent - (exponent & 1)) / 2) : 1.0;
}

// The two tangential rows of a block have one scale, which does not change when they are turned.
static void choose_scales(PawlFriction* f, const PawlFrictionProblem* p) {
  for (int i = 0; i < f->work.m; i++) {
    f->s[i] = root_power(f->own[i]);
  }
  for (int b = 0; b < p->blocks; b++) {
    const int* t = p->block[b].tangent;
    if (pawl_friction_spatial(&p->block[b])) {
      f->s[t[0]] = f->s[t[1]] = root_power(0.5 * (f->own[t[0]] + f->own[t[1]]));
    }
  }
}

static void scale_rows(PawlFriction* f, const PawlFrictionProblem* p) {
  int m = f->work.m;
  for (int i = 0; i < m; i++) {
    double s = f->s[i];
    f->q[i] = p->q[i] / s;
    f->size[i] = (p->size ? fabs(p->size[i]) : 0.0) / s;
    f->lo[i] = p->lo[i] * s;
    f->hi[i] = p->hi[i] * s;
  }
  for (int j = 0; j < m; j++) {
    for (int i = 0; i < m; i++) {
      bool moves = f->own[i] > 0.0 && f->own[j] > 0.0;
      f->dense.D[i + j * m] = moves ? f->given[i + j * m] / (f->s[i] * f->s[j]) : 0.0;
    }
  }
  f->dense.factored = false;
}

// ---- the search ---------------------------------------------------------------------------------

static bool is_finite(const PawlFriction* f, const PawlFrictionProblem* p) {
  bool ok = true;
  for (int i = 0; i < f->work.m; i++) {
    ok = ok && isfinite(p->q[i]) && (f->work.owner[i] >= 0 || p->lo[i] <= p->hi[i]);
  }
  for (int b = 0; b < p->blocks; b++) {
    ok = ok && isfinite(p->block[b].mu) && p->block[b].mu >= 0.0;
  }
  return ok;
}

static void set_blocks(PawlFriction* f, const PawlFrictionProblem* p) {
  PawlFrictionWork* k = &f->work;
  assert(p->blocks <= f->most_blocks);
  k->blocks = p->blocks;
  k->block = p->block;
  k->q = f->q;
  k->q_size = f->size;
  k->lo = f->lo;
  k->hi = f->hi;
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

static void begin_block(PawlFriction* f, const PawlFrictionResult* result, int b) {
  PawlFrictionWork* k = &f->work;
  const PawlFrictionBlock* block = &k->block[b];
  int n = block->normal;
  bool slips = result->block_state[b] == PAWL_FRICTION_SLIP;
  double slip = slips ? result->slip[2 * b] : 0.0;
  k->mu[b] = block->mu * (f->s[block->tangent[0]] / f->s[n]);
  k->sign[b] = pawl_friction_fixed(k, n) && k->lo[n] < 0.0 ? -1 : 1;
  for (int j = 0; j < 1 + pawl_friction_spatial(block); j++) {
    bool spatial = pawl_friction_spatial(block) && slips;
    k->place[block->tangent[j]] = slip > 0.0 || spatial ? PAWL_ROW_LOW
                                  : slip < 0.0          ? PAWL_ROW_HIGH
                                                        : PAWL_ROW_FREE;
  }
}

static void begin(PawlFriction* f, PawlFrictionResult* result) {
  PawlFrictionWork* k = &f->work;
  for (int i = 0; i < k->m; i++) {
    k->before[i] = k->lambda[i] = 0.0;
    if (k->owner[i] < 0) {
      k->place[i] = (unsigned char)first_place(k, result, i);
    }
  }
  for (int b = 0; b < k->blocks; b++) {
    begin_block(f, result, b);
  }
  result->rounds = result->sweeps = result->exchanges = result->tried = result->solutions = 0;
}

// Solves again and again with the forces of the round before, until rows give way no more.    (F6)
static PawlStatus harden(PawlFrictionWork* k, PawlFrictionResult* result, bool* done) {
  enum { MOST = 40 };
  PAWL_TRY(pawl_friction_blocks(k, result, done));
  for (int round = 0; *done && pawl_friction_gives_way(k); round++) {
    if (round == MOST) {
      *done = false;
      return PAWL_OK;
    }
    memcpy(k->before, k->lambda, (size_t)k->m * sizeof(double));
    PAWL_TRY(pawl_friction_blocks(k, result, done));
  }
  return PAWL_OK;
}

// From the places and the forces before as they are.
static bool try_from(PawlFriction* f, PawlFrictionResult* result) {
  bool done;
  return harden(&f->work, result, &done) == PAWL_OK && done &&
         pawl_friction_residual(&f->work) <= PAWL_FRICTION_SOLVED_TO;
}

// All rows hold, and all blocks stick.
static void hold_all(PawlFrictionWork* k) {
  memset(k->before, 0, (size_t)k->m * sizeof(double));
  for (int i = 0; i < k->m; i++) {
    k->place[i] = pawl_friction_fixed(k, i) ? PAWL_ROW_LOW : PAWL_ROW_FREE;
  }
}

// One way after the other. Rows that depend on each other may have forces only where they are
// rigid: the last way is without softness, from the forces that it finds itself.
static bool find(PawlFriction* f, PawlFrictionResult* result) {
  PawlFrictionWork* k = &f->work;
  pawl_friction_search_from(k, &f->search);
  if (try_from(f, result)) {
    return true;
  }
  hold_all(k);
  if (try_from(f, result)) {
    return true;
  }
  memset(k->before, 0, (size_t)k->m * sizeof(double));
  if (pawl_friction_lemke(k, &f->lemke, PAWL_FRICTION_SOFT, result) && try_from(f, result)) {
    return true;
  }
  return pawl_friction_lemke(k, &f->lemke, 0.0, result) && pawl_friction_harden_set(k) &&
         try_from(f, result);
}

static PawlFrictionVerdict decide(PawlFriction* f, PawlFrictionResult* result, bool all) {
  bool found = find(f, result);
  result->solutions = found;
  if ((!found || all) && pawl_friction_search(&f->work, &f->search, result)) {
    result->solutions = f->search.known;
    found = f->search.known > 0 && pawl_friction_residual(&f->work) <= PAWL_FRICTION_SOLVED_TO;
    if (!found) {
      return f->search.known == 0 ? PAWL_FRICTION_NONE : PAWL_FRICTION_NOT_CONVERGED;
    }
  }
  return !found                  ? PAWL_FRICTION_NOT_CONVERGED
         : result->solutions > 1 ? PAWL_FRICTION_SEVERAL
                                 : PAWL_FRICTION_SOLVED;
}

static bool has_cones(const PawlFrictionWork* k) {
  bool has = false;
  for (int b = 0; b < k->blocks; b++) {
    has = has || (pawl_friction_spatial(&k->block[b]) && !k->block[b].sliding);
  }
  return has;
}

static PawlFrictionVerdict by_cones(PawlFriction* f, PawlFrictionResult* result) {
  bool found = pawl_friction_cone(&f->work, &f->cone, result);
  found = found && pawl_friction_residual(&f->work) <= PAWL_FRICTION_SOLVED_TO;
  result->solutions = found;
  return found ? PAWL_FRICTION_SOLVED : PAWL_FRICTION_NOT_CONVERGED;
}

// ---- the result ---------------------------------------------------------------------------------

// Back to the units of the caller; w is 0 where it is rounding.
static void show_rows(const PawlFriction* f, PawlFrictionResult* result) {
  const PawlFrictionWork* k = &f->work;
  for (int i = 0; i < k->m; i++) {
    bool none = k->in[i] || fabs(k->w[i]) <= pawl_friction_slack(k, i);
    bool fixed = pawl_friction_fixed(k, i);
    result->w[i] = none && !fixed ? 0.0 : k->w[i] * f->s[i];
    result->lambda[i] = k->lambda[i] / f->s[i];
    result->state[i] = k->place[i];
  }
}

static void show_block(const PawlFrictionWork* k, PawlFrictionResult* result, int b) {
  const PawlFrictionBlock* block = &k->block[b];
  double *slip = result->slip + 2 * b, w[2] = {0.0, 0.0};
  for (int j = 0; j < 1 + pawl_friction_spatial(block); j++) {
    w[j] = block->sliding ? block->direction[j] : result->w[block->tangent[j]];
  }
  double length = hypot(w[0], w[1]);
  bool closed = pawl_friction_closed(k, b) || pawl_friction_bilateral(k, block->normal);
  bool slips = closed && length > 0.0;
  slip[0] = slips ? w[0] / length : 0.0;
  slip[1] = slips ? w[1] / length : 0.0;
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

static void show(PawlFriction* f, PawlFrictionResult* result) {
  clip(&f->work);
  result->residual = pawl_friction_residual(&f->work);
  show_rows(f, result);
  for (int b = 0; b < f->work.blocks; b++) {
    show_block(&f->work, result, b);
  }
}

PawlStatus pawl_friction_solve(PawlFriction* f, const PawlFrictionProblem* problem,
                               PawlFrictionResult* result) {
  set_blocks(f, problem);
  if (!is_finite(f, problem)) {
    return PAWL_RETRY;
  }
  choose_scales(f, problem);
  scale_rows(f, problem);
  begin(f, result);
  f->work.slip = result->slip;
  result->verdict = has_cones(&f->work) ? by_cones(f, result) : decide(f, result, problem->all);
  show(f, result);
  return PAWL_OK;
}
