// SPDX-License-Identifier: Apache-2.0
// Contacts without friction that depend on each other (docs/theory/nsga.md, "Which contacts are
// closed"): boxes that stand apart from each other, plates on three feet, walls of bricks. Loads
// are shared and add up to the weight, energy never grows, a step allocates nothing, and its cost
// is that of one factorisation, whatever the number.
#include <stdio.h>

#include "step/contacts.h"

static const char BOXES[] =
    "model: boxes\nparameters: {N: 4, drop: 0}\nmechanism: {gravity: [0, 0, -9.81]}\n"
    "bodies:\n  ground: {shapes: {table: {plane: {}}}}\n"
    "  box[i=1..N]: {shape: {box: [0.2, 0.2, 0.1], density: 250}, start: {at: [i, 0, 0.05 + "
    "drop/100]}}\n"
    "contacts:\n  base[i=1..N]: {between: [\"box[i]\", ground.table]}\n";

static const char FEET[] =
    "model: feet\nparameters: {N: 64}\ncoordinates: {'y[i=1..N]': , 'p[i=1..N]': }\n"
    "mass: {'y[i=1..N]': 1, 'p[i=1..N]': 0.1}\npotential: {for i=1..N: '9.81*y[i]'}\n"
    "contacts:\n  a[i=1..N]: {gap: 'y[i] - 0.3*sin(p[i])'}\n  b[i=1..N]: {gap: 'y[i]'}\n"
    "  c[i=1..N]: {gap: 'y[i] + 0.3*sin(p[i])'}\n";

static const double BOX = 0.2 * 0.2 * 0.1 * 250 * 9.81;  // [N]

// The forces of all rows as they are shown; owned by the caller.
static double* forces(Motion* m) {
  double* lambda = calloc((size_t)m->n.rows + 1, sizeof *lambda);
  NEED(pawl_stepper_multipliers(m->stepper, m->state, lambda, &m->err), &m->err);
  return lambda;
}

// Each corner on the floor a quarter, and all of them the weight.
static void check_boxes(Motion* m, int count) {
  double *lambda = forces(m), sum = 0.0;
  int closed = 0;
  for (int i = 0; i < m->n.rows; i++) {
    bool pushes = lambda[i] != 0.0;
    closed += pushes;
    sum += lambda[i];
    if (pushes) {
      CHECK_NEAR(lambda[i], BOX / 4, 1e-9 * BOX);
    }
  }
  assert_int_equal(closed, 4 * count);
  CHECK_NEAR(sum, BOX * count, 1e-10 * BOX * count);
  free(lambda);
}

static const char* number_of(int N, char room[20]) {
  snprintf(room, 20, "N=%d", N);
  return room;
}

// At rest nothing moves and nothing is allocated; one factorisation serves all steps, or a few
// where the method has more than one matrix.
static void test_boxes_rest(void** unused) {
  (void)unused;
  enum { STEPS = 20 };
  static const int numbers[] = {4, 64};
  for (int k = 0; k < 2 * METHOD_COUNT; k++) {
    char room[20];
    Motion m = text_with(BOXES, number_of(numbers[k % 2], room));
    motion_start(&m, METHODS[k / 2]);
    for (int i = 0; i < 3; i++) {
      motion_step(&m, 1e-3);
    }
    long long before = pawl_alloc_count();
    long long factored = pawl_stepper_info(m.stepper).factorizations;
    for (int i = 0; i < STEPS; i++) {
      motion_step(&m, 1e-3);
    }
    assert_int_equal(pawl_alloc_count(), before);
    factored = pawl_stepper_info(m.stepper).factorizations - factored;
    assert_true(factored <= 4 * STEPS);
    if (numbers[k % 2] == 64) {
      assert_true(factored <= STEPS);
    }
    check_boxes(&m, numbers[k % 2]);
    CHECK_NEAR(largest_of(m.n.v, m.state->v), 0.0, 1e-14);
    motion_end(&m);
  }
}

// What is added to the energy in a step, at most, of the energy of the start.
static double run_and_watch(Motion* m, const char* method, double h, int steps) {
  PawlEval* eval = NULL;
  double before = 0.0, first = 0.0, most = -INFINITY;
  motion_start(m, method);
  NEED(pawl_eval_create(m->system, PAWL_ENERGY, &eval, &m->err), &m->err);
  for (int k = 0; k <= steps; k++) {
    if (k > 0) {
      motion_step(m, h);
    }
    PawlPoint p = {.t = m->state->t, .q = m->state->q, .v = m->state->v, .modes = m->state->modes};
    NEED(pawl_eval_run(eval, &p, &m->err), &m->err);
    const double* e = pawl_eval_values(eval)->energy;
    first = k == 0 ? e[0] + e[1] : first;
    most = k > 0 ? fmax(most, e[0] + e[1] - before) : most;
    before = e[0] + e[1];
  }
  pawl_eval_destroy(eval);
  return most / first;
}

