// SPDX-License-Identifier: Apache-2.0
// Models printed as C: every example compiles without a warning, and its functions give what an
// evaluation gives, in every mode.
#define _DEFAULT_SOURCE  // mkdtemp, glob
#include <dirent.h>
#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model/model.h"
#include "step/motion.h"
#include "system/system.h"

extern char** environ;

typedef struct Point {
  double t;
  const double *q, *v, *a, *lambda, *u;
  const int* modes;
  const double* held;
} Point;
typedef void Evaluate(const void* parameters, const Point* at, double* out);
typedef void Rates(const Point* at, double* out);
typedef void Start(double* q, double* v);

typedef struct Library {
  void* handle;
  char prefix[128];
} Library;

static void* symbol(const Library* library, const char* name) {
  char full[256];
  snprintf(full, sizeof full, "%s_%s", library->prefix, name);
  void* found = dlsym(library->handle, full);
  if (!found) {
    print_error("%s is not there\n", full);
  }
  assert_non_null(found);
  return found;
}

// ISO C has no conversion from what dlsym gives to a function.
#define FUNCTION(type)                                               \
  static type* type##_of(const Library* library, const char* name) { \
    void* found = symbol(library, name);                             \
    type* function;                                                  \
    memcpy(&function, &found, sizeof function);                      \
    return function;                                                 \
  }
FUNCTION(Evaluate)
FUNCTION(Rates)
FUNCTION(Start)

