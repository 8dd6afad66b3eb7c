// SPDX-License-Identifier: Apache-2.0
// Checks of modes and surfaces along a run; see pawl/verify.h.
#include "pawl/verify.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "linalg/span.h"
#include "linalg/sparse.h"
#include "model/model.h"
#include "switch/dynamics.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

struct PawlVerifier {
  PawlArena arena;
  const PawlSystem* system;
  PawlEval* eval;      // g, G
  PawlEval* surfaces;  // z, z_rate
  double *span, *row, *unit, *zero, *still, *moving, *sizes;
  double reach;                // the largest coordinate seen
  double *low, *high, *place;  // of each coordinate, then of time: what was seen; a point
  int* inside;                 // points and states in each region
  unsigned char* active;
};

PawlStatus pawl_verifier_create(const PawlSystem* system, PawlVerifier** out, PawlError* err) {
  *out = NULL;
  PawlVerifier* v = pawl_alloc(1, sizeof *v);
  if (!v) {
    return pawl_fail_memory(err);
  }
  PawlSizes n = system->sizes;
  size_t most = (size_t)(n.rows + 1) * (size_t)n.v, z = (size_t)pawl_system_surface_count(system);
  v->system = system;
  v->span = PAWL_NEW(&v->arena, double, most);
  v->row = PAWL_NEW(&v->arena, double, n.v);
  v->unit = PAWL_NEW(&v->arena, double, n.v);
  v->zero = PAWL_NEW(&v->arena, double, n.v);
  v->still = PAWL_NEW(&v->arena, double, z);
  v->moving = PAWL_NEW(&v->arena, double, z*(size_t)n.v);
  v->sizes = PAWL_NEW(&v->arena, double, n.rows);
  v->active = PAWL_NEW(&v->arena, unsigned char, n.rows);
  v->low = PAWL_NEW(&v->arena, double, n.q + 1);
  v->high = PAWL_NEW(&v->arena, double, n.q + 1);
  v->place = PAWL_NEW(&v->arena, double, n.q + 1);
  v->inside = PAWL_NEW(&v->arena, int, system->guard_count);
  PawlStatus status = v->arena.failed ? pawl_fail_memory(err) : PAWL_OK;
  for (int j = 0; status == PAWL_OK && j <= n.q; j++) {
    v->low[j] = INFINITY;
    v->high[j] = -INFINITY;
  }
  status = status ? status : pawl_eval_create(system, PAWL_POSITION | PAWL_GRADIENT, &v->eval, err);
  status = status ? status : pawl_eval_create(system, PAWL_SWITCHING, &v->surfaces, err);
  if (status != PAWL_OK) {
    pawl_verifier_destroy(v);
    return status;
  }
  *out = v;
  return PAWL_OK;
}

void pawl_verifier_destroy(PawlVerifier* v) {
  if (v) {
    pawl_eval_destroy(v->eval);
    pawl_eval_destroy(v->surfaces);
    pawl_arena_free(&v->arena);
    pawl_free(v);
  }
}

static void put_point(const PawlVerifier* v, double t, const double* q, PawlText* text) {
  enum { MOST_SHOWN = 6 };
  pawl_text_printf(text, "at t = %.6g", t);
  for (int k = 0; k < v->system->sizes.q && k < MOST_SHOWN; k++) {
    pawl_text_printf(text, ", %s = %.6g", pawl_system_coordinate_name(v->system, k), q[k]);
  }
}

static PawlStatus violated(const PawlVerifier* v, int c, const char* what, double t,
                           const double* q, PawlError* err) {
  const PawlModel* model = v->system->model;
  const PawlConstraint* constraint = &model->constraints[c];
  PawlText point = {0};
  put_point(v, t, q, &point);
  pawl_fail(err, PAWL_ERROR_MODEL, "%s:%d:%d: constraint '%s': %s %s", model->file,
            constraint->source.line, constraint->source.column, constraint->name, what,
            point.s ? point.s : "");
  pawl_text_free(&point);
  return PAWL_ERROR_MODEL;
}

