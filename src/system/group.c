// SPDX-License-Identifier: Apache-2.0
// Sorting the terms of a model into groups. The parameters become numbers, sums fall apart into
// their addends, each addend gets a shape; a shape met often becomes a group with one lane for each
// instance, derived once; all other terms go together into one group with a single lane, where they
// share subexpressions and their contributions are summed symbolically.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "expr/normal.h"
#include "model/model.h"
#include "system/shape.h"
#include "system/squares.h"

enum { FEWEST_LANES = 4 };  // below this a shape is not worth a group of its own
// Kinetic energies that cost less than the first are short when multiplied out, and those that cost
// more than the second are long; between them both ways are tried (docs/theory/squares.md). Passes
// over all forms, one for each coordinate, are for models that are not large.
enum { LEAST_ENERGY = 60, MOST_ENERGY = 250, MOST_COORDINATES = 64 };

typedef struct Shape {
  uint64_t hash;
  int token_count, first_token;  // in Sorter.tokens
  int item_count, last_item;     // items of this shape, chained through Placed.previous
} Shape;

typedef struct Placed {  // an item with its shape
  PawlItem item;
  int shape, previous;
  int coordinate_count, row_count, number_count;
  int coordinates, rows, numbers;  // offsets in the Sorter's lists
  bool turns;
} Placed;

typedef struct Sorter {
  PawlSystem* system;
  PawlDag* dag;       // the model's expressions with parameters as numbers
  PawlNode* folded;   // node of the model -> node of dag
  PawlNode* eased;    // the same for forces and energies, with kinks as they are at the point
  PawlNode* unwound;  // the same for constraints, with each kink as the branch of its turn
  PawlShaper* shaper;
  int shape_count, shape_capacity, item_count, item_capacity, token_count, token_capacity;
  Shape* shapes;
  Placed* items;
  int* tokens;
  int table_size;  // power of two
  int* table;      // hash -> shape + 1
  int coordinate_count, coordinate_capacity, row_count, row_capacity, number_count, number_capacity;
  int *coordinates, *rows;
  double* numbers;
} Sorter;

// ---- parameters to numbers ----------------------------------------------------------------------
static PawlNode fold_node(Sorter* s, const PawlNode* folded, const PawlDagNode* node) {
  if (node->op == PAWL_OP_CONST) {
    return pawl_dag_const(s->dag, node->value);
  }
  if (node->op == PAWL_OP_PARAM) {
    return pawl_dag_const(s->dag, s->system->model->parameters[node->index].value);
  }
  if (node->op == PAWL_OP_POWI) {
    return pawl_dag_powi(s->dag, folded[node->arg[0]], node->index);
  }
  if (pawl_op_is_leaf(node->op)) {
    return pawl_dag_leaf(s->dag, node->op, node->index);
  }
  PawlNode arg[3] = {PAWL_NO_NODE, PAWL_NO_NODE, PAWL_NO_NODE};
  for (int k = 0; k < pawl_op_operands(node->op); k++) {
    arg[k] = folded[node->arg[k]];
  }
  return pawl_dag_apply(s->dag, node->op, arg[0], arg[1], arg[2]);
}

// The place of a kink in a part of the list of turns; -1 without.
static int turn_of(const PawlSystem* system, int first, int count, PawlNode node) {
  for (int k = first; k < first + count; k++) {
    if (system->turns[k].node == node) {
      return k;
    }
  }
  return -1;
}

static void operands(const PawlNode* map, const PawlDagNode* node, PawlNode* arg) {
  for (int k = 0; k < 3; k++) {
    arg[k] = k < pawl_op_operands(node->op) ? map[node->arg[k]] : PAWL_NO_NODE;
  }
}

// A node as constraints have it: kinks are the branch of their turn.
static PawlNode unwind(Sorter* s, PawlNode of_model, const PawlDagNode* node) {
  int turn = turn_of(s->system, 0, s->system->turn_count, of_model);
  PawlNode arg[3];
  if (turn < 0) {
    return fold_node(s, s->unwound, node);
  }
  operands(s->unwound, node, arg);
  return pawl_kink_branch(s->dag, node->op, arg, pawl_dag_leaf(s->dag, PAWL_OP_TURN, turn));
}

// A node as forces and energies have it: kinks are free, or the branch that they are held on.
static PawlNode ease(Sorter* s, PawlNode of_model, const PawlDagNode* node) {
  const PawlSystem* system = s->system;
  int timed = system->turn_count + system->kink_count;  // the first of those
  int kink =
      turn_of(system, system->turn_count, system->kink_count + system->timed_count, of_model);
  PawlNode plain = fold_node(s, s->eased, node), arg[3];
  if (kink < 0) {
    return plain;
  }
  operands(s->eased, node, arg);
  PawlNode turn = pawl_dag_leaf(s->dag, PAWL_OP_TURN, kink);
  return kink < timed ? pawl_kink_eased(s->dag, node->op, arg, plain, turn)
                      : pawl_kink_timed(s->dag, node->op, arg, plain, turn);
}

