// SPDX-License-Identifier: Apache-2.0
// ark and ida: references and closed forms at several tolerances, constraints, stiffness, states
// that can be copied and restored, margins, and failures, which leave the state alone and print
// nothing.
#include "step/motion.h"
#include "step/sundials.h"

#ifdef PAWL_WITH_SUNDIALS

#include <arkode/arkode_butcher_dirk.h>
#include <unistd.h>

static const char* const METHODS[] = {"ark", "ida"};
enum { ARK, IDA, METHOD_COUNT };
enum { MOST_NUMBERS = 1000 };  // of a state

static const char OSCILLATOR[] =  // x = cos(2 t)
    "model: oscillator\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\npotential: 2*x^2\n";
static const char POINT_PENDULUM[] =
    "model: point\ncoordinates: {x: {start: 0.6, rate: -1.6}, y: {start: -0.8, rate: -1.2}}\n"
    "mass: {x: 1, y: 1}\npotential: 10*y\nconstraints: {rod: x^2 + y^2 = 1}\n";

static void set_tolerance(Motion* m, double rtol) {
  m->def.rtol = rtol;
  m->def.atol = 0.01 * rtol;
}

// ---- references ---------------------------------------------------------------------------------
// The error of a run is a multiple of the tolerance of a step: it grows with the motion, and a
// multistep method leaves more in each of its many steps.
static const double FACTOR[METHOD_COUNT] = {30.0, 2000.0};

static void check_against(const char* model, double interval, int count,
                          const Reference* references) {
  for (int k = 0; k < METHOD_COUNT; k++) {
    for (double rtol = 1e-6; rtol > 5e-12; rtol *= 0.1) {
      Motion m = motion_file(model, NULL);
      set_tolerance(&m, rtol);
      Errors e = errors_of(&m, METHODS[k], interval, count, references);
      double floor = 1e-10;  // of the references
      if (!(e.q <= FACTOR[k] * rtol + floor && e.v <= 10 * FACTOR[k] * rtol + floor)) {
        print_error("%s, %s, rtol %g: %g, %g\n", model, METHODS[k], rtol, e.q, e.v);
        fail();
      }
      motion_end(&m);
    }
  }
}

static void test_pendulum(void** unused) {
  (void)unused;
  check_against("pendulum", 0.1, 3, PENDULUM);
  check_against("pendulum", 1e-3, 3, PENDULUM);
}

static void test_3r(void** unused) {
  (void)unused;
  check_against("planar-3r", 0.4, 2, THREE_R_HORIZONTAL);
  check_against("planar-3r", 1e-2, 2, THREE_R_HORIZONTAL);
}

// Time in the constraint, in the force and in the mass; see test_rk4 for the closed form.
static void test_time(void** unused) {
  (void)unused;
  double t = 1.0, s = log(1 + t), a = 0.8, b = -0.4;
  Reference reference = {t,
                         {sin(2 * t), (1 + t) / 5 + a * cos(s / 2) + b * sin(s / 2)},
                         {2 * cos(2 * t), 0.2 + (b * cos(s / 2) - a * sin(s / 2)) / (2 * (1 + t))}};
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(
        "model: driven\ncoordinates: {x: {rate: 2}, y: {start: 1}}\n"
        "kinetic: x'^2 + (1 + t)/2*y'^2\nforces: {y: 1/4 - y/(4*(1 + t))}\n"
        "constraints: {drive: x = sin(2*t)}\n");
    set_tolerance(&m, 1e-10);
    Errors e = errors_of(&m, METHODS[k], 0.25, 1, &reference);
    assert_true(e.q < 2e-8 && e.v < 2e-8);
    motion_end(&m);
  }
}

static void test_table_has_order_4(void** unused) {
  (void)unused;
  int q = 0, p = 0;
  ARKodeButcherTable table = ARKodeButcherTable_LoadDIRK(ARKODE_ESDIRK436L2SA_6_3_4);
  assert_non_null(table);
  ARKodeButcherTable_CheckOrder(table, &q, &p, NULL);
  assert_true(q == 4 && p == 3);
  ARKodeButcherTable_Free(table);
}

