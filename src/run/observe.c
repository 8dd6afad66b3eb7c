// SPDX-License-Identifier: Apache-2.0
// Columns in this order: t; coordinates, rates, accelerations; states and their rates; inputs;
// multipliers; kinetic, potential, energy; residuals at position, velocity and acceleration level;
// the model's outputs; the path z; corrections nu, Lambda and the multipliers of the smooth motion;
// works, and what they leave of the energy unexplained.
#include "run/observe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "linalg/sparse.h"
#include "switch/dynamics.h"
#include "switch/tolerances.h"

struct PawlObserver {
  PawlArena arena;
  const PawlSystem* system;
  PawlSizes sizes;
  bool path, corrections;
  double step;  // the nominal one [s]
  double atol;  // what the method takes for nothing; 0: it has no such tolerance
  PawlPattern G, H;
  PawlEval *eval, *mass;
  double *residual, *size;    // rows
  bool* one_sided;            // rows: of contacts
  double *momentum, *shares;  // v; v + 1
  int column_count;
  PawlColumn* columns;
  bool failed;  // while columns are added
  int work_count;
  PawlWork works[PAWL_WORK_JUMPS + 1];  // those with a column
};

static void add_column(PawlObserver* o, PawlColumnKind kind, const char* name, const char* suffix,
                       const char* unit, const char* per) {
  char text[512];
  snprintf(text, sizeof text, "%s%s", name, suffix);
  const char* kept_name = pawl_arena_copy(&o->arena, text, strlen(text));
  snprintf(text, sizeof text, "%s%s", unit, unit[0] ? per : "");
  const char* kept_unit = pawl_arena_copy(&o->arena, text, strlen(text));
  o->failed |= !kept_name || !kept_unit;
  o->columns[o->column_count++] = (PawlColumn){kept_name, kept_unit, kind};
}

// Rates carry the names of the coordinates, angular velocities their own; those of callers that
// have no such names v[0], v[1], ...
static void add_motion(PawlObserver* o) {
  PawlSizes n = o->sizes;
  for (int k = 0; k < n.q - n.states; k++) {
    add_column(o, PAWL_COLUMN_COORDINATE, pawl_system_coordinate_name(o->system, k), "",
               pawl_system_coordinate_unit(o->system, k), "");
  }
  static const struct {
    PawlColumnKind kind;
    const char *prime, *other, *per;
  } level[2] = {{PAWL_COLUMN_RATE, "'", "", "/s"}, {PAWL_COLUMN_ACCELERATION, "''", "'", "/s^2"}};
  for (int l = 0; l < 2; l++) {
    for (int k = 0; k < n.v - n.states; k++) {
      char number[32];
      bool is_rate;
      const char* name = pawl_system_velocity_name(o->system, k, &is_rate);
      snprintf(number, sizeof number, "v[%d]", k);
      add_column(o, level[l].kind, name ? name : number,
                 name && is_rate ? level[l].prime : level[l].other,
                 pawl_system_velocity_unit(o->system, k), level[l].per);
    }
  }
}

static void add_signals(PawlObserver* o) {
  PawlSizes n = o->sizes;
  for (int k = n.q - n.states; k < n.q; k++) {
    add_column(o, PAWL_COLUMN_STATE, pawl_system_coordinate_name(o->system, k), "",
               pawl_system_coordinate_unit(o->system, k), "");
  }
  for (int k = n.q - n.states; k < n.q; k++) {
    add_column(o, PAWL_COLUMN_STATE_RATE, pawl_system_coordinate_name(o->system, k), "'",
               pawl_system_coordinate_unit(o->system, k), "/s");
  }
  for (int k = 0; k < n.inputs; k++) {
    add_column(o, PAWL_COLUMN_INPUT, pawl_system_input_name(o->system, k), "",
               pawl_system_input_unit(o->system, k), "");
  }
}

