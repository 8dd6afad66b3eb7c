// SPDX-License-Identifier: Apache-2.0
// Finding out, after an evaluation gave a number that is not finite, which term of the model is to
// blame: first by the values of the terms themselves, then by their derivatives. And, where rows
// cannot be met, how large the terms are that cancel in them. Both run only then, so they evaluate
// the model's graph node by node.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/model.h"
#include "system/system.h"

typedef struct Written {  // an expression of the model with the words that describe it
  const char* what;
  const PawlSource* source;
  PawlNode node;
  PawlItemKind kind;
  int target;
} Written;

static const char SPRING_OF_POINTS[] = "the spring";
static const char FRICTION[] = "the friction of contact";  // counts while that is closed

static const char* remark(const Written* w) {
  return w->what == SPRING_OF_POINTS ? "; do its points meet? They have no direction then" : "";
}

typedef struct Search {
  const PawlSystem* system;
  const PawlModel* model;
  unsigned mask;  // what was asked for
  const PawlPoint* point;
  double* values;  // of every node of the model's graph
  PawlError* err;
} Search;

static double leaf_value(const Search* s, const PawlDagNode* node) {
  const PawlPoint* p = s->point;
  switch ((PawlLeaf)node->op) {
    case PAWL_LEAF_CONST:
      return node->value;
    case PAWL_LEAF_PARAM:
      return s->model->parameters[node->index].value;
    case PAWL_LEAF_TIME:
      return p->t;
    case PAWL_LEAF_Q:
      return p->q ? p->q[node->index] : 0.0;
    case PAWL_LEAF_QUAT:
      return p->q ? p->q[pawl_quat_place(s->model->turning, node->index)] : 0.0;
    case PAWL_LEAF_V:
    case PAWL_LEAF_STATE:
      return p->v ? p->v[node->index] : 0.0;
    case PAWL_LEAF_A:
      return p->a ? p->a[node->index] : 0.0;
    case PAWL_LEAF_LAMBDA:
      return p->lambda ? p->lambda[node->index] : 0.0;
    case PAWL_LEAF_INPUT:
      return pawl_system_inputs(s->system, p)[node->index];
    case PAWL_LEAF_TURN:  // the graph of the model has none
      break;
  }
  return 0.0;
}

static double operand_value(const Search* s, const PawlDagNode* node, int k) {
  return node->arg[k] == PAWL_NO_NODE ? 0.0 : s->values[node->arg[k]];
}

static void evaluate_all(Search* s) {
  int count = pawl_dag_count(s->model->dag);
  for (int k = 0; k < count; k++) {
    const PawlDagNode* node = pawl_dag_node(s->model->dag, k);
    s->values[k] = pawl_op_is_leaf(node->op)
                       ? leaf_value(s, node)
                       : pawl_dag_operate(s->model->dag, node, operand_value(s, node, 0),
                                          operand_value(s, node, 1), operand_value(s, node, 2));
  }
}

// From a node that is not finite down to the operation that made it so.
static PawlNode culprit(const Search* s, PawlNode node) {
  for (;;) {
    const PawlDagNode* n = pawl_dag_node(s->model->dag, node);
    PawlNode bad = PAWL_NO_NODE;
    for (int k = 0; k < pawl_op_operands(n->op); k++) {
      bool branch_not_taken =
          n->op == PAWL_OP_IF && k > 0 && (s->values[n->arg[0]] != 0.0) != (k == 1);
      if (!branch_not_taken && !isfinite(s->values[n->arg[k]])) {
        bad = n->arg[k];
        break;
      }
    }
    if (bad == PAWL_NO_NODE) {
      return node;
    }
    node = bad;
  }
}

