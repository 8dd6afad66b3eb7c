// SPDX-License-Identifier: Apache-2.0
// Whether a planar problem has one motion at most, whatever pushes it (docs/theory/friction.md,
// section 6). Then its other sets need not be tried.
#include <string.h>

#include "switch/friction_impl.h"

enum { MOST_ROWS = 16 };

bool pawl_friction_unique_alloc(PawlFrictionUnique* u, PawlArena* arena, int m, int blocks) {
  size_t most = m < MOST_ROWS ? (size_t)m : MOST_ROWS;
  size_t few = blocks < PAWL_FRICTION_FEW ? (size_t)blocks : PAWL_FRICTION_FEW;
  u->A = PAWL_NEW(arena, double, (2 + few + most) * most * most);
  u->sticks = PAWL_NEW(arena, unsigned char, few);
  u->of = PAWL_NEW(arena, int, most);
  return !arena->failed;
}

// A without row and column i, as those move when w_i = 0; false: i does not move by itself.
static bool eliminate(double* A, int m, int i) {
  double pivot = A[i + i * m];
  if (!(pivot > PAWL_FRICTION_SHARED)) {
    return false;
  }
  for (int c = 0; c < m; c++) {
    double part = A[i + c * m] / pivot;
    for (int r = 0; c != i && part != 0.0 && r < m; r++) {
      A[r + c * m] -= A[r + i * m] * part;
    }
  }
  return true;
}

static double* copy(const double* A, int m, double* to) {
  memcpy(to, A, (size_t)m * (size_t)m * sizeof(double));
  return to;
}

// lambda_T = c lambda_N: the column of N takes that of T along.
static void tie(const PawlFrictionWork* k, double* A, int b, double c) {
  const PawlFrictionBlock* block = &k->block[b];
  for (int j = 0; j < 1 + pawl_friction_spatial(block); j++) {
    double by = block->sliding ? -k->mu[b] * block->direction[j] : c;
    for (int r = 0; r < k->m; r++) {
      A[r + block->normal * k->m] += by * A[r + block->tangent[j] * k->m];
    }
  }
}

// All choices of the rows from i on of what does not stick: no force, or one, with friction to
// either side.
static bool others_press(const PawlFrictionWork* k, const PawlFrictionUnique* u, int i, double* A) {
  int m = k->m;
  while (i < m && (k->owner[i] >= 0 || pawl_friction_fixed(k, i) || pawl_friction_bilateral(k, i) ||
                   (u->of[i] >= 0 && u->sticks[u->of[i]]))) {
    i++;
  }
  if (i == m) {
    return true;
  }
  int b = u->of[i], sides = b >= 0 && !k->block[b].sliding && k->mu[b] > 0.0 ? 2 : 1;
  bool yes = others_press(k, u, i + 1, A);
  for (int side = 0; yes && side < sides; side++) {
    double* B = copy(A, m, A + m * m);
    if (b >= 0) {
      tie(k, B, b, side == 0 ? k->mu[b] : -k->mu[b]);
    }
    yes = eliminate(B, m, i) && others_press(k, u, i + 1, B);
  }
  return yes;
}

// All choices of the blocks from b on: it sticks or not. Tangential rows that follow from others
// move with these.
static bool blocks_press(const PawlFrictionWork* k, const PawlFrictionUnique* u, int b, double* A) {
  int m = k->m;
  if (b == k->blocks) {
    double* B = copy(A, m, A + m * m);
    bool yes = true;
    for (int c = 0; c < k->blocks; c++) {
      yes = yes && (!u->sticks[c] || eliminate(B, m, k->block[c].normal));
    }
    return yes && others_press(k, u, 0, B);
  }
  u->sticks[b] = 0;
  if (!blocks_press(k, u, b + 1, A)) {
    return false;
  }
  if (k->block[b].sliding || k->mu[b] == 0.0) {
    return true;
  }
  u->sticks[b] = 1;
  double* B = copy(A, m, A + m * m);
  (void)eliminate(B, m, k->block[b].tangent[0]);
  return blocks_press(k, u, b + 1, B);
}

// Few contacts, planar where they do not slide.
static bool fits(const PawlFrictionWork* k) {
  bool yes = k->m <= MOST_ROWS && k->blocks <= PAWL_FRICTION_FEW;
  for (int b = 0; yes && b < k->blocks; b++) {
    const PawlFrictionBlock* block = &k->block[b];
    yes = k->lo[block->normal] == 0.0 && (block->sliding || !pawl_friction_spatial(block));
  }
  return yes;
}

bool pawl_friction_unique(const PawlFrictionWork* k, PawlFrictionUnique* u) {
  if (k->matrix->sparse || !fits(k)) {
    return false;
  }
  int m = k->m;
  double* A = copy(k->matrix->D, m, u->A);
  for (int i = 0; i < m; i++) {
    u->of[i] = -1;
    if (pawl_friction_bilateral(k, i)) {
      (void)eliminate(A, m, i);
    }
  }
  for (int b = 0; b < k->blocks; b++) {
    u->of[k->block[b].normal] = b;
  }
  return blocks_press(k, u, 0, A);
}
