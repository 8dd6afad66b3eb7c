// SPDX-License-Identifier: Apache-2.0
// Reading shapes that touch, and the definitions that they become.
#include <stdlib.h>
#include <string.h>

#include "model/demand.h"
#include "model/touching.h"
#include "model/urdf.h"

static const struct Word {
  const char* word;
  PawlTouchKind kind;
  int dimension;  // 0: both
  int sizes[2];   // numbers in the plane and in space
} words[] = {
    {"disc", PAWL_TOUCH_BALL, 2, {1, 0}},       {"sphere", PAWL_TOUCH_BALL, 3, {0, 1}},
    {"capsule", PAWL_TOUCH_CAPSULE, 0, {2, 2}}, {"box", PAWL_TOUCH_BOX, 0, {2, 3}},
    {"polygon", PAWL_TOUCH_POLYGON, 2, {0, 0}}, {"cylinder", PAWL_TOUCH_CYLINDER, 3, {0, 2}},
    {"plane", PAWL_TOUCH_PLANE, 0, {0, 0}},
};
enum { WORDS = sizeof words / sizeof *words };

#define SMOOTH "0.01"  // (C5): what an edge loses at each of its ends, over its length

// ---- plane or space ---------------------------------------------------------------------------

// 2 or 3 where the shape says it: by its word, or by a list of numbers; else 0.
static int dimension_of(const PawlYaml* map) {
  const PawlYaml *plane = pawl_part_get(map, "plane"), *box = pawl_part_get(map, "box");
  const PawlYaml* lists[] = {box, pawl_part_get(map, "at"), pawl_part_get(plane, "at"),
                             pawl_part_get(plane, "normal")};
  for (int k = 0; k < WORDS; k++) {
    if (words[k].dimension && pawl_part_get(map, words[k].word)) {
      return words[k].dimension;
    }
  }
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
    int count = lists[k] && lists[k]->kind == PAWL_YAML_LIST ? lists[k]->count : 0;
    if (count == 2 || count == 3) {
      return count;
    }
  }
  return 0;
}

void pawl_touch_dimension(PawlMade* made, const PawlBodies* bodies) {
  for (int k = 0; k < bodies->count && made->dimension == 0; k++) {
    const PawlYaml* map = pawl_part_get(bodies->item[k].map, "shapes");
    const PawlYaml* one = pawl_part_get(bodies->item[k].map, "shape");
    made->dimension = one ? dimension_of(one) : 0;
    for (const PawlYaml* shape = map ? map->first : NULL; shape && made->dimension == 0;
         shape = shape->next) {
      made->dimension = dimension_of(shape);
    }
  }
  made->dimension = made->dimension ? made->dimension : 2;
}

// ---- reading ----------------------------------------------------------------------------------

static const struct Word* find_word(PawlMade* made, const PawlYaml* map, const PawlYaml** node) {
  for (int k = 0; k < WORDS && map->kind == PAWL_YAML_MAP; k++) {
    *node = pawl_part_get(map, words[k].word);
    if (*node && (words[k].dimension == 0 || words[k].dimension == made->dimension)) {
      return &words[k];
    }
  }
  pawl_report(&made->loader->report, map, "a shape that touches in %s is one of %s",
              made->dimension == 2 ? "the plane" : "space",
              made->dimension == 2 ? "box, disc, capsule, polygon, plane"
                                   : "box, sphere, cylinder, capsule, plane");
  return NULL;
}

static bool check_sizes(PawlMade* made, const PawlYaml* node, const struct Word* word) {
  int sizes = word->sizes[made->dimension - 2];
  bool list = node->kind == PAWL_YAML_LIST;
  if (sizes == 1 ? !list : list && node->count == sizes) {
    return true;
  }
  pawl_report(&made->loader->report, node, "%s: expected %d number%s%s", word->word, sizes,
              sizes == 1 ? "" : "s, a list", PAWL_YAML_FLOW_HINT);
  return false;
}

