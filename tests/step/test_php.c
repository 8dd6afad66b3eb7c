// SPDX-License-Identifier: Apache-2.0
// php: impacts against numbers that no time stepping made, orders across them, energy and momentum,
// the equations of the scheme recomputed here, z and its state, and the jump of src/switch.
#include "step/motion.h"

enum { MOST_HITS = 8 };

typedef struct Hits {
  int count;
  double t[MOST_HITS], v_before[MOST_HITS][3], v_after[MOST_HITS][3], impulse[MOST_HITS];
  double q[MOST_HITS][3];
} Hits;

// Runs to `until` and notes the first impacts.
static Hits hits_of(Motion* m, const char* method, double h, double until) {
  Hits hits = {0};
  motion_start(m, method);
  while (m->state->t < until - 0.5 * h) {
    motion_step(m, h);
    for (int k = 0; k < pawl_stepper_instants(m->stepper) && hits.count < MOST_HITS; k++) {
      const PawlInstant* i = pawl_stepper_instant(m->stepper, k);
      int at = hits.count++;
      hits.t[at] = i->t;
      hits.impulse[at] = i->impulse[m->n.rows - 1];
      for (int j = 0; j < m->n.v; j++) {
        hits.q[at][j] = i->q[j];
        hits.v_before[at][j] = i->v_before[j];
        hits.v_after[at][j] = i->v_after[j];
      }
    }
  }
  return hits;
}

// ---- references ---------------------------------------------------------------------------------
// With 50 digits: times, places, velocities and impulses of impacts.
typedef struct Impact {
  double t, q[3], after[3], impulse;
} Impact;

static const Impact sine[] = {{1.1058890297363453,
                               {1.6058890297363453, -1.9987686285773112},
                               {-0.5248777874238121, 10.88211118308189},
                               21.730882564795436},
                              {3.223402483475696,
                               {0.49445325329747997, -0.9491009206068574},
                               {8.764159722517459, -4.614202468521429},
                               5.276493329579714},
                              {3.3900457390676237,
                               {1.9549413619854341, -1.8542383675027034},
                               {-3.538975070690751, 10.165422382736118},
                               16.414395188614357}};
static const Impact bar[] = {{0.41830443491416053,
                              {0.34172996568126546, 0.12549133047424815, 0.8183044349141605},
                              {-1.2262448257582228, 0.3, 13.602462292085837},
                              2.877321680749692},
                             {0.6646937547446952,
                              {-0.25817491630776024, 0.19940812642340852, 4.169805867081685},
                              {2.2737431871349183, 0.3, -16.801006080678313},
                              5.917067240430685},
                             {0.8162637512811627,
                              {-0.026228509493471747, 0.2448791253843488, 1.6232774336241018},
                              {4.59575014339662, 0.3, 6.020980626839986},
                              3.808908622284448}};
static const Impact wall[] = {
    {0.2759519186505253, {1.0471975511965979}, {-2.8299437410926234}, 6.535475122845291},
    {0.7320375526932383, {-1.0471975511965979}, {6.480078581487318}, 14.965100453566524},
    {1.1881231867359514, {1.0471975511965979}, {-2.8299437410926234}, 6.535475122845291}};

// The largest error of time, place, velocity and impulse, relative to their size (at least 1).
static double error_of(const Hits* hits, const Impact* impacts, int count, int n) {
  double most = 0.0;
  assert_true(hits->count >= count);
  for (int k = 0; k < count; k++) {
    most = fmax(most, fabs(hits->t[k] - impacts[k].t));
    most = fmax(most, fabs(hits->impulse[k] - impacts[k].impulse) / impacts[k].impulse);
    for (int j = 0; j < n; j++) {
      most = fmax(most, fabs(hits->q[k][j] - impacts[k].q[j]) / fmax(1.0, fabs(impacts[k].q[j])));
      most = fmax(most, fabs(hits->v_after[k][j] - impacts[k].after[j]) /
                            fmax(1.0, fabs(impacts[k].after[j])));
    }
  }
  return most;
}

