// SPDX-License-Identifier: Apache-2.0
// `scene:` how the model looks: bodies, joints, springs, tracks and forces at points that move with
// it, in the plane or in space. A run does not need it: of a large one only the first rounds and
// the last one of its loops are read with the model, for their mistakes, and all of it when
// somebody asks (pawl_model_read_scene).
#include <string.h>

#include "base/alloc.h"
#include "model/loader.h"

static const PawlUse point_use = {"a shape", PAWL_MAY_Q | PAWL_MAY_T, NULL};
static const PawlUse force_use = {
    "a force of the scene",
    PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_A | PAWL_MAY_T | PAWL_MAY_LAMBDA | PAWL_MAY_CONTACT, NULL};

// What each kind is made of, in the order of PawlShapeKind.
static const char* const shape_words[] = {"line",   "polygon", "disc",    "spring",   "link",
                                          "ground", "ball",    "joint",   "force",    "trace",
                                          "text",   "surface", "gravity", "cylinder", NULL};
static const char* const shape_names[] = {
    "a line",  "a polygon", "a disc",  "a spring", "a link",    "a ground",  "a ball",
    "a joint", "a force",   "a trace", "a text",   "a surface", "a gravity", "a cylinder"};
typedef struct Form {
  const char* keys[6];  // that it may have
  int least, most;      // points of `points`; least 0: it has none
} Form;
enum { ANY_NUMBER = 1 << 30, GLANCED_ROUNDS = 1000 };
static const Form forms[] = {
    [PAWL_SHAPE_LINE] = {{"points", "of", "text"}, 2, ANY_NUMBER},
    [PAWL_SHAPE_POLYGON] = {{"points", "of", "text"}, 3, ANY_NUMBER},
    [PAWL_SHAPE_DISC] = {{"at", "radius", "normal", "of", "text"}, 0, 0},
    [PAWL_SHAPE_SPRING] = {{"points", "of", "text"}, 2, 2},
    [PAWL_SHAPE_LINK] = {{"points", "radius", "of", "text"}, 2, ANY_NUMBER},
    [PAWL_SHAPE_GROUND] = {{"points", "of", "text"}, 2, ANY_NUMBER},
    [PAWL_SHAPE_BALL] = {{"at", "radius", "of", "text"}, 0, 0},
    [PAWL_SHAPE_JOINT] = {{"at", "of", "text"}, 0, 0},
    [PAWL_SHAPE_FORCE] = {{"at", "vector", "of", "text"}, 0, 0},
    [PAWL_SHAPE_TRACE] = {{"at", "of", "text"}, 0, 0},
    [PAWL_SHAPE_TEXT] = {{"at", "of", "text"}, 0, 0},
    [PAWL_SHAPE_SURFACE] = {{"points", "of", "text"}, 4, ANY_NUMBER},
    [PAWL_SHAPE_GRAVITY] = {{"vector", "text"}, 0, 0},
    [PAWL_SHAPE_CYLINDER] = {{"points", "radius", "of", "text"}, 2, 2},
};

// ---- points -------------------------------------------------------------------------------------
typedef struct Points {  // gathered for one shape
  int count, capacity;
  PawlNode (*node)[3];
  int dimension;   // 2 or 3; 0 before the first point
  int row_length;  // of the first innermost list or loop
} Points;

static bool is_point(const PawlYaml* item) {
  return item->kind == PAWL_YAML_LIST && item->first && item->first->kind == PAWL_YAML_SCALAR;
}

// [x, y], or a vector such as arm_tip.
static bool read_point(PawlLoader* loader, PawlYaml* point, const PawlScope* scope,
                       const PawlUse* use, PawlMatrix* place) {
  bool list = point->kind == PAWL_YAML_LIST;
  if (point->kind == PAWL_YAML_MAP || pawl_yaml_is_null(point) ||
      (list && point->count != 2 && point->count != 3)) {
    pawl_report(&loader->report, point, "expected a point [x, y], or [x, y, z] in space%s",
                list ? PAWL_YAML_FLOW_HINT : "");
    return false;
  }
  return pawl_vector(loader, point, scope, use, place);
}