// True when the text is a list of two numbers.
static bool numbers_of(const PawlYaml* corner, double out[2]) {
  const PawlYaml* item = corner->kind == PAWL_YAML_LIST ? corner->first : NULL;
  for (int k = 0; k < 2; k++, item = item->next) {
    char* end = NULL;
    out[k] = item && item->kind == PAWL_YAML_SCALAR ? strtod(item->text, &end) : 0;
    if (!end || end == item->text || *end) {
      return false;
    }
  }
  return true;
}

// Each corner of numbers turns to the left; those of expressions are taken as they are.
static bool is_convex(const PawlYaml* corners) {
  for (const PawlYaml* a = corners->first; a; a = a->next) {
    const PawlYaml* b = a->next ? a->next : corners->first;
    const PawlYaml* c = b->next ? b->next : corners->first;
    double p[2], q[2], r[2];
    if (numbers_of(a, p) && numbers_of(b, q) && numbers_of(c, r) &&
        (q[0] - p[0]) * (r[1] - q[1]) - (q[1] - p[1]) * (r[0] - q[0]) <= 0) {
      return false;
    }
  }
  return true;
}

static bool check_polygon(PawlMade* made, const PawlTouchShape* shape) {
  const PawlYaml* corners = shape->node;
  bool good = corners->kind == PAWL_YAML_LIST && corners->count >= 3;
  for (const PawlYaml* c = good ? corners->first : NULL; c; c = c->next) {
    good &= pawl_part_vector(made, c, "a corner") != NULL;
  }
  if (!good || shape->at || shape->turn) {
    pawl_report(&made->loader->report, corners,
                "polygon: expected three corners or more in the frame of the body%s",
                shape->at || shape->turn ? ", without at: and turn:" : "");
    return false;
  }
  return true;
}

static bool check_plane(PawlMade* made, const PawlTouchShape* shape) {
  static const char* const keys[] = {"at", "normal", NULL};
  if (shape->node->kind != PAWL_YAML_MAP || shape->at || shape->turn) {
    pawl_report(&made->loader->report, shape->node,
                "plane: expected {at: place, normal: vector} alone");
    return false;
  }
  return pawl_yaml_check_keys(&made->loader->report, shape->node, "a plane", keys);
}

static bool read_frame(PawlMade* made, PawlTouchShape* shape) {
  const PawlYaml *at = pawl_part_get(shape->map, "at"), *turn = pawl_part_get(shape->map, "turn");
  shape->at = at ? pawl_part_vector(made, at, "at") : NULL;
  if (turn) {
    const char* text = made->dimension == 3 ? pawl_part_rotation(made, turn, "turn")
                                            : pawl_part_text(made, turn, "an angle");
    if (made->dimension == 3 && turn->kind == PAWL_YAML_SCALAR) {
      pawl_demand_rotation(made, &shape->body->name, turn, text);
    }
    shape->turn = text && made->dimension == 2 ? pawl_say(made, "rotation(%s)", text) : text;
  }
  return (!at || shape->at) && (!turn || shape->turn);
}

// Not negative, and no more than half of every edge.
static bool demand_round(PawlMade* made, const PawlTouchShape* shape) {
  const PawlPartName* of = shape->body ? &shape->body->name : NULL;
  const char* radius = pawl_part_text(made, shape->round, "a radius");
  if (!radius || !of) {
    return radius;
  }
  pawl_demand_one(made, PAWL_DEMAND_NOT_NEGATIVE, of, shape->round,
                  pawl_say(made, "round: of '%s' is negative", of->name), radius);
  bool box = shape->kind == PAWL_TOUCH_BOX && shape->node->kind == PAWL_YAML_LIST;
  for (const PawlYaml* edge = box ? shape->node->first : NULL; edge; edge = edge->next) {
    const char* text = pawl_part_text(made, edge, "a number");
    pawl_demand_one(
        made, PAWL_DEMAND_NOT_NEGATIVE, of, shape->round,
        pawl_say(made, "round: of '%s' is more than half an edge; less it, that is", of->name),
        text ? pawl_say(made, "(%s)/2 - (%s)", text, radius) : NULL);
  }
  return true;
}

