// SPDX-License-Identifier: Apache-2.0
// What contacts cost: microseconds of a step and contact, and memory, for columns of N balls that
// rest on each other, for N balls at rest each by itself, for columns of N discs with friction, for
// pyramids of discs with N contacts, neighbours apart or touching, and for N balls high above the
// ground. And for pyramids whose rows fall onto each other, and come to rest or fall apart, and
// columns that fall and land: what the whole way costs, and how well laws are kept. Prints the
// tables of docs/theory/nsga.md, "Many contacts". Uses the public headers alone, and the text of a
// model of the tests.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "../tests/step/disc_bin.h"
#include "pawl/pawl.h"

#define BALLS(start, contacts)                             \
  "model: balls\n"                                         \
  "parameters: {N: 10, m: 1, g: 9.81, r: 0.1, space: 0}\n" \
  "coordinates: {'y[i=1..N]': {start: " start              \
  "}}\n"                                                   \
  "mass: {'y[i=1..N]': m}\n"                               \
  "potential: {for i=1..N: 'm*g*y[i]'}\n"                  \
  "contacts:\n" contacts

#define PYRAMID(distance, sides)                                                                \
  ("model: pyramid\n"                                                                           \
   "parameters: {B: 3, r: 0.1, mu: 0.8, drop: 0, s: " distance                                  \
   ", d: 'sqrt(4*r^2 - s^2/4)'}\n"                                                              \
   "coordinates:\n"                                                                             \
   "  x[k=1..B,i=1..B-k+1]: {start: s*(i + (k-1)/2)}\n"                                         \
   "  y[k=1..B,i=1..B-k+1]: {start: r + d*(k-1) + drop*k}\n"                                    \
   "  p[k=1..B,i=1..B-k+1]:\n"                                                                  \
   "define:\n"                                                                                  \
   "  u[k=2..B,i=1..B-k+1,j=0..1]: x[k,i] - x[k-1,i+j]\n"                                       \
   "  v[k=2..B,i=1..B-k+1,j=0..1]: y[k,i] - y[k-1,i+j]\n"                                       \
   "  m[k=1..B-1,i=1..B-k]: x[k,i+1] - x[k,i]\n"                                                \
   "  n[k=1..B-1,i=1..B-k]: y[k,i+1] - y[k,i]\n"                                                \
   "mass: {'x[k=1..B,i=1..B-k+1]': 1, 'y[k=1..B,i=1..B-k+1]': 1,\n"                             \
   "  'p[k=1..B,i=1..B-k+1]': r^2/2}\n"                                                         \
   "potential: {for k=1..B: {for i=1..B-k+1: '9.81*y[k,i]'}}\n"                                 \
   "contacts:\n"                                                                                \
   "  ground[i=1..B]: {gap: 'y[1,i] - r', friction: mu, slip: \"x[1,i]' + r*p[1,i]'\"}\n"       \
   "  pair[k=2..B,i=1..B-k+1,j=0..1]: {gap: 'hypot(u[k,i,j], v[k,i,j]) - 2*r', friction: mu,\n" \
   "    slip: \"(v[k,i,j]*u[k,i,j]' - u[k,i,j]*v[k,i,j]')/(2*r) + r*(p[k,i]' + "                \
   "p[k-1,i+j]')\"}\n" sides)

static const struct {
  const char *name, *text;
  int of_base;  // contacts of a pyramid on B discs: B^2, and half as many more; 0: N itself
} cases[] = {
    {"column",
     BALLS("(2*i - 1)*r",
           "  ground: {gap: 'y[1] - r'}\n"
           "  pair[i=2..N]: {gap: 'y[i] - y[i-1] - 2*r'}\n"),
     0},
    {"at rest, apart", BALLS("r", "  ground[i=1..N]: {gap: 'y[i] - r'}\n"), 0},
    {"discs that rub",
     ("model: discs\n"
      "parameters: {N: 10, r: 0.1, mu: 0.5}\n"
      "coordinates: {'x[i=1..N]': , 'y[i=1..N]': {start: (2*i - 1)*r}, 'p[i=1..N]': }\n"
      "mass: {'x[i=1..N]': 1, 'y[i=1..N]': 1, 'p[i=1..N]': r^2/2}\n"
      "potential: {for i=1..N: '9.81*y[i]'}\n"
      "contacts:\n"
      "  ground: {gap: 'y[1] - r', friction: mu, slip: \"x[1]' + r*p[1]'\"}\n"
      "  pair[i=2..N]: {gap: 'y[i] - y[i-1] - 2*r', friction: mu, "
      "slip: \"x[i]' - x[i-1]' + r*(p[i]' + p[i-1]')\"}\n"),
     0},
    {"pyramid", PYRAMID("2.1*r", ""), 2},
    {"tight pyramid",
     PYRAMID("2*r",
             "  side[k=1..B-1,i=1..B-k]: {gap: 'hypot(m[k,i], n[k,i]) - 2*r', friction: mu,\n"
             "    slip: \"(n[k,i]*m[k,i]' - m[k,i]*n[k,i]')/(2*r) + r*(p[k,i]' + p[k,i+1]')\"}\n"),
     3},
    {"open", BALLS("1000", "  ground[i=1..N]: {gap: 'y[i] - r'}\n"), 0},
};

