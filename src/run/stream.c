// SPDX-License-Identifier: Apache-2.0
// Invariant: the sides of an instant wait, if at all, for the sample that follows them; nothing
// else is held back.
#include "run/stream.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "model/model.h"
#include "system/system.h"

// Times are equal when they differ by rounding only, relative.
static const double SAME_TIME = 4e-15;

struct PawlStream {
  const PawlSystem* system;
  PawlObserver* observer;
  const PawlRecorder* recorder;
  PawlOnSample on_sample;
  void* context;
  int columns;
  double *before, *after;  // sides of the present instant
  bool before_waits, after_waits;
  double last;  // time of the newest sample, passed on or waiting; NaN before the first
};

PawlStatus pawl_stream_create(const PawlSystem* system, PawlObserver* observer,
                              const PawlRecorder* recorder, const PawlSimDef* def, PawlStream** out,
                              PawlError* err) {
  *out = NULL;
  PawlStream* s = pawl_alloc(1, sizeof *s);
  if (!s) {
    return pawl_fail_memory(err);
  }
  int columns = pawl_recorder_column_count(recorder);
  *s = (PawlStream){system,
                    observer,
                    recorder,
                    def->on_sample,
                    def->on_sample_context,
                    columns,
                    pawl_alloc((size_t)columns, sizeof(double)),
                    pawl_alloc((size_t)columns, sizeof(double)),
                    false,
                    false,
                    NAN};
  if (!s->before || !s->after) {
    pawl_stream_destroy(s);
    return pawl_fail_memory(err);
  }
  *out = s;
  return PAWL_OK;
}

void pawl_stream_destroy(PawlStream* s) {
  if (s) {
    pawl_free(s->before);
    pawl_free(s->after);
    pawl_free(s);
  }
}

static bool same_time(double a, double b) {
  return fabs(a - b) <= SAME_TIME * fmax(fabs(a), fabs(b));
}

static PawlStatus pass_on(PawlStream* s, const double* sample, PawlError* err) {
  s->last = sample[0];
  return s->on_sample(s->context, s->recorder, sample, err);
}

PawlStatus pawl_stream_end(PawlStream* s, PawlError* err) {
  bool before = s->before_waits, after = s->after_waits;
  s->before_waits = s->after_waits = false;
  if (before) {
    PAWL_TRY(pass_on(s, s->before, err));
  }
  return after ? pass_on(s, s->after, err) : PAWL_OK;
}

PawlStatus pawl_stream_sample(PawlStream* s, const double* sample, PawlError* err) {
  if (s->after_waits && same_time(s->after[0], sample[0])) {
    s->after_waits = false;  // the sample is the side behind the jump
    s->before[0] = sample[0];
  }
  PAWL_TRY(pawl_stream_end(s, err));
  return pass_on(s, sample, err);
}

static bool output_reacts(const PawlSystem* system, int output) {
  return !system->model || system->model->outputs[output].reacts;
}

static void forget_reactions(const PawlStream* s, double* sample) {
  int output = 0;
  for (int j = 0; j < s->columns; j++) {
    PawlColumnKind kind = pawl_recorder_column(s->recorder, j)->kind;
    bool unknown = kind == PAWL_COLUMN_ACCELERATION || kind == PAWL_COLUMN_MULTIPLIER ||
                   kind == PAWL_COLUMN_WORK ||
                   (kind == PAWL_COLUMN_OUTPUT && output_reacts(s->system, output++));
    sample[j] = unknown ? NAN : sample[j];
  }
}

// One side of an instant. False when something has no value there; it is then left out.
static bool see(PawlStream* s, const PawlState* state, const PawlInstant* instant, bool after,
                double* sample) {
  PawlState side = *state;
  PawlObservation unused;
  side.t = instant->t;
  side.q = (double*)instant->q;
  side.v = (double*)(after ? instant->v_after : instant->v_before);
  side.modes = (int*)(after ? instant->to : instant->from);
  // Where a path crosses the boundary of a contact, it is its own projection.
  if (pawl_observe(s->observer, &side, instant->q, sample, &unused, NULL) != PAWL_OK) {
    return false;
  }
  forget_reactions(s, sample);
  return true;
}

PawlStatus pawl_stream_instant(PawlStream* s, const PawlState* state, const PawlInstant* instant,
                               PawlError* err) {
  if (instant->event >= 0 || instant->refused >= 0) {
    return PAWL_OK;  // nothing jumps
  }
  bool again = same_time(s->last, instant->t);
  if (!again) {
    PAWL_TRY(pawl_stream_end(s, err));
    s->before_waits = see(s, state, instant, false, s->before);
  }
  s->after_waits = see(s, state, instant, true, s->after);
  s->last = instant->t;
  return PAWL_OK;
}

void pawl_stream_save(const PawlStream* s, PawlBytes* bytes) {
  size_t row = (size_t)s->columns * sizeof(double);
  pawl_bytes_whole(bytes, s->before_waits);
  pawl_bytes_whole(bytes, s->after_waits);
  pawl_bytes_number(bytes, s->last);
  pawl_bytes_add(bytes, s->before, row);
  pawl_bytes_add(bytes, s->after, row);
}

void pawl_stream_load(PawlStream* s, PawlReader* reader) {
  size_t row = (size_t)s->columns * sizeof(double);
  s->before_waits = pawl_reader_count(reader, 1) != 0;
  s->after_waits = pawl_reader_count(reader, 1) != 0;
  s->last = pawl_reader_number(reader);
  pawl_reader_take(reader, s->before, row);
  pawl_reader_take(reader, s->after, row);
}
