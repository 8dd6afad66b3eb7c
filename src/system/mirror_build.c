// SPDX-License-Identifier: Apache-2.0
// Building a projection on expressions: the normal form (H14) from the contact and the mass matrix,
// or the map of the model.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "linalg/tolerances.h"
#include "system/mirror_impl.h"

enum { SAMPLES = 400, CLIMBS = 8, MOST_COORDINATES = 12 };
static const double CHOSEN_K = 2.0;  // of k_c

static PawlNode coordinate(PawlMirror* p, int i) {
  return pawl_dag_leaf(p->dag, PAWL_OP_Q, i);
}

// ---- bundles ------------------------------------------------------------------------------------
// `count` nodes and their derivatives by the coordinates, by columns.
static PawlStatus bundle_with_gradients(PawlMirror* p, int count, const PawlNode* nodes,
                                        PawlBundle** out, PawlError* err) {
  PawlNode* all = PAWL_NEW(&p->arena, PawlNode, count * (1 + p->n));
  if (!all) {
    return pawl_fail_memory(err);
  }
  for (int i = 0; i < count; i++) {
    all[i] = nodes[i];
    for (int j = 0; j < p->n; j++) {
      all[count + i + j * count] = pawl_dag_partial(p->dag, nodes[i], PAWL_OP_Q, j);
    }
  }
  return pawl_bundle_create(p->dag, count * (1 + p->n), all, out, err);
}

static PawlStatus build_rows(PawlMirror* p, PawlError* err) {
  PawlNode* rows = PAWL_NEW(&p->arena, PawlNode, p->rows);
  if (!rows) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; k < p->model->constraint_count; k++) {
    const PawlConstraint* c = &p->model->constraints[k];
    for (int i = 0; i < c->modes[0].row_count; i++) {
      rows[c->first_row + i] = pawl_lagrangian_copy(p->model, p->dag, c->modes[0].rows[i].node);
    }
  }
  return p->rows > 0 ? bundle_with_gradients(p, p->rows, rows, &p->bilateral, err) : PAWL_OK;
}

// R, R_z and R_q.
static PawlStatus bundle_relation(PawlMirror* p, const PawlNode* R, PawlError* err) {
  int n = p->n;
  PawlNode* all = PAWL_NEW(&p->arena, PawlNode, n + 2 * n * n);
  if (!all) {
    return pawl_fail_memory(err);
  }
  for (int i = 0; i < n; i++) {
    all[i] = R[i];
    for (int j = 0; j < n; j++) {
      all[n + i + j * n] = pawl_dag_partial(p->dag, R[i], PAWL_OP_Q, j);
      all[n + n * n + i + j * n] = pawl_dag_partial(p->dag, R[i], PAWL_OP_A, j);
    }
  }
  return pawl_bundle_create(p->dag, n + 2 * n * n, all, &p->relation, err);
}

// q - P(z).
static PawlStatus relate_map(PawlMirror* p, PawlError* err) {
  PawlNode* R = PAWL_NEW(&p->arena, PawlNode, p->n);
  if (!R) {
    return pawl_fail_memory(err);
  }
  for (int i = 0; i < p->n; i++) {
    R[i] = pawl_dag_sub(p->dag, pawl_dag_leaf(p->dag, PAWL_OP_A, i), p->explicit_map[i]);
  }
  return bundle_relation(p, R, err);
}

// ---- monotonicity (12) --------------------------------------------------------------------------
typedef struct Monotone {
  int coordinate;
  double least, most;  // of |dphi/dq| at the states seen
  bool changes;        // of sign
} Monotone;

static bool is_monotone(const Monotone* m) {
  return !m->changes && m->least > PAWL_MIRROR_FLAT * m->most;
}

static void look(PawlMirror* p, Monotone* m) {
  bool up = false, down = false;
  m->least = INFINITY;
  m->most = 0.0;
  p->random = 0;
  for (int k = 0; k < SAMPLES; k++) {
    double phi;
    pawl_mirror_sample(p, p->z);
    if (pawl_mirror_gap(p, p->z, &phi, p->q)) {
      double slope = p->q[m->coordinate];
      up |= slope > 0.0;
      down |= slope < 0.0;
      m->least = fmin(m->least, fabs(slope));
      m->most = fmax(m->most, fabs(slope));
    }
  }
  m->changes = up && down;
}

