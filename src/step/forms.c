// SPDX-License-Identifier: Apache-2.0
// The projected and the minimal form of the equations of motion; labels (E1) to (E9) stand in
// docs/theory/motion-forms.md. Both are dense: they serve systems of some tens of velocities.
#include "step/forms.h"

#include <math.h>
#include <string.h>

#include "base/copy.h"
#include "linalg/reduce.h"
#include "switch/tolerances.h"

// The largest entry of J_p^-1 J_s: a choice is improved down to the first, and given up
// beyond the second. Between them it lasts, so that it does not change to and fro; a wider gap
// costs accuracy, since the motion of s is the less smooth the steeper p hangs on it.
static const double CHOICE_GOOD = 1.1, CHOICE_WORN = 1.5;
enum { MOST_CORRECTIONS = 20 };

struct PawlReduced {
  PawlEval* place;    // minimal: g, G, g_t
  int* rows;          // those in force
  int count;          // and how many
  int* place_of;      // by row: its place among them, or -1
  double* J;          // the rows in force, dense, one after the other
  double *x, *r;      // n
  double* c;          // rows
  PawlSaddle saddle;  // projected: M and J; minimal: F^T M F
  PawlVoronets split;
  bool chosen;
  double growth;  // |J_p^-1 J_s| at the last point
};

// ---- creating -----------------------------------------------------------------------------------
static PawlStatus parse(const char* word, PawlFormKind* kind, PawlError* err) {
  static const char* const words[] = {"index-1", "projected", "minimal"};
  for (int k = 0; k < 3; k++) {
    if (strcmp(word, words[k]) == 0) {
      *kind = (PawlFormKind)k;
      return PAWL_OK;
    }
  }
  return pawl_fail(err, PAWL_ERROR_USAGE, "form = %.100s: must be index-1, projected or minimal",
                   word);
}

static bool alloc_reduced(PawlStepper* s, PawlFormKind kind, PawlReduced* d) {
  int n = s->sizes.v, m = s->sizes.rows, most = m < n ? m : n;
  bool minimal = kind == PAWL_FORM_MINIMAL;
  d->rows = PAWL_NEW(&s->arena, int, m);
  d->place_of = PAWL_NEW(&s->arena, int, m);
  d->J = PAWL_NEW(&s->arena, double, (size_t)m*(size_t)n);
  d->x = PAWL_NEW(&s->arena, double, n);
  d->r = PAWL_NEW(&s->arena, double, n);
  d->c = PAWL_NEW(&s->arena, double, m);
  return d->rows && d->place_of && d->J && d->x && d->r && d->c &&
         pawl_saddle_alloc(&d->saddle, &s->arena, n, minimal ? 0 : most) &&
         (!minimal || pawl_voronets_alloc(&d->split, &s->arena, most, n));
}

PawlStatus pawl_forms_create(PawlStepper* s, PawlForms* forms, PawlError* err) {
  PAWL_TRY(parse(s->def.form, &forms->kind, err));
  PAWL_TRY(pawl_stepper_eval(s, PAWL_MASS | PAWL_FORCE | PAWL_GRADIENT | PAWL_BIAS | PAWL_STAGES,
                             &forms->eval, err));
  if (forms->kind != PAWL_FORM_MINIMAL) {
    PAWL_TRY(pawl_projection_create(s, PAWL_BIAS, &forms->onto, err));
    if (s->method->memory_vectors == 2) {
      forms->change = PAWL_NEW(&s->arena, double, 2 * (size_t)s->sizes.v);
      forms->v_change = forms->change + s->sizes.v;
      PAWL_TRY(forms->change ? PAWL_OK : pawl_fail_memory(err));
    }
  }
  if (forms->kind == PAWL_FORM_INDEX_1) {
    return PAWL_OK;
  }
  if (s->sizes.v > PAWL_LARGEST_DENSE) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "form = %s works on full matrices, for up to %d velocities; '%s' has %d: take "
                     "form = index-1",
                     s->def.form, (int)PAWL_LARGEST_DENSE, pawl_system_name(s->system), s->sizes.v);
  }
  if (s->dynamics.slip) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "form = %s has no place for friction that hangs on the forces of contacts; "
                     "take form = index-1",
                     s->def.form);
  }
  PawlReduced* d = PAWL_NEW(&s->arena, PawlReduced, 1);
  forms->reduced = d;
  if (!d || !alloc_reduced(s, forms->kind, d)) {
    return pawl_fail_memory(err);
  }
  return forms->kind == PAWL_FORM_MINIMAL
             ? pawl_stepper_eval(s, PAWL_POSITION | PAWL_GRADIENT | PAWL_TIME_GRADIENT, &d->place,
                                 err)
             : PAWL_OK;
}