static void leaf_name(void* context, PawlText* out, PawlStyle style, PawlOp leaf, int index) {
  const PawlModel* model = context;
  (void)style;
  switch ((PawlLeaf)leaf) {
    case PAWL_LEAF_PARAM:
      pawl_text_add(out, model->parameters[index].name);
      break;
    case PAWL_LEAF_TIME:
      pawl_text_add(out, "t");
      break;
    case PAWL_LEAF_LAMBDA:
      pawl_text_printf(out, "lambda[%d]", index);
      break;
    case PAWL_LEAF_Q:
    case PAWL_LEAF_V:
    case PAWL_LEAF_A:
      pawl_text_add(out, model->coordinates[index].name);
      if (pawl_model_spin(model, index) >= 0) {
        pawl_text_add(out, leaf == PAWL_OP_A ? "'" : "");
        break;
      }
      pawl_text_add(out, leaf == PAWL_OP_V                  ? "'"
                         : leaf == PAWL_OP_Q                ? ""
                         : index >= model->coordinate_count ? "'"
                                                            : "''");
      break;
    case PAWL_LEAF_STATE:
      pawl_text_add(out, model->coordinates[index].name);
      break;
    case PAWL_LEAF_QUAT:
      pawl_text_add(
          out, model->rotations[pawl_model_rotation(model, index / 4)].quaternion_names[index % 4]);
      break;
    case PAWL_LEAF_INPUT:
      pawl_text_add(out, model->inputs[index].name);
      break;
    case PAWL_LEAF_CONST:  // the printer writes numbers itself
    case PAWL_LEAF_TURN:   // the graph of the model has none
      break;
  }
}

static PawlStatus blame_value(const Search* s, const Written* w, PawlNode root) {
  PawlNode node = culprit(s, root);
  const PawlDagNode* n = pawl_dag_node(s->model->dag, node);
  PawlText text = {0};
  pawl_dag_print(&text, s->model->dag, node, PAWL_STYLE_TEXT, leaf_name, (void*)s->model);
  PawlText operands = {0};
  for (int k = 0; k < pawl_op_operands(n->op); k++) {
    // With all digits at the end of a table, which may be left by a rounding.
    pawl_text_printf(&operands, n->op == PAWL_OP_TABLE ? "%s%.17g" : "%s%.10g", k ? ", " : "",
                     s->values[n->arg[k]]);
  }
  if (n->op == PAWL_OP_TABLE) {
    double from, to;
    pawl_table_range(pawl_dag_table_of(s->model->dag, n), &from, &to);
    pawl_text_printf(&operands, "; the table goes from %.10g to %.10g", from, to);
  }
  PawlStatus status = pawl_fail(
      s->err, PAWL_RETRY,
      "%s:%d:%d: t = %.10g: '%.300s' has no finite value (operands %s), in %s '%.300s'%s",
      s->model->file, w->source->line, w->source->column, s->point->t, text.s ? text.s : "?",
      operands.s ? operands.s : "none", w->what, w->source->text ? w->source->text : "", remark(w));
  pawl_text_free(&text);
  pawl_text_free(&operands);
  return status;
}

// ---- derivatives --------------------------------------------------------------------------------
typedef struct Trial {  // one term, derived alone and evaluated entry by entry
  const Search* search;
  PawlDag* dag;
  PawlLeafValues leaves;
  int coordinate_count, coordinate_capacity;
  int* coordinates;  // ascending
  bool constants_only;
  bool bad;
  PawlQuantity quantity;  // of the first entry that is not finite
} Trial;

static int list_coordinates(void* context, PawlOp leaf, int index) {
  Trial* trial = context;
  int first = index / 4;
  if (leaf == PAWL_OP_QUAT) {
    return list_coordinates(context, PAWL_OP_V, first) != 0 ||
                   list_coordinates(context, PAWL_OP_V, first + 1) != 0 ||
                   list_coordinates(context, PAWL_OP_V, first + 2) != 0
               ? -1
               : 0;
  }
  if (leaf != PAWL_OP_Q && leaf != PAWL_OP_V && leaf != PAWL_OP_A && leaf != PAWL_OP_STATE) {
    return 0;
  }
  int at = 0;
  while (at < trial->coordinate_count && trial->coordinates[at] < index) {
    at++;
  }
  if (at < trial->coordinate_count && trial->coordinates[at] == index) {
    return 0;
  }
  if (PAWL_GROW(trial->coordinates, trial->coordinate_capacity, trial->coordinate_count + 1) != 0) {
    return -1;
  }
  for (int k = trial->coordinate_count++; k > at; k--) {
    trial->coordinates[k] = trial->coordinates[k - 1];
  }
  trial->coordinates[at] = index;
  return 0;
}