// The errors fall with h^2 from 4e-3 to 5e-4, and are below `fine` then; 1 for uncut.
static void check_reference(const char* model, const char* crossing, const Impact* impacts, int n,
                            double until, double order, double fine) {
  Motion m = motion_file(model, NULL);
  m.def.crossing = crossing;
  Hits rough = hits_of(&m, "php", 4e-3, until), good = hits_of(&m, "php", 5e-4, until);
  double first = error_of(&rough, impacts, 3, n), last = error_of(&good, impacts, 3, n);
  double observed = log(first / last) / log(8.0);
  if (!(last < fine && observed > order - 0.5)) {
    fail_msg("%s %s: errors %.3g, %.3g, order %.2f", model, crossing, first, last, observed);
  }
  motion_end(&m);
}

static void test_references(void** unused) {
  (void)unused;
  check_reference("sine-ground", "free", sine, 2, 3.4, 2, 2e-6);
  check_reference("bouncing-bar", "free", bar, 3, 0.9, 2, 2e-6);
  check_reference("pendulum-wall", "free", wall, 1, 1.2, 2, 2e-5);
  check_reference("pendulum-wall", "momentum", wall, 1, 1.2, 2, 2e-5);
  check_reference("sine-ground", "uncut", sine, 2, 3.4, 1, 2e-2);
}

// Under constant gravity pieces are exact, and with the momentum condition all is.
static void test_exact_pieces(void** unused) {
  (void)unused;
  Motion m = motion_file("sine-ground", NULL);
  m.def.crossing = "momentum";
  Hits hits = hits_of(&m, "php", 0.01, 3.4);
  assert_true(error_of(&hits, sine, 3, 2) < 1e-11);
  motion_end(&m);
}

// The bar on its guide, which bends where the bar begins: against Runge-Kutta steps of 5e-5 s in y
// and theta with the impact map of energy and momentum, by a second program.
static void test_guide(void** unused) {
  (void)unused;
  Motion m = motion_file("bar-on-guide", NULL);
  static const double t[] = {0.4601354887484, 0.6994987425104, 0.8467605133871};
  static const double spin[] = {13.562611989092, -16.744288909790, 5.415941483086};
  double residual = 0.0;
  Hits rough = hits_of(&m, "php", 2e-3, 0.9), fine = hits_of(&m, "php", 2e-4, 0.9);
  assert_int_equal(fine.count, 3);
  for (int k = 0; k < 3; k++) {
    CHECK_NEAR(rough.t[k], t[k], 1e-5);
    CHECK_NEAR(fine.t[k], t[k], 1e-7);
    CHECK_NEAR(fine.v_after[k][2], spin[k], 2e-5);
  }
  motion_start(&m, "php");
  for (int k = 0; k < 900; k++) {
    motion_step(&m, 1e-3);
    double y = m.state->q[0], bend = fmax(0.0, y - 0.5);
    residual = fmax(residual, fabs(m.state->q[1] - 0.5 * bend * bend * bend));
    residual = fmax(residual, fabs(m.state->v[1] - 1.5 * bend * bend * m.state->v[0]));
  }
  assert_true(residual < 1e-12);
  motion_end(&m);
}

