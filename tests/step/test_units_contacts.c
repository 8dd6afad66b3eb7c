// SPDX-License-Identifier: Apache-2.0
// Nothing depends on the units of length, mass and time: contacts, starts, large systems, and what
// is said of a run.
#include "units.h"

enum { UNIT_COUNT = sizeof UNITS / sizeof *UNITS };

// ---- contacts -----------------------------------------------------------------------------------
#define BALL                                                     \
  "coordinates: {x: {start: L, rate: L/T}, y: {start: 0.7*L}}\n" \
  "mass: {x: M, y: 2*M}\npotential: 2.137*F*y\n"                 \
  "contacts: {floor: {gap: y, restitution: 0.513}}\n"
// On two feet, turned by a growing torque: one leaves the floor and the other stays.
#define STAND                                                              \
  "coordinates: {y: , s: , x: {start: L}}\n"                               \
  "mass: {y: M, s: M, x: M}\npotential: 2*F*y\nforces: {s: 3*F*(t/T)^2}\n" \
  "contacts: {left: {gap: y - s}, right: {gap: y + s}}\n"

static const Case CONTACTS[] = {
    {"ball", BALL, "moreau-jean", 3, 0.01, 1e-7, 3, NULL},
    {"ball", BALL, "nsga-pvv", 3, 0.01, 1e-7, 3, NULL},
    {"ball", BALL, "nsga-pva", 3, 0.01, 1e-7, 3, NULL},
    {"stand", STAND, "moreau-jean", 1.2, 0.01, 1e-7, 0, NULL},
    {"stand", STAND, "nsga-pvv", 1.2, 0.01, 1e-7, 0, NULL},
    {"stand", STAND, "nsga-pva", 1.2, 0.01, 1e-7, 0, NULL},
};

static void test_contacts(void** unused) {
  (void)unused;
  CHECK_CASES(CONTACTS);
}

// Two balls begin next to the floor: the first rests on it to rounding, the second is far above,
// for rounding, and falls.
static void test_contacts_at_the_start(void** unused) {
  (void)unused;
  static const char* const methods[] = {"moreau-jean", "nsga-pva"};
  Case c = {.name = "start",
            .text =
                "coordinates: {x: {start: 1e-14*L}, y: {start: 1e-10*L}, z: {start: L}}\n"
                "mass: {x: M, y: M, z: M}\nforces: {x: -F, y: -F, z: -F}\n"
                "contacts: {one: {gap: x}, two: {gap: y}}\n",
            .until = 1,
            .step = 0.001};
  for (int k = 0; k < 2 * (int)UNIT_COUNT; k++) {
    Units u = UNITS[k / 2];
    c.method = methods[k % 2];
    Run run = case_in(&c, u);
    run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
    const PawlState* state = pawl_sim_state(run.sim);
    double unit = u.L / (u.T * u.T);
    CHECK_NEAR(state->a[0] / unit, 0.0, 1e-12);
    CHECK_NEAR(state->a[1] / unit, -1.0, 1e-12);
    CHECK_NEAR(state->lambda[0] / (u.M * unit), 1.0, 1e-12);
    run_end(&run);
  }
}

// A ball that bounces to rest in a millionth of the time with the event_tolerance of seconds: the
// same impacts, and the same limit.
static void test_short_times(void** unused) {
  (void)unused;
  static const Case c = {.name = "bounces",
                         .text =
                             "coordinates: {y: {start: L}}\nmass: {y: M}\npotential: 9.81*F*y\n"
                             "contacts: {floor: {gap: y, restitution: 0.3}}\n",
                         .method = "event-driven",
                         .until = 2,
                         .step = 0.01};
  Outcome out[2] = {{0}};
  for (int k = 0; k < 2; k++) {
    Units u = {1, 1, k ? 1e-6 : 1};
    Run run = case_in(&c, u);
    run.def.simulate.event_tolerance /= u.T;
    assert_int_equal(run_try(&run, c.until * u.T, c.step * u.T), PAWL_OK);
    note_events(&run, u, &out[k]);
    run_end(&run);
  }
  assert_int_equal(out[1].count, out[0].count);
  for (int i = 0; i < out[0].count; i++) {
    CHECK_NEAR(out[1].t[i], out[0].t[i], 1e-10);
  }
}

