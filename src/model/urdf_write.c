// SPDX-License-Identifier: Apache-2.0
// A robot as the tree of a model: `mechanism:`, `bodies:`, `joints:` (docs/bodies.md).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/urdf_impl.h"
#include "model/yaml.h"

// ---- nodes --------------------------------------------------------------------------------------

typedef struct Parent {  // a list or map that grows
  PawlYaml *node, *last;
} Parent;

static PawlYaml* new_node(PawlUrdf* u, PawlYamlKind kind, const PawlXml* place) {
  PawlYaml* node = pawl_pool_alloc(u->pool, sizeof *node);
  if (!node) {
    pawl_urdf_no_memory(u);
    return NULL;
  }
  *node = (PawlYaml){
      .kind = kind, .line = place->line, .column = place->column, .shift = -1, .judged = true};
  return node;
}

static PawlYaml* new_text(PawlUrdf* u, const char* text, const PawlXml* place) {
  PawlYaml* node = new_node(u, PAWL_YAML_SCALAR, place);
  if (!node) {
    return NULL;
  }
  node->plain = true;
  node->length = (int)strlen(text);
  node->text = pawl_pool_copy(u->pool, text, strlen(text));
  return node->text ? node : (pawl_urdf_no_memory(u), NULL);
}

static PawlYaml* new_number(PawlUrdf* u, double value, const PawlXml* place) {
  PawlText text = {0};
  pawl_text_number(&text, value == 0.0 ? 0.0 : value);  // no -0
  PawlYaml* node = text.failed ? (pawl_urdf_no_memory(u), NULL) : new_text(u, text.s, place);
  pawl_text_free(&text);
  return node;
}

// Hangs `node` (NULL: memory was short) into a list, or into a map under `key`.
static PawlYaml* hang(PawlUrdf* u, Parent* parent, const char* key, PawlYaml* node,
                      const PawlXml* place) {
  if (!node || !parent->node || (key && !(node->key = new_text(u, key, place)))) {
    return NULL;
  }
  *(parent->last ? &parent->last->next : &parent->node->first) = node;
  parent->last = node;
  parent->node->count++;
  return node;
}

static Parent open_node(PawlUrdf* u, Parent* parent, const char* key, PawlYamlKind kind,
                        const PawlXml* place) {
  return (Parent){hang(u, parent, key, new_node(u, kind, place), place), NULL};
}

static void put_text(PawlUrdf* u, Parent* parent, const char* key, const char* text,
                     const PawlXml* place) {
  hang(u, parent, key, new_text(u, text, place), place);
}

static void put_number(PawlUrdf* u, Parent* parent, const char* key, double value,
                       const PawlXml* place) {
  hang(u, parent, key, new_number(u, value, place), place);
}

static void put_numbers(PawlUrdf* u, Parent* parent, const char* key, int count,
                        const double values[], const PawlXml* place) {
  Parent list = open_node(u, parent, key, PAWL_YAML_LIST, place);
  for (int k = 0; k < count; k++) {
    put_number(u, &list, NULL, values[k], place);
  }
}

static void put_place(PawlUrdf* u, Parent* parent, const char* key, const double p[3],
                      const PawlXml* place) {
  double size = fmax(fmax(fabs(p[0]), fabs(p[1])), fabs(p[2])), tidy[3];
  for (int k = 0; k < 3; k++) {
    tidy[k] = pawl_tidy_number(p[k], size);
  }
  put_numbers(u, parent, key, 3, tidy, place);
}

// `key: {zyx: [yaw, pitch, roll]}`, nothing where nothing is turned.
static void put_turn(PawlUrdf* u, Parent* parent, const char* key, const double zyx[3],
                     const PawlXml* place) {
  if (zyx[0] == 0.0 && zyx[1] == 0.0 && zyx[2] == 0.0) {
    return;
  }
  Parent map = open_node(u, parent, key, PAWL_YAML_MAP, place);
  put_numbers(u, &map, "zyx", 3, zyx, place);
}

static void put_turn_of(PawlUrdf* u, Parent* parent, const char* key, const PawlFrame* frame,
                        const PawlXml* place) {
  double zyx[3];
  pawl_frame_angles(frame, zyx);
  for (int k = 0; k < 3; k++) {
    zyx[k] = pawl_tidy_number(zyx[k], 1.0);
  }
  put_turn(u, parent, key, zyx, place);
}

