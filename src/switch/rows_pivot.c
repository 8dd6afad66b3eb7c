// SPDX-License-Identifier: Apache-2.0
// Which rows are free and which at a bound (docs/theory/rows.md): all rows in the wrong place
// change it at once; when that does not end, one row at a time, which does.
#include <math.h>
#include <string.h>

#include "switch/rows_impl.h"
#include "switch/tolerances.h"

bool pawl_rows_work_alloc(PawlRowsWork* k, PawlArena* arena, int m) {
  k->m = m;
  k->size = PAWL_NEW(arena, double, m);
  k->given = PAWL_NEW(arena, double, m);
  k->direction = PAWL_NEW(arena, double, m);
  k->in = PAWL_NEW(arena, unsigned char, m);
  k->tight = PAWL_NEW(arena, unsigned char, m);
  k->flags = PAWL_NEW(arena, unsigned char, m);
  k->given_up = PAWL_NEW(arena, unsigned char, m);
  k->agrees = PAWL_NEW(arena, unsigned char, m);
  return k->size && k->given && k->direction && k->in && k->tight && k->flags && k->given_up &&
         k->agrees;
}

double pawl_rows_nearest(const PawlRowsWork* k, int i, double lambda) {
  return fmin(fmax(lambda, k->bounds->lo[i]), k->bounds->hi[i]);
}

double pawl_rows_slack(const PawlRowsWork* k, int i) {
  return k->mobility[i] > 0.0 ? PAWL_ROWS_ROUNDING * k->size[i] / k->mobility[i] : 0.0;
}

bool pawl_rows_follows(const PawlRowsWork* k, int p, double slope) {
  double terms = 0.0;
  for (int j = 0; j < k->m; j++) {
    terms += fabs(k->direction[j]) * sqrt(k->mobility[j]);
  }
  return slope <= PAWL_DEPENDENT_PIVOT * k->mobility[p] + PAWL_ROWS_SLOPE_NOISE * terms * terms;
}

// ---- what is wrong ------------------------------------------------------------------------------

int pawl_rows_pull(const PawlRowsWork* k, int i, double w) {
  double slack = PAWL_ROWS_ROUNDING * k->size[i];
  if (k->given_up[i] || k->agrees[i] || pawl_rows_fixed(k, i)) {
    return 0;
  }
  return (w < -slack && k->lambda[i] < k->bounds->hi[i]) -
         (w > slack && k->lambda[i] > k->bounds->lo[i]);
}

static int pull(const PawlRowsWork* k, int i) {
  return pawl_rows_pull(k, i, k->w[i]);
}

// A row of the set: whether its lambda is beyond a bound.
static bool beyond(const PawlRowsWork* k, int i) {
  return fabs(k->lambda[i] - pawl_rows_nearest(k, i, k->lambda[i])) > pawl_rows_slack(k, i);
}

static bool wrong(const PawlRowsWork* k, int i) {
  return k->in[i] ? beyond(k, i) : pull(k, i) != 0;
}

static int count_wrong(const PawlRowsWork* k) {
  int count = 0;
  for (int i = 0; i < k->m; i++) {
    count += wrong(k, i);
  }
  return count;
}

// The largest size of rows, measured by their compliance.
static double largest(const PawlRowsWork* k, const double* size) {
  double most = k->acting;
  for (int i = 0; i < k->m; i++) {
    most = k->mobility[i] > 0.0 ? fmax(most, size[i] / sqrt(k->mobility[i])) : most;
  }
  return most;
}

void pawl_rows_solve_set(PawlRowsWork* k) {
  k->ops->solve(k);
  double most = largest(k, k->size);
  for (int i = 0; i < k->m; i++) {
    k->size[i] = fmax(k->size[i], PAWL_ROWS_NEIGHBOURS * most * sqrt(k->mobility[i]));
  }
}

// Rows that nearly contradict each other ask for forces beside which all else is rounding, and rows
// of the set may then not hold.
static bool drowned(const PawlRowsWork* k) {
  double given = largest(k, k->given);
  for (int i = 0; i < k->m; i++) {
    double lo = fabs(k->bounds->lo[i]), hi = fabs(k->bounds->hi[i]), root = sqrt(k->mobility[i]);
    given = fmax(given, isfinite(lo) ? lo * root : 0.0);
    given = fmax(given, isfinite(hi) ? hi * root : 0.0);
    if (k->in[i] && fabs(k->w[i]) > PAWL_ROWS_ROUNDING * k->size[i]) {
      return true;
    }
  }
  return largest(k, k->size) > PAWL_ROWS_DROWNED * given;
}

