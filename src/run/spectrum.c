// SPDX-License-Identifier: Apache-2.0
// Eigenvalues of a linear system in one set of modes. The constraints alone give C a zero of twice
// their number, with Jordan blocks that an eigenvalue solver would tear apart; so the solver only
// sees the motion that the constraints leave free, in coordinates in which the mass matrix is 1,
// and the structure of zero comes from ranks (docs/theory/linear.md, L15 to L19).
#include "run/spectrum.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/exponential.h"
#include "linalg/lapack.h"
#include "pawl/equilibrium.h"
#include "switch/tolerances.h"
#include "system/linear.h"
#include "system/system.h"

// Real parts below this many times eps, beside the norm of the matrix, are rounding.
static const double REAL_ROUNDING = 100.0;

// ---- matrices -----------------------------------------------------------------------------------
// out = T^T X T
static PawlStatus into_basis(PawlAnalysis* a, const double* X, double* out) {
  size_t n = (size_t)a->n;
  const double* T = a->reduction.T;
  double* XT = PAWL_NEW(&a->arena, double, n* n);
  if (!XT) {
    return PAWL_ERROR_MEMORY;
  }
  pawl_dense_multiply(a->n, X, T, XT);
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < n; i++) {
      double sum = 0.0;
      for (size_t k = 0; k < n; k++) {
        sum += T[k + i * n] * XT[k + j * n];
      }
      out[i + j * n] = sum;
    }
  }
  return PAWL_OK;
}

static double largest(size_t count, const double* X) {
  double most = 0.0;
  for (size_t i = 0; i < count; i++) {
    most = fmax(most, fabs(X[i]));
  }
  return most;
}

// [0 I; -K/rate^2, -D/rate] with the rows from `free` on left out of K and D, and `raise` added to
// K (NULL: nothing); `size` coordinates of the n are taken. For size = n this is C in the basis T,
// for size = free the motion left free.
static void fill(const PawlAnalysis* a, int size, const double* raise, double* C) {
  size_t n = (size_t)a->n, m = (size_t)size, N = 2 * m;
  memset(C, 0, N * N * sizeof *C);
  for (size_t j = 0; j < m; j++) {
    C[j + (m + j) * N] = 1.0;
    for (size_t i = 0; i < (size_t)a->free; i++) {
      C[m + i + j * N] = -a->K[i + j * n] / a->rate / a->rate;
      C[m + i + (m + j) * N] = -a->D[i + j * n] / a->rate;
    }
    for (size_t i = 0; raise && j < (size_t)a->free && i < (size_t)a->free; i++) {
      C[m + i + j * N] -= raise[i + j * (size_t)a->free];
    }
  }
}

static PawlStatus prepare(PawlAnalysis* a) {
  size_t n = (size_t)a->n, N = 2 * (size_t)a->free;
  a->K = PAWL_NEW(&a->arena, double, n* n);
  a->D = PAWL_NEW(&a->arena, double, n* n);
  a->C = PAWL_NEW(&a->arena, double, N* N);
  a->real = PAWL_NEW(&a->arena, double, N);
  a->imaginary = PAWL_NEW(&a->arena, double, N);
  a->vectors = PAWL_NEW(&a->arena, double, N* N);
  if (!a->K || !a->D || !a->C || !a->real || !a->imaginary || !a->vectors) {
    return PAWL_ERROR_MEMORY;
  }
  PAWL_TRY(into_basis(a, a->reduction.K, a->K));
  PAWL_TRY(into_basis(a, a->reduction.D, a->D));
  double rate = fmax(sqrt(largest(n * n, a->K)), largest(n * n, a->D));
  a->rate = rate > 0.0 && isfinite(rate) ? ldexp(1.0, ilogb(rate)) : 1.0;
  fill(a, a->free, NULL, a->C);
  a->norm = (double)N * largest(N * N, a->C);
  return PAWL_OK;
}

// ---- zero ---------------------------------------------------------------------------------------
// X = (I - N N^T) C with N a basis of ker C^k: what C makes of a vector that is not in ker C^k.
static void project(int size, int dimension, const double* C, const double* N, double* X) {
  size_t n = (size_t)size;
  memcpy(X, C, n * n * sizeof *X);
  for (size_t j = 0; j < n; j++) {
    for (size_t k = 0; k < (size_t)dimension; k++) {
      double sum = 0.0;
      for (size_t i = 0; i < n; i++) {
        sum += N[i + k * n] * C[i + j * n];
      }
      for (size_t i = 0; i < n; i++) {
        X[i + j * n] -= N[i + k * n] * sum;
      }
    }
  }
}

