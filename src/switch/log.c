// SPDX-License-Identifier: Apache-2.0
#include "switch/log.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "system/system.h"

enum { FIRST_ROOM = 8 };

// Arrays for an entry.
static PawlInstant* new_block(PawlArena* arena, PawlSizes n) {
  PawlInstant* i = PAWL_NEW(arena, PawlInstant, 1);
  if (i) {
    *i = (PawlInstant){.from = PAWL_NEW(arena, int, n.modes),
                       .to = PAWL_NEW(arena, int, n.modes),
                       .q = PAWL_NEW(arena, double, n.q),
                       .v_before = PAWL_NEW(arena, double, n.v),
                       .v_after = PAWL_NEW(arena, double, n.v),
                       .impulse = PAWL_NEW(arena, double, n.rows),
                       .loss = PAWL_NEW(arena, double, n.rows),
                       .push = PAWL_NEW(arena, double, n.v),
                       .a_before = PAWL_NEW(arena, double, n.v),
                       .a_after = PAWL_NEW(arena, double, n.v),
                       .lambda_before = PAWL_NEW(arena, double, n.rows),
                       .lambda_after = PAWL_NEW(arena, double, n.rows),
                       .held_before = PAWL_NEW(arena, double, n.rows + n.inputs),
                       .held_after = PAWL_NEW(arena, double, n.rows + n.inputs)};
  }
  return i;
}

// Doubles the room for entries.
static PawlStatus grow(PawlLog* log, PawlError* err) {
  int room = log->room > 0 ? 2 * log->room : FIRST_ROOM;
  PawlInstant** instants = PAWL_NEW(log->arena, PawlInstant*, room);
  int* block_of = PAWL_NEW(log->arena, int, room);
  for (int k = 0; block_of && k < room; k++) {
    instants[k] = k < log->room ? log->instants[k] : PAWL_NEW(log->arena, PawlInstant, 1);
    block_of[k] = k < log->room ? log->block_of[k] : 0;
  }
  if (log->arena->failed) {
    return pawl_fail_memory(err);
  }
  log->instants = instants;
  log->block_of = block_of;
  log->room = room;
  return PAWL_OK;
}

// And that for their arrays.
static PawlStatus grow_blocks(PawlLog* log, PawlError* err) {
  int room = log->block_room > 0 ? 2 * log->block_room : FIRST_ROOM;
  PawlInstant** blocks = PAWL_NEW(log->arena, PawlInstant*, room);
  for (int k = 0; blocks && k < room; k++) {
    blocks[k] = k < log->block_room ? log->blocks[k] : new_block(log->arena, log->sizes);
  }
  if (log->arena->failed) {
    return pawl_fail_memory(err);
  }
  log->blocks = blocks;
  log->block_room = room;
  return PAWL_OK;
}

PawlStatus pawl_log_create(PawlArena* arena, const PawlSystem* system, PawlLog* log,
                           PawlError* err) {
  *log = (PawlLog){.arena = arena, .sizes = pawl_system_sizes(system)};
  log->nothing = PAWL_NEW(arena, double, log->sizes.rows);
  PAWL_TRY(grow(log, err));
  return grow_blocks(log, err);
}

static void fill(int count, const double* to, double value) {
  for (int k = 0; k < count; k++) {
    ((double*)to)[k] = value;
  }
}

static void forget_sides(const PawlLog* log, PawlInstant* i) {
  fill(log->sizes.v, i->a_before, NAN);
  fill(log->sizes.v, i->a_after, NAN);
  fill(log->sizes.rows, i->lambda_before, NAN);
  fill(log->sizes.rows, i->lambda_after, NAN);
  fill(log->sizes.rows + log->sizes.inputs, i->held_before, 0.0);
  fill(log->sizes.rows + log->sizes.inputs, i->held_after, 0.0);
}

