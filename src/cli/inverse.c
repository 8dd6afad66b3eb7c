// SPDX-License-Identifier: Apache-2.0
// pawl inverse: the forces of drives for a prescribed motion. The expressions of the motion are
// read as definitions of a small model of their own, whose outputs are they and their rates.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/study.h"

static const Option options[] = {
    {"--motion", "NAME=EXPR",
     ("the motion of a coordinate: an expression of t and parameters; may be given several times. "
      "What is not given follows from the constraints"),
     VALUE_TEXT, true},
    {"--from", "RUN.csv", "the motion that `pawl run MODEL -o RUN.csv` has recorded", VALUE_FILE,
     true},
    {"--drive", "NAME",
     ("where a force acts: along a coordinate, or a constraint or lock, which is then no "
      "constraint; may be given several times. Default: the coordinates of --motion; with --from "
      "all coordinates"),
     VALUE_TEXT, true},
    {"-p", "NAME=VALUE", "set a parameter of the model; VALUE may be an expression, or [a, b]",
     VALUE_TEXT, true},
    {"-o", "FILE.csv", "write to a file; - and without: standard output", VALUE_FILE, true},
    {"--until", "T", "the end of --motion (default: that of the model)", VALUE_TEXT, true},
    {"--step", "H", "the times of --motion (default: those of the model)", VALUE_TEXT, true},
    {"--json", NULL, "print one JSON object with all samples", VALUE_NONE, true},
    {0}};

enum { MOST_LISTED = 256 };

typedef struct Wishes {
  int motion_count, drive_count;
  char* motions[MOST_LISTED];
  const char* drives[MOST_LISTED];
  const char* from;
} Wishes;

// Takes every "NAME VALUE" or "NAME=VALUE" out of the arguments; -1 after a message.
static int take_list(int* argc, char** argv, const char* name, char** list) {
  size_t length = strlen(name);
  int kept = 0, count = 0;
  for (int k = 0; k < *argc; k++) {
    bool equals = strncmp(argv[k], name, length) == 0 && argv[k][length] == '=';
    bool here = strcmp(argv[k], name) == 0;
    if ((here && k + 1 == *argc) || ((here || equals) && count == MOST_LISTED)) {
      complain(EXIT_USAGE, here ? "a value is missing behind '%s'" : "too many of '%s'", name);
      return -1;
    }
    if (here || equals) {
      list[count++] = equals ? argv[k] + length + 1 : argv[++k];
    } else {
      argv[kept++] = argv[k];
    }
  }
  *argc = kept;
  return count;
}

static int read_wishes(int* argc, char** argv, Wishes* w) {
  char* drives[MOST_LISTED];
  *w = (Wishes){0};
  w->motion_count = take_list(argc, argv, "--motion", w->motions);
  w->drive_count = take_list(argc, argv, "--drive", drives);
  if (w->motion_count < 0 || w->drive_count < 0 ||
      study_take_option(argc, argv, "--from", &w->from)) {
    return EXIT_USAGE;
  }
  memcpy(w->drives, drives, (size_t)w->drive_count * sizeof *drives);
  if ((w->from != NULL) == (w->motion_count > 0)) {
    return complain(EXIT_USAGE, "a motion is needed: --motion NAME=EXPRESSION, or --from RUN.csv");
  }
  return 0;
}

// ---- the motion ---------------------------------------------------------------------------------
typedef struct Motion {
  PawlModel* model;
  PawlSystem* system;
  PawlEval* eval;
  int count;
  int place[MOST_LISTED];  // coordinate of each
} Motion;

static void motion_destroy(Motion* m) {
  pawl_eval_destroy(m->eval);
  pawl_system_destroy(m->system);
  pawl_model_destroy(m->model);
}

static int find_coordinate(const PawlSystem* system, const char* name) {
  for (int k = 0; k < pawl_system_sizes(system).q; k++) {
    if (strcmp(pawl_system_coordinate_name(system, k), name) == 0) {
      return k;
    }
  }
  return -1;
}

