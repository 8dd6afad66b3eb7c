// SPDX-License-Identifier: Apache-2.0
// Machine code for small systems, and the same as compiled C, give the bits of the general
// elimination: factors that pass both, systems that need row exchanges, values that are not finite,
// sets of rows that take turns.
#define _DEFAULT_SOURCE  // mkdtemp
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/code.h"
#include "base/module.h"
#include "linalg/kkt_source.h"
#include "systems.h"

enum { OFTEN = 150 };  // more than it takes for a set to get its code

typedef struct Pair {  // with code and without
  PawlKkt *line, *plain;
} Pair;

// As explicit methods have it: S is a mass matrix.
static PawlKkt* mass_kkt(const TestSystem* s) {
  PawlPattern S = {s->n, s->n, s->S_start, s->S_index};
  PawlPattern G = {s->m, s->n, s->G_start, s->G_index};
  unsigned char mass[SYSTEM_MAX * SYSTEM_MAX];
  PawlKkt* kkt = NULL;
  memset(mass, 1, sizeof mass);
  assert_int_equal(pawl_kkt_create_for(&S, mass, true, &G, &kkt, NULL), PAWL_OK);
  return kkt;
}

static Pair make_mass_pair(const TestSystem* s) {
  Pair pair = {mass_kkt(s), mass_kkt(s)};
  pawl_kkt_line_stop(pair.plain);
  return pair;
}

static Pair make_pair(const TestSystem* s) {
  Pair pair = {system_kkt(s, PAWL_KKT_DENSE), system_kkt(s, PAWL_KKT_DENSE)};
  pawl_kkt_line_stop(pair.plain);
  return pair;
}

static bool has_code(void) {
#ifdef PAWL_HAS_CODE
  return true;
#else
  return false;
#endif
}

static void destroy_pair(Pair pair) {
  assert_true(pawl_kkt_info(pair.line).by_code > 0 || !has_code());
  assert_true(pawl_kkt_info(pair.plain).by_code == 0);
  pawl_kkt_destroy(pair.line);
  pawl_kkt_destroy(pair.plain);
}

static void compare(Pair pair, const TestSystem* s, const unsigned char* active) {
  double x[2][SYSTEM_MAX], y[2][SYSTEM_MAX];
  PawlStatus status = system_factor(pair.line, s, active);
  assert_int_equal(status, system_factor(pair.plain, s, active));
  if (status != PAWL_OK) {
    return;
  }
  fill_random(s->n, x[0]);
  fill_random(s->m, y[0]);
  memcpy(x[1], x[0], sizeof x[0]);
  memcpy(y[1], y[0], sizeof y[0]);
  pawl_kkt_solve(pair.line, x[0], y[0]);
  pawl_kkt_solve(pair.plain, x[1], y[1]);
  assert_memory_equal(x[0], x[1], (size_t)s->n * sizeof(double));
  assert_memory_equal(y[0], y[1], (size_t)s->m * sizeof(double));
  assert_int_equal(pawl_kkt_is_definite(pair.line), pawl_kkt_is_definite(pair.plain));
}

static void change(TestSystem* s) {
  for (int k = 0; k < s->n * s->n; k++) {
    s->S[k] *= 1.0 + 0.01 * test_random();
  }
  for (int k = 0; k < s->m * s->n; k++) {
    s->J[k] *= 1.0 + 0.01 * test_random();
    s->B[k] *= 1.0 + 0.01 * test_random();
  }
  system_values(s);
}

static void test_same_bits(void** state) {
  (void)state;
  for (int n = 1; n <= 7; n++) {
    for (int m = 0; m <= n && n + m <= 10; m++) {
      for (int density = 1; density <= 3; density++) {
        TestSystem* s = system_random(n, m, density / 3.0, density == 2);
        Pair pair = make_pair(s);
        for (int k = 0; k < OFTEN; k++) {
          change(s);
          compare(pair, s, NULL);
        }
        destroy_pair(pair);
        free(s);
      }
    }
  }
}

static void test_rows_take_turns(void** state) {
  (void)state;
  TestSystem* s = system_random(4, 4, 0.8, false);
  Pair pair = make_pair(s);
  for (int k = 0; k < 16 * OFTEN; k++) {
    unsigned char active[4] = {k & 1, (k & 2) != 0, k % 3 == 0, k % 64 == 0};
    change(s);
    compare(pair, s, active);
  }
  destroy_pair(pair);
  free(s);
}

