// SPDX-License-Identifier: Apache-2.0
// What falls within the tolerance of an instant is part of it, in one order, by every method and
// step; forces of contacts whose impacts have not ended; instants at late times
// (docs/theory/events.md, "One instant"; docs/theory/contacts.md).
#include "step/located.h"

static const double STEPS[] = {1e-3, 1e-2, 0.07};

// All methods and steps to t = 2: the rates x' and y' at the end.
static void check_rates(Run* run, double x, double y) {
  for (int k = 0; ALL[k]; k++) {
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
      if (run_with(run, ALL[k], 2, STEPS[i])) {
        const double* v = pawl_sim_state(run->sim)->v;
        CHECK_NEAR(v[0], x, 1e-8);
        CHECK_NEAR(v[1], y, 1e-8);
      }
    }
  }
}

// x meets y, e = 1/2, within the tolerance of the instant at which something else happens; `d` is
// how much later that is.
static Run meeting(const char* what, double d) {
  char text[500], other[200], *at;
  snprintf(other, sizeof other, "%s", what);
  at = strchr(other, 'T');
  assert_non_null(at);
  *at = '\0';
  snprintf(text, sizeof text,
           "model: meeting\ncoordinates: {x: {rate: 1, start: 0.25}, y: {start: 1, rate: 0.25}}\n"
           "mass: {x: 1, y: 2}\ncontacts: {c: {gap: y - x, restitution: 0.5}}\n%s%.17g%s\n",
           other, 1 + d, at + 1);
  return run_text(text);
}

static const double LATER[] = {-5e-13, -1e-15, 0, 1e-15, 5e-13};
enum { LATER_COUNT = sizeof LATER / sizeof *LATER };

// The lock first, then the impact by the rate -3/4 before: x' - 0 = -3/8. (C9)
static void test_locks(void** unused) {
  (void)unused;
  static const char* const locks[] = {"locks: {hold: {lock: y, at: T}}",
                                      "locks: {hold: {lock: y, when: t - T}}",
                                      "locks: {hold: {lock: y, when: \"1e-6*(t - T)\"}}"};
  for (int k = 0; k < 3 * LATER_COUNT; k++) {
    Run run = meeting(locks[k / LATER_COUNT], LATER[k % LATER_COUNT]);
    check_rates(&run, -0.375, 0);
    assert_int_equal(run_events(&run), 2);
    run_end(&run);
  }
}

// Pushes first: of all of them the momentum, and the rate 3/8 after.
static void test_pushes(void** unused) {
  (void)unused;
  static const char* const pushes[] = {
      "events: {e: {at: T, impulse: {y: -0.5}}}", "events: {e: {when: t - T, impulse: {y: -0.5}}}",
      "events: {e: {at: T, impulse: {y: -0.7}}, f: {when: x - 1.25, impulse: {x: 0.2}}}",
      "inputs: {k: 1}\nevents: {e: {at: T, impulse: {y: -0.5}}, s: {when: t - 1, set: {k: 3}}}"};
  for (int k = 0; k < 4 * LATER_COUNT; k++) {
    Run run = meeting(pushes[k / LATER_COUNT], LATER[k % LATER_COUNT]);
    check_rates(&run, (1.5 - 0.5 - 2 * 0.375) / 3, (1.5 - 0.5 - 2 * 0.375) / 3 + 0.375);
    double lost = 0.0;
    for (int i = 0; i < run_events(&run); i++) {
      lost += run_event(&run, i)->energy_lost;
    }
    PawlSummary summary = pawl_sim_summary(run.sim);
    CHECK_NEAR(lost, summary.energy_start - summary.energy_end, 1e-12);
    run_end(&run);
  }
}

// What an event sets at the time of a hit takes none of its energy.
static void test_set(void** unused) {
  (void)unused;
  for (int k = 0; k < LATER_COUNT; k++) {
    Run run = meeting("inputs: {k: 1}\nevents: {s: {at: T, set: {k: 3}}}", LATER[k]);
    check_rates(&run, 0.25, 0.625);
    assert_int_equal(run_events(&run), 2);
    double lost = run_event(&run, 0)->energy_lost + run_event(&run, 1)->energy_lost;
    CHECK_NEAR(lost, 0.140625, 1e-12);
    run_end(&run);
  }
}

// Farther apart than that they are two instants: x is hit first, and a lock stops y after it.
static void test_apart(void** unused) {
  (void)unused;
  Run run = meeting("locks: {hold: {lock: y, at: T}}", 1e-9);
  check_rates(&run, -0.125, 0);  // and x comes to it again, at 1/4
  run_end(&run);
}

// The forces of a contact begin where its impacts end. (C13)
static void test_felt(void** unused) {
  (void)unused;
  static const double cor[] = {0.5, 0.9, 0.97};
  for (int k = 0; k < 3; k++) {
    char text[400];
    snprintf(text, sizeof text,
             "model: felt\ncoordinates: {y: {start: 0.5}, x: {rate: 1}}\nmass: {y: 1, x: 1}\n"
             "potential: 9.81*y\ncontacts: {fl: {gap: y, restitution: %g}}\n"
             "locks: {hold: {lock: x, when: lambda(fl) > 1}}\n"
             "events: {felt: {when: lambda(fl) - 5, direction: up}}\n",
             cor[k]);
    Run run = run_text(text);
    double rest = sqrt(1 / 9.81) * (1 + cor[k]) / (1 - cor[k]);
    for (int i = 0; EXACT[i]; i++) {
      assert_true(run_with(&run, EXACT[i], rest + 0.1, 1e-2));
      int felt = 0, held = 0;
      for (int n = 0; n < run_events(&run); n++) {
        const PawlEvent* event = run_event(&run, n);
        bool is_felt = strcmp(event->constraint, "felt") == 0;
        bool is_held = strcmp(event->constraint, "hold") == 0;
        felt += is_felt;
        held += is_held;
        if (is_felt || is_held) {
          CHECK_NEAR(event->t, rest, 1e-9);
        }
      }
      assert_int_equal(felt, 1);
      assert_int_equal(held, 1);
      CHECK_NEAR(pawl_sim_state(run.sim)->q[1], rest, 1e-9);
    }
    run_end(&run);
  }
}

// An elastic ball keeps its energy and its period, also where methods that find zeros themselves
// know them to 100 roundings of a late time. (C3)
static void test_late(void** unused) {
  (void)unused;
  static const char* const methods[] = {"ark", "ida", "dopri", "rk4"};
  Run run = run_text(
      "model: elastic\ncoordinates: {y: {start: 1}}\nmass: {y: 1}\npotential: 9.81*y\n"
      "contacts: {f: {gap: y, restitution: 1}}\n");
  double t0 = sqrt(2 / 9.81);
  for (int k = 0; k < 4; k++) {
    if (!run_with(&run, methods[k], 1500, 0.1)) {
      continue;
    }
    double jumps = 0.0;
    int count = run_events(&run);
    for (int i = 0; i < count; i++) {
      jumps -= run_event(&run, i)->energy_lost;
    }
    assert_int_equal(count, (int)((1500 / t0 + 1) / 2));
    CHECK_NEAR(jumps, 0.0, 1e-10);
    if (strcmp(methods[k], "ida") != 0) {  // whose own drift is of 1e-9
      CHECK_NEAR(run_event(&run, count - 1)->t, (2 * count - 1) * t0, 1e-8);
    }
  }
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_locks), cmocka_unit_test(test_pushes), cmocka_unit_test(test_set),
      cmocka_unit_test(test_apart), cmocka_unit_test(test_felt),   cmocka_unit_test(test_late),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