// ---- regions ------------------------------------------------------------------------------------
static const Case REGIONS[] = {
    // beside the surface, by little for L and by much for rounding, and on its way across
    {"starts_beside",
     "coordinates: {x: {start: -1e-9*L, rate: L/T}, y: {start: L}}\nmass: {x: M, y: M}\n"
     "constraints: {track: {modes: {left: {where: x < 0, equation: none},\n"
     "                              right: {where: x > 0, equation: y = L}}}}\n",
     "event-driven", 1, 0.01, 1e-10, 1, NULL},
    // on it to rounding: the motion says where it goes
    {"starts_on",
     "coordinates: {x: {start: (0.1 + 0.2 - 0.3)*L, rate: -L/T}, y: {start: L}}\n"
     "mass: {x: M, y: M}\n"
     "constraints: {track: {modes: {left: {where: x < 0, equation: none},\n"
     "                              right: {where: x > 0, equation: y = L}}}}\n",
     "event-driven", 1, 0.01, 1e-10, 0, NULL},
    {"gap_between",
     "coordinates: {x: {rate: L/T}, y: }\nmass: {x: M, y: M}\n"
     "constraints: {track: {modes: {flat: {where: x < L, equation: y = 0},\n"
     "                              ramp: {where: x > 1.02*L, equation: y = 0}}}}\n",
     "moreau-jean", 2, 0.01, 0, -1, "no other region"},
};

static void test_regions(void** unused) {
  (void)unused;
  CHECK_CASES(REGIONS);
}

// ---- many coordinates ---------------------------------------------------------------------------
// A chain that begins as a straight line, so that half of the gradients are zero.
static const Case CHAINS[] = {
    {"chain",
     "coordinates:\n  x[i=1..6]: {start: i*L}\n  y[i=1..6]:\n"
     "mass:\n  x[i=1..6]: M\n  y[i=1..6]: M\n"
     "potential:\n  for i=1..6: 9*F*y[i]\n"
     "constraints:\n  rod[1]: x[1]^2 + y[1]^2 = L^2\n"
     "  rod[i=2..6]: (x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = L^2\n",
     "ga-p", 0.2, 0.01, 1e-9, 0, NULL},
};

static void test_chains(void** unused) {
  (void)unused;
  CHECK_CASES(CHAINS);
}

// ---- what is said of a run ----------------------------------------------------------------------
// Drift is relative to the terms of a row, also where the motion turns back.
static void test_drift(void** unused) {
  (void)unused;
  Case c = {.name = "pendulum",
            .text =
                "coordinates: {x: {start: L}, y: }\nmass: {x: M, y: M}\npotential: 9*F*y\n"
                "constraints: {rod: (x^2 + y^2)/L = L}\n",
            .method = "ga-a",
            .until = 3,
            .step = 0.01};
  PawlSummary one = {0};
  for (int k = -1; k < (int)UNIT_COUNT; k++) {
    Units u = k < 0 ? (Units){1, 1, 1} : UNITS[k];
    Run run = case_in(&c, u);
    run_to(&run, c.until * u.T, c.step * u.T);
    PawlSummary s = pawl_sim_summary(run.sim);
    one = k < 0 ? s : one;
    CHECK_NEAR(s.drift / one.drift, 1.0, 1e-6);
    CHECK_NEAR(s.velocity_drift / one.velocity_drift, 1.0, 1e-6);
    run_end(&run);
  }
  assert_true(one.drift > 1e-9 && one.velocity_drift > 1e-9);
}

