// SPDX-License-Identifier: Apache-2.0
// What all methods share: the list of methods, creation and its failures, several steppers on one
// system, systems of the caller's own functions, and rotations (more coordinates than velocities).
#include "step/motion.h"

// ---- the list -----------------------------------------------------------------------------------
static void test_methods(void** unused) {
  (void)unused;
  static const struct {
    const char* name;
    int order;
  } all[] = {{"ga-p", 2},         {"ga-v", 2},        {"ga-v-between", 2}, {"ga-v-implicit", 1},
             {"ga-a", 2},         {"ga-pv", 2},       {"ga-pva", 2},       {"nsga-pvv", 2},
             {"nsga-pva", 2},     {"moreau-jean", 1}, {"rk4", 4},          {"dopri", 5},
             {"taylor", 4},       {"exponential", 4}, {"ark", 4},          {"ida", 5},
             {"event-driven", 4}, {"php", 2}};
  enum { COUNT = sizeof all / sizeof *all };
  for (int k = 0; k < COUNT; k++) {
    bool found = false;
    for (int i = 0; i < COUNT; i++) {
      const PawlMethodInfo* info = pawl_method(i);
      assert_non_null(info);
      assert_true(strlen(info->about) > 10);
      if (strcmp(info->name, all[k].name) == 0) {
        assert_false(found);
        assert_int_equal(info->order, all[k].order);
        found = true;
      }
    }
    assert_true(found);
  }
  assert_null(pawl_method(COUNT));
  assert_null(pawl_method(-1));
}

static void check_not_created(Motion* m, const char* first, const char* second) {
  PawlStepper* stepper = (PawlStepper*)m;
  assert_int_equal(pawl_stepper_create(m->system, &m->def, &stepper, &m->err), PAWL_ERROR_USAGE);
  assert_null(stepper);
  assert_int_equal(m->err.status, PAWL_ERROR_USAGE);
  if (!strstr(m->err.message, first) || !strstr(m->err.message, second)) {
    print_error("'%s' or '%s' is not in: %s\n", first, second, m->err.message);
    fail();
  }
}

static void test_bad_options(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  m.def.method = "rk-4";
  check_not_created(&m, "unknown method 'rk-4'; this version has ", "mean 'rk4'?");
  m.def.method = "euler";
  check_not_created(&m, "unknown method 'euler'", "event-driven");
  m.def.method = "ga-p";
  m.def.rho = 1.5;
  check_not_created(&m, "rho", "1.5");
  m.def.rho = NAN;
  check_not_created(&m, "rho", "nan");
  m.def.rho = 0.9;
  m.def.iterations = 0;
  check_not_created(&m, "iterations", "0");
  motion_end(&m);
}

// ---- allocation ---------------------------------------------------------------------------------
// Everything from the stepper to the first step, with the n-th allocation failing.
static PawlStatus from_create_to_step(Motion* m, bool project) {
  PawlStepper* stepper = NULL;
  PawlState* state = NULL;
  PawlStatus status = pawl_stepper_create(m->system, &m->def, &stepper, &m->err);
  status = status ? status : pawl_state_create(stepper, &state, &m->err);
  status = status ? status : pawl_stepper_start(stepper, state, project, &m->err);
  status = status ? status : pawl_stepper_step(stepper, state, 1e-3, &m->err);
  pawl_state_destroy(state);
  pawl_stepper_destroy(stepper);
  return status;
}

// False when the method refuses what the model asks for.
static bool can_do(Motion* m, const char* method) {
  PawlStepper* stepper;
  m->def.method = method;
  PawlStatus status = pawl_stepper_create(m->system, &m->def, &stepper, &m->err);
  assert_true(status == PAWL_OK || status == PAWL_ERROR_USAGE);
  pawl_stepper_destroy(stepper);
  return status == PAWL_OK;
}

static void check_every_allocation(Motion m, bool project) {
  for (int k = 0; pawl_method(k); k++) {
    if (!can_do(&m, pawl_method(k)->name)) {
      continue;
    }
    m.def.method = pawl_method(k)->name;
    PawlStatus status = PAWL_ERROR_MEMORY;
    int n = 1;
    for (; status != PAWL_OK && n < 2000; n++) {
      pawl_alloc_fail_at(n);
      status = from_create_to_step(&m, project);
      pawl_alloc_fail_at(0);
      assert_true(status == PAWL_OK || status == PAWL_ERROR_MEMORY);
      assert_true(status == PAWL_OK || m.err.status == PAWL_ERROR_MEMORY);
    }
    assert_true(n > 5 && n < 2000);
  }
  motion_end(&m);
}

