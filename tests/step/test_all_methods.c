// SPDX-License-Identifier: Apache-2.0
// What every method must do, over the whole list: motion that depends on time and rates, refusals,
// failing steps that leave the state as it was, no allocation in a step, the same bits again; and
// event-driven over each method for its smooth phases.
#include "step/sight.h"

// The same on a circle whose upper half is an ellipse: the circle is left and entered at y = 0,
// where both have the same tangent but not the same curvature.
static const char EGG[] =
    "model: egg\n"
    "coordinates: {x: {start: 0, rate: -1}, y: {start: -1}}\n"
    "kinetic: (1.5 + 0.5*cos(y))/2*x'^2 + 0.5*y'^2\n"
    "potential: 0.5*y\n"
    "forces: {x: -0.1*x' - 0.4*y', y: 0.4*x' - 0.1*y' + 0.2*sin(2*t)}\n"
    "constraints:\n"
    "  egg:\n"
    "    impact: bisector\n"
    "    modes:\n"
    "      below: {where: y < 0, equation: x^2 + y^2 = 1}\n"
    "      above: {where: y > 0, equation: x^2 + y^2/4 = 1}\n";

// ---- time and rates -----------------------------------------------------------------------------
// Order as the list of methods says, against rk4 with steps so small that it is exact here.
// Methods that solve each step by Newton's iteration.
static bool iterates(const char* name) {
  return strncmp(name, "ga-", 3) == 0 || strncmp(name, "nsga-", 5) == 0 ||
         strcmp(name, "moreau-jean") == 0;
}

// Methods that choose their own steps: their error follows a tolerance, not the step.
static bool adapts(const char* name) {
  return strcmp(name, "dopri") == 0 || strcmp(name, "ark") == 0 || strcmp(name, "ida") == 0;
}

static void test_order_of_every_method(void** unused) {
  (void)unused;
  Motion m = motion_text(BREATHING);
  Reference r = {.t = 2.0};
  motion_run(&m, "rk4", 2.0, 8000, NULL);
  memcpy(r.q, m.state->q, 2 * sizeof(double));
  memcpy(r.v, m.state->v, 2 * sizeof(double));
  for (int k = 0; pawl_method(k); k++) {
    const PawlMethodInfo* method = pawl_method(k);
    if (!motion_can(&m, method->name) || adapts(method->name)) {
      continue;
    }
    bool fourth = method->order == 4;  // whose next terms still count at these steps
    check_order(&m, method->name, method->order, fourth ? 0.1 : 0.02, fourth ? 0.01 : 5e-3, 1, &r);
  }
  motion_end(&m);
}

static int switches_of(Motion* m, const char* method, double h, double until) {
  int count = 0;
  motion_start(m, method);
  while (m->state->t < until - 0.5 * h) {
    motion_step(m, h);
    count += pawl_stepper_instants(m->stepper);
  }
  return count;
}

// Across the switches of the egg: event-driven keeps the order of its smooth method, nsga-pva comes
// within c h.
static void test_order_across_switches(void** unused) {
  (void)unused;
  static const struct {
    const char* smooth;
    double order, h;
  } cases[] = {{"rk4", 4, 0.02}, {"ga-p", 2, 5e-3}, {"ga-pv", 2, 5e-3}, {"ga-pva", 2, 5e-3}};
  Motion m = motion_text(EGG);
  Reference r = {.t = 6.0};
  m.def.rho = 0.5;  // a start anew that is not consistent costs h (1 - rho)/(1 + rho)/2 in v
  motion_run(&m, "event-driven", 6.0, 12000, NULL);
  memcpy(r.q, m.state->q, 2 * sizeof(double));
  memcpy(r.v, m.state->v, 2 * sizeof(double));
  for (int k = 0; k < 4; k++) {
    m.def.smooth = cases[k].smooth;
    check_order(&m, "event-driven", cases[k].order, 0.25, cases[k].h, 1, &r);
  }
  m.def.smooth = "rk4";
  int switches = switches_of(&m, "event-driven", 0.01, 6.0);
  assert_true(switches >= 2);
  assert_int_equal(switches_of(&m, "nsga-pva", 1e-3, 6.0), switches);
  Errors e = errors_of(&m, "nsga-pva", 1e-3, 1, &r);
  assert_true(e.q < 5e-3 && e.v < 5e-3);
  motion_end(&m);
}

// The kinked track to the end: each smooth method finds the switch at 3 s and the same jump.
static void test_event_driven_on_the_track(void** unused) {
  (void)unused;
  static const char* const smooth[] = {"rk4", "ga-p", "ga-pv", "ga-pva", "ga-v", "ga-a"};
  Motion m = motion_file("kinked-track", NULL);
  for (int k = 0; k < 6; k++) {
    int seen = 0;
    m.def.smooth = smooth[k];
    motion_start(&m, "event-driven");
    for (int step = 0; step < 3000; step++) {
      motion_step(&m, 2e-3);
      if (pawl_stepper_instants(m.stepper) > 0) {
        const PawlInstant* i = pawl_stepper_instant(m.stepper, 0);
        CHECK_NEAR(i->t, 3.0, 1e-11);
        CHECK_NEAR(i->impulse[0], 0.5, 1e-11);
        CHECK_NEAR(i->energy_lost, 0.25, 1e-11);
        seen++;
      }
    }
    assert_int_equal(seen, 1);
    CHECK_NEAR(m.state->q[0], 4.5, 1e-10);
    CHECK_NEAR(m.state->q[1], 1.5, 1e-10);
  }
  motion_end(&m);
}

