// SPDX-License-Identifier: Apache-2.0
// Impacts with friction of contacts whose instants are located (docs/theory/friction.md, section
// 9), where Newton's law would bring in energy or has no velocities, and several at once; against
// the conditions of the impact, solved here.
#include "step/rubbing.h"

// ---- one rough hit ------------------------------------------------------------------------------
// A body that is hit off its centre of mass; nothing else acts on it.
static const char TIP[] =
    "model: tip\n"
    "parameters: {J: 0.1, px: -0.43, py: -0.93, e: 1, mu: 0.8}\n"
    "coordinates: {x: {rate: 1}, y: {start: 0.94, rate: -1.8}, phi: {rate: 0.7}}\n"
    "mass: {x: 1, y: 1, phi: J}\n"
    "contacts: {tip: {gap: 'y + sin(phi)*px + cos(phi)*py', restitution: e, friction: mu, slip: "
    "'x + cos(phi)*px - sin(phi)*py'}}\n";

// The velocities after by (F22): the tip stops along the wall where the cone allows it, else it
// slips. Returns the energy that is gained.
static double hit_tip(double phi, double e, double mu, double* v) {
  double N = cos(phi) * -0.43 - sin(phi) * -0.93, T = -sin(phi) * -0.43 - cos(phi) * -0.93, J = 0.1;
  double normal = v[1] + N * v[2], slip = v[0] + T * v[2], gain = 0.0;
  double DN = 1 + N * N / J, DT = 1 + T * T / J, D = N * T / J, off = -(1 + e) * normal;
  double across = (DN * -slip - D * off) / (DN * DT - D * D), along = (off - D * across) / DN;
  for (int side = -1; side <= 1 && fabs(across) > mu * along; side += 2) {  // slips
    double by = off / (DN + side * mu * D), after = slip + (D + side * mu * DT) * by;
    if (by > 0 && after * side < 0) {
      along = by;
      across = side * mu * by;
      break;
    }
  }
  double dv[] = {across, along, (N * along + T * across) / J}, m[] = {1, 1, J};
  for (int j = 0; j < 3; j++) {
    gain += 0.5 * m[j] * ((v[j] + dv[j]) * (v[j] + dv[j]) - v[j] * v[j]);
    v[j] += dv[j];
  }
  return gain;
}

// With e = 1 energy would grow, by all but Poisson's law: without restitution it falls.   (F31)
static void test_no_gain(void** unused) {
  (void)unused;
  static const char* const LAWS[] = {"newton", "sequential"};
  for (int k = 0; k < 2; k++) {
    Run run = run_text_with(TIP, NULL);
    run.def.simulate.contact_law = LAWS[k];
    run_to(&run, 0.05, 0.01);
    double t = run_event(&run, 0)->t, v[] = {1, -1.8, 0.7}, gaining[] = {1, -1.8, 0.7};
    assert_true(hit_tip(0.7 * t, 1, 0.8, gaining) > 0.8);
    double lost = -hit_tip(0.7 * t, 0, 0.8, v);
    assert_true(lost > 0.9);
    CHECK_NEAR(run_event(&run, 0)->energy_lost, lost, 1e-11);
    for (int j = 0; j < 3; j++) {
      CHECK_NEAR(pawl_sim_state(run.sim)->v[j], v[j], 1e-11);
    }
    assert_non_null(strstr(pawl_sim_warning(run.sim), "contact 'tip' is hit without restitution"));
    assert_non_null(strstr(pawl_sim_warning(run.sim), "energy would grow"));
    run_end(&run);
  }
}

// Where it would not grow the restitution stays as it is.
static void test_restitution_stays(void** unused) {
  (void)unused;
  Run run = run_text_with(TIP, "e=0.05");
  run.def.simulate.contact_law = "sequential";
  run_to(&run, 0.05, 0.01);
  double v[] = {1, -1.8, 0.7};
  double lost = -hit_tip(0.7 * run_event(&run, 0)->t, 0.05, 0.8, v);
  assert_true(lost > 0);
  CHECK_NEAR(run_event(&run, 0)->energy_lost, lost, 1e-11);
  balances(&run, 1e-11);
  run_end(&run);
}

