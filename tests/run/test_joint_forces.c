// SPDX-License-Identifier: Apache-2.0
// Forces in joints: friction by mu of what they carry, against closed forms and an integration of
// the test's own; power, which is what the bodies gain. With coordinates of joints and absolute
// ones.
#include "run/recorded.h"

enum { TEXT = 2048 };

static const char* const COORDINATES[] = {"joint", "absolute"};
static const double G = 9.81;

// ---- types without mu ---------------------------------------------------------------------------

static void fill_type(char text[TEXT], int coordinates, const char* keys, const char* more,
                      const char* friction, const char* outputs) {
  snprintf(text, TEXT,
           "model: hint\nmechanism: {gravity: [1, 2, -9.81], coordinates: %s}\n"
           "bodies: {b: {mass: 2, inertia: [0.1, 0.2, 0.3], centre: [0.1, 0.05, 0.2]}}\n"
           "joints: {j: {%s%s, friction: %s}}\noutputs: {%s}\n"
           "simulate: {method: event-driven, smooth: dopri, until: 0.02, step: 0.01}\n",
           COORDINATES[coordinates], keys, more, friction, outputs);
}

// What is offered in the place of mu works as it is written.
static void check_hint(const char* keys) {
  static const char offer[] = "such as ";
  for (int k = 0; k < 2; k++) {
    char text[TEXT], hint[200], outputs[300];
    PawlModel* model = NULL;
    PawlError err;
    fill_type(text, k, keys, "", "{mu: 0.2}", "v: j.rate");
    assert_int_not_equal(pawl_model_parse(text, strlen(text), "m", 0, NULL, &model, &err), PAWL_OK);
    const char* found = strstr(err.message, offer);
    assert_non_null(found);
    const char *begin = found + strlen(offer), *end = strchr(begin + 1, '"');
    assert_non_null(end);
    snprintf(hint, sizeof hint, "%.*s", (int)(end - begin) + 1, begin);
    snprintf(outputs, sizeof outputs, "f: lambda(j.friction), bound: %s", hint);
    fill_type(text, k, keys, ", cut: true", hint, outputs);
    Run run = run_all(text);
    for (int s = 1; s < sample_count(&run); s++) {
      double bound = value_at(&run, s, "bound");
      assert_true(bound > 1e-3);
      CHECK_NEAR(value_at(&run, s, "f"), -bound, 1e-9);
    }
    run_end(&run);
  }
}

static void test_hints(void** unused) {
  (void)unused;
  check_hint("cylindrical: [ground, b], start: [0.3, 0.1], rate: [5, -0.2]");
  check_hint("screw: [ground, b], pitch: 0.1, start: 0.3, rate: 5");
  check_hint("universal: [ground, b], start: [0.3, 0.1], rate: [5, -0.2]");
  check_hint("planar: [ground, b], start: [0.3, 0.1, 0], rate: [5, -0.2, 0]");
}

// ---- a slider on a slope ------------------------------------------------------------------------

// Up a slope of a with v0 and down again; across it pulls `side` in space.
static void check_slider(const char* text, double side, double kinetic, bool sticks) {
  double a = acos(-1.0) / 6, v0 = 2, press = hypot(G * cos(a), side);
  double up = G * sin(a) + kinetic * press, down = sticks ? 0 : G * sin(a) - kinetic * press;
  double stop = v0 / up, top = v0 * stop / 2;
  for (int k = 0; k < 2; k++) {
    char filled[TEXT];
    snprintf(filled, TEXT, text, COORDINATES[k]);
    Run run = run_all(filled);
    for (int s = 0; s < sample_count(&run); s++) {
      double t = value_at(&run, s, "t"), after = t - stop;
      double x = after < 0 ? v0 * t - up * t * t / 2 : top - down * after * after / 2;
      CHECK_NEAR(value_at(&run, s, "s"), x, 1e-9);
      CHECK_NEAR(value_at(&run, s, "v"), after < 0 ? v0 - up * t : -down * after, 1e-9);
    }
    run_end(&run);
  }
}

