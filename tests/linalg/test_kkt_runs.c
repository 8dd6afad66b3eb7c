// SPDX-License-Identifier: Apache-2.0
// Masses of large systems in runs: a chain of links, with symmetry and without, is solved as the
// sparse LU does, and with the same bits on any number of threads. No two runs act on the same
// numbers, and every pair of masses is in one run or waits for them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/kkt_blocks.h"
#include "systems.h"

enum { LINKS = 7001, N = 3 * LINKS, M = 2 * LINKS };

typedef struct Chain {
  int S_start[N + 1], S_index[N], G_start[N + 1], G_index[8 * LINKS];
  double S[N], B[8 * LINKS], J[8 * LINKS], b[N], c[M], x[N], y[M];
} Chain;

static void add_column(Chain* k, int column, int count, const int* rows) {
  int at = k->G_start[column];
  for (int e = 0; e < count; e++) {
    if (rows[e] < M) {
      k->G_index[at] = rows[e];
      k->J[at++] = (e < count / 2 ? 1.0 : -1.0) + 0.3 * test_random();
    }
  }
  k->G_start[column + 1] = at;
}

// Coordinates x, y, angle of all links; joint i has the rows 2 i and 2 i + 1, with links i - 1, i.
static Chain* chain(bool even) {
  Chain* k = calloc(1, sizeof *k);
  assert_non_null(k);
  for (int j = 0; j < N; j++) {
    int i = j % LINKS, kind = j / LINKS;
    int own[] = {2 * i + kind, 2 * i + kind + 2}, all[] = {2 * i, 2 * i + 1, 2 * i + 2, 2 * i + 3};
    k->S_start[j + 1] = j + 1;
    k->S_index[j] = j;
    k->S[j] = kind == 2 ? 0.1 : 1.0 + 0.5 * test_random();
    add_column(k, j, kind == 2 ? 4 : 2, kind == 2 ? all : own);
  }
  int count = k->G_start[N];
  for (int e = 0; e < count; e++) {
    k->B[e] = even ? k->J[e] : k->J[e] * (1.0 + 0.01 * test_random());
  }
  fill_random(N, k->b);
  fill_random(M, k->c);
  return k;
}

static PawlKkt* kkt_of(Chain* k, PawlKktSolver solver) {
  PawlPattern S = {.rows = N, .cols = N, .start = k->S_start, .index = k->S_index};
  PawlPattern G = {.rows = M, .cols = N, .start = k->G_start, .index = k->G_index};
  PawlKkt* kkt = NULL;
  PawlError err = {0};
  assert_int_equal(pawl_kkt_create(&S, &G, solver, &kkt, &err), PAWL_OK);
  return kkt;
}

static void solve(Chain* k, PawlKkt* kkt) {
  assert_int_equal(pawl_kkt_factor(kkt, k->S, k->B, k->J, NULL), PAWL_OK);
  memcpy(k->x, k->b, sizeof k->x);
  memcpy(k->y, k->c, sizeof k->y);
  pawl_kkt_solve(kkt, k->x, k->y);
}

static void solve_at_once(Chain* k, PawlKkt* kkt) {
  memcpy(k->x, k->b, sizeof k->x);
  memcpy(k->y, k->c, sizeof k->y);
  assert_int_equal(pawl_kkt_factor_and_solve(kkt, k->S, k->B, k->J, NULL, k->x, k->y), PAWL_OK);
}

static void check_runs(const PawlKktBlocks* b, int size) {
  int* owner = calloc((size_t)size, sizeof *owner);
  int* taken = calloc((size_t)b->count, sizeof *taken);
  assert_true(owner && taken && b->run_count > 4 && b->late_count > 0);
  for (int k = 0; k < b->run_count; k++) {
    for (int s = b->runs[k].first; s < b->runs[k].end; s++) {
      taken[s]++;
      for (int i = 0; i < b->nodes[s].r; i++) {
        int* of = &owner[b->rest[b->nodes[s].rest + i]];
        assert_true(*of == 0 || *of == k + 1);
        *of = k + 1;
      }
    }
  }
  for (int k = 0; k < b->late_count; k++) {
    taken[b->late[k]]++;
    taken[b->late[k] + 1]++;
  }
  for (int s = 0; s < b->count; s++) {
    assert_int_equal(taken[s], s >= b->run_first && s < b->run_end);
  }
  free(owner);
  free(taken);
}

