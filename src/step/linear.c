// SPDX-License-Identifier: Apache-2.0
// taylor and exponential: linear systems by one matrix product a step (docs/theory/linear.md). The
// matrix takes z = (q, v) and 1 to z, v' and lambda at the end of the step. It is made once for
// each set of modes and step size and kept. Coefficients that depend on time: the step of rk4,
// which is the paper's.
//
// Results are stored as the state has them, q, v, v', lambda, and computed in panels of eight rows,
// which stay in registers.
#include "system/linear.h"

#include <math.h>
#include <string.h>

#include "base/copy.h"
#include "linalg/exponential.h"
#include "step/method.h"
#include "step/reduction.h"
#include "switch/tolerances.h"
#include "system/system.h"

enum {
  PANEL = 8,
  KEPT_SIZES = 3,  // step sizes kept for each set of modes, one of them the nominal one
  MOST_MODES = 16,
  LARGEST = 256,  // coordinates: the matrices are full
};
static const double MOST_BYTES = 256e6;  // of all that is kept, as long as two sets of modes fit

typedef struct Factor {  // W of one step size
  double h;              // 0: none
  double* W;             // panels: row block, column, row in block
} Factor;

typedef struct Kept {  // what is kept for a set of modes
  PawlArena arena;
  bool complete;          // what follows is that of `modes`
  int* modes;             // NULL: no memory yet
  double* inputs;         // the coefficients and forces are those of these
  unsigned char* active;  // rows in force
  long long used;         // when last
  PawlReduction reduction;
  double* AL;                      // [A; L] in panels, as W
  double norm;                     // of C, the largest sum of a row [1/s]
  double fastest;                  // of C, the largest absolute eigenvalue, nearly [1/s]
  Factor factors[KEPT_SIZES + 1];  // the first is that of the nominal h, the last is for any other
  long long factor_used[KEPT_SIZES + 1];
} Kept;

typedef struct Linear {
  bool in_time;
  void* rk4;          // data of rk4, where it takes the steps
  int degree;         // of the series; 0: exponential
  int n, m, outputs;  // outputs: 3 n + m, those of a state
  int moving;         // of the n: those behind are states, whose integral does not count
  int panels, pairs;  // of W: whole panels, and the pairs of rows that are computed
  int watches;        // further outputs: what is watched, where that is affine
  double* watch;  // watches-by-(3n+m+1), by columns: from (q, v, v', lambda, 1)             (L23)
  int phase_count;
  Kept phases[MOST_MODES];
  Kept* kept;            // of the last step, NULL after a start
  const Factor* factor;  // of the last step
  long long clock;
  PawlEval* eval;
  double *augmented, *E, *room;  // (2n+1)-by-(2n+1), and the exponential's workspace
  int* pivots;
  double *z, *y;               // input and output of a step, y with whole panels
  double *y_lambda, *y_watch;  // in y: multipliers; what is watched, NULL where y has not all of it
  double *term, *next_term;    // 2n+1 and more, for whole panels: of a series
  double *rate, *watch_rate;   // 3n+m, watches: rates at the end that was peeked at
} Linear;

static int panels_of(int rows) {
  return (rows + PANEL - 1) / PANEL;
}

// ---- products -----------------------------------------------------------------------------------
// Two numbers side by side: left to itself, the compiler pairs columns and shuffles.
typedef double Pair __attribute__((vector_size(16)));
enum { PAIRS = PANEL / 2 };

static inline Pair load(const double* from) {
  Pair pair;
  memcpy(&pair, from, sizeof pair);
  return pair;
}

// y = W [z; last], the first `pairs` of one panel; returns zeros where these are finite, else NaN.
PAWL_INLINE Pair multiply_panel(int pairs, int columns, const double* restrict W,
                                const double* restrict z, double last, double* restrict y) {
  const double* constant = W + (size_t)columns * PANEL;
  Pair check = {0.0, 0.0}, sum[PAIRS], of = {last, last};
  for (int i = 0; i < pairs; i++) {
    sum[i] = of * load(constant + 2 * i);
  }
  do {  // there is a coordinate, and so a column
    Pair z_j = {*z, *z};
    for (int i = 0; i < pairs; i++) {
      sum[i] += z_j * load(W + 2 * i);
    }
    W += PANEL;
    z++;
  } while (W < constant);
  for (int i = 0; i < pairs; i++) {
    memcpy(y + 2 * i, &sum[i], sizeof sum[i]);
    check += sum[i] - sum[i];
  }
  return check;
}

