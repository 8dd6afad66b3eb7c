// SPDX-License-Identifier: Apache-2.0
// Dense systems with constraints, reduced; labels (X4) to (X6) stand in docs/theory/transition.md.
#include "linalg/reduce.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "linalg/tolerances.h"
#include "linalg/vector.h"

// ---- [M -J^T; J 0] by Cholesky and orthogonalisation --------------------------------------------
bool pawl_saddle_alloc(PawlSaddle* k, PawlArena* arena, int most_n, int most_m) {
  size_t n = (size_t)most_n, m = (size_t)most_m;
  k->M = PAWL_NEW(arena, double, n* n);
  k->L = PAWL_NEW(arena, double, n* n);
  k->J = PAWL_NEW(arena, double, m* n);
  k->R = PAWL_NEW(arena, double, m* m);
  k->weight = PAWL_NEW(arena, double, m);
  k->z = PAWL_NEW(arena, double, n);
  k->e = PAWL_NEW(arena, double, m);
  return k->M && k->L && k->J && k->R && k->weight && k->z && k->e;
}

// L L^T = M, by columns; false when M is not positive definite to working precision.
static bool cholesky(int n, const double* M, double* L) {
  memcpy(L, M, (size_t)n * (size_t)n * sizeof *L);
  for (int j = 0; j < n; j++) {
    double* l = pawl_row(L, n, j);
    double given = M[(size_t)j * (size_t)(n + 1)];
    if (!(l[j] > PAWL_REDUCE_ROUNDING * given) || !isfinite(l[j])) {
      return false;
    }
    double d = sqrt(l[j]);
    l[j] = d;
    for (int i = j + 1; i < n; i++) {
      l[i] /= d;
    }
    for (int c = j + 1; c < n; c++) {
      double* below = pawl_row(L, n, c);
      double u = l[c];
      for (int i = c; u != 0.0 && i < n; i++) {
        below[i] -= u * l[i];
      }
    }
  }
  return true;
}

static void forward(int n, const double* L, double* x) {  // x <- L^-1 x
  for (int j = 0; j < n; j++) {
    const double* l = L + (size_t)j * (size_t)n;
    x[j] /= l[j];
    for (int i = j + 1; i < n; i++) {
      x[i] -= x[j] * l[i];
    }
  }
}

static void backward(int n, const double* L, double* x) {  // x <- L^-T x
  for (int j = n - 1; j >= 0; j--) {
    const double* l = L + (size_t)j * (size_t)n;
    x[j] = (x[j] - pawl_dot(n - j - 1, l + j + 1, x + j + 1)) / l[j];
  }
}

// M + J^T weight J in the place of M: the same x, and definite if M is so on the motions that J
// allows. Each row weighs as much as a mean mass.                                              (X5)
static bool weighted_cholesky(PawlSaddle* k) {
  int n = k->n;
  double mean = 0.0;
  for (int j = 0; j < n; j++) {
    mean += fabs(k->M[(size_t)j * (size_t)(n + 1)]) / n;
  }
  for (int i = 0; i < k->m; i++) {
    const double* row = pawl_row(k->J, n, i);
    double square = pawl_dot(n, row, row);
    k->weight[i] = square > 0.0 ? (mean > 0.0 ? mean : 1.0) / square : 0.0;
    for (int j = 0; j < n; j++) {
      pawl_add_scaled(n, pawl_row(k->M, n, j), k->weight[i] * row[j], row);
    }
  }
  k->weighted = true;
  return k->m > 0 && cholesky(n, k->M, k->L);
}

