// SPDX-License-Identifier: Apache-2.0
// Equation labels refer to docs/theory/ga-p.md.
#include "step/ga_bend.h"

#include "base/copy.h"
#include "base/targets.h"
#include "step/ga_loops.h"

enum { GUESSES = PAWL_GA_GUESSES };
static const double KEPT = 0.5;  // of what each was off, from step to step

typedef struct PawlGaBend {
  double* bend;    // (rows) b_n = lambda_n - 2 lambda_n-1 + lambda_n-2
  double* before;  // (rows) b_n-1
  double* off;     // (GUESSES) squares of what each was off, fading
} PawlGaBend;

// A guess of the next bend: at b_n + before b_n-1.
typedef struct Guess {
  double at, before;
} Guess;

int pawl_ga_bend_memory(const PawlMethod* method, PawlSizes n) {
  return method->bends && n.v >= PAWL_GA_LARGE ? 2 * n.rows + GUESSES : 0;
}

static PawlGaBend bend_of(const PawlStepper* s, PawlState* state) {
  double* at = state->memory + pawl_method_memory(s->method, s->sizes);
  int m = s->sizes.rows;
  return (PawlGaBend){at, at + m, at + 2 * m};
}

// By the roots of what it extrapolates exactly.                                             (A28)
static void list_guesses(double rho, Guess guesses[GUESSES]) {
  guesses[0] = (Guess){0.0, 0.0};                // 1, 1: a line
  guesses[1] = (Guess){-rho, 0.0};               // 1, 1, -rho: with a saw
  guesses[2] = (Guess){1.0 - rho, rho};          // 1, 1, 1, -rho: a parabola with a saw
  guesses[3] = (Guess){-2.0 * rho, -rho * rho};  // 1, 1, -rho, -rho: with a saw that grows
}

typedef struct Pass {
  const PawlStepper* s;
  PawlGa* d;
  const PawlPhase* phase;
  PawlState* state;
  double* last;
  PawlGaBend of;
  double more;
  Guess guesses[GUESSES];
} Pass;

// ---- the guess ----------------------------------------------------------------------------------
static void guess_part(void* context, PawlPart part) {
  const Pass* pass = context;
  const double* restrict lambda = pass->state->lambda;
  const double* restrict last = pass->last;
  const double* restrict bend = pass->of.bend;
  const double* restrict before = pass->of.before;
  double* restrict to = pass->d->lambda;
  Guess by = pass->guesses[0];
  for (int i = part.first; i < part.end; i++) {
    double bends = by.at * bend[i] + by.before * before[i];
    double guess = lambda[i] + pass->more * (lambda[i] - last[i]) + bends;
    to[i] = pawl_phase_binds(pass->phase, i) ? guess : 0.0;
  }
}

// That which was off least; the line where nothing is known.
static int best_of(const double* off) {
  int best = 0;
  for (int k = 1; k < GUESSES; k++) {
    best = off[k] < off[best] ? k : best;
  }
  return best;
}

void pawl_ga_bend_guess(const PawlStepper* s, PawlGa* d, const PawlPhase* phase, PawlState* state,
                        PawlGaMemory m, double more) {
  PawlGaBend b = bend_of(s, state);
  Pass pass = {
      .s = s, .d = d, .phase = phase, .state = state, .last = m.last_lambda, .of = b, .more = more};
  list_guesses(s->def.rho, pass.guesses);
  pass.guesses[0] = pass.guesses[more > 0.0 ? best_of(b.off) : 0];
  d->more = more;
  pawl_pool_loop(s->pool, s->sizes.rows, PAWL_GA_PART, guess_part, &pass);
}

// ---- the end of a step --------------------------------------------------------------------------
PAWL_MANY_TARGETS static void take_rows(int count, double more, const Guess* guesses,
                                        const double* restrict from, double* restrict lambda,
                                        double* restrict last, double* restrict bend,
                                        double* restrict before, double* restrict off) {
  enum { SUMS = 8 };  // side by side, in vectors
  double sums[GUESSES][SUMS] = {{0}};
  Guess saw = guesses[1], parabola = guesses[2], grows = guesses[3];
  for (int i = 0; i < count; i++) {
    double next = more * (from[i] - 2.0 * lambda[i] + last[i]);
    double b = more * bend[i], a = more * before[i];
    double of_saw = next - saw.at * b, of_parabola = next - parabola.at * b - parabola.before * a;
    double of_grows = next - grows.at * b - grows.before * a;
    sums[0][i % SUMS] += next * next;
    sums[1][i % SUMS] += of_saw * of_saw;
    sums[2][i % SUMS] += of_parabola * of_parabola;
    sums[3][i % SUMS] += of_grows * of_grows;
    before[i] = b;
    bend[i] = next;
    last[i] = lambda[i];
    lambda[i] = from[i];
  }
  for (int k = 0; k < GUESSES; k++) {
    off[k] = 0.0;
    for (int i = 0; i < SUMS; i++) {
      off[k] += sums[k][i];
    }
  }
}

static void take_part(void* context, PawlPart part) {
  const Pass* pass = context;
  const PawlGa* d = pass->d;
  int i = part.first;
  take_rows(part.end - i, pass->more, pass->guesses, d->lambda + i, pass->state->lambda + i,
            pass->last + i, pass->of.bend + i, pass->of.before + i, d->off + GUESSES * part.number);
}

void pawl_ga_bend_take(const PawlStepper* s, PawlGa* d, PawlState* state, PawlGaMemory m) {
  PawlGaBend b = bend_of(s, state);
  Pass pass = {.s = s, .d = d, .state = state, .last = m.last_lambda, .of = b, .more = d->more};
  list_guesses(s->def.rho, pass.guesses);
  pawl_pool_loop(s->pool, s->sizes.rows, PAWL_GA_PART, take_part, &pass);
  for (int k = 0; k < GUESSES; k++) {
    b.off[k] *= d->more > 0.0 ? KEPT : 0.0;
    for (int p = 0; p < pawl_pool_parts(s->sizes.rows, PAWL_GA_PART); p++) {
      b.off[k] += d->off[GUESSES * p + k];
    }
  }
}
