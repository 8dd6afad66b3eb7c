// SPDX-License-Identifier: Apache-2.0
// The drawing of a run: panels above each other over a common time axis, each curve named at its
// right end, events as dashed lines through all panels with their names on top.
//
//   title, subtitle
//   labels of events
//   | y label | ticks | panel 1 | names of curves |
//   |         |       | panel 2 |                 |
//   |                 time axis                   |
#include "io/svg.h"

#include <math.h>
#include <string.h>

#include "io/file.h"
#include "pawl/report.h"

// Lengths in px.
static const double WIDTH = 840.0;
static const double LEFT = 76.0;         // labels of the y axes
static const double NAMES_LEAST = 60.0;  // names of the curves
static const double NAMES_MOST = 190.0;
static const double PANEL_HEIGHT = 124.0;
static const double PANEL_GAP = 22.0;
enum { TITLE_CHARACTERS = 80, MANY_MARKS = 24 };

typedef struct Drawing {
  const PawlRecorder* recorder;
  PawlText* out;
  int panel_count;
  int left_out;  // columns that no panel takes
  PawlSvgPanel panels[PAWL_SVG_PANELS];
  PawlSvgAxis x;
  PawlSvgMarks marks;
  double plot_width;   // of each panel
  double top, bottom;  // of the panels together
  double height;
} Drawing;

static const char* fact(const PawlRecorder* recorder, const char* name) {
  for (int i = 0; pawl_recorder_fact_name(recorder, i); i++) {
    if (strcmp(pawl_recorder_fact_name(recorder, i), name) == 0) {
      return pawl_recorder_fact_value(recorder, i);
    }
  }
  return "";
}

// --- Layout

static void time_range(const PawlRecorder* recorder, double* lo, double* hi) {
  int samples = pawl_recorder_sample_count(recorder);
  int time = pawl_svg_time_column(recorder);
  *lo = INFINITY;
  *hi = -INFINITY;
  for (int i = 0; i < samples; i++) {
    double t = time >= 0 ? pawl_recorder_sample(recorder, i)[time] : i;
    if (pawl_svg_finite(t)) {
      *lo = fmin(*lo, t);
      *hi = fmax(*hi, t);
    }
  }
  if (*lo > *hi) {
    *lo = 0.0;
    *hi = 1.0;
  }
}

static double names_width(const Drawing* drawing) {
  double widest = NAMES_LEAST;
  for (int i = 0; i < drawing->panel_count; i++) {
    const PawlSvgPanel* panel = &drawing->panels[i];
    for (int j = 0; j < panel->curve_count; j++) {
      const PawlColumn* column = pawl_recorder_column(drawing->recorder, panel->curves[j].column);
      widest = fmax(widest, pawl_svg_width(column->name, PAWL_SVG_NAME, PAWL_SVG_FONT));
    }
    if (panel->total > panel->curve_count) {
      widest = fmax(widest, 100.0);
    }
  }
  return PAWL_SVG_NAME_SHIFT + fmin(widest, NAMES_MOST);
}

static bool has_factor(const PawlSvgAxis* axis) {
  return axis->exponent != 0 || axis->offset != 0.0;
}

static void lay_out(Drawing* drawing) {
  double lo, hi;
  time_range(drawing->recorder, &lo, &hi);
  drawing->plot_width = WIDTH - LEFT - names_width(drawing);
  drawing->x = pawl_svg_axis(lo, hi, 0.0, 8);
  pawl_svg_marks(drawing->recorder, &drawing->x, LEFT, drawing->plot_width, WIDTH - 6.0,
                 &drawing->marks);
  double y = 20.0;
  y += fact(drawing->recorder, "model")[0] ? 18.0 : 0.0;
  y += fact(drawing->recorder, "method")[0] || fact(drawing->recorder, "step")[0] ? 18.0 : 0.0;
  y += PAWL_SVG_LINE * drawing->marks.rows;
  for (int i = 0; i < drawing->panel_count; i++) {
    PawlSvgPanel* panel = &drawing->panels[i];
    double names = PAWL_SVG_LINE * (panel->curve_count + (panel->total > panel->curve_count)) + 4.0;
    panel->height = fmax(PANEL_HEIGHT, names);
    panel->axis = pawl_svg_axis(panel->lo, panel->hi, 0.05, (int)(panel->height / 19.0));
    y += i == 0 && has_factor(&panel->axis) ? PAWL_SVG_LINE : 0.0;
    panel->top = y;
    y += panel->height + PANEL_GAP;
  }
  drawing->top = drawing->panel_count > 0 ? drawing->panels[0].top : y;
  drawing->bottom = y - PANEL_GAP;
  drawing->height = y + 24.0 + (drawing->left_out > 0 ? PAWL_SVG_LINE : 0.0);
}

