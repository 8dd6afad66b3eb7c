// SPDX-License-Identifier: Apache-2.0
// Scaling of the KKT matrix by powers of two, so that what is singular does not depend on units.
// Each sweep divides every row and every column by the square root of its largest entry (Ruiz,
// "A scaling algorithm to equilibrate both rows and columns norms in matrices", 2001); the largest
// entry of every row and column tends to 1. Exponents are summed, not powers, and rounded at the
// end: a product with a power of two is exact.
#include <math.h>
#include <string.h>

#include "linalg/kkt_impl.h"

#define SWEEPS 12         // each halves the exponents: 2000 bits shrink below one
#define SWEEP_ENOUGH 0.5  // [bits] largest change of an exponent that ends the sweeps

static void take_logs(PawlKktBlock* block, const double* values) {
  for (int k = 0; k < block->count; k++) {
    double v = fabs(values[k]);
    block->factor[k] = v > 0.0 && isfinite(v) ? log2(v) : -INFINITY;
  }
}

static void raise_maxima(const PawlKkt* kkt, const PawlKktBlock* block, double* row_max,
                         double* col_max) {
  for (int k = 0; k < block->count; k++) {
    int i = block->row[k], j = block->col[k];
    double v = block->factor[k] + kkt->row_scale[i] + kkt->col_scale[j];
    row_max[i] = v > row_max[i] ? v : row_max[i];
    col_max[j] = v > col_max[j] ? v : col_max[j];
  }
}

// Moves half of each maximum into the scale; returns the largest change.
static double apply_half(int size, const double* maxima, double* scale) {
  double change = 0.0;
  for (int i = 0; i < size; i++) {
    if (maxima[i] > -INFINITY) {  // an empty row keeps its scale
      scale[i] -= 0.5 * maxima[i];
      change = fmax(change, 0.5 * fabs(maxima[i]));
    }
  }
  return change;
}

static double sweep(PawlKkt* kkt) {
  double *row_max = kkt->work, *col_max = kkt->trial;
  for (int i = 0; i < kkt->size; i++) {
    row_max[i] = col_max[i] = -INFINITY;
  }
  raise_maxima(kkt, &kkt->block_S, row_max, col_max);
  raise_maxima(kkt, &kkt->block_B, row_max, col_max);
  raise_maxima(kkt, &kkt->block_J, row_max, col_max);
  double change_row = apply_half(kkt->size, row_max, kkt->row_scale);
  double change_col = apply_half(kkt->size, col_max, kkt->col_scale);
  return fmax(change_row, change_col);
}

// The mean over the lines `first` to `last` (a row, or a column, in which an entry of the block
// stands, by `line`) of the largest entry of each; lines of zeros do not count.
static double mean_of_largest(const PawlKkt* kkt, const PawlKktBlock* block, const int* line,
                              int first, int last) {
  double *top = kkt->work, sum = 0.0;
  int count = 0;
  for (int i = first; i < last; i++) {
    top[i] = -INFINITY;
  }
  for (int k = 0; k < block->count; k++) {
    top[line[k]] = block->factor[k] > top[line[k]] ? block->factor[k] : top[line[k]];
  }
  for (int i = first; i < last; i++) {
    sum += top[i] > -INFINITY ? top[i] : 0.0;
    count += top[i] > -INFINITY;
  }
  return count > 0 ? sum / count : 0.0;
}

// The sweeps begin where the largest entries of the columns of S and of the rows of B and J are 1
// in the mean, whatever the units of mass, length and time: from there they lead to the same
// matrix.
static void begin_in_own_units(PawlKkt* kkt) {
  int n = kkt->n, size = kkt->size;
  double half = 0.5 * mean_of_largest(kkt, &kkt->block_S, kkt->block_S.col, 0, n);
  double B = mean_of_largest(kkt, &kkt->block_B, kkt->block_B.col, n, size);
  double J = mean_of_largest(kkt, &kkt->block_J, kkt->block_J.row, n, size);
  for (int i = 0; i < size; i++) {
    kkt->row_scale[i] = i < n ? -half : half - J;
    kkt->col_scale[i] = i < n ? -half : half - B;
  }
}

// Where J and B alone decide the largest entries, S may have been left small, as small as its units
// make it. The multipliers' unit is free: S is brought to 1, and J and B stay as they are.
static void lift_inertia(PawlKkt* kkt) {
  const PawlKktBlock* S = &kkt->block_S;
  double top = -INFINITY;
  for (int k = 0; k < S->count; k++) {
    top = fmax(top, S->factor[k] + kkt->row_scale[S->row[k]] + kkt->col_scale[S->col[k]]);
  }
  double half = top > -INFINITY ? 0.5 * top : 0.0;
  for (int i = 0; i < kkt->size; i++) {
    kkt->row_scale[i] += i < kkt->n ? -half : half;
    kkt->col_scale[i] += i < kkt->n ? -half : half;
  }
}

static void exponents_to_powers(int size, double* scale) {
  for (int i = 0; i < size; i++) {
    double e = fmin(fmax(rint(scale[i]), -PAWL_KKT_LARGEST_EXPONENT), PAWL_KKT_LARGEST_EXPONENT);
    scale[i] = ldexp(1.0, (int)e);
  }
}

static void set_factors(const PawlKkt* kkt, PawlKktBlock* block, double sign) {
  for (int k = 0; k < block->count; k++) {
    block->factor[k] = sign * kkt->row_scale[block->row[k]] * kkt->col_scale[block->col[k]];
  }
}

void pawl_kkt_use_scale(PawlKkt* kkt) {
  pawl_kkt_stretches_forget(&kkt->block_S);
  pawl_kkt_stretches_forget(&kkt->block_B);
  pawl_kkt_stretches_forget(&kkt->block_J);
  if (kkt->blocks) {
    pawl_kkt_blocks_rescaled(kkt);
  }
  set_factors(kkt, &kkt->block_S, 1.0);
  set_factors(kkt, &kkt->block_B, -1.0);
  set_factors(kkt, &kkt->block_J, 1.0);
  kkt->even_scale =
      memcmp(kkt->row_scale, kkt->col_scale, (size_t)kkt->size * sizeof *kkt->row_scale) == 0;
  if (!kkt->klu && !kkt->band && !kkt->blocks) {
    pawl_kkt_dense_fit(kkt);
    pawl_kkt_line_scale(kkt);
  }
  pawl_kkt_script_scale(kkt);
}

void pawl_kkt_scale(PawlKkt* kkt, const double* S, const double* B, const double* J) {
  take_logs(&kkt->block_S, S);
  take_logs(&kkt->block_B, B);
  take_logs(&kkt->block_J, J);
  begin_in_own_units(kkt);
  for (int s = 0; s < SWEEPS && sweep(kkt) > SWEEP_ENOUGH; s++) {
  }
  lift_inertia(kkt);
  exponents_to_powers(kkt->size, kkt->row_scale);
  exponents_to_powers(kkt->size, kkt->col_scale);
  pawl_kkt_use_scale(kkt);
  pawl_kkt_forget(kkt);
  kkt->scaled = true;
}
