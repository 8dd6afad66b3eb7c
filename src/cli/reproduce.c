// SPDX-License-Identifier: Apache-2.0
// pawl reproduce: the benchmark of docs/benchmark.md. Runs the cases of the papers and compares
// what they give with reference numbers that were computed without pawl.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/help.h"
#include "cli/reproduce_page.h"

static const Option options[] = {
    {"--out", "DIR",
     ("write one page, DIR/index.html: the figures of the papers drawn anew, with reference "
      "values, "
      "the table of all checks, and what it cost"),
     VALUE_FILE, true},
    {"--native", "WHEN", "as of `pawl run`; the output is the same", VALUE_TEXT, false},
    {"--json", NULL, "print one JSON object on standard output", VALUE_NONE, true},
    {"-q, --quiet", NULL, "no progress, and not what was written", VALUE_NONE, false},
    {0}};

static const Option columns[] = {
    {.name = "value", .text = "what pawl computes"},
    {.name = "reference",
     .text =
         "what it should be; failures of a method that its authors report are expected as well"},
    {.name = "difference", .text = "value - reference"},
    {.name = "allowed", .text = "the largest difference that passes"},
    {.name = "C",
     .text = "time-stepping methods meet events at the end of a step, so their error is C h: the "
             "largest |difference|/h over several step sizes, and in brackets the C that is "
             "allowed"},
    {0}};

static void print_papers(void) {
  printf("\npapers:\n");
  for (int k = 0; papers[k]; k++) {
    help_entry(papers[k]->name, papers[k]->citation);
  }
}

static const char* paper_name(int index) {
  return papers[index] ? papers[index]->name : NULL;
}

typedef struct Outcome {
  double value, difference, allowed;
  double constant;  // |difference| / h, the largest of all step sizes; NAN outside CASE_STEPPING
  bool pass;
} Outcome;

typedef struct Report {
  Json* json;  // NULL: a table
  Page* page;  // NULL without; then there is neither
  bool progress;
  const char* native;  // NULL: as each case says
  int checks, failed;
} Report;

// One method of one case.
typedef struct Trial {
  const Case* c;
  PawlModel* model;
  PawlSystem* system;
  PawlSimulateDef def;
  char* texts[3];  // copies of parameters, settings and method that were split
  Outcome* outcomes;
  PawlError err;
} Trial;

// ---- making a trial -----------------------------------------------------------------------------
static PawlStatus load(Trial* t, int count, char** overrides) {
  const char* const* given = (const char* const*)overrides;
  if (strncmp(t->c->model, "model:", 6) == 0) {
    return pawl_model_parse(t->c->model, strlen(t->c->model), "benchmark", count, given, &t->model,
                            &t->err);
  }
  for (const Example* e = examples; e->name; e++) {
    if (strcmp(e->name, t->c->model) == 0) {
      return pawl_model_parse(e->text, e->length, e->name, count, given, &t->model, &t->err);
    }
  }
  snprintf(t->err.message, sizeof t->err.message, "there is no example '%s'", t->c->model);
  return t->err.status = PAWL_ERROR_MODEL;
}

static PawlStatus set_options(Trial* t, char* settings) {
  enum { MOST = 16 };
  char* parts[MOST];
  int count = *settings ? study_split(settings, ' ', MOST, parts) : 0;
  for (int k = 0; k < count; k++) {
    char* equals = strchr(parts[k], '=');
    *equals = '\0';
    PawlStatus status = pawl_simulate_def_set(&t->def, parts[k], equals + 1, &t->err);
    if (status != PAWL_OK) {
      return status;
    }
  }
  return PAWL_OK;
}

// The model and how it is run, not its system yet.
static PawlStatus prepare(Trial* t, const char* method) {
  enum { MOST = 16 };
  const char* from[3] = {t->c->parameters, t->c->settings, method};
  for (int k = 0; k < 3; k++) {
    t->texts[k] = strdup(from[k]);
    if (!t->texts[k]) {
      t->err = (PawlError){PAWL_ERROR_MEMORY, "out of memory"};
      return PAWL_ERROR_MEMORY;
    }
  }
  char* overrides[MOST];
  int count = *t->texts[0] ? study_split(t->texts[0], ' ', MOST, overrides) : 0;
  PawlStatus status = load(t, count, overrides);
  if (status != PAWL_OK) {
    return status;
  }
  t->def = pawl_model_simulate(t->model);
  study_set_method(&t->def, t->texts[2]);
  return set_options(t, t->texts[1]);
}

static void trial_destroy(Trial* t) {
  pawl_system_destroy(t->system);
  pawl_model_destroy(t->model);
  for (int k = 0; k < 3; k++) {
    free(t->texts[k]);
  }
  free(t->outcomes);
}

