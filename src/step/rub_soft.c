// SPDX-License-Identifier: Apache-2.0
// Each row yields by a part of its own compliance D about the impulses y' so far,
//
//   w_i + soft D_i (y_i - y'_i) in the place of w_i,     y' = y of the level before           (F38)
//
// and a level is solved by Newton's method on the natural map F = y - P(y - w/D), with a line
// search; where that goes to and fro, by (T18).
#include "step/rub_soft.h"

#include <math.h>
#include <string.h>

#include "switch/tolerances.h"

enum { ROWS = PAWL_RUB_ROWS, MEMORY = 4, MOST_HALVINGS = 8, MOST_ITERATIONS = 10, MOST_SETS = 80 };
enum { MOST_REPEATS = 4 };             // of the last level, while places change in it
enum { FEW_SETS = 2, SOME_SETS = 6 };  // of a level: the next one may be much harder, or harder
enum { NEXT_TO_NO_PLACES = 2, FEW_PLACES = 5, SOME_PLACES = 10 };  // the same, changes on its path

static const double SOFTEST = 0.03;  // [1] the first level; ten times that where it has no solution
static const double MOST_SOFT = 100.0;
// [1] The next level, as a part of the last, after few sets, some and many, or next to no changes
// on a path, and few; and where steps to it have become so short it is given up.
static const double FAST = 0.1, MEDIUM = 0.3, SLOW = 0.5, NO_FURTHER = 0.9;
static const double FASTEST = 0.0001, FASTER = 0.01;
static const double LEAST_GAIN =
    1e-2;  // [1] of a step of the line search, of the largest of the last

PawlStatus pawl_rub_soft_create(PawlStepper* s, const PawlRubMatrix* matrix, PawlRubSoft* p,
                                PawlError* err) {
  double** of_rows[] = {&p->y, &p->w, &p->near, &p->raw};
  for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
    *of_rows[k] = PAWL_NEW(&s->arena, double, ROWS * matrix->count);
  }
  p->state = PAWL_NEW(&s->arena, PawlRubState, matrix->count);
  p->kept = PAWL_NEW(&s->arena, PawlRubState, matrix->count);
  p->last = PAWL_NEW(&s->arena, double, MEMORY);
  return s->arena.failed ? pawl_fail_memory(err) : pawl_rub_path_create(s, matrix, &p->path, err);
}

// ---- the natural map ----------------------------------------------------------------------------
static double length_of(int count, const double* x) {
  return count == 0 ? 0.0 : count == 1 ? fabs(x[1]) : hypot(x[1], x[2]);
}

// Y = y - w/D of a contact.
static void find_target(const PawlRubProblem* q, int k, const double* y, const double* w,
                        double* Y) {
  for (int i = 0; i <= q->matrix->contact[k].count; i++) {
    Y[i] = y[i] - w[i] / q->own[ROWS * k + i];
  }
}

// D F^2 of a contact.
static double off(const PawlRubProblem* q, int k, const double* y, const double* Y) {
  const PawlRubContact* c = &q->matrix->contact[k];
  const double* own = q->own + ROWS * k;
  double N = y[0] - fmax(Y[0], 0.0), sum = own[0] * N * N;
  double R = c->mu * fmax(y[0], 0.0), T = length_of(c->count, Y), by = T > R ? R / T : 1.0;
  for (int i = 1; i <= c->count; i++) {
    double F = y[i] - by * Y[i];
    sum += own[i] * F * F;
  }
  return sum;
}

// The sum of these a part t of the way from the iterate to the solution of its set.
static double merit(const PawlRubSoft* p, const PawlRubSets* sets, const PawlRubProblem* q,
                    double t) {
  double sum = 0.0, y[ROWS], w[ROWS], Y[ROWS];
  for (int a = 0; a < q->count; a++) {
    int k = q->list[a], at = ROWS * k;
    for (int i = 0; i <= q->matrix->contact[k].count; i++) {
      y[i] = p->y[at + i] + t * (sets->y[at + i] - p->y[at + i]);
      w[i] = p->w[at + i] + t * (sets->w[at + i] - p->w[at + i]);
    }
    find_target(q, k, y, w, Y);
    sum += off(q, k, y, Y);
  }
  return sum;
}

