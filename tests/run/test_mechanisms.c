// SPDX-License-Identifier: Apache-2.0
// Mechanisms of bodies and joints against solutions of their own: linkages whose places follow from
// one angle by geometry (rates are then those of the energy), and bodies that meet in space.

#include "run/four_bar.h"
#include "run/recorded.h"

static const double PI = 3.14159265358979323846;

// ---- linkages ---------------------------------------------------------------------------------

// Where everything is for an angle of the crank.
typedef struct Poses {
  int count;
  double place[6];
} Poses;
typedef Poses (*Geometry)(double angle);

static double wrapped(double angle) {
  return remainder(angle, 2 * PI);
}

// Places follow from the angle, and rates from its rate: differences of the geometry.
static void check_linkage(const char* text, Geometry geometry, const char* angle,
                          const char* const places[], const char* const rates[]) {
  Run run = run_all(text);
  double least = INFINITY, most = -INFINITY;
  for (int s = 0; s < sample_count(&run); s++) {
    char rate[64];
    snprintf(rate, sizeof rate, "%s'", angle);
    double phi = value_at(&run, s, angle), w = value_at(&run, s, rate), d = 1e-5;
    Poses at = geometry(phi), up = geometry(phi + d), down = geometry(phi - d);
    least = fmin(least, phi);
    most = fmax(most, phi);
    for (int k = 0; k < at.count; k++) {
      CHECK_NEAR(wrapped(value_at(&run, s, places[k]) - at.place[k]), 0.0, 1e-9);
      CHECK_NEAR(value_at(&run, s, rates[k]), w * wrapped(up.place[k] - down.place[k]) / (2 * d),
                 1e-7 * (1 + fabs(w)));
    }
    CHECK_NEAR(value_at(&run, s, "energy"), value_at(&run, 0, "energy"), 1e-8);
  }
  assert_true(most - least > 0.3);
  run_end(&run);
}

// Crank 0.4, coupler 1, rocker 0.8, ground 1.1: the coupler's end is where two circles meet.
static Poses four_bar(double phi) {
  double x = 0.4 * cos(phi), y = 0.4 * sin(phi), dx = 1.1 - x, dy = -y;
  double r = hypot(dx, dy), along = (1 - 0.64 + r * r) / (2 * r), up = sqrt(1 - along * along);
  double ex = x + (along * dx - up * dy) / r, ey = y + (along * dy + up * dx) / r;
  return (Poses){2, {atan2(ey - y, ex - x), atan2(ey, ex - 1.1)}};
}

// The other way to assemble it: the coupler's end is below.
static Poses four_bar_crossed(double phi) {
  double x = 0.4 * cos(phi), y = 0.4 * sin(phi), dx = 1.1 - x, dy = -y;
  double r = hypot(dx, dy), along = (1 - 0.64 + r * r) / (2 * r), up = -sqrt(1 - along * along);
  double ex = x + (along * dx - up * dy) / r, ey = y + (along * dy + up * dx) / r;
  return (Poses){2, {atan2(ey - y, ex - x), atan2(ey, ex - 1.1)}};
}

// A start that is a guess says which way is meant, whatever the coordinates are; rates that are
// guesses, too, are found.
static void test_guessed_four_bar(void** unused) {
  (void)unused;
  static const struct {
    const char *coupler, *rocker;
    Geometry geometry;
  } ways[] = {{"-0.5", "1", four_bar}, {"-2", "-1.5", four_bar_crossed}};
  static const char* const coordinates[] = {"joint", "absolute"};
  for (int k = 0; k < 4; k++) {
    char text[2000];
    snprintf(text, sizeof text,
             "model: four-bar\nmechanism: {gravity: [0, -9.81], coordinates: %s}\n" FOUR_BAR_BODIES
             "  b: {revolute: [crank, coupler], at: crank.end, start: %s, guess: true}\n"
             "  d: {revolute: [ground, rocker], at: [1.1, 0], start: %s, rate: 0.3, guess: true}\n"
             "outputs: {coupler_angle: coupler.angle, coupler_rate: coupler.omega, rocker_angle: "
             "rocker.angle, rocker_rate: rocker.omega}\n"
             "simulate: {method: dopri, rtol: 1e-12, until: 1, step: 0.05}\n",
             coordinates[k / 2], ways[k % 2].coupler, ways[k % 2].rocker);
    check_linkage(text, ways[k % 2].geometry, k / 2 ? "crank.angle" : "a.angle",
                  (const char* const[]){"coupler_angle", "rocker_angle"},
                  (const char* const[]){"coupler_rate", "rocker_rate"});
  }
}