static int is_variable(void* context, PawlOp leaf, int index) {
  (void)context;
  (void)index;
  return leaf != PAWL_OP_PARAM;
}

static int try_entry(void* context, PawlQuantity quantity, int i, int j, PawlNode node) {
  Trial* trial = context;
  (void)i;
  (void)j;
  if (trial->bad || !(trial->search->mask & pawl_quantity_mask(quantity))) {
    return 0;
  }
  if (trial->constants_only && pawl_dag_leaves(trial->dag, node, is_variable, NULL) != 0) {
    return 0;
  }
  double value;
  if (pawl_dag_value(trial->dag, node, &trial->leaves, &value, NULL) != PAWL_OK) {
    return -1;
  }
  trial->bad = !isfinite(value);
  trial->quantity = quantity;
  return 0;
}

static PawlNode same_leaf(void* context, PawlDag* to, PawlOp leaf, int index) {
  (void)context;
  return pawl_dag_leaf(to, leaf, index);
}

static PawlStatus derive_alone(Trial* trial, const Written* w) {
  PawlNode node = pawl_dag_copy(trial->dag, trial->search->model->dag, w->node, same_leaf, NULL);
  if (node == PAWL_NO_NODE || pawl_dag_leaves(trial->dag, node, list_coordinates, trial) != 0 ||
      ((w->kind == PAWL_ITEM_FORCE || w->kind == PAWL_ITEM_STATE) &&
       list_coordinates(trial, PAWL_OP_Q, w->target) != 0)) {
    return PAWL_ERROR_MEMORY;
  }
  PawlItem item = {w->kind, w->target, 1, &node, -1};
  PawlSpins spins = {.model = trial->search->model};
  return pawl_derive_item(trial->dag, &item, &spins, trial->coordinate_count, trial->coordinates,
                          try_entry, trial);
}

static PawlStatus blame_derivative(const Search* s, const Written* w, const Trial* trial) {
  static const char* const needed[PAWL_QUANTITY_COUNT] = {
      [PAWL_Q_M] = "the mass matrix",
      [PAWL_Q_F] = "the forces",
      [PAWL_Q_K] = "the stiffness",
      [PAWL_Q_C] = "the damping",
      [PAWL_Q_G] = "the constraint",
      [PAWL_Q_GRAD] = "the gradient",
      [PAWL_Q_GT] = "the time gradient",
      [PAWL_Q_GAMMA] = "the acceleration level",
      [PAWL_Q_ENERGY] = "the energy",
      [PAWL_Q_OUTPUT] = "the output",
      [PAWL_Q_GRATE] = "the velocity tangent",
      [PAWL_Q_GACC] = "the acceleration tangent",
      [PAWL_Q_GTURN] = "the acceleration tangent",
      [PAWL_Q_Z] = "a switching function",
      [PAWL_Q_ZRATE] = "the rate of a switching function",
      [PAWL_Q_WATCH] = "a condition",
      [PAWL_Q_WATCHRATE] = "the rate of a condition",
      [PAWL_Q_POWER] = "the power",
  };
  enum { MOST_SHOWN = 4 };
  PawlText at = {0};
  for (int k = 0; k < trial->coordinate_count && k < MOST_SHOWN; k++) {
    int c = trial->coordinates[k];
    pawl_text_printf(&at, "%s'%s' = %.10g, '%s'' = %.10g", k ? ", " : "",
                     s->model->coordinates[c].name, trial->leaves.q[c],
                     s->model->coordinates[c].name, trial->leaves.v[c]);
  }
  PawlStatus status = pawl_fail(
      s->err, PAWL_RETRY,
      "%s:%d:%d: t = %.10g: a derivative for %s is not finite at %s, in %s '%.300s'%s",
      s->model->file, w->source->line, w->source->column, s->point->t, needed[trial->quantity],
      at.s ? at.s : "any point", w->what, w->source->text ? w->source->text : "", remark(w));
  pawl_text_free(&at);
  return status;
}