// ---- running a trial ----------------------------------------------------------------------------
static void judge(const Check* check, double value, Outcome* o) {
  o->value = value;
  o->difference = value - check->reference;
  o->allowed = check->allowed;
  o->constant = NAN;
  o->pass = fabs(o->difference) <= check->allowed;
}

// Checks with a constant are judged by the worst step size, the others at each.
static void judge_stepping(const Check* check, double value, double h, bool first, Outcome* o) {
  Outcome now;
  judge(check, value, &now);
  if (first) {
    *o = now;
  }
  if (check->per_step > 0.0) {
    double constant = fabs(now.difference) / h;
    o->constant = first ? constant : fmax(o->constant, constant);
    o->allowed = first ? check->per_step * h : o->allowed;
    o->pass = isfinite(now.difference) && (first || o->pass) && constant <= check->per_step;
  } else if (!now.pass) {
    *o = now;
  }
}

static PawlStatus run_once(Trial* t, const PawlSimulateDef* def, bool stepping, bool first) {
  StudyRun run = {.corrections = true};
  PawlStatus status = study_run(t->system, def, &run);
  for (int k = 0; status == PAWL_OK && k < t->c->check_count; k++) {
    const Check* check = &t->c->checks[k];
    double value = measure_run(check, &run);
    if (stepping) {
      judge_stepping(check, value, def->step, first, &t->outcomes[k]);
    } else {
      judge(check, value, &t->outcomes[k]);
    }
  }
  t->err = run.err;
  study_run_destroy(&run);
  return status;
}

static PawlStatus run_stepping(Trial* t) {
  static const double factors[STEPPING_SIZES] = {1, 0.77, 0.53, 0.37, 0.26};
  PawlStatus status = PAWL_OK;
  for (int k = 0; status == PAWL_OK && k < STEPPING_SIZES; k++) {
    PawlSimulateDef def = t->def;
    def.step *= factors[k];
    status = run_once(t, &def, true, k == 0);
  }
  return status;
}

static PawlStatus run_disturbed(Trial* t) {
  Disturbed seen = {NAN, NAN};
  PawlStatus status = measure_disturbed(t->system, &t->def, &seen, &t->err);
  for (int k = 0; status == PAWL_OK && k < t->c->check_count; k++) {
    judge(&t->c->checks[k], t->c->checks[k].name ? seen.force : seen.residual, &t->outcomes[k]);
  }
  return status;
}

static PawlStatus run_instants(Trial* t) {
  double* values = calloc((size_t)t->c->check_count, sizeof *values);
  PawlStatus status = values ? measure_instants(t->system, &t->def, t->c->check_count, t->c->checks,
                                                values, &t->err)
                             : PAWL_ERROR_MEMORY;
  for (int k = 0; status == PAWL_OK && k < t->c->check_count; k++) {
    judge(&t->c->checks[k], values[k], &t->outcomes[k]);
  }
  free(values);
  return status;
}

static PawlStatus run_orders(Trial* t) {
  const Check* first = &t->c->checks[0];
  // A reference of order 4 need not be finer than the steps of a method of order 2.
  int finer = first->reference > 2 ? STUDY_FINER : 2;
  int count =
      first->reference < 2 && first->measure != ORDER_BEFORE ? ORDER_SIZES_ACROSS : ORDER_SIZES;
  double h[MOST_STEPS];
  References* references = references_create(t->system, &t->def, finer);
  Sweep* sweep = calloc(1, sizeof *sweep);
  PawlStatus status = PAWL_ERROR_MEMORY;
  if (references && sweep) {
    study_steps(t->c->high, t->c->low, count, h);
    status = study_sweep(t->system, &t->def, count, h, references, sweep, &t->err);
    for (int k = 0; status == PAWL_OK && k < t->c->check_count; k++) {
      judge(&t->c->checks[k], measure_sweep(&t->c->checks[k], sweep), &t->outcomes[k]);
    }
  }
  free(sweep);
  references_destroy(references);
  return status;
}

static PawlStatus run_trial(Trial* t) {
  switch (t->c->kind) {
    case CASE_STEPPING:
      return run_stepping(t);
    case CASE_DISTURBED:
      return run_disturbed(t);
    case CASE_ORDERS:
      return run_orders(t);
    case CASE_INSTANTS:
      return run_instants(t);
    default:
      return run_once(t, &t->def, false, true);
  }
}

