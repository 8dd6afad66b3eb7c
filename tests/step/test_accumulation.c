// SPDX-License-Identifier: Apache-2.0
// Impacts without end in a finite time, whose instants are located (docs/theory/contacts.md,
// "Accumulation"): a ball, a block that rocks, a table that shakes, bodies between each other,
// against closed forms and long arithmetic.
#include "step/located.h"

// ---- a ball -------------------------------------------------------------------------------------
static const char BALL[] =
    "model: ball\n"
    "parameters: {cor: 0.8}\n"
    "coordinates: {y: {start: 1}}\n"
    "mass: {y: 2}\n"
    "potential: 20*y\n"
    "contacts: {floor: {gap: y, restitution: cor}}\n";

// t_0 = sqrt(2/g), then intervals of 2 e^k g t_0/g; the limit is t_0 (1 + e)/(1 - e).
static void check_ball(const Run* run, double e, double tolerance) {
  double t0 = sqrt(0.2), t = t0, speed = e * 10 * t0;
  int count = run_events(run);
  assert_true(count > 10);
  for (int k = 0; k < count - 1; k++) {
    const PawlEvent* hit = event_is(run, k, t, "floor", "hit", tolerance);
    if (k < count - 2) {  // from the last one on it is at rest for the equations
      CHECK_NEAR(hit->v_after[0], speed, tolerance);
      CHECK_NEAR(hit->impulse[0], 2 * speed * (1 + e) / e, tolerance);
    }
    t += 2 * speed / 10;
    speed *= e;
  }
  event_is(run, count - 1, t0 * (1 + e) / (1 - e), "floor", "rest", tolerance);
  check_state(run, (double[]){0}, (double[]){0}, tolerance);
  CHECK_NEAR(pawl_sim_state(run->sim)->lambda[0], 20.0, 1e-9);
  PawlSummary summary = pawl_sim_summary(run->sim);
  CHECK_NEAR(summary.energy_end, 0.0, tolerance);
}

static void test_ball(void** unused) {
  (void)unused;
  Run run = run_text(BALL);
  for (int k = 0; EXACT[k]; k++) {
    assert_true(run_with(&run, EXACT[k], 6, 1e-2));
    check_ball(&run, 0.8, 1e-10);
    assert_true(run_events(&run) > 44);
  }
  run_end(&run);
}

// Whatever the step: several impacts fit into one.
static void test_ball_in_long_steps(void** unused) {
  (void)unused;
  Run run = run_text(BALL);
  for (double h = 1.7; h > 0.1; h *= 0.5) {
    assert_true(run_with(&run, "dopri", 6.8, h));
    check_ball(&run, 0.8, 1e-9);
  }
  run_end(&run);
}

static void test_ball_by_every_method(void** unused) {
  (void)unused;
  Run run = run_text(BALL);
  for (int k = 0; ALL[k]; k++) {
    if (run_with(&run, ALL[k], 6, 1e-3)) {
      check_ball(&run, 0.8, 1e-4);
    }
  }
  run_end(&run);
}

// The same ball in other units: all that is judged by size is relative.
static void test_ball_in_other_units(void** unused) {
  (void)unused;
  static const char* const units[][3] = {
      {"L=1e-4", "M=1", "T=1"},    {"L=1e4", "M=1", "T=1"},      {"L=1", "M=1e-4", "T=1"},
      {"L=1", "M=1e4", "T=1"},     {"L=1", "M=1", "T=1e-4"},     {"L=1", "M=1", "T=1e4"},
      {"L=1e4", "M=1e4", "T=1e4"}, {"L=1e-4", "M=1e4", "T=1e-4"}};
  static const char text[] =
      "model: ball\n"
      "parameters: {L: 1, M: 1, T: 1}\n"
      "coordinates: {y: {start: L}}\n"
      "mass: {y: 2*M}\n"
      "potential: 20*M*L/T^2*y\n"
      "contacts: {floor: {gap: y, restitution: 0.5}}\n";
  for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
    Run run = {0};
    double L = atof(units[k][0] + 2), T = atof(units[k][2] + 2);
    run_need(&run,
             pawl_model_parse(text, strlen(text), "test.yaml", 3, units[k], &run.model, &run.err));
    run_derive(&run);
    run.def.simulate.event_tolerance *= T;
    assert_true(run_with(&run, "rk4", 2 * T, 1e-2 * T));
    assert_int_equal(run_events(&run), 18);  // the 17th leaves at 1/4^17 of the height
    static const double first[] = {1.0, 2.0, 2.5, 2.75};
    for (int i = 0; i < 4; i++) {
      CHECK_NEAR(run_event(&run, i)->t / T, first[i] * sqrt(0.2), 1e-10);
    }
    event_is(&run, 17, 3 * sqrt(0.2) * T, "floor", "rest", 1e-10 * T);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[0] / L, 0.0, 1e-12);
    run_end(&run);
  }
}

