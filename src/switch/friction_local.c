// SPDX-License-Identifier: Apache-2.0
// One contact by itself (docs/theory/friction.md, section 7). While it slips w_N = 0 and w_T is
// against lambda_T, w_T = -sigma lambda_T with sigma >= 0. With the normal row eliminated
//
//   (K + sigma) lambda_T = -b,      K = D_TT - D_TN D_NT / D_NN,   b = q_T - D_TN q_N / D_NN
//   lambda_N = -(q_N + D_NT lambda_T) / D_NN                                                (F60)
//
// and sigma is where the border of the cone is met,
//
//   psi(sigma) = mu lambda_N / |lambda_T| = 1:    psi(0) < 1,  psi -> infinity.             (F61)
#include "switch/friction_local.h"

#include <math.h>
#include <string.h>

#include "switch/tolerances.h"

enum { SLIPS = PAWL_FRICTION_LOCAL - 1, MOST = 200 };

typedef struct Slip {
  int count;  // 1 or 2
  double K[SLIPS][SLIPS], b[SLIPS];
  double sum;  // of the diagonal of K
} Slip;

// The slips with the normal row held.                                                     (F60)
static Slip slip_of(const PawlFrictionLocal* l) {
  Slip s = {.count = l->count - 1};
  for (int i = 0; i < s.count; i++) {
    double part = l->D[1 + i][0] / l->D[0][0];
    s.b[i] = l->q[1 + i] - part * l->q[0];
    for (int j = 0; j < s.count; j++) {
      s.K[i][j] = l->D[1 + i][1 + j] - part * l->D[0][1 + j];
    }
    s.sum += s.K[i][i];
  }
  return s;
}

// (K + sigma) x = right; false: its rows depend on each other.
static bool solve_slips(const Slip* s, double sigma, const double* right, double* x) {
  double a = s->K[0][0] + sigma;
  if (s->count == 1) {
    x[0] = right[0] / a;
    x[1] = 0.0;
    return a > PAWL_DEPENDENT_PIVOT * fabs(s->sum);
  }
  double d = s->K[1][1] + sigma, b = s->K[0][1], c = s->K[1][0], determinant = a * d - b * c;
  x[0] = (d * right[0] - b * right[1]) / determinant;
  x[1] = (a * right[1] - c * right[0]) / determinant;
  return determinant > PAWL_DEPENDENT_PIVOT * a * d && a > 0.0 && d > 0.0;
}

static double across(const PawlFrictionLocal* l, const double* x) {
  double sum = l->D[0][1] * x[0];
  return l->count > 2 ? sum + l->D[0][2] * x[1] : sum;
}

// lambda for a sigma; false: there is none.                                               (F60)
static bool follow(PawlFrictionLocal* l, const Slip* s, double sigma) {
  double right[SLIPS] = {-s->b[0], -s->b[1]};
  bool ok = solve_slips(s, sigma, right, l->lambda + 1);
  l->lambda[0] = -(l->q[0] + across(l, l->lambda + 1)) / l->D[0][0];
  return ok && isfinite(l->lambda[0]);
}

// psi at lambda and its derivative at sigma.                                              (F61)
static double part_of_cone(const PawlFrictionLocal* l, const Slip* s, double sigma, double* slope) {
  const double* T = l->lambda + 1;
  double size = hypot(T[0], T[1]), turn[SLIPS];
  double psi = l->mu * l->lambda[0] / size;
  bool ok = solve_slips(s, sigma, T, turn);  // -d lambda_T / d sigma
  double normal = across(l, turn) / l->D[0][0];
  *slope = l->mu * normal / size + psi * (T[0] * turn[0] + T[1] * turn[1]) / (size * size);
  *slope = ok ? *slope : 0.0;
  return psi;
}

