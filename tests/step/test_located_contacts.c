// SPDX-License-Identifier: Apache-2.0
// Contacts whose instants are located (docs/theory/contacts.md), against closed forms: contacts
// that stay closed and open, several at once, beside brakes, locks and regions, and ties that must
// not chatter. Impacts that accumulate are in test_accumulation.c.
#include "step/column.h"
#include "step/located.h"

// A gap that is zero just where a step ends: it is met there, and not at the end of the next one.
static void test_met_at_end_of_step(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: pushed\ncoordinates: {x: }\nmass: {x: 3}\n"
      "contacts: {wall: {gap: x + 1 - 2*t, restitution: 0.5}}\n");
  for (int k = 0; ALL[k]; k++) {
    if (run_with(&run, ALL[k], 1.0, 0.01)) {
      event_is(&run, 0, 0.5, "wall", "hit", 1e-9);
      check_state(&run, (double[]){1.5}, (double[]){3}, 1e-9);
    }
  }
  run_end(&run);
}

// ---- a contact that opens -----------------------------------------------------------------------
// On a table A sin(w t) the mass leaves where A w^2 sin(w t) = g, at the rate of the table there.
static void test_lift_off(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: table\n"
      "parameters: {A: 0.1, w: 12}\n"
      "coordinates: {y: {start: 0, rate: A*w}}\n"
      "mass: {y: 2}\n"
      "potential: 2*9.81*y\n"
      "contacts: {table: {gap: y - A*sin(w*t), restitution: 0}}\n");
  double t = asin(9.81 / 14.4) / 12, v = 1.2 * cos(12 * t);
  static const char* const methods[] = {"rk4", "dopri", "ga-pva", "ga-p", NULL};
  for (int k = 0; methods[k]; k++) {
    double tolerance = k < 2 ? 1e-9 : 1e-4;
    assert_true(run_with(&run, methods[k], 0.2, 1e-3));
    assert_int_equal(run_events(&run), 1);
    const PawlEvent* event = event_is(&run, 0, t, "table", "open", tolerance);
    assert_string_equal(event->from, "closed");
    CHECK_NEAR(event->v_after[0], v, tolerance);
    double s = 0.2 - t, y = 0.1 * sin(12 * t) + v * s - 0.5 * 9.81 * s * s;
    check_state(&run, (double[]){y}, (double[]){v - 9.81 * s}, tolerance);
  }
  run_end(&run);
}

// ---- several at once ----------------------------------------------------------------------------
// A bar that falls flat on two stops, off its middle: one instant, both hit, and it stays there.
static void test_bar_on_two_stops(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: bar\n"
      "coordinates: {y: {start: 0.45}, p: 0}\n"
      "mass: {y: 3, p: 0.25}\n"
      "potential: 30*y\n"
      "contacts:\n"
      "  left: {gap: y - 0.2*sin(p), restitution: 0}\n"
      "  right: {gap: y + 0.6*sin(p), restitution: 0}\n");
  double v = 3.0;  // sqrt(2 10 0.45)
  assert_true(run_with(&run, "dopri", 1, 1e-2));
  assert_int_equal(run_events(&run), 2);
  // 3 v = L + R, 0.2 L = 0.6 R
  CHECK_NEAR(event_is(&run, 0, 0.3, "left", "hit", 1e-11)->impulse[0], 3 * v * 0.75, 1e-10);
  CHECK_NEAR(event_is(&run, 1, 0.3, "right", "hit", 1e-11)->impulse[0], 3 * v * 0.25, 1e-10);
  check_state(&run, (double[]){0, 0}, (double[]){0, 0}, 1e-11);
  check_list("lambda", 2, pawl_sim_state(run.sim)->lambda, (double[]){22.5, 7.5}, 1e-9);
  run_end(&run);
}

static const char CRADLE[] =
    "model: cradle\n"
    "coordinates: {a: {start: -0.1, rate: 1}, b: 0, c: 0}\n"
    "mass: {a: 1, b: 1, c: 1}\n"
    "contacts:\n"
    "  ab: {gap: b - a, restitution: 1}\n"
    "  bc: {gap: c - b, restitution: 1}\n";