// --- Parts

static void draw_head(const Drawing* drawing) {
  PawlText* out = drawing->out;
  pawl_text_add(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"");
  pawl_svg_attribute(out, "width", WIDTH);
  pawl_svg_attribute(out, "height", drawing->height);
  pawl_text_add(out, " viewBox=\"0 0 ");
  pawl_svg_length(out, WIDTH);
  pawl_text_add(out, " ");
  pawl_svg_length(out, drawing->height);
  pawl_text_add(out,
                "\">\n<style>\n"
                "text{font:11px Helvetica,Arial,sans-serif;fill:#333}\n"
                ".title{font-size:16px;font-weight:bold;fill:#111}\n"
                ".small{fill:#666}\n"
                ".tick-y,.factor{text-anchor:end}\n"
                ".tick-x,.label{text-anchor:middle}\n"
                ".label{font-size:12px}\n"
                ".factor{fill:#666}\n"
                ".grid{stroke:#e4e4e4;stroke-width:.8;fill:none}\n"
                ".frame{stroke:#999;stroke-width:.8;fill:none}\n"
                ".event{stroke:#777;stroke-width:.9;stroke-dasharray:3 3;fill:none}\n"
                ".many{stroke-opacity:.5}\n"
                ".curve{stroke-width:1.6;stroke-linejoin:round;stroke-linecap:round;fill:none}\n"
                ".leader{stroke-width:1.6;fill:none}\n"
                "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

// "nsga-pvv, step 0.002 s, 37 events, 5 of them labelled"
static void draw_subtitle(const Drawing* drawing, double y) {
  PawlText* out = drawing->out;
  const char* method = fact(drawing->recorder, "method");
  const char* step = fact(drawing->recorder, "step");
  int events = pawl_recorder_event_count(drawing->recorder);
  pawl_svg_text_begin(out, "small", LEFT, y);
  pawl_svg_escape(out, method, TITLE_CHARACTERS);
  if (step[0]) {
    char last = step[strlen(step) - 1];
    pawl_text_add(out, method[0] ? ", step " : "step ");
    pawl_svg_escape(out, step, TITLE_CHARACTERS);
    pawl_text_add(out, last >= '0' && last <= '9' ? " s" : "");
  }
  if (events > drawing->marks.labelled) {
    pawl_text_printf(out, ", %d events, %d labelled", events, drawing->marks.labelled);
  }
  pawl_svg_text_end(out);
}

static void draw_title(const Drawing* drawing) {
  PawlText* out = drawing->out;
  const char* model = fact(drawing->recorder, "model");
  double y = 8.0;
  if (model[0]) {
    y += 18.0;
    pawl_svg_text_begin(out, "title", LEFT, y);
    pawl_svg_escape(out, model, TITLE_CHARACTERS);
    pawl_svg_text_end(out);
  }
  if (fact(drawing->recorder, "method")[0] || fact(drawing->recorder, "step")[0]) {
    draw_subtitle(drawing, y + 18.0);
  }
}

static const char* kind_title(PawlColumnKind kind) {
  switch (kind) {
    case PAWL_COLUMN_COORDINATE:
      return "coordinates";
    case PAWL_COLUMN_RATE:
      return "rates";
    case PAWL_COLUMN_ENERGY:
      return "energies";
    case PAWL_COLUMN_MULTIPLIER:
      return "multipliers";
    case PAWL_COLUMN_PATH:
      return "path z";
    case PAWL_COLUMN_CORRECTION:
      return "corrections";
    default:
      return "outputs";
  }
}

// The label of a y axis: the one curve's name or the kind, with the unit.
static void draw_y_label(const Drawing* drawing, const PawlSvgPanel* panel) {
  PawlText* out = drawing->out;
  double x = 16.0, y = panel->top + 0.5 * panel->height;
  pawl_text_add(out, "<text class=\"label\" transform=\"translate(");
  pawl_svg_length(out, x);
  pawl_text_add(out, " ");
  pawl_svg_length(out, y);
  pawl_text_add(out, ")rotate(-90)\">");
  pawl_text_add(out, kind_title(panel->kind));
  if (panel->unit[0]) {
    pawl_text_add(out, " [");
    pawl_svg_escape(out, panel->unit, 12);
    pawl_text_add(out, "]");
  }
  pawl_svg_text_end(out);
}

static void draw_y_axis(const Drawing* drawing, const PawlSvgPanel* panel) {
  PawlText* out = drawing->out;
  const PawlSvgAxis* axis = &panel->axis;
  for (int k = axis->first; k <= axis->last; k++) {
    double y = panel->top + panel->height * (1.0 - pawl_svg_axis_tick(axis, k));
    pawl_svg_line(out, "grid", LEFT, y, LEFT + drawing->plot_width, y);
    pawl_svg_text_begin(out, "tick-y", LEFT - 6.0, y + 4.0);
    pawl_svg_axis_label(out, axis, k);
    pawl_svg_text_end(out);
  }
  if (has_factor(axis)) {
    pawl_svg_text_begin(out, axis->offset != 0.0 ? "small" : "factor",
                        axis->offset != 0.0 ? 24.0 : LEFT - 6.0, panel->top - 8.0);
    pawl_svg_axis_factor(out, axis);
    pawl_svg_text_end(out);
  }
}

static void draw_time_grid(const Drawing* drawing, const PawlSvgPanel* panel) {
  for (int k = drawing->x.first; k <= drawing->x.last; k++) {
    double x = LEFT + drawing->plot_width * pawl_svg_axis_tick(&drawing->x, k);
    pawl_svg_line(drawing->out, "grid", x, panel->top, x, panel->top + panel->height);
  }
}

static void draw_time_axis(const Drawing* drawing) {
  PawlText* out = drawing->out;
  for (int k = drawing->x.first; k <= drawing->x.last; k++) {
    double x = LEFT + drawing->plot_width * pawl_svg_axis_tick(&drawing->x, k);
    pawl_svg_text_begin(out, "tick-x", x, drawing->bottom + 15.0);
    pawl_svg_axis_label(out, &drawing->x, k);
    pawl_svg_text_end(out);
  }
  int time = pawl_svg_time_column(drawing->recorder);
  const PawlColumn* column = time >= 0 ? pawl_recorder_column(drawing->recorder, time) : NULL;
  pawl_svg_text_begin(out, "label", LEFT + 0.5 * drawing->plot_width, drawing->bottom + 33.0);
  pawl_svg_escape(out, column ? column->name : "sample", PAWL_SVG_NAME);
  if (column && column->unit[0]) {
    pawl_text_add(out, " [");
    pawl_svg_escape(out, column->unit, PAWL_SVG_NAME);
    pawl_text_add(out, "]");
  }
  if (has_factor(&drawing->x)) {
    pawl_text_add(out, "  ");
    pawl_svg_axis_factor(out, &drawing->x);
  }
  pawl_svg_text_end(out);
}

static void draw_frame(const Drawing* drawing, const PawlSvgPanel* panel) {
  PawlText* out = drawing->out;
  pawl_text_add(out, "<rect class=\"frame\"");
  pawl_svg_attribute(out, "x", LEFT);
  pawl_svg_attribute(out, "y", panel->top);
  pawl_svg_attribute(out, "width", drawing->plot_width);
  pawl_svg_attribute(out, "height", panel->height);
  pawl_text_add(out, "/>\n");
}

static PawlSvgFrame frame_of(const Drawing* drawing, const PawlSvgPanel* panel) {
  return (PawlSvgFrame){&drawing->x, &panel->axis,        LEFT,
                        panel->top,  drawing->plot_width, panel->height};
}

static void draw_curves(const Drawing* drawing, const PawlSvgPanel* panel) {
  PawlText* out = drawing->out;
  PawlSvgFrame frame = frame_of(drawing, panel);
  for (int i = 0; i < panel->curve_count; i++) {
    int column = panel->curves[i].column;
    pawl_text_printf(out, "<path class=\"curve\" stroke=\"%s\" d=\"", pawl_svg_colour(panel, i));
    pawl_svg_curve(out, drawing->recorder, column, &frame);
    pawl_text_add(out, "\"><title>");
    pawl_svg_escape(out, pawl_recorder_column(drawing->recorder, column)->name, 1000);
    pawl_text_add(out, "</title></path>\n");
  }
}

// --- Events

static void draw_marks(const Drawing* drawing) {
  PawlText* out = drawing->out;
  const PawlSvgMarks* marks = &drawing->marks;
  const char* class = marks->count > MANY_MARKS ? "event many" : "event";
  double lowest = drawing->top - (has_factor(&drawing->panels[0].axis) ? PAWL_SVG_LINE : 0.0) - 6.0;
  for (int i = 0; i < marks->count; i++) {
    const PawlSvgMark* mark = &marks->marks[i];
    double label = lowest - PAWL_SVG_LINE * mark->row;
    pawl_svg_line(out, class, mark->x, mark->row < 0 ? drawing->top : label - 8.0, mark->x,
                  drawing->bottom);
    if (mark->row >= 0) {
      pawl_svg_text_begin(out, "small", mark->x + 4.0, label);
      pawl_svg_mark_label(out, pawl_recorder_event(drawing->recorder, mark->event),
                          mark->label_limit);
      pawl_svg_text_end(out);
    }
  }
}

static void draw(Drawing* drawing) {
  lay_out(drawing);
  draw_head(drawing);
  draw_title(drawing);
  for (int i = 0; i < drawing->panel_count; i++) {
    draw_time_grid(drawing, &drawing->panels[i]);
    draw_y_axis(drawing, &drawing->panels[i]);
    draw_y_label(drawing, &drawing->panels[i]);
    draw_frame(drawing, &drawing->panels[i]);
  }
  if (drawing->panel_count > 0) {
    draw_marks(drawing);
    draw_time_axis(drawing);
  } else {
    pawl_svg_text_begin(drawing->out, "label", 0.5 * WIDTH, drawing->height - 20.0);
    pawl_text_add(drawing->out, "nothing was recorded that can be drawn");
    pawl_svg_text_end(drawing->out);
  }
  for (int i = 0; i < drawing->panel_count; i++) {
    draw_curves(drawing, &drawing->panels[i]);
    PawlSvgFrame frame = frame_of(drawing, &drawing->panels[i]);
    pawl_svg_names(drawing->out, drawing->recorder, &drawing->panels[i], &frame);
  }
  if (drawing->left_out > 0) {
    pawl_svg_text_begin(drawing->out, "small", LEFT, drawing->height - 6.0);
    pawl_text_printf(drawing->out, "%d more columns are not drawn", drawing->left_out);
    pawl_svg_text_end(drawing->out);
  }
  pawl_text_add(drawing->out, "</svg>\n");
}

static PawlStatus write_text(const PawlText* text, const char* path, PawlError* err) {
  if (text->failed) {
    return pawl_fail_memory(err);
  }
  PawlFile file;
  PAWL_TRY(pawl_file_open(&file, path, err));
  return pawl_file_close(&file, pawl_file_write(&file, text->s, text->length, err), err);
}

PawlStatus pawl_write_svg(const PawlRecorder* recorder, const char* path, PawlError* err) {
  PawlText text = {0};
  Drawing drawing = {.recorder = recorder, .out = &text};
  PAWL_TRY(pawl_svg_panels(recorder, drawing.panels, &drawing.panel_count, &drawing.left_out, err));
  draw(&drawing);
  PawlStatus status = write_text(&text, path, err);
  pawl_text_free(&text);
  return status;
}
