// SPDX-License-Identifier: Apache-2.0
// The grammar: precedence by value, tokens, every error with its place, the forms around an
// expression, and texts that are large, deep or random.
#include "base/alloc.h"
#include "random_tree.h"
#include "simple_names.h"

static double value_at(const char* text) {
  PawlDag* dag = pawl_dag_create();
  PawlExprError error;
  PawlNode node = read_text(dag, text, strlen(text), &error);
  if (node < 0) {
    print_error("%s: %s\n", text, error.message);
  }
  assert_true(node >= 0);
  double q[20] = {2.0, 3.0, 5.0}, v[20] = {7.0}, param[2] = {11.0, 13.0}, a[20] = {17.0}, value;
  for (int k = 10; k < 20; k++) {
    q[k] = v[k] = a[k] = k - 10;
  }
  double lambda[3] = {23.0, 29.0, 31.0};
  PawlLeafValues leaves = {.t = 19.0, .param = param, .q = q, .v = v, .a = a, .lambda = lambda};
  assert_int_equal(pawl_dag_value(dag, node, &leaves, &value, NULL), PAWL_OK);
  pawl_dag_destroy(dag);
  return value;
}

// x = 2, y = 3, z = 5, x' = 7, m = 11, k = 13, x'' = 17, t = 19, u[i] = i.
static void test_precedence(void** state) {
  (void)state;
  static const struct {
    const char* text;
    double value;
  } cases[] = {
      {"x + y*z", 17.0},
      {"(x + y)*z", 25.0},
      {"x - y - z", -6.0},
      {"x - (y - z)", 4.0},
      {"z/x/y", 5.0 / 2.0 / 3.0},
      {"z/x*y", 7.5},
      {"-x^2", -4.0},
      {"(-x)^2", 4.0},
      {"x^y^x", 512.0},
      {"(x^y)^x", 64.0},
      {"x^-1", 0.5},
      {"x^-y^2", 1.0 / 512.0},
      {"-x*y", -6.0},
      {"x*-y", -6.0},
      {"--x", 2.0},
      {"+x - +y", -1.0},
      {"x - -y", 5.0},
      {"2^-1^2", 0.5},
      {"x < y", 1.0},
      {"x > y", 0.0},
      {"x < y < z", 1.0},
      {"x < z < y", 0.0},
      {"z > y >= x", 1.0},
      {"x < y == 3", 1.0},
      {"x < y != 3 < 9", 0.0},
      {"x + 1 <= y", 1.0},
      {"not x > y", 1.0},
      {"not x < y or y < z", 1.0},
      {"not (x < y or y < z)", 0.0},
      {"0 and 0 or 1", 1.0},
      {"1 or 0 and 0", 1.0},
      {"not 0 and 0", 0.0},
      {"not not x", 1.0},
      {"x' + x''", 24.0},
      {"u[1 + 2]'^2", 9.0},
      {"t*m", 209.0},
      {"min(x, y)", 2.0},
      {"max(x, z, y)", 5.0},
      {"min(5, 4, 3, 2.5, 7)", 2.5},
      {"if(x < y, z, 1/0)", 5.0},
      {"atan2(0, -1) - pi", 0.0},
      {"log(e)", 1.0},
      {"wrap(z, 3)", 2.0},
      {"sqrt(abs(-4)) + sign(-3) + floor(2.7)", 3.0},
      {"lambda(track) + lambda(track, 2)", 54.0},
      {"1.5 + .5 + 1e-3*1000 + 2.5E+3 + 1.", 2504.0},
      {" x\t+\n y ", 5.0},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    CHECK_NEAR(value_at(cases[k].text), cases[k].value, 4e-16 * (1.0 + fabs(cases[k].value)));
  }
}

