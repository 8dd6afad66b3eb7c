// SPDX-License-Identifier: Apache-2.0
// The simulation loop. Times are multiples of the step, computed by a product, so that no rounding
// piles up; the last step is shorter where the end is not a multiple.
#include "run/sim.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/model.h"
#include "run/hint.h"
#include "run/keep.h"
#include "step/method.h"
#include "switch/modes.h"
#include "system/compiled.h"
#include "system/system.h"

enum { MOST_HALVINGS = 10, ONLY_WHOLE };

PawlSimDef pawl_sim_def_default(void) {
  return (PawlSimDef){.simulate = pawl_simulate_def_default(),
                      .balance = true,
                      .keep_samples = true,
                      .memory_limit = (size_t)1 << 30};
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// What a smaller step did not mend is final.
static PawlStatus final(PawlStatus status, PawlError* err) {
  if (status == PAWL_RETRY && err) {
    err->status = PAWL_ERROR_RUN;
  }
  return status == PAWL_RETRY ? PAWL_ERROR_RUN : status;
}

static void note_energy(PawlSummary* s, const PawlObservation* seen, double start, bool first) {
  double potential = seen->energy - seen->kinetic;
  if (first) {
    s->energy_start = start;
    s->potential_low = s->potential_high = potential;
  }
  s->energy_end = seen->energy;
  s->energy_max_drift = fmax(s->energy_max_drift, fabs(seen->unexplained));
  s->kinetic_max = fmax(s->kinetic_max, seen->kinetic);
  s->potential_low = fmin(s->potential_low, potential);
  s->potential_high = fmax(s->potential_high, potential);
}

// The energy that the works are counted from: before an impact at the start.
static PawlStatus note_start(PawlSim* sim, PawlError* err) {
  PawlObservation seen;
  PAWL_TRY(pawl_observe(sim->observer, sim->state, (PawlSight){0}, NULL, &seen, err));
  sim->state->work[PAWL_WORK_START] = seen.energy;
  for (int k = 0; k < pawl_stepper_instants(sim->stepper); k++) {
    sim->state->work[PAWL_WORK_START] += pawl_stepper_instant(sim->stepper, k)->energy_lost;
  }
  return PAWL_OK;
}

static PawlStatus record(PawlSim* sim, PawlError* err) {
  PawlObservation seen;
  PawlState shown = *sim->state;  // with the multipliers that a user is to see
  PAWL_TRY(pawl_stepper_multipliers(sim->stepper, sim->state, sim->lambda, err));
  pawl_stepper_accelerations(sim->stepper, sim->state, sim->a);
  shown.lambda = sim->lambda;
  shown.a = sim->a;
  PawlCorrections corrections = {0};
  PawlSight sight = {.path = pawl_stepper_path(sim->stepper, sim->state)};
  if (sim->def.corrections && pawl_stepper_corrections(sim->stepper, sim->state, &corrections)) {
    sight.corrections = &corrections;
  }
  PAWL_TRY(pawl_observe(sim->observer, &shown, sight, sim->sample, &seen, err));
  if (sim->def.keep_samples && !sim->def.keep_sides) {
    PAWL_TRY(pawl_recorder_put(sim->recorder, sim->sample, err));
  }
  PAWL_TRY(pawl_stream_sample(sim->stream, sim->sample, err));
  PawlSummary* s = &sim->summary;
  memcpy(s->works, sim->state->work, sizeof s->works);  // those that the energy belongs to
  note_energy(s, &seen, sim->state->work[PAWL_WORK_START], sim->done == 0);
  pawl_moved_note(&sim->moved, &seen, sim->done == 0);
  if (pawl_moved_looks(sim->done / sim->stride)) {
    const double* shares;
    PAWL_TRY(pawl_observe_shares(sim->observer, &shown, &shares, err));
    pawl_moved_note_shares(&sim->moved, shares, sim->done == 0);
  }
  s->drift = fmax(s->drift, seen.drift);
  bool moves = seen.kinetic > PAWL_REST_OF_RUN * s->kinetic_max;
  s->velocity_drift = fmax(s->velocity_drift, moves ? seen.velocity_drift : 0.0);
  for (int level = 0; level < 3; level++) {
    s->residual[level] = fmax(s->residual[level], seen.residual[level]);
  }
  return PAWL_OK;
}

// Every option of the run, as "options/step".
static PawlStatus add_options(PawlRecorder* r, const PawlSimulateDef* def, PawlError* err) {
#define PAWL_WORD(name, fallback, sentence) \
  PAWL_TRY(pawl_recorder_add_fact(r, "options/" #name, def->name, err));
#define PAWL_REAL(name, fallback, low, high, unit, sentence) \
  PAWL_TRY(pawl_recorder_add_number(r, "options/" #name, (double)def->name, err));
#define PAWL_POSITIVE(name, fallback, low, high, unit, sentence) \
  PAWL_REAL(name, fallback, low, high, unit, sentence)
#define PAWL_WHOLE(name, fallback, low, high, unit, sentence) \
  PAWL_REAL(name, fallback, low, high, unit, sentence)
#include "pawl/simulate.def"
#include "switch/tolerances.h"
#undef PAWL_WORD
#undef PAWL_REAL
#undef PAWL_POSITIVE
#undef PAWL_WHOLE
  return PAWL_OK;
}

// Every parameter of the model, as "parameters/m".
static PawlStatus add_parameters(PawlRecorder* r, const PawlModel* model, PawlError* err) {
  PawlStatus status = PAWL_OK;
  for (int k = 0; status == PAWL_OK && model && k < pawl_model_parameter_count(model); k++) {
    PawlText name = {0};
    pawl_text_printf(&name, "parameters/%s", pawl_model_parameter_name(model, k));
    status = name.failed
                 ? pawl_fail_memory(err)
                 : pawl_recorder_add_number(r, name.s, pawl_model_parameter_value(model, k), err);
    pawl_text_free(&name);
  }
  return status;
}

static PawlStatus add_facts(PawlSim* sim, PawlError* err) {
  const PawlSimulateDef* def = &sim->def.simulate;
  PawlRecorder* r = sim->recorder;
  PAWL_TRY(pawl_recorder_add_fact(r, "model", pawl_system_name(sim->system), err));
  PAWL_TRY(pawl_recorder_add_fact(r, "method", def->method, err));
  PAWL_TRY(pawl_recorder_add_number(r, "step", def->step, err));
  PAWL_TRY(pawl_recorder_add_number(r, "until", def->until, err));
  PAWL_TRY(pawl_recorder_add_fact(r, "pawl", PAWL_VERSION, err));
  PAWL_TRY(add_options(r, def, err));
  return add_parameters(r, sim->system->model, err);
}

// Number of steps: the end counts as reached when it is a multiple of h but for rounding.
static PawlStatus plan(PawlSim* sim, PawlError* err) {
  const PawlSimulateDef* def = &sim->def.simulate;
  double steps = ceil(def->until / def->step * (1 - PAWL_SAME_STEP));
  if (!(steps < 1e15)) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "until = %g with step = %g asks for %.3g steps, more than 1e15", def->until,
                     def->step, steps);
  }
  sim->steps = (long long)steps;
  double stride = floor(def->record / def->step + 0.5);
  sim->stride = stride < 1 ? 1 : stride > steps ? sim->steps : (long long)stride;
  return PAWL_OK;
}

// `native` of the run; where that is auto, the environment may say on or off: the results are the
// same, and all tests can be run either way.
static const char* native_of(const PawlSim* sim) {
  const char *word = sim->def.simulate.native, *wish = getenv("PAWL_NATIVE");
  bool known = wish && (strcmp(wish, "on") == 0 || strcmp(wish, "off") == 0);
  return known && strcmp(word, "auto") == 0 ? wish : word;
}

// Samples that would not all fit are refused before the first step, not after hours.
static PawlStatus check_room(const PawlSim* sim, PawlError* err) {
  double samples = floor((double)sim->steps / (double)sim->stride) + 2.0;
  double bytes = samples * (double)sim->columns * (double)sizeof(double);
  double limit = (double)sim->def.memory_limit;
  if (!sim->def.keep_samples || sim->def.keep_most > 0 || bytes <= limit) {
    return PAWL_OK;
  }
  double least = sim->def.simulate.step * ceil((double)sim->stride * bytes / limit);
  return pawl_fail(err, PAWL_ERROR_USAGE,
                   "the run would keep %.10g samples of %d columns, %.3g MB, more than the limit "
                   "of %.3g MB; record = %.3g or more (--record) keeps few enough",
                   samples, sim->columns, bytes / 1e6, limit / 1e6, 1.01 * least);
}

PawlStatus pawl_sim_prepare(PawlSim* sim, PawlError* err) {
  const PawlColumn* columns;
  PAWL_TRY(pawl_stepper_create(sim->system, &sim->def.simulate, &sim->stepper, err));
  sim->def.simulate = *pawl_stepper_def(sim->stepper);  // with the choice of auto
  PAWL_TRY(plan(sim, err));
  if (sim->def.balance) {
    PAWL_TRY(pawl_stepper_keep_works(sim->stepper, err));
  }
  PAWL_TRY(pawl_state_create(sim->stepper, &sim->state, err));
  PawlCorrections unused;
  bool corrections =
      sim->def.corrections && pawl_stepper_corrections(sim->stepper, sim->state, &unused);
  PAWL_TRY(pawl_observer_create(sim->system, sim->stepper,
                                pawl_stepper_path(sim->stepper, sim->state) != NULL, corrections,
                                &sim->observer, err));
  sim->columns = pawl_observer_columns(sim->observer, &columns);
  sim->sample = pawl_alloc((size_t)sim->columns, sizeof(double));
  PawlSizes n = pawl_system_sizes(sim->system);
  sim->lambda = pawl_alloc((size_t)n.rows, sizeof(double));
  sim->a = pawl_alloc((size_t)n.v, sizeof(double));
  if (!sim->sample || !sim->lambda || !sim->a) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_moved_create(&sim->moved, n.v, err));
  if (!pawl_sim_adapts(&sim->def.simulate)) {  // those see poles by themselves
    PAWL_TRY(pawl_poles_create(sim->system, sim->stepper, &sim->poles, err));
  }
  PAWL_TRY(pawl_recorder_create(sim->columns, columns, sim->def.memory_limit, &sim->recorder, err));
  if (sim->def.keep_most > 0) {
    pawl_recorder_thin(sim->recorder, sim->def.keep_most);
  }
  PAWL_TRY(check_room(sim, err));
  PAWL_TRY(add_facts(sim, err));
  if (sim->def.on_sample || (sim->def.keep_samples && sim->def.keep_sides)) {
    pawl_stepper_note_sides(sim->stepper);
  }
  PAWL_TRY(
      pawl_stream_create(sim->system, sim->observer, sim->recorder, &sim->def, &sim->stream, err));
  PAWL_TRY(pawl_stepper_start(sim->stepper, sim->state, sim->def.project, err));
  if (sim->def.project && sim->def.keep) {
    PAWL_TRY(pawl_keep_start(sim->system, sim->stepper, sim->state, sim->def.keep, err));
  }
  pawl_stepper_stop_by(sim->stepper, sim->def.stop);
  sim->compiles = strcmp(native_of(sim), "auto") != 0;
  bool first = strcmp(native_of(sim), "on") == 0;
  PawlStatus status = first ? pawl_compiled_make(sim->system, sim->def.stop, err) : PAWL_OK;
  return status == PAWL_STOPPED ? PAWL_OK : status;  // the first step sees it, too
}

void pawl_sim_destroy(PawlSim* sim) {
  if (sim) {
    pawl_stream_destroy(sim->stream);
    pawl_recorder_destroy(sim->recorder);
    pawl_free(sim->sample);
    pawl_free(sim->lambda);
    pawl_free(sim->a);
    pawl_moved_destroy(&sim->moved);
    pawl_poles_destroy(sim->poles);
    pawl_observer_destroy(sim->observer);
    pawl_state_destroy(sim->state);
    pawl_stepper_destroy(sim->stepper);
    pawl_free(sim);
  }
}

// The mode of a contact; with friction closed is one of two.
static const char* mode_of_contact(const PawlSim* sim, int row, int mode) {
  bool rubs = pawl_system_friction(sim->system, row).count > 0;
  return mode == PAWL_MODE_OPEN    ? "open"
         : !rubs                   ? "closed"
         : mode >= PAWL_MODE_SLIPS ? "slip"
                                   : "stick";
}

// What has become of a contact: hit, opened, closed without an impact, or at rest at the limit of
// its impacts; with friction it sticks, slips, or its slip has turned.
static const char* met(const PawlSim* sim, const PawlInstant* i) {
  int k = pawl_modes_of_contact(sim->system, i->contact), from = i->from[k], to = i->to[k];
  bool rests = (from == PAWL_MODE_LIMIT && to == PAWL_MODE_CLOSED) ||
               (from == PAWL_MODE_SLIPS_LIMIT && to == PAWL_MODE_SLIPS);
  return rests                                   ? "rest"
         : i->impulse[i->contact] != 0.0         ? "hit"
         : from == to && from >= PAWL_MODE_SLIPS ? "turn"
         : from == to                            ? "hit"
                                                 : mode_of_contact(sim, i->contact, to);
}

static PawlStatus record_contact(PawlSim* sim, const PawlInstant* i, PawlError* err) {
  int number;
  int from = i->from[pawl_modes_of_contact(sim->system, i->contact)];
  PawlContactFriction of = pawl_system_friction(sim->system, i->contact);
  double impulse[3] = {i->impulse[i->contact]};  // the normal one, then those of its slips
  for (int k = 0; k < of.count; k++) {
    impulse[1 + k] = i->impulse[of.first + k];
  }
  PawlEvent event = {.t = i->t,
                     .constraint = pawl_system_row_name(sim->system, i->contact, &number),
                     .from = mode_of_contact(sim, i->contact, from),
                     .to = met(sim, i),
                     .energy_lost = i->energy_lost,
                     .row_count = 1 + of.count,
                     .impulse = impulse,
                     .v_count = pawl_system_sizes(sim->system).v,
                     .v_before = i->v_before,
                     .v_after = i->v_after};
  return pawl_recorder_add_event(sim->recorder, &event, err);
}

static const char* name_of_event(const PawlSim* sim, const PawlInstant* i) {
  return i->event >= 0 ? pawl_system_event_name(sim->system, i->event)
         : i->assigned ? "input"
                       : "impulse";
}

// An event of the model, or a constraint that did not engage: nothing jumps but by an impulse.
static PawlStatus record_quiet(PawlSim* sim, const PawlInstant* i, PawlError* err) {
  char room[200];
  bool refused = i->refused >= 0;
  PawlEvent event = {
      .t = i->t,
      .constraint =
          refused ? pawl_system_constraint_name(sim->system, i->refused) : name_of_event(sim, i),
      .from =
          refused ? pawl_system_mode_name(sim->system, i->refused, i->to, room, sizeof room) : "",
      .to = refused ? "refused" : "event",
      .energy_lost = i->energy_lost,
      .row_count = i->pushed ? pawl_system_sizes(sim->system).v : 0,
      .impulse = i->pushed ? i->push : NULL,
      .v_count = pawl_system_sizes(sim->system).v,
      .v_before = i->v_before,
      .v_after = i->v_after};
  return pawl_recorder_add_event(sim->recorder, &event, err);
}

static PawlStatus record_instant(PawlSim* sim, const PawlInstant* i, PawlError* err) {
  char from[200], to[200];
  if (i->contact >= 0) {
    return record_contact(sim, i, err);
  }
  if (i->event >= 0 || i->refused >= 0 || i->pushed || i->assigned) {
    return record_quiet(sim, i, err);
  }
  double rest = i->energy_lost;  // what is not of these rows (a snap, a drive) goes to the first
  for (int c = 0; c < pawl_system_constraint_count(sim->system); c++) {
    int first, rows;
    pawl_system_constraint_rows(sim->system, c, &first, &rows);
    for (int r = first; pawl_system_switched(sim->system, c, i->from, i->to) && r < first + rows;
         r++) {
      rest -= i->loss[r];
    }
  }
  for (int c = 0; c < pawl_system_constraint_count(sim->system); c++) {
    int first, rows;
    if (!pawl_system_switched(sim->system, c, i->from, i->to)) {
      continue;
    }
    pawl_system_constraint_rows(sim->system, c, &first, &rows);
    double lost = rest;
    for (int r = first; r < first + rows; r++) {
      lost += i->loss[r];
    }
    rest = 0.0;
    PawlEvent event = {.t = i->t,
                       .constraint = pawl_system_constraint_name(sim->system, c),
                       .from = pawl_system_mode_name(sim->system, c, i->from, from, sizeof from),
                       .to = pawl_system_mode_name(sim->system, c, i->to, to, sizeof to),
                       .energy_lost = lost,
                       .row_count = rows,
                       .impulse = i->impulse + first,
                       .v_count = pawl_system_sizes(sim->system).v,
                       .v_before = i->v_before,
                       .v_after = i->v_after};
    PAWL_TRY(pawl_recorder_add_event(sim->recorder, &event, err));
  }
  return PAWL_OK;
}

// Contacts of one jump share their arrays: the first shows what all of them do.
static PawlStatus record_instants(PawlSim* sim, PawlError* err) {
  const PawlInstant* shown = NULL;
  for (int k = 0; k < pawl_stepper_instants(sim->stepper); k++) {
    const PawlInstant* instant = pawl_stepper_instant(sim->stepper, k);
    PAWL_TRY(record_instant(sim, instant, err));
    if (!shown || shown->seen || shown->v_after != instant->v_after) {
      PAWL_TRY(
          pawl_stream_instant(sim->stream, sim->state, instant, &sim->summary.residual[1], err));
      shown = instant;
    }
  }
  return PAWL_OK;
}

PawlStatus pawl_sim_create(const PawlSystem* system, const PawlSimDef* def, PawlSim** out,
                           PawlError* err) {
  *out = NULL;
  PawlSim* sim = pawl_alloc(1, sizeof *sim);
  if (!sim) {
    return pawl_fail_memory(err);
  }
  sim->system = system;
  sim->def = *def;
  PawlStatus status = pawl_sim_prepare(sim, err);
  status = status ? status : final(note_start(sim, err), err);
  status = status ? status : record_instants(sim, err);
  status = status ? status : final(record(sim, err), err);
  if (status != PAWL_OK) {
    pawl_sim_destroy(sim);
    return status;
  }
  *out = sim;
  return PAWL_OK;
}

// Why a step fails for good, where that can be seen from its beginning.
static PawlStatus explain(const PawlSim* sim, PawlStatus status, PawlError* err) {
  const PawlSimulateDef* def = &sim->def.simulate;
  status = pawl_hint_at_growth(sim->system, sim->state, def->step, status, err);
  return status == PAWL_RETRY
             ? pawl_hint_at_kink(sim->system, def->method, sim->state, def->step, status, err)
             : status;
}

static PawlStatus advance(PawlSim* sim, double h, int halvings, PawlError* err);

// A step of size h has failed for good: what it has gone through before is taken in halves, so that
// the state and the events that led there are known. Where switches accumulate, halves would have
// as many as a step may have, each.
static void approach(PawlSim* sim, double h) {
  enum { MOST_INSTANTS = 1000 };
  int left = MOST_INSTANTS;
  PawlStatus status = PAWL_ERROR_RUN;
  for (int k = 0; k < MOST_HALVINGS && (status == PAWL_OK || status == PAWL_ERROR_RUN); k++) {
    PawlError unused;
    h *= 0.5;
    status = advance(sim, h, ONLY_WHOLE, &unused);
    left -= status == PAWL_OK ? pawl_stepper_instants(sim->stepper) : 0;
    if (left <= 0) {
      return;
    }
  }
}

// One step of size h, in halves where it does not go whole.
static PawlStatus advance(PawlSim* sim, double h, int halvings, PawlError* err) {
  if (sim->stopped) {
    return PAWL_OK;
  }
  if (sim->def.stop && *sim->def.stop) {
    return PAWL_STOPPED;
  }
  long long kinks = 0;
  if (sim->poles) {
    pawl_poles_begin(sim->poles, sim->state);
    kinks = pawl_stepper_info(sim->stepper).kinks;
  }
  PawlStatus status = sim->under_way ? pawl_stepper_further(sim->stepper, sim->state, h, err)
                                     : pawl_stepper_step(sim->stepper, sim->state, h, err);
  bool taken = status == PAWL_OK;
  bool jumped = sim->poles && (pawl_stepper_instants(sim->stepper) > 0 ||
                               pawl_stepper_info(sim->stepper).kinks > kinks);
  status = status || !sim->poles ? status : pawl_poles_end(sim->poles, sim->state, jumped, err);
  sim->under_way |= status == PAWL_OK;
  status = status ? status : record_instants(sim, err);
  sim->stopped = status == PAWL_OK && pawl_stepper_stopped(sim->stepper);
  if (status == PAWL_ERROR_RUN && !taken && halvings < MOST_HALVINGS) {
    PawlStatus why = explain(sim, status, err);
    approach(sim, h);
    return why;
  }
  if (halvings == ONLY_WHOLE) {
    return final(status, err);
  }
  if (status == PAWL_ERROR_RUN || (status == PAWL_RETRY && halvings == MOST_HALVINGS)) {
    return explain(sim, status, err);
  }
  if (status != PAWL_RETRY) {
    return status;
  }
  sim->summary.smaller_steps++;
  PAWL_TRY(advance(sim, 0.5 * h, halvings + 1, err));
  return advance(sim, 0.5 * h, halvings + 1, err);
}

static PawlStatus advance_to(PawlSim* sim, long long next, PawlError* err) {
  const PawlSimulateDef* def = &sim->def.simulate;
  bool last = next == sim->steps;
  double t = last ? def->until : (double)next * def->step;
  double begin = (double)(next - 1) * def->step;
  bool cut = fabs(sim->state->t - begin) > PAWL_SAME_STEP * def->step;  // stopped in this step
  double h = cut ? t - sim->state->t : last ? def->until - begin : def->step;
  if (fabs(h - def->step) <= PAWL_SAME_STEP * def->step) {
    h = def->step;  // the same number in every step, so that nothing is set up anew
  }
  sim->under_way = false;
  PAWL_TRY(advance(sim, h, 0, err));
  if (!sim->stopped) {
    sim->state->t = t;
  }
  return PAWL_OK;
}

bool pawl_sim_ended(const PawlSim* sim) {
  return sim->done == sim->steps || sim->stopped;
}

static PawlStatus one_step(PawlSim* sim, PawlError* err) {
  PAWL_TRY(advance_to(sim, sim->done + 1, err));
  sim->done++;
  return sim->done % sim->stride == 0 || pawl_sim_ended(sim) ? record(sim, err) : PAWL_OK;
}

// The state reached is a sample too.
static PawlStatus stop(PawlSim* sim, PawlError* err) {
  pawl_stepper_stop_by(sim->stepper, NULL);  // this is still wanted
  PawlStatus status = sim->state->t != sim->sample[0] ? record(sim, err) : PAWL_OK;
  pawl_stepper_stop_by(sim->stepper, sim->def.stop);
  return status ? status : PAWL_STOPPED;
}

// Calls a compiler when what is left of the run takes longer than it will, and again when the run
// has met phases or rows in force that were not compiled. `steps` have been taken since `begin`;
// where nothing can be compiled the run goes on as it is.
static void consider_compiling(PawlSim* sim, long long steps, double begin) {
  const double least = 0.05, worth = 2.0;  // s
  double taken = now() - begin;
  if (sim->compiles && !pawl_compiled_is_behind(sim->system)) {
    return;
  }
  if (taken > least && taken / (double)steps * (double)(sim->steps - sim->done) > worth) {
    sim->compiles = true;
    PawlError unused;
    PawlStatus status = pawl_system_compile(sim->system, false, &unused);
    (void)status;
  }
}

// It is looked at after 1, 2, 4, 8, ... steps from the beginning, later every so many.
static PawlStatus loop(PawlSim* sim, PawlProgress progress, void* context, PawlError* err) {
  enum { EVERY = 4096 };
  PawlStatus status = PAWL_OK;
  bool may_compile = strcmp(native_of(sim), "off") != 0;
  long long first = sim->done, next = may_compile ? first + 1 : LLONG_MAX;
  double begin = now();
  while (status == PAWL_OK && !pawl_sim_ended(sim)) {
    status = one_step(sim, err);
    if (sim->done == next) {
      consider_compiling(sim, next - first, begin);
      next += next - first < EVERY ? next - first : EVERY;
    }
    if (status == PAWL_OK && progress &&
        progress(context, sim->state->t, sim->def.simulate.until) != 0 && !pawl_sim_ended(sim)) {
      status = PAWL_STOPPED;
    }
  }
  return status == PAWL_STOPPED ? stop(sim, err) : status;
}

PawlStatus pawl_sim_step(PawlSim* sim, long long count, PawlError* err) {
  double begin = now();
  PawlStatus status = PAWL_OK;
  for (long long k = 0; status == PAWL_OK && k < count && !pawl_sim_ended(sim); k++) {
    status = one_step(sim, err);
  }
  sim->summary.wall_seconds += now() - begin;
  return final(status, err);
}

static PawlStatus no_such(const PawlSim* sim, const char* name, PawlError* err) {
  enum { MOST_NAMES = 12 };
  PawlText names = {0};
  int count = 0;
  for (int c = 0; c < pawl_system_constraint_count(sim->system); c++) {
    if (pawl_system_engages(sim->system, c) && count++ < MOST_NAMES) {
      pawl_text_printf(&names, "%s%s", count > 1 ? ", " : "",
                       pawl_system_constraint_name(sim->system, c));
    }
  }
  pawl_fail(err, PAWL_ERROR_USAGE, "'%.100s' cannot be engaged or released in '%s'; %s%s%s", name,
            pawl_system_name(sim->system), count > 0 ? "these can: " : "nothing can",
            names.s ? names.s : "", count > MOST_NAMES ? ", ..." : "");
  pawl_text_free(&names);
  return PAWL_ERROR_USAGE;
}

static PawlStatus change(PawlSim* sim, const char* name, bool engage, PawlError* err) {
  int c = pawl_system_find_constraint(sim->system, name);
  if (c < 0 || !pawl_system_engages(sim->system, c)) {
    return no_such(sim, name, err);
  }
  PawlStatus status =
      (engage ? pawl_stepper_engage : pawl_stepper_release)(sim->stepper, sim->state, c, err);
  return final(status ? status : record_instants(sim, err), err);
}

PawlStatus pawl_sim_engage(PawlSim* sim, const char* name, PawlError* err) {
  return change(sim, name, true, err);
}

PawlStatus pawl_sim_release(PawlSim* sim, const char* name, PawlError* err) {
  return change(sim, name, false, err);
}

PawlStatus pawl_sim_push(PawlSim* sim, const double* U, PawlError* err) {
  PawlStatus status = pawl_stepper_push(sim->stepper, sim->state, U, err);
  return final(status ? status : record_instants(sim, err), err);
}

PawlStatus pawl_sim_set_input(PawlSim* sim, int input, double value, PawlError* err) {
  return pawl_stepper_set_input(sim->stepper, sim->state, input, value, err);
}

double pawl_sim_input(const PawlSim* sim, int input) {
  return pawl_state_input(sim->stepper, sim->state, input);
}

int pawl_sim_find_column(const PawlSim* sim, const char* name) {
  for (int j = 0; j < sim->columns; j++) {
    if (strcmp(pawl_recorder_column(sim->recorder, j)->name, name) == 0) {
      return j;
    }
  }
  return -1;
}

double pawl_sim_value(const PawlSim* sim, int column) {
  return sim->sample[column];
}

PawlStatus pawl_sim_run(PawlSim* sim, PawlProgress progress, void* context, PawlError* err) {
  double begin = now();
  PawlStatus status = loop(sim, progress, context, err);
  PawlStatus ended = pawl_stream_end(sim->stream, status == PAWL_OK ? err : NULL);
  status = status ? status : ended;
  if (status == PAWL_OK && (pawl_sim_energy_drifts(sim) || pawl_sim_works_unknown(sim))) {
    status = pawl_noise_measure(sim, err);  // nobody else needs to know
  }
  sim->summary.wall_seconds += now() - begin;
  return final(status, err);
}

const PawlRecorder* pawl_sim_recorder(const PawlSim* sim) {
  return sim->recorder;
}

const PawlStepper* pawl_sim_stepper(const PawlSim* sim) {
  return sim->stepper;
}

const PawlState* pawl_sim_state(const PawlSim* sim) {
  return sim->state;
}

const double* pawl_sim_multipliers(const PawlSim* sim) {
  return sim->lambda;
}

PawlSummary pawl_sim_summary(const PawlSim* sim) {
  PawlSummary summary = sim->summary;
  summary.energy_moved =
      pawl_moved_size(&sim->moved, summary.kinetic_max, summary.works[PAWL_WORK_NET]);
  summary.t = sim->state->t;
  summary.work = pawl_stepper_info(sim->stepper);
  summary.work.steps += sim->before.steps;
  summary.work.newton_iterations += sim->before.newton_iterations;
  summary.work.factorizations += sim->before.factorizations;
  summary.work.evaluations += sim->before.evaluations;
  summary.work.kinks += sim->before.kinks;
  summary.work.relaxed += sim->before.relaxed;
  summary.work.swept += sim->before.swept;
  summary.work.cones = fmax(summary.work.cones, sim->before.cones);
  return summary;
}

const char* pawl_sim_warning(const PawlSim* sim) {
  return pawl_stepper_warning(sim->stepper);
}