// prefix(name,k) for every row, without k where the constraint has one row. Its unit is that of the
// multiplier, with `per` behind it.
static void add_rows(PawlObserver* o, PawlColumnKind kind, const char* prefix, const char* per) {
  for (int i = 0; i < o->sizes.rows; i++) {
    int number, next = 0;
    const char* name = pawl_system_row_name(o->system, i, &number);
    bool alone = number == 0 && (i + 1 == o->sizes.rows ||
                                 (pawl_system_row_name(o->system, i + 1, &next), next == 0));
    char text[512];
    if (alone) {
      snprintf(text, sizeof text, "%s(%s)", prefix, name);
    } else {
      snprintf(text, sizeof text, "%s(%s,%d)", prefix, name, number + 1);
    }
    add_column(o, kind, text, "", pawl_system_row_unit(o->system, i), per);
  }
}

static void add_works(PawlObserver* o, const PawlStepper* stepper) {
  static const char* const names[] = {
      [PAWL_WORK_FORCES] = "work.forces",     [PAWL_WORK_DISSIPATION] = "work.dissipation",
      [PAWL_WORK_FRICTION] = "work.friction", [PAWL_WORK_DRIVES] = "work.drives",
      [PAWL_WORK_TIME] = "work.time",         [PAWL_WORK_JUMPS] = "work.jumps"};
  for (int k = 0; k <= PAWL_WORK_JUMPS; k++) {
    if (pawl_stepper_has_work(stepper, (PawlWork)k)) {
      o->works[o->work_count++] = (PawlWork)k;
      add_column(o, PAWL_COLUMN_WORK, names[k], "", "J", "");
    }
  }
  add_column(o, PAWL_COLUMN_WORK, "energy.drift", "", "J", "");
}

static void add_columns(PawlObserver* o) {
  add_column(o, PAWL_COLUMN_TIME, "t", "", "s", "");
  add_motion(o);
  add_signals(o);
  add_rows(o, PAWL_COLUMN_MULTIPLIER, "lambda", "");
  add_column(o, PAWL_COLUMN_ENERGY, "kinetic", "", "J", "");
  add_column(o, PAWL_COLUMN_ENERGY, "potential", "", "J", "");
  add_column(o, PAWL_COLUMN_ENERGY, "energy", "", "J", "");
  add_column(o, PAWL_COLUMN_RESIDUAL, "residual.position", "", "", "");
  add_column(o, PAWL_COLUMN_RESIDUAL, "residual.velocity", "", "", "");
  add_column(o, PAWL_COLUMN_RESIDUAL, "residual.acceleration", "", "", "");
  for (int k = 0; k < o->sizes.outputs; k++) {
    add_column(o, PAWL_COLUMN_OUTPUT, pawl_system_output_name(o->system, k), "",
               pawl_system_output_unit(o->system, k), "");
  }
  for (int k = 0; o->path && k < o->sizes.q; k++) {
    char name[512];
    snprintf(name, sizeof name, "z(%s)", pawl_system_coordinate_name(o->system, k));
    add_column(o, PAWL_COLUMN_PATH, name, "", pawl_system_coordinate_unit(o->system, k), "");
  }
  if (o->corrections) {
    add_rows(o, PAWL_COLUMN_CORRECTION, "nu", " s^2");
    add_rows(o, PAWL_COLUMN_CORRECTION, "Lambda", " s");
    add_rows(o, PAWL_COLUMN_CORRECTION, "lambda.smooth", "");
  }
}

static PawlStatus fill(PawlObserver* o, const PawlStepper* stepper, PawlError* err) {
  PawlSizes n = o->sizes;
  int columns = 1 + n.q + 2 * n.v + n.inputs + n.rows + 6 + n.outputs + (o->path ? n.q : 0) +
                (o->corrections ? 3 * n.rows : 0) + PAWL_WORK_JUMPS + 2;
  o->columns = PAWL_NEW(&o->arena, PawlColumn, columns);
  o->residual = PAWL_NEW(&o->arena, double, n.rows);
  o->size = PAWL_NEW(&o->arena, double, n.rows);
  o->one_sided = PAWL_NEW(&o->arena, bool, n.rows);
  o->momentum = PAWL_NEW(&o->arena, double, n.v);
  o->shares = PAWL_NEW(&o->arena, double, n.v + 1);
  if (!o->columns || !o->residual || !o->size || !o->one_sided || !o->momentum || !o->shares) {
    return pawl_fail_memory(err);
  }
  for (int i = 0; i < n.rows; i++) {
    o->one_sided[i] = pawl_system_row_kind(o->system, i) != PAWL_ROW_BILATERAL;
  }
  add_columns(o);
  add_works(o, stepper);
  if (o->failed) {
    return pawl_fail_memory(err);
  }
  unsigned mask = PAWL_ENERGY | PAWL_OUTPUTS;
  if (n.rows > 0) {
    mask |= PAWL_POSITION | PAWL_GRADIENT | PAWL_TIME_GRADIENT | PAWL_BIAS;
  }
  PAWL_TRY(pawl_eval_create(o->system, PAWL_MASS, &o->mass, err));
  return pawl_eval_create(o->system, mask, &o->eval, err);
}

