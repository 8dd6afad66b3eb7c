// SPDX-License-Identifier: Apache-2.0
// The parts of a drawing: texts, axes, choice of panels, paths, labels of events.
#include "io/svg.h"
#include "record.h"

static void check_text(PawlText* text, const char* expected) {
  assert_false(text->failed);
  assert_string_equal(text->s ? text->s : "", expected);
  pawl_text_free(text);
}

static void test_lengths(void** state) {
  (void)state;
  PawlText text = {0};
  const double lengths[] = {0.0, 1.0, -1.5, 0.25, -0.05, 123.456, 99.999, -0.001};
  for (int i = 0; i < 8; i++) {
    pawl_svg_length(&text, lengths[i]);
    pawl_text_add(&text, ";");
  }
  check_text(&text, "0;1;-1.5;.25;-.05;123.46;100;0;");
}

static void test_escape(void** state) {
  (void)state;
  PawlText text = {0};
  pawl_svg_escape(&text, "a<b> & \"c\" 'd'", 100);
  check_text(&text, "a&lt;b&gt; &amp; &quot;c&quot; 'd'");
  pawl_svg_escape(&text, "\u03c6\u2192\U0001f600", 3);
  check_text(&text, "\u03c6\u2192\U0001f600");
  pawl_svg_escape(&text, "\u03c6\u2192\U0001f600", 2);
  check_text(&text, "\u03c6\u2026");
  // A control character, a stray byte, an overlong form, a surrogate, a cut sequence.
  pawl_svg_escape(&text,
                  "a\x01"
                  "b\xff"
                  "c\xc0\x80"
                  "d\xed\xa0\x80"
                  "e\xe2\x86",
                  100);
  check_text(&text, "a?b?c??d???e??");
}

static void check_ticks(PawlSvgAxis axis, const char* expected) {
  PawlText text = {0};
  for (int k = axis.first; k <= axis.last; k++) {
    pawl_svg_axis_label(&text, &axis, k);
    pawl_text_add(&text, " ");
  }
  pawl_svg_axis_factor(&text, &axis);
  check_text(&text, expected);
}

static void test_ticks(void** state) {
  (void)state;
  check_ticks(pawl_svg_axis(0.0, 1.0, 0.0, 5), "0 0.2 0.4 0.6 0.8 1.0 ");
  check_ticks(pawl_svg_axis(0.0, 6.0, 0.0, 8), "0 1 2 3 4 5 6 ");
  check_ticks(pawl_svg_axis(-3.0, 40.0, 0.0, 5), "0 10 20 30 40 ");
  check_ticks(pawl_svg_axis(-0.7, 0.7, 0.0, 4), "\u22120.5 0 0.5 ");
  check_ticks(pawl_svg_axis(0.0, 2e6, 0.0, 5), "0 0.5 1.0 1.5 2.0 \u00d710\u2076");
  check_ticks(pawl_svg_axis(0.0, 3e-10, 0.0, 3), "0 100 200 300 \u00d710\u207b\u00b9\u00b2");
  check_ticks(pawl_svg_axis(-1e300, 1e300, 0.0, 4),
              "\u22121.0 \u22120.5 0 0.5 1.0 \u00d710\u00b3\u2070\u2070");
}

// A drift of 1e-12 around 60 is seen: labels count from 60.
static void test_offset(void** state) {
  (void)state;
  PawlSvgAxis axis = pawl_svg_axis(60.0 - 1.3e-12, 60.0 + 1.3e-12, 0.0, 4);
  check_ticks(axis, "\u22121 0 1 \u00d710\u207b\u00b9\u00b2 + 60");
  CHECK_NEAR(pawl_svg_axis_place(&axis, 60.0), 0.5, 1e-2);  // 1e-12 is 140 roundings of 60
  axis = pawl_svg_axis(-1e6 - 1.0, -1e6 + 1.0, 0.0, 2);
  check_ticks(axis, "\u22121 0 1 \u2212 1000000");
}

