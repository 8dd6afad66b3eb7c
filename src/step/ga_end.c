// SPDX-License-Identifier: Apache-2.0
// When Newton's method ends (docs/theory/generalized-alpha.md): residuals against the terms of
// their rows, in the units of each row; what rounding leaves of them; and the message when neither
// is reached.
#include <math.h>

#include "base/copy.h"
#include "base/targets.h"
#include "step/ga_loops.h"
#include "switch/tolerances.h"

// fmax without its care for NaN, which keeps loops from vectorising; NaN is caught by evaluation.
static inline double larger(double a, double b) {
  return a > b ? a : b;
}

// ---- sizes --------------------------------------------------------------------------------------
typedef struct Measure {
  const PawlStepper* s;
  const PawlGa* d;
  const double *change, *size;
  double least;
} Measure;

static void square_part(void* context, PawlPart part) {
  const Measure* m = context;
  const double *weight = m->d->weight, *x = m->size;
  double most = 0.0;
  for (int j = part.first; j < part.end; j++) {
    most = larger(most, weight[j] * x[j] * x[j]);
  }
  m->d->sums[part.number].largest = most;
}

// max_j M_jj x_j^2
static double largest_square(const PawlStepper* s, const PawlGa* d, const double* x) {
  double most = 0.0;
  pawl_pool_loop(s->pool, s->sizes.v, PAWL_GA_PART, square_part, &(Measure){s, d, NULL, x, 0.0});
  for (int k = 0; k < pawl_pool_parts(s->sizes.v, PAWL_GA_PART); k++) {
    most = larger(most, d->sums[k].largest);
  }
  return most;
}

// The terms that are summed to q, v and v' of coordinate j: forces and corrections, the rates of
// the smooth motion and their jump, h v and so on.                                         (A13)
typedef struct Summed {
  double q, v, a;
} Summed;

static inline Summed summed(const PawlGa* d, int j, double q, double v) {
  double M = d->weight[j], a = d->path[j] + (M > 0.0 ? d->magnitude[j] / M : 0.0);
  double of_v = fabs(v) + fabs(d->v[j]) + d->h * a;
  return (Summed){fabs(q) + d->h * of_v, of_v, a};
}

void pawl_ga_size_rates(const PawlStepper* s, PawlGa* d, const double* v) {
  for (int j = 0; j < s->sizes.v; j++) {
    d->size_v[j] = larger(fabs(v[j]), PAWL_SMALLEST_PART * summed(d, j, 0.0, v[j]).v);
  }
}

// Of the positions alone, and without a division where coordinates are not tiny.
static void size_positions(const PawlStepper* s, PawlGa* d, const double* v, PawlPart part) {
  bool same = s->sizes.q == s->sizes.v;
  for (int j = part.first; j < part.end; j++) {
    double q = same ? fabs(d->q[j]) : 1.0, M = d->weight[j];
    double moved = d->h * (fabs(v[j]) + fabs(d->v[j]) + d->h * d->path[j]);
    double force = d->h * d->h * d->magnitude[j];
    bool tiny = !(PAWL_SMALLEST_PART * ((q + moved) * M + force) <= q * M);
    d->size_q[j] = tiny ? larger(q, PAWL_SMALLEST_PART * summed(d, j, q, v[j]).q) : q;
  }
}

// The same of many, for vectors: where one of them is tiny all are looked at again.
PAWL_MANY_TARGETS static bool are_tiny(const PawlStepper* s, PawlGa* d, const double* v,
                                       PawlPart part) {
  bool same = s->sizes.q == s->sizes.v;
  double h = d->h;
  const double* restrict q = d->q;
  const double* restrict rate = v;
  const double* restrict smooth = d->v;
  const double* restrict weight = d->weight;
  const double* restrict path = d->path;
  const double* restrict magnitude = d->magnitude;
  double* restrict size_q = d->size_q;
  long long tiny = 0;
  for (int j = part.first; j < part.end; j++) {
    double size = same ? fabs(q[same ? j : 0]) : 1.0, M = weight[j];
    double moved = h * (fabs(rate[j]) + fabs(smooth[j]) + h * path[j]);
    double force = h * h * magnitude[j];
    tiny |= !(PAWL_SMALLEST_PART * ((size + moved) * M + force) <= size * M);
    size_q[j] = size;
  }
  return tiny != 0;
}

PAWL_APART static void size_many_positions(const PawlStepper* s, PawlGa* d, const double* v,
                                           PawlPart part) {
  if (are_tiny(s, d, v, part)) {
    for (int j = part.first; j < part.end; j++) {
      double q = d->size_q[j];
      d->size_q[j] = larger(q, PAWL_SMALLEST_PART * summed(d, j, q, v[j]).q);
    }
  }
}

