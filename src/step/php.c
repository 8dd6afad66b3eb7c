// SPDX-License-Identifier: Apache-2.0
// php: the projected Hamilton principle (docs/theory/php.md). A smooth path z runs through the
// whole space, q = P(z) is the motion, and an impact is where z crosses the boundary of the
// contact. A step is one piece by the discrete action, or, where the path crosses, two with the
// impact between them; the side of z changes there.
//
// The state carries the momentum p of q (uncut: of z), z, and the side that z is on.
#include "step/php.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"
#include "switch/tolerances.h"

enum { MOST_IMPACTS = 50, MOST_SEARCHES = 200 };

// ---- creation -----------------------------------------------------------------------------------
static PawlStatus read_crossing(const PawlStepper* s, PawlPhp* d, PawlError* err) {
  static const char* const words[] = {"free", "momentum", "uncut"};
  for (int k = 0; k < 3; k++) {
    if (strcmp(s->def.crossing, words[k]) == 0) {
      d->crossing = (PawlPhpCrossing)k;
      return PAWL_OK;
    }
  }
  return pawl_fail(err, PAWL_ERROR_USAGE, "crossing = %.100s: must be free, momentum or uncut",
                   s->def.crossing);
}

static PawlStatus allocate(PawlStepper* s, PawlPhp* d, PawlError* err) {
  int n = d->n, m = d->rows, all = n + m + 1;
  double** vectors[] = {&d->q,  &d->p, &d->v,        &d->w,        &d->m, &d->q1,
                        &d->p1, &d->z, &d->v_before, &d->gradient, &d->a};
  struct {
    double** array;
    int size;
  } others[] = {{&d->A, n * n},     {&d->g, m},   {&d->G0, m * n}, {&d->G1, m * n},
                {&d->J, all * all}, {&d->b, all}, {&d->x, all},    {&d->lambda, s->sizes.rows}};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) {
    *vectors[k] = PAWL_NEW(&s->arena, double, n);
  }
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
    *others[k].array = PAWL_NEW(&s->arena, double, others[k].size);
  }
  d->pivot = PAWL_NEW(&s->arena, int, all);
  d->in = PAWL_NEW(&s->arena, int, m);
  d->active = PAWL_NEW(&s->arena, unsigned char, m);
  return s->arena.failed ? pawl_fail_memory(err) : PAWL_OK;
}

static PawlStatus create(PawlStepper* s, PawlError* err) {
  PawlPhp* d = PAWL_NEW(&s->arena, PawlPhp, 1);
  s->data = d;
  if (!d) {
    return pawl_fail_memory(err);
  }
  d->n = s->sizes.v;
  d->rows = s->sizes.rows - s->contact_count;
  PAWL_TRY(read_crossing(s, d, err));
  PAWL_TRY(allocate(s, d, err));
  PAWL_TRY(pawl_mirror_create(s->system, &d->mirror, err));
  d->L = pawl_mirror_lagrangian(d->mirror);
  if (d->crossing != PAWL_PHP_UNCUT || s->contact_count == 0) {
    return PAWL_OK;
  }
  if (d->rows > 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "crossing = uncut: not with constraints");
  }
  return pawl_mirror_pull_back(d->mirror, &d->pulled, err);
}

static void destroy(PawlStepper* s) {
  PawlPhp* d = s->data;
  pawl_lagrangian_destroy(d->pulled);
  pawl_mirror_destroy(d->mirror);
}

static bool normal_form(const PawlStepper* s, int* coordinate, double* k, double* k_c) {
  const PawlPhp* d = s->data;
  double a = pawl_mirror_bound(d->mirror);
  *coordinate = pawl_mirror_coordinate(d->mirror);
  *k = pawl_mirror_k(d->mirror);
  *k_c = a * a;
  return *coordinate >= 0;
}

// ---- what a state carries -----------------------------------------------------------------------
static double* momentum_of(const PawlState* state) {
  return state->memory;
}

static double* path_of(const PawlStepper* s, const PawlState* state) {
  return state->memory + s->sizes.v;
}

static double* side_of(const PawlStepper* s, const PawlState* state) {
  return state->memory + 2 * s->sizes.v;  // 0 feasible, 1 not
}

static const double* lifted(const PawlStepper* s, const PawlState* state) {
  return path_of(s, state);
}

static size_t bytes(const PawlPhp* d) {
  return (size_t)d->n * sizeof(double);
}

