// SPDX-License-Identifier: Apache-2.0
// First-order states, inputs and actions (docs/theory/states.md): the order of each method on a
// model with states, the formulas of generalized-alpha recomputed, rates that react, actions from
// old values, an exact clock, states saved and loaded, the energy, the spectrum and rest.
#include "pawl/equilibrium.h"
#include "pawl/spectrum.h"
#include "step/motion.h"

// ---- order --------------------------------------------------------------------------------------
// A pendulum in x, y, the force of its rod filtered, a state of its own square, both acting on it.
static const char COUPLED[] =
    "model: coupled\n"
    "coordinates: {x: {start: 0.6, rate: -1.6}, y: {start: -0.8, rate: -1.2}}\n"
    "states: {z: {start: 0.5, rate: 'lambda(rod)/10 - 3*z'}, w: {start: 0.3, rate: x - w^2 + z}}\n"
    "mass: {x: 1, y: 1}\npotential: 10*y + w*x^2\nforces: {x: -2*z}\n"
    "constraints: {rod: x^2 + y^2 = 1}\n"
    "simulate: {rtol: 1e-12, atol: 1e-13, until: 0.4}\n";

typedef struct Ends {
  double x, z, w;
} Ends;

static Ends ends_of(Motion* m, const char* method, int steps) {
  m->def.step = 0.4 / steps;
  motion_run(m, method, 0.4, steps, NULL);
  return (Ends){m->state->q[0], m->state->v[2], m->state->v[3]};
}

static double off(Ends a, Ends b) {
  return fmax(fabs(a.x - b.x), fmax(fabs(a.z - b.z), fabs(a.w - b.w)));
}

static void test_order_of_each_method(void** unused) {
  (void)unused;
  static const struct {
    const char* method;
    double order;
    int steps;
  } of[] = {{"rk4", 4, 10},      {"ga-p", 2, 40},     {"ga-v", 2, 40},
            {"ga-a", 2, 40},     {"ga-pv", 2, 40},    {"ga-pva", 2, 40},
            {"nsga-pva", 2, 40}, {"nsga-pvv", 2, 40}, {"moreau-jean", 1, 160}};
  Motion m = motion_text(COUPLED);
  assert_int_equal(m.n.states, 2);
  Ends exact = ends_of(&m, "dopri", 40);
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    double coarse = off(ends_of(&m, of[k].method, of[k].steps), exact);
    double fine = off(ends_of(&m, of[k].method, 2 * of[k].steps), exact);
    print_message("%s: %.3g %.3g\n", of[k].method, coarse, fine);
    assert_true(log2(coarse / fine) > of[k].order - 0.3);
    assert_true(fine < 0.01);
  }
  static const char* const adaptive[] = {"ark", "ida"};
  m.def.rtol = 1e-9;
  m.def.atol = 1e-10;
  for (size_t k = 0; k < sizeof adaptive / sizeof *adaptive; k++) {
    if (motion_can(&m, adaptive[k])) {
      assert_true(off(ends_of(&m, adaptive[k], 40), exact) < 1e-6);
    }
  }
  motion_end(&m);
}

// The forms of motion solve the same equations.
static void test_forms(void** unused) {
  (void)unused;
  static const char* const forms[] = {"index-1", "projected", "minimal"};
  Motion m = motion_text(COUPLED);
  Ends exact = ends_of(&m, "dopri", 40);
  for (size_t k = 0; k < 3; k++) {
    m.def.form = forms[k];
    assert_true(off(ends_of(&m, "rk4", 100), exact) < 1e-8);
  }
  motion_end(&m);
}

// ---- formulas -----------------------------------------------------------------------------------
// z' = -3 z + t by (Z7), with its own recurrence beside a mass that does not care.
static void test_generalized_alpha(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: decay\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n"
      "states: {z: {start: 1, rate: -3*z + t}}\nsimulate: {rho: 0.6, step: 0.1}\n");
  motion_start(&m, "ga-pva");
  double rho = 0.6, alpha_m = (2 * rho - 1) / (rho + 1), alpha_f = rho / (rho + 1);
  double gamma = 0.5 + alpha_f - alpha_m, h = 0.1, z = 1.0, rate = -3.0, a = -3.0;
  for (int k = 1; k <= 20; k++) {
    motion_step(&m, h);
    // a+ = ((1 - alpha_f) (-3 z+ + t+) + alpha_f rate - alpha_m a) / (1 - alpha_m), solved for z+
    double of = (1 - alpha_f) / (1 - alpha_m);
    double known = (alpha_f * rate - alpha_m * a) / (1 - alpha_m) + of * h * k;
    double z_next = (z + h * ((1 - gamma) * a + gamma * known)) / (1 + 3 * h * gamma * of);
    rate = -3 * z_next + h * k;
    a = known - 3 * of * z_next;
    z = z_next;
    CHECK_NEAR(m.state->v[1], z, 1e-12);
    CHECK_NEAR(m.state->a[1], rate, 1e-11);
    assert_true(m.state->q[1] == 0.0);  // (Z1)
  }
  motion_end(&m);
}