// A map with a name that is free, `of` with something behind it.
static void put_named(PawlUrdf* u, Parent* joints, const char* of, const char* suffix,
                      const PawlXml* place, Parent* map) {
  char name[160];
  snprintf(name, sizeof name, "%s%s", of, suffix);
  const char* id = pawl_urdf_free_name(u, name, "", false);
  *map = id ? open_node(u, joints, id, PAWL_YAML_MAP, place) : (Parent){0};
}

// ---- bodies -------------------------------------------------------------------------------------

static void put_inertia(PawlUrdf* u, Parent* body, const PawlUrdfLink* link) {
  const double(*I)[3] = link->whole.I;
  double tidy[3][3], size = fmax(fmax(fabs(I[0][0]), fabs(I[1][1])), fabs(I[2][2]));
  bool full = false;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      tidy[i][j] = pawl_tidy_number(I[i][j], i == j ? 0.0 : size);
      full |= i != j && tidy[i][j] != 0.0;
    }
  }
  if (!full) {
    double moments[3] = {I[0][0], I[1][1], I[2][2]};
    put_numbers(u, body, "inertia", 3, moments, link->xml);
    return;
  }
  Parent rows = open_node(u, body, "inertia", PAWL_YAML_LIST, link->xml);
  for (int i = 0; i < 3; i++) {
    put_numbers(u, &rows, NULL, 3, tidy[i], link->xml);
  }
}

static bool is_along(const PawlFrame* frame, int i, int j) {
  return fabs(fabs(frame->R[i][j]) - 1.0) < 0.5 * PAWL_URDF_RIGHT_ANGLE * PAWL_URDF_RIGHT_ANGLE;
}

// The edges of a box along the axes of the body; false where it is turned otherwise.
static bool box_edges(const PawlUrdfShape* shape, const PawlFrame* frame, double edges[3]) {
  for (int i = 0; i < 3; i++) {
    int j = 0;
    while (j < 3 && !is_along(frame, i, j)) {
      j++;
    }
    if (j == 3) {
      return false;
    }
    edges[i] = shape->size[j];
  }
  return true;
}

static bool is_straight(const PawlUrdfShape* shape, const PawlFrame* frame) {
  double edges[3];
  switch (shape->geometry) {
    case PAWL_URDF_BOX:
      return box_edges(shape, frame, edges);
    case PAWL_URDF_CYLINDER:
    case PAWL_URDF_CAPSULE:
      return is_along(frame, 2, 2);
    case PAWL_URDF_SPHERE:
      break;
  }
  return true;
}

static void put_sizes(PawlUrdf* u, Parent* map, const PawlUrdfShape* shape, const double size[3]) {
  const PawlXml* xml = shape->xml;
  switch (shape->geometry) {
    case PAWL_URDF_BOX:
      put_numbers(u, map, "box", 3, size, xml);
      break;
    case PAWL_URDF_CYLINDER:
    case PAWL_URDF_CAPSULE:
      put_numbers(u, map, xml->name, 2, size, xml);
      break;
    case PAWL_URDF_SPHERE:
      put_number(u, map, "sphere", size[0], xml);
      break;
  }
}

// `shape`, along the axes of the body.
static void put_straight(PawlUrdf* u, Parent* body, const PawlUrdfShape* shape,
                         const PawlFrame* frame) {
  Parent map = open_node(u, body, "shape", PAWL_YAML_MAP, shape->xml);
  double edges[3];
  bool box = shape->geometry == PAWL_URDF_BOX && box_edges(shape, frame, edges);
  put_sizes(u, &map, shape, box ? edges : shape->size);
  put_place(u, &map, "at", frame->p, shape->xml);
}

// One of `shapes`, in any direction.
static void put_turned(PawlUrdf* u, Parent* shapes, const PawlUrdfLink* link,
                       const PawlUrdfShape* shape, const PawlFrame* frame) {
  Parent map;
  put_named(u, shapes, link->id, "_shape", shape->xml, &map);
  put_sizes(u, &map, shape, shape->size);
  put_place(u, &map, "at", frame->p, shape->xml);
  if (shape->geometry != PAWL_URDF_SPHERE) {
    put_turn_of(u, &map, "turn", frame, shape->xml);
  }
}

// Has it shapes to touch others with? Otherwise those to look at are taken.
static bool has_collisions(const PawlUrdf* u, int b) {
  for (int k = b; k >= 0; k = u->links[k].next_in_body) {
    for (const PawlUrdfShape* s = u->links[k].shapes; s; s = s->next) {
      if (s->collision) {
        return true;
      }
    }
  }
  return false;
}

