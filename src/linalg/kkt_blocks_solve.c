// SPDX-License-Identifier: Apache-2.0
// Solutions with the factors of kkt_blocks.c, of one right side or two at once, and their
// refinement.
#include <math.h>
#include <string.h>

#include "base/copy.h"
#include "base/targets.h"
#include "linalg/kkt_blocks.h"

enum { MOST_STEPS = 16 };  // of refinement

// Of `lanes` right sides at once: number k of lane s is w[lanes * k + s]. `step` is that of the
// node, at least where it has a shape; others have 1.

// w <- L^-1 w, the part of a node.
PAWL_INLINE void go_down(const PawlKktNode* node, int p, int r, int step, int lanes,
                         const int* exchange, const int* rest, const double* values,
                         double* restrict w) {
  const double *U = values + node->U, *L = values + node->L;
  double v[2 * PAWL_KKT_PIVOTS], *at = w + lanes * node->spot;
  for (int k = 0; k < lanes * p; k++) {
    v[k] = at[step * (k - k % lanes) + k % lanes];
  }
  for (int k = 0; exchange && k < lanes * p; k++) {
    int other = lanes * exchange[k / lanes] + k % lanes;
    double t = v[k];
    v[k] = v[other];
    v[other] = t;
  }
  for (int k = 1; k < p; k++) {
    for (int i = 0; i < k; i++) {
      for (int s = 0; s < lanes; s++) {
        v[lanes * k + s] -= U[step * (k * (p + r) + i)] * v[lanes * i + s];
      }
    }
  }
  for (int i = 0; i < r; i++) {
    for (int s = 0; s < lanes; s++) {
      double sum = L[step * i] * v[s];
      for (int k = 1; k < p; k++) {
        sum += L[step * (k * r + i)] * v[lanes * k + s];
      }
      w[lanes * rest[i] + s] -= sum;
    }
  }
  for (int k = 0; k < lanes * p; k++) {
    at[step * (k - k % lanes) + k % lanes] = v[k];
  }
}

// w <- U^-1 w, the same.
PAWL_INLINE void go_up(const PawlKktNode* node, int p, int r, int step, int lanes, const int* rest,
                       const double* values, double* restrict w) {
  const double* U = values + node->U;
  double v[2 * PAWL_KKT_PIVOTS], *at = w + lanes * node->spot;
  for (int k = 0; k < lanes * p; k++) {
    v[k] = at[step * (k - k % lanes) + k % lanes];
  }
  for (int i = 0; i < r; i++) {
    for (int s = 0; s < lanes; s++) {
      double given = w[lanes * rest[i] + s];
      for (int k = 0; k < p; k++) {
        v[lanes * k + s] -= U[step * (k * (p + r) + p + i)] * given;
      }
    }
  }
  for (int k = p - 1; k >= 0; k--) {
    for (int s = 0; s < lanes; s++) {
      for (int i = k + 1; i < p; i++) {
        v[lanes * k + s] -= U[step * (k * (p + r) + i)] * v[lanes * i + s];
      }
      v[lanes * k + s] *= U[step * (k * (p + r) + k)];
      at[step * lanes * k + s] = v[lanes * k + s];
    }
  }
}

// With symmetry: w <- D^-1 L^-1 w, then w <- (D^-1 U)^-1 w.                                 (K11)
PAWL_INLINE void go_down_even(const PawlKktNode* node, double sign, int p, int r, int step,
                              int lanes, const int* rest, const double* values,
                              double* restrict w) {
  const double* U = values + node->U;
  double v[2 * PAWL_KKT_PIVOTS], *at = w + lanes * node->spot;
  for (int k = 0; k < lanes * p; k++) {
    v[k] = at[step * (k - k % lanes) + k % lanes];
  }
  for (int k = 0; k < p; k++) {
    for (int s = 0; s < lanes; s++) {
      v[lanes * k + s] *= U[step * (k * (p + r) + k)];
      for (int i = k + 1; i < p; i++) {
        v[lanes * i + s] -= U[step * (k * (p + r) + i)] * v[lanes * k + s];
      }
      at[step * lanes * k + s] = v[lanes * k + s];
    }
  }
  for (int i = 0; i < r; i++) {
    for (int s = 0; s < lanes; s++) {
      double sum = U[step * (p + i)] * v[s];
      for (int k = 1; k < p; k++) {
        sum += U[step * (k * (p + r) + p + i)] * v[lanes * k + s];
      }
      w[lanes * rest[i] + s] -= sign * sum;
    }
  }
}