// Each constraint is in one of its regions at (t, q), with z there.
static PawlStatus verify_place(PawlVerifier* v, double t, const double* q, const double* z,
                               const char* gap, PawlError* err) {
  const PawlSystem* system = v->system;
  for (int k = 0; k < system->guard_count;) {
    int c = system->guards[k].constraint, inside = 0;
    bool on_surface = false;
    for (; k < system->guard_count && system->guards[k].constraint == c; k++) {
      on_surface |= fabs(z[k]) <= PAWL_ON_SURFACE * v->reach;
      inside += z[k] > 0.0;
      v->inside[k] += z[k] > 0.0;
    }
    if (inside != 1 && !on_surface) {
      return violated(v, c, inside == 0 ? gap : "regions overlap", t, q, err);
    }
  }
  return PAWL_OK;
}

static void widen(PawlVerifier* v, int j, double x) {
  v->low[j] = fmin(v->low[j], x);
  v->high[j] = fmax(v->high[j], x);
}

PawlStatus pawl_verify_regions(PawlVerifier* v, const PawlState* state, PawlError* err) {
  const PawlSystem* system = v->system;
  PawlPoint point = {state->t, state->q, state->v, NULL, NULL, state->modes, state->held};
  PAWL_TRY(pawl_eval_run(v->surfaces, &point, err));
  v->reach = fmax(v->reach, pawl_dynamics_largest(system->sizes.q, state->q));
  for (int j = 0; j < system->sizes.q; j++) {
    widen(v, j, state->q[j]);
  }
  widen(v, system->sizes.q, state->t);
  return verify_place(v, state->t, state->q, pawl_eval_values(v->surfaces)->z,
                      "no region (where) holds the motion", err);
}

// ---- around the motion --------------------------------------------------------------------------
enum { POINTS_AROUND = 4096 };

// The root > 1 of x^(d + 1) = x + 1. Multiples of its powers -1, ..., -d, without their whole
// parts, fill a box of d directions evenly (the golden ratio for d = 1).
static double even_root(int d) {
  double x = 2.0;
  for (int k = 0; k < 64; k++) {
    x = pow(1.0 + x, 1.0 / (d + 1));
  }
  return x;
}

static const double LEAST_WIDTH = 0.1;  // of the widest: a coordinate that hardly moves

// The box of places: the motion with its own width on either side.
static void open_box(PawlVerifier* v) {
  int n = v->system->sizes.q;
  double widest = 0.0;
  for (int j = 0; j < n; j++) {
    widest = fmax(widest, v->high[j] - v->low[j]);
  }
  for (int j = 0; j < n; j++) {
    double width = fmax(v->high[j] - v->low[j], LEAST_WIDTH * widest);
    v->low[j] -= width;
    v->high[j] += width;
  }
}

// Point k of the box, then a time that the run has seen.
static void place_point(PawlVerifier* v, double root, int k) {
  double power = 1.0, whole;
  for (int j = 0; j <= v->system->sizes.q; j++) {
    power /= root;
    v->place[j] = v->low[j] + (v->high[j] - v->low[j]) * modf(0.5 + k * power, &whole);
  }
  pawl_system_tidy(v->system, v->place);
}

static PawlStatus empty_region(const PawlVerifier* v, int guard, PawlError* err) {
  const PawlModel* model = v->system->model;
  const PawlConstraint* c = &model->constraints[v->system->guards[guard].constraint];
  return pawl_fail(err, PAWL_ERROR_MODEL,
                   "%s:%d:%d: constraint '%s': neither the motion nor any of %d places around it "
                   "is in region '%s'; is it empty, or is the run too short?",
                   model->file, c->source.line, c->source.column, c->name, (int)POINTS_AROUND,
                   c->modes[v->system->guards[guard].mode].name);
}

