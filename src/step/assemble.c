// SPDX-License-Identifier: Apache-2.0
// With J the columns of G that belong to what may change, and M_f = L L^T the same part of M, the
// change d that is least in the metric of M_f and has J d = c is
//   d = L^-T (J L^-T)^+ c                                                        (K1)
// with the pseudoinverse, so that rows that depend on each other do no harm. Positions need
// Newton's method, in which the whole change is least: with d_k so far and the residual g_k,
//   c = J d_k - g_k                                                              (K2)
// For velocities c = -(G v + g_t), once. The change of a rotation is the sum of the small turns
// that led to it, each in the axes of the body.
//
// Where the first step of Newton's method does not lead there, a guess is far away, and its steps
// would take it to some mechanism. From there it goes down first: rows that hold are held, and of
// the others, g_o, the squares fall along short ways,
//   minimise |J_o d + g_o|^2 + m |d|^2_M,   J_c d = -g_c                         (K3)
// (K. Levenberg, A method for the solution of certain non-linear problems in least squares), m
// being a fourth after a step that made them less, and four times as much after one that did not.
// What bodies hang on is among the rows that hold, so that the way is about the same whatever the
// coordinates are. With e = (J_o d + g_o)/-sqrt(m), (K3) is the least (L^T d, e) of
//   J_o d + sqrt(m) e = -g_o,   J_c d = -g_c
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
enum { MOST_DOWN = 100, MOST_ROWS_DOWN = 400 };  // steps of (K3), and rows for which it is taken
enum { MOST_NUDGES = 3 };                        // places near by that it begins from, too

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
  double* stated;                  // q as it was given
} Assembly;

// What (K3) needs, besides.
typedef struct Descent {
  int open_count;
  int* slack;          // of each row: its column of e, or -1
  double *A, *A_;      // the matrix of (K3) and its pseudoinverse
  double *q, *change;  // where a step began
} Descent;

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

// B = J L^-T, row by row: L b = (row of J).
static void metric_rows(Assembly* k) {
  int f = k->free_count, rows = k->n.rows;
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < f; j++) {
      double x = k->J[i + j * rows];
      for (int l = 0; l < j; l++) {
        x -= k->L[j + l * f] * k->B[i + l * rows];
      }
      k->B[i + j * rows] = x / k->L[j + j * f];
    }
  }
}

static double row_square(const Assembly* k, int i) {
  double square = 0.0;
  for (int j = 0; j < k->free_count; j++) {
    square += k->B[i + j * k->n.rows] * k->B[i + j * k->n.rows];
  }
  return square;
}

