// SPDX-License-Identifier: Apache-2.0
// The file of a report: the page around the run, numbers that decode to those of the samples.
#include "io/report.h"
#include "record.h"

static const char model_words[] =
    "model: track\ncoordinates: [x, y]\nkinetic: x'^2 + y'^2\n"
    "constraints: {track: y = 0}\nscene:\n  - disc: {at: [x, y], radius: 0.5}\n";

static PawlModel* read_track(void) {
  PawlModel* model = NULL;
  assert_int_equal(pawl_model_parse(model_words, strlen(model_words), "m", 0, NULL, &model, NULL),
                   PAWL_OK);
  return model;
}

static const char* write_page(void* folder, const char* text) {
  const char* path = in_folder(folder, "page.html");
  FILE* file = fopen(path, "w");
  fputs(text, file);
  fclose(file);
  return path;
}

static PawlStatus write_report(void* folder, const PawlRecorder* recorder, const PawlModel* model,
                               const char* page, const char* path) {
  (void)folder;
  PawlWriter* writer = NULL;
  PawlReportDef def = {model, page, "model: <track>"};
  assert_int_equal(pawl_writer_create(PAWL_FORMAT_REPORT, path, NULL, &writer, NULL), PAWL_OK);
  PawlStatus status = pawl_writer_report(writer, &def, NULL);
  for (int k = 0; status == PAWL_OK && k < pawl_recorder_sample_count(recorder); k++) {
    status = pawl_writer_add(writer, recorder, pawl_recorder_sample(recorder, k), NULL);
  }
  pawl_writer_summary(writer, "{\"note\": \"</script>\"}", NULL);
  status = status ? status : pawl_writer_finish(writer, recorder, NULL);
  pawl_writer_destroy(writer);
  return status;
}

// Decodes base64 into floats; returns their count.
static int decode(const char* from, size_t length, float* out) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned char* bytes = malloc(length);
  size_t count = 0;
  uint32_t bits = 0;
  for (size_t k = 0; k < length && from[k] != '='; k++) {
    bits = bits << 6 | (uint32_t)(strchr(letters, from[k]) - letters);
    if (k % 4) {
      bytes[count++] = (unsigned char)(bits >> (6 - 2 * (k % 4)));
    }
  }
  memcpy(out, bytes, count);
  free(bytes);
  return (int)(count / sizeof *out);
}

static void test_file(void** state) {
  char page[200], path[200];
  snprintf(page, sizeof page, "%s",
           write_page(*state, "<html>" PAWL_REPORT_MARK "<p>end</p></html>"));
  snprintf(path, sizeof path, "%s", in_folder(*state, "a.html"));
  PawlRecorder* recorder = track_record(40);
  PawlModel* model = read_track();
  assert_int_equal(write_report(*state, recorder, model, page, path), PAWL_OK);
  char* text = slurp(path, NULL);
  assert_memory_equal(text, "<html><script", 13);
  assert_non_null(strstr(text, "</script>\n<p>end</p></html>"));
  assert_non_null(strstr(text, "\"name\":\"track\""));
  assert_non_null(strstr(text, "\"text\":\"model: \\u003ctrack>\""));
  assert_non_null(strstr(text, "{\"note\": \"\\u003c/script>\"}"));
  assert_non_null(strstr(text, "\"to\":\"ramp\",\"lost\":0.25,\"impulse\":[0.25]"));
  const char* begin = strstr(text, "id=\"numbers\">");
  begin += strlen("id=\"numbers\">");
  float* values = malloc(strlen(begin) * sizeof *values);
  int count = decode(begin, strcspn(begin, "<"), values);
  assert_int_equal(count, 40 * 8 + 40 * 3);  // columns; time and two channels of the frames
  for (int k = 0; k < 40; k++) {             // x runs from 0 to the end
    const double *sample = pawl_recorder_sample(recorder, k),
                 *last = pawl_recorder_sample(recorder, 39);
    CHECK_NEAR((double)values[40 + k], sample[1] / last[1], 1e-7);
    CHECK_NEAR((double)values[40 * 8 + k], sample[0] / last[0], 1e-7);
  }
  free(values);
  free(text);
  unlink(path);
  unlink(page);
  pawl_model_destroy(model);
  pawl_recorder_destroy(recorder);
}

