// SPDX-License-Identifier: Apache-2.0
// Contacts between shapes: against closed forms, against models whose gaps and slips were written
// by hand, and against distances and velocities that the test computes from recorded poses.
#include "run/recorded.h"

// Columns of two runs at every sample.
static void check_same(const char* text, const char* hand, const char* const columns[][2],
                       int count, double tolerance) {
  Run a = run_all(text), b = run_all(hand);
  assert_int_equal(sample_count(&a), sample_count(&b));
  for (int s = 0; s < sample_count(&a); s++) {
    for (int k = 0; k < count; k++) {
      CHECK_NEAR(value_at(&a, s, columns[k][0]), value_at(&b, s, columns[k][1]), tolerance);
    }
  }
  run_end(&a);
  run_end(&b);
}

// ---- closed forms in the plane ----------------------------------------------------------------

// A disc rolls down a slope with 2/3 g sin(slope), whichever body comes first.
static void test_rolling_disc(void** unused) {
  (void)unused;
  static const char* const pairs[] = {"wheel, ground", "ground, wheel"};
  for (int k = 0; k < 2; k++) {
    char text[1024];
    snprintf(text, sizeof text,
             "model: rolling\n"
             "mechanism: {gravity: [0, -9.81]}\n"
             "parameters: {a: 20*deg, r: 0.1}\n"
             "bodies:\n"
             "  ground: {shape: {plane: {normal: [3*sin(a), 3*cos(a)]}}}\n"
             "  wheel: {shape: {disc: r, density: 10, at: [0.05, 0]}, start: {at: [r*sin(a) - "
             "0.05, r*cos(a)]}}\n"
             "contacts: {foot: {between: [%s], friction: 0.5}}\n"
             "outputs: {s: \"dot(wheel.centre, [cos(a), -sin(a)])\", slip: norm(foot.velocity), "
             "n: foot.normal}\n"
             "simulate: {method: nsga-pva, until: 1, step: 0.01}\n",
             pairs[k]);
    Run run = run_all(text);
    double s = 9.81 * sin(acos(-1.0) / 9) / 3;  // a t^2/2
    CHECK_NEAR(final_of(&run, "s"), s, 1e-10);
    CHECK_NEAR(final_of(&run, "wheel.angle"), -s / 0.1, 1e-9);
    CHECK_NEAR(final_of(&run, "slip"), 0.0, 1e-9);
    CHECK_NEAR(final_of(&run, "n.x"), (k ? 1 : -1) * sin(acos(-1.0) / 9), 1e-14);
    run_end(&run);
  }
}

// Without friction a disc leaves another one where cos(theta) = 2/3 and v^2 = g l cos(theta).
static void test_ball_on_ball(void** unused) {
  (void)unused;
  Run run = run_all(
      "model: ball-on-ball\n"
      "mechanism: {gravity: [0, -9.81]}\n"
      "bodies:\n"
      "  ground: {shape: {disc: 0.3, at: [0, -0.3]}}\n"
      "  ball: {shape: {disc: 0.2, density: 10}, start: {at: [0, 0.2]}, rate: {velocity: [1e-3, "
      "0]}}\n"
      "contacts: {top: {between: [ground, ball]}}\n"
      "outputs: {c: ball.at.y + 0.3, n: top.normal}\n"
      "simulate: {method: event-driven, smooth: dopri, rtol: 1e-12, until: 2, step: 0.01}\n");
  assert_true(run_events(&run) >= 1);
  const PawlEvent* open = pawl_recorder_event(pawl_sim_recorder(run.sim), 0);
  // From (R + r)(cos theta): v^2 = v0^2 + 2 g l (1 - cos theta) = g l cos(theta).
  double l = 0.5, g = 9.81, c = (2 + 1e-6 / (g * l)) / 3, v = sqrt(g * l * c);
  double t = final_of(&run, "t") - open->t, y = l * c - v * sqrt(1 - c * c) * t - g * t * t / 2;
  CHECK_NEAR(final_of(&run, "c"), y, 1e-8);
  run_end(&run);
}

// A disc slides over the corner of a box, of the same box as a polygon, and of the end of a
// capsule, and leaves where r g cos(theta) = v0^2 + 2 g r (1 - cos theta).
static void test_over_corner(void** unused) {
  (void)unused;
  static const char* const shapes[] = {
      "{box: [1, 0.4], at: [0, -0.2]}",
      "{polygon: [[-0.5, -0.4], [0.5, -0.4], [0.5, 0], [-0.5, 0]]}",
      "{box: [0.4, 1], at: [0, -0.2], turn: pi/2}",
      "{capsule: [0.05, 1], at: [0, -0.05]}",
  };
  for (int k = 0; k < 4; k++) {
    char text[1024];
    double r = k < 3 ? 0.1 : 0.15, g = 9.81, v0 = 0.3;
    snprintf(text, sizeof text,
             "model: corner\n"
             "mechanism: {gravity: [0, -9.81]}\n"
             "bodies:\n"
             "  ground: {shapes: {block: %s}}\n"
             "  ball: {shape: {disc: 0.1, density: 10}, start: {at: [0.35, 0.1]}, rate: {velocity: "
             "[0.3, 0]}}\n"
             "contacts: {edge: {between: [ball, ground.block]}}\n"
             "simulate: {method: event-driven, smooth: dopri, rtol: 1e-12, until: 1, step: 0.01}\n",
             shapes[k]);
    Run run = run_all(text);
    assert_int_equal(run_events(&run), 1);
    const PawlEvent* open = pawl_recorder_event(pawl_sim_recorder(run.sim), 0);
    double c = (v0 * v0 + 2 * g * r) / (3 * g * r), s = sqrt(1 - c * c), v = sqrt(g * r * c);
    double t = 1.0 - open->t;
    CHECK_NEAR(final_of(&run, "ball.centre.x"), 0.5 + r * s + v * c * t, 1e-7);
    CHECK_NEAR(final_of(&run, "ball.centre.y"), r * c - v * s * t - g * t * t / 2 - (r - 0.1),
               1e-7);
    run_end(&run);
  }
}