// "x=sin(t)" is cut at the first '='.
static int place_motions(Wishes* w, const PawlSystem* system, Motion* out) {
  for (int k = 0; k < w->motion_count; k++) {
    char* equals = strchr(w->motions[k], '=');
    if (!equals) {
      return complain(EXIT_USAGE, "--motion %s: NAME=EXPRESSION is expected", w->motions[k]);
    }
    *equals = '\0';
    out->place[k] = find_coordinate(system, w->motions[k]);
    if (out->place[k] < 0) {
      return complain(EXIT_USAGE, "--motion %s: there is no such coordinate", w->motions[k]);
    }
    for (int i = 0; i < k; i++) {
      if (out->place[i] == out->place[k]) {
        return complain(EXIT_USAGE, "--motion %s is given twice", w->motions[k]);
      }
    }
    w->motions[k] = equals + 1;
  }
  out->count = w->motion_count;
  return 0;
}

// The model whose outputs are the motions, their rates and accelerations.
static char* motion_text(const Wishes* w, const PawlModel* model) {
  size_t size = 1000;
  for (int k = 0; k < pawl_model_parameter_count(model); k++) {
    size += strlen(pawl_model_parameter_name(model, k)) + 40;
  }
  for (int k = 0; k < w->motion_count; k++) {
    size += 2 * strlen(w->motions[k]) + 200;
  }
  char *text = malloc(size), *at = text;
  if (!text) {
    return NULL;
  }
  at += sprintf(at, "model: motion\ncoordinates: [pawl_none]\nmass: {pawl_none: 1}\nparameters:\n");
  for (int k = 0; k < pawl_model_parameter_count(model); k++) {
    at += sprintf(at, "  %s: %.17g\n", pawl_model_parameter_name(model, k),
                  pawl_model_parameter_value(model, k));
  }
  at += sprintf(at, "define:\n");
  for (int k = 0; k < w->motion_count; k++) {
    at += sprintf(at, "  pawl_motion_%d: \"", k);
    for (const char* c = w->motions[k]; *c; c++) {
      at += sprintf(at, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    }
    at += sprintf(at, "\"\n");
  }
  at += sprintf(at, "outputs:\n");
  for (int k = 0; k < w->motion_count; k++) {
    at += sprintf(at, "  q%d: pawl_motion_%d\n  v%d: pawl_motion_%d'\n  a%d: pawl_motion_%d''\n", k,
                  k, k, k, k, k);
  }
  return text;
}

static int motion_create(Wishes* w, const Study* study, Motion* out) {
  PawlError err = {0};
  int code = place_motions(w, study->system, out);
  if (code) {
    return code;
  }
  char* text = motion_text(w, study->model);
  if (!text) {
    return complain_memory();
  }
  PawlStatus status = pawl_model_parse(text, strlen(text), "--motion", 0, NULL, &out->model, &err);
  free(text);
  status = status ? status : pawl_system_create(out->model, &out->system, &err);
  status = status ? status : pawl_eval_create(out->system, PAWL_OUTPUTS, &out->eval, &err);
  return status ? report_error(&err) : 0;
}

static PawlStatus motion_at(const Motion* m, double t, double* q, double* v, double* a,
                            PawlError* err) {
  double zero = 0.0;
  PawlPoint point = {.t = t, .q = &zero, .v = &zero, .a = &zero, .lambda = &zero};
  PawlStatus status = pawl_eval_run(m->eval, &point, err);
  const double* outputs = pawl_eval_values(m->eval)->outputs;
  for (int k = 0; status == PAWL_OK && k < m->count; k++) {
    q[m->place[k]] = outputs[3 * k];
    v[m->place[k]] = outputs[3 * k + 1];
    a[m->place[k]] = outputs[3 * k + 2];
  }
  return status;
}

// ---- the table of results -----------------------------------------------------------------------
typedef struct Work {
  const Study* study;
  PawlInverse* inverse;
  PawlSizes n;
  double *q, *v, *a, *largest;  // largest force of each drive
  unsigned char* given;
  FILE* csv;  // NULL: JSON
  Json json;
  int samples, singular;
  double first_singular;
} Work;

static void put_cell(Work* w, double value) {
  char room[32];
  fprintf(w->csv, ",%s", isfinite(value) ? shortest(value, room) : "");
}

static void put_name(Work* w, const char* head, const char* name, int number, const char* tail) {
  char text[700];
  snprintf(text, sizeof text, number > 0 ? "%s%.600s,%d%s" : "%s%.600s%.0d%s", head, name, number,
           tail);
  if (w->csv) {
    fprintf(w->csv, strchr(text, ',') ? ",\"%s\"" : ",%s", text);
  } else {
    json_text(&w->json, NULL, text);
  }
}

// Rows of a constraint with one row have no number.
static int number_of(const PawlSystem* system, int row, const char** name) {
  int number, other;
  *name = pawl_system_row_name(system, row, &number);
  int next = row + 1 < pawl_system_sizes(system).rows
                 ? (pawl_system_row_name(system, row + 1, &other), other)
                 : 0;
  return number > 0 || next > 0 ? number + 1 : 0;
}

static void put_header(Work* w) {
  const PawlSystem* system = w->study->system;
  if (w->csv) {
    fprintf(w->csv, "t");
  } else {
    json_text(&w->json, NULL, "t");
  }
  for (int k = 0; k < w->n.q; k++) {
    put_name(w, "", pawl_system_coordinate_name(system, k), 0, "");
  }
  for (int d = 0; d < pawl_inverse_drive_count(w->inverse); d++) {
    put_name(w, "force(", pawl_inverse_drive_name(w->inverse, d), 0, ")");
  }
  for (int r = 0; r < w->n.rows; r++) {
    const char* name;
    int number = number_of(system, r, &name);
    put_name(w, "lambda(", name, number, ")");
  }
  put_name(w, "power", "", 0, "");
  if (w->csv) {
    fputc('\n', w->csv);
  }
}

static void put_values(Work* w, int count, const double* values) {
  for (int k = 0; k < count; k++) {
    if (w->csv) {
      put_cell(w, values[k]);
    } else {
      json_number(&w->json, NULL, values[k]);
    }
  }
}

static void put_sample(Work* w, double t, const PawlInverseForces* f) {
  char room[32];
  if (w->csv) {
    fprintf(w->csv, "%s", shortest(t, room));
  } else {
    json_open(&w->json, NULL, '[');
    json_number(&w->json, NULL, t);
  }
  put_values(w, w->n.q, w->q);
  put_values(w, pawl_inverse_drive_count(w->inverse), f->force);
  put_values(w, w->n.rows, f->lambda);
  put_values(w, 1, &f->power);
  if (w->csv) {
    fputc('\n', w->csv);
  } else {
    json_close(&w->json, ']');
  }
}

// Completes the motion, finds the forces and prints them.
static PawlStatus take_sample(Work* w, double t, const unsigned char* given, PawlError* err) {
  PawlInverseForces f;
  PawlStatus status = pawl_inverse_complete(w->inverse, t, given, w->q, w->v, w->a, err);
  status = status ? status : pawl_inverse_solve(w->inverse, t, w->q, w->v, w->a, &f, err);
  if (status != PAWL_OK) {
    return status;
  }
  w->samples++;
  if (f.reached < f.freedom && w->singular++ == 0) {
    w->first_singular = t;
  }
  for (int d = 0; d < pawl_inverse_drive_count(w->inverse); d++) {
    w->largest[d] = fmax(w->largest[d], fabs(f.force[d]));
  }
  put_sample(w, t, &f);
  return PAWL_OK;
}

static PawlStatus follow_motion(Work* w, const Motion* m, PawlError* err) {
  const PawlSimulateDef* def = &w->study->def;
  double h = def->record > 0.0 ? def->record : def->step;
  long long steps = llround(ceil(def->until / h - 1e-9));  // a last piece of rounding is none
  PawlStatus status = PAWL_OK;
  pawl_system_start(w->study->system, w->q, w->v);
  for (long long k = 0; status == PAWL_OK && k <= steps; k++) {
    double t = k < steps ? (double)k * h : def->until;
    status = motion_at(m, t, w->q, w->v, w->a, err);
    status = status ? status : take_sample(w, t, w->given, err);
  }
  return status;
}

static PawlStatus follow_file(Work* w, const char* file, PawlError* err) {
  PawlSimDef def = pawl_sim_def_default();
  PawlSim* sim = NULL;
  Path path = {0};
  def.simulate.method = "nsga-pva";  // begins every model; only its columns are wanted
  def.project = true;
  PawlStatus status = pawl_sim_create(w->study->system, &def, &sim, err);
  status = status ? status : path_of_csv(file, pawl_sim_recorder(sim), &path, err);
  const Curve *q = &path.curve[PART_Q], *v = &path.curve[PART_V];
  if (status == PAWL_OK && !v->slope) {
    err->status = status = PAWL_ERROR_USAGE;
    snprintf(err->message, sizeof err->message, "%.500s: lacks the accelerations", file);
  }
  for (int k = 0; status == PAWL_OK && k < q->count; k++) {
    size_t i = (size_t)k * (size_t)w->n.q, j = (size_t)k * (size_t)w->n.v;
    memcpy(w->q, q->x + i, (size_t)w->n.q * sizeof(double));
    memcpy(w->v, v->x + j, (size_t)w->n.v * sizeof(double));
    memcpy(w->a, v->slope + j, (size_t)w->n.v * sizeof(double));
    status = take_sample(w, q->t[k], NULL, err);
  }
  path_destroy(&path);
  pawl_sim_destroy(sim);
  return status;
}

// ---- the command --------------------------------------------------------------------------------
static void begin_results(Work* w, bool json) {
  if (json) {
    w->csv = NULL;
    w->json = (Json){stdout, 0, true};
    json_open(&w->json, NULL, '{');
    json_text(&w->json, "model", pawl_system_name(w->study->system));
    json_open(&w->json, "columns", '[');
  }
  put_header(w);
  if (json) {
    json_close(&w->json, ']');
    json_open(&w->json, "samples", '[');
  }
}

static void warn_singular(const Work* w) {
  char text[300];
  if (w->singular > 0) {
    snprintf(text, sizeof text,
             "at %d of %d samples, first at t = %.6g, the drives do not reach all degrees of "
             "freedom; they make this motion, but not every one",
             w->singular, w->samples, w->first_singular);
    warn(text);
  }
}

static void end_results(Work* w, int code) {
  if (!w->csv) {
    json_close(&w->json, ']');
    json_open(&w->json, "largest", '{');
    for (int d = 0; d < pawl_inverse_drive_count(w->inverse); d++) {
      json_number(&w->json, pawl_inverse_drive_name(w->inverse, d), w->largest[d]);
    }
    json_close(&w->json, '}');
    json_whole(&w->json, "singular_samples", w->singular);
    json_status(&w->json, code);
    json_close(&w->json, '}');
  }
}

static int compute(Work* w, const Wishes* wishes, const Motion* motion, bool json) {
  PawlError err = {0};
  begin_results(w, json);
  PawlStatus status =
      wishes->from ? follow_file(w, wishes->from, &err) : follow_motion(w, motion, &err);
  warn_singular(w);
  int code = status ? report_error(&err) : EXIT_GOOD;
  end_results(w, code);
  return code;
}

// The coordinates of the motion, where no drives are named.
static void default_drives(Wishes* wishes, const Study* study, const Motion* motion) {
  for (int k = 0; wishes->drive_count == 0 && k < motion->count; k++) {
    wishes->drives[k] = pawl_system_coordinate_name(study->system, motion->place[k]);
  }
  wishes->drive_count = wishes->drive_count ? wishes->drive_count : motion->count;
}

static int work_create(Work* w, Wishes* wishes, const Motion* motion) {
  PawlError err = {0};
  w->n = pawl_system_sizes(w->study->system);
  default_drives(wishes, w->study, motion);
  if (pawl_inverse_create(w->study->system, wishes->drive_count, wishes->drives, &w->inverse,
                          &err) != PAWL_OK) {
    return report_error(&err);
  }
  size_t n = (size_t)w->n.q + (size_t)w->n.v + 1;
  w->q = calloc(n, sizeof(double));
  w->v = calloc(n, sizeof(double));
  w->a = calloc(n, sizeof(double));
  w->largest = calloc((size_t)pawl_inverse_drive_count(w->inverse) + 1, sizeof(double));
  w->given = calloc(n, 1);
  if (!w->q || !w->v || !w->a || !w->largest || !w->given) {
    return complain_memory();
  }
  for (int k = 0; k < motion->count; k++) {
    w->given[motion->place[k]] = 1;
  }
  return 0;
}

static void work_destroy(Work* w) {
  pawl_inverse_destroy(w->inverse);
  free(w->q);
  free(w->v);
  free(w->a);
  free(w->largest);
  free(w->given);
}

static int find_forces(const Arguments* a, Wishes* wishes, const Study* study) {
  Motion motion = {0};
  Work w = {.study = study, .csv = stdout};
  const char* path = a->output_count ? a->outputs[0] : "-";
  bool file = strcmp(path, "-") != 0;
  int code = wishes->from ? 0 : motion_create(wishes, study, &motion);
  code = code ? code : work_create(&w, wishes, &motion);
  if (!code && file) {
    w.csv = fopen(path, "w");
    code = w.csv ? 0 : complain(EXIT_RUN, "%s cannot be written", path);
  }
  code = code ? code : compute(&w, wishes, &motion, a->json);
  if (file && w.csv && fclose(w.csv) != 0) {
    code = complain(EXIT_RUN, "%s cannot be written", path);
  }
  work_destroy(&w);
  motion_destroy(&motion);
  return code;
}

static int run(int argc, char** argv) {
  Arguments a;
  Wishes wishes;
  int code = read_wishes(&argc, argv, &wishes);
  code = code ? code : read_arguments(argc, argv, "mpsoj", &a);
  if (!code && (a.output_count > 1 || a.plot || a.columns || (a.json && a.output_count))) {
    code = complain(EXIT_USAGE, "one -o FILE.csv, or --json, is what `pawl inverse` writes");
  }
  if (code) {
    return code;
  }
  Study study = {0};
  code = study_open(&a, &study);
  code = code ? code : find_forces(&a, &wishes, &study);
  study_close(&study);
  return code;
}

const Command command_inverse = {
    .name = "inverse",
    .line = "find the forces of drives for a prescribed motion",
    .run = run,
    .usage =
        "MODEL --motion NAME=EXPRESSION... [--drive NAME]... [-o FILE.csv]\n"
        "MODEL --from RUN.csv [--drive NAME]... [-o FILE.csv]",
    .about =
        "Finds the forces that drives must have for a prescribed motion (inverse dynamics), "
        "and prints them as CSV.",
    .options = options,
    .settings = true,
    .notes =
        "Columns: t, the coordinates, force(NAME) of each drive, lambda of each constraint row, "
        "the power of all drives. Drives that can do the same share by minimum norm. Where the "
        "drives cannot make the motion the run ends with a message that names what lacks a "
        "force. Locks and constraints stay as they are at the start, those with regions follow "
        "the place; contacts do not act. docs/theory/inverse.md has the equations."};
