// SPDX-License-Identifier: Apache-2.0
// Forces for a prescribed motion: against hand-worked torques, with the defining conditions
// recomputed, redundant and missing drives, and by running the motion with the forces found.
#include <string.h>

#include "check.h"
#include "pawl/pawl.h"

typedef struct Case {
  PawlModel* model;
  PawlSystem* system;
  PawlInverse* inverse;
  PawlError err;
} Case;

static PawlStatus begin(Case* c, PawlModel* model, int count, const char* const* drives) {
  c->model = model;
  assert_int_equal(pawl_system_create(model, &c->system, &c->err), PAWL_OK);
  return pawl_inverse_create(c->system, count, drives, &c->inverse, &c->err);
}

static void need(const Case* c, PawlStatus status) {
  if (status != PAWL_OK) {
    print_error("%s\n", c->err.message);
  }
  assert_int_equal(status, PAWL_OK);
}

static Case case_of(const char* text, int count, const char* const* drives) {
  Case c = {0};
  PawlModel* model;
  need(&c, pawl_model_parse(text, strlen(text), "m.yaml", 0, NULL, &model, &c.err));
  need(&c, begin(&c, model, count, drives));
  return c;
}

static Case case_of_file(const char* path, int count, const char* const* drives) {
  Case c = {0};
  PawlModel* model;
  need(&c, pawl_model_load(path, 0, NULL, &model, &c.err));
  need(&c, begin(&c, model, count, drives));
  return c;
}

static void end(Case* c) {
  pawl_inverse_destroy(c->inverse);
  pawl_system_destroy(c->system);
  pawl_model_destroy(c->model);
}

// ---- an open chain ------------------------------------------------------------------------------
// The motion of the three joints: angles that swing, with rates and accelerations.
static void swing(double t, double* q, double* v, double* a) {
  static const double size[] = {0.5, 0.7, -0.9}, w[] = {2.0, 3.0, 1.5};
  for (int k = 0; k < 3; k++) {
    q[k] = 0.3 * k + size[k] * sin(w[k] * t);
    v[k] = size[k] * w[k] * cos(w[k] * t);
    a[k] = -size[k] * w[k] * w[k] * sin(w[k] * t);
  }
}

// Torques of the planar chain by Newton and Euler: accelerations of centres outwards, then forces
// and torques inwards. Data of models/planar-3r.yaml; gravity along -y.
static void newton_euler(const double* q, const double* v, const double* a, double* torque) {
  const double L = 1.0, m = 108.0, J = 9.36, g = 9.81;
  double angle = 0, w = 0, e = 0, ax = 0, ay = g;  // of the joint; gravity as a rising base
  double cx[3], cy[3], dx[3], dy[3], spin[3];
  for (int k = 0; k < 3; k++) {
    angle += q[k];
    w += v[k];
    e += a[k];
    dx[k] = L * cos(angle);
    dy[k] = L * sin(angle);
    spin[k] = e;
    cx[k] = ax + (-w * w * dx[k] - e * dy[k]) / 2.0;
    cy[k] = ay + (-w * w * dy[k] + e * dx[k]) / 2.0;
    ax += -w * w * dx[k] - e * dy[k];
    ay += -w * w * dy[k] + e * dx[k];
  }
  double fx = 0, fy = 0, moment = 0;  // of the next link on its joint
  for (int k = 2; k >= 0; k--) {
    double px = m * cx[k], py = m * cy[k];
    moment += J * spin[k] + (dx[k] * py - dy[k] * px) / 2.0 + dx[k] * fy - dy[k] * fx;
    fx += px;
    fy += py;
    torque[k] = moment;
  }
}

