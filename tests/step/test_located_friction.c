// SPDX-License-Identifier: Apache-2.0
// Friction of contacts whose instants are located (docs/theory/friction.md, section 9), against
// closed forms: sticking, slipping and turning back, impacts with friction, several contacts under
// one body, and directions that turn in space.
#include "step/rubbing.h"

// ---- one contact --------------------------------------------------------------------------------
static const char INCLINE[] =
    "model: incline\n"
    "parameters: {m: 2, g: 9.81, alpha: 0.5, mu: 0.6}\n"
    "coordinates: {x: {rate: 2}, y: }\n"
    "mass: {x: m, y: m}\n"
    "potential: m*g*(x*sin(alpha) + y*cos(alpha))\n"
    "contacts: {plane: {gap: y, friction: mu, slip: x}}\n";

// Up until t = v/(g (sin alpha + mu cos alpha)); steep planes lead back, others hold.
static void check_incline(const Run* run, double mu, double tolerance) {
  double up = 9.81 * (sin(0.5) + mu * cos(0.5)), back = 9.81 * (sin(0.5) - mu * cos(0.5));
  double t = 2 / up, x = 2 * t / 2, rest = 1 - t;
  assert_int_equal(run_events(run), 1);
  event_is(run, 0, t, "plane", "slip", back > 0 ? "turn" : "stick", tolerance);
  double q = back > 0 ? x - back * rest * rest / 2 : x, v = back > 0 ? -back * rest : 0;
  check_state(run, (double[]){q, 0}, (double[]){v, 0}, tolerance);
  double normal = 2 * 9.81 * cos(0.5), held = 2 * 9.81 * sin(0.5);
  const double* lambda = pawl_sim_multipliers(run->sim);
  CHECK_NEAR(lambda[1], normal, 1e-9);
  CHECK_NEAR(lambda[0], back > 0 ? mu * normal : held, 1e-9);
}

static void test_incline(void** unused) {
  (void)unused;
  Run sticks = run_text_with(INCLINE, "mu=0.6"), slides = run_text_with(INCLINE, "mu=0.3");
  for (int k = 0; ALL[k]; k++) {
    sticks.def.simulate.smooth = slides.def.simulate.smooth = ALL[k];
    if (is_absent(ALL[k])) {
      continue;
    }
    run_to(&sticks, 1, 1e-3);  // parabolas are exact for all of them
    check_incline(&sticks, 0.6, 1e-9);
    balances(&sticks, 1e-9);
    run_to(&slides, 1, 1e-3);
    check_incline(&slides, 0.3, 1e-8);
    balances(&slides, 1e-8);
  }
  run_end(&sticks);
  run_end(&slides);
}

// Pulled by a spring whose end moves at v: sticks until k v t = mu_s m g, then m x'' = k (v t - x)
// - mu_k m g with x' = 0 again after a time T: cos and sin of an oscillator.
static void test_stick_slip(void** unused) {
  (void)unused;
  static const char text[] =
      "model: pulled\n"
      "coordinates: {x: , y: }\n"
      "mass: {x: 2, y: 2}\n"
      "potential: 20*y + 50/2*(x - 0.1*t)^2\n"
      "contacts: {floor: {gap: y, friction: {static: 0.4, kinetic: 0.3}, slip: x}}\n";
  Run run = run_text_with(text, NULL);
  for (int k = 0; EXACT[k]; k++) {
    run.def.simulate.smooth = EXACT[k];
    if (is_absent(EXACT[k])) {
      continue;
    }
    bool fixed = strcmp(EXACT[k], "rk4") == 0;
    run_to(&run, 5, fixed ? 1e-3 : 1e-2);
    double t = 8 / (50 * 0.1), w = 5;  // w = sqrt(50/2)
    // u = spring's length beyond that of sliding friction: u'' = -w^2 u, u = 2/50, u' = 0.1; it
    // sticks when u' = 0.1 again, at 2 (pi - atan(w u_0/0.1)) / w.
    double T = 2 * (acos(-1) - atan(w * (2.0 / 50) / 0.1)) / w;
    event_is(&run, 0, t, "floor", "stick", "slip", 1e-9);
    event_is(&run, 1, t + T, "floor", "slip", "stick", 1e-9);
    double again = t + T + (2.0 / 50 + 2.0 / 50) / 0.1;
    event_is(&run, 2, again, "floor", "stick", "slip", 1e-9);
    event_is(&run, 3, again + T, "floor", "slip", "stick", 1e-9);
  }
  run_end(&run);
}

// On a belt with a normal force N = m g (1 + A sin w t): begins to slip backwards with the belt,
// x'' = mu N/m, and grips where x' = v: mu g (t + A/w (1 - cos w t)) = v.
static void test_belt(void** unused) {
  (void)unused;
  static const char text[] =
      "model: belt\n"
      "coordinates: {x: , y: }\n"
      "mass: {x: 1, y: 1}\n"
      "potential: 10*y\n"
      "forces: {y: -5*sin(7*t), x: -12*step(t - 1)}\n"
      "contacts: {belt: {gap: y, friction: 0.25, slip: \"x' - 0.5\"}}\n";
  Run run = run_text_with(text, NULL);
  double t = 0.2;
  for (int k = 0; k < 50; k++) {  // Newton's method
    double f = 0.25 * (10 * t + 5.0 / 7 * (1 - cos(7 * t))) - 0.5;
    t -= f / (0.25 * (10 + 5 * sin(7 * t)));
  }
  run_to(&run, 2, 1e-2);
  event_is(&run, 0, t, "belt", "slip", "stick", 1e-10);
  event_is(&run, 1, 1, "belt", "stick", "slip", 1e-10);  // 12 N are more than 3.75
  double v = 0.5 - 12 + 0.25 * (10 + 5.0 / 7 * (cos(7) - cos(14)));
  CHECK_NEAR(pawl_sim_state(run.sim)->v[0], v, 1e-9);
  balances(&run, 1e-8);
  run_end(&run);
}

