// SPDX-License-Identifier: Apache-2.0
// dopri: the explicit Runge-Kutta pair of orders 5 and 4 of J. R. Dormand and P. J. Prince
// (docs/theory/dopri.md) on the equations of motion in one of the forms of forms.h. Within a step
// of h it takes steps of its own, as long as the tolerances rtol and atol allow; what it would take
// next is part of the state. The last stage of a step is the first of the next.
#include <math.h>
#include <string.h>

#include "step/forms.h"
#include "step/works.h"
#include "switch/tolerances.h"

enum { STAGES = 7 };
// Next to a singular position steps become ever shorter: after so many of them it is asked whether
// there is one, where as much as this is left.
enum { LOOK_AFTER = 500, TOO_MANY = 20000 };

// J. R. Dormand, P. J. Prince, A family of embedded Runge-Kutta formulae, 1980, table 2. (D1)
static const double C[STAGES] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
static const double A[STAGES][STAGES - 1] = {
    {0},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
// Weights of order 5 minus those of order 4.
static const double E[STAGES] = {71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                 -17253.0 / 339200, 22.0 / 525, -1.0 / 40};

// Step control, (D3) and (D4).
static const double SAFETY = 0.9, SHRINK_MOST = 0.2, GROW_MOST = 10.0;
static const double BETA = 0.04;  // of the error of the step before

// What a state carries, after the rows of forms.h.
typedef struct Memory {
  double h;      // next step [s]; 0: to be guessed
  double error;  // of the last step taken
} Memory;

typedef struct Dopri {
  PawlForms forms;
  double *q, *v, *a, *lambda;             // where the motion has come to
  double *next_q, *next_v, *next_lambda;  // of a stage, at last the end of a step
  double *k[STAGES], *l[STAGES];          // q' and v' of the stages
} Dopri;

static PawlStatus create(PawlStepper* s, PawlError* err) {
  Dopri* d = PAWL_NEW(&s->arena, Dopri, 1);
  if (!d) {
    return pawl_fail_memory(err);
  }
  s->data = d;
  int nq = s->sizes.q, nv = s->sizes.v, rows = s->sizes.rows;
  bool got = true;
  for (int i = 0; i < STAGES; i++) {
    d->k[i] = PAWL_NEW(&s->arena, double, nq);
    d->l[i] = PAWL_NEW(&s->arena, double, nv);
    got = got && d->k[i] && d->l[i];
  }
  d->q = PAWL_NEW(&s->arena, double, nq);
  d->next_q = PAWL_NEW(&s->arena, double, nq);
  d->v = PAWL_NEW(&s->arena, double, nv);
  d->next_v = PAWL_NEW(&s->arena, double, nv);
  d->a = PAWL_NEW(&s->arena, double, nv);
  d->lambda = PAWL_NEW(&s->arena, double, rows);
  d->next_lambda = PAWL_NEW(&s->arena, double, rows);
  if (!got || !d->q || !d->next_q || !d->v || !d->next_v || !d->a || !d->lambda ||
      !d->next_lambda) {
    return pawl_fail_memory(err);
  }
  return pawl_forms_create(s, &d->forms, err);
}

static void destroy(PawlStepper* s) {
  pawl_forms_destroy(&((Dopri*)s->data)->forms);
}

static Memory read_memory(const PawlStepper* s, const PawlState* state) {
  const double* memory = state->memory + s->sizes.rows;
  return (Memory){memory[0], memory[1]};
}

static void write_memory(const PawlStepper* s, PawlState* state, Memory m) {
  double* memory = state->memory + s->sizes.rows;
  memory[0] = m.h;
  memory[1] = m.error;
}

static PawlStatus start(PawlStepper* s, const PawlPhase* phase, PawlState* state, PawlError* err) {
  (void)phase;
  (void)err;
  pawl_forms_start(s, state);
  write_memory(s, state, (Memory){0.0, PAWL_LEAST_ERROR});
  return PAWL_OK;
}

// ---- one step -----------------------------------------------------------------------------------
// out = y + h sum_j weights_j k_j over the first `count` stages
static void combine(int n, double* out, const double* y, double h, int count, const double* weights,
                    double* const* k) {
  for (int i = 0; i < n; i++) {
    double sum = 0.0;
    for (int j = 0; j < count; j++) {
      sum += weights[j] * k[j][i];
    }
    out[i] = y[i] + h * sum;
  }
}

// From (t, q, v, a) by h: next_q, next_v, next_lambda, and v' in l[6]. (D1)
static PawlStatus try_step(PawlStepper* s, Dopri* d, double t, double h, PawlError* err) {
  int nq = s->sizes.q, nv = s->sizes.v;
  pawl_system_rates(s->system, d->q, d->v, d->k[0]);
  memcpy(d->l[0], d->a, (size_t)nv * sizeof(double));
  for (int i = 1; i < STAGES; i++) {
    combine(nq, d->next_q, d->q, h, i, A[i], d->k);
    combine(nv, d->next_v, d->v, h, i, A[i], d->l);
    if (i == STAGES - 1) {
      pawl_system_tidy(s->system, d->next_q);
    }
    PawlStatus (*go)(PawlStepper*, PawlForms*, double, double*, double*, double*, double*,
                     PawlError*) = i == STAGES - 1 ? pawl_forms_arrive : pawl_forms_accelerate;
    PAWL_TRY(go(s, &d->forms, t + C[i] * h, d->next_q, d->next_v, d->l[i], d->next_lambda, err));
    pawl_system_rates(s->system, d->next_q, d->next_v, d->k[i]);
  }
  return PAWL_OK;
}

// Sum of squares of x relative to atol + rtol |y|, where |y| is the larger of y and z.
static double squares(const PawlStepper* s, int n, const double* x, const double* y,
                      const double* z) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    double part = x[i] / (s->def.atol + s->def.rtol * fmax(fabs(y[i]), fabs(z[i])));
    sum += part * part;
  }
  return sum;
}

