// SPDX-License-Identifier: Apache-2.0
// Equation labels refer to docs/theory/squares.md, (O..) to docs/theory/rotations.md.
#include "system/squares.h"

#include "base/alloc.h"
#include "base/error.h"
#include "expr/residues.h"
#include "model/model.h"

// ---- from T to its forms ------------------------------------------------------------------------
enum { NOT_TAKEN = 100, MOST_DEGREE = 2 };  // degrees in the rates

// The degree of an operation, at most, from those of its operands.
static int degree_of(const PawlDagNode* node, const int* of) {
  switch (node->op) {
    case PAWL_OP_CONST:
    case PAWL_OP_TIME:
    case PAWL_OP_Q:
    case PAWL_OP_QUAT:
      return 0;
    case PAWL_OP_V:
      return 1;
    case PAWL_OP_NEG:
      return of[0];
    case PAWL_OP_ADD:
    case PAWL_OP_SUB:
      return of[0] > of[1] ? of[0] : of[1];
    case PAWL_OP_MUL:
      return of[0] + of[1];
    case PAWL_OP_DIV:
      return of[1] == 0 ? of[0] : NOT_TAKEN;
    case PAWL_OP_POWI:
      return of[0] == 0 ? 0 : node->index == 2 ? 2 * of[0] : NOT_TAKEN;
    case PAWL_OP_SIN:
    case PAWL_OP_COS:
      return of[0] == 0 ? 0 : NOT_TAKEN;
    default:
      return NOT_TAKEN;
  }
}

// The degree of each node under T at its index; NULL when memory is short. `*fit`: T is quadratic.
static int* list_degrees(PawlDag* dag, PawlNode T, bool* fit) {
  const PawlNode* nodes;
  int count = pawl_dag_reach(dag, 1, &T, &nodes);
  int* degree = count < 0 ? NULL : pawl_alloc((size_t)pawl_dag_count(dag), sizeof(int));
  *fit = degree != NULL;
  for (int k = 0; degree && *fit && k < count; k++) {
    const PawlDagNode* node = pawl_dag_node(dag, nodes[k]);
    int of[3] = {0, 0, 0};
    for (int i = 0; i < pawl_op_operands(node->op); i++) {
      of[i] = degree[node->arg[i]];
    }
    degree[nodes[k]] = degree_of(node, of);
    *fit = degree[nodes[k]] <= MOST_DEGREE;
  }
  return degree;
}

typedef struct Walk {
  PawlSquares* out;
  PawlDag* dag;
  const int* degree;  // of the nodes of T
  int count, capacity;
  struct Part {
    PawlNode c, node;  // c times node
  } * parts;           // still to be taken
} Walk;

static int later(Walk* w, PawlNode c, PawlNode node) {
  if (c < 0 || PAWL_GROW(w->parts, w->capacity, w->count + 1) != 0) {
    return -1;
  }
  w->parts[w->count++] = (struct Part){c, node};
  return 1;
}

static int add_square(Walk* w, PawlNode c, PawlNode s, PawlNode r) {
  if (PAWL_GROW(w->out->terms, w->out->capacity, w->out->count + 1) != 0) {
    return -1;
  }
  w->out->terms[w->out->count++] = (PawlSquare){c, s, r};
  return 1;
}

// 1 when c times a part was taken or put off, 0 when it does not fit.
static int take_part(Walk* w, PawlNode c, PawlNode part) {
  PawlDag* dag = w->dag;
  const PawlDagNode node = *pawl_dag_node(dag, part);
  PawlNode a = node.arg[0], b = node.arg[1];
  if (w->degree[part] != 2) {
    return 0;
  }
  switch (node.op) {
    case PAWL_OP_NEG:
      return later(w, pawl_dag_neg(dag, c), a);
    case PAWL_OP_ADD:
      return later(w, c, b) < 0 ? -1 : later(w, c, a);
    case PAWL_OP_SUB:
      return later(w, pawl_dag_neg(dag, c), b) < 0 ? -1 : later(w, c, a);
    case PAWL_OP_MUL:
      return w->degree[a] == 1   ? add_square(w, c, a, b)
             : w->degree[a] == 0 ? later(w, pawl_dag_mul(dag, c, a), b)
                                 : later(w, pawl_dag_mul(dag, c, b), a);
    case PAWL_OP_DIV:
      return later(w, pawl_dag_div(dag, c, b), a);
    case PAWL_OP_POWI:
      return add_square(w, c, a, a);
    default:
      return 0;
  }
}

