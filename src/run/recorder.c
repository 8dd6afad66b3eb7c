// SPDX-License-Identifier: Apache-2.0
// Samples are kept by rows in chunks of equal size. A chunk never moves, so growing copies nothing
// but the short list of chunks, and a sample stays where it is until the recorder is destroyed.
// Each event is one piece of an arena: the structure, its arrays and its names behind each other.
// Invariant: a call that fails leaves the recorder as it was.
#include "run/recorder.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/text.h"

enum { CHUNK_BYTES = 1 << 17 };  // aimed at; a longer row has a chunk of its own

typedef struct Fact {
  const char *name, *value;
  bool is_number;
  double number;
} Fact;

struct PawlRecorder {
  PawlArena arena;  // columns, events, texts
  int column_count;
  PawlColumn* columns;
  size_t limit_bytes;
  int rows_in_chunk;
  int sample_count, chunk_count, chunk_capacity;
  double** chunks;
  int most;  // samples kept before they are put together; 0: all are kept
  int group,
      last;  // samples to a group of two rows, 0: none are grouped; of them in the last group
  int event_count, event_capacity;
  const PawlEvent** events;
  int fact_count, fact_capacity;
  Fact* facts;
  int fact_slots;  // 0 or a power of two, at least twice the facts
  int* fact_at;    // (fact_slots) 1 + the fact by the hash of its name, 0: none
};

static const char* copy_text(PawlArena* arena, const char* text) {
  text = text ? text : "";
  return pawl_arena_copy(arena, text, strlen(text));
}

static PawlStatus copy_columns(PawlRecorder* recorder, const PawlColumn* columns, PawlError* err) {
  int count = recorder->column_count;
  recorder->columns = PAWL_NEW(&recorder->arena, PawlColumn, count);
  if (!recorder->columns) {
    return pawl_fail_memory(err);
  }
  for (int i = 0; i < count; i++) {
    PawlColumn* column = &recorder->columns[i];
    column->kind = columns[i].kind;
    column->name = copy_text(&recorder->arena, columns[i].name);
    column->unit = copy_text(&recorder->arena, columns[i].unit);
    if (!column->name || !column->unit) {
      return pawl_fail_memory(err);
    }
  }
  return PAWL_OK;
}

static size_t row_bytes(const PawlRecorder* recorder) {
  return (size_t)(recorder->column_count > 0 ? recorder->column_count : 1) * sizeof(double);
}

PawlStatus pawl_recorder_create(int column_count, const PawlColumn* columns, size_t limit_bytes,
                                PawlRecorder** out, PawlError* err) {
  *out = NULL;
  if (column_count < 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "recorder: %d columns, must be >= 0", column_count);
  }
  PawlRecorder* recorder = pawl_alloc(1, sizeof *recorder);
  if (!recorder) {
    return pawl_fail_memory(err);
  }
  recorder->column_count = column_count;
  recorder->limit_bytes = limit_bytes;
  size_t rows = CHUNK_BYTES / row_bytes(recorder);
  recorder->rows_in_chunk = rows > 0 ? (int)rows : 1;
  PawlStatus status = copy_columns(recorder, columns, err);
  if (status != PAWL_OK) {
    pawl_recorder_destroy(recorder);
    return status;
  }
  *out = recorder;
  return PAWL_OK;
}

void pawl_recorder_destroy(PawlRecorder* recorder) {
  if (!recorder) {
    return;
  }
  for (int i = 0; i < recorder->chunk_count; i++) {
    pawl_free(recorder->chunks[i]);
  }
  pawl_free(recorder->chunks);
  pawl_free(recorder->events);
  pawl_free(recorder->facts);
  pawl_free(recorder->fact_at);
  pawl_arena_free(&recorder->arena);
  pawl_free(recorder);
}

static double* row(const PawlRecorder* recorder, int sample) {
  int chunk = sample / recorder->rows_in_chunk;
  int within = sample % recorder->rows_in_chunk;
  return recorder->chunks[chunk] + (size_t)within * (size_t)recorder->column_count;
}

