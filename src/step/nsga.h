// SPDX-License-Identifier: Apache-2.0
// What the methods with several levels of constraints share (docs/theory/nsga.md).
#pragma once

#include "step/contacts.h"
#include "step/depend.h"
#include "step/ga.h"
#include "step/gain.h"
#include "step/loss.h"
#include "step/rub.h"

// Each coordinate that rows have is in one row (nsga_apart.c).
typedef struct PawlNsgaApart {
  const int* column;   // by entry of G; NULL: it is not so
  int *first, *entry;  // of each row
} PawlNsgaApart;

// What nsga_total.c evaluates, in the arrays of `eval` and of the tangents. With forces that depend
// on rates, or elsewhere, it is all of them.
typedef struct PawlNsgaLevels {
  bool serve, undamped;
  bool constant;                    // M
  PawlEval *first, *places, *bias;  // NULL: all
} PawlNsgaLevels;

// When a contact that pushes and does not touch at the end of a step may be let go.          (N48)
typedef enum PawlNsgaLoose {
  PAWL_NSGA_COMES,  // always: it did not touch at the beginning
  PAWL_NSGA_STAYS,  // where the step brings energy in
  PAWL_NSGA_WENT,   // no more: it was, and has come back
} PawlNsgaLoose;

typedef struct PawlNsga {
  PawlGa ga;                     // first: the smooth part
  bool jumps;                    // has W
  bool decoupled;                // nsga-pvv: the smooth motion does not know U and W
  bool classical;                // ga-pv: U = G^T nu at the beginning of a step
  PawlEval* eval;                // the core's: M, f, g, G, g_t, gamma at the motion looked at last
  double *U, *nu, *W, *Lambda;   // corrections
  double *q, *v;                 // total motion
  double *du, *dnu;              // corrections of these
  double *dU, *dW;               // the last ones of U and W, for the end of the iteration
  long long held;                // the factorisation of the last correction of U or W; 0: none
  bool held_now;                 // it is of the numbers in `eval`
  bool W_still;                  // W and Lambda are 0 so far; where nothing but rows moves them
  bool turns;                    // rows turn with the motion, and tangents say how
  bool settles;                  // a large system, and what is evaluated does not depend on v' and
                                 // lambda                                                 (N43)
  bool total;                    // the iterate is that of pawl_nsga_total
  bool rated;                    // and rates of its rows are right
  bool torn;                     // its U and W are not yet those of rows alone              (N53)
  bool failed;                   // that has led nowhere in this step
  bool corrected;                // the last correction was not nothing
  bool undamped;                 // no force depends on rates
  bool timeless;                 // nothing in `eval` depends on time by itself
  double fresh;                  // `eval` is of this time and ga.q, ga.v_total; NAN: of another
  double *force, *smooth_force;  // f at the total and at the smooth motion; right sides
  double *M_smooth, *G_smooth;   // at the smooth motion
  double *eta, *rate_before;     // rows: integral variable of lambda; G v + g_t at the beginning
  double* lead;                  // rows: g_t there
  const double *v_n, *a_n;       // velocities there, and what the smooth motion goes on with
  double *turned, *pull;         // rows: G v_n + g_t and G a_n with the gradients of the end
  double* way;                   // rows: the gap at the beginning, 0 where it touches
  PawlNsgaApart apart;
  PawlNsgaLevels levels;
  PawlContacts contacts;
  PawlDepend* depend;
  PawlRub rub;                   // friction of contacts
  PawlGain gain;                 // and energy that they bring in
  PawlLoss loss;                 // and take
  double *impulse, *force_n;     // v: room for it; f at the beginning of the step
  double *press, *press_off;     // v: impulse of forces of contacts in the smooth motion, its error
  double* press_W;               // v: W without what it takes back from the smooth motion
  unsigned char* bare;           // v: no rows but contacts have it, and M is constant
  bool released;                 // islands in which contacts push by impulses alone:         (N62)
  unsigned char *gone, *freed;   // rows of these contacts, v of these islands
  bool averaged;                 // directions of closed contacts are means, for it (nsga-pvv)
  double* drag;                  // rows: Lambda of friction alone, as U has it
  double* none;                  // rows: zeros
  double* Lambda_rest;           // rows: what they would be if nothing hit; it acts all along (N65)
  double* tau;                   // contacts: how long before the end of the step the rest acts
  bool even;                     // all of it acts all along
  double* since;                 // contacts: how long before the end each of them closes
  bool rested, timed;            // Lambda_rest and tau are those of this step
  double* mean;                  // entries of G: directions of contacts over the step
  unsigned char* closed;         // rows of contacts and friction: closed at the beginning, no hit
  unsigned char *S, *A, *B_set;  // rows in the smooth motion, at position, at velocity level
  unsigned char* smooth_rows;    // constraints that never switch
  unsigned char* trial;          // a set under construction
  unsigned char* touching;       // rows: contacts closed at position level
  unsigned char* near;           // rows: contacts closed at the beginning, or in an iteration
  unsigned char* kept_near;      // the same, while some are left out
  unsigned char* loose;          // rows: PawlNsgaLoose of contacts with friction
  double *rate, *acceleration;   // rows: constraint at velocity and acceleration level
  bool minds;                    // contacts take part in this step
  bool rests;     // each contact of this step is guessed to press on, or is far away      (N44)
  bool far;       // it is tried without those that there are
  bool rebounds;  // some contact approaches faster than PAWL_SLOWEST_REBOUND
  bool elastic;   // some contact has a restitution
  bool constant_mass;
  PawlLevel unsolved;  // at which no contacts serve the iterate; POSITION: at none
  bool unplaced;       // none serve its positions
  int smooth_row_count;
  const double* B;          // force directions
  struct PawlSmall* small;  // what ga.small is used with, see nsga_small.c
} PawlNsga;