static bool read_round(PawlMade* made, PawlTouchShape* shape) {
  shape->round = pawl_part_get(shape->map, "round");
  bool corners = shape->kind == PAWL_TOUCH_BOX || shape->kind == PAWL_TOUCH_POLYGON;
  if (!shape->round || corners) {
    return !shape->round || demand_round(made, shape);
  }
  pawl_report(&made->loader->report, shape->round->key,
              "round: is the radius of the corners of a box or polygon");
  return false;
}

static bool read_shape(PawlMade* made, const PawlBody* body, const char* name, const PawlYaml* map,
                       PawlTouchShape* shape) {
  const PawlYaml* node = NULL;
  const struct Word* word = find_word(made, map, &node);
  if (!word) {
    return false;
  }
  *shape = (PawlTouchShape){
      .body = body, .name = name, .word = word->word, .kind = word->kind, .map = map, .node = node};
  if (!read_frame(made, shape) || !read_round(made, shape)) {
    return false;
  }
  shape->corners = word->kind == PAWL_TOUCH_BOX       ? 1 << made->dimension
                   : word->kind == PAWL_TOUCH_POLYGON ? node->count
                                                      : 0;
  shape->convex = word->kind != PAWL_TOUCH_POLYGON || is_convex(node);
  return word->kind == PAWL_TOUCH_POLYGON ? check_polygon(made, shape)
         : word->kind == PAWL_TOUCH_PLANE ? check_plane(made, shape)
                                          : check_sizes(made, node, word);
}

// Keys of shapes that give no mass; those of `shape` of a body are known to bodies_shape.c.
static bool check_keys(PawlMade* made, const PawlYaml* map) {
  static const char* const keys[] = {"box",   "disc", "sphere", "capsule", "polygon", "cylinder",
                                     "plane", "at",   "turn",   "round",   NULL};
  return map->kind != PAWL_YAML_MAP ||
         pawl_yaml_check_keys(&made->loader->report, map, "a shape", keys);
}

static bool read_named(PawlMade* made, const PawlBody* body, const PawlYaml* map,
                       PawlTouchShapes* shapes) {
  bool good = true;
  if (map->kind != PAWL_YAML_MAP) {
    pawl_report(&made->loader->report, map, "shapes: expected {name: {box: [a, b]}, ...}");
    return false;
  }
  for (const PawlYaml* child = map->first; child; child = child->next) {
    PawlPartName name;
    good &= pawl_part_name(made, child->key, &name) && check_keys(made, child) &&
            read_shape(made, body, child->key->text, child, &shapes->item[shapes->count]);
    shapes->count += good;
  }
  return good;
}

static const PawlYaml* shapes_of(const PawlBody* body) {
  return pawl_part_get(body->map, "shapes");
}

bool pawl_read_touch_shapes(PawlMade* made, const PawlBodies* bodies, PawlTouchShapes* shapes) {
  int room = 0;
  bool good = true;
  for (int k = 0; k < bodies->count; k++) {
    const PawlYaml* map = shapes_of(&bodies->item[k]);
    room += 1 + (map ? map->count : 0);
  }
  shapes->item = pawl_pool_alloc(&made->loader->pool, (size_t)room * sizeof *shapes->item);
  if (!shapes->item) {
    return pawl_loader_no_memory(made->loader);
  }
  for (int k = 0; k < bodies->count; k++) {
    const PawlBody* body = &bodies->item[k];
    const PawlYaml *one = pawl_part_get(body->map, "shape"), *map = shapes_of(body);
    bool known = !one || ((!body->is_ground || check_keys(made, one)) &&
                          read_shape(made, body, "shape", one, &shapes->item[shapes->count]));
    shapes->count += one && known;
    good &= known && (!map || read_named(made, body, map, shapes));
  }
  return good;
}

