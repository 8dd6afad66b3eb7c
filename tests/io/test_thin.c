// SPDX-License-Identifier: Apache-2.0
// What is kept of long runs: every extreme, both sides of jumps, the order, and bounded room.
#include <stdlib.h>

#include "check.h"
#include "io/thin.h"

enum { ROWS = 100000, MOST = 100, JUMP = 43210, SPIKE = 70001 };

static double wave(int k) {
  return k == SPIKE ? 50.0 : sin(1e-3 * k) + (k >= JUMP ? 3.0 : 0.0);
}

static void fill(PawlThin* thin) {
  for (int k = 0; k < ROWS; k++) {
    double row[] = {k, wave(k), k == 5 ? -9.0 : NAN};
    if (k == JUMP) {  // the side before it
      double side[] = {k, wave(k) - 3.0, NAN};
      pawl_thin_add(thin, side);
    }
    pawl_thin_add(thin, row);
  }
}

static void test_groups(void** state) {
  (void)state;
  PawlThin* thin = NULL;
  assert_int_equal(pawl_thin_create(3, MOST, &thin, NULL), PAWL_OK);
  fill(thin);
  int rows = pawl_thin_rows(thin), jumps = 0, spikes = 0, seen = 0;
  assert_in_range(rows, MOST / 2, 2 * MOST);
  double *t = malloc((size_t)rows * sizeof *t), *x = malloc((size_t)rows * sizeof *x);
  double* rare = malloc((size_t)rows * sizeof *rare);
  pawl_thin_column(thin, 0, t);
  pawl_thin_column(thin, 1, x);
  pawl_thin_column(thin, 2, rare);
  CHECK_NEAR(t[0], 0, 0);
  CHECK_NEAR(t[rows - 1], ROWS - 1, 0);
  for (int k = 0; k < rows; k++) {
    assert_true(k == 0 || t[k] >= t[k - 1]);
    jumps += k > 0 && t[k] == JUMP && t[k - 1] == JUMP && x[k] - x[k - 1] > 2.9;
    spikes += x[k] == 50.0;
    seen += rare[k] == -9.0;
  }
  assert_int_equal(jumps, 1);
  assert_int_equal(spikes, 1);
  assert_in_range(seen, 1, 2);  // as the least and as the greatest
  free(t);
  free(x);
  free(rare);
  pawl_thin_destroy(thin);
}

// Curves begin and end with the first and the last row, however many rows there are between them:
// of a group of extremes neither need be one.
static void test_ends_stay(void** state) {
  (void)state;
  for (int count = 2; count < 3000; count = count * 3 / 2 + 1) {
    PawlThin* thin = NULL;
    double x[40], y[40];
    assert_int_equal(pawl_thin_create(3, 20, &thin, NULL), PAWL_OK);
    for (int k = 0; k < count; k++) {
      double row[] = {k, sin(1.7 * k + 0.3), cos(k)};
      pawl_thin_add(thin, row);
    }
    int rows = pawl_thin_rows(thin);
    assert_in_range(rows, 2, 40);
    pawl_thin_column(thin, 1, x);
    pawl_thin_column(thin, 2, y);
    CHECK_NEAR(x[0], sin(0.3), 0);
    CHECK_NEAR(y[0], 1, 0);
    CHECK_NEAR(x[rows - 1], sin(1.7 * (count - 1) + 0.3), 0);
    CHECK_NEAR(y[rows - 1], cos(count - 1), 0);
    pawl_thin_destroy(thin);
  }
}

static void test_few_rows_stay(void** state) {
  (void)state;
  PawlThin* thin = NULL;
  assert_int_equal(pawl_thin_create(2, 10, &thin, NULL), PAWL_OK);
  for (int k = 0; k < 10; k++) {
    double row[] = {k, -k};
    pawl_thin_add(thin, row);
  }
  double x[10];
  assert_int_equal(pawl_thin_rows(thin), 10);
  pawl_thin_column(thin, 1, x);
  for (int k = 0; k < 10; k++) {
    CHECK_NEAR(x[k], -k, 0);
  }
  pawl_thin_destroy(thin);
}

// Jumps everywhere: they cannot all be kept, and nothing grows.
static void test_too_many_jumps(void** state) {
  (void)state;
  PawlThin* thin = NULL;
  PawlFrames* frames = NULL;
  assert_int_equal(pawl_thin_create(2, 20, &thin, NULL), PAWL_OK);
  assert_int_equal(pawl_frames_create(1, 20, &frames, NULL), PAWL_OK);
  for (int k = 0; k < 5000; k++) {
    double row[] = {k / 2, k};
    pawl_thin_add(thin, row);
    if (pawl_frames_wants(frames, true)) {
      *pawl_frames_room(frames, true) = k / 2;
    }
    assert_true(pawl_thin_rows(thin) <= 40 && pawl_frames_count(frames) <= 20);
  }
  pawl_thin_destroy(thin);
  pawl_frames_destroy(frames);
}

static void test_frames(void** state) {
  (void)state;
  PawlFrames* frames = NULL;
  assert_int_equal(pawl_frames_create(1, MOST, &frames, NULL), PAWL_OK);
  for (int k = 0; k < ROWS; k++) {
    bool side = k == JUMP || k == JUMP + 1;
    if (pawl_frames_wants(frames, side)) {
      *pawl_frames_room(frames, side) = k;
    }
  }
  int count = pawl_frames_count(frames), sides = 0;
  assert_in_range(count, MOST / 4, MOST);
  double longest = 0.0;
  for (int k = 0; k < count; k++) {
    double at = pawl_frames_row(frames, k)[0];
    sides += at == JUMP || at == JUMP + 1;
    longest = k > 0 ? fmax(longest, at - pawl_frames_row(frames, k - 1)[0]) : 0.0;
  }
  assert_int_equal(sides, 2);
  assert_true(longest <= 4.0 * ROWS / MOST);  // no gap: evenly spread
  pawl_frames_destroy(frames);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_groups), cmocka_unit_test(test_ends_stay),
      cmocka_unit_test(test_few_rows_stay), cmocka_unit_test(test_too_many_jumps),
      cmocka_unit_test(test_frames)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
