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
  if (pass.s->sizes.v <= PAWL_GA_PART) {
    work(&pass, (PawlPart){.end = pass.s->sizes.v});
    return;
  }
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

// The same at the coordinates that they move.
static void place_columns(PawlGa* d, const PawlState* state) {
  for (int k = 0; k < d->column_count; k++) {
    int j = d->columns[k];
    d->q[j] = state->q[j] + (d->delta[j] + d->U[j]);
    d->v_total[j] = d->v[j] + d->W[j];
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
    } else if (d->columns && !d->still) {
      place_columns(d, state);
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

// ---- the guess and its corrections --------------------------------------------------------------
PAWL_INLINE PawlKernelsGuessBy guess_factors(const PawlGa* d, double more) {
  return (PawlKernelsGuessBy){d->h, d->gamma, d->beta, d->alpha_m, d->alpha_f, more};
}

PAWL_INLINE void guess_all(PawlKernelsGuessBy by, int count, const double* restrict v_n,
                           const double* restrict vdot_n, const double* restrict a_n,
                           const double* restrict last, double* restrict vdot,
                           double* restrict path, double* restrict a, double* restrict v,
                           double* restrict delta) {
  for (int i = 0; i < count; i++) {
    PawlKernelsGuess g = pawl_kernels_guess_of(by, v_n[i], vdot_n[i], a_n[i], last[i]);
    vdot[i] = g.vdot;
    path[i] = fabs(g.vdot);
    a[i] = g.a;
    v[i] = g.v;
    delta[i] = g.delta;
  }
}

PAWL_INLINE void add_all(double of_v, double of_vdot, double of_a, int count,
                         const double* restrict dq, double* restrict delta, double* restrict v,
                         double* restrict vdot, double* restrict path, double* restrict a) {
  for (int i = 0; i < count; i++) {
    double of_dq = of_vdot * dq[i];
    delta[i] += dq[i];
    v[i] += of_v * dq[i];
    vdot[i] += of_dq;
    path[i] += fabs(of_dq);
    a[i] += of_a * dq[i];
  }
}

// The same in the widest vectors of the machine.
PAWL_MANY_TARGETS static void guess_many(PawlKernelsGuessBy by, int count,
                                         const double* restrict v_n, const double* restrict vdot_n,
                                         const double* restrict a_n, const double* restrict last,
                                         double* restrict vdot, double* restrict path,
                                         double* restrict a, double* restrict v,
                                         double* restrict delta) {
  guess_all(by, count, v_n, vdot_n, a_n, last, vdot, path, a, v, delta);
}

PAWL_MANY_TARGETS static void add_many(double of_v, double of_vdot, double of_a, int count,
                                       const double* restrict dq, double* restrict delta,
                                       double* restrict v, double* restrict vdot,
                                       double* restrict path, double* restrict a) {
  add_all(of_v, of_vdot, of_a, count, dq, delta, v, vdot, path, a);
}

// ---- what is not stored -------------------------------------------------------------------------
// Rows look at coordinates of it, and at their sizes.
static bool has_rows(const PawlStepper* s, PawlPart part) {
  return s->G.start[part.end] > s->G.start[part.first];
}

static bool is_lean(const PawlStepper* s, const PawlGa* d, PawlPart part) {
  return d->slim || !has_rows(s, part);
}

// The guess and its first correction stored again.
static void unfold_part(void* context, PawlPart part) {
  const Pass* pass = context;
  PawlGa* d = pass->d;
  const PawlGaSource* from = &d->source;
  double of_v = d->gamma_p, of_vdot = d->beta_p, of_a = 1.0 / (d->h * d->h * d->beta);
  bool corrected = d->fold == PAWL_GA_CORRECTED;
  PawlKernelsGuessBy by = guess_factors(d, from->more);
  for (int i = part.first; i < part.end; i++) {
    PawlKernelsGuess g =
        pawl_kernels_guess_of(by, from->v[i], from->vdot[i], from->a[i], from->last_vdot[i]);
    double dq = d->dq[i];
    d->delta[i] = corrected ? g.delta + dq : g.delta;
    d->v[i] = corrected ? g.v + of_v * dq : g.v;
    d->path[i] = corrected ? fabs(g.vdot) + fabs(of_vdot * dq) : fabs(g.vdot);
    d->a[i] = corrected ? g.a + of_a * dq : g.a;
  }
}

// vdot, q and v_total (v, where there is no U) of the guess alone.
PAWL_MANY_TARGETS static void lean_guess(PawlKernelsGuessBy by, int count,
                                         const double* restrict v_n, const double* restrict vdot_n,
                                         const double* restrict a_n, const double* restrict last,
                                         const double* restrict q_n, double* restrict vdot,
                                         double* restrict q, double* restrict v_total) {
  for (int i = 0; i < count; i++) {
    PawlKernelsGuess g = pawl_kernels_guess_of(by, v_n[i], vdot_n[i], a_n[i], last[i]);
    vdot[i] = g.vdot;
    q[i] = q_n[i] + (g.delta + 0.0);
    v_total[i] = g.v + 0.0;
  }
}

// And of its first correction.
PAWL_MANY_TARGETS static void lean_add(PawlKernelsGuessBy by, double of_v, double of_vdot,
                                       int count, const double* restrict v_n,
                                       const double* restrict vdot_n, const double* restrict a_n,
                                       const double* restrict last, const double* restrict q_n,
                                       const double* restrict dq, double* restrict vdot,
                                       double* restrict q, double* restrict v_total) {
  for (int i = 0; i < count; i++) {
    PawlKernelsGuess g = pawl_kernels_guess_of(by, v_n[i], vdot_n[i], a_n[i], last[i]);
    vdot[i] = g.vdot + of_vdot * dq[i];
    q[i] = q_n[i] + ((g.delta + dq[i]) + 0.0);
    v_total[i] = (g.v + of_v * dq[i]) + 0.0;
  }
}

// ---- parts --------------------------------------------------------------------------------------
// Whether the step begins where the iterate was.
PAWL_INLINE void see_begin(const Pass* pass, PawlPart part) {
  PawlGa* d = pass->d;
  size_t bytes = (size_t)(part.end - part.first) * sizeof(double);
  d->begins[part.number] = d->begun &&
                           memcmp(pass->state->q + part.first, d->q + part.first, bytes) == 0 &&
                           memcmp(pass->state->v + part.first, d->v_total + part.first, bytes) == 0;
}

PAWL_INLINE void guess_any_part(void* context, PawlPart part, bool many) {
  const Pass* pass = context;
  PawlGa* d = pass->d;
  const PawlState* n = pass->state;
  PawlKernelsGuessBy by = guess_factors(d, pass->more);
  int i = part.first, count = part.end - i;
  const double *v_n = n->v + i, *vdot_n = n->a + i, *a_n = pass->m.a + i,
               *last = pass->m.last_vdot + i;
  if (d->begins) {
    see_begin(pass, part);
  }
  if (many && d->fold == PAWL_GA_GUESS && is_lean(pass->s, d, part)) {
    double* v = d->slim ? d->v : d->v_total;
    lean_guess(by, count, v_n, vdot_n, a_n, last, n->q + i, d->vdot + i, d->q + i, v + i);
    return;
  }
  if (many) {
    guess_many(by, count, v_n, vdot_n, a_n, last, d->vdot + i, d->path + i, d->a + i, d->v + i,
               d->delta + i);
  } else {
    guess_all(by, count, v_n, vdot_n, a_n, last, d->vdot + i, d->path + i, d->a + i, d->v + i,
              d->delta + i);
  }
  if (d->placed) {
    place_part(context, part);
  }
}

static inline void guess_part(void* context, PawlPart part) {
  guess_any_part(context, part, false);
}

static void guess_long_part(void* context, PawlPart part) {
  guess_any_part(context, part, true);
}

bool pawl_ga_begins(const PawlStepper* s, const PawlGa* d) {
  int k = 0, parts = pawl_pool_parts(s->sizes.v, PAWL_GA_PART);
  while (k < parts && d->begins[k]) {
    k++;
  }
  return k == parts;
}

void pawl_ga_guess(const PawlStepper* s, PawlGa* d, PawlState* state, PawlGaMemory m, double more) {
  Pass pass = {.s = s, .d = d, .state = state, .m = m, .more = more};
  d->placed = pawl_ga_adds_up(s);
  if (s->sizes.v < PAWL_SEVERAL) {
    loop(guess_part, pass);
    return;
  }
  d->fold = d->lean || d->slim ? PAWL_GA_GUESS : PAWL_GA_STORED;
  d->source = (PawlGaSource){state->v, state->a, m.a, m.last_vdot, more};
  loop_in_parts(guess_long_part, pass);
}

static inline void add_part(void* context, PawlPart part) {
  const Pass* pass = context;
  const PawlGa* d = pass->d;
  double of_a = 1.0 / (d->h * d->h * d->beta);
  int i = part.first;
  add_all(d->gamma_p, d->beta_p, of_a, part.end - i, d->dq + i, d->delta + i, d->v + i, d->vdot + i,
          d->path + i, d->a + i);
  if (d->placed) {
    place_part(context, part);
  }
}

static void add_long_part(void* context, PawlPart part) {
  const Pass* pass = context;
  const PawlGa* d = pass->d;
  const PawlGaSource* from = &d->source;
  double of_a = 1.0 / (d->h * d->h * d->beta);
  int i = part.first;
  bool lean = d->fold == PAWL_GA_GUESS && is_lean(pass->s, d, part);
  if (lean && d->once) {
    double* v = d->slim ? d->v : d->v_total;
    lean_add(guess_factors(d, from->more), d->gamma_p, d->beta_p, part.end - i, from->v + i,
             from->vdot + i, from->a + i, from->last_vdot + i, pass->state->q + i, d->dq + i,
             d->vdot + i, d->q + i, v + i);
    return;
  }
  if (lean) {
    unfold_part(context, part);
  }
  add_many(d->gamma_p, d->beta_p, of_a, part.end - i, d->dq + i, d->delta + i, d->v + i,
           d->vdot + i, d->path + i, d->a + i);
  if (d->placed) {
    place_part(context, part);
  }
}

void pawl_ga_add(const PawlStepper* s, PawlGa* d, PawlState* state) {
  Pass pass = {.s = s, .d = d, .state = state};
  d->placed = pawl_ga_adds_up(s) && (!d->U || d->still || d->moved || d->columns);
  if (s->sizes.v < PAWL_SEVERAL) {
    loop(add_part, pass);
    return;
  }
  loop_in_parts(add_long_part, pass);
  if (d->fold != PAWL_GA_STORED) {
    d->fold = d->once ? PAWL_GA_CORRECTED : PAWL_GA_STORED;
  }
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
  pawl_ga_unfold(s, d);
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

PAWL_MANY_TARGETS static void take_flushed(int count, const double* restrict from,
                                           double* restrict to) {
  for (int j = 0; j < count; j++) {
    to[j] = fabs(from[j]) > PAWL_FLUSHED ? from[j] : 0.0;
  }
}

static inline double flushed(double x) {
  return fabs(x) > PAWL_FLUSHED ? x : 0.0;
}

// With `a` of the guess and its correction, which is not stored. What was a_n, v'_n and the v'
// before are the memory that they go to.
static void take_folded_part(void* context, PawlPart part) {
  const Pass* pass = context;
  const PawlGa* d = pass->d;
  double of_a = 1.0 / (d->h * d->h * d->beta);
  PawlKernelsGuessBy by = guess_factors(d, d->source.more);
  const double* restrict dq = d->dq;
  const double* restrict v_total = d->v_total;
  const double* restrict vdot = d->vdot;
  const double* a_n = d->source.a;  // that of the memory, mostly
  double* a = pass->m.a;
  double* restrict last = pass->m.last_vdot;
  double* restrict state_a = pass->state->a;
  double* restrict state_v = pass->state->v;
  if (pass->positions) {
    copy(pass->state->q, d->q, part);
  }
  for (int i = part.first; i < part.end; i++) {
    double vdot_n = state_a[i];
    double next = pawl_kernels_guess_of(by, 0.0, vdot_n, a_n[i], last[i]).a + of_a * dq[i];
    last[i] = flushed(vdot_n);
    state_v[i] = flushed(v_total[i]);
    state_a[i] = flushed(vdot[i]);
    a[i] = flushed(next);
  }
}

// The same where rates are `v`, and no number is next to the denormal ones. a: from a_n.
PAWL_MANY_TARGETS static void take_lean(PawlKernelsGuessBy by, double of_a, int count,
                                        const double* restrict v, const double* restrict vdot,
                                        const double* restrict dq, double* restrict state_v,
                                        double* restrict state_a, double* restrict last,
                                        double* restrict a) {
  for (int i = 0; i < count; i++) {
    double vdot_n = state_a[i];
    double next = pawl_kernels_guess_of(by, 0.0, vdot_n, a[i], last[i]).a + of_a * dq[i];
    last[i] = vdot_n;
    state_v[i] = v[i];
    state_a[i] = vdot[i];
    a[i] = next;
  }
}

static void take_slim_part(void* context, PawlPart part) {
  const Pass* pass = context;
  const PawlGa* d = pass->d;
  PawlState* state = pass->state;
  int i = part.first;
  if (pass->positions) {
    copy(state->q, d->q, part);
  }
  if (d->source.a != pass->m.a) {  // a first step, or one of another length
    copy(pass->m.a, d->source.a, part);
  }
  take_lean(guess_factors(d, d->source.more), 1.0 / (d->h * d->h * d->beta), part.end - i, d->v + i,
            d->vdot + i, d->dq + i, state->v + i, state->a + i, pass->m.last_vdot + i,
            pass->m.a + i);
}

static inline void take_part(void* context, PawlPart part) {
  const Pass* pass = context;
  const PawlGa* d = pass->d;
  PawlState* state = pass->state;
  double* taken[] = {pass->m.last_vdot, state->v, state->a, pass->m.a};
  const double* from[] = {state->a, pass->flush ? d->v_total : d->v, d->vdot, d->a};
  if (pass->positions) {
    copy(state->q, d->q, part);
  }
  for (int k = 0; k < 4; k++) {
    if (pass->flush && part.end - part.first >= PAWL_SEVERAL) {
      take_flushed(part.end - part.first, from[k] + part.first, taken[k] + part.first);
      continue;
    }
    copy(taken[k], from[k], part);
    if (pass->flush) {
      flush(taken[k], part);
    }
  }
}

PAWL_APART static void take_folded(const PawlStepper* s, PawlGa* d, PawlState* state,
                                   PawlGaMemory m, bool positions) {
  loop_in_parts(d->slim ? take_slim_part : take_folded_part,
                (Pass){.s = s, .d = d, .state = state, .m = m, .positions = positions});
}

void pawl_ga_take(const PawlStepper* s, PawlGa* d, PawlState* state, PawlGaMemory m, bool flush) {
  bool positions = s->pool && pawl_ga_adds_up(s);  // threads copy them, too
  if (!positions) {
    pawl_copy(s->sizes.q, d->q, state->q);
  }
  if (d->fold == PAWL_GA_CORRECTED) {
    take_folded(s, d, state, m, positions);
    return;
  }
  loop(take_part,
       (Pass){.s = s, .d = d, .state = state, .m = m, .flush = flush, .positions = positions});
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

static void judge_lumped(const Pass* pass, int first, int end, double* restrict r,
                         double* restrict magnitude) {
  const PawlGa* d = pass->d;
  const double* restrict f = pass->values->f + first;
  const double* restrict M = d->weight + first;
  const double* restrict vdot = d->vdot + first;
  for (int j = 0; j < end - first; j++) {
    double term = M[j] * vdot[j];
    r[j] = -f[j] + term;
    magnitude[j] = fabs(f[j]) + fabs(term);
  }
}

static int judged_lumped_balance(const Pass* pass, int first, int end, double* r,
                                 double* magnitude) {
  int next = pawl_sparse_next(&pass->s->G, first);
  next = next < end ? next : end;
  judge_lumped(pass, first, next, r, magnitude);
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

// Coordinates from j on that rows have, one after the other.
static PawlPart with_rows(const Pass* pass, int j, int end) {
  const int* start = pass->s->G.start;
  PawlPart part = {.first = j, .end = j};
  while (part.end < end && start[part.end + 1] > start[part.end]) {
    part.end++;
  }
  return part;
}

static PawlColumnsForces forces_of(const Pass* pass) {
  const PawlGa* d = pass->d;
  return (PawlColumnsForces){d->mass_values, d->vdot, pass->values->f, d->B, d->lambda};
}

static void lumped_balance_part(void* context, PawlPart part) {
  const Pass* pass = context;
  const PawlGa* d = pass->d;
  for (int j = part.first, until; j < part.end; j = until) {
    const PawlColumnsAlike* of = pawl_columns_at(&pass->s->dynamics.alike, j, part.end, &until);
    if (of) {
      pawl_columns_balance(of, j, until, forces_of(pass), 1.0 / d->beta_p, d->dq);
    }
    for (int i = of ? until : j; i < until;) {
      PawlPart next = with_rows(context, lumped_balance(context, i, until), until);
      balance_part(context, next);
      i = next.end;
    }
  }
}

PAWL_APART static void balance_lumped(const PawlStepper* s, PawlGa* d, const PawlValues* values) {
  loop_in_parts(lumped_balance_part, (Pass){.s = s, .d = d, .values = values});
}

static inline PawlBalance balance_of(const PawlGa* d, const PawlValues* values) {
  const double* M = d->mass_values ? d->mass_values : values->M;
  return (PawlBalance){d->B, d->lambda, M, d->vdot, values->f};
}

void pawl_ga_balance_forces(const PawlStepper* s, PawlGa* d, const PawlValues* values) {
  if (d->lumped) {
    balance_lumped(s, d, values);
    return;
  }
  if (d->balance.scaled) {
    pawl_balance_line_scaled(&d->balance, balance_of(d, values), -1.0 / d->beta_p, d->dq);
    return;
  }
  loop(balance_part, (Pass){.s = s, .d = d, .values = values});
}

// The same with the size of the terms, |M| |v'| + |f| + |B|^T |lambda|, from r[0] on.
static inline void judged_balance_part(const Pass* pass, PawlPart part, double* restrict r,
                                       double* restrict magnitude) {
  const PawlGa* d = pass->d;
  const PawlPattern *H = &d->mass, *G = &pass->s->G;
  const int *start = H->start, *index = H->index, *G_start = G->start, *G_index = G->index;
  const double* M = d->mass_values ? d->mass_values : pass->values->M;
  const double *f = pass->values->f, *vdot = d->vdot, *B = d->B;
  const double* lambda = d->lambda;
  for (int j = part.first; j < part.end; j++) {
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
    r[j - part.first] = sum;
    magnitude[j - part.first] = size;
  }
}

static inline void take_weights(const Pass* pass, PawlPart part) {
  const PawlGa* d = pass->d;
  const int* diagonal = pass->s->dynamics.diagonal;
  const double* M = pass->values->M;
  double* restrict weight = d->weight;
  for (int j = part.first; !d->mass_values && j < part.end; j++) {
    weight[j] = diagonal[j] >= 0 ? M[diagonal[j]] : 0.0;
  }
}

static void judged_lumped_part(const Pass* pass, PawlPart part, double* r, double* magnitude) {
  int first = part.first;
  for (int j = first, until; j < part.end; j = until) {
    const PawlColumnsAlike* of = pawl_columns_at(&pass->s->dynamics.alike, j, part.end, &until);
    if (of) {
      pawl_columns_judge(of, j, until, forces_of(pass), r + (j - first), magnitude + (j - first));
    }
    for (int i = of ? until : j; i < until;) {
      int rows = judged_lumped_balance(pass, i, until, r + (i - first), magnitude + (i - first));
      PawlPart next = with_rows(pass, rows, until);
      judged_balance_part(pass, next, r + (rows - first), magnitude + (rows - first));
      i = next.end;
    }
  }
}

static inline void judge_part(void* context, PawlPart part) {
  const Pass* pass = context;
  PawlGa* d = pass->d;
  if (d->balance.judged) {
    pawl_balance_line_judged(&d->balance, balance_of(d, pass->values), d->r, d->magnitude);
  } else {
    judged_balance_part(pass, part, d->r + part.first, d->magnitude + part.first);
  }
  take_weights(pass, part);
  if (d->sized) {
    pawl_ga_size_part(pass->s, d, pass->v, pass->positions, part);
  }
  int first = part.first;
  d->sums[part.number] =
      pawl_ga_balance_part(part.end - first, d->r + first, d->magnitude + first, d->weight + first);
}

static void judge_lumped_part(void* context, PawlPart part) {
  const Pass* pass = context;
  PawlGa* d = pass->d;
  int first = part.first, count = part.end - first;
  double room[2][PAWL_GA_PART], *r = d->r + first, *magnitude = d->magnitude + first;
  bool folded = d->fold == PAWL_GA_CORRECTED && is_lean(pass->s, d, part);
  if (folded) {
    r = room[0];
    magnitude = room[1];
  }
  if (folded && !d->slim) {
    judge_lumped(pass, first, part.end, r, magnitude);
  } else {
    judged_lumped_part(pass, part, r, magnitude);
  }
  if (d->sized && folded) {
    pawl_ga_size_folded(d, part, magnitude);
  } else if (d->sized) {
    pawl_ga_size_part(pass->s, d, pass->v, pass->positions, part);
  }
  d->sums[part.number] = pawl_ga_balance_part(count, r, magnitude, d->weight + first);
}

// Of the coordinates that rows have, all that most steps ask for.
static void size_columns(const PawlStepper* s, PawlGa* d, const double* v, bool positions) {
  const PawlPattern* G = &s->G;
  for (int j = pawl_sparse_next(G, 0); j < G->cols; j = pawl_sparse_next(G, j + 1)) {
    pawl_ga_size_part(s, d, v, positions, (PawlPart){.first = j, .end = j + 1});
  }
}

PAWL_APART static void judge_all_lumped(const PawlStepper* s, PawlGa* d, const PawlValues* values,
                                        const double* v, bool positions) {
  loop_in_parts(judge_lumped_part,
                (Pass){.s = s, .d = d, .values = values, .v = v, .positions = positions});
}

void pawl_ga_judge_forces(const PawlStepper* s, PawlGa* d, const PawlValues* values,
                          const double* v, bool positions) {
  d->sized = !d->sizes_late && (d->fold == PAWL_GA_STORED || d->slim);
  if (d->lumped) {
    judge_all_lumped(s, d, values, v, positions);
  } else {
    loop(judge_part, (Pass){.s = s, .d = d, .values = values, .v = v, .positions = positions});
  }
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

static void judge_again_part(void* context, PawlPart part) {
  const PawlGa* d = ((const Pass*)context)->d;
  unfold_part(context, part);
  judged_lumped_part(context, part, d->r + part.first, d->magnitude + part.first);
}

void pawl_ga_unfold(const PawlStepper* s, PawlGa* d) {
  if (d->fold != PAWL_GA_STORED) {
    loop_in_parts(judge_again_part,
                  (Pass){.s = s, .d = d, .values = pawl_eval_values(d->residual_eval)});
    d->fold = PAWL_GA_STORED;
  }
}
