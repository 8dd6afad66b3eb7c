// SPDX-License-Identifier: Apache-2.0
// Inside a stepper: what every method has, and what a method adds.
#pragma once

#include "base/arena.h"
#include "base/text.h"
#include "linalg/kkt.h"
#include "linalg/sparse.h"
#include "pawl/stepper.h"
#include "switch/impact.h"
#include "switch/transition.h"

// A method is one file with one table like this, listed in stepper.c.
typedef struct PawlMethod {
  PawlMethodInfo info;
  int memory_vectors;  // vectors of length sizes.v that the method keeps in a state
  int memory_rows;     // and of length sizes.rows
  int memory_numbers;  // and single numbers
  // Allocates from stepper->arena.
  PawlStatus (*create)(PawlStepper* stepper, PawlError* err);
  void (*destroy)(PawlStepper* stepper);
  // Sets the memory of a state whose a and lambda are consistent.
  void (*start)(PawlStepper* stepper, PawlState* state);
  bool exact;      // a and lambda of its states solve the index-1 equations at (t, q, v)
  bool switches;   // takes steps in which constraints switch by regions (rk4 does not)
  bool contacts;   // knows contacts
  bool nonsmooth;  // not for the smooth phases of event-driven
  PawlStatus (*step)(PawlStepper* stepper, PawlState* state, double h, PawlError* err);
  // Optional: goes to t + h, or to the first zero of a margin if that comes first (events.h).
  PawlStatus (*advance)(PawlStepper* stepper, PawlState* state, double h, bool* stopped,
                        PawlError* err);
  // Optional: what is watched at the end of a step of length h, and the multipliers there, without
  // taking it; NULL where that is not known. `commit` takes the step that was peeked at last.
  const double* (*peek)(PawlStepper* stepper, const PawlState* state, double h,
                        const double** lambda);
  void (*commit)(PawlStepper* stepper, PawlState* state, double h);
  // Optional: the impulse of a row in the last step; h lambda without.
  double (*impulse)(const PawlStepper* stepper, int row);
  // Optional: the multipliers to be shown; the state's without.
  void (*multipliers)(const PawlStepper* stepper, PawlState* state, double* lambda);
  // Optional: drops what a predictor carries over, after a switch.
  void (*forget)(PawlStepper* stepper, PawlState* state);
} PawlMethod;

extern const PawlMethod pawl_method_ga_p, pawl_method_ga_v, pawl_method_ga_v_mid,
    pawl_method_ga_v_implicit, pawl_method_ga_a, pawl_method_ga_pv, pawl_method_ga_pva,
    pawl_method_nsga_pvv, pawl_method_nsga_pva, pawl_method_moreau_jean, pawl_method_rk4,
    pawl_method_dopri, pawl_method_taylor, pawl_method_exponential, pawl_method_ark,
    pawl_method_ida;

enum { PAWL_MOST_INSTANTS = 64 };   // switches logged in one step
enum { PAWL_LARGEST_DENSE = 600 };  // velocities for which dense matrices are made

struct PawlWatcher;
struct PawlClock;

