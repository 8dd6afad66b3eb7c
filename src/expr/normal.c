// SPDX-License-Identifier: Apache-2.0
// The normal form of nodes: one loop over what they need, operands first, turns each node into a
// polynomial (normal_poly.h); the polynomials of the roots are written back as nodes
// (normal_build.c). Operations that are no arithmetic become atoms over their normalised operands.
//
// Writing an atom may simplify it to something that can be taken apart after all, so the loop is
// repeated until nothing changes. That is what makes the result a fixed point.
#include "expr/normal.h"

#include "base/alloc.h"
#include "expr/dag_store.h"
#include "expr/normal_poly.h"

enum { MOST_ROUNDS = 6 };

typedef struct Place {  // a node that the roots need
  PawlNode node;
  int arg[3];  // places of the operands, -1 where there are fewer
  int uses;    // operands and roots that still want the polynomial
  bool known;  // false: not reached yet, or a limit was passed
  PawlPoly poly;
  PawlNode built;  // the polynomial as a node, PAWL_NO_NODE before it is asked for
} Place;

typedef struct Pass {
  PawlNormal n;
  int count;
  Place* place;
  int* root;  // place of each root
} Pass;

// ---- what the roots need --------------------------------------------------------------------
static int list_places(Pass* p, PawlDag* dag, int root_count, const PawlNode* roots) {
  const PawlNode* reached;
  int count = pawl_dag_reach(dag, root_count, roots, &reached);
  if (count < 0) {
    return -1;
  }
  p->place = pawl_alloc((size_t)count, sizeof *p->place);
  p->root = pawl_alloc((size_t)root_count, sizeof *p->root);
  if (!p->place || !p->root) {
    return -1;
  }
  p->count = count;
  for (int i = 0; i < count; i++) {
    Place* place = &p->place[i];
    dag->mark[reached[i]].position = i;
    place->node = reached[i];
    place->built = PAWL_NO_NODE;
    for (int k = 0; k < 3; k++) {
      PawlNode operand = dag->node[reached[i]].arg[k];
      place->arg[k] = operand >= 0 ? dag->mark[operand].position : -1;
      if (operand >= 0) {
        p->place[place->arg[k]].uses++;
      }
    }
  }
  for (int i = 0; i < root_count; i++) {
    p->root[i] = dag->mark[roots[i]].position;
    p->place[p->root[i]].uses++;
  }
  return 0;
}

static void free_pass(Pass* p) {
  for (int i = 0; i < p->count; i++) {
    pawl_poly_free(&p->place[i].poly);
  }
  pawl_free(p->place);
  pawl_free(p->root);
  pawl_normal_free(&p->n);
}

static PawlNode built(Pass* p, int place) {
  Place* at = &p->place[place];
  if (at->built == PAWL_NO_NODE) {
    at->built = pawl_poly_build(&p->n, &at->poly);
  }
  return at->built;
}

// ---- one node -------------------------------------------------------------------------------
// A node that is not taken apart, to a power.
static int as_atom(Pass* p, PawlNode node, int power, PawlPoly* out) {
  double value;
  if (node < 0) {
    p->n.no_memory = true;
    return -1;
  }
  if (power == 1 && pawl_dag_is_const(p->n.dag, node, &value) && isfinite(value)) {
    return pawl_poly_number(&p->n, value, out);
  }
  return pawl_poly_atom(&p->n, node, power, out);
}

static int take_function(Pass* p, const Place* at, PawlPoly* out) {
  PawlDagNode node = p->n.dag->node[at->node];  // by value: nodes move when the graph grows
  PawlNode operand[3] = {PAWL_NO_NODE, PAWL_NO_NODE, PAWL_NO_NODE};
  for (int k = 0; k < 3 && at->arg[k] >= 0; k++) {
    operand[k] = built(p, at->arg[k]);
  }
  return as_atom(p, pawl_dag_rebuild(p->n.dag, &node, operand), 1, out);
}

static int take_quotient(Pass* p, const Place* at, PawlPoly* out) {
  const PawlPoly *a = &p->place[at->arg[0]].poly, *b = &p->place[at->arg[1]].poly;
  if (b->count == 0) {  // a division by 0 stays to be seen
    return take_function(p, at, out);
  }
  if (pawl_poly_inverts(&p->n, b)) {
    return pawl_poly_over(&p->n, a, b, out);
  }
  PawlPoly inverse;
  if (as_atom(p, built(p, at->arg[1]), -1, &inverse) != 0) {
    return -1;
  }
  int failed = pawl_poly_mul(&p->n, a, &inverse, out);
  pawl_poly_free(&inverse);
  return failed;
}

static int take_power(Pass* p, const Place* at, PawlPoly* out) {
  const PawlPoly* a = &p->place[at->arg[0]].poly;
  int exponent = p->n.dag->node[at->node].index;
  bool product = a->count == 1 && a->term[0].trig == 0;
  long long size = exponent < 0 ? -(long long)exponent : exponent;
  long long degree = product ? pawl_monomial_degree(&p->n, a->term[0].monomial) * size : 0;
  if (degree <= PAWL_NORMAL_DEGREE &&
      (exponent < 0 ? pawl_poly_inverts(&p->n, a) : product || size <= PAWL_NORMAL_POWER)) {
    return pawl_poly_power(&p->n, a, exponent, out);
  }
  if (exponent < 0 && size <= PAWL_NORMAL_DEGREE && a->count > 0) {
    return as_atom(p, built(p, at->arg[0]), exponent, out);
  }
  return as_atom(p, pawl_dag_powi(p->n.dag, built(p, at->arg[0]), exponent), 1, out);
}