static void test_slider(void** unused) {
  (void)unused;
  check_slider(
      "model: slope\nmechanism: {gravity: [0, -9.81], coordinates: %s}\nparameters: {a: 30*deg}\n"
      "bodies: {block: {mass: 3, inertia: 0.1, centre: [0.1, 0.2]}}\n"
      "joints: {rail: {prismatic: [ground, block], axis: [cos(a), sin(a)], rate: 2, friction: {mu: "
      "0.3}}}\n"
      "outputs: {s: rail.travel, v: rail.rate}\n"
      "simulate: {method: dopri, rtol: 1e-12, until: 0.8, step: 0.05}\n",
      0, 0.3, false);
  check_slider(
      "model: slope\nmechanism: {gravity: [0, -9.81], coordinates: %s}\nparameters: {a: 30*deg}\n"
      "bodies: {block: {mass: 3, inertia: 0.1}}\n"
      "joints: {rail: {prismatic: [block, ground], axis: [-cos(a), -sin(a)], rate: 2,\n"
      "                friction: {static: 0.7, kinetic: 0.3}}}\n"
      "outputs: {s: rail.travel, v: rail.rate}\n"
      "simulate: {method: dopri, rtol: 1e-12, until: 0.8, step: 0.05}\n",
      0, 0.3, true);
  check_slider(
      "model: slope\nmechanism: {gravity: [0, 4, -9.81], coordinates: %s}\nparameters: {mu: 0.2}\n"
      "bodies: {block: {mass: 3, inertia: [0.1, 0.2, 0.3], centre: [0, 0.1, 0.3]}}\n"
      "joints: {rail: {prismatic: [ground, block], axis: [1, 0, 0], turn: \"rotation([0, 1, 0], "
      "-30*deg)\", rate: 2, friction: {mu: 2*mu}}}\n"
      "outputs: {s: rail.travel, v: rail.rate}\n"
      "simulate: {method: dopri, rtol: 1e-12, until: 0.8, step: 0.05}\n",
      4, 0.4, false);
}

// ---- a pendulum on a pin ------------------------------------------------------------------------

// Mass 2 at 0.5 from a pin of radius 0.2, inertia 0.3, mu 0.2; the axis is loaded by 2 * axial.
typedef struct Pin {
  double axial;
  double sign;  // of the rate
} Pin;

static const double M = 2, ARM = 0.5, J = 0.3, RUB = 0.2 * 0.2;

// The acceleration, on which the load of the pin hangs: found in turn with it.
static double swing(Pin pin, double phi, double rate_squared) {
  double a = 0, c = cos(phi), s = sin(phi);
  for (int k = 0; k < 100; k++) {
    double x = -ARM * (a * s + rate_squared * c), y = ARM * (a * c - rate_squared * s) + G;
    double load = M * sqrt(x * x + y * y + pin.axial * pin.axial);
    a = (-M * G * ARM * c - pin.sign * RUB * load) / (J + M * ARM * ARM);
  }
  return a;
}

// u = phi'^2/2 after the way d, by Runge's and Kutta's method: du/dphi = phi''.
static double follow(Pin pin, double phi, double u, double d) {
  enum { STEPS = 400 };
  double h = d / STEPS;
  for (int k = 0; k < STEPS; k++, phi += h) {
    double k1 = swing(pin, phi, 2 * u), k2 = swing(pin, phi + h / 2, 2 * u + h * k1);
    double k3 = swing(pin, phi + h / 2, 2 * u + h * k2), k4 = swing(pin, phi + h, 2 * (u + h * k3));
    u += h * (k1 + 2 * k2 + 2 * k3 + k4) / 6;
  }
  return u;
}

// Where a swing from rest ends: Newton's method for u = 0.
static double turning_point(Pin pin, double phi) {
  double d = 2 * (-acos(0.0) - phi) * 0.9;
  for (int k = 0; k < 20; k++) {
    double u = follow(pin, phi, 0, d);
    d -= u / swing(pin, phi + d, 2 * u);
  }
  return phi + d;
}

