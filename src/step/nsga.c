// SPDX-License-Identifier: Apache-2.0
// What the generalized-alpha methods with several levels of constraints share: memory, corrections,
// contacts (docs/theory/nsga.md). With a smooth part (ga.c) they solve
//
//   M U = B^T nu, g(q) = 0  and  M W = B^T Lambda, G v + g_t = 0 (contacts: Newton's law).
#include "step/nsga.h"

#include <math.h>
#include <string.h>

#include "base/copy.h"
#include "base/targets.h"
#include "step/ga_loops.h"
#include "step/rub_start.h"

void pawl_nsga_keep(const PawlStepper* s, const PawlNsga* d, PawlState* state, bool further) {
  double *Lambda = pawl_nsga_Lambda_of(s, state), *nu = pawl_nsga_nu_of(s, state);
  double* h = pawl_nsga_h_of(s, state);
  further = further && *h > 0.0;
  for (int i = 0; i < s->sizes.rows; i++) {
    Lambda[i] = further ? Lambda[i] + d->Lambda[i] : d->Lambda[i];
    nu[i] = further ? nu[i] + d->nu[i] : d->nu[i];
  }
  *h = further ? *h + d->ga.h : d->ga.h;
  double* W = pawl_nsga_W_of(s, state);
  for (int j = 0; pawl_nsga_has_contacts(s) && j < s->sizes.v; j++) {
    W[j] = further ? W[j] + d->W[j] : d->W[j];
  }
}

static void allocate(PawlStepper* s, PawlNsga* d) {
  int n = s->sizes.v, m = s->sizes.rows;
  PawlKernelsGa* k = d->ga.small;
  struct {
    double** array;
    int size;
    double* small;
  } arrays[] = {{&d->U, n, k ? k->U : NULL},
                {&d->W, n, k ? k->W : NULL},
                {&d->v, n, NULL},
                {&d->du, n, k ? k->du : NULL},
                {&d->dU, n, k ? k->dU : NULL},
                {&d->dW, n, k ? k->dW : NULL},
                {&d->force, n, NULL},
                {&d->impulse, s->contact_count > 0 ? n : 0, NULL},
                {&d->force_n, s->contact_count > 0 ? n : 0, NULL},
                {&d->press, s->contact_count > 0 ? n : 0, NULL},
                {&d->press_off, s->contact_count > 0 ? n : 0, NULL},
                {&d->press_W, s->contact_count > 0 ? n : 0, NULL},
                {&d->smooth_force, n, NULL},
                {&d->q, s->sizes.q, NULL},
                {&d->nu, m, k ? k->nu : NULL},
                {&d->Lambda, m, k ? k->Lambda : NULL},
                {&d->dnu, m, NULL},
                {&d->eta, m, NULL},
                {&d->rate_before, m, NULL},
                {&d->drag, m, NULL},
                {&d->tau, s->contact_count, NULL},
                {&d->since, s->contact_count, NULL},
                {&d->none, m, NULL},
                {&d->Lambda_rest, m, NULL},
                {&d->lead, m, NULL},
                {&d->turned, m, NULL},
                {&d->pull, m, NULL},
                {&d->way, m, NULL},
                {&d->rate, m, k ? k->rate : NULL},
                {&d->acceleration, m, NULL},
                {&d->M_smooth, s->nonzeros_H, NULL},
                {&d->G_smooth, s->G.start[n], NULL}};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    *arrays[i].array =
        arrays[i].small ? arrays[i].small : PAWL_NEW(&s->arena, double, arrays[i].size);
  }
  d->mean = PAWL_NEW(&s->arena, double, s->G.start[n]);
  unsigned char** sets[] = {&d->closed,      &d->S,     &d->A,        &d->B_set,
                            &d->smooth_rows, &d->trial, &d->touching, &d->near,
                            &d->loose,       &d->gone,  &d->kept_near};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    *sets[i] = PAWL_NEW(&s->arena, unsigned char, m);
  }
  d->bare = PAWL_NEW(&s->arena, unsigned char, s->contact_count > 0 ? n : 0);
  d->freed = PAWL_NEW(&s->arena, unsigned char, s->contact_count > 0 ? n : 0);
}

