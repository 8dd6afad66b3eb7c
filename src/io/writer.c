// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE  // CLOCK_MONOTONIC_COARSE
#include "io/writer.h"

#include <string.h>
#include <time.h>

#include "base/alloc.h"

static const double FLUSH_INTERVAL = 1.0;  // [s] between two flushes
static const double FLUSH_SHARE = 0.1;     // of the time, at most, that flushes take

enum { FORMATS = 3, MOST_ENDINGS = 2 };

static bool always(void) {
  return true;
}

// All that is known of each format.
static const struct {
  const char* name;
  const char* endings[MOST_ENDINGS + 1];
  bool (*exists)(void);
  const PawlWriterFormat* functions;
} formats[FORMATS] = {
    [PAWL_FORMAT_CSV] = {"CSV", {".csv"}, always, &pawl_csv_format},
    [PAWL_FORMAT_HDF5] = {"HDF5", {".h5", ".hdf5"}, pawl_has_hdf5, &pawl_hdf5_format},
    [PAWL_FORMAT_REPORT] = {"report", {".html"}, always, &pawl_report_format},
};

const char* pawl_format_name(int format) {
  return format >= 0 && format < FORMATS ? formats[format].name : NULL;
}

const char* pawl_format_ending(int format, int k) {
  bool known = format >= 0 && format < FORMATS && k >= 0 && k < MOST_ENDINGS;
  return known ? formats[format].endings[k] : NULL;
}

bool pawl_format_exists(int format) {
  return format >= 0 && format < FORMATS && formats[format].exists();
}

static bool ends_in(const char* path, const char* ending) {
  size_t length = strlen(path), more = strlen(ending);
  return length > more && strcmp(path + length - more, ending) == 0;
}

int pawl_format_of(const char* path) {
  const char* ending;
  for (int format = 0; format < FORMATS; format++) {
    for (int k = 0; (ending = pawl_format_ending(format, k)); k++) {
      if (ends_in(path, ending)) {
        return format;
      }
    }
  }
  return -1;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// The same to a few milliseconds, where it costs a fifth: it is asked for every sample.
static double about_now(void) {
#ifdef CLOCK_MONOTONIC_COARSE
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
#else
  return now();
#endif
}

static char* copy(const char* text) {
  size_t length = strlen(text);
  char* out = pawl_alloc(length + 1, 1);
  if (out) {
    memcpy(out, text, length);
  }
  return out;
}

PawlStatus pawl_writer_create(PawlFormat format, const char* path, const char* columns,
                              PawlWriter** out, PawlError* err) {
  *out = NULL;
  PawlWriter* writer = pawl_alloc(1, sizeof *writer);
  if (!writer) {
    return pawl_fail_memory(err);
  }
  writer->format = formats[format].functions;
  writer->keep_part = true;
  writer->path = copy(path);
  writer->wanted = columns ? copy(columns) : NULL;
  if (!writer->path || (columns && !writer->wanted)) {
    pawl_writer_destroy(writer);
    return pawl_fail_memory(err);
  }
  *out = writer;
  return PAWL_OK;
}

PawlStatus pawl_writer_resumable(PawlWriter* writer, PawlError* err) {
  if (writer->format == &pawl_report_format) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "'%s': a report is made in one run, without checkpoints and restarts",
                     writer->path);
  }
  if (writer->format == &pawl_hdf5_format && !pawl_has_hdf5()) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "cannot write '%s': this pawl was built without HDF5",
                     writer->path);
  }
  if (writer->format == &pawl_hdf5_format) {
    writer->format = &pawl_rows_format;
  }
  return PAWL_OK;
}

void pawl_writer_forget(PawlWriter* writer) {
  if (writer->format == &pawl_rows_format && !writer->opened) {
    pawl_file_remove(writer->path, ".rows");
  }
}

static PawlStatus choose_columns(PawlWriter* writer, const PawlRecorder* recorder, PawlError* err) {
  return pawl_columns_choose(recorder, writer->wanted, &writer->columns, &writer->column_count,
                             err);
}

static PawlStatus open_file(PawlWriter* writer, const PawlRecorder* recorder, PawlError* err) {
  PAWL_TRY(writer->format->open(writer, recorder, err));
  writer->opened = true;
  writer->next_flush = now() + FLUSH_INTERVAL;
  return PAWL_OK;
}

// What costs much is flushed less often, so that a run never waits for its files most of the time.
static PawlStatus flush_when_due(PawlWriter* writer, PawlError* err) {
  if (about_now() < writer->next_flush) {
    return PAWL_OK;
  }
  double begin = now();
  PAWL_TRY(writer->format->flush(writer, err));
  double end = now(), rest = (end - begin) / FLUSH_SHARE;
  writer->next_flush = end + (rest > FLUSH_INTERVAL ? rest : FLUSH_INTERVAL);
  return PAWL_OK;
}

