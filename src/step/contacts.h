// SPDX-License-Identifier: Apache-2.0
// The contacts of a system and which of them are closed, for the methods that know contacts.
#pragma once

#include "step/contacts_sparse.h"
#include "step/method.h"
#include "switch/rows.h"

enum { PAWL_SET_CHANGES = 12 };  // after so many iterations the sets of closed contacts only grow

// Who solves for contacts without friction that depend on each other (depend.h).
typedef struct PawlContactsDepend {
  void* of;                                          // NULL: nobody
  void (*begin)(void* of);                           // a step: nothing is known of its sets
  void (*note)(void* of, const unsigned char* set);  // contacts of this set (rows) do
  bool (*asks)(void* of, const PawlContactsSparse* matrices, const PawlContactsAsk* ask);
  bool (*choose)(void* of, const PawlContactsSparse* matrices, const PawlContactsAsk* ask);
} PawlContactsDepend;

// The contacts of a system and the compliance between them, for the choice of those that are
// closed: docs/theory/nsga.md, "Which contacts are closed".
typedef struct PawlContacts {
  int count;
  int* row;  // of each contact; the last rows of the system, one behind the other
  int *first, *entry, *column;  // entries of G of contact k: from first[k] on; and their columns
  bool known;                   // D and mobility are those of the step under way
  long long of;                 // the factorisation that D, mobility and own came from, 0: none
  double* D;                    // by columns; NULL where there are many: `sparse` in its place
  double* mobility;             // square root of the diagonal of D, or an estimate  [1/sqrt(kg)]
  PawlContactsSparse sparse;
  PawlContactsDepend depend;
  bool depends;                   // the last choice came upon contacts that do
  double *push, *opening, *size;  // rows: a level at an iterate, see pawl_contacts_choose
  // Of the beginning of a step: what the coordinates, rates and accelerations in a row count with
  // at least, and the rate that forces make in a step.
  double least_q, least_v, least_a, slow;
  double *gap, *lead, *G;  // g, g_t and G at the beginning of a step
  bool drift;  // the method knows rates alone: the memory of a state tells, by rows, which pressed
               // in the last step, also behind instants at which forces begin anew          (T32)
  // the problem of the rows that are contacts
  PawlCompliance* solver;
  double *own, *q, *rounding, *lo, *hi, *z, *w;
  unsigned char *in, *state;
  unsigned char* touching;  // rows: closed, or open by nothing, after a choice
  unsigned char* guess;     // rows: was closed in the step before; where a search begins
} PawlContacts;

PAWL_CHECKED PawlStatus pawl_contacts_create(PawlStepper* s, PawlContacts* c, PawlError* err);
void pawl_contacts_destroy(PawlContacts* c);
// Sets the least sizes and the slow rate from a state with its M and f.
void pawl_contacts_measure(const PawlStepper* s, PawlContacts* c, const PawlState* state,
                           const PawlValues* values);
// D of [S -B^T; J 0] with the rows of `bilateral` held; x (v) and y (rows) are room. Leaves that
// factorisation in s->kkt.
PAWL_CHECKED PawlStatus pawl_contacts_compliance(PawlStepper* s, PawlContacts* c, const double* S,
                                                 const double* B, const double* J,
                                                 const unsigned char* bilateral, double t,
                                                 double* x, double* y, PawlError* err);
// No contact is in `set`, pushes or is not open.
bool pawl_contacts_idle(const PawlContacts* c, const double* push, const double* opening,
                        const unsigned char* set);

// An opening that is none, or less, next to c->size: rounding does not open a contact.
bool pawl_contacts_touches(const PawlContacts* c, double tolerance, int row, double opening);

typedef struct PawlChoice {
  const unsigned char* allowed;  // rows that may be closed; NULL: all
  double tolerance;              // the part of c->size that counts as nothing
  bool first;                    // there is no set yet: begin with what each contact alone would do
  bool grow;                     // contacts may only be added
} PawlChoice;

// Names the rows that cannot hold together where no set of contacts serves: bilateral rows in force
// and contacts (of `allowed`; NULL: all), for corrections x with w = G x + b; PAWL_ERROR_RUN.
// `what` says what is missing, "position". Nothing is wrong with these rows: PAWL_OK.
PAWL_CHECKED PawlStatus pawl_contacts_contradiction(PawlStepper* s, const PawlPhase* phase,
                                                    const PawlValues* values, const double* b,
                                                    const unsigned char* allowed, double t,
                                                    const char* what, PawlError* err);

// Changes the contacts in `set` to those for which c->push (force, impulse) and c->opening (gap,
// rate, acceleration), both of an iterate, become complementary. `*changed` is set when it differs.
// False when there is no such set. Pushes of contacts that depend on each other are shared anew
// where some pull.
bool pawl_contacts_choose(const PawlStepper* s, PawlContacts* c, const PawlChoice* choice,
                          unsigned char* set, bool* changed);
// At the beginning of a step, for what follows.
void pawl_contacts_begin(const PawlStepper* s, PawlContacts* c, const PawlValues* values);

// One step as pawl_contacts_passed() is to judge it.
typedef struct PawlPassage {
  double t, h;                   // of its beginning; its length [s]
  const double* rate_before;     // rows: G v + g_t there
  const double *gap, *rate, *v;  // at its end
  double ahead;                  // [s] a gap that is closed so long after the end is met then
  const double* turned;  // rows: G v + g_t with v of the beginning, all else of the end; NULL: none
                         // is thrown back
  const double* impulse;  // rows
} PawlPassage;

// Contacts that close and open again within a step, seen at none of its ends: PAWL_RETRY while
// halves of it may meet them, then a warning. And contacts that are thrown back by the rate of the
// beginning though they open by the gradient of the end: PAWL_RETRY alike.          (N26) (N47)
PAWL_CHECKED PawlStatus pawl_contacts_passed(PawlStepper* s, PawlContacts* c,
                                             const PawlPassage* step, PawlError* err);
// It pressed in the last step, rests, and its gap is no more than the drift of rates; h: of the
// step to come. (T32)
bool pawl_contacts_stays(const PawlStepper* s, const PawlContacts* c, const PawlState* state,
                         double gap, double rate, double h, int row);
// Contacts with no gap, or none but drift, and no rate: rows of `set`, and how many. Leaves rates
// of rows in c->opening and what they are relative to in c->size.
int pawl_contacts_resting(const PawlStepper* s, PawlContacts* c, const PawlState* state,
                          const PawlValues* values, unsigned char* set);
// Contacts closed and at rest from the start press where they would accelerate inwards: sets a and
// lambda of a state. x (v) and set (rows) are room.
PAWL_CHECKED PawlStatus pawl_contacts_start(PawlStepper* s, PawlContacts* c, const PawlPhase* phase,
                                            PawlState* state, double* x, unsigned char* set,
                                            PawlError* err);