// Coordinates that no row has but those of contacts, where M is constant.
static void note_bare(const PawlStepper* s, PawlNsga* d) {
  for (int j = 0; s->contact_count > 0 && j < s->sizes.v; j++) {
    d->bare[j] = d->constant_mass;
    for (int e = s->G.start[j]; e < s->G.start[j + 1]; e++) {
      bool contact = pawl_system_row_kind(s->system, s->G.index[e]) == PAWL_ROW_CONTACT;
      d->bare[j] = d->bare[j] && contact;
    }
  }
}

// Most coordinates are in no row.
static bool few_columns(const PawlStepper* s) {
  int count = 0;
  for (int j = pawl_sparse_next(&s->G, 0); j < s->G.cols; j = pawl_sparse_next(&s->G, j + 1)) {
    count++;
  }
  return 4 * count < s->G.cols;
}

PawlStatus pawl_nsga_create_kind(PawlStepper* s, PawlLevel level, bool jumps, bool decoupled,
                                 PawlError* err) {
  PawlNsga* d = PAWL_NEW(&s->arena, PawlNsga, 1);
  s->data = d;
  if (!d) {
    return pawl_fail_memory(err);
  }
  d->jumps = jumps;
  d->decoupled = decoupled;
  unsigned more = PAWL_POSITION | (jumps ? PAWL_TIME_GRADIENT : 0u);
  PAWL_TRY(pawl_ga_create(s, level, more, &d->ga, err));
  d->eval = d->ga.residual_eval;
  allocate(s, d);
  if (s->arena.failed) {
    return pawl_fail_memory(err);
  }
  if (!decoupled) {
    d->ga.U = d->U;
    d->ga.W = d->W;
    d->ga.sizes_late = few_columns(s);
    if (pawl_ga_adds_up(s)) {
      d->ga.begins = PAWL_NEW(&s->arena, unsigned char, pawl_pool_parts(s->sizes.v, PAWL_GA_PART));
    }
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    d->smooth_rows[i] = !pawl_system_row_switches(s->system, i) &&
                        pawl_system_row_kind(s->system, i) == PAWL_ROW_BILATERAL;
    d->smooth_row_count += d->smooth_rows[i];
  }
  d->constant_mass = pawl_system_constant_mass(s->system);
  d->undamped = pawl_system_undamped(s->system);
  note_bare(s, d);
  if (!decoupled && level == PAWL_LEVEL_ACCELERATION) {
    d->ga.turned = PAWL_NEW(&s->arena, double, s->sizes.rows);
  }
  d->turns = !d->ga.simple && !s->dynamics.linear && s->sizes.rows > 0;
  d->fresh = NAN;
  d->timeless = pawl_eval_is_timeless(d->eval);
  if (d->constant_mass && !decoupled) {
    pawl_kkt_settle(s->kkt, pawl_eval_values(d->eval)->M);
  }
  if (!decoupled && pawl_kkt_keep_two(s->kkt) != PAWL_OK) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_rub_create(s, true, &d->rub, err));
  PAWL_TRY(pawl_gain_create(s, &d->gain, err));
  PAWL_TRY(pawl_loss_create(s, &d->rub, &d->gain, &d->loss, err));
  if (d->ga.begins && d->ga.sizes_late && d->rub.contacts == 0 && s->sizes.v > PAWL_GA_PART) {
    d->ga.moved = PAWL_NEW(&s->arena, unsigned char, pawl_pool_parts(s->sizes.v, PAWL_GA_PART));
    if (!d->ga.moved) {
      return pawl_fail_memory(err);
    }
    d->ga.lean = s->dynamics.linear && d->ga.lumped && s->sizes.v >= PAWL_GA_LARGE;
  }
  if (!decoupled && pawl_nsga_apart_create(s, d, err) != PAWL_OK) {
    return pawl_fail_memory(err);
  }
  d->settles = d->turns && jumps && !decoupled && s->sizes.v >= PAWL_SEVERAL &&
               d->rub.contacts == 0 && !s->dynamics.slip && !s->dynamics.rates;
  PAWL_TRY(pawl_nsga_total_create(s, d, err));
  if (d->rub.contacts > 0 && s->strategy == 3) {
    s->strategy = 2;  // contacts push by impulses alone, as their friction does              (N28)
  }
  PAWL_TRY(pawl_contacts_create(s, &d->contacts, err));
  return pawl_depend_create(s, &d->contacts, &d->depend, err);
}

