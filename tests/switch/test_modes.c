// SPDX-License-Identifier: Apache-2.0
// Modes: at the start, after a step with the memory of those before, counts of turns, margins and
// rates at a surface, rows in force, names. Switching functions are given by hand where a rule is
// tested, and evaluated where a model is.
#include "switch/modes.h"
#include "system/setup.h"

enum { MOST = 32 };

// Four constraints: a plain one, a track with modes of two, one and no rows, a cam, two lines.
// Discrete variables: plain, track, cam, line, then the turn of the cam. Switching functions: three
// of the track, two of the line, the periods of the cam.
static const char MODEL[] =
    "model: modes\n"
    "coordinates: {x: {start: 1, rate: 1}, y: {rate: 1}, z: {}, th: {rate: 4}, w: {}}\n"
    "mass: {x: 1, y: 1, z: 1, th: 1, w: 1}\n"
    "constraints:\n"
    "  plain: w = 0\n"
    "  track:\n"
    "    modes:\n"
    "      pair: {where: x < 2, equation: [y = x, z = 0]}\n"
    "      one: {where: 2 < x < 4, equation: y = 2}\n"
    "      free: {where: x > 4, equation: none}\n"
    "  cam: z = sin(wrap(th, 2*pi)/2)\n"
    "  line:\n"
    "    modes:\n"
    "      low: {where: y < 1, equation: w = y}\n"
    "      high: {where: y > 1, equation: w = 1}\n";
enum { PLAIN, TRACK, CAM, LINE, TURN, DISCRETE };
enum { Z_PAIR, Z_ONE, Z_FREE, Z_LOW, Z_HIGH, Z_TURN, Z_COUNT };

static void test_shape_of_the_model(void** unused) {
  (void)unused;
  Setup s = setup_text(MODEL);
  assert_int_equal(s.n.modes, DISCRETE);
  assert_int_equal(s.n.rows, 5);
  assert_true(pawl_system_switches(s.system));
  assert_int_equal(pawl_system_constraint_count(s.system), 4);
  static const bool switches[] = {false, true, true, true, true};
  for (int row = 0; row < 5; row++) {
    assert_true(pawl_system_row_switches(s.system, row) == switches[row]);
  }
  setup_free(&s);
  s = setup_text("model: none\ncoordinates: [x]\nmass: {x: 1}\nconstraints: {c: x = 0}\n");
  assert_false(pawl_system_switches(s.system));
  setup_free(&s);
}

// ---- start --------------------------------------------------------------------------------------
// The modes of a model at its start values.
static PawlStatus start_of(const char* text, int* modes, PawlError* err) {
  Setup s = setup_text(text);
  double q[MOST], v[MOST];
  pawl_system_start(s.system, q, v);
  PawlEval* eval = NULL;
  assert_int_equal(pawl_eval_create(s.system, PAWL_SWITCHING, &eval, err), PAWL_OK);
  PawlPoint point = {0.0, q, v, NULL, NULL, NULL, NULL};
  assert_int_equal(pawl_eval_run(eval, &point, err), PAWL_OK);
  const PawlValues* x = pawl_eval_values(eval);
  PawlStatus status = pawl_modes_start(s.system, x->z, x->z_rate, 1e-12, modes, err);
  pawl_eval_destroy(eval);
  setup_free(&s);
  return status;
}

static PawlStatus start_of_track(const char* x, const char* rate, const char* more,
                                 const char* first, const char* second, int* mode, PawlError* err) {
  char text[512];
  snprintf(text, sizeof text,
           "model: track\ncoordinates: {x: {start: %s, rate: %s}, y: 0}\nmass: {x: 1, y: 1}\n"
           "constraints:\n  track:\n%s    modes:\n      flat: {where: %s, equation: y = 0}\n"
           "      ramp: {where: %s, equation: y = x - 3}\n",
           x, rate, more, first, second);
  return start_of(text, mode, err);
}

static void test_start_by_region(void** unused) {
  (void)unused;
  static const struct {
    const char *x, *rate;
    int mode;
  } cases[] = {
      {"1", "1", 0},
      {"1", "-1", 0},
      {"3 - 1e-9", "1", 0},
      {"3 + 1e-9", "-1", 1},
      {"8", "0", 1},
      // on the surface the motion decides, also when rounding put the point beside it
      {"3", "1", 1},
      {"3", "-1", 0},
      {"3 - 1e-15", "1", 1},
      {"3 + 1e-15", "-1", 0},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    int mode = -1;
    PawlError err = {0};
    PawlStatus status =
        start_of_track(cases[k].x, cases[k].rate, "", "x < 3", "x > 3", &mode, &err);
    assert_int_equal(status, PAWL_OK);
    assert_int_equal(mode, cases[k].mode);
  }
}

