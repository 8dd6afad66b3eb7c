// SPDX-License-Identifier: Apache-2.0
// Degrees of freedom of a configuration, and whether it is a regular point of its set of
// configurations V = {q : g(q) = 0} (A. Mueller, Forward dynamics of variable topology mechanisms,
// section 2 and Definition 1; docs/theory/freedom.md):
//
//   differential   n - rank G(q)                                                             (F1)
//   local          the largest dimension of V next to q                                      (F2)
//   regular        the differential degrees are the same at all points of V next to q        (F3)
//
// Rank at q alone tells (F1) only. Points of V next to q are found by going off along directions
// without pattern and coming back onto the rows by Gauss and Newton's method.
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "linalg/lapack.h"
#include "linalg/sparse.h"
#include "pawl/verify.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

static const double RADII[] = {0.001, 0.01};  // of the largest coordinate
static const double ASIDE = 0.3;              // part of a direction that the rows do not allow
static const double NEAR = 5.0, FAR = 0.05;   // of the radius: where a neighbour counts
static const double FOLLOWED = 0.1;           // of a step along a tangent: what may be off
static const double STEP = 1e-2;              // of the radius: such a step
enum { SAMPLES = 30, SCOUTS = 8, MOST_ITERATIONS = 60 };

typedef struct Cloud {
  const PawlSystem* system;
  PawlArena arena;    // as long as the question
  PawlArena scratch;  // of one decomposition
  PawlEval* eval;
  PawlSizes n;
  PawlPoint at;
  int rows;               // in force
  unsigned char* set;     // the same, flags
  double *level, *scale;  // of each of these rows: g at q, and the size of its gradient
  double *J, *g, *dq, *u, *p, *next, *direction;
  double *tangents, *here, *place;  // at q; at a neighbour, and where that is
  unsigned long long random;
} Cloud;

static double uniform(Cloud* c) {  // -1 .. 1
  c->random = c->random * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(c->random >> 11) * 0x1p-52 - 1.0;
}

static double length(int n, const double* x) {
  double sum = 0.0;
  for (int j = 0; j < n; j++) {
    sum = hypot(sum, x[j]);
  }
  return sum;
}

// G of the rows in force as rows-by-v, and g less its value at q; both over the size of the row.
static PawlStatus look(Cloud* c, const double* q, PawlError* err) {
  const PawlPattern* G = &c->system->G;
  PawlPoint point = c->at;
  point.q = q;
  PAWL_TRY(pawl_eval_run(c->eval, &point, err));
  const PawlValues* values = pawl_eval_values(c->eval);
  memset(c->J, 0, (size_t)c->rows * (size_t)c->n.v * sizeof(double));
  for (int j = 0; j < c->n.v; j++) {
    for (int e = G->start[j], row = 0, r = 0; e < G->start[j + 1]; e++) {
      for (; r < G->index[e]; r++) {
        row += c->set[r];
      }
      if (c->set[r]) {
        c->J[row + j * c->rows] = values->G[e] / c->scale[row];
      }
    }
  }
  for (int r = 0, row = 0; r < c->n.rows; r++) {
    if (c->set[r]) {
      c->g[row] = (values->g[r] - c->level[row]) / c->scale[row];
      row++;
    }
  }
  return PAWL_OK;
}

static PawlStatus decompose(Cloud* c, PawlSvd* svd, PawlError* err) {
  pawl_arena_free(&c->scratch);
  PawlStatus status = pawl_svd(&c->scratch, c->rows, c->n.v, c->J, svd);
  return status == PAWL_OK ? PAWL_OK
         : status == PAWL_ERROR_MEMORY
             ? pawl_fail_memory(err)
             : pawl_fail(err, PAWL_RETRY, "gradients next to the configuration are not finite");
}

// dq = -J^+ g
static void newton(const Cloud* c, const PawlSvd* svd, double* dq) {
  int rank = pawl_svd_rank(svd, PAWL_TOPOLOGY_SOLVED), m = c->rows, n = c->n.v;
  memset(dq, 0, (size_t)n * sizeof(double));
  for (int k = 0; k < rank; k++) {
    double sum = 0.0;
    for (int i = 0; i < m; i++) {
      sum += svd->U[i + k * m] * c->g[i];
    }
    for (int j = 0; j < n; j++) {
      dq[j] -= svd->Vt[k + j * n] * (sum / svd->s[k]);
    }
  }
}

