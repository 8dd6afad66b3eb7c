// SPDX-License-Identifier: Apache-2.0
// The generalized-alpha methods with several levels of constraints (docs/theory/nsga.md):
//
//   ga-pv      velocity level in the dynamics, position by a correction U
//   ga-pva     acceleration level in the dynamics, position by U, velocity by W
//   nsga-pvv   nonsmooth: smooth motion with the smooth constraints at velocity level, then U, then
//   W nsga-pva   nonsmooth: as ga-pva, with contacts and impact law
//
// with  M U = B^T nu, g(q) = 0  and  M W = B^T Lambda, G v + g_t = 0 (contacts: Newton's law).
#include <math.h>
#include <string.h>

#include "step/ga.h"

static const double SMALLEST_SIZE = 1e-3;    // coordinates and rates count as at least this
static const double SMALLEST_RATE = 1e-9;    // [m/s] a slower approach does not rebound
static const double FLUSHED = 1e-150;        // [m/s] slower is at rest
static const double SMALLEST_LOGGED = 1e-6;  // [m/s] slower impacts do not go to the log
enum { MOST_SET_CHANGES = 12 };              // after so many iterations the active sets are kept

typedef struct Nsga {
  PawlGa ga;                     // first: the smooth part
  bool jumps;                    // has W
  bool decoupled;                // nsga-pvv: the smooth motion does not know U and W
  PawlEval* eval;                // M, f, g, G, g_t, gamma at the total motion
  double *U, *nu, *W, *Lambda;   // corrections
  double *q, *v;                 // total motion
  double *du, *dnu;              // corrections of these
  double *force, *smooth_force;  // f at the total and at the smooth motion; right sides
  double *M_smooth, *G_smooth;   // at the smooth motion
  double *eta, *rate_before;     // rows: integral variable of lambda; G v at the beginning
  double* effective;             // rows: 1 / (G M^-1 G^T), the r of the active sets
  unsigned char *S, *A, *B_set;  // rows in the smooth motion, at position, at velocity level
  unsigned char* smooth_rows;    // constraints that never switch
  unsigned char* trial;          // a set under construction
  double *rate, *acceleration;   // rows: constraint at velocity and acceleration level
  bool rebounds;                 // some contact approaches faster than SMALLEST_RATE
  bool constant_mass;
  int smooth_row_count;
  bool factored;  // the last factorisation is that of the kept numbers
  double *kept_M, *kept_G, *kept_B;
  unsigned char* kept_set;
  const double* B;  // force directions
} Nsga;

// The part of a state behind the memory of the core: eta and Lambda of the last step, and its size.
static double* eta_of(const PawlStepper* s, PawlState* state) {
  return pawl_ga_memory(s, state).last_h + 1;
}
static double* Lambda_of(const PawlStepper* s, PawlState* state) {
  return eta_of(s, state) + s->sizes.rows;
}

static double* h_of(const PawlStepper* s, PawlState* state) {
  return Lambda_of(s, state) + s->sizes.rows;
}

static PawlStatus allocate(PawlStepper* s, Nsga* d, PawlError* err) {
  int n = s->sizes.v, m = s->sizes.rows;
  struct {
    double** array;
    int size;
  } arrays[] = {{&d->U, n},
                {&d->W, n},
                {&d->v, n},
                {&d->du, n},
                {&d->force, n},
                {&d->smooth_force, n},
                {&d->q, s->sizes.q},
                {&d->nu, m},
                {&d->Lambda, m},
                {&d->dnu, m},
                {&d->eta, m},
                {&d->rate_before, m},
                {&d->effective, m},
                {&d->rate, m},
                {&d->kept_M, s->nonzeros_H},
                {&d->kept_G, s->G.start[n]},
                {&d->kept_B, s->G.start[n]},
                {&d->acceleration, m},
                {&d->M_smooth, s->nonzeros_H},
                {&d->G_smooth, s->G.start[n]}};
  bool ok = true;
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
    ok = ok && (*arrays[k].array = PAWL_NEW(&s->arena, double, arrays[k].size)) != NULL;
  }
  unsigned char** sets[] = {&d->S, &d->A, &d->B_set, &d->smooth_rows, &d->trial, &d->kept_set};
  for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
    ok = ok && (*sets[k] = PAWL_NEW(&s->arena, unsigned char, m)) != NULL;
  }
  return ok ? PAWL_OK : pawl_fail_memory(err);
}