static bool add_point(PawlLoader* loader, PawlYaml* point, const PawlScope* scope,
                      const PawlUse* use, Points* points) {
  PawlMatrix place;
  if (!read_point(loader, point, scope, use, &place)) {
    return false;
  }
  if (points->dimension && points->dimension != place.rows) {
    pawl_report(&loader->report, point, "this point has %d numbers, those before it %d", place.rows,
                points->dimension);
    return false;
  }
  if (PAWL_GROW(points->node, points->capacity, points->count + 1) != 0) {
    return pawl_loader_no_memory(loader);
  }
  PawlNode* node = points->node[points->count];
  points->dimension = place.rows;
  node[2] = PAWL_NO_NODE;
  memcpy(node, place.at, (size_t)place.rows * sizeof *node);
  points->count++;
  return true;
}

static bool add_points(PawlLoader* loader, PawlYaml* items, const PawlScope* scope, Points* points);

// The next round of a loop; where many were read at a glance already, its last one.
static bool next_round(PawlIndexer* at) {
  PawlLoader* loader = at->loader;
  if (!pawl_indexer_next(at)) {
    return false;
  }
  if (!loader->glances || ++loader->glance_rounds < GLANCED_ROUNDS) {
    return true;
  }
  loader->glance_skips = true;
  return pawl_indexer_last(at);
}

// for k=0..100: [k/100, sin(k/100)]
static bool add_loop(PawlLoader* loader, PawlYaml* child, const PawlScope* scope, Points* points) {
  bool is_for;
  const PawlAstKey* key = pawl_loop_key(loader, child->key, &is_for);
  if (!is_for) {
    pawl_report(&loader->report, child->key,
                "'%s': expected a list of points, or a loop such as for k=0..10: [k, 0]",
                pawl_quote(child->key->text).s);
    return false;
  }
  PawlIndexer at = {.failed = true};
  bool good = key != NULL;
  key = key && (scope->count > 0 || pawl_loop_check(loader, child, key)) ? key : NULL;
  for (bool more = key && pawl_indexer_begin(&at, loader, child->key, key, scope); more && good;
       more = next_round(&at)) {
    good = is_point(child) ? add_point(loader, child, &at.scope, &point_use, points)
                           : add_points(loader, child, &at.scope, points);
  }
  return good && !at.failed;
}

// Depth: that of the tree, PAWL_MODEL_MAX_NESTING.
static bool add_points(PawlLoader* loader, PawlYaml* items, const PawlScope* scope,
                       Points* points) {
  if (items->kind == PAWL_YAML_SCALAR) {
    return add_point(loader, items, scope, &point_use, points);  // says what is expected
  }
  bool good = true, inner = false;
  int before = points->count;
  for (PawlYaml* child = items->first; child && good; child = child->next) {
    bool map = items->kind == PAWL_YAML_MAP;
    bool nested = child->kind == PAWL_YAML_MAP || (!is_point(child) && child->first);
    inner |= nested;
    good = map      ? add_loop(loader, child, scope, points)
           : nested ? add_points(loader, child, scope, points)
                    : add_point(loader, child, scope, &point_use, points);
  }
  if (!inner && points->row_length == 0) {
    points->row_length = points->count - before;
  }
  return good;
}

static bool keep_points(PawlLoader* loader, const PawlYaml* where, const Points* points,
                        PawlShape* shape) {
  shape->points = pawl_loader_parts(loader, where, points->count, sizeof *shape->points);
  if (!shape->points) {
    return false;
  }
  memcpy(shape->points, points->node, (size_t)points->count * sizeof *shape->points);
  shape->point_count = points->count;
  shape->spatial = points->dimension == 3;
  shape->row_length = points->row_length;
  loader->model->spatial |= shape->spatial;
  return true;
}

// ---- shapes -------------------------------------------------------------------------------------
static bool gather_list(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                        const PawlShape* shape, Points* points) {
  const Form* form = &forms[shape->kind];
  PawlYaml* list = pawl_yaml_get(body, "points");
  if (list && list->kind != PAWL_YAML_SCALAR && !add_points(loader, list, scope, points)) {
    return false;
  }
  bool grid = shape->kind != PAWL_SHAPE_SURFACE ||
              (points->row_length > 1 && points->count >= 2 * points->row_length &&
               points->count % points->row_length == 0);
  if (points->count < form->least || points->count > form->most || !grid) {
    pawl_report(&loader->report, list ? list : body,
                grid ? "%s: expected points: with %s%d points [x, y]"
                     : "%s: expected points: with rows of equal length, %s%d points in all",
                shape_words[shape->kind], form->most == form->least ? "" : "at least ",
                form->least);
    return false;
  }
  if (shape->kind == PAWL_SHAPE_CYLINDER && !pawl_yaml_get(body, "radius")) {
    pawl_report(&loader->report, body, "cylinder: expected points: and radius:");
    return false;
  }
  return true;
}

