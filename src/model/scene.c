// SPDX-License-Identifier: Apache-2.0
// `scene:` how the model looks: lines, polygons, discs and springs at points that move with it.
#include <string.h>

#include "model/loader.h"

static const PawlUse point_use = {"a shape", PAWL_MAY_Q | PAWL_MAY_T, NULL};
static const char* const shape_words[] = {"line", "polygon", "disc", "spring", NULL};

static bool load_point(PawlLoader* loader, PawlYaml* point, const PawlScope* scope,
                       PawlNode node[2]) {
  if (point->kind != PAWL_YAML_LIST || point->count != 2) {
    pawl_report(&loader->report, point, "expected a point [x, y]%s",
                point->kind == PAWL_YAML_LIST ? PAWL_YAML_FLOW_HINT : "");
    return false;
  }
  bool good = pawl_expression(loader, point->first, scope, &point_use, &node[0]);
  return pawl_expression(loader, point->first->next, scope, &point_use, &node[1]) && good;
}

static bool new_points(PawlLoader* loader, const PawlYaml* where, int count, PawlShape* shape) {
  shape->points = pawl_loader_parts(loader, where, count, sizeof *shape->points);
  shape->point_count = count;
  return shape->points != NULL;
}

static bool load_points(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                        PawlShape* shape) {
  static const char* const keys[] = {"points", NULL};
  if (!pawl_yaml_check_keys(&loader->report, body, "a shape", keys)) {
    return false;
  }
  PawlYaml* points = pawl_yaml_get(body, "points");
  int least = shape->kind == PAWL_SHAPE_POLYGON ? 3 : 2;
  bool good = points && points->kind == PAWL_YAML_LIST && points->count >= least &&
              (shape->kind != PAWL_SHAPE_SPRING || points->count == 2);
  if (!good) {
    pawl_report(&loader->report, points ? points : body,
                "%s: expected points: with %s%d points [x, y]", shape_words[shape->kind],
                shape->kind == PAWL_SHAPE_SPRING ? "" : "at least ", least);
    return false;
  }
  if (!new_points(loader, points, points->count, shape)) {
    return false;
  }
  int k = 0;
  for (PawlYaml* child = points->first; child; child = child->next) {
    good &= load_point(loader, child, scope, shape->points[k++]);
  }
  return good;
}

static bool load_disc(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                      PawlShape* shape) {
  static const char* const keys[] = {"at", "radius", NULL};
  if (!pawl_yaml_check_keys(&loader->report, body, "a disc", keys) ||
      !new_points(loader, body, 1, shape)) {
    return false;
  }
  PawlYaml *at = pawl_yaml_get(body, "at"), *radius = pawl_yaml_get(body, "radius");
  if (!at || !radius) {
    pawl_report(&loader->report, body, "disc: expected at: [x, y] and radius:");
    return false;
  }
  bool good = load_point(loader, at, scope, shape->points[0]);
  return pawl_expression(loader, radius, scope, &point_use, &shape->radius) && good;
}

static bool load_shape(PawlLoader* loader, PawlYaml* body, const PawlScope* scope) {
  PawlModel* model = loader->model;
  int word = pawl_load_word(loader, body->key, "shape", shape_words);
  if (word < 0) {
    return false;
  }
  if (body->kind != PAWL_YAML_MAP) {
    pawl_report(&loader->report, body, "%s: expected a map such as {points: [[0, 0], [x, y]]}",
                shape_words[word]);
    return false;
  }
  PawlShape shape = {.kind = (PawlShapeKind)word,
                     .radius = PAWL_NO_NODE,
                     .source = pawl_loader_source(loader, body->key)};
  bool good = shape.kind == PAWL_SHAPE_DISC ? load_disc(loader, body, scope, &shape)
                                            : load_points(loader, body, scope, &shape);
  if (!good ||
      !PAWL_ROOM(loader, body->key, model->shapes, loader->shape_capacity, model->shape_count)) {
    return false;
  }
  model->shapes[model->shape_count++] = shape;
  return true;
}

// Depth: that of the tree, PAWL_MODEL_MAX_NESTING.
static bool load_items(PawlLoader* loader, PawlYaml* items, const PawlScope* scope) {
  if (items->kind == PAWL_YAML_SCALAR) {
    pawl_report(&loader->report, items,
                "'%s': expected a shape such as disc: {at: [x, y], radius: r}",
                pawl_quote(items->text).s);
    return false;
  }
  bool good = true;
  for (PawlYaml* child = items->first; child; child = child->next) {
    if (items->kind == PAWL_YAML_LIST) {
      good &= load_items(loader, child, scope);
      continue;
    }
    bool is_for;
    const PawlAstKey* key = pawl_loop_key(loader, child->key, &is_for);
    if (!is_for) {
      good &= load_shape(loader, child, scope);
      continue;
    }
    PawlIndexer at = {.failed = true};
    key = key && (scope->count > 0 || pawl_loop_check(loader, child, key)) ? key : NULL;
    for (bool more = key && pawl_indexer_begin(&at, loader, child->key, key, scope); more && good;
         more = pawl_indexer_next(&at)) {
      good &= load_items(loader, child, &at.scope);
    }
    good &= !at.failed;
  }
  return good;
}

void pawl_load_scene(PawlLoader* loader, PawlYaml* section) {
  if (section && !pawl_yaml_is_null(section)) {
    load_items(loader, section, &PAWL_SCOPE_EMPTY);
  }
}