// Linear states are exact with the exponential, for any step, with an input that changes.
static void test_exponential_is_exact(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: linear\ncoordinates: {x: {}}\nmass: {x: 1}\ninputs: {u: 1}\n"
      "states: {z: {start: 0, rate: -2*z + 2*u}}\n");
  m.def.step = 0.5;
  motion_start(&m, "exponential");
  motion_step(&m, 0.5);
  CHECK_NEAR(m.state->v[1], 1 - exp(-1.0), 1e-15);
  NEED(pawl_stepper_set_input(m.stepper, m.state, 0, 3.0, &m.err), &m.err);
  motion_step(&m, 0.5);
  CHECK_NEAR(m.state->v[1], 3 + (1 - exp(-1.0) - 3) * exp(-1.0), 1e-15);
  CHECK_NEAR(m.state->a[1], -2 * m.state->v[1] + 6, 1e-14);
  motion_end(&m);
}

// z' = lambda of a rod that carries a weight, and v' of a falling mass.                      (Z4)
static void test_rates_react(void** unused) {
  (void)unused;
  static const char* const methods[] = {"rk4", "dopri", "ga-pva", "nsga-pva", "moreau-jean"};
  Motion m = motion_text(
      "model: hanging\ncoordinates: {x: {start: 1}, y: {}}\nmass: {x: 2, y: 1}\n"
      "forces: {x: -20, y: 6*t}\nconstraints: {hold: x = 1}\n"
      "states: {force: {rate: lambda(hold)}, speed: {rate: \"y''\"}}\n");
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    m.def.step = 0.125;
    motion_run(&m, methods[k], 1.0, 8, NULL);
    CHECK_NEAR(m.state->v[2], 20.0, 1e-10);
    CHECK_NEAR(m.state->v[3], m.state->v[1], 1e-10);
  }
  motion_end(&m);
}

// z' of others is their expression, in any order and through definitions: a chain of filters.
static void test_rates_of_rates(void** unused) {
  (void)unused;
  static const char* const methods[] = {"rk4", "ga-pva", "moreau-jean", "exponential"};
  Motion m = motion_text(
      "model: chain\ncoordinates: {x: {}}\nmass: {x: 1}\nforces: {x: 2}\ndefine: {d: 2*w + x}\n"
      "states: {z: {rate: \"3*w' + d'\"}, w: {rate: \"u' - x'\"}, u: {rate: \"1 + x''\"}}\n");
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    m.def.step = 0.125;
    motion_run(&m, methods[k], 1.0, 8, NULL);  // u' = 3, w' = 3 - 2 t, z' = 5 w' + 2 t
    double order = k == 1 ? 1e-3 : 1e-12;      // ga-pva starts with a_0 = v'
    CHECK_NEAR(m.state->v[3], 3.0, 1e-12);
    CHECK_NEAR(m.state->v[2], 2.0, order);
    CHECK_NEAR(m.state->v[1], 11.0, order);
    CHECK_NEAR(m.state->a[1], k == 2 ? 7.5 : 7.0, order);  // moreau-jean: in the middle of the step
  }
  motion_end(&m);
}

