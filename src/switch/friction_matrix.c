// SPDX-License-Identifier: Apache-2.0
// The compliance D of a frictional problem, and a matrix with its entries that is factored
// (docs/theory/friction.md, sections 2 and 9).
#include <string.h>

#include "base/alloc.h"
#include "linalg/dense.h"
#include "linalg/vector.h"
#include "switch/friction_impl.h"

// ---- memory -------------------------------------------------------------------------------------

static bool reserve(PawlFrictionMatrix* x, int rows, int entries) {
  return PAWL_GROW(x->start, x->start_room, rows + 1) == 0 &&
         PAWL_GROW(x->index, x->index_room, entries) == 0 &&
         PAWL_GROW(x->mirror, x->mirror_room, entries) == 0 &&
         PAWL_GROW(x->given, x->given_room, entries) == 0 &&
         PAWL_GROW(x->D, x->D_room, entries) == 0 && PAWL_GROW(x->A, x->A_room, entries) == 0;
}

bool pawl_friction_matrix_alloc(PawlFrictionMatrix* x, PawlArena* arena, int m, int dense) {
  x->pivot = PAWL_NEW(arena, int, dense);
  x->right = PAWL_NEW(arena, double, m);
  x->m = -1;
  return !arena->failed && reserve(x, m, dense * dense);
}

void pawl_friction_matrix_free(PawlFrictionMatrix* x) {
  pawl_sparse_lu_destroy(x->lu);
  pawl_free(x->start);
  pawl_free(x->index);
  pawl_free(x->mirror);
  pawl_free(x->given);
  pawl_free(x->D);
  pawl_free(x->A);
}

// ---- D ------------------------------------------------------------------------------------------

void pawl_friction_matrix_full(PawlFrictionMatrix* x, int m, const double* D) {
  bool same = x->m == m && !x->sparse;
  x->m = m;
  x->sparse = false;
  x->factors++;
  memcpy(x->given, D, (size_t)m * (size_t)m * sizeof(double));
  for (int j = 0; !same && j <= m; j++) {
    x->start[j] = j * m;
    for (int i = 0; j < m && i < m; i++) {
      x->index[i + j * m] = i;
      x->mirror[i + j * m] = j + i * m;
    }
  }
}

static bool is_same(const PawlFrictionMatrix* x, const PawlPattern* pattern) {
  size_t m = (size_t)pattern->cols;
  return x->lu && x->sparse && x->m == pattern->cols &&
         memcmp(x->start, pattern->start, (m + 1) * sizeof(int)) == 0 &&
         memcmp(x->index, pattern->index, (size_t)pattern->start[m] * sizeof(int)) == 0;
}

// Columns in turn meet the entries of each row in their order.
static void find_mirrors(PawlFrictionMatrix* x, int* next) {
  memcpy(next, x->start, (size_t)x->m * sizeof(int));
  for (int j = 0; j < x->m; j++) {
    for (int e = x->start[j]; e < x->start[j + 1]; e++) {
      x->mirror[e] = next[x->index[e]]++;
    }
  }
}

PawlStatus pawl_friction_matrix_sparse(PawlFrictionMatrix* x, const PawlPattern* pattern,
                                       const double* D) {
  int m = pattern->cols, entries = pattern->start[m];
  PawlError err;
  if (!is_same(x, pattern)) {
    pawl_sparse_lu_destroy(x->lu);
    x->lu = NULL;
    x->m = -1;
    if (!reserve(x, m, entries) || pawl_sparse_lu_create(pattern, &x->lu, &err) != PAWL_OK) {
      return PAWL_ERROR_MEMORY;
    }
    x->m = m;
    x->sparse = true;
    memcpy(x->start, pattern->start, ((size_t)m + 1) * sizeof(int));
    memcpy(x->index, pattern->index, (size_t)entries * sizeof(int));
    find_mirrors(x, (int*)x->right);
  }
  x->factors++;
  memcpy(x->given, D, (size_t)entries * sizeof(double));
  return PAWL_OK;
}