// What is wrong, where, and how it is called.
static const struct {
  const char* text;
  int begin, end;
  const char* message;
} mistakes[] = {
    {"", 0, 0, "expected an expression, found the end"},
    {"  ", 2, 2, "expected an expression, found the end"},
    {"x +", 3, 3, "expected a number, a name or '(', found the end"},
    {"x + * y", 4, 5, "expected a number, a name or '(', found '*'"},
    {"2x", 1, 2, "expected an operator, found 'x'"},
    {"2(x)", 1, 2, "expected an operator, found '('"},
    {"x y", 2, 3, "expected an operator, found 'y'"},
    {"(x) (y)", 4, 5, "expected an operator, found '('"},
    {"x 2", 2, 3, "expected an operator, found '2'"},
    {"(x + y", 6, 6, "expected an operator or ')', found the end"},
    {"x + y)", 5, 6, "expected an operator, found ')'; there is no '(' to it"},
    {"x ** 2", 2, 4, "unknown operator '**', use ^"},
    {"x && y", 2, 4, "unknown operator '&&', use and"},
    {"x || y", 2, 4, "unknown operator '||', use or"},
    {"!x", 0, 1, "unknown operator '!', use not"},
    {"x % 2", 2, 3, "unknown operator '%', use wrap(x, p)"},
    {"x = y", 2, 3, "expected an operator, found '='; to compare, use =="},
    {"(x = y)", 3, 4, "expected an operator or ')', found '='; to compare, use =="},
    {"x <> y", 2, 4, "unknown operator '<>', use !="},
    {"sin(x, y)", 0, 9, "sin takes 1 argument, 2 given"},
    {"1 + sin()", 4, 9, "sin takes 1 argument, 0 given"},
    {"if(x, y)", 0, 8, "if takes 3 arguments, 2 given"},
    {"min(x)", 0, 6, "min takes 2 or more arguments, 1 given"},
    {"atan2(x)", 0, 8, "atan2 takes 2 arguments, 1 given"},
    {"lambda()", 0, 8, "lambda takes 1 or 2 arguments, 0 given"},
    {"lambda(x + 1)", 7, 12, "lambda takes the name of a constraint, contact or lock"},
    {"sin x", 0, 3, "sin is a function, write sin(...)"},
    {"x + cosh", 4, 8, "cosh is a function, write cosh(...)"},
    {"sine(x)", 0, 4, "unknown function 'sine', did you mean sin?"},
    {"1 + sqr(x)", 4, 7, "unknown function 'sqr', did you mean sqrt?"},
    {"ln(x)", 0, 2, "unknown function 'ln', use log(x)"},
    {"x(y + 1)", 0, 1, "unknown function 'x'; a product is written x*(...)"},
    {"sin(x", 5, 5, "expected an operator, ',' or ')', found the end"},
    {"sin(x,)", 6, 7, "expected a number, a name or '(', found ')'"},
    {"u[1", 3, 3, "expected an operator, ',' or ']', found the end"},
    {"u[1)", 3, 4, "expected an operator, ',' or ']', found ')'"},
    {"u[]", 1, 3, "u takes 1 to 3 indices, 0 given"},
    {"u[1,2,3,4]", 1, 10, "u takes 1 to 3 indices, 4 given"},
    {"u[0..3]", 3, 5,
     "expected an operator, ',' or ']', found '..'; a range stands in a key or after 'for'"},
    {"(x + y)'", 7, 8,
     "expected an operator, found '''; a prime follows a name: define one for this"},
    {"3'", 1, 2, "expected an operator, found '''; a prime follows a name"},
    {"pi'", 2, 3, "expected an operator, found '''; a prime follows a name"},
    {"t'", 0, 2, "t is the time and takes no index and no prime"},
    {"x and", 5, 5, "expected a number, a name or '(', found the end"},
    {"and x", 0, 3, "expected a number, a name or '(', found 'and'"},
    {"x + not y", 4, 7, "expected a number, a name or '(', found 'not'; write (not ...)"},
    {"x < < y", 4, 5, "expected a number, a name or '(', found '<'"},
    {"x ? y", 2, 3, "unknown character '?'"},
    {"x + #", 4, 5, "unknown character '#'"},
    {"x . y", 0, 5, "a number has no .y"},
    {"(x).q", 4, 5, "expected x, y or z after '.', found 'q'"},
    {"(x + [1, 2]).y", 0, 12, "a sum needs two of one shape: a number and a vector of 2"},
    {"u[1].", 5, 5, "expected a name after '.', found the end"},
    {"[x]", 0, 3, "a vector has 2 or 3 numbers, 1 given"},
    {"[x, y]", 0, 6, "expected a number, found a vector of 2"},
    {"x \x01", 2, 3, "unknown character, code 1"},
    {"x \xFF", 2, 3, "the text is not valid UTF-8 here"},
    {"x\xCE", 1, 2, "the text is not valid UTF-8 here"},
    {"x \xE2\x88\x92 y", 2, 5, "unknown sign '\xE2\x88\x92', use -"},
    {"x\xC2\xB2", 1, 3, "unknown sign '\xC2\xB2', use ^2"},
    {"1e999", 0, 5, "this number is too large, at most 1.79e308"},
    {"w + 1", 0, 1, "unknown name 'w'"},
    {"1 + x'''", 4, 8, "unknown name 'x'"},
    {"u[-1]", 0, 5, "unknown name 'u'"},
    {"2*lambda(brake)", 9, 14, "no such constraint"},
};

