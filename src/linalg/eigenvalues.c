// SPDX-License-Identifier: Apache-2.0
// Eigenvalues of real matrices by LAPACK's dgeev, of symmetric ones by dsyev.
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

static bool is_finite(int n, const double* A) {
  for (size_t i = 0; i < (size_t)n * (size_t)n; i++) {
    if (!isfinite(A[i])) {
      return false;
    }
  }
  return true;
}

PawlStatus pawl_symmetric_eigenvalues(int n, const double* A, double* values, double* V) {
  double room = 0.0;
  if (n == 0 || !is_finite(n, A)) {
    return n == 0 ? PAWL_OK : PAWL_RETRY;
  }
  memcpy(V, A, (size_t)n * (size_t)n * sizeof *V);
  LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'L', n, V, n, values, &room, -1);
  PawlArena arena = {0};
  double* work = PAWL_NEW(&arena, double, room);
  int info =
      work ? LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'L', n, V, n, values, work, (int)room) : 0;
  PawlStatus status = !work ? PAWL_ERROR_MEMORY : info == 0 ? PAWL_OK : PAWL_RETRY;
  pawl_arena_free(&arena);
  return status;
}

PawlStatus pawl_eigenvalues(int n, const double* A, double* real, double* imaginary, double* V) {
  if (n == 0 || !is_finite(n, A)) {
    return n == 0 ? PAWL_OK : PAWL_RETRY;
  }
  PawlArena arena = {0};
  PawlStatus status = run(&arena, n, A, real, imaginary, V);
  pawl_arena_free(&arena);
  return status;
}
