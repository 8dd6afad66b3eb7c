// SPDX-License-Identifier: Apache-2.0
// Equation labels refer to docs/theory/ga-p.md.
#include "step/ga_bend.h"

#include "base/copy.h"
#include "base/targets.h"
#include "step/ga_loops.h"

enum { NUMBERS = 2 };            // squares of what both guesses were off, fading
static const double KEPT = 0.8;  // of these from step to step

typedef struct PawlGaBend {
  double* bend;  // (rows) lambda_n - 2 lambda_n-1 + lambda_n-2
  double* off;   // (NUMBERS) of the line, of the line and its saw
} PawlGaBend;

int pawl_ga_bend_memory(const PawlMethod* method, PawlSizes n) {
  return method->bends && n.v >= PAWL_GA_LARGE ? n.rows + NUMBERS : 0;
}

static PawlGaBend bend_of(const PawlStepper* s, PawlState* state) {
  double* at = state->memory + pawl_method_memory(s->method, s->sizes);
  return (PawlGaBend){at, at + s->sizes.rows};
}

typedef struct Pass {
  const PawlStepper* s;
  PawlGa* d;
  const PawlPhase* phase;
  PawlState* state;
  double *last, *bend;
  double more, kappa, rho;
} Pass;

// ---- the guess ----------------------------------------------------------------------------------
static void guess_part(void* context, PawlPart part) {
  const Pass* pass = context;
  const double* restrict lambda = pass->state->lambda;
  const double* restrict last = pass->last;
  const double* restrict bend = pass->bend;
  double* restrict to = pass->d->lambda;
  for (int i = part.first; i < part.end; i++) {
    double guess = lambda[i] + pass->more * (lambda[i] - last[i]) + pass->kappa * bend[i];
    to[i] = pawl_phase_binds(pass->phase, i) ? guess : 0.0;
  }
}

// Of smooth multipliers the guess with the saw is off by 1 + rho times as much, of a saw by none:
// between them is that of which the squares are 1 + rho times those of the line.
void pawl_ga_bend_guess(const PawlStepper* s, PawlGa* d, const PawlPhase* phase, PawlState* state,
                        PawlGaMemory m, double more) {
  PawlGaBend b = bend_of(s, state);
  double rho = s->def.rho;
  bool saw = more > 0.0 && b.off[1] < (1.0 + rho) * b.off[0];
  d->more = more;
  pawl_pool_loop(s->pool, s->sizes.rows, PAWL_GA_PART, guess_part,
                 &(Pass){.s = s,
                         .d = d,
                         .phase = phase,
                         .state = state,
                         .last = m.last_lambda,
                         .bend = b.bend,
                         .more = more,
                         .kappa = saw ? -rho : 0.0});
}

// ---- the end of a step --------------------------------------------------------------------------
PAWL_MANY_TARGETS static void take_rows(int count, double more, double rho,
                                        const double* restrict from, double* restrict lambda,
                                        double* restrict last, double* restrict bend,
                                        double* restrict off) {
  enum { SUMS = 8 };  // side by side, in vectors
  double line[SUMS] = {0}, saw[SUMS] = {0};
  for (int i = 0; i < count; i++) {
    double next = more * (from[i] - 2.0 * lambda[i] + last[i]);
    double beside = next + rho * bend[i];
    line[i % SUMS] += next * next;
    saw[i % SUMS] += beside * beside;
    bend[i] = next;
    last[i] = lambda[i];
    lambda[i] = from[i];
  }
  off[0] = off[1] = 0.0;
  for (int k = 0; k < SUMS; k++) {
    off[0] += line[k];
    off[1] += saw[k];
  }
}

static void take_part(void* context, PawlPart part) {
  const Pass* pass = context;
  const PawlGa* d = pass->d;
  int i = part.first;
  take_rows(part.end - i, pass->more, pass->rho, d->lambda + i, pass->state->lambda + i,
            pass->last + i, pass->bend + i, d->off + NUMBERS * part.number);
}

void pawl_ga_bend_take(const PawlStepper* s, PawlGa* d, PawlState* state, PawlGaMemory m) {
  PawlGaBend b = bend_of(s, state);
  Pass pass = {.s = s,
               .d = d,
               .state = state,
               .last = m.last_lambda,
               .bend = b.bend,
               .more = d->more,
               .rho = d->more > 0.0 ? s->def.rho : 0.0};
  pawl_pool_loop(s->pool, s->sizes.rows, PAWL_GA_PART, take_part, &pass);
  for (int k = 0; k < NUMBERS; k++) {
    b.off[k] *= d->more > 0.0 ? KEPT : 0.0;
    for (int p = 0; p < pawl_pool_parts(s->sizes.rows, PAWL_GA_PART); p++) {
      b.off[k] += d->off[NUMBERS * p + k];
    }
  }
}
