// SPDX-License-Identifier: Apache-2.0
#include "switch/strike.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/grip.h"
#include "switch/modes.h"
#include "switch/pace.h"
#include "switch/several.h"
#include "switch/tolerances.h"
#include "system/system.h"

// The words are checked elsewhere.
static PawlStrikeLaw law_of(const char* word) {
  return strcmp(word, "poisson") == 0      ? PAWL_STRIKE_POISSON
         : strcmp(word, "sequential") == 0 ? PAWL_STRIKE_SEQUENTIAL
                                           : PAWL_STRIKE_NEWTON;
}

PawlStatus pawl_strike_create(PawlWatching* w, const unsigned char* touched,
                              const unsigned char* jams, const double* slack, PawlStrike* k,
                              PawlError* err) {
  PawlDynamics* d = w->dynamics;
  *k = (PawlStrike){.dynamics = d,
                    .watching = w,
                    .touched = touched,
                    .jams = jams,
                    .slack = slack,
                    .move = PAWL_NEW(d->arena, double, d->sizes.v),
                    .v_kept = PAWL_NEW(d->arena, double, d->sizes.v),
                    .v_most = PAWL_NEW(d->arena, double, d->sizes.v),
                    .touching = PAWL_NEW(d->arena, unsigned char, d->sizes.rows),
                    .hit = PAWL_NEW(d->arena, unsigned char, d->sizes.rows),
                    .dull = PAWL_NEW(d->arena, unsigned char, d->sizes.rows),
                    .back = PAWL_NEW(d->arena, unsigned char, d->sizes.rows)};
  double** of_rows[] = {&k->rate, &k->slow,  &k->aim,  &k->lo,     &k->least,
                        &k->room, &k->after, &k->kept, &k->pushed, &k->second};
  for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++) {
    *of_rows[i] = PAWL_NEW(d->arena, double, d->sizes.rows);
  }
  k->end = pawl_modes_contacts(d->system, &k->first);
  k->rubs = d->slip && d->slip->count > 0 ? d->slip->contact[0].first : k->first;
  k->law = law_of(d->def->contact_law);
  return d->arena->failed ? pawl_fail_memory(err) : pawl_watch_make_problem(w, err);
}

void pawl_strike_begin(PawlStrike* k, const double* v) {
  for (int j = 0; k->dynamics && j < k->dynamics->sizes.v; j++) {
    k->v_most[j] = fabs(v[j]);
  }
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
  pawl_pace_rows(d, state, k->v_most, values, pawl_pace_rest(d, state->t), k->slow);
  for (int i = k->rubs; i < k->end; i++) {
    k->slow[i] += PAWL_REST * fabs(values->g_t[i]);
  }
}

// Impulses that are rounding.
static void find_least(PawlStrike* k, const PawlState* state, const PawlValues* values) {
  PawlDynamics* d = k->dynamics;
  PawlPace rounding = {.of_v = PAWL_REST, .of_a = PAWL_REST * d->def->step};
  pawl_pace_forces(d, state, k->v_most, values, rounding, k->least);
}

// A gap that the motion closes within the tolerance of instants, or that is rounding, is none. (C3)
static int look(PawlStrike* k, const PawlState* state, const PawlValues* values) {
  PawlDynamics* d = k->dynamics;
  double instant = 2 * pawl_dynamics_instant(d, state->t);
  int count = 0;
  pawl_dynamics_rows(d, values->G, state->v, values->g_t, k->rate);
  pawl_dynamics_row_sizes(d, values->G, state->q, k->room);
  for (int i = k->first; i < k->end; i++) {
    bool none = values->g[i] <= PAWL_NO_SIDE * k->room[i] + instant * fmax(-k->rate[i], 0.0);
    bool meets = !k->waits && (k->touched[i] || k->dull[i] || none);
    k->touching[i] = !k->jams[i] && (is_closed(k, state, i) || meets);
    count += k->touching[i];
  }
  return count;
}

