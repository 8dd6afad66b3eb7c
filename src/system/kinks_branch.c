// SPDX-License-Identifier: Apache-2.0
// What kinks are between two of their corners or jumps, where these are, and on which side of them
// a place is (docs/theory/kinks.md).
#include <math.h>

#include "model/model.h"
#include "system/kinks_impl.h"
#include "system/system.h"

bool pawl_kink_is_table(const PawlDag* dag, const PawlDagNode* node) {
  return node->op == PAWL_OP_TABLE && node->index % PAWL_TABLE_VIEWS <= PAWL_TABLE_VALUE + 1 &&
         pawl_table_method(pawl_dag_table_of(dag, node)) == PAWL_TABLE_LINEAR;
}

// ---- what they are, and where -------------------------------------------------------------------
// `turn` > 0 ? a : b
static PawlNode pick(PawlDag* dag, PawlNode turn, PawlNode a, PawlNode b) {
  PawlNode up = pawl_dag_apply(dag, PAWL_OP_LT, pawl_dag_const(dag, 0.0), turn, PAWL_NO_NODE);
  return pawl_dag_apply(dag, PAWL_OP_IF, up, a, b);
}

// Piece n of a table, of which x is in the range or beyond an end that has no border.          (T3)
static PawlNode piece(PawlDag* dag, const PawlDagNode* kink, PawlNode x, PawlNode n) {
  int table = kink->index / PAWL_TABLE_VIEWS, view = kink->index % PAWL_TABLE_VIEWS;
  const PawlTable* looked = pawl_dag_table_of(dag, kink);
  PawlNode knot = pawl_dag_table(dag, table, PAWL_TABLE_KNOT, n, PAWL_NO_NODE);
  PawlNode level = pawl_dag_table(dag, table, PAWL_TABLE_LEVEL, n, PAWL_NO_NODE);
  PawlNode slope = pawl_dag_table(dag, table, PAWL_TABLE_SLOPE, n, PAWL_NO_NODE);
  PawlNode line =
      view == PAWL_TABLE_VALUE
          ? pawl_dag_add(dag, level, pawl_dag_mul(dag, slope, pawl_dag_sub(dag, x, knot)))
          : slope;
  if (pawl_table_outside(looked) != PAWL_TABLE_ERROR) {
    return line;
  }
  double from, to;
  pawl_table_range(looked, &from, &to);
  PawlNode after = pawl_dag_apply(dag, PAWL_OP_LE, pawl_dag_const(dag, from), x, PAWL_NO_NODE);
  PawlNode before = pawl_dag_apply(dag, PAWL_OP_LE, x, pawl_dag_const(dag, to), PAWL_NO_NODE);
  PawlNode inside = pawl_dag_apply(dag, PAWL_OP_AND, after, before, PAWL_NO_NODE);
  PawlNode plain = pawl_dag_table(dag, table, view, x, PAWL_NO_NODE);
  return pawl_dag_apply(dag, PAWL_OP_IF, inside, line, plain);
}

PawlNode pawl_kink_branch(PawlDag* dag, const PawlDagNode* kink, const PawlNode* arg,
                          PawlNode turn) {
  PawlOp op = kink->op;
  if (op == PAWL_OP_TABLE) {
    return piece(dag, kink, arg[0], turn);
  }
  if (op == PAWL_OP_WRAP) {
    return pawl_dag_sub(dag, arg[0], pawl_dag_mul(dag, arg[1], turn));  // (S3)
  }
  if (op == PAWL_OP_FLOOR) {
    return turn;
  }
  if (op == PAWL_OP_SIGN) {
    return pick(dag, turn, pawl_dag_const(dag, 1.0), pawl_dag_const(dag, -1.0));
  }
  if (op == PAWL_OP_ABS) {
    return pick(dag, turn, arg[0], pawl_dag_neg(dag, arg[0]));
  }
  if (op == PAWL_OP_IF) {
    return pick(dag, turn, arg[1], arg[2]);
  }
  return pawl_op_is_logical(op)
             ? pick(dag, turn, pawl_dag_const(dag, 1.0), pawl_dag_const(dag, 0.0))
             : pick(dag, turn, arg[0], arg[1]);
}

PawlNode pawl_kink_eased(PawlDag* dag, const PawlDagNode* kink, const PawlNode* arg, PawlNode plain,
                         PawlNode turn) {
  PawlNode none = pawl_dag_const(dag, 0.0), held;
  if (pawl_kink_counts(dag, kink)) {  // turn = 2 n + 1
    PawlNode twice = pawl_dag_sub(dag, turn, pawl_dag_const(dag, 1.0));
    PawlNode n = pawl_dag_mul(dag, pawl_dag_const(dag, 0.5), twice);
    held = pawl_kink_branch(dag, kink, arg, n);
  } else {
    held = pawl_kink_branch(dag, kink, arg, turn);
  }
  PawlNode free = pawl_dag_apply(dag, PAWL_OP_EQ, turn, none, PAWL_NO_NODE);
  return pawl_dag_apply(dag, PAWL_OP_IF, free, plain, held);
}

// One operation more than the plain one: `turn` < c is c for 0, true for -1 and false for 1.
static PawlNode held_side(PawlDag* dag, PawlOp op, const PawlNode* arg, PawlNode plain,
                          PawlNode turn) {
  PawlNode none = pawl_dag_const(dag, 0.0);
  PawlNode c = op == PAWL_OP_IF    ? arg[0]
               : op == PAWL_OP_ABS ? pawl_dag_apply(dag, PAWL_OP_LT, none, arg[0], PAWL_NO_NODE)
               : op == PAWL_OP_MAX ? pawl_dag_apply(dag, PAWL_OP_LT, arg[1], arg[0], PAWL_NO_NODE)
               : op == PAWL_OP_MIN ? pawl_dag_apply(dag, PAWL_OP_LT, arg[0], arg[1], PAWL_NO_NODE)
                                   : plain;
  return pawl_dag_apply(dag, PAWL_OP_LT, turn, c, PAWL_NO_NODE);
}

