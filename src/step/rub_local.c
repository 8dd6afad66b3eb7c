// SPDX-License-Identifier: Apache-2.0
#include "step/rub_local.h"

#include <math.h>
#include <string.h>

#include "switch/row.h"
#include "switch/tolerances.h"

enum { MOST_ROWS = 128, MOST_ROUNDS = 40, MOST_TURNS = 4, MOST_STUCK = 2, ROWS = PAWL_RUB_ROWS };

PawlStatus pawl_rub_local_create(PawlStepper* s, const PawlRubMatrix* matrix, PawlRubLocal* p,
                                 PawlError* err) {
  PawlArena* arena = &s->arena;
  int count = matrix->count, m = ROWS * count < MOST_ROWS ? ROWS * count : MOST_ROWS;
  double** of_rows[] = {&p->q, &p->size, &p->own, &p->lo, &p->hi, &p->near, &p->lambda, &p->w};
  for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
    *of_rows[k] = PAWL_NEW(arena, double, m);
  }
  p->most = m;
  p->member = PAWL_NEW(arena, int, count);
  p->is_member = PAWL_NEW(arena, unsigned char, count);
  p->turned = PAWL_NEW(arena, unsigned char, count);
  p->without = PAWL_NEW(arena, PawlRubState, count);
  p->before = PAWL_NEW(arena, PawlRubState, count);
  p->y = PAWL_NEW(arena, double, ROWS* count);
  p->D = PAWL_NEW(arena, double, (size_t)m*(size_t)m);
  p->slip = PAWL_NEW(arena, double, 2 * m);
  p->state = PAWL_NEW(arena, unsigned char, m);
  p->block_state = PAWL_NEW(arena, unsigned char, m);
  p->block = PAWL_NEW(arena, PawlFrictionBlock, m);
  return arena->failed ? pawl_fail_memory(err) : PAWL_OK;
}

// ---- the few ------------------------------------------------------------------------------------
// Rows of the few, one contact behind the other, its own row first; blocks that rub.
static int ask(PawlRubLocal* p, const PawlRubSets* sets, const PawlRubProblem* q,
               const PawlRubState* state) {
  int at = 0, blocks = 0;
  for (int a = 0; a < p->count; a++) {
    int k = p->member[a];
    const PawlRubContact* c = &q->matrix->contact[k];
    PawlFrictionBlock block = {.normal = at, .tangent = {-1, -1}, .mu = c->mu};
    for (int i = 0; i <= c->count; i++, at++) {
      p->q[at] = sets->w[ROWS * k + i];
      p->size[at] = q->tolerance / PAWL_ROWS_ROUNDING * q->size[ROWS * k + i];
      p->own[at] = q->own[ROWS * k + i];
      p->near[at] = q->soft > 0.0 ? q->near[ROWS * k + i] : p->y[ROWS * k + i];
      p->state[at] = i > 0                             ? PAWL_ROW_UNKNOWN
                     : state[k].place == PAWL_RUB_OPEN ? PAWL_ROW_LOW
                                                       : PAWL_ROW_FREE;
      pawl_row_bounds(i == 0 ? PAWL_ROW_OF_CONTACT : PAWL_ROW_OF_FRICTION, INFINITY, &p->lo[at],
                      &p->hi[at]);
      if (i > 0) {
        block.tangent[i - 1] = at;
      }
    }
    if (c->count > 0) {
      p->block_state[blocks] = state[k].place == PAWL_RUB_OPEN    ? PAWL_FRICTION_OPEN
                               : state[k].place == PAWL_RUB_STICK ? PAWL_FRICTION_STICK
                                                                  : PAWL_FRICTION_SLIP;
      memcpy(p->slip + 2 * blocks, state[k].direction, sizeof state[k].direction);
      p->block[blocks++] = block;
    }
  }
  return blocks;
}

// D of the few, with the factors in use: those of all others in their places.               (T18)
static void find_compliance(const PawlRubLocal* p, PawlRubSets* sets, const PawlRubProblem* q) {
  PawlRubMatrix* m = q->matrix;
  int column = 0;
  for (int b = 0; b < p->count; b++) {
    for (int j = 0; j <= m->contact[p->member[b]].count; j++, column++) {
      double u[ROWS] = {0.0, 0.0, 0.0}, *D = p->D + (size_t)column * (size_t)p->rows;
      u[j] = 1.0;
      memset(sets->dx, 0, (size_t)m->n * sizeof(double));
      memset(sets->dheld, 0, (size_t)m->bilateral * sizeof(double));
      pawl_rub_matrix_push(m, m->factored, p->member[b], u, sets->dx, NULL);
      pawl_rub_matrix_solve(m, sets->dx, sets->dheld);
      for (int a = 0; a < p->count; a++) {
        pawl_rub_matrix_rates(m, m->factored, p->member[a], sets->dx, u);
        for (int i = 0; i <= m->contact[p->member[a]].count; i++) {
          *D++ = u[i];
        }
      }
    }
  }
}