// Stribeck's curve mu = 0.2 + 0.3 slip: x' = (v + 0.2/0.3) exp(-0.3 g t) - 0.2/0.3.
static void test_speed(void** unused) {
  (void)unused;
  static const char text[] =
      "model: speed\n"
      "coordinates: {x: {rate: 2}, y: }\n"
      "mass: {x: 1, y: 1}\n"
      "potential: 10*y\n"
      "contacts: {floor: {gap: y, friction: 0.2 + 0.3*slip, slip: x}}\n";
  Run run = run_text_with(text, NULL);
  for (int k = 0; EXACT[k]; k++) {
    run.def.simulate.smooth = EXACT[k];
    if (!is_absent(EXACT[k])) {
      run_to(&run, 1, 1e-3);
      event_is(&run, 0, log(1 + 2 * 0.3 / 0.2) / 3, "floor", "slip", "stick", 1e-9);
    }
  }
  run_end(&run);
}

// ---- several contacts ---------------------------------------------------------------------------
static const char BLOCK[] =
    "model: block\n"
    "parameters: {b: 0.3, h: 0.1, up: 0, k: 6}\n"
    "coordinates: {x: , y: {start: h}, p: }\n"
    "define:\n"
    "  F: k*t*step(2 - t)\n"
    "  lx: x - b*cos(p) + h*sin(p)\n"
    "  ly: y - b*sin(p) - h*cos(p)\n"
    "  rx: x + b*cos(p) + h*sin(p)\n"
    "  ry: y + b*sin(p) - h*cos(p)\n"
    "mass: {x: 2, y: 2, p: 0.1}\n"
    "potential: 20*y\n"
    "forces: {x: F, p: -F*up}\n"
    "contacts:\n"
    "  left: {gap: ly, friction: 0.4, slip: lx}\n"
    "  right: {gap: ry, friction: 0.4, slip: rx}\n";

// Two feet, whose friction depends on each other at rest: slips where k t = 8 N, is let go at 2 s,
// stops where 0.4 g has used up the rate.
static void test_two_feet(void** unused) {
  (void)unused;
  Run run = run_text_with(BLOCK, NULL);
  double t = 8.0 / 6, v = (3 * (4 - t * t) - 8 * (2 - t)) / 2, stop = 2 + v / 4;
  double x = (8 - t * t * t) / 2 - 3 * t * t * (2 - t) / 2 - 2 * (2 - t) * (2 - t) + v * v / 8;
  for (int k = 0; EXACT[k]; k++) {
    run.def.simulate.smooth = EXACT[k];
    if (is_absent(EXACT[k])) {
      continue;
    }
    run_to(&run, 4, 1e-2);
    assert_int_equal(run_events(&run), 4);
    event_is(&run, 0, t, "left", "stick", "slip", 1e-9);
    event_is(&run, 1, t, "right", "stick", "slip", 1e-9);
    event_is(&run, 2, stop, "left", "slip", "stick", 1e-9);
    event_is(&run, 3, stop, "right", "slip", "stick", 1e-9);
    check_state(&run, (double[]){x, 0.1, 0}, (double[]){0, 0, 0}, 1e-9);
    balances(&run, 1e-8);
  }
  run_end(&run);
}

// A block that stands on a table, and sticks to a pad that begins to rise: the table and the pad
// ask for the same velocity until the pad moves. Then the block goes with the pad. (F27)
static void test_lifted(void** unused) {
  (void)unused;
  Run run = run_text_with(
      "model: lift\nparameters: {T: 0.12}\ncoordinates: {x: , y: }\nmass: {x: 0.5, y: 0.5}\n"
      "potential: 0.5*9.81*y + 20*x\ncontacts:\n  table: {gap: y}\n"
      "  pad: {gap: x, friction: 0.6, slip: \"y' - 0.2*exp(-((t - 0.7)/T)^2)/(T*sqrt(pi))\"}\n",
      NULL);
  for (int k = 0; EXACT[k]; k++) {
    run.def.simulate.smooth = EXACT[k];
    if (is_absent(EXACT[k])) {
      continue;
    }
    run_to(&run, 1.4, 1e-3);
    assert_int_equal(run_events(&run), 3);
    event_is(&run, 0, 0.1925, "table", "closed", "open", 1e-3);
    event_is(&run, 2, 0.1925, "pad", "slip", "stick", 1e-3);
    check_state(&run, (double[]){0, 0.2}, (double[]){0, 0}, 1e-8);
    balances(&run, 1e-9);
  }
  run_end(&run);
}

// A brake slides beside a contact that slips: the direction of the slip is no place that a row
// holds.
static void test_beside_a_brake(void** unused) {
  (void)unused;
  Run run = run_text_with(
      "model: brake\ncoordinates: {x: {rate: 3}, y: , phi: {rate: 10}}\nmass: {x: 1, y: 1, phi: "
      "1}\n"
      "potential: 10*y\nlocks: {brake: {lock: phi, engaged: true, capacity: 4}}\n"
      "contacts: {road: {gap: y, friction: 0.6, slip: x}}\n",
      NULL);
  run_to(&run, 1, 1e-2);
  event_is(&run, 0, 0.5, "road", "slip", "stick", 1e-9);
  check_state(&run, (double[]){0.75, 0, 8}, (double[]){0, 0, 6}, 1e-9);
  CHECK_NEAR(pawl_sim_summary(run.sim).residual[0], 0.0, 1e-12);
  balances(&run, 1e-9);
  run_end(&run);
}

// A lever with a brake in its pin rests on a belt that runs beneath its tip: the row of the gap is
// that of the brake, and the belt carries the load, whatever the capacity.                   (F34)
static void test_brake_above_belt(void** unused) {
  (void)unused;
  static const char* const capacities[] = {"R=0.2", "R=0", "R=20"};
  for (int k = 0; k < 3; k++) {
    Run run = run_text_with(
        "model: lever\n"
        "parameters: {R: 0.2}\n"
        "coordinates: {p: {start: -0.3}}\n"
        "mass: {p: 0.5}\n"
        "forces: {p: -5*cos(p)}\n"
        "locks: {brake: {lock: p, engaged: true, capacity: R}}\n"
        "contacts: {belt: {gap: sin(p) + sin(0.3), friction: 0.3, slip: \"-sin(p)*p' - 0.5\"}}\n",
        capacities[k]);
    run_to(&run, 1, 0.01);
    check_state(&run, (double[]){-0.3}, (double[]){0}, 1e-12);
    const double* lambda = pawl_sim_multipliers(run.sim);  // brake, slip, gap
    double N = 5 * cos(0.3) / (cos(0.3) + 0.3 * sin(0.3));
    check_list("forces", 3, lambda, (double[]){0, 0.3 * N, N}, 1e-9);
    run_end(&run);
  }
}