int pawl_strike_look(PawlStrike* k, const PawlState* state, const PawlValues* values) {
  find_slow(k, state, values);
  return look(k, state, values);
}

// ---- the problem of an instant ------------------------------------------------------------------
// M x - G^T Lambda = M v, w = G x + b: the rows in force that carry impulses keep their rates, the
// contacts that take part have Lambda >= lo and w = G x + g_t + aim >= 0; those whose impacts end
// stay together, but in an impact without a collision, which may part them. (C4) (C12) (F25)
static void state_problem(PawlStrike* k, const PawlState* state, const PawlValues* values,
                          const unsigned char* taking_part, bool together) {
  PawlDynamics* d = k->dynamics;
  PawlRowProblem* p = &k->watching->rows;
  memset(p->r, 0, (size_t)d->sizes.v * sizeof(double));
  pawl_sparse_add(&d->H, values->M, 1.0, state->v, p->r);
  pawl_dynamics_rows(d, values->G, state->v, NULL, p->b);
  for (int j = 0; k->ahead > 0.0 && j < d->sizes.v; j++) {
    p->r[j] += k->ahead * values->f[j];
  }
  for (int i = 0; i < d->sizes.rows; i++) {
    bool contact = i >= k->first && i < k->end, rubs = i >= k->rubs && i < k->first;
    bool holds = !contact && !rubs && pawl_row_jumps((PawlRowOf)state->in_force[i]);
    bool stays = together && !k->shocks && contact && k->dull[i];
    p->lo[i] = holds || stays ? -INFINITY : contact ? k->lo[i] : 0.0;
    p->hi[i] = holds || (contact && taking_part[i]) ? INFINITY : 0.0;
    p->lo[i] = p->hi[i] > 0.0 ? p->lo[i] : 0.0;  // others are let go
    p->b[i] = contact || rubs ? values->g_t[i] + k->aim[i] : -p->b[i];
    p->b[i] += k->ahead > 0.0 ? k->ahead * values->gamma[i] : 0.0;
    p->weight[i] = 1.0;
  }
}

// Which rows of the problem of state_problem() contradict each other. With friction all that take
// part are flagged: mostly it is the rows without it that do. *known: so it is.
static PawlStatus find_conflict(PawlStrike* k, const PawlValues* values, bool* known,
                                PawlError* err) {
  PawlRowsResult result = {.conflicts = 0};
  *known = !k->watching->grip;
  if (!*known) {
    PawlStatus status = pawl_watch_solve(k->watching, values, &result, err);
    PAWL_TRY(status == PAWL_RETRY ? PAWL_OK : status);
    *known = status == PAWL_OK && result.conflicts > 0;
  }
  for (int i = k->first; i < k->end && !*known; i++) {
    k->watching->rows.conflict[i] = k->watching->rows.hi[i] > 0.0;
  }
  return PAWL_OK;
}

static PawlStatus contradiction(PawlStrike* k, const PawlState* state, const PawlValues* values,
                                PawlError* err) {
  const PawlGrip* grip = k->watching->grip;
  PawlText names = {0};
  bool known;
  PAWL_TRY(find_conflict(k, values, &known, err));
  int count = pawl_dynamics_list_rows(k->dynamics, k->watching->rows.conflict, &names);
  const char* which = names.s ? names.s : "some rows";
  if (!known && grip->verdict == PAWL_FRICTION_NOT_CONVERGED) {
    pawl_fail(err, PAWL_ERROR_RUN,
              "t = %.10g: no velocities after the impact of %s were found; whether there are some "
              "is not known",
              state->t, which);
  } else {
    pawl_fail(err, PAWL_ERROR_RUN, "t = %.10g: %s contradict%s: no velocities satisfy all of them",
              state->t, which, count == 1 ? "s the others" : " each other");
  }
  pawl_text_free(&names);
  return PAWL_ERROR_RUN;
}

// Of contacts whose impacts end: they stay together, and what slips goes on to; or not.
// (C12) (C19)
typedef enum Together { APART, TOGETHER, TOGETHER_AND_ON } Together;

