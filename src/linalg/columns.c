// SPDX-License-Identifier: Apache-2.0
#include "linalg/columns.h"

#include <math.h>
#include <string.h>

#include "linalg/sparse.h"

enum { LEAST = 16, MOST_STRETCHES = 64 };  // columns of a stretch, stretches that are searched
enum { MOST_LEFT = 64 };                   // columns in none, where these are gone through by rows

// Whether column j goes on with the stretch.
static bool goes_on(const PawlPattern* G, const PawlColumnsAlike* of, int j) {
  bool alike = G->start[j + 1] - G->start[j] == of->entries;
  for (int e = 0; alike && e < of->entries; e++) {
    alike = G->index[G->start[j] + e] == of->row[e] + of->step * (j - of->first);
  }
  return alike;
}

static PawlColumnsAlike stretch_at(const PawlPattern* G, int j) {
  PawlColumnsAlike of = {.first = j, .end = j + 1, .at = G->start[j]};
  of.entries = G->start[j + 1] - of.at;
  if (of.entries == 0 || of.entries > PAWL_COLUMNS_ENTRIES || j + 1 >= G->cols) {
    return of;
  }
  for (int e = 0; e < of.entries; e++) {
    of.row[e] = G->index[of.at + e];
  }
  of.step = G->start[j + 2] > G->start[j + 1] ? G->index[G->start[j + 1]] - of.row[0] : 0;
  while (of.end < G->cols && goes_on(G, &of, of.end)) {
    of.end++;
  }
  return of;
}

PawlStatus pawl_columns_find(const PawlPattern* G, PawlArena* arena, PawlColumns* out) {
  int left = G->cols;
  bool onwards = true;
  *out = (PawlColumns){.stretches = PAWL_NEW(arena, PawlColumnsAlike, MOST_STRETCHES)};
  for (int j = 0; out->stretches && out->count < MOST_STRETCHES && j < G->cols;) {
    PawlColumnsAlike of = stretch_at(G, j);
    bool is_long =
        of.end - of.first >= LEAST && of.entries > 0 && of.entries <= PAWL_COLUMNS_ENTRIES;
    if (is_long) {
      out->stretches[out->count++] = of;
      left -= of.end - of.first;
      onwards &= of.step > 0;
    }
    j = is_long ? of.end : j + 1;
  }
  out->by_rows = out->count > 0 && onwards && left <= MOST_LEFT;
  return arena->failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}

// ---- loops --------------------------------------------------------------------------------------
PAWL_INLINE void balance(const PawlColumnsAlike* of, int entries, int first, int end,
                         PawlColumnsForces x, double factor, double* restrict dq) {
  const double* B = x.B + of->at + (ptrdiff_t)entries * (first - of->first);
  const double* lambda = x.lambda + (ptrdiff_t)of->step * (first - of->first);
  for (int j = first; j < end; j++, B += entries, lambda += of->step) {
    double sum = -x.f[j];
    for (int e = 0; e < entries; e++) {
      sum -= B[e] * lambda[of->row[e]];
    }
    sum += x.M[j] * x.vdot[j];
    dq[j] = -sum * factor;
  }
}

PAWL_INLINE void judge(const PawlColumnsAlike* of, int entries, int first, int end,
                       PawlColumnsForces x, double* restrict r, double* restrict magnitude) {
  const double* B = x.B + of->at + (ptrdiff_t)entries * (first - of->first);
  const double* lambda = x.lambda + (ptrdiff_t)of->step * (first - of->first);
  for (int j = first; j < end; j++, B += entries, lambda += of->step) {
    double sum = -x.f[j], size = fabs(x.f[j]);
    for (int e = 0; e < entries; e++) {
      double term = B[e] * lambda[of->row[e]];
      sum -= term;
      size += fabs(term);
    }
    double term = x.M[j] * x.vdot[j];
    r[j - first] = sum + term;
    magnitude[j - first] = size + fabs(term);
  }
}

PAWL_INLINE void add_sizes(const PawlColumnsAlike* of, int entries, const double* values,
                           const double* x, double* restrict sizes) {
  const double* G = values + of->at;
  for (int j = of->first; j < of->end; j++, G += entries, sizes += of->step) {
    for (int e = 0; e < entries; e++) {
      sizes[of->row[e]] += fabs(G[e]) * x[j];
    }
  }
}

PAWL_INLINE void add(const PawlColumnsAlike* of, int entries, const double* values, const double* x,
                     double* restrict y) {
  const double* A = values + of->at;
  for (int j = of->first; j < of->end; j++, A += entries, y += of->step) {
    for (int e = 0; x[j] != 0.0 && e < entries; e++) {
      y[of->row[e]] += A[e] * x[j];
    }
  }
}

// Compiled for each number of entries.
#define FOR_ENTRIES(CALL) \
  switch (of->entries) {  \
    case 1:               \
      CALL(1);            \
      break;              \
    case 2:               \
      CALL(2);            \
      break;              \
    case 3:               \
      CALL(3);            \
      break;              \
    default:              \
      CALL(4);            \
  }