// A basis of the vectors that X takes to less than `tolerance` times their length.
static PawlStatus null_space(int size, const double* X, double tolerance, double* N,
                             int* dimension) {
  size_t n = (size_t)size;
  PawlArena arena = {0};
  PawlSvd svd;
  PawlStatus status = pawl_svd(&arena, size, size, X, &svd);
  for (size_t k = n; status == PAWL_OK && k > 0 && svd.s[k - 1] <= tolerance; k--) {
    for (size_t i = 0; i < n; i++) {
      N[i + (n - k) * n] = svd.Vt[k - 1 + i * n];
    }
    *dimension = (int)(n - k) + 1;
  }
  pawl_arena_free(&arena);
  return status;
}

// Ranks of the powers of C, without forming powers: ker C^(k+1) = ker (I - N N^T) C.        (L17)
static PawlStatus find_ranks(PawlAnalysis* a) {
  PawlSpectrum* s = &a->out->spectrum;
  int size = 2 * a->n, dimension = 0, rank;
  size_t entries = (size_t)size * (size_t)size;
  double* C = PAWL_NEW(&a->arena, double, entries);
  double* X = PAWL_NEW(&a->arena, double, entries);
  double* N = PAWL_NEW(&a->arena, double, entries);
  double* values = PAWL_NEW(&a->arena, double, size);
  int* ranks = PAWL_NEW(&a->out->arena, int, (size_t)size + 1);
  if (!C || !X || !N || !values || !ranks) {
    return PAWL_ERROR_MEMORY;
  }
  fill(a, a->n, a->raise, C);
  PAWL_TRY(pawl_dense_rank(size, size, C, PAWL_NO_SINGULAR_VALUE, &rank, values));
  double tolerance = size > 0 ? PAWL_NO_SINGULAR_VALUE * values[0] : 0.0;
  s->ranks = ranks;
  for (int last = -1; last != dimension && dimension < size;) {
    last = dimension;
    project(size, dimension, C, N, X);
    PAWL_TRY(null_space(size, X, tolerance, N, &dimension));
    ranks[s->rank_count++] = size - dimension;
  }
  // The integrals of states, on which nothing depends, add as many zeros.                  (Z8)
  s->algebraic = dimension - a->states;
  s->geometric = s->rank_count > 0 ? size - ranks[0] - a->states : 0;
  bool more = s->algebraic > 2 * s->rank;
  if (a->states > 0 && s->geometric < s->rank + more) {
    s->geometric = s->rank + more;  // a state that only integrates is a zero of its own
  }
  s->regular = s->algebraic == 2 * s->rank && s->geometric == s->rank;
  fill(a, a->free, a->raise, C);
  PAWL_TRY(pawl_dense_rank(2 * a->free, 2 * a->free, C, PAWL_NO_SINGULAR_VALUE, &rank, NULL));
  a->chains = 2 * a->free - rank;
  a->zeros = dimension - 2 * s->rank;
  return PAWL_OK;
}

// ---- eigenvalues --------------------------------------------------------------------------------
static PawlStatus find_eigenvalues(PawlAnalysis* a) {
  return pawl_softness_undamped(a)
             ? pawl_softness_eigenvalues(a)
             : pawl_eigenvalues(2 * a->free, a->C, a->real, a->imaginary, a->vectors);
}

// Zeros as many as the ranks say, those that are smallest; real parts that are rounding.
static PawlStatus clean(PawlAnalysis* a) {
  int count = 2 * a->free;
  bool* zero = PAWL_NEW(&a->arena, bool, count);
  if (!zero) {
    return PAWL_ERROR_MEMORY;
  }
  for (int zeros = 0; zeros < a->zeros && zeros < count; zeros++) {
    int smallest = -1;
    double least = INFINITY;
    for (int k = 0; k < count; k++) {
      double size = hypot(a->real[k], a->imaginary[k]);
      if (!zero[k] && size < least) {
        least = size;
        smallest = k;
      }
    }
    if (smallest < 0) {
      return PAWL_RETRY;  // NaN
    }
    zero[smallest] = true;
    a->real[smallest] = a->imaginary[smallest] = 0.0;
  }
  double rounding = REAL_ROUNDING * DBL_EPSILON * a->norm;
  for (int k = 0; k < count; k++) {
    if (a->imaginary[k] != 0.0 && fabs(a->real[k]) <= rounding) {
      a->real[k] = 0.0;
    }
  }
  return PAWL_OK;
}