// y = W [z; last] by panels, `pairs` of rows in all; returns 0 when all of it is finite, else NaN.
// What is left of the last panel is not computed.                                           (L11)
PAWL_INLINE double multiply(int columns, int pairs, const double* restrict W,
                            const double* restrict z, double last, double* restrict y) {
  Pair check = {0.0, 0.0};
  for (; pairs > PAIRS; pairs -= PAIRS, y += PANEL, W += ((size_t)columns + 1) * PANEL) {
    check += multiply_panel(PAIRS, columns, W, z, last, y);
  }
  switch (pairs) {
    case 1:
      check += multiply_panel(1, columns, W, z, last, y);
      break;
    case 2:
      check += multiply_panel(2, columns, W, z, last, y);
      break;
    case 3:
      check += multiply_panel(3, columns, W, z, last, y);
      break;
    default:
      check += multiply_panel(PAIRS, columns, W, z, last, y);
  }
  return check[0] + check[1];
}

// ---- creating -----------------------------------------------------------------------------------
// For coefficients that depend on time: rk4 with its own data.
static PawlStatus create_rk4(PawlStepper* s, Linear* d, PawlError* err) {
  s->data = NULL;
  PawlStatus status = pawl_method_rk4.create(s, err);
  d->rk4 = s->data;
  s->data = d;
  return status;
}

static PawlStatus allocate(PawlStepper* s, Linear* d, PawlError* err) {
  size_t N = 2 * (size_t)d->n + 1;
  d->augmented = PAWL_NEW(&s->arena, double, N* N);
  d->E = PAWL_NEW(&s->arena, double, N* N);
  d->room = PAWL_NEW(&s->arena, double, pawl_exponential_room((int)N));
  d->pivots = PAWL_NEW(&s->arena, int, N);
  d->z = PAWL_NEW(&s->arena, double, N);
  d->y = PAWL_NEW(&s->arena, double, PANEL * d->panels);
  d->y_lambda = d->y ? d->y + 3 * d->n : NULL;
  d->y_watch = d->y && d->watches == s->system->watch_count ? d->y + d->outputs : NULL;
  d->term = PAWL_NEW(&s->arena, double, N + PANEL);
  d->next_term = PAWL_NEW(&s->arena, double, N + PANEL);
  d->rate = PAWL_NEW(&s->arena, double, d->outputs + PANEL);
  d->watch_rate = PAWL_NEW(&s->arena, double, d->watches);
  if (s->arena.failed) {
    return pawl_fail_memory(err);
  }
  double bytes = (KEPT_SIZES + 1.0) * PANEL * d->panels * (double)N * sizeof(double);
  d->phase_count = (int)fmax(2.0, fmin(MOST_MODES, MOST_BYTES / bytes));
  return pawl_eval_create(s->system, PAWL_REDUCTION_MASK, &d->eval, err);
}

// The coefficients of what is watched, column by column from unit vectors.
static PawlStatus read_watches(PawlStepper* s, Linear* d, PawlError* err) {
  size_t columns = (size_t)d->outputs + 1, count = (size_t)s->system->watch_count;
  double* x = PAWL_NEW(&s->arena, double, columns);
  int* modes = PAWL_NEW(&s->arena, int, s->sizes.modes);
  PawlEval* eval = NULL;
  d->watch = PAWL_NEW(&s->arena, double, count* columns);
  if (!x || !modes || !d->watch) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_eval_create(s->system, PAWL_WATCHES, &eval, err));
  size_t n = (size_t)d->n;
  PawlPoint point = {0.0, x, x + n, x + 2 * n, x + 3 * n, modes, NULL};
  PawlStatus status = PAWL_OK;
  const double* watch = pawl_eval_values(eval)->watch;
  double* constant = d->watch + (columns - 1) * count;
  for (size_t j = columns; status == PAWL_OK && j-- > 0;) {  // the constant first
    x[j] = j < columns - 1 ? 1.0 : 0.0;
    status = pawl_eval_run(eval, &point, err);
    x[j] = 0.0;
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
      d->watch[i + j * count] = j < columns - 1 ? watch[i] - constant[i] : watch[i];
    }
  }
  d->watches = status == PAWL_OK ? (int)count : 0;
  pawl_eval_destroy(eval);
  return status == PAWL_RETRY ? PAWL_OK : status;  // outside a domain: they are looked at as usual
}