static PawlStatus create_kind(PawlStepper* s, PawlLevel level, bool jumps, bool decoupled,
                              PawlError* err) {
  Nsga* d = PAWL_NEW(&s->arena, Nsga, 1);
  s->data = d;
  if (!d) {
    return pawl_fail_memory(err);
  }
  d->jumps = jumps;
  d->decoupled = decoupled;
  PAWL_TRY(pawl_ga_create(s, level, &d->ga, err));
  PAWL_TRY(allocate(s, d, err));
  if (!decoupled) {
    d->ga.U = d->U;
    d->ga.W = d->W;
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    d->smooth_rows[i] = !pawl_system_row_switches(s->system, i) &&
                        pawl_system_row_kind(s->system, i) == PAWL_ROW_BILATERAL;
    d->smooth_row_count += d->smooth_rows[i];
  }
  d->constant_mass = pawl_system_constant_mass(s->system);
  return pawl_eval_create(
      s->system,
      PAWL_MASS | PAWL_FORCE | PAWL_POSITION | PAWL_GRADIENT | PAWL_TIME_GRADIENT | PAWL_BIAS,
      &d->eval, err);
}

static PawlStatus create_pv(PawlStepper* s, PawlError* err) {
  return create_kind(s, PAWL_LEVEL_VELOCITY, false, false, err);
}
static PawlStatus create_pva(PawlStepper* s, PawlError* err) {
  return create_kind(s, PAWL_LEVEL_ACCELERATION, true, false, err);
}
static PawlStatus create_pvv(PawlStepper* s, PawlError* err) {
  return create_kind(s, PAWL_LEVEL_VELOCITY, true, true, err);
}

static void destroy(PawlStepper* s) {
  Nsga* d = s->data;
  pawl_ga_destroy(&d->ga);
  pawl_eval_destroy(d->eval);
}

// The smooth motion of nsga-pvv starts from an acceleration without the switching constraints.
static void start(PawlStepper* s, PawlState* state) {
  Nsga* d = s->data;
  if (d->decoupled) {
    PawlError ignored;
    unsigned char* active = s->active;
    for (int i = 0; i < s->sizes.rows; i++) {
      d->S[i] = d->smooth_rows[i] && (!active || active[i]);
    }
    s->active = d->S;
    if (pawl_step_accelerate(s, pawl_eval_values(s->eval_start), state->t, state->a, state->lambda,
                             &ignored) != PAWL_OK) {
      memset(state->lambda, 0, (size_t)s->sizes.rows * sizeof(double));
    }
    s->active = active;
  }
  pawl_ga_start(s, state);
  memcpy(eta_of(s, state), state->lambda, (size_t)s->sizes.rows * sizeof(double));
  memset(Lambda_of(s, state), 0, (size_t)s->sizes.rows * sizeof(double));
  *h_of(s, state) = 0.0;
}

// ---- active sets --------------------------------------------------------------------------------
static bool in_force(const PawlStepper* s, int i) {
  return !s->active || s->active[i];
}

// G_i x for every row.
static void rows_times(const PawlStepper* s, const double* G, const double* x, const double* plus,
                       double* out) {
  if (plus) {
    memcpy(out, plus, (size_t)s->sizes.rows * sizeof(double));
  } else {
    memset(out, 0, (size_t)s->sizes.rows * sizeof(double));
  }
  pawl_sparse_add(&s->G, G, 1.0, x, out);
}

static void first_sets(PawlStepper* s, Nsga* d) {
  for (int i = 0; i < s->sizes.rows; i++) {
    d->A[i] = d->B_set[i] = in_force(s, i);
    bool none = s->method == &pawl_method_nsga_pva && s->strategy == 1;
    d->S[i] = in_force(s, i) && !none && (!d->decoupled || d->smooth_rows[i]);
  }
}

// ---- the smooth part ----------------------------------------------------------------------------
static PawlStatus smooth_motion(PawlStepper* s, Nsga* d, PawlState* state, PawlError* err) {
  unsigned char* active = s->active;
  s->active = d->S;
  d->factored = false;
  PawlStatus status = pawl_ga_iterate(s, &d->ga, state, err);
  s->active = active;
  return status;
}

