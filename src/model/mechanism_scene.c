// SPDX-License-Identifier: Apache-2.0
// A scene of bodies and joints, for models that give none: shapes as they are, a body without shape
// as a link along the places of its joints and its points and, where it rolls, as a wheel, links
// from joints to shapes that are elsewhere, joints as pins, curves of tracks, springs between
// points.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/mechanism_impl.h"
#include "model/touching.h"

enum { MOST_PLACES = 8 };  // of one link

// ---- entries ----------------------------------------------------------------------------------

// A shape of the scene, `word: {...}`, around it a loop for a family; the map of its keys.
static PawlYaml* put_shape(PawlMade* made, const PawlYaml* like, const PawlPartName* of,
                           const char* word) {
  PawlYaml* item = pawl_put_node(made, "scene", like, of);
  return item ? pawl_set_map(made, item, like, word) : NULL;
}

static void put_points(PawlMade* made, PawlYaml* map, const PawlYaml* like, int count,
                       const char* const* points) {
  PawlYaml* list = pawl_set_list(made, map, like, "points");
  for (int k = 0; k < count; k++) {
    pawl_add_item(made, list, like, points[k]);
  }
}

// ---- shapes -----------------------------------------------------------------------------------

// The place of a local one of the shape, in the axes of the ground.
static const char* shape_place(PawlMade* made, const PawlTouchShape* shape, const char* local) {
  PawlBodyUse use = {shape->body, shape->body->name};
  const char* turn = shape->turn ? pawl_factor(made, shape->turn) : NULL;
  const char* turned = local ? pawl_product(made, turn, pawl_factor(made, local)) : NULL;
  return pawl_body_place(made, &use, pawl_sum(made, shape->at, turned, NULL, NULL));
}

// Size k of a shape: a number, or one of a list.
static const char* size_of(PawlMade* made, const PawlTouchShape* shape, int k) {
  const PawlYaml* node = shape->node;
  for (node = node->kind == PAWL_YAML_LIST ? node->first : node; node && k > 0; k--) {
    node = node->next;
  }
  const char* text = node ? pawl_part_text(made, node, "a number") : NULL;
  return text ? pawl_factor(made, text) : "0";
}

static void draw_ball(PawlMade* made, const PawlTouchShape* shape) {
  const PawlYaml* like = shape->map;
  PawlYaml* map = put_shape(made, like, &shape->body->name, made->dimension == 2 ? "disc" : "ball");
  pawl_set(made, map, like, "at", shape_place(made, shape, NULL));
  pawl_set(made, map, like, "radius", size_of(made, shape, 0));
}

// A capsule or cylinder: along x in the plane, along z in space.
static void draw_rod(PawlMade* made, const PawlTouchShape* shape) {
  const char *l = size_of(made, shape, 1), *points[2];
  for (int k = 0; k < 2; k++) {
    const char* sign = k == 0 ? "-" : "";
    points[k] = shape_place(
        made, shape,
        pawl_say(made, made->dimension == 2 ? "[%s%s/2, 0]" : "[0, 0, %s%s/2]", sign, l));
  }
  PawlYaml* map = put_shape(made, shape->map, &shape->body->name,
                            shape->kind == PAWL_TOUCH_CYLINDER ? "cylinder" : "link");
  put_points(made, map, shape->map, 2, points);
  pawl_set(made, map, shape->map, "radius", size_of(made, shape, 0));
}

// One face of a box; `axis` is the one it stands across (2 in the plane), `side` which of the two.
static void draw_face(PawlMade* made, const PawlTouchShape* shape, int axis, const char* side) {
  static const char* const around[4][2] = {{"-", "-"}, {"", "-"}, {"", ""}, {"-", ""}};
  const char *points[4], *size[3];
  for (int k = 0; k < made->dimension; k++) {
    size[k] = size_of(made, shape, k);
  }
  for (int k = 0; k < 4; k++) {
    const char* sign[3] = {side, side, side};
    sign[(axis + 1) % 3] = around[k][0];
    sign[(axis + 2) % 3] = around[k][1];
    points[k] =
        shape_place(made, shape,
                    made->dimension == 2
                        ? pawl_say(made, "[%s%s/2, %s%s/2]", sign[0], size[0], sign[1], size[1])
                        : pawl_say(made, "[%s%s/2, %s%s/2, %s%s/2]", sign[0], size[0], sign[1],
                                   size[1], sign[2], size[2]));
  }
  PawlYaml* map = put_shape(made, shape->map, &shape->body->name, "polygon");
  put_points(made, map, shape->map, 4, points);
}

