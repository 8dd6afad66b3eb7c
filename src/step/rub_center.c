// SPDX-License-Identifier: Apache-2.0
// With z = E^-1 y and s = E w + shift, E = diag(1, mu, mu)/a, a^2 the compliance of the contact and
// shift = mu |w_T|/a in the first row, contact and friction are
//
//   z in Q,   s in Q,   z^T s = 0,     Q: |z_T| <= z_N                                       (F13)
//
// over the round cone, which is its own dual. With a given shift that is convex. Perturbed,
// z o s = nu e, it is followed to nu = 0 by Newton's method in the scaling of Nesterov and Todd,
//
//   W^2 dz + ds = rhs,   ds = E J dx + eps dz + what is left,   S dx - B^T E dz = what is left
//   (F14)
//
// which leaves one system (T9) with C = E (W^2 + eps)^-1 E.
#include "step/rub_center.h"

#include <math.h>
#include <string.h>

#include "linalg/cone.h"
#include "linalg/vector.h"
#include "switch/tolerances.h"

enum { MOST_ITERATIONS = 80, ROWS = PAWL_RUB_ROWS };

struct PawlRubCone {
  int dim;
  double shift;
  double E[ROWS];                               // y = E z, s = E w + shift
  double z[ROWS], s[ROWS], dz[ROWS], ds[ROWS];  // force and opening, scaled; their steps
  PawlConeScaling W;
  double inverse[9];  // (W^2 + eps)^-1
  double off[ROWS];   // E (J x + w0) + shift + eps z - s
  double rhs[ROWS];
};

PawlStatus pawl_rub_center_create(PawlStepper* s, const PawlRubMatrix* matrix, PawlRubCenter* p,
                                  PawlError* err) {
  double** of_n[] = {&p->x, &p->dx, &p->b, &p->room};
  for (size_t k = 0; k < sizeof of_n / sizeof *of_n; k++) {
    *of_n[k] = PAWL_NEW(&s->arena, double, matrix->n);
  }
  p->cone = PAWL_NEW(&s->arena, PawlRubCone, matrix->count);
  p->held = PAWL_NEW(&s->arena, double, matrix->bilateral);
  p->dheld = PAWL_NEW(&s->arena, double, matrix->bilateral);
  p->gap = PAWL_NEW(&s->arena, double, matrix->bilateral);
  p->C = PAWL_NEW(&s->arena, double, 9 * matrix->count);
  return s->arena.failed ? pawl_fail_memory(err) : PAWL_OK;
}

// ---- scaling -----------------------------------------------------------------------------------
// A^-1 of a symmetric positive definite A, by elimination without pivots.
static void invert(int dim, double A[ROWS][ROWS], double* out) {
  double L[ROWS][2 * ROWS] = {{0.0}};
  for (int i = 0; i < dim; i++) {
    memcpy(L[i], A[i], sizeof A[i]);
    L[i][ROWS + i] = 1.0;
  }
  for (int k = 0; k < dim; k++) {
    for (int i = 0; i < dim; i++) {
      double factor = i == k ? 0.0 : L[i][k] / L[k][k];
      for (int j = 0; factor != 0.0 && j < 2 * ROWS; j++) {
        L[i][j] -= factor * L[k][j];
      }
    }
  }
  memset(out, 0, 9 * sizeof *out);
  for (int i = 0; i < dim; i++) {
    for (int j = 0; j < dim; j++) {
      out[ROWS * i + j] = L[i][ROWS + j] / L[i][i];
    }
  }
}

static void find_scaling(PawlRubCone* k) {
  double A[ROWS][ROWS];
  k->W = pawl_cone_scaling(k->dim, k->z, k->s);
  for (int i = 0; i < k->dim; i++) {
    for (int j = 0; j < k->dim; j++) {
      A[i][j] = pawl_cone_square(&k->W, i, j) + (i == j ? PAWL_RUB_CENTER_SOFT : 0.0);
    }
  }
  invert(k->dim, A, k->inverse);
}

