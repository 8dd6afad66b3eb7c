// SPDX-License-Identifier: Apache-2.0
// Which rows of A (m-by-n by columns) follow from those before them; their rank.
#pragma once

#include "check.h"
#include "linalg/span.h"

static inline int flag_rows(int m, int n, const double* A, unsigned char* dependent) {
  enum { MOST = 100 };
  static double Q[MOST * MOST], row[MOST];
  assert_true(n <= MOST);
  PawlSpan span = {.n = n, .Q = Q};
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      row[j] = A[i + j * m];
    }
    dependent[i] = !pawl_span_extend(&span, row);
  }
  return span.count;
}
