// SPDX-License-Identifier: Apache-2.0
// The projections of the projected Hamilton principle: 10^4 random states of each model, the bound
// of Lemma 1, the reflection (H19) against numbers of 30 digits, and what is refused.
#include <math.h>
#include <string.h>

#include "check.h"
#include "pawl/pawl.h"
#include "system/mirror.h"

typedef struct Bench {
  PawlModel* model;
  PawlSystem* system;
  PawlMirror* mirror;
  PawlError err;
} Bench;

static void finish(Bench* b, PawlStatus status) {
  if (status != PAWL_OK) {
    fail_msg("%s", b->err.message);
  }
  assert_int_equal(pawl_system_create(b->model, &b->system, &b->err), PAWL_OK);
}

static Bench of_file(const char* name, const char* override) {
  Bench b = {0};
  char path[512];
  const char* overrides[] = {override};
  snprintf(path, sizeof path, "%s/%s.yaml", PAWL_MODELS, name);
  finish(&b, pawl_model_load(path, override ? 1 : 0, overrides, &b.model, &b.err));
  return b;
}

static Bench of_text(const char* text) {
  Bench b = {0};
  finish(&b, pawl_model_parse(text, strlen(text), "test", 0, NULL, &b.model, &b.err));
  return b;
}

static void end(Bench* b) {
  pawl_mirror_destroy(b->mirror);
  pawl_system_destroy(b->system);
  pawl_model_destroy(b->model);
}

static void build(Bench* b) {
  if (pawl_mirror_create(b->system, &b->mirror, &b->err) != PAWL_OK) {
    fail_msg("%s", b->err.message);
  }
}

// The system is refused, with these words.
static void refused(Bench b, const char* words) {
  char room[400];
  const char* why;
  assert_int_equal(pawl_mirror_obstacle(b.system, room, sizeof room, &why, &b.err), PAWL_OK);
  if (!why || !strstr(why, words)) {
    fail_msg("'%s' is not in: %s", words, why ? why : "(not refused)");
  }
  end(&b);
}

// ---- the properties of P ------------------------------------------------------------------------
static void test_random_states(void** unused) {
  (void)unused;
  static const char* const names[] = {"sine-ground", "bouncing-bar", "pendulum-wall",
                                      "bar-on-guide"};
  for (int k = 0; k < 4; k++) {
    Bench b = of_file(names[k], NULL);
    PawlMirrorCheck c;
    build(&b);
    assert_int_equal(pawl_mirror_check(b.mirror, 10000, &c, &b.err), PAWL_OK);
    assert_true(c.infeasible > 2000 && c.boundary > 8000);
    assert_true(c.outside == 0.0 && c.idempotence == 0.0);  // exact: P is the identity there
    assert_true(c.continuity < 1e-12 && c.inverse < 1e-8);
    assert_true(c.reflection < 1e-9);
    assert_true(c.determinant < -1e-3);
    assert_true(c.onto < 1e-12 && c.orthogonal < 1e-13 && c.commute < 1e-13);
    end(&b);
  }
}

// a of Lemma 1: 2 for the sine ground, 6/L for the bar; k is twice its square where none is given.
static void test_bound(void** unused) {
  (void)unused;
  Bench sine = of_file("sine-ground", NULL), bar = of_file("bouncing-bar", "L=0.5");
  build(&sine);
  build(&bar);
  CHECK_NEAR(pawl_mirror_bound(sine.mirror), 2.0, 1e-9);
  CHECK_NEAR(pawl_mirror_k(sine.mirror), 20.0, 0.0);
  assert_int_equal(pawl_mirror_coordinate(sine.mirror), 1);
  CHECK_NEAR(pawl_mirror_bound(bar.mirror), 12.0, 1e-7);
  CHECK_NEAR(pawl_mirror_k(bar.mirror), 2.0 * 144.0, 1e-4);
  assert_int_equal(pawl_mirror_coordinate(bar.mirror), 0);
  end(&sine);
  end(&bar);
}

