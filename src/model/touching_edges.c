// SPDX-License-Identifier: Apache-2.0
// Where two edges in space pass each other: the places of both that are nearest, (C4) of
// docs/theory/shapes.md. An edge is the axis of a capsule or one of the twelve of a box.
#include "model/touching.h"

#define PARALLEL "1e-14"  // sine^2 of edges from which on others than these see that they touch
#define NOTHING "1e-18"   // in the place of a sine^2 that is zero

typedef struct Edge {
  const char *middle, *along, *half;
} Edge;

int pawl_touch_edge_count(const PawlTouchShape* shape) {
  return shape->kind == PAWL_TOUCH_CAPSULE ? 1 : shape->kind == PAWL_TOUCH_BOX ? 12 : 0;
}

// Edge k of a box: four along each axis, at the sides of the two others that the bits say.
static Edge box_edge(PawlMade* made, const PawlTouchUse* use, int k) {
  static const char* const axes[] = {"[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]"};
  const char *half = pawl_touch_part(made, use, "_half"), *R = pawl_touch_part(made, use, "_R");
  const char* side[3];
  int axis = k / 4;
  for (int j = 1, bits = k % 4; j < 3; j++, bits >>= 1) {
    int other = (axis + j) % 3;
    side[other] = pawl_say(made, "%s%s.%c", bits & 1 ? "" : "-", half, 'x' + other);
  }
  side[axis] = "0";
  return (Edge){pawl_say(made, "(%s + %s*[%s, %s, %s])", pawl_touch_part(made, use, ""), R, side[0],
                         side[1], side[2]),
                pawl_say(made, "(%s*%s)", R, axes[axis]),
                pawl_say(made, "%s.%c", half, 'x' + axis)};
}

static Edge edge_of(PawlMade* made, const PawlTouchUse* use, int k) {
  if (use->shape->kind == PAWL_TOUCH_BOX) {
    return box_edge(made, use, k);
  }
  return (Edge){pawl_touch_part(made, use, ""), pawl_touch_part(made, use, "_axis"),
                pawl_touch_part(made, use, "_half")};
}

typedef struct Crossing {
  PawlMade* made;
  const PawlPartName* label;
  const PawlYaml* like;
} Crossing;

static const char* put(const Crossing* c, const char* part, const char* text) {
  pawl_put(c->made, "define", c->like, pawl_part_key(c->made, c->label, part), text);
  return pawl_part_use(c->made, c->label, part);
}

PawlProbe pawl_write_touch_edges(PawlMade* made, const PawlPartName* label,
                                 const PawlTouchUse* target, int i, const PawlTouchUse* probe,
                                 int k) {
  Crossing c = {made, label, probe->shape->node};
  Edge a = edge_of(made, target, i), b = edge_of(made, probe, k);
  const char* d = put(&c, "off", pawl_say(made, "%s - %s", b.middle, a.middle));
  const char* cosine = put(&c, "cosine", pawl_say(made, "dot(%s, %s)", a.along, b.along));
  const char* square = put(&c, "sine2",
                           pawl_say(made, "dot(cross(%s, %s), cross(%s, %s)) + " NOTHING, a.along,
                                    b.along, a.along, b.along));
  const char* s = put(&c, "on_first",
                      pawl_say(made, "(dot(%s, %s - %s*%s) + " PARALLEL "*%s)/%s", d, a.along,
                               cosine, b.along, a.half, square));
  const char* u = put(&c, "on_second",
                      pawl_say(made, "%s*(%s - 2*" PARALLEL "*%s/%s) - dot(%s, %s)", cosine, s,
                               b.half, square, d, b.along));
  const char* first = pawl_touch_clamp(made, s, a.half);
  const char* second =
      put(&c, "moved", pawl_say(made, "%s*%s", pawl_touch_clamp(made, u, b.half), b.along));
  put(&c, "span", pawl_say(made, "%s + %s - %s*%s", d, second, first, a.along));
  const char* place = pawl_say(made, "%s + %s", b.middle, second);
  const char* arm = pawl_say(made, "%s - %s", place, pawl_body_part(made, &probe->body, "at"));
  return (PawlProbe){
      place, arm, pawl_touch_has_radius(probe->shape) ? pawl_touch_part(made, probe, "_r") : NULL};
}
