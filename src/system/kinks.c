// SPDX-License-Identifier: Apache-2.0
// Kinks as discrete variables (docs/theory/kinks.md): which operations of a model have corners or
// jumps that the motion can meet, what they are between two of them, and where these are.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/model.h"
#include "system/system.h"

enum { MOST_TURNS = 1000 };  // in the constraints of one model
enum { MOST_KINKS = 1000 };  // in its forces and energies; more of them are not located
enum { MOST_TIMED = 1000 };  // the same of kinks of time alone

// How an operand matters: its value, or only on which side of something it is; JOINED: a comparison
// that and, or, not join to others.
enum { VALUE = 1, SIDE = 2, JOINED = 4 };
// What a node depends on.
enum { TIME = 1, MOTION = 2, REACTION = 4, HELD = 8 };  // HELD: inputs, which stay in a step

typedef struct Listing {
  PawlSystem* system;
  const PawlDag* dag;
  int count;
  int mode_count;         // of all constraints
  bool splits;            // each of several comparisons that are joined is a kink of its own
  unsigned char* moves;   // TIME, MOTION, REACTION, HELD: what nodes depend on
  unsigned char* marked;  // VALUE, SIDE, JOINED: nodes that the expressions at hand need
  PawlCourse* course;     // of nodes that depend on time alone
  unsigned char* limits;  // HAS_LIMIT, UNDER_LIMIT, GUARDS_LIMIT
} Listing;

// ---- which nodes --------------------------------------------------------------------------------
static bool is_comparison(PawlOp op) {
  return op >= PAWL_OP_LT && op <= PAWL_OP_NOT;
}

static bool joins(PawlOp op) {
  return op == PAWL_OP_AND || op == PAWL_OP_OR || op == PAWL_OP_NOT;
}

bool pawl_kink_is_table(const PawlDag* dag, const PawlDagNode* node) {
  return node->op == PAWL_OP_TABLE && node->index % PAWL_TABLE_VIEWS <= PAWL_TABLE_VALUE + 1 &&
         pawl_table_method(pawl_dag_table_of(dag, node)) == PAWL_TABLE_LINEAR;
}

static bool counts(const PawlDag* dag, const PawlDagNode* n) {
  return n->op == PAWL_OP_WRAP || n->op == PAWL_OP_FLOOR || pawl_kink_is_table(dag, n);
}

// Jumps in value, other than a comparison.
static bool jumps(const PawlDag* dag, const PawlDagNode* n) {
  bool corner = n->op == PAWL_OP_TABLE && n->index % PAWL_TABLE_VIEWS == PAWL_TABLE_VALUE;
  return (counts(dag, n) && !corner) || n->op == PAWL_OP_SIGN || n->op == PAWL_OP_IF;
}

static bool kinks(const PawlDag* dag, const PawlDagNode* n) {
  return jumps(dag, n) || counts(dag, n) || n->op == PAWL_OP_ABS || n->op == PAWL_OP_MIN ||
         n->op == PAWL_OP_MAX || is_comparison(n->op);
}

static bool is_less(PawlOp op) {
  return op == PAWL_OP_LT || op == PAWL_OP_LE;
}

// What decides is a comparison: has it an inside?
static bool has_inside(const PawlDag* dag, PawlNode condition) {
  const PawlDagNode* n = pawl_dag_node(dag, condition);
  if (n->op == PAWL_OP_AND || n->op == PAWL_OP_OR) {
    PawlNode other = n->arg[1];
    return has_inside(dag, n->arg[0]) && has_inside(dag, other);
  }
  return n->op == PAWL_OP_NOT ? has_inside(dag, n->arg[0]) : is_less(n->op);
}

static PawlNode condition_of(PawlNode node, const PawlDagNode* n) {
  return n->op == PAWL_OP_IF ? n->arg[0] : is_comparison(n->op) ? node : PAWL_NO_NODE;
}

