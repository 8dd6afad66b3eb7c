// SPDX-License-Identifier: Apache-2.0
// From an energy, force or constraint to its part of the equations of motion. Equation labels refer
// to docs/theory/equations.md, (O..) to docs/theory/rotations.md.
#include "model/model.h"
#include "system/system.h"

typedef struct Derivation {
  PawlDag* dag;
  const PawlItem* item;
  const PawlSpins* spins;
  int n;             // coordinates that occur
  const int* slots;  // which
  PawlSink sink;
  void* context;
  bool states;  // some state occurs
} Derivation;

static PawlNode zero(PawlDag* dag) {
  return pawl_dag_const(dag, 0.0);
}

// d/dt along the motion with the acceleration left out: t' = 1, q' = v, v' = 0.
static PawlNode tangent_without_acceleration(void* context, PawlDag* dag, PawlOp leaf, int index) {
  (void)context;
  switch ((PawlLeaf)leaf) {
    case PAWL_LEAF_TIME:
      return pawl_dag_const(dag, 1.0);
    case PAWL_LEAF_Q:
      return pawl_dag_leaf(dag, PAWL_OP_V, index);
    case PAWL_LEAF_QUAT:
      return pawl_dag_spin(dag, index);
    case PAWL_LEAF_CONST:
    case PAWL_LEAF_PARAM:
    case PAWL_LEAF_V:
    case PAWL_LEAF_A:
    case PAWL_LEAF_LAMBDA:
    case PAWL_LEAF_STATE:
    case PAWL_LEAF_INPUT:
    case PAWL_LEAF_TURN:
      break;
  }
  return zero(dag);
}

static PawlNode along_motion(PawlDag* dag, PawlNode node) {
  return pawl_dag_tangent(dag, node, tangent_without_acceleration, NULL);
}

static PawlNode leaf_at_rest(void* context, PawlDag* dag, PawlOp leaf, int index) {
  (void)context;
  return leaf == PAWL_OP_V ? zero(dag) : pawl_dag_leaf(dag, leaf, index);
}

// 0 1 2 of an angular velocity, -1 for others.
static int component(const Derivation* d, int slot) {
  const PawlSpins* s = d->spins;
  if (!s) {
    return -1;
  }
  return pawl_model_spin(s->model, s->coordinates ? s->coordinates[slot * s->stride] : slot);
}

static PawlNode by_q(const Derivation* d, PawlNode node, int k) {
  return pawl_dag_vary(d->dag, node, d->slots[k], component(d, d->slots[k]));  // (O4)
}

static PawlNode by_v(const Derivation* d, PawlNode node, int k) {
  return pawl_dag_partial(d->dag, node, PAWL_OP_V, d->slots[k]);
}

static PawlNode by_state(const Derivation* d, PawlNode node, int k) {
  return pawl_dag_partial(d->dag, node, PAWL_OP_STATE, d->slots[k]);
}

static int is_state(void* context, PawlOp leaf, int index) {
  (void)context;
  (void)index;
  return leaf == PAWL_OP_STATE;
}

static int give(const Derivation* d, PawlQuantity quantity, int i, int j, PawlNode node) {
  if (node == PAWL_NO_NODE) {
    return -1;
  }
  double value;
  if (pawl_dag_is_const(d->dag, node, &value) && value == 0.0) {
    return 0;
  }
  return d->sink(d->context, quantity, i, j, node);
}

// Rows i of K and C from the residual r_i = (M a - f)_i. A state is a rate, so its derivatives go
// to C.                                                                              (E4) (E5) (Z2)
static int give_tangents(const Derivation* d, int i, PawlNode r) {
  for (int j = 0; j < d->n; j++) {
    if (d->states && give(d, PAWL_Q_C, d->slots[i], d->slots[j], by_state(d, r, j)) != 0) {
      return -1;
    }
    if (give(d, PAWL_Q_K, d->slots[i], d->slots[j], by_q(d, r, j)) != 0 ||
        give(d, PAWL_Q_C, d->slots[i], d->slots[j], by_v(d, r, j)) != 0) {
      return -1;
    }
  }
  return 0;
}

