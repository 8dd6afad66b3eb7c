// SPDX-License-Identifier: Apache-2.0
// pawl converge: the observed order of each method, before the first switch and over the whole run.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/picture.h"
#include "cli/study.h"

static const Option options[] = {
    {"--methods", "a,b,c", "the methods; without it every method of this version is tried",
     VALUE_METHOD, true},
    {"--steps", "LIST",
     ("step sizes [s]: numbers with commas, or HIGH:LOW:COUNT for equal ratios. Without it 24 "
      "sizes "
      "around the step of the model, larger ones for methods of order 4. Sizes that put an event "
      "exactly on a step are a matter of rounding there: avoid them"),
     VALUE_TEXT, true},
    {"-p", "NAME=VALUE", "set a parameter of the model; VALUE may be an expression, or [a, b]",
     VALUE_TEXT, true},
    {"--plot", "FILE",
     ("draw the L1 distances over step sizes, with the fitted orders, and over the time of the "
      "runs; FILE.svg, FILE.pdf or FILE.png"),
     VALUE_FILE, true},
    {"-q, --quiet", NULL, "do not say what was written", VALUE_NONE, false},
    {"--json", NULL, "print one JSON object on standard output, with every distance", VALUE_NONE,
     true},
    {0}};

static const Option distances[] = {
    {.name = "L1", .text = "mean over time of the largest difference of a component, at the steps"},
    {.name = "Hausdorff",
     .text =
         "largest distance of a point of one graph (t, x) from the other graph, in which a jump "
         "is a vertical line"},
    {0}};

enum { DEFAULT_STEPS = 24 };

typedef struct Result {
  char method[64];
  Sweep sweep;
} Result;

// ---- step sizes ---------------------------------------------------------------------------------
static int bad_steps(const char* text) {
  return complain(-1,
                  "--steps %s: expected 3 to %d positive numbers with commas, or HIGH:LOW:COUNT",
                  text, MOST_STEPS);
}

static int read_steps(const char* text, double* h) {
  char* end;
  double high = strtod(text, &end);
  if (*end == ':') {
    double low = strtod(end + 1, &end);
    long count = *end == ':' ? strtol(end + 1, &end, 10) : 0;
    bool good = *end == '\0' && high > low && low > 0 && isfinite(high) && count >= 3 &&
                count <= MOST_STEPS;
    if (!good) {
      return bad_steps(text);
    }
    study_steps(high, low, (int)count, h);
    return (int)count;
  }
  int count = 0;
  for (const char* at = text;; at = end + 1) {
    double x = strtod(at, &end);
    if (count == MOST_STEPS || end == at || !(x > 0) || !isfinite(x) ||
        (*end != ',' && *end != '\0')) {
      return bad_steps(text);
    }
    h[count++] = x;
    if (*end == '\0') {
      return count >= 3 ? count : bad_steps(text);
    }
  }
}

// Around the step of the model; a method of order 4 needs larger ones to be seen above rounding.
static int default_steps(const PawlSimulateDef* def, double* h) {
  int order = 2;
  for (int k = 0; pawl_method(k); k++) {
    bool rough = strcmp(def->method, "event-driven") == 0 && strcmp(def->smooth, "rk4") != 0;
    if (strcmp(pawl_method(k)->name, def->method) == 0 && !rough) {
      order = pawl_method(k)->order;
    }
  }
  double high = fmin(order >= 4 ? 50 * def->step : 8 * def->step, def->until / 20);
  study_steps(high, high / (order >= 4 ? 10 : 32), DEFAULT_STEPS, h);
  return DEFAULT_STEPS;
}

// ---- what is printed ----------------------------------------------------------------------------
static void print_order(Order o) {
  if (o.exact) {
    printf(" %14s", "exact");
  } else if (o.used < 3) {
    printf(" %14s", "-");
  } else {
    char text[32];
    snprintf(text, sizeof text, "%.2f +- %.2f", o.order, o.error);
    printf(" %14s", text);
  }
}

