// SPDX-License-Identifier: Apache-2.0

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/grip_impl.h"
#include "switch/tolerances.h"
#include "system/system.h"

enum {
  ROOM_AT_FIRST = 192,  // rows of an island; larger ones make room where they are met
};

// ---- creation -----------------------------------------------------------------------------------
static void allocate(PawlGrip* g) {
  PawlArena* arena = g->dynamics->arena;
  size_t m = (size_t)g->dynamics->sizes.rows, n = (size_t)g->slip->count;
  double** of_rows[] = {&g->own, &g->q, &g->size, &g->lo, &g->hi, &g->lambda, &g->w, &g->y};
  for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
    *of_rows[k] = PAWL_NEW(arena, double, m);
  }
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
  g->island = PAWL_NEW(arena, PawlGripIsland, m);
  pawl_trees_create(arena, g->dynamics->sizes.v, &g->trees);
  g->body = PAWL_NEW(arena, int, g->dynamics->sizes.v);
  g->next_row = PAWL_NEW(arena, int, m);
  g->next_block = PAWL_NEW(arena, int, n);
  g->head = PAWL_NEW(arena, int, 2 * m);
}

// A solver for islands of up to `rows` rows.
static PawlStatus make_solver(PawlGrip* g, int rows, PawlError* err) {
  int contacts = g->slip->count < rows ? g->slip->count : rows;
  PawlFriction* solver;
  if (rows <= g->most) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_friction_create(rows, contacts, &solver, err));
  pawl_friction_destroy(g->solver);
  g->solver = solver;
  g->most = rows;
  return PAWL_OK;
}

PawlStatus pawl_grip_create(PawlWatching* w, PawlSlip* slip, PawlGrip** out, PawlError* err) {
  PawlDynamics* d = w->dynamics;
  *out = NULL;
  if (!slip || slip->count == 0) {
    return PAWL_OK;
  }
  PawlGrip* g = *out = PAWL_NEW(d->arena, PawlGrip, 1);
  if (!g) {
    return pawl_fail_memory(err);
  }
  *g = (PawlGrip){.dynamics = d, .watching = w, .slip = slip, .several = -1};
  allocate(g);
  PAWL_TRY(d->arena->failed ? pawl_fail_memory(err) : pawl_watch_make_problem(w, err));
  int rows = d->sizes.rows < ROOM_AT_FIRST ? d->sizes.rows : ROOM_AT_FIRST;
  PAWL_TRY(pawl_grip_compliance_create(g, rows, err));
  return make_solver(g, rows, err);
}

void pawl_grip_destroy(PawlGrip* g) {
  if (g) {
    pawl_friction_destroy(g->solver);
    pawl_grip_compliance_free(g);
  }
}