// The first that lies along the axes is the `shape` of the body, the others are `shapes`.
static void put_shapes(PawlUrdf* u, Parent* body, int b) {
  bool collision = has_collisions(u, b), straight = false;
  Parent shapes = {new_node(u, PAWL_YAML_MAP, u->links[b].xml), NULL};
  for (int k = b; k >= 0; k = u->links[k].next_in_body) {
    for (const PawlUrdfShape* s = u->links[k].shapes; s; s = s->next) {
      PawlFrame at = pawl_frame_times(&u->links[k].in_body, &s->frame);
      if (s->collision != collision) {
        continue;
      }
      if (!straight && is_straight(s, &at)) {
        put_straight(u, body, s, &at);
        straight = true;
      } else {
        put_turned(u, &shapes, &u->links[k], s, &at);
      }
    }
  }
  if (shapes.node && shapes.node->count > 0) {
    hang(u, body, "shapes", shapes.node, u->links[b].xml);
  }
}

// The origins of links that were merged into it.
static void put_points(PawlUrdf* u, Parent* body, int b) {
  Parent points = {0};
  for (int k = u->links[b].next_in_body; k >= 0; k = u->links[k].next_in_body) {
    const PawlUrdfLink* link = &u->links[k];
    if (!points.node) {
      points = open_node(u, body, "points", PAWL_YAML_MAP, link->xml);
    }
    put_place(u, &points, link->id, link->in_body.p, link->xml);
  }
}

static bool is_free(const PawlUrdf* u, const PawlUrdfLink* link) {
  return link->joint >= 0 && u->joints[link->joint].type == PAWL_URDF_FLOATING;
}

static void put_start(PawlUrdf* u, Parent* body, const PawlUrdfLink* link) {
  Parent start = open_node(u, body, "start", PAWL_YAML_MAP, link->xml);
  put_place(u, &start, "at", link->start.p, link->xml);
  put_turn_of(u, &start, "rotation", &link->start, link->xml);
}

static void put_body(PawlUrdf* u, Parent* bodies, int b) {
  const PawlUrdfLink* link = &u->links[b];
  Parent body = open_node(u, bodies, link->id, PAWL_YAML_MAP, link->xml);
  put_number(u, &body, "mass", link->whole.mass, link->xml);
  if (link->whole_has_mass) {
    put_place(u, &body, "centre", link->whole.centre, link->xml);
    put_inertia(u, &body, link);
  }
  put_points(u, &body, b);
  put_shapes(u, &body, b);
  if (is_free(u, link)) {
    put_start(u, &body, link);
  }
}

static void put_ground(PawlUrdf* u, Parent* bodies) {
  const PawlUrdfLink* root = &u->links[u->root];
  Parent ground = {new_node(u, PAWL_YAML_MAP, root->xml), NULL};
  put_points(u, &ground, u->root);
  put_shapes(u, &ground, u->root);
  if (ground.node && ground.node->count > 0) {
    hang(u, bodies, "ground", ground.node, root->xml);
  }
}

static void put_bodies(PawlUrdf* u, Parent* model) {
  Parent bodies = open_node(u, model, "bodies", PAWL_YAML_MAP, u->xml);
  for (int k = 0; k < u->link_count; k++) {
    if (u->on_ground && k == u->root) {
      put_ground(u, &bodies);
    } else if (u->links[k].body == k) {
      put_body(u, &bodies, k);
    }
  }
}

// ---- joints -------------------------------------------------------------------------------------

static void put_pair(PawlUrdf* u, Parent* parent, const char* key, const char* first,
                     const char* second, const PawlXml* place) {
  Parent pair = open_node(u, parent, key, PAWL_YAML_LIST, place);
  put_text(u, &pair, NULL, first, place);
  put_text(u, &pair, NULL, second, place);
}

// The frame of the joint on the body of its parent link: as written, where that is the body itself.
static void put_frame(PawlUrdf* u, Parent* map, const PawlUrdfJoint* joint) {
  const PawlUrdfLink* parent = &u->links[joint->parent];
  if (parent->body == joint->parent) {
    double zyx[3] = {joint->rpy[2], joint->rpy[1], joint->rpy[0]};
    put_numbers(u, map, "at", 3, joint->xyz, joint->xml);
    put_turn(u, map, "turn", zyx, joint->xml);
    return;
  }
  PawlFrame frame = pawl_frame_times(&parent->in_body, &joint->frame);
  put_place(u, map, "at", frame.p, joint->xml);
  put_turn_of(u, map, "turn", &frame, joint->xml);
}