void pawl_forms_destroy(PawlForms* forms) {
  pawl_eval_destroy(forms->eval);
  pawl_projection_destroy(&forms->onto);
  if (forms->reduced) {
    pawl_eval_destroy(forms->reduced->place);
  }
}

// ---- the choice in a state ----------------------------------------------------------------------
void pawl_forms_start(const PawlStepper* s, PawlState* state) {
  for (int i = 0; i < s->sizes.rows; i++) {
    state->memory[i] = 0.0;
  }
}

static void list_rows(const PawlStepper* s, const PawlPhase* phase, PawlReduced* d) {
  d->count = 0;
  for (int i = 0; i < s->sizes.rows; i++) {
    d->place_of[i] = pawl_phase_binds(phase, i) ? d->count : -1;
    if (d->place_of[i] >= 0) {
      d->rows[d->count++] = i;
    }
  }
}

void pawl_forms_load(const PawlStepper* s, PawlForms* forms, const PawlPhase* phase,
                     const PawlState* state, double h) {
  PawlReduced* d = forms->reduced;
  forms->phase = *phase;
  forms->apart = forms->kind != PAWL_FORM_MINIMAL && s->sizes.rows > 0 ? (int)state->memory[0] : 0;
  forms->guesses = forms->change && s->sizes.q == s->sizes.v && h == s->def.step;
  if (forms->apart < 0) {
    pawl_copy(2 * s->sizes.v, state->memory + s->sizes.rows, forms->change);
  }
  if (!d) {
    return;
  }
  list_rows(s, phase, d);
  d->chosen = forms->kind == PAWL_FORM_MINIMAL && d->count <= s->sizes.v;
  d->growth = 0.0;
  for (int i = 0; i < s->sizes.rows && d->chosen; i++) {
    int place = d->place_of[i], column = (int)state->memory[i] - 1;
    d->chosen = (place >= 0) == (column >= 0);
    if (d->chosen && place >= 0) {
      d->split.column_of[place] = column;
    }
  }
  if (d->chosen) {
    d->split.m = d->count;
    d->chosen = pawl_voronets_complete(&d->split);
  }
}

void pawl_forms_save(const PawlStepper* s, const PawlForms* forms, PawlState* state) {
  const PawlReduced* d = forms->reduced;
  if (forms->kind != PAWL_FORM_MINIMAL) {
    if (s->sizes.rows > 0) {
      state->memory[0] = forms->apart;
    }
    if (forms->apart < 0) {
      pawl_copy(2 * s->sizes.v, forms->change, state->memory + s->sizes.rows);
    }
    return;
  }
  bool lasts = d->chosen && d->growth <= CHOICE_WORN;
  for (int i = 0; i < s->sizes.rows; i++) {
    int place = d->place_of[i];
    state->memory[i] = lasts && place >= 0 ? 1.0 + d->split.column_of[place] : 0.0;
  }
}

// ---- shared by both forms -----------------------------------------------------------------------
static void gather_rows(const PawlStepper* s, PawlReduced* d, const double* G) {
  size_t n = (size_t)s->sizes.v;
  memset(d->J, 0, (size_t)d->count * n * sizeof(double));
  for (int j = 0; j < s->G.cols; j++) {
    for (int k = s->G.start[j]; k < s->G.start[j + 1]; k++) {
      int place = d->place_of[s->G.index[k]];
      if (place >= 0) {
        d->J[(size_t)place * n + (size_t)j] = G[k];
      }
    }
  }
}

