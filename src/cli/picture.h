// SPDX-License-Identifier: Apache-2.0
// Pictures: which formats there are by the ending of a file, the options of plots, and PNG, which
// a program beside pawl makes of an SVG.
#pragma once

#include "cli/cli.h"

// A folder that cannot be written to is known before the run, not after it. 0, or EXIT_RUN after a
// message.
int folder_check(const char* path);
// Can a picture be written to `path`? 0, or an exit code after a message.
int picture_check(const char* option, const char* path);

// Writes one: `write` is called with a name that ends in .svg or .pdf. 0, or an exit code after a
// message.
typedef PawlStatus (*PictureWrite)(void* context, const char* path, PawlError* err);
int picture_write(const char* path, PictureWrite write, void* context);

// The plot that the options -y, -x, --window and --size ask for. 0, or EXIT_USAGE.
int plot_def(const Arguments* arguments, PawlPlotDef* out);
// Draws runs to a file of any of the formats, and says so unless `quiet`.
int plot_runs(const PawlPlotDef* def, int count, const PawlRecorder* const* runs,
              const char* const* names, const char* path, bool quiet);

// What --animate, --strobe, --window and --size ask for, and drawing it. 0, or an exit code.
int motion_def(const Arguments* arguments, PawlMotionDef* out);
int motion_draw(const Arguments* arguments, const PawlModel* model, const PawlRecorder* recorder);

// The same for charts.
int chart_draw(const PawlChartDef* def, const char* path, bool quiet);

// Samples that a picture keeps: far more than it has columns of px, so that it looks the same.
enum { ENOUGH_TO_PLOT = 1 << 15 };
