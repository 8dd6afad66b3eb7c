// SPDX-License-Identifier: Apache-2.0
// Joints with a capacity beside contacts with friction (docs/theory/friction.md, sections 9 and
// 10), against closed forms: neither is to disturb what is known of the other.
#include <stdio.h>

#include "located.h"

// ---- friction that hangs on multipliers ---------------------------------------------------------
static const char* const TIED[] = {"rk4",  "dopri", "ark",    "ida", "ga-v",
                                   "ga-a", "ga-pv", "ga-pva", NULL};

#define SLED(x, force)                                                          \
  "model: sled\n"                                                               \
  "coordinates: {x: " x                                                         \
  ", y: , z: {rate: 1}, w: }\n"                                                 \
  "mass: {x: 1, y: 1, z: 1, w: 1}\n"                                            \
  "potential: 10*y + 10*w\n"                                                    \
  "forces: {x: " force                                                          \
  "}\n"                                                                         \
  "constraints: {rail: w = 0}\n"                                                \
  "locks: {brake: {lock: z, engaged: true, capacity: 0.3*abs(lambda(rail))}}\n" \
  "contacts: {f: {gap: y, friction: 0.2, slip: x}}\n"                           \
  "simulate: {method: event-driven}\n"

// A brake that a rail presses on, 0.3 m g, beside a block that slips on a floor, 0.2 m g: both come
// to rest by themselves, at v/(mu g).
static void test_tied_brake_and_slip(void** unused) {
  (void)unused;
  Run run = run_text(SLED("{rate: 1}", "0"));
  for (int k = 0; TIED[k]; k++) {
    if (run_with(&run, TIED[k], 0.6, 1e-2)) {
      event_is(&run, run_events(&run) - 2, 1.0 / 3, "brake", "locked", 1e-9);
      event_is(&run, run_events(&run) - 1, 0.5, "f", "stick", 1e-9);
      check_state(&run, (double[]){0.25, 0, 1.0 / 6, 0}, (double[]){0, 0, 0, 0}, 1e-8);
      CHECK_NEAR(pawl_sim_summary(run.sim).energy_max_drift, 0.0, 1e-8);
    }
  }
  run_end(&run);
}

// The same where the block is pulled by 10 t and begins to slip at 0.2: it has 5 (t - 0.2)^2 then.
static void test_tied_brake_and_late_slip(void** unused) {
  (void)unused;
  Run run = run_text(SLED("", "10*t"));
  for (int k = 0; TIED[k]; k++) {
    if (run_with(&run, TIED[k], 0.6, 1e-2)) {
      event_is(&run, run_events(&run) - 2, 0.2, "f", "slip", 1e-8);
      event_is(&run, run_events(&run) - 1, 1.0 / 3, "brake", "locked", 1e-9);
      CHECK_NEAR(pawl_sim_state(run.sim)->v[0], 5 * 0.16, 1e-5);
      CHECK_NEAR(pawl_sim_state(run.sim)->q[2], 1.0 / 6, 1e-8);
    }
  }
  run_end(&run);
}

// ---- a capacity of zero -------------------------------------------------------------------------
// What a brake holds that can hold nothing moves as without it, also where it comes to rest and
// turns: x = 3 - 3 cos t - sin t, beside a contact that is open and one that slides.
static void test_capacity_of_zero(void** unused) {
  (void)unused;
  static const char form[] =
      "model: zero\n"
      "coordinates: {x: {rate: -1}, y: {start: %d}, z: {rate: 3}}\n"
      "mass: {x: 1, y: 1, z: 1}\n"
      "potential: 10*y\n"
      "forces: {x: 3 - x}\n"
      "locks: {brake: {lock: x, engaged: true, capacity: 0}}\n"
      "contacts: {f: {gap: y, friction: 0.2, slip: z}}\n"
      "simulate: {method: event-driven}\n";
  for (int height = 0; height < 2; height++) {
    char text[sizeof form];
    snprintf(text, sizeof text, form, height);
    Run run = run_text(text);
    for (int k = 0; TIED[k]; k++) {
      double t = 0.4;
      if (run_with(&run, TIED[k], t, 1e-4)) {
        CHECK_NEAR(pawl_sim_state(run.sim)->q[0], 3 - 3 * cos(t) - sin(t), 1e-8);
        CHECK_NEAR(pawl_sim_state(run.sim)->v[0], 3 * sin(t) - cos(t), 1e-8);
        CHECK_NEAR(pawl_sim_state(run.sim)->v[2], height == 0 ? 3 - 2 * t : 3, 1e-9);
      }
    }
    run_end(&run);
  }
}