// The part of a state behind the memory of the core: eta, Lambda and nu of the last step, its size;
// size < 0: of a start, with Lambda and W of a step by the forces there, which no step begins with.
PAWL_INLINE double* pawl_nsga_eta_of(const PawlStepper* s, PawlState* state) {
  return pawl_ga_memory(s, state).last_h + 1;
}
PAWL_INLINE double* pawl_nsga_Lambda_of(const PawlStepper* s, PawlState* state) {
  return pawl_nsga_eta_of(s, state) + s->sizes.rows;
}
PAWL_INLINE double* pawl_nsga_nu_of(const PawlStepper* s, PawlState* state) {
  return pawl_nsga_Lambda_of(s, state) + s->sizes.rows;
}
PAWL_INLINE double* pawl_nsga_h_of(const PawlStepper* s, PawlState* state) {
  return pawl_nsga_nu_of(s, state) + s->sizes.rows;
}
// Impulses of the step before: none at a start.
PAWL_INLINE const double* pawl_nsga_Lambda_before(const PawlStepper* s, const PawlState* state) {
  return *pawl_nsga_h_of(s, (PawlState*)state) < 0.0 ? ((const PawlNsga*)s->data)->none
                                                     : pawl_nsga_Lambda_of(s, (PawlState*)state);
}
// Where there are contacts, behind all memory: W of the last step.
PAWL_INLINE double* pawl_nsga_W_of(const PawlStepper* s, PawlState* state) {
  return state->memory + state->memory_count - s->sizes.v;
}
// Lambda, nu, W and the size of the step go to the state; of a further piece of a step they are
// added to what is there.
void pawl_nsga_keep(const PawlStepper* s, const PawlNsga* d, PawlState* state, bool further);
// eta_{n+1} of a row from lambda at both ends.                                             (N12)
PAWL_INLINE double pawl_nsga_next_eta(const PawlGa* g, double lambda, double lambda_n,
                                      double eta_n) {
  return ((1 - g->alpha_f) * lambda + g->alpha_f * lambda_n - g->alpha_m * eta_n) /
         (1 - g->alpha_m);
}
// `jumps`: has W; `decoupled`: the smooth motion does not know U and W.
PAWL_CHECKED PawlStatus pawl_nsga_create_kind(PawlStepper* s, PawlLevel level, bool jumps,
                                              bool decoupled, PawlError* err);
