// SPDX-License-Identifier: Apache-2.0
// Forces of a set whose rows depend on each other (docs/theory/friction.md, section 6). They are
// made of variables that are not negative: lambda - lo of a row with bounds, the two signs of a
// bilateral row, the edges N + mu T and N - mu T of a block that sticks, one edge of a block that
// slips. For these w = 0 in the set and the signs of w outside are a linear program, (F10) and the
// simplex method with the rule of R. Bland says whether it can be met.
#include <string.h>

#include "linalg/vector.h"
#include "switch/friction_impl.h"

bool pawl_friction_feasible_alloc(PawlFrictionFeasible* p, PawlArena* arena, int m) {
  size_t rows = 2 * (size_t)m, cols = 4 * (size_t)m + 1;
  p->most = m;
  p->T = PAWL_NEW(arena, double, rows*(cols + 1));
  p->cost = PAWL_NEW(arena, double, cols + 1);
  p->basis = PAWL_NEW(arena, int, rows);
  p->force = PAWL_NEW(arena, double, 2 * cols);
  p->unit = PAWL_NEW(arena, int, 2 * cols);
  return !arena->failed;
}

static inline double* program_row(PawlFrictionFeasible* p, int a) {
  return pawl_row(p->T, p->cols + 1, a);
}

// ---- variables ----------------------------------------------------------------------------------

// Variable: `part` in row i, and `other` in row t (-1: none).
static void add_variable(PawlFrictionFeasible* p, int i, double part, int t, double other) {
  p->unit[2 * p->cols] = i;
  p->unit[2 * p->cols + 1] = t;
  p->force[2 * p->cols] = part;
  p->force[2 * p->cols + 1] = other;
  p->cols++;
}

static void add_block(const PawlFrictionWork* k, PawlFrictionFeasible* p, int b) {
  const PawlFrictionBlock* block = &k->block[b];
  int n = block->normal, t = block->tangent[0];
  double sign = k->sign[b], mu = k->mu[b];
  if (k->in[t]) {  // both edges
    add_variable(p, n, sign, t, mu);
    add_variable(p, n, sign, t, -mu);
  } else {
    add_variable(p, n, sign, t, k->tie[t] * sign);
  }
  if (block->pulls) {
    add_variable(p, n, -sign, t, -k->tie[t] * sign);
  }
}

static int block_of(const PawlFrictionWork* k, int n) {
  for (int b = 0; b < k->blocks; b++) {
    if (k->block[b].normal == n) {
      return b;
    }
  }
  return -1;
}

// Variables of all forces that are not known; false: a block that is not of the usual kinds.
static bool add_variables(const PawlFrictionWork* k, PawlFrictionFeasible* p) {
  p->cols = 0;
  for (int i = 0; i < k->m; i++) {
    int b = k->owner[i] < 0 ? block_of(k, i) : -1;
    bool contact = k->lo[i] == 0.0 && k->hi[i] == INFINITY;
    bool bilateral = pawl_friction_bilateral(k, i);
    if (!k->in[i] || k->owner[i] >= 0) {
      if (k->owner[i] >= 0 && k->in[i] && !k->in[k->block[k->owner[i]].normal]) {
        return false;  // on a known normal force
      }
      continue;
    }
    if (b >= 0 && ((!contact && !bilateral) || pawl_friction_spatial(&k->block[b]))) {
      return false;
    }
    if (b >= 0 && k->mu[b] > 0.0) {
      add_block(k, p, b);
    } else {
      bool down = !bilateral && k->lo[i] == -INFINITY;
      add_variable(p, i, down ? -1.0 : 1.0, -1, 0.0);
      if (bilateral) {
        add_variable(p, i, -1.0, -1, 0.0);
      }
    }
  }
  return true;
}

// ---- rows ---------------------------------------------------------------------------------------

