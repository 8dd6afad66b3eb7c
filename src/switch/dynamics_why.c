// SPDX-License-Identifier: Apache-2.0
// Why a system of equations could not be solved: masses that are missing, rows that depend on each
// other or vanish; and masses that are watched on the way.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "model/model.h"
#include "switch/dynamics.h"
#include "switch/tolerances.h"
#include "system/system.h"

int pawl_dynamics_list_rows(const PawlDynamics* d, const unsigned char* flags, PawlText* out) {
  enum { MOST_NAMES = 8 };
  int total = 0, names = 0, more = 0;
  assert(flags || d->sizes.rows == 0);
  for (int i = 0; i < d->sizes.rows; i++) {
    int number, last = i;
    if (!flags[i]) {
      continue;
    }
    const char* name = pawl_system_row_name(d->system, i, &number);
    for (int of_next; last + 1 < d->sizes.rows && flags[last + 1] &&
                      pawl_system_row_name(d->system, last + 1, &of_next) == name &&
                      of_next == number + last + 1 - i;) {
      last++;
    }
    int count = last - i + 1;
    total += count;
    if (++names > MOST_NAMES) {
      more += count;
    } else if (count == 1) {
      pawl_text_printf(out, "%s'%s' (row %d)", names > 1 ? ", " : "", name, number + 1);
    } else {
      pawl_text_printf(out, "%s'%s' (rows %d %s %d)", names > 1 ? ", " : "", name, number + 1,
                       count == 2 ? "and" : "to", number + count);
    }
    i = last;
  }
  if (more > 0) {
    pawl_text_printf(out, " and %d more", more);
  }
  return total;
}

static const char* velocity_name(const PawlDynamics* d, int column) {
  bool is_rate;
  const char* name = pawl_system_velocity_name(d->system, column, &is_rate);
  return name ? name : "a velocity";
}

static void name_missing_mass(const PawlDynamics* d, int column, double t, PawlError* err) {
  pawl_fail(err, PAWL_RETRY,
            "t = %.10g: the mass matrix is singular at coordinate '%s': it can move with no "
            "mass behind it; is its mass or inertia zero?",
            t, velocity_name(d, column));
}

static void name_dependent(const PawlDynamics* d, const unsigned char* rows, double t,
                           PawlError* err) {
  PawlText names = {0};
  int count = pawl_dynamics_list_rows(d, rows, &names);
  pawl_fail(err, PAWL_RETRY,
            "t = %.10g: the constraints depend on each other here: %s repeat%s or "
            "contradict%s the others",
            t, names.s ? names.s : "some rows", count == 1 ? "s" : "", count == 1 ? "s" : "");
  pawl_text_free(&names);
}

// The length of each row of G.
static void row_lengths(const PawlDynamics* d, const double* G, double* length) {
  memset(length, 0, (size_t)d->sizes.rows * sizeof(double));
  for (int k = 0; k < d->nonzeros_G; k++) {
    length[d->G.index[k]] += G[k] * G[k];
  }
  for (int i = 0; i < d->sizes.rows; i++) {
    length[i] = sqrt(length[i]);
  }
}

// The rows of G, each scaled to length 1, that are nearest to depending on each other: with their
// combination w of length 1 that is least, by inverse iteration on G M^-1 G^T. Flags the rows with
// a part in it and returns |x|, G x = w, which grows as they become dependent. Needs [M -G^T; G 0]
// factored.
static double nearest_to_dependent(PawlDynamics* d, const double* G, const unsigned char* set,
                                   unsigned char* flags) {
  enum { ITERATIONS = 4 };
  static const double PART = 0.1;  // of the largest
  int m = d->sizes.rows, n = d->sizes.v;
  double *length = d->room, *w = length + m, *y = w + m, *x = y + m, reach = 0.0;
  row_lengths(d, G, length);
  for (int i = 0; i < m; i++) {
    w[i] = set && !set[i] ? 0.0 : 1.0 + 0.01 * (i % 7);  // in no direction of its own
  }
  for (int k = 0; k < ITERATIONS; k++) {
    double size = 0.0;
    for (int i = 0; i < m; i++) {
      size += w[i] * w[i];
    }
    for (int i = 0; i < m; i++) {
      w[i] /= sqrt(size);
      y[i] = w[i] * length[i];
    }
    memset(x, 0, (size_t)n * sizeof(double));
    pawl_kkt_solve(d->kkt, x, y);
    reach = pawl_dynamics_largest(n, x);
    for (int i = 0; i < m; i++) {
      w[i] = set && !set[i] ? 0.0 : y[i] * length[i];
    }
  }
  double most = pawl_dynamics_largest(m, w);
  for (int i = 0; i < m; i++) {
    flags[i] = fabs(w[i]) >= PART * most && (!set || set[i]);
  }
  return reach;
}

