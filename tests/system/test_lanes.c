// SPDX-License-Identifier: Apache-2.0
// Terms of one shape become lanes of a group. That must not show: a family gives the numbers of the
// same model with every member written out, and of one in which nothing is repeated, so that no
// lanes form; whatever the count, around a block of PAWL_TAPE_WIDTH above all.
#include "base/text.h"
#include "expr/tape.h"
#include "system/setup.h"

static const int counts[] = {1, 2, 15, 16, 17, 63, 64, 65, 130, 300};
enum { COUNTS = sizeof counts / sizeof *counts };

typedef enum Writing { FAMILY, WRITTEN_OUT, ALONE } Writing;

static const char mass_form[] = "(1 + #/10)/2*u[#]'^2*(2 + sin(u[#]))";
static const char spring_form[] = "k/#*(u[#] - u[#-1] - #/10)^2 + cos(#*u[#])/(# + 1)";
static const char damper_form[] = "#/20*(u[#]' - u[#-1]')^2*t";
static const char force_form[] = "#*cos(t)*u[#]' - u[0]";
static const char row_form[] = "u[#]^2 = u[#-1]*sin(#*t)";
static const char other_row_form[] = "exp(u[#]/#) = t*u[0]";
static const char output_form[] = "#*u[#]' + lambda(link[#], 2)*u[#]''";

// The form with its holes filled.
static void add_form(PawlText* o, const char* form, const char* index) {
  for (; *form; form++) {
    *form == '#' ? pawl_text_add(o, index) : pawl_text_add_bytes(o, form, 1);
  }
}

static void add_number(PawlText* o, const char* form, int index) {
  char number[16];
  snprintf(number, sizeof number, "%d", index);
  add_form(o, form, number);
}

// ALONE: one expression, a product, which does not fall apart into addends.
static void add_energy(PawlText* o, Writing writing, const char* key, const char* form, int first,
                       int last) {
  pawl_text_printf(o, "%s:\n", key);
  if (writing == FAMILY) {
    pawl_text_printf(o, "  for i=%d..%d: \"", first, last);
    add_form(o, form, "i");
    pawl_text_add(o, "\"\n");
    return;
  }
  pawl_text_add(o, writing == ALONE ? "  - \"0.5*(0" : "");
  for (int i = first; i <= last; i++) {
    pawl_text_add(o, writing == ALONE ? " + 2*(" : "  - \"");
    add_number(o, form, i);
    pawl_text_add(o, writing == ALONE ? ")" : "\"\n");
  }
  pawl_text_add(o, writing == ALONE ? ")\"\n" : "");
}

static void add_keyed(PawlText* o, Writing writing, const char* name, const char* form, int first,
                      int last) {
  if (writing == FAMILY) {
    pawl_text_printf(o, "  %s[i=%d..%d]: \"", name, first, last);
    add_form(o, form, "i");
    pawl_text_add(o, "\"\n");
  }
  for (int i = first; writing == WRITTEN_OUT && i <= last; i++) {
    pawl_text_printf(o, "  %s[%d]: \"", name, i);
    add_number(o, form, i);
    pawl_text_add(o, "\"\n");
  }
}

// ALONE: all rows are of one constraint.
static void add_rows(PawlText* o, Writing writing, int n) {
  pawl_text_add(o, "constraints:\n");
  pawl_text_add(o, writing == ALONE ? "  links:\n" : "");
  if (writing == FAMILY) {
    pawl_text_printf(o, "  link[i=1..%d]: [\"", n);
    add_form(o, row_form, "i");
    pawl_text_add(o, "\", \"");
    add_form(o, other_row_form, "i");
    pawl_text_add(o, "\"]\n");
  }
  for (int i = 1; writing != FAMILY && i <= n; i++) {
    writing == ALONE ? (void)0 : pawl_text_printf(o, "  link[%d]:\n", i);
    pawl_text_add(o, "    - \"");
    add_number(o, row_form, i);
    pawl_text_add(o, "\"\n    - \"");
    add_number(o, other_row_form, i);
    pawl_text_add(o, "\"\n");
  }
}

