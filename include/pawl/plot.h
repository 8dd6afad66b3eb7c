// SPDX-License-Identifier: Apache-2.0
// Pictures of runs: what is drawn, against what, in which window and size, of one run or of several
// in one picture; and reading the files of finished runs back, to draw them.
#pragma once

#include "pawl/base.h"
#include "pawl/recorder.h"

#ifdef __cplusplus
extern "C" {
#endif

// Texts are borrowed for the time of a call.
typedef struct PawlPlotDef {  // start from pawl_plot_def_default()
  const char* y;    // "x, theta', lambda(pin), l*sin(phi)": columns and expressions of columns and
                    // parameters, with commas between them; a name without its row or index
                    // stands for all of them. NULL: what a run is usually looked at for
  const char* x;    // one of the same, for phase portraits; NULL: time
  double from, to;  // window of time [s], from < to; infinite: all
  int width, height;  // [px]; 0: 840, and what the panels need
  const char* title;  // NULL: the model of the run
} PawlPlotDef;

PAWL_API PawlPlotDef pawl_plot_def_default(void);

// Is all that `def` names in the run? PAWL_ERROR_USAGE says what is not. Needs no samples.
PAWL_API PAWL_CHECKED PawlStatus pawl_plot_check(const PawlPlotDef* def,
                                                 const PawlRecorder* recorder, PawlError* err);

// Draws `count` runs, 1 .. PAWL_PLOT_RUNS, to a file whose name ends in .svg or .pdf. Of one run,
// curves of one unit share a panel, and events are marked; of several, each quantity has a panel in
// which the runs are compared, called by their names (NULL for a single run). At a jump, two
// samples of one time, the two values are joined by a thin line.
#define PAWL_PLOT_RUNS 12
PAWL_API PAWL_CHECKED PawlStatus pawl_plot_write(const PawlPlotDef* def, int count,
                                                 const PawlRecorder* const* runs,
                                                 const char* const* names, const char* path,
                                                 PawlError* err);

// Reads a trajectory that pawl wrote, CSV or HDF5 by its ending: all its columns, of the times
// from .. to and the sample before and after them. Of more than `most` samples, the extremes of
// groups are kept, so that memory is bounded. A CSV file holds neither units nor parameters nor
// events; kinds of columns are then those that their names speak of. To be freed with
// pawl_run_free.
PAWL_API PAWL_CHECKED PawlStatus pawl_run_read(const char* path, double from, double to, int most,
                                               PawlRecorder** out, PawlError* err);
PAWL_API void pawl_run_free(PawlRecorder* run);  // NULL is allowed

#ifdef __cplusplus
}
#endif
