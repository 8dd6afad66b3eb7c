// SPDX-License-Identifier: Apache-2.0
// `states:` and `inputs:`, and what events and constraints set of them (docs/theory/states.md).
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/loader.h"

static const PawlUse rate_use = {
    "the rate of a state",
    PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_A | PAWL_MAY_T | PAWL_MAY_LAMBDA | PAWL_MAY_SIGNALS,
    "forces of contacts are impulses and have no place in a rate"};
static const PawlUse set_use = {"what an event sets",
                                PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_A | PAWL_MAY_T |
                                    PAWL_MAY_LAMBDA | PAWL_MAY_OUTPUT | PAWL_MAY_SIGNALS,
                                NULL};
static const PawlUse keep_use = {"what a constraint sets", PAWL_MAY_Q | PAWL_MAY_T, NULL};
static const PawlUse follow_use = {"what a state follows", PAWL_MAY_Q | PAWL_MAY_T, NULL};

// ---- what they start with -----------------------------------------------------------------------

// `0`, or a map with start: and unit:, and rate: for a state.
static bool read_body(PawlLoader* loader, PawlYaml* body, const PawlScope* scope, bool is_state,
                      double* start, const char** unit) {
  static const char* const keys[] = {"start", "unit", "rate", "follows", NULL};
  static const char* const input_keys[] = {"start", "unit", NULL};
  if (body->kind != PAWL_YAML_MAP) {
    return pawl_yaml_is_null(body) || pawl_value(loader, body, scope, start);
  }
  bool good = pawl_yaml_check_keys(&loader->report, body, is_state ? "a state" : "an input",
                                   is_state ? keys : input_keys);
  PawlYaml *from = pawl_yaml_get(body, "start"), *text = pawl_yaml_get(body, "unit");
  good &= !from || pawl_value(loader, from, scope, start);
  good &= !text || pawl_load_text(loader, text, unit);
  return good;
}

static int add_held(PawlLoader* loader, const PawlDeclared* entry, PawlInputDef input) {
  PawlModel* model = loader->model;
  if (!PAWL_ROOM(loader, entry->key, model->inputs, loader->input_capacity, model->input_count)) {
    return -1;
  }
  model->inputs[model->input_count] = input;
  return model->input_count++;
}

int pawl_add_input(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  PawlInputDef input = {.name = pawl_declared_name(loader, entry, at), .unit = ""};
  return input.name && read_body(loader, entry->value, &at->scope, false, &input.start, &input.unit)
             ? add_held(loader, entry, input)
             : -1;
}

static PawlYaml* part_of(const PawlYaml* body, const char* key) {
  return body->kind == PAWL_YAML_MAP ? pawl_yaml_get(body, key) : NULL;
}

// A state with a rate is a velocity behind those of the coordinates.                         (Z1)
static int add_dynamic(PawlLoader* loader, const PawlDeclared* entry, PawlCoordinate state) {
  PawlModel* model = loader->model;
  int place = model->coordinate_count + model->dynamic_count;
  if (!PAWL_ROOM(loader, entry->key, model->coordinates, loader->coordinate_capacity, place)) {
    return -1;
  }
  model->coordinates[place] = state;
  model->dynamic_count++;
  return place;
}

int pawl_add_state(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  PawlModel* model = loader->model;
  PawlSource source = pawl_loader_source(loader, entry->key);
  PawlStateDef state = {.name = pawl_declared_name(loader, entry, at),
                        .coordinate = -1,
                        .input = -1,
                        .rate = PAWL_NO_NODE,
                        .source = source};
  double start = 0.0;
  const char* unit = "";
  if (!state.name || !read_body(loader, entry->value, &at->scope, true, &start, &unit) ||
      !PAWL_ROOM(loader, entry->key, model->states, loader->state_capacity, model->state_count)) {
    return -1;
  }
  if (part_of(entry->value, "rate")) {
    PawlCoordinate rate = {.name = state.name, .unit = unit, .rate = start, .source = source};
    state.coordinate = add_dynamic(loader, entry, rate);
  } else {
    bool follows = part_of(entry->value, "follows");
    PawlInputDef held = {state.name, unit, start, follows ? PAWL_INPUT_FOLLOWS : PAWL_INPUT_STATE};
    state.input = add_held(loader, entry, held);
  }
  if (state.coordinate < 0 && state.input < 0) {
    return -1;
  }
  model->states[model->state_count] = state;
  return model->state_count++;
}

// ---- rates --------------------------------------------------------------------------------------