// The next entry, with arrays that are not filled: its own, or those of the entry before.
static PawlStatus next_entry(PawlLog* log, double t, bool shared, PawlInstant** out,
                             PawlError* err) {
  int block = log->count > 0 ? log->block_of[log->count - 1] + !shared : 0;
  PAWL_TRY(log->count == log->room ? grow(log, err) : PAWL_OK);
  PAWL_TRY(block == log->block_room ? grow_blocks(log, err) : PAWL_OK);
  assert(log->count >= 0 && log->count < log->room);
  PawlInstant* i = log->instants[log->count];
  *i = *log->blocks[block];
  log->block_of[log->count++] = block;
  i->contact = i->event = i->refused = -1;
  i->t = t;
  *out = i;
  return PAWL_OK;
}

// The same with all but impulse, loss and sides filled in.
static PawlStatus add(PawlLog* log, double t, const double* q, const double* v_before,
                      const double* v_after, const int* from, const int* to, PawlInstant** out,
                      PawlError* err) {
  PAWL_TRY(next_entry(log, t, false, out, err));
  PawlInstant* i = *out;
  memcpy((int*)i->from, from, (size_t)log->sizes.modes * sizeof(int));
  memcpy((int*)i->to, to, (size_t)log->sizes.modes * sizeof(int));
  memcpy((double*)i->q, q, (size_t)log->sizes.q * sizeof(double));
  memcpy((double*)i->v_before, v_before, (size_t)log->sizes.v * sizeof(double));
  memcpy((double*)i->v_after, v_after, (size_t)log->sizes.v * sizeof(double));
  memset((double*)i->impulse, 0, (size_t)log->sizes.rows * sizeof(double));
  memset((double*)i->loss, 0, (size_t)log->sizes.rows * sizeof(double));
  forget_sides(log, i);
  return PAWL_OK;
}

// A contact at the end (t, q, v) of a time step from `before`: all of one end share their arrays,
// or thousands that change at once would need a square of room.
static PawlStatus add_contact(PawlLog* log, int row, const PawlState* before, double t,
                              const double* q, const double* v, PawlInstant** out, PawlError* err) {
  const PawlInstant* last = log->count > 0 ? log->instants[log->count - 1] : NULL;
  bool shared = last && last->contact >= 0 && last->t == t && log->end_q == q && log->end_v == v &&
                log->end_of == before;
  if (shared) {
    PAWL_TRY(next_entry(log, t, true, out, err));
  } else {
    PAWL_TRY(add(log, t, q, before->v, v, before->modes, before->modes, out, err));
  }
  log->end_of = before;
  log->end_q = q;
  log->end_v = v;
  (*out)->contact = row;
  return PAWL_OK;
}

PawlStatus pawl_log_switch(PawlLog* log, const PawlState* after, const int* from,
                           const double* v_before, const double* impulse, const double* loss,
                           double energy_lost, PawlError* err) {
  PawlInstant* i;
  PAWL_TRY(add(log, after->t, after->q, v_before, after->v, from, after->modes, &i, err));
  size_t bytes = (size_t)log->sizes.rows * sizeof(double);
  i->energy_lost = energy_lost;
  memcpy((double*)i->impulse, impulse ? impulse : log->nothing, bytes);
  memcpy((double*)i->loss, loss ? loss : log->nothing, bytes);
  return PAWL_OK;
}

PawlStatus pawl_log_push(PawlLog* log, const PawlState* after, int event, const double* v_before,
                         const double* U, const double* impulse, double energy_lost,
                         PawlError* err) {
  PawlInstant* i;
  PAWL_TRY(add(log, after->t, after->q, v_before, after->v, after->modes, after->modes, &i, err));
  i->pushed = true;
  i->event = event;
  i->energy_lost = energy_lost;
  memcpy((double*)i->push, U, (size_t)log->sizes.v * sizeof(double));
  memcpy((double*)i->impulse, impulse, (size_t)log->sizes.rows * sizeof(double));
  return PAWL_OK;
}