// ---- constraints --------------------------------------------------------------------------------
// ida holds positions and velocities on the constraints to its tolerance, ark lets both drift.
static void test_constraints_hold(void** unused) {
  (void)unused;
  for (double rtol = 1e-6; rtol > 5e-11; rtol *= 0.01) {
    Motion m = motion_text(POINT_PENDULUM);
    set_tolerance(&m, rtol);
    motion_start(&m, "ida");
    for (int k = 0; k < 500; k++) {
      motion_step(&m, 0.02);
      const double *q = m.state->q, *v = m.state->v;
      CHECK_NEAR(q[0] * q[0] + q[1] * q[1], 1.0, rtol);
      CHECK_NEAR(q[0] * v[0] + q[1] * v[1], 0.0, 4 * rtol);  // |v| is up to 4
    }
    motion_end(&m);
  }
}

// A state off its constraints by more than the tolerance, as after a switch, is moved onto them.
static void test_start_off_the_constraints(void** unused) {
  (void)unused;
  Motion m = motion_text(POINT_PENDULUM);
  set_tolerance(&m, 1e-12);
  motion_start(&m, "ida");
  m.state->q[0] += 3e-8;
  m.state->v[1] += 5e-8;
  motion_step(&m, 0.01);
  const double *q = m.state->q, *v = m.state->v;
  CHECK_NEAR(q[0] * q[0] + q[1] * q[1], 1.0, 1e-12);
  CHECK_NEAR(q[0] * v[0] + q[1] * v[1], 0.0, 1e-11);
  motion_end(&m);
}

// v' and lambda belong to q and v: (x, y) . v' = -|v|^2 and v' = (0, -10) + 2 (x, y) lambda.
static void test_acceleration_is_consistent(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(POINT_PENDULUM);
    set_tolerance(&m, 1e-6);
    motion_start(&m, METHODS[k]);
    for (int i = 0; i < 20; i++) {
      motion_step(&m, 0.05);
      const PawlState* s = m.state;
      CHECK_NEAR(s->q[0] * s->a[0] + s->q[1] * s->a[1] + s->v[0] * s->v[0] + s->v[1] * s->v[1], 0,
                 1e-12);
      CHECK_NEAR(s->a[0], 2 * s->q[0] * s->lambda[0], 1e-12);
      CHECK_NEAR(s->a[1], -10 + 2 * s->q[1] * s->lambda[0], 1e-12);
    }
    motion_end(&m);
  }
}

// The rod is not in force: a free fall, and no force of the rod.
static void test_inactive_row(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(POINT_PENDULUM);
    unsigned char none[1] = {0};
    motion_start(&m, METHODS[k]);
    PawlPhase phase = {.modes = m.state->modes, .held = m.state->held, .active = none};
    m.state->a[0] = 0.0;
    m.state->a[1] = -10.0;
    m.state->lambda[0] = 0.0;
    for (int i = 0; i < 4; i++) {
      NEED(m.stepper->method->step(m.stepper, &phase, m.state, 0.25, &m.err), &m.err);
    }
    CHECK_NEAR(m.state->q[0], 0.6 - 1.6, 1e-7);
    CHECK_NEAR(m.state->q[1], -0.8 - 1.2 - 5, 1e-7);
    CHECK_NEAR(m.state->v[1], -1.2 - 10, 1e-7);
    assert_true(m.state->lambda[0] == 0.0);
    motion_end(&m);
  }
}

