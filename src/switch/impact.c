// SPDX-License-Identifier: Apache-2.0
// The jump, dense: W = M^-1; principal vectors u_i of the rows before and w_i of the rows after
// (W-orthonormal); e_i between them; B = (G W w) e, so that each row of B belongs to a row of G and
// B = G at epsilon = 1. Equation labels refer to docs/theory/impact.md.
#include "switch/impact.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "linalg/dense.h"
#include "linalg/span.h"
#include "switch/tolerances.h"

struct PawlImpact {
  PawlArena arena;
  int n, m;
  int before_count, after_count;
  int* after_row;          // row of the pattern of each active row after
  double *W, *LU;          // n*n
  double *before, *after;  // rows by rows: before_count x n and after_count x n, stored by rows
  double *U, *V;           // n x k: principal vectors in columns
  double* angles;          // k
  double *E, *C, *B;       // e: k x n by rows; C: after_count x k; B: after_count x n by rows
  double *scratch, *D;     // columns for LAPACK; D after_count^2
  double* rhs;
  int* pivot;
  int pairs, planes;  // principal pairs; those with an angle, listed first
  int* plane;         // plane p is pair plane[p]
  PawlImpactLaw law;
};

PawlStatus pawl_impact_create(int n, int m, PawlImpact** out, PawlError* err) {
  *out = NULL;
  PawlImpact* p = pawl_alloc(1, sizeof *p);
  if (!p) {
    return pawl_fail_memory(err);
  }
  p->n = n;
  p->m = m;
  size_t nn = (size_t)n * (size_t)n, mn = (size_t)m * (size_t)n, mm = (size_t)m * (size_t)m;
  size_t most = nn > mn ? nn : mn;
  struct {
    double** array;
    size_t size;
  } arrays[] = {{&p->W, nn},
                {&p->LU, nn},
                {&p->before, mn},
                {&p->after, mn},
                {&p->U, nn},
                {&p->V, nn},
                {&p->angles, (size_t)n + (size_t)m},
                {&p->E, mn},
                {&p->C, mm},
                {&p->B, mn},
                {&p->scratch, 2 * most},
                {&p->D, mm},
                {&p->rhs, (size_t)n + 2 * (size_t)m}};
  bool ok = true;
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
    *arrays[k].array = PAWL_NEW(&p->arena, double, arrays[k].size);
    ok = ok && *arrays[k].array;
  }
  p->after_row = PAWL_NEW(&p->arena, int, m);
  p->plane = PAWL_NEW(&p->arena, int, m);
  p->pivot = PAWL_NEW(&p->arena, int, n + m);
  if (!ok || !p->after_row || !p->plane || !p->pivot) {
    pawl_impact_destroy(p);
    return pawl_fail_memory(err);
  }
  *out = p;
  return PAWL_OK;
}

void pawl_impact_destroy(PawlImpact* p) {
  if (p) {
    pawl_arena_free(&p->arena);
    pawl_free(p);
  }
}

PawlStatus pawl_impact_mass(PawlImpact* p, const PawlPattern* H, const double* M) {
  int n = p->n;
  assert(H->cols == n && H->rows == n);
  double* size = p->rhs;  // 1 / sqrt(M_jj): makes the matrix one of unit diagonal
  memset(p->LU, 0, (size_t)n * (size_t)n * sizeof(double));
  for (int j = 0; j < n; j++) {
    for (int k = H->start[j]; k < H->start[j + 1]; k++) {
      p->LU[H->index[k] + j * n] = M[k];
    }
    if (!(p->LU[j + j * n] > 0.0)) {
      return PAWL_RETRY;
    }
    size[j] = 1.0 / sqrt(p->LU[j + j * n]);
  }
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      p->LU[i + j * n] *= size[i] * size[j];
    }
  }
  if (pawl_lu_factor(n, p->LU, p->pivot, PAWL_IMPACT_PIVOT) != 0) {
    return PAWL_RETRY;
  }
  for (int j = 0; j < n; j++) {
    memset(p->scratch, 0, (size_t)n * sizeof(double));
    p->scratch[j] = size[j];
    pawl_lu_solve(n, p->LU, p->pivot, p->scratch, p->W + j * n);
    for (int i = 0; i < n; i++) {
      p->W[i + j * n] *= size[i];
    }
  }
  for (int j = 0; j < n; j++) {  // symmetric to the last bit
    for (int i = 0; i < j; i++) {
      double mean = 0.5 * (p->W[i + j * n] + p->W[j + i * n]);
      p->W[i + j * n] = p->W[j + i * n] = mean;
    }
  }
  return PAWL_OK;
}

