// SPDX-License-Identifier: Apache-2.0
// Charts: places on linear and logarithmic axes, legends, what cannot be drawn.
#include "pawl/chart.h"
#include "pawl/system.h"
#include "record.h"

static void svg_of(const PawlChart* chart, char** svg) {
  PawlChartDef def = {.title = "a <title>", .chart_count = 1, .charts = chart};
  assert_int_equal(pawl_chart_svg(&def, svg, NULL), PAWL_OK);
}

static int count_of(const char* text, const char* word) {
  int count = 0;
  for (const char* at = strstr(text, word); at; at = strstr(at + 1, word)) {
    count++;
  }
  return count;
}

static double next_number(const char** at, const char* name) {
  *at = strstr(*at, name) + strlen(name);
  return strtod(*at, NULL);
}

// Points of a power law lie on a line: equal steps of the logarithms, slope 2 on equal scales.
static void test_log_axes(void** state) {
  (void)state;
  const double x[] = {1e-3, 1e-2, 1e-1}, y[] = {1e-6, 1e-4, 1e-2};
  PawlSeries series = {"law", 0, PAWL_SERIES_MARKS, 3, x, y};
  PawlChart chart = {"order 2", "h", "e", true, true, 1, &series};
  char* svg;
  svg_of(&chart, &svg);
  const char* at = strstr(svg, "<circle");
  double places[3][2];
  for (int k = 0; k < 3; k++) {
    places[k][0] = next_number(&at, " cx=\"");
    places[k][1] = next_number(&at, " cy=\"");
  }
  for (int d = 0; d < 2; d++) {
    CHECK_NEAR(places[2][d] - places[1][d], places[1][d] - places[0][d], 0.02);  // 1/100 px
  }
  CHECK_NEAR(places[2][0] - places[0][0], 330.0 / 1.08, 0.02);  // with a margin of 0.04
  CHECK_NEAR(places[0][1] - places[2][1], 230.0 / 1.08, 0.02);
  assert_int_equal(count_of(svg, ">10\u207b\u00b3<"), 2);  // on both axes
  assert_int_equal(count_of(svg, ">10\u207b\u00b9<"), 1);
  assert_non_null(strstr(svg, ">a &lt;title&gt;<"));
  assert_non_null(strstr(svg, ">law<"));
  pawl_string_free(svg);
}

// What has no logarithm is left out, and a line breaks there.
static void test_left_out(void** state) {
  (void)state;
  const double x[] = {1, 2, 3, 4, 5}, y[] = {1, 10, 0, -1, 100};
  PawlSeries series[] = {{NULL, 0, PAWL_SERIES_MARKS, 5, x, y},
                         {NULL, 1, PAWL_SERIES_LINE, 5, x, y}};
  PawlChart chart = {.y_log = true, .series_count = 2, .series = series};
  char* svg;
  svg_of(&chart, &svg);
  assert_int_equal(count_of(svg, "<circle"), 3);
  const char* line = strstr(svg, "class=\"curve\"");
  assert_int_equal(count_of(line, "M"), 2);
  assert_null(strstr(svg, "nan"));
  pawl_string_free(svg);
  chart.series_count = 0;
  svg_of(&chart, &svg);
  pawl_string_free(svg);
}

// Beyond the colours, marks differ.
static void test_marks(void** state) {
  (void)state;
  const double one = 1.0;
  PawlSeries series[9];
  for (int k = 0; k < 9; k++) {
    series[k] = (PawlSeries){NULL, k, PAWL_SERIES_MARKS, 1, &one, &one};
  }
  PawlChart chart = {.series_count = 9, .series = series};
  char* svg;
  svg_of(&chart, &svg);
  assert_int_equal(count_of(svg, "<circle"), 7);
  assert_int_equal(count_of(svg, "h5.2v5.2h-5.2z"), 2);
  pawl_string_free(svg);
}

static PawlStatus write_chart(const PawlRecorder* recorder, const char* path, PawlError* err) {
  (void)recorder;
  const double x[] = {1, 2, 3};
  PawlSeries series = {"x", 0, PAWL_SERIES_BOTH, 3, x, x};
  PawlChart chart = {"t", "x", "y", false, true, 1, &series};
  PawlChartDef def = {.chart_count = 1, .charts = &chart};
  return pawl_chart_write(&def, path, err);
}

static void test_allocation_failures(void** state) {
  check_allocation_failures(*state, write_chart);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_log_axes),
      cmocka_unit_test(test_left_out),
      cmocka_unit_test(test_marks),
      cmocka_unit_test(test_allocation_failures),
      cmocka_unit_test(test_nothing_left_behind),
  };
  return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
