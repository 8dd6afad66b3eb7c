// SPDX-License-Identifier: Apache-2.0
// A system of the caller's own functions: the pendulum of models/pendulum.yaml by hand gives the
// numbers of the text, with full and with sparse matrices; wrong descriptions are refused.
#include "system/setup.h"

// L = 1, m = 1, J = 0.1, ay = -10: q = (x, y, theta), g = (x - cos theta, y - sin theta).
typedef struct Pendulum {
  PawlPattern H, G;  // where the values go
  int calls;
  unsigned last_mask;
  bool refuse, overflow;
} Pendulum;

static void put(PawlPattern p, double* values, int row, int col, double value) {
  for (int k = p.start[col]; k < p.start[col + 1]; k++) {
    if (p.index[k] == row) {
      values[k] = value;
      return;
    }
  }
  fail();
}

static void clear(PawlPattern p, double* values) {
  memset(values, 0, (size_t)p.start[p.cols] * sizeof(double));
}

static void fill_dynamics(const Pendulum* self, unsigned mask, const PawlPoint* at, PawlValues* x) {
  static const double mass[] = {1.0, 1.0, 0.1};
  double s = sin(at->q[2]), c = cos(at->q[2]);
  if (mask & PAWL_MASS) {
    clear(self->H, x->M);
    for (int k = 0; k < 3; k++) {
      put(self->H, x->M, k, k, mass[k]);
    }
  }
  if (mask & PAWL_FORCE) {
    x->f[0] = x->f[2] = 0.0;
    x->f[1] = -10.0;
  }
  if (mask & PAWL_STIFFNESS) {
    clear(self->H, x->K);
    put(self->H, x->K, 2, 2, -(at->lambda[0] * c + at->lambda[1] * s));
  }
  if (mask & PAWL_DAMPING) {
    clear(self->H, x->C);
  }
  if (mask & PAWL_ENERGY) {
    x->energy[0] = x->energy[1] = 0.0;
    for (int k = 0; k < 3; k++) {
      x->energy[0] += mass[k] / 2.0 * at->v[k] * at->v[k];
    }
    x->energy[1] = 10.0 * at->q[1];
  }
  if (mask & PAWL_OUTPUTS) {
    x->outputs[0] = at->lambda[0] * c + at->lambda[1] * s;
  }
}

static void fill_rows(const Pendulum* self, unsigned mask, const PawlPoint* at, PawlValues* x) {
  double s = sin(at->q[2]), c = cos(at->q[2]), w2 = at->v ? at->v[2] * at->v[2] : 0.0;
  if (mask & PAWL_POSITION) {
    x->g[0] = at->q[0] - c;
    x->g[1] = at->q[1] - s;
  }
  if (mask & PAWL_GRADIENT) {
    clear(self->G, x->G);
    put(self->G, x->G, 0, 0, 1.0);
    put(self->G, x->G, 0, 2, s);
    put(self->G, x->G, 1, 1, 1.0);
    put(self->G, x->G, 1, 2, -c);
  }
  if (mask & PAWL_TIME_GRADIENT) {
    x->g_t[0] = x->g_t[1] = 0.0;
  }
  if (mask & PAWL_BIAS) {
    x->gamma[0] = c * w2;
    x->gamma[1] = s * w2;
  }
}

static int evaluate(void* context, unsigned mask, const PawlPoint* at, PawlValues* x) {
  Pendulum* self = context;
  self->calls++;
  self->last_mask = mask;
  if (self->refuse) {
    return 1;
  }
  fill_dynamics(self, mask, at, x);
  fill_rows(self, mask, at, x);
  if (self->overflow && (mask & PAWL_FORCE)) {
    x->f[1] = INFINITY;
  }
  return 0;
}

static PawlCallbacks pendulum_callbacks(Pendulum* self) {
  PawlSizes sizes = {.q = 3, .v = 3, .rows = 2, .outputs = 1};
  return (PawlCallbacks){.context = self, .sizes = sizes, .evaluate = evaluate};
}