// ---- writing ----------------------------------------------------------------------------------

bool pawl_touch_has_radius(const PawlTouchShape* shape) {
  return shape->kind == PAWL_TOUCH_BALL || shape->kind == PAWL_TOUCH_CAPSULE || shape->round ||
         shape->smoothed;
}

const char* pawl_touch_part(PawlMade* made, const PawlTouchUse* use, const char* suffix) {
  return pawl_body_part(made, &use->body, pawl_say(made, "%s%s", use->shape->name, suffix));
}

static void define(PawlMade* made, const PawlTouchShape* shape, const char* suffix,
                   const char* text) {
  const char* part = pawl_say(made, "%s%s", shape->name, suffix);
  pawl_put(made, "define", shape->node, pawl_part_key(made, &shape->body->name, part), text);
}

static const char* vector_of(PawlMade* made, const char* a, const char* b, const char* c) {
  return made->dimension == 2 ? pawl_say(made, "[%s, %s]", a, b)
                              : pawl_say(made, "[%s, %s, %s]", a, b, c);
}

// R of the body times a vector of its frame.
static const char* turned(PawlMade* made, const PawlBodyUse* use, const char* local) {
  return pawl_product(made, pawl_body_R(made, use, ""), pawl_factor(made, local));
}

static void write_corner(PawlMade* made, const PawlTouchShape* shape, int k, const char* local) {
  PawlBodyUse use = {shape->body, shape->body->name};
  define(made, shape, pawl_say(made, "_corner_%d", k), local);
  const char* corner = pawl_body_part(made, &use, pawl_say(made, "%s_corner_%d", shape->name, k));
  define(made, shape, pawl_say(made, "_arm_%d", k), turned(made, &use, corner));
  define(made, shape, pawl_say(made, "_%d", k), pawl_body_place(made, &use, corner));
}

// Corner k of a box, from 0: bit j of k is the side along axis j.
static const char* box_corner(PawlMade* made, const PawlTouchShape* shape, const char* half,
                              int k) {
  const char* part[3];
  for (int j = 0; j < 3; j++) {
    part[j] = pawl_say(made, "%s%s.%c", k >> j & 1 ? "" : "-", half, 'x' + j);
  }
  const char* local = pawl_product(made, shape->turn, vector_of(made, part[0], part[1], part[2]));
  return pawl_sum(made, shape->at, local, NULL, NULL);
}

static void write_box_corners(PawlMade* made, const PawlTouchShape* shape,
                              const PawlTouchUse* use) {
  const char* half = pawl_touch_part(made, use, "_half");
  for (int k = 0; k < shape->corners; k++) {
    write_corner(made, shape, k + 1, box_corner(made, shape, half, k));
  }
}

// "tile.shape_edge_3"; numbers beyond the last begin anew.
static const char* part_of(PawlMade* made, const PawlTouchUse* use, const char* part, int k) {
  int count = use->shape->corners;
  return pawl_touch_part(made, use, pawl_say(made, "_%s_%d", part, (k + count - 1) % count + 1));
}

// The unit vector along the edge that begins at each corner.
static void write_along(PawlMade* made, const PawlTouchUse* use, const char* corner,
                        const char* along) {
  for (int k = 1; k <= use->shape->corners; k++) {
    const char *a = part_of(made, use, corner, k), *b = part_of(made, use, corner, k + 1);
    define(made, use->shape, pawl_say(made, "_%s_%d", along, k),
           pawl_say(made, "(%s - %s)/norm(%s - %s)", b, a, b, a));
  }
}

