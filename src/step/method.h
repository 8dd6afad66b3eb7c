// SPDX-License-Identifier: Apache-2.0
// Inside a stepper: what every method has, and what a method adds.
#pragma once

#include "base/pool.h"
#include "switch/dynamics.h"
#include "switch/law.h"
#include "switch/log.h"
#include "switch/tolerances.h"
#include "switch/watch.h"

// A method is one file with one table like this, and one line in methods.def. It steps with a phase
// that it is given: all that is discrete, and constant in the step.
typedef struct PawlMethod {
  PawlMethodInfo info;
  int memory_vectors;   // vectors of length sizes.v that the method keeps in a state
  int memory_rows;      // and of length sizes.rows
  int memory_numbers;   // and single numbers
  int memory_contacts;  // and behind all of it, where there are contacts: vectors of length sizes.v
  bool bends;           // and what ga_bend.c keeps of large models, behind all these
  // Allocates from stepper->arena.
  PawlStatus (*create)(PawlStepper* stepper, PawlError* err);
  void (*destroy)(PawlStepper* stepper);
  // Sets the memory of a state whose a and lambda are consistent.
  PawlStatus (*start)(PawlStepper* stepper, const PawlPhase* phase, PawlState* state,
                      PawlError* err);
  bool turns;  // its Newton's method takes the tangents of friction whose direction turns (F30)
  bool low;    // it starts at order 1: after an instant motion is known to its tolerances alone
  bool exact;  // a and lambda of its states solve the index-1 equations at (t, q, v)
  PawlStatus (*step)(PawlStepper* stepper, const PawlPhase* phase, PawlState* state, double h,
                     PawlError* err);
  // Optional: goes to t + h, or to the first zero of a margin if that comes first (`stopped`), or,
  // at a margin that only turns, to an end of a step of its own before (loop.h).
  PawlStatus (*advance)(PawlStepper* stepper, const PawlPhase* phase, PawlState* state, double h,
                        bool* stopped, PawlError* err);
  // Optional: whether steps of length h from this state on can be peeked at, as long as the method
  // is asked for nothing else.
  bool (*peeks)(PawlStepper* stepper, const PawlPhase* phase, const PawlState* state, double h);
  // With `peeks`: what is watched at the end of such a step, and the multipliers there, without
  // taking it; NULL where that is not known. `commit` takes the step that was peeked at last.
  const double* (*peek)(PawlStepper* stepper, const PawlState* state, const double** lambda);
  void (*commit)(PawlStepper* stepper, PawlState* state, double h);
  // With `peek`: the rates of what was peeked at.
  PawlWatchRates (*peek_rates)(PawlStepper* stepper);
  // Optional: how fast the fastest motion of the last step's phase is, the largest absolute
  // eigenvalue of its equations [1/s]; 0 where that is not known.
  double (*fastest)(const PawlStepper* stepper);
  // Optional: the impulse of a row in the last step; h lambda without.
  double (*impulse)(const PawlStepper* stepper, int row);
  // Optional: whether the last step has ended with this contact closed. Without, one that was hit
  // in the step counts as closed at its end.
  bool (*closes)(const PawlStepper* stepper, int row);
  // Optional: the multipliers to be shown; the state's without.
  void (*multipliers)(const PawlStepper* stepper, PawlState* state, double* lambda);
  // Optional: the accelerations to be shown beside contacts; the state's without.
  void (*accelerations)(const PawlStepper* stepper, PawlState* state, double* a);
  // Optional: what corrected the smooth motion in the last step, numbers of the state for each row.
  void (*corrections)(const PawlStepper* stepper, PawlState* state, const double** nu,
                      const double** Lambda);
  // Optional: the path z of which the state's q is the projection, length v.
  const double* (*lifted)(const PawlStepper* stepper, const PawlState* state);
  // Optional: what pawl_stepper_normal_form says.
  bool (*normal_form)(const PawlStepper* stepper, int* coordinate, double* k, double* k_c);
  // Optional: drops what a predictor carries over, after a switch.
  void (*forget)(PawlStepper* stepper, PawlState* state);
} PawlMethod;

