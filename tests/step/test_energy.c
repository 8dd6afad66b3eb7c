// SPDX-License-Identifier: Apache-2.0
// Energy never grows: random bins, columns of bricks and pyramids, from 1 to 1000 kg, with friction
// from 0 to 1 and restitutions from 0 to 1, by the methods that step in time. What is asked of each
// step is less than ROUNDING of the energy of the start, above the floor. bench/energy.c has more
// of them, and says what steps would add.                                      (T26)
#include "step/bins.h"
#include "step/heaps.h"

static const double ROUNDING = 1e-12;
static const double MASSES[] = {1.0, 1000.0}, MU[] = {0.0, 0.3, 1.0};
static const double E[] = {0.0, 0.5, 1.0, -1.0};
enum { HALVINGS = 10, STEPS = 250, LONG = 400 };

static void take(Motion* m, double h, int halvings) {
  PawlStatus status = pawl_stepper_step(m->stepper, m->state, h, &m->err);
  if (status == PAWL_RETRY && halvings > 0) {
    take(m, h / 2, halvings - 1);
    take(m, h / 2, halvings - 1);
    return;
  }
  NEED(status, &m->err);
}

static double energy(Motion* m, PawlEval* eval) {
  PawlPoint point = state_point(m->state);
  NEED(pawl_eval_run(eval, &point, &m->err), &m->err);
  return pawl_eval_values(eval)->energy[0] + pawl_eval_values(eval)->energy[1];
}

// The most that a step adds, of the energy of the start; how much of that is left at the end.
static double largest_rise(Motion* m, const char* method, int steps, double* left) {
  PawlEval* eval = NULL;
  NEED(pawl_eval_create(m->system, PAWL_ENERGY, &eval, &m->err), &m->err);
  motion_start(m, method);
  double first = energy(m, eval), before = first, most = 0.0;
  for (int k = 0; k < steps; k++) {
    take(m, 1e-3, HALVINGS);
    double now = energy(m, eval);
    most = fmax(most, now - before);
    before = now;
  }
  *left = before / first;
  pawl_eval_destroy(eval);
  return most / first;
}

static void check_bins(BinKind kind, int count, int bodies) {
  static char text[BIN_TEXT];
  double least = 1.0;
  for (int k = 0; k < count; k++) {
    Bin bin = {.kind = kind,
               .seed = (unsigned)k,
               .bodies = bodies,
               .heaviest = MASSES[k % 2],
               .mu = MU[k % 3],
               .e = E[(k + k / 4) % 4]};
    Motion m = motion_text(bin_text(&bin, text));
    for (int method = 0; method < METHOD_COUNT; method++) {
      double left;
      assert_true(largest_rise(&m, METHODS[method], STEPS, &left) <= ROUNDING);
      least = fmin(least, left);
    }
    motion_end(&m);
  }
  assert_true(least < 0.999);  // they do fall, and hit
}

static void test_discs(void** unused) {
  (void)unused;
  check_bins(BIN_DISCS, 12, 6);
}

static void test_boxes(void** unused) {
  (void)unused;
  check_bins(BIN_BOXES, 6, 4);
}

static void test_spheres(void** unused) {
  (void)unused;
  check_bins(BIN_SPHERES, 6, 5);
}

static void test_columns(void** unused) {
  (void)unused;
  check_bins(BIN_COLUMN, 6, 4);
}

// Boxes that turn about their corners, without friction: some come off with large forces, and their
// gradients turn by half a radian in a step. Contacts push by impulses alone there.  (N62) (N63)
// Of the first, which has added 3.7e-5 without that, single steps add 2e-7 with other rounding than
// that of machine code: what remains.
static void test_boxes_come_off(void** unused) {
  (void)unused;
  static char text[BIN_TEXT];
  static const Bin bins[] = {{.kind = BIN_BOXES, .bodies = 6, .heaviest = 1.0, .e = 0.0},
                             {.kind = BIN_BOXES, .bodies = 6, .heaviest = 1000.0, .e = 0.9},
                             {.kind = BIN_BOXES, .bodies = 6, .heaviest = 1000.0, .e = 1.0}};
  static const double most[] = {1e-6, 1e-12, 1e-12};
  for (int k = 0; k < 3; k++) {
    Motion m = motion_text(bin_text(&bins[k], text));
    double left;
    assert_true(largest_rise(&m, "nsga-pva", LONG, &left) <= most[k]);
    motion_end(&m);
  }
}

static void test_pyramids(void** unused) {
  (void)unused;
  static const char* const settings[][4] = {{"B=5", "s=2*r", "drop=0.0005", "mu=0.8"},
                                            {"B=4", "s=2*r", "drop=0.0005", "mu=0.3"},
                                            {"B=5", "s=2.1*r", "drop=0.0005", "mu=0.5"}};
  for (int k = 0; k < 3; k++) {
    Motion m = heap(TOUCHING, 4, settings[k]);
    double left;
    for (int method = 0; method < METHOD_COUNT; method++) {
      assert_true(largest_rise(&m, METHODS[method], STEPS, &left) <= ROUNDING);
    }
    motion_end(&m);
  }
}

// A ball that bounces on a hill, and two that bounce on the ground and on each other, with e = 1:
// nothing is lost but what hits may gain by the turning of the hill, and nothing gained. (T15)
// (N38)
static void test_elastic(void** unused) {
  (void)unused;
  static const char text[] =
      "model: bounces\n"
      "coordinates: {X: {start: 0.15}, Y: {start: 1.4}, y: {start: 0.4, rate: 1},\n"
      "  z: {start: 0.9, rate: -1}}\n"
      "mass: {X: 1, Y: 1, y: 1, z: 2}\n"
      "potential: 9.81*(Y + y + 2*z)\n"
      "contacts:\n"
      "  hill: {gap: 'hypot(X, Y) - 1.1', restitution: 1}\n"
      "  floor: {gap: y, restitution: 1}\n"
      "  pair: {gap: z - y - 0.2, restitution: 1}\n";
  for (int method = 0; method < METHOD_COUNT; method++) {
    Motion m = motion_text(text);
    double left;
    assert_true(largest_rise(&m, METHODS[method], STEPS, &left) <= ROUNDING);
    CHECK_NEAR(left, 1.0, 1e-3);
    motion_end(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_discs),          cmocka_unit_test(test_boxes),
      cmocka_unit_test(test_spheres),        cmocka_unit_test(test_columns),
      cmocka_unit_test(test_elastic),        cmocka_unit_test(test_pyramids),
      cmocka_unit_test(test_boxes_come_off),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