// A point in the plane by its direction (cos, sin): two coordinates, one velocity, f = -10 cos.
static int rotor_evaluate(void* context, unsigned mask, const PawlPoint* point,
                          PawlValues* values) {
  (void)context;
  if (mask & PAWL_MASS) {
    values->M[0] = 1.0;
  }
  if (mask & PAWL_FORCE) {
    values->f[0] = -10 * point->q[0];
  }
  return 0;
}
static void rotor_retract(void* context, const double* q, const double* dq, double* out) {
  (void)context;
  double c = q[0], s = q[1];
  out[0] = c * cos(*dq) - s * sin(*dq);
  out[1] = s * cos(*dq) + c * sin(*dq);
}
static void rotor_rates(void* context, const double* q, const double* v, double* rate) {
  (void)context;
  rate[0] = -q[1] * *v;
  rate[1] = q[0] * *v;
}

static void test_rotation(void** unused) {
  (void)unused;
  double q_start[2] = {1, 0}, v_start[1] = {1};
  PawlCallbacks callbacks = {.sizes = {.q = 2, .v = 1},
                             .q_start = q_start,
                             .v_start = v_start,
                             .evaluate = rotor_evaluate,
                             .retract = rotor_retract,
                             .rates = rotor_rates};
  Motion m = {0}, angle = motion_text(
                      "model: a\ncoordinates: {a: {rate: 1}}\nmass: {a: 1}\n"
                      "potential: 10*sin(a)\n");
  NEED(pawl_system_create_callbacks(&callbacks, &m.system, &m.err), &m.err);
  m.n = pawl_system_sizes(m.system);
  m.def = angle.def;
  motion_start(&m, "ark");
  for (int i = 0; i < 10; i++) {
    motion_step(&m, 0.1);
  }
  motion_run(&angle, "rk4", 1.0, 4000, NULL);
  CHECK_NEAR(m.state->q[0], cos(angle.state->q[0]), 1e-7);
  CHECK_NEAR(m.state->q[1], sin(angle.state->q[0]), 1e-7);
  CHECK_NEAR(m.state->v[0], angle.state->v[0], 1e-7);
  m.def.method = "ida";
  PawlStepper* stepper;
  assert_int_equal(pawl_stepper_create(m.system, &m.def, &stepper, &m.err), PAWL_ERROR_USAGE);
  assert_non_null(
      strstr(m.err.message, "ida cannot handle coordinates whose rates are not the velocities"));
  motion_end(&m);
  motion_end(&angle);
}

// ---- stiffness ----------------------------------------------------------------------------------
// x = sin(t) is a solution for every stiffness and damping. Decay rates of 2.7e3 and 3.7e4 per
// second; rk4 at 1 ms is far outside its domain of stability. With exact tangents the work is that
// of the slow motion.
static void test_stiff_spring(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: stiff\ncoordinates: {x: {start: 1e-3, rate: 1}}\nmass: {x: 1}\n"
      "forces: {x: \"-1e8*(x - sin(t)) - 4e4*(x' - cos(t)) - sin(t)\"}\n");
  motion_start(&m, "rk4");
  PawlStatus status = PAWL_OK;
  for (int k = 0; k < 100 && status == PAWL_OK; k++) {
    status = pawl_stepper_step(m.stepper, m.state, 1e-3, &m.err);
  }
  assert_true(status != PAWL_OK || !(fabs(m.state->q[0]) < 1e3));
  for (int k = 0; k < METHOD_COUNT; k++) {
    m.def.rtol = 1e-6;
    m.def.atol = 1e-9;
    motion_start(&m, METHODS[k]);
    for (int i = 1; i <= 1000; i++) {
      motion_step(&m, 1e-3);
      if (i >= 20) {
        CHECK_NEAR(m.state->q[0], sin(m.state->t), 1e-6);
        CHECK_NEAR(m.state->v[0], cos(m.state->t), 1e-4);
      }
    }
    assert_true(pawl_stepper_info(m.stepper).evaluations < (k == ARK ? 50000 : 5000));
  }
  motion_end(&m);
}

// Evaluations for a run of a model to 1 s in these intervals.
static void check_work(Motion* m, int k, double rtol, int intervals, long long most) {
  m->def.rtol = m->def.atol = rtol;
  motion_start(m, METHODS[k]);
  for (int i = 0; i < intervals; i++) {
    motion_step(m, 1.0 / intervals);
  }
  long long evaluations = pawl_stepper_info(m->stepper).evaluations;
  if (evaluations > most) {
    print_error("%s: %lld evaluations > %lld\n", METHODS[k], evaluations, most);
    fail();
  }
}