// ---- Newton's method ----------------------------------------------------------------------------
// E (J x + w0) + shift of a contact.
static void opening(const PawlRubProblem* q, int c, const PawlRubCone* k, const double* x,
                    double* out) {
  double w[ROWS];
  pawl_rub_matrix_rates(q->matrix, &q->matrix->exact, c, x, w);
  for (int i = 0; i < k->dim; i++) {
    out[i] = k->E[i] * (w[i] + q->w0[ROWS * c + i]);
  }
  out[0] += k->shift;
}

// Scales of a contact, and its shift.
static void begin_cone(const PawlRubCenter* p, const PawlRubProblem* q, int c, PawlRubShift shift) {
  const PawlRubContact* contact = &q->matrix->contact[c];
  PawlRubCone* k = &p->cone[c];
  double scale_of = sqrt(q->own[ROWS * c]), s[ROWS];
  k->dim = contact->mu > 0.0 ? 1 + contact->count : 1;
  for (int i = 0; i < ROWS; i++) {
    k->E[i] = i == 0 ? 1.0 / scale_of : i < k->dim ? contact->mu / scale_of : 0.0;
  }
  if (shift == PAWL_RUB_SHIFT_KEPT && q->kept[c]) {
    return;
  }
  k->shift = 0.0;
  if (shift == PAWL_RUB_SHIFT_FOUND) {
    opening(q, c, k, p->x, s);
    k->shift = pawl_cone_tangent(k->dim, s);
  }
}

// z = s = size e; x = 0. The size is that of the openings if nothing pushed.
static double begin(PawlRubCenter* p, const PawlRubProblem* q, PawlRubShift shift) {
  const PawlRubMatrix* m = q->matrix;
  double size = 0.0;
  for (int a = 0; a < q->count; a++) {
    begin_cone(p, q, q->list[a], shift);
  }
  memset(p->held, 0, (size_t)m->bilateral * sizeof(double));
  for (int j = 0; j < m->n; j++) {
    double mass = m->diagonal[j] >= 0 ? m->exact.S[m->diagonal[j]] : 0.0;
    p->x[j] = 0.0;
    p->room[j] = mass > 0.0 ? q->r[j] / mass : 0.0;
  }
  for (int a = 0; a < q->count; a++) {
    PawlRubCone* k = &p->cone[q->list[a]];
    opening(q, q->list[a], k, p->room, k->s);
    for (int i = 0; i < k->dim; i++) {
      size = fmax(size, fabs(k->s[i]));
    }
  }
  for (int a = 0; a < q->count; a++) {
    PawlRubCone* k = &p->cone[q->list[a]];
    for (int i = 0; i < ROWS; i++) {
      k->z[i] = k->s[i] = i == 0 ? size : 0.0;
    }
  }
  return size;
}

// What is left of all equations; the largest of openings, scaled.
static double residuals(PawlRubCenter* p, const PawlRubProblem* q) {
  PawlRubMatrix* m = q->matrix;
  double most = 0.0, y[ROWS];
  memcpy(p->b, q->r, (size_t)m->n * sizeof(double));
  for (int a = 0; a < q->count; a++) {
    int c = q->list[a];
    PawlRubCone* k = &p->cone[c];
    opening(q, c, k, p->x, k->off);
    for (int i = 0; i < k->dim; i++) {
      k->off[i] += PAWL_RUB_CENTER_SOFT * k->z[i] - k->s[i];
      most = fmax(most, fabs(k->off[i]));
    }
    for (int i = 0; i < ROWS; i++) {
      y[i] = i < k->dim ? k->E[i] * k->z[i] : 0.0;
    }
    pawl_rub_matrix_push(m, &m->exact, c, y, p->b, NULL);
  }
  pawl_rub_matrix_rest(m, p->x, p->held, p->b);
  memcpy(p->gap, q->hold, (size_t)m->bilateral * sizeof(double));
  for (int j = 0; j < m->n; j++) {
    for (int e = m->G.start[j]; e < m->G.start[j + 1]; e++) {
      p->gap[m->G.index[e]] -= m->exact.J_held[e] * p->x[j];
    }
  }
  return most;
}

