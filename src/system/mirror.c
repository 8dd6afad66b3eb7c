// SPDX-License-Identifier: Apache-2.0
// Evaluating a projection: P, its inverse and its derivative from the relation R(z, q) = 0.
#include "system/mirror.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "linalg/dense.h"
#include "linalg/tolerances.h"
#include "system/mirror_impl.h"

enum { MOST_ITERATIONS = 60, MOST_HALVINGS = 40 };

static PawlStatus fill(PawlMirror* p, PawlError* err) {
  int n = p->n, m = p->rows, most = n + m;
  struct {
    double** array;
    int size;
  } arrays[] = {{&p->gap_out, 1 + n},
                {&p->row_out, m + m * n},
                {&p->relation_out, n + 2 * n * n},
                {&p->slope_out, n + n * n},
                {&p->onto_out, n + n * n},
                {&p->J, most * most},
                {&p->LU, most * most},
                {&p->r, most},
                {&p->d, most},
                {&p->x, most},
                {&p->zero, n},
                {&p->trial, n},
                {&p->A, n * n},
                {&p->B, n * n},
                {&p->z, n},
                {&p->q, n},
                {&p->W, n * (m + 1)}};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
    *arrays[k].array = PAWL_NEW(&p->arena, double, arrays[k].size);
  }
  p->pivot = PAWL_NEW(&p->arena, int, most);
  p->none = PAWL_NEW(&p->arena, unsigned char, m);
  p->dag = pawl_dag_create();
  if (p->arena.failed || !p->dag) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_mirror_build(p, err));
  return pawl_mirror_judge(p, err);
}

PawlStatus pawl_mirror_create(const PawlSystem* system, PawlMirror** out, PawlError* err) {
  *out = NULL;
  PAWL_TRY(pawl_model_complete(system->model, err));
  PawlMirror* p = pawl_alloc(1, sizeof *p);
  if (!p) {
    return pawl_fail_memory(err);
  }
  p->model = system->model;
  p->n = p->model->coordinate_count;
  p->rows = p->model->row_count;
  p->phi = PAWL_NO_NODE;
  p->coordinate = -1;
  PawlStatus status = fill(p, err);
  if (status != PAWL_OK) {
    pawl_mirror_destroy(p);
    return status;
  }
  *out = p;
  return PAWL_OK;
}

void pawl_mirror_destroy(PawlMirror* p) {
  if (p) {
    pawl_lagrangian_destroy(p->lagrangian);
    pawl_bundle_destroy(p->gap);
    pawl_bundle_destroy(p->bilateral);
    pawl_bundle_destroy(p->relation);
    pawl_bundle_destroy(p->slope);
    pawl_bundle_destroy(p->onto);
    pawl_dag_destroy(p->dag);
    pawl_arena_free(&p->arena);
    pawl_free(p);
  }
}

bool pawl_mirror_has_contact(const PawlMirror* p) {
  return p->phi != PAWL_NO_NODE;
}

double pawl_mirror_bound(const PawlMirror* p) {
  return p->bound;
}

double pawl_mirror_k(const PawlMirror* p) {
  return p->k;
}

int pawl_mirror_coordinate(const PawlMirror* p) {
  return p->coordinate;
}

PawlLagrangian* pawl_mirror_lagrangian(PawlMirror* p) {
  return p->lagrangian;
}

// ---- what can be --------------------------------------------------------------------------------
static int is_time(void* context, PawlOp leaf, int index) {
  (void)context, (void)index;
  return leaf == PAWL_OP_TIME;
}

static const char* contact_obstacle(const PawlModel* model, char* room, size_t size) {
  if (model->contact_count > 1) {
    return "more than one contact";
  }
  if (model->contact_count == 1 &&
      pawl_dag_leaves(model->dag, model->contacts[0].gap, is_time, NULL) != 0) {
    return "a gap that depends on t";
  }
  if (model->contact_count == 1 && model->contacts[0].restitution != 1.0) {
    snprintf(room, size, "the restitution %g of contact '%.200s' (its impacts are elastic)",
             model->contacts[0].restitution, model->contacts[0].name);
    return room;
  }
  return NULL;
}

