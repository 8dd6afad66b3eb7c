// SPDX-License-Identifier: Apache-2.0
// pawl bench: what a step costs, on every example and method or on those that are named, and what
// an operation of a tape costs as the number of lanes grows. Times are the best of several repeats
// of the same steps.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/study.h"

static const Option options[] = {
    {"--methods", "a,b,c", "the methods; without it every method of this version is tried",
     VALUE_METHOD, true},
    {"-p", "NAME=VALUE", "set a parameter of the models; VALUE may be an expression, or [a, b]",
     VALUE_TEXT, true},
    {"--json", NULL, "print one JSON object on standard output", VALUE_NONE, true},
    {0}};

enum { REPEATS = 5, LEAST_STEPS = 100, MOST_COUNTED = 20000 };
static const double SECONDS_PER_REPEAT = 0.05;

typedef struct Result {
  char name[64];
  const char* method;
  int coordinates, rows;
  double h, setup, per_step;  // [s]
  double newton, factorizations;
  double drift;  // of the energy over the steps, relative to the largest energy seen
  long long steps;
} Result;

// What times are compared with, since machines differ: a step of three links by rk4, not compiled.
static const char unit_model[] = "planar-3r", unit_method[] = "rk4";

typedef struct Bench {
  Json* json;   // NULL: text
  double unit;  // [s]
  const Arguments* arguments;
  int method_count;
  char* methods[MOST_METHODS];
} Bench;

// ---- one example --------------------------------------------------------------------------------
typedef struct Run {
  const PawlSystem* system;
  PawlStepper* stepper;
  PawlState* state;
  PawlEval* energy;
  PawlSimulateDef def;
} Run;

static PawlStatus energy_of(Run* r, double* kinetic, double* total, PawlError* err) {
  PawlPoint point = {r->state->t,      r->state->q,     r->state->v,   r->state->a,
                     r->state->lambda, r->state->modes, r->state->held};
  PawlStatus status = pawl_eval_run(r->energy, &point, err);
  const double* e = pawl_eval_values(r->energy)->energy;
  *kinetic = e[0];
  *total = e[0] + e[1];
  return status;
}

// Takes `steps` steps from the start; the time of these is returned in `*seconds`.
static PawlStatus take_steps(Run* r, long long steps, double* seconds, double* drift,
                             PawlError* err) {
  double kinetic = 0.0, start = 0.0, end = 0.0;
  pawl_system_start(r->system, r->state->q, r->state->v);
  r->state->t = 0.0;
  PawlStatus status = pawl_stepper_start(r->stepper, r->state, false, err);
  status = status ? status : energy_of(r, &kinetic, &start, err);
  double begin = seconds_now();
  for (long long k = 0; status == PAWL_OK && k < steps; k++) {
    status = pawl_stepper_step(r->stepper, r->state, r->def.step, err);
  }
  *seconds = seconds_now() - begin;
  double most = kinetic;
  status = status ? status : energy_of(r, &kinetic, &end, err);
  most = fmax(most, kinetic);
  most = fmax(most, fmax(fabs(start), fabs(end)));
  *drift = status == PAWL_OK && most > 0 ? fabs(end - start) / most : 0.0;
  return status;
}

static PawlStatus measure(Run* r, Result* out, PawlError* err) {
  double seconds;
  long long whole = (long long)ceil(r->def.until / r->def.step), steps = whole < 64 ? whole : 64;
  PawlStatus status = take_steps(r, steps, &seconds, &out->drift, err);
  double fit = SECONDS_PER_REPEAT / (seconds / (double)steps + 1e-12);
  steps = fit < (double)whole ? (long long)fit + 1 : whole;
  steps = steps < LEAST_STEPS ? LEAST_STEPS : steps;
  steps = steps < whole ? steps : whole;
  steps = steps < MOST_COUNTED ? steps : MOST_COUNTED;
  out->steps = steps;
  out->per_step = INFINITY;
  if (status == PAWL_OK && strcmp(r->def.native, "on") == 0) {  // all that these steps meet
    status = take_steps(r, steps, &seconds, &out->drift, err);
    status = status ? status : pawl_system_compile(r->system, true, err);
  }
  for (int k = 0; k < REPEATS && status == PAWL_OK; k++) {
    PawlStepperInfo before = pawl_stepper_info(r->stepper);
    status = take_steps(r, steps, &seconds, &out->drift, err);
    PawlStepperInfo after = pawl_stepper_info(r->stepper);
    out->per_step = fmin(out->per_step, seconds / (double)steps);
    out->newton = (double)(after.newton_iterations - before.newton_iterations) / (double)steps;
    out->factorizations = (double)(after.factorizations - before.factorizations) / (double)steps;
  }
  return status;
}

static PawlStatus time_steps(const PawlSystem* system, const PawlSimulateDef* def, Result* out,
                             PawlError* err) {
  Run r = {.system = system, .def = *def};
  double begin = seconds_now();
  PawlStatus status = pawl_stepper_create(system, &r.def, &r.stepper, err);
  status = status ? status : pawl_state_create(r.stepper, &r.state, err);
  status = status ? status : pawl_eval_create(system, PAWL_ENERGY, &r.energy, err);
  out->setup += seconds_now() - begin;
  status = status ? status : measure(&r, out, err);
  pawl_eval_destroy(r.energy);
  pawl_state_destroy(r.state);
  pawl_stepper_destroy(r.stepper);
  return status;
}