// ---- the equations of the scheme ----------------------------------------------------------------
// One bounce of a ball of 2 kg over a floor by hand: y = 0.1, y' = -1, g = 10, h = 0.2. The piece
// before has tau with 0.1 - tau - 5 tau^2 = 0, mean velocity w = -1 - 5 tau and E = m w^2/2 + m g
// 0.05; the piece after begins at 0 with (H9) and (H10), where v = w + 5 h' and
// w^2/2 + 10 h' w/2 = E/m.
static void test_hand_worked(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: ball\ncoordinates: {y: {start: 0.1, rate: -1}}\nmass: {y: 2}\npotential: 20*y\n"
      "contacts: {floor: {gap: y, restitution: 1}}\n");
  double tau = (-1.0 + sqrt(1.0 + 2.0)) / 10.0, w = -1.0 - 5.0 * tau, rest = 0.2 - tau;
  double E = 0.5 * w * w + 0.5;
  double after = -5.0 * rest + sqrt(25.0 * rest * rest + 2.0 * E);  // w of the piece after
  motion_start(&m, "php");
  motion_step(&m, 0.2);
  const PawlInstant* i = pawl_stepper_instant(m.stepper, 0);
  assert_int_equal(pawl_stepper_instants(m.stepper), 1);
  CHECK_NEAR(i->t, tau, 1e-15);
  CHECK_NEAR(i->v_before[0], -1.0 - 10.0 * tau, 1e-14);
  CHECK_NEAR(i->v_after[0], after + 5.0 * rest, 1e-13);
  CHECK_NEAR(i->impulse[0], 2.0 * (i->v_after[0] - i->v_before[0]), 1e-13);
  CHECK_NEAR(m.state->q[0], rest * after, 1e-14);
  CHECK_NEAR(m.state->v[0], after - 5.0 * rest, 1e-13);
  const double* z = pawl_stepper_path(m.stepper, m.state);
  CHECK_NEAR(z[0], -m.state->q[0], 1e-15);  // z has gone on below the floor
  m.def.crossing = "momentum";
  motion_start(&m, "php");
  motion_step(&m, 0.2);
  CHECK_NEAR(m.state->v[0], 1.0 + 10.0 * tau - 10.0 * rest, 1e-14);
  motion_end(&m);
}

// The momentum along the ground is kept at each of some hundred impacts to rounding, and the bar
// keeps that of x.
static void test_tangential_momentum(void** unused) {
  (void)unused;
  static const char* const crossings[] = {"free", "momentum"};
  Motion m = motion_file("sine-ground", NULL);
  for (int c = 0; c < 2; c++) {
    int count = 0;
    m.def.crossing = crossings[c];
    motion_start(&m, "php");
    for (int k = 0; k < 50000; k++) {
      motion_step(&m, 2e-3);
      for (int j = 0; j < pawl_stepper_instants(m.stepper); j++, count++) {
        const PawlInstant* i = pawl_stepper_instant(m.stepper, j);
        double slope = -2.0 * cos(i->q[0]), size = fabs(i->v_before[0]) + fabs(i->v_before[1]);
        double before = i->v_before[0] + slope * i->v_before[1];
        double after = i->v_after[0] + slope * i->v_after[1];
        assert_true(fabs(after - before) < 2e-14 * size);
      }
    }
    assert_true(count > 100);
  }
  motion_end(&m);
}

// ---- energy -------------------------------------------------------------------------------------
static double energy_of(Motion* m, PawlEval* eval) {
  PawlPoint point = {.t = m->state->t, .q = m->state->q, .v = m->state->v};
  NEED(pawl_eval_run(eval, &point, &m->err), &m->err);
  return pawl_eval_values(eval)->energy[0] + pawl_eval_values(eval)->energy[1];
}

static double wander(Motion* m, const char* crossing, double h, int steps) {
  PawlEval* eval;
  double most = 0.0;
  m->def.crossing = crossing;
  motion_start(m, "php");
  NEED(pawl_eval_create(m->system, PAWL_ENERGY, &eval, &m->err), &m->err);
  double begin = energy_of(m, eval);
  for (int k = 0; k < steps; k++) {
    motion_step(m, h);
    most = fmax(most, fabs(energy_of(m, eval) - begin));
  }
  pawl_eval_destroy(eval);
  return most;
}

