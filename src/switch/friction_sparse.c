// SPDX-License-Identifier: Apache-2.0
// Planar frictional rows of a large system (docs/theory/friction.md, section 8). With lambda of the
// softened rows of a set eliminated,
//   lambda_i = lambda'_i - kappa_i (G_i x + b_i),      kappa_i = 1 / (soft s_i^2)
//   (H + sum_i kappa_i B_i^T G_i) x = r + sum_known G_i^T lambda_i + sum_i B_i^T (lambda'_i -
//   kappa_i b_i) B_N = G_N + sum_T tie_T G_T,  else B = G (F13)
// a set is one factorisation of a matrix with the pattern of H and of the pairs that touch. What
// rounding leaves of both equations, 1e-7 of the forces, is solved for again.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "linalg/kkt.h"
#include "switch/friction_impl.h"

struct PawlFrictionRows {
  PawlArena arena;
  PawlFrictionWork work;
  PawlKkt* kkt;  // of K alone
  int n, m;
  int entries_H, entries_G;
  int *start_H, *index_H;  // H by columns
  double* values_H;
  PawlPattern K;
  double* values_K;
  int* place_H;    // where the entries of H are in K
  int* row_start;  // m + 1: entries of a row; a normal row has those of its block, too
  int* row_column;
  double *row_G, *row_B;
  int* place_G;            // where the entries of G are in row_G
  int* tangent_place;      // of each entry of a tangential row: the same column in the normal row
  int *pair_start, *pair;  // of each row: places in K, of its entries by its entries
  double *inertia, *own;   // n: H_jj; m: sum_j G_ij^2 / H_jj
  double *x, *room;        // n
  double* moved;           // n: by the forces on each coordinate
  double *q, *left;        // m: what stands for q; what is left of the equations
  double* none;            // 1: there are no rows in the factorisation
  const double *r, *b;
  unsigned char* in;  // of what is factored
  double* tie;
  double* local;            // D_NT of each block
  double* swept;            // m: lambda after sweeps
  unsigned char* in_block;  // m: normal rows of blocks
  unsigned char* kept;      // m: places of the last set that was found
  bool factored;
};

// ---- patterns -----------------------------------------------------------------------------------

// Entries of G by rows; those of tangential rows in their normal rows as well, each column once.
static bool make_rows(PawlFrictionRows* f, const PawlPattern* G, const int* normal) {
  int entries = G->start[f->n], m = f->m;
  int* start = f->row_start = PAWL_NEW(&f->arena, int, m + 2);
  int* last = PAWL_NEW(&f->arena, int, m + 1);  // the column that a row has seen last
  f->row_column = PAWL_NEW(&f->arena, int, 2 * entries + 1);
  f->row_G = PAWL_NEW(&f->arena, double, 2 * entries + 1);
  f->row_B = PAWL_NEW(&f->arena, double, 2 * entries + 1);
  f->place_G = PAWL_NEW(&f->arena, int, entries + 1);
  f->tangent_place = PAWL_NEW(&f->arena, int, 2 * entries + 1);
  for (int pass = 0; pass < 2 && !f->arena.failed; pass++) {  // count, then place
    for (int i = 0; i < m; i++) {
      last[i] = -1;
    }
    for (int j = 0; j < f->n; j++) {
      for (int e = G->start[j]; e < G->start[j + 1]; e++) {
        int rows[2] = {G->index[e], normal[G->index[e]]};
        for (int a = 0; a < 2 && rows[a] >= 0; a++) {
          int i = rows[a];
          if (last[i] != j && pass == 0) {
            start[i + 1]++;
          } else if (last[i] != j) {
            f->row_column[start[i]++] = j;
          }
          last[i] = j;
        }
        if (pass == 1) {
          f->place_G[e] = start[rows[0]] - 1;
        }
      }
    }
    for (int i = 0; i < m && pass == 0; i++) {
      start[i + 1] += start[i];
    }
  }
  for (int i = m; i > 0 && !f->arena.failed; i--) {  // placing has moved each to its end
    start[i] = start[i - 1];
  }
  if (f->arena.failed) {
    return false;
  }
  start[0] = 0;
  f->entries_G = entries;
  return true;
}

