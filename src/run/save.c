// SPDX-License-Identifier: Apache-2.0
// A run as plain bytes: a head, the terms under which it was run (name and value of every option
// and parameter, the hash of the model's text), then all that changes.
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/model.h"
#include "run/sim.h"
#include "step/method.h"
#include "system/system.h"

enum { VERSION = 7, MOST_TERMS = 1 << 24, MOST_ITEMS = 1 << 30 };

typedef struct Head {
  char magic[8];
  uint16_t order, version;  // of bytes in a number; of this layout
  uint32_t padding;
  uint64_t size, sum;  // of all; hash of what follows the head
} Head;

static const Head own_head = {
    .magic = {'p', 'a', 'w', 'l', '-', 'r', 'u', 'n'}, .order = 0x0102, .version = VERSION};

// ---- the terms ----------------------------------------------------------------------------------
static bool starts_with(const char* text, const char* start) {
  return strncmp(text, start, strlen(start)) == 0;
}

static void put_term(PawlBytes* b, int* count, const char* name, const char* value) {
  pawl_bytes_text(b, name);
  pawl_bytes_text(b, value);
  (*count)++;
}

// What a run that goes on must have in common with the one that was saved, as pairs of texts.
static int put_terms(const PawlSim* sim, PawlBytes* b) {
  static const char hex[] = "0123456789abcdef";
  int count = 0;
  const char* name;
  for (int k = 0; (name = pawl_recorder_fact_name(sim->recorder, k)); k++) {
    bool counts = strcmp(name, "model") == 0 || strcmp(name, "pawl") == 0 ||
                  starts_with(name, "parameters/") ||
                  (starts_with(name, "options/") && strcmp(name, "options/until") != 0 &&
                   strcmp(name, "options/threads") != 0 && strcmp(name, "options/native") != 0);
    if (counts) {
      put_term(b, &count, name, pawl_recorder_fact_value(sim->recorder, k));
    }
  }
  put_term(b, &count, "project", sim->def.project ? "yes" : "no");
  put_term(b, &count, "keep", sim->def.project && sim->def.keep ? sim->def.keep : "nothing");
  put_term(b, &count, "balance of energy", sim->def.balance ? "yes" : "no");
  put_term(b, &count, "columns of corrections", sim->def.corrections ? "yes" : "no");
  put_term(b, &count, "samples kept in memory (for a plot)",
           sim->def.keep_samples ? (sim->def.keep_sides ? "with jumps" : "yes") : "no");
  put_term(b, &count, "samples passed on (to files)", sim->def.on_sample ? "yes" : "no");
  uint64_t hash = sim->system->model ? sim->system->model->text_hash : 0;
  char digits[17] = {0};
  for (int k = 0; k < 16; k++) {
    digits[k] = hex[hash >> (60 - 4 * k) & 15];
  }
  put_term(b, &count, "text", digits);
  return count;
}

typedef struct Terms {
  int count;
  PawlReader at;  // at the first
} Terms;

// The value of a term; NULL without.
static const char* find_term(Terms terms, const char* name) {
  for (int k = 0; k < terms.count; k++) {
    const char* here = pawl_reader_text(&terms.at);
    const char* value = pawl_reader_text(&terms.at);
    if (strcmp(here, name) == 0) {
      return value;
    }
  }
  return NULL;
}

// "; step is 0.002, was 0.001" for each term of `now` that `was` has not, or has otherwise; with
// `gone` for those only that it has not.
static void tell_changes(Terms now, Terms was, bool gone, PawlText* text) {
  for (int k = 0; k < now.count; k++) {
    const char* name = pawl_reader_text(&now.at);
    const char* value = pawl_reader_text(&now.at);
    const char* old = find_term(was, name);
    if (old && (gone || strcmp(old, value) == 0)) {
      continue;
    }
    bool parameter = starts_with(name, "parameters/");
    const char* slash = strchr(name, '/');
    pawl_text_add(text, text->length ? "; " : "");
    if (strcmp(name, "text") == 0) {
      pawl_text_add(text, "the text of the model has changed");
    } else if (!old) {
      pawl_text_printf(text, "%s%s is %s", parameter ? "parameter " : "", slash ? slash + 1 : name,
                       gone ? "gone" : "new");
    } else {
      pawl_text_printf(text, "%s%s is %s, was %s", parameter ? "parameter " : "",
                       slash ? slash + 1 : name, value, old);
    }
  }
}