static void draw_box(PawlMade* made, const PawlTouchShape* shape) {
  if (made->dimension == 2) {
    draw_face(made, shape, 2, "");
    return;
  }
  for (int axis = 0; axis < 3; axis++) {
    draw_face(made, shape, axis, "");
    draw_face(made, shape, axis, "-");
  }
}

static void draw_polygon(PawlMade* made, const PawlTouchShape* shape) {
  PawlYaml* map = put_shape(made, shape->map, &shape->body->name, "polygon");
  PawlYaml* list = pawl_set_list(made, map, shape->map, "points");
  for (const PawlYaml* corner = shape->node->first; corner; corner = corner->next) {
    const char* local = pawl_part_vector(made, corner, "a corner");
    pawl_add_item(made, list, corner, local ? shape_place(made, shape, local) : NULL);
  }
}

// How far a plane, or the curve of a track, is drawn: ten times the size of the first shape that
// has one, the largest of a family; in space, where it fills the picture, three times.
static const char* plane_size(PawlMade* made, const PawlTouchShapes* shapes) {
  for (int k = 0; k < shapes->count; k++) {
    const PawlTouchShape* shape = &shapes->item[k];
    if (shape->body->is_ground || shape->kind == PAWL_TOUCH_PLANE) {
      continue;
    }
    const PawlYaml* corner = shape->kind == PAWL_TOUCH_POLYGON ? shape->node->first : NULL;
    const char* far = corner ? pawl_part_vector(made, corner, "a corner") : NULL;
    const char* size =
        far ? pawl_say(made, "norm(%s)", far)
        : shape->kind == PAWL_TOUCH_BALL
            ? size_of(made, shape, 0)
            : pawl_say(made, "(%s + %s)", size_of(made, shape, 0), size_of(made, shape, 1));
    const char* range = shape->body->name.range;
    const char* times = made->dimension == 2 ? "10" : "3";
    return range[0]
               ? pawl_say(made, "%s*max(%.*s, %s)", times, (int)strlen(range) - 2, range + 1, size)
               : pawl_say(made, "%s*%s", times, size);
  }
  return "1";
}

// A line that has the solid on its right.
static void add_line(PawlMade* made, const PawlTouchShape* shape, PawlYaml* list, const char* place,
                     const char* n, const char* size) {
  PawlBodyUse use = {shape->body, shape->body->name};
  const char* local = pawl_say(made, "[(%s).y, -(%s).x]/norm(%s)", n, n, n);
  const char* along = pawl_product(made, pawl_body_R(made, &use, ""), local);
  pawl_add_item(made, list, shape->map, pawl_say(made, "%s - %s*(%s)", place, size, along));
  pawl_add_item(made, list, shape->map, pawl_say(made, "%s + %s*(%s)", place, size, along));
}

// A square across n.
static void add_square(PawlMade* made, const PawlTouchShape* shape, PawlYaml* list,
                       const char* place, const char* n, const char* size) {
  PawlBodyUse use = {shape->body, shape->body->name};
  const char* R = pawl_body_R(made, &use, "");
  const char* side =
      pawl_say(made, "if(abs((%s).y) < 0.9*norm(%s), cross([0, 1, 0], %s), cross(%s, [0, 0, 1]))",
               n, n, n, n);
  const char* other = pawl_say(made, "cross(%s, %s)", n, side);
  const char* along = pawl_product(made, R, pawl_say(made, "(%s/norm(%s))", side, side));
  const char* across = pawl_product(made, R, pawl_say(made, "(%s/norm(%s))", other, other));
  for (int k = 0; k < 4; k++) {
    pawl_add_item(made, list, shape->map,
                  pawl_say(made, "%s %c %s*%s %c %s*%s", place, "-++-"[k], size, along, "--++"[k],
                           size, across));
  }
}

// A part of it about its place.
static void draw_plane(PawlMade* made, const PawlTouchShape* shape, const char* size) {
  PawlBodyUse use = {shape->body, shape->body->name};
  bool flat = made->dimension == 2;
  const PawlYaml *at = pawl_part_get(shape->node, "at"),
                 *normal = pawl_part_get(shape->node, "normal");
  const char* place = pawl_body_place(made, &use, at ? pawl_part_vector(made, at, "at") : NULL);
  const char* n = normal ? pawl_part_vector(made, normal, "normal") : NULL;
  n = pawl_factor(made, n ? n : flat ? "[0, 1]" : "[0, 0, 1]");
  PawlYaml* map = put_shape(made, shape->map, &shape->body->name, flat ? "ground" : "polygon");
  PawlYaml* list = pawl_set_list(made, map, shape->map, "points");
  (flat ? add_line : add_square)(made, shape, list, place, n, size);
}