// A mass slides against friction F = 2 + 4 t, up, and another down: its force lambda is what rates,
// sets, conditions and capacities see, in every method. At t = 1/2 F is 4: an event counts, the
// lock `let` lets go. `wall` holds by half of that force.                                    (V7)
static void test_friction_of_joints_is_seen(void** unused) {
  (void)unused;
  static const char* const methods[] = {"rk4",    "dopri",    "ark",      "ida",         "ga-v",
                                        "ga-pva", "nsga-pvv", "nsga-pva", "moreau-jean", "taylor"};
  Motion m = motion_text(
      "model: heat\ncoordinates: {x: {rate: 5}, y: {rate: -5}, z: {rate: 5}, w: {}}\n"
      "mass: {x: 1, y: 1, z: 1, w: 1}\nforces: {w: 1}\n"
      "states: {up: {rate: lambda(b)}, down: {rate: lambda(c)}, seen: 0, count: 0, when: 0}\n"
      "locks:\n  b: {lock: x, engaged: true, capacity: 2 + 4*t}\n"
      "  c: {lock: y, engaged: true, capacity: 2 + 4*t}\n"
      "  let: {lock: z, engaged: true, capacity: 2 + 4*t, release: {when: 'lambda(let) < -4'}}\n"
      "  wall: {lock: w, engaged: true, capacity: 'abs(lambda(b))/2 + 0.1', friction: 0}\n"
      "events:\n  look: {at: 0.25, set: {seen: lambda(b) - lambda(c)}}\n"
      "  far: {when: lambda(c) > 4, set: {count: count + 1, when: t}}\n");
  m.def.step = 0.0125;
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    if (!motion_can(&m, methods[k])) {
      continue;  // built without it
    }
    motion_run(&m, methods[k], 0.75, 60, NULL);
    CHECK_NEAR(m.state->v[4], -(1.5 + 2 * 0.75 * 0.75), 1e-4);  // integral of F, order 1 is enough
    CHECK_NEAR(m.state->v[5], 1.5 + 2 * 0.75 * 0.75, 1e-4);
    CHECK_NEAR(pawl_state_input(m.stepper, m.state, 0), -6.0, 1e-9);
    CHECK_NEAR(pawl_state_input(m.stepper, m.state, 1), 1.0, 0.0);
    CHECK_NEAR(pawl_state_input(m.stepper, m.state, 2), 0.5, 1e-8);
    CHECK_NEAR(m.state->v[2], 5 - (1.0 + 2 * 0.25), 1e-4);  // free since then
    CHECK_NEAR(m.state->v[3], 0.0, 0.0);                    // it needs 1 and can bear 1.1 or more
  }
  motion_end(&m);
}

// 4 x'' = -8 x and lambda = -3 x'': z' = lambda - z and w' = x'' + z in closed form.         (Z9)
static void test_exponential_with_reactions(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: pair\ncoordinates: {x: {start: 1}, y: {start: 1}}\nmass: {x: 1, y: 3}\n"
      "potential: 8*x^2/2\nconstraints: {c: x = y}\n"
      "states: {z: {rate: lambda(c) - z}, w: {rate: \"x'' + z\"}}\n");
  m.def.step = 0.5;
  motion_run(&m, "exponential", 2.0, 4, NULL);
  double w = sqrt(2.0), s = sin(2 * w), c = cos(2 * w), e = exp(-2.0);
  CHECK_NEAR(m.state->v[2], 2 * (c + w * s - e), 1e-12);
  CHECK_NEAR(m.state->v[3], -w * s + 2 * (s / w - c + e), 1e-12);
  CHECK_NEAR(m.state->a[2], 6 * c - m.state->v[2], 1e-12);
  motion_end(&m);
  m = motion_text(
      "model: square\ncoordinates: {x: {start: 1}, y: {start: 1}}\nmass: {x: 1, y: 3}\n"
      "constraints: {c: x = y}\nstates: {z: {rate: lambda(c)^2 - z}}\n");
  assert_false(motion_can(&m, "exponential"));
  assert_non_null(strstr(m.err.message, "what is not linear (lambda(c)^2 - z)"));
  motion_end(&m);
}

// Two masses tied together lie on a floor; from t = 0.5 on a force 20 (t - 0.5) presses the upper
// one down. Its tie bears that force, and nothing accelerates, for conditions and sets, too. (V30)
static void test_closed_contacts(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
  Motion m = motion_text(
      "model: pressed\ncoordinates: {y: , x: }\nmass: {y: 1, x: 1}\npotential: 10*y\n"
      "constraints: {k: x = y}\ncontacts: {c: {gap: y}}\nstates: {n: 0, m: 0, when: 0, s: 7}\n"
      "forces: {x: \"if(t < 0.5, 0, -20*(t - 0.5))\"}\n"
      "events:\n  far: {when: lambda(k) > 4, set: {n: n + 1, when: t}}\n"
      "  falls: {when: \"y'' < -1\", set: {m: m + 1}}\n"
      "  clock: {every: 0.25, set: {s: \"y'' + lambda(k)\"}}\n");
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    m.def.step = 0.01;
    motion_run(&m, methods[k], 1.0, 100, NULL);
    CHECK_NEAR(pawl_state_input(m.stepper, m.state, 0), 1.0, 0.0);
    CHECK_NEAR(pawl_state_input(m.stepper, m.state, 1), 0.0, 0.0);
    CHECK_NEAR(pawl_state_input(m.stepper, m.state, 2), 0.7, 1e-9);
    CHECK_NEAR(pawl_state_input(m.stepper, m.state, 3), 10.0, 1e-9);
  }
  motion_end(&m);
  m = motion_text(
      "model: worn\ncoordinates: {y: }\nmass: {y: 1}\npotential: 10*y\n"
      "contacts: {c: {gap: y}}\nstates: {z: {rate: \"y'' - z\"}}\n");
  motion_run(&m, "nsga-pva", 1.0, 100, NULL);
  CHECK_NEAR(m.state->v[1], 0.0, 1e-12);
  assert_false(motion_can(&m, "nsga-pvv"));
  assert_non_null(strstr(m.err.message, "rates of states with accelerations or multipliers"));
  assert_false(motion_can(&m, "moreau-jean"));
  motion_end(&m);
  m = motion_text(
      "model: rubbed\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\npotential: 10*y\n"
      "contacts: {c: {gap: y, friction: 0.3, slip: \"x'\"}}\nstates: {z: {rate: \"x''\"}}\n");
  assert_false(motion_can(&m, "nsga-pva"));
  motion_end(&m);
}