// Two bounces, then closed from 0.5 s on, open at 0.8 s. In the step of a hit forces are an impulse
// by the step, which no panel should scale by; `event-driven` has forces there.
static void check_contact(void* folder, const char* method, int forces) {
  static const char words[] =
      "model: ball\ncoordinates: {y: {unit: m}}\nkinetic: y'^2\ncontacts: {floor: {gap: y}}\n";
  const PawlColumn columns[] = {{"t", "s", PAWL_COLUMN_TIME},
                                {"y", "m", PAWL_COLUMN_COORDINATE},
                                {"y'", "m/s", PAWL_COLUMN_RATE},
                                {"lambda(floor)", "N", PAWL_COLUMN_MULTIPLIER}};
  const double samples[][4] = {{0.0, 1, -1, 0},  {0.1, 0, -1, NAN}, {0.1, 0, 1, 900},
                               {0.2, 1, -1, 0},  {0.3, 0, -1, NAN}, {0.3, 0, 0.5, 700},
                               {0.4, 0, -1, 0},  {0.5, 0, 0, 5},    {0.6, 0, 0, 4.0},
                               {0.7, 0, 0, 3.0}, {0.8, 0, 1, 0}};
  char page[200], path[200];
  snprintf(page, sizeof page, "%s", write_page(folder, PAWL_REPORT_MARK));
  snprintf(path, sizeof path, "%s", in_folder(folder, "a.html"));
  PawlModel* model = NULL;
  assert_int_equal(pawl_model_parse(words, strlen(words), "m", 0, NULL, &model, NULL), PAWL_OK);
  PawlRecorder* recorder = new_record(4, columns);
  assert_int_equal(pawl_recorder_add_fact(recorder, "method", method, NULL), PAWL_OK);
  PawlWriter* writer = NULL;
  PawlReportDef def = {model, page, NULL};
  assert_int_equal(pawl_writer_create(PAWL_FORMAT_REPORT, path, NULL, &writer, NULL), PAWL_OK);
  assert_int_equal(pawl_writer_report(writer, &def, NULL), PAWL_OK);
  for (int k = 0; k < 11; k++) {
    if (isnan(samples[k][3])) {
      add_switch(recorder, samples[k][0], "floor", "open", "hit");
    }
    assert_int_equal(pawl_writer_add(writer, recorder, samples[k], NULL), PAWL_OK);
  }
  assert_int_equal(pawl_writer_finish(writer, recorder, NULL), PAWL_OK);
  pawl_writer_destroy(writer);
  char* text = slurp(path, NULL);
  assert_non_null(strstr(text, "\"kind\":\"contact\",\"closed\":[[0.5,0.8]]"));
  char range[80];
  snprintf(range, sizeof range, "\"kind\":\"multiplier\",\"low\":0,\"high\":%d}", forces);
  assert_non_null(strstr(text, range));
  free(text);
  unlink(path);
  unlink(page);
  pawl_recorder_destroy(recorder);
  pawl_model_destroy(model);
}

static void test_contacts(void** state) {
  check_contact(*state, "moreau-jean", 5);
  check_contact(*state, "event-driven", 900);
}

static void test_no_page(void** state) {
  PawlRecorder* recorder = track_record(3);
  PawlModel* model = read_track();
  char page[200], path[200];
  snprintf(page, sizeof page, "%s", write_page(*state, "<html></html>"));
  snprintf(path, sizeof path, "%s", in_folder(*state, "a.html"));
  assert_int_equal(write_report(*state, recorder, model, page, path), PAWL_ERROR_USAGE);
  unlink(page);
  assert_true(write_report(*state, recorder, model, page, path) < 0);
  assert_int_not_equal(access(path, F_OK), 0);
  pawl_model_destroy(model);
  pawl_recorder_destroy(recorder);
}

static void test_failing_memory(void** state) {
  PawlRecorder* recorder = track_record(3);
  PawlModel* model = read_track();
  char page[200], path[200];
  snprintf(page, sizeof page, "%s", write_page(*state, PAWL_REPORT_MARK));
  snprintf(path, sizeof path, "%s", in_folder(*state, "a.html"));
  PawlStatus status = PAWL_ERROR_MEMORY;
  PawlReportDef def = {model, page, NULL};
  int tries = 0;
  for (long long n = 1; status != PAWL_OK; n++, tries++) {
    PawlWriter* writer = NULL;
    assert_int_equal(pawl_writer_create(PAWL_FORMAT_REPORT, path, NULL, &writer, NULL), PAWL_OK);
    pawl_alloc_fail_once(n);
    status = pawl_writer_report(writer, &def, NULL);
    status = status ? status
                    : pawl_writer_add(writer, recorder, pawl_recorder_sample(recorder, 0), NULL);
    status = status ? status : pawl_writer_finish(writer, recorder, NULL);
    pawl_alloc_fail_once(0);
    pawl_writer_destroy(writer);
    assert_true(status == PAWL_OK || status == PAWL_ERROR_MEMORY);
    assert_int_equal(access(path, F_OK) == 0, status == PAWL_OK);
  }
  assert_true(tries > 10);
  unlink(path);
  unlink(page);
  pawl_model_destroy(model);
  pawl_recorder_destroy(recorder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_file), cmocka_unit_test(test_contacts),
                                     cmocka_unit_test(test_no_page),
                                     cmocka_unit_test(test_failing_memory)};
  return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