// A pendulum meets a wall with mu > cot a: the only direction it may move in is held by friction,
// so no rebound satisfies the cone, and it stops with all its energy lost; then it falls back.
static void test_jams(void** unused) {
  (void)unused;
  static const char text[] =
      "model: jams\n"
      "coordinates: {a: {start: -0.8}}\n"
      "define: {x: sin(a), y: -cos(a)}\n"
      "kinetic: (x'^2 + y'^2)/2\n"
      "potential: 9.81*y\n"
      "contacts: {w: {gap: 0.3 - x, restitution: 0.6, friction: 5, slip: \"y'\"}}\n";
  static const char* const LAWS[] = {"newton", "poisson", "sequential"};
  double a = asin(0.3);
  for (int k = 0; k < 3; k++) {
    Run run = run_text_with(text, NULL);
    run.def.simulate.contact_law = LAWS[k];
    run_to(&run, 0.7, 0.01);
    CHECK_NEAR(run_event(&run, 0)->energy_lost, 9.81 * (cos(a) - cos(0.8)), 1e-9);
    CHECK_NEAR(pawl_sim_summary(run.sim).energy_end, -9.81 * cos(a), 1e-9);
    bool told = strstr(pawl_sim_warning(run.sim), "no velocities are found") != NULL;
    assert_int_equal(told, strcmp(LAWS[k], "poisson") != 0);  // impulses alone give no rebound
    run_end(&run);
  }
}

// ---- several at once ----------------------------------------------------------------------------
// Two discs that roll on a floor, with a third on top, meet a wall. At 0.00805 s the slip of the
// third on the first stops. Of all 4^4 sets of open, sticking and slipping contacts one satisfies
// the conditions: the second disc has left the third and falls freely along the wall, which it
// touches without any force.
static void test_touches_without_force(void** unused) {
  (void)unused;
  static const char text[] =
      "model: pile\n"
      "mechanism: {gravity: [0, -9.81]}\n"
      "bodies:\n"
      "  ground: {shapes: {base: {plane: {at: [0, 0], normal: [0, 1]}}, right: {plane: {at: [0.35, "
      "0], normal: [-1, 0]}}}}\n"
      "  d0: {shape: {disc: 0.1, density: 10}, start: {at: [-0.0201, 0.1]}, rate: {velocity: "
      "[0.0138, 0], omega: -0.138}}\n"
      "  d1: {shape: {disc: 0.1, density: 10}, start: {at: [0.2499, 0.1]}, rate: {velocity: "
      "[0.0138, 0], omega: -0.138}}\n"
      "  d3: {shape: {disc: 0.095, density: 10}, start: {at: [0.1149, 'sqrt(0.195^2 - 0.135^2) + "
      "0.1']}, rate: {velocity: [0.0138, 0], omega: 0.0138/0.095}}\n"
      "contacts:\n"
      "  a: {between: [d0, ground.base], friction: 0.9}\n"
      "  b: {between: [d1, ground.base], friction: 0.9}\n"
      "  c: {between: [d3, d0], friction: 0.9}\n"
      "  d: {between: [d3, d1], friction: 0.9}\n"
      "  wall: {between: [d1, ground.right], friction: 0.9}\n";
  Run run = run_text_with(text, NULL);
  run_to(&run, 0.0081, 0.0081);
  const PawlState* state = pawl_sim_state(run.sim);
  CHECK_NEAR(state->a[3], 0, 1e-9);
  CHECK_NEAR(state->a[4], -9.81, 1e-9);
  CHECK_NEAR(state->a[5], 0, 1e-9);
  run_to(&run, 0.1, 0.01);
  balances(&run, 1e-10);
  run_end(&run);
}