// A jump at a border is no part of a rate: of y'' over all time the jump is missing, in each method
// that takes such a rate.
static void test_jumps_are_no_rates(void** unused) {
  (void)unused;
  static const char* const able[] = {"ga-pva", "nsga-pva", "event-driven"};
  static const char* const unable[] = {"ga-v", "ga-pv", "nsga-pvv", "moreau-jean"};
  Motion m = motion_text(
      "model: bend\ncoordinates: {x: {start: -1, rate: 2}, y: }\nmass: {x: 1, y: 1}\n"
      "constraints: {b: {modes: {left: {where: x < 0, rate: \"y' = 0\"},\n"
      "  right: {where: x >= 0, rate: \"y' = x'\"}}}}\n"
      "forces: {x: 1}\nstates: {w: {rate: \"y''\"}, l: {rate: lambda(b)}}\n");
  for (size_t k = 0; k < sizeof able / sizeof *able; k++) {
    m.def.step = 1e-3;
    motion_run(&m, able[k], 1.0, 1000, NULL);
    // 2 t + t^2/2 = 1 at t = sqrt(6) - 2; then x'' = y'' = 1/2 and lambda = 1/2.
    double after = 1 - (sqrt(6.0) - 2);
    CHECK_NEAR(m.state->v[2], after / 2, 1e-3);
    CHECK_NEAR(m.state->v[3], after / 2, 1e-3);
  }
  for (size_t k = 0; k < sizeof unable / sizeof *unable; k++) {
    assert_false(motion_can(&m, unable[k]));
  }
  motion_end(&m);
}

// ---- actions ------------------------------------------------------------------------------------
// Two events at one instant exchange two numbers: both see the old ones.                     (Z5)
static void test_same_old_values(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: swap\ncoordinates: {x: {}}\nmass: {x: 1}\nstates: {a: 1, b: 2, c: {start: 5, rate: "
      "0*x}}\n"
      "events: {one: {every: 0.1, set: {a: b}}, two: {every: 0.1, set: {b: c, c: a}}}\n");
  m.def.step = 0.1;
  motion_start(&m, "rk4");
  motion_step(&m, 0.1);  // at 0 and at 0.1
  CHECK_NEAR(pawl_state_input(m.stepper, m.state, 0), 5.0, 0.0);
  CHECK_NEAR(pawl_state_input(m.stepper, m.state, 1), 1.0, 0.0);
  CHECK_NEAR(m.state->v[1], 2.0, 0.0);
  motion_end(&m);
}

// A million ticks, ten in a step: each at its product, to the bit.                           (Z6)
static void test_clock_is_exact(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: clock\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n"
      "states: {n: 0, worst: 0, last: 0}\n"
      "events: {tick: {every: 0.001, offset: 0.0005, set: {n: n + 1, last: t,\n"
      "  worst: 'max(worst, abs(t - (0.0005 + n*0.001)))'}}}\n");
  m.def.step = 0.01;
  motion_start(&m, "rk4");
  for (long k = 1; k <= 100000; k++) {
    motion_step(&m, 0.01);
    m.state->t = 0.01 * (double)k;  // as a simulation does
  }
  CHECK_NEAR(pawl_state_input(m.stepper, m.state, 0), 1e6, 0.0);
  CHECK_NEAR(pawl_state_input(m.stepper, m.state, 1), 0.0, 0.0);
  CHECK_NEAR(pawl_state_input(m.stepper, m.state, 2), 0.0005 + 999999 * 0.001, 0.0);
  motion_end(&m);
}

