// SPDX-License-Identifier: Apache-2.0
// What compare, converge and reproduce share: runs that are kept whole, curves over time, the
// distances between them, and observed orders.
#pragma once

#include "cli/cli.h"

enum { MOST_STEPS = 64, MOST_METHODS = 32 };

// ---- the model under study ----------------------------------------------------------------------
typedef struct Study {
  PawlModel* model;
  PawlSystem* system;
  PawlSimulateDef def;  // `simulate:` of the model under the command line
  bool project;         // runs move their start onto the constraints
  const char* keep;     // and leave this alone; may be NULL
} Study;

// Loads what the command line names. 0, or an exit code after a message. Close it in either case.
int study_open(const Arguments* arguments, Study* out);
// True when constraints switch or there are contacts.
bool study_has_switches(const PawlSystem* system);
void study_close(Study* study);

// Takes "NAME VALUE" or "NAME=VALUE" out of the arguments; `*value` stays as it is without it.
// EXIT_USAGE after a message when the value is missing.
int study_take_option(int* argc, char** argv, const char* name, const char** value);

// "nsga-pvv" or "event-driven:ga-p", the latter with the method between switches. The text is
// changed and must live as long as `def`.
void study_set_method(PawlSimulateDef* def, char* text);
// Splits "a,b,c" in place; the number of parts, at most `most`, or -1 when there are more.
int study_split(char* text, char separator, int most, char** parts);
// The methods of "a,b:c", which is split in place, or all of this version when `list` is NULL.
// Their number, at most MOST_METHODS; -1 after a message when one is unknown.
int study_methods(char* list, char** names);

// ---- runs ---------------------------------------------------------------------------------------
typedef struct StudyRun {
  PawlStatus status;  // of the run; not PAWL_OK: `err` says why
  PawlSim* sim;       // NULL when it could not be made
  const PawlSystem* system;
  bool project;      // set by the caller: move the start onto the constraints
  const char* keep;  // and leave this alone
  bool corrections;  // set by the caller: with columns nu, Lambda, lambda.smooth
  PawlError err;
} StudyRun;

// Simulates with every sample kept. The run may be destroyed whatever the status.
PawlStatus study_run(const PawlSystem* system, const PawlSimulateDef* def, StudyRun* out);
void study_run_destroy(StudyRun* run);
// The best time of a few repeats without samples, in seconds per step.
double study_seconds_per_step(const Study* study, const PawlSimulateDef* def);

// The columns of one kind are neighbours: the first, and how many.
int study_columns(const PawlRecorder* recorder, PawlColumnKind kind, int* first);
// The column of that name, or -1.
int study_column(const PawlRecorder* recorder, const char* name);
// An event at the end of a step has its time but for rounding, relative.
#define STUDY_SAME_TIME 2e-15
double study_sample_time(const PawlRecorder* recorder, int sample);
// True when a switch happened after sample - 1 and not after `sample`. `*event` is where to look
// first and moves on with growing samples; it starts at 0.
bool study_switched(const PawlRecorder* recorder, int sample, int* event);

// The sum of the second differences over the sum of the first, of the columns of a kind whose sums
// are largest, over the steps from time `from` on that neither have a switch nor follow one: 0 for
// a smooth curve as h shrinks, 2 for a saw that turns in every step.
double study_oscillation(const PawlRecorder* recorder, PawlColumnKind kind, double from);
// The same of one column.
double study_column_oscillation(const PawlRecorder* recorder, int column, double from);
// The largest of a column from time `from` on.
double study_largest(const PawlRecorder* recorder, int column, double from);

// ---- curves -------------------------------------------------------------------------------------
typedef enum Part { PART_Q, PART_V, PARTS } Part;  // coordinates; rates

typedef struct Curve {
  int count, width;  // points; components of each
  // count + 1; (count + 1) x width, with a spare point; the same, or NULL where there is none
  double *t, *x, *slope;
} Curve;

// The curves of a run as the reference or the subject of a comparison.
typedef struct Path {
  Curve curve[PARTS];   // at the samples
  Curve graph[PARTS];   // the same with both sides of each jump inside a step
  double end;           // last time
  double first_switch;  // INFINITY without one
} Path;

bool path_of_run(const PawlRecorder* recorder, Path* out);  // false: out of memory
// From a file that `pawl run -o` wrote, with the columns that `like` names.
PawlStatus path_of_csv(const char* file, const PawlRecorder* like, Path* out, PawlError* err);
void path_destroy(Path* path);

// The curve at time t, by cubics where slopes are known and lines elsewhere; `out` has its width.
void curve_at(const Curve* curve, double t, double* out);
// The largest difference of a component at the last sample of `curve`.
double curve_end_distance(const Curve* curve, const Curve* reference);
// The mean over time of the largest difference of a component, at the samples up to `until`.
double curve_l1(const Curve* curve, const Curve* reference, double until);
// The same at each sample; `out` has curve->count numbers.
void curve_differences(const Curve* curve, const Curve* reference, double* out);
// The largest distance of a point of one graph (t, x_i) up to `until` from the other graph, both
// ways, over the components.
double curve_hausdorff(const Curve* a, const Curve* b, double until);

// ---- orders -------------------------------------------------------------------------------------
enum { STUDY_FINER = 10 };  // steps of a reference in one

typedef enum Norm { NORM_L1, NORM_HAUSDORFF, NORMS } Norm;

typedef struct Distances {
  double d[PARTS][NORMS];
} Distances;

// What one method does over several step sizes.
typedef struct Sweep {
  int count;
  double h[MOST_STEPS];
  bool good[MOST_STEPS];         // the run reached its end
  double seconds[MOST_STEPS];    // that it took, with recording
  Distances before[MOST_STEPS];  // before the first switch
  Distances whole[MOST_STEPS];
  double scale[PARTS];  // largest value of the reference, for the floor of rounding
  bool has_before;
  char message[512];  // of the first failure
} Sweep;

typedef struct Order {
  int used;             // points of the fit
  double order, error;  // slope of log distance over log h, and its standard error
  bool exact;           // every distance is rounding
} Order;

// References by step size, so that methods share them.
typedef struct References References;
References* references_create(const PawlSystem* system, const PawlSimulateDef* def, int finer);
void references_destroy(References* references);
const char* references_label(const References* references);

// Runs `def` with each step of `h`. PAWL_OK also when some runs fail; not when the reference does.
PawlStatus study_sweep(const PawlSystem* system, const PawlSimulateDef* def, int count,
                       const double* h, References* references, Sweep* out, PawlError* err);
Order study_order(const Sweep* sweep, bool whole, Part part, Norm norm);
// `count` sizes from `high` down to `low`, in equal ratios.
void study_steps(double high, double low, int count, double* h);
// The reference that belongs to a model and step by default: event-driven over rk4, rk4 where
// nothing switches, nsga-pva where event-driven refuses; with `finer` steps in one, sampled at the
// steps.
PawlSimulateDef study_reference_def(const PawlSystem* system, const PawlSimulateDef* def,
                                    int finer);
