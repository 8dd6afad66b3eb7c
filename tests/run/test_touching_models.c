// SPDX-License-Identifier: Apache-2.0
// Models of bodies that touch, against what follows from their formulas.
#include "run/recorded.h"

static Run run_model(const char* name) {
  Run run = run_file(name, NULL, NULL);
  recorded_to_end(&run);
  return run;
}

// The first event of `constraint` into the mode `to` after `t`; NULL without.
static const PawlEvent* find_event(const Run* run, const char* constraint, const char* to,
                                   double t) {
  const PawlRecorder* recorder = pawl_sim_recorder(run->sim);
  for (int k = 0; k < run_events(run); k++) {
    const PawlEvent* event = pawl_recorder_event(recorder, k);
    if (event->t > t && strcmp(event->constraint, constraint) == 0 && strcmp(event->to, to) == 0) {
      return event;
    }
  }
  return NULL;
}

// ---- rimless wheel ----------------------------------------------------------------------------

// Time of a step from the rate w at its beginning, by Simpson's rule over the angle of the leg:
//   J (theta'^2 - w^2)/2 = m g L (cos(a - slope) - cos(theta + slope)), theta from -a to a.
static double step_time(double w, double a, double slope, double mgL, double J) {
  enum { PIECES = 2000 };
  double sum = 0, h = 2 * a / PIECES;
  for (int k = 0; k <= PIECES; k++) {
    double theta = -a + k * h;
    double square = w * w + 2 * mgL / J * (cos(a - slope) - cos(theta + slope));
    sum += (k == 0 || k == PIECES ? 1 : k % 2 ? 4 : 2) / sqrt(square);
  }
  return sum * h / 3;
}

static void test_rimless_wheel(void** unused) {
  (void)unused;
  Run run = run_model("rimless-wheel");
  double pi = acos(-1.0), a = pi / 8, slope = pi / 45, m = 1, L = 0.3, I = 0.01, g = 9.81;
  double J = I + m * L * L, eta = (I + m * L * L * cos(2 * a)) / J;
  double K = 4 * m * g * L * sin(a) * sin(slope) / J, w = eta * sqrt(K / (1 - eta * eta));
  double T = step_time(w, a, slope, m * g * L, J), lost = J / 2 * w * w * (1 / (eta * eta) - 1);
  for (int k = 1; k <= 6; k++) {
    char foot[] = "foot_0";
    foot[5] = (char)('1' + k);
    const PawlEvent* hit = find_event(&run, foot, "hit", 0);
    assert_non_null(hit);
    CHECK_NEAR(hit->t, k * T, 1e-7);
    CHECK_NEAR(hit->energy_lost, lost, 1e-8);
  }
  run_end(&run);
}

// From another rate the steps contract to the same walk by w^2 -> eta^2 (w^2 + K).
static void test_contraction(void** unused) {
  (void)unused;
  Run run = run_file("rimless-wheel", "w0=2.5", NULL);
  run.def.simulate = pawl_model_simulate(run.model);
  run_to(&run, 3, 2e-3);
  double pi = acos(-1.0), a = pi / 8, slope = pi / 45, m = 1, L = 0.3, I = 0.01, g = 9.81;
  double J = I + m * L * L, eta = (I + m * L * L * cos(2 * a)) / J, w = 2.5, t = 0;
  for (int k = 1; k <= 5; k++) {
    char foot[] = "foot_0";
    foot[5] = (char)('1' + k);
    t += step_time(w, a, slope, m * g * L, J);
    w = eta * sqrt(w * w + 4 * m * g * L * sin(a) * sin(slope) / J);
    const PawlEvent* hit = find_event(&run, foot, "hit", 0);
    assert_non_null(hit);
    CHECK_NEAR(hit->t, t, 1e-7);
    CHECK_NEAR(hit->energy_lost, J / 2 * w * w * (1 / (eta * eta) - 1), 1e-8);
  }
  run_end(&run);
}

// ---- train ------------------------------------------------------------------------------------