// ---- a block that rocks to rest -----------------------------------------------------------------
// By quadrature of the energy on each corner with 40 digits (the head of the model has it); rates
// fall by 0.7 = (J - m b^2)/(J + m b^2) at each impact, and the times end at a limit.
static void test_rocking_block(void** unused) {
  (void)unused;
  static const double t[] = {0.13851326099400415, 0.30069953758455465, 0.40772328069949804,
                             0.4807883885621976,  0.53134892406639783, 0.56654817432956046,
                             0.59112261288325363, 0.60830260996731661};
  static const double limit = 0.64835099344241713, rate = 1.0730768920903196;
  Run run = run_file("rocking-block", NULL, NULL);
  run.def.simulate.rtol = 1e-12;
  run.def.simulate.atol = 1e-14;
  run_to(&run, 1, 2e-3);
  double w = rate;
  for (int k = 0; k < 8; k++, w *= 0.7) {  // at each of them one corner opens and one is hit
    const PawlEvent* left = event_is(&run, 2 * k, t[k], "left", k % 2 ? "hit" : "open", 1e-10);
    event_is(&run, 2 * k + 1, t[k], "right", k % 2 ? "open" : "hit", 1e-10);
    CHECK_NEAR(left->v_after[1], k % 2 ? w : -w, 1e-10);
  }
  bool rests = false;
  for (int k = 16; k < run_events(&run); k++) {
    rests |= strcmp(run_event(&run, k)->to, "rest") == 0;
  }
  assert_true(rests);
  CHECK_NEAR(run_event(&run, run_events(&run) - 1)->t, limit, 1e-8);
  check_state(&run, (double[]){0.4, 0}, (double[]){0, 0}, 1e-10);
  check_list("lambda", 2, pawl_sim_state(run.sim)->lambda, (double[]){9.81, 9.81}, 1e-8);
  run_end(&run);
}

// ---- on a table that shakes
// ----------------------------------------------------------------------
#define SHAKEN(restitution)         \
  "model: shaken\n"                 \
  "parameters: {A: 0.02, w: 30}\n"  \
  "coordinates: {y: {rate: A*w}}\n" \
  "mass: {y: 1}\n"                  \
  "potential: 9.81*y\n"             \
  "contacts: {floor: {gap: y - A*sin(w*t), restitution: " restitution "}}\n"

// A shaken table is left without a rate, which ida resolves but slowly.
static void test_shaken(void** unused) {
  (void)unused;
  Run run = run_text(SHAKEN("0.4"));
  double off = asin(9.81 / (0.02 * 900)) / 30;
  for (int k = 0; k < 2; k++) {
    if (run_with(&run, k == 0 ? "dopri" : "ida", 0.5, 1e-3)) {
      event_is(&run, 0, off, "floor", "open", 1e-7);
      event_is(&run, 1, 0.16446063, "floor", "hit", 1e-7);
      event_is(&run, 5, 0.41808503, "floor", "hit", 1e-6);
    }
  }
  run_end(&run);
}

