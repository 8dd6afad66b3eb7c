// SPDX-License-Identifier: Apache-2.0
// The terms of a model as items: addends of energies and forces, modes of constraints, friction,
// contacts, outputs, switching functions and all that is watched.
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/model.h"
#include "system/group_impl.h"
#include "system/reach.h"

static int add_item(PawlSorter* s, PawlItemKind kind, int target, int count, const PawlNode* nodes,
                    int gate) {
  if (PAWL_GROW(s->items, s->item_capacity, s->item_count + 1) != 0 ||
      PAWL_GROW(s->likes, s->like_capacity, s->like_count + 1) != 0) {
    return -1;
  }
  PawlNode* kept = PAWL_NEW(&s->system->arena, PawlNode, count);
  if (!kept) {
    return -1;
  }
  memcpy(kept, nodes, (size_t)count * sizeof *kept);
  s->likes[s->like_count++] = (PawlLike){s->item_count, PAWL_NO_MEMBER, -1};
  s->items[s->item_count++] =
      (PawlPlaced){.item = {kind, target, count, kept, gate}, .term = -1, .constraint = -1};
  return 0;
}

typedef struct Addend {
  PawlNode node;
  bool negative;
} Addend;

// Splits a sum into its addends, in the order written.
static int add_addends(PawlSorter* s, PawlItemKind kind, int target, PawlNode sum) {
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
static int add_constraint(PawlSorter* s, const PawlConstraint* constraint, int gate) {
  for (int m = 0; m < constraint->mode_count; m++) {
    const PawlMode* mode = &constraint->modes[m];
    PawlNode* nodes = PAWL_NEW(&s->system->arena, PawlNode, mode->row_count);
    if (!nodes) {
      return -1;
    }
    for (int k = 0; k < mode->row_count; k++) {
      nodes[k] = s->unwound[mode->rows[k].node];
    }
    PawlItemKind kind = mode->rate ? PAWL_ITEM_RATE : PAWL_ITEM_CONSTRAINT;
    if (mode->row_count > 0 && add_item(s, kind, constraint->first_row, mode->row_count, nodes,
                                        gate < 0 ? -1 : gate + m) != 0) {
      return -1;
    }
  }
  return 0;
}

static PawlStatus add_guards(PawlSorter* s, PawlError* err) {
  PawlSystem* system = s->system;
  const PawlModel* model = system->model;
  PawlNode guards[PAWL_REACH_NODES];
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
    guards[k < PAWL_REACH_NODES ? k : 0] = z;
  }
  PAWL_TRY(pawl_reach_create(system, s->dag, guards, err));
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
static PawlNode condition(const PawlSorter* s, PawlNode when) {
  const PawlDag* from = s->system->model->dag;
  PawlOp op = pawl_dag_node(from, when)->op;
  return pawl_op_is_logical(op) ? pawl_system_guard(s->dag, from, s->folded, when)
                                : s->folded[when];
}

static int add_watch(PawlSorter* s, PawlItemKind kind, int target, PawlNode node) {
  return node == PAWL_NO_NODE ? -1 : add_item(s, kind, target, 1, &node, -1);
}

// Friction that hangs on multipliers is none of the forces: see switch/slip.h.
static bool is_tied(const PawlSystem* system, const PawlConstraint* constraint) {
  bool tied = false;
  for (int k = 0; k < system->tie_count; k++) {
    tied |= &system->model->constraints[system->ties[k].constraint] == constraint;
  }
  return tied;
}

// While sliding, friction acts along the gradient of the equation against its rate: f = -sign(g') F
// G^T, of a rate equation f = -sign(w) F A^T.                                          (V7) (W7)
static int add_friction(PawlSorter* s, const PawlConstraint* constraint, int gate) {
  if (is_tied(s->system, constraint)) {
    return 0;
  }
  const PawlMode* held = &constraint->modes[PAWL_MODE_HELD];
  PawlNode g = s->unwound[held->rows[0].node];
  PawlNode force = s->eased[constraint->switching->friction];
  for (int j = 0; j < s->system->sizes.v; j++) {
    PawlNode down = pawl_derive_sliding(s->dag, s->system->model, held->rate, g, force, j);
    PawlNode up = pawl_dag_neg(s->dag, down);
    double value;
    if (up != PAWL_NO_NODE && pawl_dag_is_const(s->dag, up, &value) && value == 0.0) {
      continue;
    }
    if (up == PAWL_NO_NODE || down == PAWL_NO_NODE ||
        add_item(s, PAWL_ITEM_FRICTION, j, 1, &up, gate + PAWL_MODE_UP) != 0 ||
        add_item(s, PAWL_ITEM_FRICTION, j, 1, &down, gate + PAWL_MODE_DOWN) != 0) {
      return -1;
    }
  }
  return 0;
}

static int add_watches(PawlSorter* s) {
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
    } of[] = {{PAWL_ITEM_CONDITION, w->engage, k->switching->engage.when},
              {PAWL_ITEM_CONDITION, w->release, k->switching->release.when},
              {PAWL_ITEM_WATCH, w->capacity, k->switching->capacity},
              {PAWL_ITEM_WATCH, w->friction, k->switching->friction},
              {PAWL_ITEM_WATCH, w->to, k->snap_to}};
    for (size_t i = 0; !failed && i < sizeof of / sizeof *of; i++) {
      failed = of[i].place < 0
                   ? 0
                   : add_watch(s, of[i].kind, of[i].place,
                               of[i].kind == PAWL_ITEM_CONDITION ? condition(s, of[i].node)
                                                                 : s->eased[of[i].node]);
    }
    if (!failed && w->rate >= 0) {
      const PawlMode* held = &k->modes[PAWL_MODE_HELD];
      PawlNode g = s->unwound[held->rows[0].node];
      failed =
          add_watch(s, PAWL_ITEM_CONDITION, w->rate, held->rate ? g : pawl_dag_total(s->dag, g));
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
  for (int k = 0; !failed && k < model->contact_count; k++) {
    int at = system->friction_watches[k];
    failed = at < 0 ? 0 : add_watch(s, PAWL_ITEM_WATCH, at, s->eased[model->contacts[k].friction]);
  }
  for (int k = 0; !failed && k < model->set_count; k++) {
    failed = add_watch(s, PAWL_ITEM_WATCH, system->first_set + k, s->folded[model->sets[k].node]);
  }
  return failed;
}

// A gap, and the slips of its friction: the rows of all slips come before those of all gaps.
static int add_contact(PawlSorter* s, int k) {
  const PawlModel* model = s->system->model;
  const PawlContact* contact = &model->contacts[k];
  PawlNode gap = s->eased[contact->gap], slip[PAWL_MOST_SLIPS];
  for (int i = 0; i < contact->slip_count; i++) {
    slip[i] = s->eased[contact->slip[i]];
  }
  int failed = contact->slip_count > 0
                   ? add_item(s, PAWL_ITEM_SLIP, model->row_count + contact->first_slip,
                              contact->slip_count, slip, -1)
                   : 0;
  return failed ? failed
                : add_item(s, PAWL_ITEM_CONSTRAINT, s->system->first_contact + k, 1, &gap, -1);
}

// 1 z' = s                                                                                  (Z1)
static int add_state(PawlSorter* s, const PawlStateDef* state) {
  PawlNode one = pawl_dag_const(s->dag, 1.0);
  if (state->rate == PAWL_NO_NODE) {
    return 0;
  }
  return one == PAWL_NO_NODE || add_item(s, PAWL_ITEM_UNIT, state->coordinate, 1, &one, -1) != 0
             ? -1
             : add_addends(s, PAWL_ITEM_STATE, state->coordinate, s->eased[state->rate]);
}

// Items that are those of members: the first of a family with those like it.
static void note_copied(PawlSorter* s, int term, int constraint) {
  const int* like = term >= 0 ? s->term_like : s->constraint_like;
  int* items = term >= 0 ? s->term_items : s->constraint_items;
  int at = term >= 0 ? term : constraint;
  items[at + 1] = s->item_count;
  for (int k = items[at]; like[at] == at && k < s->item_count; k++) {
    s->items[k].term = term;
    s->items[k].constraint = constraint;
  }
}

PawlStatus pawl_group_collect(PawlSorter* s, PawlError* err) {
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
    s->term_items[k] = s->item_count;
    failed = pawl_group_is_copy(s->term_like, k)
                 ? pawl_group_copy_items(s, k, -1)
                 : add_addends(s, kind_of[term->kind], term->target, s->eased[term->node]);
    note_copied(s, k, -1);
  }
  for (int k = 0; !failed && k < model->state_count; k++) {
    failed = add_state(s, &model->states[k]);
  }
  for (int k = 0, gate = 0; !failed && k < model->constraint_count; k++) {
    bool gated = model->constraints[k].mode_count > 1;
    s->constraint_items[k] = s->item_count;
    failed = pawl_group_is_copy(s->constraint_like, k)
                 ? pawl_group_copy_items(s, -1, k)
                 : add_constraint(s, &model->constraints[k], gated ? gate : -1);
    note_copied(s, -1, k);
    if (!failed && model->constraints[k].switching->capacity != PAWL_NO_NODE) {
      failed = add_friction(s, &model->constraints[k], gate);
    }
    gate += gated ? model->constraints[k].mode_count : 0;
  }
  for (int k = 0; !failed && k < model->contact_count; k++) {
    failed = add_contact(s, k);
  }
  for (int k = 0; !failed && k < model->output_count; k++) {
    PawlNode node = s->folded[model->outputs[k].node];
    failed = add_item(s, PAWL_ITEM_OUTPUT, k, 1, &node, -1);
  }
  failed = failed ? failed : add_watches(s);
  return failed ? pawl_fail_memory(err) : add_guards(s, err);
}