enum { PYRAMID_APART = 3, PYRAMID_THAT_TOUCHES = 4 };

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop(const PawlError* err) {
  fprintf(stderr, "contacts: %s\n", err->message);
  exit(1);
}

// Seconds of one step, after a few to begin with.
static double time_of_step(const PawlSystem* system, const PawlSimulateDef* def, PawlError* err) {
  PawlStepper* stepper = NULL;
  PawlState* state = NULL;
  double best = 1e300;
  if (pawl_stepper_create(system, def, &stepper, err) != PAWL_OK ||
      pawl_state_create(stepper, &state, err) != PAWL_OK ||
      pawl_stepper_start(stepper, state, false, err) != PAWL_OK) {
    stop(err);
  }
  for (int k = 0; k < 12; k++) {
    double begin = seconds();
    for (int i = 0; i < 5; i++) {
      if (pawl_stepper_step(stepper, state, def->step, err) != PAWL_OK) {
        stop(err);
      }
    }
    double took = (seconds() - begin) / 5;
    best = k > 1 && took < best ? took : best;
  }
  pawl_state_destroy(state);
  pawl_stepper_destroy(stepper);
  return best;
}

static void measure(int which, const char* method, int N) {
  PawlError err = {0};
  PawlModel* model = NULL;
  PawlSystem* system = NULL;
  char set[32];
  const char* override = set;
  int base = 0;
  while (cases[which].of_base && cases[which].of_base * (base + 1) * (base + 1) <= 2 * N) {
    base++;
  }
  snprintf(set, sizeof set, base ? "B=%d" : "N=%d", base ? base : N);
  N = base ? base * base + (cases[which].of_base - 2) * base * (base - 1) / 2 : N;
  if (pawl_model_parse(cases[which].text, strlen(cases[which].text), "balls", 1, &override, &model,
                       &err) != PAWL_OK ||
      pawl_system_create(model, &system, &err) != PAWL_OK) {
    stop(&err);
  }
  PawlSimulateDef def = pawl_model_simulate(model);
  def.method = method;
  def.step = 1e-3;
  double step = time_of_step(system, &def, &err);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("| %-14s | %-11s | %6d | %10.3f | %8.3f | %8.1f |\n", cases[which].name, method, N,
         1e3 * step, 1e6 * step / N, (double)usage.ru_maxrss / 1024);
  fflush(stdout);
  pawl_system_destroy(system);
  pawl_model_destroy(model);
}

// ---- motion -------------------------------------------------------------------------------------
enum { WAY = 200 };  // steps

typedef struct Kept {  // over the way
  double gap, gained;  // the least gap [m]; most energy that a step has added [J]
} Kept;

// A step, in halves where it does not converge, as a run takes it. False: it is refused.
static bool advance(PawlStepper* stepper, PawlState* state, double h, int halvings,
                    PawlError* err) {
  PawlStatus status = pawl_stepper_step(stepper, state, h, err);
  if (status == PAWL_RETRY && halvings > 0) {
    return advance(stepper, state, h / 2, halvings - 1, err) &&
           advance(stepper, state, h / 2, halvings - 1, err);
  }
  return status == PAWL_OK;
}

static double look(const PawlSystem* system, PawlEval* eval, const PawlState* state, Kept* kept,
                   PawlError* err) {
  PawlPoint point = {.t = state->t, .q = state->q, .v = state->v, .modes = state->modes};
  if (pawl_eval_run(eval, &point, err) != PAWL_OK) {
    stop(err);
  }
  const PawlValues* values = pawl_eval_values(eval);
  for (int i = 0; i < pawl_system_sizes(system).rows; i++) {
    bool contact = pawl_system_row_kind(system, i) == PAWL_ROW_CONTACT;
    kept->gap = contact ? fmin(kept->gap, values->g[i]) : kept->gap;
  }
  return values->energy[0] + values->energy[1];
}

typedef struct Way {  // what a motion is made with
  PawlModel* model;
  PawlSystem* system;
  PawlStepper* stepper;
  PawlState* state;
  PawlEval* eval;
} Way;

