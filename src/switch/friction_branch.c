// SPDX-License-Identifier: Apache-2.0
// Sets by halves (docs/theory/friction.md, section 6): rows are decided one after the other, and as
// long as a row is not, nothing but its bounds is asked of its force and of its rate. What is left
// is a linear program, and where this has no solution none of the sets below has one:
//
//   w = 0 where it is decided so,  the signs of w outside,  lambda >= 0, w >= 0 where it is open
//                                                                                         (F71)
//
// The forces of a program that obey all laws are a solution; else the row that is farthest from
// them is decided next.
#include <string.h>

#include "switch/friction_impl.h"

enum { MOST_WAYS = 3 };  // places of a tangential row; a normal one has two

bool pawl_friction_branch_alloc(PawlFrictionBranch* b, PawlArena* arena, int m) {
  b->open = PAWL_NEW(arena, unsigned char, m);
  b->place = PAWL_NEW(arena, unsigned char, m);
  b->row = PAWL_NEW(arena, int, m);
  b->left = PAWL_NEW(arena, int, m);
  b->way = PAWL_NEW(arena, unsigned char, MOST_WAYS*(size_t)m);
  return !arena->failed;
}

// ---- what is open -------------------------------------------------------------------------------

// Contacts that slide or not, and rows with one bound or none.
static bool fits(const PawlFrictionWork* k) {
  bool fits = true;
  for (int i = 0; i < k->m; i++) {
    bool one_bound = isinf(k->lo[i]) || isinf(k->hi[i]);
    fits = fits && (k->owner[i] >= 0 || one_bound || pawl_friction_fixed(k, i));
  }
  for (int b = 0; b < k->blocks; b++) {
    int n = k->block[b].normal;
    bool contact = k->lo[n] == 0.0 && k->hi[n] == INFINITY;
    bool planar = k->block[b].sliding || !pawl_friction_spatial(&k->block[b]);
    fits = fits && planar && (contact || k->mu[b] == 0.0);
  }
  return fits;
}

static bool is_decided(const PawlFrictionWork* k, int i) {
  int b = k->owner[i];
  return b >= 0 ? k->block[b].sliding || k->mu[b] == 0.0
                : pawl_friction_fixed(k, i) || pawl_friction_bilateral(k, i);
}

static void open_all(PawlFrictionWork* k, PawlFrictionBranch* b) {
  pawl_friction_hold_all(k);
  for (int i = 0; i < k->m; i++) {
    b->open[i] = !is_decided(k, i);
  }
  for (int c = 0; c < k->blocks; c++) {
    k->sign[c] = 1;
  }
}

// ---- which row is decided next ------------------------------------------------------------------

// How far force and rate of a normal row that is open are from one of both being none.
static double off_normal(const PawlFrictionWork* k, int i) {
  bool down = isinf(k->lo[i]);
  double force = down ? k->hi[i] - k->lambda[i] : k->lambda[i] - k->lo[i];
  return fmin(force, down ? -k->w[i] : k->w[i]);
}

// The same of a tangential row: it moves, and its force is not that against it.
static double off_tangent(const PawlFrictionWork* k, int t) {
  int b = k->owner[t];
  double limit = k->mu[b] * k->lambda[k->block[b].normal];
  double room = k->w[t] > 0.0 ? k->lambda[t] + limit : limit - k->lambda[t];
  return fmin(room, fabs(k->w[t]));
}

// -1: all obey the laws, to rounding. A normal row comes before its friction.
static int farthest(const PawlFrictionWork* k, const PawlFrictionBranch* b) {
  double most = 0.0;
  int row = -1;
  for (int i = 0; i < k->m; i++) {
    most = fmax(most, PAWL_FRICTION_SOLVED_TO * k->size[i]);
  }
  for (int i = 0; i < k->m; i++) {
    int n = k->owner[i] >= 0 ? k->block[k->owner[i]].normal : i;
    bool carries = k->owner[i] < 0 || k->place[n] == PAWL_ROW_FREE;
    double off = !b->open[i] || !carries ? 0.0
                 : k->owner[i] < 0       ? off_normal(k, i)
                                         : off_tangent(k, i);
    if (off > most) {
      most = off;
      row = b->open[n] ? n : i;
    }
  }
  return row;
}

