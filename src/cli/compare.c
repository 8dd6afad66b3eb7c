// SPDX-License-Identifier: Apache-2.0
// pawl compare: several methods on one model, side by side, against a reference.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/picture.h"
#include "cli/study.h"

static const Option options[] = {
    {"--methods", "a,b,c",
     ("the methods; event-driven:ga-p also names what runs between switches. Without it every "
      "method of this version is tried"),
     VALUE_METHOD, true},
    {"--reference", "REF",
     ("what counts as right: a file that `pawl run -o FILE.csv` wrote, or METHOD@STEP, for example "
      "event-driven:rk4@1e-5. Without it: event-driven over rk4 at a tenth of the step (rk4 for "
      "models in which nothing switches, php or nsga-pva for those with contacts that event-driven "
      "refuses)"),
     VALUE_FILE, true},
    {"-p", "NAME=VALUE", "set a parameter of the model; VALUE may be an expression, or [a, b]",
     VALUE_TEXT, true},
    {"--plot", "FILE",
     ("draw the errors over time, and at the end over the time that the run took; FILE.svg, "
      "FILE.pdf or FILE.png"),
     VALUE_FILE, true},
    {"--project", NULL, "move a start that is off the constraints onto them", VALUE_NONE, false},
    {"--keep", "NAMES", "coordinates and rates that --project leaves as they are: \"x, phi'\"",
     VALUE_TEXT, false},
    {"-q, --quiet", NULL, "do not say what was written", VALUE_NONE, false},
    {"--json", NULL, "print one JSON object on standard output", VALUE_NONE, true},
    {0}};

static const Option columns[] = {
    {.name = "end q, end v", .text = "largest error of a coordinate, of a rate, at the end"},
    {.name = "L1 q, L1 v",
     .text = "mean over time of the largest error of a coordinate, of a rate"},
    {.name = "energy", .text = "kinetic + potential energy at the end less that at the start [J]"},
    {.name = "saw v, saw lambda",
     .text = "oscillation from step to step: the sum of the second differences over the sum of the "
             "first, over the steps without a switch; 0 for a smooth curve (of the size of the "
             "step), 2 for a saw that turns in every step; the worst rate or multiplier counts"},
    {.name = "events", .text = "switches and impacts"},
    {.name = "newton", .text = "Newton iterations per step"},
    {.name = "us/step", .text = "microseconds per step, best of three runs without recording"},
    {.name = "residuals",
     .text = "largest of g, G v + g_t, G v' + gamma over the rows in force: in the whole run, and "
             "after its first tenth"},
    {0}};

enum { LEVELS = 3 };

typedef struct Row {
  char method[64];
  bool good;
  char message[512];
  bool no_memory;  // says nothing of the method
  double end[PARTS], l1[PARTS];
  double energy;
  double residual[LEVELS], residual_late[LEVELS];
  double saw_v, saw_lambda;
  int events;
  long long steps;
  double newton, per_step;  // per step: iterations, [s]
  // with --plot: the errors at `count` times, else NULL
  int count;
  double *t, *errors[PARTS], shown_end[PARTS];
} Row;

// ---- the reference ------------------------------------------------------------------------------
typedef struct Reference {
  Path path;
  char label[256];
} Reference;

static PawlStatus run_reference(const Study* study, const PawlSimulateDef* def, Reference* out,
                                PawlError* err) {
  StudyRun run = {.project = study->project, .keep = study->keep};
  char method[64];
  PawlStatus status = study_run(study->system, def, &run);
  if (status == PAWL_OK && !path_of_run(pawl_sim_recorder(run.sim), &out->path)) {
    status = PAWL_ERROR_MEMORY;
    run.err = (PawlError){status, "out of memory"};
  }
  snprintf(out->label, sizeof out->label, "%s with step %g s",
           method_label(def, method, sizeof method), def->step);
  if (status != PAWL_OK) {
    err->status = status;
    snprintf(err->message, sizeof err->message, "the reference, %s: %.3000s", out->label,
             run.err.message);
  }
  study_run_destroy(&run);
  return status;
}

