// SPDX-License-Identifier: Apache-2.0
// Contacts that slip (docs/theory/friction.md, section 9): the friction force of a contact hangs on
// its normal force, so that the two are one column of the equations,
//
//   M v' = f + G^T lambda - sum mu |lambda_N| G_T^T d  =  f + B^T lambda,   B_N = G_N - mu d G_T
//
// It serves every method; it knows no instant. Constraints with a capacity whose friction F hangs
// on multipliers (`friction: mu*abs(lambda(pin))`) are the same to it while they slide, of rate u:
//
//   M v' = f + G^T lambda - sign(u) F(lambda) G_c^T = (f + push) + B^T lambda,
//   B_k = G_k - sign(u) dF/dlambda_k G_c,   push = -sign(u) (F - sum dF/dlambda_k lambda_k) G_c^T
//   (F26)
//
// with F and its derivatives at the multipliers that are given: an iteration of Newton's method.
#pragma once

#include "switch/phase.h"
#include "switch/spread.h"

typedef struct PawlSlipContact {
  int normal;        // its row
  int mode;          // its discrete variable
  int first, count;  // rows of friction
  double sticks, slides;
  int watch;  // place of mu among what is watched, or -1
} PawlSlipContact;

typedef struct PawlSlipJoint {  // a constraint whose friction hangs on multipliers
  int constraint, row;
  int first, count;  // of its ties
  int watch;         // place of F among what is watched
} PawlSlipJoint;

typedef struct PawlSlip {
  const PawlSystem* system;
  PawlPattern G;
  PawlByRows rows;  // of G
  int count;        // contacts with friction
  PawlSlipContact* contact;
  int* tie;              // nonzeros of G: the place of the normal row in this column, -1 elsewhere
  double* B;             // nonzeros of G
  double* mu;            // of each contact, at the last look
  double* least;         // of each contact: how fast a slip in space counts as at least
  double* rate;          // rows: of the last look
  double looked;         // its time [s]
  double* nothing;       // v and rows: zeros
  PawlEval* eval;        // G, g_t and what is watched
  PawlSpread spread;     // loads that follow from others
  unsigned char* slips;  // rows: contacts that slip, at the last look
  bool spreads;          // some load was spread there
  int joint_count;
  PawlSlipJoint* joint;
  PawlEval* forces;     // what is watched, for F at other multipliers
  int* modes;           // with these constraints as if they held, for their rows
  double *lambda, *by;  // rows: where F is varied, and how far
  int* colour;          // rows: those of one colour are varied at once; -1: none hangs on it
  int colours;
  double* dF;           // of each tie
  double* push;         // v: beside f, where joints slide
  double* p;            // v: of (F30)
  const double* given;  // two for each contact: directions in the place of those of velocities in
                        // space (F81); NULL: none
} PawlSlip;

// NULL in *out where no contact has friction (or `located` is false) and no friction hangs on
// multipliers. Contacts need a tied system (pawl_system_tie), but for rates and coefficients of
// slips, pawl_slip_look.
PAWL_CHECKED PawlStatus pawl_slip_create(PawlArena* arena, const PawlSystem* system, bool located,
                                         PawlSlip** out, PawlError* err);
void pawl_slip_destroy(PawlSlip* slip);  // NULL is allowed

// Closed, with friction that slips along held[first...]: a unit vector that is turned with the
// motion, so that a velocity which has just passed zero counts as what it was.
bool pawl_slip_slips(int mode);
bool pawl_slip_any(const PawlSlip* slip, const PawlPhase* phase);
// Some constraint slides whose friction hangs on multipliers: slip->push counts.
bool pawl_slip_ties(const PawlSlip* slip, const PawlPhase* phase);

// Rates of all rows of friction, to slip->rate, and mu while it slips (`rests`: at rest) of each
// contact, to slip->mu; that of an open one may be negative or not finite.
PAWL_CHECKED PawlStatus pawl_slip_look(PawlSlip* slip, const PawlPhase* phase, double t,
                                       const double* q, const double* v, PawlError* err);
double pawl_slip_mu(const PawlSlip* slip, int contact, bool rests);
// For a contact that was open at the look and touches: whether mu there is finite and >= 0.
PAWL_CHECKED PawlStatus pawl_slip_check(PawlSlip* slip, const PawlPhase* phase, int contact,
                                        double t, const double* q, const double* v, PawlError* err);
// A slip that begins from rest in space has a direction whose length tells what it counts as at
// least, until it is faster: `least`, or slip->least where that is more.                    (F32)
void pawl_slip_begin(double* held, const double* along, double least, int count);
bool pawl_slip_begins(const PawlSlip* slip, const PawlPhase* phase, int contact);
// The rate of a slip, of which the part along it counts as that fast at least while it begins.
// Returns its size, negative past zero.
double pawl_slip_rate(const PawlSlip* slip, const PawlPhase* phase, int contact, double* u);
// The direction of a slip at the end of a step, to `held`.
void pawl_slip_turn(const PawlSlip* slip, const PawlPhase* phase, int contact, double* held);
// How fast a contact slips along its direction: negative past zero, and while it begins past
// that speed backwards.
double pawl_slip_speed(const PawlSlip* slip, const PawlPhase* phase, int contact);
// The direction of its slip at the last look, a unit vector.
void pawl_slip_direction(const PawlSlip* slip, const PawlPhase* phase, int contact, double* d);

// Force directions in a phase: G itself where nothing slips. `lambda`: where friction that hangs on
// multipliers is taken.                                                              (F20) (F26)
PAWL_CHECKED PawlStatus pawl_slip_directions(PawlSlip* slip, const PawlPhase* phase,
                                             const double* G, double t, const double* q,
                                             const double* v, const double* lambda,
                                             const double** B, PawlError* err);
// The friction of all joints that hangs on multipliers, at these; and what it is of one joint along
// its row, -sign(u) F, zero where that does not slide.
PAWL_CHECKED PawlStatus pawl_slip_look_at_joints(PawlSlip* slip, const PawlPhase* phase, double t,
                                                 const double* q, const double* v,
                                                 const double* lambda, PawlError* err);
double pawl_slip_joint_force(const PawlSlip* slip, const PawlPhase* phase, int joint);
// Some contact slips in space, so that its direction turns; then its loads are noted, of these
// multipliers, after pawl_slip_directions at the same place.
bool pawl_slip_turns(PawlSlip* slip, const PawlPhase* phase, const double* lambda);
// How what contact k pushes turns with v: -df/dv = weight p p^T, p in the columns of its gap.
// How many these are, 0: it does not turn. After pawl_slip_turns.                            (F30)
int pawl_slip_turning(PawlSlip* slip, const PawlPhase* phase, int k, const int** columns,
                      const double** p, double* weight);
// The friction forces of contacts that slip as multipliers, beside those of `lambda`, and loads
// that are spread; after pawl_slip_directions or pawl_slip_look at the same place.
void pawl_slip_forces(const PawlSlip* slip, const PawlPhase* phase, double* lambda);
