// SPDX-License-Identifier: Apache-2.0
// The KKT system as a band: the unknowns are ordered such that those that share an equation are
// near each other, and column j of the matrix is stored from its first to its last row
// (docs/theory/ kkt.md, section 6). Elimination of column k touches
//   rows k+1 .. low[k], columns k+1 .. high[k]         without row exchanges
//   the same rows, columns up to high[low[k]] at most  with them
// both ascending in k, so no index is looked up in the loops. Where a column has one neighbour on
// either side (low = high = k + 1, a bar), a loop of its own keeps the pivot in a register; its
// formulas are the same, and so are the bits.
//
// An inactive row and its column are 0 but for 1 on the diagonal, until a set has served for some
// factorisations in a row: then they are left out. That leaves out operations with 0, and the
// numbers of L, U and the solution that are not 0 stay the same.
//
// A solution goes through stretches of unknowns that stay in the cache. What it reads of large
// systems is most of its time: from the second right side of a factorisation on the numbers of
// columns with one neighbour are read from lists of their own, and stretches where the right side
// is 0 and nothing comes in from a neighbour are passed over.
#include <math.h>
#include <string.h>

#include "linalg/kkt_impl.h"

// After so many factorisations with the same rows the inactive ones are left out. To place all
// entries anew costs about as much as two factorisations.
#define STEADY 8

// Unknowns that are solved for while they are in the cache.
#define STRETCH 64

struct PawlKktBand {
  int count;         // unknowns that take part
  bool left_out;     // inactive rows do not
  int steady;        // factorisations in a row with the set that is
  int* order;        // (size) the unknowns in the order of elimination, with every row
  int* at;           // (size) where an unknown is in it, -1: left out
  int* unknown;      // (size) and which unknown is there
  int *low, *high;   // (size) the last row and column that column k is eliminated from
  int* base;         // (size) A_ij is values[base[j] + i]
  int *top, *first;  // (size) the first row of column j in U, and the same without row exchanges
  int* pivot;        // (size) the row that was exchanged with row k
  int* run_end;      // (size) columns k .. run_end[k] - 1 have one neighbour on either side
  bool narrow;       // no column reaches beyond the next stretch
  bool* slim;        // by stretch: each column has one neighbour on either side
  bool* idle;        // by stretch: nothing but 0 in the solution under way
};

// [1] The largest entry of L without row exchanges: less than in a small dense matrix, since there
// are more columns through which it may grow.
static const double MOST_GROWTH = 16.0;

// ---- creation -----------------------------------------------------------------------------------

static void reach(const PawlKktBand* b, const PawlKktBlock* block) {
  for (int e = 0; e < block->count; e++) {
    int i = b->at[block->row[e]], j = b->at[block->col[e]];
    if (i < 0 || j < 0) {
      continue;
    }
    if (i > j) {
      b->low[j] = i > b->low[j] ? i : b->low[j];
    } else {
      b->high[i] = j > b->high[i] ? j : b->high[i];
    }
  }
}

static void find_extents(const PawlKkt* kkt, PawlKktBand* b) {
  int count = 0, n = kkt->n;
  for (int k = 0; k < kkt->size; k++) {
    int unknown = b->order[k];
    bool in = unknown < n || !b->left_out || kkt->set[unknown - n];
    b->low[count] = b->high[count] = count;
    b->at[unknown] = in ? count : -1;
    b->unknown[count] = unknown;
    count += in;
  }
  b->count = count;
  reach(b, &kkt->block_S);
  reach(b, &kkt->block_B);
  reach(b, &kkt->block_J);
  for (int k = 1; k < count; k++) {
    b->low[k] = b->low[k - 1] > b->low[k] ? b->low[k - 1] : b->low[k];
    b->high[k] = b->high[k - 1] > b->high[k] ? b->high[k - 1] : b->high[k];
  }
}

