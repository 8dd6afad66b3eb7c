// SPDX-License-Identifier: Apache-2.0
#include "step/loop_instant.h"

#include <math.h>
#include <string.h>

#include "step/loop_piece.h"
#include "switch/tolerances.h"

enum {
  MOST_ROOT_STEPS = 200,
  MOST_HALVINGS = 40,
};

static const double OF_NOISE = 10.0;  // of surfaces: a dip of a region that is rounding

bool pawl_instant_is_quiet(const PawlLoop* l, const PawlState* state, const PawlMargin* margin) {
  bool surface = margin->least == margin->regions || margin->least == margin->kinks;
  return margin->least >= 0.0 ||
         (surface && margin->least >= -pawl_surfaces_noise(&l->surfaces, state));
}

// ---- finding the instant ------------------------------------------------------------------------
void pawl_instant_back(PawlStepper* s, PawlState* state) {
  pawl_phase_copy(state, s->loop->mark);
  s->log.count = s->loop->mark_count;
}

// The margin after a piece of length h from the mark.
static PawlStatus probe(PawlStepper* s, PawlState* state, double h, PawlMargin* margin,
                        PawlError* err) {
  pawl_instant_back(s, state);
  if (h > 0.0) {
    PAWL_TRY(pawl_piece_step(s, state, h, err));
  }
  return pawl_guards_margins(&s->loop->guards, state, margin, err);
}

// The margins of the last look, then regions, then kinks.
static void copy_margins(const PawlLoop* l, const double* margins, double regions,
                         const double* kinks, double* out) {
  const PawlGuards* g = &l->guards;
  memcpy(out, margins, (size_t)g->armed_count * sizeof(double));
  out[g->armed_count] = regions;
  memcpy(out + g->armed_count + 1, kinks, (size_t)l->kinks.count * sizeof(double));
}

// The margins of the last look, at a length x, some of them negative (`beyond`) or none.
static void note_look(PawlLoop* l, double x, bool beyond, const PawlMargin* margin) {
  double* f = pawl_root_add(&l->root, x, beyond);
  copy_margins(l, l->guards.margins, margin->regions, l->guards.kink_margins, f);
}

// The end of what is looked at, where margins are negative, was just looked at.
static void note_end(PawlLoop* l, double h, const PawlMargin* margin) {
  pawl_root_begin(&l->root, l->guards.armed_count + 1 + l->kinks.count);
  note_look(l, h, true, margin);
}

// The state just past the first zero of the margins, which is between `low`, where none is negative
// and which was just looked at, and the end that was noted; *reached is its place.        (V17a)
static PawlStatus locate(PawlStepper* s, PawlState* state, double low, double high,
                         PawlMargin* margin, double* reached, PawlError* err) {
  PawlLoop* l = s->loop;
  double tolerance = pawl_dynamics_instant(&s->dynamics, l->mark->t);
  bool at_high = false;  // the state is that of `high`
  note_look(l, low, false, margin);
  for (int k = 0; k < MOST_ROOT_STEPS && high - low > tolerance; k++) {
    double h = pawl_root_next(&l->root, tolerance);
    PAWL_TRY(probe(s, state, h, margin, err));
    at_high = margin->least < 0.0;
    note_look(l, h, at_high, margin);
    low = at_high ? low : h;
    high = at_high ? h : high;
  }
  *reached = high;
  return at_high ? PAWL_OK : probe(s, state, high, margin, err);
}

// A margin that is zero at the mark (after a jump motion begins on a surface): a length at which it
// is positive; 0 when there is none.
static PawlStatus find_inside(PawlStepper* s, PawlState* state, double h, double* inside,
                              PawlMargin* margin, PawlError* err) {
  *inside = 0.0;
  for (int k = 0; k < MOST_HALVINGS; k++) {
    h *= 0.5;
    PAWL_TRY(probe(s, state, h, margin, err));
    if (margin->least > 0.0) {
      *inside = h;
      return PAWL_OK;
    }
  }
  return PAWL_OK;
}