void pawl_nsga_destroy(PawlStepper* s);
PAWL_CHECKED PawlStatus pawl_nsga_start(PawlStepper* s, const PawlPhase* phase, PawlState* state,
                                        PawlError* err);
// The sets at the beginning of a step: bilateral rows in force.
void pawl_nsga_first_sets(PawlStepper* s, PawlNsga* d, const PawlPhase* phase);
PAWL_CHECKED PawlStatus pawl_nsga_smooth_motion(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                                PawlState* state, PawlError* err);
// All at the total motion (q, v); the directions alone where all is evaluated there.
PAWL_CHECKED PawlStatus pawl_nsga_evaluate(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                           double t, const double* v, PawlError* err);
PAWL_CHECKED PawlStatus pawl_nsga_directions(PawlNsga* d, const PawlPhase* phase, PawlError* err);
// One Newton correction of (U, nu) or (W, Lambda) over a set of rows; its dx is left in `du`, where
// it is not nothing (`corrected`). No `force` (NULL) and no row: nothing is solved while x is zero.
PAWL_CHECKED PawlStatus pawl_nsga_correct(PawlStepper* s, PawlNsga* d, double t, const double* M,
                                          const double* force, const unsigned char* set, double* x,
                                          double* y, const double* c, PawlError* err);
// U and W become 0, and their corrections where parts are told apart; U and W have moved everywhere
// (1) or nowhere (0).
void pawl_nsga_clear_corrections(const PawlStepper* s, PawlNsga* d);
void pawl_nsga_note_moved(const PawlStepper* s, PawlNsga* d, int everywhere);
// The same row by row, where rows have no coordinate in common; false: that does not serve.
PAWL_CHECKED PawlStatus pawl_nsga_apart_create(PawlStepper* s, PawlNsga* d, PawlError* err);
bool pawl_nsga_apart_correct(const PawlStepper* s, PawlNsga* d, const unsigned char* set, double* x,
                             double* y, const double* c);
void pawl_nsga_apart_clear(PawlNsga* d);
// Large systems: what the first correction of U and W does to the smooth motion, and the rows of
// accelerations where that has led to.
void pawl_nsga_share(PawlStepper* s, PawlNsga* d);
// Whether forces depend on rates.
bool pawl_nsga_share_is_damped(const PawlStepper* s, const PawlNsga* d);
bool pawl_nsga_settle(PawlStepper* s, PawlNsga* d);
// G v + g_t with what dq and dU do to it.
void pawl_nsga_rates(const PawlStepper* s, PawlNsga* d, double* row);
void pawl_nsga_give_back(const PawlStepper* s, PawlNsga* d);  // where true and it is no end
// Larger systems without contacts: the first iteration by the total motion, from the guess
// (nsga_total.c). q, v, v' and lambda are those of the iterate then, and all is evaluated there,
// but U and W are still 0: pawl_nsga_total_leave gives them what they have where another iteration
// follows. PAWL_RETRY: it leads nowhere, the step must be begun again without it.
PAWL_CHECKED PawlStatus pawl_nsga_total_create(PawlStepper* s, PawlNsga* d, PawlError* err);
void pawl_nsga_total_destroy(PawlNsga* d);
bool pawl_nsga_total_serves(const PawlStepper* s, const PawlNsga* d, const PawlPhase* phase);
PAWL_CHECKED PawlStatus pawl_nsga_total(PawlStepper* s, PawlNsga* d, const PawlPhase* smooth,
                                        PawlState* state, PawlError* err);
bool pawl_nsga_total_holds(const PawlStepper* s,
                           PawlNsga* d);  // positions and rates of rows; false: look