static PawlStatus add_chunk(PawlRecorder* recorder, PawlError* err) {
  if (PAWL_GROW(recorder->chunks, recorder->chunk_capacity, recorder->chunk_count + 1) != 0) {
    return pawl_fail_memory(err);
  }
  double* chunk = pawl_alloc((size_t)recorder->rows_in_chunk, row_bytes(recorder));
  if (!chunk) {
    return pawl_fail_memory(err);
  }
  recorder->chunks[recorder->chunk_count++] = chunk;
  return PAWL_OK;
}

PawlStatus pawl_recorder_add(PawlRecorder* recorder, double** sample, PawlError* err) {
  size_t most = recorder->limit_bytes / row_bytes(recorder);
  if ((size_t)recorder->sample_count >= most || recorder->sample_count == INT_MAX) {
    return pawl_fail(err, PAWL_ERROR_MEMORY,
                     "the record is full: %d samples of %d columns, limit %.3g MB; set 'record' to "
                     "a longer time between samples, or end the run earlier",
                     recorder->sample_count, recorder->column_count,
                     (double)recorder->limit_bytes / 1e6);
  }
  if (recorder->sample_count / recorder->rows_in_chunk == recorder->chunk_count) {
    PAWL_TRY(add_chunk(recorder, err));
  }
  *sample = row(recorder, recorder->sample_count++);
  return PAWL_OK;
}

// ---- thinning -----------------------------------------------------------------------------------
// One more value into a group, whose extremes are *first and *second in their order.
static void fold(double* first, double* second, double value) {
  if (isnan(value)) {
    return;
  }
  double least = fmin(*first, *second), greatest = fmax(*first, *second);
  if (isnan(*first) && isnan(*second)) {
    *first = *second = value;
  } else if (value < least) {
    *first = greatest;
    *second = value;
  } else if (value > greatest) {
    *first = least;
    *second = value;
  }
}

static void fold_sample(PawlRecorder* recorder, int into, const double* sample) {
  double *first = row(recorder, into), *second = row(recorder, into + 1);
  for (int j = 0; j < recorder->column_count; j++) {
    fold(&first[j], &second[j], sample[j]);
  }
}

// Every four rows become two, and groups hold twice as many samples.
static void halve(PawlRecorder* recorder) {
  int groups = recorder->sample_count / 4;
  for (int k = 0; k < groups; k++) {
    for (int i = 0; i < 2; i++) {
      memmove(row(recorder, 2 * k + i), row(recorder, 4 * k + i), row_bytes(recorder));
    }
    for (int i = 2; i < 4; i++) {
      fold_sample(recorder, 2 * k, row(recorder, 4 * k + i));
    }
  }
  recorder->sample_count = 2 * groups;
  recorder->group = recorder->group > 0 ? 2 * recorder->group : 4;
  recorder->last = recorder->group;
}

void pawl_recorder_thin(PawlRecorder* recorder, int most) {
  size_t limit = recorder->limit_bytes / row_bytes(recorder);
  most = (size_t)most < limit ? most : (int)limit;
  recorder->most = most < 4 ? 4 : most - most % 4;
}

void pawl_recorder_grouping(const PawlRecorder* recorder, int* group, int* last) {
  *group = recorder->group;
  *last = recorder->last;
}

void pawl_recorder_set_grouping(PawlRecorder* recorder, int group, int last) {
  recorder->group = group;
  recorder->last = last;
}

// A group is two rows from its first sample on.
static PawlStatus put_grouped(PawlRecorder* recorder, const double* sample, PawlError* err) {
  if (recorder->last < recorder->group) {
    fold_sample(recorder, recorder->sample_count - 2, sample);
    recorder->last++;
    return PAWL_OK;
  }
  for (int i = 0; i < 2; i++) {
    double* at;
    PAWL_TRY(pawl_recorder_add(recorder, &at, err));
    memcpy(at, sample, (size_t)recorder->column_count * sizeof(double));
  }
  recorder->last = 1;
  return PAWL_OK;
}