// Locks on some of six coordinates, beside a row of several entries: they pin their coordinates.
// Now and then one of them is too small for that.
static void test_rows_that_pin(void** state) {
  (void)state;
  for (int kind = 0; kind < 6; kind++) {
    TestSystem* s = system_random(6, 6, 0.7, kind % 2 == 0);
    for (int i = 0; i < 6; i++) {
      for (int j = 0; j < 6; j++) {
        s->has_G[i + j * 6] = i == 5 ? kind > 1 || j == 5 : i == j;
      }
    }
    system_patterns(s);
    Pair pair = make_pair(s);
    for (int k = 0; k < 8 * OFTEN; k++) {
      unsigned char active[6] = {1, 1, k % 4 < 2, k % 8 < 4, 0, 1};
      change(s);
      double kept = s->J_values[0];
      s->J_values[0] *= k % 50 == 49 ? 1e-3 : 1.0;
      compare(pair, s, active);
      s->J_values[0] = kept;
    }
    destroy_pair(pair);
    free(s);
  }
}

// ---- rows that pin, in small systems ------------------------------------------------------------
// Locks on the first coordinates, in units that differ, and behind them a row of many entries or
// none. With all coordinates locked the matrix has no unknown at all.
static TestSystem* system_locked(int n, int locks, bool more, bool symmetric) {
  TestSystem* s = system_random(n, locks + more, 0.8, symmetric);
  for (int i = 0; i < s->m; i++) {
    for (int j = 0; j < n; j++) {
      s->has_G[i + j * s->m] = i == locks || i == j;
    }
  }
  for (int j = 0; j < n; j++) {
    double unit = pow(10.0, round(2.0 * test_random()));
    for (int i = 0; i < n; i++) {
      s->S[i + j * n] *= unit;
      s->S[j + i * n] *= unit;
    }
    for (int i = 0; i < s->m; i++) {
      s->J[i + j * s->m] *= unit;
      s->B[i + j * s->m] *= unit;
    }
  }
  system_patterns(s);
  return s;
}

static void check_solution(PawlKkt* kkt, const TestSystem* s, const unsigned char* active,
                           double most) {
  double b[SYSTEM_MAX], c[SYSTEM_MAX], x[SYSTEM_MAX], y[SYSTEM_MAX];
  fill_random(s->n, b);
  fill_random(s->m, c);
  for (int i = 0; i < s->m; i++) {
    c[i] *= active && !active[i] ? 0.0 : 1.0;
  }
  memcpy(x, b, sizeof x);
  memcpy(y, c, sizeof y);
  pawl_kkt_solve(kkt, x, y);
  assert_true(system_residual(s, active, b, c, x, y) < most);
}

static void test_small_rows_that_pin(void** state) {
  (void)state;
  long long by_code = 0;
  for (int n = 1; n <= 5; n++) {
    for (int kind = 0; kind < 8; kind++) {
      int locks = 1 + kind / 4 * (n - 1);
      bool more = kind % 2 == 1 && locks < n;
      TestSystem* s = system_locked(n, locks, more, kind % 4 < 2);
      Pair pair = make_mass_pair(s);
      for (int k = 0; k < OFTEN; k++) {
        change(s);
        compare(pair, s, NULL);
        check_solution(pair.line, s, NULL, 1e-13);
      }
      by_code += pawl_kkt_info(pair.line).by_code;  // where units ask for row exchanges, none
      assert_true(more || pawl_kkt_info(pair.line).by_code > 0 || !has_code());
      pawl_kkt_destroy(pair.line);
      pawl_kkt_destroy(pair.plain);
      free(s);
    }
  }
  assert_true(by_code > 1500 || !has_code());
}

// Two sets of locks whose factors are both kept, and what is kept has rows left out or not: one of
// the locks becomes too small for it now and then. The solutions are those of the set.
static void test_kept_with_pins(void** state) {
  (void)state;
  TestSystem* s = system_locked(3, 2, true, true);
  Pair pair = make_mass_pair(s);
  double whole = s->J[0];
  for (int k = 0; k < 8 * OFTEN; k++) {
    unsigned char active[3] = {k % 2 == 0 || k % 128 < 64, k % 2 == 0, k % 2 == 1};
    if (k % 16 == 0) {
      s->J[0] = s->B[0] = k % 32 == 0 ? whole : 1e-3 * whole;
      system_values(s);
    }
    assert_int_equal(system_factor_if_changed(pair.line, s, active), PAWL_OK);
    assert_int_equal(system_factor_if_changed(pair.plain, s, active), PAWL_OK);
    check_solution(pair.line, s, active, 1e-11);  // L has entries up to 64 then
    check_solution(pair.plain, s, active, 1e-11);
  }
  destroy_pair(pair);
  free(s);
}

// ---- as C ---------------------------------------------------------------------------------------
static char cache[] = "/tmp/pawl-kkt-XXXXXX";
static PawlModule* modules[4];

static int set_up(void** state) {
  (void)state;
  return mkdtemp(cache) ? setenv("XDG_CACHE_HOME", cache, 1) : -1;
}

