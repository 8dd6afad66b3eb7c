// SPDX-License-Identifier: Apache-2.0
// All sets of a small planar problem, one by one (docs/theory/friction.md, section 6): they decide
// whether there is a solution, and how many.
#include <string.h>

#include "switch/friction_impl.h"

enum { MOST_SETS = 1 << 16, MOST_KNOWN = 8 };

bool pawl_friction_search_alloc(PawlFrictionSearch* s, PawlArena* arena, int m, int blocks) {
  s->dial = PAWL_NEW(arena, int, m + blocks);
  s->count = PAWL_NEW(arena, int, m + blocks);
  s->start = PAWL_NEW(arena, unsigned char, m);
  s->best = PAWL_NEW(arena, unsigned char, m);
  s->start_sign = PAWL_NEW(arena, signed char, blocks);
  s->best_sign = PAWL_NEW(arena, signed char, blocks);
  s->w = PAWL_NEW(arena, double, (size_t)MOST_KNOWN*(size_t)m);
  s->lambda = PAWL_NEW(arena, double, m);
  return !arena->failed;
}

void pawl_friction_search_from(const PawlFrictionWork* k, PawlFrictionSearch* s) {
  memcpy(s->start, k->place, (size_t)k->m);
  memcpy(s->start_sign, k->sign, (size_t)k->blocks);
}

// ---- sets ---------------------------------------------------------------------------------------

// How many places row i has, from LOW on.
static int places(const PawlFrictionWork* k, int i) {
  int b = k->owner[i];
  if (b >= 0) {
    return k->block[b].sliding || k->mu[b] == 0.0 ? 1 : 3;
  }
  return pawl_friction_fixed(k, i) || pawl_friction_bilateral(k, i) ? 1 : 3;
}

static int signs(const PawlFrictionWork* k, int b) {
  int n = k->block[b].normal;
  bool joint = !pawl_friction_fixed(k, n) && k->lo[n] < 0.0 && !k->block[b].pulls;
  return joint && k->mu[b] > 0.0 ? 2 : 1;
}

static bool few_enough(const PawlFrictionWork* k, PawlFrictionSearch* s) {
  double sets = 1.0;
  bool planar = !k->matrix->sparse;
  for (int i = 0; i < k->m; i++) {
    s->count[i] = places(k, i);
    sets *= s->count[i];
  }
  for (int b = 0; b < k->blocks; b++) {
    s->count[k->m + b] = signs(k, b);
    sets *= s->count[k->m + b];
    planar = planar && (k->block[b].sliding || !pawl_friction_spatial(&k->block[b]));
  }
  return planar && sets <= MOST_SETS;
}

// The next set; false after the last.
static bool turn(const PawlFrictionWork* k, PawlFrictionSearch* s) {
  for (int d = 0; d < k->m + k->blocks; d++) {
    s->dial[d]++;
    if (s->dial[d] < s->count[d]) {
      return true;
    }
    s->dial[d] = 0;
  }
  return false;
}

// Takes over what the dials show; false where a bound is not finite or says the same as another
// set.
static bool take(PawlFrictionWork* k, const PawlFrictionSearch* s) {
  bool new_one = true;
  for (int i = 0; i < k->m; i++) {
    if (s->count[i] > 1) {
      k->place[i] = (unsigned char)(PAWL_ROW_LOW + s->dial[i]);
      new_one = new_one && (k->owner[i] >= 0 || k->place[i] != PAWL_ROW_LOW || isfinite(k->lo[i]));
      new_one = new_one && (k->owner[i] >= 0 || k->place[i] != PAWL_ROW_HIGH || isfinite(k->hi[i]));
    }
  }
  for (int b = 0; b < k->blocks; b++) {
    int n = k->block[b].normal, t = k->block[b].tangent[0];
    k->sign[b] = (signed char)(s->count[k->m + b] > 1 && s->dial[k->m + b] == 1 ? -1 : k->sign[b]);
    k->sign[b] = (signed char)(s->count[k->m + b] > 1 && s->dial[k->m + b] == 0 ? 1 : k->sign[b]);
    bool open = k->place[n] == PAWL_ROW_LOW && k->lo[n] == 0.0;
    new_one = new_one && (!open || k->place[t] == PAWL_ROW_FREE || s->count[t] == 1);
  }
  return new_one;
}

// ---- solutions ----------------------------------------------------------------------------------

bool pawl_friction_drowned(const PawlFrictionWork* k) {
  double given = 0.0, most = 0.0;
  for (int i = 0; i < k->m; i++) {
    given = fmax(given, fmax(fabs(k->q[i]), k->q_size[i]));
    if (k->owner[i] < 0) {
      given = fmax(given, isfinite(k->lo[i]) ? fabs(k->lo[i]) : 0.0);
      given = fmax(given, isfinite(k->hi[i]) ? fabs(k->hi[i]) : 0.0);
    }
    most = fmax(most, fabs(k->lambda[i]));
  }
  return most > PAWL_ROWS_DROWNED * given;
}