// Both laws of simultaneous impacts, and one ball after the other, as one sees it.
static void test_cradle(void** unused) {
  (void)unused;
  static const struct {
    const char* law;
    double v[3];
  } laws[] = {{"newton", {-1. / 3, 2. / 3, 2. / 3}},
              {"poisson", {-1. / 3, 2. / 3, 2. / 3}},
              {"sequential", {0, 0, 1}}};
  for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
    Run run = run_text(CRADLE);
    run.def.simulate.contact_law = laws[k].law;
    assert_true(run_with(&run, "rk4", 0.3, 1e-2));
    assert_int_equal(run_events(&run), 2);
    const PawlEvent* event = event_is(&run, 1, 0.1, "bc", "hit", 1e-12);
    check_list("v", 3, event->v_after, laws[k].v, 1e-12);
    run_end(&run);
  }
}

// One after the other: a ball at rest is met from both sides at the same instant, faster from the
// right, whichever contact the model names first. By hand, hit by hit.                       (C7)
static void test_fastest_first(void** unused) {
  (void)unused;
  static const char* const contacts[] = {
      "contacts: {l: {gap: y - x, restitution: 0.7}, r: {gap: z - y, restitution: 0.7}}\n",
      "contacts: {r: {gap: z - y, restitution: 0.7}, l: {gap: y - x, restitution: 0.7}}\n"};
  for (int k = 0; k < 2; k++) {
    char text[400];
    snprintf(
        text, sizeof text,
        "model: met\nmass: {x: 0.3, y: 2.6, z: 0.08}\ncoordinates: {x: {start: -0.1, rate: 1}, "
        "y: , z: {start: 0.2, rate: -2}}\n%s",
        contacts[k]);
    Run run = run_text(text);
    run.def.simulate.contact_law = "sequential";
    assert_true(run_with(&run, "rk4", 0.15, 0.01));
    double impulse = 1.7 * 2.0 / (1 / 2.6 + 1 / 0.08), y = -impulse / 2.6;
    double push = 1.7 * (1.0 - y) / (1 / 0.3 + 1 / 2.6);
    double v[] = {1.0 - push / 0.3, y + push / 2.6, impulse / 0.08 - 2.0};
    check_list("v", 3, pawl_sim_state(run.sim)->v, v, 1e-12);
    run_end(&run);
  }
}

// The third ball leaves the second, which is hit and catches it up: b - a = 1 and c - b = -0.3 by
// (C5), then these two hit each other. Energy stays.
static void test_caught_up(void** unused) {
  (void)unused;
  static const double v[] = {-0.4 / 3, 1.7 / 3, 2.6 / 3};
  Run run = run_text(
      "model: row\n"
      "coordinates: {a: {rate: 1}, b: , c: {rate: 0.3}}\n"
      "mass: {a: 1, b: 1, c: 1}\n"
      "contacts: {ab: {gap: b - a, restitution: 1}, bc: {gap: c - b, restitution: 1}}\n");
  assert_true(run_with(&run, "rk4", 0.3, 1e-2));
  assert_int_equal(run_events(&run), 2);
  check_list("v", 3, run_event(&run, 1)->v_after, v, 1e-12);
  CHECK_NEAR(pawl_sim_summary(run.sim).energy_end, 0.545, 1e-12);
  run_end(&run);
}

// A ball that rests on the floor is hit from above. By Newton's law the floor, which was not
// approached, gives nothing back; by Poisson's it gives back what it has taken.
static void test_newton_and_poisson(void** unused) {
  (void)unused;
  static const double v[2][2] = {{0, 0.5}, {0.5, 0.5}};
  for (int k = 0; k < 2; k++) {
    Run run = run_text(
        "model: two\n"
        "coordinates: {a: 0, b: {start: 0.5, rate: -1}}\n"
        "mass: {a: 1, b: 1}\n"
        "contacts:\n"
        "  floor: {gap: a, restitution: 1}\n"
        "  ab: {gap: b - a - 0.2, restitution: 0.5}\n");
    run.def.simulate.contact_law = k == 0 ? "newton" : "poisson";
    assert_true(run_with(&run, "rk4", 0.4, 1e-2));
    check_list("v", 2, event_is(&run, 1, 0.3, "ab", "hit", 1e-12)->v_after, v[k], 1e-12);
    run_end(&run);
  }
}

