// SPDX-License-Identifier: Apache-2.0
// Soft motions beside stiff ones (docs/theory/linear.md, L27 to L29). A matrix of numbers with
// rounding says nothing about what is 1e-12 of its largest value, but a shape x has a stiffness of
// its own, x^T K x, known to rounding of its terms |x|^T |K| |x|: an error d of the shape counts
// with d^2. So the stiffness of soft shapes is taken from K of the model, again and again for what
// is soft among them.
#include <math.h>
#include <string.h>

#include "linalg/exponential.h"
#include "linalg/lapack.h"
#include "run/spectrum.h"
#include "switch/tolerances.h"

// Columns in the coordinates of the free motion.
typedef struct Basis {
  int count;
  double* x;  // free-by-count
} Basis;

static Basis make_basis(PawlArena* arena, int free, int count) {
  return (Basis){count, PAWL_NEW(arena, double, (size_t)free*(size_t)count)};
}

// out = T x, n-by-count, in the coordinates of the model.
static void in_model(const PawlAnalysis* a, const Basis* b, double* out) {
  size_t n = (size_t)a->n, f = (size_t)a->free;
  memset(out, 0, n * (size_t)b->count * sizeof *out);
  for (size_t j = 0; j < (size_t)b->count; j++) {
    for (size_t k = 0; k < f; k++) {
      for (size_t i = 0; i < n; i++) {
        out[i + j * n] += a->reduction.T[i + k * n] * b->x[k + j * f];
      }
    }
  }
}

// B = X^T K Y, and the size of its terms E = |X|^T |K| |Y|, count-by-count.                 (L27)
static PawlStatus stiffness_of(const PawlAnalysis* a, const Basis* X, const Basis* Y, double* B,
                               double* E) {
  PawlArena arena = {0};
  size_t n = (size_t)a->n, d = (size_t)X->count;
  const double* K = a->reduction.K;
  double* left = PAWL_NEW(&arena, double, n* d);
  double* right = PAWL_NEW(&arena, double, n* d);
  double* product = PAWL_NEW(&arena, double, 2 * n);
  if (arena.failed) {
    pawl_arena_free(&arena);
    return PAWL_ERROR_MEMORY;
  }
  in_model(a, X, left);
  in_model(a, Y, right);
  for (size_t j = 0; j < d; j++) {
    memset(product, 0, 2 * n * sizeof *product);
    for (size_t k = 0; k < n; k++) {
      for (size_t i = 0; i < n; i++) {
        product[i] += K[i + k * n] * right[k + j * n];
        product[n + i] += fabs(K[i + k * n] * right[k + j * n]);
      }
    }
    for (size_t i = 0; i < d; i++) {
      double sum = 0.0, size = 0.0;
      for (size_t k = 0; k < n; k++) {
        sum += left[k + i * n] * product[k];
        size += fabs(left[k + i * n]) * product[n + k];
      }
      B[i + j * d] = sum / a->rate / a->rate;
      E[i + j * d] = size / a->rate / a->rate;
    }
  }
  pawl_arena_free(&arena);
  return PAWL_OK;
}

// ---- what has no stiffness ----------------------------------------------------------------------
// Scales rows and columns of B so that the size of its terms is 1 at most: what is left below
// PAWL_NO_SINGULAR_VALUE is rounding, and so are terms below `blur`. (L28)
static void equilibrate(int count, double blur, double* B, double* E, double* rows,
                        double* columns) {
  size_t d = (size_t)count;
  for (size_t i = 0; i < d * d; i++) {
    B[i] = E[i] > blur ? B[i] : 0.0;
  }
  for (size_t i = 0; i < d; i++) {
    double most = 0.0;
    for (size_t j = 0; j < d; j++) {
      most = fmax(most, E[i + j * d]);
    }
    rows[i] = most > 0.0 ? 1.0 / most : 1.0;
  }
  for (size_t j = 0; j < d; j++) {
    double most = 0.0;
    for (size_t i = 0; i < d; i++) {
      most = fmax(most, rows[i] * E[i + j * d]);
    }
    columns[j] = most > 0.0 ? 1.0 / most : 1.0;
    for (size_t i = 0; i < d; i++) {
      B[i + j * d] *= rows[i] * columns[j];
    }
  }
}