PAWL_INLINE int pawl_method_memory(const PawlMethod* m, PawlSizes n) {
  return m->memory_vectors * n.v + m->memory_rows * n.rows + m->memory_numbers;
}

#define PAWL_METHOD(symbol) extern const PawlMethod pawl_method_##symbol;
#include "step/methods.def"
#undef PAWL_METHOD

struct PawlLoop;
struct PawlWorks;

struct PawlStepper {
  PawlArena arena;
  PawlPool* pool;  // NULL: one thread, or too little for several
  const PawlMethod* method;
  PawlSimulateDef def;  // with the choice of auto made
  const char* reason;   // of that choice; "" where the method was named
  bool event_driven;    // `method` is then the one between switches
  double budget;        // evaluations after which it gives up, for trials; INFINITY: none
  PawlDynamics dynamics;
  PawlWatching watching;
  PawlLog log;
  struct PawlLoop* loop;    // NULL when nothing switches but contacts inside of steps
  struct PawlWorks* works;  // NULL where nobody asked for them
  struct PawlBands* bands;  // NULL where no step leads over one unseen
  void* data;               // the method's own
  double rubbed, dragged;   // [J] work of friction of contacts, and of those that move, in a step
  double begun;             // when the step began of which a piece is taken [s]
  PawlSides* seen;          // of kinks, by the evaluations of the piece being taken; NULL: nowhere
  // what methods use of the above again and again
  const PawlSystem* system;
  PawlSystem* tied;  // the same, where contacts with friction are located; else NULL
  PawlSizes sizes;
  PawlPattern H, G;
  int nonzeros_H;
  PawlKkt* kkt;
  PawlKkt* more_kkt[2];  // solvers of the method whose pivots belong to a state, too; or NULL
  PawlRows* rows;        // of many contacts (contacts_sparse.h), or NULL
  int contact_count;     // of those that the method closes inside of its steps
  int* hit_in;           // of these: the mode in which a jump left it to be hit, or 0; and when
  double hit_t;
  int strategy;  // which contacts enter the smooth motion of nsga-pva: 1, 2 or 3
};

// Evaluates at a point of a step in this phase, and notes what it sees of kinks. PAWL_STOPPED: see
// pawl_stepper_stop_by.
static inline PawlStatus pawl_method_run(PawlStepper* s, const PawlPhase* phase, PawlEval* eval,
                                         const PawlPoint* point, PawlError* err) {
  if (pawl_dynamics_stopped(&s->dynamics)) {
    return PAWL_STOPPED;
  }
  PAWL_TRY(pawl_eval_run(eval, point, err));
  if (s->seen) {
    pawl_eval_see_kinks(eval, phase->modes, s->seen);
  }
  return PAWL_OK;
}

enum { PAWL_METHOD_MOST_STEPS = 1000000 };  // of its own for one step of the run

static inline bool pawl_method_is_spent(const PawlStepper* s) {
  return (double)s->dynamics.info.evaluations > s->budget;
}

// An evaluation that the threads of the stepper share.
PAWL_CHECKED PawlStatus pawl_stepper_eval(const PawlStepper* s, unsigned mask, PawlEval** out,
                                          PawlError* err);
// And one of quantities of one or two others, into their arrays.
PAWL_CHECKED PawlStatus pawl_stepper_eval_part(const PawlStepper* s, const PawlEval* const of[2],
                                               unsigned mask, PawlEval** out, PawlError* err);

// What a stepper has warned of so far goes with a saved run: how often, and that taken over, in
// place of its own. `text` is that of pawl_stepper_warning.
int pawl_stepper_warning_count(const PawlStepper* stepper);
PAWL_CHECKED PawlStatus pawl_stepper_take_warning(PawlStepper* stepper, const char* text, int count,
                                                  PawlError* err);

// Advances by a further piece of the step that the last pawl_stepper_step began: the corrections
// that are shown (pawl_stepper_corrections) are those of all its pieces.
PAWL_CHECKED PawlStatus pawl_stepper_further(PawlStepper* stepper, PawlState* state, double h,
                                             PawlError* err);

// How many numbers of each kind a state of this stepper has.
PawlStateShape pawl_stepper_shape(const PawlStepper* stepper);