// The same of the guess and its correction, without `path`: that is |v' of the guess| + |dv'|, and
// so at most |v'| + 2 |dv'|.
PAWL_MANY_TARGETS static bool may_be_tiny(int count, double h, double of_vdot,
                                          const double* restrict q, const double* restrict v,
                                          const double* restrict vdot, const double* restrict dq,
                                          const double* restrict weight,
                                          const double* restrict magnitude,
                                          double* restrict size_q) {
  long long tiny = 0;
  for (int j = 0; j < count; j++) {
    double size = fabs(q[j]), M = weight[j];
    double path = fabs(vdot[j]) + 2.0 * fabs(of_vdot * dq[j]);
    double moved = h * (2.0 * fabs(v[j]) + h * path);
    double force = h * h * magnitude[j];
    tiny |= !(PAWL_SMALLEST_PART * ((size + moved) * M + force) <= size * M);
    size_q[j] = size;
  }
  return tiny != 0;
}

PAWL_MANY_TARGETS static void size_tiny(int count, double h, double more, double of_vdot,
                                        const double* restrict v, const double* restrict vdot_n,
                                        const double* restrict last, const double* restrict dq,
                                        const double* restrict weight,
                                        const double* restrict magnitude, double* restrict size_q) {
  for (int j = 0; j < count; j++) {
    double guess = vdot_n[j] + more * (vdot_n[j] - last[j]), M = weight[j];
    double path = fabs(guess) + fabs(of_vdot * dq[j]);
    double a = path + magnitude[j] / (M > 0.0 ? M : INFINITY), q = size_q[j];
    double summed = q + h * (fabs(v[j]) + fabs(v[j]) + h * a);  // (A13)
    size_q[j] = larger(q, PAWL_SMALLEST_PART * summed);
  }
}

void pawl_ga_size_folded(PawlGa* d, PawlPart part, const double* magnitude) {
  const PawlGaSource* from = &d->source;
  int i = part.first, count = part.end - i;
  if (may_be_tiny(count, d->h, d->beta_p, d->q + i, d->v + i, d->vdot + i, d->dq + i, d->weight + i,
                  magnitude, d->size_q + i)) {
    size_tiny(count, d->h, from->more, d->beta_p, d->v + i, from->vdot + i, from->last_vdot + i,
              d->dq + i, d->weight + i, magnitude, d->size_q + i);
  }
}

// Of positions, rates and accelerations; `rotation` is 1 where coordinates are no lengths.
PAWL_INLINE void size_all(int count, double h, double rotation, const double* restrict of_q,
                          const double* restrict v, const double* restrict smooth,
                          const double* restrict vdot, const double* restrict weight,
                          const double* restrict path, const double* restrict magnitude,
                          double* restrict size_q, double* restrict size_v,
                          double* restrict size_a) {
  double length = 1.0 - rotation;
  for (int j = 0; j < count; j++) {
    size_a[j] = weight[j] > 0.0 ? weight[j] : INFINITY;
  }
  for (int j = 0; j < count; j++) {
    double q = rotation + length * fabs(of_q[j]), rate = fabs(v[j]);
    double a = path[j] + magnitude[j] / size_a[j];  // (A13)
    double of_v = rate + fabs(smooth[j]) + h * a;
    size_q[j] = larger(q, PAWL_SMALLEST_PART * (q + h * of_v));  // (A14)
    size_v[j] = larger(rate, PAWL_SMALLEST_PART * of_v);
    size_a[j] = larger(fabs(vdot[j]), PAWL_SMALLEST_PART * a);
  }
}

PAWL_MANY_TARGETS static void size_many(int count, double h, double rotation, const double* of_q,
                                        const double* v, const double* smooth, const double* vdot,
                                        const double* weight, const double* path,
                                        const double* magnitude, double* size_q, double* size_v,
                                        double* size_a) {
  size_all(count, h, rotation, of_q, v, smooth, vdot, weight, path, magnitude, size_q, size_v,
           size_a);
}

void pawl_ga_size_part(const PawlStepper* s, PawlGa* d, const double* v, bool positions,
                       PawlPart part) {
  if (positions) {
    if (part.end - part.first < PAWL_SEVERAL) {
      size_positions(s, d, v, part);
    } else {
      size_many_positions(s, d, v, part);
    }
    return;
  }
  int i = part.first, count = part.end - i;
  double rotation = s->sizes.q == s->sizes.v ? 0.0 : 1.0;
  const double* of_q = rotation > 0.0 ? d->vdot : d->q;
  if (count < PAWL_SEVERAL) {
    size_all(count, d->h, rotation, of_q + i, v + i, d->v + i, d->vdot + i, d->weight + i,
             d->path + i, d->magnitude + i, d->size_q + i, d->size_v + i, d->size_a + i);
  } else {
    size_many(count, d->h, rotation, of_q + i, v + i, d->v + i, d->vdot + i, d->weight + i,
              d->path + i, d->magnitude + i, d->size_q + i, d->size_v + i, d->size_a + i);
  }
}

