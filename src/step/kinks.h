// SPDX-License-Identifier: Apache-2.0
// Kinks of forces, energies and gaps (docs/theory/kinks.md). Methods that locate instants hold each
// on the branch of its side; a step ends where the motion leaves it, and the next begins on the
// other. Nothing jumps there, and nothing is logged. A kink that the motion is driven back to from
// both sides chatters: it is not located any more, but followed in short pieces of the step, until
// the motion leaves it. Which chatter is part of a state (PawlState.still, behind those of
// regions). Kinks of time alone are not watched: when they change is known before, and a step ends
// there.
#pragma once

#include "switch/surfaces.h"
#include "system/system.h"

enum { PAWL_KINK_PIECES = 16 };  // of a step in which a kink chatters

struct PawlStepper;

typedef struct PawlKinks {
  PawlSurfaces* surfaces;
  bool located;  // by this method; false: they are plain functions
  int first;     // of the modes of a state, and below of its surfaces
  int first_surface;
  int count;
  double* left;        // when each was left last in this step [s]; -INFINITY: not yet
  int* crossings;      // of each in this step
  int* before;         // room: modes
  PawlSides sides;     // what the evaluations of the last piece have seen
  int timed;           // of time alone; 0: they are plain functions
  int first_timed;     // of the modes of a state
  double from, until;  // when `due` hold [s]
  int* due;
  int ticks;        // in this step
  PawlLine* lines;  // room
  double* gaps;     // rows: of contacts, before a change
  double* rates;    // rows: of contacts and slips, before it
  double* slow;     // rows: what counts as no rate
} PawlKinks;

// Whether the method of a stepper locates kinks: one that locates instants anyway, or knows
// contacts and has kinks in their gaps.
bool pawl_kinks_wanted(const struct PawlStepper* stepper);
PAWL_CHECKED PawlStatus pawl_kinks_create(struct PawlStepper* stepper, PawlSurfaces* surfaces,
                                          PawlKinks* kinks, PawlError* err);
// Holds the kinks of a state on their sides at the start.
PAWL_CHECKED PawlStatus pawl_kinks_start(struct PawlStepper* stepper, PawlKinks* kinks,
                                         PawlState* state, double slack, PawlError* err);
// The next time at which kinks of time alone change, INFINITY without; this very time where it is
// not known. `slack` [s] counts as present.
double pawl_kinks_next(const PawlKinks* kinks, const PawlState* state, double slack);
// At that time: holds them as they are just after it. As pawl_kinks_cross().
PAWL_CHECKED PawlStatus pawl_kinks_tick(struct PawlStepper* stepper, PawlKinks* kinks,
                                        PawlState* state, double slack, PawlError* err);
void pawl_kinks_forget(PawlKinks* kinks);
// Before a whole step.
void pawl_kinks_begin(PawlKinks* kinks);
// Before a jump: kinks that are held while friction slides are plain in these modes, as rates may
// jump. After it: they are held on their sides where it slips.                              (K4)
void pawl_kinks_free(const struct PawlStepper* stepper, const PawlKinks* kinks, int* modes);
PAWL_CHECKED PawlStatus pawl_kinks_slide(struct PawlStepper* stepper, PawlKinks* kinks,
                                         PawlState* state, PawlError* err);
// After a jump of the velocities: what it has taken back across a kink is not driven back.
void pawl_kinks_jumped(PawlKinks* kinks);
// At a state past a kink: holds it on the other side. Velocities stay; v' and lambda follow, and
// the method starts anew unless `quiet` is false, when a jump is to follow that does so.
PAWL_CHECKED PawlStatus pawl_kinks_cross(struct PawlStepper* stepper, PawlKinks* kinks,
                                         PawlState* state, bool quiet, PawlError* err);
// After either: contacts that are located and closed whose gap has jumped open there, as above the
// edge of a step, are open in `next` (modes); so are those whose rates have jumped, which touch
// (`touched`, rows): what follows is decided as for any that closes. *any: there are such.
// (C15) (C17)
PAWL_CHECKED PawlStatus pawl_kinks_let_off(struct PawlStepper* stepper, const PawlKinks* kinks,
                                           const PawlState* state, int* next,
                                           unsigned char* touched, bool* any, PawlError* err);
// The longest piece of a step of length h that may be taken from this state, and the sides of the
// kinks that chatter; INFINITY when none does.
PAWL_CHECKED PawlStatus pawl_kinks_follow(struct PawlStepper* stepper, PawlKinks* kinks,
                                          PawlState* state, double h, double* longest,
                                          PawlError* err);
// Whether some kink chatters at this state.
bool pawl_kinks_chatter(const PawlKinks* kinks, const PawlState* state);
// Before a piece from this state: where its evaluations are to leave what they see of kinks.
PawlSides* pawl_kinks_watch(PawlKinks* kinks, const PawlState* state);
// After a whole step: what chattered and has not crossed in it is located again.
void pawl_kinks_end(const PawlKinks* kinks, PawlState* state);
