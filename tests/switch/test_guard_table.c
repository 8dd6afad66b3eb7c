// SPDX-License-Identifier: Apache-2.0
// The table of guards: what a model makes of it, margins at states worked out by hand, what fires
// at times, durations and ties, and the sides of conditions.
#include "switch/instant.h"

static const char EVERYTHING[] =
    "model: everything\n"
    "coordinates: {x: {rate: 1}, y: {start: 2}, z: , w: }\n"
    "mass: {x: 1, y: 2, z: 1, w: 1}\n"
    "constraints:\n"
    "  track: {modes: {flat: {where: x < 3, equation: z = 0},\n"
    "                  ramp: {where: x > 3, equation: z = x - 3}}}\n"
    "  screw: w = wrap(x, 5)/2 - x/2\n"
    "locks:\n"
    "  timed: {lock: y, at: [0.5, 1.5], for: 0.25}\n"
    "  latch: {lock: x - y, when: x - 1, direction: up, after: 0.1,\n"
    "          release: {when: lambda(latch) - 2, direction: down, after: 0.2, at: 3}}\n"
    "  soft: {lock: x + y, at: 2, smooth: true}\n"
    "  brake: {lock: y, capacity: 4, friction: 3, at: 1}\n"
    "events:\n"
    "  bell: {when: x' - 0.5, direction: down, after: 0.3}\n"
    "  gong: {at: [1, 2]}\n"
    "simulate: {until: 1}\n";

typedef struct Line {
  PawlGuarded what;
  PawlGuardThen then;
  const char* of;  // constraint or event
  int from, direction;
  double dwell;
  bool reacts;
} Line;

// In the order of the header: conditions, rates and capacities, then clocks, then regions.
static const Line TABLE[] = {
    {PAWL_GUARD_CONDITION, PAWL_THEN_RELEASE, "latch", PAWL_FROM_ENGAGED, -1, 0.2, true},
    {PAWL_GUARD_CONDITION, PAWL_THEN_ENGAGE, "latch", PAWL_MODE_FREE, 1, 0.1, false},
    {PAWL_GUARD_RATE, PAWL_THEN_SETTLE, "soft", PAWL_MODE_WAITING, 0, 0, false},
    {PAWL_GUARD_RATE, PAWL_THEN_SETTLE, "brake", PAWL_FROM_SLIDING, 0, 0, false},
    {PAWL_GUARD_CAPACITY, PAWL_THEN_SETTLE, "brake", PAWL_MODE_HELD, 0, 0, true},
    {PAWL_GUARD_CONDITION, PAWL_THEN_EVENT, "bell", PAWL_FROM_ANY, -1, 0.3, false},
    {PAWL_GUARD_DURATION, PAWL_THEN_RELEASE, "timed", PAWL_FROM_BOUND, 0, 0.25, false},
    {PAWL_GUARD_TIMES, PAWL_THEN_ENGAGE, "timed", PAWL_FROM_ANY, 0, 0, false},
    {PAWL_GUARD_TIMES, PAWL_THEN_RELEASE, "latch", PAWL_FROM_ANY, 0, 0, false},
    {PAWL_GUARD_TIMES, PAWL_THEN_ENGAGE, "soft", PAWL_FROM_ANY, 0, 0, false},
    {PAWL_GUARD_TIMES, PAWL_THEN_ENGAGE, "brake", PAWL_FROM_ANY, 0, 0, false},
    {PAWL_GUARD_TIMES, PAWL_THEN_EVENT, "gong", PAWL_FROM_ANY, 0, 0, false},
    {PAWL_GUARD_REGION, PAWL_THEN_MOVE, "track", 0, 0, 0, false},
    {PAWL_GUARD_REGION, PAWL_THEN_MOVE, "track", 1, 0, 0, false},
    {PAWL_GUARD_TURN, PAWL_THEN_MOVE, "screw", PAWL_FROM_ANY, 0, 0, false},
};
enum { LINES = sizeof TABLE / sizeof *TABLE, CONDITIONS = 6, CLOCKS = 6 };