typedef struct Value {
  double real, imaginary;
} Value;

static int by_size(const void* a, const void* b) {
  const Value *x = a, *y = b;
  double dx = hypot(x->real, x->imaginary), dy = hypot(y->real, y->imaginary);
  double keys[3] = {dx - dy, x->real - y->real, y->imaginary - x->imaginary};
  for (int k = 0; k < 3; k++) {
    if (keys[k] != 0.0) {
      return keys[k] < 0.0 ? -1 : 1;
    }
  }
  return 0;
}

// Those of the free motion, and two zeros for each row.                                    (L16)
static PawlStatus list_eigenvalues(PawlAnalysis* a) {
  PawlSpectrum* s = &a->out->spectrum;
  size_t count = 2 * (size_t)a->n;
  Value* values = PAWL_NEW(&a->arena, Value, count);
  double* real = PAWL_NEW(&a->out->arena, double, count);
  double* imaginary = PAWL_NEW(&a->out->arena, double, count);
  if (!values || !real || !imaginary) {
    return PAWL_ERROR_MEMORY;
  }
  for (int k = 0; k < 2 * a->free; k++) {
    values[k] = (Value){a->rate * a->real[k], a->rate * a->imaginary[k]};
  }
  qsort(values, count, sizeof *values, by_size);
  for (size_t k = (size_t)a->states; k < count; k++) {  // the least are zeros
    real[k - (size_t)a->states] = values[k].real;
    imaginary[k - (size_t)a->states] = values[k].imaginary;
  }
  s->eigenvalue_count = (int)count - a->states;
  s->real = real;
  s->imaginary = imaginary;
  return PAWL_OK;
}

// ---- all ----------------------------------------------------------------------------------------
// There is no smaller step to try.
static PawlStatus final(PawlStatus status, PawlError* err) {
  PawlStatus lasting = status == PAWL_RETRY ? PAWL_ERROR_RUN : status;
  if (err) {
    err->status = lasting;
  }
  return lasting;
}

// About `point` with the rows of `active`; without (NULL) that of a linear system in `modes`.
static PawlStatus analyse(PawlAnalysis* a, const PawlSystem* system, const int* modes, double t,
                          const PawlPoint* point, const unsigned char* active, PawlError* err) {
  PawlEval* eval;
  PawlStatus status = pawl_reduction_create(&a->arena, system, &a->reduction);
  if (status != PAWL_OK) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_eval_create(system, PAWL_REDUCTION_MASK, &eval, err));
  status = point ? pawl_reduction_at(system, eval, point, active, &a->reduction, err)
                 : pawl_reduction_at_zero(system, eval, t, modes, NULL, NULL, &a->reduction, err);
  pawl_eval_destroy(eval);
  if (status != PAWL_OK) {
    return final(status, err);
  }
  PawlSpectrum* s = &a->out->spectrum;
  a->n = a->reduction.n;
  a->states = pawl_system_sizes(system).states;
  a->blur = point && pawl_system_linearity(system, NULL) == PAWL_NONLINEAR ? PAWL_NO_SINGULAR_VALUE
                                                                           : PAWL_STIFF_ROUNDING;
  s->coordinates = a->n - a->states;
  s->rank = a->reduction.rank;
  a->free = a->n - s->rank;
  status = prepare(a);
  status = status ? status : pawl_softness_find(a);
  status = status ? status : find_ranks(a);
  status = status ? status : find_eigenvalues(a);
  status = status ? status : clean(a);
  status = status ? status : list_eigenvalues(a);
  status = status ? status : pawl_spectrum_oscillators(a);
  if (status == PAWL_RETRY) {
    return pawl_fail(err, PAWL_ERROR_RUN, "the eigenvalues of '%s' could not be computed",
                     pawl_system_name(system));
  }
  return status == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
}

static PawlStatus check_linear(const PawlSystem* system, PawlError* err) {
  const char* why;
  if (pawl_system_linearity(system, &why) != PAWL_NONLINEAR) {
    return PAWL_OK;
  }
  return why ? pawl_fail(err, PAWL_ERROR_USAGE,
                         "a spectrum is that of a linear system, and '%s' is not linear: %.300s",
                         pawl_system_name(system), why)
             : pawl_fail_memory(err);
}