static void print_orders(const Result* r, bool whole) {
  int good = 0;
  for (int k = 0; k < r->sweep.count; k++) {
    good += r->sweep.good[k];
  }
  printf("%-18s %-20s", r->method, whole ? "whole run" : "before first switch");
  for (int part = 0; part < PARTS; part++) {
    for (int norm = 0; norm < NORMS; norm++) {
      print_order(study_order(&r->sweep, whole, (Part)part, (Norm)norm));
    }
  }
  printf(" %6d\n", good);
}

static void print_result(const Result* r) {
  const Sweep* s = &r->sweep;
  bool any = false;
  for (int k = 0; k < s->count; k++) {
    any = any || s->good[k];
  }
  if (!any) {
    printf("%-18s %s\n", r->method, s->message);
    return;
  }
  if (s->has_before) {
    print_orders(r, false);
  }
  print_orders(r, true);
  if (s->message[0]) {
    printf("%-18s some step sizes failed: %s\n", "", s->message);
  }
  fflush(stdout);
}

static const char* const part_name[PARTS] = {"q", "v"};
static const char* const norm_name[NORMS] = {"l1", "hausdorff"};

static void json_window(Json* json, const char* key, const Sweep* s, bool whole) {
  json_open(json, key, '{');
  for (int part = 0; part < PARTS; part++) {
    json_open(json, part_name[part], '{');
    for (int norm = 0; norm < NORMS; norm++) {
      Order o = study_order(s, whole, (Part)part, (Norm)norm);
      double d[MOST_STEPS];
      for (int k = 0; k < s->count; k++) {
        const Distances* all = whole ? &s->whole[k] : &s->before[k];
        d[k] = s->good[k] ? all->d[part][norm] : NAN;
      }
      json_open(json, norm_name[norm], '{');
      json_number(json, "order", o.order);
      json_number(json, "standard_error", o.error);
      json_whole(json, "fitted", o.used);
      json_bool(json, "exact", o.exact);
      json_numbers(json, "distances", s->count, d);
      json_close(json, '}');
    }
    json_close(json, '}');
  }
  json_close(json, '}');
}

static void json_result(Json* json, const Result* r) {
  const Sweep* s = &r->sweep;
  int good = 0;
  for (int k = 0; k < s->count; k++) {
    good += s->good[k];
  }
  json_open(json, NULL, '{');
  json_text(json, "method", r->method);
  json_text(json, "status", good == s->count ? "ok" : good ? "partly" : "failed");
  if (good < s->count) {
    json_text(json, "message", s->message);
  }
  if (good) {
    json_numbers(json, "steps", s->count, s->h);
    if (s->has_before) {
      json_window(json, "before_first_switch", s, false);
    }
    json_window(json, "whole_run", s, true);
  }
  json_close(json, '}');
}

// ---- the picture --------------------------------------------------------------------------------
enum { WHOLE, BEFORE, COST, COLUMNS };
static const double NOT_DRAWN = 1e-17;  // [1] of the largest value: far below its rounding

typedef struct Lines {  // of one method in one chart
  char name[100];
  int count, fitted;
  double x[MOST_STEPS], y[MOST_STEPS];
  double fit_x[2], fit_y[2];
} Lines;

// The line of least squares, over the steps that there are.
static void fit_line(const Sweep* s, bool whole, Part part, Lines* out) {
  Order o = study_order(s, whole, part, NORM_L1);
  size_t used = strlen(out->name);
  if (o.exact || o.used < 3) {
    snprintf(out->name + used, sizeof out->name - used, "%s", o.exact ? "  exact" : "");
    return;
  }
  double mean_x = 0.0, mean_y = 0.0, low = INFINITY, high = 0.0;
  int n = 0;
  for (int k = 0; k < out->count; k++) {
    if (out->y[k] > 0.0) {
      mean_x += log(out->x[k]);
      mean_y += log(out->y[k]);
      low = fmin(low, out->x[k]);
      high = fmax(high, out->x[k]);
      n++;
    }
  }
  snprintf(out->name + used, sizeof out->name - used, "  %.2f \u00b1 %.2f", o.order, o.error);
  out->fitted = 2;
  out->fit_x[0] = low;
  out->fit_x[1] = high;
  for (int k = 0; k < 2; k++) {
    out->fit_y[k] = exp(mean_y / n + o.order * (log(out->fit_x[k]) - mean_x / n));
  }
}