static double weighted_mean(const PawlStepper* s, double sum) {
  int count = s->sizes.q + s->sizes.v;
  return count > 0 ? sqrt(sum / count) : 0.0;
}

// The error relative to the tolerances, at most 1 in a good step. (D2)
static double error_of(const PawlStepper* s, const Dopri* d, double h) {
  double sum = 0.0;
  for (int part = 0; part < 2; part++) {
    int n = part ? s->sizes.v : s->sizes.q;
    const double *y = part ? d->v : d->q, *z = part ? d->next_v : d->next_q;
    double* const* k = part ? d->l : d->k;
    for (int i = 0; i < n; i++) {
      double e = 0.0;
      for (int j = 0; j < STAGES; j++) {
        e += E[j] * k[j][i];
      }
      e *= h;
      sum += squares(s, 1, &e, y + i, z + i);
    }
  }
  return weighted_mean(s, sum);
}

static void accept(const PawlStepper* s, Dopri* d) {
  memcpy(d->q, d->next_q, (size_t)s->sizes.q * sizeof(double));
  memcpy(d->v, d->next_v, (size_t)s->sizes.v * sizeof(double));
  memcpy(d->a, d->l[STAGES - 1], (size_t)s->sizes.v * sizeof(double));
  memcpy(d->lambda, d->next_lambda, (size_t)s->sizes.rows * sizeof(double));
}

static void begin_at(const PawlStepper* s, Dopri* d, const PawlState* state) {
  memcpy(d->q, state->q, (size_t)s->sizes.q * sizeof(double));
  memcpy(d->v, state->v, (size_t)s->sizes.v * sizeof(double));
  memcpy(d->a, state->a, (size_t)s->sizes.v * sizeof(double));
}

// ---- step sizes ---------------------------------------------------------------------------------
// A first step in which the state changes by a hundredth, of h at most; the error corrects it. A
// state below its tolerances, of what has come to rest at zero, has no size to compare with: a
// hundredth of it is a time in which nothing happens, again and again where friction holds it.
static double guess(const PawlStepper* s, Dopri* d, double h) {
  pawl_system_rates(s->system, d->q, d->v, d->k[0]);
  double y = squares(s, s->sizes.q, d->q, d->q, d->q) + squares(s, s->sizes.v, d->v, d->v, d->v);
  double rate =
      squares(s, s->sizes.q, d->k[0], d->q, d->q) + squares(s, s->sizes.v, d->a, d->v, d->v);
  y = weighted_mean(s, y);
  rate = weighted_mean(s, rate);
  if (y > PAWL_NO_SIZE && y <= 1.0) {
    return h;
  }
  return y > PAWL_NO_SIZE && rate > PAWL_NO_SIZE ? 0.01 * y / rate : PAWL_FIRST_STEP;
}