// What is set needs a value at its instant alone; without one there the event is named.
static void test_values_at_instants_alone(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: late\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\nstates: {z: 0}\n"
      "events: {a: {at: 0.5, set: {z: 1/x}}, b: {at: 0.75, set: {z: log(x - 2)},\n"
      "  impulse: {x: 0}}, c: {at: 0.25, impulse: {x: log(x)}}}\n");
  m.def.step = 0.125;
  motion_run(&m, "rk4", 0.25, 2, NULL);
  for (int k = 2; k < 4; k++) {
    motion_step(&m, 0.125);
  }
  double x = 0.25 + 0.25 * (1 + log(0.25));
  CHECK_NEAR(pawl_state_input(m.stepper, m.state, 0), 1 / x, 1e-12);
  PawlStatus status = PAWL_OK;
  for (int k = 4; k < 7 && status == PAWL_OK; k++) {
    status = pawl_stepper_step(m.stepper, m.state, 0.125, &m.err);
  }
  assert_int_equal(status, PAWL_ERROR_RUN);
  assert_non_null(strstr(m.err.message, ": t = 0.75: 'log(x - 2)', which event 'b' sets"));
  motion_end(&m);
}

// A counter and a state machine: a mass between two thresholds, the force of which is switched.
static void test_state_machine(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: relay\ncoordinates: {x: {}}\nmass: {x: 1}\nstates: {up: 1, count: 0}\n"
      "forces: {x: up}\nevents: {high: {when: x > 0.5, set: {up: -1, count: count + 1}},\n"
      "  low: {when: x < 0.4, set: {up: 1, count: count + 1}}}\n");
  m.def.step = 0.05;
  motion_start(&m, "rk4");
  // up: x = t^2/2 = 0.5 at t = 1 with x' = 1; then x = 0.5 + s - s^2/2, back at 0.5 at s = 2.
  for (int k = 0; k < 60; k++) {
    motion_step(&m, 0.05);
  }
  CHECK_NEAR(m.state->t, 3.0, 1e-12);
  CHECK_NEAR(m.state->q[0], 0.5, 1e-10);
  CHECK_NEAR(pawl_state_input(m.stepper, m.state, 1), 1.0, 0.0);
  for (int k = 0; k < 4; k++) {
    motion_step(&m, 0.05);
  }
  double s = -1 + sqrt(1 + 0.2);  // falls by 0.1 from x' = -1
  CHECK_NEAR(pawl_state_input(m.stepper, m.state, 1), 2.0, 0.0);
  CHECK_NEAR(m.state->v[0], -(1 + s) + (0.2 - s), 1e-9);
  motion_end(&m);
}

// A state that fires at a threshold and is set back, many times within one step.
static void test_reset_within_a_step(void** unused) {
  (void)unused;
  static const char* const methods[] = {"rk4", "ga-pva", "exponential"};
  Motion m = motion_text(
      "model: integrate and fire\ncoordinates: {x: {}}\nmass: {x: 1}\n"
      "states: {z: {rate: 1}, count: 0}\n"
      "events: {fire: {when: z >= 0.3, set: {z: 0, count: count + 1}}}\n");
  m.def.step = 1.0;
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    motion_start(&m, methods[k]);
    for (int i = 0; i < 3; i++) {
      motion_step(&m, 1.0);
    }
    // 10 at 3 s but for rounding
    double count = pawl_state_input(m.stepper, m.state, 0);
    CHECK_NEAR(0.3 * count + m.state->v[1], 3.0, 1e-9);
    assert_true(count >= 9.0);
  }
  motion_end(&m);
}

// ---- inputs -------------------------------------------------------------------------------------
#define LOOP \
  "model: loop\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\npotential: 2*x^2\nforces: {x: u}\n"

// Set from outside what an event sets: the same motion.
static void test_input_as_event(void** unused) {
  (void)unused;
  static const char* const methods[] = {"rk4", "ga-pva", "moreau-jean", "dopri"};
  Motion a = motion_text(LOOP
                         "inputs: {u: {start: 0, unit: N}}\n"
                         "events: {tick: {every: 0.125, set: {u: \"-x - x'\"}}}\n");
  Motion b = motion_text(LOOP "inputs: {u: {start: 0, unit: N}}\n");
  int u = pawl_system_find_input(b.system, "u");
  assert_true(u == 0 && pawl_system_find_input(b.system, "x") == -1);
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    a.def.step = b.def.step = 0.125;
    motion_start(&a, methods[k]);
    motion_start(&b, methods[k]);
    for (int i = 0; i < 24; i++) {
      motion_step(&a, 0.125);
      double value = -b.state->q[0] - b.state->v[0];
      NEED(pawl_stepper_set_input(b.stepper, b.state, u, value, &b.err), &b.err);
      motion_step(&b, 0.125);
      CHECK_NEAR(a.state->q[0], b.state->q[0], 1e-14);
      CHECK_NEAR(a.state->v[0], b.state->v[0], 1e-14);
    }
  }
  assert_int_equal(pawl_stepper_set_input(b.stepper, b.state, 1, 0.0, &b.err), PAWL_ERROR_USAGE);
  assert_int_equal(pawl_stepper_set_input(b.stepper, b.state, 0, NAN, &b.err), PAWL_ERROR_USAGE);
  motion_end(&a);
  motion_end(&b);
}