// Columns of length 1 at right angles, in their order; twice, so that rounding is all that is left.
static void straighten(int free, Basis* b) {
  size_t f = (size_t)free;
  for (int twice = 0; twice < 2; twice++) {
    for (size_t j = 0; j < (size_t)b->count; j++) {
      double *x = b->x + j * f, length = 0.0;
      for (size_t k = 0; k < j; k++) {
        const double* y = b->x + k * f;
        double sum = 0.0;
        for (size_t i = 0; i < f; i++) {
          sum += x[i] * y[i];
        }
        for (size_t i = 0; i < f; i++) {
          x[i] -= sum * y[i];
        }
      }
      for (size_t i = 0; i < f; i++) {
        length += x[i] * x[i];
      }
      for (size_t i = 0; i < f; i++) {
        x[i] /= length > 0.0 ? sqrt(length) : 1.0;
      }
    }
  }
}

// The columns of b by `scale` and the vectors `from` to count - 1, whose entry k is at [v * across
// + k * along].
static Basis combine(PawlArena* arena, int free, const Basis* b, const double* scale,
                     const double* vectors, int from, size_t across, size_t along) {
  size_t f = (size_t)free;
  Basis out = make_basis(arena, free, b->count - from);
  for (size_t j = 0; out.x && j < (size_t)out.count; j++) {
    for (size_t k = 0; k < (size_t)b->count; k++) {
      double part = scale[k] * vectors[(j + (size_t)from) * across + k * along];
      for (size_t i = 0; i < f; i++) {
        out.x[i + j * f] += part * b->x[i + k * f];
      }
    }
  }
  if (out.x) {
    straighten(free, &out);
  }
  return out;
}

// The part of the soft shapes that has no stiffness beside its own terms: X from the left, Y from
// the right.                                                                                 (L28)
static PawlStatus narrow(PawlArena* arena, const PawlAnalysis* a, double blur, Basis* X, Basis* Y) {
  for (int before = X->count + 1; X->count > 0 && X->count < before;) {
    size_t d = (size_t)X->count;
    double* B = PAWL_NEW(arena, double, d* d);
    double* E = PAWL_NEW(arena, double, d* d);
    double* rows = PAWL_NEW(arena, double, d);
    double* columns = PAWL_NEW(arena, double, d);
    PawlSvd svd;
    if (arena->failed) {
      return PAWL_ERROR_MEMORY;
    }
    PAWL_TRY(stiffness_of(a, X, Y, B, E));
    equilibrate(X->count, blur, B, E, rows, columns);
    PAWL_TRY(pawl_svd(arena, X->count, X->count, B, &svd));
    int stiff = 0;
    while (stiff < X->count && svd.s[stiff] > PAWL_NO_SINGULAR_VALUE) {
      stiff++;
    }
    before = X->count;
    if (stiff > 0) {
      *X = combine(arena, a->free, X, rows, svd.U, stiff, d, 1);
      *Y = combine(arena, a->free, Y, columns, svd.Vt, stiff, 1, d);
      if (!X->x || !Y->x) {
        return PAWL_ERROR_MEMORY;
      }
    }
  }
  return PAWL_OK;
}

// x of all columns without their parts along y, which has length 1.
static void take_away(int free, Basis* b, const double* y) {
  size_t f = (size_t)free;
  for (size_t j = 0; j < (size_t)b->count; j++) {
    double *x = b->x + j * f, sum = 0.0;
    for (size_t i = 0; i < f; i++) {
      sum += x[i] * y[i];
    }
    for (size_t i = 0; i < f; i++) {
      x[i] -= sum * y[i];
    }
  }
}

