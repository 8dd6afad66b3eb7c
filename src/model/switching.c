// SPDX-License-Identifier: Apache-2.0
// What makes a constraint or a lock engage and let go: times, zero crossings, durations, capacity.
#include <string.h>

#include "model/loader.h"

static const PawlUse capacity_use = {
    "a capacity",
    PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_T | PAWL_MAY_LAMBDA | PAWL_MAY_OUTPUT | PAWL_MAY_SIGNALS,
    NULL};
static const PawlUse friction_use = {
    "a friction force", PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_T | PAWL_MAY_LAMBDA | PAWL_MAY_SIGNALS,
    NULL};

// A number with a lower bound.
static bool load_time(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, bool positive,
                      double* value) {
  if (!text) {
    return true;
  }
  if (!pawl_value(loader, text, scope, value)) {
    return false;
  }
  if (*value < 0.0 || (positive && *value == 0.0)) {
    pawl_report(&loader->report, text, "'%s' = %g s, must be %s 0", pawl_quote(text->text).s,
                *value, positive ? ">" : ">=");
    text->parsed->failed = true;
    return false;
  }
  return true;
}

static bool load_times(PawlLoader* loader, PawlYaml* at, const PawlScope* scope,
                       PawlTrigger* trigger) {
  bool list = at->kind == PAWL_YAML_LIST;
  int count = list ? at->count : 1;
  if (count == 0) {
    pawl_report(&loader->report, at, "at: needs a time, or a list of times");
    return false;
  }
  trigger->times = pawl_loader_parts(loader, at, count, sizeof *trigger->times);
  if (!trigger->times) {
    return false;
  }
  PawlYaml* child = list ? at->first : at;
  for (int k = 0; k < count; k++, child = child->next) {
    double* time = &trigger->times[k];
    if (!load_time(loader, child, scope, false, time)) {
      return false;
    }
    if (k > 0 && time[0] <= time[-1]) {
      pawl_report(&loader->report, child, "the times of at: must ascend; %g follows %g", time[0],
                  time[-1]);
      return false;
    }
  }
  trigger->time_count = count;
  return true;
}

static int is_variable(void* context, PawlOp leaf, int index) {
  (void)context;
  (void)index;
  return leaf != PAWL_OP_PARAM;
}

// Is true or false, rather than a number that crosses zero.
static bool is_logical(const PawlDag* dag, PawlNode node) {
  return pawl_op_is_logical(pawl_dag_node(dag, node)->op);
}

// Made of <, <=, >, >= alone, which change where something crosses zero.
static bool has_borders(const PawlDag* dag, PawlNode node) {
  const PawlDagNode* n = pawl_dag_node(dag, node);
  if (n->op == PAWL_OP_NOT) {
    return has_borders(dag, n->arg[0]);
  }
  if (n->op == PAWL_OP_AND || n->op == PAWL_OP_OR) {
    PawlNode other = n->arg[1];
    return has_borders(dag, n->arg[0]) && has_borders(dag, other);
  }
  return n->op == PAWL_OP_LT || n->op == PAWL_OP_LE;
}

// A condition must be able to cross zero, or to become true.
static bool load_when(PawlLoader* loader, PawlYaml* when, const PawlScope* scope, PawlNode* node) {
  if (!pawl_expression(loader, when, scope, &PAWL_USE_WATCH, node)) {
    return false;
  }
  const PawlDag* dag = loader->model->dag;
  if (is_logical(dag, *node) && !has_borders(dag, *node)) {
    pawl_report(&loader->report, when,
                "when: '%s': expected an expression that crosses zero, such as x - 1, or "
                "comparisons (<, <=, >, >=), joined by and, or, not",
                pawl_quote(when->text).s);
    return false;
  }
  if (pawl_dag_leaves(loader->model->dag, *node, is_variable, NULL) == 0) {
    pawl_report(&loader->report, when, "when: '%s' does not change, so it never crosses zero",
                pawl_quote(when->text).s);
    return false;
  }
  return true;
}

