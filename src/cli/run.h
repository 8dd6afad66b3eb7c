// SPDX-License-Identifier: Apache-2.0
// The parts of pawl run: what is checked before (run_check.c), the run (run_progress.c), what it
// writes (run_output.c), and what it tells people (run_summary.c) and programs (run_json.c).
#pragma once

#include "cli/cli.h"

// The writers of all -o, fed sample by sample while the run goes on.
typedef struct RunOutputs {
  int count;
  PawlWriter* writers[MOST_OUTPUTS];
  bool reports;  // some of them are
  char* text;    // of the model, for these; NULL: not known
  const PawlModel* model;
  char* summary;  // for these, JSON; NULL without
} RunOutputs;

// Functions that return int give 0, or an exit code after a message.

// ---- before the run: run_check.c ----------------------------------------------------------------
// The format of -o by the ending of the file; - is CSV on standard output. -1: none.
int run_format_of(const char* path);
int run_check_outputs(const Arguments* a);
int run_check_checkpoint(const Arguments* a);
// The seconds of --every, 0 without; negative after a message.
double run_checkpoint_interval(const Arguments* a);
// Whether the method has a use for each option that was given; `named`: the user chose it.
int run_check_uses(const Arguments* a, const PawlSimulateDef* def, bool named);
// Whether all that a plot names is there.
int run_check_names(const Arguments* a, const PawlSim* sim);

// ---- files: run_output.c ------------------------------------------------------------------------
int run_open_outputs(const Arguments* a, const PawlModel* model, RunOutputs* out);
void run_destroy_outputs(RunOutputs* out);
// A PawlOnSample with the outputs as context.
PawlStatus run_write_sample(void* context, const PawlRecorder* recorder, const double* sample,
                            PawlError* err);
// `ended`: the run came to its end, and no restart will want the files.
int run_finish_outputs(const Arguments* a, const PawlSim* sim, RunOutputs* out, bool ended);

// ---- the run: run_progress.c --------------------------------------------------------------------
// From here on Ctrl-C and a hang-up set a number, PawlSimDef.stop, which ends a run early, inside a
// step, too; a second Ctrl-C kills.
const volatile int* run_catch_signals(void);
// Runs with progress and checkpoints; a failed checkpoint is a failure of the run.
PawlStatus run_to_end(const Arguments* a, PawlSim* sim, const RunOutputs* out, PawlError* err);

// ---- the summary: run_summary.c, run_json.c -----------------------------------------------------
// What a user should know of a run that ended well, one text each; NULL past the last.
const char* run_warning(const PawlSim* sim, int index);
void run_print_warnings(const PawlSim* sim);
void run_print_summary(const PawlSystem* system, const PawlSim* sim);
// By PawlWork, up to PAWL_WORK_JUMPS.
// Whether some contact has friction.
bool run_rubs(const PawlSystem* system);
extern const char* const run_work_names[];
// `reason`, for reports: why a run ended early; they have the events elsewhere. NULL: not for one.
void run_print_json(FILE* to, const PawlSystem* system, const PawlSim* sim,
                    const Projection* projection, int code, const char* reason);
// The summary for reports; NULL when memory is short, which leaves it out.
char* run_summary_text(const PawlSystem* system, const PawlSim* sim, const Projection* projection,
                       PawlStatus status, const PawlError* err);