// 10^5 steps with about 430 impacts. The bound of the momentum condition is that of the midpoint
// rule, by h^2; with the impact time free energy walks by m g^2 h^2/8 and the like at each impact.
static void test_energy(void** unused) {
  (void)unused;
  Motion m = motion_file("pendulum-wall", NULL);
  double rough = wander(&m, "momentum", 2e-3, 100000), fine = wander(&m, "momentum", 1e-3, 100000);
  assert_true(rough < 6e-5 && fine < 1.5e-5);
  assert_true(rough / fine > 3.5 && rough / fine < 4.5);
  assert_true(wander(&m, "free", 2e-3, 100000) < 2e-3);
  assert_true(wander(&m, "uncut", 2e-3, 20000) > 0.1);  // why it is not the default
  motion_end(&m);
}

// ---- z ------------------------------------------------------------------------------------------
// z is continuous through impacts: it moves no more in a step than speed allows, while q' jumps.
// On the circle it turns on and on.
static void check_path(const char* model, double fastest, bool circle) {
  static const double TURN = 6.283185307179586;
  Motion m = motion_file(model, NULL);
  double before[3], h = 1e-3;
  int passed = 0;
  motion_start(&m, "php");
  memcpy(before, pawl_stepper_path(m.stepper, m.state), (size_t)m.n.v * sizeof(double));
  for (int k = 0; k < 3000; k++) {
    motion_step(&m, h);
    const double* z = pawl_stepper_path(m.stepper, m.state);
    for (int j = 0; j < m.n.v; j++) {
      double moved = fabs(z[j] - before[j]);
      passed += circle && moved > 0.5 * TURN;
      moved = circle ? fmin(moved, TURN - moved) : moved;
      assert_true(moved < fastest * h);
      before[j] = z[j];
    }
  }
  assert_true(!circle || passed >= 2);  // z went round twice
  motion_end(&m);
}

// z' does not jump where q' does: the first impact of the particle, from 9.7 to 11.4 m/s of x and
// y.
static void test_path_rate(void** unused) {
  (void)unused;
  Motion m = motion_file("sine-ground", NULL);
  double z[3][2] = {{0}}, h = 1e-5;
  motion_start(&m, "php");
  int after = 0;
  while (after < 2) {
    memcpy(z[0], z[1], sizeof z[0]);
    memcpy(z[1], z[2], sizeof z[1]);
    motion_step(&m, h);
    memcpy(z[2], pawl_stepper_path(m.stepper, m.state), sizeof z[2]);
    after += after > 0 || pawl_stepper_instants(m.stepper) > 0;
  }
  for (int j = 0; j < 2; j++) {  // the middle step holds the impact
    double change = (z[2][j] - 2.0 * z[1][j] + z[0][j]) / h;
    assert_true(fabs(change) < 0.02);
  }
  motion_end(&m);
}

static void test_path(void** unused) {
  (void)unused;
  check_path("sine-ground", 60.0, false);
  check_path("bouncing-bar", 60.0, false);
  check_path("pendulum-wall", 30.0, true);
}

// ---- the jump of src/switch ---------------------------------------------------------------------
// A v = 2 v0 - v with v0 the velocity after the contact has become a constraint (law post).
static void test_jump(void** unused) {
  (void)unused;
  Motion lock = motion_text(
      "model: caught\ncoordinates: {y: {start: 0.34835335467358275, rate: -1}, x: {rate: 0.2},\n"
      "  theta: {start: -0.8, rate: 3}}\nmass: {y: 1, x: 1, theta: 1/12}\n"
      "constraints:\n  ground: {equation: y = cos(theta)/2, at: 1e-9, on: keep}\n");
  Motion bounce = motion_text(
      "model: bounce\ncoordinates: {y: {start: 0.34835335467358275, rate: -1}, x: {rate: 0.2},\n"
      "  theta: {start: -0.8, rate: 3}}\nmass: {y: 1, x: 1, theta: 1/12}\n"
      "contacts: {floor: {gap: y - cos(theta)/2, restitution: 1}}\n");
  bounce.def.crossing = "momentum";
  motion_start(&lock, "rk4");
  motion_step(&lock, 2e-9);
  motion_start(&bounce, "php");
  motion_step(&bounce, 2e-9);
  const PawlInstant *caught = pawl_stepper_instant(lock.stepper, 0),
                    *hit = pawl_stepper_instant(bounce.stepper, 0);
  for (int j = 0; j < 3; j++) {
    CHECK_NEAR(hit->v_after[j], 2.0 * caught->v_after[j] - caught->v_before[j], 1e-7);
  }
  CHECK_NEAR(hit->impulse[0], 2.0 * caught->impulse[0], 1e-7);
  motion_end(&lock);
  motion_end(&bounce);
}