// Whether z of the memory is that of q: then the motion goes on, else it begins.
static bool goes_on(PawlStepper* s, PawlPhp* d, const PawlState* state) {
  double size = 1.0, off = 0.0;
  if (*side_of(s, state) == 0.0 || !pawl_mirror_has_contact(d->mirror) ||
      !pawl_mirror_map(d->mirror, path_of(s, state), d->q1)) {
    return false;
  }
  for (int i = 0; i < d->n; i++) {
    size = fmax(size, fabs(state->q[i]));
    off = fmax(off, fabs(d->q1[i] - state->q[i]));
  }
  return off <= PAWL_SAME_PLACE * size;
}

// Which side of the Lagrangian z is on: that of uncut, where there are two.
static PawlLagrangian* side(const PawlPhp* d, bool infeasible) {
  return d->pulled && infeasible ? d->pulled : d->L;
}

static PawlStatus start(PawlStepper* s, const PawlPhase* phase, PawlState* state, PawlError* err) {
  PawlPhp* d = s->data;
  (void)phase;
  if (d->pulled || !goes_on(s, d, state)) {
    *side_of(s, state) = 0.0;
    memcpy(path_of(s, state), state->q, bytes(d));
  }
  const PawlLagrangianValues* l = pawl_lagrangian_run(d->L, state->q, state->v);
  if (!l) {
    return pawl_fail(err, PAWL_RETRY, "t = %.10g: the energies are not finite", state->t);
  }
  memcpy(momentum_of(state), l->L_v, bytes(d));
  return PAWL_OK;
}

// ---- failures -----------------------------------------------------------------------------------
// What is not finite, by name: in the middle of the piece, or at its end.
static PawlStatus fail_domain(PawlStepper* s, double t, PawlError* err) {
  PawlPhp* d = s->data;
  PawlEval* eval = s->dynamics.eval;
  const double* places[] = {d->m, d->q1};
  PawlStatus status = PAWL_OK;
  for (int k = 0; k < 2 && status == PAWL_OK; k++) {
    PawlPoint point = {.t = t, .q = places[k], .v = d->w, .a = d->a, .lambda = d->lambda};
    status = pawl_eval_run(eval, &point, err);
  }
  return status ? status : pawl_fail(err, PAWL_RETRY, "t = %.10g: the energies are not finite", t);
}

static PawlStatus fail(PawlStepper* s, PawlPhpFault fault, double t, PawlError* err) {
  switch (fault) {
    case PAWL_PHP_GOOD:
      break;
    case PAWL_PHP_DOMAIN:
      return fail_domain(s, t, err);
    case PAWL_PHP_SINGULAR:
      return pawl_fail(err, PAWL_RETRY, "t = %.10g: the matrix of the step is singular", t);
    case PAWL_PHP_ENDLESS:
      return pawl_fail(err, PAWL_RETRY,
                       "t = %.10g: the velocities did not converge in %d "
                       "iterations",
                       t, s->def.iterations);
    case PAWL_PHP_GRAZING:
      return pawl_fail(err, PAWL_RETRY,
                       "t = %.10g: no impact has the energy of the motion before it; php knows "
                       "impacts, not contacts that graze or stay closed (nsga-pva does)",
                       t);
  }
  return PAWL_OK;
}

// ---- the cut ------------------------------------------------------------------------------------
// The gap at the end of a piece of length tau.
static PawlPhpFault gap_after(PawlStepper* s, PawlPhp* d, double tau, double* phi) {
  PawlPhpFault fault = pawl_php_piece(d, d->L, tau, &s->def, &s->dynamics.info.newton_iterations);
  s->dynamics.info.evaluations++;
  return fault                                          ? fault
         : pawl_mirror_gap(d->mirror, d->q1, phi, NULL) ? PAWL_PHP_GOOD
                                                        : PAWL_PHP_DOMAIN;
}

// A length at which the gap is open, below `high` where it is not; 0: the piece begins at an
// impact.
static PawlPhpFault find_open(PawlStepper* s, PawlPhp* d, double high, double* low, double* phi) {
  double rate = 0.0, size = 1.0;
  *low = 0.0;
  if (!pawl_mirror_gap(d->mirror, d->q, phi, d->gradient)) {
    return PAWL_PHP_DOMAIN;
  }
  for (int i = 0; i < d->n; i++) {
    rate += d->gradient[i] * d->v[i];
    size += fabs(d->gradient[i] * d->q[i]);
  }
  if (*phi > PAWL_PHP_TOUCHING * size || (*phi > 0.0 && rate < 0.0) || rate < 0.0) {
    return PAWL_PHP_GOOD;
  }
  double tau = high;
  for (int k = 0; k < MOST_SEARCHES && rate > 0.0; k++) {
    tau *= 0.5;
    PawlPhpFault fault = gap_after(s, d, tau, phi);
    if (fault || *phi > 0.0) {
      *low = tau;
      return fault;
    }
  }
  return PAWL_PHP_GRAZING;
}

