// SPDX-License-Identifier: Apache-2.0
// The picture of a motion. What stands still is drawn once; what moves has a list of paths that the
// reader of the SVG goes through (SMIL), or one path for each instant of a strobe picture.
#include "io/motion.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/picture.h"
#include "io/svg.h"

enum { MOST_FRAMES = 150, FRAMES_PER_SECOND = 25, MOST_STROBE = 200, CAPTION = 22 };
static const double LEAST_SECONDS = 2.0, MOST_SECONDS = 20.0, OTHER_SECONDS = 8.0;
static const double LINK_LEAST = 4.0;  // [px]

PawlMotionDef pawl_motion_def_default(void) {
  return (PawlMotionDef){.from = -INFINITY, .to = INFINITY};
}

bool pawl_model_has_scene(const PawlModel* model) {
  return model->shape_count > 0;
}

// ---- looks --------------------------------------------------------------------------------------
static const int BODY[3] = {0xbc, 0xd3, 0xe6}, HELD[3] = {0xe6, 0x9f, 0x00},
                 PIN[3] = {255, 255, 255};
typedef struct Colour {
  char code[8];
} Colour;

static bool is_body(const PawlShape* shape) {
  return shape->kind == PAWL_SHAPE_LINK || shape->kind == PAWL_SHAPE_POLYGON ||
         shape->kind == PAWL_SHAPE_DISC || shape->kind == PAWL_SHAPE_BALL ||
         shape->kind == PAWL_SHAPE_CYLINDER || shape->kind == PAWL_SHAPE_JOINT;
}

static const char* class_of(const PawlShape* shape) {
  switch (shape->kind) {
    case PAWL_SHAPE_LINK:
      return "link";
    case PAWL_SHAPE_POLYGON:
    case PAWL_SHAPE_DISC:
    case PAWL_SHAPE_BALL:
    case PAWL_SHAPE_CYLINDER:
      return "body";
    case PAWL_SHAPE_JOINT:
      return "joint";
    case PAWL_SHAPE_GROUND:
      return "ground";
    case PAWL_SHAPE_FORCE:
      return "force";
    case PAWL_SHAPE_TRACE:
      return "trace";
    case PAWL_SHAPE_SURFACE:
      return "surface";
    case PAWL_SHAPE_GRAVITY:
      return "gravity";
    case PAWL_SHAPE_LINE:
    case PAWL_SHAPE_SPRING:
    case PAWL_SHAPE_TEXT:
      break;
  }
  return "mark";
}

static Colour colour(const PawlMotion* m, int frame, const PawlShape* shape, int layer) {
  bool joint = shape->kind == PAWL_SHAPE_JOINT;
  const int* ink = pawl_motion_locked(m, frame, shape) ? HELD : joint ? PIN : BODY;
  double light = pawl_motion_light(m, frame, shape, layer == 0);
  unsigned part[3];
  for (int i = 0; i < 3; i++) {
    part[i] = (unsigned)fmin(255.0, fmax(0.0, light * ink[i])) & 255U;
  }
  Colour out;
  snprintf(out.code, sizeof out.code, "#%02x%02x%02x", part[0], part[1], part[2]);
  return out;
}

// A link is a line with an outline: once wider and dark, once in the colour of the body.
static double link_width(const PawlMotion* m, int frame, const PawlShape* shape) {
  double radius = shape->radius == PAWL_NO_NODE ? 0.0 : pawl_motion_value(m, frame, shape->radius);
  return fmax(LINK_LEAST, 2.0 * (isfinite(radius) ? radius : 0.0) * m->scale);
}

static void begin_path(PawlText* out, const PawlMotion* m, int frame, const PawlShape* shape,
                       int layer) {
  bool outline = layer > 0;
  pawl_text_printf(out, "<path class=\"%s\"", class_of(shape));
  if (shape->kind == PAWL_SHAPE_LINK) {
    pawl_svg_attribute(out, "stroke-width", link_width(m, frame, shape) + (outline ? 2.0 : 0.0));
    pawl_text_printf(out, " stroke=\"%s\"",
                     outline ? "#35485c" : colour(m, frame, shape, layer).code);
  } else if (is_body(shape)) {
    pawl_text_printf(out, " fill=\"%s\"", colour(m, frame, shape, layer).code);
  }
}

