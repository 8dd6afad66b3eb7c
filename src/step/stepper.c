// SPDX-License-Identifier: Apache-2.0
// Creating a stepper and its states, and the calls of pawl/stepper.h.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/model.h"
#include "step/bands.h"
#include "step/ga_bend.h"
#include "step/gaps.h"
#include "step/guesses.h"
#include "step/initial.h"
#include "step/loop.h"
#include "step/method.h"
#include "step/methods.h"
#include "step/works.h"
#include "switch/share.h"
#include "switch/share_islands.h"
#include "system/eval_again.h"
#include "system/system.h"

// Options that are one of a few words.
static PawlStatus check_words(const PawlStepper* s, PawlError* err) {
  const struct {
    const char *name, *value, *words[3], *list;
  } options[] = {
      {"newton", s->def.newton, {"full", "simple"}, "full or simple"},
      {"between", s->def.between, {"chord", "arc"}, "chord or arc"},
      {"contact_law",
       s->def.contact_law,
       {"newton", "poisson", "sequential"},
       "newton, poisson or sequential"},
      {"painleve", s->def.painleve, {"shock", "refuse"}, "shock or refuse"},
      {"coefficients",
       s->def.coefficients,
       {"chung-hulbert", "hht", "newmark"},
       "chung-hulbert, hht or newmark"},
      {"start_acceleration", s->def.start_acceleration, {"plain", "shifted"}, "plain or shifted"},
      {"native", s->def.native, {"auto", "on", "off"}, "auto, on or off"},
      {"stabilise", s->def.stabilise, {"mass", "classical"}, "mass or classical"},
  };
  for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
    bool known = false;
    for (int j = 0; j < 3; j++) {
      known |= options[k].words[j] && strcmp(options[k].value, options[k].words[j]) == 0;
    }
    if (!known) {
      return pawl_fail(err, PAWL_ERROR_USAGE, "%s = %.100s: must be %s", options[k].name,
                       options[k].value, options[k].list);
    }
  }
  double epsilon;
  return strcmp(s->def.impact, "model") == 0 ? PAWL_OK
                                             : pawl_law_parse(s->def.impact, &epsilon, err);
}

// Rows that are added or taken away have no gradient between before and after.
static PawlStatus check_law(const PawlStepper* s, PawlError* err) {
  bool known = strcmp(s->def.impact, "model") == 0 || strcmp(s->def.impact, "post") == 0 ||
               strcmp(s->def.impact, "none") == 0 || strcmp(s->def.impact, "1") == 0;
  return pawl_system_switches(s->system) || !pawl_system_triggers(s->system) || known
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_USAGE,
                         "impact = %.100s: '%s' has no regions, and what engages and lets go has "
                         "post or none",
                         s->def.impact, pawl_system_name(s->system));
}

// Contacts that the method itself closes and opens.
static bool has_contacts(const PawlStepper* s) {
  return s->contact_count > 0 && s->method->info.contacts;
}

PawlStateShape pawl_stepper_shape(const PawlStepper* s) {
  const PawlMethod* m = s->method;
  PawlSizes n = s->sizes;
  PawlStateShape shape = {.q = n.q,
                          .v = n.v,
                          .rows = n.rows,
                          .inputs = n.inputs,
                          .memory = pawl_method_memory(m, n) + pawl_ga_bend_memory(m, n) +
                                    (has_contacts(s) ? m->memory_contacts * n.v : 0),
                          .modes = n.modes};
  if (s->loop) {
    pawl_loop_shape(s->loop, &shape);
  }
  return shape;
}

static PawlStatus choose_method(PawlStepper* s, PawlNeeds* needs, PawlError* err) {
  PAWL_TRY(pawl_methods_needs(s->system, &s->def, needs, err));
  s->reason = "";
  if (strcmp(s->def.method, "auto") == 0) {
    PAWL_TRY(pawl_methods_auto(needs, &s->def, &s->reason, err));
  }
  return pawl_methods_choose(&s->def, needs, &s->method, &s->event_driven, err);
}