// ---- smooth motion and failures -----------------------------------------------------------------
// Without a contact: the variational midpoint rule with M(q), order 2, against rk4.
static void test_smooth(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: double\ncoordinates: {a: {start: 1.5}, b: {start: 0.5}}\n"
      "define: {x1: sin(a), y1: -cos(a), x2: x1 + sin(b), y2: y1 - cos(b)}\n"
      "kinetic: (x1'^2 + y1'^2 + x2'^2 + y2'^2)/2\npotential: 9.81*(y1 + y2)\n");
  Reference r = {.t = 1.0};
  motion_run(&m, "rk4", 1.0, 4000, NULL);
  memcpy(r.q, m.state->q, 2 * sizeof(double));
  memcpy(r.v, m.state->v, 2 * sizeof(double));
  check_order(&m, "php", 2, 0.1, 5e-3, 1, &r);
  motion_end(&m);
}

static void test_failures(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: resting\ncoordinates: {y: }\nmass: {y: 1}\npotential: 9.81*y\n"
      "contacts: {floor: {gap: y, restitution: 1}}\n");
  motion_start(&m, "php");
  assert_int_equal(pawl_stepper_step(m.stepper, m.state, 1e-3, &m.err), PAWL_RETRY);
  assert_non_null(strstr(m.err.message, "php knows impacts, not contacts that graze"));
  assert_true(m.state->t == 0.0 && m.state->q[0] == 0.0 && m.state->v[0] == 0.0);
  PawlStepper* stepper;
  m.def.crossing = "cut";
  assert_int_equal(pawl_stepper_create(m.system, &m.def, &stepper, &m.err), PAWL_ERROR_USAGE);
  assert_non_null(strstr(m.err.message, "crossing = cut: must be free, momentum or uncut"));
  motion_end(&m);
}

// Two impacts in one step of a ball between its top and the floor, and many.
static void test_several_in_a_step(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: ball\ncoordinates: {y: {start: 0.01}}\nmass: {y: 1}\npotential: 9.81*y\n"
      "contacts: {floor: {gap: y, restitution: 1}}\nsimulate: {crossing: momentum}\n");
  motion_start(&m, "php");
  motion_step(&m, 0.2);  // a bounce takes 0.0903 s
  assert_int_equal(pawl_stepper_instants(m.stepper), 2);
  CHECK_NEAR(pawl_stepper_instant(m.stepper, 0)->t, sqrt(0.02 / 9.81), 1e-15);
  CHECK_NEAR(pawl_stepper_instant(m.stepper, 1)->t, 3.0 * sqrt(0.02 / 9.81), 1e-14);
  CHECK_NEAR(0.5 * m.state->v[0] * m.state->v[0] + 9.81 * m.state->q[0], 0.0981, 1e-14);
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_references),
                                     cmocka_unit_test(test_exact_pieces),
                                     cmocka_unit_test(test_guide),
                                     cmocka_unit_test(test_hand_worked),
                                     cmocka_unit_test(test_tangential_momentum),
                                     cmocka_unit_test(test_energy),
                                     cmocka_unit_test(test_path),
                                     cmocka_unit_test(test_path_rate),
                                     cmocka_unit_test(test_jump),
                                     cmocka_unit_test(test_smooth),
                                     cmocka_unit_test(test_failures),
                                     cmocka_unit_test(test_several_in_a_step)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