static PawlStatus refresh(PawlRowsWork* k) {
  PAWL_TRY(k->ops->factor(k));
  pawl_rows_solve_set(k);
  for (int i = 0; i < k->m; i++) {
    if (!isfinite(k->w[i]) || !isfinite(k->lambda[i])) {
      return PAWL_RETRY;
    }
  }
  return PAWL_OK;
}

// ---- all at once --------------------------------------------------------------------------------

// A row that leaves stays at the bound that it went beyond; one that enters forgets its own, for
// the case that it follows from others and is taken out again.
static void change(PawlRowsWork* k, int i) {
  k->lambda[i] = pawl_rows_nearest(k, i, k->in[i] ? k->lambda[i] : 0.0);
  k->in[i] = !k->in[i];
}

// A row with w = 0: what changes elsewhere will probably press on it.
static bool touches(const PawlRowsWork* k, int i) {
  return !k->in[i] && !pawl_rows_fixed(k, i) && fabs(k->w[i]) <= PAWL_ROWS_ROUNDING * k->size[i];
}

static int count_in(const PawlRowsWork* k) {
  int count = 0;
  for (int i = 0; i < k->m; i++) {
    count += k->in[i];
  }
  return count;
}

static int count_pulled(const PawlRowsWork* k) {
  int count = 0;
  for (int i = 0; i < k->m; i++) {
    count += !k->in[i] && pull(k, i) != 0;
  }
  return count;
}

// Rows that are pulled come in; with `ahead` those, too, that they will probably press on.
static void come_in(PawlRowsWork* k, bool first, bool ahead) {
  for (int i = 0; i < k->m; i++) {
    k->tight[i] = !k->in[i] && pull(k, i) != 0;
  }
  if (ahead) {
    k->ops->spread(k);
  }
  for (int i = 0; i < k->m; i++) {
    if (k->tight[i] || (first && touches(k, i))) {
      change(k, i);
    }
  }
}

// Rows beyond their bounds go out; with `few` those alone that are so more than their neighbours.
static void go_out(PawlRowsWork* k, bool few) {
  for (int i = 0; i < k->m; i++) {
    k->tight[i] = k->in[i] && beyond(k, i);
  }
  for (int i = 0; i < k->m; i++) {
    k->flags[i] = k->tight[i] && (!few || !k->ops->leads || k->ops->leads(k, i));
  }
  for (int i = 0; i < k->m; i++) {
    if (k->flags[i]) {
      change(k, i);
    }
  }
}

// *done is false when the rows in the wrong place do not become fewer in some rounds.       (R6)
static PawlStatus change_blocks(PawlRowsWork* k, PawlRowsResult* result, bool* done) {
  enum { PATIENCE = 6 };
  int fewest = k->m + 1, patience = PATIENCE;
  *done = false;
  for (bool first = true;; first = false) {
    PAWL_TRY(refresh(k));
    result->rounds++;
    int count = count_wrong(k);
    patience = count < fewest ? PATIENCE : patience - 1;
    fewest = count < fewest ? count : fewest;
    *done = count == 0;
    if (*done || patience < 0) {
      return PAWL_OK;
    }
    for (int i = 0; i < k->m; i++) {
      if (wrong(k, i) || (first && touches(k, i))) {
        change(k, i);
      }
    }
  }
}

// The same for many rows, of which a few come in next to each other, round after round: none goes
// out where some come in, as long as that makes the wrong ones fewer. (R6)
static PawlStatus change_fronts(PawlRowsWork* k, PawlRowsResult* result, bool* done) {
  enum { PATIENCE = 6 };
  int fewest = k->m + 1, patience = PATIENCE, last = 2 * k->m;
  int held = -1;
  *done = false;
  for (bool first = true;; first = false) {
    PAWL_TRY(refresh(k));
    result->rounds++;
    int count = count_wrong(k), pulled = count_pulled(k), holds = count_in(k);
    bool fewer = count<fewest, alone = pulled == count, some = pulled> 0;
    bool grows = some && (fewer || alone);
    patience = fewer ? PATIENCE : patience - !(grows && alone && holds > held);
    fewest = fewer ? count : fewest;
    *done = count == 0;
    if (*done || patience < 0) {
      return PAWL_OK;
    }
    if (some || first) {
      come_in(k, first, grows);
    }
    if (!grows && !alone) {
      go_out(k, 2 * count <= last);
    }
    last = count;
    held = holds;
  }
}

// ---- one at a time ------------------------------------------------------------------------------

// A set with lambda within the bounds: rows beyond them leave until there are none.
static PawlStatus retreat(PawlRowsWork* k) {
  bool left = true;
  while (left) {
    PAWL_TRY(refresh(k));
    left = false;
    for (int i = 0; i < k->m; i++) {
      if (k->in[i] && beyond(k, i)) {
        change(k, i);
        left = true;
      }
    }
  }
  return PAWL_OK;
}

