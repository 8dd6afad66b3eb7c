// SPDX-License-Identifier: Apache-2.0
#include "switch/modes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/tolerances.h"
#include "system/system.h"

static PawlStatus start_error(const PawlSystem* system, int c, const char* what, PawlError* err) {
  const PawlConstraint* constraint = &system->constraints[c];
  return pawl_fail(err, PAWL_ERROR_MODEL,
                   "%s:%d:%d: constraint '%s': %s at the start; its regions (where) must cover the "
                   "motion and not overlap, or name the mode with start:",
                   system->model->file, constraint->source.line, constraint->source.column,
                   constraint->name, what);
}

// The mode of constraint c whose region holds the start; guards of one constraint are neighbours.
static PawlStatus start_mode(const PawlSystem* system, int c, const double* z, const double* z_rate,
                             double noise, int* mode, PawlError* err) {
  const PawlConstraint* constraint = &system->constraints[c];
  if (constraint->start_mode >= 0) {
    *mode = constraint->start_mode;
    return PAWL_OK;
  }
  int inside = 0, entered = 0;
  for (int k = 0; k < system->guard_count; k++) {
    if (system->guards[k].constraint != c) {
      continue;
    }
    bool on_surface = fabs(z[k]) <= noise;
    if (z[k] > 0.0 && !on_surface) {
      inside++;
      *mode = system->guards[k].mode;
    } else if (inside == 0 && on_surface && z_rate[k] > 0.0) {
      entered++;
      *mode = system->guards[k].mode;
    }
  }
  if (inside > 1) {
    return start_error(system, c, "several regions hold it", err);
  }
  return inside + entered > 0 ? PAWL_OK : start_error(system, c, "no region holds it", err);
}

// On the surface of a turn the motion decides; at rest it is the upper side.
static int start_turn(const PawlTurn* turn, double z, double rate, double noise) {
  double on = turn->counts ? PAWL_ON_TURN : noise, whole = turn->counts ? floor(z + on) : 0.0;
  bool back = fabs(z - whole) <= on && rate < 0.0;
  if (turn->counts) {
    return (int)(back ? whole - 1.0 : whole);
  }
  return back || z < -on ? -1 : 1;
}

bool pawl_modes_start_turns(const PawlSystem* system, const double* z, const double* z_rate,
                            double noise, int* modes) {
  bool changed = false;
  for (int k = 0; k < system->turn_count; k++) {
    int at = system->guard_count + k, *mode = &modes[system->constraint_count + k];
    int turn = start_turn(&system->turns[k], z[at], z_rate[at], noise);
    changed |= turn != *mode;
    *mode = turn;
  }
  return changed;
}

PawlStatus pawl_modes_start(const PawlSystem* system, const double* z, const double* z_rate,
                            double noise, int* modes, PawlError* err) {
  assert(noise >= 0.0);
  for (int c = 0; c < system->constraint_count; c++) {
    modes[c] = 0;
    if (system->constraints[c].triggered) {
      modes[c] = system->constraints[c].switching->engaged ? PAWL_MODE_HELD : PAWL_MODE_FREE;
    } else if (system->constraints[c].mode_count > 1) {
      PAWL_TRY(start_mode(system, c, z, z_rate, noise, &modes[c], err));
    }
  }
  (void)pawl_modes_start_turns(system, z, z_rate, noise, modes);
  return PAWL_OK;
}

int pawl_modes_contacts(const PawlSystem* system, int* first) {
  *first = system->model ? system->first_contact : system->sizes.rows;
  return *first + (system->model ? system->model->contact_count : 0);
}

int pawl_modes_of_contact(const PawlSystem* system, int row) {
  int first, end = pawl_modes_contacts(system, &first);
  assert(row >= first && row < end);
  return system->sizes.modes - end + row;
}

bool pawl_modes_in_range(const PawlSystem* system, const int* modes) {
  bool in = true;
  for (int c = 0; c < system->constraint_count; c++) {
    in = in && modes[c] >= 0 && modes[c] < system->constraints[c].mode_count;
  }
  int first, end = pawl_modes_contacts(system, &first);
  for (int row = first; row < end; row++) {
    int mode = modes[pawl_modes_of_contact(system, row)];
    in = in && mode >= PAWL_MODE_OPEN && mode < PAWL_CONTACT_MODE_COUNT;
  }
  return in;
}

// Where a turn goes from here; the same when it stays.
static int next_turn(const PawlTurn* turn, double z, double slack, int mode) {
  static const double MOST = 1e9;  // a count that an int holds
  bool stays = !pawl_turn_is_left(turn, z, mode, slack) || !(fabs(z) < MOST);
  return stays ? mode : turn->counts ? (int)floor(z) : -mode;
}

