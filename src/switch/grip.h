// SPDX-License-Identifier: Apache-2.0
// Contacts with friction at an instant (docs/theory/friction.md, section 9): the problem of
// switch/watch.h with blocks of friction (friction.h), for velocities after an impact and for
// accelerations. Which contacts stick, slip or open is its result. It knows no stepper.
#pragma once

#include "switch/friction.h"
#include "switch/trees.h"
#include "switch/watch.h"

typedef enum PawlGripPart {  // what a contact does at the instant, or may do
  PAWL_GRIP_OUT,             // takes no part: open
  PAWL_GRIP_RESTS,           // its slip is zero: sticks, or begins to slip
  PAWL_GRIP_SLIDES,          // slips along `along`
} PawlGripPart;

// Rows and blocks that no mass and no row connects with others: a problem of its own.
typedef struct PawlGripIsland {
  int first, count;         // rows
  int first_block, blocks;  // their rows are counted from `first`
  bool sparse;              // its compliance: entries of rows that act on each other, else all
  size_t D;                 // where its entries begin
  int columns, pattern;     // where the pattern of a sparse one does
  bool solved;              // there is a solution
} PawlGripIsland;

// Where a row of the problem acts on a body.
typedef struct PawlGripPiece {
  int row, body;
  int first, count;  // of `entry`
  int next;          // the next row's on that body; -1: none
} PawlGripPiece;

// D = G M^-1 G^T of the islands, and room for it.                                           (F46)
typedef struct PawlGripCompliance {
  PawlGripPiece* piece;  // row by row
  int* of_row;           // rows + 1: its pieces
  int* entry;            // of G as PawlByRows lists it, piece by piece
  int *head, *last;      // v: the first piece of a body, and its last; -1: none
  int *body, bodies;     // v: those that rows act on
  int *unit, *member;    // rows: the contact that a row belongs to, or itself; the next of these
  int *seen, *list, stamp;
  int* island;         // rows
  int *start, *index;  // patterns of sparse islands
  double* D;           // entries, column by column
  int index_room;
  size_t room;
} PawlGripCompliance;

typedef struct PawlRecall PawlRecall;  // recall.h

typedef struct PawlGrip {
  PawlDynamics* dynamics;
  PawlWatching* watching;
  PawlSlip* slip;
  PawlFriction* solver;
  // in, for each contact with friction
  unsigned char* part;  // a PawlGripPart
  double* along;        // 2 each
  double *mu, *kinetic;
  const unsigned char* broken;  // rows: cones that were left at this instant, 2: again; borrowed
  // out
  unsigned char* found;         // a PawlFrictionState
  bool strikes;                 // impulses are asked for, not forces
  bool decides;                 // what contacts do is decided, and not only looked at
  bool presses;                 // from the set in which all that touches is closed (F25)
  bool again;                   // from the sets of the last solution of the same contacts (F72)
  PawlFrictionVerdict verdict;  // NONE and NOT_CONVERGED are no failure
  int worst;                    // the contact that slips farthest beyond its critical mu
  double beyond;  // [1] mu over the critical one, there; 0: none has one         (F24)
  bool unstable;  // of several motions one is, though none may be beyond         (F43)
  int strays;     // a contact that would stray in a motion that was not taken (F39); -1
  // Several motions (several.h).
  bool counts, told;   // in: they are looked for; it is said once
  int several;         // an island that has some, as found first; -1: none
  int critical_of;     // its contact that is farthest beyond its critical mu, alone
  double critical;     // [1] mu over the critical one, there                         (F24)
  PawlRecall* recall;  // what was asked last of contacts that share
  // room
  int count;                  // rows of the problem, island by island
  int *row, *place;           // which they are, and where a row is among them (-1: nowhere)
  unsigned char* eliminated;  // rows
  int most;                   // rows of the largest island that there is room for
  PawlGripCompliance compliance;
  double *own, *q, *size, *lo, *hi, *lambda, *w, *slips;
  double *x, *y;  // v, rows
  unsigned char *state, *block_state;
  PawlFrictionBlock* block;
  int* block_of;  // contact of each block
  int blocks;
  int islands;
  PawlGripIsland* island;
  PawlTrees trees;                    // what is connected
  int* body;                          // v: the least velocity of its body
  int *next_row, *next_block, *head;  // rows, contacts; both of each island
} PawlGrip;

// For the contacts of `slip`, which is borrowed. NULL in *out where none has friction.
PAWL_CHECKED PawlStatus pawl_grip_create(PawlWatching* watching, PawlSlip* slip, PawlGrip** out,
                                         PawlError* err);
void pawl_grip_destroy(PawlGrip* grip);  // NULL is allowed

// Rates of slips at a state: contacts of `touching` (rows) rest or slide, the others are out, with
// mu as it is there; rates up to `slow` (rows) count as none.
PAWL_CHECKED PawlStatus pawl_grip_look(PawlGrip* grip, const PawlState* state,
                                       const unsigned char* touching, const double* slow,
                                       PawlError* err);
// Before an impact: the velocities after it decide which contacts slip, and where to; each has one
// mu, that of before. `presses`: the search begins where all that touches is closed and sticks;
// `again`: where that of the same contacts, which was the last, has ended.
void pawl_grip_strike(PawlGrip* grip, bool presses, bool again);
// After that: those of `ends` (rows), whose normal rows are bilateral, go on along their slip, with
// friction -mu Lambda_N along it, of Lambda_N of either sign; but where it is up to `slow` (rows).
// (C19)
void pawl_grip_end(PawlGrip* grip, const unsigned char* ends, const double* slow);
// Whether one of these was found to slip back, which it does not.
bool pawl_grip_turns(const PawlGrip* grip);
// As contacts are in the phase of a state, with the static mu of those that stick: how these share
// what they hold. `beyond`: cones are wider by this part.
PAWL_CHECKED PawlStatus pawl_grip_share(PawlGrip* grip, const PawlState* state, double beyond,
                                        PawlError* err);
// Solves the problem of the rows as pawl_watch_solve does, with r, b and bounds of w->rows and b of
// the rows of friction. Contacts that rest and are found to slip do so with their kinetic mu.
PAWL_CHECKED PawlStatus pawl_grip_solve(PawlGrip* grip, const PawlValues* values, PawlError* err);
