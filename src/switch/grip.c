// SPDX-License-Identifier: Apache-2.0
#include "switch/grip.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/tolerances.h"
#include "system/system.h"

enum { MOST_SEARCHED = 6 };  // contacts with friction among which all solutions are looked for

// ---- creation -----------------------------------------------------------------------------------
static void allocate(PawlGrip* g) {
  PawlArena* arena = g->dynamics->arena;
  size_t m = (size_t)g->dynamics->sizes.rows, n = (size_t)g->slip->count;
  double** of_rows[] = {&g->own, &g->q, &g->size, &g->lo, &g->hi, &g->lambda, &g->w, &g->y};
  for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
    *of_rows[k] = PAWL_NEW(arena, double, m);
  }
  g->D = PAWL_NEW(arena, double, m* m);
  g->x = PAWL_NEW(arena, double, g->dynamics->sizes.v);
  g->row = PAWL_NEW(arena, int, m);
  g->place = PAWL_NEW(arena, int, m);
  g->eliminated = PAWL_NEW(arena, unsigned char, m);
  g->state = PAWL_NEW(arena, unsigned char, m);
  g->part = PAWL_NEW(arena, unsigned char, n);
  g->found = PAWL_NEW(arena, unsigned char, n);
  g->block_state = PAWL_NEW(arena, unsigned char, n);
  g->along = PAWL_NEW(arena, double, 2 * n);
  g->slips = PAWL_NEW(arena, double, 2 * n);
  g->mu = PAWL_NEW(arena, double, n);
  g->kinetic = PAWL_NEW(arena, double, n);
  g->block = PAWL_NEW(arena, PawlFrictionBlock, n);
  g->block_of = PAWL_NEW(arena, int, n);
}

PawlStatus pawl_grip_create(PawlWatching* w, PawlGrip** out, PawlError* err) {
  PawlDynamics* d = w->dynamics;
  *out = NULL;
  if (!d->slip || d->slip->count == 0) {
    return PAWL_OK;
  }
  PawlGrip* g = *out = PAWL_NEW(d->arena, PawlGrip, 1);
  if (!g) {
    return pawl_fail_memory(err);
  }
  *g = (PawlGrip){.dynamics = d, .watching = w, .slip = d->slip};
  allocate(g);
  PAWL_TRY(d->arena->failed ? pawl_fail_memory(err) : pawl_watch_make_problem(w, err));
  return pawl_friction_create(d->sizes.rows, d->slip->count, &g->solver, err);
}

void pawl_grip_destroy(PawlGrip* g) {
  if (g) {
    pawl_friction_destroy(g->solver);
  }
}

// ---- what is asked ------------------------------------------------------------------------------
PawlStatus pawl_grip_look(PawlGrip* g, const PawlState* state, const unsigned char* touching,
                          const double* slow, PawlError* err) {
  PawlSlip* s = g->slip;
  PawlPhase phase = pawl_phase_of(state, false);
  PAWL_TRY(pawl_slip_look(s, &phase, state->t, state->q, state->v, err));
  for (int k = 0; k < s->count; k++) {
    const PawlSlipContact* c = &s->contact[k];
    double speed = 0.0, none = 0.0;
    for (int i = c->first; i < c->first + c->count; i++) {
      speed = hypot(speed, s->rate[i]);
      none = fmax(none, slow[i]);
    }
    bool rests = speed <= none;
    g->part[k] = !touching[c->normal] ? PAWL_GRIP_OUT : rests ? PAWL_GRIP_RESTS : PAWL_GRIP_SLIDES;
    g->mu[k] =
        rests ? pawl_watch_bound(pawl_slip_mu(s, k, true), PAWL_STICKS) : pawl_slip_mu(s, k, false);
    g->kinetic[k] = pawl_slip_mu(s, k, false);
    for (int i = 0; i < c->count; i++) {
      g->along[2 * k + i] = rests ? 0.0 : s->rate[c->first + i] / speed;
    }
  }
  return PAWL_OK;
}