// Y^T = Q R for the m rows of Y (n numbers each), which become those of Q^T; each is taken twice
// against those before it. R by columns. False: a row depends on those before it.
bool pawl_reduce_orthonormal(int n, int m, double* Y, double* triangle) {
  for (int j = 0; j < m; j++) {
    double *y = pawl_row(Y, n, j), *R = pawl_row(triangle, m, j);
    memset(R, 0, (size_t)m * sizeof *R);
    double length = sqrt(pawl_dot(n, y, y));
    for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; i < j; i++) {
        const double* q = pawl_row(Y, n, i);
        double part = pawl_dot(n, q, y);
        R[i] += part;
        pawl_add_scaled(n, y, -part, q);
      }
    }
    R[j] = sqrt(pawl_dot(n, y, y));
    if (!(R[j] > PAWL_REDUCE_ROUNDING * length) || !isfinite(R[j])) {
      return false;
    }
    for (int i = 0; i < n; i++) {
      y[i] /= R[j];
    }
  }
  return true;
}

void pawl_reduce_upper(int m, const double* triangle, double* e) {
  for (int j = m - 1; j >= 0; j--) {
    const double* R = triangle + (size_t)j * (size_t)m;
    e[j] /= R[j];
    pawl_add_scaled(j, e, -e[j], R);
  }
}

void pawl_reduce_upper_transposed(int m, const double* triangle, double* e) {
  for (int j = 0; j < m; j++) {
    const double* R = triangle + (size_t)j * (size_t)m;
    e[j] = (e[j] - pawl_dot(j, R, e)) / R[j];
  }
}

bool pawl_saddle_factor(PawlSaddle* k) {
  int n = k->n;
  k->weighted = false;
  if (k->m > n || (!cholesky(n, k->M, k->L) && !weighted_cholesky(k))) {
    return false;
  }
  for (int j = 0; j < k->m; j++) {
    forward(n, k->L, pawl_row(k->J, n, j));
  }
  return pawl_reduce_orthonormal(n, k->m, k->J, k->R);
}

// u = L^T x: Q^T u = R^-T c, and u differs from L^-1 b only along Q.                           (X4)
void pawl_saddle_solve(PawlSaddle* k, double* x, double* y) {
  int n = k->n, m = k->m;
  double *z = k->z, *e = k->e;
  memcpy(z, x, (size_t)n * sizeof *z);
  forward(n, k->L, z);
  memcpy(e, y, (size_t)m * sizeof *e);
  pawl_reduce_upper_transposed(m, k->R, e);
  for (int j = 0; j < m; j++) {
    x[j] = pawl_dot(n, pawl_row(k->J, n, j), z);  // Q^T L^-1 b; m <= n
  }
  for (int j = 0; j < m; j++) {
    e[j] -= x[j];
    pawl_add_scaled(n, z, e[j], pawl_row(k->J, n, j));
  }
  memcpy(x, z, (size_t)n * sizeof *x);
  backward(n, k->L, x);
  pawl_reduce_upper(m, k->R, e);
  for (int j = 0; j < m; j++) {
    y[j] = e[j] - (k->weighted ? k->weight[j] * y[j] : 0.0);
  }
}

// ---- independent velocities ---------------------------------------------------------------------
bool pawl_voronets_alloc(PawlVoronets* s, PawlArena* arena, int most_m, int n) {
  size_t m = (size_t)most_m;
  s->n = n;
  s->column_of = PAWL_NEW(arena, int, m);
  s->independent = PAWL_NEW(arena, int, n);
  s->LU = PAWL_NEW(arena, double, m* m);
  s->scale = PAWL_NEW(arena, double, m);
  s->pivot = PAWL_NEW(arena, int, m);
  s->R = PAWL_NEW(arena, double, m*(size_t)n);
  s->work = PAWL_NEW(arena, double, m);
  s->room = PAWL_NEW(arena, double, n);
  return s->column_of && s->independent && s->LU && s->scale && s->pivot && s->R && s->work &&
         s->room;
}

bool pawl_voronets_complete(PawlVoronets* s) {
  int count = 0;
  for (int i = 0; i < s->m; i++) {
    if (s->column_of[i] < 0 || s->column_of[i] >= s->n) {
      return false;
    }
  }
  for (int j = 0; j < s->n; j++) {
    bool dependent = false;
    for (int i = 0; i < s->m; i++) {
      dependent = dependent || s->column_of[i] == j;
    }
    if (!dependent && count < s->n) {
      s->independent[count++] = j;
    }
  }
  return count == s->n - s->m;
}