// PAWL_OK when every entry that the mask names is finite.
static PawlStatus try_term(const Search* s, const Written* w, bool constants_only) {
  const PawlPoint* p = s->point;
  size_t most = (size_t)s->system->sizes.v + (size_t)s->system->sizes.rows;
  double* zeros = pawl_alloc(most, sizeof(double));
  double* parameters = pawl_alloc((size_t)s->model->parameter_count, sizeof(double));
  Trial trial = {.search = s, .dag = pawl_dag_create(), .constants_only = constants_only};
  PawlStatus status = PAWL_ERROR_MEMORY;
  if (zeros && parameters && trial.dag) {
    for (int k = 0; k < s->model->parameter_count; k++) {
      parameters[k] = s->model->parameters[k].value;
    }
    trial.leaves = (PawlLeafValues){.t = p->t,
                                    .param = parameters,
                                    .q = p->q ? p->q : zeros,
                                    .v = p->v ? p->v : zeros,
                                    .a = p->a ? p->a : zeros,
                                    .lambda = p->lambda ? p->lambda : zeros,
                                    .input = pawl_system_inputs(s->system, p),
                                    .turning = s->model->turning};
    status = derive_alone(&trial, w);
    if (status == PAWL_OK && trial.bad) {
      status = blame_derivative(s, w, &trial);
    }
  }
  pawl_dag_destroy(trial.dag);
  pawl_free(trial.coordinates);
  pawl_free(parameters);
  pawl_free(zeros);
  return status == PAWL_ERROR_MEMORY ? pawl_fail_memory(s->err) : status;
}

// ---- all terms ----------------------------------------------------------------------------------
typedef struct Cursor {  // all zero: before the first expression
  int term, constraint, mode, row, contact, slip, friction, output, switching, part, event, impulse,
      state, set;
} Cursor;

// Conditions, capacities and the like.
static bool next_watched(const PawlModel* model, Cursor* at, Written* out) {
  for (; at->switching < model->constraint_count; at->switching++, at->part = 0) {
    const PawlConstraint* c = &model->constraints[at->switching];
    const PawlNode of[] = {c->switching->engage.when, c->switching->release.when,
                           c->switching->capacity, c->switching->friction, c->snap_to};
    while (at->part < (int)(sizeof of / sizeof *of)) {
      PawlItemKind kind = at->part < 2 ? PAWL_ITEM_CONDITION : PAWL_ITEM_WATCH;
      PawlNode node = of[at->part++];
      if (node != PAWL_NO_NODE) {
        *out = (Written){"a condition, capacity or value of", &c->source, node, kind, 0};
        return true;
      }
    }
  }
  for (; at->event < model->event_count; at->event++) {
    const PawlEventDef* event = &model->events[at->event];
    if (event->trigger.when != PAWL_NO_NODE) {
      at->event++;
      *out = (Written){"the condition of", &event->source, event->trigger.when, PAWL_ITEM_CONDITION,
                       0};
      return true;
    }
  }
  for (int e = 0; at->impulse < model->impulse_count && e < model->event_count; e++) {
    const PawlEventDef* event = &model->events[e];
    if (at->impulse < event->first_impulse + event->impulse_count) {
      PawlNode node = model->impulses[at->impulse++].node;
      *out = (Written){"the impulse of", &event->source, node, PAWL_ITEM_WATCH, 0};
      return true;
    }
  }
  if (at->set < model->set_count) {
    const PawlSet* set = &model->sets[at->set++];
    *out = (Written){"what an event sets,", &set->source, set->node, PAWL_ITEM_WATCH, 0};
    return true;
  }
  return false;
}

