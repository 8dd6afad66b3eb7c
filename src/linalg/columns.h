// SPDX-License-Identifier: Apache-2.0
// Stretches of columns of G that are alike, as the coordinates of a family have them: so many
// entries each, whose rows move on by the same step from column to column. Loops over them read no
// list and know the number of entries; every operation is the one of the lists, in the same order.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "pawl/pattern.h"

enum { PAWL_COLUMNS_ENTRIES = 4 };  // of a column, at most

typedef struct PawlColumnsAlike {
  int first, end;  // columns
  int at;          // the first entry of the first one
  int entries, step;
  int row[PAWL_COLUMNS_ENTRIES];  // of the first one
} PawlColumnsAlike;

typedef struct PawlColumns {
  int count;
  PawlColumnsAlike* stretches;  // ascending
  bool by_rows;                 // hardly a column is in none, and rows move on in all of them
} PawlColumns;

PAWL_CHECKED PawlStatus pawl_columns_find(const PawlPattern* G, PawlArena* arena, PawlColumns* out);

// The stretch that column j is in, or NULL; until: where that ends, but not behind `end`.
PAWL_INLINE const PawlColumnsAlike* pawl_columns_at(const PawlColumns* c, int j, int end,
                                                    int* until) {
  int k = 0;
  while (k < c->count && c->stretches[k].end <= j) {
    k++;
  }
  const PawlColumnsAlike* of = k < c->count ? &c->stretches[k] : NULL;
  bool inside = of && of->first <= j;
  int border = !of ? end : inside ? of->end : of->first;
  *until = border < end ? border : end;
  return inside ? of : NULL;
}

// M is diagonal (M[j]). dq = -(M v' - f - B^T lambda) factor; and r with the size of its terms, for
// the columns first .. end - 1 of a stretch, r[0] being that of the first.                    (A7)
typedef struct PawlColumnsForces {
  const double *M, *vdot, *f, *B, *lambda;
} PawlColumnsForces;
void pawl_columns_balance(const PawlColumnsAlike* of, int first, int end, PawlColumnsForces forces,
                          double factor, double* dq);
void pawl_columns_judge(const PawlColumnsAlike* of, int first, int end, PawlColumnsForces forces,
                        double* r, double* magnitude);
// y <- y + A x; all columns.
void pawl_columns_add(const PawlColumns* c, const PawlPattern* A, const double* values,
                      const double* x, double* y);
// sizes_i <- sizes_i + sum_j |G_ij| x_j, x_j >= 0; all columns; and from 0 on. (A16)
void pawl_columns_add_sizes(const PawlColumns* c, const PawlPattern* G, const double* values,
                            const double* x, double* sizes);
void pawl_columns_sizes(const PawlColumns* c, const PawlPattern* G, const double* values,
                        const double* x, double* sizes);
// The same of the rows first .. end - 1 alone, to sizes[0] and on: with `by_rows`. The terms of a
// row are added in another order.
void pawl_columns_some_sizes(const PawlColumns* c, const PawlPattern* G, const double* values,
                             const double* x, int first, int end, double* sizes);
// y_i <- y_i + sum_j G_ij x_j of these rows, y[0] being that of the first: the same.
void pawl_columns_add_some(const PawlColumns* c, const PawlPattern* G, const double* values,
                           const double* x, int first, int end, double* y);