// By which factor the next step is larger, after a step with this error. (D3)
static double growth(double error, double last_error) {
  double factor = SAFETY * pow(error, 0.75 * BETA - 0.2) * pow(last_error, BETA);
  return error > 0.0 ? fmin(GROW_MOST, fmax(SHRINK_MOST, factor)) : GROW_MOST;
}

// After a step that was refused; NaN counts as a large error.
static double shrink(double error) {
  double factor = SAFETY * pow(error, -0.2);
  return factor > SHRINK_MOST ? fmin(factor, SAFETY) : SHRINK_MOST;
}

// *singular: by rows that become dependent, or a mass that is lost.
static PawlStatus collapsed(PawlStepper* s, double t, double h, bool failed, bool* singular,
                            PawlError* err) {
  const Dopri* d = s->data;
  *singular = pawl_dynamics_blame(&s->dynamics, &d->forms.phase, t, d->q, d->v, err);
  if (*singular || failed) {
    return PAWL_RETRY;  // err says what a stage met
  }
  return pawl_fail(
      err, PAWL_RETRY,
      "t = %.10g: the steps of dopri have shrunk to %.3g s and still miss the tolerances "
      "rtol = %g, atol = %g; is there a jump or a pole in the forces, or is the motion "
      "stiff?",
      t, h, s->def.rtol, s->def.atol);
}

// How large a step to take when `left` is left: an end piece is neither cut short nor tiny. (D4)
static double fit(double h, double left) {
  return h >= left * (1.0 - PAWL_SAME_STEP) ? left : h > 0.5 * left ? 0.5 * left : h;
}

// Whether the last steps, LOOK_AFTER of them from `since` on, lead into a singular position and not
// through it; err says which rows make it one.
static bool sinks(PawlStepper* s, Dopri* d, double since, double t, double end, PawlError* err) {
  return (end - t) * LOOK_AFTER > (t - since) * TOO_MANY &&
         pawl_dynamics_blame(&s->dynamics, &d->forms.phase, t, d->q, d->v, err);
}

// Steps of its own from *reached to `end`, or one of them; the motion is in d.
static PawlStatus take_steps(PawlStepper* s, Dopri* d, double* reached, double end, bool one,
                             Memory* m, bool* singular, PawlError* err) {
  bool refused = false;
  double t = *reached, whole = end - t, since = t;
  for (int k = 0; k < PAWL_METHOD_MOST_STEPS && !pawl_method_is_spent(s); k++) {
    if (k % LOOK_AFTER == 0 && k > LOOK_AFTER && sinks(s, d, since, t, end, err)) {
      *singular = true;
      return PAWL_RETRY;
    }
    since = k % LOOK_AFTER == 0 ? t : since;
    double left = end - t, h = fit(m->h, left);
    PAWL_TRY(pawl_forms_begin(s, &d->forms, t, d->q, d->v, err));
    PawlStatus status = try_step(s, d, t, h, err);
    if (status != PAWL_OK && status != PAWL_RETRY) {
      return status;
    }
    double error = status == PAWL_OK ? error_of(s, d, h) : INFINITY;
    if (error <= 1.0) {
      double next = h * fmin(growth(error, m->error), refused ? 1.0 : GROW_MOST);
      m->h = h < m->h ? fmax(next, m->h) : next;  // a step cut to fit says little
      m->error = fmax(error, PAWL_LEAST_ERROR);
      refused = false;
      accept(s, d);
      if (h == left || one) {
        *reached = h == left ? end : t + h;
        return PAWL_OK;
      }
      t += h;
      PAWL_TRY(s->works ? pawl_works_piece(s, &d->forms.phase, t, d->q, d->v, d->a, d->lambda, err)
                        : PAWL_OK);
      continue;
    }
    refused = true;
    m->h = h * shrink(error);
    if (!(m->h > PAWL_SMALLEST_STEP * fmax(fabs(t), whole))) {
      return collapsed(s, t, m->h, status == PAWL_RETRY, singular, err);
    }
  }
  return pawl_fail(err, PAWL_RETRY,
                   "t = %.10g: dopri has taken %d steps of its own and is not there", t,
                   (int)PAWL_METHOD_MOST_STEPS);
}