// Where the columns begin; returns the number of entries, at most that with every row.
static size_t place_columns(const PawlKktBand* b) {
  size_t next = 0;
  for (int j = 0, storage = 0, first = 0; j < b->count; j++) {
    while (b->high[b->low[storage]] < j) {
      storage++;
    }
    while (b->high[first] < j) {
      first++;
    }
    b->first[j] = first;
    b->base[j] = (int)next - storage;
    next += (size_t)(b->low[j] - storage + 1);
    if (next > INT32_MAX) {
      return next;
    }
  }
  return next;
}

static void find_runs(const PawlKktBand* b) {
  for (int k = b->count - 1; k >= 0; k--) {
    bool slim = b->low[k] == k + 1 && b->high[k] == k + 1;
    b->run_end[k] = slim ? b->run_end[k + 1] : k;
  }
}

static int end_of(const PawlKktBand* b, int first) {
  return b->count - first < STRETCH ? b->count : first + STRETCH;
}

static void find_widths(PawlKktBand* b) {
  b->narrow = true;
  for (int k = 0; k < b->count; k++) {
    b->narrow &= b->low[k] - k < STRETCH && k - b->first[k] < STRETCH;
  }
  for (int first = 0; first < b->count; first += STRETCH) {
    int end = end_of(b, first), last = end < b->count ? end : end - 1;
    bool alone =
        first == 0 || b->first[first] >= first - 1;  // no row before the last one reaches in
    bool begins = first == 0 || (alone && b->run_end[first - 1] > first - 1);
    b->slim[first / STRETCH] = begins && b->run_end[first] >= last;
  }
}

static double entries_of(const PawlKktBand* b) {
  double sum = 0.0;
  for (int k = 0; k < b->count; k++) {
    sum += b->low[k] - k + b->high[k] - k + 1;
  }
  return sum;
}

static inline void place_entry(const PawlKktBand* b, PawlKktBlock* block, int e) {
  block->place[e] = b->base[b->at[block->col[e]]] + b->at[block->row[e]];
}

static void place_row(PawlKkt* kkt, int i) {
  for (int e = kkt->row_start[i]; e < kkt->row_start[i + 1]; e++) {
    int k = kkt->row_entry[e];
    if (kkt->set[i]) {
      place_entry(kkt->band, &kkt->block_B, k);
      place_entry(kkt->band, &kkt->block_J, k);
    } else {
      kkt->block_B.place[k] = kkt->behind + k;
      kkt->block_J.place[k] = kkt->behind + kkt->block_B.count + k;
    }
  }
}

// Places everything anew, with the inactive rows or without them.
static void fit(PawlKkt* kkt, bool leave_out) {
  PawlKktBand* b = kkt->band;
  pawl_kkt_forget(kkt);
  b->left_out = leave_out;
  find_extents(kkt, b);
  kkt->value_count = (int)place_columns(b);
  find_runs(b);
  find_widths(b);
  for (int e = 0; e < kkt->block_S.count; e++) {
    place_entry(b, &kkt->block_S, e);
  }
  for (int i = 0; i < kkt->m; i++) {
    place_row(kkt, i);
  }
  kkt->info.nonzeros = (int)entries_of(b);
}

void pawl_kkt_band_switch(PawlKkt* kkt, const unsigned char* active) {
  PawlKktBand* b = kkt->band;
  bool left_out = b->left_out;
  b->steady = 0;
  for (int i = 0; i < kkt->m; i++) {
    unsigned char on = !active || active[i];
    if (on != kkt->set[i]) {
      kkt->set[i] = on;
      if (!left_out) {
        place_row(kkt, i);
      }
    }
  }
  if (left_out) {
    fit(kkt, false);
  }
}

void pawl_kkt_band_clear(PawlKkt* kkt) {
  PawlKktBand* b = kkt->band;
  if (b->steady == STEADY && kkt->inactive_count > 0 && !b->left_out) {
    fit(kkt, true);
  }
  b->steady += b->steady < STEADY;
  memset(kkt->values, 0, (size_t)kkt->value_count * sizeof *kkt->values);
  for (int a = 0; a < kkt->inactive_count && !b->left_out; a++) {
    int k = b->at[kkt->n + kkt->inactive[a]];
    kkt->values[b->base[k] + k] = 1.0;
  }
}