static void check_chain(bool even) {
  Chain *k = chain(even), *other = malloc(sizeof *other);
  PawlKkt *blocks = kkt_of(k, PAWL_KKT_AUTO), *sparse = kkt_of(k, PAWL_KKT_KLU);
  assert_true(other && pawl_kkt_info(blocks).solver == PAWL_KKT_BLOCKS);
  check_runs(blocks->blocks, N + M);
  solve(k, blocks);
  assert_true(blocks->blocks->even == even && !blocks->rescued);
  memcpy(other, k, sizeof *other);
  solve(other, sparse);
  double most = 0.0;
  for (int j = 0; j < N; j++) {
    most = fmax(most, fabs(other->x[j]));
  }
  for (int j = 0; j < N; j++) {
    assert_true(fabs(k->x[j] - other->x[j]) <= 1e-10 * most);
  }
  for (int threads = 2; threads <= 8; threads += 3) {
    PawlPool* pool = NULL;
    PawlError err = {0};
    PawlKkt* shared = kkt_of(k, PAWL_KKT_AUTO);
    assert_int_equal(pawl_pool_create(threads, &pool, &err), PAWL_OK);
    pawl_kkt_share(shared, pool);
    solve(other, shared);
    assert_memory_equal(other->x, k->x, sizeof k->x);
    assert_memory_equal(other->y, k->y, sizeof k->y);
    solve_at_once(other, shared);
    assert_memory_equal(other->x, k->x, sizeof k->x);
    assert_memory_equal(other->y, k->y, sizeof k->y);
    pawl_kkt_destroy(shared);
    pawl_pool_destroy(pool);
  }
  pawl_kkt_destroy(blocks);
  pawl_kkt_destroy(sparse);
  free(other);
  free(k);
}

// Entries are placed by stretches after a while, with the same bits; not while a row is idle.
static void check_stretches(bool even) {
  Chain *k = chain(even), *other = malloc(sizeof *other);
  PawlKkt* kkt = kkt_of(k, PAWL_KKT_AUTO);
  unsigned char active[M];
  assert_non_null(other);
  memset(active, 1, sizeof active);
  for (int j = 0; j < N; j++) {  // the same numbers all along, so that factors are the same
    k->S[j] = j / LINKS == 2 ? 0.1 : 1.0;
    for (int e = k->G_start[j]; e < k->G_start[j + 1]; e++) {
      k->J[e] = k->J[e] > 0.0 ? 1.0 : -1.0;
      k->B[e] = even ? k->J[e] : 1.01 * k->J[e];
    }
  }
  solve(k, kkt);
  assert_int_equal(kkt->block_B.stretch_count, 0);
  memcpy(other, k, sizeof *other);
  for (int again = 0; again < 8; again++) {
    solve(other, kkt);
    assert_memory_equal(other->x, k->x, sizeof k->x);
    assert_memory_equal(other->y, k->y, sizeof k->y);
  }
  assert_true(kkt->block_S.stretch_count > 0 && kkt->block_B.stretch_count > 0);
  assert_true((kkt->block_J.stretch_count > 0) == !even);
  assert_true(kkt->blocks->place_x.stretch_count > 0 && kkt->blocks->place_y.stretch_count > 0);
  assert_true(kkt->blocks->take_x.stretch_count > 0 && kkt->blocks->take_y.stretch_count > 0);
  int inside = 0, first = 0;
  for (int s = 0; s < kkt->block_B.stretch_count; s++) {
    PawlKktStretch of = kkt->block_B.stretches[s];
    inside += of.period > 0 ? of.end - first : 0;
    first = of.end;
  }
  assert_true(first == kkt->block_B.count && inside >= 0.98 * first);
  active[M / 3] = 0;
  assert_int_equal(pawl_kkt_factor(kkt, k->S, k->B, k->J, active), PAWL_OK);
  assert_int_equal(kkt->block_B.stretch_count, 0);
  solve(other, kkt);
  assert_memory_equal(other->x, k->x, sizeof k->x);
  pawl_kkt_destroy(kkt);
  free(k);
  free(other);
}

static void test_stretches(void** state) {
  (void)state;
  check_stretches(true);
  check_stretches(false);
}

static void test_with_symmetry(void** state) {
  (void)state;
  check_chain(true);
}

static void test_without_symmetry(void** state) {
  (void)state;
  check_chain(false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_with_symmetry),
      cmocka_unit_test(test_without_symmetry),
      cmocka_unit_test(test_stretches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