static void test_every_allocation_can_fail(void** unused) {
  (void)unused;
  check_every_allocation(motion_file("pendulum", NULL), false);
  check_every_allocation(motion_file("chain", "N=12"), true);
  check_every_allocation(motion_file("bouncing-pendulum", NULL), false);
  check_every_allocation(motion_file("pothole-wheel", "l=1e-3"), false);  // a switch in this step
  check_every_allocation(motion_text("model: twice\ncoordinates: {x: {}, y: {}}\n"
                                     "mass: {x: 1, y: 1}\nconstraints: {a: x = y, b: y = x}\n"),
                         false);
}

static void test_destroy_of_nothing(void** unused) {
  (void)unused;
  pawl_stepper_destroy(NULL);
  pawl_state_destroy(NULL);
}

// ---- several at once ----------------------------------------------------------------------------
// A system is not written while stepping: steppers that take turns do not feel each other.
static void test_steppers_take_turns(void** unused) {
  (void)unused;
  double alone[MOTION_MOST], in_turns[MOTION_MOST];
  Motion a = motion_file("pendulum", NULL);
  motion_run(&a, "ga-p", 0.1, 50, NULL);
  int count = state_numbers(&a, alone);
  motion_start(&a, "ga-p");
  Motion b = a;  // the same system, another stepper
  b.stepper = NULL;
  b.state = NULL;
  motion_start(&b, "rk4");
  for (int k = 0; k < 50; k++) {
    motion_step(&a, 0.1 / 50);
    motion_step(&b, 1e-3);
  }
  assert_int_equal(state_numbers(&a, in_turns), count);
  assert_memory_equal(alone, in_turns, (size_t)count * sizeof(double));
  pawl_state_destroy(b.state);
  pawl_stepper_destroy(b.stepper);
  motion_end(&a);
}

// A state that is started again steps as it did the first time.
static void test_start_again(void** unused) {
  (void)unused;
  double first[MOTION_MOST], second[MOTION_MOST];
  Motion m = motion_file("pendulum", NULL);
  motion_start(&m, "ga-p");
  for (int k = 0; k < 20; k++) {
    motion_step(&m, 1e-2);
  }
  int count = state_numbers(&m, first);
  pawl_system_start(m.system, m.state->q, m.state->v);
  m.state->t = 0.0;
  m.state->step = 0;
  NEED(pawl_stepper_start(m.stepper, m.state, false, &m.err), &m.err);
  for (int k = 0; k < 20; k++) {
    motion_step(&m, 1e-2);
  }
  assert_int_equal(state_numbers(&m, second), count);
  assert_memory_equal(first, second, (size_t)count * sizeof(double));
  motion_end(&m);
}

// ---- the caller's own functions -----------------------------------------------------------------
// A pendulum J w' = -m g l sin(angle) whose place is the unit vector (cos, sin): two coordinates,
// one velocity, and a retraction that turns the vector.
typedef struct Spin {
  double inertia, torque;
} Spin;

static int spin_evaluate(void* context, unsigned mask, const PawlPoint* point, PawlValues* values) {
  const Spin* spin = context;
  double c = point->q[0], s = point->q[1];
  if (mask & PAWL_MASS) {
    values->M[0] = spin->inertia;
  }
  if (mask & PAWL_FORCE) {
    values->f[0] = -spin->torque * s;
  }
  if (mask & PAWL_STIFFNESS) {
    values->K[0] = spin->torque * c;
  }
  if (mask & PAWL_DAMPING) {
    values->C[0] = 0.0;
  }
  if (mask & PAWL_ENERGY) {
    values->energy[0] = 0.5 * spin->inertia * point->v[0] * point->v[0];
    values->energy[1] = -spin->torque * c;
  }
  return 0;
}

static void spin_retract(void* context, const double* q, const double* dq, double* out) {
  (void)context;
  double c = cos(dq[0]), s = sin(dq[0]), x = q[0], y = q[1];
  out[0] = c * x - s * y;
  out[1] = s * x + c * y;
}

static void spin_rates(void* context, const double* q, const double* v, double* q_rate) {
  (void)context;
  q_rate[0] = -q[1] * v[0];
  q_rate[1] = q[0] * v[0];
}

