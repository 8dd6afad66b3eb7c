// SPDX-License-Identifier: Apache-2.0
// The tree of a YAML text: shape, places, and everything that is refused.
#include <string.h>

#include "model/yaml.h"
#include "reading.h"

typedef struct Fixture {
  PawlArena arena;
  PawlPool pool;
  PawlReport report;
  PawlYaml* root;
  PawlError err;
} Fixture;

static PawlYaml* parse_bytes(Fixture* f, const char* text, size_t length) {
  *f = (Fixture){0};
  f->pool.arena = &f->arena;
  f->report.file = "y.yaml";
  f->root = pawl_yaml_parse(&f->pool, text, length, &f->report);
  return f->root;
}

static PawlYaml* parse(Fixture* f, const char* text) {
  return parse_bytes(f, text, strlen(text));
}

static void done(Fixture* f) {
  pawl_arena_free(&f->arena);
}

static void check_refused(const char* text, size_t length, const char* part) {
  Fixture f;
  parse_bytes(&f, text, length);
  assert_int_equal(pawl_report_finish(&f.report, &f.err), PAWL_ERROR_MODEL);
  if (!strstr(f.err.message, part)) {
    print_error("'%s' is not in: %s\n", part, f.err.message);
    fail();
  }
  done(&f);
}

static void test_tree(void** state) {
  (void)state;
  Fixture f;
  PawlYaml* root = parse(&f, "a: 1\nb:\n  - x\n  - {c: 'q'}\nd:\n");
  assert_non_null(root);
  assert_int_equal(root->kind, PAWL_YAML_MAP);
  assert_int_equal(root->count, 3);
  assert_string_equal(pawl_yaml_get(root, "a")->text, "1");
  const PawlYaml* list = pawl_yaml_get(root, "b");
  assert_int_equal(list->kind, PAWL_YAML_LIST);
  assert_int_equal(list->count, 2);
  const PawlYaml* map = list->first->next;
  assert_string_equal(map->first->key->text, "c");
  assert_string_equal(map->first->text, "q");
  assert_false(map->first->plain);
  assert_true(pawl_yaml_is_null(pawl_yaml_get(root, "d")));
  assert_null(pawl_yaml_get(root, "e"));
  assert_int_equal(f.report.count, 0);
  done(&f);
}

static void test_places(void** state) {
  (void)state;
  Fixture f;
  PawlYaml* root = parse(&f, "first: abc\nother:  'quoted'\nlong: >\n  folded\n  text\n");
  const PawlYaml* first = root->first;
  assert_int_equal(first->key->line, 1);
  assert_int_equal(first->key->column, 1);
  assert_int_equal(first->column, 8);
  assert_int_equal(first->shift, 0);
  const PawlYaml* quoted = first->next;
  assert_int_equal(quoted->line, 2);
  assert_int_equal(quoted->column, 9);
  assert_int_equal(quoted->shift, 1);         // behind the quote
  assert_int_equal(quoted->next->shift, -1);  // folded: only its beginning is known
  done(&f);
}

// Columns count characters, not bytes.
static void test_part_of_text(void** state) {
  (void)state;
  Fixture f;
  PawlYaml* root = parse(&f, "\xC3\xA9: \"\xC3\xA9+b\"\n");
  pawl_report_part(&f.report, root->first, 3, "here");  // the b, behind two bytes and a plus
  assert_int_equal(pawl_report_finish(&f.report, &f.err), PAWL_ERROR_MODEL);
  assert_string_equal(f.err.message, "y.yaml:1:7: here");
  done(&f);
}

#define CHECK_REFUSED(text, part) check_refused((text), strlen(text), (part))

static void test_refused_yaml(void** state) {
  (void)state;
  CHECK_REFUSED("", "1:1: the file is empty");
  CHECK_REFUSED("# only a comment\n", "the file is empty");
  CHECK_REFUSED("a: 1\nb: 2\na: 3\n", "y.yaml:3:1: the key 'a' is given twice; first at line 1");
  CHECK_REFUSED("a: &x 1\n", "1:4: YAML anchors (&name) are not supported");
  CHECK_REFUSED("a: !!int 1\n", "1:4: YAML tags (!name) are not supported");
  CHECK_REFUSED("a: 1\nb: *a\n", "2:4: YAML aliases (*name) are not supported");
  CHECK_REFUSED("a: 1\n---\nb: 1\n", "2:1: a second YAML document");
  CHECK_REFUSED("{[a]: 1}\n", "a key must be text");
  CHECK_REFUSED("a: {e: u[i]}\n", "in quotes: \"u[i]\"");
  CHECK_REFUSED("a: \"x\\0y\"\n", "1:4: the text contains a zero byte");
  CHECK_REFUSED("a: [1\n", "not valid YAML");
  CHECK_REFUSED("a:\n\t- x\n", "y.yaml:2:1: a tab indents this line");
}

