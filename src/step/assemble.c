// SPDX-License-Identifier: Apache-2.0
// With J the columns of G that belong to what may change, and M_f = L L^T the same part of M, the
// change d that is least in the metric of M_f and has J d = c is
//   d = L^-T (J L^-T)^+ c                                                        (K1)
// with the pseudoinverse, so that rows that depend on each other do no harm. Positions need
// Newton's method, in which the whole change is least: with d_k so far and the residual g_k,
//   c = J d_k - g_k                                                              (K2)
// For velocities c = -(G v + g_t), once. The change of a rotation is the sum of the small turns
// that led to it, each in the axes of the body.
#include "step/assemble.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "linalg/lapack.h"
#include "linalg/span.h"
#include "linalg/sparse.h"
#include "switch/dynamics.h"
#include "switch/tolerances.h"

enum { MOST_ITERATIONS = 50, MOST_HALVINGS = 6, POSITION = 0, VELOCITY = 1 };

typedef struct Assembly {
  PawlArena arena;
  const PawlSystem* system;
  PawlState* state;
  const PawlAssemblyDef* def;
  PawlSizes n;
  PawlPattern G, H;
  PawlEval* eval;
  const PawlValues* values;
  int free_count;         // of the level that is solved
  int* place;             // of each velocity among the free ones, -1 when kept
  double *J, *L, *B, *P;  // rows-by-free, free-by-free, rows-by-free, free-by-rows
  double *d, *residual, *scale, *c, *size;
  double *change, *step;           // from the start, so far; of the last iteration
  double *before, *change_before;  // x and the change at its beginning
  bool* asked;                     // rows that must hold
} Assembly;

// ---- the least change -----------------------------------------------------------------------
static PawlStatus evaluate(Assembly* k, PawlError* err) {
  const PawlState* s = k->state;
  PawlPoint point = {s->t, s->q, s->v, s->a, s->lambda, s->modes, s->held};
  PawlStatus status = pawl_eval_run(k->eval, &point, err);
  if (status == PAWL_RETRY && err) {
    err->status = PAWL_ERROR_RUN;
  }
  return status == PAWL_RETRY ? PAWL_ERROR_RUN : status;
}

static void choose_free(Assembly* k, int level) {
  k->free_count = 0;
  for (int i = 0; i < k->n.v; i++) {
    k->place[i] = k->def->kept[level][i] ? -1 : k->free_count++;
  }
}

// The columns of J, and M_f into `M`.
static void gather(Assembly* k, double* M) {
  int f = k->free_count, rows = k->n.rows;
  memset(k->J, 0, (size_t)rows * (size_t)f * sizeof(double));
  memset(M, 0, (size_t)f * (size_t)f * sizeof(double));
  for (int j = 0; j < k->n.v; j++) {
    int to = k->place[j];
    for (int p = k->G.start[j]; to >= 0 && p < k->G.start[j + 1]; p++) {
      int i = k->G.index[p];
      k->J[i + to * rows] = k->asked[i] ? k->values->G[p] : 0.0;
    }
    for (int p = k->H.start[j]; to >= 0 && p < k->H.start[j + 1]; p++) {
      int i = k->place[k->H.index[p]];
      if (i >= 0) {
        M[i + to * f] = k->values->M[p];
      }
    }
  }
}

// B = J L^-T, row by row: L b = (row of J). Each of length 1, so that its unit says nothing about
// the rank, and c with it.
static void scale_rows(Assembly* k) {
  int f = k->free_count, rows = k->n.rows;
  for (int i = 0; i < rows; i++) {
    double square = 0.0;
    for (int j = 0; j < f; j++) {
      double x = k->J[i + j * rows];
      for (int l = 0; l < j; l++) {
        x -= k->L[j + l * f] * k->B[i + l * rows];
      }
      k->B[i + j * rows] = x / k->L[j + j * f];
      square += k->B[i + j * rows] * k->B[i + j * rows];
    }
    double scale = square > 0.0 ? 1.0 / sqrt(square) : 1.0;
    for (int j = 0; j < f; j++) {
      k->B[i + j * rows] *= scale;
    }
    k->c[i] *= scale;
  }
}

static void set_unit(int n, double* A) {
  memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
  for (int i = 0; i < n; i++) {
    A[i + i * n] = 1.0;
  }
}

// (K1) for k->c, into k->d.
static PawlStatus least_change(Assembly* k, PawlError* err) {
  int f = k->free_count, rows = k->n.rows, rank;
  gather(k, k->P);
  PawlStatus status = pawl_cholesky(f, k->P, k->L);
  if (status != PAWL_OK && status != PAWL_ERROR_MEMORY && k->def->any_metric) {
    set_unit(f, k->L);
    status = PAWL_OK;
  }
  if (status == PAWL_OK) {
    scale_rows(k);
    status = pawl_dense_pseudoinverse(rows, f, k->B, PAWL_DEPENDENT, k->P, &rank);
  }
  if (status != PAWL_OK) {
    return status == PAWL_ERROR_MEMORY
               ? pawl_fail_memory(err)
               : pawl_fail(err, PAWL_ERROR_RUN,
                           "the start cannot be %s: the masses of the others do not allow it",
                           k->def->how);
  }
  for (int j = f - 1; j >= 0; j--) {
    double x = 0.0;
    for (int i = 0; i < rows; i++) {
      x += k->P[j + i * f] * k->c[i];
    }
    for (int l = j + 1; l < f; l++) {
      x -= k->L[l + j * f] * k->d[l];
    }
    k->d[j] = x / k->L[j + j * f];
  }
  return PAWL_OK;
}

