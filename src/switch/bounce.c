// SPDX-License-Identifier: Apache-2.0
#include "switch/bounce.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

enum { STEADY = 3 };  // ratios in succession that are the same: five impacts

int pawl_bounce_contacts(const PawlSystem* system) {
  int first, end = pawl_modes_contacts(system, &first);
  return end - first;
}

int pawl_bounce_count(const PawlSystem* system) {
  return PAWL_BOUNCE_NUMBERS * pawl_bounce_contacts(system);
}

PawlStatus pawl_bounce_create(PawlStrike* strike, PawlBounce* b, PawlError* err) {
  PawlDynamics* d = strike->dynamics;
  *b = (PawlBounce){.strike = strike,
                    .second = PAWL_NEW(d->arena, double, d->sizes.rows),
                    .size = PAWL_NEW(d->arena, double, d->sizes.rows),
                    .least = PAWL_NEW(d->arena, double, d->sizes.rows),
                    .left = PAWL_NEW(d->arena, unsigned char, d->sizes.rows),
                    .lost = PAWL_NEW(d->arena, unsigned char, d->sizes.rows),
                    .bytes = (size_t)pawl_bounce_count(d->system) * sizeof(double)};
  return d->arena->failed ? pawl_fail_memory(err) : PAWL_OK;
}

void pawl_bounce_start(const PawlBounce* b, PawlState* state) {
  memset(state->bounces, 0, b->bytes);
}

void pawl_bounce_begin(PawlBounce* b) {
  memset(b->strike->dull, 0, (size_t)b->strike->dynamics->sizes.rows);
}

void pawl_bounce_end(PawlBounce* b, PawlState* state) {
  PawlStrike* k = b->strike;
  for (int i = k->first; i < k->end; i++) {
    int* mode = &state->modes[pawl_modes_of_contact(k->dynamics->system, i)];
    double steady = pawl_bounce_of(state, i - k->first)[PAWL_BOUNCE_STEADY];
    bool ends = k->dull[i] && steady >= STEADY;
    *mode = ends && *mode == PAWL_MODE_CLOSED  ? PAWL_MODE_LIMIT
            : ends && *mode == PAWL_MODE_SLIPS ? PAWL_MODE_SLIPS_LIMIT
                                               : *mode;
  }
  pawl_bounce_begin(b);  // others look at contacts, too, until the next one
}

// When a series of impacts ends: with the ratio e of a contact that is hit alone, else with that of
// its periods, which without forces are another than those of its rates. (C11)
static double limit_of(double t, double period, double before, double ratio, double e) {
  bool alone = fabs(ratio - e) <= PAWL_BOUNCE_SAME * e;
  double r = alone ? e : before > 0.0 ? period / before : ratio;
  return r < 1.0 ? t + period * r / (1.0 - r) : INFINITY;
}

// A contact is left at a rate > 0: the ratio to the last time, and how often it was the same; e is
// the restitution of one that is hit alone, else 0. True: it is another than before; where that is
// `rough`, the motion being off, one that was steady stays.                                  (C10)
static bool note_rate(double* n, double t, double rate, double e, bool rough) {
  double period = t - n[PAWL_BOUNCE_TIME];
  double ratio = n[PAWL_BOUNCE_RATE] > 0.0 ? rate / n[PAWL_BOUNCE_RATE] : 0.0;
  bool same =
      ratio > 0.0 && ratio < 1.0 && fabs(ratio - n[PAWL_BOUNCE_RATIO]) <= PAWL_BOUNCE_SAME * ratio;
  bool other = period > 0.0 && n[PAWL_BOUNCE_RATIO] > 0.0 && !same;
  bool stays = other && rough && n[PAWL_BOUNCE_STEADY] >= STEADY;
  ratio = stays ? n[PAWL_BOUNCE_RATIO] : ratio;
  if (period > 0.0) {  // else it is looked at again at this instant
    n[PAWL_BOUNCE_STEADY] = same || stays ? n[PAWL_BOUNCE_STEADY] + 1.0 : 0.0;
    n[PAWL_BOUNCE_LIMIT] = limit_of(t, period, n[PAWL_BOUNCE_PERIOD], ratio, e);
    n[PAWL_BOUNCE_RATIO] = ratio;
    n[PAWL_BOUNCE_PERIOD] = period;
  }
  n[PAWL_BOUNCE_RATE] = rate;
  n[PAWL_BOUNCE_TIME] = t;
  return other;
}

static int count_hits(const PawlStrike* k) {
  int hits = 0;
  for (int i = k->first; i < k->end; i++) {
    hits += k->hit[i];
  }
  return hits;
}

// How high a contact is left that returns, INFINITY where it does not.
static double height_of(double rate, double second) {
  return second < 0.0 ? 0.5 * rate * rate / -second : INFINITY;
}

// The same by the flights so far, where these are a steady sequence: one that is driven apart at
// first, as long as another contact slips, is known by nothing else. A parabola of the duration T
// that begins at the rate r is r T/4 high.
static double height_of_series(const double* n, double t) {
  double left = n[PAWL_BOUNCE_LIMIT] - t, period = n[PAWL_BOUNCE_PERIOD];
  double flight = left * period / (period + left);  // (C11)
  return n[PAWL_BOUNCE_STEADY] >= STEADY ? 0.25 * n[PAWL_BOUNCE_RATE] * flight : INFINITY;
}

// Lower than what the method may be off by.
static bool is_rough(const PawlBounce* b, int row, double height) {
  const PawlSimulateDef* def = b->strike->dynamics->def;
  return b->low && height <= PAWL_BOUNCE_OFF * (def->rtol * b->size[row] + def->atol);
}