static void match_tangents(PawlFrictionRows* f, const int* normal) {
  for (int t = 0; t < f->m; t++) {
    int at = normal[t] >= 0 ? f->row_start[normal[t]] : 0;
    for (int e = f->row_start[t]; normal[t] >= 0 && e < f->row_start[t + 1]; e++) {
      while (f->row_column[at] != f->row_column[e]) {  // both ascend
        at++;
      }
      f->tangent_place[e] = at;
    }
  }
}

// Rows of column j of K: those of H, and those that share a row of G with it; unordered.
static int column_of_K(const PawlFrictionRows* f, const PawlPattern* H, const int* rows_of,
                       const int* rows_start, int j, int* mark, int* out) {
  int count = 0;
  for (int e = H->start[j]; e < H->start[j + 1]; e++) {
    mark[H->index[e]] = j;
    out[count++] = H->index[e];
  }
  for (int a = rows_start[j]; a < rows_start[j + 1]; a++) {
    for (int e = f->row_start[rows_of[a]]; e < f->row_start[rows_of[a] + 1]; e++) {
      int i = f->row_column[e];
      if (mark[i] != j) {
        mark[i] = j;
        out[count++] = i;
      }
    }
  }
  return count;
}

static int ascending(const void* a, const void* b) {
  int p = *(const int*)a, q = *(const int*)b;
  return (p > q) - (p < q);
}

// Rows of G by columns, with the entries that normal rows have been given.
static void invert_rows(const PawlFrictionRows* f, int* start, int* rows) {
  for (int e = 0; e < f->row_start[f->m]; e++) {
    start[f->row_column[e] + 1]++;
  }
  for (int j = 0; j < f->n; j++) {
    start[j + 1] += start[j];
  }
  for (int i = 0; i < f->m; i++) {
    for (int e = f->row_start[i]; e < f->row_start[i + 1]; e++) {
      rows[start[f->row_column[e]]++] = i;
    }
  }
  for (int j = f->n; j > 0; j--) {
    start[j] = start[j - 1];
  }
  start[0] = 0;
}

static bool make_pattern_K(PawlFrictionRows* f, const PawlPattern* H) {
  int n = f->n, entries = f->row_start[f->m];
  int* rows_start = PAWL_NEW(&f->arena, int, n + 2);
  int* rows = PAWL_NEW(&f->arena, int, entries + 1);
  int* mark = PAWL_NEW(&f->arena, int, n + 1);
  int* out = PAWL_NEW(&f->arena, int, n + 1);
  int* start = PAWL_NEW(&f->arena, int, n + 1);
  if (f->arena.failed) {
    return false;
  }
  invert_rows(f, rows_start, rows);
  for (int pass = 0; pass < 2; pass++) {
    int* index = pass ? PAWL_NEW(&f->arena, int, start[n] + 1) : NULL;
    if (f->arena.failed) {
      return false;
    }
    memset(mark, -1, (size_t)n * sizeof(int));
    for (int j = 0; j < n; j++) {
      int count = column_of_K(f, H, rows, rows_start, j, mark, out);
      if (pass) {
        qsort(out, (size_t)count, sizeof(int), ascending);
        memcpy(index + start[j], out, (size_t)count * sizeof(int));
      } else {
        start[j + 1] = start[j] + count;
      }
    }
    f->K = (PawlPattern){n, n, start, index};
  }
  return true;
}

static int find_place(const PawlPattern* K, int i, int j) {
  int low = K->start[j], high = K->start[j + 1] - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if (K->index[middle] < i) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  assert(K->index[low] == i);
  return low;
}

