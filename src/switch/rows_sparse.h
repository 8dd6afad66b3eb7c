// SPDX-License-Identifier: Apache-2.0
// The sparse form of the row problem, for rows.c alone.
#pragma once

#include "linalg/kkt.h"
#include "switch/rows_impl.h"

typedef struct PawlRowsSparse {
  PawlRowsWork work;
  PawlKkt* kkt;  // freed by the owner
  int n;
  const PawlPattern *H, *G;  // borrowed
  const double *values_H, *values_B, *values_G, *r, *b;
  int *row_start, *row_entry, *row_column;  // G by rows
  int* diagonal;                            // n: place of H_jj, or -1
  int* list;                                // m + 1: scratch
  double* inertia;                          // n: H_jj
  double *x, *room;                         // n: the solution; scratch
  double *y, *mobility;                     // m
  unsigned char *kept, *flags;              // m: rows that are factored; scratch
  bool factored;
} PawlRowsSparse;

PAWL_CHECKED PawlStatus pawl_rows_sparse_create(PawlRowsSparse* s, PawlArena* arena,
                                                const PawlPattern* H, const PawlPattern* G,
                                                PawlError* err);
void pawl_rows_sparse_set(PawlRowsSparse* s, const double* H, const double* B, const double* G);
PAWL_CHECKED PawlStatus pawl_rows_sparse_solve(PawlRowsSparse* s, const double* r, const double* b,
                                               const PawlRowBounds* bounds, double* x,
                                               PawlRowsResult* result);
