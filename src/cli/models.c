// SPDX-License-Identifier: Apache-2.0
// pawl models: the examples that come with pawl.
#include <string.h>

#include "cli/cli.h"

static void help(void) {
  printf(
      "usage: pawl models [NAME]\n\n"
      "Lists the models that come with pawl; with NAME prints its text, a start for your own:\n"
      "  pawl models pendulum > mine.yaml\n");
}

// The name and the first sentence of `about:`.
static int print_about(const Example* e) {
  PawlError err = {0};
  PawlModel* model;
  if (pawl_model_parse(e->text, e->length, e->name, 0, NULL, &model, &err) != PAWL_OK) {
    return report_error(&err);
  }
  const char* about = pawl_model_about(model);
  const char* end = strstr(about, ". ");
  printf("  %-18s %.*s\n", e->name, end ? (int)(end - about) : (int)strlen(about), about);
  pawl_model_destroy(model);
  return EXIT_GOOD;
}

static int run(int argc, char** argv) {
  Arguments arguments;
  int failed = argc > 0 ? read_arguments(argc, argv, "m", &arguments) : 0;
  if (failed) {
    return failed;
  }
  for (const Example* e = examples; e->name; e++) {
    if (argc == 0) {
      failed = print_about(e);
    } else if (strcmp(e->name, arguments.model) == 0) {
      fwrite(e->text, 1, e->length, stdout);
      return EXIT_GOOD;
    }
  }
  if (argc == 0) {
    return failed;
  }
  return complain(EXIT_USAGE, "no example is called '%s'; `pawl models` lists them",
                  arguments.model);
}

const Command command_models = {"models", "list the examples that come with pawl, or print one",
                                run, help};
