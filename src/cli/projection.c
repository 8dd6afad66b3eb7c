// SPDX-License-Identifier: Apache-2.0
// What --project or the assembly of guesses changed: the start that the model states beside the one
// that the run begins with, and how far the constraints, joints among them, were off.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

struct Projection {
  const PawlSystem* system;
  int count;            // coordinates and rates
  double *stated, *to;  // coordinates, then rates
  double* off;          // rows: g of the stated start, 0 where it does not count
  double size[2];       // the largest of the coordinates; of these (per second) and of the rates
};

static void find_sizes(Projection* p) {
  int coordinates = pawl_system_sizes(p->system).q;
  for (int k = 0; k < p->count; k++) {
    double value = fmax(fabs(p->stated[k]), fabs(p->to[k]));
    p->size[1] = fmax(p->size[1], value);
    p->size[0] = k < coordinates ? p->size[1] : p->size[0];
  }
}

// g of the rows that hold at the start. What can engage holds what it found.
static PawlStatus find_off(Projection* p, const PawlState* placed, PawlError* err) {
  PawlSizes n = pawl_system_sizes(p->system);
  PawlEval* eval;
  PawlPoint point = {.t = placed->t,
                     .q = p->stated,
                     .v = p->stated + n.q,
                     .modes = placed->modes,
                     .held = placed->held};
  PawlStatus status = pawl_eval_create(p->system, PAWL_POSITION, &eval, err);
  if (status != PAWL_OK) {
    return status;
  }
  bool known = pawl_eval_run(eval, &point, NULL) == PAWL_OK;
  for (int i = 0; known && i < n.rows; i++) {
    int number, c;
    const char* name = pawl_system_row_name(p->system, i, &number);
    bool counts = pawl_system_row_kind(p->system, i) == PAWL_ROW_BILATERAL && placed->in_force[i];
    c = counts ? pawl_system_find_constraint(p->system, name) : -1;
    if (counts && !(c >= 0 && pawl_system_engages(p->system, c))) {
      p->off[i] = pawl_eval_values(eval)->g[i];
    }
  }
  pawl_eval_destroy(eval);
  return PAWL_OK;
}

PawlStatus projection_create(const PawlSystem* system, const PawlState* placed, Projection** out,
                             PawlError* err) {
  PawlSizes n = pawl_system_sizes(system);
  int count = n.q + n.v;
  Projection* p = calloc(1, sizeof *p);
  double* values = calloc((size_t)(2 * count + n.rows) + 1, sizeof *values);
  *out = NULL;
  if (!p || !values) {
    free(p);
    free(values);
    *err = (PawlError){PAWL_ERROR_MEMORY, "out of memory"};
    return PAWL_ERROR_MEMORY;
  }
  *p = (Projection){system, count, values, values + count, values + 2 * count, {0.0, 0.0}};
  pawl_system_start(system, p->stated, p->stated + n.q);
  memcpy(p->to, placed->q, (size_t)n.q * sizeof(double));
  memcpy(p->to + n.q, placed->v, (size_t)n.v * sizeof(double));
  find_sizes(p);
  PawlStatus status = find_off(p, placed, err);
  if (status != PAWL_OK) {
    projection_destroy(p);
    return status;
  }
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
  static const double ROUNDING = 1e-12;  // of the size of the start; less is no change
  double change = fabs(p->to[k] - p->stated[k]);
  return change > 0.0 && change > ROUNDING * p->size[k >= pawl_system_sizes(p->system).q];
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

// The constraint that begins at row *i, and how far it is off at most; *i moves on. NULL: no more.
static const char* next_off(const Projection* p, int* i, double* off) {
  static const double ROUNDING = 1e-12;  // of 1: of a length in metres, of directions
  int rows = pawl_system_sizes(p->system).rows, number;
  while (*i < rows) {
    const char* name = pawl_system_row_name(p->system, *i, &number);
    *off = 0.0;
    for (; *i < rows && pawl_system_row_name(p->system, *i, &number) == name; ++*i) {
      *off = fmax(*off, fabs(p->off[*i]));
    }
    if (*off > ROUNDING) {
      return name;
    }
  }
  return NULL;
}

static void print_off(const Projection* p) {
  enum { MOST_SHOWN = 8 };
  int count = 0, i = 0;
  double off;
  for (const char* name; (name = next_off(p, &i, &off));) {
    if (count++ < MOST_SHOWN) {
      fprintf(stderr, "%s'%s' by %.6g", count > 1 ? ", " : "off at the stated start: ", name, off);
    }
  }
  if (count > MOST_SHOWN) {
    fprintf(stderr, " and %d more", count - MOST_SHOWN);
  }
  fprintf(stderr, "%s", count > 0 ? "\n" : "");
}

void projection_print(const Projection* p) {
  enum { MOST_SHOWN = 24 };
  char name[300];
  int count = 0;
  if (p) {
    print_off(p);
  }
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
  json_open(json, "off_at_start", '{');
  double off;
  int i = 0;
  for (const char* of; p && (of = next_off(p, &i, &off));) {
    json_number(json, of, off);
  }
  json_close(json, '}');
}
