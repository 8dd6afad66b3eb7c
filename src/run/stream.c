// SPDX-License-Identifier: Apache-2.0
// Invariant: the sides of an instant wait, if at all, for the sample that follows them; nothing
// else is held back.
#include "run/stream.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "model/model.h"
#include "run/recorder.h"
#include "switch/tolerances.h"
#include "system/system.h"

struct PawlStream {
  const PawlSystem* system;
  PawlObserver* observer;
  PawlRecorder* recorder;
  bool keeps;              // all that is passed on goes to the recorder
  PawlOnSample on_sample;  // NULL: nobody is told
  void* context;
  int columns;
  double *before, *after;  // sides of the present instant
  bool before_waits, after_waits;
  double last;  // time of the newest sample, passed on or waiting; NaN before the first
};

PawlStatus pawl_stream_create(const PawlSystem* system, PawlObserver* observer,
                              PawlRecorder* recorder, const PawlSimDef* def, PawlStream** out,
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
                    def->keep_samples && def->keep_sides,
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
  return fabs(a - b) <= PAWL_STREAM_SAME_TIME * fmax(fabs(a), fabs(b));
}

static PawlStatus pass_on(PawlStream* s, const double* sample, PawlError* err) {
  s->last = sample[0];
  if (s->keeps) {
    PAWL_TRY(pawl_recorder_put(s->recorder, sample, err));
  }
  return s->on_sample ? s->on_sample(s->context, s->recorder, sample, err) : PAWL_OK;
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

// What has no value on a side: works, which are those of the end of a step, and, unless they are
// known, accelerations and all that is made of them.
static void forget(const PawlStream* s, bool known, double* sample) {
  int output = 0;
  for (int j = 0; j < s->columns; j++) {
    const PawlColumn* column = pawl_recorder_column(s->recorder, j);
    bool reacts = column->kind == PAWL_COLUMN_ACCELERATION ||
                  column->kind == PAWL_COLUMN_STATE_RATE ||
                  column->kind == PAWL_COLUMN_MULTIPLIER ||
                  strcmp(column->name, "residual.acceleration") == 0 ||
                  (column->kind == PAWL_COLUMN_OUTPUT && output_reacts(s->system, output++));
    bool unknown = column->kind == PAWL_COLUMN_WORK || (reacts && !known);
    sample[j] = unknown ? NAN : sample[j];
  }
}

static bool all_known(int count, const double* x) {
  bool known = true;
  for (int k = 0; k < count; k++) {
    known &= !isnan(x[k]);
  }
  return known;
}

// One side of an instant. False when something has no value there; it is then left out.
static bool see(PawlStream* s, const PawlState* state, const PawlInstant* instant, bool after,
                double* velocity, double* sample) {
  PawlState side = *state;
  PawlObservation seen;
  PawlSizes n = pawl_system_sizes(s->system);
  double* a = (double*)(after ? instant->a_after : instant->a_before);
  double* lambda = (double*)(after ? instant->lambda_after : instant->lambda_before);
  bool known = all_known(n.v, a) && all_known(n.rows, lambda);
  side.t = instant->t;
  side.q = (double*)instant->q;
  side.v = (double*)(after ? instant->v_after : instant->v_before);
  side.modes = (int*)(after ? instant->to : instant->from);
  if (known) {
    side.a = a;
    side.lambda = lambda;
    side.held = (double*)(after ? instant->held_after : instant->held_before);
  }
  // Where a path crosses the boundary of a contact, it is its own projection.
  if (pawl_observe(s->observer, &side, (PawlSight){.path = instant->q}, sample, &seen, NULL) !=
      PAWL_OK) {
    return false;
  }
  *velocity = fmax(*velocity, seen.residual[1]);
  forget(s, known, sample);
  return true;
}

PawlStatus pawl_stream_instant(PawlStream* s, const PawlState* state, const PawlInstant* instant,
                               double* velocity, PawlError* err) {
  if ((instant->event >= 0 && !instant->pushed && !instant->assigned) || instant->refused >= 0 ||
      instant->seen) {
    return PAWL_OK;  // nothing jumps
  }
  if (!s->keeps && !s->on_sample && pawl_system_sizes(s->system).rows == 0) {
    return PAWL_OK;  // and here nobody would know of it
  }
  bool again = same_time(s->last, instant->t);
  if (!again) {
    PAWL_TRY(pawl_stream_end(s, err));
    s->before_waits = see(s, state, instant, false, velocity, s->before);
  }
  s->after_waits = see(s, state, instant, true, velocity, s->after);
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
