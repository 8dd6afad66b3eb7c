// SPDX-License-Identifier: Apache-2.0
// The impact of contacts at one instant (docs/theory/contacts.md): all contacts without a gap,
// those that are closed among them, and all rows in force are one problem of impulses with bounds
// (rows.h). A function of its arguments; it knows no stepper.
#pragma once

#include "switch/watch.h"

typedef enum PawlStrikeLaw {
  PAWL_STRIKE_NEWTON,      // all at once, rates after by those before                        (C4)
  PAWL_STRIKE_POISSON,     // all at once, impulses of expansion by those of compression      (C6)
  PAWL_STRIKE_SEQUENTIAL,  // one after the other by Newton's law                             (C7)
} PawlStrikeLaw;

typedef struct PawlStrike {
  PawlDynamics* dynamics;
  PawlWatching* watching;
  PawlStrikeLaw law;
  int first, end;                // rows that are contacts
  int rubs;                      // the first row of their friction, before them
  const unsigned char* touched;  // rows: the gap has come to zero at this instant; borrowed
  const unsigned char* jams;     // rows: lifts off now, and does not touch; borrowed
  const double* slack;           // rows: how far below zero it was looked for (C1); borrowed
  // of the last look and the last impact, by rows
  unsigned char *touching, *hit;
  unsigned char* dull;  // stay together, and give nothing back (bounce.h)
  unsigned char* back;  // of what these have got at this instant some may be taken back
  double *rate, *slow;  // G v + g_t; rates below count as none
  double* second;       // G v' + gamma, of the way back
  double *aim, *lo;     // (C4): w = G v+ + g_t + aim; least impulses
  double *least, *room, *after, *kept;
  double* pushed;  // rates that other jumps of this instant have made, until a contact is hit
  double *move, *v_kept;  // v
  double* v_most;         // v: the largest size of each at this instant so far
  bool waits;             // another jump of this instant follows: open contacts are hit after it
  bool shocks;            // an impact without a collision is under way (F25)
  double ahead;           // [s] forces act for so long in it                              (F72)
  bool again;             // it is found from the sets of the last solution
  bool stopped;           // a restitution was taken as 0, and that was said (F31)
} PawlStrike;

PAWL_CHECKED PawlStatus pawl_strike_create(PawlWatching* watching, const unsigned char* touched,
                                           const unsigned char* jams, const double* slack,
                                           PawlStrike* strike, PawlError* err);
// An instant begins with velocities `v`.
void pawl_strike_begin(PawlStrike* strike, const double* v);
// Which contacts have no gap at a state whose values these are, to `touching`, with the rates of
// all rows, to `rate`. Returns how many.
int pawl_strike_look(PawlStrike* strike, const PawlState* state, const PawlValues* values);
// A state just past the zero of gaps goes back along its motion to where the first of them is zero.
void pawl_strike_back(PawlStrike* strike, PawlState* state, const PawlValues* values);
// Moves the positions of a state out of the overlap that the tolerance of an instant has left of
// contacts that touch now; *moved: there was some. `values` are those of the state.         (C3)
PAWL_CHECKED PawlStatus pawl_strike_part(PawlStrike* strike, PawlState* state,
                                         const PawlValues* values, bool* moved, PawlError* err);
// Where friction leaves no accelerations: the contacts that touch take an impact without a
// collision, with no restitution, that stops the slip or turns it. *moves: there is one.    (F25)
PAWL_CHECKED PawlStatus pawl_strike_shock(PawlStrike* strike, PawlState* state,
                                          const PawlValues* values, double* impulse, bool* moves,
                                          PawlError* err);
// The impact at a state: its velocities become those after, impulses are added to `impulse` (rows).
// `v_before` are the velocities before the whole instant, from which Newton's law takes its rates.
// Contacts that were hit go to `hit`; *any: velocities have changed.
PAWL_CHECKED PawlStatus pawl_strike(PawlStrike* strike, PawlState* state, const double* v_before,
                                    const PawlValues* values, double* impulse, bool* any,
                                    PawlError* err);