// ---- corrections --------------------------------------------------------------------------------
static PawlStatus evaluate(PawlStepper* s, Nsga* d, double t, const double* v, PawlError* err) {
  PawlPoint point = {t, d->q, v, d->ga.vdot, d->ga.lambda, s->modes, s->held};
  s->info.evaluations++;
  PAWL_TRY(pawl_eval_run(d->eval, &point, err));
  const PawlValues* values = pawl_eval_values(d->eval);
  d->B = values->G;
  return s->crossing ? pawl_switcher_directions(s, values, &d->B, err) : PAWL_OK;
}

static bool same_bytes(void* kept, const void* now, size_t bytes) {
  bool same = memcmp(kept, now, bytes) == 0;
  if (!same) {
    memcpy(kept, now, bytes);
  }
  return same;
}

// Factors [M -B^T; G 0] over `set`, unless the last factorisation was of the same numbers: position
// and velocity corrections often share it.
static PawlStatus factor(PawlStepper* s, Nsga* d, const double* M, const unsigned char* set) {
  const double* G = pawl_eval_values(d->eval)->G;
  size_t H_bytes = (size_t)s->nonzeros_H * sizeof(double);
  size_t G_bytes = (size_t)s->G.start[s->sizes.v] * sizeof(double);
  bool same = same_bytes(d->kept_M, M, H_bytes);
  same &= same_bytes(d->kept_G, G, G_bytes);
  same &= same_bytes(d->kept_B, d->B, G_bytes);
  same &= same_bytes(d->kept_set, set, (size_t)s->sizes.rows);
  if (same && d->factored) {
    return PAWL_OK;
  }
  s->info.factorizations++;
  PawlStatus status = pawl_kkt_factor(s->kkt, M, d->B, G, set);
  d->factored = status == PAWL_OK;
  return status;
}

// Solves [M -B^T; G 0] [dx; dy] = -[M x - B^T y - force; c] over the rows of `set`; adds dx and dy.
static PawlStatus correct(PawlStepper* s, Nsga* d, double t, const double* M, const double* force,
                          const unsigned char* set, double* x, double* y, const double* c,
                          PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  int n = s->sizes.v, m = s->sizes.rows;
  memcpy(d->du, force, (size_t)n * sizeof(double));
  pawl_sparse_add(&s->H, M, -1.0, x, d->du);
  for (int i = 0; i < m; i++) {
    y[i] = set[i] ? y[i] : 0.0;
    d->dnu[i] = set[i] ? -c[i] : 0.0;
  }
  pawl_sparse_add_transposed(&s->G, d->B, 1.0, y, d->du);
  PawlStatus status = factor(s, d, M, set);
  if (status == PAWL_RETRY) {  // perhaps contacts that depend on each other
    PAWL_TRY(pawl_step_solve(s, values, M, d->B, values->G, set, t, d->du, d->dnu, err));
  } else if (status != PAWL_OK) {
    return pawl_fail_memory(err);
  } else {
    pawl_kkt_solve(s->kkt, d->du, d->dnu);
  }
  for (int j = 0; j < n; j++) {
    x[j] += d->du[j];
  }
  for (int i = 0; i < m; i++) {
    y[i] += d->dnu[i];
  }
  return PAWL_OK;
}

// Largest |c_i| of the set over the size of the terms of its row.
static double set_error(const PawlStepper* s, const double* G, const double* x, const double* c,
                        const unsigned char* set, double* size) {
  memset(size, 0, (size_t)s->sizes.rows * sizeof(double));
  for (int j = 0; j < s->G.cols; j++) {
    double of_x = fmax(fabs(x[j]), SMALLEST_SIZE);
    for (int k = s->G.start[j]; k < s->G.start[j + 1]; k++) {
      size[s->G.index[k]] += fabs(G[k]) * of_x;
    }
  }
  double largest = 0.0;
  for (int i = 0; i < s->sizes.rows; i++) {
    if (set[i]) {
      largest = fmax(largest, fabs(c[i]) / (size[i] > 0.0 ? size[i] : SMALLEST_SIZE));
    }
  }
  return largest;
}