static const char* name_of(const Instant* i, const PawlGuard* guard) {
  return guard->then == PAWL_THEN_EVENT ? i->model->events[guard->of].name
                                        : i->system->constraints[guard->of].name;
}

static void test_table(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i, EVERYTHING, "model");
  assert_int_equal(i.guards.count, LINES);
  assert_int_equal(i.guards.condition_count, CONDITIONS);
  assert_int_equal(i.guards.clock_count, CLOCKS);
  for (int k = 0; k < LINES; k++) {
    const PawlGuard* g = &i.guards.all[k];
    assert_int_equal(g->what, TABLE[k].what);
    assert_int_equal(g->then, TABLE[k].then);
    assert_string_equal(name_of(&i, g), TABLE[k].of);
    assert_int_equal(g->from, TABLE[k].from);
    assert_int_equal(g->direction, TABLE[k].direction);
    CHECK_NEAR(g->dwell, TABLE[k].dwell, 0);
    assert_int_equal(g->reacts, TABLE[k].reacts);
    bool clock = g->what == PAWL_GUARD_TIMES || g->what == PAWL_GUARD_DURATION;
    assert_int_equal(g->at < 0, clock);
    assert_int_equal(g->times != NULL, g->what == PAWL_GUARD_TIMES);
  }
  instant_end(&i);
}

// The place of a guard in the table.
static int find(const Instant* i, const char* of, PawlGuarded what, PawlGuardThen then) {
  for (int k = 0; k < i->guards.count; k++) {
    const PawlGuard* g = &i->guards.all[k];
    if (g->what == what && g->then == then && strcmp(name_of(i, g), of) == 0) {
      return k;
    }
  }
  fail_msg("no guard of '%s'", of);
  return -1;
}

// The margin of a guard, which must be armed.
static double margin_of(const Instant* i, int k) {
  for (int a = 0; a < i->guards.armed_count; a++) {
    if (i->guards.armed[a] == k) {
      return i->guards.margins[a];
    }
  }
  fail_msg("guard %d is not armed", k);
  return NAN;
}

static bool is_armed(const Instant* i, int k) {
  bool armed = false;
  for (int a = 0; a < i->guards.armed_count; a++) {
    armed |= i->guards.armed[a] == k;
  }
  return armed;
}

static PawlMargin look(Instant* i) {
  PawlMargin margin;
  (void)pawl_guards_arm(&i->guards, i->state, 0);
  MUST(pawl_guards_margins(&i->guards, i->state, &margin, &i->err), i);
  return margin;
}

// ---- margins ------------------------------------------------------------------------------------
// x = 0.25, x' = 0.75 in the flat: latch has the side of x - 1 = -1 (from the start), bell that of
// 1 - 0.5; regions: 3 - 0.25, and (V6) adds rounding of the largest value.
static void test_margins(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i, EVERYTHING, "model");
  int latch = find(&i, "latch", PAWL_GUARD_CONDITION, PAWL_THEN_ENGAGE);
  int bell = find(&i, "bell", PAWL_GUARD_CONDITION, PAWL_THEN_EVENT);
  instant_place(&i, 0.2, (double[]){0.25, 2, 0, 0}, (double[]){0.75, 0, 0, 0});
  PawlMargin margin = look(&i);
  CHECK_NEAR(margin_of(&i, latch), 0.75 + PAWL_ROUNDING, 1e-17);
  assert_false(is_armed(&i, bell));             // 0.3 s have not passed
  CHECK_NEAR(margin.regions, 0.25 / 5, 1e-15);  // of the turn, in periods
  CHECK_NEAR(margin.least, margin.regions, 0);
  assert_string_equal(i.system->constraints[margin.constraint].name, "screw");
  i.state->t = 0.3;
  margin = look(&i);
  CHECK_NEAR(margin_of(&i, bell), 0.25 + 0.5 * PAWL_ROUNDING, 1e-17);
  instant_place(&i, 0.3, (double[]){1.25, 2, 0, 0}, (double[]){0.5, 0, 0, 0});
  margin = look(&i);
  CHECK_NEAR(margin_of(&i, latch), -0.25 + PAWL_ROUNDING, 1e-17);
  CHECK_NEAR(margin_of(&i, bell), 0.5 * PAWL_ROUNDING, 0);  // zero to rounding: not yet across
  instant_end(&i);
}

