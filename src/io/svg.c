// SPDX-License-Identifier: Apache-2.0
// The drawing of a run, or of several: panels above each other over a common horizontal axis, each
// curve named at its right end, events as dashed lines through all panels with their names on top.
//
//   title, subtitle
//   labels of events
//   | y label | ticks | panel 1 | names of curves |
//   |         |       | panel 2 |                 |
//   |                 time axis                   |
#include "io/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/impacts.h"
#include "io/plot.h"

// Lengths in px.
static const double WIDTH = 840.0;
static const double LEAST_WIDTH = 320.0, MOST_SIZE = 20000.0;
static const double LEFT = 76.0;         // labels of the y axes
static const double NAMES_LEAST = 60.0;  // names of the curves
static const double NAMES_MOST = 190.0;
static const double NAMES_MARGIN = 8.0;
static const double PANEL_HEIGHT = 124.0;
static const double PANEL_LEAST = 48.0;
static const double PORTRAIT_HEIGHT = 420.0;
static const double PORTRAITS_HEIGHT = 260.0;  // of each, where there are several
static const double PANEL_GAP = 22.0;
enum { TITLE_CHARACTERS = 80, MANY_MARKS = 24 };

typedef struct Drawing {
  const PawlPlotDef* def;
  int run_count;
  const PawlRecorder* const* runs;
  const PawlRecorder* recorder;  // the first of them
  int x_column;                  // of each run, -1: samples are counted
  bool chosen;                   // the runs are tables of pawl_plot_table
  bool portrait;                 // the horizontal axis is not the time
  PawlText* out;
  int panel_count;
  int left_out;  // columns that no panel takes
  PawlSvgPanel panels[PAWL_SVG_PANELS];
  PawlSvgAxis x;
  PawlSvgMarks marks;
  double width;        // of all
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

static void x_range(const Drawing* drawing, double* lo, double* hi) {
  *lo = INFINITY;
  *hi = -INFINITY;
  for (int k = 0; k < drawing->run_count; k++) {
    const PawlRecorder* run = drawing->runs[k];
    for (int i = 0; i < pawl_recorder_sample_count(run); i++) {
      double x = drawing->x_column >= 0 ? pawl_recorder_sample(run, i)[drawing->x_column] : i;
      if (pawl_svg_finite(x)) {
        *lo = fmin(*lo, x);
        *hi = fmax(*hi, x);
      }
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
      double width = pawl_svg_width(panel->curves[j].name, PAWL_SVG_NAME, PAWL_SVG_FONT);
      widest = fmax(widest, width);
    }
    if (panel->total > panel->curve_count) {
      widest = fmax(widest, 100.0);
    }
  }
  return PAWL_SVG_NAME_SHIFT + fmin(widest, NAMES_MOST) + NAMES_MARGIN;
}

static bool has_factor(const PawlSvgAxis* axis) {
  return axis->exponent != 0 || axis->offset != 0.0;
}

static double usual_height(const Drawing* drawing) {
  return !drawing->portrait          ? PANEL_HEIGHT
         : drawing->panel_count == 1 ? PORTRAIT_HEIGHT
                                     : PORTRAITS_HEIGHT;
}

// The names of its curves have room beside a panel.
static double least_height(const PawlSvgPanel* panel) {
  return PAWL_SVG_LINE * (panel->curve_count + (panel->total > panel->curve_count)) + 4.0;
}

static const char* title(const Drawing* drawing) {
  return drawing->def->title ? drawing->def->title : fact(drawing->recorder, "model");
}

// What several runs have in common is not known.
static bool has_subtitle(const Drawing* drawing) {
  return drawing->run_count == 1 &&
         (fact(drawing->recorder, "method")[0] || fact(drawing->recorder, "step")[0]);
}

// Panels of `height`, or as much more as their names need.
static void place_panels(Drawing* drawing, double height) {
  double y = 20.0;
  y += title(drawing)[0] ? 18.0 : 0.0;
  y += has_subtitle(drawing) ? 18.0 : 0.0;
  y += PAWL_SVG_LINE * drawing->marks.rows;
  for (int i = 0; i < drawing->panel_count; i++) {
    PawlSvgPanel* panel = &drawing->panels[i];
    panel->height = fmax(height, least_height(panel));
    panel->axis = pawl_svg_axis(panel->lo, panel->hi, 0.05, (int)(panel->height / 19.0));
    y += i == 0 && has_factor(&panel->axis) ? PAWL_SVG_LINE : 0.0;
    panel->top = y;
    y += panel->height + PANEL_GAP;
  }
  drawing->top = drawing->panel_count > 0 ? drawing->panels[0].top : y;
  drawing->bottom = y - PANEL_GAP;
  drawing->height = y + 24.0 + (drawing->left_out > 0 ? PAWL_SVG_LINE : 0.0);
}

// The height that makes the drawing as high as wished, found by halving: names and ticks have a
// say.
static PawlStatus fit_height(Drawing* drawing, PawlError* err) {
  double wanted = drawing->def->height, low = PANEL_LEAST, high = wanted;
  place_panels(drawing, low);
  if (drawing->height > wanted) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "plot: a height of %d px is too small for %d panel%s, which need %.0f px",
                     drawing->def->height, drawing->panel_count,
                     drawing->panel_count == 1 ? "" : "s", ceil(drawing->height));
  }
  while (high - low > 0.01) {
    double middle = 0.5 * (low + high);
    place_panels(drawing, middle);
    *(drawing->height > wanted ? &high : &low) = middle;
  }
  place_panels(drawing, low);
  drawing->height = wanted;
  return PAWL_OK;
}