// Both ends hit at once: it rises to e^2 h.
static void test_flat_capsule(void** unused) {
  (void)unused;
  Run run = run_all(
      "model: flat\n"
      "mechanism: {gravity: [0, -10]}\n"
      "bodies:\n"
      "  ground: {shape: {plane: {at: [3, -0.2]}}}\n"
      "  rod: {shape: {capsule: [0.05, 0.4], density: 10}, start: {at: [0, 0.05]}}\n"
      "contacts: {lie: {between: [rod, ground], restitution: 0.5}}\n"
      "simulate: {method: event-driven, smooth: rk4, until: 0.3, step: 0.01}\n");
  double hit = sqrt(0.04), up = 0.5 * 10 * hit, t = 0.3 - hit;
  CHECK_NEAR(final_of(&run, "rod.centre.y"), -0.15 + up * t - 5 * t * t, 1e-12);
  CHECK_NEAR(final_of(&run, "rod.angle"), 0.0, 1e-12);
  run_end(&run);
}

// Forces of a column of discs at rest are the weights above.
static void test_column(void** unused) {
  (void)unused;
  Run run = run_all(
      "model: column\n"
      "mechanism: {gravity: [0, -10]}\n"
      "parameters: {N: 4, \"r[i=1..N]\": 0.1*i}\n"
      "bodies:\n"
      "  ground: {shape: {plane: {}}}\n"
      "  disc[i=1..N]: {mass: i, inertia: 1, shape: {disc: \"r[i]\"}, start: {at: [0, "
      "\"sum(k=1..i, 2*r[k]) - r[i]\"]}}\n"
      "contacts:\n"
      "  base: {between: [\"disc[1]\", ground], friction: 0.5}\n"
      "  pair[i=1..N-1, j=i+1..N]: {between: [\"disc[i]\", \"disc[j]\"], friction: 0.5}\n"
      "simulate: {method: nsga-pva, until: 0.1, step: 0.01}\n");
  CHECK_NEAR(final_of(&run, "lambda(base)"), 100.0, 1e-9);
  CHECK_NEAR(final_of(&run, "lambda(pair[1,2])"), 90.0, 1e-9);
  CHECK_NEAR(final_of(&run, "lambda(pair[2,3])"), 70.0, 1e-9);
  CHECK_NEAR(final_of(&run, "lambda(pair[3,4])"), 40.0, 1e-9);
  CHECK_NEAR(final_of(&run, "lambda(pair[1,4])"), 0.0, 1e-9);
  CHECK_NEAR(final_of(&run, "disc.centre.y[4]"), 1.6, 1e-12);
  run_end(&run);
}

// ---- models by hand ---------------------------------------------------------------------------

#define BOX_HAND                                                                            \
  "model: box-by-hand\n"                                                                    \
  "parameters: {m: 8, J: 8/12*(0.4^2 + 0.2^2), g: 9.81}\n"                                  \
  "coordinates: {x: {rate: 2}, y: {start: 0.45}, phi: {start: 0.3, rate: 1}}\n"             \
  "mass: {x: m, y: m, phi: J}\n"                                                            \
  "potential: m*g*y\n"                                                                      \
  "contacts:\n"                                                                             \
  "  a: {gap: y - 0.2*sin(phi) - 0.1*cos(phi), restitution: 0.3, friction: 0.4, slip: x - " \
  "0.2*cos(phi) + 0.1*sin(phi)}\n"                                                          \
  "  b: {gap: y + 0.2*sin(phi) - 0.1*cos(phi), restitution: 0.3, friction: 0.4, slip: x + " \
  "0.2*cos(phi) + 0.1*sin(phi)}\n"                                                          \
  "  c: {gap: y - 0.2*sin(phi) + 0.1*cos(phi), restitution: 0.3, friction: 0.4, slip: x - " \
  "0.2*cos(phi) - 0.1*sin(phi)}\n"                                                          \
  "  d: {gap: y + 0.2*sin(phi) + 0.1*cos(phi), restitution: 0.3, friction: 0.4, slip: x + " \
  "0.2*cos(phi) - 0.1*sin(phi)}\n"                                                          \
  "simulate: {method: %s, until: 1.5, step: 0.002}\n"

