// SPDX-License-Identifier: Apache-2.0
#include "switch/strike.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/grip.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

// The words are checked elsewhere.
static PawlStrikeLaw law_of(const char* word) {
  return strcmp(word, "poisson") == 0      ? PAWL_STRIKE_POISSON
         : strcmp(word, "sequential") == 0 ? PAWL_STRIKE_SEQUENTIAL
                                           : PAWL_STRIKE_NEWTON;
}

PawlStatus pawl_strike_create(PawlWatching* w, const unsigned char* touched, PawlStrike* k,
                              PawlError* err) {
  PawlDynamics* d = w->dynamics;
  *k = (PawlStrike){.dynamics = d,
                    .watching = w,
                    .touched = touched,
                    .move = PAWL_NEW(d->arena, double, d->sizes.v),
                    .v_kept = PAWL_NEW(d->arena, double, d->sizes.v),
                    .touching = PAWL_NEW(d->arena, unsigned char, d->sizes.rows),
                    .hit = PAWL_NEW(d->arena, unsigned char, d->sizes.rows),
                    .dull = PAWL_NEW(d->arena, unsigned char, d->sizes.rows)};
  double** of_rows[] = {&k->rate, &k->slow, &k->aim, &k->lo, &k->least, &k->room, &k->after};
  for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++) {
    *of_rows[i] = PAWL_NEW(d->arena, double, d->sizes.rows);
  }
  k->end = pawl_modes_contacts(d->system, &k->first);
  k->rubs = d->slip && d->slip->count > 0 ? d->slip->contact[0].first : k->first;
  k->law = law_of(d->def->contact_law);
  return d->arena->failed ? pawl_fail_memory(err) : pawl_watch_make_problem(w, err);
}

static bool is_closed(const PawlStrike* k, const PawlState* state, int row) {
  return state->modes[pawl_modes_of_contact(k->dynamics->system, row)] != PAWL_MODE_OPEN;
}

static double restitution_of(const PawlStrike* k, int row) {
  return k->dull[row] ? 0.0 : pawl_system_restitution(k->dynamics->system, row);
}

// ---- which contacts take part -------------------------------------------------------------------
// Rates of rows that count as none: those that the tolerance of an instant makes, and rounding.
static void find_slow(PawlStrike* k, const PawlState* state, const PawlValues* values) {
  PawlDynamics* d = k->dynamics;
  double still = PAWL_REST * pawl_dynamics_pace(d, state, values) +
                 PAWL_REST_OF_INSTANT * pawl_dynamics_instant(d, state->t) *
                     pawl_dynamics_push(d, state, values);
  pawl_sparse_sizes(&d->G, values->G, NULL, 0.0, k->slow);
  for (int i = k->rubs; i < k->end; i++) {
    k->slow[i] = still * k->slow[i] + PAWL_REST * fabs(values->g_t[i]);
  }
}

// A gap that the motion closes within the tolerance of instants, or that is rounding, is none. (C3)
int pawl_strike_look(PawlStrike* k, const PawlState* state, const PawlValues* values) {
  PawlDynamics* d = k->dynamics;
  double instant = 2 * pawl_dynamics_instant(d, state->t);
  int count = 0;
  find_slow(k, state, values);
  pawl_dynamics_rows(d, values->G, state->v, values->g_t, k->rate);
  pawl_dynamics_row_sizes(d, values->G, state->q, k->room);
  for (int i = k->first; i < k->end; i++) {
    bool none = values->g[i] <= PAWL_NO_SIDE * k->room[i] + instant * fmax(-k->rate[i], 0.0);
    k->touching[i] = is_closed(k, state, i) || k->touched[i] || none;
    count += k->touching[i];
  }
  return count;
}