// ---- what is printed ----------------------------------------------------------------------------
static void print_case(const Trial* t, const char* method, bool good) {
  printf("\n%s\n  %s%s%s: %s%s%s\n  reference: %s\n", t->c->title,
         strncmp(t->c->model, "model:", 6) == 0 ? "model in docs/benchmark.md" : t->c->model,
         *t->c->parameters ? " with " : "", t->c->parameters, method, *t->c->settings ? ", " : "",
         t->c->settings, t->c->origin);
  if (!good) {
    printf("  FAILED: %s\n", t->err.message);
    return;
  }
  printf("  %-44s %17s %17s %10s %9s %14s\n", "what", "value", "reference", "difference", "allowed",
         "C");
  for (int k = 0; k < t->c->check_count; k++) {
    const Check* c = &t->c->checks[k];
    const Outcome* o = &t->outcomes[k];
    char constant[32] = "";
    if (isfinite(o->constant)) {
      snprintf(constant, sizeof constant, "%.2f (%.3g)", o->constant, c->per_step);
    }
    printf("  %-44s %17.11g %17.11g %10.1e %9.1e %14s %s\n", c->what, o->value, c->reference,
           o->difference, o->allowed, constant, o->pass ? "pass" : "FAIL");
  }
}

static void json_check(Json* json, const Check* c, const Outcome* o) {
  json_open(json, NULL, '{');
  json_text(json, "what", c->what);
  json_number(json, "value", o->value);
  json_number(json, "reference", c->reference);
  json_number(json, "difference", o->difference);
  json_number(json, "allowed", o->allowed);
  if (isfinite(o->constant)) {
    json_number(json, "constant", o->constant);
    json_number(json, "constant_allowed", c->per_step);
  }
  json_bool(json, "pass", o->pass);
  json_close(json, '}');
}

static void json_case(Json* json, const Trial* t, const char* method, bool good) {
  json_open(json, NULL, '{');
  json_text(json, "title", t->c->title);
  json_text(json, "model", t->c->model);
  json_text(json, "parameters", t->c->parameters);
  json_text(json, "method", method);
  json_text(json, "settings", t->c->settings);
  json_text(json, "origin", t->c->origin);
  if (!good) {
    json_text(json, "message", t->err.message);
  }
  json_open(json, "checks", '[');
  for (int k = 0; good && k < t->c->check_count; k++) {
    json_check(json, &t->c->checks[k], &t->outcomes[k]);
  }
  json_close(json, ']');
  json_close(json, '}');
}

static void put_case(Page* page, const Trial* t, const char* method, bool good) {
  page_case(page, t->c, method, good ? NULL : t->err.message);
  for (int k = 0; good && k < t->c->check_count; k++) {
    const Outcome* o = &t->outcomes[k];
    page_check(page, &t->c->checks[k], o->value, o->difference, o->allowed, o->pass);
  }
  page_case_end(page);
}

// ---- the command --------------------------------------------------------------------------------
static void try_method(const Case* c, const char* method, Report* report) {
  Trial t = {.c = c};
  PawlStatus status = prepare(&t, method);
  t.def.native = report->native ? report->native : t.def.native;
  t.outcomes = calloc((size_t)c->check_count, sizeof *t.outcomes);
  if (report->progress) {
    fprintf(stderr, "\r\033[K%d checks, %d failed; %.60s: %s", report->checks, report->failed,
            c->title, method);
  }
  status = status ? status : pawl_system_create(t.model, &t.system, &t.err);
  status = status ? status : t.outcomes ? run_trial(&t) : PAWL_ERROR_MEMORY;
  if (report->progress) {
    fputs("\r\033[K", stderr);
  }
  bool good = status == PAWL_OK;
  for (int k = 0; k < c->check_count; k++) {
    report->failed += !good || !t.outcomes[k].pass;
    report->checks++;
  }
  if (report->page) {
    put_case(report->page, &t, method, good);
  } else if (report->json) {
    json_case(report->json, &t, method, good);
  } else {
    print_case(&t, method, good);
    fflush(stdout);
  }
  trial_destroy(&t);
}

static void try_paper(const Paper* paper, Report* report) {
  double begin = seconds_now();
  int checks = report->checks, failed = report->failed;
  if (report->page) {
    page_paper(report->page, paper);
  } else if (report->json) {
    json_open(report->json, NULL, '{');
    json_text(report->json, "name", paper->name);
    json_text(report->json, "paper", paper->citation);
    json_open(report->json, "cases", '[');
  } else {
    printf("\n== %s: %s\n", paper->name, paper->citation);
  }
  for (int k = 0; k < paper->case_count; k++) {
    char methods[256], *names[MOST_METHODS];
    snprintf(methods, sizeof methods, "%s", paper->cases[k].methods);
    int count = study_split(methods, ',', MOST_METHODS, names);
    for (int i = 0; i < count; i++) {
      try_method(&paper->cases[k], names[i], report);
    }
  }
  if (report->page) {
    page_paper_end(report->page, report->checks - checks, report->failed - failed,
                   seconds_now() - begin);
  } else if (report->json) {
    json_close(report->json, ']');
    json_close(report->json, '}');
  }
}