static PawlStatus fold_parameters(Sorter* s, PawlError* err) {
  const PawlDag* from = s->system->model->dag;
  int count = pawl_dag_count(from), kinks = s->system->kink_count + s->system->timed_count;
  s->dag = pawl_dag_create();
  s->folded = pawl_alloc((size_t)count, sizeof(PawlNode));
  s->unwound = pawl_alloc((size_t)count, sizeof(PawlNode));
  s->eased = pawl_alloc((size_t)count, sizeof(PawlNode));
  if (!s->dag || !s->folded || !s->unwound || !s->eased) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; k < count; k++) {
    const PawlDagNode* node = pawl_dag_node(from, k);
    s->folded[k] = fold_node(s, s->folded, node);
    s->unwound[k] = s->system->turn_count == 0 ? s->folded[k] : unwind(s, k, node);
    s->eased[k] = kinks == 0 ? s->folded[k] : ease(s, k, node);
    if (s->folded[k] == PAWL_NO_NODE || s->unwound[k] == PAWL_NO_NODE ||
        s->eased[k] == PAWL_NO_NODE) {
      return pawl_fail_memory(err);
    }
  }
  return PAWL_OK;
}

// ---- items --------------------------------------------------------------------------------------
static int add_item(Sorter* s, PawlItemKind kind, int target, int count, const PawlNode* nodes,
                    int gate) {
  if (PAWL_GROW(s->items, s->item_capacity, s->item_count + 1) != 0) {
    return -1;
  }
  PawlNode* kept = PAWL_NEW(&s->system->arena, PawlNode, count);
  if (!kept) {
    return -1;
  }
  memcpy(kept, nodes, (size_t)count * sizeof *kept);
  s->items[s->item_count++] = (Placed){.item = {kind, target, count, kept, gate}};
  return 0;
}

typedef struct Addend {
  PawlNode node;
  bool negative;
} Addend;

// Splits a sum into its addends, in the order written.
static int add_addends(Sorter* s, PawlItemKind kind, int target, PawlNode sum) {
  Addend* stack = NULL;
  int count = 0, capacity = 0, failed = PAWL_GROW(stack, capacity, 1);
  if (!failed) {
    stack[count++] = (Addend){sum, false};
  }
  while (!failed && count > 0) {
    Addend top = stack[--count];
    PawlDagNode node = *pawl_dag_node(s->dag, top.node);
    if (node.op == PAWL_OP_ADD || node.op == PAWL_OP_SUB || node.op == PAWL_OP_NEG) {
      failed = PAWL_GROW(stack, capacity, count + 2);
      if (!failed && node.op != PAWL_OP_NEG) {
        stack[count++] = (Addend){node.arg[1], top.negative != (node.op == PAWL_OP_SUB)};
      }
      if (!failed) {
        stack[count++] = (Addend){node.arg[0], top.negative != (node.op == PAWL_OP_NEG)};
      }
    } else {
      PawlNode addend = top.negative ? pawl_dag_neg(s->dag, top.node) : top.node;
      failed = addend == PAWL_NO_NODE ? -1 : add_item(s, kind, target, 1, &addend, -1);
    }
  }
  pawl_free(stack);
  return failed;
}

// One item for each mode; `gate` is that of the first, -1 for a constraint with one mode.
static int add_constraint(Sorter* s, const PawlConstraint* constraint, int gate) {
  for (int m = 0; m < constraint->mode_count; m++) {
    const PawlMode* mode = &constraint->modes[m];
    PawlNode* nodes = PAWL_NEW(&s->system->arena, PawlNode, mode->row_count);
    if (!nodes) {
      return -1;
    }
    for (int k = 0; k < mode->row_count; k++) {
      nodes[k] = s->unwound[mode->rows[k].node];
    }
    if (mode->row_count > 0 && add_item(s, PAWL_ITEM_CONSTRAINT, constraint->first_row,
                                        mode->row_count, nodes, gate < 0 ? -1 : gate + m) != 0) {
      return -1;
    }
  }
  return 0;
}

static PawlStatus add_guards(Sorter* s, PawlError* err) {
  const PawlSystem* system = s->system;
  const PawlModel* model = system->model;
  for (int k = 0; k < system->guard_count; k++) {
    const PawlConstraint* c = &model->constraints[system->guards[k].constraint];
    const PawlMode* mode = &c->modes[system->guards[k].mode];
    PawlNode z = pawl_system_guard(s->dag, model->dag, s->unwound, mode->where);
    if (z == PAWL_NO_NODE || pawl_dag_is_const(s->dag, z, NULL)) {
      return pawl_fail(err, PAWL_ERROR_MODEL,
                       "%s:%d:%d: constraint '%s', mode '%s': the region must be made of "
                       "comparisons (<, <=, >, >=) that hold on a part of space, joined by and, "
                       "or, not",
                       model->file, mode->source.line, mode->source.column, c->name, mode->name);
    }
    if (add_item(s, PAWL_ITEM_GUARD, k, 1, &z, -1) != 0) {
      return pawl_fail_memory(err);
    }
  }
  for (int k = 0; k < system->turn_count; k++) {
    PawlNode z = pawl_kink_surface(s->dag, model->dag, s->unwound, system->turns[k].node);
    if (z == PAWL_NO_NODE ||
        add_item(s, PAWL_ITEM_GUARD, system->guard_count + k, 1, &z, -1) != 0) {
      return pawl_fail_memory(err);
    }
  }
  for (int k = system->turn_count; k < system->turn_count + system->kink_count; k++) {
    PawlNode z = pawl_kink_surface(s->dag, model->dag, s->eased, system->turns[k].node);
    if (z == PAWL_NO_NODE || add_item(s, PAWL_ITEM_KINK, system->guard_count + k, 1, &z, -1) != 0) {
      return pawl_fail_memory(err);
    }
  }
  return PAWL_OK;
}

