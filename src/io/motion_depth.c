// SPDX-License-Identifier: Apache-2.0
// What hides what in a picture of space. Of two shapes that cover the same place the one that is
// nearer there is painted later: where one is flat, by the side of its plane on which the other
// lies; of balls and rods, by how near they are where they cross. Places are as they are seen: x to
// the right, y up, z towards the eye. Shapes that pierce each other are not cut.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "io/motion.h"

enum { ROUND = 24 };
static const double FLUSH = 0.25;                   // [px] within which two places are one
static const double THIN = 1.0, WIDE = 4.0;         // [px] half the width of lines, of marks
static const double SUN[3] = {0.267, -0.534, 0.8};  // from where light comes: as in reports
static const double DIM = 0.8, LIT = 0.25;          // [1] without its light, and by it

enum { UNDER, AMONG, OVER };  // surfaces; what hides each other; signs

typedef struct Solid {
  int level;
  bool good, flat;
  bool away;  // a side of a closed body that is not seen
  int count;
  double (*at)[3];
  double radius;
  double n[3];          // of a flat one, towards the eye; of a cylinder its axis
  bool ends;            // it is a cylinder
  double lo[2], hi[2];  // of its picture
  double depth;         // z of its middle
} Solid;

typedef struct Solids {
  int count;
  Solid* item;
  double (*points)[3];
  double flush;  // FLUSH as a length
} Solids;

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3]) {
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    out[i] = a[j] * b[k] - a[k] * b[j];
  }
}

// Makes its length 1; false where it has none.
static bool make_unit(double v[3]) {
  double size = sqrt(dot(v, v));
  for (int i = 0; i < 3; i++) {
    v[i] /= size;
  }
  return size > 0.0 && isfinite(size);
}

// ---- shapes as they are seen --------------------------------------------------------------------
static bool is_flat(const PawlShape* shape) {
  return shape->kind == PAWL_SHAPE_POLYGON ||
         (shape->kind == PAWL_SHAPE_DISC && shape->point_count > 1);
}

// Pins that are coloured by a mode are signs, as forces are.
static int level_of(const PawlShape* shape) {
  bool sign = shape->kind == PAWL_SHAPE_FORCE || (shape->kind == PAWL_SHAPE_JOINT && shape->of);
  return shape->kind == PAWL_SHAPE_SURFACE ? UNDER : sign ? OVER : AMONG;
}

static int count_of(const PawlShape* shape) {
  switch (shape->kind) {
    case PAWL_SHAPE_DISC:
      return is_flat(shape) ? ROUND : 1;
    case PAWL_SHAPE_SURFACE:
    case PAWL_SHAPE_FORCE:
    case PAWL_SHAPE_TRACE:
    case PAWL_SHAPE_TEXT:
    case PAWL_SHAPE_GRAVITY:
      return 0;
    default:
      return shape->point_count;
  }
}

static double half_width(const PawlMotion* m, int frame, const PawlShape* shape) {
  bool mark = shape->kind == PAWL_SHAPE_JOINT || shape->kind == PAWL_SHAPE_SPRING;
  double least = (mark ? WIDE : THIN) / m->scale;
  double radius = shape->radius == PAWL_NO_NODE || is_flat(shape)
                      ? 0.0
                      : fabs(pawl_motion_value(m, frame, shape->radius));
  return is_flat(shape) ? 0.0 : radius > least ? radius : least;
}

// By the sum of the triangles; towards the eye.
static bool find_normal(int count, double (*at)[3], double n[3]) {
  memset(n, 0, 3 * sizeof *n);
  for (int k = 1; k + 1 < count; k++) {
    double a[3], b[3], c[3];
    for (int i = 0; i < 3; i++) {
      a[i] = at[k][i] - at[0][i];
      b[i] = at[k + 1][i] - at[0][i];
    }
    cross(a, b, c);
    for (int i = 0; i < 3; i++) {
      n[i] += c[i];
    }
  }
  bool good = make_unit(n);
  for (int i = 0, away = n[2] < 0.0; away && i < 3; i++) {
    n[i] = -n[i];
  }
  return good;
}