// A condition that already has the side its direction asks for has no margin.
static void test_direction(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i,
               "model: ways\ncoordinates: {x: {start: 1, rate: -1}}\nmass: {x: 1}\nevents:\n"
               "  up: {when: x, direction: up}\n  down: {when: x, direction: down}\n"
               "  both: {when: x}\nsimulate: {until: 1}\n",
               "model");
  (void)look(&i);
  assert_true(isinf(margin_of(&i, find(&i, "up", PAWL_GUARD_CONDITION, PAWL_THEN_EVENT))));
  CHECK_NEAR(margin_of(&i, find(&i, "down", PAWL_GUARD_CONDITION, PAWL_THEN_EVENT)), 1, 1e-13);
  CHECK_NEAR(margin_of(&i, find(&i, "both", PAWL_GUARD_CONDITION, PAWL_THEN_EVENT)), 1, 1e-13);
  instant_end(&i);
}

static const char BRAKE[] =
    "model: brake\ncoordinates: {x: }\nmass: {x: 2}\nforces: {x: 3}\n"
    "locks: {brake: {lock: x, engaged: true, capacity: 4, friction: 3}}\nsimulate: {until: 1}\n";

// Held by -3 of 4; sliding it is watched by its rate, up or down.
static void test_margins_of_a_brake(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i, BRAKE, "model");
  int bound = find(&i, "brake", PAWL_GUARD_CAPACITY, PAWL_THEN_SETTLE);
  int rate = find(&i, "brake", PAWL_GUARD_RATE, PAWL_THEN_SETTLE);
  (void)look(&i);
  CHECK_NEAR(i.state->lambda[0], -3, 1e-15);
  CHECK_NEAR(margin_of(&i, bound), 1, 1e-9);
  assert_false(is_armed(&i, rate));
  i.state->lambda[0] = 4 * (1 + 0.5 * PAWL_CAPACITY_SLACK);  // within the slack
  (void)look(&i);
  assert_true(margin_of(&i, bound) > 0);
  i.state->lambda[0] = -4 * (1 + 2 * PAWL_CAPACITY_SLACK);
  (void)look(&i);
  assert_true(margin_of(&i, bound) < 0);
  for (int mode = PAWL_MODE_UP; mode <= PAWL_MODE_DOWN; mode++) {
    i.state->modes[0] = mode;
    i.state->v[0] = 0.5;
    (void)look(&i);
    assert_false(is_armed(&i, bound));
    CHECK_NEAR(margin_of(&i, rate), mode == PAWL_MODE_UP ? 0.5 : -0.5, 1e-15);
  }
  i.guards.loosened[0] = 1;  // slides to the end of the step
  (void)look(&i);
  assert_true(isinf(margin_of(&i, rate)));
  instant_end(&i);
}