// The system, and where its values are told to the functions.
static PawlSystem* create(PawlCallbacks* callbacks, Pendulum* self) {
  PawlSystem* system = NULL;
  PawlError err = {0};
  if (pawl_system_create_callbacks(callbacks, &system, &err) != PAWL_OK) {
    fail_msg("%s", err.message);
  }
  self->H = pawl_system_pattern_H(system);
  self->G = pawl_system_pattern_G(system);
  return system;
}

static void compare_with_text(PawlSystem* system, Setup* text) {
  PawlEval* eval;
  assert_int_equal(pawl_eval_create(system, PAWL_EVERYTHING, &eval, NULL), PAWL_OK);
  Random r = {21};
  for (int repeat = 0; repeat < 5; repeat++) {
    Place p = random_place(text->system, &r);
    const PawlValues *x = run_at(eval, &p), *y = run_at(text->eval, &p);
    double a[4][9], b[4][9];
    PawlPattern H[2] = {pawl_system_pattern_H(system), pawl_system_pattern_H(text->system)};
    PawlPattern G[2] = {pawl_system_pattern_G(system), pawl_system_pattern_G(text->system)};
    const double* matrix[2][4] = {{x->M, x->K, x->C, x->G}, {y->M, y->K, y->C, y->G}};
    for (int k = 0; k < 4; k++) {
      to_dense(k < 3 ? H[0] : G[0], matrix[0][k], a[k]);
      to_dense(k < 3 ? H[1] : G[1], matrix[1][k], b[k]);
      for (int e = 0; e < (k < 3 ? 9 : 6); e++) {
        CHECK_NEAR(a[k][e], b[k][e], 4e-16);  // products of two numbers near 1
      }
    }
    for (int k = 0; k < 3; k++) {
      CHECK_NEAR(x->f[k], y->f[k], 0.0);
    }
    for (int k = 0; k < 2; k++) {
      CHECK_NEAR(x->g[k], y->g[k], 4e-16);
      CHECK_NEAR(x->g_t[k], y->g_t[k], 0.0);
      CHECK_NEAR(x->gamma[k], y->gamma[k], 4e-16);
      CHECK_NEAR(x->energy[k], y->energy[k], 4e-15);  // up to 14 J
    }
    CHECK_NEAR(x->outputs[0], y->outputs[0], 4e-16);
    place_free(&p);
  }
  pawl_eval_destroy(eval);
}

static Setup pendulum_text(void) {
  PawlModel* model;
  PawlError err;
  assert_int_equal(pawl_model_load(PAWL_MODELS "/pendulum.yaml", 0, NULL, &model, &err), PAWL_OK);
  return setup_model(model);
}

static const int H_start[] = {0, 1, 2, 3}, H_index[] = {0, 1, 2};
static const int G_start[] = {0, 1, 2, 4}, G_index[] = {0, 1, 0, 1};
static const PawlPattern sparse_H = {3, 3, H_start, H_index}, sparse_G = {2, 3, G_start, G_index};

static void test_same_numbers_as_text(void** state) {
  (void)state;
  Setup text = pendulum_text();
  for (int sparse = 0; sparse < 2; sparse++) {
    Pendulum self = {0};
    PawlCallbacks callbacks = pendulum_callbacks(&self);
    callbacks.H = sparse ? &sparse_H : NULL;
    callbacks.G = sparse ? &sparse_G : NULL;
    PawlSystem* system = create(&callbacks, &self);
    PawlSystemInfo info = pawl_system_info(system);
    assert_int_equal(info.nonzeros_H, sparse ? 3 : 9);
    assert_int_equal(info.nonzeros_G, sparse ? 4 : 6);
    compare_with_text(system, &text);
    pawl_system_destroy(system);
  }
  setup_free(&text);
}

