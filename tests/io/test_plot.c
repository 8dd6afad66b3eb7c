// SPDX-License-Identifier: Apache-2.0
// What a plot shows: columns and expressions by name, windows, several runs, sizes.
#include "io/plot.h"
#include "record.h"

static PawlRecorder* table_of(const PawlPlotDef* def, const PawlRecorder* recorder) {
  PawlRecorder* table = NULL;
  PawlError err = {0};
  PawlStatus status = pawl_plot_table(def, recorder, &table, &err);
  assert_string_equal(err.message, "");
  assert_int_equal(status, PAWL_OK);
  return table;
}

static PawlPlotDef plot_of(const char* y, const char* x) {
  PawlPlotDef def = pawl_plot_def_default();
  def.y = y;
  def.x = x;
  return def;
}

// The small run with a parameter l = 2.
static PawlRecorder* run_with_parameter(void) {
  PawlRecorder* run = track_record(50);
  assert_int_equal(pawl_recorder_add_number(run, "parameters/l", 2.0, NULL), PAWL_OK);
  return run;
}

static void test_expressions(void** state) {
  (void)state;
  PawlRecorder* run = run_with_parameter();
  PawlPlotDef def = plot_of("x, y', lambda(track), l*sin(x) + y'^2, lambda(track, 1)/l, t*t", NULL);
  PawlRecorder* table = table_of(&def, run);
  assert_int_equal(pawl_recorder_column_count(table), PAWL_PLOT_CURVES + 6);
  assert_int_equal(pawl_recorder_sample_count(table), 50);
  const PawlColumn* column = pawl_recorder_column(table, PAWL_PLOT_CURVES + 3);
  assert_string_equal(column->name, "l*sin(x) + y'^2");
  assert_string_equal(column->unit, "");
  assert_string_equal(pawl_recorder_column(table, PAWL_PLOT_CURVES)->unit, "m");
  for (int i = 0; i < 50; i++) {
    const double *from = pawl_recorder_sample(run, i), *to = pawl_recorder_sample(table, i);
    const double expected[] = {from[0],       from[0],
                               from[1],       from[4],
                               from[5],       2.0 * sin(from[1]) + from[4] * from[4],
                               from[5] / 2.0, from[0] * from[0]};
    for (int k = 0; k < 8; k++) {
      CHECK_NEAR(to[k], expected[k], 1e-15 * (1.0 + fabs(expected[k])));
    }
  }
  pawl_recorder_destroy(table);
  pawl_recorder_destroy(run);
}

// Ends between two samples are interpolated; events outside are left out.
static void test_window(void** state) {
  (void)state;
  PawlRecorder* run = track_record(50);
  PawlPlotDef def = plot_of("x, x*x", NULL);
  def.from = 1.05;
  def.to = 2.25;
  PawlRecorder* table = table_of(&def, run);
  int count = pawl_recorder_sample_count(table);
  assert_int_equal(count, 14);  // 1.05, 1.1 .. 2.2, 2.25
  CHECK_NEAR(pawl_recorder_sample(table, 0)[0], 1.05, 1e-15);
  CHECK_NEAR(pawl_recorder_sample(table, 0)[2], 1.05, 1e-15);
  CHECK_NEAR(pawl_recorder_sample(table, 0)[3], 0.5 * (1.0 + 1.21), 1e-14);  // between the samples
  CHECK_NEAR(pawl_recorder_sample(table, count - 1)[0], 2.25, 1e-15);
  assert_int_equal(pawl_recorder_event_count(table), 0);
  pawl_recorder_destroy(table);
  def.to = 3.5;
  table = table_of(&def, run);
  assert_int_equal(pawl_recorder_event_count(table), 1);
  pawl_recorder_destroy(table);
  pawl_recorder_destroy(run);
}

static void test_refused(void** state) {
  (void)state;
  static const struct {
    const char *y, *x, *says;
  } cases[] = {{"x, qq", NULL, "'qq' is neither a column nor a parameter"},
               {"kinetc", NULL, "did you mean 'kinetic'?"},
               {"x +", NULL, "expected"},
               {"x,, y", NULL, "a name is missing beside a comma"},
               {"x", "x, y", "must be one quantity"},
               {"lambda(pin)", NULL, "'lambda(pin)' is neither"}};
  PawlRecorder* run = track_record(3);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    PawlError err = {0};
    PawlPlotDef def = plot_of(cases[k].y, cases[k].x);
    assert_int_equal(pawl_plot_check(&def, run, &err), PAWL_ERROR_USAGE);
    if (!strstr(err.message, cases[k].says)) {
      fail_msg("'%s' says '%s'", cases[k].y, err.message);
    }
  }
  PawlPlotDef def = plot_of("x", NULL);
  def.from = 2.0;
  def.to = 1.0;
  assert_int_equal(pawl_plot_check(&def, run, NULL), PAWL_ERROR_USAGE);
  pawl_recorder_destroy(run);
}

static int count_of(const char* text, const char* word) {
  int count = 0;
  for (const char* at = strstr(text, word); at; at = strstr(at + 1, word)) {
    count++;
  }
  return count;
}