// A box falls on a corner, tips, slides and comes to rest.
static void test_box(void** unused) {
  (void)unused;
  static const char* const columns[][2] = {{"block.centre.x", "x"},
                                           {"block.centre.y", "y"},
                                           {"block.angle", "phi"},
                                           {"lambda(foot_1)", "lambda(a)"},
                                           {"lambda(foot_2)", "lambda(b)"}};
  static const char* const methods[] = {"nsga-pva", "moreau-jean"};
  for (int k = 0; k < 2; k++) {
    char text[1024], hand[2048];
    snprintf(text, sizeof text,
             "model: box\n"
             "mechanism: {gravity: [0, -9.81]}\n"
             "bodies:\n"
             "  ground: {shape: {plane: {}}}\n"
             "  block: {shape: {box: [0.4, 0.2], density: 100}, start: {at: [0, 0.45], angle: "
             "0.3}, rate: {velocity: [2, 0], omega: 1}}\n"
             "contacts: {foot: {between: [ground, block], restitution: 0.3, friction: 0.4}}\n"
             "simulate: {method: %s, until: 1.5, step: 0.002}\n",
             methods[k]);
    snprintf(hand, sizeof hand, BOX_HAND, methods[k]);
    check_same(text, hand, columns, 3, 1e-10);
    check_same(text, hand, columns + 3, 2, 1e-6);  // forces, of some 1e4 N in impacts
  }
}

// A disc that turns bounces between a wall and a slope.
static void test_corner_of_planes(void** unused) {
  (void)unused;
  static const char* const columns[][2] = {
      {"ball.centre.x", "x"}, {"ball.centre.y", "y"}, {"ball.angle", "phi"}};
  check_same(
      "model: corner\n"
      "mechanism: {gravity: [0, -9.81]}\n"
      "bodies:\n"
      "  ground: {shapes: {slope: {plane: {normal: [0.6, 0.8]}}, wall: {plane: {at: [1, 0], "
      "normal: [-2, 0]}}}}\n"
      "  ball: {shape: {disc: 0.1, density: 100/pi}, start: {at: [0.2, 0.5]}, rate: {velocity: [1, "
      "0], omega: 5}}\n"
      "contacts:\n"
      "  a: {between: [ball, ground.slope], restitution: 0.6, friction: 0.3}\n"
      "  b: {between: [ground.wall, ball], restitution: 0.6, friction: {static: 0.3, kinetic: "
      "0.2}}\n"
      "simulate: {method: nsga-pva, until: 2, step: 0.001}\n",
      "model: corner-by-hand\n"
      "coordinates: {x: {start: 0.2, rate: 1}, y: {start: 0.5}, phi: {rate: 5}}\n"
      "mass: {x: 1, y: 1, phi: 0.005}\n"
      "potential: 9.81*y\n"
      "contacts:\n"
      "  a: {gap: 0.6*x + 0.8*y - 0.1, restitution: 0.6, friction: 0.3, slip: \"0.8*x' - 0.6*y' + "
      "0.1*phi'\"}\n"
      "  b: {gap: 0.9 - x, restitution: 0.6, friction: {static: 0.3, kinetic: 0.2}, slip: \"y' + "
      "0.1*phi'\"}\n"
      "simulate: {method: nsga-pva, until: 2, step: 0.001}\n",
      columns, 3, 1e-10);
}

// ---- space ------------------------------------------------------------------------------------

// Whatever the tilt of the plane: a sphere that slides rolls in the end with 5/7 of its velocity.
static void test_sphere(void** unused) {
  (void)unused;
  static const char* const normals[] = {"[0, 0, 2]", "[0, 1, 0]", "[0.36, 0.48, 0.8]"};
  static const double n[][3] = {{0, 0, 1}, {0, 1, 0}, {0.36, 0.48, 0.8}};
  static const double v[][3] = {{3, 4, 0}, {3, 0, 4}, {0.8, -0.6, 0}};
  for (int k = 0; k < 3; k++) {
    char text[1024];
    snprintf(text, sizeof text,
             "model: sphere\n"
             "mechanism: {gravity: [%.17g, %.17g, %.17g]}\n"
             "bodies:\n"
             "  ground: {shape: {plane: {normal: %s}}}\n"
             "  ball: {shape: {sphere: 0.1, density: 10}, start: {at: [%.17g, %.17g, %.17g]}, "
             "rate: {velocity: [%.17g, %.17g, %.17g]}}\n"
             "contacts: {foot: {between: [ball, ground], friction: 0.5}}\n"
             "outputs: {w: ball.omega}\n"
             "simulate: {method: nsga-pva, until: 1, step: 0.01}\n",
             -10 * n[k][0], -10 * n[k][1], -10 * n[k][2], normals[k], 0.1 * n[k][0], 0.1 * n[k][1],
             0.1 * n[k][2], v[k][0], v[k][1], v[k][2]);
    Run run = run_all(text);
    CHECK_NEAR(final_of(&run, "ball.centre.x'"), 5.0 / 7 * v[k][0], 1e-12);
    CHECK_NEAR(final_of(&run, "ball.centre.y'"), 5.0 / 7 * v[k][1], 1e-12);
    CHECK_NEAR(final_of(&run, "ball.centre.z'"), 5.0 / 7 * v[k][2], 1e-12);
    // w = n x v/r
    CHECK_NEAR(final_of(&run, "w.x"), 50.0 / 7 * (n[k][1] * v[k][2] - n[k][2] * v[k][1]), 1e-11);
    CHECK_NEAR(final_of(&run, "w.z"), 50.0 / 7 * (n[k][0] * v[k][1] - n[k][1] * v[k][0]), 1e-11);
    run_end(&run);
  }
}

