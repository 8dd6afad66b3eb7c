// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "record.h"

static void test_columns_are_copied(void** state) {
  (void)state;
  char name[] = "x", unit[] = "m";
  PawlColumn columns[] = {{name, unit, PAWL_COLUMN_COORDINATE}, {"k", NULL, PAWL_COLUMN_OUTPUT}};
  PawlRecorder* recorder = new_record(2, columns);
  name[0] = unit[0] = '?';
  columns[0].kind = PAWL_COLUMN_TIME;
  assert_int_equal(pawl_recorder_column_count(recorder), 2);
  assert_string_equal(pawl_recorder_column(recorder, 0)->name, "x");
  assert_string_equal(pawl_recorder_column(recorder, 0)->unit, "m");
  assert_int_equal(pawl_recorder_column(recorder, 0)->kind, PAWL_COLUMN_COORDINATE);
  assert_string_equal(pawl_recorder_column(recorder, 1)->unit, "");
  assert_null(pawl_recorder_column(recorder, 2));
  assert_null(pawl_recorder_column(recorder, -1));
  pawl_recorder_destroy(recorder);
  pawl_recorder_destroy(NULL);
}

// Enough samples for many chunks: each stays where it was written and keeps its values.
static void check_samples(int columns, int samples) {
  PawlColumn* infos = calloc((size_t)columns, sizeof *infos);
  double** where = calloc((size_t)samples, sizeof *where);
  for (int j = 0; j < columns; j++) {
    infos[j] = (PawlColumn){"c", "", PAWL_COLUMN_OUTPUT};
  }
  PawlRecorder* recorder = new_record(columns, infos);
  for (int i = 0; i < samples; i++) {
    assert_int_equal(pawl_recorder_add(recorder, &where[i], NULL), PAWL_OK);
    for (int j = 0; j < columns; j++) {
      where[i][j] = i + 1e-3 * j;
    }
  }
  assert_int_equal(pawl_recorder_sample_count(recorder), samples);
  for (int i = 0; i < samples; i++) {
    const double* sample = pawl_recorder_sample(recorder, i);
    assert_ptr_equal(sample, where[i]);
    for (int j = 0; j < columns; j++) {
      assert_true(sample[j] == i + 1e-3 * j);  // exact: stored and read
    }
  }
  assert_null(pawl_recorder_sample(recorder, samples));
  assert_null(pawl_recorder_sample(recorder, -1));
  pawl_recorder_destroy(recorder);
  free(where);
  free(infos);
}

static void test_samples_stay(void** state) {
  (void)state;
  check_samples(1, 100000);
  check_samples(7, 50000);
  check_samples(20000, 3);  // a row longer than a chunk
}

static void test_no_columns(void** state) {
  (void)state;
  PawlRecorder* recorder = new_record(0, NULL);
  double* sample = NULL;
  assert_int_equal(pawl_recorder_add(recorder, &sample, NULL), PAWL_OK);
  assert_int_equal(pawl_recorder_sample_count(recorder), 1);
  pawl_recorder_destroy(recorder);
  PawlError err = {0};
  assert_int_equal(pawl_recorder_create(-1, NULL, 100, &recorder, &err), PAWL_ERROR_USAGE);
  assert_null(recorder);
}

// Two columns, 16 bytes a row: 100 bytes hold 6 rows.
static void test_limit(void** state) {
  (void)state;
  const PawlColumn columns[] = {{"t", "s", PAWL_COLUMN_TIME}, {"x", "m", PAWL_COLUMN_COORDINATE}};
  PawlRecorder* recorder = NULL;
  PawlError err = {0};
  double* sample = NULL;
  assert_int_equal(pawl_recorder_create(2, columns, 100, &recorder, &err), PAWL_OK);
  for (int i = 0; i < 6; i++) {
    assert_int_equal(pawl_recorder_add(recorder, &sample, &err), PAWL_OK);
  }
  assert_int_equal(pawl_recorder_add(recorder, &sample, &err), PAWL_ERROR_MEMORY);
  assert_int_equal(pawl_recorder_sample_count(recorder), 6);
  assert_non_null(strstr(err.message, "6 samples of 2 columns"));
  assert_non_null(strstr(err.message, "'record'"));
  pawl_recorder_destroy(recorder);
}