static void change_part(void* context, PawlPart part) {
  const Measure* m = context;
  const double *change = m->change, *size = m->size, *weight = m->d->weight;
  double most = 0.0, least = m->least;
  for (int j = part.first; j < part.end; j++) {
    double x = change[j] * change[j], own = size[j] * size[j], M = weight[j];
    x *= M * own < least ? M : 1.0;
    own = M * own < least ? least : own;
    most = x > most * own ? (own > 0.0 ? x / own : INFINITY) : most;
  }
  m->d->sums[part.number].needed = most;
}

// The largest |change_j| / size_j, where sizes count as at least the root of least / M_jj.
static double part_of(const PawlStepper* s, const PawlGa* d, const double* change,
                      const double* size, double least) {
  double most = 0.0;
  pawl_pool_loop(s->pool, s->sizes.v, PAWL_GA_PART, change_part,
                 &(Measure){s, d, change, size, least});
  for (int k = 0; k < pawl_pool_parts(s->sizes.v, PAWL_GA_PART); k++) {
    most = larger(most, d->sums[k].needed);
  }
  return sqrt(most);
}

double pawl_ga_part(const PawlStepper* s, const PawlGa* d, const double* change,
                    const double* size) {
  return part_of(s, d, change, size, PAWL_LOST_PART * PAWL_LOST_PART * largest_square(s, d, size));
}

// [1/s] How fast rows turn, in the metric of the masses: the root of the largest
// sum_j G_rate_ij^2 / M_jj over sum_j G_ij^2 / M_jj.                                       (A19)
static double turning(const PawlStepper* s, PawlGa* d) {
  const double *G = pawl_eval_values(d->residual_eval)->G,
               *G_rate = pawl_eval_values(d->tangent_eval)->G_rate;
  double *of_G = d->rounded_c, *of_rate = d->turned, most = 0.0;
  pawl_copy_zeros(s->sizes.rows, of_G);
  pawl_copy_zeros(s->sizes.rows, of_rate);
  for (int j = 0; j < s->sizes.v; j++) {
    double inverse = d->weight[j] > 0.0 ? 1.0 / d->weight[j] : 0.0;
    for (int k = s->G.start[j]; k < s->G.start[j + 1]; k++) {
      of_G[s->G.index[k]] += G[k] * G[k] * inverse;
      of_rate[s->G.index[k]] += G_rate[k] * G_rate[k] * inverse;
    }
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    most = of_rate[i] > most * of_G[i] && of_G[i] > 0.0 ? of_rate[i] / of_G[i] : most;
  }
  return sqrt(most);
}

// Of dW: noise of positions turns the rows, and W follows with what these turn by.         (A19)
static double part_of_rates(const PawlStepper* s, PawlGa* d) {
  double V = sqrt(largest_square(s, d, d->size_v));
  if (d->turned && !d->simple) {
    V += turning(s, d) * sqrt(largest_square(s, d, d->size_q));
  }
  return part_of(s, d, d->dW, d->size_v, PAWL_LOST_PART * PAWL_LOST_PART * V * V);
}

// ---- errors -------------------------------------------------------------------------------------
enum { LANES = 32 };  // largest numbers side by side, in vectors

static double tolerance_of(const PawlStepper* s) {
  return larger(s->def.tolerance, PAWL_ROUNDED);
}

// Those of all parts, in their order.
static PawlGaSums total(const PawlStepper* s, const PawlGaSums* sums) {
  PawlGaSums all = sums[0];
  for (int k = 1; k < pawl_pool_parts(s->sizes.v, PAWL_GA_PART); k++) {
    all.error += sums[k].error;
    all.size += sums[k].size;
    all.massless = larger(all.massless, sums[k].massless);
    all.own = larger(all.own, sums[k].own);
  }
  return all;
}

static double balance_error(PawlGaSums all) {
  return larger(all.massless, all.size > 0.0 ? sqrt(all.error / all.size) : 0.0);
}

static inline double part_of_terms(double c, double terms) {
  return fabs(c) > PAWL_FLUSHED ? fabs(c) / terms : 0.0;
}