PAWL_INLINE void go_up_even(const PawlKktNode* node, int p, int r, int step, int lanes,
                            const int* rest, const double* values, double* restrict w) {
  const double* U = values + node->U;
  double v[2 * PAWL_KKT_PIVOTS], *at = w + lanes * node->spot;
  for (int k = 0; k < lanes * p; k++) {
    v[k] = 0.0;
  }
  for (int i = 0; i < r; i++) {
    for (int s = 0; s < lanes; s++) {
      double given = w[lanes * rest[i] + s];
      for (int k = 0; k < p; k++) {
        v[lanes * k + s] += U[step * (k * (p + r) + p + i)] * given;
      }
    }
  }
  for (int k = p - 1; k >= 0; k--) {
    for (int s = 0; s < lanes; s++) {
      for (int i = k + 1; i < p; i++) {
        v[lanes * k + s] += U[step * (k * (p + r) + i)] * v[lanes * i + s];
      }
      v[lanes * k + s] = at[step * lanes * k + s] - U[step * (k * (p + r) + k)] * v[lanes * k + s];
      at[step * lanes * k + s] = v[lanes * k + s];
    }
  }
}

PAWL_INLINE void node_down(const PawlKktBlocks* b, const PawlKktNode* node, int p, int r, int step,
                           int lanes, bool even, const int* exchange, const double* values,
                           double* w) {
  const int* rest = b->rest + node->rest;
  if (even) {
    go_down_even(node, pawl_kkt_sign(b, node), p, r, step, lanes, rest, values, w);
  } else {
    go_down(node, p, r, step, lanes, exchange, rest, values, w);
  }
}

PAWL_INLINE void node_up(const PawlKktBlocks* b, const PawlKktNode* node, int p, int r, int step,
                         int lanes, bool even, const double* values, double* w) {
  const int* rest = b->rest + node->rest;
  if (even) {
    go_up_even(node, p, r, step, lanes, rest, values, w);
  } else {
    go_up(node, p, r, step, lanes, rest, values, w);
  }
}

// ---- large nodes, of one right side: the same operations in the same order ----------------------
enum { CHUNK = 64, CHAINS = 4 };

// w at the rest <- w - L^T v, some places at a time.
PAWL_MANY_TARGETS static void take_rest(int p, int r, const double* restrict L,
                                        const double* restrict v, const int* rest, double* w) {
  double sum[CHUNK];
  for (int from = 0; from < r; from += CHUNK) {
    int count = r - from < CHUNK ? r - from : CHUNK;
    const double* l = L + from;
    for (int i = 0; i < count; i++) {
      sum[i] = l[i] * v[0];
    }
    for (int k = 1; k < p; k++) {
      l += r;
      for (int i = 0; i < count; i++) {
        sum[i] += l[i] * v[k];
      }
    }
    for (int i = 0; i < count; i++) {
      w[rest[from + i]] -= sum[i];
    }
  }
}