// ---- invariants of a step -----------------------------------------------------------------------
static const struct {
  const char *model, *override;
  double h;
  int steps;
} SEVERAL[] = {{"pendulum", NULL, 2e-3, 60},
               {"pothole-wheel", "l=0.05", 2e-3, 400},  // through all of its modes
               {"cam-follower", "omega=10", 1e-3, 800},
               {"braiding-machine", "omega=10", 1e-3, 400},
               {"bouncing-pendulum", NULL, 1e-3, 500},
               {"chain", "N=5", 1e-3, 50}};
enum { SEVERAL_COUNT = sizeof SEVERAL / sizeof *SEVERAL };

static void test_no_step_allocates(void** unused) {
  (void)unused;
  for (int i = 0; i < SEVERAL_COUNT; i++) {
    Motion m = motion_file(SEVERAL[i].model, SEVERAL[i].override);
    for (int k = 0; pawl_method(k); k++) {
      if (motion_can(&m, pawl_method(k)->name)) {
        motion_start(&m, pawl_method(k)->name);
        motion_step(&m, SEVERAL[i].h);
        long long before = pawl_alloc_count();
        for (int step = 1; step < SEVERAL[i].steps; step++) {
          motion_step(&m, SEVERAL[i].h);
        }
        if (pawl_alloc_count() != before) {
          fail_msg("%s allocates on %s", pawl_method(k)->name, SEVERAL[i].model);
        }
      }
    }
    motion_end(&m);
  }
}

static void test_same_bits(void** unused) {
  (void)unused;
  enum { ROOM = 40 * SIGHT_MOST };
  for (int i = 0; i < SEVERAL_COUNT; i++) {
    Motion m = motion_file(SEVERAL[i].model, SEVERAL[i].override);
    for (int k = 0; pawl_method(k); k++) {
      double bits[2][ROOM] = {{0}};
      if (!motion_can(&m, pawl_method(k)->name)) {
        continue;
      }
      for (int run = 0; run < 2; run++) {
        motion_start(&m, pawl_method(k)->name);
        for (int step = 0; step < SEVERAL[i].steps; step++) {
          motion_step(&m, SEVERAL[i].h);
        }
        assert_true(state_numbers(&m, bits[run]) <= ROOM);
      }
      assert_memory_equal(bits[0], bits[1], sizeof bits[0]);
    }
    motion_end(&m);
  }
}

// ---- refusals -----------------------------------------------------------------------------------
static void check_refused(Motion* m, const char* first, const char* second) {
  PawlStepper* stepper = (PawlStepper*)m;
  assert_int_equal(pawl_stepper_create(m->system, &m->def, &stepper, &m->err), PAWL_ERROR_USAGE);
  assert_null(stepper);
  if (!strstr(m->err.message, first) || !strstr(m->err.message, second)) {
    print_error("'%s' or '%s' is not in: %s\n", first, second, m->err.message);
    fail();
  }
}

static void test_methods_that_refuse(void** unused) {
  (void)unused;
  Motion track = motion_file("kinked-track", NULL);
  track.def.method = "rk4";
  check_refused(&track, "method rk4 cannot handle the switching constraints of 'kinked-track'",
                "event-driven");
  motion_end(&track);
  static const char* const none[] = {"ga-p", "ga-v", "ga-a", "ga-pv", "ga-pva", "rk4"};
  Motion pendulum = motion_file("bouncing-pendulum", NULL);
  for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
    pendulum.def.method = none[k];
    check_refused(&pendulum, "cannot handle the contacts of 'bouncing-pendulum'", "nsga-pva");
    assert_non_null(strstr(pendulum.err.message, none[k]));
  }
  motion_end(&pendulum);
}

static void test_bad_words(void** unused) {
  (void)unused;
  Motion m = motion_file("kinked-track", NULL);
  m.def.method = "event-driven";
  m.def.smooth = "nsga-pva";
  check_refused(&m, "smooth = nsga-pva", "rk4, dopri");
  m.def.smooth = "event-driven";
  check_refused(&m, "smooth = event-driven", "rk4");
  m.def.smooth = "euler";
  check_refused(&m, "euler", "rk4");
  m.def.smooth = "rk4";
  m.def.contact_law = "hertz";
  check_refused(&m, "contact_law = hertz", "newton, poisson");
  m.def.contact_law = "newton";
  Motion cradle = motion_file("newtons-cradle", NULL);
  static const char* const one_law[] = {"nsga-pva", "nsga-pvv", "moreau-jean", "php"};
  for (size_t k = 0; k < sizeof one_law / sizeof *one_law; k++) {
    cradle.def.method = one_law[k];
    check_refused(&cradle, "contact_law = sequential", "these can: event-driven");
  }
  motion_end(&cradle);
  static const char* const bad[] = {"sideways", "1.5", "-0.1", "0.5x", "nan"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    char text[32];
    m.def.impact = bad[k];
    snprintf(text, sizeof text, "impact = %s", bad[k]);
    check_refused(&m, text, "post, pre, bisector");
  }
  m.def.impact = "model";
  m.def.between = "curve";
  check_refused(&m, "between = curve", "chord");
  m.def.between = "chord";
  m.def.method = "ga-p";
  m.def.newton = "half";
  check_refused(&m, "newton = half", "full");
  motion_end(&m);
}