// ---- one shape ----------------------------------------------------------------------------------
static void draw_still(PawlText* out, const PawlMotion* m, int frame, const PawlShape* shape) {
  for (int layer = pawl_motion_layers(m, shape) - 1; layer >= 0; layer--) {
    PawlText path = {0};
    if (pawl_motion_path(m, frame, shape, layer, &path) && path.s) {
      begin_path(out, m, frame, shape, layer);
      pawl_text_printf(out, " d=\"%s\"/>\n", path.s);
    }
    out->failed = out->failed || path.failed;
    pawl_text_free(&path);
  }
}

// Instants that are painted in the same order, and how long all take.
typedef struct Span {
  int from, to;  // to: the first one behind, as far as there is one
  double seconds;
} Span;

static bool is_whole(const PawlMotion* m, const Span* span) {
  return span->from == 0 && span->to == m->frames - 1;
}

static double part_of(const PawlMotion* m, int frame) {
  return m->frames > 1 ? (double)frame / (m->frames - 1) : 0.0;
}

// Ends a list of values, one of each instant of the span; before and behind it they stay.
static void add_timing(PawlText* out, const PawlMotion* m, const Span* span) {
  if (!is_whole(m, span)) {
    pawl_text_add(out, "\" keyTimes=\"");
    pawl_text_add(out, span->from > 0 ? "0;" : "");
    for (int k = span->from; k <= span->to; k++) {
      pawl_text_printf(out, "%s%.4g", k > span->from ? ";" : "", part_of(m, k));
    }
    pawl_text_add(out, span->to < m->frames - 1 ? ";1" : "");
  }
  pawl_text_add(out, "\" dur=\"");
  pawl_svg_length(out, span->seconds);
  pawl_text_add(out, "s\" repeatCount=\"indefinite\"");
}

static void add_value(PawlText* out, const PawlMotion* m, const Span* span, int frame,
                      const char* value) {
  bool twice =
      (frame == span->from && span->from > 0) || (frame == span->to && span->to < m->frames - 1);
  pawl_text_add(out, frame > span->from ? ";" : "");
  pawl_text_add(out, value);
  if (twice) {
    pawl_text_add(out, ";");
    pawl_text_add(out, value);
  }
}

// The paths of all instants; where there is none the one before stays. False: there is none at all.
static bool add_paths(PawlText* out, const PawlMotion* m, const PawlShape* shape, int layer,
                      const Span* span) {
  PawlText last = {0};
  int first = span->from;
  while (first <= span->to && !pawl_motion_path(m, first, shape, layer, &last)) {
    first++;
  }
  for (int k = span->from; first <= span->to && k <= span->to; k++) {
    PawlText path = {0};
    if (k > first && pawl_motion_path(m, k, shape, layer, &path)) {
      pawl_text_free(&last);
      last = path;
    } else {
      pawl_text_free(&path);
    }
    add_value(out, m, span, k, last.s ? last.s : "");
  }
  out->failed = out->failed || last.failed;
  pawl_text_free(&last);
  return first <= span->to;
}

static bool changes_colour(const PawlMotion* m, const PawlShape* shape, int layer,
                           const Span* span) {
  Colour first = colour(m, span->from, shape, layer);
  bool changes = false;
  for (int k = span->from + 1; is_body(shape) && !changes && k <= span->to; k++) {
    changes = strcmp(colour(m, k, shape, layer).code, first.code) != 0;
  }
  return changes;
}

static void add_colours(PawlText* out, const PawlMotion* m, const PawlShape* shape, int layer,
                        const Span* span) {
  bool link = shape->kind == PAWL_SHAPE_LINK;
  pawl_text_printf(out, "<animate attributeName=\"%s\" calcMode=\"discrete\" values=\"",
                   link ? "stroke" : "fill");
  for (int k = span->from; k <= span->to; k++) {
    add_value(out, m, span, k, colour(m, k, shape, layer).code);
  }
  add_timing(out, m, span);
  pawl_text_add(out, "/>");
}

static void draw_moving(PawlText* out, const PawlMotion* m, const PawlShape* shape,
                        const Span* span) {
  for (int layer = pawl_motion_layers(m, shape) - 1; layer >= 0; layer--) {
    PawlText paths = {0};
    bool outline = shape->kind == PAWL_SHAPE_LINK && layer > 0;
    if (add_paths(&paths, m, shape, layer, span) && paths.s) {
      begin_path(out, m, span->from, shape, layer);
      pawl_text_printf(out, " d=\"%.*s\"><animate attributeName=\"d\" values=\"",
                       (int)strcspn(paths.s, ";"), paths.s);
      pawl_text_add(out, paths.s);
      add_timing(out, m, span);
      pawl_text_add(out, "/>");
      if (!outline && changes_colour(m, shape, layer, span)) {
        add_colours(out, m, shape, layer, span);
      }
      pawl_text_add(out, "</path>\n");
    }
    out->failed = out->failed || paths.failed;
    pawl_text_free(&paths);
  }
}

