// SPDX-License-Identifier: Apache-2.0
// What the checks of the benchmark measure.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/reproduce_cases.h"

static int nearest_sample(const PawlRecorder* recorder, double t) {
  int best = 0;
  for (int k = 0; k < pawl_recorder_sample_count(recorder); k++) {
    double d = fabs(study_sample_time(recorder, k) - t);
    best = d < fabs(study_sample_time(recorder, best) - t) ? k : best;
  }
  return isinf(t) ? pawl_recorder_sample_count(recorder) - 1 : best;
}

static double value_at(const PawlRecorder* recorder, int column, double t) {
  return pawl_recorder_sample(recorder, nearest_sample(recorder, t))[column];
}

// The column `name` among the coordinates gives the place of its rate in v.
static double rate_of(const PawlRecorder* recorder, const char* name, const double* v, int count) {
  int first = 0, width = study_columns(recorder, PAWL_COLUMN_COORDINATE, &first);
  int place = study_column(recorder, name) - first;
  return place >= 0 && place < width && place < count ? v[place] : NAN;
}

static double lost_together(const PawlRecorder* recorder, double t) {
  double lost = 0.0;
  for (int k = 0; k < pawl_recorder_event_count(recorder); k++) {
    const PawlEvent* e = pawl_recorder_event(recorder, k);
    lost += e->t == t ? e->energy_lost : 0.0;
  }
  return lost;
}

static double of_event(const Check* c, const PawlRecorder* recorder) {
  const PawlEvent* e = pawl_recorder_event(recorder, c->event - 1);
  int row = (int)c->at - 1;
  if (!e) {
    return NAN;
  }
  switch (c->measure) {
    case EVENT_TIME:
      return e->t;
    case RATE_BEFORE:
      return rate_of(recorder, c->name, e->v_before, e->v_count);
    case RATE_AFTER:
      return rate_of(recorder, c->name, e->v_after, e->v_count);
    case ENERGY_LOST:
      return e->energy_lost;
    case INSTANT_LOST:
      return lost_together(recorder, e->t);
    default:
      return row >= 0 && row < e->row_count ? e->impulse[row] : NAN;
  }
}

// x(n) = C n r^n, the amplitude of a double root, so r^(n2 - n1) = (x2 / n2) / (x1 / n1).
static double decay(const Check* c, const PawlRecorder* recorder, int column) {
  const PawlEvent* e = pawl_recorder_event(recorder, c->event - 1);
  if (!e) {
    return NAN;
  }
  int start = nearest_sample(recorder, e->t);
  int one = nearest_sample(recorder, e->t + c->at),
      two = nearest_sample(recorder, e->t + 2 * c->at);
  double n1 = one - start, n2 = two - start;
  double x1 = pawl_recorder_sample(recorder, one)[column];
  double x2 = pawl_recorder_sample(recorder, two)[column];
  return pow(x2 / n2 / (x1 / n1), 1.0 / (n2 - n1));
}

static const double OPEN = 1e-9;  // [m] a gap beyond rounding

static double closed_from(const PawlRecorder* recorder, int column) {
  int k = pawl_recorder_sample_count(recorder) - 1;
  double end = pawl_recorder_sample(recorder, k)[column];
  while (k > 0 && fabs(pawl_recorder_sample(recorder, k)[column] - end) <= OPEN) {
    k--;
  }
  return study_sample_time(recorder, k);
}

static double closed_until(const PawlRecorder* recorder, int column) {
  int k = pawl_recorder_sample_count(recorder) - 1;
  while (k > 0 && pawl_recorder_sample(recorder, k)[column] > OPEN) {
    k--;
  }
  return study_sample_time(recorder, k);
}

static double mean(const PawlRecorder* recorder, int column, double from, double until) {
  double sum = 0.0;
  int count = 0;
  for (int k = 0; k < pawl_recorder_sample_count(recorder); k++) {
    double t = study_sample_time(recorder, k);
    bool inside = from <= t && t <= until;
    sum += inside ? pawl_recorder_sample(recorder, k)[column] : 0.0;
    count += inside;
  }
  return sum / count;
}