static int tear_down(void** state) {
  char command[80];
  (void)state;
  snprintf(command, sizeof command, "rm -r %s", cache);
  return system(command);
}

// The sets of rows that it has met become compiled functions.
static void adopt(PawlKkt* kkt, PawlModule** module) {
  PawlText text = {0}, names = {0};
  unsigned sets = pawl_kkt_source_sets(kkt);
  PawlError err = {0};
  assert_true(sets != 0);
  pawl_text_add(&text, "#include <math.h>\n#define pawl_sized_alone(x) (x)\n");
  for (int k = 0, first = 0; k < PAWL_KKT_SETS; k++) {
    if (sets >> k & 1) {
      assert_int_equal(pawl_kkt_source(kkt, k, &text, first), 0);
      pawl_kkt_source_names(kkt, &names, first);
      first += PAWL_KKT_FUNCTIONS;
    }
  }
  pawl_text_printf(&text, "typedef void (*F)(void);\nconst F functions[] = {\n%s  0};\n", names.s);
  if (pawl_module_create(text.s, text.length, NULL, module, &err) != PAWL_OK) {
    fail_msg("%s", err.message);
  }
  void (*const* functions)(void) = pawl_module_find(*module, "functions");
  for (int k = 0; k < PAWL_KKT_SETS; k++) {
    if (sets >> k & 1) {
      pawl_kkt_source_adopt(kkt, k, functions);
      functions += PAWL_KKT_FUNCTIONS;
    }
  }
  pawl_text_free(&text);
  pawl_text_free(&names);
}

// From its second use on a set of rows is factored by the compiled functions: before machine code
// is written.
static void check_compiled(TestSystem* s, Pair pair, const unsigned char (*active)[SYSTEM_MAX],
                           int sets, PawlModule** module) {
  for (int k = 0; k < 2 * sets; k++) {
    compare(pair, s, active[k % sets]);
  }
  assert_int_equal(pawl_kkt_info(pair.line).by_code, 0);
  adopt(pair.line, module);
  for (int k = 0; k < OFTEN; k++) {
    change(s);
    compare(pair, s, active[k % sets]);
  }
  assert_true(pawl_kkt_info(pair.line).by_code > OFTEN / 2);
  pawl_kkt_destroy(pair.line);
  pawl_kkt_destroy(pair.plain);
  free(s);
}

static void test_compiled(void** state) {
  (void)state;
  static const unsigned char all[1][SYSTEM_MAX] = {{1, 1, 1, 1, 1, 1}},
                             some[2][SYSTEM_MAX] = {{1, 1, 0, 1}, {0, 1, 1, 0}};
  TestSystem* s = system_random(4, 4, 0.8, false);
  check_compiled(s, make_pair(s), some, 2, &modules[0]);
  s = system_random(7, 3, 0.5, true);
  check_compiled(s, make_pair(s), all, 1, &modules[1]);
  s = system_locked(4, 2, false, true);
  check_compiled(s, make_mass_pair(s), all, 1, &modules[2]);
  for (int k = 0; k < 3; k++) {
    pawl_module_destroy(modules[k]);
  }
}

// ---- S that stays -------------------------------------------------------------------------------
// Factors by the code that is handed out, the rest of it where that says no. True: by the code.
static bool factor_directly(PawlKkt* kkt, const TestSystem* s, PawlKktDirect* by) {
  const double* J = s->J_values;
  if (pawl_kkt_direct(kkt, NULL, by) && by->factor(by->values, by->table, s->S_values, J, J)) {
    pawl_kkt_direct_count(kkt, 1, 0);
    return true;
  }
  return false;
}