// M, f, G and gamma at a point, the rows in force as dense J.
static PawlStatus evaluate(PawlStepper* s, PawlForms* forms, double t, const double* q,
                           const double* v, const PawlValues** values, PawlError* err) {
  PawlPoint point = pawl_phase_point(&forms->phase, t, q, v, NULL, NULL);
  s->dynamics.info.evaluations++;
  PAWL_TRY(pawl_method_run(s, &forms->phase, forms->eval, &point, err));
  *values = pawl_eval_values(forms->eval);
  gather_rows(s, forms->reduced, (*values)->G);
  return PAWL_OK;
}

// ---- projected ----------------------------------------------------------------------------------
// N and G_M^+ of (E2) are not formed: (E3) and (E4) apply them.
static PawlStatus project(PawlStepper* s, PawlForms* forms, const PawlValues* values, double t,
                          double* a, double* lambda, PawlError* err) {
  PawlReduced* d = forms->reduced;
  PawlSaddle* k = &d->saddle;
  int n = s->sizes.v;
  k->n = n;
  k->m = d->count;
  s->dynamics.info.factorizations++;
  memset(k->M, 0, (size_t)n * (size_t)n * sizeof(double));
  for (int j = 0; j < n; j++) {
    for (int e = s->H.start[j]; e < s->H.start[j + 1]; e++) {
      k->M[(size_t)s->H.index[e] + (size_t)j * (size_t)n] = values->M[e];
    }
  }
  bool fits = d->count <= n;
  if (fits) {
    memcpy(k->J, d->J, (size_t)d->count * (size_t)n * sizeof(double));
  }
  if (!fits || !pawl_saddle_factor(k)) {
    return pawl_dynamics_singular(&s->dynamics, values->M, values->G, forms->phase.active, t, err);
  }
  memcpy(a, values->f, (size_t)n * sizeof(double));
  for (int i = 0; i < d->count; i++) {
    d->c[i] = -values->gamma[d->rows[i]];
  }
  pawl_saddle_solve(k, a, d->c);
  for (int i = 0; i < s->sizes.rows; i++) {
    lambda[i] = d->place_of[i] >= 0 ? d->c[d->place_of[i]] : 0.0;
  }
  return PAWL_OK;
}

// ---- minimal: the choice ------------------------------------------------------------------------
// Dependent velocities by pivoting, improved by exchange. (E6)
static bool choose(PawlReduced* d) {
  d->split.m = d->count;
  return pawl_voronets_choose(&d->split, d->J) &&
         pawl_voronets_improve(&d->split, d->J, CHOICE_GOOD, &d->growth);
}

PawlStatus pawl_forms_choose(PawlStepper* s, PawlForms* forms, double t, const double* q,
                             const double* v, PawlError* err) {
  PawlReduced* d = forms->reduced;
  if (d->chosen && d->growth <= CHOICE_WORN) {
    return PAWL_OK;
  }
  const PawlValues* values;
  PAWL_TRY(evaluate(s, forms, t, q, v, &values, err));
  d->chosen = d->count <= s->sizes.v && choose(d);
  return d->chosen ? PAWL_OK
                   : pawl_dynamics_singular(&s->dynamics, values->M, values->G, forms->phase.active,
                                            t, err);
}

// ---- minimal: onto the constraints --------------------------------------------------------------
static PawlStatus unsettled(const PawlStepper* s, const PawlReduced* d, double t, PawlError* err) {
  int number, worst = 0;
  const double* g = pawl_eval_values(d->place)->g;
  for (int i = 1; i < d->count; i++) {
    worst = fabs(g[d->rows[i]]) > fabs(g[d->rows[worst]]) ? i : worst;
  }
  const char* name = pawl_system_row_name(s->system, d->rows[worst], &number);
  return pawl_fail(
      err, PAWL_RETRY,
      "t = %.10g: the dependent coordinates do not follow from the constraints here, "
      "'%s' (row %d) is off by %.3g; the step is too large, or the mechanism is near a "
      "singular place",
      t, name, number + 1, g[d->rows[worst]]);
}

