// SPDX-License-Identifier: Apache-2.0
// Block elimination against the sparse LU, on mechanisms at random: bodies with masses, joints
// between them along trees, with loops, and on nets; in all units, with and without symmetry.
#include <math.h>

#include "linalg/kkt_blocks.h"
#include "mechanisms.h"

// Other units of the coordinates and of the rows, and of the mass: by powers of ten.
static void change_units(Mechanism* k, double length, double mass) {
  for (int j = 0; j < k->n; j++) {
    double of_j = j % 2 ? length : 1.0;
    for (int e = k->S_start[j]; e < k->S_start[j + 1]; e++) {
      k->S[e] *= mass * of_j * (k->S_index[e] % 2 ? length : 1.0);
    }
    for (int e = k->G_start[j]; e < k->G_start[j + 1]; e++) {
      k->B[e] *= of_j * (k->G_index[e] % 3 ? 1.0 : length);
      k->J[e] *= of_j * (k->G_index[e] % 3 ? 1.0 : length);
    }
  }
}

// The largest residual of an equation, by the sum of the sizes of its terms.
static double residual(const Mechanism* k, const unsigned char* active, const double* b,
                       const double* c, const double* x, const double* y) {
  double* r = take((size_t)(k->n + k->m), sizeof(double));
  double* size = take((size_t)(k->n + k->m), sizeof(double));
  double worst = 0.0;
  for (int i = 0; i < k->n + k->m; i++) {
    r[i] = i < k->n ? b[i] : c[i - k->n];
    size[i] = fabs(r[i]);
  }
  for (int j = 0; j < k->n; j++) {
    for (int e = k->S_start[j]; e < k->S_start[j + 1]; e++) {
      r[k->S_index[e]] -= k->S[e] * x[j];
      size[k->S_index[e]] += fabs(k->S[e] * x[j]);
    }
    for (int e = k->G_start[j]; e < k->G_start[j + 1]; e++) {
      int i = k->G_index[e];
      r[j] += k->B[e] * y[i];
      size[j] += fabs(k->B[e] * y[i]);
      r[k->n + i] -= k->J[e] * x[j];
      size[k->n + i] += fabs(k->J[e] * x[j]);
    }
  }
  for (int i = 0; i < k->n + k->m; i++) {
    bool on = i < k->n || !active || active[i - k->n];
    worst = on && size[i] > 0.0 ? fmax(worst, fabs(r[i]) / size[i]) : worst;
  }
  free(r), free(size);
  return worst;
}

static void fill_right(const Mechanism* k, double* b, double* c, double* x, double* y) {
  fill_random(k->n, b);
  fill_random(k->m, c);
  memcpy(x, b, (size_t)k->n * sizeof *x);
  memcpy(y, c, (size_t)k->m * sizeof *y);
}

enum { MOST = 4096 };
static double b_side[MOST], c_side[MOST], x_1[MOST], y_1[MOST], x_2[MOST], y_2[MOST];

// Solves by blocks and by KLU: the former leaves a residual of rounding.
static void compare(const Mechanism* k, PawlKkt* blocks, PawlKkt* sparse,
                    const unsigned char* active) {
  assert_int_equal(pawl_kkt_factor(blocks, k->S, k->B, k->J, active), PAWL_OK);
  assert_int_equal(pawl_kkt_factor(sparse, k->S, k->B, k->J, active), PAWL_OK);
  fill_right(k, b_side, c_side, x_1, y_1);
  memcpy(x_2, x_1, sizeof x_1);
  memcpy(y_2, y_1, sizeof y_1);
  pawl_kkt_solve(blocks, x_1, y_1);
  pawl_kkt_solve(sparse, x_2, y_2);
  double off = residual(k, active, b_side, c_side, x_1, y_1);
  if (off > 1e-10) {
    fail_msg("residual %g, that of the sparse solver %g", off,
             residual(k, active, b_side, c_side, x_2, y_2));
  }
}

