// SPDX-License-Identifier: Apache-2.0
// Polygons that enclose a body: each of their edges is one of another of them, by the same
// expressions. Where all of the body is on the eye's side of such a side, it is not seen.
#include <string.h>

#include "io/motion.h"

static bool is_side(const PawlShape* shape) {
  return shape->kind == PAWL_SHAPE_POLYGON && shape->spatial;
}

static bool same(const PawlShape* a, int i, const PawlShape* b, int k) {
  return memcmp(a->points[i % a->point_count], b->points[k % b->point_count],
                sizeof a->points[0]) == 0;
}

static bool has_edge(const PawlShape* other, const PawlShape* shape, int edge) {
  bool found = false;
  for (int k = 0; !found && k < other->point_count; k++) {
    found = (same(shape, edge, other, k) && same(shape, edge + 1, other, k + 1)) ||
            (same(shape, edge, other, k + 1) && same(shape, edge + 1, other, k));
  }
  return found;
}

static void rename_body(const PawlMotion* m, int* body, int from, int to) {
  for (int s = 0; from >= 0 && s < m->model->shape_count; s++) {
    body[s] = body[s] == from ? to : body[s];
  }
}

// The side that shares an edge with this one; -1 without.
static int neighbour(const PawlMotion* m, const int* body, int side, int edge) {
  const PawlShape* shapes = m->model->shapes;
  for (int s = 0; s < m->model->shape_count; s++) {
    if (s != side && body[s] >= 0 && has_edge(&shapes[s], &shapes[side], edge)) {
      return s;
    }
  }
  return -1;
}

void pawl_motion_bodies(const PawlMotion* m, int* body) {
  for (int s = 0; s < m->model->shape_count; s++) {
    body[s] = is_side(&m->model->shapes[s]) ? s : -1;
  }
  for (int s = 0; s < m->model->shape_count; s++) {
    for (int edge = 0; body[s] >= 0 && edge < m->model->shapes[s].point_count; edge++) {
      int other = neighbour(m, body, s, edge);
      rename_body(m, body, body[s], other < 0 ? -1 : body[other]);
    }
  }
}