// A parameter that may change, set before the first step, is as if it had been written so.
static void test_free_parameter(void** unused) {
  (void)unused;
  static const char text[] =
      "model: free\nparameters: {k: 4, m: 2, L: 3}\ncoordinates: {x: {start: L}}\n"
      "mass: {x: m}\npotential: k*x^2/2\n";
  static const char* const other[] = {"k=9", "m=5"};
  Motion a = {0}, b = {0};
  NEED(pawl_model_parse(text, strlen(text), "test", 0, NULL, &a.model, &a.err), &a.err);
  assert_int_equal(pawl_model_free_parameter(a.model, "L", &a.err), PAWL_ERROR_MODEL);
  assert_non_null(strstr(a.err.message, "test:3: the parameter 'L' cannot change"));
  assert_int_equal(pawl_model_free_parameter(a.model, "n", &a.err), PAWL_ERROR_USAGE);
  NEED(pawl_model_free_parameter(a.model, "k", &a.err), &a.err);
  NEED(pawl_model_free_parameter(a.model, "m", &a.err), &a.err);
  NEED(pawl_model_free_parameter(a.model, "k", &a.err), &a.err);  // once more changes nothing
  motion_derive(&a);
  NEED(pawl_model_parse(text, strlen(text), "test", 2, other, &b.model, &b.err), &b.err);
  motion_derive(&b);
  assert_true(a.n.inputs == 2 && b.n.inputs == 0);
  motion_start(&a, "rk4");
  motion_start(&b, "rk4");
  const char* names[] = {"k", "m"};
  double values[] = {9.0, 5.0};
  for (int k = 0; k < 2; k++) {
    int input = pawl_system_find_input(a.system, names[k]);
    NEED(pawl_stepper_set_input(a.stepper, a.state, input, values[k], &a.err), &a.err);
  }
  for (int k = 0; k < 20; k++) {
    motion_step(&a, 0.05);
    motion_step(&b, 0.05);
    CHECK_NEAR(a.state->q[0], b.state->q[0], 1e-14);
  }
  motion_end(&a);
  motion_end(&b);
}

// Families of states and inputs share programs, also behind the gates of locks: as written out.
static void test_families(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: lanes\ncoordinates: {'x[i=1..6]': {start: 0.1*i}}\ninputs: {'u[i=1..6]': 0.1*i}\n"
      "states: {'z[i=1..6]': {start: i, rate: '-i*z[i] + x[i] + u[i]'}}\n"
      "mass: {'x[i=1..6]': 1}\nforces: {'x[i=1..6]': '-4*x[i] - z[i]'}\n"
      "locks: {'b[i=1..6]': {lock: 'x[i]', at: 0.25, capacity: '0.1 + 0.01*z[i]^2'}}\n");
  Motion one = motion_text(
      "model: one\ncoordinates: {x: {start: 0.5}}\ninputs: {u: 0.5}\n"
      "states: {z: {start: 5, rate: -5*z + x + u}}\nmass: {x: 1}\nforces: {x: -4*x - z}\n"
      "locks: {b: {lock: x, at: 0.25, capacity: 0.1 + 0.01*z^2}}\n");
  motion_run(&m, "rk4", 1.0, 100, NULL);
  motion_run(&one, "rk4", 1.0, 100, NULL);
  CHECK_NEAR(m.state->q[4], one.state->q[0], 1e-13);
  CHECK_NEAR(m.state->v[6 + 4], one.state->v[1], 1e-13);
  motion_end(&m);
  motion_end(&one);
}

