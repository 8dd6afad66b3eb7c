// SPDX-License-Identifier: Apache-2.0
// Large models on several threads: the same bits as on one, for 1 to 8 of them, through impacts,
// and for steppers that run at the same time; a step allocates nothing.
#include <pthread.h>

#include "step/ga.h"
#include "step/method.h"
#include "step/motion.h"

enum { STEPS = 12 };

// A net of springs; its forces have a gate-free family in each direction, and a single drive.
static const char net[] =
    "model: net\n"
    "parameters: {N: 47, k: 4000, m: 0.1}\n"
    "coordinates:\n"
    "  x[i=0..N, j=0..N]: {start: \"i + 0.05*sin(i*j)\"}\n"
    "  y[i=0..N, j=0..N]: {start: \"j + 0.05*cos(i + 2*j)\"}\n"
    "kinetic:\n"
    "  for i=0..N, j=0..N: m/2*(x[i,j]'^2 + y[i,j]'^2)\n"
    "potential:\n"
    "  for i=0..N, j=0..N: m*9.81*y[i,j]\n"
    "  for i=1..N, j=0..N: k/2*(sqrt((x[i,j] - x[i-1,j])^2 + (y[i,j] - y[i-1,j])^2) - 1)^2\n"
    "  for i=0..N, j=1..N: k/2*(sqrt((x[i,j] - x[i,j-1])^2 + (y[i,j] - y[i,j-1])^2) - 1)^2\n"
    "forces:\n"
    "  x[0,0]: 3*sin(100*t)\n"
    "contacts:\n"
    "  floor: {gap: \"y[0,0] + 0.01\", restitution: 0.5}\n"
    "simulate: {step: 1e-3, until: 1}\n";

// The state after some steps, as a copy of its numbers.
static double* run(Motion* m, const char* method, int threads, double h) {
  m->def.threads = threads;
  motion_start(m, method);
  assert_true((m->stepper->pool != NULL) == (threads > 1));
  motion_step(m, h);
  long long before = pawl_alloc_count();
  for (int k = 1; k < STEPS; k++) {
    motion_step(m, h);
  }
  assert_int_equal(pawl_alloc_count(), before);
  double* numbers = malloc(m->state->bytes);
  assert_non_null(numbers);
  memcpy(numbers, m->state->q, m->state->bytes);
  return numbers;
}

static void check_threads(Motion* m, const char* method, double h) {
  double* alone = run(m, method, 1, h);
  for (int threads = 2; threads <= 8; threads += 3) {
    double* numbers = run(m, method, threads, h);
    if (memcmp(numbers, alone, m->state->bytes) != 0) {
      print_error("%s: other bits with %d threads\n", method, threads);
      fail();
    }
    free(numbers);
  }
  free(alone);
}

static Motion bar(void) {
  static const char* overrides[] = {"N=20000", "d0=0.1"};  // the impact is in the sixth step
  Motion m = {0};
  NEED(pawl_model_load(PAWL_MODELS "/elastic-bar.yaml", 2, overrides, &m.model, &m.err), &m.err);
  motion_derive(&m);
  return m;
}

static void test_bar(void** unused) {
  (void)unused;
  Motion m = bar();
  check_threads(&m, "nsga-pva", 2e-3);
  assert_true(m.state->q[0] < 1e-9);  // the wall was reached
  check_threads(&m, "nsga-pvv", 2e-3);
  check_threads(&m, "moreau-jean", 2e-3);
  motion_end(&m);
}

static void test_net(void** unused) {
  (void)unused;
  Motion m = motion_text(net);
  check_threads(&m, "nsga-pva", 1e-3);
  motion_end(&m);
}

typedef struct Sim {
  Motion m;
  double* numbers;
} Sim;

static void* run_beside(void* context) {
  Sim* sim = context;
  sim->numbers = run(&sim->m, "nsga-pva", 3, 2e-3);
  return NULL;
}

// Two steppers of one system at the same time, each with threads of its own.
static void test_beside_each_other(void** unused) {
  (void)unused;
  Motion m = bar();
  double* alone = run(&m, "nsga-pva", 1, 2e-3);
  Sim sims[2] = {{.m = {.system = m.system, .def = m.def}},
                 {.m = {.system = m.system, .def = m.def}}};
  pthread_t threads[2];
  for (int k = 0; k < 2; k++) {
    assert_int_equal(pthread_create(&threads[k], NULL, run_beside, &sims[k]), 0);
  }
  for (int k = 0; k < 2; k++) {
    pthread_join(threads[k], NULL);
    assert_memory_equal(sims[k].numbers, alone, m.state->bytes);
    free(sims[k].numbers);
    pawl_state_destroy(sims[k].m.state);
    pawl_stepper_destroy(sims[k].m.stepper);
  }
  free(alone);
  motion_end(&m);
}

