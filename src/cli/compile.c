// SPDX-License-Identifier: Apache-2.0
// pawl compile: a model as C, to be built into other programs.
#include <errno.h>
#include <string.h>

#include "cli/cli.h"

static const Option options[] = {
    {"-p", "NAME=VALUE", "set a parameter of the model; VALUE may be an expression, or [a, b]",
     VALUE_TEXT, true},
    {"-o", "FILE.c", "write to a file; - and without: standard output", VALUE_FILE, true},
    {0}};

// Whole or not at all, as far as the disk allows.
static int write_text(const char* path, const char* text) {
  bool direct = strcmp(path, "-") == 0;
  FILE* to = direct ? stdout : fopen(path, "w");
  if (!to) {
    return complain(EXIT_USAGE, "cannot write %s: %s", path, strerror(errno));
  }
  bool good = fputs(text, to) >= 0 && fflush(to) == 0;
  good = (direct || fclose(to) == 0) && good;
  if (!good && !direct) {
    remove(path);
  }
  return good ? EXIT_GOOD : complain(EXIT_RUN, "cannot write %s", path);
}

static int run(int argc, char** argv) {
  Arguments a;
  int code = read_arguments(argc, argv, "mpF", &a);
  if (code) {
    return code;
  }
  if (a.output_count > 1) {
    return complain(EXIT_USAGE, "one -o is enough");
  }
  const char* path = a.output_count ? a.outputs[0] : "-";
  if (a.model && strcmp(path, a.model) == 0 && strcmp(path, "-") != 0) {
    return complain(EXIT_USAGE, "-o %s would replace the model", path);
  }
  PawlError err = {0};
  PawlModel* model = load_model(&a, &err);
  char* text = NULL;
  if (model && pawl_model_source(model, &text, &err) == PAWL_OK) {
    code = write_text(path, text);
  } else {
    code = report_error(&err);
  }
  pawl_string_free(text);
  pawl_model_destroy(model);
  return code;
}

const Command command_compile = {
    .name = "compile",
    .line = "print the derived equations as C, to build them into other programs",
    .run = run,
    .usage = "MODEL [-p NAME=VALUE]... [-o FILE.c]",
    .about =
        "Prints a file of C that compiles on its own: mass matrix, forces, constraints with their "
        "gradient, energies and outputs of MODEL as functions of numbers, with the names of the "
        "model. Parameters are members of a struct, modes of constraints are arguments.",
    .options = options};
