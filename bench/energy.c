// SPDX-License-Identifier: Apache-2.0
// What time stepping with contacts does to the energy: random bins and columns by each method, with
// the most that a step has added. Prints the table of docs/theory/moreau-jean.md, "Energy". Needs
// nothing but the public headers and the models of tests/step/bins.h.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/step/bins.h"
#include "pawl/pawl.h"

enum { STEPS = 400, HALVINGS = 10 };
static const char* const METHODS[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
static const double H = 1e-3;          // [s]
static const double ROUNDING = 1e-12;  // of the energy of the start: more is a gain

typedef struct Run {
  PawlModel* model;
  PawlSystem* system;
  PawlStepper* stepper;
  PawlState* state;
  PawlEval* eval;
  PawlError err;
} Run;

typedef struct Gains {        // of several runs
  double most, part;          // [J] of a step; the same as a part of the energy of the start
  double gap;                 // the least [m]
  int steps, gained, failed;  // steps; those that gained; runs that came to an end before
} Gains;

static void stop(const PawlError* err) {
  fprintf(stderr, "energy: %s\n", err->message);
  exit(1);
}

static void begin(Run* r, const char* method) {
  PawlSimulateDef def = pawl_model_simulate(r->model);
  def.method = method;
  if (pawl_stepper_create(r->system, &def, &r->stepper, &r->err) != PAWL_OK ||
      pawl_state_create(r->stepper, &r->state, &r->err) != PAWL_OK ||
      pawl_stepper_start(r->stepper, r->state, false, &r->err) != PAWL_OK) {
    stop(&r->err);
  }
}

static bool advance(Run* r, double h, int halvings) {
  PawlStatus status = pawl_stepper_step(r->stepper, r->state, h, &r->err);
  if (status == PAWL_RETRY && halvings > 0) {
    return advance(r, h / 2, halvings - 1) && advance(r, h / 2, halvings - 1);
  }
  return status == PAWL_OK;
}

static double energy(Run* r, Gains* gains) {
  PawlPoint point = {
      .t = r->state->t, .q = r->state->q, .v = r->state->v, .modes = r->state->modes};
  if (pawl_eval_run(r->eval, &point, &r->err) != PAWL_OK) {
    stop(&r->err);
  }
  const PawlValues* values = pawl_eval_values(r->eval);
  for (int i = 0; i < pawl_system_sizes(r->system).rows; i++) {
    bool contact = pawl_system_row_kind(r->system, i) == PAWL_ROW_CONTACT;
    gains->gap = contact ? fmin(gains->gap, values->g[i]) : gains->gap;
  }
  return values->energy[0] + values->energy[1];
}

// A run that comes to an end: why, and how much bodies overlap by then.
static void tell(const Bin* bin, const char* method, const Run* r, double gap) {
  fprintf(stderr, "energy: %s, seed %u, to %g kg, mu %g, e %g, %s: %s; least gap %.2g\n",
          BIN_NAMES[bin->kind], bin->seed, bin->heaviest, bin->mu, bin->e, method, r->err.message,
          gap);
}

static void follow(Run* r, const Bin* bin, const char* method, Gains* all) {
  Gains own = {0}, *gains = &own;
  begin(r, method);
  double before = energy(r, gains), first = before;
  for (int k = 0; k < STEPS; k++) {
    if (!advance(r, H, HALVINGS)) {
      tell(bin, method, r, own.gap);
      gains->failed++;
      break;
    }
    double now = energy(r, gains), gain = now - before;
    gains->steps++;
    gains->gained += gain > ROUNDING * first;
    gains->most = fmax(gains->most, gain);
    gains->part = fmax(gains->part, gain / first);
    before = now;
  }
  all->most = fmax(all->most, own.most);
  all->part = fmax(all->part, own.part);
  all->gap = fmin(all->gap, own.gap);
  all->steps += own.steps;
  all->gained += own.gained;
  all->failed += own.failed;
  pawl_state_destroy(r->state);
  pawl_stepper_destroy(r->stepper);
}

static void measure(Bin bin, const char* only, Gains* gains) {
  static char text[BIN_TEXT];
  Run r = {0};
  bin_text(&bin, text);
  if (pawl_model_parse(text, strlen(text), "bin", 0, NULL, &r.model, &r.err) != PAWL_OK ||
      pawl_system_create(r.model, &r.system, &r.err) != PAWL_OK ||
      pawl_eval_create(r.system, PAWL_POSITION | PAWL_ENERGY, &r.eval, &r.err) != PAWL_OK) {
    stop(&r.err);
  }
  for (int k = 0; k < 3; k++) {
    if (!only || strcmp(only, METHODS[k]) == 0) {
      follow(&r, &bin, METHODS[k], &gains[k]);
    }
  }
  pawl_eval_destroy(r.eval);
  pawl_system_destroy(r.system);
  pawl_model_destroy(r.model);
}

// energy [seeds [method]]: so many bins of each kind, mass, mu and e, 2 without, in a minute; by
// all methods, or by one.
int main(int argc, char** argv) {
  static const double mus[] = {0, 0.3, 1}, es[] = {0, 0.5, 0.9, 1, -1};
  int seeds = argc > 1 ? atoi(argv[1]) : 2;
  const char* only = argc > 2 ? argv[2] : NULL;
  printf("| bodies | kg | friction | method | steps | that gain | most [J] | of the energy |");
  printf(" least gap | ended early |\n");
  printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (int k = 0; k < 4 * BIN_KINDS; k++) {  // kinds, masses, with and without friction
    Gains gains[3] = {{0}};
    double heaviest = k / 2 % 2 ? 1000.0 : 1.0;
    for (int n = 0; n < 15 * seeds; n++) {
      if ((mus[n % 3] > 0.0) == (k % 2 == 1)) {
        measure((Bin){.kind = (BinKind)(k / 4),
                      .seed = (unsigned)(n / 15),
                      .bodies = 6,
                      .heaviest = heaviest,
                      .e = es[n / 3 % 5],
                      .mu = mus[n % 3]},
                only, gains);
      }
    }
    for (int m = 0; m < 3; m++) {
      const Gains* g = &gains[m];
      if (only && strcmp(only, METHODS[m]) != 0) {
        continue;
      }
      printf("| %-7s | %4g | %-4s | %-11s | %6d | %4d | %7.1e | %7.1e | %8.1e | %d |\n",
             BIN_NAMES[k / 4], heaviest, k % 2 ? "with" : "none", METHODS[m], g->steps, g->gained,
             g->most, g->part, g->gap, g->failed);
      fflush(stdout);
    }
  }
  return 0;
}