// Saved with an input set and not yet taken, loaded elsewhere: the same bits.
static void test_saved_and_loaded(void** unused) {
  (void)unused;
  static const char* const methods[] = {"rk4", "dopri", "ga-pva", "moreau-jean", "ida"};
  Motion m = motion_text(LOOP
                         "inputs: {u: 0}\nstates: {z: {rate: x - z}, n: 0}\n"
                         "events: {tick: {every: 0.3, set: {n: n + 1, z: z/2}}}\n");
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    if (!motion_can(&m, methods[k])) {
      continue;
    }
    m.def.step = 0.1;
    motion_start(&m, methods[k]);
    for (int i = 0; i < 7; i++) {
      motion_step(&m, 0.1);
    }
    NEED(pawl_stepper_set_input(m.stepper, m.state, 0, 0.7, &m.err), &m.err);
    PawlStepper* other = NULL;
    PawlState* copy = NULL;
    NEED(pawl_stepper_create(m.system, &m.def, &other, &m.err), &m.err);
    NEED(pawl_state_create(other, &copy, &m.err), &m.err);
    NEED(pawl_state_copy(other, copy, m.stepper, m.state, &m.err), &m.err);
    for (int i = 0; i < 10; i++) {
      motion_step(&m, 0.1);
      NEED(pawl_stepper_step(other, copy, 0.1, &m.err), &m.err);
    }
    assert_memory_equal(m.state->q, copy->q, m.state->bytes);
    pawl_state_destroy(copy);
    pawl_stepper_destroy(other);
  }
  motion_end(&m);
}

// ---- what is made of it -------------------------------------------------------------------------
// A stiffness that relaxes and an input in it that jumps: works and jumps explain the energy.
static void test_energy(void** unused) {
  (void)unused;
  static const char text[] =
      "model: works\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\ninputs: {u: 0}\n"
      "states: {k: {start: 4, rate: 1 - k}}\npotential: k*x^2/2 + u*x\n"
      "events: {jump: {at: 0.5, set: {u: 0.7, k: 3}}}\n"
      "simulate: {method: dopri, step: 0.01, until: 2, rtol: 1e-12}\n";
  Motion m = motion_text(text);
  PawlSimDef def = pawl_sim_def_default();
  PawlSim* sim = NULL;
  def.simulate = m.def;
  def.balance = true;
  NEED(pawl_sim_create(m.system, &def, &sim, &m.err), &m.err);
  NEED(pawl_sim_run(sim, NULL, NULL, &m.err), &m.err);
  PawlSummary s = pawl_sim_summary(sim);
  assert_true(fabs(s.works[PAWL_WORK_JUMPS]) > 1e-3 && fabs(s.works[PAWL_WORK_TIME]) > 1e-2);
  CHECK_NEAR(s.energy_max_drift, 0.0, 1e-9);
  pawl_sim_destroy(sim);
  motion_end(&m);
}

// x'' = -4 x + z, z' = -x - 3 z: rest at zero, the roots of (s^2 + 4)(s + 3) + 1.
static void test_spectrum_and_rest(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: third\ncoordinates: {x: {start: 0.3}}\nmass: {x: 1}\npotential: 2*x^2\n"
      "forces: {x: z}\nstates: {z: {start: 1, rate: -x - 3*z + 0.5}}\n");
  PawlSpectrum* s = NULL;
  NEED(pawl_spectrum_create(m.system, NULL, 0.0, &s, &m.err), &m.err);
  assert_int_equal(s->eigenvalue_count, 3);
  assert_int_equal(s->coordinates, 1);
  assert_int_equal(s->algebraic, 0);
  for (int k = 0; k < 3; k++) {
    double a = s->real[k], b = s->imaginary[k];
    double re = a * a * a - 3 * a * b * b + 3 * (a * a - b * b) + 4 * a + 13;
    double im = 3 * a * a * b - b * b * b + 6 * a * b + 4 * b;
    CHECK_NEAR(hypot(re, im), 0.0, 1e-11);
  }
  pawl_spectrum_destroy(s);
  PawlEquilibrium* rest = NULL;
  NEED(pawl_equilibrium_find(m.system, NULL, &rest, &m.err), &m.err);
  CHECK_NEAR(rest->point.q[0], 0.5 / 13, 1e-12);  // z = 4 x, x = 0.5 - 3 z
  CHECK_NEAR(rest->point.v[1], 2.0 / 13, 1e-12);
  pawl_equilibrium_destroy(rest);
  motion_end(&m);
}

