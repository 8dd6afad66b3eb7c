// SPDX-License-Identifier: Apache-2.0
#include "model/touching.h"

#include <stdlib.h>
#include <string.h>

#include "model/demand.h"
#include "model/use.h"

enum { MOST_RIM = 64 };  // points on the rim of a cylinder

typedef struct Touching {
  PawlMade* made;
  const PawlBodies* bodies;
  PawlTouchShapes shapes;
  // The contact that is being written.
  const PawlYaml* map;
  PawlPartName word;  // its name and range
  PawlTouchUse side[2];
  int rim;
  bool edges;  // those of both may touch, in space
  bool friction;
  int count, next;  // its points, and those written
} Touching;

// ---- which shapes -----------------------------------------------------------------------------

static PawlTouchShape* find_shape(Touching* t, const PawlBody* body, const char* name) {
  for (int k = 0; k < t->shapes.count; k++) {
    PawlTouchShape* shape = &t->shapes.item[k];
    if (shape->body == body && strcmp(shape->name, name) == 0) {
      return shape;
    }
  }
  return NULL;
}

static void report_no_body(Touching* t, const PawlYaml* node, const char* word) {
  PawlNearest nearest = {.wanted = word};
  for (int k = 0; k < t->bodies->count; k++) {
    pawl_nearest_offer(&nearest, t->bodies->item[k].name.name);
  }
  pawl_report(&t->made->loader->report, node, "between: '%s' is not a body%s", pawl_quote(word).s,
              pawl_did_you_mean(nearest.name).s);
}

static void report_no_shape(Touching* t, const PawlYaml* node, const PawlBody* body,
                            const char* name) {
  PawlNearest nearest = {.wanted = name};
  for (int k = 0; k < t->shapes.count; k++) {
    if (t->shapes.item[k].body == body) {
      pawl_nearest_offer(&nearest, t->shapes.item[k].name);
    }
  }
  pawl_report(&t->made->loader->report, node, "between: the body '%s' has no shape%s%s%s",
              pawl_quote(body->name.name).s, strcmp(name, "shape") == 0 ? "" : " called ",
              strcmp(name, "shape") == 0 ? "" : pawl_quote(name).s,
              pawl_did_you_mean(nearest.name).s);
}

// "ground", "ground.wall", "disc[i+1]", "disc[i+1].head"
static bool find_use(Touching* t, const PawlYaml* node, PawlTouchUse* use) {
  PawlMade* made = t->made;
  const char* text = node->kind == PAWL_YAML_SCALAR ? node->text : "";
  size_t length = strcspn(text, "[.");
  const char* close = text[length] == '[' ? strrchr(text, ']') : NULL;
  const char* rest = close ? close + 1 : text + length;
  const PawlBody* body = pawl_find_body(t->bodies, text, length);
  if (!body || (*rest && *rest != '.')) {
    report_no_body(t, node, text);
    return false;
  }
  if ((close != NULL) != (body->name.range[0] != '\0')) {
    pawl_report(&made->loader->report, node, "the body '%s' %s", pawl_quote(text).s,
                close ? "has no indices" : "is a family: which element?");
    return false;
  }
  const char* index = pawl_say(made, "%.*s", (int)(rest - text - (ptrdiff_t)length), text + length);
  const char* name = *rest ? rest + 1 : "shape";
  PawlTouchShape* shape = find_shape(t, body, name);
  if (!shape) {
    report_no_shape(t, node, body, name);
    return false;
  }
  pawl_write_touch_shape(made, shape);
  *use = (PawlTouchUse){shape, {body, {body->name.name, index, index}}};
  return true;
}

static bool read_sides(Touching* t, const PawlYaml* pair) {
  if (pair->kind != PAWL_YAML_LIST || pair->count != 2) {
    pawl_report(&t->made->loader->report, pair, "between: expected two bodies, [first, second]%s",
                PAWL_YAML_FLOW_HINT);
    return false;
  }
  bool good = find_use(t, pair->first, &t->side[0]);
  good &= find_use(t, pair->first->next, &t->side[1]);
  if (good && t->side[0].body.body == t->side[1].body.body &&
      strcmp(t->side[0].body.name.index, t->side[1].body.name.index) == 0) {
    pawl_report(&t->made->loader->report, pair, "a contact needs two bodies, '%s' is given twice",
                pawl_quote(pair->first->text).s);
    return false;
  }
  return good;
}