static Way way_create(const char* text, const char* name, int count, const char* const* settings,
                      const char* method, PawlError* err) {
  Way w = {0};
  if (pawl_model_parse(text, strlen(text), name, count, settings, &w.model, err) != PAWL_OK ||
      pawl_system_create(w.model, &w.system, err) != PAWL_OK) {
    stop(err);
  }
  PawlSimulateDef def = pawl_model_simulate(w.model);
  def.method = method;
  if (pawl_stepper_create(w.system, &def, &w.stepper, err) != PAWL_OK ||
      pawl_state_create(w.stepper, &w.state, err) != PAWL_OK ||
      pawl_stepper_start(w.stepper, w.state, false, err) != PAWL_OK ||
      pawl_eval_create(w.system, PAWL_POSITION | PAWL_ENERGY, &w.eval, err) != PAWL_OK) {
    stop(err);
  }
  return w;
}

static void way_destroy(Way* w) {
  pawl_eval_destroy(w->eval);
  pawl_state_destroy(w->state);
  pawl_stepper_destroy(w->stepper);
  pawl_system_destroy(w->system);
  pawl_model_destroy(w->model);
}

typedef struct Course {           // of a motion
  int steps;                      // that were taken
  double took, longest, fastest;  // [s], all steps and one; [m/s] at the end
  Kept kept;
} Course;

static Course follow(Way* w, int steps, PawlError* err) {
  Course c = {0};
  double energy = look(w->system, w->eval, w->state, &c.kept, err);
  for (int k = 0; k < steps; k++) {
    double begin = seconds(), before = energy;
    if (!advance(w->stepper, w->state, 1e-3, 10, err)) {
      fprintf(stderr, "contacts: %s\n", err->message);
      break;
    }
    c.steps++;
    double took = seconds() - begin;
    c.took += took;
    c.longest = fmax(c.longest, took);
    energy = look(w->system, w->eval, w->state, &c.kept, err);
    c.kept.gained = fmax(c.kept.gained, energy - before);
  }
  for (int j = 0; j < pawl_system_sizes(w->system).v; j++) {
    c.fastest = fmax(c.fastest, fabs(w->state->v[j]));
  }
  return c;
}

