// SPDX-License-Identifier: Apache-2.0
// What a system tells about itself, evaluation by mask, repetition, memory, and what is refused.

#include "base/text.h"
#include "system/setup.h"

static const char mixed_model[] =
    "model: mixed\n"
    "parameters: {k: 3, N: 18}\n"
    "coordinates:\n"
    "  x: {start: 0.25, rate: -1, unit: m}\n"
    "  u[i=1..N]: {start: i/10}\n"
    "  y: {start: 2, unit: rad}\n"
    "define: {s: x*cos(y)}\n"
    "kinetic:\n"
    "  - x'^2 + s'^2/2 + y'^2\n"
    "  - for i=1..N: u[i]'^2/2*(1 + u[i]^2)\n"
    "potential:\n"
    "  - k*x^2 + sin(x*y)\n"
    "  - for i=2..N: k*(u[i] - u[i-1])^4\n"
    "dissipation: 0.1*(x' - y')^2\n"
    "forces: {y: sin(t)*x', \"u[1]\": 2}\n"
    "constraints:\n"
    "  tie: x*y = t\n"
    "  pair:\n"
    "    - u[1]^2 = x\n"
    "    - u[2] = cos(y*t)\n"
    "outputs:\n"
    "  pull: {value: lambda(tie)*y + x'', unit: N}\n"
    "  constant: k/2\n"
    "  speed: u[1]'\n";

static void test_sizes_and_names(void** state) {
  (void)state;
  Setup s = setup_text(mixed_model);
  assert_int_equal(s.n.q, 20);
  assert_int_equal(s.n.v, 20);
  assert_int_equal(s.n.rows, 3);
  assert_int_equal(s.n.outputs, 3);
  assert_string_equal(pawl_system_name(s.system), "mixed");
  assert_string_equal(pawl_system_coordinate_name(s.system, 0), "x");
  assert_string_equal(pawl_system_coordinate_unit(s.system, 0), "m");
  assert_string_equal(pawl_system_coordinate_name(s.system, 6), "u[6]");
  assert_string_equal(pawl_system_coordinate_unit(s.system, 6), "");
  assert_string_equal(pawl_system_coordinate_name(s.system, 19), "y");
  assert_string_equal(pawl_system_output_name(s.system, 0), "pull");
  assert_string_equal(pawl_system_output_unit(s.system, 0), "N");
  assert_string_equal(pawl_system_output_unit(s.system, 2), "");
  static const char* const row_names[] = {"tie", "pair", "pair"};
  static const int row_numbers[] = {0, 0, 1};
  for (int row = 0; row < 3; row++) {
    int number = -1;
    assert_string_equal(pawl_system_row_name(s.system, row, &number), row_names[row]);
    assert_int_equal(number, row_numbers[row]);
  }
  double q[20], v[20];
  pawl_system_start(s.system, q, v);
  assert_true(q[0] == 0.25 && v[0] == -1.0 && q[3] == 0.3 && q[19] == 2.0 && v[19] == 0.0);
  pawl_system_retract(s.system, q, v, q);
  assert_true(q[0] == -0.75 && q[19] == 2.0);
  pawl_system_rates(s.system, q, v, q);
  assert_memory_equal(q, v, sizeof q);
  PawlSystemInfo info = pawl_system_info(s.system);
  assert_true(info.groups >= 2 && info.largest_lanes == 18);
  setup_free(&s);
}

static void check_pattern(PawlPattern p, int rows, int cols) {
  assert_int_equal(p.rows, rows);
  assert_int_equal(p.cols, cols);
  assert_int_equal(p.start[0], 0);
  for (int col = 0; col < cols; col++) {
    for (int k = p.start[col]; k < p.start[col + 1]; k++) {
      assert_in_range(p.index[k], 0, rows - 1);
      assert_true(k == p.start[col] || p.index[k - 1] < p.index[k]);
    }
  }
}

static bool has_entry(PawlPattern p, int row, int col) {
  for (int k = p.start[col]; k < p.start[col + 1]; k++) {
    if (p.index[k] == row) {
      return true;
    }
  }
  return false;
}

