// SPDX-License-Identifier: Apache-2.0
// Instants of a run and the view of them. Between two samples the numbers of the scene are
// interpolated; on a jump both samples have the same time, and the later one counts. Space is seen
// in parallel projection: turned about the vertical by AZIMUTH, then tilted by ELEVATION.
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "io/impacts.h"
#include "io/motion.h"
#include "io/svg.h"
#include "run/recorder.h"

enum { TRACE_POINTS = 600, USUAL_SIZE = 640 };
static const double AZIMUTH = 0.6, ELEVATION = 0.35;  // [rad]
static const double MARGIN = 0.05;                    // [1] of the larger side
static const double LONGEST_FORCE = 0.2;              // [1] of the larger side

// ---- instants -----------------------------------------------------------------------------------
static int first_of(const PawlRecorder* recorder, PawlColumnKind kind) {
  for (int j = 0; j < pawl_recorder_column_count(recorder); j++) {
    if (pawl_recorder_column(recorder, j)->kind == kind) {
      return j;
    }
  }
  return -1;
}

static const double* leaves(const PawlMotion* m, const double* sample, PawlColumnKind kind) {
  int first = first_of(m->recorder, kind);
  return first < 0 ? NULL : sample + first;
}

static void look_at_sample(PawlMotion* m, int sample, double* channels) {
  const double* at = pawl_recorder_sample(m->recorder, sample);
  bool impact = m->impacts && pawl_impacts_in(m->recorder, sample);
  PawlLeafValues values = {.t = at[0],
                           .q = leaves(m, at, PAWL_COLUMN_COORDINATE),
                           .v = leaves(m, at, PAWL_COLUMN_RATE),
                           .a = leaves(m, at, PAWL_COLUMN_ACCELERATION),
                           .lambda = impact ? m->nothing : leaves(m, at, PAWL_COLUMN_MULTIPLIER)};
  pawl_scene_look(m->scene, &values, channels);
}

// The last sample that is not later; 0 when all are.
static int sample_before(const PawlRecorder* recorder, double t) {
  int low = 0, high = pawl_recorder_sample_count(recorder) - 1;
  while (low < high) {
    int middle = low + (high - low + 1) / 2;
    if (pawl_recorder_sample(recorder, middle)[0] <= t) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

static void look_at_time(PawlMotion* m, double t, double* channels) {
  int before = sample_before(m->recorder, t);
  int after = before + 1 < pawl_recorder_sample_count(m->recorder) ? before + 1 : before;
  double t0 = pawl_recorder_sample(m->recorder, before)[0];
  double t1 = pawl_recorder_sample(m->recorder, after)[0];
  double part = t1 > t0 ? fmin(1.0, fmax(0.0, (t - t0) / (t1 - t0))) : 0.0;
  double *a = m->spare, *b = m->spare + m->channels;
  look_at_sample(m, before, a);
  look_at_sample(m, after, b);
  for (int k = 0; k < m->channels; k++) {
    channels[k] = isfinite(a[k]) && isfinite(b[k]) ? a[k] + part * (b[k] - a[k])
                  : part < 0.5                     ? a[k]
                                                   : b[k];
  }
}

static void look_at_all(PawlMotion* m, double from, double to) {
  int all = m->frames + m->traced;
  for (int i = 0; i < all; i++) {
    bool trace = i >= m->frames;
    int index = trace ? i - m->frames : i, count = trace ? m->traced : m->frames;
    m->times[i] = count > 1 ? from + (to - from) * index / (count - 1) : to;
    look_at_time(m, m->times[i], m->values + (size_t)i * (size_t)m->channels);
  }
}

// ---- numbers and points -------------------------------------------------------------------------
double pawl_motion_value(const PawlMotion* m, int frame, PawlNode node) {
  int place = pawl_scene_place(m->scene, node);
  return place >= 0 ? m->values[(size_t)frame * (size_t)m->channels + (size_t)place]
                    : m->fixed[-1 - place];
}

void pawl_motion_view(const PawlMotion* m, const double p[3], double out[3]) {
  if (!m->model->spatial) {
    memcpy(out, p, 3 * sizeof *out);
    return;
  }
  double away = p[0] * sin(AZIMUTH) + p[1] * cos(AZIMUTH);
  out[0] = p[0] * cos(AZIMUTH) - p[1] * sin(AZIMUTH);
  out[1] = p[2] * cos(ELEVATION) + away * sin(ELEVATION);
  out[2] = p[2] * sin(ELEVATION) - away * cos(ELEVATION);
}

// y still up.
static PawlMotionPoint seen(const PawlMotion* m, const double p[3]) {
  double out[3];
  pawl_motion_view(m, p, out);
  return (PawlMotionPoint){out[0], out[1]};
}

bool pawl_motion_seen(const PawlMotion* m, int frame, const PawlNode node[3], double out[3]) {
  double p[3];
  for (int i = 0; i < 3; i++) {
    p[i] = node[i] == PAWL_NO_NODE ? 0.0 : pawl_motion_value(m, frame, node[i]);
  }
  pawl_motion_view(m, p, out);
  return isfinite(out[0]) && isfinite(out[1]) && isfinite(out[2]);
}

// In units of length.
static bool projected(const PawlMotion* m, int frame, const PawlNode node[3],
                      PawlMotionPoint* out) {
  double p[3];
  (void)pawl_motion_seen(m, frame, node, p);
  *out = (PawlMotionPoint){p[0], p[1]};
  return isfinite(out->x) && isfinite(out->y);
}

void pawl_motion_direction(const PawlMotion* m, int frame, const PawlNode node[3], double* x,
                           double* y) {
  PawlMotionPoint p;
  (void)projected(m, frame, node, &p);
  *x = p.x;
  *y = -p.y;
}

// The first is its product with the axis that it is farthest from.
void pawl_motion_across(const double n[3], double u[3], double v[3]) {
  double axis[3] = {0.0, 0.0, 0.0};
  axis[fabs(n[0]) < 0.6 ? 0 : 1] = 1.0;
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    u[i] = n[j] * axis[k] - n[k] * axis[j];
  }
  double size = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  for (int i = 0; i < 3; i++) {
    u[i] /= size;
  }
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    v[i] = n[j] * u[k] - n[k] * u[j];
  }
}