bool pawl_modes_next(const PawlSystem* system, const double* z, double slack, const int* modes,
                     int* next) {
  bool changed = false;
  assert(slack >= 0.0 && pawl_modes_in_range(system, modes));
  memcpy(next, modes, (size_t)system->sizes.modes * sizeof(int));
  for (int k = 0; k < system->guard_count; k++) {
    PawlGate g = system->guards[k];
    if (modes[g.constraint] != g.mode || z[k] >= -slack) {
      continue;  // not the present mode, or still inside
    }
    int best = -1;
    for (int j = 0; j < system->guard_count; j++) {
      if (system->guards[j].constraint == g.constraint && z[j] > 0.0 &&
          (best < 0 || z[j] > z[best])) {
        best = j;
      }
    }
    if (best >= 0) {
      next[g.constraint] = system->guards[best].mode;
      changed = true;
    }
  }
  for (int k = 0; k < system->turn_count; k++) {
    int* mode = &next[system->constraint_count + k];
    int turn = next_turn(&system->turns[k], z[system->guard_count + k], slack, *mode);
    changed |= turn != *mode;
    *mode = turn;
  }
  return changed;
}

double pawl_modes_margin(const PawlSystem* system, const double* z, const int* modes,
                         int* constraint) {
  double margin = INFINITY;
  assert(pawl_modes_in_range(system, modes));
  for (int k = 0; k < system->guard_count + system->turn_count; k++) {
    int turn = k - system->guard_count;
    int c = turn < 0 ? system->guards[k].constraint : system->turns[turn].constraint;
    if (turn < 0 && modes[c] != system->guards[k].mode) {
      continue;
    }
    double inside = turn < 0 ? z[k]
                             : pawl_turn_margin(&system->turns[turn], z[k],
                                                modes[system->constraint_count + turn]);
    if (inside < margin) {
      margin = inside;
      *constraint = c;
    }
  }
  return margin;
}

// How many turns differ.
static int count_turned(const PawlSystem* system, const int* from, const int* to) {
  int count = 0;
  for (int k = system->constraint_count; k < system->constraint_count + system->turn_count; k++) {
    count += from[k] != to[k];
  }
  return count;
}

double pawl_modes_entering(const PawlSystem* system, const double* z_rate, const int* from,
                           const int* to) {
  double least = INFINITY;
  int turned = count_turned(system, from, to);
  assert(pawl_modes_in_range(system, from) && pawl_modes_in_range(system, to));
  for (int k = 0; k < system->guard_count; k++) {
    PawlGate g = system->guards[k];
    bool by_turn = turned > 0 && g.turned;  // by a jump of its z, far from where that is zero
    if (to[g.constraint] == g.mode && from[g.constraint] != g.mode && !by_turn) {
      least = fmin(least, z_rate[k]);
    }
  }
  for (int k = 0; k < system->turn_count; k++) {
    int step = to[system->constraint_count + k] - from[system->constraint_count + k];
    bool by_turn = turned > 1 && system->turns[k].turned;  // the same, by that of another
    if (step != 0 && !by_turn) {
      least = fmin(least, (step > 0 ? 1.0 : -1.0) * z_rate[system->guard_count + k]);
    }
  }
  return least;
}

void pawl_modes_active(const PawlSystem* system, const int* modes, unsigned char* active) {
  memset(active, 0, (size_t)system->sizes.rows);
  if (!system->model && !system->constraints) {
    memset(active, 1, (size_t)system->sizes.rows);
    return;
  }
  assert(pawl_modes_in_range(system, modes));
  for (int c = 0; c < system->constraint_count; c++) {
    const PawlConstraint* constraint = &system->constraints[c];
    assert(constraint->modes[modes[c]].row_count <= constraint->row_count);
    for (int r = 0; r < constraint->modes[modes[c]].row_count; r++) {
      active[constraint->first_row + r] = 1;
    }
  }
  int first, end = pawl_modes_contacts(system, &first);
  for (int row = first; row < end; row++) {
    int mode = modes[pawl_modes_of_contact(system, row)];
    active[row] = mode != PAWL_MODE_OPEN;
    if (mode == PAWL_MODE_CLOSED || mode == PAWL_MODE_LIMIT) {  // friction sticks
      PawlContactFriction of = pawl_system_friction(system, row);
      memset(active + of.first, 1, (size_t)of.count);
    }
  }
}