// Directions of a law are not its jump: energy is lost or gained that the law does not ask for.
static PawlStatus warn_of_law(PawlStepper* s, const PawlNeeds* needs, PawlError* err) {
  static const char text[] =
      "the forces of the switch have the directions of the impact law, but the jump is not that of "
      "the law; ga-v-implicit makes it so";
  if (!needs->regions || !needs->other_law || s->event_driven ||
      s->method->info.laws != PAWL_LAWS_DIRECTIONS) {
    return PAWL_OK;
  }
  s->dynamics.warning = pawl_arena_copy(&s->arena, text, sizeof text - 1);
  return s->dynamics.warning ? PAWL_OK : pawl_fail_memory(err);
}

// Whether what decides on a kink is made of the time alone, sin(t) > 0.9: -1 when memory is short.
static int is_of_time(PawlDag* dag, PawlNode kink) {
  const PawlNode* nodes;
  const PawlDagNode* n = pawl_dag_node(dag, kink);
  PawlNode decider = n->op == PAWL_OP_IF ? n->arg[0] : kink;
  int count = pawl_dag_reach(dag, 1, &decider, &nodes);
  for (int k = 0; k < count; k++) {
    PawlOp op = (PawlOp)pawl_dag_node(dag, nodes[k])->op;
    if (pawl_op_operands(op) == 0 && op != PAWL_OP_CONST && op != PAWL_OP_PARAM &&
        op != PAWL_OP_TIME) {
      return 0;
    }
  }
  return count < 0 ? -1 : 1;
}

// The kink that is worth a warning with a method that takes those of forces as plain functions, -1
// without: where auto has chosen it any, else one of time whose instants are not known before.
static PawlStatus find_missed(const PawlStepper* s, int* missed, PawlError* err) {
  const PawlSystem* system = s->system;
  *missed = -1;
  for (int k = system->turn_count; k < system->turn_count + system->kink_count; k++) {
    int of_time = s->reason[0] ? 1 : is_of_time(system->model->dag, system->turns[k].node);
    if (of_time < 0) {
      return pawl_fail_memory(err);
    }
    if (of_time && (s->reason[0] || system->turns[k].felt)) {
      *missed = k;
      return PAWL_OK;
    }
  }
  return PAWL_OK;
}

static PawlStatus warn_of_kinks(PawlStepper* s, PawlError* err) {
  const PawlSystem* system = s->system;
  int missed, count = system->kink_count;
  if (count == 0 || pawl_kinks_wanted(s)) {
    return PAWL_OK;
  }
  PAWL_TRY(find_missed(s, &missed, err));
  if (missed < 0) {
    return PAWL_OK;
  }
  PawlText text = {0};
  pawl_text_printf(&text, "%s does not locate the %d kink%s of forces, such as ", s->def.method,
                   count, count == 1 ? "" : "s");
  pawl_model_print(&text, system->model, system->turns[missed].node);
  pawl_text_printf(&text,
                   ": what is narrower than a step is not felt, and the order is lost there; "
                   "a smaller step helps%s",
                   s->reason[0] ? "" : ", or event-driven");
  PawlStatus status = text.failed ? PAWL_ERROR_MEMORY : pawl_dynamics_warn(&s->dynamics, text.s);
  pawl_text_free(&text);
  return status == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
}

PawlStatus pawl_stepper_eval(const PawlStepper* s, unsigned mask, PawlEval** out, PawlError* err) {
  PAWL_TRY(pawl_eval_create(s->system, mask, out, err));
  pawl_dynamics_tie(&s->dynamics, *out);
  return pawl_eval_share(*out, s->pool, err);
}