// A cylinder rolls down a slope with 2/3 g sin(slope), on its two rims; a can on its rim points,
// a capsule and a brick lie where they should.
static void test_on_plane(void** unused) {
  (void)unused;
  Run run = run_all(
      "model: on-a-plane\n"
      "mechanism: {gravity: [10*sin(0.1), 0, -10*cos(0.1)]}\n"
      "bodies:\n"
      "  ground: {shape: {plane: {}}}\n"
      "  roll: {shape: {cylinder: [0.1, 0.5], density: 10}, start: {at: [0, 0, 0.1], rotation: "
      "\"rotation([1, 0, 0], pi/2)\"}}\n"
      "  can: {shape: {cylinder: [0.1, 0.4], density: 10, at: [0, 0, 0.2]}, start: {at: [0, 2, "
      "1e-3]}}\n"
      "  rod: {shape: {capsule: [0.1, 0.5], density: 10}, start: {at: [0, 4, 0.101], rotation: "
      "\"rotation([0, 1, 0], pi/2)\"}}\n"
      "  brick: {shape: {box: [0.3, 0.2, 0.1], density: 10}, start: {at: [0, 6, 0.06], rotation: "
      "\"rotation([0, 1, 0], 0.05)\"}}\n"
      "contacts:\n"
      "  a: {between: [roll, ground], friction: 0.5}\n"
      "  b: {between: [can, ground], friction: 0.5, rim: 5}\n"
      "  c: {between: [rod, ground], friction: 0.5}\n"
      "  d: {between: [brick, ground], friction: 0.5}\n"
      "simulate: {method: nsga-pva, until: 1, step: 0.005}\n");
  CHECK_NEAR(final_of(&run, "roll.centre.x"), 10 * sin(0.1) / 3, 1e-9);
  CHECK_NEAR(final_of(&run, "roll.centre.z"), 0.1, 1e-12);
  CHECK_NEAR(final_of(&run, "lambda(a_1)"), final_of(&run, "lambda(a_2)"), 1e-9);
  CHECK_NEAR(final_of(&run, "can.centre.z"), 0.2, 1e-9);
  CHECK_NEAR(final_of(&run, "can.centre.z'"), 0.0, 1e-12);
  CHECK_NEAR(final_of(&run, "rod.centre.z"), 0.1, 1e-12);
  CHECK_NEAR(final_of(&run, "brick.centre.z"), 0.05, 1e-9);
  CHECK_NEAR(final_of(&run, "brick.centre.x'"), 0.0, 1e-9);
  run_end(&run);
}

// A sphere that rolls off another one without slip leaves where cos(theta) = 10/17.
static void test_sphere_on_sphere(void** unused) {
  (void)unused;
  Run run = run_all(
      "model: sphere-on-sphere\n"
      "mechanism: {gravity: [0, 0, -9.81]}\n"
      "parameters: {v: 1e-2}\n"
      "bodies:\n"
      "  ground: {shape: {sphere: 0.4, at: [0, 0, -0.4]}}\n"
      "  ball: {shape: {sphere: 0.1, density: 10}, start: {at: [0, 0, 0.1]}, rate: {velocity: "
      "[0.6*v, 0.8*v, 0], omega: [-8*v, 6*v, 0]}}\n"
      "contacts: {top: {between: [ball, ground], friction: 50}}\n"
      "outputs: {c: (ball.at.z + 0.4)/0.5, force: lambda(top)}\n"
      "simulate: {method: nsga-pva, until: 2, step: 0.0005}\n");
  double c = 0;
  for (int s = 0; s < sample_count(&run); s++) {
    if (value_at(&run, s, "force") > 0) {
      c = value_at(&run, s, "c");
    }
  }
  CHECK_NEAR(c, 10.0 / 17, 3e-3);  // the last step before it leaves
  CHECK_NEAR(final_of(&run, "ball.centre.y") / final_of(&run, "ball.centre.x"), 4.0 / 3, 1e-9);
  run_end(&run);
}

// ---- distances and velocities from poses ------------------------------------------------------

typedef struct Pose {
  double x[3], v[3], R[3][3], w[3];  // w in the axes of space
} Pose;

static void rotate(double R[3][3], const double a[3], double out[3], bool back) {
  for (int i = 0; i < 3; i++) {
    out[i] = 0;
    for (int j = 0; j < 3; j++) {
      out[i] += (back ? R[j][i] : R[i][j]) * a[j];
    }
  }
}

static double value_of(const Run* run, int sample, const char* body, const char* part) {
  char name[64];
  snprintf(name, sizeof name, "%s.%s", body, part);
  return value_at(run, sample, name);
}

static Pose pose_of(const Run* run, int s, const char* body) {
  static const char* const parts[] = {"centre.x",  "centre.y",  "centre.z",
                                      "centre.x'", "centre.y'", "centre.z'"};
  static const char* const spins[] = {"R.omega.x", "R.omega.y", "R.omega.z"};
  static const char* const quaternion[] = {"R.q0", "R.q1", "R.q2", "R.q3"};
  Pose p;
  double q[4], spin[3];
  for (int k = 0; k < 3; k++) {
    p.x[k] = value_of(run, s, body, parts[k]);
    p.v[k] = value_of(run, s, body, parts[3 + k]);
    spin[k] = value_of(run, s, body, spins[k]);
  }
  for (int k = 0; k < 4; k++) {
    q[k] = value_of(run, s, body, quaternion[k]);
  }
  for (int i = 0; i < 3; i++) {  // R e_i = e_i + 2 q0 (u x e_i) + 2 u x (u x e_i)
    double e[3] = {i == 0, i == 1, i == 2}, *u = q + 1, a[3], b[3];
    for (int k = 0; k < 3; k++) {
      a[k] = u[(k + 1) % 3] * e[(k + 2) % 3] - u[(k + 2) % 3] * e[(k + 1) % 3];
    }
    for (int k = 0; k < 3; k++) {
      b[k] = u[(k + 1) % 3] * a[(k + 2) % 3] - u[(k + 2) % 3] * a[(k + 1) % 3];
    }
    for (int k = 0; k < 3; k++) {
      p.R[k][i] = e[k] + 2 * q[0] * a[k] + 2 * b[k];
    }
  }
  rotate(p.R, spin, p.w, false);
  return p;
}