// Places of H and of the rows in K.
static bool find_places(PawlFrictionRows* f) {
  int* start = f->pair_start = PAWL_NEW(&f->arena, int, f->m + 1);
  f->place_H = PAWL_NEW(&f->arena, int, f->entries_H + 1);
  if (f->arena.failed) {
    return false;
  }
  for (int i = 0; i < f->m; i++) {
    int count = f->row_start[i + 1] - f->row_start[i];
    start[i + 1] = start[i] + count * count;
  }
  f->pair = PAWL_NEW(&f->arena, int, start[f->m] + 1);
  if (f->arena.failed) {
    return false;
  }
  for (int i = 0; i < f->m; i++) {
    int at = start[i];
    for (int c = f->row_start[i]; c < f->row_start[i + 1]; c++) {
      for (int a = f->row_start[i]; a < f->row_start[i + 1]; a++) {
        f->pair[at++] = find_place(&f->K, f->row_column[a], f->row_column[c]);
      }
    }
  }
  for (int j = 0; j < f->n; j++) {
    for (int e = f->start_H[j]; e < f->start_H[j + 1]; e++) {
      f->place_H[e] = find_place(&f->K, f->index_H[e], j);
    }
  }
  return true;
}

// ---- a set --------------------------------------------------------------------------------------

static inline double kappa(const PawlFrictionRows* f, int i) {
  double s = f->work.s[i];
  return 1.0 / (f->work.soft * s * s);
}

// B differs from G in the normal rows of blocks that slip.
static void set_forces(PawlFrictionRows* f) {
  const PawlFrictionWork* k = &f->work;
  memcpy(f->row_B, f->row_G, (size_t)f->row_start[f->m] * sizeof(double));
  for (int t = 0; t < f->m; t++) {
    int b = k->owner[t];
    if (b >= 0 && !k->in[t] && k->tie[t] != 0.0) {
      double tie = k->tie[t] * k->s[k->block[b].normal] / k->s[t];
      for (int e = f->row_start[t]; e < f->row_start[t + 1]; e++) {
        f->row_B[f->tangent_place[e]] += tie * f->row_G[e];
      }
    }
  }
}

static void assemble(PawlFrictionRows* f) {
  memset(f->values_K, 0, (size_t)f->K.start[f->n] * sizeof(double));
  for (int e = 0; e < f->entries_H; e++) {
    f->values_K[f->place_H[e]] += f->values_H[e];
  }
  for (int i = 0; i < f->m; i++) {
    const int* pair = f->pair + f->pair_start[i];
    for (int c = f->row_start[i]; f->work.in[i] && c < f->row_start[i + 1]; c++) {
      double part = kappa(f, i) * f->row_G[c];
      for (int a = f->row_start[i]; a < f->row_start[i + 1]; a++) {
        f->values_K[*pair++] += part * f->row_B[a];
      }
    }
  }
}

static PawlStatus factor(PawlFrictionRows* f) {
  PawlFrictionWork* k = &f->work;
  size_t m = (size_t)f->m;
  if (f->factored && memcmp(f->in, k->in, m) == 0 &&
      memcmp(f->tie, k->tie, m * sizeof(double)) == 0) {
    return PAWL_OK;
  }
  f->factored = false;
  set_forces(f);
  assemble(f);
  PAWL_TRY(pawl_kkt_factor(f->kkt, f->values_K, f->none, f->none, NULL));
  memcpy(f->in, k->in, m);
  memcpy(f->tie, k->tie, m * sizeof(double));
  f->factored = true;
  return PAWL_OK;
}

static void tie_rows(PawlFrictionWork* k) {
  for (int t = 0; t < k->m; t++) {
    if (k->owner[t] >= 0 && !k->in[t]) {
      k->lambda[t] = k->tie[t] * k->lambda[k->block[k->owner[t]].normal];
    }
  }
}

static void add_row(const PawlFrictionRows* f, const double* row, int i, double force, double* y) {
  for (int e = f->row_start[i]; e < f->row_start[i + 1]; e++) {
    y[f->row_column[e]] += row[e] * force;
  }
}

static double row_times(const PawlFrictionRows* f, int i, const double* x) {
  double sum = 0.0;
  for (int e = f->row_start[i]; e < f->row_start[i + 1]; e++) {
    sum += f->row_G[e] * x[f->row_column[e]];
  }
  return sum;
}