static void test_errors(void** state) {
  (void)state;
  PawlDag* dag = pawl_dag_create();
  for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++) {
    PawlExprError error;
    // A copy of the exact size, so that a sanitizer sees a read past the end.
    size_t length = strlen(mistakes[k].text);
    char* text = pawl_alloc(length, 1);
    memcpy(text, mistakes[k].text, length);
    assert_int_equal(read_text(dag, text, length, &error), PAWL_NO_NODE);
    pawl_free(text);
    assert_string_equal(error.message, mistakes[k].message);
    if (error.begin != mistakes[k].begin || error.end != mistakes[k].end) {
      print_error("%s: %d to %d\n", mistakes[k].text, error.begin, error.end);
    }
    assert_int_equal(error.begin, mistakes[k].begin);
    assert_int_equal(error.end, mistakes[k].end);
  }
  pawl_dag_destroy(dag);
}

static void test_greek_names(void** state) {
  (void)state;
  PawlArena arena = {0};
  PawlAst* tree;
  PawlExprError error;
  const char* text = "\xCF\x86_1'^2 + 2*\xCF\x86_1";
  assert_int_equal(pawl_ast_parse(&arena, text, strlen(text), &tree, &error), PAWL_OK);
  const PawlAst* name = tree->args[0]->args[0];
  assert_string_equal(name->name, "\xCF\x86_1");
  assert_int_equal(name->primes, 1);
  assert_int_equal(name->begin, 0);
  assert_int_equal(name->end, 5);
  pawl_arena_free(&arena);
}

static void test_a_long_name_is_cut_in_a_message(void** state) {
  (void)state;
  char text[400] = "x ";
  for (int k = 2; k < 390; k += 2) {
    memcpy(text + k, "\xCF\x86", 3);
  }
  PawlArena arena = {0};
  PawlAst* tree;
  PawlExprError error;
  assert_int_equal(pawl_ast_parse(&arena, text, strlen(text), &tree, &error), PAWL_ERROR_MODEL);
  assert_true(strlen(error.message) < 90);
  assert_non_null(strstr(error.message, "\xCF\x86...'"));
  pawl_arena_free(&arena);
}

static void test_equation(void** state) {
  (void)state;
  PawlArena arena = {0};
  PawlAst *left, *right;
  PawlExprError error;
  const char* text = "y = tan(k)*(x - 3)";
  assert_int_equal(pawl_ast_parse_equation(&arena, text, strlen(text), &left, &right, &error),
                   PAWL_OK);
  assert_string_equal(left->name, "y");
  assert_int_equal(right->begin, 4);
  assert_int_equal(right->end, 18);
  assert_int_equal(pawl_ast_parse_equation(&arena, "y == 2", 6, &left, &right, &error), PAWL_OK);
  assert_int_equal(left->kind, PAWL_AST_COMPARE);
  assert_null(right);
  static const struct {
    const char* text;
    int begin;
    const char* message;
  } wrong[] = {
      {"y = x = 2", 6, "expected an operator, found '='; an equation has one '='"},
      {"y =", 3, "expected a number, a name or '(', found the end"},
      {"= y", 0, "expected a number, a name or '(', found '='; to compare, use =="},
      {"", 0, "expected an expression, found the end"},
  };
  for (int k = 0; k < 4; k++) {
    PawlStatus status = pawl_ast_parse_equation(&arena, wrong[k].text, strlen(wrong[k].text), &left,
                                                &right, &error);
    assert_int_equal(status, PAWL_ERROR_MODEL);
    assert_string_equal(error.message, wrong[k].message);
    assert_int_equal(error.begin, wrong[k].begin);
    assert_true(left == NULL && right == NULL);
  }
  pawl_arena_free(&arena);
}

static PawlStatus key(PawlArena* arena, const char* text, PawlAstKey* out, PawlExprError* error) {
  return pawl_ast_parse_key(arena, text, strlen(text), out, error);
}