// 40 boxes land at once, and stand.
static void test_boxes_land(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    char text[sizeof BOXES + 20];
    snprintf(text, sizeof text, "%s", BOXES);
    memcpy(strstr(text, "N: 4, drop: 0"), "N: 40,drop: 1", 13);
    Motion m = motion_text(text);
    double gain = run_and_watch(&m, METHODS[k], 1e-3, 200);
    assert_true(gain <= 1e-12);
    check_boxes(&m, 40);
    CHECK_NEAR(largest_of(m.n.v, m.state->v), 0.0, 1e-10);
    motion_end(&m);
  }
}

// Three feet in a line share alike, by least squares, also where instants are located.
static void test_feet(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pva", "nsga-pvv", "moreau-jean", "event-driven"};
  for (int k = 0; k < 4; k++) {
    Motion m = text_with(FEET, "N=64");
    motion_run(&m, methods[k], 0.01, 10, NULL);
    double* lambda = forces(&m);
    for (int i = 0; i < m.n.rows; i++) {
      CHECK_NEAR(lambda[i], 9.81 / 3, 1e-9 * 9.81);
    }
    free(lambda);
    motion_end(&m);
  }
}

// A wall of bricks with round corners, `width` by `height`, each on halves of two; mass 1 each.
static Motion wall(int width, int height, double drop) {
  static char text[20000];
  size_t most = sizeof text, n = 0;
  n += (size_t)snprintf(text + n, most - n,
                        "model: wall\nmechanism: {gravity: [0, -9.81]}\nbodies:\n"
                        "  ground: {shapes: {table: {plane: {}}}}\n");
  for (int r = 0; r < height; r++) {
    for (int i = 0; i < width - r % 2; i++) {
      n += (size_t)snprintf(text + n, most - n,
                            "  b%d_%d: {shape: {box: [0.2, 0.1], round: 0.003, density: 50}, "
                            "start: {at: [%.17g, %.17g]}}\n",
                            r, i, 0.202 * i + 0.101 * (r % 2), 0.05 + 0.1 * r + (r + 1) * drop);
    }
  }
  n += (size_t)snprintf(text + n, most - n, "contacts:\n");
  for (int r = 0; r < height; r++) {
    for (int i = 0; i < width - r % 2; i++) {
      if (i > 0) {
        n += (size_t)snprintf(text + n, most - n, "  s%d_%d: {between: [b%d_%d, b%d_%d]}\n", r, i,
                              r, i - 1, r, i);
      }
      for (int k = r % 2 ? 0 : -1; r > 0 && k <= r % 2; k++) {
        if (i + k >= 0 && i + k < width - (r - 1) % 2) {
          n += (size_t)snprintf(text + n, most - n, "  p%d_%d_%d: {between: [b%d_%d, b%d_%d]}\n", r,
                                i, i + k, r - 1, i + k, r, i);
        }
      }
      if (r == 0) {
        n +=
            (size_t)snprintf(text + n, most - n, "  g%d: {between: [b0_%d, ground.table]}\n", i, i);
      }
    }
  }
  assert_true(n < most);
  return motion_text(text);
}

// The sum of all forces on the ground.
static double on_ground(Motion* m) {
  double *lambda = forces(m), sum = 0.0;
  for (int i = 0; i < m->n.rows; i++) {
    int number;
    assert_true(lambda[i] >= 0.0);
    sum += pawl_system_row_name(m->system, i, &number)[0] == 'g' ? lambda[i] : 0.0;
  }
  free(lambda);
  return sum;
}

// Walls stand, also after rows have landed on each other.
static void test_walls(void** unused) {
  (void)unused;
  static const double drops[] = {0.0, 2e-4};
  for (int k = 0; k < 2 * METHOD_COUNT; k++) {
    double drop = drops[k % 2];
    Motion m = wall(4, 4, drop);
    double gain = run_and_watch(&m, METHODS[k / 2], 1e-3, 60);
    assert_true(gain <= 1e-12);
    CHECK_NEAR(on_ground(&m), 14 * 9.81, 1e-6 * 14 * 9.81);
    CHECK_NEAR(largest_of(m.n.v, m.state->v), 0.0, drop > 0.0 ? 1e-3 : 1e-12);  // aside
    motion_end(&m);
  }
}

// The cost of a step of a wall is that of a factorisation or two, whatever its size.
static void test_walls_cost(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = wall(8, 6, 0.0);
    motion_start(&m, METHODS[k]);
    for (int i = 0; i < 3; i++) {
      motion_step(&m, 1e-3);
    }
    long long before = pawl_alloc_count();
    long long factored = pawl_stepper_info(m.stepper).factorizations;
    for (int i = 0; i < 10; i++) {
      motion_step(&m, 1e-3);
    }
    assert_int_equal(pawl_alloc_count(), before);
    assert_true(pawl_stepper_info(m.stepper).factorizations - factored <= 40);
    CHECK_NEAR(on_ground(&m), 45 * 9.81, 1e-6 * 45 * 9.81);
    motion_end(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_boxes_rest), cmocka_unit_test(test_boxes_land),
      cmocka_unit_test(test_feet), cmocka_unit_test(test_walls), cmocka_unit_test(test_walls_cost)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
