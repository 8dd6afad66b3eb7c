// SPDX-License-Identifier: Apache-2.0
// Kinks of time alone (docs/theory/kinks.md). What decides on them is linear in t, piece by piece,
// so the next time at which one changes is known beforehand: a root, or the next whole number.
#include <math.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/model.h"
#include "system/system.h"

// ---- which nodes --------------------------------------------------------------------------------
static PawlCourse larger(PawlCourse a, PawlCourse b) {
  return a > b ? a : b;
}

static PawlCourse course_of_product(PawlCourse a, PawlCourse b) {
  return a == PAWL_COURSE_STEPS || b == PAWL_COURSE_STEPS ? larger(a, b) : PAWL_COURSE_ANY;
}

PawlCourse pawl_course_of(const PawlDag* dag, const PawlDagNode* node, const PawlCourse* of) {
  PawlOp op = node->op;
  if (pawl_kink_is_table(dag, node)) {
    bool steps = node->index % PAWL_TABLE_VIEWS == PAWL_TABLE_VALUE + 1;
    return of[0] == PAWL_COURSE_LINES && steps ? PAWL_COURSE_STEPS : of[0];
  }
  PawlCourse both = pawl_op_operands(op) > 1 ? larger(of[0], of[1]) : of[0];
  switch (op) {
    case PAWL_OP_NEG:
    case PAWL_OP_ADD:
    case PAWL_OP_SUB:
    case PAWL_OP_ABS:
    case PAWL_OP_MIN:
    case PAWL_OP_MAX:
      return both;
    case PAWL_OP_MUL:
      return course_of_product(of[0], of[1]);
    case PAWL_OP_DIV:
    case PAWL_OP_WRAP:
      return of[1] == PAWL_COURSE_STEPS ? of[0] : PAWL_COURSE_ANY;
    case PAWL_OP_SIGN:
    case PAWL_OP_FLOOR:
    case PAWL_OP_LT:
    case PAWL_OP_LE:
      return both == PAWL_COURSE_ANY ? both : PAWL_COURSE_STEPS;
    case PAWL_OP_IF:
      return of[0] == PAWL_COURSE_STEPS ? larger(of[1], of[2]) : PAWL_COURSE_ANY;
    default:
      return both == PAWL_COURSE_STEPS ? both : PAWL_COURSE_ANY;
  }
}

// The operations on t that decide, operands first, so that each is computed once.
PawlStatus pawl_system_list_times(PawlSystem* system, PawlError* err) {
  PawlDag* dag = system->model->dag;
  const PawlNode* nodes;
  PawlNode* roots = PAWL_NEW(&system->arena, PawlNode, system->timed_count);
  int* place = pawl_alloc((size_t)pawl_dag_count(dag), sizeof(int));
  for (int k = 0; roots && k < system->timed_count; k++) {
    roots[k] = system->turns[system->turn_count + system->kink_count + k].node;
  }
  int count = roots && place ? pawl_dag_reach(dag, system->timed_count, roots, &nodes) : -1;
  system->times = count < 0 ? NULL : PAWL_NEW(&system->arena, PawlTimeNode, count);
  for (int k = 0; system->times && k < count; k++) {
    PawlDagNode n = *pawl_dag_node(dag, nodes[k]);
    bool parameter = n.op == PAWL_OP_PARAM;
    PawlTimeNode* to = &system->times[system->time_count++];
    *to = (PawlTimeNode){.op = parameter ? PAWL_OP_CONST : n.op, .index = n.index};
    if (n.op == PAWL_OP_TABLE || n.op == PAWL_OP_TABLE2) {
      to->table = pawl_dag_table_of(dag, &n);
      to->pieces = pawl_kink_is_table(dag, &n);
    }
    to->value = parameter ? system->model->parameters[n.index].value : n.value;
    for (int a = 0; a < pawl_op_operands(n.op); a++) {
      to->arg[a] = place[n.arg[a]];
    }
    place[nodes[k]] = k;
  }
  for (int k = 0; system->times && k < system->timed_count; k++) {
    PawlTurn* turn = &system->turns[system->turn_count + system->kink_count + k];
    turn->place = place[turn->node];
  }
  pawl_free(place);
  return system->times ? PAWL_OK : pawl_fail_memory(err);
}

// ---- what they are at a time --------------------------------------------------------------------
static PawlLine number(double value, double until) {
  return (PawlLine){.start = value, .until = until};
}