// A condition that is true or false: positive where it is true.
static PawlNode condition(const Sorter* s, PawlNode when) {
  const PawlDag* from = s->system->model->dag;
  PawlOp op = pawl_dag_node(from, when)->op;
  return op >= PAWL_OP_LT && op <= PAWL_OP_NOT ? pawl_system_guard(s->dag, from, s->folded, when)
                                               : s->folded[when];
}

static int add_watch(Sorter* s, PawlItemKind kind, int target, PawlNode node) {
  return node == PAWL_NO_NODE ? -1 : add_item(s, kind, target, 1, &node, -1);
}

// While sliding, friction acts along the gradient of the equation against its rate:
// f = -sign(g') F G^T.                                                                       (V7)
static int add_friction(Sorter* s, const PawlConstraint* constraint, int gate) {
  PawlNode g = s->unwound[constraint->modes[PAWL_MODE_HELD].rows[0].node];
  PawlNode force = s->folded[constraint->switching.friction];
  for (int j = 0; j < s->system->sizes.v; j++) {
    PawlNode along = pawl_dag_partial(s->dag, g, PAWL_OP_Q, j);
    double value;
    if (along == PAWL_NO_NODE) {
      return -1;
    }
    if (pawl_dag_is_const(s->dag, along, &value) && value == 0.0) {
      continue;
    }
    PawlNode up = pawl_dag_neg(s->dag, pawl_dag_mul(s->dag, force, along));
    PawlNode down = pawl_dag_mul(s->dag, force, along);
    if (up == PAWL_NO_NODE || down == PAWL_NO_NODE ||
        add_item(s, PAWL_ITEM_FRICTION, j, 1, &up, gate + PAWL_MODE_UP) != 0 ||
        add_item(s, PAWL_ITEM_FRICTION, j, 1, &down, gate + PAWL_MODE_DOWN) != 0) {
      return -1;
    }
  }
  return 0;
}

static int add_watches(Sorter* s) {
  const PawlSystem* system = s->system;
  const PawlModel* model = system->model;
  int failed = 0;
  for (int c = 0; !failed && system->triggers && c < model->constraint_count; c++) {
    const PawlConstraint* k = &model->constraints[c];
    const PawlWatch* w = &system->watches[c];
    const struct {
      PawlItemKind kind;
      int place;
      PawlNode node;
    } of[] = {{PAWL_ITEM_CONDITION, w->engage, k->switching.engage.when},
              {PAWL_ITEM_CONDITION, w->release, k->switching.release.when},
              {PAWL_ITEM_WATCH, w->capacity, k->switching.capacity},
              {PAWL_ITEM_WATCH, w->friction, k->switching.friction},
              {PAWL_ITEM_WATCH, w->to, k->snap_to}};
    for (size_t i = 0; !failed && i < sizeof of / sizeof *of; i++) {
      failed = of[i].place < 0
                   ? 0
                   : add_watch(s, of[i].kind, of[i].place,
                               of[i].kind == PAWL_ITEM_CONDITION ? condition(s, of[i].node)
                                                                 : s->folded[of[i].node]);
    }
    if (!failed && w->rate >= 0) {
      PawlNode g = s->unwound[k->modes[PAWL_MODE_HELD].rows[0].node];
      failed = add_watch(s, PAWL_ITEM_CONDITION, w->rate, pawl_dag_total(s->dag, g));
    }
  }
  for (int k = 0; !failed && k < model->event_count; k++) {
    int at = system->event_watches[k];
    PawlNode when = model->events[k].trigger.when;
    failed = at < 0 ? 0 : add_watch(s, PAWL_ITEM_CONDITION, at, condition(s, when));
  }
  for (int k = 0; !failed && k < model->impulse_count; k++) {
    failed = add_watch(s, PAWL_ITEM_WATCH, system->first_impulse + k,
                       s->folded[model->impulses[k].node]);
  }
  return failed;
}