static void draw_shape(PawlMade* made, const PawlTouchShape* shape, const char* size) {
  switch (shape->kind) {
    case PAWL_TOUCH_BALL:
      draw_ball(made, shape);
      break;
    case PAWL_TOUCH_CAPSULE:
    case PAWL_TOUCH_CYLINDER:
      draw_rod(made, shape);
      break;
    case PAWL_TOUCH_BOX:
      draw_box(made, shape);
      break;
    case PAWL_TOUCH_POLYGON:
      draw_polygon(made, shape);
      break;
    case PAWL_TOUCH_PLANE:
      draw_plane(made, shape, size);
      break;
  }
}

// ---- bodies without shape ---------------------------------------------------------------------

typedef struct Places {
  int count;
  const char* local[MOST_PLACES];
} Places;

static void add_place(PawlMade* made, Places* p, const char* local) {
  const char* text = local ? local : made->dimension == 2 ? "[0, 0]" : "[0, 0, 0]";
  for (int k = 0; k < p->count; k++) {
    if (strcmp(p->local[k], text) == 0) {
      return;
    }
  }
  if (p->count < MOST_PLACES) {
    p->local[p->count++] = text;
  }
}

// Those of its joints.
static Places joint_places(PawlMade* made, const PawlJoints* joints, const PawlBody* body) {
  Places p = {0};
  for (int k = 0; k < joints->count; k++) {
    const PawlJoint* joint = &joints->item[k];
    for (int side = 0; side < 2 && !joint->is_gear && !joint->name.range[0]; side++) {
      if (joint->body[side].body == body && !body->name.range[0]) {
        add_place(made, &p, joint->at[side]);
      }
    }
  }
  return p;
}

static Places places_of(PawlMade* made, const PawlJoints* joints, const PawlBody* body) {
  Places p = joint_places(made, joints, body);
  if (p.count == 0) {
    add_place(made, &p, NULL);
  }
  for (const PawlYaml* point = body->points ? body->points->first : NULL; point;
       point = point->next) {
    const char* local = pawl_part_vector(made, point, "a point");
    if (local) {
      add_place(made, &p, local);
    }
  }
  if (p.count == 1 && body->centre) {
    add_place(made, &p, body->centre);
  }
  return p;
}

// Its thickness is 1/25 of the way from its first place to its last.
static void draw_link(PawlMade* made, const PawlJoints* joints, const PawlBody* body) {
  PawlBodyUse use = {body, body->name};
  Places p = places_of(made, joints, body);
  const char* points[MOST_PLACES];
  for (int k = 0; k < p.count; k++) {
    points[k] = pawl_body_place(made, &use, p.local[k]);
  }
  if (p.count < 2) {
    PawlYaml* map = put_shape(made, body->key, &body->name, "joint");
    pawl_set(made, map, body->key, "at", pawl_body_part(made, &use, "centre"));
    return;
  }
  PawlYaml* map = put_shape(made, body->key, &body->name, "link");
  put_points(made, map, body->key, p.count, points);
  pawl_set(made, map, body->key, "radius",
           pawl_say(made, "norm(%s - %s)/25", pawl_factor(made, p.local[0]),
                    pawl_factor(made, p.local[p.count - 1])));
}

// ---- bodies whose joints are beside their shapes ----------------------------------------------

// The numbers of "[1, 0.5]", NULL being zeros; false for expressions.
static bool read_numbers(const char* text, int count, double out[3]) {
  out[0] = out[1] = out[2] = 0.0;
  for (int k = 0; k < count && text; k++) {
    char* end;
    text += k == 0 ? *text == '[' : 0;
    out[k] = strtod(text, &end);
    if (end == text || *end != (k + 1 < count ? ',' : ']')) {
      return false;
    }
    text = end + 1;
  }
  return true;
}

// From its middle to what is farthest from there, where its sizes are numbers; false else.
static bool reach_of(const PawlTouchShape* shape, double* reach) {
  double size[3] = {0};
  int count = 0;
  bool list = shape->node->kind == PAWL_YAML_LIST;
  bool known = shape->kind != PAWL_TOUCH_POLYGON && shape->kind != PAWL_TOUCH_PLANE;
  for (const PawlYaml* node = list ? shape->node->first : shape->node; node && known && count < 3;
       node = list ? node->next : NULL) {
    char* end = NULL;
    size[count] = node->kind == PAWL_YAML_SCALAR ? strtod(node->text, &end) : 0.0;
    known = end && end != node->text && !*end;
    count++;
  }
  bool box = shape->kind == PAWL_TOUCH_BOX;
  *reach = box ? hypot(hypot(size[0], size[1]), size[2]) / 2 : size[0] + size[1] / 2;
  return known;
}