PawlStatus pawl_grip_share(PawlGrip* g, const PawlState* state, PawlError* err) {
  PawlSlip* s = g->slip;
  PawlPhase phase = pawl_phase_of(state, false);
  PAWL_TRY(pawl_slip_look(s, &phase, state->t, state->q, state->v, err));
  for (int k = 0; k < s->count; k++) {
    int mode = state->modes[s->contact[k].mode];
    bool slips = pawl_slip_slips(mode);
    double mu = pawl_slip_mu(s, k, !slips);
    g->part[k] = mode == PAWL_MODE_OPEN ? PAWL_GRIP_OUT
                 : slips                ? PAWL_GRIP_SLIDES
                                        : PAWL_GRIP_RESTS;
    g->mu[k] = g->kinetic[k] = slips ? mu : pawl_watch_bound(mu, PAWL_BEARS);
    g->along[2 * k] = g->along[2 * k + 1] = 0.0;
    if (slips) {
      pawl_slip_direction(s, &phase, k, g->along + 2 * k);
    }
  }
  return PAWL_OK;
}

void pawl_grip_strike(PawlGrip* g) {
  for (int k = 0; k < g->slip->count; k++) {
    g->part[k] = g->part[k] == PAWL_GRIP_OUT ? PAWL_GRIP_OUT : PAWL_GRIP_RESTS;
    g->kinetic[k] = g->mu[k];
    g->along[2 * k] = g->along[2 * k + 1] = 0.0;
  }
}

static void take_row(PawlGrip* g, int i) {
  const PawlRowProblem* p = &g->watching->rows;
  g->place[i] = g->count;
  g->row[g->count] = i;
  g->lo[g->count] = p->lo[i];
  g->hi[g->count] = p->hi[i];
  g->state[g->count] = PAWL_ROW_UNKNOWN;
  g->count++;
}

static void take_block(PawlGrip* g, int k) {
  const PawlSlipContact* c = &g->slip->contact[k];
  int b = g->blocks++;
  PawlFrictionBlock* block = &g->block[b];
  *block = (PawlFrictionBlock){.normal = g->place[c->normal],
                               .tangent = {-1, -1},
                               .mu = g->mu[k],
                               .sliding = g->part[k] == PAWL_GRIP_SLIDES};
  g->block_of[b] = k;
  g->block_state[b] = block->sliding ? PAWL_FRICTION_SLIP : PAWL_FRICTION_STICK;
  for (int i = 0; i < c->count; i++) {
    take_row(g, c->first + i);
    g->lo[g->count - 1] = -INFINITY;
    g->hi[g->count - 1] = INFINITY;
    block->tangent[i] = g->count - 1;
    block->direction[i] = g->slips[2 * b + i] = g->along[2 * k + i];
  }
}

// Rigid rows are eliminated, where they do not depend on each other; contacts, their friction and
// joints with a capacity are the rows of the problem.
static void list_rows(PawlGrip* g, bool eliminate) {
  const PawlRowProblem* p = &g->watching->rows;
  const PawlSystem* system = g->dynamics->system;
  g->count = g->blocks = 0;
  for (int i = 0; i < g->dynamics->sizes.rows; i++) {
    PawlRowKind kind = pawl_system_row_kind(system, i);
    bool held = p->hi[i] > p->lo[i], rigid = isinf(p->hi[i]) && isinf(p->lo[i]);
    g->place[i] = -1;
    g->eliminated[i] = eliminate && held && rigid && kind == PAWL_ROW_BILATERAL;
    if (held && !g->eliminated[i] && kind != PAWL_ROW_FRICTION) {
      take_row(g, i);
    }
  }
  for (int k = 0; k < g->slip->count; k++) {
    g->found[k] = PAWL_FRICTION_OPEN;
    if (g->part[k] != PAWL_GRIP_OUT && g->place[g->slip->contact[k].normal] >= 0) {
      take_block(g, k);
    }
  }
}

// ---- the compliance -----------------------------------------------------------------------------
static double row_times(const PawlGrip* g, const double* G, int i, const double* x, double* size) {
  const PawlPattern* P = &g->dynamics->G;
  double sum = 0.0;
  for (int j = 0; j < P->cols; j++) {
    for (int e = P->start[j]; e < P->start[j + 1]; e++) {
      if (P->index[e] == i) {
        sum += G[e] * x[j];
        *size += fabs(G[e] * x[j]);
      }
    }
  }
  return sum;
}