static void test_four_bar(void** unused) {
  (void)unused;
  static const char text[] =
      "model: four-bar\nmechanism: {gravity: [0, -9.81]}\n" FOUR_BAR_BODIES
      "  b: {revolute: [crank, coupler], at: crank.end}\n"
      "  d: {revolute: [ground, rocker], at: [1.1, 0], guess: 1}\n"
      "outputs: {coupler_angle: coupler.angle, coupler_rate: coupler.omega, rocker_angle: "
      "rocker.angle, rocker_rate: rocker.omega}\n"
      "simulate: {method: dopri, rtol: 1e-12, until: 2, step: 0.05}\n";
  check_linkage(text, four_bar, "a.angle", (const char* const[]){"coupler_angle", "rocker_angle"},
                (const char* const[]){"coupler_rate", "rocker_rate"});
}

// The crank of 0.2 turns about z; the slider moves along x at y = 0.1, z = 0.3, on a rod of 0.8.
static Poses spatial_slider(double phi) {
  double y = 0.1 - 0.2 * sin(phi), z = 0.3;
  return (Poses){1, {0.2 * cos(phi) + sqrt(0.64 - y * y - z * z)}};
}

static void test_spatial_slider_crank(void** unused) {
  (void)unused;
  static const char text[] =
      "model: spatial-slider-crank\nmechanism: {gravity: [0, -9.81, 0]}\n"
      "bodies:\n"
      "  crank: {mass: 1, inertia: [0.01, 0.02, 0.03], points: {end: [0.2, 0, 0]}}\n"
      "  rod: {mass: 0.5, inertia: [0.001, 0.03, 0.03], centre: [-0.4, 0, 0], points: {far: [-0.8, "
      "0, 0]}}\n"
      "  slider: {mass: 0.7, inertia: [0.01, 0.01, 0.01]}\n"
      "joints:\n"
      "  bearing: {revolute: [ground, crank], start: 0.4, rate: 5}\n"
      "  bore: {prismatic: [ground, slider], axis: [1, 0, 0], at: [0, 0.1, 0.3], guess: 0.9}\n"
      "  fork: {universal: [slider, rod], axis: [0, 1, 0], axis2: [0, 0, 1]}\n"
      "  ball: {spherical: [crank, rod], at: [crank.end, rod.far]}\n"
      "outputs: {s: slider.at.x, s_rate: bore.rate}\n"
      "simulate: {method: dopri, rtol: 1e-12, until: 1, step: 0.05}\n";
  check_linkage(text, spatial_slider, "bearing.angle", (const char* const[]){"s"},
                (const char* const[]){"s_rate"});
}

// G. T. Bennett, A new mechanism: lengths as sines of the twists; four hinges that should not move
// and do, tan(a1/2) tan(a2/2) = sin((beta + alpha)/2)/sin((beta - alpha)/2), a3 = -a1.
static const double ALPHA = 0.6, BETA = 1.1;

static Poses bennett(double a1) {
  double k = sin((BETA + ALPHA) / 2) / sin((BETA - ALPHA) / 2);
  return (Poses){2, {2 * atan(k / tan(a1 / 2)), -a1}};
}

