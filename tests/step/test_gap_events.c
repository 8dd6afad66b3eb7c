// SPDX-License-Identifier: Apache-2.0
// Conditions on gaps and on the forces of contacts: each closing and each opening is logged once,
// by every method that knows contacts, at the end of the step in which it happens.
#include "switch/runs.h"

static const char* const METHODS[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
enum { METHOD_COUNT = 3, MOST = 64 };

// The times of all log entries with this name; how many.
static int times_of(const Run* run, const char* name, double* times) {
  int count = 0;
  for (int k = 0; k < run_events(run); k++) {
    if (strcmp(run_event(run, k)->constraint, name) == 0) {
      assert_true(count < MOST);
      times[count++] = run_event(run, k)->t;
    }
  }
  return count;
}

static void check_times(const Run* run, const char* name, int count, const double* expected,
                        double tolerance) {
  double times[MOST];
  int found = times_of(run, name, times);
  if (found != count) {
    print_error("%s: '%s' %d times, expected %d\n", run->def.simulate.method, name, found, count);
    fail();
  }
  check_list(name, count, times, expected, tolerance);
}

// A ball falls from 0.2 and bounces with e = 0.2: hits at t1 = sqrt(0.4/g), t1 (1 + 2 e), ...
static const char BALL[] =
    "model: ball\nparameters: {g: 9.81}\ncoordinates: {y: {start: 0.2}}\nmass: {y: 2}\n"
    "potential: 2*g*y\ncontacts: {plane: {gap: y, restitution: 0.2}}\n"
    "events:\n  touch: {when: y, direction: down}\n  scaled: {when: -3*y, direction: up}\n"
    "  leave: {when: y, direction: up}\n  any: {when: y}\n"
    "simulate: {until: 1}\n";

// Each hit is a closing, also those of the last bounces, which a step does not resolve.
static void test_hits(void** unused) {
  (void)unused;
  Run run = run_text(BALL);
  for (int k = 0; k < METHOD_COUNT; k++) {
    double hits[MOST], touches[MOST], t = sqrt(0.4 / 9.81), flight = 0.4 * t, h = 1e-3;
    run.def.simulate.method = METHODS[k];
    run_to(&run, 1, h);
    int count = times_of(&run, "plane", hits);
    assert_true(count >= 6);
    check_times(&run, "touch", count, hits, h);
    times_of(&run, "touch", touches);
    check_times(&run, "scaled", count, touches, 0.0);
    for (int n = 0; n < 3; n++) {
      CHECK_NEAR(touches[n], t, (2 * n + 1) * h);  // each bounce adds the errors of two steps
      t += flight;
      flight *= 0.2;
    }
  }
  run_end(&run);
}

// Closings and openings alternate, and a condition without direction sees both; at rest nothing.
static void test_openings(void** unused) {
  (void)unused;
  Run run = run_text(BALL);
  for (int k = 0; k < METHOD_COUNT; k++) {
    double touch[MOST], leave[MOST], any[MOST];
    run.def.simulate.method = METHODS[k];
    run_to(&run, 1, 1e-3);
    int closings = times_of(&run, "touch", touch), openings = times_of(&run, "leave", leave);
    assert_int_equal(openings, closings - 1);
    assert_int_equal(times_of(&run, "any", any), closings + openings);
    for (int n = 0; n < openings; n++) {
      assert_true(touch[n] < leave[n] && leave[n] <= touch[n + 1]);
    }
    CHECK_NEAR(leave[0], touch[0], 2.001e-3);
    CHECK_NEAR(any[1], leave[0], 0.0);
  }
  run_end(&run);
}

// Elastic hits, by php, too, which goes through them within its step: sqrt(0.4/g) (2 n + 1).
static void test_elastic(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pva", "nsga-pvv", "moreau-jean", "php"};
  Run run = run_text(
      "model: elastic\ncoordinates: {y: {start: 0.2}}\nmass: {y: 2}\npotential: 2*9.81*y\n"
      "contacts: {plane: {gap: y, restitution: 1}}\n"
      "events: {touch: {when: y, direction: down}, leave: {when: y, direction: up}}\n"
      "simulate: {until: 1.5}\n");
  for (int k = 0; k < 4; k++) {
    double hits[MOST], touches[MOST], h = 1e-3;
    run.def.simulate.method = methods[k];
    run_to(&run, 1.5, h);
    assert_int_equal(times_of(&run, "plane", hits), 4);
    check_times(&run, "touch", 4, hits, h);
    times_of(&run, "touch", touches);
    check_times(&run, "leave", 4, touches, 2.001 * h);
    for (int n = 0; n < 4; n++) {
      CHECK_NEAR(touches[n], sqrt(0.4 / 9.81) * (2 * n + 1), (2 * n + 1) * h);
    }
  }
  run_end(&run);
}

// y = 0.1 - 5 t^2 + 10/3 t^3 until it lands; its weight 10 is borne by 20 t from t = 0.5 on.
static const char LIFT[] =
    "model: lift\ncoordinates: {y: {start: 0.1}}\nmass: {y: 1}\npotential: 10*y\n"
    "forces: {y: 20*t}\ncontacts: {floor: {gap: y}}\noutputs: {N: lambda(floor)}\n"
    "events:\n  touch: {when: y, direction: down}\n  leave: {when: y, direction: up}\n"
    "  light: {when: lambda(floor) - 5, direction: down}\n"
    "  heavy: {when: N - 5, direction: up}\n"
    "  off: {when: lambda(floor), direction: down}\n  on: {when: N, direction: up}\n"
    "  pulled: {when: -lambda(floor), direction: up}\n"
    "  late: {when: y, after: 0.3}\n"
    "simulate: {until: 1}\n";

static void test_rest(void** unused) {
  (void)unused;
  Run run = run_text(LIFT);
  double landing = 0.1, step = 1e-3;
  for (int k = 0; k < 50; k++) {  // Newton's method
    landing -= (0.1 - 5 * landing * landing + 10.0 / 3 * landing * landing * landing) /
               (-10 * landing + 10 * landing * landing);
  }
  for (int k = 0; k < METHOD_COUNT; k++) {
    run.def.simulate.method = METHODS[k];
    run_to(&run, 1, step);
    double light = 0.25, lift = 0.5, near = 1.01 * step;
    check_times(&run, "touch", 1, &landing, near);
    check_times(&run, "on", 1, &landing, near);
    check_times(&run, "heavy", 1, &landing, near);
    check_times(&run, "light", 1, &light, near);
    check_times(&run, "off", 1, &lift, near);
    check_times(&run, "pulled", 1, &lift, near);
    check_times(&run, "leave", 1, &lift, near);
    check_times(&run, "late", 1, &lift, near);  // rests when its time has come
  }
  run_end(&run);
}

// What has its zero at that of the gap on the rod, written in another way; what has it elsewhere.
static void test_other_words(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: rod\ncoordinates: {x: {start: 0.8}, y: {start: -0.6}}\nmass: {x: 1, y: 1}\n"
      "potential: 9.81*y\nconstraints: {rod: x^2 + y^2 = 1}\n"
      "contacts: {wall: {gap: x + 0.5, restitution: 0.5}, floor: {gap: y + 1.2}}\n"
      "events:\n  angle: {when: asin(x) + pi/6, direction: down}\n"
      "  near: {when: x + 0.499, direction: down}\n  height: {when: y + 1.1}\n"
      "simulate: {until: 3}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    double hits[MOST], near[MOST];
    run.def.simulate.method = METHODS[k];
    run_to(&run, 3, 1e-3);
    int count = times_of(&run, "wall", hits);
    assert_int_equal(count, 2);
    check_times(&run, "angle", count, hits, 1e-3);
    assert_int_equal(times_of(&run, "near", near), count);
    assert_true(near[0] < hits[0] && near[1] < hits[1]);
    check_times(&run, "height", 0, NULL, 0.0);
  }
  run_end(&run);
}