static void test_constants_have_a_range(void** state) {
  (void)state;
  const double constants[] = {0.0, 7.0, -1e300, 1e-300, 5e-324, 60.0};
  for (int i = 0; i < 6; i++) {
    PawlSvgAxis axis = pawl_svg_axis(constants[i], constants[i], 0.05, 5);
    CHECK_NEAR(pawl_svg_axis_place(&axis, constants[i]), 0.5, 1e-12);  // in the middle
    assert_true(axis.last > axis.first && axis.last - axis.first <= 6);
  }
}

static PawlRecorder* rows(int columns, const PawlColumn* infos, int count, const double* values) {
  PawlRecorder* recorder = new_record(columns, infos);
  for (int i = 0; i < count; i++) {
    add_sample(recorder, values + i * columns);
  }
  return recorder;
}

static int panels_of(const PawlRecorder* recorder, PawlSvgPanel panels[]) {
  int count = 0;
  int left_out = 0;
  assert_int_equal(pawl_svg_panels(recorder, panels, &count, &left_out, NULL), PAWL_OK);
  return count;
}

#define COORDINATE(name, unit) \
  { name, unit, PAWL_COLUMN_COORDINATE }

static void test_panels_split_by_unit_and_size(void** state) {
  (void)state;
  const PawlColumn columns[] = {COORDINATE("x", "m"), COORDINATE("phi", "rad"),
                                COORDINATE("y", "m"), COORDINATE("tiny", "m"),
                                COORDINATE("still", "m")};
  const double values[] = {0, 0, 0, 0, 0, 10, 1, 1, 0.1, 1e-15};
  PawlSvgPanel panels[PAWL_SVG_PANELS];
  PawlRecorder* recorder = rows(5, columns, 2, values);
  assert_int_equal(panels_of(recorder, panels), 3);
  assert_int_equal(panels[0].curve_count, 3);  // x, y, and what does not move
  assert_string_equal(panels[0].unit, "m");
  assert_true(panels[0].lo == 0.0 && panels[0].hi == 10.0);
  assert_int_equal(panels[1].curves[0].column, 1);
  assert_string_equal(panels[1].unit, "rad");
  assert_int_equal(panels[2].curves[0].column, 3);
  pawl_recorder_destroy(recorder);
}

// Far apart is squashed as well: x moves by 1 near 1000, y by 1 near 0.
static void test_panels_split_by_place(void** state) {
  (void)state;
  const PawlColumn columns[] = {COORDINATE("x", "m"), COORDINATE("y", "m")};
  PawlSvgPanel panels[PAWL_SVG_PANELS];
  PawlRecorder* recorder = rows(2, columns, 2, (double[]){1000, 0, 1001, 1});
  assert_int_equal(panels_of(recorder, panels), 2);
  pawl_recorder_destroy(recorder);
}

// More units than panels: no panel has two, and what finds none is counted.
static void test_panels_never_mix_units(void** state) {
  (void)state;
  enum { COUNT = 12 };
  PawlColumn columns[COUNT];
  char units[COUNT][8];
  double values[2 * COUNT] = {0};
  for (int i = 0; i < COUNT; i++) {
    snprintf(units[i], sizeof units[i], "u%d", i % 6);
    columns[i] = (PawlColumn)COORDINATE(units[i], units[i]);
    values[COUNT + i] = pow(1000.0, i % 2);
  }
  PawlSvgPanel panels[PAWL_SVG_PANELS];
  PawlRecorder* recorder = rows(COUNT, columns, 2, values);
  int count = 0, left_out = 0, drawn = 0;
  assert_int_equal(pawl_svg_panels(recorder, panels, &count, &left_out, NULL), PAWL_OK);
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < panels[i].curve_count; k++, drawn++) {
      assert_string_equal(columns[panels[i].curves[k].column].unit, panels[i].unit);
    }
  }
  assert_int_equal(drawn + left_out, COUNT);
  assert_true(count == 4 && left_out > 0);
  pawl_recorder_destroy(recorder);
}

