// SPDX-License-Identifier: Apache-2.0
// The benchmark as data: papers, their cases, and what is checked in each. A further paper is a
// further table and a line in reproduce_cases.c.
#pragma once

#include "cli/study.h"

// What is measured in a run. The other fields of a check say of what.
typedef enum Measure {
  EVENT_COUNT,   // number of switches and impacts
  EVENT_TIME,    // [s] of switch `event`
  RATE_BEFORE,   // rate of coordinate `name` just before switch `event`
  RATE_AFTER,    // and just after it
  ENERGY_LOST,   // [J] in switch `event`; of several at one instant, its part
  INSTANT_LOST,  // [J] in all switches at the instant of switch `event`
  IMPULSE,       // [N s] of row `at` (from 1) of the constraint that switches in `event`
  VALUE,         // column `name` of the record at time `at`; AT_END: its last value
  LARGEST,       // largest absolute value of column `name` from time `at` on
  SAW_RATE,      // oscillation of the rates from step to step, from time `at` on: 0 none, 2 a saw
  SAW_FORCE,     // the same of the multipliers
  SAW_COLUMN,    // the same of column `name`
  SUM,           // of column `name` over the samples from time `at` on
  INTEGRAL,      // of column `name` over the steps from time `at` on: sum of value times step
  LOWEST,        // smallest value of column `name` from time `at` on
  DECAY,         // r, where column `name` falls like n r^n, n steps after switch `event`; from the
                 // values `at` and 2 `at` seconds after it
  CLOSED_FROM,   // [s] after this column `name` stays where it ends
  CLOSED_UNTIL,  // [s] the last time at which the gap `name` is closed
  MEAN,          // of column `name` over the `event` milliseconds from time `at` on
  RISE,          // how far column `name` rises above what it has been, from time `at` on
  QUIET_FROM,    // [s] column `name` is > 0 then, and not again for `at` seconds
  ITERATIONS,    // of Newton's method, per step
  DRIVE,         // force on coordinate `name` at time `at` by inverse dynamics of the run, with
                 // drives at all coordinates and the locks of the start
  ORDER_BEFORE,  // observed order in part `name` (q or v) before the first switch, L1
  ORDER_WHOLE,   // over the whole run, L1
  ORDER_GRAPH,   // over the whole run, Hausdorff distance of the graphs
  // of CASE_INSTANTS; several that switch together are one instant:
  ACCELERATION_BEFORE,  // x'' of coordinate `name` just before instant `event`
  ACCELERATION_AFTER,   // and just after it
  OUTPUT_BEFORE,        // output `name` just before instant `event`
  OUTPUT_AFTER,         // and just after it
  OUTPUT_JUMP,          // |after - before| / |before|
} Measure;

#define AT_END INFINITY

typedef struct Check {
  const char* what;  // in words
  Measure measure;
  const char* name;  // NULL where the measure needs none
  int event;         // from 1
  double at;
  double reference;
  double allowed;   // difference that passes
  double per_step;  // > 0: time-stepping cases are allowed this times h instead
} Check;

typedef enum CaseKind {
  CASE_RUN,        // one run
  CASE_STEPPING,   // runs at STEPPING_SIZES steps from the given one down; differences over h
  CASE_DISTURBED,  // DISTURBED_STEPS steps from a start with v' = a = 0
  CASE_ORDERS,     // runs at many steps between two sizes
  CASE_INSTANTS,   // one run; both sides of its switches
} CaseKind;

// Across a switch the error depends on where it falls into its step, so that many sizes are needed.
enum { STEPPING_SIZES = 5, DISTURBED_STEPS = 20, ORDER_SIZES = 24, ORDER_SIZES_ACROSS = 60 };

typedef struct Case {
  const char* title;       // in words, with the place in the paper
  const char* model;       // name of an example, or its text
  const char* parameters;  // "name=value ..." over the model's, or ""
  const char* methods;     // "a,b": the case once for each
  const char* settings;    // "step=1e-4 ..." over `simulate:` of the model
  CaseKind kind;
  double high, low;  // [s] largest and smallest step of CASE_ORDERS
  const char* origin;
  int check_count;
  const Check* checks;
} Case;

typedef struct Paper {
  const char *name, *citation;
  int case_count;
  const Case* cases;
} Paper;

#define CHECKS(list) (int)(sizeof(list) / sizeof *(list)), list

extern const Paper paper_patil, paper_bruls, paper_mueller, paper_pekarek, paper_kovanda,
    paper_locks, paper_new, paper_rate, paper_states, paper_contacts, paper_friction;
extern const Paper* const papers[];  // ends with NULL

// One check of a run or sweep. NAN when there is nothing to measure.
double measure_run(const Check* check, const StudyRun* run);
double measure_sweep(const Check* check, const Sweep* sweep);
// Over the first steps of a disturbed start.
typedef struct Disturbed {
  double residual;  // largest at acceleration level; checks without a name
  double force;     // largest change of the first multiplier from step to step; checks with a name
} Disturbed;
PawlStatus measure_disturbed(const PawlSystem* system, const PawlSimulateDef* def, Disturbed* seen,
                             PawlError* err);
// What the checks of CASE_INSTANTS ask for, to `values`; NAN where an instant did not happen.
PawlStatus measure_instants(const PawlSystem* system, const PawlSimulateDef* def, int count,
                            const Check* checks, double* values, PawlError* err);
