// SPDX-License-Identifier: Apache-2.0
// Random mechanisms whose constraints switch, as model texts: the same seed, the same text.
//
// Every model has the parameter s = 0, which shifts forces, times, conditions, capacities, kinks
// and gaps. A run with a small s tells how much the motion depends on its data, and whether two
// instants are so near to each other, or a crossing so flat, that their order or number is a matter
// of chance.
//
// The parameter c = 1 multiplies all energies, forces and capacities: with another c the motion is
// the same, and multipliers are c times as large.
//
// A row (what a lock holds, a brake acts on) is
//   a (q_i + b u(q_j) + d sin(w t)),   u = sin, or the identity in a linear model,   j > i,
// so that rows of different i are independent, and the rate of q_i can be chosen such that the row
// rests at the start.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "check.h"

enum { RANDOM_MOST = 5, RANDOM_TEXT = 12000 };

typedef enum RandomPart { PART_LOCKS, PART_BRAKES, PART_REGIONS, PART_CONTACTS } RandomPart;

typedef enum RandomFeature {
  HAS_TIME = 1 << 0,        // a lock with `at`
  HAS_CONDITION = 1 << 1,   // a lock with `when`
  HAS_RATE = 1 << 2,        // a condition on a rate
  HAS_MULTIPLIER = 1 << 3,  // a release by lambda
  HAS_SNAP = 1 << 4,
  HAS_SMOOTH = 1 << 5,
  HAS_DRIVEN = 1 << 6,  // a row that depends on time
  HAS_BASE = 1 << 7,    // a constraint that always holds
  HAS_BRAKE = 1 << 8,
  HAS_PARALLEL = 1 << 9,    // several brakes on one freedom
  HAS_REDUNDANT = 1 << 10,  // several rigid locks on one freedom
  HAS_REGION = 1 << 11,
  HAS_CONTACT = 1 << 12,
  HAS_BOUNCE = 1 << 13,  // a contact with restitution
  HAS_LATCH = 1 << 14,   // a condition on the row that the lock holds
  HAS_PULLED = 1 << 15,  // brakes on one freedom with different drives
  HAS_TWO_CONTACTS = 1 << 16,
  HAS_BISECTOR = 1 << 17,
  HAS_AIR = 1 << 18,     // a mode without equations
  HAS_AFTER = 1 << 19,   // a condition that does not count for a while
  HAS_BESIDE = 1 << 20,  // a rigid lock and a brake on one freedom
  HAS_GRID = 1 << 21,    // a time of `at` just before the end of a step
} RandomFeature;

typedef struct RandomText {
  size_t used;
  char text[RANDOM_TEXT];
} RandomText;

typedef struct RandomRow {
  int i, j;  // j = -1: none
  double a, b, d, w;
} RandomRow;

typedef struct RandomModel {
  uint64_t random;  // state of the generator
  RandomPart part;
  int seed;
  unsigned features;
  bool linear;
  int n;
  double q[RANDOM_MOST], v[RANDOM_MOST];
  bool bound[RANDOM_MOST];  // a rigid row of this i is there already
  int locks;
  RandomText text, constraints, lock_texts, contacts, events;
  RandomText stand_in;  // contacts without restitution as locks, which all methods know,
  RandomText pulls;     // and events when these pull, as no contact does
} RandomModel;