static char* draw(Folder* folder, const PawlPlotDef* def, int count,
                  const PawlRecorder* const* runs, const char* const* names) {
  PawlError err = {0};
  const char* path = in_folder(folder, "plot.svg");
  PawlStatus status = pawl_plot_write(def, count, runs, names, path, &err);
  assert_string_equal(err.message, "");
  assert_int_equal(status, PAWL_OK);
  char* svg = slurp(path, NULL);
  unlink(path);
  return svg;
}

static void check_words(const char* svg, size_t count, const char* const* words) {
  for (size_t k = 0; k < count; k++) {
    if (!strstr(svg, words[k])) {
      fail_msg("'%s' is not in the drawing", words[k]);
    }
  }
}

// Panels hold one unit: x and y, then x', then the expression, then the multiplier.
static void test_panels_of_one_unit(void** state) {
  PawlRecorder* run = run_with_parameter();
  const PawlRecorder* runs[] = {run};
  PawlPlotDef def = plot_of("x, x', l*x, y, lambda(track)", NULL);
  char* svg = draw(*state, &def, 1, runs, NULL);
  static const char* const words[] = {
      ">x, y [m]<", ">x' [m/s]<", ">l*x<", ">lambda(track,1) [N]<", ">t [s]<", ">kinked-track<"};
  check_words(svg, sizeof words / sizeof *words, words);
  assert_int_equal(count_of(svg, "class=\"frame\""), 4);
  assert_int_equal(count_of(svg, "class=\"curve\""), 5);
  assert_int_equal(count_of(svg, "class=\"event\""), 1);
  free(svg);
  pawl_recorder_destroy(run);
}

static void test_phase_portrait(void** state) {
  PawlRecorder* run = track_record(50);
  const PawlRecorder* runs[] = {run};
  PawlPlotDef def = plot_of("x'", "y");
  char* svg = draw(*state, &def, 1, runs, NULL);
  static const char* const words[] = {">y [m]<", ">x' [m/s]<", "<circle", ">start<"};
  check_words(svg, sizeof words / sizeof *words, words);
  assert_int_equal(count_of(svg, "class=\"event\""), 0);
  free(svg);
  pawl_recorder_destroy(run);
}

// A quantity a panel, a run a curve, called by its name; the second is dashed.
static void test_several_runs(void** state) {
  PawlRecorder *run = track_record(50), *other = track_record(30);
  const PawlRecorder* runs[] = {run, other};
  const char* const names[] = {"first", "second"};
  PawlPlotDef def = plot_of("x, y", NULL);
  char* svg = draw(*state, &def, 2, runs, names);
  assert_int_equal(count_of(svg, "class=\"frame\""), 2);
  assert_int_equal(count_of(svg, "class=\"curve\""), 4);
  assert_int_equal(count_of(svg, "class=\"name\" "), 4);
  assert_int_equal(count_of(svg, "class=\"curve\" stroke=\"#d55e00\" stroke-dasharray"), 2);
  assert_int_equal(count_of(svg, "class=\"event many\""), 2);
  free(svg);
  pawl_recorder_destroy(other);
  pawl_recorder_destroy(run);
}

static void test_size(void** state) {
  PawlRecorder* run = track_record(50);
  const PawlRecorder* runs[] = {run};
  PawlPlotDef def = plot_of("x, x'", NULL);
  def.width = 500;
  def.height = 333;
  char* svg = draw(*state, &def, 1, runs, NULL);
  assert_non_null(strstr(svg, "width=\"500\" height=\"333\" viewBox=\"0 0 500 333\""));
  const char* axis = strstr(svg, ">t [s]<");
  while (strncmp(axis, " y=", 3) != 0) {
    axis--;
  }
  CHECK_NEAR(strtod(axis + 4, NULL), 333.0 - 13.0, 1.0);  // the panels fill the height
  free(svg);
  def.height = 60;
  PawlError err = {0};
  const char* path = in_folder(*state, "plot.svg");
  assert_int_equal(pawl_plot_write(&def, 1, runs, NULL, path, &err), PAWL_ERROR_USAGE);
  assert_non_null(strstr(err.message, "too small for 2 panels"));
  pawl_recorder_destroy(run);
}

static PawlStatus write_chosen(const PawlRecorder* recorder, const char* path, PawlError* err) {
  const PawlRecorder* runs[] = {recorder, recorder};
  const char* const names[] = {"a", "b"};
  PawlPlotDef def = plot_of("x, y*2, lambda", "t + x");
  def.from = 0.55;
  return pawl_plot_write(&def, 2, runs, names, path, err);
}

static void test_allocation_failures(void** state) {
  check_allocation_failures(*state, write_chosen);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_expressions),
      cmocka_unit_test(test_window),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_panels_of_one_unit),
      cmocka_unit_test(test_phase_portrait),
      cmocka_unit_test(test_several_runs),
      cmocka_unit_test(test_size),
      cmocka_unit_test(test_allocation_failures),
      cmocka_unit_test(test_nothing_left_behind),
  };
  return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