static double largest(int n, const double* x) {
  double top = 0.0;
  for (int i = 0; i < n; i++) {
    top = fabs(x[i]) > top ? fabs(x[i]) : top;
  }
  return top;
}

// The largest entry of the rows and columns not yet used; false: it is rounding.
static bool find_pivot(const PawlVoronets* s, const double* A, int* row, int* col) {
  double top = PAWL_REDUCE_ROUNDING;
  *row = -1;
  for (int i = 0; i < s->m; i++) {
    const double* a = A + (size_t)i * (size_t)s->n;
    for (int j = 0; s->column_of[i] < 0 && j < s->n; j++) {
      if (fabs(a[j]) > top) {
        top = fabs(a[j]);
        *row = i;
        *col = j;
      }
    }
  }
  return *row >= 0;
}

bool pawl_voronets_choose(PawlVoronets* s, const double* J) {
  int m = s->m, n = s->n;
  double* A = s->R;  // has room for m rows of n numbers
  memcpy(A, J, (size_t)m * (size_t)n * sizeof *A);
  for (int i = 0; i < m; i++) {
    double* a = pawl_row(A, n, i);
    double top = largest(n, a);
    for (int j = 0; top > 0.0 && j < n; j++) {
      a[j] /= top;
    }
    s->column_of[i] = -1;
  }
  for (int step = 0; step < m; step++) {
    int row, col = 0;
    if (!find_pivot(s, A, &row, &col)) {
      return false;
    }
    s->column_of[row] = col;
    const double* p = pawl_row(A, n, row);
    for (int i = 0; i < m; i++) {
      double* a = pawl_row(A, n, i);
      if (s->column_of[i] < 0) {
        pawl_add_scaled(n, a, -a[col] / p[col], p);
        a[col] = 0.0;
      }
    }
  }
  return pawl_voronets_complete(s);
}

bool pawl_voronets_factor(PawlVoronets* s, const double* J) {
  int m = s->m, n = s->n;
  for (int i = 0; i < m; i++) {
    const double* row = J + (size_t)i * (size_t)n;
    double top = largest(n, row);
    if (!(top > 0.0) || !isfinite(top)) {
      return false;
    }
    s->scale[i] = 1.0 / top;
    for (int k = 0; k < m; k++) {
      s->LU[(size_t)i + (size_t)k * (size_t)m] = s->scale[i] * row[s->column_of[k]];
    }
  }
  return m == 0 || pawl_lu_factor(m, s->LU, s->pivot, PAWL_REDUCE_ROUNDING) == 0;
}

void pawl_voronets_solve(PawlVoronets* s, const double* c, double* x) {
  for (int i = 0; i < s->m; i++) {
    s->work[i] = s->scale[i] * c[i];
  }
  if (s->m > 0) {
    pawl_lu_solve(s->m, s->LU, s->pivot, s->work, x);
  }
}

// P A = L U with 1 / U_kk on the diagonal: A^T y = b is U^T w = b, L^T u = w, y = P^T u.
void pawl_voronets_solve_transposed(PawlVoronets* s, const double* b, double* y) {
  int m = s->m;
  double* w = s->work;
  for (int k = 0; k < m; k++) {
    const double* column = s->LU + (size_t)k * (size_t)m;
    w[k] = (b[k] - pawl_dot(k, column, w)) * column[k];
  }
  for (int k = m - 1; k >= 0; k--) {
    const double* column = s->LU + (size_t)k * (size_t)m;
    w[k] -= pawl_dot(m - k - 1, column + k + 1, w + k + 1);
  }
  for (int k = 0; k < m; k++) {
    y[s->pivot[k]] = s->scale[s->pivot[k]] * w[k];
  }
}

// The largest entry of R, and where it is.
static double largest_of_R(const PawlVoronets* s, int* row, int* col) {
  double top = 0.0;
  *row = *col = 0;
  for (int k = 0; k < s->n - s->m; k++) {
    const double* R = s->R + (size_t)k * (size_t)s->m;
    for (int i = 0; i < s->m; i++) {
      if (fabs(R[i]) > top) {
        top = fabs(R[i]);
        *row = i;
        *col = k;
      }
    }
  }
  return top;
}