// Multipliers are drawn beside everything else, those of each constraint for themselves; one that
// never acts is not.
static void test_multipliers_have_panels(void** state) {
  (void)state;
  const PawlColumn columns[] = {COORDINATE("x", "m"),
                                COORDINATE("phi", "rad"),
                                {"x'", "m/s", PAWL_COLUMN_RATE},
                                {"phi'", "rad/s", PAWL_COLUMN_RATE},
                                {"energy", "J", PAWL_COLUMN_ENERGY},
                                {"a", "N", PAWL_COLUMN_OUTPUT},
                                {"lambda(pin,1)", "", PAWL_COLUMN_MULTIPLIER},
                                {"lambda(pin,2)", "", PAWL_COLUMN_MULTIPLIER},
                                {"lambda(pi)", "", PAWL_COLUMN_MULTIPLIER},
                                {"lambda(idle)", "", PAWL_COLUMN_MULTIPLIER}};
  const double values[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 3, 0};
  PawlSvgPanel panels[PAWL_SVG_PANELS];
  PawlRecorder* recorder = rows(10, columns, 2, values);
  assert_int_equal(panels_of(recorder, panels), 8);
  assert_true(panels[6].kind == PAWL_COLUMN_MULTIPLIER && panels[6].curve_count == 2);
  assert_true(panels[7].curve_count == 1 && panels[7].curves[0].column == 8);
  pawl_recorder_destroy(recorder);
}

// Rounding beside impulses is no force: they are measured by the time of the run.
static void test_rounding_is_no_multiplier(void** state) {
  (void)state;
  const PawlColumn columns[] = {{"t", "s", PAWL_COLUMN_TIME},
                                COORDINATE("x", "m"),
                                {"lambda(floor)", "N", PAWL_COLUMN_MULTIPLIER}};
  const double values[] = {0, 0, 0, 2, 1, 1e-28}, impulse = 3.0;
  const PawlEvent hit = {.t = 1, .constraint = "floor", .row_count = 1, .impulse = &impulse};
  PawlSvgPanel panels[PAWL_SVG_PANELS];
  for (int k = 0; k < 2; k++) {
    PawlRecorder* recorder = rows(3, columns, 2, values);
    assert_int_equal(k ? pawl_recorder_add_event(recorder, &hit, NULL) : PAWL_OK, PAWL_OK);
    assert_int_equal(panels_of(recorder, panels), k ? 1 : 2);
    pawl_recorder_destroy(recorder);
  }
}

// An angle, and rates, of which rounding alone is left are drawn as zero; lengths are measured by
// others.
static void test_rounding_is_no_motion(void** state) {
  (void)state;
  const PawlColumn columns[] = {{"t", "s", PAWL_COLUMN_TIME},
                                COORDINATE("x", "m"),
                                COORDINATE("phi", "rad"),
                                {"x'", "m/s", PAWL_COLUMN_RATE},
                                {"phi'", "rad/s", PAWL_COLUMN_RATE}};
  for (int k = 0; k < 2; k++) {
    const double tiny = k ? 1e-13 : 1e-9;
    const double values[] = {0, 3, 0, 0, 0, 2, 3, tiny, -tiny, tiny};
    PawlSvgPanel panels[PAWL_SVG_PANELS];
    PawlRecorder* recorder = rows(5, columns, 2, values);
    assert_int_equal(panels_of(recorder, panels), 4);
    assert_true(panels[1].lo == 0.0 && panels[1].hi == (k ? 0.0 : tiny));
    assert_true(panels[2].lo == (k ? 0.0 : -tiny) && panels[2].hi == 0.0);
    assert_true(panels[3].lo == 0.0 && panels[3].hi == (k ? 0.0 : tiny));
    pawl_recorder_destroy(recorder);
  }
}