// ---- times --------------------------------------------------------------------------------------
static void test_times(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i,
               "model: clocks\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n"
               "locks: {hold: {lock: x, at: [0.5, 0.75], for: 0.25}}\n"
               "events: {tick: {at: [0.5, 0.5000001, 0.9]}}\nsimulate: {until: 1}\n",
               "model");
  PawlFired fired;
  CHECK_NEAR(pawl_guards_next(&i.guards, i.state, 1e-12), 0.5, 0);
  i.state->t = 0.4;
  fired = instant_fire(&i, 1e-12);
  assert_false(fired.changed);
  i.state->t = 0.5 - 1e-13;  // within the slack: the time itself is taken
  fired = instant_fire(&i, 1e-12);
  assert_true(fired.changed);
  assert_false(fired.stop);
  CHECK_NEAR(i.state->t, 0.5, 0);
  assert_int_equal(i.next[0], PAWL_MODE_HELD);
  assert_int_equal(i.log.count, 1);  // the event
  assert_int_equal(i.log.instants[0]->event, 0);
  MUST(pawl_jump(&i.jump, i.state, i.next, &i.err), &i);
  CHECK_NEAR(i.state->since[0], 0.5, 0);
  CHECK_NEAR(pawl_guards_next(&i.guards, i.state, 1e-12), 0.5000001, 0);
  i.state->t = 0.5000001;
  assert_false(instant_fire(&i, 1e-12).changed);
  CHECK_NEAR(pawl_guards_next(&i.guards, i.state, 1e-12), 0.75, 0);
  i.state->t = 0.75;  // lets go by `for`, engages by `at`: held anew from now on
  fired = instant_fire(&i, 1e-12);
  assert_false(fired.changed);
  assert_int_equal(i.next[0], PAWL_MODE_HELD);
  CHECK_NEAR(i.state->t, 0.75, 0);
  CHECK_NEAR(i.state->since[0], 0.75, 0);
  CHECK_NEAR(pawl_guards_next(&i.guards, i.state, 1e-12), 0.9, 0);
  i.state->t = 0.9;
  (void)instant_fire(&i, 1e-12);
  CHECK_NEAR(pawl_guards_next(&i.guards, i.state, 1e-12), 1.0, 0);
  i.state->t = 1.0;
  fired = instant_fire(&i, 1e-12);
  assert_true(fired.changed);
  assert_int_equal(i.next[0], PAWL_MODE_FREE);
  MUST(pawl_jump(&i.jump, i.state, i.next, &i.err), &i);
  assert_true(isinf(pawl_guards_next(&i.guards, i.state, 1e-12)));
  instant_end(&i);
}

// `after` is a time at which a step must end, and before which a condition is not armed.
static void test_dwell(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i,
               "model: dwell\ncoordinates: {x: {start: -1, rate: 1}}\nmass: {x: 1}\n"
               "events: {e: {when: x, after: 0.3}}\nsimulate: {until: 1}\n",
               "model");
  CHECK_NEAR(pawl_guards_next(&i.guards, i.state, 0), 0.3, 0);
  assert_int_equal(pawl_guards_arm(&i.guards, i.state, 0), 0);
  assert_int_equal(i.guards.sided_count, 1);  // its side is noted all the same
  i.state->t = 0.3;
  assert_true(isinf(pawl_guards_next(&i.guards, i.state, 0)));
  assert_int_equal(pawl_guards_arm(&i.guards, i.state, 0), 1);
  i.state->q[0] = 0.1;
  (void)instant_fire(&i, 0);
  assert_int_equal(i.log.count, 1);
  CHECK_NEAR(i.state->since[i.system->constraint_count], 0.3, 0);
  assert_int_equal(i.state->sides[0], 1);
  CHECK_NEAR(pawl_guards_next(&i.guards, i.state, 0), 0.6, 1e-15);
  instant_end(&i);
}

