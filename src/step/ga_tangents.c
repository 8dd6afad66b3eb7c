// SPDX-License-Identifier: Apache-2.0
// Equation labels refer to docs/theory/ga-p.md and docs/theory/generalized-alpha.md.
#include "step/ga_tangents.h"

#include <assert.h>
#include <string.h>

#include "base/targets.h"
#include "step/ga_loops.h"

PAWL_INLINE void turn_all(int count, double of_G, double of_rate, double of_a,
                          const double* restrict G, const double* restrict rate,
                          const double* restrict a, double* restrict J) {
  for (int k = 0; k < count; k++) {
    J[k] = of_G * G[k] + of_rate * rate[k] + of_a * a[k];
  }
}

static void turn_few(int count, double of_G, double of_rate, double of_a, const double* G,
                     const double* rate, const double* a, double* J) {
  turn_all(count, of_G, of_rate, of_a, G, rate, a, J);
}

PAWL_MANY_TARGETS static void turn_many(int count, double of_G, double of_rate, double of_a,
                                        const double* restrict G, const double* restrict rate,
                                        const double* restrict a, double* restrict J) {
  turn_all(count, of_G, of_rate, of_a, G, rate, a, J);
}

// The tangent J of the constraint by dq, for the right side -f c:                            (A10)
//   position      J = G                                               f = 1
//   velocity      J = G + G_rate / gamma'                             f = 1 / gamma'
//   acceleration  J = G + 2 (gamma'/beta') G_rate + G_acc / beta'     f = 1 / beta'
//                 and (gamma'/beta') G_turn of rate rows                                     (W5)
// and with Baumgarte's form J + (2 B / beta') (G_rate + gamma' G) + (P^2 / beta') G          (A22)
static void constraint_tangent(const PawlStepper* s, PawlGa* d, const PawlValues* values,
                               const PawlValues* tangent) {
  int count = s->G.start[s->sizes.v];
  double rate = 1.0 / d->gamma_p, acceleration = 1.0 / d->beta_p;
  double B = d->baumgarte, P = d->baumgarte_position;
  double of_G, of_rate;
  switch (d->level) {
    case PAWL_LEVEL_POSITION:
      break;
    case PAWL_LEVEL_VELOCITY:
      for (int k = 0; k < count; k++) {
        d->J[k] = values->G[k] + rate * tangent->G_rate[k];
      }
      break;
    default:
      of_G = 1.0 + (2 * B * d->gamma_p + P * P) * acceleration;
      of_rate = 2 * (d->gamma_p + B) * acceleration;
      (count < PAWL_SEVERAL ? turn_few : turn_many)(count, of_G, of_rate, acceleration, values->G,
                                                    tangent->G_rate, tangent->G_acceleration, d->J);
      for (int k = 0; tangent->G_turn && k < count; k++) {
        d->J[k] += d->gamma_p * acceleration * tangent->G_turn[k];
      }
      break;
  }
}

// Where tangents change with modes alone, S and J are those of the last correction with this h.
static bool are_known(const PawlStepper* s, const PawlGa* d, const PawlPhase* phase) {
  bool same = s->dynamics.linear && d->S_beta == d->beta_p && d->S_gamma == d->gamma_p;
  for (int k = 0; same && k < s->sizes.modes; k++) {
    same = d->S_modes[k] == phase->modes[k];
  }
  return same;
}

static void note_known(const PawlStepper* s, PawlGa* d, const PawlPhase* phase) {
  d->S_beta = d->beta_p;
  d->S_gamma = d->gamma_p;
  d->S_number = 0;
  for (int k = 0; k < s->sizes.modes; k++) {
    d->S_modes[k] = phase->modes[k];
  }
}

// The place of an entry of H, which has one for all velocities of a contact that turns.
static int place_in_H(const PawlPattern* H, int row, int col) {
  int k = H->start[col];
  while (H->index[k] < row) {
    k++;
  }
  assert(H->index[k] == row);
  return k;
}

// S + c C of friction that turns in space: without it the corrections shrink by no more than
// h mu lambda_N / (m |u|) each, which is 1 and more where a slip comes to rest.             (F30)
PAWL_APART static void add_turning(PawlStepper* s, PawlGa* d, const PawlPhase* phase, double c) {
  PawlSlip* slip = s->dynamics.slip;
  for (int k = 0; k < slip->count; k++) {
    const int* columns;
    const double* p;
    double weight = 0.0;
    int count = pawl_slip_turning(slip, phase, k, &columns, &p, &weight);
    for (int e = 0; e < count * count; e++) {
      int i = e / count, j = e % count;
      d->S[place_in_H(&s->H, columns[i], columns[j])] += c * weight * p[i] * p[j];
    }
  }
}