static void test_full_patterns(void** state) {
  (void)state;
  Pendulum self = {0};
  PawlCallbacks callbacks = pendulum_callbacks(&self);
  PawlSystem* system = create(&callbacks, &self);
  for (int col = 0; col < 3; col++) {
    for (int row = 0; row < 3; row++) {
      assert_int_equal(self.H.index[3 * col + row], row);
    }
    assert_int_equal(self.G.start[col + 1], 2 * (col + 1));
  }
  pawl_system_destroy(system);
}

// Everything but the context is copied.
static void test_description_is_copied(void** state) {
  (void)state;
  Pendulum self = {0};
  char name[] = "mine", x[] = "x", theta[] = "theta", pin[] = "pin", pull[] = "pull";
  const char *q_names[] = {x, x, theta}, *row_names[] = {pin, pin}, *output_names[] = {pull};
  double q_start[] = {1.0, 2.0, 3.0}, v_start[] = {4.0, 5.0, 6.0};
  int start[] = {0, 1, 2, 3}, index[] = {0, 1, 2};
  PawlPattern H = {3, 3, start, index};
  PawlCallbacks callbacks = pendulum_callbacks(&self);
  callbacks.name = name;
  callbacks.H = &H;
  callbacks.coordinate_names = q_names;
  callbacks.row_names = row_names;
  callbacks.output_names = output_names;
  callbacks.q_start = q_start;
  callbacks.v_start = v_start;
  PawlSystem* system = create(&callbacks, &self);
  name[0] = x[0] = theta[0] = pin[0] = pull[0] = '?';
  q_start[0] = v_start[0] = NAN;
  start[1] = index[0] = 77;
  memset(&H, 0, sizeof H);
  memset(&callbacks, 0, sizeof callbacks);
  double q[3], v[3];
  int number = -1;
  pawl_system_start(system, q, v);
  assert_true(q[0] == 1.0 && q[2] == 3.0 && v[0] == 4.0 && v[2] == 6.0);
  assert_string_equal(pawl_system_name(system), "mine");
  assert_string_equal(pawl_system_coordinate_name(system, 2), "theta");
  assert_string_equal(pawl_system_row_name(system, 1, &number), "pin");
  assert_int_equal(number, 0);
  assert_string_equal(pawl_system_output_name(system, 0), "pull");
  assert_int_equal(pawl_system_pattern_H(system).start[1], 1);
  assert_int_equal(pawl_system_pattern_H(system).index[0], 0);
  pawl_system_destroy(system);
}

static void test_defaults(void** state) {
  (void)state;
  Pendulum self = {0};
  PawlCallbacks callbacks = pendulum_callbacks(&self);
  PawlSystem* system = create(&callbacks, &self);
  double q[3] = {9, 9, 9}, v[3] = {9, 9, 9};
  int number = -1;
  pawl_system_start(system, q, v);
  for (int k = 0; k < 3; k++) {
    assert_true(q[k] == 0.0 && v[k] == 0.0);
  }
  assert_string_equal(pawl_system_name(system), "callbacks");
  assert_string_equal(pawl_system_coordinate_name(system, 2), "q[2]");
  assert_string_equal(pawl_system_coordinate_unit(system, 2), "");
  assert_string_equal(pawl_system_row_name(system, 1, &number), "constraint[1]");
  assert_string_equal(pawl_system_output_name(system, 0), "output[0]");
  assert_string_equal(pawl_system_output_unit(system, 0), "");
  const double dq[] = {0.5, 0.25, -1.0};
  pawl_system_retract(system, q, dq, q);
  assert_true(q[0] == 0.5 && q[1] == 0.25 && q[2] == -1.0);
  pawl_system_rates(system, q, dq, v);
  assert_true(v[0] == 0.5 && v[1] == 0.25 && v[2] == -1.0);
  pawl_system_destroy(system);
}