static PawlStatus stuck(PawlStepper* s, const Nsga* d, double t, const char* what, PawlError* err) {
  int worst = 0;
  for (int j = 1; j < s->sizes.v; j++) {
    worst = fabs(d->du[j]) > fabs(d->du[worst]) ? j : worst;
  }
  return pawl_fail(
      err, PAWL_RETRY,
      "t = %.10g: the %s did not converge in %d iterations; '%s' still changes by %.3g", t, what,
      s->def.iterations,
      s->sizes.q == s->sizes.v ? pawl_system_coordinate_name(s->system, worst) : "v", d->du[worst]);
}

// ---- contacts -----------------------------------------------------------------------------------
// Contacts: rows that push only. Each level has its active set, by the sign of an augmented
// multiplier with r = 1 / (G M^-1 G^T) of the row: then exactly one of open and closed is
// consistent.  (N14)
static bool has_contacts(const PawlStepper* s) {
  return s->method->contacts && s->contact_count > 0;
}

// r of each contact row, with the other contacts left out.
static PawlStatus effective_masses(PawlStepper* s, Nsga* d, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  unsigned char* set = d->trial;
  for (int i = 0; i < s->sizes.rows; i++) {
    set[i] = in_force(s, i);
  }
  s->info.factorizations++;
  d->factored = false;
  PawlStatus status = pawl_kkt_factor(s->kkt, values->M, values->G, values->G, set);
  if (status != PAWL_OK) {
    return status == PAWL_RETRY
               ? pawl_step_singular(s, values->M, values->G,
                                    s->switcher ? s->switcher->before->t : 0.0, err)
               : pawl_fail_memory(err);
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    if (pawl_system_row_kind(s->system, i) != PAWL_ROW_CONTACT) {
      continue;
    }
    memset(d->du, 0, (size_t)s->sizes.v * sizeof(double));
    memset(d->dnu, 0, (size_t)s->sizes.rows * sizeof(double));
    for (int j = 0; j < s->G.cols; j++) {
      for (int k = s->G.start[j]; k < s->G.start[j + 1]; k++) {
        d->du[j] += s->G.index[k] == i ? values->G[k] : 0.0;
      }
    }
    pawl_kkt_solve(s->kkt, d->du, d->dnu);  // M^-1 G_i^T within the bilateral constraints
    double compliance = 0.0;
    for (int j = 0; j < s->G.cols; j++) {
      for (int k = s->G.start[j]; k < s->G.start[j + 1]; k++) {
        compliance += s->G.index[k] == i ? values->G[k] * d->du[j] : 0.0;
      }
    }
    d->effective[i] = compliance > 0.0 ? 1.0 / compliance : 0.0;
  }
  return PAWL_OK;
}

// eta_{n+1} of a row from lambda at both ends.                                             (N12)
static double next_eta(const Nsga* d, double lambda, double lambda_n, double eta_n) {
  const PawlGa* g = &d->ga;
  return ((1 - g->alpha_f) * lambda + g->alpha_f * lambda_n - g->alpha_m * eta_n) /
         (1 - g->alpha_m);
}

// Without a cut-off the rate of a closed contact would shrink by e in each step for ever. It is the
// same for all contacts, so that rows which depend on each other stay consistent.
static double restitution(const PawlStepper* s, const Nsga* d, int i) {
  return d->rebounds ? pawl_system_restitution(s->system, i) : 0.0;
}

// Rates of the contacts at the beginning of the step, and a first guess of their sets: closed where
// the smooth motion pressed on them.
static PawlStatus begin_contacts(PawlStepper* s, Nsga* d, const PawlState* state, PawlError* err) {
  if (!has_contacts(s)) {
    return PAWL_OK;
  }
  PawlPoint point = {state->t, state->q, state->v, state->a, state->lambda, s->modes, s->held};
  PAWL_TRY(pawl_eval_run(d->eval, &point, err));
  const PawlValues* values = pawl_eval_values(d->eval);
  rows_times(s, values->G, state->v, values->g_t, d->rate_before);
  d->rebounds = false;
  for (int i = 0; i < s->sizes.rows; i++) {
    bool contact = pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT;
    d->rate_before[i] = contact ? d->rate_before[i] : 0.0;
    d->rebounds |= fabs(d->rate_before[i]) > SMALLEST_RATE;
    if (contact) {
      d->A[i] = d->B_set[i] = d->S[i] = !d->decoupled && state->lambda[i] > 0.0;
      d->ga.lambda[i] = d->S[i] ? d->ga.lambda[i] : 0.0;
    }
  }
  return PAWL_OK;
}

