// SPDX-License-Identifier: Apache-2.0
// Reading trajectories back, sample by sample, into a recorder that keeps what a picture needs.
#pragma once

#include "run/recorder.h"

// Where samples go that a file is read into. The recorder is made by the format, once it knows the
// columns.
typedef struct PawlReadSink {
  const char* path;
  double from, to;  // times wanted [s]
  int most;         // samples kept before they are grouped
  PawlRecorder* recorder;
  int time;            // its column, -1 without
  double* before;      // the last sample before the window
  bool waiting, done;  // there is one; the first sample behind the window is in
} PawlReadSink;

PAWL_CHECKED PawlStatus pawl_read_begin(PawlReadSink* sink, int column_count,
                                        const PawlColumn* columns, PawlError* err);
PAWL_CHECKED PawlStatus pawl_read_sample(PawlReadSink* sink, const double* sample, PawlError* err);

PAWL_CHECKED PawlStatus pawl_csv_load(PawlReadSink* sink, PawlError* err);
PAWL_CHECKED PawlStatus pawl_hdf5_load(PawlReadSink* sink, PawlError* err);
