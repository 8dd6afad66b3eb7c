// SPDX-License-Identifier: Apache-2.0
// Every ```yaml block of docs/model-format.md and docs/bodies.md is a whole model that loads.
#include <stdio.h>
#include <stdlib.h>

#include "page.h"
#include "reading.h"

static void check_blocks(const char* name, int least) {
  char* page = read_page(name);
  int blocks = 0;
  for (char* at = page; (at = strstr(at, "\n```yaml\n")) != NULL;) {
    char* begin = at + strlen("\n```yaml\n");
    char* end = strstr(begin, "\n```");
    assert_non_null(end);
    end[1] = '\0';
    pawl_model_destroy(read_model(begin));
    at = end + 2;
    blocks++;
  }
  assert_true(blocks >= least);
  free(page);
}

static void test_every_block_loads(void** state) {
  (void)state;
  check_blocks("model-format.md", 10);
  check_blocks("bodies.md", 2);
}

// Every key of every section is on the page.
static void test_every_option_is_described(void** state) {
  (void)state;
  char* page = read_page("model-format.md");
  PawlOptionInfo info;
  for (int k = 0; pawl_simulate_option(k, &info); k++) {
    char cell[64];
    snprintf(cell, sizeof cell, "`%s`", info.name);
    if (!strstr(page, cell)) {
      print_error("%s is not described\n", cell);
      fail();
    }
  }
  free(page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_block_loads),
      cmocka_unit_test(test_every_option_is_described),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
