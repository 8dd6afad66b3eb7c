// SPDX-License-Identifier: Apache-2.0
// Equation labels refer to docs/theory/generalized-alpha.md.
#include "step/ga_loops.h"

#include <math.h>
#include <string.h>

#include "base/copy.h"
#include "base/targets.h"
#include "switch/tolerances.h"
#include "system/system.h"

typedef struct Pass {  // what a loop is about
  const PawlStepper* s;
  PawlGa* d;
  PawlState* state;
  const PawlValues* values;
  PawlGaMemory m;
  double more;
  const double* v;
  bool positions, flush;
  const PawlGaShared* shared;
} Pass;

PAWL_APART static void loop_in_parts(PawlPartWork* work, Pass pass) {
  pawl_pool_loop(pass.s->pool, pass.s->sizes.v, PAWL_GA_PART, work, &pass);
}

// Small models have one part: its work is put in the place of the call.
PAWL_INLINE void loop(PawlPartWork* work, Pass pass) {
  int n = pass.s->sizes.v;
  if (n > PAWL_GA_PART) {
    loop_in_parts(work, pass);
    return;
  }
  Pass alone = pass;
  switch (n) {  // the shortest ones without a loop
#define ALONE(size)                        \
  case size:                               \
    work(&alone, (PawlPart){.end = size}); \
    return;
    ALONE(1)
    ALONE(2)
    ALONE(3)
    ALONE(4)
#undef ALONE
    default:
      work(&alone, (PawlPart){.end = n});
  }
}

// ---- the iterate --------------------------------------------------------------------------------
// q = q_n + delta + U, v_total = v + W; where there is no U, v is all.
static inline void place_part(void* context, PawlPart part) {
  const Pass* pass = context;
  PawlGa* d = pass->d;
  const double* restrict q_n = pass->state->q;
  const double* restrict delta = d->delta;
  double* restrict q = d->q;
  if (!d->U) {
    for (int j = part.first; j < part.end; j++) {
      q[j] = q_n[j] + delta[j];
    }
    return;
  }
  const double* restrict U = d->U;
  const double* restrict W = d->W;
  const double* restrict v = d->v;
  double* restrict v_total = d->v_total;
  if (d->still || (d->moved && !d->moved[part.number])) {  // the bits of what is below
    for (int j = part.first; j < part.end; j++) {
      q[j] = q_n[j] + (delta[j] + 0.0);
      v_total[j] = v[j] + 0.0;
    }
    return;
  }
  for (int j = part.first; j < part.end; j++) {
    q[j] = q_n[j] + (delta[j] + U[j]);
    v_total[j] = v[j] + W[j];
  }
}

// U and W are others than where the iterate was placed.
PAWL_APART static void place_moved(const PawlStepper* s, PawlGa* d, PawlState* state) {
  Pass pass = {.s = s, .d = d, .state = state};
  for (int k = 0; k < pawl_pool_parts(s->sizes.v, PAWL_GA_PART); k++) {
    if (d->moved[k]) {
      place_part(&pass, pawl_ga_part_of(s, k));
    }
  }
}

bool pawl_ga_adds_up(const PawlStepper* s) {
  return pawl_system_adds_up(s->system) && s->sizes.states == 0;
}

void pawl_ga_place(const PawlStepper* s, PawlGa* d, PawlState* state) {
  const double* delta = d->delta;
  if (pawl_ga_adds_up(s)) {
    if (!d->placed) {
      loop(place_part, (Pass){.s = s, .d = d, .state = state});
    } else if (d->moved && !d->still) {
      place_moved(s, d, state);
    }
    d->placed = false;
    return;
  }
  if (d->U) {
    for (int j = 0; j < s->sizes.v; j++) {
      d->r[j] = d->delta[j] + d->U[j];
      d->v_total[j] = d->v[j] + d->W[j];
    }
    delta = d->r;
  }
  pawl_system_retract(s->system, state->q, delta, d->q);
}

// Whether it began where the iterate was, and its place.
PAWL_INLINE void end_guess(void* context, PawlPart part) {
  const Pass* pass = context;
  PawlGa* d = pass->d;
  if (d->begins) {
    size_t bytes = (size_t)(part.end - part.first) * sizeof(double);
    d->begins[part.number] =
        d->begun && memcmp(pass->state->q + part.first, d->q + part.first, bytes) == 0 &&
        memcmp(pass->state->v + part.first, d->v_total + part.first, bytes) == 0;
  }
  if (d->placed) {
    place_part(context, part);
  }
}