// The shape of the body that is nearest to a place beside all of them; NULL where one may be there.
static const PawlTouchShape* nearest_shape(PawlMade* made, const PawlTouchShapes* shapes,
                                           const PawlBody* body, const char* local) {
  const PawlTouchShape* nearest = NULL;
  double place[3], least = INFINITY;
  bool known = read_numbers(local, made->dimension, place);
  for (int k = 0; k < shapes->count && known; k++) {
    const PawlTouchShape* shape = &shapes->item[k];
    double middle[3], reach;
    if (shape->body != body) {
      continue;
    }
    known = reach_of(shape, &reach) && read_numbers(shape->at, made->dimension, middle);
    double d = hypot(hypot(place[0] - middle[0], place[1] - middle[1]), place[2] - middle[2]);
    known = known && d > reach;
    nearest = known && d < least ? shape : nearest;
    least = nearest == shape ? d : least;
  }
  return known ? nearest : NULL;
}

// Links from the places of its joints: a foot of a robot has a shape, the leg above it none.
static void draw_limbs(PawlMade* made, const PawlJoints* joints, const PawlTouchShapes* shapes,
                       const PawlBody* body) {
  PawlBodyUse use = {body, body->name};
  Places p = joint_places(made, joints, body);
  for (int k = 0; k < p.count; k++) {
    const PawlTouchShape* shape = nearest_shape(made, shapes, body, p.local[k]);
    if (shape) {
      const char* points[] = {pawl_body_place(made, &use, p.local[k]),
                              shape_place(made, shape, NULL)};
      PawlYaml* map = put_shape(made, body->key, &body->name, "link");
      put_points(made, map, body->key, 2, points);
      const char* middle = shape->at ? pawl_factor(made, shape->at) : NULL;
      pawl_set(made, map, body->key, "radius",
               pawl_say(made, "norm(%s)/25", pawl_sum(made, p.local[k], NULL, NULL, middle)));
    }
  }
}

// ---- joints -----------------------------------------------------------------------------------

static void draw_joint(PawlMade* made, const PawlJoint* joint) {
  static const char* const none[PAWL_JOINT_VALUES] = {"0", "0", "0"};
  const char* places[] = {pawl_joint_fill(made, joint, "$P", none, none),
                          pawl_joint_fill(made, joint, "$S", none, none)};
  bool rope = strcmp(joint->type->word, "distance") == 0;
  bool locks = pawl_part_get(joint->map, "lock") || pawl_part_get(joint->map, "brake");
  PawlYaml* map = put_shape(made, joint->key, &joint->name, rope ? "line" : "joint");
  if (rope) {
    put_points(made, map, joint->key, 2, places);
  } else {
    pawl_set(made, map, joint->key, "at", places[1]);
  }
  if (locks || joint->switching) {
    const char* part = !locks ? "" : pawl_part_get(joint->map, "lock") ? "lock" : "brake";
    pawl_set(
        made, map, joint->key, "of",  // as the lock is called: n.lock[i]
        pawl_say(made, "%s%s%s%s", joint->name.name, *part ? "." : "", part, joint->name.index));
  }
}

// ---- wheels, tracks, springs ------------------------------------------------------------------

static const char* fill(PawlMade* made, const PawlJoint* joint, const char* text) {
  static const char* const none[PAWL_JOINT_VALUES] = {"0", "0", "0"};
  return pawl_joint_fill(made, joint, text, none, none);
}

// What rolls: in the plane a disc, in space a sphere, or a disc about its axle; discs with a spoke,
// which shows how they turn.
static void draw_wheel(PawlMade* made, const PawlJoint* joint) {
  static const char SPOKE[] =
      "(if(abs(dot($X, [0, 1, 0])) < 0.9, cross([0, 1, 0], $X), cross($X, [0, 0, 1])))";
  const PawlYaml* like = joint->key;
  bool flat = made->dimension == 2, wheel = joint->motion == &joint->type->wheel;
  const char* centre = fill(made, joint, "$S");
  PawlYaml* map = put_shape(made, like, &joint->name, flat || wheel ? "disc" : "ball");
  pawl_set(made, map, like, "at", centre);
  pawl_set(made, map, like, "radius", fill(made, joint, "$L"));
  if (wheel) {
    pawl_set(made, map, like, "normal", fill(made, joint, "$G*$X"));
  }
  if (flat || wheel) {
    const char* rim =
        flat ? "$S + $G*[$L, 0]" : pawl_say(made, "$S + $L*($G*(%s/norm(%s)))", SPOKE, SPOKE);
    const char* spoke[] = {centre, fill(made, joint, rim)};
    put_points(made, put_shape(made, like, &joint->name, "line"), like, 2, spoke);
  }
}

