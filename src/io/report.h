// SPDX-License-Identifier: Apache-2.0
// The parts of a report (report.c): what is kept of a run, and how it is written into the page.
#pragma once

#include "base/text.h"
#include "io/thin.h"
#include "io/writer.h"
#include "system/scene.h"

// When a contact is closed: from the first sample in which it pushes to the first in which it does
// not, or to the end.
typedef struct PawlReportSpan {
  double from, to;
} PawlReportSpan;
typedef struct PawlReportContact {
  int column;   // of its normal force
  int samples;  // closed now, in so many samples; 0: open
  double first, last;
  int span_count, room;
  PawlReportSpan* spans;
} PawlReportContact;
typedef struct PawlReportContacts {
  int count;
  PawlReportContact* all;
  bool* force;    // columns of forces and what is made of them
  bool averaged;  // forces are those of whole steps, impacts among them
} PawlReportContacts;

typedef struct PawlReportData {
  PawlFile file;
  const PawlRecorder* recorder;  // borrowed: of the run
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
  PawlReportContacts contacts;
} PawlReportData;

// ---- report_contacts.c
PAWL_CHECKED PawlStatus pawl_report_contacts_create(PawlReportContacts* contacts,
                                                    const PawlModel* model,
                                                    const PawlRecorder* recorder, PawlError* err);
void pawl_report_contacts_destroy(PawlReportContacts* contacts);
// One more sample, of which forces become NaN where it is the end of a step with an impact.
PAWL_CHECKED PawlStatus pawl_report_contacts_add(PawlReportContacts* contacts,
                                                 const PawlRecorder* recorder, bool behind_jump,
                                                 double* sample, PawlError* err);
PAWL_CHECKED PawlStatus pawl_report_contacts_end(PawlReportContacts* contacts, PawlError* err);

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