void pawl_nsga_destroy(PawlStepper* s) {
  PawlNsga* d = s->data;
  pawl_nsga_total_destroy(d);
  pawl_ga_destroy(&d->ga);
  pawl_contacts_destroy(&d->contacts);
  pawl_depend_destroy(d->depend);
  pawl_rub_destroy(&d->rub);
}

// The smooth motion of nsga-pvv starts from an acceleration without the switching constraints.
static PawlStatus start_smooth(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                               PawlState* state, PawlError* err) {
  const PawlValues* values;
  PawlPhase smooth = *phase;
  for (int i = 0; i < s->sizes.rows; i++) {
    d->S[i] = d->smooth_rows[i] && pawl_phase_binds(phase, i);
  }
  smooth.active = d->S;
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, phase, state, &values, err));
  return pawl_dynamics_accelerate(&s->dynamics, &smooth, values, state->t, state->q, state->v,
                                  state->a, state->lambda, err);
}

// What contacts and their friction do at the start, as if a step had had such forces all along: for
// what is shown, and no more.                                                             (T28)
static PawlStatus start_contacts(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                 PawlState* state, PawlError* err) {
  double *a = d->v, *lambda = d->rate, h = s->def.step;
  double *Lambda = pawl_nsga_Lambda_of(s, state), *W = pawl_nsga_W_of(s, state);
  bool found;
  PAWL_TRY(pawl_rub_start(s, &d->rub, &d->contacts, phase, state, a, lambda, &found, err));
  for (int j = 0; found && j < s->sizes.v; j++) {
    W[j] = h * (a[j] - state->a[j]);
  }
  for (int i = 0; found && i < s->sizes.rows; i++) {
    Lambda[i] = h * (lambda[i] - state->lambda[i]);
  }
  *pawl_nsga_h_of(s, state) = found ? -h : 0.0;
  return PAWL_OK;
}

PawlStatus pawl_nsga_start(PawlStepper* s, const PawlPhase* phase, PawlState* state,
                           PawlError* err) {
  PawlNsga* d = s->data;
  if (d->decoupled) {
    PAWL_TRY(start_smooth(s, d, phase, state, err));
  } else if (pawl_nsga_has_contacts(s) && s->strategy == 3) {
    PAWL_TRY(pawl_contacts_start(s, &d->contacts, phase, state, d->v, d->trial, err));
  }
  pawl_ga_start(s, state);
  memcpy(pawl_nsga_eta_of(s, state), state->lambda, (size_t)s->sizes.rows * sizeof(double));
  memset(pawl_nsga_Lambda_of(s, state), 0, 2 * (size_t)s->sizes.rows * sizeof(double));  // and nu
  *pawl_nsga_h_of(s, state) = 0.0;
  if (pawl_nsga_has_contacts(s)) {
    memset(pawl_nsga_W_of(s, state), 0, (size_t)s->sizes.v * sizeof(double));
  }
  d->rub.begins = true;
  return d->rub.contacts > 0 ? start_contacts(s, d, phase, state, err) : PAWL_OK;
}

// ---- active sets --------------------------------------------------------------------------------
void pawl_nsga_first_sets(PawlStepper* s, PawlNsga* d, const PawlPhase* phase) {
  bool none = s->method == &pawl_method_nsga_pva && s->strategy == 1;
  for (int i = 0; i < s->sizes.rows; i++) {
    d->A[i] = d->B_set[i] = d->S[i] = pawl_phase_binds(phase, i);
  }
  for (int i = 0; (none || d->decoupled) && i < s->sizes.rows; i++) {
    d->S[i] = d->S[i] && !none && d->smooth_rows[i];
  }
  for (int i = 0; s->system->rates && i < s->sizes.rows; i++) {  // no position level        (W9)
    d->A[i] = d->A[i] && !pawl_system_row_is_rate(s->system, i, phase->modes);
  }
}

// ---- the smooth part ----------------------------------------------------------------------------
PawlStatus pawl_nsga_smooth_motion(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                   PawlState* state, PawlError* err) {
  PawlPhase smooth = *phase;
  smooth.active = d->S;
  return pawl_ga_iterate(s, &d->ga, &smooth, state, err);
}

