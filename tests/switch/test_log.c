// SPDX-License-Identifier: Apache-2.0
// The log of instants: a thousand of them in one step, none disturbed by those after it, and no
// memory taken once there is room.
#include "base/alloc.h"
#include "switch/instant.h"

static const char TEXT[] =
    "model: log\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\n"
    "locks: {a: {lock: x, at: 1}, b: {lock: y, at: 1}}\nevents: {e: {when: x}}\n"
    "simulate: {until: 1}\n";

enum { MANY = 1000 };

// The k-th instant of a kind that turns with k: switch, event, refusal, contact.
static void write(Instant* i, int k) {
  double v_before[2] = {k + 0.25, -k}, impulse[2] = {k, 0.5 * k}, loss[2] = {3.0 * k, 7.0 * k};
  int from[2] = {k % 3, k % 5};
  PawlState* s = i->state;
  instant_place(i, 0.001 * k, (double[]){k, 2.0 * k}, (double[]){k + 0.5, -2.0 * k});
  s->modes[0] = k % 2;
  s->modes[1] = k % 4;
  PawlContactHit hit = {1, k % 4, 2.5 * k, 1.5 * k, s->t + 0.5, s->q, v_before};
  PawlStatus status =
      k % 4 == 0   ? pawl_log_switch(&i->log, s, from, v_before, impulse, loss, 10.0 * k, &i->err)
      : k % 4 == 1 ? pawl_log_event(&i->log, s, 0, &i->err)
      : k % 4 == 2 ? pawl_log_refusal(&i->log, s, 1, &i->err)
                   : pawl_log_contact(&i->log, s, &hit, &i->err);
  MUST(status, i);
}

static void check_common(const PawlInstant* e, int k) {
  CHECK_NEAR(e->t, 0.001 * k + (k % 4 == 3 ? 0.5 : 0.0), 0);
  CHECK_NEAR(e->q[1], 2.0 * k, 0);
  assert_int_equal(e->to[0], k % 2);
  assert_int_equal(e->to[1], k % 4);
  assert_int_equal(e->event, k % 4 == 1 ? 0 : -1);
  assert_int_equal(e->refused, k % 4 == 2 ? 1 : -1);
  assert_int_equal(e->contact, k % 4 == 3 ? 1 : -1);
}

static void check_written(const PawlInstant* e, int k) {
  bool jumps = k % 4 == 0, hits = k % 4 == 3;
  check_common(e, k);
  CHECK_NEAR(e->v_before[0], jumps ? k + 0.25 : k + 0.5, 0);
  CHECK_NEAR(e->v_after[0], hits ? k + 0.25 : k + 0.5, 0);
  CHECK_NEAR(e->impulse[0], jumps ? k : 0, 0);
  CHECK_NEAR(e->impulse[1], jumps ? 0.5 * k : hits ? 2.5 * k : 0, 0);
  CHECK_NEAR(e->loss[1], jumps ? 7.0 * k : 0, 0);
  CHECK_NEAR(e->energy_lost, jumps ? 10.0 * k : hits ? 1.5 * k : 0, 0);
  assert_int_equal(e->from[0], jumps ? k % 3 : k % 2);
}

static void test_many(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i, TEXT, "model");
  long long before = 0;
  for (int round = 0; round < 2; round++) {  // the second finds room
    i.log.count = 0;
    before = pawl_alloc_count();
    for (int k = 0; k < MANY; k++) {
      write(&i, k);
    }
    assert_int_equal(i.log.count, MANY);
    for (int k = 0; k < MANY; k++) {
      check_written(i.log.instants[k], k);
    }
  }
  assert_int_equal(pawl_alloc_count(), before);
  instant_end(&i);
}

// Contacts that change at one end of a time step have their arrays in common, and no others.
static void test_shared(void** unused) {
  (void)unused;
  Instant i;
  double v[2] = {3.0, 4.0};
  instant_make(&i, TEXT, "model");
  instant_place(&i, 0.5, (double[]){1.0, 2.0}, (double[]){5.0, 6.0});
  for (int k = 0; k < 4; k++) {
    PawlContactHit hit = {k % 2, 2 - k % 2, 7.0 + k, 0.5 * k, k < 2 ? 1.0 : 1.5, i.state->q, v};
    MUST(pawl_log_contact(&i.log, i.state, &hit, &i.err), &i);
  }
  for (int k = 0; k < 4; k++) {
    const PawlInstant *e = i.log.instants[k], *first = i.log.instants[k - k % 2];
    assert_int_equal(e->contact, k % 2);
    assert_int_equal(e->from[k % 2], 2 - k % 2);
    CHECK_NEAR(e->impulse[k % 2], 7.0 + k, 0);
    CHECK_NEAR(e->energy_lost, 0.5 * k, 0);
    assert_true(e->q == first->q && e->v_before == first->v_before && e->v_after == first->v_after);
  }
  assert_true(i.log.instants[0]->q != i.log.instants[2]->q);
  instant_end(&i);
}

// Without impulses there are none, whatever an entry held before.
static void test_reused_entries(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i, TEXT, "model");
  write(&i, 4);
  i.log.count = 0;
  MUST(pawl_log_switch(&i.log, i.state, i.state->modes, i.state->v, NULL, NULL, 0, &i.err), &i);
  for (int r = 0; r < 2; r++) {
    CHECK_NEAR(i.log.instants[0]->impulse[r], 0, 0);
    CHECK_NEAR(i.log.instants[0]->loss[r], 0, 0);
  }
  instant_end(&i);
}

// Memory that is short at any growth is an error, and the entries so far are still there.
static void test_short_memory(void** unused) {
  (void)unused;
  Instant i;
  instant_make(&i, TEXT, "model");
  PawlStatus status = PAWL_OK;
  int k = 0;
  pawl_alloc_fail_at(1);
  for (; k < MANY && status == PAWL_OK; k++) {
    status = pawl_log_event(&i.log, i.state, 0, &i.err);
  }
  pawl_alloc_fail_at(0);
  assert_int_equal(status, PAWL_ERROR_MEMORY);
  assert_true(i.log.count >= 8 && i.log.count < MANY);
  assert_int_equal(i.log.instants[0]->event, 0);
  instant_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many),
      cmocka_unit_test(test_shared),
      cmocka_unit_test(test_reused_entries),
      cmocka_unit_test(test_short_memory),
  };
  return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