// w = G x + b, and the terms of each row: forces on a coordinate by its inertia, as in
// rows_sparse.c.
static void values(PawlFrictionRows* f) {
  PawlFrictionWork* k = &f->work;
  double most = 0.0, *moved = f->moved;
  for (int j = 0; j < f->n; j++) {
    moved[j] = fabs(f->r[j]);
  }
  for (int i = 0; i < f->m; i++) {
    double force = PAWL_ROWS_CARRIED * fabs(k->lambda[i] / k->s[i]);
    for (int e = f->row_start[i]; force > 0.0 && e < f->row_start[i + 1]; e++) {
      moved[f->row_column[e]] += fabs(f->row_G[e]) * force;
    }
  }
  for (int j = 0; j < f->n; j++) {
    moved[j] = fmax(f->inertia[j] > 0.0 ? moved[j] / f->inertia[j] : 0.0, fabs(f->x[j]));
  }
  for (int i = 0; i < f->m; i++) {
    double size = fabs(f->b[i]);
    for (int e = f->row_start[i]; e < f->row_start[i + 1]; e++) {
      size += fabs(f->row_G[e]) * moved[f->row_column[e]];
    }
    k->w[i] = (f->b[i] + row_times(f, i, f->x)) / k->s[i];
    k->size[i] = size / k->s[i];
    most = fmax(most, k->size[i]);
  }
  for (int i = 0; i < f->m; i++) {
    k->size[i] = fmax(k->size[i], PAWL_ROWS_NEIGHBOURS * most);
  }
}

// x and lambda by what is left of both equations: `room` of the forces, `left` of the rows.
static void step(PawlFrictionRows* f) {
  for (int i = 0; i < f->m; i++) {
    if (f->work.in[i]) {
      add_row(f, f->row_B, i, -kappa(f, i) * f->left[i], f->room);
    }
  }
  pawl_kkt_solve(f->kkt, f->room, f->none);
  for (int j = 0; j < f->n; j++) {
    f->x[j] += f->room[j];
  }
  for (int i = 0; i < f->m; i++) {
    if (f->work.in[i]) {
      double change = kappa(f, i) * (f->left[i] + row_times(f, i, f->room));
      f->work.lambda[i] -= change * f->work.s[i];
    }
  }
  tie_rows(&f->work);
}

// From x = 0 and lambda' in the set, known forces elsewhere.
static void first_solution(PawlFrictionRows* f) {
  PawlFrictionWork* k = &f->work;
  memcpy(f->room, f->r, (size_t)f->n * sizeof(double));
  memset(f->x, 0, (size_t)f->n * sizeof(double));
  for (int i = 0; i < f->m; i++) {
    k->lambda[i] = k->in[i] ? k->before[i] : k->lambda[i];
    f->left[i] = f->b[i];
  }
  tie_rows(k);
  for (int i = 0; i < f->m; i++) {
    if (k->lambda[i] != 0.0) {
      add_row(f, f->row_G, i, k->lambda[i] / k->s[i], f->room);
    }
  }
  step(f);
}

static void correct(PawlFrictionRows* f) {
  PawlFrictionWork* k = &f->work;
  memcpy(f->room, f->r, (size_t)f->n * sizeof(double));
  for (int j = 0; j < f->n; j++) {
    for (int e = f->start_H[j]; e < f->start_H[j + 1]; e++) {
      f->room[f->index_H[e]] -= f->values_H[e] * f->x[j];
    }
  }
  for (int i = 0; i < f->m; i++) {
    double w = f->b[i] + row_times(f, i, f->x);
    f->left[i] = w + k->soft * (k->lambda[i] - k->before[i]) * k->s[i];
    if (k->lambda[i] != 0.0) {
      add_row(f, f->row_G, i, k->lambda[i] / k->s[i], f->room);
    }
  }
  step(f);
}