// Wrong tangents cost convergence, and with it a multiple of this work: K and C a factor of 10 and
// more in the first model, with its stiff nonlinear spring and damper along a bent track; those of
// the constraints a factor of 3 (ark) or a third (ida) in the second, which turns fast.
static void test_work(void** unused) {
  (void)unused;
  static const long long MOST[METHOD_COUNT][2] = {{9000, 20000}, {3500, 5000}};
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(
        "model: track\ncoordinates: {x: {start: 0.5}, y: {start: 0.125}, z: {}}\n"
        "mass: {x: 1, y: 1, z: 1}\n"
        "potential: 10*y + 1e6*(x - z)^2*(1 + x^2) + 2*z^2\ndissipation: 2e3*(x' - z')^2\n"
        "constraints: {track: y = x^2 - x^3}\n");
    check_work(&m, k, 1e-7, 100, MOST[k][0]);
    CHECK_NEAR(m.state->q[1], m.state->q[0] * m.state->q[0] * (1 - m.state->q[0]), 1e-4);
    motion_end(&m);
    m = motion_file("pendulum", "omega0=30");
    check_work(&m, k, 1e-8, 20, MOST[k][1]);
    motion_end(&m);
  }
}

// ---- states -------------------------------------------------------------------------------------
static void set_numbers(Motion* m, const double* from) {
  PawlState* s = m->state;
  const struct {
    double* x;
    int count;
  } parts[] = {{&s->t, 1},     {s->q, m->n.q},         {s->v, m->n.v},
               {s->a, m->n.v}, {s->lambda, m->n.rows}, {s->memory, s->memory_count}};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    for (int i = 0; i < parts[k].count; i++) {
      parts[k].x[i] = *from++;
    }
  }
  s->step = (long long)*from;
}

static void check_same(const Motion* m, const double* numbers) {
  double now[MOST_NUMBERS];
  int count = state_numbers(m, now);
  assert_true(count <= MOST_NUMBERS);
  assert_memory_equal(now, numbers, (size_t)count * sizeof(double));
}

static void run_steps(Motion* m, int count, double h) {
  for (int i = 0; i < count; i++) {
    motion_step(m, h);
  }
}

// A state that was restored goes where the first one went, bit for bit: in its own stepper, there
// after a detour, and in a new stepper. With steps of the interval's size, and with several in
// each.
static void test_restored_state(void** unused) {
  (void)unused;
  for (int k = 0; k < 2 * METHOD_COUNT; k++) {
    double h = k < METHOD_COUNT ? 1e-3 : 2e-2;
    const char* method = METHODS[k % METHOD_COUNT];
    Motion m = motion_file("pendulum", NULL), other = motion_file("pendulum", NULL);
    double middle[MOST_NUMBERS], end[MOST_NUMBERS];
    motion_start(&m, method);
    run_steps(&m, 50, h);
    state_numbers(&m, middle);
    run_steps(&m, 40, h);
    state_numbers(&m, end);
    set_numbers(&m, middle);
    run_steps(&m, 40, h);
    check_same(&m, end);
    set_numbers(&m, middle);
    run_steps(&m, 1, 10 * h);  // a detour
    set_numbers(&m, middle);
    run_steps(&m, 40, h);
    check_same(&m, end);
    motion_start(&other, method);
    set_numbers(&other, middle);
    run_steps(&other, 40, h);
    check_same(&other, end);
    motion_end(&m);
    motion_end(&other);
  }
}

// A state moved by hand is a new beginning; so is one after a start.
static void test_moved_state(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(OSCILLATOR);
    motion_start(&m, METHODS[k]);
    for (int i = 0; i < 20; i++) {
      motion_step(&m, 0.05);
    }
    m.state->t = 0.0;
    m.state->q[0] = 0.0;
    m.state->v[0] = 2.0;
    m.state->a[0] = 0.0;
    motion_step(&m, 0.5);
    CHECK_NEAR(m.state->q[0], sin(1.0), 2e-7);
    CHECK_NEAR(m.state->v[0], 2 * cos(1.0), 2e-7);
    motion_end(&m);
  }
}