PAWL_INLINE double largest_of(int count, bool all, const double* restrict c,
                              const double* restrict terms, const unsigned char* restrict set) {
  double most[LANES] = {0}, part[LANES], largest = 0.0;
  int i = 0;
  for (; i + LANES <= count; i += LANES) {
    for (int k = 0; k < LANES; k++) {
      part[k] = fabs(c[i + k]) / terms[i + k];
    }
    for (int k = 0; k < LANES; k++) {
      double counts = fabs(c[i + k]) > PAWL_FLUSHED ? part[k] : 0.0;
      counts = all || set[i + k] ? counts : 0.0;
      most[k] = counts > most[k] ? counts : most[k];
    }
  }
  for (; i < count; i++) {
    largest = larger(largest, all || set[i] ? part_of_terms(c[i], terms[i]) : 0.0);
  }
  for (int k = 0; k < LANES; k++) {
    largest = larger(largest, most[k]);
  }
  return largest;
}

// The largest |c_i| over the terms of row i, in vectors, of all rows or of those in `set`: which
// row it is does not matter while it is small.
PAWL_MANY_TARGETS static double largest_of_all(int count, const double* c, const double* terms) {
  return largest_of(count, true, c, terms, NULL);
}

PAWL_MANY_TARGETS static double largest_of_set(int count, const double* c, const double* terms,
                                               const unsigned char* set) {
  return largest_of(count, false, c, terms, set);
}

// Largest |c_i| over the terms of row i, for the rows of `set` (NULL: all). (A16)
static double row_error(int count, const double* c, const double* terms, const unsigned char* set,
                        int* row) {
  double largest = 0.0;
  for (int i = 0; i < count; i++) {
    double x = fabs(c[i]);
    if ((!set || set[i]) && x > PAWL_FLUSHED && x > largest * terms[i]) {
      largest = terms[i] > 0.0 ? x / terms[i] : INFINITY;
      *row = i;
    }
  }
  return largest;
}

// Numbers that are added up in rows of positions are known to rounding, however small coordinates
// are: of the terms they count as the part of which rounding is the tolerance. (A16)
void pawl_ga_add_constants(const PawlStepper* s, PawlPart rows, double* terms) {
  const double* size = s->system->row_constants;
  double part = PAWL_ROUNDED / larger(s->def.tolerance, PAWL_ROUNDED);
  for (int i = rows.first; size && i < rows.end; i++) {
    terms[i - rows.first] += part * size[i];
  }
}

// Rows of coordinates that hardly move beside others get the rounding of these by way of the linear
// solver: their rates and accelerations, and much less so their places, count as at least a part of
// the largest, in the metric of the masses. Looked at only where a row seems to be off. (A16)
static void lift_terms(const PawlStepper* s, const PawlGa* d, const double* G, const double* x,
                       double* terms) {
  double noise = x == d->size_q ? PAWL_COORDINATE_NOISE : PAWL_ROW_NOISE;
  double least = noise * sqrt(largest_square(s, d, x));
  for (int j = 0; j < s->sizes.v; j++) {
    double of_x = d->weight[j] > 0.0 ? least / sqrt(d->weight[j]) : 0.0;
    for (int k = s->G.start[j]; k < s->G.start[j + 1]; k++) {
      terms[s->G.index[k]] += fabs(G[k]) * of_x;
    }
  }
}

// An error by such terms. Of places it is for (A19) alone, which asks for more than that it is
// small: (A16) is by their own terms.
static double lifted(const PawlStepper* s, bool places, double error) {
  return places ? larger(error, 2.0 * larger(s->def.tolerance, PAWL_ROUNDED)) : error;
}

static void size_late(const PawlStepper* s, PawlGa* d) {
  pawl_ga_unfold(s, d);
  if (!d->sized) {
    pawl_ga_size(s, d, d->U ? d->v_total : d->v, d->level == PAWL_LEVEL_POSITION && !d->U);
  }
}

double pawl_ga_row_error(const PawlStepper* s, PawlGa* d, const double* G, const double* size,
                         const double* c, const unsigned char* set, double* terms, int* row) {
  pawl_copy_zeros(s->sizes.rows, terms);
  if (!pawl_sparse_line_add_sizes(&s->dynamics.by_G, G, size, d->G_size, terms)) {
    pawl_columns_sizes(&s->dynamics.alike, &s->G, G, size, terms);
  }
  bool places = size == d->size_q;
  if (places) {
    pawl_ga_add_constants(s, (PawlPart){.end = s->sizes.rows}, terms);
  }
  double error = row_error(s->sizes.rows, c, terms, set, row);
  if (error > (places ? PAWL_LARGEST_ROUNDING : s->def.tolerance)) {
    size_late(s, d);
    lift_terms(s, d, G, size, terms);
    error = lifted(s, places, row_error(s->sizes.rows, c, terms, set, row));
  }
  return error;
}