static bool place_disc(const PawlMotion* m, int frame, const PawlShape* shape, double (*at)[3]) {
  double centre[3], normal[3], u[3], v[3];
  double radius = pawl_motion_value(m, frame, shape->radius);
  bool good = pawl_motion_seen(m, frame, shape->points[0], centre) &&
              pawl_motion_seen(m, frame, shape->points[1], normal) && make_unit(normal);
  pawl_motion_across(normal, u, v);
  for (int k = 0; k < ROUND; k++) {
    double angle = 6.283185307179586 * k / ROUND;
    for (int i = 0; i < 3; i++) {
      at[k][i] = centre[i] + radius * (cos(angle) * u[i] + sin(angle) * v[i]);
    }
  }
  return good && isfinite(radius);
}

static void measure(Solid* s) {
  for (int i = 0; i < 2; i++) {
    s->lo[i] = INFINITY;
    s->hi[i] = -INFINITY;
    for (int k = 0; k < s->count; k++) {
      s->lo[i] = fmin(s->lo[i], s->at[k][i] - s->radius);
      s->hi[i] = fmax(s->hi[i], s->at[k][i] + s->radius);
    }
  }
  s->depth = 0.0;
  for (int k = 0; k < s->count; k++) {
    s->depth += s->at[k][2] / s->count;
  }
}

static void look_at(const PawlMotion* m, int frame, const PawlShape* shape, Solid* s) {
  s->good = s->count > 0;
  if (shape->kind == PAWL_SHAPE_DISC && is_flat(shape)) {
    s->good = place_disc(m, frame, shape, s->at);
  } else {
    for (int k = 0; k < s->count; k++) {
      s->good = pawl_motion_seen(m, frame, shape->points[k], s->at[k]) && s->good;
    }
  }
  s->radius = half_width(m, frame, shape);
  s->good = s->good && isfinite(s->radius);
  s->flat = is_flat(shape) && s->good && find_normal(s->count, s->at, s->n);
  s->ends = shape->kind == PAWL_SHAPE_CYLINDER && s->good &&
            pawl_motion_axis(m, frame, shape, s->n) && make_unit(s->n);
  measure(s);
}

static double above(const Solid* flat, const double p[3]) {
  double d[3] = {p[0] - flat->at[0][0], p[1] - flat->at[0][1], p[2] - flat->at[0][2]};
  return dot(flat->n, d);
}

// All of its body is before it.
static bool looks_away(const PawlMotion* m, const Solids* all, int side) {
  bool away = all->item[side].flat && m->body[side] >= 0;
  for (int s = 0; away && s < all->count; s++) {
    const Solid* other = &all->item[s];
    for (int k = 0; away && m->body[s] == m->body[side] && k < other->count; k++) {
      away = other->good && above(&all->item[side], other->at[k]) >= -all->flush;
    }
  }
  return away;
}

static void look_at_frame(const PawlMotion* m, int frame, Solids* all) {
  for (int s = 0; s < all->count; s++) {
    look_at(m, frame, &m->model->shapes[s], &all->item[s]);
  }
  for (int s = 0; s < all->count; s++) {
    all->item[s].away = looks_away(m, all, s);
  }
}

static void free_solids(Solids* all) {
  pawl_free(all->item);
  pawl_free(all->points);
}

static bool make_solids(const PawlMotion* m, Solids* all) {
  size_t points = 1;
  *all = (Solids){.count = m->model->shape_count, .flush = FLUSH / m->scale};
  for (int s = 0; s < all->count; s++) {
    points += (size_t)count_of(&m->model->shapes[s]);
  }
  all->item = pawl_alloc((size_t)all->count, sizeof *all->item);
  all->points = pawl_alloc(points, sizeof *all->points);
  if (!all->item || !all->points) {
    free_solids(all);
    return false;
  }
  points = 0;
  for (int s = 0; s < all->count; s++) {
    const PawlShape* shape = &m->model->shapes[s];
    all->item[s] =
        (Solid){.level = level_of(shape), .count = count_of(shape), .at = all->points + points};
    points += (size_t)all->item[s].count;
  }
  return true;
}

// ---- of two shapes ------------------------------------------------------------------------------
static void spread(const Solid* s, double nx, double ny, double* lo, double* hi) {
  *lo = INFINITY;
  *hi = -INFINITY;
  for (int k = 0; k < s->count; k++) {
    double x = nx * s->at[k][0] + ny * s->at[k][1];
    *lo = fmin(*lo, x - s->radius);
    *hi = fmax(*hi, x + s->radius);
  }
}