static void test_refused_bytes(void** state) {
  (void)state;
  check_refused("a: 1\nb\0: 2\n", 11, "y.yaml:2:2: byte 0x00 is not text");
  CHECK_REFUSED("a: \xFF\n", "1:4: byte 0xFF is not text");
  CHECK_REFUSED("a: \xC3\n", "byte 0xC3");              // cut character
  CHECK_REFUSED("a: \xC0\xAF\n", "byte 0xC0");          // overlong
  CHECK_REFUSED("a: \xED\xA0\x80\n", "byte 0xED");      // surrogate
  CHECK_REFUSED("a: \xF4\x90\x80\x80\n", "byte 0xF4");  // beyond the last character
  CHECK_REFUSED(
      "\x7F"
      "ELF\x02\x01",
      "1:1: byte 0x7F");
}

static void test_nesting(void** state) {
  (void)state;
  char text[200] = "";
  Fixture f;
  memset(text, '[', 32);
  memset(text + 32, ']', 32);
  assert_non_null(parse(&f, text));
  done(&f);
  memset(text, '[', 33);
  memset(text + 33, ']', 33);
  CHECK_REFUSED(text, "1:33: maps and lists are nested more than 32 deep");
}

static void test_unknown_keys(void** state) {
  (void)state;
  static const char* const known[] = {"start", "rate", NULL};
  Fixture f;
  PawlYaml* root = parse(&f, "start: 1\nrat: 2\n\"x)\":\n");
  assert_false(pawl_yaml_check_keys(&f.report, root, "a coordinate", known));
  assert_int_equal(pawl_report_finish(&f.report, &f.err), PAWL_ERROR_MODEL);
  assert_non_null(strstr(f.err.message,
                         "y.yaml:2:1: unknown key 'rat' in a coordinate; expected one of start, "
                         "rate; did you mean 'rate'?"));
  assert_non_null(strstr(f.err.message, "unknown key 'x)'"));
  assert_non_null(strstr(f.err.message, "quote expressions"));
  done(&f);
}

// Mistakes come out in the order of the file, and no more than are kept.
static void test_report_order(void** state) {
  (void)state;
  PawlReport report = {.file = "f"};
  PawlError err;
  pawl_report_at(&report, 9, 1, "late");
  pawl_report_at(&report, 2, 5, "early");
  assert_int_equal(pawl_report_finish(&report, &err), PAWL_ERROR_MODEL);
  assert_string_equal(err.message, "f:2:5: early\nf:9:1: late");
  for (int k = 0; k < 30; k++) {
    pawl_report_at(&report, 3, 1, "again");
  }
  assert_int_equal(pawl_report_finish(&report, NULL), PAWL_ERROR_MODEL);
  assert_int_equal(pawl_report_finish(&report, &err), PAWL_ERROR_MODEL);
  assert_non_null(strstr(err.message, "f: and 12 more"));
}

static void test_quotes(void** state) {
  (void)state;
  char text[200];
  memset(text, 'a', sizeof text);
  text[sizeof text - 1] = '\0';
  PawlQuote quote = pawl_quote(text);
  assert_int_equal(strlen(quote.s), sizeof quote.s - 1);
  assert_string_equal(quote.s + strlen(quote.s) - 3, "...");
  assert_string_equal(pawl_quote("a\nb\x7F").s, "a b ");
  assert_string_equal(pawl_quote_part("abcdef", 2, 4).s, "cd");
  assert_string_equal(pawl_did_you_mean(NULL).s, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tree),          cmocka_unit_test(test_places),
      cmocka_unit_test(test_part_of_text),  cmocka_unit_test(test_refused_yaml),
      cmocka_unit_test(test_refused_bytes), cmocka_unit_test(test_nesting),
      cmocka_unit_test(test_unknown_keys),  cmocka_unit_test(test_report_order),
      cmocka_unit_test(test_quotes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
