// SPDX-License-Identifier: Apache-2.0
// Element types and `use:`.
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "reading.h"

// A type with every kind of parameter, and names that are also words of the format.
#define SPRING                                          \
  "elements:\n"                                         \
  "  spring:\n"                                         \
  "    parameters:\n"                                   \
  "      k:\n"                                          \
  "      at: [0, 1]\n"                                  \
  "      kind: {one_of: [soft, hard]}\n"                \
  "      factor: if(kind_hard == 1, 10, 1)\n"           \
  "      e1: 1e1\n"                                     \
  "    coordinates:\n"                                  \
  "      x: {start: at_1, unit: k}\n"                   \
  "      s[i=1..2]:\n"                                  \
  "    define: {x2: 2*x}\n"                             \
  "    kinetic: x'^2 + e1*s[1]'^2 + 1e1*s[2]'^2\n"      \
  "    potential:\n"                                    \
  "      for i=1..2: k*factor/2*(s[i] - x2 - at_2)^2\n" \
  "    constraints:\n"                                  \
  "      rod: s[1] = s[2]\n"                            \
  "    outputs: {force: lambda(rod)}\n"

static const char whole[] = "model: m\n" SPRING
                            "parameters: {k: 3}\n"
                            "coordinates: [x]\n"
                            "kinetic: x'^2\n"
                            "use:\n"
                            "  a: {element: spring, k: 2*k, at: [k, 5], kind: hard}\n"
                            "  b: {element: spring, k: 7}\n"
                            "potential: k*(x - a_x2)^2\n";

static int parameter(const PawlModel* model, const char* name) {
  for (int k = 0; k < model->parameter_count; k++) {
    if (strcmp(model->parameters[k].name, name) == 0) {
      return k;
    }
  }
  print_error("no parameter '%s'\n", name);
  fail();
  return -1;
}

static double value_of(const PawlModel* model, const char* name) {
  return model->parameters[parameter(model, name)].value;
}

static void check_whole(PawlModel* model) {
  assert_int_equal(model->coordinate_count, 7);
  assert_string_equal(model->coordinates[0].name, "x");
  assert_string_equal(model->coordinates[1].name, "a_x");
  assert_string_equal(model->coordinates[3].name, "a_s[2]");
  assert_string_equal(model->coordinates[4].name, "b_x");
  assert_string_equal(model->coordinates[1].unit, "k");  // text, not a name
  CHECK_NEAR(value_of(model, "a_k"), 6, 0);              // 2*k in the names of the model
  CHECK_NEAR(value_of(model, "a_at_2"), 5, 0);
  CHECK_NEAR(value_of(model, "a_factor"), 10, 0);
  CHECK_NEAR(value_of(model, "b_k"), 7, 0);
  CHECK_NEAR(value_of(model, "b_at_1"), 0, 0);
  CHECK_NEAR(value_of(model, "b_factor"), 1, 0);
  CHECK_NEAR(model->coordinates[1].start, 3, 0);
  assert_string_equal(model->constraints[1].name, "b_rod");
  assert_string_equal(model->outputs[0].name, "a_force");
}

// Energies by hand where coordinate n is 1 + n/10 and its rate 2 + n/10.
static void test_whole(void** state) {
  (void)state;
  PawlModel* model = read_model(whole);
  check_whole(model);
  double V = 0;
  for (int k = 0; k < model->term_count; k++) {
    if (model->terms[k].kind == PAWL_TERM_POTENTIAL) {
      V += node_value(model, model->terms[k].node);
    }
  }
  double a = 30 * ((1.2 - 2.2 - 5) * (1.2 - 2.2 - 5) + (1.3 - 2.2 - 5) * (1.3 - 2.2 - 5));
  double b = 3.5 * ((1.5 - 2.8 - 1) * (1.5 - 2.8 - 1) + (1.6 - 2.8 - 1) * (1.6 - 2.8 - 1));
  CHECK_NEAR(V, a + b + 3 * (1 - 2.2) * (1 - 2.2), 1e-12);
  pawl_model_destroy(model);
}

typedef struct Text {
  char s[16384];
  size_t length;
} Text;

static void add(void* context, const char* text, size_t length) {
  Text* out = context;
  assert_true(out->length + length < sizeof out->s);
  memcpy(out->s + out->length, text, length);
  out->length += length;
}

