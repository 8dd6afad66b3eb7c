// SPDX-License-Identifier: Apache-2.0
// The jump as a function from a state and the modes that follow to the state after, recomputed
// from M, G and g_t at its place: momentum, rates, energy and its parts, what stays free; the laws;
// rows that depend on each other or contradict; joints that cannot take an impulse.
#include "switch/instant.h"

// Two links, with a full mass matrix that depends on q2; the shoulder may move with time.
static const char ARM[] =
    "model: arm\nparameters: {m: 108, J: 9.36, L: 1, g: 9.81}\n"
    "coordinates: {q1: {start: 0.4, rate: 1.5}, q2: {start: 0.9, rate: -2}, q3: {rate: 3}}\n"
    "define:\n  x1: L/2*cos(q1)\n  y1: L/2*sin(q1)\n"
    "  x2: L*cos(q1) + L/2*cos(q1 + q2)\n  y2: L*sin(q1) + L/2*sin(q1 + q2)\n"
    "  x3: L*cos(q1) + L*cos(q1 + q2) + L/2*cos(q1 + q2 + q3)\n"
    "  y3: L*sin(q1) + L*sin(q1 + q2) + L/2*sin(q1 + q2 + q3)\n"
    "kinetic:\n  - m/2*(x1'^2 + y1'^2 + x2'^2 + y2'^2 + x3'^2 + y3'^2)\n"
    "  - J/2*(q1'^2 + (q1' + q2')^2 + (q1' + q2' + q3')^2)\n"
    "potential: m*g*(y1 + y2 + y3)\n"
    "locks:\n  elbow: {lock: q2, at: 1}\n  wrist: {lock: q3, at: 2}\n"
    "  driven: {lock: q1 + q2^2 - 0.7*t, at: 3}\n  tip: {lock: y3, at: 4}\n";

static void make_arm(Instant* i, const char* transition) {
  char text[1600];
  snprintf(text, sizeof text, "%ssimulate: {until: 1, transition: %s}\n", ARM, transition);
  instant_make(i, text, "model");
}

// ---- the law post -------------------------------------------------------------------------------
// Momentum along the joints that stay free does not change: rows of M (v+ - v-) are zero there.
static void check_free(Instant* i, int joint) {
  const PawlInstant* e = instant_last(i);
  Dense d = instant_dense(i, i->state);
  double before = along(3, d.M[joint], e->v_before), after = along(3, d.M[joint], e->v_after);
  CHECK_NEAR(after, before, 1e-11);
}

static void test_post(void** unused) {
  (void)unused;
  static const char* const forms[] = {"full", "projected", "minimal"};
  for (int k = 0; k < 3; k++) {
    Instant i;
    make_arm(&i, forms[k]);
    MUST(instant_jump(&i, "elbow", PAWL_MODE_HELD), &i);
    check_jump(&i, 1e-10);
    check_free(&i, 0);
    check_free(&i, 2);
    check_accelerations(&i, 1e-9);
    CHECK_NEAR(i.state->v[1], 0, 1e-15);
    assert_true(instant_last(&i)->energy_lost > 1);
    MUST(instant_jump(&i, "wrist", PAWL_MODE_HELD), &i);
    check_jump(&i, 1e-10);
    check_free(&i, 0);
    check_accelerations(&i, 1e-9);
    instant_end(&i);
  }
}

// A row that moves with time, G v+ = -g_t, and a row of all coordinates; two at one instant.
static void test_moving_rows(void** unused) {
  (void)unused;
  Instant i;
  make_arm(&i, "full");
  MUST(instant_jump(&i, "driven", PAWL_MODE_HELD), &i);
  check_jump(&i, 1e-10);
  CHECK_NEAR(i.state->v[0] + 1.8 * i.state->v[1], 0.7, 1e-14);
  instant_keep_modes(&i);
  instant_ask(&i, "tip", PAWL_MODE_HELD);
  instant_ask(&i, "elbow", PAWL_MODE_HELD);
  MUST(pawl_jump(&i.jump, i.state, i.next, &i.err), &i);
  check_jump(&i, 1e-9);
  check_accelerations(&i, 1e-8);
  instant_end(&i);
}

