// SPDX-License-Identifier: Apache-2.0
// A phase is everything discrete: which mode each constraint is in, which rows are in force with
// which bounds, which of them bind, what locks hold. It does not change between two instants. A
// state carries its phase; a method steps with one that it is given and cannot change.
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "pawl/stepper.h"
#include "switch/row.h"
#include "system/system.h"

struct PawlCrossing;

typedef struct PawlPhase {
  const int* modes;    // sizes.modes: the mode of each constraint, then turns, then contacts
  const double* held;  // rows: what locks hold; then the inputs
  // rows: a PawlRowOf, which bounds the force while it is in force (also of rows that follow from
  // others); a capacity is looked at where it is needed (watch.h). Time stepping has contacts let
  // go here: each step finds out which are closed. Where they are located, those that are closed
  // are in force.
  const unsigned char* in_force;
  const unsigned char* active;  // rows: binds, and does not follow from others; NULL: all do
  // A step in which regions switch, taken with the modes of its end; NULL: none do. law.h
  const struct PawlCrossing* crossing;
} PawlPhase;

// The phase of a state. `plain`: all rows of the system bind for good.
static inline PawlPhase pawl_phase_of(const PawlState* state, bool plain) {
  return (PawlPhase){state->modes, state->held, state->in_force,
                     plain && state->redundant_count == 0 ? NULL : state->active, NULL};
}

static inline bool pawl_phase_binds(const PawlPhase* phase, int row) {
  return !phase->active || phase->active[row];
}

static inline PawlPoint pawl_phase_point(const PawlPhase* phase, double t, const double* q,
                                         const double* v, const double* a, const double* lambda) {
  return (PawlPoint){t, q, v, a, lambda, phase->modes, phase->held};
}

enum {                    // of PawlState.sides, besides -1, 0 and 1; the last three times a side
  PAWL_SIDE_PINNED = 2,   // the rows in force hold this condition at zero
  PAWL_SIDE_UNKNOWN = 3,  // of a condition with the force of a contact: no step has shown it yet
  PAWL_SIDE_ZERO = 4,     // a force that is zero, which counts as this side
  PAWL_SIDE_LEAVES = 5,   // its contact is open, but overlaps still
  PAWL_SIDE_CLOSED = 6,   // plus the row of its contact, which is closed; the side is that of an
                          // open one
};

// ---- states -------------------------------------------------------------------------------------
typedef struct PawlStateShape {  // how many of each a state has
  int q, v, rows, inputs, memory, since, conditions, bounces, clocks, modes, surfaces;
} PawlStateShape;

// The inputs of a state, behind what locks hold; then, where there are inputs, whether one was set
// since accelerations and multipliers were computed.
static inline double* pawl_phase_inputs(const PawlState* state, const PawlSystem* system) {
  return state->held + system->sizes.rows;
}
static inline double* pawl_phase_input_set(const PawlState* state, const PawlSystem* system) {
  return pawl_phase_inputs(state, system) + system->sizes.inputs;
}

// Bytes of its arrays, from q on.
size_t pawl_phase_state_bytes(const PawlStateShape* shape);
PAWL_CHECKED PawlStatus pawl_phase_state(const PawlStateShape* shape, PawlState** out,
                                         PawlError* err);
// All of a state: the run goes on from the copy with the same bits.
void pawl_phase_copy(PawlState* to, const PawlState* from);

// Whether the discrete part of a state, read from elsewhere, can be one of the system: modes that
// its constraints have, sides, times passed, flags that are flags and counted right.
bool pawl_phase_is_possible(const PawlSystem* system, const PawlStateShape* shape,
                            const PawlState* state);

// ---- rows ---------------------------------------------------------------------------------------
// What bounds the force of a row of the system while it is in force.
PawlRowOf pawl_phase_row_of(const PawlSystem* system, int row);
// Sets state->in_force from its modes, and state->active from these and redundant rows.
void pawl_phase_activate(const PawlSystem* system, PawlState* state);
static inline size_t pawl_phase_mode_bytes(const PawlState* state) {
  return (size_t)state->mode_count * sizeof(int);
}