typedef struct Rows {
  const PawlStepper* s;
  const PawlGa* d;
  const PawlPhase* phase;
} Rows;

// The terms of rows, which nothing else asks for where the rows hold, are in no array.
static void row_error_part(void* context, PawlPart part) {
  const Rows* rows = context;
  const PawlGa* d = rows->d;
  double terms[PAWL_GA_PART];
  const double *G = pawl_eval_values(d->residual_eval)->G, *c = d->c + part.first;
  int count = part.end - part.first;
  pawl_columns_some_sizes(&rows->s->dynamics.alike, &rows->s->G, G, d->size_q, part.first, part.end,
                          terms);
  pawl_ga_add_constants(rows->s, part, terms);
  const unsigned char* set = rows->phase->active;
  d->row_errors[part.number] =
      set ? largest_of_set(count, c, terms, set + part.first) : largest_of_all(count, c, terms);
}

static double late_row_error(const PawlStepper* s, PawlGa* d, const PawlPhase* phase) {
  double largest = 0.0;
  pawl_pool_loop(s->pool, s->sizes.rows, PAWL_GA_PART, row_error_part, &(Rows){s, d, phase});
  for (int k = 0; k < pawl_pool_parts(s->sizes.rows, PAWL_GA_PART); k++) {
    largest = larger(largest, d->row_errors[k]);
  }
  return largest;
}

// Of large models at position level they are computed here.
static void size_rows_late(const PawlStepper* s, PawlGa* d) {
  if (!d->c_sized) {
    pawl_columns_sizes(&s->dynamics.alike, &s->G, pawl_eval_values(d->residual_eval)->G, d->size_q,
                       d->c_size);
    pawl_ga_add_constants(s, (PawlPart){.end = s->sizes.rows}, d->c_size);
    d->c_sized = true;
  }
}

void pawl_ga_errors(const PawlStepper* s, PawlGa* d, const PawlPhase* phase) {
  PawlGaSums all = total(s, d->sums);
  bool places = d->level == PAWL_LEVEL_POSITION;
  double most = places ? PAWL_LARGEST_ROUNDING : s->def.tolerance;
  d->error_r = balance_error(all);
  d->error_own = all.own;
  if (!d->c_sized && s->dynamics.alike.by_rows) {
    d->error_c = late_row_error(s, d, phase);
    if (d->error_c <= s->def.tolerance) {
      return;
    }
  }
  size_rows_late(s, d);
  d->error_c = row_error(s->sizes.rows, d->c, d->c_size, phase->active, &d->worst_row);
  if (d->error_c > most) {
    const double* size[] = {d->size_q, d->size_v, d->size_a};
    size_late(s, d);
    lift_terms(s, d, pawl_eval_values(d->residual_eval)->G, size[d->level], d->c_size);
    double error = row_error(s->sizes.rows, d->c, d->c_size, phase->active, &d->worst_row);
    d->error_c = lifted(s, places, error);
  }
}

// ---- rounding -----------------------------------------------------------------------------------
// |M||v'| + |f| + |G|^T|lambda|, and what rounding of q and v has to do with it by K and C.  (A17)
static void round_part(void* context, PawlPart part) {
  const Rows* all = context;
  const PawlGa* d = all->d;
  const PawlPattern* H = &all->s->H;
  const PawlValues* tangent = pawl_eval_values(d->tangent_eval);
  int first = part.first;
  for (int j = first; j < part.end; j++) {
    d->rounded[j] = d->magnitude[j];
  }
  for (int j = first; j < part.end; j++) {
    Summed x = summed(d, j, d->size_q[j], d->size_v[j]);
    for (int k = H->start[j]; k < H->start[j + 1]; k++) {
      d->rounded[H->index[k]] += fabs(tangent->K[k]) * x.q + fabs(tangent->C[k]) * x.v;
    }
  }
  d->sums[part.number] =
      pawl_ga_balance_part(part.end - first, d->r + first, d->rounded + first, d->weight + first);
}

// Threads share it where no coordinate knows another: H, which has the whole diagonal, has no more.
static PawlGaSums round_balance(const PawlStepper* s, PawlGa* d) {
  Rows all = {.s = s, .d = d};
  int n = s->sizes.v;
  if (s->H.start[n] == n) {
    pawl_pool_loop(s->pool, n, PAWL_GA_PART, round_part, &all);
    return total(s, d->sums);
  }
  round_part(&all, (PawlPart){.end = n});
  return d->sums[0];
}