static PawlStatus collect_items(Sorter* s, PawlError* err) {
  static const PawlItemKind kind_of[] = {
      [PAWL_TERM_KINETIC] = PAWL_ITEM_KINETIC,
      [PAWL_TERM_POTENTIAL] = PAWL_ITEM_POTENTIAL,
      [PAWL_TERM_DISSIPATION] = PAWL_ITEM_DISSIPATION,
      [PAWL_TERM_FORCE] = PAWL_ITEM_FORCE,
  };
  const PawlModel* model = s->system->model;
  int failed = 0;
  for (int k = 0; !failed && k < model->term_count; k++) {
    const PawlTerm* term = &model->terms[k];
    failed = add_addends(s, kind_of[term->kind], term->target, s->eased[term->node]);
  }
  for (int k = 0, gate = 0; !failed && k < model->constraint_count; k++) {
    bool gated = model->constraints[k].mode_count > 1;
    failed = add_constraint(s, &model->constraints[k], gated ? gate : -1);
    if (!failed && model->constraints[k].switching.capacity != PAWL_NO_NODE) {
      failed = add_friction(s, &model->constraints[k], gate);
    }
    gate += gated ? model->constraints[k].mode_count : 0;
  }
  for (int k = 0; !failed && k < model->contact_count; k++) {
    PawlNode gap = s->eased[model->contacts[k].gap];
    failed = add_item(s, PAWL_ITEM_CONSTRAINT, model->row_count + k, 1, &gap, -1);
  }
  for (int k = 0; !failed && k < model->output_count; k++) {
    PawlNode node = s->folded[model->outputs[k].node];
    failed = add_item(s, PAWL_ITEM_OUTPUT, k, 1, &node, -1);
  }
  failed = failed ? failed : add_watches(s);
  return failed ? pawl_fail_memory(err) : add_guards(s, err);
}

// ---- shapes -------------------------------------------------------------------------------------
static uint64_t hash_tokens(int count, const int* tokens) {
  uint64_t hash = 1469598103934665603u;
  for (int k = 0; k < count; k++) {
    hash = (hash ^ (uint64_t)(uint32_t)tokens[k]) * 1099511628211u;
  }
  return hash ^ (hash >> 29);
}

static int add_shape(Sorter* s, uint64_t hash, int count, const int* tokens) {
  if (PAWL_GROW(s->shapes, s->shape_capacity, s->shape_count + 1) != 0 ||
      PAWL_GROW(s->tokens, s->token_capacity, s->token_count + count) != 0) {
    return -1;
  }
  memcpy(s->tokens + s->token_count, tokens, (size_t)count * sizeof(int));
  s->shapes[s->shape_count] = (Shape){hash, count, s->token_count, 0, -1};
  s->token_count += count;
  return s->shape_count++;
}

// The shape with these tokens, new or known; -1 when memory is short.
static int find_shape(Sorter* s, int count, const int* tokens) {
  uint64_t hash = hash_tokens(count, tokens);
  int mask = s->table_size - 1;
  for (int at = (int)(hash & (uint64_t)mask);; at = (at + 1) & mask) {
    if (s->table[at] == 0) {
      int shape = add_shape(s, hash, count, tokens);
      s->table[at] = shape + 1;
      return shape;
    }
    int shape = s->table[at] - 1;
    const Shape* known = &s->shapes[shape];
    if (known->hash == hash && known->token_count == count &&
        memcmp(s->tokens + known->first_token, tokens, (size_t)count * sizeof(int)) == 0) {
      return shape;
    }
  }
}

static int keep_binding(Sorter* s, Placed* placed, const PawlBinding* b) {
  if (PAWL_GROW(s->coordinates, s->coordinate_capacity,
                s->coordinate_count + b->coordinate_count) != 0 ||
      PAWL_GROW(s->rows, s->row_capacity, s->row_count + b->row_count) != 0 ||
      PAWL_GROW(s->numbers, s->number_capacity, s->number_count + b->number_count) != 0) {
    return -1;
  }
  placed->turns = b->turns;
  placed->coordinates = s->coordinate_count;
  placed->rows = s->row_count;
  placed->numbers = s->number_count;
  placed->coordinate_count = b->coordinate_count;
  placed->row_count = b->row_count;
  placed->number_count = b->number_count;
  for (int k = 0; k < b->coordinate_count; k++) {
    s->coordinates[s->coordinate_count++] = b->coordinates[k];
  }
  for (int k = 0; k < b->row_count; k++) {
    s->rows[s->row_count++] = b->rows[k];
  }
  for (int k = 0; k < b->number_count; k++) {
    s->numbers[s->number_count++] = b->numbers[k];
  }
  return 0;
}

// Switching functions with turns in them are looked at again when these change.
static void note_turned(PawlSystem* system, const Placed* placed) {
  bool surface = placed->item.kind == PAWL_ITEM_GUARD || placed->item.kind == PAWL_ITEM_KINK;
  if (surface && placed->turns) {
    system->turned = true;
    int turn = placed->item.target - system->guard_count;
    *(turn < 0 ? &system->guards[placed->item.target].turned : &system->turns[turn].turned) = true;
  }
}

