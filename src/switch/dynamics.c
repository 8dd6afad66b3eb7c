// SPDX-License-Identifier: Apache-2.0
#include "switch/dynamics.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/copy.h"
#include "base/targets.h"
#include "model/model.h"
#include "switch/tolerances.h"
#include "system/compiled.h"
#include "system/eval_again.h"
#include "system/system.h"

enum {
  MASK = PAWL_MASS | PAWL_FORCE | PAWL_POSITION | PAWL_GRADIENT | PAWL_TIME_GRADIENT | PAWL_BIAS |
         PAWL_ENERGY,
  STAGE = PAWL_MASS | PAWL_FORCE | PAWL_GRADIENT | PAWL_BIAS,
  TANGENTS = PAWL_STIFFNESS | PAWL_DAMPING | PAWL_VELOCITY_TANGENT | PAWL_ACCELERATION_TANGENT,
};

static void find_diagonal(PawlDynamics* d) {
  d->diagonal_H = true;
  for (int j = 0; j < d->sizes.v; j++) {
    d->diagonal[j] = -1;
    d->diagonal_H &= d->H.start[j + 1] == j + 1 && d->H.index[j] == j;
    for (int k = d->H.start[j]; k < d->H.start[j + 1]; k++) {
      d->diagonal[j] = d->H.index[k] == j && j < pawl_moving(d->sizes) ? k : d->diagonal[j];
    }
  }
}

static bool weigh(PawlDynamics* d, const double* M) {
  d->weights = PAWL_NEW(d->arena, double, d->sizes.v);
  for (int j = 0; d->weights && j < d->sizes.v; j++) {
    d->weights[j] = d->diagonal[j] >= 0 ? M[d->diagonal[j]] : 0.0;
  }
  return d->weights != NULL;
}

// Methods that solve with M alone: tangents are not in their matrix.
static bool has_no_tangents(const char* method) {
  static const char* const explicit_methods[] = {"rk4", "dopri", "event-driven"};
  bool is_one = false;
  for (size_t k = 0; k < sizeof explicit_methods / sizeof *explicit_methods; k++) {
    is_one |= strcmp(method, explicit_methods[k]) == 0;
  }
  return is_one;
}

static PawlStatus create_kkt(PawlDynamics* d, PawlError* err) {
  unsigned char* mass = PAWL_NEW(d->arena, unsigned char, d->nonzeros_H);
  if (!mass) {
    return pawl_fail_memory(err);
  }
  bool known = pawl_system_flag_mass(d->system, mass);
  return known ? pawl_kkt_create_for(&d->H, mass, has_no_tangents(d->def->method), &d->G, &d->kkt,
                                     err)
               : pawl_kkt_create(&d->H, &d->G, PAWL_KKT_AUTO, &d->kkt, err);
}

static PawlStatus offer_kkt(PawlDynamics* d, PawlError* err) {
  const PawlSystem* system = d->system;
  pawl_lock_take(system->lock);
  d->compiled_kkt = pawl_compiled_add_kkt(system->compiled, d->kkt);
  pawl_lock_leave(system->lock);
  return d->compiled_kkt >= 0 ? PAWL_OK : pawl_fail_memory(err);
}

void pawl_dynamics_tie(const PawlDynamics* d, PawlEval* eval) {
  pawl_eval_tie(eval, d->kkt, d->compiled_kkt);
}

// M and G change with modes alone in some of the modes.
static bool settles(const PawlSystem* system) {
  unsigned mask = PAWL_MASS | PAWL_GRADIENT;
  bool some = false;
  for (int g = 0; system->model && !(system->moves & mask) && g < system->gate_count; g++) {
    some |= !(system->gate_moves[g] & mask);
  }
  return some;
}

