// SPDX-License-Identifier: Apache-2.0
#include "system/reach.h"

#include <math.h>
#include <string.h>

// What is known of a node while a PawlReach is made: the most by which its value changes with each
// coordinate and with time.                                                                 (V40)
typedef struct Slopes {
  bool bounded;
  double of[PAWL_REACH_PLACES], of_time;
} Slopes;

static Slopes scaled(Slopes a, double factor) {
  for (int j = 0; j < PAWL_REACH_PLACES; j++) {
    a.of[j] *= factor;
  }
  a.of_time *= factor;
  a.bounded &= isfinite(factor);
  return a;
}

static Slopes sum(Slopes a, Slopes b) {
  for (int j = 0; j < PAWL_REACH_PLACES; j++) {
    a.of[j] += b.of[j];
  }
  a.of_time += b.of_time;
  a.bounded &= b.bounded;
  return a;
}

static Slopes larger(Slopes a, Slopes b) {
  for (int j = 0; j < PAWL_REACH_PLACES; j++) {
    a.of[j] = fmax(a.of[j], b.of[j]);
  }
  a.of_time = fmax(a.of_time, b.of_time);
  a.bounded &= b.bounded;
  return a;
}

static bool is_number(const PawlReach* r, int k) {
  return r->nodes[k].op == PAWL_OP_CONST;
}

// The place of a coordinate among those of surfaces; -1: there are too many.
static int place_of(PawlReach* r, int coordinate) {
  for (int j = 0; j < r->count; j++) {
    if (r->place[j] == coordinate) {
      return j;
    }
  }
  if (r->count == PAWL_REACH_PLACES) {
    return -1;
  }
  r->place[r->count] = coordinate;
  return r->count++;
}

static Slopes slopes_of(PawlReach* r, int k, const Slopes* all) {
  const PawlReachNode* n = &r->nodes[k];
  Slopes none = {0}, number = {.bounded = true};
  int a = n->arg[0], b = n->arg[1];
  switch ((int)n->op) {
    case PAWL_OP_CONST:
      return number;
    case PAWL_OP_TIME:
      number.of_time = 1.0;
      return number;
    case PAWL_OP_Q: {
      int j = place_of(r, n->index);
      if (j >= 0) {
        number.of[j] = 1.0;
      }
      return j >= 0 ? number : none;
    }
    case PAWL_OP_NEG:
    case PAWL_OP_ABS:
    case PAWL_OP_SIN:
    case PAWL_OP_COS:
    case PAWL_OP_ATAN:
    case PAWL_OP_TANH:
      return all[a];
    case PAWL_OP_ADD:
    case PAWL_OP_SUB:
      return sum(all[a], all[b]);
    case PAWL_OP_MIN:
    case PAWL_OP_MAX:
      return larger(all[a], all[b]);
    case PAWL_OP_MUL:
      return is_number(r, a)   ? scaled(all[b], fabs(r->nodes[a].number))
             : is_number(r, b) ? scaled(all[a], fabs(r->nodes[b].number))
                               : none;
    case PAWL_OP_DIV:
      return is_number(r, b) ? scaled(all[a], fabs(1.0 / r->nodes[b].number)) : none;
    default:
      return none;
  }
}

// A node whose sign is looked at: by those of its operands, or as it is. False: neither will do.
static bool choose_kind(PawlReach* r, int k, const Slopes* s) {
  PawlReachNode* n = &r->nodes[k];
  bool product = n->op == PAWL_OP_MUL || n->op == PAWL_OP_DIV;
  bool tree = n->op == PAWL_OP_NEG || n->op == PAWL_OP_MIN || n->op == PAWL_OP_MAX ||
              (product && !s->bounded);
  if (tree || n->op == PAWL_OP_CONST) {
    n->kind = PAWL_REACH_TREE;
    return true;
  }
  double slope = 0.0;
  for (int j = 0; j < r->count; j++) {
    slope = fmax(slope, s->of[j]);
  }
  n->kind = PAWL_REACH_ATOM;
  n->slope = slope > 0.0 ? slope : s->of_time;
  return s->bounded && n->slope > 0.0 && isfinite(n->slope);
}

static bool choose_kinds(PawlReach* r, int roots, const Slopes* slopes) {
  bool all = true;
  for (int k = 0; k < roots; k++) {
    all = all && choose_kind(r, r->root[k], &slopes[r->root[k]]);
  }
  for (int k = r->node_count - 1; all && k >= 0; k--) {
    int count = r->nodes[k].kind == PAWL_REACH_TREE ? pawl_op_operands(r->nodes[k].op) : 0;
    for (int a = 0; all && a < count; a++) {
      int at = r->nodes[k].arg[a];
      all = choose_kind(r, at, &slopes[at]);
    }
  }
  return all;
}

static void gather_slopes(PawlReach* r, const Slopes* slopes) {
  for (int k = 0; k < r->node_count; k++) {
    if (r->nodes[k].kind != PAWL_REACH_ATOM) {
      continue;
    }
    for (int j = 0; j < r->count; j++) {
      r->slope[j] = fmax(r->slope[j], slopes[k].of[j] / r->nodes[k].slope);
    }
    r->of_time = fmax(r->of_time, slopes[k].of_time / r->nodes[k].slope);
  }
}

static int index_of(int count, const PawlNode* nodes, PawlNode node) {
  int k = 0;
  while (k < count && nodes[k] != node) {
    k++;
  }
  return k;
}