// Goes from q by c->u and back onto the rows; c->p is the place, c->u the whole way. False: it does
// not come back within `radius`.
static bool settle(Cloud* c, const double* q, double radius) {
  PawlSvd svd;
  bool moved = true;
  pawl_system_retract(c->system, q, c->u, c->p);
  for (int k = 0; k < MOST_ITERATIONS && moved; k++) {
    if (look(c, c->p, NULL) != PAWL_OK || decompose(c, &svd, NULL) != PAWL_OK) {
      return false;
    }
    newton(c, &svd, c->dq);
    for (int j = 0; j < c->n.v; j++) {
      c->u[j] += c->dq[j];
    }
    memcpy(c->next, c->p, (size_t)c->n.q * sizeof(double));
    pawl_system_retract(c->system, c->next, c->dq, c->p);
    moved = length(c->n.v, c->dq) > PAWL_TOPOLOGY_ON_ROWS * PAWL_TOPOLOGY_ON_ROWS * radius;
    if (length(c->n.v, c->u) > NEAR * radius) {
      return false;
    }
  }
  return look(c, c->p, NULL) == PAWL_OK && length(c->rows, c->g) <= PAWL_TOPOLOGY_ON_ROWS * radius;
}

// The rows at the place of the last look: differential degrees, and with `tangents` (v-by-that) the
// directions.
static PawlStatus differential(Cloud* c, int* degrees, double* tangents, PawlError* err) {
  PawlSvd svd;
  PAWL_TRY(decompose(c, &svd, err));
  int n = c->n.v, rank = pawl_svd_rank(&svd, PAWL_DEPENDENT);
  rank = svd.k > 0 && svd.s[0] <= PAWL_DEPENDENT ? 0 : rank;  // all rows have lost their gradients
  *degrees = n - rank;
  for (int k = 0; tangents && k < *degrees; k++) {
    for (int j = 0; j < n; j++) {
      tangents[j + k * n] = svd.Vt[rank + k + j * n];
    }
  }
  return PAWL_OK;
}

// The dimension of V at a place: tangents that can be followed a small way.
static PawlStatus dimension(Cloud* c, double radius, int* out, PawlError* err) {
  int n = c->n.v, degrees;
  double step = STEP * radius;
  memcpy(c->place, c->p, (size_t)c->n.q * sizeof(double));
  PAWL_TRY(differential(c, &degrees, c->here, err));
  *out = 0;
  for (int k = 0; k < degrees; k++) {
    const double* tangent = c->here + (size_t)k * (size_t)n;
    double off = 0.0;
    for (int j = 0; j < n; j++) {
      c->u[j] = step * tangent[j];
    }
    bool back = settle(c, c->place, step);
    for (int j = 0; j < n; j++) {
      off = hypot(off, c->u[j] - step * tangent[j]);
    }
    *out += back && off <= FOLLOWED * step;
  }
  return PAWL_OK;
}

// A neighbour of q, to c->p: along a tangent without pattern, and a little aside.
static bool find_neighbour(Cloud* c, const double* q, const double* tangents, int degrees,
                           double radius) {
  int n = c->n.v;
  for (int j = 0; j < n; j++) {
    c->direction[j] = ASIDE * uniform(c) / sqrt(n);
  }
  for (int k = 0; k < degrees; k++) {
    double part = uniform(c);
    for (int j = 0; j < n; j++) {
      c->direction[j] += part * tangents[j + k * n];
    }
  }
  double size = length(n, c->direction);
  for (int j = 0; j < n; j++) {
    c->u[j] = radius * c->direction[j] / size;
  }
  return settle(c, q, radius) && length(n, c->u) >= FAR * radius;
}

// The size of each row: its longest gradient about q, so that one that vanishes at q is seen.
static PawlStatus find_scales(Cloud* c, const double* q, double size, PawlError* err) {
  for (int k = 0; k <= SCOUTS; k++) {
    for (int j = 0; j < c->n.v; j++) {
      c->u[j] = k > 0 ? RADII[1] * size * uniform(c) : 0.0;
    }
    pawl_system_retract(c->system, q, c->u, c->p);
    PawlPoint point = c->at;
    point.q = c->p;
    if (pawl_eval_run(c->eval, &point, k > 0 ? NULL : err) != PAWL_OK) {
      PAWL_TRY(k > 0 ? PAWL_OK : PAWL_RETRY);
      continue;
    }
    const PawlValues* values = pawl_eval_values(c->eval);
    double* sizes = c->dq;  // by row
    pawl_sparse_sizes(&c->system->G, values->G, NULL, 1.0, sizes);
    for (int r = 0, row = 0; r < c->n.rows; r++) {
      if (c->set[r]) {
        c->level[row] = k == 0 ? values->g[r] : c->level[row];
        c->scale[row] = fmax(c->scale[row], sizes[r]);
        row++;
      }
    }
  }
  for (int row = 0; row < c->rows; row++) {
    c->scale[row] = c->scale[row] > 0.0 ? c->scale[row] : 1.0;
  }
  return PAWL_OK;
}