// Places and impulses of the few from what was found.
static void answer(const PawlRubLocal* p, PawlRubSets* sets, const PawlRubProblem* q,
                   PawlRubState* state) {
  int at = 0, block = 0;
  for (int a = 0; a < p->count; a++) {
    int k = p->member[a], count = q->matrix->contact[k].count;
    bool open = !(p->lambda[at] > 0.0), slips = false;
    state[k] = (PawlRubState){.place = PAWL_RUB_OPEN};
    if (count > 0) {
      slips = !open && p->block_state[block] == PAWL_FRICTION_SLIP;
      for (int i = 0; i < count && slips; i++) {
        state[k].direction[i] = p->slip[2 * block + i];
      }
      block++;
    }
    state[k].place = open ? PAWL_RUB_OPEN : slips ? PAWL_RUB_SLIP : PAWL_RUB_STICK;
    for (int i = 0; i <= count; i++, at++) {
      sets->y[ROWS * k + i] = p->lambda[at];
    }
  }
}

// The places of the few with all others in theirs. False: there are none, or none were found.
static bool solve_few(PawlRubLocal* p, PawlRubSets* sets, const PawlRubProblem* q,
                      PawlFriction* solver, PawlRubState* state) {
  memcpy(p->without, state, (size_t)q->matrix->count * sizeof *state);
  for (int a = 0; a < p->count; a++) {
    p->without[p->member[a]] = (PawlRubState){.place = PAWL_RUB_OPEN};
  }
  if (!pawl_rub_sets_one(sets, q, p->without)) {
    return false;
  }
  int blocks = ask(p, sets, q, state);
  find_compliance(p, sets, q);
  for (int i = 0; i < p->rows; i++) {
    p->D[i * (p->rows + 1)] += q->soft * p->own[i];  // (F38)
  }
  PawlFrictionProblem problem = {.q = p->q,
                                 .size = p->size,
                                 .lo = p->lo,
                                 .hi = p->hi,
                                 .blocks = blocks,
                                 .block = p->block,
                                 .near = p->near};
  PawlFrictionResult result = {.lambda = p->lambda,
                               .w = p->w,
                               .state = p->state,
                               .block_state = p->block_state,
                               .slip = p->slip};
  if (pawl_friction_set(solver, p->rows, p->D, p->own) != PAWL_OK ||
      pawl_friction_solve(solver, &problem, &result) != PAWL_OK ||
      (result.verdict != PAWL_FRICTION_SOLVED && result.verdict != PAWL_FRICTION_SEVERAL)) {
    return false;
  }
  answer(p, sets, q, state);
  return true;
}

// ---- the search ---------------------------------------------------------------------------------
// What has come out wrong is among the few from now on, but for slips that only turn, a few times.
// How many have come to them.
static int take_in(PawlRubLocal* p, const PawlRubProblem* q, const PawlRubState* state) {
  int came = 0;
  for (int a = 0; a < q->count; a++) {
    int k = q->list[a];
    const PawlRubState *was = &p->before[k], *is = &state[k];
    bool turns = was->place == is->place &&
                 (was->direction[0] != is->direction[0] || was->direction[1] != is->direction[1]);
    p->turned[k] = (unsigned char)(p->turned[k] + turns);
    if (!p->is_member[k] && (was->place != is->place || p->turned[k] > MOST_TURNS)) {
      p->is_member[k] = true;
      p->member[p->count++] = k;
      p->rows += 1 + q->matrix->contact[k].count;
      came++;
    }
  }
  return came;
}

bool pawl_rub_local_solve(PawlRubLocal* p, PawlRubSets* sets, const PawlRubProblem* q,
                          PawlFriction* solver, PawlRubState* state) {
  size_t count = (size_t)q->matrix->count;
  int stuck = 0;
  p->count = p->rows = 0;
  memset(p->is_member, 0, count);
  memset(p->turned, 0, count);
  memcpy(p->y, sets->y, ROWS * count * sizeof(double));
  for (int round = 0; round < MOST_ROUNDS; round++) {
    if ((p->count > 0 && !solve_few(p, sets, q, solver, state)) ||
        !pawl_rub_sets_one(sets, q, state)) {
      return false;
    }
    memcpy(p->before, state, count * sizeof *state);
    if (pawl_rub_sets_mend(sets, q, state) == 0) {
      return pawl_rub_sets_hold(sets, q, state);
    }
    stuck += take_in(p, q, state) == 0;
    if (p->rows > p->most || stuck > MOST_STUCK) {
      return false;
    }
    memcpy(sets->y, p->y, ROWS * count * sizeof(double));
  }
  return false;
}
