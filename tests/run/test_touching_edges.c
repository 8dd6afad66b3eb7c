// SPDX-License-Identifier: Apache-2.0
// Capsules and boxes that touch each other in space: distances against those that the test finds,
// impacts, forces and sliding against closed forms.
#include "run/recorded.h"

enum { TEXT = 20000, MOST = 6 };

// ---- distances ----------------------------------------------------------------------------------

// d + sum of x_k e_k with x_k from -h_k to h_k: the shapes within the layers of two bodies.
typedef struct Spread {
  int count;
  double d[3], e[MOST][3], h[MOST];
} Spread;

static double dot3(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Gauss' elimination with pivots on the diagonal; false where the matrix is singular.
static bool solve(int n, double A[MOST][MOST], double b[MOST]) {
  for (int k = 0; k < n; k++) {
    if (A[k][k] < 1e-9) {
      return false;
    }
    for (int i = k + 1; i < n; i++) {
      double f = A[i][k] / A[k][k];
      for (int j = k; j < n; j++) {
        A[i][j] -= f * A[k][j];
      }
      b[i] -= f * b[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) {
      b[k] -= A[k][j] * b[j];
    }
    b[k] /= A[k][k];
  }
  return true;
}

// The length where the x_k of `set` (base 3: low, free, high) are on their bounds and the others
// make it least; infinite where these are beyond their bounds.
static double length_of(const Spread* s, int set) {
  double p[3] = {s->d[0], s->d[1], s->d[2]}, A[MOST][MOST], b[MOST];
  int free[MOST], n = 0;
  for (int k = 0, rest = set; k < s->count; k++, rest /= 3) {
    if (rest % 3 == 1) {
      free[n++] = k;
      continue;
    }
    for (int i = 0; i < 3; i++) {
      p[i] += (rest % 3 - 1) * s->h[k] * s->e[k][i];
    }
  }
  for (int i = 0; i < n; i++) {
    b[i] = -dot3(p, s->e[free[i]]);
    for (int j = 0; j < n; j++) {
      A[i][j] = dot3(s->e[free[i]], s->e[free[j]]);
    }
  }
  if (n > 3 || !solve(n, A, b)) {
    return INFINITY;
  }
  for (int i = 0; i < n; i++) {
    if (fabs(b[i]) > s->h[free[i]]) {
      return INFINITY;
    }
    for (int j = 0; j < 3; j++) {
      p[j] += b[i] * s->e[free[i]][j];
    }
  }
  return sqrt(dot3(p, p));
}

static double distance_of(const Spread* s) {
  int sets = 1;
  double least = INFINITY;
  for (int k = 0; k < s->count; k++) {
    sets *= 3;
  }
  for (int set = 0; set < sets; set++) {
    least = fmin(least, length_of(s, set));
  }
  return least;
}

// A body as it was recorded: its place and the axes of its shape with their half lengths.
static void add_shape(const Run* run, int sample, char body, const double h[3], double sign,
                      Spread* s) {
  char name[32];
  for (int i = 0; i < 3; i++) {
    snprintf(name, sizeof name, "%c_at.%c", body, 'x' + i);
    s->d[i] += sign * value_at(run, sample, name);
  }
  for (int k = 0; k < 3; k++) {
    if (h[k] == 0.0) {
      continue;
    }
    for (int i = 0; i < 3; i++) {
      snprintf(name, sizeof name, "%c_%c.%c", body, 'x' + k, 'x' + i);
      s->e[s->count][i] = value_at(run, sample, name);
    }
    s->h[s->count++] = h[k];
  }
}

typedef struct Shape {
  const char* text;
  double half[3];  // of the axes within its layer
} Shape;

static const Shape CAPSULE = {"capsule: [0.1, 0.8]", {0, 0, 0.4}};
static const Shape SHORT = {"capsule: [0.05, 0.5]", {0, 0, 0.25}};
static const Shape BOX = {"box: [0.5, 0.3, 0.2]", {0.25, 0.15, 0.1}};
static const Shape ROUND = {"box: [0.4, 0.4, 0.6], round: 0.05", {0.15, 0.15, 0.25}};

// As the second of two boxes: the layer of (C5), 0.01 of its shortest edge.
static const Shape SHARP = {"box: [0.4, 0.5, 0.6]", {0.196, 0.246, 0.296}};

// Numbers of edges of cubes are equal or opposite.
static const Shape CUBE = {"box: [0.4, 0.4, 0.4]", {0.2, 0.2, 0.2}};
static const Shape SHARP_CUBE = {"box: [0.4, 0.4, 0.4]", {0.196, 0.196, 0.196}};

static void write_outputs(char* text, int points) {
  size_t used = strlen(text);
  for (int k = 1; k <= points; k++) {
    used += (size_t)snprintf(text + used, TEXT - used, "  g%d: norm(touch_%d.span)\n", k, k);
  }
  for (int k = 0; k < 8; k++) {
    char body = k < 4 ? 'a' : 'b';
    used += k % 4 == 3
                ? (size_t)snprintf(text + used, TEXT - used, "  %c_at: %c.at\n", body, body)
                : (size_t)snprintf(text + used, TEXT - used, "  %c_%c: \"%c.R*[%d, %d, %d]\"\n",
                                   body, 'x' + k % 4, body, k % 4 == 0, k % 4 == 1, k % 4 == 2);
  }
  assert_true(used < TEXT);
}

// The least of all spans is the distance of what is within the layers, in every pose of bodies
// that pass each other and turn; no span is less.
static void check_distance(Shape a, Shape b, int points) {
  static char text[TEXT];
  snprintf(text, TEXT,
           "model: passing\nbodies:\n"
           "  a: {mass: 2, inertia: [1, 2, 3], shape: {%s}, start: {at: [-1.2, 0.2, 0.9]}, rate: "
           "{velocity: [2.4, 0.1, -0.2], omega: [3, 4, 5]}}\n"
           "  b: {mass: 3, inertia: [1, 1, 2], shape: {%s}, start: {rotation: {xyz: [0.3, 0.4, "
           "0.5]}}, rate: {omega: [3, 7, -4]}}\n"
           "contacts: {touch: {between: [a, b]}}\n"
           "simulate: {method: event-driven, smooth: rk4, until: 1, step: 0.02}\noutputs:\n",
           a.text, b.text);
  write_outputs(text, points);
  Run run = run_all(text);
  assert_int_equal(run_events(&run), 0);
  assert_true(points < 100 || pawl_system_info(run.system).largest_lanes >= 16);  // edges are alike
  double closest = INFINITY;
  for (int s = 0; s < sample_count(&run); s++) {
    Spread spread = {0};
    add_shape(&run, s, 'a', a.half, 1, &spread);
    add_shape(&run, s, 'b', b.half, -1, &spread);
    double least = INFINITY, distance = distance_of(&spread);
    for (int k = 1; k <= points; k++) {
      char name[16];
      snprintf(name, sizeof name, "g%d", k);
      least = fmin(least, value_at(&run, s, name));
    }
    CHECK_NEAR(least, distance, 1e-12);
    closest = fmin(closest, distance);
  }
  assert_true(closest < 0.6);
  run_end(&run);
}

static void test_distances(void** unused) {
  (void)unused;
  check_distance(CAPSULE, SHORT, 5);
  check_distance(SHORT, BOX, 22);
  check_distance(BOX, SHORT, 22);
  check_distance(ROUND, BOX, 160);
  check_distance(BOX, SHARP, 160);
  check_distance(CUBE, SHARP_CUBE, 160);
}

// ---- crossed bars -------------------------------------------------------------------------------

// A bar falls across a pole: it rises again to e^2 of the height, and both slide on.
static void test_bounce(void** unused) {
  (void)unused;
  Run run = run_all(
      "model: crossed\nmechanism: {gravity: [0, 0, -10]}\n"
      "bodies:\n"
      "  ground: {shapes: {pole: {capsule: [0.1, 2], turn: \"rotation([0, 1, 0], pi/2)\"}}}\n"
      "  bar: {shape: {capsule: [0.05, 1], density: 100}, rate: {velocity: [0.5, 0, 0]},\n"
      "        start: {at: [0.1, 0, 0.35], rotation: \"rotation([1, 0, 0], pi/2)\"}}\n"
      "contacts: {touch: {between: [ground.pole, bar], restitution: 0.5}}\n"
      "simulate: {method: event-driven, smooth: rk4, until: 0.45, step: 0.01}\n");
  double up = 0.25 * 2, t = 0.05;  // hits at 0.2 s with 2 m/s, again at 0.4 s
  assert_int_equal(run_events(&run), 2);
  CHECK_NEAR(run_event(&run, 0)->t, 0.2, 1e-10);
  CHECK_NEAR(run_event(&run, 1)->t, 0.4, 1e-10);
  CHECK_NEAR(final_of(&run, "bar.centre.z"), 0.15 + up * t - 5 * t * t, 1e-10);
  CHECK_NEAR(final_of(&run, "bar.centre.x"), 0.325, 1e-12);
  run_end(&run);
}

// A beam slides along another one, crossed, on the four places where their edges pass, and stops
// after v^2/(2 mu g); a capsule across it has two, whose forces are those of a lever.
static void test_crossed_beams(void** unused) {
  (void)unused;
  Run run = run_all(
      "model: beams\nmechanism: {gravity: [0, 0, -9.81]}\n"
      "bodies:\n"
      "  ground: {shapes: {beam: {box: [3, 0.2, 0.2], round: 0.01}}}\n"
      "  bar: {shape: {box: [0.2, 1, 0.1], density: 100, round: 0.01}, start: {at: [0.1, 0.03, "
      "0.15]}, rate: {velocity: [0.5, 0, 0]}}\n"
      "contacts: {touch: {between: [ground.beam, bar], friction: 0.2}}\n"
      "outputs: {p: bar.at}\n"
      "simulate: {method: nsga-pva, until: 0.4, step: 0.005}\n");
  CHECK_NEAR(final_of(&run, "p.x"), 0.1 + 0.25 / (2 * 0.2 * 9.81), 2e-3);
  CHECK_NEAR(final_of(&run, "p.y"), 0.03, 1e-6);
  CHECK_NEAR(final_of(&run, "p.z"), 0.15, 1e-6);
  double force = 0, moment = 0;
  int carrying = 0;
  for (int k = 1; k <= 160; k++) {
    char name[32];
    snprintf(name, sizeof name, "lambda(touch_%d)", k);
    char first[40];
    snprintf(first, sizeof first, "lambda(touch_%d, 1)", k);
    double f = final_of(&run, column_of(&run, name) >= 0 ? name : first);
    force += f;
    carrying += f > 1e-6;
    moment += k > 16 ? f : 0;
  }
  CHECK_NEAR(force, 2 * 9.81, 1e-6);
  CHECK_NEAR(moment, force, 1e-6);  // edges alone
  assert_int_equal(carrying, 4);
  run_end(&run);
  run = run_all(
      "model: rod\nmechanism: {gravity: [0, 0, -10]}\n"
      "bodies:\n"
      "  ground: {shapes: {beam: {box: [3, 0.2, 0.2]}}}\n"
      "  rod: {mass: 3, inertia: [0.2, 0.2, 0.01], shape: {capsule: [0.05, 1]}, start: {at: [0.1, "
      "0.04, 0.15], rotation: \"rotation([1, 0, 0], pi/2)\"}}\n"
      "contacts: {touch: {between: [ground.beam, rod]}}\n"
      "simulate: {method: event-driven, smooth: rk4, until: 0.1, step: 0.01}\n");
  double near = 0, far = 0;
  for (int k = 11; k <= 22; k++) {  // edges of the beam along x, at y = -0.1 and 0.1
    char name[32];
    snprintf(name, sizeof name, "lambda(touch_%d)", k);
    double f = final_of(&run, name);
    near += k == 14 ? f : 0;
    far += k == 13 ? f : 0;
  }
  CHECK_NEAR(near, 30 * 0.7, 1e-9);
  CHECK_NEAR(far, 30 * 0.3, 1e-9);
  run_end(&run);
}

// A box on a larger one stands on its corners, without edges.
static void test_standing_box(void** unused) {
  (void)unused;
  Run run = run_all(
      "model: stack\nmechanism: {gravity: [0, 0, -10]}\n"
      "bodies:\n"
      "  ground: {shapes: {table: {box: [1, 1, 0.2], round: 0.01}}}\n"
      "  box: {mass: 4, inertia: [1, 1, 1], shape: {box: [0.2, 0.3, 0.1]}, start: {at: [0.1, 0, "
      "0.15], rotation: {xyz: [0, 0, 0.3]}}}\n"
      "contacts: {touch: {between: [ground.table, box], edges: false, restitution: 0.5}}\n"
      "simulate: {method: nsga-pva, until: 0.1, step: 0.01}\n");
  double force = 0;
  for (int k = 9; k <= 12; k++) {  // the lower corners of the box
    char name[32];
    snprintf(name, sizeof name, "lambda(touch_%d)", k);
    force += final_of(&run, name);
  }
  CHECK_NEAR(force, 40, 1e-9);
  assert_true(column_of(&run, "lambda(touch_17)") < 0);
  CHECK_NEAR(final_of(&run, "box.centre.z"), 0.15, 1e-10);
  run_end(&run);
}

// ---- what is refused ----------------------------------------------------------------------------

static void check_refused(const char* first, const char* second, const char* more,
                          const char* message) {
  char text[1024];
  PawlModel* model = NULL;
  PawlError err;
  snprintf(text, sizeof text,
           "model: refused\nbodies: {a: {mass: 1, inertia: [1, 1, 1], shape: {%s}}, b: {mass: 1, "
           "inertia: [1, 1, 1], shape: {%s}}}\ncontacts: {c: {between: [a, b]%s}}\n",
           first, second, more);
  PawlStatus status = pawl_model_parse(text, strlen(text), "test.yaml", 0, NULL, &model, &err);
  if (status == PAWL_OK || !strstr(err.message, message)) {
    print_error("%s\nexpected: %s\n", status == PAWL_OK ? "it loads" : err.message, message);
    fail();
  }
  pawl_model_destroy(model);
}

static void test_refused(void** unused) {
  (void)unused;
  check_refused("box: [1, 1, 1]", "cylinder: [1, 1]", "",
                "there is no formula between a box and a cylinder; a cylinder touches planes and "
                "spheres: capsule: [r, l]");
  check_refused("cylinder: [1, 1]", "sphere: 1", ", rim: 8", "rim: is for a cylinder on a plane");
  check_refused("box: [1, 1, 1]", "sphere: 1", ", edges: false", "edges: is for boxes");
  check_refused("capsule: [1, 1]", "capsule: [1, 1]", ", edges: 3", "'3': expected true or false");
  check_refused("capsule: [1, 1], round: 0.1", "sphere: 1", "", "corners of a box or polygon");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_distances),     cmocka_unit_test(test_bounce),
      cmocka_unit_test(test_crossed_beams), cmocka_unit_test(test_standing_box),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