// A block with a brake along x is pushed against a wall, beside which it slides down: the wall has
// all of the push, as the brake, which could have any part of it, leaves it that; and where it is
// pulled off, the brake holds it. From a hit, or from a start in it; in the mirror, too.      (F34)
static void check_wall(double F, double mu, int side) {
  char f[32], m[32], s[32];
  const char* values[] = {f, m, s};
  snprintf(f, sizeof f, "F=%g", F);
  snprintf(m, sizeof m, "mu=%g", mu);
  snprintf(s, sizeof s, "s=%d", side);
  static const char* const texts[] = {
      "model: wall\nparameters: {F: 3, mu: 0.5, s: 1}\n"
      "coordinates: {x: {rate: 2*s}, y: {rate: -1}}\nmass: {x: 1, y: 1}\n"
      "forces: {x: s*F, y: -9.81}\nlocks: {hold: {lock: x, engaged: true, capacity: 2}}\n"
      "contacts: {wall: {gap: 0.5 - s*x, restitution: 0, friction: mu, slip: y}}\n",
      "model: wall\nparameters: {F: 3, mu: 0.5, s: 1}\n"
      "coordinates: {x: {start: 0.5*s}, y: {rate: -1}}\nmass: {x: 1, y: 1}\n"
      "forces: {x: s*F, y: -9.81}\nlocks: {hold: {lock: x, engaged: true, capacity: 2}}\n"
      "contacts: {wall: {gap: 0.5 - s*x, restitution: 0, friction: mu, slip: y}}\n"};
  for (int k = 0; k < 2; k++) {
    Run run = {0};
    run_need(&run, pawl_model_parse(texts[k], strlen(texts[k]), "test.yaml", 3, values, &run.model,
                                    &run.err));
    run_derive(&run);
    run_to(&run, 1, 1e-2);
    double t = k > 0 ? 0 : 1 / (2 + sqrt(4 + (F - 2))), v = k > 0 ? 0 : 2 + (F - 2) * t;
    double slip = -1 - 9.81 * t + mu * v, N = fmax(F, 0);
    assert_true(slip < 0);
    CHECK_NEAR(pawl_sim_state(run.sim)->v[0], 0.0, 1e-12);
    CHECK_NEAR(pawl_sim_state(run.sim)->v[1], slip + (mu * N - 9.81) * (1 - t), 1e-9);
    CHECK_NEAR(pawl_sim_summary(run.sim).energy_max_drift, 0.0, 1e-8);
    const char* warning = pawl_sim_warning(run.sim);  // pulled off, the brake could press the wall
    assert_true(F > 0 ? !warning[0] : strstr(warning, "several accelerations") != NULL);
    run_end(&run);
  }
}

static void test_brake_beside_wall(void** unused) {
  (void)unused;
  static const double forces[] = {-1, 1, 1.9, 2, 2.1, 2.5, 3, 3.9, 4, 5};
  for (size_t k = 0; k < sizeof forces / sizeof *forces; k++) {
    check_wall(forces[k], 0.15, 1);
    check_wall(forces[k], 0.5, 1);
    check_wall(forces[k], 0.5, -1);
  }
}

// Two discs in a corner that leans, one of them with a brake along the floor: in whatever order its
// contacts stand.                                                                            (F34)
static void test_brake_in_any_order(void** unused) {
  (void)unused;
  static const char head[] =
      "model: corner\n"
      "parameters: {r0: 0.159, r1: 0.156, m0: 0.173, m1: 1.68, c: 9.7537, s: 1.0502}\n"
      "coordinates:\n"
      "  x0: {start: 0.4068554758888719, rate: 0.08509882022031601}\n"
      "  y0: {start: 0.4555015479508995, rate: 0.18818101294039935}\n"
      "  p0: {rate: 9.735739075490798}\n"
      "  x1: {start: 0.5662274617645698, rate: -0.3592430353836449}\n"
      "  y1: {start: 0.8587317926342859, rate: 0.03945344748169677}\n"
      "  p1: {rate: -7.686302414172355}\n"
      "mass: {x0: m0, y0: m0, p0: 0.0021, x1: m1, y1: m1, p1: 0.0133}\n"
      "potential: [m0*(c*y0 + s*x0), m1*(c*y1 + s*x1)]\n"
      "locks: {hold: {lock: x0, engaged: true, capacity: 2}}\n"
      "contacts:\n";
  static const char* const contacts[] = {
      "  f1: {gap: y1 - r1, restitution: 0, friction: 0.15, slip: \"x1' + r1*p1'\"}\n",
      "  d: {gap: \"hypot(x1 - x0, y1 - y0) - r0 - r1\", restitution: 0, friction: 0.15,\n"
      "    slip: \"((y1' - y0')*(x1 - x0) - (x1' - x0')*(y1 - y0))/hypot(x1 - x0, y1 - y0) - "
      "r1*p1' - r0*p0'\"}\n",
      "  l1: {gap: x1 - r1, restitution: 0, friction: 0.15, slip: \"y1' - r1*p1'\"}\n",
      "  l0: {gap: x0 - r0, restitution: 0, friction: 0.15, slip: \"y0' - r0*p0'\"}\n",
      "  f0: {gap: y0 - r0, restitution: 0, friction: 0.15, slip: \"x0' + r0*p0'\"}\n"};
  static const int orders[][5] = {{0, 1, 2, 3, 4}, {1, 4, 0, 3, 2}, {4, 3, 2, 1, 0}};
  double q[3][6];
  for (int k = 0; k < 3; k++) {
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s%s%s%s", head, contacts[orders[k][0]],
             contacts[orders[k][1]], contacts[orders[k][2]], contacts[orders[k][3]],
             contacts[orders[k][4]]);
    Run run = run_text_with(text, NULL);
    run_to(&run, 1, 1e-2);
    CHECK_NEAR(pawl_sim_summary(run.sim).energy_max_drift, 0.0, 1e-8);
    memcpy(q[k], pawl_sim_state(run.sim)->q, sizeof q[k]);
    run_end(&run);
  }
  check_list("q", 6, q[1], q[0], 1e-8);
  check_list("q", 6, q[2], q[0], 1e-8);
}

