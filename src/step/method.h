// SPDX-License-Identifier: Apache-2.0
// Inside a stepper: what every method has, and what a method adds.
#pragma once

#include "switch/dynamics.h"
#include "switch/law.h"
#include "switch/log.h"
#include "switch/tolerances.h"
#include "switch/watch.h"

// A method is one file with one table like this, listed in stepper.c. It steps with a phase that it
// is given: all that is discrete, and constant in the step.
typedef struct PawlMethod {
  PawlMethodInfo info;
  int memory_vectors;  // vectors of length sizes.v that the method keeps in a state
  int memory_rows;     // and of length sizes.rows
  int memory_numbers;  // and single numbers
  // Allocates from stepper->arena.
  PawlStatus (*create)(PawlStepper* stepper, PawlError* err);
  void (*destroy)(PawlStepper* stepper);
  // Sets the memory of a state whose a and lambda are consistent.
  PawlStatus (*start)(PawlStepper* stepper, const PawlPhase* phase, PawlState* state,
                      PawlError* err);
  bool exact;      // a and lambda of its states solve the index-1 equations at (t, q, v)
  bool switches;   // takes steps in which constraints switch by regions (rk4 does not)
  bool contacts;   // knows contacts
  bool nonsmooth;  // not for the smooth phases of event-driven
  PawlStatus (*step)(PawlStepper* stepper, const PawlPhase* phase, PawlState* state, double h,
                     PawlError* err);
  // Optional: goes to t + h, or to the first zero of a margin if that comes first (loop.h).
  PawlStatus (*advance)(PawlStepper* stepper, const PawlPhase* phase, PawlState* state, double h,
                        bool* stopped, PawlError* err);
  // Optional: what is watched at the end of a step of length h, and the multipliers there, without
  // taking it; NULL where that is not known. `commit` takes the step that was peeked at last.
  const double* (*peek)(PawlStepper* stepper, const PawlPhase* phase, const PawlState* state,
                        double h, const double** lambda);
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

struct PawlLoop;

struct PawlStepper {
  PawlArena arena;
  const PawlMethod* method;
  PawlSimulateDef def;
  PawlDynamics dynamics;
  PawlWatching watching;
  PawlLog log;
  struct PawlLoop* loop;  // NULL when nothing switches but contacts
  void* data;             // the method's own
  // what methods use of the above again and again
  const PawlSystem* system;
  PawlSizes sizes;
  PawlPattern H, G;
  int nonzeros_H;
  PawlKkt* kkt;
  int contact_count;
  int strategy;  // which contacts enter the smooth motion of nsga-pva: 1, 2 or 3
};

// How many numbers of each kind a state of this stepper has.
PawlStateShape pawl_stepper_shape(const PawlStepper* stepper);
