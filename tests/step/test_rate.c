// SPDX-License-Identifier: Apache-2.0
// Rate equations in motion (docs/theory/rate.md): a sleigh, a rolling disc, a skate with two modes,
// a wheel that slips, against closed forms and a second program; forces, functions of the caller.
#include "pawl/verify.h"
#include "step/motion.h"
#include "switch/runs.h"

// ---- the sleigh ---------------------------------------------------------------------------------
static const double SLEIGH_M = 2.0, SLEIGH_J = 0.3, SLEIGH_A = 0.4, SLEIGH_U = 0.5, SLEIGH_W = 2.0;

typedef struct Sleigh {
  double u, w, phi, force;
} Sleigh;

// The closed form of models/skater.yaml.
static Sleigh sleigh_at(double t) {
  double a = SLEIGH_A, b = sqrt(a * a + SLEIGH_J / SLEIGH_M), c = hypot(SLEIGH_U, b * SLEIGH_W);
  double s0 = atanh(SLEIGH_U / c), s = a * c / (b * b) * t + s0;
  double u = c * tanh(s), w = c / b / cosh(s);
  return (Sleigh){u, w, 2 * b / a * (atan(tanh(s / 2)) - atan(tanh(s0 / 2))),
                  SLEIGH_M * u * w * (1 - a * a / (b * b))};
}

// Places by Simpson's rule on u cos phi and u sin phi; the error is below 1e-14.
static Reference sleigh_reference(double t) {
  enum { PIECES = 4000 };
  double x = 0, y = 0, h = t / PIECES;
  for (int k = 0; k <= PIECES; k++) {
    Sleigh s = sleigh_at(k * h);
    double weight = k == 0 || k == PIECES ? 1 : k % 2 ? 4 : 2;
    x += weight * h / 3 * s.u * cos(s.phi);
    y += weight * h / 3 * s.u * sin(s.phi);
  }
  Sleigh s = sleigh_at(t);
  return (Reference){t, {x, y, s.phi}, {s.u * cos(s.phi), s.u * sin(s.phi), s.w}};
}

static void check_sleigh(const Motion* m, double tolerance) {
  Reference r = sleigh_reference(m->state->t);
  Errors e = error_at(m, &r);
  CHECK_NEAR(e.q, 0, tolerance);
  CHECK_NEAR(e.v, 0, tolerance);
  CHECK_NEAR(m->state->lambda[0], sleigh_at(m->state->t).force, 10 * tolerance);
}

static void test_sleigh_in_three_forms(void** state) {
  (void)state;
  static const char* const forms[] = {"index-1", "projected", "minimal"};
  for (int k = 0; k < 3; k++) {
    Motion m = motion_file("skater", NULL);
    m.def.form = forms[k];
    m.def.rtol = 1e-11;
    m.def.atol = 1e-12;
    motion_run(&m, "dopri", 4, 400, NULL);
    check_sleigh(&m, 1e-9);
    motion_run(&m, "rk4", 4, 4000, NULL);
    check_sleigh(&m, 1e-9);
    motion_end(&m);
  }
}

static void test_sleigh_by_tolerance(void** state) {
  (void)state;
  static const char* const methods[] = {"ark", "ida", "event-driven"};
  for (int k = 0; k < 3; k++) {
    Motion m = motion_file("skater", NULL);
    m.def.rtol = 1e-11;
    m.def.atol = 1e-12;
    if (motion_can(&m, methods[k])) {  // SUNDIALS may be absent
      motion_run(&m, methods[k], 4, 400, NULL);
      check_sleigh(&m, 1e-7);
    }
    motion_end(&m);
  }
}

static void test_sleigh_orders(void** state) {
  (void)state;
  static const char* const second[] = {"ga-v", "ga-a", "ga-pv", "ga-pva", "nsga-pvv", "nsga-pva"};
  Reference references[] = {sleigh_reference(1), sleigh_reference(2)};
  Motion m = motion_file("skater", NULL);
  for (int k = 0; k < 6; k++) {
    check_order(&m, second[k], 2, 0.1, 0.02, 2, references);
  }
  check_order(&m, "rk4", 4, 0.2, 0.1, 2, references);
  check_order(&m, "moreau-jean", 1, 0.1, 0.01, 2, references);
  motion_end(&m);
}

