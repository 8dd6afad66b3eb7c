// SPDX-License-Identifier: Apache-2.0
#include "step/rub_hold.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "step/rub_islands.h"
#include "switch/tolerances.h"

enum { PATIENCE = 3 };  // sets without fewer wrong contacts

// The contact of the row at a place of the islands; < 0: a row of friction, whose contact stands
// before it.
static int contact_at(const PawlRub* rub, int a) {
  return rub->row[a] - pawl_rub_row(rub, 0);
}

// ---- what was found -----------------------------------------------------------------------------
// It slips, or opens by less than mu times its slip: by (F13) without a shift it does not.
static bool strays(const PawlRub* rub, int k, double most) {
  const PawlRubProblem* q = &rub->problem;
  const PawlRubContact* c = &q->matrix->contact[k];
  int at = PAWL_RUB_ROWS * k;
  double T = 0.0, slack = q->tolerance * q->size[at] + PAWL_ROUNDED * most * q->own[at];
  for (int i = 1; i <= c->count; i++) {
    T = hypot(T, rub->sets.w[at + i]);
    slack += c->mu * (q->tolerance * q->size[at + i] + PAWL_ROUNDED * most * q->own[at + i]);
  }
  return c->mu * T > rub->sets.w[at] + slack;
}

// The first contact of an island that does by what was found; -1: none does.
static int first_astray(const PawlRub* rub, int island, double most) {
  for (int a = rub->start[island]; a < rub->start[island + 1]; a++) {
    int k = contact_at(rub, a);
    if (k >= 0 && strays(rub, k, most)) {
      return k;
    }
  }
  return -1;
}

// It slips at the beginning, faster than its friction could stop by itself, and on by what was
// found, if that is known: nothing will hold it. What hits is stopped as a whole.
static bool slips_on(const PawlRub* rub, const PawlRubStep* step, int k, bool found) {
  const PawlRubContact* c = &rub->contact[k];
  const PawlRubState* state = &rub->places[k];
  const double* before = rub->slip_n + 2 * k;
  int at = PAWL_RUB_ROWS * k;
  double N = found ? rub->sets.y[at] : step->guess[c->normal], along = 0.0, slip = 0.0;
  for (int i = 0; i < c->count; i++) {
    along += before[i] * state->direction[i];
    slip = hypot(slip, before[i]);
  }
  return !rub->rests[k] && !rub->hits[k] && (!found || state->place == PAWL_RUB_SLIP) &&
         (found ? along : slip) > c->mu * N * rub->problem.own[at + 1];
}

static bool island_slips_on(const PawlRub* rub, const PawlRubStep* step, int island, bool found) {
  bool slips = false;
  for (int a = rub->start[island]; a < rub->start[island + 1]; a++) {
    int k = contact_at(rub, a);
    slips |= k >= 0 && slips_on(rub, step, k, found);
  }
  return slips;
}

// A contact of an island that something hits has lost its load without opening: loads are shared
// so that others carry it, by chance.
static bool island_unloads(const PawlRub* rub, const PawlRubStep* step, int island) {
  bool unloads = false, hit = false;
  for (int a = rub->start[island]; a < rub->start[island + 1]; a++) {
    int k = contact_at(rub, a), at = PAWL_RUB_ROWS * (k > 0 ? k : 0);
    hit |= k >= 0 && rub->hits[k];
    unloads |= k >= 0 && !rub->hits[k] && step->guess[rub->row[a]] > 0.0 &&
               !(rub->sets.y[at] > 0.0) &&
               rub->sets.w[at] <= rub->problem.tolerance * rub->problem.size[at];
  }
  return hit && unloads;
}

static bool slips_by_center(const PawlRub* rub, int island) {
  bool slips = false;
  for (int a = rub->start[island]; a < rub->start[island + 1]; a++) {
    int k = contact_at(rub, a);
    slips |= k >= 0 && pawl_rub_center_slips(&rub->center, k);
  }
  return slips;
}

// Which islands are asked to hold, in rub->asks: where nothing was found, where something strays,
// and where shares of a load are chance and matter. The first contact that strays; -1: none.
static int ask_islands(PawlRub* rub, const PawlRubStep* step, bool found) {
  double most = found ? pawl_rub_sets_largest(&rub->sets, &rub->problem) : 0.0;
  int first = -1;
  (void)pawl_rub_islands_find(rub, step->near);
  rub->asked_islands = 0;
  for (int island = 0; island < rub->islands; island++) {
    int astray = found ? first_astray(rub, island, most) : -1;
    bool unloads = found && step->shares && island_unloads(rub, step, island);
    rub->asks[island] =
        (!found || astray >= 0 || unloads) && !island_slips_on(rub, step, island, found);
    rub->asked_islands += rub->asks[island];
    first = first < 0 && rub->asks[island] ? astray : first;
  }
  return first;
}

// ---- what holds ---------------------------------------------------------------------------------
// Of the islands that are asked, those in which nothing slips by the convex problem hold; others
// stay as they were found, or as they are by it, and as they were where they had no part in it.
static int choose_islands(PawlRub* rub, bool found) {
  int holds = 0;
  for (int island = 0; island < rub->islands; island++) {
    rub->asks[island] = rub->asks[island] && !slips_by_center(rub, island);
    holds += rub->asks[island];
    for (int a = rub->start[island]; a < rub->start[island + 1]; a++) {
      int k = contact_at(rub, a);
      if (k < 0) {
        continue;
      }
      if (rub->asks[island]) {
        PawlRubState* state = &rub->places[k];
        state->place = state->place == PAWL_RUB_OPEN ? PAWL_RUB_OPEN : PAWL_RUB_STICK;
      } else if (found || !rub->has_part[k]) {
        rub->places[k] = rub->kept.places[k];
        memcpy(rub->sets.y + PAWL_RUB_ROWS * k, rub->kept.y + PAWL_RUB_ROWS * k,
               PAWL_RUB_ROWS * sizeof(double));
      }
    }
  }
  return holds;
}