PawlStatus pawl_dynamics_create(PawlDynamics* d, PawlArena* arena, const PawlSystem* system,
                                const PawlSimulateDef* def, PawlError* err) {
  *d = (PawlDynamics){.arena = arena,
                      .system = system,
                      .def = def,
                      .sizes = pawl_system_sizes(system),
                      .H = pawl_system_pattern_H(system),
                      .G = pawl_system_pattern_G(system),
                      .compiled_kkt = -1};
  pawl_sparse_line_create(&d->H, &d->by_H);
  pawl_sparse_line_create(&d->G, &d->by_G);
  if (d->sizes.v >= PAWL_MANY && pawl_columns_find(&d->G, arena, &d->alike) != PAWL_OK) {
    return pawl_fail_memory(err);
  }
  d->nonzeros_H = d->H.start[d->sizes.v];
  d->nonzeros_G = d->G.start[d->sizes.v];
  for (int i = 0; i < d->sizes.rows; i++) {
    d->contacts |= pawl_system_row_kind(system, i) == PAWL_ROW_CONTACT;
  }
  d->steady = pawl_system_steady(system, PAWL_MASS | PAWL_GRADIENT, NULL);
  d->settles = d->steady || settles(system);
  d->linear = d->steady && pawl_system_steady(system, TANGENTS, NULL);
  d->plain = !d->contacts && !pawl_system_switches(system) && !pawl_system_triggers(system);
  d->room = PAWL_NEW(arena, double, 4 * (size_t)d->sizes.rows + 2 * (size_t)d->sizes.v);
  d->length_begin = PAWL_NEW(arena, double, d->sizes.rows);
  d->diagonal = PAWL_NEW(arena, int, d->sizes.v);
  d->modes = PAWL_NEW(arena, int, d->sizes.modes);
  if (arena->failed) {
    return pawl_fail_memory(err);
  }
  find_diagonal(d);
  if (!pawl_mass_create(&d->mass, arena, &d->H)) {
    return pawl_fail_memory(err);
  }
  if (!pawl_system_constant_mass(system)) {
    PAWL_TRY(pawl_eval_create(system, PAWL_MASS, &d->masses, err));
  }
  if (system->rates_react) {
    PAWL_TRY(pawl_eval_create(system, PAWL_FORCE, &d->rates, err));
  }
  bool located = strcmp(def->method, "event-driven") == 0;
  PAWL_TRY(pawl_slip_create(arena, system, located, &d->slip, err));
  if (d->slip) {
    d->tied = PAWL_NEW(arena, double, d->sizes.rows);
    PAWL_TRY(d->tied ? PAWL_OK : pawl_fail_memory(err));
  }
  PAWL_TRY(create_kkt(d, err));
  if (!d->steady) {
    pawl_kkt_keep_one(d->kkt);
  }
  if (pawl_system_constant_mass(system)) {
    pawl_kkt_fix(d->kkt);
  }
  PAWL_TRY(offer_kkt(d, err));
  PAWL_TRY(pawl_eval_create(system, MASK, &d->eval, err));
  pawl_dynamics_tie(d, d->eval);
  d->bare = !d->settles && !d->slip && !d->rates;
  bool constant = pawl_system_constant_mass(system);
  return constant && !weigh(d, pawl_eval_values(d->eval)->M) ? pawl_fail_memory(err) : PAWL_OK;
}

void pawl_dynamics_destroy(PawlDynamics* d) {
  if (d->system) {
    pawl_lock_take(d->system->lock);
    pawl_compiled_remove_kkt(d->system->compiled, d->compiled_kkt);
    pawl_lock_leave(d->system->lock);
  }
  pawl_sparse_line_destroy(&d->by_H);
  pawl_sparse_line_destroy(&d->by_G);
  pawl_kkt_destroy(d->kkt);
  pawl_slip_destroy(d->slip);
  pawl_eval_destroy(d->masses);
  pawl_eval_destroy(d->rates);
  pawl_eval_destroy(d->eval);
}

PawlStatus pawl_dynamics_evaluate(PawlDynamics* d, const PawlPhase* phase, const PawlState* state,
                                  const PawlValues** values, PawlError* err) {
  PawlPoint point = pawl_phase_point(phase, state->t, state->q, state->v, NULL, NULL);
  assert(phase->modes || d->sizes.modes == 0);
  d->info.evaluations++;
  *values = pawl_eval_values(d->eval);
  return pawl_dynamics_stopped(d) ? PAWL_STOPPED : pawl_eval_run(d->eval, &point, err);
}