// A file has the columns of any run of the model: those of its start serve.
static PawlStatus read_reference(const Study* study, const char* file, Reference* out,
                                 PawlError* err) {
  PawlSimDef def = pawl_sim_def_default();
  PawlSim* sim;
  def.simulate = study_reference_def(study->system, &study->def, STUDY_FINER);
  def.project = study->project;
  def.keep = study->keep;
  PawlStatus status = pawl_sim_create(study->system, &def, &sim, err);
  status = status ? status : path_of_csv(file, pawl_sim_recorder(sim), &out->path, err);
  pawl_sim_destroy(sim);
  snprintf(out->label, sizeof out->label, "%.200s", file);
  if (status == PAWL_OK && out->path.end < study->def.until * (1 - 1e-9)) {
    snprintf(err->message, sizeof err->message,
             "%.1000s ends at t = %.10g, before the runs; compare with --until %.10g", file,
             out->path.end, out->path.end);
    path_destroy(&out->path);
    return err->status = PAWL_ERROR_USAGE;
  }
  return status;
}

static PawlStatus make_reference(const Study* study, char* wanted, Reference* out, PawlError* err) {
  PawlSimulateDef def = study_reference_def(study->system, &study->def, STUDY_FINER);
  char* at = wanted ? strrchr(wanted, '@') : NULL;
  if (wanted && !at) {
    return read_reference(study, wanted, out, err);
  }
  if (at) {
    *at = '\0';
    def = study->def;
    def.record = 0.0;
    study_set_method(&def, wanted);
    PawlStatus status = pawl_simulate_def_set(&def, "step", at + 1, err);
    if (status != PAWL_OK) {
      return status;
    }
  }
  return run_reference(study, &def, out, err);
}

// ---- one method ---------------------------------------------------------------------------------
static void fill_row(const PawlSim* sim, const Path* path, const Path* reference, Row* row) {
  const PawlRecorder* recorder = pawl_sim_recorder(sim);
  PawlSummary s = pawl_sim_summary(sim);
  for (int part = 0; part < PARTS; part++) {
    row->end[part] = curve_end_distance(&path->curve[part], &reference->curve[part]);
    row->l1[part] = curve_l1(&path->curve[part], &reference->curve[part], INFINITY);
  }
  row->energy = s.energy_end - s.energy_start;
  int first = 0, levels = study_columns(recorder, PAWL_COLUMN_RESIDUAL, &first);
  for (int level = 0; level < levels && level < LEVELS; level++) {
    row->residual[level] = study_largest(recorder, first + level, 0.0);
    row->residual_late[level] = study_largest(recorder, first + level, 0.1 * path->end);
  }
  row->saw_v = study_oscillation(recorder, PAWL_COLUMN_RATE, 0.0);
  row->saw_lambda = study_oscillation(recorder, PAWL_COLUMN_MULTIPLIER, 0.0);
  row->events = pawl_recorder_event_count(recorder);
  row->steps = s.work.steps;
  row->newton = s.work.steps ? (double)s.work.newton_iterations / (double)s.work.steps : 0.0;
}

static double largest_of(const Curve* curve) {
  double largest = 0.0;
  for (int k = 0; k < curve->count * curve->width; k++) {
    largest = fmax(largest, fabs(curve->x[k]));
  }
  return largest;
}

// What is below rounding is drawn as rounding: on a logarithmic axis nothing else would be seen.
static void raise_to_rounding(const Curve* reference, int count, double* errors, double* end) {
  double least = DBL_EPSILON * largest_of(reference);
  for (int k = 0; k < count; k++) {
    errors[k] = fmax(errors[k], least);
  }
  *end = fmax(*end, least);
}

// The errors over time, for a picture; false: out of memory.
static bool keep_errors(const Path* path, const Path* reference, Row* row) {
  size_t count = (size_t)path->curve[PART_Q].count;
  row->count = (int)count;
  row->t = malloc((count + 1) * sizeof *row->t);
  bool good = row->t != NULL;
  if (good) {
    memcpy(row->t, path->curve[PART_Q].t, count * sizeof *row->t);
  }
  for (int part = 0; part < PARTS; part++) {
    row->errors[part] = malloc((count + 1) * sizeof(double));
    good = good && row->errors[part];
    if (good) {
      curve_differences(&path->curve[part], &reference->curve[part], row->errors[part]);
      row->shown_end[part] = row->end[part];
      raise_to_rounding(&reference->curve[part], row->count, row->errors[part],
                        &row->shown_end[part]);
    }
  }
  return good;
}

static void destroy_rows(int count, Row* rows) {
  for (int k = 0; rows && k < count; k++) {
    free(rows[k].t);
    for (int part = 0; part < PARTS; part++) {
      free(rows[k].errors[part]);
    }
  }
  free(rows);
}

