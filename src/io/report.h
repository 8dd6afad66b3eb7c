// SPDX-License-Identifier: Apache-2.0
// The parts of a report (report.c): what is kept of a run, and how it is written into the page.
#pragma once

#include "base/text.h"
#include "io/thin.h"
#include "io/writer.h"
#include "system/scene.h"

typedef struct PawlReportData {
  PawlFile file;
  PawlScene* scene;
  bool scene_too_large;  // to be shown
  PawlThin* curves;
  PawlFrames* frames;
  int column_count;  // shown
  int* columns;      // of the recorder
  double* row;       // of the curves
  double* previous;  // sample, which waits until it is known whether a jump follows
  int width;         // of a sample
  bool any, jumped;  // there is a previous sample; it is the side behind a jump
  int first_q, first_v, first_a, first_lambda;  // columns; -1 without
  long long samples;
} PawlReportData;

// ---- report_json.c
void pawl_json_text(PawlText* text, const char* s);   // quoted; never ends a <script>
void pawl_json_number(PawlText* text, double value);  // null where there is none
// All that is not numbers of samples, as one object. `low`, `high`: ranges of the columns, then of
// the channels of the scene.
void pawl_report_describe(PawlText* text, const PawlWriter* writer, const PawlRecorder* recorder,
                          const double* low, const double* high);

// ---- report_pack.c
// Numbers as float32 from 0 (lowest) to 1 (highest), little end first, in base64.
typedef struct PawlPack {
  PawlFile* file;
  unsigned char waiting[3];
  int waiting_count;
  size_t used;
  char block[1 << 14];
} PawlPack;
// The least and the greatest number that is finite; 0, 0 without.
void pawl_pack_range(int count, const double* values, double* low, double* high);
PAWL_CHECKED PawlStatus pawl_pack_add(PawlPack* pack, int count, const double* values, double low,
                                      double high, PawlError* err);
PAWL_CHECKED PawlStatus pawl_pack_end(PawlPack* pack, PawlError* err);