// A disc lies in a corner, where its four rows of contact are one too many, and another one comes
// off it: its force falls through zero, and no share of the forces lies in all cones for the moment
// until that is noticed. The floor carries the weight of the disc all the while.
static void test_comes_off_in_a_corner(void** unused) {
  (void)unused;
  static const char text[] =
      "model: bin\n"
      "mechanism: {gravity: [0, -9.81]}\n"
      "bodies:\n"
      "  ground: {shapes: {base: {plane: {at: [0, 0], normal: [0, 1]}}, left: {plane: {at: [-0.35, "
      "0], normal: [1, 0.3]}}, right: {plane: {at: [0.35, 0], normal: [-1, 0]}}}}\n"
      "  d0: {shape: {disc: 0.104836, density: 10}, start: {at: [0.0708465, 0.15]}, rate: "
      "{velocity: [0.884901, 0.479797], omega: 8.4465}}\n"
      "  d1: {shape: {disc: 0.0905801, density: 10}, start: {at: [-0.00825056, 0.4]}, rate: "
      "{velocity: [0.886713, 0.297949], omega: 8.01801}}\n"
      "  d2: {shape: {disc: 0.0922641, density: 10}, start: {at: [-0.00742343, 0.65]}, rate: "
      "{velocity: [-0.506854, 0.0875217], omega: 1.47882}}\n"
      "contacts:\n"
      "  c0base: {between: [d0, ground.base], friction: 0.1, restitution: 0}\n"
      "  c0left: {between: [d0, ground.left], friction: 0.1, restitution: 0}\n"
      "  c0right: {between: [d0, ground.right], friction: 0.1, restitution: 0}\n"
      "  c1base: {between: [d1, ground.base], friction: 0.1, restitution: 0}\n"
      "  c1left: {between: [d1, ground.left], friction: 0.1, restitution: 0}\n"
      "  c1right: {between: [d1, ground.right], friction: 0.1, restitution: 0}\n"
      "  k1_0: {between: [d1, d0], friction: 0.1, restitution: 0}\n"
      "  c2base: {between: [d2, ground.base], friction: 0.1, restitution: 0}\n"
      "  c2left: {between: [d2, ground.left], friction: 0.1, restitution: 0}\n"
      "  c2right: {between: [d2, ground.right], friction: 0.1, restitution: 0}\n"
      "  k2_0: {between: [d2, d0], friction: 0.1, restitution: 0}\n"
      "  k2_1: {between: [d2, d1], friction: 0.1, restitution: 0}\n";
  Run run = run_text_with(text, NULL);
  run.def.simulate.smooth = "ark";
  run.def.simulate.rtol = 1e-9;
  run.def.simulate.atol = 1e-12;
  if (!is_absent("ark")) {
    run_to(&run, 0.41, 0.01);
    const double* lambda = pawl_sim_multipliers(run.sim);
    CHECK_NEAR(lambda[12], 10 * acos(-1) * 0.104836 * 0.104836 * 9.81, 1e-6);
  }
  run_end(&run);
}

// ---- slips that begin in space ------------------------------------------------------------------
// On a belt that moves at (1, 0.3), pulled along (0.8, 0.6) by k t: it slips from t0 = mu m g/k on,
// by k (t - t0)^3/(6 m), from no acceleration. The rate of its slip is the difference of two rates,
// and what rounding leaves of it at t0 has no direction.                                    (F32)
static void test_begins_on_a_belt(void** unused) {
  (void)unused;
  static const char text[] =
      "model: belt\n"
      "coordinates: {x: {rate: 1}, y: {rate: 0.3}, z: }\n"
      "mass: {x: 2, y: 2, z: 2}\n"
      "potential: 20*z\n"
      "forces: {x: 0.8*8*t, y: 0.6*8*t}\n"
      "contacts: {belt: {gap: z, friction: 0.5, slip: [\"x' - 1\", \"y' - 0.3\"]}}\n";
  static const char* const METHODS[] = {"rk4", "dopri", "ga-pva"};
  static const double OFF[] = {1e-8, 1e-8, 1e-4};
  Run run = run_text_with(text, NULL);
  run.def.simulate.rtol = 1e-9;
  run.def.simulate.atol = 1e-10;
  for (int k = 0; k < 3; k++) {
    double t = 1.35, since = t - 1.25, way = 8 * since * since * since / 12;
    double rate = 8 * since * since / 4;
    run.def.simulate.smooth = METHODS[k];
    run_to(&run, t, 0.01);
    event_is(&run, 0, 1.25, "belt", "stick", "slip", 1e-9);
    check_state(&run, (double[]){t + 0.8 * way, 0.3 * t + 0.6 * way, 0},
                (double[]){1 + 0.8 * rate, 0.3 + 0.6 * rate, 0}, OFF[k]);
    assert_true(k == 2 || pawl_sim_summary(run.sim).energy_max_drift <= 1e-7);
  }
  run_end(&run);
}

