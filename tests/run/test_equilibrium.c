// SPDX-License-Identifier: Apache-2.0
// Rest positions and small motions about them, against closed forms.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "pawl/equilibrium.h"
#include "pawl/model.h"

typedef struct Rest {
  PawlModel* model;
  PawlSystem* system;
  PawlEquilibrium* e;
  PawlSpectrum* about;
} Rest;

static Rest rest_of(const char* text) {
  Rest r;
  PawlError err = {0};
  PawlStatus status = pawl_model_parse(text, strlen(text), "m.yaml", 0, NULL, &r.model, &err);
  status = status ? status : pawl_system_create(r.model, &r.system, &err);
  status = status ? status : pawl_equilibrium_find(r.system, NULL, &r.e, &err);
  status = status ? status : pawl_spectrum_at(r.system, r.e, &r.about, &err);
  if (status != PAWL_OK) {
    print_error("%s\nfor:\n%s\n", err.message, text);
  }
  assert_int_equal(status, PAWL_OK);
  return r;
}

static void rest_free(Rest* r) {
  pawl_spectrum_destroy(r->about);
  pawl_equilibrium_destroy(r->e);
  pawl_system_destroy(r->system);
  pawl_model_destroy(r->model);
}

static double at(const Rest* r, const char* name) {
  for (int k = 0; k < pawl_system_sizes(r->system).q; k++) {
    if (strcmp(pawl_system_coordinate_name(r->system, k), name) == 0) {
      return r->e->point.q[k];
    }
  }
  print_error("no coordinate '%s'\n", name);
  fail();
  return NAN;
}

// Hanging from wherever it starts; upright when it starts there, and then the spectrum says what
// that is.
static void test_pendulum(void** state) {
  (void)state;
  char text[400];
  static const char form[] =
      "model: p\nparameters: {a: %s}\n"
      "coordinates: {x: {start: 2*cos(a)}, y: {start: 2*sin(a)}, th: {start: a}}\n"
      "mass: {x: 3, y: 3, th: 1.5}\npotential: 3*9.81*y\n"
      "constraints: {pin: [x = 2*cos(th), y = 2*sin(th)]}\n";
  static const char* const starts[] = {"1.4", "0.1", "-1", "1.8"};
  for (size_t k = 0; k < 4; k++) {
    snprintf(text, sizeof text, form, starts[k]);
    Rest r = rest_of(text);
    CHECK_NEAR(at(&r, "y"), -2, 1e-12);
    CHECK_NEAR(at(&r, "x"), 0, 1e-12);
    CHECK_NEAR(r.e->point.lambda[1], 29.43, 1e-10);  // the pin carries the weight
    assert_int_equal(r.about->oscillator_count, 1);
    // m g L/(m L^2 + J) = 58.86/13.5
    CHECK_NEAR(r.about->oscillators[0].natural, sqrt(58.86 / 13.5), 1e-10);
    CHECK_NEAR(r.about->oscillators[0].shape[0] / r.about->oscillators[0].shape[2], 2, 1e-10);
    rest_free(&r);
  }
  snprintf(text, sizeof text, form, "pi/2");
  Rest r = rest_of(text);
  CHECK_NEAR(at(&r, "y"), 2, 1e-12);
  assert_int_equal(r.about->damping, PAWL_DAMPING_UNSTABLE);
  CHECK_NEAR(fmax(r.about->oscillators[0].real[0], r.about->oscillators[0].real[1]),
             sqrt(58.86 / 13.5), 1e-10);
  rest_free(&r);
}