// What lets go changes no velocity and takes no impulse; one jump may do both.
static void test_release(void** unused) {
  (void)unused;
  Instant i;
  make_arm(&i, "full");
  MUST(instant_jump(&i, "elbow", PAWL_MODE_HELD), &i);
  double v[3];
  memcpy(v, i.state->v, sizeof v);
  MUST(instant_jump(&i, "elbow", PAWL_MODE_FREE), &i);
  assert_memory_equal(i.state->v, v, sizeof v);
  CHECK_NEAR(instant_last(&i)->impulse[0], 0, 0);
  CHECK_NEAR(instant_last(&i)->energy_lost, 0, 1e-11);
  CHECK_NEAR(i.state->lambda[0], 0, 0);
  check_accelerations(&i, 1e-9);
  MUST(instant_jump(&i, "elbow", PAWL_MODE_HELD), &i);
  instant_keep_modes(&i);
  instant_ask(&i, "elbow", PAWL_MODE_FREE);
  instant_ask(&i, "wrist", PAWL_MODE_HELD);
  MUST(pawl_jump(&i.jump, i.state, i.next, &i.err), &i);
  check_jump(&i, 1e-10);
  CHECK_NEAR(instant_last(&i)->impulse[0], 0, 0);  // the elbow holds no more
  check_free(&i, 0);
  check_free(&i, 1);
  instant_end(&i);
}

// The work of a snap is in the loss of the whole instant, beside the parts of the rows.
static void test_energy_of_a_snap(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i,
               "model: lift\ncoordinates: {x: {rate: 2}}\nmass: {x: 3}\npotential: 5*x\n"
               "locks: {l: {lock: x, at: 1, on: snap, to: 0.5}}\nsimulate: {until: 1}\n",
               "model");
  MUST(instant_jump(&i, "l", PAWL_MODE_HELD), &i);
  CHECK_NEAR(instant_last(&i)->energy_lost, 6 - 2.5, 1e-13);
  CHECK_NEAR(instant_last(&i)->loss[0], 6, 1e-13);
  instant_end(&i);
}

// ---- other laws ---------------------------------------------------------------------------------
static const char TRACK[] =
    "model: track\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\n"
    "constraints: {track: {modes: {flat: {where: x < 3, equation: y = 0},\n"
    "                              ramp: {where: x > 3, equation: y = %s}}}}\n"
    "simulate: {until: 1}\n";

static void make_track(Instant* i, const char* ramp, const char* impact) {
  char text[512];
  snprintf(text, sizeof text, TRACK, ramp);
  instant_make(i, text, impact);
  instant_place(i, 3, (double[]){3, 0}, (double[]){1, 0});
}

// g = y - (x - 3): post (1, 1)/2; pre keeps x' = 1, and gains; half way keeps the energy.
static void test_laws(void** unused) {
  (void)unused;
  static const struct {
    const char* impact;
    double speed, lost;
  } cases[] = {{"post", 0.5, 0.25},
               {"1", 0.5, 0.25},
               {"pre", 1, -0.5},
               {"bisector", 0.70710678118654752, 0},
               {"0.9", 0.5364221182029747, 0.2122513111026338}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Instant i;
    make_track(&i, "x - 3", cases[k].impact);
    MUST(instant_jump(&i, "track", 1), &i);
    CHECK_NEAR(i.state->v[0], cases[k].speed, 1e-14);
    CHECK_NEAR(i.state->v[1], cases[k].speed, 1e-14);
    CHECK_NEAR(instant_last(&i)->energy_lost, cases[k].lost, 1e-14);
    check_accelerations(&i, 1e-14);
    instant_end(&i);
  }
}

// `none`: the least change of the velocities, whatever the masses.                          (V5)
static void test_none(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i,
               "model: train\ncoordinates: {x: {rate: 3}, y: {rate: 1}, z: {rate: -2}}\n"
               "mass: {x: 2, y: 1, z: 3}\n"
               "locks: {a: {lock: x - y, at: 1}, b: {lock: y - z, at: 1, impact: none}}\n"
               "simulate: {until: 1}\n",
               "none");
  instant_keep_modes(&i);
  instant_ask(&i, "a", PAWL_MODE_HELD);
  instant_ask(&i, "b", PAWL_MODE_HELD);
  MUST(pawl_jump(&i.jump, i.state, i.next, &i.err), &i);
  for (int k = 0; k < 3; k++) {
    CHECK_NEAR(i.state->v[k], 2.0 / 3, 1e-15);
  }
  CHECK_NEAR(instant_last(&i)->impulse[0], 0, 0);
  CHECK_NEAR(instant_last(&i)->energy_lost, (18 + 1 + 12 - 6 * 4.0 / 9) / 2, 1e-14);
  instant_end(&i);
}

