// SPDX-License-Identifier: Apache-2.0
// The dynamics: `kinetic:`, `potential:`, `dissipation:`, `mass:`, `forces:`. One term for each
// item written and each index.
#include <string.h>

#include "model/loader.h"

static const PawlUse uses[] = {
    [PAWL_TERM_KINETIC] = {"a kinetic energy", PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_T | PAWL_MAY_WAIT,
                           NULL},
    [PAWL_TERM_POTENTIAL] = {"a potential energy",
                             PAWL_MAY_Q | PAWL_MAY_T | PAWL_MAY_SIGNALS | PAWL_MAY_WAIT, NULL},
    [PAWL_TERM_DISSIPATION] = {"a dissipation",
                               PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_T | PAWL_MAY_SIGNALS |
                                   PAWL_MAY_WAIT,
                               NULL},
    [PAWL_TERM_FORCE] = {"a force",
                         PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_T | PAWL_MAY_SIGNALS | PAWL_MAY_WAIT,
                         NULL},
};

bool pawl_add_term(PawlLoader* loader, PawlTermKind kind, PawlYaml* text, PawlNode node,
                   int target) {
  PawlModel* model = loader->model;
  if (!PAWL_ROOM(loader, text, model->terms, loader->term_capacity, model->term_count)) {
    return false;
  }
  model->terms[model->term_count++] = (PawlTerm){
      .kind = kind, .node = node, .target = target, .source = pawl_loader_source(loader, text)};
  return true;
}

bool pawl_add_member(PawlLoader* loader, PawlTermKind kind, PawlYaml* text, PawlNode node,
                     int target, int coordinate) {
  PawlMember member;
  if (!pawl_member(loader, loader->built, coordinate, &member) ||
      !pawl_add_term(loader, kind, text, node, target)) {
    return false;
  }
  loader->model->terms[loader->model->term_count - 1].member = member;
  return true;
}

// ---- energies -------------------------------------------------------------------------------

static bool load_items(PawlLoader* loader, PawlYaml* items, const PawlScope* scope,
                       PawlTermKind kind);

static bool load_loop(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                      PawlTermKind kind) {
  bool is_for;
  const PawlAstKey* key = pawl_loop_key(loader, body->key, &is_for);
  if (!is_for) {
    pawl_report(&loader->report, body->key,
                "unknown key '%s'; expected an expression, a list, or for i=a..b:%s",
                pawl_quote(body->key->text).s, pawl_yaml_is_null(body) ? PAWL_YAML_FLOW_HINT : "");
  }
  if (!key || (scope->count == 0 && !pawl_loop_check(loader, body, key))) {
    return false;
  }
  PawlIndexer at;
  bool good = true, more = pawl_indexer_begin(&at, loader, body->key, key, scope);
  if (more && scope->count == 0) {
    loader->coming = (int)pawl_indexer_rounds(&at);
  }
  for (; more && good; more = pawl_indexer_next(&at)) {
    good = load_items(loader, body, &at.scope, kind);
  }
  loader->coming = scope->count == 0 ? 0 : loader->coming;
  return good && !at.failed;
}

// Depth: that of the tree, PAWL_MODEL_MAX_NESTING.
static bool load_items(PawlLoader* loader, PawlYaml* items, const PawlScope* scope,
                       PawlTermKind kind) {
  if (items->kind == PAWL_YAML_SCALAR) {
    PawlNode node;
    return pawl_expression(loader, items, scope, &uses[kind], &node) &&
           pawl_add_member(loader, kind, items, node, -1, -1);
  }
  bool good = true;
  for (PawlYaml* child = items->first; child; child = child->next) {
    good &= items->kind == PAWL_YAML_MAP ? load_loop(loader, child, scope, kind)
                                         : load_items(loader, child, scope, kind);
  }
  return good;
}

void pawl_load_energy(PawlLoader* loader, PawlYaml* section, PawlTermKind kind) {
  if (section && !pawl_yaml_is_null(section)) {
    load_items(loader, section, &PAWL_SCOPE_EMPTY, kind);
  }
}

// ---- terms of a coordinate ------------------------------------------------------------------

typedef bool (*AddToCoordinate)(PawlLoader* loader, PawlYaml* text, const PawlScope* scope,
                                int coordinate);

static void load_by_element(PawlLoader* loader, PawlYaml* child, PawlNameKind kind,
                            AddToCoordinate add) {
  const PawlAstKey* key = pawl_key(loader, child->key);
  PawlIndexer at;
  if (!key) {
    return;
  }
  for (bool more = pawl_indexer_begin(&at, loader, child->key, key, &PAWL_SCOPE_EMPTY); more;
       more = pawl_indexer_next(&at)) {
    int element = pawl_find_element(loader, &loader->names, kind, child->key, key->name, key->count,
                                    at.value);
    if (element < 0 || !add(loader, child, &at.scope, element)) {
      return;
    }
  }
}