static PawlStatus shape_items(Sorter* s, PawlError* err) {
  PawlSizes sizes = s->system->sizes;
  s->shaper = pawl_shaper_create(s->dag, sizes.q, sizes.rows);
  for (s->table_size = 16; s->table_size < 2 * s->item_count;) {
    s->table_size *= 2;
  }
  s->table = pawl_alloc((size_t)s->table_size, sizeof(int));
  if (!s->shaper || !s->table) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; k < s->item_count; k++) {
    Placed* placed = &s->items[k];
    const int* tokens;
    const PawlBinding* binding;
    int count = pawl_shape_encode(s->shaper, &placed->item, &tokens, &binding);
    placed->shape = count < 0 ? -1 : find_shape(s, count, tokens);
    if (placed->shape < 0 || keep_binding(s, placed, binding) != 0) {
      return pawl_fail_memory(err);
    }
    note_turned(s->system, placed);
    Shape* shape = &s->shapes[placed->shape];
    placed->previous = shape->last_item;
    shape->last_item = k;
    shape->item_count++;
  }
  return PAWL_OK;
}

// ---- groups -------------------------------------------------------------------------------------
typedef struct Filling {
  PawlGroup* group;
  int gate;
} Filling;

static int add_entry(void* context, PawlQuantity quantity, int i, int j, PawlNode node) {
  PawlGroup* group = ((Filling*)context)->group;
  int gate = ((Filling*)context)->gate;
  if (PAWL_GROW(group->entries, group->entry_capacity, group->entry_count + 1) != 0) {
    return -1;
  }
  group->entries[group->entry_count++] = (PawlEntry){quantity, node, i, j, gate, false, NULL};
  return 0;
}

static int derive(Filling* filling, const PawlItem* item, int count, const int* slots) {
  PawlDag* dag = filling->group->dag;
  return pawl_derive_item(dag, item, count, slots, add_entry, filling) != PAWL_OK ||
                 pawl_derive_powers(dag, item, count, slots, add_entry, filling) != PAWL_OK
             ? -1
             : 0;
}

static int compare_ints(const void* a, const void* b) {
  int x = *(const int*)a, y = *(const int*)b;
  return (x > y) - (x < y);
}

// Fills the slots of all lanes; items are chained from the last to the first.
static int fill_lanes(Sorter* s, PawlGroup* group, const Shape* shape) {
  PawlArena* arena = &s->system->arena;
  const Placed* first = &s->items[shape->last_item];
  int lanes = shape->item_count;
  group->lanes = lanes;
  group->coordinate_count = first->coordinate_count;
  group->row_count = first->row_count;
  group->number_count = first->number_count;
  group->coordinates = PAWL_NEW(arena, int, group->coordinate_count* lanes);
  group->rows = PAWL_NEW(arena, int, group->row_count* lanes);
  group->numbers = PAWL_NEW(arena, double, (size_t)group->number_count*(size_t)lanes);
  group->outputs = PAWL_NEW(arena, int, lanes);
  if (!group->coordinates || !group->rows || !group->numbers || !group->outputs) {
    return -1;
  }
  bool gated = false;
  for (int k = shape->last_item; k >= 0; k = s->items[k].previous) {
    gated |= s->items[k].item.gate >= 0;
  }
  if (gated && !(group->gates = PAWL_NEW(arena, int, lanes))) {
    return -1;
  }
  int lane = lanes - 1;
  for (int k = shape->last_item; k >= 0; k = s->items[k].previous, lane--) {
    const Placed* placed = &s->items[k];
    for (int c = 0; c < group->coordinate_count; c++) {
      group->coordinates[c * lanes + lane] = s->coordinates[placed->coordinates + c];
    }
    for (int r = 0; r < group->row_count; r++) {
      group->rows[r * lanes + lane] = s->rows[placed->rows + r];
    }
    for (int n = 0; n < group->number_count; n++) {
      group->numbers[n * lanes + lane] = s->numbers[placed->numbers + n];
    }
    group->outputs[lane] = placed->item.target;
    if (group->gates) {
      group->gates[lane] = placed->item.gate;
    }
  }
  return 0;
}

// A number that is the same in every lane is a constant of the graph, others are PARAM leaves.
static int number_nodes(PawlGroup* group, PawlNode* nodes) {
  for (int n = 0; n < group->number_count; n++) {
    const double* of_lane = group->numbers + (size_t)n * (size_t)group->lanes;
    bool same = true;
    for (int l = 1; l < group->lanes && same; l++) {
      same = of_lane[l] == of_lane[0];
    }
    nodes[n] =
        same ? pawl_dag_const(group->dag, of_lane[0]) : pawl_dag_leaf(group->dag, PAWL_OP_PARAM, n);
    if (nodes[n] == PAWL_NO_NODE) {
      return -1;
    }
  }
  return 0;
}

// Room to build a shape and to list coordinates; grows with the largest shape.
typedef struct Scratch {
  int node_capacity, root_capacity, number_capacity, slot_capacity;
  PawlNode *nodes, *roots, *numbers;
  int* slots;
} Scratch;