// What --keep leaves alone stays, and the rest moves onto the constraint, however near it is.
static void test_keep(void** unused) {
  (void)unused;
  Case c = {.name = "kept",
            .text =
                "coordinates: {x: {start: L, rate: L/T}, y: {start: 1.0000001*L}}\n"
                "mass: {x: M, y: M}\nconstraints: {pair: x = y}\n",
            .method = "rk4",
            .until = 1,
            .step = 0.1};
  for (int k = 0; k < (int)UNIT_COUNT; k++) {
    Units u = UNITS[k];
    Run run = case_in(&c, u);
    run.def.project = true;
    run.def.keep = "x, x'";
    run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
    const PawlState* state = pawl_sim_state(run.sim);
    CHECK_NEAR(state->q[0] / u.L, 1.0, 0.0);
    CHECK_NEAR(state->q[1] / u.L, 1.0, 1e-13);
    CHECK_NEAR(state->v[1] * u.T / u.L, 1.0, 1e-13);
    run_end(&run);
  }
}

// A row is not left out because its numbers are small beside those of another.
static void test_keep_small_rows(void** unused) {
  (void)unused;
  Case c = {.name = "kept_small",
            .text =
                "coordinates: {x: {start: L}, y: {start: 1.1*L}, z: {start: 2*L}, w: }\n"
                "mass: {x: M, y: M, z: M, w: M}\n"
                "constraints: {pair: x = y, small: 1e-12*z = 1e-12*w}\n",
            .method = "rk4",
            .until = 1,
            .step = 0.1};
  for (int k = 0; k < (int)UNIT_COUNT; k++) {
    Run run = case_in(&c, UNITS[k]);
    run.def.project = true;
    run.def.keep = "x, z";
    run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
    const PawlState* state = pawl_sim_state(run.sim);
    CHECK_NEAR(state->q[1] / UNITS[k].L, 1.0, 1e-13);
    CHECK_NEAR(state->q[3] / UNITS[k].L, 2.0, 1e-13);
    run_end(&run);
  }
}

// Rows that follow from others beside it do not make a surface tangent; one along its row is.
static void test_verify_redundant(void** unused) {
  (void)unused;
  static const char* const wheres[] = {"x", "y + L"};
  for (int k = 0; k < 2 * (int)UNIT_COUNT; k++) {
    char text[400];
    const int from[] = {0, 0, 0}, to[] = {1, 0, 0};
    PawlVerifier* verifier;
    snprintf(text, sizeof text,
             "coordinates: {x: {start: L}, y: , z: }\nmass: {x: M, y: M, z: M}\n"
             "constraints: {track: {start: flat, modes: {\n"
             "  flat: {where: %s < L, equation: y = 0},\n"
             "  ramp: {where: %s > L, equation: y = 0}}}, one: z = 0, two: 1e-7*z = 0}\n",
             wheres[k % 2], wheres[k % 2]);
    Case c = {.name = "beside", .text = text, .method = "event-driven", .until = 1, .step = 0.1};
    Run run = case_in(&c, UNITS[k / 2]);
    run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
    run_need(&run, pawl_verifier_create(run.system, &verifier, &run.err));
    PawlInstant instant = {.contact = -1, .from = from, .to = to, .q = pawl_sim_state(run.sim)->q};
    PawlStatus expected = k % 2 ? PAWL_ERROR_MODEL : PAWL_OK;
    assert_int_equal(pawl_verify_switch(verifier, &instant, &run.err), expected);
    assert_true(k % 2 == 0 || strstr(run.err.message, "tangent"));
    pawl_verifier_destroy(verifier);
    run_end(&run);
  }
}