static PawlStatus solve_set(PawlFrictionWork* k) {
  PawlFrictionRows* f = k->self;
  PAWL_TRY(factor(f));
  first_solution(f);
  correct(f);
  values(f);
  k->least_pivot = 1.0;
  for (int i = 0; i < f->m; i++) {
    if (!isfinite(k->lambda[i]) || !isfinite(k->w[i])) {
      return PAWL_RETRY;
    }
  }
  return PAWL_OK;
}

// ---- sweeps of Gauss and Seidel -----------------------------------------------------------------

static double row_w(const PawlFrictionRows* f, int i) {
  return (f->b[i] + row_times(f, i, f->x)) / f->work.s[i];
}

static void push(PawlFrictionRows* f, int i, double lambda) {
  double change = (lambda - f->work.lambda[i]) / f->work.s[i];
  f->work.lambda[i] = lambda;
  for (int e = f->row_start[i]; change != 0.0 && e < f->row_start[i + 1]; e++) {
    int j = f->row_column[e];
    f->x[j] += f->row_G[e] * change / f->inertia[j];
  }
}

// D_NT of a block, scaled.
static double coupling(const PawlFrictionRows* f, int n, int t) {
  double sum = 0.0;
  for (int e = f->row_start[t]; e < f->row_start[t + 1]; e++) {
    sum += f->row_G[e] * f->row_G[f->tangent_place[e]] / f->inertia[f->row_column[e]];
  }
  return sum / (f->work.s[n] * f->work.s[t]);
}

// One contact for itself: open, sticking, or slipping to a side.                          (F14)
static void relax_block(PawlFrictionRows* f, int b) {
  PawlFrictionWork* k = &f->work;
  const PawlFrictionBlock* block = &k->block[b];
  int n = block->normal, t = block->tangent[0];
  double nn = f->own[n] / (k->s[n] * k->s[n]), tt = f->own[t] / (k->s[t] * k->s[t]);
  double nt = f->local[b], N = k->lambda[n], T = k->lambda[t];
  double q_n = row_w(f, n) - nn * N - nt * T, q_t = row_w(f, t) - nt * N - tt * T;
  double determinant = nn * tt - nt * nt;
  N = (nt * q_t - tt * q_n) / determinant;
  T = (nt * q_n - nn * q_t) / determinant;
  if (q_n >= 0.0) {
    N = T = 0.0;
  } else if (!(N >= 0.0 && fabs(T) <= k->mu[b] * N)) {
    double side = T > 0.0 ? 1.0 : -1.0;
    N = fmax(-q_n / fmax(nn + side * k->mu[b] * nt, PAWL_DEPENDENT * nn), 0.0);
    T = side * k->mu[b] * N;
  }
  push(f, n, N);
  push(f, t, T);
}

static void relax_row(PawlFrictionRows* f, int i) {
  PawlFrictionWork* k = &f->work;
  double d = f->own[i] / (k->s[i] * k->s[i]);
  double y = d > 0.0 ? k->lambda[i] - row_w(f, i) / d : k->lambda[i];
  push(f, i, fmin(fmax(y, k->lo[i]), k->hi[i]));
}

// Blocks of contacts as they are; all other rows, and normal rows of other blocks, one by one.
// Up and down in turn, so that loads pass through a heap in both directions.
static void sweep(PawlFrictionRows* f, bool up) {
  PawlFrictionWork* k = &f->work;
  for (int i = 0; i < f->m; i++) {
    if (k->owner[i] < 0 && !f->in_block[i]) {
      relax_row(f, i);
    }
  }
  for (int b = 0; b < k->blocks; b++) {
    relax_block(f, up ? b : k->blocks - 1 - b);
  }
}

// Sweeps are for diagonal H, contacts, and blocks that are not sliding.
static bool can_sweep(const PawlFrictionRows* f) {
  const PawlFrictionWork* k = &f->work;
  bool can = f->entries_H == f->n;
  for (int j = 0; j < f->n; j++) {
    can = can && f->inertia[j] > 0.0;
  }
  for (int b = 0; b < k->blocks; b++) {
    int n = k->block[b].normal;
    can = can && !k->block[b].sliding && k->lo[n] == 0.0 && k->hi[n] == INFINITY;
  }
  return can;
}