// The printed expansion is the same model, and expands to itself.
static void test_expansion_reads_back(void** state) {
  (void)state;
  Text once = {0}, twice = {0};
  PawlError err = {0};
  assert_int_equal(pawl_model_expand(whole, strlen(whole), "m.yaml", add, &once, &err), PAWL_OK);
  PawlModel* model = read_model(once.s);
  check_whole(model);
  pawl_model_destroy(model);
  assert_int_equal(pawl_model_expand(once.s, once.length, "m.yaml", add, &twice, &err), PAWL_OK);
  assert_string_equal(once.s, twice.s);
  assert_null(strstr(once.s, "use:"));
}

// A parameter of a use is a parameter of the model.
static void test_overrides(void** state) {
  (void)state;
  const char* set = "b_k=11";
  PawlModel* model;
  assert_int_equal(pawl_model_parse(whole, strlen(whole), "m", 1, &set, &model, NULL), PAWL_OK);
  CHECK_NEAR(value_of(model, "b_k"), 11, 0);
  pawl_model_destroy(model);
}

// From a file beside the model, which itself uses a type.
static void test_files(void** state) {
  (void)state;
  char folder[] = "/tmp/pawl-use.XXXXXX", path[64], type[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/model.yaml", folder);
  snprintf(type, sizeof type, "%s/pair.yaml", folder);
  FILE* file = fopen(type, "w");
  assert_non_null(file);
  fputs("model: pair\n" SPRING
        "parameters: {k: 2}\n"
        "use: {l: {element: spring, k: k}, r: {element: spring, k: 2*k}}\n"
        "simulate: {step: 7}\n",
        file);
  fclose(file);
  file = fopen(path, "w");
  assert_non_null(file);
  fputs("model: m\nelements: {pair: pair.yaml}\nuse: {p: {element: pair, k: 9}}\n", file);
  fclose(file);
  PawlModel* model;
  PawlError err = {0};
  PawlStatus status = pawl_model_load(path, 0, NULL, &model, &err);
  remove(type);
  remove(path);
  rmdir(folder);
  assert_int_equal(status, PAWL_OK);
  assert_int_equal(model->coordinate_count, 6);
  assert_string_equal(model->coordinates[0].name, "p_l_x");
  CHECK_NEAR(value_of(model, "p_r_k"), 18, 0);
  CHECK_NEAR(model->simulate.step, 1e-3, 0);  // that of the type concerns it alone
  pawl_model_destroy(model);
}

// ---- include ----------------------------------------------------------------------------------

typedef struct Written {  // a file of a test, in its folder
  const char *name, *text;
} Written;

// Loads the first of some files that are written for this moment; a name with a slash is in a
// folder of its own, `sub`.
static PawlStatus load_files(const Written* files, PawlModel** model, PawlError* err) {
  char folder[] = "/tmp/pawl-include.XXXXXX", path[96];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/sub", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  for (const Written* f = files; f->name; f++) {
    snprintf(path, sizeof path, "%s/%s", folder, f->name);
    FILE* file = fopen(path, "w");
    assert_non_null(file);
    fputs(f->text, file);
    fclose(file);
  }
  snprintf(path, sizeof path, "%s/%s", folder, files->name);
  *model = NULL;
  PawlStatus status = pawl_model_load(path, 0, NULL, model, err);
  for (const Written* f = files; f->name; f++) {
    snprintf(path, sizeof path, "%s/%s", folder, f->name);
    remove(path);
  }
  snprintf(path, sizeof path, "%s/sub", folder);
  rmdir(path);
  rmdir(folder);
  return status;
}

static void refuse_files(const Written* files, const char* part) {
  PawlModel* model;
  PawlError err = {0};
  assert_int_equal(load_files(files, &model, &err), PAWL_ERROR_MODEL);
  if (!strstr(err.message, part)) {
    print_error("'%s' is not in: %s\n", part, err.message);
  }
  assert_non_null(strstr(err.message, part));
}

#define LEG                                                                      \
  "model: leg\nparameters: {k: 2, at: [5, 6]}\ncoordinates: {x: {start: 3*k}}\n" \
  "functions: {f(x): k*x}\ntables: {road: {file: road.csv}}\n"                   \
  "potential: f(x) + at_2 + road(x)\nsimulate: {step: 7}\n"