// The places of a row, the likely one last: what is left of them is tried from behind.
static int list_ways(const PawlFrictionWork* k, int i, unsigned char* way) {
  if (k->owner[i] >= 0) {
    bool ahead = k->w[i] > 0.0;
    way[0] = ahead ? PAWL_ROW_HIGH : PAWL_ROW_LOW;
    way[1] = ahead ? PAWL_ROW_LOW : PAWL_ROW_HIGH;
    way[2] = PAWL_ROW_FREE;
    return 3;
  }
  bool down = isinf(k->lo[i]);
  double force = down ? k->hi[i] - k->lambda[i] : k->lambda[i] - k->lo[i];
  bool closed = force > fabs(k->w[i]);
  unsigned char out = down ? PAWL_ROW_HIGH : PAWL_ROW_LOW;
  way[0] = closed ? out : PAWL_ROW_FREE;
  way[1] = closed ? PAWL_ROW_FREE : out;
  return 2;
}

static void take_way(PawlFrictionWork* k, PawlFrictionBranch* b) {
  int level = b->level - 1;
  k->place[b->row[level]] = b->way[MOST_WAYS * level + --b->left[level]];
}

static void decide(PawlFrictionWork* k, PawlFrictionBranch* b, int row) {
  int level = b->level++;
  b->row[level] = row;
  b->open[row] = 0;
  b->left[level] = list_ways(k, row, b->way + (size_t)MOST_WAYS * (size_t)level);
  take_way(k, b);
}

// The next place of the last row that has one left; false: there is none, all were tried.
static bool go_back(PawlFrictionWork* k, PawlFrictionBranch* b) {
  while (b->level > 0 && b->left[b->level - 1] == 0) {
    int row = b->row[--b->level];
    b->open[row] = 1;
    k->place[row] = PAWL_ROW_FREE;
  }
  if (b->level > 0) {
    take_way(k, b);
  }
  return b->level > 0;
}

// ---- solutions ----------------------------------------------------------------------------------

// The places that forces and rates show, of rows that are open.
static void close_rows(PawlFrictionWork* k, const PawlFrictionBranch* b) {
  for (int i = 0; i < k->m; i++) {
    if (b->open[i] && k->owner[i] < 0) {
      bool down = isinf(k->lo[i]);
      double force = down ? k->hi[i] - k->lambda[i] : k->lambda[i] - k->lo[i];
      unsigned char out = down ? PAWL_ROW_HIGH : PAWL_ROW_LOW;
      k->next[i] = force > fabs(k->w[i]) ? PAWL_ROW_FREE : out;
    } else if (b->open[i]) {
      double limit = k->mu[k->owner[i]] * k->lambda[k->block[k->owner[i]].normal];
      double room = k->w[i] > 0.0 ? k->lambda[i] + limit : limit - k->lambda[i];
      k->next[i] = fabs(k->w[i]) <= room ? PAWL_ROW_FREE
                   : k->w[i] > 0.0       ? PAWL_ROW_LOW
                                         : PAWL_ROW_HIGH;
    } else {
      k->next[i] = k->place[i];
    }
  }
  for (int c = 0; c < k->blocks; c++) {  // an open block has no side
    bool out = k->next[k->block[c].normal] != PAWL_ROW_FREE;
    int t = k->block[c].tangent[0];
    k->next[t] = out && !k->block[c].sliding ? PAWL_ROW_FREE : k->next[t];
  }
}

static bool obeys(const PawlFrictionWork* k) {
  return pawl_friction_residual(k) <= PAWL_FRICTION_SOLVED_TO && !pawl_friction_drowned(k);
}

// The forces of the program, hardened as those of any set, or, where rows depend on each other,
// others of that set.
static bool take_solution(PawlFrictionWork* k, PawlFrictionBranch* b, PawlFrictionFeasible* p) {
  close_rows(k, b);
  memcpy(b->place, k->place, (size_t)k->m);
  memcpy(k->place, k->next, (size_t)k->m);
  bool found = (pawl_friction_harden_set(k) && obeys(k)) ||
               (pawl_friction_feasible(k, p) && !pawl_friction_drowned(k));
  if (!found) {
    memcpy(k->place, b->place, (size_t)k->m);
  }
  return found;
}

bool pawl_friction_branch(PawlFrictionWork* k, PawlFrictionBranch* b, PawlFrictionFeasible* p,
                          PawlFrictionResult* result, bool* found) {
  static const double WORK = 2e8;  // rows^3 times programs
  double most = WORK / ((double)k->m * k->m * k->m);
  *found = false;
  if (!fits(k) || k->m > p->most) {
    return false;
  }
  open_all(k, b);
  b->level = 0;
  for (int count = 0; count < most; count++) {
    result->tried++;
    if (pawl_friction_relaxed(k, p, b->open)) {
      int row = farthest(k, b);
      if (row >= 0) {
        decide(k, b, row);
        continue;
      }
      if (take_solution(k, b, p)) {
        *found = true;
        return true;
      }
    }
    if (!go_back(k, b)) {
      return true;
    }
  }
  return false;
}