// ---- the problem of an instant ------------------------------------------------------------------
// M x - G^T Lambda = M v, w = G x + b: the rows in force that carry impulses keep their rates, the
// contacts that take part have Lambda >= lo and w = G x + g_t + aim >= 0.                     (C4)
static void state_problem(PawlStrike* k, const PawlState* state, const PawlValues* values,
                          const unsigned char* taking_part) {
  PawlDynamics* d = k->dynamics;
  PawlRowProblem* p = &k->watching->rows;
  memset(p->r, 0, (size_t)d->sizes.v * sizeof(double));
  pawl_sparse_add(&d->H, values->M, 1.0, state->v, p->r);
  pawl_dynamics_rows(d, values->G, state->v, NULL, p->b);
  for (int i = 0; i < d->sizes.rows; i++) {
    bool contact = i >= k->first && i < k->end, rubs = i >= k->rubs && i < k->first;
    bool holds = !contact && !rubs && pawl_row_jumps((PawlRowOf)state->in_force[i]);
    p->lo[i] = holds || (contact && k->dull[i]) ? -INFINITY : contact ? k->lo[i] : 0.0;
    p->hi[i] = holds || (contact && taking_part[i]) ? INFINITY : 0.0;
    p->lo[i] = p->hi[i] > 0.0 ? p->lo[i] : 0.0;  // others are let go
    p->b[i] = contact || rubs ? values->g_t[i] + k->aim[i] : -p->b[i];
    p->weight[i] = 1.0;
  }
}

static PawlStatus contradiction(const PawlStrike* k, const PawlState* state, PawlError* err) {
  PawlText names = {0};
  int count = pawl_dynamics_list_rows(k->dynamics, k->watching->rows.conflict, &names);
  pawl_fail(err, PAWL_ERROR_RUN, "t = %.10g: %s contradict%s: no velocities satisfy all of them",
            state->t, names.s ? names.s : "some rows", count == 1 ? "s the others" : " each other");
  pawl_text_free(&names);
  return PAWL_ERROR_RUN;
}

// Velocities after, and impulses that are added to `impulse`.
static PawlStatus solve(PawlStrike* k, PawlState* state, const PawlValues* values,
                        const unsigned char* taking_part, double* impulse, PawlError* err) {
  PawlDynamics* d = k->dynamics;
  PawlRowProblem* p = &k->watching->rows;
  PawlGrip* grip = k->watching->grip;
  PawlRowsResult result = {0};
  PawlStatus status;
  state_problem(k, state, values, taking_part);
  if (grip) {  // (F22)
    PAWL_TRY(pawl_grip_look(grip, state, taking_part, k->slow, err));
    pawl_grip_strike(grip);
    status = pawl_grip_solve(grip, values, err);
    result.conflicts =
        grip->verdict == PAWL_FRICTION_NONE || grip->verdict == PAWL_FRICTION_NOT_CONVERGED;
  } else {
    status = pawl_watch_solve(k->watching, values, &result, err);
  }
  if (status == PAWL_RETRY) {
    return pawl_dynamics_singular(d, values->M, values->G, state->active, state->t, err);
  }
  PAWL_TRY(status);
  if (result.conflicts > 0) {
    return contradiction(k, state, err);
  }
  memcpy(state->v, p->x, (size_t)d->sizes.v * sizeof(double));
  for (int i = 0; i < d->sizes.rows; i++) {
    impulse[i] += p->lambda[i];
  }
  return PAWL_OK;
}

static void aim_at_rest(PawlStrike* k) {
  memset(k->aim, 0, (size_t)k->dynamics->sizes.rows * sizeof(double));
  memset(k->lo, 0, (size_t)k->dynamics->sizes.rows * sizeof(double));
}

// s = max g/g' of the contacts that have touched; t - s, q - s v + s^2/2 v', v - s v'. Not to
// before the beginning of a run. (C3)
void pawl_strike_back(PawlStrike* k, PawlState* state, const PawlValues* values) {
  PawlDynamics* d = k->dynamics;
  double s = 0.0, most = 2 * pawl_dynamics_instant(d, state->t);
  (void)pawl_strike_look(k, state, values);
  for (int i = k->first; i < k->end; i++) {
    bool past = k->touched[i] && values->g[i] < 0.0 && k->rate[i] < -k->slow[i];
    s = past ? fmax(s, values->g[i] / k->rate[i]) : s;
  }
  s = fmin(s, state->t >= 0.0 ? fmin(most, state->t) : most);
  for (int j = 0; j < d->sizes.v; j++) {
    k->move[j] = -s * state->v[j] + 0.5 * s * s * state->a[j];
  }
  pawl_system_retract(d->system, state->q, k->move, state->q);
  for (int j = 0; j < d->sizes.v; j++) {
    state->v[j] -= s * state->a[j];
  }
  state->t -= s;
}