// Which side of w is asked of row i: 0 for w = 0, +1, -1; 2: nothing.
static int side_of(const PawlFrictionWork* k, const PawlFrictionFeasible* p, int i) {
  int b = k->owner[i];
  if (p->open && p->open[i]) {
    return b >= 0 ? 2 : isinf(k->lo[i]) ? -1 : 1;
  }
  if (k->in[i]) {
    return 0;
  }
  if (b >= 0 && (k->block[b].sliding || k->mu[b] == 0.0 || !pawl_friction_closed(k, b))) {
    return 2;
  }
  return pawl_friction_fixed(k, i) ? 2 : k->place[i] == PAWL_ROW_LOW ? 1 : -1;
}

// sum_j D_ij force_j s + ... = right, with the slack variable of an inequality at column `slack`.
static void add_row(const PawlFrictionWork* k, PawlFrictionFeasible* p, int i, int side,
                    int slack) {
  double* T = program_row(p, p->rows);
  for (int c = 0; c < slack; c++) {
    const int* unit = p->unit + 2 * c;
    T[c] = p->force[2 * c] * pawl_friction_matrix_get(k->matrix, i, unit[0]);
    T[c] +=
        unit[1] >= 0 ? p->force[2 * c + 1] * pawl_friction_matrix_get(k->matrix, i, unit[1]) : 0.0;
  }
  T[p->cols] = -k->w[i];  // by the forces that are known
  if (side != 0) {
    T[slack + p->rows] = -side;
  }
  p->rows++;
}

// lambda - lo <= hi - lo of a row with two bounds.
static void add_bound(const PawlFrictionWork* k, PawlFrictionFeasible* p, int c, int slack) {
  int i = p->unit[2 * c];
  if (k->owner[i] < 0 && isfinite(k->lo[i]) && isfinite(k->hi[i])) {
    double* T = program_row(p, p->rows);
    T[c] = T[slack + p->rows] = 1.0;
    T[p->cols] = k->hi[i] - k->lo[i];
    p->rows++;
  }
}

// Forces on their bounds, and rows of the set on their lower one.
static void known_forces(PawlFrictionWork* k) {
  for (int i = 0; i < k->m; i++) {
    double bound = k->owner[i] >= 0                ? 0.0
                   : isfinite(k->lo[i])            ? k->lo[i]
                   : pawl_friction_bilateral(k, i) ? 0.0
                                                   : k->hi[i];
    k->lambda[i] = k->in[i] ? bound : k->lambda[i];
  }
  for (int t = 0; t < k->m; t++) {
    if (k->owner[t] >= 0 && !k->in[t]) {
      k->lambda[t] = k->tie[t] * k->lambda[k->block[k->owner[t]].normal];
    }
  }
  pawl_friction_values(k);
}

static bool build(PawlFrictionWork* k, PawlFrictionFeasible* p) {
  if (!add_variables(k, p)) {
    return false;
  }
  known_forces(k);
  int slack = p->cols;
  p->cols += 2 * k->m;
  p->rows = 0;
  memset(p->T, 0, 2 * (size_t)k->m * (size_t)(p->cols + 1) * sizeof(double));
  for (int i = 0; i < k->m; i++) {
    int side = side_of(k, p, i);
    if (side != 2) {
      add_row(k, p, i, side, slack);
    }
  }
  for (int c = 0; c < slack; c++) {
    add_bound(k, p, c, slack);
  }
  return true;
}

// ---- the simplex method -------------------------------------------------------------------------

// What is missing in the rows is the first basis, and its sum the cost.
static void begin(PawlFrictionFeasible* p) {
  memset(p->cost, 0, (size_t)(p->cols + 1) * sizeof(double));
  for (int a = 0; a < p->rows; a++) {
    double* T = program_row(p, a);
    for (int c = 0; T[p->cols] < 0.0 && c <= p->cols; c++) {
      T[c] = -T[c];
    }
    p->basis[a] = -1;
    pawl_add_scaled(p->cols + 1, p->cost, 1.0, T);
  }
}