static void test_keys(void** state) {
  (void)state;
  PawlArena arena = {0};
  PawlAstKey out;
  PawlExprError error;
  assert_int_equal(key(&arena, "u", &out, &error), PAWL_OK);
  assert_string_equal(out.name, "u");
  assert_int_equal(out.count, 0);
  assert_int_equal(key(&arena, "u[3]", &out, &error), PAWL_OK);
  assert_true(out.count == 1 && out.range[0].var == NULL && out.range[0].high == NULL);
  CHECK_NEAR(out.range[0].low->value, 3.0, 0.0);
  assert_int_equal(key(&arena, "a[i=0..N-1, 2*j]", &out, &error), PAWL_OK);
  assert_int_equal(out.count, 2);
  assert_string_equal(out.range[0].var, "i");
  CHECK_NEAR(out.range[0].low->value, 0.0, 0.0);
  assert_int_equal(out.range[0].high->op, PAWL_OP_SUB);
  assert_true(out.range[0].begin == 2 && out.range[0].end == 10);
  assert_int_equal(out.range[1].low->op, PAWL_OP_MUL);
  assert_int_equal(key(&arena, "u[i=1..2*N]", &out, &error), PAWL_OK);
  assert_int_equal(out.range[0].high->op, PAWL_OP_MUL);
  static const struct {
    const char* text;
    int begin;
    const char* message;
  } wrong[] = {
      {"", 0, "expected a name, found the end"},
      {"3", 0, "expected a name, found '3'"},
      {"u v", 2, "expected '[' or nothing after a name, found 'v'"},
      {"u[3] v", 5, "expected nothing after ']', found 'v'"},
      {"u[", 2, "expected a number, a name or '(', found the end"},
      {"u[i=0]", 5, "expected '..' and the last index, found ']'"},
      {"u[i=0..]", 7, "expected a number, a name or '(', found ']'"},
      {"u[0..3]", 3, "expected an operator, found '..'; a range has a name: i=0..N"},
      {"u[i=0..3", 8, "expected an operator, ',' or ']', found the end"},
      {"u[t=0..3]", 2, "'t' is reserved and cannot name an index"},
      {"u[i=0..3, i=0..3]", 10, "index 'i' appears twice"},
      {"u[1,2,3,4]", 8, "at most 3 indices are read"},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    assert_int_equal(key(&arena, wrong[k].text, &out, &error), PAWL_ERROR_MODEL);
    assert_string_equal(error.message, wrong[k].message);
    assert_int_equal(error.begin, wrong[k].begin);
    assert_int_equal(out.count, 0);
  }
  pawl_arena_free(&arena);
}

static void test_loops(void** state) {
  (void)state;
  PawlArena arena = {0};
  PawlAstKey out;
  PawlExprError error;
  bool is_for;
  assert_int_equal(pawl_ast_parse_for(&arena, "for i=0..N-1", 12, &is_for, &out, &error), PAWL_OK);
  assert_true(is_for && out.name == NULL && out.count == 1);
  assert_string_equal(out.range[0].var, "i");
  assert_int_equal(pawl_ast_parse_for(&arena, "for i=0..N, j=i..M", 18, &is_for, &out, &error),
                   PAWL_OK);
  assert_int_equal(out.count, 2);
  static const char* const others[] = {"format", "x + 1", "", "?", "for_all"};
  for (int k = 0; k < 5; k++) {
    assert_int_equal(
        pawl_ast_parse_for(&arena, others[k], strlen(others[k]), &is_for, &out, &error), PAWL_OK);
    assert_false(is_for);
  }
  assert_int_equal(pawl_ast_parse_for(&arena, "for", 3, &is_for, &out, &error), PAWL_ERROR_MODEL);
  assert_string_equal(error.message, "expected an index such as i=0..N, found the end");
  assert_int_equal(pawl_ast_parse_for(&arena, "for i in 3", 10, &is_for, &out, &error),
                   PAWL_ERROR_MODEL);
  assert_string_equal(error.message, "expected '=' and a range such as 0..N, found 'in'");
  assert_int_equal(pawl_ast_parse_for(&arena, "for i=0..3 x", 12, &is_for, &out, &error),
                   PAWL_ERROR_MODEL);
  assert_int_equal(error.begin, 11);
  pawl_arena_free(&arena);
}