// `keyed`: with forces and outputs, of which those of a family always have one shape.
static Setup write_model(Writing writing, int n, bool keyed) {
  PawlText text = {0}, *o = &text;
  pawl_text_printf(o, "model: lanes\nparameters: {k: 3}\ncoordinates:\n  u[i=0..%d]: {}\n", n);
  add_energy(o, writing, "kinetic", mass_form, 0, n);
  add_energy(o, writing, "potential", spring_form, 1, n);
  add_energy(o, writing, "dissipation", damper_form, 1, n);
  add_rows(o, writing, n);
  if (keyed) {
    pawl_text_add(o, "forces:\n");
    add_keyed(o, writing, "u", force_form, 0, n);
    pawl_text_add(o, "outputs:\n");
    add_keyed(o, writing, "seen", output_form, 1, n);
  }
  assert_false(text.failed);
  Setup s = setup_text(text.s);
  pawl_text_free(&text);
  return s;
}

// The order of sums may differ, nothing else: some hundred roundings of numbers up to 1e3.
#define SUM_TOLERANCE 1e-11

static void compare_arrays(const char* what, int count, const double* x, const double* y) {
  for (int k = 0; k < count; k++) {
    if (!(fabs(x[k] - y[k]) <= SUM_TOLERANCE * (1.0 + fabs(x[k])))) {
      fail_msg("%s[%d]: %.17g and %.17g", what, k, x[k], y[k]);
    }
  }
}

static void compare_patterns(PawlPattern x, PawlPattern y) {
  assert_int_equal(x.rows, y.rows);
  assert_int_equal(x.cols, y.cols);
  assert_memory_equal(x.start, y.start, ((size_t)x.cols + 1) * sizeof(int));
  assert_memory_equal(x.index, y.index, (size_t)x.start[x.cols] * sizeof(int));
}

static void compare_systems(Setup* a, Setup* b, const Place* p) {
  const PawlValues* x = run_at(a->eval, p);
  const PawlValues* y = run_at(b->eval, p);
  PawlPattern H = pawl_system_pattern_H(a->system), G = pawl_system_pattern_G(a->system);
  compare_arrays("M", H.start[H.cols], x->M, y->M);
  compare_arrays("G", G.start[G.cols], x->G, y->G);
  compare_arrays("g", G.rows, x->g, y->g);
  compare_arrays("g_t", G.rows, x->g_t, y->g_t);
  compare_arrays("gamma", G.rows, x->gamma, y->gamma);
  compare_arrays("energy", 2, x->energy, y->energy);
  compare_arrays("K", H.start[H.cols], x->K, y->K);
  compare_arrays("C", H.start[H.cols], x->C, y->C);
  compare_arrays("f", H.cols, x->f, y->f);
  compare_arrays("outputs", a->n.outputs, x->outputs, y->outputs);
}

static void test_family_equals_members(void** state) {
  (void)state;
  for (int k = 0; k < COUNTS; k++) {
    Setup family = write_model(FAMILY, counts[k], true);
    Setup members = write_model(WRITTEN_OUT, counts[k], true);
    compare_patterns(pawl_system_pattern_H(family.system), pawl_system_pattern_H(members.system));
    compare_patterns(pawl_system_pattern_G(family.system), pawl_system_pattern_G(members.system));
    Random r = {(uint64_t)k + 1};
    for (int repeat = 0; repeat < 3; repeat++) {
      Place p = random_place(family.system, &r);
      compare_systems(&family, &members, &p);
      place_free(&p);
    }
    setup_free(&family);
    setup_free(&members);
  }
}