// Pulled at a height: tips at k t (h + up) = m g b where that comes before slipping.
static void test_tips(void** unused) {
  (void)unused;
  Run run = run_text_with(BLOCK, "up=0.8");
  run_to(&run, 1.2, 1e-2);
  event_is(&run, 0, 20 * 0.3 / (6 * 0.9), "left", "stick", "open", 1e-9);
  run_end(&run);
  // and while it slides where k t up + 0.4 m g h = m g b
  run = run_text_with(BLOCK, "up=0.5");
  run_to(&run, 1.9, 1e-2);
  double t = (20 * 0.3 - 8 * 0.1) / (6 * 0.5);
  event_is(&run, 0, 8.0 / 6, "left", "stick", "slip", 1e-9);
  event_is(&run, 2, t, "left", "slip", "open", 1e-9);
  balances(&run, 1e-8);
  run_end(&run);
}

// Housner's block: falls to its other corner, where the rate of rocking is left with the factor
// 1 - 3/2 sin^2(alpha) of a slender block that does not slip.
static void test_housner(void** unused) {
  (void)unused;
  static const char text[] =
      "model: housner\n"
      "parameters: {b: 0.1, h: 0.4, p0: 0.1}\n"
      "coordinates: {x: , y: {start: b*sin(p0) + h*cos(p0)}, p: {start: p0}}\n"
      "mass: {x: 2, y: 2, p: 2*(b^2 + h^2)/3}\n"
      "potential: 2*9.81*y\n"
      "contacts:\n"
      "  left: {gap: y - b*sin(p) - h*cos(p), friction: 0.6, slip: x - b*cos(p) + h*sin(p)}\n"
      "  right: {gap: y + b*sin(p) - h*cos(p), friction: 0.6, slip: x + b*cos(p) + h*sin(p)}\n";
  Run run = run_text_with(text, NULL);
  double b = 0.1, h = 0.4, R = hypot(b, h), alpha = atan2(b, h), rate2 = 0.75 * 9.81 / R;
  double r = 1 - 1.5 * sin(alpha) * sin(alpha);
  run_to(&run, 1, 1e-2);
  // theta'^2 = 2 p^2 (cos(alpha - theta0) - cos(alpha - theta)), p^2 = 3 g/(4 R): energy
  double theta0 = 0.1;
  double v = sqrt(2 * rate2 * (cos(alpha - theta0) - cos(alpha)));
  // time: theta = theta0 (1 - s^2), a smooth integrand for Simpson's rule
  double sum = 0.0;
  enum { PARTS = 4000 };
  for (int k = 0; k <= PARTS; k++) {
    double s = (double)k / PARTS, theta = theta0 * (1 - s * s);
    // cos(alpha - theta0) - cos(alpha - theta), without its cancellation
    double drop = 2 * sin(alpha - 0.5 * (theta + theta0)) * sin(0.5 * (theta0 - theta));
    double f = s > 0 ? 2 * theta0 * s / sqrt(2 * rate2 * drop)
                     : sqrt(2 * theta0 / (rate2 * sin(alpha - theta0)));
    sum += f * (k == 0 || k == PARTS ? 1 : k % 2 ? 4 : 2) / (3.0 * PARTS);
  }
  int hit = strcmp(run_event(&run, 0)->to, "hit") == 0 ? 0 : 1;
  const PawlEvent* event = run_event(&run, hit);
  assert_string_equal(event->to, "hit");
  CHECK_NEAR(event->t, sum, 1e-9);
  CHECK_NEAR(fabs(event->v_before[2]), v, 1e-9);
  CHECK_NEAR(event->v_after[2] / event->v_before[2], r, 1e-9);
  run_end(&run);
}

// ---- impacts ------------------------------------------------------------------------------------
// Impulses of a ball: normal (1 + e) m v_z; tangential what stops the slip, 2/7 m u, within mu
// times that.
static void hit_ball(double e, double mu, double* vz, double* v, double* slip, int count) {
  double normal = (1 + e) * -*vz, u = 0;
  for (int i = 0; i < count; i++) {
    u = hypot(u, slip[i]);
  }
  double tangential = fmin(mu * normal, u * 2 / 7);
  for (int i = 0; i < count; i++) {
    double part = u > 0 ? slip[i] / u : 0;
    v[i] -= tangential * part;
    slip[i] -= 3.5 * tangential * part;
  }
  *vz *= -e;
}

static void check_ball(const Run* run, int count, double* v, double* slip, int impacts) {
  double g = 9.81, vz = -sqrt(2 * g * 0.8822), t = -vz / g;
  for (int k = 0; k < impacts; k++) {
    const PawlEvent* event = event_is(run, k, t, "floor", "open", "hit", 1e-9);
    hit_ball(0.7, 0.3, &vz, v, slip, count);
    check_list("v", count, event->v_after, v, 1e-9);
    CHECK_NEAR(event->v_after[count], vz, 1e-9);
    t += 2 * vz / g;
    vz = -vz;
  }
}

static void test_spinning_ball(void** unused) {
  (void)unused;
  Run run = run_file("spinning-ball", NULL, NULL);
  for (int k = 0; EXACT[k]; k++) {
    run.def.simulate.smooth = EXACT[k];
    run.def.simulate.rtol = 1e-12;
    if (!is_absent(EXACT[k])) {
      double v[] = {1, 0.5}, slip[] = {1 + 0.12 * 20, 0.5 + 0.12 * 30};
      run_to(&run, 3, 1e-2);
      check_ball(&run, 2, v, slip, 10);
      assert_string_equal(run_event(&run, run_events(&run) - 1)->to, "rest");
    }
  }
  run_end(&run);
}

static void test_spinning_disc(void** unused) {
  (void)unused;
  static const char text[] =
      "model: disc\n"
      "parameters: {m: 0.6, r: 0.12, J: 0.4*m*r^2}\n"
      "coordinates: {x: {rate: 1}, z: {start: r + 0.8822}, b: {rate: -20}}\n"
      "mass: {x: m, z: m, b: J}\n"
      "potential: m*9.81*z\n"
      "contacts: {floor: {gap: z - r, restitution: 0.7, friction: 0.3, slip: \"x' - r*b'\"}}\n";
  Run run = run_text_with(text, NULL);
  double v[] = {1}, slip[] = {1 + 0.12 * 20};
  run_to(&run, 3, 1e-2);
  check_ball(&run, 1, v, slip, 10);
  run_end(&run);
}