// x += by G_i^T
static void push(const PawlGrip* g, const double* G, int i, double by, double* x) {
  const PawlPattern* P = &g->dynamics->G;
  for (int j = 0; j < P->cols; j++) {
    for (int e = P->start[j]; e < P->start[j + 1]; e++) {
      x[j] += P->index[e] == i ? by * G[e] : 0.0;
    }
  }
}

// How easily a row would move if nothing held it.
static double own_compliance(const PawlGrip* g, const PawlValues* values, int i) {
  const PawlDynamics* d = g->dynamics;
  double own = 0.0;
  for (int j = 0; j < pawl_moving(d->sizes); j++) {
    double mass = d->diagonal[j] >= 0 ? values->M[d->diagonal[j]] : 0.0;
    for (int e = d->G.start[j]; e < d->G.start[j + 1]; e++) {
      bool is = d->G.index[e] == i && mass > 0.0;
      own += is ? values->G[e] * values->G[e] / mass : 0.0;
    }
  }
  return own;
}

// D = G M^-1 G^T with the eliminated rows held.
static void find_compliance(PawlGrip* g, const PawlValues* values) {
  PawlDynamics* d = g->dynamics;
  int m = g->count;
  for (int p = 0; p < m; p++) {
    memset(g->x, 0, (size_t)d->sizes.v * sizeof(double));
    memset(g->y, 0, (size_t)d->sizes.rows * sizeof(double));
    push(g, values->G, g->row[p], 1.0, g->x);
    pawl_kkt_solve(d->kkt, g->x, g->y);
    for (int i = 0; i < m; i++) {
      double size = 0.0;
      g->D[i + p * m] = row_times(g, values->G, g->row[i], g->x, &size);
    }
  }
  for (int p = 0; p < m; p++) {
    g->own[p] = fmax(own_compliance(g, values, g->row[p]), g->D[p + p * m]);
  }
}

// x and the forces of eliminated rows, with the forces of the problem's rows.
static void find_motion(PawlGrip* g, const PawlValues* values, bool pushed) {
  PawlDynamics* d = g->dynamics;
  const PawlRowProblem* p = &g->watching->rows;
  memcpy(g->x, p->r, (size_t)d->sizes.v * sizeof(double));
  for (int i = 0; i < d->sizes.rows; i++) {
    g->y[i] = g->eliminated[i] ? -p->b[i] : 0.0;
  }
  for (int k = 0; pushed && k < g->count; k++) {
    push(g, values->G, g->row[k], g->lambda[k], g->x);
  }
  pawl_kkt_solve(d->kkt, g->x, g->y);
}

// w = D lambda + q
static void find_right_side(PawlGrip* g, const PawlValues* values) {
  const PawlRowProblem* p = &g->watching->rows;
  find_motion(g, values, false);
  for (int k = 0; k < g->count; k++) {
    int i = g->row[k];
    g->size[k] = fabs(p->b[i]);
    g->q[k] = p->b[i] + row_times(g, values->G, i, g->x, &g->size[k]);
  }
}

// ---- solving ------------------------------------------------------------------------------------
// Critical is the mu at which a contact that slips feels no compliance: D_NN = mu d D_NT.    (F24)
static void find_worst(PawlGrip* g) {
  g->worst = -1;
  g->beyond = 0.0;
  for (int b = 0; b < g->blocks; b++) {
    const PawlFrictionBlock* block = &g->block[b];
    double across = 0.0, own = g->D[block->normal + block->normal * g->count];
    for (int i = 0; i < 2 && block->tangent[i] >= 0; i++) {
      across += block->direction[i] * g->D[block->normal + block->tangent[i] * g->count];
    }
    double beyond = own > 0.0 ? block->mu * across / own : 0.0;
    if (block->sliding && beyond > g->beyond) {
      g->beyond = beyond;
      g->worst = g->block_of[b];
    }
  }
}

