// SPDX-License-Identifier: Apache-2.0
#include "step/rub.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "step/rub_hold.h"
#include "step/rub_islands.h"
#include "switch/stick.h"

enum { MOST_ROWS = 480 };                     // of an island, whose compliance is full
enum { MOST_CENTERS = 3, MOST_RELAXED = 2 };  // problems from nothing; of a step, left there
enum { PATIENT = 8, HURRIED = 3 };  // sets without fewer wrong contacts, before and after a center
enum { FEW_ROWS = 96 };    // of an island, for which exact impulses are looked for at any cost
enum { MOST_LOOKS = 20 };  // at shares of loads: the first sets that slip tell

// ---- creation -----------------------------------------------------------------------------------
static void index_entries(const PawlStepper* s, PawlRub* rub) {
  for (int pass = 0; pass < 2; pass++) {
    for (int j = 0; j < s->G.cols; j++) {
      for (int e = s->G.start[j]; e < s->G.start[j + 1]; e++) {
        int k = s->G.index[e] - rub->first_row;
        if (k < 0) {
          continue;
        }
        if (pass == 1) {
          rub->entry[rub->first[k + 1]] = e;
          rub->column[rub->first[k + 1]] = j;
        }
        rub->first[k + 1 + (pass == 0)]++;
      }
    }
    for (int k = 0; pass == 0 && k < rub->rows; k++) {
      rub->first[k + 2] += rub->first[k + 1];
    }
  }
}

static void allocate(PawlStepper* s, PawlRub* rub) {
  PawlArena* arena = &s->arena;
  int m = rub->rows, n = s->sizes.v, entries = s->G.start[n];
  rub->most = m < MOST_ROWS ? m : MOST_ROWS;
  double** of_rows[] = {&rub->q, &rub->size, &rub->lo, &rub->hi, &rub->lambda, &rub->w, &rub->own};
  for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
    *of_rows[k] = PAWL_NEW(arena, double, m);
  }
  rub->of = PAWL_NEW(arena, PawlContactFriction, rub->contacts);
  rub->mu = PAWL_NEW(arena, double, rub->contacts);
  rub->slip_n = PAWL_NEW(arena, double, 2 * rub->contacts);
  rub->stop = PAWL_NEW(arena, PawlRubStop, rub->contacts);
  rub->r = PAWL_NEW(arena, double, s->sizes.v);
  rub->rests = PAWL_NEW(arena, unsigned char, rub->contacts);
  rub->jams = PAWL_NEW(arena, unsigned char, rub->contacts);
  rub->hits = PAWL_NEW(arena, unsigned char, rub->contacts);
  rub->body = PAWL_NEW(arena, int, n);
  rub->parent = PAWL_NEW(arena, int, n);
  rub->island = PAWL_NEW(arena, int, n);
  rub->head = PAWL_NEW(arena, int, n);
  rub->next = PAWL_NEW(arena, int, rub->contacts);
  rub->first = PAWL_NEW(arena, int, m + 2);
  rub->entry = PAWL_NEW(arena, int, entries);
  rub->column = PAWL_NEW(arena, int, entries);
  rub->row = PAWL_NEW(arena, int, m);
  rub->start = PAWL_NEW(arena, int, rub->contacts + 1);
  rub->held_row = PAWL_NEW(arena, int, m);
  rub->D = PAWL_NEW(arena, double, (size_t)rub->most*(size_t)rub->most + 9 * (size_t)m);
  rub->x = PAWL_NEW(arena, double, n);
  rub->slip = PAWL_NEW(arena, double, 2 * rub->contacts);
  rub->state = PAWL_NEW(arena, unsigned char, m);
  rub->block_state = PAWL_NEW(arena, unsigned char, rub->contacts);
  rub->block = PAWL_NEW(arena, PawlFrictionBlock, rub->contacts);
  rub->each = PAWL_NEW(arena, PawlFrictionBlock, rub->contacts);
  rub->contact = PAWL_NEW(arena, PawlRubContact, rub->contacts);
  rub->bare = PAWL_NEW(arena, PawlRubContact, rub->contacts);
  rub->places = PAWL_NEW(arena, PawlRubState, rub->contacts);
  rub->found = PAWL_NEW(arena, PawlRubState, rub->contacts);
  rub->known = PAWL_NEW(arena, unsigned char, rub->contacts);
  rub->asks = PAWL_NEW(arena, unsigned char, rub->contacts);
  rub->has_part = PAWL_NEW(arena, unsigned char, rub->contacts);
  rub->listed = PAWL_NEW(arena, unsigned char, rub->contacts);
  rub->hold = PAWL_NEW(arena, double, s->sizes.rows);
  rub->group = PAWL_NEW(arena, unsigned char, s->sizes.rows);
  rub->closed = PAWL_NEW(arena, unsigned char, s->sizes.rows);
  rub->holds = PAWL_NEW(arena, unsigned char, s->sizes.rows);
  rub->pushes = PAWL_NEW(arena, unsigned char, s->sizes.rows);
  rub->kept = (PawlRubKept){.x = PAWL_NEW(arena, double, n),
                            .y = PAWL_NEW(arena, double, PAWL_RUB_ROWS * rub->contacts),
                            .w = PAWL_NEW(arena, double, PAWL_RUB_ROWS * rub->contacts),
                            .held = PAWL_NEW(arena, double, s->sizes.rows),
                            .places = PAWL_NEW(arena, PawlRubState, rub->contacts)};
  rub->twin = PAWL_NEW(arena, int, rub->contacts);
  rub->problem.list = PAWL_NEW(arena, int, rub->contacts);
  rub->problem.w0 = PAWL_NEW(arena, double, PAWL_RUB_ROWS * rub->contacts);
  rub->problem.size = PAWL_NEW(arena, double, PAWL_RUB_ROWS * rub->contacts);
  rub->problem.own = PAWL_NEW(arena, double, PAWL_RUB_ROWS * rub->contacts);
}