static inline void guess_part(void* context, PawlPart part) {
  const Pass* pass = context;
  PawlGa* d = pass->d;
  double h = d->h, gamma = d->gamma, beta = d->beta, alpha_m = d->alpha_m, alpha_f = d->alpha_f;
  double more = pass->more;
  const double* restrict v_n = pass->state->v;
  const double* restrict vdot_n = pass->state->a;
  const double* restrict a_n = pass->m.a;
  const double* restrict last = pass->m.last_vdot;
  double* restrict vdot = d->vdot;
  double* restrict path = d->path;
  double* restrict a = d->a;
  double* restrict v = d->v;
  double* restrict delta = d->delta;
  for (int i = part.first; i < part.end; i++) {
    double guess = vdot_n[i] + more * (vdot_n[i] - last[i]);
    double of_a = ((1 - alpha_f) * guess + alpha_f * vdot_n[i] - alpha_m * a_n[i]) / (1 - alpha_m);
    vdot[i] = guess;
    path[i] = fabs(guess);
    a[i] = of_a;
    v[i] = v_n[i] + h * ((1 - gamma) * a_n[i] + gamma * of_a);
    delta[i] = h * v_n[i] + h * h * ((0.5 - beta) * a_n[i] + beta * of_a);
  }
  end_guess(context, part);
}

typedef struct Guess {
  double h, gamma, beta, alpha_m, alpha_f, more;
} Guess;

// The same in the widest vectors of the machine.
PAWL_MANY_TARGETS static void guess_many(Guess g, int count, const double* restrict v_n,
                                         const double* restrict vdot_n, const double* restrict a_n,
                                         const double* restrict last, double* restrict vdot,
                                         double* restrict path, double* restrict a,
                                         double* restrict v, double* restrict delta) {
  double h = g.h, gamma = g.gamma, beta = g.beta, alpha_m = g.alpha_m, alpha_f = g.alpha_f;
  for (int i = 0; i < count; i++) {
    double guess = vdot_n[i] + g.more * (vdot_n[i] - last[i]);
    double of_a = ((1 - alpha_f) * guess + alpha_f * vdot_n[i] - alpha_m * a_n[i]) / (1 - alpha_m);
    vdot[i] = guess;
    path[i] = fabs(guess);
    a[i] = of_a;
    v[i] = v_n[i] + h * ((1 - gamma) * a_n[i] + gamma * of_a);
    delta[i] = h * v_n[i] + h * h * ((0.5 - beta) * a_n[i] + beta * of_a);
  }
}

static void guess_long_part(void* context, PawlPart part) {
  const Pass* pass = context;
  const PawlGa* d = pass->d;
  const PawlState* n = pass->state;
  Guess g = {d->h, d->gamma, d->beta, d->alpha_m, d->alpha_f, pass->more};
  int i = part.first;
  guess_many(g, part.end - i, n->v + i, n->a + i, pass->m.a + i, pass->m.last_vdot + i, d->vdot + i,
             d->path + i, d->a + i, d->v + i, d->delta + i);
  end_guess(context, part);
}

bool pawl_ga_begins(const PawlStepper* s, const PawlGa* d) {
  int k = 0, parts = pawl_pool_parts(s->sizes.v, PAWL_GA_PART);
  while (k < parts && d->begins[k]) {
    k++;
  }
  return k == parts;
}

void pawl_ga_guess(const PawlStepper* s, PawlGa* d, PawlState* state, PawlGaMemory m, double more) {
  d->placed = pawl_ga_adds_up(s);
  if (s->sizes.v >= PAWL_MANY) {
    loop_in_parts(guess_long_part, (Pass){.s = s, .d = d, .state = state, .m = m, .more = more});
    return;
  }
  loop(guess_part, (Pass){.s = s, .d = d, .state = state, .m = m, .more = more});
}

static inline void add_part(void* context, PawlPart part) {
  const Pass* pass = context;
  PawlGa* d = pass->d;
  double of_v = d->gamma_p, of_vdot = d->beta_p, of_a = 1.0 / (d->h * d->h * d->beta);
  const double* restrict dq = d->dq;
  double* restrict delta = d->delta;
  double* restrict v = d->v;
  double* restrict vdot = d->vdot;
  double* restrict path = d->path;
  double* restrict a = d->a;
  for (int i = part.first; i < part.end; i++) {
    double of_dq = of_vdot * dq[i];
    delta[i] += dq[i];
    v[i] += of_v * dq[i];
    vdot[i] += of_dq;
    path[i] += fabs(of_dq);
    a[i] += of_a * dq[i];
  }
  if (d->placed) {
    place_part(context, part);
  }
}