static void pivot(PawlFrictionFeasible* p, int a, int c) {
  double *row = program_row(p, a), inverse = 1.0 / row[c];
  for (int j = 0; j <= p->cols; j++) {
    row[j] *= inverse;
  }
  for (int i = 0; i < p->rows; i++) {
    double* T = program_row(p, i);
    if (i != a && T[c] != 0.0) {
      pawl_add_scaled(p->cols + 1, T, -T[c], row);
      T[c] = 0.0;
    }
  }
  pawl_add_scaled(p->cols + 1, p->cost, -p->cost[c], row);
  p->cost[c] = 0.0;
  p->basis[a] = c;
}

// Of rows that leave alike the one with the largest pivot, or, for R. Bland's rule, the first.
static int leaving_row(PawlFrictionFeasible* p, int c, bool steepest) {
  double least = INFINITY, most = 0.0;
  int row = -1;
  for (int a = 0; a < p->rows; a++) {
    double part = program_row(p, a)[c];
    double ratio =
        part > PAWL_FRICTION_PIVOT ? fmax(program_row(p, a)[p->cols], 0.0) / part : INFINITY;
    bool first = row >= 0 && p->basis[a] < p->basis[row];
    if (ratio < least || (ratio == least && isfinite(ratio) && (steepest ? part > most : first))) {
      least = ratio;
      most = part;
      row = a;
    }
  }
  return row;
}

static double missing(PawlFrictionFeasible* p) {
  double sum = 0.0;
  for (int a = 0; a < p->rows; a++) {
    sum += p->basis[a] < 0 ? fabs(program_row(p, a)[p->cols]) : 0.0;
  }
  return sum;
}

// The steepest, and after many pivots the first (R. Bland): that does not go in circles.
static int entering_column(PawlFrictionFeasible* p, bool steepest) {
  int best = -1;
  for (int c = 0; c < p->cols && (steepest || best < 0); c++) {
    bool better = p->cost[c] > (best >= 0 ? p->cost[best] : PAWL_FRICTION_PIVOT);
    best = better && leaving_row(p, c, steepest) >= 0 ? c : best;
  }
  return best;
}

static bool run(PawlFrictionFeasible* p, double small) {
  int most = 50 + 20 * p->rows;
  begin(p);
  for (int count = 0; count < most && missing(p) > small; count++) {
    bool steepest = 2 * count < most;
    int c = entering_column(p, steepest);
    int a = c >= 0 ? leaving_row(p, c, steepest) : -1;
    if (a < 0) {
      break;
    }
    pivot(p, a, c);
  }
  return missing(p) <= small;
}

// ---- the whole ----------------------------------------------------------------------------------

static void take_forces(PawlFrictionWork* k, PawlFrictionFeasible* p, int variables) {
  for (int a = 0; a < p->rows; a++) {
    int c = p->basis[a];
    if (c >= 0 && c < variables) {
      double value = fmax(program_row(p, a)[p->cols], 0.0);
      k->lambda[p->unit[2 * c]] += value * p->force[2 * c];
      if (p->unit[2 * c + 1] >= 0) {
        k->lambda[p->unit[2 * c + 1]] += value * p->force[2 * c + 1];
      }
    }
  }
}

static bool find_forces(PawlFrictionWork* k, PawlFrictionFeasible* p) {
  double size = 0.0;
  pawl_friction_arrange(k);
  if (k->m > p->most || !build(k, p)) {
    return false;
  }
  for (int i = 0; i < k->m; i++) {
    size = fmax(size, k->size[i]);
  }
  if (!run(p, PAWL_FRICTION_SOLVED_TO * size)) {
    return false;
  }
  take_forces(k, p, p->cols - 2 * k->m);
  pawl_friction_values(k);
  return true;
}

bool pawl_friction_feasible(PawlFrictionWork* k, PawlFrictionFeasible* p) {
  p->open = NULL;
  return find_forces(k, p) && pawl_friction_residual(k) <= PAWL_FRICTION_SOLVED_TO;
}

bool pawl_friction_relaxed(PawlFrictionWork* k, PawlFrictionFeasible* p,
                           const unsigned char* open) {
  p->open = open;
  bool found = find_forces(k, p);
  p->open = NULL;
  return found;
}