// What the side of a kink depends on: bits of Listing.moves.
static unsigned char moves(const Listing* l, PawlNode node) {
  const PawlDagNode* n = pawl_dag_node(l->dag, node);
  unsigned char by = 0;
  for (int a = 0; a < (n->op == PAWL_OP_IF ? 1 : pawl_op_operands(n->op)); a++) {
    by |= l->moves[n->arg[a]];
  }
  return by;
}

static void find_moving(Listing* l) {
  const PawlParameter* parameters = l->system->model->parameters;
  for (int k = 0; k < l->count; k++) {
    const PawlDagNode* n = pawl_dag_node(l->dag, k);
    bool held =
        n->op == PAWL_OP_INPUT || (n->op == PAWL_OP_PARAM && parameters[n->index].input > 0);
    bool number = n->op == PAWL_OP_CONST || n->op == PAWL_OP_PARAM;
    bool reacts = n->op == PAWL_OP_A || n->op == PAWL_OP_LAMBDA;
    l->moves[k] = held                                ? HELD
                  : !pawl_op_is_leaf(n->op) || number ? 0
                  : n->op == PAWL_OP_TIME             ? TIME
                  : reacts                            ? REACTION
                                                      : MOTION;
    for (int a = 0; a < pawl_op_operands(n->op); a++) {
      l->moves[k] |= l->moves[n->arg[a]];
    }
  }
}

static void find_courses(Listing* l) {
  for (int k = 0; k < l->count; k++) {
    const PawlDagNode* n = pawl_dag_node(l->dag, k);
    PawlCourse of[3] = {PAWL_COURSE_STEPS, PAWL_COURSE_STEPS, PAWL_COURSE_STEPS};
    for (int a = 0; a < pawl_op_operands(n->op); a++) {
      of[a] = l->course[n->arg[a]];
    }
    l->course[k] = !pawl_op_is_leaf(n->op) ? pawl_course_of(l->dag, n, of)
                   : n->op == PAWL_OP_TIME ? PAWL_COURSE_LINES
                   : l->moves[k] == 0      ? PAWL_COURSE_STEPS
                                           : PAWL_COURSE_ANY;
  }
}

static bool decides(PawlOp op, int operand) {
  return (op == PAWL_OP_IF && operand == 0) || op == PAWL_OP_SIGN || op == PAWL_OP_FLOOR ||
         is_comparison(op);
}

static unsigned char mark_of_operand(PawlOp op, int operand, unsigned char mark) {
  return joins(op) ? SIDE | JOINED : decides(op, operand) ? SIDE : mark;
}

// Spreads the marks to what they need; operands come before users, so one pass down is enough.
static void spread(Listing* l) {
  for (int k = l->count - 1; k >= 0; k--) {
    if (!l->marked[k]) {
      continue;
    }
    const PawlDagNode* n = pawl_dag_node(l->dag, k);
    for (int a = 0; a < pawl_op_operands(n->op); a++) {
      l->marked[n->arg[a]] |= mark_of_operand(n->op, a, l->marked[k]);
    }
  }
}

// When it changes is known beforehand: time alone decides on it, by lines.
static bool is_foreseen(const Listing* l, PawlNode node) {
  const PawlDagNode* n = pawl_dag_node(l->dag, node);
  bool known = moves(l, node) == TIME;
  for (int a = 0; a < (n->op == PAWL_OP_IF ? 1 : pawl_op_operands(n->op)); a++) {
    known = known && l->course[n->arg[a]] != PAWL_COURSE_ANY;
  }
  return known && (n->op != PAWL_OP_WRAP || l->course[n->arg[1]] == PAWL_COURSE_STEPS);
}

// Made of several comparisons, each of which is a kink in its place.
static bool is_split(const Listing* l, PawlNode node) {
  const PawlDagNode* n = pawl_dag_node(l->dag, node);
  PawlNode condition = condition_of(node, n);
  return l->splits && condition != PAWL_NO_NODE && joins(pawl_dag_node(l->dag, condition)->op) &&
         !is_foreseen(l, node);
}