static void compare_method(const Study* study, char* method, const Path* reference, bool plotted,
                           Row* row) {
  PawlSimulateDef def = study->def;
  StudyRun run = {.project = study->project, .keep = study->keep};
  Path path;
  def.record = 0.0;
  study_set_method(&def, method);
  bool over = def.smooth != study->def.smooth;
  snprintf(row->method, sizeof row->method, "%.30s%s%.30s", def.method, over ? ":" : "",
           over ? def.smooth : "");
  if (study_run(study->system, &def, &run) != PAWL_OK) {
    snprintf(row->message, sizeof row->message, "%.500s", run.err.message);
    row->no_memory = run.status == PAWL_ERROR_MEMORY;
  } else if (!path_of_run(pawl_sim_recorder(run.sim), &path)) {
    row->no_memory = true;
  } else {
    row->good = true;
    fill_row(run.sim, &path, reference, row);
    bool kept = !plotted || keep_errors(&path, reference, row);
    path_destroy(&path);
    row->per_step = study_seconds_per_step(study, &def);
    row->no_memory = !kept || isinf(row->per_step);  // the same run has just ended well
  }
  study_run_destroy(&run);
}

// ---- what is printed ----------------------------------------------------------------------------
static void print_first_table(int count, const Row* rows) {
  printf("\n%-18s %9s %9s %9s %9s %10s %8s %10s %7s %7s %8s\n", "method", "end q", "end v", "L1 q",
         "L1 v", "energy/J", "saw v", "saw lambda", "events", "newton", "us/step");
  for (int k = 0; k < count; k++) {
    const Row* r = &rows[k];
    if (!r->good) {
      printf("%-18s %s\n", r->method, r->message);
      continue;
    }
    printf("%-18s %9.2e %9.2e %9.2e %9.2e %10.3e %8.3g %10.3g %7d %7.2f %8.3f\n", r->method,
           r->end[PART_Q], r->end[PART_V], r->l1[PART_Q], r->l1[PART_V], r->energy, r->saw_v,
           r->saw_lambda, r->events, r->newton, 1e6 * r->per_step);
  }
}

static void print_residuals(int count, const Row* rows) {
  printf("\n%-18s %29s   %29s\n", "", "residuals in the whole run", "after its first tenth");
  printf("%-18s %9s %9s %9s   %9s %9s %9s\n", "method", "g", "g'", "g''", "g", "g'", "g''");
  for (int k = 0; k < count; k++) {
    const Row* r = &rows[k];
    if (r->good) {
      printf("%-18s %9.2e %9.2e %9.2e   %9.2e %9.2e %9.2e\n", r->method, r->residual[0],
             r->residual[1], r->residual[2], r->residual_late[0], r->residual_late[1],
             r->residual_late[2]);
    }
  }
}

static void json_residual(Json* json, const char* key, const double* residual) {
  json_open(json, key, '{');
  json_number(json, "position", residual[0]);
  json_number(json, "velocity", residual[1]);
  json_number(json, "acceleration", residual[2]);
  json_close(json, '}');
}

static void json_row(Json* json, const Row* r) {
  json_open(json, NULL, '{');
  json_text(json, "method", r->method);
  json_text(json, "status", r->good ? "ok" : "failed");
  if (!r->good) {
    json_text(json, "message", r->message);
    json_close(json, '}');
    return;
  }
  json_number(json, "end_error_q", r->end[PART_Q]);
  json_number(json, "end_error_v", r->end[PART_V]);
  json_number(json, "l1_q", r->l1[PART_Q]);
  json_number(json, "l1_v", r->l1[PART_V]);
  json_number(json, "energy_change", r->energy);
  json_residual(json, "residual", r->residual);
  json_residual(json, "residual_after_tenth", r->residual_late);
  json_number(json, "oscillation_v", r->saw_v);
  json_number(json, "oscillation_lambda", r->saw_lambda);
  json_whole(json, "events", r->events);
  json_whole(json, "steps", r->steps);
  json_number(json, "newton_iterations_per_step", r->newton);
  json_number(json, "microseconds_per_step", 1e6 * r->per_step);
  json_close(json, '}');
}

static void print_json(const Study* study, const char* reference, int count, const Row* rows,
                       int code) {
  Json json = {stdout, 0, true};
  json_open(&json, NULL, '{');
  json_text(&json, "model", pawl_system_name(study->system));
  json_status(&json, code);
  json_number(&json, "step", study->def.step);
  json_number(&json, "until", study->def.until);
  json_text(&json, "reference", reference);
  json_open(&json, "methods", '[');
  for (int k = 0; k < count; k++) {
    json_row(&json, &rows[k]);
  }
  json_close(&json, ']');
  json_close(&json, '}');
}

