// SPDX-License-Identifier: Apache-2.0
// Charts of numbers against numbers: lines and marks over linear or logarithmic axes, several
// charts in one picture. For studies of runs (errors over step sizes); for runs themselves see
// plot.h.
#pragma once

#include <stdbool.h>

#include "pawl/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum PawlSeriesStyle {
  PAWL_SERIES_LINE,
  PAWL_SERIES_MARKS,
  PAWL_SERIES_BOTH,
  PAWL_SERIES_DASHED,  // thin, for what is expected
} PawlSeriesStyle;

// Points that are not finite, or not positive on a logarithmic axis, are left out, and lines break
// there. All texts and arrays are borrowed for the time of a call.
typedef struct PawlSeries {
  const char* name;  // NULL: it has no entry in the legend
  int colour;        // 0, 1, ...: the same number, the same colour and mark in all charts
  PawlSeriesStyle style;
  int count;
  const double *x, *y;
} PawlSeries;

typedef struct PawlChart {
  const char *title, *x_label, *y_label;  // NULL: none
  bool x_log, y_log;
  int series_count;
  const PawlSeries* series;
} PawlChart;

typedef struct PawlChartDef {    // all zero and charts is a good start
  const char *title, *subtitle;  // NULL: none
  int columns;                   // of charts beside each other; 0: 1
  int width, height;             // of the plane of each chart [px]; 0: 330 x 230
  int chart_count;
  const PawlChart* charts;
} PawlChartDef;

// To a file whose name ends in .pdf, or else as SVG.
PAWL_API PAWL_CHECKED PawlStatus pawl_chart_write(const PawlChartDef* def, const char* path,
                                                  PawlError* err);
// The SVG as a text, for a page. Free `*out` with pawl_string_free.
PAWL_API PAWL_CHECKED PawlStatus pawl_chart_svg(const PawlChartDef* def, char** out,
                                                PawlError* err);

#ifdef __cplusplus
}
#endif