PawlStatus pawl_verify_around(PawlVerifier* v, const PawlState* state, PawlError* err) {
  const PawlSystem* s = v->system;
  int n = s->sizes.q;
  if (s->guard_count == 0 || s->turn_count + s->kink_count + s->timed_count > 0) {
    return PAWL_OK;
  }
  double root = even_root(n + 1);
  PawlError outside;
  open_box(v);
  for (int k = 1; k <= POINTS_AROUND; k++) {
    place_point(v, root, k);
    PawlPoint point = {v->place[n], v->place, v->zero, NULL, NULL, state->modes, state->held};
    // Outside of the domain of an expression is no place for the motion.
    if (pawl_eval_run(v->surfaces, &point, &outside) == PAWL_OK) {
      PAWL_TRY(verify_place(v, v->place[n], v->place, pawl_eval_values(v->surfaces)->z,
                            "away from the motion no region (where) holds the place", err));
    }
  }
  for (int k = 0; k < s->guard_count; k++) {
    if (v->inside[k] == 0) {
      return empty_region(v, k, err);
    }
  }
  return PAWL_OK;
}

// What a coordinate counts with at least: where all are next to zero, a part of the way that the
// motion could have come since the start.
static double least_of(const PawlVerifier* v, const PawlInstant* i) {
  PawlSizes n = v->system->sizes;
  double fastest = i->v_before ? pawl_dynamics_largest(pawl_moving(n), i->v_before) : 0.0;
  fastest = i->v_after ? fmax(fastest, pawl_dynamics_largest(pawl_moving(n), i->v_after)) : fastest;
  double reach = fmax(v->reach, pawl_dynamics_largest(n.q, i->q)) + fabs(i->t) * fastest;
  return reach > 0.0 ? PAWL_SMALLEST_PART * reach : PAWL_SMALLEST_SIZE;
}

// The largest |g_i| of constraint c in `modes` relative to the terms of its row.
static PawlStatus branch_gap(PawlVerifier* v, const PawlInstant* i, const int* modes, int c,
                             double* gap, PawlError* err) {
  PawlPoint point = {i->t, i->q, v->zero, NULL, NULL, modes, NULL};
  PAWL_TRY(pawl_eval_run(v->eval, &point, err));
  const PawlValues* values = pawl_eval_values(v->eval);
  int first, count;
  pawl_system_constraint_rows(v->system, c, &first, &count);
  pawl_sparse_sizes(&v->system->G, values->G, i->q, least_of(v, i), v->sizes);
  *gap = 0.0;
  for (int r = first; r < first + count; r++) {
    *gap = fmax(*gap, fabs(values->g[r]) / (v->sizes[r] > 0.0 ? v->sizes[r] : PAWL_SMALLEST_SIZE));
  }
  return PAWL_OK;
}

// The gradients of all switching functions: Z_k . e_j = z_rate(e_j) - z_rate(0).
static PawlStatus surface_gradients(PawlVerifier* v, const PawlInstant* i, PawlError* err) {
  const PawlSystem* s = v->system;
  int count = s->guard_count + s->turn_count, n = s->sizes.v;
  const PawlValues* values = pawl_eval_values(v->surfaces);
  PawlPoint point = {i->t, i->q, v->zero, NULL, NULL, i->to, NULL};
  PAWL_TRY(pawl_eval_run(v->surfaces, &point, err));
  memcpy(v->still, values->z_rate, (size_t)count * sizeof(double));
  point.v = v->unit;
  for (int j = 0; j < n; j++) {
    v->unit[j] = 1.0;
    PawlStatus status = pawl_eval_run(v->surfaces, &point, err);
    v->unit[j] = 0.0;
    PAWL_TRY(status);
    for (int k = 0; k < count; k++) {
      v->moving[k * n + j] = values->z_rate[k] - v->still[k];
    }
  }
  return PAWL_OK;
}

// True when Z v + z_t of surface k is not zero, to a part of its terms.
static bool is_crossed(const PawlVerifier* v, int k, const double* velocity) {
  double rate = v->still[k], size = fabs(rate);
  for (int j = 0; j < v->system->sizes.v; j++) {
    double term = v->moving[k * v->system->sizes.v + j] * velocity[j];
    rate += term;
    size += fabs(term);
  }
  return fabs(rate) > PAWL_MEETS * size;
}