// How far lambda_j may go at this rate.
static double reach(const PawlRowsWork* k, int j, double rate) {
  double bound = rate > 0.0 ? k->bounds->hi[j] : k->bounds->lo[j];
  return fmax((bound - k->lambda[j]) / rate, 0.0);
}

// Whether row j has a part in the direction of row p, or only rounding.
static bool takes_part(const PawlRowsWork* k, int j, int p) {
  double part = fabs(k->direction[j]) * sqrt(k->mobility[j]);
  return j == p || (k->in[j] && part > PAWL_ROWS_TAKES_PART * sqrt(k->mobility[p]));
}

// Of a set that contradicts itself the last row with a bound, else the last.
static int last_of_conflict(const PawlRowsWork* k, int p) {
  int last = -1;
  for (int pass = 0; pass < 2 && last < 0; pass++) {
    for (int i = 0; i < k->m; i++) {
      bool may = takes_part(k, i, p) && (pass == 1 || !pawl_rows_bilateral(k->bounds, i));
      last = may ? i : last;
    }
  }
  return last;
}

// Nothing stops lambda_p, and w_p does not change: the rows of the direction y cannot hold
// together. violation: the least v with y v = y w, rows measured by their compliance.       (R8)
static void note_conflict(const PawlRowsWork* k, int p, PawlRowsResult* result) {
  double square = 0.0;
  for (int i = 0; i < k->m; i++) {
    square += takes_part(k, i, p) ? k->mobility[i] * k->direction[i] * k->direction[i] : 0.0;
  }
  for (int i = 0; i < k->m; i++) {
    bool part = takes_part(k, i, p);
    if (result->conflict) {
      result->conflict[i] = part;
    }
    if (result->violation) {
      double share = square > 0.0 ? k->mobility[i] * k->direction[i] / square : i == p;
      result->violation[i] = part ? share * k->w[p] : 0.0;
    }
  }
}

static PawlStatus give_up(PawlRowsWork* k, int p, PawlRowsResult* result) {
  int last = last_of_conflict(k, p);
  if (result->conflicts++ == 0) {
    note_conflict(k, p, result);
  }
  k->given_up[last] = 1;
  if (last == p) {
    return PAWL_OK;
  }
  k->in[last] = 0;
  k->in[p] = 1;
  return retreat(k);
}

// Row p follows from the set along y: w_p = -sum_i y_i w_i, and what is left of w_i is rounding. A
// light coordinate can make more of it than all of the terms of w_p.                       (R13)
static bool is_rounding(const PawlRowsWork* k, int p) {
  double noise = 0.0;
  for (int i = 0; i < k->m; i++) {
    noise += takes_part(k, i, p) ? fabs(k->direction[i]) * k->size[i] : 0.0;
  }
  return fabs(k->w[p]) <= PAWL_ROWS_ROUNDING * noise;
}

// Moves lambda_p until w_p = 0, or it meets its bound, or another row meets its own.        (R7)
static PawlStatus exchange(PawlRowsWork* k, int p, PawlRowsResult* result) {
  double sign = pull(k, p), slope = k->ops->move(k, p);
  bool follows = pawl_rows_follows(k, p, slope);
  double t = follows ? INFINITY : fabs(k->w[p]) / slope;
  int first = -1;
  for (int j = 0; j < k->m; j++) {
    double far = takes_part(k, j, p) ? reach(k, j, sign * k->direction[j]) : INFINITY;
    if (far < t) {
      t = far;
      first = j;
    }
  }
  if (isinf(t) && is_rounding(k, p)) {
    k->agrees[p] = 1;
    return PAWL_OK;
  }
  memset(k->agrees, 0, (size_t)k->m);  // with this set, not with another
  if (isinf(t)) {
    return give_up(k, p, result);
  }
  for (int j = 0; j < k->m; j++) {
    k->lambda[j] += j == p || k->in[j] ? sign * t * k->direction[j] : 0.0;
  }
  k->in[p] = first < 0;
  if (first >= 0) {  // exactly on the bound
    bool up = sign * k->direction[first] > 0.0;
    k->lambda[first] = up ? k->bounds->hi[first] : k->bounds->lo[first];
    k->in[first] = 0;
  }
  return refresh(k);
}