static void print_result(const Bench* bench, const Result* r) {
  Json* json = bench->json;
  if (!json) {
    printf("%-19s %-13s %6d %6d %9.2e %8lld %9.3f %9.2f %7.2f %7.2f %9.2f %9.1e\n", r->name,
           r->method, r->coordinates, r->rows, r->h, r->steps, 1e6 * r->per_step,
           r->per_step / bench->unit, r->newton, r->factorizations, 1e3 * r->setup, r->drift);
    fflush(stdout);
    return;
  }
  json_open(json, NULL, '{');
  json_text(json, "model", r->name);
  json_text(json, "method", r->method);
  json_whole(json, "coordinates", r->coordinates);
  json_whole(json, "rows", r->rows);
  json_number(json, "step", r->h);
  json_whole(json, "steps", r->steps);
  json_number(json, "microseconds_per_step", 1e6 * r->per_step);
  json_number(json, "relative_to_unit", r->per_step / bench->unit);
  json_number(json, "newton_iterations_per_step", r->newton);
  json_number(json, "factorizations_per_step", r->factorizations);
  json_number(json, "setup_milliseconds", 1e3 * r->setup);
  json_number(json, "energy_drift", r->drift);
  json_close(json, '}');
}

// A model by name or file, with `override` (NULL: none) over the parameters of the command line and
// by one method alone where `only` is not NULL.
static int time_model(const Bench* bench, const char* name, const char* override,
                      const char* only) {
  Arguments a = *bench->arguments;
  Study study;
  PawlError err = {0};
  a.model = name;
  a.example = a.file_count == 0;
  if (override && a.override_count < MOST_OVERRIDES) {
    a.overrides[a.override_count++] = override;
  }
  double begin = seconds_now();
  int code = study_open(&a, &study);
  double setup = seconds_now() - begin;
  PawlStatus status = PAWL_OK;
  for (int k = 0; !code && status == PAWL_OK && k < bench->method_count; k++) {
    char method[64];
    if (only && strcmp(only, bench->methods[k]) != 0) {
      continue;
    }
    snprintf(method, sizeof method, "%s", bench->methods[k]);
    study_set_method(&study.def, method);
    PawlSizes n = pawl_system_sizes(study.system);
    Result r = {.method = bench->methods[k],
                .coordinates = n.q,
                .rows = n.rows,
                .h = study.def.step,
                .setup = setup};
    snprintf(r.name, sizeof r.name, "%s%s%s", pawl_model_name(study.model), override ? " " : "",
             override ? override : "");
    status = time_steps(study.system, &study.def, &r, &err);
    if (status == PAWL_OK) {
      print_result(bench, &r);
    } else if (status == PAWL_ERROR_USAGE || status == PAWL_ERROR_RUN || status == PAWL_RETRY) {
      status = PAWL_OK;  // a method that is not for this model
    }
  }
  study_close(&study);
  return code ? code : status == PAWL_OK ? 0 : report_error(&err);
}

static int time_unit(Bench* bench) {
  Arguments none = {.model = unit_model, .example = true};
  Study study;
  Result r = {.method = unit_method};
  PawlError err = {0};
  int code = study_open(&none, &study);
  study.def.method = unit_method;
  study.def.native = "off";
  if (!code && time_steps(study.system, &study.def, &r, &err) != PAWL_OK) {
    code = report_error(&err);
  }
  bench->unit = r.per_step;
  study_close(&study);
  return code;
}

// ---- lanes --------------------------------------------------------------------------------------
static PawlStatus time_lanes(int lanes, double* per_operation, long long* operations,
                             PawlError* err) {
  static const char text[] =
      "model: lanes\nparameters: {N: 1, a: 0.3, k: 2}\ncoordinates: {\"x[i=1..N]\": 0.1*i/N}\n"
      "mass: {\"x[i=1..N]\": 1}\n"
      "potential:\n  for i=1..N: k/2*(x[i]^2 - a)^2/(1 + x[i]^2) + a*(x[i] - a)*(x[i] + k)^3\n";
  char number[32];
  snprintf(number, sizeof number, "N=%d", lanes);
  const char* overrides[1] = {number};
  PawlModel* model;
  PawlSystem* system = NULL;
  PawlEval* eval = NULL;
  double* q = calloc((size_t)lanes * 2, sizeof(double));
  PawlStatus status = pawl_model_parse(text, sizeof text - 1, "lanes", 1, overrides, &model, err);
  status = status ? status : pawl_system_create(model, &system, err);
  status = status ? status : pawl_eval_create(system, PAWL_FORCE | PAWL_STIFFNESS, &eval, err);
  if (status == PAWL_OK && q) {
    pawl_system_start(system, q, q + lanes);
    *operations = pawl_eval_operations(eval);
    PawlPoint point = {0.0, q, q + lanes, q + lanes, NULL, NULL, NULL};
    int runs = 1 + 2000000 / (int)*operations;
    *per_operation = INFINITY;
    for (int repeat = 0; repeat < REPEATS && status == PAWL_OK; repeat++) {
      double begin = seconds_now();
      for (int k = 0; k < runs && status == PAWL_OK; k++) {
        status = pawl_eval_run(eval, &point, err);
      }
      double seconds = seconds_now() - begin;
      *per_operation = fmin(*per_operation, seconds / runs / (double)*operations);
    }
  }
  free(q);
  pawl_eval_destroy(eval);
  pawl_system_destroy(system);
  pawl_model_destroy(model);
  return status;
}