// Corners within the layer that (C5) puts around them, and its radius, from the sharp ones.
static void write_smooth_corners(PawlMade* made, const PawlTouchUse* use) {
  PawlTouchShape* shape = use->shape;
  write_along(made, use, "sharp", "side");
  for (int k = 1; k <= shape->corners; k++) {
    const char *e = part_of(made, use, "side", k - 1), *f = part_of(made, use, "side", k);
    define(made, shape, pawl_say(made, "_bend_%d", k),
           pawl_say(made, "(1 - dot(%s, %s))/cross(%s, %s)", e, f, e, f));
  }
  const char* least = NULL;
  for (int k = 1; k <= shape->corners; k++) {
    const char* room = pawl_say(made, "norm(%s - %s)/(%s + %s)", part_of(made, use, "sharp", k + 1),
                                part_of(made, use, "sharp", k), part_of(made, use, "bend", k),
                                part_of(made, use, "bend", k + 1));
    define(made, shape, pawl_say(made, "_room_%d", k),
           least ? pawl_say(made, "min(%s, %s)", least, room) : room);
    least = part_of(made, use, "room", k);
  }
  define(made, shape, "_r", pawl_say(made, "2*" SMOOTH "*%s", least));
  for (int k = 1; k <= shape->corners; k++) {
    const char *e = part_of(made, use, "side", k - 1), *f = part_of(made, use, "side", k);
    write_corner(made, shape, k,
                 pawl_say(made, "%s + %s*(%s - %s)/cross(%s, %s)", part_of(made, use, "sharp", k),
                          pawl_touch_part(made, use, "_r"), f, e, e, f));
  }
}

static void write_polygon(PawlMade* made, const PawlTouchShape* shape, const PawlTouchUse* use) {
  int k = 0;
  for (const PawlYaml* corner = shape->node->first; corner; corner = corner->next) {
    const char* local = pawl_part_vector(made, corner, "a corner");
    k++;
    if (shape->smoothed) {
      define(made, shape, pawl_say(made, "_sharp_%d", k), local ? local : "");
    } else {
      write_corner(made, shape, k, local ? local : "");
    }
  }
  if (shape->smoothed) {
    write_smooth_corners(made, use);
  }
  write_along(made, use, "corner", "edge");
}

// Radius, half length and axis.
static void write_round(PawlMade* made, const PawlTouchShape* shape, const PawlTouchUse* use) {
  bool list = shape->node->kind == PAWL_YAML_LIST;
  const PawlYaml* r = list ? shape->node->first : shape->node;
  const char* text = pawl_part_text(made, r, "a number");
  define(made, shape, "_r", text ? text : "");
  if (!list) {
    return;
  }
  text = pawl_part_text(made, r->next, "a number");
  define(made, shape, "_half", pawl_say(made, "%s/2", pawl_factor(made, text ? text : "")));
  const char* axis = made->dimension == 2 ? "[1, 0]" : "[0, 0, 1]";
  define(made, shape, "_axis", pawl_say(made, "%s*%s", pawl_touch_part(made, use, "_R"), axis));
}

// Across the normal: an axis that is not near it decides, by parameters alone.
static void write_plane(PawlMade* made, const PawlTouchShape* shape, const PawlTouchUse* use) {
  const PawlYaml *at = pawl_part_get(shape->node, "at"),
                 *normal = pawl_part_get(shape->node, "normal");
  const char* place = at ? pawl_part_vector(made, at, "at") : NULL;
  const char* n = normal                 ? pawl_part_vector(made, normal, "normal")
                  : made->dimension == 2 ? "[0, 1]"
                                         : "[0, 0, 1]";
  n = pawl_factor(made, n ? n : "");
  define(made, shape, "", pawl_body_place(made, &use->body, place));
  define(made, shape, "_unit", pawl_say(made, "%s/norm(%s)", n, n));
  const char* unit = pawl_touch_part(made, use, "_unit");
  define(made, shape, "_normal", turned(made, &use->body, unit));
  if (made->dimension == 3) {
    define(made, shape, "_side",
           pawl_say(made, "if(abs(%s.y) < 0.9, cross([0, 1, 0], %s), cross(%s, [0, 0, 1]))", unit,
                    unit, unit));
    const char* side = pawl_touch_part(made, use, "_side");
    define(made, shape, "_along",
           turned(made, &use->body, pawl_say(made, "(%s/norm(%s))", side, side)));
  }
}