// A lock engages when the gap closes and lets go when the force does, or when the gap opens; an
// event stops the run.
static void check_lock(const char* release) {
  char text[1024];
  snprintf(text, sizeof text,
           "model: grip\ncoordinates: {y: {start: 0.1}, z: {rate: 1}}\nmass: {y: 1, z: 1}\n"
           "potential: 10*y\nforces: {y: 20*t}\ncontacts: {floor: {gap: y}}\n"
           "locks: {grip: {lock: z, when: y, direction: down,\n"
           "               release: {when: %s}}}\n"
           "events: {end: {when: y, direction: up, stop: true}}\nsimulate: {until: 1}\n",
           release);
  Run run = run_text(text);
  for (int k = 0; k < METHOD_COUNT; k++) {
    const double z = 0.1495, expected[] = {0.1495, 0.5};
    run.def.simulate.method = METHODS[k];
    run_to(&run, 1, 1e-3);
    check_times(&run, "grip", 2, expected, 2e-3);
    check_times(&run, "end", 1, expected + 1, 2e-3);
    CHECK_NEAR(pawl_sim_state(run.sim)->t, 0.5, 2e-3);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[1], z, 2e-3);
  }
  run_end(&run);
}

static void test_locks(void** unused) {
  (void)unused;
  check_lock("lambda(floor), direction: down");
  check_lock("y, direction: up");
}

static int stop_at_rest(void* context, double t, double until) {
  (void)context;
  (void)until;
  return t >= 0.3;
}