// A corner matters where its value does, a jump also where it decides on a side; a comparison that
// is joined to others where these are split.
static bool is_met(const Listing* l, PawlNode node) {
  const PawlDagNode* n = pawl_dag_node(l->dag, node);
  unsigned char mark = l->marked[node];
  bool meets = (mark & VALUE && kinks(l->dag, n)) || (mark & SIDE && jumps(l->dag, n)) ||
               (mark & JOINED && l->splits && is_less(n->op));
  return meets && (moves(l, node) & ~HELD) != 0 && !is_split(l, node);
}

// ---- names --------------------------------------------------------------------------------------
static PawlStatus keep_text(PawlSystem* system, PawlText* text, const char** out, PawlError* err) {
  *out =
      text->failed || !text->s ? NULL : pawl_arena_copy(&system->arena, text->s, strlen(text->s));
  pawl_text_free(text);
  return *out ? PAWL_OK : pawl_fail_memory(err);
}

// "a < b"; with a number on the right.
static PawlStatus name_side(PawlSystem* system, PawlNode a, const char* sign, PawlNode b,
                            const char** out, PawlError* err) {
  PawlText text = {0};
  bool turned = pawl_dag_is_const(system->model->dag, a, NULL);
  pawl_model_print(&text, system->model, turned ? b : a);
  pawl_text_printf(&text, " %s ", !turned ? sign : sign[0] == '<' ? ">" : "<");
  pawl_model_print(&text, system->model, turned ? a : b);
  return keep_text(system, &text, out, err);
}

static PawlStatus name_condition(PawlSystem* system, PawlTurn* turn, PawlNode condition,
                                 PawlError* err) {
  PawlText text = {0};
  pawl_text_add(&text, "not (");
  pawl_model_print(&text, system->model, condition);
  pawl_text_add(&text, ")");
  PAWL_TRY(keep_text(system, &text, &turn->below, err));
  text = (PawlText){0};
  pawl_model_print(&text, system->model, condition);
  return keep_text(system, &text, &turn->above, err);
}

// What holds on each side, as a user would write it.
static PawlStatus name_sides(PawlSystem* system, PawlTurn* turn, PawlError* err) {
  PawlDag* dag = system->model->dag;
  PawlDagNode n = *pawl_dag_node(dag, turn->node);
  PawlNode condition = condition_of(turn->node, &n);
  PawlNode a = n.arg[0], b = n.arg[1];
  bool below = n.op == PAWL_OP_MIN;  // the first operand is in force where it is below the other
  if (turn->counts) {
    return PAWL_OK;
  }
  if (condition != PAWL_NO_NODE) {
    n = *pawl_dag_node(dag, condition);
    if (n.op != PAWL_OP_LT && n.op != PAWL_OP_LE) {
      return name_condition(system, turn, condition, err);
    }
    a = n.arg[0];
    b = n.arg[1];
    below = true;
  } else if (n.op == PAWL_OP_ABS || n.op == PAWL_OP_SIGN) {
    b = pawl_dag_const(dag, 0.0);
  }
  if (b == PAWL_NO_NODE) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(name_side(system, a, below ? "<" : ">", b, &turn->above, err));
  return name_side(system, a, below ? ">" : "<", b, &turn->below, err);
}

// ---- in constraints -----------------------------------------------------------------------------
static PawlStatus refuse_turn(const PawlSystem* system, int c, const char* why, PawlError* err) {
  const PawlConstraint* constraint = &system->model->constraints[c];
  return pawl_fail(err, PAWL_ERROR_MODEL, "%s:%d:%d: constraint '%s': %s", system->model->file,
                   constraint->source.line, constraint->source.column, constraint->name, why);
}

static PawlStatus check_turn(const Listing* l, PawlNode node, int c, PawlError* err) {
  PawlNode condition = condition_of(node, pawl_dag_node(l->dag, node));
  if (condition != PAWL_NO_NODE && !has_inside(l->dag, condition)) {
    return refuse_turn(l->system, c,
                       "a condition in it is not made of comparisons (<, <=, >, >=) that hold on a "
                       "part of space, joined by and, or, not",
                       err);
  }
  return l->system->turn_count < MOST_TURNS
             ? PAWL_OK
             : refuse_turn(l->system, c,
                           "with it the constraints have more than 1000 kinks (abs, sign, min, "
                           "max, floor, wrap, if, comparisons)",
                           err);
}

