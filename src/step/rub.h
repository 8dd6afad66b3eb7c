// SPDX-License-Identifier: Apache-2.0
// Contacts with friction at velocity level, for the methods that step in time
// (docs/theory/moreau-jean.md, "Friction"): a linear step of Newton's method together with the
// contacts that may be closed in it,
//
//   S x - B^T y = r,     w = J x + w0                                                       (T6)
//   w = 0 for bilateral rows, 0 <= y_N _|_ w_N >= 0 for contacts, |y_T| <= mu y_N,
//   y_T = -mu y_N w_T / |w_T| where a contact slips.
//
// The places of the step before are tried first, on the sparse system (rub_sets.h). Where that does
// not end the contacts are taken in islands that nothing couples, each by its own compliance
// (switch/friction.h), and, where that does not, by sweeps (rub_sweep.h).
#pragma once

#include "step/method.h"
#include "step/rub_center.h"
#include "step/rub_local.h"
#include "step/rub_soft.h"
#include "switch/friction.h"

// A contact that slips at the beginning of a step, with a static coefficient of its own.
typedef enum PawlRubStop {
  PAWL_RUB_ON,      // has not come to rest in the step
  PAWL_RUB_HELD,    // has, and is held by the static cone as far as it can
  PAWL_RUB_PASSED,  // has, and that cone cannot; or it has none, or rests, or hits
} PawlRubStop;

// A solution, while another is looked for.
typedef struct PawlRubKept {
  double *x, *y, *w, *held;
  PawlRubState* places;
} PawlRubKept;

typedef struct PawlRub {
  int contacts;                 // of the system; none of them has friction: 0
  int rows;                     // of contacts and of their friction
  int first_row;                // of the system: the first of these rows
  PawlContactFriction* of;      // of each contact
  double* mu;                   // of each contact, in the step under way
  unsigned char *rests, *hits;  // of each contact: it does not slip at the beginning; it closes
  double* slip_n;               // two of each: its rates there
  PawlRubStop* stop;            // of each
  bool stops;                   // one of them may come to rest
  double* r;                    // v: of the problem, while it is solved again
  PawlEval* watch;              // what is watched, for mu; NULL: all are numbers
  int bodies, *body;            // parts of the system that contacts alone can couple; of each v
  int *first, *entry, *column;  // entries of G of row k: from first[k] on; and their columns
  int* twin;                    // of each contact: one before it with the same velocities, or -1
  int most;                     // rows of an island
  // One problem.
  int *parent, *island, *head, *next;  // bodies: islands; chains of contacts of each
  int *row, *start;                    // rows in the order of islands; where islands start
  int islands, held;                   // rows of the last compliance
  int* held_row;
  long long of_factor;         // the factorisation that D came from
  double *D, *own, *x;         // of all islands; v
  double *q, *size, *lo, *hi;  // rows, in the order of islands
  double *lambda, *w, *slip;
  unsigned char *state, *block_state;
  PawlFrictionBlock *block, *each;  // contacts with friction; all contacts of an island
  PawlFriction* solver;
  PawlRubContact *contact, *bare;  // of each contact, for what is tried first
  PawlRubState *places, *found;    // and those of the last solution with friction in this step
  unsigned char* known;            // of each contact: it has one of these
  bool asked;                      // in this step, whether contacts that move could hold      (T17)
  bool concluded;                  // the convex problem was solved for that
  unsigned char* asks;             // of each island: whether it is asked, or holds
  unsigned char *has_part, *listed;  // of each contact: its island is asked; is in a list
  int asked_islands;
  PawlRubKept kept;
  PawlRubMatrix matrix, bare_matrix;
  PawlRubProblem problem;
  PawlRubSets sets;
  PawlRubCenter center;
  PawlRubLocal local;
  PawlRubSoft soft;
  double* hold;            // rows: what the bilateral ones are to do
  long long centered;      // problems that were begun from nothing (rub_center.h)
  bool relaxed;            // the last one was left there, or:
  bool near;               // velocities go to and fro by next to nothing       (T33)
  int relaxed_often;       // in this step
  long long swept;         // islands that were solved by sweeps (rub_sweep.h)
  long long swept_before;  // the last step
  unsigned char* group;    // rows: contacts that share a load
  unsigned char *closed, *holds, *pushes;  // rows: of a start, see rub_start.h
  unsigned char* solver_before;            // what a solver remembered before it was asked aside
  unsigned looked_at;  // what slipped at the last look at that, and how many there were
  int looks;
  unsigned char* jams;  // of each contact: an impact without a collision has stopped it   (T35)
  bool jam_told;
  bool told;     // that what rests might move, or that there are several motions
  bool counted;  // whether there are at the start
  bool begins;   // no step was taken since a start, or a kink of forces: see pawl_rub_log
} PawlRub;

// The row of a contact's gap.
static inline int pawl_rub_row(const PawlRub* rub, int contact) {
  return rub->first_row + rub->rows - rub->contacts + contact;
}

// The last solution has cones that are relaxed.                                            (F16)
static inline bool pawl_rub_is_relaxed(const PawlRub* rub) {
  return rub->relaxed && !rub->near;
}

// Nothing is made where no contact has friction. `positions`: for problems without it, too.
PAWL_CHECKED PawlStatus pawl_rub_create(PawlStepper* s, bool positions, PawlRub* rub,
                                        PawlError* err);