// A line along an edge of `a` has the pictures on its two sides.
static bool parts_at_edge(const Solid* a, const Solid* b, double flush) {
  for (int k = 0; k < a->count; k++) {
    const double *p = a->at[k], *q = a->at[(k + 1) % a->count];
    double ex = q[0] - p[0], ey = q[1] - p[1], size = hypot(ex, ey), lo[2], hi[2];
    if (size > flush) {
      spread(a, -ey / size, ex / size, &lo[0], &hi[0]);
      spread(b, -ey / size, ex / size, &lo[1], &hi[1]);
      if (lo[1] > hi[0] - flush || lo[0] > hi[1] - flush) {
        return true;
      }
    }
  }
  return false;
}

static bool cover(const Solid* a, const Solid* b, double flush) {
  for (int i = 0; i < 2; i++) {
    if (a->lo[i] > b->hi[i] - flush || b->lo[i] > a->hi[i] - flush) {
      return false;
    }
  }
  return !parts_at_edge(a, b, flush) && !parts_at_edge(b, a, flush);
}

enum { BACK = -1, WITHIN = 0, FRONT = 1, ACROSS = 2 };

static int side_of(const Solid* flat, const Solid* other, double flush) {
  double lo = INFINITY, hi = -INFINITY;
  for (int k = 0; k < other->count; k++) {
    double d = above(flat, other->at[k]);
    lo = fmin(lo, d);
    hi = fmax(hi, d);
  }
  return lo < -flush ? (hi > flush ? ACROSS : BACK) : hi > flush ? FRONT : WITHIN;
}

static int sign_of(double x) {
  return x < 0.0 ? -1 : 1;
}

// The part of a line from p to q, in [0, 1], that has a flat shape before or behind it.
static double covered(const Solid* flat, const double p[3], const double q[3], double* middle) {
  double area = 0.0, from = 0.0, to = 1.0;
  for (int k = 0; k < flat->count; k++) {
    const double *a = flat->at[k], *b = flat->at[(k + 1) % flat->count];
    area += a[0] * b[1] - a[1] * b[0];
  }
  for (int k = 0; k < flat->count; k++) {
    const double *a = flat->at[k], *b = flat->at[(k + 1) % flat->count];
    double ex = sign_of(area) * (b[0] - a[0]), ey = sign_of(area) * (b[1] - a[1]);
    double inside = ex * (p[1] - a[1]) - ey * (p[0] - a[0]);
    double more = ex * (q[1] - p[1]) - ey * (q[0] - p[0]);
    if (more > 0.0) {
      from = fmax(from, -inside / more);
    } else if (more < 0.0) {
      to = fmin(to, -inside / more);
    } else if (inside < 0.0) {
      to = 0.0;
    }
  }
  *middle = 0.5 * (from + to);
  return fmax(0.0, to - from);
}

// How far a line, or the outline of a flat shape, that goes through the plane of another is before
// it, where that covers it.
static double mostly_above(const Solid* flat, const Solid* line) {
  double sum = 0.0;
  for (int k = 0; k + (line->flat ? 0 : 1) < line->count; k++) {
    const double *p = line->at[k], *q = line->at[(k + 1) % line->count];
    double middle, part = covered(flat, p, q, &middle);
    double d = above(flat, p) + middle * (above(flat, q) - above(flat, p));
    sum += d * part * hypot(q[0] - p[0], q[1] - p[1]);
  }
  return sum;
}

// 1: `b`, the later of the list, hides `a`; -1: `a` hides `b`; 0: neither need be first.
static int by_planes(const Solid* a, const Solid* b, double flush) {
  int first = side_of(a, b, flush), second = side_of(b, a, flush);
  int hides = (first == FRONT) + (second == BACK), hidden = (first == BACK) + (second == FRONT);
  if (hides + hidden > 0) {
    return (hides > hidden) - (hides < hidden);
  }
  return first == WITHIN || second == WITHIN ? 1 : sign_of(mostly_above(a, b) - mostly_above(b, a));
}

static int by_plane(const Solid* flat, const Solid* line, double flush) {
  int side = side_of(flat, line, flush);
  return side == ACROSS ? sign_of(mostly_above(flat, line)) : side;
}