static void test_step_allocates_nothing(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_file("chain", "N=4");
    motion_start(&m, METHODS[k]);
    motion_step(&m, 1e-3);
    long long before = pawl_alloc_count();
    for (int i = 0; i < 20; i++) {
      motion_step(&m, 1e-3);
    }
    assert_int_equal(pawl_alloc_count(), before);
    motion_end(&m);
  }
}

// ---- margins ------------------------------------------------------------------------------------
static int one(const PawlStepper* stepper) {
  (void)stepper;
  return 1;
}
static int two(const PawlStepper* stepper) {
  (void)stepper;
  return 2;
}
static PawlStatus above(PawlStepper* stepper, double t, const double* q, const double* v,
                        double* margins, PawlError* err) {  // x > 0.3
  (void)stepper, (void)t, (void)v, (void)err;
  margins[0] = q[0] - 0.3;
  return PAWL_OK;
}
static PawlStatus before(PawlStepper* stepper, double t, const double* q, const double* v,
                         double* margins, PawlError* err) {  // t < 1
  (void)stepper, (void)q, (void)v, (void)err;
  margins[0] = 1 - t;
  return PAWL_OK;
}
static PawlStatus outside(PawlStepper* stepper, double t, const double* q, const double* v,
                          double* margins, PawlError* err) {
  (void)stepper, (void)q, (void)v;
  margins[0] = 1.0;
  return t > 0.2 ? pawl_fail(err, PAWL_RETRY, "no margin at t = %g", t) : PAWL_OK;
}

static void watch(Motion* m, PawlMargins source) {
  ((PawlSundials*)m->stepper->data)->source = source;
}

static PawlPhase phase_of(const Motion* m) {
  return pawl_phase_of(m->state, m->stepper->dynamics.plain);
}

static bool go_on(Motion* m, double h) {
  bool stopped = false;
  PawlPhase phase = phase_of(m);
  NEED(m->stepper->method->advance(m->stepper, &phase, m->state, h, &stopped, &m->err), &m->err);
  return stopped;
}

// x = cos(2 t) passes 0.3 on its way down at acos(0.3)/2 and a period later, pi; on its way up it
// does not count, nor does the margin of the stop itself.
static void test_margin(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    for (double h = 0.01; h < 2; h *= 10) {
      Motion m = motion_text(OSCILLATOR);
      set_tolerance(&m, 1e-13);
      motion_start(&m, METHODS[k]);
      watch(&m, (PawlMargins){one, two, above});
      for (int stop = 0; stop < 2; stop++) {
        int calls = 0;
        while (!go_on(&m, h)) {
          assert_true(++calls < 400);
        }
        double t = 0.5 * acos(0.3) + stop * acos(-1.0);
        CHECK_NEAR(m.state->t, t, 1e-10);
        CHECK_NEAR(m.state->q[0], 0.3, 1e-12);
        assert_true(m.state->q[0] <= 0.3);  // past, not before
        CHECK_NEAR(m.state->v[0], -2 * sqrt(1 - 0.09), 1e-9);
        CHECK_NEAR(m.state->a[0], -4 * m.state->q[0], 1e-14);
      }
      motion_end(&m);
    }
  }
}

// From a margin of exactly zero, after a start, the motion goes on.
static void test_margin_zero_at_start(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    for (double rate = -1; rate < 2; rate += 2) {
      Motion m = motion_text("model: free\ncoordinates: {x: {start: 0.3}}\nmass: {x: 1}\n");
      motion_start(&m, METHODS[k]);
      m.state->v[0] = rate;
      watch(&m, (PawlMargins){one, one, above});
      for (int i = 0; i < 5; i++) {
        assert_false(go_on(&m, 0.1));
      }
      CHECK_NEAR(m.state->q[0], 0.3 + 0.5 * rate, 1e-8);
      motion_end(&m);
    }
  }
}