// (omega x p)_i of the rotation that slot k belongs to; 0 for other slots.                   (O6)
static PawlNode gyroscopic(const Derivation* d, PawlNode T, int k) {
  PawlDag* dag = d->dag;
  int i = component(d, d->slots[k]), first = d->slots[k] - i;
  if (i < 0) {
    return zero(dag);
  }
  PawlNode product[2];
  for (int s = 0; s < 2; s++) {
    int a = first + (i + 1 + s) % 3, b = first + (i + 2 - s) % 3;
    PawlNode p = pawl_dag_partial(dag, T, PAWL_OP_V, b);
    product[s] = pawl_dag_mul(dag, pawl_dag_leaf(dag, PAWL_OP_V, a), p);
  }
  return pawl_dag_sub(dag, product[0], product[1]);
}

// Lagrange: with p_i = dT/dv_i,
//   M_ij = dp_i/dv_j,   f_i = dT/dq_i - (p_i' at v' = 0),   r_i = sum_j M_ij a_j - f_i   (E1)-(E3)
// and for rotations f_i - (omega x p)_i                                                       (O6)
static int derive_kinetic(const Derivation* d) {
  PawlDag* dag = d->dag;
  PawlNode T = d->item->nodes[0];
  if (give(d, PAWL_Q_ENERGY, 0, 0, T) != 0) {
    return -1;
  }
  for (int i = 0; i < d->n; i++) {
    PawlNode p = by_v(d, T, i);
    PawlNode f = pawl_dag_sub(dag, by_q(d, T, i), along_motion(dag, p));
    f = pawl_dag_sub(dag, f, gyroscopic(d, T, i));
    PawlNode r = pawl_dag_neg(dag, f);
    for (int j = 0; j < d->n; j++) {
      PawlNode M = by_v(d, p, j);
      if (give(d, PAWL_Q_M, d->slots[i], d->slots[j], M) != 0) {
        return -1;
      }
      PawlNode a = pawl_dag_leaf(dag, PAWL_OP_A, d->slots[j]);
      r = pawl_dag_add(dag, r, pawl_dag_mul(dag, M, a));
    }
    if (give(d, PAWL_Q_F, d->slots[i], 0, f) != 0 || give_tangents(d, i, r) != 0) {
      return -1;
    }
  }
  return 0;
}

// f_i = -dV/dq_i                                                                            (E6)
static int derive_potential(const Derivation* d) {
  PawlNode V = d->item->nodes[0];
  if (give(d, PAWL_Q_ENERGY, 1, 0, V) != 0) {
    return -1;
  }
  for (int i = 0; i < d->n; i++) {
    PawlNode r = by_q(d, V, i);
    if (give(d, PAWL_Q_F, d->slots[i], 0, pawl_dag_neg(d->dag, r)) != 0 ||
        give_tangents(d, i, r) != 0) {
      return -1;
    }
  }
  return 0;
}

// f_i = -dD/dv_i                                                                            (E7)
static int derive_dissipation(const Derivation* d) {
  for (int i = 0; i < d->n; i++) {
    PawlNode r = by_v(d, d->item->nodes[0], i);
    if (give(d, PAWL_Q_F, d->slots[i], 0, pawl_dag_neg(d->dag, r)) != 0 ||
        give_tangents(d, i, r) != 0) {
      return -1;
    }
  }
  return 0;
}

static int derive_force(const Derivation* d) {
  PawlNode f = d->item->nodes[0];
  int i = 0;
  while (i < d->n && d->slots[i] != d->item->target) {
    i++;
  }
  if (give(d, PAWL_Q_F, d->item->target, 0, f) != 0) {
    return -1;
  }
  return give_tangents(d, i, pawl_dag_neg(d->dag, f));
}

