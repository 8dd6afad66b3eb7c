// SPDX-License-Identifier: Apache-2.0
// Kinks in the gaps of contacts: held on their branch over a step, which ends where they turn. A
// wall thinner than a step is not passed, a corner of the ground is an impact, and a gap that jumps
// to an overlap is refused.
#include <math.h>

#include "step/motion.h"

static const char* const METHODS[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
enum { METHOD_COUNT = 3 };

// From x = 0 with speed 1 against a wall of 2 mm with steps of 10 mm.
static void test_thin_wall(void** unused) {
  (void)unused;
  static const char* const gaps[] = {"abs(x - 0.5053) - 0.001", "max(0.5043 - x, x - 0.5063)",
                                     "if(x < 0.5053, 0.5043 - x, x - 0.5063)"};
  for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
    char text[200];
    snprintf(text, sizeof text,
             "model: wall\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n"
             "contacts: {wall: {gap: \"%s\", restitution: 1}}\n",
             gaps[g]);
    for (int k = 0; k < METHOD_COUNT; k++) {
      Motion m = motion_text(text);
      motion_run(&m, METHODS[k], 1, 100, NULL);
      CHECK_NEAR(m.state->v[0], -1.0, 1e-12);
      CHECK_NEAR(m.state->q[0], 2 * 0.5043 - 1, 0.011);  // the hit is known to a step
      motion_end(&m);
    }
  }
}

// It slides on the ground up to a slope of 45 degrees, keeps the half of its speed, is back after
// 4 (1/2)/g, and meets the level ground: again what is along it stays.
static void test_corner_of_the_ground(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(
        "model: corner\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\n"
        "potential: 9.81*y\ncontacts: {ground: {gap: \"y - max(0, x - 0.5)\"}}\n");
    motion_run(&m, METHODS[k], 1, 1000, NULL);
    CHECK_NEAR(m.state->v[0], -0.5, 1e-2);
    CHECK_NEAR(m.state->q[0], 0.5 - 0.5 * (0.5 - 2 / 9.81), 2e-3);
    CHECK_NEAR(m.state->q[1], 0.0, 2e-3);
    assert_int_equal(pawl_stepper_info(m.stepper).kinks, 2);
    motion_end(&m);
  }
}

// Steps until it fails; the message.
static const char* fails(Motion* m, const char* method) {
  PawlStatus status = PAWL_OK;
  motion_start(m, method);
  for (int k = 0; k < 150 && status == PAWL_OK; k++) {
    status = pawl_stepper_step(m->stepper, m->state, 0.01, &m->err);
  }
  return status == PAWL_OK ? "" : m->err.message;
}

// Up a step is refused, by place and by time; down a step is a fall.
static void test_steps_in_the_ground(void** unused) {
  (void)unused;
  static const struct {
    const char* gap;
    bool refused;
  } cases[] = {{"y - if(x < 0.5, 0, 0.3)", true},
               {"y - if(t < 0.5, 0, 0.3)", true},
               {"y - 0.1*floor(3*x)", true},
               {"y + if(x < 0.5, 0, 0.3)", false}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[200];
    snprintf(text, sizeof text,
             "model: step\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\n"
             "potential: 9.81*y\ncontacts: {ground: {gap: \"%s\"}}\n",
             cases[c].gap);
    for (int k = 0; k < METHOD_COUNT; k++) {
      Motion m = motion_text(text);
      const char* message = fails(&m, METHODS[k]);
      assert_true((strstr(message, "the gap of contact 'ground' jumps") != NULL) ==
                  cases[c].refused);
      motion_end(&m);
    }
  }
}

// A contact that is located and closed follows kinks of its gap (test_closed_kinks.c), but cannot
// rest in a corner, which two rows hold: that is said. As two contacts it can.
static void test_rest_in_a_corner(void** unused) {
  (void)unused;
  static const struct Case {
    const char *contacts, *x, *y;  // and where it starts
    bool refused;
  } cases[] = {
      {"ground: {gap: y - 0.8*abs(x)}", "start: -0.2", "start: 0.16", true},
      {"ground: {gap: y - 0.5*abs(x)}", "start: 0.3, rate: -1", "start: 0.6", true},
      {"left: {gap: y + 0.8*x}, right: {gap: y - 0.8*x}", "start: -0.2", "start: 0.16", false}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[300];
    snprintf(text, sizeof text,
             "model: valley\ncoordinates: {x: {%s}, y: {%s}}\n"
             "mass: {x: 1, y: 1}\npotential: 9.81*y\ncontacts: {%s}\n"
             "simulate: {smooth: dopri, until: 1.5, step: 0.01}\n",
             cases[c].x, cases[c].y, cases[c].contacts);
    Motion m = motion_text(text);
    const char* message = fails(&m, "event-driven");
    if ((strstr(message, "each of them is a contact of its own") != NULL) != cases[c].refused) {
      print_error("%s: '%s'\n", cases[c].contacts, message);
      fail();
    }
    motion_end(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_thin_wall),
      cmocka_unit_test(test_corner_of_the_ground),
      cmocka_unit_test(test_steps_in_the_ground),
      cmocka_unit_test(test_rest_in_a_corner),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