int pawl_squares_take(PawlSquares* squares, PawlDag* dag, PawlNode T) {
  bool fit;
  int before = squares->count;
  int* degree = list_degrees(dag, T, &fit);
  Walk w = {.out = squares, .dag = dag, .degree = degree};
  int taken = !degree ? -1 : !fit ? 0 : later(&w, pawl_dag_const(dag, 1.0), T);
  while (taken > 0 && w.count > 0) {
    struct Part part = w.parts[--w.count];
    taken = take_part(&w, part.c, part.node);
  }
  squares->count = taken > 0 ? squares->count : before;
  pawl_free(degree);
  pawl_free(w.parts);
  return taken;
}

void pawl_squares_free(PawlSquares* squares) {
  pawl_free(squares->terms);
  *squares = (PawlSquares){0};
}

// ---- deriving -----------------------------------------------------------------------------------
typedef struct Squares {
  PawlDag* dag;
  int count, n;  // terms, coordinates
  const PawlSquare* terms;
  const int* slots;
  const PawlSpins* spins;  // NULL: no rotations
  PawlArena arena;
  PawlNode* forms;    // 2 count: s of each term, then r of each
  PawlNode* J;        // of form k by the rate of coordinate i: [i * 2 count + k]
  bool* integrable;   // of each term: both forms are rates and c is a number
  PawlNode *p, *T_q;  // of the other terms: dT/dv_i, dT/dq_i
  PawlNode zero;
  PawlSink sink;
  void* context;
} Squares;

static PawlNode add_product(PawlDag* dag, PawlNode sum, PawlNode a, PawlNode b) {
  return pawl_dag_add(dag, sum, pawl_dag_mul(dag, a, b));
}

static int give(const Squares* d, PawlQuantity quantity, int i, int j, PawlNode node) {
  if (node == PAWL_NO_NODE) {
    return -1;
  }
  return node == d->zero ? 0 : d->sink(d->context, quantity, i, j, node);
}

// Directions: one rate or coordinate, of a rotation (O4); along the motion without and with the
// acceleration.
typedef struct One {
  PawlOp leaf;
  int index, component;  // 0 1 2 of an angular velocity, -1 for others
} One;

static int component(const Squares* d, int i) {
  const PawlSpins* s = d->spins;
  int slot = d->slots[i];
  return s ? pawl_model_spin(s->model, s->coordinates ? s->coordinates[slot * s->stride] : slot)
           : -1;
}

static PawlNode seed_one(void* context, PawlDag* dag, PawlOp leaf, int index) {
  const One* one = context;
  if (leaf == PAWL_OP_QUAT && one->leaf == PAWL_OP_Q && one->component >= 0 &&
      index / 4 == one->index - one->component) {
    return pawl_dag_spin_factor(dag, index / 4, index % 4, one->component);
  }
  return pawl_dag_const(dag, leaf == one->leaf && index == one->index ? 1.0 : 0.0);
}

static PawlNode seed_motion(void* context, PawlDag* dag, PawlOp leaf, int index) {
  const bool* accelerates = context;
  return leaf == PAWL_OP_TIME                ? pawl_dag_const(dag, 1.0)
         : leaf == PAWL_OP_Q                 ? pawl_dag_leaf(dag, PAWL_OP_V, index)
         : leaf == PAWL_OP_QUAT              ? pawl_dag_spin(dag, index)
         : leaf == PAWL_OP_V && *accelerates ? pawl_dag_leaf(dag, PAWL_OP_A, index)
                                             : pawl_dag_const(dag, 0.0);
}

static int by(const Squares* d, PawlOp leaf, int i, int count, const PawlNode* nodes,
              PawlNode* out) {
  One one = {leaf, d->slots[i], component(d, i)};
  return pawl_dag_tangents(d->dag, count, nodes, seed_one, &one, out) == PAWL_OK ? 0 : -1;
}

static int along_motion(const Squares* d, bool accelerates, int count, const PawlNode* nodes,
                        PawlNode* out) {
  return pawl_dag_tangents(d->dag, count, nodes, seed_motion, &accelerates, out) == PAWL_OK ? 0
                                                                                            : -1;
}