static bool factor(PawlRubCenter* p, const PawlRubProblem* q) {
  for (int a = 0; a < q->count; a++) {
    int c = q->list[a];
    PawlRubCone* k = &p->cone[c];
    find_scaling(k);
    for (int i = 0; i < ROWS; i++) {
      for (int j = 0; j < ROWS; j++) {
        p->C[9 * c + ROWS * i + j] = k->E[i] * k->inverse[ROWS * i + j] * k->E[j];
      }
    }
  }
  return pawl_rub_matrix_factor(q->matrix, &q->matrix->exact, q->count, q->list, p->C);
}

static void apply(const PawlRubCone* k, const double* x, double* out) {
  for (int i = 0; i < k->dim; i++) {
    out[i] = pawl_dot(k->dim, k->inverse + ROWS * i, x);
  }
}

// dx, dz and ds for the right sides in `rhs`.
static void solve(PawlRubCenter* p, const PawlRubProblem* q) {
  PawlRubMatrix* m = q->matrix;
  memcpy(p->dx, p->b, (size_t)m->n * sizeof(double));
  for (int a = 0; a < q->count; a++) {
    PawlRubCone* k = &p->cone[q->list[a]];
    double force[ROWS] = {0.0, 0.0, 0.0}, open[ROWS];
    for (int i = 0; i < k->dim; i++) {
      open[i] = k->rhs[i] - k->off[i];
    }
    apply(k, open, force);
    for (int i = 0; i < k->dim; i++) {
      force[i] *= k->E[i];
    }
    pawl_rub_matrix_push(m, &m->exact, q->list[a], force, p->dx, NULL);
  }
  for (int i = 0; i < m->bilateral; i++) {
    p->dheld[i] = m->active[i] ? p->gap[i] : 0.0;
  }
  pawl_rub_matrix_solve(m, p->dx, p->dheld);
  for (int a = 0; a < q->count; a++) {
    PawlRubCone* k = &p->cone[q->list[a]];
    double w[ROWS], open[ROWS];
    pawl_rub_matrix_rates(m, &m->exact, q->list[a], p->dx, w);
    for (int i = 0; i < k->dim; i++) {
      open[i] = k->rhs[i] - k->off[i] - k->E[i] * w[i];
    }
    apply(k, open, k->dz);
    for (int i = 0; i < k->dim; i++) {
      k->ds[i] = k->E[i] * w[i] + k->off[i] + PAWL_RUB_CENTER_SOFT * k->dz[i];
    }
  }
}

static double largest_step(const PawlRubCenter* p, const PawlRubProblem* q) {
  double step = INFINITY;
  for (int a = 0; a < q->count; a++) {
    const PawlRubCone* k = &p->cone[q->list[a]];
    step = fmin(step, pawl_cone_reach(k->dim, k->z, k->dz));
    step = fmin(step, pawl_cone_reach(k->dim, k->s, k->ds));
  }
  return step;
}

// Mean of z^T s after a step.
static double complementarity(const PawlRubCenter* p, const PawlRubProblem* q, double step) {
  double sum = 0.0;
  for (int a = 0; a < q->count; a++) {
    const PawlRubCone* k = &p->cone[q->list[a]];
    for (int i = 0; i < k->dim; i++) {
      sum += (k->z[i] + step * k->dz[i]) * (k->s[i] + step * k->ds[i]);
    }
  }
  return sum / q->count;
}

// Right sides: towards nu = 0, and then towards `nu` with the products of the first step
// (S. Mehrotra).
static void predict(PawlRubCenter* p, const PawlRubProblem* q) {
  for (int a = 0; a < q->count; a++) {
    PawlRubCone* k = &p->cone[q->list[a]];
    for (int i = 0; i < k->dim; i++) {
      k->rhs[i] = -k->s[i];
    }
  }
}