static void check_fails(Instant* i, PawlStatus status, const char* first, const char* second) {
  assert_int_equal(status, PAWL_ERROR_RUN);
  if (!strstr(i->err.message, first) || !strstr(i->err.message, second)) {
    fail_msg("%s", i->err.message);
  }
  instant_end(i);
}

static void test_laws_that_fail(void** unused) {
  (void)unused;
  Instant i;
  make_track(&i, "x - 3", "none");
  assert_int_equal(instant_jump(&i, "track", 1), PAWL_ERROR_USAGE);
  assert_non_null(strstr(i.err.message, "'track'"));
  instant_end(&i);
  make_track(&i, "x - 2.9", "post");  // the branches are 0.1 apart
  check_fails(&i, instant_jump(&i, "track", 1), "'track'", "do not meet");
  instant_make(&i,
               "model: two\ncoordinates: {x: {rate: 1}, y: {rate: 1}}\nmass: {x: 1, y: 1}\n"
               "locks: {a: {lock: x, at: 1}, b: {lock: y, at: 1, impact: none}}\n"
               "simulate: {until: 1}\n",
               "model");
  instant_keep_modes(&i);
  instant_ask(&i, "a", PAWL_MODE_HELD);
  instant_ask(&i, "b", PAWL_MODE_HELD);
  check_fails(&i, pawl_jump(&i.jump, i.state, i.next, &i.err), "'a' and 'b'", "different impact");
}

// The new gradient alone sends the point back: the velocity after has x' < 0 in the region x > 3.
static void test_leads_back(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i,
               "model: back\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\n"
               "constraints: {track: {modes: {flat: {where: x < 3, equation: y = 0},\n"
               "   ramp: {where: x > 3, equation: x + y = 3 - 4*(t - 3)}}}}\n"
               "simulate: {until: 1}\n",
               "post");
  instant_place(&i, 3, (double[]){3, 0}, (double[]){1, 0});
  check_fails(&i, instant_jump(&i, "track", 1), "'track'", "leads back");
}

// ---- rows that depend on each other -------------------------------------------------------------
// x - y three times, once doubled: the jump is that of one; impulses are the least, in proportion
// to the rows, r_i = c_i/(1 + 1 + 4) of the impulse -1.5.
static void test_redundant(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i,
               "model: thrice\ncoordinates: {x: {rate: 2}, y: }\nmass: {x: 1, y: 3}\n"
               "locks: {a: {lock: x - y, at: 1}, b: {lock: x - y, at: 1},\n"
               "        c: {lock: 2*(x - y), at: 1}}\nsimulate: {until: 1}\n",
               "model");
  instant_keep_modes(&i);
  for (int c = 0; c < 3; c++) {
    i.next[c] = PAWL_MODE_HELD;
  }
  MUST(pawl_jump(&i.jump, i.state, i.next, &i.err), &i);
  check_jump(&i, 1e-14);
  assert_int_equal(i.state->redundant_count, 2);
  assert_int_equal(i.dynamics.info.redundant_rows, 2);
  for (int r = 0; r < 3; r++) {
    CHECK_NEAR(instant_last(&i)->impulse[r], -1.5 * (r == 2 ? 2 : 1) / 6, 1e-14);
  }
  assert_non_null(strstr(i.dynamics.warning, "redundant constraints"));
  MUST(instant_jump(&i, "c", PAWL_MODE_FREE), &i);
  assert_int_equal(i.state->redundant_count, 1);
  instant_end(&i);
}

static void test_contradictions(void** unused) {
  (void)unused;
  Instant i;
  static const char* const texts[] = {
      "locks: {a: {lock: x, at: 1}, b: {lock: x - 3*t, at: 1}}",
      "locks: {a: {lock: x - t, at: 1}, b: {lock: x - t - 3*t^2, at: 1}}"};
  static const char* const why[] = {"no velocities satisfy", "no accelerations satisfy"};
  for (int k = 0; k < 2; k++) {
    char text[256];
    snprintf(text, sizeof text,
             "model: no\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n%s\nsimulate: {until: 1}\n",
             texts[k]);
    instant_make(&i, text, "model");
    instant_keep_modes(&i);
    i.next[0] = i.next[1] = PAWL_MODE_HELD;
    check_fails(&i, pawl_jump(&i.jump, i.state, i.next, &i.err), "'", why[k]);
  }
}