static void draw_words(PawlText* out, const PawlMotion* m, const PawlShape* shape) {
  PawlMotionPoint p;
  bool still = shape->text && !pawl_motion_moves(m, shape) && shape->kind != PAWL_SHAPE_GRAVITY;
  if (still && pawl_motion_point(m, 0, shape->points[0], &p)) {
    pawl_svg_text_begin(out, "words", p.x + 6.0, p.y - 6.0);
    pawl_svg_escape(out, shape->text, 60);
    pawl_svg_text_end(out);
  }
}

// ---- the picture --------------------------------------------------------------------------------
static void draw_head(PawlText* out, const PawlMotion* m) {
  pawl_text_add(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"");
  pawl_svg_attribute(out, "width", m->width);
  pawl_svg_attribute(out, "height", m->height + CAPTION);
  pawl_text_add(out, " viewBox=\"0 0 ");
  pawl_svg_length(out, m->width);
  pawl_text_add(out, " ");
  pawl_svg_length(out, m->height + CAPTION);
  pawl_text_add(
      out,
      "\">\n<style>\n"
      "text{font:11px Helvetica,Arial,sans-serif;fill:#666}\n"
      ".words{fill:#333}\n"
      ".body{stroke:#35485c;stroke-width:1.2;stroke-linejoin:round}\n"
      ".link{fill:none;stroke-linecap:round;stroke-linejoin:round}\n"
      ".joint{stroke:#35485c;stroke-width:1.4}\n"
      ".mark{stroke:#35485c;stroke-width:1.4;fill:none;stroke-linecap:round}\n"
      ".ground{stroke:#555;stroke-width:1.1;fill:none}\n"
      ".force{stroke:#d55e00;stroke-width:1.8;fill:none;stroke-linecap:round}\n"
      ".gravity{stroke:#777;stroke-width:1.2;fill:none}\n"
      ".trace{stroke:#009e73;stroke-width:1;fill:none;stroke-opacity:.8}\n"
      ".surface{stroke:#bbb;stroke-width:.6;fill:none}\n"
      ".still{display:none}\n"
      "@media (prefers-reduced-motion:reduce){.moves{display:none}.still{display:inline}}\n"
      "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

// "pothole-wheel, 0 to 4 s", and how fast it is shown unless as it is.
static void draw_caption(PawlText* out, const PawlMotion* m, double seconds) {
  double from = m->times[m->frames], to = m->times[m->frames + m->traced - 1];
  pawl_svg_text_begin(out, "caption", 8.0, m->height + 14.0);
  pawl_svg_escape(out, m->model->name, 60);
  pawl_text_add(out, ", ");
  pawl_text_printf(out, "%.3g to %.3g s", from, to);
  if (seconds == 0.0) {
    pawl_text_printf(out, ", %d instants", m->frames);
  } else if (fabs(seconds - (to - from)) > FLT_EPSILON * seconds) {
    pawl_text_printf(out, ", shown in %.3g s", seconds);
  }
  pawl_svg_text_end(out);
}

// Scenery is behind everything, and what stands still behind what moves later in the list, or in
// space, where it hides nothing that moves.
static bool is_behind(const PawlMotion* m, const PawlShape* shape) {
  if (pawl_motion_moves(m, shape)) {
    return false;
  }
  if (m->late) {
    return !m->late[shape - m->model->shapes];
  }
  bool first = true;
  for (const PawlShape* other = m->model->shapes; other < shape; other++) {
    first = first && (other->kind == PAWL_SHAPE_TRACE || !pawl_motion_moves(m, other));
  }
  return first || shape->kind == PAWL_SHAPE_GROUND || shape->kind == PAWL_SHAPE_SURFACE ||
         shape->kind == PAWL_SHAPE_GRAVITY;
}

static void name_gravity(PawlText* out, const PawlMotion* m, const PawlShape* shape) {
  PawlText arrow = {0};
  if (shape->kind == PAWL_SHAPE_GRAVITY && pawl_motion_path(m, 0, shape, 0, &arrow)) {
    pawl_svg_text_begin(out, "words", m->width - 28.0, 27.0);
    pawl_text_add(out, "g");
    pawl_svg_text_end(out);
  }
  pawl_text_free(&arrow);
}

// The order in which shapes are painted: that of the list, in space as they hide each other.
static void sort_from_list(PawlText* out, const PawlMotion* m, int frame) {
  for (int s = 0; m->order && s < m->model->shape_count; s++) {
    m->order[s] = s;
  }
  out->failed = out->failed || (m->order && !pawl_motion_sort(m, frame, m->order));
}

// NULL: it is not seen.
static const PawlShape* painted(const PawlMotion* m, int place) {
  int shape = m->order ? m->order[place] : place;
  return shape < 0 ? NULL : &m->model->shapes[shape];
}

static void draw_background(PawlText* out, const PawlMotion* m) {
  sort_from_list(out, m, 0);
  for (int s = 0; s < m->model->shape_count; s++) {
    const PawlShape* shape = painted(m, s);
    if (shape && is_behind(m, shape) && shape->kind != PAWL_SHAPE_TRACE) {
      draw_still(out, m, 0, shape);
    }
    draw_words(out, m, &m->model->shapes[s]);
    name_gravity(out, m, &m->model->shapes[s]);
  }
}

static void draw_traces(PawlText* out, const PawlMotion* m) {
  for (int s = 0; s < m->model->shape_count; s++) {
    if (m->model->shapes[s].kind == PAWL_SHAPE_TRACE) {
      draw_still(out, m, 0, &m->model->shapes[s]);
    }
  }
}

static bool is_drawn(const PawlMotion* m, const PawlShape* shape) {
  return shape && shape->kind != PAWL_SHAPE_TRACE && !is_behind(m, shape);
}

static bool is_drawn_once(const PawlMotion* m, const PawlShape* shape) {
  return shape->kind == PAWL_SHAPE_FORCE || !pawl_motion_moves(m, shape);
}

// Faint at first, strong at the end; what stands still, and forces, at the last instant alone.
static void draw_strobe(PawlText* out, const PawlMotion* m) {
  for (int frame = 0; frame < m->frames; frame++) {
    bool last = frame == m->frames - 1;
    double opacity = last ? 1.0 : 0.12 + 0.33 * frame / (m->frames > 1 ? m->frames - 1 : 1);
    if (last) {
      draw_traces(out, m);
    }
    pawl_text_add(out, "<g");
    pawl_svg_attribute(out, "opacity", opacity);
    pawl_text_add(out, ">\n");
    sort_from_list(out, m, frame);
    for (int s = 0; s < m->model->shape_count; s++) {
      const PawlShape* shape = painted(m, s);
      if (is_drawn(m, shape) && (last || !is_drawn_once(m, shape))) {
        draw_still(out, m, frame, shape);
      }
    }
    pawl_text_add(out, "</g>\n");
  }
}

static void draw_instant(PawlText* out, const PawlMotion* m, int frame) {
  sort_from_list(out, m, frame);
  for (int s = 0; s < m->model->shape_count; s++) {
    if (is_drawn(m, painted(m, s))) {
      draw_still(out, m, frame, painted(m, s));
    }
  }
}

// One instant alone stands still until the next.
static void draw_span(PawlText* out, const PawlMotion* m, const Span* span) {
  bool still = !is_whole(m, span) && span->to <= span->from + 1;
  for (int s = 0; s < m->model->shape_count; s++) {
    const PawlShape* shape = painted(m, s);
    if (is_drawn(m, shape) && pawl_motion_moves(m, shape) && !still) {
      draw_moving(out, m, shape, span);
    } else if (is_drawn(m, shape)) {
      draw_still(out, m, still ? span->from : 0, shape);
    }
  }
}

// A span that is there for a part of the time.
static void draw_part(PawlText* out, const PawlMotion* m, const Span* span, bool last) {
  pawl_text_printf(out,
                   "<g visibility=\"%s\"><animate attributeName=\"visibility\" "
                   "calcMode=\"discrete\" values=\"%svisible%s\" keyTimes=\"0",
                   span->from > 0 ? "hidden" : "visible", span->from > 0 ? "hidden;" : "",
                   last ? "" : ";hidden");
  if (span->from > 0) {
    pawl_text_printf(out, ";%.4g", part_of(m, span->from));
  }
  if (!last) {
    pawl_text_printf(out, ";%.4g", part_of(m, span->to));
  }
  pawl_text_add(out, "\" dur=\"");
  pawl_svg_length(out, span->seconds);
  pawl_text_add(out, "s\" repeatCount=\"indefinite\"/>\n");
  draw_span(out, m, span);
  pawl_text_add(out, "</g>\n");
}

// Where one shape comes before another that hid it, what is painted changes its order: all is
// there once for each order, which is kept as long as it may be.
static void draw_spans(PawlText* out, const PawlMotion* m, double seconds) {
  size_t size = m->order ? (size_t)m->model->shape_count * sizeof *m->order : 0;
  int *order = m->order, *next = order ? order + m->model->shape_count : NULL;
  Span span = {0, m->frames - 1, seconds};
  sort_from_list(out, m, 0);
  for (int frame = 1; order && !out->failed && frame < m->frames; frame++) {
    memcpy(next, order, size);
    out->failed = !pawl_motion_sort(m, frame, next);
    if (memcmp(next, order, size) != 0) {
      span.to = frame;
      draw_part(out, m, &span, false);
      memcpy(order, next, size);
      span.from = frame;
    }
  }
  span.to = m->frames - 1;
  if (is_whole(m, &span)) {
    draw_span(out, m, &span);
  } else {
    draw_part(out, m, &span, true);
  }
}

// All that moves, and for readers who want less motion the first instant in its place.
static void draw_motion(PawlText* out, const PawlMotion* m, double seconds) {
  draw_traces(out, m);
  pawl_text_add(out, "<g class=\"moves\">\n");
  draw_spans(out, m, seconds);
  pawl_text_add(out, "</g>\n<g class=\"still\">\n");
  draw_instant(out, m, 0);
  pawl_text_add(out, "</g>\n");
}

static void draw_one(PawlText* out, const PawlMotion* m, int frame) {
  draw_traces(out, m);
  draw_instant(out, m, frame);
}

static PawlStatus draw(PawlText* out, const PawlMotion* m, int frame, double seconds,
                       PawlError* err) {
  draw_head(out, m);
  draw_background(out, m);
  if (seconds == 0.0) {
    draw_strobe(out, m);
  } else if (frame > 0) {
    draw_one(out, m, frame - 1);
  } else {
    draw_motion(out, m, seconds);
  }
  draw_caption(out, m, seconds);
  pawl_text_add(out, "</svg>\n");
  return out->failed ? pawl_fail_memory(err) : PAWL_OK;
}

// As long as the motion itself, unless that is too short or too long to be looked at.
static double seconds_shown(const PawlMotionDef* def, const PawlRecorder* recorder) {
  int samples = pawl_recorder_sample_count(recorder);
  if (def->strobe > 0) {
    return 0.0;
  }
  double begin = samples > 0 ? pawl_recorder_sample(recorder, 0)[0] : 0.0;
  double end = samples > 0 ? pawl_recorder_sample(recorder, samples - 1)[0] : 0.0;
  double length = fmin(def->to, end) - fmax(def->from, begin);
  return length >= LEAST_SECONDS && length <= MOST_SECONDS ? length : OTHER_SECONDS;
}

int pawl_motion_frames(const PawlMotionDef* def, const PawlRecorder* recorder, double* seconds) {
  *seconds = seconds_shown(def, recorder);
  return def->strobe > 0 ? def->strobe : (int)fmin(MOST_FRAMES, ceil(FRAMES_PER_SECOND * *seconds));
}

PawlStatus pawl_motion_write(const PawlModel* model, const PawlRecorder* recorder,
                             const PawlMotionDef* def, const char* path, PawlError* err) {
  PawlMotion motion = {.model = model, .recorder = recorder};
  PawlText text = {0};
  double seconds;
  if (def->strobe < 0 || def->strobe > MOST_STROBE) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "strobe = %d; 1 to %d instants can be drawn",
                     def->strobe, MOST_STROBE);
  }
  int frames = pawl_motion_frames(def, recorder, &seconds);
  if (def->frame < 0 || def->frame > frames) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "frame = %d; the animation has %d", def->frame, frames);
  }
  PawlStatus status = pawl_motion_look(&motion, def, frames, err);
  status = status ? status : draw(&text, &motion, def->frame, seconds, err);
  status = status ? status : pawl_picture_write(&text, path, err);
  pawl_text_free(&text);
  pawl_motion_destroy(&motion);
  return status;
}
