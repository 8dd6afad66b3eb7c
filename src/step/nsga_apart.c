// SPDX-License-Identifier: Apache-2.0
// Corrections row by row (docs/theory/nsga.md, N41): where M is constant and diagonal and each
// coordinate is in one row at most, M U = B^T nu ties nothing together. A contact of a long bar
// then costs the coordinates of its row, and no matrix.
#include <math.h>

#include "step/ga_loops.h"
#include "step/nsga.h"

PawlStatus pawl_nsga_apart_create(PawlStepper* s, PawlNsga* d, PawlError* err) {
  const PawlPattern* G = &s->G;
  PawlNsgaApart* apart = &d->apart;
  int count = 0;
  if (!d->ga.lumped || !s->dynamics.linear || d->rub.contacts > 0 || !d->ga.begins) {
    return PAWL_OK;
  }
  for (int j = pawl_sparse_next(G, 0); j < G->cols; j = pawl_sparse_next(G, j + 1)) {
    if (G->start[j + 1] != G->start[j] + 1 || !(d->ga.weight[j] > 0.0)) {
      return PAWL_OK;
    }
    count++;
  }
  int* column = PAWL_NEW(&s->arena, int, count);
  apart->first = PAWL_NEW(&s->arena, int, s->sizes.rows + 2);
  apart->entry = PAWL_NEW(&s->arena, int, count);
  if (s->arena.failed) {
    return pawl_fail_memory(err);
  }
  for (int e = 0, j = pawl_sparse_next(G, 0); e < count; e++, j = pawl_sparse_next(G, j + 1)) {
    column[e] = j;  // entry e of G: each column has one
    apart->first[G->index[e] + 2]++;
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    apart->first[i + 2] += apart->first[i + 1];
  }
  for (int e = 0; e < count; e++) {
    apart->entry[apart->first[G->index[e] + 1]++] = e;
  }
  apart->column = d->ga.columns = column;
  d->ga.column_count = count;
  return PAWL_OK;
}

void pawl_nsga_apart_clear(PawlNsga* d) {
  for (int e = 0; e < d->ga.column_count; e++) {
    int j = d->ga.columns[e];
    d->U[j] = d->W[j] = d->du[j] = d->dU[j] = d->dW[j] = 0.0;
  }
}

// One row: b = B_j y - M_j x_j in du,
//   (sum_j G_j B_j / M_j) dy = -c - sum_j G_j b_j / M_j,     dx_j = (b_j + B_j dy) / M_j     (N41)
// and dy = 0 of a row that is not in force. True: there was something to correct.
static bool correct_row(const PawlNsga* d, const double* G, int i, bool on, double* x, double* y,
                        double c) {
  const PawlNsgaApart* apart = &d->apart;
  double left = on ? -c : 0.0, D = 0.0, dy = 0.0;
  bool any = left != 0.0;
  for (int k = apart->first[i]; k < apart->first[i + 1]; k++) {
    int e = apart->entry[k], j = apart->column[e];
    double M = d->ga.weight[j], b = d->B[e] * *y - M * x[j];
    D += G[e] * (d->B[e] / M);
    left -= G[e] * (b / M);
    any |= b != 0.0;
    d->du[j] = b;
  }
  dy = on ? left / D : 0.0;
  for (int k = apart->first[i]; k < apart->first[i + 1]; k++) {
    int e = apart->entry[k], j = apart->column[e];
    d->du[j] = (d->du[j] + d->B[e] * dy) / d->ga.weight[j];
    x[j] += d->du[j];
  }
  *y += dy;
  return any;
}

// Each row in force can be met: the others take the way with a matrix, as may all further
// corrections of the step.
static bool are_regular(const PawlStepper* s, const PawlNsga* d, const double* G,
                        const unsigned char* set) {
  const PawlNsgaApart* apart = &d->apart;
  bool regular = true;
  for (int i = 0; i < s->sizes.rows; i++) {
    double D = 0.0;
    for (int k = apart->first[i]; k < apart->first[i + 1]; k++) {
      int e = apart->entry[k];
      D += G[e] * (d->B[e] / d->ga.weight[apart->column[e]]);
    }
    regular = regular && (!set[i] || (D > 0.0 && D < INFINITY));
  }
  return regular;
}

bool pawl_nsga_apart_correct(const PawlStepper* s, PawlNsga* d, const unsigned char* set, double* x,
                             double* y, const double* c) {
  const double* G = pawl_eval_values(d->eval)->G;
  if (!d->ga.columns || d->classical || !are_regular(s, d, G, set)) {
    d->ga.columns = NULL;
    return false;
  }
  d->corrected = false;
  for (int i = 0; i < s->sizes.rows; i++) {
    y[i] = set[i] ? y[i] : 0.0;
    d->corrected |= correct_row(d, G, i, set[i], x, y + i, c[i]);
  }
  for (int e = 0; d->corrected && d->ga.moved && e < d->ga.column_count; e++) {
    d->ga.moved[d->ga.columns[e] / PAWL_GA_PART] = 1;
  }
  d->ga.still = d->ga.still && !d->corrected;
  return true;
}