// ---- one point --------------------------------------------------------------------------------

typedef struct Point {
  PawlPartName label;  // of its definitions
  const char* key;     // of the contact
  const PawlTouchUse *probe, *target;
  PawlProbe p;
  bool plane, forward;  // forward: the target is the first of the two
  const char* normal;   // from the target to the probe
} Point;

static const char* put(Touching* t, const Point* point, const char* part, const char* text) {
  pawl_put(t->made, "define", t->map, pawl_part_key(t->made, &point->label, part), text);
  return pawl_part_use(t->made, &point->label, part);
}

// A name of a function cannot begin that of a definition.
static void name_point(Touching* t, Point* point) {
  PawlMade* made = t->made;
  const char* word = t->word.name;
  if (t->count > 1) {
    word = pawl_say(made, "%s_%d", word, t->next);
  }
  point->key = pawl_say(made, "%s%s", word, t->word.range);
  point->label = t->word;
  point->label.name = pawl_expr_reserved(word) ? pawl_say(made, "%s_", word) : word;
}

static const char* write_normal(Touching* t, const Point* point) {
  PawlMade* made = t->made;
  const char* sign = point->forward ? "" : "-";
  const char* span = pawl_part_use(made, &point->label, "span");
  const char* text =
      point->plane ? pawl_say(made, "%s%s", sign, pawl_touch_part(made, point->target, "_normal"))
                   : pawl_say(made, "%s%s/norm(%s)", sign, span, span);
  const char* normal = put(t, point, "normal", text);
  return point->forward ? normal : pawl_say(made, "(-%s)", normal);
}

// (C1); of a plane the height above it.
static const char* gap_of(Touching* t, const Point* point) {
  PawlMade* made = t->made;
  const char* minus = point->p.r ? pawl_say(made, " - %s", point->p.r) : "";
  if (point->plane) {
    return pawl_say(made, "dot(%s, %s - %s)%s", point->normal, pawl_factor(made, point->p.place),
                    pawl_touch_part(made, point->target, ""), minus);
  }
  const char* more = pawl_touch_has_radius(point->target->shape)
                         ? pawl_say(made, " - %s", pawl_touch_part(made, point->target, "_r"))
                         : "";
  return pawl_say(made, "norm(%s)%s%s", pawl_part_use(made, &point->label, "span"), minus, more);
}

// Velocity of the material point at an arm from the origin of the body; NULL of the ground.
static const char* velocity_at(Touching* t, const PawlBodyUse* body, const char* arm) {
  PawlMade* made = t->made;
  if (body->body->is_ground) {
    return NULL;
  }
  const char* omega = pawl_body_part(made, body, "omega");
  const char* turning = !arm ? NULL
                        : made->dimension == 2
                            ? pawl_say(made, "%s*([[0, -1], [1, 0]]*(%s))", omega, arm)
                            : pawl_say(made, "cross(%s, %s)", omega, arm);
  return pawl_sum(made, pawl_body_part(made, body, "at'"), turning, NULL, NULL);
}

static const char* velocity_of_target(Touching* t, const Point* point, const char* place) {
  PawlMade* made = t->made;
  const PawlTouchUse* target = point->target;
  const char* arm;
  if (target->shape->kind == PAWL_TOUCH_BALL) {
    const char* out = pawl_say(made, "%s*%s", pawl_touch_part(made, target, "_r"), point->normal);
    arm = pawl_sum(made, target->shape->at ? pawl_touch_part(made, target, "_arm") : NULL, out,
                   NULL, NULL);
  } else {
    arm = pawl_say(made, "%s - %s", place, pawl_body_part(made, &target->body, "at"));
  }
  return velocity_at(t, &target->body, arm);
}

// Of the second body against the first, where they touch.
static const char* write_velocity(Touching* t, const Point* point, const char* place) {
  PawlMade* made = t->made;
  const char* inward = point->p.r ? pawl_say(made, "%s*%s", point->p.r, point->normal) : NULL;
  const char* arm = pawl_sum(made, point->p.arm, NULL, NULL, inward);
  const char* probe = velocity_at(t, &point->probe->body, arm);
  const char* target = velocity_of_target(t, point, place);
  const char *second = point->forward ? probe : target, *first = point->forward ? target : probe;
  return put(t, point, "velocity",
             pawl_sum(made, second, NULL, NULL, first ? pawl_say(made, "(%s)", first) : NULL));
}