// ---- corrections --------------------------------------------------------------------------------
PawlStatus pawl_nsga_evaluate(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                              const double* v, PawlError* err) {
  PawlPoint point = pawl_phase_point(phase, t, d->q, v, d->ga.vdot, d->ga.lambda);
  s->dynamics.info.evaluations++;
  PAWL_TRY(pawl_eval_run(d->eval, &point, err));
  return pawl_nsga_directions(d, phase, err);
}

PawlStatus pawl_nsga_directions(PawlNsga* d, const PawlPhase* phase, PawlError* err) {
  return pawl_law_directions(phase, pawl_eval_values(d->eval), &d->B, err);
}

PawlStatus pawl_nsga_stuck(PawlStepper* s, const PawlNsga* d, double t, const char* what,
                           PawlError* err) {
  int worst = 0;
  for (int j = 1; j < s->sizes.v; j++) {  // in the metric of the masses
    double M = d->ga.weight[j], W = d->ga.weight[worst];
    worst = M * d->du[j] * d->du[j] > W * d->du[worst] * d->du[worst] ? j : worst;
  }
  return pawl_fail(
      err, PAWL_RETRY,
      "t = %.10g: the %s did not converge in %d iterations; '%s' still changes by %.3g", t, what,
      s->def.iterations,
      s->sizes.q == s->sizes.v ? pawl_system_coordinate_name(s->system, worst) : "v", d->du[worst]);
}

// ---- contacts -----------------------------------------------------------------------------------
bool pawl_nsga_has_contacts(const PawlStepper* s) {
  return s->method->info.contacts && s->contact_count > 0;
}

PawlStatus pawl_nsga_compliance(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                                PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  unsigned char* set = d->trial;
  for (int i = 0; i < s->sizes.rows; i++) {
    set[i] = pawl_phase_binds(phase, i);
  }
  double* room = d->decoupled ? d->du : d->v;
  return pawl_contacts_compliance(s, &d->contacts, values->M, values->G, values->G, set, t, room,
                                  d->dnu, err);
}

// The contacts of one level from c->push and c->opening, at some iteration of Newton's method.
bool pawl_nsga_choose(PawlStepper* s, PawlNsga* d, const double* x, double least,
                      const unsigned char* allowed, int iteration, unsigned char* set,
                      bool* changed) {
  PawlContacts* c = &d->contacts;
  PawlChoice choice = {.allowed = allowed,
                       .tolerance = s->def.tolerance,
                       .first = iteration == 0,
                       .grow = iteration >= PAWL_SET_CHANGES};
  pawl_sparse_sizes(&s->G, pawl_eval_values(d->eval)->G, x, least, c->size);
  return pawl_contacts_choose(s, c, &choice, set, changed);
}

PawlStatus pawl_nsga_unplaced(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                              PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  d->unplaced = true;
  PawlStatus status =
      pawl_contacts_contradiction(s, phase, values, values->g, NULL, t, "position", err);
  return status == PAWL_ERROR_RUN ? PAWL_RETRY : status;
}

// No velocity obeys Newton's law: then without, if that has not been tried yet.
void pawl_nsga_stop_rebounds(PawlNsga* d, bool* changed) {
  d->unsolved = d->rebounds ? d->unsolved : PAWL_LEVEL_VELOCITY;
  *changed |= d->rebounds;
  d->rebounds = false;
}

PawlStatus pawl_nsga_check_solved(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                                  PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  bool rates = d->unsolved == PAWL_LEVEL_VELOCITY;
  if (d->minds && d->unplaced) {
    return pawl_fail(err, PAWL_RETRY, "t = %.10g: no position was found that serves all contacts",
                     t);
  }
  if (!d->minds || d->unsolved == PAWL_LEVEL_POSITION) {
    return PAWL_OK;
  }
  const char* what = rates ? "velocity" : "acceleration";
  PawlStatus status =
      pawl_contacts_contradiction(s, phase, values, rates ? values->g_t : values->gamma,
                                  rates ? d->touching : d->trial, t, what, err);
  if (status == PAWL_OK) {
    return pawl_fail(err, PAWL_RETRY, "t = %.10g: no %s was found that serves all contacts", t,
                     what);
  }
  return status == PAWL_ERROR_RUN ? PAWL_RETRY : status;
}