static void velocity_at(const Pose* p, const double at[3], double out[3]) {
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    out[k] = p->v[k] + p->w[i] * (at[j] - p->x[j]) - p->w[j] * (at[i] - p->x[i]);
  }
}

// The place of a box, cylinder (r, half) or segment along z that is nearest to x.
static void nearest(int kind, const double size[3], const double x[3], double out[3]) {
  double radius = hypot(x[0], x[1]), shrink = radius > size[0] ? size[0] / radius : 1;
  for (int k = 0; k < 3; k++) {
    out[k] = kind == 0   ? fmax(-size[k], fmin(size[k], x[k]))
             : k == 2    ? fmax(-size[2], fmin(size[2], x[2]))
             : kind == 1 ? shrink * x[k]
                         : 0;
  }
}

// Spheres pass by bodies that fly and turn. Gap, normal and velocity at the contact, of both.
static void test_passing(void** unused) {
  (void)unused;
  static const struct {
    const char* shape;
    int kind;
    double size[3], r;
  } cases[] = {{"box: [0.6, 0.4, 0.2]", 0, {0.3, 0.2, 0.1}, 0},
               {"cylinder: [0.3, 0.4]", 1, {0.3, 0, 0.2}, 0},
               {"capsule: [0.1, 0.8]", 2, {0, 0, 0.4}, 0.1},
               {"sphere: 0.2", 2, {0, 0, 0}, 0.2}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[1024];
    snprintf(text, sizeof text,
             "model: passing\n"
             "bodies:\n"
             "  ball: {shape: {sphere: 0.1, density: 10}, start: {at: [-1, 0.7, 0.3]}, rate: "
             "{velocity: [2, 0.1, -0.2], omega: [3, 4, 5]}}\n"
             "  other: {shape: {%s, density: 10}, start: {at: [0, 0, 0], rotation: {zyx: [0.3, "
             "0.4, 0.5]}}, rate: {velocity: [0.1, 0, 0], omega: [3, 7, -4]}}\n"
             "contacts: {c: {between: [other, ball], friction: 0.3}}\n"
             "outputs: {n: c.normal, at: c.at, v: c.velocity, gap: norm(c.span) - 0.1, along: "
             "c.along, across: c.across}\n"
             "simulate: {method: nsga-pva, until: 1, step: 0.01}\n",
             cases[c].shape);
    Run run = run_all(text);
    for (int s = 0; s < sample_count(&run); s++) {
      Pose ball = pose_of(&run, s, "ball"), other = pose_of(&run, s, "other");
      double d[3], x[3], inner[3], e[3], at[3], on[3], v[3], w[3], length = 0, across = 0;
      for (int k = 0; k < 3; k++) {
        d[k] = ball.x[k] - other.x[k];
      }
      rotate(other.R, d, x, true);
      nearest(cases[c].kind, cases[c].size, x, inner);
      for (int k = 0; k < 3; k++) {
        d[k] = x[k] - inner[k];
        length += d[k] * d[k];
      }
      length = sqrt(length);
      rotate(other.R, d, e, false);
      CHECK_NEAR(value_at(&run, s, "gap"), length - 0.1, 1e-13);
      for (int k = 0; k < 3; k++) {
        at[k] = ball.x[k] - 0.1 * e[k] / length;
        on[k] = cases[c].size[2] > 0 ? at[k] : other.x[k] + cases[c].r * e[k] / length;
      }
      velocity_at(&ball, at, v);
      velocity_at(&other, on, w);
      for (int k = 0; k < 3; k++) {
        char n[] = "n.x", a[] = "at.x", u[] = "v.x", t1[] = "along.x", t2[] = "across.x";
        n[2] = a[3] = u[2] = t1[6] = t2[7] = (char)('x' + k);
        CHECK_NEAR(value_at(&run, s, n), e[k] / length, 1e-12);
        CHECK_NEAR(value_at(&run, s, a), cases[c].size[2] > 0 ? at[k] : on[k], 1e-12);
        CHECK_NEAR(value_at(&run, s, u), v[k] - w[k], 1e-11);
        across += value_at(&run, s, t1) * value_at(&run, s, t2);
      }
      CHECK_NEAR(across, 0.0, 1e-14);
    }
    run_end(&run);
  }
}

// A disc passes a triangle that turns: the distance is the least one to its three edges.
static void test_polygon_distance(void** unused) {
  (void)unused;
  static const double p[4][2] = {{-0.3, -0.2}, {0.5, -0.1}, {-0.1, 0.4}, {-0.3, -0.2}};
  Run run = run_all(
      "model: triangle\n"
      "bodies:\n"
      "  disc: {shape: {disc: 0.1, density: 10}, start: {at: [-1, 0.7]}, rate: {velocity: [2, "
      "0.1]}}\n"
      "  plate: {mass: 3, inertia: 1, shape: {polygon: [[-0.3, -0.2], [0.5, -0.1], [-0.1, 0.4]]}, "
      "rate: {omega: 20}}\n"
      "contacts: {c: {between: [disc, plate]}}\n"
      "outputs: {gap: norm(c.span), x: \"transpose(plate.R)*(disc.at - plate.at)\"}\n"
      "simulate: {method: nsga-pva, until: 1, step: 0.005}\n");
  for (int s = 0; s < sample_count(&run); s++) {
    double x = value_at(&run, s, "x.x"), y = value_at(&run, s, "x.y"), least = 1e9;
    for (int k = 0; k < 3; k++) {
      double ex = p[k + 1][0] - p[k][0], ey = p[k + 1][1] - p[k][1];
      double a = ((x - p[k][0]) * ex + (y - p[k][1]) * ey) / (ex * ex + ey * ey);
      a = fmax(0, fmin(1, a));
      least = fmin(least, hypot(x - p[k][0] - a * ex, y - p[k][1] - a * ey));
    }
    CHECK_NEAR(value_at(&run, s, "gap"), least, 1e-13);
  }
  run_end(&run);
}

