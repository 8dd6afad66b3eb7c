// SPDX-License-Identifier: Apache-2.0
// Probes of shapes, and the vector from the nearest place of a target to a probe.
#include <string.h>

#include "model/touching.h"

// (C2)
const char* pawl_touch_clamp(PawlMade* made, const char* x, const char* half) {
  return pawl_say(
      made, "(hypot(%s + %s, " PAWL_TOUCH_WIDTH "*%s) - hypot(%s - %s, " PAWL_TOUCH_WIDTH "*%s))/2",
      x, half, half, x, half, half);
}

// ---- probes -----------------------------------------------------------------------------------

int pawl_touch_probe_count(const PawlTouchShape* shape, int rim) {
  switch (shape->kind) {
    case PAWL_TOUCH_BALL:
      return 1;
    case PAWL_TOUCH_CAPSULE:
      return 2;
    case PAWL_TOUCH_CYLINDER:
      return rim > 0 ? 2 * rim : 2;
    default:
      return shape->corners;
  }
}

// The middle of the shape, moved by a vector.
static PawlProbe moved(PawlMade* made, const PawlTouchUse* use, const char* by, const char* r) {
  const char* arm = use->shape->at ? pawl_touch_part(made, use, "_arm") : NULL;
  return (PawlProbe){pawl_sum(made, pawl_touch_part(made, use, ""), by, NULL, NULL),
                     pawl_sum(made, arm, by, NULL, NULL), r};
}

// Half the axis, up for the first end.
static const char* half_axis(PawlMade* made, const PawlTouchUse* use, bool first) {
  return pawl_say(made, "%s%s*%s", first ? "" : "-", pawl_touch_part(made, use, "_half"),
                  pawl_touch_part(made, use, "_axis"));
}

// The place of the rim that is nearest to the plane: from the axis against the normal.
static const char* nearest_rim(PawlMade* made, const PawlTouchUse* use, const char* normal) {
  const char* axis = pawl_touch_part(made, use, "_axis");
  const char* across = pawl_say(made, "(%s - dot(%s, %s)*%s)", normal, normal, axis, axis);
  return pawl_say(made, "(-%s)*%s/norm(%s)", pawl_touch_part(made, use, "_r"), across, across);
}

static const char* rim_point(PawlMade* made, const PawlTouchUse* use, int k, int rim) {
  const char* r = pawl_touch_part(made, use, "_r");
  return pawl_say(made, "%s*[%s*cos(2*pi*%d/%d), %s*sin(2*pi*%d/%d), 0]",
                  pawl_touch_part(made, use, "_R"), r, k, rim, r, k, rim);
}

PawlProbe pawl_touch_probe(PawlMade* made, const PawlTouchUse* use, int k, const char* normal,
                           int rim) {
  const char* r = pawl_touch_part(made, use, "_r");
  switch (use->shape->kind) {
    case PAWL_TOUCH_BALL:
      return moved(made, use, NULL, r);
    case PAWL_TOUCH_CAPSULE:
      return moved(made, use, half_axis(made, use, k == 1), r);
    case PAWL_TOUCH_CYLINDER: {
      const char* end = half_axis(made, use, rim > 0 ? k >= rim : k == 1);
      const char* side =
          rim > 0 ? rim_point(made, use, k % rim, rim) : nearest_rim(made, use, normal);
      return moved(made, use, pawl_sum(made, end, side, NULL, NULL), NULL);
    }
    default:
      return (PawlProbe){pawl_touch_part(made, use, pawl_say(made, "_%d", k + 1)),
                         pawl_touch_part(made, use, pawl_say(made, "_arm_%d", k + 1)),
                         pawl_touch_has_radius(use->shape) ? r : NULL};
  }
}

// ---- targets ----------------------------------------------------------------------------------

typedef struct Span {
  PawlMade* made;
  const PawlPartName* label;
  const PawlTouchUse* target;
} Span;

static const char* put(const Span* s, const char* part, const char* text) {
  pawl_put(s->made, "define", s->target->shape->node, pawl_part_key(s->made, s->label, part), text);
  return pawl_part_use(s->made, s->label, part);
}

static const char* part(const Span* s, const char* suffix) {
  return pawl_touch_part(s->made, s->target, suffix);
}

static const char* clamp(const Span* s, const char* x, const char* half) {
  return pawl_touch_clamp(s->made, x, half);
}

static const char* capsule_span(const Span* s, const char* p) {
  const char *d = put(s, "off", pawl_say(s->made, "%s - %s", p, part(s, ""))),
             *axis = part(s, "_axis");
  const char* x = put(s, "height", pawl_say(s->made, "dot(%s, %s)", d, axis));
  return pawl_say(s->made, "%s - %s*%s", d, clamp(s, x, part(s, "_half")), axis);
}