static void begin_sweeps(PawlFrictionRows* f) {
  PawlFrictionWork* k = &f->work;
  memset(f->in_block, 0, (size_t)f->m);
  for (int b = 0; b < k->blocks; b++) {
    f->in_block[k->block[b].normal] = 1;
    f->local[b] = coupling(f, k->block[b].normal, k->block[b].tangent[0]);
  }
  for (int j = 0; j < f->n; j++) {
    f->x[j] = f->r[j] / f->inertia[j];
  }
  for (int i = 0; i < f->m; i++) {
    double lambda = k->owner[i] < 0 ? fmin(fmax(0.0, k->lo[i]), k->hi[i]) : 0.0;
    k->lambda[i] = 0.0;
    push(f, i, lambda);
  }
}

// Places and forces before from those that the sweeps have reached.
static void take_sweeps(PawlFrictionRows* f) {
  PawlFrictionWork* k = &f->work;
  memcpy(k->before, k->lambda, (size_t)f->m * sizeof(double));
  for (int i = 0; i < f->m; i++) {
    if (k->owner[i] < 0 && !pawl_friction_fixed(k, i)) {
      k->place[i] = k->lambda[i] <= k->lo[i]   ? PAWL_ROW_LOW
                    : k->lambda[i] >= k->hi[i] ? PAWL_ROW_HIGH
                                               : PAWL_ROW_FREE;
    }
  }
  for (int b = 0; b < k->blocks; b++) {
    int n = k->block[b].normal, t = k->block[b].tangent[0];
    bool edge = k->lambda[n] > 0.0 && fabs(k->lambda[t]) >= k->mu[b] * k->lambda[n];
    k->place[t] = !edge ? PAWL_ROW_FREE : k->lambda[t] > 0.0 ? PAWL_ROW_HIGH : PAWL_ROW_LOW;
  }
}

// ---- interface ----------------------------------------------------------------------------------

static bool alloc(PawlFrictionRows* f, int blocks) {
  PawlArena* arena = &f->arena;
  double** of_n[] = {&f->x, &f->room, &f->moved, &f->inertia};
  double** of_m[] = {&f->own, &f->q, &f->tie, &f->left, &f->swept};
  for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++) {
    *of_n[i] = PAWL_NEW(arena, double, f->n);
  }
  for (size_t i = 0; i < sizeof of_m / sizeof *of_m; i++) {
    *of_m[i] = PAWL_NEW(arena, double, f->m);
  }
  f->none = PAWL_NEW(arena, double, 1);
  f->in = PAWL_NEW(arena, unsigned char, f->m);
  f->in_block = PAWL_NEW(arena, unsigned char, f->m);
  f->kept = PAWL_NEW(arena, unsigned char, f->m);
  f->local = PAWL_NEW(arena, double, blocks);
  f->values_H = PAWL_NEW(arena, double, f->entries_H + 1);
  f->values_K = PAWL_NEW(arena, double, f->K.start[f->n] + 1);
  return pawl_friction_work_alloc(&f->work, arena, f->m, blocks) && !arena->failed;
}

static bool copy_H(PawlFrictionRows* f, const PawlPattern* H) {
  f->entries_H = H->start[f->n];
  f->start_H = PAWL_NEW(&f->arena, int, f->n + 1);
  f->index_H = PAWL_NEW(&f->arena, int, f->entries_H + 1);
  if (f->arena.failed) {
    return false;
  }
  memcpy(f->start_H, H->start, (size_t)(f->n + 1) * sizeof(int));
  memcpy(f->index_H, H->index, (size_t)f->entries_H * sizeof(int));
  return true;
}

static PawlStatus create_solver(PawlFrictionRows* f, PawlError* err) {
  int* start = PAWL_NEW(&f->arena, int, f->n + 1);
  int* index = PAWL_NEW(&f->arena, int, 1);
  PawlPattern no_rows = {0, f->n, start, index};
  return f->arena.failed ? pawl_fail_memory(err)
                         : pawl_kkt_create(&f->K, &no_rows, PAWL_KKT_AUTO, &f->kkt, err);
}

