// SPDX-License-Identifier: Apache-2.0
// What forces decide at an instant: which of the joints with a capacity that are at rest hold, and
// which slide (docs/theory/events.md, "Capacity"); and which contacts without a gap and at rest
// press (docs/theory/contacts.md).
#pragma once

#include "switch/strike.h"

typedef struct PawlStick {
  PawlDynamics* dynamics;
  PawlWatching* watching;
  const unsigned char* loosened;  // constraints that slide to the end of this step; borrowed
  const unsigned char*
      reached;                  // constraints whose force was found to be at its capacity; borrowed
  PawlStrike* strike;           // NULL: contacts are not located
  const unsigned char* pulled;  // rows: the force of a contact has come to zero here; borrowed
  const unsigned char* lifted;  // rows: so often at this instant; borrowed
  unsigned char* resting;       // rows: contacts to be decided
  unsigned char* spared;        // rows: contacts that carry nothing though they touch (F42)
  unsigned char* idle;          // rows: joints that leave what they could carry to contacts (F34)
  unsigned char *undecided, *was;  // joints: at rest, to be decided; held before
  int* turns;                      // joints: how often each was put back
  double* noise;                   // joints: what is known of whether each is at its capacity
  double *rate, *sizes, *blur;     // rows
  double* begins;                  // rows: how fast a slip counts as where it begins (F32)
  double* push;                    // v: accelerations
  int *modes, *modes_before;
  double* held_before;  // rows
  bool jammed;          // friction leaves no accelerations: the state is not settled
  bool several;         // it leaves several: one was taken
  bool rubs;            // contacts with friction are closed that are not located, and were left out
  bool rubs_told, spared_told;
} PawlStick;

PAWL_CHECKED PawlStatus pawl_stick_create(PawlWatching* watching, const unsigned char* loosened,
                                          const unsigned char* reached, PawlStick* stick,
                                          PawlError* err);
// Contacts are decided, too; all arguments are borrowed.
void pawl_stick_take_contacts(PawlStick* stick, PawlStrike* strike, const unsigned char* pulled,
                              const unsigned char* lifted, const unsigned char* broken);
// A warning that the motion hangs on how the contacts in `group` (rows) share a load.        (F28)
PAWL_CHECKED PawlStatus pawl_stick_note_shares(PawlDynamics* d, const unsigned char* group,
                                               double t, PawlError* err);
// A warning, once, that a constraint lets go where time stepping knows friction as a mean alone.
PAWL_CHECKED PawlStatus pawl_stick_tell_rubbing(PawlStick* stick, double t, int constraint,
                                                PawlError* err);
// Settles the joints of a state, computes its accelerations and multipliers, and leaves the values
// of the dynamics and the KKT matrix that belong to them. `v_before`: before a jump that led here,
// the velocities themselves without. *newly_held: a joint sticks, or a contact is closed, that did
// not, or was not.
PAWL_CHECKED PawlStatus pawl_stick_settle(PawlStick* stick, PawlState* state,
                                          const double* v_before, bool* newly_held, PawlError* err);