// "x = 1, y = 0.5", at most a few.
static void list_coordinates(const PawlDynamics* d, const double* q, PawlText* out) {
  enum { MOST_NAMES = 6 };
  int count = d->sizes.q == d->sizes.v ? d->sizes.q : 0;
  for (int i = 0; i < count && i < MOST_NAMES; i++) {
    pawl_text_printf(out, "%s%s = %.6g", i > 0 ? ", " : " at ",
                     pawl_system_coordinate_name(d->system, i), q[i]);
  }
  if (count > MOST_NAMES) {
    pawl_text_printf(out, " ...");
  }
}

static void name_near_dependent(const PawlDynamics* d, const unsigned char* rows, double t,
                                const double* q, PawlError* err) {
  PawlText text = {0};
  (void)pawl_dynamics_list_rows(d, rows, &text);
  pawl_text_add(&text, " become dependent");
  list_coordinates(d, q, &text);
  pawl_fail(err, PAWL_RETRY,
            "t = %.10g: the constraints %s: the position is singular, and the equations do not say "
            "how the motion goes on",
            t, text.s ? text.s : "become dependent");
  pawl_text_free(&text);
}

// Flags the rows of `set` whose gradient vanishes, measured by that of the start; how many.
static int vanishing(const PawlDynamics* d, const double* G, const unsigned char* set,
                     unsigned char* flags) {
  int count = 0;
  row_lengths(d, G, d->room);
  for (int i = 0; i < d->sizes.rows; i++) {
    flags[i] = (!set || set[i]) && d->room[i] < PAWL_VANISHED * d->length_begin[i];
    count += flags[i];
  }
  return count;
}

static void name_vanishing(const PawlDynamics* d, const unsigned char* rows, double t,
                           const double* q, PawlError* err) {
  PawlText text = {0};
  int count = pawl_dynamics_list_rows(d, rows, &text);
  list_coordinates(d, q, &text);
  pawl_fail(err, PAWL_RETRY,
            "t = %.10g: the gradient%s of the constraint%s %s vanish%s: the position is singular, "
            "and the equations do not say how the motion goes on",
            t, count == 1 ? "" : "s", count == 1 ? "" : "s", text.s ? text.s : "",
            count == 1 ? "es" : "");
  pawl_text_free(&text);
}

static bool blame_mass(PawlDynamics* d, const double* M, double t, PawlError* err) {
  double pivot;
  int column = d->mass.on ? pawl_mass_lost(&d->mass, M, &pivot) : -1;
  if (column >= 0) {
    pawl_fail(
        err, PAWL_RETRY,
        "t = %.10g: the mass matrix loses its definiteness here: at coordinate '%s' a mass of "
        "%.3g is left of %.3g at the start, and without it the equations do not say how the "
        "motion goes on",
        t, velocity_name(d, column), pivot, d->mass.begin[column]);
  }
  return column >= 0;
}

static bool blame_rows(PawlDynamics* d, const PawlPhase* phase, const PawlValues* at, double t,
                       const double* q, unsigned char* rows, PawlError* err) {
  int column = -1;
  if (vanishing(d, at->G, phase->active, rows) > 0) {
    name_vanishing(d, rows, t, q, err);
    return true;
  }
  PawlStatus status = pawl_kkt_factor(d->kkt, at->M, at->G, at->G, phase->active);
  bool guilty =
      status == PAWL_OK
          ? nearest_to_dependent(d, at->G, phase->active, rows) > PAWL_NEXT_TO_DEPENDENT
          : status == PAWL_RETRY &&
                pawl_kkt_diagnose(d->kkt, at->M, at->G, phase->active, &column, rows) == PAWL_OK &&
                column < 0;
  if (guilty) {
    name_near_dependent(d, rows, t, q, err);
  }
  return guilty;
}