// Contacts of the same two bodies stand behind each other.
static void find_twins(PawlRub* rub) {
  const PawlRubMatrix* m = &rub->matrix;
  for (int k = 0; k < rub->contacts; k++) {
    int width = m->first[k + 1] - m->first[k];
    bool same = k > 0 && width > 0 && width == m->first[k] - m->first[k - 1] &&
                memcmp(m->column + m->first[k], m->column + m->first[k - 1],
                       (size_t)width * sizeof(int)) == 0;
    rub->twin[k] = same ? k - 1 : -1;
  }
}

PawlStatus pawl_rub_create(PawlStepper* s, bool positions, PawlRub* rub, PawlError* err) {
  int slips = 0;
  bool watched = false;
  for (int i = 0; i < s->sizes.rows; i++) {
    slips += pawl_system_row_kind(s->system, i) == PAWL_ROW_FRICTION;
  }
  if (slips == 0) {
    return PAWL_OK;
  }
  rub->contacts = s->contact_count;
  rub->rows = slips + rub->contacts;
  rub->first_row = s->sizes.rows - rub->rows;
  allocate(s, rub);
  int* last = PAWL_NEW(&s->arena, int, s->sizes.rows);
  if (s->arena.failed) {
    return pawl_fail_memory(err);
  }
  rub->bodies = pawl_rub_islands_bodies(s, rub->first_row, rub->body, rub->parent, last);
  index_entries(s, rub);
  for (int k = 0; k < rub->contacts; k++) {
    rub->of[k] = pawl_system_friction(s->system, rub->first_row + slips + k);
    watched |= rub->of[k].watch >= 0;
  }
  for (int k = 0; k < rub->contacts; k++) {
    rub->contact[k] = (PawlRubContact){
        .normal = pawl_rub_row(rub, k), .first = rub->of[k].first, .count = rub->of[k].count};
  }
  for (int k = 0; k < rub->contacts; k++) {
    rub->bare[k] = (PawlRubContact){.normal = pawl_rub_row(rub, k)};
  }
  PAWL_TRY(pawl_rub_matrix_create(s, rub->contacts, rub->contact, &rub->matrix, err));
  s->more_kkt[0] = rub->matrix.kkt;
  find_twins(rub);
  if (positions) {
    PAWL_TRY(pawl_rub_matrix_create(s, rub->contacts, rub->bare, &rub->bare_matrix, err));
    s->more_kkt[1] = rub->bare_matrix.kkt;
  }
  size_t bytes = pawl_kkt_memory_bytes(s->kkt);
  size_t of_matrix = rub->matrix.kkt ? pawl_kkt_memory_bytes(rub->matrix.kkt) : 0;
  rub->solver_before = PAWL_NEW(&s->arena, unsigned char, bytes > of_matrix ? bytes : of_matrix);
  if (!rub->solver_before) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_rub_sets_create(s, &rub->matrix, &rub->sets, err));
  PAWL_TRY(pawl_rub_center_create(s, &rub->matrix, &rub->center, err));
  PAWL_TRY(pawl_rub_local_create(s, &rub->matrix, &rub->local, err));
  PAWL_TRY(pawl_rub_soft_create(s, &rub->matrix, &rub->soft, err));
  PAWL_TRY(watched ? pawl_stepper_eval(s, PAWL_WATCHES, &rub->watch, err) : PAWL_OK);
  return pawl_friction_create(rub->most, rub->most, &rub->solver, err);
}

