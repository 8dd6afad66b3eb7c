// SPDX-License-Identifier: Apache-2.0
// Runs with what they evaluate compiled: the same bits, whenever the compiler is ready; and what is
// loaded from the folder of compiled texts, and what is not.
#define _DEFAULT_SOURCE  // mkdtemp
#include <dirent.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/module.h"
#include "run/recorded.h"
#include "step/forms.h"
#include "step/ga.h"
#include "step/motion.h"
#include "system/compiled.h"
#include "system/eval_again.h"
#include "system/kernels.h"
#include "system/system.h"

static char cache[] = "/tmp/pawl-native-XXXXXX";
static char folder[64];  // in `cache`

static void empty_folder(void) {
  DIR* list = opendir(folder);
  for (struct dirent* entry = list ? readdir(list) : NULL; entry; entry = readdir(list)) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (entry->d_name[0] != '.') {
      unlink(path);
    }
  }
  if (list) {
    closedir(list);
  }
}

// The one file with this ending; its path, and "" when there is none.
static int find_file(const char* ending, char* path, size_t size) {
  DIR* list = opendir(folder);
  int count = 0;
  path[0] = '\0';
  for (struct dirent* entry = list ? readdir(list) : NULL; entry; entry = readdir(list)) {
    size_t length = strlen(entry->d_name), end = strlen(ending);
    if (length > end && strcmp(entry->d_name + length - end, ending) == 0) {
      snprintf(path, size, "%s/%s", folder, entry->d_name);
      count++;
    }
  }
  if (list) {
    closedir(list);
  }
  return count;
}

static int set_up(void** unused) {
  (void)unused;
  if (!mkdtemp(cache)) {
    return -1;
  }
  snprintf(folder, sizeof folder, "%s/pawl", cache);
  unsetenv("PAWL_NATIVE");
  return setenv("XDG_CACHE_HOME", cache, 1);
}

static int tear_down(void** unused) {
  (void)unused;
  empty_folder();
  rmdir(folder);
  return rmdir(cache);
}

// ---- bits --------------------------------------------------------------------------------------
// A hash of all samples of a run of some steps.
static unsigned long long run_hash(const char* name, const char* method, const char* native) {
  Run run = run_file(name, NULL, NULL);
  PawlSimulateDef def = pawl_model_simulate(run.model);
  def.method = method ? method : def.method;
  def.native = native;
  def.until = fmin(def.until, 400 * def.step);
  run.def.simulate = def;
  run.def.keep_samples = true;
  run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
  run_need(&run, pawl_sim_run(run.sim, NULL, NULL, &run.err));
  const PawlRecorder* r = pawl_sim_recorder(run.sim);
  unsigned long long hash = 14695981039346656037u;
  for (int k = 0; k < pawl_recorder_sample_count(r); k++) {
    const unsigned char* bytes = (const unsigned char*)pawl_recorder_sample(r, k);
    for (size_t i = 0; i < (size_t)pawl_recorder_column_count(r) * sizeof(double); i++) {
      hash = (hash ^ bytes[i]) * 1099511628211u;
    }
  }
  run_end(&run);
  return hash;
}

static void same_bits(const char* name, const char* method) {
  unsigned long long off = run_hash(name, method, "off"), on = run_hash(name, method, "on");
  if (off != on) {
    print_error("%s by %s: other bits\n", name, method ? method : "its own method");
  }
  assert_true(off == on);
}