static PawlStatus fail_outgrown(const PawlDynamics* d, const double* v_0, const double* v, double t,
                                PawlError* err) {
  int most = 0;
  for (int j = 1; j < d->sizes.v; j++) {
    most = fabs(v[j] - v_0[j]) > fabs(v[most] - v_0[most]) ? j : most;
  }
  return pawl_fail(err, PAWL_RETRY,
                   "t = %.10g: a force grows with the motion that it makes faster than a step can "
                   "follow%s%s; the step would lead past a pole, to a motion that is not that of "
                   "the model",
                   t, d->sizes.q == d->sizes.v ? ", most for " : "",
                   d->sizes.q == d->sizes.v ? pawl_system_coordinate_name(d->system, most) : "");
}

// A formula past its pole takes rates at least to zero: most steps need no closer look.
static bool may_outgrow(int n, const double* v_0, const double* v) {
  bool may = false;
  for (int j = 0; j < n; j++) {
    may |= fabs(v[j] - v_0[j]) > 0.5 * fabs(v_0[j]);
  }
  return may;
}

// The same of many, for vectors. And where S has its diagonal alone, none of it below zero, no term
// of d S d is.
PAWL_MANY_TARGETS static bool many_may_outgrow(const PawlDynamics* d, const double* S,
                                               const double* v_0, const double* v) {
  int n = d->sizes.v;
  long long may = 0, negative = !d->diagonal_H;  // as wide as the numbers
  for (int j = 0; j < n; j++) {
    may |= fabs(v[j] - v_0[j]) > 0.5 * fabs(v_0[j]);
  }
  if (may && !negative) {
    for (int j = 0; j < n; j++) {
      negative |= !(S[j] >= 0.0);
    }
  }
  return may && negative;
}

PawlStatus pawl_dynamics_outgrown(const PawlDynamics* d, const double* M, const double* S,
                                  const double* v_0, const double* v, double t, PawlError* err) {
  double sum = 0.0, size = 0.0, inertia = 0.0;  // d S d, its terms, d M d                    (A23)
  int n = d->sizes.v;
  if (!(n < PAWL_SEVERAL ? may_outgrow(n, v_0, v) : many_may_outgrow(d, S, v_0, v))) {
    return PAWL_OK;
  }
  for (int j = 0; j < d->H.cols; j++) {
    double dj = v[j] - v_0[j];
    for (int k = d->H.start[j]; k < d->H.start[j + 1]; k++) {
      double dd = dj * (v[d->H.index[k]] - v_0[d->H.index[k]]);
      sum += S[k] * dd;
      size += fabs(S[k] * dd);
      inertia += M[k] * dd;
    }
  }
  return sum < -PAWL_OUTGROWN * size && inertia > 0.0 ? fail_outgrown(d, v_0, v, t, err) : PAWL_OK;
}

// `again`: the same numbers are expected, and not factored again.
static PawlStatus factor(PawlDynamics* d, bool again, const double* S, const double* B,
                         const double* J, const unsigned char* set) {
  if (again && pawl_kkt_holds(d->kkt, S, B, J, set)) {
    return PAWL_OK;
  }
  d->info.factorizations++;
  return again ? pawl_kkt_factor_and_keep(d->kkt, S, B, J, set)
               : pawl_kkt_factor(d->kkt, S, B, J, set);
}

// [M -G^T; G 0] [a; lambda] = [f; -gamma] with the factors that there are; `push` beside f, or
// NULL.
PAWL_INLINE void accelerate(PawlDynamics* d, const PawlPhase* phase, const PawlValues* values,
                            const double* push, double* a, double* lambda) {
  pawl_copy(d->sizes.v, values->f, a);
  for (int j = 0; push && j < d->sizes.v; j++) {
    a[j] += push[j];
  }
  for (int i = 0; i < d->sizes.rows; i++) {
    lambda[i] = pawl_phase_binds(phase, i) ? -values->gamma[i] : 0.0;
  }
  pawl_kkt_solve(d->kkt, a, lambda);
}

static PawlStatus fail_factor(PawlDynamics* d, PawlStatus status, const PawlPhase* phase,
                              const PawlValues* values, double t, PawlError* err) {
  return status == PAWL_RETRY
             ? pawl_dynamics_singular(d, values->M, values->G, phase->active, t, err)
             : pawl_fail_memory(err);
}

static void note_mass(PawlDynamics* d, double t) {
  d->mass.seen = t;
  d->mass.number = pawl_kkt_current(d->kkt);
  d->mass.M = NULL;
}

