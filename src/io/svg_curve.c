// SPDX-License-Identifier: Apache-2.0
// A column of numbers as a path. Long columns are thinned by px columns: of the samples in each,
// the least and the greatest stay, in their order, so that spikes and jumps keep their height. What
// is left passes a swinging door: from the last point written, the directions that pass within
// TOLERANCE of every point since form a wedge; while a new point is inside, the points between are
// not needed.
#include <math.h>

#include "io/svg.h"

enum { DRAW_ALL = 2000 };              // samples up to which none is left out beforehand
static const double TOLERANCE = 0.04;  // [px]
static const double NEAR = 0.25;       // points of a phase portrait that are as near are one [px]
static const double SEEN = 0.5;        // a jump that is not smaller is drawn as one [px]

typedef struct Point {
  double x, y;  // [px]
} Point;

typedef struct Pen {
  PawlText* text;
  bool down, dot;  // a path is begun; it is a single point so far
  long x, y;       // last point written, in 1/100 px
  Point anchor;    // the same
  bool holding;    // `held` lies behind the anchor, not yet written
  Point held;
  double low, high;  // slopes of the wedge
} Pen;

static void pen_number(Pen* pen, long hundredths, bool first) {
  if (!first && hundredths >= 0) {
    pawl_text_add_bytes(pen->text, " ", 1);
  }
  pawl_svg_length(pen->text, (double)hundredths / 100.0);
}

// Relative to the last point as rounded, so that roundings do not add up.
static void pen_write(Pen* pen, Point point) {
  long x = lround(100.0 * point.x), y = lround(100.0 * point.y);
  if (!pen->down) {
    pawl_text_add(pen->text, "M");
    pen_number(pen, x, true);
    pen_number(pen, y, false);
  } else if (x != pen->x || y != pen->y) {
    pawl_text_add(pen->text, pen->dot ? "l" : "");
    pen_number(pen, x - pen->x, pen->dot);
    pen_number(pen, y - pen->y, false);
    pen->dot = false;
  }
  pen->dot = pen->dot || !pen->down;
  pen->down = true;
  pen->x = x;
  pen->y = y;
  pen->anchor = point;
  pen->holding = false;
}

static void pen_hold(Pen* pen, Point point) {
  double dx = point.x - pen->anchor.x, dy = point.y - pen->anchor.y;
  double low = (dy - TOLERANCE) / dx, high = (dy + TOLERANCE) / dx;
  pen->low = pen->holding ? fmax(pen->low, low) : low;
  pen->high = pen->holding ? fmin(pen->high, high) : high;
  pen->held = point;
  pen->holding = true;
}

static void pen_to(Pen* pen, Point point) {
  if (!pen->down) {
    pen_write(pen, point);
    return;
  }
  if (pen->holding) {
    double slope = (point.y - pen->anchor.y) / (point.x - pen->anchor.x);
    bool inside = point.x > pen->held.x && slope >= pen->low && slope <= pen->high;
    if (!inside) {
      pen_write(pen, pen->held);
    }
  }
  if (point.x > pen->anchor.x) {
    pen_hold(pen, point);
  } else {
    pen_write(pen, point);
  }
}

static void pen_lift(Pen* pen) {
  if (pen->holding) {
    pen_write(pen, pen->held);
  }
  if (pen->dot) {
    pawl_text_add(pen->text, "m-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0");  // a dot
  }
  *pen = (Pen){.text = pen->text};
}

// The samples in one column of px.
typedef struct Bin {
  bool used;
  double place;
  int least_at, greatest_at;
  Point least, greatest;
} Bin;

static void bin_empty(Bin* bin, Pen* pen) {
  if (!bin->used) {
    return;
  }
  bool least_first = bin->least_at < bin->greatest_at;
  pen_to(pen, least_first ? bin->least : bin->greatest);
  if (bin->least_at != bin->greatest_at) {
    pen_to(pen, least_first ? bin->greatest : bin->least);
  }
  bin->used = false;
}

