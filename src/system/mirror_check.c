// SPDX-License-Identifier: Apache-2.0
// Random states, and what they say about a projection: the properties of the set of projections of
// the paper, (11) on the boundary, and Lemma 3.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "linalg/dense.h"
#include "linalg/tolerances.h"
#include "system/mirror_impl.h"

enum { SAMPLES = 300, MOST_ITERATIONS = 200, MOST_DOUBLINGS = 100 };
static const double OFF = 1e-2;  // of the size of coordinates: a guess for the inverse is off by it

// ---- states -------------------------------------------------------------------------------------
// Sebastiano Vigna's splitmix64.
double pawl_mirror_random(PawlMirror* p) {
  uint64_t x = p->random += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  x ^= x >> 31;
  return (double)(x >> 11) * 0x1p-52 - 1.0;
}

void pawl_mirror_sample(PawlMirror* p, double* z) {
  static const double PI = 3.14159265358979323846;
  const PawlProjectionDef* def = &p->model->projection;
  for (int i = 0; i < p->n; i++) {
    bool angle = def->angles && def->angles[i];
    double random = pawl_mirror_random(p);
    z[i] = angle ? PI * random : p->model->coordinates[i].start + def->reach * random;
  }
}

static double size_of(const PawlMirror* p, const double* z) {
  double size = 1.0;
  for (int i = 0; i < p->n; i++) {
    size = fmax(size, fabs(z[i]));
  }
  return size;
}

// Moves z to the boundary along the gradient of the gap, by at most the box at once; false: not
// found, or *flat: the gradient vanishes there.
static bool to_boundary(PawlMirror* p, double* z, bool* flat) {
  double before = INFINITY;
  for (int k = 0; k < MOST_ITERATIONS; k++) {
    double phi, square = 0.0, size = size_of(p, z);
    if (!pawl_mirror_gap(p, z, &phi, p->r)) {
      return false;
    }
    for (int i = 0; i < p->n; i++) {
      square += p->r[i] * p->r[i];
    }
    double way = fabs(phi) / sqrt(square);
    *flat = (phi == 0.0 && square == 0.0) ||
            (way <= PAWL_MIRROR_NEAR * size && way > PAWL_MIRROR_NEAREST * size &&
             way > PAWL_MIRROR_SLOW * before);
    if (*flat || !isfinite(way)) {
      return false;
    }
    if (way <= PAWL_MIRROR_BOUNDARY * size) {
      return true;
    }
    before = way;
    double part = fmin(1.0, p->model->projection.reach / way);
    for (int i = 0; i < p->n; i++) {
      z[i] -= part * phi * p->r[i] / square;
    }
    pawl_mirror_wrap(p, z);
  }
  return false;
}

// (H14) needs the gap -phi at some z for every phi: looks for it along the coordinate of the normal
// form, ever further away. q is changed.
static bool has_mirror_image(PawlMirror* p, double* q, double phi) {
  int s = p->coordinate;
  double gap, start = q[s];
  if (!pawl_mirror_gap(p, q, &gap, p->r)) {
    return false;
  }
  double way = p->r[s] > 0.0 ? -1.0 : 1.0;
  for (int k = 0; k < MOST_DOUBLINGS && pawl_mirror_gap(p, q, &gap, NULL); k++) {
    if (gap <= -phi) {
      return true;
    }
    q[s] = start + ldexp(way, k);
  }
  return false;
}

// ---- matrices -----------------------------------------------------------------------------------
static double distance(const PawlMirror* p, const double* a, const double* b) {
  double most = 0.0;
  for (int i = 0; i < p->n; i++) {
    most = fmax(most, fabs(a[i] - b[i]));
  }
  return most / size_of(p, a);
}

static double determinant(PawlMirror* p, const double* A) {
  int n = p->n;
  memcpy(p->LU, A, (size_t)(n * n) * sizeof(double));
  if (pawl_lu_factor(n, p->LU, p->pivot, PAWL_NO_PIVOT) != 0) {
    return 0.0;
  }
  double product = 1.0;
  for (int k = 0; k < n; k++) {
    product /= p->LU[k + k * n];
  }
  for (int k = 0; k < n; k++) {  // the sign of the permutation, by cycles
    int length = 0;
    for (int at = k; p->pivot[at] >= 0; length++) {
      int next = p->pivot[at];
      p->pivot[at] = -1;
      at = next;
    }
    product = length > 0 && length % 2 == 0 ? -product : product;
  }
  return product;
}

// Largest entry of A B - C D, or of A - C where B and D are NULL.
static double difference(PawlMirror* p, const double* A, const double* B, const double* C,
                         const double* D) {
  int n = p->n;
  double most = 0.0;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      double sum = B ? 0.0 : A[i + j * n] - C[i + j * n];
      for (int k = 0; B && k < n; k++) {
        sum += A[i + k * n] * B[k + j * n] - C[i + k * n] * D[k + j * n];
      }
      most = fmax(most, fabs(sum));
    }
  }
  return most;
}

