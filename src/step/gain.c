// SPDX-License-Identifier: Apache-2.0
// Energy that contacts bring in, by islands of those that push.
#include "step/gain.h"

#include <math.h>
#include <string.h>

#include "step/rub_islands.h"

// After so many rounds what is thrown back is thrown back no more.
enum { MOST_ROUNDS = 4 };
enum { MOST_SEARCHES = 6 };  // for shifts

PawlStatus pawl_gain_create(PawlStepper* s, PawlGain* gain, PawlError* err) {
  int n = s->sizes.v, contacts = s->contact_count, first = s->sizes.rows - contacts;
  if (contacts == 0) {
    return PAWL_OK;
  }
  while (first > 0 && pawl_system_row_kind(s->system, first - 1) == PAWL_ROW_FRICTION) {
    first--;
  }
  gain->body = PAWL_NEW(&s->arena, int, n);
  gain->parent = PAWL_NEW(&s->arena, int, n);
  int* last = PAWL_NEW(&s->arena, int, s->sizes.rows);
  if (s->arena.failed) {
    return pawl_fail_memory(err);
  }
  gain->bodies = pawl_rub_islands_bodies(s, first, gain->body, gain->parent, last);
  gain->sum = PAWL_NEW(&s->arena, PawlGainPart, gain->bodies);
  gain->fall = PAWL_NEW(&s->arena, double, gain->bodies);
  gain->shift = PAWL_NEW(&s->arena, double, gain->bodies);
  gain->before = PAWL_NEW(&s->arena, double, gain->bodies);
  gain->left = PAWL_NEW(&s->arena, double, gain->bodies);
  gain->kept = PAWL_NEW(&s->arena, double, contacts);
  return s->arena.failed ? pawl_fail_memory(err) : PAWL_OK;
}

void pawl_gain_begin_step(const PawlStepper* s, PawlGain* gain) {
  for (int k = 0; k < s->contact_count; k++) {
    gain->kept[k] = 1.0;
  }
  if (gain->shifted) {
    memset(gain->shift, 0, (size_t)gain->bodies * sizeof(double));
  }
  gain->shifted = false;
  gain->rounds = gain->searches = gain->looks = 0;
}

void pawl_gain_begin(PawlGain* gain) {
  for (int b = 0; b < gain->bodies; b++) {
    gain->parent[b] = b;
    gain->sum[b] = (PawlGainPart){0};
    gain->fall[b] = 0.0;
  }
}

static int island_of(PawlGain* gain, int body) {
  while (gain->parent[body] != body) {
    gain->parent[body] = gain->parent[gain->parent[body]];
    body = gain->parent[body];
  }
  return body;
}

static void add(PawlGainPart* sum, PawlGainPart part) {
  sum->work += part.work;
  sum->size += part.size;
  sum->slack += part.slack;
  sum->push += part.push;
  sum->back += part.back;
  sum->pushes += part.pushes;
}

// The island of the columns of a row joins that of `to`; -1: there is none yet.
static int join_row(PawlGain* gain, const int* column, int count, int to) {
  for (int e = 0; e < count; e++) {
    int from = island_of(gain, gain->body[column[e]]);
    if (to >= 0 && from != to) {
      gain->parent[from] = to;
      add(&gain->sum[to], gain->sum[from]);
    }
    to = to >= 0 ? to : from;
  }
  return to;
}

void pawl_gain_add(const PawlContacts* c, const PawlRub* rub, PawlGain* gain, int contact,
                   PawlGainPart part) {
  int first = c->first[contact], count = c->first[contact + 1] - first;
  int to = join_row(gain, c->column + first, count, -1);
  for (int n = 0; rub->contacts > 0 && n < rub->of[contact].count; n++) {
    int row = rub->of[contact].first + n - rub->first_row;
    to = join_row(gain, rub->column + rub->first[row], rub->first[row + 1] - rub->first[row], to);
  }
  if (to >= 0) {
    add(&gain->sum[to], part);
  }
}

static bool gains(double work, const PawlGainPart* sum) {
  return work > PAWL_GAINED * sum->size + PAWL_GAIN_KNOWN * sum->slack;
}

int pawl_gain_island(PawlGain* gain, int v) {
  return island_of(gain, gain->body[v]);
}

bool pawl_gain_of_island(const PawlGain* gain, int island) {
  return gain->sum[island].pushes && gains(gain->sum[island].work, &gain->sum[island]);
}

void pawl_gain_excuse(PawlGain* gain, int island) {
  gain->sum[island].work = 0.0;
  for (int b = 0; b < gain->bodies; b++) {
    gain->shift[b] = island_of(gain, b) == island ? 0.0 : gain->shift[b];
  }
}