// Regions that overlap by a thousandth do so in any unit; branches that are apart by 1e-5, too.
static void test_verify(void** unused) {
  (void)unused;
  Case c = {.name = "overlap",
            .text =
                "coordinates: {x: {start: 0.9995*L}, y: }\nmass: {x: M, y: M}\n"
                "constraints: {track: {start: flat, modes: {\n"
                "  flat: {where: x < L, equation: y = 0},\n"
                "  ramp: {where: x > 0.999*L, equation: y = 1e-5*L}}}}\n",
            .method = "event-driven",
            .until = 1,
            .step = 0.1};
  for (int k = 0; k < (int)UNIT_COUNT; k++) {
    PawlVerifier* verifier;
    const int from[] = {0}, to[] = {1};
    Run run = case_in(&c, UNITS[k]);
    run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
    const PawlState* state = pawl_sim_state(run.sim);
    run_need(&run, pawl_verifier_create(run.system, &verifier, &run.err));
    assert_int_equal(pawl_verify_regions(verifier, state, &run.err), PAWL_ERROR_MODEL);
    PawlInstant instant = {.t = 0.0, .contact = -1, .from = from, .to = to, .q = state->q};
    assert_int_equal(pawl_verify_switch(verifier, &instant, &run.err), PAWL_ERROR_MODEL);
    assert_non_null(strstr(run.err.message, "do not meet"));
    pawl_verifier_destroy(verifier);
    run_end(&run);
  }
}

// A box that tumbles to rest on two rough corners: lengths scale, angles do not, and the motions
// are similar. What counts as at rest is judged by the coordinates of a row. (C16)
#define CORNER(i, a, b)                          \
  "  c" #i ": {gap: \"y " #a "*0.3*L*sin(p) " #b \
  "*0.2*L*cos(p)\", restitution: 0.3, "          \
  "friction: 0.4, slip: \"x " #a "*0.3*L*cos(p) - (0 " #b "*0.2*L*sin(p))\"}\n"

static void test_similar_boxes(void** unused) {
  (void)unused;
  static const char text[] =
      "model: box\n"
      "parameters: {L: 1}\n"
      "coordinates: {x: {rate: 1.5*sqrt(L)}, y: {start: 1.1*L}, p: {start: 0.4, rate: "
      "-3/sqrt(L)}}\n"
      "mass: {x: 1, y: 1, p: 0.13*L^2/3}\n"
      "potential: 9.81*y\n"
      "contacts:\n" CORNER(1, +1, +1) CORNER(2, -1, +1) CORNER(3, -1, -1) CORNER(4, +1, -1);
  static const char* const sizes[] = {"L=1", "L=1e-3", "L=1e-6", "L=100"};
  double x = 0.0;
  int events = 0;
  for (int k = 0; k < 4; k++) {
    Run run = {0};
    double L = atof(sizes[k] + 2), T = sqrt(L);
    run_need(&run,
             pawl_model_parse(text, strlen(text), "test.yaml", 1, &sizes[k], &run.model, &run.err));
    run_derive(&run);
    run.def.simulate.method = "event-driven";
    run.def.simulate.smooth = "dopri";
    run.def.simulate.rtol = 1e-11;
    run_to(&run, 3 * T, 2e-3 * T);
    const PawlState* state = pawl_sim_state(run.sim);
    x = k == 0 ? state->q[0] : x;
    events = k == 0 ? run_events(&run) : events;
    assert_true(events > 50);
    assert_int_equal(run_events(&run), events);
    CHECK_NEAR(state->q[0] / L, x, 1e-9);
    check_list("rates at rest", 3, state->v, (double[]){0, 0, 0}, 1e-14);
    check_list("forces at rest", 4, pawl_sim_multipliers(run.sim), (double[]){0, 0, 0, 0}, 1e-9);
    run_end(&run);
  }
}

