// SPDX-License-Identifier: Apache-2.0
// With a part t of rates e with which a solution is known,
//
//   w_i + soft D_i (y_i - y'_i) + t e_i in the place of w_i,     from t = 1 to t = 0          (F50)
//
// Solutions are pieces of straight lines: places stay along each, and where one contact comes to
// the border of its place it has another one behind it.
#include "step/rub_path.h"

#include <math.h>
#include <string.h>

enum { ROWS = PAWL_RUB_ROWS, FEW_ROWS = 96, MOST_CHANGES = 48, MOST_PLACES = 300 };

static const double FARTHEST = 4.0;  // [1] of e: a path that has gone there is given up

PawlStatus pawl_rub_path_create(PawlStepper* s, const PawlRubMatrix* matrix, PawlRubPath* p,
                                PawlError* err) {
  int n = matrix->n, count = matrix->count;
  bool plane = false;
  for (int k = 0; k < count; k++) {
    plane |= matrix->contact[k].count < 2;
  }
  double** of_rows[] = {&p->e, &p->w, &p->dy, &p->dw};
  for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
    *of_rows[k] = PAWL_NEW(&s->arena, double, ROWS* count);
  }
  p->dx = PAWL_NEW(&s->arena, double, n);
  p->z = PAWL_NEW(&s->arena, double, plane ? (size_t)n* MOST_CHANGES : 0);
  p->held = PAWL_NEW(&s->arena, double, matrix->bilateral);
  p->contact = PAWL_NEW(&s->arena, int, MOST_CHANGES);
  p->v = PAWL_NEW(&s->arena, double, 2 * MOST_CHANGES);
  p->pivot = PAWL_NEW(&s->arena, double, MOST_CHANGES);
  p->begun = PAWL_NEW(&s->arena, PawlRubState, count);
  return s->arena.failed ? pawl_fail_memory(err) : PAWL_OK;
}

bool pawl_rub_path_suits(const PawlRubProblem* q) {
  bool plane = ROWS * q->count > FEW_ROWS;
  for (int a = 0; a < q->count && plane; a++) {
    plane = q->matrix->contact[q->list[a]].count < 2;
  }
  return plane;
}

// ---- the direction ------------------------------------------------------------------------------
static bool rubs(const PawlRubContact* c) {
  return c->count > 0 && c->mu > 0.0;
}

// What row i of a contact answers to its rate where it holds.                              (T10)
static double hardness(const PawlRubProblem* q, int k, int i) {
  return i <= q->matrix->contact[k].count ? 1.0 / (q->soft * q->own[ROWS * k + i]) : 0.0;
}

// What a contact answers to rates u in its place.
static void answer(const PawlRubProblem* q, int k, const PawlRubState* state, const double* u,
                   double* y) {
  const PawlRubContact* c = &q->matrix->contact[k];
  bool closed = state->place != PAWL_RUB_OPEN;
  y[0] = closed ? -hardness(q, k, 0) * u[0] : 0.0;
  y[1] = !closed || c->count == 0         ? 0.0
         : state->place == PAWL_RUB_STICK ? -hardness(q, k, 1) * u[1]
                                          : -c->mu * state->direction[0] * y[0];
  y[2] = 0.0;
}

// J dx + e dt of a contact, and zeros.
static void moving(const PawlRubPath* p, const PawlRubProblem* q, int k, double* u) {
  memset(u, 0, ROWS * sizeof *u);
  pawl_rub_matrix_rates(q->matrix, &q->matrix->exact, k, p->dx, u);
  for (int i = 0; i <= q->matrix->contact[k].count; i++) {
    u[i] += p->dt * p->e[ROWS * k + i];
  }
}

// dy and dw of a contact from dx and dt.
static void find_direction(PawlRubPath* p, const PawlRubProblem* q, const PawlRubState* state,
                           int k) {
  double u[ROWS], *dy = p->dy + ROWS * k;
  moving(p, q, k, u);
  answer(q, k, &state[k], u, dy);
  for (int i = 0; i < ROWS; i++) {
    p->dw[ROWS * k + i] = u[i] + q->soft * q->own[ROWS * k + i] * dy[i];
  }
}

// K dx = -dt sum_c B_c^T C_c e_c, with the factors in use.                                 (F51)
static void begin_direction(PawlRubPath* p, const PawlRubProblem* q, const PawlRubState* state) {
  PawlRubMatrix* m = q->matrix;
  memset(p->dx, 0, (size_t)m->n * sizeof(double));
  for (int a = 0; a < q->count; a++) {
    int k = q->list[a];
    double u[ROWS], y[ROWS];
    for (int i = 0; i < ROWS; i++) {
      u[i] = p->dt * p->e[ROWS * k + i];
    }
    answer(q, k, &state[k], u, y);
    pawl_rub_matrix_push(m, &m->exact, k, y, p->dx, NULL);
  }
  memset(p->held, 0, (size_t)m->bilateral * sizeof(double));
  pawl_rub_matrix_solve(m, p->dx, p->held);
  p->changes = 0;
}