// The margin is zero at the mark and never positive after it: to where it is negative, an instant
// away, or where rounding first lets it be. What rests on a border leaves it with the square of
// time.
static PawlStatus leave_zero(PawlStepper* s, PawlState* state, double h, PawlMargin* margin,
                             PawlError* err) {
  double at, least = pawl_dynamics_instant(&s->dynamics, state->t);
  PAWL_TRY(probe(s, state, least, margin, err));
  return margin->least < 0.0 || h <= least ? PAWL_OK : locate(s, state, least, h, margin, &at, err);
}

// The margins at the mark.
static PawlStatus look_at_mark(PawlStepper* s, PawlState* state, PawlMargin* margin,
                               PawlError* err) {
  PawlGuards* g = &s->loop->guards;
  pawl_instant_back(s, state);
  PAWL_TRY(pawl_guards_crossed(g, state, margin, err));
  pawl_guards_keep_margins(g);
  margin->least = fmin(margin->least, fmin(margin->regions, margin->kinks));
  return PAWL_OK;
}

PawlStatus pawl_instant_go_to_zero(PawlStepper* s, PawlState* state, double h, PawlMargin* margin,
                                   double* reached, PawlError* err) {
  PawlMargin start;
  double low = 0.0;
  *reached = 0.0;
  note_end(s->loop, h, margin);
  PAWL_TRY(look_at_mark(s, state, &start, err));
  if (start.least < fmin(0.0, start.regions)) {
    *margin = start;  // a jump has led past a zero: at once
    return PAWL_OK;
  }
  if (!(start.least > 0.0)) {
    PAWL_TRY(find_inside(s, state, h, &low, &start, err));
    if (low == 0.0) {
      return leave_zero(s, state, h, margin, err);
    }
  }
  *margin = start;
  return locate(s, state, low, h, margin, reached, err);
}

// ---- zeros in between ---------------------------------------------------------------------------
// A kink that the piece approaches or leaves by more than it is away, or that evaluations on the
// way have seen nearer than its ends are; all of them where there were no evaluations.
bool pawl_instant_near_kinks(const PawlLoop* l) {
  static const double NEARER = 0.5;
  const PawlGuards* g = &l->guards;
  bool near = false;
  for (int k = 0; k < l->kinks.count; k++) {
    double first = g->first_kinks[k], now = g->kink_margins[k], least = fmin(first, now);
    bool seen = isinf(l->kinks.sides.least) || l->kinks.sides.least < NEARER * least;
    near |= !isinf(first + now) && (seen || least <= fabs(now - first));
  }
  return near;
}

// The rates of margins at a place whose margins are known: differences over a small time `ahead`.
static PawlStatus note_rates(PawlStepper* s, const PawlState* state, int at, double ahead,
                             PawlError* err) {
  PawlLoop* l = s->loop;
  PawlBetween* b = &l->between;
  double* rate = b->rate[at];
  pawl_phase_copy(l->probe, state);
  pawl_piece_shift(s, l->probe, ahead);
  if (l->guards.armed_reacts && l->guards.exact) {
    PAWL_TRY(pawl_piece_accelerate(s, l->probe, err));
  }
  double* regions = rate + l->guards.armed_count;
  PAWL_TRY(pawl_guards_aside(&l->guards, l->probe, rate, regions, regions + 1, err));
  for (int k = 0; k < b->count; k++) {
    rate[k] = isinf(b->f[at][k]) ? 0.0 : (rate[k] - b->f[at][k]) / ahead;
  }
  return PAWL_OK;
}

// A state at x in a piece of length h, which was just looked at; differences go backwards, where
// the motion has come from.
static PawlStatus note_place(PawlStepper* s, const PawlState* state, double x, double h,
                             double regions, PawlError* err) {
  PawlGuards* g = &s->loop->guards;
  PawlBetween* b = &s->loop->between;
  int at = pawl_between_add(b, x);
  copy_margins(s->loop, g->distances, regions, g->kink_margins, b->f[at]);
  return note_rates(s, state, at, -(x < h ? PAWL_AHEAD_INSIDE : PAWL_AHEAD) * h, err);
}