static PawlStatus take_memory(const PawlKkt* kkt, PawlArena* arena, PawlKktBand* b) {
  int** arrays[] = {&b->order, &b->at,   &b->unknown, &b->low,
                    &b->high,  &b->base, &b->first,   &b->run_end};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
    *arrays[k] = PAWL_NEW(arena, int, kkt->size + 1);
  }
  return arena->failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}

PawlStatus pawl_kkt_band_choose(const PawlKkt* kkt, PawlArena* arena, int** order,
                                double* entries) {
  PawlKktBand b = {0};
  *entries = INFINITY;
  PAWL_TRY(take_memory(kkt, arena, &b));
  for (int by_breadth = 0; by_breadth < 2; by_breadth++) {
    b.order = PAWL_NEW(arena, int, kkt->size);
    if (!b.order) {
      return PAWL_ERROR_MEMORY;
    }
    PAWL_TRY(pawl_kkt_order_band(kkt, by_breadth, b.order));
    find_extents(kkt, &b);
    double of_this = entries_of(&b);
    *order = of_this < *entries ? b.order : *order;
    *entries = fmin(of_this, *entries);
  }
  return PAWL_OK;
}

void pawl_kkt_band_turn(PawlKkt* kkt, int turn) {
  PawlKktKept *from = &kkt->kept[kkt->turn], *to = &kkt->kept[turn];
  from->plain = kkt->plain;
  kkt->turn = turn;
  kkt->values = to->values;
  kkt->plain = to->plain;
  kkt->band->pivot = to->pivot;
  kkt->band->top = to->top;
}

PawlStatus pawl_kkt_band_create(PawlKkt* kkt, const int* order) {
  PawlKktBand* b = PAWL_NEW(&kkt->arena, PawlKktBand, 1);
  if (!b) {
    return PAWL_ERROR_MEMORY;
  }
  PAWL_TRY(take_memory(kkt, &kkt->arena, b));
  memcpy(b->order, order, (size_t)kkt->size * sizeof *order);
  find_extents(kkt, b);
  size_t count = place_columns(b);
  if (count + 2 * (size_t)kkt->block_J.count > INT32_MAX) {
    return PAWL_ERROR_MEMORY;
  }
  kkt->behind = (int)count;
  for (int k = 0; k < PAWL_KKT_KEPT; k++) {
    PawlKktKept* kept = &kkt->kept[k];
    kept->values = PAWL_NEW(&kkt->arena, double, count + 2 * (size_t)kkt->block_J.count);
    kept->pivot = PAWL_NEW(&kkt->arena, int, kkt->size);
    kept->top = PAWL_NEW(&kkt->arena, int, kkt->size);
    kept->slim = PAWL_NEW(&kkt->arena, double, kkt->size);
    kept->slim_up = PAWL_NEW(&kkt->arena, double, 2 * (size_t)kkt->size);
  }
  b->slim = PAWL_NEW(&kkt->arena, bool, kkt->size / STRETCH + 1);
  b->idle = PAWL_NEW(&kkt->arena, bool, kkt->size / STRETCH + 1);
  if (kkt->arena.failed) {
    return PAWL_ERROR_MEMORY;
  }
  kkt->band = b;
  pawl_kkt_band_turn(kkt, 0);
  fit(kkt, false);
  return PAWL_OK;
}

// ---- factorisation without row exchanges --------------------------------------------------------

typedef struct Judged {  // the largest entry of L, the smallest pivot
  double top, least;
} Judged;

static inline Judged judged(Judged j, double pivot, double l) {
  double d = fabs(pivot), size = fabs(l);
  return (Judged){size > j.top ? size : j.top, d < j.least ? d : j.least};
}