// ---- borders ------------------------------------------------------------------------------------
typedef enum Kind { ENDS, CLOSES, OPENS, STOPS, SLIPS_AHEAD, SLIPS_BACK } Kind;

typedef struct Border {  // the next one: how far it is, and how fast what comes to zero there falls
  int contact;
  Kind kind;
  double way, slope;
} Border;

static void meet(Border* b, int k, Kind kind, double value, double slope) {
  double way = slope < 0.0 ? fmax(value, 0.0) / -slope : INFINITY;
  if (way < b->way || (way == b->way && slope < b->slope)) {
    *b = (Border){k, kind, way, slope};
  }
}

// The direction of all contacts, and the border that it meets.
static Border find_border(PawlRubPath* p, const PawlRubSets* sets, const PawlRubProblem* q,
                          const PawlRubState* state) {
  Border b = {-1, ENDS, p->dt < 0.0 ? p->t : INFINITY, 0.0};
  for (int a = 0; a < q->count; a++) {
    int k = q->list[a], at = ROWS * k;
    find_direction(p, q, state, k);
    const PawlRubContact* c = &q->matrix->contact[k];
    const double *y = sets->y + at, *w = sets->w + at, *dy = p->dy + at, *dw = p->dw + at;
    double root = sqrt(q->own[at]), d = state[k].direction[0];
    if (state[k].place == PAWL_RUB_OPEN) {
      meet(&b, k, CLOSES, w[0] / root, dw[0] / root);
    } else if (state[k].place == PAWL_RUB_STICK && rubs(c)) {
      meet(&b, k, SLIPS_AHEAD, root * (c->mu * y[0] + y[1]), root * (c->mu * dy[0] + dy[1]));
      meet(&b, k, SLIPS_BACK, root * (c->mu * y[0] - y[1]), root * (c->mu * dy[0] - dy[1]));
    } else {
      meet(&b, k, OPENS, root * y[0], root * dy[0]);
      if (rubs(c)) {
        meet(&b, k, STOPS, d * w[1] / root, d * dw[1] / root);
      }
    }
  }
  return b;
}

static void advance(PawlRubPath* p, PawlRubSets* sets, const PawlRubProblem* q, double way) {
  p->t += way * p->dt;
  for (int a = 0; a < q->count; a++) {
    for (int at = ROWS * q->list[a]; at < ROWS * q->list[a] + ROWS; at++) {
      sets->y[at] += way * p->dy[at];
      sets->w[at] += way * p->dw[at];
    }
  }
}

// ---- behind a border ----------------------------------------------------------------------------
// The place behind it; d of the slip before or behind. K changes by B_c^T push v^T J_c.    (F52)
static double change_place(const PawlRubSets* sets, const PawlRubProblem* q, Border b,
                           PawlRubState* state, double* push, double* v) {
  const PawlRubContact* c = &q->matrix->contact[b.contact];
  double N = hardness(q, b.contact, 0), T = hardness(q, b.contact, 1), d = state->direction[0];
  bool closes = b.kind == CLOSES, slips = b.kind == SLIPS_AHEAD || b.kind == SLIPS_BACK;
  d = closes  ? (sets->w[ROWS * b.contact + 1] < 0.0 ? -1.0 : 1.0)
      : slips ? (b.kind == SLIPS_AHEAD ? 1.0 : -1.0)
              : d;
  if (closes || b.kind == OPENS) {
    push[0] = 1.0;
    push[1] = c->count > 0 ? -c->mu * d : 0.0;
    v[0] = closes ? N : -N;
    v[1] = 0.0;
  } else {
    push[0] = 0.0;
    push[1] = 1.0;
    v[0] = slips ? -c->mu * d * N : c->mu * d * N;
    v[1] = slips ? -T : T;
  }
  state->place = b.kind == OPENS                                ? PAWL_RUB_OPEN
                 : b.kind == STOPS || (closes && c->count == 0) ? PAWL_RUB_STICK
                                                                : PAWL_RUB_SLIP;
  state->direction[0] = state->place == PAWL_RUB_SLIP ? d : 0.0;
  return d;
}