static void test_bennett(void** unused) {
  (void)unused;
  char text[2000];
  double b = sin(BETA) / sin(ALPHA);
  snprintf(
      text, sizeof text,
      "model: bennett\nmechanism: {gravity: [0, 0, -9.81]}\n"
      "bodies:\n"
      "  l1: {mass: 1, inertia: [0.01, 0.1, 0.1], centre: [0.5, 0, 0]}\n"
      "  l2: {mass: 2, inertia: [0.01, 0.2, 0.2], centre: [0.7, 0, 0]}\n"
      "  l3: {mass: 1, inertia: [0.01, 0.1, 0.1], centre: [0.5, 0, 0]}\n"
      "joints:\n"
      "  j1: {revolute: [ground, l1], start: 0.8, rate: 2}\n"
      "  j2: {revolute: [l1, l2], at: [1, 0, 0], turn: {xyz: [%.17g, 0, 0]}, guess: 2.6}\n"
      "  j3: {revolute: [l2, l3], at: [%.17g, 0, 0], turn: {xyz: [%.17g, 0, 0]}, guess: -0.8}\n"
      "  j4: {revolute: [l3, ground], at: [[1, 0, 0], [%.17g, 0, 0]], axis: [0, %.17g, %.17g],\n"
      "       turn: {xyz: [%.17g, 0, 0]}, cut: true}\n"
      "simulate: {method: dopri, rtol: 1e-11, until: 1, step: 0.05}\n",
      ALPHA, b, BETA, -b, sin(BETA), cos(BETA), ALPHA + BETA);
  check_linkage(text, bennett, "j1.angle", (const char* const[]){"j2.angle", "j3.angle"},
                (const char* const[]){"j2.angle'", "j3.angle'"});
}

// ---- Sarrus' linkage ----------------------------------------------------------------------------
// models/sarrus.yaml: all follows from the angle phi of both chains. With
//   T = M(phi) phi'^2/2,  V(phi):   M phi'' + M'/2 phi'^2 + V' = 0
// the test integrates by Runge's and Kutta's method. The chain along y alone has M_y and V_y, and
// what it gives the platform follows from the power of that, along z.
typedef struct Folding {
  double M, dM, dV;
} Folding;

// Links of mass m with the inertia J about their hinges: the lower one with its centre at s, the
// upper one at u from the knee.
static Folding chain(double phi, const double m[2], const double J[2], double s, double u) {
  double l = 0.5, c = cos(phi), z = sin(phi), x2 = (l - u) * (l - u), z2 = (l + u) * (l + u);
  return (Folding){J[0] + m[0] * s * s + J[1] + m[1] * (x2 * z * z + z2 * c * c),
                   m[1] * (x2 - z2) * 2 * z * c, 9.81 * c * (m[0] * s + m[1] * (l + u))};
}

static Folding chain_y(double phi) {
  return chain(phi, (const double[]){1.2, 0.7}, (const double[]){0.025, 0.015}, 0.25, 0.2);
}

static Folding sarrus(double phi) {
  Folding x = chain(phi, (const double[]){1, 0.8}, (const double[]){0.02, 0.018}, 0.2, 0.3),
          y = chain_y(phi);
  double c = cos(phi), z = sin(phi), platform = 3 * c * c, k = 120;
  return (Folding){x.M + y.M + platform, x.dM + y.dM - 6 * c * z,
                   x.dV + y.dV + 3 * 9.81 * c + k * (z - 1) * c};
}

static double fold(double phi, double w) {
  Folding f = sarrus(phi);
  return -(f.dM * w * w / 2 + f.dV) / f.M;
}

static void fold_step(double* phi, double* w, double h) {
  double a1 = fold(*phi, *w), w2 = *w + h / 2 * a1, a2 = fold(*phi + h / 2 * *w, w2);
  double w3 = *w + h / 2 * a2, a3 = fold(*phi + h / 2 * w2, w3), w4 = *w + h * a3;
  double a4 = fold(*phi + h * w3, w4);
  *phi += h * (*w + 2 * w2 + 2 * w3 + w4) / 6;
  *w += h * (a1 + 2 * a2 + 2 * a3 + a4) / 6;
}