// A block at rest on a slope is drawn aside by a force that grows, until friction holds it no
// longer: at first nothing moves, so that the direction of its slip is known by forces alone. (F32)
// Here from a millisecond after, where velocities are those of a slip drawn to F(t)/|F(t)|, in
// steps short against how fast friction turns it.
static double draw_aside(double held, double pull, double until, double* y) {
  double mu_N = hypot(held, pull), s = 1e-3, along = 3 * pull / mu_N, across = 3 * held / mu_N;
  double t = pull / 3 + s, u = along * s * s / 2, turned = across * s / mu_N;
  double d[] = {-held / mu_N, pull / mu_N};
  for (int i = 0; i < 2; i++) {
    double to_side = i == 0 ? d[1] : -d[0];
    y[i] = d[i] * u * s / 3;
    y[2 + i] = u * (d[i] - turned * to_side);
  }
  while (t < until) {
    double h = fmin(fmin(0.3 * hypot(y[2], y[3]) / mu_N, 1e-3), until - t), k[4][4], sum[4] = {0};
    for (int n = 0; n < 4; n++) {
      static const double AT[] = {0, 0.5, 0.5, 1}, WEIGHT[] = {1, 2, 2, 1};
      double x[4];
      for (int i = 0; i < 4; i++) {
        x[i] = y[i] + (n > 0 ? AT[n] * h * k[n - 1][i] : 0.0);
      }
      double speed = hypot(x[2], x[3]);
      k[n][0] = x[2];
      k[n][1] = x[3];
      k[n][2] = -held - mu_N * x[2] / speed;
      k[n][3] = 3 * (t + AT[n] * h) - mu_N * x[3] / speed;
      for (int i = 0; i < 4; i++) {
        sum[i] += WEIGHT[n] / 6 * h * k[n][i];
      }
    }
    for (int i = 0; i < 4; i++) {
      y[i] += sum[i];
    }
    t += h;
  }
  return pull / 3;
}

static void test_begins_on_a_slope(void** unused) {
  (void)unused;
  static const char text[] =
      "model: slope\n"
      "parameters: {a: 0.3}\n"
      "coordinates: {x: , y: , z: }\n"
      "mass: {x: 1, y: 1, z: 1}\n"
      "potential: 9.81*(z*cos(a) + x*sin(a))\n"
      "forces: {y: 3*t}\n"
      "contacts: {slope: {gap: z, friction: 0.5, slip: [x, y]}}\n";
  static const char* const METHODS[] = {"dopri", "ark", "rk4", "ida", "ga-pva", NULL};
  static const double OFF[] = {1e-9, 1e-9, 1e-7, 1e-8, 1e-5};  // ga-pva is of order 2
  double held = 9.81 * sin(0.3), most = 0.5 * 9.81 * cos(0.3), y[4];
  double until = 1.7, begins = draw_aside(held, sqrt(most * most - held * held), until, y);
  Run run = run_text_with(text, NULL);
  run.def.simulate.rtol = 1e-10;
  for (int k = 0; METHODS[k]; k++) {
    run.def.simulate.smooth = METHODS[k];
    if (!is_absent(METHODS[k])) {
      run_to(&run, until, 0.01);
      event_is(&run, 0, begins, "slope", "stick", "slip", 1e-9);
      check_state(&run, (double[]){y[0], y[1], 0}, (double[]){y[2], y[3], 0}, OFF[k]);
      assert_int_equal(run_events(&run), 1);
    }
  }
  run_end(&run);
}

// A rod thrown on its tip turns about it, and comes to the border of its cone while it is about to
// lift off: forces that cancel seem to have left the cone, and not to have. It slips on, by every
// method.                                                                                   (F21)
static void test_loose_while_it_lifts(void** unused) {
  (void)unused;
  static const char text[] =
      "model: rod\n"
      "parameters: {l: 0.5, mu: 2, th: 1.189815}\n"
      "coordinates: {x: {rate: 2.274239}, y: {start: l*sin(th) + 0.1}, p: {start: th}}\n"
      "mass: {x: 1, y: 1, p: l^2/3}\n"
      "potential: 9.81*y\n"
      "contacts:\n"
      "  a: {gap: y - l*sin(p), friction: mu, slip: x - l*cos(p)}\n"
      "  b: {gap: y + l*sin(p), friction: mu, slip: x + l*cos(p)}\n";
  static const char* const METHODS[] = {"dopri", "ark", "ida", "rk4", NULL};
  Run run = run_text_with(text, NULL);
  double t = sqrt(0.2 / 9.81), x = 0.0;
  run.def.simulate.rtol = 1e-11;
  for (int k = 0; METHODS[k]; k++) {
    run.def.simulate.smooth = METHODS[k];
    if (!is_absent(METHODS[k])) {
      run_to(&run, 1, k == 3 ? 2e-4 : 5e-3);
      event_is(&run, 0, t, "a", "open", "hit", 1e-9);
      event_is(&run, 1, 0.174826232621, "a", "stick", "slip", 1e-9);
      assert_int_equal(run_events(&run), 4);
      x = k == 0 ? pawl_sim_state(run.sim)->q[0] : x;
      CHECK_NEAR(pawl_sim_state(run.sim)->q[0], x, 1e-9);
    }
  }
  run_end(&run);
}