// A flight has ended that began at a rate: how high it was, and whether lower than the one before,
// or than `least`.
static void note_flight(double* n, double t, double least) {
  double period = t - n[PAWL_BOUNCE_TIME], height = 0.25 * n[PAWL_BOUNCE_RATE] * period;
  if (period > 0.0) {  // else it is looked at again at this instant
    bool lower = height <= fmax(n[PAWL_BOUNCE_HEIGHT], least);
    n[PAWL_BOUNCE_LOWER] = lower && n[PAWL_BOUNCE_RATE] > 0.0 ? n[PAWL_BOUNCE_LOWER] + 1.0 : 0.0;
    n[PAWL_BOUNCE_HEIGHT] = height;
  }
}

// The flights of a contact that others bring back have come down below `least`.
static bool has_come_down(const double* n, double least) {
  return n[PAWL_BOUNCE_LOWER] >= STEADY && n[PAWL_BOUNCE_HEIGHT] <= least;
}

// Whether a contact is hit alone, again and again.
static bool is_alone(const PawlBounce* b, const double* n, int row) {
  double e = pawl_system_restitution(b->strike->dynamics->system, row);
  return n[PAWL_BOUNCE_STEADY] >= STEADY && fabs(n[PAWL_BOUNCE_RATIO] - e) <= PAWL_BOUNCE_SAME * e;
}

// Whether contact j takes part in the series of contact i: it was hit since i was hit last, or is
// about to be.                                                                              (C18)
static bool is_partner(const PawlBounce* b, const PawlState* state, int i, int j) {
  const PawlStrike* k = b->strike;
  const double* of_i = pawl_bounce_of(state, i - k->first);
  const double* of_j = pawl_bounce_of(state, j - k->first);
  int mode = state->modes[pawl_modes_of_contact(k->dynamics->system, j)];
  bool was_hit = of_j[PAWL_BOUNCE_TIME] >= of_i[PAWL_BOUNCE_TIME] - of_i[PAWL_BOUNCE_PERIOD];
  bool comes = k->rate[j] < -k->slow[j] && b->gap[j] <= b->least[j];
  return j != i && mode == PAWL_MODE_OPEN && !is_alone(b, of_j, j) && (was_hit || comes);
}

// Contacts that others bring back come to rest together: one alone would leave the others with what
// they have, and no one to bring them back. Those of the series of contact i, where all of them
// have come down; else it goes on.                                                          (C18)
static bool end_series(PawlBounce* b, PawlState* state, int i) {
  PawlStrike* k = b->strike;
  bool down = true;
  for (int j = k->first; j < k->end; j++) {
    const double* n = pawl_bounce_of(state, j - k->first);
    down &= !is_partner(b, state, i, j) || has_come_down(n, b->least[j]);
  }
  for (int j = k->first; j < k->end && down; j++) {
    if (j == i || is_partner(b, state, i, j)) {
      double* n = pawl_bounce_of(state, j - k->first);
      bool known = n[PAWL_BOUNCE_LIMIT] > state->t && n[PAWL_BOUNCE_LIMIT] < INFINITY;
      n[PAWL_BOUNCE_STEADY] = known ? fmax(n[PAWL_BOUNCE_STEADY], STEADY) : 0.0;
      k->dull[j] |= j != i;
    }
  }
  return down;
}

// Whether a contact that was left is to be followed no more.
static bool is_low(PawlBounce* b, PawlState* state, int i, bool lost) {
  const PawlStrike* k = b->strike;
  const double* n = pawl_bounce_of(state, i - k->first);
  double height = height_of(k->rate[i], b->second[i]);
  if (height <= b->least[i] || (lost && is_rough(b, i, height))) {
    return true;
  }
  if (is_alone(b, n, i)) {
    return !(height < INFINITY) && height_of_series(n, state->t) <= b->least[i];
  }
  return has_come_down(n, b->least[i]) && end_series(b, state, i);
}

void pawl_bounce_note(PawlBounce* b, PawlState* state, const PawlValues* values,
                      const double* scale, int stride, bool* ends) {
  PawlStrike* k = b->strike;
  const PawlSystem* system = k->dynamics->system;
  int hits = count_hits(k);
  *ends = false;
  if (hits == 0) {
    return;
  }
  (void)pawl_strike_look(k, state, values);
  pawl_dynamics_row_sizes(k->dynamics, values->G, state->q, b->size);
  pawl_dynamics_rows(k->dynamics, values->G, state->a, values->gamma, b->second);
  b->gap = values->g;
  for (int i = k->first; i < k->end; i++) {
    int mode = state->modes[pawl_modes_of_contact(system, i)], c = i - k->first;
    b->least[i] = PAWL_BOUNCE_LEAST * scale[c * stride];
    b->left[i] = k->touching[i] && mode == PAWL_MODE_OPEN && k->rate[i] > k->slow[i];
    if (b->left[i]) {
      double e = hits == 1 && k->hit[i] ? pawl_system_restitution(system, i) : 0.0;
      bool rough = is_rough(b, i, height_of(k->rate[i], b->second[i]));
      double* noted = pawl_bounce_of(state, c);
      note_flight(noted, state->t, b->least[i]);
      b->lost[i] = note_rate(noted, state->t, k->rate[i], e, rough);
    }
  }
  for (int i = k->first; i < k->end; i++) {
    bool low = b->left[i] && is_low(b, state, i, b->lost[i]);
    *ends |= low && !k->dull[i];
    k->dull[i] |= low;
  }
}
