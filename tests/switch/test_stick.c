// SPDX-License-Identifier: Apache-2.0
// Which joints at rest hold and which slide, recomputed from the conditions of (R1): held ones
// within their capacity and without a second rate, sliding ones at their friction and moving that
// way. Random stacks, hand-worked cases, joints that share a load, and contradictions.
#include "switch/instant.h"

// Every joint of the state fits (R1): `tolerance` of forces and accelerations.
static void check_stick(Instant* i, double tolerance) {
  const PawlState* s = i->state;
  int n = i->dynamics.sizes.v;
  const double* watch;
  PawlPhase phase = pawl_phase_of(s, false);
  check_accelerations(i, tolerance);
  MUST(pawl_watch_look(&i->watching, &phase, s, s->v, s->a, s->lambda, &watch, &i->err), i);
  for (int k = 0; k < i->watching.joint_count; k++) {
    int c = i->watching.joints[k], row = i->system->constraints[c].first_row, mode = s->modes[c];
    double capacity = watch[i->system->watches[c].capacity];
    if (mode == PAWL_MODE_HELD) {
      assert_true(s->redundant_count > 0 || fabs(s->lambda[row]) <= capacity + tolerance);
    } else if (mode >= PAWL_MODE_UP) {
      int held = s->modes[c];
      i->state->modes[c] = PAWL_MODE_HELD;  // its gradient, as if it held
      Dense d = instant_dense(i, s);
      i->state->modes[c] = held;
      double second = along(n, d.G[row], s->a) + d.gamma[row];
      assert_true((mode == PAWL_MODE_UP ? second : -second) >= -tolerance);
      CHECK_NEAR(s->lambda[row], 0, 0);
    }
  }
}

static unsigned long long seed = 1;
static double random_number(double low, double high) {
  seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return low + (high - low) * (double)(seed >> 11) * 0x1p-53;
}

// n blocks on each other, each with friction on the one below, pulled at random.
static void random_stack(int n, char* text, size_t room) {
  char mass[200] = "", force[200] = "", locks[600] = "", names[100] = "";
  for (int k = 0; k < n; k++) {
    const char* comma = k > 0 ? ", " : "";
    size_t at = strlen(names);
    snprintf(names + at, sizeof names - at, "%sx%d", comma, k);
    at = strlen(mass);
    snprintf(mass + at, sizeof mass - at, "%sx%d: %.6g", comma, k, random_number(0.1, 10));
    at = strlen(force);
    snprintf(force + at, sizeof force - at, "%sx%d: %.6g", comma, k, random_number(-5, 5));
    at = strlen(locks);
    char below[16] = "";
    if (k > 0) {
      snprintf(below, sizeof below, " - x%d", k - 1);
    }
    snprintf(locks + at, sizeof locks - at, "%sl%d: {lock: x%d%s, engaged: true, capacity: %.6g}",
             comma, k, k, below, random_number(0.1, 4));
  }
  snprintf(text, room,
           "model: stack\ncoordinates: [%s]\nmass: {%s}\nforces: {%s}\nlocks: {%s}\n"
           "simulate: {until: 1}\n",
           names, mass, force, locks);
}

static void test_random_stacks(void** unused) {
  (void)unused;
  int held = 0, slid = 0;
  seed = 7;
  for (int k = 0; k < 150; k++) {
    char text[1600];
    Instant i;
    random_stack(1 + k % 6, text, sizeof text);
    instant_make(&i, text, "model");
    check_stick(&i, 1e-9);
    for (int c = 0; c < i.watching.joint_count; c++) {
      held += i.state->modes[c] == PAWL_MODE_HELD;
      slid += i.state->modes[c] >= PAWL_MODE_UP;
    }
    instant_end(&i);
  }
  assert_true(held > 100 && slid > 100);  // both happen
}

static void make(Instant* i, double force, const char* locks) {
  char text[512];
  snprintf(text, sizeof text,
           "model: one\ncoordinates: {x: , y: {rate: 3}}\nmass: {x: 2, y: 1}\nforces: {x: %.17g}\n"
           "locks: {%s}\nsimulate: {until: 1}\n",
           force, locks);
  instant_make(i, text, "model");
}

// At, just below and just beyond the capacity 4; friction 3 then.
static void test_bound(void** unused) {
  (void)unused;
  static const struct {
    double force;
    int mode;
  } cases[] = {{3.9, PAWL_MODE_HELD},          {4, PAWL_MODE_HELD}, {-4, PAWL_MODE_HELD},
               {4 * (1 + 1e-9), PAWL_MODE_UP}, {4.5, PAWL_MODE_UP}, {-4.5, PAWL_MODE_DOWN}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Instant i;
    make(&i, cases[k].force, "l: {lock: x, engaged: true, capacity: 4, friction: 3}");
    assert_int_equal(instant_mode(&i, "l"), cases[k].mode);
    bool held = cases[k].mode == PAWL_MODE_HELD;
    double friction = cases[k].force > 0 ? 3 : -3;
    CHECK_NEAR(i.state->lambda[0], held ? -cases[k].force : 0, 1e-14);
    CHECK_NEAR(i.state->a[0], held ? 0 : (cases[k].force - friction) / 2, 1e-14);
    check_stick(&i, 1e-9);
    instant_end(&i);
  }
}