// ---- steps that fail ----------------------------------------------------------------------------
// Takes a step that cannot go well: the message has these words and the state is as before, bit for
// bit.
static PawlStatus check_failing_step(Motion* m, double h, const char* words) {
  enum { ROOM = 40 * SIGHT_MOST };
  double before[ROOM] = {0}, after[ROOM] = {0};
  int modes[SIGHT_MOST];
  state_numbers(m, before);
  memcpy(modes, m->state->modes, (size_t)m->n.modes * sizeof(int));
  PawlStatus status = pawl_stepper_step(m->stepper, m->state, h, &m->err);
  assert_true(status != PAWL_OK && m->err.status == status);
  if (!strstr(m->err.message, words)) {
    print_error("%s: '%s' is not in: %s\n", m->def.method, words, m->err.message);
    fail();
  }
  state_numbers(m, after);
  assert_memory_equal(before, after, sizeof before);
  assert_memory_equal(modes, m->state->modes, (size_t)m->n.modes * sizeof(int));
  return status;
}

// Too few iterations for a large step; every implicit method names the time and what is stuck.
static void test_no_convergence(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  m.def.iterations = 2;
  m.def.tolerance = 1e-14;
  for (int k = 0; pawl_method(k); k++) {
    const char* name = pawl_method(k)->name;
    if (iterates(name)) {
      motion_start(&m, name);
      assert_int_equal(check_failing_step(&m, 0.2, "t = 0.2: "), PAWL_RETRY);
      assert_non_null(strstr(m.err.message, "did not converge in 2 iterations"));
    }
  }
  motion_end(&m);
}

// What is stuck has a name: a row of a constraint or a coordinate.
static void test_stuck_has_a_name(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum", NULL);
  m.def.iterations = 2;
  m.def.tolerance = 1e-14;
  for (int k = 0; pawl_method(k); k++) {
    const char* name = pawl_method(k)->name;
    if (iterates(name)) {
      motion_start(&m, name);
      check_failing_step(&m, 0.2, "'");
      bool named = strstr(m.err.message, "'pin'") || strstr(m.err.message, "'x'") ||
                   strstr(m.err.message, "'y'") || strstr(m.err.message, "'theta'");
      if (!named) {
        fail_msg("%s: %s", name, m.err.message);
      }
    }
  }
  motion_end(&m);
}

static void test_outside_a_domain(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: well\ncoordinates: {depth: {start: 1, rate: -10}, side: {}}\n"
      "mass: {depth: 1, side: 1}\npotential: sqrt(depth)\nconstraints: {wall: side = 0}\n");
  for (int k = 0; pawl_method(k); k++) {
    if (motion_can(&m, pawl_method(k)->name)) {
      motion_start(&m, pawl_method(k)->name);
      assert_int_equal(check_failing_step(&m, 0.5, "test:4"), PAWL_RETRY);
    }
  }
  motion_end(&m);
}

// Between 1 and 1.5 no mode holds: every method says so, with the constraint's name.
static void test_uncovered_region(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: hole\ncoordinates: {x: {rate: 1}, y: {}}\nmass: {x: 1, y: 1}\n"
      "constraints:\n"
      "  track:\n"
      "    modes:\n"
      "      flat: {where: x < 1, equation: y = 0}\n"
      "      ramp: {where: x > 1.5, equation: y = x - 1.5}\n");
  for (int k = 0; pawl_method(k); k++) {
    if (motion_can(&m, pawl_method(k)->name)) {
      motion_start(&m, pawl_method(k)->name);
      for (int step = 0; step < 9; step++) {
        motion_step(&m, 0.11);
      }
      assert_true(check_failing_step(&m, 0.11, "constraint 'track'") == PAWL_ERROR_RUN);
      assert_non_null(strstr(m.err.message, "no other region holds it"));
    }
  }
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order_of_every_method),
      cmocka_unit_test(test_order_across_switches),
      cmocka_unit_test(test_event_driven_on_the_track),
      cmocka_unit_test(test_no_step_allocates),
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_methods_that_refuse),
      cmocka_unit_test(test_bad_words),
      cmocka_unit_test(test_no_convergence),
      cmocka_unit_test(test_stuck_has_a_name),
      cmocka_unit_test(test_outside_a_domain),
      cmocka_unit_test(test_uncovered_region),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