// Each row of length 1, so that its unit says nothing about the rank, and c with it.
static void scale_rows(Assembly* k) {
  for (int i = 0; i < k->n.rows; i++) {
    double square = row_square(k, i), scale = square > 0.0 ? 1.0 / sqrt(square) : 1.0;
    for (int j = 0; j < k->free_count; j++) {
      k->B[i + j * k->n.rows] *= scale;
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

// J, B and L at this place.
static PawlStatus prepare(Assembly* k) {
  gather(k, k->P);
  PawlStatus status = pawl_cholesky(k->free_count, k->P, k->L);
  if (status != PAWL_OK && status != PAWL_ERROR_MEMORY && k->def->any_metric) {
    set_unit(k->free_count, k->L);
    status = PAWL_OK;
  }
  if (status == PAWL_OK) {
    metric_rows(k);
  }
  return status;
}

// d = L^-T P c, of the first rows of P, which has `stride` of them.
static void change_of(Assembly* k, const double* P, int stride) {
  int f = k->free_count;
  for (int j = f - 1; j >= 0; j--) {
    double x = 0.0;
    for (int i = 0; i < k->n.rows; i++) {
      x += P[j + i * stride] * k->c[i];
    }
    for (int l = j + 1; l < f; l++) {
      x -= k->L[l + j * f] * k->d[l];
    }
    k->d[j] = x / k->L[j + j * f];
  }
}

// (K1) for k->c, into k->d.
static PawlStatus least_change(Assembly* k, PawlError* err) {
  int f = k->free_count, rank;
  PawlStatus status = prepare(k);
  if (status == PAWL_OK) {
    scale_rows(k);
    status = pawl_dense_pseudoinverse(k->n.rows, f, k->B, PAWL_DEPENDENT, k->P, &rank);
  }
  if (status != PAWL_OK) {
    return status == PAWL_ERROR_MEMORY
               ? pawl_fail_memory(err)
               : pawl_fail(err, PAWL_ERROR_RUN,
                           "the start cannot be %s: the masses of the others do not allow it",
                           k->def->how[0]);
  }
  change_of(k, k->P, f);
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
  pawl_fail(err, PAWL_ERROR_RUN, "the %s of the start cannot be %s: %s%s%s",
            level ? "velocity" : "position", k->def->how[level], rows.s ? rows.s : "",
            count > MOST_NAMED ? ", ..." : "",
            k->free_count == 0 && k->def->any_metric
                ? "; `guess: true` marks what may change, and --project moves all"
                : "");
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
static void set_goal(Assembly* k, bool plain) {
  for (int i = 0; i < k->n.rows; i++) {
    k->c[i] = -k->residual[i];
  }
  for (int j = 0; j < k->n.v && !plain; j++) {
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

static double sum_of_squares(const Assembly* k) {
  double sum = 0.0;
  for (int i = 0; i < k->n.rows; i++) {
    sum += k->residual[i] * k->residual[i];
  }
  return sum;
}

static void add_change(Assembly* k) {
  for (int i = 0; i < k->n.v; i++) {
    if (k->place[i] >= 0) {
      k->d[k->place[i]] += k->change[i];
    }
  }
}

// How Newton's method goes.
typedef struct Way {
  bool judge;  // PAWL_RETRY where the first step leads nowhere
  bool plain;  // each step is the least by itself, not the whole change: c = -g_k
} Way;

// From where it is, with the change so far.
static PawlStatus newton(Assembly* k, int level, Way way, PawlError* err) {
  double last = INFINITY, worst = measure(k, level), squares = sum_of_squares(k);
  bool far = level == POSITION && k->def->nearly > 0.0 && worst > k->def->nearly;
  int most = k->free_count > 0 && !far ? MOST_ITERATIONS : 0;
  for (int n = 0; n < most; n++) {
    if (worst <= PAWL_START_PROJECTED ||
        (worst <= PAWL_START_MET && last <= PAWL_LAST_PROJECTION)) {
      return PAWL_OK;
    }
    double before = worst;
    set_goal(k, way.plain);
    PAWL_TRY(least_change(k, err));
    if (way.plain) {
      add_change(k);
    }
    last = move(k, level);
    PAWL_TRY(evaluate(k, err));
    worst = measure(k, level);
    if (way.judge && n == 0 && !(sum_of_squares(k) <= PAWL_LEADS * PAWL_LEADS * squares)) {
      return PAWL_RETRY;
    }
    if (k->def->any_metric && before > PAWL_START_MET) {
      PAWL_TRY(shorten(k, level, before, &worst, err));
    }
  }
  return worst <= PAWL_START_MET ? PAWL_OK : cannot_be_met(k, level, err);
}

static PawlStatus solve_level(Assembly* k, int level, Way way, PawlError* err) {
  choose_free(k, level);
  memset(k->change, 0, (size_t)k->n.v * sizeof(double));
  PAWL_TRY(evaluate(k, err));
  return newton(k, level, way, err);
}

// ---- from afar --------------------------------------------------------------------------------
static PawlStatus begin_descent(Assembly* k, Descent* down, PawlError* err) {
  int rows = k->n.rows;
  down->slack = PAWL_NEW(&k->arena, int, rows);
  for (int i = 0; i < rows && down->slack; i++) {
    bool open = k->asked[i] && violation(k, i) > PAWL_START_MET;
    down->slack[i] = open ? down->open_count++ : -1;
  }
  size_t size = (size_t)rows * (size_t)(k->free_count + down->open_count) + 1;
  down->A = pawl_arena_alloc(&k->arena, size, sizeof(double));
  down->A_ = pawl_arena_alloc(&k->arena, size, sizeof(double));
  down->q = PAWL_NEW(&k->arena, double, k->n.q);
  down->change = PAWL_NEW(&k->arena, double, k->n.v);
  return k->arena.failed ? pawl_fail_memory(err) : PAWL_OK;
}

// Moves by (K3); or, to hold what is held, with g_o = 0.
static PawlStatus move_down(Assembly* k, const Descent* down, double m, bool hold) {
  int f = k->free_count, rows = k->n.rows, columns = f + down->open_count, rank;
  size_t of_d = (size_t)rows * (size_t)f, of_e = (size_t)rows * (size_t)down->open_count;
  memcpy(down->A, k->B, of_d * sizeof(double));
  memset(down->A + of_d, 0, of_e * sizeof(double));
  for (int i = 0; i < rows; i++) {
    bool open = down->slack[i] >= 0;
    k->c[i] = open && hold ? 0.0 : -k->residual[i];
    if (open) {
      down->A[i + (f + down->slack[i]) * rows] = sqrt(m);
    }
  }
  PAWL_TRY(pawl_dense_pseudoinverse(rows, columns, down->A, PAWL_DEPENDENT, down->A_, &rank));
  change_of(k, down->A_, columns);
  add_change(k);
  move(k, POSITION);
  PAWL_TRY(evaluate(k, NULL));
  measure(k, POSITION);
  return prepare(k);
}

// One step, which counts if the squares fall; *m follows.
static PawlStatus descend_once(Assembly* k, const Descent* down, double* m, double* squares) {
  enum { HOLDING = 3 };
  size_t q = (size_t)k->n.q * sizeof(double), v = (size_t)k->n.v * sizeof(double);
  memcpy(down->q, k->state->q, q);
  memcpy(down->change, k->change, v);
  for (int n = 0; n <= HOLDING; n++) {
    PAWL_TRY(move_down(k, down, *m, n > 0));
  }
  bool falls = sum_of_squares(k) < *squares;
  *m *= falls ? 0.25 : 4.0;
  if (falls) {
    *squares = sum_of_squares(k);
    return PAWL_OK;
  }
  memcpy(k->state->q, down->q, q);
  memcpy(k->change, down->change, v);
  PAWL_TRY(evaluate(k, NULL));
  measure(k, POSITION);
  return prepare(k);
}

// Where links are stretched to a line nothing says to which side they give way: each coordinate
// moves by what the rows are off, at most by half, to a side of its own and of the try.      (K4)
static PawlStatus nudge(Assembly* k, int try) {
  static const double GOLDEN = 0.6180339887498949;
  double off = sqrt(sum_of_squares(k));
  for (int j = 0; j < k->n.v; j++) {
    double column = 0.0, side = fmod(GOLDEN * (try * k->free_count + k->place[j] + 1), 1.0) - 0.5;
    for (int p = k->G.start[j]; p < k->G.start[j + 1]; p++) {
      column += k->asked[k->G.index[p]] ? k->values->G[p] * k->values->G[p] : 0.0;
    }
    if (k->place[j] >= 0) {
      k->d[k->place[j]] = side * (off < sqrt(column) ? off / sqrt(column) : 1.0);
    }
  }
  move(k, POSITION);
  PAWL_TRY(evaluate(k, NULL));
  measure(k, POSITION);
  return PAWL_OK;
}

// Goes down by (K3) until Newton's method is near enough, from another place near by if it is not
// the first try. PAWL_ERROR_RUN: it is not.
static PawlStatus descend(Assembly* k, int try) {
  Descent down = {0};
  double m = 0.0;
  choose_free(k, POSITION);
  memset(k->change, 0, (size_t)k->n.v * sizeof(double));
  PAWL_TRY(evaluate(k, NULL));
  measure(k, POSITION);
  if (try > 0) {
    PAWL_TRY(nudge(k, try));
  }
  PAWL_TRY(begin_descent(k, &down, NULL));
  PAWL_TRY(prepare(k));
  for (int i = 0; i < k->n.rows; i++) {
    m = fmax(m, down.slack[i] >= 0 ? 4.0 * row_square(k, i) : 0.0);
  }
  double squares = sum_of_squares(k), enough = PAWL_NEAR_GUESS * PAWL_NEAR_GUESS * squares;
  for (int n = 0; n < MOST_DOWN && squares > enough; n++) {
    PAWL_TRY(descend_once(k, &down, &m, &squares));
  }
  return squares <= enough ? PAWL_OK : PAWL_ERROR_RUN;
}

// Down, and then by Newton's method; PAWL_ERROR_RUN: that ends somewhere else.
static PawlStatus solve_from_afar(Assembly* k, bool plain, int try) {
  memcpy(k->state->q, k->stated, (size_t)k->n.q * sizeof(double));
  PawlStatus status = descend(k, try);
  return status ? status : newton(k, POSITION, (Way){.plain = plain}, NULL);
}

static bool ends(PawlStatus status) {
  return status == PAWL_OK || status == PAWL_ERROR_MEMORY;
}

// A guess that is far away goes down first. If that ends somewhere else, Newton's method begins
// with the guess all the same. Where constraints are curved as far as the guess is away, neither
// way to the least change has an end; then the last steps are the least by themselves, at last from
// places near by.
static PawlStatus solve_positions(Assembly* k, PawlError* err) {
  size_t bytes = (size_t)k->n.q * sizeof(double);
  memcpy(k->stated, k->state->q, bytes);
  bool down = k->def->any_metric && k->n.rows <= MOST_ROWS_DOWN && k->def->nearly == 0.0;
  PawlStatus status = solve_level(k, POSITION, (Way){.judge = down}, err);
  PawlStatus far = PAWL_ERROR_RUN;
  if (status == PAWL_RETRY) {
    far = solve_from_afar(k, false, 0);
    if (!ends(far)) {
      memcpy(k->state->q, k->stated, bytes);
      status = solve_level(k, POSITION, (Way){0}, err);
    }
  }
  for (int try = 0; down && try <= MOST_NUDGES && !ends(far) && !ends(status); try++) {
    far = solve_from_afar(k, true, try);
  }
  return far == PAWL_ERROR_MEMORY ? pawl_fail_memory(err) : far == PAWL_OK ? PAWL_OK : status;
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
  k->stated = PAWL_NEW(arena, double, k->n.q);
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
                     "the start cannot be %s: at most %d coordinates may change", k->def->how[0],
                     PAWL_ASSEMBLY_MOST);
  }
  PAWL_TRY(allocate(k, err));
  PAWL_TRY(pawl_eval_create(
      k->system, PAWL_MASS | PAWL_POSITION | PAWL_GRADIENT | PAWL_TIME_GRADIENT, &k->eval, err));
  k->values = pawl_eval_values(k->eval);
  PAWL_TRY(solve_positions(k, err));
  return solve_level(k, VELOCITY, (Way){0}, err);
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