static void test_include(void** state) {
  (void)state;
  static const Written legs[] = {
      {"m.yaml",
       "model: m\ninclude: {left: sub/leg.yaml, right: sub/leg.yaml}\n"
       "parameters: {twice: 2*left_k}\ncoordinates: {y: }\npotential: left_x - right_x\n"},
      {"sub/leg.yaml", LEG},
      {"sub/road.csv", "0,0\n10,20\n"},
      {NULL, NULL}};
  PawlModel* model;
  PawlError err = {0};
  PawlStatus status = load_files(legs, &model, &err);
  if (status != PAWL_OK) {
    print_error("%s\n", err.message);
  }
  assert_int_equal(status, PAWL_OK);
  assert_int_equal(model->coordinate_count, 3);
  assert_string_equal(model->coordinates[0].name, "left_x");
  assert_string_equal(model->coordinates[2].name, "y");
  CHECK_NEAR(value_of(model, "twice"), 4, 0);
  CHECK_NEAR(model->coordinates[0].start, 6, 0);
  CHECK_NEAR(node_value(model, model->terms[0].node), 2 * 1 + 6 + 2, 1e-15);  // of left
  CHECK_NEAR(model->simulate.step, 1e-3, 0);
  pawl_model_destroy(model);
  static const Written plain[] = {
      {"m.yaml", "model: m\ninclude: [a.yaml, b.yaml]\nparameters: {c: a + b}\ncoordinates: [x]\n"},
      {"a.yaml", "parameters: {a: 3}\n"},
      {"b.yaml", "include: sub/b.yaml\nparameters: {b: 10*a + d}\n"},
      {"sub/b.yaml", "parameters: {d: 1}\n"},
      {NULL, NULL}};
  assert_int_equal(load_files(plain, &model, &err), PAWL_OK);
  CHECK_NEAR(value_of(model, "c"), 34, 0);
  pawl_model_destroy(model);
}

// `guess` of a joint is an expression, whose names get the prefix, or a word.
static void test_included_guess(void** state) {
  (void)state;
  static const Written files[] = {
      {"m.yaml", "model: m\ninclude: {left: arm.yaml}\n"},
      {"arm.yaml",
       "parameters: {about: 0.5}\nbodies: {a: {mass: 1, inertia: 1, points: {p: [1, 0]}}, b: "
       "{mass: "
       "1, inertia: 1}}\njoints:\n  i: {revolute: [ground, a], guess: about}\n"
       "  j: {revolute: [ground, b], at: [2, 0], start: 3, guess: true}\n"
       "  k: {distance: [a, b], at: a.p, length: 1}\n"},
      {NULL, NULL}};
  PawlModel* model;
  PawlError err = {0};
  assert_int_equal(load_files(files, &model, &err), PAWL_OK);
  CHECK_NEAR(model->coordinates[0].start, 0.5, 0);
  CHECK_NEAR(model->coordinates[1].start, 3, 0);
  assert_true(model->coordinates[0].guess[0] && model->coordinates[1].guess[0]);
  pawl_model_destroy(model);
}

static void test_wrong_includes(void** state) {
  (void)state;
#define MODEL(include) \
  { "m.yaml", "model: m\ninclude: " include "\ncoordinates: [x]\n" }
  static const Written missing[] = {MODEL("none.yaml"), {NULL, NULL}};
  refuse_files(missing, "none.yaml: No such file");
  static const Written circle[] = {MODEL("m.yaml"), {NULL, NULL}};
  refuse_files(circle, "more than 8 files inside each other; does one include itself?");
  static const Written clash[] = {MODEL("a.yaml"), {"a.yaml", "coordinates: [x]\n"}, {NULL, NULL}};
  refuse_files(clash, "'x' is already a coordinate");
  static const Written key[] = {MODEL("a.yaml"), {"a.yaml", "coordinate: [y]\n"}, {NULL, NULL}};
  refuse_files(key, "unknown key 'coordinate' in an included file");
  static const Written prefix[] = {
      MODEL("{2b: a.yaml}"), {"a.yaml", "define: {y: 1}\n"}, {NULL, NULL}};
  refuse_files(prefix, "'2b' cannot be a prefix");
  static const Written inside[] = {
      MODEL("a.yaml"), {"a.yaml", "\ndefine: {y: 2*z}\n"}, {NULL, NULL}};
  refuse_files(inside, "unknown name 'z'");
  static const Written list[] = {MODEL("a.yaml"), {"a.yaml", "- 1\n"}, {NULL, NULL}};
  refuse_files(list, "'a.yaml' is not a map of sections");
}

// The fall of the bouncing beam as one line: the same coordinates, and strains that vanish.
static void test_built_in_types(void** state) {
  (void)state;
  static const struct {
    const char* text;
    int coordinates;
  } cases[] = {
      {"{element: beam, E: 1, A: 1, I: 1, rho: 1}", 15},
      {"{element: beam, E: 1, A: 1, I: 1, rho: 1, start: pinned}", 13},
      {"{element: beam, E: 1, A: 1, I: 1, rho: 1, start: clamped, elements: 2}", 6},
      {"{element: beam, E: 1, A: 1, I: 1, rho: 1, start: clamped, end: pinned, to: [3, 4]}", 10},
      {"{element: bar, E: 1, A: 1, rho: 1, mass: lumped}", 11},
      {"{element: bar, E: 1, A: 1, rho: 1, start: clamped, end: clamped}", 9},
      {"{element: euler-beam, E: 1, A: 1, I: 1, rho: 1, start: pinned, end: pinned}", 8},
      {"{element: rod, E: 1, A: 1, J: 1, rho: 1, start: clamped}", 20},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[256];
    snprintf(text, sizeof text, "model: m\nuse:\n  b: %s\n", cases[k].text);
    PawlModel* model = read_model(text);
    assert_int_equal(model->coordinate_count, cases[k].coordinates);
    pawl_model_destroy(model);
  }
}