static int make_scratch(Scratch* scratch, const Shape* shape, const Placed* placed) {
  return PAWL_GROW(scratch->nodes, scratch->node_capacity, shape->token_count) != 0 ||
                 PAWL_GROW(scratch->roots, scratch->root_capacity, placed->item.count) != 0 ||
                 PAWL_GROW(scratch->numbers, scratch->number_capacity, placed->number_count) != 0 ||
                 PAWL_GROW(scratch->slots, scratch->slot_capacity, placed->coordinate_count) != 0
             ? -1
             : 0;
}

static void free_scratch(Scratch* scratch) {
  pawl_free(scratch->nodes);
  pawl_free(scratch->roots);
  pawl_free(scratch->numbers);
  pawl_free(scratch->slots);
}

static int build_lane_group(Sorter* s, PawlGroup* group, const Shape* shape, Scratch* scratch) {
  const Placed* placed = &s->items[shape->last_item];
  group->dag = pawl_dag_create();
  if (!group->dag || make_scratch(scratch, shape, placed) != 0 ||
      fill_lanes(s, group, shape) != 0 || number_nodes(group, scratch->numbers) != 0) {
    return -1;
  }
  PawlSlotNodes slots = {NULL, NULL, scratch->numbers};
  if (pawl_shape_build(group->dag, shape->token_count, s->tokens + shape->first_token, &slots,
                       scratch->nodes, scratch->roots) < 0) {
    return -1;
  }
  for (int c = 0; c < placed->coordinate_count; c++) {
    scratch->slots[c] = c;
  }
  PawlItem item = {placed->item.kind, 0, placed->item.count, scratch->roots, -1};
  Filling filling = {group, -1};  // lanes have gates of their own
  return derive(&filling, &item, placed->coordinate_count, scratch->slots);
}

// A list that is empty has no memory.
static const int* part(const int* list, int first) {
  return list ? list + first : NULL;
}

// Builds the item in the graph of the group: its expressions in scratch->roots, the coordinates
// that occur in scratch->slots, ascending.
static int rebuild(Sorter* s, PawlGroup* group, const Placed* placed, Scratch* scratch) {
  const Shape* shape = &s->shapes[placed->shape];
  if (make_scratch(scratch, shape, placed) != 0) {
    return -1;
  }
  for (int n = 0; n < placed->number_count; n++) {
    scratch->numbers[n] = pawl_dag_const(group->dag, s->numbers[placed->numbers + n]);
    if (scratch->numbers[n] == PAWL_NO_NODE) {
      return -1;
    }
  }
  const int* coordinates = part(s->coordinates, placed->coordinates);
  PawlSlotNodes slots = {coordinates, part(s->rows, placed->rows), scratch->numbers};
  if (pawl_shape_build(group->dag, shape->token_count, s->tokens + shape->first_token, &slots,
                       scratch->nodes, scratch->roots) < 0) {
    return -1;
  }
  if (placed->coordinate_count > 0) {
    memcpy(scratch->slots, coordinates, (size_t)placed->coordinate_count * sizeof(int));
    qsort(scratch->slots, (size_t)placed->coordinate_count, sizeof(int), compare_ints);
  }
  return 0;
}

// `squares`, if not NULL, takes in what it can; this is then derived later, all of it together.
static int build_single(Sorter* s, PawlGroup* group, const Placed* placed, Scratch* scratch,
                        PawlSquares* squares) {
  if (rebuild(s, group, placed, scratch) != 0) {
    return -1;
  }
  int count = placed->coordinate_count;
  PawlItem item = {placed->item.kind, placed->item.target, placed->item.count, scratch->roots,
                   placed->item.gate};
  Filling filling = {group, placed->item.gate};
  int taken = squares && item.kind == PAWL_ITEM_KINETIC
                  ? pawl_squares_take(squares, group->dag, item.nodes[0])
                  : 0;
  if (taken <= 0) {
    return taken < 0 ? -1 : derive(&filling, &item, count, scratch->slots);
  }
  return add_entry(&filling, PAWL_Q_ENERGY, 0, 0, item.nodes[0]) != 0 ||
                 pawl_derive_powers(group->dag, &item, count, scratch->slots, add_entry,
                                    &filling) != PAWL_OK
             ? -1
             : 0;
}

static bool is_constraint(PawlItemKind kind) {
  return kind == PAWL_ITEM_CONSTRAINT || kind == PAWL_ITEM_FRICTION;
}

// Worth a group of its own. Switching functions, and constraints that count periods, stay single:
// they are few.
static bool is_frequent(const Shape* shape, const Sorter* s) {
  return shape->item_count >= FEWEST_LANES &&
         s->items[shape->last_item].item.kind != PAWL_ITEM_GUARD &&
         s->items[shape->last_item].item.kind != PAWL_ITEM_KINK &&
         s->items[shape->last_item].item.kind != PAWL_ITEM_WATCH &&
         s->items[shape->last_item].item.kind != PAWL_ITEM_CONDITION &&
         !(s->items[shape->last_item].turns && is_constraint(s->items[shape->last_item].item.kind));
}