// tau of (H8): where the gap becomes 0, by regula falsi with the weights of the Illinois method.
// Ends with the piece up to there.
static PawlPhpFault find_cut(PawlStepper* s, PawlPhp* d, double high, double end, double* tau) {
  double low, begin, phi = 0.0;
  PawlPhpFault fault = find_open(s, d, high, &low, &begin);
  int last = 0;
  if (!fault && low == 0.0 && begin <= 0.0) {
    *tau = 0.0;
    return gap_after(s, d, 0.0, &phi);
  }
  for (int k = 0; !fault && k < MOST_SEARCHES && high - low > PAWL_IMPACT_TIME * d->step; k++) {
    double middle = low + (high - low) * begin / (begin - end);
    bool inside = middle > low && middle < high && k % 8 != 7;
    middle = inside ? middle : 0.5 * (low + high);
    fault = gap_after(s, d, middle, &phi);
    if (phi >= 0.0) {
      low = middle;
      end = last > 0 ? 0.5 * end : end;
      begin = phi;
      last = 1;
    } else {
      high = middle;
      begin = last < 0 ? 0.5 * begin : begin;
      end = phi;
      last = -1;
    }
    if (phi == 0.0) {
      break;
    }
  }
  *tau = low;
  return fault ? fault : gap_after(s, d, low, &phi);
}

// ---- a step in pieces ---------------------------------------------------------------------------
// The end of a piece becomes the beginning of the next.
static PawlPhpFault take(PawlPhp* d) {
  memcpy(d->q, d->q1, bytes(d));
  memcpy(d->p, d->p1, bytes(d));
  return pawl_php_settle(d, d->q, d->p, d->v);
}

static double product(int n, const double* a, const double* b) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

// The impact at the end of a piece; the rest of the step is `left` long.
static PawlStatus hit(PawlStepper* s, PawlPhp* d, const PawlState* state, double t, double left,
                      PawlError* err) {
  double Lambda = 0.0;
  PawlState before = *state;
  memcpy(d->v_before, d->v, bytes(d));
  PawlPhpFault fault =
      pawl_php_impact(d, left, &s->def, &Lambda, &s->dynamics.info.newton_iterations);
  if (fault) {
    return fail(s, fault, t, err);
  }
  for (int i = 0; i < d->n; i++) {
    d->p[i] += d->gradient[i] * Lambda;  // (H9), (H13)
  }
  fault = pawl_php_settle(d, d->q, d->p, d->v);
  if (fault) {
    return fail(s, fault, t, err);
  }
  // Elastic: what H changes by at an impact is the error of the method, and no loss.
  before.v = d->v_before;
  PawlContactHit hit = {.row = d->rows, .impulse = Lambda, .t = t, .q = d->q, .v = d->v};
  return pawl_log_contact(&s->log, &before, &hit, err);
}

// From d->q, d->p, d->v over the step, with the impacts on the way.
static PawlStatus cut_step(PawlStepper* s, PawlPhp* d, const PawlState* state, double h,
                           double* infeasible, PawlError* err) {
  double left = h;
  for (int k = 0; k < MOST_IMPACTS; k++) {
    double phi = 0.0, tau;
    PawlPhpFault fault =
        pawl_mirror_has_contact(d->mirror)
            ? gap_after(s, d, left, &phi)
            : pawl_php_piece(d, d->L, left, &s->def, &s->dynamics.info.newton_iterations);
    if (fault) {
      return fail(s, fault, state->t, err);
    }
    if (phi >= 0.0) {
      return fail(s, take(d), state->t + h, err);
    }
    fault = find_cut(s, d, left, phi, &tau);
    fault = fault ? fault : take(d);
    if (fault) {
      return fail(s, fault, state->t + h - left, err);
    }
    left -= tau;
    PAWL_TRY(hit(s, d, state, state->t + h - left, left, err));
    *infeasible = 1.0 - *infeasible;
    memcpy(d->z, d->q, bytes(d));  // where the path crosses
  }
  return pawl_fail(err, PAWL_RETRY, "t = %.10g: more than %d impacts in a step", state->t,
                   (int)MOST_IMPACTS);
}