PawlStatus pawl_stepper_eval_part(const PawlStepper* s, const PawlEval* const of[2], unsigned mask,
                                  PawlEval** out, PawlError* err) {
  PAWL_TRY(pawl_eval_create_part(of, mask, out, err));
  pawl_dynamics_tie(&s->dynamics, *out);
  return pawl_eval_share(*out, s->pool, err);
}

// Threads take some microseconds to wake up: fewer coordinates are done before they are there.
// Where nobody said how many, they are taken for what outgrows the cache of one processor; what
// they then wait for is memory, of which four have enough.
static PawlStatus make_pool(PawlStepper* s, PawlError* err) {
  enum { FEWEST_COORDINATES = 2048, MANY_COORDINATES = 65536, ENOUGH = 4 };
  int count = pawl_system_sizes(s->system).v, here = pawl_pool_processors();
  if (s->def.threads > 0) {
    return pawl_pool_create(count >= FEWEST_COORDINATES ? s->def.threads : 1, &s->pool, err);
  }
  PawlError none = {0};  // one will do
  int chosen = count < MANY_COORDINATES ? 1 : here < ENOUGH ? here : ENOUGH;
  return pawl_pool_create(chosen, &s->pool, &none) == PAWL_OK ? PAWL_OK
                                                              : pawl_pool_create(1, &s->pool, err);
}

// Where contacts are located, friction pushes through the rows of their gaps.
static PawlStatus tie_friction(PawlStepper* s, PawlError* err) {
  const PawlModel* model = s->system->model;
  if (!s->event_driven || !model || model->slip_count == 0) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_system_tie(s->system, s->method->turns, &s->tied, err));
  s->system = s->tied;
  return PAWL_OK;
}

static PawlStatus fill(PawlStepper* s, PawlError* err) {
  PawlNeeds needs;
  PAWL_TRY(pawl_simulate_def_check(&s->def, err));
  PAWL_TRY(check_words(s, err));
  PAWL_TRY(choose_method(s, &needs, err));
  PAWL_TRY(check_law(s, err));
  PAWL_TRY(tie_friction(s, err));
  PAWL_TRY(make_pool(s, err));
  PAWL_TRY(pawl_dynamics_create(&s->dynamics, &s->arena, s->system, &s->def, err));
  PAWL_TRY(pawl_eval_share(s->dynamics.eval, s->pool, err));
  PAWL_TRY(warn_of_law(s, &needs, err));
  PAWL_TRY(warn_of_kinks(s, err));
  PAWL_TRY(pawl_gaps_look(s, err));
  PAWL_TRY(pawl_bands_create(s, &s->bands, err));
  s->sizes = s->dynamics.sizes;
  s->H = s->dynamics.H;
  s->G = s->dynamics.G;
  s->nonzeros_H = s->dynamics.nonzeros_H;
  s->kkt = s->dynamics.kkt;
  pawl_kkt_share(s->kkt, s->pool);
  s->strategy = s->def.strategy;
  for (int i = 0; i < s->sizes.rows; i++) {
    s->contact_count += !s->event_driven && pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT;
  }
  s->hit_in = PAWL_NEW(&s->arena, int, s->contact_count);
  PAWL_TRY(pawl_log_create(&s->arena, s->system, &s->log, err));
  PAWL_TRY(pawl_watch_create(&s->dynamics, &s->watching, err));
  PAWL_TRY(s->method->create(s, err));
  PawlStateShape shape = pawl_stepper_shape(s);
  bool kinks = s->system->timed_count > 0 ||
               (s->system->kink_count + s->system->plain_count > 0 && pawl_kinks_wanted(s));
  bool switches = pawl_system_switches(s->system) || pawl_system_triggers(s->system) ||
                  (s->event_driven && s->dynamics.contacts);
  return switches || kinks || s->sizes.inputs > 0
             ? pawl_loop_create(s, s->event_driven, &shape, &s->loop, err)
             : PAWL_OK;
}