// Of one contact alone the energy of what is thrown back, K/2, becomes s^2 K/2, and it gains
// nothing with s^2 = 1 - 2 X/K. (T8)
bool pawl_gain_throw_less(const PawlContacts* c, PawlGain* gain) {
  bool any = false;
  for (int k = 0; k < c->count; k++) {
    if (c->first[k + 1] == c->first[k] || gain->kept[k] == 0.0) {
      continue;
    }
    const PawlGainPart* sum = &gain->sum[island_of(gain, gain->body[c->column[c->first[k]]])];
    if (sum->back > 0.0 && gains(sum->work, sum)) {
      double left = gain->rounds < MOST_ROUNDS ? 1.0 - 2.0 * sum->work / sum->back : 0.0;
      gain->kept[k] *= sqrt(fmax(left, 0.0));
      any = true;
    }
  }
  gain->rounds += any;
  return any;
}

// What moving on by h dv takes from the energy of each island: F dv, with F = M dv - B^T P.
static void find_falls(const PawlStepper* s, PawlGain* gain, const double* dv, const double* M_dv) {
  for (int b = 0; b < gain->bodies; b++) {
    gain->fall[b] = -gain->sum[b].push;
  }
  for (int j = 0; j < pawl_moving(s->sizes); j++) {
    gain->fall[island_of(gain, gain->body[j])] += dv[j] * M_dv[j];
  }
}

// The shift of a body is that of its island; bodies that have come together take the largest.
static void share_shifts(PawlGain* gain) {
  for (int b = 0; gain->shifted && b < gain->bodies; b++) {
    double* of_island = &gain->shift[island_of(gain, b)];
    *of_island = fmax(*of_island, gain->shift[b]);
  }
}

// An island that gains moves on where that suffices, or where nothing is thrown back.       (T26)
static bool shift_island(PawlGain* gain, int b, double base, double most) {
  PawlGainPart* sum = &gain->sum[b];
  double fall = gain->fall[b], *shift = &gain->shift[b];
  double due = fall > 0.0 ? sum->work / fall - base : INFINITY;
  sum->work -= (base + *shift) * fall;
  if (!gains(sum->work, sum) || (due > most && sum->back > 0.0)) {
    return false;
  }
  sum->work = 0.0;
  if (!(*shift < most)) {
    return false;
  }
  *shift = fmin(due, most);
  return true;
}

bool pawl_gain_restrain(const PawlStepper* s, const PawlContacts* c, PawlGain* gain,
                        const double* dv, const double* M_dv, double base, double most) {
  bool any = false;
  find_falls(s, gain, dv, M_dv);
  share_shifts(gain);
  for (int b = 0; b < gain->bodies; b++) {
    any |= gain->parent[b] == b && shift_island(gain, b, base, most);
  }
  gain->shifted |= any;
  for (int b = 0; any && b < gain->bodies; b++) {
    gain->shift[b] = gain->shift[island_of(gain, b)];
  }
  return pawl_gain_throw_less(c, gain) || any;
}

void pawl_gain_add_at(PawlGain* gain, int v, PawlGainPart part, double fall) {
  int island = island_of(gain, gain->body[v]);
  add(&gain->sum[island], part);
  gain->fall[island] += fall;
}

// The next shift of an island: by what moving on takes from forces, then by the secant.
static double next_shift(const PawlGain* gain, int b) {
  double work = gain->sum[b].work, shift = gain->shift[b];
  if (shift == 0.0) {
    return gain->fall[b] > 0.0 ? work / gain->fall[b] : INFINITY;
  }
  double less = gain->left[b] - work;
  return less > 0.0 ? shift + work * (shift - gain->before[b]) / less : INFINITY;
}

static bool search_island(PawlGain* gain, int b, double most) {
  PawlGainPart* sum = &gain->sum[b];
  if (!sum->pushes || !gains(sum->work, sum)) {
    sum->work = 0.0;
    return false;
  }
  double next = next_shift(gain, b);
  if (!(next <= most) || !(next > gain->shift[b])) {
    return false;
  }
  gain->left[b] = sum->work;
  gain->before[b] = gain->shift[b];
  gain->shift[b] = next;
  sum->work = 0.0;
  return true;
}

bool pawl_gain_search(PawlGain* gain, double most) {
  bool any = false;
  share_shifts(gain);
  for (int b = 0; gain->searches < MOST_SEARCHES && b < gain->bodies; b++) {
    any |= gain->parent[b] == b && search_island(gain, b, most);
  }
  gain->searches += any;
  gain->shifted |= any;
  for (int b = 0; any && b < gain->bodies; b++) {
    int island = island_of(gain, b);
    gain->shift[b] = gain->shift[island];
    gain->left[b] = gain->left[island];
    gain->before[b] = gain->before[island];
  }
  return any;
}

bool pawl_gain_is_left(const PawlGain* gain) {
  bool left = false;
  for (int b = 0; b < gain->bodies; b++) {
    left |= gain->parent[b] == b && gains(gain->sum[b].work, &gain->sum[b]);
  }
  return left;
}