static void check_sarrus(Run* run) {
  enum { PIECES = 50 };
  double phi = 0.7, w = 1, least = phi, most = phi;
  for (int s = 0; s < sample_count(run); s++) {
    Folding y = chain_y(phi);
    double lifts = -(y.M * fold(phi, w) + y.dM * w * w / 2 + y.dV) / cos(phi);
    double up = value_at(run, s, "f.force.z") * cos(phi) - value_at(run, s, "f.force.y") * sin(phi);
    CHECK_NEAR(value_at(run, s, "height"), sin(phi), 1e-9);
    CHECK_NEAR(value_at(run, s, "lean"), 0.0, 1e-10);
    CHECK_NEAR(value_at(run, s, "fold"), phi, 1e-9);
    CHECK_NEAR(value_at(run, s, "knee"), -2 * w, 1e-8);
    CHECK_NEAR(up, lifts, 1e-7);
    least = fmin(least, phi);
    most = fmax(most, phi);
    for (int k = 0; k < PIECES && s + 1 < sample_count(run); k++) {
      fold_step(&phi, &w, (value_at(run, s + 1, "t") - value_at(run, s, "t")) / PIECES);
    }
  }
  assert_true(most - least > 0.3);
}

static void test_sarrus(void** unused) {
  (void)unused;
  for (int k = 0; k < 2; k++) {
    Run run = model_with("sarrus", k ? "absolute" : "joint");
    recorded_to_end(&run);
    check_sarrus(&run);
    run_end(&run);
  }
}

// A loop that cannot be closed names its joint and how far it is off.
static void test_impossible(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: far\nbodies: {a: {mass: 1, inertia: 1}, b: {mass: 1, inertia: 1}}\n"
      "joints:\n  p: {revolute: [ground, a]}\n  q: {revolute: [a, b], at: [1, 0]}\n"
      "  reach: {revolute: [ground, b], at: [[5, 0], [1, 0]]}\n");
  assert_int_not_equal(run_try(&run, 1, 0.1), PAWL_OK);
  assert_non_null(strstr(run.err.message, "'reach' (row 1) is off by"));
  run_end(&run);
}

// A parallelogram in space, with rows that follow from others, passes the position in which its
// bars lie on one line, and does not creep up to it for minutes: it is a pendulum with
//   J phi'^2/2 - 1.3 g sin(phi) = const, J = 0.54, and its coupler stays as it is turned.
static void test_singular_position(void** unused) {
  (void)unused;
  static const char text[] =
      "model: parallelogram\nmechanism: {gravity: [0, 0, -9.81], coordinates: %s}\n"
      "bodies:\n"
      "  crank: {mass: 1, inertia: [0.01, 0.02, 0.02], centre: [0.2, 0, 0], points: {end: [0.4, 0, "
      "0]}}\n"
      "  coupler: {mass: 2, inertia: [0.01, 0.2, 0.2], centre: [0.5, 0, 0], points: {end: [1.1, 0, "
      "0]}}\n"
      "  rocker: {mass: 1.5, inertia: [0.1, 0.1, 0.1], centre: [0.2, 0, 0], points: {end: [0.4, 0, "
      "0]}}\n"
      "joints:\n"
      "  a: {revolute: [ground, crank], axis: [0, 1, 0], start: -0.9, rate: 3}\n"
      "  b: {revolute: [crank, coupler], axis: [0, 1, 0], at: crank.end, start: 0.9, rate: -3}\n"
      "  d: {revolute: [ground, rocker], axis: [0, 1, 0], at: [1.1, 0, 0], start: -0.9, rate: 3}\n"
      "  c: {revolute: [coupler, rocker], axis: [0, 1, 0], at: [coupler.end, rocker.end]}\n"
      "outputs: {phi: a.angle, w: a.rate, along: \"coupler.R*[1, 0, 0]\"}\n"
      "simulate: {method: dopri, rtol: 1e-12, until: 1, step: 0.01}\n";
  static const char* const coordinates[] = {"joint", "absolute"};
  Run run[2];
  for (int k = 0; k < 2; k++) {
    char filled[2000];
    snprintf(filled, sizeof filled, text, coordinates[k]);
    run[k] = run_all(filled);
    double phi = value_at(&run[k], 0, "phi"), w = value_at(&run[k], 0, "w"), most = phi;
    double energy = 0.27 * w * w - 1.3 * 9.81 * sin(phi);
    for (int s = 0; s < sample_count(&run[k]); s++) {
      phi = value_at(&run[k], s, "phi");
      w = value_at(&run[k], s, "w");
      most = fmax(most, phi);
      CHECK_NEAR(0.27 * w * w - 1.3 * 9.81 * sin(phi), energy, 1e-7);
      CHECK_NEAR(value_at(&run[k], s, "along.x"), 1.0, 1e-9);
    }
    assert_true(most > 0.5);
  }
  CHECK_NEAR(wrapped(final_of(&run[0], "phi") - final_of(&run[1], "phi")), 0.0, 1e-7);
  run_end(&run[0]);
  run_end(&run[1]);
}