static PawlStatus not_monotone(const PawlMirror* p, const Monotone* m, PawlError* err) {
  return pawl_fail(err, PAWL_ERROR_USAGE,
                   "the gap of '%.100s' (it is not monotone in %s%.100s%s, condition (12) of the "
                   "normal form: %s; projection: map: can give another projection)",
                   p->contact, m ? "'" : "any coordinate",
                   m ? p->model->coordinates[m->coordinate].name : "", m ? "'" : "",
                   !m           ? "some derivative must keep its sign"
                   : m->changes ? "its derivative changes sign"
                                : "its derivative vanishes");
}

// The coordinate of the model, or the first in which the gap is monotone; one in which its
// derivative is a number comes before others.
static PawlStatus choose_coordinate(PawlMirror* p, PawlError* err) {
  int stated = p->model->projection.coordinate;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < p->n; i++) {
      Monotone m = {.coordinate = i};
      double slope;
      PawlNode partial = pawl_dag_partial(p->dag, p->phi, PAWL_OP_Q, i);
      bool number = pawl_dag_is_const(p->dag, partial, &slope);
      if ((stated >= 0 && i != stated) || (stated < 0 && pass == 0 && !number)) {
        continue;
      }
      look(p, &m);
      if (is_monotone(&m)) {
        p->coordinate = i;
        return PAWL_OK;
      }
      if (stated >= 0) {
        return not_monotone(p, &m, err);
      }
    }
  }
  return not_monotone(p, NULL, err);
}

// ---- Delta (16) ---------------------------------------------------------------------------------
// u = M^-1 phi'^T by elimination without pivoting, which a positive definite M allows.
static void eliminate(PawlDag* dag, int n, PawlNode* M, PawlNode* u) {
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++) {
      PawlNode factor = pawl_dag_div(dag, M[i + k * n], M[k + k * n]);
      for (int j = k + 1; j < n; j++) {
        M[i + j * n] = pawl_dag_sub(dag, M[i + j * n], pawl_dag_mul(dag, factor, M[k + j * n]));
      }
      u[i] = pawl_dag_sub(dag, u[i], pawl_dag_mul(dag, factor, u[k]));
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) {
      u[k] = pawl_dag_sub(dag, u[k], pawl_dag_mul(dag, M[k + j * n], u[j]));
    }
    u[k] = pawl_dag_div(dag, u[k], M[k + k * n]);
  }
}

static PawlStatus build_delta(PawlMirror* p, PawlError* err) {
  int n = p->n;
  PawlNode* M = PAWL_NEW(&p->arena, PawlNode, n * n);
  PawlNode* slope = PAWL_NEW(&p->arena, PawlNode, n);
  p->delta = PAWL_NEW(&p->arena, PawlNode, n);
  if (!M || !slope || !p->delta) {
    return pawl_fail_memory(err);
  }
  PawlNode D = pawl_dag_const(p->dag, 0.0);
  for (int j = 0; j < n; j++) {
    PawlNode L_v = pawl_dag_partial(p->dag, p->L, PAWL_OP_V, j);
    for (int i = 0; i < n; i++) {
      M[i + j * n] = pawl_dag_partial(p->dag, L_v, PAWL_OP_V, i);
    }
    slope[j] = p->delta[j] = pawl_dag_partial(p->dag, p->phi, PAWL_OP_Q, j);
  }
  eliminate(p->dag, n, M, p->delta);
  for (int i = 0; i < n; i++) {
    D = pawl_dag_add(p->dag, D, pawl_dag_mul(p->dag, slope[i], p->delta[i]));
  }
  for (int i = 0; i < n; i++) {
    p->delta[i] =
        i == p->coordinate ? pawl_dag_const(p->dag, 0.0) : pawl_dag_div(p->dag, p->delta[i], D);
  }
  return bundle_with_gradients(p, n, p->delta, &p->slope, err);
}

// ---- k (Lemma 1) --------------------------------------------------------------------------------
double pawl_mirror_slope(PawlMirror* p, const double* q) {
  int n = p->n, s = p->coordinate;
  PawlLeafValues at = {.q = q};
  double phi, sum = 0.0;
  if (!pawl_bundle_run(p->slope, &at, p->slope_out) || !pawl_mirror_gap(p, q, &phi, p->r)) {
    return NAN;
  }
  const double* rate = p->slope_out + n;
  for (int j = 0; j < n; j++) {
    for (int i = 0; j != s && i < n; i++) {
      double Lambda = rate[i + j * n] - p->r[j] / p->r[s] * rate[i + s * n];  // (H15)
      sum += Lambda * Lambda;
    }
  }
  return sqrt(sum);
}

