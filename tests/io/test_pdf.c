// SPDX-License-Identifier: Apache-2.0
// Drawings as PDF: the operators that elements become, and the document around them.
#include "io/pdf.h"
#include "record.h"

static char* pdf_of(const char* svg) {
  PawlText pdf = {0};
  assert_int_equal(pawl_pdf(svg, &pdf, NULL), PAWL_OK);
  char* copy = strdup(pdf.s);
  pawl_text_free(&pdf);
  return copy;
}

static void check_has(const char* pdf, const char* words) {
  if (!strstr(pdf, words)) {
    fail_msg("'%s' is not in\n%s", words, pdf);
  }
}

#define HEAD                                                                             \
  "<svg width=\"200\" height=\"100\"><style>.a{stroke:#ff0000;fill:none;stroke-width:2}" \
  ".e{text-anchor:end;fill:#000}</style>"

static void test_paths(void** state) {
  (void)state;
  char* pdf = pdf_of(HEAD "<path class=\"a\" d=\"M1 2l3-4 5 6h10V7L1.5.5\"/></svg>");
  check_has(pdf, "1.0000 0.0000 0.0000 RG\n2.0000 w\n");
  check_has(pdf, "1 2 m\n4 -2 l\n9 4 l\n19 4 l\n19 7 l\n1.5 .5 l\nS\n");
  check_has(pdf, "/MediaBox[0 0 150 75]");
  free(pdf);
  pdf = pdf_of(HEAD "<path class=\"a\" d=\"M1 2C3 4 5 6 7 8c1 1 2 2 3 3l1 0\"/></svg>");
  check_has(pdf, "1 2 m\n3 4 5 6 7 8 c\n8 9 9 10 10 11 c\n11 11 l\nS\n");
  free(pdf);
}

// The right half of a circle of radius 1, two quarters whose arms are 4/3 tan(pi/8) = 0.5523 long.
static void test_arc(void** state) {
  (void)state;
  char* pdf = pdf_of(HEAD "<path class=\"a\" d=\"M10 9a1 1 0 0 1 0 2\"/></svg>");
  check_has(pdf, "10 9 m\n10.55 9 11 9.45 11 10 c\n11 10.55 10.55 11 10 11 c\nS\n");
  free(pdf);
}

// Attributes give way to classes, these to style; a group hands its style down and turns.
static void test_styles(void** state) {
  (void)state;
  char* pdf =
      pdf_of(HEAD
             "<g fill=\"#00f\" transform=\"translate(3 4)rotate(90)\"><circle cx=\"1\" cy=\"1\" "
             "r=\"2\" opacity=\".5\"/></g>"
             "<path class=\"a\" stroke=\"#00ff00\" style=\"stroke-width:7\" d=\"M0 0h1\"/></svg>");
  check_has(pdf, "1.0000 0.0000 0.0000 1.0000 3.0000 4.0000 cm\n");
  check_has(pdf, "0.0000 1.0000 -1.0000 0.0000 0.0000 0.0000 cm\n");
  check_has(pdf, "0.0000 0.0000 1.0000 rg\n/f10 gs /s10 gs\n3 1 m\n");
  check_has(pdf, "h\nf\nQ\nQ\n");
  check_has(pdf, "1.0000 0.0000 0.0000 RG\n7.0000 w\n");
  free(pdf);
}

// "ab" is 2 * 0.556 of the font size wide and ends at 50.
static void test_texts(void** state) {
  (void)state;
  char* pdf = pdf_of(HEAD "<text class=\"e\" x=\"50\" y=\"20\" font-size=\"10\">ab</text></svg>");
  check_has(pdf, "BT 1 0 0 -1 38.88 20 Tm /F1 10 Tf 0 Ts (ab) Tj ET\n");
  free(pdf);
  pdf = pdf_of(HEAD "<text x=\"0\" y=\"0\">(a&lt;\u03c6)\u2212\u00d710\u207b\u00b9</text></svg>");
  check_has(pdf,
            "(\\(a<) Tj /F3 11 Tf 0 Ts (j) Tj /F1 11 Tf 0 Ts (\\)) Tj /F3 11 Tf 0 Ts (-) Tj /F1 "
            "11 Tf 0 Ts (\\32710) Tj /F1 7.15 Tf 3.85 Ts (-1) Tj ET");
  free(pdf);
}

// Every object is where the table says, and the stream as long as it says.
static void test_document(void** state) {
  (void)state;
  PawlRecorder* recorder = track_record(50);
  const char* path = in_folder(*state, "drawing.pdf");
  assert_int_equal(pawl_write_svg(recorder, path, NULL), PAWL_OK);
  size_t length;
  char* pdf = slurp(path, &length);
  assert_int_equal(strncmp(pdf, "%PDF-1.4\n", 9), 0);
  char* table = pdf + strtoul(strstr(pdf, "startxref\n") + 10, NULL, 10);
  assert_int_equal(strncmp(table, "xref\n0 8\n", 9), 0);
  for (int k = 1; k < 8; k++) {
    char head[32];
    snprintf(head, sizeof head, "%d 0 obj\n", k);
    unsigned long place = strtoul(table + 9 + 20 * k, NULL, 10);
    assert_int_equal(strncmp(pdf + place, head, strlen(head)), 0);
  }
  char* stream = strstr(pdf, "stream\n") + 7;
  unsigned long wanted = strtoul(strstr(pdf, "/Length ") + 8, NULL, 10);
  assert_int_equal(strncmp(stream + wanted, "\nendstream", 10), 0);
  assert_null(strstr(pdf, "nan"));
  free(pdf);
  unlink(path);
  pawl_recorder_destroy(recorder);
}

// Cut anywhere, a drawing is no reason to read past its end.
static void test_broken_drawings(void** state) {
  (void)state;
  static const char svg[] = HEAD
      "<g transform=\"rotate(3)\"><path class='a' d=\"M1 2a1 1 0 0 1 2 2z\"/>"
      "<text x=\"1\" y=\"2\">\u03c6&lt;</text></g></svg>";
  for (size_t k = 0; k < sizeof svg; k++) {
    char* cut = strndup(svg, k);
    free(pdf_of(cut));
    free(cut);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_paths),
      cmocka_unit_test(test_arc),
      cmocka_unit_test(test_styles),
      cmocka_unit_test(test_texts),
      cmocka_unit_test(test_document),
      cmocka_unit_test(test_broken_drawings),
      cmocka_unit_test(test_nothing_left_behind),
  };
  return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
