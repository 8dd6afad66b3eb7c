// SPDX-License-Identifier: Apache-2.0
// Leaving the domain of a function, or overflowing, is an error that names the place in the file,
// the term and the time; it never passes as a number.
#include "system/setup.h"

typedef struct Case {
  const char* terms;  // of the model, after line 5
  unsigned mask;
  double x, y, rate;  // x, y and the rate of x at t = 0.25; all others are 0.5
  const char* place;  // "file:line:column"
  const char* word;   // must occur in the message
  const char* text;   // of the term
} Case;

// Coordinates x, y, u[1..17]; a sound kinetic energy. The terms begin in line 6.
static Setup fault_setup(const char* terms) {
  char text[2000];
  snprintf(text, sizeof text,
           "model: faults\nparameters: {p: 2, zero: 0}\n"
           "coordinates:\n  {x: {}, y: {}, \"u[i=1..17]\": {}}\n"
           "mass: {x: 1, y: 1, \"u[i=1..17]\": 1}\n%s",
           terms);
  return setup_text(text);
}

static Place half_place(const Setup* s) {
  Place p = {0.5, numbers(s->n.q), numbers(s->n.v), numbers(s->n.v), numbers(s->n.rows), NULL};
  for (int k = 0; k < s->n.q; k++) {
    p.q[k] = p.v[k] = p.a[k] = 0.5;
  }
  for (int k = 0; k < s->n.rows; k++) {
    p.lambda[k] = 0.5;
  }
  return p;
}

static void expect_words(const char* message, const char* word) {
  if (!strstr(message, word)) {
    fail_msg("'%s'\ndoes not say\n'%s'", message, word);
  }
}

// The terms are sound at `sound_x`, and they make `groups` groups at least: one of
// the masses, one of what is alone, and one of each family of terms.
static void check_case(const Case* c, double sound_x, int groups) {
  Setup s = fault_setup(c->terms);
  Place p = half_place(&s);
  PawlEval* eval;
  PawlError err = {0};
  assert_int_equal(pawl_eval_create(s.system, c->mask, &eval, NULL), PAWL_OK);
  assert_true(pawl_system_info(s.system).groups >= groups);
  PawlPoint point = point_of(&p);
  p.q[0] = sound_x;
  if (pawl_eval_run(eval, &point, &err) != PAWL_OK) {
    fail_msg("%s", err.message);
  }
  point.t = 0.25;
  p.q[0] = c->x;
  p.q[1] = c->y;
  p.v[0] = c->rate;
  if (pawl_eval_run(eval, &point, &err) != PAWL_RETRY) {
    fail_msg("no fault in\n%s", c->terms);
  }
  assert_int_equal(err.status, PAWL_RETRY);
  expect_words(err.message, "t = 0.25");
  expect_words(err.message, c->word);
  expect_words(err.message, c->text);
  expect_words(err.message, c->place);
  assert_int_equal(pawl_eval_run(eval, &point, NULL), PAWL_RETRY);  // without a message too
  p.q[1] = p.v[0] = point.t = 0.5;
  p.q[0] = sound_x;
  assert_int_equal(pawl_eval_run(eval, &point, &err), PAWL_OK);  // nothing is left behind
  pawl_eval_destroy(eval);
  place_free(&p);
  setup_free(&s);
}

static void check_cases(const Case* cases, size_t count, double sound_x, int groups) {
  for (size_t k = 0; k < count; k++) {
    check_case(&cases[k], sound_x, groups);
  }
}
#define CHECK_CASES(cases, sound_x, groups) \
  check_cases((cases), sizeof(cases) / sizeof *(cases), (sound_x), (groups))

#define ALL PAWL_EVERYTHING