// z of the end of a step.
static PawlStatus lift(PawlPhp* d, double infeasible, double t, PawlError* err) {
  if (infeasible == 0.0) {
    memcpy(d->z, d->q, bytes(d));
    return PAWL_OK;
  }
  if (!pawl_mirror_lift(d->mirror, d->q, d->z)) {
    return pawl_fail(err, PAWL_RETRY, "t = %.10g: no z with P(z) = q was found", t);
  }
  pawl_mirror_wrap(d->mirror, d->z);
  return PAWL_OK;
}

// ---- uncut --------------------------------------------------------------------------------------
// A step of z by the Lagrangian of one side; `off` is how far the midpoint is on the other one.
static PawlPhpFault step_on(PawlStepper* s, PawlPhp* d, const double* z, const double* zdot,
                            bool infeasible, double h, double* off) {
  double phi;
  memcpy(d->q, z, bytes(d));
  memcpy(d->v, zdot, bytes(d));
  PawlPhpFault fault =
      pawl_php_piece(d, side(d, infeasible), h, &s->def, &s->dynamics.info.newton_iterations);
  if (fault || !pawl_mirror_gap(d->mirror, d->m, &phi, NULL)) {
    return fault ? fault : PAWL_PHP_DOMAIN;
  }
  *off = infeasible ? fmax(0.0, phi) : fmax(0.0, -phi);
  return PAWL_PHP_GOOD;
}

// z' of a momentum at z.
static PawlPhpFault path_rate(PawlPhp* d, const double* z, bool infeasible, const double* p,
                              double* rate) {
  memset(rate, 0, bytes(d));
  const PawlLagrangianValues* l = pawl_lagrangian_run(side(d, infeasible), z, rate);
  if (!l) {
    return PAWL_PHP_DOMAIN;
  }
  memcpy(d->J, l->L_vv, (size_t)d->n * bytes(d));
  if (pawl_lu_factor(d->n, d->J, d->pivot, PAWL_NO_PIVOT) != 0) {
    return PAWL_PHP_SINGULAR;
  }
  pawl_lu_solve(d->n, d->J, d->pivot, p, rate);
  return PAWL_PHP_GOOD;
}

// The side of the midpoint is that of the Lagrangian; where neither fits, the one that is less off.
static PawlPhpFault choose_side(PawlStepper* s, PawlPhp* d, const PawlState* state, double h) {
  bool infeasible = *side_of(s, state) != 0.0;
  const double* z = path_of(s, state);
  double off[2];
  memcpy(d->p, momentum_of(state), bytes(d));
  PawlPhpFault fault = path_rate(d, z, infeasible, d->p, d->a);
  fault = fault ? fault : step_on(s, d, z, d->a, infeasible, h, &off[0]);
  if (fault || off[0] == 0.0) {
    return fault;
  }
  fault = step_on(s, d, z, d->a, !infeasible, h, &off[1]);
  return fault || off[1] <= off[0] ? fault : step_on(s, d, z, d->a, infeasible, h, &off[0]);
}

// q, v and the side of the end from z and its momentum.
static PawlPhpFault project_path(PawlPhp* d, double* infeasible) {
  double phi;
  memcpy(d->z, d->q1, bytes(d));
  memcpy(d->p, d->p1, bytes(d));
  if (!pawl_mirror_gap(d->mirror, d->z, &phi, NULL) || !pawl_mirror_map(d->mirror, d->z, d->q)) {
    return PAWL_PHP_DOMAIN;
  }
  *infeasible = phi < 0.0 ? 1.0 : 0.0;
  PawlPhpFault fault = path_rate(d, d->z, phi < 0.0, d->p, d->w);
  if (fault || phi >= 0.0) {
    memcpy(d->v, d->w, bytes(d));
    return fault;
  }
  if (!pawl_mirror_derivative(d->mirror, d->z, d->q, d->A)) {
    return PAWL_PHP_SINGULAR;
  }
  memset(d->v, 0, bytes(d));
  for (int j = 0; j < d->n; j++) {
    for (int i = 0; i < d->n; i++) {
      d->v[i] += d->A[i + j * d->n] * d->w[j];
    }
  }
  return PAWL_PHP_GOOD;
}

// Which part of the step z had gone when it crossed, by a straight line; the place is in d->m.
static double crossing_part(PawlStepper* s, PawlPhp* d, const PawlState* state) {
  const double* z = path_of(s, state);
  double before = 0.0, after = 0.0;
  (void)pawl_mirror_gap(d->mirror, z, &before, NULL);
  (void)pawl_mirror_gap(d->mirror, d->z, &after, NULL);
  double part = before != after ? before / (before - after) : 0.0;
  for (int i = 0; i < d->n; i++) {
    d->m[i] = z[i] + part * (d->z[i] - z[i]);
  }
  return part;
}