static bool is_known(const PawlFrictionWork* k, const PawlFrictionSearch* s) {
  double size = 0.0;
  for (int i = 0; i < k->m; i++) {
    size = fmax(size, k->size[i]);
  }
  for (int a = 0; a < s->known && a < MOST_KNOWN; a++) {
    const double* w = s->w + (size_t)a * (size_t)k->m;
    double apart = 0.0;
    for (int i = 0; i < k->m; i++) {
      apart = fmax(apart, fabs(k->w[i] - w[i]));
    }
    if (apart <= PAWL_FRICTION_SAME * size) {
      return true;
    }
  }
  return false;
}

static int distance(const PawlFrictionWork* k, const PawlFrictionSearch* s) {
  int away = 0;
  for (int i = 0; i < k->m; i++) {
    away += k->place[i] != s->start[i];
  }
  for (int b = 0; b < k->blocks; b++) {
    away += k->sign[b] != s->start_sign[b];
  }
  return away;
}

// Of stable ones the nearest, where there are such.                                         (F43)
static void note(const PawlFrictionWork* k, PawlFrictionSearch* s) {
  int away = distance(k, s);
  bool turned = pawl_friction_turned_set(k);
  s->any_turned |= turned;
  if (!is_known(k, s)) {
    if (s->known < MOST_KNOWN) {
      memcpy(s->w + (size_t)s->known * (size_t)k->m, k->w, (size_t)k->m * sizeof(double));
    }
    s->known++;
  }
  if (turned == s->best_turned ? away < s->away : s->best_turned) {
    s->away = away;
    s->best_turned = turned;
    memcpy(s->best, k->place, (size_t)k->m);
    memcpy(s->best_sign, k->sign, (size_t)k->blocks);
    memcpy(s->lambda, k->lambda, (size_t)k->m * sizeof(double));
  }
}

// A block that begins to slide from rest does not go against its direction.                 (F37)
static bool goes_back(const PawlFrictionWork* k) {
  bool back = false;
  for (int b = 0; b < k->blocks; b++) {
    const PawlFrictionBlock* block = &k->block[b];
    bool open = k->place[block->normal] == PAWL_ROW_LOW && k->lo[block->normal] == 0.0;
    double along = 0.0, size = 0.0;
    for (int j = 0; j < 1 + pawl_friction_spatial(block); j++) {
      int t = block->tangent[j];
      along += block->direction[j] * k->w[t] * k->s[t];
      size = fmax(size, k->size[t] * k->s[t]);
    }
    back |= block->begins && !open && along < -PAWL_FRICTION_MOVES * size;
  }
  return back;
}

// Rows that depend on each other may have other forces than those that hardening finds.
static bool is_solution(PawlFrictionWork* k, PawlFrictionSearch* s, bool all_forces) {
  if (!all_forces) {
    return pawl_friction_harden_set(k) && pawl_friction_count_wrong(k) == 0 &&
           !pawl_friction_drowned(k) && !goes_back(k);
  }
  pawl_friction_arrange(k);
  bool dependent = pawl_friction_solve_set(k) != PAWL_OK || k->least_pivot < PAWL_FRICTION_SHARED;
  return dependent && pawl_friction_feasible(k, &s->program) && !pawl_friction_drowned(k);
}

static void try_all(PawlFrictionWork* k, PawlFrictionSearch* s, PawlFrictionResult* result,
                    bool all_forces) {
  memset(s->dial, 0, (size_t)(k->m + k->blocks) * sizeof(int));
  for (bool more = true; more; more = turn(k, s)) {
    if (take(k, s)) {
      result->tried++;
      if (is_solution(k, s, all_forces)) {
        note(k, s);
      }
    }
  }
}

bool pawl_friction_search(PawlFrictionWork* k, PawlFrictionSearch* s, PawlFrictionResult* result) {
  if (!few_enough(k, s)) {
    return false;
  }
  s->known = 0;
  s->any_turned = false;
  s->best_turned = true;
  s->away = k->m + k->blocks + 1;
  try_all(k, s, result, false);
  if (s->known == 0) {
    try_all(k, s, result, true);
  }
  if (s->known > 0) {
    memcpy(k->place, s->best, (size_t)k->m);
    memcpy(k->sign, s->best_sign, (size_t)k->blocks);
    memcpy(k->lambda, s->lambda, (size_t)k->m * sizeof(double));
    pawl_friction_arrange(k);
    pawl_friction_values(k);
  }
  return true;
}

// As try_all(), without what rounding lets pass for a solution.
static void try_others(PawlFrictionWork* k, PawlFrictionSearch* s, PawlFrictionResult* result,
                       bool all_forces) {
  memset(s->dial, 0, (size_t)(k->m + k->blocks) * sizeof(int));
  for (bool more = true; more; more = turn(k, s)) {
    if (take(k, s)) {
      result->tried++;
      if (is_solution(k, s, all_forces) && pawl_friction_residual(k) <= PAWL_FRICTION_SOLVED_TO) {
        note(k, s);
      }
    }
  }
}

int pawl_friction_search_others(PawlFrictionWork* k, PawlFrictionSearch* s,
                                PawlFrictionResult* result) {
  if (!few_enough(k, s)) {
    return 0;
  }
  s->known = 0;
  s->away = 0;
  note(k, s);
  for (int pass = 0; pass < 2 && s->known == 1; pass++) {
    try_others(k, s, result, pass == 1);
  }
  return s->known - 1;
}