// Swings to and fro until the pin holds it: cos(phi) l m g within mu r times the load at rest.
static double rest_of(double axial, double phi, int* swings) {
  for (*swings = 0; fabs(cos(phi)) * ARM * G > RUB * hypot(G, axial); ++*swings) {
    phi = turning_point((Pin){axial, phi > -acos(0.0) ? -1 : 1}, phi);
  }
  return phi;
}

static void check_pendulum(const char* text, double axial) {
  int swings;
  double rest = rest_of(axial, 0.3, &swings);
  assert_in_range(swings, 3, 20);
  for (int k = 0; k < 2; k++) {
    char filled[TEXT];
    snprintf(filled, TEXT, text, COORDINATES[k]);
    Run run = run_all(filled);
    CHECK_NEAR(final_of(&run, "phi"), rest, 1e-8);
    CHECK_NEAR(final_of(&run, "w"), 0.0, 1e-9);
    assert_int_equal(run_events(&run), swings);
    run_end(&run);
  }
}

static void test_pendulum(void** unused) {
  (void)unused;
  check_pendulum(
      "model: pin\nmechanism: {gravity: [0, -9.81], coordinates: %s}\n"
      "bodies: {bob: {mass: 2, inertia: 0.3, centre: [0.5, 0]}}\n"
      "joints: {pin: {revolute: [ground, bob], at: [1, 2], start: 0.3, friction: {mu: 0.2, pin: "
      "0.2}}}\n"
      "outputs: {phi: pin.angle, w: pin.rate}\n"
      "simulate: {method: dopri, rtol: 1e-12, until: 20, step: 0.05}\n",
      0);
  check_pendulum(
      "model: pin\nmechanism: {gravity: [0, -9.81, -7], coordinates: %s}\n"
      "bodies: {bob: {mass: 2, inertia: [0.1, 0.2, 0.3], centre: [0.5, 0, 0.1]}}\n"
      "joints: {pin: {revolute: [ground, bob], start: 0.3, friction: {mu: 0.2, pin: 0.2}}}\n"
      "outputs: {phi: pin.angle, w: pin.rate}\n"
      "simulate: {method: dopri, rtol: 1e-12, until: 20, step: 0.05}\n",
      7);
}

// ---- power --------------------------------------------------------------------------------------

// What bodies gain, by their momenta and without gravity, is what acts along the values of joints.
static void check_power(const char* text, const char* const parts[]) {
  for (int k = 0; k < 2; k++) {
    char filled[TEXT];
    double most = 0;
    snprintf(filled, TEXT, text, COORDINATES[k]);
    Run run = run_all(filled);
    for (int s = 0; s < sample_count(&run); s++) {
      double gain = value_at(&run, s, "gain"), sum = 0;
      for (int i = 0; parts[i]; i++) {
        sum += value_at(&run, s, parts[i]);
      }
      CHECK_NEAR(value_at(&run, s, "i.power") + value_at(&run, s, "j.power"), gain, 1e-8);
      CHECK_NEAR(sum, gain, 1e-8);
      most = fmax(most, fabs(gain));
    }
    assert_true(most > 1.0);
    run_end(&run);
  }
}

