// SPDX-License-Identifier: Apache-2.0
// How much work one instant is, beyond that of the two pieces of the step it lies in, and a step in
// which nothing is left to correct: evaluations of the equations and factorisations of the KKT
// matrix, counted.
#include "step/method.h"
#include "step/motion.h"

typedef struct Work {
  long long evaluations, factorizations, kkt;  // counted by the stepper, and by the solver itself
} Work;

static Work work_of(const Motion* m) {
  PawlStepperInfo info = pawl_stepper_info(m->stepper);
  return (Work){info.evaluations, info.factorizations,
                pawl_kkt_info(m->stepper->kkt).factorizations};
}

static Work less(Work a, Work b) {
  return (Work){a.evaluations - b.evaluations, a.factorizations - b.factorizations, a.kkt - b.kkt};
}

// The work of the next step of length h.
static Work work_of_step(Motion* m, double h) {
  Work before = work_of(m);
  motion_step(m, h);
  return less(work_of(m), before);
}

// ---- a lock -------------------------------------------------------------------------------------
// rk4 from 0.7 s to 0.8 s is one piece; the same to 0.9 s with the lock of joint 2 in it is two
// pieces and an instant. An instant of one lock needs the equations with the new rows, and with the
// new velocities; M and G are the same in both, so one factorisation serves the jump, the
// multipliers after it, and what conditions are held. `stages`: factorisations of a step.
static void check_lock(const char* model, int stages, int evaluations, int factorizations) {
  Motion m = model ? motion_text(model) : motion_file("planar-3r-lock", NULL);
  motion_start(&m, "rk4");
  for (int k = 0; k < 7; k++) {
    motion_step(&m, 0.1);
  }
  Work piece = work_of_step(&m, 0.05);
  Work step = work_of_step(&m, 0.1);
  assert_int_equal(pawl_stepper_instants(m.stepper), 1);
  assert_in_range(piece.evaluations, 4, 5);  // the stages, and M alone where it changes
  assert_int_equal(piece.factorizations, stages);
  Work behind = work_of_step(&m, 0.05);  // with the row in force
  Work instant = less(less(step, piece), behind);
  assert_int_equal(instant.evaluations, evaluations);
  assert_int_equal(instant.factorizations, factorizations);
  assert_int_equal(instant.kkt, factorizations);
  motion_end(&m);
}

static void test_lock(void** unused) {
  (void)unused;
  check_lock(NULL, 4, 2, 1);
}

static const char ARMED[] =
    "model: armed\ncoordinates: {x: {rate: 1}, y: {rate: 2}}\nmass: {x: 1, y: 2}\n"
    "potential: x^2 + y^2\nlocks: {l: {lock: x - y, at: 0.8%s}}\n%ssimulate: {until: 2}\n";

// With a condition that is watched, and with one on what the lock holds at zero. M and G change
// with the mode alone here, so that the stages factor nothing.
static void test_lock_beside_conditions(void** unused) {
  (void)unused;
  char text[400];
  snprintf(text, sizeof text, ARMED, "", "events: {e: {when: x - 9}}\n");
  check_lock(text, 0, 2, 1);
  snprintf(text, sizeof text, ARMED, ", release: {when: x' - y'}", "");
  check_lock(text, 0, 2, 1);
}

// ---- an impact ----------------------------------------------------------------------------------
// The first impact of the bouncing pendulum lies within one step of nsga-pva, which finds it by
// iterating on three levels: each Newton iteration is an evaluation, and the first one, and those
// in which contacts close or open, a factorisation or two.
static void test_impact(void** unused) {
  (void)unused;
  Motion m = motion_file("bouncing-pendulum", NULL);
  Work plain = {0}, hit = {0};
  motion_start(&m, "nsga-pva");
  for (int k = 0; k < 1000 && hit.evaluations == 0; k++) {
    Work step = work_of_step(&m, 1e-3);
    *(pawl_stepper_instants(m.stepper) > 0 ? &hit : &plain) = step;
  }
  assert_int_equal(plain.evaluations, 2);  // one iteration: the guess, and its end  (N34) (N36)
  assert_int_equal(plain.kkt, 2);
  assert_int_equal(hit.evaluations, 5);
  assert_int_equal(hit.kkt, 7);
  motion_end(&m);
}