// Uphill from q, along one coordinate after the other with ever smaller steps.
static double climb(PawlMirror* p, double* q) {
  double best = pawl_mirror_slope(p, q), reach = p->model->projection.reach;
  for (double step = 0.1; step > PAWL_MIRROR_FINEST; step *= 0.5) {
    for (int i = 0; i < 2 * p->n; i++) {
      double kept = q[i / 2];
      q[i / 2] += (i % 2 ? -step : step) * reach;
      double slope = pawl_mirror_slope(p, q);
      if (slope > best) {
        best = slope;
      } else {
        q[i / 2] = kept;
      }
    }
  }
  return best;
}

static void find_bound(PawlMirror* p) {
  p->random = 0;
  p->bound = 0.0;
  for (int k = 0; k < CLIMBS; k++) {
    double best = -1.0;
    for (int i = 0; i < SAMPLES / CLIMBS; i++) {
      pawl_mirror_sample(p, p->z);
      double slope = pawl_mirror_slope(p, p->z);
      if (slope > best) {
        best = slope;
        memcpy(p->q, p->z, (size_t)p->n * sizeof(double));
      }
    }
    p->bound = best >= 0.0 ? fmax(p->bound, climb(p, p->q)) : p->bound;
  }
}

static PawlStatus choose_k(PawlMirror* p, PawlError* err) {
  find_bound(p);
  double stated = p->model->projection.k, least = p->bound * p->bound;
  p->k = stated > 0.0 ? stated : least > 0.0 ? CHOSEN_K * least : 1.0;
  if (p->k > least * (1.0 - PAWL_MIRROR_CONTROL)) {
    return PAWL_OK;
  }
  return pawl_fail(err, PAWL_ERROR_USAGE,
                   "the projection with k = %g of the gap of '%.100s' (Lemma 1 asks for k > %.10g)",
                   stated, p->contact, least);
}

// ---- the normal form (H14) ----------------------------------------------------------------------
typedef struct Substitution {
  const PawlNode* by;  // n
  PawlNode* rates;     // n, or NULL
} Substitution;

static PawlNode substitute_leaf(void* context, PawlDag* to, PawlOp leaf, int index) {
  const Substitution* s = context;
  return leaf == PAWL_OP_Q               ? s->by[index]
         : leaf == PAWL_OP_V && s->rates ? s->rates[index]
                                         : pawl_dag_leaf(to, leaf, index);
}

static PawlNode substitute(PawlMirror* p, PawlNode node, const PawlNode* by, PawlNode* rates) {
  Substitution s = {by, rates};
  return pawl_dag_copy(p->dag, p->dag, node, substitute_leaf, &s);
}

// q^i = z^i - 2 phi/(1 + k phi^2) Delta_i, i != 1.
static void other_coordinates(PawlMirror* p, PawlNode* q) {
  PawlDag* d = p->dag;
  PawlNode square = pawl_dag_mul(d, pawl_dag_const(d, p->k), pawl_dag_powi(d, p->phi, 2));
  PawlNode part = pawl_dag_div(d, pawl_dag_mul(d, pawl_dag_const(d, 2.0), p->phi),
                               pawl_dag_add(d, pawl_dag_const(d, 1.0), square));
  for (int i = 0; i < p->n; i++) {
    q[i] = pawl_dag_sub(d, coordinate(p, i), pawl_dag_mul(d, part, p->delta[i]));
  }
}

static int is_chosen(void* context, PawlOp leaf, int index) {
  return leaf == PAWL_OP_Q && index == *(const int*)context;
}

// Where phi is linear in q^1: q^1 = z^1 - (phi(z) + phi(z^1, q^2, ..))/phi_1(q^2, ..), in q[s].
static void solve_linear(PawlMirror* p, PawlNode* q) {
  PawlDag* d = p->dag;
  int s = p->coordinate;
  PawlNode slope = pawl_dag_partial(d, p->phi, PAWL_OP_Q, s);
  if (pawl_dag_leaves(d, slope, is_chosen, &s) != 0) {
    return;
  }
  PawlNode sum = pawl_dag_add(d, p->phi, substitute(p, p->phi, q, NULL));
  q[s] = pawl_dag_sub(d, coordinate(p, s), pawl_dag_div(d, sum, substitute(p, slope, q, NULL)));
  p->explicit_map = q;
}

