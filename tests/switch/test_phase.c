// SPDX-License-Identifier: Apache-2.0
// What is discrete in a state: its arrays apart from each other, copies with the same bits, rows
// that bind, and points of a phase.
#include "switch/instant.h"

static const char TEXT[] =
    "model: phase\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\n"
    "locks: {a: {lock: x, at: 1}, b: {lock: 2*x, at: 1}, c: {lock: y, at: 1}}\n"
    "events: {e: {when: x - 1}}\nsimulate: {until: 1}\n";

// Every array filled with numbers of its own, none runs into another.
static void test_arrays_apart(void** unused) {
  (void)unused;
  PawlStateShape shape = {.q = 3,
                          .v = 2,
                          .rows = 4,
                          .memory = 5,
                          .since = 6,
                          .conditions = 3,
                          .clocks = 2,
                          .modes = 7,
                          .surfaces = 5};
  PawlState* s;
  assert_int_equal(pawl_phase_state(&shape, &s, NULL), PAWL_OK);
  struct {
    double* x;
    int count;
  } numbers[] = {{s->q, 3},    {s->v, 2},     {s->a, 2},       {s->lambda, 4}, {s->memory, 5},
                 {s->held, 4}, {s->since, 6}, {s->largest, 3}, {s->blur, 3}};
  struct {
    int* x;
    int count;
  } integers[] = {{s->sides, 3}, {s->passed, 2}, {s->modes, 7}};
  struct {
    unsigned char* x;
    int count;
  } flags[] = {{s->in_force, 4}, {s->active, 4}, {s->redundant, 4}, {s->still, 5}};
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < 9; k++) {
      for (int j = 0; j < numbers[k].count; j++) {
        double value = 100.0 * k + j;
        pass == 0 ? (void)(numbers[k].x[j] = value) : CHECK_NEAR(numbers[k].x[j], value, 0);
      }
    }
    for (int k = 0; k < 3; k++) {
      for (int j = 0; j < integers[k].count; j++) {
        pass == 0 ? (void)(integers[k].x[j] = 10 * k + j)
                  : CHECK_NEAR(integers[k].x[j], 10 * k + j, 0);
      }
    }
    for (int k = 0; k < 4; k++) {
      for (int j = 0; j < flags[k].count; j++) {
        pass == 0 ? (void)(flags[k].x[j] = (unsigned char)(10 * k + j))
                  : CHECK_NEAR(flags[k].x[j], 10 * k + j, 0);
      }
    }
  }
  assert_ptr_equal((unsigned char*)s->q + s->bytes, s->still + 5);
  assert_int_equal(s->bytes, pawl_phase_state_bytes(&shape));
  pawl_state_destroy(s);
}

// A copy goes on as the state does: the same jump gives the same bits.
static void test_copy(void** unused) {
  (void)unused;
  Instant i;
  PawlState* copy;
  instant_make(&i, TEXT, "model");
  i.state->t = 1;
  i.state->step = 17;
  MUST(instant_jump(&i, "a", PAWL_MODE_HELD), &i);
  MUST(pawl_phase_state(&i.shape, &copy, &i.err), &i);
  pawl_phase_copy(copy, i.state);
  MUST(instant_jump(&i, "b", PAWL_MODE_HELD), &i);  // follows from a
  assert_int_equal(i.state->redundant_count, 1);
  assert_int_equal(copy->redundant_count, 0);
  MUST(pawl_jump(&i.jump, copy, i.next, &i.err), &i);
  assert_int_equal(copy->step, 17);
  assert_int_equal(copy->redundant_count, 1);
  CHECK_NEAR(copy->t, i.state->t, 0);
  CHECK_NEAR(copy->redundant_off, i.state->redundant_off, 0);
  assert_memory_equal(copy->q, i.state->q, copy->bytes);
  pawl_state_destroy(copy);
  instant_end(&i);
}