// ---- rest beside a brake, in space --------------------------------------------------------------
typedef struct OnFloor {
  const char *friction, *slip, *wall;  // of the floor; of the wall beside it
  double x, y, z, capacity, mu;        // forces; kinetic friction of all that rubs along y, per N
} OnFloor;

static Run run_on_floor(const OnFloor* c) {
  char text[700];
  snprintf(text, sizeof text,
           "model: floor\n"
           "coordinates: {x: , y: {rate: -0.01}, z: }\n"
           "mass: {x: 1, y: 1, z: 1}\n"
           "potential: 9.81*z\n"
           "forces: {x: %g, y: %g, z: %g}\n"
           "contacts: {f: {gap: z, friction: %s, slip: %s}, w: {gap: -x%s}}\n"
           "locks: {k: {lock: z, engaged: true, capacity: %g}}\n"
           "simulate: {method: event-driven}\n",
           c->x, c->y, c->z, c->friction, c->slip, c->wall, c->capacity);
  return run_text(text);
}

// A block slips on a floor, along a wall that it is pressed to, with a brake across the floor, and
// comes to rest: its floor holds it with no force of the brake and none along the wall, where a
// share of the floor's load with the brake, or friction towards the wall, would not. It stops at
// v/(mu N - F), and stays.
static void test_rests_beside_brake(void** unused) {
  (void)unused;
#define UNLIKE "{static: 0.613, kinetic: 0.589}"
  const double N = 9.81 - 5.3;
  const OnFloor cases[] = {
      {UNLIKE, "[x, y]", "", 26, -2.5, 5.3, 8, 0.589 * N},
      {UNLIKE, "[x, y]", "", 26, -2.5, 5.3, 1, 0.589 * N},
      {UNLIKE, "[x, y]", "", 26, -2.5, 5.3, 100, 0.589 * N},
      {UNLIKE, "[x, y]", "", 26, -5, 0, 8, 0.589 * 9.81},
      {UNLIKE, "[x, y]", "", 1, -2.5, 5.3, 8, 0.589 * N},
      {UNLIKE, "y", "", 26, -2.5, 5.3, 8, 0.589 * N},
      {"0.6", "[x, y]", "", 26, -2.5, 5.3, 8, 0.6 * N},
      {UNLIKE, "[x, y]", ", friction: 0.1, slip: [y, z]", 26, -4.9, 5.3, 8, 0.589 * N + 2.6},
  };
#undef UNLIKE
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const OnFloor* c = &cases[k];
    Run run = run_on_floor(c);
    double stops = 0.01 / (c->mu + c->y);
    for (int m = 0; m < 2; m++) {
      if (run_with(&run, m == 0 ? "dopri" : "ga-pva", 0.5, 1e-2)) {
        bool rubs = c->wall[0] != '\0';
        assert_int_equal(run_events(&run), rubs ? 2 : 1);
        event_is(&run, 0, stops, "f", "stick", 1e-9);
        CHECK_NEAR(pawl_sim_state(run.sim)->q[1], -0.005 * stops, 1e-9);
        CHECK_NEAR(pawl_sim_state(run.sim)->v[1], 0.0, 1e-12);
        CHECK_NEAR(pawl_sim_state(run.sim)->a[1], 0.0, 1e-9);
      }
    }
    run_end(&run);
  }
}

// The same drawn by 2.5 N + 0.3 N sin 20 t: it slips where that is what the floor holds by itself.
static void test_slips_beside_brake(void** unused) {
  (void)unused;
  const double PI = acos(-1.0), slips = (2 * PI + asin((0.613 * (9.81 - 5.3) - 2.5) / 0.3)) / 20;
  Run run = run_text(
      "model: drawn\n"
      "coordinates: {x: , y: {rate: -0.01}, z: }\n"
      "mass: {x: 1, y: 1, z: 1}\n"
      "potential: 9.81*z\n"
      "forces: {x: 26, y: -2.5 - 0.3*sin(20*t), z: 5.3}\n"
      "contacts:\n"
      "  f: {gap: z, friction: {static: 0.613, kinetic: 0.589}, slip: [x, y]}\n"
      "  w: {gap: -x}\n"
      "locks: {k: {lock: z, engaged: true, capacity: 8}}\n"
      "simulate: {method: event-driven}\n");
  if (run_with(&run, "dopri", 0.4, 1e-2)) {
    assert_int_equal(run_events(&run), 2);
    assert_string_equal(run_event(&run, 0)->to, "stick");
    event_is(&run, 1, slips, "f", "slip", 1e-9);
  }
  run_end(&run);
}