// Copies the active rows, one behind the other; lists which they are.
static int take_rows(const PawlPattern* G, const double* values, const unsigned char* active,
                     double* rows, int* row_of) {
  int n = G->cols, count = 0;
  assert(active || G->rows == 0);
  int* place = row_of;
  for (int i = 0; i < G->rows; i++) {
    if (active[i]) {
      place[count++] = i;
    }
  }
  memset(rows, 0, (size_t)count * (size_t)n * sizeof(double));
  for (int j = 0; j < n; j++) {
    for (int k = G->start[j], r = 0; k < G->start[j + 1]; k++) {
      while (r < count && place[r] < G->index[k]) {
        r++;
      }
      if (r < count && place[r] == G->index[k]) {
        rows[r * n + j] = values[k];
      }
    }
  }
  return count;
}

PawlStatus pawl_impact_before(PawlImpact* p, const PawlPattern* G, const double* values,
                              const unsigned char* active) {
  p->before_count = take_rows(G, values, active, p->before, p->after_row);
  return PAWL_OK;
}

PawlStatus pawl_impact_after(PawlImpact* p, const PawlPattern* G, const double* values,
                             const unsigned char* active) {
  p->after_count = take_rows(G, values, active, p->after, p->after_row);
  return PAWL_OK;
}

// out (m rows of n) by columns of an m-by-n matrix for LAPACK.
static void by_columns(int m, int n, const double* rows, double* out) {
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      out[i + j * m] = rows[i * n + j];
    }
  }
}

// W-product of two row vectors.
static double product(const PawlImpact* p, const double* x, const double* y) {
  int n = p->n;
  double sum = 0.0;
  for (int j = 0; j < n; j++) {
    double column = 0.0;
    for (int i = 0; i < n; i++) {
      column += x[i] * p->W[i + j * n];
    }
    sum += column * y[j];
  }
  return sum;
}

// Completes the vectors V of the rows after to a basis of their space: rows without a partner.
static int complete(PawlImpact* p, int k) {
  PawlSpan span = {.n = p->n, .count = k, .Q = p->V, .W = p->W};
  for (int r = 0; r < p->after_count && span.count < p->after_count; r++) {
    (void)pawl_span_extend(&span, p->after + r * p->n);
  }
  return span.count;
}

PawlStatus pawl_impact_directions(PawlImpact* p, PawlImpactLaw law, int* planes) {
  int n = p->n;
  assert(law.epsilon >= 0.0 && law.epsilon <= 1.0);
  p->law = law;
  p->pairs = p->planes = *planes = 0;
  if (law.epsilon == 1.0 || p->before_count == 0 || p->after_count == 0) {
    p->law.epsilon = 1.0;
    return PAWL_OK;
  }
  double* a = p->scratch;
  double* b = p->scratch + (size_t)(p->m > n ? p->m : n) * (size_t)n;
  by_columns(p->before_count, n, p->before, a);
  by_columns(p->after_count, n, p->after, b);
  int k;
  PAWL_TRY(pawl_dense_principal_angles(p->before_count, p->after_count, n, a, b, p->W,
                                       PAWL_DEPENDENT, &k, p->angles, p->U, p->V));
  for (int i = 0; i < k; i++) {
    if (p->angles[i] > PAWL_NO_ANGLE) {
      p->plane[p->planes++] = i;
    }
  }
  p->pairs = k;
  int all = complete(p, k);
  for (int r = 0; r < p->after_count; r++) {
    for (int i = 0; i < all; i++) {
      p->C[r * p->m + i] = product(p, p->after + r * n, p->V + i * n);
    }
  }
  *planes = p->planes;
  return PAWL_OK;
}

double pawl_impact_angle(const PawlImpact* p) {
  return p->pairs > 0 ? p->angles[p->pairs - 1] : 0.0;
}