// A failure ends the file: later samples would leave a gap.
static PawlStatus fail(PawlWriter* writer, const PawlRecorder* recorder, PawlStatus status) {
  writer->failed = true;
  if (writer->opened) {
    writer->opened = false;
    return writer->format->close(writer, recorder, status, NULL);
  }
  return status;
}

PawlStatus pawl_writer_add(PawlWriter* writer, const PawlRecorder* recorder, const double* sample,
                           PawlError* err) {
  if (writer->failed) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "'%s' could not be written before", writer->path);
  }
  PawlStatus status = writer->opened ? PAWL_OK : choose_columns(writer, recorder, err);
  status = status || writer->opened ? status : open_file(writer, recorder, err);
  status = status ? status : writer->format->add(writer, sample, err);
  status = status ? status : flush_when_due(writer, err);
  return status == PAWL_OK ? PAWL_OK : fail(writer, recorder, status);
}

// ---- checkpoints ----------------------------------------------------------------------------
static uint64_t hash_columns(const PawlWriter* writer) {
  uint64_t hash = pawl_hash(PAWL_HASH_START, &writer->column_count, sizeof writer->column_count);
  hash = pawl_hash(hash, writer->columns, (size_t)writer->column_count * sizeof *writer->columns);
  return pawl_hash(hash, writer->format == &pawl_csv_format ? "csv" : "h5", 2);
}

PawlStatus pawl_writer_save(PawlWriter* writer, PawlBytes* bytes, PawlError* err) {
  PawlFileMark mark = {0};
  if (!writer->opened || !writer->format->file) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "'%s' is not open, or of a kind that no run can go on with", writer->path);
  }
  PAWL_TRY(writer->format->flush(writer, err));
  PAWL_TRY(pawl_file_mark(writer->format->file(writer), &mark, err));
  uint64_t columns = hash_columns(writer);
  pawl_bytes_add(bytes, &mark, sizeof mark);
  pawl_bytes_add(bytes, &columns, sizeof columns);
  pawl_bytes_text(bytes, writer->path);
  return bytes->failed ? pawl_fail_memory(err) : PAWL_OK;
}

PawlStatus pawl_writer_load(PawlWriter* writer, const PawlRecorder* recorder, PawlReader* reader,
                            PawlError* err) {
  PawlFileMark mark;
  uint64_t columns;
  pawl_reader_take(reader, &mark, sizeof mark);
  pawl_reader_take(reader, &columns, sizeof columns);
  pawl_reader_text(reader);
  PawlStatus status = choose_columns(writer, recorder, err);
  if (status == PAWL_OK && columns != hash_columns(writer)) {
    status = pawl_fail(err, PAWL_ERROR_USAGE,
                       "cannot go on with '%s': it has other columns, or is of another kind",
                       writer->path);
  }
  writer->again = &mark;
  status = status ? status : open_file(writer, recorder, err);
  writer->again = NULL;
  return status == PAWL_OK ? PAWL_OK : fail(writer, recorder, status);
}

const char* pawl_writer_saved_path(PawlReader* reader) {
  pawl_reader_skip(reader, sizeof(PawlFileMark) + sizeof(uint64_t));
  return pawl_reader_text(reader);
}

void pawl_writer_leave(PawlWriter* writer) {
  (void)!fail(writer, NULL, PAWL_STOPPED);
}

PawlStatus pawl_writer_finish(PawlWriter* writer, const PawlRecorder* recorder, PawlError* err) {
  if (writer->failed) {
    return pawl_fail(err, PAWL_ERROR_FILE,
                     "'%s' is not complete; '%s.part' holds what was written until then",
                     writer->path, writer->path);
  }
  if (!writer->opened) {
    return PAWL_OK;
  }
  writer->opened = false;
  PawlStatus status = writer->format->close(writer, recorder, PAWL_OK, err);
  writer->failed = status != PAWL_OK;
  return status;
}

void pawl_writer_destroy(PawlWriter* writer) {
  if (!writer) {
    return;
  }
  if (writer->opened) {
    writer->keep_part = false;
    (void)!writer->format->close(writer, NULL, PAWL_STOPPED, NULL);
  }
  pawl_free(writer->columns);
  pawl_free(writer->page);
  pawl_free((void*)writer->path);
  pawl_free((void*)writer->wanted);
  pawl_free(writer);
}

PawlStatus pawl_write_whole(const PawlWriterFormat* format, const PawlRecorder* recorder,
                            const char* path, PawlError* err) {
  PawlWriter writer = {.format = format, .path = path};
  PawlStatus status = choose_columns(&writer, recorder, err);
  status = status ? status : open_file(&writer, recorder, err);
  int samples = status == PAWL_OK ? pawl_recorder_sample_count(recorder) : 0;
  for (int i = 0; status == PAWL_OK && i < samples; i++) {
    status = format->add(&writer, pawl_recorder_sample(recorder, i), err);
  }
  if (writer.opened) {
    status = format->close(&writer, recorder, status, err);
  }
  pawl_free(writer.columns);
  return status;
}
