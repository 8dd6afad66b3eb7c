// SPDX-License-Identifier: Apache-2.0
// Blocks with two tangential rows (docs/theory/friction.md, section 7): Newton's method on the
// natural map of P. Alart and A. Curnier,
//   F_i = lambda_i - P_i(lambda_i - rho_i w_i),     P_T onto the disc of mu |lambda_N|        (F11)
// which is not smooth; its derivative is that of the side on which lambda - rho w lies. A line
// search lets |F| fall. Where that does not end, sweeps of Gauss and Seidel over the blocks, each
// solved for itself, lead to another start.
#include <string.h>

#include "switch/friction_impl.h"

bool pawl_friction_cone_alloc(PawlFrictionCone* c, PawlArena* arena, int m, int blocks) {
  c->carried = PAWL_NEW(arena, double, blocks);
  double** of_m[] = {&c->F, &c->step, &c->from, &c->rho, &c->start};
  for (size_t i = 0; i < sizeof of_m / sizeof *of_m; i++) {
    *of_m[i] = PAWL_NEW(arena, double, m);
  }
  return !arena->failed;
}

static double diagonal(const PawlFrictionWork* k, int i) {
  return pawl_friction_matrix_get(k->matrix, i, i) + k->soft;
}

// The same rho for both tangential rows, so that turning them changes nothing.
static void choose_rho(const PawlFrictionWork* k, PawlFrictionCone* c) {
  for (int i = 0; i < k->m; i++) {
    c->rho[i] = 1.0 / diagonal(k, i);
  }
  for (int b = 0; b < k->blocks; b++) {
    const int* t = k->block[b].tangent;
    if (t[1] >= 0) {
      c->rho[t[0]] = c->rho[t[1]] = 2.0 / (diagonal(k, t[0]) + diagonal(k, t[1]));
    }
  }
}

// ---- the natural map ----------------------------------------------------------------------------

typedef struct Side {  // where lambda_T - rho w_T of a block lies
  int count;           // tangential rows
  double limit;        // mu |lambda_N|
  double sign;         // of lambda_N
  double y[2], length;
  bool outside;  // of the disc
} Side;

static Side side_of(const PawlFrictionWork* k, const PawlFrictionCone* c, int b) {
  const PawlFrictionBlock* block = &k->block[b];
  double normal = k->lambda[block->normal];
  bool contact = k->lo[block->normal] >= 0.0;
  double carried = contact ? fmax(normal, 0.0) : fabs(normal);
  carried = c->frozen ? c->carried[b] : carried;
  Side s = {.count = 1 + pawl_friction_spatial(block), .limit = k->mu[b] * carried};
  s.sign = c->frozen ? 0.0 : contact ? (normal > 0.0) : normal < 0.0 ? -1.0 : 1.0;
  if (block->pulls) {
    s.limit = k->mu[b] * normal;
    s.sign = 1.0;
  }
  for (int j = 0; j < s.count; j++) {
    int t = block->tangent[j];
    s.y[j] = k->lambda[t] - c->rho[t] * pawl_friction_w(k, t);
  }
  s.length = hypot(s.y[0], s.y[1]);
  s.outside = s.length > s.limit;
  return s;
}

// Of a row outside blocks, and of a normal row: LOW, FREE or HIGH.
static PawlRowState row_side(const PawlFrictionWork* k, const PawlFrictionCone* c, int i) {
  double y = k->lambda[i] - c->rho[i] * pawl_friction_w(k, i);
  return y < k->lo[i] || pawl_friction_fixed(k, i) ? PAWL_ROW_LOW
         : y > k->hi[i]                            ? PAWL_ROW_HIGH
                                                   : PAWL_ROW_FREE;
}

static double row_map(const PawlFrictionWork* k, const PawlFrictionCone* c, int i) {
  switch (row_side(k, c, i)) {
    case PAWL_ROW_LOW:
      return k->lambda[i] - k->lo[i];
    case PAWL_ROW_HIGH:
      return k->lambda[i] - k->hi[i];
    default:
      return c->rho[i] * pawl_friction_w(k, i);
  }
}