static void test_power(void** unused) {
  (void)unused;
  check_power(
      "model: power\nmechanism: {gravity: [0, -9.81], coordinates: %s}\nbodies:\n"
      "  a: {mass: 2, inertia: 0.17, centre: [0.5, 0], points: {tip: [1, 0]}}\n"
      "  b: {mass: 1, inertia: 0.08, centre: [0.5, 0.1]}\n"
      "joints:\n"
      "  i: {revolute: [ground, a], start: 0.3, motor: 20*cos(3*t), spring: {stiffness: 3, length: "
      "0.2}, damping: 0.4, friction: 0.5, power: true}\n"
      "  j: {prismatic: [a, b], at: a.tip, axis: [1, 1], rate: 1, spring: {stiffness: 50, damping: "
      "2}, brake: {capacity: 3, at: 0.2}, lock: {at: 0.7}, power: true}\n"
      "outputs: {gain: \"dot(a.momentum', a.centre') + a.angular_momentum'*a.omega + "
      "dot(b.momentum', b.centre') + b.angular_momentum'*b.omega - dot([0, -9.81], "
      "mechanism.momentum)\"}\n"
      "simulate: {method: dopri, rtol: 1e-11, until: 1, step: 0.05}\n",
      (const char* const[]){"i.motor.power", "i.spring.power", "i.damping.power",
                            "i.friction.power", "j.spring.power", "j.brake.power", "j.lock.power",
                            NULL});
  check_power(
      "model: power\nmechanism: {gravity: [0, 1, -9.81], coordinates: %s}\nbodies:\n"
      "  a: {mass: 2, inertia: [0.1, 0.2, 0.15], centre: [0.1, 0.3, 0.2], points: {p: [0.3, 0.1, "
      "0.4]}}\n"
      "  b: {mass: 1, inertia: [0.1, 0.08, 0.06], centre: [0.2, 0.1, 0.2]}\n"
      "joints:\n"
      "  i: {revolute: [ground, a], axis: [1, 2, 2], drive: 0.5*sin(2*t), rate: 1, power: true}\n"
      "  j: {screw: [a, b], at: a.p, pitch: 0.3, rate: 2, motor: 2*t, friction: 0.1, power: true}\n"
      "outputs: {gain: \"dot(a.momentum', a.centre') + dot(a.angular_momentum', a.omega) + "
      "dot(b.momentum', b.centre') + dot(b.angular_momentum', b.omega) - dot([0, 1, -9.81], "
      "mechanism.momentum)\"}\n"
      "simulate: {method: dopri, rtol: 1e-11, until: 1, step: 0.05}\n",
      (const char* const[]){"i.drive.power", "j.motor.power", "j.friction.power", NULL});
}

// What a drive gives pushes the second body along the value, whatever the coordinates are.
static void test_drive(void** unused) {
  (void)unused;
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(text, TEXT,
             "model: driven\nmechanism: {coordinates: %s}\n"
             "bodies: {wheel: {mass: 1, inertia: [0.1, 0.2, 0.3]}}\n"
             "joints: {axle: {revolute: [ground, wheel], drive: t^2}}\n"
             "outputs: {torque: lambda(axle.drive)}\nsimulate: {method: dopri, until: 3}\n",
             COORDINATES[k]);
    Run run = run_all(text);
    for (int s = 0; s < sample_count(&run); s++) {
      CHECK_NEAR(value_at(&run, s, "torque"), 0.6, 1e-9);
    }
    run_end(&run);
  }
}

// What joints do to a body, with what acts and holds along their values: momenta and angular
// momenta change by it, by gravity, and by motor, spring and damping, which are torques u about the
// axis, or forces u along it (of a planar joint along x, across its axis z).
static void check_reaction(const char* keys, const char* value, bool turns, const char* along,
                           const char* holds) {
  static const char* const acts[] = {"force.x",  "force.y",  "force.z",
                                     "torque.x", "torque.y", "torque.z"};
  for (int k = 0; k < 2; k++) {
    char text[TEXT], of_joint[20];
    snprintf(text, TEXT,
             "model: carries\nmechanism: {gravity: [1, 2, -9.81], coordinates: %s}\n"
             "bodies: {b: {mass: 2, inertia: [0.1, 0.2, 0.3], centre: [0.1, 0.05, 0.2]}}\n"
             "joints: {j: {%s, reaction: true, motor: 0.3 + 1.5*t, spring: {stiffness: 2, length: "
             "0.1}, damping: 0.05, %s}}\n"
             "define:\n  u: 0.3 + 1.5*t - 2*(j.%s - 0.1) - 0.05*j.rate\n  push: %s\n"
             "  all: b.momentum' - b.mass*[1, 2, -9.81]\n  f: all - %s\n"
             "  m: b.angular_momentum' + cross(b.centre - b.at, all) - %s\n"
             "outputs: {force: f, torque: m}\n"
             "simulate: {method: event-driven, smooth: dopri, until: 0.3, step: 0.05}\n",
             COORDINATES[k], keys, holds, value, along, turns ? "[0, 0, 0]" : "push*u",
             turns ? "push*u" : "[0, 0, 0]");
    Run run = run_all(text);
    double most = 0;
    for (int s = 1; s < sample_count(&run); s++) {
      for (int i = 0; i < 6; i++) {
        snprintf(of_joint, sizeof of_joint, "j.%s", acts[i]);
        bool there = column_of(&run, of_joint) >= 0;
        CHECK_NEAR(there ? value_at(&run, s, of_joint) : 0.0, value_at(&run, s, acts[i]), 1e-9);
        most = fmax(most, fabs(value_at(&run, s, acts[i])));
      }
    }
    assert_true(most > 1);
    run_end(&run);
  }
}