static void test_start_by_name(void** unused) {
  (void)unused;
  int mode = -1;
  PawlError err = {0};
  assert_int_equal(start_of_track("1", "1", "    start: ramp\n", "x < 3", "x > 3", &mode, &err),
                   PAWL_OK);
  assert_int_equal(mode, 1);
  assert_int_equal(start_of_track("3", "0", "    start: flat\n", "x < 3", "x > 3", &mode, &err),
                   PAWL_OK);  // on the surface and at rest
  assert_int_equal(mode, 0);
}

static void check_refused(const char* x, const char* rate, const char* first, const char* second,
                          const char* what) {
  int mode = -1;
  PawlError err = {0};
  assert_int_equal(start_of_track(x, rate, "", first, second, &mode, &err), PAWL_ERROR_MODEL);
  assert_int_equal(err.status, PAWL_ERROR_MODEL);
  if (!strstr(err.message, what) || !strstr(err.message, "test.yaml:5:3: constraint 'track'")) {
    print_error("%s\n", err.message);
    fail();
  }
}

static void test_start_refused(void** unused) {
  (void)unused;
  check_refused("2.5", "1", "x < 2", "x > 3", "no region holds it");
  check_refused("2.5", "1", "x < 3", "x > 2", "several regions hold it");
  check_refused("3", "0", "x < 3", "x > 3", "no region holds it");  // at rest on the surface
}

static void test_start_of_turns(void** unused) {
  (void)unused;
  static const struct {
    const char *angle, *rate;
    int turn;
  } cases[] = {{"0", "4", 0},       {"0", "-4", -1},           {"2", "0", 0},
               {"-0.1", "1", -1},   {"4*pi", "1", 2},          {"4*pi", "-1", 1},
               {"-6*pi", "-1", -4}, {"-6*pi", "2", -3},        {"7", "-3", 1},
               {"0", "0", 0},       {"2000*pi + 1", "1", 1000}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[512];
    int modes[2] = {-9, -9};
    PawlError err = {0};
    snprintf(text, sizeof text,
             "model: cam\ncoordinates: {th: {start: %s, rate: %s}, y: 0}\nmass: {th: 1, y: 1}\n"
             "constraints: {cam: \"y = sin(wrap(th, 2*pi)/2)\"}\n",
             cases[k].angle, cases[k].rate);
    assert_int_equal(start_of(text, modes, &err), PAWL_OK);
    assert_int_equal(modes[0], 0);
    assert_int_equal(modes[1], cases[k].turn);
  }
}

static void test_start_of_several(void** unused) {
  (void)unused;
  int modes[DISCRETE];
  PawlError err = {0};
  assert_int_equal(start_of(MODEL, modes, &err), PAWL_OK);
  static const int expected[] = {0, 0, 0, 0, 0};  // th = 0 grows, x = 1, y = 0
  assert_memory_equal(modes, expected, sizeof modes);
}

// ---- after a step -------------------------------------------------------------------------------
// Consequences of switching functions given by hand.
typedef struct Step {
  int from[DISCRETE], to[DISCRETE];
  double z[Z_COUNT];
  double slack;
} Step;

#define INSIDE 1.0, -1.0, -3.0, 1.0, -1.0, 0.5  // pair, low, half a turn

static const Step STEPS[] = {
    // inside, nothing changes
    {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {INSIDE}, 0},
    // a region is left for the next, or for the one after it
    {{0, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {-0.1, 0.2, -1.9, 1, -1, 0.5}, 0},
    {{0, 0, 0, 0, 0}, {0, 2, 0, 0, 0}, {-3, -1, 0.5, 1, -1, 0.5}, 0},
    {{0, 2, 0, 0, 0}, {0, 0, 0, 0, 0}, {1, -1, -3, 1, -1, 0.5}, 0},
    // on the surface the mode is kept, on either side, and within the slack
    {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, -2, 1, -1, 0.5}, 0},
    {{0, 1, 0, 0, 0}, {0, 1, 0, 0, 0}, {0, 0, -2, 1, -1, 0.5}, 0},
    {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {-1e-3, 2e-3, -2, 1, -1, 0.5}, 1e-2},
    {{0, 0, 0, 0, 0}, {0, 1, 0, 0, 0}, {-2e-2, 4e-2, -2, 1, -1, 0.5}, 1e-2},
    // no region holds it: the mode is kept
    {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {-1, -1, -1, 1, -1, 0.5}, 0},
    // two hold it: the one it is deepest in; while the present one holds, others do not matter
    {{0, 0, 0, 0, 0}, {0, 2, 0, 0, 0}, {-1, 0.1, 0.3, 1, -1, 0.5}, 0},
    {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0.1, 5, 6, 1, -1, 0.5}, 0},
    // two constraints at once
    {{0, 0, 0, 0, 0}, {0, 1, 0, 1, 0}, {-0.1, 0.2, -1.9, -0.1, 0.1, 0.5}, 0},
    // turns, forward and back, several at once, and exactly on the surface
    {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 1}, {1, -1, -3, 1, -1, 1.01}, 0},
    {{0, 0, 0, 0, 0}, {0, 0, 0, 0, -1}, {1, -1, -3, 1, -1, -0.01}, 0},
    {{0, 0, 0, 0, 2}, {0, 0, 0, 0, 7}, {1, -1, -3, 1, -1, 7.3}, 0},
    {{0, 0, 0, 0, 2}, {0, 0, 0, 0, -5}, {1, -1, -3, 1, -1, -4.2}, 0},
    {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {1, -1, -3, 1, -1, 1.0}, 0},
    {{0, 0, 0, 0, 1}, {0, 0, 0, 0, 1}, {1, -1, -3, 1, -1, 1.0}, 0},
    {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {1, -1, -3, 1, -1, 1.001}, 0.01},
    // counts beyond an int are left alone
    {{0, 0, 0, 0, 3}, {0, 0, 0, 0, 3}, {1, -1, -3, 1, -1, 1e12}, 0},
};