// A chain of N links of length 1/N between (0, 0) and (0.6, 0). The horizontal force H is the same
// in every joint, and tan(th[i]) grows by m g/H from link to link; many links hang in a catenary.
static void test_catenary(void** state) {
  (void)state;
  enum { N = 40 };
  Rest r = rest_of(
      "model: c\nparameters: {N: 40, l: 1/N, m: 1/N, g: 9.81}\n"
      "coordinates:\n  th[i=1..N]: if(i <= N/2, -0.927295218001612, 0.927295218001612)\n"
      "  x[i=1..N]: 0.6*i*l\n  y[i=1..N]: if(i <= N/2, -0.8*i*l, 0.8*(i - N)*l)\n"
      "define:\n  X[0]: 0\n  Y[0]: 0\n  X[i=1..N]: x[i]\n  Y[i=1..N]: y[i]\n"
      "mass:\n  th[i=1..N]: m*l^2\n  x[i=1..N]: m\n  y[i=1..N]: m\n"
      "potential:\n  for i=1..N: m*g*(Y[i-1] + Y[i])/2\n"
      "constraints:\n  end: [\"X[N] = 0.6\", \"Y[N] = 0\"]\n"
      "  link[i=1..N]: [\"X[i] = X[i-1] + l*cos(th[i])\", \"Y[i] = Y[i-1] + l*sin(th[i])\"]\n");
  double H = fabs(r.e->point.lambda[0]), sag = 0.0;
  for (int i = 1; i < N; i++) {
    CHECK_NEAR(tan(r.e->point.q[i]) - tan(r.e->point.q[i - 1]), 9.81 / N / H, 1e-9);
    sag += i <= N / 2 ? sin(r.e->point.q[i - 1]) / N : 0.0;
  }
  double a = 0.1;  // sinh(0.3/a) a = 0.5 by Newton's method
  for (int k = 0; k < 50; k++) {
    a -= (a * sinh(0.3 / a) - 0.5) / (sinh(0.3 / a) - 0.3 / a * cosh(0.3 / a));
  }
  CHECK_NEAR(sag, -a * (cosh(0.3 / a) - 1), 1e-3);
  CHECK_NEAR(H, 9.81 * a, 1e-2);
  rest_free(&r);
}

// u(L) = F L/(E A) + rho g L^2/(2 E), exact at the nodes; and with both ends held u = rho g x (L -
// x)/(2 E).
static void test_bar(void** state) {
  (void)state;
  Rest r = rest_of(
      "model: b\nuse:\n  b: {element: bar, to: 2, E: 1e5, A: 0.1, rho: 700, start: clamped, "
      "gravity: 9.81, load: 50}\n");
  CHECK_NEAR(at(&r, "b_u[10]"), 50 * 2 / 1e4 + 700 * 9.81 * 4 / 2e5, 1e-12);
  // omega = pi/2 sqrt(E/rho)/L, up by (pi/40)^2/24 with consistent mass
  double omega = acos(-1) / 2 * sqrt(1e5 / 700) / 2;
  CHECK_NEAR(r.about->oscillators[0].natural / omega, 1 + pow(acos(-1) / 20, 2) / 24, 2e-6);
  rest_free(&r);
  r = rest_of(
      "model: b\nuse:\n  b: {element: bar, to: 2, E: 1e5, A: 0.1, rho: 700, start: clamped, "
      "end: clamped, gravity: 9.81}\n");
  CHECK_NEAR(at(&r, "b_u[3]"), 700 * 9.81 * 0.6 * 1.4 / 2e5, 1e-12);
  rest_free(&r);
}

// Clamped and free: (k L)^2 = 3.51601526850015, 22.0344915646668; q L^4/(8 E I) at the tip under
// its weight.
static void test_euler_beam(void** state) {
  (void)state;
  Rest r = rest_of(
      "model: b\nuse:\n  b: {element: euler-beam, to: [2, 0], elements: 10, E: 1e7, I: 1e-4, A: "
      "0.01, "
      "rho: 500, start: clamped, gravity: [3, -9.81]}\n");
  double unit = sqrt(1e3 / 5) / 4;
  CHECK_NEAR(r.about->oscillators[0].natural / unit, 3.51601526850015, 5e-6);
  CHECK_NEAR(r.about->oscillators[1].natural / unit, 22.0344915646668, 2e-3);
  CHECK_NEAR(at(&r, "b_w[10]"), -5 * 9.81 * 16 / (8 * 1e3), 1e-11);
  rest_free(&r);
  r = rest_of(
      "model: b\nuse:\n  b: {element: euler-beam, to: [0, 2], E: 1e7, I: 1e-4, A: 0.01, rho: 500, "
      "start: pinned, end: pinned, gravity: [2, -9.81]}\n");
  CHECK_NEAR(at(&r, "b_w[2]"), -5 * 5 * 2 * 16 / (384 * 1e3), 1e-11);  // 5 q L^4/(384 E I)
  CHECK_NEAR(r.about->oscillators[0].natural / unit, pow(acos(-1), 2), 1e-2);
  rest_free(&r);
}