static Motion spin_motion(Spin* spin) {
  static const double start[2] = {0.6, 0.8}, rate[1] = {2.0};
  Motion m = {0};
  PawlCallbacks callbacks = {.context = spin,
                             .name = "spin",
                             .sizes = {.q = 2, .v = 1},
                             .q_start = start,
                             .v_start = rate,
                             .evaluate = spin_evaluate,
                             .retract = spin_retract,
                             .rates = spin_rates};
  NEED(pawl_system_create_callbacks(&callbacks, &m.system, &m.err), &m.err);
  m.n = pawl_system_sizes(m.system);
  m.def = pawl_simulate_def_default();
  return m;
}

// ga-p works with increments of the angle, so it gives what it gives for the angle itself.
static void test_rotation_with_ga_p(void** unused) {
  (void)unused;
  Spin spin = {0.5, 3.0};
  Motion m = spin_motion(&spin);
  Motion angle = motion_text(
      "model: angle\ncoordinates: {a: {start: \"atan2(0.8, 0.6)\", rate: 2}}\nmass: {a: 0.5}\n"
      "potential: -3*cos(a)\n");
  motion_run(&m, "ga-p", 2.0, 1000, NULL);
  motion_run(&angle, "ga-p", 2.0, 1000, NULL);
  CHECK_NEAR(m.state->q[0], cos(angle.state->q[0]), 1e-11);
  CHECK_NEAR(m.state->q[1], sin(angle.state->q[0]), 1e-11);
  CHECK_NEAR(m.state->v[0], angle.state->v[0], 1e-10);
  CHECK_NEAR(hypot(m.state->q[0], m.state->q[1]), 1.0, 1e-12);  // turned, never stretched
  motion_end(&m);
  motion_end(&angle);
}

static void test_rotation_with_rk4(void** unused) {
  (void)unused;
  Spin spin = {0.5, 3.0};
  Motion m = spin_motion(&spin);
  Motion angle = motion_text(
      "model: angle\ncoordinates: {a: {start: \"atan2(0.8, 0.6)\", rate: 2}}\nmass: {a: 0.5}\n"
      "potential: -3*cos(a)\n");
  motion_run(&angle, "rk4", 1.0, 2000, NULL);
  motion_run(&m, "rk4", 1.0, 500, NULL);
  CHECK_NEAR(m.state->q[0], cos(angle.state->q[0]), 1e-9);
  CHECK_NEAR(m.state->v[0], angle.state->v[0], 1e-9);
  motion_end(&m);
  motion_end(&angle);
}

// A system of callbacks that says no: the step is refused with the system's name or the time.
static int refuse_evaluate(void* context, unsigned mask, const PawlPoint* point,
                           PawlValues* values) {
  return point->t > 0.05 ? 1 : spin_evaluate(context, mask, point, values);
}

static void test_callback_that_refuses(void** unused) {
  (void)unused;
  Spin spin = {0.5, 3.0};
  PawlCallbacks callbacks = {.context = &spin,
                             .sizes = {.q = 2, .v = 1},
                             .evaluate = refuse_evaluate,
                             .retract = spin_retract,
                             .rates = spin_rates};
  static const char* const methods[] = {"ga-p", "rk4"};
  for (int k = 0; k < 2; k++) {
    Motion m = {0};
    NEED(pawl_system_create_callbacks(&callbacks, &m.system, &m.err), &m.err);
    m.n = pawl_system_sizes(m.system);
    m.def = pawl_simulate_def_default();
    motion_start(&m, methods[k]);
    motion_step(&m, 0.04);
    assert_int_equal(pawl_stepper_step(m.stepper, m.state, 0.04, &m.err), PAWL_RETRY);
    assert_non_null(strstr(m.err.message, "t = 0.0"));
    assert_true(m.state->t == 0.04);
    motion_end(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_methods),
      cmocka_unit_test(test_bad_options),
      cmocka_unit_test(test_every_allocation_can_fail),
      cmocka_unit_test(test_destroy_of_nothing),
      cmocka_unit_test(test_steppers_take_turns),
      cmocka_unit_test(test_start_again),
      cmocka_unit_test(test_rotation_with_ga_p),
      cmocka_unit_test(test_rotation_with_rk4),
      cmocka_unit_test(test_callback_that_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
