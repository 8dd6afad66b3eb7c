// SPDX-License-Identifier: Apache-2.0
// Shapes as paths. At every instant a shape has the same commands, so that an animation can go from
// one to the next.
#include <float.h>
#include <math.h>

#include "io/motion.h"
#include "io/svg.h"

enum { COILS = 7, ROUND = 32 };
static const double SPRING_LEAST = 5.0, SPRING_MOST = 12.0, PIN = 3.5, HATCH = 7.0,
                    HATCH_STEP = 9.0;  // [px]
static const double HEAD = 7.0;        // [px] of an arrow

static void add_point(PawlText* out, const char* command, PawlMotionPoint p) {
  pawl_text_add(out, command);
  pawl_svg_length(out, p.x);
  pawl_text_add(out, " ");
  pawl_svg_length(out, p.y);
}

static void add_circle(PawlText* out, PawlMotionPoint centre, double radius) {
  add_point(out, "M", (PawlMotionPoint){centre.x - radius, centre.y});
  for (int k = 0; k < 2; k++) {
    pawl_text_add(out, "a");
    pawl_svg_length(out, radius);
    pawl_text_add(out, " ");
    pawl_svg_length(out, radius);
    pawl_text_add(out, " 0 1 0 ");
    pawl_svg_length(out, k ? -2.0 * radius : 2.0 * radius);
    pawl_text_add(out, " 0");
  }
  pawl_text_add(out, "z");
}

static bool add_line(const PawlMotion* m, int frame, const PawlShape* shape, PawlText* out,
                     bool closed) {
  for (int k = 0; k < shape->point_count; k++) {
    PawlMotionPoint p;
    if (!pawl_motion_point(m, frame, shape->points[k], &p)) {
      return false;
    }
    add_point(out, k ? "L" : "M", p);
  }
  pawl_text_add(out, closed ? "z" : "");
  return true;
}

// In the plane a circle; in space the circle about its normal, seen from where the eye is.
static bool add_disc(const PawlMotion* m, int frame, const PawlShape* shape, PawlText* out) {
  PawlMotionPoint p;
  double radius = pawl_motion_value(m, frame, shape->radius);
  bool good = pawl_motion_point(m, frame, shape->points[0], &p) && isfinite(radius);
  if (!good || !shape->spatial || shape->kind == PAWL_SHAPE_BALL || shape->point_count < 2) {
    if (good) {
      add_circle(out, p, fabs(radius) * m->scale);
    }
    return good;
  }
  double n[3], size = 0.0;
  for (int i = 0; i < 3; i++) {
    n[i] = pawl_motion_value(m, frame, shape->points[1][i]);
    size += n[i] * n[i];
  }
  return isfinite(size) && size > 0.0 &&
         pawl_motion_ring(m, p, (double[]){n[0] / sqrt(size), n[1] / sqrt(size), n[2] / sqrt(size)},
                          radius, ROUND, out);
}

bool pawl_motion_axis(const PawlMotion* m, int frame, const PawlShape* shape, double out[3]) {
  double a[3], b[3];
  bool good = pawl_motion_seen(m, frame, shape->points[0], a) &&
              pawl_motion_seen(m, frame, shape->points[1], b);
  for (int i = 0; i < 3; i++) {
    out[i] = b[2] < a[2] ? a[i] - b[i] : b[i] - a[i];
  }
  return good;
}

// Quarters of the circle about an end of a cylinder, from angle `from` pi/2 on.
static void add_quarters(const PawlMotion* m, PawlMotionPoint at, const double u[2],
                         const double v[2], double radius, int from, int to, PawlText* out) {
  static const double c[] = {1.0, 0.0, -1.0, 0.0}, s[] = {0.0, 1.0, 0.0, -1.0};
  static const double ARC = 0.5522847498;  // how far the handles of a quarter are from its ends
  for (int k = from; k < to; k++) {
    int i = k % 4, j = (k + 1) % 4;
    double x[] = {c[i], c[i] + ARC * c[j], c[j] + ARC * c[i], c[j]};
    double y[] = {s[i], s[i] + ARC * s[j], s[j] + ARC * s[i], s[j]};
    for (int p = k == from ? 0 : 1; p < 4; p++) {
      add_point(out,
                p == 0   ? (k == 0 ? "M" : "L")
                : p == 1 ? "C"
                         : " ",
                (PawlMotionPoint){at.x + radius * m->scale * (x[p] * u[0] + y[p] * v[0]),
                                  at.y - radius * m->scale * (x[p] * u[1] + y[p] * v[1])});
    }
  }
}