// The turn of a kink in constraint c, found or made.
static PawlStatus find_turn(Listing* l, PawlNode node, int c, PawlTurn** turn, PawlError* err) {
  PawlSystem* system = l->system;
  for (int k = 0; k < system->turn_count; k++) {
    if (system->turns[k].node == node) {
      *turn = &system->turns[k];
      return PAWL_OK;
    }
  }
  PAWL_TRY(check_turn(l, node, c, err));
  *turn = &system->turns[system->turn_count++];
  **turn = (PawlTurn){.node = node,
                      .counts = counts(l->dag, pawl_dag_node(l->dag, node)),
                      .constraint = c,
                      .uses = PAWL_NEW(&system->arena, unsigned char, l->mode_count)};
  system->has_sides |= !(*turn)->counts;
  return (*turn)->uses ? name_sides(system, *turn, err) : pawl_fail_memory(err);
}

// What is built later has no kinks.
static void mark(Listing* l, PawlNode node) {
  if (node != PAWL_LATER) {
    l->marked[node] |= VALUE;
  }
}

static PawlStatus list_turns_of_mode(Listing* l, int c, int m, PawlError* err) {
  const PawlMode* mode = &l->system->constraints[c].modes[m];
  memset(l->marked, 0, (size_t)l->count);
  for (int r = 0; r < mode->row_count; r++) {
    mark(l, mode->rows[r].node);
  }
  if (mode->where != PAWL_NO_NODE) {
    l->marked[mode->where] |= SIDE;
  }
  spread(l);
  for (int k = 0; k < l->count; k++) {
    if (is_met(l, k)) {
      PawlTurn* turn;
      PAWL_TRY(find_turn(l, k, c, &turn, err));
      turn->uses[l->system->first_mode[c] + m] |= l->marked[k] & VALUE;
    }
  }
  return PAWL_OK;
}

static PawlStatus list_turns(Listing* l, PawlError* err) {
  PawlSystem* system = l->system;
  system->first_mode = PAWL_NEW(&system->arena, int, system->model->constraint_count);
  if (!system->first_mode) {
    return pawl_fail_memory(err);
  }
  for (int c = 0; c < system->model->constraint_count; c++) {
    system->first_mode[c] = l->mode_count;
    l->mode_count += system->constraints[c].mode_count;
  }
  for (int c = 0; c < system->model->constraint_count; c++) {
    for (int m = 0; m < system->constraints[c].mode_count; m++) {
      PAWL_TRY(list_turns_of_mode(l, c, m, err));
    }
  }
  return PAWL_OK;
}

bool pawl_system_uses_turn(const PawlSystem* system, int k, int c, int mode) {
  return system->turns[k].uses[system->first_mode[c] + mode] != 0;
}

// ---- in forces and energies ---------------------------------------------------------------------
// A function that is not defined for every operand: a branch beyond its border may leave its
// domain.
enum { HAS_LIMIT = 1, UNDER_LIMIT = 2, GUARDS_LIMIT = 4 };

static bool is_limited(const PawlDag* dag, const PawlDagNode* n) {
  PawlOp op = n->op;
  bool table = op == PAWL_OP_TABLE || op == PAWL_OP_TABLE2;
  return op == PAWL_OP_POW || op == PAWL_OP_SQRT || op == PAWL_OP_LOG || op == PAWL_OP_ASIN ||
         op == PAWL_OP_ACOS ||
         (table && pawl_table_outside(pawl_dag_table_of(dag, n)) == PAWL_TABLE_ERROR);
}

