// SPDX-License-Identifier: Apache-2.0
// Islands do not feel each other, so that one solution with the masses serves a row of each of
// them: as many are needed as the largest has rows, (F46), and D is known island by island.
#include "switch/share_islands.h"

#include <math.h>
#include <string.h>

#include "switch/tolerances.h"
#include "switch/trees.h"

enum { MOST_ROWS = 96 };  // of an island, whose compliance is full

struct PawlShareIslands {
  PawlTrees trees;
  PawlByRows rows;
  PawlKkt* masses;
  PawlCompliance* solver;
  int *head, *next;            // v: the first row of the island of this root; rows: the next one
  int *root, *count, islands;  // of islands with rows to be shared: roots; v: their rows
  size_t* start;               // v: of an island, where its compliance begins
  unsigned char* shares;       // v: some row of the island follows from others
  double *D, *x, *none;        // rows * MOST_ROWS; v
  double *q, *size, *lo, *hi, *lambda, *w;  // MOST_ROWS
  unsigned char* state;
};

static PawlStatus make(PawlWatching* w, PawlError* err) {
  PawlDynamics* d = w->dynamics;
  PawlArena* arena = d->arena;
  int n = d->sizes.v, m = d->sizes.rows;
  struct PawlShareIslands* p = PAWL_NEW(arena, struct PawlShareIslands, 1);
  if (!p) {
    return pawl_fail_memory(err);
  }
  pawl_trees_create(arena, n, &p->trees);
  double** of_island[] = {&p->q, &p->size, &p->lo, &p->hi, &p->lambda, &p->w};
  for (size_t k = 0; k < sizeof of_island / sizeof *of_island; k++) {
    *of_island[k] = PAWL_NEW(arena, double, MOST_ROWS);
  }
  int** of_v[] = {&p->head, &p->root, &p->count};
  for (size_t k = 0; k < sizeof of_v / sizeof *of_v; k++) {
    *of_v[k] = PAWL_NEW(arena, int, n);
  }
  p->next = PAWL_NEW(arena, int, m);
  p->start = PAWL_NEW(arena, size_t, n);
  p->shares = PAWL_NEW(arena, unsigned char, n);
  p->state = PAWL_NEW(arena, unsigned char, MOST_ROWS);
  p->D = PAWL_NEW(arena, double, (size_t)m*(size_t)(m < MOST_ROWS ? m : MOST_ROWS));
  p->x = PAWL_NEW(arena, double, n);
  p->none = PAWL_NEW(arena, double, 1);
  int *start = PAWL_NEW(arena, int, n + 1), *index = PAWL_NEW(arena, int, 1);
  if (arena->failed) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_by_rows_create(arena, &d->G, &p->rows, err));
  w->islands = p;
  PawlPattern no_rows = {0, n, start, index};
  PAWL_TRY(pawl_kkt_create(&d->H, &no_rows, PAWL_KKT_AUTO, &p->masses, err));
  return pawl_compliance_create(MOST_ROWS, &p->solver, err);
}

void pawl_share_islands_destroy(struct PawlShareIslands* p) {
  if (p) {
    pawl_kkt_destroy(p->masses);
    pawl_compliance_destroy(p->solver);
  }
}

// The rows in force of each island in which one follows from others, in their order. False: one of
// them has too many.
static bool find_islands(struct PawlShareIslands* p, const PawlDynamics* d, const PawlState* state,
                         const double* M) {
  int n = d->sizes.v, m = d->sizes.rows;
  size_t used = 0;
  pawl_trees_begin(&p->trees, &d->H, M);
  for (int i = 0; i < m; i++) {
    if (state->in_force[i]) {
      pawl_trees_row(&p->trees, &p->rows, i);
    }
  }
  for (int j = 0; j < n; j++) {
    p->head[j] = -1;
    p->count[j] = p->shares[j] = 0;
  }
  for (int i = m - 1; i >= 0; i--) {
    int j = state->in_force[i] ? pawl_trees_of_row(&p->trees, &p->rows, i) : -1;
    if (j >= 0) {
      p->next[i] = p->head[j];
      p->head[j] = i;
      p->count[j]++;
      p->shares[j] |= state->redundant[i];
    }
  }
  p->islands = 0;
  for (int j = 0; j < n; j++) {
    if (p->shares[j]) {
      p->root[p->islands++] = j;
      p->start[j] = used;
      used += (size_t)p->count[j] * (size_t)p->count[j];
      if (p->count[j] > MOST_ROWS) {
        return false;
      }
    }
  }
  return true;
}