// Two directions across the normal n. Those of a plane are fixed in it; else the rotation that
// takes w to n on the shortest way takes a there, with w and a orthonormal:
//   along = a - (n + w) (n a)/(1 + n w),                                                       (C3)
// which has no value at n = -w, a direction that no axis of a model is likely to have.
static void write_tangents(Touching* t, const Point* point) {
  static const char w[] = "[2/7, 3/7, 6/7]", a[] = "[3/7, -6/7, 2/7]";
  PawlMade* made = t->made;
  const char* n = pawl_part_use(made, &point->label, "normal");
  const char* along = put(
      t, point, "along",
      point->plane
          ? pawl_touch_part(made, point->target, "_along")
          : pawl_say(made, "%s - dot(%s, %s)/(1 + dot(%s, %s))*(%s + %s)", a, n, a, n, w, n, w));
  put(t, point, "across", pawl_say(made, "cross(%s, %s)", n, along));
}

static void write_slip(Touching* t, const Point* point, PawlYaml* map, const char* place) {
  PawlMade* made = t->made;
  const char* velocity = write_velocity(t, point, place);
  if (made->dimension == 2) {
    pawl_set(
        made, map, t->map, "slip",
        pawl_say(made, "cross(%s, %s)", pawl_part_use(made, &point->label, "normal"), velocity));
    return;
  }
  write_tangents(t, point);
  PawlYaml* list = pawl_set_list(made, map, t->map, "slip");
  static const char* const parts[] = {"along", "across"};
  for (int k = 0; k < 2; k++) {
    pawl_add_item(
        made, list, t->map,
        pawl_say(made, "dot(%s, %s)", pawl_part_use(made, &point->label, parts[k]), velocity));
  }
}

// Keys of a contact between shapes that are none of the contact it becomes.
static bool is_own_key(const char* key) {
  return strcmp(key, "between") == 0 || strcmp(key, "rim") == 0 || strcmp(key, "edges") == 0;
}

static void write_touch(Touching* t, Point* point) {
  PawlMade* made = t->made;
  point->normal = write_normal(t, point);
  const char* inward = point->p.r ? pawl_say(made, "%s*%s", point->p.r, point->normal) : NULL;
  const char* place = put(t, point, "at", pawl_sum(made, point->p.place, NULL, NULL, inward));
  PawlYaml* map = pawl_put_map(made, "contacts", t->map->key, point->key);
  pawl_set(made, map, t->map, "gap", gap_of(t, point));
  for (const PawlYaml* child = t->map->first; child; child = child->next) {
    if (!is_own_key(child->key->text)) {
      pawl_set_node(made, map, child->key->text, child);
    }
  }
  if (t->friction) {
    write_slip(t, point, map, place);
  }
}

static Point begin_point(Touching* t, const PawlTouchUse* probe, const PawlTouchUse* target) {
  Point point = {.probe = probe,
                 .target = target,
                 .plane = target->shape->kind == PAWL_TOUCH_PLANE,
                 .forward = target == &t->side[0]};
  t->next++;
  name_point(t, &point);
  return point;
}

static void write_point(Touching* t, const PawlTouchUse* probe, const PawlTouchUse* target, int k) {
  PawlMade* made = t->made;
  Point point = begin_point(t, probe, target);
  point.p = pawl_touch_probe(made, probe, k,
                             point.plane ? pawl_touch_part(made, target, "_normal") : "", t->rim);
  if (!point.plane) {
    pawl_write_touch_span(made, &point.label, target, pawl_factor(made, point.p.place));
  }
  write_touch(t, &point);
}

// ---- pairs ------------------------------------------------------------------------------------

static void write_points(Touching* t, int probe) {
  const PawlTouchUse *p = &t->side[probe], *target = &t->side[1 - probe];
  int count = pawl_touch_probe_count(p->shape, t->rim);
  pawl_write_touch_corners(t->made, p->shape);
  if (target->shape->kind == PAWL_TOUCH_POLYGON) {
    pawl_write_touch_corners(t->made, target->shape);
  }
  for (int k = 0; k < count; k++) {
    write_point(t, p, target, k);
  }
}