static double along(const PawlRubPath* p, const PawlRubMatrix* m, int change, const double* x) {
  double u[ROWS] = {0.0, 0.0, 0.0};
  pawl_rub_matrix_rates(m, &m->exact, p->contact[change], x, u);
  return p->v[2 * change] * u[0] + p->v[2 * change + 1] * u[1];
}

// z = K^-1 B_c^T push, K that of the places before, and 1 + v^T z of the last change.
static void find_change(PawlRubPath* p, PawlRubMatrix* m, const double* push) {
  int last = p->changes;
  double* z = p->z + (size_t)last * (size_t)m->n;
  memset(z, 0, (size_t)m->n * sizeof *z);
  pawl_rub_matrix_push(m, &m->exact, p->contact[last], push, z, NULL);
  memset(p->held, 0, (size_t)m->bilateral * sizeof(double));
  pawl_rub_matrix_solve(m, z, p->held);
  for (int i = 0; i < last; i++) {
    const double* other = p->z + (size_t)i * (size_t)m->n;
    double by = along(p, m, i, z) / p->pivot[i];
    for (int j = 0; j < m->n; j++) {
      z[j] -= by * other[j];
    }
  }
  p->pivot[last] = 1.0 + along(p, m, last, z);
}

static void turn_back(PawlRubPath* p, int n) {
  p->dt = -p->dt;
  for (int j = 0; j < n; j++) {
    p->dx[j] = -p->dx[j];
  }
}

// The place and the direction behind a border: that which leads away from it.              (F52)
static bool cross(PawlRubPath* p, const PawlRubSets* sets, const PawlRubProblem* q, Border b,
                  PawlRubState* state) {
  int k = b.contact, last = p->changes, n = q->matrix->n;
  double push[ROWS] = {0.0, 0.0, 0.0}, u[ROWS], *v = p->v + 2 * last;
  double d = change_place(sets, q, b, &state[k], push, v);
  p->contact[last] = k;
  find_change(p, q->matrix, push);
  moving(p, q, k, u);
  double by = (v[0] * u[0] + v[1] * u[1]) / p->pivot[last];
  const double* z = p->z + (size_t)last * (size_t)n;
  for (int j = 0; j < n; j++) {
    p->dx[j] -= by * z[j];
  }
  p->changes++;
  find_direction(p, q, state, k);
  const double *dy = p->dy + ROWS * k, *dw = p->dw + ROWS * k;
  double away = b.kind == CLOSES  ? dy[0]
                : b.kind == OPENS ? dw[0]
                : b.kind == STOPS ? q->matrix->contact[k].mu * dy[0] + d * dy[1]
                                  : d * dw[1];
  if (away < 0.0) {
    turn_back(p, n);
  }
  return isfinite(by);
}

// ---- the path -----------------------------------------------------------------------------------
// With a solution of the level before, which is one here: e makes up for the difference.
static void begin(PawlRubPath* p, PawlRubSets* sets, const PawlRubProblem* q,
                  const PawlRubState* state) {
  size_t count = (size_t)q->matrix->count;
  p->t = 1.0;
  p->dt = -1.0;
  p->changes = MOST_CHANGES;
  memcpy(p->begun, state, count * sizeof *state);
  memcpy(sets->y, q->near, ROWS * count * sizeof(double));
  memcpy(sets->w, p->w, ROWS * count * sizeof(double));
}

static bool is_as_begun(const PawlRubPath* p, const PawlRubProblem* q, const PawlRubState* state) {
  bool same = true;
  for (int a = 0; a < q->count && same; a++) {
    const PawlRubState *now = &state[q->list[a]], *then = &p->begun[q->list[a]];
    same = now->place == then->place &&
           (now->place != PAWL_RUB_SLIP || now->direction[0] * then->direction[0] > 0.0);
  }
  return same;
}

int pawl_rub_path_solve(PawlRubPath* p, PawlRubSets* sets, PawlRubProblem* q, PawlRubState* state) {
  int places = 0;
  begin(p, sets, q, state);
  while (places < MOST_PLACES) {
    if (p->changes == MOST_CHANGES) {
      if (!pawl_rub_sets_factor(sets, q, state)) {
        return -1;
      }
      begin_direction(p, q, state);
    }
    double before = p->t;
    Border b = find_border(p, sets, q, state);
    if (!isfinite(b.way)) {
      return -1;
    }
    advance(p, sets, q, b.way);
    if (b.kind == ENDS) {
      p->places = places;
      return places;
    }
    bool closed = before > 1.0 && p->t <= 1.0 && is_as_begun(p, q, state);  // it is a ring
    if (closed || p->t > FARTHEST || !cross(p, sets, q, b, state)) {
      return -1;
    }
    places++;
  }
  return -1;
}