// ---- a mechanism --------------------------------------------------------------------------------
typedef struct Seen {
  double t;
  char name[20], to[8];
} Seen;

static int see(const Run* run, Seen* seen, int most) {
  int count = run_events(run) < most ? run_events(run) : most;
  for (int k = 0; k < count; k++) {
    const PawlEvent* event = run_event(run, k);
    seen[k].t = event->t;
    snprintf(seen[k].name, sizeof seen[k].name, "%s", event->constraint);
    snprintf(seen[k].to, sizeof seen[k].to, "%s", event->to);
  }
  return count;
}

// A slider with clearance: methods that share nothing but the instants agree on the first fifty
// events.
static void test_clearance(void** unused) {
  (void)unused;
  enum { MOST = 50 };
  static Seen first[MOST], other[MOST];
  static const char* const methods[] = {"dopri", "ark", "rk4", "ida", NULL};
  Run run = run_file("clearance", NULL, NULL);
  run.def.simulate.rtol = 1e-12;
  run.def.simulate.atol = 1e-14;
  for (int k = 0; methods[k]; k++) {
    run.def.simulate.smooth = methods[k];
    if (is_absent(methods[k])) {
      continue;
    }
    run_to(&run, 0.08, strcmp(methods[k], "rk4") == 0 ? 1e-5 : 1e-4);
    assert_false(pawl_sim_energy_drifts(run.sim));
    assert_int_equal(see(&run, k == 0 ? first : other, MOST), MOST);
    for (int i = 0; k > 0 && i < MOST; i++) {
      CHECK_NEAR(other[i].t, first[i].t, strcmp(methods[k], "ida") == 0 ? 1e-8 : 1e-9);
      assert_string_equal(other[i].name, first[i].name);
      assert_string_equal(other[i].to, first[i].to);
    }
  }
  run_end(&run);
}

// ---- space --------------------------------------------------------------------------------------
static const char SLOPE[] =
    "model: slope\n"
    "parameters: {alpha: 0.5, k: 1.5}\n"
    "coordinates: {x: , y: {rate: 2}, z: }\n"
    "mass: {x: 2, y: 2, z: 2}\n"
    "potential: 2*9.81*(z*cos(alpha) - x*sin(alpha))\n"
    "contacts: {plane: {gap: z, friction: k*tan(alpha), slip: [x, y]}}\n";

// A point pushed across a slope, mu = k tan(alpha): with its speed v at the angle phi to the line
// of fall v (k + cos phi) falls by g sin(alpha) (k^2 - 1) a second, so that it stops at
// v0 (k + cos phi0)/(g sin(alpha) (k^2 - 1)); and v = C tan(phi/2)^k / sin(phi).
static void test_slope(void** unused) {
  (void)unused;
  Run run = run_text_with(SLOPE, NULL);
  double fall = 9.81 * sin(0.5), k = 1.5, stop = 2 * k / (fall * (k * k - 1));
  for (int i = 0; EXACT[i]; i++) {
    run.def.simulate.smooth = EXACT[i];
    if (is_absent(EXACT[i])) {
      continue;
    }
    double tolerance = strcmp(EXACT[i], "rk4") == 0 ? 1e-8 : 1e-9;
    run_to(&run, 0.3, 1e-3);
    const double* v = pawl_sim_state(run.sim)->v;
    double speed = hypot(v[0], v[1]), phi = atan2(v[1], v[0]);
    CHECK_NEAR(speed * (k + cos(phi)), 2 * k - fall * (k * k - 1) * 0.3, tolerance);
    CHECK_NEAR(speed, 2 * pow(tan(phi / 2), k) / sin(phi), tolerance);
    run_to(&run, 2, 1e-3);
    assert_int_equal(run_events(&run), 1);
    // its direction turns ever faster there: methods of one length take shorter steps      (F29)
    event_is(&run, 0, stop, "plane", "slip", "stick", tolerance);
    balances(&run, 1e-8);
  }
  run_end(&run);
}

// A ball that skids on a level floor: its slip does not turn, but for rounding, and lies along
// neither of its directions. It rolls after 2 |u|/(7 mu g).
static void test_skid(void** unused) {
  (void)unused;
  Run run = run_text_with(
      "model: skid\nmechanism: {gravity: [0, 0, -9.81]}\nbodies:\n"
      "  ground: {shapes: {level: {plane: {}}}}\n"
      "  b: {shape: {sphere: 0.1, density: 1000}, start: {at: [0, 0, 0.1]},\n"
      "      rate: {velocity: [2, 0, 0], omega: [10, -5, 3]}}\n"
      "contacts: {f: {between: [b, ground.level], friction: 0.2}}\n"
      "simulate: {method: event-driven, until: 0.5}\n",
      NULL);
  double stop = 2 * hypot(2 + 0.5, 1) / (7 * 0.2 * 9.81);
  run.def.simulate.smooth = "rk4";
  for (int k = 0; k < 3; k++) {
    double h = (double[]){0.01, 0.007, 0.005}[k];
    run_to(&run, 0.5, h);
    CHECK_NEAR(run_event(&run, run_events(&run) - 1)->t, stop, 30 * pow(h, 4));
  }
  run_end(&run);
}

// How far the stop is off with steps of 0.01 and a tenth of that; k is the friction of the slope.
static void stop_off(const char* method, const char* friction, double k, double off[2]) {
  Run run = run_text_with(SLOPE, friction);
  double stop = 2 * k / (9.81 * sin(0.5) * (k * k - 1));
  run.def.simulate.smooth = method;
  for (int i = 0; i < 2; i++) {
    run_to(&run, 1.1 * stop, i == 0 ? 1e-2 : 1e-3);
    assert_int_equal(run_events(&run), 1);
    off[i] = fabs(run_event(&run, 0)->t - stop);
  }
  run_end(&run);
}