// A run that goes on from a file sees what an unbroken one does.
static void test_saved(void** unused) {
  (void)unused;
  Run run = run_text(LIFT);
  for (int k = 0; k < METHOD_COUNT; k++) {
    double whole[MOST], again[MOST];
    void* bytes;
    size_t size;
    run.def.simulate.method = METHODS[k];
    run_to(&run, 1, 1e-3);
    int count = times_of(&run, "leave", whole);
    pawl_sim_destroy(run.sim);
    run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
    assert_int_equal(pawl_sim_run(run.sim, stop_at_rest, NULL, &run.err), PAWL_STOPPED);
    run_need(&run, pawl_sim_save(run.sim, &bytes, &size, &run.err));
    pawl_sim_destroy(run.sim);
    run_need(&run, pawl_sim_load(run.system, &run.def, bytes, size, &run.sim, &run.err));
    pawl_sim_saved_free(bytes);
    run_need(&run, pawl_sim_run(run.sim, NULL, NULL, &run.err));
    assert_int_equal(times_of(&run, "touch", again), 1);
    assert_int_equal(times_of(&run, "leave", again), count);
    check_list("leave", count, again, whole, 0.0);
  }
  run_end(&run);
}

// Where contacts are located each hit is a closing, and an opening unless the ball stays, whether
// or not the flight before fits into a step and the method meets zero from above or below.
static void test_located_hits(void** unused) {
  static const char* const SMOOTH[] = {"rk4", "dopri", "ga-pva", "ark", "ida"};
  (void)unused;
  Run run = run_text(BALL);
  for (int k = 0; k < 10; k++) {
    double times[MOST];
    int hits = 0;
    run.def.simulate.method = "event-driven";
    run.def.simulate.smooth = SMOOTH[k / 2];
    run_to(&run, 1, k % 2 ? 0.5 : 1e-3);
    for (int i = 0; i < run_events(&run); i++) {
      hits += strcmp(run_event(&run, i)->to, "hit") == 0;
    }
    assert_true(hits >= 6);
    assert_int_equal(times_of(&run, "touch", times), hits);
    assert_int_equal(times_of(&run, "scaled", times), hits);
    assert_true(times_of(&run, "leave", times) >= hits - 1);
  }
  run_end(&run);
}

// A hit turns the rate up without a word, and it turns down at the top of the flight that follows,
// also where step, hit and top are one piece: tops are half way between hits.
static void test_tops(void** unused) {
  static const char* const SMOOTH[] = {"rk4", "dopri", "ga-pva", "ark"};
  (void)unused;
  Run run = run_text(
      "model: ball\ncoordinates: {y: {start: 1}}\nmass: {y: 1}\npotential: 9.81*y\n"
      "contacts: {floor: {gap: y, restitution: 0.5}}\n"
      "events: {top: {when: \"y'\", direction: down}}\n");
  for (int k = 0; k < 8; k++) {
    double hits[MOST], tops[MOST];
    run.def.simulate.smooth = SMOOTH[k / 2];
    run_to(&run, 2, k % 2 ? 0.5 : 1e-2);
    int count = times_of(&run, "floor", hits) - 2;  // the last does not rebound, then it rests
    assert_true(count >= 15);
    assert_int_equal(times_of(&run, "top", tops), count);
    for (int i = 0; i < count; i++) {
      CHECK_NEAR(tops[i], 0.5 * (hits[i] + hits[i + 1]), 1e-9);
    }
  }
  run_end(&run);
}

// A force that grows by 10 N a second against a block that sticks: its friction is -10 t until it
// slips at 0.981 s, and 9.81 N against the motion from then on.
static void test_force_of_friction(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: block\ncoordinates: {x: , y: }\nmass: {x: 2, y: 2}\npotential: 2*9.81*y\n"
      "forces: {x: 10*t}\ncontacts: {plane: {gap: y, friction: 0.5, slip: x}}\n"
      "events: {five: {when: \"lambda(plane, 2) + 5\"}, never: {when: \"lambda(plane, 2) + "
      "9.9\"}}\n"
      "simulate: {until: 1.2}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    static const double FIVE[] = {0.5};
    run.def.simulate.method = METHODS[k];
    run_to(&run, 1.2, 1e-3);
    check_times(&run, "five", 1, FIVE, 2e-3);
    check_times(&run, "never", 0, NULL, 0.0);
  }
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_force_of_friction),
      cmocka_unit_test(test_located_hits),
      cmocka_unit_test(test_tops),
      cmocka_unit_test(test_hits),
      cmocka_unit_test(test_openings),
      cmocka_unit_test(test_elastic),
      cmocka_unit_test(test_rest),
      cmocka_unit_test(test_other_words),
      cmocka_unit_test(test_locks),
      cmocka_unit_test(test_saved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