// 100000 samples in the room of about 64: the ends and both spikes are there, times never go back,
// and of every group the extremes lie where they were, to its width.
static void test_thinning(void** state) {
  (void)state;
  enum { SAMPLES = 100000, MOST = 64, UP = 31234, DOWN = 77777 };
  const PawlColumn columns[] = {{"t", "s", PAWL_COLUMN_TIME}, {"x", "m", PAWL_COLUMN_COORDINATE}};
  PawlRecorder* recorder = NULL;
  assert_int_equal(pawl_recorder_create(2, columns, 1 << 20, &recorder, NULL), PAWL_OK);
  pawl_recorder_thin(recorder, MOST);
  for (int i = 0; i < SAMPLES; i++) {
    double x = i == UP ? 5.0 : i == DOWN ? -7.0 : i % 1000 == 3 ? NAN : 1e-6 * i;
    assert_int_equal(pawl_recorder_put(recorder, (double[]){i, x}, NULL), PAWL_OK);
    assert_true(pawl_recorder_sample_count(recorder) <= MOST + 2);
  }
  int count = pawl_recorder_sample_count(recorder);
  double up = NAN, down = NAN, width = 4.0 * SAMPLES / MOST;
  for (int k = 0; k < count; k++) {
    const double* sample = pawl_recorder_sample(recorder, k);
    assert_true(k == 0 || sample[0] >= pawl_recorder_sample(recorder, k - 1)[0]);
    up = sample[1] == 5.0 ? sample[0] : up;
    down = sample[1] == -7.0 ? sample[0] : down;
  }
  assert_true(count >= MOST / 2);
  assert_true(fabs(up - UP) <= width && fabs(down - DOWN) <= width);
  assert_true(pawl_recorder_sample(recorder, 0)[0] == 0.0);
  assert_true(pawl_recorder_sample(recorder, count - 1)[0] == SAMPLES - 1);
  pawl_recorder_destroy(recorder);
}

// Up to the limit all are kept as they are, values that are not known too.
static void test_few_are_not_thinned(void** state) {
  (void)state;
  const PawlColumn columns[] = {{"t", "s", PAWL_COLUMN_TIME}};
  PawlRecorder* recorder = NULL;
  assert_int_equal(pawl_recorder_create(1, columns, 1 << 20, &recorder, NULL), PAWL_OK);
  pawl_recorder_thin(recorder, 100);
  for (int i = 0; i < 100; i++) {
    double x = i % 3 ? (double)i : (double)NAN;
    assert_int_equal(pawl_recorder_put(recorder, &x, NULL), PAWL_OK);
  }
  assert_int_equal(pawl_recorder_sample_count(recorder), 100);
  for (int i = 0; i < 100; i++) {
    double x = pawl_recorder_sample(recorder, i)[0];
    assert_true(i % 3 ? x == i : isnan(x));
  }
  pawl_recorder_destroy(recorder);
}

static void test_events_are_copied(void** state) {
  (void)state;
  PawlRecorder* recorder = new_record(0, NULL);
  for (int i = 0; i < 1000; i++) {
    char constraint[16], from[16], to[16];
    double impulse[2] = {i, -i}, before[3] = {1, 2, i}, after[3] = {3, 4, -i};
    snprintf(constraint, sizeof constraint, "c%d", i);
    snprintf(from, sizeof from, "from%d", i);
    snprintf(to, sizeof to, "to%d", i);
    PawlEvent event = {i, constraint, from, to, 0.5, i % 3, impulse, 3, before, after};
    assert_int_equal(pawl_recorder_add_event(recorder, &event, NULL), PAWL_OK);
    memset(constraint, '?', 3);
  }
  assert_int_equal(pawl_recorder_event_count(recorder), 1000);
  const PawlEvent* event = pawl_recorder_event(recorder, 998);
  assert_true(event->t == 998.0 && event->energy_lost == 0.5);
  assert_string_equal(event->constraint, "c998");
  assert_string_equal(event->from, "from998");
  assert_string_equal(event->to, "to998");
  assert_int_equal(event->row_count, 2);
  assert_true(event->impulse[1] == -998.0);
  assert_true(event->v_before[2] == 998.0 && event->v_after[2] == -998.0);
  assert_null(pawl_recorder_event(recorder, 1000));
  pawl_recorder_destroy(recorder);
}

static void test_event_without_names(void** state) {
  (void)state;
  PawlRecorder* recorder = new_record(0, NULL);
  PawlEvent event = {.t = 1.0};
  assert_int_equal(pawl_recorder_add_event(recorder, &event, NULL), PAWL_OK);
  assert_string_equal(pawl_recorder_event(recorder, 0)->from, "");
  event.row_count = -1;
  assert_int_equal(pawl_recorder_add_event(recorder, &event, NULL), PAWL_ERROR_USAGE);
  assert_int_equal(pawl_recorder_event_count(recorder), 1);
  pawl_recorder_destroy(recorder);
}