static void block_map(const PawlFrictionWork* k, PawlFrictionCone* c, int b) {
  const PawlFrictionBlock* block = &k->block[b];
  Side s = side_of(k, c, b);
  for (int j = 0; j < s.count; j++) {
    int t = block->tangent[j];
    c->F[t] = block->sliding ? k->lambda[t] + s.limit * block->direction[j]
              : s.outside    ? k->lambda[t] - s.limit * s.y[j] / s.length
                             : c->rho[t] * pawl_friction_w(k, t);
  }
}

// F, with w of lambda; returns |F|.                                                         (F11)
static double map(PawlFrictionWork* k, PawlFrictionCone* c) {
  double sum = 0.0;
  pawl_friction_values(k);
  for (int i = 0; i < k->m; i++) {
    if (k->owner[i] < 0) {
      c->F[i] = row_map(k, c, i);
    }
  }
  for (int b = 0; b < k->blocks; b++) {
    block_map(k, c, b);
  }
  for (int i = 0; i < k->m; i++) {
    sum += c->F[i] * c->F[i];
  }
  return sqrt(sum);
}

// ---- its derivative -----------------------------------------------------------------------------

// The derivative J; rows and columns of one block are always there.
static double* entry(const PawlFrictionWork* k, int i, int j) {
  return &k->matrix->A[pawl_friction_matrix_place(k->matrix, i, j)];
}

// part rho_i dw_i to a row of J; both are of one block.
static void add_w(const PawlFrictionWork* k, const PawlFrictionCone* c, int row, int i,
                  double part) {
  const PawlFrictionMatrix* x = k->matrix;
  const int *to = x->mirror + x->start[row], *from = x->mirror + x->start[i];
  for (int e = 0; e < x->start[i + 1] - x->start[i]; e++) {
    x->A[to[e]] += part * c->rho[i] * x->D[from[e]];
  }
  *entry(k, row, i) += part * c->rho[i] * k->soft;
}

// lambda_T - g y/|y|, y = lambda_T - rho w_T:  d = dlambda_T - mu sign y/|y| dlambda_N
//   - g/|y| (1 - y y^T/|y|^2) (dlambda_T - rho dw_T).                                       (F12)
static void outside_rows(const PawlFrictionWork* k, const PawlFrictionCone* c, int b,
                         const Side* s) {
  const PawlFrictionBlock* block = &k->block[b];
  for (int j = 0; j < s->count; j++) {
    int row = block->tangent[j];
    double along = s->y[j] / s->length;
    *entry(k, row, row) += 1.0;
    *entry(k, row, block->normal) -= k->mu[b] * s->sign * along;
    for (int i = 0; i < s->count; i++) {
      int t = block->tangent[i];
      double turn = s->limit / s->length * ((i == j) - along * s->y[i] / s->length);
      *entry(k, row, t) -= turn;
      add_w(k, c, row, t, turn);
    }
  }
}

static void block_rows(const PawlFrictionWork* k, const PawlFrictionCone* c, int b) {
  const PawlFrictionBlock* block = &k->block[b];
  Side s = side_of(k, c, b);
  if (s.outside && !block->sliding) {
    outside_rows(k, c, b, &s);
    return;
  }
  for (int j = 0; j < s.count; j++) {
    int t = block->tangent[j];
    if (block->sliding) {
      *entry(k, t, t) += 1.0;
      *entry(k, t, block->normal) += k->mu[b] * s.sign * block->direction[j];
    } else {
      add_w(k, c, t, t, 1.0);
    }
  }
}

static bool factor(const PawlFrictionWork* k, const PawlFrictionCone* c) {
  pawl_friction_matrix_clear(k->matrix, k->m);
  for (int i = 0; i < k->m; i++) {
    if (k->owner[i] < 0 && row_side(k, c, i) == PAWL_ROW_FREE) {
      add_w(k, c, i, i, 1.0);
    } else if (k->owner[i] < 0) {
      *entry(k, i, i) = 1.0;
    }
  }
  for (int b = 0; b < k->blocks; b++) {
    block_rows(k, c, b);
  }
  return pawl_friction_matrix_factor(k->matrix) == PAWL_OK;
}

// ---- Newton's method ----------------------------------------------------------------------------

// What rounding leaves of |F|.
static double small(const PawlFrictionWork* k) {
  double most = 0.0;
  for (int i = 0; i < k->m; i++) {
    most = fmax(most, k->size[i]);
  }
  return PAWL_FRICTION_NEWTON * most;
}