// ---- ties ---------------------------------------------------------------------------------------
// Two conditions come to zero together to rounding: both fire. One that rests at zero does not.
static void test_ties(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i,
               "model: ties\ncoordinates: {x: {start: -1, rate: 1}, y: {start: -3, rate: 3}, z: }\n"
               "mass: {x: 1, y: 1, z: 1}\n"
               "events: {a: {when: x}, b: {when: y/3}, c: {when: z}}\nsimulate: {until: 2}\n",
               "model");
  PawlMargin margin;
  PawlFired fired;
  (void)pawl_guards_arm(&i.guards, i.state, 0);
  MUST(pawl_guards_margins(&i.guards, i.state, &margin, &i.err), &i);
  pawl_guards_keep_margins(&i.guards);  // of the beginning of the piece
  instant_place(&i, 1, (double[]){1e-9, -3e-13, 0}, (double[]){1, 3, 0});
  MUST(pawl_guards_margins(&i.guards, i.state, &margin, &i.err), &i);
  MUST(pawl_guards_fire(&i.guards, i.state, 0, true, i.next, &i.log, &fired, &i.err), &i);
  assert_int_equal(i.log.count, 2);
  assert_int_equal(i.log.instants[0]->event, 0);
  assert_int_equal(i.log.instants[1]->event, 1);
  assert_int_equal(i.state->sides[1], 0);  // until it is across, so that no jump fires it again
  assert_int_equal(i.state->sides[2], 0);
  i.state->sides[1] = -1;
  i.log.count = 0;
  i.state->q[1] = -3e-10;  // farther than rounding: its own instant is still to come
  MUST(pawl_guards_margins(&i.guards, i.state, &margin, &i.err), &i);
  MUST(pawl_guards_fire(&i.guards, i.state, 0, true, i.next, &i.log, &fired, &i.err), &i);
  assert_int_equal(i.log.count, 0);  // and nothing is below zero now
  instant_end(&i);
}

static void test_stop(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i,
               "model: stop\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\n"
               "events: {e: {when: x, stop: true}}\nsimulate: {until: 2}\n",
               "model");
  assert_false(instant_fire(&i, 0).stop);
  i.state->q[0] = -1;
  PawlFired fired = instant_fire(&i, 0);
  assert_true(fired.stop);
  assert_false(fired.changed);
  instant_end(&i);
}

// ---- sides --------------------------------------------------------------------------------------
// A condition that begins at zero has no side until it has left it by more than rounding.
static void test_no_side_at_zero(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i,
               "model: zero\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n"
               "events: {e: {when: x}}\nsimulate: {until: 2}\n",
               "model");
  assert_int_equal(i.state->sides[0], 0);
  assert_true(isinf(look(&i).least));
  i.state->largest[0] = 1;
  i.state->q[0] = 0.5 * PAWL_NO_SIDE;
  MUST(pawl_guards_note(&i.guards, i.state, false, &i.err), &i);
  assert_int_equal(i.state->sides[0], 0);
  i.state->q[0] = 2 * PAWL_NO_SIDE;
  MUST(pawl_guards_note(&i.guards, i.state, false, &i.err), &i);
  assert_int_equal(i.state->sides[0], 1);
  i.state->q[0] = -3;
  MUST(pawl_guards_note(&i.guards, i.state, false, &i.err), &i);
  assert_int_equal(i.state->sides[0], -1);
  CHECK_NEAR(i.state->largest[0], 3, 0);
  instant_end(&i);
}

// A blurred condition gets its side beyond the blur only.
static void test_blur(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i,
               "model: blur\ncoordinates: {x: {start: 1}, y: {start: 2, rate: 1}}\n"
               "mass: {x: 1, y: 1}\nlocks: {hold: {lock: x, at: 0.1, for: 1}}\n"
               "events: {e: {when: x'}}\nsimulate: {until: 2}\n",
               "model");
  i.state->t = 0.1;
  MUST(instant_jump(&i, "hold", PAWL_MODE_HELD), &i);
  assert_int_equal(i.state->sides[0], PAWL_SIDE_PINNED);
  assert_true(isinf(look(&i).least));
  i.state->v[0] = -1e-9;  // the drift that a method allows
  MUST(pawl_guards_note(&i.guards, i.state, false, &i.err), &i);
  assert_int_equal(i.state->sides[0], PAWL_SIDE_PINNED);
  MUST(instant_jump(&i, "hold", PAWL_MODE_FREE), &i);
  assert_int_equal(i.state->sides[0], 0);
  CHECK_NEAR(i.state->blur[0], 1e-8, 1e-20);
  i.state->v[0] = 0.9e-8;
  MUST(pawl_guards_note(&i.guards, i.state, false, &i.err), &i);
  assert_int_equal(i.state->sides[0], 0);
  i.state->v[0] = 1.1e-8;
  MUST(pawl_guards_note(&i.guards, i.state, false, &i.err), &i);
  assert_int_equal(i.state->sides[0], 1);
  instant_end(&i);
}