// lambda follows from x and z: of z' = lambda^2/12 - 4 z at lambda = 12 the roots are those of
// (4 s^2 + 8)(s + 1) + 24.                                                                   (Z9)
static void test_spectrum_with_reactions(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: fed-back\ncoordinates: {x: {start: 1.5}, y: {start: 1.5}}\nmass: {x: 1, y: 3}\n"
      "potential: 4*x^2\nforces: {x: -2*(z - 3), y: 12}\nconstraints: {c: x = y}\n"
      "states: {z: {start: 3, rate: lambda(c)^2/12 - 4*z}}\n");
  PawlEquilibrium* rest = NULL;
  PawlSpectrum* s = NULL;
  NEED(pawl_equilibrium_find(m.system, NULL, &rest, &m.err), &m.err);
  CHECK_NEAR(rest->point.lambda[0], 12.0, 1e-11);
  NEED(pawl_spectrum_at(m.system, rest, &s, &m.err), &m.err);
  int found = 0;
  for (int k = 0; k < s->eigenvalue_count; k++) {
    double a = s->real[k], b = s->imaginary[k];
    double re = 4 * (a * a * a - 3 * a * b * b) + 4 * (a * a - b * b) + 8 * a + 32;
    double im = 4 * (3 * a * a * b - b * b * b) + 8 * a * b + 8 * b;
    found += hypot(a, b) > 0.1;
    CHECK_NEAR(hypot(a, b) > 0.1 ? hypot(re, im) : 0.0, 0.0, 1e-10);
  }
  assert_int_equal(found, 3);
  pawl_spectrum_destroy(s);
  pawl_equilibrium_destroy(rest);
  motion_end(&m);
}

// A filtered damper and a leaking integral: (s^2 + 4)(s/10 + 1) + 3 s = 0 has -4 and -3 +- i.
static void test_states_that_decay(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: filtered\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\npotential: 2*x^2\n"
      "forces: {x: f}\nstates: {f: {rate: \"(-3*x' - f)/0.1\"}, i: {rate: x - 0.5*i}}\n");
  PawlSpectrum* s = NULL;
  NEED(pawl_spectrum_create(m.system, NULL, 0.0, &s, &m.err), &m.err);
  assert_int_equal(s->oscillator_count, 3);
  CHECK_NEAR(s->oscillators[0].decay, 0.5, 1e-12);
  CHECK_NEAR(s->oscillators[1].decay, 4.0, 1e-11);
  assert_true(isinf(s->oscillators[0].ratio) && isinf(s->oscillators[1].ratio));
  CHECK_NEAR(s->oscillators[2].natural, sqrt(10.0), 1e-11);
  assert_int_equal(s->damping, PAWL_DAMPING_UNDERDAMPED);
  pawl_spectrum_destroy(s);
  motion_end(&m);
}

// Nothing holds x: the search says so, and does not rest where numbers end.
static void test_no_rest_far_away(void** unused) {
  (void)unused;
  static const char* const forces[] = {"{x: z}", "{x: z - sin(x)*0}", "{x: x + x^3}"};
  for (int k = 0; k < 3; k++) {
    char text[400];
    snprintf(text, sizeof text,
             "model: away\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\nforces: %s\n"
             "states: {z: {rate: x - z}}\ndissipation: 0.1*x^2*x'^2\n",
             forces[k]);
    Motion m = motion_text(text);
    PawlEquilibrium* rest = NULL;
    assert_int_equal(pawl_equilibrium_find(m.system, NULL, &rest, &m.err), PAWL_ERROR_RUN);
    assert_non_null(strstr(m.err.message, "runs away along 'x'"));
    motion_end(&m);
  }
}

static void test_php_says_so(void** unused) {
  (void)unused;
  Motion m = motion_text(LOOP "states: {u: {rate: -u}}\n");
  assert_false(motion_can(&m, "php"));
  assert_non_null(strstr(m.err.message, "method php cannot handle"));
  assert_non_null(strstr(m.err.message, "rk4"));
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order_of_each_method),
      cmocka_unit_test(test_forms),
      cmocka_unit_test(test_generalized_alpha),
      cmocka_unit_test(test_exponential_is_exact),
      cmocka_unit_test(test_rates_react),
      cmocka_unit_test(test_same_old_values),
      cmocka_unit_test(test_clock_is_exact),
      cmocka_unit_test(test_state_machine),
      cmocka_unit_test(test_reset_within_a_step),
      cmocka_unit_test(test_input_as_event),
      cmocka_unit_test(test_free_parameter),
      cmocka_unit_test(test_families),
      cmocka_unit_test(test_saved_and_loaded),
      cmocka_unit_test(test_energy),
      cmocka_unit_test(test_spectrum_and_rest),
      cmocka_unit_test(test_php_says_so),
      cmocka_unit_test(test_friction_of_joints_is_seen),
      cmocka_unit_test(test_rates_of_rates),
      cmocka_unit_test(test_values_at_instants_alone),
      cmocka_unit_test(test_exponential_with_reactions),
      cmocka_unit_test(test_spectrum_with_reactions),
      cmocka_unit_test(test_states_that_decay),
      cmocka_unit_test(test_closed_contacts),
      cmocka_unit_test(test_jumps_are_no_rates),
      cmocka_unit_test(test_no_rest_far_away),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