// A margin that stays exactly zero is forgotten with the state that had it.
static void test_margin_after_rest(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text("model: free\ncoordinates: {x: {start: 0.3}}\nmass: {x: 1}\n");
    motion_start(&m, METHODS[k]);
    watch(&m, (PawlMargins){one, one, above});
    assert_false(go_on(&m, 0.1));
    m.state->q[0] = 0.35;
    m.state->v[0] = -1.0;
    assert_true(go_on(&m, 0.1));
    CHECK_NEAR(m.state->t, 0.15, 1e-10);
    motion_end(&m);
  }
}

// A zero at the very end of a call, and one in a step too short for SUNDIALS, are stops too.
static void test_margin_at_the_end(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(OSCILLATOR);
    motion_start(&m, METHODS[k]);
    watch(&m, (PawlMargins){one, one, before});
    for (int i = 0; i < 3; i++) {
      assert_false(go_on(&m, 0.25));
    }
    assert_true(go_on(&m, 0.25));
    CHECK_NEAR(m.state->t, 1.0, 1e-13);
    motion_start(&m, METHODS[k]);
    watch(&m, (PawlMargins){one, one, before});
    assert_false(go_on(&m, 1.0 - 1e-14));
    double q = m.state->q[0];
    assert_true(go_on(&m, 2e-14));
    CHECK_NEAR(m.state->q[0], q, 1e-13);
    assert_false(go_on(&m, 2e-14));
    motion_end(&m);
  }
}

// Without advance margins do not count.
static void test_step_sees_no_margin(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(OSCILLATOR);
    motion_start(&m, METHODS[k]);
    watch(&m, (PawlMargins){one, one, above});
    assert_false(go_on(&m, 0.1));
    motion_step(&m, 0.9);
    CHECK_NEAR(m.state->t, 1.0, 1e-15);
    CHECK_NEAR(m.state->q[0], cos(2.0), 1e-7);
    motion_end(&m);
  }
}

// The cam lifts off and lands, the machine hands its carrier over: as with rk4 in small steps.
static void test_event_driven(void** unused) {
  (void)unused;
  const char* const names[] = {"cam-follower", "braiding-machine"};
  for (int model = 0; model < 2; model++) {
    Motion m = motion_file(names[model], NULL);
    double q[MOTION_MOST], v[MOTION_MOST];
    int switches[1 + METHOD_COUNT] = {0};
    for (int k = 0; k <= METHOD_COUNT; k++) {
      m.def.smooth = k == 0 ? "rk4" : METHODS[k - 1];
      double h = k == 0 ? 1e-3 : 0.1;
      motion_start(&m, "event-driven");
      for (int i = 0; i < lround(4 / h); i++) {
        motion_step(&m, h);
        switches[k] += pawl_stepper_instants(m.stepper);
      }
      for (int i = 0; i < m.n.q; i++) {
        q[i] = k == 0 ? m.state->q[i] : q[i];
        v[i] = k == 0 ? m.state->v[i] : v[i];
        CHECK_NEAR(m.state->q[i], q[i], 1e-7);
        CHECK_NEAR(m.state->v[i], v[i], 1e-7);
      }
      assert_true(switches[k] > 0 && switches[k] == switches[0]);
    }
    motion_end(&m);
  }
}

// ---- failures -----------------------------------------------------------------------------------
// Whatever is written to stderr between the two calls.
static FILE* quiet_file;
static int quiet_saved;
static void quiet_begin(void) {
  fflush(stderr);
  quiet_file = tmpfile();
  assert_non_null(quiet_file);
  quiet_saved = dup(STDERR_FILENO);
  assert_true(dup2(fileno(quiet_file), STDERR_FILENO) >= 0);
}
static long quiet_end(void) {
  fflush(stderr);
  long written = (long)lseek(STDERR_FILENO, 0, SEEK_END);
  assert_true(dup2(quiet_saved, STDERR_FILENO) >= 0);
  close(quiet_saved);
  fclose(quiet_file);
  return written;
}