PAWL_APART static void note_modes(PawlDynamics* d, const PawlPhase* phase) {
  for (int k = 0; k < d->sizes.modes; k++) {
    d->modes[k] = phase->modes[k];
  }
  d->steady_now = pawl_system_steady(d->system, PAWL_MASS | PAWL_GRADIENT, phase->modes);
  d->still = pawl_system_steady(d->system, STAGE, phase->modes);
  d->of_modes = 0;
  d->noted = true;
}

// While the modes stay, so do M and G.
PAWL_INLINE bool is_steady(PawlDynamics* d, const PawlPhase* phase) {
  bool same = d->noted;
  if (!d->settles) {
    return false;
  }
  for (int k = 0; same && k < d->sizes.modes; k++) {
    same = d->modes[k] == phase->modes[k];
  }
  if (!same) {
    note_modes(d, phase);
  }
  return d->steady_now;
}

// Where that is so: the factors in use are theirs.
static bool is_of_modes(const PawlDynamics* d, const PawlPhase* phase) {
  return d->of_modes > 0 && pawl_kkt_is_still(d->kkt, d->of_modes, phase->active);
}

// The multipliers have come to an end of Newton's method; `at` becomes these.
static bool has_settled(int rows, const double* lambda, double* at) {
  double change = 0.0, size = 0.0;
  for (int i = 0; i < rows; i++) {
    change = fmax(change, fabs(lambda[i] - at[i]));
    size = fmax(size, fabs(lambda[i]));
    at[i] = lambda[i];
  }
  return change <= PAWL_TIED * size;
}

// Where friction hangs on multipliers: Newton's method from those without it.               (F26)
static PawlStatus accelerate_tied(PawlDynamics* d, const PawlPhase* phase, const PawlValues* values,
                                  double t, const double* q, const double* v, double* a,
                                  double* lambda, PawlError* err) {
  enum { MOST = 50 };
  const double* B;
  memset(d->tied, 0, (size_t)d->sizes.rows * sizeof(double));
  for (int k = 0; k < MOST; k++) {
    PAWL_TRY(pawl_slip_directions(d->slip, phase, values->G, t, q, v, d->tied, &B, err));
    PawlStatus status = factor(d, true, values->M, B, values->G, phase->active);
    if (status != PAWL_OK) {
      return status == PAWL_RETRY
                 ? pawl_dynamics_singular(d, values->M, values->G, phase->active, t, err)
                 : pawl_fail_memory(err);
    }
    accelerate(d, phase, values, d->slip->push, a, lambda);
    if (has_settled(d->sizes.rows, lambda, d->tied)) {
      return d->rates ? pawl_dynamics_rate_states(d, phase, t, q, v, a, lambda, err) : PAWL_OK;
    }
  }
  return pawl_fail(err, PAWL_RETRY,
                   "t = %.10g: the friction of '%s' hangs on forces that hang on it, and none are "
                   "found that agree",
                   t, d->system->constraints[d->slip->joint[0].constraint].name);
}

// With force directions of what slips, factors that stay with the modes, rates that react.
PAWL_APART static PawlStatus accelerate_any(PawlDynamics* d, const PawlPhase* phase,
                                            const PawlValues* values, double t, const double* q,
                                            const double* v, double* a, double* lambda,
                                            PawlError* err) {
  const double *M = values->M, *G = values->G, *B = G;
  PawlStatus status = PAWL_OK;
  if (d->slip && pawl_slip_ties(d->slip, phase)) {
    return accelerate_tied(d, phase, values, t, q, v, a, lambda, err);
  }
  PAWL_TRY(d->slip ? pawl_slip_directions(d->slip, phase, G, t, q, v, NULL, &B, err) : PAWL_OK);
  if (B != G) {
    status = factor(d, true, M, B, G, phase->active);
  } else {
    bool steady = is_steady(d, phase);
    if (!steady || !is_of_modes(d, phase)) {
      status = factor(d, steady, M, G, G, phase->active);
      d->of_modes = steady ? pawl_kkt_current(d->kkt) : 0;
    }
  }
  if (status != PAWL_OK) {
    return fail_factor(d, status, phase, values, t, err);
  }
  if (d->mass.on) {
    note_mass(d, t);
  }
  accelerate(d, phase, values, NULL, a, lambda);
  return d->rates ? pawl_dynamics_rate_states(d, phase, t, q, v, a, lambda, err) : PAWL_OK;
}