static PawlStatus create(PawlStepper* s, int degree, PawlError* err) {
  PawlLinearity linearity = pawl_system_linearity(s->system, NULL);
  if (linearity == PAWL_NONLINEAR) {
    return pawl_fail_memory(err);  // it is linear, or the method would not have been taken
  }
  Linear* d = PAWL_NEW(&s->arena, Linear, 1);
  if (!d) {
    return pawl_fail_memory(err);
  }
  s->data = d;
  d->degree = degree;
  d->n = s->sizes.v;
  d->moving = pawl_moving(s->sizes);
  d->m = s->sizes.rows;
  d->outputs = 3 * d->n + d->m;
  d->in_time = linearity == PAWL_LINEAR_IN_TIME;
  bool watches = !d->in_time && s->system->watch_count > 0;
  int affine = watches ? pawl_system_watches_affine(s->system) : 0;
  if (affine < 0) {
    return pawl_fail_memory(err);
  }
  if (affine) {
    PAWL_TRY(read_watches(s, d, err));
  }
  d->panels = panels_of(d->outputs + d->watches);
  d->pairs = (d->outputs + d->watches + 1) / 2;
  return d->in_time ? create_rk4(s, d, err) : allocate(s, d, err);
}

static PawlStatus create_taylor(PawlStepper* s, PawlError* err) {
  return create(s, s->def.order, err);
}

static PawlStatus create_exponential(PawlStepper* s, PawlError* err) {
  return create(s, 0, err);
}

static void destroy(PawlStepper* s) {
  Linear* d = s->data;
  if (d->rk4) {
    s->data = d->rk4;
    pawl_method_rk4.destroy(s);
    s->data = d;
  }
  for (int k = 0; k < d->phase_count; k++) {
    pawl_arena_free(&d->phases[k].arena);
  }
  pawl_eval_destroy(d->eval);
}

// ---- the matrix of a step -----------------------------------------------------------------------
// The augmented matrix h [C c; 0 0], which acts on (z, 1).                                 (L10)
static void augment(const Linear* d, const PawlReduction* r, double h) {
  size_t n = (size_t)d->n, N = 2 * n + 1;
  double* X = d->augmented;
  memset(X, 0, N * N * sizeof *X);
  for (size_t j = 0; j < (size_t)d->moving; j++) {
    X[j + (n + j) * N] = h;
  }
  for (size_t j = 0; j <= 2 * n; j++) {
    for (size_t i = 0; i < n; i++) {
      X[n + i + j * N] = h * r->A[i + j * n];
    }
  }
}

static double* panel_entry(const Linear* d, double* W, size_t row, size_t column) {
  size_t columns = 2 * (size_t)d->n + 1;
  return &W[(row / PANEL * columns + column) * PANEL + row % PANEL];
}

// W = [Phi phi; A Phi, A phi + a0; L Phi, L phi + l0], from E = [Phi phi; 0 1].            (L11)
static void fill_panels(const Linear* d, const PawlReduction* r, double* W) {
  size_t n = (size_t)d->n, m = (size_t)d->m, N = 2 * n + 1;
  for (size_t j = 0; j < N; j++) {
    const double* phi = d->E + j * N;
    for (size_t i = 0; i < 2 * n; i++) {
      *panel_entry(d, W, i, j) = phi[i];
    }
    for (size_t i = 0; i < n + m; i++) {
      const double* row = i < n ? r->A + i : r->L + (i - n);
      size_t stride = i < n ? n : m;
      double sum = 0.0;
      for (size_t k = 0; k < 2 * n; k++) {
        sum += row[k * stride] * phi[k];
      }
      *panel_entry(d, W, 2 * n + i, j) = sum + (j == 2 * n ? row[2 * n * stride] : 0.0);
    }
    for (size_t i = 0; i < (size_t)d->watches; i++) {
      double sum = j == 2 * n ? d->watch[i + (size_t)d->outputs * (size_t)d->watches] : 0.0;
      for (size_t k = 0; k < (size_t)d->outputs; k++) {
        sum += d->watch[i + k * (size_t)d->watches] * *panel_entry(d, W, k, j);
      }
      *panel_entry(d, W, (size_t)d->outputs + i, j) = sum;
    }
  }
}