// (omega x p)_i where coordinate i belongs to a rotation, else 0; p_i is p[i * stride]. (O6)
static PawlNode gyroscopic(const Squares* d, const PawlNode* p, int stride, int i) {
  int at = component(d, i);
  if (at < 0) {
    return d->zero;
  }
  int j = i - at + (at + 1) % 3, k = i - at + (at + 2) % 3;
  PawlNode w[2] = {pawl_dag_leaf(d->dag, PAWL_OP_V, d->slots[j]),
                   pawl_dag_leaf(d->dag, PAWL_OP_V, d->slots[k])};
  return pawl_dag_sub(d->dag, pawl_dag_mul(d->dag, w[0], p[k * stride]),
                      pawl_dag_mul(d->dag, w[1], p[j * stride]));
}

// J_ki = ds_k/dv_i                                                                          (Q2)
static int list_forms(Squares* d) {
  int all = 2 * d->count;
  d->forms = PAWL_NEW(&d->arena, PawlNode, all);
  d->J = PAWL_NEW(&d->arena, PawlNode, (size_t)all * (size_t)d->n);
  if (!d->forms || !d->J) {
    return -1;
  }
  for (int k = 0; k < d->count; k++) {
    d->forms[k] = d->terms[k].s;
    d->forms[d->count + k] = d->terms[k].r;
  }
  int failed = 0;
  for (int i = 0; !failed && i < d->n; i++) {
    failed = by(d, PAWL_OP_V, i, all, d->forms, d->J + (size_t)i * (size_t)all);
  }
  return failed;
}

// ---- which forms are rates ----------------------------------------------------------------------
// Two sides of a form that are the same if it is a rate: ds/dq_i and J_i' + (omega x J)_i for every
// i. (Q5)
typedef struct Sides {
  PawlNode* nodes;   // ds_k/dq_i at [i * all + k], then J_ki' + (omega x J_k)_i
  uint64_t* values;  // modulo a prime
  int count;
} Sides;

static int list_sides(Squares* d, Sides* s) {
  int all = 2 * d->count, half = all * d->n;
  s->count = 2 * half;
  s->nodes = PAWL_NEW(&d->arena, PawlNode, s->count);
  s->values = PAWL_NEW(&d->arena, uint64_t, s->count);
  int failed = s->nodes && s->values ? 0 : -1;
  for (int i = 0; !failed && i < d->n; i++) {
    failed = by(d, PAWL_OP_Q, i, all, d->forms, s->nodes + i * all);
  }
  failed = failed ? failed : along_motion(d, false, half, d->J, s->nodes + half);
  for (int i = 0; !failed && i < half; i++) {
    PawlNode* side = &s->nodes[half + i];
    *side = pawl_dag_add(d->dag, *side, gyroscopic(d, d->J + i % all, all, i / all));
    failed = *side < 0 ? -1 : 0;
  }
  return failed;
}

static bool sides_agree(const Squares* d, const Sides* s, int k) {
  int all = 2 * d->count, half = all * d->n;
  bool agree = true;
  for (int i = 0; i < d->n; i++) {
    agree = agree && s->values[i * all + k] == s->values[half + i * all + k];
  }
  return agree;
}

// A form whose sides agree at every place is a rate.
static int find_rates(Squares* d, Sides* s, bool* rate) {
  enum { PLACES = 3 };
  for (int k = 0; k < 2 * d->count; k++) {
    rate[k] = true;
  }
  for (int place = 0; place < PLACES; place++) {
    bool known;
    if (pawl_residues(d->dag, s->count, s->nodes, place, s->values, &known) != 0) {
      return -1;
    }
    for (int k = 0; k < 2 * d->count; k++) {
      rate[k] = rate[k] && known && sides_agree(d, s, k);
    }
  }
  return 0;
}

static int sort_terms(Squares* d) {
  Sides sides = {0};
  bool* rate = PAWL_NEW(&d->arena, bool, 2 * d->count);
  d->integrable = PAWL_NEW(&d->arena, bool, d->count);
  if (!rate || !d->integrable || list_sides(d, &sides) != 0 || find_rates(d, &sides, rate) != 0) {
    return -1;
  }
  for (int k = 0; k < d->count; k++) {
    d->integrable[k] =
        pawl_dag_is_const(d->dag, d->terms[k].c, NULL) && rate[k] && rate[d->count + k];
  }
  return 0;
}

