// SPDX-License-Identifier: Apache-2.0
// Filling a recorder (private side of pawl/recorder.h).
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "pawl/recorder.h"

// Copies the columns. `limit_bytes` bounds the samples kept; one more is PAWL_ERROR_MEMORY with a
// message that says how to record less.
PAWL_CHECKED PawlStatus pawl_recorder_create(int column_count, const PawlColumn* columns,
                                             size_t limit_bytes, PawlRecorder** out,
                                             PawlError* err);
void pawl_recorder_destroy(PawlRecorder* recorder);  // NULL is allowed
// Room for one more sample, to be filled by the caller (column_count values, not initialised).
PAWL_CHECKED PawlStatus pawl_recorder_add(PawlRecorder* recorder, double** sample, PawlError* err);
// Copies a sample of column_count values.
PAWL_CHECKED PawlStatus pawl_recorder_put(PawlRecorder* recorder, const double* sample,
                                          PawlError* err);
// From now on at most about `most` samples are kept: when there are more, neighbours are put
// together in groups, and of each column the least and the greatest value of a group stay, in their
// order, in two samples. Enough for a picture; no spike is lost, and memory is bounded.
void pawl_recorder_thin(PawlRecorder* recorder, int most);
// How samples are grouped, for one that goes on as another did: samples to a group, and how many
// the last group has; 0 while all are kept.
void pawl_recorder_grouping(const PawlRecorder* recorder, int* group, int* last);
void pawl_recorder_set_grouping(PawlRecorder* recorder, int group, int last);
// Copies the event.
PAWL_CHECKED PawlStatus pawl_recorder_add_event(PawlRecorder* recorder, const PawlEvent* event,
                                                PawlError* err);
PAWL_CHECKED PawlStatus pawl_recorder_add_fact(PawlRecorder* recorder, const char* name,
                                               const char* value, PawlError* err);
PAWL_CHECKED PawlStatus pawl_recorder_add_number(PawlRecorder* recorder, const char* name,
                                                 double value, PawlError* err);