static void test_many_curves_are_chosen_evenly(void** state) {
  (void)state;
  enum { COUNT = 300 };
  PawlColumn columns[COUNT];
  char names[COUNT][16];
  double values[2 * COUNT] = {0};
  for (int i = 0; i < COUNT; i++) {
    snprintf(names[i], sizeof names[i], "u[%d]", i);
    columns[i] = (PawlColumn)COORDINATE(names[i], "m");
    values[COUNT + i] = pow(10.0, -i / 20.0);  // very different, yet one family
  }
  PawlSvgPanel panels[PAWL_SVG_PANELS];
  PawlRecorder* recorder = rows(COUNT, columns, 2, values);
  assert_int_equal(panels_of(recorder, panels), 1);
  assert_int_equal(panels[0].total, COUNT);
  assert_int_equal(panels[0].curve_count, PAWL_SVG_CURVES);
  for (int i = 0; i < PAWL_SVG_CURVES; i++) {
    CHECK_NEAR(panels[0].curves[i].column, 299.0 * i / 11.0, 1.0);
  }
  assert_int_equal(panels[0].curves[PAWL_SVG_CURVES - 1].column, 299);
  pawl_recorder_destroy(recorder);
}

static void check_jumps(int samples, const double* values, const char* expected,
                        const char* expected_jumps) {
  const PawlColumn columns[] = {{"t", "s", PAWL_COLUMN_TIME}, COORDINATE("x", "m")};
  PawlSvgAxis x = {.lo = 0.0, .hi = 10.0}, y = {.lo = 0.0, .hi = 10.0};
  PawlSvgFrame frame = {&x, &y, 0.0, 0.0, 10.0, 10.0};
  PawlRecorder* recorder = rows(2, columns, samples, values);
  PawlText text = {0};
  PawlText jumps = {0};
  PawlSvgCurve curve = {.recorder = recorder, .column = 1};
  pawl_svg_curve(&text, &jumps, &curve, &frame);
  check_text(&text, expected);
  check_text(&jumps, expected_jumps);
  pawl_recorder_destroy(recorder);
}

static void check_path(int samples, const double* values, const char* expected) {
  check_jumps(samples, values, expected, "");
}

static void test_paths(void** state) {
  (void)state;
  check_path(0, NULL, "");
  check_path(2, (double[]){0, 10, 10, 0}, "M0 0l10 10");
  // Points on a line are left out, a corner stays.
  check_path(5, (double[]){0, 0, 1, 1, 2, 2, 3, 3, 4, 0}, "M0 10l3-3 1 3");
  check_path(5, (double[]){0, 9, 1, 8, 2, 7, 3, 6, 4, 9}, "M0 1l3 3 1-3");
  // A jump: two samples at one time, joined by a line of its own. One that cannot be seen is none.
  check_jumps(4, (double[]){0, 5, 5, 5, 5, 1, 10, 1}, "M0 5l5 0M5 9l5 0", "M5 5l0 4");
  check_path(4, (double[]){0, 5, 5, 5, 5, 4.9, 10, 4.9}, "M0 5l5 0 0 .1 5 0");
  // One side of a jump without a value is left out.
  check_path(4, (double[]){0, 5, 5, NAN, 5, 1, 10, 1}, "M0 5l5 4 5 0");
  // What is not finite breaks the path; a lone point is a dot.
  check_path(6, (double[]){0, 0, 1, 0, 2, NAN, 3, 3, 4, INFINITY, 5, 1e305},
             "M0 10l1 0M3 7m-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0");
}

// 10^5 samples with one spike: few points, and the spike keeps its height.
static void test_long_curves_are_thinned(void** state) {
  (void)state;
  const PawlColumn columns[] = {{"t", "s", PAWL_COLUMN_TIME}, COORDINATE("x", "m")};
  PawlSvgAxis x = {.lo = 0.0, .hi = 100000.0}, y = {.lo = -1.0, .hi = 9.0};
  PawlSvgFrame frame = {&x, &y, 0.0, 0.0, 600.0, 100.0};
  PawlRecorder* recorder = new_record(2, columns);
  for (int i = 0; i < 100000; i++) {
    add_sample(recorder, (double[]){i, i == 54321 ? 9.0 : sin(0.3 * i)});
  }
  PawlText text = {0};
  PawlText jumps = {0};
  PawlSvgCurve curve = {.recorder = recorder, .column = 1};
  pawl_svg_curve(&text, &jumps, &curve, &frame);
  assert_int_equal(jumps.length, 0);
  assert_true(text.length < 2000 * 10);
  const char* next = strchr(text.s, ' ');
  double at = strtod(next, (char**)&next), top = at;
  next = strchr(next, 'l') + 1;
  int points = 1;
  for (; *next; points++) {
    strtod(next, (char**)&next);
    at += strtod(next, (char**)&next);
    top = fmin(top, at);
  }
  CHECK_NEAR(top, 0.0, 0.5 * 0.01 * points);  // relative steps of 1/100 px
  assert_true(points <= 1202);
  pawl_text_free(&text);
  pawl_recorder_destroy(recorder);
}

