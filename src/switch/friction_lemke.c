// SPDX-License-Identifier: Apache-2.0
// Lemke's method for planar blocks (docs/theory/friction.md, section 5). A row with a lower bound
// is the pair of variables that are not negative, one of them 0,
//   z = lambda - lo,   y = w;        with an upper bound alone  z = hi - lambda,  y = -w
// one with both, and a tangential row with lo = -mu lambda_N, hi = mu lambda_N, is two pairs
//   z = lambda - lo,   y = w + w-;             z = w-,   y = hi - lambda                      (F7)
// Of a bilateral row z = lambda may have any sign, and y = w is 0.
#include <string.h>

#include "linalg/vector.h"
#include "switch/friction_impl.h"

bool pawl_friction_lemke_alloc(PawlFrictionLemke* l, PawlArena* arena, int m) {
  size_t pairs = 2 * (size_t)m;
  l->most = m;
  l->T = PAWL_NEW(arena, double, pairs*(pairs + 2));
  l->basic = PAWL_NEW(arena, int, pairs);
  l->other = PAWL_NEW(arena, int, pairs + 1);
  l->row = PAWL_NEW(arena, int, m);
  l->upper = PAWL_NEW(arena, int, m);
  l->unit = PAWL_NEW(arena, double, m);
  l->w = PAWL_NEW(arena, double, m);
  return !arena->failed;
}

static inline int width(const PawlFrictionLemke* l) {
  return l->order + 2;  // the others, the covering variable, the constant
}

static inline double* tableau_row(PawlFrictionLemke* l, int a) {
  return pawl_row(l->T, width(l), a);
}

// ---- the pairs ----------------------------------------------------------------------------------

static bool has_cone(const PawlFrictionWork* k, int b) {
  return !k->block[b].sliding && k->mu[b] > 0.0;
}

static bool has_upper(const PawlFrictionWork* k, int i) {
  return k->owner[i] >= 0 || (k->lo[i] > -INFINITY && k->hi[i] < INFINITY);
}

static bool is_flipped(const PawlFrictionWork* k, int i) {
  return k->owner[i] < 0 && k->lo[i] == -INFINITY && k->hi[i] < INFINITY;
}

static void number_pairs(const PawlFrictionWork* k, PawlFrictionLemke* l) {
  l->order = 0;
  for (int i = 0; i < k->m; i++) {
    bool moves = k->owner[i] < 0 ? !pawl_friction_fixed(k, i) : has_cone(k, k->owner[i]);
    l->row[i] = moves ? l->order++ : -1;
    l->upper[i] = moves && has_upper(k, i) ? l->order++ : -1;
  }
}

// Tangential forces that belong to `unit` in the normal rows: those at z = 0.
static void add_tangents(const PawlFrictionWork* k, double* unit) {
  for (int t = 0; t < k->m; t++) {
    int b = k->owner[t];
    if (b >= 0) {
      int j = k->block[b].tangent[1] == t;
      double side = k->block[b].sliding ? -k->block[b].direction[j] : -1.0;
      unit[t] += side * k->mu[b] * k->sign[b] * unit[k->block[b].normal];
    }
  }
}

// hi - lambda of row i by the forces `unit`, the bound itself left out where it is a number.
static double upper_slack(const PawlFrictionWork* k, const double* unit, int i) {
  int b = k->owner[i];
  double bound = b >= 0 ? k->mu[b] * k->sign[b] * unit[k->block[b].normal] : 0.0;
  return bound - unit[i];
}

// Column c of the tableau from the forces `unit`, with w of the softened rows.
static void fill_column(PawlFrictionWork* k, PawlFrictionLemke* l, int c) {
  for (int i = 0; i < k->m; i++) {
    l->w[i] = l->soft * l->unit[i];
  }
  for (int j = 0; j < k->m; j++) {
    if (l->unit[j] != 0.0) {
      pawl_friction_matrix_add_column(k->matrix, j, l->unit[j], l->w);
    }
  }
  for (int i = 0; i < k->m; i++) {
    if (l->row[i] >= 0) {
      tableau_row(l, l->row[i])[c] = is_flipped(k, i) ? -l->w[i] : l->w[i];
    }
    if (l->upper[i] >= 0) {
      tableau_row(l, l->upper[i])[c] = upper_slack(k, l->unit, i);
    }
  }
}

