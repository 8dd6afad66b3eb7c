// SPDX-License-Identifier: Apache-2.0
// One contact after the other: with the impulses of all others as they are, w = D_c lambda + q_c
// over its own rows, which has one solution (docs/theory/moreau-jean.md, "Friction").
#include "step/rub_sweep.h"

#include <math.h>
#include <string.h>

#include "switch/tolerances.h"

enum { MOST_ROWS = 3, MOST_INNER = 60 };

typedef struct Local {
  int count, row[MOST_ROWS];
  double D[MOST_ROWS][MOST_ROWS], q[MOST_ROWS], lambda[MOST_ROWS], mu;
} Local;

static Local local_of(const PawlRubSweep* p, int contact) {
  const PawlFrictionBlock* block = &p->block[contact];
  Local l = {.count = 1, .row = {block->normal}, .mu = block->mu};
  for (int i = 0; i < 2 && block->tangent[i] >= 0; i++) {
    l.row[l.count++] = block->tangent[i];
  }
  for (int i = 0; i < l.count; i++) {
    l.q[i] = p->w[l.row[i]];
    for (int j = 0; j < l.count; j++) {
      l.D[i][j] = p->D[l.row[i] + l.row[j] * p->m];
      l.q[i] -= l.D[i][j] * p->lambda[l.row[j]];
    }
  }
  return l;
}

// lambda with w = 0 in all rows; false: rows depend on each other.
static bool stick(const Local* l, double* lambda) {
  double A[MOST_ROWS][MOST_ROWS + 1];
  for (int i = 0; i < l->count; i++) {
    memcpy(A[i], l->D[i], sizeof l->D[i]);
    A[i][l->count] = -l->q[i];
  }
  for (int k = 0; k < l->count; k++) {
    if (A[k][k] <= PAWL_DEPENDENT_PIVOT * l->D[k][k]) {
      return false;
    }
    for (int i = 0; i < l->count; i++) {
      double factor = i == k ? 0.0 : A[i][k] / A[k][k];
      for (int j = k; j <= l->count; j++) {
        A[i][j] -= factor * A[k][j];
      }
    }
  }
  for (int i = 0; i < l->count; i++) {
    lambda[i] = A[i][l->count] / A[i][i];
  }
  return true;
}

static double length(int count, const double* x) {
  return count == 1 ? fabs(x[0]) : count == 2 ? hypot(x[0], x[1]) : 0.0;
}

// Slip along a given direction d: lambda_T = -mu lambda_N d, w_N = 0.
static bool slip_along(const Local* l, const double* d, double* lambda) {
  double slope = l->D[0][0];
  for (int i = 1; i < l->count; i++) {
    slope -= l->mu * l->D[0][i] * d[i - 1];
  }
  lambda[0] = slope > 0.0 ? -l->q[0] / slope : 0.0;
  for (int i = 1; i < l->count; i++) {
    lambda[i] = -l->mu * lambda[0] * d[i - 1];
  }
  return slope > 0.0;
}

static void tangent_rate(const Local* l, const double* lambda, double* w) {
  for (int i = 1; i < l->count; i++) {
    w[i - 1] = l->q[i];
    for (int j = 0; j < l->count; j++) {
      w[i - 1] += l->D[i][j] * lambda[j];
    }
  }
}

// Slip in the direction that it makes itself: w_T = |w_T| d. In a plane one of two.
static void slip(const Local* l, double* lambda) {
  double d[2] = {0.0, 0.0}, w[2] = {0.0, 0.0}, start[MOST_ROWS] = {0.0};
  start[0] = -l->q[0] / l->D[0][0];
  tangent_rate(l, start, w);
  for (int k = 0; k < MOST_INNER; k++) {
    double size = length(l->count - 1, w), change = 0.0;
    for (int i = 0; i < l->count - 1; i++) {
      double next = size > 0.0 ? w[i] / size : 0.0;
      change += fabs(next - d[i]);
      d[i] = next;
    }
    if (change <= PAWL_ROWS_EXACT || !slip_along(l, d, lambda)) {
      return;
    }
    // w_T without what the friction along d does to it keeps its direction.
    tangent_rate(l, lambda, w);
    for (int i = 0; i < l->count - 1; i++) {
      w[i] += l->mu * lambda[0] * l->D[1][1] * d[i];
    }
  }
}

static void solve(Local* l) {
  double lambda[MOST_ROWS] = {0.0};
  if (l->q[0] >= 0.0 || !(l->D[0][0] > 0.0)) {
    memset(l->lambda, 0, sizeof l->lambda);
    return;
  }
  if (!stick(l, lambda) || !(lambda[0] > 0.0) ||
      length(l->count - 1, lambda + 1) > l->mu * lambda[0]) {
    slip(l, lambda);
  }
  memcpy(l->lambda, lambda, sizeof lambda);
}

// One sweep: the largest change, and the largest impulse, both times sqrt(D_ii).
static double sweep(const PawlRubSweep* p, double* size) {
  double change = 0.0;
  *size = 0.0;
  for (int c = 0; c < p->contacts; c++) {
    Local l = local_of(p, c);
    solve(&l);
    for (int i = 0; i < l.count; i++) {
      double root = sqrt(fmax(l.D[i][i], 0.0)), by = l.lambda[i] - p->lambda[l.row[i]];
      const double* column = p->D + l.row[i] * p->m;
      p->lambda[l.row[i]] = l.lambda[i];
      for (int j = 0; by != 0.0 && j < p->m; j++) {
        p->w[j] += column[j] * by;
      }
      change = fmax(change, root * fabs(by));
      *size = fmax(*size, root * fabs(l.lambda[i]));
    }
  }
  return change;
}

double pawl_rub_sweep(const PawlRubSweep* p) {
  enum { AGAIN = 64 };  // sweeps after which w is computed anew
  double change = INFINITY, size = 0.0;
  for (int k = 0; k < p->most && change > PAWL_ROWS_EXACT * size; k++) {
    if (k % AGAIN == 0) {
      memcpy(p->w, p->q, (size_t)p->m * sizeof(double));
      for (int j = 0; j < p->m; j++) {
        for (int i = 0; i < p->m; i++) {
          p->w[i] += p->D[i + j * p->m] * p->lambda[j];
        }
      }
    }
    change = sweep(p, &size);
  }
  return size > 0.0 ? change / size : 0.0;
}