// Labels take rows so that no label lies over another or over a line that rises past it.
static void test_labels_do_not_cross(void** state) {
  (void)state;
  PawlRecorder* recorder = new_record(0, NULL);
  for (int i = 0; i < 200; i++) {
    add_switch(recorder, 10.0 * sqrt(i / 200.0), i % 3 ? "coupling" : "brake",
               i % 2 ? "free" : "engaged", "next");
  }
  PawlSvgAxis x = {.lo = 0.0, .hi = 10.0};
  static PawlSvgMarks marks;
  pawl_svg_marks(recorder, &x, 50.0, 600.0, 800.0, &marks);
  assert_true(marks.labelled >= 6 && marks.rows == PAWL_SVG_EVENT_ROWS);
  for (int i = 0; i < marks.count; i++) {
    const PawlSvgMark* a = &marks.marks[i];
    PawlText label = {0};
    pawl_svg_mark_label(&label, pawl_recorder_event(recorder, a->event), a->label_limit);
    double end = a->x + pawl_svg_width(label.s, a->label_limit, PAWL_SVG_FONT);
    pawl_text_free(&label);
    for (int j = i + 1; a->row >= 0 && j < marks.count && marks.marks[j].x < end; j++) {
      assert_true(marks.marks[j].row < a->row);  // its line ends below this label
    }
    assert_true(a->row < 0 || end < 800.0 + PAWL_SVG_FONT);
  }
  pawl_recorder_destroy(recorder);
}

static void test_chatter_is_marked_once_in_a_while(void** state) {
  (void)state;
  PawlRecorder* recorder = new_record(0, NULL);
  for (int i = 0; i < 100000; i++) {
    add_switch(recorder, 1e-4 * i, "brake", i % 2 ? "a" : "b", i % 2 ? "b" : "a");
  }
  add_switch(recorder, NAN, "brake", "a", "b");
  add_switch(recorder, 99.0, "brake", "a", "b");
  PawlSvgAxis x = {.lo = 0.0, .hi = 10.0};
  static PawlSvgMarks marks;
  pawl_svg_marks(recorder, &x, 50.0, 600.0, 800.0, &marks);
  assert_true(marks.count >= 200 && marks.count <= 603);
  assert_true(marks.marks[marks.count - 1].x > 645.0);  // reaches the end
  pawl_recorder_destroy(recorder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lengths),
      cmocka_unit_test(test_escape),
      cmocka_unit_test(test_ticks),
      cmocka_unit_test(test_offset),
      cmocka_unit_test(test_constants_have_a_range),
      cmocka_unit_test(test_panels_split_by_unit_and_size),
      cmocka_unit_test(test_panels_split_by_place),
      cmocka_unit_test(test_panels_never_mix_units),
      cmocka_unit_test(test_multipliers_have_panels),
      cmocka_unit_test(test_rounding_is_no_multiplier),
      cmocka_unit_test(test_rounding_is_no_motion),
      cmocka_unit_test(test_many_curves_are_chosen_evenly),
      cmocka_unit_test(test_paths),
      cmocka_unit_test(test_long_curves_are_thinned),
      cmocka_unit_test(test_labels_do_not_cross),
      cmocka_unit_test(test_chatter_is_marked_once_in_a_while),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