// ---- a jump that carries a condition across zero ------------------------------------------------
// The hook turns x' from -1 to 2: the event on x' is across at that same instant, and only there.
static void test_carried_across(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i,
               "model: across\ncoordinates: {x: {rate: -1}, y: {rate: 5}}\nmass: {x: 1, y: 1}\n"
               "locks: {hook: {lock: x - y, at: 0.5}}\n"
               "events: {e: {when: x'}, f: {when: y' - 1}}\nsimulate: {until: 2}\n",
               "model");
  PawlMargin margin;
  i.state->t = 0.5;
  MUST(instant_jump(&i, "hook", PAWL_MODE_HELD), &i);
  CHECK_NEAR(i.state->v[0], 2, 1e-15);
  (void)pawl_guards_arm(&i.guards, i.state, 0);
  MUST(pawl_guards_crossed(&i.guards, i.state, &margin, &i.err), &i);
  CHECK_NEAR(margin_of(&i, 0), -2, 1e-13);
  CHECK_NEAR(margin_of(&i, 1), 1, 1e-13);
  i.log.count = 0;
  (void)instant_fire(&i, 0);
  assert_int_equal(i.log.count, 1);
  assert_int_equal(i.log.instants[0]->event, 0);
  (void)instant_fire(&i, 0);
  assert_int_equal(i.log.count, 1);
  instant_end(&i);
}

// ---- engaging -----------------------------------------------------------------------------------
// Asked to engage at rate r: a plain lock holds, one with a capacity slides, a smooth one waits.
static void check_engaged(const char* keys, double rate, int mode) {
  char text[256];
  Instant i;
  snprintf(text, sizeof text,
           "model: ask\ncoordinates: {x: {rate: %g}, y: {rate: 1}}\nmass: {x: 1, y: 1}\n"
           "locks: {l: {lock: x, at: 0.5%s}}\nsimulate: {until: 1}\n",
           rate, keys);
  instant_make(&i, text, "model");
  MUST(pawl_guards_ask(&i.guards, i.state, 0, true, i.next, &i.err), &i);
  assert_int_equal(i.next[0], mode);
  MUST(pawl_guards_ask(&i.guards, i.state, 0, false, i.next, &i.err), &i);
  assert_int_equal(i.next[0], PAWL_MODE_FREE);
  instant_end(&i);
}

static void test_engaged_modes(void** unused) {
  (void)unused;
  check_engaged("", 2, PAWL_MODE_HELD);
  check_engaged(", capacity: 1", 2, PAWL_MODE_UP);
  check_engaged(", capacity: 1", -2, PAWL_MODE_DOWN);
  check_engaged(", capacity: 1", 0, PAWL_MODE_HELD);
  check_engaged(", smooth: true", 2, PAWL_MODE_WAITING);
  check_engaged(", smooth: true", 1e-12, PAWL_MODE_HELD);
  check_engaged(", smooth: true", 1e-6, PAWL_MODE_WAITING);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_margins),
      cmocka_unit_test(test_direction),
      cmocka_unit_test(test_margins_of_a_brake),
      cmocka_unit_test(test_times),
      cmocka_unit_test(test_dwell),
      cmocka_unit_test(test_ties),
      cmocka_unit_test(test_stop),
      cmocka_unit_test(test_no_side_at_zero),
      cmocka_unit_test(test_blur),
      cmocka_unit_test(test_carried_across),
      cmocka_unit_test(test_engaged_modes),
  };
  return cmocka_run_group_tests_name("guard table", tests, NULL, NULL);
}