// The same for the constraint at its level, by its tangents, and of what turns by the squares of
// its rates: where a body turns about what a row holds, these are all that is left.        (A18)
static void round_rows(const PawlStepper* s, PawlGa* d, const PawlValues* values,
                       const PawlValues* tangent) {
  const PawlPattern* G = &s->G;
  int end = pawl_moving(s->sizes), first = end - 3 * (s->sizes.q - s->sizes.v);
  double spin = 0.0;
  for (int j = first; j < end; j++) {
    spin = larger(spin, d->size_v[j]);
  }
  size_rows_late(s, d);
  for (int i = 0; i < s->sizes.rows; i++) {
    d->rounded_c[i] = d->c_size[i];
  }
  for (int j = 0; j < G->cols; j++) {
    Summed x = summed(d, j, d->size_q[j], d->size_v[j]);
    for (int k = G->start[j]; k < G->start[j + 1]; k++) {
      double *terms = d->rounded_c + G->index[k], G_k = fabs(values->G[k]);
      switch (d->level) {
        case PAWL_LEVEL_POSITION:
          *terms += G_k * x.q;
          break;
        case PAWL_LEVEL_VELOCITY:
          *terms += G_k * x.v + fabs(tangent->G_rate[k]) * x.q;
          break;
        case PAWL_LEVEL_ACCELERATION:
          *terms += G_k * x.a + 2 * fabs(tangent->G_rate[k]) * x.v +
                    fabs(tangent->G_acceleration[k]) * x.q;
          *terms += tangent->G_turn ? fabs(tangent->G_turn[k]) * x.v : 0.0;
          *terms += j >= first && j < end ? G_k * spin * spin : 0.0;
          break;
      }
    }
  }
}

// Residuals are within the rounding of their terms.
static bool at_rounding(const PawlStepper* s, PawlGa* d, const PawlPhase* phase) {
  const PawlValues* tangent = pawl_eval_values(d->tangent_eval);
  int row = 0;
  if (d->simple) {
    return false;  // there are no tangents
  }
  pawl_ga_unfold(s, d);
  if (!d->sized || (d->level == PAWL_LEVEL_POSITION && !d->U)) {  // or of positions alone
    pawl_ga_size(s, d, d->U ? d->v_total : d->v, false);
  }
  if (!(balance_error(round_balance(s, d)) <= PAWL_ROUNDED)) {
    return false;
  }
  round_rows(s, d, pawl_eval_values(d->residual_eval), tangent);
  return row_error(s->sizes.rows, d->c, d->rounded_c, phase->active, &row) <= PAWL_ROUNDED;
}

static void weigh_part(void* context, PawlPart part) {
  const Rows* all = context;
  const PawlGa* d = all->d;
  double sum = 0.0;
  for (int j = part.first; j < part.end; j++) {
    sum += d->weight[j] * fabs(d->q[j]);
  }
  d->sums[part.number].needed = sum;
}

// Whether rounding of rows would leave more than the tolerance of the balance, by way of the
// multipliers that a correction makes of it; the last one, of a small correction, left its error by
// `dlambda`.                                                                                (A29)
bool pawl_ga_rests(const PawlStepper* s, PawlGa* d) {
  double sum = 0.0, last = 0.0;
  if (s->sizes.q != s->sizes.v || !(d->last_change <= PAWL_LAST_TO_SHRINK)) {
    return false;
  }
  pawl_pool_loop(s->pool, s->sizes.v, PAWL_GA_PART, weigh_part, &(Rows){.s = s, .d = d});
  for (int k = 0; k < pawl_pool_parts(s->sizes.v, PAWL_GA_PART); k++) {
    sum += d->sums[k].needed;
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    last = larger(last, fabs(d->dlambda[i]));
  }
  double noise = PAWL_HELD_RATE * PAWL_ROUNDED * sum;  // of multipliers, over beta'
  return d->error_r * noise > tolerance_of(s) * last;
}

// What is left of a row that holds to rounding is noise, and so is what a further correction would
// make of it: that asks it for nothing, G dq = 0.                                           (A29)
static void rest_part(void* context, PawlPart part) {
  const Rows* rows = context;
  const PawlGa* d = rows->d;
  const double* size = rows->s->system->row_constants;
  for (int i = part.first; i < part.end; i++) {
    double terms = d->c_size[i] + (size ? size[i] : 0.0);
    d->dlambda[i] = fabs(d->c[i]) <= PAWL_ROUNDED * terms ? 0.0 : d->dlambda[i];
  }
}

void pawl_ga_rest_rows(const PawlStepper* s, PawlGa* d) {
  size_rows_late(s, d);
  pawl_pool_loop(s->pool, s->sizes.rows, PAWL_GA_PART, rest_part, &(Rows){.s = s, .d = d});
}