static void test_mistakes(void** state) {
  (void)state;
  REFUSED("model: m\nuse: {a: {element: baem}}", "m.yaml:2:20: unknown element type 'baem'",
          "did you mean 'beam'");
  REFUSED("model: m\nuse: {a: {element: beam, EE: 1}}", "m.yaml:2:26: unknown key 'EE'");
  REFUSED("model: m\nuse: {a: {element: bar, E: 1, A: 1, rho: -2}}", "'a_rho' is -2, but must be");
  REFUSED("model: m\nuse: {a: {element: bar, from: 1, to: 0, E: 1, A: 1, rho: 2}}",
          "'a_le' = (a_to - a_from)/a_elements is -0.1, but must be above 0");
  REFUSED("model: m\nuse: {a: {element: beam, to: [0, 0], E: 1, A: 1, I: 1, rho: 2}}",
          "'a_L' = sqrt", "is 0, but must be above 0");
  REFUSED("model: m\nuse: {a: {element: bar, E: 1, A: 1}}",
          "m.yaml:2:7: the element 'a' needs rho");
  REFUSED("model: m\nuse: {a: {element: bar, E: 1, A: 1, rho: 1, mass: lumpd}}",
          "did you mean 'lumped'");
  REFUSED("model: m\nuse: {a: {element: beam, E: 1, A: 1, I: 1, rho: 1, to: [1]}}",
          "'to' is a list of 2 values");
  REFUSED("model: m\nuse: {a: {element: bar, E: 1, A: 1, rho: zz}}",
          "m.yaml:2:42: in 'zz': unknown name 'zz'");
  REFUSED("model: m\nuse: {a: 3}", "m.yaml:2:10: 'a': expected {element: TYPE, ...}");
  REFUSED("model: m\nuse: {a-b: {element: bar}}", "'a-b' cannot be the name of a use");
  REFUSED("model: m\nuse: 3", "use: expected a map of names");
  REFUSED("model: m\nelements: {q: nowhere.yaml}\nuse: {a: {element: q}}",
          "m.yaml:2:15: nowhere.yaml: ");
  REFUSED("model: m\nelements: {q: {use: {a: {element: q}}}}\nuse: {a: {element: q}}",
          "unknown element");
  REFUSED("model: m\nelements: {q: {coordinats: [x]}}\nuse: {a: {element: q}}",
          "unknown key 'coordinats' in an element type");
  // A mistake inside a type: the place of the use, and where the type has it.
  REFUSED("model: m\nelements: {q: {coordinates: [x], potential: m*x}}\nuse: {a: {element: q}}",
          "m.yaml:3:7: in 'm*a_x': unknown name 'm' (m.yaml:2:45)");
  REFUSED("model: m\ncoordinates: [a_x]\nelements: {q: {coordinates: [x]}}\nuse: {a: {element: q}}",
          "'a_x' is already");
  REFUSED("model: m\nparameters: {k: {one_of: []}}\ncoordinates: [x]",
          "one_of: expected a list of words");
}

static void test_failing_allocations(void** state) {
  (void)state;
  PawlModel* model;
  long long before = pawl_alloc_count();
  pawl_model_destroy(read_model(whole));
  long long total = pawl_alloc_count() - before;
  for (long long n = 1; n <= total; n++) {
    pawl_alloc_fail_at(n);
    PawlStatus status = pawl_model_parse(whole, strlen(whole), "m.yaml", 0, NULL, &model, NULL);
    pawl_alloc_fail_at(0);
    assert_int_equal(status, PAWL_ERROR_MEMORY);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whole),          cmocka_unit_test(test_expansion_reads_back),
      cmocka_unit_test(test_overrides),      cmocka_unit_test(test_files),
      cmocka_unit_test(test_include),        cmocka_unit_test(test_included_guess),
      cmocka_unit_test(test_wrong_includes), cmocka_unit_test(test_built_in_types),
      cmocka_unit_test(test_mistakes),       cmocka_unit_test(test_failing_allocations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