// To both sides of where the second body is.
static void draw_track(PawlMade* made, const PawlJoint* joint, const char* size) {
  const char* x = pawl_say(made, "(dot($F*$A, $S - $P) + %s*(track_point/20 - 1))", size);
  PawlYaml* map = put_shape(made, joint->key, &joint->name, "line");
  pawl_set(made, pawl_set_map(made, map, joint->key, "points"), joint->key, "for track_point=0..40",
           fill(made, joint, pawl_say(made, "$P + $F*($A*%s + $U*$L(%s))", x, x)));
}

// Two points, as springs: has them; what else stands there it complains of itself.
static bool is_place(const PawlYaml* node) {
  return node && (node->kind == PAWL_YAML_SCALAR ||
                  (node->kind == PAWL_YAML_LIST && (node->count == 2 || node->count == 3)));
}

static void draw_spring(PawlMade* made, const PawlYaml* spring) {
  const PawlYaml *from = pawl_part_get(spring, "from"), *to = pawl_part_get(spring, "to");
  const char* text = spring->key->text ? spring->key->text : "";
  size_t length = strlen(text), name = strcspn(text, "[");
  bool closed = name == length || text[length - 1] == ']';
  if (is_place(from) && is_place(to) && closed) {
    PawlPartName of = {text, text + name, ""};
    PawlYaml* map = put_shape(made, spring->key, &of, "spring");
    PawlYaml* list = pawl_set_list(made, map, spring->key, "points");
    pawl_add_item(made, list, from, pawl_part_text(made, from, "a point"));
    pawl_add_item(made, list, to, pawl_part_text(made, to, "a point"));
  }
}

// ---- all --------------------------------------------------------------------------------------

static bool has_shape(const PawlTouchShapes* shapes, const PawlBody* body) {
  bool shaped = body->is_ground;
  for (int i = 0; i < shapes->count; i++) {
    shaped = shaped || shapes->item[i].body == body;
  }
  return shaped;
}

static bool is_type(const PawlJoint* joint, const char* word) {
  return !joint->is_gear && strcmp(joint->type->word, word) == 0;
}

static void draw_links(PawlMade* made, const PawlBodies* bodies, const PawlJoints* joints,
                       const PawlTouchShapes* shapes) {
  for (int k = 0; k < joints->count; k++) {
    const PawlJoint* joint = &joints->item[k];
    if (is_type(joint, "rolling") && !has_shape(shapes, joint->body[1].body)) {
      draw_wheel(made, joint);
    }
  }
  for (int k = 0; k < bodies->count; k++) {
    if (!has_shape(shapes, &bodies->item[k])) {
      draw_link(made, joints, &bodies->item[k]);
    } else if (!bodies->item[k].is_ground) {
      draw_limbs(made, joints, shapes, &bodies->item[k]);
    }
  }
}

void pawl_write_mechanism_scene(PawlMade* made, const PawlBodies* bodies, const PawlJoints* joints,
                                const PawlYaml* springs, const char* gravity) {
  PawlTouchShapes shapes = {0};
  if (!pawl_read_touch_shapes(made, bodies, &shapes)) {
    return;
  }
  const char* size = plane_size(made, &shapes);
  for (int k = 0; k < joints->count; k++) {
    if (is_type(&joints->item[k], "track")) {
      draw_track(made, &joints->item[k], size);
    }
  }
  draw_links(made, bodies, joints, &shapes);
  for (int i = 0; i < shapes.count; i++) {
    draw_shape(made, &shapes.item[i], size);
  }
  bool any = springs && springs->kind == PAWL_YAML_MAP;
  for (const PawlYaml* spring = any ? springs->first : NULL; spring; spring = spring->next) {
    draw_spring(made, spring);
  }
  for (int k = 0; k < joints->count; k++) {
    if (!joints->item[k].is_gear) {
      draw_joint(made, &joints->item[k]);
    }
  }
  if (gravity) {
    PawlYaml* map = put_shape(made, bodies->item[1].key, &bodies->item[0].name, "gravity");
    pawl_set(made, map, bodies->item[1].key, "vector", gravity);
  }
}