// ---- docking ----------------------------------------------------------------------------------

static const char DOCKING[] =
    "model: docking-in-space\n"
    "bodies:\n"
    "  station: {mass: 40, inertia: [8, 10, 12], points: {port: [1, 0, 0]},\n"
    "            rate: {omega: [0, 0.02, 0.05]}}\n"
    "  craft: {mass: 5, inertia: [1, 0.8, 0.6], points: {nose: [-0.5, 0, 0]},\n"
    "          start: {at: [3, 0.2, 0.1], rotation: {zyx: [0.1, 0.05, 0]}},\n"
    "          rate: {velocity: [-1, 0.02, 0], omega: [0.1, 0, 0]}}\n"
    "joints:\n"
    "  latch: {weld: [station, craft], at: [station.port, craft.nose],\n"
    "          switch: {when: \"norm(craft.nose - station.port) - 0.4\", direction: down, on: "
    "keep,\n"
    "                   release: {at: 4}}}\n"
    "outputs:\n"
    "  p: mechanism.momentum\n"
    "  l: mechanism.angular_momentum\n"
    "  c: mechanism.centre\n"
    "  sc: station.centre\n"
    "  cc: craft.centre\n"
    "  sx: \"station.R*[1, 0, 0]\"\n  sy: \"station.R*[0, 1, 0]\"\n  sz: \"station.R*[0, 0, 1]\"\n"
    "  cx: \"craft.R*[1, 0, 0]\"\n  cy: \"craft.R*[0, 1, 0]\"\n  cz: \"craft.R*[0, 0, 1]\"\n"
    "simulate: {method: event-driven, smooth: dopri, rtol: 1e-12, until: 6, step: 0.1}\n";

static void vector_at(const Run* run, int s, const char* name, double v[3]) {
  for (int k = 0; k < 3; k++) {
    char full[32];
    snprintf(full, sizeof full, "%s.%c", name, 'x' + k);
    v[k] = value_at(run, s, full);
  }
}

// Adds a body to the inertia about the common centre: J along its axes, and m at the place d.
static void add_inertia(const Run* run, int s, const char* axes[3], const double J[3],
                        const char* at, double m, double I[3][3]) {
  double c[3], d[3], e[3];
  vector_at(run, s, "c", c);
  vector_at(run, s, at, d);
  double square = 0;
  for (int k = 0; k < 3; k++) {
    d[k] -= c[k];
    square += d[k] * d[k];
  }
  for (int i = 0; i < 3; i++) {
    vector_at(run, s, axes[i], e);
    for (int a = 0; a < 3; a++) {
      I[i][a] += m * ((i == a) * square - d[i] * d[a]);
      for (int b = 0; b < 3; b++) {
        I[a][b] += J[i] * e[a] * e[b];
      }
    }
  }
}

static double determinant(double A[3][3]) {
  return A[0][0] * (A[1][1] * A[2][2] - A[1][2] * A[2][1]) -
         A[0][1] * (A[1][0] * A[2][2] - A[1][2] * A[2][0]) +
         A[0][2] * (A[1][0] * A[2][1] - A[1][1] * A[2][0]);
}