// Steps of one length over all of h, each with an error of `most` at most; false: one has more.
static bool take_equal(PawlStepper* s, Dopri* d, PawlState* state, double h, int count, double most,
                       Memory* m) {
  const PawlPhase* phase = &d->forms.phase;
  begin_at(s, d, state);
  if (s->works && pawl_works_begin(s, state, NULL) != PAWL_OK) {
    return false;
  }
  for (int k = 0; k < count; k++) {
    double t = state->t + h * k / count;
    if (pawl_forms_begin(s, &d->forms, t, d->q, d->v, NULL) != PAWL_OK ||
        try_step(s, d, t, h / count, NULL) != PAWL_OK) {
      return false;
    }
    double error = error_of(s, d, h / count);
    if (!(error <= most)) {
      return false;
    }
    accept(s, d);
    *m = (Memory){h / count, fmax(fmin(error, 1.0), PAWL_LEAST_ERROR)};
    if (s->works && k + 1 < count &&
        pawl_works_piece(s, phase, t + h / count, d->q, d->v, d->a, d->lambda, NULL) != PAWL_OK) {
      return false;
    }
  }
  return true;
}

// Next to a singular position accelerations are rounding, and the shorter a step, the nearer are
// its stages. Where the steps have shrunk there, some equal ones may lead over it, with tolerances
// near rounding not within these. (D5)
static bool leap(PawlStepper* s, Dopri* d, const PawlPhase* phase, PawlState* state, double h,
                 Memory* m) {
  enum { MOST_STEPS_OF_LEAP = 16 };
  static const double MOST_ERROR = 1000.0, TIMES = 10.0;
  for (double most = 1.0; most <= MOST_ERROR; most *= TIMES) {
    for (int count = 1; count <= MOST_STEPS_OF_LEAP; count++) {
      pawl_forms_load(s, &d->forms, phase, state, h);
      if (take_equal(s, d, state, h, count, most, m)) {
        return true;
      }
    }
  }
  return false;
}

static PawlStatus go(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h, bool one,
                     PawlError* err) {
  Dopri* d = s->data;
  size_t nq = (size_t)s->sizes.q, nv = (size_t)s->sizes.v, rows = (size_t)s->sizes.rows;
  Memory m = read_memory(s, state);
  begin_at(s, d, state);
  pawl_forms_load(s, &d->forms, phase, state, h);
  m.h = m.h > 0.0 ? m.h : guess(s, d, h);
  double t = state->t, end = t + h;
  bool singular = false;
  PawlStatus status = take_steps(s, d, &t, end, one, &m, &singular, err);
  if (status == PAWL_RETRY && singular && leap(s, d, phase, state, h, &m)) {
    status = PAWL_OK;
    t = end;
  }
  PAWL_TRY(status);
  pawl_forms_save(s, &d->forms, state);
  write_memory(s, state, m);
  state->t = t;
  memcpy(state->q, d->q, nq * sizeof(double));
  memcpy(state->v, d->v, nv * sizeof(double));
  memcpy(state->a, d->a, nv * sizeof(double));
  memcpy(state->lambda, d->lambda, rows * sizeof(double));
  return PAWL_OK;
}

static PawlStatus step(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                       PawlError* err) {
  return go(s, phase, state, h, false, err);
}

// One step of its own: what is watched is judged over what the method resolves.
static PawlStatus advance(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                          bool* stopped, PawlError* err) {
  *stopped = false;
  return go(s, phase, state, h, true, err);
}

const PawlMethod pawl_method_dopri = {
    .info = {.name = "dopri",
             .about =
                 "explicit Runge-Kutta of orders 5(4) with steps of its own; see --rtol, --form",
             .order = 5,
             .holds = "acceleration; all with form: minimal",
             .options = "rtol atol form",
             .smooth = true,
             .adaptive = true},
    .memory_rows = 1,
    .memory_numbers = 2,
    .exact = true,
    .create = create,
    .destroy = destroy,
    .start = start,
    .step = step,
    .advance = advance,
};