// Which nodes contain such a function, which are in the operand of one, and which comparisons,
// joined to others, decide on one.
static void find_limits(Listing* l) {
  for (int k = 0; k < l->count; k++) {
    const PawlDagNode* n = pawl_dag_node(l->dag, k);
    l->limits[k] = is_limited(l->dag, n) ? HAS_LIMIT : 0;
    for (int a = 0; a < pawl_op_operands(n->op); a++) {
      l->limits[k] |= l->limits[n->arg[a]] & HAS_LIMIT;
    }
  }
  for (int k = l->count - 1; k >= 0; k--) {
    const PawlDagNode* n = pawl_dag_node(l->dag, k);
    for (int a = 0; a < pawl_op_operands(n->op); a++) {
      l->limits[n->arg[a]] |= is_limited(l->dag, n) || l->limits[k] & UNDER_LIMIT ? UNDER_LIMIT : 0;
      l->limits[n->arg[a]] |= joins(n->op) ? l->limits[k] & GUARDS_LIMIT : 0;
    }
    if (n->op == PAWL_OP_IF && (l->limits[n->arg[1]] | l->limits[n->arg[2]]) & HAS_LIMIT) {
      l->limits[n->arg[0]] |= GUARDS_LIMIT;
    }
  }
}

// Whether the branch may be undefined beyond its border, as in sqrt(max(0, x)) or if(x > 0,
// sqrt(x), 0).
static bool is_guard(const Listing* l, PawlNode node) {
  const PawlDagNode* n = pawl_dag_node(l->dag, node);
  unsigned in = n->op == PAWL_OP_IF ? l->limits[n->arg[1]] | l->limits[n->arg[2]] : 0;
  return (l->limits[node] & (UNDER_LIMIT | GUARDS_LIMIT)) || (in & HAS_LIMIT);
}

// Conditions without an inside stay as they are, and so do kinks that guard a domain, and those
// that accelerations or multipliers decide on.
static bool is_kink(const Listing* l, PawlNode node) {
  PawlNode condition = condition_of(node, pawl_dag_node(l->dag, node));
  return is_met(l, node) && (condition == PAWL_NO_NODE || has_inside(l->dag, condition)) &&
         !is_guard(l, node) && !(moves(l, node) & REACTION);
}

static bool is_timed(const Listing* l, PawlNode node) {
  return is_kink(l, node) && is_foreseen(l, node);
}

static void mark_condition(Listing* l, PawlNode when) {
  if (when != PAWL_NO_NODE) {
    l->marked[when] |= SIDE;
  }
}

// The conditions of what engages and lets go, and of events: where they jump, and where one of
// several comparisons turns.
static void mark_conditions(Listing* l) {
  const PawlModel* model = l->system->model;
  for (int c = 0; c < model->constraint_count; c++) {
    mark_condition(l, model->constraints[c].switching.engage.when);
    mark_condition(l, model->constraints[c].switching.release.when);
  }
  for (int k = 0; k < model->event_count; k++) {
    mark_condition(l, model->events[k].trigger.when);
  }
}

static void mark_gaps(Listing* l) {
  const PawlModel* model = l->system->model;
  for (int k = 0; k < model->contact_count; k++) {
    l->marked[model->contacts[k].gap] |= VALUE;
  }
}

static bool gaps_kink(Listing* l) {
  bool any = false;
  memset(l->marked, 0, (size_t)l->count);
  mark_gaps(l);
  spread(l);
  for (int k = 0; k < l->count && !any; k++) {
    any = is_kink(l, k);
  }
  return any;
}

static void mark_terms(Listing* l) {
  const PawlModel* model = l->system->model;
  memset(l->marked, 0, (size_t)l->count);
  for (int k = 0; k < model->term_count; k++) {
    mark(l, model->terms[k].node);
  }
  for (int k = 0; k < model->state_count; k++) {
    if (model->states[k].rate != PAWL_NO_NODE) {
      l->marked[model->states[k].rate] |= VALUE;
    }
  }
}

// As spread(), but what decides on a kink of time alone is not needed where that is held.
static void spread_from_terms(Listing* l) {
  mark_terms(l);
  mark_conditions(l);
  mark_gaps(l);
  for (int k = l->count - 1; k >= 0; k--) {
    const PawlDagNode* n = pawl_dag_node(l->dag, k);
    bool timed = l->marked[k] && is_timed(l, k);
    for (int a = 0; l->marked[k] && a < pawl_op_operands(n->op); a++) {
      if (!(timed && decides(n->op, a))) {
        l->marked[n->arg[a]] |= mark_of_operand(n->op, a, l->marked[k]);
      }
    }
  }
}