static PawlLine sum(PawlLine a, PawlLine b, double factor) {
  return (PawlLine){a.start + factor * b.start, a.slope + factor * b.slope, fmin(a.until, b.until),
                    0};
}

static PawlLine scaled(PawlLine a, double factor) {
  return (PawlLine){factor * a.start, factor * a.slope, a.until, 0};
}

// On which side of zero a line is just after t, 0 where it stays there; *until at most to its root.
// (K2)
static int side_of(PawlLine z, double t, double* until) {
  double root = z.slope == 0.0 ? INFINITY : -z.start / z.slope;
  int rising = z.slope > 0.0 ? 1 : -1;
  if (z.slope == 0.0) {
    return z.start > 0.0 ? 1 : z.start < 0.0 ? -1 : 0;
  }
  *until = root > t ? fmin(*until, root) : *until;
  return root > t ? -rising : rising;
}

// The whole number below a line just after t; *until at most to the next one.
static double floor_of(PawlLine u, double t, double* until) {
  double up = u.slope > 0.0 ? 1.0 : 0.0, z = u.start + u.slope * t;
  if (u.slope == 0.0) {
    return floor(u.start);
  }
  double n = u.slope > 0.0 ? floor(z) : ceil(z) - 1.0;
  double root = (n + up - u.start) / u.slope;
  if (!(root > t)) {  // z was rounded
    n += u.slope > 0.0 ? 1.0 : -1.0;
    root = (n + up - u.start) / u.slope;
  }
  *until = fmin(*until, root);
  return n;
}

// a if `side` > 0, else b; until both hold.
static PawlLine either(PawlLine a, PawlLine b, int side, double until) {
  PawlLine out = side > 0 ? a : b;
  out.until = fmin(out.until, until);
  out.kappa = side;
  return out;
}

static PawlLine compare(PawlOp op, PawlLine a, PawlLine b, double t) {
  double until = fmin(a.until, b.until);
  int side = side_of(sum(b, a, -1.0), t, &until);
  bool holds = side > 0 || (side == 0 && op == PAWL_OP_LE);
  return either(number(1.0, until), number(0.0, until), holds ? 1 : -1, until);
}

static PawlLine counted(PawlOp op, PawlLine u, PawlLine period, double t) {
  double until = fmin(u.until, period.until);
  double n = floor_of(op == PAWL_OP_WRAP ? scaled(u, 1.0 / period.start) : u, t, &until);
  PawlLine out = op == PAWL_OP_WRAP ? sum(u, number(period.start * n, until), -1.0)  // (S3)
                                    : number(n, until);
  out.until = until;
  out.kappa = op == PAWL_OP_WRAP && !(period.start > 0.0) ? INFINITY : n;  // free, and a fault
  return out;
}

static PawlLine sign_of(PawlLine z, double t) {
  static const double RESTS = -2.0;  // a variable of its own for 0
  double until = z.until;
  int side = side_of(z, t, &until);
  PawlLine out = number(side, until);
  out.kappa = side == 0 ? RESTS : side;
  return out;
}

// ---- tables of straight pieces ------------------------------------------------------------------
static double of_piece(const PawlTable* table, int view, double n) {
  return pawl_table_at(pawl_table_view(table, view), n);
}

// When a line goes beyond a border of piece n; INFINITY where the piece has no border there.
static double end_of_piece(const PawlTable* table, PawlLine x, double n, double* border) {
  double from, to;
  bool up = x.slope > 0.0, holds = pawl_table_outside(table) == PAWL_TABLE_HOLD;
  pawl_table_range(table, &from, &to);
  *border = of_piece(table, PAWL_TABLE_KNOT, n + up);
  bool periodic = pawl_table_outside(table) == PAWL_TABLE_PERIODIC;
  double knot = of_piece(table, PAWL_TABLE_KNOT, n);
  bool none = holds ? (up ? knot >= to : n < 0.0) : (up ? *border <= knot : n <= 0.0);
  return none && !periodic ? INFINITY : (*border - x.start) / x.slope;
}