static void test_reserved_words(void** state) {
  (void)state;
  static const char* const yes[] = {"sin", "if", "pi", "t", "and", "not", "for", "lambda"};
  static const char* const no[] = {"x", "number", "rate", "coordinate", "E", "e", "", "-"};
  for (int k = 0; k < 8; k++) {
    assert_true(pawl_expr_reserved(yes[k]));
  }
  for (int k = 0; k < 8; k++) {
    assert_false(pawl_expr_reserved(no[k]));
  }
}

// `unit` repeated, then `tail`.
static char* repeated(const char* unit, int count, const char* tail, size_t* length) {
  size_t size = strlen(unit);
  *length = size * (size_t)count + strlen(tail);
  char* text = pawl_alloc(*length + 1, 1);
  for (int k = 0; k < count; k++) {
    memcpy(text + (size_t)k * size, unit, size);
  }
  memcpy(text + size * (size_t)count, tail, strlen(tail));
  return text;
}

static void test_depth_is_limited(void** state) {
  (void)state;
  static const char* const units[] = {"(", "-", "sin(", "u[", "x^", "not ", "if(1,", "+", "x^-"};
  PawlDag* dag = pawl_dag_create();
  PawlExprError error;
  size_t length;
  for (int k = 0; k < 9; k++) {
    char* text = repeated(units[k], 200000, "x", &length);
    assert_int_equal(read_text(dag, text, length, &error), PAWL_NO_NODE);
    assert_string_equal(error.message, "nested more than 200 levels deep");
    pawl_free(text);
  }
  char* minus = repeated("-", PAWL_EXPR_MAX_DEPTH, "x", &length);
  assert_true(read_text(dag, minus, length, &error) >= 0);
  pawl_free(minus);
  char* open = repeated("(", 1000000, "x", &length);
  assert_int_equal(read_text(dag, open, length, &error), PAWL_NO_NODE);
  assert_true(error.begin <= PAWL_EXPR_MAX_DEPTH + 1);
  pawl_free(open);
  pawl_dag_destroy(dag);
}

static void test_a_long_sum(void** state) {
  (void)state;
  enum { TERMS = 100000 };
  PawlDag* dag = pawl_dag_create();
  PawlExprError error;
  size_t length;
  char* text = repeated("y^2 + ", TERMS, "x", &length);
  double q[2] = {1.0, 0.5}, v[2] = {1.0, 1.0}, value;
  PawlLeafValues leaves = {.q = q, .v = v};
  PawlNode node = read_text(dag, text, length, &error);
  assert_true(node >= 0);
  assert_int_equal(pawl_dag_value(dag, node, &leaves, &value, NULL), PAWL_OK);
  CHECK_NEAR(value, 1.0 + 0.25 * TERMS, 0.0);  // quarters are exact
  assert_int_equal(pawl_dag_value(dag, pawl_dag_total(dag, node), &leaves, &value, NULL), PAWL_OK);
  CHECK_NEAR(value, 1.0 + 1.0 * TERMS, 0.0);
  pawl_free(text);
  text = repeated("x < ", TERMS, "y", &length);  // a chain as long
  node = read_text(dag, text, length, &error);
  assert_true(node >= 0);
  pawl_free(text);
  text = repeated("x,", TERMS, "y)", &length);  // an argument list as long
  char* call = repeated("min(", 1, text, &length);
  assert_true(read_text(dag, call, length, &error) >= 0);
  pawl_free(call);
  pawl_free(text);
  pawl_dag_destroy(dag);
}

static void test_a_text_too_long(void** state) {
  (void)state;
  PawlDag* dag = pawl_dag_create();
  PawlExprError error;
  size_t length;
  char* text = repeated(" ", PAWL_EXPR_MAX_BYTES, "x", &length);
  assert_int_equal(read_text(dag, text, length, &error), PAWL_NO_NODE);
  assert_string_equal(error.message, "the text has 1048577 bytes, at most 1048576 are read");
  assert_true(read_text(dag, text + 1, length - 1, &error) >= 0);
  pawl_free(text);
  char* digits = repeated("1", 500, "", &length);
  assert_int_equal(read_text(dag, digits, length, &error), PAWL_NO_NODE);
  assert_string_equal(error.message, "a number of 500 characters, at most 400 are read");
  pawl_free(digits);
  pawl_dag_destroy(dag);
}

