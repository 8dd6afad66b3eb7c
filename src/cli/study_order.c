// SPDX-License-Identifier: Apache-2.0
// Observed orders: runs over many step sizes against references, and the slope of the distances.
// One halving says little where events fall differently into each step; the slope of a line fitted
// through many step sizes, with its standard error, does.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/study.h"

static const double ROUNDING = 1e-11;  // distances below this part of the largest value are noise
static const double AWAY_FROM_SWITCH = 2;  // steps between "before the first switch" and it

// ---- references ---------------------------------------------------------------------------------
struct References {
  const PawlSystem* system;
  PawlSimulateDef def;
  int finer;
  char label[128];
  int count;
  double h[2 * MOST_STEPS];
  Path paths[2 * MOST_STEPS];
};

// Want of memory says nothing of a method; the run will tell it.
static bool accepts(const PawlSystem* system, const PawlSimulateDef* def) {
  PawlStepper* stepper;
  PawlStatus status = pawl_stepper_create(system, def, &stepper, NULL);
  pawl_stepper_destroy(stepper);
  return status == PAWL_OK || status == PAWL_ERROR_MEMORY;
}

PawlSimulateDef study_reference_def(const PawlSystem* system, const PawlSimulateDef* def,
                                    int finer) {
  PawlSimulateDef reference = *def;
  reference.method = study_has_switches(system) ? "event-driven" : "rk4";
  reference.smooth = "rk4";
  reference.step = def->step / finer;
  reference.record = def->step;
  if (strcmp(def->impact, "none") == 0 && pawl_system_switches(system)) {
    reference.impact = "model";  // ga-a alone knows switches without a jump
  }
  if (!accepts(system, &reference)) {
    reference.method = "php";  // one contact, elastic
    reference.crossing = "momentum";
    reference.method = accepts(system, &reference) ? "php" : "nsga-pva";  // contacts
  }
  return reference;
}

References* references_create(const PawlSystem* system, const PawlSimulateDef* def, int finer) {
  References* r = calloc(1, sizeof *r);
  if (r) {
    PawlSimulateDef reference = study_reference_def(system, def, finer);
    char method[64];
    r->system = system;
    r->def = *def;
    r->finer = finer;
    snprintf(r->label, sizeof r->label, "%s at 1/%d of each step",
             method_label(&reference, method, sizeof method), finer);
  }
  return r;
}

void references_destroy(References* r) {
  for (int k = 0; r && k < r->count; k++) {
    path_destroy(&r->paths[k]);
  }
  free(r);
}

const char* references_label(const References* r) {
  return r->label;
}

static PawlStatus reference_for(References* r, double h, const Path** out, PawlError* err) {
  for (int k = 0; k < r->count; k++) {
    if (r->h[k] == h) {
      *out = &r->paths[k];
      return PAWL_OK;
    }
  }
  if (r->count == 2 * MOST_STEPS) {  // more than two lists of steps: the oldest is given up
    path_destroy(&r->paths[0]);
    r->count--;
    memmove(r->h, r->h + 1, (size_t)r->count * sizeof *r->h);
    memmove(r->paths, r->paths + 1, (size_t)r->count * sizeof *r->paths);
  }
  PawlSimulateDef def = r->def;
  def.step = h;
  def = study_reference_def(r->system, &def, r->finer);
  StudyRun* run = calloc(1, sizeof *run);
  PawlStatus status = run ? study_run(r->system, &def, run) : PAWL_ERROR_MEMORY;
  if (status == PAWL_OK && !path_of_run(pawl_sim_recorder(run->sim), &r->paths[r->count])) {
    status = PAWL_ERROR_MEMORY;
  }
  if (status == PAWL_OK) {
    *out = &r->paths[r->count];
    r->h[r->count++] = h;
  } else if (status == PAWL_ERROR_MEMORY) {
    *err = (PawlError){status, "out of memory"};
  } else {
    *err = run->err;
  }
  if (run) {
    study_run_destroy(run);
  }
  free(run);
  return status;
}

// ---- a sweep ------------------------------------------------------------------------------------
static Distances distances_of(const Path* path, const Path* reference, double until) {
  Distances out;
  for (int part = 0; part < PARTS; part++) {
    out.d[part][NORM_L1] = curve_l1(&path->curve[part], &reference->curve[part], until);
    out.d[part][NORM_HAUSDORFF] =
        curve_hausdorff(&path->graph[part], &reference->graph[part], until);
  }
  return out;
}