// ---- the end ------------------------------------------------------------------------------------
// A correction is small where |dq| <= p (size + n l / sqrt(M)), l the square root of the largest
// M q^2, p and n the parts below: where M (|dq|/p - size)^2 <= n^2 l^2, unless |dq|/p is below the
// size. Of many, l^2 and the largest left side; `count` is a multiple of LANES.
PAWL_MANY_TARGETS static void see_settled(int count, double h, const double* restrict q,
                                          const double* restrict v, const double* restrict dq,
                                          const double* restrict weight, double* restrict largest,
                                          double* restrict needed) {
  double square[LANES] = {0}, need[LANES] = {0};
  for (int j = 0; j < count; j += LANES) {
    for (int k = 0; k < LANES; k++) {
      double M = weight[j + k], place = fabs(q[j + k]), moved = h * fabs(v[j + k]);
      double size = place > moved ? place : moved, mass = M > 0.0 ? M : INFINITY;
      double lacks = fabs(dq[j + k]) * (1.0 / PAWL_LAST_CORRECTION) - size;
      double of = lacks * fabs(lacks) * mass, own = M * place * place;
      square[k] = own > square[k] ? own : square[k];
      need[k] = of > need[k] ? of : need[k];
    }
  }
  for (int k = 0; k < LANES; k++) {
    *largest = square[k] > *largest ? square[k] : *largest;
    *needed = need[k] > *needed ? need[k] : *needed;
  }
}

static void settled_part(void* context, PawlPart part) {
  const Rows* all = context;
  const PawlGa* d = all->d;
  PawlGaSums* sums = &d->sums[part.number];
  int j = part.first, whole = (part.end - j) / LANES * LANES;
  double h = d->h;
  sums->largest = sums->needed = 0.0;
  see_settled(whole, h, d->q + j, d->v + j, d->dq + j, d->weight + j, &sums->largest,
              &sums->needed);
  if (j + whole < part.end) {  // the rest beside zeros
    double q[LANES] = {0}, v[LANES] = {0}, dq[LANES] = {0}, weight[LANES] = {0};
    for (int k = 0; j + whole + k < part.end; k++) {
      q[k] = d->q[j + whole + k];
      v[k] = d->v[j + whole + k];
      dq[k] = d->dq[j + whole + k];
      weight[k] = d->weight[j + whole + k];
    }
    see_settled(LANES, h, q, v, dq, weight, &sums->largest, &sums->needed);
  }
}

static bool many_settled(const PawlStepper* s, PawlGa* d) {
  double largest = 0.0, needed = 0.0;
  pawl_pool_loop(s->pool, s->sizes.v, PAWL_GA_PART, settled_part, &(Rows){.s = s, .d = d});
  for (int k = 0; k < pawl_pool_parts(s->sizes.v, PAWL_GA_PART); k++) {
    largest = larger(largest, d->sums[k].largest);
    needed = larger(needed, d->sums[k].needed);
  }
  return needed <= PAWL_COORDINATE_NOISE * PAWL_COORDINATE_NOISE * largest;
}

// True when the last correction was small for every coordinate by itself.
static bool each_settled(const PawlStepper* s, PawlGa* d) {
  bool same = s->sizes.q == s->sizes.v;
  pawl_ga_unfold(s, d);
  if (same && s->sizes.v >= PAWL_MANY) {
    return many_settled(s, d);
  }
  double largest = same ? sqrt(largest_square(s, d, d->q)) : 1.0;
  for (int j = 0; j < s->sizes.v; j++) {
    double M = d->weight[j];
    double size = larger(same ? fabs(d->q[j]) : 1.0, d->h * fabs(d->v[j])) +
                  (M > 0.0 ? PAWL_COORDINATE_NOISE * largest / sqrt(M) : 0.0);
    if (fabs(d->dq[j]) > PAWL_LAST_CORRECTION * size) {
      return false;
    }
  }
  return true;
}

// The same in linear equations, where a correction leaves to the next one nothing but what U and W
// do to the balance of forces, since its tangents leave that out.                          (A27)
static bool moves_little(const PawlStepper* s, PawlGa* d, int j) {
  static const double MOST = PAWL_LAST_CORRECTION * PAWL_LAST_CORRECTION;
  double dU = d->dU ? fabs(d->dU[j]) : 0.0, dW = d->dW ? fabs(d->dW[j]) : 0.0;
  if (dU == 0.0 && dW == 0.0) {
    return true;
  }
  if (s->G.start[j + 1] == s->G.start[j]) {  // else it is stored
    pawl_ga_unfold(s, d);
  }
  double q = s->sizes.q == s->sizes.v ? fabs(d->q[j]) : 1.0, v = fabs(d->v_total[j]);
  Summed of = summed(d, j, q, v);
  return dU <= MOST * larger(q, PAWL_SMALLEST_PART * of.q) &&
         dW <= MOST * larger(v, PAWL_SMALLEST_PART * of.v);
}