// M v' = f + A^T lambda and A v' + A' v = 0 by hand, and A v = 0, in each step.
static void check_step(const Motion* m, double level, double balance) {
  const double *q = m->state->q, *v = m->state->v, *a = m->state->a;
  double lambda = m->state->lambda[0], s = sin(q[2]), c = cos(q[2]);
  double M = SLEIGH_M, A = SLEIGH_A, centre[2];
  CHECK_NEAR(v[1] * c - v[0] * s, 0, level);
  CHECK_NEAR(a[1] * c - a[0] * s - v[2] * (v[1] * s + v[0] * c), 0, balance);
  centre[0] = a[0] - A * (a[2] * s + v[2] * v[2] * c);
  centre[1] = a[1] + A * (a[2] * c - v[2] * v[2] * s);
  CHECK_NEAR(M * centre[0], -lambda * s, balance);
  CHECK_NEAR(M * centre[1], lambda * c, balance);
  CHECK_NEAR((SLEIGH_J + M * A * A) * a[2] + M * A * (a[1] * c - a[0] * s), 0, balance);
}

static void test_each_step_of_the_sleigh(void** state) {
  (void)state;
  static const char* const methods[] = {"rk4", "dopri", "ga-pva", "nsga-pva"};
  Motion m = motion_file("skater", NULL);
  for (int k = 0; k < 4; k++) {
    motion_start(&m, methods[k]);
    for (int step = 0; step < 200; step++) {
      motion_step(&m, 0.01);
      check_step(&m, 1e-11, 1e-9);
    }
  }
  motion_end(&m);
}

// (W9): the correction of positions knows nothing of a rate row, here beside a position row that
// asks for one.
static void test_no_correction_of_positions(void** state) {
  (void)state;
  static const char* const methods[] = {"ga-pv", "ga-pva", "nsga-pvv", "nsga-pva"};
  Motion m = motion_text(
      "model: both\ncoordinates: {x: {rate: 1}, y: , z: {start: 1, rate: 0.3}}\n"
      "mass: {x: 1, y: 1, z: 1}\nforces: {x: 1, z: -x}\n"
      "constraints: {p: y = x^3, r: {rate: \"z' = 0.3*cos(y)*x'\"}}\n");
  for (int k = 0; k < 4; k++) {
    motion_start(&m, methods[k]);
    for (int step = 0; step < 20; step++) {
      PawlCorrections by;
      motion_step(&m, 0.01);
      assert_true(pawl_stepper_corrections(m.stepper, m.state, &by));
      assert_true(by.nu[0] != 0.0 && by.nu[1] == 0.0);
      CHECK_NEAR(m.state->q[1], pow(m.state->q[0], 3), 1e-11);
      CHECK_NEAR(m.state->v[2], 0.3 * cos(m.state->q[1]) * m.state->v[0], 1e-11);
    }
  }
  motion_end(&m);
}

// With the curl (W5) in its tangent Newton's method converges quadratically; without, it takes five
// corrections a step.
static void test_corrections_are_few(void** state) {
  (void)state;
  Motion m = motion_file("skater", NULL);
  motion_run(&m, "ga-a", 4, 200, NULL);
  assert_true(pawl_stepper_info(m.stepper).newton_iterations <= 2 * 200);
  motion_end(&m);
}

static bool is_in(const char* text, const char* part) {
  return strstr(text, part) != NULL;
}

static void test_refusals(void** state) {
  (void)state;
  Motion m = motion_file("skater", NULL);
  assert_false(motion_can(&m, "ga-p"));
  assert_true(is_in(m.err.message, "ga-p cannot handle the rate equations (it holds positions"));
  assert_true(is_in(m.err.message, "these can: ga-v, "));
  assert_false(is_in(m.err.message, "php, "));
  assert_false(motion_can(&m, "php"));
  assert_true(
      is_in(m.err.message, "the rate equations ('blade': no energy leads to their forces)"));
  m.def.smooth = "ga-p";
  assert_false(motion_can(&m, "event-driven"));
  motion_end(&m);
}

// ---- the disc -----------------------------------------------------------------------------------
// By scripts/reference-rolling-disc, good to 2e-12.
typedef struct Disc {
  double t, q[5], v[5];
} Disc;
static const Disc FALLING[] = {{1,
                                {2.6635962179540082, -1.4425097752940539, -0.9712199619702312,
                                 0.5390576418647073, 6.731317453955577},
                                {1.7918806312646114, -2.615147005799346, -2.818312110745928,
                                 -0.008442890825424631, 7.78700634217038}},
                               {3,
                                {0.8834025648679914, -6.561887686735889, -2.7697411915758687,
                                 0.5307911399814061, 20.12150515643948},
                                {-3.013025840429657, -0.9812715135442455, -2.6697102395774235,
                                 0.4187073441847329, 7.67873036420553}}};

