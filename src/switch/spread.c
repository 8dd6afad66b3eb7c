// SPDX-License-Identifier: Apache-2.0
#include "switch/spread.h"

#include <math.h>
#include <string.h>

#include "linalg/reduce.h"
#include "linalg/vector.h"
#include "switch/tolerances.h"

// ---- creation -----------------------------------------------------------------------------------
static int length_of(const PawlSpread* s, int row) {
  return s->rows->start[row + 1] - s->rows->start[row];
}

PawlStatus pawl_spread_create(PawlArena* arena, const PawlPattern* G, const PawlByRows* rows,
                              int first, int end, PawlSpread* s, PawlError* err) {
  size_t most = 0, all = 0, contacts = (size_t)(end - first);
  *s = (PawlSpread){.G = *G, .rows = rows, .first = first, .end = end, .loose = -1};
  for (int i = first; i < end; i++) {  // rows that are held are independent: no more than columns
    size_t length = (size_t)length_of(s, i);
    most = length > most ? length : most;
    all += length;
  }
  s->seen = PAWL_NEW(arena, unsigned char, G->rows);
  s->row = PAWL_NEW(arena, int, contacts);
  s->start = PAWL_NEW(arena, int, contacts + 1);
  s->with = PAWL_NEW(arena, int, all);
  s->part = PAWL_NEW(arena, double, all);
  s->marked = PAWL_NEW(arena, unsigned char, G->cols);
  s->Q = PAWL_NEW(arena, double, most* most);
  s->R = PAWL_NEW(arena, double, most* most);
  s->e = PAWL_NEW(arena, double, 2 * most);
  s->group = PAWL_NEW(arena, unsigned char, G->rows);
  s->rubs = PAWL_NEW(arena, unsigned char, contacts);
  return arena->failed ? pawl_fail_memory(err) : PAWL_OK;
}

// ---- which rows ---------------------------------------------------------------------------------
// Rows that are held and act on nothing but what row d acts on; `marked` has its columns.
static int find_others(PawlSpread* s, const PawlPhase* phase, int d, int* with) {
  int count = 0, most = length_of(s, d);
  for (int c = s->rows->start[d]; c < s->rows->start[d + 1]; c++) {
    int j = s->rows->column[c];
    for (int e = s->G.start[j]; e < s->G.start[j + 1] && count < most; e++) {
      int i = s->G.index[e];
      bool inside = phase->active[i] && s->rows->column[s->rows->start[i]] == j;  // seen once
      for (int k = s->rows->start[i]; inside && k < s->rows->start[i + 1]; k++) {
        inside = s->marked[s->rows->column[k]];
      }
      if (inside) {
        with[count++] = i;
      }
    }
  }
  return count;
}

static bool is_left_out(const PawlPhase* phase, int row) {
  return phase->in_force[row] && !phase->active[row];
}

static bool leaves_out(const PawlSpread* s, const PawlPhase* phase) {
  bool any = false;
  for (int i = s->first; phase->active && i < s->end; i++) {
    any |= is_left_out(phase, i);
  }
  return any;
}

static bool is_listed(const PawlSpread* s, const PawlPhase* phase) {
  bool same = s->any;
  for (int i = 0; same && i < s->G.rows; i++) {
    same = s->seen[i] == (phase->active[i] ? 1 : phase->in_force[i] ? 2 : 0);
  }
  return same;
}

static void list(PawlSpread* s, const PawlPhase* phase) {
  s->count = s->start[0] = 0;
  for (int i = 0; i < s->G.rows; i++) {
    s->seen[i] = phase->active[i] ? 1 : phase->in_force[i] ? 2 : 0;
  }
  for (int d = s->first; d < s->end; d++) {
    if (is_left_out(phase, d)) {
      for (int k = s->rows->start[d]; k < s->rows->start[d + 1]; k++) {
        s->marked[s->rows->column[k]] = 1;
      }
      int from = s->start[s->count];
      s->row[s->count++] = d;
      s->start[s->count] = from + find_others(s, phase, d, s->with + from);
      for (int k = s->rows->start[d]; k < s->rows->start[d + 1]; k++) {
        s->marked[s->rows->column[k]] = 0;
      }
    }
  }
}

// ---- how they follow ----------------------------------------------------------------------------
// Row i over the columns of row d.
static void fetch(const PawlSpread* s, const double* G, int d, int i, double* out) {
  for (int k = s->rows->start[d]; k < s->rows->start[d + 1]; k++) {
    int e = pawl_by_rows_find(s->rows, i, s->rows->column[k]);
    out[k - s->rows->start[d]] = e >= 0 ? G[e] : 0.0;
  }
}