// z = e at the end of every step.                                                           (Z10)
static bool load_follows(PawlLoader* loader, PawlYaml* text, const PawlIndexer* at,
                         const PawlStateDef* state) {
  PawlModel* model = loader->model;
  PawlSet set = {.coordinate = -1,
                 .input = state->input,
                 .follows = true,
                 .source = pawl_loader_source(loader, text)};
  if (state->input < 0) {
    pawl_report(&loader->report, text->key, "a state has either rate: or follows:");
    return false;
  }
  if (!pawl_expression(loader, text, &at->scope, &follow_use, &set.node) ||
      !PAWL_ROOM(loader, text, model->sets, loader->set_capacity, model->set_count)) {
    return false;
  }
  model->sets[model->set_count++] = set;
  model->follow_count++;
  return true;
}

static bool load_rates_of(PawlLoader* loader, PawlYaml* child) {
  PawlYaml *rate = part_of(child, "rate"), *follows = part_of(child, "follows");
  const PawlAstKey* key = rate || follows ? pawl_key(loader, child->key) : NULL;
  PawlIndexer at;
  bool good = key != NULL;
  for (bool more = good && pawl_indexer_begin(&at, loader, child->key, key, &PAWL_SCOPE_EMPTY);
       more && good; more = pawl_indexer_next(&at)) {
    const PawlFamily* family = pawl_names_find(&loader->names, key->name);
    int* cell = family && !family->failed ? pawl_family_cell(family, at.value) : NULL;
    PawlStateDef* state = cell && *cell >= 0 ? &loader->model->states[*cell] : NULL;
    if (state) {
      state->source = pawl_loader_source(loader, rate ? rate : follows);
    }
    good = state && (!rate || pawl_expression(loader, rate, &at.scope, &rate_use, &state->rate));
    good = good && (!follows || load_follows(loader, follows, &at, state));
  }
  return good || (!rate && !follows);
}

// Rates follow from v' and lambda, all at once (Z4): none of them is there for another one, so what
// another stands for is put in its place.
typedef enum Settling { RATE_NEW, RATE_OPEN, RATE_DONE } Settling;
typedef struct Chain {
  PawlModel* model;
  Settling* settling;  // by state
  int* by_coordinate;  // place of a rate, from the first of states on -> state
  int* open;           // states whose rates wait for one another, each for the next
  int count;
} Chain;

// The state whose rate a rate uses and that is not settled, plus 1.
static int find_unsettled(void* context, PawlOp leaf, int index) {
  const Chain* c = context;
  int first = c->model->coordinate_count;
  int state = leaf == PAWL_OP_A && index >= first ? c->by_coordinate[index - first] : -1;
  return state >= 0 && c->settling[state] != RATE_DONE ? state + 1 : 0;
}

static PawlNode put_rate(void* context, PawlDag* dag, PawlOp leaf, int index) {
  const Chain* c = context;
  int first = c->model->coordinate_count;
  return leaf == PAWL_OP_A && index >= first
             ? c->model->states[c->by_coordinate[index - first]].rate
             : pawl_dag_leaf(dag, leaf, index);
}

// a' of b', b' of a': from the first of the circle on.
static void report_circle(PawlLoader* loader, const Chain* c, int again) {
  const PawlStateDef* states = c->model->states;
  int from = 0;
  PawlText text = {0};
  while (c->open[from] != again) {
    from++;
  }
  for (int k = from; k < c->count; k++) {
    pawl_text_printf(&text, "%s' uses ", states[c->open[k]].name);
  }
  pawl_text_printf(&text, "%s'", states[again].name);
  pawl_report_at(&loader->report, states[again].source.line, states[again].source.column,
                 "rates of states follow from each other in a circle: %s", text.s ? text.s : "");
  pawl_text_free(&text);
}

static void open_rate(Chain* c, int state) {
  c->settling[state] = RATE_OPEN;
  c->open[c->count++] = state;
}

// The rate of `state`, with those it needs before it.
static bool settle(PawlLoader* loader, Chain* c, int state) {
  PawlModel* model = c->model;
  if (c->settling[state] == RATE_NEW) {
    open_rate(c, state);
  }
  while (c->count > 0) {
    int top = c->open[c->count - 1];
    PawlStateDef* def = &model->states[top];
    int needed = pawl_dag_leaves(model->dag, def->rate, find_unsettled, c);
    if (needed > 0 && c->settling[needed - 1] == RATE_OPEN) {
      report_circle(loader, c, needed - 1);
      return false;
    }
    if (needed > 0) {
      open_rate(c, needed - 1);
      continue;
    }
    def->rate =
        needed < 0 ? PAWL_NO_NODE : pawl_dag_copy(model->dag, model->dag, def->rate, put_rate, c);
    if (def->rate == PAWL_NO_NODE) {
      return pawl_loader_no_memory(loader);
    }
    c->settling[top] = RATE_DONE;
    c->count--;
  }
  return true;
}