PawlStatus pawl_stepper_create(const PawlSystem* system, const PawlSimulateDef* def,
                               PawlStepper** out, PawlError* err) {
  *out = NULL;
  PawlStepper* s = pawl_alloc(1, sizeof *s);
  if (!s) {
    return pawl_fail_memory(err);
  }
  s->system = system;
  s->def = *def;
  s->budget = INFINITY;
  pawl_lock_take(system->lock);
  PawlStatus status = fill(s, err);
  pawl_lock_leave(system->lock);
  if (status != PAWL_OK) {
    pawl_stepper_destroy(s);
    return status;
  }
  *out = s;
  return PAWL_OK;
}

void pawl_stepper_destroy(PawlStepper* s) {
  if (s) {
    if (s->method && s->data) {
      s->method->destroy(s);
    }
    pawl_loop_destroy(s->loop);
    pawl_works_destroy(s->works);
    pawl_bands_destroy(s->bands);
    pawl_share_islands_destroy(s->watching.islands);
    pawl_watch_destroy(&s->watching);
    pawl_dynamics_destroy(&s->dynamics);
    pawl_pool_destroy(s->pool);
    pawl_system_untie(s->tied);
    pawl_arena_free(&s->arena);
    pawl_free(s);
  }
}

PawlStatus pawl_stepper_keep_works(PawlStepper* s, PawlError* err) {
  if (!s->system->model || s->works) {
    return PAWL_OK;
  }
  return pawl_works_create(s, &s->works, err);
}

bool pawl_stepper_has_work(const PawlStepper* s, PawlWork work) {
  static const unsigned of[PAWL_WORK_JUMPS] = {
      [PAWL_WORK_FORCES] = 1u << PAWL_POWER_FORCES,
      [PAWL_WORK_DISSIPATION] = 1u << PAWL_POWER_DISSIPATION,
      [PAWL_WORK_FRICTION] = 1u << PAWL_POWER_FRICTION,
      [PAWL_WORK_DRIVES] = 1u << PAWL_POWER_DRIVES,
      [PAWL_WORK_TIME] = 1u << PAWL_POWER_TIME | 1u << PAWL_POWER_SHIFT};
  bool jumps = s->loop || s->contact_count > 0;  // s->loop: also where there are inputs
  if (s->works && work == PAWL_WORK_TIME && s->works->leaps.eval && s->system->timed_count > 0) {
    return true;
  }
  return s->works &&
         (work == PAWL_WORK_JUMPS ? jumps
                                  : work < PAWL_WORK_JUMPS && (s->works->powers & of[work]) != 0);
}

// ---- states -------------------------------------------------------------------------------------
PawlStatus pawl_state_create(const PawlStepper* s, PawlState** out, PawlError* err) {
  PawlStateShape shape = pawl_stepper_shape(s);
  PAWL_TRY(pawl_phase_state(&shape, out, err));
  pawl_system_start(s->system, (*out)->q, (*out)->v);
  for (int k = 0; k < s->sizes.inputs; k++) {
    pawl_phase_inputs(*out, s->system)[k] = s->system->start_inputs[k];
  }
  return PAWL_OK;
}

// A failure that a smaller step cannot mend.
static PawlStatus final(PawlStatus status, PawlError* err) {
  if (status == PAWL_RETRY && err) {
    err->status = PAWL_ERROR_RUN;
  }
  return status == PAWL_RETRY ? PAWL_ERROR_RUN : status;
}

// What runs before have left in solvers must not show.
static void renew(PawlStepper* s) {
  pawl_kkt_renew(s->kkt);
  for (size_t k = 0; k < sizeof s->more_kkt / sizeof *s->more_kkt; k++) {
    if (s->more_kkt[k]) {
      pawl_kkt_renew(s->more_kkt[k]);
    }
  }
  if (s->rows) {
    pawl_rows_renew(s->rows);
  }
  if (s->watching.rows.solver) {
    pawl_rows_renew(s->watching.rows.solver);
  }
}