// Without a cut-off the rate of a closed contact would shrink by e in each step for ever. It is the
// same for all contacts, so that rows which depend on each other stay consistent.
double pawl_nsga_rebound(const PawlStepper* s, const PawlNsga* d, int i) {
  int k = i - s->sizes.rows + s->contact_count;
  double e = d->rebounds && k >= 0 ? pawl_system_restitution(s->system, i) * d->gain.kept[k] : 0.0;
  double begin = d->rate_before[i], turned = d->turned[i], slower = fmax(begin, turned);
  if (e == 0.0 || begin >= 0.0) {
    return e * begin;
  }
  if (turned >= 0.0) {  // slow ones are not met in halves, (N47)
    return begin < -PAWL_PASSED_SLOWEST * d->contacts.slow ? e * begin : 0.0;
  }
  // The rate at which it meets its impact: the slower one of those with the gradients of both ends,
  // and what forces make of it on the way there.                                          (N37)
  return -e * sqrt(fmax(slower * slower - 2.0 * d->pull[i] * d->way[i], 0.0));
}

// Rates and pull of the beginning with the gradients of the iterate.
static void look_back(PawlStepper* s, PawlNsga* d) {
  const PawlValues* values = pawl_eval_values(d->eval);
  pawl_dynamics_rows(&s->dynamics, values->G, d->v_n, values->g_t, d->turned);
  pawl_dynamics_rows(&s->dynamics, values->G, d->a_n, NULL, d->pull);
  for (int i = d->rub.first_row; d->rub.contacts > 0 && i < s->sizes.rows; i++) {
    d->turned[i] = d->closed[i] ? d->rate_before[i] : d->turned[i];
  }
}

void pawl_nsga_approach(PawlStepper* s, PawlNsga* d) {
  if (d->rebounds && d->elastic) {
    look_back(s, d);
  }
}

void pawl_nsga_add_rebounds(const PawlStepper* s, PawlNsga* d, double scale) {
  for (int k = 0; d->rebounds && k < d->contacts.count; k++) {
    int i = d->contacts.row[k];
    d->rate[i] += scale * pawl_nsga_rebound(s, d, i);
  }
}

// ---- friction -----------------------------------------------------------------------------------
// It pressed in the step before and does not hit.
static bool is_still(const PawlNsga* d, const double* Lambda_n, int i) {
  return Lambda_n[i] > 0.0 && fabs(d->rate_before[i]) <= PAWL_SLOWEST_LOGGED * d->contacts.slow;
}

// mu at the rates of the beginning; Lambda of the step before is the first guess.
static PawlStatus begin_friction(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                 PawlState* state, PawlError* err) {
  PawlContacts* c = &d->contacts;
  const double* Lambda_n = pawl_nsga_Lambda_before(s, state);
  const double* G = pawl_eval_values(d->eval)->G;
  pawl_sparse_sizes(&s->G, G, s->sizes.q == s->sizes.v ? state->q : NULL, c->least_q, c->size);
  for (int i = d->rub.first_row; i < s->sizes.rows; i++) {
    bool slips = pawl_system_row_kind(s->system, i) == PAWL_ROW_FRICTION;
    d->drag[i] = slips ? Lambda_n[i] : 0.0;
    d->near[i] = !slips && pawl_contacts_touches(c, s->def.tolerance, i, c->gap[i]);
    d->loose[i] = d->near[i] ? PAWL_NSGA_STAYS : PAWL_NSGA_COMES;
  }
  for (int k = 0; k < c->count; k++) {
    const PawlContactFriction* of = &d->rub.of[k];
    int i = c->row[k];
    d->closed[i] = d->near[i] && is_still(d, Lambda_n, i);
    memset(d->closed + of->first, of->count == 1 && d->closed[i], (size_t)of->count);
  }
  pawl_nsga_begin_drag(s, d);
  pawl_sparse_sizes(&s->G, G, state->v, c->least_v, c->size);
  return pawl_rub_begin(&d->rub, phase, state, d->rate_before, c->size, err);
}