bool pawl_motion_ring(const PawlMotion* m, PawlMotionPoint centre, const double n[3], double radius,
                      int count, PawlText* out) {
  double u[3], v[3];
  pawl_motion_across(n, u, v);
  for (int k = 0; k < count; k++) {
    double angle = 6.283185307179586 * k / count, p[3];
    for (int i = 0; i < 3; i++) {
      p[i] = radius * (cos(angle) * u[i] + sin(angle) * v[i]);
    }
    PawlMotionPoint at = seen(m, p);
    pawl_text_add(out, k ? "L" : "M");
    pawl_svg_length(out, centre.x + at.x * m->scale);
    pawl_text_add(out, " ");
    pawl_svg_length(out, centre.y - at.y * m->scale);
  }
  pawl_text_add(out, "z");
  return true;
}

bool pawl_motion_point(const PawlMotion* m, int frame, const PawlNode node[3],
                       PawlMotionPoint* out) {
  PawlMotionPoint p;
  bool good = projected(m, frame, node, &p);
  *out = (PawlMotionPoint){(p.x - m->left) * m->scale, (m->top - p.y) * m->scale};
  return good;
}

static bool node_moves(const PawlMotion* m, PawlNode node) {
  return node != PAWL_NO_NODE && pawl_scene_place(m->scene, node) >= 0;
}

bool pawl_motion_moves(const PawlMotion* m, const PawlShape* shape) {
  bool moves = node_moves(m, shape->radius) || shape->of;
  for (int k = 0; !moves && k < shape->point_count; k++) {
    for (int i = 0; i < 3; i++) {
      moves = moves || node_moves(m, shape->points[k][i]);
    }
  }
  return moves;
}

bool pawl_motion_locked(const PawlMotion* m, int frame, const PawlShape* shape) {
  const char* mode = "";
  for (int k = 0; shape->of && k < pawl_recorder_event_count(m->recorder); k++) {
    const PawlEvent* event = pawl_recorder_event(m->recorder, k);
    if (strcmp(event->constraint, shape->of) != 0) {
      continue;
    }
    if (event->t > m->times[frame]) {
      return strcmp(mode[0] ? mode : event->from, "locked") == 0;
    }
    mode = event->to;
  }
  return strcmp(mode, "locked") == 0;
}

// ---- the view -----------------------------------------------------------------------------------
typedef struct Box {
  double lo[2], hi[2];
} Box;

static void widen(Box* box, PawlMotionPoint p, double by) {
  box->lo[0] = fmin(box->lo[0], p.x - by);
  box->hi[0] = fmax(box->hi[0], p.x + by);
  box->lo[1] = fmin(box->lo[1], p.y - by);
  box->hi[1] = fmax(box->hi[1], p.y + by);
}

// Arrows of forces and gravity have no length of their own.
static int places_of(const PawlShape* shape) {
  bool first = shape->kind == PAWL_SHAPE_FORCE || shape->kind == PAWL_SHAPE_DISC;
  return shape->kind == PAWL_SHAPE_GRAVITY ? 0 : first ? 1 : shape->point_count;
}

static Box box_of(const PawlMotion* m) {
  Box box = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
  for (int s = 0; s < m->model->shape_count; s++) {
    const PawlShape* shape = &m->model->shapes[s];
    for (int frame = 0; frame < m->frames; frame++) {
      double radius =
          shape->radius == PAWL_NO_NODE ? 0.0 : pawl_motion_value(m, frame, shape->radius);
      for (int k = 0; k < places_of(shape); k++) {
        PawlMotionPoint p;
        if (projected(m, frame, shape->points[k], &p)) {
          widen(&box, p, isfinite(radius) ? fabs(radius) : 0.0);
        }
      }
    }
  }
  return box.lo[0] <= box.hi[0] ? box : (Box){{-1.0, -1.0}, {1.0, 1.0}};
}