// Three balls fall on each other and on the floor without restitution: a column at rest.
static void test_column(void** unused) {
  (void)unused;
  Run run = run_text(COLUMN_WITH("0"));
  for (int k = 0; EXACT[k]; k++) {
    assert_true(run_with(&run, EXACT[k], 2, 1e-2));
    assert_int_equal(run_events(&run), 6);
    event_is(&run, 0, sqrt(0.06), "floor", "hit", 1e-11);
    event_is(&run, 1, sqrt(0.12), "floor", "hit", 1e-11);
    event_is(&run, 2, sqrt(0.12), "ab", "hit", 1e-11);
    event_is(&run, 5, sqrt(0.22), "bc", "hit", 1e-11);
    check_state(&run, (double[]){0, 0.2, 0.4}, (double[]){0, 0, 0}, 1e-11);
    check_list("lambda", 3, pawl_sim_state(run.sim)->lambda, (double[]){60, 50, 30}, 1e-9);
  }
  run_end(&run);
}

// The same with restitution comes to rest, whatever the order of its many impacts.
static void test_bouncing_column(void** unused) {
  (void)unused;
  static const char* const laws[] = {"newton", "poisson", "sequential"};
  Run run = run_text(COLUMN);
  for (int k = 0; k < 3; k++) {
    run.def.simulate.contact_law = laws[k];
    assert_true(run_with(&run, "dopri", 5, 1e-2));
    check_state(&run, (double[]){0, 0.2, 0.4}, (double[]){0, 0, 0}, 1e-8);
    check_list("lambda", 3, pawl_sim_state(run.sim)->lambda, (double[]){60, 50, 30}, 1e-6);
    PawlSummary summary = pawl_sim_summary(run.sim);
    assert_true(summary.energy_end <= summary.energy_start);
  }
  run_end(&run);
}

// ---- ties ---------------------------------------------------------------------------------------
// Two masses side by side on equal springs: they touch all the time, and nothing presses.
static void test_nothing_presses(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: tie\n"
      "coordinates: {a: {start: 1}, b: {start: 1.3}}\n"
      "mass: {a: 1, b: 1}\n"
      "potential: 0.5*a^2 + 0.5*(b - 0.3)^2\n"
      "contacts: {ab: {gap: b - a - 0.3, restitution: 0.5}}\n");
  for (int k = 0; ALL[k]; k++) {
    if (run_with(&run, ALL[k], 10, 1e-2)) {
      assert_true(run_events(&run) <= 1);  // it may open once, and stays where it is
      CHECK_NEAR(pawl_sim_state(run.sim)->q[0] + 0.3, pawl_sim_state(run.sim)->q[1], 1e-8);
    }
  }
  run_end(&run);
}

// A beam on three stops: how they share its weight is not determined, that they hold it is. Then a
// torque lifts it off one end.
static void test_three_stops(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: beam\n"
      "coordinates: {y: 0, p: 0}\n"
      "mass: {y: 3, p: 1}\n"
      "potential: 30*y\n"
      "forces: {p: 12*t}\n"
      "contacts:\n"
      "  left: {gap: y - sin(p), restitution: 0}\n"
      "  middle: {gap: y, restitution: 0}\n"
      "  right: {gap: y + sin(p), restitution: 0}\n");
  static const char* const methods[] = {"rk4", "dopri", "ga-pva", NULL};
  for (int k = 0; methods[k]; k++) {
    assert_true(run_with(&run, methods[k], 2.4, 1e-2));
    assert_int_equal(run_events(&run), 0);
    assert_true(run_with(&run, methods[k], 2.6, 1e-2));  // 12 t = 30 1
    assert_true(run_events(&run) >= 1);
    const PawlState* state = pawl_sim_state(run.sim);
    assert_true(state->q[1] > 1e-5);
    CHECK_NEAR(state->q[0], sin(state->q[1]), 1e-7);  // it turns about the left one
  }
  run_end(&run);
}