static void test_values_of_single_terms(void** state) {
  (void)state;
  static const Case cases[] = {
      {"potential: y*log(x)\n", PAWL_ENERGY, -1, 0.5, 0.5, "test.yaml:6:12", "log(x)", "y*log(x)"},
      {"potential: y*log(x)\n", PAWL_FORCE, -1, 0.5, 0.5, "test.yaml:6:12", "log(x)", "potential"},
      {"potential: y*log(x)\n", PAWL_FORCE, 0, 0.5, 0.5, "test.yaml:6:12", "log(x)", "potential"},
      {"kinetic: y'^2/x\n", PAWL_MASS, 0, 0.5, 0.5, "test.yaml:6:10", "y'^2/x", "kinetic"},
      {"kinetic: y'^2/x\n", ALL, 0, 0.5, 0.5, "test.yaml:6:10", "y'^2/x", "kinetic"},
      {"forces:\n  y: 1 + sqrt(x - y)\n", PAWL_FORCE, 0.1, 0.5, 0.5, "test.yaml:7:6", "sqrt(x - y)",
       "force '1 + sqrt(x - y)'"},
      {"dissipation: x'^2*acos(x)\n", PAWL_FORCE, 2, 0.5, 0.5, "test.yaml:6:14", "acos(x)",
       "dissipation"},
      {"constraints:\n  c: y = asin(p*x)\n", PAWL_POSITION, 0.6, 0.5, 0.5, "test.yaml:7:6",
       "asin(p*x)", "constraint 'y = asin(p*x)'"},
      {"constraints:\n  c:\n    - x = 0\n    - y = x^p/(x - 2*y)\n", PAWL_GRADIENT, 1, 0.5, 0.5,
       "test.yaml:9:7", "x - 2*y", "constraint"},
      {"outputs:\n  seen: x^y\n", PAWL_OUTPUTS, -1, 0.5, 0.5, "test.yaml:7:3", "x^y",
       "output 'seen'"},
      {"outputs:\n  seen: {value: exp(x), unit: m}\n", PAWL_OUTPUTS, 800, 0.5, 0.5, "test.yaml:7:3",
       "exp(x)", "output 'seen'"},
      {"potential: exp(x)*y\n", PAWL_ENERGY, 800, 0.5, 0.5, "test.yaml:6:12", "exp(x)", "exp(x)*y"},
      {"forces: {y: \"wrap(y, x)\"}\n", PAWL_FORCE, -1, 0.5, 0.5, "test.yaml:6", "wrap(y, x)",
       "force"},
      {"forces: {y: x^(-3)}\n", PAWL_FORCE, 0, 0.5, 0.5, "test.yaml:6:13", "x^(-3)", "force"},
      {"tables: {f: {points: [[0, 0], [1, 1]]}}\nforces: {y: f(x)}\n", PAWL_FORCE,
       1.0000000000000002, 0.5, 0.5, "test.yaml:7:13",
       "(operands 1.0000000000000002; the table goes from 0 to 1)", "force 'f(x)'"},
      {"potential: x^4*y^4\n", PAWL_ENERGY, 1e60, 1e60, 0.5, "test.yaml:6:12", "operands",
       "potential 'x^4*y^4'"},
  };
  CHECK_CASES(cases, 0.5, 2);
}

// The value of the term is finite, a derivative is not.
static void test_derivatives_of_single_terms(void** state) {
  (void)state;
  static const Case cases[] = {
      {"potential: sqrt(x)\n", PAWL_FORCE, 0, 0.5, 0.5, "test.yaml:6:12", "'x'", "sqrt(x)"},
      {"potential: x^1.5\n", PAWL_STIFFNESS, 0, 0.5, 0.5, "test.yaml:6:12", "'x'", "x^1.5"},
      {"constraints:\n  c: y = sqrt(x)\n", PAWL_GRADIENT, 0, 0.5, 0.5, "test.yaml:7:6", "'x'",
       "constraint 'y = sqrt(x)'"},
      {"springs:\n  s: {from: [0, 0.5], to: [x, y], stiffness: 1, length: 1}\n", PAWL_FORCE, 0, 0.5,
       0.5, "test.yaml:7:3", "the spring 's'", "do its points meet?"},
      {"constraints:\n  c: y = x^1.5\n", PAWL_BIAS, 0, 0.5, 0.5, "test.yaml:7:6", "'x'",
       "constraint 'y = x^1.5'"},
      {"kinetic: y'^2*sqrt(x)\n", PAWL_FORCE, 0, 0.5, 0.5, "test.yaml:6:10", "'x'", "kinetic"},
      {"forces: {y: asin(x)}\n", PAWL_STIFFNESS, 1, 0.5, 0.5, "test.yaml:6:13", "'x'", "force"},
      {"dissipation: sqrt(x'^2)\n", PAWL_FORCE, 0.5, 0.5, 0, "test.yaml:6:14", "x'",
       "dissipation 'sqrt(x'^2)'"},
      {"forces: {y: sqrt(x')}\n", PAWL_DAMPING, 0.5, 0.5, 0, "test.yaml:6:13", "x'",
       "force 'sqrt(x')'"},
      {"kinetic: sqrt(x')\n", PAWL_FORCE | PAWL_MASS, 0.5, 0.5, 0, "test.yaml:6:10", "x'",
       "kinetic 'sqrt(x')'"},
      {"kinetic: abs(x')^2.5\n", PAWL_DAMPING, 0.5, 0.5, 0, "test.yaml:6:10", "derivative",
       "kinetic 'abs(x')^2.5'"},
      {"constraints:\n  c: y = x*(t - 0.25 + x^2)^1.5\n", PAWL_BIAS, 0, 0.5, 0.5, "test.yaml:7:6",
       "derivative", "constraint 'y = x*(t - 0.25 + x^2)^1.5'"},
      {"constraints:\n  c: y = x + sqrt(t - 0.25)\n", PAWL_TIME_GRADIENT, 0.1, 0.5, 0.5,
       "test.yaml:7:6", "derivative", "constraint 'y = x + sqrt(t - 0.25)'"},
  };
  CHECK_CASES(cases, 0.5, 2);
}