// Coefficients of u and w in e, with w turned where `sign` is -1.                       (J3) (J4)
static void between(const PawlImpact* p, int pair, double sign, double* of_u, double* of_w) {
  double eps = p->law.epsilon, angle = p->angles[pair];
  assert(pair < p->pairs && (sign == 1.0 || sign == -1.0));
  *of_u = 1.0 - eps;
  *of_w = sign * eps;
  if (p->law.arc && angle > PAWL_NO_ANGLE) {
    double theta = sign > 0 ? angle : acos(-1.0) - angle;
    *of_u = sin((1.0 - eps) * theta) / sin(theta);
    *of_w = sign * sin(eps * theta) / sin(theta);
  }
}

// B = C e.                                                                                   (J5)
static void force_directions(PawlImpact* p, unsigned flips) {
  int n = p->n;
  if (p->law.epsilon == 1.0) {
    memcpy(p->B, p->after, (size_t)p->after_count * (size_t)n * sizeof(double));
    return;
  }
  memset(p->B, 0, (size_t)p->after_count * (size_t)n * sizeof(double));
  for (int i = 0; i < p->after_count; i++) {
    double sign = 1.0, of_u = 0.0, of_w = 1.0;
    for (int k = 0; k < p->planes; k++) {
      sign = p->plane[k] == i && (flips >> k & 1u) ? -1.0 : sign;
    }
    if (i < p->pairs) {
      between(p, i, sign, &of_u, &of_w);
    }
    for (int r = 0; r < p->after_count; r++) {
      double c = sign * p->C[r * p->m + i];
      for (int j = 0; j < n; j++) {
        double u = i < p->pairs ? p->U[i * n + j] : 0.0;
        p->B[r * n + j] += c * (of_u * u + of_w * p->V[i * n + j]);
      }
    }
  }
}

void pawl_impact_gradient(PawlImpact* p, unsigned flips, const PawlPattern* G,
                          const double* values_of_G, double* values) {
  force_directions(p, flips);
  int n = p->n;
  for (int j = 0; j < n; j++) {
    for (int k = G->start[j], r = 0; k < G->start[j + 1]; k++) {
      while (r < p->after_count && p->after_row[r] < G->index[k]) {
        r++;
      }
      bool active = r < p->after_count && p->after_row[r] == G->index[k];
      values[k] = active ? p->B[r * n + j] : values_of_G[k];
    }
  }
}

PawlStatus pawl_impact_solve(PawlImpact* p, unsigned flips, const double* v_minus,
                             const double* rate, double* v_plus, double* Lambda) {
  int n = p->n, m = p->after_count;
  assert(m <= p->m);  // bits of flips beyond the planes are not looked at
  force_directions(p, flips);
  for (int s = 0; s < m; s++) {
    double* WB = p->scratch + s * n;  // W B_s^T
    for (int i = 0; i < n; i++) {
      WB[i] = 0.0;
      for (int j = 0; j < n; j++) {
        WB[i] += p->W[i + j * n] * p->B[s * n + j];
      }
    }
    for (int r = 0; r < m; r++) {  // D = G W B^T
      p->D[r + s * m] = 0.0;
      for (int j = 0; j < n; j++) {
        p->D[r + s * m] += p->after[r * n + j] * WB[j];
      }
    }
  }
  double *size = p->angles + n, *b = p->rhs + (n > m ? n : m);
  for (int r = 0; r < m; r++) {  // D Lambda = -g_t - G v-, rows and columns of unit size
    size[r] = 1.0 / sqrt(product(p, p->after + r * n, p->after + r * n));
    b[r] = -rate[p->after_row[r]];
    for (int j = 0; j < n; j++) {
      b[r] -= p->after[r * n + j] * v_minus[j];
    }
    b[r] *= size[r];
  }
  for (int k = 0; k < m * m; k++) {
    p->D[k] *= size[k % m] * size[k / m];
  }
  if (m > 0 && pawl_lu_factor(m, p->D, p->pivot, PAWL_IMPACT_PIVOT) != 0) {
    return PAWL_RETRY;
  }
  double* impulse = p->rhs;
  if (m > 0) {
    pawl_lu_solve(m, p->D, p->pivot, b, impulse);
  }
  for (int r = 0; r < m; r++) {
    impulse[r] *= size[r];
  }
  memcpy(v_plus, v_minus, (size_t)n * sizeof(double));
  for (int s = 0; s < m; s++) {
    Lambda[p->after_row[s]] = impulse[s];
    for (int i = 0; i < n; i++) {
      v_plus[i] += p->scratch[s * n + i] * impulse[s];
    }
  }
  return PAWL_OK;
}