PawlStatus pawl_dynamics_accelerate(PawlDynamics* d, const PawlPhase* phase,
                                    const PawlValues* values, double t, const double* q,
                                    const double* v, double* a, double* lambda, PawlError* err) {
  if (!d->bare) {
    return accelerate_any(d, phase, values, t, q, v, a, lambda, err);
  }
  d->info.factorizations++;
  PawlStatus status = pawl_kkt_factor(d->kkt, values->M, values->G, values->G, phase->active);
  if (status != PAWL_OK) {
    return fail_factor(d, status, phase, values, t, err);
  }
  if (d->mass.on) {
    note_mass(d, t);
  }
  accelerate(d, phase, values, NULL, a, lambda);
  return PAWL_OK;
}

bool pawl_dynamics_direct(PawlDynamics* d, const PawlPhase* phase, PawlKktDirect* by) {
  if (d->slip || d->rates || pawl_dynamics_stopped(d)) {
    return false;
  }
  return is_steady(d, phase) ? is_of_modes(d, phase) && pawl_kkt_direct_solves(d->kkt, by)
                             : pawl_kkt_direct(d->kkt, phase->active, by);
}

void pawl_dynamics_direct_count(PawlDynamics* d, const PawlKktDirect* by, int count, double t) {
  int factored = by->factor ? count : 0;
  d->info.evaluations += count;
  d->info.factorizations += factored;
  pawl_kkt_direct_count(d->kkt, factored, count);
  if (d->mass.on) {
    note_mass(d, t);
  }
}

// (Z4)
PawlStatus pawl_dynamics_rate_states(PawlDynamics* d, const PawlPhase* phase, double t,
                                     const double* q, const double* v, double* a,
                                     const double* lambda, PawlError* err) {
  PawlPoint point = pawl_phase_point(phase, t, q, v, a, lambda);
  int first = d->sizes.v - d->sizes.states;
  if (!d->rates) {
    return PAWL_OK;
  }
  d->info.evaluations++;
  PAWL_TRY(pawl_eval_run(d->rates, &point, err));
  memcpy(a + first, pawl_eval_values(d->rates)->f + first, (size_t)d->sizes.states * sizeof *a);
  return PAWL_OK;
}

// ---- one place ----------------------------------------------------------------------------------
bool pawl_dynamics_is_factored(const PawlDynamics* d, const PawlValues* values,
                               const unsigned char* set) {
  return pawl_kkt_holds(d->kkt, values->M, values->G, values->G, set);
}

PawlStatus pawl_dynamics_factor(PawlDynamics* d, const PawlValues* values,
                                const unsigned char* set) {
  return factor(d, true, values->M, values->G, values->G, set);
}

PawlStatus pawl_dynamics_react(PawlDynamics* d, PawlState* state, const PawlValues* values,
                               PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, false);
  const double* B = values->G;
  if (d->slip && pawl_slip_ties(d->slip, &phase)) {
    return accelerate_tied(d, &phase, values, state->t, state->q, state->v, state->a, state->lambda,
                           err);
  }
  PAWL_TRY(d->slip ? pawl_slip_directions(d->slip, &phase, values->G, state->t, state->q, state->v,
                                          NULL, &B, err)
                   : PAWL_OK);
  PawlStatus status = factor(d, true, values->M, B, values->G, phase.active);
  if (status != PAWL_OK) {
    return status == PAWL_RETRY
               ? pawl_dynamics_singular(d, values->M, values->G, phase.active, state->t, err)
               : pawl_fail_memory(err);
  }
  accelerate(d, &phase, values, NULL, state->a, state->lambda);
  return pawl_dynamics_rate_states(d, &phase, state->t, state->q, state->v, state->a, state->lambda,
                                   err);
}

PawlStatus pawl_dynamics_solve(PawlDynamics* d, const PawlValues* values, const double* S,
                               const double* B, const double* J, const unsigned char* set, double t,
                               double* x, double* y, PawlError* err) {
  return pawl_dynamics_solve_known(d, values, S, B, J, set, t, x, y, NULL, err);
}