// The constants: forces on their bounds, and what is given.
static void fill_constants(PawlFrictionWork* k, PawlFrictionLemke* l) {
  int last = l->order + 1;
  for (int i = 0; i < k->m; i++) {
    bool bilateral = pawl_friction_bilateral(k, i);
    double bound = is_flipped(k, i) ? k->hi[i] : k->lo[i];
    l->unit[i] = k->owner[i] >= 0 || bilateral ? 0.0 : bound;
  }
  add_tangents(k, l->unit);
  fill_column(k, l, last);
  for (int i = 0; i < k->m; i++) {
    if (l->row[i] >= 0) {
      double w = k->q[i] - l->soft * k->before[i];
      tableau_row(l, l->row[i])[last] += is_flipped(k, i) ? -w : w;
    }
    if (l->upper[i] >= 0 && k->owner[i] < 0) {
      tableau_row(l, l->upper[i])[last] += k->hi[i];
    }
  }
}

static void fill(PawlFrictionWork* k, PawlFrictionLemke* l) {
  static const double GOLDEN = 0.6180339887498949;  // no two rows alike, so that ties are rare
  number_pairs(k, l);
  memset(l->T, 0, (size_t)l->order * (size_t)width(l) * sizeof(double));
  for (int i = 0; i < k->m; i++) {
    if (l->row[i] >= 0) {
      memset(l->unit, 0, (size_t)k->m * sizeof(double));
      l->unit[i] = is_flipped(k, i) ? -1.0 : 1.0;
      if (k->owner[i] < 0) {
        add_tangents(k, l->unit);
      }
      fill_column(k, l, l->row[i]);
    }
  }
  fill_constants(k, l);
  for (int i = 0; i < k->m; i++) {
    if (l->upper[i] >= 0) {
      tableau_row(l, l->row[i])[l->upper[i]] = 1.0;
    }
  }
  for (int a = 0; a < l->order; a++) {
    l->basic[a] = a;
    l->other[a] = l->order + a;
    tableau_row(l, a)[l->order] = 1.0 + fmod(GOLDEN * (a + 1), 1.0);
  }
  l->other[l->order] = 2 * l->order;
}

// ---- exchanges ----------------------------------------------------------------------------------

// The basic variable of row a and the other one of column c change places.
static void exchange(PawlFrictionLemke* l, int a, int c) {
  double *pivot_row = tableau_row(l, a), pivot = pivot_row[c];
  int name = l->basic[a];
  pivot_row[c] = -1.0;
  for (int j = 0; j < width(l); j++) {
    pivot_row[j] /= -pivot;
  }
  for (int i = 0; i < l->order; i++) {
    double *row = tableau_row(l, i), factor = row[c];
    if (i != a && factor != 0.0) {
      row[c] = 0.0;
      pawl_add_scaled(width(l), row, factor, pivot_row);
    }
  }
  l->basic[a] = l->other[c];
  l->other[c] = name;
}

static bool is_free(const PawlFrictionWork* k, const PawlFrictionLemke* l, int variable) {
  for (int i = 0; i < k->m; i++) {
    if (l->row[i] >= 0 && pawl_friction_bilateral(k, i) && variable == l->order + l->row[i]) {
      return true;
    }
  }
  return false;
}

// lambda of bilateral rows become basic, those with the largest pivots first.
static bool take_bilateral(const PawlFrictionWork* k, PawlFrictionLemke* l) {
  for (;;) {
    int best = -1;
    double most = PAWL_FRICTION_SINGULAR;
    bool left = false;
    for (int i = 0; i < k->m; i++) {
      int a = l->row[i];
      if (a >= 0 && pawl_friction_bilateral(k, i) && l->basic[a] == a) {
        double pivot = fabs(tableau_row(l, a)[a]);
        left = true;
        best = pivot > most ? a : best;
        most = fmax(most, pivot);
      }
    }
    if (best < 0) {
      return !left;
    }
    exchange(l, best, best);
  }
}