// u[1] .. u[6] have 0.5; their terms are lanes, and x takes one or all of them out of the domain.
static void test_lanes(void** state) {
  (void)state;
  static const Case cases[] = {
      {"potential:\n  for i=1..17: log(u[i] + i*x)\n", PAWL_ENERGY, -0.2, 0.5, 0.5,
       "test.yaml:7:16", "log(u[3] + 3*x)", "log(u[i] + i*x)"},
      {"potential:\n  for i=1..17: y*log(u[i] + i*x)\n", PAWL_FORCE, -0.2, 0.5, 0.5,
       "test.yaml:7:16", "log(u[3] + 3*x)", "y*log(u[i] + i*x)"},
      {"kinetic:\n  for i=1..17: u[i]'^2/(x - i)\n", PAWL_MASS, 5, 0.5, 0.5, "test.yaml:7:16",
       "x - 5", "u[i]'^2/(x - i)"},
      {"forces:\n  u[i=1..17]: sqrt(u[i] - x)\n", PAWL_FORCE, 1, 0.5, 0.5, "test.yaml:7:15",
       "sqrt(u[1] - x)", "force"},
      {"forces:\n  u[i=1..17]: sqrt(u[i] - x)\n", PAWL_STIFFNESS, 0.5, 0.5, 0.5, "test.yaml:7:15",
       "derivative", "force"},
      {"constraints:\n  c[i=1..17]: u[i] = asin(x/i)\n", ALL, 2.5, 0.5, 0.5, "test.yaml:7:15",
       "asin(x)", "constraint"},
      {"constraints:\n  c[i=1..17]: u[i] = tan(x/i)/y\n", PAWL_POSITION, 0.5, 0, 0.5,
       "test.yaml:7:15", "/y", "constraint"},
      {"outputs:\n  seen[i=1..17]: (x - i)^(-1)\n", PAWL_OUTPUTS, 4, 0.5, 0.5, "test.yaml:7:3",
       "x - 4", "output"},
      {"dissipation:\n  for i=1..17: u[i]'^2*exp(i*x)\n", PAWL_FORCE, 130, 0.5, 0.5,
       "test.yaml:7:16", "exp(6*x)", "dissipation"},
  };
  // At x = 0.5 sqrt(u[i] - x) has no derivative: start below it.
  CHECK_CASES(cases, 0.4, 3);
}

