// SPDX-License-Identifier: Apache-2.0
// The drawing as a whole: well-formed XML that shows what was recorded.
#include "record.h"

enum { DEEPEST = 16 };

static size_t name_length(const char* s) {
  return strcspn(s, " />\n");
}

// Are tags closed in order, attributes quoted and texts free of stray '<' and '&'?
static int well_formed(const char* s) {
  const char* open[DEEPEST];
  int depth = 0;
  for (; *s; s++) {
    if (*s == '&' && strncmp(s, "&lt;", 4) && strncmp(s, "&gt;", 4) && strncmp(s, "&amp;", 5) &&
        strncmp(s, "&quot;", 6)) {
      return 0;
    }
    if (*s != '<') {
      continue;
    }
    const char* end = strchr(s, '>');
    const char* name = s + 1;
    int quotes = 0;
    for (const char* c = s; end && c < end; c++) {
      quotes += *c == '"';
    }
    if (!end || quotes % 2 != 0 || memchr(s + 1, '<', (size_t)(end - s - 1))) {
      return 0;
    }
    if (*name == '/') {
      name++;
      size_t length = name_length(name);
      if (depth == 0 || name_length(open[depth - 1]) != length ||
          strncmp(open[--depth], name, length) != 0) {
        return 0;
      }
    } else if (end[-1] != '/') {
      if (depth == DEEPEST) {
        return 0;
      }
      open[depth++] = name;
    }
    s = end;
  }
  return depth == 0;
}

static char* draw(Folder* folder, const PawlRecorder* recorder) {
  const char* path = in_folder(folder, "a.svg");
  assert_int_equal(pawl_write_svg(recorder, path, NULL), PAWL_OK);
  char* svg = slurp(path, NULL);
  unlink(path);
  assert_true(well_formed(svg));
  assert_null(strstr(svg, "nan"));
  assert_null(strstr(svg, "inf"));
  return svg;
}

static void test_checker(void** state) {
  (void)state;
  assert_true(well_formed("<a><b x=\"1\"/>t &amp; u<c>d</c></a>"));
  assert_false(well_formed("<a><b></a></b>"));
  assert_false(well_formed("<a>"));
  assert_false(well_formed("<a>x & y</a>"));
  assert_false(well_formed("<a x=\"1></a>"));
  assert_false(well_formed("<a>1 < 2</a>"));
}

static int count_of(const char* text, const char* part) {
  int count = 0;
  for (const char* at = strstr(text, part); at; at = strstr(at + 1, part)) {
    count++;
  }
  return count;
}

static void test_shows_what_was_recorded(void** state) {
  PawlRecorder* recorder = track_record(61);
  char* svg = draw(*state, recorder);
  const char* const words[] = {">kinked-track<",
                               ">nsga-pvv, step 0.002 s<",
                               ">track: flat \u2192 ramp<",
                               ">x<",
                               ">y'<",
                               ">kinetic<",
                               ">lambda(track,1)<",
                               ">a/b<",
                               ">coordinates [m]<",
                               ">rates [m/s]<",
                               ">energies [J]<",
                               ">multipliers [N]<",
                               ">outputs<",
                               ">t [s]<"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (!strstr(svg, words[i])) {
      fail_msg("'%s' is not in the drawing", words[i]);
    }
  }
  assert_int_equal(count_of(svg, "class=\"curve\""), 7);
  assert_int_equal(count_of(svg, "class=\"event\""), 1);
  free(svg);
  pawl_recorder_destroy(recorder);
}

static void test_few_samples(void** state) {
  for (int samples = 0; samples < 3; samples++) {
    PawlRecorder* recorder = track_record(samples);
    char* svg = draw(*state, recorder);
    assert_non_null(strstr(svg, samples == 0 ? "nothing was recorded" : ">coordinates [m]<"));
    free(svg);
    pawl_recorder_destroy(recorder);
  }
  PawlRecorder* recorder = new_record(0, NULL);
  free(draw(*state, recorder));
  pawl_recorder_destroy(recorder);
}

