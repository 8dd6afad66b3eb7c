// SPDX-License-Identifier: Apache-2.0
// A simulation from start to end: steps, samples, and a summary.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pawl/base.h"
#include "pawl/recorder.h"
#include "pawl/stepper.h"
#include "pawl/system.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PawlSim PawlSim;  // owns stepper, state and recorder; borrows the system

// Called with each sample as it is recorded, one number for each column of `recorder`, and with
// both sides of every jump: two samples at its time. There, accelerations, multipliers and outputs
// in which these occur are NaN where the method does not know them (PawlInstant). An answer other
// than PAWL_OK ends the run with it.
typedef PawlStatus (*PawlOnSample)(void* context, const PawlRecorder* recorder,
                                   const double* sample, PawlError* err);

typedef struct PawlSimDef {  // start from pawl_sim_def_default()
  PawlSimulateDef simulate;  // method, until, step, ...
  bool project;              // move the start onto the constraints
  const char* keep;          // with project: what stays as stated, "x, phi'"; NULL: nothing
  bool balance;              // integrate the works that change the energy (default)
  bool corrections;          // samples have nu, Lambda and lambda.smooth of each row, where the
                             // method corrects a smooth motion (pawl_stepper_corrections)
  bool keep_samples;         // false: the recorder stays empty, the summary is complete
  bool keep_sides;           // both sides of jumps are kept, too, as on_sample gets them
  int keep_most;             // samples kept, > 0: of more, the extremes of groups; 0: all of them
  size_t memory_limit;       // [bytes] of samples kept; 1 GiB
  PawlOnSample on_sample;    // NULL: nobody is told
  void* on_sample_context;
  const volatile int* stop;  // NULL, or a number of the caller's, which a signal may set: other
                             // than 0 it ends the run within a step, see pawl_stepper_stop_by
} PawlSimDef;
PAWL_API PawlSimDef pawl_sim_def_default(void);

typedef struct PawlSummary {
  double t;                         // reached [s]
  PawlStepperInfo work;             // steps, Newton iterations, factorisations
  long long smaller_steps;          // steps repeated with half the size
  double wall_seconds;              // spent in pawl_sim_run
  double energy_start, energy_end;  // [J], kinetic + potential
  double energy_max_drift;          // [J]: largest that the works did not explain, over the samples
  double works[PAWL_WORK_COUNT];    // [J], up to the last sample; zeros without a balance
  double kinetic_max;               // [J], over the samples
  double potential_low, potential_high;  // [J], the same
  double energy_moved;                   // [J], see pawl_summary_energy_size
  double drift;           // largest |g_i| relative to the size of the terms of its row
  double velocity_drift;  // the same for G v + g_t
  double residual[3];     // largest of g, G v + g_t, G v' + gamma over the samples
} PawlSummary;

// How much energy a run has moved [J]: the ranges of the kinetic energy of each coordinate and of
// the potential energy that the motion changed, and the sizes of what the works add up to. What its
// drift is to be compared with (docs/theory/energy.md).
PAWL_API double pawl_summary_energy_size(const PawlSummary* summary);

// How much of that may drift without a warning, as a fraction: what the tolerances of a method with
// steps of its own explain, or one per cent (docs/theory/energy.md).
PAWL_API double pawl_sim_energy_tolerance(const PawlSim* sim);
// True when the works themselves are not known to what the tolerances explain, or to one per cent:
// the steps are too coarse for them, and the drift says nothing.
PAWL_API bool pawl_sim_works_unknown(const PawlSim* sim);
// Energy that jumps of constraints with an impact law nearer to pre than to bisector have put into
// the motion [J]; no other law adds any. *constraint receives the name of the first, NULL without.
PAWL_API double pawl_sim_law_gain(const PawlSim* sim, const char** constraint);
// The same of constraints with all other laws, unless constraints move with time: the method has
// not followed the law.
PAWL_API double pawl_sim_stray_gain(const PawlSim* sim, const char** constraint);
// True when more has drifted: the motion is not that of the model, to this accuracy.
PAWL_API bool pawl_sim_energy_drifts(const PawlSim* sim);

// Makes the stepper, starts it and records the first sample. `system` must outlive the simulation.
// PAWL_ERROR_USAGE: the samples to be kept would be more than the limit; the message has the
// numbers.
PAWL_API PAWL_CHECKED PawlStatus pawl_sim_create(const PawlSystem* system, const PawlSimDef* def,
                                                 PawlSim** out, PawlError* err);