// Adds the kinks of one sort behind all turns; returns how many, none when there are more than
// `most`: these go to *left.
static int add_kinks(const Listing* l, bool timed, int first, int most, int* left) {
  int count = 0;
  for (int k = 0; k < l->count; k++) {
    if (is_kink(l, k) && is_timed(l, k) == timed && count++ < most) {
      l->system->turns[first + count - 1] = (PawlTurn){
          .node = k, .counts = counts(l->dag, pawl_dag_node(l->dag, k)), .constraint = -1};
    }
  }
  *left += count <= most ? 0 : count;
  return count <= most ? count : 0;
}

// Which kinks the motion feels.
static void find_felt(Listing* l) {
  PawlSystem* system = l->system;
  mark_terms(l);
  spread(l);
  for (int k = system->turn_count; k < system->turn_count + system->kink_count; k++) {
    system->turns[k].felt = l->marked[system->turns[k].node] != 0;
  }
}

static PawlStatus list_kinks(Listing* l, PawlError* err) {
  PawlSystem* system = l->system;
  l->splits = true;
  find_courses(l);
  find_limits(l);
  system->gaps_kink = gaps_kink(l);
  spread_from_terms(l);
  system->kink_count = add_kinks(l, false, system->turn_count, MOST_KINKS, &system->plain_count);
  int first = system->turn_count + system->kink_count;
  system->timed_count = add_kinks(l, true, first, MOST_TIMED, &system->plain_count);
  find_felt(l);
  return system->timed_count > 0 ? pawl_system_list_times(system, err) : PAWL_OK;
}

PawlStatus pawl_system_list_turns(PawlSystem* system, PawlError* err) {
  Listing l = {.system = system, .dag = system->model->dag};
  int any = 0;
  l.count = pawl_dag_count(l.dag);
  for (int k = 0; k < l.count; k++) {
    any += kinks(l.dag, pawl_dag_node(l.dag, k));
  }
  if (any == 0) {
    return PAWL_OK;
  }
  system->turns = PAWL_NEW(&system->arena, PawlTurn, 2 * (size_t)any);
  l.moves = pawl_alloc((size_t)l.count, 1);
  l.marked = pawl_alloc((size_t)l.count, 1);
  l.course = pawl_alloc((size_t)l.count, sizeof(PawlCourse));
  l.limits = pawl_alloc((size_t)l.count, 1);
  bool room = system->turns && l.moves && l.marked && l.course && l.limits;
  PawlStatus status = room ? PAWL_OK : pawl_fail_memory(err);
  if (status == PAWL_OK) {
    find_moving(&l);
    status = list_turns(&l, err);
  }
  if (status == PAWL_OK) {
    status = list_kinks(&l, err);
  }
  pawl_free(l.moves);
  pawl_free(l.marked);
  pawl_free(l.course);
  pawl_free(l.limits);
  return status;
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
  return is_comparison(op) ? pick(dag, turn, pawl_dag_const(dag, 1.0), pawl_dag_const(dag, 0.0))
                           : pick(dag, turn, arg[0], arg[1]);
}

PawlNode pawl_kink_eased(PawlDag* dag, const PawlDagNode* kink, const PawlNode* arg, PawlNode plain,
                         PawlNode turn) {
  PawlNode none = pawl_dag_const(dag, 0.0), held;
  if (counts(dag, kink)) {  // turn = 2 n + 1
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
  if (counts(dag, kink)) {
    return pawl_kink_eased(dag, kink, arg, plain, turn);
  }
  if (op == PAWL_OP_SIGN) {
    return held_sign(dag, plain, turn);
  }
  PawlNode held = held_side(dag, op, arg, plain, turn);
  if (is_comparison(op)) {
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
      return pawl_system_guard(dag, from, map, condition_of(node, &n));
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