static int finish(const Report* report, double seconds) {
  int code = report->failed
                 ? complain(EXIT_RUN, "%d of %d checks failed", report->failed, report->checks)
                 : EXIT_GOOD;
  if (report->json) {
    json_close(report->json, ']');
    json_whole(report->json, "checks", report->checks);
    json_whole(report->json, "failed", report->failed);
    json_number(report->json, "seconds", seconds);
    json_status(report->json, code);
    json_close(report->json, '}');
  } else {
    printf("\n%d checks, %d failed, in %.1f s\n", report->checks, report->failed, seconds);
  }
  return code;
}

typedef struct Wishes {
  bool json, quiet;
} Wishes;

// The papers named on the command line, or all; EXIT_USAGE when one is unknown.
static int choose(int argc, char** argv, bool* chosen, Wishes* wishes) {
  bool any = false;
  for (int k = 0; k < argc; k++) {
    int found = -1;
    for (int p = 0; papers[p]; p++) {
      found = strcmp(argv[k], papers[p]->name) == 0 ? p : found;
    }
    if (strcmp(argv[k], "--json") == 0) {
      wishes->json = true;
    } else if (strcmp(argv[k], "-q") == 0 || strcmp(argv[k], "--quiet") == 0) {
      wishes->quiet = true;
    } else if (found >= 0) {
      chosen[found] = any = true;
    } else {
      return complain(EXIT_USAGE,
                      "'%s' is not a paper of the benchmark; pawl reproduce --help lists them",
                      argv[k]);
    }
  }
  for (int p = 0; papers[p]; p++) {
    chosen[p] = chosen[p] || !any;
  }
  return 0;
}

static void try_papers(const bool* chosen, Report* report) {
  for (int p = 0; papers[p]; p++) {
    if (chosen[p]) {
      try_paper(papers[p], report);
    }
  }
}

// All goes to DIR/index.html.
static int run_page(const bool* chosen, const char* folder, const char* native, bool quiet) {
  Page page;
  double begin = seconds_now();
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    return complain(EXIT_RUN, "--out %s: cannot be made: %s", folder, strerror(errno));
  }
  int code = page_open(&page);
  Report report = {.page = &page, .progress = !quiet && isatty(STDERR_FILENO), .native = native};
  if (!code) {
    try_papers(chosen, &report);
    double seconds = seconds_now() - begin;
    code = page_write(&page, folder, report.checks, report.failed, seconds);
    if (!code && !quiet) {
      fprintf(stderr, "wrote %s/index.html\n", folder);
    }
    int failed = finish(&report, seconds);
    code = failed ? failed : code;
  }
  page_close(&page);
  return code;
}

static int check_native(const char* native) {
  static const char* const words[] = {"auto", "on", "off"};
  for (int k = 0; k < 3; k++) {
    if (!native || strcmp(native, words[k]) == 0) {
      return 0;
    }
  }
  return complain(EXIT_USAGE, "--native %s: must be auto, on or off", native);
}

static int run(int argc, char** argv) {
  enum { MOST_PAPERS = 32 };
  bool chosen[MOST_PAPERS] = {false};
  Wishes wishes = {0};
  const char *folder = NULL, *native = NULL;
  int code = study_take_option(&argc, argv, "--out", &folder);
  code = code ? code : study_take_option(&argc, argv, "--native", &native);
  code = code ? code : check_native(native);
  code = code ? code : choose(argc, argv, chosen, &wishes);
  if (!code && folder && wishes.json) {
    code = complain(EXIT_USAGE, "--out and --json: one of them");
  }
  if (code || folder) {
    return code ? code : run_page(chosen, folder, native, wishes.quiet);
  }
  Json json = {stdout, 0, true};
  Report report = {.json = wishes.json ? &json : NULL,
                   .progress = !wishes.quiet && isatty(STDERR_FILENO),
                   .native = native};
  double begin = seconds_now();
  if (wishes.json) {
    json_open(&json, NULL, '{');
    json_text(&json, "version", pawl_version());
    json_open(&json, "papers", '[');
  }
  try_papers(chosen, &report);
  return finish(&report, seconds_now() - begin);
}

const Command command_reproduce = {
    .name = "reproduce",
    .line = "the benchmark: the examples of papers, checked",
    .run = run,
    .usage = "[PAPER]... [--out DIR] [--native WHEN] [--json] [-q]",
    .about =
        "Runs the benchmark: every case of the named papers (all without a name), compared with "
        "reference numbers that were computed independently, in closed form or by integration "
        "of high order. docs/benchmark.md describes each case. Exit code 1 when a check fails.",
    .options = options,
    .place = PLACE_WORD,
    .word = paper_name,
    .extra = print_papers,
    .terms_title = "columns",
    .terms = columns};