// Whether some margin turns in between, by its rate at the end (place 0, of a piece of length h).
static bool may_turn(const PawlGuards* g, const PawlBetween* b, double h) {
  bool turns = false;
  for (int k = 0; k < b->count; k++) {
    double first = k < g->armed_count    ? g->first_margins[k]
                   : k == g->armed_count ? g->first_regions
                                         : g->first_kinks[k - g->armed_count - 1];
    turns |= pawl_between_may_turn(first, b->f[0][k], h * b->rate[0][k]);
  }
  return turns;
}

// A dip of a kink that is rounding: of the coordinates, and of what it is made of.
static double noise_of_kink(const PawlLoop* l, const PawlState* state, int k) {
  double first = l->guards.first_kinks[k], now = l->guards.kink_margins[k];
  double size = isinf(first + now) ? 0.0 : fmax(fabs(first), fabs(now));
  return PAWL_NO_DIP * size + OF_NOISE * pawl_surfaces_noise(&l->surfaces, state);
}

// The state is at the end of a piece of length h, and was just looked at. The beginning is left out
// where nothing turns in between.
static PawlStatus note_ends(PawlStepper* s, const PawlState* state, double h, double regions,
                            PawlError* err) {
  PawlLoop* l = s->loop;
  PawlGuards* g = &l->guards;
  PawlBetween* b = &l->between;
  b->places = 0;
  b->count = g->armed_count + 1 + l->kinks.count;
  for (int k = 0; k < g->armed_count; k++) {
    b->noise[k] = pawl_guards_noise(g, state, k);
  }
  b->noise[g->armed_count] = g->locates ? OF_NOISE * pawl_surfaces_noise(&l->surfaces, state) : 0.0;
  for (int k = 0; k < l->kinks.count; k++) {
    b->noise[g->armed_count + 1 + k] = noise_of_kink(l, state, k);
  }
  PAWL_TRY(note_place(s, state, h, h, regions, err));
  if (!may_turn(g, b, h)) {
    return PAWL_OK;
  }
  int at = pawl_between_add(b, 0.0);
  copy_margins(l, g->first_margins, g->first_regions, g->first_kinks, b->f[at]);
  return note_rates(s, l->mark, at, PAWL_AHEAD * h, err);
}

static bool has_turned(const PawlGuards* g) {
  bool turned = false;
  for (int k = 0; k < g->armed_count; k++) {
    turned |= g->distances[k] < 0.0;
  }
  return turned;
}

// A margin is negative at x, and none is so at `low` before it: goes to where it becomes so.
static PawlStatus go_between(PawlStepper* s, PawlState* state, double low, double x,
                             PawlMargin* margin, PawlError* err) {
  if (low == 0.0) {
    return pawl_instant_go_to_zero(s, state, x, margin, &x, err);
  }
  note_end(s->loop, x, margin);
  PAWL_TRY(probe(s, state, low, margin, err));
  return locate(s, state, low, x, margin, &x, err);
}

PawlStatus pawl_instant_look_between(PawlStepper* s, PawlState* state, double h, PawlMargin* margin,
                                     bool* found, bool* cut, PawlError* err) {
  double x, low;
  PAWL_TRY(note_ends(s, state, h, margin->regions, err));
  while (pawl_between_suspect(&s->loop->between, &x, &low)) {
    PAWL_TRY(probe(s, state, x, margin, err));
    *found = !pawl_instant_is_quiet(s->loop, state, margin);
    *cut = !*found && has_turned(&s->loop->guards);
    if (*found || *cut) {
      return *found ? go_between(s, state, low, x, margin, err) : PAWL_OK;
    }
    PAWL_TRY(note_place(s, state, x, h, margin->regions, err));
  }
  return s->loop->between.places > 2 ? probe(s, state, h, margin, err) : PAWL_OK;
}