// By hand: x-y from s and sin(x*y), neighbours u[i-1]-u[i], x-y again from the tie, nothing else.
static void test_patterns(void** state) {
  (void)state;
  Setup s = setup_text(mixed_model);
  PawlPattern H = pawl_system_pattern_H(s.system), G = pawl_system_pattern_G(s.system);
  check_pattern(H, 20, 20);
  check_pattern(G, 3, 20);
  for (int i = 0; i < 20; i++) {
    for (int j = 0; j < 20; j++) {
      bool both_u = i >= 1 && i <= 18 && j >= 1 && j <= 18;
      bool expected = both_u ? abs(i - j) <= 1 : (i == 0 || i == 19) && (j == 0 || j == 19);
      assert_int_equal(has_entry(H, i, j), expected);
    }
  }
  static const int gradient[3][20] = {{[0] = 1, [19] = 1}, {[0] = 1, [1] = 1}, {[2] = 1, [19] = 1}};
  for (int row = 0; row < 3; row++) {
    for (int col = 0; col < 20; col++) {
      assert_int_equal(has_entry(G, row, col), gradient[row][col]);
    }
  }
  setup_free(&s);
}

// A coordinate without any term keeps its diagonal; a model without constraints has no rows.
static void test_bare_model(void** state) {
  (void)state;
  Setup s = setup_text("model: bare\ncoordinates: {x: {}, y: {}}\nmass: {x: 2}\n");
  PawlPattern H = pawl_system_pattern_H(s.system);
  assert_int_equal(H.start[2], 2);
  assert_int_equal(pawl_system_pattern_G(s.system).start[2], 0);
  Random r = {1};
  Place p = random_place(s.system, &r);
  const PawlValues* x = run_at(s.eval, &p);
  assert_true(x->M[0] == 2.0 && x->M[1] == 0.0 && x->f[0] == 0.0 && x->K[1] == 0.0);
  CHECK_NEAR(x->energy[0], p.v[0] * p.v[0], 1e-16);
  place_free(&p);
  setup_free(&s);
}

// ---- masks --------------------------------------------------------------------------------------
typedef struct Part {
  unsigned bit;
  const double* values;
  int count;
} Part;

enum { PARTS = 10 };

static void list_parts(const Setup* s, const PawlValues* x, Part parts[PARTS]) {
  PawlSystemInfo info = pawl_system_info(s->system);
  const Part list[PARTS] = {
      {PAWL_MASS, x->M, info.nonzeros_H},
      {PAWL_FORCE, x->f, s->n.v},
      {PAWL_STIFFNESS, x->K, info.nonzeros_H},
      {PAWL_DAMPING, x->C, info.nonzeros_H},
      {PAWL_POSITION, x->g, s->n.rows},
      {PAWL_GRADIENT, x->G, info.nonzeros_G},
      {PAWL_TIME_GRADIENT, x->g_t, s->n.rows},
      {PAWL_BIAS, x->gamma, s->n.rows},
      {PAWL_ENERGY, x->energy, 2},
      {PAWL_OUTPUTS, x->outputs, s->n.outputs},
  };
  memcpy(parts, list, sizeof list);
}

// Each of the 1024 masks gives the bits that everything together gives.
static void test_every_mask(void** state) {
  (void)state;
  Setup s = setup_text(mixed_model);
  Random r = {17};
  Place p = random_place(s.system, &r);
  Part all[PARTS], some[PARTS];
  list_parts(&s, run_at(s.eval, &p), all);
  for (unsigned mask = 0; mask <= PAWL_EVERYTHING; mask++) {
    PawlEval* eval;
    assert_int_equal(pawl_eval_create(s.system, mask, &eval, NULL), PAWL_OK);
    run_at(eval, &p);
    list_parts(&s, run_at(eval, &p), some);
    for (int k = 0; k < PARTS; k++) {
      if ((mask & all[k].bit) &&
          memcmp(all[k].values, some[k].values, (size_t)all[k].count * sizeof(double)) != 0) {
        fail_msg("mask %u changes quantity %u", mask, all[k].bit);
      }
    }
    pawl_eval_destroy(eval);
  }
  place_free(&p);
  setup_free(&s);
}