// The next expression of the model; false past the last.
static bool next_written(const PawlModel* model, Cursor* at, Written* out) {
  static const char* const name[] = {"kinetic", "potential", "dissipation", "force"};
  static const PawlItemKind kind[] = {PAWL_ITEM_KINETIC, PAWL_ITEM_POTENTIAL, PAWL_ITEM_DISSIPATION,
                                      PAWL_ITEM_FORCE};
  if (at->term < model->term_count) {
    const PawlTerm* term = &model->terms[at->term++];
    const char* what = term->of_points ? SPRING_OF_POINTS : name[term->kind];
    *out = (Written){what, &term->source, term->node, kind[term->kind], term->target};
    return true;
  }
  for (; at->state < model->state_count; at->state++) {
    const PawlStateDef* state = &model->states[at->state];
    if (state->rate != PAWL_NO_NODE) {
      at->state++;
      *out =
          (Written){"the rate of", &state->source, state->rate, PAWL_ITEM_STATE, state->coordinate};
      return true;
    }
  }
  for (; at->constraint < model->constraint_count; at->constraint++, at->mode = 0) {
    const PawlConstraint* constraint = &model->constraints[at->constraint];
    for (; at->mode < constraint->mode_count; at->mode++, at->row = 0) {
      const PawlMode* mode = &constraint->modes[at->mode];
      if (at->row < mode->row_count) {
        const PawlRow* row = &mode->rows[at->row];
        *out = (Written){"constraint", &row->source, row->node,
                         mode->rate ? PAWL_ITEM_RATE : PAWL_ITEM_CONSTRAINT,
                         constraint->first_row + at->row};
        at->row++;
        return true;
      }
    }
  }
  if (at->contact < model->contact_count) {
    const PawlContact* contact = &model->contacts[at->contact];
    if (at->slip < contact->slip_count) {
      *out = (Written){"the slip of contact", &contact->source, contact->slip[at->slip],
                       PAWL_ITEM_SLIP, model->row_count + contact->first_slip + at->slip};
      at->slip++;
      return true;
    }
    *out = (Written){"contact", &contact->source, contact->gap, PAWL_ITEM_CONSTRAINT,
                     model->row_count + model->slip_count + at->contact};
    at->contact++;
    at->slip = 0;
    return true;
  }
  for (; at->friction < model->contact_count; at->friction++) {
    const PawlContact* contact = &model->contacts[at->friction];
    if (contact->friction != PAWL_NO_NODE) {
      at->friction++;
      *out = (Written){FRICTION, &contact->source, contact->friction, PAWL_ITEM_WATCH, 0};
      return true;
    }
  }
  if (at->output < model->output_count) {
    const PawlOutput* output = &model->outputs[at->output];
    *out = (Written){"output", &output->source, output->node, PAWL_ITEM_OUTPUT, at->output};
    at->output++;
    return true;
  }
  return next_watched(model, at, out);
}

static bool is_asked(const Search* s, PawlItemKind kind) {
  switch (kind) {
    case PAWL_ITEM_OUTPUT:
      return s->mask & PAWL_OUTPUTS;
    case PAWL_ITEM_WATCH:
      return s->mask & PAWL_WATCHES;
    case PAWL_ITEM_CONDITION:
      return s->mask & (PAWL_WATCHES | PAWL_SURFACES);  // with `and` it has a kink
    default:
      return true;
  }
}

// What has no finite value; of a condition that is true or false (log(x') > 1) what it compares.
// PAWL_NO_NODE when all have one.
static PawlNode without_value(const Search* s, PawlNode node) {
  const PawlDagNode* n = pawl_dag_node(s->model->dag, node);
  PawlNode bad = isfinite(s->values[node]) ? PAWL_NO_NODE : node;
  for (int k = 0; pawl_op_is_logical(n->op) && k < pawl_op_operands(n->op); k++) {
    bad = bad == PAWL_NO_NODE ? without_value(s, n->arg[k]) : bad;
  }
  return bad;
}

// The first term without a value; `friction`: of contacts, or all others.
static bool search_values(Search* s, bool friction, PawlStatus* status) {
  Written w;
  for (Cursor at = {0}; next_written(s->model, &at, &w);) {
    bool asked = friction ? w.what == FRICTION : w.what != FRICTION && is_asked(s, w.kind);
    PawlNode bad = asked ? without_value(s, w.node) : PAWL_NO_NODE;
    if (bad != PAWL_NO_NODE) {
      *status = blame_value(s, &w, bad);
      return true;
    }
  }
  return false;
}