// What contact k has added: by its impulse, by what it moves against the forces in the positions,
// and by its friction.                                                             (N46)
static PawlGainPart gain_of(const PawlNsga* d, int k) {
  const PawlContactFriction* of = &d->rub.of[k];
  int i = d->contacts.row[k];
  double Lambda = d->Lambda[i], fall = d->ga.h * d->pull[i], free = d->turned[i] + fall;
  double lift = d->nu[i] * d->pull[i];
  PawlGainPart part = {.work = 0.5 * Lambda * (free + d->rate[i]) - lift,
                       .size = Lambda * (fabs(free) + fabs(d->rate[i])) + fabs(lift)};
  for (int e = of->first; e < of->first + of->count; e++) {
    part.work += 0.5 * d->Lambda[e] * (d->turned[e] + d->rate[e]);
    part.size += fabs(d->Lambda[e]) * (fabs(d->turned[e]) + fabs(d->rate[e]));
  }
  return part;
}

// Contacts that push, do not touch and are of this kind; they are let go.
static bool let_go(PawlNsga* d, PawlNsgaLoose kind, bool go) {
  bool any = false;
  for (int k = 0; k < d->rub.contacts; k++) {
    int i = d->contacts.row[k];
    if (d->near[i] && !d->touching[i] && d->loose[i] == kind && d->Lambda[i] > 0.0) {
      d->near[i] = !go;
      d->loose[i] = go ? PAWL_NSGA_WENT : d->loose[i];
      any = true;
    }
  }
  return any;
}

bool pawl_nsga_lets_go(PawlStepper* s, PawlNsga* d) {
  if (!d->minds || d->rub.relaxed) {  // what slips opens by its rate then                (F16)
    return false;
  }
  if (let_go(d, PAWL_NSGA_COMES, true)) {
    return true;
  }
  if (!let_go(d, PAWL_NSGA_STAYS, false)) {
    return false;
  }
  double work = 0.0, size = 0.0;
  look_back(s, d);
  for (int k = 0; k < d->contacts.count; k++) {
    PawlGainPart part = gain_of(d, k);
    work += part.work;
    size += part.size;
  }
  return work > s->def.tolerance * size && let_go(d, PAWL_NSGA_STAYS, true);
}

bool pawl_nsga_is_hit(const PawlNsga* d, int i) {
  return (d->B_set[i] || pawl_rub_is_relaxed(&d->rub)) && d->Lambda[i] > 0.0 &&
         d->rate_before[i] < -PAWL_SLOWEST_LOGGED * d->contacts.slow;
}

PawlStatus pawl_nsga_take(PawlStepper* s, const PawlPhase* phase, PawlState* state, double h,
                          PawlNsgaStep* step, PawlError* err) {
  PawlNsga* d = s->data;
  d->far = pawl_nsga_has_contacts(s) && d->rub.contacts == 0;
  PawlStatus status = step(s, phase, state, h, err);
  if (status == PAWL_RETRY && d->far) {
    d->far = false;
    status = step(s, phase, state, h, err);
  }
  return status;
}

bool pawl_nsga_is_clear(const PawlNsga* d) {
  const double* gap = pawl_eval_values(d->eval)->g;
  bool clear = true;
  for (int k = 0; d->far && k < d->contacts.count; k++) {
    clear = clear && gap[d->contacts.row[k]] > 0.0;
  }
  return clear;
}

bool pawl_nsga_is_far(const PawlNsga* d, int i, double gap) {
  static const double SOON = 2.0;  // steps
  return gap + SOON * d->ga.h * d->rate_before[i] > 0.0 && gap > 0.0;
}

// Whether none touches or pushes, or is about to: then they are left out.
static bool begin_far(PawlNsga* d, const PawlState* state, const double* Lambda_n) {
  const double* gap = pawl_eval_values(d->eval)->g;
  for (int k = 0; d->far && k < d->contacts.count; k++) {
    int i = d->contacts.row[k];
    d->far = !(state->lambda[i] > 0.0 || Lambda_n[i] > 0.0) && pawl_nsga_is_far(d, i, gap[i]);
  }
  for (int k = 0; d->far && k < d->contacts.count; k++) {
    int i = d->contacts.row[k];
    d->A[i] = d->B_set[i] = d->S[i] = d->touching[i] = 0;
    d->ga.lambda[i] = 0.0;
  }
  return d->far;
}

static void note_ways(const PawlStepper* s, PawlNsga* d, const PawlState* state) {
  PawlContacts* c = &d->contacts;
  const double* of_q = s->sizes.q == s->sizes.v ? state->q : NULL;
  pawl_sparse_sizes(&s->G, c->G, of_q, c->least_q, c->size);
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    d->way[i] = pawl_contacts_touches(c, s->def.tolerance, i, c->gap[i]) ? 0.0 : c->gap[i];
  }
}

