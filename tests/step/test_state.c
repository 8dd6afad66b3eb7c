// SPDX-License-Identifier: Apache-2.0
// A state is complete: copied or loaded into another stepper of the same system, the run goes on
// with the same bits, for every method and every model of models/. Damaged and foreign bytes are
// refused.
#include <dirent.h>
#include <sys/types.h>

#include "step/motion.h"

enum { MOST_MODELS = 100, STEPS = 400 };

static char models[MOST_MODELS][64];
static int model_count;

static int list_models(void** unused) {
  (void)unused;
  DIR* folder = opendir(PAWL_MODELS);
  assert_non_null(folder);
  for (struct dirent* e = readdir(folder); e; e = readdir(folder)) {
    char* end = strstr(e->d_name, ".yaml");
    if (end && model_count < MOST_MODELS) {
      snprintf(models[model_count++], sizeof *models, "%.*s", (int)(end - e->d_name), e->d_name);
    }
  }
  closedir(folder);
  return 0;
}

static void check_same(const PawlState* a, const PawlState* b, const char* model,
                       const char* method, int step) {
  if (a->t != b->t || a->step != b->step || a->bytes != b->bytes ||
      memcmp(a->q, b->q, a->bytes) != 0) {
    print_error("%s by %s: not the same bits %d steps after the copy\n", model, method, step);
    fail();
  }
}

static bool same_instants(const PawlStepper* a, const PawlStepper* b) {
  bool same = pawl_stepper_instants(a) == pawl_stepper_instants(b);
  for (int k = 0; same && k < pawl_stepper_instants(a); k++) {
    same = pawl_stepper_instant(a, k)->t == pawl_stepper_instant(b, k)->t;
  }
  return same;
}

// Steps both until one fails; both must fail alike.
static bool go_on(Motion* m, PawlStepper* other, PawlState* twin, double h, const char* method,
                  const char* model, int k) {
  PawlError err = {0};
  PawlStatus own = pawl_stepper_step(m->stepper, m->state, h, &m->err);
  PawlStatus of_twin = pawl_stepper_step(other, twin, h, &err);
  if (of_twin != own) {
    print_error("%s by %s, step %d: %s%s\n", model, method, k, m->err.message, err.message);
  }
  assert_int_equal(of_twin, own);
  if (own != PAWL_OK) {
    assert_string_equal(err.message, m->err.message);
    return false;
  }
  assert_true(same_instants(m->stepper, other));
  check_same(m->state, twin, model, method, k);
  return !pawl_stepper_stopped(m->stepper);
}

// The run is cut after `before` steps.
static void cut(Motion* m, const char* model, const char* method, int before, double h) {
  PawlStepper* other;
  PawlState* twin;
  motion_start(m, method);
  for (int k = 0; k < before; k++) {
    if (pawl_stepper_step(m->stepper, m->state, h, &m->err) != PAWL_OK) {
      return;
    }
  }
  NEED(pawl_stepper_create(m->system, &m->def, &other, &m->err), &m->err);
  NEED(pawl_state_create(other, &twin, &m->err), &m->err);
  NEED(pawl_state_copy(other, twin, m->stepper, m->state, &m->err), &m->err);
  bool goes = true;
  for (int k = 0; k < STEPS && goes; k++) {
    goes = go_on(m, other, twin, h, method, model, k);
  }
  pawl_state_destroy(twin);
  pawl_stepper_destroy(other);
}

static void test_goes_on(void** unused) {
  (void)unused;
  int cuts = 0;
  for (int i = 0; i < model_count; i++) {
    Motion m = motion_file(models[i], NULL);
    for (int k = 0; pawl_method(k); k++) {
      const char* method = pawl_method(k)->name;
      if (motion_can(&m, method)) {
        double h = fmin(m.def.step, m.def.until / STEPS);
        for (int before = 1; before < 2 * STEPS; before = 3 * before + 7) {
          cut(&m, models[i], method, before, h);
          cuts++;
        }
      }
    }
    motion_end(&m);
  }
  assert_true(cuts > 500);
}

// ---- bytes --------------------------------------------------------------------------------------
static void expect_refused(Motion* m, const unsigned char* bytes, size_t size, const char* words) {
  double t = m->state->t;
  PawlStatus status = pawl_state_load(m->stepper, m->state, bytes, size, &m->err);
  assert_int_equal(status, PAWL_ERROR_USAGE);
  if (!strstr(m->err.message, words)) {
    print_error("%s\n", m->err.message);
    fail();
  }
  assert_true(m->state->t == t);
}

static void test_foreign_and_damaged(void** unused) {
  (void)unused;
  Motion m = motion_file("planar-3r-lock", NULL), other = motion_file("four-bar", NULL);
  motion_start(&m, "rk4");
  motion_start(&other, "rk4");
  size_t size = pawl_state_size(m.stepper);
  unsigned char* bytes = malloc(size);
  assert_non_null(bytes);
  pawl_state_save(m.stepper, m.state, bytes);
  motion_step(&m, 1e-3);
  expect_refused(&m, bytes, size - 1, "size");
  expect_refused(&m, bytes, 3, "is none");
  for (size_t k = 0; k < size; k++) {
    bytes[k] ^= 0x10;
    assert_int_equal(pawl_state_load(m.stepper, m.state, bytes, size, &m.err), PAWL_ERROR_USAGE);
    bytes[k] ^= 0x10;
  }
  expect_refused(&other, bytes, size, "planar-3r-lock");
  motion_stepper(&other, "ga-p");
  motion_stepper(&m, "ga-p");
  expect_refused(&m, bytes, size, "method rk4");
  motion_start(&m, "rk4");
  NEED(pawl_state_load(m.stepper, m.state, bytes, size, &m.err), &m.err);
  assert_true(m.state->t == 0.0 && m.state->step == 0);
  free(bytes);
  motion_end(&m);
  motion_end(&other);
}

// A right checksum does not make a state that cannot be a good one: each is saved from a state in
// which one number is none that a stepper writes.
static void test_impossible(void** unused) {
  (void)unused;
  Motion m = motion_file("planar-3r-lock", NULL);
  motion_start(&m, "rk4");
  int* const integers[] = {&m.state->modes[0], &m.state->modes[0], &m.state->passed[0],
                           &m.state->still_count, &m.state->redundant_count};
  const int wrong[] = {-1, 5, -1, 1, 1};
  size_t size = pawl_state_size(m.stepper);
  unsigned char* bytes = malloc(size);
  assert_non_null(bytes);
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    int right = *integers[k];
    *integers[k] = wrong[k];
    pawl_state_save(m.stepper, m.state, bytes);
    *integers[k] = right;
    expect_refused(&m, bytes, size, "modes that its constraints have not");
  }
  m.state->redundant[0] = 7;
  pawl_state_save(m.stepper, m.state, bytes);
  m.state->redundant[0] = 0;
  expect_refused(&m, bytes, size, "modes that its constraints have not");
  free(bytes);
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_goes_on),
                                     cmocka_unit_test(test_foreign_and_damaged),
                                     cmocka_unit_test(test_impossible)};
  return cmocka_run_group_tests(tests, list_models, NULL);
}
