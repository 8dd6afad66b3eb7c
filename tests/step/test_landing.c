// SPDX-License-Identifier: Apache-2.0
// Heaps whose rows land on each other: what can hold, holds (T17), and no more than that; and what
// friction of a hit moves (N65).
#include "step/heaps.h"
#include "step/method.h"

// ---- whether impulses within the cones stop a row that lands
// --------------------------------------
enum { MOST_DISCS = 64, MOST_EDGES = 512 };

typedef struct Wall {  // edges of all cones, N + mu T and N - mu T, over x, y and r p of the discs
  int discs, edges;
  double edge[MOST_EDGES][3 * MOST_DISCS];
} Wall;

static void add_contact(Wall* w, double mu, int upper, int lower, double nx, double ny) {
  for (int side = -1; side <= 1; side += 2) {
    double* e = w->edge[w->edges++];
    memset(e, 0, sizeof w->edge[0]);
    double x = nx + side * mu * ny, y = ny - side * mu * nx;
    e[3 * upper] = x;
    e[3 * upper + 1] = y;
    e[3 * upper + 2] = side * mu;
    if (lower >= 0) {
      e[3 * lower] = -x;
      e[3 * lower + 1] = -y;
      e[3 * lower + 2] = side * mu;
    }
  }
}

// Rows 1 to `row` of a pyramid on B discs, s r apart.
static void build_wall(Wall* w, int B, double s, bool touching, double mu, int row) {
  int first = 0, below = 0;
  double up = sqrt(4.0 - s * s / 4);
  w->edges = 0;
  for (int k = 1; k <= row; k++) {
    for (int i = 0; i < B - k + 1; i++) {
      if (k == 1) {
        add_contact(w, mu, i, -1, 0.0, 1.0);
      } else {
        add_contact(w, mu, first + i, below + i, s / 4, up / 2);
        add_contact(w, mu, first + i, below + i + 1, -s / 4, up / 2);
      }
      if (touching && i > 0) {
        add_contact(w, mu, first + i, first + i - 1, 1.0, 0.0);
      }
    }
    below = first;
    first += B - k + 1;
  }
  w->discs = first;
}

// |momentum of the last row - sum y e|, the least for y >= 0, by coordinates in turn, over its
// size.
static double left_of(Wall* w, int last) {
  double left[3 * MOST_DISCS] = {0.0}, y[MOST_EDGES] = {0.0}, sum = 0.0;
  for (int i = w->discs - last; i < w->discs; i++) {
    left[3 * i + 1] = 1.0;
  }
  for (int sweep = 0; sweep < 40000; sweep++) {
    for (int a = 0; a < w->edges; a++) {
      const double* e = w->edge[a];
      double along = 0.0, size = 0.0;
      for (int j = 0; j < 3 * w->discs; j++) {
        along += e[j] * left[j];
        size += e[j] * e[j];
      }
      double by = fmax(along / size, -y[a]);
      y[a] += by;
      for (int j = 0; j < 3 * w->discs; j++) {
        left[j] -= by * e[j];
      }
    }
  }
  for (int j = 0; j < 3 * w->discs; j++) {
    sum += left[j] * left[j];
  }
  return sqrt(sum / last);
}

// Each row that lands can be stopped with all that is below at rest.
static bool can_rest(int B, double s, bool touching, double mu) {
  static Wall wall;
  bool can = true;
  for (int row = 2; row <= B; row++) {
    build_wall(&wall, B, s, touching, mu, row);
    double left = left_of(&wall, B - row + 1);
    assert_true(left < 1e-6 || left > 1e-3);  // it is one or the other
    can = can && left < 1e-6;
  }
  return can;
}