// By hand: a ball over a floor with k = 1 and nothing to shift, z = -2 is mapped to 2.
static void test_ball(void** unused) {
  (void)unused;
  Bench b = of_text(
      "model: ball\ncoordinates: {y: {start: 1}}\nmass: {y: 2}\n"
      "contacts: {floor: {gap: y, restitution: 1}}\n");
  double z = -2.0, q, A, phi, slope;
  build(&b);
  assert_true(pawl_mirror_map(b.mirror, &z, &q) && q == 2.0);
  assert_true(pawl_mirror_map(b.mirror, &q, &z) && z == 2.0);
  z = -1.0;
  assert_true(pawl_mirror_lift(b.mirror, &q, &z) && z == -2.0);
  assert_true(pawl_mirror_gap(b.mirror, &z, &phi, &slope) && phi == -2.0 && slope == 1.0);
  assert_true(pawl_mirror_reflection(b.mirror, &z, NULL, &A) && A == -1.0);
  end(&b);
}

// A gap that is monotone but not linear in any coordinate has a projection by Newton's method.
static void test_nonlinear_gap(void** unused) {
  (void)unused;
  Bench b = of_text(
      "model: bent\ncoordinates: {x: , y: {start: 2}}\nmass: {x: 1, y: 3}\n"
      "contacts: {wall: {gap: y + 0.3*sin(y) + 0.5*cos(x), restitution: 1}}\n");
  double z[2] = {0.4, -1.5}, q[2], back[2] = {0.3, -1.2}, before, after;
  PawlMirrorCheck c;
  PawlLagrangian* pulled;
  build(&b);
  assert_true(pawl_mirror_map(b.mirror, z, q));
  assert_true(pawl_mirror_gap(b.mirror, z, &before, NULL));
  assert_true(pawl_mirror_gap(b.mirror, q, &after, NULL));
  CHECK_NEAR(after, -before, 1e-14);
  assert_true(pawl_mirror_lift(b.mirror, q, back));
  CHECK_NEAR(back[0], z[0], 1e-13);
  CHECK_NEAR(back[1], z[1], 1e-13);
  assert_int_equal(pawl_mirror_check(b.mirror, 2000, &c, &b.err), PAWL_OK);
  assert_true(c.reflection < 1e-9 && c.determinant < 0.0);
  assert_int_equal(pawl_mirror_pull_back(b.mirror, &pulled, &b.err), PAWL_ERROR_USAGE);
  assert_non_null(strstr(b.err.message, "linear in a coordinate"));
  end(&b);
}

// ---- the reflection -----------------------------------------------------------------------------
static void check_velocity(PawlMirror* mirror, const double* q, const double* v,
                           const double* expected) {
  double A[9];
  assert_true(pawl_mirror_reflection(mirror, q, NULL, A));
  for (int i = 0; i < 3; i++) {
    double out = A[i] * v[0] + A[i + 3] * v[1] + A[i + 6] * v[2];
    CHECK_NEAR(out, expected[i], 1e-13);
  }
}

// Velocities after an impact of the bar, free and on its guide, computed with 30 digits from energy
// and momentum; order y, x, theta. A guide of slope 0.3 is not separable, but A is the same map.
static void test_impact_map(void** unused) {
  (void)unused;
  static const double q[3][3] = {{0.4330127018922193, 0, 0.5235987755982988},
                                 {0.34835335467358275, 0, -0.8},
                                 {0.18117887723833684, 0, 1.2}};
  static const double v[3][3] = {{-2, 0.5, 1}, {-1, 0, 3}, {-3, 1, -2}};
  static const double after[3][3] = {{0, 0.5, 7},
                                     {0.6322310882422355, 0, -4.025345477436745},
                                     {-0.8192233356157749, 1, 10.195414533827979}};
  Bench bar = of_file("bouncing-bar", NULL), guide = of_file("bar-on-guide", NULL);
  build(&bar);
  build(&guide);
  for (int k = 0; k < 3; k++) {
    double held[3] = {v[k][0], 0, v[k][2]}, held_after[3] = {after[k][0], 0, after[k][2]};
    check_velocity(bar.mirror, q[k], v[k], after[k]);
    check_velocity(guide.mirror, q[k], held, held_after);
  }
  end(&bar);
  end(&guide);
}