static void test_open_chain(void** state) {
  (void)state;
  Case c = case_of_file(PAWL_MODELS "/planar-3r.yaml", 0, NULL);
  assert_int_equal(pawl_inverse_drive_count(c.inverse), 3);
  for (double t = 0.0; t < 2.0; t += 0.13) {
    double q[3], v[3], a[3], torque[3], power = 0.0;
    PawlInverseForces f;
    swing(t, q, v, a);
    newton_euler(q, v, a, torque);
    need(&c, pawl_inverse_complete(c.inverse, t, NULL, q, v, a, &c.err));
    need(&c, pawl_inverse_solve(c.inverse, t, q, v, a, &f, &c.err));
    assert_int_equal(f.freedom, 3);
    assert_int_equal(f.reached, 3);
    for (int k = 0; k < 3; k++) {
      CHECK_NEAR(f.force[k], torque[k], 1e-10);  // torques of some thousand N m
      power += torque[k] * v[k];
    }
    CHECK_NEAR(f.power, power, 1e-9);
  }
  end(&c);
}

// ---- the motion once more, by the forces found
// ---------------------------------------------------
typedef struct Driven {
  Case* c;
  PawlEval* eval;
} Driven;

// The model with the forces of the prescribed motion at time t added: what a controller without
// feedback does.
static int evaluate(void* context, unsigned mask, const PawlPoint* point, PawlValues* x) {
  Driven* d = context;
  PawlPattern H = pawl_system_pattern_H(d->c->system);
  if (pawl_eval_run(d->eval, point, NULL) != PAWL_OK) {
    return 1;
  }
  const PawlValues* from = pawl_eval_values(d->eval);
  if (mask & PAWL_MASS) {
    memcpy(x->M, from->M, (size_t)H.start[3] * sizeof(double));
  }
  if (mask & PAWL_ENERGY) {
    memcpy(x->energy, from->energy, 2 * sizeof(double));
  }
  if (mask & PAWL_FORCE) {
    double q[3], v[3], a[3];
    PawlInverseForces f;
    swing(point->t, q, v, a);
    if (pawl_inverse_solve(d->c->inverse, point->t, q, v, a, &f, NULL) != PAWL_OK) {
      return 1;
    }
    for (int k = 0; k < 3; k++) {
      x->f[k] = from->f[k] + f.force[k];
    }
  }
  return 0;
}

static void test_forward_again(void** state) {
  (void)state;
  Case c = case_of_file(PAWL_MODELS "/planar-3r.yaml", 0, NULL);
  Driven driven = {&c, NULL};
  need(&c, pawl_eval_create(c.system, PAWL_MASS | PAWL_FORCE | PAWL_ENERGY, &driven.eval, &c.err));
  double q[3], v[3], a[3];
  swing(0.0, q, v, a);
  PawlPattern H = pawl_system_pattern_H(c.system);
  PawlCallbacks callbacks = {.context = &driven,
                             .sizes = {.q = 3, .v = 3},
                             .H = &H,
                             .q_start = q,
                             .v_start = v,
                             .evaluate = evaluate};
  PawlSystem* forward;
  PawlSim* sim;
  need(&c, pawl_system_create_callbacks(&callbacks, &forward, &c.err));
  PawlSimDef def = pawl_sim_def_default();
  def.simulate.method = "dopri";
  def.simulate.rtol = 1e-13;
  def.simulate.until = 1.0;
  def.simulate.step = 0.05;
  need(&c, pawl_sim_create(forward, &def, &sim, &c.err));
  need(&c, pawl_sim_run(sim, NULL, NULL, &c.err));
  double q_end[3], v_end[3];
  swing(1.0, q_end, v_end, a);
  for (int k = 0; k < 3; k++) {
    CHECK_NEAR(pawl_sim_state(sim)->q[k], q_end[k], 1e-9);
    CHECK_NEAR(pawl_sim_state(sim)->v[k], v_end[k], 1e-8);
  }
  pawl_sim_destroy(sim);
  pawl_system_destroy(forward);
  pawl_eval_destroy(driven.eval);
  end(&c);
}

// ---- constraints, redundant drives --------------------------------------------------------------
// Two masses on a circle of radius 1 at fixed distance: the linkage has one degree of freedom.
static const char LINKAGE[] =
    "model: linkage\n"
    "coordinates: {x: {start: 1}, y: , u: {start: 0.6}, w: {start: 0.8}}\n"
    "mass: {x: 2, y: 2, u: 3, w: 3}\npotential: 9.81*(2*y + 3*w)\n"
    "constraints: {one: x^2 + y^2 = 1, two: u^2 + w^2 = 1, rod: (x - u)^2 + (y - w)^2 = 0.8}\n"
    "locks: {motor: {lock: \"atan2(y, x)\", engaged: false}}\n";