static void fit_view(PawlMotion* m, const PawlMotionDef* def) {
  Box box = box_of(m);
  double size[2] = {box.hi[0] - box.lo[0], box.hi[1] - box.lo[1]};
  double margin = MARGIN * fmax(fmax(size[0], size[1]), DBL_MIN);
  double width = def->width > 0 ? def->width : USUAL_SIZE;
  double height = def->height > 0 ? def->height : USUAL_SIZE;
  m->scale = fmin(width / (size[0] + 2.0 * margin), height / (size[1] + 2.0 * margin));
  m->width = ceil(fmax((size[0] + 2.0 * margin) * m->scale, 160.0));
  m->height = ceil((size[1] + 2.0 * margin) * m->scale);
  m->left = 0.5 * (box.lo[0] + box.hi[0]) - 0.5 * m->width / m->scale;
  m->top = box.hi[1] + margin;
}

static double force_size(const PawlMotion* m, int frame, const PawlShape* shape) {
  double square = 0.0;
  for (int i = 0; i < (shape->spatial ? 3 : 2); i++) {
    double f = pawl_motion_value(m, frame, shape->points[1][i]);
    square += f * f;
  }
  return isfinite(square) ? sqrt(square) : 0.0;
}

static void fit_forces(PawlMotion* m) {
  double largest = 0.0;
  for (int s = 0; s < m->model->shape_count; s++) {
    const PawlShape* shape = &m->model->shapes[s];
    for (int frame = 0; shape->kind == PAWL_SHAPE_FORCE && frame < m->frames; frame++) {
      largest = fmax(largest, force_size(m, frame, shape));
    }
  }
  m->force = largest > 0.0 ? LONGEST_FORCE * fmax(m->width, m->height) / largest : 0.0;
}

// Of one instant alone all is painted in one order.
static PawlStatus find_late(PawlMotion* m, bool all, PawlError* err) {
  size_t shapes = (size_t)m->model->shape_count;
  m->late = pawl_alloc(shapes, sizeof *m->late);
  m->order = pawl_alloc(2 * shapes, sizeof *m->order);
  m->body = pawl_alloc(shapes, sizeof *m->body);
  if (!m->late || !m->order || !m->body) {
    return pawl_fail_memory(err);
  }
  if (shapes <= PAWL_MOTION_SORTED) {
    pawl_motion_bodies(m, m->body);
  }
  for (size_t s = 0; all && s < shapes; s++) {
    m->late[s] = m->model->shapes[s].kind != PAWL_SHAPE_SURFACE &&
                 m->model->shapes[s].kind != PAWL_SHAPE_GRAVITY;
  }
  return all || pawl_motion_late(m, m->late) ? PAWL_OK : pawl_fail_memory(err);
}

// ---- all ----------------------------------------------------------------------------------------
PawlStatus pawl_motion_look(PawlMotion* m, const PawlMotionDef* def, int frames, PawlError* err) {
  int samples = pawl_recorder_sample_count(m->recorder);
  if (m->model->shape_count == 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "'%s' has no scene to draw; docs/model-format.md says how to write one",
                     m->model->name);
  }
  if (samples == 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "there is no sample to draw");
  }
  double from = fmax(def->from, pawl_recorder_sample(m->recorder, 0)[0]);
  double to = fmin(def->to, pawl_recorder_sample(m->recorder, samples - 1)[0]);
  if (!(from <= to)) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "the run has nothing between %.10g s and %.10g s",
                     def->from, def->to);
  }
  PAWL_TRY(pawl_scene_create(m->model, &m->scene, err));
  (void)pawl_scene_fixed(m->scene, &m->fixed);
  m->channels = pawl_scene_channels(m->scene);
  m->frames = frames;
  m->traced = TRACE_POINTS;
  size_t all = (size_t)(m->frames + m->traced), row = (size_t)m->channels;
  m->times = pawl_alloc(all, sizeof(double));
  m->values = pawl_alloc(all * row + 1, sizeof(double));
  m->spare = pawl_alloc(2 * row + 1, sizeof(double));
  m->nothing = pawl_alloc((size_t)pawl_recorder_column_count(m->recorder), sizeof(double));
  if (!m->times || !m->values || !m->spare || !m->nothing) {
    return pawl_fail_memory(err);
  }
  for (int j = 0; j < pawl_recorder_column_count(m->recorder); j++) {
    m->nothing[j] = NAN;
  }
  m->impacts = pawl_impacts_any(m->recorder);
  look_at_all(m, from, to);
  fit_view(m, def);
  fit_forces(m);
  return m->model->spatial ? find_late(m, def->frame > 0, err) : PAWL_OK;
}

void pawl_motion_destroy(PawlMotion* m) {
  pawl_scene_destroy(m->scene);
  pawl_free(m->times);
  pawl_free(m->values);
  pawl_free(m->spare);
  pawl_free(m->nothing);
  pawl_free(m->late);
  pawl_free(m->order);
  pawl_free(m->body);
}