static void test_next(void** unused) {
  (void)unused;
  Setup s = setup_text(MODEL);
  for (size_t k = 0; k < sizeof STEPS / sizeof *STEPS; k++) {
    const Step* step = &STEPS[k];
    int next[DISCRETE];
    bool differs = memcmp(step->from, step->to, sizeof next) != 0;
    assert_true(pawl_modes_next(s.system, step->z, step->slack, step->from, next) == differs);
    if (memcmp(next, step->to, sizeof next) != 0) {
      print_error("step %zu: %d %d %d %d %d\n", k, next[0], next[1], next[2], next[3], next[4]);
      fail();
    }
  }
  setup_free(&s);
}

// A point that goes to and fro over several periods is in the turn that holds it, at every step.
static void test_turns_to_and_fro(void** unused) {
  (void)unused;
  Setup s = setup_text(MODEL);
  int modes[DISCRETE] = {0}, next[DISCRETE], changes = 0;
  double z[] = {INSIDE};
  for (int k = 0; k <= 4000; k++) {
    z[Z_TURN] = 0.5 + 3.3 * sin(k * 1e-3 * 3.14159265358979);  // up to 3.8 and down to -2.8
    changes += pawl_modes_next(s.system, z, 0.0, modes, next);
    memcpy(modes, next, sizeof modes);
    assert_int_equal(modes[TURN], (int)floor(z[Z_TURN]));
  }
  assert_int_equal(changes, 24);  // 12 in each of two swings
  setup_free(&s);
}

// ---- at a surface -------------------------------------------------------------------------------
static void test_margin(void** unused) {
  (void)unused;
  Setup s = setup_text(MODEL);
  static const struct {
    int modes[DISCRETE];
    double z[Z_COUNT], margin;
    int constraint;
  } cases[] = {
      {{0, 0, 0, 0, 0}, {0.4, -1, -3, 0.7, -1, 0.5}, 0.4, TRACK},
      {{0, 0, 0, 0, 0}, {0.9, -1, -3, 0.3, -1, 0.5}, 0.3, LINE},
      {{0, 0, 0, 0, 0}, {0.9, -1, -3, 0.7, -1, 0.2}, 0.2, CAM},
      {{0, 0, 0, 0, 0}, {0.9, -1, -3, 0.7, -1, 0.9}, 0.1, CAM},
      {{0, 0, 0, 0, -2}, {0.9, -1, -3, 0.7, -1, -1.75}, 0.25, CAM},
      {{0, 1, 0, 1, 0}, {-5, 0.4, -3, -5, 0.3, 0.5}, 0.3, LINE},
      {{0, 2, 0, 1, 0}, {-5, 0.4, -0.1, -5, 0.3, 0.5}, -0.1, TRACK},
      {{0, 0, 0, 0, 0}, {0.9, -1, -3, 0.7, -1, 1.5}, -0.5, CAM},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    int constraint = -1;
    CHECK_NEAR(pawl_modes_margin(s.system, cases[k].z, cases[k].modes, &constraint),
               cases[k].margin, 1e-15);
    assert_int_equal(constraint, cases[k].constraint);
  }
  setup_free(&s);
}

