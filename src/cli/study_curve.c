// SPDX-License-Identifier: Apache-2.0
// Curves over time and the distances between them. A largest difference means nothing across a
// jump: a curve that jumps a moment later is off by the whole jump. Hence the mean difference (L1)
// and the Hausdorff distance of the graphs, in which a jump is a vertical line.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/study.h"

static bool curve_create(Curve* c, int count, int width, bool slope) {
  size_t points = (size_t)count + 1, numbers = points * (size_t)(width > 0 ? width : 1);
  *c = (Curve){.count = count, .width = width};
  c->t = malloc(points * sizeof(double));
  c->x = malloc(numbers * sizeof(double));
  c->slope = slope ? malloc(numbers * sizeof(double)) : NULL;
  return c->t && c->x && (c->slope || !slope);
}

void path_destroy(Path* path) {
  for (int part = 0; part < PARTS; part++) {
    Curve* curves[2] = {&path->curve[part], &path->graph[part]};
    for (int k = 0; k < 2; k++) {
      free(curves[k]->t);
      free(curves[k]->x);
      free(curves[k]->slope);
    }
  }
  *path = (Path){0};
}

static const PawlColumnKind part_kind[PARTS + 1] = {PAWL_COLUMN_COORDINATE, PAWL_COLUMN_RATE,
                                                    PAWL_COLUMN_ACCELERATION};

// ---- from a run ---------------------------------------------------------------------------------
static bool sampled_curve(const PawlRecorder* recorder, Part part, Curve* out) {
  int first = 0, of_slope = 0, width = study_columns(recorder, part_kind[part], &first);
  bool slope = study_columns(recorder, part_kind[part + 1], &of_slope) == width;
  if (!curve_create(out, pawl_recorder_sample_count(recorder), width, slope)) {
    return false;
  }
  size_t bytes = (size_t)width * sizeof(double);
  for (int k = 0; k < out->count; k++) {
    const double* sample = pawl_recorder_sample(recorder, k);
    out->t[k] = sample[0];
    memcpy(out->x + (size_t)k * (size_t)width, sample + first, bytes);
    if (slope) {
      memcpy(out->slope + (size_t)k * (size_t)width, sample + of_slope, bytes);
    }
  }
  return true;
}

static void add_point(Curve* c, double t, const double* x) {
  c->t[c->count] = t;
  memcpy(c->x + (size_t)c->count * (size_t)c->width, x, (size_t)c->width * sizeof(double));
  c->count++;
}

// The samples, and for rates both sides of every jump that lies inside a step. A jump at the end of
// a step is there already as the line across the step.
static bool jumping_graph(const PawlRecorder* recorder, Part part, const Curve* curve, Curve* out) {
  int events = pawl_recorder_event_count(recorder), event = 0;
  if (!curve_create(out, curve->count + 2 * events, curve->width, false)) {
    return false;
  }
  out->count = 0;
  for (int k = 0; k < curve->count; k++) {
    double end = curve->t[k], begin = k ? curve->t[k - 1] : end;
    double slack = STUDY_SAME_TIME * end;
    const PawlEvent* e;
    while ((e = pawl_recorder_event(recorder, event)) && e->t < end - slack) {
      if (part == PART_V && e->v_count == curve->width && e->t > begin) {
        add_point(out, e->t, e->v_before);
        add_point(out, e->t, e->v_after);
      }
      event++;
    }
    add_point(out, end, curve->x + (size_t)k * (size_t)curve->width);
  }
  return true;
}

bool path_of_run(const PawlRecorder* recorder, Path* out) {
  *out = (Path){.first_switch = INFINITY};
  for (int part = 0; part < PARTS; part++) {
    if (!sampled_curve(recorder, (Part)part, &out->curve[part]) ||
        !jumping_graph(recorder, (Part)part, &out->curve[part], &out->graph[part])) {
      path_destroy(out);
      return false;
    }
  }
  const PawlEvent* e = pawl_recorder_event(recorder, 0);
  out->first_switch = e ? e->t : INFINITY;
  out->end = out->curve[PART_Q].t[out->curve[PART_Q].count - 1];
  return true;
}