// ---- beside other things that switch ------------------------------------------------------------
// A mass on the floor is pushed along; a brake holds up to 5 N, then slides; and a lock catches it.
static void test_beside_brake(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: brake\n"
      "coordinates: {x: 0, y: {start: 0.2}}\n"
      "mass: {x: 2, y: 2}\n"
      "potential: 20*y\n"
      "forces: {x: 10*t}\n"
      "locks:\n"
      "  pad: {lock: x, engaged: true, capacity: 5}\n"
      "contacts: {floor: {gap: y, restitution: 0.5}}\n");
  assert_true(run_with(&run, "rk4", 1.5, 1e-3));
  const PawlState* state = pawl_sim_state(run.sim);
  double s = 1.0;  // slides from t = 0.5 on: 2 x'' = 10 (t - 1/2)
  CHECK_NEAR(state->q[0], 5 * s * s * s / 6, 1e-9);
  CHECK_NEAR(state->q[1], 0.0, 1e-10);
  bool slid = false, rested = false;
  for (int k = 0; k < run_events(&run); k++) {
    slid |= strcmp(run_event(&run, k)->constraint, "pad") == 0;
    rested |= strcmp(run_event(&run, k)->to, "rest") == 0;
  }
  assert_true(slid && rested);
  run_end(&run);
}

// A mass that a brake holds is hit from above: the brake gives way at the impact.
static void test_impact_on_brake(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: hit\n"
      "coordinates: {a: 0, b: {start: 0.3, rate: -1}}\n"
      "mass: {a: 1, b: 1}\n"
      "locks: {pad: {lock: a, engaged: true, capacity: 2}}\n"
      "contacts: {ab: {gap: b - a - 0.1, restitution: 0}}\n");
  assert_true(run_with(&run, "dopri", 1.2, 1e-2));
  event_is(&run, 0, 0.2, "pad", "sliding down", 1e-10);
  event_is(&run, 1, 0.2, "ab", "hit", 1e-10);
  // both at -1/2, a stopped by 2 N: it is slower than b, which pushes: 2 x'' = 2
  CHECK_NEAR(pawl_sim_state(run.sim)->q[0], -0.125, 1e-9);
  CHECK_NEAR(pawl_sim_state(run.sim)->q[1], -0.025, 1e-9);
  run_end(&run);
}

// What a push does to a mass on the floor.
static void test_push_into_floor(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: push\n"
      "coordinates: {y: 0}\n"
      "mass: {y: 2}\n"
      "potential: 20*y\n"
      "contacts: {floor: {gap: y, restitution: 0.5}}\n"
      "events:\n"
      "  down: {at: 0.2, impulse: {y: -6}}\n"
      "  up: {at: 0.4, impulse: {y: 6}}\n");
  assert_true(run_with(&run, "rk4", 0.6, 1e-2));
  // the floor answers the first; the second throws it
  CHECK_NEAR(pawl_sim_state(run.sim)->q[0], 3 * 0.2 - 0.2, 1e-11);
  event_is(&run, 0, 0.2, "down", "event", 1e-12);
  CHECK_NEAR(event_is(&run, 1, 0.2, "floor", "hit", 1e-12)->impulse[0], 6.0, 1e-11);
  event_is(&run, 2, 0.4, "up", "event", 1e-12);
  event_is(&run, 3, 0.4, "floor", "open", 1e-12);
  run_end(&run);
}

// One contact, by each law: what it had before the push rebounds by Newton's law, alone or in turn;
// at rest (y) nothing, on its way (z) e of that. Poisson's law gives back e of the impulse.  (C9)
static void test_push_by_each_law(void** unused) {
  (void)unused;
  static const struct {
    const char* law;
    double y, z;
  } of[] = {{"newton", 0.0, 0.5}, {"sequential", 0.0, 0.5}, {"poisson", 1.5, 2.0}};
  Run run = run_text(
      "model: push\n"
      "coordinates: {y: 0, z: {start: 0.2, rate: -1}}\n"
      "mass: {y: 2, z: 2}\n"
      "contacts: {floor: {gap: y, restitution: 0.5}, wall: {gap: z, restitution: 0.5}}\n"
      "events: {down: {at: 0.2, impulse: {y: -6, z: -6}}}\n");
  for (int k = 0; k < 3; k++) {
    run.def.simulate.contact_law = of[k].law;
    assert_true(run_with(&run, "rk4", 0.3, 1e-2));
    CHECK_NEAR(pawl_sim_state(run.sim)->v[0], of[k].y, 1e-9);
    CHECK_NEAR(pawl_sim_state(run.sim)->v[1], of[k].z, 1e-9);
  }
  run_end(&run);
}