// ---- mass matrix --------------------------------------------------------------------------------
// Terms with the same gradients are one term with the sum of their factors.
static PawlNode factor_of_like(const Squares* d, int k, int i, int j, bool* first) {
  const PawlNode *Ji = d->J + (size_t)i * 2 * (size_t)d->count,
                 *Jj = d->J + (size_t)j * 2 * (size_t)d->count;
  int r = d->count;
  PawlNode c = d->zero;
  *first = true;
  for (int l = 0; l < d->count; l++) {
    if (Ji[l] == Ji[k] && Jj[l] == Jj[k] && Ji[l + r] == Ji[k + r] && Jj[l + r] == Jj[k + r]) {
      *first = *first && l >= k;
      c = pawl_dag_add(d->dag, c, d->terms[l].c);
    }
  }
  return c;
}

// M_ij = sum_k c_k (J_ki R_kj + R_ki J_kj)                                                  (Q3)
static PawlNode mass(const Squares* d, int i, int j) {
  PawlDag* dag = d->dag;
  const PawlNode *Ji = d->J + (size_t)i * 2 * (size_t)d->count,
                 *Jj = d->J + (size_t)j * 2 * (size_t)d->count;
  const PawlNode *Ri = Ji + d->count, *Rj = Jj + d->count;
  PawlNode M = d->zero;
  for (int k = 0; k < d->count; k++) {
    bool left = Ji[k] != d->zero && Rj[k] != d->zero, right = Ri[k] != d->zero && Jj[k] != d->zero,
         first = false;
    PawlNode c = left || right ? factor_of_like(d, k, i, j, &first) : d->zero;
    if (!first) {
      continue;
    }
    if (d->terms[k].s == d->terms[k].r) {  // 2 c J_i J_j
      M = add_product(dag, M, pawl_dag_mul(dag, pawl_dag_add(dag, c, c), Ji[k]), Jj[k]);
    } else {
      M = add_product(dag, M, pawl_dag_mul(dag, c, Ji[k]), Rj[k]);
      M = add_product(dag, M, pawl_dag_mul(dag, c, Ri[k]), Jj[k]);
    }
  }
  return M;
}

static int give_mass(const Squares* d) {
  for (int i = 0; i < d->n; i++) {
    for (int j = 0; j <= i; j++) {
      PawlNode M = mass(d, i, j);
      if (give(d, PAWL_Q_M, d->slots[i], d->slots[j], M) != 0 ||
          (i != j && give(d, PAWL_Q_M, d->slots[j], d->slots[i], M) != 0)) {
        return -1;
      }
    }
  }
  return 0;
}

// ---- what is left of Lagrange's equations -------------------------------------------------------
static void keep_adjoint(void* context, PawlOp leaf, int index, PawlNode derivative) {
  const Squares* d = context;
  for (int i = 0; i < d->n; i++) {
    int at = component(d, i);
    if (leaf == PAWL_OP_QUAT && at >= 0 && d->slots[i] - at == index / 4) {  // (O4)
      d->T_q[i] = add_product(d->dag, d->T_q[i],
                              pawl_dag_spin_factor(d->dag, index / 4, index % 4, at), derivative);
    }
    if (d->slots[i] == index && (leaf == PAWL_OP_V || leaf == PAWL_OP_Q)) {
      (leaf == PAWL_OP_V ? d->p : d->T_q)[i] = derivative;
    }
  }
}

// dT/dv_i and dT/dq_i of the terms that are not integrable, all at once backward.           (Q6)
static int list_momenta(Squares* d) {
  PawlNode* T = PAWL_NEW(&d->arena, PawlNode, d->count);
  d->p = PAWL_NEW(&d->arena, PawlNode, d->n);
  d->T_q = PAWL_NEW(&d->arena, PawlNode, d->n);
  if (!T || !d->p || !d->T_q) {
    return -1;
  }
  int count = 0;
  for (int k = 0; k < d->count; k++) {
    const PawlSquare* term = &d->terms[k];
    if (!d->integrable[k]) {
      PawlNode product = term->s == term->r ? pawl_dag_powi(d->dag, term->s, 2)
                                            : pawl_dag_mul(d->dag, term->s, term->r);
      T[count++] = pawl_dag_mul(d->dag, term->c, product);
    }
  }
  for (int i = 0; i < d->n; i++) {
    d->p[i] = d->T_q[i] = d->zero;
  }
  return count == 0 || pawl_dag_adjoints(d->dag, count, T, keep_adjoint, d) == PAWL_OK ? 0 : -1;
}