// ---- violations -----------------------------------------------------------------------------
static double violation(const Assembly* k, int i) {
  return fabs(k->residual[i]) / (k->scale[i] > 0.0 ? k->scale[i] : PAWL_SMALLEST_SIZE);
}

// Sizes of coordinates, from which those of rows follow. What Newton's method has thrown far away
// does not count: an angle of 1e18 would make every row small against its terms.
static const double* sizes(Assembly* k, int level) {
  const double* x = level ? k->state->v : k->state->q;
  for (int i = 0; i < k->n.v; i++) {
    double stated = fabs(x[i] - k->change[i]);
    k->size[i] = fmin(fabs(x[i]), PAWL_FARTHEST_GUESS * fmax(1.0, stated));
  }
  return k->size;
}

// The residuals at a level and the largest, relative to the terms of its row. Of a contact only a
// gap below zero counts, and no velocity.
static double measure(Assembly* k, int level) {
  double largest = 0.0;
  memcpy(k->residual, level ? k->values->g_t : k->values->g, (size_t)k->n.rows * sizeof(double));
  if (level) {
    pawl_sparse_add(&k->G, k->values->G, 1.0, k->state->v, k->residual);
  }
  // With rotations there is no coordinate for each velocity: then each counts as 1.
  const double* x = level || k->n.q == k->n.v ? sizes(k, level) : NULL;
  pawl_sparse_sizes(&k->G, k->values->G, x, x ? pawl_dynamics_least(k->n.v, x) : 0.0, k->scale);
  for (int i = 0; i < k->n.rows; i++) {
    bool contact = pawl_system_row_kind(k->system, i) != PAWL_ROW_BILATERAL;
    bool rate = pawl_system_row_is_rate(k->system, i, k->state->modes);
    int flags = k->def->left ? k->def->left[i] : 0;
    bool left = flags & (level == POSITION ? PAWL_LEFT_POSITION : PAWL_LEFT_VELOCITY) ||
                (level == POSITION && rate);
    k->asked[i] = !left && (!contact || (level == POSITION && k->residual[i] < 0.0));
    k->residual[i] = k->asked[i] ? k->residual[i] : 0.0;
    largest = fmax(largest, violation(k, i));
  }
  return largest;
}

static PawlStatus cannot_be_met(const Assembly* k, int level, PawlError* err) {
  enum { MOST_NAMED = 8 };
  PawlText rows = {0};
  int count = 0;
  for (int i = 0; i < k->n.rows; i++) {
    int number;
    const char* name = pawl_system_row_name(k->system, i, &number);
    if (violation(k, i) > PAWL_START_MET && count++ < MOST_NAMED) {
      pawl_text_printf(&rows, "%s'%s' (row %d) is off by %.3g", count > 1 ? ", " : "", name,
                       number + 1, k->residual[i]);
    }
  }
  pawl_fail(err, PAWL_ERROR_RUN, "the %s of the start cannot be %s: %s%s",
            level ? "velocity" : "position", k->def->how, rows.s ? rows.s : "",
            count > MOST_NAMED ? ", ..." : "");
  pawl_text_free(&rows);
  return PAWL_ERROR_RUN;
}

// ---- both levels ----------------------------------------------------------------------------
// From where the iteration began on by the step.
static void place(Assembly* k, int level) {
  for (int i = 0; i < k->n.v; i++) {
    k->change[i] = k->change_before[i] + k->step[i];
    k->state->v[i] = level == VELOCITY ? k->before[i] + k->step[i] : k->state->v[i];
  }
  if (level == POSITION) {
    pawl_system_retract(k->system, k->before, k->step, k->state->q);
  }
}

// Moves until the change is d; returns the largest step relative to the largest of d.
static double move(Assembly* k, int level) {
  const double* x = level == VELOCITY ? k->state->v : k->state->q;
  double step = 0.0, size = 0.0;
  memcpy(k->before, x, (size_t)(level == VELOCITY ? k->n.v : k->n.q) * sizeof(double));
  memcpy(k->change_before, k->change, (size_t)k->n.v * sizeof(double));
  for (int i = 0; i < k->n.v; i++) {
    double to = k->place[i] >= 0 ? k->d[k->place[i]] : 0.0;
    k->step[i] = to - k->change[i];
    step = fmax(step, fabs(k->step[i]));
    size = fmax(size, fabs(to));
  }
  place(k, level);
  return size > 0.0 ? step / size : 0.0;
}

