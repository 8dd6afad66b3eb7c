// SPDX-License-Identifier: Apache-2.0
// Rows that depend on each other share a force in many ways: the least one within the bounds
// (docs/theory/rows.md). With k rows that follow from r others, G_follow = T G_kept, the forces
// that do not change x are
//   lambda_kept = mu - T^T lambda_follow                                                 (R10)
// and in u = lambda / weight, z = u_follow, the shares are u = a + N z with N = (1; -T'^T) and
// T'_dk = T_dk weight_d / weight_k. |u|^2 is least with bounds on u by the dual method of Goldfarb
// and Idnani.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/reduce.h"
#include "linalg/vector.h"
#include "switch/rows_impl.h"
#include "switch/tolerances.h"

enum { MOST_NUMBERS = 1 << 24 };     // of T: beyond, forces are not shared
static const double RIGID = 0x1p27;  // infinite weight, of the largest finite one: the square
                                     // of its inverse is rounding

bool pawl_share_room_alloc(PawlShareRoom* s, PawlArena* arena, int k, int r) {
  size_t most = (size_t)k * (size_t)r, square = (size_t)k * (size_t)k;
  int sum = k + r;
  s->row = PAWL_NEW(arena, int, sum);
  s->bound = PAWL_NEW(arena, int, k + 1);
  s->side = PAWL_NEW(arena, int, k + 1);
  double** of_sum[] = {&s->weight, &s->start, &s->u, &s->low, &s->high, &s->slack};
  double** of_k[] = {&s->z, &s->y, &s->d, &s->push, &s->pull};
  double** squares[] = {&s->L, &s->Y, &s->R};
  bool ok = s->row && s->bound && s->side && (s->T = PAWL_NEW(arena, double, most)) != NULL;
  for (size_t i = 0; i < sizeof of_sum / sizeof *of_sum; i++) {
    ok = ok && (*of_sum[i] = PAWL_NEW(arena, double, sum)) != NULL;
  }
  for (size_t i = 0; i < sizeof of_k / sizeof *of_k; i++) {
    ok = ok && (*of_k[i] = PAWL_NEW(arena, double, k + 1)) != NULL;
  }
  for (size_t i = 0; i < sizeof squares / sizeof *squares; i++) {
    ok = ok && (*squares[i] = PAWL_NEW(arena, double, square)) != NULL;
  }
  return ok;
}

// ---- which rows follow from which ---------------------------------------------------------------

// Rows of `set` that are not in k->in, then those that are; and T. False: not all of the former
// follow from the latter; with `all_or_none` T is then not filled.
static bool fill(PawlRowsWork* k, PawlShareRoom* s, const unsigned char* set, bool all_or_none) {
  int follow = 0, kept = s->k;
  for (int i = 0; i < k->m; i++) {
    if (set[i]) {
      s->row[k->in[i] ? kept++ : follow++] = i;
    }
  }
  bool follow_all = true;
  for (int a = 0; a < s->k && (follow_all || !all_or_none); a++) {
    double slope = k->ops->move(k, s->row[a]);
    follow_all = follow_all && pawl_rows_follows(k, s->row[a], slope);
    for (int b = 0; b < s->r; b++) {
      s->T[a * s->r + b] = -k->direction[s->row[s->k + b]];
    }
  }
  return follow_all;
}

// Row a takes the place of row b among those kept.
static void swap_rows(PawlShareRoom* s, int a, int b) {
  int r = s->r;
  double *T_a = s->T + (size_t)a * (size_t)r, inverse = 1.0 / T_a[b];
  for (int j = 0; j < r; j++) {  // G_b = (G_a - sum of the others) / T_ab
    T_a[j] *= j == b ? 0.0 : -inverse;
  }
  T_a[b] = inverse;
  for (int d = 0; d < s->k; d++) {
    double *T_d = s->T + (size_t)d * (size_t)r, factor = T_d[b];
    if (d == a || factor == 0.0) {
      continue;
    }
    T_d[b] = 0.0;
    pawl_add_scaled(r, T_d, factor, T_a);
  }
  int row = s->row[a];
  double weight = s->weight[a];
  s->row[a] = s->row[s->k + b];
  s->row[s->k + b] = row;
  s->weight[a] = s->weight[s->k + b];
  s->weight[s->k + b] = weight;
}

// Those kept come before those that follow from them: the first of two equal rows is kept.
static void keep_early(const PawlRowsWork* k, PawlShareRoom* s) {
  bool again = true;
  while (again) {
    again = false;
    for (int a = 0; a < s->k; a++) {
      int late = -1;
      for (int b = 0; b < s->r; b++) {
        int row = s->row[s->k + b], best = late < 0 ? s->row[a] : s->row[s->k + late];
        double part = fabs(s->T[a * s->r + b]) * sqrt(k->mobility[row]);
        late = row > best && part > PAWL_SHARE_PART * sqrt(k->mobility[s->row[a]]) ? b : late;
      }
      if (late >= 0) {
        swap_rows(s, a, late);
        again = true;
      }
    }
  }
}

