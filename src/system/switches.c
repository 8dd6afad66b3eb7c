// SPDX-License-Identifier: Apache-2.0
// The switches of a model: gates, guards and turns (see system.h), and switching functions from
// regions.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/model.h"
#include "system/system.h"

static bool has_gates(const PawlConstraint* c) {
  return c->mode_count > 1;
}

static PawlStatus list_gates(PawlSystem* system, PawlError* err) {
  const PawlModel* model = system->model;
  int guards = 0;
  for (int c = 0; c < model->constraint_count; c++) {
    system->gated_count += has_gates(&model->constraints[c]);
    system->gate_count += has_gates(&model->constraints[c]) ? model->constraints[c].mode_count : 0;
  }
  system->gated = PAWL_NEW(&system->arena, PawlGated, system->gated_count);
  system->guards = PAWL_NEW(&system->arena, PawlGate, system->gate_count);
  if (!system->gated || !system->guards) {
    return pawl_fail_memory(err);
  }
  for (int c = 0, gated = 0, gate = 0; c < model->constraint_count; c++) {
    const PawlConstraint* constraint = &model->constraints[c];
    if (!has_gates(constraint)) {
      continue;
    }
    system->gated[gated++] = (PawlGated){c, gate, constraint->mode_count};
    gate += constraint->mode_count;
    for (int m = 0; m < constraint->mode_count; m++) {
      if (constraint->modes[m].where != PAWL_NO_NODE) {
        system->guards[guards++] = (PawlGate){c, m};
      }
    }
  }
  system->guard_count = guards;
  return PAWL_OK;
}

// Marks what the rows of a constraint need; operands come before users, so one pass down is enough.
static void mark(const PawlDag* dag, const PawlConstraint* constraint, unsigned char* needed) {
  int top = 0;
  for (int m = 0; m < constraint->mode_count; m++) {
    for (int r = 0; r < constraint->modes[m].row_count; r++) {
      PawlNode node = constraint->modes[m].rows[r].node;
      needed[node] = 1;
      top = node > top ? node : top;
    }
  }
  for (int k = top; k >= 0; k--) {
    if (needed[k]) {
      const PawlDagNode* node = pawl_dag_node(dag, k);
      for (int a = 0; a < pawl_op_operands(node->op); a++) {
        needed[node->arg[a]] = 1;
      }
    }
  }
}

// Notes that constraint c needs a wrap.
static PawlStatus add_turn(PawlSystem* system, PawlNode wrap, int c, PawlError* err) {
  int k = 0;
  while (k < system->turn_count && system->turns[k].wrap != wrap) {
    k++;
  }
  PawlTurn* turn = &system->turns[k];
  if (k == system->turn_count) {
    turn->wrap = wrap;
    turn->constraint = c;
    turn->uses = PAWL_NEW(&system->arena, unsigned char, system->model->constraint_count);
    if (!turn->uses) {
      return pawl_fail_memory(err);
    }
    system->turn_count++;
  }
  turn->uses[c] = 1;
  return PAWL_OK;
}

static PawlStatus list_turns(PawlSystem* system, PawlError* err) {
  const PawlDag* dag = system->model->dag;
  int count = pawl_dag_count(dag), wraps = 0;
  for (int k = 0; k < count; k++) {
    wraps += pawl_dag_node(dag, k)->op == PAWL_OP_WRAP;
  }
  if (wraps == 0) {
    return PAWL_OK;
  }
  system->turns = PAWL_NEW(&system->arena, PawlTurn, wraps);
  unsigned char* needed = pawl_alloc((size_t)count, 1);
  PawlStatus status = system->turns && needed ? PAWL_OK : pawl_fail_memory(err);
  for (int c = 0; status == PAWL_OK && c < system->model->constraint_count; c++) {
    memset(needed, 0, (size_t)count);
    mark(dag, &system->constraints[c], needed);
    for (int k = 0; status == PAWL_OK && k < count; k++) {
      if (needed[k] && pawl_dag_node(dag, k)->op == PAWL_OP_WRAP) {
        status = add_turn(system, k, c, err);
      }
    }
  }
  pawl_free(needed);
  return status;
}

PawlStatus pawl_system_list_switches(PawlSystem* system, PawlError* err) {
  PAWL_TRY(list_gates(system, err));
  PAWL_TRY(list_turns(system, err));
  system->constraint_count = system->model->constraint_count;
  system->sizes.modes = system->constraint_count + system->turn_count;
  return PAWL_OK;
}

static int is_reaction(void* context, PawlOp leaf, int index) {
  (void)context;
  (void)index;
  return leaf == PAWL_OP_LAMBDA || leaf == PAWL_OP_A;
}

static bool reacts(const PawlSystem* system, PawlNode node) {
  return node != PAWL_NO_NODE && pawl_dag_leaves(system->model->dag, node, is_reaction, NULL) != 0;
}

static int watch(PawlSystem* system, PawlNode node) {
  return node == PAWL_NO_NODE ? -1 : system->watch_count++;
}

static void list_watch(PawlSystem* system, int c) {
  const PawlConstraint* k = &system->constraints[c];
  const PawlSwitching* by = &k->switching;
  PawlWatch* w = &system->watches[c];
  *w = (PawlWatch){-1, -1, -1, -1, -1, -1, false};
  if (k->triggered) {
    w->engage = watch(system, by->engage.when);
    w->release = watch(system, by->release.when);
    w->capacity = watch(system, by->capacity);
    w->friction = watch(system, by->friction);
    w->to = watch(system, k->snap_to);
    w->rate = by->smooth || w->capacity >= 0 ? system->watch_count++ : -1;
    w->reacts = reacts(system, by->engage.when) || reacts(system, by->release.when);
    system->triggers = true;
  }
}