// Results are stored or added to what an array has: a run leaves nothing to the next one.
static void test_runs_leave_nothing(void** state) {
  (void)state;
  Setup s = write_model(FAMILY, 300, true);
  Random r = {11};
  Place p = random_place(s.system, &r), other = random_place(s.system, &r);
  PawlPattern H = pawl_system_pattern_H(s.system), G = pawl_system_pattern_G(s.system);
  const PawlValues* x = run_at(s.eval, &p);
  const struct {
    const double* of;
    int count;
  } arrays[] = {{x->M, H.start[H.cols]}, {x->K, H.start[H.cols]}, {x->C, H.start[H.cols]},
                {x->G, G.start[G.cols]}, {x->f, H.cols},          {x->g, G.rows},
                {x->g_t, G.rows},        {x->gamma, G.rows}};
  enum { ARRAYS = sizeof arrays / sizeof *arrays };
  double* first[ARRAYS];
  for (int k = 0; k < ARRAYS; k++) {
    size_t bytes = (size_t)arrays[k].count * sizeof(double);
    assert_true(arrays[k].count > 256 && (first[k] = malloc(bytes)));
    memcpy(first[k], arrays[k].of, bytes);
  }
  run_at(s.eval, &other);
  run_at(s.eval, &p);
  for (int k = 0; k < ARRAYS; k++) {
    assert_memory_equal(first[k], arrays[k].of, (size_t)arrays[k].count * sizeof(double));
    free(first[k]);
  }
  place_free(&p);
  place_free(&other);
  setup_free(&s);
}

static void test_lanes_equal_singles(void** state) {
  (void)state;
  for (int k = 0; k < COUNTS; k++) {
    Setup lanes = write_model(FAMILY, counts[k], false),
          alone = write_model(ALONE, counts[k], false);
    PawlSystemInfo with = pawl_system_info(lanes.system), without = pawl_system_info(alone.system);
    assert_int_equal(without.groups, 1);
    assert_int_equal(without.largest_lanes, 1);
    // Member 0 or 1 may have a shape of its own (1*u is u), the others are alike.
    assert_true(with.largest_lanes >= (counts[k] > 16 ? counts[k] - 1 : 1));
    compare_patterns(pawl_system_pattern_H(lanes.system), pawl_system_pattern_H(alone.system));
    compare_patterns(pawl_system_pattern_G(lanes.system), pawl_system_pattern_G(alone.system));
    Random r = {(uint64_t)k + 77};
    Place p = random_place(lanes.system, &r);
    compare_systems(&lanes, &alone, &p);
    place_free(&p);
    setup_free(&lanes);
    setup_free(&alone);
  }
}

// A row of springs with stiffness i and unequal masses, by hand: the numbers of each lane.
static void test_numbers_of_each_lane(void** state) {
  (void)state;
  for (int k = 0; k < COUNTS; k++) {
    int n = counts[k];
    char text[400];
    snprintf(text, sizeof text,
             "model: row\nparameters: {N: %d}\ncoordinates:\n  u[i=0..N]: {}\n"
             "kinetic:\n  for i=0..N: (i + 1)/2*u[i]'^2\n"
             "potential:\n  for i=1..N: i/2*(u[i] - u[i-1])^2\n",
             n);
    Setup s = setup_text(text);
    Random r = {(uint64_t)k};
    Place p = random_place(s.system, &r);
    const PawlValues* x = run_at(s.eval, &p);
    PawlPattern H = pawl_system_pattern_H(s.system);
    assert_int_equal(H.start[n + 1], 3 * (n + 1) - 2);
    for (int i = 0; i <= n; i++) {
      double left = i > 0 ? i * (p.q[i] - p.q[i - 1]) : 0.0;
      double right = i < n ? (i + 1) * (p.q[i + 1] - p.q[i]) : 0.0;
      int diagonal = H.start[i] + (i > 0);
      assert_int_equal(H.index[diagonal], i);
      CHECK_NEAR(x->f[i], right - left, 1e-12);
      CHECK_NEAR(x->M[diagonal], i + 1.0, 1e-15 * n);
      CHECK_NEAR(x->K[diagonal], (i < n ? i + 1.0 : 0.0) + i, 1e-15 * n);
      if (i < n) {
        CHECK_NEAR(x->K[diagonal + 1], -(i + 1.0), 1e-15 * n);
      }
    }
    place_free(&p);
    setup_free(&s);
  }
}