static PawlStatus uncut_step(PawlStepper* s, PawlPhp* d, const PawlState* state, double h,
                             double* infeasible, PawlError* err) {
  double side_before = *infeasible, phi;
  PawlPhpFault fault = choose_side(s, d, state, h);
  fault = fault ? fault : project_path(d, infeasible);
  if (fault) {
    return fail(s, fault, state->t, err);
  }
  if (*infeasible == side_before) {
    pawl_mirror_wrap(d->mirror, d->z);
    return PAWL_OK;
  }
  double part = crossing_part(s, d, state);
  pawl_mirror_wrap(d->mirror, d->z);
  const PawlLagrangianValues* l = pawl_lagrangian_run(d->L, d->q, d->v);
  if (!l || !pawl_mirror_gap(d->mirror, d->q, &phi, d->gradient)) {
    return fail(s, PAWL_PHP_DOMAIN, state->t, err);
  }
  // M (v - v_n) = phi'^T Lambda by least squares.
  double along = 0.0;
  for (int j = 0; j < d->n; j++) {
    for (int i = 0; i < d->n; i++) {
      along += d->gradient[i] * l->L_vv[i + j * d->n] * (d->v[j] - state->v[j]);
    }
  }
  double Lambda = along / product(d->n, d->gradient, d->gradient);
  PawlContactHit hit = {
      .row = d->rows, .impulse = Lambda, .t = state->t + part * h, .q = d->m, .v = d->v};
  return pawl_log_contact(&s->log, state, &hit, err);
}

// ---- a step -------------------------------------------------------------------------------------
static void load(PawlStepper* s, PawlPhp* d, const PawlPhase* phase, const PawlState* state,
                 double h) {
  d->step = h;
  d->in_count = 0;
  for (int i = 0; i < d->rows; i++) {
    d->active[i] = pawl_phase_binds(phase, i);
    if (d->active[i]) {
      d->in[d->in_count++] = i;
    }
  }
  memcpy(d->q, state->q, bytes(d));
  memcpy(d->p, momentum_of(state), bytes(d));
  memcpy(d->v, state->v, bytes(d));
  memcpy(d->z, path_of(s, state), bytes(d));
}

// v' and lambda of the end, by the index-1 equations.
static PawlStatus accelerate(PawlStepper* s, PawlPhp* d, const PawlPhase* phase,
                             const PawlState* state, double h, PawlError* err) {
  PawlState end = *state;
  const PawlValues* values;
  end.t = state->t + h;
  end.q = d->q;
  end.v = d->v;
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, phase, &end, &values, err));
  return pawl_dynamics_accelerate(&s->dynamics, phase, values, end.t, d->q, d->v, d->a, d->lambda,
                                  err);
}

static void save(PawlStepper* s, PawlPhp* d, PawlState* state, double h, double infeasible) {
  state->t += h;
  memcpy(state->q, d->q, bytes(d));
  memcpy(state->v, d->v, bytes(d));
  memcpy(state->a, d->a, bytes(d));
  memcpy(state->lambda, d->lambda, (size_t)s->sizes.rows * sizeof(double));
  memcpy(momentum_of(state), d->p, bytes(d));
  memcpy(path_of(s, state), d->z, bytes(d));
  *side_of(s, state) = infeasible;
}

static PawlStatus step(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                       PawlError* err) {
  PawlPhp* d = s->data;
  double infeasible = *side_of(s, state);
  load(s, d, phase, state, h);
  if (d->pulled) {
    PAWL_TRY(uncut_step(s, d, state, h, &infeasible, err));
  } else {
    PAWL_TRY(cut_step(s, d, state, h, &infeasible, err));
    PAWL_TRY(lift(d, infeasible, state->t + h, err));
  }
  PAWL_TRY(accelerate(s, d, phase, state, h, err));
  save(s, d, state, h, infeasible);
  return PAWL_OK;
}

const PawlMethod pawl_method_php = {
    .info = {.name = "php",
             .about = "projected Hamilton principle: variational, elastic impacts on one contact",
             .order = 2,
             .holds = "position, velocity",
             .options = "crossing tolerance iterations contact_law",
             .contacts = true,
             .action = true},
    .memory_vectors = 2,
    .memory_numbers = 1,
    .exact = true,
    .create = create,
    .destroy = destroy,
    .start = start,
    .step = step,
    .lifted = lifted,
    .normal_form = normal_form,
};