static PawlStatus exchange_rows(PawlRowsWork* k, PawlRowsResult* result) {
  int most = 100 + 50 * k->m, p = 0;
  PAWL_TRY(retreat(k));
  for (int count = 0; count < most; count++) {
    if (p == k->m || k->in[p] || pull(k, p) == 0) {  // done with this one: the first of the others
      for (p = 0; p < k->m && (k->in[p] || pull(k, p) == 0); p++) {
      }
    }
    if (p == k->m && count_wrong(k) == 0) {
      return PAWL_OK;
    }
    result->exchanges++;
    if (p < k->m) {
      PAWL_TRY(exchange(k, p, result));
    } else {  // rounding has taken rows of the set beyond their bounds
      PAWL_TRY(retreat(k));
    }
  }
  return PAWL_RETRY;
}

// ---- the whole ----------------------------------------------------------------------------------

static PawlStatus check(const PawlRowsWork* k) {
  for (int i = 0; i < k->m; i++) {
    if (!(k->bounds->lo[i] <= k->bounds->hi[i]) || k->bounds->lo[i] == INFINITY ||
        k->bounds->hi[i] == -INFINITY) {
      return PAWL_RETRY;
    }
  }
  return PAWL_OK;
}

static void begin(PawlRowsWork* k, PawlRowsResult* result) {
  for (int i = 0; i < k->m; i++) {
    PawlRowState state = result->state[i];
    bool bilateral = pawl_rows_bilateral(k->bounds, i);
    double lambda = state == PAWL_ROW_LOW    ? k->bounds->lo[i]
                    : state == PAWL_ROW_HIGH ? k->bounds->hi[i]
                                             : 0.0;
    k->given_up[i] = k->agrees[i] = 0;
    k->lambda[i] = pawl_rows_nearest(k, i, isfinite(lambda) ? lambda : 0.0);
    k->in[i] = !pawl_rows_fixed(k, i) &&
               (state == PAWL_ROW_FREE || (bilateral && state != PAWL_ROW_FOLLOWS));
    if (result->conflict) {
      result->conflict[i] = 0;
    }
    if (result->violation) {
      result->violation[i] = 0.0;
    }
  }
  result->conflicts = result->following = result->rounds = result->exchanges = 0;
  result->shared = true;
}

void pawl_rows_show(PawlRowsWork* k, PawlRowsResult* result) {
  for (int i = 0; i < k->m; i++) {
    double slack = pawl_rows_slack(k, i);
    bool low = k->lambda[i] <= k->bounds->lo[i] + slack;
    bool high = k->lambda[i] >= k->bounds->hi[i] - slack;
    k->lambda[i] = low ? k->bounds->lo[i] : high ? k->bounds->hi[i] : k->lambda[i];
    k->w[i] = k->tight[i] ? 0.0 : k->w[i];
    result->state[i] = k->given_up[i] ? PAWL_ROW_UNKNOWN
                       : low          ? PAWL_ROW_LOW
                       : high         ? PAWL_ROW_HIGH
                                      : PAWL_ROW_FREE;
  }
}

// Rows that touch beside the set share its forces, perhaps.
static bool touch_beside(PawlRowsWork* k) {
  for (int i = 0; i < k->m; i++) {
    k->dependent |= k->tight[i] && !k->in[i];
  }
  return k->dependent;
}

PawlStatus pawl_rows_pivot(PawlRowsWork* k, const PawlRowBounds* bounds, PawlRowsResult* result) {
  bool done;
  k->bounds = bounds;
  k->lambda = result->lambda;
  k->w = result->w;
  k->independent = bounds->independent;
  k->dependent = false;
  PAWL_TRY(check(k));
  begin(k, result);
  bool many = k->ops->spread && k->m > PAWL_ROWS_MANY;
  PawlStatus status = many ? change_fronts(k, result, &done) : change_blocks(k, result, &done);
  if (!k->dependent &&
      (status == PAWL_RETRY || (status == PAWL_OK && !done))) {  // the other way: all rows hold
    for (int i = 0; i < k->m; i++) {
      k->lambda[i] = pawl_rows_nearest(k, i, 0.0);
      k->in[i] = !pawl_rows_fixed(k, i);
    }
    status = change_blocks(k, result, &done);
  }
  PAWL_TRY(status);
  if (!done) {
    PAWL_TRY(exchange_rows(k, result));
  }
  if (drowned(k)) {
    return PAWL_RETRY;
  }
  for (int i = 0; i < k->m; i++) {
    bool none = fabs(k->w[i]) <= PAWL_ROWS_ROUNDING * k->size[i];
    k->tight[i] = !pawl_rows_fixed(k, i) && !k->given_up[i] && (k->in[i] || k->agrees[i] || none);
  }
  pawl_rows_show(k, result);
  if (k->independent) {
    return touch_beside(k) ? PAWL_RETRY : PAWL_OK;
  }
  return pawl_rows_share(k, result);
}