static void note_scale(const Path* reference, Sweep* out) {
  for (int part = 0; part < PARTS; part++) {
    const Curve* c = &reference->curve[part];
    size_t numbers = (size_t)c->count * (size_t)c->width;
    for (size_t k = 0; k < numbers; k++) {
      out->scale[part] = fmax(out->scale[part], fabs(c->x[k]));
    }
  }
}

static PawlStatus sweep_one(const PawlSystem* system, const PawlSimulateDef* def,
                            const Path* reference, double before, int k, Sweep* out) {
  StudyRun* run = calloc(1, sizeof *run);
  Path path;
  if (!run) {
    return PAWL_ERROR_MEMORY;
  }
  PawlStatus status = study_run(system, def, run);
  if (status == PAWL_OK) {
    if (path_of_run(pawl_sim_recorder(run->sim), &path)) {
      out->good[k] = true;
      out->seconds[k] = pawl_sim_summary(run->sim).wall_seconds;
      out->whole[k] = distances_of(&path, reference, INFINITY);
      if (out->has_before) {
        out->before[k] = distances_of(&path, reference, before);
      }
      path_destroy(&path);
    } else {
      status = PAWL_ERROR_MEMORY;
    }
  } else if (!out->message[0]) {
    snprintf(out->message, sizeof out->message, "%.500s", run->err.message);
  }
  study_run_destroy(run);
  free(run);
  return status;
}

PawlStatus study_sweep(const PawlSystem* system, const PawlSimulateDef* def, int count,
                       const double* h, References* references, Sweep* out, PawlError* err) {
  *out = (Sweep){.count = count};
  double largest = 0.0, before = 0.0;
  for (int k = 0; k < count; k++) {
    largest = fmax(largest, h[k]);
  }
  for (int k = 0; k < count; k++) {
    const Path* reference = NULL;
    PawlStatus status = reference_for(references, h[k], &reference, err);
    if (status != PAWL_OK) {
      return status;
    }
    if (k == 0) {
      before = reference->first_switch - AWAY_FROM_SWITCH * largest;
      out->has_before = isfinite(before) && before > AWAY_FROM_SWITCH * largest;
      note_scale(reference, out);
    }
    PawlSimulateDef at_h = *def;
    at_h.step = out->h[k] = h[k];
    at_h.record = 0.0;
    status = sweep_one(system, &at_h, reference, before, k, out);
    if (status == PAWL_ERROR_USAGE) {
      break;  // a method that refuses does so at every step size
    }
    if (status == PAWL_ERROR_MEMORY) {
      *err = (PawlError){status, "out of memory"};
      return status;
    }
  }
  return PAWL_OK;
}

Order study_order(const Sweep* sweep, bool whole, Part part, Norm norm) {
  double floor = ROUNDING * fmax(sweep->scale[part], 1e-3);
  double x[MOST_STEPS], y[MOST_STEPS], mean_x = 0.0, mean_y = 0.0;
  int n = 0, good = 0;
  for (int k = 0; k < sweep->count; k++) {
    const Distances* d = whole ? &sweep->whole[k] : &sweep->before[k];
    good += sweep->good[k];
    if (sweep->good[k] && d->d[part][norm] > floor) {
      x[n] = log(sweep->h[k]);
      y[n] = log(d->d[part][norm]);
      mean_x += x[n];
      mean_y += y[n++];
    }
  }
  Order out = {.used = n, .order = NAN, .error = NAN, .exact = good > 0 && n == 0};
  if (n < 3) {
    return out;
  }
  mean_x /= n;
  mean_y /= n;
  double xx = 0.0, xy = 0.0, rest = 0.0;
  for (int k = 0; k < n; k++) {
    xx += (x[k] - mean_x) * (x[k] - mean_x);
    xy += (x[k] - mean_x) * (y[k] - mean_y);
  }
  out.order = xy / xx;
  for (int k = 0; k < n; k++) {
    double r = y[k] - mean_y - out.order * (x[k] - mean_x);
    rest += r * r;
  }
  out.error = sqrt(rest / (n - 2) / xx);
  return out;
}

void study_steps(double high, double low, int count, double* h) {
  for (int k = 0; k < count; k++) {
    h[k] = count > 1 ? high * pow(low / high, (double)k / (count - 1)) : high;
  }
}