bool pawl_dynamics_blame(PawlDynamics* d, const PawlPhase* phase, double t, const double* q,
                         const double* v, PawlError* err) {
  PawlPoint point = pawl_phase_point(phase, t, q, v, NULL, NULL);
  unsigned char* rows = pawl_alloc((size_t)d->sizes.rows, 1);
  bool guilty = false;
  if (rows && pawl_eval_run(d->eval, &point, NULL) == PAWL_OK) {
    const PawlValues* at = pawl_eval_values(d->eval);
    guilty = blame_mass(d, at->M, t, err) ||
             (d->sizes.rows > 0 && blame_rows(d, phase, at, t, q, rows, err));
  }
  pawl_free(rows);
  return guilty;
}

PawlStatus pawl_dynamics_singular(PawlDynamics* d, const double* S, const double* G,
                                  const unsigned char* set, double t, PawlError* err) {
  int column;
  unsigned char* rows = pawl_alloc((size_t)d->sizes.rows, 1);
  PawlStatus status =
      rows ? pawl_kkt_diagnose(d->kkt, S, G, set, &column, rows) : PAWL_ERROR_MEMORY;
  if (status == PAWL_OK) {
    int place;
    double pivot;
    bool massive = column < 0 || pawl_mass_look(&d->mass, S, &place, &pivot) == PAWL_MASS_DEFINITE;
    massive ? name_dependent(d, rows, t, err) : name_missing_mass(d, column, t, err);
  }
  pawl_free(rows);
  return status == PAWL_OK ? PAWL_RETRY
         : status == PAWL_RETRY
             ? pawl_fail(err, PAWL_RETRY, "t = %.10g: numbers overflow in the linear system", t)
             : pawl_fail_memory(err);
}

// ---- masses -------------------------------------------------------------------------------------
void pawl_dynamics_begin(PawlDynamics* d, const double* M, const double* G) {
  int column;
  double pivot;
  d->mass.seen = NAN;
  d->mass.M = NULL;
  d->mass.on = d->masses && pawl_mass_look(&d->mass, M, &column, &pivot) != PAWL_MASS_INDEFINITE;
  if (d->mass.on) {
    pawl_mass_keep(&d->mass);
  }
  row_lengths(d, G, d->length_begin);
}

// Its factors are still there, and show it.
static bool is_seen_definite(const PawlDynamics* d, double t) {
  return d->mass.seen == t && pawl_kkt_current(d->kkt) == d->mass.number &&
         pawl_kkt_is_definite(d->kkt);
}

// M at a state: evaluated, unless the last step has left it.
static PawlStatus mass_at(PawlDynamics* d, const PawlState* state, const double** M,
                          PawlError* err) {
  if (d->mass.M && d->mass.seen == state->t) {
    *M = d->mass.M;
    return PAWL_OK;
  }
  PawlPhase phase = pawl_phase_of(state, d->plain);
  PawlPoint point = pawl_phase_point(&phase, state->t, state->q, state->v, NULL, NULL);
  PAWL_TRY(pawl_eval_run(d->masses, &point, err));
  *M = pawl_eval_values(d->masses)->M;
  return PAWL_OK;
}

PawlStatus pawl_dynamics_watch_masses(PawlDynamics* d, const PawlState* state, PawlError* err) {
  int column;
  double pivot;
  if (!d->mass.on || is_seen_definite(d, state->t) || state->step % d->mass.period != 0) {
    return PAWL_OK;
  }
  const double* M;
  PAWL_TRY(mass_at(d, state, &M, err));
  if (pawl_mass_is_definite(&d->mass, M) ||
      pawl_mass_look(&d->mass, M, &column, &pivot) != PAWL_MASS_INDEFINITE) {
    return PAWL_OK;
  }
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: the mass matrix is not positive definite any more: at coordinate "
                   "'%s' a mass of %.3g is left, and kinetic energy can be negative",
                   state->t, velocity_name(d, column), pivot);
}