// Methods of one length meet the stop at their order, whether the slope nearly holds what slips, so
// that directions turn 20 times faster than it slows down, or brakes it within ten steps.   (F29)
static void test_slope_order(void** unused) {
  (void)unused;
  static const char* const methods[] = {"ga-v", "ga-a", "ga-pva", NULL};
  static const char* const friction[] = {"k=1.05", "k=1.5", "k=3"};
  for (int f = 0; f < 3; f++) {
    double k = atof(friction[f] + 2), off[2];
    for (int i = 0; methods[i]; i++) {
      stop_off(methods[i], friction[f], k, off);
      assert_true(off[0] < 1e-3 && off[1] < 0.02 * off[0]);
    }
    stop_off("rk4", friction[f], k, off);
    assert_true(off[0] < 2e-7 && off[1] < 1e-3 * off[0] + 2e-10);
  }
}

// ---- conditions on what stops -------------------------------------------------------------------
#define PULLED(holds)                                                           \
  "model: pulled\nparameters: {F: 10}\ncoordinates: {x: {rate: 2}, y: }\n"      \
  "mass: {x: 1, y: 1}\npotential: 10*y\n"                                       \
  "forces: {x: \"if(t > 2, F*(t - 2), 0)\"}\n" holds                            \
  "events: {up: {when: x', direction: up}, down: {when: x', direction: down}, " \
  "turned: {when: -3*x'}}\n"

static int times_of(const Run* run, const char* event, double t, double tolerance) {
  int count = 0;
  for (int k = 0; k < run_events(run); k++) {
    if (strcmp(run_event(run, k)->constraint, event) == 0) {
      CHECK_NEAR(run_event(run, k)->t, t, tolerance);
      count++;
    }
  }
  return count;
}