// u is across the axis and the line of sight, v across the axis and towards the near end.
static bool add_cylinder(const PawlMotion* m, int frame, const PawlShape* shape, bool end,
                         PawlText* out) {
  double n[3], u[2] = {1.0, 0.0}, v[2];
  double radius = pawl_motion_value(m, frame, shape->radius), a[3], b[3];
  PawlMotionPoint far, near;
  bool good = pawl_motion_axis(m, frame, shape, n) && isfinite(radius) &&
              pawl_motion_seen(m, frame, shape->points[0], a) &&
              pawl_motion_seen(m, frame, shape->points[1], b) &&
              pawl_motion_point(m, frame, shape->points[b[2] < a[2] ? 1 : 0], &far) &&
              pawl_motion_point(m, frame, shape->points[b[2] < a[2] ? 0 : 1], &near);
  double size = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), across = hypot(n[0], n[1]);
  if (!good || !(size > 0.0)) {
    return false;
  }
  if (across > 0.0) {
    u[0] = n[1] / across;
    u[1] = -n[0] / across;
  }
  v[0] = -u[1] * n[2] / size;  // u x n but for its part along the line of sight
  v[1] = u[0] * n[2] / size;
  if (v[0] * n[0] + v[1] * n[1] < 0.0) {
    v[0] = -v[0];
    v[1] = -v[1];
  }
  add_quarters(m, near, u, v, fabs(radius), 0, end ? 4 : 2, out);
  add_quarters(m, far, u, v, fabs(radius), 2, end ? 2 : 4, out);
  pawl_text_add(out, "z");
  return true;
}

// In the plane it is as wide all along.
static bool add_bar(const PawlMotion* m, int frame, const PawlShape* shape, PawlText* out) {
  PawlMotionPoint a, b;
  double radius = pawl_motion_value(m, frame, shape->radius);
  if (!pawl_motion_point(m, frame, shape->points[0], &a) ||
      !pawl_motion_point(m, frame, shape->points[1], &b) || !isfinite(radius)) {
    return false;
  }
  double length = fmax(hypot(b.x - a.x, b.y - a.y), DBL_MIN);
  double nx = -(b.y - a.y) / length * radius * m->scale,
         ny = (b.x - a.x) / length * radius * m->scale;
  add_point(out, "M", (PawlMotionPoint){a.x + nx, a.y + ny});
  add_point(out, "L", (PawlMotionPoint){b.x + nx, b.y + ny});
  add_point(out, "L", (PawlMotionPoint){b.x - nx, b.y - ny});
  add_point(out, "L", (PawlMotionPoint){a.x - nx, a.y - ny});
  pawl_text_add(out, "z");
  return true;
}

// A zigzag between two points, with a straight piece at both ends.
// Half as wide as its coils are apart, of the first instant, so that it does not grow as it
// stretches.
static double spring_width(const PawlMotion* m, const PawlShape* shape) {
  PawlMotionPoint a, b;
  bool good = pawl_motion_point(m, 0, shape->points[0], &a) &&
              pawl_motion_point(m, 0, shape->points[1], &b);
  double apart = good ? 0.76 * hypot(b.x - a.x, b.y - a.y) / COILS : 0.0;
  return fmin(fmax(0.5 * apart, SPRING_LEAST), SPRING_MOST);
}

static bool add_spring(const PawlMotion* m, int frame, const PawlShape* shape, PawlText* out) {
  PawlMotionPoint a, b;
  if (!pawl_motion_point(m, frame, shape->points[0], &a) ||
      !pawl_motion_point(m, frame, shape->points[1], &b)) {
    return false;
  }
  double length = fmax(hypot(b.x - a.x, b.y - a.y), DBL_MIN);
  double width = spring_width(m, shape);
  double nx = -(b.y - a.y) / length * width, ny = (b.x - a.x) / length * width;
  add_point(out, "M", a);
  for (int k = 0; k <= 2 * COILS; k++) {
    double part = 0.12 + 0.76 * k / (2 * COILS);
    double side = k == 0 || k == 2 * COILS ? 0.0 : k % 2 ? 1.0 : -1.0;
    add_point(out, "L",
              (PawlMotionPoint){a.x + part * (b.x - a.x) + side * nx,
                                a.y + part * (b.y - a.y) + side * ny});
  }
  add_point(out, "L", b);
  return true;
}

static void add_arrow(PawlText* out, PawlMotionPoint from, double dx, double dy) {
  double length = hypot(dx, dy), head = fmin(HEAD, 0.5 * length);
  PawlMotionPoint tip = {from.x + dx, from.y + dy};
  double ux = length > 0.0 ? dx / length : 0.0, uy = length > 0.0 ? dy / length : 0.0;
  add_point(out, "M", from);
  add_point(out, "L", tip);
  for (int side = -1; side <= 1; side += 2) {
    add_point(out, "M", tip);
    add_point(out, "L",
              (PawlMotionPoint){tip.x - head * (ux - 0.5 * side * uy),
                                tip.y - head * (uy + 0.5 * side * ux)});
  }
}

static bool add_force(const PawlMotion* m, int frame, const PawlShape* shape, PawlText* out) {
  PawlMotionPoint at;
  double dx, dy;
  if (!pawl_motion_point(m, frame, shape->points[0], &at)) {
    return false;
  }
  pawl_motion_direction(m, frame, shape->points[1], &dx, &dy);
  bool good = isfinite(dx) && isfinite(dy);
  add_arrow(out, at, good ? dx * m->force : 0.0, good ? dy * m->force : 0.0);
  return true;
}