// The factor of form k: c of its term, twice that in a square, where s stands for both forms; zero
// for forms that do not count here.
static PawlNode weight(const Squares* d, int k) {
  const PawlSquare* term = &d->terms[k % d->count];
  bool square = term->s == term->r;
  return !d->integrable[k % d->count] || (square && k >= d->count) ? d->zero
         : square ? pawl_dag_add(d->dag, term->c, term->c)
                  : term->c;
}

// sum_k h_k J_ki of the integrable terms, h_k = c_k r_k', and the same with s and r exchanged.
// Forms with the same J_ki are summed before they are multiplied, the last first: links of a chain
// then share these sums. (Q4)
static PawlNode push(const Squares* d, const PawlNode* rate, int i) {
  int all = 2 * d->count;
  const PawlNode* J = d->J + (size_t)i * (size_t)all;
  PawlNode sum = d->zero;
  for (int k = all - 1; k >= 0; k--) {
    bool met = J[k] == d->zero || weight(d, k) == d->zero;
    for (int l = k + 1; !met && l < all; l++) {
      met = J[l] == J[k] && weight(d, l) != d->zero;
    }
    PawlNode h = d->zero;
    for (int l = k; !met && l >= 0; l--) {
      int other = l < d->count ? l + d->count : l - d->count;
      h = J[l] == J[k] ? add_product(d->dag, h, weight(d, l), rate[other]) : h;
    }
    sum = met ? sum : add_product(d->dag, sum, h, J[k]);
  }
  return sum;
}

// r_i = (dT/dv_i)' - dT/dq_i + (omega x dT/dv)_i, at a = 0 or with a.             (Q4) (Q6) (O6)
static int list_residuals(const Squares* d, bool accelerates, PawlNode* room, PawlNode* r) {
  PawlNode *rate = room, *p_rate = room + 2 * d->count;
  if (along_motion(d, accelerates, 2 * d->count, d->forms, rate) != 0 ||
      along_motion(d, accelerates, d->n, d->p, p_rate) != 0) {
    return -1;
  }
  for (int i = 0; i < d->n; i++) {
    PawlNode left = pawl_dag_add(d->dag, p_rate[i], gyroscopic(d, d->p, 1, i));
    r[i] = pawl_dag_add(d->dag, push(d, rate, i), pawl_dag_sub(d->dag, left, d->T_q[i]));
    if (r[i] < 0) {
      return -1;
    }
  }
  return 0;
}

// K = dr/dq and C = dr/dv                                                                   (Q7)
static int give_tangents(const Squares* d, const PawlNode* r, PawlNode* column) {
  for (int j = 0; j < d->n; j++) {
    for (int which = 0; which < 2; which++) {
      if (by(d, which == 0 ? PAWL_OP_Q : PAWL_OP_V, j, d->n, r, column) != 0) {
        return -1;
      }
      for (int i = 0; i < d->n; i++) {
        if (give(d, which == 0 ? PAWL_Q_K : PAWL_Q_C, d->slots[i], d->slots[j], column[i]) != 0) {
          return -1;
        }
      }
    }
  }
  return 0;
}

static int derive(Squares* d) {
  if (d->zero < 0 || list_forms(d) != 0 || sort_terms(d) != 0 || list_momenta(d) != 0 ||
      give_mass(d) != 0) {
    return -1;
  }
  PawlNode* room = PAWL_NEW(&d->arena, PawlNode, 2 * d->count + 2 * d->n);
  if (!room || list_residuals(d, false, room, room + 2 * d->count + d->n) != 0) {
    return -1;
  }
  PawlNode* r = room + 2 * d->count + d->n;
  for (int i = 0; i < d->n; i++) {
    if (give(d, PAWL_Q_F, d->slots[i], 0, pawl_dag_neg(d->dag, r[i])) != 0) {
      return -1;
    }
  }
  return list_residuals(d, true, room, r) != 0 ? -1 : give_tangents(d, r, room);
}

PawlStatus pawl_squares_derive(const PawlSquares* squares, PawlDag* dag, const PawlSpins* spins,
                               int count, const int* coordinates, PawlSink sink, void* context) {
  Squares d = {.dag = dag,
               .count = squares->count,
               .n = count,
               .terms = squares->terms,
               .slots = coordinates,
               .spins = spins,
               .zero = pawl_dag_const(dag, 0.0),
               .sink = sink,
               .context = context};
  int failed = derive(&d);
  pawl_arena_free(&d.arena);
  return failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}