// ---- the least shares ---------------------------------------------------------------------------

static void weigh(const PawlRowsWork* k, PawlShareRoom* s) {
  const double* given = k->bounds->weight;
  double most = 0.0;
  for (int i = 0; i < s->k + s->r; i++) {
    s->weight[i] = given ? given[s->row[i]] : 1.0;
    most = isfinite(s->weight[i]) ? fmax(most, s->weight[i]) : most;
  }
  double rigid = most > 0.0 ? RIGID * most : 1.0;
  for (int i = 0; i < s->k + s->r; i++) {
    s->weight[i] = fmin(fmax(s->weight[i], most / RIGID), rigid);
  }
}

// Keeps the rows with large weights: then |T'| <= 2, and 1 + T' T'^T is well conditioned.  (R11)
static void keep_heavy(PawlShareRoom* s) {
  static const double LARGE = 2.0;
  bool again = true;
  while (again) {
    again = false;
    for (int a = 0; a < s->k; a++) {
      double most = LARGE;
      int heavy = -1;
      for (int b = 0; b < s->r; b++) {
        double part = fabs(s->T[a * s->r + b]) * (s->weight[a] / s->weight[s->k + b]);
        heavy = part > most ? b : heavy;
        most = fmax(most, part);
      }
      if (heavy >= 0) {
        swap_rows(s, a, heavy);
        again = true;
      }
    }
  }
}

// u at z = 0, the bounds of u, and T' in the place of T.
static void scale(const PawlRowsWork* k, PawlShareRoom* s) {
  for (int i = 0; i < s->k + s->r; i++) {
    int row = s->row[i];
    s->start[i] = i < s->k ? 0.0 : k->lambda[row];
    s->low[i] = k->bounds->lo[row] / s->weight[i];
    s->high[i] = k->bounds->hi[row] / s->weight[i];
    s->slack[i] = pawl_rows_slack(k, row) / s->weight[i];
  }
  for (int a = 0; a < s->k; a++) {  // (R10)
    double* T = s->T + (size_t)a * (size_t)s->r;
    pawl_add_scaled(s->r, s->start + s->k, k->lambda[s->row[a]], T);
    for (int b = 0; b < s->r; b++) {
      T[b] *= s->weight[a] / s->weight[s->k + b];
    }
  }
  for (int i = s->k; i < s->k + s->r; i++) {
    s->start[i] /= s->weight[i];
  }
}

// 1 + T' T'^T = L L^T by columns.
static void factor_gram(PawlShareRoom* s) {
  int k = s->k;
  size_t r = (size_t)s->r;
  for (int j = 0; j < k; j++) {
    for (int i = j; i < k; i++) {
      double sum = pawl_dot(s->r, s->T + (size_t)i * r, s->T + (size_t)j * r) + (i == j);
      for (int l = 0; l < j; l++) {
        sum -= s->L[i + l * k] * s->L[j + l * k];
      }
      s->L[i + j * k] = i == j ? sqrt(sum) : sum / s->L[j + j * k];
    }
  }
}

static void lower(const PawlShareRoom* s, double* e) {  // e <- L^-1 e
  for (int j = 0; j < s->k; j++) {
    e[j] /= s->L[j + j * s->k];
    pawl_add_scaled(s->k - j - 1, e + j + 1, -e[j], s->L + j * s->k + j + 1);
  }
}

static void lower_transposed(const PawlShareRoom* s, double* e) {  // e <- L^-T e
  for (int j = s->k - 1; j >= 0; j--) {
    e[j] -= pawl_dot(s->k - j - 1, s->L + j * s->k + j + 1, e + j + 1);
    e[j] /= s->L[j + j * s->k];
  }
}

// u = start + N z; returns the first share beyond a bound, or -1. `*side`: +1 low, -1 high.
static int shares(PawlShareRoom* s, int* side) {
  int first = -1;
  for (int i = 0; i < s->k + s->r; i++) {
    double u = s->start[i], terms = fabs(u);
    for (int a = 0; i >= s->k && a < s->k; a++) {
      double part = s->T[a * s->r + i - s->k] * s->z[a];
      u -= part;
      terms += fabs(part);
    }
    s->u[i] = u = i < s->k ? s->z[i] : u;
    double slack = fmax(PAWL_SHARE_ALMOST * fmax(terms, fabs(u)), s->slack[i]);
    int beyond = (u < s->low[i] - slack) - (u > s->high[i] + slack);
    if (beyond != 0 && first < 0) {
      first = i;
      *side = beyond;
    }
  }
  return first;
}