// M dq = G^T mu, G dq = 0 of the rows in force, G dq + g >= 0 of contacts that overlap.       (C3)
static void state_overlaps(PawlStrike* k, const PawlState* state, const PawlValues* values,
                           bool* any) {
  PawlDynamics* d = k->dynamics;
  PawlRowProblem* p = &k->watching->rows;
  *any = false;
  memset(p->r, 0, (size_t)d->sizes.v * sizeof(double));
  for (int i = 0; i < d->sizes.rows; i++) {
    bool contact = i >= k->first && i < k->end;
    bool overlaps = contact && k->touching[i] && !is_closed(k, state, i) && values->g[i] < 0.0;
    bool holds = state->in_force[i] != PAWL_ROW_OF_LET_GO;
    p->lo[i] = holds ? -INFINITY : 0.0;
    p->hi[i] = holds || overlaps ? INFINITY : 0.0;
    p->b[i] = overlaps ? values->g[i] : 0.0;
    p->weight[i] = 1.0;
    *any |= overlaps;
  }
}

PawlStatus pawl_strike_part(PawlStrike* k, PawlState* state, const PawlValues* values, bool* moved,
                            PawlError* err) {
  PawlRowProblem* p = &k->watching->rows;
  PawlRowsResult result;
  (void)pawl_strike_look(k, state, values);
  state_overlaps(k, state, values, moved);
  if (!*moved) {
    return PAWL_OK;
  }
  PawlStatus status = pawl_watch_solve(k->watching, values, &result, err);
  *moved = status == PAWL_OK && result.conflicts == 0;  // else it stays as it is
  if (*moved) {
    pawl_system_retract(k->dynamics->system, state->q, p->x, state->q);
  }
  return status == PAWL_RETRY ? PAWL_OK : status;
}

// ---- the laws -----------------------------------------------------------------------------------
// Newton: aim = e (G v- + g_t) of what approaches; not of contacts that were closed, whose rates
// are drift, nor of what is as slow as nothing. (C5)
static void aim_by_newton(PawlStrike* k, const PawlState* state, const double* rate_before) {
  aim_at_rest(k);
  for (int i = k->first; i < k->end; i++) {
    bool rebounds = !is_closed(k, state, i) && rate_before[i] < -k->slow[i];
    k->aim[i] = rebounds ? restitution_of(k, i) * rate_before[i] : 0.0;
  }
}

// Compression ends at rest; then each contact gives back e times its impulse, or more.        (C6)
static PawlStatus strike_by_poisson(PawlStrike* k, PawlState* state, const PawlValues* values,
                                    double* impulse, PawlError* err) {
  const PawlRowProblem* p = &k->watching->rows;
  aim_at_rest(k);
  PAWL_TRY(solve(k, state, values, k->touching, impulse, err));
  for (int i = k->first; i < k->end; i++) {
    bool slow = k->rate[i] >= -k->slow[i] && p->lambda[i] <= k->least[i];
    k->lo[i] = slow ? 0.0 : restitution_of(k, i) * p->lambda[i];
  }
  return solve(k, state, values, k->touching, impulse, err);
}

// The contact that approaches fastest, measured by its own slow rate; -1: none does.
static int fastest(const PawlStrike* k) {
  int worst = -1;
  double most = 1.0;
  for (int i = k->first; i < k->end; i++) {
    double speed = k->touching[i] && k->slow[i] > 0.0 ? -k->rate[i] / k->slow[i] : 0.0;
    if (speed > most) {
      most = speed;
      worst = i;
    }
  }
  return worst;
}

// One contact after the other, the fastest first, until none approaches; what is left after many
// comes to rest at once.                                                                      (C7)
static PawlStatus strike_in_turn(PawlStrike* k, PawlState* state, const PawlValues* values,
                                 double* impulse, PawlError* err) {
  enum { MOST_OF_EACH = 100 };
  PawlDynamics* d = k->dynamics;
  unsigned char* alone = k->hit;  // room until the end
  int next = fastest(k);
  for (int n = 0; next >= 0 && n < MOST_OF_EACH * (k->end - k->first); n++) {
    memset(alone, 0, (size_t)d->sizes.rows);
    alone[next] = 1;
    aim_at_rest(k);
    k->aim[next] = restitution_of(k, next) * k->rate[next];
    PAWL_TRY(solve(k, state, values, alone, impulse, err));
    pawl_dynamics_rows(d, values->G, state->v, values->g_t, k->rate);
    next = fastest(k);
  }
  aim_at_rest(k);
  return solve(k, state, values, k->touching, impulse, err);
}