// y = sin(t) is given: all turns with the angle t, since the distance is that of the start.
static void turn(Case* c, double t, double* q, double* v, double* a) {
  static const unsigned char given[] = {0, 1, 0, 0};
  q[1] = sin(t);
  v[1] = cos(t);
  a[1] = -sin(t);
  need(c, pawl_inverse_complete(c->inverse, t, given, q, v, a, &c->err));
}

static void test_completion(void** state) {
  (void)state;
  const char* drives[] = {"motor"};
  Case c = case_of(LINKAGE, 1, drives);
  double q[4] = {1, 0, 0.6, 0.8}, v[4], a[4], angle = atan2(0.8, 0.6);
  for (double t = 0.0; t < 1.2; t += 0.1) {
    PawlInverseForces f;
    turn(&c, t, q, v, a);
    CHECK_NEAR(q[0], cos(t), 1e-14);
    CHECK_NEAR(q[2], cos(t + angle), 1e-13);
    CHECK_NEAR(v[3], cos(t + angle), 1e-13);
    CHECK_NEAR(a[2], -cos(t + angle), 1e-13);
    // The torque about the centre balances gravity alone: the rate is constant.
    need(&c, pawl_inverse_solve(c.inverse, t, q, v, a, &f, &c.err));
    CHECK_NEAR(f.force[0], 9.81 * (2 * cos(t) + 3 * cos(t + angle)), 1e-12);
    assert_int_equal(f.freedom, 1);
  }
  end(&c);
}

// What has come to rest has rates that are rounding of those before.
static void test_rest_after_motion(void** state) {
  (void)state;
  Case c = case_of(LINKAGE, 0, NULL);
  double q[4] = {1, 0, 0.6, 0.8}, v[4], a[4], zero[4] = {0};
  turn(&c, 0.3, q, v, a);
  double rest[4] = {1.1e-17, -0.7e-17, 0.4e-17, 0.9e-17};
  need(&c, pawl_inverse_complete(c.inverse, 0.4, NULL, q, rest, zero, &c.err));
  rest[0] = 1e-5;
  assert_int_equal(pawl_inverse_complete(c.inverse, 0.5, NULL, q, rest, zero, &c.err),
                   PAWL_ERROR_RUN);
  end(&c);
}

// (D2) and minimum norm recomputed: M a = f + G^T lambda + B u, and u is shorter than with any
// share moved from one drive to the other.
static void test_redundant_drives(void** state) {
  (void)state;
  const char* drives[] = {"x", "w", "motor"};
  Case c = case_of(LINKAGE, 3, drives);
  double q[4] = {1, 0, 0.6, 0.8}, v[4], a[4];
  PawlInverseForces f;
  turn(&c, 0.4, q, v, a);
  need(&c, pawl_inverse_solve(c.inverse, 0.4, q, v, a, &f, &c.err));
  assert_int_equal(f.reached, 1);
  double G[3][4] = {{2 * q[0], 2 * q[1], 0, 0},
                    {0, 0, 2 * q[2], 2 * q[3]},
                    {2 * (q[0] - q[2]), 2 * (q[1] - q[3]), 2 * (q[2] - q[0]), 2 * (q[3] - q[1])}};
  double B[3][4] = {{1, 0, 0, 0}, {0, 0, 0, 1}, {-q[1], q[0], 0, 0}};
  double mass[] = {2, 2, 3, 3}, weight[] = {0, -2 * 9.81, 0, -3 * 9.81};
  double along[3] = {0};  // what each drive does along the one free motion, v
  for (int j = 0; j < 4; j++) {
    double left = mass[j] * a[j] - weight[j];
    for (int k = 0; k < 3; k++) {
      left -= G[k][j] * f.lambda[k] + B[k][j] * f.force[k];
      along[k] += B[k][j] * v[j];
    }
    CHECK_NEAR(left, 0.0, 1e-12);
  }
  for (int k = 0; k < 3; k++) {  // u is parallel to what the drives can do: of minimum norm
    CHECK_NEAR(f.force[k] * along[0], f.force[0] * along[k], 1e-12);
  }
  end(&c);
}

