// SPDX-License-Identifier: Apache-2.0
// Column k of L and U is x = L^-1 A(:,k) (Gilbert and Peierls). A search along the columns of L
// finds its rows; the pivots among them are solved for in the reverse of the order in which the
// search leaves them, and one of the others is the next pivot. Once L(p,j) and U(j,p) are both
// there, what is below in column j is found through column p, and searches see only the rows of
// column j that were pivots by then (Eisenstat and Liu). The order of the search is that of KLU, so
// that sums are rounded and equal candidates are taken as there.
#include "linalg/kkt_pivots.h"

#include <math.h>
#include <stdbool.h>

#include "base/alloc.h"

PawlStatus pawl_kkt_pivots_create(PawlKktPivots* s, PawlArena* arena, int size, const int* start,
                                  const int* index, const int* Q) {
  int** const arrays[] = {&s->place,      &s->row,  &s->turn, &s->seen,  &s->begin,
                          &s->search_end, &s->path, &s->left, &s->upper, &s->lower};
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
    *arrays[a] = PAWL_NEW(arena, int, size + 1);
    if (!*arrays[a]) {
      return PAWL_ERROR_MEMORY;
    }
  }
  s->size = size;
  s->start = start;
  s->index = index;
  s->Q = Q;
  return PAWL_OK;
}

static void begin_search(PawlKktPivots* s) {
  for (int k = 0; k < s->size; k++) {
    s->place[s->Q[k]] = s->row[k] = k;
    s->turn[k] = ~k;
    s->seen[k] = s->search_end[k] = -1;
  }
  s->begin[0] = 0;
}

// ---- the rows of a column ----------------------------------------------------------------------

typedef struct Found {
  int top;    // upper[top .. size - 1], to be solved for in this order
  int count;  // lower[0 .. count - 1]
} Found;

// Begins to look through column j of L, from its end, as number `depth` of the path.
static inline void enter(PawlKktPivots* s, int k, int depth, int row) {
  int j = s->turn[row];
  s->seen[row] = k;
  s->path[depth] = row;
  s->left[depth] = s->search_end[j] < 0 ? s->begin[j + 1] : s->search_end[j];
}

// The rows that are reached from `row`, a pivot, and have not been met yet.
static void search_from(PawlKktPivots* s, const int* L_index, int k, int row, Found* f) {
  int depth = 0;
  enter(s, k, 0, row);
  while (depth >= 0) {
    int from = s->path[depth], begin = s->begin[s->turn[from]], q = s->left[depth], next = -1;
    while (next < 0 && q > begin) {
      int i = L_index[--q];
      if (s->seen[i] != k && s->turn[i] >= 0) {
        next = i;
      } else if (s->seen[i] != k) {
        s->seen[i] = k;
        s->lower[f->count++] = i;
      }
    }
    s->left[depth] = q;
    if (next >= 0) {
      enter(s, k, ++depth, next);
    } else {
      s->upper[--f->top] = from;
      depth--;
    }
  }
}

static Found find_rows(PawlKktPivots* s, const int* L_index, int k) {
  Found f = {s->size, 0};
  int column = s->Q[k];
  for (int p = s->start[column]; p < s->start[column + 1]; p++) {
    int i = s->place[s->index[p]];
    if (s->seen[i] != k && s->turn[i] >= 0) {
      search_from(s, L_index, k, i, &f);
    } else if (s->seen[i] != k) {
      s->seen[i] = k;
      s->lower[f.count++] = i;
    }
  }
  return f;
}

// ---- its numbers -------------------------------------------------------------------------------

static void solve_column(PawlKktPivots* s, const double* values, const PawlKktPivotsRoom* room,
                         int k, int top) {
  const int* L_index = room->pattern->L_index;
  const double* L = *room->L;
  double* x = room->x;
  int column = s->Q[k];
  for (int p = s->start[column]; p < s->start[column + 1]; p++) {
    x[s->place[s->index[p]]] = values[p];
  }
  for (int a = top; a < s->size; a++) {
    int j = s->turn[s->upper[a]];
    double u = x[s->upper[a]];
    x[s->upper[a]] = 0.0;
    if (room->upper) {
      int at = room->upper->begin[k] + a - top;
      room->upper->U_index[at] = s->upper[a];
      room->upper->U[at] = u;
    }
    for (int q = s->begin[j]; q < s->begin[j + 1]; q++) {
      x[L_index[q]] -= L[q] * u;
    }
  }
}