// ---- what is asked of the functions -------------------------------------------------------------
static void test_mask_is_passed_on(void** state) {
  (void)state;
  Pendulum self = {0};
  PawlCallbacks callbacks = pendulum_callbacks(&self);
  PawlSystem* system = create(&callbacks, &self);
  double q[3] = {0}, v[3] = {0};
  PawlPoint point = {.t = 0.0, .q = q, .v = v};
  for (unsigned bit = 1; bit <= PAWL_WATCH_RATES; bit *= 2) {
    if (bit == PAWL_STIFFNESS || bit == PAWL_OUTPUTS) {
      continue;  // these read lambda
    }
    PawlEval* eval;
    assert_int_equal(pawl_eval_create(system, bit, &eval, NULL), PAWL_OK);
    self.calls = 0;
    long long allocations = pawl_alloc_count();
    assert_int_equal(pawl_eval_run(eval, &point, NULL), PAWL_OK);
    assert_true(pawl_alloc_count() == allocations);
    assert_int_equal(self.calls, 1);
    assert_int_equal(self.last_mask, bit);
    pawl_eval_destroy(eval);
  }
  pawl_system_destroy(system);
}

static void test_refusal_and_overflow(void** state) {
  (void)state;
  Pendulum self = {0};
  PawlCallbacks callbacks = pendulum_callbacks(&self);
  PawlSystem* system = create(&callbacks, &self);
  PawlEval* eval;
  double zeros[3] = {0};
  PawlPoint point = {1.25, zeros, zeros, zeros, zeros, NULL, NULL};
  PawlError err = {0};
  assert_int_equal(pawl_eval_create(system, PAWL_EVERYTHING, &eval, &err), PAWL_OK);
  self.refuse = true;
  assert_int_equal(pawl_eval_run(eval, &point, &err), PAWL_RETRY);
  assert_non_null(strstr(err.message, "t = 1.25"));
  self.refuse = false;
  self.overflow = true;
  assert_int_equal(pawl_eval_run(eval, &point, &err), PAWL_RETRY);
  assert_non_null(strstr(err.message, "not finite"));
  self.overflow = false;
  assert_int_equal(pawl_eval_run(eval, &point, &err), PAWL_OK);
  pawl_eval_destroy(eval);
  pawl_system_destroy(system);
}

// ---- coordinates that are not a sum of increments -----------------------------------------------
// q = (cos phi, sin phi), v = phi'.
static int evaluate_nothing(void* context, unsigned mask, const PawlPoint* at, PawlValues* x) {
  (void)context, (void)mask, (void)at, (void)x;
  return 0;
}

static void turn(void* context, const double* q, const double* dq, double* out) {
  ++*(int*)context;
  double c = cos(dq[0]), s = sin(dq[0]), x = q[0], y = q[1];
  out[0] = c * x - s * y;
  out[1] = s * x + c * y;
}

static void turn_rates(void* context, const double* q, const double* v, double* q_rate) {
  ++*(int*)context;
  q_rate[0] = -q[1] * v[0];
  q_rate[1] = q[0] * v[0];
}

static void test_retract_and_rates(void** state) {
  (void)state;
  int calls = 0;
  PawlCallbacks callbacks = {.context = &calls,
                             .sizes = {.q = 2, .v = 1},
                             .evaluate = evaluate_nothing,
                             .retract = turn,
                             .rates = turn_rates};
  PawlSystem* system = NULL;
  assert_int_equal(pawl_system_create_callbacks(&callbacks, &system, NULL), PAWL_OK);
  double q[] = {1.0, 0.0}, dq[] = {0.3}, rate[2];
  pawl_system_retract(system, q, dq, q);
  CHECK_NEAR(q[0], cos(0.3), 0.0);
  CHECK_NEAR(q[1], sin(0.3), 0.0);
  pawl_system_rates(system, q, dq, rate);
  CHECK_NEAR(rate[0], -0.3 * sin(0.3), 1e-16);
  assert_int_equal(calls, 2);
  pawl_system_destroy(system);
}

// ---- refused ------------------------------------------------------------------------------------
static void expect_refused(const PawlCallbacks* callbacks, const char* word) {
  PawlSystem* system = (PawlSystem*)callbacks;
  PawlError err = {0};
  assert_int_equal(pawl_system_create_callbacks(callbacks, &system, &err), PAWL_ERROR_USAGE);
  assert_int_equal(err.status, PAWL_ERROR_USAGE);
  assert_null(system);
  if (!strstr(err.message, word)) {
    fail_msg("'%s' does not say '%s'", err.message, word);
  }
  assert_int_equal(pawl_system_create_callbacks(callbacks, &system, NULL), PAWL_ERROR_USAGE);
}

