// SPDX-License-Identifier: Apache-2.0
// Columns and pyramids of discs with friction, for the tests of heaps.
#pragma once

#include "step/contacts.h"

// B discs on the ground, one fewer in each row above, s apart: 2.1 r or 2 r, where neighbours touch
// and contacts depend on each other. Fallen apart by `drop` a row.
#define PYRAMID(sides)                                                                   \
  "model: pyramid\n"                                                                     \
  "parameters: {B: 3, r: 0.1, mu: 0.8, s: 2.1*r, drop: 0, d: 'sqrt(4*r^2 - s^2/4)'}\n"   \
  "coordinates:\n"                                                                       \
  "  x[k=1..B,i=1..B-k+1]: {start: s*(i + (k-1)/2)}\n"                                   \
  "  y[k=1..B,i=1..B-k+1]: {start: r + d*(k-1) + drop*k}\n"                              \
  "  p[k=1..B,i=1..B-k+1]:\n"                                                            \
  "define:\n"                                                                            \
  "  u[k=2..B,i=1..B-k+1,j=0..1]: x[k,i] - x[k-1,i+j]\n"                                 \
  "  v[k=2..B,i=1..B-k+1,j=0..1]: y[k,i] - y[k-1,i+j]\n"                                 \
  "  m[k=1..B-1,i=1..B-k]: x[k,i+1] - x[k,i]\n"                                          \
  "  n[k=1..B-1,i=1..B-k]: y[k,i+1] - y[k,i]\n"                                          \
  "mass:\n"                                                                              \
  "  x[k=1..B,i=1..B-k+1]: 1\n"                                                          \
  "  y[k=1..B,i=1..B-k+1]: 1\n"                                                          \
  "  p[k=1..B,i=1..B-k+1]: r^2/2\n"                                                      \
  "potential: {for k=1..B: {for i=1..B-k+1: '9.81*y[k,i]'}}\n"                           \
  "contacts:\n"                                                                          \
  "  ground[i=1..B]: {gap: 'y[1,i] - r', friction: mu, slip: \"x[1,i]' + r*p[1,i]'\"}\n" \
  "  pair[k=2..B,i=1..B-k+1,j=0..1]:\n"                                                  \
  "    gap: hypot(u[k,i,j], v[k,i,j]) - 2*r\n"                                           \
  "    friction: mu\n"                                                                   \
  "    slip: \"(v[k,i,j]*u[k,i,j]' - u[k,i,j]*v[k,i,j]')/hypot(u[k,i,j], v[k,i,j]) +\n"  \
  "      r*(p[k,i]' + p[k-1,i+j]')\"\n" sides

static const char APART[] = PYRAMID("");
static const char TOUCHING[] = PYRAMID(
    "  side[k=1..B-1,i=1..B-k]:\n"
    "    gap: hypot(m[k,i], n[k,i]) - 2*r\n"
    "    friction: mu\n"
    "    slip: \"(n[k,i]*m[k,i]' - m[k,i]*n[k,i]')/hypot(m[k,i], n[k,i]) +\n"
    "      r*(p[k,i]' + p[k,i+1]')\"\n");

static const char DISCS[] =
    "model: discs\n"
    "parameters: {N: 20, r: 0.1, mu: 0.5, drop: 0}\n"
    "coordinates: {'x[i=1..N]': , 'y[i=1..N]': {start: (2*i - 1)*r + drop*i}, 'p[i=1..N]': }\n"
    "mass: {'x[i=1..N]': 1, 'y[i=1..N]': 1, 'p[i=1..N]': r^2/2}\n"
    "potential: {for i=1..N: '9.81*y[i]'}\n"
    "contacts:\n"
    "  ground: {gap: 'y[1] - r', friction: mu, slip: \"x[1]' + r*p[1]'\"}\n"
    "  pair[i=2..N]: {gap: 'y[i] - y[i-1] - 2*r', friction: mu, "
    "slip: \"x[i]' - x[i-1]' + r*(p[i]' + p[i-1]')\"}\n";

// A model with parameters set from outside.
static inline Motion heap(const char* text, int count, const char* const* settings) {
  Motion m = {0};
  NEED(pawl_model_parse(text, strlen(text), "heap", count, settings, &m.model, &m.err), &m.err);
  motion_derive(&m);
  return m;
}

// The least gap of all contacts.
static inline double least_gap(Motion* m, PawlEval* eval) {
  PawlPoint point = state_point(m->state);
  double least = INFINITY;
  NEED(pawl_eval_run(eval, &point, &m->err), &m->err);
  for (int i = 0; i < m->n.rows; i++) {
    bool contact = pawl_system_row_kind(m->system, i) == PAWL_ROW_CONTACT;
    least = contact ? fmin(least, pawl_eval_values(eval)->g[i]) : least;
  }
  return least;
}

// It stays where it is: no gap below -1e-9, no coordinate moves by more than `moved`.
static inline void check_rests(Motion* m, const char* method, double h, int steps, double moved) {
  PawlEval* eval = NULL;
  double* start = calloc((size_t)(m->n.q + m->n.v), sizeof(double));
  pawl_system_start(m->system, start, start + m->n.q);
  NEED(pawl_eval_create(m->system, PAWL_POSITION, &eval, &m->err), &m->err);
  motion_start(m, method);
  for (int k = 0; k < steps; k++) {
    motion_step(m, h);
    if (k % 100 == 99 || steps <= 100) {
      assert_true(least_gap(m, eval) >= -1e-9);
    }
  }
  for (int j = 0; j < m->n.q; j++) {
    CHECK_NEAR(m->state->q[j], start[j], moved);
    CHECK_NEAR(m->state->v[j], 0.0, 1e-10);
  }
  pawl_eval_destroy(eval);
  free(start);
}
