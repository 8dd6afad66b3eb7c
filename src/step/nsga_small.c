// SPDX-License-Identifier: Apache-2.0
#include "step/nsga_small.h"

#include <math.h>

#include "base/sized.h"
#include "step/ga_loops.h"
#include "system/eval_again.h"

struct PawlSmall {
  PawlStepper* stepper;
  PawlEval *eval, *tangent_eval;
  PawlPoint point;
  PawlSources from;
  const PawlKernelsGaSteps* steps;  // of the library, or of a module
  int first_contact;                // the first row of contacts that may rest
  int *open, *closed;               // rows of contacts that are far away, and that rest
  bool waits;                       // there is no code yet for the solution
  int rest, longer;  // steps to come that are not tried, after one that was not as usual; next time
};

// Positions and rates with the smooth motion: where matrices change in each step. After it: where
// all tangents stay, and the smooth motion has no row.
static bool is_small(const PawlStepper* s, const PawlNsga* d) {
  const PawlDynamics* of = &s->dynamics;
  if (!d->ga.small || !d->jumps || d->rub.contacts > 0 || of->slip || s->system->rates ||
      s->sizes.rows == 0) {
    return false;
  }
  if (d->decoupled) {
    return of->linear && d->constant_mass && d->smooth_row_count == 0;
  }
  return d->turns && !of->steady && !(s->method == &pawl_method_nsga_pva && s->strategy == 1);
}

// M and G over the rows in force, whose numbers stay.
static int is_ready(PawlKernelsGa* g) {
  struct PawlSmall* by = g->host;
  PawlStepper* s = by->stepper;
  if (!pawl_kkt_holds(s->kkt, g->M, g->grad, g->grad, g->active)) {
    s->dynamics.info.factorizations++;
    if (pawl_kkt_factor_and_keep(s->kkt, g->M, g->grad, g->grad, g->active) != PAWL_OK) {
      return 0;
    }
  }
  by->waits = !pawl_kkt_direct_solves(s->kkt, &g->by[1]);
  return !by->waits;
}

// ---- evaluations --------------------------------------------------------------------------------
PAWL_INLINE double evaluate(const PawlKernelsGa* g) {
  const struct PawlSmall* by = g->host;
  return pawl_eval_again(by->eval, &by->point, &by->from);
}

PAWL_INLINE double evaluate_tangents(const PawlKernelsGa* g) {
  const struct PawlSmall* by = g->host;
  return pawl_eval_again(by->tangent_eval, &by->point, &by->from);
}

// The same for modules of compiled C, which call them where they do not have the equations inside.
static double call_evaluate(const PawlKernelsGa* g) {
  return evaluate(g);
}

static double call_tangents(const PawlKernelsGa* g) {
  return evaluate_tangents(g);
}

static void offer_steps(const PawlNsga* d) {
  PawlKernelsGa* g = d->ga.small;
  const struct PawlSmall* by = d->small;
  const PawlEval* evals[] = {by->eval, by->tangent_eval};
  g->evaluate = call_evaluate;
  g->tangents = call_tangents;
  for (int k = 0; k < 2; k++) {
    if (evals[k]->program_count > 0) {
      g->program[k].registers = evals[k]->programs->registers;
      g->program[k].from = by->from.leaf;
      g->program[k].to = evals[k]->programs->to;
    }
  }
  pawl_eval_offer_steps(by->eval, d->decoupled ? NULL : by->tangent_eval, g->shape);
}