// ---- nothing ------------------------------------------------------------------------------------
// A point on a straight track with no force: the guess is the end, to the bit, and so is the smooth
// motion. One evaluation, which is where it goes; nothing is solved.                 (A26) (N35)
static void test_nothing(void** unused) {
  (void)unused;
  Motion m = motion_file("kinked-track", NULL);
  motion_start(&m, "nsga-pvv");
  motion_step(&m, 1e-3);
  for (int k = 0; k < 100; k++) {
    double x = m.state->q[0], v = m.state->v[0];
    long long corrections = pawl_stepper_info(m.stepper).newton_iterations;
    Work step = work_of_step(&m, 1e-3);
    assert_int_equal(step.evaluations, 1);
    assert_int_equal(step.factorizations, 0);
    assert_int_equal(pawl_stepper_info(m.stepper).newton_iterations, corrections + 1);
    assert_true(m.state->q[0] == x + 1e-3 * v && m.state->q[1] == 0.0);
    assert_true(m.state->v[0] == v && m.state->v[1] == 0.0);
  }
  motion_end(&m);
}

// ---- numbers that stay
// --------------------------------------------------------------------------- On the ground, before
// and behind the hole, the rows of the wheel are the same at every place, and about an edge they
// are not: only there is anything factored.
static void test_steady_modes(void** unused) {
  (void)unused;
  Motion m = motion_file("pothole-wheel", NULL);
  int steps[4] = {0};
  motion_start(&m, "event-driven");
  while (m.state->t < 4.0) {
    int before = m.state->modes[0];
    Work step = work_of_step(&m, 1e-3);
    bool edge = before == 1 || before == 2;
    if (before == m.state->modes[0] && steps[before]++ > 0) {
      assert_int_equal(step.factorizations, edge ? 4 : 0);
      assert_int_equal(step.kkt, edge ? 4 : 0);
    }
  }
  assert_true(steps[0] > 1000 && steps[1] > 100 && steps[2] > 100 && steps[3] > 500);
  motion_end(&m);
}

// ---- surfaces far away --------------------------------------------------------------------------
// Steps that are clear of surfaces are known by the state they go on from: one that lies elsewhere
// is stepped with all that there is to look at. The bits are the same, through every switch. (V16b)
static void check_clear(const char* model, double until) {
  Motion m = motion_file(model, NULL), other = motion_file(model, NULL);
  PawlState* beside;
  long long switches = 0;
  motion_start(&m, "event-driven");
  motion_start(&other, "event-driven");
  NEED(pawl_state_create(other.stepper, &beside, &other.err), &other.err);
  while (m.state->t < until) {
    motion_step(&m, 1e-3);
    motion_step(&other, 1e-3);
    NEED(pawl_state_copy(other.stepper, beside, other.stepper, other.state, &other.err),
         &other.err);
    PawlState* room = other.state;
    other.state = beside;
    beside = room;
    switches += pawl_stepper_instants(m.stepper);
    assert_memory_equal(m.state->q, other.state->q, (size_t)m.n.q * sizeof(double));
    assert_memory_equal(m.state->v, other.state->v, (size_t)m.n.v * sizeof(double));
    assert_memory_equal(m.state->a, other.state->a, (size_t)m.n.v * sizeof(double));
    assert_memory_equal(m.state->modes, other.state->modes, (size_t)m.n.modes * sizeof(int));
  }
  assert_true(switches > 0);
  pawl_state_destroy(beside);
  motion_end(&m);
  motion_end(&other);
}

static void test_clear(void** unused) {
  (void)unused;
  check_clear("pothole-wheel", 4.0);
  check_clear("kinked-track", 4.0);
  check_clear("cam-follower", 4.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lock),   cmocka_unit_test(test_lock_beside_conditions),
      cmocka_unit_test(test_impact), cmocka_unit_test(test_nothing),
      cmocka_unit_test(test_clear),  cmocka_unit_test(test_steady_modes),
  };
  return cmocka_run_group_tests_name("work of an instant", tests, NULL, NULL);
}