// The solution of least multipliers where contacts depend on each other, or why there is none.
PAWL_APART static PawlStatus solve_singular(PawlDynamics* d, const PawlValues* values,
                                            const double* S, const double* B,
                                            const unsigned char* set, double t, double* x,
                                            double* y, PawlStatus status, PawlError* err) {
  if (status == PAWL_RETRY && d->dependent.of && set) {
    status = d->dependent.solve(d->dependent.of, S, B, values->G, set, x, y);
  }
  if (status == PAWL_RETRY && d->contacts) {
    status = B == values->G ? pawl_kkt_min_norm(d->kkt, values->M, values->G, set, x, y, NULL)
                            : pawl_kkt_min_norm_along(d->kkt, values->M, B, values->G, set, x, y);
  }
  return status == PAWL_RETRY ? pawl_dynamics_singular(d, S, values->G, set, t, err)
         : status == PAWL_OK  ? PAWL_OK
                              : pawl_fail_memory(err);
}

bool pawl_dynamics_expects(const PawlDynamics* d, const unsigned char* set) {
  return d->dependent.of && set && d->dependent.expects(d->dependent.of, set);
}

PawlStatus pawl_dynamics_solve_known(PawlDynamics* d, const PawlValues* values, const double* S,
                                     const double* B, const double* J, const unsigned char* set,
                                     double t, double* x, double* y, long long* number,
                                     PawlError* err) {
  if (number && *number > 0 && pawl_kkt_is_still(d->kkt, *number, set)) {
    pawl_kkt_solve(d->kkt, x, y);
    return PAWL_OK;
  }
  PawlStatus status = PAWL_RETRY;
  if (pawl_dynamics_expects(d, set)) {
    // singular
  } else if (d->linear) {
    status = factor(d, true, S, B, J, set);
    if (status == PAWL_OK) {
      pawl_kkt_solve(d->kkt, x, y);
    }
  } else {
    d->info.factorizations++;
    status = pawl_kkt_factor_and_solve(d->kkt, S, B, J, set, x, y);
  }
  if (number) {
    *number = status == PAWL_OK ? pawl_kkt_current(d->kkt) : 0;
  }
  return status == PAWL_OK ? PAWL_OK : solve_singular(d, values, S, B, set, t, x, y, status, err);
}

// ---- warnings -----------------------------------------------------------------------------------
PawlStatus pawl_dynamics_warn(PawlDynamics* d, const char* line) {
  enum { MOST_WARNINGS = 8 };
  PawlText text = {0};
  if (d->warnings++ >= MOST_WARNINGS) {
    return PAWL_OK;
  }
  pawl_text_printf(&text, "%s%s%s", d->warning ? d->warning : "", d->warning ? "\n" : "", line);
  char* kept = text.failed ? NULL : pawl_arena_copy(d->arena, text.s, text.length);
  pawl_text_free(&text);
  d->warning = kept ? kept : d->warning;
  return kept ? PAWL_OK : PAWL_ERROR_MEMORY;
}

// ---- redundant rows -----------------------------------------------------------------------------
// What follows from others is off by as much as these were when it began, and back again.
static double worst_in_force(PawlDynamics* d, const PawlState* state, const PawlValues* values) {
  double worst = 0.0, *size = d->room;
  pawl_dynamics_row_sizes(d, values->G, state->q, size);
  for (int i = 0; i < d->sizes.rows; i++) {
    double of_row = size[i] > 0.0 ? size[i] : PAWL_SMALLEST_SIZE;
    worst = state->in_force[i] ? fmax(worst, fabs(values->g[i]) / of_row) : worst;
  }
  return worst;
}

static bool drops_position(const PawlDynamics* d, const PawlState* state) {
  bool drops = false;
  for (int i = 0; d->system->rates && i < d->sizes.rows; i++) {
    drops |= state->redundant[i] && !pawl_system_row_is_rate(d->system, i, state->modes);
  }
  return drops;
}

static bool is_rate(const PawlDynamics* d, const PawlState* state, int row) {
  return pawl_system_row_is_rate(d->system, row, state->modes);
}

static bool gives_way(const PawlDynamics* d, const PawlState* state, int row) {
  return state->in_force[row] == PAWL_ROW_OF_JOINT || is_rate(d, state, row);
}