static const char* box_span(const Span* s, const char* p) {
  PawlMade* made = s->made;
  const char *R = part(s, "_R"), *half = part(s, "_half"), *inner[3] = {"", "", ""};
  const char* x = put(s, "off", pawl_say(made, "transpose(%s)*(%s - %s)", R, p, part(s, "")));
  for (int k = 0; k < made->dimension; k++) {
    inner[k] =
        clamp(s, pawl_say(made, "%s.%c", x, 'x' + k), pawl_say(made, "%s.%c", half, 'x' + k));
  }
  const char* more = made->dimension == 3 ? ", " : "";
  return pawl_say(made, "%s*(%s - [%s, %s%s%s])", R, x, inner[0], inner[1], more, inner[2]);
}

// Along the axis and along the radius, which is taken as sqrt(x^2 + y^2 + w^2).
static const char* cylinder_span(const Span* s, const char* p) {
  PawlMade* made = s->made;
  const char *axis = part(s, "_axis"), *r = part(s, "_r");
  const char* d = put(s, "off", pawl_say(made, "%s - %s", p, part(s, "")));
  const char* z = put(s, "height", pawl_say(made, "dot(%s, %s)", d, axis));
  const char* out = put(s, "outward", pawl_say(made, "%s - %s*%s", d, z, axis));
  const char* radius = put(
      s, "radius", pawl_say(made, "sqrt(dot(%s, %s) + (" PAWL_TOUCH_WIDTH "*%s)^2)", out, out, r));
  return pawl_say(made, "%s*(1 - %s/%s) + (%s - %s)*%s", out, clamp(s, radius, r), radius, z,
                  clamp(s, z, part(s, "_half")), axis);
}

// 1 where x > 0, 0 where x < 0.
static const char* beyond(const Span* s, const char* x, const char* width) {
  return pawl_say(s->made, "(1 + %s/hypot(%s, %s))/2", x, x, width);
}

// The part of corner k and of the edge that begins there; it is nearest either to no place of a
// convex polygon, or to one of an edge, or to one corner.
static const char* polygon_part(const Span* s, const char* x, int k, const char* width) {
  PawlMade* made = s->made;
  int count = s->target->shape->corners;
  const char* corner = part(s, pawl_say(made, "_corner_%d", k));
  const char* next = part(s, pawl_say(made, "_corner_%d", k % count + 1));
  const char* edge = part(s, pawl_say(made, "_edge_%d", k));
  const char* before = part(s, pawl_say(made, "_edge_%d", k > 1 ? k - 1 : count));
  const char* d =
      put(s, pawl_say(made, "out_%d", k), pawl_say(made, "cross(%s - %s, %s)", x, corner, edge));
  const char* a =
      put(s, pawl_say(made, "from_%d", k), pawl_say(made, "dot(%s - %s, %s)", x, corner, edge));
  const char* b =
      put(s, pawl_say(made, "to_%d", k), pawl_say(made, "dot(%s - %s, %s)", next, x, edge));
  const char* c =
      put(s, pawl_say(made, "past_%d", k), pawl_say(made, "dot(%s - %s, %s)", x, corner, before));
  return pawl_say(made, "%s*%s*%s*%s*[%s.y, -%s.x] + %s*%s*(%s - %s)", d, beyond(s, d, width),
                  beyond(s, a, width), beyond(s, b, width), edge, edge, beyond(s, c, width),
                  beyond(s, pawl_say(made, "(-%s)", a), width), x, corner);
}

static const char* polygon_span(const Span* s, const char* p) {
  PawlMade* made = s->made;
  const char *R = part(s, "_R"), *sum = NULL;
  const char* x = put(s, "off", pawl_say(made, "transpose(%s)*(%s - %s)", R, p, part(s, "")));
  const char* width = put(s, "width",
                          pawl_say(made, PAWL_TOUCH_WIDTH "*norm(%s - %s)", part(s, "_corner_2"),
                                   part(s, "_corner_1")));
  for (int k = 1; k <= s->target->shape->corners; k++) {
    sum = pawl_sum(made, sum, polygon_part(s, x, k, width), NULL, NULL);
  }
  return pawl_say(made, "%s*(%s)", R, sum);
}

void pawl_write_touch_span(PawlMade* made, const PawlPartName* label, const PawlTouchUse* target,
                           const char* p) {
  Span s = {made, label, target};
  switch (target->shape->kind) {
    case PAWL_TOUCH_CAPSULE:
      put(&s, "span", capsule_span(&s, p));
      break;
    case PAWL_TOUCH_BOX:
      put(&s, "span", box_span(&s, p));
      break;
    case PAWL_TOUCH_CYLINDER:
      put(&s, "span", cylinder_span(&s, p));
      break;
    case PAWL_TOUCH_POLYGON:
      put(&s, "span", polygon_span(&s, p));
      break;
    default:
      put(&s, "span", pawl_say(made, "%s - %s", p, part(&s, "")));
  }
}