PAWL_APART static bool all_move_little(const PawlStepper* s, PawlGa* d) {
  for (int k = 0; d->columns && k < d->column_count; k++) {
    if (!moves_little(s, d, d->columns[k])) {
      return false;
    }
  }
  for (int p = 0; !d->columns && p < pawl_pool_parts(s->sizes.v, PAWL_GA_PART); p++) {
    PawlPart part = pawl_ga_part_of(s, p);
    for (int j = part.first; (!d->moved || d->moved[p]) && j < part.end; j++) {
      if (!moves_little(s, d, j)) {
        return false;
      }
    }
  }
  return true;
}

static bool settled(const PawlStepper* s, PawlGa* d) {
  bool exact = s->dynamics.linear && !d->simple && !s->dynamics.slip;
  return exact ? (!d->dU && !d->dW) || all_move_little(s, d) : each_settled(s, d);
}

// The last correction, computed where it is asked for: most steps end by their residuals.
static double change_of(const PawlStepper* s, PawlGa* d) {
  if (!d->change_known) {
    size_late(s, d);
    double of_U = d->dU ? pawl_ga_part(s, d, d->dU, d->size_q) : 0.0;
    double of_W = d->dW ? part_of_rates(s, d) : 0.0;
    d->change = larger(pawl_ga_part(s, d, d->dq, d->size_q), larger(of_U, of_W));
    d->change_known = true;
  }
  return d->change;
}

bool pawl_ga_may_end(const PawlStepper* s, PawlGa* d, const PawlPhase* phase, int corrections) {
  if (corrections > 0) {
    pawl_ga_errors(s, d, phase);
  }
  if (corrections > 0 && (d->error_own <= PAWL_OWN_BALANCE || settled(s, d))) {
    d->balanced = larger(d->error_r, d->error_c) <= tolerance_of(s) ||  // (A15) (A16)
                  at_rounding(s, d, phase);                             // (A17) (A18)
    if (d->balanced || change_of(s, d) <= PAWL_LAST_TO_SHRINK) {
      return true;
    }
  }
  d->best = INFINITY;
  d->last_change = corrections > 0 ? change_of(s, d) : INFINITY;
  return false;
}

bool pawl_ga_ended(const PawlStepper* s, PawlGa* d, double error_other) {
  double error = larger(larger(d->error_r, d->error_c), error_other);
  if (d->balanced && error_other <= tolerance_of(s)) {
    return true;
  }
  double change = change_of(s, d);
  bool stays = error <= PAWL_LARGEST_ROUNDING && error >= d->best &&
               change <= PAWL_LAST_TO_SHRINK && change >= 0.5 * d->last_change;  // (A19)
  d->best = error < d->best ? error : d->best;
  d->last_change = change;
  return stays;
}

// The coordinate whose forces are off most: by r_j^2 / M_jj, or by itself where it has no mass.
static int worst_coordinate(const PawlStepper* s, const PawlGa* d) {
  int worst = 0;
  double most = -1.0;
  for (int j = 0; j < s->sizes.v; j++) {
    double r = fabs(d->r[j]), M = d->weight[j], terms = d->magnitude[j];
    double off = M > 0.0 ? r / sqrt(M) : terms > 0.0 ? r / terms : 0.0;
    worst = off > most ? j : worst;
    most = larger(most, off);
  }
  return worst;
}

PawlStatus pawl_ga_stuck(PawlStepper* s, PawlGa* d, double t, PawlError* err) {
  pawl_ga_unfold(s, d);
  if (d->error_c > d->error_r) {
    int number;
    const char* name = pawl_system_row_name(s->system, d->worst_row, &number);
    if (!(d->error_c < INFINITY)) {  // nothing moves or acts in this row
      return pawl_fail(err, PAWL_RETRY,
                       "t = %.10g: Newton's method did not converge in %d iterations; constraint "
                       "'%s' (row %d) does not hold",
                       t, s->def.iterations, name, number + 1);
    }
    return pawl_fail(err, PAWL_RETRY,
                     "t = %.10g: Newton's method did not converge in %d iterations; constraint "
                     "'%s' (row %d) is off by %.3g of its size",
                     t, s->def.iterations, name, number + 1, d->error_c);
  }
  bool is_rate;
  const char* name = pawl_system_velocity_name(s->system, worst_coordinate(s, d), &is_rate);
  return pawl_fail(err, PAWL_RETRY,
                   "t = %.10g: Newton's method did not converge in %d iterations; the balance of "
                   "forces on '%s' is off by %.3g of their size",
                   t, s->def.iterations, name ? name : "v", d->error_r);
}