// y = L^-1 (side N_i): the gradient of a bound in the metric of the shares.
static void gradient(const PawlShareRoom* s, int i, int side, double* y) {
  for (int a = 0; a < s->k; a++) {
    double N = i < s->k ? (a == i) : -s->T[a * s->r + i - s->k];
    y[a] = side * N;
  }
  lower(s, y);
}

// y becomes what is left of it orthogonal to the bounds in force; push = what they take.
static bool project(PawlShareRoom* s, double* y) {
  enum { TWICE = 2 };
  int k = s->k, count = s->count;
  for (int j = 0; j < count; j++) {
    gradient(s, s->bound[j], s->side[j], pawl_row(s->Y, k, j));
    s->push[j] = 0.0;
  }
  if (!pawl_reduce_orthonormal(k, count, s->Y, s->R)) {
    return false;
  }
  for (int pass = 0; pass < TWICE; pass++) {
    for (int j = 0; j < count; j++) {
      double part = pawl_dot(k, pawl_row(s->Y, k, j), y);
      s->push[j] += part;
      pawl_add_scaled(k, y, -part, pawl_row(s->Y, k, j));
    }
  }
  pawl_reduce_upper(count, s->R, s->push);
  return true;
}

// Brings share p onto its bound; bounds that would pull the other way are let go. False: it cannot
// get there.                                                                              (R12)
static bool add_bound(PawlShareRoom* s, int p, int side) {
  double pull = 0.0;
  for (;;) {
    double gap = side > 0 ? s->low[p] - s->u[p] : s->u[p] - s->high[p];
    gradient(s, p, side, s->y);
    double whole = pawl_dot(s->k, s->y, s->y), t = INFINITY;
    if (!project(s, s->y)) {
      return false;
    }
    double slope = pawl_dot(s->k, s->y, s->y);
    bool moves = slope > PAWL_ROUNDING * whole;
    int leaves = -1, ignored;
    t = moves ? gap / slope : t;
    for (int j = 0; j < s->count; j++) {
      double until = s->push[j] > 0.0 ? s->pull[j] / s->push[j] : INFINITY;
      leaves = until < t ? j : leaves;
      t = fmin(t, until);
    }
    if (isinf(t)) {
      return false;
    }
    pawl_add_scaled(s->count, s->pull, -t, s->push);
    pull += t;
    if (moves) {
      lower_transposed(s, s->y);
      pawl_add_scaled(s->k, s->z, t, s->y);
      (void)shares(s, &ignored);
    }
    if (leaves < 0) {
      s->bound[s->count] = p;
      s->side[s->count] = side;
      s->pull[s->count++] = pull;
      return true;
    }
    s->count--;
    for (int j = leaves; j < s->count; j++) {
      s->bound[j] = s->bound[j + 1];
      s->side[j] = s->side[j + 1];
      s->pull[j] = s->pull[j + 1];
    }
  }
}

// |u|^2 least without bounds, then one bound after the other that is not kept. False: the shares
// do not all come within their bounds.
static bool minimise(PawlShareRoom* s) {
  int side, p, most = 100 + 10 * (s->k + s->r);
  s->count = 0;
  factor_gram(s);
  for (int a = 0; a < s->k; a++) {
    s->z[a] = pawl_dot(s->r, s->T + (size_t)a * (size_t)s->r, s->start + s->k);
  }
  lower(s, s->z);
  lower_transposed(s, s->z);
  for (int i = 0; (p = shares(s, &side)) >= 0; i++) {
    if (i > most || !add_bound(s, p, side)) {
      return false;
    }
  }
  return true;
}

// ---- the whole ----------------------------------------------------------------------------------

static int count_flags(int m, const unsigned char* flags) {
  int count = 0;
  for (int i = 0; i < m; i++) {
    count += flags[i];
  }
  return count;
}

// Rows on their bound (flags) change places with rows that are kept, so that these can move.
static void release_bounds(PawlShareRoom* s, const unsigned char* on_bound) {
  for (int b = 0; b < s->r; b++) {
    int best = -1;
    for (int a = 0; on_bound[s->row[s->k + b]] && a < s->k; a++) {
      bool more = best < 0 || fabs(s->T[a * s->r + b]) > fabs(s->T[best * s->r + b]);
      best = !on_bound[s->row[a]] && more ? a : best;
    }
    if (best >= 0 && s->T[best * s->r + b] != 0.0) {
      swap_rows(s, best, b);
    }
  }
}