// Distance of x to a box with the half edges a, b, or to a segment (b = 0).
static double box_distance(double x, double y, double a, double b) {
  return hypot(fmax(0, fabs(x) - a), fmax(0, fabs(y) - b));
}

// The least one along the segment from x - u to x + u, where it is convex: found in thirds.
static double segment_distance(double x, double y, double ux, double uy, double a, double b) {
  double low = -1, high = 1;
  for (int k = 0; k < 100; k++) {
    double p = low + (high - low) / 3, q = high - (high - low) / 3;
    bool left =
        box_distance(x + p * ux, y + p * uy, a, b) < box_distance(x + q * ux, y + q * uy, a, b);
    *(left ? &high : &low) = left ? q : p;
  }
  return box_distance(x + low * ux, y + low * uy, a, b);
}

// A body passes another one, which turns: capsules and boxes with round corners. The least span is
// that of the lines and boxes within.
static void test_layer_distance(void** unused) {
  (void)unused;
  static const struct {
    const char *first, *second;
    double u, v, a, b;  // half edges within
    int points;
  } cases[] = {{"capsule: [0.1, 0.6]", "box: [0.8, 0.2]", 0.3, 0, 0.4, 0.1, 6},
               {"capsule: [0.1, 0.6]", "capsule: [0.1, 0.8]", 0.3, 0, 0.4, 0, 4},
               {"box: [0.6, 0.4], round: 0.1", "box: [0.8, 0.2]", 0.2, 0.1, 0.4, 0.1, 8},
               {"box: [0.6, 0.4], round: 0.1", "box: [1, 0.4], round: 0.1", 0.2, 0.1, 0.4, 0.1, 8}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    char text[1024], least[256] = "1e9";
    for (int k = 1; k <= cases[c].points; k++) {
      snprintf(least + strlen(least), sizeof least - strlen(least), ", norm(c_%d.span)", k);
    }
    snprintf(text, sizeof text,
             "model: layers\n"
             "bodies:\n"
             "  a: {mass: 1, inertia: 1, shape: {%s}, start: {at: [-1, 0.8]}, rate: {velocity: "
             "[2, 0.1], omega: 3}}\n"
             "  b: {mass: 3, inertia: 1, shape: {%s}, start: {angle: 0.3}, rate: {omega: 0.4}}\n"
             "contacts: {c: {between: [a, b]}}\n"
             "outputs: {d: \"min(%s)\", x: \"transpose(b.R)*(a.at - b.at)\", u: "
             "\"transpose(b.R)*a.R*[1, 0]\"}\n"
             "simulate: {method: nsga-pva, until: 1, step: 0.005}\n",
             cases[c].first, cases[c].second, least);
    Run run = run_all(text);
    for (int s = 0; s < sample_count(&run); s++) {
      double x = value_at(&run, s, "x.x"), y = value_at(&run, s, "x.y"), d = 1e9;
      double ux = value_at(&run, s, "u.x"), uy = value_at(&run, s, "u.y");
      double u = cases[c].u, v = cases[c].v, a = cases[c].a, b = cases[c].b;
      for (int side = -1; side <= 1; side += 2) {  // edges along u, and along the normal of u
        d = fmin(d, segment_distance(x - side * v * uy, y + side * v * ux, u * ux, u * uy, a, b));
        d = fmin(d, segment_distance(x + side * u * ux, y + side * u * uy, -v * uy, v * ux, a, b));
      }
      CHECK_NEAR(value_at(&run, s, "d"), d, 1e-8);
    }
    run_end(&run);
  }
}

// Bricks that stand out by 0.05 over each other: what carries is the lower left corner of the upper
// one and the upper right corner of the lower one, and forces are those of the lever.
static void test_bricks(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pva", "event-driven"};
  for (int k = 0; k < 2; k++) {
    char text[1024];
    snprintf(text, sizeof text,
             "model: bricks\n"
             "mechanism: {gravity: [0, -10]}\n"
             "bodies:\n"
             "  ground: {shape: {plane: {}}}\n"
             "  brick[i=1..3]: {mass: 1, shape: {box: [0.4, 0.2], round: 0.01}, start: {at: "
             "[\"0.05*(i - 1)\", \"0.2*i - 0.1 + 0.01*i\"]}}\n"
             "contacts:\n"
             "  base: {between: [ground, \"brick[1]\"], friction: 0.5}\n"
             "  pile[i=1..2]: {between: [\"brick[i]\", \"brick[i+1]\"], friction: 0.5}\n"
             "simulate: {method: %s, until: 0.2, step: 0.002}\n",
             methods[k]);
    Run run = run_all(text);
    double right = 10 * (0.1 + 0.09) / 0.33, below = 20 * (0.075 + 0.14) / 0.33;
    CHECK_NEAR(final_of(&run, "lambda(pile_4[2])"), right, 1e-8);
    CHECK_NEAR(final_of(&run, "lambda(pile_5[2])"), 10 - right, 1e-8);
    CHECK_NEAR(final_of(&run, "lambda(pile_4[1])"), below, 1e-8);
    CHECK_NEAR(final_of(&run, "lambda(pile_5[1])"), 20 - below, 1e-8);
    CHECK_NEAR(final_of(&run, "lambda(base_2)"), 30 * (0.05 + 0.19) / 0.38, 1e-8);
    CHECK_NEAR(final_of(&run, "brick.centre.y[3]"), 0.5, 1e-9);
    run_end(&run);
  }
}

