// SPDX-License-Identifier: Apache-2.0
// `projection:`: how the infeasible side of a contact is mapped onto the feasible one, for the
// method php.
#include <string.h>

#include "model/loader.h"

static const PawlUse map_use = {"a projection", PAWL_MAY_Q, NULL};
static const double DEFAULT_REACH = 10.0;  // in the unit of each coordinate

// ---- by coordinate --------------------------------------------------------------------------
typedef bool (*VisitCoordinate)(PawlLoader* loader, PawlYaml* text, const PawlScope* scope,
                                int coordinate, void* context);

// Calls `visit` for each coordinate that `name` stands for.
static bool each_coordinate(PawlLoader* loader, PawlYaml* name, PawlYaml* text,
                            VisitCoordinate visit, void* context) {
  const PawlAstKey* key = pawl_key(loader, name);
  PawlIndexer at;
  if (!key) {
    return false;
  }
  for (bool more = pawl_indexer_begin(&at, loader, name, key, &PAWL_SCOPE_EMPTY); more;
       more = pawl_indexer_next(&at)) {
    int coordinate = pawl_find_element(loader, &loader->names, PAWL_NAME_COORDINATE, name,
                                       key->name, key->count, at.value);
    if (coordinate < 0 || !visit(loader, text, &at.scope, coordinate, context)) {
      return false;
    }
  }
  return !at.failed;
}

static bool set_node(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, int coordinate,
                     void* nodes) {
  return pawl_expression(loader, text, scope, &map_use, (PawlNode*)nodes + coordinate);
}

static bool set_angle(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, int coordinate,
                      void* angles) {
  (void)loader, (void)text, (void)scope;
  ((unsigned char*)angles)[coordinate] = 1;
  return true;
}

static bool set_coordinate(PawlLoader* loader, PawlYaml* text, const PawlScope* scope,
                           int coordinate, void* chosen) {
  (void)loader, (void)text, (void)scope;
  *(int*)chosen = coordinate;
  return true;
}

// ---- keys -----------------------------------------------------------------------------------
// `{x: expression}`: one expression a coordinate; those not named stay as they are.
static bool load_map(PawlLoader* loader, PawlYaml* map, PawlNode** nodes) {
  PawlModel* model = loader->model;
  if (!map) {
    return true;
  }
  if (map->kind != PAWL_YAML_MAP) {
    pawl_report(&loader->report, map, "expected a map {coordinate: expression, ...}");
    return false;
  }
  *nodes = pawl_loader_parts(loader, map, model->coordinate_count, sizeof **nodes);
  if (!*nodes) {
    return false;
  }
  for (int i = 0; i < model->coordinate_count; i++) {
    (*nodes)[i] = pawl_dag_leaf(model->dag, PAWL_OP_Q, i);
  }
  bool good = true;
  for (PawlYaml* child = map->first; child; child = child->next) {
    good &= each_coordinate(loader, child->key, child, set_node, *nodes);
  }
  return good;
}

static bool load_angles(PawlLoader* loader, PawlYaml* list, PawlProjectionDef* def) {
  if (!list) {
    return true;
  }
  if (list->kind != PAWL_YAML_LIST) {
    pawl_report(&loader->report, list, "angles: is a list of coordinates");
    return false;
  }
  def->angles = pawl_loader_parts(loader, list, loader->model->coordinate_count, 1);
  bool good = def->angles != NULL;
  for (PawlYaml* child = list->first; good && child; child = child->next) {
    good = each_coordinate(loader, child, NULL, set_angle, def->angles);
  }
  return good;
}

static bool load_positive(PawlLoader* loader, PawlYaml* text, const char* what, double* value) {
  if (!text) {
    return true;
  }
  if (!pawl_value(loader, text, &PAWL_SCOPE_EMPTY, value)) {
    return false;
  }
  if (!(*value > 0.0)) {
    pawl_report(&loader->report, text, "%s of the projection is %g, must be > 0", what, *value);
    return false;
  }
  return true;
}

static void load_keys(PawlLoader* loader, PawlYaml* section, PawlProjectionDef* def) {
  static const char* const keys[] = {"coordinate", "k",     "map", "constraints",
                                     "angles",     "reach", NULL};
  PawlYaml* coordinate = pawl_yaml_get(section, "coordinate");
  pawl_yaml_check_keys(&loader->report, section, "a projection", keys);
  if (coordinate) {
    each_coordinate(loader, coordinate, NULL, set_coordinate, &def->coordinate);
  }
  load_positive(loader, pawl_yaml_get(section, "k"), "k", &def->k);
  load_positive(loader, pawl_yaml_get(section, "reach"), "reach", &def->reach);
  load_map(loader, pawl_yaml_get(section, "map"), &def->map);
  load_map(loader, pawl_yaml_get(section, "constraints"), &def->constraints);
  load_angles(loader, pawl_yaml_get(section, "angles"), def);
  if (def->map && (def->k > 0.0 || coordinate)) {
    pawl_report(&loader->report, section, "k: and coordinate: are for projections without map:");
  }
}

void pawl_load_projection(PawlLoader* loader, PawlYaml* section) {
  PawlProjectionDef* def = &loader->model->projection;
  *def = (PawlProjectionDef){.coordinate = -1, .reach = DEFAULT_REACH};
  if (!section || pawl_yaml_is_null(section)) {
    return;
  }
  bool automatic = section->kind == PAWL_YAML_SCALAR && strcmp(section->text, "auto") == 0;
  if (section->kind != PAWL_YAML_MAP && !automatic) {
    pawl_report(&loader->report, section, "a projection is auto, or a map: {map: {...}, k: ...}");
  } else if (!automatic) {
    load_keys(loader, section, def);
  }
}
