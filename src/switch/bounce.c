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
                    .bytes = (size_t)pawl_bounce_count(d->system) * sizeof(double)};
  return d->arena->failed ? pawl_fail_memory(err) : PAWL_OK;
}

void pawl_bounce_start(const PawlBounce* b, PawlState* state) {
  memset(state->bounces, 0, b->bytes);
}

void pawl_bounce_begin(PawlBounce* b) {
  memset(b->strike->dull, 0, (size_t)b->strike->dynamics->sizes.rows);
}

void pawl_bounce_end(const PawlBounce* b, PawlState* state) {
  const PawlStrike* k = b->strike;
  for (int i = k->first; i < k->end; i++) {
    int* mode = &state->modes[pawl_modes_of_contact(k->dynamics->system, i)];
    double steady = pawl_bounce_of(state, i - k->first)[PAWL_BOUNCE_STEADY];
    bool ends = k->dull[i] && steady >= STEADY;
    *mode = ends && *mode == PAWL_MODE_CLOSED  ? PAWL_MODE_LIMIT
            : ends && *mode == PAWL_MODE_SLIPS ? PAWL_MODE_SLIPS_LIMIT
                                               : *mode;
  }
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
  double r = fabs(ratio - e) <= PAWL_BOUNCE_SAME * e ? e : ratio;  // what it is to settle at
  if (period > 0.0) {  // else it is looked at again at this instant
    n[PAWL_BOUNCE_STEADY] = same || stays ? n[PAWL_BOUNCE_STEADY] + 1.0 : 0.0;
    n[PAWL_BOUNCE_RATIO] = ratio;
    n[PAWL_BOUNCE_LIMIT] = r < 1.0 ? t + period * r / (1.0 - r) : INFINITY;  // (C11)
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
  double flight = (n[PAWL_BOUNCE_LIMIT] - t) * (1.0 - n[PAWL_BOUNCE_RATIO]);  // (C11)
  return n[PAWL_BOUNCE_STEADY] >= STEADY ? 0.25 * n[PAWL_BOUNCE_RATE] * flight : INFINITY;
}

// Lower than what the method may be off by.
static bool is_rough(const PawlBounce* b, int row, double height) {
  const PawlSimulateDef* def = b->strike->dynamics->def;
  return b->low && height <= PAWL_BOUNCE_OFF * (def->rtol * b->size[row] + def->atol);
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
  for (int i = k->first; i < k->end; i++) {
    int mode = state->modes[pawl_modes_of_contact(system, i)], c = i - k->first;
    if (!k->touching[i] || mode != PAWL_MODE_OPEN || !(k->rate[i] > k->slow[i])) {
      continue;
    }
    double e = hits == 1 && k->hit[i] ? pawl_system_restitution(system, i) : 0.0;
    double height = height_of(k->rate[i], b->second[i]);
    bool rough = is_rough(b, i, height);
    double* noted = pawl_bounce_of(state, c);
    bool lost = note_rate(noted, state->t, k->rate[i], e, rough);
    height = height < INFINITY ? height : height_of_series(noted, state->t);
    bool low = height <= PAWL_BOUNCE_LEAST * scale[c * stride] || (rough && lost);
    *ends |= low && !k->dull[i];
    k->dull[i] |= low;
  }
}