// ---- floors that move ---------------------------------------------------------------------------
// Thrown ever lower by a table that moves, what is left of the rate is less than the rounding of
// the table's place, which is that of t.                                                    (C1)
static void test_on_a_moving_table(void** unused) {
  (void)unused;
  static const char text[] =
      "model: conveyor\n"
      "parameters: {A: 0.002, w: 2*pi*15, B: 0.003}\n"
      "coordinates: {x: , y: {start: 0.001}}\n"
      "mass: {x: 1, y: 1}\n"
      "potential: 9.81*y\n"
      "contacts: {table: {gap: y - 0.8*B*sin(w*t), friction: 0.3, restitution: 0.2, slip: \"x' - "
      "A*w*cos(w*t + 0.7)\"}}\n";
  static const char* const METHODS[] = {"dopri", "rk4", "ark", "ga-pva", "ga-v", NULL};
  Run run = run_text_with(text, NULL);
  double x = 0.0;
  run.def.simulate.rtol = 1e-12;
  for (int k = 0; METHODS[k]; k++) {
    run.def.simulate.smooth = METHODS[k];
    if (!is_absent(METHODS[k])) {
      run_to(&run, 1, 1e-3);
      assert_int_equal(run_events(&run), 107);
      x = k == 0 ? pawl_sim_state(run.sim)->q[0] : x;
      CHECK_NEAR(pawl_sim_state(run.sim)->q[0], x, k < 3 ? 1e-8 : 1e-4);
    }
  }
  run_end(&run);
}

// A ball on another, which a table stops without a rebound while it slows down faster than they
// fall: they leave it at once, without a rate, which ida resolves but slowly.
static void test_left_at_once(void** unused) {
  (void)unused;
  static const char text[] =
      "model: two\n"
      "parameters: {A: 0.0931838260810625, w: 4*pi}\n"
      "coordinates: {y: {start: 1.3*A}, z: {start: 1.3*A + 0.1}}\n"
      "mass: {y: 1, z: 0.5}\n"
      "potential: 9.81*(y + 0.5*z)\n"
      "contacts:\n"
      "  table: {gap: y - A*sin(w*t)}\n"
      "  balls: {gap: z - y - 0.1, restitution: 0.3}\n";
  static const char* const METHODS[] = {"dopri", "ida"};
  double t[8];
  Run run = run_text_with(text, NULL);
  run.def.simulate.rtol = 1e-10;
  for (int k = 0; k < 2; k++) {
    run.def.simulate.smooth = METHODS[k];
    if (is_absent(METHODS[k])) {
      continue;
    }
    run_to(&run, 2, 5e-3);
    assert_true(run_events(&run) >= 8);
    for (int i = 0; i < 8; i++) {
      t[i] = k == 0 ? run_event(&run, i)->t : t[i];
      CHECK_NEAR(run_event(&run, i)->t, t[i], 1e-7);
    }
  }
  run_end(&run);
}

// A box is thrown on a floor. An impact stops two of its corners, which slip, and they begin to
// slip anew. At last it lies flat: of its energy m g c/2 is left.
static void test_box_comes_to_rest(void** unused) {
  (void)unused;
  static const char text[] =
      "model: box\n"
      "mechanism: {gravity: [0, 0, -9.81]}\n"
      "bodies:\n"
      "  ground: {shapes: {base: {plane: {at: [0, 0, 0], normal: [0, 0, 1]}}}}\n"
      "  b: {shape: {box: [0.2, 0.3, 0.1], density: 500}, start: {at: [0, 0, 0.4], rotation: "
      "\"rotation([-0.9451030174271662, -0.38394839434823713, -0.7805603824648837], "
      "0.825194)\"}, rate: {velocity: [-1.484239064453181, 0.7277803965634977, "
      "0.10848492834022494], omega: [4.382932602818551, 4.973668585542704, "
      "3.3552693530474134]}}\n"
      "contacts: {f: {between: [b, ground.base], restitution: 0.3, friction: 0.4}}\n";
  Run run = run_text_with(text, NULL);
  run.def.simulate.rtol = 1e-10;
  run_to(&run, 1.5, 0.01);
  CHECK_NEAR(pawl_sim_summary(run.sim).energy_end, 3 * 9.81 * 0.05, 1e-9);
  CHECK_NEAR(pawl_sim_summary(run.sim).energy_max_drift, 0, 1e-8);
  run_end(&run);
}