static void write_frame(PawlMade* made, const PawlTouchShape* shape, const PawlTouchUse* use) {
  const char* R = pawl_product(made, pawl_body_R(made, &use->body, ""), shape->turn);
  define(made, shape, "", pawl_body_place(made, &use->body, shape->at));
  define(made, shape, "_R", R ? R : "ground.R");
  if (shape->at) {
    define(made, shape, "_arm", turned(made, &use->body, shape->at));
  }
}

// Half edges of a box, of the part within its layer.
static void write_half(PawlMade* made, const PawlTouchShape* shape, const char* r) {
  const char* sizes = pawl_part_text(made, shape->node, "numbers");
  const char* layer = r ? pawl_say(made, " - %s", vector_of(made, r, r, r)) : "";
  define(made, shape, "_half", pawl_say(made, "%s/2%s", sizes ? sizes : "", layer));
}

// Of a box the hundredth part of its shortest edge, which keeps 98 % of its length.        (C5)
static const char* smooth_radius(PawlMade* made, const PawlTouchShape* shape) {
  const char* least = NULL;
  for (const PawlYaml* edge = shape->node->first; edge; edge = edge->next) {
    const char* text = pawl_part_text(made, edge, "a number");
    least = !text || !least ? text : pawl_say(made, "min(%s, %s)", least, text);
  }
  return least ? pawl_say(made, SMOOTH "*%s", pawl_factor(made, least)) : NULL;
}

PawlTouchShape* pawl_touch_smooth(PawlMade* made, PawlTouchShape* shape) {
  if (shape->smooth) {
    return shape->smooth;
  }
  shape->smooth = pawl_pool_alloc(&made->loader->pool, sizeof *shape);
  if (!shape->smooth) {
    pawl_loader_no_memory(made->loader);
    return NULL;
  }
  *shape->smooth = *shape;
  shape->smooth->smoothed = true;
  shape->smooth->written = shape->smooth->cornered = false;
  shape->smooth->name = pawl_say(made, "%s_smooth", shape->name);
  pawl_remark(&made->loader->remarks.notes,
              "%s:%d: sharp corners have no normal where they meet: against other corners those of "
              "'%s' are round, with a radius of about " SMOOTH
              " of its edges; round: gives another",
              made->loader->report.file, shape->node->line,
              pawl_quote(pawl_say(made, "%s.%s", shape->body->name.name, shape->name)).s);
  return shape->smooth;
}

void pawl_write_touch_shape(PawlMade* made, PawlTouchShape* shape) {
  PawlTouchUse use = {shape, {shape->body, shape->body->name}};
  if (shape->written) {
    return;
  }
  shape->written = true;
  if (shape->kind == PAWL_TOUCH_PLANE) {
    write_plane(made, shape, &use);
    return;
  }
  write_frame(made, shape, &use);
  const char* r = shape->round ? pawl_part_text(made, shape->round, "a radius") : NULL;
  r = shape->smoothed && shape->kind == PAWL_TOUCH_BOX ? smooth_radius(made, shape) : r;
  if (r) {
    define(made, shape, "_r", r);
  }
  if (shape->kind == PAWL_TOUCH_BOX) {
    write_half(made, shape, r ? pawl_touch_part(made, &use, "_r") : NULL);
  } else if (shape->kind != PAWL_TOUCH_POLYGON) {
    write_round(made, shape, &use);
  }
}

void pawl_write_touch_corners(PawlMade* made, PawlTouchShape* shape) {
  PawlTouchUse use = {shape, {shape->body, shape->body->name}};
  if (!shape->cornered && shape->kind == PAWL_TOUCH_BOX) {
    write_box_corners(made, shape, &use);
  } else if (!shape->cornered && shape->kind == PAWL_TOUCH_POLYGON) {
    write_polygon(made, shape, &use);
  }
  shape->cornered = true;
}