static void fill_lines(const Result* r, int column, Part part, Lines* out) {
  const Sweep* s = &r->sweep;
  *out = (Lines){0};
  snprintf(out->name, sizeof out->name, "%s", r->method);
  for (int k = 0; k < s->count; k++) {
    const Distances* d = column == BEFORE ? &s->before[k] : &s->whole[k];
    bool seen = d->d[part][NORM_L1] > NOT_DRAWN * s->scale[part];
    if (s->good[k] && seen && (column != BEFORE || s->has_before)) {
      out->x[out->count] = column == COST ? s->seconds[k] : s->h[k];
      out->y[out->count++] = d->d[part][NORM_L1];
    }
  }
  if (column != COST && out->count > 0) {
    fit_line(s, column == WHOLE, part, out);
  }
}

// Marks and their line for each method; the legend of a chart has the orders.
static PawlChart fill_chart(int count, const Result* results, int column, Part part, Lines* lines,
                            PawlSeries* series) {
  static const char* const titles[COLUMNS] = {"whole run", "before the first switch", "cost"};
  int shown = 0;
  for (int k = 0; k < count; k++) {
    fill_lines(&results[k], column, part, &lines[k]);
    const Lines* l = &lines[k];
    if (l->count > 0) {
      series[shown++] =
          (PawlSeries){column == COST ? NULL : l->name, k, PAWL_SERIES_MARKS, l->count, l->x, l->y};
    }
    if (l->fitted > 0) {
      series[shown++] = (PawlSeries){NULL, k, PAWL_SERIES_DASHED, l->fitted, l->fit_x, l->fit_y};
    }
  }
  return (PawlChart){.title = titles[column],
                     .x_label = column == COST ? "time of the run [s]" : "step [s]",
                     .y_label = part == PART_Q ? "L1 distance of q" : "L1 distance of v",
                     .x_log = true,
                     .y_log = true,
                     .series_count = shown,
                     .series = series};
}

static int draw_results(const Study* study, const Arguments* a, const char* reference, int count,
                        const Result* results) {
  enum { CHARTS = COLUMNS * PARTS };
  Lines* lines = calloc((size_t)count * CHARTS + 1, sizeof *lines);
  PawlSeries* series = calloc((size_t)count * 2 * CHARTS + 1, sizeof *series);
  PawlChart charts[CHARTS];
  bool before = false;
  for (int k = 0; k < count; k++) {
    before = before || results[k].sweep.has_before;
  }
  int used = 0;
  for (int i = 0; lines && series && i < CHARTS; i++) {
    if (i % COLUMNS != BEFORE || before) {
      charts[used++] = fill_chart(count, results, i % COLUMNS, (Part)(i / COLUMNS),
                                  lines + i * count, series + 2 * i * count);
    }
  }
  char subtitle[400];
  snprintf(subtitle, sizeof subtitle,
           "until %g s; reference: %.300s; lines: distance = C step^order by least squares",
           study->def.until, reference);
  PawlChartDef def = {.title = pawl_system_name(study->system),
                      .subtitle = subtitle,
                      .columns = used / PARTS,
                      .chart_count = used,
                      .charts = charts};
  int code = lines && series ? chart_draw(&def, a->plot, a->quiet) : complain_memory();
  free(series);
  free(lines);
  return code;
}