// The longest of the steps 1, 1/2, ... that lets |F| fall below the largest of the last ones, else
// the one with the least |F|. Returns |F| there.
static double search(PawlFrictionWork* k, PawlFrictionCone* c, double allowed) {
  enum { HALVINGS = 8 };
  static const double ENOUGH = 0.999;
  double best = INFINITY, best_part = 1.0, part = 1.0;
  memcpy(c->from, k->lambda, (size_t)k->m * sizeof(double));
  for (int halving = 0; halving < HALVINGS; halving++, part *= 0.5) {
    for (int i = 0; i < k->m; i++) {
      k->lambda[i] = c->from[i] + part * c->step[i];
    }
    double size = map(k, c);
    if (size <= ENOUGH * allowed) {
      return size;
    }
    if (size < best) {
      best = size;
      best_part = part;
    }
  }
  for (int i = 0; i < k->m; i++) {
    k->lambda[i] = c->from[i] + best_part * c->step[i];
  }
  return map(k, c);
}

// From lambda as it is. True: F is rounding.
static bool newton(PawlFrictionWork* k, PawlFrictionCone* c, PawlFrictionResult* result) {
  enum { MOST = 40, MEMORY = 4 };
  double last[MEMORY], size = map(k, c);
  for (int i = 0; i < MEMORY; i++) {
    last[i] = size;
  }
  for (int count = 0; count < MOST && size > small(k); count++) {
    if (!factor(k, c)) {
      return false;
    }
    for (int i = 0; i < k->m; i++) {
      c->F[i] = -c->F[i];
    }
    pawl_friction_matrix_solve(k->matrix, c->F, c->step);
    result->rounds++;
    size = search(k, c, fmax(fmax(last[0], last[1]), fmax(last[2], last[3])));
    last[count % MEMORY] = size;
    if (!isfinite(size)) {
      return false;
    }
  }
  return size <= small(k);
}

// ---- sweeps of Gauss and Seidel -----------------------------------------------------------------

static void change_force(PawlFrictionWork* k, int i, double lambda) {
  pawl_friction_matrix_add_column(k->matrix, i, lambda - k->lambda[i], k->w);
  k->lambda[i] = lambda;
}

static void relax_row(PawlFrictionWork* k, const PawlFrictionCone* c, int i) {
  double y = k->lambda[i] - c->rho[i] * pawl_friction_w(k, i);
  change_force(k, i, fmin(fmax(y, k->lo[i]), k->hi[i]));
}

// The tangential force nearest to what would stop the block.
static void relax_tangents(PawlFrictionWork* k, const PawlFrictionCone* c, int b) {
  const PawlFrictionBlock* block = &k->block[b];
  Side s = side_of(k, c, b);
  double shrink = s.outside ? s.limit / s.length : 1.0;
  for (int j = 0; j < s.count; j++) {
    double force = block->sliding ? -s.limit * block->direction[j] : shrink * s.y[j];
    change_force(k, block->tangent[j], force);
  }
}

// Normal and tangential rows of each block in turn, a few times before the next.
static void sweep(PawlFrictionWork* k, const PawlFrictionCone* c) {
  enum { INNER = 4 };
  for (int i = 0; i < k->m; i++) {
    if (k->owner[i] < 0) {
      relax_row(k, c, i);
    }
  }
  for (int b = 0; b < k->blocks; b++) {
    for (int inner = 0; inner < INNER; inner++) {
      relax_row(k, c, k->block[b].normal);
      relax_tangents(k, c, b);
    }
  }
}

static void sweeps(PawlFrictionWork* k, const PawlFrictionCone* c, int count,
                   PawlFrictionResult* result) {
  pawl_friction_values(k);
  for (int i = 0; i < count; i++) {
    sweep(k, c);
    result->sweeps++;
  }
}

// ---- given limits -------------------------------------------------------------------------------

// With mu |lambda_N| frozen the problem is convex, and Newton's method hardly ever fails; the
// limits follow in rounds (the iteration of Panagiotopoulos).
static void freeze(PawlFrictionWork* k, PawlFrictionCone* c, PawlFrictionResult* result) {
  enum { ROUNDS = 12 };
  for (int round = 0; round < ROUNDS; round++) {
    for (int b = 0; b < k->blocks; b++) {
      c->carried[b] = fabs(k->lambda[k->block[b].normal]);
    }
    c->frozen = true;
    bool done = newton(k, c, result);
    c->frozen = false;
    if (!done) {
      return;
    }
  }
}

