// SPDX-License-Identifier: Apache-2.0
#include "step/rub_sets.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 40, PATIENCE = 8 };

// ---- creation -----------------------------------------------------------------------------------
// The contact whose friction a row is, or -1.
static int* owners(PawlStepper* s, int count, const PawlRubContact* contact) {
  int* owner = PAWL_NEW(&s->arena, int, s->sizes.rows);
  for (int i = 0; owner && i < s->sizes.rows; i++) {
    owner[i] = -1;
  }
  for (int k = 0; owner && k < count; k++) {
    for (int i = 0; i < contact[k].count; i++) {
      owner[contact[k].first + i] = k;
    }
  }
  return owner;
}

static int add(int count, int* index, int* mark, int column, int row) {
  if (row < 0 || mark[row] == column + 1) {
    return count;
  }
  mark[row] = column + 1;
  int at = count;
  for (; at > 0 && index[at - 1] > row; at--) {
    index[at] = index[at - 1];
  }
  index[at] = row;
  return count + 1;
}

// The pattern: in each column the rows of G, and the contacts of which friction is there. `mark`:
// rows, zero; `place`: rows.
static void build_pattern(const PawlStepper* s, const PawlRubContact* contact, int* start,
                          int* index, int* mark, int* place, PawlRubSets* p) {
  for (int j = 0; j < s->sizes.v; j++) {
    int count = 0, *rows = index + start[j];
    for (int e = s->G.start[j]; e < s->G.start[j + 1]; e++) {
      int i = s->G.index[e], k = p->own[i];
      count = add(count, rows, mark, j, i);
      count = add(count, rows, mark, j, k < 0 ? -1 : contact[k].normal);
    }
    for (int k = 0; k < count; k++) {
      place[rows[k]] = start[j] + k;
    }
    for (int e = s->G.start[j]; e < s->G.start[j + 1]; e++) {
      int i = s->G.index[e], k = p->own[i];
      p->at[e] = place[i];
      p->tie[e] = k < 0 ? -1 : place[contact[k].normal];
    }
    start[j + 1] = start[j] + count;
  }
}

PawlStatus pawl_rub_sets_create(PawlStepper* s, int count, const PawlRubContact* contact,
                                PawlRubSets* p, PawlError* err) {
  int n = s->sizes.v, m = s->sizes.rows, entries = s->G.start[n];
  int *mark = PAWL_NEW(&s->arena, int, m), *place = PAWL_NEW(&s->arena, int, m);
  int *start = PAWL_NEW(&s->arena, int, n + 1), *index = PAWL_NEW(&s->arena, int, 2 * entries);
  p->at = PAWL_NEW(&s->arena, int, entries);
  p->tie = PAWL_NEW(&s->arena, int, entries);
  p->own = owners(s, count, contact);
  p->B = PAWL_NEW(&s->arena, double, 2 * entries);
  p->J = PAWL_NEW(&s->arena, double, 2 * entries);
  p->x = PAWL_NEW(&s->arena, double, n);
  p->w = PAWL_NEW(&s->arena, double, m);
  p->active = PAWL_NEW(&s->arena, unsigned char, m);
  if (s->arena.failed) {
    return pawl_fail_memory(err);
  }
  build_pattern(s, contact, start, index, mark, place, p);
  p->G = (PawlPattern){m, n, start, index};
  return pawl_kkt_create(&s->H, &p->G, PAWL_KKT_AUTO, &p->kkt, err);
}

void pawl_rub_sets_destroy(PawlRubSets* p) {
  pawl_kkt_destroy(p->kkt);
}

// ---- one guess ----------------------------------------------------------------------------------
// Force of friction by that of its contact, where it slips; 0 else.
static double tie_of(const PawlRubContact* c, int row) {
  return c->place == PAWL_RUB_SLIP ? -c->mu * c->direction[row - c->first] : 0.0;
}

static void fill(const PawlStepper* s, PawlRubSets* p, const PawlRubContact* contact,
                 const PawlRubAsk* ask) {
  size_t bytes = (size_t)p->G.start[s->sizes.v] * sizeof(double);
  memset(p->B, 0, bytes);
  memset(p->J, 0, bytes);
  for (int e = 0; e < s->G.start[s->sizes.v]; e++) {
    int k = p->own[s->G.index[e]];
    p->B[p->at[e]] += ask->B[e];
    p->J[p->at[e]] += ask->J[e];
    if (k >= 0) {
      p->B[p->tie[e]] += tie_of(&contact[k], s->G.index[e]) * ask->B[e];
    }
  }
}

static void activate(const PawlStepper* s, PawlRubSets* p, int count, const PawlRubContact* contact,
                     const PawlRubAsk* ask) {
  memcpy(p->active, ask->bilateral, (size_t)s->sizes.rows);
  for (int k = 0; k < count; k++) {
    const PawlRubContact* c = &contact[k];
    p->active[c->normal] = c->place != PAWL_RUB_OPEN;
    for (int i = 0; i < c->count; i++) {
      p->active[c->first + i] = c->place == PAWL_RUB_STICK;
    }
  }
}