static void test_entering(void** unused) {
  (void)unused;
  Setup s = setup_text(MODEL);
  int from[DISCRETE] = {0, 0, 0, 0, 0};
  double rate[] = {-3, 2, -7, -5, 4, 6};
  assert_true(pawl_modes_entering(s.system, rate, from, from) == INFINITY);
  CHECK_NEAR(pawl_modes_entering(s.system, rate, from, (int[]){0, 1, 0, 0, 0}), 2, 0);
  CHECK_NEAR(pawl_modes_entering(s.system, rate, from, (int[]){0, 2, 0, 0, 0}), -7, 0);
  CHECK_NEAR(pawl_modes_entering(s.system, rate, from, (int[]){0, 0, 0, 1, 0}), 4, 0);
  CHECK_NEAR(pawl_modes_entering(s.system, rate, from, (int[]){0, 1, 0, 1, 0}), 2, 0);
  CHECK_NEAR(pawl_modes_entering(s.system, rate, from, (int[]){0, 0, 0, 0, 1}), 6, 0);
  CHECK_NEAR(pawl_modes_entering(s.system, rate, from, (int[]){0, 0, 0, 0, -1}), -6, 0);
  CHECK_NEAR(pawl_modes_entering(s.system, rate, from, (int[]){0, 0, 0, 1, 3}), 4, 0);
  setup_free(&s);
}

// ---- rows and names -----------------------------------------------------------------------------
static void test_active_rows(void** unused) {
  (void)unused;
  Setup s = setup_text(MODEL);
  static const struct {
    int track, line;
    unsigned char active[5];  // plain, track 1 and 2, cam, line
  } cases[] = {{0, 0, {1, 1, 1, 1, 1}}, {1, 1, {1, 1, 0, 1, 1}}, {2, 0, {1, 0, 0, 1, 1}}};
  for (int k = 0; k < 3; k++) {
    unsigned char active[5] = {7, 7, 7, 7, 7};
    int modes[DISCRETE] = {0, cases[k].track, 0, cases[k].line, 9};
    pawl_modes_active(s.system, modes, active);
    assert_memory_equal(active, cases[k].active, sizeof active);
  }
  setup_free(&s);
}

static void check_name(const Setup* s, int constraint, const int* modes, const char* expected) {
  char room[32];
  assert_string_equal(pawl_system_mode_name(s->system, constraint, modes, room, sizeof room),
                      expected);
}

// The last variables are those of contacts, which stand behind the rows of their friction.
static void test_contacts(void** unused) {
  (void)unused;
  Setup s = setup_text(
      "model: m\ncoordinates: {x: , y: , z: }\nmass: {x: 1, y: 1, z: 1}\n"
      "constraints: {wire: z = x}\n"
      "contacts: {a: {gap: y, friction: 0.3, slip: x}, b: {gap: 2 - y}}\n");
  unsigned char active[4];
  int modes[3] = {0, PAWL_MODE_OPEN, PAWL_MODE_LIMIT}, first;
  assert_int_equal(pawl_system_sizes(s.system).modes, 3);
  assert_int_equal(pawl_modes_contacts(s.system, &first), 4);
  assert_int_equal(first, 2);
  assert_int_equal(pawl_modes_of_contact(s.system, 2), 1);
  assert_int_equal(pawl_modes_of_contact(s.system, 3), 2);
  pawl_modes_active(s.system, modes, active);
  assert_memory_equal(active, ((unsigned char[]){1, 0, 0, 1}), 4);
  assert_true(pawl_modes_in_range(s.system, modes));
  modes[1] = PAWL_CONTACT_MODE_COUNT;
  assert_false(pawl_modes_in_range(s.system, modes));
  setup_free(&s);
}

static void test_names(void** unused) {
  (void)unused;
  Setup s = setup_text(MODEL);
  int modes[DISCRETE] = {0, 2, 0, 1, -3}, other[DISCRETE] = {0, 2, 0, 0, -3};
  check_name(&s, PLAIN, modes, "");
  check_name(&s, TRACK, modes, "free");
  check_name(&s, CAM, modes, "turn -3");
  check_name(&s, LINE, modes, "high");
  assert_true(pawl_system_switched(s.system, LINE, modes, other));
  assert_false(pawl_system_switched(s.system, TRACK, modes, other));
  assert_false(pawl_system_switched(s.system, CAM, modes, other));
  other[TURN] = -2;
  assert_true(pawl_system_switched(s.system, CAM, modes, other));
  int first, count;
  pawl_system_constraint_rows(s.system, TRACK, &first, &count);
  assert_true(first == 1 && count == 2);
  setup_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shape_of_the_model),
      cmocka_unit_test(test_start_by_region),
      cmocka_unit_test(test_start_by_name),
      cmocka_unit_test(test_start_refused),
      cmocka_unit_test(test_start_of_turns),
      cmocka_unit_test(test_start_of_several),
      cmocka_unit_test(test_next),
      cmocka_unit_test(test_turns_to_and_fro),
      cmocka_unit_test(test_margin),
      cmocka_unit_test(test_entering),
      cmocka_unit_test(test_active_rows),
      cmocka_unit_test(test_contacts),
      cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