// ---- what cannot be -----------------------------------------------------------------------------
static void test_missing_drive(void** state) {
  (void)state;
  const char* drives[] = {"q1", "q3"};
  Case c = case_of_file(PAWL_MODELS "/planar-3r.yaml", 2, drives);
  double q[3], v[3], a[3];
  PawlInverseForces f;
  swing(0.3, q, v, a);
  assert_int_equal(pawl_inverse_solve(c.inverse, 0.3, q, v, a, &f, &c.err), PAWL_ERROR_RUN);
  assert_non_null(strstr(c.err.message, "q1, q3"));
  assert_non_null(strstr(c.err.message, "'q2' lacks a force"));
  assert_non_null(strstr(c.err.message, "3 degrees of freedom, and the drives reach 2"));
  end(&c);
}

// Where the force of a drive has no direction left, the position is singular: x pushes nothing when
// the mass is at the end of its way along x.
static void test_singular_drive(void** state) {
  (void)state;
  const char* drives[] = {"x"};
  Case c = case_of(
      "model: m\ncoordinates: {x: {start: 1}, y: }\nmass: {x: 1, y: 1}\npotential: 9.81*y\n"
      "constraints: {circle: x^2 + y^2 = 1}\n",
      1, drives);
  PawlInverseForces f;
  double q[] = {1, 0}, v[] = {0, 0}, a[] = {0, 0};
  assert_int_equal(pawl_inverse_solve(c.inverse, 0, q, v, a, &f, &c.err), PAWL_ERROR_RUN);
  assert_non_null(strstr(c.err.message, "'y' lacks a force of 9.81"));
  double a_free[] = {0, -9.81};  // but the fall needs no drive
  need(&c, pawl_inverse_solve(c.inverse, 0, q, v, a_free, &f, &c.err));
  assert_int_equal(f.reached, 0);
  CHECK_NEAR(f.force[0], 0.0, 1e-12);
  end(&c);
}

static void test_wrong_motions(void** state) {
  (void)state;
  Case c = case_of(LINKAGE, 0, NULL);
  double q[4] = {1, 0, 0.6, 0.7}, v[4] = {0}, a[4] = {0};
  assert_int_equal(pawl_inverse_complete(c.inverse, 0, NULL, q, v, a, &c.err), PAWL_ERROR_RUN);
  assert_non_null(strstr(c.err.message, "violates 'two'"));
  q[3] = 0.8;
  v[0] = 1.0;
  assert_int_equal(pawl_inverse_complete(c.inverse, 0, NULL, q, v, a, &c.err), PAWL_ERROR_RUN);
  assert_non_null(strstr(c.err.message, "its rate is"));
  v[0] = 0.0;
  a[1] = 1.0;
  assert_int_equal(pawl_inverse_complete(c.inverse, 0, NULL, q, v, a, &c.err), PAWL_ERROR_RUN);
  assert_non_null(strstr(c.err.message, "its acceleration is"));
  end(&c);
  c = case_of_file(PAWL_MODELS "/planar-3r.yaml", 0, NULL);
  static const unsigned char given[] = {1, 0, 1};
  assert_int_equal(pawl_inverse_complete(c.inverse, 0, given, q, v, a, &c.err), PAWL_ERROR_RUN);
  assert_non_null(strstr(c.err.message, "do not determine 'q2'"));
  end(&c);
  // x = 2 is off the circle, and y does not bring it back.
  c = case_of(
      "model: c\ncoordinates: {x: {start: 1}, y: }\nmass: {x: 1, y: 1}\n"
      "constraints: {circle: x^2 + y^2 = 1}\n",
      0, NULL);
  double far[2] = {2, 0}, still[2] = {0}, none[2] = {0};
  static const unsigned char first[] = {1, 0};
  assert_int_equal(pawl_inverse_complete(c.inverse, 0, first, far, still, none, &c.err),
                   PAWL_ERROR_RUN);
  assert_non_null(strstr(c.err.message,
                         "no place with this motion was found: 'circle' (row 1) is "
                         "off by 3"));
  end(&c);
}