// A ball that bounces to rest does so in as many hits beside a rotor, however fast that turns and
// however far it has turned.
static void test_ball_beside_rotor(void** unused) {
  (void)unused;
  static const char text[] =
      "model: rotor\n"
      "parameters: {W: 0, P: 0}\n"
      "coordinates: {y: {start: 1e-6}, p: {start: P, rate: W}}\n"
      "mass: {y: 1, p: 1}\n"
      "potential: 9.81*y\n"
      "contacts: {floor: {gap: y, restitution: 0.73}}\n";
  static const char* const rotors[] = {"W=0", "W=1e6", "P=1000"};
  double first = sqrt(2e-6 / 9.81);
  for (int k = 0; k < 3; k++) {
    Run run = {0};
    run_need(&run, pawl_model_parse(text, strlen(text), "test.yaml", 1, &rotors[k], &run.model,
                                    &run.err));
    run_derive(&run);
    run.def.simulate.method = "event-driven";
    run.def.simulate.smooth = "dopri";
    run_to(&run, 0.004, 5e-6);
    assert_int_equal(run_events(&run), 38);
    assert_string_equal(run_event(&run, 37)->to, "rest");
    CHECK_NEAR(run_event(&run, 37)->t, first * 1.73 / 0.27, 1e-13);
    run_end(&run);
  }
}

// ---- piles --------------------------------------------------------------------------------------
// Bodies that hit each other, in metres and kilograms and in others: roundings differ, and no
// decision may hang on them.
static const char PILE[] =
    "model: pile\n"
    "parameters: {L: 1, M: 1, T: 1}\n"
    "mechanism: {gravity: [0, -9.81*L/T^2]}\n"
    "bodies:\n"
    "  ground:\n"
    "    shapes:\n"
    "      base: {plane: {at: [0, 0], normal: [0, 1]}}\n"
    "      left: {plane: {at: [-0.3*L, 0], normal: [1, 0.2]}}\n"
    "      right: {plane: {at: [0.3*L, 0], normal: [-1, 0]}}\n";

// Two boxes of which corners meet corners: contacts that are stated twice, (T34); and one by which
// a gradient has just turned, (N37).
static const char CORNERS[] =
    "  b0: {mass: M, inertia: 1.335e-3*M*L^2, shape: {box: [0.071*L, 0.1*L], round: 0.005*L},\n"
    "    start: {at: [0, 0.05*L]}}\n"
    "  b1: {mass: 1.198*M, inertia: 1.49e-3*M*L^2, shape: {box: [0.071*L, 0.1*L],\n"
    "    round: 0.005*L}, start: {at: [0.078*L, 0.2*L], angle: 0.776},\n"
    "    rate: {velocity: [-0.542*L/T, -0.735*L/T], omega: -9.848/T}}\n";
static const char TURNED[] =
    "  b0: {mass: M, inertia: 1.139e-3*M*L^2, shape: {box: [0.088*L, 0.082*L], round: 0.005*L},\n"
    "    start: {at: [0, 0.041*L]}}\n"
    "  b1: {mass: 1.867*M, inertia: 1.006e-3*M*L^2, shape: {box: [0.088*L, 0.082*L],\n"
    "    round: 0.005*L}, start: {at: [0.097*L, 0.2*L], angle: 1.278},\n"
    "    rate: {velocity: [-0.919*L/T, -0.446*L/T], omega: 4.666/T}}\n";

enum { DISCS = 9, PILE_TEXT = 12000 };

// Discs of which one is hit twice within a step, (N26): mass, radius, place across, velocity.
static void add_discs(char* text) {
  static const double discs[DISCS][5] = {
      {2.6121, 0.0644, 0.0031, -0.3124, -0.5845}, {2.9346, 0.0552, -0.0166, -0.5504, -0.6504},
      {2.9969, 0.0665, 0.0323, -0.1608, -0.2695}, {1.618, 0.0585, -0.0198, -0.1839, -0.2073},
      {1.9065, 0.0598, 0.0522, -0.4032, -0.4881}, {1.0496, 0.0705, 0.0858, 0.0314, -0.2477},
      {2.3918, 0.0794, 0.0435, -0.2054, -0.382},  {2.4431, 0.055, 0.1313, -0.2655, -0.8609},
      {0.875, 0.067, -0.1292, -0.2043, -0.5849}};
  for (int i = 0; i < DISCS; i++) {
    const double* d = discs[i];
    snprintf(text + strlen(text), PILE_TEXT - strlen(text),
             "  b%d: {mass: %g*M, inertia: %.6g*M*L^2, shape: {disc: %g*L}, start: {at: [%g*L, "
             "%g*L]}, rate: {velocity: [%g*L/T, %g*L/T]}}\n",
             i, d[0], d[0] * d[1] * d[1] / 2, d[1], d[2], 0.12 + 0.16 * i, d[3], d[4]);
  }
}