PawlStatus pawl_small_create(PawlStepper* s, PawlNsga* d, PawlError* err) {
  PawlKernelsGa* g = d->ga.small;
  const PawlDynamics* of = &s->dynamics;
  if (!is_small(s, d)) {
    d->ga.small = NULL;
    return PAWL_OK;
  }
  d->small = PAWL_NEW(&s->arena, struct PawlSmall, 1);
  if (!d->small || !(d->small->open = PAWL_NEW(&s->arena, int, s->contact_count)) ||
      !(d->small->closed = PAWL_NEW(&s->arena, int, s->contact_count))) {
    return pawl_fail_memory(err);
  }
  const PawlGa* ga = &d->ga;
  d->small->stepper = s;
  d->small->eval = ga->residual_eval;
  d->small->tangent_eval = ga->tangent_eval;
  const PawlValues *values = pawl_eval_values(ga->residual_eval),
                   *tangent = pawl_eval_values(ga->tangent_eval);
  g->host = d->small;
  g->shape = (PawlKernelsShape){.n = s->sizes.v,
                                .rows = s->sizes.rows,
                                .mass = {ga->mass.start, ga->mass.index},
                                .H = {s->H.start, s->H.index},
                                .G = {s->G.start, s->G.index},
                                .diagonal = of->diagonal,
                                .stays = of->weights != NULL,
                                .turns = tangent->G_turn != NULL};
  g->add_G = of->by_G.add;
  g->add_H = of->by_H.add;
  g->tolerance = s->def.tolerance;
  g->settled = s->def.tolerance * (1.0 - PAWL_COMPARED);
  g->own = PAWL_OWN_BALANCE * (1.0 - PAWL_COMPARED);
  g->lost = PAWL_LOST_PART * PAWL_LOST_PART * (1.0 - PAWL_COMPARED);
  g->flushed = PAWL_FLUSHED;
  g->part = PAWL_SMALLEST_PART * (1.0 - PAWL_COMPARED);
  g->M = values->M;
  g->mass_values = ga->mass_values ? ga->mass_values : values->M;
  g->f = values->f;
  g->g = values->g;
  g->grad = values->G;
  g->g_t = values->g_t;
  g->gamma = values->gamma;
  g->K = tangent->K;
  g->C = tangent->C;
  g->G_rate = tangent->G_rate;
  g->G_acceleration = tangent->G_acceleration;
  g->G_turn = tangent->G_turn;
  g->alpha_m = ga->alpha_m;
  g->alpha_f = ga->alpha_f;
  g->beta = ga->beta;
  g->gamma_of = ga->gamma;
  g->active = d->A;
  g->smooth = d->S;
  g->ready = d->decoupled ? is_ready : NULL;
  g->closed = d->small->closed;
  d->small->point = (PawlPoint){
      .q = d->decoupled ? g->q_total : g->q, .v = g->v_total, .a = g->vdot, .lambda = g->lambda};
  d->small->from = pawl_program_sources(s->system, &d->small->point);
  d->small->longer = 1;
  d->small->first_contact = s->sizes.rows - (pawl_small_may_rest(s, d) ? s->contact_count : 0);
  for (int j = 0; of->weights && j < s->sizes.v; j++) {
    g->inverse[j] = 1.0 / of->weights[j];
  }
  offer_steps(d);
  return PAWL_OK;
}

// ---- sizes --------------------------------------------------------------------------------------
PAWL_APART static void guess_pva(PawlKernelsGa* g) {
  PawlKernelsShape of = g->shape;
#define RUN(size) of.n = size, pawl_kernels_ga_guess(of, g), pawl_kernels_pva_place(of, g)
  PAWL_SIZED_FEW(of.n, RUN)
#undef RUN
}

PAWL_APART static void guess_pvv(PawlKernelsGa* g) {
  PawlKernelsShape of = g->shape;
#define RUN(size) of.n = size, pawl_kernels_ga_guess(of, g), pawl_kernels_pvv_place(of, g)
  PAWL_SIZED_FEW(of.n, RUN)
#undef RUN
}

PAWL_APART static PawlKernelsEnd iterate_pva(PawlKernelsGa* g) {
  PawlKernelsShape of = g->shape;
  PawlKernelsEnd end;
#define RUN(size) of.n = size, end = pawl_kernels_pva(of, g, evaluate, evaluate_tangents)
  PAWL_SIZED_FEW(of.n, RUN)
#undef RUN
  return end;
}

PAWL_APART static PawlKernelsEnd iterate_pvv(PawlKernelsGa* g) {
  PawlKernelsShape of = g->shape;
  PawlKernelsEnd end;
#define RUN(size) of.n = size, end = pawl_kernels_pvv(of, g, evaluate)
  PAWL_SIZED_FEW(of.n, RUN)
#undef RUN
  return end;
}

PAWL_APART static void take_pva(PawlKernelsGa* g) {
  PawlKernelsShape of = g->shape;
#define RUN(size) of.n = size, pawl_kernels_pva_take(of, g)
  PAWL_SIZED_FEW(of.n, RUN)
#undef RUN
}

PAWL_APART static void take_pvv(PawlKernelsGa* g) {
  PawlKernelsShape of = g->shape;
#define RUN(size) of.n = size, pawl_kernels_pvv_take(of, g)
  PAWL_SIZED_FEW(of.n, RUN)
#undef RUN
}

static const PawlKernelsGaSteps pva = {guess_pva, iterate_pva, take_pva},
                                pvv = {guess_pvv, iterate_pvv, take_pvv};

