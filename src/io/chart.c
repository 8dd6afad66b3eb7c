// SPDX-License-Identifier: Apache-2.0
// Charts in a grid, each with its legend at the right. A logarithmic axis is an axis of exponents:
// values are replaced by their logarithms first, and only the labels know.
#include "pawl/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "io/picture.h"
#include "io/svg.h"
#include "run/recorder.h"

// Lengths in px.
static const double PLANE_WIDTH = 330.0, PLANE_HEIGHT = 230.0;
static const double LEFT = 64.0, ABOVE = 26.0, BELOW = 44.0, GAP = 16.0;
static const double LEGEND_SHIFT = 10.0, LEGEND_SAMPLE = 18.0;
static const double MARK = 2.8;  // half its size
enum { NAME_CHARACTERS = 32, TITLE_CHARACTERS = 100, MOST_COLUMNS = 8 };

typedef struct Drawing {
  const PawlChartDef* def;
  PawlText* out;
  int columns, rows;
  double width, height;  // of a plane
  double legend[MOST_COLUMNS];
  double head;
} Drawing;

typedef struct Plane {
  const PawlChart* chart;
  PawlSvgAxis x, y;
  PawlSvgFrame frame;
} Plane;

// ---- values -------------------------------------------------------------------------------------
static double scaled(double value, bool logarithmic) {
  return !logarithmic ? value : value > 0.0 ? log10(value) : NAN;
}

static bool point_of(const PawlChart* chart, const PawlSeries* series, int k, double* x,
                     double* y) {
  *x = scaled(series->x[k], chart->x_log);
  *y = scaled(series->y[k], chart->y_log);
  return pawl_svg_finite(*x) && pawl_svg_finite(*y);
}

typedef struct Box {
  double lo[2], hi[2];
} Box;

static Box range_of(const PawlChart* chart) {
  Box box = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
  for (int i = 0; i < chart->series_count; i++) {
    for (int k = 0; k < chart->series[i].count; k++) {
      double p[2];
      if (point_of(chart, &chart->series[i], k, &p[0], &p[1])) {
        for (int d = 0; d < 2; d++) {
          box.lo[d] = fmin(box.lo[d], p[d]);
          box.hi[d] = fmax(box.hi[d], p[d]);
        }
      }
    }
  }
  return box.lo[0] <= box.hi[0] ? box : (Box){{0.0, 0.0}, {1.0, 1.0}};
}

// ---- axes ---------------------------------------------------------------------------------------
// Ticks at whole exponents; less than a decade is widened to one.
static PawlSvgAxis log_axis(double lo, double hi, int ticks) {
  if (hi - lo < 1.0) {
    double middle = 0.5 * (lo + hi);
    lo = fmin(lo, middle - 0.5);
    hi = fmax(hi, middle + 0.5);
  }
  double margin = 0.04 * (hi - lo);
  PawlSvgAxis axis = {.lo = lo - margin, .hi = hi + margin};
  int range = (int)ceil(hi - lo), step = 1 + (range - 1) / (ticks > 0 ? ticks : 1);
  axis.mantissa = step <= 2 ? step : step <= 5 ? 5 : 10;
  axis.power = 0;
  axis.first = (int)ceil(axis.lo / axis.mantissa);
  axis.last = (int)floor(axis.hi / axis.mantissa);
  return axis;
}

static PawlSvgAxis axis_of(double lo, double hi, bool logarithmic, int ticks) {
  return logarithmic ? log_axis(lo, hi, ticks) : pawl_svg_axis(lo, hi, 0.04, ticks);
}

static void add_label(PawlText* out, const PawlSvgAxis* axis, bool logarithmic, int k) {
  if (logarithmic) {
    int exponent = k * axis->mantissa;
    pawl_text_add(out, exponent == 0 ? "1" : "10");
    if (exponent != 0) {
      pawl_svg_superscript(out, exponent);
    }
  } else {
    pawl_svg_axis_label(out, axis, k);
  }
}

// The lines at 2, 3 ... 9 times a power of ten, where there is room.
static void draw_between(PawlText* out, const Plane* plane, bool vertical) {
  const PawlSvgAxis* axis = vertical ? &plane->x : &plane->y;
  const PawlSvgFrame* f = &plane->frame;
  if (axis->mantissa != 1 || axis->hi - axis->lo > 4.0) {
    return;
  }
  for (int k = axis->first - 1; k <= axis->last; k++) {
    for (int digit = 2; digit < 10; digit++) {
      double place = pawl_svg_axis_place(axis, k + log10(digit));
      double x = f->left + f->width * place, y = f->top + f->height * (1.0 - place);
      if (place > 0.0 && place < 1.0) {
        pawl_svg_line(out, "fine", vertical ? x : f->left, vertical ? f->top : y,
                      vertical ? x : f->left + f->width, vertical ? f->top + f->height : y);
      }
    }
  }
}