static size_t longest(int free, const Basis* b) {
  size_t f = (size_t)free, best = 0;
  double most = -1.0;
  for (size_t j = 0; j < (size_t)b->count; j++) {
    double length = 0.0;
    for (size_t i = 0; i < f; i++) {
      length += b->x[i + j * f] * b->x[i + j * f];
    }
    best = length > most ? j : best;
    most = fmax(length, most);
  }
  return best;
}

// A basis of what the columns of `all` reach at right angles to those of `part`, which is in their
// span: the longest of what is left, one after the other.
static Basis rest_of(PawlArena* arena, int free, const Basis* all, const Basis* part) {
  size_t f = (size_t)free, done = (size_t)part->count;
  Basis left = make_basis(arena, free, all->count), both = make_basis(arena, free, all->count);
  if (!left.x || !both.x) {
    return (Basis){0};
  }
  memcpy(left.x, all->x, f * (size_t)all->count * sizeof(double));
  memcpy(both.x, part->x, f * done * sizeof(double));
  for (size_t k = 0; k < (size_t)all->count; k++) {
    if (k >= done) {
      memcpy(both.x + k * f, left.x + longest(free, &left) * f, f * sizeof(double));
      Basis last = {1, both.x + k * f};
      straighten(free, &last);
    }
    take_away(free, &left, both.x + k * f);
  }
  straighten(free, &both);
  return (Basis){all->count - part->count, both.x + done * f};
}

PawlStatus pawl_softness_find(PawlAnalysis* a) {
  size_t f = (size_t)a->free, n = (size_t)a->n;
  double* K = PAWL_NEW(&a->arena, double, f* f);
  a->raise = NULL;
  if (!K) {
    return PAWL_ERROR_MEMORY;
  }
  for (size_t j = 0; j < f; j++) {
    for (size_t i = 0; i < f; i++) {
      K[i + j * f] = a->K[i + j * n] / a->rate / a->rate;
    }
  }
  PawlSvd svd;
  PAWL_TRY(f > 0 ? pawl_svd(&a->arena, a->free, a->free, K, &svd) : PAWL_OK);
  int stiff = 0;
  while (stiff < a->free && svd.s[stiff] > PAWL_SOFT * svd.s[0]) {
    stiff++;
  }
  if (stiff == 0 || stiff == a->free) {
    return PAWL_OK;  // no stiffness at all, or none that is soft
  }
  Basis U = make_basis(&a->arena, a->free, a->free - stiff);
  Basis V = make_basis(&a->arena, a->free, a->free - stiff);
  if (!U.x || !V.x) {
    return PAWL_ERROR_MEMORY;
  }
  for (size_t j = 0; j < (size_t)U.count; j++) {
    for (size_t i = 0; i < f; i++) {
      U.x[i + j * f] = svd.U[i + (j + (size_t)stiff) * f];
      V.x[i + j * f] = svd.Vt[j + (size_t)stiff + i * f];
    }
  }
  Basis X = U, Y = V;
  PAWL_TRY(narrow(&a->arena, a, a->blur * svd.s[0], &X, &Y));
  if (X.count == U.count) {
    return PAWL_OK;  // all that is soft has none
  }
  Basis left = rest_of(&a->arena, a->free, &U, &X), right = rest_of(&a->arena, a->free, &V, &Y);
  a->raise = PAWL_NEW(&a->arena, double, f* f);
  if (a->arena.failed) {
    return PAWL_ERROR_MEMORY;
  }
  for (size_t k = 0; k < (size_t)left.count; k++) {
    for (size_t j = 0; j < f; j++) {
      for (size_t i = 0; i < f; i++) {
        a->raise[i + j * f] += svd.s[0] * left.x[i + k * f] * right.x[j + k * f];
      }
    }
  }
  return PAWL_OK;
}

