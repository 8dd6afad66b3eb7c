// SPDX-License-Identifier: Apache-2.0
// Which rate equations are derivatives of equations between coordinates (docs/theory/rate.md). With
// the one-forms omega_i = A_i dq + b_i dt of all rows, position rows included, omega_i belongs to
// the largest set of rows that fulfils Frobenius' condition:
//
//   d omega_i (x, y) = 0  for all x, y with omega_k(x) = omega_k(y) = 0, k in the set       (W12)
//
// The set is found by striking out rows that do not, again and again, at points around the start.
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "linalg/lapack.h"
#include "pawl/verify.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

static const double AROUND = 0.5;  // of the largest coordinate, or of 1: how far points lie off
enum { POINTS = 6, MOST_FAILURES = 100 };

typedef struct Forms {
  const PawlSystem* system;
  PawlArena arena;
  PawlEval* eval;
  PawlSizes n;
  PawlPoint at;
  double *q, *v;
  double* omega;  // rows-by-(v + 1): the rows of the set, each of length 1; others are zero
  double* length;
  double* still;  // rows-by-v: G_turn at v = 0
  double* turn;   // rows-by-v: G_turn
  unsigned long long random;
} Forms;

static double uniform(Forms* f) {  // -1 .. 1
  f->random = f->random * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(f->random >> 11) * 0x1p-52 - 1.0;
}

static PawlStatus create(Forms* f, PawlError* err) {
  size_t n = (size_t)f->n.v, m = (size_t)f->n.rows;
  f->q = PAWL_NEW(&f->arena, double, n);
  f->v = PAWL_NEW(&f->arena, double, n);
  f->omega = PAWL_NEW(&f->arena, double, m*(n + 1));
  f->length = PAWL_NEW(&f->arena, double, m);
  f->still = PAWL_NEW(&f->arena, double, m* n);
  f->turn = PAWL_NEW(&f->arena, double, m* n);
  if (f->arena.failed) {
    return pawl_fail_memory(err);
  }
  return pawl_eval_create(
      f->system,
      PAWL_GRADIENT | PAWL_TIME_GRADIENT | PAWL_VELOCITY_TANGENT | PAWL_ACCELERATION_TANGENT,
      &f->eval, err);
}

// A as rows-by-v.
static void expand(const Forms* f, const double* values, double* out) {
  const PawlPattern* G = &f->system->G;
  memset(out, 0, (size_t)f->n.rows * (size_t)f->n.v * sizeof(double));
  for (int j = 0; j < f->n.v; j++) {
    for (int k = G->start[j]; k < G->start[j + 1]; k++) {
      out[G->index[k] + j * f->n.rows] = values[k];
    }
  }
}

static PawlStatus look(Forms* f, double* turn) {
  PAWL_TRY(pawl_eval_run(f->eval, &f->at, NULL));
  expand(f, pawl_eval_values(f->eval)->G_turn, turn);
  return PAWL_OK;
}

// The forms at the point, each over its length.
static void take_forms(Forms* f, const unsigned char* set) {
  const PawlValues* values = pawl_eval_values(f->eval);
  int m = f->n.rows, n = f->n.v;
  expand(f, values->G, f->omega);
  memcpy(f->omega + (size_t)m * (size_t)n, values->g_t, (size_t)m * sizeof(double));
  for (int i = 0; i < m; i++) {
    f->length[i] = 0.0;
    for (int j = 0; j <= n; j++) {
      f->length[i] = hypot(f->length[i], f->omega[i + j * m]);
    }
    for (int j = 0; j <= n; j++) {
      double part = f->length[i] > 0.0 ? f->omega[i + j * m] / f->length[i] : 0.0;
      f->omega[i + j * m] = set[i] ? part : 0.0;
    }
  }
}

// d omega_i (x, y) = x.F y + (x.c) y_t - x_t (y.c),  F y + c = G_turn at v = y,  c that at 0.
static double curl(const Forms* f, int i, const double* x, const double* y, int stride,
                   double* size) {
  int m = f->n.rows, n = f->n.v;
  double sum = 0.0;
  *size = 0.0;
  for (int j = 0; j < n; j++) {
    double c = f->still[i + j * m], F_y = f->turn[i + j * m] - c;
    double xj = x[(size_t)j * (size_t)stride], yj = y[(size_t)j * (size_t)stride];
    double x_t = x[(size_t)n * (size_t)stride], y_t = y[(size_t)n * (size_t)stride];
    sum += xj * F_y + xj * c * y_t - x_t * yj * c;
    *size += fabs(xj * F_y) + fabs(xj * c * y_t) + fabs(x_t * yj * c);
  }
  return sum;
}