static PawlStatus make_factor(PawlStepper* s, const PawlReduction* r, double h, Factor* factor,
                              PawlError* err) {
  Linear* d = s->data;
  int N = 2 * d->n + 1;
  augment(d, r, h);
  s->dynamics.info.factorizations++;
  PawlStatus status = d->degree > 0
                          ? pawl_exponential_series(N, d->augmented, d->degree, d->E, d->room)
                          : pawl_exponential(N, d->augmented, d->E, d->room, d->pivots);
  if (status != PAWL_OK) {
    return pawl_fail(err, PAWL_RETRY,
                     "the motion grows beyond all numbers within one step h = %g; is the step too "
                     "long, or a stiffness negative?",
                     h);
  }
  fill_panels(d, r, factor->W);
  factor->h = h;
  return PAWL_OK;
}

// ---- a step that is taken once
// --------------------------------------------------------------------
static double norm_of(const Linear* d, const PawlReduction* r) {
  double most = 1.0;  // q' = v
  for (int i = 0; i < d->n; i++) {
    double sum = 0.0;
    for (int j = 0; j < 2 * d->n; j++) {
      sum += fabs(r->A[(size_t)i + (size_t)j * (size_t)d->n]);
    }
    most = fmax(most, sum);
  }
  return most;
}

// The panels of [A; L].
static void fill_AL(const Linear* d, const PawlReduction* r, double* AL) {
  size_t n = (size_t)d->n, m = (size_t)d->m;
  for (size_t j = 0; j <= 2 * n; j++) {
    for (size_t i = 0; i < n + m; i++) {
      *panel_entry(d, AL, i, j) = i < n ? r->A[i + j * n] : r->L[i - n + j * m];
    }
  }
}

// next = scale [C c] (x, last); x becomes scale x.
static inline void apply(const Linear* d, const Kept* p, double scale, double last,
                         double* restrict x, double* restrict next) {
  int n = d->n;
  for (int i = 0; i < 2 * n; i++) {
    x[i] *= scale;
  }
  for (int i = 0; i < n; i++) {
    next[i] = i < d->moving ? x[n + i] : 0.0;
  }
  (void)multiply(2 * n, (n + 1) / 2, p->AL, x, scale * last, next + n);
}

// By how much C lengthens a vector that has been multiplied by it many times, on average of as many
// more: two eigenvalues +-i w turn it, so that one product alone says little.                (L26)
static double fastest_of(Linear* d, const Kept* p) {
  enum { PRODUCTS = 16 };
  double growth = 0.0;
  for (int i = 0; i < 2 * d->n; i++) {
    d->term[i] = 1.0 + 1.0 / (1.0 + i);  // any
  }
  for (int k = 0; k < 2 * PRODUCTS; k++) {
    double size = 0.0;
    apply(d, p, 1.0, 0.0, d->term, d->next_term);
    for (int i = 0; i < 2 * d->n; i++) {
      size = fmax(size, fabs(d->next_term[i]));
    }
    if (!(size > 0.0) || !isfinite(size)) {
      return 0.0;
    }
    growth += k >= PRODUCTS ? log(size) : 0.0;
    for (int i = 0; i < 2 * d->n; i++) {
      d->term[i] = d->next_term[i] / size;
    }
  }
  return exp(growth / PRODUCTS);
}

// fmax is a call.
static inline double larger(double a, double b) {
  return b > a ? b : a;
}