bool pawl_dynamics_leaves_to_contacts(const PawlDynamics* d, const PawlState* state, int row) {
  PawlPhase phase = pawl_phase_of(state, false);
  bool meets = false;
  if (!state->redundant[row] || state->in_force[row] != PAWL_ROW_OF_JOINT || !d->slip ||
      !pawl_slip_any(d->slip, &phase)) {
    return false;
  }
  const PawlByRows* rows = &d->slip->rows;
  for (int p = rows->start[row]; p < rows->start[row + 1]; p++) {
    int j = rows->column[p];
    for (int e = d->G.start[j]; e < d->G.start[j + 1]; e++) {
      meets |= state->in_force[d->G.index[e]] == PAWL_ROW_OF_CONTACT;
    }
  }
  return meets;
}

// A contact follows from others while some slip.
static bool drops_gap(const PawlDynamics* d, const PawlState* state) {
  PawlPhase phase = pawl_phase_of(state, false);
  bool drops = false, joints = false;
  for (int i = 0; i < d->sizes.rows; i++) {
    drops |= state->redundant[i] && state->in_force[i] == PAWL_ROW_OF_CONTACT;
    joints |= state->in_force[i] == PAWL_ROW_OF_JOINT;
  }
  return drops && joints && d->slip && pawl_slip_any(d->slip, &phase);
}

// Chooses anew, with rows that are `last` where they do not follow from the others: a rate row does
// not hold what position rows hold. `active` is used up.
static PawlStatus choose_anew(PawlDynamics* d, PawlState* state, const double* M, const double* G,
                              bool (*last)(const PawlDynamics*, const PawlState*, int)) {
  enum { FEW = 16 };  // more are looked at together
  unsigned char *found = (unsigned char*)d->room, *rate = found + d->sizes.rows;
  unsigned char* active = state->active;
  int column, count = 0;
  for (int i = 0; i < d->sizes.rows; i++) {
    rate[i] = active[i] && last(d, state, i);
    count += rate[i];
  }
  if (count > FEW) {
    return pawl_kkt_diagnose_last(d->kkt, M, G, active, rate, &column, state->redundant);
  }
  for (int i = 0; i < d->sizes.rows; i++) {
    active[i] = active[i] && !rate[i];
  }
  PAWL_TRY(pawl_kkt_diagnose(d->kkt, M, G, active, &column, state->redundant));
  for (int i = 0; i < d->sizes.rows; i++) {
    active[i] = active[i] && !state->redundant[i];
  }
  for (int i = 0; i < d->sizes.rows; i++) {
    if (rate[i]) {
      active[i] = 1;
      PAWL_TRY(pawl_kkt_diagnose(d->kkt, M, G, active, &column, found));
      state->redundant[i] = memchr(found, 1, (size_t)d->sizes.rows) != NULL;
      active[i] = !state->redundant[i];
    }
  }
  return PAWL_OK;
}

PawlStatus pawl_dynamics_choose_rows(PawlDynamics* d, PawlState* state, const PawlValues* values,
                                     PawlError* err) {
  int column;
  const double *M = values->M, *G = values->G;
  state->redundant_count = 0;
  state->redundant_off = 0.0;
  memset(state->redundant, 0, (size_t)d->sizes.rows);
  pawl_phase_activate(d->system, state);
  PawlStatus status = pawl_dynamics_factor(d, values, state->active);
  if (status != PAWL_RETRY) {
    return status == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
  }
  status = pawl_kkt_diagnose(d->kkt, M, G, state->active, &column, state->redundant);
  if (status == PAWL_OK && column < 0 && drops_gap(d, state)) {
    status = choose_anew(d, state, M, G, gives_way);  // (F34)
  } else if (status == PAWL_OK && column < 0 && drops_position(d, state)) {
    status = choose_anew(d, state, M, G, is_rate);
  }
  for (int i = 0; status == PAWL_OK && i < d->sizes.rows; i++) {
    state->redundant_count += state->redundant[i] != 0;
  }
  if (status == PAWL_ERROR_MEMORY) {
    return pawl_fail_memory(err);
  }
  if (status != PAWL_OK || column >= 0 || state->redundant_count == 0) {
    state->redundant_count = 0;
    return pawl_dynamics_singular(d, M, G, state->active, state->t, err);
  }
  assert(state->redundant_count <= d->sizes.rows);
  pawl_phase_activate(d->system, state);
  state->redundant_off = worst_in_force(d, state, values);
  return PAWL_OK;
}