// The impulse takes Lambda (rate_n + rate_{n+1}) / 2 from the motion, with rate_{n+1} = -e rate_n.
static void log_impacts(PawlStepper* s, const Nsga* d, const PawlState* state, const double* q,
                        const double* v) {
  for (int i = 0; has_contacts(s) && i < s->sizes.rows; i++) {
    if (d->B_set[i] && d->rate_before[i] < -SMALLEST_LOGGED && d->Lambda[i] > 0.0 &&
        pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT) {
      double lost = -0.5 * d->Lambda[i] * d->rate_before[i] * (1.0 - restitution(s, d, i));
      pawl_switcher_log_contact(s, i, d->Lambda[i], lost, state, state->t + d->ga.h, q, v);
    }
  }
}

// ---- nsga-pvv -----------------------------------------------------------------------------------
// force = scale (f - f~ + (G - G~)^T lambda~ - (M - M~) v~')                          (N6) (N9)
static void difference_force(const PawlStepper* s, Nsga* d, double scale) {
  const PawlValues* values = pawl_eval_values(d->eval);
  for (int j = 0; j < s->sizes.v; j++) {
    d->force[j] = values->f[j] - d->smooth_force[j];
  }
  if (d->smooth_row_count > 0) {
    pawl_sparse_add_transposed(&s->G, values->G, 1.0, d->ga.lambda, d->force);
    pawl_sparse_add_transposed(&s->G, d->G_smooth, -1.0, d->ga.lambda, d->force);
  }
  if (!d->constant_mass) {
    pawl_sparse_add(&s->H, values->M, -1.0, d->ga.vdot, d->force);
    pawl_sparse_add(&s->H, d->M_smooth, 1.0, d->ga.vdot, d->force);
  }
  for (int j = 0; j < s->sizes.v; j++) {
    d->force[j] *= scale;
  }
}

// Contacts at position level; r is found at the smooth motion.
static bool choose_position_set(PawlStepper* s, Nsga* d, bool smooth, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  bool changed = false;
  if (smooth && effective_masses(s, d, err) != PAWL_OK) {
    return false;
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    if (pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT) {
      unsigned char closed = d->nu[i] - d->effective[i] * values->g[i] >= 0.0;
      changed |= closed != d->A[i];
      d->A[i] = closed;
    }
  }
  return changed;
}

// Contacts at velocity level: those closed at position level that take an impulse.
static bool choose_velocity_set(PawlStepper* s, Nsga* d) {
  bool changed = false;
  for (int i = 0; i < s->sizes.rows; i++) {
    if (pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT) {
      double rebound = d->rate[i] + restitution(s, d, i) * d->rate_before[i];
      unsigned char closed = d->A[i] && d->Lambda[i] - d->effective[i] * rebound >= 0.0;
      changed |= closed != d->B_set[i];
      d->B_set[i] = closed;
    }
  }
  return changed;
}

static PawlStatus correct_position(PawlStepper* s, Nsga* d, double t, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  memset(d->U, 0, (size_t)s->sizes.v * sizeof(double));
  memset(d->nu, 0, (size_t)s->sizes.rows * sizeof(double));
  for (int k = 0; k <= s->def.iterations; k++) {
    pawl_system_retract(s->system, d->ga.q, d->U, d->q);
    PAWL_TRY(evaluate(s, d, t, d->ga.v, err));
    bool changed =
        has_contacts(s) && k < MOST_SET_CHANGES && choose_position_set(s, d, k == 0, err);
    if (k > 0 && !changed &&
        set_error(s, values->G, d->q, values->g, d->A, d->dnu) <= s->def.tolerance) {
      return PAWL_OK;
    }
    difference_force(s, d, d->ga.h * d->ga.h);
    PAWL_TRY(correct(s, d, t, d->M_smooth, d->force, d->A, d->U, d->nu, values->g, err));
  }
  return stuck(s, d, t, "position correction", err);
}

