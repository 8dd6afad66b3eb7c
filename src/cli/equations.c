// SPDX-License-Identifier: Apache-2.0
// pawl equations: what was derived, to be read.
#include "cli/cli.h"

static void help(void) {
  printf(
      "usage: pawl equations MODEL [-p NAME=VALUE]... [--latex]\n\n"
      "Prints the equations of motion that pawl derived from MODEL: the mass matrix, the forces,\n"
      "the constraints with their gradient. Parameters stay symbols.\n"
      "  --latex            a LaTeX document instead of text\n");
}

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

const Command command_equations = {"equations", "print the derived equations, as text or LaTeX",
                                   run, help};