// ---- what is asked ------------------------------------------------------------------------------
PawlStatus pawl_grip_look(PawlGrip* g, const PawlState* state, const unsigned char* touching,
                          const double* slow, PawlError* err) {
  PawlSlip* s = g->slip;
  PawlPhase phase = pawl_phase_of(state, false);
  PAWL_TRY(pawl_slip_look(s, &phase, state->t, state->q, state->v, err));
  g->strikes = g->presses = g->again = g->counts = false;
  g->decides = true;
  for (int k = 0; k < s->count; k++) {
    const PawlSlipContact* c = &s->contact[k];
    double speed = 0.0, none = 0.0;
    if (touching[c->normal]) {
      PAWL_TRY(pawl_slip_check(s, &phase, k, state->t, state->q, state->v, err));
    }
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

PawlStatus pawl_grip_share(PawlGrip* g, const PawlState* state, double beyond, PawlError* err) {
  PawlSlip* s = g->slip;
  PawlPhase phase = pawl_phase_of(state, false);
  PAWL_TRY(pawl_slip_look(s, &phase, state->t, state->q, state->v, err));
  g->strikes = g->presses = g->again = g->counts = g->decides = false;
  for (int k = 0; k < s->count; k++) {
    int mode = state->modes[s->contact[k].mode];
    bool slips = pawl_slip_slips(mode);
    double mu = pawl_slip_mu(s, k, !slips);
    g->part[k] = mode == PAWL_MODE_OPEN ? PAWL_GRIP_OUT
                 : slips                ? PAWL_GRIP_SLIDES
                                        : PAWL_GRIP_RESTS;
    g->mu[k] = g->kinetic[k] = slips ? mu : (1.0 + beyond) * pawl_watch_bound(mu, PAWL_BEARS);
    g->along[2 * k] = g->along[2 * k + 1] = 0.0;
    if (slips) {
      pawl_slip_direction(s, &phase, k, g->along + 2 * k);
    }
  }
  return PAWL_OK;
}

void pawl_grip_strike(PawlGrip* g, bool presses, bool again) {
  for (int k = 0; k < g->slip->count; k++) {
    g->part[k] = g->part[k] == PAWL_GRIP_OUT ? PAWL_GRIP_OUT : PAWL_GRIP_RESTS;
    g->kinetic[k] = g->mu[k];
    g->along[2 * k] = g->along[2 * k + 1] = 0.0;
  }
  g->strikes = true;
  g->presses = presses;
  g->again = again;
}

void pawl_grip_end(PawlGrip* g, const unsigned char* ends, const double* slow) {
  PawlSlip* s = g->slip;
  for (int k = 0; k < s->count; k++) {
    const PawlSlipContact* c = &s->contact[k];
    double speed = 0.0, none = 0.0;
    for (int i = c->first; i < c->first + c->count; i++) {
      speed = hypot(speed, s->rate[i]);
      none = fmax(none, slow[i]);
    }
    if (g->part[k] == PAWL_GRIP_OUT || !ends[c->normal] || speed <= none) {
      continue;
    }
    g->part[k] = PAWL_GRIP_SLIDES;
    g->mu[k] = g->kinetic[k] = pawl_slip_mu(s, k, false);
    for (int i = 0; i < c->count; i++) {
      g->along[2 * k + i] = s->rate[c->first + i] / speed;
    }
  }
}

bool pawl_grip_turns(const PawlGrip* g) {
  bool any = false;
  for (int b = 0; b < g->blocks; b++) {
    int k = g->block_of[b];
    const PawlSlipContact* c = &g->slip->contact[k];
    double along = 0.0;
    for (int i = 0; i < c->count; i++) {
      along += g->block[b].direction[i] * g->watching->rows.w[c->first + i];
    }
    any |= g->block[b].pulls && along < 0.0;
  }
  return any;
}

static void take_row(PawlGrip* g, int i) {
  const PawlRowProblem* p = &g->watching->rows;
  g->place[i] = g->count;
  g->row[g->count] = i;
  g->lo[g->count] = p->lo[i];
  g->hi[g->count] = p->hi[i];
  if (!g->again) {
    g->state[g->count] = g->presses ? PAWL_ROW_FREE : PAWL_ROW_UNKNOWN;
  }
  g->count++;
}

static void take_block(PawlGrip* g, int k, int first) {
  const PawlSlipContact* c = &g->slip->contact[k];
  int b = g->blocks++;
  PawlFrictionBlock* block = &g->block[b];
  *block = (PawlFrictionBlock){.normal = g->place[c->normal] - first,
                               .tangent = {-1, -1},
                               .mu = g->mu[k],
                               .sliding = g->part[k] == PAWL_GRIP_SLIDES,
                               .pulls = g->strikes && g->part[k] == PAWL_GRIP_SLIDES};
  g->block_of[b] = k;
  if (!g->again) {
    g->block_state[b] = block->sliding ? PAWL_FRICTION_SLIP : PAWL_FRICTION_STICK;
  }
  for (int i = 0; i < c->count; i++) {
    take_row(g, c->first + i);
    g->lo[g->count - 1] = -INFINITY;
    g->hi[g->count - 1] = INFINITY;
    block->tangent[i] = g->count - 1 - first;
    block->direction[i] = g->along[2 * k + i];
    g->slips[2 * b + i] = g->again ? g->slips[2 * b + i] : g->along[2 * k + i];
  }
}

// ---- islands ------------------------------------------------------------------------------------
static bool is_held(const PawlGrip* g, int i) {
  const PawlRowProblem* p = &g->watching->rows;
  return p->hi[i] > p->lo[i];
}

static bool takes_part(const PawlGrip* g, int k) {
  return g->part[k] != PAWL_GRIP_OUT && is_held(g, g->slip->contact[k].normal);
}

// Rigid rows are eliminated, where they do not depend on each other. Velocities that masses and
// these connect are a body.
static void find_bodies(PawlGrip* g, const double* M, bool eliminate) {
  const PawlDynamics* d = g->dynamics;
  const PawlRowProblem* p = &g->watching->rows;
  pawl_trees_begin(&g->trees, &d->H, M);  // it has places of tangents, too
  for (int i = 0; i < d->sizes.rows; i++) {
    bool rigid = isinf(p->hi[i]) && isinf(p->lo[i]);
    g->eliminated[i] = eliminate && is_held(g, i) && rigid &&
                       pawl_system_row_kind(d->system, i) == PAWL_ROW_BILATERAL;
    if (g->eliminated[i]) {
      pawl_trees_row(&g->trees, &g->slip->rows, i);
    }
  }
  for (int j = 0; j < d->sizes.v; j++) {
    g->body[j] = pawl_trees_root(&g->trees, j);
  }
}

// Bodies that rows in force connect.
static void find_trees(PawlGrip* g) {
  const PawlByRows* rows = &g->slip->rows;
  for (int i = 0; i < g->dynamics->sizes.rows; i++) {
    if (is_held(g, i)) {
      pawl_trees_row(&g->trees, rows, i);
    }
  }
  for (int k = 0; k < g->slip->count; k++) {
    if (takes_part(g, k)) {
      pawl_trees_contact(&g->trees, rows, &g->slip->contact[k]);
    }
  }
}

// The island of a row, by its tree; `of_tree` (v) has the numbers given so far, -1: none.
static int island_of(PawlGrip* g, int row, int* of_tree) {
  int tree = pawl_trees_of_row(&g->trees, &g->slip->rows, row);
  if (tree < 0 || of_tree[tree] < 0) {
    g->head[2 * g->islands] = g->head[2 * g->islands + 1] = -1;
    if (tree < 0) {
      return g->islands++;
    }
    of_tree[tree] = g->islands++;
  }
  return of_tree[tree];
}

// Contacts, their friction, joints with a capacity and what is not eliminated are the rows of the
// problem. Lists are made from behind.
static void sort_rows(PawlGrip* g) {
  const PawlDynamics* d = g->dynamics;
  int* of_tree = (int*)g->x;  // free until motions are found
  g->islands = 0;
  memset(of_tree, -1, (size_t)d->sizes.v * sizeof(int));
  for (int i = d->sizes.rows - 1; i >= 0; i--) {
    bool rubs = pawl_system_row_kind(d->system, i) == PAWL_ROW_FRICTION;
    g->place[i] = -1;
    if (is_held(g, i) && !g->eliminated[i] && !rubs) {
      int at = island_of(g, i, of_tree);
      g->next_row[i] = g->head[2 * at];
      g->head[2 * at] = i;
    }
  }
  for (int k = g->slip->count - 1; k >= 0; k--) {
    g->found[k] = PAWL_FRICTION_OPEN;
    if (takes_part(g, k)) {
      int at = island_of(g, g->slip->contact[k].normal, of_tree);
      g->next_block[k] = g->head[2 * at + 1];
      g->head[2 * at + 1] = k;
    }
  }
}

static void list_rows(PawlGrip* g, const double* M, bool eliminate) {
  find_bodies(g, M, eliminate);
  find_trees(g);
  sort_rows(g);
  g->count = g->blocks = 0;
  for (int at = 0; at < g->islands; at++) {
    PawlGripIsland* island = &g->island[at];
    *island = (PawlGripIsland){.first = g->count, .first_block = g->blocks};
    for (int i = g->head[2 * at]; i >= 0; i = g->next_row[i]) {
      take_row(g, i);
    }
    for (int k = g->head[2 * at + 1]; k >= 0; k = g->next_block[k]) {
      take_block(g, k, island->first);
    }
    island->count = g->count - island->first;
    island->blocks = g->blocks - island->first_block;
  }
}

// ---- motion -----------------------------------------------------------------------------------
static double row_times(const PawlGrip* g, const double* G, int i, const double* x, double* size) {
  const PawlByRows* rows = &g->slip->rows;
  double sum = 0.0;
  for (int p = rows->start[i]; p < rows->start[i + 1]; p++) {
    double term = G[rows->at[p]] * x[rows->column[p]];
    sum += term;
    *size += fabs(term);
  }
  return sum;
}

// x += by G_i^T
static void push(const PawlGrip* g, const double* G, int i, double by, double* x) {
  const PawlByRows* rows = &g->slip->rows;
  for (int p = rows->start[i]; p < rows->start[i + 1]; p++) {
    x[rows->column[p]] += by * G[rows->at[p]];
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
// Critical is the mu at which a contact that slips feels no compliance: D_NN = mu d D_NT. The
// farthest beyond of an island; `worst` and `beyond` are those of all.                       (F24)
static double find_worst(PawlGrip* g, const PawlGripIsland* island) {
  double most = 0.0;
  for (int b = island->first_block; b < island->first_block + island->blocks; b++) {
    const PawlFrictionBlock* block = &g->block[b];
    double across = 0.0, own = pawl_friction_given(g->solver, block->normal, block->normal);
    for (int i = 0; i < 2 && block->tangent[i] >= 0; i++) {
      double D_NT = pawl_friction_given(g->solver, block->normal, block->tangent[i]);
      across += block->direction[i] * D_NT;
    }
    double beyond = own > 0.0 ? block->mu * across / own : 0.0;
    bool slides = block->sliding && !block->pulls;
    most = slides ? fmax(most, beyond) : most;
    if (slides && beyond > g->beyond) {
      g->beyond = beyond;
      g->worst = g->block_of[b];
    }
  }
  return most;
}

static bool is_solved(PawlFrictionVerdict verdict) {
  return verdict == PAWL_FRICTION_SOLVED || verdict == PAWL_FRICTION_SEVERAL;
}

static PawlStatus solve_once(PawlGrip* g, const PawlGripIsland* island,
                             PawlFrictionVerdict* verdict) {
  bool slides = false, pulls = false;
  int first = island->first, from = island->first_block;
  for (int b = from; b < from + island->blocks; b++) {
    slides |= g->block[b].sliding && !g->block[b].pulls;
    pulls |= g->block[b].pulls;
  }
  PawlFrictionProblem problem = {.q = g->q + first,
                                 .size = g->size + first,
                                 .lo = g->lo + first,
                                 .hi = g->hi + first,
                                 .blocks = island->blocks,
                                 .block = g->block + from,
                                 .all = slides && island->blocks <= PAWL_FRICTION_FEW,
                                 .count = g->counts && !slides && island->blocks > 0,
                                 .rest = !slides && !pulls,
                                 .first = !g->strikes,
                                 .halves = g->decides};
  PawlFrictionResult result = {.lambda = g->lambda + first,
                               .w = g->w + first,
                               .state = g->state + first,
                               .block_state = g->block_state + from,
                               .slip = g->slips + 2 * from};
  PawlStatus status = pawl_friction_solve(g->solver, &problem, &result);
  *verdict = result.verdict;
  g->unstable |= result.unstable;
  if (status == PAWL_OK && result.strays >= 0 && g->strays < 0) {
    g->strays = g->block_of[from + result.strays];
  }
  if (status == PAWL_OK && is_solved(*verdict) && island->blocks > 0) {
    g->dynamics->info.cones = fmax(g->dynamics->info.cones, result.residual);
  }
  return status;
}

// Of several solutions that are stable the one in which what slips beyond its critical mu has
// opened.                                                                                    (F43)
static void open_sliding(PawlGrip* g, const PawlGripIsland* island) {
  for (int b = island->first_block; b < island->first_block + island->blocks; b++) {
    if (g->block[b].sliding && !g->block[b].pulls) {
      g->block_state[b] = PAWL_FRICTION_OPEN;
      g->state[island->first + g->block[b].normal] = PAWL_ROW_LOW;
    }
  }
}

// Whether a block that was found to stick does so at the border of its cone, which was found to be
// left at this same instant before: forces that cancel, as those of a contact about to open, are
// known to less than what the two differ by. *along: where it slips.                        (F21)
static bool breaks_loose(const PawlGrip* g, const PawlGripIsland* island, int b, double* along) {
  const PawlFrictionBlock* block = &g->block[b];
  const double* lambda = g->lambda + island->first;
  int normal = g->slip->contact[g->block_of[b]].normal;
  double T = 0.0;
  if (g->strikes || block->sliding || g->block_state[b] != PAWL_FRICTION_STICK || !g->broken ||
      g->broken[normal] < 2) {
    return false;
  }
  for (int i = 0; i < 2 && block->tangent[i] >= 0; i++) {
    along[i] = -lambda[block->tangent[i]];
    T = hypot(T, along[i]);
  }
  for (int i = 0; i < 2; i++) {
    along[i] = T > 0.0 ? along[i] / T : 0.0;
  }
  return T > (1 - PAWL_AT_BORDER) * block->mu * lambda[block->normal];
}

// Blocks that were found to slip from rest slide on with their kinetic mu. True: some do now.
static bool begin_sliding(PawlGrip* g, const PawlGripIsland* island) {
  bool any = false;
  for (int b = island->first_block; b < island->first_block + island->blocks; b++) {
    PawlFrictionBlock* block = &g->block[b];
    int k = g->block_of[b];
    double along[2] = {0.0, 0.0};
    bool begins = !block->sliding && g->block_state[b] == PAWL_FRICTION_SLIP;
    bool breaks = breaks_loose(g, island, b, along);
    if (breaks || (begins && g->kinetic[k] < block->mu)) {
      block->sliding = block->begins = true;
      block->mu = g->kinetic[k];
      memcpy(block->direction, breaks ? along : g->slips + 2 * b, sizeof block->direction);
      any = true;
    }
  }
  return any;
}

// A block in space that slips from rest by its static mu, while the kinetic one is less: where
// masses along both slips differ it sets off in another direction by that.
static bool sets_off(const PawlGrip* g, int b) {
  const PawlFrictionBlock* block = &g->block[b];
  bool less = g->kinetic[g->block_of[b]] < (1 - PAWL_AT_BORDER) * block->mu;
  return !block->sliding && block->tangent[1] >= 0 && less &&
         g->block_state[b] == PAWL_FRICTION_SLIP;
}

static int begin_aim(PawlGrip* g, const PawlGripIsland* island) {
  int count = 0;
  for (int b = island->first_block; b < island->first_block + island->blocks; b++) {
    PawlFrictionBlock* block = &g->block[b];
    block->begins = sets_off(g, b);
    if (block->begins) {
      memcpy(block->direction, g->slips + 2 * b, sizeof block->direction);
      block->mu = g->kinetic[g->block_of[b]];
      count++;
    }
  }
  return count;
}

static void end_aim(PawlGrip* g, const PawlGripIsland* island, bool found) {
  for (int b = island->first_block; b < island->first_block + island->blocks; b++) {
    PawlFrictionBlock* block = &g->block[b];
    if (block->begins && (!found || g->block_state[b] != PAWL_FRICTION_SLIP)) {
      memcpy(g->slips + 2 * b, block->direction, sizeof block->direction);
      g->block_state[b] = PAWL_FRICTION_SLIP;
    }
    block->mu = block->begins ? g->mu[g->block_of[b]] : block->mu;
    block->begins = false;
  }
}

// The directions of these by cones of the kinetic mu, which are then those that they slide along.
// What would stick by these, as others have let go, keeps its own.                         (F64)
static PawlStatus aim(PawlGrip* g, const PawlGripIsland* island, PawlFrictionVerdict* verdict) {
  int strays = g->strays;
  bool counts = g->counts, unstable = g->unstable;
  if (begin_aim(g, island) == 0) {
    return PAWL_OK;
  }
  g->counts = false;
  PawlStatus status = solve_once(g, island, verdict);
  bool found = status == PAWL_OK && is_solved(*verdict);
  end_aim(g, island, found);
  if (status == PAWL_OK && !found) {
    status = solve_once(g, island, verdict);  // with the static mu, as it was
  }
  g->counts = counts;
  g->strays = strays;
  g->unstable = unstable;
  return status;
}

// The verdict of all is the worst of the islands; several motions count where what slips is beyond
// what it may rub with, by itself or with others.
static void judge(PawlGrip* g, PawlFrictionVerdict verdict, double beyond) {
  bool several = verdict == PAWL_FRICTION_SEVERAL && (beyond > 1.0 || g->unstable);
  if (!is_solved(verdict) || (several && is_solved(g->verdict))) {
    g->verdict = verdict;
  }
}

// Whether an island has several motions, as it was asked first, and its farthest mu beyond the
// critical one of the contact alone, to whichever side it slips.                           (F24)
static void note_several(PawlGrip* g, const PawlGripIsland* island, PawlFrictionVerdict verdict,
                         bool strays) {
  if (!g->counts || g->several >= 0 || island->blocks == 0 ||
      (verdict != PAWL_FRICTION_SEVERAL && !strays)) {
    return;
  }
  g->several = (int)(island - g->island);
  g->critical = 0.0;
  for (int b = island->first_block; b < island->first_block + island->blocks; b++) {
    const PawlFrictionBlock* block = &g->block[b];
    double own = pawl_friction_given(g->solver, block->normal, block->normal);
    double across[2] = {0.0, 0.0};
    for (int i = 0; i < 2 && block->tangent[i] >= 0; i++) {
      across[i] = pawl_friction_given(g->solver, block->normal, block->tangent[i]);
    }
    double beyond = own > 0.0 ? block->mu * hypot(across[0], across[1]) / own : 0.0;
    if (beyond > g->critical) {
      g->critical = beyond;
      g->critical_of = g->block_of[b];
    }
  }
}

// Where several slip beyond what they may rub with together, from rest: one of them.
static void name_unstable(PawlGrip* g, const PawlGripIsland* island) {
  for (int b = island->first_block; b < island->first_block + island->blocks; b++) {
    bool slips = g->unstable && g->block_state[b] == PAWL_FRICTION_SLIP;
    g->worst = g->worst < 0 && slips ? g->block_of[b] : g->worst;
  }
}

static PawlStatus solve_island(PawlGrip* g, const PawlValues* values, PawlGripIsland* island,
                               PawlError* err) {
  PawlFrictionVerdict verdict = PAWL_FRICTION_SOLVED;
  int strays = g->strays;
  PAWL_TRY(make_solver(g, island->count, err));
  PawlStatus status = pawl_grip_compliance_give(g, values, island);
  status = status ? status : solve_once(g, island, &verdict);
  note_several(g, island, verdict, g->strays != strays);
  if (status == PAWL_OK && is_solved(verdict)) {
    status = aim(g, island, &verdict);
  }
  while (status == PAWL_OK && is_solved(verdict) && begin_sliding(g, island)) {
    status = solve_once(g, island, &verdict);
  }
  double beyond = find_worst(g, island);
  name_unstable(g, island);
  if (status == PAWL_OK && verdict == PAWL_FRICTION_SEVERAL && beyond > 1.0) {
    open_sliding(g, island);
    status = solve_once(g, island, &verdict);
  }
  island->solved = status == PAWL_OK && is_solved(verdict);
  judge(g, verdict, beyond);
  return status == PAWL_OK             ? PAWL_OK
         : status == PAWL_ERROR_MEMORY ? pawl_fail_memory(err)
                                       : PAWL_RETRY;
}

// Where a contact without force moves along its slip, from rest: nothing holds it.
static void look_along(PawlGrip* g, int k) {
  const PawlSlipContact* c = &g->slip->contact[k];
  const double* w = g->watching->rows.w + c->first;
  double length = c->count > 1 ? hypot(w[0], w[1]) : fabs(w[0]);
  for (int i = 0; i < c->count; i++) {
    g->along[2 * k + i] = length > 0.0 ? w[i] / length : 0.0;
  }
}

// Rows of known force are no part of the problem: how what they join moves, which is what it slides
// to. Zero is zero to rounding.
static void look_at_known(PawlGrip* g, const double* G) {
  PawlRowProblem* p = &g->watching->rows;
  for (int i = 0; i < g->dynamics->sizes.rows; i++) {
    bool bilateral = pawl_system_row_kind(g->dynamics->system, i) == PAWL_ROW_BILATERAL;
    if (g->place[i] < 0 && !is_held(g, i) && bilateral) {
      double size = fabs(p->b[i]), w = p->b[i] + row_times(g, G, i, g->x, &size);
      p->w[i] = fabs(w) > PAWL_ROWS_ROUNDING * size ? w : 0.0;
      p->state[i] = PAWL_ROW_LOW;
    }
  }
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
    p->conflict[i] = !is_solved(g->verdict) && at >= 0;
  }
  for (int b = 0; b < g->blocks; b++) {
    int k = g->block_of[b];
    g->found[k] = g->block_state[b];
    if (g->found[k] == PAWL_FRICTION_SLIP && !g->block[b].sliding) {
      memcpy(g->along + 2 * k, g->slips + 2 * b, 2 * sizeof(double));
    } else if (g->found[k] == PAWL_FRICTION_SLIP) {
      memcpy(g->along + 2 * k, g->block[b].direction, 2 * sizeof(double));
    } else if (g->found[k] == PAWL_FRICTION_OPEN && !g->block[b].sliding) {
      look_along(g, k);
    }
  }
}

PawlStatus pawl_grip_solve(PawlGrip* g, const PawlValues* values, PawlError* err) {
  PawlDynamics* d = g->dynamics;
  list_rows(g, values->M, true);
  PawlStatus status = pawl_dynamics_factor(d, values, g->eliminated);
  if (status == PAWL_RETRY) {  // rigid rows depend on each other: they share
    list_rows(g, values->M, false);
    status = pawl_dynamics_factor(d, values, g->eliminated);
  }
  if (status != PAWL_OK) {
    return status == PAWL_RETRY ? status : pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_grip_compliance_find(g, values, err));
  find_right_side(g, values);
  g->verdict = PAWL_FRICTION_SOLVED;
  g->worst = g->strays = g->several = -1;
  g->beyond = 0.0;
  g->unstable = false;
  for (int at = 0; at < g->islands; at++) {
    PAWL_TRY(solve_island(g, values, &g->island[at], err));
  }
  find_motion(g, values, true);
  give_back(g);
  look_at_known(g, values->G);
  return PAWL_OK;
}