static double disc_error(Motion* m, const char* method, int steps, const Disc* to) {
  double error = 0;
  motion_run(m, method, to->t, steps, NULL);
  for (int j = 0; j < 5; j++) {
    error = fmax(error, fabs(m->state->q[j] - to->q[j]));
    error = fmax(error, fabs(m->state->v[j] - to->v[j]));
  }
  return error;
}

static void test_falling_disc(void** state) {
  (void)state;
  Motion m = motion_file("rolling-disc", NULL);
  m.def.rtol = 1e-12;
  m.def.atol = 1e-13;
  CHECK_NEAR(disc_error(&m, "dopri", 100, &FALLING[0]), 0, 1e-9);
  CHECK_NEAR(disc_error(&m, "dopri", 300, &FALLING[1]), 0, 1e-9);
  m.def.form = "minimal";
  CHECK_NEAR(disc_error(&m, "dopri", 300, &FALLING[1]), 0, 1e-9);
  static const char* const second[] = {"ga-pva", "nsga-pva", "ga-pv", "nsga-pvv", "ga-v"};
  for (int k = 0; k < 5; k++) {
    double coarse = disc_error(&m, second[k], 200, &FALLING[0]);
    double fine = disc_error(&m, second[k], 400, &FALLING[0]);
    CHECK_NEAR(log2(coarse / fine), 2, 0.1);
  }
  motion_end(&m);
}

static Run disc_run(int count, const char* const* overrides) {
  Run run = {0};
  char path[512];
  snprintf(path, sizeof path, "%s/rolling-disc.yaml", PAWL_MODELS);
  run_need(&run, pawl_model_load(path, count, overrides, &run.model, &run.err));
  run_derive(&run);
  run.def.simulate.method = "dopri";
  run.def.simulate.rtol = 1e-12;
  run.def.simulate.atol = 1e-13;
  return run;
}

// Upright and straight; and in a circle at a constant lean, where the moment of the weight turns
// the momentum (the equation stands in the model).
static void test_steady_discs(void** state) {
  (void)state;
  static const char* const straight[] = {"lean=0", "fall=0", "turn=0"};
  Run run = disc_run(3, straight);
  run_to(&run, 3, 0.01);
  check_state(&run, (double[]){9, 0, 0, 0, 18}, (double[]){3, 0, 0, 0, 6}, 1e-9);
  run_end(&run);

  double m = 2, R = 0.5, g = 9.81, A = m * R * R / 4, C = m * R * R / 2, lean = 0.3, turn = -2;
  double W =
      (A * turn * turn * cos(lean) - m * g * R) * sin(lean) / ((C + m * R * R) * turn * cos(lean));
  double roll = W - turn * sin(lean), t = 2, radius = R * W / turn;
  char of_roll[64];
  snprintf(of_roll, sizeof of_roll, "roll=%.17g", roll);
  run = disc_run(4, (const char* const[]){"lean=0.3", "fall=0", "turn=-2", of_roll});
  run_to(&run, t, 0.01);
  check_state(
      &run,
      (double[]){radius * sin(turn * t), radius * (1 - cos(turn * t)), turn * t, lean, roll * t},
      (double[]){R * W * cos(turn * t), R * W * sin(turn * t), turn, 0, roll}, 1e-9);
  run_end(&run);
}

// ---- a skate with two modes ---------------------------------------------------------------------
typedef struct Turned {
  double t, q[3], v[3], loss, impulse, before[3], after[3];
} Turned;

// The closed form of models/skate-turn.yaml at t, behind the switch.
static Turned turned_at(double t) {
  double m = 60, u = 4, w = 0.5, delta = 0.4, l = 3;
  Turned r = {.t = asin(l * w / u) / w};
  double phi = w * t, at = w * r.t, u2 = u * cos(delta);
  r.q[0] = l + u2 / w * (sin(phi + delta) - sin(at + delta));
  r.q[1] = u / w * (1 - cos(at)) - u2 / w * (cos(phi + delta) - cos(at + delta));
  r.q[2] = phi;
  r.v[0] = u2 * cos(phi + delta);
  r.v[1] = u2 * sin(phi + delta);
  r.v[2] = w;
  r.loss = m * u * u * sin(delta) * sin(delta) / 2;
  r.impulse = m * u * sin(delta);
  r.before[0] = u * cos(at);
  r.before[1] = u * sin(at);
  r.after[0] = u2 * cos(at + delta);
  r.after[1] = u2 * sin(at + delta);
  r.before[2] = r.after[2] = w;
  return r;
}