PawlStatus pawl_mirror_obstacle(const PawlSystem* system, char* room, size_t size, const char** why,
                                PawlError* err) {
  PAWL_TRY(pawl_lagrangian_obstacle(system, room, size, why, err));
  if (*why || system->model->contact_count == 0) {
    return PAWL_OK;
  }
  *why = contact_obstacle(system->model, room, size);
  if (*why) {
    return PAWL_OK;
  }
  PawlMirror* p;
  PawlError reason = {0};
  PawlStatus status = pawl_mirror_create(system, &p, &reason);
  pawl_mirror_destroy(p);
  if (status == PAWL_ERROR_USAGE) {
    snprintf(room, size, "%s", reason.message);
    *why = room;
    return PAWL_OK;
  }
  return status ? pawl_fail_memory(err) : PAWL_OK;
}

// ---- values -------------------------------------------------------------------------------------
bool pawl_mirror_gap(PawlMirror* p, const double* q, double* phi, double* gradient) {
  PawlLeafValues at = {.q = q};
  bool finite = pawl_bundle_run(p->gap, &at, p->gap_out);
  *phi = p->gap_out[0];
  if (gradient) {
    memcpy(gradient, p->gap_out + 1, (size_t)p->n * sizeof(double));
  }
  return finite;
}

static bool evaluate_rows(PawlMirror* p, const double* q) {
  PawlLeafValues at = {.q = q};
  return p->rows == 0 || pawl_bundle_run(p->bilateral, &at, p->row_out);
}

bool pawl_mirror_rows(PawlMirror* p, const double* q, double* g, double* G) {
  bool finite = evaluate_rows(p, q);
  memcpy(g, p->row_out, (size_t)p->rows * sizeof(double));
  memcpy(G, p->row_out + p->rows, (size_t)(p->rows * p->n) * sizeof(double));
  return finite;
}

bool pawl_mirror_solve(PawlMirror* p, int n, const double* A, const double* b, double* x) {
  memcpy(p->LU, A, (size_t)(n * n) * sizeof(double));
  if (pawl_lu_factor(n, p->LU, p->pivot, PAWL_NO_PIVOT) != 0) {
    return false;
  }
  pawl_lu_solve(n, p->LU, p->pivot, b, x);
  return true;
}

// ---- Newton's method for one of z and q in R(z, q) = 0 ------------------------------------------
static bool relate(PawlMirror* p, const double* z, const double* q) {
  PawlLeafValues at = {.q = z, .a = q};
  return pawl_bundle_run(p->relation, &at, p->relation_out);
}

static double largest(int n, const double* x) {
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    most = fmax(most, fabs(x[i]));
  }
  return most;
}

// Halves the correction p->d until the residual falls; the new values are in p->relation_out.
static bool go(PawlMirror* p, const double* z, const double* q, double* x) {
  int n = p->n;
  double before = largest(n, p->relation_out), part = 1.0;
  for (int k = 0; k < MOST_HALVINGS; k++, part *= 0.5) {
    for (int i = 0; i < n; i++) {
      p->trial[i] = x[i] + part * p->d[i];
    }
    bool finite = relate(p, x == z ? p->trial : z, x == q ? p->trial : q);
    if (finite &&
        (largest(n, p->relation_out) < before || part * largest(n, p->d) < PAWL_MIRROR_STALLED)) {
      memcpy(x, p->trial, (size_t)n * sizeof(double));
      return true;
    }
  }
  return false;
}

// Solves for `x`, which is z or q.
static bool solve_relation(PawlMirror* p, const double* z, const double* q, double* x) {
  int n = p->n;
  const double* J = p->relation_out + n + (x == z ? 0 : n * n);
  double last = INFINITY;
  if (!relate(p, z, q)) {
    return false;
  }
  for (int k = 0; k < MOST_ITERATIONS; k++) {
    for (int i = 0; i < n; i++) {
      p->r[i] = -p->relation_out[i];
    }
    if (!pawl_mirror_solve(p, n, J, p->r, p->d)) {
      return false;
    }
    double size = fmax(1.0, largest(n, x)), change = largest(n, p->d) / size;
    if (change <= PAWL_MIRROR_SETTLED || (change <= PAWL_MIRROR_STALLED && change >= 0.5 * last)) {
      return true;
    }
    last = change;
    if (!go(p, z, q, x)) {
      return false;
    }
  }
  return false;
}