static bool is_in_language(const PawlDagNode* n) {
  return pawl_op_operands(n->op) <= 2 && n->op != PAWL_OP_POWI && n->op != PAWL_OP_TABLE &&
         n->op != PAWL_OP_TABLE2;
}

// The nodes that `roots` need. False: there are too many, or some that are not known here.
static bool copy_nodes(PawlReach* r, PawlDag* dag, int roots, const PawlNode* z) {
  PawlNode nodes[PAWL_REACH_NODES];
  const PawlNode* list;
  int count = pawl_dag_reach(dag, roots, z, &list);
  if (count < 0 || count > PAWL_REACH_NODES) {
    return false;
  }
  memcpy(nodes, list, (size_t)count * sizeof *nodes);
  for (int k = 0; k < count; k++) {
    PawlDagNode n = *pawl_dag_node(dag, nodes[k]);
    if (!is_in_language(&n)) {
      return false;
    }
    r->nodes[k] = (PawlReachNode){.op = n.op, .index = n.index, .number = n.value};
    for (int a = 0; a < pawl_op_operands(n.op); a++) {
      r->nodes[k].arg[a] = index_of(k, nodes, n.arg[a]);
    }
  }
  r->node_count = count;
  for (int k = 0; k < roots; k++) {
    r->root[k] = index_of(count, nodes, z[k]);
  }
  return true;
}

PawlStatus pawl_reach_create(PawlSystem* system, PawlDag* dag, const PawlNode* z, PawlError* err) {
  Slopes slopes[PAWL_REACH_NODES];
  int roots = system->guard_count;
  if (roots == 0 || roots > PAWL_REACH_NODES || system->turn_count > 0) {
    return PAWL_OK;
  }
  PawlReach* r = PAWL_NEW(&system->arena, PawlReach, 1);
  if (!r || !(r->root = PAWL_NEW(&system->arena, int, roots))) {
    return pawl_fail_memory(err);
  }
  if (!copy_nodes(r, dag, roots, z)) {
    return PAWL_OK;
  }
  for (int k = 0; k < r->node_count; k++) {
    slopes[k] = slopes_of(r, k, slopes);
  }
  if (choose_kinds(r, roots, slopes)) {
    gather_slopes(r, slopes);
    system->reach = r;
  }
  return PAWL_OK;
}

// ---- at a place ---------------------------------------------------------------------------------
typedef struct Seen {
  double value, size;  // size: of its terms
  double room;         // where its sign is looked at
} Seen;

static double size_of(const PawlReachNode* n, const Seen* a, const Seen* b) {
  switch ((int)n->op) {
    case PAWL_OP_MUL:
      return a->size * b->size;
    case PAWL_OP_DIV:
      return a->size / fabs(b->value);
    case PAWL_OP_ADD:
    case PAWL_OP_SUB:
      return a->size + b->size;
    case PAWL_OP_MIN:
    case PAWL_OP_MAX:
      return fmax(a->size, b->size);
    case PAWL_OP_NEG:
    case PAWL_OP_ABS:
      return a->size;
    default:
      return a->size + 1.0;  // of a function: its argument was rounded, and it is
  }
}

// While neither operand changes its sign a product does not; the lesser of two is positive as long
// as both are, and not as long as one is not; and the greater the other way.                  (V41)
static double room_of(const PawlReachNode* n, const Seen* a, const Seen* b) {
  double both = fmin(a->room, b->room), either;
  bool up = n->op == PAWL_OP_MAX;  // the sign that one of them is enough for
  switch ((int)n->op) {
    case PAWL_OP_NEG:
      return a->room;
    case PAWL_OP_MUL:
    case PAWL_OP_DIV:
      return both;
    default:  // MIN, MAX
      either =
          fmax((a->value > 0.0) == up ? a->room : -1.0, (b->value > 0.0) == up ? b->room : -1.0);
      return either < 0.0 ? both : either;
  }
}

static Seen look(const PawlReachNode* n, const Seen* all, double t, const double* q,
                 double rounding) {
  Seen x = {.room = INFINITY};
  if (n->op == PAWL_OP_CONST || n->op == PAWL_OP_TIME || n->op == PAWL_OP_Q) {
    x.value = n->op == PAWL_OP_CONST ? n->number : n->op == PAWL_OP_TIME ? t : q[n->index];
    x.size = fabs(x.value);
  } else {
    const Seen *a = &all[n->arg[0]], *b = &all[n->arg[1]];
    x.value = pawl_op_value(n->op, 0, a->value, b->value, 0.0);
    x.size = size_of(n, a, b);
    x.room = n->kind == PAWL_REACH_TREE ? room_of(n, a, b) : INFINITY;
  }
  if (n->kind == PAWL_REACH_ATOM) {
    x.room = fmax((fabs(x.value) - rounding * x.size) / n->slope, 0.0);
  }
  return x;
}

double pawl_reach_room(const PawlSystem* system, const int* modes, double t, const double* q,
                       double rounding) {
  const PawlReach* r = system->reach;
  Seen all[PAWL_REACH_NODES];
  double room = INFINITY;
  for (int k = 0; k < r->node_count; k++) {
    all[k] = look(&r->nodes[k], all, t, q, rounding);
  }
  for (int k = 0; k < system->guard_count; k++) {
    const Seen* z = &all[r->root[k]];
    if (modes[system->guards[k].constraint] == system->guards[k].mode) {
      room = z->value > 0.0 ? fmin(room, z->room) : 0.0;
    }
  }
  return room;
}