// A joint that slides comes to rest: it sticks where it is, newly held, or turns.
static void test_comes_to_rest(void** unused) {
  (void)unused;
  for (int k = 0; k < 2; k++) {
    Instant i;
    bool newly_held;
    make(&i, k == 0 ? 1 : -5, "l: {lock: 3*x, at: 0, capacity: 1, friction: 1}");
    instant_place(&i, 0.5, (double[]){0.25, 1}, (double[]){0, 3});
    i.state->modes[0] = PAWL_MODE_UP;
    MUST(pawl_stick_settle(&i.jump.stick, i.state, i.state->v, &newly_held, &i.err), &i);
    assert_int_equal(newly_held, k == 0);
    assert_int_equal(i.state->modes[0], k == 0 ? PAWL_MODE_HELD : PAWL_MODE_DOWN);
    CHECK_NEAR(i.state->held[0], k == 0 ? 0.75 : 0, 0);
    CHECK_NEAR(i.state->a[0], k == 0 ? 0 : (-5 + 3) / 2.0, 1e-14);
    check_stick(&i, 1e-12);
    instant_end(&i);
  }
}

// One that moves is not asked, nor one that is loosened.
static void test_not_asked(void** unused) {
  (void)unused;
  Instant i;
  bool newly_held;
  make(&i, 1, "l: {lock: x, at: 0, capacity: 4}");
  instant_place(&i, 0.5, (double[]){0.25, 1}, (double[]){1e-6, 3});
  i.state->modes[0] = PAWL_MODE_UP;
  MUST(pawl_stick_settle(&i.jump.stick, i.state, i.state->v, &newly_held, &i.err), &i);
  assert_int_equal(i.state->modes[0], PAWL_MODE_UP);
  CHECK_NEAR(i.state->a[0], -1.5, 1e-14);
  i.state->v[0] = 0;
  i.guards.loosened[0] = 1;
  MUST(pawl_stick_settle(&i.jump.stick, i.state, i.state->v, &newly_held, &i.err), &i);
  assert_int_equal(i.state->modes[0], PAWL_MODE_UP);
  i.guards.loosened[0] = 0;
  MUST(pawl_stick_settle(&i.jump.stick, i.state, i.state->v, &newly_held, &i.err), &i);
  assert_int_equal(i.state->modes[0], PAWL_MODE_HELD);
  instant_end(&i);
}

// Three brakes on one body hold up to their sum, 1 + 2 + 3, and share in proportion.         (V10)
static void test_shared(void** unused) {
  (void)unused;
  static const char locks[] =
      "a: {lock: x, engaged: true, capacity: 1}, b: {lock: x, engaged: true, capacity: 2}, "
      "c: {lock: x, engaged: true, capacity: 3}";
  for (int k = 0; k < 2; k++) {
    Instant i;
    double force = k == 0 ? 5.9 : 6.1, lambda[3];
    make(&i, force, locks);
    memcpy(lambda, i.state->lambda, sizeof lambda);
    MUST(pawl_share_multipliers(&i.watching, i.state, false, lambda, &i.err), &i);
    for (int r = 0; r < 3; r++) {
      assert_int_equal(i.state->modes[r], k == 0 ? PAWL_MODE_HELD : PAWL_MODE_UP);
      CHECK_NEAR(lambda[r], k == 0 ? -force * (r + 1) / 6 : 0, 1e-12);
    }
    CHECK_NEAR(i.state->a[0], k == 0 ? 0 : 0.05, 1e-13);
    instant_end(&i);
  }
}

// A rigid row beside takes all, whatever the force.
static void test_beside_rigid(void** unused) {
  (void)unused;
  Instant i;
  double lambda[2];
  make(&i, 1e6, "a: {lock: x, engaged: true, capacity: 1}, b: {lock: x, engaged: true}");
  assert_int_equal(instant_mode(&i, "a"), PAWL_MODE_HELD);
  memcpy(lambda, i.state->lambda, sizeof lambda);
  MUST(pawl_share_multipliers(&i.watching, i.state, false, lambda, &i.err), &i);
  CHECK_NEAR(lambda[0], 0, 1e-9);
  CHECK_NEAR(lambda[1], -1e6, 1e-6);
  instant_end(&i);
}

// With less friction than capacity a joint that is let go may want back: it is tried once more.
static void test_less_friction(void** unused) {
  (void)unused;
  for (int k = 0; k < 12; k++) {
    Instant i;
    make(&i, 0.5 * k,
         "g: {lock: x, engaged: true, capacity: 2, friction: 0.5}, "
         "u: {lock: y - 3*t - x, engaged: true, capacity: 1, friction: 0.2}");
    check_stick(&i, 1e-9);
    instant_end(&i);
  }
}

static void test_contradiction(void** unused) {
  (void)unused;
  Instant i;
  make(&i, 1, "b: {lock: x, at: 1, capacity: 1}, c: {lock: x - t^2, at: 1}, d: {lock: x, at: 1}");
  instant_keep_modes(&i);
  for (int c = 0; c < 3; c++) {
    i.next[c] = PAWL_MODE_HELD;
  }
  assert_int_equal(pawl_jump(&i.jump, i.state, i.next, &i.err), PAWL_ERROR_RUN);
  assert_non_null(strstr(i.err.message, "'c' (row 1), 'd' (row 1)"));
  assert_null(strstr(i.err.message, "'b'"));  // a brake gives way, it contradicts nobody
  assert_non_null(strstr(i.err.message, "no accelerations satisfy all of them"));
  instant_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_stacks), cmocka_unit_test(test_bound),
      cmocka_unit_test(test_comes_to_rest), cmocka_unit_test(test_not_asked),
      cmocka_unit_test(test_shared),        cmocka_unit_test(test_beside_rigid),
      cmocka_unit_test(test_less_friction), cmocka_unit_test(test_contradiction),
  };
  return cmocka_run_group_tests_name("stick", tests, NULL, NULL);
}