static void settle_rates(PawlLoader* loader) {
  PawlModel* model = loader->model;
  size_t count = (size_t)model->state_count;
  Chain c = {.model = model,
             .settling = pawl_alloc(count, sizeof(Settling)),
             .by_coordinate = pawl_alloc((size_t)model->dynamic_count, sizeof(int)),
             .open = pawl_alloc(count, sizeof(int))};
  bool good = c.settling && c.by_coordinate && c.open;
  if (!good) {
    pawl_loader_no_memory(loader);
  }
  for (int k = 0; good && k < model->state_count; k++) {
    int place = model->states[k].coordinate;
    c.settling[k] = model->states[k].rate == PAWL_NO_NODE ? RATE_DONE : RATE_NEW;
    if (place >= 0) {
      c.by_coordinate[place - model->coordinate_count] = k;
    }
  }
  for (int k = 0; good && k < model->state_count; k++) {
    good = settle(loader, &c, k);
  }
  pawl_free(c.settling);
  pawl_free(c.by_coordinate);
  pawl_free(c.open);
}

void pawl_load_rates(PawlLoader* loader, PawlYaml* states) {
  bool map = states && states->kind == PAWL_YAML_MAP, good = true;
  for (PawlYaml* child = map ? states->first : NULL; child; child = child->next) {
    good &= load_rates_of(loader, child);
  }
  if (good && loader->model->dynamic_count > 0) {
    settle_rates(loader);
  }
}

// ---- set: ---------------------------------------------------------------------------------------

// The state or input that a key of `set:` names, in the places of `set`.
static bool find_target(PawlLoader* loader, const PawlYaml* where, const PawlAstKey* key,
                        const int index[], PawlSet* set) {
  const PawlModel* model = loader->model;
  const PawlFamily* family = pawl_names_find(&loader->names, key->name);
  bool settable = family && (family->kind == PAWL_NAME_STATE || family->kind == PAWL_NAME_INPUT);
  if (!family) {
    PawlNearest nearest = {.wanted = key->name};
    pawl_names_offer(&loader->names, &nearest);
    pawl_report(&loader->report, where, "set: '%s' is neither a state nor an input%s",
                pawl_quote(key->name).s, pawl_did_you_mean(nearest.name).s);
    return false;
  }
  if (!settable) {
    pawl_report(
        &loader->report, where, "set: '%s' is %s; only states and inputs can be set%s",
        pawl_quote(key->name).s, pawl_name_kind_text(family->kind),
        family->kind == PAWL_NAME_COORDINATE ? " (impulse: changes the rate of a coordinate)" : "");
    return false;
  }
  PawlNameKind kind = family->kind;
  int element =
      pawl_find_element(loader, &loader->names, kind, where, key->name, key->count, index);
  if (element < 0) {
    return false;
  }
  bool is_input = kind == PAWL_NAME_INPUT;
  set->coordinate = is_input ? -1 : model->states[element].coordinate;
  set->input = is_input ? element : model->states[element].input;
  return true;
}

// Two values for one target would contradict each other; and what a constraint keeps of its instant
// stays until it engages again.
static bool check_once(PawlLoader* loader, const PawlYaml* where, int first, const PawlSet* set) {
  const PawlModel* model = loader->model;
  for (int k = 0; k < model->set_count; k++) {
    const PawlSet* other = &model->sets[k];
    bool same = other->coordinate == set->coordinate && other->input == set->input;
    if (same && (k >= first || other->keeps || other->follows)) {
      pawl_report(&loader->report, where, "set: '%s' %s", pawl_quote(where->text).s,
                  other->follows ? "follows an expression"
                  : k >= first   ? "is set twice"
                                 : "is set by a constraint already");
      return false;
    }
  }
  return true;
}