void pawl_nsga_total_leave(const PawlStepper* s, PawlNsga* d);
PawlStatus pawl_nsga_stuck(PawlStepper* s, const PawlNsga* d, double t, const char* what,
                           PawlError* err);
// Contacts: their compliance (once in a step), the choice of a level (`x` are the q, v or v' behind
// its slack, which count as at least `least`), the integral variable eta, the gap rates at the
// beginning of a step, whether some contact was hit, the log.
bool pawl_nsga_has_contacts(const PawlStepper* s);
PAWL_CHECKED PawlStatus pawl_nsga_compliance(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                             double t, PawlError* err);
bool pawl_nsga_choose(PawlStepper* s, PawlNsga* d, const double* x, double least,
                      const unsigned char* allowed, int iteration, unsigned char* set,
                      bool* changed);
// Where no contacts serve the positions of an iterate, which may be too far off: PAWL_RETRY with
// the names of those that contradict each other; else this is noted in d->unplaced.
PAWL_CHECKED PawlStatus pawl_nsga_unplaced(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                           double t, PawlError* err);
// Where no contacts serve the velocities of an iterate: restitution is given up, or else the level
// is noted in d->unsolved.
void pawl_nsga_stop_rebounds(PawlNsga* d, bool* changed);
// Where Newton's method ends, no iteration is left to find other contacts: PAWL_RETRY with the
// names of those that contradict each other, a smaller step may not need all of them.
PAWL_CHECKED PawlStatus pawl_nsga_check_solved(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                               double t, PawlError* err);
// e u* of (N37), which is added to the rate of contact i; 0 for other rows. First the rates behind
// u* are found with the gradients of an iterate.
void pawl_nsga_approach(PawlStepper* s, PawlNsga* d);
double pawl_nsga_rebound(const PawlStepper* s, const PawlNsga* d, int i);
void pawl_nsga_add_rebounds(const PawlStepper* s, PawlNsga* d, double scale);  // to d->rate
// Friction (docs/theory/nsga.md): the correction of W, Lambda with the contacts that touch, which
// replaces the choice of B_set and leaves dx in `du`; `force` may be NULL.
// Whether friction in space is to be corrected again: its axes have moved with the positions.
// `off`: how much, of the iteration before. (N85)
bool pawl_nsga_rubs_aside(const PawlStepper* s, const PawlNsga* d, double* off);
PAWL_CHECKED PawlStatus pawl_nsga_rub(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                                      const double* force, PawlError* err);
// Contacts at position level where some have friction: which touch, and the correction of U and nu
// with the choice of A, which leaves dx in `du`. PAWL_RETRY: no nu was found.
void pawl_nsga_touch(PawlStepper* s, PawlNsga* d, const double* of_q, bool* changed);
PAWL_CHECKED PawlStatus pawl_nsga_press(PawlStepper* s, PawlNsga* d, double t, const double* M,
                                        const double* force, const double* gap, PawlError* err);
// Where the iteration ends: contacts that push and do not touch are let go, and it goes on if there
// are any. One that comes back stays.                                                     (N48)
bool pawl_nsga_lets_go(PawlStepper* s, PawlNsga* d);
// What friction does to positions (nsga_drag.c), at the beginning of a step.                (N65)
void pawl_nsga_begin_drag(const PawlStepper* s, PawlNsga* d);
// Once in a step in which something hits, before pawl_nsga_rub: the same without hits.
bool pawl_nsga_needs_rest(PawlNsga* d);
PAWL_CHECKED PawlStatus pawl_nsga_rub_rest(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                           double t, const double* force, bool* rubbed,
                                           PawlError* err);