static void test_turned_blade(void** state) {
  (void)state;
  Turned r = turned_at(2.5);
  Run run = run_file("skate-turn", NULL, NULL);
  run.def.simulate.smooth = "dopri";
  run.def.simulate.rtol = 1e-11;
  run.def.simulate.atol = 1e-12;
  run_to(&run, 2.5, 0.01);
  assert_int_equal(run_events(&run), 1);
  const PawlEvent* event = run_event(&run, 0);
  CHECK_NEAR(event->t, r.t, 1e-9);
  CHECK_NEAR(event->energy_lost, r.loss, 1e-7);
  CHECK_NEAR(fabs(event->impulse[0]), r.impulse, 1e-7);
  check_list("before", 3, event->v_before, r.before, 1e-9);
  check_list("after", 3, event->v_after, r.after, 1e-9);
  check_state(&run, r.q, r.v, 1e-9);
  run_end(&run);
}

// Methods that go through the switch within a step are of order 1 there.
static void test_turned_blade_by_time_stepping(void** state) {
  (void)state;
  static const char* const methods[] = {"nsga-pva", "nsga-pvv", "ga-pva", "moreau-jean"};
  Turned r = turned_at(2.5);
  for (int k = 0; k < 4; k++) {
    Run run = run_file("skate-turn", NULL, NULL);
    run.def.simulate.method = methods[k];
    run_to(&run, 2.5, 1e-3);
    check_state(&run, r.q, r.v, 2e-2);
    CHECK_NEAR(run_event(&run, 0)->energy_lost, r.loss, 0.3);
    run_to(&run, 2.5, 1e-4);
    check_state(&run, r.q, r.v, 2e-3);
    run_end(&run);
  }
}

// ---- a wheel that slips -------------------------------------------------------------------------
static void test_slipping_wheel(void** state) {
  (void)state;
  static const char* const methods[] = {"event-driven", "rk4", "dopri", "exponential"};
  static const char* const to[] = {"engaged", "sliding down", "engaged"};
  double mu_g = 0.4 * 9.81, c = 3, R = 0.3, k = 2, J = 1.5 * 0.09 / 2;
  double t1 = 2 / (c * mu_g), t2 = 1 + mu_g * 3 * J / (R * k);
  double t3 = 3 + R * k * (3 - t2) * (3 - t2) / (2 * J * c * mu_g);
  const double times[] = {t1, t2, t3};
  for (int method = 0; method < 4; method++) {
    Run run = run_file("wheel-slip", NULL, NULL);
    run.def.simulate.method = methods[method];
    run_to(&run, 4, 0.01);
    assert_int_equal(run_events(&run), 3);
    for (int e = 0; e < 3; e++) {
      CHECK_NEAR(run_event(&run, e)->t, times[e], 1e-9);
      assert_string_equal(run_event(&run, e)->to, to[e]);
      CHECK_NEAR(run_event(&run, e)->energy_lost, 0, 1e-9);
    }
    // Sliding takes mu m g from the speed and, spinning, gives it; rolling shares the drive.
    double v1 = 2 - mu_g * t1, v2 = v1 + k * (t2 - 1) * (t2 - 1) / 2 * R / (3 * J);
    double speed = v2 + mu_g * (t3 - t2);
    const PawlState* end = pawl_sim_state(run.sim);
    CHECK_NEAR(end->v[0], speed, 1e-9);
    CHECK_NEAR(end->v[2], speed / R, 1e-8);
    run_end(&run);
  }
}

// ---- engaging -----------------------------------------------------------------------------------
#define BLADE_AT                                                                            \
  "model: lift\nparameters: {m: 2, J: 0.3, a: 0.4}\n"                                       \
  "coordinates: {x: {rate: 0.5}, y: {rate: 0.3}, phi: {rate: 2}}\n"                         \
  "kinetic: m/2*((x' - a*phi'*sin(phi))^2 + (y' + a*phi'*cos(phi))^2) + J/2*phi'^2\n"       \
  "constraints: {blade: {rate: \"y'*cos(phi) = x'*sin(phi)\", at: [0.5, 1.5], for: 0.4}}\n" \
  "simulate: {until: 2}\n"