static int* identity(PawlArena* arena, int count) {
  int* map = PAWL_NEW(arena, int, count);
  for (int k = 0; map && k < count; k++) {
    map[k] = k;
  }
  return map;
}

// Entries with the same place are summed: one expression for each place.
typedef struct Ordered {
  PawlEntry entry;
  int order;
} Ordered;

static int compare_entries(const void* a, const void* b) {
  const Ordered *x = a, *y = b;
  if (x->entry.quantity != y->entry.quantity) {
    return x->entry.quantity < y->entry.quantity ? -1 : 1;
  }
  if (x->entry.i != y->entry.i) {
    return x->entry.i < y->entry.i ? -1 : 1;
  }
  if (x->entry.j != y->entry.j) {
    return x->entry.j < y->entry.j ? -1 : 1;
  }
  if (x->entry.gate != y->entry.gate) {
    return x->entry.gate < y->entry.gate ? -1 : 1;
  }
  return x->order - y->order;
}

static int sum_entries(PawlGroup* group) {
  Ordered* sorted = pawl_alloc((size_t)group->entry_count, sizeof(Ordered));
  if (!sorted) {
    return -1;
  }
  for (int k = 0; k < group->entry_count; k++) {
    sorted[k] = (Ordered){group->entries[k], k};
  }
  qsort(sorted, (size_t)group->entry_count, sizeof(Ordered), compare_entries);
  int count = 0, failed = 0;
  for (int k = 0; k < group->entry_count; k++) {
    PawlEntry entry = sorted[k].entry;
    PawlEntry* last = count > 0 ? &group->entries[count - 1] : NULL;
    if (last && last->quantity == entry.quantity && last->i == entry.i && last->j == entry.j &&
        last->gate == entry.gate) {
      last->node = pawl_dag_add(group->dag, last->node, entry.node);
      failed |= last->node == PAWL_NO_NODE;
    } else {
      group->entries[count++] = entry;
    }
  }
  group->entry_count = count;
  pawl_free(sorted);
  return failed ? -1 : 0;
}

static bool has_sine(PawlDag* dag, PawlNode node) {
  const PawlNode* reached;
  int count = pawl_dag_reach(dag, 1, &node, &reached);
  for (int k = 0; k < count; k++) {
    PawlOp op = pawl_dag_node(dag, reached[k])->op;
    if (op == PAWL_OP_SIN || op == PAWL_OP_COS) {
      return true;
    }
  }
  return false;
}

// Products of sines and cosines as sums, where that is cheaper: mass matrices of linkages shrink to
// a fraction. Entries of two quantities that are evaluated together are judged together; entries
// without sines are left as derived, since multiplying out could cost digits.
static int shorten(PawlGroup* group, PawlQuantity one, PawlQuantity other) {
  enum { MOST_ENTRIES = 1000 };
  PawlNode roots[MOST_ENTRIES];
  int at[MOST_ENTRIES], count = 0;
  for (int k = 0; k < group->entry_count; k++) {
    const PawlEntry* e = &group->entries[k];
    if ((e->quantity == one || e->quantity == other) && has_sine(group->dag, e->node)) {
      if (count == MOST_ENTRIES) {
        return 0;
      }
      roots[count] = e->node;
      at[count++] = k;
    }
  }
  if (count == 0) {
    return 0;
  }
  if (pawl_dag_normalize_if_cheaper(group->dag, count, roots) != PAWL_OK) {
    return -1;
  }
  for (int k = 0; k < count; k++) {
    group->entries[at[k]].node = roots[k];
  }
  return 0;
}

static int start_single_group(Sorter* s, PawlGroup* group) {
  PawlArena* arena = &s->system->arena;
  PawlSizes sizes = s->system->sizes;
  group->dag = pawl_dag_create();
  group->lanes = 1;
  group->coordinate_count = sizes.q;
  group->row_count = sizes.rows;
  group->coordinates = identity(arena, sizes.q);
  group->rows = identity(arena, sizes.rows);
  group->outputs = identity(arena, sizes.outputs);
  return group->dag && group->coordinates && group->rows && group->outputs ? 0 : -1;
}

static bool is_single(const Sorter* s, int item) {
  return !is_frequent(&s->shapes[s->items[item].shape], s);
}

static int build_single_group(Sorter* s, PawlGroup* group, Scratch* scratch) {
  int failed = start_single_group(s, group);
  for (int k = 0; !failed && k < s->item_count; k++) {
    failed = is_single(s, k) ? build_single(s, group, &s->items[k], scratch, NULL) : 0;
  }
  return failed || sum_entries(group) != 0 || shorten(group, PAWL_Q_M, PAWL_Q_F) != 0 ||
                 shorten(group, PAWL_Q_K, PAWL_Q_C) != 0
             ? -1
             : 0;
}