void pawl_rub_destroy(PawlRub* rub);
// mu of each contact at the beginning of a step, where its friction slips at the rates `rate`
// (rows); below `least` times |G||v| (`size`) it does not. One that is negative or not finite
// counts as 0: a contact that stays open has none.
PAWL_CHECKED PawlStatus pawl_rub_begin(PawlRub* rub, const PawlPhase* phase, const PawlState* state,
                                       const double* rate, const double* size, PawlError* err);
// Whether mu there was finite and >= 0 of those that push (`push`: rows) in what has come of it.
PAWL_CHECKED PawlStatus pawl_rub_check(const PawlStepper* s, const PawlRub* rub,
                                       const PawlState* state, const double* push, PawlError* err);

// After a solution: what slips the other way now has been at rest in the step, where the static
// cone holds it if it can. True: coefficients have changed, and all is to be solved again.  (T13)
bool pawl_rub_stop(PawlRub* rub, const double* y, const unsigned char* closed);

typedef struct PawlRubStep {
  double t;
  const double *S, *B, *J;         // matrices
  const unsigned char* bilateral;  // rows that hold
  const unsigned char* near;       // rows: contacts that may be closed
  const double* w0;                // rows
  const double* size;              // rows: terms of w
  double tolerance;                // the part of `size` that counts as nothing
  const double* guess;             // rows: y of the step before
  bool bare;                       // contacts without their friction
  bool shares;                     // what follows hangs on how contacts share loads
} PawlRubStep;
// Solves (T6). x (v) holds r and receives x; y (rows) receives the impulses, and `closed` which
// contacts carry one and which friction sticks. PAWL_RETRY: singular, or there are no impulses (or,
// of bare contacts, none were found).
PAWL_CHECKED PawlStatus pawl_rub_solve(PawlStepper* s, PawlRub* rub, const PawlRubStep* step,
                                       double* x, double* y, unsigned char* closed, PawlError* err);

// Both ends of a step, for what contacts and their friction have done in it.
typedef struct PawlRubEnds {
  const PawlState* before;
  double t;                          // of the end [s]
  const double *q, *v;               // there
  const double *rate_before, *rate;  // rows: G v + g_t
  const double *lambda, *impulse;    // rows: forces before, impulses in the step
  const PawlValues* values;          // M and G there
  const unsigned char* near;         // rows: contacts that touch at the beginning
  double slow;                       // a rate below counts as none
} PawlRubEnds;
// Logs a hit of the contact with this row, which was open, or closed with friction until a jump.
// `jams`: it slipped, see pawl_rub_find_jams().
PAWL_CHECKED PawlStatus pawl_rub_log_hit(PawlStepper* s, const PawlRubEnds* ends, int row,
                                         bool jams, double energy_lost, PawlError* err);
// [J] What the friction of a contact brings in a step, and what the motion of the contact itself
// does through it: P_T (w_n + w_n+1)/2 and -P_T (b_n + b_n+1)/2, with the rows of all of these.
// (B20)
typedef struct PawlRubWork {
  double rubbed, dragged;
} PawlRubWork;
PawlRubWork pawl_rub_work(const PawlRub* rub, int contact, const double* impulse,
                          const double* rate_before, const double* rate, const double* b_before,
                          const double* b);
// How far friction with two slips is off its cone and slip, (F35) over the contacts that have it.
double pawl_rub_aside(const PawlStepper* s, const PawlRub* rub, const PawlRubEnds* ends);
// sum_j G_ij^2/M_jj of row i of a contact or its friction.
double pawl_rub_own(const PawlStepper* s, const PawlRub* rub, const PawlValues* values, int i);
// Which contacts slip beyond their critical friction and were stopped by an impact without a
// collision in the step, to `jams`; told once, or refused. They count as hit.              (T35)
PAWL_CHECKED PawlStatus pawl_rub_find_jams(PawlStepper* s, PawlRub* rub, const PawlRubEnds* ends,
                                           PawlError* err);
// What they are known by in the account of energy, which is shared by the squares of rates.
double pawl_rub_jam_rate2(const PawlRub* rub, int contact, const double* rate_before);
// Logs which contacts stick, slip, slip back or are open after a step and were not before; those
// that are hit in it are logged as such elsewhere (T12). Notes how well the step meets the cones,
// and how it was solved.
PAWL_CHECKED PawlStatus pawl_rub_log(PawlStepper* s, PawlRub* rub, const PawlRubEnds* ends,
                                     PawlError* err);

// How contacts with friction that are closed inside of steps stand at a state between these, as it
// is at their ends: a mode, minus that which slips where it slips back, or PAWL_RUB_HITS for what
// is about to be hit (contact_count). (T12)
enum { PAWL_RUB_HITS = 100 };
PAWL_CHECKED PawlStatus pawl_rub_look(PawlStepper* s, const PawlState* state, int* modes,
                                      PawlError* err);
// After a jump, or a kink of gaps: logs what has come of those that were closed; `to` is room.
PAWL_CHECKED PawlStatus pawl_rub_changed(PawlStepper* s, const PawlState* before,
                                         const PawlState* state, const int* from, int* to,
                                         PawlError* err);