static PawlStatus relate_normal_form(PawlMirror* p, PawlNode* q, PawlError* err) {
  PawlNode* R = PAWL_NEW(&p->arena, PawlNode, p->n);
  PawlNode* image = PAWL_NEW(&p->arena, PawlNode, p->n);
  if (!R || !image) {
    return pawl_fail_memory(err);
  }
  for (int i = 0; i < p->n; i++) {
    image[i] = pawl_dag_leaf(p->dag, PAWL_OP_A, i);
    R[i] = pawl_dag_sub(p->dag, image[i], q[i]);
  }
  R[p->coordinate] = pawl_dag_add(p->dag, p->phi, substitute(p, p->phi, image, NULL));
  return bundle_relation(p, R, err);
}

static PawlStatus build_normal_form(PawlMirror* p, PawlError* err) {
  PawlNode* q = PAWL_NEW(&p->arena, PawlNode, p->n);
  if (!q) {
    return pawl_fail_memory(err);
  }
  if (p->n > MOST_COORDINATES) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "the normal form of %d coordinates (at most %d; projection: map: can give P)",
                     p->n, (int)MOST_COORDINATES);
  }
  PAWL_TRY(choose_coordinate(p, err));
  PAWL_TRY(build_delta(p, err));
  PAWL_TRY(choose_k(p, err));
  other_coordinates(p, q);
  PAWL_TRY(relate_normal_form(p, q, err));
  solve_linear(p, q);
  return PAWL_OK;
}

// ---- all ----------------------------------------------------------------------------------------
static PawlStatus copy_map(PawlMirror* p, const PawlNode* from, PawlNode** to, PawlError* err) {
  *to = PAWL_NEW(&p->arena, PawlNode, p->n);
  if (!*to) {
    return pawl_fail_memory(err);
  }
  for (int i = 0; i < p->n; i++) {
    (*to)[i] = pawl_lagrangian_copy(p->model, p->dag, from[i]);
  }
  return PAWL_OK;
}

static PawlStatus build_onto(PawlMirror* p, PawlError* err) {
  PawlNode* map;
  if (!p->model->projection.constraints) {
    return p->rows == 0 ? PAWL_OK
                        : pawl_fail(err, PAWL_ERROR_USAGE,
                                    "constraints beside the contact '%.100s' without a projection "
                                    "onto them (projection: constraints:)",
                                    p->contact);
  }
  PAWL_TRY(copy_map(p, p->model->projection.constraints, &map, err));
  return bundle_with_gradients(p, p->n, map, &p->onto, err);
}

static PawlStatus build_contact(PawlMirror* p, PawlError* err) {
  const PawlContact* contact = &p->model->contacts[0];
  p->contact = contact->name;
  p->phi = pawl_lagrangian_copy(p->model, p->dag, contact->gap);
  PAWL_TRY(bundle_with_gradients(p, 1, &p->phi, &p->gap, err));
  PAWL_TRY(build_onto(p, err));
  if (!p->model->projection.map) {
    return build_normal_form(p, err);
  }
  PAWL_TRY(copy_map(p, p->model->projection.map, &p->explicit_map, err));
  return relate_map(p, err);
}

PawlStatus pawl_mirror_build(PawlMirror* p, PawlError* err) {
  p->L = pawl_lagrangian_node(p->model, p->dag);
  PAWL_TRY(pawl_lagrangian_create(p->dag, p->L, p->n, &p->lagrangian, err));
  PAWL_TRY(build_rows(p, err));
  return p->model->contact_count > 0 ? build_contact(p, err) : PAWL_OK;
}

// ---- the Lagrangian of z ------------------------------------------------------------------------
PawlStatus pawl_mirror_pull_back(PawlMirror* p, PawlLagrangian** out, PawlError* err) {
  *out = NULL;
  if (!p->explicit_map) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "crossing: uncut needs P as expressions: a gap that is linear in a "
                     "coordinate, or projection: map:");
  }
  PawlNode* rates = PAWL_NEW(&p->arena, PawlNode, p->n);
  if (!rates) {
    return pawl_fail_memory(err);
  }
  for (int i = 0; i < p->n; i++) {
    rates[i] = pawl_dag_total(p->dag, p->explicit_map[i]);
  }
  PawlNode L = substitute(p, p->L, p->explicit_map, rates);
  return pawl_lagrangian_create(p->dag, L, p->n, out, err);
}