// What a stepper needs when constraints switch; see switching.c.
typedef struct PawlSwitcher {
  PawlEval* eval;      // z and z_rate
  PawlEval* surfaces;  // z alone
  PawlEval* energy;    // kinetic and potential
  PawlImpact* impact;  // NULL for systems too large for interpolated gradients
  PawlState* before;   // the state at the beginning of a step or of a part of it
  PawlState* kept;     // the state at the beginning of the whole step
  PawlState* mark;     // the state from which an instant is looked for
  int mark_count;      // instants logged up to there
  int *next, *tried;   // modes; tried: a list of sets
  int* active_modes;   // the modes that stepper->active belongs to, once known
  bool active_known;
  bool event_driven;
  int instant_count;
  PawlInstant instants[PAWL_MOST_INSTANTS];
  double* G_before;  // gradient at the beginning of the step, before the switch
  double* B;         // force directions between two gradients
  double* rate;      // rows: right side of a jump
  double *spare_v, *spare_impulse;
  unsigned char* held;  // guards that motion cannot leave, for held_modes once known
  int* held_modes;
  bool held_known, any_held;
  const double* seen;  // switching functions of the last look
  int* guards;         // a list
  double* z;           // switching functions as seen
  double* rows;        // rows of a constraint and the gradient of a surface
  double* Z;           // gradients of surfaces; NULL when there would be too many numbers
  unsigned char* active_before;
  // the jump
  PawlTransition* transition;                   // the law post
  double* sizes;                                // of the terms of each row
  unsigned char *set, *persistent, *redundant;  // rows
  int dependent_count;
  double *identity, *impulse, *impulse_room, *row_loss;
  // what engages and lets go, see events.h
  PawlEval* watch;
  int watcher_count, clock_count, triggered_count, capacity_count, armed_count;
  struct PawlWatcher* watchers;
  struct PawlClock* clocks;
  int *triggered, *capacities;  // constraints
  unsigned char* resting;       // by capacity: slides at zero rate
  unsigned char* loosened;      // by constraint: slides to the end of this step, after an impact
  bool newly_held;
  double drift_rate;  // of the rows that stay in force at a jump
  bool jumped;        // just now: conditions are looked at before the motion goes on
  int* armed;         // watchers looked at from the beginning of a step
  bool armed_reacts;
  int* sided;  // watchers whose side is noted
  int sided_count;
  // What was found out for steps to come: nothing is due before a time, as long as this state goes
  // on step by step.
  const PawlState* plan_state;
  long long plan_step;
  double plan_until;
  bool plan_open;
  double* margins;        // of the armed
  double* first_margins;  // the same at the mark
  double* react;          // v, rows
  bool settles;           // a joint with a capacity came to rest or reached its bound
  bool stop;              // an event ends the run
} PawlSwitcher;

struct PawlStepper {
  PawlArena arena;
  const PawlSystem* system;
  const PawlMethod* method;
  PawlSimulateDef def;
  PawlSizes sizes;
  PawlPattern H, G;
  int nonzeros_H;
  int contact_count;
  int strategy;  // which contacts enter the smooth motion of nsga-pva: 1, 2 or 3
  PawlKkt* kkt;
  PawlEval* eval_start;      // M, f, g, G, g_t, gamma
  unsigned char* active;     // rows in force; NULL when all are
  unsigned char* redundant;  // rows that follow from others; NULL when none do
  int* modes;                // of the step under way: those at its end
  const double* held;        // what locks hold, of the state under way
  int since_count;           // constraints and events
  int warnings;              // about redundant rows
  PawlSwitcher* switcher;    // NULL when no constraint switches and there is no contact
  bool switches;             // some constraint can switch by its place
  bool triggers;             // some engages and lets go, or there are events
  bool crossing;             // the step under way has a switch in it
  char* warning;
  double* start_room;  // workspace of initial.c
  PawlStepperInfo info;
  void* data;  // the method's own
};

static inline size_t pawl_mode_bytes(const PawlStepper* stepper) {
  return (size_t)stepper->sizes.modes * sizeof(int);
}

// ---- switching.c --------------------------------------------------------------------------------
// "post", "pre", "bisector" or a number from 0 to 1.
PAWL_CHECKED PawlStatus pawl_switcher_parse_law(const char* text, double* epsilon, PawlError* err);
PAWL_CHECKED PawlStatus pawl_switcher_create(PawlStepper* stepper, bool event_driven,
                                             PawlError* err);
void pawl_switcher_destroy(PawlStepper* stepper);
// The modes of a state at the start.
PAWL_CHECKED PawlStatus pawl_switcher_start(PawlStepper* stepper, PawlState* state, PawlError* err);
// surfaces.c: the switching functions at a state in stepper->modes, to switcher->seen; which
// surfaces motion cannot leave, found anew when modes have changed; how far outside counts as
// rounding.
PAWL_CHECKED PawlStatus pawl_switcher_look(PawlStepper* stepper, const PawlState* state,
                                           PawlError* err);
PAWL_CHECKED PawlStatus pawl_switcher_hold(PawlStepper* stepper, const PawlState* state,
                                           PawlError* err);
double pawl_switcher_noise(const PawlStepper* stepper, const PawlState* state);
// Rows in force in stepper->modes, without the redundant ones.
void pawl_switcher_activate(PawlStepper* stepper);
// Logs an impact on a contact row: its impulse and the energy that it took, velocities before and
// after.
void pawl_switcher_log_contact(PawlStepper* stepper, int row, double impulse, double energy_lost,
                               const PawlState* before, double t, const double* q_after,
                               const double* v_after);