// What is taken back of the impacts of some is taken back of what these have pressed on others: of
// those at rest what they have got at this instant. Else friction that is taken back lifts them.
//                                                                                           (C19)
static void state_pressed(PawlStrike* k, const PawlState* state, const unsigned char* taking_part,
                          const double* impulse) {
  PawlRowProblem* p = &k->watching->rows;
  for (int i = k->first; i < k->end; i++) {
    k->back[i] = k->dull[i];
    bool rests = is_closed(k, state, i) && fabs(k->rate[i]) <= k->slow[i] && k->lo[i] == 0.0;
    if (taking_part[i] && !k->dull[i] && rests && impulse[i] > k->least[i]) {
      p->lo[i] = -impulse[i];
      k->back[i] = 1;
    }
  }
}

static PawlStatus solve_rows(PawlStrike* k, const PawlState* state, const PawlValues* values,
                             const unsigned char* taking_part, Together together,
                             const double* impulse, bool* solved, PawlError* err) {
  PawlDynamics* d = k->dynamics;
  PawlGrip* grip = k->watching->grip;
  PawlRowsResult result = {0};
  PawlStatus status;
  state_problem(k, state, values, taking_part, together != APART);
  if (grip) {  // (F22)
    PAWL_TRY(pawl_grip_look(grip, state, taking_part, k->slow, err));
    pawl_grip_strike(grip, k->shocks, k->again);
    if (together == TOGETHER_AND_ON) {
      state_pressed(k, state, taking_part, impulse);
      pawl_grip_end(grip, k->back, k->slow);
    }
    grip->counts = !grip->told && !k->shocks;
    status = pawl_grip_solve(grip, values, err);
    result.conflicts =
        grip->verdict == PAWL_FRICTION_NONE || grip->verdict == PAWL_FRICTION_NOT_CONVERGED;
  } else {
    status = pawl_watch_solve(k->watching, values, &result, err);
  }
  *solved = result.conflicts == 0 && !(grip && status == PAWL_OK && pawl_grip_turns(grip));
  if (grip && status == PAWL_OK && *solved) {
    PAWL_TRY(pawl_several_tell(grip, state->t, "velocities after the impact", err));
  }
  return status == PAWL_RETRY
             ? pawl_dynamics_singular(d, values->M, values->G, state->active, state->t, err)
             : status;
}

// Velocities after, and impulses that are added to `impulse`.
static void take_solution(PawlStrike* k, PawlState* state, double* impulse) {
  const PawlDynamics* d = k->dynamics;
  const PawlRowProblem* p = &k->watching->rows;
  memcpy(state->v, p->x, (size_t)d->sizes.v * sizeof(double));
  for (int j = 0; j < d->sizes.v; j++) {
    k->v_most[j] = fmax(k->v_most[j], fabs(state->v[j]));
  }
  for (int i = 0; i < d->sizes.rows; i++) {
    impulse[i] += p->lambda[i];
  }
}

// The same where there are some. Contacts whose
// impacts end may pull, but need not where nothing satisfies that.                        (C12)
static PawlStatus try_solve(PawlStrike* k, PawlState* state, const PawlValues* values,
                            const unsigned char* taking_part, double* impulse, bool* solved,
                            PawlError* err) {
  bool ends = false;
  for (int i = k->first; i < k->end; i++) {
    ends |= k->dull[i] && taking_part[i];
  }
  static const Together ways[] = {TOGETHER_AND_ON, TOGETHER, APART};
  int way = ends && k->watching->grip && !k->shocks ? 0 : 1, count = ends ? 3 : 2;
  for (*solved = false; !*solved && way < count; way++) {
    PAWL_TRY(solve_rows(k, state, values, taking_part, ways[way], impulse, solved, err));
  }
  if (*solved) {
    take_solution(k, state, impulse);
  }
  return PAWL_OK;
}