static double largest(int n, const double* x) {
  double top = 0.0;
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i])) {
      return INFINITY;
    }
    top = fmax(top, fabs(x[i]));
  }
  return top;
}

// Newton's method for g = 0 in the dependent directions. J and J_p end up at the new q.        (E7)
static PawlStatus settle_position(PawlStepper* s, PawlForms* forms, double t, double* q,
                                  const double* v, PawlError* err) {
  PawlReduced* d = forms->reduced;
  PawlVoronets* split = &d->split;
  bool same = s->sizes.q == s->sizes.v;
  double move = s->def.step * largest(pawl_moving(s->sizes), v);
  double size = same ? fmax(largest(s->sizes.q, q), move) : 1.0, last = INFINITY;
  PawlPoint point = pawl_phase_point(&forms->phase, t, q, v, NULL, NULL);
  for (int k = 0; k < MOST_CORRECTIONS; k++) {
    s->dynamics.info.evaluations++;
    PAWL_TRY(pawl_eval_run(d->place, &point, err));
    const PawlValues* values = pawl_eval_values(d->place);
    gather_rows(s, d, values->G);
    if (!pawl_voronets_factor(split, d->J)) {
      break;
    }
    for (int i = 0; i < d->count; i++) {
      d->c[i] = -values->g[d->rows[i]];
    }
    pawl_voronets_solve(split, d->c, d->r);
    double change = largest(d->count, d->r);
    size = same && isfinite(change) ? fmax(size, change) : size;  // what it has moved so far
    if (change <= PAWL_ROUNDED * size ||
        (change <= PAWL_SETTLED_NEARLY * size && change > 0.25 * last)) {
      return PAWL_OK;
    }
    if (!isfinite(change)) {
      break;
    }
    last = change;
    s->dynamics.info.newton_iterations++;
    memset(d->x, 0, (size_t)s->sizes.v * sizeof(double));
    for (int i = 0; i < d->count; i++) {
      d->x[split->column_of[i]] = d->r[i];
    }
    pawl_system_retract(s->system, q, d->x, q);
  }
  return unsettled(s, d, t, err);
}

// J_p p' = -g_t - J_s s'. Needs what settle_position leaves. (E8)
static void settle_velocity(const PawlStepper* s, PawlReduced* d, double* v) {
  const double* g_t = pawl_eval_values(d->place)->g_t;
  int n = s->sizes.v;
  for (int i = 0; i < d->count; i++) {
    const double* row = d->J + (size_t)i * (size_t)n;
    double sum = g_t[d->rows[i]];
    for (int j = 0; j < n; j++) {
      sum += row[j] * v[j];
    }
    d->c[i] = -sum;
  }
  pawl_voronets_solve(&d->split, d->c, d->r);
  for (int i = 0; i < d->count; i++) {
    v[d->split.column_of[i]] += d->r[i];
  }
}

// ---- minimal: accelerations ---------------------------------------------------------------------
// F^T M F s'' = F^T (f - M b), v' = b + F s'', J_p^T lambda = (M v' - f)_p. (E9)
static PawlStatus reduce(PawlStepper* s, PawlForms* forms, const PawlValues* values, double t,
                         double* a, double* lambda, PawlError* err) {
  PawlReduced* d = forms->reduced;
  PawlVoronets* split = &d->split;
  PawlSaddle* k = &d->saddle;
  int n = s->sizes.v;
  s->dynamics.info.factorizations++;
  if (!pawl_voronets_factor(split, d->J)) {
    return pawl_dynamics_singular(&s->dynamics, values->M, values->G, forms->phase.active, t, err);
  }
  d->growth = pawl_voronets_reduce(split, d->J);
  k->n = n - d->count;
  k->m = 0;
  pawl_voronets_mass(split, &s->H, values->M, d->r, k->M);
  if (!pawl_saddle_factor(k)) {
    return pawl_dynamics_singular(&s->dynamics, values->M, values->G, forms->phase.active, t, err);
  }
  for (int i = 0; i < d->count; i++) {
    d->c[i] = -values->gamma[d->rows[i]];
  }
  pawl_voronets_solve(split, d->c, d->r);
  memset(a, 0, (size_t)n * sizeof(double));
  for (int i = 0; i < d->count; i++) {
    a[split->column_of[i]] = d->r[i];  // b
  }
  memcpy(d->r, values->f, (size_t)n * sizeof(double));
  pawl_sparse_add(&s->H, values->M, -1.0, a, d->r);
  pawl_voronets_restrict(split, d->r, d->x);
  pawl_saddle_solve(k, d->x, d->c);  // no rows: c stays as it is
  pawl_voronets_expand(split, d->x, a);
  for (int j = 0; j < n; j++) {
    d->r[j] = -values->f[j];
  }
  pawl_sparse_add(&s->H, values->M, 1.0, a, d->r);
  for (int i = 0; i < d->count; i++) {
    d->c[i] = d->r[split->column_of[i]];
  }
  pawl_voronets_solve_transposed(split, d->c, d->r);
  for (int i = 0; i < s->sizes.rows; i++) {
    lambda[i] = d->place_of[i] >= 0 ? d->r[d->place_of[i]] : 0.0;
  }
  return PAWL_OK;
}