static PawlStatus check_size(const Drawing* drawing, PawlError* err) {
  if (drawing->width < LEAST_WIDTH || drawing->width > MOST_SIZE ||
      drawing->def->height > MOST_SIZE || drawing->def->height < 0) {
    return pawl_fail(
        err, PAWL_ERROR_USAGE,
        "plot: %d x %d px; a width of %.0f to %.0f and a height up to that can be drawn",
        drawing->def->width, drawing->def->height, LEAST_WIDTH, MOST_SIZE);
  }
  return PAWL_OK;
}

static PawlStatus lay_out(Drawing* drawing, PawlError* err) {
  double lo, hi;
  drawing->width = drawing->def->width ? drawing->def->width : WIDTH;
  PAWL_TRY(check_size(drawing, err));
  x_range(drawing, &lo, &hi);
  drawing->plot_width = drawing->width - LEFT - names_width(drawing);
  int ticks = (int)(drawing->plot_width / 70.0);
  drawing->x = pawl_svg_axis(lo, hi, drawing->portrait ? 0.05 : 0.0, ticks < 2 ? 2 : ticks);
  if (drawing->run_count == 1 && !drawing->portrait) {
    pawl_svg_marks(drawing->recorder, &drawing->x, LEFT, drawing->plot_width, drawing->width - 6.0,
                   &drawing->marks);
  }
  if (drawing->def->height > 0 && drawing->panel_count > 0) {
    return fit_height(drawing, err);
  }
  place_panels(drawing, usual_height(drawing));
  return PAWL_OK;
}

// --- Parts

static void draw_head(const Drawing* drawing) {
  PawlText* out = drawing->out;
  pawl_text_add(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"");
  pawl_svg_attribute(out, "width", drawing->width);
  pawl_svg_attribute(out, "height", drawing->height);
  pawl_text_add(out, " viewBox=\"0 0 ");
  pawl_svg_length(out, drawing->width);
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
                ".jump{stroke-width:.7;fill:none}\n"
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
  if (events > drawing->marks.labelled && !drawing->portrait) {
    pawl_text_printf(out, ", %d events, %d labelled", events, drawing->marks.labelled);
  }
  pawl_svg_text_end(out);
}