// One row: g, G = dg/dq, g_t = dg/dt, gamma = (G v + g_t)' at v' = 0.                  (E8)-(E10)
static int derive_row(const Derivation* d, int row, PawlNode g) {
  PawlDag* dag = d->dag;
  PawlNode rate = along_motion(dag, g);
  if (give(d, PAWL_Q_G, row, 0, g) != 0 ||
      give(d, PAWL_Q_GT, row, 0, pawl_dag_partial(dag, g, PAWL_OP_TIME, 0)) != 0 ||
      give(d, PAWL_Q_GAMMA, row, 0, along_motion(dag, rate)) != 0) {
    return -1;
  }
  PawlNode acceleration = pawl_dag_total(dag, pawl_dag_total(dag, g));
  for (int j = 0; j < d->n; j++) {
    PawlNode G = by_q(d, g, j), G_rate = by_q(d, rate, j);
    if (give(d, PAWL_Q_GRAD, row, d->slots[j], G) != 0 ||
        give(d, PAWL_Q_GRATE, row, d->slots[j], G_rate) != 0 ||
        give(d, PAWL_Q_GACC, row, d->slots[j], by_q(d, acceleration, j)) != 0) {
      return -1;
    }
    bool turns = component(d, d->slots[j]) >= 0;
    if (turns && give(d, PAWL_Q_GTURN, row, d->slots[j],
                      pawl_dag_sub(dag, along_motion(dag, G), G_rate)) != 0) {  // (O8)
      return -1;
    }
  }
  return 0;
}

// The rows' part of K: -d(G^T lambda)/dq, all rows in one sum.                             (E11)
static int derive_constraint(const Derivation* d) {
  PawlDag* dag = d->dag;
  const PawlItem* item = d->item;
  PawlNode power = zero(dag);  // lambda . g
  for (int k = 0; k < item->count; k++) {
    if (derive_row(d, item->target + k, item->nodes[k]) != 0) {
      return -1;
    }
    PawlNode lambda = pawl_dag_leaf(dag, PAWL_OP_LAMBDA, item->target + k);
    power = pawl_dag_add(dag, power, pawl_dag_mul(dag, lambda, item->nodes[k]));
  }
  for (int i = 0; i < d->n; i++) {
    PawlNode force = by_q(d, power, i);
    for (int j = 0; j < d->n; j++) {
      PawlNode K = pawl_dag_neg(dag, by_q(d, force, j));
      if (give(d, PAWL_Q_K, d->slots[i], d->slots[j], K) != 0) {
        return -1;
      }
    }
  }
  return 0;
}

// One row of a rate equation w = A v + b, which has no position level:                 (W2)-(W6)
//   G = A = dw/dv,   g_t = b = w at v = 0,   gamma = w' at v' = 0,
// and what differs from a row that has one: d(gamma)/dv = 2 w_q + (A' - w_q).
static int derive_rate_row(const Derivation* d, int row, PawlNode w) {
  PawlDag* dag = d->dag;
  PawlNode acceleration = pawl_dag_total(dag, w);
  PawlNode b = pawl_dag_copy(dag, dag, w, leaf_at_rest, NULL);
  if (give(d, PAWL_Q_GT, row, 0, b) != 0 ||
      give(d, PAWL_Q_GAMMA, row, 0, along_motion(dag, w)) != 0) {
    return -1;
  }
  for (int j = 0; j < d->n; j++) {
    PawlNode A = by_v(d, w, j), w_q = by_q(d, w, j);
    PawlNode turn = pawl_dag_sub(dag, along_motion(dag, A), w_q);  // (W5)
    if (give(d, PAWL_Q_GRAD, row, d->slots[j], A) != 0 ||
        give(d, PAWL_Q_GRATE, row, d->slots[j], w_q) != 0 ||
        give(d, PAWL_Q_GACC, row, d->slots[j], by_q(d, acceleration, j)) != 0 ||
        give(d, PAWL_Q_GTURN, row, d->slots[j], turn) != 0) {
      return -1;
    }
  }
  return 0;
}

// With -d(A^T lambda)/dq, which is not symmetric.                                           (W6)
static int derive_rate(const Derivation* d) {
  PawlDag* dag = d->dag;
  const PawlItem* item = d->item;
  PawlNode power = zero(dag);  // lambda . w
  for (int k = 0; k < item->count; k++) {
    if (derive_rate_row(d, item->target + k, item->nodes[k]) != 0) {
      return -1;
    }
    PawlNode lambda = pawl_dag_leaf(dag, PAWL_OP_LAMBDA, item->target + k);
    power = pawl_dag_add(dag, power, pawl_dag_mul(dag, lambda, item->nodes[k]));
  }
  for (int i = 0; i < d->n; i++) {
    PawlNode force = by_v(d, power, i);
    for (int j = 0; j < d->n; j++) {
      PawlNode K = pawl_dag_neg(dag, by_q(d, force, j));
      if (give(d, PAWL_Q_K, d->slots[i], d->slots[j], K) != 0) {
        return -1;
      }
    }
  }
  return 0;
}