static void test_names_are_escaped(void** state) {
  const PawlColumn columns[] = {{"t<0>", "&", PAWL_COLUMN_TIME},
                                {"<x> & \"y\"", "<m>", PAWL_COLUMN_COORDINATE},
                                {"\x02\xff", "\xfe", PAWL_COLUMN_COORDINATE}};
  PawlRecorder* recorder = new_record(3, columns);
  add_sample(recorder, (double[]){0.0, 1.0, 2.0});
  add_sample(recorder, (double[]){1.0, 2.0, 1.0});
  add_switch(recorder, 0.5, "a<b", "&", "\">");
  assert_int_equal(pawl_recorder_add_fact(recorder, "model", "<&>", NULL), PAWL_OK);
  assert_int_equal(pawl_recorder_add_fact(recorder, "method", "<rk4>", NULL), PAWL_OK);
  char* svg = draw(*state, recorder);
  assert_non_null(strstr(svg, ">a&lt;b: &amp; \u2192 &quot;&gt;<"));
  assert_non_null(strstr(svg, ">&lt;x&gt; &amp; &quot;y&quot;<"));
  free(svg);
  pawl_recorder_destroy(recorder);
}

// Values of every size in one record; nothing overflows, all is drawn or left out.
static void test_extreme_values(void** state) {
  const double extremes[] = {0.0,   1e-320, 1e-300,  -1e-12, 60.0,     60.0 + 1e-12,
                             1e300, -1e300, 1.7e308, NAN,    INFINITY, -INFINITY};
  enum { COUNT = sizeof extremes / sizeof *extremes };
  const PawlColumn columns[] = {{"t", "s", PAWL_COLUMN_TIME},
                                {"x", "m", PAWL_COLUMN_COORDINATE},
                                {"x'", "m/s", PAWL_COLUMN_RATE},
                                {"bad", "", PAWL_COLUMN_OUTPUT}};
  for (int i = 0; i < COUNT; i++) {
    for (int j = 0; j < COUNT; j++) {
      PawlRecorder* recorder = new_record(4, columns);
      add_sample(recorder, (double[]){0.0, extremes[i], extremes[j], NAN});
      add_sample(recorder, (double[]){extremes[j], extremes[j], extremes[j], NAN});
      char* svg = draw(*state, recorder);
      assert_null(strstr(svg, "bad"));
      assert_true(strlen(svg) < 10000);
      free(svg);
      pawl_recorder_destroy(recorder);
    }
  }
}

// 3 panels of 12 noisy curves each and 10^4 samples: the size stays that of a picture.
static void test_many_curves(void** state) {
  enum { FAMILY = 100, COUNT = 1 + 2 * FAMILY };
  PawlColumn columns[COUNT] = {{"t", "s", PAWL_COLUMN_TIME}};
  char names[COUNT][16];
  for (int j = 1; j < COUNT; j++) {
    int rate = j > FAMILY;
    snprintf(names[j], sizeof names[j], rate ? "u[%d]'" : "u[%d]", (j - 1) % FAMILY);
    columns[j] = (PawlColumn){names[j], rate ? "m/s" : "m",
                              rate ? PAWL_COLUMN_RATE : PAWL_COLUMN_COORDINATE};
  }
  PawlRecorder* recorder = new_record(COUNT, columns);
  for (int i = 0; i < 10000; i++) {
    double values[COUNT] = {1e-3 * i};
    for (int j = 1; j < COUNT; j++) {
      values[j] = sin(1e-3 * i * (1 + j % 7)) + 0.01 * j;
    }
    add_sample(recorder, values);
  }
  char* svg = draw(*state, recorder);
  assert_int_equal(count_of(svg, ">12 of 100 shown<"), 2);
  assert_int_equal(count_of(svg, "class=\"curve\""), 24);
  assert_true(strlen(svg) < 300000);
  free(svg);
  pawl_recorder_destroy(recorder);
}

static void test_failures(void** state) {
  Folder* folder = *state;
  PawlRecorder* recorder = track_record(10);
  PawlError err = {0};
  const char* path = in_folder(folder, "missing/a.svg");
  assert_int_equal(pawl_write_svg(recorder, path, &err), PAWL_ERROR_FILE);
  assert_non_null(strstr(err.message, path));
  check_full_disk(folder, recorder, pawl_write_svg);
  pawl_recorder_destroy(recorder);
  check_allocation_failures(folder, pawl_write_svg);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checker),        cmocka_unit_test(test_shows_what_was_recorded),
      cmocka_unit_test(test_few_samples),    cmocka_unit_test(test_names_are_escaped),
      cmocka_unit_test(test_extreme_values), cmocka_unit_test(test_many_curves),
      cmocka_unit_test(test_failures),       cmocka_unit_test(test_nothing_left_behind),
  };
  return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