// z(h) by the series applied to z itself: locating an instant asks for many lengths, each once.
// `pieces` parts of the length keep the terms small.                                         (L24)
static void sum_series(Linear* d, const Kept* p, double h, int pieces, double* z) {
  enum { MOST_TERMS = 30 };
  int n2 = 2 * d->n, degree = d->degree > 0 ? d->degree : MOST_TERMS;
  for (int piece = 0; piece < pieces; piece++) {
    double tau = h / pieces, largest = 0.0, size = INFINITY;
    memcpy(d->term, z, (size_t)n2 * sizeof(double));
    for (int i = 0; i < n2; i++) {
      largest = larger(largest, fabs(z[i]));
    }
    for (int k = 1; k <= degree && (d->degree > 0 || size > PAWL_LAST_TERM * largest); k++) {
      apply(d, p, tau / k, k == 1 ? 1.0 : 0.0, d->term, d->next_term);
      size = 0.0;
      for (int i = 0; i < n2; i++) {
        z[i] += d->next_term[i];
        size = larger(size, fabs(d->next_term[i]));
      }
      double* swap = d->term;
      d->term = d->next_term;
      d->next_term = swap;
    }
  }
}

// The end of such a step, to d->y; false: too long for a series, or numbers overflow.
static bool step_once(Linear* d, const Kept* p, const PawlState* state, double h) {
  enum { MOST_PIECES = 16 };
  double pieces = d->degree > 0 ? 1.0 : ceil(p->norm * h);
  int n = d->n;
  if (!(pieces <= MOST_PIECES)) {
    return false;
  }
  double* y = d->y;
  pawl_copy(n, state->q, y);
  pawl_copy(n, state->v, y + n);
  sum_series(d, p, h, pieces < 1.0 ? 1 : (int)pieces, y);
  (void)multiply(2 * n, (n + d->m + 1) / 2, p->AL, y, 1.0, y + 2 * n);
  double check = 0.0;
  for (int i = 0; i < d->outputs; i++) {
    check += y[i] - y[i];
  }
  return check == 0.0;
}

// ---- what is kept -------------------------------------------------------------------------------
static bool same_modes(const PawlStepper* s, const PawlPhase* phase, const Kept* p) {
  for (int k = 0; k < s->sizes.modes; k++) {
    if (p->modes[k] != phase->modes[k]) {
      return false;
    }
  }
  for (int k = 0; k < s->sizes.inputs; k++) {
    if (p->inputs[k] != phase->held[s->sizes.rows + k]) {
      return false;
    }
  }
  return true;
}

static bool is_phase(const PawlStepper* s, const PawlPhase* phase, const Kept* p) {
  bool same = p->complete && same_modes(s, phase, p);
  for (int i = 0; same && i < s->sizes.rows; i++) {
    same = p->active[i] == pawl_phase_binds(phase, i);
  }
  return same;
}

static PawlStatus make_room(PawlStepper* s, Kept* p, PawlError* err) {
  const Linear* d = s->data;
  size_t numbers = PANEL * (size_t)d->panels * (2 * (size_t)d->n + 1);
  bool ok = pawl_reduction_create(&p->arena, s->system, &p->reduction) == PAWL_OK;
  for (int k = 0; ok && k <= KEPT_SIZES; k++) {
    p->factors[k].W = PAWL_NEW(&p->arena, double, numbers);
    ok = p->factors[k].W != NULL;
  }
  size_t of_AL = PANEL * (size_t)panels_of(d->n + d->m) * (2 * (size_t)d->n + 1);
  p->AL = ok ? PAWL_NEW(&p->arena, double, of_AL) : NULL;
  p->active = p->AL ? PAWL_NEW(&p->arena, unsigned char, s->sizes.rows) : NULL;
  p->inputs = p->active ? PAWL_NEW(&p->arena, double, s->sizes.inputs) : NULL;
  p->modes = p->inputs ? PAWL_NEW(&p->arena, int, s->sizes.modes) : NULL;
  if (!p->modes) {
    pawl_arena_free(&p->arena);
    return pawl_fail_memory(err);
  }
  return PAWL_OK;
}