static void draw_title(const Drawing* drawing) {
  PawlText* out = drawing->out;
  double y = 8.0;
  if (title(drawing)[0]) {
    y += 18.0;
    pawl_svg_text_begin(out, "title", LEFT, y);
    pawl_svg_escape(out, title(drawing), TITLE_CHARACTERS);
    pawl_svg_text_end(out);
  }
  if (has_subtitle(drawing)) {
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
    case PAWL_COLUMN_STATE:
      return "states";
    case PAWL_COLUMN_INPUT:
      return "inputs";
    default:
      return "outputs";
  }
}

static const char* quantity(const PawlSvgCurve* curve) {
  return pawl_recorder_column(curve->recorder, curve->column)->name;
}

// lambda(pin,1) and lambda(pin,2) are lambda(pin); u[0]' and u[1]' are u'.
static bool add_family(PawlText* out, const PawlSvgPanel* panel) {
  const char* first = quantity(&panel->curves[0]);
  size_t stem = strcspn(first, "[,");
  for (int i = 1; i < panel->curve_count; i++) {
    if (strncmp(first, quantity(&panel->curves[i]), stem + 1) != 0) {
      return false;
    }
  }
  const char* end = strchr(first, first[stem] == '[' ? ']' : ')');
  if (panel->curve_count < 2 || !first[stem] || !end) {
    return false;
  }
  char name[PAWL_SVG_NAME + 1];
  snprintf(name, sizeof name, "%.*s%s", (int)stem, first, first[stem] == '[' ? end + 1 : end);
  pawl_svg_escape(out, name, PAWL_SVG_NAME);
  return true;
}

// The names of the quantities of a chosen panel, each once, as far as there is room.
static void add_quantities(PawlText* out, const PawlSvgPanel* panel) {
  int room = (int)(panel->height / (0.6 * PAWL_SVG_FONT)) - 8;
  const char* last = "";
  if (!panel->compares && add_family(out, panel)) {
    return;
  }
  for (int i = 0; i < panel->curve_count; i++) {
    const char* name = quantity(&panel->curves[i]);
    if (strcmp(name, last) == 0) {
      continue;
    }
    room -= (int)strlen(name) + 2;
    if (i > 0 && room < 0) {
      pawl_text_add(out, ", \u2026");
      return;
    }
    pawl_text_add(out, i > 0 ? ", " : "");
    pawl_svg_escape(out, name, PAWL_SVG_NAME);
    last = name;
  }
}