// What a large model does not store, and the parts where corrections are 0, change no bit: in
// flight, at the impact and in contact.
static void test_lean(void** unused) {
  (void)unused;
  static const char* overrides[] = {"N=70000", "d0=0.0005"};
  static const bool plain[] = {true, false};
  double* numbers[2];
  Motion m = {0};
  NEED(pawl_model_load(PAWL_MODELS "/elastic-bar.yaml", 2, overrides, &m.model, &m.err), &m.err);
  motion_derive(&m);
  for (int k = 0; k < 2; k++) {
    m.def.threads = 2;
    motion_start(&m, "nsga-pva");
    PawlGa* ga = m.stepper->data;  // it is the first of what the method keeps
    assert_true(ga->lean && ga->moved && ga->lumped);
    if (plain[k]) {
      ga->lean = ga->lumped = false;
      ga->moved = NULL;
    }
    for (int i = 0; i < 16; i++) {
      motion_step(&m, 6e-6);
    }
    assert_true(m.state->lambda[0] > 100.0);
    numbers[k] = malloc(m.state->bytes);
    assert_non_null(numbers[k]);
    memcpy(numbers[k], m.state->q, m.state->bytes);
  }
  assert_memory_equal(numbers[0], numbers[1], m.state->bytes);
  free(numbers[0]);
  free(numbers[1]);
  motion_end(&m);
}

// Of a large chain guess and correction are computed again in the place of being stored: the bits
// are those of a chain that stores them, on any number of threads.
static void test_slim(void** unused) {
  (void)unused;
  static const struct {
    int threads;
    bool slim;
  } runs[] = {{2, false}, {1, true}, {2, true}, {8, true}};
  double* numbers[4];
  Motion m = motion_file("chain", "N=22000");
  for (int k = 0; k < 4; k++) {
    m.def.threads = runs[k].threads;
    motion_start(&m, "ga-p");
    PawlGa* ga = m.stepper->data;
    assert_true(ga->slim && ga->lumped);
    ga->slim = runs[k].slim;
    for (int i = 0; i < 12; i++) {
      motion_step(&m, 1e-3);
    }
    assert_true(!runs[k].slim || ga->fold == PAWL_GA_CORRECTED);
    numbers[k] = malloc(m.state->bytes);
    assert_non_null(numbers[k]);
    memcpy(numbers[k], m.state->q, m.state->bytes);
  }
  for (int k = 0; k < 4; k++) {
    assert_memory_equal(numbers[k], numbers[0], m.state->bytes);
  }
  for (int k = 0; k < 4; k++) {
    free(numbers[k]);
  }
  motion_end(&m);
}

// A small model has no use for them.
static void test_small(void** unused) {
  (void)unused;
  Motion m = motion_file("elastic-bar", NULL);
  m.def.threads = 4;
  motion_start(&m, "nsga-pva");
  assert_null(m.stepper->pool);
  m.def.threads = -1;
  PawlStepper* stepper;
  assert_int_equal(pawl_stepper_create(m.system, &m.def, &stepper, &m.err), PAWL_ERROR_USAGE);
  motion_end(&m);
}

// Where nobody says how many, a model that outgrows a cache takes the processors that there are.
static void test_chosen(void** unused) {
  (void)unused;
  static const char* const sizes[] = {"N=20000", "N=70000"};
  for (int k = 0; k < 2; k++) {
    Motion m = motion_file("elastic-bar", sizes[k]);
    int most = pawl_pool_processors() < 4 ? pawl_pool_processors() : 4;
    assert_int_equal(m.def.threads, 0);
    motion_start(&m, "nsga-pva");
    assert_int_equal(pawl_pool_threads(m.stepper->pool), k == 0 ? 1 : most);
    motion_end(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_bar),
                                     cmocka_unit_test(test_net),
                                     cmocka_unit_test(test_beside_each_other),
                                     cmocka_unit_test(test_lean),
                                     cmocka_unit_test(test_slim),
                                     cmocka_unit_test(test_small),
                                     cmocka_unit_test(test_chosen)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