// The phase of the present modes: one that is kept, or a new one in the place of that unused for
// longest.
static PawlStatus find_phase(PawlStepper* s, const PawlPhase* phase, PawlError* err) {
  Linear* d = s->data;
  Kept* oldest = d->phases;
  for (int k = 0; k < d->phase_count; k++) {
    Kept* p = &d->phases[k];
    if (is_phase(s, phase, p)) {
      d->kept = p;
      return PAWL_OK;
    }
    oldest = p->used < oldest->used ? p : oldest;
  }
  Kept* p = oldest;
  if (!p->modes) {
    PAWL_TRY(make_room(s, p, err));
  }
  p->complete = false;
  for (int k = 0; k <= KEPT_SIZES; k++) {
    p->factors[k].h = 0.0;
  }
  PAWL_TRY(pawl_reduction_at_zero(s->system, d->eval, 0.0, phase->modes, phase->held, phase->active,
                                  &p->reduction, err));
  s->dynamics.info.evaluations++;
  memcpy(p->modes, phase->modes, (size_t)s->sizes.modes * sizeof(int));
  if (s->sizes.inputs > 0) {
    memcpy(p->inputs, phase->held + s->sizes.rows, (size_t)s->sizes.inputs * sizeof(double));
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    p->active[i] = pawl_phase_binds(phase, i);
  }
  p->norm = norm_of(d, &p->reduction);
  fill_AL(d, &p->reduction, p->AL);
  p->fastest = fastest_of(d, p);
  p->complete = true;
  d->kept = p;
  return PAWL_OK;
}

// The place for a new step size: the nominal one has its own. Any other goes to the last place
// first, and moves to one of those kept when it is asked for again: locating an event asks once.
static PawlStatus find_factor(PawlStepper* s, double h, PawlError* err) {
  Linear* d = s->data;
  Kept* p = d->kept;
  int at = h == s->def.step ? 0 : KEPT_SIZES;
  for (int k = 0; k <= KEPT_SIZES; k++) {
    at = p->factors[k].h == h ? k : at;
  }
  if (p->factors[at].h != h) {
    p->factors[at].h = 0.0;
    PAWL_TRY(make_factor(s, &p->reduction, h, &p->factors[at], err));
  } else if (at == KEPT_SIZES) {
    int oldest = 1;
    for (int k = 2; k < KEPT_SIZES; k++) {
      oldest = p->factor_used[k] < p->factor_used[oldest] ? k : oldest;
    }
    Factor moved = p->factors[at];
    p->factors[at] = p->factors[oldest];
    p->factors[oldest] = moved;
    at = oldest;
  }
  p->used = p->factor_used[at] = ++d->clock;
  d->factor = &p->factors[at];
  return PAWL_OK;
}

static PawlStatus prepare(PawlStepper* s, const PawlPhase* phase, double h, PawlError* err) {
  Linear* d = s->data;
  d->factor = NULL;
  if (!d->kept || !is_phase(s, phase, d->kept)) {
    d->kept = NULL;
    PAWL_TRY(find_phase(s, phase, err));
  }
  return find_factor(s, h, err);
}

// Makes the matrix of the nominal step ready, so that steps do not allocate.
static PawlStatus start(PawlStepper* s, const PawlPhase* phase, PawlState* state, PawlError* err) {
  Linear* d = s->data;
  d->kept = NULL;
  d->factor = NULL;
  if (!d->in_time) {
    return prepare(s, phase, s->def.step, err);
  }
  s->data = d->rk4;
  PawlStatus status = pawl_method_rk4.start(s, phase, state, err);
  s->data = d;
  return status;
}

// ---- the step -----------------------------------------------------------------------------------
static PawlStatus step_in_time(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                               PawlError* err) {
  Linear* d = s->data;
  s->data = d->rk4;
  PawlStatus status = pawl_method_rk4.step(s, phase, state, h, err);
  s->data = d;
  return status;
}

static bool is_in_one(const Linear* d, const PawlState* state) {
  const double* q = state->q;
  size_t n = (size_t)d->n;
  return state->v == q + n && state->a == q + 2 * n && state->lambda == q + 3 * n;
}

// The end of a step, to d->y; false: numbers overflow.
PAWL_INLINE bool compute(Linear* d, const double* z) {
  return multiply(2 * d->n, d->pairs, d->factor->W, z, 1.0, d->y) == 0.0;
}

PAWL_APART static const double* gather(Linear* d, const PawlState* state) {
  pawl_copy(d->n, state->q, d->z);
  pawl_copy(d->n, state->v, d->z + d->n);
  return d->z;
}

static inline void take_in_one(const Linear* d, PawlState* state, double h) {
  pawl_copy(d->outputs, d->y, state->q);
  state->t += h;
}

// Into a state whose arrays may lie apart.
PAWL_APART static void scatter(const Linear* d, PawlState* state, double h) {
  pawl_copy(d->n, d->y, state->q);
  pawl_copy(d->n, d->y + d->n, state->v);
  pawl_copy(d->n, d->y + 2 * d->n, state->a);
  pawl_copy(d->m, d->y + 3 * d->n, state->lambda);
  state->t += h;
}