// A load on two fingers that a joint carries, and a plane that moves: what a body touches is where
// its joint has brought it. The plane lifts a disc by its acceleration and turns it by its slip.
static void test_moving_plane(void** unused) {
  (void)unused;
  Run run = run_all(
      "model: tray\n"
      "mechanism: {gravity: [0, -10]}\n"
      "bodies:\n"
      "  tray: {mass: 1, shapes: {top: {plane: {at: [0, 0.5]}}}}\n"
      "  disc: {shape: {disc: 0.1, density: 10}, start: {at: [0, 0.6]}}\n"
      "joints: {lift: {prismatic: [ground, tray], axis: [0.6, 0.8], drive: 2.5*t^2}}\n"
      "contacts: {foot: {between: [disc, tray.top], friction: 0.5}}\n"
      "outputs: {push: lambda(foot)/disc.mass}\n"
      "simulate: {method: nsga-pva, until: 0.5, step: 0.005}\n");
  // The tray goes sideways with 3 and up with 4: the disc is carried with 1/3 of it.
  CHECK_NEAR(final_of(&run, "disc.centre.x"), 0.125, 1e-9);
  CHECK_NEAR(final_of(&run, "disc.angle"), (0.375 - 0.125) / 0.1, 1e-8);
  CHECK_NEAR(final_of(&run, "disc.centre.y"), 0.6 + 0.5, 1e-9);
  CHECK_NEAR(final_of(&run, "push"), 14.0, 1e-8);
  run_end(&run);
}

// ---- what is refused --------------------------------------------------------------------------

static void check_refused(const char* contact, const char* message) {
  char text[1024];
  PawlModel* model = NULL;
  PawlError err;
  snprintf(text, sizeof text,
           "model: refused\n"
           "bodies:\n"
           "  ground: {shapes: {base: {plane: {}}, dent: {polygon: [[0, 0], [1, 0], [0.2, 0.2], "
           "[0, 1]]}}}\n"
           "  block: {mass: 1, shape: {box: [1, 2]}}\n"
           "  bare: {mass: 1}\n"
           "  brick: {mass: 1, shape: {box: [1, 2]}}\n"
           "  disc[i=1..2]: {mass: 1, shape: {disc: 1}}\n"
           "contacts: {c: {%s}}\n",
           contact);
  PawlStatus status = pawl_model_parse(text, strlen(text), "test.yaml", 0, NULL, &model, &err);
  if (status == PAWL_OK || !strstr(err.message, message)) {
    print_error("%s\nexpected: %s\n", status == PAWL_OK ? "it loads" : err.message, message);
    fail();
  }
  pawl_model_destroy(model);
}

// Sharp corners against each other: those of the second are round within its edges (C5).
static void run_sharp(Run* run, const char* second, double angle) {
  char text[2048];
  snprintf(text, sizeof text,
           "model: sharp\nmechanism: {gravity: [0, -9.81]}\nbodies:\n"
           "  ground: {shapes: {table: {polygon: [[-1, -1], [1, -1], [0.8, 0], [-0.6, 0]]}}}\n"
           "  b: {mass: 2, inertia: 0.1, shape: {%s}, start: {at: [0.7, 0.5], angle: %g}}\n"
           "contacts: {c: {between: [ground.table, b], friction: 0.4, restitution: 0.3}}\n"
           "simulate: {method: event-driven, smooth: rk4, until: 0.6, step: 2e-3}\n",
           second, angle);
  *run = run_all(text);
}

static void test_sharp(void** unused) {
  (void)unused;
  static const char within[] =
      "polygon: [[-0.198, -0.098], [0.198, -0.098], [0.198, 0.098], [-0.198, 0.098]], "
      "round: 0.002";
  static const char* const same[] = {
      "box: [0.4, 0.2]", "box: [0.4, 0.2], round: 0.002",
      "polygon: [[-0.2, -0.1], [0.2, -0.1], [0.2, 0.1], [-0.2, 0.1]]", within};
  Run run[4];
  for (int k = 0; k < 4; k++) {
    run_sharp(&run[k], same[k], 0.4);
    assert_true(fabs(final_of(&run[k], "b.angle") - 0.4) > 0.1);
  }
  for (int k = 1; k < 4; k++) {
    assert_true(compare_runs(&run[0], &run[k], 1e-7) >= 6);  // of a hit on the round of a corner
  }
  for (int k = 0; k < 4; k++) {
    run_end(&run[k]);
  }
}