static void test_bad_patterns(void** state) {
  (void)state;
  static const int later[] = {1, 1, 2, 3}, falling[] = {0, 2, 1, 3}, unsorted[] = {1, 0, 0, 1};
  static const int twice[] = {0, 0, 1, 1}, high[] = {0, 1, 0, 2}, low[] = {-1, 1, 0, 1};
  static const int two_first[] = {0, 2, 3, 4}, no_middle[] = {0, 1, 1, 2}, outer[] = {0, 2};
  const struct {
    PawlPattern pattern;
    bool is_G;
    const char* word;
  } cases[] = {
      {{2, 3, H_start, H_index}, false, "pattern H"},
      {{3, 2, H_start, H_index}, false, "pattern H"},
      {{3, 3, later, H_index}, false, "pattern H"},
      {{3, 3, falling, H_index}, false, "pattern H"},
      {{3, 3, no_middle, outer}, false, "diagonal entry 1"},
      {{3, 3, G_start, G_index}, true, "pattern G"},
      {{2, 3, two_first, unsorted}, true, "pattern G"},
      {{2, 3, two_first, twice}, true, "pattern G"},
      {{2, 3, G_start, high}, true, "pattern G"},
      {{2, 3, G_start, low}, true, "pattern G"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Pendulum self = {0};
    PawlCallbacks callbacks = pendulum_callbacks(&self);
    *(cases[k].is_G ? &callbacks.G : &callbacks.H) = &cases[k].pattern;
    expect_refused(&callbacks, cases[k].word);
  }
}

static void test_bad_descriptions(void** state) {
  (void)state;
  Pendulum self = {0};
  PawlCallbacks none = pendulum_callbacks(&self), one = none, unequal = none;
  none.evaluate = NULL;
  expect_refused(&none, "evaluate");
  one.retract = turn;
  expect_refused(&one, "together");
  unequal.sizes.q = 4;
  expect_refused(&unequal, "differ");
  const PawlSizes sizes[] = {
      {.q = 0}, {.q = 1}, {.q = 3, .v = 3, .rows = -1}, {.q = 3, .v = 3, .outputs = -1}};
  for (int k = 0; k < 4; k++) {
    PawlCallbacks bad = pendulum_callbacks(&self);
    bad.sizes = sizes[k];
    expect_refused(&bad, "sizes");
  }
}

static void test_memory_failures(void** state) {
  (void)state;
  Pendulum self = {0};
  PawlCallbacks callbacks = pendulum_callbacks(&self);
  callbacks.H = &sparse_H;
  bool done = false;
  for (long long n = 1; !done; n++) {
    assert_true(n < 200);
    PawlSystem* system = NULL;
    PawlEval* eval = NULL;
    PawlError err = {0};
    pawl_alloc_fail_at(n);
    PawlStatus status = pawl_system_create_callbacks(&callbacks, &system, &err);
    if (status == PAWL_OK) {
      status = pawl_eval_create(system, PAWL_EVERYTHING, &eval, &err);
    }
    pawl_alloc_fail_at(0);
    done = status == PAWL_OK;
    assert_true(done || (status == PAWL_ERROR_MEMORY && err.status == PAWL_ERROR_MEMORY && !eval));
    pawl_eval_destroy(eval);
    pawl_system_destroy(system);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_numbers_as_text),  cmocka_unit_test(test_full_patterns),
      cmocka_unit_test(test_description_is_copied), cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_mask_is_passed_on),     cmocka_unit_test(test_refusal_and_overflow),
      cmocka_unit_test(test_retract_and_rates),     cmocka_unit_test(test_bad_patterns),
      cmocka_unit_test(test_bad_descriptions),      cmocka_unit_test(test_memory_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