PawlStatus pawl_dynamics_reduce(PawlDynamics* d, PawlState* state, const PawlValues* values,
                                PawlError* err) {
  PAWL_TRY(pawl_dynamics_choose_rows(d, state, values, err));
  return state->redundant_count > 0 ? pawl_dynamics_warn_redundant(d, state, values, err) : PAWL_OK;
}

// ---- small things -------------------------------------------------------------------------------
void pawl_dynamics_rows(const PawlDynamics* d, const double* G, const double* x, const double* plus,
                        double* out) {
  if (plus) {
    pawl_copy(d->sizes.rows, plus, out);
  } else {
    pawl_copy_zeros(d->sizes.rows, out);
  }
  if (d->alike.count > 0) {
    pawl_columns_add(&d->alike, &d->G, G, x, out);
  } else {
    pawl_sparse_line_add(&d->by_G, G, 1.0, x, out);
  }
}

double pawl_dynamics_least(int n, const double* x) {
  double most = pawl_dynamics_largest(n, x);
  return most > PAWL_NOTHING ? PAWL_SMALLEST_PART * most : PAWL_SMALLEST_SIZE;
}

void pawl_dynamics_row_sizes(const PawlDynamics* d, const double* G, const double* q,
                             double* sizes) {
  bool same = d->sizes.q == d->sizes.v;
  assert(sizes || d->sizes.rows == 0);
  double least = same ? pawl_dynamics_least(d->sizes.q, q) : 0.0;
  pawl_sparse_sizes(&d->G, G, same ? q : NULL, least, sizes);
}

double pawl_dynamics_instant(const PawlDynamics* d, double t) {
  double closely = fmin(d->def->event_tolerance, PAWL_INSTANT_OF_STEP * d->def->step);
  return fmax(closely, PAWL_SAME_TIME * fabs(t));
}

double pawl_dynamics_found(const PawlDynamics* d, double t) {
  bool located = strcmp(d->def->method, "event-driven") == 0;
  const char* method = located ? d->def->smooth : d->def->method;
  bool own = strcmp(method, "ark") == 0 || strcmp(method, "ida") == 0;
  return fmax(pawl_dynamics_instant(d, t),
              own ? PAWL_SUNDIALS_ROOT * (fabs(t) + d->def->step) : 0.0);
}

double pawl_dynamics_largest(int n, const double* x) {
  double most[4] = {0.0};  // side by side: one alone waits for each comparison
  int j = 0;
  if (n < 4) {
    for (; j < n; j++) {
      most[0] = fabs(x[j]) > most[0] ? fabs(x[j]) : most[0];
    }
    return most[0];
  }
  for (; j + 3 < n; j += 4) {
    for (int k = 0; k < 4; k++) {
      double size = fabs(x[j + k]);
      most[k] = size > most[k] ? size : most[k];
    }
  }
  for (; j < n; j++) {
    most[0] = fabs(x[j]) > most[0] ? fabs(x[j]) : most[0];
  }
  most[0] = most[1] > most[0] ? most[1] : most[0];
  most[2] = most[3] > most[2] ? most[3] : most[2];
  return most[2] > most[0] ? most[2] : most[0];
}

double pawl_dynamics_fall(const PawlDynamics* d, const PawlValues* values) {
  const double *f = values->f, *M = values->M, *weights = d->weights;
  const int* diagonal = d->diagonal;
  double most = 0.0;
  for (int j = 0; j < pawl_moving(d->sizes); j++) {
    double mass = weights ? weights[j] : diagonal[j] >= 0 ? M[diagonal[j]] : 0.0;
    if (fabs(f[j]) > most * mass && mass > 0.0) {
      most = fabs(f[j]) / mass;
    }
  }
  return most;
}

double pawl_dynamics_push(const PawlDynamics* d, const PawlState* state, const PawlValues* values) {
  return fmax(pawl_dynamics_largest(pawl_moving(d->sizes), state->a),
              values ? pawl_dynamics_fall(d, values) : 0.0);
}

double pawl_dynamics_pace(const PawlDynamics* d, const PawlState* state, const PawlValues* values) {
  return pawl_dynamics_largest(pawl_moving(d->sizes), state->v) +
         d->def->step * pawl_dynamics_push(d, state, values);
}