static void put_acting(PawlUrdf* u, Parent* map, const PawlUrdfJoint* joint) {
  if (joint->start != 0.0 && joint->master < 0) {
    put_number(u, map, "start", joint->start, joint->xml);
  }
  if (joint->damping > 0.0) {
    put_number(u, map, "damping", joint->damping, joint->xml);
  }
  if (joint->friction > 0.0) {
    put_number(u, map, "friction", joint->friction, joint->xml);
  }
  if (u->def.limits && pawl_urdf_has_limits(joint) && joint->master < 0) {
    Parent stops = open_node(u, map, "stops", PAWL_YAML_MAP, joint->limit);
    put_number(u, &stops, "low", joint->low, joint->limit);
    put_number(u, &stops, "high", joint->high, joint->limit);
    put_number(u, &stops, "restitution", 0.0, joint->limit);
  }
}

static const char* word_of(PawlUrdfType type) {
  switch (type) {
    case PAWL_URDF_REVOLUTE:
    case PAWL_URDF_CONTINUOUS:
      return "revolute";
    case PAWL_URDF_PRISMATIC:
      return "prismatic";
    case PAWL_URDF_PLANAR:
      return "planar";
    case PAWL_URDF_FIXED:
    case PAWL_URDF_FLOATING:
    case PAWL_URDF_TYPES:
      break;
  }
  return NULL;  // no joint of the model: one body, or a free one
}

static void put_joint(PawlUrdf* u, Parent* joints, const PawlUrdfJoint* joint) {
  const char* word = word_of(joint->type);
  if (!word) {
    return;
  }
  const PawlUrdfLink* parent = &u->links[u->links[joint->parent].body];
  Parent map = open_node(u, joints, joint->id, PAWL_YAML_MAP, joint->xml);
  put_pair(u, &map, word, parent->id, u->links[joint->child].id, joint->xml);
  put_frame(u, &map, joint);
  put_numbers(u, &map, "axis", 3, joint->axis, joint->xml);
  if (pawl_urdf_has_value(joint)) {
    put_acting(u, &map, joint);
  }
}

static void put_joints(PawlUrdf* u, Parent* model) {
  const PawlUrdfLink* root = &u->links[u->root];
  Parent joints = open_node(u, model, "joints", PAWL_YAML_MAP, u->xml), map;
  if (!u->on_ground && !u->def.floating) {
    put_named(u, &joints, root->id, "_to_ground", root->xml, &map);
    put_pair(u, &map, "weld", "ground", root->id, root->xml);
  }
  for (int k = 0; k < u->joint_count; k++) {
    put_joint(u, &joints, &u->joints[k]);
  }
  for (int k = 0; k < u->joint_count; k++) {
    const PawlUrdfJoint* joint = &u->joints[k];
    if (joint->master >= 0) {
      put_named(u, &joints, joint->id, "_mimic", joint->mimic, &map);
      put_pair(u, &map, "gear", joint->id, u->joints[joint->master].id, joint->mimic);
      put_number(u, &map, "ratio", joint->multiplier, joint->mimic);
      put_number(u, &map, "offset", joint->offset, joint->mimic);
    }
  }
}

// ---- the model ----------------------------------------------------------------------------------

static void list_by_body(PawlUrdf* u) {
  for (int k = 0; k < u->link_count; k++) {
    u->links[k].next_in_body = -1;
    u->links[k].last_in_body = k;
  }
  for (int k = 0; k < u->link_count; k++) {
    PawlUrdfLink* body = &u->links[u->links[k].body];
    if (u->links[k].body != k) {
      u->links[body->last_in_body].next_in_body = k;
      body->last_in_body = k;
    }
  }
}

PawlYaml* pawl_urdf_write(PawlUrdf* u) {
  const double gravity[3] = {0, 0, -9.81};
  const char* name = pawl_xml_get(u->xml, "name");
  PawlYaml* title = new_text(u, pawl_quote(name && name[0] ? name : "robot").s, u->xml);
  PawlYaml* root = new_node(u, PAWL_YAML_MAP, u->xml);
  Parent model = {root, NULL};
  list_by_body(u);
  if (title) {
    title->plain = !pawl_yaml_is_null(title);
  }
  hang(u, &model, "model", title, u->xml);
  Parent mechanism = open_node(u, &model, "mechanism", PAWL_YAML_MAP, u->xml);
  put_numbers(u, &mechanism, "gravity", 3, gravity, u->xml);
  put_bodies(u, &model);
  put_joints(u, &model);
  return u->report->no_memory ? NULL : root;
}