// The set of the iterate.
static void choose_set(PawlRubSoft* p, const PawlRubProblem* q) {
  for (int a = 0; a < q->count; a++) {
    int k = q->list[a];
    const PawlRubContact* c = &q->matrix->contact[k];
    double Y[ROWS] = {0.0, 0.0, 0.0};
    find_target(q, k, p->y + ROWS * k, p->w + ROWS * k, Y);
    double T = length_of(c->count, Y), R = c->mu * fmax(p->y[ROWS * k], 0.0);
    p->state[k].place = !(Y[0] > 0.0)           ? PAWL_RUB_OPEN
                        : c->count > 0 && T > R ? PAWL_RUB_SLIP
                                                : PAWL_RUB_STICK;
    for (int i = 0; i < 2; i++) {
      p->state[k].direction[i] = i < c->count && T > 0.0 ? -Y[1 + i] / T : 0.0;
    }
    p->state[k].turns = c->count == 2 ? pawl_rub_sets_turns(q, k, R, T) : 0.0;
  }
}

// ---- a level ------------------------------------------------------------------------------------
static void advance(PawlRubSoft* p, const PawlRubSets* sets, const PawlRubProblem* q, double t) {
  for (int a = 0; a < q->count; a++) {
    for (int at = ROWS * q->list[a]; at < ROWS * q->list[a] + ROWS; at++) {
      p->y[at] += t * (sets->y[at] - p->y[at]);
      p->w[at] += t * (sets->w[at] - p->w[at]);
    }
  }
}

// The largest of the last few sums, which the next must be less than.
static double allowed(PawlRubSoft* p, int iteration, double now) {
  double most = 0.0;
  p->last[iteration % MEMORY] = now;
  for (int i = 0; i < MEMORY && i <= iteration; i++) {
    most = fmax(most, p->last[i]);
  }
  return most;
}

// Newton's method from p->y and p->w. False: it does not end.
static bool iterate(PawlRubSoft* p, PawlRubSets* sets, const PawlRubProblem* q, double end) {
  double now = merit(p, sets, q, 0.0);
  for (int k = 0; k < MOST_ITERATIONS; k++) {
    double t = 1.0, most = allowed(p, k, now);
    choose_set(p, q);
    if (!pawl_rub_sets_one(sets, q, p->state)) {
      return false;
    }
    now = merit(p, sets, q, t);
    for (int i = 0; i < MOST_HALVINGS && !(now <= (1.0 - LEAST_GAIN * t) * most); i++) {
      t *= 0.5;
      now = merit(p, sets, q, t);
    }
    advance(p, sets, q, t);
    if (now <= end) {
      return true;
    }
  }
  return false;
}

// The same along a path from the level before; what solve_level does.                       (F50)
static double follow_level(PawlRubSoft* p, PawlRubSets* sets, PawlRubProblem* q) {
  int places = pawl_rub_path_solve(&p->path, sets, q, p->state);
  return places < 0                    ? 0.0
         : places <= NEXT_TO_NO_PLACES ? FASTEST
         : places <= FEW_PLACES        ? FASTER
         : places <= SOME_PLACES       ? FAST
                                       : MEDIUM;
}

// What part of this level the next one may be, by how many sets it took, those of a few contacts by
// themselves counted; 0: it has no solution.
static double solve_level(PawlRubSoft* p, PawlRubSets* sets, PawlRubLocal* local,
                          PawlFriction* solver, PawlRubProblem* q, double end) {
  if (q->soft < SOFTEST && pawl_rub_path_suits(q)) {
    return follow_level(p, sets, q);
  }
  long long before = q->matrix->factorizations;
  bool solved = iterate(p, sets, q, end);
  if (!solved) {
    choose_set(p, q);
    solved = pawl_rub_local_solve(local, sets, q, solver, p->state);
  }
  int took = (int)(q->matrix->factorizations - before);
  return !solved ? 0.0 : took <= FEW_SETS ? FAST : took <= SOME_SETS ? MEDIUM : SLOW;
}