// ---- constants ----------------------------------------------------------------------------------
static void test_constants(void** state) {
  (void)state;
  static const struct {
    const char *terms, *place, *word;
  } cases[] = {
      {"potential: x/zero\n", "test.yaml:6:12", "x/zero"},
      {"potential: 1/0*x\n", "test.yaml:6:12", "1/0"},
      {"forces: {x: 1/zero}\n", "test.yaml:6:13", "1/zero"},
      {"potential: log(y)\nforces: {x: 1/zero}\n", "test.yaml:7:13", "1/zero"},
      {"kinetic: x'^2*log(zero - p)\n", "test.yaml:6:10", "log(zero - p)"},
      {"constraints:\n  c: x = sqrt(-p)*y\n", "test.yaml:7:6", "sqrt(-p)"},
      {"outputs:\n  seen: zero/zero\n", "test.yaml:7:3", "zero/zero"},
      {"potential:\n  for i=1..17: u[i]/(i - 3)\n", "test.yaml:7:16", "u[3]"},
      {"potential:\n  for i=1..17: exp(1000*i)*u[i]\n", "test.yaml:7:16", "exp("},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[1000];
    snprintf(text, sizeof text,
             "model: faults\nparameters: {p: 2, zero: 0}\n"
             "coordinates:\n  {x: {}, y: {}, \"u[i=1..17]\": {}}\n"
             "mass: {x: 1, y: 1, \"u[i=1..17]\": 1}\n%s",
             cases[k].terms);
    PawlModel* model = NULL;
    PawlSystem* system = NULL;
    PawlError err = {0};
    PawlStatus status = pawl_model_parse(text, strlen(text), "test.yaml", 0, NULL, &model, &err);
    if (status == PAWL_OK) {
      status = pawl_system_create(model, &system, &err);
    }
    if (status == PAWL_OK) {  // it is not constant after all: then the run must say it
      Setup s = setup_model(model);
      Place p = half_place(&s);
      PawlPoint point = point_of(&p);
      status = pawl_eval_run(s.eval, &point, &err);
      assert_int_equal(status, PAWL_RETRY);
      place_free(&p);
      pawl_eval_destroy(s.eval);
      pawl_system_destroy(s.system);
    } else {
      assert_int_equal(status, PAWL_ERROR_MODEL);
      assert_int_equal(err.status, PAWL_ERROR_MODEL);
    }
    expect_words(err.message, cases[k].place);
    expect_words(err.message, cases[k].word);
    pawl_system_destroy(system);
    pawl_model_destroy(model);
  }
}

// ---- no fault -----------------------------------------------------------------------------------
// A branch not taken may be outside its domain, in value and derivatives; so may what is not asked.
static void test_guarded_branches(void** state) {
  (void)state;
  static const char* const sound[] = {
      "potential: if(0 < x, log(x), x^2)\n",
      "potential: if(x < 0, y, 1/x)*y\n",
      "forces: {y: \"if(abs(x) < 1, sqrt(1 - x^2), 0)\"}\n",
      "kinetic: if(x' < 0, x'^2, x'^2.5)/2\n",
      "constraints:\n  c: y = if(0 < x, x^1.5, 0)\n",
      "potential:\n  for i=1..17: if(0 < x, log(i*x), i)*u[i]\n",
      "outputs:\n  seen[i=1..17]: if(0 < x, i/x, 0)\n",
  };
  for (size_t k = 0; k < sizeof sound / sizeof *sound; k++) {
    Setup s = fault_setup(sound[k]);
    Place p = half_place(&s);
    PawlPoint point = point_of(&p);
    for (double x = -2.0; x <= 2.0; x += 0.7) {
      p.q[0] = p.v[0] = x;
      PawlError err = {0};
      if (pawl_eval_run(s.eval, &point, &err) != PAWL_OK) {
        fail_msg("%s\n%s", sound[k], err.message);
      }
    }
    place_free(&p);
    setup_free(&s);
  }
}

// Of two terms, the one that is at fault in what was asked for.
static void test_only_what_is_asked(void** state) {
  (void)state;
  Setup s = fault_setup("potential: sqrt(x)\noutputs: {seen: log(y)}\n");
  Place p = half_place(&s);
  PawlPoint point = point_of(&p);
  PawlEval* eval;
  PawlError err = {0};
  assert_int_equal(pawl_eval_create(s.system, PAWL_FORCE, &eval, NULL), PAWL_OK);
  p.q[1] = -1.0;
  assert_int_equal(pawl_eval_run(eval, &point, &err), PAWL_OK);
  p.q[0] = 0.0;
  assert_int_equal(pawl_eval_run(eval, &point, &err), PAWL_RETRY);
  expect_words(err.message, "sqrt(x)");
  pawl_eval_destroy(eval);
  place_free(&p);
  setup_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values_of_single_terms),
      cmocka_unit_test(test_derivatives_of_single_terms),
      cmocka_unit_test(test_lanes),
      cmocka_unit_test(test_constants),
      cmocka_unit_test(test_guarded_branches),
      cmocka_unit_test(test_only_what_is_asked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