static PawlStatus compare_terms(const PawlSim* sim, Terms was, PawlError* err) {
  PawlBytes own = {0};
  PawlText text = {0};
  Terms now = {.count = put_terms(sim, &own)};
  now.at = (PawlReader){own.data, own.length, own.failed};
  if (!own.failed) {
    tell_changes(now, was, false, &text);
    tell_changes(was, now, true, &text);
  }
  PawlStatus status = own.failed || text.failed ? pawl_fail_memory(err)
                      : text.length
                          ? pawl_fail(err, PAWL_ERROR_USAGE,
                                      "the saved run cannot go on, it was another one: %s", text.s)
                          : PAWL_OK;
  pawl_text_free(&text);
  pawl_bytes_free(&own);
  return status;
}

// ---- saving -------------------------------------------------------------------------------------
static void put_summary(const PawlSim* sim, PawlBytes* b) {
  PawlSummary s = pawl_sim_summary(sim);
  pawl_bytes_whole(b, s.work.steps);
  pawl_bytes_whole(b, s.work.newton_iterations);
  pawl_bytes_whole(b, s.work.factorizations);
  pawl_bytes_whole(b, s.work.evaluations);
  pawl_bytes_whole(b, s.work.kinks);
  pawl_bytes_whole(b, s.work.relaxed);
  pawl_bytes_whole(b, s.work.swept);
  pawl_bytes_number(b, s.work.cones);
  pawl_bytes_whole(b, s.smaller_steps);
  const double numbers[] = {s.wall_seconds, s.energy_start,   s.energy_end,    s.energy_max_drift,
                            s.drift,        s.velocity_drift, s.residual[0],   s.residual[1],
                            s.residual[2],  s.kinetic_max,    s.potential_low, s.potential_high};
  pawl_bytes_add(b, numbers, sizeof numbers);
  pawl_bytes_add(b, s.works, sizeof s.works);
}

static void put_warnings(const PawlSim* sim, PawlBytes* b) {
  pawl_bytes_whole(b, pawl_stepper_warning_count(sim->stepper));
  pawl_bytes_text(b, pawl_stepper_warning(sim->stepper));
}

static void put_samples(const PawlSim* sim, PawlBytes* b) {
  int count = pawl_recorder_sample_count(sim->recorder);
  int group, last;
  pawl_recorder_grouping(sim->recorder, &group, &last);
  pawl_bytes_whole(b, group);
  pawl_bytes_whole(b, last);
  pawl_bytes_whole(b, count);
  for (int k = 0; k < count; k++) {
    pawl_bytes_add(b, pawl_recorder_sample(sim->recorder, k),
                   (size_t)sim->columns * sizeof(double));
  }
}

static void put_event(const PawlEvent* e, PawlBytes* b) {
  pawl_bytes_number(b, e->t);
  pawl_bytes_number(b, e->energy_lost);
  pawl_bytes_text(b, e->constraint);
  pawl_bytes_text(b, e->from);
  pawl_bytes_text(b, e->to);
  pawl_bytes_whole(b, e->row_count);
  pawl_bytes_whole(b, e->v_count);
  pawl_bytes_add(b, e->impulse, (size_t)e->row_count * sizeof(double));
  pawl_bytes_add(b, e->v_before, (size_t)e->v_count * sizeof(double));
  pawl_bytes_add(b, e->v_after, (size_t)e->v_count * sizeof(double));
}

static void put_all(const PawlSim* sim, PawlBytes* b) {
  size_t rows = (size_t)pawl_system_sizes(sim->system).rows;
  PawlBytes terms = {0};
  pawl_bytes_whole(b, put_terms(sim, &terms));
  pawl_bytes_add(b, terms.data, terms.length);
  b->failed |= terms.failed;
  pawl_bytes_free(&terms);
  pawl_bytes_number(b, sim->def.simulate.until);
  pawl_bytes_whole(b, sim->steps);
  pawl_bytes_whole(b, sim->done);
  pawl_bytes_whole(b, sim->stopped);
  put_summary(sim, b);
  put_warnings(sim, b);
  pawl_bytes_add(b, sim->sample, (size_t)sim->columns * sizeof(double));
  pawl_bytes_add(b, sim->lambda, rows * sizeof(double));
  pawl_bytes_add(b, sim->moved.low, (size_t)sim->moved.count * sizeof(double));
  pawl_bytes_add(b, sim->moved.high, (size_t)sim->moved.count * sizeof(double));
  put_samples(sim, b);
  pawl_bytes_whole(b, pawl_recorder_event_count(sim->recorder));
  for (int k = 0; k < pawl_recorder_event_count(sim->recorder); k++) {
    put_event(pawl_recorder_event(sim->recorder, k), b);
  }
  pawl_stream_save(sim->stream, b);
  void* state = pawl_bytes_room(b, pawl_state_size(sim->stepper));
  if (state) {
    pawl_state_save(sim->stepper, sim->state, state);
  }
}