// The places of two lines that are nearest to each other in the picture, as parts of the lines.
static double nearest(const double a[3], const double b[3], const double c[3], const double d[3],
                      double* s, double* t) {
  double ux = b[0] - a[0], uy = b[1] - a[1], vx = d[0] - c[0], vy = d[1] - c[1];
  double wx = c[0] - a[0], wy = c[1] - a[1], uu = ux * ux + uy * uy, vv = vx * vx + vy * vy;
  double uv = ux * vx + uy * vy, det = ux * vy - uy * vx;
  *s = det * det > 0.0 ? fmin(1.0, fmax(0.0, (wx * vy - wy * vx) / det)) : 0.0;
  for (int k = 0; k < 2; k++) {
    *t = vv > 0.0 ? fmin(1.0, fmax(0.0, (*s * uv - wx * vx - wy * vy) / vv)) : 0.0;
    *s = uu > 0.0 ? fmin(1.0, fmax(0.0, (*t * uv + wx * ux + wy * uy) / uu)) : 0.0;
  }
  return hypot(wx + *t * vx - *s * ux, wy + *t * vy - *s * uy);
}

static int by_crossing(const Solid* a, const Solid* b, double flush) {
  double least = INFINITY, ahead = 0.0;
  for (int i = 0; i < (a->count > 1 ? a->count - 1 : 1); i++) {
    for (int k = 0; k < (b->count > 1 ? b->count - 1 : 1); k++) {
      const double *p = a->at[i], *q = a->at[a->count > 1 ? i + 1 : i];
      const double *r = b->at[k], *u = b->at[b->count > 1 ? k + 1 : k];
      double s, t, apart = nearest(p, q, r, u, &s, &t);
      if (apart < least) {
        least = apart;
        ahead = r[2] + t * (u[2] - r[2]) - p[2] - s * (q[2] - p[2]);
      }
    }
  }
  if (least > a->radius + b->radius) {
    return 0;
  }
  if (fabs(ahead) <= flush && a->count > 1 && b->count > 1) {  // they meet there
    ahead = b->depth - a->depth;
  }
  return ahead < -flush ? -1 : 1;
}

// Whether all of the other that is not in a cylinder is before its near end, or behind its far one.
static int by_ends(const Solid* cylinder, const Solid* other, double flush) {
  double from = dot(cylinder->n, cylinder->at[0]), to = dot(cylinder->n, cylinder->at[1]);
  bool before = true, behind = true;
  for (int k = 0; k < other->count; k++) {
    const double* p = other->at[k];
    double x = dot(cylinder->n, p), d[3];
    for (int i = 0; i < 3; i++) {
      d[i] = p[i] - cylinder->at[0][i] - (x - from) * cylinder->n[i];
    }
    bool within = sqrt(dot(d, d)) <= cylinder->radius;
    before = before && (x >= fmax(from, to) - flush || (within && x > fmin(from, to)));
    behind = behind && (x <= fmin(from, to) + flush || (within && x < fmax(from, to)));
  }
  return before == behind ? WITHIN : before ? FRONT : BACK;
}

static int hides(const Solid* a, const Solid* b, double flush) {
  if (a->level != b->level) {
    return a->level < b->level ? 1 : -1;
  }
  if (!a->good || !b->good || a->away || b->away || !cover(a, b, flush)) {
    return 0;
  }
  int end = a->ends ? by_ends(a, b, flush) : WITHIN;
  end = end == WITHIN && b->ends ? -by_ends(b, a, flush) : end;
  if (end != WITHIN) {
    return end;
  }
  if (a->flat && b->flat) {
    return by_planes(a, b, flush);
  }
  if (a->flat) {
    return by_plane(a, b, flush) < 0 ? -1 : 1;
  }
  return b->flat ? (by_plane(b, a, flush) > 0 ? -1 : 1) : by_crossing(a, b, flush);
}

// ---- all of them --------------------------------------------------------------------------------
static bool is_sorted(const PawlMotion* m) {
  return m->model->spatial && m->model->shape_count <= PAWL_MOTION_SORTED;
}

// The first one left that hides nothing that is left; of a circle the farthest one.
static int next_of(const Solids* all, const int* order, const int* hidden, int from) {
  int farthest = from;
  for (int k = from; k < all->count; k++) {
    if (hidden[order[k]] == 0) {
      return k;
    }
    farthest = all->item[order[k]].depth < all->item[order[farthest]].depth ? k : farthest;
  }
  return farthest;
}