// c = J (change so far) - residual, (K2); at the start of velocities the change is none.
static void set_goal(Assembly* k) {
  for (int i = 0; i < k->n.rows; i++) {
    k->c[i] = -k->residual[i];
  }
  for (int j = 0; j < k->n.v; j++) {
    for (int p = k->G.start[j]; p < k->G.start[j + 1]; p++) {
      int i = k->G.index[p];
      k->c[i] += k->asked[i] ? k->values->G[p] * k->change[j] : 0.0;
    }
  }
}

// Goes back half way to where it was while that is better: the first steps from a rough guess.
static PawlStatus shorten(Assembly* k, int level, double before, double* worst, PawlError* err) {
  for (int n = 0; n < MOST_HALVINGS && !(*worst <= before); n++) {
    for (int i = 0; i < k->n.v; i++) {
      k->step[i] *= 0.5;
    }
    place(k, level);
    PAWL_TRY(evaluate(k, err));
    *worst = measure(k, level);
  }
  return PAWL_OK;
}

static PawlStatus solve_level(Assembly* k, int level, PawlError* err) {
  double last = INFINITY;
  choose_free(k, level);
  memset(k->change, 0, (size_t)k->n.v * sizeof(double));
  PAWL_TRY(evaluate(k, err));
  double worst = measure(k, level);
  int most = k->free_count > 0 ? MOST_ITERATIONS : 0;
  for (int n = 0; n < most; n++) {
    if (worst <= PAWL_START_PROJECTED ||
        (worst <= PAWL_START_MET && last <= PAWL_LAST_PROJECTION)) {
      return PAWL_OK;
    }
    double before = worst;
    set_goal(k);
    PAWL_TRY(least_change(k, err));
    last = move(k, level);
    PAWL_TRY(evaluate(k, err));
    worst = measure(k, level);
    if (k->def->any_metric && before > PAWL_START_MET) {
      PAWL_TRY(shorten(k, level, before, &worst, err));
    }
  }
  return worst <= PAWL_START_MET ? PAWL_OK : cannot_be_met(k, level, err);
}

static int most_free(const Assembly* k) {
  int count[2] = {0, 0};
  for (int level = 0; level < 2; level++) {
    for (int i = 0; i < k->n.v; i++) {
      count[level] += !k->def->kept[level][i];
    }
  }
  return count[POSITION] > count[VELOCITY] ? count[POSITION] : count[VELOCITY];
}

static PawlStatus allocate(Assembly* k, PawlError* err) {
  int v = k->n.v, rows = k->n.rows, most = most_free(k), square = most > rows ? most : rows;
  PawlArena* arena = &k->arena;
  k->change = PAWL_NEW(arena, double, v);
  k->change_before = PAWL_NEW(arena, double, v);
  k->step = PAWL_NEW(arena, double, v);
  k->before = PAWL_NEW(arena, double, k->n.q > v ? k->n.q : v);
  k->place = PAWL_NEW(arena, int, v);
  k->J = pawl_arena_alloc(arena, (size_t)rows * (size_t)most + 1, sizeof(double));
  k->B = pawl_arena_alloc(arena, (size_t)rows * (size_t)most + 1, sizeof(double));
  k->L = pawl_arena_alloc(arena, (size_t)most * (size_t)most + 1, sizeof(double));
  k->P = pawl_arena_alloc(arena, (size_t)square * (size_t)most + 1, sizeof(double));
  k->d = PAWL_NEW(arena, double, most);
  k->size = PAWL_NEW(arena, double, v);
  k->residual = PAWL_NEW(arena, double, rows);
  k->scale = PAWL_NEW(arena, double, rows);
  k->c = PAWL_NEW(arena, double, rows);
  k->asked = PAWL_NEW(arena, bool, rows);
  return arena->failed ? pawl_fail_memory(err) : PAWL_OK;
}

static PawlStatus assemble(Assembly* k, PawlError* err) {
  if (most_free(k) > PAWL_ASSEMBLY_MOST) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "the start cannot be %s: at most %d coordinates may change", k->def->how,
                     PAWL_ASSEMBLY_MOST);
  }
  PAWL_TRY(allocate(k, err));
  PAWL_TRY(pawl_eval_create(
      k->system, PAWL_MASS | PAWL_POSITION | PAWL_GRADIENT | PAWL_TIME_GRADIENT, &k->eval, err));
  k->values = pawl_eval_values(k->eval);
  PAWL_TRY(solve_level(k, POSITION, err));
  return solve_level(k, VELOCITY, err);
}

PawlStatus pawl_assemble(const PawlSystem* system, PawlState* state, const PawlAssemblyDef* def,
                         PawlError* err) {
  Assembly k = {.system = system,
                .state = state,
                .def = def,
                .n = pawl_system_sizes(system),
                .G = pawl_system_pattern_G(system),
                .H = pawl_system_pattern_H(system)};
  PawlStatus status = assemble(&k, err);
  pawl_eval_destroy(k.eval);
  pawl_arena_free(&k.arena);
  return status;
}