// Pyramids of all sizes whose rows fall onto each other: which of them come to rest.
static void land_all(int most) {
  static const char* const methods[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
  static const char* const mu[] = {"mu=0.8", "mu=0.6"};
  static const char* const drop[] = {"drop=0.0002", "drop=0.0005", "drop=0.002"};
  printf("| neighbours | friction | fall [m] | method | rows of discs that come to rest |");
  printf(" others | us a contact |\n| --- | --- | --- | --- | --- | --- | --- |\n");
  for (int k = 0; k < 2 * 2 * 3 * 3; k++) {
    int which = k / 18 + PYRAMID_APART;
    char rest[128] = "", other[128] = "";
    double took = 0.0, work = 0.0;
    for (int base = 5; base * base <= most; base += 3) {
      PawlError err = {0};
      char set[32];
      const char* settings[] = {set, mu[k / 9 % 2], drop[k / 3 % 3]};
      snprintf(set, sizeof set, "B=%d", base);
      Way w = way_create(cases[which].text, "pyramid", 3, settings, methods[k % 3], &err);
      Course c = follow(&w, WAY, &err);
      char* list = c.steps == WAY && c.fastest < 1e-9 ? rest : other;
      snprintf(list + strlen(list), sizeof rest - strlen(list), " %d", base);
      took += c.took;
      work += c.steps * (base * base + (which > PYRAMID_APART) * 0.5 * base * (base - 1));
      way_destroy(&w);
    }
    printf("| %s | %s | %s | %s |%s |%s | %.1f |\n", which > PYRAMID_APART ? "touch" : "apart",
           mu[k / 9 % 2] + 3, drop[k / 3 % 3] + 5, methods[k % 3], rest, other, 1e6 * took / work);
    fflush(stdout);
  }
}

static void move(const char* method, const char* mu, int base) {
  PawlError err = {0};
  char set[32];
  const char* settings[] = {set, mu, "drop=0.0005"};
  snprintf(set, sizeof set, "B=%d", base);
  Way w = way_create(cases[PYRAMID_THAT_TOUCHES].text, "pyramid", 3, settings, method, &err);
  Course c = follow(&w, WAY, &err);
  PawlStepperInfo info = pawl_stepper_info(w.stepper);
  int N = base * base + base * (base - 1) / 2;
  printf("| %-6s | %-11s | %5d | %7.1f | %8.1e | %8.1e | %8.1e | %3lld | %8.1e |\n", mu, method, N,
         1e6 * c.took / (c.steps * (double)N), c.kept.gap, c.kept.gained, info.cones, info.relaxed,
         c.fastest);
  fflush(stdout);
  way_destroy(&w);
}

// Columns of balls that fall by 50 mm, with some space between neighbours, and land.
static void fall_all(int most) {
  static const char text[] = BALLS("0.05 + (2*i - 1)*r + space*i",
                                   "  ground: {gap: 'y[1] - r'}\n"
                                   "  pair[i=2..N]: {gap: 'y[i] - y[i-1] - 2*r'}\n");
  static const char* const spaces[] = {"space=1e-3", "space=0", "space=2e-5"};
  printf(
      "| space [m] | N | us a contact and step | of the longest | least gap | energy gained |\n");
  printf("| --- | --- | --- | --- | --- | --- |\n");
  for (int k = 0; k < 3; k++) {
    for (int N = 300; N <= most; N = N == 300 ? 1000 : N == 1000 ? 3000 : 10000) {
      PawlError err = {0};
      char set[32];
      const char* settings[] = {set, spaces[k]};
      snprintf(set, sizeof set, "N=%d", N);
      Way w = way_create(text, "column", 2, settings, "nsga-pva", &err);
      Course c = follow(&w, WAY, &err);
      printf("| %s | %5d | %6.2f | %6.1f | %8.1e | %8.1e |\n", spaces[k] + 6, N,
             1e6 * c.took / (c.steps * (double)N), 1e6 * c.longest / N, c.kept.gap, c.kept.gained);
      fflush(stdout);
      way_destroy(&w);
      if (N == 10000) {
        break;
      }
    }
  }
}

// Bins of discs, up to `most` contacts, open ones counted.
static void fill_all(int most) {
  static const char* const methods[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
  static const char* const mu[] = {"mu=0.3", "mu=1"};
  printf("| bin | method | N | steps | us a contact | of the longest | least gap | cones |");
  printf(" relaxed |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (int side = 6;
       side * side + 2 * side + 2 * side * (side - 1) + 2 * (side - 1) * (side - 1) <= most;
       side += 6) {
    for (int k = 0; k < 6; k++) {
      PawlError err = {0};
      char columns[32], rows[32];
      const char* settings[] = {columns, rows, mu[k / 3]};
      snprintf(columns, sizeof columns, "C=%d", side);
      snprintf(rows, sizeof rows, "R=%d", side);
      int N = side * side + 2 * side + 2 * side * (side - 1) + 2 * (side - 1) * (side - 1);
      Way w = way_create(DISC_BIN, "bin", 3, settings, methods[k % 3], &err);
      Course c = follow(&w, WAY, &err);
      PawlStepperInfo info = pawl_stepper_info(w.stepper);
      printf("| %-6s | %-11s | %5d | %3d | %7.1f | %7.1f | %8.1e | %8.1e | %3lld |\n", mu[k / 3],
             methods[k % 3], N, c.steps, 1e6 * c.took / (c.steps * (double)N), 1e6 * c.longest / N,
             c.kept.gap, info.cones, info.relaxed);
      fflush(stdout);
      way_destroy(&w);
    }
  }
}

static void move_all(int most) {
  static const char* const methods[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
  static const char* const mu[] = {"mu=0.8", "mu=0.3"};
  printf("| falls | method | N | us a contact | least gap | energy gained | cones | relaxed |");
  printf(" fastest at the end |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (int base = 5; base * base <= most; base *= 2) {
    for (int k = 0; k < 6; k++) {
      move(methods[k % 3], mu[k / 3], base);
    }
  }
}

// contacts [most]: up to so many contacts, 10 000 without. contacts moving [most]: pyramids that
// fall, 100 without. contacts landing [most]: which of these come to rest, 150 without. contacts
// falling [most]: columns that fall, 1000 without. contacts bins [most]: discs that fall into a
// bin, 300 without.
int main(int argc, char** argv) {
  static const char* const methods[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
  if (argc > 1 && strcmp(argv[1], "moving") == 0) {
    move_all(argc > 2 ? atoi(argv[2]) : 100);
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "landing") == 0) {
    land_all(argc > 2 ? atoi(argv[2]) : 150);
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "falling") == 0) {
    fall_all(argc > 2 ? atoi(argv[2]) : 1000);
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "bins") == 0) {
    fill_all(argc > 2 ? atoi(argv[2]) : 300);
    return 0;
  }
  int most = argc > 1 ? atoi(argv[1]) : 10000;
  printf("| case | method | N | ms a step | us a contact | MB at most |\n");
  printf("| --- | --- | --- | --- | --- | --- |\n");
  for (int N = 10; N <= most; N *= 10) {
    for (size_t which = 0; which < sizeof cases / sizeof *cases; which++) {
      for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        measure((int)which, methods[k], N);
      }
    }
  }
  return 0;
}