// Column k from columns up to `high`: row k has entries no further.
static inline double eliminate(const PawlKktBand* b, double* A, int k, int high) {
  double *a = A + b->base[k], d = 1.0 / a[k], top = 0.0;
  int low = b->low[k];
  a[k] = d;
  for (int i = k + 1; i <= low; i++) {
    a[i] *= d;
    top = fabs(a[i]) > top ? fabs(a[i]) : top;
  }
  for (int j = k + 1; j <= high; j++) {
    double *c = A + b->base[j], u = c[k];
    for (int i = k + 1; i <= low; i++) {
      c[i] -= u * a[i];
    }
  }
  return top;
}

// Columns k .. end - 1, each with one neighbour on either side.
static inline Judged eliminate_slim(const PawlKktBand* b, double* A, int k, int end,
                                    Judged so_far) {
  const int* base = b->base;
  double pivot = A[base[k] + k];
  for (; k < end; k++) {
    double *a = A + base[k] + k, *c = A + base[k + 1] + k;
    double d = 1.0 / pivot, l = a[1] * d;
    a[0] = d;
    a[1] = l;
    so_far = judged(so_far, pivot, l);
    pivot = c[1] - c[0] * l;
  }
  A[base[k] + k] = pivot;
  return so_far;
}

bool pawl_kkt_band_factor_plain(PawlKkt* kkt, double smallest) {
  PawlKktBand* b = kkt->band;
  double* A = kkt->values;
  int count = b->count;
  Judged so_far = {0.0, INFINITY};
  kkt->plain = false;
  kkt->kept[kkt->turn].solved = 0;
  for (int k = 0; k < count && so_far.top <= MOST_GROWTH;) {
    if (b->run_end[k] > k) {
      so_far = eliminate_slim(b, A, k, b->run_end[k], so_far);
      k = b->run_end[k];
    } else {
      double pivot = A[b->base[k] + k];
      so_far = judged(so_far, pivot, eliminate(b, A, k, b->high[k]));
      k++;
    }
  }
  kkt->plain = so_far.top <= MOST_GROWTH && so_far.least > smallest;
  return kkt->plain;
}

// ---- factorisation with row exchanges -----------------------------------------------------------

static int pivot_row(const PawlKktBand* b, const double* a, int k) {
  int p = k;
  double top = fabs(a[k]);
  for (int i = k + 1; i <= b->low[k]; i++) {
    double v = fabs(a[i]);
    p = v > top ? i : p;
    top = v > top ? v : top;
  }
  return p;
}

static void exchange(const PawlKktBand* b, double* A, int k, int p, int high) {
  for (int j = k; j <= high; j++) {
    double *c = A + b->base[j], t = c[k];
    c[k] = c[p];
    c[p] = t;
  }
}

// The rows of L stay where they were when their column was eliminated: the solution makes the
// exchanges one by one.
PawlStatus pawl_kkt_band_factor(PawlKkt* kkt, double smallest) {
  PawlKktBand* b = kkt->band;
  double *A = kkt->values, least = INFINITY;
  int count = b->count, high = -1;
  kkt->info.full++;
  for (int k = 0; k < count; k++) {
    double* a = A + b->base[k];
    int p = pivot_row(b, a, k);
    if (!(fabs(a[p]) > smallest)) {
      return PAWL_RETRY;
    }
    for (; high < b->high[p]; high++) {
      b->top[high + 1] = k < high + 1 ? k : high + 1;
    }
    if (p != k) {
      exchange(b, A, k, p, high);
    }
    b->pivot[k] = p;
    least = fabs(a[k]) < least ? fabs(a[k]) : least;
    (void)eliminate(b, A, k, high);
  }
  kkt->inverse_pivot = 1.0 / least;
  return PAWL_OK;
}

bool pawl_kkt_band_is_definite(const PawlKkt* kkt) {
  const PawlKktBand* b = kkt->band;
  bool positive = kkt->plain && kkt->active_count == 0;
  for (int k = 0; positive && k < kkt->n; k++) {
    positive = kkt->values[b->base[k] + k] > 0.0;
  }
  return positive;
}