// G v + g_t of the rows of contacts. Of small systems these alone; the sums are the same.
static void rates_before(const PawlStepper* s, PawlNsga* d, const PawlValues* values,
                         const double* v) {
  const PawlContacts* c = &d->contacts;
  if (!d->ga.small || d->rub.contacts > 0) {
    pawl_dynamics_rows(&s->dynamics, values->G, v, values->g_t, d->rate_before);
    return;
  }
  for (int k = 0; k < c->count; k++) {
    double rate = values->g_t[c->row[k]];
    for (int e = c->first[k]; e < c->first[k + 1]; e++) {
      rate += values->G[c->entry[e]] * v[c->column[e]];
    }
    d->rate_before[c->row[k]] = rate;
  }
}

// Rates of the contacts at the beginning of the step, and a first guess of their sets: closed where
// the smooth motion pressed on them.
PawlStatus pawl_nsga_begin_contacts(PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                                    PawlState* state, bool fresh, PawlError* err) {
  const double* Lambda_n = pawl_nsga_Lambda_before(s, state);
  d->contacts.known = d->rebounds = d->elastic = d->unplaced = d->released = false;
  d->minds = pawl_nsga_has_contacts(s);
  d->unsolved = PAWL_LEVEL_POSITION;
  if (!d->minds) {
    return PAWL_OK;
  }
  PawlPoint point = pawl_phase_point(phase, state->t, state->q, state->v, state->a, state->lambda);
  PAWL_TRY(fresh ? PAWL_OK : pawl_eval_run(d->eval, &point, err));
  const PawlValues* values = pawl_eval_values(d->eval);
  pawl_gain_begin_step(s, &d->gain);
  d->averaged = false;
  d->v_n = state->v;
  d->a_n = pawl_ga_memory(s, state).a;
  rates_before(s, d, values, state->v);
  if (begin_far(d, state, Lambda_n)) {
    d->minds = false;
    return PAWL_OK;
  }
  memcpy(d->lead, values->g_t, (size_t)s->sizes.rows * sizeof(double));
  memcpy(d->force_n, values->f, (size_t)s->sizes.v * sizeof(double));
  pawl_contacts_begin(s, &d->contacts, values);
  pawl_contacts_measure(s, &d->contacts, state, values);
  for (int i = 0; i < s->sizes.rows; i++) {
    bool contact = pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT;
    bool slips = pawl_system_row_kind(s->system, i) == PAWL_ROW_FRICTION;
    d->rate_before[i] = contact || slips ? d->rate_before[i] : 0.0;
    d->rebounds |= contact && fabs(d->rate_before[i]) > PAWL_SLOWEST_REBOUND * d->contacts.slow;
    if (contact) {
      d->elastic |= pawl_system_restitution(s->system, i) > 0.0;
      d->A[i] = d->B_set[i] = d->S[i] = !d->decoupled && state->lambda[i] > 0.0;
      d->ga.lambda[i] = d->S[i] ? d->ga.lambda[i] : 0.0;
      d->contacts.guess[i] = Lambda_n[i] > 0.0 || state->lambda[i] > 0.0;
      d->closed[i] = is_still(d, Lambda_n, i) || is_still(d, state->lambda, i);
    }
  }
  memcpy(d->turned, d->rate_before, (size_t)s->sizes.rows * sizeof(double));
  memset(d->pull, 0, (size_t)s->sizes.rows * sizeof(double));
  if (d->rebounds && d->elastic) {
    note_ways(s, d, state);
  }
  return d->rub.contacts > 0 ? begin_friction(s, d, phase, state, err) : PAWL_OK;
}

// What closes and opens again within a step may have been passed.
static bool turns_back(const PawlNsga* d) {
  bool back = false;
  for (int k = 0; k < d->contacts.count; k++) {
    int i = d->contacts.row[k];
    back |= d->rate_before[i] < 0.0 && !(d->rate[i] <= 0.0);
  }
  return back;
}