static void bin_add(Bin* bin, Pen* pen, int sample, Point point) {
  double place = floor(point.x);
  if (!bin->used || place != bin->place) {
    bin_empty(bin, pen);
    *bin = (Bin){true, place, sample, sample, point, point};
    return;
  }
  if (point.y < bin->least.y) {
    bin->least = point;
    bin->least_at = sample;
  }
  if (point.y >= bin->greatest.y) {  // the later of equals: a constant keeps both its ends
    bin->greatest = point;
    bin->greatest_at = sample;
  }
}

int pawl_svg_time_column(const PawlRecorder* recorder) {
  int columns = pawl_recorder_column_count(recorder);
  for (int j = 0; j < columns; j++) {
    if (pawl_recorder_column(recorder, j)->kind == PAWL_COLUMN_TIME) {
      return j;
    }
  }
  return -1;
}

// One side of a jump has no value here: the curve goes on with the other.
static bool is_unknown_side(const PawlSvgCurve* curve, int i) {
  const double* sample = pawl_recorder_sample(curve->recorder, i);
  const double* beside[2] = {pawl_recorder_sample(curve->recorder, i - 1),
                             pawl_recorder_sample(curve->recorder, i + 1)};
  bool side = false;
  for (int k = 0; k < 2; k++) {
    side |= curve->time >= 0 && beside[k] && beside[k][curve->time] == sample[curve->time];
  }
  return side && isnan(sample[curve->column]);
}

typedef struct Line {  // a curve that is being drawn
  const PawlSvgCurve* curve;
  Pen pen;
  Pen jumps;
  Bin bin;
  bool binned, portrait;
  bool begun;      // there is a sample before this one
  double time;     // of it
  Point at, kept;  // where it is; a portrait: the last point that was kept
} Line;

static void line_break(Line* line) {
  bin_empty(&line->bin, &line->pen);
  if (line->portrait && line->begun) {
    pen_to(&line->pen, line->at);
  }
  pen_lift(&line->pen);
  line->begun = false;
}

static void line_jump(Line* line, Point to) {
  Point from = line->at;
  line_break(line);
  pen_write(&line->jumps, from);
  pen_write(&line->jumps, to);
  pen_lift(&line->jumps);
}

// Points of a portrait go in any direction: those near the last one kept are left out.
static void line_portrait(Line* line, Point point) {
  if (!line->begun || hypot(point.x - line->kept.x, point.y - line->kept.y) >= NEAR) {
    pen_to(&line->pen, point);
    line->kept = point;
  }
}

static void line_to(Line* line, int sample, double time, Point point) {
  bool jumped = line->begun && line->curve->time >= 0 && time == line->time &&
                hypot(point.x - line->at.x, point.y - line->at.y) >= SEEN;
  if (jumped) {
    line_jump(line, point);
  }
  if (line->portrait) {
    line_portrait(line, point);
  } else if (line->binned) {
    bin_add(&line->bin, &line->pen, sample, point);
  } else {
    pen_to(&line->pen, point);
  }
  line->begun = true;
  line->time = time;
  line->at = point;
}

void pawl_svg_curve(PawlText* text, PawlText* jumps, const PawlSvgCurve* curve,
                    const PawlSvgFrame* frame) {
  int samples = pawl_recorder_sample_count(curve->recorder);
  Line line = {.curve = curve,
               .pen.text = text,
               .jumps.text = jumps,
               .binned = samples > DRAW_ALL,
               .portrait = curve->x != curve->time};
  for (int i = 0; i < samples; i++) {
    const double* sample = pawl_recorder_sample(curve->recorder, i);
    double x = curve->x >= 0 ? sample[curve->x] : i, value = sample[curve->column];
    if (is_unknown_side(curve, i)) {
      continue;
    }
    if (!pawl_svg_finite(x) || !pawl_svg_finite(value)) {
      line_break(&line);
      continue;
    }
    Point point = {frame->left + frame->width * pawl_svg_axis_place(frame->x, x),
                   frame->top + frame->height * (1.0 - pawl_svg_axis_place(frame->y, value))};
    line_to(&line, i, curve->time >= 0 ? sample[curve->time] : i, point);
  }
  line_break(&line);
}