// A mask costs what it names, and reads only what it needs.
static void test_mask_limits_work(void** state) {
  (void)state;
  Setup s = setup_text(mixed_model);
  long long everything = pawl_eval_operations(s.eval), sum = 0;
  Random r = {2};
  Place p = random_place(s.system, &r);
  for (unsigned bit = 1; bit <= PAWL_EVERYTHING; bit *= 2) {
    PawlEval* eval;
    assert_int_equal(pawl_eval_create(s.system, bit, &eval, NULL), PAWL_OK);
    assert_true(pawl_eval_operations(eval) < everything);
    sum += pawl_eval_operations(eval);
    bool needs_a = bit == PAWL_STIFFNESS || bit == PAWL_DAMPING || bit == PAWL_OUTPUTS ||
                   bit == PAWL_ACCELERATION_TANGENT;
    bool needs_v = needs_a || bit == PAWL_FORCE || bit == PAWL_BIAS || bit == PAWL_ENERGY ||
                   bit == PAWL_VELOCITY_TANGENT;
    bool needs_lambda = bit == PAWL_STIFFNESS || bit == PAWL_OUTPUTS;
    PawlPoint point = {
        p.t,  p.q, needs_v ? p.v : NULL, needs_a ? p.a : NULL, needs_lambda ? p.lambda : NULL,
        NULL, NULL};
    assert_int_equal(pawl_eval_run(eval, &point, NULL), PAWL_OK);
    pawl_eval_destroy(eval);
  }
  assert_true(everything < sum);  // shared subexpressions are computed once
  PawlEval* nothing;
  assert_int_equal(pawl_eval_create(s.system, 0, &nothing, NULL), PAWL_OK);
  assert_true(pawl_eval_operations(nothing) == 0);
  PawlPoint nowhere = {0};
  assert_int_equal(pawl_eval_run(nothing, &nowhere, NULL), PAWL_OK);
  pawl_eval_destroy(nothing);
  place_free(&p);
  setup_free(&s);
}

// ---- repetition ---------------------------------------------------------------------------------
// The bits of a run depend on the point alone, not on what ran before nor on which evaluation runs.
static void check_repeatable(const char* text) {
  Setup s = setup_text(text);
  PawlEval* second;
  assert_int_equal(pawl_eval_create(s.system, PAWL_EVERYTHING, &second, NULL), PAWL_OK);
  Random r = {23};
  for (int repeat = 0; repeat < 4; repeat++) {
    Place p = random_place(s.system, &r), other = random_place(s.system, &r);
    Part first[PARTS], again[PARTS];
    list_parts(&s, run_at(second, &p), first);
    long long allocations = pawl_alloc_count();
    run_at(s.eval, &p);
    run_at(s.eval, &other);
    list_parts(&s, run_at(s.eval, &p), again);
    assert_true(pawl_alloc_count() == allocations);
    for (int k = 0; k < PARTS; k++) {
      if (memcmp(first[k].values, again[k].values, (size_t)first[k].count * sizeof(double)) != 0) {
        fail_msg("quantity %u is not repeatable in\n%s", first[k].bit, text);
      }
    }
    place_free(&p);
    place_free(&other);
  }
  pawl_eval_destroy(second);
  setup_free(&s);
}

static void test_same_bits_again(void** state) {
  (void)state;
  check_repeatable(mixed_model);
  // Lanes in one quantity, single terms in that one and in others: what is added, what is set.
  static const char family[] =
      "model: family\ncoordinates:\n  u[i=1..17]: {}\nmass: {\"u[i=1..17]\": 1}\n";
  static const char* const singles[] = {
      "potential: [{\"for i=1..17\": \"u[i]^4\"}, \"u[1]*sin(u[2])\"]\noutputs: {seen: \"u[1] + "
      "3\"}\n",
      "potential: [{\"for i=1..17\": \"u[i]^4\"}, \"u[1]*sin(u[2])\"]\n"
      "constraints: {c: \"u[3]^2 = sin(t*u[4])\"}\n",
      "kinetic: u[1]'^2*u[2]^2\nconstraints: {\"c[i=2..9]\": \"u[i]^2 = u[1]*t^2\"}\n",
      "kinetic: [{\"for i=1..17\": \"u[i]'^2*u[i]\"}, \"u[1]'^2*u[2]^2\"]\n"
      "dissipation: u[1]'^4\noutputs: {seen: \"u[1]''\"}\n",
      "outputs: {\"seen[i=1..17]\": \"u[i]*t\", more: \"sin(u[3])\"}\nforces: {\"u[2]\": "
      "\"sin(t)\"}\n",
  };
  for (size_t k = 0; k < sizeof singles / sizeof *singles; k++) {
    char text[1000];
    snprintf(text, sizeof text, "%s%s", family, singles[k]);
    check_repeatable(text);
  }
}