bool pawl_load_trigger(PawlLoader* loader, PawlYaml* map, const PawlScope* scope,
                       PawlTrigger* trigger) {
  static const char* const words[] = {"down", "both", "up", NULL};
  PawlYaml *at = pawl_yaml_get(map, "at"), *when = pawl_yaml_get(map, "when");
  const PawlYaml* direction = pawl_yaml_get(map, "direction");
  *trigger = (PawlTrigger){.when = PAWL_NO_NODE};
  bool good = !at || load_times(loader, at, scope, trigger);
  good &= !when || load_when(loader, when, scope, &trigger->when);
  good &= load_time(loader, pawl_yaml_get(map, "after"), scope, false, &trigger->after);
  const PawlYaml* after = pawl_yaml_get(map, "after");
  if (after && !when) {
    pawl_report(&loader->report, after->key, "after: needs when:");
    good = false;
  }
  if (direction && !when) {
    pawl_report(&loader->report, direction->key, "direction: needs when:");
    good = false;
  } else if (direction) {
    int word = pawl_load_word(loader, direction, "direction", words);
    trigger->direction = (PawlDirection)(word - 1);
    good &= word >= 0;
  } else if (good && when && is_logical(loader->model->dag, trigger->when)) {
    trigger->direction = PAWL_DIRECTION_UP;  // becomes true
  }
  return good;
}

bool pawl_load_every(PawlLoader* loader, PawlYaml* map, const PawlScope* scope,
                     PawlTrigger* trigger) {
  PawlYaml *every = pawl_yaml_get(map, "every"), *offset = pawl_yaml_get(map, "offset");
  bool good = load_time(loader, every, scope, true, &trigger->every);
  good &= load_time(loader, offset, scope, false, &trigger->offset);
  if (offset && !every) {
    pawl_report(&loader->report, offset->key, "offset: needs every:");
    return false;
  }
  if (every && pawl_yaml_get(map, "at")) {
    pawl_report(&loader->report, every->key, "every: and at: are two schedules; make two events");
    return false;
  }
  return good;
}

static bool load_release(PawlLoader* loader, PawlYaml* release, const PawlScope* scope,
                         PawlTrigger* trigger) {
  static const char* const keys[] = {"at", "when", "direction", "after", NULL};
  if (!release) {
    return true;
  }
  if (release->kind != PAWL_YAML_MAP) {
    pawl_report(&loader->report, release, "release: expected a map with at: or when:");
    return false;
  }
  bool good = pawl_yaml_check_keys(&loader->report, release, "release", keys);
  good &= pawl_load_trigger(loader, release, scope, trigger);
  if (good && trigger->time_count == 0 && trigger->when == PAWL_NO_NODE) {
    pawl_report(&loader->report, release, "release: needs at: or when:");
    return false;
  }
  return good;
}

static int is_acceleration(void* context, PawlOp leaf, int index) {
  (void)context;
  (void)index;
  return leaf == PAWL_OP_A;
}

// What moves is judged by the run.
static bool check_capacity(PawlLoader* loader, PawlYaml* capacity, const PawlScope* scope) {
  double value;
  if (!pawl_is_value(loader, capacity, scope)) {
    return true;
  }
  if (!pawl_judge(loader, capacity, scope, &value)) {
    return false;
  }
  if (!(value >= 0.0)) {
    pawl_report(&loader->report, capacity, "the capacity is %g, must be >= 0", value);
    return false;
  }
  return true;
}

// Friction beyond the capacity would slide at once where it holds. What moves is judged by the run.
static bool check_friction(PawlLoader* loader, PawlYaml* capacity, PawlYaml* friction,
                           const PawlScope* scope) {
  double most, value;
  if (!pawl_is_value(loader, friction, scope)) {
    return true;
  }
  if (!pawl_judge(loader, friction, scope, &value)) {
    return false;
  }
  if (value < 0.0) {
    pawl_report(&loader->report, friction, "the friction is %g, must be >= 0", value);
    return false;
  }
  if (pawl_is_value(loader, capacity, scope) && pawl_judge(loader, capacity, scope, &most) &&
      value > most) {
    pawl_report(&loader->report, friction,
                "the friction while sliding is %g, more than the capacity, %g", value, most);
    return false;
  }
  return true;
}