static const Kind kinds[] = {
    {.bodies = 40, .size = 3, .rows = 2},
    {.bodies = 40, .size = 6, .rows = 3, .dense = true},
    {.bodies = 30, .size = 6, .rows = 5, .dense = true, .uneven = true},
    {.bodies = 30, .size = 6, .rows = 3, .loops = 8, .dense = true},
    {.bodies = 36, .size = 2, .rows = 1, .net = true},
    {.bodies = 64, .size = 3, .rows = 1, .net = true, .dense = true, .uneven = true},
    {.bodies = 144, .size = 2, .rows = 1, .net = true},
    {.bodies = 30, .size = 3, .rows = 2, .tangents = true},
    {.bodies = 30, .size = 6, .rows = 5, .tangents = true, .dense = true, .uneven = true},
    {.bodies = 49, .size = 2, .rows = 1, .net = true, .tangents = true},
    {.bodies = 50, .size = 1, .rows = 0, .tangents = true},
    {.bodies = 20, .size = 9, .rows = 3, .star = true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void test_against_the_sparse_solver(void** state) {
  (void)state;
  int rescued[KINDS] = {0};
  for (int c = 0; c < KINDS; c++) {
    for (int trial = 0; trial < 12; trial++) {
      Mechanism k = mechanism(&kinds[c]);
      PawlKkt *blocks = kkt_of(&k, PAWL_KKT_BLOCKS), *sparse = kkt_of(&k, PAWL_KKT_KLU);
      assert_int_equal(pawl_kkt_info(blocks).solver, PAWL_KKT_BLOCKS);
      compare(&k, blocks, sparse, NULL);
      rescued[c] += pawl_kkt_info(blocks).full > 0;
      pawl_kkt_destroy(blocks);
      pawl_kkt_destroy(sparse);
      mechanism_free(&k);
    }
  }
  for (int c = 0; c < 8; c++) {  // of those without tangents, few have large entries of L
    assert_true(rescued[c] <= (kinds[c].uneven ? 3 : 0));
  }
}

static void test_units(void** state) {
  (void)state;
  const double scales[] = {1e-4, 1.0, 1e4};
  for (int c = 0; c < KINDS; c++) {
    for (int u = 0; u < 9; u++) {
      Mechanism k = mechanism(&kinds[c]);
      change_units(&k, scales[u / 3], scales[u % 3]);
      PawlKkt *blocks = kkt_of(&k, PAWL_KKT_BLOCKS), *sparse = kkt_of(&k, PAWL_KKT_KLU);
      compare(&k, blocks, sparse, NULL);
      pawl_kkt_destroy(blocks);
      pawl_kkt_destroy(sparse);
      mechanism_free(&k);
    }
  }
}

// Rows on and off at random, some of the time most of them.
static void test_sets(void** state) {
  (void)state;
  unsigned char active[MOST];
  for (int c = 0; c < KINDS; c++) {
    Mechanism k = mechanism(&kinds[c]);
    PawlKkt *blocks = kkt_of(&k, PAWL_KKT_BLOCKS), *sparse = kkt_of(&k, PAWL_KKT_KLU);
    for (int trial = 0; trial < 12; trial++) {
      for (int i = 0; i < k.m; i++) {
        active[i] = test_random() > (trial % 3 == 2 ? 0.5 : -0.8);
      }
      compare(&k, blocks, sparse, active);
      for (int i = 0; i < k.m; i++) {  // y of an idle row is given
        assert_true(active[i] || y_1[i] == c_side[i]);
      }
    }
    pawl_kkt_destroy(blocks);
    pawl_kkt_destroy(sparse);
    mechanism_free(&k);
  }
}

static void test_two_right_sides(void** state) {
  (void)state;
  for (int c = 0; c < KINDS; c++) {
    Mechanism k = mechanism(&kinds[c]);
    PawlKkt* kkt = kkt_of(&k, PAWL_KKT_BLOCKS);
    assert_int_equal(pawl_kkt_factor(kkt, k.S, k.B, k.J, NULL), PAWL_OK);
    fill_right(&k, b_side, c_side, x_1, y_1);
    fill_random(k.n, x_2);
    fill_random(k.m, y_2);
    double* p[2] = {take((size_t)k.n, sizeof(double)), take((size_t)k.n, sizeof(double))};
    double* q[2] = {take((size_t)k.m, sizeof(double)), take((size_t)k.m, sizeof(double))};
    memcpy(p[0], x_1, (size_t)k.n * sizeof(double));
    memcpy(p[1], x_2, (size_t)k.n * sizeof(double));
    memcpy(q[0], y_1, (size_t)k.m * sizeof(double));
    memcpy(q[1], y_2, (size_t)k.m * sizeof(double));
    pawl_kkt_solve_two(kkt, p, q);
    pawl_kkt_solve(kkt, x_1, y_1);
    pawl_kkt_solve(kkt, x_2, y_2);
    assert_memory_equal(p[0], x_1, (size_t)k.n * sizeof(double));
    assert_memory_equal(p[1], x_2, (size_t)k.n * sizeof(double));
    assert_memory_equal(q[0], y_1, (size_t)k.m * sizeof(double));
    assert_memory_equal(q[1], y_2, (size_t)k.m * sizeof(double));
    free(p[0]), free(p[1]), free(q[0]), free(q[1]);
    pawl_kkt_destroy(kkt);
    mechanism_free(&k);
  }
}

// A right side that goes down with the factors has the bits of one that comes after them.
static void test_factored_and_solved_at_once(void** state) {
  (void)state;
  int even = 0;
  for (int c = 0; c < KINDS; c++) {
    Mechanism k = mechanism(&kinds[c]);
    PawlKkt *one = kkt_of(&k, PAWL_KKT_BLOCKS), *other = kkt_of(&k, PAWL_KKT_BLOCKS);
    for (int trial = 0; trial < 3; trial++) {
      fill_right(&k, b_side, c_side, x_1, y_1);
      memcpy(x_2, x_1, sizeof x_1);
      memcpy(y_2, y_1, sizeof y_1);
      assert_int_equal(pawl_kkt_factor_and_solve(one, k.S, k.B, k.J, NULL, x_1, y_1), PAWL_OK);
      assert_int_equal(pawl_kkt_factor(other, k.S, k.B, k.J, NULL), PAWL_OK);
      pawl_kkt_solve(other, x_2, y_2);
      assert_memory_equal(x_1, x_2, (size_t)k.n * sizeof(double));
      assert_memory_equal(y_1, y_2, (size_t)k.m * sizeof(double));
      pawl_kkt_solve(one, x_1, y_1);  // another one with the same factors
      pawl_kkt_solve(other, x_2, y_2);
      assert_memory_equal(x_1, x_2, (size_t)k.n * sizeof(double));
      even += one->blocks->even;
    }
    pawl_kkt_destroy(one);
    pawl_kkt_destroy(other);
    mechanism_free(&k);
  }
  assert_true(even >= 9);
}

// Two joints that say the same, or nearly: the verdict of the sparse solver.
static void repeat_row(Mechanism* k, int from, int to, double angle) {
  for (int j = 0; j < k->n; j++) {
    double value = 0.0;
    for (int e = k->G_start[j]; e < k->G_start[j + 1]; e++) {
      value = k->G_index[e] == from ? k->J[e] : value;
    }
    for (int e = k->G_start[j]; e < k->G_start[j + 1]; e++) {
      if (k->G_index[e] == to) {
        k->J[e] = k->B[e] = value + angle * k->J[e];
      }
    }
  }
}

static void test_dependent_rows(void** state) {
  (void)state;
  const double angles[] = {0.0, 1e-12, 1e-9, 1e-3, 1e-2};
  for (int c = 0; c < 4; c += c == 1 ? 2 : 1) {  // symmetric ones
    for (int a = 0; a < 5; a++) {
      Mechanism k = mechanism(&kinds[c]);
      repeat_row(&k, 0, 1, angles[a]);  // rows of one joint
      PawlKkt *blocks = kkt_of(&k, PAWL_KKT_BLOCKS), *sparse = kkt_of(&k, PAWL_KKT_KLU);
      PawlStatus expected = angles[a] < 1e-6 ? PAWL_RETRY : PAWL_OK;
      for (int again = 0; again < 3; again++) {
        assert_int_equal(pawl_kkt_factor(sparse, k.S, k.B, k.J, NULL), expected);
        assert_int_equal(pawl_kkt_factor(blocks, k.S, k.B, k.J, NULL), expected);
      }
      if (expected == PAWL_OK) {
        compare(&k, blocks, sparse, NULL);
      }
      pawl_kkt_destroy(blocks);
      pawl_kkt_destroy(sparse);
      mechanism_free(&k);
    }
  }
}

// A body without mass that rows hold: its block has no pivot, KLU takes over, and is kept for a
// while after the mass is back.
static void test_rescue(void** state) {
  (void)state;
  Kind kind = {.bodies = 20, .size = 3, .rows = 1};
  Mechanism k = mechanism(&kind);
  PawlKkt *blocks = kkt_of(&k, PAWL_KKT_BLOCKS), *sparse = kkt_of(&k, PAWL_KKT_KLU);
  double mass = k.S[10];
  compare(&k, blocks, sparse, NULL);
  assert_int_equal(pawl_kkt_info(blocks).full, 0);
  assert_true(pawl_kkt_is_definite(blocks));
  k.S[10] = 0.0;
  compare(&k, blocks, sparse, NULL);
  assert_true(pawl_kkt_info(blocks).full > 0);
  assert_false(pawl_kkt_is_definite(blocks));
  k.S[10] = mass;
  for (int round = 0; round < 40; round++) {
    compare(&k, blocks, sparse, NULL);
    assert_int_equal(pawl_kkt_is_definite(blocks), round >= 31);
  }
  pawl_kkt_destroy(blocks);
  pawl_kkt_destroy(sparse);
  mechanism_free(&k);
}

// Most rows are idle, so KLU has them: the same rows with other numbers, with numbers that its
// scaling does not fit, and other rows.
static void test_idle_rows_again(void** state) {
  (void)state;
  unsigned char active[MOST] = {0};
  Kind kind = {.bodies = 20, .size = 3, .rows = 2};
  Mechanism k = mechanism(&kind);
  PawlKkt *blocks = kkt_of(&k, PAWL_KKT_BLOCKS), *sparse = kkt_of(&k, PAWL_KKT_KLU);
  for (int i = 0; i < 8; i++) {
    active[4 * i % k.m] = 1;
    for (int again = 0; again < 4; again++) {
      compare(&k, blocks, sparse, active);
      change_units(&k, again == 2 ? 1e-8 : 1.5, again == 2 ? 1e8 : 1.0);
    }
    assert_true(pawl_kkt_info(blocks).full > 0);
    active[4 * i % k.m] = i % 2 == 0;
    change_units(&k, 1e8, 1e-8);
  }
  pawl_kkt_destroy(blocks);
  pawl_kkt_destroy(sparse);
  mechanism_free(&k);
}

// Blocks with large entries of L: solutions are refined.
static void test_refinement(void** state) {
  (void)state;
  Kind kind = {.bodies = 25, .size = 3, .rows = 2, .dense = true};
  for (int e = 1; e < 5; e++) {
    Mechanism k = mechanism(&kind);
    PawlKkt *blocks = kkt_of(&k, PAWL_KKT_BLOCKS), *sparse = kkt_of(&k, PAWL_KKT_KLU);
    compare(&k, blocks, sparse, NULL);
    for (int j = 0; j < k.S_count; j++) {
      k.S[j] *= pow(10.0, -e);  // the scaling stays
    }
    compare(&k, blocks, sparse, NULL);
    pawl_kkt_destroy(blocks);
    pawl_kkt_destroy(sparse);
    mechanism_free(&k);
  }
}

// Pivots of 10^-5 beside entries of 1, which no scaling mends, go to KLU, but for a caller who
// solves for what is left: then blocks serve, and one more solution leaves rounding.
static void test_rough(void** state) {
  (void)state;
  Kind kind = {.bodies = 50, .size = 1, .tangents = true};
  for (int rough = 0; rough < 2; rough++) {
    Mechanism k = mechanism(&kind);
    PawlKkt *blocks = kkt_of(&k, PAWL_KKT_BLOCKS), *sparse = kkt_of(&k, PAWL_KKT_KLU);
    for (int j = 0; j < k.n; j++) {
      for (int e = k.S_start[j]; e < k.S_start[j + 1]; e++) {
        k.S[e] = k.S_index[e] == j && j % 10 == 5 ? 1e-8 : k.S[e];
      }
    }
    if (rough) {
      pawl_kkt_rough(blocks);
    }
    compare(&k, blocks, sparse, NULL);
    assert_int_equal(pawl_kkt_info(blocks).full > 0, !rough);
    pawl_kkt_destroy(blocks);
    pawl_kkt_destroy(sparse);
    mechanism_free(&k);
  }
}

// A right side of one entry, which passes most nodes by, and one of all entries: the same matrix.
static void test_few_entries(void** state) {
  (void)state;
  Kind kind = {.bodies = 144, .size = 3, .net = true, .dense = true, .tangents = true};
  Mechanism k = mechanism(&kind);
  PawlKkt* blocks = kkt_of(&k, PAWL_KKT_BLOCKS);
  assert_int_equal(pawl_kkt_factor(blocks, k.S, k.B, k.J, NULL), PAWL_OK);
  fill_right(&k, b_side, c_side, x_2, y_2);
  pawl_kkt_solve(blocks, x_2, y_2);
  for (int j = 0; j < k.n; j++) {  // the sum of solutions of each entry alone
    memset(x_1, 0, sizeof x_1);
    x_1[j] = b_side[j];
    pawl_kkt_solve(blocks, x_1, y_1);
    for (int i = 0; i < k.n; i++) {
      x_2[i] -= x_1[i];
    }
  }
  for (int i = 0; i < k.n; i++) {
    CHECK_NEAR(x_2[i], 0.0, 1e-12);
  }
  pawl_kkt_destroy(blocks);
  mechanism_free(&k);
}

// What is said of S is used, and need not be true.
static void test_mass_alone(void** state) {
  (void)state;
  Kind pieces = {.bodies = 30, .size = 6, .rows = 5, .tangents = true, .dense = true};
  for (int trial = 0; trial < 60; trial++) {  // bodies of three joints have their rests in pieces
    Mechanism k = mechanism(trial % 4 == 3 ? &pieces : &kinds[7 + trial % 4]);
    PawlPattern S = {k.n, k.n, k.S_start, k.S_index}, G = {k.m, k.n, k.G_start, k.G_index};
    PawlKkt *blocks, *sparse = kkt_of(&k, PAWL_KKT_KLU);
    assert_int_equal(pawl_kkt_create_for(&S, k.mass, true, &G, &blocks, NULL), PAWL_OK);
    assert_int_equal(pawl_kkt_info(blocks).solver, PAWL_KKT_BLOCKS);
    compare(&k, blocks, sparse, NULL);  // with tangents
    pawl_kkt_destroy(blocks);
    assert_int_equal(pawl_kkt_create_for(&S, k.mass, true, &G, &blocks, NULL), PAWL_OK);
    for (int e = 0; e < k.S_count; e++) {
      k.S[e] = k.mass[e] ? k.S[e] : 0.0;
    }
    compare(&k, blocks, sparse, NULL);
    assert_int_equal(pawl_kkt_info(blocks).full, 0);
    pawl_kkt_destroy(blocks);
    pawl_kkt_destroy(sparse);
    mechanism_free(&k);
  }
}

// A net whose tangents are left out of the blocks: small ones are made up for by refinement, large
// ones go to blocks that have them. Definite is what is shown to be.
static void test_loose_tangents(void** state) {
  (void)state;
  const double sizes[] = {0.0, 1e-8, 1e-4, 1e-2, 1.0, 10.0};
  Kind kind = {.bodies = 225, .size = 2, .rows = 1, .net = true, .tangents = true};
  Mechanism k = mechanism(&kind);
  PawlPattern S = {k.n, k.n, k.S_start, k.S_index}, G = {k.m, k.n, k.G_start, k.G_index};
  PawlKkt *blocks, *sparse = kkt_of(&k, PAWL_KKT_KLU);
  double* all = take((size_t)k.S_count, sizeof(double));
  memcpy(all, k.S, (size_t)k.S_count * sizeof *all);
  assert_int_equal(pawl_kkt_create_for(&S, k.mass, false, &G, &blocks, NULL), PAWL_OK);
  for (int c = 0; c < 6; c++) {
    for (int e = 0; e < k.S_count; e++) {
      k.S[e] = k.mass[e] ? all[e] : sizes[c] * all[e];
    }
    compare(&k, blocks, sparse, NULL);
    assert_int_equal(pawl_kkt_is_definite(blocks), c == 0);
  }
  free(all);
  pawl_kkt_destroy(blocks);
  pawl_kkt_destroy(sparse);
  mechanism_free(&k);
}

// A solver that loads what another has saved goes on with the same bits, in the rescue, too.
static void test_saved_rescue(void** state) {
  (void)state;
  Kind kind = {.bodies = 20, .size = 3, .rows = 1};
  Mechanism k = mechanism(&kind);
  PawlKkt *one = kkt_of(&k, PAWL_KKT_BLOCKS), *other = kkt_of(&k, PAWL_KKT_BLOCKS);
  double mass = k.S[10];
  for (int round = 0; round < 60; round++) {
    k.S[10] = round % 20 == 3 ? 0.0 : mass * (1.0 + 0.01 * round);
    assert_int_equal(pawl_kkt_factor(one, k.S, k.B, k.J, NULL), PAWL_OK);
    void* bytes = take(pawl_kkt_memory_bytes(one), 1);
    pawl_kkt_save(one, bytes);
    assert_int_equal(pawl_kkt_load(other, bytes), PAWL_OK);
    free(bytes);
    k.S[10] = mass * (1.0 + 0.013 * round);
    assert_int_equal(pawl_kkt_factor(one, k.S, k.B, k.J, NULL), PAWL_OK);
    assert_int_equal(pawl_kkt_factor(other, k.S, k.B, k.J, NULL), PAWL_OK);
    fill_right(&k, b_side, c_side, x_1, y_1);
    memcpy(x_2, x_1, sizeof x_1);
    memcpy(y_2, y_1, sizeof y_1);
    pawl_kkt_solve(one, x_1, y_1);
    pawl_kkt_solve(other, x_2, y_2);
    assert_memory_equal(x_1, x_2, (size_t)k.n * sizeof(double));
    assert_memory_equal(y_1, y_2, (size_t)k.m * sizeof(double));
  }
  pawl_kkt_destroy(one);
  pawl_kkt_destroy(other);
  mechanism_free(&k);
}

// A chain fills nothing, and 10 times the links take 10 times the entries.
static void test_chains_are_linear(void** state) {
  (void)state;
  int nonzeros[2];
  for (int c = 0; c < 2; c++) {
    Kind kind = {.bodies = c == 0 ? 30 : 300, .size = 3, .rows = 2};
    Mechanism k = mechanism(&kind);
    PawlKkt* kkt = kkt_of(&k, PAWL_KKT_AUTO);
    assert_int_equal(pawl_kkt_info(kkt).solver, PAWL_KKT_BLOCKS);
    nonzeros[c] = pawl_kkt_info(kkt).nonzeros;
    pawl_kkt_destroy(kkt);
    mechanism_free(&k);
  }
  assert_true(nonzeros[1] < 12 * nonzeros[0]);
}

// Large systems take what is next to zero as 0, and leave the processor as they found it.
static void test_numbers_next_to_zero(void** state) {
  (void)state;
  Kind kind = {.bodies = 300, .size = 3, .rows = 2};
  Mechanism k = mechanism(&kind);
  PawlKkt *kkt = kkt_of(&k, PAWL_KKT_BLOCKS), *sparse = kkt_of(&k, PAWL_KKT_KLU);
  compare(&k, kkt, sparse, NULL);
  for (int at_once = 0; at_once < 2; at_once++) {
    volatile double least = 2.3e-308;
    for (int j = 0; j < k.n; j++) {
      x_1[j] = j < 4 ? 1e-300 : 0.0;
    }
    memset(y_1, 0, sizeof y_1);
    if (at_once) {
      assert_int_equal(pawl_kkt_factor_and_solve(kkt, k.S, k.B, k.J, NULL, x_1, y_1), PAWL_OK);
    } else {
      pawl_kkt_solve(kkt, x_1, y_1);
    }
#if defined(__x86_64__) && defined(__GNUC__)
    for (int j = 0; j < k.n; j++) {
      assert_true(x_1[j] == 0.0 || fabs(x_1[j]) > 1e-312);  // scaled back
    }
#endif
    assert_true(least / 4.0 > 0.0);
  }
  pawl_kkt_destroy(kkt);
  pawl_kkt_destroy(sparse);
  mechanism_free(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_against_the_sparse_solver),
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_sets),
      cmocka_unit_test(test_two_right_sides),
      cmocka_unit_test(test_dependent_rows),
      cmocka_unit_test(test_rescue),
      cmocka_unit_test(test_idle_rows_again),
      cmocka_unit_test(test_refinement),
      cmocka_unit_test(test_rough),
      cmocka_unit_test(test_few_entries),
      cmocka_unit_test(test_mass_alone),
      cmocka_unit_test(test_loose_tangents),
      cmocka_unit_test(test_saved_rescue),
      cmocka_unit_test(test_chains_are_linear),
      cmocka_unit_test(test_factored_and_solved_at_once),
      cmocka_unit_test(test_numbers_next_to_zero),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