static void check_refused(Motion* m, double h, PawlStatus expected, const char* words) {
  double numbers[MOST_NUMBERS];
  bool stopped;
  state_numbers(m, numbers);
  PawlPhase phase = phase_of(m);
  quiet_begin();
  PawlStatus status =
      m->stepper->method->advance(m->stepper, &phase, m->state, h, &stopped, &m->err);
  long written = quiet_end();
  assert_int_equal(written, 0);
  assert_int_equal(status, expected);
  assert_int_equal(m->err.status, expected);
  if (!strstr(m->err.message, words)) {
    print_error("'%s' is not in: %s\n", words, m->err.message);
    fail();
  }
  check_same(m, numbers);
}

static void test_outside_a_domain(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(
        "model: well\ncoordinates: {depth: {start: 1, rate: -10}}\n"
        "mass: {depth: 1}\npotential: sqrt(depth)\n");
    motion_start(&m, METHODS[k]);
    check_refused(&m, 0.5, PAWL_RETRY, "test:4");  // the line of the potential
    assert_non_null(strstr(m.err.message, "t = 0.099"));
    motion_step(&m, 0.01);
    check_refused(&m, 0.5, PAWL_RETRY, "test:4");
    motion_end(&m);
  }
}

// A fast motion over a long interval: SUNDIALS gives up, and says when.
static void test_too_many_steps(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(
        "model: fast\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\npotential: 5e11*x^2\n");
    set_tolerance(&m, 1e-6);
    motion_start(&m, METHODS[k]);
    check_refused(&m, 1.0, PAWL_RETRY, "gave up on its way from t = 0 ");
    motion_step(&m, 1e-5);
    CHECK_NEAR(m.state->q[0], cos(10.0), 1e-2);
    motion_end(&m);
  }
}

static void test_too_much_accuracy(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(OSCILLATOR);
    m.def.rtol = 1e-20;
    m.def.atol = 1e-25;
    motion_start(&m, METHODS[k]);
    check_refused(&m, 0.5, PAWL_ERROR_RUN, "rtol = 1e-20, atol = 1e-25");
    motion_end(&m);
  }
}

static void test_margin_fails(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(OSCILLATOR);
    motion_start(&m, METHODS[k]);
    watch(&m, (PawlMargins){one, one, outside});
    check_refused(&m, 1.0, PAWL_RETRY, "no margin at t = 0.2");
    assert_false(go_on(&m, 0.1));
    motion_end(&m);
  }
}

// A point on a circle is dragged along x = t; beyond t = 1 there is no motion.
static void test_constraints_that_become_dependent(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(
        "model: drag\ncoordinates: {x: {start: 0, rate: 1}, y: {start: 1}}\n"
        "mass: {x: 1, y: 1}\nconstraints: {circle: x^2 + y^2 = 1, wall: x = t}\n");
    motion_start(&m, METHODS[k]);
    motion_step(&m, 0.75);
    CHECK_NEAR(m.state->q[1], sqrt(7.0) / 4, 1e-6);
    check_refused(&m, 0.5, PAWL_RETRY, "t = ");
    motion_end(&m);
  }
}

// A closed loop, three angles and two rows: tighter tolerances gain digits down to a floor, and
// none is too small. (U9)
static const char LOOP[] =
    "model: loop\n"
    "coordinates: {q1: {start: 1, rate: 6}, q2: {start: 0.6}, q3: {start: 1.9}}\n"
    "define: {x2: cos(q1) + 1.5*cos(q2), y2: sin(q1) + 1.5*sin(q2)}\n"
    "kinetic: q1'^2/6 + (x2'^2 + y2'^2)/2 + 3/8*q2'^2 + 6.25/6*q3'^2\n"
    "potential: 9.81*(sin(q1)/2 + y2 + 1.25*sin(q3))\n"
    "constraints:\n  lx: cos(q1) + 3*cos(q2) - 3 - 2.5*cos(q3) = 0\n"
    "  ly: sin(q1) + 3*sin(q2) - 2.5*sin(q3) = 0\n";