// ---- solution -----------------------------------------------------------------------------------

// Columns first .. end - 1 of w <- L^-1 w without row exchanges
static void substitute_down(const PawlKktBand* b, const double* A, int first, int end, double* w) {
  for (int k = first; k < end;) {
    double v = w[k];
    int last = b->run_end[k] < end ? b->run_end[k] : end;
    for (; k < last; k++) {
      w[k + 1] = v = w[k + 1] - v * A[b->base[k] + k + 1];
    }
    if (k < end) {
      const double* a = A + b->base[k];
      for (int i = k + 1; i <= b->low[k]; i++) {
        w[i] -= v * a[i];
      }
      k++;
    }
  }
}

static void substitute_down_exchanged(const PawlKktBand* b, const double* A, int count, double* w) {
  for (int k = 0; k < count; k++) {
    const double* a = A + b->base[k];
    int p = b->pivot[k];
    double v = w[p];
    w[p] = w[k];
    w[k] = v;
    for (int i = k + 1; i <= b->low[k]; i++) {
      w[i] -= v * a[i];
    }
  }
}

// Columns end - 1 .. first of w <- U^-1 w, `top` being the first rows of U's columns
static void substitute_up(const PawlKktBand* b, const double* A, const int* top, int first, int end,
                          double* w) {
  double next = end > first ? w[end - 1] : 0.0;
  for (int k = end - 1; k >= first; k--) {
    const double* a = A + b->base[k];
    double v = next * a[k];
    w[k] = v;
    if (top[k] == k - 1) {  // one neighbour: it stays in a register
      next = w[k - 1] - v * a[k - 1];
      continue;
    }
    for (int i = top[k]; i < k; i++) {
      w[i] -= v * a[i];
    }
    next = k > 0 ? w[k - 1] : 0.0;
  }
  if (first > 0) {
    w[first - 1] = next;
  }
}

// Rows first .. end - 1 of the scaled right side, and of what was found.
static void load(const PawlKkt* kkt, int first, int end, const double* x, const double* y) {
  int n = kkt->n;
  const int* unknown = kkt->band->unknown;
  const double* R = kkt->row_scale;
  for (int k = first; k < end; k++) {
    int j = unknown[k];
    double given = j < n ? x[j] : kkt->set[j - n] ? y[j - n] : 0.0;
    kkt->work[k] = given * R[j];
  }
}

// The sign of a 0 could hang on whether inactive rows are left out: adding 0 makes it positive.
static void unload(const PawlKkt* kkt, int first, int end, double* x, double* y) {
  int n = kkt->n;
  const int* unknown = kkt->band->unknown;
  const double* C = kkt->col_scale;
  for (int k = first; k < end; k++) {
    int j = unknown[k];
    double found = kkt->work[k] * C[j] + 0.0;
    if (j < n) {
      x[j] = found;
    } else if (kkt->set[j - n]) {
      y[j - n] = found;
    }
  }
}

// What slim stretches read, once there is a second right side.
static void set_apart(const PawlKkt* kkt, PawlKktKept* kept) {
  const PawlKktBand* b = kkt->band;
  if (kept->solved == 2 || ++kept->solved < 2) {
    return;
  }
  for (int k = 0; k < b->count; k++) {
    if (b->slim[k / STRETCH]) {
      const double* a = kkt->values + b->base[k] + k;
      kept->slim[k] = k + 1 < b->count ? a[1] : 0.0;
      kept->slim_up[2 * k] = a[0];
      kept->slim_up[2 * k + 1] = k > 0 ? a[-1] : 0.0;
    }
  }
}