// 1, -1, or 0 while its operand is; plain where `turn` is 0.
static PawlNode held_sign(PawlDag* dag, PawlNode plain, PawlNode turn) {
  PawlNode none = pawl_dag_const(dag, 0.0), two = pawl_dag_const(dag, 2.0);
  PawlNode free = pawl_dag_apply(dag, PAWL_OP_EQ, turn, none, PAWL_NO_NODE);
  PawlNode moves = pawl_dag_apply(dag, PAWL_OP_LT, turn, two, PAWL_NO_NODE);
  PawlNode held = pawl_dag_apply(dag, PAWL_OP_IF, moves, pawl_dag_neg(dag, turn), none);
  return pawl_dag_apply(dag, PAWL_OP_IF, free, plain, held);
}

PawlNode pawl_kink_timed(PawlDag* dag, const PawlDagNode* kink, const PawlNode* arg, PawlNode plain,
                         PawlNode turn) {
  PawlOp op = kink->op;
  if (pawl_kink_counts(dag, kink)) {
    return pawl_kink_eased(dag, kink, arg, plain, turn);
  }
  if (op == PAWL_OP_SIGN) {
    return held_sign(dag, plain, turn);
  }
  PawlNode held = held_side(dag, op, arg, plain, turn);
  if (pawl_op_is_logical(op)) {
    return held;
  }
  bool branches = op == PAWL_OP_IF;
  PawlNode a = arg[branches ? 1 : 0];
  PawlNode b = branches ? arg[2] : op == PAWL_OP_ABS ? pawl_dag_neg(dag, arg[0]) : arg[1];
  return pawl_dag_apply(dag, PAWL_OP_IF, held, a, b);
}

PawlNode pawl_kink_surface(PawlDag* dag, const PawlDag* from, const PawlNode* map, PawlNode node) {
  PawlDagNode n = *pawl_dag_node(from, node);
  switch (n.op) {
    case PAWL_OP_WRAP:
      return pawl_dag_div(dag, map[n.arg[0]], map[n.arg[1]]);
    case PAWL_OP_TABLE:
      return pawl_dag_table(dag, n.index / PAWL_TABLE_VIEWS, PAWL_TABLE_POSITION, map[n.arg[0]],
                            PAWL_NO_NODE);
    case PAWL_OP_FLOOR:
    case PAWL_OP_SIGN:
    case PAWL_OP_ABS:
      return map[n.arg[0]];
    case PAWL_OP_MAX:
      return pawl_dag_sub(dag, map[n.arg[0]], map[n.arg[1]]);
    case PAWL_OP_MIN:
      return pawl_dag_sub(dag, map[n.arg[1]], map[n.arg[0]]);
    default:
      return pawl_system_guard(dag, from, map, pawl_kink_condition(node, &n));
  }
}

// ---- on which side ------------------------------------------------------------------------------
int pawl_kink_side(const PawlTurn* kink, double z) {
  static const double MOST = 1e9;  // twice that is still an int
  return !kink->counts ? (z < 0.0 ? -1 : 1) : fabs(z) < MOST ? 2 * (int)floor(z) + 1 : 0;
}

// `mode` is odd where it counts: no rounding.
static int value_of(const PawlTurn* kink, int mode) {
  return kink->counts ? (mode - 1) / 2 : mode;
}

double pawl_kink_margin(const PawlTurn* kink, double z, int mode) {
  return mode == 0 ? INFINITY : pawl_turn_margin(kink, z, value_of(kink, mode));
}

bool pawl_kink_is_left(const PawlTurn* kink, double z, int mode) {
  return mode != 0 && pawl_turn_is_left(kink, z, value_of(kink, mode), 0.0);
}

bool pawl_kinks_beyond(const PawlSystem* system, const double* z, const int* modes) {
  bool beyond = false;
  for (int k = system->turn_count; k < system->turn_count + system->kink_count; k++) {
    beyond |= pawl_kink_is_left(&system->turns[k], z[system->guard_count + k],
                                modes[system->constraint_count + k]);
  }
  return beyond;
}

void pawl_kinks_in_use(const PawlSystem* system, const int* modes, int* used) {
  const int* contacts = modes + system->sizes.modes - system->model->contact_count;
  for (int k = 0; k < system->kink_count; k++) {
    used[k] = !system->turns[system->turn_count + k].slides;
  }
  for (int k = 0; k < system->slider_count; k++) {
    int contact = system->sliders[k].of - system->constraint_count;
    bool slips = contact >= 0 ? contacts[contact] >= PAWL_MODE_SLIPS
                              : modes[system->sliders[k].of] >= PAWL_MODE_UP;
    used[system->sliders[k].kink] |= slips;
  }
}

double pawl_kinks_margin(const PawlSystem* system, const double* z, const int* modes,
                         const unsigned char* ignored, double* each) {
  double least = INFINITY;
  for (int k = system->turn_count; k < system->turn_count + system->kink_count; k++) {
    double margin = ignored[k - system->turn_count]
                        ? INFINITY
                        : pawl_kink_margin(&system->turns[k], z[system->guard_count + k],
                                           modes[system->constraint_count + k]);
    least = fmin(least, margin);
    if (each) {
      each[k - system->turn_count] = margin;
    }
  }
  return least;
}