// The line, and strokes on its right.
static bool add_ground(const PawlMotion* m, int frame, const PawlShape* shape, PawlText* out) {
  if (!add_line(m, frame, shape, out, false)) {
    return false;
  }
  double rest = 0.5 * HATCH_STEP;
  for (int k = 0; k + 1 < shape->point_count; k++) {
    PawlMotionPoint a, b;
    (void)pawl_motion_point(m, frame, shape->points[k], &a);
    (void)pawl_motion_point(m, frame, shape->points[k + 1], &b);
    double length = hypot(b.x - a.x, b.y - a.y), at = rest;
    double ux = length > 0.0 ? (b.x - a.x) / length : 0.0,
           uy = length > 0.0 ? (b.y - a.y) / length : 0.0;
    for (; at < length; at += HATCH_STEP) {
      PawlMotionPoint foot = {a.x + at * ux, a.y + at * uy};
      add_point(out, "M", foot);
      add_point(
          out, "L",
          (PawlMotionPoint){foot.x - 0.7 * HATCH * (uy + ux), foot.y + 0.7 * HATCH * (ux - uy)});
    }
    rest = at - length;
  }
  return true;
}

static bool add_surface(const PawlMotion* m, int frame, const PawlShape* shape, PawlText* out) {
  int row = shape->row_length > 0 ? shape->row_length : 1, rows = shape->point_count / row;
  for (int k = 0; k < shape->point_count; k++) {
    PawlMotionPoint p;
    if (!pawl_motion_point(m, frame, shape->points[k], &p)) {
      return false;
    }
    add_point(out, k % row ? "L" : "M", p);
  }
  for (int j = 0; j < row; j++) {
    for (int i = 0; i < rows; i++) {
      PawlMotionPoint p;
      (void)pawl_motion_point(m, frame, shape->points[i * row + j], &p);
      add_point(out, i ? "L" : "M", p);
    }
  }
  return true;
}

static bool add_trace(const PawlMotion* m, const PawlShape* shape, PawlText* out) {
  bool down = false;
  for (int k = 0; k < m->traced; k++) {
    PawlMotionPoint p;
    if (pawl_motion_point(m, m->frames + k, shape->points[0], &p)) {
      add_point(out, down ? "L" : "M", p);
      down = true;
    } else {
      down = false;
    }
  }
  return true;
}

// In the upper right corner.
static bool add_gravity(const PawlMotion* m, int frame, const PawlShape* shape, PawlText* out) {
  double dx, dy;
  pawl_motion_direction(m, frame, shape->points[0], &dx, &dy);
  double size = hypot(dx, dy);
  if (!(size > 0.0) || !isfinite(size)) {
    return false;
  }
  add_arrow(out, (PawlMotionPoint){m->width - 16.0 - 12.0 * dx / size, 24.0 - 12.0 * dy / size},
            24.0 * dx / size, 24.0 * dy / size);
  return true;
}

static bool add_shape(const PawlMotion* m, int frame, const PawlShape* shape, int layer,
                      PawlText* out) {
  PawlMotionPoint p;
  switch (shape->kind) {
    case PAWL_SHAPE_POLYGON:
      return add_line(m, frame, shape, out, true);
    case PAWL_SHAPE_LINE:
    case PAWL_SHAPE_LINK:
      return add_line(m, frame, shape, out, false);
    case PAWL_SHAPE_DISC:
    case PAWL_SHAPE_BALL:
      return add_disc(m, frame, shape, out);
    case PAWL_SHAPE_CYLINDER:
      return m->model->spatial ? add_cylinder(m, frame, shape, layer == 0, out)
                               : add_bar(m, frame, shape, out);
    case PAWL_SHAPE_SPRING:
      return add_spring(m, frame, shape, out);
    case PAWL_SHAPE_GROUND:
      return add_ground(m, frame, shape, out);
    case PAWL_SHAPE_JOINT:
      if (pawl_motion_point(m, frame, shape->points[0], &p)) {
        add_circle(out, p, PIN);
        return true;
      }
      return false;
    case PAWL_SHAPE_FORCE:
      return add_force(m, frame, shape, out);
    case PAWL_SHAPE_TRACE:
      return add_trace(m, shape, out);
    case PAWL_SHAPE_SURFACE:
      return add_surface(m, frame, shape, out);
    case PAWL_SHAPE_GRAVITY:
      return add_gravity(m, frame, shape, out);
    case PAWL_SHAPE_TEXT:
      return false;
  }
  return false;
}

int pawl_motion_layers(const PawlMotion* m, const PawlShape* shape) {
  bool ends = shape->kind == PAWL_SHAPE_CYLINDER && m->model->spatial;
  return ends || shape->kind == PAWL_SHAPE_LINK ? 2 : 1;
}

bool pawl_motion_path(const PawlMotion* m, int frame, const PawlShape* shape, int layer,
                      PawlText* out) {
  size_t before = out->length;
  bool good = add_shape(m, frame, shape, layer, out);
  if (!good) {
    out->length = before;
  }
  return good;
}