PawlStatus pawl_recorder_put(PawlRecorder* recorder, const double* sample, PawlError* err) {
  double* at;
  if (recorder->most > 0 && recorder->sample_count >= recorder->most &&
      recorder->last == recorder->group && recorder->group <= INT_MAX / 2) {
    halve(recorder);
  }
  if (recorder->group > 0) {
    return put_grouped(recorder, sample, err);
  }
  PAWL_TRY(pawl_recorder_add(recorder, &at, err));
  memcpy(at, sample, (size_t)recorder->column_count * sizeof(double));
  return PAWL_OK;
}

static const double* put_numbers(double** at, const double* from, int count) {
  double* copy = *at;
  if (count > 0) {
    memcpy(copy, from, (size_t)count * sizeof *copy);
  }
  *at += count;
  return copy;
}

static const char* put_text(char** at, const char* from, size_t length) {
  char* copy = *at;
  memcpy(copy, from, length);
  *at += length + 1;
  return copy;
}

// Whether the velocities of an event are those of the one before: many contacts may change at once.
static bool has_velocities_of(const PawlEvent* last, const PawlEvent* event) {
  size_t bytes = (size_t)event->v_count * sizeof(double);
  return last && last->t == event->t && last->v_count == event->v_count && event->v_count > 0 &&
         memcmp(last->v_before, event->v_before, bytes) == 0 &&
         memcmp(last->v_after, event->v_after, bytes) == 0;
}

static const PawlEvent* copy_event(PawlArena* arena, const PawlEvent* event,
                                   const PawlEvent* last) {
  const char* constraint = event->constraint ? event->constraint : "";
  const char* from = event->from ? event->from : "";
  const char* to = event->to ? event->to : "";
  size_t lengths[3] = {strlen(constraint), strlen(from), strlen(to)};
  bool shared = has_velocities_of(last, event);
  size_t rates = shared ? 0 : 2 * (size_t)event->v_count;
  size_t numbers = ((size_t)event->row_count + rates) * sizeof(double);
  size_t texts = lengths[0] + lengths[1] + lengths[2] + 3;
  PawlEvent* copy = pawl_arena_alloc(arena, 1, sizeof *copy + numbers + texts);
  if (!copy) {
    return NULL;
  }
  *copy = *event;
  double* number = (double*)(void*)(copy + 1);
  copy->impulse = put_numbers(&number, event->impulse, event->row_count);
  copy->v_before = shared ? last->v_before : put_numbers(&number, event->v_before, event->v_count);
  copy->v_after = shared ? last->v_after : put_numbers(&number, event->v_after, event->v_count);
  char* text = (char*)number;
  copy->constraint = put_text(&text, constraint, lengths[0]);
  copy->from = put_text(&text, from, lengths[1]);
  copy->to = put_text(&text, to, lengths[2]);
  return copy;
}

PawlStatus pawl_recorder_add_event(PawlRecorder* recorder, const PawlEvent* event, PawlError* err) {
  if (event->row_count < 0 || event->v_count < 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "event with %d rows and %d rates, must be >= 0",
                     event->row_count, event->v_count);
  }
  if (recorder->event_count == INT_MAX ||
      PAWL_GROW(recorder->events, recorder->event_capacity, recorder->event_count + 1) != 0) {
    return pawl_fail_memory(err);
  }
  const PawlEvent* last =
      recorder->event_count > 0 ? recorder->events[recorder->event_count - 1] : NULL;
  const PawlEvent* copy = copy_event(&recorder->arena, event, last);
  if (!copy) {
    return pawl_fail_memory(err);
  }
  recorder->events[recorder->event_count++] = copy;
  return PAWL_OK;
}

// Where the fact of this name is, or would be. There must be slots, and one of them empty.
static int* slot_of(const PawlRecorder* recorder, const char* name) {
  uint64_t mask = (uint64_t)recorder->fact_slots - 1;
  uint64_t k = pawl_hash(PAWL_HASH_START, name, strlen(name)) & mask;
  while (recorder->fact_at[k] &&
         strcmp(recorder->facts[recorder->fact_at[k] - 1].name, name) != 0) {
    k = (k + 1) & mask;
  }
  return &recorder->fact_at[k];
}