PawlStatus pawl_sim_save(const PawlSim* sim, void** bytes, size_t* size, PawlError* err) {
  PawlBytes b = {0};
  Head head = own_head;
  *bytes = NULL;
  *size = 0;
  pawl_bytes_add(&b, &head, sizeof head);
  put_all(sim, &b);
  if (b.failed) {
    pawl_bytes_free(&b);
    return pawl_fail_memory(err);
  }
  head.size = b.length;
  head.sum = pawl_hash(PAWL_HASH_START, b.data + sizeof head, b.length - sizeof head);
  memcpy(b.data, &head, sizeof head);
  *bytes = b.data;
  *size = b.length;
  return PAWL_OK;
}

void pawl_sim_saved_free(void* bytes) {
  pawl_free(bytes);
}

// ---- loading ------------------------------------------------------------------------------------
static PawlStatus refuse(PawlError* err, const char* why) {
  return pawl_fail(err, PAWL_ERROR_USAGE, "the saved run %s", why);
}

static PawlStatus check_head(const void* bytes, size_t size, PawlError* err) {
  Head head;
  if (size < sizeof head || memcmp(bytes, own_head.magic, sizeof own_head.magic) != 0) {
    return refuse(err, "is none: it does not begin as one");
  }
  memcpy(&head, bytes, sizeof head);
  if (head.order != own_head.order) {
    return refuse(err, "is of another kind of machine");
  }
  if (head.version != own_head.version) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "the saved run has layout %u, this pawl reads %u",
                     (unsigned)head.version, (unsigned)own_head.version);
  }
  if (head.size != size) {
    return refuse(err, "is damaged: it has another size than it says, and may be cut short");
  }
  const unsigned char* rest = (const unsigned char*)bytes + sizeof head;
  return head.sum == pawl_hash(PAWL_HASH_START, rest, size - sizeof head)
             ? PAWL_OK
             : refuse(err, "is damaged: its checksum is wrong");
}

static PawlStatus check_terms(const PawlSim* sim, PawlReader* r, PawlError* err) {
  Terms was = {.count = pawl_reader_count(r, MOST_TERMS)};
  was.at = *r;
  for (int k = 0; k < 2 * was.count && !r->failed; k++) {
    pawl_reader_text(r);
  }
  return r->failed ? PAWL_OK : compare_terms(sim, was, err);
}

// Samples and step sizes up to here are those of a run to the present `until`.
static PawlStatus check_until(const PawlSim* sim, double was, long long steps, PawlError* err) {
  const PawlSimulateDef* def = &sim->def.simulate;
  if (def->until < was) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "the saved run cannot go on: until is %g, was %g; it may only grow",
                     def->until, was);
  }
  bool ended = sim->done == steps && !sim->stopped && def->until > was;
  if (ended && (was != (double)sim->done * def->step || sim->done % sim->stride != 0)) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "the saved run has ended at until = %g, no multiple of step and record, and "
                     "cannot go on to %g with the same bits",
                     was, def->until);
  }
  return PAWL_OK;
}

static void take_summary(PawlSim* sim, PawlReader* r) {
  PawlSummary* s = &sim->summary;
  PawlStepperInfo now = pawl_stepper_info(sim->stepper);  // by the start, which was counted before
  sim->before.steps = pawl_reader_whole(r) - now.steps;
  sim->before.newton_iterations = pawl_reader_whole(r) - now.newton_iterations;
  sim->before.factorizations = pawl_reader_whole(r) - now.factorizations;
  sim->before.evaluations = pawl_reader_whole(r) - now.evaluations;
  sim->before.kinks = pawl_reader_whole(r) - now.kinks;
  sim->before.relaxed = pawl_reader_whole(r) - now.relaxed;
  sim->before.swept = pawl_reader_whole(r) - now.swept;
  sim->before.cones = pawl_reader_number(r);
  s->smaller_steps = pawl_reader_whole(r);
  double* const numbers[] = {&s->wall_seconds,     &s->energy_start,  &s->energy_end,
                             &s->energy_max_drift, &s->drift,         &s->velocity_drift,
                             &s->residual[0],      &s->residual[1],   &s->residual[2],
                             &s->kinetic_max,      &s->potential_low, &s->potential_high};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
    *numbers[k] = pawl_reader_number(r);
  }
  pawl_reader_take(r, s->works, sizeof s->works);
}

static PawlStatus take_warnings(PawlSim* sim, PawlReader* r, PawlError* err) {
  int count = pawl_reader_count(r, MOST_ITEMS);
  const char* text = pawl_reader_text(r);
  return r->failed ? PAWL_OK : pawl_stepper_take_warning(sim->stepper, text, count, err);
}