static void test_reactions(void** unused) {
  (void)unused;
  static const struct {
    const char *keys, *value;
    bool turns;
    const char* along;
  } types[] = {
      {"revolute: [ground, b], axis: [0, 3, 4], rate: 2", "angle", true, "[0, 0.6, 0.8]"},
      {"prismatic: [ground, b], axis: [0, 3, 4], rate: 2", "travel", false, "[0, 0.6, 0.8]"},
      {"cylindrical: [ground, b], axis: [0, 3, 4], rate: [2, 1]", "angle", true, "[0, 0.6, 0.8]"},
      {"screw: [ground, b], axis: [0, 3, 4], pitch: 0.2, rate: 2", "angle", true, "[0, 0.6, 0.8]"},
      {"universal: [ground, b], axis: [0, 3, 4], rate: [2, 1]", "angle", true, "[0, 0.6, 0.8]"},
      {"planar: [ground, b], rate: [2, 1, 3]", "travel", false, "[1, 0, 0]"}};
  static const char* const holds[] = {"lock: {at: 0.1}", "brake: {capacity: 0.4, engaged: true}",
                                      "friction: 0.2"};
  for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
    for (size_t h = 0; h < 3; h++) {
      check_reaction(types[k].keys, types[k].value, types[k].turns, types[k].along, holds[h]);
    }
  }
}

// ---- turns --------------------------------------------------------------------------------------

// A wheel on a spring that winds it up by several turns: w/n sin(n t), n^2 = k/J, about the place
// where it is at rest; with coordinates that are no angle, and about an axis of no direction.
static void test_turns(void** unused) {
  (void)unused;
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(text, TEXT,
             "model: wound\nmechanism: {coordinates: %s}\n"
             "bodies: {wheel: {mass: 1, inertia: [0.5, 0.5, 0.5]}}\n"
             "joints: {axle: {revolute: [ground, wheel], axis: [1, 2, 2], turn: {xyz: [1, 2, 3]}, "
             "start: 2, rate: 30, spring: {stiffness: 2, length: 2}, power: true}}\n"
             "outputs: {angle: axle.angle, rate: axle.rate}\n"
             "simulate: {method: dopri, rtol: 1e-11, until: 4, step: 0.1}\n",
             COORDINATES[k]);
    Run run = run_all(text);
    double n = 2, most = 0;
    for (int s = 0; s < sample_count(&run); s++) {
      double t = value_at(&run, s, "t"), phi = 2 + 30 / n * sin(n * t), w = 30 * cos(n * t);
      CHECK_NEAR(value_at(&run, s, "angle"), phi, 1e-8);
      CHECK_NEAR(value_at(&run, s, "rate"), w, 1e-7);
      CHECK_NEAR(value_at(&run, s, "axle.power"), -2 * (phi - 2) * w, 1e-6);
      CHECK_NEAR(value_at(&run, s, "energy"), 225, 1e-6);
      most = fmax(most, fabs(phi));
    }
    assert_true(most > 12);
    run_end(&run);
  }
}