// ---- refusals -----------------------------------------------------------------------------------
#define BALL "model: m\ncoordinates: {x: , y: {start: 1}}\nmass: {x: 1, y: 1}\n"
#define FLOOR "contacts: {floor: {gap: y, restitution: 1}}\n"

static void test_refused_projections(void** unused) {
  (void)unused;
  refused(of_text(BALL "contacts: {disc: {gap: x^2 + y^2 - 0.25, restitution: 1}}\n"),
          "not monotone in any coordinate, condition (12)");
  refused(of_text(BALL FLOOR "projection: {coordinate: x}\n"), "not monotone in 'x'");
  refused(of_text(BALL "contacts: {f: {gap: exp(y) - 1, restitution: 1}}\n"),
          "is not onto: the normal form needs");
  refused(of_text(BALL "contacts: {f: {gap: y^3, restitution: 1}}\n"),
          "the gradient of the gap vanishes on its boundary");
  refused(of_file("pendulum-wall", "xc=0.8"), "folds");
  refused(of_file("pendulum-wall", "b3=(pi - 2*a)/(2*(pi - a)^3)"),  // as printed
          "not the identity on the boundary");
  refused(of_text(BALL FLOOR "projection: {map: {y: 2*y}}\n"), "the feasible side");
  refused(of_text(BALL FLOOR "projection: {map: {y: -2*y}}\n"), "no reflection (11)");
  refused(of_text(BALL FLOOR "projection: {map: {y: -y, x: x + 0.1}}\n"),
          "not the identity on the boundary");
  refused(of_text(BALL "contacts: {floor: {gap: y + 2*sin(x), restitution: 1}}\n"
                       "projection: {k: 3.9, coordinate: y}\n"),
          "Lemma 1 asks for k > 4");
}

static void test_refused_constraints(void** unused) {
  (void)unused;
  refused(of_file("bar-on-guide", "slope=0.3"), "Lemma 3");
  refused(of_text(BALL FLOOR "constraints: {rail: x = 0}\n"), "without a projection onto them");
  refused(of_text(BALL FLOOR "constraints: {rail: x = 0}\nprojection: {constraints: {x: 1}}\n"),
          "a part onto the constraints that is none");
  refused(
      of_text(BALL FLOOR "constraints: {rail: x = 0}\nprojection: {constraints: {x: 0, y: 2*y}}\n"),
      "a part onto the constraints that is none");
}

static void test_refused_models(void** unused) {
  (void)unused;
  refused(of_text(BALL FLOOR "forces: {x: 1}\n"), "the force on 'x'");
  refused(of_text(BALL FLOOR "dissipation: x'^2\n"), "the dissipation");
  refused(of_text(BALL FLOOR "potential: y*sin(t)\n"), "depend on t");
  refused(of_text(BALL FLOOR "kinetic: y*x'\n"), "not of the form");
  refused(of_text(BALL FLOOR "kinetic: x'^4\n"), "not of the form");
  refused(of_text(BALL FLOOR "locks: {brake: {lock: x, at: 1}}\n"), "engages and lets go");
  refused(of_text(BALL "contacts: {floor: {gap: y, restitution: 0.5}}\n"), "the restitution 0.5");
  refused(
      of_text(BALL "contacts: {a: {gap: y, restitution: 1}, b: {gap: x + 3, restitution: 1}}\n"),
      "more than one contact");
  refused(of_text(BALL "contacts: {floor: {gap: y + 0.1*sin(t), restitution: 1}}\n"), "on t");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_states),
                                     cmocka_unit_test(test_bound),
                                     cmocka_unit_test(test_ball),
                                     cmocka_unit_test(test_nonlinear_gap),
                                     cmocka_unit_test(test_impact_map),
                                     cmocka_unit_test(test_refused_projections),
                                     cmocka_unit_test(test_refused_constraints),
                                     cmocka_unit_test(test_refused_models)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