static int take_sine(Pass* p, const Place* at, bool sine, PawlPoly* out) {
  PawlAngle turn;
  int fit = pawl_angle_of(&p->n, &p->place[at->arg[0]].poly, &turn);
  if (fit < 0) {
    return -1;
  }
  return fit ? pawl_poly_trig(&p->n, turn, sine, out) : take_function(p, at, out);
}

static int take(Pass* p, const Place* at, PawlPoly* out) {
  static const PawlPoly zero = {0};
  const PawlDagNode node = p->n.dag->node[at->node];  // by value: nodes move when the graph grows
  if (pawl_op_is_leaf(node.op)) {
    return as_atom(p, at->node, 1, out);
  }
  if (node.op == PAWL_OP_SIN || node.op == PAWL_OP_COS) {
    return take_sine(p, at, node.op == PAWL_OP_SIN, out);
  }
  const PawlPoly* a = &p->place[at->arg[0]].poly;
  const PawlPoly* b = at->arg[1] >= 0 ? &p->place[at->arg[1]].poly : &zero;
  switch (node.op) {
    case PAWL_OP_NEG:
      return pawl_poly_add(&p->n, &zero, a, -1.0, out);
    case PAWL_OP_ADD:
      return pawl_poly_add(&p->n, a, b, 1.0, out);
    case PAWL_OP_SUB:
      return pawl_poly_add(&p->n, a, b, -1.0, out);
    case PAWL_OP_MUL:
      return pawl_poly_mul(&p->n, a, b, out);
    case PAWL_OP_DIV:
      return take_quotient(p, at, out);
    case PAWL_OP_POWI:
      return take_power(p, at, out);
    case PAWL_OP_POW:
    case PAWL_OP_TABLE:
    case PAWL_OP_TABLE2:
    case PAWL_OP_LT:
    case PAWL_OP_LE:
    case PAWL_OP_EQ:
    case PAWL_OP_NE:
    case PAWL_OP_AND:
    case PAWL_OP_OR:
    case PAWL_OP_NOT:
    case PAWL_OP_IF:
#define PAWL_FUNCTION(name, ...) case PAWL_OP_##name:
#define PAWL_LEAF(name, ...) case PAWL_OP_##name:
#include "expr/op.def"
    case PAWL_OP_COUNT:
      break;
  }
  return take_function(p, at, out);
}

// ---- the loop -------------------------------------------------------------------------------
static void release(Pass* p, int place) {
  if (--p->place[place].uses == 0) {
    pawl_poly_free(&p->place[place].poly);
  }
}

static int take_all(Pass* p) {
  for (int i = 0; i < p->count; i++) {
    Place* at = &p->place[i];
    bool ready = true;
    for (int k = 0; k < 3 && at->arg[k] >= 0; k++) {
      ready = ready && p->place[at->arg[k]].known;
    }
    at->known = ready && take(p, at, &at->poly) == 0;
    if (p->n.no_memory) {
      return -1;
    }
    for (int k = 0; k < 3 && at->arg[k] >= 0; k++) {
      release(p, at->arg[k]);
    }
  }
  return 0;
}

// One round: out[i] is the form of nodes[i], or nodes[i] where a limit was passed.
static int one_round(PawlDag* dag, int count, const PawlNode* nodes, PawlNode* out) {
  Pass p = {0};
  bool good = pawl_normal_start(&p.n, dag) == 0 && list_places(&p, dag, count, nodes) == 0 &&
              take_all(&p) == 0;
  for (int i = 0; i < count && good; i++) {
    out[i] = p.place[p.root[i]].known ? built(&p, p.root[i]) : nodes[i];
    good = out[i] >= 0;
  }
  free_pass(&p);
  return good ? 0 : -1;
}

PawlStatus pawl_dag_normal_all(PawlDag* dag, int count, const PawlNode* nodes, PawlNode* out) {
  PawlNode* last = pawl_alloc((size_t)count, sizeof *last);
  bool* settled = pawl_alloc((size_t)count, sizeof *settled);
  bool good = last && settled, all_settled = false;
  for (int i = 0; i < count && good; i++) {
    last[i] = nodes[i];
  }
  for (int round = 0; round < MOST_ROUNDS && good && !all_settled; round++) {
    good = one_round(dag, count, last, out) == 0;
    all_settled = true;
    for (int i = 0; i < count && good; i++) {
      settled[i] = out[i] == last[i];
      all_settled = all_settled && settled[i];
      last[i] = out[i];
    }
  }
  for (int i = 0; i < count && good; i++) {
    out[i] = settled[i] ? out[i] : nodes[i];
  }
  pawl_free(last);
  pawl_free(settled);
  return good ? PAWL_OK : PAWL_ERROR_MEMORY;
}

PawlNode pawl_dag_normal(PawlDag* dag, PawlNode node) {
  PawlNode normal = PAWL_NO_NODE;
  return pawl_dag_normal_all(dag, 1, &node, &normal) == PAWL_OK ? normal : PAWL_NO_NODE;
}