static void write_edges(Touching* t) {
  const PawlTouchUse *target = &t->side[0], *probe = &t->side[1];
  int targets = pawl_touch_edge_count(target->shape), probes = pawl_touch_edge_count(probe->shape);
  for (int k = 0; k < targets * probes; k++) {
    Point point = begin_point(t, probe, target);
    point.p = pawl_write_touch_edges(t->made, &point.label, target, k / probes, probe, k % probes);
    write_touch(t, &point);
  }
}

static bool needs_convex(Touching* t, const PawlTouchShape* target) {
  if (target->convex) {
    return true;
  }
  pawl_report(&t->made->loader->report, target->node,
              "polygon: corners of one that '%s' touches turn to the left, counter-clockwise",
              pawl_quote(t->map->key->text).s);
  return false;
}

static bool is_kind(const Touching* t, int side, PawlTouchKind kind) {
  return t->side[side].shape->kind == kind;
}

// Edges of the one with those of the other, in space.
static int edge_pairs(const Touching* t) {
  return t->made->dimension == 2
             ? 0
             : pawl_touch_edge_count(t->side[0].shape) * pawl_touch_edge_count(t->side[1].shape);
}

// The side whose probes touch the other one; 2: each touches the other, -1: no formula. Against a
// plane it is what is no plane, a ball touches anything, and the place where two convex shapes
// touch is a corner or an end of one of them, in space also where two edges pass each other; a
// layer tells the side.
static int probing_side(const Touching* t) {
  for (int k = 0; k < 2; k++) {
    if (is_kind(t, 1 - k, PAWL_TOUCH_PLANE)) {
      return is_kind(t, k, PAWL_TOUCH_PLANE) ? -1 : k;
    }
  }
  if (is_kind(t, 0, PAWL_TOUCH_BALL) || is_kind(t, 1, PAWL_TOUCH_BALL)) {
    return is_kind(t, 0, PAWL_TOUCH_BALL) ? 0 : 1;
  }
  bool layer = pawl_touch_has_radius(t->side[0].shape) || pawl_touch_has_radius(t->side[1].shape);
  return layer && (t->made->dimension == 2 || edge_pairs(t) > 0) ? 2 : -1;
}

// Two boxes or polygons without a layer: corners of the second get one.
static bool smooth_corners(Touching* t) {
  PawlTouchUse* second = &t->side[1];
  bool sharp = t->side[0].shape->corners > 0 && second->shape->corners > 0 &&
               !pawl_touch_has_radius(t->side[0].shape) && !pawl_touch_has_radius(second->shape);
  if (!sharp) {
    return true;
  }
  PawlTouchShape* smooth = pawl_touch_smooth(t->made, second->shape);
  if (smooth) {
    pawl_write_touch_shape(t->made, smooth);
    second->shape = smooth;
  }
  return smooth != NULL;
}

// What to write in the place of a pair without formula.
static const char* advice(const Touching* t) {
  bool cylinder = is_kind(t, 0, PAWL_TOUCH_CYLINDER) || is_kind(t, 1, PAWL_TOUCH_CYLINDER);
  return cylinder ? "; a cylinder touches planes and spheres: capsule: [r, l] has round ends and "
                    "touches boxes and capsules, too"
                  : "";
}

// Keys that say nothing about this pair are a mistake.
static bool check_own_keys(const Touching* t, int side) {
  const PawlYaml *rim = pawl_part_get(t->map, "rim"), *edges = pawl_part_get(t->map, "edges");
  bool has_rim = side < 2 && is_kind(t, side, PAWL_TOUCH_CYLINDER);
  bool has_edges = side == 2 && edge_pairs(t) > 0;
  if (rim && !has_rim) {
    pawl_report(&t->made->loader->report, rim->key,
                "rim: is for a cylinder on a plane; '%s' is between a %s and a %s",
                pawl_quote(t->map->key->text).s, t->side[0].shape->word, t->side[1].shape->word);
  }
  if (edges && !has_edges) {
    pawl_report(&t->made->loader->report, edges->key,
                "edges: is for boxes and capsules with each other, in space; '%s' is between a %s "
                "and a %s",
                pawl_quote(t->map->key->text).s, t->side[0].shape->word, t->side[1].shape->word);
  }
  return (has_rim || !rim) && (has_edges || !edges);
}