void pawl_columns_balance(const PawlColumnsAlike* of, int first, int end, PawlColumnsForces forces,
                          double factor, double* dq) {
#define BALANCE(entries) balance(of, entries, first, end, forces, factor, dq)
  FOR_ENTRIES(BALANCE)
#undef BALANCE
}

void pawl_columns_judge(const PawlColumnsAlike* of, int first, int end, PawlColumnsForces forces,
                        double* r, double* magnitude) {
#define JUDGE(entries) judge(of, entries, first, end, forces, r, magnitude)
  FOR_ENTRIES(JUDGE)
#undef JUDGE
}

static void add_products(const PawlColumnsAlike* of, const double* values, const double* x,
                         double* y) {
#define ADD(entries) add(of, entries, values, x, y)
  FOR_ENTRIES(ADD)
#undef ADD
}

void pawl_columns_add(const PawlColumns* c, const PawlPattern* A, const double* values,
                      const double* x, double* y) {
  for (int j = 0, until; j < A->cols; j = until) {
    const PawlColumnsAlike* of = pawl_columns_at(c, j, A->cols, &until);
    if (of) {
      add_products(of, values, x, y);
      continue;
    }
    for (int i = j; i < until; i++) {
      for (int k = A->start[i]; x[i] != 0.0 && k < A->start[i + 1]; k++) {
        y[A->index[k]] += values[k] * x[i];
      }
    }
  }
}

static void add_stretch(const PawlColumnsAlike* of, const double* values, const double* x,
                        double* sizes) {
#define ADD(entries) add_sizes(of, entries, values, x, sizes)
  FOR_ENTRIES(ADD)
#undef ADD
}

void pawl_columns_sizes(const PawlColumns* c, const PawlPattern* G, const double* values,
                        const double* x, double* sizes) {
  if (c->count == 0) {
    pawl_sparse_sizes(G, values, x, 0.0, sizes);
    return;
  }
  memset(sizes, 0, (size_t)G->rows * sizeof *sizes);
  pawl_columns_add_sizes(c, G, values, x, sizes);
}

void pawl_columns_add_sizes(const PawlColumns* c, const PawlPattern* G, const double* values,
                            const double* x, double* sizes) {
  for (int j = 0, until; j < G->cols; j = until) {
    const PawlColumnsAlike* of = pawl_columns_at(c, j, G->cols, &until);
    if (of) {
      add_stretch(of, values, x, sizes);
      continue;
    }
    for (int i = j; i < until; i++) {
      for (int k = G->start[i]; k < G->start[i + 1]; k++) {
        sizes[G->index[k]] += fabs(values[k]) * x[i];
      }
    }
  }
}

// The columns of a stretch whose entry e is in the rows first .. end - 1.
static PawlColumnsAlike part_of(const PawlColumnsAlike* of, int e, int first, int end) {
  PawlColumnsAlike part = *of;
  int before = first - of->row[e], behind = end - of->row[e];
  int from = before > 0 ? (before + of->step - 1) / of->step : 0;
  int until = behind > 0 ? (behind + of->step - 1) / of->step : 0;
  int count = of->end - of->first;
  part.first = of->first + (from < count ? from : count);
  part.end = of->first + (until < count ? until : count);
  return part;
}

static inline double term_of(bool size, double value, double x) {
  return (size ? fabs(value) : value) * x;
}

PAWL_INLINE void add_left(bool size, const PawlPattern* G, int j, const double* values,
                          const double* x, int first, int end, double* y) {
  for (int k = G->start[j]; k < G->start[j + 1]; k++) {
    if (G->index[k] >= first && G->index[k] < end) {
      y[G->index[k] - first] += term_of(size, values[k], x[j]);
    }
  }
}

PAWL_INLINE void add_some(bool size, const PawlColumns* c, const PawlPattern* G,
                          const double* values, const double* x, int first, int end, double* y) {
  for (int j = 0, until; j < G->cols; j = until) {
    const PawlColumnsAlike* of = pawl_columns_at(c, j, G->cols, &until);
    for (int i = of ? until : j; i < until; i++) {
      add_left(size, G, i, values, x, first, end, y);
    }
    for (int e = 0; of && e < of->entries; e++) {
      PawlColumnsAlike part = part_of(of, e, first, end);
      ptrdiff_t before = part.first - of->first;
      const double* of_G = values + of->at + of->entries * before + e;
      double* to = y + of->row[e] + of->step * before - first;
      for (int i = part.first; i < part.end; i++, of_G += of->entries, to += of->step) {
        *to += term_of(size, *of_G, x[i]);
      }
    }
  }
}

void pawl_columns_some_sizes(const PawlColumns* c, const PawlPattern* G, const double* values,
                             const double* x, int first, int end, double* sizes) {
  memset(sizes, 0, (size_t)(end - first) * sizeof *sizes);
  add_some(true, c, G, values, x, first, end, sizes);
}

void pawl_columns_add_some(const PawlColumns* c, const PawlPattern* G, const double* values,
                           const double* x, int first, int end, double* y) {
  add_some(false, c, G, values, x, first, end, y);
}