// Whatever looks at an angle sees it go on beyond half a turn, with coordinates of joints and
// without: springs, stops, conditions, motors; of a revolute and a universal joint.
static void check_around(const char* method, double step, double tolerance) {
  static const char* const joints[] = {
      "revolute: [ground, b], axis: [1, 2, 2], rate: 9, spring: {stiffness: 0.02, length: 1}",
      "revolute: [ground, b], axis: [1, 2, 2], rate: 9, stops: {low: -1, high: 4, restitution: "
      "0.5}",
      "revolute: [ground, b], axis: [1, 2, 2], rate: 9, lock: {when: j.angle - 8}",
      "revolute: [ground, b], axis: [1, 2, 2], start: 0.5, rate: 9, lock: {when: j.angle - 0.2, "
      "direction: down}",
      "revolute: [ground, b], axis: [1, 2, 2], start: 3, rate: -9, motor: 0.1*j.angle",
      "cylindrical: [ground, b], rate: [9, 0.1], stops: {low: -1, high: 5}",
      "universal: [ground, b], rate: [9, 0.2], lock: {when: j.angle - 8}",
      "universal: [ground, b], rate: [9, 0.2], drive: 9*t",
      "cylindrical: [ground, b], rate: [9, 0.2], drive: 9*t",
      "planar: [ground, b], rate: [0.2, 0.1, 9], lock: {when: j.angle - 8}"};
  for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
    Run run[2];
    for (int k = 0; k < 2; k++) {
      char text[TEXT];
      snprintf(text, TEXT,
               "model: around\nmechanism: {coordinates: %s}\nbodies: {b: {mass: 1, inertia: [0.5, "
               "0.4, 0.3]}}\njoints: {j: {%s}}\n"
               "outputs:\n  angle: j.angle\n  x: b.R*[1, 2, 3]\n  w: b.omega\n"
               "simulate: {method: %s, until: 1.5, step: %g}\n",
               COORDINATES[k], joints[i], method, step);
      run[k] = run_all(text);
    }
    assert_true(compare_runs(&run[0], &run[1], tolerance) >= 7);
    run_end(&run[0]);
    run_end(&run[1]);
  }
}

static void test_around(void** unused) {
  (void)unused;
  check_around("event-driven, smooth: dopri, rtol: 1e-11", 0.05, 1e-7);
  check_around("nsga-pva", 0.002, 2e-3);
}

// A wheel that a lock stops leaves rates of the smallest numbers there are: they are at rest.
static void test_at_rest(void** unused) {
  (void)unused;
  Run run = run_all(
      "model: stopped\nmechanism: {coordinates: absolute}\n"
      "bodies: {wheel: {mass: 1, inertia: [0.5, 0.5, 0.5]}}\n"
      "joints: {axle: {revolute: [ground, wheel], axis: [1, 2, 2], start: 1e-9, rate: 6.283185307, "
      "lock: {at: 0.5, for: 0.5}, damping: 0.001}}\n"
      "outputs: {turned: axle.angle}\n"
      "simulate: {method: moreau-jean, until: 4, step: 1e-2}\n");
  CHECK_NEAR(final_of(&run, "turned"), acos(-1.0), 1e-2);
  run_end(&run);
}

// ---- a chain ------------------------------------------------------------------------------------