// (C5) of a polygon with any angles: every edge of what is within the layer is the radius behind
// that of the polygon, and keeps 98 % of its length or more, one of them just that.
static void test_sharp_corners(void** unused) {
  (void)unused;
  static const double corner[5][2] = {
      {-0.3, -0.2}, {0.4, -0.25}, {0.5, 0.1}, {0.1, 0.5}, {-0.35, 0.2}};
  static char text[2048];
  snprintf(text, sizeof text,
           "model: corners\nbodies:\n  ground: {shapes: {table: {box: [1, 1], at: [0, -2]}}}\n"
           "  b: {mass: 2, inertia: 0.1, shape: {polygon: [[-0.3, -0.2], [0.4, -0.25], [0.5, "
           "0.1], [0.1, 0.5], [-0.35, 0.2]]}}\n"
           "contacts: {c: {between: [ground.table, b]}}\noutputs: {r: b.shape_smooth_r, a: "
           "b.shape_smooth_corner_1, b: b.shape_smooth_corner_2, c: b.shape_smooth_corner_3, d: "
           "b.shape_smooth_corner_4, e: b.shape_smooth_corner_5}\n"
           "simulate: {method: event-driven, until: 1e-3}\n");
  Run run = run_all(text);
  double r = final_of(&run, "r"), least = 1.0;
  for (int k = 0; k < 5; k++) {
    char names[4][4] = {"a.x", "a.y", "a.x", "a.y"};
    double in[4];
    for (int i = 0; i < 4; i++) {
      names[i][0] = (char)('a' + (k + i / 2) % 5);
      in[i] = final_of(&run, names[i]);
    }
    const double *p = corner[k], *q = corner[(k + 1) % 5];
    double x = q[0] - p[0], y = q[1] - p[1], length = hypot(x, y);
    for (int i = 0; i < 4; i += 2) {  // to the left of the edge
      CHECK_NEAR((x * (in[i + 1] - p[1]) - y * (in[i] - p[0])) / length, r, 1e-15);
    }
    least = fmin(least, hypot(in[2] - in[0], in[3] - in[1]) / length);
  }
  CHECK_NEAR(least, 0.98, 1e-14);
  run_end(&run);
}

static void test_refused(void** unused) {
  (void)unused;
  check_refused("between: [block, bare]", "the body 'bare' has no shape");
  check_refused("between: [block, ground]", "the body 'ground' has no shape");
  check_refused("between: [block, ground.bass]", "did you mean 'base'");
  check_refused("between: [blok, ground.base]", "'blok' is not a body; did you mean 'block'");
  check_refused("between: [disc, ground.base]", "is a family: which element?");
  check_refused("between: [\"disc[1]\", \"disc[1]\"]", "given twice");
  check_refused("between: [\"disc[1]\", ground.dent]", "turn to the left");
  check_refused("between: [block]", "expected two bodies");
  check_refused("between: [block, ground.base], gap: 1", "gap");
  check_refused("between: [block, ground.base], rim: 2", "3 to 64");
  check_refused("between: [block, ground.base], rim: 5", "rim: is for a cylinder on a plane");
  check_refused("between: [block, ground.base], edges: false",
                "edges: is for boxes and capsules with each other, in space");
}

// On two rails, along x and up: it cannot slip along y, which is no rate at all with coordinates of
// joints. It falls without bouncing, and friction brakes both masses.
static void test_slip_that_cannot_be(void** unused) {
  (void)unused;
  static const char* const coordinates[] = {"joint", "absolute"};
  for (int k = 0; k < 2; k++) {
    char text[1024];
    snprintf(text, sizeof text,
             "model: rails\nmechanism: {gravity: [0, 0, -9.81], coordinates: %s}\nbodies:\n"
             "  ground: {shape: {plane: {}}}\n"
             "  cart: {mass: 1, inertia: [1, 1, 1]}\n"
             "  ball: {mass: 3, inertia: [1, 1, 1], shape: {sphere: 0.1}}\n"
             "joints:\n"
             "  ahead: {prismatic: [ground, cart], axis: [1, 0, 0], rate: 2}\n"
             "  up: {prismatic: [cart, ball], start: 0.1}\n"
             "contacts: {foot: {between: [ball, ground], friction: 0.3}}\n"
             "simulate: {method: event-driven, smooth: dopri, until: 1.5, step: 0.1}\n"
             "outputs: {x: ahead.travel, z: up.travel}\n",
             coordinates[k]);
    Run run = run_all(text);
    double a = 0.3 * 9.81 * 3 / 4, stop = 2 / a;
    for (int s = 0; s < sample_count(&run); s++) {
      double t = fmin(value_at(&run, s, "t"), stop);
      CHECK_NEAR(value_at(&run, s, "x"), 2 * t - a * t * t / 2, 1e-9);
      CHECK_NEAR(value_at(&run, s, "z"), 0.1, 1e-12);
    }
    run_end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rolling_disc),
      cmocka_unit_test(test_ball_on_ball),
      cmocka_unit_test(test_over_corner),
      cmocka_unit_test(test_flat_capsule),
      cmocka_unit_test(test_column),
      cmocka_unit_test(test_box),
      cmocka_unit_test(test_corner_of_planes),
      cmocka_unit_test(test_sphere),
      cmocka_unit_test(test_on_plane),
      cmocka_unit_test(test_sphere_on_sphere),
      cmocka_unit_test(test_passing),
      cmocka_unit_test(test_polygon_distance),
      cmocka_unit_test(test_layer_distance),
      cmocka_unit_test(test_bricks),
      cmocka_unit_test(test_moving_plane),
      cmocka_unit_test(test_sharp),
      cmocka_unit_test(test_sharp_corners),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_slip_that_cannot_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