static void compile(const char* source, const char* object) {
  char* words[] = {(char*)"cc",      (char*)"-std=c11",
                   (char*)"-Wall",   (char*)"-Wextra",
                   (char*)"-Werror", (char*)"-Wshadow",
                   (char*)"-shared", (char*)"-fPIC",
                   (char*)"-O1",     (char*)"-o",
                   (char*)object,    (char*)source,
                   (char*)"-lm",     NULL};
  pid_t child;
  int status = -1;
  assert_int_equal(posix_spawnp(&child, "cc", NULL, NULL, words, environ), 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  if (status != 0) {
    print_error("%s does not compile\n", source);
  }
  assert_int_equal(status, 0);
}

// The name of the functions: that of the model with _ for what C does not take.
static void set_prefix(Library* library, const char* name) {
  size_t k = 0;
  for (; name[k] && k + 1 < sizeof library->prefix; k++) {
    bool letter = (name[k] >= 'a' && name[k] <= 'z') || (name[k] >= '0' && name[k] <= '9');
    library->prefix[k] = letter ? name[k] : '_';
  }
  library->prefix[k] = '\0';
}

static Library build(const PawlModel* model) {
  char folder[] = "/tmp/pawl-source-XXXXXX", source[64], object[64];
  char* text = NULL;
  PawlError err = {0};
  Library library = {0};
  NEED(pawl_model_source(model, &text, &err), &err);
  assert_non_null(mkdtemp(folder));
  snprintf(source, sizeof source, "%s/model.c", folder);
  snprintf(object, sizeof object, "%s/model.so", folder);
  FILE* file = fopen(source, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
  compile(source, object);
  library.handle = dlopen(object, RTLD_NOW | RTLD_LOCAL);
  assert_non_null(library.handle);
  set_prefix(&library, model->name);
  unlink(source);
  unlink(object);
  rmdir(folder);
  pawl_string_free(text);
  return library;
}

static void compare(const char* model, const char* what, int count, const double* ours,
                    const double* theirs) {
  double size = 0.0, off = 0.0;
  for (int k = 0; k < count; k++) {
    size = fmax(size, fabs(theirs[k]));
    off = fmax(off, fabs(ours[k] - theirs[k]));
    if (isnan(ours[k])) {
      off = INFINITY;
    }
  }
  if (!(off <= 1e-11 * size)) {
    print_error("%s: %s differs by %g of %g\n", model, what, off, size);
  }
  assert_true(off <= 1e-11 * size);
}

static void spread(PawlPattern pattern, int columns, const double* values, double* full) {
  memset(full, 0, (size_t)pattern.rows * (size_t)columns * sizeof *full);
  for (int j = 0; j < pattern.cols; j++) {
    for (int k = pattern.start[j]; k < pattern.start[j + 1]; k++) {
      full[pattern.index[k] * columns + j] = values[k];
    }
  }
}

// All functions at one point.
static void check_point(const Motion* m, const Library* library, PawlEval* eval, const Point* at,
                        bool slides) {
  PawlError err = {0};
  PawlPoint point = {at->t, at->q, at->v, at->a, at->lambda, at->modes, at->held};
  NEED(pawl_eval_run(eval, &point, &err), &err);
  const PawlValues* x = pawl_eval_values(eval);
  const char* name = m->model->name;
  char what[64];
  snprintf(what, sizeof what, "parameters");
  const void* p = symbol(library, what);
  int v = m->n.v, rows = m->n.rows;
  size_t room = (size_t)(v + rows + m->n.outputs + 4) * (size_t)(v + 2);
  double* ours = calloc(room, sizeof *ours);
  double* full = calloc(room, sizeof *full);
  assert_true(ours && full);
  const struct {
    const char* name;
    int count;
    const double* theirs;
  } of[] = {{"force", v, x->f},       {"energy", 2, x->energy},
            {"position", rows, x->g}, {"time_gradient", rows, x->g_t},
            {"bias", rows, x->gamma}, {"outputs", slides ? 0 : m->n.outputs, x->outputs}};
  for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
    if (of[k].count > 0) {
      Evaluate_of(library, of[k].name)(p, at, ours);
      compare(name, of[k].name, of[k].count, ours, of[k].theirs);
    }
  }
  Evaluate_of(library, "mass")(p, at, ours);
  spread(pawl_system_pattern_H(m->system), v, x->M, full);
  compare(name, "mass", v * v, ours, full);
  if (rows > 0) {
    Evaluate_of(library, "gradient")(p, at, ours);
    spread(pawl_system_pattern_G(m->system), v, x->G, full);
    compare(name, "gradient", rows * v, ours, full);
  }
  Rates_of(library, "rates")(at, ours);
  pawl_system_rates(m->system, at->q, at->v, full);
  compare(name, "rates", m->n.q - m->n.states, ours, full);
  free(ours);
  free(full);
}

static double noise(unsigned long long* seed) {
  *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(*seed >> 40) / (double)(1 << 24) - 0.5;
}

// Near the start, velocities and modes at random. What a kink of a constraint is held on goes with
// the place, so that places of such models stay where they are.
static void check_points(Motion* m, const Library* library) {
  enum { POINTS = 6, ROOM = 1024 };
  double q[ROOM], v[ROOM], a[ROOM], lambda[ROOM], held[ROOM] = {0};
  PawlEval* eval = NULL;
  unsigned long long seed = 7;
  bool moves = m->system->turn_count == 0;
  NEED(pawl_eval_create(m->system,
                        PAWL_MASS | PAWL_FORCE | PAWL_POSITION | PAWL_GRADIENT |
                            PAWL_TIME_GRADIENT | PAWL_BIAS | PAWL_ENERGY | PAWL_OUTPUTS,
                        &eval, &m->err),
       &m->err);
  int* modes = calloc((size_t)m->n.modes + 1, sizeof *modes);
  assert_non_null(modes);
  for (int k = 0; k < m->n.inputs; k++) {
    held[m->n.rows + k] = pawl_system_input_start(m->system, k);
  }
  for (int point = 0; point < POINTS; point++) {
    bool slides = false;
    pawl_system_start(m->system, q, v);
    for (int k = 0; k < m->n.v; k++) {
      a[k] = noise(&seed);
      v[k] += noise(&seed);
    }
    for (int k = 0; k < m->n.v && moves; k++) {
      lambda[k] = 0.01 * noise(&seed);  // a move
    }
    if (moves) {
      pawl_system_retract(m->system, q, lambda, q);
    }
    for (int k = 0; k < m->n.rows; k++) {
      lambda[k] = noise(&seed);
      int index = m->system->row_constraint[k];
      bool any = index >= 0;  // rows of contacts have none
      const PawlConstraint* c = any ? &m->model->constraints[index] : NULL;
      bool keeps = c && c->triggered && c->on_engage == PAWL_ENGAGE_KEEP && !c->modes[1].rate;
      held[k] = keeps ? noise(&seed) : 0.0;
    }
    for (int c = 0; c < m->model->constraint_count && moves; c++) {
      modes[c] = (int)((noise(&seed) + 0.5) * m->model->constraints[c].mode_count);
      slides = slides || (m->model->constraints[c].triggered && modes[c] >= PAWL_MODE_UP);
    }
    Point at = {0.3 * point, q, v, a, lambda, held + m->n.rows, modes, held};
    if (moves) {
      check_point(m, library, eval, &at, slides);
    } else {  // forces and masses do not know of them
      PawlPoint at_eval = {at.t, q, v, a, lambda, modes, held};
      double f[ROOM];
      NEED(pawl_eval_run(eval, &at_eval, &m->err), &m->err);
      Evaluate_of(library, "force")(symbol(library, "parameters"), &at, f);
      compare(m->model->name, "force", m->n.v, f, pawl_eval_values(eval)->f);
    }
  }
  free(modes);
  pawl_eval_destroy(eval);
}

static void check_start(const Motion* m, const Library* library) {
  double q[1024], v[1024], q2[1024], v2[1024];
  Start_of(library, "start")(q, v);
  pawl_system_start(m->system, q2, v2);
  assert_memory_equal(q, q2, (size_t)(m->n.q - m->n.states) * sizeof *q);
  assert_memory_equal(v, v2, (size_t)m->n.v * sizeof *v);
}

static void test_examples(void** unused) {
  (void)unused;
  DIR* folder = opendir(PAWL_MODELS);
  assert_non_null(folder);
  int count = 0;
  for (struct dirent* entry = readdir(folder); entry; entry = readdir(folder)) {
    char name[300];
    size_t length = strlen(entry->d_name);
    if (length < 6 || strcmp(entry->d_name + length - 5, ".yaml") != 0) {
      continue;
    }
    snprintf(name, sizeof name, "%.*s", (int)(length - 5), entry->d_name);
    bool large = strcmp(name, "chain") == 0 || strcmp(name, "elastic-bar") == 0;
    Motion m = motion_file(name, large ? "N=6" : NULL);
    Library library = build(m.model);
    check_start(&m, &library);
    check_points(&m, &library);
    dlclose(library.handle);
    motion_end(&m);
    count++;
  }
  closedir(folder);
  assert_true(count > 50);
}

// Names that C, or the printed functions, have already; kinks, tables, choices, a state, an input.
static void test_odd_names(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: 3 odd names\n"
      "parameters: {int: 2, M: 3, g: 9.81, q: 0.5, w1: 4}\n"
      "coordinates: {f: {start: 0.3}, \"y[i=1..2]\": {start: 0.1*i}, w2: {start: -0.4}}\n"
      "states: {z: {start: 0.2, rate: \"-z + sin(f)\"}}\n"
      "inputs: {at: {start: 1.5}}\n"
      "tables: {road: {points: [[-1, 0], [0, 1], [1, 0.5], [2, 3]], method: monotone, outside: "
      "extend}}\n"
      "kinetic: int/2*f'^2*(2 + cos(w2)) + M/2*(y[1]'^2 + y[2]'^2) + w1/2*w2'^2\n"
      "potential: g*y[1] + q*abs(w2)^3 + max(f, y[2])^2 + wrap(f, 2)\n"
      "forces: {f: \"if(f' > 0 and w2 < 1, -2*f'/(1 + f^2), road(5*f) + at + z)\", w2: \"hypot(f, "
      "w2)^(-3)*road'(w2 - 3)\"}\n"
      "constraints: {pin: \"y[1] = y[2]^4 + t\"}\n"
      "outputs: {force: \"lambda(pin) + f''\"}\n");
  Library library = build(m.model);
  set_prefix(&library, "model_3 odd names");
  check_start(&m, &library);
  check_points(&m, &library);
  dlclose(library.handle);
  motion_end(&m);
}