static void test_rows_that_bind(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i, TEXT, "model");
  PawlPhase phase = pawl_phase_of(i.state, false);
  for (int r = 0; r < 3; r++) {
    assert_false(pawl_phase_binds(&phase, r));
  }
  instant_keep_modes(&i);
  instant_ask(&i, "a", PAWL_MODE_HELD);
  instant_ask(&i, "b", PAWL_MODE_HELD);
  MUST(pawl_jump(&i.jump, i.state, i.next, &i.err), &i);
  phase = pawl_phase_of(i.state, false);
  int a = instant_row(&i, "a"), b = instant_row(&i, "b");
  assert_int_equal(i.state->redundant_count, 1);
  assert_int_equal(pawl_phase_binds(&phase, a) + pawl_phase_binds(&phase, b), 1);
  assert_false(pawl_phase_binds(&phase, instant_row(&i, "c")));
  assert_int_equal(i.state->redundant[a] + i.state->redundant[b], 1);
  // with a row left out no row binds for good; without, a plain system says so
  assert_non_null(pawl_phase_of(i.state, true).active);
  i.state->redundant_count = 0;
  assert_null(pawl_phase_of(i.state, true).active);
  phase = pawl_phase_of(i.state, true);
  assert_true(pawl_phase_binds(&phase, b));
  instant_end(&i);
}

// What bounds the force of a row is a part of the phase, also of a row that follows from another
// and of a joint; the bounds are read from there.
static void test_rows_in_force(void** unused) {
  (void)unused;
  static const char text[] =
      "model: bounds\ncoordinates: {x: , y: , z: }\nmass: {x: 1, y: 1, z: 1}\n"
      "forces: {y: 1, z: 9}\ncontacts: {floor: {gap: x + 1}}\n"
      "locks: {a: {lock: x, engaged: true}, b: {lock: 2*x, engaged: true},\n"
      "  brake: {lock: y, engaged: true, capacity: 2}, weak: {lock: z, engaged: true, capacity: "
      "3}}\n"
      "simulate: {until: 1}\n";
  Instant i;
  instant_make(&i, text, "model");
  int a = instant_row(&i, "a"), b = instant_row(&i, "b"), brake = instant_row(&i, "brake"),
      weak = instant_row(&i, "weak");
  PawlPhase phase = pawl_phase_of(i.state, false);
  assert_int_equal(i.state->redundant_count, 1);
  assert_int_equal(phase.in_force[a], PAWL_ROW_OF_EQUATION);
  assert_int_equal(phase.in_force[b], PAWL_ROW_OF_EQUATION);
  assert_int_equal(phase.in_force[brake], PAWL_ROW_OF_JOINT);
  assert_int_equal(phase.in_force[weak], PAWL_ROW_OF_LET_GO);  // 9 > 3: it slides
  assert_int_equal(phase.in_force[4], PAWL_ROW_OF_LET_GO);     // steps close contacts
  assert_int_equal(pawl_phase_row_of(i.system, 4), PAWL_ROW_OF_CONTACT);
  assert_int_equal(pawl_phase_row_of(i.system, weak), PAWL_ROW_OF_JOINT);

  const double* watch;
  MUST(pawl_watch_look(&i.watching, &phase, i.state, i.state->v, i.state->a, i.state->lambda,
                       &watch, &i.err),
       &i);
  pawl_watch_bounds(&i.watching, &phase, watch, 0.0, true);
  const PawlRowProblem* p = &i.watching.rows;
  assert_true(p->lo[a] == -INFINITY && p->hi[b] == INFINITY);
  assert_true(p->lo[brake] == -2.0 && p->hi[brake] == 2.0);
  assert_true(p->lo[weak] == 0.0 && p->hi[weak] == 0.0 && p->hi[4] == 0.0);
  unsigned char other[5] = {0};
  other[weak] = PAWL_ROW_OF_JOINT;  // the phase that is given decides, and no state
  phase.in_force = other;
  pawl_watch_bounds(&i.watching, &phase, watch, 0.0, true);
  assert_true(p->hi[weak] == 3.0 && p->hi[a] == 0.0);
  instant_end(&i);
}

static void test_point(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i, TEXT, "model");
  const double q[2] = {1, 2}, v[2] = {3, 4}, a[2] = {5, 6}, lambda[3] = {7, 8, 9};
  PawlPhase phase = pawl_phase_of(i.state, false);
  PawlPoint point = pawl_phase_point(&phase, 0.5, q, v, a, lambda);
  CHECK_NEAR(point.t, 0.5, 0);
  assert_ptr_equal(point.q, q);
  assert_ptr_equal(point.v, v);
  assert_ptr_equal(point.a, a);
  assert_ptr_equal(point.lambda, lambda);
  assert_ptr_equal(point.modes, i.state->modes);
  assert_ptr_equal(point.held, i.state->held);
  instant_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arrays_apart),   cmocka_unit_test(test_copy),
      cmocka_unit_test(test_rows_that_bind), cmocka_unit_test(test_rows_in_force),
      cmocka_unit_test(test_point),
  };
  return cmocka_run_group_tests_name("phase", tests, NULL, NULL);
}
