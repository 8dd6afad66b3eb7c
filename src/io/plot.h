// SPDX-License-Identifier: Apache-2.0
// What a plot draws, as a table of its own: time, what stands on the horizontal axis, the curves.
#pragma once

#include "pawl/plot.h"
#include "run/recorder.h"

// The columns of a table of pawl_plot_table, from 0: time, the horizontal axis, then the curves.
enum { PAWL_PLOT_TIME, PAWL_PLOT_X, PAWL_PLOT_CURVES };

// Evaluates what `def` names at every sample of the window, whose ends are interpolated, and takes
// events and facts over. Without def->y the columns are those that a run is usually looked at for.
// An expression has no unit; its column is of the kind OUTPUT. To be destroyed.
PAWL_CHECKED PawlStatus pawl_plot_table(const PawlPlotDef* def, const PawlRecorder* recorder,
                                        PawlRecorder** out, PawlError* err);

// In a recorder with this fact no column has a known unit (CSV): curves share no panel then.
#define PAWL_FACT_NO_UNITS "units unknown"
bool pawl_plot_units_known(const PawlRecorder* recorder);