// ---- pyramids -----------------------------------------------------------------------------------
// The largest gap of all contacts.
static double largest_gap(Motion* m) {
  PawlEval* eval = NULL;
  PawlPoint point = state_point(m->state);
  double most = 0.0;
  NEED(pawl_eval_create(m->system, PAWL_POSITION, &eval, &m->err), &m->err);
  NEED(pawl_eval_run(eval, &point, &m->err), &m->err);
  for (int i = 0; i < m->n.rows; i++) {
    bool contact = pawl_system_row_kind(m->system, i) == PAWL_ROW_CONTACT;
    most = contact ? fmax(most, pawl_eval_values(eval)->g[i]) : most;
  }
  pawl_eval_destroy(eval);
  return most;
}

// What does has not come apart on the way: nsga closes gaps, which (N65) leaves closed.
static bool comes_to_rest(bool touching, const char* const* settings, const char* method) {
  Motion m = heap(touching ? TOUCHING : APART, 4, settings);
  motion_start(&m, method);
  for (int i = 0; i < 160; i++) {
    motion_step(&m, 1e-3);
  }
  bool rests = largest_of(m.n.v, m.state->v) < 1e-9;
  assert_true(!rests || strcmp(method, "moreau-jean") == 0 || largest_gap(&m) < 1e-12);
  motion_end(&m);
  return rests;
}

// Those come to rest that can, by all methods and whatever the instants of the hits in their steps.
static void test_pyramids_land(void** unused) {
  (void)unused;
  static const struct {
    int B;
    bool touching;
    double mu;
    const char* settings[4];
  } cases[] = {
      {4, false, 0.75, {"B=4", "s=2.1*r", "mu=0.75", "drop=0.0004"}},
      {4, false, 0.55, {"B=4", "s=2.1*r", "mu=0.55", "drop=0.0004"}},
      {5, false, 0.8, {"B=5", "s=2.1*r", "mu=0.8", "drop=0.0005"}},
      {5, true, 0.8, {"B=5", "s=2*r", "mu=0.8", "drop=0.0005"}},
      {5, true, 0.6, {"B=5", "s=2*r", "mu=0.6", "drop=0.002"}},
      {5, true, 0.4, {"B=5", "s=2*r", "mu=0.4", "drop=0.0005"}},
      {7, true, 0.7, {"B=7", "s=2*r", "mu=0.7", "drop=0.001"}},
  };
  int can = 0, count = (int)(sizeof cases / sizeof *cases);
  for (int k = 0; k < count; k++) {
    bool rests =
        can_rest(cases[k].B, cases[k].touching ? 2.0 : 2.1, cases[k].touching, cases[k].mu);
    can += rests;
    for (int method = 0; method < METHOD_COUNT; method++) {
      assert_int_equal(comes_to_rest(cases[k].touching, cases[k].settings, METHODS[method]), rests);
    }
  }
  assert_int_equal(can, 5);
}

// Puts a line in front of another.
static void insert(char* text, size_t most, const char* before, const char* line) {
  char* at = strstr(text, before);
  size_t room = most - strlen(text);
  assert_true(at && strlen(line) < room);
  memmove(at + strlen(line), at, strlen(at) + 1);
  memcpy(at, line, strlen(line));
}

// A pyramid comes to rest while a block slides past, whose island holds nothing, however fast it
// is: what ends a search for forces that hold is the size of what may hold.                (T17)
static void test_islands_hold(void** unused) {
  (void)unused;
  static const char* const settings[] = {"B=5", "s=2*r", "drop=0.0005"};
  static const double speeds[] = {3.0, 30.0, 300.0};
  for (int k = 0; k < 3 * METHOD_COUNT; k++) {
    double speed = speeds[k / METHOD_COUNT];
    char text[4096], line[64];
    snprintf(text, sizeof text, "%s", TOUCHING);
    snprintf(line, sizeof line, "  w: {rate: %g}\n  z: 0\n", speed);
    insert(text, sizeof text, "define:\n", line);
    insert(text, sizeof text, "potential:", "  w: 1\n  z: 1\nforces: {z: -9.81}\n");
    insert(text, sizeof text, "  ground[", "  block: {gap: z, friction: 0.2, slip: w}\n");
    Motion m = heap(text, 3, settings);
    m.def.step = 1e-3;
    motion_start(&m, METHODS[k % METHOD_COUNT]);
    for (int i = 0; i < 100; i++) {
      motion_step(&m, 1e-3);
    }
    double fastest = 0.0, slides = 0.0;
    for (int j = 0; j < m.n.v; j++) {
      double v = fabs(m.state->v[j]);
      slides = fmax(slides, v);
      fastest = v < 1.0 ? fmax(fastest, v) : fastest;
    }
    assert_true(fastest < 1e-9);
    CHECK_NEAR(slides, speed - 0.2 * 9.81 * 0.1, 1e-9);
    motion_end(&m);
  }
}

