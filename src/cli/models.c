// SPDX-License-Identifier: Apache-2.0
// pawl models: the examples that come with pawl.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const Option options[] = {
    {"--methods", NULL,
     ("try every method on every model, a few steps of each, and list which run and which refuse, "
      "with the reason; * is what `method: auto` takes"),
     VALUE_NONE, true},
    {"--table", NULL,
     ("compare every method that runs with a reference, at two step sizes, and print a page of "
      "Markdown (docs/methods-by-models.md); the exit code is 1 when a method runs and does not "
      "converge"),
     VALUE_NONE, true},
    {"--elements", "[TYPE]", "list the element types for `use:`, or print one", VALUE_TEXT, true},
    {"--expand", "FILE", "print a model with its uses replaced by what they stand for", VALUE_FILE,
     true},
    {0}};

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

// ---- a table of how well they agree -------------------------------------------------------------
enum { TABLE_STEPS = 1000, MOST_REASONS = 26, REASON_LENGTH = 160 };

// Errors are relative to the largest coordinate, or SMALLEST where all are at rest near zero. Below
// FLOOR the reference has no digits; halving the step must gain at least GAIN (order 1 gives 2).
static const double FLOOR = 1e-8, GAIN = 0.67, SMALLEST = 1e-3;

typedef struct Table {
  int reason_count, failures;
  char reasons[MOST_REASONS][REASON_LENGTH];
} Table;

// The letter of a reason for refusing, from a.
static char letter_of(Table* t, const char* message) {
  char text[REASON_LENGTH];
  const char* begin = strstr(message, "cannot handle ");
  begin = begin ? begin + strlen("cannot handle ") : message;
  size_t length = strcspn(begin, ";('");
  const char* of = strstr(begin, " of '");
  length = of && (size_t)(of - begin) < length ? (size_t)(of - begin) : length;
  while (length > 0 && begin[length - 1] == ' ') {
    length--;
  }
  snprintf(text, sizeof text, "%.*s", (int)length, begin);
  int k = 0;
  while (k < t->reason_count && strcmp(t->reasons[k], text) != 0) {
    k++;
  }
  if (k == t->reason_count && k < MOST_REASONS) {
    memcpy(t->reasons[t->reason_count++], text, sizeof text);
  }
  return (char)('a' + k);
}

// The coordinates after TABLE_STEPS steps of the model's size, taken with `def`.
static PawlStatus end_of(const PawlSystem* system, PawlSimulateDef def, double* q, PawlError* err) {
  PawlSimDef sim_def = pawl_sim_def_default();
  PawlSim* sim = NULL;
  sim_def.simulate = def;
  sim_def.keep_samples = sim_def.balance = false;
  PawlStatus status = pawl_sim_create(system, &sim_def, &sim, err);
  status = status ? status : pawl_sim_run(sim, NULL, NULL, err);
  if (status == PAWL_OK) {
    memcpy(q, pawl_sim_state(sim)->q, (size_t)pawl_system_sizes(system).q * sizeof(double));
  }
  pawl_sim_destroy(sim);
  return status;
}

static bool has_rows(const PawlSystem* system, PawlRowKind kind) {
  bool has = false;
  for (int i = 0; i < pawl_system_sizes(system).rows; i++) {
    has |= pawl_system_row_kind(system, i) == kind;
  }
  return has;
}

// What all are compared with: dopri, where regions and contacts switch between instants that are
// located.
static PawlStatus reference_of(const PawlSystem* system, PawlSimulateDef def, double* q,
                               PawlError* err) {
  bool located = has_rows(system, PAWL_ROW_CONTACT) || pawl_system_switches(system);
  def.method = located ? "event-driven" : "dopri";
  def.smooth = "dopri";
  def.rtol = 1e-12;
  def.atol = 1e-14;
  return end_of(system, def, q, err);
}

static double distance(int n, const double* q, const double* reference) {
  double off = 0.0, size = SMALLEST;
  for (int i = 0; i < n; i++) {
    off = fmax(off, fabs(q[i] - reference[i]));
    size = fmax(size, fabs(reference[i]));
  }
  return off / size;
}

static void print_cell(Table* t, const PawlSystem* system, PawlSimulateDef def, const char* model,
                       const char* method, double* q, const double* reference) {
  int n = pawl_system_sizes(system).q;
  PawlError err = {0};
  def.method = method;
  PawlStatus status = end_of(system, def, q, &err);
  if (status != PAWL_OK) {
    t->failures += status != PAWL_ERROR_USAGE;
    if (status == PAWL_ERROR_USAGE) {
      printf(" %c |", letter_of(t, err.message));
    } else {
      printf(" FAILS |");
      fprintf(stderr, "%s with %s: %s\n", model, method, err.message);
    }
    return;
  }
  double error = distance(n, q, reference);
  def.step *= 0.5;
  def.rtol *= 0.1;
  def.atol *= 0.1;
  status = end_of(system, def, q, &err);
  double finer = status == PAWL_OK ? distance(n, q, reference) : INFINITY;
  bool good = finer <= FLOOR || finer <= GAIN * error;
  if (!good) {
    t->failures++;
    fprintf(stderr, "%s with %s: error %.2g, with half the step %.2g\n", model, method, error,
            finer);
  }
  printf(" %.0f%s |", floor(-log10(fmax(error, FLOOR))), good ? "" : " DOES NOT CONVERGE");
}