// ---- the same from forms ------------------------------------------------------------------------
// Where kinetic energies are sums of squares they are derived from their forms and not multiplied
// out. `*taken`: there are some.
static int build_square_group(Sorter* s, PawlGroup* group, Scratch* scratch, bool* taken) {
  PawlSquares squares = {0};
  int failed = start_single_group(s, group);
  for (int k = 0; !failed && k < s->item_count; k++) {
    failed = is_single(s, k) ? build_single(s, group, &s->items[k], scratch, &squares) : 0;
  }
  *taken = squares.count > 0;
  if (!failed && *taken) {
    Filling filling = {group, -1};
    failed = pawl_squares_derive(&squares, group->dag, group->coordinate_count, group->coordinates,
                                 add_entry, &filling) != PAWL_OK;
  }
  pawl_squares_free(&squares);
  return failed || sum_entries(group) != 0 ? -1 : 0;
}

static void free_group(PawlGroup* group) {
  pawl_dag_destroy(group->dag);
  pawl_free(group->entries);
  *group = (PawlGroup){0};
}

// What M and f cost; -1: no memory.
static long long cost_of_motion(PawlGroup* group) {
  PawlNode* roots = pawl_alloc((size_t)group->entry_count, sizeof *roots);
  int count = 0;
  for (int k = 0; roots && k < group->entry_count; k++) {
    PawlQuantity quantity = group->entries[k].quantity;
    if (quantity == PAWL_Q_M || quantity == PAWL_Q_F) {
      roots[count++] = group->entries[k].node;
    }
  }
  long long cost = roots ? pawl_dag_cost(group->dag, count, roots) : -1;
  pawl_free(roots);
  return cost;
}

// What the single kinetic energies cost, as they are written; -1: no memory.
static long long cost_of_energy(Sorter* s) {
  PawlNode* roots = pawl_alloc((size_t)s->item_count, sizeof *roots);
  int count = 0;
  for (int k = 0; roots && k < s->item_count; k++) {
    if (s->items[k].item.kind == PAWL_ITEM_KINETIC && is_single(s, k)) {
      roots[count++] = s->items[k].item.nodes[0];
    }
  }
  long long cost = roots ? pawl_dag_cost(s->dag, count, roots) : -1;
  pawl_free(roots);
  return cost;
}

// From forms, and unless T is too long for it also multiplied out; the cheaper one is kept.
static int build_cheaper_group(Sorter* s, PawlGroup* group, long long T, Scratch* scratch) {
  PawlGroup other = {0};
  bool taken = false;
  int failed = build_square_group(s, &other, scratch, &taken);
  long long cost = failed ? -1 : cost_of_motion(&other);
  bool both = !taken || T <= MOST_ENERGY;
  failed = failed || cost < 0 ? -1 : both ? build_single_group(s, group, scratch) : 0;
  if (!failed && (!both || (taken && cost < cost_of_motion(group)))) {
    free_group(group);
    *group = other;
  } else {
    free_group(&other);
  }
  return failed;
}

static int build_last_group(Sorter* s, PawlGroup* group, Scratch* scratch) {
  long long T = cost_of_energy(s);
  bool plain = T < LEAST_ENERGY || s->system->sizes.v > MOST_COORDINATES;
  return T < 0   ? -1
         : plain ? build_single_group(s, group, scratch)
                 : build_cheaper_group(s, group, T, scratch);
}

static PawlStatus build_groups(Sorter* s, PawlError* err) {
  PawlSystem* system = s->system;
  int often = 0;
  for (int k = 0; k < s->shape_count; k++) {
    often += is_frequent(&s->shapes[k], s);
  }
  system->groups = PAWL_NEW(&system->arena, PawlGroup, often + 1);
  if (!system->groups) {
    return pawl_fail_memory(err);
  }
  Scratch scratch = {0};
  int failed = 0;
  for (int k = 0; !failed && k < s->shape_count; k++) {
    if (is_frequent(&s->shapes[k], s)) {
      failed = build_lane_group(s, &system->groups[system->group_count++], &s->shapes[k], &scratch);
    }
  }
  if (!failed) {
    failed = build_last_group(s, &system->groups[system->group_count++], &scratch);
  }
  free_scratch(&scratch);
  return failed ? pawl_fail_memory(err) : PAWL_OK;
}

PawlStatus pawl_system_group(PawlSystem* system, PawlError* err) {
  Sorter s = {.system = system};
  PawlStatus status = fold_parameters(&s, err);
  if (status == PAWL_OK) {
    status = collect_items(&s, err);
  }
  if (status == PAWL_OK) {
    status = shape_items(&s, err);
  }
  if (status == PAWL_OK) {
    status = build_groups(&s, err);
  }
  pawl_dag_destroy(s.dag);
  pawl_shaper_destroy(s.shaper);
  pawl_free(s.folded);
  pawl_free(s.unwound);
  pawl_free(s.eased);
  pawl_free(s.shapes);
  pawl_free(s.items);
  pawl_free(s.tokens);
  pawl_free(s.table);
  pawl_free(s.coordinates);
  pawl_free(s.rows);
  pawl_free(s.numbers);
  return status;
}
