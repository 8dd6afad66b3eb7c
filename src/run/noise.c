// SPDX-License-Identifier: Apache-2.0
// What rounding does to the energy of things at rest. Equation labels refer to
// docs/theory/energy.md.
#include <math.h>

#include "model/model.h"
#include "run/sim.h"
#include "switch/dynamics.h"
#include "switch/tolerances.h"
#include "system/system.h"

static double diagonal(const PawlPattern* A, const double* values, int i) {
  for (int k = A->start[i]; k < A->start[i + 1]; k++) {
    if (A->index[k] == i) {
      return values[k];
    }
  }
  return 0.0;
}

// h t f^2/M of a coordinate, the kinetic energy of moving it by its rounding in a step, and the
// work of its force along what each step may leave of it.                                    (B20)
static double noise_of(double m, double f, double q, double h, double t, double left) {
  double rate = PAWL_ROUNDED * q / h;
  return m > 0.0
             ? PAWL_ENERGY_ROUNDING * h * t * f * f / m + 0.5 * m * rate * rate + fabs(f * q) * left
             : 0.0;
}

static double sum_noise(const PawlSim* sim, const PawlValues* values) {
  const PawlState* state = sim->state;
  PawlPattern H = pawl_system_pattern_H(sim->system);
  const PawlSimulateDef* def = &sim->def.simulate;
  double left = pawl_method_uses(def, "tolerance") ? def->tolerance * state->t / def->step : 0.0;
  double sum = 0.0;
  for (int i = 0; i < pawl_moving(pawl_system_sizes(sim->system)); i++) {
    double q = i < sim->system->model->turning ? state->q[i] : 1.0;
    sum += noise_of(diagonal(&H, values->M, i), values->f[i], q, def->step, state->t, left);
  }
  return sum;
}

PawlStatus pawl_noise_measure(PawlSim* sim, PawlError* err) {
  PawlEval* eval;
  const PawlState* s = sim->state;
  PawlPoint point = {s->t, s->q, s->v, s->a, s->lambda, s->modes, s->held};
  sim->noise = 0.0;
  if (!sim->system->model) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_eval_create(sim->system, PAWL_MASS | PAWL_FORCE, &eval, err));
  if (pawl_eval_run(eval, &point, NULL) == PAWL_OK) {  // else none is known
    sim->noise = sum_noise(sim, pawl_eval_values(eval));
  }
  pawl_eval_destroy(eval);
  return PAWL_OK;
}