// Thirty links let go from the horizontal: forces fall by a factor of four from joint to joint, to
// below rounding. By (F26) a joint that turns is at its capacity, against its rate; one that holds
// is within. What both are known to is 1e-12 of the weight of a link at the length of one.
static void test_chain(void** unused) {
  (void)unused;
  enum { LINKS = 30 };
  Run run = run_all(
      "model: chain\nmechanism: {gravity: [0, -9.81]}\nparameters: {N: 30}\n"
      "bodies: {\"l[i=1..N]\": {mass: 1, inertia: 0.1, centre: [0.5, 0], start: {at: [i-1, 0]}}}\n"
      "joints:\n"
      "  f: {revolute: [ground, \"l[1]\"], friction: {mu: 0.2, pin: 0.05}}\n"
      "  n[i=2..N]: {revolute: [\"l[i-1]\", \"l[i]\"], at: [[1, 0], [0, 0]],\n"
      "    friction: {mu: 0.2, pin: 0.05}}\n"
      "outputs: {\"load[i=2..N]\": \"0.01*hypot(lambda(n[i], 1), lambda(n[i], 2))\",\n"
      "  \"rub[i=2..N]\": \"lambda(n.friction[i])\", \"rate[i=2..N]\": \"n.rate[i]\"}\n"
      "simulate: {method: dopri, until: 0.0002, step: 0.00005}\n");
  double known = 1e-12 * G * 1.0;
  for (int s = 0; s < sample_count(&run); s++) {
    for (int i = 2; i <= LINKS; i++) {
      char load[20], rub[20], rate[20];
      snprintf(load, sizeof load, "load[%d]", i);
      snprintf(rub, sizeof rub, "rub[%d]", i);
      snprintf(rate, sizeof rate, "rate[%d]", i);
      double R = value_at(&run, s, load), T = value_at(&run, s, rub), w = value_at(&run, s, rate);
      assert_true(fabs(T) <= R + known);
      if (fabs(w) > 1e-9) {
        CHECK_NEAR(T, w > 0 ? -R : R, known);
      }
    }
  }
  assert_true(fabs(value_at(&run, sample_count(&run) - 1, "rate[2]")) > 1e-4);
  run_end(&run);
}

// ---- a four-bar ---------------------------------------------------------------------------------

// Friction in three joints, of which one turns back while the others go on: there its row moves
// nothing, as if it followed from the others, and slides all the same. Nothing is to be told.
static void test_turning_back(void** unused) {
  (void)unused;
  Run run[2];
  for (int k = 0; k < 2; k++) {
    char text[TEXT];
    snprintf(text, TEXT,
             "model: four-bar\nmechanism: {gravity: [0, -9.81], coordinates: %s}\nbodies:\n"
             "  a: {mass: 1, inertia: 0.02, centre: [0.15, 0]}\n"
             "  b: {mass: 1.5, inertia: 0.2, centre: [0.5, 0]}\n"
             "  c: {mass: 1, inertia: 0.05, centre: [0.3, 0]}\n"
             "joints:\n"
             "  A: {revolute: [ground, a], start: 1, rate: 9, friction: {mu: 0.2, pin: 0.03}}\n"
             "  B: {revolute: [a, b], at: [0.3, 0], guess: -0.5, friction: {mu: 0.2, pin: 0.03}}\n"
             "  C: {revolute: [ground, c], at: [1.1, 0], guess: 1.5}\n"
             "  D: {revolute: [c, b], at: [[0.6, 0], [1, 0]], friction: {mu: 0.3, pin: 0.02}}\n"
             "outputs: {phi: a.angle, psi: b.angle}\n"
             "simulate: {method: dopri, rtol: 1e-11, until: 0.6, step: 0.01}\n",
             COORDINATES[k]);
    run[k] = run_all(text);
    assert_true(run_events(&run[k]) >= 2);
    assert_string_equal(pawl_sim_warning(run[k].sim), "");
  }
  assert_true(compare_runs(&run[0], &run[1], 1e-9) >= 2);
  run_end(&run[0]);
  run_end(&run[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hints),    cmocka_unit_test(test_slider),
      cmocka_unit_test(test_pendulum), cmocka_unit_test(test_power),
      cmocka_unit_test(test_turns),    cmocka_unit_test(test_at_rest),
      cmocka_unit_test(test_chain),    cmocka_unit_test(test_turning_back),
      cmocka_unit_test(test_drive),    cmocka_unit_test(test_reactions),
      cmocka_unit_test(test_around),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