static void draw_x_axis(PawlText* out, const Plane* plane) {
  const PawlSvgFrame* f = &plane->frame;
  for (int k = plane->x.first; k <= plane->x.last; k++) {
    double x = f->left + f->width * pawl_svg_axis_tick(&plane->x, k);
    pawl_svg_line(out, "grid", x, f->top, x, f->top + f->height);
    pawl_svg_text_begin(out, "tick-x", x, f->top + f->height + 15.0);
    add_label(out, &plane->x, plane->chart->x_log, k);
    pawl_svg_text_end(out);
  }
  pawl_svg_text_begin(out, "label", f->left + 0.5 * f->width, f->top + f->height + 32.0);
  pawl_svg_escape(out, plane->chart->x_label ? plane->chart->x_label : "", TITLE_CHARACTERS);
  if (!plane->chart->x_log) {
    pawl_text_add(out, "  ");
    pawl_svg_axis_factor(out, &plane->x);
  }
  pawl_svg_text_end(out);
}

static void draw_y_axis(PawlText* out, const Plane* plane) {
  const PawlSvgFrame* f = &plane->frame;
  for (int k = plane->y.first; k <= plane->y.last; k++) {
    double y = f->top + f->height * (1.0 - pawl_svg_axis_tick(&plane->y, k));
    pawl_svg_line(out, "grid", f->left, y, f->left + f->width, y);
    pawl_svg_text_begin(out, "tick-y", f->left - 6.0, y + 4.0);
    add_label(out, &plane->y, plane->chart->y_log, k);
    pawl_svg_text_end(out);
  }
  pawl_text_add(out, "<text class=\"label\" transform=\"translate(");
  pawl_svg_length(out, f->left - LEFT + 14.0);
  pawl_text_add(out, " ");
  pawl_svg_length(out, f->top + 0.5 * f->height);
  pawl_text_add(out, ")rotate(-90)\">");
  pawl_svg_escape(out, plane->chart->y_label ? plane->chart->y_label : "", TITLE_CHARACTERS);
  if (!plane->chart->y_log) {
    pawl_text_add(out, "  ");
    pawl_svg_axis_factor(out, &plane->y);
  }
  pawl_svg_text_end(out);
}

static void draw_frame(PawlText* out, const Plane* plane) {
  const PawlSvgFrame* f = &plane->frame;
  pawl_text_add(out, "<rect class=\"frame\"");
  pawl_svg_attribute(out, "x", f->left);
  pawl_svg_attribute(out, "y", f->top);
  pawl_svg_attribute(out, "width", f->width);
  pawl_svg_attribute(out, "height", f->height);
  pawl_text_add(out, "/>\n");
  pawl_svg_text_begin(out, "chart", f->left, f->top - 8.0);
  pawl_svg_escape(out, plane->chart->title ? plane->chart->title : "", TITLE_CHARACTERS);
  pawl_svg_text_end(out);
}

// ---- series -------------------------------------------------------------------------------------
// Circle, square, triangle and diamond in turn, once the colours are used up.
static void draw_mark(PawlText* out, int colour, double x, double y) {
  static const char* const shapes[] = {NULL, "m-2.6-2.6h5.2v5.2h-5.2z", "m0-3.4l3.2 5.6h-6.4z",
                                       "m0-3.6l3.6 3.6-3.6 3.6-3.6-3.6z"};
  const char* shape = shapes[colour / pawl_svg_palette_size() % 4];
  const char* fill = pawl_svg_palette(colour);
  if (!shape) {
    pawl_text_add(out, "<circle");
    pawl_svg_attribute(out, "cx", x);
    pawl_svg_attribute(out, "cy", y);
    pawl_svg_attribute(out, "r", MARK);
    pawl_text_printf(out, " fill=\"%s\"/>\n", fill);
    return;
  }
  pawl_text_printf(out, "<path fill=\"%s\" d=\"M", fill);
  pawl_svg_length(out, x);
  pawl_text_add(out, " ");
  pawl_svg_length(out, y);
  pawl_text_printf(out, "%s\"/>\n", shape);
}

static void draw_marks(PawlText* out, const Plane* plane, const PawlSeries* series) {
  const PawlSvgFrame* f = &plane->frame;
  for (int k = 0; k < series->count; k++) {
    double x, y;
    if (point_of(plane->chart, series, k, &x, &y)) {
      draw_mark(out, series->colour, f->left + f->width * pawl_svg_axis_place(&plane->x, x),
                f->top + f->height * (1.0 - pawl_svg_axis_place(&plane->y, y)));
    }
  }
}