// M (v+ - v-) = A^T Lambda, A v+ = 0; what is lost is (v+ - v-)^T M (v+ - v-)/2.
static void check_jump(const PawlEvent* e, const double* q) {
  double s = sin(q[2]), c = cos(q[2]), d[3], m = 2, a = 0.4, J = 0.3, p[3];
  for (int j = 0; j < 3; j++) {
    d[j] = e->v_after[j] - e->v_before[j];
  }
  p[0] = m * (d[0] - a * s * d[2]);
  p[1] = m * (d[1] + a * c * d[2]);
  p[2] = (J + m * a * a) * d[2] + m * a * (c * d[1] - s * d[0]);
  CHECK_NEAR(e->v_after[1] * c - e->v_after[0] * s, 0, 1e-14);
  CHECK_NEAR(p[0], -s * e->impulse[0], 1e-13);
  CHECK_NEAR(p[1], c * e->impulse[0], 1e-13);
  CHECK_NEAR(p[2], 0, 1e-13);
  CHECK_NEAR(e->energy_lost, 0.5 * (d[0] * p[0] + d[1] * p[1] + d[2] * p[2]), 1e-13);
  assert_true(e->energy_lost > 0.01);
}

static void test_engaging(void** state) {
  (void)state;
  static const char* const methods[] = {"dopri", "event-driven", "ga-pva", "nsga-pva", "ga-v"};
  static const double times[] = {0.5, 0.9, 1.5, 1.9};
  for (int k = 0; k < 5; k++) {
    Run run = run_text(BLADE_AT);
    run.def.simulate.method = methods[k];
    run_to(&run, 2, 0.01);
    assert_int_equal(run_events(&run), 4);
    for (int e = 0; e < 4; e++) {
      CHECK_NEAR(run_event(&run, e)->t, times[e], 1e-12);
    }
    check_jump(run_event(&run, 0), (double[]){0, 0, 1});  // phi = 2 t while the blade is up
    run_end(&run);
  }
}

// ---- inverse dynamics ---------------------------------------------------------------------------
// Inverse dynamics: of a motion along the blade that is given in full the side force is known; from
// x alone nothing follows about the place.
static void test_inverse(void** state) {
  (void)state;
  Motion m = motion_file("skater", NULL);
  PawlInverse* inverse = NULL;
  const char* drives[] = {"x", "phi"};
  Sleigh s = sleigh_at(1);
  Reference r = sleigh_reference(1);
  double w_rate = -SLEIGH_A / (SLEIGH_A * SLEIGH_A + SLEIGH_J / SLEIGH_M) * s.u * s.w;
  double u_rate = SLEIGH_A * s.w * s.w;
  double a[] = {u_rate * cos(s.phi) - s.u * s.w * sin(s.phi),
                u_rate * sin(s.phi) + s.u * s.w * cos(s.phi), w_rate};
  NEED(pawl_inverse_create(m.system, 2, drives, &inverse, &m.err), &m.err);
  PawlInverseForces forces;
  NEED(pawl_inverse_solve(inverse, 1, r.q, r.v, a, &forces, &m.err), &m.err);
  CHECK_NEAR(forces.force[0], 0, 1e-12);  // it moves by itself
  CHECK_NEAR(forces.lambda[0], s.force, 1e-12);
  double q[] = {r.q[0], 0, r.q[2]}, v[] = {r.v[0], 0, r.v[2]};
  assert_int_equal(
      pawl_inverse_complete(inverse, 1, (const unsigned char[]){1, 0, 1}, q, v, a, &m.err),
      PAWL_ERROR_RUN);
  assert_true(is_in(m.err.message, "do not determine 'y'"));
  pawl_inverse_destroy(inverse);
  motion_end(&m);
}

// ---- functions of the caller --------------------------------------------------------------------
typedef struct Wrapped {
  PawlEval* inner;  // everything of the sleigh
  int H, G;         // entries
} Wrapped;

