// SPDX-License-Identifier: Apache-2.0
// `contacts:` between shapes of bodies (docs/bodies.md, docs/theory/shapes.md): reading the
// shapes, and writing what contacts between them become. Every contact is a probe, a ball of a
// radius that may be zero, against a target. With p the middle of the probe and c the place of the
// target that is nearest to it,
//   gap = |p - c| - radii,   normal = (p - c)/|p - c|                                          (C1)
// Along a length of the target the nearest place is clamp(x, -h, h), written without a kink as
//   clamp(x) = (hypot(x + h, w) - hypot(x - h, w))/2                                           (C2)
// with a width w far below the size h: what it is off by is w^2/(4 |x - h|), less than rounding.
#pragma once

#include "model/bodies.h"

#define PAWL_TOUCH_WIDTH "1e-8"  // w of (C2) over the size of the shape

typedef enum PawlTouchKind {
  PAWL_TOUCH_BALL,
  PAWL_TOUCH_CAPSULE,
  PAWL_TOUCH_BOX,
  PAWL_TOUCH_POLYGON,
  PAWL_TOUCH_CYLINDER,
  PAWL_TOUCH_PLANE,
} PawlTouchKind;

typedef struct PawlTouchShape {
  const PawlBody* body;
  const char* name;  // "shape", or that among `shapes`
  const char* word;  // "disc"
  PawlTouchKind kind;
  const PawlYaml *map, *node;     // node: what stands behind the word
  const char *at, *turn;          // in the frame of the body; NULL: none
  const PawlYaml* round;          // radius of the corners of a box or polygon; NULL: none
  bool smoothed;                  // corners without `round` have that of (C5)
  struct PawlTouchShape* smooth;  // itself with such corners, where a contact asked for it
  int corners;
  bool convex;             // of numbers, no corner turns to the right
  bool written, cornered;  // its definitions are, those of its corners
} PawlTouchShape;

typedef struct PawlTouchShapes {
  PawlTouchShape* item;
  int count;
} PawlTouchShapes;

// A shape as a contact means it, of the body link[i+1].
typedef struct PawlTouchUse {
  PawlTouchShape* shape;
  PawlBodyUse body;
} PawlTouchUse;

// Plane or space by the shapes, where places have not decided; without any the plane.
void pawl_touch_dimension(PawlMade* made, const PawlBodies* bodies);
// Shapes of all bodies. False after reporting.
bool pawl_read_touch_shapes(PawlMade* made, const PawlBodies* bodies, PawlTouchShapes* shapes);
// Definitions of place, sizes and axes, and those of corners, once.
void pawl_write_touch_shape(PawlMade* made, PawlTouchShape* shape);
void pawl_write_touch_corners(PawlMade* made, PawlTouchShape* shape);
// The same box or polygon with corners of a small radius within its edges (C5), and a note about it
// the first time; NULL after reporting.
PawlTouchShape* pawl_touch_smooth(PawlMade* made, PawlTouchShape* shape);
// It is a point, line or polygon with a layer of a radius `_r` around it.
bool pawl_touch_has_radius(const PawlTouchShape* shape);
// "link[i+1].shape_r"; the suffix may be empty.
const char* pawl_touch_part(PawlMade* made, const PawlTouchUse* use, const char* suffix);

typedef struct PawlProbe {
  const char *place, *arm, *r;  // arm: from the origin of the body; NULL: none. r NULL: a point
} PawlProbe;

// The probes of a shape. `normal` is that of a plane they are for, NULL: of another shape; `rim`
// is the number of points that the rim of a cylinder has, 0: those nearest to the plane.
int pawl_touch_probe_count(const PawlTouchShape* shape, int rim);
PawlProbe pawl_touch_probe(PawlMade* made, const PawlTouchUse* use, int k, const char* normal,
                           int rim);
// Defines what (C1) is made of as parts of the contact `label`: span = p - c, of a target that is
// no plane.
void pawl_write_touch_span(PawlMade* made, const PawlPartName* label, const PawlTouchUse* target,
                           const char* p);

// The nearest place on a length from -half to half, without a kink (C2).
const char* pawl_touch_clamp(PawlMade* made, const char* x, const char* half);
// Edges of a shape in space; 0: it has none that could touch another.
int pawl_touch_edge_count(const PawlTouchShape* shape);
// The same as a span for two edges that pass each other; gives the place on that of the probe.
PawlProbe pawl_write_touch_edges(PawlMade* made, const PawlPartName* label,
                                 const PawlTouchUse* target, int i, const PawlTouchUse* probe,
                                 int k);

// `contacts:` with `between` are taken out of the section (may be NULL) and written as contacts
// with gap and slip. False after reporting.
bool pawl_write_touching(PawlMade* made, const PawlBodies* bodies, PawlYaml* contacts);