PawlStatus pawl_system_list_watches(PawlSystem* system, PawlError* err) {
  const PawlModel* model = system->model;
  system->watches = PAWL_NEW(&system->arena, PawlWatch, system->constraint_count);
  system->event_watches = PAWL_NEW(&system->arena, int, model->event_count);
  system->event_reacts = PAWL_NEW(&system->arena, bool, model->event_count);
  if (!system->watches || !system->event_watches || !system->event_reacts) {
    return pawl_fail_memory(err);
  }
  system->triggers = model->event_count > 0;
  for (int c = 0; c < system->constraint_count; c++) {
    list_watch(system, c);
  }
  for (int k = 0; k < model->event_count; k++) {
    system->event_watches[k] = watch(system, model->events[k].trigger.when);
    system->event_reacts[k] = reacts(system, model->events[k].trigger.when);
  }
  return PAWL_OK;
}

// a < b: z = b - a.  l < x < r: z = (x - l)(r - x).  and: the lesser, or: the greater, not: -z.
PawlNode pawl_system_guard(PawlDag* dag, PawlNode where) {
  if (where == PAWL_NO_NODE) {
    return PAWL_NO_NODE;
  }
  PawlDagNode n = *pawl_dag_node(dag, where);
  if (n.op == PAWL_OP_LT || n.op == PAWL_OP_LE) {
    return pawl_dag_sub(dag, n.arg[1], n.arg[0]);
  }
  if (n.op == PAWL_OP_NOT) {
    return pawl_dag_neg(dag, pawl_system_guard(dag, n.arg[0]));
  }
  if (n.op != PAWL_OP_AND && n.op != PAWL_OP_OR) {
    return PAWL_NO_NODE;
  }
  PawlDagNode x = *pawl_dag_node(dag, n.arg[0]), y = *pawl_dag_node(dag, n.arg[1]);
  PawlNode a = pawl_system_guard(dag, n.arg[0]), b = pawl_system_guard(dag, n.arg[1]);
  double low, high;  // the product is the region of a chain only between numbers that are in order
  bool chain = n.op == PAWL_OP_AND && (x.op == PAWL_OP_LT || x.op == PAWL_OP_LE) &&
               (y.op == PAWL_OP_LT || y.op == PAWL_OP_LE) && x.arg[1] == y.arg[0] &&
               pawl_dag_is_const(dag, x.arg[0], &low) && pawl_dag_is_const(dag, y.arg[1], &high) &&
               low < high;
  return chain ? pawl_dag_mul(dag, a, b)
               : pawl_dag_apply(dag, n.op == PAWL_OP_AND ? PAWL_OP_MIN : PAWL_OP_MAX, a, b,
                                PAWL_NO_NODE);
}

// ---- what can be asked --------------------------------------------------------------------------
bool pawl_system_row_switches(const PawlSystem* system, int row) {
  int c = system->row_constraint ? system->row_constraint[row] : -1;
  bool switches =
      c >= 0 && system->constraints[c].mode_count > 1 && !system->constraints[c].triggered;
  for (int k = 0; k < system->turn_count; k++) {
    switches |= c >= 0 && system->turns[k].uses[c];
  }
  return switches;
}

int pawl_system_rows_in_force(const PawlSystem* system, const int* modes) {
  if (!system->model && !system->constraints) {
    return system->sizes.rows;
  }
  int rows = 0;
  for (int c = 0; c < system->constraint_count; c++) {
    rows += system->constraints[c].modes[modes[c]].row_count;
  }
  return rows;
}

bool pawl_system_switches(const PawlSystem* system) {
  return system->guard_count + system->turn_count > 0;
}

bool pawl_system_triggers(const PawlSystem* system) {
  return system->triggers;
}

bool pawl_system_engages(const PawlSystem* system, int c) {
  return system->constraints[c].triggered;
}

int pawl_system_find_constraint(const PawlSystem* system, const char* name) {
  for (int c = 0; c < system->constraint_count; c++) {
    if (strcmp(system->constraints[c].name, name) == 0) {
      return c;
    }
  }
  return -1;
}

int pawl_system_constraint_count(const PawlSystem* system) {
  return system->constraint_count;
}

const char* pawl_system_constraint_name(const PawlSystem* system, int c) {
  return system->constraints[c].name;
}

int pawl_system_mode_count(const PawlSystem* system, int c) {
  return system->constraints[c].triggered ? PAWL_MODE_HELD + 1 : system->constraints[c].mode_count;
}

const char* pawl_system_event_name(const PawlSystem* system, int event) {
  return system->model->events[event].name;
}

void pawl_system_constraint_rows(const PawlSystem* system, int c, int* first, int* count) {
  *first = system->constraints[c].first_row;
  *count = system->constraints[c].row_count;
}

bool pawl_system_switched(const PawlSystem* system, int c, const int* from, const int* to) {
  bool switched = from[c] != to[c];
  for (int k = 0; k < system->turn_count; k++) {
    int at = system->constraint_count + k;
    switched |= system->turns[k].uses[c] && from[at] != to[at];
  }
  return switched;
}

const char* pawl_system_mode_name(const PawlSystem* system, int c, const int* modes, char* room,
                                  size_t size) {
  const char* name = system->constraints[c].modes[modes[c]].name;
  if (name) {
    return name;
  }
  for (int k = 0; k < system->turn_count; k++) {
    if (system->turns[k].uses[c]) {
      snprintf(room, size, "turn %d", modes[system->constraint_count + k]);
      return room;
    }
  }
  return "";
}