bool pawl_mirror_map(PawlMirror* p, const double* z, double* q) {
  double phi;
  memcpy(q, z, (size_t)p->n * sizeof(double));
  if (!pawl_mirror_has_contact(p)) {
    return true;
  }
  return pawl_mirror_gap(p, z, &phi, NULL) && (phi >= 0.0 || solve_relation(p, z, q, q));
}

bool pawl_mirror_lift(PawlMirror* p, const double* q, double* z) {
  return solve_relation(p, z, q, z);
}

// P' = -R_q^-1 R_z.
bool pawl_mirror_derivative(PawlMirror* p, const double* z, const double* q, double* P) {
  int n = p->n;
  bool good = relate(p, z, q);
  const double *R_z = p->relation_out + n, *R_q = R_z + n * n;
  for (int j = 0; good && j < n; j++) {
    for (int i = 0; i < n; i++) {
      p->r[i] = -R_z[i + j * n];
    }
    good = pawl_mirror_solve(p, n, R_q, p->r, P + j * n);
  }
  return good;
}

// ---- the reflection -----------------------------------------------------------------------------
// u = M^-1 H phi'^T and D = phi' u: the velocity that an impulse 1 of the contact makes within the
// rows, from [M -G^T; G 0] [u; .] = [phi'^T; 0].
static bool push(PawlMirror* p, const double* q, const unsigned char* active, double* u,
                 double* D) {
  int n = p->n, m = p->rows, all = n + m;
  const PawlLagrangianValues* l = pawl_lagrangian_run(p->lagrangian, q, p->zero);
  double phi;
  if (!l || !pawl_mirror_gap(p, q, &phi, p->r) || !evaluate_rows(p, q)) {
    return false;
  }
  const double* G = p->row_out + m;
  memset(p->J, 0, (size_t)(all * all) * sizeof(double));
  for (int j = 0; j < n; j++) {
    memcpy(p->J + j * all, l->L_vv + j * n, (size_t)n * sizeof(double));
  }
  for (int i = 0; i < m; i++) {
    bool in = !active || active[i];
    for (int j = 0; j < n; j++) {
      p->J[j + (n + i) * all] = in ? -G[i + j * m] : 0.0;
      p->J[n + i + j * all] = in ? G[i + j * m] : 0.0;
    }
    p->J[n + i + (n + i) * all] = in ? 0.0 : 1.0;
    p->r[n + i] = 0.0;
  }
  if (!pawl_mirror_solve(p, all, p->J, p->r, p->x)) {
    return false;
  }
  *D = 0.0;
  for (int i = 0; i < n; i++) {
    u[i] = p->x[i];
    *D += p->r[i] * u[i];
  }
  return *D > 0.0;
}

bool pawl_mirror_reflection(PawlMirror* p, const double* q, const unsigned char* active,
                            double* A) {
  int n = p->n;
  double D;
  if (!push(p, q, active, p->W, &D)) {
    return false;
  }
  // phi' H^T of (H19) is M u; on velocities that keep the rows it is phi'.
  const PawlLagrangianValues* l = pawl_lagrangian_run(p->lagrangian, q, p->zero);
  for (int j = 0; l && j < n; j++) {
    double row = 0.0;
    for (int i = 0; i < n; i++) {
      row += p->W[i] * l->L_vv[i + j * n];
    }
    for (int i = 0; i < n; i++) {
      A[i + j * n] = (i == j ? 1.0 : 0.0) - 2.0 * p->W[i] * row / D;  // (H19)
    }
  }
  return l != NULL;
}

void pawl_mirror_wrap(const PawlMirror* p, double* z) {
  static const double PI = 3.14159265358979323846;
  const unsigned char* angles = p->model->projection.angles;
  for (int i = 0; angles && i < p->n; i++) {
    if (angles[i]) {
      z[i] = PI - pawl_wrap(PI - z[i], 2.0 * PI);
    }
  }
}