// Newton's method for (F61) from the left, where psi of slips that do not act on the normal row is
// concave and no step goes too far; between bounds, halved where it would leave them.
static bool slip(PawlFrictionLocal* l, const Slip* s, double from) {
  double low = from, high = INFINITY, sigma = from, slope;
  for (int k = 0; k < MOST; k++) {
    double psi = part_of_cone(l, s, sigma, &slope);
    low = psi < 1.0 ? sigma : low;
    high = psi < 1.0 ? high : sigma;
    double next = slope > 0.0 ? sigma + (1.0 - psi) / slope : INFINITY;
    if (!(next >= low && next <= high) || !isfinite(next)) {
      next = isfinite(high) ? 0.5 * (low + high) : 2.0 * low + s->sum;
    }
    double least = PAWL_ROWS_ROUNDING * next + PAWL_ROWS_EXACT * s->sum;
    bool done = fabs(next - sigma) <= least;  // the step itself leaves its square
    if (!follow(l, s, next)) {
      return false;
    }
    sigma = next;
    if (done) {
      return true;
    }
  }
  return false;
}

// The border of the cone to rounding, with w_N = 0.
static void round_off(PawlFrictionLocal* l) {
  double size = hypot(l->lambda[1], l->lambda[2]), slope = l->D[0][0];
  double d[SLIPS] = {l->lambda[1] / size, l->lambda[2] / size};
  slope += l->mu * across(l, d);
  double normal = slope > 0.0 ? -l->q[0] / slope : l->lambda[0];
  l->lambda[0] = normal;
  l->lambda[1] = l->mu * normal * d[0];
  l->lambda[2] = l->mu * normal * d[1];
}

static bool holds(const PawlFrictionLocal* l) {
  return l->lambda[0] >= 0.0 && hypot(l->lambda[1], l->lambda[2]) <= l->mu * l->lambda[0];
}

static bool rub(PawlFrictionLocal* l) {
  Slip s = slip_of(l);
  double from = 0.0;
  if (l->mu == 0.0 || !(s.sum > 0.0)) {
    l->lambda[0] = -l->q[0] / l->D[0][0];
    return true;
  }
  bool found = follow(l, &s, 0.0);
  if (!found) {  // slips that depend on each other yield by as much as nothing
    from = PAWL_FRICTION_YIELDS * s.sum;
    found = follow(l, &s, from);
  }
  if (!found || holds(l)) {
    return found;
  }
  found = slip(l, &s, from) && l->lambda[0] > 0.0;
  if (found) {
    round_off(l);
  }
  return found;
}

bool pawl_friction_local_solve(PawlFrictionLocal* l) {
  bool found = true;
  memset(l->lambda, 0, sizeof l->lambda);
  if (l->q[0] >= 0.0 || !(l->D[0][0] > 0.0)) {
    return true;
  }
  if (l->count == 1) {
    l->lambda[0] = -l->q[0] / l->D[0][0];
  } else {
    found = rub(l);
  }
  if (!found) {
    memset(l->lambda, 0, sizeof l->lambda);
  }
  return found;
}

double pawl_friction_local_off(const PawlFrictionLocal* l, const double* w, double* size) {
  double own = l->D[0][0], y[SLIPS] = {0.0, 0.0}, off = 0.0;
  if (!(own > 0.0)) {
    return 0.0;
  }
  double root = sqrt(own),
         normal = root * fabs(l->lambda[0] - fmax(l->lambda[0] - w[0] / own, 0.0));
  *size = fmax(*size, root * fabs(l->lambda[0]));
  own = fmax(l->D[1][1], l->count > 2 ? l->D[2][2] : 0.0);
  if (l->count < 2 || !(own > 0.0)) {
    return normal;
  }
  for (int i = 0; i < l->count - 1; i++) {
    y[i] = l->lambda[1 + i] - w[1 + i] / own;
  }
  double limit = l->mu * fmax(l->lambda[0], 0.0), length = hypot(y[0], y[1]);
  for (int i = 0; i < l->count - 1; i++) {
    off = hypot(off, l->lambda[1 + i] - (length > limit ? limit / length : 1.0) * y[i]);
  }
  *size = fmax(*size, sqrt(own) * hypot(l->lambda[1], l->lambda[2]));
  return fmax(normal, sqrt(own) * off);
}