static int evaluate_sleigh(void* context, unsigned mask, const PawlPoint* point, PawlValues* x) {
  const Wrapped* w = context;
  double none[3] = {0};
  PawlPoint at = {point->t,
                  point->q,
                  point->v ? point->v : none,
                  point->a ? point->a : none,
                  point->lambda ? point->lambda : none,
                  NULL,
                  NULL};
  if (pawl_eval_run(w->inner, &at, NULL) != PAWL_OK) {
    return 1;
  }
  const PawlValues* y = pawl_eval_values(w->inner);
  const struct {
    unsigned mask;
    double *to, *from;
    int count;
  } parts[] = {{PAWL_MASS, x->M, y->M, w->H},
               {PAWL_STIFFNESS, x->K, y->K, w->H},
               {PAWL_DAMPING, x->C, y->C, w->H},
               {PAWL_FORCE, x->f, y->f, 3},
               {PAWL_POSITION, x->g, y->g, 1},
               {PAWL_TIME_GRADIENT, x->g_t, y->g_t, 1},
               {PAWL_BIAS, x->gamma, y->gamma, 1},
               {PAWL_GRADIENT, x->G, y->G, w->G},
               {PAWL_VELOCITY_TANGENT, x->G_rate, y->G_rate, w->G},
               {PAWL_ACCELERATION_TANGENT, x->G_acceleration, y->G_acceleration, w->G},
               {PAWL_ACCELERATION_TANGENT, x->G_turn, y->G_turn, x->G_turn ? w->G : 0},
               {PAWL_ENERGY, x->energy, y->energy, 2}};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    if (mask & parts[k].mask && parts[k].count > 0) {
      memcpy(parts[k].to, parts[k].from, (size_t)parts[k].count * sizeof(double));
    }
  }
  return 0;
}

// The sleigh as a program gives it moves as that of the text, engaged from the start or later.
static void test_rates_of_callbacks(void** state) {
  (void)state;
  static const char* const methods[] = {"dopri", "ga-a", "ga-pva", "nsga-pva", "ida"};
  static const double start[] = {SLEIGH_U, 0.0, SLEIGH_W};
  const unsigned char yes = 1, no = 0;
  Motion m = motion_file("skater", NULL);
  Wrapped w = {0};
  NEED(pawl_eval_create(m.system, PAWL_EVERYTHING, &w.inner, &m.err), &m.err);
  PawlPattern H = pawl_system_pattern_H(m.system), G = pawl_system_pattern_G(m.system);
  w.H = H.start[3];
  w.G = G.start[3];
  PawlCallbacks c = {.context = &w,
                     .sizes = {.q = 3, .v = 3, .rows = 1},
                     .H = &H,
                     .G = &G,
                     .v_start = start,
                     .rate_rows = &yes,
                     .evaluate = evaluate_sleigh};
  for (int later = 0; later < 2; later++) {
    Motion own = {.def = m.def};
    c.engaged = later ? &no : NULL;
    NEED(pawl_system_create_callbacks(&c, &own.system, &own.err), &own.err);
    own.n = pawl_system_sizes(own.system);
    assert_true(pawl_system_row_is_rate(own.system, 0, NULL));
    assert_false(motion_can(&own, "ga-p"));
    for (int k = 0; k < 5; k++) {
      if (!motion_can(&own, methods[k])) {
        continue;
      }
      motion_start(&own, methods[k]);
      if (later) {
        NEED(pawl_stepper_engage(own.stepper, own.state, 0, &own.err), &own.err);
      }
      for (int step = 0; step < 200; step++) {
        motion_step(&own, 0.01);
      }
      check_sleigh(&own, k == 0 || k == 4 ? 1e-5 : 3e-3);
    }
    motion_end(&own);
  }
  pawl_eval_destroy(w.inner);
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sleigh_in_three_forms),
      cmocka_unit_test(test_sleigh_by_tolerance),
      cmocka_unit_test(test_sleigh_orders),
      cmocka_unit_test(test_each_step_of_the_sleigh),
      cmocka_unit_test(test_no_correction_of_positions),
      cmocka_unit_test(test_corrections_are_few),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_falling_disc),
      cmocka_unit_test(test_steady_discs),
      cmocka_unit_test(test_turned_blade),
      cmocka_unit_test(test_turned_blade_by_time_stepping),
      cmocka_unit_test(test_slipping_wheel),
      cmocka_unit_test(test_engaging),
      cmocka_unit_test(test_inverse),
      cmocka_unit_test(test_rates_of_callbacks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