static PawlStatus build(PawlFrictionRows* f, const PawlPattern* H, const PawlPattern* G, int blocks,
                        const PawlFrictionBlock* block, PawlError* err) {
  static const PawlFrictionOps sparse = {solve_set};
  f->n = H->cols;
  f->m = G->rows;
  int* normal = PAWL_NEW(&f->arena, int, f->m + 1);
  for (int i = 0; normal && i < f->m; i++) {
    normal[i] = -1;
  }
  for (int b = 0; normal && b < blocks; b++) {
    for (int j = 0; j < 1 + pawl_friction_spatial(&block[b]); j++) {
      normal[block[b].tangent[j]] = block[b].normal;
    }
  }
  if (!normal || !copy_H(f, H) || !make_rows(f, G, normal) || !make_pattern_K(f, H) ||
      !find_places(f) || !alloc(f, blocks)) {
    return pawl_fail_memory(err);
  }
  match_tangents(f, normal);
  f->work.m = f->m;
  f->work.ops = &sparse;
  f->work.self = f;
  for (int i = 0; i < f->m; i++) {
    f->q[i] = 1.0;
  }
  return create_solver(f, err);
}

PawlStatus pawl_friction_rows_create(const PawlPattern* H, const PawlPattern* G, int blocks,
                                     const PawlFrictionBlock* block, PawlFrictionRows** out,
                                     PawlError* err) {
  PawlFrictionRows* f = pawl_alloc(1, sizeof *f);
  PawlStatus status = f ? build(f, H, G, blocks, block, err) : pawl_fail_memory(err);
  if (status != PAWL_OK) {
    pawl_friction_rows_destroy(f);
    f = NULL;
  }
  *out = f;
  return status;
}

void pawl_friction_rows_destroy(PawlFrictionRows* rows) {
  if (rows) {
    pawl_kkt_destroy(rows->kkt);
    pawl_arena_free(&rows->arena);
    pawl_free(rows);
  }
}

PawlStatus pawl_friction_rows_matrices(PawlFrictionRows* f, const double* H, const double* G) {
  bool finite = true;
  f->factored = false;
  memcpy(f->values_H, H, (size_t)f->entries_H * sizeof(double));
  for (int e = 0; e < f->entries_G; e++) {
    f->row_G[f->place_G[e]] = G[e];
    finite = finite && isfinite(G[e]);
  }
  for (int j = 0; j < f->n; j++) {
    f->inertia[j] = 0.0;
    for (int e = f->start_H[j]; e < f->start_H[j + 1]; e++) {
      f->inertia[j] = f->index_H[e] == j ? H[e] : f->inertia[j];
      finite = finite && isfinite(H[e]);
    }
  }
  for (int i = 0; i < f->m; i++) {
    f->own[i] = 0.0;
    for (int e = f->row_start[i]; e < f->row_start[i + 1]; e++) {
      double inertia = f->inertia[f->row_column[e]];
      f->own[i] += inertia > 0.0 ? f->row_G[e] * f->row_G[e] / inertia : 0.0;
    }
  }
  return finite ? PAWL_OK : PAWL_RETRY;
}

static void soften(PawlFrictionRows* f, double soft, double loose) {
  f->work.soft = soft;
  f->work.loose = loose;
  f->factored = false;
}

// Rather soft rows first: rounding of w does little to the forces of a heap. Where that does not
// settle (a long column is as soft as its rows), harder ones go on from there.
static bool try_from(PawlFrictionRows* f, PawlFrictionResult* result) {
  PawlFrictionWork* k = &f->work;
  bool done = false;
  soften(f, PAWL_FRICTION_SOFTER, PAWL_FRICTION_LOOSE);
  PawlStatus status = pawl_friction_harden(k, result, &done);
  if (status == PAWL_OK && done && pawl_friction_gives_way(k)) {
    soften(f, PAWL_FRICTION_SOFT, PAWL_ROWS_ROUNDING);
    status = pawl_friction_harden(k, result, &done);
  }
  return status == PAWL_OK && done && !pawl_friction_gives_way(k) &&
         pawl_friction_residual(k) <= PAWL_FRICTION_SOLVED_TO;
}

