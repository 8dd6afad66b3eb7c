// SPDX-License-Identifier: Apache-2.0
// Gram-Schmidt, one row after the other, each orthogonalised twice against those before it ("twice
// is enough", Kahan and Parlett).
#include "linalg/span.h"

#include <assert.h>
#include <math.h>

#include "linalg/vector.h"

static double product(const PawlSpan* s, const double* x, const double* y) {
  double sum = 0.0;
  for (int j = 0; s->W && j < s->n; j++) {
    double column = 0.0;
    for (int i = 0; i < s->n; i++) {
      column += x[i] * s->W[i + j * s->n];
    }
    sum += column * y[j];
  }
  return s->W ? sum : pawl_dot(s->n, x, y);
}

// To a largest entry near 1, by a power of two: squares neither overflow nor vanish, and nothing is
// rounded. The power that was taken out.
static int scale(int n, double* x) {
  double top = 0.0;
  int exponent = 0;
  for (int j = 0; j < n; j++) {
    top = fmax(top, fabs(x[j]));
  }
  (void)frexp(top, &exponent);
  for (int j = 0; top > 0.0 && j < n; j++) {
    x[j] = ldexp(x[j], -exponent);
  }
  return exponent;
}

// The lengths before and after.
static void project_out(const PawlSpan* s, double* x, double* before, double* left) {
  *before = sqrt(product(s, x, x));
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < s->count; k++) {
      const double* q = pawl_row(s->Q, s->n, k);
      pawl_add_scaled(s->n, x, -product(s, x, q), q);
    }
  }
  *left = sqrt(product(s, x, x));
}

double pawl_span_take_out(const PawlSpan* s, double* x) {
  double before, left;
  int exponent = scale(s->n, x);
  project_out(s, x, &before, &left);
  for (int j = 0; j < s->n; j++) {
    x[j] = ldexp(x[j], exponent);
  }
  return before > 0.0 ? left / before : 0.0;
}

bool pawl_span_extend(PawlSpan* s, const double* x) {
  double before, left;
  assert(s->count <= s->n);
  if (s->count == s->n) {
    return false;
  }
  double* q = pawl_row(s->Q, s->n, s->count);
  for (int j = 0; j < s->n; j++) {
    q[j] = x[j];
  }
  (void)scale(s->n, q);
  project_out(s, q, &before, &left);
  if (!(left > PAWL_DEPENDENT * before)) {
    return false;
  }
  for (int j = 0; j < s->n; j++) {
    q[j] /= left;
  }
  s->count++;
  return true;
}