PAWL_API void pawl_sim_destroy(PawlSim* sim);  // NULL is allowed

// Called after each step; a non-zero answer stops the run.
typedef int (*PawlProgress)(void* context, double t, double until);

// Runs to the end. PAWL_STOPPED: `progress` or `stop` asked for it, and the state reached is the
// last sample. On that and on failure all samples up to the last good step are kept. A step that
// does not converge is tried in smaller pieces.
PAWL_API PAWL_CHECKED PawlStatus pawl_sim_run(PawlSim* sim, PawlProgress progress, void* context,
                                              PawlError* err);

// Takes `count` steps (fewer when the end comes first), for callers that act in between.
PAWL_API PAWL_CHECKED PawlStatus pawl_sim_step(PawlSim* sim, long long count, PawlError* err);
PAWL_API bool pawl_sim_ended(const PawlSim* sim);  // at `until`, or by an event with `stop`

// Engages or releases a constraint or lock by name, now: between steps, or in `progress`. The jump
// is in the log of events. PAWL_ERROR_USAGE names those that can be.
PAWL_API PAWL_CHECKED PawlStatus pawl_sim_engage(PawlSim* sim, const char* name, PawlError* err);
PAWL_API PAWL_CHECKED PawlStatus pawl_sim_release(PawlSim* sim, const char* name, PawlError* err);

// Impulsive forces U (sizes.v numbers, [N s] or [N m s]) act now, between steps: see
// pawl_stepper_push. The jump is in the log of events as "impulse", and its work in the balance.
PAWL_API PAWL_CHECKED PawlStatus pawl_sim_push(PawlSim* sim, const double* U, PawlError* err);

// An input (pawl_system_find_input, once, before the loop) has this value from now on, between
// steps or in `progress`: see pawl_stepper_set_input. And its present value.
PAWL_API PAWL_CHECKED PawlStatus pawl_sim_set_input(PawlSim* sim, int input, double value,
                                                    PawlError* err);
PAWL_API double pawl_sim_input(const PawlSim* sim, int input);
// What a program looks at between steps: a column of the results by its name (an output, "x'",
// "lambda(pin)"), once, before the loop; -1 when there is none. And its value in the last sample,
// which is that of the last step unless `record` is longer.
PAWL_API int pawl_sim_find_column(const PawlSim* sim, const char* name);
PAWL_API double pawl_sim_value(const PawlSim* sim, int column);

// ---- going on later ---------------------------------------------------------------------------
// Everything that a run is, as plain bytes: the state, the summary, events, samples kept. Loaded
// into a new simulation it goes on as if it had never been interrupted: the same samples to
// `on_sample`, the same events and the same final state, bit for bit. Checkpoints (checkpoint.h)
// put these bytes into a file together with how far the files of samples are.
// Save between two steps (also in `progress`). `*bytes` is to be freed with pawl_sim_saved_free.
PAWL_API PAWL_CHECKED PawlStatus pawl_sim_save(const PawlSim* sim, void** bytes, size_t* size,
                                               PawlError* err);
PAWL_API void pawl_sim_saved_free(void* bytes);  // NULL is allowed
// In place of pawl_sim_create, with the same system and def; no first sample is recorded. Only
// `until` may have grown (a run that has ended goes on only from a multiple of `step` and
// `record`). PAWL_ERROR_USAGE: the bytes are damaged, or of another run; the message says what has
// changed since (options, parameters, the text of the model).
PAWL_API PAWL_CHECKED PawlStatus pawl_sim_load(const PawlSystem* system, const PawlSimDef* def,
                                               const void* bytes, size_t size, PawlSim** out,
                                               PawlError* err);

PAWL_API const PawlRecorder* pawl_sim_recorder(const PawlSim* sim);
PAWL_API const PawlStepper* pawl_sim_stepper(const PawlSim* sim);
PAWL_API const PawlState* pawl_sim_state(const PawlSim* sim);
// The multipliers of the newest sample, one for each row; of minimum norm where rows are redundant.
PAWL_API const double* pawl_sim_multipliers(const PawlSim* sim);
PAWL_API PawlSummary pawl_sim_summary(const PawlSim* sim);
PAWL_API const char* pawl_sim_warning(const PawlSim* sim);  // "" when there is none

#ifdef __cplusplus
}
#endif