// v <- v - U w of the rest, several rows at a time: each waits for itself alone.
static void give_rest(int p, int r, const double* restrict U, const double* w, const int* rest,
                      double* restrict v) {
  double given[CHUNK];
  int width = p + r, k = 0;
  for (int from = 0; from < r; from += CHUNK) {
    int count = r - from < CHUNK ? r - from : CHUNK;
    for (int i = 0; i < count; i++) {
      given[i] = w[rest[from + i]];
    }
    for (k = 0; k + CHAINS <= p; k += CHAINS) {
      const double *u = U + k * width + p + from, *next = u + width;
      const double *third = next + width, *last = third + width;
      double a = v[k], b = v[k + 1], c = v[k + 2], d = v[k + 3];
      for (int i = 0; i < count; i++) {
        a -= u[i] * given[i];
        b -= next[i] * given[i];
        c -= third[i] * given[i];
        d -= last[i] * given[i];
      }
      v[k] = a;
      v[k + 1] = b;
      v[k + 2] = c;
      v[k + 3] = d;
    }
    for (; k < p; k++) {
      const double* u = U + k * width + p + from;
      for (int i = 0; i < count; i++) {
        v[k] -= u[i] * given[i];
      }
    }
  }
}

// A right side that does not reach a node leaves it as it is: of one contact it reaches few.
static bool is_zero(int p, const double* v) {
  bool zero = true;
  for (int k = 0; k < p && zero; k++) {
    zero = v[k] == 0.0;
  }
  return zero;
}

PAWL_APART static void uneven_down(const PawlKktBlocks* b, const PawlKktNode* node,
                                   const double* values, double* w) {
  const int *exchange = b->exchange ? b->exchange + node->first : NULL, p = node->p;
  const double* U = values + node->U;
  double v[PAWL_KKT_PIVOTS], *at = w + node->spot;
  if (is_zero(p, at)) {
    return;
  }
  memcpy(v, at, (size_t)p * sizeof *v);
  for (int k = 0; exchange && k < p; k++) {
    double t = v[k];
    v[k] = v[exchange[k]];
    v[exchange[k]] = t;
  }
  for (int k = 1; k < p; k++) {
    for (int i = 0; i < k; i++) {
      v[k] -= U[k * (p + node->r) + i] * v[i];
    }
  }
  take_rest(p, node->r, values + node->L, v, b->rest + node->rest, w);
  memcpy(at, v, (size_t)p * sizeof *v);
}

PAWL_APART static void uneven_up(const PawlKktBlocks* b, const PawlKktNode* node,
                                 const double* values, double* w) {
  const int p = node->p, width = p + node->r;
  const double* U = values + node->U;
  double v[PAWL_KKT_PIVOTS], *at = w + node->spot;
  memcpy(v, at, (size_t)p * sizeof *v);
  give_rest(p, node->r, U, w, b->rest + node->rest, v);
  for (int k = p - 1; k >= 0; k--) {
    for (int i = k + 1; i < p; i++) {
      v[k] -= U[k * width + i] * v[i];
    }
    v[k] *= U[k * width + k];
    at[k] = v[k];
  }
}

PAWL_APART static void node_down_large(const PawlKktBlocks* b, const PawlKktNode* node, int lanes,
                                       const double* values, double* w) {
  const int* exchange = b->exchange ? b->exchange + node->first : NULL;
  if (lanes == 1 && !b->even) {
    uneven_down(b, node, values, w);
    return;
  }
  node_down(b, node, node->p, node->r, 1, lanes, b->even, exchange, values, w);
}

PAWL_APART static void node_up_large(const PawlKktBlocks* b, const PawlKktNode* node, int lanes,
                                     const double* values, double* w) {
  if (lanes == 1 && !b->even) {
    uneven_up(b, node, values, w);
    return;
  }
  node_up(b, node, node->p, node->r, 1, lanes, b->even, values, w);
}

PAWL_INLINE void any_down(const PawlKktBlocks* b, const PawlKktNode* node, int step, int lanes,
                          bool even, const double* values, double* w) {
  switch (node->shape) {
#define SHAPE(p, r)                                               \
  case PAWL_KKT_SHAPE(p, r):                                      \
    node_down(b, node, p, r, step, lanes, even, NULL, values, w); \
    break;
#include "linalg/kkt_shapes.def"
#undef SHAPE
    default:
      node_down_large(b, node, lanes, values, w);
  }
}