static PawlStatus solve(PawlStrike* k, PawlState* state, const PawlValues* values,
                        const unsigned char* taking_part, double* impulse, PawlError* err) {
  bool solved;
  PAWL_TRY(try_solve(k, state, values, taking_part, impulse, &solved, err));
  return solved ? PAWL_OK : contradiction(k, state, values, err);
}

static void aim_at_rest(PawlStrike* k) {
  memset(k->aim, 0, (size_t)k->dynamics->sizes.rows * sizeof(double));
  memset(k->lo, 0, (size_t)k->dynamics->sizes.rows * sizeof(double));
}

// How long ago the gap g < 0 of a contact that has touched was zero, g - s g' + s^2/2 g'' = 0: no
// longer than the tolerance of instants and what the gap was looked for below zero make of it. (C3)
static double time_past(const PawlStrike* k, double g, int row, double instant) {
  double rate = k->rate[row], past = rate * rate - 2.0 * k->second[row] * g;
  double most = 2.0 * (instant + k->slack[row] / -rate);
  return past > 0.0 ? fmin(2.0 * g / (rate - sqrt(past)), most) : fmin(g / rate, 2.0 * instant);
}

// s, the longest time past of the contacts that have touched; t - s, q - s v + s^2/2 v', v - s v'.
// Not to before the beginning of a run. (C3)
void pawl_strike_back(PawlStrike* k, PawlState* state, const PawlValues* values) {
  PawlDynamics* d = k->dynamics;
  double s = 0.0, instant = pawl_dynamics_found(d, state->t);
  (void)pawl_strike_look(k, state, values);
  pawl_dynamics_rows(d, values->G, state->a, values->gamma, k->second);
  for (int i = k->first; i < k->end; i++) {
    bool past = k->touched[i] && values->g[i] < 0.0 && k->rate[i] < -k->slow[i];
    s = past ? fmax(s, time_past(k, values->g[i], i, instant)) : s;
  }
  s = state->t >= 0.0 ? fmin(s, state->t) : s;
  for (int j = 0; j < d->sizes.v; j++) {
    k->move[j] = -s * state->v[j] + 0.5 * s * s * state->a[j];
  }
  pawl_system_retract(d->system, state->q, k->move, state->q);
  for (int j = 0; j < d->sizes.v; j++) {
    state->v[j] -= s * state->a[j];
  }
  state->t -= s;
}

// An overlap that rounding has left of a gap that opens: it closes by itself, and taken away at
// each instant it would come again. (C1)
static bool opens(const PawlStrike* k, const PawlValues* values, int i) {
  static const double OF_SLACK = 4.0;
  return k->rate[i] > k->slow[i] && values->g[i] >= -OF_SLACK * k->slack[i];
}