void pawl_rub_destroy(PawlRub* rub) {
  pawl_friction_destroy(rub->solver);
  pawl_rub_matrix_destroy(&rub->matrix);
  pawl_rub_matrix_destroy(&rub->bare_matrix);
  pawl_eval_destroy(rub->watch);
}

// Where the search by sets begins: as in the last iteration, so that what solves the equations
// stays as it is; in the first one as in the step before, and what did not slip sticks.
static void guess_state(const PawlRub* rub, const PawlRubStep* step, int k) {
  const PawlRubContact* c = &rub->problem.matrix->contact[k];
  PawlRubState* state = &rub->places[k];
  double* y = rub->sets.y + PAWL_RUB_ROWS * k;
  double T = 0.0;
  memset(y, 0, PAWL_RUB_ROWS * sizeof *y);  // rows that a bare contact has not, too
  y[0] = step->guess[c->normal];
  for (int i = 0; i < c->count; i++) {
    y[1 + i] = step->guess[c->first + i];
    T = hypot(T, y[1 + i]);
  }
  if (!step->bare && rub->known[k]) {
    *state = rub->found[k];
    return;
  }
  bool slips = y[0] > 0.0 && T > 0.0 && T >= PAWL_RUB_STICKS * c->mu * y[0];
  if (c->count > 0 && c->mu == 0.0 && y[0] > 0.0 && !rub->rests[k]) {
    const double* rate = rub->slip_n + 2 * k;  // nothing else tells its direction
    T = -hypot(rate[0], c->count > 1 ? rate[1] : 0.0);
    slips = true;
    memcpy(y + 1, rate, (size_t)c->count * sizeof(double));
  }
  state->place = slips                         ? PAWL_RUB_SLIP
                 : y[0] > 0.0 || rub->rests[k] ? PAWL_RUB_STICK
                                               : PAWL_RUB_OPEN;
  state->turns = 0.0;
  for (int i = 0; i < c->count; i++) {
    state->direction[i] = slips ? -y[1 + i] / T : 0.0;
  }
  if (slips && !rub->rests[k]) {  // shares of what slides are those of springs              (F28)
    memset(y, 0, PAWL_RUB_ROWS * sizeof *y);
  }
}

// The rows of a contact in the problem.
static void ask_contact(PawlRub* rub, const PawlRubStep* step, int k) {
  PawlRubProblem* q = &rub->problem;
  const PawlRubContact* c = &q->matrix->contact[k];
  for (int i = 0; i <= c->count; i++) {
    int row = i == 0 ? c->normal : c->first + i - 1, at = PAWL_RUB_ROWS * k + i;
    q->w0[at] = step->w0[row];
    q->size[at] = step->size[row];
    q->own[at] = pawl_rub_matrix_own(q->matrix, k, i);
  }
}