// Those of a module where there is one.
PAWL_INLINE const PawlKernelsGaSteps* steps_of(const PawlNsga* d) {
  const PawlKernelsGaSteps* compiled = &d->small->eval->programs->ga;
  return compiled->guess ? compiled : d->decoupled ? &pvv : &pva;
}

// ---- a step -------------------------------------------------------------------------------------
static void note_state(const PawlStepper* s, PawlNsga* d, PawlState* state) {
  PawlKernelsGa* g = d->ga.small;
  PawlGaMemory m = pawl_ga_memory(s, state);
  if (g->q_n == state->q && g->a_n == m.a) {  // the arrays of a state are one piece of memory
    return;
  }
  g->q_n = state->q;
  g->v_n = state->v;
  g->vdot_n = state->a;
  g->lambda_n = state->lambda;
  g->a_n = m.a;
  g->last_vdot = m.last_vdot;
  g->last_lambda = m.last_lambda;
  g->eta_n = pawl_nsga_eta_of(s, state);
  g->Lambda_n = pawl_nsga_Lambda_of(s, state);
  g->nu_n = pawl_nsga_nu_of(s, state);
}

static void note_length(PawlGa* ga, double h) {
  PawlKernelsGa* g = ga->small;
  if (g->h != h) {
    g->h = h;
    g->beta_p = (1 - ga->alpha_m) / (h * h * ga->beta * (1 - ga->alpha_f));  // (A8)
    g->gamma_p = ga->gamma / (h * ga->beta);                                 // (A8)
    g->of_acc = 1.0 / g->beta_p;
    g->of_v = g->gamma_p / g->beta_p;
    g->of_a = 1.0 / (h * h * ga->beta);
    g->of_share = g->of_acc / (h * h * ga->beta);
    double kappa = (1 - ga->alpha_f) / (1 - ga->alpha_m);
    g->push_q = h * h * ga->beta * kappa;  // (N13)
    g->push_v = h * ga->gamma * kappa;
  }
  ga->h = h;
  ga->beta_p = g->beta_p;
  ga->gamma_p = g->gamma_p;
}

bool pawl_small_may_rest(const PawlStepper* s, const PawlNsga* d) {
  return d->ga.small && !d->decoupled && s->strategy == 3 && pawl_nsga_has_contacts(s);
}

// Rows in force, one set for all levels but that of a smooth motion apart, and contacts that have
// pressed. How many.
static int note_sets(const PawlStepper* s, PawlNsga* d, const PawlPhase* phase,
                     const PawlState* state) {
  int count = 0, first = d->small->first_contact;
  for (int i = 0; i < s->sizes.rows; i++) {
    unsigned char binds = i < first ? pawl_phase_binds(phase, i) : state->lambda[i] > 0.0;
    d->A[i] = d->B_set[i] = binds;
    d->S[i] = binds && !d->decoupled;
    count += binds;
  }
  return count;
}

static bool is_usual(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, const PawlState* state,
                     double last_h) {
  struct PawlSmall* by = d->small;
  if (by->rest > 0 || phase->crossing || last_h < 0.0 ||
      !pawl_eval_settle(by->eval, phase->modes)) {
    by->rest -= by->rest > 0;
    return false;
  }
  int count = note_sets(s, d, phase, state);
  return d->decoupled || (count > 0 && pawl_eval_settle(by->tangent_eval, phase->modes) &&
                          pawl_kkt_direct_two(s->kkt, d->S, d->ga.small->by));
}

bool pawl_small_guess(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, PawlState* state,
                      double h) {
  struct PawlSmall* by = d->small;
  PawlGa* ga = &d->ga;
  PawlKernelsGa* g = ga->small;
  double last_h = *pawl_ga_memory(s, state).last_h;
  if (!is_usual(s, d, phase, state, last_h)) {
    return false;
  }
  note_state(s, d, state);
  note_length(ga, h);
  g->more = last_h == h ? 1.0 : 0.0;
  ga->held = 0;
  ga->held_error = INFINITY;
  ga->corrections = 0;
  ga->placed = ga->still = true;
  by->steps = steps_of(d);
  by->steps->guess(g);
  for (int i = by->first_contact; i < s->sizes.rows; i++) {
    g->lambda[i] = pawl_sized_alone(0.0);  // contacts are guessed to begin to press
  }
  by->point.t = state->t + h;
  by->point.modes = phase->modes;
  by->point.held = phase->held;
  by->from.leaf[PAWL_LEAF_INPUT] = pawl_system_inputs(s->system, &by->point);
  return true;
}