// ---- the picture --------------------------------------------------------------------------------
// For coordinates and rates: the error over time, and the last one over the cost of the run.
static int draw_rows(const Study* study, const Arguments* a, const char* reference, int count,
                     const Row* rows) {
  static const char* const titles[2][PARTS] = {{"error of the coordinates", "error of the rates"},
                                               {"at the end, over cost", "at the end, over cost"}};
  PawlSeries series[2][PARTS][MOST_METHODS];
  double seconds[MOST_METHODS];
  PawlChart charts[2 * PARTS];
  int shown = 0;
  for (int k = 0; k < count && k < MOST_METHODS; k++) {
    const Row* r = &rows[k];
    if (!r->good) {
      continue;
    }
    seconds[k] = r->per_step * (double)r->steps;
    for (int part = 0; part < PARTS; part++) {
      series[0][part][shown] =
          (PawlSeries){NULL, shown, PAWL_SERIES_LINE, r->count, r->t, r->errors[part]};
      series[1][part][shown] =
          (PawlSeries){r->method, shown, PAWL_SERIES_MARKS, 1, &seconds[k], &r->shown_end[part]};
    }
    shown++;
  }
  for (int i = 0; i < 2 * PARTS; i++) {
    int part = i / 2, column = i % 2;
    charts[i] = (PawlChart){.title = titles[column][part],
                            .x_label = column ? "time of the run [s]" : "t [s]",
                            .x_log = column == 1,
                            .y_log = true,
                            .series_count = shown,
                            .series = series[column][part]};
  }
  char subtitle[400];
  snprintf(subtitle, sizeof subtitle, "step %g s; reference: %.300s", study->def.step, reference);
  PawlChartDef def = {.title = pawl_system_name(study->system),
                      .subtitle = subtitle,
                      .columns = 2,
                      .chart_count = 2 * PARTS,
                      .charts = charts};
  return chart_draw(&def, a->plot, a->quiet);
}

// ---- the command --------------------------------------------------------------------------------
static int compare_all(const Study* study, const Arguments* a, int count, char** methods,
                       char* wanted) {
  PawlError err = {0};
  Reference reference = {0};
  if (make_reference(study, wanted, &reference, &err) != PAWL_OK) {
    return report_error(&err);
  }
  Row* rows = calloc((size_t)count, sizeof *rows);
  int good = 0;
  bool short_of_memory = !rows;
  for (int k = 0; !short_of_memory && k < count; k++) {
    compare_method(study, methods[k], &reference.path, a->plot != NULL, &rows[k]);
    good += rows[k].good;
    short_of_memory = rows[k].no_memory;
  }
  int code = short_of_memory ? complain_memory()
             : good > 0      ? EXIT_GOOD
                             : complain(EXIT_RUN, "no method reached the end: %s", rows[0].message);
  if (code == EXIT_GOOD && a->plot) {
    code = draw_rows(study, a, reference.label, count, rows);
  }
  if (!short_of_memory && a->json) {
    print_json(study, reference.label, count, rows, code);
  } else if (!short_of_memory) {
    printf("%s: step %g s, until %g s; reference: %s\n", pawl_system_name(study->system),
           study->def.step, study->def.until, reference.label);
    print_first_table(count, rows);
    print_residuals(count, rows);
  }
  destroy_rows(count, rows);
  path_destroy(&reference.path);
  return code;
}

static int run(int argc, char** argv) {
  Arguments a;
  Study study = {0};
  char* methods[MOST_METHODS];
  const char *list = NULL, *wanted = NULL;
  int code = study_take_option(&argc, argv, "--methods", &list);
  code = code ? code : study_take_option(&argc, argv, "--reference", &wanted);
  code = code ? code : read_arguments(argc, argv, "mpsjPgq", &a);
  code = code || !a.plot ? code : picture_check("--plot", a.plot);
  if (code) {
    return code;
  }
  int count = study_methods((char*)list, methods);
  if (count < 0) {
    return EXIT_USAGE;
  }
  code = study_open(&a, &study);
  code = code ? code : compare_all(&study, &a, count, methods, (char*)wanted);
  study_close(&study);
  return code;
}

const Command command_compare = {
    .name = "compare",
    .line = "several methods side by side, against a reference",
    .run = run,
    .usage = "MODEL [--methods a,b,c] [--reference FILE.csv | METHOD@STEP] [--plot FILE] ...",
    .about =
        "Runs MODEL with several methods and shows them side by side. A method that refuses the "
        "model or fails gets a line with its message, and the others go on.",
    .options = options,
    .settings = true,
    .terms_title = "columns",
    .terms = columns};