PAWL_INLINE void any_up(const PawlKktBlocks* b, const PawlKktNode* node, int step, int lanes,
                        bool even, const double* values, double* w) {
  switch (node->shape) {
#define SHAPE(p, r)                                       \
  case PAWL_KKT_SHAPE(p, r):                              \
    node_up(b, node, p, r, step, lanes, even, values, w); \
    break;
#include "linalg/kkt_shapes.def"
#undef SHAPE
    default:
      node_up_large(b, node, lanes, values, w);
  }
}

PAWL_INLINE void nodes_down(const PawlKktBlocks* b, int first, int last, int lanes, bool even,
                            const double* values, double* w) {
  const PawlKktNode *node = b->nodes + first, *end = b->nodes + last;
  while (node < end) {
    if (node->step == 1) {
      any_down(b, node++, 1, lanes, even, values, w);
    } else if (lanes == 1) {
      node = pawl_kkt_wide_down(b, node, end, values, w);
    } else {
      any_down(b, node++, PAWL_KKT_WIDE, lanes, even, values, w);
    }
  }
}

PAWL_INLINE void nodes_up(const PawlKktBlocks* b, int last, int end, int lanes, bool even,
                          const double* values, double* w) {
  const PawlKktNode *node = b->nodes + end - 1, *first = b->nodes + last;
  while (node >= first) {
    if (node->step == 1) {
      any_up(b, node--, 1, lanes, even, values, w);
    } else if (lanes == 1) {
      node = pawl_kkt_wide_up(b, node, first, values, w);
    } else {
      any_up(b, node--, PAWL_KKT_WIDE, lanes, even, values, w);
    }
  }
}

PAWL_APART static void some_down_even(const PawlKktBlocks* b, int first, int end,
                                      const double* values, double* w) {
  nodes_down(b, first, end, 1, true, values, w);
}

void pawl_kkt_blocks_down(const PawlKktBlocks* b, const PawlKktNode* first, const PawlKktNode* end,
                          const double* values, double* w) {
  some_down_even(b, (int)(first - b->nodes), (int)(end - b->nodes), values, w);
}

PAWL_INLINE void solve_nodes(const PawlKktBlocks* b, int lanes, bool even, const double* values,
                             double* w) {
  int behind = lanes == 1 ? b->run_end : 0;  // the runs, of which two right sides have none
  bool is_down = lanes == 1 && b->is_down;
  if (behind > 0 && !is_down) {
    nodes_down(b, 0, b->run_first, lanes, even, values, w);
    pawl_kkt_runs_down(b, values, w);
  }
  if (!is_down) {
    nodes_down(b, behind, b->count, lanes, even, values, w);
  }
  nodes_up(b, behind, b->count, lanes, even, values, w);
  if (behind > 0) {
    pawl_kkt_runs_up(b, values, w);
    nodes_up(b, 0, b->run_first, lanes, even, values, w);
  }
}

PAWL_APART static void solve_one_even(const PawlKktBlocks* b, const double* values, double* w) {
  solve_nodes(b, 1, true, values, w);
}

PAWL_APART static void solve_one_uneven(const PawlKktBlocks* b, const double* values, double* w) {
  solve_nodes(b, 1, false, values, w);
}

PAWL_APART static void solve_two_even(const PawlKktBlocks* b, const double* values, double* w) {
  solve_nodes(b, 2, true, values, w);
}

PAWL_APART static void solve_two_uneven(const PawlKktBlocks* b, const double* values, double* w) {
  solve_nodes(b, 2, false, values, w);
}

typedef struct Given {
  const PawlKkt* kkt;
  const double *x, *y;
  double *to_x, *to_y;
} Given;