// A rate equation A v + b(q) = 0 has another matrix than (L15).
static PawlStatus check_rates(const PawlSystem* system, const PawlPoint* point, PawlError* err) {
  PawlEval* eval;
  const PawlPattern* G = &system->G;
  PAWL_TRY(pawl_eval_create(system, PAWL_VELOCITY_TANGENT, &eval, err));
  PawlStatus status = pawl_eval_run(eval, point, err);
  for (int k = 0; status == PAWL_OK && k < G->start[system->sizes.v]; k++) {
    int number, row = G->index[k];
    if (pawl_eval_values(eval)->G_rate[k] != 0.0 &&
        pawl_system_row_is_rate(system, row, point->modes)) {
      status = pawl_fail(err, PAWL_ERROR_USAGE,
                         "'%s' has no spectrum: the rate equation '%s' depends on coordinates at "
                         "rest, too",
                         pawl_system_name(system), pawl_system_row_name(system, row, &number));
    }
  }
  pawl_eval_destroy(eval);
  return final(status, err);
}

static PawlStatus check_rates_in(const PawlSystem* system, const int* modes, double t,
                                 PawlError* err) {
  PawlSizes n = system->sizes;
  double* zeros = pawl_alloc((size_t)n.v + (size_t)n.rows, sizeof(double));
  PawlPoint point = {.t = t, .q = zeros, .v = zeros, .a = zeros, .lambda = zeros, .modes = modes};
  PawlStatus status = zeros ? check_rates(system, &point, err) : pawl_fail_memory(err);
  pawl_free(zeros);
  return status;
}

static PawlStatus check_size(const PawlSystem* system, PawlError* err) {
  int n = pawl_system_sizes(system).v;
  return n <= PAWL_SPECTRUM_MOST
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_USAGE,
                         "'%s' has %d coordinates; a spectrum is computed for up to %d",
                         pawl_system_name(system), n, PAWL_SPECTRUM_MOST);
}

static PawlStatus create(const PawlSystem* system, const int* modes, double t,
                         const PawlPoint* point, const unsigned char* active, PawlSpectrum** out,
                         PawlError* err) {
  PAWL_TRY(check_size(system, err));
  if (system->rates) {
    PAWL_TRY(point ? check_rates(system, point, err) : check_rates_in(system, modes, t, err));
  }
  PawlWholeSpectrum* whole = pawl_alloc(1, sizeof *whole);
  if (!whole) {
    return pawl_fail_memory(err);
  }
  PawlAnalysis a = {.out = whole};
  PawlStatus status = analyse(&a, system, modes, t, point, active, err);
  pawl_arena_free(&a.arena);
  if (status != PAWL_OK) {
    pawl_spectrum_destroy(&whole->spectrum);
    return status;
  }
  *out = &whole->spectrum;
  return PAWL_OK;
}

PawlStatus pawl_spectrum_create(const PawlSystem* system, const int* modes, double t,
                                PawlSpectrum** out, PawlError* err) {
  *out = NULL;
  PAWL_TRY(check_linear(system, err));
  return create(system, modes, t, NULL, NULL, out, err);
}

PawlStatus pawl_spectrum_at(const PawlSystem* system, const PawlEquilibrium* equilibrium,
                            PawlSpectrum** out, PawlError* err) {
  *out = NULL;
  if (equilibrium->kink) {
    return pawl_fail(err, PAWL_ERROR_RUN,
                     "'%s' rests in a kink of its forces: small motions about it have no "
                     "frequencies",
                     pawl_system_name(system));
  }
  return create(system, equilibrium->point.modes, equilibrium->point.t, &equilibrium->point,
                equilibrium->active, out, err);
}

void pawl_spectrum_destroy(PawlSpectrum* spectrum) {
  if (spectrum) {
    PawlWholeSpectrum* whole = (PawlWholeSpectrum*)spectrum;  // its first member
    pawl_arena_free(&whole->arena);
    pawl_free(whole);
  }
}

const char* pawl_damping_name(PawlDamping damping) {
  static const char* const names[] = {[PAWL_DAMPING_NONE] = "none",
                                      [PAWL_DAMPING_UNDAMPED] = "undamped",
                                      [PAWL_DAMPING_UNDERDAMPED] = "underdamped",
                                      [PAWL_DAMPING_CRITICAL] = "critically damped",
                                      [PAWL_DAMPING_OVERDAMPED] = "overdamped",
                                      [PAWL_DAMPING_UNSTABLE] = "unstable",
                                      [PAWL_DAMPING_MIXED] = "mixed"};
  return (unsigned)damping < sizeof names / sizeof *names ? names[damping] : "";
}