// Bounces die down on it, the last of them lower than ida knows where the mass is: they are given
// up for at rest, and the table throws it again.                                            (C10)
static void test_shaken_to_rest(void** unused) {
  (void)unused;
  static const double rtol[] = {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
  Run run = run_text(SHAKEN("0.3"));
  double off = asin(9.81 / (0.02 * 900)) / 30, turn = 2 * acos(-1) / 30;
  for (int k = 0; k < 6; k++) {
    run.def.simulate.rtol = rtol[k];
    if (run_with(&run, "ida", 1.1, 1e-2)) {
      int thrown = 0;
      for (int i = 0; i < run_events(&run); i++) {
        const PawlEvent* event = run_event(&run, i);
        bool leaves = strcmp(event->to, "open") == 0;
        if (leaves) {
          CHECK_NEAR(event->t, off + turn * thrown, 1e-6);
        }
        thrown += leaves;
      }
      assert_int_equal(thrown, 6);
    }
  }
  run_end(&run);
}

// ---- between several bodies ---------------------------------------------------------------------
// Two masses that a lock keeps at a distance bounce on the floor until the force there lets the
// lock go. What rounding of the distance does to the gap of the lower one, whose own place is
// nothing, is no touch: each was followed by the next for ever, with small steps.
static void test_bounce_of_locked(void** unused) {
  (void)unused;
  static const double g = 9.81, k = 400.0, m = 2.0;
  static const double rtol[] = {1e-8, 1e-11, 1e-12};
  Run run = run_text(
      "model: locked\ncoordinates: {a: {start: 0.5}, b: {start: 1.5}}\nmass: {a: 1, b: 2}\n"
      "potential: [9.81*a + 9.81*2*b, 400/2*(b - a - 1)^2]\n"
      "locks: {pin: {lock: b - a, engaged: true, release: {when: 'lambda(f) - 20'}}}\n"
      "contacts: {f: {gap: a, restitution: 0.5}}\n");
  for (int n = 0; n < 4; n++) {
    run.def.simulate.rtol = rtol[n % 3];
    assert_true(run_with(&run, n < 3 ? "dopri" : "rk4", 1.0, n < 3 ? 1e-2 : 2.5e-3));
    int count = run_events(&run);
    double end = 3.0 * sqrt(2 * 0.5 / g);
    assert_int_equal(count, 19);
    (void)event_is(&run, 17, end, "f", "rest", 1e-9);
    double free = event_is(&run, 18, end, "pin", "free", 1e-9)->t;  // the force comes with it
    double sunk = m * g / k, w = sqrt(k / m), angle = w * (1.0 - free);
    check_state(&run, (double[]){0, 1.0 - sunk * (1.0 - cos(angle))},
                (double[]){0, -sunk * w * sin(angle)}, 1e-6);
  }
  run_end(&run);
}

// Three balls before a wall: impacts accumulate between two or three contacts, and end for all of
// them at once. Rates and limits by arithmetic with 200 digits, impact by impact.
static void test_row_before_wall(void** unused) {
  (void)unused;
  static const struct {
    const char *e, *law, *names[2];
    double t, limit, v[3];
  } rows[] = {
      {"e=0.01", "newton", {"a", "b"}, 1.55, 1.3258423560, {-1. / 3, -1. / 3, -1. / 3}},
      {"e=0.05", "newton", {"b", "a"}, 1.55, 1.5, {-1. / 3, -1. / 3, -1. / 3}},
      {"e=0.05", "sequential", {"b", "a"}, 1.55, 1.5, {-1. / 3, -1. / 3, -1. / 3}},
      {"e=0.05", "sequential", {"b", "a"}, 5, 1.5, {0, 0, 0}},
      {"e=0.07", "newton", {"w", "a"}, 1.6, 1.59899972912679, {0, 0, -0.349319625}},
      {"e=0.1", "newton", {"a", "w"}, 5, 1.62102378346902, {0, 0, 0.022224222421875}},
      {"e=0.15", "newton", {"a", "w"}, 1.66, 1.65942028985507, {0, 0, -0.425}},
      {"e=0.3", "newton", {NULL, NULL}, 5, 2.07167541271167, {0, 0, 0}},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    static const char text[] =
        "model: row\nparameters: {e: 0.1}\nmass: {x: 1, y: 1, z: 1}\n"
        "coordinates: {x: {start: 0.1}, y: {start: 0.5}, z: {start: 1, rate: -1}}\n"
        "contacts: {w: {gap: x, restitution: e}, a: {gap: y - x, restitution: e},\n"
        "  b: {gap: z - y, restitution: e}}\n";
    Run run = {0};
    run_need(&run, pawl_model_parse(text, strlen(text), "test.yaml", 1, &rows[k].e, &run.model,
                                    &run.err));
    run_derive(&run);
    run.def.simulate.contact_law = rows[k].law;
    assert_true(run_with(&run, "dopri", rows[k].t, 0.1));
    check_list("v", 3, pawl_sim_state(run.sim)->v, rows[k].v, 1e-9);
    int rests = 0;
    for (int i = 0; i < run_events(&run); i++) {
      if (strcmp(run_event(&run, i)->to, "rest") == 0) {
        assert_true(rests < 2 && rows[k].names[rests]);
        (void)event_is(&run, i, rows[k].limit, rows[k].names[rests++], "rest", 1e-8);
      }
    }
    assert_int_equal(rests, rows[k].names[0] ? 2 : 0);
    run_end(&run);
  }
}

// ---- a disc that settles into a groove while it spins
// --------------------------------------------- A disc slides along one side of a groove, hits the
// other one and leaves the first, and so on: each time for T = -2 xi/xi'', from the corner and back
// to it, and an impact takes all of the rate across the side that is hit, with friction along it.
// Its spin lasts. `out`: when the last impact was, and the spin then.
static void fall_into_groove(double a, double r, double g, double mu, double J, double speed,
                             double spin, double out[2]) {
  double s = sin(a), c = cos(a), t = 0, v[2] = {speed * c, speed * s};
  for (int side = 1;; side = -side) {  // 1: along (c, s) with the normal (-s, c)
    double xi = c * v[0] + side * s * v[1];
    double second = -side * g * s - mu * g * c, T = -2 * xi / second;
    assert_true(T > 0 && xi + r * spin > 0);
    if (T < 1e-16) {
      break;
    }
    xi += second * T;
    spin -= mu * g * c * r / J * T;
    t += T;
    v[0] = xi * c;
    v[1] = side * xi * s;
    double Lambda = -(side * s * v[0] + c * v[1]);  // the other side's normal: (side s, c)
    assert_true(Lambda > 0);
    v[0] += Lambda * (side * s - mu * c);
    v[1] += Lambda * (c + mu * side * s);
    spin -= mu * Lambda * r / J;
  }
  out[0] = t;
  out[1] = spin;
}

// What is left of the impacts, one of them pulled, passes on what they would have: the spin at the
// limit is that of all of them.                                                            (C19)
static void test_groove(void** unused) {
  (void)unused;
  static const char text[] =
      "model: groove\n"
      "parameters: {a: 0.7, r: 0.1, g: 9.81, V: 0.3}\n"
      "coordinates: {x: {rate: V*cos(a)}, y: {start: r/cos(a), rate: V*sin(a)}, p: {rate: 15}}\n"
      "mass: {x: 1, y: 1, p: 0.005}\n"
      "potential: g*y\n"
      "contacts:\n"
      "  r: {gap: -sin(a)*x + cos(a)*y - r, restitution: 0, friction: 0.1,\n"
      "      slip: \"cos(a)*x' + sin(a)*y' + r*p'\"}\n"
      "  l: {gap: sin(a)*x + cos(a)*y - r, restitution: 0, friction: 0.1,\n"
      "      slip: \"cos(a)*x' - sin(a)*y' + r*p'\"}\n";
  double end[2], a = 0.7, g = 9.81, mu = 0.1, r = 0.1, J = 0.005;
  fall_into_groove(a, r, g, mu, J, 0.3, 15, end);
  // Both sides press together: across, (l - r) sin a = mu (l + r) cos a.
  double sum = g / (cos(a) * (1 + mu * mu)), brakes = mu * r * sum / J, t = 0.3;
  assert_true(end[0] < t);
  static const char* const methods[] = {"dopri", "rk4", "ark"};
  for (int k = 0; k < 3; k++) {
    Run run = run_text(text);
    assert_true(run_with(&run, methods[k], t, 1e-2));
    const double* v = pawl_sim_state(run.sim)->v;
    CHECK_NEAR(v[0], 0.0, 1e-12);
    CHECK_NEAR(v[1], 0.0, 1e-12);
    CHECK_NEAR(v[2], end[1] - brakes * (t - end[0]), 1e-8);
    run_end(&run);
  }
}

// ---- a block that is hit along a floor
// --------------------------------------------------------- A second block comes down along the
// side of one that is pushed against it. Each impact between both presses the first one on the
// floor, whose friction drives it off again: all of its rate is Lambda mu_b mu_f/m, and it returns
// by a second rate that is constant. x, y, u (the rates x1', y1', x2') and t: at the limit.
static void fall_between(double g, double pulls, double m, const double mu[2], double x[2],
                         double u[3], double* t) {
  double gap = 0.01, second = (-pulls + mu[0] * 1.3 * g) / m;
  for (*t = 0;;) {
    double rate = u[2] - u[0], T = (-rate - sqrt(rate * rate - 2 * second * gap)) / second;
    if (T < 1e-16) {
      return;
    }
    gap = 0;
    x[0] += u[0] * T;
    x[1] += u[1] * T - 0.5 * g * T * T;
    u[1] -= g * T;
    u[2] += second * T;
    *t += T;
    double Lambda = (u[0] - u[2]) / (1 + 1 / m), on_floor = mu[1] * Lambda;
    u[0] -= Lambda;
    u[1] += mu[1] * Lambda;
    u[2] += (Lambda + mu[0] * on_floor) / m;
    assert_true(Lambda > 0 && u[1] < 0);
  }
}

// What is taken back of the last impact is taken back of what the floor has got by it, too: its
// friction does not lift the block off the floor. One solution, and no other.             (C19)
static void test_pressed_on_floor(void** unused) {
  (void)unused;
  static const char text[] =
      "model: pressed\n"
      "coordinates: {x1: {rate: -0.4}, y1: {start: 0.02, rate: -0.85},\n"
      "              x2: {start: 0.31, rate: -1.6}, y2: }\n"
      "mass: {x1: 1, y1: 1, x2: 1.3, y2: 1.3}\n"
      "potential: [9.81*y1, 12.753*y2]\n"
      "forces: {x2: -6}\n"
      "contacts:\n"
      "  floor: {gap: y2, friction: 0.1, slip: \"x2' + 0.37\"}\n"
      "  side: {gap: x2 - x1 - 0.3, friction: 0.551, slip: y1 - y2}\n";
  static const struct {
    const char* method;
    double h;
  } runs[] = {{"rk4", 2e-3},   {"rk4", 1e-3}, {"rk4", 7e-4},   {"rk4", 1e-2},
              {"dopri", 2e-3}, {"ark", 2e-3}, {"ga-pva", 2e-3}};
  const double g = 9.81, m = 1.3, mu[] = {0.1, 0.551}, end = 0.1;
  double x[] = {0, 0.02}, u[] = {-0.4, -0.85, -1.6}, t;
  fall_between(g, 6, m, mu, x, u, &t);
  double N = (6 - mu[0] * 1.3 * g) / (m + 1 + mu[0] * mu[1]), left = end - t;
  for (int k = 0; k < (int)(sizeof runs / sizeof *runs); k++) {
    Run run = run_text(text);
    run.def.simulate.contact_law = "sequential";
    run.def.simulate.painleve = "refuse";
    assert_true(run_with(&run, runs[k].method, end, runs[k].h));
    const PawlState* state = pawl_sim_state(run.sim);
    CHECK_NEAR(state->q[0], x[0] + u[0] * left - 0.5 * N * left * left, 1e-11);
    CHECK_NEAR(state->q[1], x[1] + u[1] * left - 0.5 * (g - mu[1] * N) * left * left, 1e-11);
    CHECK_NEAR(state->v[0], u[0] - N * left, 1e-11);
    CHECK_NEAR(state->v[1], u[1] - (g - mu[1] * N) * left, 1e-11);
    CHECK_NEAR(state->q[3], 0.0, 1e-16);
    run_end(&run);
  }
}

// A floor is left while friction of another contact slips: what its projection does to the gap at
// each instant is rounding of other coordinates, and no overlap.                           (C1)
static void test_leaves_beside_slip(void** unused) {
  (void)unused;
  static const char text[] =
      "model: leaves\n"
      "parameters: {rate: 0}\n"
      "coordinates: {x1: {start: 0.0213, rate: -1.1}, y1: {rate: -0.85},\n"
      "              x2: {start: 0.3213, rate: -1.1}, y2: {rate: rate}}\n"
      "mass: {x1: 1, y1: 1, x2: 1.3, y2: 1.3}\n"
      "potential: [9.81*y1, 12.753*y2]\n"
      "forces: {x2: -6}\n"
      "contacts:\n"
      "  floor: {gap: y2, friction: 0.1, slip: \"x2' + 0.37\"}\n"
      "  side: {gap: x2 - x1 - 0.3, friction: 0.551, slip: y1 - y2}\n";
  static const char* const rates[] = {"rate=3e-9", "rate=9.7e-8", "rate=1e-6", "rate=1e-5",
                                      "rate=1e-4"};
  for (int k = 0; k < (int)(sizeof rates / sizeof *rates); k++) {
    double q[2][4];
    for (int j = 0; j < 2; j++) {
      Run run = {0};
      run_need(&run, pawl_model_parse(text, strlen(text), "test.yaml", 1, &rates[k], &run.model,
                                      &run.err));
      run_derive(&run);
      assert_true(run_with(&run, j == 0 ? "rk4" : "ga-pva", 0.1, 2e-3));
      assert_true(run_events(&run) < 20);
      memcpy(q[j], pawl_sim_state(run.sim)->q, sizeof q[j]);
      run_end(&run);
    }
    check_list("q", 4, q[0], q[1], 1e-10);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ball),
      cmocka_unit_test(test_ball_in_long_steps),
      cmocka_unit_test(test_ball_by_every_method),
      cmocka_unit_test(test_ball_in_other_units),
      cmocka_unit_test(test_rocking_block),
      cmocka_unit_test(test_shaken),
      cmocka_unit_test(test_shaken_to_rest),
      cmocka_unit_test(test_bounce_of_locked),
      cmocka_unit_test(test_row_before_wall),
      cmocka_unit_test(test_groove),
      cmocka_unit_test(test_pressed_on_floor),
      cmocka_unit_test(test_leaves_beside_slip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