// G_d = sum X_j G_j by orthogonal rows; false: it does not follow from them.
static bool relate(PawlSpread* s, const double* G, int at) {
  int d = s->row[at], n = length_of(s, d), m = s->start[at + 1] - s->start[at];
  const int* with = s->with + s->start[at];
  double *x = s->part + s->start[at], *left = s->e;
  for (int k = 0; k < m; k++) {
    fetch(s, G, d, with[k], pawl_row(s->Q, n, k));
  }
  fetch(s, G, d, d, left);
  double size = sqrt(pawl_dot(n, left, left));
  memset(x, 0, (size_t)m * sizeof *x);
  if (!pawl_reduce_orthonormal(n, m, s->Q, s->R)) {
    return false;
  }
  for (int k = 0; k < m; k++) {
    x[k] = pawl_dot(n, pawl_row(s->Q, n, k), left);
    pawl_add_scaled(n, left, -x[k], pawl_row(s->Q, n, k));
  }
  pawl_reduce_upper(m, s->R, x);
  return sqrt(pawl_dot(n, left, left)) <= PAWL_REDUNDANT_OFF * size;
}

// Rows that take no part have rounding here.
static void forget_rounding(PawlSpread* s, int at) {
  double most = 0.0;
  for (int k = s->start[at]; k < s->start[at + 1]; k++) {
    most = fmax(most, fabs(s->part[k]));
  }
  for (int k = s->start[at]; k < s->start[at + 1]; k++) {
    s->part[k] = fabs(s->part[k]) > PAWL_SHARE_PART * most ? s->part[k] : 0.0;
  }
}

// Whether all rows that it takes part in have places for what it pushes.
static bool has_places(const PawlSpread* s, int at) {
  int d = s->row[at];
  bool all = true;
  for (int k = s->start[at]; k < s->start[at + 1]; k++) {
    for (int c = s->rows->start[d]; s->part[k] != 0.0 && c < s->rows->start[d + 1]; c++) {
      all &= pawl_by_rows_find(s->rows, s->with[k], s->rows->column[c]) >= 0;
    }
  }
  return all;
}

bool pawl_spread_look(PawlSpread* s, const PawlPhase* phase, const unsigned char* slips,
                      const double* G) {
  bool any = false;
  s->loose = -1;
  if (!leaves_out(s, phase)) {
    s->any = false;
    return false;
  }
  if (!is_listed(s, phase)) {
    list(s, phase);
  }
  s->any = true;
  for (int at = 0; at < s->count; at++) {
    bool follows = relate(s, G, at);
    forget_rounding(s, at);
    s->rubs[at] = slips[s->row[at]];
    for (int k = s->start[at]; k < s->start[at + 1]; k++) {
      s->rubs[at] |= slips[s->with[k]] && s->part[k] != 0.0;
    }
    if (s->rubs[at] && !(follows && has_places(s, at))) {
      s->loose = s->row[at];
      s->rubs[at] = 0;
    }
    any |= s->rubs[at];
  }
  return any;
}

// ---- what follows -------------------------------------------------------------------------------
// What shifting load to row d would push: B_d - sum X_j B_j, in which the gaps cancel.
static bool shifts(PawlSpread* s, const double* B, int at) {
  int d = s->row[at], n = length_of(s, d);
  double *sum = s->e, *of_row = s->e + n, largest = 0.0;
  fetch(s, B, d, d, sum);
  largest = pawl_dot(n, sum, sum);
  for (int k = s->start[at]; k < s->start[at + 1]; k++) {
    fetch(s, B, d, s->with[k], of_row);
    pawl_add_scaled(n, sum, -s->part[k], of_row);
  }
  return pawl_dot(n, sum, sum) > PAWL_MEETS * PAWL_MEETS * largest;
}

void pawl_spread_push(PawlSpread* s, double* B) {
  for (int at = 0; at < s->count; at++) {
    s->matters |= s->rubs[at] && shifts(s, B, at);
  }
  for (int at = 0; at < s->count; at++) {
    int d = s->row[at];
    for (int c = s->rows->start[d]; s->rubs[at] && c < s->rows->start[d + 1]; c++) {
      double own = B[pawl_by_rows_find(s->rows, d, s->rows->column[c])];
      for (int k = s->start[at]; k < s->start[at + 1]; k++) {
        if (s->part[k] != 0.0) {
          B[pawl_by_rows_find(s->rows, s->with[k], s->rows->column[c])] +=
              s->part[k] * own;  // (F28)
        }
      }
    }
  }
}

void pawl_spread_loads(const PawlSpread* s, double* lambda) {
  for (int at = 0; at < s->count; at++) {
    double load = 0.0;
    for (int k = s->start[at]; k < s->start[at + 1]; k++) {
      load += s->part[k] * lambda[s->with[k]];
    }
    lambda[s->row[at]] = s->rubs[at] ? load : lambda[s->row[at]];
  }
}

int pawl_spread_flag(PawlSpread* s) {
  int count = 0;
  memset(s->group, 0, (size_t)s->G.rows);
  for (int at = 0; at < s->count; at++) {
    for (int k = s->start[at]; s->rubs[at] && k < s->start[at + 1]; k++) {
      s->group[s->with[k]] |= s->part[k] != 0.0;
    }
    s->group[s->row[at]] |= s->rubs[at];
    count += s->rubs[at];
  }
  return count;
}