// Members that look alike but use one coordinate twice, or the same number twice, are not lanes of
// the others.
static void test_coincidences(void** state) {
  (void)state;
  Setup s = setup_text(
      "model: coincidences\ncoordinates:\n  u[i=0..7]: {}\nkinetic:\n  for i=0..7: u[i]'^2/2\n"
      "potential:\n  - for i=0..7: \"sin(3*u[i] + i*u[3])\"\n"
      "  - for i=0..7: \"u[i]*u[7-i]*cos(t)\"\n");
  Random r = {4};
  Place p = random_place(s.system, &r);
  const PawlValues* x = run_at(s.eval, &p);
  double V = 0.0, f[8] = {0};
  for (int i = 0; i < 8; i++) {
    double angle = 3.0 * p.q[i] + i * p.q[3];
    V += sin(angle) + p.q[i] * p.q[7 - i] * cos(p.t);
    f[i] -= 3.0 * cos(angle);
    f[3] -= i * cos(angle);
    f[i] -= 2.0 * p.q[7 - i] * cos(p.t);
  }
  CHECK_NEAR(x->energy[1], V, 1e-13);  // a sum of 16 numbers
  for (int i = 0; i < 8; i++) {
    CHECK_NEAR(x->f[i], f[i], 1e-13);
  }
  place_free(&p);
  setup_free(&s);
}

// ---- members of families ------------------------------------------------------------------------
// Lines of a model with a hole for a range of i. The loop over all of it is a family, whose members
// are like the first one; a loop of one round is by itself.
static const struct {
  const char *section, *line;
} member_lines[] = {
    {"mass", "u[#]: m"},
    {"mass", "w[#]: 2*m"},
    {"kinetic", "- for #: J/2*dot(R[i].omega, R[i].omega)*(2 + u[i]^2)"},
    {"kinetic", "- for #: m*(x'^2 + w[i]'*w[i+1]')/8"},
    {"potential", "- for #: k/2*(u[i] - u[i-1])^2 + m*g*w[i]"},
    {"potential", "- for #: k*u[i]*u[n-i]"},                        // a square in the middle
    {"potential", "- for #: if(i < 5, u[i], w[i])*sin(w[i+1])*x"},  // two forms
    {"potential", "- for #: stiff[i]/2*(w[i] - w[i-1])^2"},         // numbers of their own
    {"potential", "- for #: max(u[i] - w[i], 0)^2"},                // kinks of their own
    {"dissipation", "- for #: (u[i]' - x')^2"},
    {"forces", "u[#]: w[i]*x + u[6]*cos(t)"},  // one and the same at i = 6
    {"constraints", "a[#]: [\"u[i] = sin(w[i-1])*x\", \"w[i] + u[n-i] = x^2\"]"},
    {"constraints", "b[#]: R[i]*[0, 0, 1] + [u[i], 0, 0] = R[i-1]*[u[i], 1, x]"},
    {"constraints", "c[#]: {rate: \"w[i]' = u[i]*u[i-1]'\"}"},
};
static Setup write_members(bool families, int members) {
  PawlText text = {0}, *o = &text;
  pawl_text_printf(o,
                   "model: members\nparameters: {n: %d, m: 2, k: 3, J: 0.7, g: 9.81, "
                   "\"stiff[i=1..%d]\": 1 + i}\n"
                   "coordinates: {x: , \"u[i=0..%d]\": , \"w[i=0..%d]\": , "
                   "\"R[i=0..%d]\": {kind: rotation}}\n",
                   members + 1, members, members + 1, members + 1, members);
  for (size_t k = 0; k < sizeof member_lines / sizeof *member_lines; k++) {
    const char* section = member_lines[k].section;
    if (k == 0 || strcmp(section, member_lines[k - 1].section) != 0) {
      pawl_text_printf(o, "%s:\n", section);
    }
    for (int i = 1; i <= (families ? 1 : members); i++) {
      char range[32];
      snprintf(range, sizeof range, "i=%d..%d", i, families ? members : i);
      pawl_text_add(o, "  ");
      add_form(o, member_lines[k].line, range);
      pawl_text_add(o, "\n");
    }
  }
  assert_false(text.failed);
  Setup s = setup_text(text.s);
  pawl_text_free(&text);
  return s;
}

static void compare_bits(const char* what, int count, const double* x, const double* y) {
  for (int k = 0; k < count; k++) {
    if (memcmp(&x[k], &y[k], sizeof x[k]) != 0) {
      fail_msg("%s[%d]: %.17g and %.17g", what, k, x[k], y[k]);
    }
  }
}

