// SPDX-License-Identifier: Apache-2.0
// Random matrices and KKT systems for the tests of linalg. Every sum is formed here from the dense
// blocks, independently of the solver's own assembly.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "linalg/kkt.h"

#define SYSTEM_MAX 64  // largest n and m of a test system with dense blocks

static inline double test_random(void) {  // in [-1, 1), the same numbers on every machine
  static unsigned long long state = 12345;
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(state >> 11) * 0x1p-52 - 1.0;
}

static inline void fill_random(int count, double* a) {
  for (int i = 0; i < count; i++) {
    a[i] = test_random();
  }
}

// A system with dense blocks S (n-by-n) and B, J (m-by-n), stored by columns, and their patterns.
typedef struct TestSystem {
  int n, m;
  double S[SYSTEM_MAX * SYSTEM_MAX], B[SYSTEM_MAX * SYSTEM_MAX], J[SYSTEM_MAX * SYSTEM_MAX];
  unsigned char has_S[SYSTEM_MAX * SYSTEM_MAX], has_G[SYSTEM_MAX * SYSTEM_MAX];
  int S_start[SYSTEM_MAX + 1], S_index[SYSTEM_MAX * SYSTEM_MAX];
  int G_start[SYSTEM_MAX + 1], G_index[SYSTEM_MAX * SYSTEM_MAX];
  double S_values[SYSTEM_MAX * SYSTEM_MAX], B_values[SYSTEM_MAX * SYSTEM_MAX];
  double J_values[SYSTEM_MAX * SYSTEM_MAX];
} TestSystem;

// Copies the dense blocks into the values in pattern order.
static inline void system_values(TestSystem* s) {
  for (int j = 0; j < s->n; j++) {
    for (int k = s->S_start[j]; k < s->S_start[j + 1]; k++) {
      s->S_values[k] = s->S[s->S_index[k] + j * s->n];
    }
    for (int k = s->G_start[j]; k < s->G_start[j + 1]; k++) {
      s->B_values[k] = s->B[s->G_index[k] + j * s->m];
      s->J_values[k] = s->J[s->G_index[k] + j * s->m];
    }
  }
}

// Patterns from has_S and has_G; blocks are cleared outside them.
static inline void system_patterns(TestSystem* s) {
  int S_count = 0, G_count = 0;
  for (int j = 0; j < s->n; j++) {
    for (int i = 0; i < s->n; i++) {
      if (s->has_S[i + j * s->n]) {
        s->S_index[S_count++] = i;
      } else {
        s->S[i + j * s->n] = 0.0;
      }
    }
    for (int i = 0; i < s->m; i++) {
      if (s->has_G[i + j * s->m]) {
        s->G_index[G_count++] = i;
      } else {
        s->B[i + j * s->m] = s->J[i + j * s->m] = 0.0;
      }
    }
    s->S_start[j + 1] = S_count;
    s->G_start[j + 1] = G_count;
  }
  system_values(s);
}

// Random, of the given density, S with a heavy diagonal. `symmetric`: S = S^T and B = J.
static inline TestSystem* system_random(int n, int m, double density, bool symmetric) {
  TestSystem* s = calloc(1, sizeof *s);
  s->n = n;
  s->m = m;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i <= j; i++) {
      bool here = i == j || fabs(test_random()) < density;
      s->has_S[i + j * n] = s->has_S[j + i * n] = here;
      s->S[i + j * n] = test_random() + (i == j ? 1.0 + n : 0.0);
      s->S[j + i * n] = symmetric || i == j ? s->S[i + j * n] : test_random();
    }
    for (int i = 0; i < m; i++) {
      s->has_G[i + j * m] = i % n == j || (i + 1) % n == j || fabs(test_random()) < density;
      s->J[i + j * m] = test_random() + (i % n == j ? 2.0 : 0.0);
      s->B[i + j * m] = symmetric ? s->J[i + j * m] : s->J[i + j * m] + 0.1 * test_random();
    }
  }
  system_patterns(s);
  return s;
}

static inline PawlKkt* system_kkt(const TestSystem* s, PawlKktSolver solver) {
  PawlPattern S = {s->n, s->n, s->S_start, s->S_index};
  PawlPattern G = {s->m, s->n, s->G_start, s->G_index};
  PawlKkt* kkt = NULL;
  assert_int_equal(pawl_kkt_create(&S, &G, solver, &kkt, NULL), PAWL_OK);
  assert_non_null(kkt);
  return kkt;
}

static inline PawlStatus system_factor(PawlKkt* kkt, const TestSystem* s,
                                       const unsigned char* active) {
  return pawl_kkt_factor(kkt, s->S_values, s->B_values, s->J_values, active);
}

static inline PawlStatus system_factor_if_changed(PawlKkt* kkt, const TestSystem* s,
                                                  const unsigned char* active) {
  if (pawl_kkt_holds(kkt, s->S_values, s->B_values, s->J_values, active)) {
    return PAWL_OK;
  }
  return pawl_kkt_factor_and_keep(kkt, s->S_values, s->B_values, s->J_values, active);
}

// Largest residual of the system at (x, y) for the right side (b, c), relative to the sum of the
// absolute values that it is the difference of.
static inline double system_residual(const TestSystem* s, const unsigned char* active,
                                     const double* b, const double* c, const double* x,
                                     const double* y) {
  double top = 0.0;
  for (int i = 0; i < s->n; i++) {
    double sum = -b[i], size = fabs(b[i]);
    for (int j = 0; j < s->n; j++) {
      sum += s->S[i + j * s->n] * x[j];
      size += fabs(s->S[i + j * s->n] * x[j]);
    }
    for (int k = 0; k < s->m; k++) {
      sum -= s->B[k + i * s->m] * y[k];
      size += fabs(s->B[k + i * s->m] * y[k]);
    }
    top = fmax(top, size > 0.0 ? fabs(sum) / size : 0.0);
  }
  for (int i = 0; i < s->m; i++) {
    double sum = -c[i], size = fabs(c[i]);
    if (active && !active[i]) {
      sum += y[i];
    } else {
      for (int j = 0; j < s->n; j++) {
        sum += s->J[i + j * s->m] * x[j];
        size += fabs(s->J[i + j * s->m] * x[j]);
      }
    }
    top = fmax(top, size > 0.0 ? fabs(sum) / size : fabs(sum));
  }
  return top;
}