// [J] What contacts and their friction have done to the energy by their last impulses, beside the
// size of its terms; by the mean of the rates before (k->v_kept) and after.
static double work_of(const PawlStrike* k, const PawlState* state, const PawlValues* values,
                      double* size) {
  const PawlDynamics* d = k->dynamics;
  const double* Lambda = k->watching->rows.lambda;
  double work = 0.0, *before = k->room, *after = k->after;
  pawl_dynamics_rows(d, values->G, k->v_kept, values->g_t, before);
  pawl_dynamics_rows(d, values->G, state->v, values->g_t, after);
  *size = 0.0;
  for (int i = k->rubs; i < k->end; i++) {
    work += 0.5 * Lambda[i] * (before[i] + after[i]);
    *size += fabs(Lambda[i]) * (fabs(before[i]) + fabs(after[i]));
  }
  return work;
}

// Newton's law. With friction it may bring energy in: then the restitutions are 0, as in time
// stepping.                                                                             (C5) (F22)
static PawlStatus strike_by_newton(PawlStrike* k, PawlState* state, const double* v_before,
                                   const PawlValues* values, double* impulse, PawlError* err) {
  size_t bytes = (size_t)k->dynamics->sizes.v * sizeof(double);
  double size;
  pawl_dynamics_rows(k->dynamics, values->G, v_before, values->g_t, k->room);
  aim_by_newton(k, state, k->room);
  memcpy(k->v_kept, state->v, bytes);
  PAWL_TRY(solve(k, state, values, k->touching, impulse, err));
  if (!k->watching->grip || !(work_of(k, state, values, &size) > PAWL_REST * size)) {
    return PAWL_OK;
  }
  for (int i = 0; i < k->dynamics->sizes.rows; i++) {
    impulse[i] -= k->watching->rows.lambda[i];
  }
  memcpy(state->v, k->v_kept, bytes);
  aim_at_rest(k);
  return solve(k, state, values, k->touching, impulse, err);
}

// Some contact that takes part approaches faster than nothing.
static bool approaches(const PawlStrike* k) {
  bool any = false;
  for (int i = k->first; i < k->end; i++) {
    any |= k->touching[i] && k->rate[i] < -PAWL_REST_DRIFT * k->slow[i];
  }
  return any;
}

// Impulses that are more than drift of closed contacts and rounding.
static void note_hits(PawlStrike* k, const PawlState* state, const double* impulse) {
  for (int i = k->first; i < k->end; i++) {
    k->hit[i] =
        impulse[i] > (is_closed(k, state, i) ? PAWL_COME_TO_REST / PAWL_REST : 1.0) * k->least[i];
  }
}

PawlStatus pawl_strike(PawlStrike* k, PawlState* state, const double* v_before,
                       const PawlValues* values, double* impulse, bool* any, PawlError* err) {
  PawlDynamics* d = k->dynamics;
  *any = pawl_strike_look(k, state, values) > 0 && approaches(k);
  memset(k->hit, 0, (size_t)d->sizes.rows);
  if (!*any) {
    return PAWL_OK;
  }
  double still = PAWL_REST * pawl_dynamics_pace(d, state, values);
  pawl_dynamics_row_forces(d, values, still, k->room, k->least);
  if (k->law == PAWL_STRIKE_NEWTON) {
    PAWL_TRY(strike_by_newton(k, state, v_before, values, impulse, err));
  } else if (k->law == PAWL_STRIKE_POISSON) {
    PAWL_TRY(strike_by_poisson(k, state, values, impulse, err));
  } else {
    PAWL_TRY(strike_in_turn(k, state, values, impulse, err));
  }
  note_hits(k, state, impulse);
  return PAWL_OK;
}

PawlStatus pawl_strike_shock(PawlStrike* k, PawlState* state, const PawlValues* values,
                             double* impulse, PawlError* err) {
  PawlDynamics* d = k->dynamics;
  (void)pawl_strike_look(k, state, values);
  double still = PAWL_REST * pawl_dynamics_pace(d, state, values);
  pawl_dynamics_row_forces(d, values, still, k->room, k->least);
  aim_at_rest(k);
  PAWL_TRY(solve(k, state, values, k->touching, impulse, err));
  note_hits(k, state, impulse);
  return PAWL_OK;
}