// D of all of them: the p-th rows of all are pushed at once.                                 (F46)
static void find_compliances(struct PawlShareIslands* p, const PawlDynamics* d, const double* G) {
  const PawlByRows* rows = &p->rows;
  bool some = true;
  for (int column = 0; some; column++) {
    some = false;
    memset(p->x, 0, (size_t)d->sizes.v * sizeof(double));
    for (int k = 0; k < p->islands; k++) {
      int i = p->count[p->root[k]] > column ? p->head[p->root[k]] : -1;
      for (int a = 0; i >= 0 && a < column; a++) {
        i = p->next[i];
      }
      for (int e = i >= 0 ? rows->start[i] : 0; i >= 0 && e < rows->start[i + 1]; e++) {
        p->x[rows->column[e]] = G[rows->at[e]];
        some = true;
      }
    }
    if (!some) {
      continue;
    }
    pawl_kkt_solve(p->masses, p->x, p->none);
    for (int k = 0; k < p->islands; k++) {
      int j = p->root[k], count = p->count[j], at = 0;
      double* D = p->D + p->start[j] + (size_t)column * (size_t)count;
      for (int i = p->head[j]; column < count && i >= 0; i = p->next[i]) {
        double sum = 0.0;
        for (int e = rows->start[i]; e < rows->start[i + 1]; e++) {
          sum += G[rows->at[e]] * p->x[rows->column[e]];
        }
        D[at++] = sum;
      }
    }
  }
}

// Some contact would have to pull.
static bool bears(const struct PawlShareIslands* p, int count) {
  bool yes = true;
  for (int a = 0; a < count; a++) {
    yes = yes && (p->lo[a] == -INFINITY || p->w[a] == 0.0);
  }
  return yes;
}

static bool solve(struct PawlShareIslands* p, PawlRowsResult* result) {
  PawlRowBounds bounds = {.lo = p->lo, .hi = p->hi};
  memset(p->state, 0, MOST_ROWS);
  return pawl_compliance_solve(p->solver, p->q, p->size, &bounds, result) == PAWL_OK;
}

// With r = -G^T lambda the solution is x = 0, w = 0; where it is not, contacts may pull.
static void share(struct PawlShareIslands* p, const PawlState* state, int j, double* lambda) {
  int count = p->count[j], a = 0;
  const double* D = p->D + p->start[j];
  PawlRowsResult result = {.lambda = p->lambda, .w = p->w, .state = p->state};
  for (int i = p->head[j]; i >= 0; i = p->next[i], a++) {
    pawl_row_bounds((PawlRowOf)state->in_force[i], INFINITY, &p->lo[a], &p->hi[a]);
    p->q[a] = p->size[a] = 0.0;
    int b = 0;
    for (int k = p->head[j]; k >= 0; k = p->next[k], b++) {
      p->q[a] -= D[a + b * count] * lambda[k];
      p->size[a] += fabs(D[a + b * count] * lambda[k]);
    }
  }
  if (pawl_compliance_set(p->solver, count, D, NULL) != PAWL_OK || !solve(p, &result)) {
    return;
  }
  if (!bears(p, count)) {
    for (int b = 0; b < count; b++) {
      p->lo[b] = -INFINITY;
    }
    if (!solve(p, &result)) {
      return;
    }
  }
  a = 0;
  for (int i = p->head[j]; i >= 0; i = p->next[i]) {
    lambda[i] = p->lambda[a++];
  }
}

PawlStatus pawl_share_islands(PawlWatching* w, const PawlState* state, const PawlValues* values,
                              double* lambda, bool* found, PawlError* err) {
  const PawlDynamics* d = w->dynamics;
  *found = false;
  PAWL_TRY(w->islands ? PAWL_OK : make(w, err));
  struct PawlShareIslands* p = w->islands;
  if (!find_islands(p, d, state, values->M)) {
    return PAWL_OK;
  }
  if (!pawl_kkt_holds(p->masses, values->M, p->none, p->none, NULL)) {
    PawlStatus status = pawl_kkt_factor_and_keep(p->masses, values->M, p->none, p->none, NULL);
    if (status != PAWL_OK) {
      return status == PAWL_RETRY ? PAWL_OK : pawl_fail_memory(err);
    }
  }
  find_compliances(p, d, values->G);
  for (int k = 0; k < p->islands; k++) {
    share(p, state, p->root[k], lambda);
  }
  *found = true;
  return PAWL_OK;
}