// ---- the properties of P ------------------------------------------------------------------------
static PawlStatus stuck(PawlMirror* p, PawlError* err) {
  return pawl_fail(err, PAWL_ERROR_USAGE,
                   "the projection of the gap of '%.100s' (it is not defined at %s = %.6g%s)",
                   p->contact, p->model->coordinates[0].name, p->z[0], p->n > 1 ? ", ..." : "");
}

static PawlStatus check_infeasible(PawlMirror* p, PawlMirrorCheck* c, PawlError* err) {
  double phi;
  size_t bytes = (size_t)p->n * sizeof(double);
  if (!pawl_mirror_map(p, p->z, p->q) || !pawl_mirror_gap(p, p->q, &phi, NULL) ||
      !pawl_mirror_derivative(p, p->z, p->q, p->B)) {
    return stuck(p, err);
  }
  double det = determinant(p, p->B);
  c->outside = fmax(c->outside, -phi);
  c->determinant = c->infeasible++ > 0 ? fmax(c->determinant, det) : det;
  if (phi < 0.0 || !(det < 0.0)) {
    return PAWL_OK;
  }
  memcpy(p->W, p->q, bytes);
  if (!pawl_mirror_map(p, p->W, p->A)) {
    return stuck(p, err);
  }
  c->idempotence = fmax(c->idempotence, distance(p, p->A, p->W));
  memcpy(p->W, p->z, bytes);
  for (int i = 0; i < p->n; i++) {
    p->W[i] += OFF * pawl_mirror_random(p);
  }
  if (!pawl_mirror_lift(p, p->q, p->W)) {
    return stuck(p, err);
  }
  c->inverse = fmax(c->inverse, distance(p, p->z, p->W));
  return PAWL_OK;
}

// q just on the infeasible side counts as P of it.
static PawlStatus check_boundary(PawlMirror* p, PawlMirrorCheck* c, PawlError* err) {
  size_t bytes = (size_t)p->n * sizeof(double);
  memcpy(p->q, p->z, bytes);
  bool good = pawl_mirror_derivative(p, p->z, p->q, p->B);
  // One correction of Newton's method from q = z measures how far P(z) is off.
  PawlLeafValues at = {.q = p->z, .a = p->q};
  good = good && pawl_bundle_run(p->relation, &at, p->relation_out) &&
         pawl_mirror_solve(p, p->n, p->relation_out + p->n + p->n * p->n, p->relation_out, p->d) &&
         pawl_mirror_reflection(p, p->z, NULL, p->A);
  if (!good) {
    return stuck(p, err);
  }
  c->boundary++;
  for (int i = 0; i < p->n; i++) {
    c->continuity = fmax(c->continuity, fabs(p->d[i]) / size_of(p, p->z));
  }
  return PAWL_OK;
}

// ---- P_h and Lemma 3 ----------------------------------------------------------------------------
static bool evaluate_onto(PawlMirror* p, const double* z) {
  PawlLeafValues at = {.q = z};
  return pawl_bundle_run(p->onto, &at, p->onto_out);
}

// |phi' M^-1 G^T| relative to the sizes of both, for every row. A is that of the contact alone.
static bool orthogonality(PawlMirror* p, PawlMirrorCheck* c) {
  int n = p->n, m = p->rows;
  const PawlLagrangianValues* l = pawl_lagrangian_run(p->lagrangian, p->z, p->zero);
  double phi;
  if (!l || !pawl_mirror_gap(p, p->z, &phi, p->q) || !pawl_mirror_rows(p, p->z, p->x, p->W) ||
      !pawl_mirror_solve(p, n, l->L_vv, p->q, p->d)) {
    return false;
  }
  double own = 0.0;
  for (int i = 0; i < n; i++) {
    own += p->q[i] * p->d[i];
  }
  for (int r = 0; r < m; r++) {
    double both = 0.0, row = 0.0;
    for (int i = 0; i < n; i++) {
      p->r[i] = p->W[r + i * m];
      both += p->r[i] * p->d[i];
    }
    if (!pawl_mirror_solve(p, n, l->L_vv, p->r, p->x)) {
      return false;
    }
    for (int i = 0; i < n; i++) {
      row += p->r[i] * p->x[i];
    }
    c->orthogonal = fmax(c->orthogonal, row > 0.0 ? fabs(both) / sqrt(own * row) : 0.0);
  }
  return true;
}

