// SPDX-License-Identifier: Apache-2.0
// pawl models: the examples that come with pawl.
#include <string.h>

#include "cli/cli.h"

static void help(void) {
  printf(
      "usage: pawl models [NAME | --methods]\n\n"
      "Lists the models that come with pawl; with NAME prints its text, a start for your own:\n"
      "  pawl models pendulum > mine.yaml\n"
      "With --methods tries every method on every model, a few steps of each, and lists which run\n"
      "and which refuse, with the reason; * is what `method: auto` takes.\n");
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

// ---- methods by models --------------------------------------------------------------------------
// A few steps; PAWL_ERROR_USAGE: refused.
static PawlStatus try_method(const PawlSystem* system, PawlSimulateDef def, const char* method,
                             PawlError* err) {
  enum { STEPS = 3 };
  PawlSimDef sim_def = pawl_sim_def_default();
  PawlSim* sim = NULL;
  def.method = method;
  sim_def.simulate = def;
  sim_def.keep_samples = false;
  PawlStatus status = pawl_sim_create(system, &sim_def, &sim, err);
  status = status ? status : pawl_sim_step(sim, STEPS, err);
  pawl_sim_destroy(sim);
  return status;
}

// Of "method rk4 cannot handle the contacts of 'x'; these can: ..." what is between.
static void print_reason(const char* message) {
  const char* begin = strstr(message, "cannot handle ");
  begin = begin ? begin + strlen("cannot handle ") : message;
  const char* end = strstr(begin, "; ");
  printf("%.*s", end ? (int)(end - begin) : (int)strlen(begin), begin);
}

// The name of the method that auto takes.
static const char* choice(const PawlSystem* system, const PawlSimulateDef* def) {
  PawlSimulateDef own = *def;
  PawlStepper* stepper;
  own.method = "auto";
  const char* name = "";
  if (pawl_stepper_create(system, &own, &stepper, NULL) == PAWL_OK) {
    name = pawl_method_find(pawl_stepper_def(stepper)->method)->name;
    pawl_stepper_destroy(stepper);
  }
  return name;
}

static int print_row(const Example* e) {
  PawlError err = {0};
  PawlModel* model = NULL;
  PawlSystem* system = NULL;
  if (pawl_model_parse(e->text, e->length, e->name, 0, NULL, &model, &err) != PAWL_OK ||
      pawl_system_create(model, &system, &err) != PAWL_OK) {
    pawl_model_destroy(model);
    return report_error(&err);
  }
  PawlSimulateDef def = pawl_model_simulate(model);
  const char* taken = choice(system, &def);
  printf("%s\n", e->name);
  int failed = 0;
  for (int k = 0; pawl_method(k); k++) {
    const char* name = pawl_method(k)->name;
    PawlStatus status = try_method(system, def, name, &err);
    printf("  %-15s%s ", name, strcmp(name, taken) == 0 ? "*" : " ");
    printf("%s", status == PAWL_OK ? "runs" : status == PAWL_ERROR_USAGE ? "refuses: " : "FAILS: ");
    if (status != PAWL_OK) {
      print_reason(err.message);
    }
    printf("\n");
    failed += status != PAWL_OK && status != PAWL_ERROR_USAGE;
  }
  pawl_system_destroy(system);
  pawl_model_destroy(model);
  return failed ? EXIT_RUN : EXIT_GOOD;
}

static int print_matrix(void) {
  int code = EXIT_GOOD;
  for (const Example* e = examples; e->name; e++) {
    int failed = print_row(e);
    code = failed ? failed : code;
  }
  return code;
}

static int run(int argc, char** argv) {
  if (argc == 1 && strcmp(argv[0], "--methods") == 0) {
    return print_matrix();
  }
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
