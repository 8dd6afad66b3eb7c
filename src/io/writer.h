// SPDX-License-Identifier: Apache-2.0
// What is common to the formats that are written sample by sample: which columns, and when what was
// gathered goes to the disk. A format fills the table of functions.
#pragma once

#include <stdbool.h>

#include "base/bytes.h"
#include "base/error.h"
#include "io/file.h"
#include "pawl/report.h"

typedef struct PawlWriterFormat {
  // Opens the file and makes writer->data; on failure there is nothing to close.
  PawlStatus (*open)(PawlWriter* writer, const PawlRecorder* recorder, PawlError* err);
  PawlStatus (*add)(PawlWriter* writer, const double* sample, PawlError* err);
  // Brings everything to the disk, in a form that can be read.
  PawlStatus (*flush)(PawlWriter* writer, PawlError* err);
  // With `so_far` PAWL_OK completes the file under its name, else removes it or, with
  // writer->keep_part, leaves it. Frees writer->data in any case.
  PawlStatus (*close)(PawlWriter* writer, const PawlRecorder* recorder, PawlStatus so_far,
                      PawlError* err);
  // The file that samples go to after a flush, for formats that can go on after a kill; else NULL.
  PawlFile* (*file)(const PawlWriter* writer);
} PawlWriterFormat;
// HDF5 cannot be cut back after a kill: pawl_rows_format gathers samples in NAME.rows and makes the
// HDF5 file of them when it closes.
extern const PawlWriterFormat pawl_csv_format, pawl_hdf5_format, pawl_rows_format,
    pawl_report_format;

// Rows `first` .. `first + count` of a complete HDF5 file, by columns, `count` numbers each. False
// when it cannot be read, or is shorter.
bool pawl_hdf5_read(const char* path, uint64_t first, int count, int column_count, double* values);

struct PawlWriter {
  const PawlWriterFormat* format;
  const char *path, *wanted;  // copies; wanted NULL: every column
  bool opened, failed;
  bool keep_part;             // a failure leaves what was written
  int column_count;           // that are written
  int* columns;               // of the recorder; made with the first sample
  void* data;                 // of the format
  double next_flush;          // [s], on the monotonic clock
  const PawlFileMark* again;  // while it opens: where to go on; NULL for a fresh file
  // of reports
  PawlReportDef report;
  char* page;             // its text
  const char* page_mark;  // in it
  const char* summary;    // borrowed; NULL without
  const PawlState* end;   // borrowed; NULL without
};

// For checkpoints: flushes, and adds how far the file is; opens the file again there. Other columns
// than before are PAWL_ERROR_USAGE.
PAWL_CHECKED PawlStatus pawl_writer_save(PawlWriter* writer, PawlBytes* bytes, PawlError* err);
PAWL_CHECKED PawlStatus pawl_writer_load(PawlWriter* writer, const PawlRecorder* recorder,
                                         PawlReader* reader, PawlError* err);
// Of one that was saved, and for which no writer is there, the path.
const char* pawl_writer_saved_path(PawlReader* reader);
// Ends the file and leaves what it holds, for another restart.
void pawl_writer_leave(PawlWriter* writer);

// The columns of the recorder that `wanted` names, to be freed.
PAWL_CHECKED PawlStatus pawl_columns_choose(const PawlRecorder* recorder, const char* wanted,
                                            int** columns, int* count, PawlError* err);

// "coordinate", as HDF5 files call a kind; "" past the last.
const char* pawl_kind_name(PawlColumnKind kind);

// A recorder with its samples, whole or not at all.
PAWL_CHECKED PawlStatus pawl_write_whole(const PawlWriterFormat* format,
                                         const PawlRecorder* recorder, const char* path,
                                         PawlError* err);