// ---- values and distances -----------------------------------------------------------------------
// The point of the interval that holds t, so that t[k] <= t < t[k+1] where possible.
static int interval_of(const Curve* c, double t) {
  int low = 0, high = c->count - 1;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (c->t[middle] <= t) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

void curve_at(const Curve* c, double t, double* out) {
  size_t width = (size_t)c->width;
  int k = interval_of(c, t);
  const double* a = c->x + (size_t)k * width;
  if (c->count < 2) {
    memcpy(out, a, width * sizeof(double));
    return;
  }
  double step = c->t[k + 1] - c->t[k];
  double s = step > 0.0 ? fmin(fmax((t - c->t[k]) / step, 0.0), 1.0) : 1.0;
  for (size_t i = 0; i < width; i++) {
    double b = a[width + i];
    out[i] = (1 - s) * a[i] + s * b;
    if (c->slope) {  // the cubic through both ends with their slopes
      const double* slope = c->slope + (size_t)k * width;
      double rise = b - a[i];
      out[i] +=
          s * (1 - s) * ((1 - s) * (step * slope[i] - rise) - s * (step * slope[width + i] - rise));
    }
  }
}

// The largest difference of a component from the reference at one sample.
static double difference_at(const Curve* c, int sample, const Curve* reference, double* room) {
  double largest = 0.0;
  curve_at(reference, c->t[sample], room);
  for (int i = 0; i < c->width; i++) {
    double d = fabs(c->x[(size_t)sample * (size_t)c->width + (size_t)i] - room[i]);
    largest = d > largest || isnan(d) ? d : largest;
  }
  return largest;
}

// A curve has room for one point behind its last.
static double* spare_point(const Curve* curve) {
  return curve->x + (size_t)curve->count * (size_t)curve->width;
}

double curve_end_distance(const Curve* curve, const Curve* reference) {
  return difference_at(curve, curve->count - 1, reference, spare_point(curve));
}

void curve_differences(const Curve* curve, const Curve* reference, double* out) {
  for (int k = 0; k < curve->count; k++) {
    out[k] = difference_at(curve, k, reference, spare_point(curve));
  }
}

double curve_l1(const Curve* curve, const Curve* reference, double until) {
  double* room = spare_point(curve);
  double sum = 0.0, last = 0.0, length = 0.0;
  for (int k = 0; k < curve->count && curve->t[k] <= until; k++) {
    double d = difference_at(curve, k, reference, room);
    double step = k ? curve->t[k] - curve->t[k - 1] : 0.0;
    sum += 0.5 * (d + last) * step;
    length += step;
    last = d;
  }
  return length > 0.0 ? sum / length : NAN;
}

// The square of the distance of (t, x) from a segment.
static double segment_square(double t, double x, double t0, double x0, double t1, double x1) {
  double dt = t1 - t0, dx = x1 - x0, square = dt * dt + dx * dx;
  double s = square > 0.0 ? ((t - t0) * dt + (x - x0) * dx) / square : 0.0;
  s = s < 0.0 ? 0.0 : s > 1.0 ? 1.0 : s;
  double a = t - t0 - s * dt, b = x - x0 - s * dx;
  return a * a + b * b;
}

// The square of the distance of a point from the graph of one component; any number up to `enough`
// stands for those below it. Segments further away in time than the best so far cannot be nearer.
static double graph_square(double t, double x, const Curve* c, int component, double enough) {
  size_t width = (size_t)c->width;
  const double* y = c->x + component;
  int near = interval_of(c, t);
  double best = INFINITY;
  for (int k = near; k + 1 < c->count && best > enough; k++) {
    double away = c->t[k] - t;
    if (away > 0.0 && away * away > best) {
      break;
    }
    double d = segment_square(t, x, c->t[k], y[(size_t)k * width], c->t[k + 1],
                              y[(size_t)(k + 1) * width]);
    best = d < best ? d : best;
  }
  for (int k = near; k > 0 && best > enough; k--) {
    double away = t - c->t[k];
    if (away > 0.0 && away * away > best) {
      break;
    }
    double d = segment_square(t, x, c->t[k - 1], y[(size_t)(k - 1) * width], c->t[k],
                              y[(size_t)k * width]);
    best = d < best ? d : best;
  }
  return best;
}

// From the end, where distances tend to be large, so that most points need no more than a look.
static double one_way(const Curve* a, const Curve* b, double until) {
  double worst = 0.0;
  for (int k = a->count - 1; k >= 0; k--) {
    for (int i = 0; i < a->width && a->t[k] <= until; i++) {
      double x = a->x[(size_t)k * (size_t)a->width + (size_t)i];
      double d = isfinite(x) ? graph_square(a->t[k], x, b, i, worst) : INFINITY;
      worst = d > worst ? d : worst;
    }
  }
  return sqrt(worst);
}

double curve_hausdorff(const Curve* a, const Curve* b, double until) {
  return fmax(one_way(a, b, until), one_way(b, a, until));
}