// The label of a y axis: the kind, or what was chosen, with the unit.
static void draw_y_label(const Drawing* drawing, const PawlSvgPanel* panel) {
  PawlText* out = drawing->out;
  double x = 16.0, y = panel->top + 0.5 * panel->height;
  pawl_text_add(out, "<text class=\"label\" transform=\"translate(");
  pawl_svg_length(out, x);
  pawl_text_add(out, " ");
  pawl_svg_length(out, y);
  pawl_text_add(out, ")rotate(-90)\">");
  if (drawing->chosen) {
    add_quantities(out, panel);
  } else {
    pawl_text_add(out, kind_title(panel->kind));
  }
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
  const PawlColumn* column = pawl_recorder_column(drawing->recorder, drawing->x_column);
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

// Where a phase portrait begins.
static void draw_start(const Drawing* drawing, const PawlSvgCurve* curve, const PawlSvgFrame* frame,
                       const char* colour) {
  const double* sample = pawl_recorder_sample(curve->recorder, 0);
  double x = sample ? sample[curve->x] : NAN, y = sample ? sample[curve->column] : NAN;
  if (!pawl_svg_finite(x) || !pawl_svg_finite(y)) {
    return;
  }
  pawl_text_add(drawing->out, "<circle r=\"3.5\"");
  pawl_svg_attribute(drawing->out, "cx",
                     frame->left + frame->width * pawl_svg_axis_place(frame->x, x));
  pawl_svg_attribute(drawing->out, "cy",
                     frame->top + frame->height * (1.0 - pawl_svg_axis_place(frame->y, y)));
  pawl_text_printf(drawing->out, " fill=\"%s\"><title>start</title></circle>\n", colour);
}

static void draw_path(PawlText* out, const char* class_name, const char* look, const PawlText* path,
                      const char* name) {
  if (path->s) {
    pawl_text_printf(out, "<path class=\"%s\" %s d=\"%s\"", class_name, look, path->s);
    if (name) {
      pawl_text_add(out, "><title>");
      pawl_svg_escape(out, name, 1000);
      pawl_text_add(out, "</title></path>\n");
    } else {
      pawl_text_add(out, "/>\n");
    }
  }
  out->failed = out->failed || path->failed;
}

static void draw_curves(const Drawing* drawing, const PawlSvgPanel* panel) {
  PawlSvgFrame frame = frame_of(drawing, panel);
  for (int i = 0; i < panel->curve_count; i++) {
    const PawlSvgCurve* curve = &panel->curves[i];
    const char* colour = pawl_svg_colour(panel, i);
    PawlText path = {0}, jumps = {0};
    pawl_svg_curve(&path, &jumps, curve, &frame);
    char look[80];
    snprintf(look, sizeof look, "stroke=\"%s\"%s", colour, pawl_svg_dash(panel, i));
    draw_path(drawing->out, "jump", look, &jumps, NULL);
    draw_path(drawing->out, "curve", look, &path, curve->name);
    if (drawing->portrait) {
      draw_start(drawing, curve, &frame, colour);
    }
    pawl_text_free(&jumps);
    pawl_text_free(&path);
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

// Of several runs: no labels, in the colour of the run.
static void draw_run_marks(Drawing* drawing) {
  PawlSvgPanel colours = {.kind = PAWL_COLUMN_OUTPUT,
                          .kind_total = drawing->run_count,
                          .curve_count = drawing->run_count};
  for (int k = 0; k < drawing->run_count; k++) {
    PawlSvgMarks* marks = &drawing->marks;
    colours.curves[k].rank = k;
    pawl_svg_marks(drawing->runs[k], &drawing->x, LEFT, drawing->plot_width, drawing->width, marks);
    for (int i = 0; i < marks->count; i++) {
      pawl_text_printf(drawing->out, "<path class=\"event many\" style=\"stroke:%s\" d=\"M",
                       pawl_svg_colour(&colours, k));
      pawl_svg_length(drawing->out, marks->marks[i].x);
      pawl_text_add(drawing->out, " ");
      pawl_svg_length(drawing->out, drawing->top);
      pawl_text_add(drawing->out, "V");
      pawl_svg_length(drawing->out, drawing->bottom);
      pawl_text_add(drawing->out, "\"/>\n");
    }
  }
}

static void draw_panels(Drawing* drawing) {
  for (int i = 0; i < drawing->panel_count; i++) {
    draw_time_grid(drawing, &drawing->panels[i]);
    draw_y_axis(drawing, &drawing->panels[i]);
    draw_y_label(drawing, &drawing->panels[i]);
    draw_frame(drawing, &drawing->panels[i]);
  }
  if (drawing->panel_count > 0) {
    draw_marks(drawing);
    draw_time_axis(drawing);
  }
  if (drawing->panel_count > 0 && drawing->run_count > 1 && !drawing->portrait) {
    draw_run_marks(drawing);
  }
  for (int i = 0; i < drawing->panel_count; i++) {
    draw_curves(drawing, &drawing->panels[i]);
    PawlSvgFrame frame = frame_of(drawing, &drawing->panels[i]);
    pawl_svg_names(drawing->out, &drawing->panels[i], &frame);
  }
}

static PawlStatus draw(Drawing* drawing, PawlError* err) {
  PAWL_TRY(lay_out(drawing, err));
  draw_head(drawing);
  draw_title(drawing);
  draw_panels(drawing);
  if (drawing->panel_count == 0) {
    pawl_svg_text_begin(drawing->out, "label", 0.5 * drawing->width, drawing->height - 20.0);
    pawl_text_add(drawing->out, "nothing was recorded that can be drawn");
    pawl_svg_text_end(drawing->out);
  }
  if (drawing->left_out > 0) {
    pawl_svg_text_begin(drawing->out, "small", LEFT, drawing->height - 6.0);
    pawl_text_printf(drawing->out, "%d more columns are not drawn", drawing->left_out);
    pawl_svg_text_end(drawing->out);
  }
  pawl_text_add(drawing->out, "</svg>\n");
  return drawing->out->failed ? pawl_fail_memory(err) : PAWL_OK;
}

// --- Plots

PawlPlotDef pawl_plot_def_default(void) {
  return (PawlPlotDef){.from = -INFINITY, .to = INFINITY};
}

static PawlStatus check_window(const PawlPlotDef* def, PawlError* err) {
  return def->from < def->to
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_USAGE, "plot: the window from %.10g s to %.10g s is empty",
                         def->from, def->to);
}

PawlStatus pawl_plot_check(const PawlPlotDef* def, const PawlRecorder* recorder, PawlError* err) {
  PawlRecorder* table;
  PawlPlotDef whole = *def;  // a run that has only begun may not have come to the window
  whole.from = -INFINITY;
  whole.to = INFINITY;
  PAWL_TRY(check_window(def, err));
  PAWL_TRY(pawl_plot_table(&whole, recorder, &table, err));
  pawl_recorder_destroy(table);
  return PAWL_OK;
}

// The usual picture of one run needs no table of its own.
static PawlStatus draw_usual(const PawlPlotDef* def, const PawlRecorder* const* run, PawlText* out,
                             PawlError* err) {
  Drawing drawing = {.def = def, .run_count = 1, .runs = run, .recorder = run[0], .out = out};
  drawing.x_column = pawl_svg_time_column(run[0]);
  PAWL_TRY(pawl_svg_panels(run[0], drawing.panels, &drawing.panel_count, &drawing.left_out, err));
  return draw(&drawing, err);
}

static PawlStatus draw_chosen(const PawlPlotDef* def, int count, const PawlRecorder* const* tables,
                              const char* const* names, PawlText* out, PawlError* err) {
  Drawing drawing = {.def = def,
                     .run_count = count,
                     .runs = tables,
                     .recorder = tables[0],
                     .chosen = true,
                     .portrait = def->x != NULL,
                     .out = out};
  drawing.x_column = def->x ? PAWL_PLOT_X : PAWL_PLOT_TIME;
  pawl_svg_panels_chosen(count, tables, count > 1 ? names : NULL, drawing.panels,
                         &drawing.panel_count, &drawing.left_out);
  return draw(&drawing, err);
}

// A window alone leaves the choice of panels as it is.
static PawlStatus draw_one(const PawlPlotDef* def, const PawlRecorder* const* table, PawlText* out,
                           PawlError* err) {
  return def->x || def->y ? draw_chosen(def, 1, table, NULL, out, err)
                          : draw_usual(def, table, out, err);
}

PawlStatus pawl_svg_plot(const PawlPlotDef* def, int count, const PawlRecorder* const* runs,
                         const char* const* names, PawlText* out, PawlError* err) {
  PawlRecorder* tables[PAWL_PLOT_RUNS] = {0};
  const PawlRecorder* shown[PAWL_PLOT_RUNS] = {0};
  PAWL_TRY(check_window(def, err));
  if (count < 1 || count > PAWL_PLOT_RUNS) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "plot: %d runs; 1 to %d can be drawn", count,
                     PAWL_PLOT_RUNS);
  }
  bool whole = !def->y && !def->x && isinf(def->from) && isinf(def->to);
  if (count == 1 && whole && !pawl_impacts_any(runs[0])) {
    return draw_usual(def, runs, out, err);
  }
  PawlStatus status = PAWL_OK;
  for (int k = 0; status == PAWL_OK && k < count; k++) {
    status = pawl_plot_table(def, runs[k], &tables[k], err);
    shown[k] = tables[k];
  }
  if (status == PAWL_OK) {
    status = count == 1 ? draw_one(def, shown, out, err)
                        : draw_chosen(def, count, shown, names, out, err);
  }
  for (int k = 0; k < count; k++) {
    pawl_recorder_destroy(tables[k]);
  }
  return status;
}