static PawlStatus start(PawlStepper* s, PawlState* state, bool project, PawlError* err) {
  renew(s);
  s->log.count = 0;
  for (int k = 0; k < s->contact_count; k++) {
    s->hit_in[k] = 0;
  }
  state->redundant_count = state->still_count = 0;
  memset(state->work, 0, PAWL_WORK_COUNT * sizeof(double));
  memset(state->memory, 0, (size_t)state->memory_count * sizeof(double));
  memset(state->redundant, 0, (size_t)s->sizes.rows);
  PAWL_TRY(pawl_guesses_find(s, state, project, err));
  PAWL_TRY(pawl_initial(&s->dynamics, state, project, err));
  if (s->loop) {
    PAWL_TRY(pawl_loop_settle(s, state, err));
  }
  if (s->works) {
    pawl_works_jumps(s, state);
  }
  PawlPhase phase = pawl_phase_of(state, s->dynamics.plain);
  return s->method->start(s, &phase, state, err);
}

PawlStatus pawl_stepper_start(PawlStepper* s, PawlState* state, bool project, PawlError* err) {
  return final(start(s, state, project, err), err);
}

const char* pawl_stepper_warning(const PawlStepper* s) {
  return s->dynamics.warning ? s->dynamics.warning : "";
}

int pawl_stepper_warning_count(const PawlStepper* s) {
  return s->dynamics.warnings;
}

PawlStatus pawl_stepper_take_warning(PawlStepper* s, const char* text, int count, PawlError* err) {
  s->dynamics.warnings = count;
  s->dynamics.warning = text[0] ? pawl_arena_copy(&s->arena, text, strlen(text)) : NULL;
  return !text[0] || s->dynamics.warning ? PAWL_OK : pawl_fail_memory(err);
}

// ---- steps --------------------------------------------------------------------------------------
static PawlStatus change(PawlStepper* s, PawlState* state, int c, bool engage, PawlError* err) {
  if (c < 0 || c >= s->system->constraint_count || !pawl_system_engages(s->system, c)) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "constraint %d cannot be engaged or released: it is no lock and has none of "
                     "engaged, at, when, release",
                     c);
  }
  s->log.count = 0;
  PAWL_TRY(pawl_loop_ask(s, state, c, engage, err));
  if (s->works) {
    pawl_works_jumps(s, state);
  }
  return PAWL_OK;
}

PawlStatus pawl_stepper_engage(PawlStepper* s, PawlState* state, int constraint, PawlError* err) {
  return change(s, state, constraint, true, err);
}

PawlStatus pawl_stepper_release(PawlStepper* s, PawlState* state, int constraint, PawlError* err) {
  return change(s, state, constraint, false, err);
}

// Of a system in which nothing else jumps: all rows that hold, hold for good. `room` has 2 v + rows
// numbers.
static PawlStatus push_plainly(PawlStepper* s, PawlState* state, const double* U, double* room,
                               PawlError* err) {
  PawlDynamics* d = &s->dynamics;
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, false);
  double *dv = room, *v_before = dv + s->sizes.v, *impulse = v_before + s->sizes.v;
  PAWL_TRY(pawl_dynamics_evaluate(d, &phase, state, &values, err));
  double before = values->energy[0] + values->energy[1];
  memcpy(dv, U, (size_t)s->sizes.v * sizeof(double));
  PAWL_TRY(pawl_dynamics_solve(d, values, values->M, values->G, values->G, state->active, state->t,
                               dv, impulse, err));
  memcpy(v_before, state->v, (size_t)s->sizes.v * sizeof(double));
  for (int k = 0; k < s->sizes.v; k++) {
    state->v[k] += dv[k];
  }
  PAWL_TRY(pawl_dynamics_evaluate(d, &phase, state, &values, err));
  double after = values->energy[0] + values->energy[1];
  PAWL_TRY(pawl_log_push(&s->log, state, -1, v_before, U, impulse, before - after, err));
  PAWL_TRY(pawl_dynamics_accelerate(d, &phase, values, state->t, state->q, state->v, state->a,
                                    state->lambda, err));
  return s->method->start(s, &phase, state, err);
}

