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

static const char* const METHODS[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};

typedef struct Run {
  PawlModel* model;
  PawlSystem* system;
  PawlStepper* stepper;
  PawlState* state;
  PawlEval* eval;
  PawlError err;
} Run;

typedef struct Gains {
  double most, part, first;  // [J] of a step; the same as a part of the energy of the start
  double gap;
  int steps, gained, failed;
  long long pieces;
} Gains;

static bool begin(Run* r, const char* text, const char* method) {
  bool ok = pawl_model_parse(text, strlen(text), "bin", 0, NULL, &r->model, &r->err) == PAWL_OK &&
            pawl_system_create(r->model, &r->system, &r->err) == PAWL_OK;
  if (!ok) {
    return false;
  }
  PawlSimulateDef def = pawl_model_simulate(r->model);
  def.method = method;
  return pawl_stepper_create(r->system, &def, &r->stepper, &r->err) == PAWL_OK &&
         pawl_state_create(r->stepper, &r->state, &r->err) == PAWL_OK &&
         pawl_stepper_start(r->stepper, r->state, false, &r->err) == PAWL_OK &&
         pawl_eval_create(r->system, PAWL_POSITION | PAWL_ENERGY, &r->eval, &r->err) == PAWL_OK;
}

static void end(Run* r) {
  pawl_eval_destroy(r->eval);
  pawl_state_destroy(r->state);
  pawl_stepper_destroy(r->stepper);
  pawl_system_destroy(r->system);
  pawl_model_destroy(r->model);
}

static int advance(Run* r, double h, int halvings) {
  PawlStatus status = pawl_stepper_step(r->stepper, r->state, h, &r->err);
  if (status == PAWL_RETRY && halvings > 0) {
    int n = advance(r, h / 2, halvings - 1);
    return n > 0 ? n + advance(r, h / 2, halvings - 1) : n;
  }
  return status == PAWL_OK ? 1 : -10000;
}

static double energy(Run* r, Gains* gains) {
  PawlPoint point = {
      .t = r->state->t, .q = r->state->q, .v = r->state->v, .modes = r->state->modes};
  if (pawl_eval_run(r->eval, &point, &r->err) != PAWL_OK) {
    return NAN;
  }
  const PawlValues* values = pawl_eval_values(r->eval);
  for (int i = 0; i < pawl_system_sizes(r->system).rows; i++) {
    bool contact = pawl_system_row_kind(r->system, i) == PAWL_ROW_CONTACT;
    gains->gap = contact ? fmin(gains->gap, values->g[i]) : gains->gap;
  }
  return values->energy[0] + values->energy[1];
}

static void follow(const Bin* bin, const char* method, double h, int steps, Gains* gains) {
  static char text[BIN_TEXT];
  Run r = {0};
  bool talks = getenv("TALK") != NULL;
  if (!begin(&r, bin_text(bin, text), method)) {
    fprintf(stderr, "energy: %s\n%s", r.err.message, text);
    exit(1);
  }
  double before = energy(&r, gains), first = before;
  for (int k = 0; k < steps; k++) {
    int pieces = advance(&r, h, 10);
    if (pieces < 0) {
      if (talks)
        printf("  failed: %s\n", r.err.message);
      gains->failed++;
      break;
    }
    double now = energy(&r, gains), gain = now - before;
    if (talks && gain > 1e-12 * first) {
      printf("  %s %s seed %u mu %g e %g t %.4f gain %.3e (%d pieces) E %.10g\n",
             BIN_NAMES[bin->kind], method, bin->seed, bin->mu, bin->e, r.state->t, gain, pieces,
             now);
    }
    gains->pieces += pieces;
    gains->steps++;
    gains->gained += gain > 1e-12 * first;
    gains->most = fmax(gains->most, gain);
    gains->part = fmax(gains->part, gain / first);
    before = now;
  }
  end(&r);
}

int main(int argc, char** argv) {
  static const double mus[] = {0, 0.3, 1}, es[] = {0, 0.5, 0.9, 1, -1};
  int seeds = argc > 1 ? atoi(argv[1]) : 2, only = argc > 2 ? atoi(argv[2]) : -1;
  int kind_only = argc > 3 ? atoi(argv[3]) : -1;
  double h = 1e-3;
  if (argc > 7 && strcmp(argv[1], "one") == 0) {
    int kind = atoi(argv[2]);
    Bin bin = {(BinKind)kind, (unsigned)atoi(argv[3]), kind == BIN_COLUMN ? 6 : 7,
               atof(argv[4]), atof(argv[6]),           atof(argv[5])};
    Gains g = {0};
    follow(&bin, METHODS[atoi(argv[7])], h, 400, &g);
    return 0;
  }
  printf(
      "| bodies | kg | mu | e | method | steps | gain | of E | most [J] | of E | least gap | fail "
      "|\n");
  for (int kind = 0; kind < BIN_KINDS; kind++) {
    for (int heavy = 0; heavy < 2; heavy++) {
      for (int m = 0; m < 3; m++) {
        for (int e = 0; e < 5; e++) {
          for (int k = 0; k < 3; k++) {
            if ((only >= 0 && k != only) || (kind_only >= 0 && kind != kind_only))
              continue;
            Gains g = {0};
            for (int seed = 0; seed < seeds; seed++) {
              Bin bin = {(BinKind)kind,        (unsigned)seed, kind == BIN_COLUMN ? 6 : 7,
                         heavy ? 1000.0 : 1.0, es[e],          mus[m]};
              follow(&bin, METHODS[k], h, 400, &g);
            }
            printf(
                "| %-7s | %4g | %3g | %4g | %-11s | %5d | %5lld | %4d | %8.1e | %8.1e | %8.1e | %d "
                "|\n",
                BIN_NAMES[kind], heavy ? 1000.0 : 1.0, mus[m], es[e], METHODS[k], g.steps, g.pieces,
                g.gained, g.most, g.part, g.gap, g.failed);
            fflush(stdout);
          }
        }
      }
    }
  }
  return 0;
}