void pawl_friction_matrix_scale(PawlFrictionMatrix* x, const double* own, const double* s) {
  for (int j = 0; j < x->m; j++) {
    for (int e = x->start[j]; e < x->start[j + 1]; e++) {
      int i = x->index[e];
      bool moves = own[i] > 0.0 && own[j] > 0.0;
      x->D[e] = moves ? x->given[e] / (s[i] * s[j]) : 0.0;
    }
  }
  x->factors++;
}

int pawl_friction_matrix_place(const PawlFrictionMatrix* x, int i, int j) {
  if (!x->sparse) {
    return i + j * x->m;
  }
  int low = x->start[j], high = x->start[j + 1];
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (x->index[middle] < i) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < x->start[j + 1] && x->index[low] == i ? low : -1;
}

double pawl_friction_matrix_get(const PawlFrictionMatrix* x, int i, int j) {
  int place = pawl_friction_matrix_place(x, i, j);
  return place >= 0 ? x->D[place] : 0.0;
}

void pawl_friction_matrix_add_column(const PawlFrictionMatrix* x, int j, double scale, double* y) {
  if (!x->sparse) {
    pawl_add_scaled(x->m, y, scale, x->D + x->start[j]);
    return;
  }
  for (int e = x->start[j]; e < x->start[j + 1]; e++) {
    y[x->index[e]] += scale * x->D[e];
  }
}

// ---- A ------------------------------------------------------------------------------------------

void pawl_friction_matrix_clear(PawlFrictionMatrix* x, int order) {
  size_t entries = x->sparse ? (size_t)x->start[x->m] : (size_t)order * (size_t)order;
  x->order = x->sparse ? x->m : order;
  memset(x->A, 0, entries * sizeof(double));
}

PawlStatus pawl_friction_matrix_factor(PawlFrictionMatrix* x) {
  x->factors++;
  if (x->sparse) {
    return pawl_sparse_lu_factor(x->lu, x->A, PAWL_FRICTION_EXCHANGE, PAWL_FRICTION_SINGULAR);
  }
  bool regular = pawl_lu_factor(x->order, x->A, x->pivot, PAWL_FRICTION_SINGULAR) == 0;
  return regular ? PAWL_OK : PAWL_RETRY;
}

// A = L L^T, in place; false: not positive.
static bool factor_dense(PawlFrictionMatrix* x) {
  int n = x->order;
  for (int j = 0; j < n; j++) {
    double *column = pawl_row(x->A, n, j), pivot = column[j];
    if (!(pivot > 0.0)) {
      return false;
    }
    double inverse = 1.0 / sqrt(pivot);
    for (int i = j; i < n; i++) {
      column[i] *= inverse;
    }
    for (int i = j + 1; i < n; i++) {
      pawl_add_scaled(n - i, pawl_row(x->A, n, i) + i, -column[i], column + i);
    }
  }
  return true;
}

bool pawl_friction_matrix_factor_even(PawlFrictionMatrix* x) {
  x->factors++;
  if (!x->sparse) {
    return factor_dense(x);
  }
  return pawl_sparse_lu_factor(x->lu, x->A, 0.0, 0.0) == PAWL_OK &&
         pawl_sparse_lu_all_positive(x->lu);
}

void pawl_friction_matrix_solve(PawlFrictionMatrix* x, const double* b, double* y) {
  if (x->sparse) {
    pawl_sparse_lu_solve(x->lu, b, y);
  } else {
    pawl_lu_solve(x->order, x->A, x->pivot, b, y);
  }
}

void pawl_friction_matrix_solve_even(PawlFrictionMatrix* x, double* y) {
  int n = x->order;
  if (x->sparse) {
    pawl_sparse_lu_solve(x->lu, y, y);
    return;
  }
  for (int j = 0; j < n; j++) {
    const double* column = pawl_row(x->A, n, j);
    y[j] /= column[j];
    pawl_add_scaled(n - j - 1, y + j + 1, -y[j], column + j + 1);
  }
  for (int j = n - 1; j >= 0; j--) {
    const double* column = pawl_row(x->A, n, j);
    y[j] = (y[j] - pawl_dot(n - j - 1, column + j + 1, y + j + 1)) / column[j];
  }
}