// ---- frequencies without damping ----------------------------------------------------------------
bool pawl_softness_undamped(const PawlAnalysis* a) {
  size_t n = (size_t)a->n, f = (size_t)a->free;
  double most = 0.0, off = 0.0;
  for (size_t j = 0; j < f; j++) {
    for (size_t i = 0; i < f; i++) {
      most = fmax(most, fabs(a->K[i + j * n]));
      off = fmax(off, fabs(a->K[i + j * n] - a->K[j + i * n]));
      if (a->D[i + j * n] != 0.0) {
        return false;
      }
    }
  }
  return a->states == 0 && off <= PAWL_NO_SINGULAR_VALUE * most;
}

// Squares of frequencies of the shapes of `b`, ascending by size, and the shapes.
static PawlStatus solve(PawlArena* arena, const PawlAnalysis* a, Basis* b, double* values) {
  size_t d = (size_t)b->count;
  double* B = PAWL_NEW(arena, double, d* d);
  double* E = PAWL_NEW(arena, double, d* d);
  double* one = PAWL_NEW(arena, double, d);
  double* vectors = PAWL_NEW(arena, double, d* d);
  double* sorted = PAWL_NEW(arena, double, d* d);
  double* squares = PAWL_NEW(arena, double, d);
  if (arena->failed) {
    return PAWL_ERROR_MEMORY;
  }
  PAWL_TRY(stiffness_of(a, b, b, B, E));
  PAWL_TRY(pawl_symmetric_eigenvalues(b->count, B, squares, vectors));
  for (size_t k = 0; k < d; k++) {
    size_t least = 0;
    for (size_t j = 1; j < d; j++) {
      least = fabs(squares[j]) < fabs(squares[least]) ? j : least;
    }
    one[k] = 1.0;
    values[k] = squares[least];
    memcpy(sorted + k * d, vectors + least * d, d * sizeof(double));
    squares[least] = INFINITY;
  }
  *b = combine(arena, a->free, b, one, sorted, 0, d, 1);
  return b->x ? PAWL_OK : PAWL_ERROR_MEMORY;
}

// The shapes of the whole, then again of those that are soft among them.                    (L29)
static PawlStatus find_squares(PawlArena* arena, const PawlAnalysis* a, double* values, Basis* b) {
  size_t f = (size_t)a->free;
  *b = make_basis(arena, a->free, a->free);
  for (size_t i = 0; b->x && i < f; i++) {
    b->x[i + i * f] = 1.0;
  }
  for (int soft = a->free, before = soft + 1; soft > 0 && soft < before;) {
    if (!b->x) {
      return PAWL_ERROR_MEMORY;
    }
    Basis part = {soft, b->x};  // the first ones
    PAWL_TRY(solve(arena, a, &part, values));
    memcpy(b->x, part.x, f * (size_t)soft * sizeof(double));
    before = soft;
    while (soft > 0 && fabs(values[soft - 1]) > PAWL_SOFT * fabs(values[before - 1])) {
      soft--;
    }
  }
  return PAWL_OK;
}

PawlStatus pawl_softness_eigenvalues(PawlAnalysis* a) {
  PawlArena arena = {0};
  size_t f = (size_t)a->free;
  Basis b;
  double* values = PAWL_NEW(&arena, double, f);
  PawlStatus status = values ? find_squares(&arena, a, values, &b) : PAWL_ERROR_MEMORY;
  for (size_t k = 0; status == PAWL_OK && k < f; k++) {
    double root = sqrt(fabs(values[k])), *first = a->vectors + 4 * k * f, *second = first + 2 * f;
    bool turns = values[k] > 0.0;  // + and - i w, or + and - w
    a->real[2 * k] = turns ? 0.0 : root;
    a->real[2 * k + 1] = -a->real[2 * k];
    a->imaginary[2 * k] = turns ? root : 0.0;
    a->imaginary[2 * k + 1] = -a->imaginary[2 * k];
    for (size_t i = 0; i < f; i++) {
      double x = b.x[i + k * f];
      first[i] = x;
      first[f + i] = turns ? 0.0 : root * x;
      second[i] = turns ? 0.0 : x;
      second[f + i] = turns ? root * x : -root * x;
    }
  }
  pawl_arena_free(&arena);
  return status;
}