static void test_facts(void** state) {
  (void)state;
  PawlRecorder* recorder = new_record(0, NULL);
  char value[] = "rk4";
  assert_null(pawl_recorder_fact_name(recorder, 0));
  assert_int_equal(pawl_recorder_add_fact(recorder, "model", "a", NULL), PAWL_OK);
  assert_int_equal(pawl_recorder_add_fact(recorder, "method", value, NULL), PAWL_OK);
  assert_int_equal(pawl_recorder_add_fact(recorder, "model", "b", NULL), PAWL_OK);  // replaces
  value[0] = '?';
  assert_string_equal(pawl_recorder_fact_name(recorder, 0), "model");
  assert_string_equal(pawl_recorder_fact_value(recorder, 0), "b");
  assert_string_equal(pawl_recorder_fact_value(recorder, 1), "rk4");
  assert_null(pawl_recorder_fact_name(recorder, 2));
  assert_null(pawl_recorder_fact_value(recorder, 2));
  pawl_recorder_destroy(recorder);
}

// Parameters of large families: each is found without a look at the others, else this takes
// minutes.
static void test_many_facts(void** state) {
  (void)state;
  enum { COUNT = 200000 };
  PawlRecorder* recorder = new_record(0, NULL);
  char name[40];
  for (int k = 0; k < 2 * COUNT; k++) {
    snprintf(name, sizeof name, "mass[%d]", k % COUNT);
    assert_int_equal(pawl_recorder_add_number(recorder, name, k, NULL), PAWL_OK);
  }
  for (int k = 0; k < COUNT; k += 777) {
    double number;
    snprintf(name, sizeof name, "mass[%d]", k);
    assert_string_equal(pawl_recorder_fact_name(recorder, k), name);
    assert_true(pawl_recorder_fact_number(recorder, k, &number) && number == COUNT + k);
  }
  assert_null(pawl_recorder_fact_name(recorder, COUNT));
  pawl_recorder_destroy(recorder);
}

// One of each call. Says how many samples, events and facts must be there after a failure.
static PawlStatus record_all(PawlRecorder** out, int counts[3]) {
  const PawlColumn column = {"x", "m", PAWL_COLUMN_COORDINATE};
  const double numbers[] = {1.0, 2.0};
  PawlEvent event = {1.0, "c", "a", "b", 0.0, 2, numbers, 2, numbers, numbers};
  PAWL_TRY(pawl_recorder_create(1, &column, 1u << 30, out, NULL));
  for (counts[0] = 0; counts[0] < 40000; counts[0]++) {  // three chunks
    double* sample;
    PAWL_TRY(pawl_recorder_add(*out, &sample, NULL));
    *sample = counts[0];
  }
  for (counts[1] = 0; counts[1] < 40; counts[1]++) {
    PAWL_TRY(pawl_recorder_add_event(*out, &event, NULL));
  }
  for (counts[2] = 0; counts[2] < 12; counts[2]++) {
    char name[8];
    snprintf(name, sizeof name, "f%d", counts[2]);
    PAWL_TRY(pawl_recorder_add_fact(*out, name, "value", NULL));
  }
  return PAWL_OK;
}

static void test_allocation_failures(void** state) {
  (void)state;
  PawlStatus status = PAWL_ERROR_MEMORY;
  int n = 0;
  while (status != PAWL_OK) {
    PawlRecorder* recorder = NULL;
    int counts[3] = {0, 0, 0};
    pawl_alloc_fail_at(++n);
    status = record_all(&recorder, counts);
    pawl_alloc_fail_at(0);
    assert_true(status == PAWL_OK || status == PAWL_ERROR_MEMORY);
    if (recorder) {
      assert_int_equal(pawl_recorder_sample_count(recorder), counts[0]);
      assert_int_equal(pawl_recorder_event_count(recorder), counts[1]);
      assert_null(pawl_recorder_fact_name(recorder, counts[2]));
    }
    pawl_recorder_destroy(recorder);
    assert_true(n < 1000);
  }
  assert_true(n > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns_are_copied),
      cmocka_unit_test(test_samples_stay),
      cmocka_unit_test(test_no_columns),
      cmocka_unit_test(test_limit),
      cmocka_unit_test(test_thinning),
      cmocka_unit_test(test_few_are_not_thinned),
      cmocka_unit_test(test_events_are_copied),
      cmocka_unit_test(test_event_without_names),
      cmocka_unit_test(test_facts),
      cmocka_unit_test(test_many_facts),
      cmocka_unit_test(test_allocation_failures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