static double rise(const PawlRecorder* recorder, int column, double from) {
  double lowest = INFINITY, highest = 0.0;
  for (int k = 0; k < pawl_recorder_sample_count(recorder); k++) {
    if (study_sample_time(recorder, k) >= from) {
      double value = pawl_recorder_sample(recorder, k)[column];
      lowest = fmin(lowest, value);
      highest = fmax(highest, value - lowest);
    }
  }
  return highest;
}

static double quiet_from(const PawlRecorder* recorder, int column, double silence) {
  double last = NAN;
  for (int k = 0; k < pawl_recorder_sample_count(recorder); k++) {
    double t = study_sample_time(recorder, k);
    if (t - last > silence) {
      break;
    }
    last = pawl_recorder_sample(recorder, k)[column] > 0.0 ? t : last;
  }
  return last;
}

static double sum(const PawlRecorder* recorder, int column, double from, bool by_time) {
  double total = 0.0;
  for (int k = 1; k < pawl_recorder_sample_count(recorder); k++) {
    double t = study_sample_time(recorder, k);
    double weight = by_time ? t - study_sample_time(recorder, k - 1) : 1.0;
    total += t >= from ? weight * pawl_recorder_sample(recorder, k)[column] : 0.0;
  }
  return total;
}

static double lowest(const PawlRecorder* recorder, int column, double from) {
  double least = INFINITY;
  for (int k = 0; k < pawl_recorder_sample_count(recorder); k++) {
    double value = pawl_recorder_sample(recorder, k)[column];
    least = study_sample_time(recorder, k) >= from ? fmin(least, value) : least;
  }
  return least;
}

static double iterations_per_step(const StudyRun* run) {
  PawlStepperInfo work = pawl_sim_summary(run->sim).work;
  return (double)work.newton_iterations / (double)work.steps;
}

// Inverse dynamics of one sample, with drives at all coordinates.
static double drive_at(const Check* c, const StudyRun* run, int column) {
  const PawlRecorder* recorder = pawl_sim_recorder(run->sim);
  const double* sample = pawl_recorder_sample(recorder, nearest_sample(recorder, c->at));
  int q, v, a;
  PawlInverse* inverse = NULL;
  PawlInverseForces forces;
  (void)study_columns(recorder, PAWL_COLUMN_COORDINATE, &q);
  (void)study_columns(recorder, PAWL_COLUMN_RATE, &v);
  (void)study_columns(recorder, PAWL_COLUMN_ACCELERATION, &a);
  PawlStatus status = pawl_inverse_create(run->system, 0, NULL, &inverse, NULL);
  status = status ? status
                  : pawl_inverse_solve(inverse, sample[0], sample + q, sample + v, sample + a,
                                       &forces, NULL);
  double force = status == PAWL_OK ? forces.force[column - q] : NAN;
  pawl_inverse_destroy(inverse);
  return force;
}

double measure_run(const Check* c, const StudyRun* run) {
  const PawlRecorder* recorder = pawl_sim_recorder(run->sim);
  int column = c->name ? study_column(recorder, c->name) : -1;
  switch (c->measure) {
    case EVENT_COUNT:
      return pawl_recorder_event_count(recorder);
    case EVENT_TIME:
    case RATE_BEFORE:
    case RATE_AFTER:
    case ENERGY_LOST:
    case INSTANT_LOST:
    case IMPULSE:
      return of_event(c, recorder);
    case SAW_RATE:
      return study_oscillation(recorder, PAWL_COLUMN_RATE, c->at);
    case SAW_FORCE:
      return study_oscillation(recorder, PAWL_COLUMN_MULTIPLIER, c->at);
    case ITERATIONS:
      return iterations_per_step(run);
    default:
      break;
  }
  if (column < 0) {
    return NAN;
  }
  switch (c->measure) {
    case DRIVE:
      return drive_at(c, run, column);
    case VALUE:
      return value_at(recorder, column, c->at);
    case SAW_COLUMN:
      return study_column_oscillation(recorder, column, c->at);
    case SUM:
      return sum(recorder, column, c->at, false);
    case INTEGRAL:
      return sum(recorder, column, c->at, true);
    case LOWEST:
      return lowest(recorder, column, c->at);
    case LARGEST:
      return study_largest(recorder, column, c->at);
    case DECAY:
      return decay(c, recorder, column);
    case CLOSED_FROM:
      return closed_from(recorder, column);
    case CLOSED_UNTIL:
      return closed_until(recorder, column);
    case MEAN:
      return mean(recorder, column, c->at, c->at + 1e-3 * c->event);
    case RISE:
      return rise(recorder, column, c->at);
    case QUIET_FROM:
      return quiet_from(recorder, column, c->at);
    default:
      return NAN;
  }
}