// ---- what friction of a hit moves
// ----------------------------------------------------------------- A point falls onto a slope that
// holds it: it stays where it hits, whenever in its step that is. With (N28) in the place of (N65)
// it is moved aside by up to h v sin(a) cos(a)/2, 0.2 mm.
static void test_hit_stays(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pva", "nsga-pvv"};
  for (int k = 0; k < 20; k++) {
    char text[512];
    double y = 0.1 + 2.3e-4 * (k % 10), v = sqrt(2 * 9.81 * y);
    snprintf(text, sizeof text,
             "model: slope\n"
             "coordinates: {x: , y: %.17g}\n"
             "mass: {x: 2, y: 2}\n"
             "potential: 2*9.81*y\n"
             "contacts: {slope: {gap: y*cos(0.6) - x*sin(0.6), friction: 0.9,\n"
             "  slip: x*cos(0.6) + y*sin(0.6)}}\n",
             y);
    Motion m = motion_text(text);
    motion_start(&m, methods[k / 10]);
    for (int i = 0; i < 200; i++) {
      motion_step(&m, 1e-3);
    }
    // The rate of the beginning tells the instant: off by what weight adds to it in a step.
    double most = 0.5 * 9.81 * 1e-6;
    CHECK_NEAR(m.state->q[0], 0.0, most);
    CHECK_NEAR(m.state->q[1], 0.0, most);
    CHECK_NEAR(m.state->v[0], 0.0, 1e-12);
    assert_true(1e-3 * v * sin(0.6) * cos(0.6) / 2 > 50 * most);
    motion_end(&m);
  }
}

// A block that a slope holds does not move when another lands on it: its weight acts all along the
// step, and the hit from its instant on. (As if all of it did, it goes down by 2 um at each.)
static void test_held_stays(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pva", "nsga-pvv"};
  for (int k = 0; k < 20; k++) {
    char text[1024];
    snprintf(
        text, sizeof text,
        "model: slope\n"
        "coordinates: {x: , y: , a: , b: %.17g}\n"
        "mass: {x: 2, y: 2, a: 1, b: 1}\n"
        "potential: 9.81*(2*y + b)\n"
        "contacts:\n"
        "  slope: {gap: y*cos(0.6) - x*sin(0.6), friction: 0.9, slip: x*cos(0.6) + y*sin(0.6)}\n"
        "  top: {gap: (b - y)*cos(0.6) - (a - x)*sin(0.6), friction: 0.9,\n"
        "    slip: (a - x)*cos(0.6) + (b - y)*sin(0.6)}\n",
        0.02 + 6.1e-5 * (k % 10));
    Motion m = motion_text(text);
    motion_start(&m, methods[k / 10]);
    for (int i = 0; i < 100; i++) {
      motion_step(&m, 1e-3);
    }
    CHECK_NEAR(m.state->q[0], 0.0, 1e-11);
    CHECK_NEAR(m.state->q[1], 0.0, 1e-11);
    CHECK_NEAR(m.state->v[3], 0.0, 1e-12);
    motion_end(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pyramids_land),
      cmocka_unit_test(test_islands_hold),
      cmocka_unit_test(test_hit_stays),
      cmocka_unit_test(test_held_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
