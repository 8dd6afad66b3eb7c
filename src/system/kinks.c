// SPDX-License-Identifier: Apache-2.0
// Kinks as discrete variables (docs/theory/kinks.md): which operations of a model have corners or
// jumps that the motion can meet.
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/model.h"
#include "system/kinks_impl.h"
#include "system/system.h"

enum { MOST_TURNS = 1000 };  // in the constraints of one model
enum { MOST_KINKS = 1000 };  // in its forces and energies; more of them are not located
enum { MOST_TIMED = 1000 };  // the same of kinks of time alone

// How an operand matters: its value, or only on which side of something it is; JOINED: a comparison
// that and, or, not join to others; APART: to more than friction and capacities.
enum { VALUE = 1, SIDE = 2, JOINED = 4, APART = 8 };
// What a node depends on; HELD: inputs, which stay in a step.
enum { TIME = 1, MOTION = 2, REACTION = 4, HELD = 8, RATE = 16 };

typedef struct Listing {
  PawlSystem* system;
  const PawlDag* dag;
  int count;
  int mode_count;         // of all constraints
  bool splits;            // each of several comparisons that are joined is a kink of its own
  unsigned char* moves;   // TIME, MOTION, REACTION, HELD, RATE: what nodes depend on
  unsigned char* marked;  // VALUE, SIDE, JOINED, APART: nodes that the expressions at hand need
  bool* slips;            // rates at which friction slips: it has its own instants where one is 0
  PawlCourse* course;     // of nodes that depend on time alone
  unsigned char* limits;  // HAS_LIMIT, UNDER_LIMIT, GUARDS_LIMIT
} Listing;

// ---- which nodes --------------------------------------------------------------------------------
static bool joins(PawlOp op) {
  return op == PAWL_OP_AND || op == PAWL_OP_OR || op == PAWL_OP_NOT;
}

// Jumps in value, other than a comparison.
static bool jumps(const PawlDag* dag, const PawlDagNode* n) {
  bool corner = n->op == PAWL_OP_TABLE && n->index % PAWL_TABLE_VIEWS == PAWL_TABLE_VALUE;
  return (pawl_kink_counts(dag, n) && !corner) || n->op == PAWL_OP_SIGN || n->op == PAWL_OP_IF;
}

static bool kinks(const PawlDag* dag, const PawlDagNode* n) {
  return jumps(dag, n) || pawl_kink_counts(dag, n) || n->op == PAWL_OP_ABS ||
         n->op == PAWL_OP_MIN || n->op == PAWL_OP_MAX || pawl_op_is_logical(n->op);
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
                  : n->op == PAWL_OP_V                ? MOTION | RATE
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
         pawl_op_is_logical(op);
}

static unsigned char mark_of_operand(PawlOp op, int operand, unsigned char mark) {
  unsigned char side = (unsigned char)(SIDE | (mark & APART));
  return joins(op) ? side | JOINED : decides(op, operand) ? side : mark;
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
  PawlNode condition = pawl_kink_condition(node, n);
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
  PawlNode condition = pawl_kink_condition(turn->node, &n);
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
  PawlNode condition = pawl_kink_condition(node, pawl_dag_node(l->dag, node));
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
                      .counts = pawl_kink_counts(l->dag, pawl_dag_node(l->dag, node)),
                      .constraint = c,
                      .uses = PAWL_NEW(&system->arena, unsigned char, l->mode_count)};
  system->has_sides |= !(*turn)->counts;
  return (*turn)->uses ? name_sides(system, *turn, err) : pawl_fail_memory(err);
}

