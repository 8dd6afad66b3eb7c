// SPDX-License-Identifier: Apache-2.0
// Both sides of an instant: outputs, accelerations and multipliers just before and just after a
// switch, from the places and velocities that the stepper logs. The index-1 equations are solved
// here by elimination, apart from the solvers of the library.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/reproduce_cases.h"

enum { MOST = 24 };  // velocities and rows together, of the models looked at

typedef struct Side {
  double a[MOST], lambda[MOST];
} Side;

// Solves the n equations of A (row by row, the right side last) with pivots; false when singular.
static bool eliminate(int n, double A[MOST][MOST + 1], double* x) {
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++) {
      pivot = fabs(A[i][k]) > fabs(A[pivot][k]) ? i : pivot;
    }
    if (A[pivot][k] == 0.0) {
      return false;
    }
    for (int j = k; j <= n; j++) {
      double swapped = A[k][j];
      A[k][j] = A[pivot][j];
      A[pivot][j] = swapped;
    }
    for (int i = k + 1; i < n; i++) {
      double factor = A[i][k] / A[k][k];
      for (int j = k; j <= n; j++) {
        A[i][j] -= factor * A[k][j];
      }
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    x[i] = A[i][n];
    for (int j = i + 1; j < n; j++) {
      x[i] -= A[i][j] * x[j];
    }
    x[i] /= A[i][i];
  }
  return true;
}

// M a - G^T lambda = f, G a = -gamma; rows that are not in force have no gradient and lambda = 0.
static bool solve_side(const PawlSystem* system, const PawlValues* x, Side* side) {
  PawlPattern H = pawl_system_pattern_H(system), G = pawl_system_pattern_G(system);
  int v = H.cols, n = v + G.rows;
  double A[MOST][MOST + 1] = {{0}}, solution[MOST];
  bool in_force[MOST] = {false};
  if (n > MOST) {
    return false;
  }
  for (int j = 0; j < v; j++) {
    A[j][n] = x->f[j];
    for (int k = H.start[j]; k < H.start[j + 1]; k++) {
      A[H.index[k]][j] += x->M[k];
    }
    for (int k = G.start[j]; k < G.start[j + 1]; k++) {
      in_force[G.index[k]] |= x->G[k] != 0.0;
      A[v + G.index[k]][j] += x->G[k];
      A[j][v + G.index[k]] -= x->G[k];
    }
  }
  for (int i = 0; i < G.rows; i++) {
    A[v + i][v + i] = in_force[i] ? 0.0 : 1.0;
    A[v + i][n] = in_force[i] ? -x->gamma[i] : 0.0;
  }
  if (!eliminate(n, A, solution)) {
    return false;
  }
  memcpy(side->a, solution, (size_t)v * sizeof(double));
  memcpy(side->lambda, solution + v, (size_t)G.rows * sizeof(double));
  return true;
}

static int output_named(const PawlSystem* system, const char* name) {
  for (int k = 0; k < pawl_system_sizes(system).outputs; k++) {
    if (strcmp(pawl_system_output_name(system, k), name) == 0) {
      return k;
    }
  }
  return -1;
}

static int coordinate_named(const PawlSystem* system, const char* name) {
  for (int k = 0; k < pawl_system_sizes(system).q; k++) {
    if (strcmp(pawl_system_coordinate_name(system, k), name) == 0) {
      return k;
    }
  }
  return -1;
}

// What a check asks of one side of an instant: an acceleration or an output.
static double look(const PawlSystem* system, PawlEval* dynamics, PawlEval* outputs, const Check* c,
                   const PawlInstant* e, bool after) {
  PawlError unused;
  Side side;
  PawlPoint point = {.t = e->t,
                     .q = e->q,
                     .v = after ? e->v_after : e->v_before,
                     .modes = after ? e->to : e->from};
  if (pawl_eval_run(dynamics, &point, &unused) != PAWL_OK ||
      !solve_side(system, pawl_eval_values(dynamics), &side)) {
    return NAN;
  }
  if (c->measure == ACCELERATION_BEFORE || c->measure == ACCELERATION_AFTER) {
    int q = coordinate_named(system, c->name);
    return q < 0 ? NAN : side.a[q];
  }
  int k = output_named(system, c->name);
  point.a = side.a;
  point.lambda = side.lambda;
  return k >= 0 && pawl_eval_run(outputs, &point, &unused) == PAWL_OK
             ? pawl_eval_values(outputs)->outputs[k]
             : NAN;
}

static double measure_instant(const PawlSystem* system, PawlEval* dynamics, PawlEval* outputs,
                              const Check* c, const PawlInstant* e) {
  double before, after;
  switch (c->measure) {
    case ACCELERATION_BEFORE:
    case OUTPUT_BEFORE:
      return look(system, dynamics, outputs, c, e, false);
    case ACCELERATION_AFTER:
    case OUTPUT_AFTER:
      return look(system, dynamics, outputs, c, e, true);
    case OUTPUT_JUMP:
      before = look(system, dynamics, outputs, c, e, false);
      after = look(system, dynamics, outputs, c, e, true);
      return fabs(after - before) / fabs(before);
    default:
      return NAN;
  }
}

// Steps to the end; `values` of the checks whose instant has come.
static PawlStatus walk(const PawlSystem* system, const PawlSimulateDef* def, PawlStepper* stepper,
                       PawlState* state, PawlEval* evals[2], int count, const Check* checks,
                       double* values, PawlError* err) {
  int seen = 0;
  PawlStatus status = pawl_stepper_start(stepper, state, false, err);
  while (status == PAWL_OK && state->t < def->until - def->step / 2) {
    status = pawl_stepper_step(stepper, state, def->step, err);
    for (int i = 0; status == PAWL_OK && i < pawl_stepper_instants(stepper); i++) {
      const PawlInstant* e = pawl_stepper_instant(stepper, i);
      seen += e->event < 0 && e->refused < 0 && e->contact < 0;
      for (int k = 0; k < count; k++) {
        if (checks[k].event == seen) {
          values[k] = measure_instant(system, evals[0], evals[1], &checks[k], e);
        }
      }
    }
  }
  return status;
}

PawlStatus measure_instants(const PawlSystem* system, const PawlSimulateDef* def, int count,
                            const Check* checks, double* values, PawlError* err) {
  PawlStepper* stepper;
  PawlState* state = NULL;
  PawlEval* evals[2] = {NULL, NULL};
  for (int k = 0; k < count; k++) {
    values[k] = NAN;
  }
  PawlStatus status = pawl_stepper_create(system, def, &stepper, err);
  status = status ? status : pawl_state_create(stepper, &state, err);
  status = status ? status
                  : pawl_eval_create(system, PAWL_MASS | PAWL_FORCE | PAWL_GRADIENT | PAWL_BIAS,
                                     &evals[0], err);
  status = status ? status : pawl_eval_create(system, PAWL_OUTPUTS, &evals[1], err);
  status = status ? status : walk(system, def, stepper, state, evals, count, checks, values, err);
  pawl_eval_destroy(evals[0]);
  pawl_eval_destroy(evals[1]);
  pawl_state_destroy(state);
  pawl_stepper_destroy(stepper);
  return status;
}