// The energy of one rigid body with these momenta: p^2/(2 m) + L I^-1 L/2, L about the centre.
static double energy_of_one(const Run* run, int s) {
  static const char *station[3] = {"sx", "sy", "sz"}, *craft[3] = {"cx", "cy", "cz"};
  double I[3][3] = {{0}}, p[3], l[3], c[3], energy = 0;
  add_inertia(run, s, station, (const double[]){8, 10, 12}, "sc", 40, I);
  add_inertia(run, s, craft, (const double[]){1, 0.8, 0.6}, "cc", 5, I);
  vector_at(run, s, "p", p);
  vector_at(run, s, "l", l);
  vector_at(run, s, "c", c);
  for (int k = 0; k < 3; k++) {
    l[k] -= c[(k + 1) % 3] * p[(k + 2) % 3] - c[(k + 2) % 3] * p[(k + 1) % 3];
  }
  for (int k = 0; k < 3; k++) {
    double A[3][3];
    memcpy(A, I, sizeof A);
    for (int i = 0; i < 3; i++) {
      A[i][k] = l[i];
    }
    energy += p[k] * p[k] / 90 + l[k] * determinant(A) / determinant(I) / 2;
  }
  return energy;
}

static void test_docking(void** unused) {
  (void)unused;
  Run run = run_all(DOCKING);
  static const char* const kept[] = {"p.x", "p.y", "p.z", "l.x", "l.y", "l.z"};
  assert_int_equal(run_events(&run), 2);
  double docked = run_event(&run, 0)->t, lost = run_event(&run, 0)->energy_lost;
  assert_true(docked > 0.5 && lost > 1);
  CHECK_NEAR(run_event(&run, 1)->energy_lost, 0.0, 1e-13);
  for (int s = 0; s < sample_count(&run); s++) {
    double t = value_at(&run, s, "t"), energy = value_at(&run, s, "energy");
    for (size_t k = 0; k < sizeof kept / sizeof *kept; k++) {
      CHECK_NEAR(value_at(&run, s, kept[k]), value_at(&run, 0, kept[k]), 1e-12);
    }
    if (t > docked + 1e-9) {
      CHECK_NEAR(energy, value_at(&run, 0, "energy") - lost, 1e-12);
    }
    if (t > docked + 1e-9 && t < 4) {
      CHECK_NEAR(energy, energy_of_one(&run, s), 1e-12);
    }
  }
  run_end(&run);
}

// A joint that may open, and keeps an offset where it catches, is closed at the start all the same:
// two bars of 1 m between pins 1.5 m apart.
static void test_closed_at_start(void** unused) {
  (void)unused;
  static const char* const coordinates[] = {"joint", "absolute"};
  for (int k = 0; k < 2; k++) {
    char text[1024];
    snprintf(text, sizeof text,
             "model: opens\nmechanism: {coordinates: %s}\nbodies:\n"
             "  a: {mass: 1, inertia: 0.1, points: {tip: [1, 0]}}\n"
             "  b: {mass: 1, inertia: 0.1, points: {tip: [1, 0]}}\njoints:\n"
             "  i: {revolute: [ground, a], guess: 0.5, switch: {engaged: true, release: {at: 2}, "
             "on: keep}}\n"
             "  j: {revolute: [a, b], at: a.tip, guess: -0.6}\n"
             "  c: {revolute: [ground, b], at: [[1.5, 0], b.tip]}\n"
             "outputs: {place: a.at, angle: a.angle}\nsimulate: {until: 0.01, method: dopri}\n",
             coordinates[k]);
    Run run = run_all(text);
    CHECK_NEAR(value_at(&run, 0, "place.x"), 0.0, 1e-12);
    CHECK_NEAR(value_at(&run, 0, "place.y"), 0.0, 1e-12);
    CHECK_NEAR(value_at(&run, 0, "angle"), acos(0.75), 1e-12);
    run_end(&run);
  }
}

