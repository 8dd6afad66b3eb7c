// SPDX-License-Identifier: Apache-2.0
// Machine code for blocks gives the bits of the loops, on mechanisms at random: chains, trees,
// loops and nets, with symmetry and without, with rows that are not active, with values that are
// not finite or too far from the scaling, and with two factorisations that take turns.
#include "base/code.h"
#include "mechanisms.h"

enum { OFTEN = 130 };  // more than it takes to get code
enum { MOST = 256 };

static const Kind kinds[] = {
    {.bodies = 10, .size = 3, .rows = 2, .holes = true},
    {.bodies = 11, .size = 3, .rows = 2, .holes = true, .uneven = true},
    {.bodies = 10, .size = 3, .rows = 2},
    {.bodies = 8, .size = 6, .rows = 3, .dense = true},
    {.bodies = 8, .size = 6, .rows = 5, .dense = true, .uneven = true},
    {.bodies = 7, .size = 6, .rows = 5, .holes = true},
    {.bodies = 8, .size = 4, .rows = 2, .loops = 2, .dense = true},
    {.bodies = 16, .size = 2, .rows = 1, .net = true},
    {.bodies = 16, .size = 3, .rows = 1, .net = true, .dense = true, .uneven = true},
    {.bodies = 9, .size = 5, .rows = 2, .star = true},
    {.bodies = 9, .size = 5, .rows = 2, .star = true, .uneven = true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct Pair {  // with code and without
  PawlKkt *code, *loops;
} Pair;

static Pair make_pair(const Mechanism* k) {
  Pair pair = {kkt_of(k, PAWL_KKT_BLOCKS), kkt_of(k, PAWL_KKT_BLOCKS)};
  pawl_kkt_line_stop(pair.loops);
  return pair;
}

static void destroy_pair(Pair pair) {
  pawl_kkt_destroy(pair.code);
  pawl_kkt_destroy(pair.loops);
}

static bool has_code(void) {
#ifdef PAWL_HAS_CODE
  return true;
#else
  return false;
#endif
}

static void compare_solutions(const Mechanism* k, Pair pair) {
  double x[2][MOST], y[2][MOST], more_x[2][MOST], more_y[2][MOST];
  fill_random(k->n, x[0]);
  fill_random(k->m, y[0]);
  fill_random(k->n, more_x[0]);
  fill_random(k->m, more_y[0]);
  for (int i = 0; i < k->m; i += 3) {
    y[0][i] = 0.0;
  }
  memcpy(x[1], x[0], sizeof x[0]);
  memcpy(y[1], y[0], sizeof y[0]);
  memcpy(more_x[1], more_x[0], sizeof x[0]);
  memcpy(more_y[1], more_y[0], sizeof y[0]);
  for (int s = 0; s < 2; s++) {
    PawlKkt* kkt = s == 0 ? pair.code : pair.loops;
    pawl_kkt_solve(kkt, x[s], y[s]);
    pawl_kkt_solve_two(kkt, (double*[]){x[s], more_x[s]}, (double*[]){y[s], more_y[s]});
  }
  assert_memory_equal(x[0], x[1], (size_t)k->n * sizeof(double));
  assert_memory_equal(y[0], y[1], (size_t)k->m * sizeof(double));
  assert_memory_equal(more_x[0], more_x[1], (size_t)k->n * sizeof(double));
  assert_memory_equal(more_y[0], more_y[1], (size_t)k->m * sizeof(double));
  assert_int_equal(pawl_kkt_is_definite(pair.code), pawl_kkt_is_definite(pair.loops));
}

static void compare(const Mechanism* k, Pair pair, const unsigned char* active) {
  PawlStatus status = pawl_kkt_factor(pair.code, k->S, k->B, k->J, active);
  assert_int_equal(status, pawl_kkt_factor(pair.loops, k->S, k->B, k->J, active));
  if (status == PAWL_OK) {
    compare_solutions(k, pair);
  }
}

// Entries change a little; what is symmetric stays so.
static void change(Mechanism* k, bool uneven, double by) {
  for (int j = 0; j < k->n; j++) {
    for (int e = k->S_start[j]; e < k->S_start[j + 1]; e++) {
      k->S[e] *= k->S_index[e] == j || uneven ? 1.0 + by * test_random() : 1.0;
    }
  }
  for (int e = 0; e < k->G_count; e++) {
    k->J[e] *= 1.0 + by * test_random();
    k->B[e] = uneven ? k->J[e] * (1.0 + by * test_random()) : k->J[e];
  }
}

static void test_same_bits(void** state) {
  (void)state;
  int coded = 0;  // kinds of which most are
  for (int c = 0; c < KINDS; c++) {
    Mechanism k = mechanism(&kinds[c]);
    Pair pair = make_pair(&k);
    for (int trial = 0; trial < 2 * OFTEN; trial++) {
      change(&k, kinds[c].uneven, 0.01);
      compare(&k, pair, NULL);
    }
    coded += pawl_kkt_info(pair.code).by_code > OFTEN / 2;
    assert_true(pawl_kkt_info(pair.loops).by_code == 0);
    destroy_pair(pair);
    mechanism_free(&k);
  }
  assert_true(coded >= (has_code() ? KINDS - 2 : 0));
}

// Matrices with symmetry and without, all rows and some of them, sizes far from the scaling, and
// numbers that are none, in turn.
static void test_turns(void** state) {
  (void)state;
  for (int c = 0; c < KINDS; c++) {
    Mechanism k = mechanism(&kinds[c]);
    Pair pair = make_pair(&k);
    for (int trial = 0; trial < 6 * OFTEN; trial++) {
      unsigned char active[MOST];
      memset(active, 1, sizeof active);
      if (trial % 7 == 3) {
        active[trial % k.m] = 0;
      }
      change(&k, trial % 5 == 1 || kinds[c].uneven, 0.02);
      double kept = k.J[trial % k.G_count];
      if (trial % 97 == 50) {
        k.J[trial % k.G_count] = k.B[trial % k.G_count] = trial % 2 ? NAN : 1e7;
      }
      compare(&k, pair, active);
      k.J[trial % k.G_count] = k.B[trial % k.G_count] = kept;
    }
    destroy_pair(pair);
    mechanism_free(&k);
  }
}

static void test_two_kept(void** state) {
  (void)state;
  for (int c = 0; c < KINDS; c++) {
    Mechanism k = mechanism(&kinds[c]);
    Pair pair = make_pair(&k);
    assert_int_equal(pawl_kkt_keep_two(pair.code), PAWL_OK);
    assert_int_equal(pawl_kkt_keep_two(pair.loops), PAWL_OK);
    for (int trial = 0; trial < 2 * OFTEN; trial++) {
      long long number[2];
      for (int s = 0; s < 2; s++) {
        change(&k, s == 1 || kinds[c].uneven, 0.01);
        compare(&k, pair, NULL);
        number[s] = pawl_kkt_current(pair.code);
        assert_true(number[s] == pawl_kkt_current(pair.loops));
        pawl_kkt_name(pair.code);
        pawl_kkt_name(pair.loops);
      }
      unsigned char active[MOST];
      memset(active, 1, sizeof active);
      assert_int_equal(pawl_kkt_is_still(pair.code, number[0], active),
                       pawl_kkt_is_still(pair.loops, number[0], active));
      compare_solutions(&k, pair);
    }
    destroy_pair(pair);
    mechanism_free(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits), cmocka_unit_test(test_turns),
                                     cmocka_unit_test(test_two_kept)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