// Shares of a load among contacts that are one stated twice are moved by the rounding of their
// rates over their compliance, unless these are the same. (T34)
static void unite(PawlRub* rub, const PawlRubStep* step, int k) {
  PawlRubProblem* q = &rub->problem;
  int at = PAWL_RUB_ROWS * k;
  for (int twin = rub->twin[k]; twin >= 0; twin = rub->twin[twin]) {
    int of = PAWL_RUB_ROWS * twin;
    if (step->near[pawl_rub_row(rub, twin)] &&
        fabs(q->w0[at] - q->w0[of]) <= q->tolerance * q->size[of] &&
        pawl_rub_matrix_unite(q->matrix, k, twin)) {
      q->w0[at] = q->w0[of];
      q->size[at] = q->size[of];
      q->own[at] = q->own[of];
      return;
    }
  }
}

static void ask_problem(PawlRub* rub, const PawlRubStep* step, const double* r) {
  PawlRubProblem* q = &rub->problem;
  double most = 0.0;
  q->tolerance = step->tolerance;
  q->count = 0;
  for (int k = 0; k < rub->contacts; k++) {
    rub->contact[k].mu = rub->mu[k];
    int row = pawl_rub_row(rub, k) - rub->first_row;
    if (step->near[pawl_rub_row(rub, k)] && rub->first[row] < rub->first[row + 1]) {
      q->list[q->count++] = k;
    }
  }
  pawl_rub_matrix_set(q->matrix, step->S, step->B, step->J, step->bilateral);
  for (int a = 0; a < q->count; a++) {
    ask_contact(rub, step, q->list[a]);
    unite(rub, step, q->list[a]);
    for (int i = 0; i <= q->matrix->contact[q->list[a]].count; i++) {
      most = fmax(most, q->own[PAWL_RUB_ROWS * q->list[a] + i]);
    }
  }
  for (int a = 0; a < q->count; a++) {
    for (int i = 0; i <= q->matrix->contact[q->list[a]].count; i++) {
      double* own = &q->own[PAWL_RUB_ROWS * q->list[a] + i];
      *own = fmax(*own, PAWL_FRICTION_SOFT * most);
    }
  }
  for (int i = 0; i < q->matrix->bilateral; i++) {
    rub->hold[i] = step->bilateral[i] ? -step->w0[i] : 0.0;
  }
  q->r = r;
  q->hold = rub->hold;
  q->kept = rub->known;
}

// What was found for the contacts of the problem: x, y of bilateral rows and y of contacts.
static void take(PawlStepper* s, const PawlRub* rub, const PawlRubStep* step, const double* from_x,
                 const double* held, double* x, double* y, unsigned char* closed) {
  memcpy(x, from_x, (size_t)s->sizes.v * sizeof(double));
  memset(y, 0, (size_t)s->sizes.rows * sizeof(double));
  memcpy(y, held, (size_t)rub->problem.matrix->bilateral * sizeof(double));
  memcpy(closed, step->bilateral, (size_t)s->sizes.rows);
  for (int a = 0; a < rub->problem.count; a++) {
    int k = rub->problem.list[a];
    const PawlRubContact* c = &rub->problem.matrix->contact[k];
    const PawlRubState* state = &rub->places[k];
    closed[c->normal] = state->place != PAWL_RUB_OPEN;
    y[c->normal] = fmax(rub->sets.y[PAWL_RUB_ROWS * k], 0.0);  // what is below is rounding
    for (int i = 0; i < c->count; i++) {
      closed[c->first + i] = state->place == PAWL_RUB_STICK;
      y[c->first + i] = rub->sets.y[PAWL_RUB_ROWS * k + 1 + i];
    }
  }
}

// To its end, which tells how contacts are and what pushes them; without friction that is the
// solution.
static bool finish_center(PawlRub* rub, double end) {
  bool ended = pawl_rub_center_go_on(&rub->center, &rub->problem, end);
  pawl_rub_center_conclude(&rub->center, &rub->problem, rub->places, rub->sets.y);
  return ended;
}

static void take_center(PawlRub* rub) {
  const PawlRubMatrix* m = rub->problem.matrix;
  memcpy(rub->sets.x, rub->center.x, (size_t)m->n * sizeof(double));
  memcpy(rub->sets.held, rub->center.held, (size_t)m->bilateral * sizeof(double));
}