PawlStatus pawl_observer_create(const PawlSystem* system, const PawlStepper* stepper, bool path,
                                bool corrections, PawlObserver** out, PawlError* err) {
  *out = NULL;
  PawlObserver* o = pawl_alloc(1, sizeof *o);
  if (!o) {
    return pawl_fail_memory(err);
  }
  o->system = system;
  o->path = path;
  o->corrections = corrections;
  const PawlSimulateDef* def = pawl_stepper_def(stepper);
  o->step = def->step;
  o->atol = pawl_method_uses(def, "atol") ? def->atol : 0.0;
  o->sizes = pawl_system_sizes(system);
  o->G = pawl_system_pattern_G(system);
  o->H = pawl_system_pattern_H(system);
  PawlStatus status = fill(o, stepper, err);
  if (status != PAWL_OK) {
    pawl_observer_destroy(o);
    return status;
  }
  *out = o;
  return PAWL_OK;
}

void pawl_observer_destroy(PawlObserver* o) {
  if (o) {
    pawl_eval_destroy(o->mass);
    pawl_eval_destroy(o->eval);
    pawl_arena_free(&o->arena);
    pawl_free(o);
  }
}

int pawl_observer_columns(const PawlObserver* o, const PawlColumn** columns) {
  *columns = o->columns;
  return o->column_count;
}

static double violation(const PawlObserver* o, int row, double value, bool position) {
  return !o->one_sided[row] ? fabs(value) : position && value < 0.0 ? -value : 0.0;
}

// The largest entry of a bilateral row; of a contact, only what is below zero counts at position
// level, and nothing at the others.
static double largest(const PawlObserver* o, const double* x, bool position) {
  double most = 0.0;
  for (int i = 0; i < o->sizes.rows; i++) {
    double off = violation(o, i, x[i], position);
    most = off > most ? off : most;
  }
  return most;
}

// The largest entry of G x + c.
static double level_residual(PawlObserver* o, const double* G, const double* x, const double* c) {
  memcpy(o->residual, c, (size_t)o->sizes.rows * sizeof(double));
  pawl_sparse_add(&o->G, G, 1.0, x, o->residual);
  return largest(o, o->residual, false);
}

// What a rate counts with at least: also where a motion turns back and all are near zero, it has
// the speed sqrt(q v'), whatever the units; and where nothing moves at all, a rate that moves
// coordinates by their rounding in a step is none, or one that the method does not tell from zero.
static double least_rate(const PawlObserver* o, const PawlState* state) {
  double reach = pawl_dynamics_largest(o->sizes.q, state->q);
  double speed = sqrt(reach * pawl_dynamics_largest(pawl_moving(o->sizes), state->a));
  double part =
      PAWL_SMALLEST_PART * fmax(speed, pawl_dynamics_largest(pawl_moving(o->sizes), state->v));
  return fmax(fmax(part, o->atol), PAWL_ROUNDED * reach / o->step);
}

// |c_i| relative to sum_j |G_ij| max(|x_j|, least), for c = g with x = q, or c = G v + g_t with
// x = v. Uses o->size; c may be o->residual.
static double relative_drift(PawlObserver* o, const PawlValues* values, const double* x,
                             double least, const double* c, bool position) {
  pawl_sparse_sizes(&o->G, values->G, position && o->sizes.q != o->sizes.v ? NULL : x, least,
                    o->size);
  double most = 0.0;
  for (int i = 0; i < o->sizes.rows; i++) {
    double size = o->size[i] > 0.0 ? o->size[i] : PAWL_SMALLEST_SIZE;
    double off = violation(o, i, c[i], position) / size;
    most = off > most ? off : most;
  }
  return most;
}

