// SPDX-License-Identifier: Apache-2.0
// What --project or the assembly of guesses changed: the start that the model states beside the one
// that the run begins with.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

struct Projection {
  const PawlSystem* system;
  int count;            // coordinates and rates
  double *stated, *to;  // coordinates, then rates
};

PawlStatus projection_create(const PawlSystem* system, const PawlState* placed, Projection** out,
                             PawlError* err) {
  PawlSizes n = pawl_system_sizes(system);
  Projection* p = calloc(1, sizeof *p);
  double* values = calloc(2 * (size_t)(n.q + n.v) + 1, sizeof *values);
  *out = NULL;
  if (!p || !values) {
    free(p);
    free(values);
    *err = (PawlError){PAWL_ERROR_MEMORY, "out of memory"};
    return PAWL_ERROR_MEMORY;
  }
  *p = (Projection){system, n.q + n.v, values, values + n.q + n.v};
  pawl_system_start(system, p->stated, p->stated + n.q);
  memcpy(p->to, placed->q, (size_t)n.q * sizeof(double));
  memcpy(p->to + n.q, placed->v, (size_t)n.v * sizeof(double));
  *out = p;
  return PAWL_OK;
}

void projection_destroy(Projection* p) {
  if (p) {
    free(p->stated);
    free(p);
  }
}

static bool moved(const Projection* p, int k) {
  static const double ROUNDING = 1e-12;  // relative; less is no change
  double from = p->stated[k], to = p->to[k];
  return fabs(to - from) > ROUNDING * fmax(fabs(from), fabs(to));
}

static const char* name_of(const Projection* p, int k, char* room, size_t size) {
  PawlSizes n = pawl_system_sizes(p->system);
  bool rate = k >= n.q, is_rate = false;
  const char* name = rate ? pawl_system_velocity_name(p->system, k - n.q, &is_rate)
                          : pawl_system_coordinate_name(p->system, k);
  if (name) {
    snprintf(room, size, "%s%s", name, is_rate ? "'" : "");
  } else {
    snprintf(room, size, "v[%d]", k - n.q);
  }
  return room;
}

void projection_print(const Projection* p) {
  enum { MOST_SHOWN = 24 };
  char name[300];
  int count = 0;
  for (int k = 0; p && k < p->count; k++) {
    if (moved(p, k) && count++ < MOST_SHOWN) {
      const char* how = pawl_system_guesses(p->system) ? "assembled" : "projected";
      fprintf(stderr, "%s %s: %.10g -> %.10g\n", how, name_of(p, k, name, sizeof name),
              p->stated[k], p->to[k]);
    }
  }
  if (count > MOST_SHOWN) {
    const char* how = pawl_system_guesses(p->system) ? "assembled" : "projected";
    fprintf(stderr, "%s %d more; --json lists all\n", how, count - MOST_SHOWN);
  }
}

void projection_json(const Projection* p, Json* json) {
  char name[300];
  json_open(json, "projected", '{');
  for (int k = 0; p && k < p->count; k++) {
    if (moved(p, k)) {
      json_open(json, name_of(p, k, name, sizeof name), '{');
      json_number(json, "from", p->stated[k]);
      json_number(json, "to", p->to[k]);
      json_close(json, '}');
    }
  }
  json_close(json, '}');
}