typedef struct Tangents {
  double c, k;
  const double *M, *C, *K;
  double* S;
  unsigned char* below;  // by part
} Tangents;

PAWL_INLINE void sum_all(int count, double c, double k, const double* restrict M,
                         const double* restrict C, const double* restrict K, double* restrict S) {
  for (int i = 0; i < count; i++) {
    S[i] = M[i] + c * C[i] + k * K[i];
  }
}

PAWL_MANY_TARGETS static void sum_many(int count, double c, double k, const double* restrict M,
                                       const double* restrict C, const double* restrict K,
                                       double* restrict S) {
  sum_all(count, c, k, M, C, K, S);
}

PAWL_MANY_TARGETS static bool any_below(int count, const double* S) {
  long long below = 0;  // as wide as the numbers
  for (int i = 0; i < count; i++) {
    below |= !(S[i] >= 0.0);
  }
  return below != 0;
}

static void sum_part(void* context, PawlPart part) {
  const Tangents* t = context;
  int i = part.first;
  sum_many(part.end - i, t->c, t->k, t->M + i, t->C + i, t->K + i, t->S + i);
  if (t->below) {
    t->below[part.number] = any_below(part.end - i, t->S + i);
  }
}

// S = M + (gamma'/beta') C + K/beta'                                                         (A9)
static void sum_tangents(const PawlStepper* s, PawlGa* d, const PawlValues* values,
                         const PawlValues* tangent) {
  double c = d->gamma_p / d->beta_p, k = 1.0 / d->beta_p;
  if (s->nonzeros_H < PAWL_SEVERAL) {
    sum_all(s->nonzeros_H, c, k, values->M, tangent->C, tangent->K, d->S);
    return;
  }
  Tangents t = {c, k, values->M, tangent->C, tangent->K, d->S, d->below};
  pawl_pool_loop(s->pool, s->nonzeros_H, PAWL_GA_PART, sum_part, &t);
}

void pawl_ga_sum_tangents(const PawlStepper* s, PawlGa* d) {
  sum_tangents(s, d, pawl_eval_values(d->residual_eval), pawl_eval_values(d->tangent_eval));
}

PawlStatus pawl_ga_tangents(PawlStepper* s, PawlGa* d, const PawlPhase* phase, double t,
                            PawlError* err) {
  const PawlValues *values = pawl_eval_values(d->residual_eval),
                   *tangent = pawl_eval_values(d->tangent_eval);
  bool turns = s->dynamics.slip && pawl_slip_turns(s->dynamics.slip, phase, d->lambda);
  if (!turns && are_known(s, d, phase)) {
    return PAWL_OK;
  }
  if (!d->tangents_there) {
    PawlPoint point =
        pawl_phase_point(phase, t, d->q, d->U ? d->v_total : d->v, d->vdot, d->lambda);
    PAWL_TRY(pawl_eval_run(d->tangent_eval, &point, err));
  }
  constraint_tangent(s, d, values, tangent);
  sum_tangents(s, d, values, tangent);
  if (turns) {
    add_turning(s, d, phase, d->gamma_p / d->beta_p);
  }
  if (s->dynamics.linear) {
    note_known(s, d, phase);
    d->S_beta = turns ? NAN : d->S_beta;  // the next are others
    pawl_kkt_settle(s->kkt, d->S);
  }
  return PAWL_OK;
}

// S has its diagonal alone, and none of it is below zero, as far as that was looked at. (A23)
static bool cannot_outgrow(const PawlStepper* s, const PawlGa* d) {
  int parts = pawl_pool_parts(s->nonzeros_H, PAWL_GA_PART);
  return d->below && s->dynamics.diagonal_H && !s->dynamics.slip &&
         !memchr(d->below, 1, (size_t)parts);
}

PawlStatus pawl_ga_outgrown(const PawlStepper* s, const PawlGa* d, const PawlState* state,
                            PawlError* err) {
  return d->simple || s->dynamics.linear || cannot_outgrow(s, d)
             ? PAWL_OK
             : pawl_dynamics_outgrown(&s->dynamics, pawl_eval_values(d->residual_eval)->M, d->S,
                                      state->v, d->v, state->t + d->h, err);
}