// over[a][b]: `a` hides `b`; hidden[a]: how many it hides that are left.
static void sort(const Solids* all, int* order, bool* over, int* hidden) {
  int n = all->count;
  for (int k = 0; k < n; k++) {
    order[k] = order[k] < 0 ? ~order[k] : order[k];
  }
  for (int a = 0; a < n; a++) {
    for (int b = a + 1; b < n; b++) {
      int later = hides(&all->item[a], &all->item[b], all->flush);
      over[b * n + a] = later > 0;
      over[a * n + b] = later < 0;
      hidden[b] += later > 0;
      hidden[a] += later < 0;
    }
  }
  for (int k = 0; k < n; k++) {
    int next = next_of(all, order, hidden, k), shape = order[next];
    memmove(order + k + 1, order + k, (size_t)(next - k) * sizeof *order);
    order[k] = shape;
    for (int a = 0; a < n; a++) {
      hidden[a] -= over[a * n + shape];
    }
  }
  for (int k = 0; k < n; k++) {
    order[k] = all->item[order[k]].away ? ~order[k] : order[k];
  }
}

bool pawl_motion_sort(const PawlMotion* m, int frame, int* order) {
  Solids all;
  if (!is_sorted(m)) {
    return true;
  }
  if (!make_solids(m, &all)) {
    return false;
  }
  size_t n = (size_t)all.count;
  bool* over = pawl_alloc(n * n, sizeof *over);
  int* hidden = pawl_alloc(n, sizeof *hidden);
  bool good = over && hidden;
  if (good) {
    look_at_frame(m, frame, &all);
    sort(&all, order, over, hidden);
  }
  pawl_free(over);
  pawl_free(hidden);
  free_solids(&all);
  return good;
}

static bool hides_one(const PawlMotion* m, const Solids* all, int still, const bool* late) {
  bool found = false;
  for (int s = 0; !found && s < all->count; s++) {
    const Solid *a = &all->item[still], *b = &all->item[s];
    bool moves = late ? late[s] : pawl_motion_moves(m, &m->model->shapes[s]);
    found = moves && s != still && a->level == AMONG && b->level == AMONG &&
            (still < s ? hides(a, b, all->flush) < 0 : hides(b, a, all->flush) > 0);
  }
  return found;
}

bool pawl_motion_late(const PawlMotion* m, bool* late) {
  Solids all;
  if (!is_sorted(m)) {
    return true;
  }
  if (!make_solids(m, &all)) {
    return false;
  }
  for (int frame = 0; frame < m->frames; frame++) {
    look_at_frame(m, frame, &all);
    for (int s = 0; s < all.count; s++) {
      late[s] =
          late[s] || (!pawl_motion_moves(m, &m->model->shapes[s]) && hides_one(m, &all, s, NULL));
    }
  }
  for (bool more = true; more;) {  // and what hides those
    more = false;
    for (int s = 0; s < all.count; s++) {
      if (!late[s] && !pawl_motion_moves(m, &m->model->shapes[s]) && hides_one(m, &all, s, late)) {
        late[s] = more = true;
      }
    }
  }
  free_solids(&all);
  return true;
}

// ---- light --------------------------------------------------------------------------------------
double pawl_motion_light(const PawlMotion* m, int frame, const PawlShape* shape, bool end) {
  double n[3], towards[3];
  bool good = false;
  if (m->model->spatial && shape->kind == PAWL_SHAPE_CYLINDER) {
    good = pawl_motion_axis(m, frame, shape, n) && make_unit(n);
    double side[3] = {-n[2] * n[0], -n[2] * n[1], 1.0 - n[2] * n[2]};
    if (good && !end) {
      memcpy(n, side, sizeof n);
      good = make_unit(n);
    }
  } else if (m->model->spatial && shape->kind == PAWL_SHAPE_DISC && is_flat(shape)) {
    good = pawl_motion_seen(m, frame, shape->points[1], n) && make_unit(n);
  } else if (m->model->spatial && shape->kind == PAWL_SHAPE_POLYGON) {
    double at[3][3];
    good = true;
    for (int k = 0; k < 3; k++) {
      good = pawl_motion_seen(m, frame, shape->points[k], at[k]) && good;
    }
    good = good && find_normal(3, at, n);
  }
  if (!good) {
    return 1.0;
  }
  pawl_motion_view(m, SUN, towards);
  return DIM + LIT * (n[2] < 0.0 ? -1.0 : 1.0) * dot(n, towards);
}