// Very soft rows hardly know of each other, and their sets are found at once; forces and sets of
// these are the start for harder ones. Where a set is not found the rows have become hard too fast,
// and the round before is where to go on from.                                             (F16)
static bool harden_slowly(PawlFrictionRows* f, PawlFrictionResult* result) {
  enum { ROUNDS = 150, AT_LEAST = 3, FEW = 20 };  // one wrong row in FEW is no reason to go back
  static const double LESS = 0.5, MORE = 4.0;
  PawlFrictionWork* k = &f->work;
  double soft = 1.0;
  pawl_friction_hold_all(k);
  memcpy(f->kept, k->place, (size_t)f->m);
  for (int round = 1; round <= ROUNDS && soft > PAWL_FRICTION_SOFTER; round++) {
    bool done = false;
    soften(f, soft, PAWL_FRICTION_LOOSE);
    PawlStatus status = pawl_friction_pivots(k, result, &done);
    if (status == PAWL_OK && (done || FEW * pawl_friction_count_wrong(k) <= f->m)) {
      memcpy(k->before, k->lambda, (size_t)f->m * sizeof(double));
      memcpy(f->kept, k->place, (size_t)f->m);
      soft *= round % AT_LEAST == 0 ? LESS : 1.0;
    } else {
      memcpy(k->place, f->kept, (size_t)f->m);
      soft = fmin(soft * MORE, 1.0);
    }
  }
  return soft <= PAWL_FRICTION_SOFTER && try_from(f, result);
}

// More and more sweeps, and blocks of rows from where they lead.
static bool sweep_and_try(PawlFrictionRows* f, PawlFrictionResult* result) {
  enum { FIRST = 30, MOST = 10000 };
  PawlFrictionWork* k = &f->work;
  if (!can_sweep(f)) {
    return false;
  }
  begin_sweeps(f);
  for (int count = FIRST; count <= MOST; count *= 3) {
    for (int i = 0; i < count; i++) {
      sweep(f, i % 2 == 0);
    }
    result->sweeps += count;
    memcpy(f->swept, k->lambda, (size_t)f->m * sizeof(double));
    take_sweeps(f);
    values(f);
    soften(f, PAWL_FRICTION_SOFTER, PAWL_FRICTION_LOOSE);
    bool done;
    if (pawl_friction_descend(k, result, &done) == PAWL_OK && done && try_from(f, result)) {
      return true;
    }
    begin_sweeps(f);
    for (int i = 0; i < f->m; i++) {
      push(f, i, f->swept[i]);
    }
  }
  return false;
}

PawlStatus pawl_friction_rows_solve(PawlFrictionRows* f, const double* r, const double* b,
                                    const PawlFrictionProblem* problem, double* x,
                                    PawlFrictionResult* result) {
  PawlFrictionWork* k = &f->work;
  PawlFrictionProblem framed = *problem;
  for (int i = 0; i < problem->blocks; i++) {
    if (pawl_friction_spatial(&problem->block[i]) && !problem->block[i].sliding) {
      return PAWL_ERROR_USAGE;
    }
  }
  framed.q = f->q;
  framed.size = NULL;
  if (!pawl_friction_frame(k, &framed, f->own)) {
    return PAWL_RETRY;
  }
  f->r = r;
  f->b = b;
  f->factored = false;
  pawl_friction_begin(k, result);
  bool found = try_from(f, result);
  if (!found) {
    found = harden_slowly(f, result) || sweep_and_try(f, result);
  }
  result->solutions = found;
  result->verdict = found ? PAWL_FRICTION_SOLVED : PAWL_FRICTION_NOT_CONVERGED;
  pawl_friction_show(k, result);
  memcpy(x, f->x, (size_t)f->n * sizeof(double));
  return PAWL_OK;
}