static bool write_pair(Touching* t) {
  if (!smooth_corners(t)) {
    return false;
  }
  int side = probing_side(t);
  if (side < 0) {
    pawl_report(&t->made->loader->report, t->map,
                "the contact '%s': there is no formula between a %s and a %s%s",
                pawl_quote(t->map->key->text).s, t->side[0].shape->word, t->side[1].shape->word,
                advice(t));
    return false;
  }
  if (!check_own_keys(t, side)) {
    return false;
  }
  bool good = true, edges = side == 2 && t->edges && edge_pairs(t) > 0;
  t->next = 0;
  t->count = edges ? edge_pairs(t) : 0;
  for (int k = 0; k < 2; k++) {
    if (side == k || side == 2) {
      good &= needs_convex(t, t->side[1 - k].shape);
      t->count += pawl_touch_probe_count(t->side[k].shape, t->rim);
    }
  }
  for (int k = 0; k < 2 && good; k++) {
    if (side == k || side == 2) {
      write_points(t, k);
    }
  }
  if (good && edges) {
    write_edges(t);
  }
  return good;
}

// ---- contacts ---------------------------------------------------------------------------------

static bool read_rim(Touching* t, const PawlYaml* rim) {
  char* end = NULL;
  t->rim = rim && rim->kind == PAWL_YAML_SCALAR ? (int)strtol(rim->text, &end, 10) : 0;
  if (rim && (!end || end == rim->text || *end || t->rim < 3 || t->rim > MOST_RIM)) {
    pawl_report(&t->made->loader->report, rim, "rim: expected a number of points, 3 to %d",
                MOST_RIM);
    return false;
  }
  return true;
}

static bool write_contact(Touching* t, const PawlYaml* map) {
  static const char* const keys[] = {"between", "restitution", "friction", "rim", "edges", NULL};
  PawlPartName name;
  size_t length = strcspn(map->key->text, "[");
  PawlYaml key = *map->key;
  key.text = pawl_say(t->made, "%.*s_%s", (int)length, key.text, key.text + length);
  key.length++;
  t->map = map;
  t->friction = pawl_part_get(map, "friction") != NULL;
  t->edges = !pawl_part_get(map, "edges") || pawl_part_is_true(t->made, map, "edges");
  bool good = pawl_yaml_check_keys(&t->made->loader->report, map, "a contact between shapes", keys);
  good &= pawl_part_name(t->made, &key, &name) && read_rim(t, pawl_part_get(map, "rim"));
  if (!good || !read_sides(t, pawl_yaml_get(map, "between"))) {
    return false;
  }
  t->word = name;
  t->word.name = pawl_say(t->made, "%.*s", (int)length, map->key->text);
  return write_pair(t);
}

static void demand_normal(PawlMade* made, const PawlTouchShape* shape) {
  const PawlYaml* normal = pawl_part_get(shape->node, "normal");
  const char* n = normal ? pawl_part_vector(made, normal, "normal") : NULL;
  if (n) {
    pawl_demand_one(made, PAWL_DEMAND_POSITIVE, &shape->body->name, normal,
                    pawl_say(made, "the normal of a plane of '%s' has no direction: its length is",
                             shape->body->name.name),
                    pawl_say(made, "norm(%s)", n));
  }
}

// The shape of a body that moves has been judged with its mass.
static void demand_shapes(PawlMade* made, const PawlTouchShapes* shapes) {
  for (int k = 0; k < shapes->count; k++) {
    const PawlTouchShape* shape = &shapes->item[k];
    bool judged = !shape->body->is_ground && strcmp(shape->name, "shape") == 0;
    if (shape->kind == PAWL_TOUCH_PLANE) {
      demand_normal(made, shape);
    } else if (!judged) {
      pawl_demand_shape(made, &shape->body->name, shape->node);
    }
  }
}

bool pawl_write_touching(PawlMade* made, const PawlBodies* bodies, PawlYaml* contacts) {
  Touching t = {.made = made, .bodies = bodies};
  bool good = pawl_read_touch_shapes(made, bodies, &t.shapes);
  bool map = contacts && contacts->kind == PAWL_YAML_MAP;
  demand_shapes(made, &t.shapes);
  for (PawlYaml** at = map && good ? &contacts->first : NULL; at && *at;) {
    PawlYaml* child = *at;
    if (!pawl_part_get(child, "between")) {
      at = &child->next;
      continue;
    }
    good &= write_contact(&t, child);
    *at = child->next;
    contacts->count--;
  }
  return good;
}