// Regions and gates, locks, contacts, tables, states, rotations, lanes, kinks.
static void test_bits(void** unused) {
  (void)unused;
  static const char* const cases[][2] = {
      {"planar-3r", "rk4"},          {"planar-3r", "dopri"},
      {"planar-3r-lock", NULL},      {"kinked-track", "nsga-pvv"},
      {"pothole-wheel", "nsga-pvv"}, {"bouncing-pendulum", "nsga-pva"},
      {"chain", "ga-pva"},           {"quarter-car", NULL},
      {"two-mass-control", NULL},    {"braiding-machine", "event-driven"},
      {"elastic-bar", "nsga-pva"},   {"heavy-top", NULL},
      {"stick-slip", "rk4"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    same_bits(cases[k][0], cases[k][1]);
  }
}

// Functions arrive between two steps of a run that is under way.
static void test_beside(void** unused) {
  (void)unused;
  Run run[2] = {run_file("planar-3r", NULL, NULL), run_file("planar-3r", NULL, NULL)};
  for (int k = 0; k < 2; k++) {
    run[k].def.simulate = pawl_model_simulate(run[k].model);
    run[k].def.simulate.native = "off";
    run[k].def.simulate.step = 1e-9;
    run[k].def.keep_samples = false;
    run_need(&run[k], pawl_sim_create(run[k].system, &run[k].def, &run[k].sim, &run[k].err));
    run_need(&run[k], pawl_sim_step(run[k].sim, 10, &run[k].err));
  }
  const atomic_int* generation = pawl_compiled_generation(run[1].system->compiled);
  run_need(&run[1], pawl_system_compile(run[1].system, false, &run[1].err));
  long long steps = 0;
  for (; atomic_load(generation) == 0 && steps < 50000000; steps += 1000) {
    run_need(&run[1], pawl_sim_step(run[1].sim, 1000, &run[1].err));
  }
  assert_int_equal(atomic_load(generation), 1);
  run_need(&run[1], pawl_sim_step(run[1].sim, 1000, &run[1].err));
  run_need(&run[0], pawl_sim_step(run[0].sim, steps + 1000, &run[0].err));
  const PawlState *a = pawl_sim_state(run[0].sim), *b = pawl_sim_state(run[1].sim);
  assert_memory_equal(a->q, b->q, 3 * sizeof *a->q);
  assert_memory_equal(a->v, b->v, 3 * sizeof *a->v);
  run_end(&run[0]);
  run_end(&run[1]);
}

// ---- kernels -----------------------------------------------------------------------------------
enum { MOST = 9, STEPS = 20 };

typedef struct Path {  // and room for a step of it
  double t, q[MOST], v[MOST], a[MOST], of_q[MOST], of_v[MOST], of_a[MOST], sum_q[MOST], sum_v[MOST];
} Path;

// One term of n coordinates, so that there is one program.
static PawlSystem* coupled(int n, PawlModel** model) {
  char text[2000];
  int at = snprintf(text, sizeof text, "model: coupled\ncoordinates:\n");
  for (int k = 1; k <= n; k++) {
    at += snprintf(text + at, sizeof text - (size_t)at, "  x%d: 0.%d\n", k, k);
  }
  at += snprintf(text + at, sizeof text - (size_t)at, "kinetic: 1/2*(1 + x1^2)*(0");
  for (int k = 1; k <= n; k++) {
    at += snprintf(text + at, sizeof text - (size_t)at, " + %d*x%d'^2", k, k);
  }
  at += snprintf(text + at, sizeof text - (size_t)at, ")\npotential: cos(0.3");
  for (int k = 1; k <= n; k++) {
    at += snprintf(text + at, sizeof text - (size_t)at, " + %d.7*x%d", k, k);
  }
  snprintf(text + at, sizeof text - (size_t)at, ")*exp(x%d)\n", n);
  PawlSystem* system = NULL;
  assert_int_equal(pawl_model_parse(text, strlen(text), "coupled", 0, NULL, model, NULL), PAWL_OK);
  assert_int_equal(pawl_system_create(*model, &system, NULL), PAWL_OK);
  return system;
}

// In the place of a linear system of table[0] unknowns: x / (1 + S of its first entry).
static int factor(double* values, const double* table, const double* S, const double* B,
                  const double* J) {
  (void)table;
  (void)B;
  (void)J;
  values[0] = 1.0 + S[0];
  return 1;
}
static void solve(const double* values, const double* table, double* x, double* y) {
  (void)y;
  for (int k = 0; k < (int)table[0]; k++) {
    x[k] /= values[0];
  }
}

typedef struct Equations {
  PawlKernelsPoint at;  // first
  const PawlEval* eval;
  const PawlPoint* point;
  const PawlSources* from;
} Equations;

static double evaluate(const PawlKernelsPoint* at) {
  const Equations* e = (const Equations*)(const void*)at;
  return pawl_eval_again(e->eval, e->point, e->from);
}

typedef enum Kernel { GENERAL, SIZED, COMPILED } Kernel;

static int take(Kernel kernel, volatile const int* size, const Equations* e,
                const PawlKernelsRk4* step) {
  int n = *size, done = 0;  // no constant
  if (kernel == COMPILED) {
    return e->eval->step(&e->at, step);
  }
  if (kernel == GENERAL) {
    return pawl_kernels_rk4(n, 0, &e->at, evaluate, step);
  }
#define TAKE(n) done = pawl_kernels_rk4(n, 0, &e->at, evaluate, step)
  PAWL_SIZED(n, TAKE)
#undef TAKE
  return done;
}

static void move(Kernel kernel, const PawlSystem* system, PawlEval* eval, Path* m) {
  int n = pawl_system_sizes(system).v;
  double values[1], table[1] = {n};
  *m = (Path){0};
  pawl_system_start(system, m->q, m->v);
  PawlPoint point = {.q = m->of_q, .v = m->of_v};
  PawlSources from = pawl_program_sources(system, &point);
  assert_true(pawl_eval_settle(eval, NULL));
  const PawlValues* of = pawl_eval_values(eval);
  const PawlProgram* p = eval->programs;
  Equations e = {
      .at = {.t = &point.t,
             .M = of->M,
             .f = of->f,
             .G = of->G,
             .gamma = of->gamma,
             .registers = p->registers,
             .from = from.leaf,
             .to = p->to,
             .kkt = {.factor = factor, .solve = solve, .values = values, .table = table}},
      .eval = eval,
      .point = &point,
      .from = &from};
  for (int k = 0; k < STEPS; k++) {
    PawlKernelsRk4 step = {.t = 0.01 * k,
                           .h = 0.01,
                           .q_n = m->q,
                           .v_n = m->v,
                           .a_n = m->a,
                           .q = m->of_q,
                           .v = m->of_v,
                           .a = m->of_a,
                           .sum_q = m->sum_q,
                           .sum_v = m->sum_v};
    assert_int_equal(take(kernel, &n, &e, &step), 1);
  }
}

// The same source for any size, for a size that is a constant, and in a module with the equations.
static void test_kernels(void** unused) {
  (void)unused;
  static const int sizes[] = {1, 3, PAWL_SIZED_LARGEST, MOST};
  for (int k = 0; k < 4; k++) {
    int n = sizes[k];
    PawlModel* model;
    PawlSystem* system = coupled(n, &model);
    PawlEval* eval;
    Path general, sized, compiled;
    unsigned mask = PAWL_MASS | PAWL_FORCE | PAWL_GRADIENT | PAWL_BIAS | PAWL_STAGES;
    assert_int_equal(pawl_eval_create(system, mask, &eval, NULL), PAWL_OK);
    move(GENERAL, system, eval, &general);
    move(SIZED, system, eval, &sized);
    assert_int_equal(pawl_system_compile(system, true, NULL), PAWL_OK);
    move(COMPILED, system, eval, &compiled);
    assert_true(general.v[n - 1] != 0.0);
    assert_memory_equal(&sized, &general, sizeof general);
    assert_memory_equal(&compiled, &general, sizeof general);
    pawl_eval_destroy(eval);
    pawl_system_destroy(system);
    pawl_model_destroy(model);
  }
}

// Three masses, two of them on rods: more coordinates than the library has sizes for.
static const char THREE[] =
    "model: three\ncoordinates: {x1: {start: 1}, y1: {}, x2: {start: 2}, y2: {}, x3: {start: 3},\n"
    "  y3: {}}\nmass: {x1: 1, y1: 1, x2: 2, y2: 2, x3: 1, y3: 1}\n"
    "potential: 9.81*(y1 + 2*y2 + y3) + 20*((x3 - x2)^2 + (y3 - y2)^2)\n"
    "constraints: {a: x1^2 + y1^2 = 1, b: (x2 - x1)^2 + (y2 - y1)^2 = 1}\nsimulate: {until: 1}\n";

static void same_numbers(const Motion* a, const Motion* b) {
  const PawlState *x = a->state, *y = b->state;
  assert_memory_equal(x->q, y->q, (size_t)a->n.q * sizeof(double));
  assert_memory_equal(x->v, y->v, (size_t)a->n.v * sizeof(double));
  assert_memory_equal(x->a, y->a, (size_t)a->n.v * sizeof(double));
  assert_memory_equal(x->lambda, y->lambda, (size_t)a->n.rows * sizeof(double));
  assert_memory_equal(x->memory, y->memory, (size_t)x->memory_count * sizeof(double));
}

// kernels_ga.h: the library compiles it for any shape with few sizes, a module for that of the
// model. The same bits and counts, through impacts, switches and a step of another length.
static void check_steps(const char* model, const char* method, double h, int steps) {
  Motion of[2];
  for (int k = 0; k < 2; k++) {
    of[k] = model ? motion_file(model, NULL) : motion_text(THREE);
    motion_start(&of[k], method);
  }
  const PawlGa* ga = of[1].stepper->data;
  assert_non_null(ga->small);
  assert_int_equal(pawl_system_compile(of[1].system, true, NULL), PAWL_OK);
  for (int k = 0; k < steps; k++) {
    for (int i = 0; i < 2; i++) {
      motion_step(&of[i], k == steps / 2 ? 0.5 * h : h);
    }
    same_numbers(&of[0], &of[1]);
  }
  assert_true(ga->residual_eval->programs->ga.guess != NULL);
  assert_true(((const PawlGa*)of[0].stepper->data)->residual_eval->programs->ga.guess == NULL);
  PawlStepperInfo a = pawl_stepper_info(of[0].stepper), b = pawl_stepper_info(of[1].stepper);
  assert_int_equal(a.evaluations, b.evaluations);
  assert_int_equal(a.factorizations, b.factorizations);
  motion_end(&of[0]);
  motion_end(&of[1]);
}

static void test_steps(void** unused) {
  (void)unused;
  check_steps(NULL, "nsga-pva", 1e-3, 200);
  check_steps("pendulum", "ga-pva", 1e-3, 200);
  check_steps("four-bar", "nsga-pva", 1e-3, 200);
  check_steps("pothole-wheel", "nsga-pva", 2e-3, 1000);
  check_steps("bouncing-pendulum", "nsga-pva", 1e-3, 1500);
  check_steps("kinked-track", "nsga-pvv", 4e-3, 1500);
  check_steps("bouncing-ball", "nsga-pvv", 1e-3, 800);
}

// Locks and regions switch: what a run meets is compiled now and then, each phase and each set of
// rows by itself, and the steps that follow have the same bits, in phases that are compiled and in
// others.
static void check_phases(const char* model, const char* method, int steps, int least) {
  Motion of[2];
  int compiled = 0;
  for (int k = 0; k < 2; k++) {
    of[k] = motion_file(model, NULL);
    motion_start(&of[k], method);
  }
  const PawlEval* eval = ((const PawlForms*)of[1].stepper->data)->eval;  // the first of rk4
  for (int k = 0; k < steps; k++) {
    if (k == steps / 3 || k == 2 * (steps / 3)) {
      assert_int_equal(pawl_system_compile(of[1].system, true, NULL), PAWL_OK);
      assert_false(pawl_compiled_is_behind(of[1].system));
    }
    for (int i = 0; i < 2; i++) {
      motion_step(&of[i], of[i].stepper->def.step);
    }
    same_numbers(&of[0], &of[1]);
    compiled += eval->step != NULL;
  }
  int phases = 0;
  while (phases < PAWL_PROGRAM_PHASES && eval->programs->phases->whole[phases]) {
    phases++;
  }
  assert_true(compiled > steps / 4 && phases >= least);
  motion_end(&of[0]);
  motion_end(&of[1]);
}

static void test_phases(void** unused) {
  (void)unused;
  check_phases("planar-3r-lock", "rk4", 16000, 2);
  check_phases("pothole-wheel", "event-driven", 2800, 3);
}

// A system that goes while its text is being compiled takes the compiler with it.
static void test_given_up(void** unused) {
  (void)unused;
  char path[400];
  Run run = run_file("robot-6r-brake", NULL, NULL);
  empty_folder();
  run.def.simulate = pawl_model_simulate(run.model);
  run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
  run_need(&run, pawl_system_compile(run.system, false, &run.err));
  run_end(&run);
  assert_int_equal(find_file(".so", path, sizeof path), 0);
}

// ---- what is loaded ----------------------------------------------------------------------------
static PawlStatus compile_pendulum(PawlError* err) {
  Run run = run_file("pendulum", NULL, NULL);
  run.def.simulate = pawl_model_simulate(run.model);
  run.def.simulate.native = "on";
  PawlStatus status = pawl_sim_create(run.system, &run.def, &run.sim, err);
  run_end(&run);
  return status;
}

static struct stat compiled_file(void) {
  char path[400];
  struct stat about;
  PawlError err = {0};
  assert_int_equal(compile_pendulum(&err), PAWL_OK);
  assert_int_equal(find_file(".so", path, sizeof path), 1);
  assert_int_equal(stat(path, &about), 0);
  return about;
}

// The same text is taken from the folder; not when others may have written it, or when it is not
// that text.
static void test_kept(void** unused) {
  (void)unused;
  char code[400], source[400];
  empty_folder();
  struct stat first = compiled_file(), again = compiled_file();
  assert_true(first.st_ino == again.st_ino && first.st_mtime == again.st_mtime);
  find_file(".so", code, sizeof code);
  assert_int_equal(chmod(code, 0722), 0);
  struct stat other = compiled_file();
  assert_int_equal(other.st_mode & 0777, 0700);
  find_file(".c", source, sizeof source);
  FILE* file = fopen(source, "a");
  assert_non_null(file);
  fputs("int other;\n", file);
  assert_int_equal(fclose(file), 0);
  struct stat last = compiled_file();
  assert_true(last.st_ino != other.st_ino);
  assert_int_equal(find_file(".c", source, sizeof source), 1);
}

static void test_folder_of_others(void** unused) {
  (void)unused;
  PawlError err = {0};
  assert_int_equal(chmod(folder, 0777), 0);
  assert_int_equal(compile_pendulum(&err), PAWL_ERROR_FILE);
  assert_non_null(strstr(err.message, "others may write to the folder"));
  assert_int_equal(chmod(folder, 0700), 0);
  char other[80];  // nor is a link followed, wherever it leads
  snprintf(other, sizeof other, "%s/other", cache);
  assert_int_equal(rename(folder, other), 0);
  assert_int_equal(symlink(other, folder), 0);
  assert_int_equal(compile_pendulum(&err), PAWL_ERROR_FILE);
  assert_non_null(strstr(err.message, "cannot make the folder"));
  assert_int_equal(unlink(folder), 0);
  assert_int_equal(rename(other, folder), 0);
}

static void test_no_compiler(void** unused) {
  (void)unused;
  PawlError err = {0};
  const char* path = getenv("PATH");
  char* before = strdup(path ? path : "");
  assert_non_null(before);
  setenv("PATH", "/nowhere:relative", 1);
  assert_int_equal(compile_pendulum(&err), PAWL_ERROR_FILE);
  assert_non_null(strstr(err.message, "there is no C compiler"));
  assert_true(run_hash("pendulum", "rk4", "auto") != 0);
  setenv("PATH", before, 1);
  free(before);
}

// The loader must not take a module for another one that had its place before.
static void test_told_apart(void** unused) {
  (void)unused;
  static const char* const texts[] = {"int number(void) { return 1; }\n",
                                      "int number(void) { return 2; }\n"};
  static const int order[] = {0, 0, 1};
  PawlModule* of[3];
  for (int k = 0; k < 3; k++) {
    const char* text = texts[order[k]];
    assert_int_equal(pawl_module_create(text, strlen(text), NULL, &of[k], NULL), PAWL_OK);
    void* symbol = pawl_module_find(of[k], "number");
    int (*number)(void);
    assert_non_null(symbol);
    memcpy(&number, &symbol, sizeof number);
    assert_int_equal(number(), 1 + order[k]);
    if (k == 1) {
      pawl_module_destroy(of[1]);
    }
  }
  pawl_module_destroy(of[0]);
  pawl_module_destroy(of[2]);
}

// Programs that begin at the same time with nothing compiled leave one file of each kind.
static void test_at_once(void** unused) {
  (void)unused;
  enum { PROGRAMS = 4 };
  static const char text[] = "int number(void) { return 3; }\n";
  char path[400];
  pid_t child[PROGRAMS];
  empty_folder();
  for (int k = 0; k < PROGRAMS; k++) {
    child[k] = fork();
    if (child[k] == 0) {
      PawlModule* module;
      _exit(pawl_module_create(text, sizeof text - 1, NULL, &module, NULL) != PAWL_OK);
    }
  }
  for (int k = 0; k < PROGRAMS; k++) {
    int status = -1;
    assert_int_equal(waitpid(child[k], &status, 0), child[k]);
    assert_int_equal(status, 0);
  }
  assert_int_equal(find_file("", path, sizeof path), 4);  // with . and ..
  assert_int_equal(find_file(".c", path, sizeof path), 1);
  assert_int_equal(find_file(".so", path, sizeof path), 1);
}

// ---- compilers ---------------------------------------------------------------------------------
typedef struct Place {
  char *before, folder[64], file[80];
} Place;

// A program of that name comes first.
static Place put_compiler(const char* script) {
  Place path = {.folder = "/tmp/pawl-cc-XXXXXX"};
  char all[4096];
  path.before = strdup(getenv("PATH"));
  assert_non_null(path.before);
  assert_non_null(mkdtemp(path.folder));
  snprintf(path.file, sizeof path.file, "%s/cc", path.folder);
  FILE* file = fopen(path.file, "w");
  assert_non_null(file);
  fputs(script, file);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(chmod(path.file, 0700), 0);
  snprintf(all, sizeof all, "%s:%s", path.folder, path.before);
  setenv("PATH", all, 1);
  return path;
}

static void take_compiler_away(Place* path) {
  setenv("PATH", path->before, 1);
  unlink(path->file);
  rmdir(path->folder);
  free(path->before);
}

static void test_bad_compilers(void** unused) {
  (void)unused;
  static const char* const cases[][2] = {
      {"#!/bin/sh\necho 'no licence' >&2\nexit 1\n", ": no licence"},
      {"#!/bin/sh\nkill -9 $$\n", "did not compile"},
      {"#!/bin/sh\nexit 0\n", "cannot load"}};  // and has made nothing
  for (int k = 0; k < 3; k++) {
    PawlError err = {0};
    Place path = put_compiler(cases[k][0]);
    assert_int_equal(compile_pendulum(&err), PAWL_ERROR_FILE);
    assert_non_null(strstr(err.message, cases[k][1]));
    assert_true(run_hash("pendulum", "rk4", "auto") != 0);
    take_compiler_away(&path);
  }
}

// Memory that was short once, while the text was printed, is no reason not to compile it later.
static void test_memory(void** unused) {
  (void)unused;
  Run run = run_file("planar-3r-lock", NULL, NULL);
  run.def.simulate = pawl_model_simulate(run.model);
  run.def.simulate.native = "on";
  PawlStatus status = PAWL_ERROR_MEMORY;
  for (int n = 1; status != PAWL_OK && n < 5000; n += n < 300 ? 37 : 1) {
    pawl_alloc_fail_at(n);
    status = pawl_sim_create(run.system, &run.def, &run.sim, &run.err);
    pawl_alloc_fail_at(0);
    assert_true(status == PAWL_OK || status == PAWL_ERROR_MEMORY);
  }
  assert_int_equal(status, PAWL_OK);
  assert_true(atomic_load(pawl_compiled_generation(run.system->compiled)) > 0);
  run_end(&run);
}

// A run that is told to stop does not wait for a compiler that never ends.
static void test_stopped(void** unused) {
  (void)unused;
  const int stop = 1;
  time_t begin = time(NULL);
  Place path = put_compiler("#!/bin/sh\nexec sleep 60\n");
  Run run = run_file("pendulum", NULL, NULL);
  run.def.simulate = pawl_model_simulate(run.model);
  run.def.simulate.native = "on";
  run.def.stop = &stop;
  run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
  assert_int_equal(pawl_sim_run(run.sim, NULL, NULL, &run.err), PAWL_STOPPED);
  run_end(&run);
  take_compiler_away(&path);
  assert_true(time(NULL) - begin < 30);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bits),        cmocka_unit_test(test_beside),
      cmocka_unit_test(test_kernels),     cmocka_unit_test(test_steps),
      cmocka_unit_test(test_phases),      cmocka_unit_test(test_given_up),
      cmocka_unit_test(test_kept),        cmocka_unit_test(test_folder_of_others),
      cmocka_unit_test(test_no_compiler), cmocka_unit_test(test_told_apart),
      cmocka_unit_test(test_at_once),     cmocka_unit_test(test_bad_compilers),
      cmocka_unit_test(test_memory),      cmocka_unit_test(test_stopped)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