static void begin_line(PawlText* out, const PawlSeries* series) {
  bool dashed = series->style == PAWL_SERIES_DASHED;
  pawl_text_printf(out, "<path class=\"%s\" stroke=\"%s\" d=\"", dashed ? "expected" : "curve",
                   pawl_svg_palette(series->colour));
}

// As a curve of a run is drawn, long ones thinned.
static PawlStatus draw_line(PawlText* out, const Plane* plane, const PawlSeries* series,
                            PawlError* err) {
  const PawlColumn columns[] = {{"x", "", PAWL_COLUMN_TIME}, {"y", "", PAWL_COLUMN_OUTPUT}};
  PawlRecorder* points;
  PAWL_TRY(pawl_recorder_create(2, columns, (size_t)1 << 30, &points, err));
  PawlStatus status = PAWL_OK;
  for (int k = 0; status == PAWL_OK && k < series->count; k++) {
    double* p;
    status = pawl_recorder_add(points, &p, err);
    if (status == PAWL_OK && !point_of(plane->chart, series, k, &p[0], &p[1])) {
      p[0] = p[1] = NAN;
    }
  }
  if (status == PAWL_OK) {
    PawlSvgCurve curve = {.recorder = points, .column = 1};
    PawlText path = {0}, jumps = {0};
    pawl_svg_curve(&path, &jumps, &curve, &plane->frame);
    begin_line(out, series);
    pawl_text_add(out, path.s ? path.s : "");
    pawl_text_add(out, jumps.s ? jumps.s : "");
    pawl_text_add(out, "\"/>\n");
    out->failed = out->failed || path.failed || jumps.failed;
    pawl_text_free(&path);
    pawl_text_free(&jumps);
  }
  pawl_recorder_destroy(points);
  return status;
}

static bool has_line(const PawlSeries* series) {
  return series->style != PAWL_SERIES_MARKS;
}

static bool has_marks(const PawlSeries* series) {
  return series->style == PAWL_SERIES_MARKS || series->style == PAWL_SERIES_BOTH;
}

static void draw_legend(PawlText* out, const Plane* plane) {
  double x = plane->frame.left + plane->frame.width + LEGEND_SHIFT, y = plane->frame.top + 7.0;
  for (int i = 0; i < plane->chart->series_count; i++) {
    const PawlSeries* series = &plane->chart->series[i];
    if (!series->name) {
      continue;
    }
    if (has_line(series)) {
      begin_line(out, series);
      pawl_text_add(out, "M");
      pawl_svg_length(out, x);
      pawl_text_add(out, " ");
      pawl_svg_length(out, y);
      pawl_text_add(out, "h12\"/>\n");
    }
    if (has_marks(series)) {
      draw_mark(out, series->colour, x + 6.0, y);
    }
    pawl_svg_text_begin(out, "name", x + LEGEND_SAMPLE, y + 4.0);
    pawl_svg_escape(out, series->name, NAME_CHARACTERS);
    pawl_svg_text_end(out);
    y += PAWL_SVG_LINE;
  }
}

static double legend_width(const PawlChart* chart) {
  double width = 0.0;
  for (int i = 0; i < chart->series_count; i++) {
    const char* name = chart->series[i].name;
    double text = name ? pawl_svg_width(name, NAME_CHARACTERS, PAWL_SVG_FONT) : 0.0;
    width = name ? fmax(width, LEGEND_SHIFT + LEGEND_SAMPLE + text) : width;
  }
  return width;
}

static int legend_lines(const PawlChart* chart) {
  int count = 0;
  for (int i = 0; i < chart->series_count; i++) {
    count += chart->series[i].name != NULL;
  }
  return count;
}

// ---- the picture --------------------------------------------------------------------------------
static PawlStatus draw_chart(const Drawing* drawing, const PawlChart* chart, double left,
                             double top, PawlError* err) {
  Box box = range_of(chart);
  Plane plane = {.chart = chart};
  plane.x = axis_of(box.lo[0], box.hi[0], chart->x_log, (int)(drawing->width / 60.0));
  plane.y = axis_of(box.lo[1], box.hi[1], chart->y_log, (int)(drawing->height / 24.0));
  plane.frame =
      (PawlSvgFrame){&plane.x, &plane.y, left + LEFT, top + ABOVE, drawing->width, drawing->height};
  for (int d = 0; d < 2; d++) {
    if (d ? chart->x_log : chart->y_log) {
      draw_between(drawing->out, &plane, d == 1);
    }
  }
  draw_x_axis(drawing->out, &plane);
  draw_y_axis(drawing->out, &plane);
  draw_frame(drawing->out, &plane);
  for (int i = 0; i < chart->series_count; i++) {
    const PawlSeries* series = &chart->series[i];
    if (has_line(series)) {
      PAWL_TRY(draw_line(drawing->out, &plane, series, err));
    }
    if (has_marks(series)) {
      draw_marks(drawing->out, &plane, series);
    }
  }
  draw_legend(drawing->out, &plane);
  return PAWL_OK;
}

