// SPDX-License-Identifier: Apache-2.0
// What a run has seen: a table of samples with named columns, and the log of switches.
#pragma once

#include <stdbool.h>

#include "pawl/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PawlColumnKind {
  PAWL_COLUMN_TIME,
  PAWL_COLUMN_COORDINATE,    // x
  PAWL_COLUMN_RATE,          // x'
  PAWL_COLUMN_ACCELERATION,  // x''
  PAWL_COLUMN_MULTIPLIER,    // lambda(name) or lambda(name,k): force of a constraint row
  PAWL_COLUMN_ENERGY,        // kinetic, potential, energy
  PAWL_COLUMN_RESIDUAL,      // residual.position, residual.velocity, residual.acceleration
  PAWL_COLUMN_OUTPUT,        // a named output of the model
  PAWL_COLUMN_WORK,          // work.forces, ..., energy.drift; files have them only by name
  PAWL_COLUMN_PATH,          // z(x): the path of which x is the projection (php)
  PAWL_COLUMN_CORRECTION,    // nu(name), Lambda(name), lambda.smooth(name), on demand
  PAWL_COLUMN_STATE,         // z: a first-order state, with a rate
  PAWL_COLUMN_STATE_RATE,    // z'
  PAWL_COLUMN_INPUT,         // u: an input, a state without rate, a parameter that may change
} PawlColumnKind;

typedef struct PawlColumn {
  const char* name;
  const char* unit;  // "" where the model states none
  PawlColumnKind kind;
} PawlColumn;

// One switch of a constraint. Arrays are owned by the recorder.
typedef struct PawlEvent {
  double t;                // [s]
  const char* constraint;  // its name in the model
  const char* from;        // mode left
  const char* to;          // mode entered
  double energy_lost;      // [J], positive when the jump dissipates; of several at one instant, the
                           // part of this constraint
  int row_count;           // length of impulse
  const double* impulse;   // [N s] of each row of the constraint, of a contact the normal one, then
                           // those of its friction; of an event with impulsive forces
                           // these, one for each velocity
  int v_count;             // length of v_before and v_after
  const double* v_before;
  const double* v_after;
} PawlEvent;

typedef struct PawlRecorder PawlRecorder;

PAWL_API int pawl_recorder_column_count(const PawlRecorder* recorder);
PAWL_API const PawlColumn* pawl_recorder_column(const PawlRecorder* recorder, int column);
PAWL_API int pawl_recorder_sample_count(const PawlRecorder* recorder);
// The values of one sample, one for each column; valid until the next sample is recorded.
PAWL_API const double* pawl_recorder_sample(const PawlRecorder* recorder, int sample);
PAWL_API int pawl_recorder_event_count(const PawlRecorder* recorder);
PAWL_API const PawlEvent* pawl_recorder_event(const PawlRecorder* recorder, int event);
// Facts about the run to be written beside the data ("model", "method", "options/rho",
// "parameters/m", ...); NULL past the end.
PAWL_API const char* pawl_recorder_fact_name(const PawlRecorder* recorder, int fact);
PAWL_API const char* pawl_recorder_fact_value(const PawlRecorder* recorder, int fact);
// True when the fact is a number; its value is then the shortest decimal of it.
PAWL_API bool pawl_recorder_fact_number(const PawlRecorder* recorder, int fact, double* number);

#ifdef __cplusplus
}
#endif