// Gears with offsets: what is not given of three wheels and a slider follows from the one that is,
// whichever that is and in whatever order, and holds on.
static void test_gear_offsets(void** unused) {
  (void)unused;
  static const char* const given[] = {"a: {start: 0.4}", "b: {start: -0.5}", "c: {start: -1.4}",
                                      "s: {start: -0.15}"};
  static const char* const coordinates[] = {"joint", "absolute"};
  for (int k = 0; k < 8; k++) {
    char text[2048], starts[4][40] = {"", "", "", ""};
    int which = k / 2;
    snprintf(starts[which], sizeof starts[which], ", %s", strchr(given[which], '{') + 1);
    *strchr(starts[which], '}') = '\0';
    snprintf(
        text, sizeof text,
        "model: geared\nmechanism: {coordinates: %s}\nbodies: {A: {mass: 1, inertia: [1, 1, "
        "1]}, B: {mass: 1, inertia: [1, 1, 1]}, C: {mass: 1, inertia: [1, 1, 1]}, S: {mass: 1, "
        "inertia: [1, 1, 1]}}\njoints:\n"
        "  g: {gear: [c, b], ratio: 2, offset: -0.4}\n"
        "  f: {gear: [b, a], ratio: -0.5, offset: -0.3}\n"
        "  h: {gear: [s, b], ratio: 0.1, offset: -0.1}\n"
        "  a: {revolute: [ground, A], axis: [1, 2, 2], motor: 3%s}\n"
        "  b: {revolute: [ground, B]%s}\n  c: {revolute: [B, C]%s}\n"
        "  s: {prismatic: [ground, S]%s}\n"
        "outputs: {b: b.angle + 0.5*a.angle, c: c.angle - 2*b.angle, s: s.travel - "
        "0.1*b.angle, a: a.angle}\n"
        "simulate: {method: dopri, until: 1, step: 0.1}\n",
        coordinates[k % 2], starts[0], starts[1], starts[2], starts[3]);
    Run run = run_all(text);
    CHECK_NEAR(value_at(&run, 0, "a"), 0.4, 1e-12);
    assert_true(fabs(final_of(&run, "a") - 0.4) > 0.1);
    for (int s = 0; s < sample_count(&run); s++) {
      CHECK_NEAR(value_at(&run, s, "b"), -0.3, 1e-10);
      CHECK_NEAR(value_at(&run, s, "c"), -0.4, 1e-10);
      CHECK_NEAR(value_at(&run, s, "s"), -0.1, 1e-10);
    }
    run_end(&run);
  }
}

// A drive gives the start and the rate of its joint, where these are not given; of one that can be
// released, too, whatever becomes of an offset when it catches again.
static void test_driven_start(void** unused) {
  (void)unused;
  static const char* const coordinates[] = {"joint", "absolute"};
  static const char* const given[] = {
      "", ", guess: 0.1", ", guess: rate, rate: 1", ", switch: {release: {at: 0.1}}",
      ", switch: {engaged: true, on: keep, at: 0.2, release: {at: 0.1}}"};
  Run run[2];
  for (int g = 0; g < 5; g++) {
    for (int k = 0; k < 2; k++) {
      char text[1024];
      snprintf(text, sizeof text,
               "model: driven\nmechanism: {coordinates: %s, gravity: [0, 0, -9.81]}\nbodies:\n"
               "  a: {mass: 1, inertia: [1, 1, 1], points: {tip: [1, 0, 0]}}\n"
               "  b: {mass: 1, inertia: [1, 2, 1], centre: [0.3, 0, 0]}\njoints:\n"
               "  i: {revolute: [ground, a], axis: [1, 2, 2], drive: 1.2 + 3*t%s}\n"
               "  j: {universal: [a, b], at: a.tip, drive: 0.5*cos(t) - 2*t, start: [0.5, 0.3], "
               "rate: [-2, 0.1]}\n"
               "outputs: {x: b.centre, v: \"b.centre'\", i: i.angle, w: i.rate}\n"
               "simulate: {method: dopri, rtol: 1e-12, until: 0.3, step: 0.05}\n",
               coordinates[k], given[g]);
      run[k] = run_all(text);
      CHECK_NEAR(value_at(&run[k], 0, "i"), 1.2, 1e-12);
      CHECK_NEAR(value_at(&run[k], 0, "w"), 3, 1e-12);
    }
    assert_true(compare_runs(&run[0], &run[1], 1e-8) >= 8);
    run_end(&run[0]);
    run_end(&run[1]);
  }
}

