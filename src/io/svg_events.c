// SPDX-License-Identifier: Apache-2.0
// Where the events of a run are marked and which of them have room for a label.
// Labels stand to the right of their line, in rows. A line passes all rows below its own label, so
// a label may take row r only if rows 0 .. r are free at its line; the first labels of a crowd take
// the higher rows and leave the lower ones to those that follow.
#include <math.h>
#include <string.h>

#include "io/svg.h"

enum { LABEL_CHARACTERS = 40, SHORTEST_LABEL = 8 };
static const double CROWDED = 3.0;      // lines as near as this [px]
static const double LABEL_GAP = 8.0;    // between labels of one row [px]
static const double LABEL_SHIFT = 4.0;  // from the line to its label [px]

void pawl_svg_mark_label(PawlText* text, const PawlEvent* event, int limit) {
  PawlText whole = {0};
  pawl_text_add(&whole, event->constraint);
  if (event->from[0] || event->to[0]) {
    pawl_text_printf(&whole, "%s%s \u2192 %s", event->constraint[0] ? ": " : "", event->from,
                     event->to);
  }
  if (whole.s) {
    pawl_svg_escape(text, whole.s, limit);
  }
  text->failed = text->failed || whole.failed;
  pawl_text_free(&whole);
}

static double label_width(const PawlEvent* event) {
  double words = pawl_svg_width(event->constraint, LABEL_CHARACTERS, PAWL_SVG_FONT) +
                 pawl_svg_width(event->from, LABEL_CHARACTERS, PAWL_SVG_FONT) +
                 pawl_svg_width(event->to, LABEL_CHARACTERS, PAWL_SVG_FONT);
  double most = 0.63 * LABEL_CHARACTERS * PAWL_SVG_FONT;
  return fmin(words + 3.0 * PAWL_SVG_FONT, most);  // ": " and the arrow
}

static bool same_words(const PawlEvent* a, const PawlEvent* b) {
  return strcmp(a->constraint, b->constraint) == 0 && strcmp(a->from, b->from) == 0 &&
         strcmp(a->to, b->to) == 0;
}

// Does the event say nothing new so close to the marks before it?
static bool crowded(const PawlRecorder* recorder, const PawlSvgMarks* marks, double x, int event) {
  if (marks->count == 0) {
    return false;
  }
  const PawlSvgMark* last = &marks->marks[marks->count - 1];
  bool repeated =
      same_words(pawl_recorder_event(recorder, event), pawl_recorder_event(recorder, last->event));
  if (repeated && fabs(x - last->x) < CROWDED) {
    return true;
  }
  return marks->count >= PAWL_SVG_EVENT_ROWS &&
         fabs(x - marks->marks[marks->count - PAWL_SVG_EVENT_ROWS].x) < CROWDED;
}

static void place_lines(const PawlRecorder* recorder, const PawlSvgAxis* axis, double left,
                        double width, PawlSvgMarks* marks) {
  int events = pawl_recorder_event_count(recorder);
  for (int i = 0; i < events && marks->count < PAWL_SVG_MARKS; i++) {
    const PawlEvent* event = pawl_recorder_event(recorder, i);
    double place = pawl_svg_finite(event->t) ? pawl_svg_axis_place(axis, event->t) : -1.0;
    double x = left + width * place;
    if (place >= 0.0 && place <= 1.0 && !crowded(recorder, marks, x, i)) {
      marks->marks[marks->count++] = (PawlSvgMark){x, i, -1, LABEL_CHARACTERS};
    }
  }
}

// How many of the marks after `index` have their line below a label that ends at `end`.
static int followers(const PawlSvgMarks* marks, int index, double end) {
  int count = 0;
  for (int i = index + 1; i < marks->count && marks->marks[i].x < end; i++) {
    count++;
  }
  return count;
}

static void place_label(const PawlRecorder* recorder, PawlSvgMarks* marks, int index, double right,
                        double row_end[]) {
  PawlSvgMark* mark = &marks->marks[index];
  int open = 0;  // rows 0 .. open - 1 are free at the line
  while (open < PAWL_SVG_EVENT_ROWS && row_end[open] <= mark->x) {
    open++;
  }
  double start = mark->x + LABEL_SHIFT;
  double wanted = label_width(pawl_recorder_event(recorder, mark->event));
  if (start + wanted > right) {
    mark->label_limit = (int)((right - start) / (0.63 * PAWL_SVG_FONT));
  }
  if (open == 0 || mark->label_limit < SHORTEST_LABEL) {
    return;
  }
  double end = fmin(start + wanted, right) + LABEL_GAP;
  int crowd = followers(marks, index, end);
  mark->row = crowd < open ? crowd : open - 1;
  row_end[mark->row] = end;
  marks->rows = mark->row + 1 > marks->rows ? mark->row + 1 : marks->rows;
  marks->labelled++;
}

void pawl_svg_marks(const PawlRecorder* recorder, const PawlSvgAxis* x, double left, double width,
                    double right, PawlSvgMarks* marks) {
  marks->count = marks->labelled = marks->rows = 0;
  place_lines(recorder, x, left, width, marks);
  double row_end[PAWL_SVG_EVENT_ROWS] = {0.0};
  for (int i = 0; i < marks->count; i++) {
    place_label(recorder, marks, i, right, row_end);
  }
}
