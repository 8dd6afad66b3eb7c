// SPDX-License-Identifier: Apache-2.0
// Eigenvalues of a general real matrix by LAPACK's dgeev.
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "linalg/exponential.h"

static PawlStatus run(PawlArena* arena, int n, const double* A, double* real, double* imaginary,
                      double* V) {
  size_t entries = (size_t)n * (size_t)n;
  char wanted = V ? 'V' : 'N';
  double room = 0.0;
  double* copy = PAWL_NEW(arena, double, entries);
  if (!copy) {
    return PAWL_ERROR_MEMORY;
  }
  memcpy(copy, A, entries * sizeof *copy);
  LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', wanted, n, copy, n, real, imaginary, NULL, n, V, n,
                     &room, -1);
  double* work = PAWL_NEW(arena, double, room);
  if (!work) {
    return PAWL_ERROR_MEMORY;
  }
  int info = LAPACKE_dgeev_work(LAPACK_COL_MAJOR, 'N', wanted, n, copy, n, real, imaginary, NULL, n,
                                V, n, work, (int)room);
  return info == 0 ? PAWL_OK : PAWL_RETRY;
}

PawlStatus pawl_eigenvalues(int n, const double* A, double* real, double* imaginary, double* V) {
  for (size_t i = 0; i < (size_t)n * (size_t)n; i++) {
    if (!isfinite(A[i])) {
      return PAWL_RETRY;
    }
  }
  if (n == 0) {
    return PAWL_OK;
  }
  PawlArena arena = {0};
  PawlStatus status = run(&arena, n, A, real, imaginary, V);
  pawl_arena_free(&arena);
  return status;
}