// Letters that C does not take, and words of the user that would leave their comment.
static void test_letters_and_lines(void** unused) {
  (void)unused;
  Motion m = motion_text(
      "model: \"lines\\nint main(void); \\\\\"\n"
      "parameters: {ω: {value: 2, unit: \"1/s\\nint other;\"}, ψ_1: 3}\n"
      "coordinates: {φ: {start: 0.3}, φ_1: {start: 0.2}, xψ: {start: 0.1}, u3c6: {start: 0.4}}\n"
      "kinetic: ω*(φ'^2 + φ_1'^2 + xψ'^2 + u3c6'^2)\n"
      "potential: ψ_1*cos(φ)*sin(φ_1 + 2*xψ)*u3c6\n");
  Library library = build(m.model);
  set_prefix(&library, m.model->name);
  check_start(&m, &library);
  check_points(&m, &library);
  dlclose(library.handle);
  motion_end(&m);
}

static void test_refused(void** unused) {
  (void)unused;
  char* text = NULL;
  PawlError err = {0};
  Motion m = motion_file("chain", "N=100");
  assert_int_equal(pawl_model_source(m.model, &text, &err), PAWL_ERROR_USAGE);
  assert_null(text);
  assert_non_null(strstr(err.message, "at most 256"));
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_examples), cmocka_unit_test(test_odd_names),
      cmocka_unit_test(test_letters_and_lines), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