// Terms first by their values, then by their derivatives. The friction of contacts, which may be
// open, comes last: it may have left a kink without a value.
static PawlStatus search_terms(Search* s) {
  Written w;
  PawlStatus status;
  if (search_values(s, false, &status)) {
    return status;
  }
  for (Cursor at = {0}; next_written(s->model, &at, &w);) {
    PAWL_TRY(try_term(s, &w, false));
  }
  if (search_values(s, true, &status)) {
    return status;
  }
  return pawl_fail(s->err, PAWL_RETRY, "%s: t = %.10g: the equations of motion are not finite",
                   s->model->file, s->point->t);
}

// Evaluates the model's graph at a point, with room that the caller frees.
static PawlStatus begin_search(Search* s) {
  PAWL_TRY(pawl_model_complete(s->model, s->err));
  s->values = pawl_alloc((size_t)pawl_dag_count(s->model->dag), sizeof(double));
  if (!s->values) {
    return pawl_fail_memory(s->err);
  }
  evaluate_all(s);
  return PAWL_OK;
}

PawlStatus pawl_system_fault(const PawlSystem* system, unsigned mask, const PawlPoint* point,
                             PawlError* err) {
  Search s = {system, system->model, mask, point, NULL, err};
  PAWL_TRY(begin_search(&s));
  PawlStatus status = search_terms(&s);
  pawl_free(s.values);
  return status;
}

PawlStatus pawl_system_check_friction(const PawlSystem* system, int row, double mu,
                                      const PawlPoint* point, PawlError* err) {
  const PawlContact* contact = &system->model->contacts[row - system->first_contact];
  if (mu >= 0.0 && isfinite(mu)) {
    return PAWL_OK;
  }
  if (isfinite(mu) || contact->friction == PAWL_NO_NODE) {
    return pawl_fail(err, PAWL_ERROR_RUN,
                     "t = %.10g: the friction of contact '%.100s' is %g, must be >= 0", point->t,
                     contact->name, mu);
  }
  Search s = {system, system->model, PAWL_WATCHES, point, NULL, err};
  pawl_lock_take(system->lock);
  PawlStatus status = begin_search(&s);
  if (status == PAWL_OK) {
    Written w = {FRICTION, &contact->source, contact->friction, PAWL_ITEM_WATCH, 0};
    PawlNode bad = without_value(&s, w.node);
    status = blame_value(&s, &w, bad != PAWL_NO_NODE ? bad : w.node);
  }
  pawl_free(s.values);
  pawl_lock_leave(system->lock);
  return status;
}

// Marks the nodes that `root` needs; returns the lowest that is not finite at any point: it has no
// variable under it. PAWL_NO_NODE when there is none.
static PawlNode constant_fault(const Search* s, PawlNode root, unsigned char* needed,
                               const unsigned char* varies) {
  PawlNode found = PAWL_NO_NODE;
  memset(needed, 0, (size_t)root + 1);
  needed[root] = 1;
  for (PawlNode k = root; k >= 0; k--) {
    if (!needed[k]) {
      continue;
    }
    const PawlDagNode* node = pawl_dag_node(s->model->dag, k);
    found = !varies[k] && !isfinite(s->values[k]) ? k : found;
    for (int a = 0; a < pawl_op_operands(node->op); a++) {
      needed[node->arg[a]] = 1;
    }
  }
  return found;
}