static void add_pairs(char* text, int bodies, double e) {
  static const char* const planes[] = {"base", "left", "right"};
  snprintf(text + strlen(text), PILE_TEXT - strlen(text), "contacts:\n");
  for (int i = 0; i < bodies; i++) {
    for (int k = -3; k < i; k++) {
      char other[24];
      if (k < 0) {
        snprintf(other, sizeof other, "ground.%s", planes[k + 3]);
      } else {
        snprintf(other, sizeof other, "b%d", k);
      }
      snprintf(text + strlen(text), PILE_TEXT - strlen(text),
               "  c%d_%d: {between: [b%d, %s], restitution: %g, friction: 0.4}\n", i, k + 3, i,
               other, e);
    }
  }
}

static void check_pile(const char* text, const char* method, double until) {
  static const struct {
    Units u;
    double tolerance;  // powers of two for mass and time: the same bits, but for denormal ones
  } all[] = {{{1, 1, 1}, 1e-300},        {{1024, 1024, 1}, 1e-9}, {{1e3, 1e3, 1}, 1e-9},
             {{1, 1, 1.0 / 64}, 1e-300}, {{1, 4096, 1}, 1e-300},  {{1, 1, 4096}, 1e-300}};
  double q[3 * DISCS], v[3 * DISCS];
  int events = 0;
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    Run run = {0};
    Units u = all[k].u;
    parse(&run, text, u);
    run.def.simulate.method = method;
    run_to(&run, until * u.T, 1e-3 * u.T);
    const PawlState* state = pawl_sim_state(run.sim);
    for (int j = 0; j < pawl_system_sizes(run.system).v; j++) {
      double unit = j % 3 == 2 ? 1.0 : u.L;
      q[j] = k == 0 ? state->q[j] : q[j];
      v[j] = k == 0 ? state->v[j] : v[j];
      CHECK_NEAR(state->q[j] / unit, q[j], all[k].tolerance);
      CHECK_NEAR(state->v[j] / unit * u.T, v[j], all[k].tolerance);
    }
    events = k == 0 ? run_events(&run) : events;
    assert_int_equal(run_events(&run), events);
    run_end(&run);
  }
}

static void test_piles(void** unused) {
  (void)unused;
  static const char* const methods[] = {"moreau-jean", "nsga-pvv", "nsga-pva"};
  for (int k = 0; k < 3; k++) {
    char text[PILE_TEXT];
    for (int i = 0; i < 2; i++) {
      snprintf(text, sizeof text, "%s%s", PILE, i ? TURNED : CORNERS);
      add_pairs(text, 2, 0.3);
      check_pile(text, methods[k], 0.25);
    }
    snprintf(text, sizeof text, "%s", PILE);
    add_discs(text);
    add_pairs(text, DISCS, 0.6);
    check_pile(text, methods[k], 0.34);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_contacts),
      cmocka_unit_test(test_contacts_at_the_start),
      cmocka_unit_test(test_short_times),
      cmocka_unit_test(test_regions),
      cmocka_unit_test(test_chains),
      cmocka_unit_test(test_drift),
      cmocka_unit_test(test_keep),
      cmocka_unit_test(test_keep_small_rows),
      cmocka_unit_test(test_verify_redundant),
      cmocka_unit_test(test_verify),
      cmocka_unit_test(test_similar_boxes),
      cmocka_unit_test(test_ball_beside_rotor),
      cmocka_unit_test(test_piles),
  };
  return cmocka_run_group_tests_name("units of contacts", tests, NULL, NULL);
}