// A rod: u = F L/(E A), phi = T L/(G J).
static void test_rod(void** state) {
  (void)state;
  Rest r = rest_of(
      "model: b\nuse:\n  b: {element: rod, to: 2, E: 1e5, A: 0.1, J: 1e-3, G: 4e4, rho: 1, "
      "start: clamped, load: [3, 2]}\n");
  CHECK_NEAR(at(&r, "b_u[10]"), 3 * 2 / 1e4, 1e-14);
  CHECK_NEAR(at(&r, "b_phi[10]"), 2 * 2 / 40.0, 1e-12);
  rest_free(&r);
}

// ---- the elastica -------------------------------------------------------------------------------
// E I th'' = P cos(th) with th(0) = 0, th'(1) = 0, down the load P = 10 E I: x, y and th of the end
// by shooting with RK4.
typedef struct End {
  double x, y, th, slope;
} End;

static void slopes(const double* z, double* out) {
  out[0] = cos(z[2]);
  out[1] = sin(z[2]);
  out[2] = z[3];
  out[3] = 10 * cos(z[2]);
}

static End shoot(double bend) {
  enum { STEPS = 2000 };
  double z[4] = {0, 0, 0, bend}, k[4][4], w[4], h = 1.0 / STEPS;
  for (int n = 0; n < STEPS; n++) {
    slopes(z, k[0]);
    for (int s = 1; s < 4; s++) {
      for (int i = 0; i < 4; i++) {
        w[i] = z[i] + h * (s == 3 ? 1.0 : 0.5) * k[s - 1][i];
      }
      slopes(w, k[s]);
    }
    for (int i = 0; i < 4; i++) {
      z[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
  }
  return (End){z[0], z[1], z[2], z[3]};
}

static End elastica(void) {
  double low = -10, high = 0;  // of th'(0)
  for (int k = 0; k < 80; k++) {
    double middle = (low + high) / 2;
    *(shoot(middle).slope > 0 ? &high : &low) = middle;
  }
  return shoot(low);
}

static End cantilever(int elements) {
  char text[300], name[32];
  snprintf(
      text, sizeof text,
      "model: c\nuse:\n  b: {element: beam, elements: %d, E: 1e8, A: 1, I: 1e-8, rho: 1, start: "
      "clamped, load: [0, -10, 0]}\n",
      elements);
  Rest r = rest_of(text);
  double end[3];
  static const char* const letters[] = {"x", "y", "th"};
  for (size_t k = 0; k < 3; k++) {
    snprintf(name, sizeof name, "b_%s[%d]", letters[k], elements);
    end[k] = at(&r, name);
  }
  rest_free(&r);
  return (End){end[0], end[1], end[2], 0};
}

// A cantilever under ten times E I/L^2, its end turned by 82 degrees; of second order in the
// elements.
static void test_elastica(void** state) {
  (void)state;
  End exact = elastica(), coarse = cantilever(10), fine = cantilever(20);
  CHECK_NEAR(exact.th, -1.43108, 1e-3);  // the textbooks': 0.9111 of a right angle
  CHECK_NEAR((coarse.x - exact.x) / (fine.x - exact.x), 4, 0.5);
  CHECK_NEAR((coarse.y - exact.y) / (fine.y - exact.y), 4, 0.5);
  CHECK_NEAR((4 * fine.x - coarse.x) / 3, exact.x, 3e-5);
  CHECK_NEAR((4 * fine.y - coarse.y) / 3, exact.y, 3e-5);
  CHECK_NEAR((4 * fine.th - coarse.th) / 3, exact.th, 3e-5);
}

// ---- contacts
// -------------------------------------------------------------------------------------
static void test_contacts(void** state) {
  (void)state;
  // Falls on the floor, slides down the ramp of the wall: rests in the corner.
  Rest r = rest_of(
      "model: c\ncoordinates: {x: {start: 1}, y: {start: 3}}\nmass: {x: 2, y: 2}\n"
      "potential: 2*9.81*y + 5*x\n"
      "contacts: {floor: {gap: y - 0.5}, wall: {gap: x}, far: {gap: 10 - x}}\n");
  CHECK_NEAR(at(&r, "x"), 0, 1e-12);
  CHECK_NEAR(at(&r, "y"), 0.5, 1e-12);
  CHECK_NEAR(r.e->point.lambda[0], 19.62, 1e-10);
  CHECK_NEAR(r.e->point.lambda[1], 5, 1e-10);
  assert_true(r.e->active[0] && r.e->active[1] && !r.e->active[2]);
  assert_int_equal(r.about->oscillator_count, 0);
  rest_free(&r);
  // A contact that is closed at the start and would have to pull lets go.
  r = rest_of(
      "model: c\ncoordinates: {x: }\nmass: {x: 1}\npotential: 2*(x - 1)^2\ncontacts: {wall: {gap: "
      "x}}\n");
  CHECK_NEAR(at(&r, "x"), 1, 1e-12);
  assert_true(!r.e->active[0]);
  CHECK_NEAR(r.about->oscillators[0].natural, 2, 1e-12);
  rest_free(&r);
}

// More contacts than can be closed at once, and more than are needed.
static void test_corners(void** state) {
  (void)state;
  Rest r = rest_of(  // a groove above a floor
      "model: c\ncoordinates: {x: {start: 0.3}, y: {start: 2}}\nmass: {x: 1, y: 1}\n"
      "potential: 10*y\ncontacts:\n  f: {gap: y}\n  a: {gap: \"y - 0.5 - x\"}\n"
      "  b: {gap: \"y - 0.5 + x\"}\n");
  CHECK_NEAR(at(&r, "x"), 0, 1e-12);
  CHECK_NEAR(at(&r, "y"), 0.5, 1e-12);
  CHECK_NEAR(r.e->point.lambda[0], 0, 1e-12);
  CHECK_NEAR(r.e->point.lambda[1], 5, 1e-10);
  CHECK_NEAR(r.e->point.lambda[2], 5, 1e-10);
  rest_free(&r);
  r = rest_of(  // a ramp to a wall: 4 (3 - x) - 0.5*10 at the wall
      "model: c\ncoordinates: {x: {start: 0.3}, y: {start: 0.5}}\nmass: {x: 1, y: 1}\n"
      "potential: 10*y + 2*(x - 3)^2\ncontacts:\n  f: {gap: y}\n  w: {gap: 1 - x}\n"
      "  far: {gap: 5 - x}\n  ramp: {gap: \"y - 0.5*(x - 0.5)\"}\n");
  CHECK_NEAR(at(&r, "x"), 1, 1e-12);
  CHECK_NEAR(at(&r, "y"), 0.25, 1e-12);
  CHECK_NEAR(r.e->point.lambda[1], 3, 1e-10);
  CHECK_NEAR(r.e->point.lambda[3], 10, 1e-10);
  assert_true(!r.e->active[0] && !r.e->active[2]);
  rest_free(&r);
  r = rest_of(  // three feet in a row share the weight
      "model: c\ncoordinates: {x: {start: 0.2}, y: {start: 0.3}, a: {start: 0.2}}\n"
      "mass: {x: 1, y: 1, a: 0.1}\npotential: 10*y - 2*x\ncontacts:\n"
      "  l: {gap: \"y - 0.5*sin(a) - 0.1\"}\n  r: {gap: \"y + 0.5*sin(a) - 0.1\"}\n"
      "  m: {gap: y - 0.1}\n  w: {gap: \"1 - x - 0.5*cos(a)\"}\n");
  CHECK_NEAR(at(&r, "x"), 0.5, 1e-12);
  CHECK_NEAR(at(&r, "a"), 0, 1e-12);
  CHECK_NEAR(r.e->point.lambda[0], 10.0 / 3, 1e-9);
  CHECK_NEAR(r.e->point.lambda[2], 10.0 / 3, 1e-9);
  CHECK_NEAR(r.e->point.lambda[3], 2, 1e-9);
  rest_free(&r);
}

// ---- kinks --------------------------------------------------------------------------------------
static Rest kinked_rest(const char* rest_of_model) {
  Rest r = {0};
  char text[600];
  PawlError err = {0};
  snprintf(text, sizeof text, "model: k\n%s", rest_of_model);
  assert_int_equal(pawl_model_parse(text, strlen(text), "m", 0, NULL, &r.model, &err), PAWL_OK);
  assert_int_equal(pawl_system_create(r.model, &r.system, &err), PAWL_OK);
  assert_int_equal(pawl_equilibrium_find(r.system, NULL, &r.e, &err), PAWL_OK);
  assert_true(r.e->kink);
  assert_int_equal(pawl_spectrum_at(r.system, r.e, &r.about, &err), PAWL_ERROR_RUN);
  assert_non_null(strstr(err.message, "rests in a kink"));
  return r;
}

static void test_kinks(void** state) {
  (void)state;
  Rest r =
      kinked_rest("coordinates: {x: {start: 3}}\nmass: {x: 1}\npotential: 4*abs(x - 0.2) + x\n");
  CHECK_NEAR(at(&r, "x"), 0.2, 1e-12);
  CHECK_NEAR(r.e->acceleration, 0, 1e-9);
  rest_free(&r);
  r = kinked_rest(  // first on the kink y = x, then along it to where it crosses another
      "coordinates: {x: {start: 3}, y: {start: 2}}\nmass: {x: 1, y: 2}\n"
      "potential: 4*abs(x - 0.2) + x + 3*abs(y - x)\n");
  CHECK_NEAR(at(&r, "x"), 0.2, 1e-6);
  CHECK_NEAR(at(&r, "y"), 0.2, 1e-6);
  rest_free(&r);
  r = kinked_rest(  // along a kink to a rest that is smooth, on a floor
      "coordinates: {x: {start: 3}, y: {start: 2}, z: {start: 1}}\nmass: {x: 1, y: 2, z: 1}\n"
      "potential: 4*abs(x - 0.2) + x + 2*(y - 1)^2 + 7*z\ncontacts: {floor: {gap: z}}\n");
  CHECK_NEAR(at(&r, "x"), 0.2, 1e-6);
  CHECK_NEAR(at(&r, "y"), 1, 1e-5);
  CHECK_NEAR(r.e->point.lambda[0], 7, 1e-9);
  rest_free(&r);
  r = rest_of(  // forces without a jump are none: half a spring more on one side
      "model: k\ncoordinates: {x: {start: 3}}\nmass: {x: 1}\n"
      "potential: 2*max(0, x - 0.2)^2 + 3*(x - 0.3)^2\n");
  assert_true(!r.e->kink);
  CHECK_NEAR(at(&r, "x"), (0.8 + 1.8) / 10, 1e-12);
  rest_free(&r);
}

static void expect_no_rest(const char* text, const char* message) {
  PawlModel* model;
  PawlSystem* system;
  PawlEquilibrium* e;
  PawlError err = {0};
  assert_int_equal(pawl_model_parse(text, strlen(text), "m", 0, NULL, &model, &err), PAWL_OK);
  assert_int_equal(pawl_system_create(model, &system, &err), PAWL_OK);
  assert_int_equal(pawl_equilibrium_find(system, NULL, &e, &err), PAWL_ERROR_RUN);
  assert_null(e);
  if (!strstr(err.message, message)) {
    print_error("%s\n", err.message);
  }
  assert_non_null(strstr(err.message, message));
  pawl_system_destroy(system);
  pawl_model_destroy(model);
}

// |lambda| <= capacity: held where the force is less, and else slid to where it is the capacity.
// (E6)
static void test_brakes(void** state) {
  (void)state;
  static const char form[] =
      "model: b\nparameters: {F: %s}\ncoordinates: {y: %s, x: 0}\nmass: {y: 2, x: 1}\n"
      "potential: 50*x^2 + 5*(x - y)^2\nforces: {y: F}\n"
      "locks: {h: {lock: y, engaged: true, capacity: 2}}\n";
  static const struct {
    const char *F, *y;
    double rest, lambda;
  } cases[] = {{"1", "0", 0, -1}, {"3", "0", 0.11, -2}, {"0", "1", 0.22, 2}, {"0", "0.1", 0.1, 0}};
  char text[500];
  for (size_t k = 0; k < 4; k++) {  // x = y/11, so that the springs pull y with 100 y/11
    snprintf(text, sizeof text, form, cases[k].F, cases[k].y);
    Rest r = rest_of(text);
    double lambda = k == 3 ? 10.0 / 11 : cases[k].lambda;
    CHECK_NEAR(at(&r, "y"), cases[k].rest, 1e-12);
    CHECK_NEAR(at(&r, "x"), cases[k].rest / 11, 1e-12);
    CHECK_NEAR(r.e->point.lambda[0], lambda, 1e-11);
    assert_int_equal(r.about->oscillator_count, 1);  // y holds, at its capacity, too
    CHECK_NEAR(r.about->oscillators[0].natural, sqrt(110), 1e-10);
    rest_free(&r);
  }
  // A joint that rubs, m g l sin(a) = c; friction of a rail, c = mu N, with forces of other rows.
  Rest r = rest_of(
      "model: p\ncoordinates: {a: {start: 1.4}}\nkinetic: a'^2/2\npotential: -9.81*cos(a)\n"
      "locks: {rub: {lock: a, engaged: true, capacity: 3, friction: 2}}\n");
  CHECK_NEAR(at(&r, "a"), asin(3 / 9.81), 1e-12);
  rest_free(&r);
  r = rest_of(
      "model: r\ncoordinates: {x: {start: 3}, y: 0}\nmass: {x: 1, y: 1}\n"
      "potential: 20*y + 4*x*y + 10*x^2\nconstraints: {rail: y = 0}\n"
      "locks: {rub: {lock: x, engaged: true, capacity: 0.5*abs(lambda(rail))}}\n");
  CHECK_NEAR(at(&r, "x"), 10.0 / 18, 1e-9);  // 20 x = (20 + 4 x)/2
  rest_free(&r);
  // One that holds where its expression is not linear stays where it began.
  r = rest_of(
      "model: n\ncoordinates: {x: {start: 3}, y: {start: 4}}\nmass: {x: 1, y: 1}\n"
      "potential: y\nlocks: {ring: {lock: \"hypot(x, y)\", engaged: true, capacity: 9}}\n");
  CHECK_NEAR(hypot(at(&r, "x"), at(&r, "y")), 5, 1e-12);
  CHECK_NEAR(at(&r, "y"), -5, 1e-12);
  rest_free(&r);
}

static void test_valley_in_another_mode(void** state) {
  (void)state;
  static const char form[] =
      "model: m\ncoordinates: {x: {start: -2}, y: {start: %s}}\nmass: {x: 1, y: 1}\n"
      "potential: 10*y\nconstraints:\n  track:\n    modes:\n"
      "      left: {where: x < 1, equation: y = -x%s}\n"
      "      right: {where: x > 1, equation: y = x - 2%s}\n";
  char text[400];
  snprintf(text, sizeof text, form, "2", "", "");
  expect_no_rest(text, "stays in the modes of the start");
  snprintf(text, sizeof text, form, "2.8", " + 0.2*x^2", " + 0.2");
  expect_no_rest(text, "outside the region of 'left' of 'track'");
}

static void test_no_rest(void** state) {
  (void)state;
  expect_no_rest(
      "model: c\ncoordinates: {x: , fall: }\nmass: {x: 1, fall: 1}\npotential: 9.81*fall + x^2\n",
      "'fall' would still move with an acceleration of -9.81");
  // The way down leads through the flat position of a parallelogram, where its rows are singular.
  expect_no_rest(
      "model: f\ncoordinates: {a: 1.2, b: 0, c: 1.2}\n"
      "kinetic: a'^2/2 + (sin(a)*a' + sin(b)*b')^2/2 + (cos(a)*a' + cos(b)*b')^2/2 + c'^2/2\n"
      "potential: 9.81*(2*sin(a) + sin(b))\nconstraints:\n  loop:\n"
      "    - cos(a) + 2*cos(b) - cos(c) = 2\n    - sin(a) + 2*sin(b) - sin(c) = 0\n",
      "is it a singular position of the constraints?");
}

// A column with F beside its critical load, pi^2 EI/(4 L^2): the first frequency goes to zero with
// the load, and then to growth. A wire whose squares of frequencies are 1e-18 of the stiffest. Both
// are rounding beside shear (linear.md, L27 to L29).
static void test_soft_beams(void** state) {
  (void)state;
  static const double part[] = {0.5, 0.99, 1.01};
  double critical = acos(-1) * acos(-1) * 500, square[3];
  char text[500];
  for (int k = 0; k < 3; k++) {
    snprintf(
        text, sizeof text,
        "model: c\nuse:\n  b: {element: beam, elements: 32, E: 2e11, I: 1e-8, A: 1e-2, rho: 7800,"
        " start: clamped, load: [%.17g, 0, 0]}\n",
        -part[k] * critical);
    Rest r = rest_of(text);
    const PawlOscillator* o = &r.about->oscillators[0];
    assert_int_equal(r.about->oscillator_count, 96);
    square[k] = k < 2 ? o->natural * o->natural : -o->real[0] * o->real[0];
    assert_int_equal(r.about->damping, k < 2 ? PAWL_DAMPING_UNDAMPED : PAWL_DAMPING_UNSTABLE);
    rest_free(&r);
  }
  // With th[i] = sin(k i), k = pi/64, the elements have F = 4 EI/le^2 tan^2(k/2); shear and stretch
  // take 1e-5 of it.
  double slope = (square[1] - square[2]) / 0.02, half = acos(-1) / 128;
  CHECK_NEAR(0.99 + square[1] / slope, pow(tan(half) / half, 2), 3e-5);
  snprintf(text, sizeof text,
           "model: w\nuse:\n  b: {element: beam, to: [100, 0], elements: 20, E: 2e11, I: 8e-10, "
           "A: 1e-4, rho: 7800, start: clamped, mass: lumped}\n");
  Rest r = rest_of(text);
  double first = 3.5160152685 * sqrt(2e11 * 8e-10 / 0.78) / 1e4;
  CHECK_NEAR(r.about->oscillators[0].natural / first, 1, 1e-3);
  rest_free(&r);
}

// V ~ x^4 has no stiffness at its bottom, to which each step goes a part of the way. Three balls on
// strings hang at zero, and nothing is left there to measure by.
static void test_flat_valley(void** state) {
  (void)state;
  Rest three = rest_of(
      "model: n\ncoordinates: {'p[i=1..3]': 'if(i < 2, -0.6, 0)'}\nmass: {'p[i=1..3]': 4e-3}\n"
      "potential: {for i=1..3: '-0.1962*cos(p[i])'}\n"
      "contacts: {'pair[i=1..2]': {gap: '0.2*(p[i+1] - p[i])'}}\n");
  for (int i = 0; i < 3; i++) {
    CHECK_NEAR(three.e->point.q[i], 0, 1e-18);
  }
  rest_free(&three);
  Rest r = rest_of("model: q\ncoordinates: {x: {start: 2}}\nmass: {x: 1}\npotential: (x - 1)^4\n");
  CHECK_NEAR(at(&r, "x"), 1, 1e-12);
  rest_free(&r);
  r = rest_of("model: q\ncoordinates: {x: {start: 2}}\nmass: {x: 1}\npotential: x^4\n");
  CHECK_NEAR(at(&r, "x"), 0, 1e-12);
  rest_free(&r);
}

static void test_failing_allocations(void** state) {
  (void)state;
  Rest r = rest_of(
      "model: c\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\npotential: x^4 + x^2\ncontacts: {w: "
      "{gap: x + 5}}\n");
  long long before = pawl_alloc_count();
  PawlEquilibrium* e;
  assert_int_equal(pawl_equilibrium_find(r.system, NULL, &e, NULL), PAWL_OK);
  pawl_equilibrium_destroy(e);
  long long total = pawl_alloc_count() - before;
  assert_true(total > 3);
  for (long long n = 1; n <= total; n++) {
    pawl_alloc_fail_at(n);
    PawlStatus status = pawl_equilibrium_find(r.system, NULL, &e, NULL);
    pawl_alloc_fail_at(0);
    assert_int_equal(status, PAWL_ERROR_MEMORY);
    assert_null(e);
  }
  rest_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pendulum),   cmocka_unit_test(test_catenary),
      cmocka_unit_test(test_bar),        cmocka_unit_test(test_euler_beam),
      cmocka_unit_test(test_rod),        cmocka_unit_test(test_elastica),
      cmocka_unit_test(test_contacts),   cmocka_unit_test(test_corners),
      cmocka_unit_test(test_kinks),      cmocka_unit_test(test_valley_in_another_mode),
      cmocka_unit_test(test_no_rest),    cmocka_unit_test(test_failing_allocations),
      cmocka_unit_test(test_brakes),     cmocka_unit_test(test_flat_valley),
      cmocka_unit_test(test_soft_beams),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