static void test_wrong_drives(void** state) {
  (void)state;
  Case c = {0};
  PawlModel* model;
  need(&c, pawl_model_parse(LINKAGE, strlen(LINKAGE), "m", 0, NULL, &model, &c.err));
  const char* unknown[] = {"moter"};
  assert_int_equal(begin(&c, model, 1, unknown), PAWL_ERROR_USAGE);
  assert_non_null(strstr(c.err.message, "did you mean 'motor'?"));
  const char* twice[] = {"x", "x"};
  assert_int_equal(pawl_inverse_create(c.system, 2, twice, &c.inverse, &c.err), PAWL_ERROR_USAGE);
  assert_non_null(strstr(c.err.message, "given twice"));
  end(&c);
}

// ---- topology -----------------------------------------------------------------------------------
// With joints 2 and 3 locked the multipliers of the locks are the torques that a free chain would
// need there, and the drive at joint 1 is the same.
static void test_locked_chain(void** state) {
  (void)state;
  const char* drives[] = {"q1"};
  Case c = case_of_file(PAWL_MODELS "/planar-3r-lock.yaml", 1, drives);
  PawlStepper* stepper;
  PawlState* now;
  PawlSimulateDef def = pawl_simulate_def_default();
  def.method = "rk4";
  need(&c, pawl_stepper_create(c.system, &def, &stepper, &c.err));
  need(&c, pawl_state_create(stepper, &now, &c.err));
  need(&c, pawl_stepper_start(stepper, now, false, &c.err));
  for (int k = 0; k < pawl_system_constraint_count(c.system); k++) {
    need(&c, pawl_stepper_engage(stepper, now, k, &c.err));
  }
  pawl_inverse_enter(c.inverse, now);
  double v[3] = {0.7, 0, 0}, a[3] = {-1.1, 0, 0}, torque[3];
  PawlInverseForces f;
  newton_euler(now->q, v, a, torque);
  need(&c, pawl_inverse_complete(c.inverse, 0, NULL, now->q, v, a, &c.err));
  need(&c, pawl_inverse_solve(c.inverse, 0, now->q, v, a, &f, &c.err));
  CHECK_NEAR(f.force[0], torque[0], 1e-9);
  CHECK_NEAR(f.lambda[0], torque[1], 1e-9);
  CHECK_NEAR(f.lambda[1], torque[2], 1e-9);
  pawl_state_destroy(now);
  pawl_stepper_destroy(stepper);
  end(&c);
}

// A point on a track of two branches: the force across the track follows the region of the place.
static void test_regions(void** state) {
  (void)state;
  const char* drives[] = {"x"};
  Case c = case_of(
      "model: m\ncoordinates: {x: {start: -1}, y: }\nmass: {x: 2, y: 2}\npotential: 20*y\n"
      "constraints: {track: {modes: {flat: {where: x < 0, equation: y = 0}, ramp: {where: x > 0, "
      "equation: y = x}}}}\n",
      1, drives);
  static const unsigned char given[] = {1, 0};
  for (int k = 0; k < 2; k++) {
    double q[] = {k - 0.5, 0}, v[] = {1, 0}, a[] = {3, 0};
    PawlInverseForces f;
    need(&c, pawl_inverse_complete(c.inverse, 0, given, q, v, a, &c.err));
    CHECK_NEAR(q[1], k ? q[0] : 0.0, 1e-15);
    CHECK_NEAR(a[1], k ? 3.0 : 0.0, 1e-15);
    need(&c, pawl_inverse_solve(c.inverse, 0, q, v, a, &f, &c.err));
    CHECK_NEAR(f.force[0], k ? 6.0 + 26.0 : 6.0, 1e-12);
  }
  end(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_open_chain),       cmocka_unit_test(test_forward_again),
      cmocka_unit_test(test_completion),       cmocka_unit_test(test_rest_after_motion),
      cmocka_unit_test(test_redundant_drives), cmocka_unit_test(test_missing_drive),
      cmocka_unit_test(test_singular_drive),   cmocka_unit_test(test_wrong_motions),
      cmocka_unit_test(test_wrong_drives),     cmocka_unit_test(test_locked_chain),
      cmocka_unit_test(test_regions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