// ---- time stepping ------------------------------------------------------------------------------
static const char* const STEPPING[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};

// A wheel on a rough slope that the road turns by m g sin a r = 8.7 N m, and a motor of 8 N m the
// other way: a brake of 2 N m holds the rest, though the motor alone would be too much for it. With
// a motor of 3 N m it rolls down, x'' = (m g sin a - (3 + 2)/r)/(m + J/r^2).
static void test_wheel_against_motor(void** unused) {
  (void)unused;
  for (int k = 0; k < 6; k++) {
    double motor = k < 3 ? 3.0 : 8.0, r = 0.3, pull = 98.1 * sin(0.3);
    double x = k < 3 ? 0.5 * (pull - (motor + 2) / r) / (10 + 0.2 / (r * r)) : 0.0;
    char text[500];
    snprintf(text, sizeof text,
             "model: wheel\ncoordinates: {x: , y: {start: 0.3}, p: }\n"
             "mass: {x: 10, y: 10, p: 0.2}\npotential: 98.1*(y*cos(0.3) - x*sin(0.3))\n"
             "forces: {p: %g}\n"
             "contacts: {road: {gap: y - 0.3, friction: 0.8, slip: \"x' + 0.3*p'\"}}\n"
             "locks: {brake: {lock: p, engaged: true, capacity: 2}}\n",
             motor);
    Run run = run_text(text);
    run.def.simulate.method = STEPPING[k % 3];
    run_to(&run, 1.0, 2e-3);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[0], x, 1e-8);
    assert_int_equal(run_events(&run), 0);
    assert_null(strstr(pawl_sim_warning(run.sim), "lets go beside"));
    run_end(&run);
  }
}

// A block on a floor, mu N = 6 N, that a brake of 2 N holds, too: both let go at 8 N = 10 t, and
// x'' = (10 t - 8)/2 from then on.
static void test_brake_and_floor(void** unused) {
  (void)unused;
  for (int k = 0; k < 3; k++) {
    Run run = run_text(
        "model: both\ncoordinates: {x: , y: }\nmass: {x: 2, y: 2}\nforces: {x: 10*t}\n"
        "potential: 20*y\ncontacts: {floor: {gap: y, friction: 0.3, slip: x}}\n"
        "locks: {brake: {lock: x, engaged: true, capacity: 2}}\n");
    run.def.simulate.method = STEPPING[k];
    run_to(&run, 1.0, 1e-3);
    CHECK_NEAR(pawl_sim_state(run.sim)->v[0], 2.5 * 0.04, 1e-5);
    assert_true(run_events(&run) <= 4);
    run_end(&run);
  }
}

// A block that bounces between a stop and another block which closes in on it: where a step finds
// no contacts that press it says so, and not that some row is off by rounding.
static void test_sets_are_blamed(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: squeezed\n"
      "coordinates: {x: {rate: 0.905}, y: , z: {start: 0.1, rate: 0.3545}}\n"
      "mass: {x: 10, y: 1, z: 0.1}\npotential: 9.81*y\n"
      "forces: {x: 8.64*sin(7.24*t), z: 7.05*cos(7*t)}\n"
      "locks: {brake: {lock: z, engaged: true, capacity: \"if(t < 0.3, 0, 4)\"}}\n"
      "contacts:\n  f: {gap: y, friction: 0.2, slip: x}\n"
      "  s: {gap: 0.15 - z, restitution: 1}\n"
      "  s2: {gap: z - x - 0.05, restitution: 0.5}\n");
  run.def.simulate.method = "nsga-pva";
  if (run_try(&run, 0.2, 1e-3) != PAWL_OK) {
    assert_null(strstr(run.err.message, "is off by"));
    assert_non_null(strstr(run.err.message, "contacts press"));
  }
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tied_brake_and_slip), cmocka_unit_test(test_tied_brake_and_late_slip),
      cmocka_unit_test(test_capacity_of_zero),    cmocka_unit_test(test_rests_beside_brake),
      cmocka_unit_test(test_slips_beside_brake),  cmocka_unit_test(test_wheel_against_motor),
      cmocka_unit_test(test_brake_and_floor),     cmocka_unit_test(test_sets_are_blamed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