PawlStatus pawl_forms_reduced(PawlStepper* s, PawlForms* forms, double t, double* q, double* v,
                              double* a, double* lambda, PawlError* err) {
  PawlReduced* d = forms->reduced;
  const PawlValues* values;
  if (forms->kind == PAWL_FORM_PROJECTED) {
    PAWL_TRY(evaluate(s, forms, t, q, v, &values, err));
    PAWL_TRY(project(s, forms, values, t, a, lambda, err));
    return pawl_dynamics_rate_states(&s->dynamics, &forms->phase, t, q, v, a, lambda, err);
  }
  if (d->count > 0) {
    PAWL_TRY(settle_position(s, forms, t, q, v, err));
    settle_velocity(s, d, v);
  }
  PAWL_TRY(evaluate(s, forms, t, q, v, &values, err));
  PAWL_TRY(reduce(s, forms, values, t, a, lambda, err));
  return pawl_dynamics_rate_states(&s->dynamics, &forms->phase, t, q, v, a, lambda, err);
}

// ---- the end of a step --------------------------------------------------------------------------
// With the matrix that `project` left factored.
static void solve_projected(PawlStepper* s, void* data, double* x, double* r) {
  PawlReduced* d = data;
  for (int i = 0; i < d->count; i++) {
    d->c[i] = r[d->rows[i]];
  }
  pawl_saddle_solve(&d->saddle, x, d->c);
  for (int i = 0; i < s->sizes.rows; i++) {
    r[i] = d->place_of[i] >= 0 ? d->c[d->place_of[i]] : 0.0;
  }
}

// v' and lambda with the values of `eval`, which has been run at (t, q, v).
static PawlStatus accelerate_by(PawlStepper* s, PawlForms* forms, PawlEval* eval, double t,
                                const double* q, const double* v, double* a, double* lambda,
                                PawlError* err) {
  const PawlValues* values = pawl_eval_values(eval);
  if (forms->kind == PAWL_FORM_INDEX_1) {
    return pawl_dynamics_accelerate(&s->dynamics, &forms->phase, values, t, q, v, a, lambda, err);
  }
  gather_rows(s, forms->reduced, values->G);
  PAWL_TRY(project(s, forms, values, t, a, lambda, err));
  return pawl_dynamics_rate_states(&s->dynamics, &forms->phase, t, q, v, a, lambda, err);
}

static void add_to(int n, double* x, const double* change) {
  for (int j = 0; j < n; j++) {
    x[j] += change[j];
  }
}

static void sum(int n, const double* x, const double* change, double* out) {
  for (int j = 0; j < n; j++) {
    out[j] = x[j] + change[j];
  }
}

static bool is_guessed(const PawlForms* forms) {
  return forms->apart < 0 && forms->guesses;
}