static void turn(Motion* m, const char* method, double rtol, double* q) {
  set_tolerance(m, rtol);
  motion_stepper(m, method);
  NEED(pawl_stepper_start(m->stepper, m->state, true, &m->err), &m->err);
  for (int k = 0; k < 20; k++) {
    motion_step(m, 0.1);
  }
  memcpy(q, m->state->q, 3 * sizeof(double));
}

static void test_digits_of_a_loop(void** unused) {
  (void)unused;
  static const double FLOOR = 5e-9, TIMES = 5e3;  // of rtol: 20 turns of the rocker
  double reference[3], q[3], last = INFINITY;
  Motion m = motion_text(LOOP);
  turn(&m, "dopri", 1e-13, reference);
  for (double rtol = 1e-6; rtol > 5e-14; rtol *= 0.1) {
    turn(&m, "ida", rtol, q);
    double error = 0.0;
    for (int i = 0; i < 3; i++) {
      error = fmax(error, fabs(q[i] - reference[i]));
    }
    print_message("rtol %.0e: error %.2g\n", rtol, error);
    CHECK_NEAR(error, 0.0, TIMES * rtol + FLOOR);
    assert_true(error < last + FLOOR);
    last = error;
  }
  motion_end(&m);
}

static void test_too_many_unknowns(void** unused) {
  (void)unused;
  Motion m = motion_file("chain", "N=1000");
  for (int k = 0; k < METHOD_COUNT; k++) {
    m.def.method = METHODS[k];
    PawlStepper* stepper;
    assert_int_equal(pawl_stepper_create(m.system, &m.def, &stepper, &m.err), PAWL_ERROR_USAGE);
    assert_non_null(strstr(m.err.message, "full linear systems"));
  }
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pendulum),
      cmocka_unit_test(test_3r),
      cmocka_unit_test(test_time),
      cmocka_unit_test(test_table_has_order_4),
      cmocka_unit_test(test_constraints_hold),
      cmocka_unit_test(test_start_off_the_constraints),
      cmocka_unit_test(test_acceleration_is_consistent),
      cmocka_unit_test(test_inactive_row),
      cmocka_unit_test(test_rotation),
      cmocka_unit_test(test_stiff_spring),
      cmocka_unit_test(test_work),
      cmocka_unit_test(test_restored_state),
      cmocka_unit_test(test_moved_state),
      cmocka_unit_test(test_step_allocates_nothing),
      cmocka_unit_test(test_margin),
      cmocka_unit_test(test_margin_zero_at_start),
      cmocka_unit_test(test_margin_after_rest),
      cmocka_unit_test(test_margin_at_the_end),
      cmocka_unit_test(test_step_sees_no_margin),
      cmocka_unit_test(test_event_driven),
      cmocka_unit_test(test_outside_a_domain),
      cmocka_unit_test(test_too_many_steps),
      cmocka_unit_test(test_too_much_accuracy),
      cmocka_unit_test(test_margin_fails),
      cmocka_unit_test(test_constraints_that_become_dependent),
      cmocka_unit_test(test_digits_of_a_loop),
      cmocka_unit_test(test_too_many_unknowns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

// Listed, and refused with a reason.
static void test_absent(void** unused) {
  (void)unused;
  const char* const names[] = {"ark", "ida"};
  Motion m = motion_text("model: free\ncoordinates: {x: {}}\nmass: {x: 1}\n");
  for (int k = 0; k < 2; k++) {
    m.def.method = names[k];
    PawlStepper* stepper;
    assert_int_equal(pawl_stepper_create(m.system, &m.def, &stepper, &m.err), PAWL_ERROR_USAGE);
    assert_non_null(strstr(m.err.message, "built without SUNDIALS"));
  }
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_absent)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