// The row whose variable first meets 0 as that of column c grows; -1: none, a ray.
static int first_to_meet(const PawlFrictionWork* k, PawlFrictionLemke* l, int c) {
  double most = 0.0, least = INFINITY;
  int first = -1;
  for (int a = 0; a < l->order; a++) {
    most = fmax(most, fabs(tableau_row(l, a)[c]));
  }
  for (int a = 0; a < l->order; a++) {
    double slope = tableau_row(l, a)[c], value = fmax(tableau_row(l, a)[l->order + 1], 0.0);
    if (slope < -PAWL_FRICTION_PIVOT * most && !is_free(k, l, l->basic[a])) {
      double ratio = -value / slope;
      bool covers = l->basic[a] == 2 * l->order && ratio <= least;
      if (ratio < least || covers) {
        least = ratio;
        first = a;
      }
    }
  }
  return first;
}

// The covering variable enters where it is most needed; -1: nowhere.
static int first_cover(const PawlFrictionWork* k, PawlFrictionLemke* l) {
  double most = 0.0;
  int first = -1;
  for (int a = 0; a < l->order; a++) {
    const double* row = tableau_row(l, a);
    double need = -row[l->order + 1] / row[l->order];
    if (!is_free(k, l, l->basic[a]) && need > most) {
      most = need;
      first = a;
    }
  }
  return first;
}

static int column_of(const PawlFrictionLemke* l, int variable) {
  int c = 0;
  while (l->other[c] != variable) {
    c++;
  }
  assert(c <= l->order);
  return c;
}

// What the covering variable brings to row a, no two alike: from 1 to 2, in the later vectors of a
// problem from 10^-2 to 10^2.                                                              (F7a)
static double covering(const PawlFrictionLemke* l, int a) {
  double part = fmod(0.618 * (l->cover + 1) * (a + 1), 1.0);
  return l->cover == 0 ? 1.0 + part : pow(10.0, 4.0 * part - 2.0);
}

// Exchanges until the covering variable leaves; false: a ray, or too many.
static bool run(const PawlFrictionWork* k, PawlFrictionLemke* l, PawlFrictionResult* result) {
  int most = 50 + 10 * l->order, n = l->order, c = n;
  for (int a = 0; a < n; a++) {  // bilateral rows have changed what it covers
    tableau_row(l, a)[n] = is_free(k, l, l->basic[a]) ? 0.0 : covering(l, a);
  }
  int a = first_cover(k, l);
  for (int count = 0; a >= 0 && count < most; count++) {
    int leaving = l->basic[a];
    exchange(l, a, c);
    result->exchanges++;
    if (leaving == 2 * n) {
      return true;
    }
    c = column_of(l, leaving < n ? leaving + n : leaving - n);
    a = first_to_meet(k, l, c);
  }
  return a < 0 && c == n;
}

// ---- the result ---------------------------------------------------------------------------------

static bool is_basic(const PawlFrictionLemke* l, int variable) {
  for (int a = 0; a < l->order; a++) {
    if (l->basic[a] == variable) {
      return true;
    }
  }
  return false;
}

static PawlRowState place_of(const PawlFrictionWork* k, const PawlFrictionLemke* l, int i) {
  int n = l->order;
  if (l->upper[i] >= 0 && is_basic(l, n + l->upper[i])) {
    return PAWL_ROW_HIGH;
  }
  return is_basic(l, n + l->row[i]) ? PAWL_ROW_FREE
         : is_flipped(k, i)         ? PAWL_ROW_HIGH
                                    : PAWL_ROW_LOW;
}

bool pawl_friction_lemke(PawlFrictionWork* k, PawlFrictionLemke* l, double soft, int cover,
                         PawlFrictionResult* result) {
  if (k->m > l->most) {
    return false;
  }
  l->soft = soft;
  l->cover = cover;
  fill(k, l);
  if (!take_bilateral(k, l) || !run(k, l, result)) {
    return false;
  }
  for (int i = 0; i < k->m; i++) {
    k->place[i] = l->row[i] >= 0 ? (unsigned char)place_of(k, l, i) : k->place[i];
  }
  for (int b = 0; b < k->blocks; b++) {  // an open block has no side
    int n = k->block[b].normal, t = k->block[b].tangent[0];
    bool open = k->place[n] == PAWL_ROW_LOW && k->lo[n] == 0.0;
    k->place[t] = open ? PAWL_ROW_FREE : k->place[t];
  }
  return true;
}
