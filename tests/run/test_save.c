// SPDX-License-Identifier: Apache-2.0
// A run that is saved and loaded goes on with the same bits: samples, events, summary and state.
// Any damage to the bytes is refused.
#include "step/motion.h"

enum { MOST_NUMBERS = 1 << 16 };

typedef struct Told {  // all samples passed on
  int count;
  double numbers[MOST_NUMBERS];
} Told;

static PawlStatus tell(void* context, const PawlRecorder* recorder, const double* sample,
                       PawlError* err) {
  Told* told = context;
  (void)err;
  for (int j = 0; j < pawl_recorder_column_count(recorder); j++) {
    assert_true(told->count < MOST_NUMBERS);
    told->numbers[told->count++] = sample[j];
  }
  return PAWL_OK;
}

static PawlSimDef def_of(const Motion* m, const char* method, Told* told) {
  PawlSimDef def = pawl_sim_def_default();
  def.simulate = m->def;
  def.simulate.method = method;
  def.simulate.until = 1.5;
  def.simulate.step = 0.01;
  def.on_sample = tell;
  def.on_sample_context = told;
  return def;
}

static void same_events(const PawlRecorder* a, const PawlRecorder* b) {
  assert_int_equal(pawl_recorder_event_count(a), pawl_recorder_event_count(b));
  for (int k = 0; k < pawl_recorder_event_count(a); k++) {
    const PawlEvent *x = pawl_recorder_event(a, k), *y = pawl_recorder_event(b, k);
    assert_true(x->t == y->t && x->energy_lost == y->energy_lost);
    assert_string_equal(x->constraint, y->constraint);
    assert_string_equal(x->to, y->to);
    assert_int_equal(x->row_count, y->row_count);
    assert_memory_equal(x->impulse, y->impulse, (size_t)x->row_count * sizeof(double));
    assert_memory_equal(x->v_after, y->v_after, (size_t)x->v_count * sizeof(double));
  }
}

static void same_run(const PawlSim* a, const PawlSim* b) {
  const PawlState *x = pawl_sim_state(a), *y = pawl_sim_state(b);
  PawlSummary s = pawl_sim_summary(a), u = pawl_sim_summary(b);
  assert_true(x->t == y->t && x->bytes == y->bytes);
  assert_memory_equal(x->q, y->q, x->bytes);
  assert_int_equal(s.work.steps, u.work.steps);
  assert_int_equal(s.smaller_steps, u.smaller_steps);
  assert_int_equal(s.work.kinks, u.work.kinks);
  assert_true(s.energy_start == u.energy_start && s.energy_max_drift == u.energy_max_drift);
  assert_true(s.residual[2] == u.residual[2]);
  same_events(pawl_sim_recorder(a), pawl_sim_recorder(b));
  assert_int_equal(pawl_recorder_sample_count(pawl_sim_recorder(a)),
                   pawl_recorder_sample_count(pawl_sim_recorder(b)));
}

// Runs, and is saved and loaded into a new simulation after every `pieces` steps.
static PawlSim* in_pieces(const Motion* m, const PawlSimDef* def, int pieces) {
  PawlError err = {0};
  PawlSim* sim;
  NEED(pawl_sim_create(m->system, def, &sim, &err), &err);
  while (!pawl_sim_ended(sim)) {
    void* bytes;
    size_t size;
    NEED(pawl_sim_step(sim, pieces, &err), &err);
    NEED(pawl_sim_save(sim, &bytes, &size, &err), &err);
    pawl_sim_destroy(sim);
    NEED(pawl_sim_load(m->system, def, bytes, size, &sim, &err), &err);
    pawl_sim_saved_free(bytes);
  }
  NEED(pawl_sim_run(sim, NULL, NULL, &err), &err);
  return sim;
}

static void check_model(const char* name, const char* method) {
  static Told told, told_again;
  Motion m = motion_file(name, NULL);
  PawlSimDef def = def_of(&m, method, &told), again = def_of(&m, method, &told_again);
  PawlSim* sim;
  told.count = told_again.count = 0;
  NEED(pawl_sim_create(m.system, &def, &sim, &m.err), &m.err);
  NEED(pawl_sim_run(sim, NULL, NULL, &m.err), &m.err);
  PawlSim* other = in_pieces(&m, &again, 7);
  same_run(sim, other);
  assert_int_equal(told.count, told_again.count);
  assert_memory_equal(told.numbers, told_again.numbers, (size_t)told.count * sizeof(double));
  pawl_sim_destroy(sim);
  pawl_sim_destroy(other);
  motion_end(&m);
}

static void test_goes_on(void** unused) {
  (void)unused;
  check_model("bouncing-pendulum", "nsga-pva");
  check_model("bouncing-pendulum", "moreau-jean");
  check_model("ratchet", "rk4");
  check_model("stick-slip", "event-driven");
  check_model("stick-slip", "ga-pva");
}

static void test_damage(void** unused) {
  (void)unused;
  static Told told;
  Motion m = motion_file("stick-slip", NULL);
  PawlSimDef def = def_of(&m, "rk4", &told);
  PawlSim *sim, *none;
  void* bytes;
  size_t size;
  told.count = 0;
  NEED(pawl_sim_create(m.system, &def, &sim, &m.err), &m.err);
  NEED(pawl_sim_step(sim, 20, &m.err), &m.err);
  NEED(pawl_sim_save(sim, &bytes, &size, &m.err), &m.err);
  for (size_t k = 0; k < size; k += 1 + k / 64) {
    ((unsigned char*)bytes)[k] ^= 1;
    if (k < 12 || k >= 16) {  // padding
      assert_int_equal(pawl_sim_load(m.system, &def, bytes, size, &none, &m.err), PAWL_ERROR_USAGE);
      assert_null(none);
    }
    ((unsigned char*)bytes)[k] ^= 1;
  }
  for (size_t length = 0; length < size; length += 1 + length / 16) {
    assert_int_equal(pawl_sim_load(m.system, &def, bytes, length, &none, &m.err), PAWL_ERROR_USAGE);
  }
  def.simulate.rho = 0.5;
  assert_int_equal(pawl_sim_load(m.system, &def, bytes, size, &none, &m.err), PAWL_ERROR_USAGE);
  assert_non_null(strstr(m.err.message, "rho is 0.5, was "));
  pawl_sim_saved_free(bytes);
  pawl_sim_destroy(sim);
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_goes_on), cmocka_unit_test(test_damage)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