// M dq = G^T mu, G dq = 0 of the rows in force, G dq + g >= 0 of contacts that overlap, and = 0 of
// those that are still apart where their impacts end.                                   (C3) (C18)
static void state_overlaps(PawlStrike* k, const PawlState* state, const PawlValues* values,
                           bool* any) {
  PawlDynamics* d = k->dynamics;
  PawlRowProblem* p = &k->watching->rows;
  *any = false;
  memset(p->r, 0, (size_t)d->sizes.v * sizeof(double));
  for (int i = 0; i < d->sizes.rows; i++) {
    bool contact = i >= k->first && i < k->end;
    bool overlaps = contact && k->touching[i] && !is_closed(k, state, i) && values->g[i] < 0.0 &&
                    !opens(k, values, i);
    bool ends = contact && k->dull[i];
    bool holds = ends || state->in_force[i] != PAWL_ROW_OF_LET_GO;
    p->lo[i] = holds ? -INFINITY : 0.0;
    p->hi[i] = holds || overlaps ? INFINITY : 0.0;
    p->b[i] = overlaps || ends ? values->g[i] : 0.0;
    p->weight[i] = 1.0;
    *any |= overlaps || (ends && values->g[i] > PAWL_NO_SIDE * k->room[i]);
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

enum { MOST_OF_EACH = 100 };  // impacts of a contact at one instant

// ---- the laws -----------------------------------------------------------------------------------
// Newton: aim = e (G v- + g_t); not of contacts that were closed, whose rates are drift, nor of
// what is as slow as nothing. (C5)
static void aim_by_newton(PawlStrike* k, const PawlState* state, const double* rate_before) {
  aim_at_rest(k);
  for (int i = k->first; i < k->end; i++) {
    bool rebounds = !is_closed(k, state, i) && fabs(rate_before[i]) > k->slow[i];
    k->aim[i] = rebounds ? restitution_of(k, i) * rate_before[i] : 0.0;
  }
}

// Compression ends at rest; then each contact gives back e times its impulse, or more.        (C6)
static PawlStatus strike_by_poisson(PawlStrike* k, PawlState* state, const PawlValues* values,
                                    double* impulse, bool* solved, PawlError* err) {
  const PawlRowProblem* p = &k->watching->rows;
  aim_at_rest(k);
  PAWL_TRY(solve(k, state, values, k->touching, impulse, err));
  for (int i = k->first; i < k->end; i++) {
    bool slow = k->rate[i] >= -k->slow[i] && p->lambda[i] <= k->least[i];
    k->lo[i] = slow ? 0.0 : restitution_of(k, i) * p->lambda[i];
  }
  return try_solve(k, state, values, k->touching, impulse, solved, err);
}

// The contact that approaches fastest, the first of those that do so as fast; -1: none does. (C7)
static int fastest(const PawlStrike* k) {
  int worst = -1;
  double most = 0.0;
  for (int i = k->first; i < k->end; i++) {
    double speed = k->touching[i] && -k->rate[i] > k->slow[i] ? -k->rate[i] : 0.0;
    if (speed > (1.0 + PAWL_AS_FAST) * most) {
      most = speed;
      worst = i;
    }
  }
  return worst;
}

// ---- where a law has no velocities, or brings energy in -----------------------------------------
static void keep(PawlStrike* k, const PawlState* state, const double* impulse) {
  memcpy(k->v_kept, state->v, (size_t)k->dynamics->sizes.v * sizeof(double));
  memcpy(k->kept, impulse, (size_t)k->dynamics->sizes.rows * sizeof(double));
}

typedef struct Work {
  double done, size;
} Work;

static void add_work(const PawlStrike* k, const double* impulse, int i, Work* work) {
  double Lambda = impulse[i] - k->kept[i];
  work->done += 0.5 * Lambda * (k->room[i] + k->after[i]);
  work->size += fabs(Lambda) * (fabs(k->room[i]) + fabs(k->after[i]));
}

// What contacts and their friction have done since keep() brings energy in, by the mean of the
// rates before and after. (F31) What the friction of a contact gives back that is pulled as its
// impacts end was taken by those that were left out. (C19)
static bool gains(const PawlStrike* k, const PawlState* state, const PawlValues* values,
                  const double* impulse) {
  const PawlDynamics* d = k->dynamics;
  Work work = {0};
  if (!k->watching->grip) {
    return false;
  }
  pawl_dynamics_rows(d, values->G, k->v_kept, values->g_t, k->room);
  pawl_dynamics_rows(d, values->G, state->v, values->g_t, k->after);
  for (int i = k->first; i < k->end; i++) {
    add_work(k, impulse, i, &work);
  }
  for (int c = 0; c < d->slip->count; c++) {
    const PawlSlipContact* contact = &d->slip->contact[c];
    bool pulled = k->dull[contact->normal] && impulse[contact->normal] < k->kept[contact->normal];
    for (int i = contact->first; !pulled && i < contact->first + contact->count; i++) {
      add_work(k, impulse, i, &work);
    }
  }
  return work.done > PAWL_REST * work.size;
}

// Said once, with the contact of those that take part that is hit fastest.
static PawlStatus tell_stop(PawlStrike* k, const PawlState* state, const unsigned char* taking_part,
                            bool gains_energy, PawlError* err) {
  int row = -1, number;
  for (int i = k->first; i < k->end; i++) {
    row = taking_part[i] && (row < 0 || k->rate[i] < k->rate[row]) ? i : row;
  }
  if (k->stopped || row < 0) {
    return PAWL_OK;
  }
  k->stopped = true;
  PawlText text = {0};
  pawl_text_printf(&text,
                   "t = %.10g: contact '%s' is hit without restitution: with it and friction, %s "
                   "(later ones are not named)",
                   state->t, pawl_system_row_name(k->dynamics->system, row, &number),
                   gains_energy ? "energy would grow" : "no velocities are found");
  PawlStatus status = text.failed ? PAWL_ERROR_MEMORY : pawl_dynamics_warn(k->dynamics, text.s);
  pawl_text_free(&text);
  return status == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
}

// What was struck since keep(), by a law that gave velocities where `solved`, is struck again with
// no restitution where it gave none or brings energy in; that never does.                  (F31)
static PawlStatus strike_or_stop(PawlStrike* k, PawlState* state, const PawlValues* values,
                                 const unsigned char* taking_part, bool solved, double* impulse,
                                 PawlError* err) {
  bool gained = solved && gains(k, state, values, impulse);
  if (solved && !gained) {
    return PAWL_OK;
  }
  memcpy(state->v, k->v_kept, (size_t)k->dynamics->sizes.v * sizeof(double));
  memcpy(impulse, k->kept, (size_t)k->dynamics->sizes.rows * sizeof(double));
  aim_at_rest(k);
  PAWL_TRY(solve(k, state, values, taking_part, impulse, err));
  return tell_stop(k, state, taking_part, gained, err);
}

// What other jumps of the instant add to a rate gives nothing back, as with Newton's law.     (C9)
static void note_pushes(PawlStrike* k, const double* v_before, const PawlValues* values) {
  pawl_dynamics_rows(k->dynamics, values->G, v_before, values->g_t, k->pushed);
  for (int i = k->first; i < k->end; i++) {
    k->pushed[i] = k->rate[i] - k->pushed[i];
  }
}

// One contact after the other, the fastest first, until none approaches; what is left after many
// comes to rest at once.                                                                      (C7)
static PawlStatus strike_in_turn(PawlStrike* k, PawlState* state, const double* v_before,
                                 const PawlValues* values, double* impulse, PawlError* err) {
  PawlDynamics* d = k->dynamics;
  unsigned char* alone = k->hit;  // room until the end
  bool solved;
  int next = fastest(k);
  note_pushes(k, v_before, values);
  for (int n = 0; next >= 0 && n < MOST_OF_EACH * (k->end - k->first); n++) {
    memset(alone, 0, (size_t)d->sizes.rows);
    alone[next] = 1;
    aim_at_rest(k);
    k->aim[next] = restitution_of(k, next) * fmin(k->rate[next] - k->pushed[next], 0.0);
    k->pushed[next] = 0.0;
    keep(k, state, impulse);
    PAWL_TRY(try_solve(k, state, values, alone, impulse, &solved, err));
    PAWL_TRY(strike_or_stop(k, state, values, alone, solved, impulse, err));
    pawl_dynamics_rows(d, values->G, state->v, values->g_t, k->rate);
    find_slow(k, state, values);
    next = fastest(k);
  }
  aim_at_rest(k);
  return solve(k, state, values, k->touching, impulse, err);
}

// What parts and is caught up may approach then, and is hit in its turn; what is left after many
// comes to rest.                                                                            (C5)
static PawlStatus strike_by_newton(PawlStrike* k, PawlState* state, const double* v_before,
                                   const PawlValues* values, double* impulse, bool* solved,
                                   PawlError* err) {
  pawl_dynamics_rows(k->dynamics, values->G, v_before, values->g_t, k->room);
  aim_by_newton(k, state, k->room);
  PAWL_TRY(try_solve(k, state, values, k->touching, impulse, solved, err));
  for (int n = 0; *solved && n <= MOST_OF_EACH; n++) {
    pawl_dynamics_rows(k->dynamics, values->G, state->v, values->g_t, k->rate);
    if (fastest(k) < 0) {
      return PAWL_OK;
    }
    aim_by_newton(k, state, k->rate);
    if (n == MOST_OF_EACH) {
      aim_at_rest(k);
    }
    PAWL_TRY(try_solve(k, state, values, k->touching, impulse, solved, err));
  }
  return PAWL_OK;
}

static PawlStatus strike_at_once(PawlStrike* k, PawlState* state, const double* v_before,
                                 const PawlValues* values, double* impulse, PawlError* err) {
  bool solved;
  keep(k, state, impulse);
  if (k->law == PAWL_STRIKE_POISSON) {
    PAWL_TRY(strike_by_poisson(k, state, values, impulse, &solved, err));
  } else {
    PAWL_TRY(strike_by_newton(k, state, v_before, values, impulse, &solved, err));
  }
  return strike_or_stop(k, state, values, k->touching, solved, impulse, err);
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
  find_least(k, state, values);
  if (k->law == PAWL_STRIKE_SEQUENTIAL) {
    PAWL_TRY(strike_in_turn(k, state, v_before, values, impulse, err));
  } else {
    PAWL_TRY(strike_at_once(k, state, v_before, values, impulse, err));
  }
  note_hits(k, state, impulse);
  return PAWL_OK;
}

// ---- impacts without a collision ----------------------------------------------------------------
static double speed_of(const PawlStrike* k, const PawlSlipContact* c) {
  double speed = 0.0;
  for (int i = c->first; i < c->first + c->count; i++) {
    speed = hypot(speed, k->rate[i]);
  }
  return speed;
}

// A time in which forces change no slip by more than a part of it.
static double find_ahead(PawlStrike* k, const PawlState* state, const PawlValues* values) {
  const PawlSlip* s = k->dynamics->slip;
  double* forced = k->room;
  double least = INFINITY;
  pawl_pace_rows(k->dynamics, state, NULL, values, (PawlPace){.of_a = 1.0}, forced);
  for (int c = 0; c < s->count; c++) {
    double speed = speed_of(k, &s->contact[c]), a = forced[s->contact[c].first];
    bool slides = k->touching[s->contact[c].normal] && speed > k->slow[s->contact[c].first];
    least = slides && a > 0.0 ? fmin(least, speed / a) : least;
  }
  return least < INFINITY ? PAWL_SHOCK_AHEAD * least : 0.0;
}

// Some contact that slides does so in another way than before, or not any more.
static bool changes_slip(PawlStrike* k, const PawlState* state, const PawlValues* values) {
  const PawlSlip* s = k->dynamics->slip;
  bool any = false;
  pawl_dynamics_rows(k->dynamics, values->G, state->v, values->g_t, k->after);
  for (int c = 0; c < s->count; c++) {
    const PawlSlipContact* contact = &s->contact[c];
    double speed = speed_of(k, contact), change = 0.0;
    for (int i = contact->first; i < contact->first + contact->count; i++) {
      change = hypot(change, k->after[i] - k->rate[i]);
    }
    any |= k->touching[contact->normal] && speed > k->slow[contact->first] &&
           change > PAWL_SHOCK_CHANGES * speed;
  }
  return any;
}

static PawlStatus try_shock(PawlStrike* k, PawlState* state, const PawlValues* values,
                            double* impulse, bool* solved, bool* moves, PawlError* err) {
  PAWL_TRY(try_solve(k, state, values, k->touching, impulse, solved, err));
  *moves = *solved && changes_slip(k, state, values);
  if (*solved && !*moves) {
    memcpy(state->v, k->v_kept, (size_t)k->dynamics->sizes.v * sizeof(double));
    memcpy(impulse, k->kept, (size_t)k->dynamics->sizes.rows * sizeof(double));
  }
  return PAWL_OK;
}

// Contacts that part by what counts as no rate are closed for forces, and so they are here.
static void aim_at_closed(PawlStrike* k) {
  for (int i = k->first; i < k->end; i++) {
    bool drifts = k->touching[i] && k->rate[i] > 0.0 && k->rate[i] <= k->slow[i];
    k->aim[i] = drifts ? -k->rate[i] : 0.0;
  }
}

// No impulses at all are a solution, too. That of a time in which forces act is not, however short
// it is, and its sets lead to one of the instant.                                          (F72)
static PawlStatus shock_ahead(PawlStrike* k, PawlState* state, const PawlValues* values,
                              double* impulse, bool* moves, PawlError* err) {
  enum { MOST = 4 };
  static const double SHORTER = 1e-2;
  double ahead = find_ahead(k, state, values);
  aim_at_closed(k);
  for (int n = 0; n < MOST && !*moves && ahead > 0.0; n++, ahead *= SHORTER) {
    bool solved;
    k->ahead = ahead;
    PawlStatus status = solve_rows(k, state, values, k->touching, TOGETHER, impulse, &solved, err);
    k->ahead = 0.0;
    PAWL_TRY(status);
    if (solved) {
      k->again = true;
      status = try_shock(k, state, values, impulse, &solved, moves, err);
      k->again = false;
      PAWL_TRY(status);
    }
  }
  return PAWL_OK;
}

// A time in which forces move each contact by more than what counts as no rate.
static double find_pass(PawlStrike* k, const PawlState* state, const PawlValues* values) {
  double most = 0.0, *forced = k->room;
  pawl_pace_rows(k->dynamics, state, NULL, values, (PawlPace){.of_a = 1.0}, forced);
  for (int i = k->first; i < k->end; i++) {
    bool moves = k->touching[i] && forced[i] > 0.0;
    most = moves ? fmax(most, PAWL_SHOCK_PASSES * k->slow[i] / forced[i]) : most;
  }
  return most;
}

// Some contact parts that did not, or slips where it did not, or not any more.
static bool differs(PawlStrike* k, const PawlState* state, const PawlValues* values) {
  bool any = false;
  pawl_dynamics_rows(k->dynamics, values->G, state->v, values->g_t, k->after);
  for (int i = k->rubs; i < k->end; i++) {
    bool rubs = i < k->first;
    double before = rubs ? fabs(k->rate[i]) : k->rate[i];
    double after = rubs ? fabs(k->after[i]) : k->after[i];
    any |= (rubs || k->touching[i]) && (before > k->slow[i]) != (after > k->slow[i]);
  }
  return any;
}

// Where impulses move nothing that counts, what touches there may be more than what forces hold
// together, or rest less: a time step shows, in which they come out of that.              (F73)
static PawlStatus pass(PawlStrike* k, PawlState* state, const PawlValues* values, double* impulse,
                       bool* moves, PawlError* err) {
  bool solved;
  k->ahead = find_pass(k, state, values);
  PawlStatus status = solve_rows(k, state, values, k->touching, APART, impulse, &solved, err);
  k->ahead = 0.0;
  PAWL_TRY(status);
  if (solved) {
    take_solution(k, state, impulse);
    *moves = differs(k, state, values);
  }
  return PAWL_OK;
}

PawlStatus pawl_strike_shock(PawlStrike* k, PawlState* state, const PawlValues* values,
                             double* impulse, bool* moves, PawlError* err) {
  bool solved;
  (void)look(k, state, values);  // what counts as no rate is as it was when no forces were found
  find_least(k, state, values);
  aim_at_rest(k);
  keep(k, state, impulse);
  k->shocks = true;
  PawlStatus status = try_shock(k, state, values, impulse, &solved, moves, err);
  if (status == PAWL_OK && !*moves) {
    status = shock_ahead(k, state, values, impulse, moves, err);
  }
  if (status == PAWL_OK && solved && !*moves) {
    status = pass(k, state, values, impulse, moves, err);
  }
  k->shocks = false;
  PAWL_TRY(status);
  if (!solved && !*moves) {
    return contradiction(k, state, values, err);
  }
  note_hits(k, state, impulse);
  return PAWL_OK;
}