// The right side into the order of the nodes, scaled.
static void place_x(void* context, PawlPart part) {
  const Given* given = context;
  const PawlKkt* kkt = given->kkt;
  pawl_kkt_stretches_place(&kkt->blocks->place_x, part.first, part.end, given->x, kkt->work);
}

static void place_y(void* context, PawlPart part) {
  const Given* given = context;
  const PawlKkt* kkt = given->kkt;
  const int* at = kkt->blocks->at + kkt->n;
  const double *R = kkt->row_scale + kkt->n, *y = given->y;
  double* w = kkt->work;
  if (kkt->inactive_count == 0) {
    pawl_kkt_stretches_place(&kkt->blocks->place_y, part.first, part.end, y, w);
    return;
  }
  for (int i = part.first; i < part.end; i++) {
    w[at[i]] = kkt->set[i] ? y[i] * R[i] : 0.0;
  }
}

// And the solution back.
static void take_x(void* context, PawlPart part) {
  const Given* given = context;
  const PawlKkt* kkt = given->kkt;
  pawl_kkt_stretches_gather(&kkt->blocks->take_x, part.first, part.end, kkt->work, given->to_x);
}

static void take_y(void* context, PawlPart part) {
  const Given* given = context;
  const PawlKkt* kkt = given->kkt;
  const int* at = kkt->blocks->at + kkt->n;
  const double *C = kkt->col_scale + kkt->n, *w = kkt->work;
  double* y = given->to_y;
  if (kkt->inactive_count == 0) {
    pawl_kkt_stretches_gather(&kkt->blocks->take_y, part.first, part.end, w, y);
    return;
  }
  for (int i = part.first; i < part.end; i++) {
    y[i] = kkt->set[i] ? w[at[i]] * C[i] : y[i];
  }
}

void pawl_kkt_blocks_place(const PawlKkt* kkt, const double* x, const double* y) {
  Given given = {.kkt = kkt, .x = x, .y = y};
  pawl_kkt_stretches_find(&kkt->blocks->place_x);
  pawl_kkt_stretches_find(&kkt->blocks->place_y);
  pawl_kkt_stretches_find(&kkt->blocks->take_x);
  pawl_kkt_stretches_find(&kkt->blocks->take_y);
  pawl_pool_loop(kkt->pool, kkt->n, PAWL_KKT_PART, place_x, &given);
  pawl_pool_loop(kkt->pool, kkt->m, PAWL_KKT_PART, place_y, &given);
}

static void solve_once(const PawlKkt* kkt, double* x, double* y) {
  PawlKktBlocks* b = kkt->blocks;
  Given given = {.kkt = kkt, .to_x = x, .to_y = y};
  b->is_down = b->is_down && x == b->next_x && y == b->next_y;
  b->next_x = b->next_y = NULL;
  if (b->script && !b->is_down && pawl_kkt_script_solve(kkt, x, y)) {
    return;
  }
  if (!b->is_down) {
    pawl_kkt_blocks_place(kkt, x, y);
  }
  unsigned mode = pawl_kkt_blocks_flush(kkt);
  (b->even ? solve_one_even : solve_one_uneven)(b, kkt->values, kkt->work);
  pawl_kkt_blocks_flushed(kkt, mode);
  b->is_down = false;
  pawl_pool_loop(kkt->pool, kkt->n, PAWL_KKT_PART, take_x, &given);
  pawl_pool_loop(kkt->pool, kkt->m, PAWL_KKT_PART, take_y, &given);
}