// Random strings of tokens and of bytes: any answer is good, a crash or a read outside is not.
static void test_random_texts(void** state) {
  (void)state;
  static const char* const words[] = {"x",  "y'", "u[",  "]",    "(",    ")",      "+",   "-",
                                      "*",  "/",  "^",   "<",    "==",   "=",      ",",   "1.5",
                                      "..", "0",  "sin", "min(", "if(",  "lambda", "and", "not ",
                                      "or", "t",  "'",   "for",  "\xCF", "e",      " ",   "!"};
  Random r = {99};
  for (int trial = 0; trial < 30000; trial++) {
    PawlText text = {0};
    int count = 1 + random_below(&r, 12);
    for (int k = 0; k < count; k++) {
      char byte = (char)random_below(&r, 256);
      if (trial % 3 == 0) {
        pawl_text_add_bytes(&text, &byte, 1);
      } else {
        pawl_text_add(&text, words[random_below(&r, 32)]);
      }
    }
    char* exact = pawl_alloc(text.length, 1);
    memcpy(exact, text.s, text.length);
    PawlArena arena = {0};
    PawlAst *tree, *right;
    PawlAstKey out;
    PawlExprError error;
    bool is_for;
    PawlStatus status[4];
    status[0] = pawl_ast_parse_equation(&arena, exact, text.length, &tree, &right, &error);
    status[1] = pawl_ast_parse_key(&arena, exact, text.length, &out, &error);
    status[2] = pawl_ast_parse_for(&arena, exact, text.length, &is_for, &out, &error);
    status[3] = pawl_ast_parse(&arena, exact, text.length, &tree, &error);
    for (int k = 0; k < 4; k++) {
      assert_true(status[k] == PAWL_OK || status[k] == PAWL_ERROR_MODEL);
    }
    if (status[3] == PAWL_ERROR_MODEL) {
      assert_true(error.message[0] != '\0' && error.begin >= 0 && error.begin <= error.end &&
                  (size_t)error.end <= text.length);
    }
    pawl_arena_free(&arena);
    pawl_free(exact);
    pawl_text_free(&text);
  }
}

static PawlStatus read_everything(void) {
  static const char text[] =
      "if(x < y < z and not (m > k), -sin(x)^2 + u[3]'/2, max(x, y, z, m, k, t)) + lambda(track)";
  PawlArena arena = {0};
  PawlAst *tree, *left, *right;
  PawlAstKey out;
  PawlExprError error;
  PawlNode node;
  PawlDag* dag = pawl_dag_create();
  PawlStatus status = dag ? PAWL_OK : PAWL_ERROR_MEMORY;
  if (status == PAWL_OK) {
    status = pawl_ast_parse(&arena, text, sizeof text - 1, &tree, &error);
  }
  if (status == PAWL_OK) {
    status = pawl_ast_build(dag, tree, &simple_resolver, &node, &error);
  }
  for (int k = 0; k < 40 && status == PAWL_OK; k++) {  // beyond the first block of the arena
    status = pawl_ast_parse_equation(&arena, "y = x < 3", 9, &left, &right, &error);
  }
  if (status == PAWL_OK) {
    status = pawl_ast_parse_key(&arena, "a[i=0..N, 2*j]", 14, &out, &error);
  }
  pawl_arena_free(&arena);
  pawl_dag_destroy(dag);
  return status;
}

static void test_every_allocation_may_fail(void** state) {
  (void)state;
  long long before = pawl_alloc_count();
  assert_int_equal(read_everything(), PAWL_OK);
  long long needed = pawl_alloc_count() - before;
  for (long long n = 1; n <= needed; n++) {
    pawl_alloc_fail_at(n);
    PawlStatus status = read_everything();
    pawl_alloc_fail_at(0);
    assert_int_equal(status, PAWL_ERROR_MEMORY);
  }
  assert_true(needed > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_precedence),
      cmocka_unit_test(test_errors),
      cmocka_unit_test(test_greek_names),
      cmocka_unit_test(test_a_long_name_is_cut_in_a_message),
      cmocka_unit_test(test_equation),
      cmocka_unit_test(test_keys),
      cmocka_unit_test(test_loops),
      cmocka_unit_test(test_reserved_words),
      cmocka_unit_test(test_depth_is_limited),
      cmocka_unit_test(test_a_long_sum),
      cmocka_unit_test(test_a_text_too_long),
      cmocka_unit_test(test_random_texts),
      cmocka_unit_test(test_every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