// A mass slides down a track with a kink to a wall: region, impact and rest, by every method
// between them. The law post leaves cos 45 of the speed behind the kink.
static void test_beside_region(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: region\n"
      "coordinates: {x: {rate: 1}, y: 0}\n"
      "mass: {x: 1, y: 1}\n"
      "constraints:\n"
      "  track:\n"
      "    modes:\n"
      "      flat: {where: x < 1, equation: y = 0}\n"
      "      ramp: {where: x > 1, equation: y = x - 1}\n"
      "contacts: {wall: {gap: 1.5 - x, restitution: 0.5}}\n");
  // 1 s to the kink, x' = 1/2 behind it, 1 s to the wall, back at 1/4, 2 s to the kink, x' = 1/4
  // there
  static const char* const methods[] = {"rk4", "dopri", "ga-pva", "ark", NULL};
  for (int k = 0; methods[k]; k++) {
    if (!run_with(&run, methods[k], 5, 1e-2)) {
      continue;
    }
    assert_int_equal(run_events(&run), 3);
    event_is(&run, 0, 1.0, "track", "ramp", 1e-9);
    CHECK_NEAR(event_is(&run, 1, 2.0, "wall", "hit", 1e-9)->energy_lost, 0.25 * 0.75, 1e-9);
    event_is(&run, 2, 4.0, "track", "flat", 1e-9);
    check_state(&run, (double[]){0.75, 0}, (double[]){-0.25, 0}, 1e-8);
  }
  run_end(&run);
}

// A skate, which a rate constraint keeps from moving sideways, glides against a wall.
static void test_beside_rate_constraint(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: skate\n"
      "parameters: {a: 0.5}\n"
      "coordinates: {x: {rate: cos(a)}, y: {rate: sin(a)}, p: {start: a}}\n"
      "mass: {x: 2, y: 2, p: 0.1}\n"
      "constraints: {blade: {rate: \"x'*sin(p) - y'*cos(p) = 0\"}}\n"
      "contacts: {wall: {gap: 1 - x, restitution: 0.5}}\n");
  double t = 1 / cos(0.5), s = 2 - t;
  assert_true(run_with(&run, "dopri", 2, 1e-2));
  assert_int_equal(run_events(&run), 1);
  event_is(&run, 0, t, "wall", "hit", 1e-10);
  // it goes back along its blade at half of the speed
  check_state(&run, (double[]){1 - 0.5 * s * cos(0.5), tan(0.5) - 0.5 * s * sin(0.5), 0.5},
              (double[]){-0.5 * cos(0.5), -0.5 * sin(0.5), 0}, 1e-9);
  run_end(&run);
}

// ---- conditions ---------------------------------------------------------------------------------
static void check_events(const Run* run, int count, const char* const* names, const double* t) {
  int k = 0;
  for (int i = 0; i < run_events(run); i++) {
    const PawlEvent* event = run_event(run, i);
    if (strcmp(event->to, "event") == 0) {
      assert_true(k < count);
      assert_string_equal(event->constraint, names[k]);
      CHECK_NEAR(event->t, t[k], 1e-9);
      k++;
    }
  }
  assert_int_equal(k, count);
}

// A ball bounces three times: each is a closing and an opening, also within one step.
static void test_condition_on_gap(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: seen\n"
      "coordinates: {y: {start: 1.25}}\n"
      "mass: {y: 2}\n"
      "potential: 20*y\n"
      "contacts: {floor: {gap: y, restitution: 0.5}}\n"
      "events:\n"
      "  down: {when: y, direction: down}\n"
      "  up: {when: -2*y, direction: down}\n");
  static const char* const names[] = {"down", "up", "down", "up", "down", "up"};
  static const double t[] = {0.5, 0.5, 1.0, 1.0, 1.25, 1.25};
  for (double h = 1e-3; h < 1; h *= 12) {
    assert_true(run_with(&run, "dopri", 1.3, h));
    check_events(&run, 6, names, t);
  }
  run_end(&run);
}