static void test_train(void** unused) {
  (void)unused;
  Run run = run_model("train");
  double v0 = 2, m = 2e4, e = 0.4, slack = 0.1, gap = 1.5, t = gap / v0;
  for (int k = 1; k < 5; k++) {
    char buffer[32], coupling[32];
    snprintf(buffer, sizeof buffer, "buffer[%d]", k);
    snprintf(coupling, sizeof coupling, "coupling[%d]", k);
    const PawlEvent *hit = find_event(&run, buffer, "hit", 0),
                    *held = find_event(&run, coupling, "locked", 0);
    assert_true(hit && held);
    double reduced = m * k / (k + 1), v = v0 / k, wait = slack / (e * v);
    CHECK_NEAR(hit->t, t, 1e-9);
    CHECK_NEAR(hit->energy_lost, reduced / 2 * v * v * (1 - e * e), 1e-6);
    CHECK_NEAR(held->t, t + wait, 1e-9);
    CHECK_NEAR(held->energy_lost, reduced / 2 * v * v * e * e, 1e-6);
    // The wagon that was hit goes ahead while the coupling is slack.
    t += wait + (gap - v * k * (1 + e) / (k + 1) * wait) * (k + 1) / v0;
  }
  CHECK_NEAR(final_of(&run, "speed[1]"), 0.4, 1e-12);
  CHECK_NEAR(final_of(&run, "speed[5]"), 0.4, 1e-12);
  run_end(&run);
}

// ---- gripper ----------------------------------------------------------------------------------

static void test_gripper(void** unused) {
  (void)unused;
  Run run = run_model("gripper");
  double F = 20, c = 20, m = 0.2, close = 0.5507, low = 0, high = 0.1;
  for (int k = 0; k < 60; k++) {  // the way of a finger against its damping
    double t = (low + high) / 2;
    *(F / c * (t - m / c * (1 - exp(-c / m * t))) < 0.02 ? &low : &high) = t;
  }
  const PawlEvent *hit = find_event(&run, "inner", "hit", 0),
                  *fall = find_event(&run, "table_1", "hit", 2.5);
  assert_true(hit && fall);
  CHECK_NEAR(hit->t, close + low, 1e-8);
  // The impulse of the pads is enough to take the box with them from there on.
  double height = 0.2 - 0.1 * (1 + erf((close + low - 0.7) / 0.12));
  CHECK_NEAR(fall->t, 2.5 + sqrt(2 * height / 9.81), 1e-6);
  CHECK_NEAR(final_of(&run, "load.x"), 0.4, 1e-9);
  CHECK_NEAR(final_of(&run, "load.y"), 0.05, 1e-9);
  run_end(&run);
}

// ---- Geneva drive -----------------------------------------------------------------------------

// Rate of the wheel over that of the driver at the angle w of the pin, for c = sqrt(2) r.
static double geneva_ratio(double w) {
  return (sqrt(2) * cos(w) - 1) / (3 - 2 * sqrt(2) * cos(w));
}

// The wheel follows the pin, stands else, and the energy that it has is that of the driver: while
// it turns, w'^2 (J1 + J2 ratio^2) = J1 rate^2, whose time is found by Simpson's rule.
static void test_geneva(void** unused) {
  (void)unused;
  enum { PIECES = 2000 };
  Run run = run_model("geneva");
  double pi = acos(-1.0), J1 = 2e-3, J2 = 1e-3, rate = 6, sum = 0, h = pi / 2 / PIECES;
  for (int k = 0; k <= PIECES; k++) {
    double ratio = geneva_ratio(-pi / 4 + k * h);
    sum += (k == 0 || k == PIECES ? 1 : k % 2 ? 4 : 2) * sqrt(1 + J2 / J1 * ratio * ratio);
  }
  double inside = sum * h / 3 / rate, t = pi / 4 / rate, turn = inside + 1.5 * pi / rate;
  for (int k = 0; k < 5; k++) {
    const char* slot = k % 2 ? "even" : "odd";
    const PawlEvent *enter = find_event(&run, slot, "engaged", k * turn),
                    *leave = find_event(&run, slot, "released", k * turn);
    assert_true(enter && leave);
    CHECK_NEAR(enter->t, t + k * turn, 1e-6);
    CHECK_NEAR(leave->t, t + k * turn + inside, 1e-6);
    CHECK_NEAR(enter->energy_lost, 0.0, 1e-12);
    CHECK_NEAR(leave->energy_lost, 0.0, 1e-12);
  }
  const PawlRecorder* recorder = pawl_sim_recorder(run.sim);
  for (int s = 0; s < pawl_recorder_sample_count(recorder); s++) {
    const double* q = pawl_recorder_sample(recorder, s) + 1;  // behind t
    double turns = round(q[0] / (2 * pi)), w = q[0] - 2 * pi * turns;
    w = fmax(-pi / 4, fmin(pi / 4, w));
    CHECK_NEAR(q[1], -turns * pi / 2 - atan2(sin(w), sqrt(2) - cos(w)), 1e-9);
  }
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rimless_wheel), cmocka_unit_test(test_contraction),
      cmocka_unit_test(test_train),         cmocka_unit_test(test_gripper),
      cmocka_unit_test(test_geneva),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
