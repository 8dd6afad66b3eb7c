// SPDX-License-Identifier: Apache-2.0
// The parts of the drawing that pawl_write_svg makes: texts, axes, which curve goes in which panel,
// the curves themselves, the marks of events. Lengths are in SVG user units, here called px.
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "base/text.h"
#include "pawl/plot.h"

enum { PAWL_SVG_CURVES = 12 };      // curves in one panel at most
enum { PAWL_SVG_PANELS = 16 };      // panels at most
enum { PAWL_SVG_MULTIPLIERS = 4 };  // of these for multipliers, at most
enum { PAWL_SVG_EVENT_ROWS = 3 };   // labels of events above each other at most
enum { PAWL_SVG_NAME = 24 };        // characters of a name at most
#define PAWL_SVG_FONT 11.0          // font size of most texts [px]
#define PAWL_SVG_LINE 13.0          // from one line of text to the next [px]
#define PAWL_SVG_NAME_SHIFT 22.0    // from a panel to the names, for the leader lines [px]

// --- svg_text.c

// A length rounded to 1/100 px.
void pawl_svg_length(PawlText* text, double length);
// Escaped for XML and cut to at most `limit` characters, the last one "..." when cut. Bytes that
// XML does not allow become '?'.
void pawl_svg_escape(PawlText* text, const char* s, int limit);
// How wide `s` will be, estimated on the safe side, of at most `limit` characters [px].
double pawl_svg_width(const char* s, int limit, double font);
void pawl_svg_attribute(PawlText* text, const char* name, double length);  // ` name="length"`
void pawl_svg_line(PawlText* text, const char* class_name, double x1, double y1, double x2,
                   double y2);
void pawl_svg_text_begin(PawlText* text, const char* class_name, double x, double y);
void pawl_svg_text_end(PawlText* text);

// --- svg_axis.c

// An axis. Labels show (value - offset) / 10^exponent; ticks stand at k * mantissa * 10^power +
// offset for first <= k <= last, mantissa being 1, 2 or 5.
typedef struct PawlSvgAxis {
  double lo, hi;  // ends, minus the offset
  double offset;  // 0 unless the range is tiny beside the values
  int exponent;   // 0 unless the labels would be long
  int mantissa, power;
  int first, last;
} PawlSvgAxis;

// [1] Of the numbers of an axis: a smaller range is their rounding. Of a step between ticks: keeps
// one at the very end despite rounding. Of the largest range of a kind: a smaller one is no motion.
#define PAWL_SVG_NO_RANGE (4.0 * 2.220446049250313e-16)
#define PAWL_SVG_LAST_TICK 1e-9
#define PAWL_SVG_STILL 1e-12
#define PAWL_SVG_HUGE 1e300  // a value beyond counts as infinite, so that ranges never overflow
bool pawl_svg_finite(double value);

// Covers lo .. hi widened by the fraction `margin` at both ends, with about `ticks` ticks.
PawlSvgAxis pawl_svg_axis(double lo, double hi, double margin, int ticks);
double pawl_svg_axis_place(const PawlSvgAxis* axis, double value);  // 0 at lo, 1 at hi
double pawl_svg_axis_tick(const PawlSvgAxis* axis, int k);          // the same of a tick
void pawl_svg_axis_label(PawlText* text, const PawlSvgAxis* axis, int k);
// What applies to all labels, as "x10^-3 + 60"; nothing where labels are the plain values.
void pawl_svg_axis_factor(PawlText* text, const PawlSvgAxis* axis);
void pawl_svg_superscript(PawlText* text, int n);

// --- svg_panels.c

typedef struct PawlSvgCurve {
  const PawlRecorder* recorder;
  int column;
  int x, time;  // columns of the horizontal axis and of the time; -1: samples are counted
  int rank;     // place among the columns of its kind
  const char* name;
} PawlSvgCurve;

typedef struct PawlSvgPanel {
  PawlColumnKind kind;
  const char* unit;  // "" when unknown
  int total;         // columns that belong here
  int kind_total;    // columns of this kind in the table
  int curve_count;   // of them drawn
  bool compares;     // the curves are of several runs: dashes tell those that coincide
  PawlSvgCurve curves[PAWL_SVG_CURVES];
  double lo, hi;       // range of the curves drawn
  double top, height;  // set by the layout
  PawlSvgAxis axis;    // set by the layout
} PawlSvgPanel;

// Chooses the panels in their order from the top; `*count` is 0 when no value can be drawn. Curves
// of different units never share a panel; `*left_out` columns find none.
PAWL_CHECKED PawlStatus pawl_svg_panels(const PawlRecorder* recorder, PawlSvgPanel panels[],
                                        int* count, int* left_out, PawlError* err);

// The same for tables of pawl_plot_table. A single one: curves of one unit share a panel, whatever
// their kinds, in the order of the table. Several (names not NULL): a panel for each column of the
// first, with the column of that name of all others, called by the name of their table.
void pawl_svg_panels_chosen(int table_count, const PawlRecorder* const* tables,
                            const char* const* names, PawlSvgPanel panels[], int* count,
                            int* left_out);

// --- svg_curve.c

// The column of the time, -1 without: samples are then counted.
int pawl_svg_time_column(const PawlRecorder* recorder);

typedef struct PawlSvgFrame {  // the plane that a curve is drawn on
  const PawlSvgAxis *x, *y;
  double left, top, width, height;
} PawlSvgFrame;

// The path data of one curve. Over the time, at most two points for each px of width are kept, the
// least and the greatest value there; then points that lie on the line between their neighbours are
// left out. Values that are not finite break the path, and so do two values of one time: the line
// between them, where it can be seen, goes to `jumps`.
void pawl_svg_curve(PawlText* text, PawlText* jumps, const PawlSvgCurve* curve,
                    const PawlSvgFrame* frame);

// --- svg_names.c

// The colours that the colour-blind can tell apart, again from the start behind the last.
const char* pawl_svg_palette(int k);
int pawl_svg_palette_size(void);
const char* pawl_svg_colour(const PawlSvgPanel* panel, int curve);
// The attribute that dashes a curve, with a blank before it; "" for a solid one.
const char* pawl_svg_dash(const PawlSvgPanel* panel, int curve);
// The names of a panel's curves, none over another, with their leader lines.
void pawl_svg_names(PawlText* text, const PawlSvgPanel* panel, const PawlSvgFrame* frame);

// --- svg_events.c

typedef struct PawlSvgMark {
  double x;         // [px]
  int event;        // index in the recorder
  int row;          // of its label, 0 the lowest; -1 without a label
  int label_limit;  // characters of the label shown
} PawlSvgMark;

enum { PAWL_SVG_MARKS = 1000 };  // lines drawn at most

typedef struct PawlSvgMarks {
  int count, labelled, rows;
  PawlSvgMark marks[PAWL_SVG_MARKS];
} PawlSvgMarks;

// Places the marks of the events on the x axis, leaving some out where they crowd. Labels, which
// stand to the right of their line, cross neither each other nor another line and end before
// `right`.
void pawl_svg_marks(const PawlRecorder* recorder, const PawlSvgAxis* x, double left, double width,
                    double right, PawlSvgMarks* marks);
// "constraint: from -> to"
void pawl_svg_mark_label(PawlText* text, const PawlEvent* event, int limit);

// --- svg.c

// The drawing of pawl_plot_write.
PAWL_CHECKED PawlStatus pawl_svg_plot(const PawlPlotDef* def, int count,
                                      const PawlRecorder* const* runs, const char* const* names,
                                      PawlText* out, PawlError* err);