// On failure the state is as before.
static PawlStatus push_alone(PawlStepper* s, PawlState* state, const double* U, PawlError* err) {
  double* room = pawl_alloc(2 * (size_t)s->sizes.v + (size_t)s->sizes.rows + 1, sizeof *room);
  PawlState* kept = NULL;
  PawlStateShape shape = pawl_stepper_shape(s);
  PawlStatus status = room ? pawl_phase_state(&shape, &kept, err) : pawl_fail_memory(err);
  if (status == PAWL_OK) {
    pawl_phase_copy(kept, state);
    status = push_plainly(s, state, U, room, err);
  }
  if (kept && status != PAWL_OK) {
    pawl_phase_copy(state, kept);
    s->log.count = 0;
  }
  pawl_state_destroy(kept);
  pawl_free(room);
  return status;
}

PawlStatus pawl_stepper_push(PawlStepper* s, PawlState* state, const double* U, PawlError* err) {
  for (int k = 0; k < s->sizes.v; k++) {
    if (!isfinite(U[k])) {
      return pawl_fail(err, PAWL_ERROR_USAGE, "impulsive force %d is not finite", k);
    }
  }
  s->log.count = 0;
  PAWL_TRY(s->loop ? pawl_loop_push(s, state, U, err) : push_alone(s, state, U, err));
  if (s->works) {
    pawl_works_jumps(s, state);
  }
  return PAWL_OK;
}

PawlStatus pawl_stepper_set_input(PawlStepper* s, PawlState* state, int input, double value,
                                  PawlError* err) {
  if (input < 0 || input >= s->sizes.inputs || !isfinite(value)) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "input %d = %g: %s", input, value,
                     isfinite(value) ? "there is no such input" : "the value is not finite");
  }
  double* at = pawl_phase_inputs(state, s->system) + input;
  if (*at != value) {
    *at = value;
    *pawl_phase_input_set(state, s->system) = 1.0;
  }
  return PAWL_OK;
}

double pawl_state_input(const PawlStepper* s, const PawlState* state, int input) {
  return pawl_phase_inputs(state, s->system)[input];
}

// Accelerations and multipliers are those before what was set.
PAWL_APART static PawlStatus take_inputs(PawlStepper* s, PawlState* state, PawlError* err) {
  double* set = pawl_phase_input_set(state, s->system);
  if (*set == 0.0) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_loop_assign(s, state, err));
  *set = 0.0;
  return PAWL_OK;
}

bool pawl_stepper_stopped(const PawlStepper* s) {
  return s->loop && s->loop->stop;
}

PAWL_APART static PawlStatus take_alone(PawlStepper* s, PawlState* state, double h,
                                        PawlError* err) {
  PawlPhase phase = pawl_phase_of(state, s->dynamics.plain);
  PAWL_TRY(s->works ? pawl_works_begin(s, state, err) : PAWL_OK);
  PAWL_TRY(s->method->step(s, &phase, state, h, err));
  return s->works ? pawl_works_end(s, state, err) : PAWL_OK;
}

PAWL_INLINE PawlStatus take(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  if (!s->loop) {
    return take_alone(s, state, h, err);
  }
  PAWL_TRY(s->sizes.inputs > 0 ? take_inputs(s, state, err) : PAWL_OK);
  return pawl_loop_step(s, state, h, err);
}

PAWL_APART static PawlStatus take_with_works(PawlStepper* s, PawlState* state, double h,
                                             PawlError* err) {
  pawl_works_mark(s, state);
  PAWL_TRY(take(s, state, h, err));
  PAWL_TRY(pawl_works_close(s, state, err));
  pawl_works_jumps(s, state);
  return PAWL_OK;
}