// What is built later has no kinks.
static void mark(Listing* l, PawlNode node) {
  if (node != PAWL_LATER) {
    l->marked[node] |= VALUE | APART;
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

// In friction alone the side of its own slip changes where that is zero, an instant anyway.
static bool is_of_slip(const Listing* l, PawlNode node) {
  const PawlDagNode* n = pawl_dag_node(l->dag, node);
  return !(l->marked[node] & APART) && (n->op == PAWL_OP_ABS || n->op == PAWL_OP_SIGN) &&
         l->slips[n->arg[0]];
}

// Conditions without an inside stay as they are, and so do kinks that guard a domain, and those
// that accelerations or multipliers decide on.
static bool is_kink(const Listing* l, PawlNode node) {
  PawlNode condition = pawl_kink_condition(node, pawl_dag_node(l->dag, node));
  return is_met(l, node) && (condition == PAWL_NO_NODE || has_inside(l->dag, condition)) &&
         !is_guard(l, node) && !(moves(l, node) & REACTION) && !is_of_slip(l, node);
}

static bool is_timed(const Listing* l, PawlNode node) {
  return is_kink(l, node) && is_foreseen(l, node);
}

static void mark_condition(Listing* l, PawlNode when) {
  if (when != PAWL_NO_NODE) {
    l->marked[when] |= SIDE | APART;
  }
}

// The conditions of what engages and lets go, and of events: where they jump, and where one of
// several comparisons turns.
static void mark_conditions(Listing* l) {
  const PawlModel* model = l->system->model;
  for (int c = 0; c < model->constraint_count; c++) {
    mark_condition(l, model->constraints[c].switching->engage.when);
    mark_condition(l, model->constraints[c].switching->release.when);
  }
  for (int k = 0; k < model->event_count; k++) {
    mark_condition(l, model->events[k].trigger.when);
  }
}

static void mark_gaps(Listing* l) {
  const PawlModel* model = l->system->model;
  for (int k = 0; k < model->contact_count; k++) {
    l->marked[model->contacts[k].gap] |= VALUE | APART;
  }
}

// Rates of slips: where one jumps, what sticks is left behind, and what slips may turn.
static void mark_slips(Listing* l) {
  const PawlModel* model = l->system->model;
  for (int k = 0; k < model->contact_count; k++) {
    for (int i = 0; i < model->contacts[k].slip_count; i++) {
      l->marked[model->contacts[k].slip[i]] |= VALUE | APART;
    }
  }
}

static bool any_marked_kink(Listing* l) {
  bool any = false;
  spread(l);
  for (int k = 0; k < l->count && !any; k++) {
    any = is_kink(l, k);
  }
  return any;
}

static bool gaps_kink(Listing* l) {
  memset(l->marked, 0, (size_t)l->count);
  mark_gaps(l);
  return any_marked_kink(l);
}

static bool slips_kink(Listing* l) {
  memset(l->marked, 0, (size_t)l->count);
  mark_slips(l);
  return any_marked_kink(l);
}

static void mark_terms(Listing* l) {
  const PawlModel* model = l->system->model;
  memset(l->marked, 0, (size_t)l->count);
  for (int k = 0; k < model->term_count; k++) {
    mark(l, model->terms[k].node);
  }
  for (int k = 0; k < model->state_count; k++) {
    if (model->states[k].rate != PAWL_NO_NODE) {
      l->marked[model->states[k].rate] |= VALUE | APART;
    }
  }
}

// ---- in friction and capacities -----------------------------------------------------------------
// What slides: constraints, then contacts. The expressions of one, PAWL_NO_NODE without.
static int slider_count(const PawlModel* model) {
  return model->constraint_count + model->contact_count;
}

static void slider_nodes(const PawlModel* model, int k, PawlNode of[2]) {
  int contact = k - model->constraint_count;
  of[0] =
      contact >= 0 ? model->contacts[contact].friction : model->constraints[k].switching->capacity;
  of[1] = contact >= 0 ? PAWL_NO_NODE : model->constraints[k].switching->friction;
}

static void mark_friction(Listing* l) {
  const PawlModel* model = l->system->model;
  for (int k = 0; k < slider_count(model); k++) {
    PawlNode of[2];
    slider_nodes(model, k, of);
    for (int i = 0; i < 2; i++) {
      if (of[i] != PAWL_NO_NODE) {
        l->marked[of[i]] |= VALUE;
      }
    }
  }
}

// The slips of contacts; of joints the rates of coordinates and rate equations.
static void find_slips(Listing* l) {
  const PawlModel* model = l->system->model;
  for (int k = 0; k < model->contact_count; k++) {
    for (int i = 0; i < model->contacts[k].slip_count; i++) {
      l->slips[model->contacts[k].slip[i]] = true;
    }
  }
  for (int c = 0; c < model->constraint_count; c++) {
    const PawlConstraint* k = &model->constraints[c];
    const PawlMode* held = k->triggered ? &k->modes[PAWL_MODE_HELD] : NULL;
    if (k->switching->capacity == PAWL_NO_NODE || held->rows[0].node == PAWL_LATER) {
      continue;
    }
    PawlDagNode row = *pawl_dag_node(l->dag, held->rows[0].node);
    PawlNode rate = held->rate            ? held->rows[0].node
                    : row.op == PAWL_OP_Q ? pawl_dag_leaf(model->dag, PAWL_OP_V, row.index)
                                          : PAWL_NO_NODE;
    if (rate >= 0 && rate < l->count) {
      l->slips[rate] = true;
    }
  }
}

// As spread(), but what decides on a kink of time alone is not needed where that is held.
static void spread_from_terms(Listing* l) {
  mark_terms(l);
  mark_conditions(l);
  mark_gaps(l);
  mark_slips(l);
  mark_friction(l);
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
// `most`: these go to *left. Those of friction that rates decide on are held while it slides.  (K4)
static int add_kinks(const Listing* l, bool timed, int first, int most, int* left) {
  int count = 0;
  for (int k = 0; k < l->count; k++) {
    if (is_kink(l, k) && is_timed(l, k) == timed && count++ < most) {
      l->system->turns[first + count - 1] =
          (PawlTurn){.node = k,
                     .counts = pawl_kink_counts(l->dag, pawl_dag_node(l->dag, k)),
                     .constraint = -1,
                     .slides = moves(l, k) & RATE && !(l->marked[k] & APART)};
    }
  }
  *left += count <= most ? 0 : count;
  return count <= most ? count : 0;
}

// Which kinks the motion feels.
static void find_felt(Listing* l) {
  PawlSystem* system = l->system;
  mark_terms(l);
  mark_friction(l);
  spread(l);
  for (int k = system->turn_count; k < system->turn_count + system->kink_count; k++) {
    system->turns[k].felt = l->marked[system->turns[k].node] != 0;
  }
}

// Notes, or counts, the kinks of slider k that are held while it slides; -1 when memory is short.
static int add_sliders(PawlSystem* system, int k, bool store) {
  PawlNode of[2];
  int added = 0;
  slider_nodes(system->model, k, of);
  for (int i = 0; i < 2; i++) {
    const PawlNode* nodes;
    int count = of[i] == PAWL_NO_NODE ? 0 : pawl_dag_reach(system->model->dag, 1, &of[i], &nodes);
    for (int n = 0; n < count; n++) {
      for (int t = system->turn_count; t < system->turn_count + system->kink_count; t++) {
        bool is = system->turns[t].slides && system->turns[t].node == nodes[n];
        if (is && store) {
          system->sliders[system->slider_count++] = (PawlSlider){t - system->turn_count, k};
        }
        added += is;
      }
    }
    if (count < 0) {
      return -1;
    }
  }
  return added;
}

static PawlStatus list_sliders(PawlSystem* system, PawlError* err) {
  bool any = false;
  int count = 0;
  for (int t = system->turn_count; t < system->turn_count + system->kink_count; t++) {
    any |= system->turns[t].slides;
  }
  for (int pass = 0; any && pass < 2; pass++) {
    for (int k = 0; k < slider_count(system->model); k++) {
      int added = add_sliders(system, k, pass == 1);
      if (added < 0) {
        return pawl_fail_memory(err);
      }
      count += added;
    }
    system->sliders = pass == 0 ? PAWL_NEW(&system->arena, PawlSlider, count) : system->sliders;
    if (!system->sliders) {
      return pawl_fail_memory(err);
    }
  }
  return PAWL_OK;
}

static PawlStatus list_kinks(Listing* l, PawlError* err) {
  PawlSystem* system = l->system;
  l->splits = true;
  find_courses(l);
  find_limits(l);
  find_slips(l);
  system->gaps_kink = gaps_kink(l);
  system->slips_kink = slips_kink(l);
  spread_from_terms(l);
  system->kink_count = add_kinks(l, false, system->turn_count, MOST_KINKS, &system->plain_count);
  int first = system->turn_count + system->kink_count;
  system->timed_count = add_kinks(l, true, first, MOST_TIMED, &system->plain_count);
  find_felt(l);
  PAWL_TRY(list_sliders(system, err));
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
  l.slips = pawl_alloc((size_t)l.count, sizeof(bool));
  bool room = system->turns && l.moves && l.marked && l.course && l.limits && l.slips;
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
  pawl_free(l.slips);
  return status;
}
