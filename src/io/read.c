// SPDX-License-Identifier: Apache-2.0
// Reading a run by the ending of its file. A sample before the window and one behind it are kept,
// so that a curve reaches the ends of the window.
#include "io/read.h"

#include <string.h>

#include "base/alloc.h"
#include "pawl/plot.h"
#include "pawl/report.h"

static const size_t LIMIT_BYTES = (size_t)512 << 20;

PawlStatus pawl_read_begin(PawlReadSink* sink, int column_count, const PawlColumn* columns,
                           PawlError* err) {
  sink->time = -1;
  for (int j = column_count - 1; j >= 0; j--) {
    sink->time = columns[j].kind == PAWL_COLUMN_TIME ? j : sink->time;
  }
  PAWL_TRY(pawl_recorder_create(column_count, columns, LIMIT_BYTES, &sink->recorder, err));
  pawl_recorder_thin(sink->recorder, sink->most);
  sink->before = pawl_alloc((size_t)column_count + 1, sizeof(double));
  return sink->before ? PAWL_OK : pawl_fail_memory(err);
}

PawlStatus pawl_read_sample(PawlReadSink* sink, const double* sample, PawlError* err) {
  double t = sink->time >= 0 ? sample[sink->time] : sink->from;
  if (sink->done) {
    return PAWL_OK;
  }
  if (t < sink->from) {
    int columns = pawl_recorder_column_count(sink->recorder);
    memcpy(sink->before, sample, (size_t)columns * sizeof *sample);
    sink->waiting = true;
    return PAWL_OK;
  }
  if (sink->waiting) {
    PAWL_TRY(pawl_recorder_put(sink->recorder, sink->before, err));
    sink->waiting = false;
  }
  sink->done = t > sink->to;
  return pawl_recorder_put(sink->recorder, sample, err);
}

// By the ending, also of a file that is still written (.part); -1: none.
static int format_of(const char* path) {
  char name[16] = "";
  size_t length = strlen(path);
  if (length > 5 && strcmp(path + length - 5, ".part") == 0) {
    size_t more = length - 5 < sizeof name - 1 ? length - 5 : sizeof name - 1;
    memcpy(name, path + length - 5 - more, more);
    return pawl_format_of(name);
  }
  return pawl_format_of(path);
}

// A run without samples, of a file or of a window, can only be a mistake.
static PawlStatus check_samples(const PawlReadSink* sink, PawlError* err) {
  if (pawl_recorder_sample_count(sink->recorder) > 0) {
    return PAWL_OK;
  }
  if (sink->waiting) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "'%s' ends at %g s, before the window, from %g s on",
                     sink->path, sink->before[sink->time], sink->from);
  }
  return pawl_fail(err, PAWL_ERROR_USAGE,
                   "'%s' has names of columns and no samples; run the model again with -o %s",
                   sink->path, sink->path);
}

PawlStatus pawl_run_read(const char* path, double from, double to, int most, PawlRecorder** out,
                         PawlError* err) {
  PawlReadSink sink = {.path = path, .from = from, .to = to, .most = most};
  *out = NULL;
  int format = format_of(path);
  if (format != PAWL_FORMAT_CSV && format != PAWL_FORMAT_HDF5) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "cannot read '%s': its name must end in .csv or .h5",
                     path);
  }
  PawlStatus status =
      format == PAWL_FORMAT_CSV ? pawl_csv_load(&sink, err) : pawl_hdf5_load(&sink, err);
  status = status ? status : check_samples(&sink, err);
  pawl_free(sink.before);
  if (status != PAWL_OK) {
    pawl_recorder_destroy(sink.recorder);
    return status;
  }
  *out = sink.recorder;
  return PAWL_OK;
}

void pawl_run_free(PawlRecorder* run) {
  pawl_recorder_destroy(run);
}