PawlStatus pawl_nsga_passed(PawlStepper* s, PawlNsga* d, const PawlState* state, const double* v,
                            PawlError* err) {
  if (d->far) {
    return turns_back(d) ? PAWL_RETRY : PAWL_OK;
  }
  if (!d->minds) {
    return PAWL_OK;
  }
  PawlPassage step = {.t = state->t,
                      .h = d->ga.h,
                      .rate_before = d->rate_before,
                      .gap = pawl_eval_values(d->eval)->g,
                      .rate = d->rate,
                      .v = v,
                      .turned = d->rebounds && d->elastic ? d->turned : NULL,
                      .impulse = d->Lambda};
  PAWL_TRY(pawl_contacts_passed(s, &d->contacts, &step, err));
  return pawl_rub_check(s, &d->rub, state, d->Lambda, err);
}

bool pawl_nsga_hits(const PawlNsga* d) {
  bool hits = false;
  for (int k = 0; d->minds && k < d->contacts.count; k++) {
    hits |= pawl_nsga_is_hit(d, d->contacts.row[k]);
  }
  return hits;
}

static PawlRubEnds ends_of(PawlStepper* s, const PawlNsga* d, const PawlState* state,
                           const double* q, const double* v) {
  return (PawlRubEnds){.before = state,
                       .t = state->t + d->ga.h,
                       .q = q,
                       .v = v,
                       .rate_before = d->rate_before,
                       .rate = d->rate,
                       .lambda = pawl_nsga_Lambda_before(s, state),
                       .impulse = d->Lambda,
                       .values = pawl_eval_values(d->eval),
                       .near = d->near,
                       .slow = PAWL_SLOWEST_LOGGED * d->contacts.slow};
}

PawlStatus pawl_nsga_note_impacts(PawlStepper* s, PawlNsga* d, const PawlState* state,
                                  const double* q, const double* v, PawlError* err) {
  if (d->minds) {
    PawlRubEnds ends = ends_of(s, d, state, q, v);
    PAWL_TRY(pawl_rub_find_jams(s, &d->rub, &ends, err));
  }
  pawl_nsga_note_losses(s, d);
  return PAWL_OK;
}

PawlStatus pawl_nsga_log_impacts(PawlStepper* s, PawlNsga* d, const PawlState* state,
                                 const double* q, const double* v, PawlError* err) {
  if (!d->minds) {
    return PAWL_OK;
  }
  PawlRubEnds ends = ends_of(s, d, state, q, v);
  for (int k = 0; k < d->contacts.count; k++) {
    int i = d->contacts.row[k];
    bool jams = d->rub.contacts > 0 && d->rub.jams[k];
    if (pawl_nsga_is_hit(d, i) || jams) {
      PAWL_TRY(pawl_rub_log_hit(s, &ends, i, jams, d->loss.of[k].lost, err));
    }
  }
  return pawl_rub_log(s, &d->rub, &ends, err);
}

// ---- reporting ----------------------------------------------------------------------------------
double pawl_nsga_impulse(const PawlStepper* s, int row) {
  return ((const PawlNsga*)s->data)->Lambda[row];
}

bool pawl_nsga_closes(const PawlStepper* s, int row) {
  const PawlNsga* d = s->data;
  return d->A[row] || d->B_set[row];
}

// The reaction over the last step: lambda + Lambda / h.
void pawl_nsga_multipliers(const PawlStepper* s, PawlState* state, double* lambda) {
  double h = fabs(*pawl_nsga_h_of(s, state));
  const double* Lambda = pawl_nsga_Lambda_of(s, state);
  for (int i = 0; i < s->sizes.rows; i++) {
    lambda[i] = state->lambda[i] + (h > 0.0 ? Lambda[i] / h : 0.0);
  }
}

// What the velocities did over the last step, where the smooth motion knows no contacts: v' + W/h.
// (N55)
void pawl_nsga_accelerations(const PawlStepper* s, PawlState* state, double* a) {
  const PawlNsga* d = s->data;
  double h = fabs(*pawl_nsga_h_of(s, state));
  const double* W = pawl_nsga_W_of(s, state);
  bool apart = d->decoupled || d->rub.contacts > 0;
  for (int j = 0; apart && h > 0.0 && j < s->sizes.v; j++) {
    a[j] += W[j] / h;
  }
}

void pawl_nsga_corrections(const PawlStepper* s, PawlState* state, const double** nu,
                           const double** Lambda) {
  *nu = pawl_nsga_nu_of(s, state);
  *Lambda = pawl_nsga_Lambda_of(s, state);
}