double measure_sweep(const Check* c, const Sweep* sweep) {
  Part part = strcmp(c->name, "q") == 0 ? PART_Q : PART_V;
  Norm norm = c->measure == ORDER_GRAPH ? NORM_HAUSDORFF : NORM_L1;
  return study_order(sweep, c->measure != ORDER_BEFORE, part, norm).order;
}

// ---- a disturbed start --------------------------------------------------------------------------
// The largest entry of G v' + gamma.
static double acceleration_residual(const PawlSystem* system, const PawlValues* values,
                                    const double* a, double* room) {
  PawlPattern G = pawl_system_pattern_G(system);
  double largest = 0.0;
  memcpy(room, values->gamma, (size_t)G.rows * sizeof(double));
  for (int j = 0; j < G.cols; j++) {
    for (int k = G.start[j]; k < G.start[j + 1]; k++) {
      room[G.index[k]] += values->G[k] * a[j];
    }
  }
  for (int i = 0; i < G.rows; i++) {
    largest = fmax(largest, fabs(room[i]));
  }
  return largest;
}

// The state starts on the constraints; then v' and all that the method carries on are set to zero,
// as an impact would leave them wrong.
static PawlStatus take_steps(const PawlSystem* system, PawlStepper* stepper, PawlState* state,
                             PawlEval* eval, double h, Disturbed* seen, PawlError* err) {
  PawlSizes n = pawl_system_sizes(system);
  double* room = malloc(((size_t)n.rows + 1) * sizeof(double));
  PawlStatus status = room ? pawl_stepper_start(stepper, state, false, err) : PAWL_ERROR_MEMORY;
  memset(state->a, 0, (size_t)n.v * sizeof(double));
  memset(state->memory, 0, (size_t)state->memory_count * sizeof(double));
  *seen = (Disturbed){0};
  for (int k = 0; status == PAWL_OK && k < DISTURBED_STEPS; k++) {
    double before = state->lambda[0];
    status = pawl_stepper_step(stepper, state, h, err);
    PawlPoint point = {state->t,      state->q,     state->v,   state->a,
                       state->lambda, state->modes, state->held};
    status = status ? status : pawl_eval_run(eval, &point, err);
    if (status == PAWL_OK) {
      double r = acceleration_residual(system, pawl_eval_values(eval), state->a, room);
      seen->residual = fmax(seen->residual, r);
      seen->force = k > 0 ? fmax(seen->force, fabs(state->lambda[0] - before)) : 0.0;
    }
  }
  free(room);
  return status;
}

PawlStatus measure_disturbed(const PawlSystem* system, const PawlSimulateDef* def, Disturbed* seen,
                             PawlError* err) {
  PawlStepper* stepper;
  PawlState* state = NULL;
  PawlEval* eval = NULL;
  PawlStatus status = pawl_stepper_create(system, def, &stepper, err);
  status = status ? status : pawl_state_create(stepper, &state, err);
  status = status ? status : pawl_eval_create(system, PAWL_GRADIENT | PAWL_BIAS, &eval, err);
  status = status ? status : take_steps(system, stepper, state, eval, def->step, seen, err);
  pawl_eval_destroy(eval);
  pawl_state_destroy(state);
  pawl_stepper_destroy(stepper);
  return status;
}