// The line of a table along a line, just after t, until it leaves the piece.                  (T9)
static PawlLine along_table(const PawlTable* table, int view, PawlLine x, double t) {
  double step = x.slope > 0.0 ? 1.0 : -1.0, at = x.start + x.slope * t, border;
  double z = of_piece(table, PAWL_TABLE_POSITION, at);
  double n = x.slope > 0.0 ? floor(z) : ceil(z) - 1.0, root = end_of_piece(table, x, n, &border);
  if (!(root > t)) {  // z was rounded
    n += step;
    root = end_of_piece(table, x, n, &border);
  }
  double slope = of_piece(table, PAWL_TABLE_SLOPE, n), knot = of_piece(table, PAWL_TABLE_KNOT, n);
  double level = of_piece(table, PAWL_TABLE_LEVEL, n);
  PawlLine out = view == PAWL_TABLE_VALUE ? (PawlLine){.start = level + slope * (x.start - knot),
                                                       .slope = slope * x.slope}
                                          : number(slope, INFINITY);
  out.until = fmin(x.until, root);
  out.kappa = isfinite(z) ? n : INFINITY;
  return out;
}

static PawlLine look_up(const PawlTimeNode* n, PawlLine a, PawlLine b, double t, double until) {
  int view = n->index % PAWL_TABLE_VIEWS;
  const PawlTableView* at = pawl_table_view(n->table, view);
  if (n->pieces && a.slope != 0.0) {
    return along_table(n->table, view, a, t);
  }
  PawlLine out = number(n->op == PAWL_OP_TABLE2 ? pawl_table_at_two(at, a.start, b.start)
                                                : pawl_table_at(at, a.start),
                        until);
  out.kappa = n->pieces ? floor(of_piece(n->table, PAWL_TABLE_POSITION, a.start)) : 0.0;
  return out;
}

static PawlLine line_of(const PawlTimeNode* n, const PawlLine* of, double t) {
  int operands = pawl_op_operands(n->op);
  PawlLine a = operands > 0 ? of[n->arg[0]] : number(0.0, INFINITY);
  PawlLine b = operands > 1 ? of[n->arg[1]] : number(0.0, INFINITY);
  PawlLine c = operands > 2 ? of[n->arg[2]] : number(0.0, INFINITY);
  double until = fmin(a.until, fmin(b.until, c.until));
  int side;
  switch (n->op) {
    case PAWL_OP_CONST:
      return number(n->value, INFINITY);
    case PAWL_OP_TIME:
      return (PawlLine){.slope = 1.0, .until = INFINITY};
    case PAWL_OP_NEG:
      return scaled(a, -1.0);
    case PAWL_OP_ADD:
    case PAWL_OP_SUB:
      return sum(a, b, n->op == PAWL_OP_ADD ? 1.0 : -1.0);
    case PAWL_OP_MUL:
      a = a.slope == 0.0 ? scaled(b, a.start) : scaled(a, b.start);
      a.until = until;
      return a;
    case PAWL_OP_DIV:
      return (PawlLine){a.start / b.start, a.slope / b.start, until, 0};
    case PAWL_OP_ABS:
      side = side_of(a, t, &until);
      return either(a, scaled(a, -1.0), side, until);
    case PAWL_OP_SIGN:
      return sign_of(a, t);
    case PAWL_OP_MIN:
    case PAWL_OP_MAX:
      side = side_of(sum(a, b, -1.0), t, &until);
      return either(a, b, n->op == PAWL_OP_MAX ? side : -side, until);
    case PAWL_OP_FLOOR:
    case PAWL_OP_WRAP:
      return counted(n->op, a, b, t);
    case PAWL_OP_LT:
    case PAWL_OP_LE:
      return compare(n->op, a, b, t);
    case PAWL_OP_TABLE:
    case PAWL_OP_TABLE2:
      return look_up(n, a, b, t, until);
    case PAWL_OP_IF:
      return either(b, c, a.start != 0.0 ? 1 : -1, a.until);
    default:  // of numbers
      a = number(pawl_op_value(n->op, n->index, a.start, b.start, c.start), until);
      a.kappa = a.start != 0.0 ? 1 : -1;
      return a;
  }
}

double pawl_times_look(const PawlSystem* system, double t, PawlLine* room, int* modes) {
  static const double MOST = 1e9;  // twice that is still an int
  double until = INFINITY;
  for (int k = 0; k < system->time_count; k++) {
    room[k] = line_of(&system->times[k], room, t);
  }
  for (int k = 0; k < system->timed_count; k++) {
    const PawlTurn* turn = &system->turns[system->turn_count + system->kink_count + k];
    const PawlLine* line = &room[turn->place];
    modes[k] = !turn->counts              ? -(int)line->kappa
               : fabs(line->kappa) < MOST ? 2 * (int)line->kappa + 1
                                          : 0;
    until = fmin(until, line->until);
  }
  return isnan(until) ? INFINITY : until;
}