static PawlStatus step(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                       PawlError* err) {
  Linear* d = s->data;
  if (d->in_time) {
    return step_in_time(s, phase, state, h, err);
  }
  if (!d->kept || !same_modes(s, phase, d->kept)) {
    PAWL_TRY(prepare(s, phase, s->def.step, err));
  }
  if (!d->factor || d->factor->h != h) {
    if (h != s->def.step && step_once(d, d->kept, state, h)) {
      scatter(d, state, h);
      return PAWL_OK;
    }
    PAWL_TRY(prepare(s, phase, h, err));
  }
  bool in_one = is_in_one(d, state);
  if (!compute(d, in_one ? state->q : gather(d, state))) {
    return pawl_fail(err, PAWL_RETRY, "t = %.10g: the motion grows beyond all numbers", state->t);
  }
  if (in_one) {
    take_in_one(d, state, h);
  } else {
    scatter(d, state, h);
  }
  return PAWL_OK;
}

// Only where the matrix is at hand: what is watched are further rows of it.
static bool peeks(PawlStepper* s, const PawlPhase* phase, const PawlState* state, double h) {
  const Linear* d = s->data;
  return d->y_watch && d->kept && d->factor && d->factor->h == h && same_modes(s, phase, d->kept) &&
         is_in_one(d, state);
}

static const double* peek(PawlStepper* s, const PawlState* state, const double** lambda) {
  Linear* d = s->data;
  *lambda = d->y_lambda;
  return compute(d, state->q) ? d->y_watch : NULL;
}

static void commit(PawlStepper* s, PawlState* state, double h) {
  take_in_one(s->data, state, h);
}

// (q, v, v', lambda)' = (v, v', A (v, v'), L (v, v')) at the end that was peeked at, and with it
// that of what is watched. (L25)
static PawlWatchRates peek_rates(PawlStepper* s) {
  Linear* d = s->data;
  int n = d->n;
  size_t count = (size_t)d->watches;
  const double* z = d->y + n;  // (v, v')
  double *rate = d->rate, *watch = d->watch_rate;
  pawl_copy(2 * n, z, rate);
  (void)multiply(2 * n, (n + d->m + 1) / 2, d->kept->AL, z, 0.0, rate + 2 * n);
  memset(watch, 0, count * sizeof(double));
  for (size_t k = 0; k < (size_t)d->outputs; k++) {
    for (size_t i = 0; rate[k] != 0.0 && i < count; i++) {
      watch[i] += d->watch[i + k * count] * rate[k];
    }
  }
  return (PawlWatchRates){watch, rate + 3 * n};
}

static double fastest(const PawlStepper* s) {
  const Linear* d = s->data;
  return d->kept ? d->kept->fastest : 0.0;
}

const PawlMethod pawl_method_taylor = {
    .info = {.name = "taylor",
             .about = "linear systems: the series of the exponential up to the power --order",
             .order = 4,
             .holds = "acceleration",
             .options = "order",
             .smooth = true,
             .linear_only = true,
             .largest = LARGEST},
    .memory_vectors = 2,  // of rk4, where it takes the steps
    .memory_rows = 1,
    .create = create_taylor,
    .destroy = destroy,
    .start = start,
    .exact = true,
    .step = step,
    .peeks = peeks,
    .peek = peek,
    .commit = commit,
    .peek_rates = peek_rates,
    .fastest = fastest,
};

// Order 4 is that of coefficients that depend on time.
const PawlMethod pawl_method_exponential = {
    .info = {.name = "exponential",
             .about = "linear systems: exact in each mode; order 4 where t enters",
             .order = 4,
             .holds = "acceleration",
             .options = "",
             .smooth = true,
             .linear_only = true,
             .largest = LARGEST},
    .memory_vectors = 2,  // of rk4, where it takes the steps
    .memory_rows = 1,
    .create = create_exponential,
    .destroy = destroy,
    .start = start,
    .exact = true,
    .step = step,
    .peeks = peeks,
    .peek = peek,
    .commit = commit,
    .peek_rates = peek_rates,
    .fastest = fastest,
};