// Without `friction` the capacity acts while sliding, too; then it must be known there.
static bool load_capacity(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                          PawlSwitching* switching) {
  PawlYaml* capacity = pawl_yaml_get(body, "capacity");
  PawlYaml* friction = pawl_yaml_get(body, "friction");
  if (friction && !capacity) {
    pawl_report(&loader->report, friction->key, "friction: needs capacity:");
    return false;
  }
  if ((capacity &&
       !pawl_expression(loader, capacity, scope, &capacity_use, &switching->capacity)) ||
      (friction &&
       !pawl_expression(loader, friction, scope, &friction_use, &switching->friction))) {
    return false;
  }
  if (capacity && !check_capacity(loader, capacity, scope)) {
    return false;
  }
  if (friction && !check_friction(loader, capacity, friction, scope)) {
    return false;
  }
  if (capacity && !friction) {
    int reacts = pawl_dag_leaves(loader->model->dag, switching->capacity, is_acceleration, NULL);
    if (reacts < 0) {
      return pawl_loader_no_memory(loader);
    }
    if (reacts > 0) {
      pawl_report(&loader->report, capacity,
                  "a capacity made of accelerations needs friction:, the force while sliding, as "
                  "an expression of coordinates, rates, multipliers and t");
      return false;
    }
    switching->friction = switching->capacity;
  }
  return true;
}

const PawlYaml* pawl_switching_given(const PawlYaml* body) {
  static const char* const keys[] = {"engaged", "at",       "release",  "when",     "direction",
                                     "after",   "for",      "capacity", "friction", "smooth",
                                     "on",      "assemble", "set"};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    const PawlYaml* given = pawl_yaml_get(body, keys[k]);
    if (given) {
      return given;
    }
  }
  return NULL;
}

// Rows are added or taken away at once, so no gradient lies between before and after.
static bool check_law(PawlLoader* loader, const PawlYaml* body, const PawlConstraint* constraint) {
  const PawlYaml* impact = pawl_yaml_get(body, "impact");
  if (constraint->impact_none && !constraint->triggered) {
    pawl_report(&loader->report, impact, "impact: none is for what engages and lets go (at, when)");
    return false;
  }
  if (constraint->triggered && constraint->impact != 1.0) {
    pawl_report(&loader->report, impact,
                "impact: what engages and lets go has post (momentum is kept) or none");
    return false;
  }
  const PawlSwitching* s = constraint->switching;
  const PawlYaml* on = pawl_yaml_get(body, "on");
  if (s->capacity != PAWL_NO_NODE && on && constraint->on_engage != PAWL_ENGAGE_KEEP) {
    pawl_report(&loader->report, on, "what has a capacity sticks where it comes to rest: on: keep");
    return false;
  }
  if (constraint->row_count > 1 && (s->smooth || s->capacity != PAWL_NO_NODE)) {
    pawl_report(&loader->report, pawl_yaml_get(body, s->smooth ? "smooth" : "capacity")->key,
                "%s: needs a single equation, '%s' has %d", s->smooth ? "smooth" : "capacity",
                pawl_quote(constraint->name).s, constraint->row_count);
    return false;
  }
  return true;
}

// What was read as the only mode becomes the one that holds.
static bool add_modes(PawlLoader* loader, const PawlYaml* body, PawlConstraint* constraint) {
  static const char* const names[2][5] = {
      {"released", "engaged", "waiting", "sliding up", "sliding down"},
      {"free", "locked", "waiting", "sliding up", "sliding down"}};
  int count = constraint->switching->capacity == PAWL_NO_NODE ? PAWL_MODE_UP : PAWL_MODE_DOWN + 1;
  PawlMode* modes = pawl_loader_parts(loader, body, count, sizeof *modes);
  for (int k = 0; modes && k < count; k++) {
    modes[k] = (PawlMode){
        .name = names[constraint->is_lock][k], .where = PAWL_NO_NODE, .source = constraint->source};
  }
  if (modes) {
    modes[PAWL_MODE_HELD].row_count = constraint->modes[0].row_count;
    modes[PAWL_MODE_HELD].rows = constraint->modes[0].rows;
    modes[PAWL_MODE_HELD].rate = constraint->modes[0].rate;
    constraint->modes = modes;
    constraint->mode_count = count;
  }
  return modes != NULL;
}