PawlStatus pawl_log_assign(PawlLog* log, const PawlState* after, int event, const double* v_before,
                           double energy_lost, PawlError* err) {
  PawlInstant* i;
  PAWL_TRY(add(log, after->t, after->q, v_before, after->v, after->modes, after->modes, &i, err));
  i->assigned = true;
  i->event = event;
  i->energy_lost = energy_lost;
  return PAWL_OK;
}

// An instant at which nothing jumps.
static PawlStatus add_quiet(PawlLog* log, const PawlState* state, PawlInstant** out,
                            PawlError* err) {
  return add(log, state->t, state->q, state->v, state->v, state->modes, state->modes, out, err);
}

PawlStatus pawl_log_event(PawlLog* log, const PawlState* state, int event, PawlError* err) {
  PawlInstant* i;
  assert(event >= 0);
  PAWL_TRY(add_quiet(log, state, &i, err));
  i->event = event;
  return PAWL_OK;
}

PawlStatus pawl_log_refusal(PawlLog* log, const PawlState* state, int constraint, PawlError* err) {
  PawlInstant* i;
  assert(constraint >= 0);
  PAWL_TRY(add_quiet(log, state, &i, err));
  i->refused = constraint;
  return PAWL_OK;
}

static void set_modes(const PawlLog* log, PawlInstant* i, int from, int to) {
  int mode = log->sizes.modes - log->sizes.rows + i->contact;  // contacts are the last of both
  ((int*)i->from)[mode] = from;
  ((int*)i->to)[mode] = to;
}

PawlStatus pawl_log_contact(PawlLog* log, const PawlState* before, const PawlContactHit* hit,
                            PawlError* err) {
  PawlInstant* i;
  assert(hit->row >= 0 && hit->row < log->sizes.rows && hit->t >= before->t);
  PAWL_TRY(add_contact(log, hit->row, before, hit->t, hit->q, hit->v, &i, err));
  set_modes(log, i, hit->from, hit->from);
  i->energy_lost = hit->energy_lost;
  ((double*)i->impulse)[hit->row] = hit->impulse;
  return PAWL_OK;
}

void pawl_log_rub(PawlLog* log, const PawlSystem* system, const double* impulse) {
  PawlInstant* i = log->instants[log->count - 1];
  PawlContactFriction of = pawl_system_friction(system, i->contact);
  for (int k = of.first; k < of.first + of.count; k++) {
    ((double*)i->impulse)[k] = impulse[k];
  }
}

PawlStatus pawl_log_met(PawlLog* log, const PawlState* after, const PawlContactMet* met,
                        PawlError* err) {
  PawlInstant* i;
  if (met->again) {
    PAWL_TRY(next_entry(log, after->t, true, &i, err));
  } else {
    PAWL_TRY(
        add(log, after->t, after->q, met->v_before, after->v, met->from, after->modes, &i, err));
  }
  i->contact = met->row;
  i->energy_lost = met->energy_lost;
  ((double*)i->impulse)[met->row] = met->impulse;
  ((double*)i->loss)[met->row] = met->energy_lost;
  return PAWL_OK;
}

PawlStatus pawl_log_seen(PawlLog* log, const PawlState* before, const PawlContactSeen* seen,
                         PawlError* err) {
  PawlInstant* i;
  PAWL_TRY(add_contact(log, seen->row, before, seen->t, seen->q, seen->v, &i, err));
  i->seen = true;
  set_modes(log, i, seen->from, seen->to);
  return PAWL_OK;
}

void pawl_log_side(PawlLog* log, bool after, const double* a, const double* lambda,
                   const double* held) {
  PawlInstant* i = log->instants[log->count - 1];
  size_t rows = (size_t)log->sizes.rows * sizeof(double);
  memcpy((double*)(after ? i->a_after : i->a_before), a, (size_t)log->sizes.v * sizeof(double));
  memcpy((double*)(after ? i->lambda_after : i->lambda_before), lambda, rows);
  memcpy((double*)(after ? i->held_after : i->held_before), held,
         rows + (size_t)log->sizes.inputs * sizeof(double));
}