// From nothing, and by sets from there: what slips opens at first, and less when rates are known.
// Of several solutions this leads to those in which little slips. Without friction once is enough:
// the next problem would be the same. Where levels have led nowhere sets from the first shifts
// hardly ever do, and are left out. `*relaxed`: it has ended, and what slips may open by a part of
// mu times its rate.
static bool try_centers(PawlRub* rub, bool bare, bool* relaxed) {
  bool all = bare || rub->concluded || !pawl_rub_path_suits(&rub->problem);
  for (int k = 0; k < (bare ? 1 : MOST_CENTERS); k++) {
    if (k == 0 && rub->concluded) {  // by (T17)
      pawl_rub_center_conclude(&rub->center, &rub->problem, rub->places, rub->sets.y);
    } else {
      pawl_rub_center_begin(&rub->center, &rub->problem,
                            k == 0 ? PAWL_RUB_SHIFT_NONE : PAWL_RUB_SHIFT_FOUND);
      if (!finish_center(rub, PAWL_RUB_CENTERED)) {
        *relaxed = false;
        return false;
      }
    }
    rub->centered++;
    *relaxed = true;
    if ((all || k == MOST_CENTERS - 1) &&
        pawl_rub_sets_solve(&rub->sets, &rub->problem, HURRIED, rub->places)) {
      return true;
    }
  }
  return false;
}

// From where that has ended, with a few contacts solved for by themselves.
static bool try_concluded(PawlRub* rub) {
  pawl_rub_center_conclude(&rub->center, &rub->problem, rub->places, rub->sets.y);
  return pawl_rub_local_solve(&rub->local, &rub->sets, &rub->problem, rub->solver, rub->places);
}

// To the very end, which without friction is the solution.
static bool try_end(PawlRub* rub) {
  if (!finish_center(rub, PAWL_RUB_CENTERED * PAWL_RUB_CENTERED)) {
    return false;
  }
  take_center(rub);
  return true;
}

// In a step that has one such solution: with the same openings of what slips, so that iterations
// end.
static bool relax_again(PawlRub* rub) {
  pawl_rub_center_begin(&rub->center, &rub->problem, PAWL_RUB_SHIFT_KEPT);
  return finish_center(rub, PAWL_RUB_CENTERED * PAWL_RUB_CENTERED);
}

// Contacts that slip, as a number; 0: fewer than two.
static unsigned what_slips(const PawlRub* rub) {
  unsigned hash = 1u;
  int count = 0;
  for (int a = 0; a < rub->problem.count; a++) {
    int k = rub->problem.list[a];
    bool slips =
        rub->places[k].place == PAWL_RUB_SLIP && !rub->rests[k] && rub->contact[k].mu > 0.0;
    hash = slips ? hash * 31u + (unsigned)k + 1u : hash;
    count += slips;
  }
  return count > 1 ? hash | 1u : 0u;
}

// A look at something aside must leave no trace: with the pivots that it has come to the next
// steps would have other bits.
static void begin_aside(PawlRub* rub, PawlKkt* kkt) {
  pawl_kkt_save(kkt, rub->solver_before);
}

static void end_aside(PawlRub* rub, PawlKkt* kkt) {
  PawlStatus status = pawl_kkt_load(kkt, rub->solver_before);
  assert(status == PAWL_OK);  // they are its own
  (void)status;
}

// Says once that the motion hangs on how contacts share a load.                             (F28)
static PawlStatus note_shares(PawlStepper* s, PawlRub* rub, double t, PawlError* err) {
  unsigned slips = rub->looks < MOST_LOOKS ? what_slips(rub) : 0u;
  if (slips == 0u || slips == rub->looked_at) {
    return PAWL_OK;
  }
  rub->looked_at = slips;
  rub->looks++;
  memset(rub->group, 0, (size_t)s->sizes.rows);
  begin_aside(rub, rub->matrix.kkt);
  pawl_rub_hold_keep(rub, false);
  bool shares = pawl_rub_sets_shares(&rub->sets, &rub->problem, rub->places, rub->group);
  pawl_rub_hold_keep(rub, true);
  end_aside(rub, rub->matrix.kkt);
  if (!shares) {
    return PAWL_OK;
  }
  rub->looks = MOST_LOOKS;
  return pawl_stick_note_shares(&s->dynamics, rub->group, t, err);
}