// `at`, then `normal` or `vector`, those of the three that the kind has.
static bool gather_single(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                          const PawlShape* shape, Points* points) {
  PawlYaml *at = pawl_yaml_get(body, "at"), *vector = pawl_yaml_get(body, "vector");
  PawlYaml *normal = pawl_yaml_get(body, "normal"), *radius = pawl_yaml_get(body, "radius");
  bool round = shape->kind == PAWL_SHAPE_DISC || shape->kind == PAWL_SHAPE_BALL;
  bool arrow = shape->kind == PAWL_SHAPE_FORCE || shape->kind == PAWL_SHAPE_GRAVITY;
  bool words = shape->kind != PAWL_SHAPE_TEXT || pawl_yaml_get(body, "text");
  if ((!at && shape->kind != PAWL_SHAPE_GRAVITY) || (round && !radius) || (arrow && !vector) ||
      !words) {
    pawl_report(&loader->report, body, "%s: expected %s%s", shape_words[shape->kind],
                shape->kind == PAWL_SHAPE_GRAVITY ? "" : "at: [x, y]",
                round                               ? " and radius:"
                : shape->kind == PAWL_SHAPE_GRAVITY ? "vector: [x, y]"
                : arrow                             ? " and vector: [x, y]"
                : words                             ? ""
                                                    : " and text:");
    return false;
  }
  bool good = !at || add_point(loader, at, scope, &point_use, points);
  good = good && (!vector || add_point(loader, vector, scope, &force_use, points));
  return good && (!normal || add_point(loader, normal, scope, &point_use, points));
}

// `of: name` or `of: name[k]`: a constraint, a lock or a contact.
static bool load_of(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, PawlShape* shape) {
  PawlModel* model = loader->model;
  const PawlAstKey* key = pawl_key(loader, text);
  PawlIndexer at;
  if (!key || !pawl_indexer_begin(&at, loader, text, key, scope)) {
    return false;
  }
  bool contact = pawl_names_find(&loader->contacts, key->name) != NULL;
  int element = pawl_find_element(loader, contact ? &loader->contacts : &loader->constraints,
                                  contact ? PAWL_NAME_CONTACT : PAWL_NAME_CONSTRAINT, text,
                                  key->name, key->count, at.value);
  if (element < 0) {
    return false;
  }
  shape->of = contact ? model->contacts[element].name : model->constraints[element].name;
  return true;
}

static bool fill_shape(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                       PawlShape* shape) {
  if (!pawl_yaml_check_keys(&loader->report, body, shape_names[shape->kind],
                            forms[shape->kind].keys)) {
    return false;
  }
  Points points = {0};
  bool good = forms[shape->kind].least ? gather_list(loader, body, scope, shape, &points)
                                       : gather_single(loader, body, scope, shape, &points);
  good = good && keep_points(loader, body, &points, shape);
  pawl_free(points.node);
  PawlYaml *radius = pawl_yaml_get(body, "radius"), *of = pawl_yaml_get(body, "of");
  PawlYaml* text = pawl_yaml_get(body, "text");
  good &= !radius || pawl_expression(loader, radius, scope, &point_use, &shape->radius);
  good &= !of || load_of(loader, of, scope, shape);
  return good && (!text || pawl_load_text(loader, text, &shape->text));
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
  if (!fill_shape(loader, body, scope, &shape) ||
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
         more = next_round(&at)) {
      good &= load_items(loader, child, &at.scope);
    }
    good &= !at.failed;
  }
  return good;
}

bool pawl_load_scene(PawlLoader* loader, PawlYaml* section, bool whole) {
  if (!section || pawl_yaml_is_null(section)) {
    return true;
  }
  long long rounds = loader->rounds, parts = loader->parts;
  loader->glances = !whole;
  loader->model->shape_count = 0;
  load_items(loader, section, &PAWL_SCOPE_EMPTY);
  if (loader->glance_skips && !whole) {  // they come again
    loader->rounds = rounds;
    loader->parts = parts;
  }
  return whole || !loader->glance_skips;
}