// A definite S that never changes, and rows that do: what is factored anew are the rows, and the
// bits are those of the whole elimination. Where the judgement by (K14) fails (rows that nearly
// depend on each other, entries that outgrow the scaling or are not finite) the others decide.
static void check_fixed(int n, int m, double density, int locks, bool compiled) {
  TestSystem* s = system_random(n, m, density, true);
  for (int i = 0; i < locks; i++) {
    for (int j = 0; j < n; j++) {
      s->has_G[i + j * m] = i == j;
    }
  }
  system_patterns(s);
  Pair pair = make_mass_pair(s);
  const double tried[] = {0.0, 1e-9, 1e-3, 30.0, 1e5, 1e300, 1e-300, INFINITY, NAN};
  int direct = 0, rows_only = 0, entries = s->G_start[n];
  int (*whole)(double*, const double*, const double*, const double*, const double*) = NULL;
  pawl_kkt_fix(pair.line);
  for (int k = 0; k < 4 * OFTEN; k++) {
    double x[2][SYSTEM_MAX], y[2][SYSTEM_MAX];
    for (int e = 0; e < entries; e++) {
      s->J_values[e] *= 1.0 + 0.01 * test_random();
    }
    memcpy(s->B_values, s->J_values, sizeof s->B_values);
    double kept = s->J_values[k % entries];
    s->J_values[k % entries] = k % 7 == 6 ? tried[k / 7 % 9] : kept;
    s->B_values[k % entries] = s->J_values[k % entries];
    PawlKktDirect by = {0};
    bool done = factor_directly(pair.line, s, &by);
    PawlStatus status = done ? PAWL_OK : system_factor(pair.line, s, NULL);
    assert_int_equal(system_factor(pair.plain, s, NULL), status);
    if (compiled && k == 0) {
      adopt(pair.line, &modules[0]);
    }
    whole = whole || !done ? whole : by.factor;
    rows_only += done && by.factor != whole;
    direct += done;
    bool rows = done && k % 2 == 0;
    fill_random(n, x[0]);
    fill_random(m, y[0]);
    memcpy(x[1], x[0], sizeof x[0]);
    memcpy(y[1], y[0], sizeof y[0]);
    if (status == PAWL_OK) {
      if (rows) {
        by.solve_rows(by.values, by.table, x[0], y[0]);
        memset(x[1], 0, sizeof x[1]);
      } else {
        pawl_kkt_solve(pair.line, x[0], y[0]);
      }
      pawl_kkt_solve(pair.plain, x[1], y[1]);
      assert_memory_equal(x[0], x[1], (size_t)n * sizeof(double));
      assert_memory_equal(y[0], y[1], (size_t)m * sizeof(double));
    }
    s->J_values[k % entries] = kept;
  }
  assert_true((direct > OFTEN && rows_only > OFTEN) || !has_code());
  destroy_pair(pair);
  if (compiled) {
    pawl_module_destroy(modules[0]);
  }
  free(s);
}

static void test_fixed(void** state) {
  (void)state;
  for (int n = 1; n <= 6; n++) {
    for (int m = 1; m <= n && m <= 4; m++) {
      check_fixed(n, m, 0.0, 0, false);
      check_fixed(n, m, 0.5, 0, false);
      check_fixed(n, m, 1.0, 0, false);
      check_fixed(n, m, 0.5, 1, false);
    }
  }
}

static void test_fixed_compiled(void** state) {
  (void)state;
  check_fixed(3, 2, 0.5, 0, true);
  check_fixed(5, 3, 0.5, 1, true);
}

// Pivots that shrink to nothing, entries that grow out of the scaling and that are not finite: the
// general elimination takes over, and gives the system back.
static void test_takes_over(void** state) {
  (void)state;
  TestSystem* s = system_random(3, 2, 1.0, true);
  Pair pair = make_pair(s);
  double S = s->S[0];
  for (int k = 0; k < OFTEN; k++) {
    compare(pair, s, NULL);
  }
  const double tried[] = {0.0, 1e-9, 1e-5, 1e5, 1e300, 1e-300, INFINITY, NAN};
  for (int round = 0; round < 4; round++) {
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
      double* at = round < 2 ? &s->S[round] : &s->J[round];
      double kept = *at;
      *at = tried[k];
      system_values(s);
      compare(pair, s, NULL);
      *at = kept;
      system_values(s);
      compare(pair, s, NULL);
    }
  }
  assert_true(s->S[0] == S);
  destroy_pair(pair);
  free(s);
}

// A pivot of rounding, which the judgement must see: [eps 1; 1 1].
static void test_exchanges_rows(void** state) {
  (void)state;
  TestSystem* s = system_random(2, 0, 1.0, true);
  Pair pair = make_pair(s);
  for (int k = 0; k < OFTEN; k++) {
    compare(pair, s, NULL);
  }
  s->S[0] = 1e-12;
  s->S[1] = s->S[2] = s->S[3] = 1.0;
  system_values(s);
  double x[2] = {1.0, 2.0}, y[1];
  assert_int_equal(system_factor(pair.line, s, NULL), PAWL_OK);
  pawl_kkt_solve(pair.line, x, y);
  CHECK_NEAR(x[0], 1.0, 1e-11);
  CHECK_NEAR(x[1], 1.0, 1e-11);
  destroy_pair(pair);
  free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_bits),      cmocka_unit_test(test_rows_take_turns),
      cmocka_unit_test(test_rows_that_pin),  cmocka_unit_test(test_takes_over),
      cmocka_unit_test(test_exchanges_rows), cmocka_unit_test(test_small_rows_that_pin),
      cmocka_unit_test(test_kept_with_pins), cmocka_unit_test(test_fixed),
      cmocka_unit_test(test_compiled),       cmocka_unit_test(test_fixed_compiled),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