// ---- by the sparse system -----------------------------------------------------------------------
// From contacts that are all open: what is closed to rounding needs no push then, and of that there
// may be more than can be met at once.
static bool try_open(PawlRub* rub) {
  for (int a = 0; a < rub->problem.count; a++) {
    int k = rub->problem.list[a];
    rub->places[k] = (PawlRubState){.place = PAWL_RUB_OPEN};
    memset(rub->sets.y + PAWL_RUB_ROWS * k, 0, PAWL_RUB_ROWS * sizeof(double));
  }
  return pawl_rub_sets_solve(&rub->sets, &rub->problem, PATIENT, rub->places);
}

// From the places of the iteration or the step before.
static bool try_before(PawlRub* rub, const PawlRubStep* step) {
  rub->problem.again = !step->bare;
  for (int a = 0; a < rub->problem.count; a++) {
    guess_state(rub, step, rub->problem.list[a]);
    rub->problem.again &= rub->known[rub->problem.list[a]];
  }
  bool found = pawl_rub_sets_solve(&rub->sets, &rub->problem, PATIENT, rub->places);
  rub->problem.again = false;
  return found;
}

// From there, too, with those that change solved for by themselves.
static bool try_local(PawlRub* rub, const PawlRubStep* step) {
  for (int a = 0; a < rub->problem.count; a++) {
    guess_state(rub, step, rub->problem.list[a]);
  }
  return pawl_rub_local_solve(&rub->local, &rub->sets, &rub->problem, rub->solver, rub->places);
}

// By sets from where levels of softness end, or with a few solved for by themselves.
static bool try_levels(PawlRub* rub) {
  return pawl_rub_soft_solve(&rub->soft, &rub->sets, &rub->local, rub->solver, &rub->problem,
                             rub->places) &&
         (pawl_rub_sets_solve(&rub->sets, &rub->problem, HURRIED, rub->places) ||
          pawl_rub_local_solve(&rub->local, &rub->sets, &rub->problem, rub->solver, rub->places));
}

// From there, too, from soft to hard.                                                     (F38)
static bool try_soft(PawlRub* rub, const PawlRubStep* step) {
  for (int a = 0; !step->bare && a < rub->problem.count; a++) {
    guess_state(rub, step, rub->problem.list[a]);
  }
  return !step->bare && try_levels(rub);
}

// From the same places without impulses, which leads to other solutions.                  (F50)
static bool try_other(PawlRub* rub, const PawlRubStep* step) {
  bool suits = !step->bare && pawl_rub_path_suits(&rub->problem);
  for (int a = 0; suits && a < rub->problem.count; a++) {
    int k = rub->problem.list[a];
    guess_state(rub, step, k);
    memset(rub->sets.y + PAWL_RUB_ROWS * k, 0, PAWL_RUB_ROWS * sizeof(double));
  }
  return suits && try_levels(rub);
}

static void note_places(PawlRub* rub, const PawlRubStep* step) {
  for (int a = 0; !step->bare && a < rub->problem.count; a++) {
    int k = rub->problem.list[a];
    rub->found[k] = rub->places[k];
    rub->known[k] = true;
  }
}

// By the sparse system: from the places of the step before, then from nothing.
static PawlStatus try_places(PawlStepper* s, PawlRub* rub, const PawlRubStep* step, double* x,
                             double* y, unsigned char* closed, bool* found, bool* relaxed,
                             PawlError* err) {
  *found = *relaxed = false;
  rub->problem.matrix = step->bare ? &rub->bare_matrix : &rub->matrix;
  if (!rub->problem.matrix->kkt) {
    return PAWL_OK;
  }
  ask_problem(rub, step, x);
  if (!step->bare && rub->relaxed_often >= MOST_RELAXED && relax_again(rub)) {
    *relaxed = true;
    return PAWL_OK;
  }
  *found = try_before(rub, step);
  PAWL_TRY(pawl_rub_hold(s, rub, step, found, err));
  bool held = rub->concluded;
  *found = *found || (step->bare && try_open(rub)) ||
           (held && try_centers(rub, step->bare, relaxed)) || try_soft(rub, step) ||
           try_other(rub, step) || (!held && try_centers(rub, step->bare, relaxed)) ||
           (*relaxed && try_concluded(rub)) || (!*relaxed && try_local(rub, step)) ||
           (*relaxed && step->bare && try_end(rub));
  *relaxed = *relaxed && !*found;
  if (*relaxed) {
    pawl_rub_center_conclude(&rub->center, &rub->problem, rub->places, rub->sets.y);
  }
  if (*found) {
    PAWL_TRY(step->bare ? PAWL_OK : note_shares(s, rub, step->t, err));
    note_places(rub, step);
    take(s, rub, step, rub->sets.x, rub->sets.held, x, y, closed);
  }
  return PAWL_OK;
}