static int bench_lanes(Json* json) {
  static const int counts[] = {1, 8, 64, 1024};
  if (json) {
    json_open(json, "lanes", '[');
  } else {
    printf("\n%8s %12s %22s\n", "lanes", "operations", "ns/(operation lane)");
  }
  int code = 0;
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    PawlError err = {0};
    double per_operation = 0.0;
    long long operations = 0;
    if (time_lanes(counts[k], &per_operation, &operations, &err) != PAWL_OK) {
      code = report_error(&err);
      break;
    }
    if (json) {
      json_open(json, NULL, '{');
      json_whole(json, "lanes", counts[k]);
      json_whole(json, "operations", operations / counts[k]);
      json_number(json, "nanoseconds_per_operation_and_lane", 1e9 * per_operation);
      json_close(json, '}');
    } else {
      printf("%8d %12lld %22.3f\n", counts[k], operations / counts[k], 1e9 * per_operation);
    }
  }
  if (json) {
    json_close(json, ']');
  }
  return code;
}

static int bench_examples(const Bench* bench) {
  static const char* const lengths[] = {"N=100", "N=1000", "N=10000"};
  static const char* const methods[] = {"ga-p", "nsga-pva"};
  int code = 0;
  for (const Example* e = examples; e->name && !code; e++) {
    code = time_model(bench, e->name, NULL, NULL);
  }
  for (int k = 0; k < 6 && !code; k++) {
    code = time_model(bench, "chain", lengths[k / 2], methods[k % 2]);
  }
  return code;
}

static int bench_models(Bench* bench) {
  const Arguments* a = bench->arguments;
  int code = time_unit(bench);
  if (code) {
    return code;
  }
  if (bench->json) {
    json_open(bench->json, NULL, '{');
    json_text(bench->json, "version", pawl_version());
    json_open(bench->json, "unit", '{');
    json_text(bench->json, "model", unit_model);
    json_text(bench->json, "method", unit_method);
    json_number(bench->json, "microseconds_per_step", 1e6 * bench->unit);
    json_close(bench->json, '}');
    json_open(bench->json, "models", '[');
  } else {
    printf("%-19s %-13s %6s %6s %9s %8s %9s %9s %7s %7s %9s %9s\n", "model", "method", "coord",
           "rows", "step/s", "steps", "us/step", "planar-3r", "newton", "factor", "set-up/ms",
           "drift");
  }
  for (int k = 0; k < a->file_count && !code; k++) {
    code = time_model(bench, a->files[k], NULL, NULL);
  }
  code = a->file_count > 0 ? code : bench_examples(bench);
  if (bench->json) {
    json_close(bench->json, ']');
  }
  return code;
}

static int run(int argc, char** argv) {
  Arguments a;
  const char* list = NULL;
  int code = study_take_option(&argc, argv, "--methods", &list);
  code = code ? code : read_arguments(argc, argv, "fpsj", &a);
  if (code) {
    return code;
  }
  if (a.file_count == 0 && (a.override_count > 0 || a.setting_count > 0)) {
    return complain(EXIT_USAGE, "parameters and options of a run are for models that are named");
  }
  Json writer = {stdout, 0, true};
  Bench bench = {.json = a.json ? &writer : NULL, .arguments = &a};
  bench.method_count = study_methods((char*)list, bench.methods);
  if (bench.method_count < 0) {
    return EXIT_USAGE;
  }
  code = bench_models(&bench);
  code = code || a.file_count > 0 ? code : bench_lanes(bench.json);
  if (bench.json && json_begun()) {
    json_status(bench.json, code);
    json_close(bench.json, '}');
  }
  return code;
}

const Command command_bench = {
    .name = "bench",
    .line = "time every example, or models by any method, and the expression tapes",
    .run = run,
    .usage = "[MODEL]... [--methods a,b,c] [-p NAME=VALUE] [--json]",
    .about =
        "Times every example, or every MODEL, with every method that runs it: set-up (read, "
        "derive, analyse), steps, microseconds per step, the same in steps of planar-3r by rk4 "
        "(timed in the same run, since machines differ), Newton iterations and factorisations "
        "per step, and the energy drift of these steps, so that speed is never seen without "
        "accuracy. Without MODEL also chains of growing length, and the cost of one operation "
        "and lane of the expression tapes for 1 to 1024 lanes. With a MODEL the options of a run "
        "hold, too: --native on times compiled equations.",
    .options = options,
    .settings = true,
    .place = PLACE_MODEL};