static PawlStatus solve_once(PawlGrip* g) {
  bool slides = false;
  for (int b = 0; b < g->blocks; b++) {
    slides |= g->block[b].sliding;
  }
  PawlFrictionProblem problem = {.q = g->q,
                                 .size = g->size,
                                 .lo = g->lo,
                                 .hi = g->hi,
                                 .blocks = g->blocks,
                                 .block = g->block,
                                 .all = slides && g->blocks <= MOST_SEARCHED};
  PawlFrictionResult result = {.lambda = g->lambda,
                               .w = g->w,
                               .state = g->state,
                               .block_state = g->block_state,
                               .slip = g->slips};
  PawlStatus status = pawl_friction_solve(g->solver, &problem, &result);
  g->verdict = result.verdict;
  return status;
}

static bool is_solved(const PawlGrip* g) {
  return g->verdict == PAWL_FRICTION_SOLVED || g->verdict == PAWL_FRICTION_SEVERAL;
}

// Of several solutions the one in which what slips beyond its critical mu has opened: the others
// are unstable.
static PawlStatus choose_open(PawlGrip* g) {
  for (int b = 0; b < g->blocks; b++) {
    if (g->block[b].sliding) {
      g->block_state[b] = PAWL_FRICTION_OPEN;
      g->state[g->block[b].normal] = PAWL_ROW_LOW;
    }
  }
  return solve_once(g);
}

// Blocks that were found to slip from rest slide on with their kinetic mu. True: some do now.
static bool begin_sliding(PawlGrip* g) {
  bool any = false;
  for (int b = 0; b < g->blocks; b++) {
    PawlFrictionBlock* block = &g->block[b];
    int k = g->block_of[b];
    bool begins = !block->sliding && g->block_state[b] == PAWL_FRICTION_SLIP;
    if (begins && g->kinetic[k] < block->mu) {
      block->sliding = true;
      block->mu = g->kinetic[k];
      memcpy(block->direction, g->slips + 2 * b, sizeof block->direction);
      any = true;
    }
  }
  return any;
}

static void give_back(PawlGrip* g) {
  PawlRowProblem* p = &g->watching->rows;
  const PawlDynamics* d = g->dynamics;
  memcpy(p->x, g->x, (size_t)d->sizes.v * sizeof(double));
  for (int i = 0; i < d->sizes.rows; i++) {
    int at = g->place[i];
    p->lambda[i] = at >= 0 ? g->lambda[at] : g->y[i];
    p->w[i] = at >= 0 ? g->w[at] : 0.0;
    p->state[i] = at >= 0 ? g->state[at] : PAWL_ROW_FREE;
    p->conflict[i] = !is_solved(g) && at >= 0;
  }
  for (int b = 0; b < g->blocks; b++) {
    int k = g->block_of[b];
    g->found[k] = g->block_state[b];
    if (g->found[k] == PAWL_FRICTION_SLIP && !g->block[b].sliding) {
      memcpy(g->along + 2 * k, g->slips + 2 * b, 2 * sizeof(double));
    } else if (g->found[k] == PAWL_FRICTION_SLIP) {
      memcpy(g->along + 2 * k, g->block[b].direction, 2 * sizeof(double));
    }
  }
}

PawlStatus pawl_grip_solve(PawlGrip* g, const PawlValues* values, PawlError* err) {
  PawlDynamics* d = g->dynamics;
  list_rows(g, true);
  PawlStatus status = pawl_dynamics_factor(d, values, g->eliminated);
  if (status == PAWL_RETRY) {  // rigid rows depend on each other: they share
    list_rows(g, false);
    status = pawl_dynamics_factor(d, values, g->eliminated);
  }
  if (status != PAWL_OK) {
    return status == PAWL_RETRY ? status : pawl_fail_memory(err);
  }
  find_compliance(g, values);
  find_right_side(g, values);
  find_worst(g);
  status = pawl_friction_set(g->solver, g->count, g->D, g->own);
  status = status ? status : solve_once(g);
  while (status == PAWL_OK && is_solved(g) && begin_sliding(g)) {
    status = solve_once(g);
  }
  find_worst(g);
  if (status == PAWL_OK && g->verdict == PAWL_FRICTION_SEVERAL && g->beyond > 1.0) {
    status = choose_open(g);
  }
  if (status != PAWL_OK) {
    return status == PAWL_ERROR_MEMORY ? pawl_fail_memory(err) : PAWL_RETRY;
  }
  find_motion(g, values, true);
  give_back(g);
  return PAWL_OK;
}