// `assemble: true`, start or rate, by itself.
static bool load_at_start(PawlLoader* loader, const PawlYaml* body, PawlConstraint* constraint) {
  static const char* const words[] = {"true", "start", "rate", NULL};
  const PawlYaml *assemble = pawl_yaml_get(body, "assemble"), *other = pawl_switching_given(body);
  if (!assemble) {
    return true;
  }
  if (other != assemble) {
    pawl_report(&loader->report, other->key,
                "assemble: holds at the start alone, and cannot be combined with '%s'",
                other->key->text);
    return false;
  }
  int word = pawl_load_word(loader, assemble, "assemble:", words);
  constraint->at_start = (PawlAtStart)(word + 1);
  constraint->switching->engaged = false;
  return word >= 0;
}

// The constraint that a lock is a part of.
static bool load_part_of(PawlLoader* loader, PawlYaml* part_of, const PawlScope* scope,
                         PawlConstraint* constraint) {
  const PawlAstKey* key = part_of ? pawl_key(loader, part_of) : NULL;
  PawlIndexer at;
  if (!part_of || !key || !pawl_indexer_begin(&at, loader, part_of, key, scope)) {
    return !part_of;
  }
  int element = pawl_find_element(loader, &loader->constraints, PAWL_NAME_CONSTRAINT, part_of,
                                  key->name, key->count, at.value);
  constraint->part_of = element + 1;
  return element >= 0;
}

static bool load_switching(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                           PawlConstraint* constraint) {
  PawlSwitching* switching = constraint->switching;
  switching->given = pawl_switching_given(body) != NULL;
  bool good = pawl_load_trigger(loader, body, scope, &switching->engage);
  good &= load_release(loader, pawl_yaml_get(body, "release"), scope, &switching->release);
  good &= load_time(loader, pawl_yaml_get(body, "for"), scope, true, &switching->duration);
  good &= load_capacity(loader, body, scope, switching);
  bool triggered = switching->engage.time_count > 0 || switching->engage.when != PAWL_NO_NODE;
  switching->engaged = !constraint->is_lock && !triggered;
  const PawlYaml* engaged = pawl_yaml_get(body, "engaged");
  const PawlYaml* smooth = pawl_yaml_get(body, "smooth");
  good &= !engaged || pawl_flag(loader, engaged, &switching->engaged);
  good &= !smooth || pawl_flag(loader, smooth, &switching->smooth);
  good &= load_at_start(loader, body, constraint);
  good &= load_part_of(loader, pawl_yaml_get(body, "part_of"), scope, constraint);
  constraint->triggered = constraint->is_lock || switching->given;
  if (switching->capacity != PAWL_NO_NODE && !pawl_yaml_get(body, "on")) {
    constraint->on_engage = PAWL_ENGAGE_KEEP;
  }
  return good && check_law(loader, body, constraint) &&
         pawl_load_kept(loader, pawl_yaml_get(body, "set"), scope, constraint) &&
         (!constraint->triggered || add_modes(loader, body, constraint));
}

// A constraint of a family repeats the mistake of the one before it: one report is enough.
void pawl_load_switching(PawlLoader* loader) {
  const PawlYaml* failed = NULL;
  for (int k = 0; k < loader->switching_count; k++) {
    const PawlSwitchingTask* task = &loader->switching[k];
    const PawlAstKey* key = pawl_key(loader, task->key);
    if (!key || task->body == failed) {
      continue;
    }
    PawlScope scope = pawl_scope_at(key, task->index);
    if (!load_switching(loader, task->body, &scope,
                        &loader->model->constraints[task->constraint])) {
      failed = task->body;
    }
  }
  pawl_check_kept(loader);
}