// (r_x, r_y) <- (r_x, r_y) - [S -B^T; J 0] (x, y), of the rows that are active
static void subtract_products(const PawlKkt* kkt, const double* x, const double* y, double* r_x,
                              double* r_y) {
  const PawlKktKept* as_given = &kkt->kept[kkt->turn];
  int n = kkt->n;
  for (int e = 0; e < kkt->block_S.count; e++) {
    r_x[kkt->block_S.row[e]] -= as_given->S[e] * x[kkt->block_S.col[e]];
  }
  for (int e = 0; e < kkt->block_J.count; e++) {
    int i = kkt->block_J.row[e] - n, j = kkt->block_J.col[e];
    if (kkt->set[i]) {
      r_x[j] += as_given->B[e] * y[i];
      r_y[i] -= as_given->J[e] * x[j];
    }
  }
}

// Of the scaled unknowns.
static double largest(const PawlKkt* kkt, const double* x, const double* y) {
  const double* C = kkt->col_scale;
  double top = 0.0;
  for (int j = 0; j < kkt->n; j++) {
    top = pawl_kkt_larger(top, x[j] / C[j]);
  }
  for (int i = 0; i < kkt->m; i++) {
    top = kkt->set[i] ? pawl_kkt_larger(top, y[i] / C[kkt->n + i]) : top;
  }
  return top;
}

// One step of refinement; returns the largest change.
static double refine(const PawlKkt* kkt, double* x, double* y) {
  const PawlKktBlocks* b = kkt->blocks;
  pawl_copy(kkt->n, b->right_x, b->rest_x);
  pawl_copy(kkt->m, b->right_y, b->rest_y);
  subtract_products(kkt, x, y, b->rest_x, b->rest_y);
  solve_once(kkt, b->rest_x, b->rest_y);
  for (int j = 0; j < kkt->n; j++) {
    x[j] += b->rest_x[j];
  }
  for (int i = 0; i < kkt->m; i++) {
    y[i] += kkt->set[i] ? b->rest_y[i] : 0.0;
  }
  return b->refines_loose ? largest(kkt, b->rest_x, b->rest_y) : 0.0;
}

// Where entries of S are left out, until changes are rounding, or shrink no more.
void pawl_kkt_blocks_solve(PawlKkt* kkt, double* x, double* y) {
  const PawlKktBlocks* b = kkt->blocks;
  if (!b->refine) {
    solve_once(kkt, x, y);
    return;
  }
  pawl_copy(kkt->n, x, b->right_x);
  pawl_copy(kkt->m, y, b->right_y);
  solve_once(kkt, x, y);
  double change = refine(kkt, x, y), before = INFINITY;
  double enough = b->refines_loose ? PAWL_KKT_REFINED * largest(kkt, x, y) : 0.0;
  for (int k = 1; k < MOST_STEPS && change > enough && change < 0.5 * before; k++) {
    before = change;
    change = refine(kkt, x, y);
  }
}

// Every row is active.
void pawl_kkt_blocks_solve_two(PawlKkt* kkt, double* const x[2], double* const y[2]) {
  const PawlKktBlocks* b = kkt->blocks;
  int n = kkt->n;
  const double *R = kkt->row_scale, *C = kkt->col_scale;
  double* w = b->two;
  if (b->refine || b->script) {
    pawl_kkt_blocks_solve(kkt, x[0], y[0]);
    pawl_kkt_blocks_solve(kkt, x[1], y[1]);
    return;
  }
  for (int k = 0; k < kkt->size; k++) {
    double* to = w + 2 * b->at[k];
    to[0] = (k < n ? x[0][k] : y[0][k - n]) * R[k];
    to[1] = (k < n ? x[1][k] : y[1][k - n]) * R[k];
  }
  unsigned mode = pawl_kkt_blocks_flush(kkt);
  (b->even ? solve_two_even : solve_two_uneven)(b, kkt->values, w);
  pawl_kkt_blocks_flushed(kkt, mode);
  for (int k = 0; k < kkt->size; k++) {
    const double* from = w + 2 * b->at[k];
    *(k < n ? &x[0][k] : &y[0][k - n]) = from[0] * C[k] + 0.0;
    *(k < n ? &x[1][k] : &y[1][k - n]) = from[1] * C[k] + 0.0;
  }
}