static Fact* find_fact(PawlRecorder* recorder, const char* name) {
  int fact = recorder->fact_slots > 0 ? *slot_of(recorder, name) : 0;
  return fact ? &recorder->facts[fact - 1] : NULL;
}

// Makes room for one more fact.
static bool make_slots(PawlRecorder* recorder) {
  if (recorder->fact_slots > 2 * recorder->fact_count + 1) {
    return true;
  }
  int slots = recorder->fact_slots > 0 ? 2 * recorder->fact_slots : 64;
  int* at = recorder->fact_count < INT_MAX / 8 ? pawl_alloc((size_t)slots, sizeof *at) : NULL;
  if (!at) {
    return false;
  }
  pawl_free(recorder->fact_at);
  recorder->fact_at = at;
  recorder->fact_slots = slots;
  for (int i = 0; i < recorder->fact_count; i++) {
    *slot_of(recorder, recorder->facts[i].name) = i + 1;
  }
  return true;
}

// A name given again replaces its value, so that each fact is there once.
PawlStatus pawl_recorder_add_fact(PawlRecorder* recorder, const char* name, const char* value,
                                  PawlError* err) {
  const char* value_copy = copy_text(&recorder->arena, value);
  if (!value_copy) {
    return pawl_fail_memory(err);
  }
  Fact* known = find_fact(recorder, name);
  if (known) {
    *known = (Fact){known->name, value_copy, false, 0.0};
    return PAWL_OK;
  }
  const char* name_copy = copy_text(&recorder->arena, name);
  if (!name_copy || !make_slots(recorder) ||
      PAWL_GROW(recorder->facts, recorder->fact_capacity, recorder->fact_count + 1) != 0) {
    return pawl_fail_memory(err);
  }
  *slot_of(recorder, name) = recorder->fact_count + 1;
  recorder->facts[recorder->fact_count++] = (Fact){name_copy, value_copy, false, 0.0};
  return PAWL_OK;
}

PawlStatus pawl_recorder_add_number(PawlRecorder* recorder, const char* name, double value,
                                    PawlError* err) {
  PawlText text = {0};
  pawl_text_number(&text, value);
  PawlStatus status =
      text.failed ? pawl_fail_memory(err) : pawl_recorder_add_fact(recorder, name, text.s, err);
  pawl_text_free(&text);
  if (status == PAWL_OK) {
    Fact* fact = find_fact(recorder, name);
    fact->is_number = true;
    fact->number = value;
  }
  return status;
}

int pawl_recorder_column_count(const PawlRecorder* recorder) {
  return recorder->column_count;
}

const PawlColumn* pawl_recorder_column(const PawlRecorder* recorder, int column) {
  return column >= 0 && column < recorder->column_count ? &recorder->columns[column] : NULL;
}

int pawl_recorder_sample_count(const PawlRecorder* recorder) {
  return recorder->sample_count;
}

const double* pawl_recorder_sample(const PawlRecorder* recorder, int sample) {
  return sample >= 0 && sample < recorder->sample_count ? row(recorder, sample) : NULL;
}

int pawl_recorder_event_count(const PawlRecorder* recorder) {
  return recorder->event_count;
}

const PawlEvent* pawl_recorder_event(const PawlRecorder* recorder, int event) {
  return event >= 0 && event < recorder->event_count ? recorder->events[event] : NULL;
}

const char* pawl_recorder_fact_name(const PawlRecorder* recorder, int fact) {
  return fact >= 0 && fact < recorder->fact_count ? recorder->facts[fact].name : NULL;
}

const char* pawl_recorder_fact_value(const PawlRecorder* recorder, int fact) {
  return fact >= 0 && fact < recorder->fact_count ? recorder->facts[fact].value : NULL;
}

bool pawl_recorder_fact_number(const PawlRecorder* recorder, int fact, double* number) {
  if (fact < 0 || fact >= recorder->fact_count || !recorder->facts[fact].is_number) {
    return false;
  }
  *number = recorder->facts[fact].number;
  return true;
}