// ---- memory -------------------------------------------------------------------------------------
static void test_memory_failures(void** state) {
  (void)state;
  PawlModel* model = model_of(mixed_model);
  bool done = false;
  for (long long n = 1; !done; n++) {
    assert_true(n < 20000);
    PawlSystem* system = NULL;
    PawlEval* eval = NULL;
    PawlError err = {0};
    pawl_alloc_fail_at(n);
    PawlStatus status = pawl_system_create(model, &system, &err);
    if (status == PAWL_OK) {
      status = pawl_eval_create(system, PAWL_EVERYTHING, &eval, &err);
    }
    pawl_alloc_fail_at(0);
    done = status == PAWL_OK;
    if (!done) {
      assert_int_equal(status, PAWL_ERROR_MEMORY);
      assert_null(eval);
      if (err.status != PAWL_ERROR_MEMORY || !strstr(err.message, "memory")) {
        fail_msg("allocation %lld: status %d, message '%s'", n, (int)err.status, err.message);
      }
    }
    pawl_eval_destroy(eval);
    pawl_system_destroy(system);
  }
  pawl_model_destroy(model);
}

// ---- refused ------------------------------------------------------------------------------------
static void test_unsupported(void** state) {
  (void)state;
  static const struct {
    const char *section, *place, *what, *why;
  } cases[] = {
      {"constraints:\n  track:\n    impact: none\n    modes:\n"
       "      flat: {where: x < 1, equation: y = 1}\n"
       "      ramp: {where: x > 1, equation: y = x}\n",
       "test.yaml:5:3", "constraint 'track'", "impact: none"},
      {"constraints:\n  track:\n    modes: {flat: {where: x < 1, equation: y = 1}}\n",
       "test.yaml:5:3", "constraint 'track'", "one mode with a region"},
      {"constraints:\n  track:\n    start: flat\n    modes:\n      flat: {equation: y = 1}\n"
       "      ramp: {where: x > 1, equation: y = x}\n",
       "test.yaml:8:7", "constraint 'track'", "needs a region (where)"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[600];
    snprintf(text, sizeof text,
             "model: m\ncoordinates: {x: {}, y: {start: 1}}\nmass: {x: 1, y: 1}\n%s",
             cases[k].section);
    PawlModel* model = model_of(text);
    PawlSystem* system = (PawlSystem*)model;
    PawlError err = {0};
    assert_int_equal(pawl_system_create(model, &system, &err), PAWL_ERROR_MODEL);
    assert_int_equal(err.status, PAWL_ERROR_MODEL);
    assert_null(system);
    if (!strstr(err.message, cases[k].place) || !strstr(err.message, cases[k].what) ||
        !strstr(err.message, cases[k].why)) {
      fail_msg("%s: '%s'", cases[k].what, err.message);
    }
    pawl_model_destroy(model);
  }
}

// ---- size ---------------------------------------------------------------------------------------
// 3000 coordinates and 2000 rows: a few programs for all links, and a pattern that grows with the
// length.
static void test_long_chain(void** state) {
  (void)state;
  enum { N = 1000 };
  const char* overrides[] = {"N=1000"};
  PawlModel* model;
  PawlError err = {0};
  assert_int_equal(pawl_model_load(PAWL_MODELS "/chain.yaml", 1, overrides, &model, &err), PAWL_OK);
  Setup s = setup_model(model);
  PawlSystemInfo info = pawl_system_info(s.system);
  assert_int_equal(s.n.v, 3 * N);
  assert_int_equal(s.n.rows, 2 * N);
  assert_true(info.groups <= 8 && info.largest_lanes >= N - 1);
  assert_int_equal(info.nonzeros_H, 3 * N);      // K of a joint touches each angle by itself
  assert_int_equal(info.nonzeros_G, 8 * N - 4);  // x or y and th of both links; one at the wall
  Random r = {31};
  Place p = random_place(s.system, &r);
  const PawlValues* x = run_at(s.eval, &p);
  for (int i = 1; i < N; i++) {  // coordinates: all x, all y, all th; two rows a joint
    double expected =
        p.q[i] - 0.5 * cos(p.q[2 * N + i]) - p.q[i - 1] - 0.5 * cos(p.q[2 * N + i - 1]);
    CHECK_NEAR(x->g[2 * i], expected, 1e-12);  // positions up to 1000
  }
  place_free(&p);
  setup_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes_and_names),  cmocka_unit_test(test_patterns),
      cmocka_unit_test(test_bare_model),       cmocka_unit_test(test_every_mask),
      cmocka_unit_test(test_mask_limits_work), cmocka_unit_test(test_same_bits_again),
      cmocka_unit_test(test_memory_failures),  cmocka_unit_test(test_unsupported),
      cmocka_unit_test(test_long_chain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