// After a step that began at this time.
PAWL_APART static PawlStatus look_after(PawlStepper* s, double begin, PawlState* state,
                                        PawlError* err) {
  PAWL_TRY(s->dynamics.mass.on ? pawl_dynamics_watch_masses(&s->dynamics, state, err) : PAWL_OK);
  PAWL_TRY(s->bands ? pawl_bands_look(s, begin, state, err) : PAWL_OK);
  return state->redundant_count > 0 ? pawl_initial_watch_redundant(&s->dynamics, state, err)
                                    : PAWL_OK;
}

PAWL_INLINE PawlStatus further(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  if (!(h > 0.0)) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "step h = %g, must be > 0", h);
  }
  s->log.count = 0;
  double begin = state->t;
  PAWL_TRY(s->works ? take_with_works(s, state, h, err) : take(s, state, h, err));
  state->step++;
  s->dynamics.info.steps++;
  bool looks = s->dynamics.mass.on || s->bands || state->redundant_count > 0;
  return looks ? look_after(s, begin, state, err) : PAWL_OK;
}

PawlStatus pawl_stepper_step(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  s->begun = state->t;
  return further(s, state, h, err);
}

PawlStatus pawl_stepper_further(PawlStepper* s, PawlState* state, double h, PawlError* err) {
  return further(s, state, h, err);
}

void pawl_stepper_accelerations(const PawlStepper* s, const PawlState* state, double* a) {
  memcpy(a, state->a, (size_t)s->sizes.v * sizeof(double));
  if (s->method->accelerations && has_contacts(s)) {
    s->method->accelerations(s, (PawlState*)state, a);
  }
}

PawlStatus pawl_stepper_multipliers(PawlStepper* s, const PawlState* state, double* lambda,
                                    PawlError* err) {
  if (s->method->multipliers) {
    s->method->multipliers(s, (PawlState*)state, lambda);
  } else {
    memcpy(lambda, state->lambda, (size_t)s->sizes.rows * sizeof(double));
  }
  PAWL_TRY(pawl_share_multipliers(&s->watching, state, true, lambda, err));
  return pawl_watch_friction(&s->watching, state, lambda, err);
}

bool pawl_stepper_corrections(const PawlStepper* s, const PawlState* state, PawlCorrections* out) {
  if (!s->method->corrections) {
    return false;
  }
  s->method->corrections(s, (PawlState*)state, &out->nu, &out->Lambda);
  out->smooth = state->lambda;
  return true;
}

const double* pawl_stepper_path(const PawlStepper* s, const PawlState* state) {
  return s->method->lifted ? s->method->lifted(s, state) : NULL;
}

bool pawl_stepper_normal_form(const PawlStepper* s, int* coordinate, double* k, double* k_c) {
  return s->method->normal_form && s->method->normal_form(s, coordinate, k, k_c);
}

void pawl_stepper_stop_by(PawlStepper* s, const volatile int* flag) {
  s->dynamics.stop = flag;
}

void pawl_stepper_note_sides(PawlStepper* s) {
  s->log.sides = true;
}

int pawl_stepper_instants(const PawlStepper* s) {
  return s->log.count;
}

const PawlInstant* pawl_stepper_instant(const PawlStepper* s, int index) {
  return s->log.instants[index];
}

const PawlSimulateDef* pawl_stepper_def(const PawlStepper* s) {
  return &s->def;
}

const char* pawl_stepper_reason(const PawlStepper* s) {
  return s->reason;
}

PawlStepperInfo pawl_stepper_info(const PawlStepper* s) {
  return s->dynamics.info;
}

const char* pawl_stepper_factorization(const PawlStepper* s) {
  PawlKktSolver solver = pawl_kkt_info(s->kkt).solver;
  return solver == PAWL_KKT_DENSE    ? "dense"
         : solver == PAWL_KKT_BAND   ? "band"
         : solver == PAWL_KKT_BLOCKS ? "blocks"
                                     : "sparse";
}
