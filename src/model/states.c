// SPDX-License-Identifier: Apache-2.0
// `states:` and `inputs:`, and what events set of them (docs/theory/states.md).
#include <string.h>

#include "model/loader.h"

static const PawlUse rate_use = {
    "the rate of a state",
    PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_A | PAWL_MAY_T | PAWL_MAY_LAMBDA | PAWL_MAY_SIGNALS,
    "forces of contacts are impulses and have no place in a rate"};
static const PawlUse set_use = {"what an event sets",
                                PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_A | PAWL_MAY_T |
                                    PAWL_MAY_LAMBDA | PAWL_MAY_OUTPUT | PAWL_MAY_SIGNALS,
                                NULL};

// ---- what they start with -----------------------------------------------------------------------

static const char* new_name(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  const char* name = pawl_element_name(&loader->kept, entry->family, at->value);
  if (!name) {
    pawl_loader_no_memory(loader);
  }
  return name;
}

// `0`, or a map with start: and unit:, and rate: for a state.
static bool read_body(PawlLoader* loader, PawlYaml* body, const PawlScope* scope, bool is_state,
                      double* start, const char** unit) {
  static const char* const keys[] = {"start", "unit", "rate", NULL};
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
  PawlInputDef input = {.name = new_name(loader, entry, at), .unit = ""};
  return input.name && read_body(loader, entry->value, &at->scope, false, &input.start, &input.unit)
             ? add_held(loader, entry, input)
             : -1;
}

static bool has_rate(const PawlYaml* body) {
  return body->kind == PAWL_YAML_MAP && pawl_yaml_get(body, "rate");
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
  PawlStateDef state = {.name = new_name(loader, entry, at),
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
  if (has_rate(entry->value)) {
    PawlCoordinate rate = {.name = state.name, .unit = unit, .rate = start, .source = source};
    state.coordinate = add_dynamic(loader, entry, rate);
  } else {
    PawlInputDef held = {state.name, unit, start, PAWL_INPUT_STATE};
    state.input = add_held(loader, entry, held);
  }
  if (state.coordinate < 0 && state.input < 0) {
    return -1;
  }
  model->states[model->state_count] = state;
  return model->state_count++;
}

// ---- rates --------------------------------------------------------------------------------------

// The place of a state whose rate a rate uses, plus 1.
static int find_rate_of_state(void* context, PawlOp leaf, int index) {
  const PawlModel* model = context;
  return leaf == PAWL_OP_A && index >= model->coordinate_count ? index + 1 : 0;
}

// Rates follow from v' and lambda, all at once (Z4): none of them is there for another one.
static bool is_free_of_rates(PawlLoader* loader, const PawlYaml* where, PawlNode rate) {
  PawlModel* model = loader->model;
  int found = pawl_dag_leaves(model->dag, rate, find_rate_of_state, model);
  if (found < 0) {
    pawl_loader_no_memory(loader);
  } else if (found > 0) {
    const char* name = model->coordinates[found - 1].name;
    pawl_report(&loader->report, where,
                "the rate of a state uses %s', the rate of another or of itself; write the "
                "expression of that rate in its place",
                pawl_quote(name).s);
  }
  return found == 0;
}

static void load_rates_of(PawlLoader* loader, PawlYaml* child) {
  PawlYaml* rate = has_rate(child) ? pawl_yaml_get(child, "rate") : NULL;
  const PawlAstKey* key = rate ? pawl_key(loader, child->key) : NULL;
  PawlIndexer at;
  bool good = key != NULL;
  for (bool more = good && pawl_indexer_begin(&at, loader, child->key, key, &PAWL_SCOPE_EMPTY);
       more && good; more = pawl_indexer_next(&at)) {
    const PawlFamily* family = pawl_names_find(&loader->names, key->name);
    int* cell = family && !family->failed ? pawl_family_cell(family, at.value) : NULL;
    PawlStateDef* state = cell && *cell >= 0 ? &loader->model->states[*cell] : NULL;
    good = state && pawl_expression(loader, rate, &at.scope, &rate_use, &state->rate) &&
           is_free_of_rates(loader, rate, state->rate);
    if (state) {
      state->source = pawl_loader_source(loader, rate);
    }
  }
}

void pawl_load_rates(PawlLoader* loader, PawlYaml* states) {
  bool map = states && states->kind == PAWL_YAML_MAP;
  for (PawlYaml* child = map ? states->first : NULL; child; child = child->next) {
    load_rates_of(loader, child);
  }
}

// ---- set: ---------------------------------------------------------------------------------------

// The state or input that a key of `set:` names, in the places of `set`.
static bool find_target(PawlLoader* loader, const PawlYaml* where, const PawlAstKey* key,
                        const int index[], PawlSet* set) {
  const PawlModel* model = loader->model;
  const PawlFamily* family = pawl_names_find(&loader->names, key->name);
  bool settable = family && (family->kind == PAWL_NAME_STATE || family->kind == PAWL_NAME_INPUT);
  if (family && !settable) {
    pawl_report(
        &loader->report, where, "set: '%s' is %s; only states and inputs can be set%s",
        pawl_quote(key->name).s, pawl_name_kind_text(family->kind),
        family->kind == PAWL_NAME_COORDINATE ? " (impulse: changes the rate of a coordinate)" : "");
    return false;
  }
  PawlNameKind kind = family ? family->kind : PAWL_NAME_STATE;
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

// Two values for one target would contradict each other.
static bool check_once(PawlLoader* loader, const PawlYaml* where, const PawlEventDef* event,
                       const PawlSet* set) {
  const PawlModel* model = loader->model;
  for (int k = event->first_set; k < model->set_count; k++) {
    if (model->sets[k].coordinate == set->coordinate && model->sets[k].input == set->input) {
      pawl_report(&loader->report, where, "set: '%s' is set twice", pawl_quote(where->text).s);
      return false;
    }
  }
  return true;
}

static bool add_set(PawlLoader* loader, PawlYaml* child, const PawlAstKey* key,
                    const PawlIndexer* at, const PawlEventDef* event) {
  PawlModel* model = loader->model;
  PawlSet set = {.source = pawl_loader_source(loader, child)};
  if (!find_target(loader, child->key, key, at->value, &set) ||
      !check_once(loader, child->key, event, &set) ||
      !pawl_expression(loader, child, &at->scope, &set_use, &set.node) ||
      !PAWL_ROOM(loader, child, model->sets, loader->set_capacity, model->set_count)) {
    return false;
  }
  model->sets[model->set_count++] = set;
  return true;
}

bool pawl_load_sets(PawlLoader* loader, PawlYaml* set, const PawlScope* scope,
                    PawlEventDef* event) {
  event->first_set = loader->model->set_count;
  if (!set) {
    return true;
  }
  if (set->kind != PAWL_YAML_MAP || !set->first) {
    pawl_report(&loader->report, set, "set: expected a map of states and inputs, {z: 0}");
    return false;
  }
  bool good = true;
  for (PawlYaml* child = set->first; good && child; child = child->next) {
    const PawlAstKey* key = pawl_key(loader, child->key);
    PawlIndexer at;
    good = key != NULL;
    for (bool more = good && pawl_indexer_begin(&at, loader, child->key, key, scope); more && good;
         more = pawl_indexer_next(&at)) {
      good = add_set(loader, child, key, &at, event);
    }
    good = good && !at.failed;
  }
  event->set_count = loader->model->set_count - event->first_set;
  return good;
}