// ---- turned over --------------------------------------------------------------------------------

// How far body a is turned at the end, cosine of the angle, with what joints say; in both
// coordinates.
static void check_turned(const char* joints, double cosine) {
  static const char* const coordinates[] = {"joint", "absolute"};
  for (int k = 0; k < 2; k++) {
    char text[2048];
    snprintf(
        text, sizeof text,
        "model: turned\nmechanism: {coordinates: %s}\n"
        "bodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1e9, inertia: [1e9, 1e9, 1e9]}}\n"
        "joints: {base: {weld: [ground, b]}, %s}\noutputs:\n"
        "  cosine: \"(dot(a.R*[1, 0, 0], [1, 0, 0]) + dot(a.R*[0, 1, 0], [0, 1, 0]) + "
        "dot(a.R*[0, 0, 1], [0, 0, 1]) - 1)/2\"\n"
        "simulate: {method: dopri, until: 0.02, step: 0.01}\n",
        coordinates[k], joints);
    Run run = run_all(text);
    CHECK_NEAR(value_at(&run, sample_count(&run) - 1, "cosine"), cosine, 1e-9);
    run_end(&run);
  }
}

// Rows of directions at right angles hold where a body is turned by half a turn, too, or by a third
// of one about [1, 1, 1]. A joint is none of these: what is guessed there, or caught there, is not
// what the joint says.
static void test_turned_over(void** unused) {
  (void)unused;
  static const char guess[] =
      "i: {spherical: [ground, a], start: \"rotation(%s)\", guess: true}, j: {%s}";
  static const char catch[] =
      "i: {spherical: [ground, a], start: \"rotation(%s)\"}, j: {weld: [b, a], switch: {at: 0.01, "
      "on: %s}}";
  static const char* const turns[] = {"[1, 1, 1], 2", "[1, 2, 2], 2.5", "[0, 0, 1], 3"};
  char joints[512];
  for (int k = 0; k < 3; k++) {
    snprintf(joints, sizeof joints, guess, turns[k], "weld: [b, a], cut: true");
    check_turned(joints, 1.0);
    snprintf(joints, sizeof joints, guess, turns[k],
             "spherical: [b, a], cut: true, start: \"rotation([0, 0, 1], 0)\"");
    check_turned(joints, 1.0);
    snprintf(joints, sizeof joints, catch, turns[k], "snap");
    check_turned(joints, 1.0);
  }
  snprintf(joints, sizeof joints, catch, "[0, 0, 1], pi", "refuse");
  check_turned(joints, -1.0);
}

// A drive does not begin half a turn off.
static void test_drive_turned(void** unused) {
  (void)unused;
  static const char* const coordinates[] = {"joint", "absolute"};
  for (int k = 0; k < 2; k++) {
    char text[512];
    snprintf(text, sizeof text,
             "model: turned\nmechanism: {coordinates: %s}\n"
             "bodies: {a: {mass: 1, inertia: [1, 1, 1]}}\n"
             "joints: {i: {revolute: [ground, a], drive: t, start: pi, rate: 1}}\n",
             coordinates[k]);
    Run run = run_text(text);
    assert_int_not_equal(run_try(&run, 1, 0.1), PAWL_OK);
    assert_non_null(strstr(run.err.message, "'i.drive' (row 1): its position is off by 3.14159"));
    run_end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_guessed_four_bar),
      cmocka_unit_test(test_four_bar),
      cmocka_unit_test(test_spatial_slider_crank),
      cmocka_unit_test(test_bennett),
      cmocka_unit_test(test_sarrus),
      cmocka_unit_test(test_singular_position),
      cmocka_unit_test(test_impossible),
      cmocka_unit_test(test_docking),
      cmocka_unit_test(test_gear_offsets),
      cmocka_unit_test(test_driven_start),
      cmocka_unit_test(test_closed_at_start),
      cmocka_unit_test(test_turned_over),
      cmocka_unit_test(test_drive_turned),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