// P_h maps onto the rows, does not move what is there, and keeps the gap of the boundary at 0.
static PawlStatus check_onto(PawlMirror* p, bool boundary, PawlMirrorCheck* c, PawlError* err) {
  int n = p->n, m = p->rows;
  double phi = 0.0;
  if (!p->onto || m == 0) {
    return PAWL_OK;
  }
  if (!evaluate_onto(p, p->z)) {
    return stuck(p, err);
  }
  memcpy(p->q, p->onto_out, (size_t)n * sizeof(double));
  memcpy(p->B, p->onto_out + n, (size_t)(n * n) * sizeof(double));
  if (!pawl_mirror_rows(p, p->q, p->x, p->W) || !pawl_mirror_gap(p, p->q, &phi, NULL) ||
      !evaluate_onto(p, p->q)) {
    return stuck(p, err);
  }
  for (int r = 0; r < m; r++) {
    c->onto = fmax(c->onto, fabs(p->x[r]) / size_of(p, p->z));
  }
  c->onto = fmax(c->onto, distance(p, p->q, p->onto_out));
  c->onto = fmax(c->onto, boundary ? fabs(phi) / size_of(p, p->z) : 0.0);
  if (!boundary) {
    return PAWL_OK;
  }
  if (!pawl_mirror_reflection(p, p->z, p->none, p->A)) {
    return stuck(p, err);
  }
  c->commute = fmax(c->commute, difference(p, p->B, p->A, p->A, p->B));
  return orthogonality(p, c) ? PAWL_OK : stuck(p, err);
}

// ---- all ----------------------------------------------------------------------------------------
// P' of P_u is compared with the reflection without the rows.
static bool compare_reflection(PawlMirror* p, PawlMirrorCheck* c) {
  if (!pawl_mirror_reflection(p, p->z, p->none, p->A)) {
    return false;
  }
  c->reflection = fmax(c->reflection, difference(p, p->B, NULL, p->A, NULL));
  return true;
}

static PawlStatus check_state(PawlMirror* p, PawlMirrorCheck* c, PawlError* err) {
  double phi;
  bool flat;
  pawl_mirror_sample(p, p->z);
  if (!pawl_mirror_gap(p, p->z, &phi, NULL)) {
    return stuck(p, err);
  }
  if (phi < 0.0) {
    PAWL_TRY(check_infeasible(p, c, err));
  } else {
    PAWL_TRY(check_onto(p, false, c, err));
    memcpy(p->q, p->z, (size_t)p->n * sizeof(double));
    bool reached = p->model->projection.map || has_mirror_image(p, p->q, phi);
    c->unreached = reached ? c->unreached : c->unreached > 0.0 ? fmin(c->unreached, phi) : phi;
  }
  if (!to_boundary(p, p->z, &flat)) {
    c->flat |= flat;
    return PAWL_OK;
  }
  PAWL_TRY(check_boundary(p, c, err));
  if (!compare_reflection(p, c)) {
    return stuck(p, err);
  }
  return check_onto(p, true, c, err);
}

PawlStatus pawl_mirror_check(PawlMirror* p, int samples, PawlMirrorCheck* check, PawlError* err) {
  *check = (PawlMirrorCheck){0};
  p->random = 0;
  for (int k = 0; k < samples && pawl_mirror_has_contact(p); k++) {
    PAWL_TRY(check_state(p, check, err));
  }
  return PAWL_OK;
}

PawlStatus pawl_mirror_judge(PawlMirror* p, PawlError* err) {
  PawlMirrorCheck c;
  PAWL_TRY(pawl_mirror_check(p, SAMPLES, &c, err));
  if (c.flat) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "the projection of the gap of '%.100s' (the gradient of the gap vanishes on "
                     "its boundary; another gap with the same boundary may do)",
                     p->contact);
  }
  const struct {
    bool bad;
    double by;
    const char* why;
  } reasons[] = {
      {c.unreached > 0.0, c.unreached,
       "is not onto: the normal form needs the gap of every place with its sign changed, too, and "
       "it has no value below minus"},
      {c.continuity > PAWL_MIRROR_OFF, c.continuity, "is not the identity on the boundary: off by"},
      {c.outside > PAWL_MIRROR_OFF, c.outside,
       "does not map into the feasible side: the gap is below 0 by"},
      {c.infeasible > 0 && !(c.determinant < 0.0), c.determinant,
       "folds: det P' must be negative, it is"},
      {c.idempotence > PAWL_MIRROR_OFF, c.idempotence, "is not idempotent: off by"},
      {c.reflection > PAWL_MIRROR_OFF, c.reflection,
       "is no reflection (11) at the boundary: P' is off by"},
      {c.onto > PAWL_MIRROR_OFF, c.onto, "has a part onto the constraints that is none: off by"},
      {c.orthogonal > PAWL_MIRROR_OFF, c.orthogonal,
       "is not separable from the constraints (Lemma 3): phi' M^-1 G^T is not 0 but, relative,"},
      {c.commute > PAWL_MIRROR_OFF, c.commute,
       "is not separable from the constraints (Lemma 3): P_h' A and A P_h' differ by"}};
  for (size_t k = 0; k < sizeof reasons / sizeof *reasons; k++) {
    if (reasons[k].bad) {
      return pawl_fail(err, PAWL_ERROR_USAGE, "the projection of the gap of '%.100s' (it %s %.3g)",
                       p->contact, reasons[k].why, reasons[k].by);
    }
  }
  return PAWL_OK;
}