static double* put(double* to, const double* from, int count) {
  if (count > 0) {
    memcpy(to, from, (size_t)count * sizeof(double));
  }
  return to + count;
}

static double* put_corrections(double* to, const PawlCorrections* c, int rows) {
  const double* from[] = {c ? c->nu : NULL, c ? c->Lambda : NULL, c ? c->smooth : NULL};
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < rows; i++) {
      *to++ = from[k] ? from[k][i] : NAN;
    }
  }
  return to;
}

static double unexplained(const PawlState* state, double energy) {
  double rest = energy - state->work[PAWL_WORK_START];
  for (int k = 0; k <= PAWL_WORK_JUMPS; k++) {
    rest -= state->work[k];
  }
  return rest;
}

static PawlPoint point_of(const PawlState* state) {
  return (PawlPoint){state->t,      state->q,     state->v,   state->a,
                     state->lambda, state->modes, state->held};
}

// T_i = v_i (M v)_i / 2, and T - sum of these.                                          (B18)
PawlStatus pawl_observe_shares(PawlObserver* o, const PawlState* state, const double** shares,
                               PawlError* err) {
  PawlPoint point = point_of(state);
  PAWL_TRY(pawl_eval_run(o->mass, &point, err));
  const double *v = state->v, *M = pawl_eval_values(o->mass)->M;
  double rest = pawl_eval_values(o->eval)->energy[0];
  memset(o->momentum, 0, (size_t)o->sizes.v * sizeof(double));
  pawl_sparse_add(&o->H, M, 1.0, v, o->momentum);
  for (int i = 0; i < o->sizes.v; i++) {
    o->shares[i] = 0.5 * v[i] * o->momentum[i];
    rest -= o->shares[i];
  }
  o->shares[o->sizes.v] = rest;
  *shares = o->shares;
  return PAWL_OK;
}

PawlStatus pawl_observe(PawlObserver* o, const PawlState* state, PawlSight sight, double* sample,
                        PawlObservation* seen, PawlError* err) {
  PawlPoint point = point_of(state);
  PAWL_TRY(pawl_eval_run(o->eval, &point, err));
  const PawlValues* values = pawl_eval_values(o->eval);
  PawlSizes n = o->sizes;
  *seen = (PawlObservation){.energy = values->energy[0] + values->energy[1],
                            .kinetic = values->energy[0],
                            .moved = values->energy[1] - state->work[PAWL_WORK_TIME]};
  seen->unexplained = unexplained(state, seen->energy);
  if (n.rows > 0) {
    seen->drift =
        relative_drift(o, values, state->q, pawl_dynamics_least(n.q, state->q), values->g, true);
    seen->residual[0] = largest(o, values->g, true);
    seen->residual[1] = level_residual(o, values->G, state->v, values->g_t);
    seen->velocity_drift =
        relative_drift(o, values, state->v, least_rate(o, state), o->residual, false);
    seen->residual[2] = level_residual(o, values->G, state->a, values->gamma);
  }
  if (sample) {
    double energies[3] = {values->energy[0], values->energy[1], seen->energy};
    sample = put(sample, &state->t, 1);
    int moving = pawl_moving(n);
    sample = put(sample, state->q, n.q - n.states);
    sample = put(sample, state->v, moving);
    sample = put(sample, state->a, moving);
    sample = put(sample, state->v + moving, n.states);
    sample = put(sample, state->a + moving, n.states);
    sample = put(sample, state->held + n.rows, n.inputs);
    sample = put(sample, state->lambda, n.rows);
    sample = put(sample, energies, 3);
    sample = put(sample, seen->residual, 3);
    sample = put(sample, values->outputs, n.outputs);
    sample = put(sample, sight.path, o->path ? n.q : 0);
    if (o->corrections) {
      sample = put_corrections(sample, sight.corrections, n.rows);
    }
    for (int k = 0; k < o->work_count; k++) {
      *sample++ = state->work[o->works[k]];
    }
    *sample = seen->unexplained;
  }
  return PAWL_OK;
}