// The same in the widest vectors of the machine.
PAWL_MANY_TARGETS static void add_many(double of_v, double of_vdot, double of_a, int count,
                                       const double* restrict dq, double* restrict delta,
                                       double* restrict v, double* restrict vdot,
                                       double* restrict path, double* restrict a) {
  for (int i = 0; i < count; i++) {
    double of_dq = of_vdot * dq[i];
    delta[i] += dq[i];
    v[i] += of_v * dq[i];
    vdot[i] += of_dq;
    path[i] += fabs(of_dq);
    a[i] += of_a * dq[i];
  }
}

static void add_long_part(void* context, PawlPart part) {
  const Pass* pass = context;
  const PawlGa* d = pass->d;
  double of_a = 1.0 / (d->h * d->h * d->beta);
  int i = part.first;
  add_many(d->gamma_p, d->beta_p, of_a, part.end - i, d->dq + i, d->delta + i, d->v + i,
           d->vdot + i, d->path + i, d->a + i);
  if (d->placed) {
    place_part(context, part);
  }
}

void pawl_ga_add(const PawlStepper* s, PawlGa* d, PawlState* state) {
  d->placed = pawl_ga_adds_up(s) && (!d->U || d->still || d->moved);
  if (s->sizes.v >= PAWL_MANY) {
    loop_in_parts(add_long_part, (Pass){.s = s, .d = d, .state = state});
    return;
  }
  loop(add_part, (Pass){.s = s, .d = d, .state = state});
}

static inline void share_part(void* context, PawlPart part) {
  const Pass* pass = context;
  PawlGa* d = pass->d;
  PawlGaShared with = *pass->shared;
  double of_q = 1.0 / d->beta_p, of_v = d->gamma_p / d->beta_p;
  double of_a = of_q / (d->h * d->h * d->beta);
  const double* restrict a = pass->v;
  for (int i = part.first; i < part.end; i++) {
    double dq = of_q * a[i], dv = of_v * a[i], both = with.b ? a[i] + with.b[i] : a[i];
    d->dq[i] += of_q * both;
    d->delta[i] += of_q * both;
    d->v[i] += of_v * both;
    d->vdot[i] += both;
    d->path[i] += fabs(both);
    d->a[i] += of_a * both;
    with.U[i] -= dq;
    with.dU[i] -= dq;
    with.W[i] -= dv;
    with.dW[i] -= dv;
  }
}

void pawl_ga_share(const PawlStepper* s, PawlGa* d, const double* a, PawlGaShared with) {
  loop(share_part, (Pass){.s = s, .d = d, .v = a, .shared = &with});
}

static inline void copy(double* to, const double* from, PawlPart part) {
  pawl_copy(part.end - part.first, from + part.first, to + part.first);
}

static inline void flush(double* x, PawlPart part) {
  for (int j = part.first; j < part.end; j++) {
    x[j] = fabs(x[j]) > PAWL_FLUSHED ? x[j] : 0.0;
  }
}

static inline void take_part(void* context, PawlPart part) {
  const Pass* pass = context;
  const PawlGa* d = pass->d;
  PawlState* state = pass->state;
  double* taken[] = {pass->m.last_vdot, state->v, state->a, pass->m.a};
  const double* from[] = {state->a, pass->flush ? d->v_total : d->v, d->vdot, d->a};
  for (int k = 0; k < 4; k++) {
    copy(taken[k], from[k], part);
    if (pass->flush) {
      flush(taken[k], part);
    }
  }
}

void pawl_ga_take(const PawlStepper* s, PawlGa* d, PawlState* state, PawlGaMemory m, bool flush) {
  pawl_copy(s->sizes.q, d->q, state->q);
  loop(take_part, (Pass){.s = s, .d = d, .state = state, .m = m, .flush = flush});
}

// ---- the balance --------------------------------------------------------------------------------
// Where M is diagonal, up to the next coordinate that rows have, which is returned: none of the
// places of entries is read.
static int lumped_balance(const Pass* pass, int first, int end) {
  const PawlGa* d = pass->d;
  int next = pawl_sparse_next(&pass->s->G, first);
  double k_r = 1.0 / d->beta_p;
  const double* restrict f = pass->values->f;
  const double* restrict M = d->weight;
  const double* restrict vdot = d->vdot;
  double* restrict dq = d->dq;
  next = next < end ? next : end;
  for (int j = first; j < next; j++) {
    dq[j] = -(-f[j] + M[j] * vdot[j]) * k_r;
  }
  return next;
}

static int judged_lumped_balance(const Pass* pass, int first, int end) {
  const PawlGa* d = pass->d;
  int next = pawl_sparse_next(&pass->s->G, first);
  const double* restrict f = pass->values->f;
  const double* restrict M = d->weight;
  const double* restrict vdot = d->vdot;
  double* restrict r = d->r;
  double* restrict magnitude = d->magnitude;
  next = next < end ? next : end;
  for (int j = first; j < next; j++) {
    double term = M[j] * vdot[j];
    r[j] = -f[j] + term;
    magnitude[j] = fabs(f[j]) + fabs(term);
  }
  return next;
}

