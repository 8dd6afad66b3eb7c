// SPDX-License-Identifier: Apache-2.0
// Samples as plain numbers in NAME.rows, row behind row, which can be cut back anywhere; closing
// makes the HDF5 file NAME of them. It has the same bytes however often the run was interrupted.
#include <string.h>

#include "base/alloc.h"
#include "io/file.h"
#include "io/writer.h"

enum { BLOCK_BYTES = 1 << 16 };  // gathered between two writes
enum { TILE_ROWS = 1024 };       // read at once

typedef struct Rows {
  PawlFile file;
  char* block;  // room for BLOCK_BYTES and one row
  size_t used;
} Rows;

static size_t row_bytes(const PawlWriter* writer) {
  return (size_t)writer->column_count * sizeof(double);
}

static void destroy(Rows* rows) {
  pawl_free(rows->block);
  pawl_free(rows);
}

// ---- going on -----------------------------------------------------------------------------------
// Rows `first` .. `first + count` of the complete HDF5 file, written to NAME.rows.
static PawlStatus copy_tile(const PawlWriter* writer, Rows* rows, double* tile, uint64_t first,
                            int count, PawlError* err) {
  if (!pawl_hdf5_read(writer->path, first, count, writer->column_count, tile)) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "cannot go on with '%s': neither it nor '%s.rows' holds what the run wrote",
                     writer->path, writer->path);
  }
  PawlStatus status = PAWL_OK;
  for (int i = 0; status == PAWL_OK && i < count; i++) {
    for (int j = 0; j < writer->column_count; j++) {
      const double* value = tile + (size_t)j * (size_t)count + i;
      memcpy(rows->block + (size_t)j * sizeof *value, value, sizeof *value);
    }
    status = pawl_file_write(&rows->file, rows->block, row_bytes(writer), err);
  }
  return status;
}

static PawlStatus copy_rows(const PawlWriter* writer, Rows* rows, double* tile, PawlError* err) {
  uint64_t count = row_bytes(writer) ? writer->again->length / row_bytes(writer) : 0;
  PawlFileMark mark;
  for (uint64_t first = 0; first < count; first += TILE_ROWS) {
    int some = count - first < TILE_ROWS ? (int)(count - first) : TILE_ROWS;
    PAWL_TRY(copy_tile(writer, rows, tile, first, some, err));
  }
  PAWL_TRY(pawl_file_mark(&rows->file, &mark, err));
  return mark.length == writer->again->length && mark.sum == writer->again->sum
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_USAGE,
                         "cannot go on with '%s': it is not the file that the run wrote",
                         writer->path);
}

// NAME.rows anew, from the HDF5 file of a run that came to its end.
static PawlStatus rows_from_hdf5(const PawlWriter* writer, Rows* rows, PawlError* err) {
  double* tile = pawl_alloc(TILE_ROWS * row_bytes(writer), 1);
  PawlStatus status =
      tile ? pawl_file_open_beside(&rows->file, writer->path, ".rows", err) : pawl_fail_memory(err);
  if (status == PAWL_OK) {
    status = copy_rows(writer, rows, tile, err);
    status = status ? pawl_file_close(&rows->file, status, err) : PAWL_OK;
  }
  pawl_free(tile);
  return status;
}

static PawlStatus open_file(const PawlWriter* writer, Rows* rows, PawlError* err) {
  if (!writer->again) {
    return pawl_file_open_beside(&rows->file, writer->path, ".rows", err);
  }
  PawlStatus status = pawl_file_open_again(&rows->file, writer->path, ".rows", writer->again, err);
  return status == PAWL_ERROR_USAGE ? rows_from_hdf5(writer, rows, err) : status;
}

// ---- the format ---------------------------------------------------------------------------------
static PawlStatus open_rows(PawlWriter* writer, const PawlRecorder* recorder, PawlError* err) {
  (void)recorder;
  Rows* rows = pawl_alloc(1, sizeof *rows);
  if (!rows) {
    return pawl_fail_memory(err);
  }
  rows->block = pawl_alloc(BLOCK_BYTES + row_bytes(writer), 1);
  PawlStatus status = rows->block ? open_file(writer, rows, err) : pawl_fail_memory(err);
  if (status != PAWL_OK) {
    destroy(rows);
    return status;
  }
  writer->data = rows;
  return PAWL_OK;
}

static PawlStatus flush_rows(PawlWriter* writer, PawlError* err) {
  Rows* rows = writer->data;
  PawlStatus status = pawl_file_write(&rows->file, rows->block, rows->used, err);
  rows->used = 0;
  return status;
}

static PawlStatus add_rows(PawlWriter* writer, const double* sample, PawlError* err) {
  Rows* rows = writer->data;
  for (int j = 0; j < writer->column_count; j++) {
    memcpy(rows->block + rows->used, &sample[writer->columns[j]], sizeof *sample);
    rows->used += sizeof *sample;
  }
  return rows->used < BLOCK_BYTES ? PAWL_OK : flush_rows(writer, err);
}

// ---- the HDF5 file ------------------------------------------------------------------------------
// One row after the other goes to `to` as the sample that it was made of. rows->block is free.
static PawlStatus pass_rows(Rows* rows, PawlWriter* to, double* sample, PawlError* err) {
  size_t row = row_bytes(to);
  PawlFileMark mark;
  PAWL_TRY(pawl_file_mark(&rows->file, &mark, err));
  for (uint64_t at = 0; row > 0 && at + row <= mark.length; at += row) {
    PAWL_TRY(pawl_file_read(&rows->file, at, rows->block, row, err));
    for (int j = 0; j < to->column_count; j++) {
      memcpy(&sample[to->columns[j]], rows->block + (size_t)j * sizeof *sample, sizeof *sample);
    }
    PAWL_TRY(to->format->add(to, sample, err));
  }
  return PAWL_OK;
}

static PawlStatus make_hdf5(const PawlWriter* writer, const PawlRecorder* recorder,
                            PawlError* err) {
  PawlWriter to = {.format = &pawl_hdf5_format,
                   .path = writer->path,
                   .column_count = writer->column_count,
                   .columns = writer->columns};
  double* sample = pawl_alloc((size_t)pawl_recorder_column_count(recorder), sizeof *sample);
  PawlStatus status = sample ? to.format->open(&to, recorder, err) : pawl_fail_memory(err);
  if (status == PAWL_OK) {
    status = pass_rows(writer->data, &to, sample, err);
    status = to.format->close(&to, recorder, status, err);
  }
  pawl_free(sample);
  return status;
}

static PawlStatus close_rows(PawlWriter* writer, const PawlRecorder* recorder, PawlStatus so_far,
                             PawlError* err) {
  Rows* rows = writer->data;
  PawlStatus status = so_far ? so_far : flush_rows(writer, err);
  status = status ? status : make_hdf5(writer, recorder, err);
  if (status == PAWL_OK || writer->keep_part) {
    pawl_file_leave(&rows->file);
  } else {
    status = pawl_file_close(&rows->file, status, err);
  }
  destroy(rows);
  return status;
}

static PawlFile* file_rows(const PawlWriter* writer) {
  Rows* rows = writer->data;
  return &rows->file;
}

const PawlWriterFormat pawl_rows_format = {open_rows, add_rows, flush_rows, close_rows, file_rows};