static double size_of(const Cloud* c, const double* q) {
  double size = 0.0;
  for (int j = 0; j < c->n.q; j++) {
    size = fmax(size, fabs(q[j]));
  }
  return size > 0.0 ? size : 1.0;
}

// Neighbours within a radius: their number, the largest dimension, whether one differs from q.
static PawlStatus ask_neighbours(Cloud* c, const double* q, double radius, PawlFreedom* out,
                                 PawlError* err) {
  for (int k = 0; k < SAMPLES; k++) {
    int degrees, here;
    if (!find_neighbour(c, q, c->tangents, out->differential, radius)) {
      continue;
    }
    PAWL_TRY(differential(c, &degrees, NULL, err));
    PAWL_TRY(dimension(c, radius, &here, err));
    out->samples++;
    out->regular = out->regular && degrees == out->differential;
    out->local = here > out->local ? here : out->local;
  }
  return PAWL_OK;
}

static PawlStatus sample(Cloud* c, const double* q, PawlFreedom* out, PawlError* err) {
  double size = size_of(c, q);
  PAWL_TRY(find_scales(c, q, size, err));
  PAWL_TRY(look(c, q, err));
  PAWL_TRY(differential(c, &out->differential, c->tangents, err));  // (F1)
  out->regular = true;
  for (size_t r = 0; out->differential > 0 && r < sizeof RADII / sizeof *RADII; r++) {
    PAWL_TRY(ask_neighbours(c, q, RADII[r] * size, out, err));  // (F2), (F3)
  }
  out->regular = out->regular && (out->differential == 0 || out->samples > 0);
  int states = pawl_system_sizes(c->system).states;  // no rows bind them
  out->differential -= states;
  out->local -= states;
  return PAWL_OK;
}

static PawlStatus create(Cloud* c, const int* modes, PawlError* err) {
  size_t v = (size_t)c->n.v, rows = (size_t)c->n.rows;
  c->set = PAWL_NEW(&c->arena, unsigned char, rows);
  if (!c->set) {
    return pawl_fail_memory(err);
  }
  pawl_modes_active(c->system, modes, c->set);
  for (int r = 0; r < c->n.rows; r++) {
    c->set[r] &= !pawl_system_row_is_rate(c->system, r, modes);  // they leave V as it is
    c->rows += c->set[r];
  }
  c->level = PAWL_NEW(&c->arena, double, rows);
  c->scale = PAWL_NEW(&c->arena, double, rows);
  c->J = PAWL_NEW(&c->arena, double, v*(rows + 1));
  c->g = PAWL_NEW(&c->arena, double, rows);
  c->dq = PAWL_NEW(&c->arena, double, v + rows);
  c->u = PAWL_NEW(&c->arena, double, v);
  c->direction = PAWL_NEW(&c->arena, double, v);
  c->tangents = PAWL_NEW(&c->arena, double, v* v);
  c->here = PAWL_NEW(&c->arena, double, v* v);
  c->place = PAWL_NEW(&c->arena, double, c->n.q);
  c->p = PAWL_NEW(&c->arena, double, c->n.q);
  c->next = PAWL_NEW(&c->arena, double, c->n.q);
  double* zeros = PAWL_NEW(&c->arena, double, v);
  c->at.v = zeros;
  c->at.modes = modes;
  return c->arena.failed
             ? pawl_fail_memory(err)
             : pawl_eval_create(c->system, PAWL_POSITION | PAWL_GRADIENT, &c->eval, err);
}

PawlStatus pawl_verify_freedom(const PawlSystem* system, double t, const double* q,
                               const int* modes, PawlFreedom* out, PawlError* err) {
  *out = (PawlFreedom){0};
  if (pawl_system_sizes(system).v > PAWL_FREEDOM_MOST) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "'%s' has more than %d velocities",
                     pawl_system_name(system), PAWL_FREEDOM_MOST);
  }
  Cloud c = {.system = system, .n = pawl_system_sizes(system), .at = {.t = t}, .random = 1};
  PawlStatus status = create(&c, modes, err);
  status = status ? status : sample(&c, q, out, err);
  pawl_eval_destroy(c.eval);
  pawl_arena_free(&c.scratch);
  pawl_arena_free(&c.arena);
  return status;
}