static void load_by_coordinate(PawlLoader* loader, PawlYaml* child, AddToCoordinate add) {
  load_by_element(loader, child, PAWL_NAME_COORDINATE, add);
}

// `mass: {x: m}` is the kinetic energy m/2 x'^2.
static bool add_mass(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, int coordinate) {
  static const PawlUse use = {"a mass", 0, "write a mass that varies into kinetic:"};
  PawlNode mass;
  if (!pawl_expression(loader, text, scope, &use, &mass)) {
    return false;
  }
  double value;
  if (!pawl_judge(loader, text, scope, &value)) {
    return false;
  }
  if (!(value > 0.0)) {
    pawl_report(&loader->report, text, "the mass of '%s' is %g, must be > 0",
                pawl_quote(loader->model->coordinates[coordinate].name).s, value);
    return false;
  }
  PawlDag* dag = loader->model->dag;
  PawlNode rate = pawl_dag_leaf(dag, PAWL_OP_V, coordinate);
  PawlNode half = pawl_dag_div(dag, mass, pawl_dag_const(dag, 2.0));
  PawlNode node = pawl_dag_mul(dag, half, pawl_dag_powi(dag, rate, 2));
  if (node == PAWL_NO_NODE) {
    return pawl_loader_no_memory(loader);
  }
  return pawl_add_member(loader, PAWL_TERM_KINETIC, text, node, -1, coordinate);
}

static bool add_force(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, int coordinate) {
  PawlNode node;
  return pawl_expression(loader, text, scope, &uses[PAWL_TERM_FORCE], &node) &&
         pawl_add_member(loader, PAWL_TERM_FORCE, text, node, coordinate, coordinate);
}

// `mass: {R: J}`, or [a, b, c]: moments of inertia along the axes of the body.
static bool add_inertia(PawlLoader* loader, PawlYaml* value, const PawlScope* scope, int rotation) {
  bool list = value->kind == PAWL_YAML_LIST, good = true;
  if (list && value->count != 3) {
    pawl_report(&loader->report, value, "a rotation has one moment of inertia, or three, %d given",
                value->count);
    return false;
  }
  PawlYaml* item = list ? value->first : value;
  for (int k = 0; k < 3 && good; k++, item = list ? item->next : item) {
    good = add_mass(loader, item, scope, loader->model->turning + 3 * rotation + k);
  }
  return good;
}

// A moment on a rotation, in the axes of the body.
static bool add_moment(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, int rotation) {
  static const PawlUse use = {"a force", PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_T | PAWL_MAY_SIGNALS,
                              NULL};
  PawlMatrix moment;
  if (!pawl_vector(loader, text, scope, &use, &moment)) {
    return false;
  }
  if (moment.rows != 3) {
    pawl_report(&loader->report, text, "a moment is a vector of 3, found %s",
                pawl_matrix_shape(&moment));
    return false;
  }
  for (int k = 0; k < 3; k++) {
    int target = loader->model->turning + 3 * rotation + k;
    if (!pawl_add_term(loader, PAWL_TERM_FORCE, text, moment.at[k], target)) {
      return false;
    }
  }
  return true;
}

static bool is_rotation(PawlLoader* loader, PawlYaml* key) {
  const PawlAstKey* parsed = pawl_key(loader, key);
  const PawlFamily* family = parsed ? pawl_names_find(&loader->names, parsed->name) : NULL;
  return family && family->kind == PAWL_NAME_ROTATION;
}

void pawl_load_mass(PawlLoader* loader, PawlYaml* section) {
  if (pawl_expect_map(loader, section, "mass")) {
    for (PawlYaml* child = section->first; child; child = child->next) {
      if (is_rotation(loader, child->key)) {
        load_by_element(loader, child, PAWL_NAME_ROTATION, add_inertia);
      } else {
        load_by_coordinate(loader, child, add_mass);
      }
    }
  }
}

void pawl_load_forces(PawlLoader* loader, PawlYaml* section) {
  if (pawl_expect_map(loader, section, "forces")) {
    for (PawlYaml* child = section->first; child; child = child->next) {
      if (child->kind == PAWL_YAML_MAP) {
        pawl_load_force_along(loader, child);
      } else if (is_rotation(loader, child->key)) {
        load_by_element(loader, child, PAWL_NAME_ROTATION, add_moment);
      } else {
        load_by_coordinate(loader, child, add_force);
      }
    }
  }
}