static PawlStatus correct_velocity(PawlStepper* s, Nsga* d, double t, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  memset(d->W, 0, (size_t)s->sizes.v * sizeof(double));
  memset(d->Lambda, 0, (size_t)s->sizes.rows * sizeof(double));
  double last = INFINITY;
  bool changed = false;
  for (int k = 0; k <= s->def.iterations; k++) {
    for (int j = 0; j < s->sizes.v; j++) {
      d->v[j] = d->ga.v[j] + d->W[j];
    }
    if (has_contacts(s) && k > 0) {
      rows_times(s, values->G, d->v, values->g_t, d->rate);
      changed = k < MOST_SET_CHANGES && choose_velocity_set(s, d);
    }
    if (k > 0 && !changed) {
      double change = 0.0, size = 0.0;
      for (int j = 0; j < s->sizes.v; j++) {
        change = fmax(change, fabs(d->du[j]));
        size = fmax(size, fabs(d->v[j]));
      }
      if (change <= s->def.tolerance * fmax(size, SMALLEST_SIZE) || change >= last) {
        return PAWL_OK;
      }
      last = k > 2 ? change : INFINITY;
    }
    if (k > 0) {  // at k = 0 the values are those of the position correction
      PAWL_TRY(evaluate(s, d, t, d->v, err));
    }
    rows_times(s, values->G, d->v, values->g_t, d->rate);
    for (int i = 0; has_contacts(s) && i < s->sizes.rows; i++) {
      d->B_set[i] =
          k == 0 && pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT ? d->A[i] : d->B_set[i];
      d->rate[i] += restitution(s, d, i) * d->rate_before[i];
    }
    difference_force(s, d, d->ga.h);
    PAWL_TRY(correct(s, d, t, values->M, d->force, d->B_set, d->W, d->Lambda, d->rate, err));
  }
  return stuck(s, d, t, "velocity correction", err);
}

static void keep_smooth(const PawlStepper* s, Nsga* d) {
  const PawlValues* smooth = pawl_eval_values(d->ga.residual_eval);
  memcpy(d->M_smooth, smooth->M, (size_t)s->nonzeros_H * sizeof(double));
  memcpy(d->G_smooth, smooth->G, (size_t)s->G.start[s->sizes.v] * sizeof(double));
  memcpy(d->smooth_force, smooth->f, (size_t)s->sizes.v * sizeof(double));
}

static PawlStatus step_pvv(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  Nsga* d = s->data;
  double t = state->t + h;
  first_sets(s, d);
  pawl_ga_predict(s, &d->ga, state, h);
  for (int i = 0; i < s->sizes.rows; i++) {
    d->ga.lambda[i] = d->S[i] ? d->ga.lambda[i] : 0.0;
  }
  PAWL_TRY(begin_contacts(s, d, state, err));
  PAWL_TRY(smooth_motion(s, d, state, err));
  keep_smooth(s, d);
  PAWL_TRY(correct_position(s, d, t, err));
  PAWL_TRY(correct_velocity(s, d, t, err));
  log_impacts(s, d, state, d->q, d->v);
  pawl_ga_accept(s, &d->ga, state);
  memcpy(state->q, d->q, (size_t)s->sizes.q * sizeof(double));
  memcpy(state->v, d->v, (size_t)s->sizes.v * sizeof(double));
  memcpy(Lambda_of(s, state), d->Lambda, (size_t)s->sizes.rows * sizeof(double));
  *h_of(s, state) = h;
  return PAWL_OK;
}

// ---- ga-pv, ga-pva, nsga-pva --------------------------------------------------------------------
// The sets A, B and S of the contacts at the iterate.                              (N13)-(N15)
static bool choose_sets(PawlStepper* s, Nsga* d, PawlState* state) {
  const PawlValues* values = pawl_eval_values(d->eval);
  const PawlGa* g = &d->ga;
  const double* eta_n = eta_of(s, state);
  double h = g->h;
  bool changed = false;
  rows_times(s, values->G, g->v_total, values->g_t, d->rate);
  rows_times(s, values->G, g->vdot, values->gamma, d->acceleration);
  for (int i = 0; i < s->sizes.rows; i++) {
    if (pawl_system_row_kind(s->system, i) != PAWL_ROW_CONTACT) {
      continue;
    }
    double r = d->effective[i];
    double eta = next_eta(d, g->lambda[i], state->lambda[i], eta_n[i]);
    double nu = d->nu[i] + h * h * ((0.5 - g->beta) * eta_n[i] + g->beta * eta);
    double Lambda = d->Lambda[i] + h * ((1 - g->gamma) * eta_n[i] + g->gamma * eta);
    unsigned char A = nu - r * values->g[i] >= 0.0;
    double rebound = d->rate[i] + restitution(s, d, i) * d->rate_before[i];
    unsigned char B = A && Lambda - r * rebound >= 0.0;
    unsigned char S = B && s->strategy == 3 && g->lambda[i] - r * d->acceleration[i] >= 0.0;
    changed |= A != d->A[i] || B != d->B_set[i] || S != d->S[i];
    d->A[i] = A;
    d->B_set[i] = B;
    d->S[i] = S;
  }
  return changed;
}