// x, y and w of the places; false: rows depend on each other.
static bool solve_places(const PawlStepper* s, PawlRubSets* p, int count,
                         const PawlRubContact* contact, const PawlRubAsk* ask, double* x,
                         double* y) {
  fill(s, p, contact, ask);
  activate(s, p, count, contact, ask);
  if (!pawl_kkt_holds(p->kkt, ask->S, p->B, p->J, p->active)) {
    p->factorizations++;
    if (pawl_kkt_factor_and_keep(p->kkt, ask->S, p->B, p->J, p->active) != PAWL_OK) {
      return false;
    }
  }
  memcpy(x, ask->r, (size_t)s->sizes.v * sizeof(double));
  for (int i = 0; i < s->sizes.rows; i++) {
    y[i] = p->active[i] ? -ask->w0[i] : 0.0;
  }
  pawl_kkt_solve(p->kkt, x, y);
  for (int k = 0; k < count; k++) {
    for (int i = contact[k].first; i < contact[k].first + contact[k].count; i++) {
      y[i] =
          contact[k].place == PAWL_RUB_SLIP ? tie_of(&contact[k], i) * y[contact[k].normal] : y[i];
    }
  }
  memcpy(p->w, ask->w0, (size_t)s->sizes.rows * sizeof(double));
  pawl_sparse_add(&s->G, ask->J, 1.0, x, p->w);
  return true;
}

// ---- what is wrong with it ----------------------------------------------------------------------
static double length_of(const PawlRubContact* c, const double* x) {
  return c->count == 0   ? 0.0
         : c->count == 1 ? fabs(x[c->first])
                         : hypot(x[c->first], x[c->first + 1]);
}

static void turn(PawlRubContact* c, const double* along, double by) {
  for (int i = 0; i < 2; i++) {
    c->direction[i] = i < c->count ? by * along[c->first + i] : 0.0;
  }
}

// A contact that slips: whether its slip has the direction that was taken, which is then mended.
static bool slips_wrong(PawlRubContact* c, const double* w, const PawlRubAsk* ask) {
  double along = 0.0, across = 0.0, slack = 0.0, length = length_of(c, w);
  for (int i = 0; i < c->count; i++) {
    along += c->direction[i] * w[c->first + i];
    slack = fmax(slack, ask->tolerance * ask->size[c->first + i]);
  }
  for (int i = 0; i < c->count; i++) {
    across = fmax(across, fabs(w[c->first + i] - along * c->direction[i]));
  }
  if (along < -slack) {
    c->place = PAWL_RUB_STICK;
    return true;
  }
  if (across <= slack) {
    return false;
  }
  turn(c, w, 1.0 / length);
  return true;
}

// Moves a contact that is wrong to another place; whether it was.
static bool mend(PawlRubContact* c, const double* w, const double* y, const PawlRubAsk* ask,
                 double least) {
  double N = y[c->normal], T = length_of(c, y);
  if (c->place == PAWL_RUB_OPEN) {
    bool wrong = w[c->normal] < -ask->tolerance * ask->size[c->normal];
    c->place = wrong ? PAWL_RUB_STICK : PAWL_RUB_OPEN;
    return wrong;
  }
  if (N < -least) {
    c->place = PAWL_RUB_OPEN;
    return true;
  }
  if (c->place == PAWL_RUB_SLIP) {
    return slips_wrong(c, w, ask);
  }
  bool wrong = c->count > 0 && T > c->mu * fmax(N, 0.0) + least;
  if (wrong) {
    c->place = PAWL_RUB_SLIP;
    turn(c, y, -1.0 / T);
  }
  return wrong;
}

bool pawl_rub_sets_solve(const PawlStepper* s, PawlRubSets* p, int count, PawlRubContact* contact,
                         const PawlRubAsk* ask, double* x, double* y) {
  int fewest = count + 1, patience = PATIENCE;
  for (int k = 0; k < count; k++) {
    contact[k].place = ask->near[contact[k].normal] ? contact[k].place : PAWL_RUB_OPEN;
  }
  for (int round = 0; round < MOST_ROUNDS && patience >= 0; round++) {
    if (!solve_places(s, p, count, contact, ask, x, y)) {
      return false;
    }
    double least = PAWL_ROWS_ROUNDING * pawl_dynamics_largest(s->sizes.rows, y);
    int wrong = 0;
    for (int k = 0; k < count; k++) {
      wrong += ask->near[contact[k].normal] && mend(&contact[k], p->w, y, ask, least);
    }
    if (wrong == 0) {
      return true;
    }
    patience = wrong < fewest ? PATIENCE : patience - 1;
    fewest = wrong < fewest ? wrong : fewest;
  }
  return false;
}