// A mass is caught by the floor, stays there and is pulled off again; its force is seen, too.
static void test_condition_on_closed_contact(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: seen\n"
      "coordinates: {y: {start: 0.2}}\n"
      "mass: {y: 2}\n"
      "potential: 20*y\n"
      "forces: {y: 20*t}\n"
      "contacts: {floor: {gap: y, restitution: 0}}\n"
      "events:\n"
      "  down: {when: y, direction: down}\n"
      "  up: {when: y, direction: up}\n"
      "  light: {when: lambda(floor) - 5, direction: down}\n"
      "  loaded: {when: lambda(floor), direction: up}\n"
      "  free: {when: lambda(floor), direction: down}\n");
  // y'' = 10 (t - 1): y = 0.2 - 5 t^2 + 5/3 t^3 is zero at t1
  double t1 = 0.2;
  for (int k = 0; k < 50; k++) {
    t1 -= (0.2 - 5 * t1 * t1 + 5. / 3 * t1 * t1 * t1) / (-10 * t1 + 5 * t1 * t1);
  }
  const char* const names[] = {"down", "loaded", "light", "up", "free"};
  const double t[] = {t1, t1, 0.75, 1.0, 1.0};
  assert_true(run_with(&run, "dopri", 1.5, 1e-2));
  int seen[5] = {0};
  for (int i = 0; i < run_events(&run); i++) {
    for (int k = 0; k < 5; k++) {
      if (strcmp(run_event(&run, i)->constraint, names[k]) == 0) {
        CHECK_NEAR(run_event(&run, i)->t, t[k], 2e-5);  // it leaves with the cube of time
        seen[k]++;
      }
    }
  }
  for (int k = 0; k < 5; k++) {
    assert_int_equal(seen[k], 1);
  }
  CHECK_NEAR(pawl_sim_state(run.sim)->q[0], 10 * 0.125 / 6, 1e-9);
  run_end(&run);
}

// A start that overlaps by rounding is hit where the run begins, not before.
static void test_hit_at_start(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: start\n"
      "coordinates: {y: {start: -1e-18, rate: -0.1}}\n"
      "mass: {y: 1}\n"
      "potential: 9.81*y\n"
      "contacts: {f: {gap: y, restitution: 0.5}}\n");
  run_to(&run, 1e-3, 1e-3);
  assert_int_equal(run_events(&run), 1);
  assert_true(run_event(&run, 0)->t >= 0.0);
  CHECK_NEAR(pawl_sim_state(run.sim)->v[0], 0.05 - 9.81e-3, 1e-12);
  run_end(&run);
}

// ---- borders and steps --------------------------------------------------------------------------
// A stop at the very place where the track turns up: hit with 6, left with -3.              (C14)
static void test_stop_at_border(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: border\n"
      "coordinates: {x: {rate: 6}, y: }\n"
      "mass: {x: 1, y: 1}\n"
      "potential: 9.81*y\n"
      "constraints: {track: {equation: \"y = max(0, x - 1)\", impact: bisector}}\n"
      "contacts: {stop: {gap: 1 - x, restitution: 0.5}}\n");
  run_to(&run, 1, 1e-2);
  assert_int_equal(run_events(&run), 1);
  event_is(&run, 0, 1.0 / 6, "stop", "hit", 1e-11);
  check_state(&run, (double[]){1 - 3 * (1 - 1.0 / 6), 0}, (double[]){-3, 0}, 1e-10);
  run_end(&run);
}

// Off the edge of a stair, and off a table that is pulled down: free fall by 0.2.           (C15)
static void test_off_the_edge(void** unused) {
  (void)unused;
  static const char* const gaps[] = {"y + 0.2*floor(x)", "y + 0.2*step(t - 0.5)"};
  for (int k = 0; k < 2; k++) {
    char text[300];
    snprintf(text, sizeof text,
             "model: stairs\ncoordinates: {x: {start: 0.5, rate: 1}, y: }\nmass: {x: 1, y: 1}\n"
             "potential: 9.81*y\ncontacts: {f: {gap: \"%s\"}}\n",
             gaps[k]);
    Run run = run_text(text);
    for (int i = 0; i < 2; i++) {
      assert_true(run_with(&run, i == 0 ? "rk4" : "dopri", 0.9, 1e-2));
      assert_int_equal(run_events(&run), 2);
      event_is(&run, 0, 0.5, "f", "open", 1e-10);
      event_is(&run, 1, 0.5 + sqrt(2 * 0.2 / 9.81), "f", "hit", 1e-10);
      check_state(&run, (double[]){1.4, -0.2}, (double[]){1, 0}, 1e-10);
    }
    run_end(&run);
  }
}