static void check_members(int members) {
  Setup family = write_members(true, members), alone = write_members(false, members);
  PawlPattern H = pawl_system_pattern_H(family.system), G = pawl_system_pattern_G(family.system);
  compare_patterns(H, pawl_system_pattern_H(alone.system));
  compare_patterns(G, pawl_system_pattern_G(alone.system));
  assert_int_equal(pawl_system_info(family.system).groups, pawl_system_info(alone.system).groups);
  Random r = {11};
  for (int repeat = 0; repeat < 3; repeat++) {
    Place p = random_place(family.system, &r);
    const PawlValues *x = run_at(family.eval, &p), *y = run_at(alone.eval, &p);
    compare_bits("M", H.start[H.cols], x->M, y->M);
    compare_bits("K", H.start[H.cols], x->K, y->K);
    compare_bits("C", H.start[H.cols], x->C, y->C);
    compare_bits("f", H.cols, x->f, y->f);
    compare_bits("G", G.start[G.cols], x->G, y->G);
    compare_bits("g", G.rows, x->g, y->g);
    compare_bits("gamma", G.rows, x->gamma, y->gamma);
    compare_bits("energy", 2, x->energy, y->energy);
    place_free(&p);
  }
  setup_free(&family);
  setup_free(&alone);
}

// Many of a large family are never built one by one.
static void test_members_are_like_the_first(void** state) {
  (void)state;
  check_members(11);
  check_members(90);
}

// Where their multipliers are zero a family of contacts may be left out of K and C: the same bits,
// and the gradients that turn with the motion as before. A constraint beside it stays.
static void test_idle_contacts(void** state) {
  (void)state;
  Setup s = setup_text(
      "model: idle\ncoordinates: {'x[i=1..20]': {start: 0.1*i}, 'y[i=1..20]': {start: 1}}\n"
      "kinetic: {for i=1..20: \"x[i]'^2 + y[i]'^2*(2 + sin(x[i]))\"}\n"
      "constraints: {tie: 'x[1]*y[2] = 0.1'}\n"
      "contacts:\n  c[i=1..20]: {gap: 'y[i] - cos(x[i])*y[i]^2', friction: 0.3,\n"
      "    slip: \"x[i]'*cos(y[i])\"}\n");
  unsigned mask = PAWL_STIFFNESS | PAWL_DAMPING | PAWL_VELOCITY_TANGENT | PAWL_ACCELERATION_TANGENT;
  PawlEval *whole, *idle;
  PawlError err = {0};
  assert_int_equal(pawl_eval_create(s.system, mask, &whole, &err), PAWL_OK);
  assert_int_equal(pawl_eval_create(s.system, mask | PAWL_IDLE_CONTACTS, &idle, &err), PAWL_OK);
  Random r = {7};
  Place p = random_place(s.system, &r);
  for (int i = 0; i < s.n.rows; i++) {
    p.lambda[i] = pawl_system_row_kind(s.system, i) == PAWL_ROW_BILATERAL ? p.lambda[i] : 0.0;
  }
  PawlPoint point = {p.t, p.q, p.v, p.a, p.lambda, p.modes, NULL};
  for (int k = 0; k < 2; k++) {
    assert_int_equal(pawl_eval_run(whole, &point, &err), PAWL_OK);
    assert_int_equal(pawl_eval_run(idle, &point, &err), PAWL_OK);
    const PawlValues *x = pawl_eval_values(whole), *y = pawl_eval_values(idle);
    int H = pawl_system_pattern_H(s.system).start[s.n.v],
        G = pawl_system_pattern_G(s.system).start[s.n.v];
    compare_bits("K", H, x->K, y->K);
    compare_bits("C", H, x->C, y->C);
    compare_bits("G_rate", G, x->G_rate, y->G_rate);
  }
  assert_true(pawl_eval_operations(idle) < pawl_eval_operations(whole));
  place_free(&p);
  pawl_eval_destroy(whole);
  pawl_eval_destroy(idle);
  setup_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_idle_contacts),
      cmocka_unit_test(test_family_equals_members),
      cmocka_unit_test(test_lanes_equal_singles),
      cmocka_unit_test(test_runs_leave_nothing),
      cmocka_unit_test(test_numbers_of_each_lane),
      cmocka_unit_test(test_coincidences),
      cmocka_unit_test(test_members_are_like_the_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