// True when the gradient of surface k does not follow from the rows in force in `modes`. Where
// these leave no motion free, so that every gradient does, the velocity that they ask for must
// cross it.
static PawlStatus is_transversal(PawlVerifier* v, const PawlInstant* i, const int* modes,
                                 const double* velocity, int k, bool* yes, PawlError* err) {
  const PawlSystem* s = v->system;
  PawlSpan span = {.n = s->sizes.v, .Q = v->span};
  PawlPoint point = {i->t, i->q, v->zero, NULL, NULL, modes, NULL};
  PAWL_TRY(pawl_eval_run(v->eval, &point, err));
  const double* G = pawl_eval_values(v->eval)->G;
  pawl_modes_active(s, modes, v->active);
  for (int r = 0; r < s->sizes.rows; r++) {
    memset(v->row, 0, (size_t)span.n * sizeof(double));
    for (int j = 0; v->active[r] && j < span.n; j++) {
      for (int e = s->G.start[j]; e < s->G.start[j + 1]; e++) {
        v->row[j] = s->G.index[e] == r ? G[e] : v->row[j];
      }
    }
    (void)pawl_span_extend(&span, v->row);  // those that follow from others add nothing
  }
  *yes = span.count == span.n ? velocity && is_crossed(v, k, velocity)
                              : pawl_span_extend(&span, v->moving + k * span.n);
  return PAWL_OK;
}

static PawlStatus verify_constraint(PawlVerifier* v, const PawlInstant* i, int c, int surface,
                                    PawlError* err) {
  double before, after;
  bool yes;
  PAWL_TRY(branch_gap(v, i, i->from, c, &before, err));
  PAWL_TRY(branch_gap(v, i, i->to, c, &after, err));
  if (after > PAWL_MEETS || before > PAWL_MEETS) {
    return violated(v, c, "the two branches do not meet on the switching surface", i->t, i->q, err);
  }
  // Engaging from nothing, or letting go, has one branch, and that may be the surface itself.
  const PawlConstraint* constraint = &v->system->model->constraints[c];
  if (constraint->modes[i->from[c]].row_count == 0 || constraint->modes[i->to[c]].row_count == 0) {
    return PAWL_OK;
  }
  PAWL_TRY(is_transversal(v, i, i->from, i->v_before, surface, &yes, err));
  if (!yes) {
    return violated(v, c, "the switching surface is tangent to the branch before", i->t, i->q, err);
  }
  PAWL_TRY(is_transversal(v, i, i->to, i->v_after, surface, &yes, err));
  return yes ? PAWL_OK
             : violated(v, c, "the switching surface is tangent to the branch after", i->t, i->q,
                        err);
}

PawlStatus pawl_verify_switch(PawlVerifier* v, const PawlInstant* i, PawlError* err) {
  const PawlSystem* s = v->system;
  if (i->contact >= 0) {
    return PAWL_OK;
  }
  PAWL_TRY(surface_gradients(v, i, err));
  for (int k = 0; k < s->guard_count; k++) {
    PawlGate g = s->guards[k];
    if (i->from[g.constraint] != i->to[g.constraint] && i->to[g.constraint] == g.mode) {
      PAWL_TRY(verify_constraint(v, i, g.constraint, k, err));
    }
  }
  for (int k = 0; k < s->turn_count; k++) {
    bool turned = i->from[s->constraint_count + k] != i->to[s->constraint_count + k];
    for (int c = 0; turned && c < s->constraint_count; c++) {
      if (pawl_system_uses_turn(s, k, c, i->from[c]) || pawl_system_uses_turn(s, k, c, i->to[c])) {
        PAWL_TRY(verify_constraint(v, i, c, s->guard_count + k, err));
      }
    }
  }
  return PAWL_OK;
}