// ---- levels -------------------------------------------------------------------------------------
// What is left of a solution: rounding of the largest impulse or rate.
static double smallest(const PawlRubSets* sets, const PawlRubProblem* q) {
  double most = 0.0;
  for (int a = 0; a < q->count; a++) {
    for (int i = 0; i <= q->matrix->contact[q->list[a]].count; i++) {
      int at = ROWS * q->list[a] + i;
      double own = q->own[at], y = sets->y[at], w = sets->w[at];
      most = fmax(most, fmax(own * y * y, w * w / own));
    }
  }
  return PAWL_RUB_SOFT_ENDS * most;
}

static void keep(PawlRubSoft* p, const PawlRubSets* sets, const PawlRubProblem* q) {
  size_t count = (size_t)q->matrix->count;
  for (int a = 0; a < q->count; a++) {
    for (int i = 0; i <= q->matrix->contact[q->list[a]].count; i++) {
      int at = ROWS * q->list[a] + i;
      p->path.e[at] = q->soft * q->own[at] * (sets->y[at] - p->near[at]);
      p->raw[at] = sets->w[at] - p->path.e[at];
    }
  }
  memcpy(p->path.w, sets->w, count * ROWS * sizeof(double));
  memcpy(p->near, sets->y, count * ROWS * sizeof(double));
  memcpy(p->kept, p->state, count * sizeof *p->state);
}

// The iterate is the level that was solved last.
static void restore(PawlRubSoft* p, const PawlRubProblem* q) {
  size_t count = (size_t)q->matrix->count;
  memcpy(p->y, p->near, count * ROWS * sizeof(double));
  memcpy(p->w, p->raw, count * ROWS * sizeof(double));
  memcpy(p->state, p->kept, count * sizeof *p->state);
}

// The softness of the last level that was solved; 0: none was.
static double go_through(PawlRubSoft* p, PawlRubSets* sets, PawlRubLocal* local,
                         PawlFriction* solver, PawlRubProblem* q, double end) {
  long long begin = q->matrix->factorizations;
  double fall = FAST, reached = 0.0;
  int repeats = 0;
  while (q->matrix->factorizations - begin < MOST_SETS) {
    double part = solve_level(p, sets, local, solver, q, end);
    if (part > 0.0) {
      keep(p, sets, q);
      reached = q->soft;
    }
    fall = part > 0.0 ? part : sqrt(fall);
    restore(p, q);
    q->soft = reached > 0.0 ? fmax(reached * fall, PAWL_RUB_HARDEST) : q->soft / FAST;
    bool hardest = reached > 0.0 && reached <= PAWL_RUB_HARDEST;
    bool again = hardest && part > 0.0 && p->path.places > 0 && repeats++ < MOST_REPEATS;
    if (!again && (hardest || fall > NO_FURTHER || q->soft > MOST_SOFT)) {
      break;
    }
  }
  return reached;
}

bool pawl_rub_soft_solve(PawlRubSoft* p, PawlRubSets* sets, PawlRubLocal* local,
                         PawlFriction* solver, PawlRubProblem* q, PawlRubState* state) {
  size_t count = (size_t)q->matrix->count;
  double reached = 0.0;
  p->path.places = 0;
  memcpy(p->near, sets->y, count * ROWS * sizeof(double));
  memcpy(p->state, state, count * sizeof *state);
  q->near = p->near;
  q->soft = SOFTEST;
  if (pawl_rub_sets_one(sets, q, p->state)) {
    double end = smallest(sets, q);
    keep(p, sets, q);
    restore(p, q);
    reached = go_through(p, sets, local, solver, q, end);
  }
  q->soft = 0.0;
  q->near = NULL;
  memcpy(sets->y, p->near, count * ROWS * sizeof(double));
  memcpy(state, p->kept, count * sizeof *state);
  return reached > 0.0;
}
