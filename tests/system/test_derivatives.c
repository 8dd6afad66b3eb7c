// SPDX-License-Identifier: Apache-2.0
// Everything that is derived, on every model of models/ and on random models, against complex
// steps and differences of the energies, forces and constraints as written.
#include <dirent.h>

#include "system/compare.h"
#include "system/random_model.h"

static void compare_at_random_places(Setup* s, const char* label, int places, Random* r,
                                     long long* checked, long long* skipped) {
  for (int k = 0; k < places; k++) {
    Place place = random_place(s->system, r);
    Compare c = compare_begin(s, &place, label);
    compare_all(&c);
    *checked += c.checked;
    *skipped += c.skipped;
    compare_end(&c);
    place_free(&place);
  }
}

// ---- models/ ------------------------------------------------------------------------------------
// Every kink on the other of its two sides; those of forces, which are free, on the second.
static void turn_kinks(const PawlSystem* system, Place* place) {
  for (int k = 0; k < system->turn_count + system->kink_count; k++) {
    int* mode = &place->modes[system->constraint_count + k];
    if (!system->turns[k].counts) {
      *mode = *mode == -1 ? 1 : -1;
    }
  }
}

// An entry of the pattern that is not needed costs time in every step: away from special places
// each has a part in M, K or C. The diagonal is always there.
static void check_pattern_is_tight(Setup* s, const char* label, Random* r) {
  PawlPattern H = pawl_system_pattern_H(s->system);
  double* size = numbers(H.start[s->n.v]);
  for (int k = 0; k < 4; k++) {
    Place place = random_place(s->system, r);
    if (k % 2 == 1) {
      turn_kinks(s->system, &place);
    }
    const PawlValues* x = run_at(s->eval, &place);
    for (int e = 0; e < H.start[s->n.v]; e++) {
      size[e] += fabs(x->M[e]) + fabs(x->K[e]) + fabs(x->C[e]);
    }
    place_free(&place);
  }
  for (int col = 0; col < s->n.v; col++) {
    for (int e = H.start[col]; e < H.start[col + 1]; e++) {
      if (H.index[e] != col && size[e] == 0.0) {
        fail_msg("%s: entry (%d, %d) of H is always 0", label, H.index[e], col);
      }
    }
  }
  free(size);
}

// False for a model that asks for what this version does not simulate. Of a family of elements some
// are enough: the bar has eight.
static bool load(const char* path, Setup* s) {
  static const char* const few[] = {"N=8"};
  PawlError err = {0};
  *s = (Setup){0};
  if (pawl_model_load(path, strstr(path, "elastic-bar") ? 1 : 0, few, &s->model, &err) != PAWL_OK) {
    fail_msg("%s", err.message);
  }
  if (pawl_system_create(s->model, &s->system, &err) != PAWL_OK) {
    assert_int_equal(err.status, PAWL_ERROR_MODEL);
    assert_non_null(strstr(err.message, "by this version"));
    setup_free(s);
    return false;
  }
  if (s->model->slip_count > 0) {  // rate rows: test_rate_rows.c
    setup_free(s);
    return false;
  }
  assert_int_equal(pawl_eval_create(s->system, PAWL_EVERYTHING, &s->eval, &err), PAWL_OK);
  s->n = pawl_system_sizes(s->system);
  return true;
}

static void test_every_example(void** state) {
  (void)state;
  DIR* folder = opendir(PAWL_MODELS);
  assert_non_null(folder);
  long long checked = 0, skipped = 0;
  int models = 0;
  for (struct dirent* file = readdir(folder); file; file = readdir(folder)) {
    char path[1024];
    const char* end = strrchr(file->d_name, '.');
    snprintf(path, sizeof path, "%s/%s", PAWL_MODELS, file->d_name);
    Setup s;
    if (end && strcmp(end, ".yaml") == 0 && load(path, &s)) {
      if (s.model->rotation_count > 0) {  // the reference knows sums; see test_rotation_terms.c
        setup_free(&s);
        continue;
      }
      Random r = {1234567};
      compare_at_random_places(&s, file->d_name, 3, &r, &checked, &skipped);
      check_pattern_is_tight(&s, file->d_name, &r);
      setup_free(&s);
      models++;
    }
  }
  closedir(folder);
  assert_true(models >= 5);
  print_message("%d models, %lld numbers, %lld skipped\n", models, checked, skipped);
  assert_true(skipped <= checked / 2000);  // corners of shapes may be near
}

// ---- random models ------------------------------------------------------------------------------
static void test_random_models(void** state) {
  (void)state;
  enum { MODELS = 250, WITH_LANES = 20 };  // one of so many
  long long checked = 0, skipped = 0;
  int groups = 0;
  for (int k = 0; k < MODELS; k++) {
    PawlText text = random_model((uint64_t)k * 7919 + 1, k % WITH_LANES == 0);
    Setup s = setup_text(text.s);
    Random r = {(uint64_t)k};
    compare_at_random_places(&s, text.s, 2, &r, &checked, &skipped);
    groups += pawl_system_info(s.system).groups;
    setup_free(&s);
    pawl_text_free(&text);
  }
  print_message("%d models, %.1f groups each, %lld numbers, %lld skipped\n", MODELS,
                (double)groups / MODELS, checked, skipped);
  // Lanes and single terms were both there.
  assert_true(groups - MODELS > 4 * (MODELS / WITH_LANES));
  assert_true((double)skipped < 0.02 * (double)checked);  // few corners and poles
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_example),
      cmocka_unit_test(test_random_models),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