static void lay_out(Drawing* drawing) {
  const PawlChartDef* def = drawing->def;
  drawing->columns = def->columns < 1              ? 1
                     : def->columns < MOST_COLUMNS ? def->columns
                                                   : MOST_COLUMNS;
  drawing->rows = (def->chart_count + drawing->columns - 1) / drawing->columns;
  drawing->width = def->width > 0 ? def->width : PLANE_WIDTH;
  drawing->height = def->height > 0 ? def->height : PLANE_HEIGHT;
  for (int i = 0; i < def->chart_count; i++) {
    double* legend = &drawing->legend[i % drawing->columns];
    *legend = fmax(*legend, legend_width(&def->charts[i]));
    drawing->height = fmax(drawing->height, PAWL_SVG_LINE * legend_lines(&def->charts[i]));
  }
  drawing->head = (def->title ? 28.0 : 4.0) + (def->subtitle ? 16.0 : 0.0);
}

static double column_left(const Drawing* drawing, int column) {
  double left = 0.0;
  for (int k = 0; k < column; k++) {
    left += LEFT + drawing->width + drawing->legend[k] + GAP;
  }
  return left;
}

static void draw_head(const Drawing* drawing) {
  PawlText* out = drawing->out;
  double width = column_left(drawing, drawing->columns);
  double height = drawing->head + drawing->rows * (ABOVE + drawing->height + BELOW);
  pawl_text_add(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"");
  pawl_svg_attribute(out, "width", width);
  pawl_svg_attribute(out, "height", height);
  pawl_text_add(out, " viewBox=\"0 0 ");
  pawl_svg_length(out, width);
  pawl_text_add(out, " ");
  pawl_svg_length(out, height);
  pawl_text_add(out,
                "\">\n<style>\n"
                "text{font:11px Helvetica,Arial,sans-serif;fill:#333}\n"
                ".title{font-size:16px;font-weight:bold;fill:#111}\n"
                ".chart{font-size:12px;fill:#111}\n"
                ".small{fill:#666}\n"
                ".tick-y{text-anchor:end}\n"
                ".tick-x,.label{text-anchor:middle}\n"
                ".label{font-size:12px}\n"
                ".grid{stroke:#dedede;stroke-width:.8;fill:none}\n"
                ".fine{stroke:#f0f0f0;stroke-width:.6;fill:none}\n"
                ".frame{stroke:#999;stroke-width:.8;fill:none}\n"
                ".curve{stroke-width:1.5;stroke-linejoin:round;fill:none}\n"
                ".expected{stroke-width:.9;stroke-dasharray:5 3;fill:none}\n"
                "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
  if (drawing->def->title) {
    pawl_svg_text_begin(out, "title", 16.0, 22.0);
    pawl_svg_escape(out, drawing->def->title, TITLE_CHARACTERS);
    pawl_svg_text_end(out);
  }
  if (drawing->def->subtitle) {
    pawl_svg_text_begin(out, "small", 16.0, 38.0);
    pawl_svg_escape(out, drawing->def->subtitle, 2 * TITLE_CHARACTERS);
    pawl_svg_text_end(out);
  }
}

static PawlStatus draw(const PawlChartDef* def, PawlText* out, PawlError* err) {
  Drawing drawing = {.def = def, .out = out};
  lay_out(&drawing);
  draw_head(&drawing);
  for (int i = 0; i < def->chart_count; i++) {
    double top = drawing.head + (i / drawing.columns) * (ABOVE + drawing.height + BELOW);
    double left = column_left(&drawing, i % drawing.columns);
    PAWL_TRY(draw_chart(&drawing, &def->charts[i], left, top, err));
  }
  pawl_text_add(out, "</svg>\n");
  return out->failed ? pawl_fail_memory(err) : PAWL_OK;
}

PawlStatus pawl_chart_write(const PawlChartDef* def, const char* path, PawlError* err) {
  PawlText text = {0};
  PawlStatus status = draw(def, &text, err);
  status = status ? status : pawl_picture_write(&text, path, err);
  pawl_text_free(&text);
  return status;
}

PawlStatus pawl_chart_svg(const PawlChartDef* def, char** out, PawlError* err) {
  PawlText text = {0};
  *out = NULL;
  PawlStatus status = draw(def, &text, err);
  if (status != PAWL_OK) {
    pawl_text_free(&text);
    return status;
  }
  *out = text.s;
  return PAWL_OK;
}
