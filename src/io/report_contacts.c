// SPDX-License-Identifier: Apache-2.0
// What a report shows of contacts. Time stepping closes and opens them inside of steps and gives
// the multiplier of a step, with its impacts in it; so the times at which a contact is closed are
// read from the samples, and in a step with an impact forces have no value: its size over the step
// is an impulse by a time that nobody chose for it.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "io/impacts.h"
#include "io/report.h"
#include "system/system.h"

enum { MOST_SPANS = 2000 };      // of one contact that are told
enum { LEAST_SAMPLES = 2 };      // closed in fewer, it was hit and no more
enum { MOST_CONTACTS = 10000 };  // that are looked at

// ---- where they are ---------------------------------------------------------------------------
static bool is_row_of(const char* column, const char* name) {
  static const char prefix[] = "lambda(";
  size_t length = strlen(name);
  const char* at = column + strlen(prefix);
  return strncmp(column, prefix, strlen(prefix)) == 0 && strncmp(at, name, length) == 0 &&
         (strcmp(at + length, ")") == 0 || strcmp(at + length, ",1)") == 0);
}

// The rows of contacts stand behind those of constraints, in their order.
static void find_columns(PawlReportContacts* contacts, const PawlModel* model,
                         const PawlRecorder* recorder) {
  int c = 0;
  for (int j = 0; j < pawl_recorder_column_count(recorder) && c < contacts->count; j++) {
    const PawlColumn* column = pawl_recorder_column(recorder, j);
    if (column->kind == PAWL_COLUMN_MULTIPLIER &&
        is_row_of(column->name, model->contacts[c].name)) {
      contacts->all[c++].column = j;
    }
  }
  contacts->count = c;
}

static void mark_forces(PawlReportContacts* contacts, const PawlModel* model,
                        const PawlRecorder* recorder) {
  for (int j = 0, output = 0; j < pawl_recorder_column_count(recorder); j++) {
    PawlColumnKind kind = pawl_recorder_column(recorder, j)->kind;
    bool reacts =
        kind == PAWL_COLUMN_OUTPUT && output < model->output_count && model->outputs[output].reacts;
    output += kind == PAWL_COLUMN_OUTPUT;
    contacts->force[j] =
        reacts || kind == PAWL_COLUMN_MULTIPLIER || kind == PAWL_COLUMN_ACCELERATION;
  }
}

PawlStatus pawl_report_contacts_create(PawlReportContacts* contacts, const PawlModel* model,
                                       const PawlRecorder* recorder, PawlError* err) {
  int count = model->contact_count < MOST_CONTACTS ? model->contact_count : MOST_CONTACTS;
  contacts->count = count;
  contacts->all = pawl_alloc((size_t)count + 1, sizeof *contacts->all);
  contacts->force = pawl_alloc((size_t)pawl_recorder_column_count(recorder), 1);
  if (!contacts->all || !contacts->force) {
    return pawl_fail_memory(err);
  }
  contacts->averaged = count > 0 && pawl_impacts_averaged(recorder);
  find_columns(contacts, model, recorder);
  mark_forces(contacts, model, recorder);
  return PAWL_OK;
}

void pawl_report_contacts_destroy(PawlReportContacts* contacts) {
  for (int c = 0; contacts->all && c < contacts->count; c++) {
    pawl_free(contacts->all[c].spans);
  }
  pawl_free(contacts->all);
  pawl_free(contacts->force);
}

// ---- when they are closed ----------------------------------------------------------------------
// One too many is not told.
static PawlStatus end_span(PawlReportContact* contact, double t, PawlError* err) {
  bool tell = contact->samples >= LEAST_SAMPLES && contact->span_count < MOST_SPANS;
  contact->samples = 0;
  if (!tell) {
    return PAWL_OK;
  }
  if (PAWL_GROW(contact->spans, contact->room, contact->span_count + 1) != 0) {
    return pawl_fail_memory(err);
  }
  contact->spans[contact->span_count++] = (PawlReportSpan){contact->first, t};
  return PAWL_OK;
}

static PawlStatus look(PawlReportContact* contact, const double* sample, PawlError* err) {
  double t = sample[0], lambda = sample[contact->column];
  if (isnan(lambda)) {
    return PAWL_OK;
  }
  if (lambda > 0.0) {
    contact->first = contact->samples == 0 ? t : contact->first;
    contact->last = t;
    contact->samples++;
    return PAWL_OK;
  }
  return end_span(contact, t, err);
}

// ---- impacts -----------------------------------------------------------------------------------
// The newest events are those of the step whose end is the sample behind a jump.
static bool is_impact(const PawlRecorder* recorder) {
  int newest = pawl_recorder_event_count(recorder) - 1;
  double t = newest >= 0 ? pawl_recorder_event(recorder, newest)->t : 0.0;
  for (int k = newest; k >= 0 && pawl_recorder_event(recorder, k)->t == t; k--) {
    if (strcmp(pawl_recorder_event(recorder, k)->to, "hit") == 0) {
      return true;
    }
  }
  return false;
}

PawlStatus pawl_report_contacts_add(PawlReportContacts* contacts, const PawlRecorder* recorder,
                                    bool behind_jump, double* sample, PawlError* err) {
  for (int c = 0; c < contacts->count; c++) {
    PAWL_TRY(look(&contacts->all[c], sample, err));
  }
  if (!contacts->averaged || !behind_jump || !is_impact(recorder)) {
    return PAWL_OK;
  }
  for (int j = 0; j < pawl_recorder_column_count(recorder); j++) {
    sample[j] = contacts->force[j] ? NAN : sample[j];
  }
  return PAWL_OK;
}

PawlStatus pawl_report_contacts_end(PawlReportContacts* contacts, PawlError* err) {
  for (int c = 0; c < contacts->count; c++) {
    PAWL_TRY(end_span(&contacts->all[c], contacts->all[c].last, err));
  }
  return PAWL_OK;
}