static bool all_hold(const PawlRub* rub) {
  double most = pawl_rub_sets_largest(&rub->sets, &rub->problem);
  bool hold = true;
  for (int island = 0; island < rub->islands; island++) {
    hold = hold && (!rub->asks[island] || first_astray(rub, island, most) < 0);
  }
  return hold;
}

void pawl_rub_hold_keep(PawlRub* rub, bool back) {
  const PawlRubMatrix* m = rub->problem.matrix;
  size_t rows = PAWL_RUB_ROWS * (size_t)rub->contacts;
  struct {
    double *now, *kept;
    size_t count;
  } arrays[] = {{rub->sets.x, rub->kept.x, (size_t)m->n},
                {rub->sets.y, rub->kept.y, rows},
                {rub->sets.w, rub->kept.w, rows},
                {rub->sets.held, rub->kept.held, (size_t)m->bilateral}};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
    memcpy(back ? arrays[k].now : arrays[k].kept, back ? arrays[k].kept : arrays[k].now,
           arrays[k].count * sizeof(double));
  }
  memcpy(back ? rub->places : rub->kept.places, back ? rub->kept.places : rub->places,
         (size_t)rub->contacts * sizeof *rub->places);
}

// The contacts of the islands that are asked, or again all, in the order that they have there.
static void choose_contacts(PawlRub* rub, bool all) {
  PawlRubProblem* q = &rub->problem;
  memset(rub->listed, 0, (size_t)rub->contacts);
  for (int island = 0; island < rub->islands; island++) {
    for (int a = rub->start[island]; a < rub->start[island + 1]; a++) {
      int k = contact_at(rub, a);
      if (k >= 0) {
        rub->listed[k] = all || rub->asks[island];
        rub->has_part[k] = all ? rub->has_part[k] : rub->asks[island];
      }
    }
  }
  q->count = 0;
  for (int k = 0; k < rub->contacts; k++) {
    if (rub->listed[k]) {
      q->list[q->count++] = k;
    }
  }
}

// Forces in the middle of all cones: (F13) without a shift has one solution x, which obeys the laws
// where nothing slips in it. Islands do not feel each other, but it ends by the sizes of all: those
// that are not asked have no part in it.                                                  (T17)
static bool try_hold(PawlRub* rub, bool found) {
  choose_contacts(rub, false);
  pawl_rub_center_begin(&rub->center, &rub->problem, PAWL_RUB_SHIFT_NONE);
  bool ended = pawl_rub_center_go_on(&rub->center, &rub->problem, PAWL_RUB_CENTERED);
  pawl_rub_center_conclude(&rub->center, &rub->problem, rub->places, rub->sets.y);
  rub->concluded = ended && rub->asked_islands == rub->islands;
  choose_contacts(rub, true);
  if (!ended || choose_islands(rub, found) == 0) {
    return false;
  }
  return pawl_rub_sets_solve(&rub->sets, &rub->problem, PATIENCE, rub->places) && all_hold(rub);
}

// Whether its island has other contacts.
static bool is_among_others(const PawlRub* rub, int contact) {
  int count = 0;
  bool here = false;
  for (int island = 0; island < rub->islands && !here; island++) {
    count = 0;
    for (int a = rub->start[island]; a < rub->start[island + 1]; a++) {
      here |= contact_at(rub, a) == contact;
      count += contact_at(rub, a) >= 0;
    }
  }
  return count > 1;
}

// Said once: both are solutions.
static PawlStatus tell_hold(PawlStepper* s, PawlRub* rub, double t, int contact, PawlError* err) {
  int number;
  PawlText text = {0};
  if (rub->told) {
    return PAWL_OK;
  }
  rub->told = true;
  const char* name = pawl_system_row_name(s->system, pawl_rub_row(rub, contact), &number);
  bool others = is_among_others(rub, contact);
  pawl_text_printf(&text,
                   "t = %.10g: contact '%s'%s could slip or part, too: both obey the laws, and %s "
                   "(later ones are not named)",
                   t, name, others ? " and others" : "", others ? "they hold" : "it holds");
  PawlStatus status = text.failed ? PAWL_ERROR_MEMORY : pawl_dynamics_warn(&s->dynamics, text.s);
  pawl_text_free(&text);
  return status == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
}

// In the first iteration of a step where contacts slip or part, and in any where nothing is found:
// those of an island that can hold do.                                                      (T17)
PawlStatus pawl_rub_hold(PawlStepper* s, PawlRub* rub, const PawlRubStep* step, bool* found,
                         PawlError* err) {
  rub->concluded = false;
  if (step->bare || (rub->asked && *found)) {
    return PAWL_OK;
  }
  rub->asked = true;
  int astray = ask_islands(rub, step, *found);
  if (rub->asked_islands == 0) {
    return PAWL_OK;
  }
  pawl_rub_hold_keep(rub, false);
  if (try_hold(rub, *found)) {
    *found = true;
    return astray >= 0 ? tell_hold(s, rub, step->t, astray, err) : PAWL_OK;
  }
  if (*found) {
    pawl_rub_hold_keep(rub, true);
  }
  return PAWL_OK;
}