// ---- the whole ----------------------------------------------------------------------------------

// Newton's method, and again after more and more sweeps.
static bool solve(PawlFrictionWork* k, PawlFrictionCone* c, PawlFrictionResult* result) {
  enum { FIRST = 20, MOST = 2000 };
  if (newton(k, c, result)) {
    return true;
  }
  memset(k->lambda, 0, (size_t)k->m * sizeof(double));
  for (int i = 0; i < k->m; i++) {
    k->lambda[i] = k->owner[i] < 0 ? fmin(fmax(0.0, k->lo[i]), k->hi[i]) : 0.0;
  }
  for (int count = FIRST; count <= MOST; count *= 3) {
    sweeps(k, c, count, result);
    memcpy(c->start, k->lambda, (size_t)k->m * sizeof(double));
    if (newton(k, c, result)) {
      return true;
    }
    memcpy(k->lambda, c->start, (size_t)k->m * sizeof(double));
    freeze(k, c, result);
    if (newton(k, c, result)) {
      return true;
    }
    memcpy(k->lambda, c->start, (size_t)k->m * sizeof(double));
  }
  return false;
}

// Places, as for planar blocks.
static void show_places(PawlFrictionWork* k, const PawlFrictionCone* c) {
  for (int i = 0; i < k->m; i++) {
    if (k->owner[i] < 0) {
      k->place[i] = (unsigned char)row_side(k, c, i);
      k->in[i] = k->place[i] == PAWL_ROW_FREE;
    }
  }
  for (int b = 0; b < k->blocks; b++) {
    const PawlFrictionBlock* block = &k->block[b];
    Side s = side_of(k, c, b);
    for (int j = 0; j < s.count; j++) {
      int t = block->tangent[j];
      bool sticks = pawl_friction_closed(k, b) && !s.outside && !block->sliding;
      k->in[t] = sticks;
      k->place[t] = sticks ? PAWL_ROW_FREE : s.y[j] > 0.0 ? PAWL_ROW_HIGH : PAWL_ROW_LOW;
    }
  }
}

// One softness, from lambda as it is, until rows give way no more.                          (F6)
static bool harden(PawlFrictionWork* k, PawlFrictionCone* c, bool sweeping,
                   PawlFrictionResult* result) {
  enum { MOST = 40 };
  choose_rho(k, c);
  for (int i = 0; i < k->m; i++) {
    k->before[i] = k->near ? k->near[i] * k->s[i] : 0.0;
  }
  bool done = sweeping ? solve(k, c, result) : newton(k, c, result);
  show_places(k, c);
  for (int round = 0; done && pawl_friction_gives_way(k); round++) {
    memcpy(k->before, k->lambda, (size_t)k->m * sizeof(double));
    done = round < MOST && (sweeping ? solve(k, c, result) : newton(k, c, result));
    show_places(k, c);
  }
  return done && pawl_friction_residual(k) <= PAWL_FRICTION_SOLVED_TO;
}

// The softer rows are, the better is Newton's method off: a body that all its contacts hold at the
// border of their cones slips by their softness, to directions that hang on it. So where it fails
// it begins anew with softer ones, and sweeps come last.                                   (F17)
bool pawl_friction_cone(PawlFrictionWork* k, PawlFrictionCone* c, PawlFrictionResult* result) {
  static const double SOFTER[] = {1.0, PAWL_FRICTION_SOFTER, PAWL_FRICTION_SOFTEST};
  enum { SOFTNESSES = sizeof SOFTER / sizeof *SOFTER };
  double soft = k->soft;
  bool done = false;
  for (int at = 0; at < 2 * SOFTNESSES && !done; at++) {
    bool sweeping = at >= SOFTNESSES;
    k->soft = soft * SOFTER[at % SOFTNESSES];
    pawl_friction_arrange(k);
    if (at > 0 || pawl_friction_solve_set(k) != PAWL_OK) {  // a start: the sides that are given
      memset(k->lambda, 0, (size_t)k->m * sizeof(double));
    }
    done = harden(k, c, sweeping, result);
  }
  k->soft = soft;
  return done;
}