// ---- joints with a capacity ---------------------------------------------------------------------
// A finite force takes no impulse: the wall stops x, y slides on. Both ways.
static void test_joints_take_no_impulse(void** unused) {
  (void)unused;
  for (int way = -1; way <= 1; way += 2) {
    char text[256];
    Instant i;
    snprintf(text, sizeof text,
             "model: shock\ncoordinates: {x: {rate: %d}, y: {rate: %d}}\nmass: {x: 1, y: 1}\n"
             "locks: {joint: {lock: y - x, engaged: true, capacity: 4, friction: 3},\n"
             "        wall: {lock: x, at: 0.5}}\nsimulate: {until: 1}\n",
             3 * way, 3 * way);
    instant_make(&i, text, "model");
    assert_int_equal(instant_mode(&i, "joint"), PAWL_MODE_HELD);
    MUST(instant_jump(&i, "wall", PAWL_MODE_HELD), &i);
    assert_int_equal(instant_mode(&i, "joint"), way > 0 ? PAWL_MODE_UP : PAWL_MODE_DOWN);
    CHECK_NEAR(i.state->v[0], 0, 1e-15);
    CHECK_NEAR(i.state->v[1], 3 * way, 1e-15);
    CHECK_NEAR(i.state->a[1], -3 * way, 1e-14);
    CHECK_NEAR(instant_last(&i)->impulse[0], 0, 0);
    CHECK_NEAR(instant_last(&i)->impulse[1], -3 * way, 1e-14);
    CHECK_NEAR(instant_last(&i)->energy_lost, 4.5, 1e-13);
    check_accelerations(&i, 1e-14);
    instant_end(&i);
  }
}

// ---- memory of an instant -----------------------------------------------------------------------
// A change between free and not free starts the clock of this constraint; its conditions have no
// side but the one they get just after.
static void test_clocks(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i,
               "model: clock\ncoordinates: {x: {start: -1, rate: 1}, y: {rate: 1}}\n"
               "mass: {x: 1, y: 1}\n"
               "locks: {a: {lock: y, when: x, release: {when: x - 1}}, b: {lock: x + y, at: 7}}\n"
               "simulate: {until: 1}\n",
               "model");
  instant_place(&i, 1, (double[]){1e-10, 1}, (double[]){1, 1});
  MUST(instant_jump(&i, "a", PAWL_MODE_HELD), &i);
  CHECK_NEAR(i.state->since[0], 1, 0);
  CHECK_NEAR(i.state->since[1], 0, 0);
  for (int k = 0; k < i.guards.condition_count; k++) {
    bool release = i.guards.all[k].then == PAWL_THEN_RELEASE;
    assert_int_equal(i.state->sides[k], release ? -1 : 0);
  }
  i.state->t = 1.5;
  MUST(instant_jump(&i, "b", PAWL_MODE_HELD), &i);
  CHECK_NEAR(i.state->since[0], 1, 0);
  CHECK_NEAR(i.state->since[1], 1.5, 0);
  instant_end(&i);
}

// Nothing changes: nothing is logged, the state is the same.
static void test_no_change(void** unused) {
  (void)unused;
  Instant i;
  make_arm(&i, "full");
  double v[3], a[3];
  memcpy(v, i.state->v, sizeof v);
  memcpy(a, i.state->a, sizeof a);
  instant_keep_modes(&i);
  MUST(pawl_jump(&i.jump, i.state, i.next, &i.err), &i);
  assert_int_equal(i.log.count, 0);
  assert_memory_equal(i.state->v, v, sizeof v);
  assert_memory_equal(i.state->a, a, sizeof a);
  instant_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_post),
      cmocka_unit_test(test_moving_rows),
      cmocka_unit_test(test_release),
      cmocka_unit_test(test_energy_of_a_snap),
      cmocka_unit_test(test_laws),
      cmocka_unit_test(test_none),
      cmocka_unit_test(test_laws_that_fail),
      cmocka_unit_test(test_leads_back),
      cmocka_unit_test(test_redundant),
      cmocka_unit_test(test_contradictions),
      cmocka_unit_test(test_joints_take_no_impulse),
      cmocka_unit_test(test_clocks),
      cmocka_unit_test(test_no_change),
  };
  return cmocka_run_group_tests_name("jump", tests, NULL, NULL);
}