// ---- the command --------------------------------------------------------------------------------
static int converge_method(const Study* study, char* method, int count, const double* steps,
                           References* references, Result* out) {
  PawlError err = {0};
  PawlSimulateDef def = study->def;
  double h[MOST_STEPS];
  study_set_method(&def, method);
  bool over = def.smooth != study->def.smooth;
  snprintf(out->method, sizeof out->method, "%.30s%s%.30s", def.method, over ? ":" : "",
           over ? def.smooth : "");
  if (count) {
    memcpy(h, steps, (size_t)count * sizeof *h);
  } else {
    count = default_steps(&def, h);
  }
  return study_sweep(study->system, &def, count, h, references, &out->sweep, &err) == PAWL_OK
             ? 0
             : report_error(&err);
}

static void begin_json(Json* json, const Study* study, const References* references) {
  json_open(json, NULL, '{');
  json_text(json, "model", pawl_system_name(study->system));
  json_number(json, "until", study->def.until);
  json_text(json, "reference", references_label(references));
  json_open(json, "methods", '[');
}

static int converge_all(const Study* study, const Arguments* a, int method_count, char** methods,
                        int count, const double* steps) {
  References* references = references_create(study->system, &study->def, STUDY_FINER);
  Result* results = calloc(a->plot ? (size_t)method_count : 1, sizeof *results);
  Json json = {stdout, 0, true};
  int code = 0;
  if (!references || !results) {
    code = complain_memory();
  } else if (a->json) {
    begin_json(&json, study, references);
  } else {
    printf("%s: until %g s; reference: %s\n\n%-18s %-20s %14s %14s %14s %14s %6s\n",
           pawl_system_name(study->system), study->def.until, references_label(references),
           "method", "order", "q, L1", "q, Hausdorff", "v, L1", "v, Hausdorff", "steps");
  }
  for (int k = 0; k < method_count && !code; k++) {
    Result* result = a->plot ? &results[k] : results;
    code = converge_method(study, methods[k], count, steps, references, result);
    if (!code && a->json) {
      json_result(&json, result);
    } else if (!code) {
      print_result(result);
    }
  }
  if (!code && a->plot) {
    code = draw_results(study, a, references_label(references), method_count, results);
  }
  if (json.depth > 0) {
    json_close(&json, ']');
    json_status(&json, code);
    json_close(&json, '}');
  }
  free(results);
  references_destroy(references);
  return code;
}

static int run(int argc, char** argv) {
  Arguments a;
  Study study = {0};
  char* methods[MOST_METHODS];
  double steps[MOST_STEPS];
  const char *list = NULL, *sizes = NULL;
  int code = study_take_option(&argc, argv, "--methods", &list);
  code = code ? code : study_take_option(&argc, argv, "--steps", &sizes);
  code = code ? code : read_arguments(argc, argv, "mpsjgq", &a);
  code = code || !a.plot ? code : picture_check("--plot", a.plot);
  if (code) {
    return code;
  }
  int count = sizes ? read_steps(sizes, steps) : 0;
  int method_count = count < 0 ? 0 : study_methods((char*)list, methods);
  if (count < 0 || method_count < 0) {
    return EXIT_USAGE;
  }
  code = study_open(&a, &study);
  code = code ? code : converge_all(&study, &a, method_count, methods, count, steps);
  study_close(&study);
  return code;
}

const Command command_converge = {
    .name = "converge",
    .line = "observed orders of methods over many step sizes",
    .run = run,
    .usage = "MODEL [--methods a,b,c] [--steps LIST] [-p NAME=VALUE]... [--plot FILE] ...",
    .about =
        "Runs MODEL with many step sizes h and fits distance = C h^order to the distance from a "
        "reference, by least squares in logarithms; +- is the standard error of the order.",
    .options = options,
    .settings = true,
    .terms_title =
        "distances, of the coordinates q and the rates v, for which a jump is no obstacle",
    .terms = distances,
    .notes =
        "The reference is event-driven over rk4 at a tenth of each step (rk4 where nothing "
        "switches; where event-driven refuses a model with contacts, php with the momentum "
        "condition "
        "or nsga-pva). "
        "Distances below 1e-11 of the largest value are rounding and not fitted."};