// The same, with rows that follow from others in these modes and at this place left out anew, and
// named in the warning.
PAWL_CHECKED PawlStatus pawl_switcher_reduce(PawlStepper* stepper, const PawlState* state,
                                             PawlError* err);
// One time step in which regions may switch.
PAWL_CHECKED PawlStatus pawl_switcher_time_step(PawlStepper* stepper, PawlState* state, double h,
                                                PawlError* err);
PawlStatus pawl_switcher_no_region(const PawlStepper* stepper, const PawlState* state,
                                   int constraint, PawlError* err);
// A state is copied whole, with modes and what locks hold.
void pawl_switcher_copy(const PawlStepper* stepper, PawlState* to, const PawlState* from);
PAWL_CHECKED PawlStatus pawl_switcher_energy(PawlStepper* stepper, const PawlState* state,
                                             double* energy, PawlError* err);
// Keeps G and the rows in force of a state in its modes, as those before a switch.
PAWL_CHECKED PawlStatus pawl_switcher_keep_gradient(PawlStepper* stepper, const PawlState* state,
                                                    PawlError* err);
// Logs a switch from switcher->before->modes to stepper->modes, an event, a refusal to engage.
void pawl_switcher_log(PawlStepper* stepper, double t, const double* q, const double* v_before,
                       const double* v_after, const double* impulse, double energy_lost);
void pawl_switcher_log_event(PawlStepper* stepper, const PawlState* state, int event, double t);
void pawl_switcher_log_refusal(PawlStepper* stepper, const PawlState* state, int constraint);
// For a step with a switch in it: force directions between the gradient at its beginning and that
// of `values` (which hold M, G and g_t), in the order of the pattern. G itself for the law post.
PAWL_CHECKED PawlStatus pawl_switcher_directions(PawlStepper* stepper, const PawlValues* values,
                                                 const double** B, PawlError* err);

// ---- shared by the methods ----------------------------------------------------------------------
// Acceleration and multipliers from the index-1 equations [M -G^T; G 0] [a; lambda] = [f; -gamma].
// `values` holds M, f, G and gamma at the point. PAWL_RETRY: singular, named in err.
PAWL_CHECKED PawlStatus pawl_step_accelerate(PawlStepper* stepper, const PawlValues* values,
                                             double t, double* a, double* lambda, PawlError* err);
// Where rows depend on each other: of the multipliers that make the same force, those of least
// norm, in place; else they stay (allocates where there are such rows).
PAWL_CHECKED PawlStatus pawl_step_least_multipliers(PawlStepper* stepper, const PawlState* state,
                                                    double* lambda, PawlError* err);
// Factors [S -B^T; J D] over the rows of `set` and solves in place. Contacts that depend on each
// other make it singular: then the solution with M and G in place of S and J, multipliers of
// minimum norm, takes its place (allocates). PAWL_RETRY: singular for another reason, named in err.
PAWL_CHECKED PawlStatus pawl_step_solve(PawlStepper* stepper, const PawlValues* values,
                                        const double* S, const double* B, const double* J,
                                        const unsigned char* set, double t, double* x, double* y,
                                        PawlError* err);
// Names why the matrix [S -G^T; G 0] is singular at time t; PAWL_RETRY.
PawlStatus pawl_step_singular(PawlStepper* stepper, const double* S, const double* G, double t,
                              PawlError* err);

// Appends "'track' (row 2), 'pin' (row 1)" for the flagged rows, at most a few names; returns how
// many rows are flagged.
int pawl_step_list_rows(const PawlStepper* stepper, const unsigned char* flags, PawlText* out);

// initial.c: fails (PAWL_ERROR_RUN) when a row that followed from the others at the start does not
// any more.
PAWL_CHECKED PawlStatus pawl_step_watch_redundant(PawlStepper* stepper, const PawlState* state,
                                                  PawlError* err);
// initial.c: see pawl_stepper_start.
PAWL_CHECKED PawlStatus pawl_step_initial(PawlStepper* stepper, PawlState* state, bool project,
                                          PawlError* err);