// One position and one velocity correction after the smooth one; constraints are taken forward
// linearly by its increment dq.                                                    (N16) (N17)
static PawlStatus correct_both(PawlStepper* s, Nsga* d, double t, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  memset(d->force, 0, (size_t)s->sizes.v * sizeof(double));
  rows_times(s, values->G, d->ga.dq, values->g, d->rate);
  PAWL_TRY(correct(s, d, t, values->M, d->force, d->A, d->U, d->nu, d->rate, err));
  if (!d->jumps) {
    return PAWL_OK;
  }
  for (int j = 0; j < s->sizes.v; j++) {
    d->v[j] = d->ga.v[j] + d->W[j];
  }
  rows_times(s, values->G, d->v, values->g_t, d->rate);
  for (int i = 0; i < s->sizes.rows; i++) {
    d->rate[i] += restitution(s, d, i) * d->rate_before[i];
  }
  return correct(s, d, t, values->M, d->force, d->B_set, d->W, d->Lambda, d->rate, err);
}

// True when position and velocity constraints of the active sets hold and U, W are in balance.
static bool corrections_converged(const PawlStepper* s, Nsga* d) {
  const PawlValues* values = pawl_eval_values(d->eval);
  double error = set_error(s, values->G, d->ga.q, values->g, d->A, d->dnu);
  if (d->jumps) {
    rows_times(s, values->G, d->ga.v_total, values->g_t, d->rate);
    for (int i = 0; i < s->sizes.rows; i++) {
      d->rate[i] += restitution(s, d, i) * d->rate_before[i];
    }
    error = fmax(error, set_error(s, values->G, d->ga.v_total, d->rate, d->B_set, d->dnu));
  }
  return error <= s->def.tolerance;
}

static PawlStatus evaluate_total(PawlStepper* s, Nsga* d, double t, PawlError* err) {
  memcpy(d->q, d->ga.q, (size_t)s->sizes.q * sizeof(double));
  return evaluate(s, d, t, d->ga.v_total, err);
}

static PawlStatus iterate_coupled(PawlStepper* s, Nsga* d, PawlState* state, PawlError* err) {
  double t = state->t + d->ga.h;
  bool contacts = has_contacts(s);
  unsigned char* active = s->active;
  for (int k = 0; k <= s->def.iterations; k++) {
    s->active = d->S;
    PawlStatus status = pawl_ga_residual(s, &d->ga, state, err);
    s->active = active;
    status = status ? status : evaluate_total(s, d, t, err);
    if (status == PAWL_OK && contacts && k == 0) {
      status = effective_masses(s, d, err);
    }
    if (status != PAWL_OK) {
      return status;
    }
    bool changed = contacts && k < MOST_SET_CHANGES && choose_sets(s, d, state);
    if (!changed && pawl_ga_converged(s, &d->ga, k) && corrections_converged(s, d)) {
      return PAWL_OK;
    }
    for (int i = 0; i < s->sizes.rows; i++) {
      d->ga.lambda[i] = d->S[i] ? d->ga.lambda[i] : 0.0;
    }
    s->active = d->S;
    if (changed) {  // the residuals belong to the sets before
      status = pawl_ga_residual(s, &d->ga, state, err);
    }
    d->factored = false;
    status = status ? status : pawl_ga_correct(s, &d->ga, t, err);
    s->active = active;
    status = status ? status : correct_both(s, d, t, err);
    if (status != PAWL_OK) {
      return status;
    }
  }
  return pawl_ga_stuck(s, &d->ga, t, err);
}