double pawl_voronets_reduce(PawlVoronets* s, const double* J) {
  int m = s->m, n = s->n, row, col;
  for (int k = 0; k < n - m; k++) {
    double* R = pawl_row(s->R, m, k);
    for (int i = 0; i < m; i++) {
      R[i] = J[(size_t)i * (size_t)n + (size_t)s->independent[k]];
    }
    pawl_voronets_solve(s, R, R);
  }
  return largest_of_R(s, &row, &col);
}

// Dependent velocity of `row` and independent velocity number `col` change places in R.
static void exchange(PawlVoronets* s, int row, int col) {
  int m = s->m, entering = s->independent[col];
  double *R = pawl_row(s->R, m, col), p = R[row];
  for (int k = 0; k < s->n - m; k++) {
    double *other = pawl_row(s->R, m, k), factor = other[row] / p;
    if (k != col) {
      for (int i = 0; i < m; i++) {
        other[i] = i == row ? factor : other[i] - factor * R[i];
      }
    }
  }
  for (int i = 0; i < m; i++) {
    R[i] = i == row ? 1.0 / p : -R[i] / p;
  }
  s->independent[col] = s->column_of[row];
  s->column_of[row] = entering;
}

// Each exchange multiplies det J_p by more than `limit`: it cannot go on for ever.
bool pawl_voronets_improve(PawlVoronets* s, const double* J, double limit, double* size) {
  int row, col, exchanges = 0;
  if (!pawl_voronets_factor(s, J)) {
    return false;
  }
  *size = pawl_voronets_reduce(s, J);
  while (largest_of_R(s, &row, &col) > limit && exchanges < 4 * s->n) {
    exchange(s, row, col);
    exchanges++;
  }
  if (exchanges > 0) {
    if (!pawl_voronets_complete(s) || !pawl_voronets_factor(s, J)) {
      return false;
    }
    *size = pawl_voronets_reduce(s, J);
  }
  return true;
}

void pawl_voronets_restrict(const PawlVoronets* s, const double* b, double* out) {
  for (int k = 0; k < s->n - s->m; k++) {
    const double* R = s->R + (size_t)k * (size_t)s->m;
    double sum = b[s->independent[k]];
    for (int i = 0; i < s->m; i++) {
      sum -= R[i] * b[s->column_of[i]];
    }
    out[k] = sum;
  }
}

void pawl_voronets_expand(const PawlVoronets* s, const double* w, double* x) {
  for (int k = 0; k < s->n - s->m; k++) {
    const double* R = s->R + (size_t)k * (size_t)s->m;
    x[s->independent[k]] += w[k];
    for (int i = 0; i < s->m; i++) {
      x[s->column_of[i]] -= R[i] * w[k];
    }
  }
}

// y = A x for values in the order of the pattern
static void multiply(const PawlPattern* A, const double* values, const double* x, double* y) {
  memset(y, 0, (size_t)A->rows * sizeof *y);
  for (int j = 0; j < A->cols; j++) {
    for (int k = A->start[j]; x[j] != 0.0 && k < A->start[j + 1]; k++) {
      y[A->index[k]] += values[k] * x[j];
    }
  }
}

void pawl_voronets_mass(const PawlVoronets* s, const PawlPattern* H, const double* M, double* room,
                        double* out) {
  int n = s->n, free_count = n - s->m;
  for (int k = 0; k < free_count; k++) {  // column k of F^T (M F)
    const double* R = s->R + (size_t)k * (size_t)s->m;
    memset(s->room, 0, (size_t)n * sizeof(double));
    s->room[s->independent[k]] = 1.0;
    for (int i = 0; i < s->m; i++) {
      s->room[s->column_of[i]] = -R[i];
    }
    multiply(H, M, s->room, room);
    pawl_voronets_restrict(s, room, out + (size_t)k * (size_t)free_count);
  }
}