static void center(PawlRubCenter* p, const PawlRubProblem* q, double nu) {
  for (int a = 0; a < q->count; a++) {
    PawlRubCone* k = &p->cone[q->list[a]];
    pawl_cone_center(&k->W, k->z, k->dz, k->ds, nu, k->rhs);
  }
}

static void advance(PawlRubCenter* p, const PawlRubProblem* q, double step) {
  for (int j = 0; j < q->matrix->n; j++) {
    p->x[j] += step * p->dx[j];
  }
  for (int i = 0; i < q->matrix->bilateral; i++) {
    p->held[i] += step * p->dheld[i];
  }
  for (int a = 0; a < q->count; a++) {
    PawlRubCone* k = &p->cone[q->list[a]];
    for (int i = 0; i < k->dim; i++) {
      k->z[i] += step * k->dz[i];
      k->s[i] += step * k->ds[i];
    }
  }
}

// Of the two pairs of each contact, z_N - |z_T| with s_N + |s_T| and the other way round, which is
// larger.
void pawl_rub_center_conclude(const PawlRubCenter* p, const PawlRubProblem* q, PawlRubState* state,
                              double* y) {
  for (int a = 0; a < q->count; a++) {
    int c = q->list[a];
    const PawlRubCone* k = &p->cone[c];
    double T = pawl_cone_tangent(k->dim, k->z), S = pawl_cone_tangent(k->dim, k->s);
    bool closed = k->z[0] + T > k->s[0] - S, rubs = k->dim > 1 || q->matrix->contact[c].count == 0;
    bool sticks = rubs && k->z[0] - T > k->s[0] + S;
    state[c].place = !closed ? PAWL_RUB_OPEN : sticks ? PAWL_RUB_STICK : PAWL_RUB_SLIP;
    state[c].turns = 0.0;
    for (int i = 0; i < 2; i++) {
      state[c].direction[i] = i + 1 < k->dim && T > 0.0 ? -k->z[i + 1] / T : 0.0;
    }
    for (int i = 0; i < ROWS; i++) {
      y[ROWS * c + i] = i < k->dim ? k->E[i] * k->z[i] : 0.0;
    }
  }
}

bool pawl_rub_center_slips(const PawlRubCenter* p, int contact) {
  const PawlRubCone* k = &p->cone[contact];
  double least = PAWL_RUB_CENTER_SLIPS * p->size;
  return k->dim > 1 && k->z[0] > least && k->s[0] > least;
}

// One step of Newton's method: first towards nu = 0, which shows how far that is possible, then
// towards the part of nu that this suggests. False: singular.
static bool iterate(PawlRubCenter* p, const PawlRubProblem* q, double nu) {
  static const double LONGEST = 0.99;
  if (!factor(p, q)) {
    return false;
  }
  predict(p, q);
  solve(p, q);
  double left = complementarity(p, q, fmin(1.0, largest_step(p, q))) / nu;
  center(p, q, nu * left * left * left);
  solve(p, q);
  advance(p, q, fmin(1.0, LONGEST * largest_step(p, q)));
  return true;
}

void pawl_rub_center_begin(PawlRubCenter* p, const PawlRubProblem* q, PawlRubShift shift) {
  p->size = begin(p, q, shift);
  p->iterations = 0;
}

bool pawl_rub_center_go_on(PawlRubCenter* p, const PawlRubProblem* q, double end) {
  double size = p->size, square = size * size;
  bool near = false;
  for (; size > 0.0 && p->iterations < MOST_ITERATIONS; p->iterations++) {
    double off = residuals(p, q) / size, nu = complementarity(p, q, 0.0);
    bool there = off <= PAWL_RUB_CENTERED && nu <= end * square;
    near = off <= PAWL_RUB_CENTERED_NEARLY && nu <= PAWL_RUB_CENTERED_NEARLY * square;
    if (!isfinite(off) || !isfinite(nu)) {
      return false;
    }
    if (there || !iterate(p, q, nu)) {  // near the end K is next to singular
      return there || near;
    }
  }
  return near && end < PAWL_RUB_CENTERED;
}