// What a correction has left, for those who go on with it.
static void note_corrected(PawlStepper* s, PawlNsga* d) {
  PawlGa* ga = &d->ga;
  const PawlKernelsGa* g = ga->small;
  bool any = g->corrected_U == 2 || g->corrected_W == 2;
  long long last = pawl_kkt_current(s->kkt);
  ga->corrections = 1;
  ga->best = ga->last_change = INFINITY;
  ga->holding = ga->known = ga->change_known = false;
  ga->held = last - g->factored_M;
  ga->still = !any;
  ga->placed = false;
  ga->B = d->B = pawl_eval_values(d->eval)->G;
  d->du = ga->small->du;  // corrections exchange these
  d->dU = ga->small->dU;
  d->dW = ga->small->dW;
  ga->dU = g->corrected_U == 2 ? d->dU : NULL;
  ga->dW = g->corrected_W == 2 ? d->dW : NULL;
  d->held = g->factored_M ? last : d->held;
  d->held_now = false;
}

static void note_unusual(struct PawlSmall* by) {
  enum { LONGEST = 64 };
  if (by->waits) {
    by->waits = false;
    return;
  }
  by->rest = by->longer;
  by->longer *= by->longer < LONGEST ? 2 : 1;
}

// Of contacts that rest the kernel is told which those are, and which are far away.
static void note_resting(const PawlNsga* d) {
  PawlKernelsGa* g = d->ga.small;
  const PawlContacts* c = &d->contacts;
  g->apart_count = g->closed_count = 0;
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    if (d->S[i]) {
      d->small->closed[g->closed_count++] = i;
    } else {
      d->small->open[g->apart_count++] = i;
    }
  }
  g->apart = d->small->open;
}

// What is left out, in a step in which no contact rests.
static void note_far(const PawlNsga* d) {
  PawlKernelsGa* g = d->ga.small;
  g->closed_count = 0;
  g->apart = d->contacts.row;
  g->apart_count = d->far ? d->contacts.count : 0;
}

PawlKernelsEnd pawl_small_iterate(PawlStepper* s, PawlNsga* d) {
  PawlKernelsGa* g = d->ga.small;
  if (d->minds) {
    note_resting(d);
  } else {
    note_far(d);
  }
  PawlKernelsEnd end = d->small->steps->iterate(g);
  end = d->minds && end == PAWL_KERNELS_CLOSES ? PAWL_KERNELS_UNUSUAL : end;
  if (end == PAWL_KERNELS_UNUSUAL) {
    note_unusual(d->small);
    pawl_kkt_forget(s->kkt);
    return end;
  }
  bool corrected = g->solved > 0;
  s->dynamics.info.evaluations += corrected ? 2 : 1;
  if (corrected) {
    int factored = 1 + g->factored_M;
    s->dynamics.info.newton_iterations++;
    s->dynamics.info.factorizations += factored;
    pawl_kkt_direct_two_count(s->kkt, g->by, factored, g->solved);
    note_corrected(s, d);
  }
  return end;
}

PawlKernelsEnd pawl_small_correct(PawlStepper* s, PawlNsga* d) {
  PawlKernelsGa* g = d->ga.small;
  note_far(d);
  PawlKernelsEnd end = d->small->steps->iterate(g);
  if (end == PAWL_KERNELS_UNUSUAL) {
    note_unusual(d->small);
    return end;
  }
  s->dynamics.info.evaluations += g->evaluations;
  s->dynamics.info.newton_iterations++;  // by nothing
  pawl_kkt_direct_count(s->kkt, 0, g->solved);
  return end;
}

// W of the step, which goes with Lambda: where that is nothing, so is W, whatever its room has.
static void keep_W(const PawlStepper* s, const PawlNsga* d, PawlState* state) {
  const double* Lambda = pawl_nsga_Lambda_of(s, state);
  double* W = pawl_nsga_W_of(s, state);
  bool any = false;
  for (int i = 0; i < s->sizes.rows; i++) {
    any |= Lambda[i] != 0.0;
  }
  for (int j = 0; j < s->sizes.v; j++) {
    W[j] = any ? d->ga.small->W[j] : 0.0;
  }
}

void pawl_small_accept(PawlStepper* s, PawlNsga* d, PawlState* state) {
  d->small->steps->take(d->ga.small);
  if (pawl_nsga_has_contacts(s)) {
    keep_W(s, d, state);
  }
  *pawl_ga_memory(s, state).last_h = d->ga.h;
  *pawl_nsga_h_of(s, state) = d->ga.h;
  state->t += d->ga.h;
  d->ga.once = true;
  d->small->longer = 1;
}