// v' and lambda first, at a point that the last change brings near to the constraints, then the
// projection with their matrix. False in *done: more is off.                              (E13)
static PawlStatus arrive_at_once(PawlStepper* s, PawlForms* forms, PawlNearbySolve* solve, double t,
                                 double* q, double* v, double* a, double* lambda, bool* done,
                                 PawlError* err) {
  PawlProjection* onto = &forms->onto;
  bool guessed = is_guessed(forms);
  PawlProjectionGuess guess = {forms->change, forms->v_change};
  PawlPoint point = pawl_phase_point(&forms->phase, t, q, v, NULL, NULL);
  if (guessed) {
    sum(s->sizes.v, q, forms->change, onto->x);
    sum(s->sizes.v, v, forms->v_change, onto->x_v);
    point.q = onto->x;
    point.v = onto->x_v;
  }
  s->dynamics.info.evaluations++;
  PAWL_TRY(pawl_method_run(s, &forms->phase, onto->place, &point, err));
  PAWL_TRY(accelerate_by(s, forms, onto->place, t, point.q, point.v, a, lambda, err));
  *done = pawl_projection_at_once(s, onto, &forms->phase, solve, forms->reduced,
                                  guessed ? &guess : NULL, a, q, v);
  if (guessed && *done) {
    pawl_copy(s->sizes.v, onto->x, forms->change);
    pawl_copy(s->sizes.v, onto->x_v, forms->v_change);
  }
  return PAWL_OK;
}

// What comes after a step in which much was off: a guess from its change, where such steps are
// guessed and this one was not, or a few steps whose projection comes first.
static int apart_after(const PawlForms* forms) {
  enum { STEPS_APART = 15 };
  return forms->guesses && !is_guessed(forms)  ? 0
         : forms->apart < 0 && !forms->guesses ? -1
                                               : STEPS_APART;
}

static PawlNearbySolve* solve_of(const PawlForms* forms) {
  return forms->kind == PAWL_FORM_PROJECTED ? solve_projected : pawl_projection_by_kkt;
}

// The projection, then v' and lambda.
static PawlStatus arrive_apart(PawlStepper* s, PawlForms* forms, double t, double* q, double* v,
                               double* a, double* lambda, PawlError* err) {
  int n = s->sizes.v;
  bool keeps = forms->apart == 0 && forms->guesses;
  for (int j = 0; keeps && j < n; j++) {
    forms->change[j] = -q[j];
    forms->v_change[j] = -v[j];
  }
  PAWL_TRY(pawl_projection_apply(s, &forms->onto, &forms->phase, solve_of(forms), forms->reduced, t,
                                 q, v, NULL, err));
  if (keeps) {
    add_to(n, forms->change, q);
    add_to(n, forms->v_change, v);
    forms->apart = -1;
  }
  PAWL_TRY(pawl_forms_accelerate(s, forms, t, q, v, a, lambda, err));
  s->dynamics.mass.M = pawl_eval_values(forms->eval)->M;
  return PAWL_OK;
}

PawlStatus pawl_forms_arrive_off(PawlStepper* s, PawlForms* forms, double t, double* q, double* v,
                                 double* a, double* lambda, PawlError* err) {
  forms->onto.placed = !is_guessed(forms);
  forms->apart = apart_after(forms);
  return arrive_apart(s, forms, t, q, v, a, lambda, err);
}

PawlStatus pawl_forms_arrive(PawlStepper* s, PawlForms* forms, double t, double* q, double* v,
                             double* a, double* lambda, PawlError* err) {
  bool done;
  if (forms->kind == PAWL_FORM_MINIMAL || !pawl_projection_any(s, &forms->onto, &forms->phase)) {
    return pawl_forms_accelerate(s, forms, t, q, v, a, lambda, err);
  }
  forms->onto.placed = false;
  if (forms->apart > 0) {
    forms->apart--;
    return arrive_apart(s, forms, t, q, v, a, lambda, err);
  }
  PAWL_TRY(arrive_at_once(s, forms, solve_of(forms), t, q, v, a, lambda, &done, err));
  if (!done) {
    return pawl_forms_arrive_off(s, forms, t, q, v, a, lambda, err);
  }
  s->dynamics.mass.M = pawl_eval_values(forms->onto.place)->M;
  return PAWL_OK;
}