// (K16), as a number in `lower`: the one that is meant, or the first of the largest.
static int choose(const PawlKktPivots* s, const double* x, int k, int count, double preference) {
  int best = count - 1, meant = -1;
  double top = -1.0;
  for (int a = 0; a < count; a++) {
    double size = fabs(x[s->lower[a]]);
    meant = s->lower[a] == s->row[k] ? a : meant;
    if (size > top) {
      top = size;
      best = a;
    }
  }
  return meant >= 0 && fabs(x[s->lower[meant]]) >= preference * top ? meant : best;
}

// Column k of L: what is below the pivot, whose place the last row takes. Returns the pivot.
static double write_column(PawlKktPivots* s, const PawlKktPivotsRoom* room, int k, int count,
                           int best) {
  int* L_index = room->pattern->L_index + s->begin[k];
  double *L = *room->L + s->begin[k], *x = room->x;
  double pivot = x[s->lower[best]];
  x[s->lower[best]] = 0.0;
  s->lower[best] = s->lower[count - 1];
  for (int a = 0; a < count - 1; a++) {
    int i = s->lower[a];
    L_index[a] = i;
    L[a] = x[i] / pivot;
    x[i] = 0.0;
  }
  s->begin[k + 1] = s->begin[k] + count - 1;
  return pivot;
}

// A row that was meant for k and is not taken is meant for the column of the one that is.
static void log_pivot(PawlKktPivots* s, int k, int row) {
  int meant = s->row[k];
  if (meant != row && s->turn[meant] < 0) {
    int later = ~s->turn[row];
    s->row[later] = meant;
    s->turn[meant] = ~later;
  }
  s->row[k] = row;
  s->turn[row] = k;
}

// Pivots to the front of column j, if the last one is among its rows: searches end behind them.
static void prune(PawlKktPivots* s, const PawlKktPivotsRoom* room, int j, int row) {
  int *L_index = room->pattern->L_index, head = s->begin[j], tail = s->begin[j + 1];
  double* L = *room->L;
  int q = head;
  while (q < tail && L_index[q] != row) {
    q++;
  }
  if (q == tail) {
    return;
  }
  while (head < tail) {
    int i = L_index[head];
    if (s->turn[i] >= 0) {
      head++;
    } else {
      double l = L[head];
      tail--;
      L_index[head] = L_index[tail];
      L[head] = L[tail];
      L_index[tail] = i;
      L[tail] = l;
    }
  }
  s->search_end[j] = tail;
}

// For column k, with so many rows that are pivots and so many that are not.
static PawlStatus make_room(const PawlKktPivots* s, const PawlKktPivotsRoom* room, int k, int above,
                            int below) {
  PawlFactorPattern* p = room->pattern;
  PawlKktPivotsUpper* u = room->upper;
  if (below > INT32_MAX - s->begin[k] || (u && above > INT32_MAX - u->begin[k])) {
    return PAWL_ERROR_MEMORY;
  }
  bool ok = PAWL_GROW(p->L_index, p->L_room, s->begin[k] + below) == 0 &&
            PAWL_GROW(*room->L, *room->L_room, p->L_room) == 0;
  if (ok && u) {
    u->begin[k + 1] = u->begin[k] + above;
    ok = PAWL_GROW(u->U_index, u->index_room, u->begin[k + 1]) == 0 &&
         PAWL_GROW(u->U, u->U_room, u->begin[k + 1]) == 0;
  }
  return ok ? PAWL_OK : PAWL_ERROR_MEMORY;
}

PawlStatus pawl_kkt_pivots_choose(PawlKktPivots* s, const double* values, double preference,
                                  const PawlKktPivotsRoom* room, int* P) {
  begin_search(s);
  for (int k = 0; k < s->size; k++) {
    Found f = find_rows(s, room->pattern->L_index, k);
    PAWL_TRY(make_room(s, room, k, s->size - f.top, f.count));
    solve_column(s, values, room, k, f.top);
    if (f.count == 0) {
      return PAWL_RETRY;
    }
    int best = choose(s, room->x, k, f.count, preference), row = s->lower[best];
    double pivot = write_column(s, room, k, f.count, best);
    if (pivot == 0.0) {
      return PAWL_RETRY;
    }
    if (room->upper) {
      room->upper->pivot[k] = pivot;
    }
    log_pivot(s, k, row);
    for (int a = f.top; a < s->size; a++) {
      int j = s->turn[s->upper[a]];
      if (s->search_end[j] < 0) {
        prune(s, room, j, row);
      }
    }
  }
  for (int k = 0; k < s->size; k++) {
    P[k] = s->Q[s->row[k]];
  }
  return PAWL_OK;
}