static int print_table_row(Table* t, const Example* e) {
  PawlError err = {0};
  PawlModel* model = NULL;
  PawlSystem* system = NULL;
  double *q = NULL, *reference = NULL;
  PawlStatus status = pawl_model_parse(e->text, e->length, e->name, 0, NULL, &model, &err);
  status = status ? status : pawl_system_create(model, &system, &err);
  if (status == PAWL_OK) {
    PawlSimulateDef def = pawl_model_simulate(model);
    size_t n = (size_t)pawl_system_sizes(system).q;
    q = malloc(n * sizeof(double));
    reference = malloc(n * sizeof(double));
    if (!q || !reference) {
      status = PAWL_ERROR_MEMORY;
      err = (PawlError){status, "out of memory"};
    }
    def.until = fmin(def.until, TABLE_STEPS * def.step);
    status = status ? status : reference_of(system, def, reference, &err);
    printf("| `%s` |", e->name);
    for (int k = 0; status == PAWL_OK && pawl_method(k); k++) {
      print_cell(t, system, def, e->name, pawl_method(k)->name, q, reference);
    }
    printf("\n");
  }
  free(q);
  free(reference);
  pawl_system_destroy(system);
  pawl_model_destroy(model);
  return status == PAWL_OK ? EXIT_GOOD : report_error(&err);
}

static int print_table(void) {
  Table t = {0};
  int code = EXIT_GOOD, methods = 0;
  printf(
      "# Methods by models\n\n"
      "Made by `pawl models --table`. Every method on every example, %d steps of the size that "
      "the\n"
      "example states: a number is the digits in which the coordinates then agree with a "
      "reference\n"
      "(`dopri` with rtol = 1e-12, event-driven where regions or contacts switch), relative to the "
      "largest coordinate, %.0f at most. "
      "With half the step (a\n"
      "tenth of the tolerances) the error must fall by a third at least, or the command fails. A\n"
      "letter says why a method refuses the model. `ctest -R test_models` runs it.\n\n| |",
      (int)TABLE_STEPS, -log10(FLOOR));
  for (; pawl_method(methods); methods++) {
    printf(" %s |", pawl_method(methods)->name);
  }
  printf("\n| --- |");
  for (int k = 0; k < methods; k++) {
    printf(" --- |");
  }
  printf("\n");
  for (const Example* e = examples; e->name && code == EXIT_GOOD; e++) {
    code = print_table_row(&t, e);
  }
  printf("\nRefused for:\n\n");
  for (int k = 0; k < t.reason_count; k++) {
    printf("- %c: %s\n", 'a' + k, t.reasons[k]);
  }
  return code ? code : t.failures ? EXIT_RUN : EXIT_GOOD;
}

// ---- element types ------------------------------------------------------------------------------
static int print_elements(const char* name) {
  for (int k = 0; pawl_element_name_of(k); k++) {
    if (!name) {
      printf("  %s\n", pawl_element_name_of(k));
    } else if (strcmp(pawl_element_name_of(k), name) == 0) {
      fputs(pawl_element_text_of(k), stdout);
      return EXIT_GOOD;
    }
  }
  return name
             ? complain(EXIT_USAGE,
                        "no element type is called '%s'; `pawl models --elements` lists them", name)
             : EXIT_GOOD;
}

static void print_text(void* context, const char* text, size_t length) {
  fwrite(text, 1, length, context);
}

static int expand(const char* name) {
  PawlError err = {0};
  for (const Example* e = examples; e->name; e++) {
    if (strcmp(e->name, name) == 0) {
      return pawl_model_expand(e->text, e->length, name, print_text, stdout, &err) == PAWL_OK
                 ? EXIT_GOOD
                 : report_error(&err);
    }
  }
  return pawl_model_expand_file(name, print_text, stdout, &err) == PAWL_OK ? EXIT_GOOD
                                                                           : report_error(&err);
}

static int run(int argc, char** argv) {
  if (argc > 0 && argc <= 2 && strcmp(argv[0], "--elements") == 0) {
    return print_elements(argc == 2 ? argv[1] : NULL);
  }
  if (argc == 2 && strcmp(argv[0], "--expand") == 0) {
    return expand(argv[1]);
  }
  if (argc == 1 && strcmp(argv[0], "--table") == 0) {
    return print_table();
  }
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

const Command command_models = {
    .name = "models",
    .line = "list the examples that come with pawl, or print one",
    .run = run,
    .usage = "[NAME | --methods | --table | --elements [TYPE] | --expand FILE]",
    .about =
        "Lists the models that come with pawl; with NAME prints its text, a start for your own: "
        "pawl models pendulum > mine.yaml",
    .options = options};