// The formulas of substitute_down() and substitute_up() for a slim stretch.
static void slim_down(const PawlKktBand* b, const double* l, int first, int end, double* w) {
  double v = w[first];
  for (int k = first; k < end && k + 1 < b->count; k++) {
    w[k + 1] = v = w[k + 1] - v * l[k];
  }
}
static void slim_up(const double* u, int first, int end, double* w) {
  double next = w[end - 1];
  for (int k = end - 1; k > first; k--) {
    double v = next * u[2 * k];
    w[k] = v;
    next = w[k - 1] - v * u[2 * k + 1];
  }
  w[first] = next * u[2 * first];
  if (first > 0) {
    w[first - 1] -= w[first] * u[2 * first + 1];
  }
}

static bool is_zero(double x) {  // and not -0, which a solution makes 0
  return x == 0.0 && !signbit(x);
}

static bool all_zero(const double* x, int first, int end) {
  int k = first;
  while (k < end && x[k] == 0.0) {
    k++;
  }
  return k >= end;
}

// Whether nothing is given for rows first .. end - 1.
static bool is_given_none(const PawlKkt* kkt, int first, int end, const double* x,
                          const double* y) {
  int n = kkt->n, k = first;
  const int* unknown = kkt->band->unknown;
  for (; k < end; k++) {
    int j = unknown[k];
    if (!(j < n ? is_zero(x[j]) : !kkt->set[j - n] || is_zero(y[j - n]))) {
      return false;
    }
  }
  return true;
}

static void go_down(const PawlKkt* kkt, const PawlKktKept* kept, const double* x, const double* y) {
  const PawlKktBand* b = kkt->band;
  double* w = kkt->work;
  for (int first = 0, loaded = 0; first < b->count; first += STRETCH) {
    int end = end_of(b, first), s = first / STRETCH;
    int reach = b->low[end - 1] + 1;  // low ascends
    b->idle[s] = b->narrow && b->count > STRETCH && all_zero(w, first, loaded) &&
                 is_given_none(kkt, loaded, reach, x, y);
    if (b->idle[s]) {
      memset(w + end, 0, (size_t)(reach - end) * sizeof *w);
    } else {
      load(kkt, loaded, reach, x, y);
      if (b->slim[s] && kept->solved == 2) {
        slim_down(b, kept->slim, first, end, w);
      } else {
        substitute_down(b, kkt->values, first, end, w);
      }
    }
    loaded = reach;
  }
}

static void go_up(const PawlKkt* kkt, const PawlKktKept* kept, double* x, double* y) {
  const PawlKktBand* b = kkt->band;
  double* w = kkt->work;
  for (int first = (b->count - 1) / STRETCH * STRETCH; first >= 0; first -= STRETCH) {
    int end = end_of(b, first), s = first / STRETCH;
    int top = b->first[first] < first ? b->first[first] : first;  // rows from there on change
    if (b->idle[s]) {
      continue;
    }
    if (s > 0 && b->idle[s - 1]) {
      memset(w + first - STRETCH, 0, STRETCH * sizeof *w);
    }
    if (b->slim[s] && kept->solved == 2) {
      slim_up(kept->slim_up, first, end, w);
    } else {
      substitute_up(b, kkt->values, b->first, first, end, w);
    }
    if (s > 0 && b->idle[s - 1]) {
      b->idle[s - 1] = all_zero(w, top, first);
    }
    unload(kkt, first, end, x, y);
  }
}

// In stretches that stay in the cache from what is given to L, and from U to what is found.
static void solve_plain(PawlKkt* kkt, double* x, double* y) {
  PawlKktKept* kept = &kkt->kept[kkt->turn];
  set_apart(kkt, kept);
  go_down(kkt, kept, x, y);
  go_up(kkt, kept, x, y);
}

void pawl_kkt_band_solve(PawlKkt* kkt, double* x, double* y) {
  const PawlKktBand* b = kkt->band;
  int count = b->count;
  if (kkt->plain) {
    solve_plain(kkt, x, y);
    return;
  }
  load(kkt, 0, count, x, y);
  substitute_down_exchanged(b, kkt->values, count, kkt->work);
  substitute_up(b, kkt->values, b->top, 0, count, kkt->work);
  unload(kkt, 0, count, x, y);
}