// The places of impulses y that were found otherwise.
static void note_impulses(PawlRub* rub, const double* y) {
  for (int a = 0; a < rub->problem.count; a++) {
    int k = rub->problem.list[a];
    const PawlRubContact* c = &rub->contact[k];
    double N = y[c->normal], T = 0.0;
    for (int i = 0; i < c->count; i++) {
      T = hypot(T, y[c->first + i]);
    }
    bool slips = c->count > 0 && N > 0.0 && T >= PAWL_RUB_STICKS * c->mu * N;
    rub->found[k].turns = 0.0;
    rub->found[k].place = N <= 0.0 ? PAWL_RUB_OPEN : slips ? PAWL_RUB_SLIP : PAWL_RUB_STICK;
    for (int i = 0; i < c->count; i++) {
      rub->found[k].direction[i] = slips && T > 0.0 ? -y[c->first + i] / T : 0.0;
    }
    rub->known[k] = true;
  }
}

// Where nothing else is found, or the islands are too large to look for it, what slips is left to
// open by a part of mu times its rate.                                                    (F16)
static PawlStatus solve(PawlStepper* s, PawlRub* rub, const PawlRubStep* step, double* x, double* y,
                        unsigned char* closed, PawlError* err) {
  bool found, relaxed;
  assert(rub->contacts > 0 && step->tolerance > 0.0);
  bool again = rub->relaxed;
  PAWL_TRY(try_places(s, rub, step, x, y, closed, &found, &relaxed, err));
  rub->relaxed = step->bare ? again : false;
  rub->near = rub->near && rub->relaxed;
  if (found) {
    return PAWL_OK;
  }
  bool large = relaxed && (again || pawl_rub_islands_find(rub, step->near) > FEW_ROWS);
  PawlStatus status = large ? PAWL_RETRY : pawl_rub_islands_solve(s, rub, step, x, y, closed, err);
  if (status == PAWL_RETRY && relaxed) {
    rub->relaxed = true;
    rub->near = false;
    rub->relaxed_often++;
    note_places(rub, step);
    take(s, rub, step, rub->center.x, rub->center.held, x, y, closed);
    return PAWL_OK;
  }
  if (status == PAWL_OK && !step->bare) {
    note_impulses(rub, y);
  }
  return status;
}

PawlStatus pawl_rub_solve(PawlStepper* s, PawlRub* rub, const PawlRubStep* step, double* x,
                          double* y, unsigned char* closed, PawlError* err) {
  size_t bytes = (size_t)s->sizes.v * sizeof(double);
  if (!step->bare && !rub->counted) {
    rub->counted = true;
    rub->problem.matrix = &rub->matrix;
    begin_aside(rub, s->kkt);
    PawlStatus status = pawl_rub_islands_count(s, rub, step, x, y, err);
    end_aside(rub, s->kkt);
    PAWL_TRY(status);
  }
  if (step->bare || !rub->stops) {
    return solve(s, rub, step, x, y, closed, err);
  }
  memcpy(rub->r, x, bytes);
  PAWL_TRY(solve(s, rub, step, x, y, closed, err));
  while (pawl_rub_stop(rub, y, closed)) {
    memcpy(x, rub->r, bytes);
    PAWL_TRY(solve(s, rub, step, x, y, closed, err));
  }
  return PAWL_OK;
}
