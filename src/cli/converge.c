// SPDX-License-Identifier: Apache-2.0
// pawl converge: the observed order of each method, before the first switch and over the whole run.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/study.h"

static void help(void) {
  printf(
      "usage: pawl converge MODEL [--methods a,b,c] [--steps LIST] [-p NAME=VALUE]...\n"
      "                     [--until t] [--json] ...\n\n"
      "Runs MODEL with many step sizes h and fits distance = C h^order to the distance from a\n"
      "reference, by least squares in logarithms; +- is the standard error of the order.\n\n"
      "  --methods a,b,c    the methods; without it every method of this version is tried\n"
      "  --steps LIST       step sizes [s]: numbers with commas, or HIGH:LOW:COUNT for equal\n"
      "                     ratios. Without it 24 sizes around the step of the model, larger ones\n"
      "                     for methods of order 4. Sizes that put an event exactly on a step are\n"
      "                     a matter of rounding there: avoid them\n"
      "  --json             print one JSON object on standard output, with every distance\n\n"
      "A largest difference means nothing across a jump, so two other distances are used, for the\n"
      "coordinates q and the rates v:\n"
      "  L1                 mean over time of the largest difference of a component, at the steps\n"
      "  Hausdorff          largest distance of a point of one graph (t, x) from the other graph,\n"
      "                     in which a jump is a vertical line\n"
      "The reference is event-driven over rk4 at a tenth of each step (rk4 where nothing "
      "switches,\n"
      "for models with contacts php with the momentum condition, or nsga-pva).\n"
      "Distances below 1e-11 of the largest value are rounding and not fitted.\n");
  print_settings_help();
}

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
  Result* result = calloc(1, sizeof *result);
  Json json = {stdout, 0, true};
  int code = 0;
  if (!references || !result) {
    code = complain_memory();
  } else if (a->json) {
    begin_json(&json, study, references);
  } else {
    printf("%s: until %g s; reference: %s\n\n%-18s %-20s %14s %14s %14s %14s %6s\n",
           pawl_system_name(study->system), study->def.until, references_label(references),
           "method", "order", "q, L1", "q, Hausdorff", "v, L1", "v, Hausdorff", "steps");
  }
  for (int k = 0; k < method_count && !code; k++) {
    code = converge_method(study, methods[k], count, steps, references, result);
    if (!code && a->json) {
      json_result(&json, result);
    } else if (!code) {
      print_result(result);
    }
  }
  if (json.depth > 0) {
    json_close(&json, ']');
    json_status(&json, code);
    json_close(&json, '}');
  }
  free(result);
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
  code = code ? code : read_arguments(argc, argv, "mpsj", &a);
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

const Command command_converge = {"converge", "observed orders of methods over many step sizes",
                                  run, help};