// ---- numbers ------------------------------------------------------------------------------------
static inline uint64_t random_next(RandomModel* m) {  // splitmix64
  uint64_t z = (m->random += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Between lo and hi, with three decimals, so that the text says it exactly.
static inline double random_number(RandomModel* m, double lo, double hi) {
  double unit = (double)(random_next(m) >> 11) / 9007199254740992.0;
  return round(1000 * (lo + (hi - lo) * unit)) / 1000;
}

static inline int random_pick(RandomModel* m, int count) {
  return (int)(random_next(m) % (uint64_t)count);
}

static inline bool random_chance(RandomModel* m, double probability) {
  return random_number(m, 0, 1) < probability;
}

__attribute__((format(printf, 2, 3))) static inline void random_add(RandomText* t,
                                                                    const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(t->text + t->used, sizeof t->text - t->used, format, arguments);
  va_end(arguments);
  assert_true(length >= 0 && t->used + (size_t)length < sizeof t->text);
  t->used += (size_t)length;
}

// ---- rows ---------------------------------------------------------------------------------------
static inline RandomRow random_row(RandomModel* m, int i, double driven) {
  RandomRow row = {.i = i, .j = -1, .a = 1};
  if (i + 1 < m->n && random_chance(m, 0.6)) {
    row.j = i + 1 + random_pick(m, m->n - i - 1);
    row.b = random_number(m, -0.6, 0.6);
  }
  if (random_chance(m, driven)) {
    row.d = random_number(m, 0.05, 0.3);
    row.w = random_number(m, 1, 4);
  }
  return row;
}

static inline void random_add_row(RandomModel* m, RandomText* t, const RandomRow* row) {
  random_add(t, "%g*(q%d", row->a, row->i + 1);
  if (row->j >= 0) {
    random_add(t, m->linear ? " + %g*q%d" : " + %g*sin(q%d)", row->b, row->j + 1);
  }
  if (row->d != 0) {
    random_add(t, " + %g*sin(%g*t)", row->d, row->w);
    m->features |= HAS_DRIVEN;
  }
  random_add(t, ")");
}

static inline double random_row_value(const RandomModel* m, const RandomRow* row) {
  double u = row->j < 0 ? 0 : m->linear ? m->q[row->j] : sin(m->q[row->j]);
  return row->a * (m->q[row->i] + row->b * u);
}

// The rate of q_i with which the row rests at t = 0.
static inline void random_rest(RandomModel* m, const RandomRow* row) {
  double slope = row->j < 0 ? 0 : m->linear ? 1 : cos(m->q[row->j]);
  m->v[row->i] = -row->b * slope * (row->j < 0 ? 0 : m->v[row->j]) - row->d * row->w;
  m->bound[row->i] = true;
}

// ---- conditions ---------------------------------------------------------------------------------
static const char* const RANDOM_DIRECTIONS[] = {"up", "down", "both"};

// Something that probably crosses zero in a second or two.
static inline void random_add_condition(RandomModel* m, RandomText* t) {
  int i = random_pick(m, m->n);
  switch (random_pick(m, 4)) {
    case 0:
      random_add(t, "\"q%d - %g + s\"", i + 1, m->q[i] + random_number(m, -0.4, 0.4));
      break;
    case 1:
      random_add(t, "\"q%d' - %g + s\"", i + 1, random_number(m, -0.8, 0.8));
      m->features |= HAS_RATE;
      break;
    case 2:
      random_add(t, "\"q%d' - %g*q%d + s\"", i + 1, random_number(m, -0.8, 0.8),
                 1 + random_pick(m, m->n));
      m->features |= HAS_RATE;
      break;
    default:
      random_add(t, "\"sin(%g*t) - %g*q%d + s\"", random_number(m, 2, 5),
                 random_number(m, -0.8, 0.8), i + 1);
      break;
  }
  random_add(t, ", direction: %s", RANDOM_DIRECTIONS[random_pick(m, 3)]);
}

static inline void random_add_release(RandomModel* m, RandomText* t, double engaged) {
  switch (random_pick(m, 5)) {
    case 0:
      random_add(t, ", for: %g + s", random_number(m, 0.15, 0.8));
      break;
    case 1:
      random_add(t, ", release: {at: %g - s}", engaged + random_number(m, 0.15, 0.8));
      break;
    case 2:
      random_add(t, ", release: {when: ");
      random_add_condition(m, t);
      random_add(t, ", after: %g}", random_number(m, 0.05, 0.2));
      m->features |= HAS_AFTER;
      break;
    case 3:
      random_add(t,
                 ", release: {when: \"abs(lambda(l%d))/c - %g + s\", direction: up, after: 0.03}",
                 m->locks, random_number(m, 0.3, 3));
      m->features |= HAS_MULTIPLIER | HAS_AFTER;
      break;
    default:
      break;  // for good
  }
}

// `at` or `when`, and what lets go; the row is needed for a latch.
static inline void random_add_triggers(RandomModel* m, RandomText* t, const RandomRow* row) {
  double engaged = random_number(m, 0.1, 1.2);
  int kind = random_pick(m, 5);
  if (kind < 2) {
    bool grid = random_chance(m, 0.1);
    engaged = grid ? round(100 * engaged) / 100 : engaged;
    random_add(t, ", at: %g%s + s", engaged, grid ? " - 1e-10" : "");
    m->features |= HAS_TIME | (grid ? HAS_GRID : 0);
  } else if (kind == 4) {
    random_add(t, ", when: \"");
    random_add_row(m, t, row);
    random_add(t, " - %g + s\", direction: %s",
               random_row_value(m, row) + random_number(m, -0.3, 0.3),
               RANDOM_DIRECTIONS[random_pick(m, 3)]);
    m->features |= HAS_LATCH;
  } else {
    random_add(t, ", when: ");
    random_add_condition(m, t);
    m->features |= HAS_CONDITION;
    if (random_chance(m, 0.5)) {
      random_add(t, ", after: %g", random_number(m, 0.1, 0.5));
      m->features |= HAS_AFTER;
    }
  }
  random_add_release(m, t, engaged);
}

// ---- locks and brakes ---------------------------------------------------------------------------
static inline void random_add_rigid(RandomModel* m, const RandomRow* row) {
  RandomText* t = &m->lock_texts;
  bool alone = !m->bound[row->i];  // a second one must not ask for another value
  random_add(t, "  l%d: {lock: \"", m->locks);
  random_add_row(m, t, row);
  random_add(t, "\"");
  if (alone && random_chance(m, 0.25)) {
    random_add(t, ", engaged: true");
    random_add_release(m, t, 0);
    random_rest(m, row);
  } else {
    random_add_triggers(m, t, row);
    m->bound[row->i] = true;
    if (alone && random_chance(m, 0.2)) {
      random_add(t, ", on: snap, to: %g", random_row_value(m, row) + random_number(m, -0.2, 0.2));
      m->features |= HAS_SNAP;
    } else if (alone && random_chance(m, 0.15)) {
      random_add(t, ", smooth: true");
      m->features |= HAS_SMOOTH;
    }
  }
  random_add(t, "}\n");
  m->locks++;
}

static inline void random_add_brake(RandomModel* m, const RandomRow* row) {
  RandomText* t = &m->lock_texts;
  random_add(t, "  l%d: {lock: \"", m->locks);
  random_add_row(m, t, row);
  random_add(t, "\"");
  if (random_chance(m, 0.6)) {
    random_add(t, ", engaged: true");
  } else {
    random_add_triggers(m, t, row);
  }
  double capacity = random_number(m, 0.4, 4), share = random_number(m, 0.4, 1);
  if (random_chance(m, 0.3)) {
    double wave = 0.4 * capacity;
    random_add(
        t, ", capacity: \"c*(%g + %g*sin(3*t) + s)\", friction: \"%g*c*(%g + %g*sin(3*t) + s)\"",
        capacity, wave, share, capacity, wave);
  } else if (random_chance(m, 0.5)) {
    random_add(t, ", capacity: c*(%g + s), friction: %g*c", capacity, 0.95 * share * capacity);
  } else {
    random_add(t, ", capacity: c*(%g + s)", capacity);
  }
  random_add(t, "}\n");
  m->features |= HAS_BRAKE;
  m->locks++;
}

// The same freedom again, through a gear.
static inline RandomRow random_geared(RandomModel* m, RandomRow row) {
  static const double gears[] = {1, -1, 2, 0.5};
  row.a = gears[random_pick(m, 4)];
  return row;
}

// Brakes that act on one freedom, and rigid locks beside them.
static inline void random_add_brakes(RandomModel* m, int i) {
  RandomRow row = random_row(m, i, 0.3);
  int count = 1 + (random_chance(m, 0.5) ? 1 + random_pick(m, 2) : 0);
  bool rigid = random_chance(m, 0.3), twice = rigid && random_chance(m, 0.4);
  for (int k = 0; k < count; k++) {
    RandomRow geared = random_geared(m, row);
    if (k > 0 && random_chance(m, 0.2)) {
      geared.d = random_number(m, 0.05, 0.3);
      geared.w = random_number(m, 1, 4);
      m->features |= HAS_PULLED;
    }
    random_add_brake(m, &geared);
  }
  m->features |= count > 1 ? HAS_PARALLEL : 0;
  for (int k = 0; k < rigid + twice; k++) {
    RandomRow geared = random_geared(m, row);
    random_add_rigid(m, &geared);
  }
  m->features |= (rigid ? HAS_BESIDE : 0) | (twice ? HAS_REDUNDANT : 0);
}

// ---- the mechanism ------------------------------------------------------------------------------
static inline void random_start(RandomModel* m) {
  for (int i = 0; i < m->n; i++) {
    m->q[i] = random_number(m, -1, 1);
    m->v[i] = random_number(m, -1.5, 1.5);
  }
}

static inline void random_add_base(RandomModel* m) {
  RandomRow row = random_row(m, 0, 0.2);
  random_rest(m, &row);
  random_add(&m->constraints, "  base: {equation: \"");
  random_add_row(m, &m->constraints, &row);
  random_add(&m->constraints, " - (%.17g)\"}\n", random_row_value(m, &row));
  m->features |= HAS_BASE;
}

static inline void random_add_energies(RandomModel* m, RandomText* t) {
  random_add(t, "kinetic:\n");
  for (int i = 0; i < m->n; i++) {
    random_add(t, "  - c*%g*q%d'^2\n", random_number(m, 0.3, 1.5), i + 1);
  }
  for (int k = random_pick(m, m->n); k > 0; k--) {
    int i = 1 + random_pick(m, m->n), j = 1 + random_pick(m, m->n), l = 1 + random_pick(m, m->n);
    double c = random_number(m, 0.1, 0.6), r = random_number(m, -1, 1);
    if (m->linear) {
      random_add(t, "  - c*%g*(q%d' + %g*q%d')^2\n", c, i, r, j);
    } else {
      random_add(t, "  - c*%g*(q%d'*cos(q%d) + %g*q%d')^2\n", c, i, l, r, j);
    }
  }
  random_add(t, "potential:\n  - 0\n");
  for (int i = 0; i < m->n; i++) {
    if (random_chance(m, 0.7)) {
      random_add(t, "  - c*%g*(q%d - %g)^2\n", random_number(m, 0.5, 5), i + 1,
                 random_number(m, -1, 1));
    }
  }
  if (!m->linear && random_chance(m, 0.6)) {
    random_add(t, "  - c*%g*cos(q%d + q%d)\n", random_number(m, 0.5, 3), 1 + random_pick(m, m->n),
               1 + random_pick(m, m->n));
  }
  if (random_chance(m, 0.5)) {
    random_add(t, "dissipation: c*%g*q%d'^2\n", random_number(m, 0.05, 0.6),
               1 + random_pick(m, m->n));
  }
  random_add(t, "forces:\n");
  for (int i = 0; i < m->n; i++) {
    random_add(t, "  q%d: c*(", i + 1);
    if (random_chance(m, 0.4)) {
      random_add(t, "%g*sin(%g*t) + ", random_number(m, 0.5, 4), random_number(m, 1, 5));
    }
    random_add(t, "s)\n");
  }
}

static inline void random_add_events(RandomModel* m) {
  if (random_chance(m, 0.3)) {
    random_add(&m->events, "  seen: {when: ");
    random_add_condition(m, &m->events);
    random_add(&m->events, "}\n");
  }
}

static inline void random_add_section(RandomText* t, const char* name, const RandomText* section) {
  if (section->used > 0) {
    random_add(t, "%s:\n%s", name, section->text);
  }
}

static inline void random_compose(RandomModel* m) {
  RandomText* t = &m->text;
  random_add(t, "model: random\nparameters: {s: 0, c: 1}\ncoordinates:\n");
  for (int i = 0; i < m->n; i++) {
    random_add(t, "  q%d: {start: %.17g, rate: %.17g}\n", i + 1, m->q[i], m->v[i]);
  }
  random_add_energies(m, t);
  random_add_section(t, "constraints", &m->constraints);
}

// ---- the parts ----------------------------------------------------------------------------------
static inline void random_locks(RandomModel* m) {
  m->n = 1 + random_pick(m, 4);
  m->linear = random_chance(m, 0.25);
  random_start(m);
  for (int i = m->n - 1; i > 0; i--) {  // in this order, for the rates of the start
    if (random_chance(m, 0.8)) {
      RandomRow row = random_row(m, i, 0.25);
      random_add_rigid(m, &row);
    }
  }
  if (m->n > 1 && random_chance(m, 0.3)) {
    random_add_base(m);
  } else {
    RandomRow row = random_row(m, 0, 0.25);
    random_add_rigid(m, &row);
  }
}

static inline void random_brakes(RandomModel* m) {
  m->n = 1 + random_pick(m, 4);
  m->linear = random_chance(m, 0.25);
  random_start(m);
  for (int i = m->n - 1; i > 0; i--) {
    if (random_chance(m, 0.5)) {
      random_add_brakes(m, i);
    }
  }
  if (m->n > 1 && random_chance(m, 0.3)) {
    random_add_base(m);
  } else {
    random_add_brakes(m, 0);
  }
}

// Coordinate y follows x along a track with one or two kinks, which may end in the air.
static inline void random_add_track(RandomModel* m, int y, int x) {
  RandomText* t = &m->constraints;
  int kinks = 1 + random_pick(m, 2);
  double b = random_chance(m, 0.5) ? random_number(m, -0.3, 0.3) : 0;
  double slope[3], place[2];
  bool air = random_chance(m, 0.2), bisector = random_chance(m, 0.25);
  m->v[x] = random_number(m, 0.7, 1.5);
  for (int k = 0; k <= kinks; k++) {
    slope[k] = random_number(m, -0.7, 0.7);
  }
  for (int k = 0; k < kinks; k++) {
    place[k] = m->q[x] + 0.5 * k + random_number(m, 0.15, 0.5);
  }
  m->q[y] = slope[0] * m->q[x] + b * sin(m->q[x]);
  m->v[y] = (slope[0] + b * cos(m->q[x])) * m->v[x];
  random_add(t, "  track%d:\n    impact: %s\n    modes:\n", y, bisector ? "bisector" : "post");
  for (int k = 0; k <= kinks; k++) {
    random_add(t, "      m%d: {where: \"", k);
    if (k > 0) {
      random_add(t, "q%d > %g + s%s", x + 1, place[k - 1], k < kinks ? " and " : "");
    }
    if (k < kinks) {
      random_add(t, "q%d < %g + s", x + 1, place[k]);
    }
    if (k == kinks && air) {
      random_add(t, "\", equation: none}\n");
      m->features |= HAS_AIR;
      break;
    }
    random_add(t, "\", equation: \"q%d = %g*q%d + %g*sin(q%d)", y + 1, slope[0], x + 1, b, x + 1);
    for (int s = 1; s <= k; s++) {
      random_add(t, " + (%g)*(q%d - %g - s)", slope[s] - slope[s - 1], x + 1, place[s - 1]);
    }
    random_add(t, "\"}\n");
  }
  m->features |= HAS_REGION | (bisector ? HAS_BISECTOR : 0);
}

static inline void random_regions(RandomModel* m) {
  m->n = 2 + random_pick(m, 3);
  random_start(m);
  random_add_track(m, 0, 1);
  if (m->n == 4 && random_chance(m, 0.5)) {
    random_add_track(m, 2, 3);
  } else if (m->n > 2) {
    RandomRow row = random_row(m, 2, 0.25);
    if (random_chance(m, 0.5)) {
      random_add_rigid(m, &row);
    } else {
      random_add_brake(m, &row);
    }
  }
}

static inline void random_add_contact(RandomModel* m, int i) {
  double place = m->q[i] - random_number(m, 0.1, 0.5), restitution = 0;
  if (random_chance(m, 0.5)) {
    restitution = random_number(m, 0.2, 0.8);
    m->features |= HAS_BOUNCE;
  }
  m->v[i] = random_number(m, -1.5, -0.3);
  random_add(&m->contacts, "  c%d: {gap: q%d - %g + s, restitution: %g}\n", i, i + 1, place,
             restitution);
  random_add(&m->stand_in,
             "  c%d: {lock: q%d, when: q%d - %g + s, direction: down, release: {when: "
             "lambda(c%d)/c + 1e-6, direction: down}}\n",
             i, i + 1, i + 1, place, i);
  random_add(&m->pulls, "  pull%d: {when: lambda(c%d)/c + 1e-3, direction: down}\n", i, i);
  m->features |= (m->features & HAS_CONTACT) ? HAS_TWO_CONTACTS : HAS_CONTACT;
}

static inline void random_contacts(RandomModel* m) {
  m->n = 1 + random_pick(m, 4);
  random_start(m);
  random_add_contact(m, 0);
  if (m->n > 2 && random_chance(m, 0.3)) {
    random_add_contact(m, 1);
  }
  if (m->n > 3 && random_chance(m, 0.4)) {
    random_add_track(m, 2, 3);
  } else if (m->n > 2) {
    RandomRow row = random_row(m, 2, 0.25);
    if (random_chance(m, 0.5)) {
      random_add_rigid(m, &row);
    } else {
      random_add_brake(m, &row);
    }
  }
}

// Model number `seed` of a part; random_whole has its text.
static inline void random_make(RandomModel* m, RandomPart part, int seed) {
  *m = (RandomModel){.random = (uint64_t)seed * 4 + (uint64_t)part, .part = part, .seed = seed};
  switch (part) {
    case PART_LOCKS:
      random_locks(m);
      break;
    case PART_BRAKES:
      random_brakes(m);
      break;
    case PART_REGIONS:
      random_regions(m);
      break;
    case PART_CONTACTS:
      random_contacts(m);
      break;
  }
  random_add_events(m);
  random_compose(m);
}

// The whole text; with `stand_in` each contact is a lock that catches at the gap and lets go when
// it would have to pull, which is what a contact without restitution does.
static inline void random_whole(const RandomModel* m, bool stand_in, RandomText* out) {
  out->used = 0;
  random_add(out, "%s", m->text.text);
  if (!stand_in) {
    random_add_section(out, "contacts", &m->contacts);
  }
  if (m->lock_texts.used > 0 || (stand_in && m->stand_in.used > 0)) {
    random_add(out, "locks:\n%s%s", m->lock_texts.text, stand_in ? m->stand_in.text : "");
  }
  if (m->events.used > 0 || (stand_in && m->pulls.used > 0)) {
    random_add(out, "events:\n%s%s", m->events.text, stand_in ? m->pulls.text : "");
  }
}