// ---- bouncing beside a contact that grips
// -------------------------------------------------------- A corner of a triangle in a trough
// bounces to rest on one wall, in the end by a steady ratio, while another on the other wall slips
// and sticks after each hit. While that slips the first is driven apart, so that only its flights
// say how high it goes.
#define CORNER(a, b) "(x + (" a ")*cos(p) - (" b ")*sin(p))"
#define CORNER_Y(a, b) "(y + (" a ")*sin(p) + (" b ")*cos(p))"
#define WALL(name, a, b, nx, ny)                                                               \
  "  " name ": {gap: \"" CORNER(a, b) "*(" nx ") + " CORNER_Y(                                 \
      a, b) "*(" ny                                                                            \
            ") + 0.3\", "                                                                      \
            "restitution: 0.7, friction: 1.2, slip: \"" CORNER(a, b) "*(-" ny ") + " CORNER_Y( \
                a, b) "*(" nx ")\"}\n"
static const char TROUGH[] =
    "model: trough\n"
    "coordinates: {x: {start: -0.126974359591414, rate: 0.0016345295087937795, guess: true},\n"
    "  y: {start: -0.140435826349363, rate: 0.0009710795818470787, guess: true},\n"
    "  p: {start: 3.1094423821841723, rate: -0.008344741694215015}}\n"
    "mass: {x: 1, y: 1, p: 0.02}\npotential: 9.81*y\ncontacts:\n"  //
    WALL("bounces", "0.19900083305560518", "0.01996668332936563", "0.5143245061711731",
         "0.8575956520131027") WALL("grips", "-0.11679207152035245", "0.16235643513573733",
                                    "-0.16062250007840712", "0.9870159129763624");

static void test_rest_beside_a_grip(void** unused) {
  (void)unused;
  Run run = run_text_with(TROUGH, NULL);
  run.def.simulate.rtol = 1e-11;
  run.def.simulate.atol = 1e-13;
  run.def.simulate.smooth = "dopri";
  run_to(&run, 0.005, 1e-4);
  double t[3] = {0};  // of the last hits
  int rests = 0, hits = 0;
  for (int k = 0; k < run_events(&run); k++) {
    const PawlEvent* event = run_event(&run, k);
    if (strcmp(event->constraint, "bounces") == 0 && strcmp(event->to, "hit") == 0) {
      hits++;
      t[0] = t[1], t[1] = t[2], t[2] = event->t;
    } else if (strcmp(event->constraint, "bounces") == 0 && strcmp(event->to, "rest") == 0) {
      double ratio = (t[2] - t[1]) / (t[1] - t[0]);
      CHECK_NEAR(event->t, t[2] + (t[2] - t[1]) * ratio / (1 - ratio), 1e-9);
      rests++;
    }
  }
  assert_true(hits > 15 && hits < 60);
  assert_int_equal(rests, 1);
  for (int j = 0; j < 3; j++) {
    CHECK_NEAR(pawl_sim_state(run.sim)->v[j], 0.0, 1e-12);
  }
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_gain),
      cmocka_unit_test(test_restitution_stays),
      cmocka_unit_test(test_jams),
      cmocka_unit_test(test_touches_without_force),
      cmocka_unit_test(test_comes_off_in_a_corner),
      cmocka_unit_test(test_begins_on_a_belt),
      cmocka_unit_test(test_begins_on_a_slope),
      cmocka_unit_test(test_loose_while_it_lifts),
      cmocka_unit_test(test_on_a_moving_table),
      cmocka_unit_test(test_left_at_once),
      cmocka_unit_test(test_box_comes_to_rest),
      cmocka_unit_test(test_rest_beside_a_grip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