// ---- a body at the origin -----------------------------------------------------------------------
// Gaps of two corners that slide, (X - ...)*n: the numbers that cancel in them are of the size of
// the body, while the coordinates begin at zero. Moved by 5 and 3 metres nothing is different.
#define AT(a, b, n_x, n_y)                                                       \
  "(x - X + (" a ")*cos(p) - (" b ")*sin(p) - (" a "))*(" n_x ") + (y - Y + (" a \
  ")*sin(p)"                                                                     \
  " + (" b ")*cos(p) - (" b "))*(" n_y ")"
static const char CORNERS[] =
    "model: corners\n"
    "parameters: {X: 0, Y: 0}\n"
    "coordinates: {x: {start: X}, y: {start: Y}, p: }\n"
    "mass: {x: 1, y: 1, p: 0.1}\n"
    "forces: {x: -0.8305334154991391, y: 1.3077626940826015, p: 0.5740035584609151}\n"
    "contacts:\n"
    "  c0: {gap: \"" AT("0.84457864730", "0.60273535633", "-0.9889222267", "-0.1484345965") "\", "
    "friction: 1.5, "
    "slip: \"" AT("0.84457864730", "0.60273535633", "0.1484345965", "-0.9889222267") "\"}\n"
    "  c1: {gap: \"" AT("0.70619875181", "-0.49616293931", "-0.8944494691", "-0.4471690365") "\", "
    "friction: 0.5, "
    "slip: \"" AT("0.70619875181", "-0.49616293931", "0.4471690365", "-0.8944494691") "\"}\n";

static void test_at_the_origin(void** unused) {
  (void)unused;
  double q[2][3], v[2][3];
  for (int k = 0; k < 2; k++) {
    Run run = {0};
    const char* moved[] = {"X=5", "Y=3"};
    run_need(&run, pawl_model_parse(CORNERS, strlen(CORNERS), "test.yaml", k ? 2 : 0, moved,
                                    &run.model, &run.err));
    run_derive(&run);
    assert_true(run_with(&run, "dopri", 0.01, 1e-3));
    memcpy(q[k], pawl_sim_state(run.sim)->q, sizeof q[k]);
    memcpy(v[k], pawl_sim_state(run.sim)->v, sizeof v[k]);
    run_end(&run);
  }
  check_list("q", 3, q[0], (double[]){q[1][0] - 5, q[1][1] - 3, q[1][2]}, 1e-12);
  check_list("v", 3, v[0], v[1], 1e-12);
  assert_true(fabs(v[0][0]) > 1e-3);  // it slides
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_met_at_end_of_step),
      cmocka_unit_test(test_lift_off),
      cmocka_unit_test(test_bar_on_two_stops),
      cmocka_unit_test(test_cradle),
      cmocka_unit_test(test_fastest_first),
      cmocka_unit_test(test_caught_up),
      cmocka_unit_test(test_newton_and_poisson),
      cmocka_unit_test(test_column),
      cmocka_unit_test(test_bouncing_column),
      cmocka_unit_test(test_nothing_presses),
      cmocka_unit_test(test_three_stops),
      cmocka_unit_test(test_beside_brake),
      cmocka_unit_test(test_impact_on_brake),
      cmocka_unit_test(test_push_into_floor),
      cmocka_unit_test(test_push_by_each_law),
      cmocka_unit_test(test_beside_region),
      cmocka_unit_test(test_beside_rate_constraint),
      cmocka_unit_test(test_condition_on_gap),
      cmocka_unit_test(test_hit_at_start),
      cmocka_unit_test(test_stop_at_border),
      cmocka_unit_test(test_off_the_edge),
      cmocka_unit_test(test_condition_on_closed_contact),
      cmocka_unit_test(test_at_the_origin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