// A rate that friction brings to zero fires where it stops. It is held then, and has no side; when
// it is let go it takes one, whichever way it leaves, and does not fire.                    (V31)
static void test_stopped_rate(void** unused) {
  (void)unused;
  static const char* const texts[] = {
      PULLED("contacts: {f: {gap: y, friction: 0.3, slip: x}}\n"),
      PULLED("constraints: {floor: y = 0}\nlocks: {f: {lock: x, engaged: true, capacity: 3}}\n")};
  static const char* const steps[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
  for (int k = 0; k < 2 * 2 * 13; k++) {
    bool located = k % 13 < 10;
    const char* method = located ? ALL[k % 13] : steps[k % 13 - 10];
    Run run = run_text_with(texts[k / 13 % 2], k / 26 ? "F=-10" : NULL);
    run.def.simulate.method = located ? "event-driven" : method;
    run.def.simulate.smooth = located ? method : run.def.simulate.smooth;
    run.def.simulate.rtol = 1e-9;
    if (!located || !is_absent(method)) {
      run_to(&run, 4, 1e-2);
      double tolerance = located ? 1e-8 : 1.1e-2;
      assert_int_equal(times_of(&run, "down", 2.0 / 3, tolerance), 1);
      assert_int_equal(times_of(&run, "turned", 2.0 / 3, tolerance), 1);
      assert_int_equal(times_of(&run, "up", 0, 0), 0);
      assert_true(fabs(pawl_sim_state(run.sim)->v[0]) > 1);
    }
    run_end(&run);
  }
}

// A rate that passes a value while friction slows it down does so once, however closely the instant
// is known.
static void test_passing_rate(void** unused) {
  (void)unused;
  static const char* const steps[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
  Run run = run_text_with(
      "model: slows\ncoordinates: {x: {rate: 2}, y: }\nmass: {x: 1, y: 1}\npotential: 10*y\n"
      "contacts: {f: {gap: y, friction: 0.3, slip: x}}\n"
      "events: {a: {when: x' - 1.5}, b: {when: 1 - x'}, c: {when: x' - 0.25, direction: down}}\n",
      NULL);
  run.def.simulate.event_tolerance = 1e-14;
  for (int k = 0; k < 3; k++) {
    run.def.simulate.method = steps[k];
    run_to(&run, 1, 0.0171);
    assert_int_equal(times_of(&run, "a", 0.5 / 3, 1e-9), 1);
    assert_int_equal(times_of(&run, "b", 1 / 3.0, 1e-9), 1);
    assert_int_equal(times_of(&run, "c", 1.75 / 3, 1e-9), 1);
  }
  run_end(&run);
}

// What sticks from the start has no rate but rounding, which fires nothing; nor does the beginning
// of its slip, on a slope that gets steeper, or a load that grows from nothing. (V31)
static void test_rate_that_sticks(void** unused) {
  (void)unused;
  static const char* const texts[] = {
      "model: stuck\nparameters: {at: 0}\ncoordinates: {x: {start: at}, y: }\nmass: {x: 1, y: 1}\n"
      "forces: {x: 3 + 2*sin(5*t), y: -10}\ncontacts: {f: {gap: y, friction: 0.8, slip: x}}\n"
      "events: {go: {when: x'}}\n",
      "model: tilt\nparameters: {at: 0}\ncoordinates: {x: {start: at}, y: }\nmass: {x: 2, y: 2}\n"
      "forces: {x: 20*sin(0.3*t), y: -20*cos(0.3*t)}\n"
      "contacts: {f: {gap: y, friction: {static: 0.5, kinetic: 0.35}, slip: x}}\n"
      "events: {go: {when: x'}}\n",
      "model: grows\nparameters: {at: 0}\ncoordinates: {x: {start: at}, y: }\nmass: {x: 1, y: 1}\n"
      "forces: {x: 3*t*(1 + 0.5*sin(7*t)), y: -10*t}\n"
      "contacts: {f: {gap: y, friction: 0.8, slip: x}}\nevents: {go: {when: x'}}\n"};
  static const char* const steps[] = {"nsga-pva", "nsga-pvv", "moreau-jean", "event-driven"};
  for (int k = 0; k < 3 * 2 * 4; k++) {
    Run run = run_text_with(texts[k % 3], k / 3 % 2 ? "at=5" : NULL);
    run.def.simulate.method = steps[k / 6];
    run_to(&run, 2.5, 1e-3);
    assert_int_equal(times_of(&run, "go", 0, 0), 0);
    assert_true(k % 3 != 1 || pawl_sim_state(run.sim)->v[0] > 1);
    run_end(&run);
  }
}

// In space a slip need not meet zero, and both rates have come to it where it stops.
static void test_stopped_rates(void** unused) {
  (void)unused;
  char text[1024];
  snprintf(text, sizeof text, "%sevents: {ex: {when: x'}, ey: {when: y'}}\n", SLOPE);
  Run run = run_text_with(text, NULL);
  double stop = 2 * 1.5 / (9.81 * sin(0.5) * (1.5 * 1.5 - 1));
  static const char* const methods[] = {"rk4", "dopri", "ga-pva"};
  for (int k = 0; k < 3; k++) {
    run.def.simulate.smooth = methods[k];
    run_to(&run, 2, 1e-2);
    assert_int_equal(times_of(&run, "ex", stop, 1e-4), 1);
    assert_int_equal(times_of(&run, "ey", stop, 1e-4), 1);
  }
  run_end(&run);
}

// ---- Painleve -----------------------------------------------------------------------------------
static const char ROD[] =
    "model: rod\n"
    "parameters: {l: 0.5, mu: 1.6, th0: 1, w: 0}\n"
    "coordinates:\n"
    "  x: {rate: -2}\n"
    "  y: {start: l*sin(th0), rate: l*cos(th0)*w}\n"
    "  th: {start: th0, rate: w}\n"
    "mass: {x: 1, y: 1, th: l^2/3}\n"
    "potential: 9.81*y\n"
    "contacts: {tip: {gap: y - l*sin(th), friction: mu, slip: x - l*cos(th)}}\n";

// A rod whose tip is pushed along a floor: its friction is critical at
// mu = (1 + 3 cos^2 th)/(3 sin th cos th).
static double critical(double th) {
  return (1 + 3 * cos(th) * cos(th)) / (3 * sin(th) * cos(th));
}

static PawlStatus start_rod(Run* run, const char* name, double value, const char* painleve) {
  char parameter[64];
  snprintf(parameter, sizeof parameter, "%s=%.17g", name, value);
  *run = run_text_with(ROD, parameter);
  run->def.simulate.painleve = painleve;
  return pawl_sim_create(run->system, &run->def, &run->sim, &run->err);
}

static void test_painleve_onset(void** unused) {
  (void)unused;
  Run run;
  run_need(&run, start_rod(&run, "mu", critical(1) * (1 - 1e-5), "refuse"));
  run_end(&run);
  assert_int_equal(start_rod(&run, "mu", critical(1) * (1 + 1e-5), "refuse"), PAWL_ERROR_RUN);
  assert_non_null(strstr(run.err.message, "'tip'"));
  run_end(&run);
  assert_int_equal(start_rod(&run, "mu", critical(1) * 1.25, "refuse"), PAWL_ERROR_RUN);
  assert_non_null(strstr(run.err.message, "1.25 times its critical friction"));
  run_end(&run);
  // mu = 1.6 is critical at two angles, of which the larger one is between 1.3 and 1.4
  double low = 1.3, high = 1.4;
  for (int k = 0; k < 60; k++) {
    double th = 0.5 * (low + high);
    *(critical(th) < 1.6 ? &low : &high) = th;
  }
  assert_int_equal(start_rod(&run, "th0", low - 1e-5, "refuse"), PAWL_ERROR_RUN);
  run_end(&run);
  run_need(&run, start_rod(&run, "th0", low + 1e-5, "refuse"));
  run_end(&run);
}

// Impact without a collision: the tip stops, and the momentum about it stays.
static void test_painleve_shock(void** unused) {
  (void)unused;
  Run run;
  run_need(&run, start_rod(&run, "th0", 1, "shock"));
  assert_non_null(strstr(pawl_sim_warning(run.sim), "without a collision"));
  double w = 0.75 * sin(1) * 2 / 0.5, l = 0.5, before = 2, after = 2 * l * l * w * w / 3;
  double v[] = {-l * sin(1) * w, l * cos(1) * w, w};
  check_state(&run, (double[]){0, l * sin(1), 1}, v, 1e-12);
  assert_int_equal(run_events(&run), 1);
  Expected hit = {
      0, "tip", "open", "hit", {-2, 0, 0}, {v[0], v[1], v[2]}, {v[1], v[0] + 2}, before - after};
  check_event(&run, 0, &hit, 1e-12);
  CHECK_NEAR(pawl_sim_summary(run.sim).energy_start, before + 9.81 * l * sin(1), 1e-12);
  CHECK_NEAR(pawl_sim_summary(run.sim).works[PAWL_WORK_JUMPS], after - before, 1e-12);
  CHECK_NEAR(pawl_sim_summary(run.sim).energy_max_drift, 0, 1e-12);
  run_need(&run, pawl_sim_run(run.sim, NULL, NULL, &run.err));
  assert_false(pawl_sim_energy_drifts(run.sim));
  run_end(&run);
}

// A rod that turns fast enough to lift its tip: it may fly, or jam.
static void test_painleve_several(void** unused) {
  (void)unused;
  Run run;
  assert_int_equal(start_rod(&run, "w", -6, "refuse"), PAWL_ERROR_RUN);
  assert_non_null(strstr(run.err.message, "several"));
  run_end(&run);
  run_need(&run, start_rod(&run, "w", -6, "shock"));
  assert_non_null(strstr(pawl_sim_warning(run.sim), "lifts off"));
  CHECK_NEAR(pawl_sim_state(run.sim)->lambda[1], 0.0, 1e-12);
  CHECK_NEAR(pawl_sim_state(run.sim)->a[1], -9.81, 1e-9);
  run_end(&run);
}

// ---- the log of time stepping -------------------------------------------------------------------
// Pulled by a spring, lifted and let down again: the list of what happens is that of located
// instants, to a few steps; nothing is told of what goes on as it was.                     (T12)
static void test_log_of_steps(void** unused) {
  (void)unused;
  static const char text[] =
      "model: pulled\n"
      "coordinates: {x: , y: }\n"
      "mass: {x: 2, y: 2}\n"
      "potential: 20*y + 50/2*(x - 0.1*t)^2\n"
      "forces: {y: 30*step(t - 3.6)*step(3.7 - t)}\n"
      "contacts: {floor: {gap: y, friction: {static: 0.4, kinetic: 0.3}, slip: x}}\n";
  static const char* const steps[] = {"nsga-pva", "nsga-pvv", "moreau-jean", NULL};
  Run exact = run_text_with(text, NULL), run = run_text_with(text, NULL);
  double step = 1e-3;
  run_to(&exact, 4.1, step);
  assert_int_equal(run_events(&exact), 6);  // slip, stick, slip, open, hit, stick
  for (int k = 0; steps[k]; k++) {
    run.def.simulate.method = steps[k];
    run_to(&run, 4.1, step);
    assert_int_equal(run_events(&run), run_events(&exact));
    for (int i = 0; i < run_events(&run); i++) {
      event_is(&run, i, run_event(&exact, i)->t, "floor", run_event(&exact, i)->from,
               run_event(&exact, i)->to, 5 * step);
    }
  }
  run_end(&exact);
  run_end(&run);
}

// ---- what cannot be done ------------------------------------------------------------------------
static void test_refused(void** unused) {
  (void)unused;
  static const char* const refused[] = {"ga-p", "taylor", "exponential", NULL};
  Run run = run_text_with(INCLINE, NULL);
  for (int k = 0; refused[k]; k++) {
    run.def.simulate.smooth = refused[k];
    assert_int_equal(run_try(&run, 1, 1e-2), PAWL_ERROR_USAGE);
    assert_non_null(strstr(run.err.message, refused[k]));
    assert_non_null(strstr(run.err.message, "friction of the contacts"));
    run.sim = NULL;
  }
  run.def.simulate.smooth = "rk4";
  run.def.simulate.form = "minimal";
  assert_int_equal(run_try(&run, 1, 1e-2), PAWL_ERROR_USAGE);
  assert_non_null(strstr(run.err.message, "index-1"));
  run.sim = NULL;
  run_end(&run);
}

// Thrown into a corner without restitution a point stops, wherever the corner is. At the origin all
// coordinates are rounding then, and all rates: rows are not known to a part of these.
static void test_corner(void** unused) {
  (void)unused;
  static const char text[] =
      "model: corner\n"
      "parameters: {X: 0, T: 0}\n"
      "coordinates: {x: {start: X - 0.1*T, rate: 0.1}, y: {start: T, rate: -1}, z: {rate: 0.05}}\n"
      "mass: {x: 1, y: 1, z: 1}\n"
      "contacts:\n"
      "  l: {gap: (x - X)*sin(0.3) + y*cos(0.3), friction: 0.4,\n"
      "      slip: [(x - X)*cos(0.3) - y*sin(0.3), z]}\n"
      "  r: {gap: -(x - X)*sin(0.5) + y*cos(0.5), friction: 0.4,\n"
      "      slip: [(x - X)*cos(0.5) + y*sin(0.5), z]}\n";
  static const char* const cases[][2] = {
      {"X=0", "T=0"}, {"X=1", "T=0"}, {"X=0", "T=0.5"}, {"X=1", "T=0.5"}};
  for (int k = 0; k < 4; k++) {
    Run run = {0};
    run_need(&run,
             pawl_model_parse(text, strlen(text), "test.yaml", 2, cases[k], &run.model, &run.err));
    run_derive(&run);
    run.def.simulate.smooth = "dopri";
    run_to(&run, 1, 1e-2);
    double T = atof(cases[k][1] + 2);
    check_state(&run, (double[]){atof(cases[k][0] + 2), 0, 0.05 * T}, (double[]){0, 0, 0}, 1e-12);
    run_end(&run);
  }
}

// A rod that slides on both ends comes to a wall and back: its ends slip the other way then, and
// what rounding has them push there is no hit.
static void test_rounding_is_no_hit(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: rod\nparameters: {l: 0.21782}\ncoordinates: {x: {rate: 1.40}, y: {start: 0.3, rate: "
      "-0.5}, p: {start: 0.69, rate: 2.11}}\n"
      "mass: {x: 4.017, y: 4.017, p: 0.063529}\npotential: 4.017*9.81*y\ncontacts:\n"
      "  a: {gap: y - l*sin(p), restitution: 0.2, friction: {static: 0.13, kinetic: 0.1}, "
      "slip: x - l*cos(p)}\n"
      "  b: {gap: y + l*sin(p), restitution: 0.2, friction: {static: 0.13, kinetic: 0.1}, "
      "slip: x + l*cos(p)}\n"
      "  w: {gap: 0.8 - x - l*cos(p), restitution: 0.2, friction: 0.1, slip: y + l*sin(p)}\n");
  static const char* const smooth[] = {"rk4", "dopri"};
  for (int m = 0; m < 2; m++) {
    int turns = 0;
    run.def.simulate.smooth = smooth[m];
    run_to(&run, 1.0, 1e-3);
    for (int k = 0; k < run_events(&run); k++) {
      const PawlEvent* event = run_event(&run, k);
      assert_true(strcmp(event->to, "hit") != 0 || event->impulse[0] > 1e-9);
      turns += strcmp(event->to, "turn") == 0;
    }
    assert_int_equal(turns, 2);
  }
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_incline),
      cmocka_unit_test(test_stick_slip),
      cmocka_unit_test(test_belt),
      cmocka_unit_test(test_speed),
      cmocka_unit_test(test_two_feet),
      cmocka_unit_test(test_tips),
      cmocka_unit_test(test_brake_above_belt),
      cmocka_unit_test(test_brake_beside_wall),
      cmocka_unit_test(test_brake_in_any_order),
      cmocka_unit_test(test_lifted),
      cmocka_unit_test(test_beside_a_brake),
      cmocka_unit_test(test_housner),
      cmocka_unit_test(test_spinning_ball),
      cmocka_unit_test(test_spinning_disc),
      cmocka_unit_test(test_rounding_is_no_hit),
      cmocka_unit_test(test_slope),
      cmocka_unit_test(test_slope_order),
      cmocka_unit_test(test_skid),
      cmocka_unit_test(test_stopped_rate),
      cmocka_unit_test(test_passing_rate),
      cmocka_unit_test(test_rate_that_sticks),
      cmocka_unit_test(test_stopped_rates),
      cmocka_unit_test(test_clearance),
      cmocka_unit_test(test_painleve_onset),
      cmocka_unit_test(test_painleve_shock),
      cmocka_unit_test(test_painleve_several),
      cmocka_unit_test(test_log_of_steps),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_corner),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
