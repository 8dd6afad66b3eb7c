// SPDX-License-Identifier: Apache-2.0
// pawl equations: what was derived, to be read.
#include "cli/cli.h"

static const Option options[] = {
    {"-p", "NAME=VALUE", "set a parameter of the model; VALUE may be an expression, or [a, b]",
     VALUE_TEXT, true},
    {"--latex", NULL, "a LaTeX document instead of text", VALUE_NONE, true},
    {0}};

static int run(int argc, char** argv) {
  Arguments a;
  int code = read_arguments(argc, argv, "mpl", &a);
  if (code) {
    return code;
  }
  PawlError err = {0};
  PawlModel* model = load_model(&a, &err);
  char* text = NULL;
  if (model && pawl_model_equations(model, a.latex, &text, &err) == PAWL_OK) {
    fputs(text, stdout);
  } else {
    code = report_error(&err);
  }
  pawl_string_free(text);
  pawl_model_destroy(model);
  return code;
}

const Command command_equations = {
    .name = "equations",
    .line = "print the derived equations, as text or LaTeX",
    .run = run,
    .usage = "MODEL [-p NAME=VALUE]... [--latex]",
    .about =
        "Prints the equations of motion that pawl derived from MODEL: the mass matrix, the "
        "forces, the constraints with their gradient. Parameters stay symbols.",
    .options = options};