static int derive_guard(const Derivation* d) {
  PawlNode z = d->item->nodes[0];
  return give(d, PAWL_Q_Z, d->item->target, 0, z) != 0
             ? -1
             : give(d, PAWL_Q_ZRATE, d->item->target, 0, along_motion(d->dag, z));
}

// d/dt with the acceleration: t' = 1, q' = v, v' = a; accelerations and multipliers stand still.
static PawlNode tangent_of_motion(void* context, PawlDag* dag, PawlOp leaf, int index) {
  return leaf == PAWL_OP_V || leaf == PAWL_OP_STATE
             ? pawl_dag_leaf(dag, PAWL_OP_A, index)
             : tangent_without_acceleration(context, dag, leaf, index);
}

// c and c' = c_q v + c_v a + c_t                                                            (E12)
static int derive_condition(const Derivation* d) {
  PawlNode c = d->item->nodes[0];
  PawlNode rate = pawl_dag_tangent(d->dag, c, tangent_of_motion, NULL);
  return give(d, PAWL_Q_WATCH, d->item->target, 0, c) != 0
             ? -1
             : give(d, PAWL_Q_WATCHRATE, d->item->target, 0, rate);
}

PawlStatus pawl_derive_item(PawlDag* dag, const PawlItem* item, const PawlSpins* spins,
                            int coordinate_count, const int* coordinates, PawlSink sink,
                            void* context) {
  Derivation d = {dag, item, spins, coordinate_count, coordinates, sink, context, false};
  int failed = 0;
  for (int k = 0; k < item->count && !d.states; k++) {
    int found = pawl_dag_leaves(dag, item->nodes[k], is_state, NULL);
    failed |= found < 0;
    d.states = found > 0;
  }
  if (failed) {
    return PAWL_ERROR_MEMORY;
  }
  switch (item->kind) {
    case PAWL_ITEM_KINETIC:
      failed = derive_kinetic(&d);
      break;
    case PAWL_ITEM_POTENTIAL:
      failed = derive_potential(&d);
      break;
    case PAWL_ITEM_DISSIPATION:
      failed = derive_dissipation(&d);
      break;
    case PAWL_ITEM_FORCE:
    case PAWL_ITEM_FRICTION:
    case PAWL_ITEM_STATE:
      failed = derive_force(&d);
      break;
    case PAWL_ITEM_UNIT:
      failed = give(&d, PAWL_Q_M, item->target, item->target, item->nodes[0]);
      break;
    case PAWL_ITEM_CONSTRAINT:
      failed = derive_constraint(&d);
      break;
    case PAWL_ITEM_RATE:
    case PAWL_ITEM_SLIP:
      failed = derive_rate(&d);
      break;
    case PAWL_ITEM_GUARD:
      failed = derive_guard(&d);
      break;
    case PAWL_ITEM_KINK:
      failed = give(&d, PAWL_Q_Z, item->target, 0, item->nodes[0]);
      break;
    case PAWL_ITEM_CONDITION:
      failed = derive_condition(&d);
      break;
    case PAWL_ITEM_WATCH:
      failed = give(&d, PAWL_Q_WATCH, item->target, 0, item->nodes[0]);
      break;
    case PAWL_ITEM_OUTPUT:
      failed = give(&d, PAWL_Q_OUTPUT, item->target, 0, item->nodes[0]);
      break;
  }
  return failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}

PawlNode pawl_derive_sliding(PawlDag* dag, const PawlModel* model, bool rate, PawlNode g,
                             PawlNode F, int j) {
  PawlNode along = rate ? pawl_dag_partial(dag, g, PAWL_OP_V, j)
                        : pawl_dag_vary(dag, g, j, pawl_model_spin(model, j));
  return pawl_dag_mul(dag, F, along);
}