// When it acts, and what it moves, which is added to `force` (room: dnu) and guessed of nu, for the
// correction of U.
void pawl_nsga_time_drag(const PawlStepper* s, PawlNsga* d);
void pawl_nsga_add_drag(const PawlStepper* s, PawlNsga* d, double* force);
void pawl_nsga_guess_press(PawlNsga* d);
bool pawl_nsga_spread_drag(PawlNsga* d);  // it acts all along even so; true: that is a change
// Where the iteration ends: whether contacts bring energy in. Then positions of their islands move
// on, or they are thrown back less, and it goes on. What the former adds to `force`. (N60) (N61)
bool pawl_nsga_restrain(PawlStepper* s, PawlNsga* d, const PawlState* state);
void pawl_nsga_add_shift(const PawlStepper* s, PawlNsga* d, double* force);
// force -= M x, x being what U or W (`of_q`) takes back from the smooth motion of such islands; the
// directions of W; and what goes on with the state at the end of the step.                  (N62)
void pawl_nsga_take_back(const PawlStepper* s, PawlNsga* d, bool of_q, double* force);
const double* pawl_nsga_released_directions(const PawlStepper* s, PawlNsga* d);
void pawl_nsga_begin_anew(const PawlStepper* s, const PawlNsga* d, PawlState* state);
bool pawl_nsga_is_hit(const PawlNsga* d, int row);
// After a step with hits: forces that depend on rates are others at once. The smooth motion of
// nsga-pvv goes on with them; nsga-pva has them at the end of its step, and what `state` keeps of
// those before is made good.                                                       (N25) (N82)
PAWL_CHECKED PawlStatus pawl_nsga_change_forces(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                                double t, PawlError* err);
PAWL_CHECKED PawlStatus pawl_nsga_forget_jump(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                              PawlState* state, PawlError* err);
// Directions of contacts over the step: means of both ends where one is closed all along.   (N31)
const double* pawl_nsga_mean_directions(const PawlStepper* s, PawlNsga* d);
// What contacts take from the energy in the step: d->loss, and what is accounted for.
void pawl_nsga_note_losses(PawlStepper* s, PawlNsga* d);
// A step of a method, first without contacts that neither touch nor push where it begins: it stands
// if every iterate is clear of them, and none is passed. Else it is taken with them.          (N40)
typedef PawlStatus PawlNsgaStep(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                                PawlError* err);
PAWL_CHECKED PawlStatus pawl_nsga_take(PawlStepper* s, const PawlPhase* phase, PawlState* state,
                                       double h, PawlNsgaStep* step, PawlError* err);
bool pawl_nsga_is_clear(const PawlNsga* d);
// A contact with this gap at the beginning of the step does not close in it or the next one. (N40)
bool pawl_nsga_is_far(const PawlNsga* d, int row, double gap);
PAWL_CHECKED PawlStatus pawl_nsga_begin_contacts(PawlStepper* s, PawlNsga* d,
                                                 const PawlPhase* phase, PawlState* state,
                                                 bool fresh, PawlError* err);
// At the end of a step, with v there and the rates in d->rate: pawl_contacts_passed() and
// pawl_rub_check().
PAWL_CHECKED PawlStatus pawl_nsga_passed(PawlStepper* s, PawlNsga* d, const PawlState* state,
                                         const double* v, PawlError* err);
bool pawl_nsga_hits(const PawlNsga* d);
// Before: impacts without a collision, and what contacts take from the energy.
PAWL_CHECKED PawlStatus pawl_nsga_note_impacts(PawlStepper* s, PawlNsga* d, const PawlState* state,
                                               const double* q, const double* v, PawlError* err);
PAWL_CHECKED PawlStatus pawl_nsga_log_impacts(PawlStepper* s, PawlNsga* d, const PawlState* state,
                                              const double* q, const double* v, PawlError* err);
double pawl_nsga_impulse(const PawlStepper* s, int row);
bool pawl_nsga_closes(const PawlStepper* s, int row);
void pawl_nsga_multipliers(const PawlStepper* s, PawlState* state, double* lambda);
void pawl_nsga_accelerations(const PawlStepper* s, PawlState* state, double* a);
void pawl_nsga_corrections(const PawlStepper* s, PawlState* state, const double** nu,
                           const double** Lambda);