static PawlStatus take_samples(PawlSim* sim, PawlReader* r, PawlError* err) {
  int group = pawl_reader_count(r, MOST_ITEMS);
  int last = pawl_reader_count(r, group);
  int count = pawl_reader_count(r, MOST_ITEMS);
  r->failed |= group > 0 && count < 2;
  pawl_recorder_set_grouping(sim->recorder, group, last);
  for (int k = 0; k < count && !r->failed; k++) {
    double* sample;
    PAWL_TRY(pawl_recorder_add(sim->recorder, &sample, err));
    pawl_reader_take(r, sample, (size_t)sim->columns * sizeof(double));
  }
  return PAWL_OK;
}

// An array of an event at an address that is a multiple of its numbers.
static const double* take_array(PawlReader* r, int count, double* room) {
  pawl_reader_take(r, room, (size_t)count * sizeof(double));
  return room;
}

// The impulses of rows, or those on velocities.
static int most_impulses(PawlSizes n) {
  return n.rows > n.v ? n.rows : n.v;
}

static PawlStatus take_event(PawlSim* sim, PawlReader* r, double* room, PawlError* err) {
  PawlSizes n = pawl_system_sizes(sim->system);
  double *before = room + most_impulses(n), *after = before + n.v;
  PawlEvent e = {0};
  e.t = pawl_reader_number(r);
  e.energy_lost = pawl_reader_number(r);
  e.constraint = pawl_reader_text(r);
  e.from = pawl_reader_text(r);
  e.to = pawl_reader_text(r);
  e.row_count = pawl_reader_count(r, most_impulses(n));
  e.v_count = pawl_reader_count(r, n.v);
  e.impulse = take_array(r, e.row_count, room);
  e.v_before = take_array(r, e.v_count, before);
  e.v_after = take_array(r, e.v_count, after);
  return r->failed ? PAWL_OK : pawl_recorder_add_event(sim->recorder, &e, err);
}

static PawlStatus take_events(PawlSim* sim, PawlReader* r, PawlError* err) {
  PawlSizes n = pawl_system_sizes(sim->system);
  int count = pawl_reader_count(r, MOST_ITEMS);
  double* room = pawl_alloc((size_t)most_impulses(n) + 2 * (size_t)n.v, sizeof(double));
  PawlStatus status = room ? PAWL_OK : pawl_fail_memory(err);
  for (int k = 0; status == PAWL_OK && k < count && !r->failed; k++) {
    status = take_event(sim, r, room, err);
  }
  pawl_free(room);
  return status;
}

static PawlStatus take_all(PawlSim* sim, PawlReader* r, PawlError* err) {
  PAWL_TRY(check_terms(sim, r, err));
  double until = pawl_reader_number(r);
  long long steps = pawl_reader_whole(r);
  sim->done = pawl_reader_whole(r);
  sim->stopped = pawl_reader_count(r, 1) != 0;
  if (r->failed || sim->done < 0 || sim->done > steps) {
    return refuse(err, "is damaged: what it counts cannot be");
  }
  PAWL_TRY(check_until(sim, until, steps, err));
  take_summary(sim, r);
  PAWL_TRY(take_warnings(sim, r, err));
  pawl_reader_take(r, sim->sample, (size_t)sim->columns * sizeof(double));
  pawl_reader_take(r, sim->lambda, (size_t)pawl_system_sizes(sim->system).rows * sizeof(double));
  pawl_reader_take(r, sim->moved.low, (size_t)sim->moved.count * sizeof(double));
  pawl_reader_take(r, sim->moved.high, (size_t)sim->moved.count * sizeof(double));
  PAWL_TRY(take_samples(sim, r, err));
  PAWL_TRY(take_events(sim, r, err));
  pawl_stream_load(sim->stream, r);
  return r->failed ? refuse(err, "is damaged: it ends too early")
                   : pawl_state_load(sim->stepper, sim->state, r->at, r->left, err);
}

PawlStatus pawl_sim_load(const PawlSystem* system, const PawlSimDef* def, const void* bytes,
                         size_t size, PawlSim** out, PawlError* err) {
  *out = NULL;
  PAWL_TRY(check_head(bytes, size, err));
  PawlSim* sim = pawl_alloc(1, sizeof *sim);
  if (!sim) {
    return pawl_fail_memory(err);
  }
  PawlReader reader = {(const unsigned char*)bytes + sizeof(Head), size - sizeof(Head), false};
  sim->system = system;
  sim->def = *def;
  PawlStatus status = pawl_sim_prepare(sim, err);
  status = status ? status : take_all(sim, &reader, err);
  if (status != PAWL_OK) {
    pawl_sim_destroy(sim);
    return status;
  }
  *out = sim;
  return PAWL_OK;
}
