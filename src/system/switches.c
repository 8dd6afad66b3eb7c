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
        system->guards[guards++] = (PawlGate){c, m, false};
      }
    }
  }
  system->guard_count = guards;
  return PAWL_OK;
}

PawlStatus pawl_system_list_switches(PawlSystem* system, PawlError* err) {
  PAWL_TRY(list_gates(system, err));
  PAWL_TRY(pawl_system_list_turns(system, err));
  system->constraint_count = system->model->constraint_count;
  system->sizes.modes = system->constraint_count + system->turn_count + system->kink_count +
                        system->timed_count + system->model->contact_count;
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

static int is_force_of_contact(void* context, PawlOp leaf, int index) {
  const PawlSystem* system = context;
  return leaf == PAWL_OP_LAMBDA && index >= system->model->row_count;
}

static PawlStatus note_forces(PawlSystem* system, int place, PawlNode node, PawlError* err) {
  int found =
      place >= 0 ? pawl_dag_leaves(system->model->dag, node, is_force_of_contact, system) : 0;
  if (place >= 0) {
    system->presses[place] = found > 0;
  }
  return found < 0 ? pawl_fail_memory(err) : PAWL_OK;
}

// Conditions in which the force of a contact occurs.
static PawlStatus list_forces(PawlSystem* system, PawlError* err) {
  const PawlModel* model = system->model;
  system->presses = PAWL_NEW(&system->arena, bool, system->watch_count);
  if (system->arena.failed) {
    return pawl_fail_memory(err);
  }
  for (int c = 0; c < system->constraint_count; c++) {
    const PawlSwitching* by = system->constraints[c].switching;
    PAWL_TRY(note_forces(system, system->watches[c].engage, by->engage.when, err));
    PAWL_TRY(note_forces(system, system->watches[c].release, by->release.when, err));
  }
  for (int k = 0; k < model->event_count; k++) {
    PAWL_TRY(note_forces(system, system->event_watches[k], model->events[k].trigger.when, err));
  }
  return PAWL_OK;
}

static int watch(PawlSystem* system, PawlNode node) {
  return node == PAWL_NO_NODE ? -1 : system->watch_count++;
}

// ---- friction that hangs on multipliers ---------------------------------------------------------
typedef struct TieList {
  PawlSystem* system;
  int constraint;
  bool store;
  int count;
} TieList;

static int add_tie(void* context, PawlOp leaf, int index) {
  TieList* list = context;
  if (leaf == PAWL_OP_LAMBDA && list->store) {
    list->system->ties[list->count] = (PawlTie){list->constraint, index};
  }
  list->count += leaf == PAWL_OP_LAMBDA;
  return 0;
}

static PawlStatus walk_ties(PawlSystem* system, TieList* list, PawlError* err) {
  list->count = 0;
  for (int c = 0; c < system->constraint_count; c++) {
    PawlNode F = system->constraints[c].switching->friction;
    list->constraint = c;
    if (F != PAWL_NO_NODE && system->constraints[c].switching->capacity != PAWL_NO_NODE &&
        pawl_dag_leaves(system->model->dag, F, add_tie, list) != 0) {
      return pawl_fail_memory(err);
    }
  }
  return PAWL_OK;
}

// A force that hangs on friction cannot be what friction hangs on.
static PawlStatus check_ties(const PawlSystem* system, PawlError* err) {
  for (int k = 0; k < system->tie_count; k++) {
    int row = system->ties[k].row,
        c = row < system->model->row_count ? system->row_constraint[row] : -1;
    const PawlConstraint* own = &system->constraints[system->ties[k].constraint];
    bool slips = row >= system->model->row_count && row < system->first_contact;
    if (slips || (c >= 0 && system->constraints[c].switching->capacity != PAWL_NO_NODE)) {
      return pawl_fail(
          err, PAWL_ERROR_MODEL,
          "%s:%d:%d: the friction of '%s' hangs on a force that is friction itself, of "
          "'%s'",
          system->model->file, own->source.line, own->source.column, own->name,
          c >= 0 ? system->constraints[c].name : "a contact");
    }
  }
  return PAWL_OK;
}

static PawlStatus list_ties(PawlSystem* system, PawlError* err) {
  TieList list = {.system = system};
  for (int c = 0; c < system->constraint_count; c++) {
    system->bounds_react |= reacts(system, system->constraints[c].switching->capacity);
  }
  PAWL_TRY(walk_ties(system, &list, err));
  system->tie_count = list.count;
  system->ties = PAWL_NEW(&system->arena, PawlTie, list.count);
  if (list.count > 0 && !system->ties) {
    return pawl_fail_memory(err);
  }
  list.store = true;
  PAWL_TRY(walk_ties(system, &list, err));
  return check_ties(system, err);
}

static void list_watch(PawlSystem* system, int c) {
  const PawlConstraint* k = &system->constraints[c];
  const PawlSwitching* by = k->switching;
  PawlWatch* w = &system->watches[c];
  *w = (PawlWatch){-1, -1, -1, -1, -1, -1, false, false};
  if (k->triggered) {
    w->engage = watch(system, by->engage.when);
    w->release = watch(system, by->release.when);
    w->capacity = watch(system, by->capacity);
    w->friction = watch(system, by->friction);
    w->to = watch(system, k->snap_to);
    w->rate = by->smooth || w->capacity >= 0 ? system->watch_count++ : -1;
    w->engage_reacts = reacts(system, by->engage.when);
    w->release_reacts = reacts(system, by->release.when);
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
  PAWL_TRY(list_ties(system, err));
  system->triggers = model->event_count > 0;
  for (int c = 0; c < system->constraint_count; c++) {
    list_watch(system, c);
  }
  for (int k = 0; k < model->event_count; k++) {
    system->event_watches[k] = watch(system, model->events[k].trigger.when);
    system->event_reacts[k] = reacts(system, model->events[k].trigger.when);
  }
  system->friction_watches = PAWL_NEW(&system->arena, int, model->contact_count);
  if (!system->friction_watches) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; k < model->contact_count; k++) {
    system->friction_watches[k] = watch(system, model->contacts[k].friction);
  }
  system->first_impulse = system->watch_count;
  system->watch_count += model->impulse_count;
  system->first_set = system->watch_count;
  system->watch_count += model->set_count;
  system->set_reacts = PAWL_NEW(&system->arena, bool, model->set_count);
  for (int k = 0; system->set_reacts && k < model->set_count; k++) {
    system->set_reacts[k] = reacts(system, model->sets[k].node);
  }
  for (int k = 0; k < model->state_count; k++) {
    system->rates_react |= reacts(system, model->states[k].rate);
  }
  return list_forces(system, err);
}

static bool is_less(PawlOp op) {
  return op == PAWL_OP_LT || op == PAWL_OP_LE;
}

// a < b: z = b - a.  l < x < r: z = (x - l)(r - x).  and: the lesser, or: the greater, not: -z.
PawlNode pawl_system_guard(PawlDag* dag, const PawlDag* from, const PawlNode* map, PawlNode where) {
  if (where == PAWL_NO_NODE) {
    return PAWL_NO_NODE;
  }
  PawlDagNode n = *pawl_dag_node(from, where);
  if (is_less(n.op)) {
    return pawl_dag_sub(dag, map[n.arg[1]], map[n.arg[0]]);
  }
  if (n.op == PAWL_OP_NOT) {
    return pawl_dag_neg(dag, pawl_system_guard(dag, from, map, n.arg[0]));
  }
  if (n.op != PAWL_OP_AND && n.op != PAWL_OP_OR) {
    return PAWL_NO_NODE;
  }
  PawlDagNode x = *pawl_dag_node(from, n.arg[0]), y = *pawl_dag_node(from, n.arg[1]);
  PawlNode a = pawl_system_guard(dag, from, map, n.arg[0]);
  PawlNode b = pawl_system_guard(dag, from, map, n.arg[1]);
  double low, high;  // the product is the region of a chain only between numbers that are in order
  bool chain = n.op == PAWL_OP_AND && is_less(x.op) && is_less(y.op) &&
               map[x.arg[1]] == map[y.arg[0]] && pawl_dag_is_const(dag, map[x.arg[0]], &low) &&
               pawl_dag_is_const(dag, map[y.arg[1]], &high) && low < high;
  return chain ? pawl_dag_mul(dag, a, b)
               : pawl_dag_apply(dag, n.op == PAWL_OP_AND ? PAWL_OP_MIN : PAWL_OP_MAX, a, b,
                                PAWL_NO_NODE);
}

// ---- what can be asked --------------------------------------------------------------------------
bool pawl_system_row_switches(const PawlSystem* system, int row) {
  int c = system->row_constraint ? system->row_constraint[row] : -1;
  bool switches =
      c >= 0 && system->constraints[c].mode_count > 1 && !system->constraints[c].triggered;
  for (int k = 0; c >= 0 && k < system->turn_count; k++) {
    for (int m = 0; m < system->constraints[c].mode_count; m++) {
      switches |= pawl_system_uses_turn(system, k, c, m);
    }
  }
  return switches;
}

bool pawl_system_row_is_rate(const PawlSystem* system, int row, const int* modes) {
  if (system->rate_rows) {
    return system->rate_rows[row];
  }
  if (pawl_system_row_kind(system, row) == PAWL_ROW_FRICTION) {
    return true;
  }
  int c = system->rates ? system->row_constraint[row] : -1;
  return c >= 0 && system->constraints[c].modes[modes ? modes[c] : 0].rate;
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

bool pawl_system_kinked(const PawlSystem* system) {
  return system->has_sides;
}

bool pawl_system_same_modes(const PawlSystem* system, const int* a, const int* b) {
  bool same = memcmp(a, b, (size_t)system->constraint_count * sizeof(int)) == 0;
  for (int k = 0; k < system->turn_count; k++) {
    int at = system->constraint_count + k;
    same &= system->turns[k].counts || a[at] == b[at];
  }
  return same;
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
  const PawlConstraint* constraint = &system->constraints[c];
  return constraint->at_start    ? 1
         : constraint->triggered ? PAWL_MODE_HELD + 1
                                 : constraint->mode_count;
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
    switched |= from[at] != to[at] && (pawl_system_uses_turn(system, k, c, from[c]) ||
                                       pawl_system_uses_turn(system, k, c, to[c]));
  }
  return switched;
}

// Appends to a list in `room`, as far as it fits.
static void append(char* room, size_t size, const char* text) {
  size_t at = strlen(room);
  snprintf(room + at, size - at, "%s%s", at > 0 ? ", " : "", text);
}

const char* pawl_system_mode_name(const PawlSystem* system, int c, const int* modes, char* room,
                                  size_t size) {
  const char* name = system->constraints[c].modes[modes[c]].name;
  bool turns = false;
  snprintf(room, size, "%s", name ? name : "");
  for (int k = 0; k < system->turn_count; k++) {
    const PawlTurn* turn = &system->turns[k];
    int value = modes[system->constraint_count + k];
    char count[32];
    if (!pawl_system_uses_turn(system, k, c, modes[c]) || (turn->counts && name)) {
      continue;
    }
    bool piece = turn->counts && pawl_dag_node(system->model->dag, turn->node)->op == PAWL_OP_TABLE;
    snprintf(count, sizeof count, piece ? "piece %d" : "turn %d", value);
    append(room, size, turn->counts ? count : value > 0 ? turn->above : turn->below);
    turns = true;
  }
  return turns ? room : name ? name : "";
}