// Strikes rows out of `keeps` whose condition fails for y, the column `from` of the null space.
static PawlStatus strike(Forms* f, const PawlSvd* svd, int rank, int from, unsigned char* keeps) {
  int n = f->n.v, m = f->n.rows, all = n + 1;
  const double* y = svd->Vt + from;
  for (int j = 0; j < n; j++) {
    f->v[j] = y[(size_t)j * (size_t)all];
  }
  PAWL_TRY(look(f, f->turn));
  for (int i = 0; i < m; i++) {
    for (int k = rank; keeps[i] && k < all; k++) {
      double size, found = curl(f, i, svd->Vt + k, y, all, &size);
      bool rate = pawl_system_row_is_rate(f->system, i, f->at.modes);
      keeps[i] = !rate || fabs(found) <= PAWL_INTEGRABLE * fmax(size, f->length[i]);
    }
  }
  return PAWL_OK;
}

static PawlStatus judge_point(Forms* f, const unsigned char* set, unsigned char* keeps) {
  PawlArena scratch = {0};
  PawlSvd svd;
  memset(f->v, 0, (size_t)f->n.v * sizeof(double));
  PAWL_TRY(look(f, f->still));
  take_forms(f, set);
  PawlStatus status = pawl_svd(&scratch, f->n.rows, f->n.v + 1, f->omega, &svd);
  int rank = status == PAWL_OK ? pawl_svd_rank(&svd, PAWL_TOPOLOGY_SOLVED) : 0;
  for (int k = rank; status == PAWL_OK && k <= f->n.v; k++) {
    status = strike(f, &svd, rank, k, keeps);
  }
  pawl_arena_free(&scratch);
  return status;
}

// One round: points where the system cannot be evaluated are passed over.
static PawlStatus judge(Forms* f, double t, const double* q, const unsigned char* set,
                        unsigned char* keeps) {
  double size = 1.0;
  for (int j = 0; j < f->n.q; j++) {
    size = fmax(size, fabs(q[j]));
  }
  memcpy(keeps, set, (size_t)f->n.rows);
  for (int k = 0, tries = 0; k < POINTS && tries < MOST_FAILURES; tries++) {
    for (int j = 0; j < f->n.q; j++) {
      f->q[j] = q[j] + AROUND * size * uniform(f);
    }
    pawl_system_tidy(f->system, f->q);
    f->at.t = t + AROUND * fabs(uniform(f));
    PawlStatus status = judge_point(f, set, keeps);
    if (status != PAWL_OK && status != PAWL_RETRY) {
      return status;
    }
    k += status == PAWL_OK;
  }
  return PAWL_OK;
}

static PawlStatus find(Forms* f, double t, const double* q, unsigned char* set, PawlError* err) {
  PAWL_TRY(create(f, err));
  unsigned char* keeps = PAWL_NEW(&f->arena, unsigned char, f->n.rows);
  if (!keeps) {
    return pawl_fail_memory(err);
  }
  f->at.q = f->q;
  f->at.v = f->at.a = f->v;
  f->at.lambda = PAWL_NEW(&f->arena, double, f->n.rows);
  for (bool same = false; !same;) {
    PAWL_TRY(judge(f, t, q, set, keeps));
    same = memcmp(set, keeps, (size_t)f->n.rows) == 0;
    memcpy(set, keeps, (size_t)f->n.rows);
  }
  return PAWL_OK;
}

PawlStatus pawl_verify_integrable(const PawlSystem* system, double t, const double* q,
                                  const int* modes, unsigned char* rows, PawlError* err) {
  Forms f = {.system = system, .n = pawl_system_sizes(system), .random = 1};
  bool any = false;
  f.at.modes = modes;
  pawl_modes_active(system, modes, rows);
  for (int i = 0; i < f.n.rows; i++) {
    any |= rows[i] && pawl_system_row_is_rate(system, i, modes);
  }
  any &= f.n.v <= PAWL_FREEDOM_MOST;
  PawlStatus status = any ? find(&f, t, q, rows, err) : PAWL_OK;
  for (int i = 0; i < f.n.rows; i++) {
    rows[i] = any && rows[i] && pawl_system_row_is_rate(system, i, modes);
  }
  pawl_eval_destroy(f.eval);
  pawl_arena_free(&f.arena);
  return status;
}