// Row j of M is its column j: M is symmetric, as its pattern is.
static inline void balance_part(void* context, PawlPart part) {
  const Pass* pass = context;
  const PawlGa* d = pass->d;
  const PawlPattern *H = &d->mass, *G = &pass->s->G;
  const int *start = H->start, *index = H->index, *G_start = G->start, *G_index = G->index;
  const double* M = d->mass_values ? d->mass_values : pass->values->M;
  const double *f = pass->values->f, *vdot = d->vdot, *B = d->B;
  const double* lambda = d->lambda;
  double k_r = 1.0 / d->beta_p;
  double* restrict dq = d->dq;
  for (int j = part.first; j < part.end; j++) {
    if (d->lumped) {
      j = lumped_balance(pass, j, part.end);
      if (j == part.end) {
        break;
      }
    }
    double sum = -f[j];
    for (int k = G_start[j]; k < G_start[j + 1]; k++) {
      sum -= B[k] * lambda[G_index[k]];
    }
    for (int k = start[j]; k < start[j + 1]; k++) {
      sum += M[k] * vdot[index[k]];
    }
    dq[j] = -sum * k_r;
  }
}

void pawl_ga_balance_forces(const PawlStepper* s, PawlGa* d, const PawlValues* values) {
  loop(balance_part, (Pass){.s = s, .d = d, .values = values});
}

// The same with the size of the terms, |M| |v'| + |f| + |B|^T |lambda|, and the diagonal of M.
static inline void judged_balance_part(const Pass* pass, PawlPart part) {
  const PawlGa* d = pass->d;
  const PawlPattern *H = &d->mass, *G = &pass->s->G;
  const int *start = H->start, *index = H->index, *G_start = G->start, *G_index = G->index;
  const double* M = d->mass_values ? d->mass_values : pass->values->M;
  const double *f = pass->values->f, *vdot = d->vdot, *B = d->B;
  const double* lambda = d->lambda;
  const int* diagonal = pass->s->dynamics.diagonal;
  double* restrict r = d->r;
  double* restrict magnitude = d->magnitude;
  double* restrict weight = d->weight;
  for (int j = part.first; j < part.end; j++) {
    if (d->lumped) {
      j = judged_lumped_balance(pass, j, part.end);
      if (j == part.end) {
        break;
      }
    }
    double sum = -f[j], size = fabs(f[j]);
    for (int k = G_start[j]; k < G_start[j + 1]; k++) {
      double term = B[k] * lambda[G_index[k]];
      sum -= term;
      size += fabs(term);
    }
    for (int k = start[j]; k < start[j + 1]; k++) {
      double term = M[k] * vdot[index[k]];
      sum += term;
      size += fabs(term);
    }
    r[j] = sum;
    magnitude[j] = size;
  }
  for (int j = part.first; !d->mass_values && j < part.end; j++) {
    weight[j] = diagonal[j] >= 0 ? M[diagonal[j]] : 0.0;
  }
}

static inline void judge_part(void* context, PawlPart part) {
  const Pass* pass = context;
  PawlGa* d = pass->d;
  judged_balance_part(pass, part);
  if (d->sized) {
    pawl_ga_size_part(pass->s, d, pass->v, pass->positions, part);
  }
  d->sums[part.number] = pawl_ga_balance_part(d, d->magnitude, part);
}

// Of the coordinates that rows have, all that most steps ask for.
static void size_columns(const PawlStepper* s, PawlGa* d, const double* v, bool positions) {
  const PawlPattern* G = &s->G;
  for (int j = pawl_sparse_next(G, 0); j < G->cols; j = pawl_sparse_next(G, j + 1)) {
    pawl_ga_size_part(s, d, v, positions, (PawlPart){.first = j, .end = j + 1});
  }
}

void pawl_ga_judge_forces(const PawlStepper* s, PawlGa* d, const PawlValues* values,
                          const double* v, bool positions) {
  d->sized = !d->sizes_late;
  loop(judge_part, (Pass){.s = s, .d = d, .values = values, .v = v, .positions = positions});
  if (!d->sized) {
    size_columns(s, d, v, positions);
  }
}

static inline void size_part(void* context, PawlPart part) {
  const Pass* pass = context;
  pawl_ga_size_part(pass->s, pass->d, pass->v, pass->positions, part);
}

void pawl_ga_size(const PawlStepper* s, PawlGa* d, const double* v, bool positions) {
  loop(size_part, (Pass){.s = s, .d = d, .v = v, .positions = positions});
  d->sized = true;
}