static void flush(int count, double* x) {
  for (int k = 0; k < count; k++) {
    x[k] = fabs(x[k]) > FLUSHED ? x[k] : 0.0;
  }
}

static PawlStatus step_coupled(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  Nsga* d = s->data;
  double* eta_n = eta_of(s, state);
  first_sets(s, d);
  pawl_ga_predict(s, &d->ga, state, h);
  PAWL_TRY(begin_contacts(s, d, state, err));
  memset(d->U, 0, (size_t)s->sizes.v * sizeof(double));
  memset(d->W, 0, (size_t)s->sizes.v * sizeof(double));
  memset(d->nu, 0, (size_t)s->sizes.rows * sizeof(double));
  memset(d->Lambda, 0, (size_t)s->sizes.rows * sizeof(double));
  PAWL_TRY(iterate_coupled(s, d, state, err));
  log_impacts(s, d, state, d->ga.q, d->ga.v_total);
  for (int i = 0; i < s->sizes.rows; i++) {
    eta_n[i] = next_eta(d, d->ga.lambda[i], state->lambda[i], eta_n[i]);
    eta_n[i] = fabs(eta_n[i]) > FLUSHED ? eta_n[i] : 0.0;
    d->ga.lambda[i] = fabs(d->ga.lambda[i]) > FLUSHED ? d->ga.lambda[i] : 0.0;
  }
  pawl_ga_accept(s, &d->ga, state);
  for (int j = 0; j < s->sizes.v; j++) {  // a closed contact rings down into the denormal numbers
    state->v[j] = fabs(d->ga.v_total[j]) > FLUSHED ? d->ga.v_total[j] : 0.0;
  }
  memcpy(Lambda_of(s, state), d->Lambda, (size_t)s->sizes.rows * sizeof(double));
  *h_of(s, state) = h;
  flush(state->memory_count, state->memory);
  flush(s->sizes.v, state->a);
  return PAWL_OK;
}

// ---- reporting ----------------------------------------------------------------------------------
static double impulse(const PawlStepper* s, int row) {
  return ((const Nsga*)s->data)->Lambda[row];
}

// The reaction over the last step: lambda + Lambda / h.
static void multipliers(const PawlStepper* s, PawlState* state, double* lambda) {
  double h = *h_of(s, state);
  const double* Lambda = Lambda_of(s, state);
  for (int i = 0; i < s->sizes.rows; i++) {
    lambda[i] = state->lambda[i] + (h > 0.0 ? Lambda[i] / h : 0.0);
  }
}

#define COUPLED(symbol, name_, about_, make, nonsmooth_, contacts_) \
  const PawlMethod symbol = {.info = {name_, about_, 2},            \
                             .memory_vectors = 2,                   \
                             .memory_rows = 3,                      \
                             .memory_numbers = 2,                   \
                             .create = make,                        \
                             .destroy = destroy,                    \
                             .start = start,                        \
                             .switches = true,                      \
                             .contacts = contacts_,                 \
                             .nonsmooth = nonsmooth_,               \
                             .step = step_coupled,                  \
                             .impulse = impulse,                    \
                             .multipliers = multipliers,            \
                             .forget = pawl_ga_forget}

COUPLED(pawl_method_ga_pv, "ga-pv",
        "generalized-alpha, constraints at position and velocity level (stabilised index 2)",
        create_pv, false, false);
COUPLED(pawl_method_ga_pva, "ga-pva",
        "generalized-alpha, constraints at position, velocity and acceleration level", create_pva,
        false, false);
COUPLED(pawl_method_nsga_pva, "nsga-pva",
        "nonsmooth generalized-alpha, smooth motion at acceleration level; contacts", create_pva,
        true, true);

const PawlMethod pawl_method_nsga_pvv = {
    .info = {"nsga-pvv", "nonsmooth generalized-alpha, smooth motion at velocity level", 2},
    .memory_vectors = 2,
    .memory_rows = 3,
    .memory_numbers = 2,
    .create = create_pvv,
    .destroy = destroy,
    .start = start,
    .switches = true,
    .contacts = true,
    .nonsmooth = true,
    .step = step_pvv,
    .impulse = impulse,
    .multipliers = multipliers,
    .forget = pawl_ga_forget};