// lambda of the shares; bounds that are met are met exactly.
static void set_shares(PawlRowsWork* k, PawlShareRoom* s) {
  unsigned char* on_bound = k->in;
  memset(on_bound, 0, (size_t)k->m);
  for (int i = 0; i < s->k + s->r; i++) {
    int row = s->row[i];
    k->lambda[row] = pawl_rows_nearest(k, row, s->u[i] * s->weight[i]);
  }
  for (int j = 0; j < s->count; j++) {
    int row = s->row[s->bound[j]];
    k->lambda[row] = s->side[j] > 0 ? k->bounds->lo[row] : k->bounds->hi[row];
    on_bound[row] = 1;
  }
  release_bounds(s, on_bound);
}

// lambda of the rows kept once more from w = 0, which is more accurate.
static PawlStatus polish(PawlRowsWork* k, PawlShareRoom* s) {
  memset(k->in, 0, (size_t)k->m);
  for (int b = 0; b < s->r; b++) {
    k->in[s->row[s->k + b]] = 1;
  }
  PAWL_TRY(k->ops->factor(k));
  if (count_flags(k->m, k->in) == s->r) {
    double* before = k->direction;  // the shares are differences of what was carried before
    memcpy(before, k->size, (size_t)k->m * sizeof(double));
    pawl_rows_solve_set(k);
    for (int i = 0; i < k->m; i++) {
      k->size[i] = fmax(k->size[i], before[i]);
    }
  }
  for (int i = 0; i < k->m; i++) {  // T is of no use where rows are too near to each other
    if (k->tight[i] && fabs(k->w[i]) > PAWL_ROWS_ROUNDING * k->size[i]) {
      return PAWL_RETRY;
    }
  }
  return PAWL_OK;
}

static void mark_following(PawlRowsWork* k, PawlShareRoom* s, PawlRowsResult* result) {
  keep_early(k, s);
  for (int a = 0; a < s->k; a++) {
    result->state[s->row[a]] = PAWL_ROW_FOLLOWS;
  }
  result->following = s->k;
}

// Room and T for the rows of `set` that follow from those of k->in; NULL where there are none.
static PawlStatus prepare(PawlRowsWork* k, const unsigned char* set, bool all_or_none,
                          PawlArena* arena, PawlShareRoom* own, PawlShareRoom** room,
                          bool* follow_all) {
  int all = count_flags(k->m, set), r = count_flags(k->m, k->in);
  *room = NULL;
  *follow_all = true;
  if (r == all || (double)(all - r) * all > MOST_NUMBERS) {
    return PAWL_OK;
  }
  *room = k->room ? k->room : own;
  if (!k->room && !pawl_share_room_alloc(own, arena, all - r, r)) {
    return PAWL_ERROR_MEMORY;
  }
  (*room)->k = all - r;
  (*room)->r = r;
  *follow_all = fill(k, *room, set, all_or_none);
  return PAWL_OK;
}

// Splits `set` into independent rows, k->in, and those that follow from them. Often the rows that
// are factored suffice: then nothing is factored anew.
static PawlStatus split(PawlRowsWork* k, const unsigned char* set, PawlArena* arena,
                        PawlShareRoom* own, PawlShareRoom** room) {
  bool inside = true, follow_all = false;
  for (int i = 0; i < k->m; i++) {
    inside = inside && (set[i] || !k->in[i]);
  }
  if (inside) {
    PAWL_TRY(prepare(k, set, true, arena, own, room, &follow_all));
  }
  if (!follow_all) {
    memcpy(k->in, set, (size_t)k->m);
    PAWL_TRY(k->ops->factor(k));
    PAWL_TRY(prepare(k, set, false, arena, own, room, &follow_all));
  }
  return PAWL_OK;
}

static PawlStatus share(PawlRowsWork* k, PawlRowsResult* result, PawlArena* arena) {
  PawlShareRoom own, *s;
  int all = count_flags(k->m, k->tight);
  PAWL_TRY(split(k, k->tight, arena, &own, &s));
  result->shared = s || all == count_flags(k->m, k->in);
  if (!s) {
    return PAWL_OK;
  }
  weigh(k, s);
  keep_heavy(s);
  scale(k, s);
  result->shared = minimise(s);
  if (result->shared) {
    set_shares(k, s);
    PAWL_TRY(polish(k, s));
  }
  pawl_rows_show(k, result);
  for (int i = 0; i < k->m; i++) {
    k->tight[i] = result->state[i] == PAWL_ROW_FREE;
  }
  PAWL_TRY(split(k, k->tight, arena, &own, &s));
  if (s) {
    mark_following(k, s, result);
  }
  return PAWL_OK;
}

PawlStatus pawl_rows_share(PawlRowsWork* k, PawlRowsResult* result) {
  PawlArena arena = {0};
  bool loose = false;
  for (int i = 0; i < k->m; i++) {
    loose = loose || (k->tight[i] && !k->in[i]);
  }
  PawlStatus status = loose ? share(k, result, &arena) : PAWL_OK;
  pawl_arena_free(&arena);
  return status;
}