static bool add_set(PawlLoader* loader, PawlYaml* child, const PawlAstKey* key,
                    const PawlIndexer* at, bool keeps, int first) {
  PawlModel* model = loader->model;
  PawlSet set = {.keeps = keeps, .source = pawl_loader_source(loader, child)};
  if (!find_target(loader, child->key, key, at->value, &set)) {
    return false;
  }
  if (keeps && (set.coordinate >= 0 || model->inputs[set.input].kind != PAWL_INPUT_STATE)) {
    pawl_report(
        &loader->report, child->key, "set: a constraint sets states without rate, '%s' is %s",
        pawl_quote(child->key->text).s, set.coordinate >= 0 ? "one with a rate" : "an input");
    return false;
  }
  if (!check_once(loader, child->key, first, &set) ||
      !pawl_expression(loader, child, &at->scope, keeps ? &keep_use : &set_use, &set.node) ||
      !PAWL_ROOM(loader, child, model->sets, loader->set_capacity, model->set_count)) {
    return false;
  }
  model->sets[model->set_count++] = set;
  return true;
}

static bool load_sets(PawlLoader* loader, PawlYaml* set, const PawlScope* scope, bool keeps,
                      int* first, int* count) {
  *first = loader->model->set_count;
  if (!set) {
    return true;
  }
  if (set->kind != PAWL_YAML_MAP || !set->first) {
    pawl_report(&loader->report, set, "set: expected a map of states%s, {z: 0}",
                keeps ? "" : " and inputs");
    return false;
  }
  bool good = true;
  for (PawlYaml* child = set->first; good && child; child = child->next) {
    const PawlAstKey* key = pawl_key(loader, child->key);
    PawlIndexer at;
    good = key != NULL;
    for (bool more = good && pawl_indexer_begin(&at, loader, child->key, key, scope); more && good;
         more = pawl_indexer_next(&at)) {
      good = add_set(loader, child, key, &at, keeps, *first);
    }
    good = good && !at.failed;
  }
  *count = loader->model->set_count - *first;
  return good;
}

bool pawl_load_sets(PawlLoader* loader, PawlYaml* set, const PawlScope* scope,
                    PawlEventDef* event) {
  return load_sets(loader, set, scope, false, &event->first_set, &event->set_count);
}

// ---- what constraints keep
// ------------------------------------------------------------------------

bool pawl_load_kept(PawlLoader* loader, PawlYaml* set, const PawlScope* scope,
                    PawlConstraint* constraint) {
  bool sets = constraint->triggered && constraint->switching->capacity == PAWL_NO_NODE &&
              !constraint->at_start;
  if (set && !sets) {
    pawl_report(&loader->report, set->key,
                "set: is for a constraint without capacity that engages and lets go");
    return false;
  }
  return load_sets(loader, set, scope, true, &constraint->first_set, &constraint->set_count);
}

typedef struct Kept {
  const PawlModel* model;
  const PawlConstraint* constraint;
} Kept;

// An input that the constraint does not set, plus 1.
static int find_not_kept(void* context, PawlOp leaf, int index) {
  const Kept* k = context;
  const PawlConstraint* c = k->constraint;
  for (int s = c->first_set; leaf == PAWL_OP_INPUT && s < c->first_set + c->set_count; s++) {
    leaf = k->model->sets[s].input == index ? PAWL_OP_CONST : leaf;
  }
  bool follows = leaf == PAWL_OP_INPUT && k->model->inputs[index].kind == PAWL_INPUT_FOLLOWS;
  return leaf == PAWL_OP_INPUT && !follows ? index + 1 : 0;
}

// Equations have states that their constraint sets, and no others.
void pawl_check_kept(PawlLoader* loader) {
  PawlModel* model = loader->model;
  for (int c = 0; loader->keeps && c < model->constraint_count; c++) {
    PawlConstraint* constraint = &model->constraints[c];
    Kept kept = {model, constraint};
    int found = 0;
    for (int m = 0; m < constraint->mode_count; m++) {
      for (int r = 0; r < constraint->modes[m].row_count && found == 0; r++) {
        PawlRow* row = &constraint->modes[m].rows[r];
        PawlNode node = pawl_model_node(model, &row->node, row->member);
        found = node == PAWL_NO_NODE ? -1 : pawl_dag_leaves(model->dag, node, find_not_kept, &kept);
      }
    }
    if (found < 0) {
      pawl_loader_no_memory(loader);
    }
    if (found != 0) {
      const PawlSource* at = &constraint->source;
      pawl_report_at(&loader->report, at->line, at->column,
                     "the equation of '%s' has the state '%s', which the constraint does not set",
                     pawl_quote(constraint->name).s,
                     found > 0 ? pawl_quote(model->inputs[found - 1].name).s : "");
      return;
    }
  }
}