PawlStatus pawl_system_constant_fault(const PawlSystem* system, PawlError* err) {
  PAWL_TRY(pawl_model_complete(system->model, err));
  int count = pawl_dag_count(system->model->dag);
  PawlPoint nowhere = {0};
  Search s = {system, system->model, PAWL_EVERYTHING, &nowhere, NULL, err};
  s.values = pawl_alloc((size_t)count, sizeof(double));
  unsigned char* room = pawl_alloc(2 * (size_t)count, 1);
  unsigned char *needed = room, *varies = room + count;
  PawlStatus status = s.values && room ? PAWL_OK : pawl_fail_memory(err);
  if (status == PAWL_OK) {
    evaluate_all(&s);
    for (int k = 0; k < count; k++) {
      const PawlDagNode* node = pawl_dag_node(s.model->dag, k);
      varies[k] =
          pawl_op_is_leaf(node->op) && node->op != PAWL_OP_CONST && node->op != PAWL_OP_PARAM;
      for (int a = 0; a < pawl_op_operands(node->op); a++) {
        varies[k] |= varies[node->arg[a]];
      }
    }
    Written w;
    for (Cursor at = {0}; status == PAWL_OK && next_written(s.model, &at, &w);) {
      PawlNode fault = constant_fault(&s, w.node, needed, varies);
      status = fault == PAWL_NO_NODE ? PAWL_OK : blame_value(&s, &w, fault);
    }
    for (Cursor at = {0}; status == PAWL_OK && next_written(s.model, &at, &w);) {
      status = try_term(&s, &w, true);
    }
    if (status == PAWL_OK) {
      status = pawl_fail(err, PAWL_RETRY, "%s: a constant of the equations of motion is not finite",
                         s.model->file);
    }
  }
  pawl_free(s.values);
  pawl_free(room);
  if (status == PAWL_RETRY && err) {
    err->status = PAWL_ERROR_MODEL;
  }
  return status == PAWL_RETRY ? PAWL_ERROR_MODEL : status;
}

// ---- what rows are summed from ------------------------------------------------------------------
// How large the numbers are that a node is the sum of, whatever is left of them.            (E15)
static double summed_size(const Search* s, const PawlDagNode* n, PawlNode node,
                          const double* sizes) {
  double value = fabs(s->values[node]);
  double a = n->arg[0] == PAWL_NO_NODE ? 0.0 : fabs(s->values[n->arg[0]]);
  double b = n->arg[1] == PAWL_NO_NODE ? 0.0 : fabs(s->values[n->arg[1]]);
  double of_a = n->arg[0] == PAWL_NO_NODE ? 0.0 : sizes[n->arg[0]];
  double of_b = n->arg[1] == PAWL_NO_NODE ? 0.0 : sizes[n->arg[1]];
  switch (n->op) {
    case PAWL_OP_NEG:
      return of_a;
    case PAWL_OP_ADD:
    case PAWL_OP_SUB:
      return of_a + of_b;
    case PAWL_OP_MUL:
      return a * of_b + b * of_a;
    case PAWL_OP_DIV:
      return (of_a + value * of_b) / b;
    case PAWL_OP_POWI:
      return a > 0.0 ? abs(n->index) * value / a * of_a : 0.0;
    default:
      return value;
  }
}

PawlStatus pawl_system_row_terms(const PawlSystem* system, const PawlPoint* point, double* terms,
                                 PawlError* err) {
  for (int i = 0; i < system->sizes.rows; i++) {
    terms[i] = 0.0;
  }
  if (!system->model) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_model_complete(system->model, err));
  int count = pawl_dag_count(system->model->dag);
  double* room = pawl_alloc(2 * (size_t)count, sizeof(double));
  Search s = {system, system->model, PAWL_POSITION, point, room, err};
  double* sizes = room + count;
  if (!room) {
    return pawl_fail_memory(err);
  }
  evaluate_all(&s);
  for (PawlNode k = 0; k < count; k++) {
    const PawlDagNode* node = pawl_dag_node(s.model->dag, k);
    sizes[k] = pawl_op_is_leaf(node->op) ? fabs(s.values[k]) : summed_size(&s, node, k, sizes);
  }
  Written w;
  for (Cursor at = {0}; next_written(s.model, &at, &w);) {
    if (w.kind == PAWL_ITEM_CONSTRAINT && sizes[w.node] > terms[w.target]) {  // not where NaN
      terms[w.target] = sizes[w.node];
    }
  }
  pawl_free(room);
  return PAWL_OK;
}
