// SPDX-License-Identifier: Apache-2.0
// What a page has to know beside the numbers: names, units, shapes, events, texts.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/report.h"
#include "io/writer.h"
#include "system/system.h"

enum { MOST_EVENTS = 5000 };           // told to the page
enum { MOST_LATEX = 60000 };           // bytes of equations that are shown
enum { MOST_EVENT_NUMBERS = 400000 };  // of their velocities; beyond that they are left out

// ---- JSON -----------------------------------------------------------------------------------
void pawl_json_text(PawlText* text, const char* s) {
  pawl_text_add(text, "\"");
  for (const char* c = s; *c; c++) {
    unsigned char u = (unsigned char)*c;
    if (*c == '"' || *c == '\\') {
      pawl_text_printf(text, "\\%c", *c);
    } else if (u < 0x20 || *c == '<') {
      pawl_text_printf(text, "\\u%04x", u);
    } else {
      pawl_text_add_bytes(text, c, 1);
    }
  }
  pawl_text_add(text, "\"");
}

void pawl_json_number(PawlText* text, double value) {
  if (isfinite(value)) {
    pawl_text_number(text, value);
  } else {
    pawl_text_add(text, "null");
  }
}

static void put_numbers(PawlText* text, int count, const double* values) {
  pawl_text_add(text, "[");
  for (int k = 0; k < count; k++) {
    pawl_text_add(text, k ? "," : "");
    pawl_json_number(text, values[k]);
  }
  pawl_text_add(text, "]");
}

static void put_key(PawlText* text, const char* key) {
  pawl_text_add(text, ",");
  pawl_json_text(text, key);
  pawl_text_add(text, ":");
}

static void put_field(PawlText* text, const char* key, const char* value) {
  put_key(text, key);
  pawl_json_text(text, value);
}

static void put_range(PawlText* text, double low, double high) {
  put_key(text, "low");
  pawl_json_number(text, low);
  put_key(text, "high");
  pawl_json_number(text, high);
}

// ---- columns --------------------------------------------------------------------------------
static void put_columns(PawlText* text, const PawlReportData* data, const PawlRecorder* recorder,
                        const double* low, const double* high) {
  pawl_text_add(text, ",\"columns\":[");
  for (int k = 0; k < data->column_count; k++) {
    const PawlColumn* column = pawl_recorder_column(recorder, data->columns[k]);
    pawl_text_add(text, k ? ",{\"name\":" : "{\"name\":");
    pawl_json_text(text, column->name);
    put_field(text, "unit", column->unit);
    put_field(text, "kind", pawl_kind_name(column->kind));
    put_range(text, low[k], high[k]);
    pawl_text_add(text, "}");
  }
  pawl_text_add(text, "]");
}

// The rates of the model in their order, for the velocities of events.
static void put_rates(PawlText* text, const PawlRecorder* recorder) {
  const char* before = "";
  pawl_text_add(text, ",\"rates\":[");
  for (int j = 0; j < pawl_recorder_column_count(recorder); j++) {
    const PawlColumn* column = pawl_recorder_column(recorder, j);
    if (column->kind == PAWL_COLUMN_RATE) {
      pawl_text_printf(text, "%s{\"name\":", before);
      pawl_json_text(text, column->name);
      put_field(text, "unit", column->unit);
      pawl_text_add(text, "}");
      before = ",";
    }
  }
  pawl_text_add(text, "]");
}

// ---- the scene ------------------------------------------------------------------------------
static void put_places(PawlText* text, const PawlScene* scene, const PawlShape* shape) {
  pawl_text_add(text, ",\"points\":[");
  for (int k = 0; k < shape->point_count; k++) {
    for (int i = 0; i < (shape->spatial ? 3 : 2); i++) {
      pawl_text_printf(text, "%s%d", k + i ? "," : "",
                       pawl_scene_place(scene, shape->points[k][i]));
    }
  }
  pawl_text_add(text, "]");
}

static void put_shape(PawlText* text, const PawlScene* scene, const PawlShape* shape) {
  static const char* const names[] = {
      [PAWL_SHAPE_LINE] = "line",       [PAWL_SHAPE_POLYGON] = "polygon",
      [PAWL_SHAPE_DISC] = "disc",       [PAWL_SHAPE_SPRING] = "spring",
      [PAWL_SHAPE_LINK] = "link",       [PAWL_SHAPE_GROUND] = "ground",
      [PAWL_SHAPE_BALL] = "ball",       [PAWL_SHAPE_JOINT] = "joint",
      [PAWL_SHAPE_FORCE] = "force",     [PAWL_SHAPE_TRACE] = "trace",
      [PAWL_SHAPE_TEXT] = "text",       [PAWL_SHAPE_SURFACE] = "surface",
      [PAWL_SHAPE_GRAVITY] = "gravity", [PAWL_SHAPE_CYLINDER] = "cylinder",
  };
  pawl_text_printf(text, "{\"kind\":\"%s\",\"size\":%d", names[shape->kind],
                   shape->spatial ? 3 : 2);
  put_places(text, scene, shape);
  if (shape->radius != PAWL_NO_NODE) {
    pawl_text_printf(text, ",\"radius\":%d", pawl_scene_place(scene, shape->radius));
  }
  if (shape->kind == PAWL_SHAPE_SURFACE) {
    pawl_text_printf(text, ",\"row\":%d", shape->row_length);
  }
  if (shape->of) {
    put_field(text, "of", shape->of);
  }
  if (shape->text) {
    put_field(text, "text", shape->text);
  }
  pawl_text_add(text, "}");
}

// `low`, `high`: of the times of the frames, then of the channels.
static void put_scene(PawlText* text, const PawlModel* model, const PawlReportData* data,
                      const double* low, const double* high) {
  const double* fixed;
  bool shown = !data->scene_too_large;
  int count = pawl_scene_fixed(data->scene, &fixed);
  int channels = shown ? pawl_scene_channels(data->scene) : 0;
  pawl_text_printf(text, ",\"scene\":{\"spatial\":%s,\"left_out\":%d,\"shapes\":[",
                   model->spatial ? "true" : "false", shown ? 0 : model->shape_count);
  for (int k = 0; shown && k < model->shape_count; k++) {
    pawl_text_add(text, k ? "," : "");
    put_shape(text, data->scene, &model->shapes[k]);
  }
  pawl_text_add(text, "],\"fixed\":");
  put_numbers(text, shown ? count : 0, fixed);
  pawl_text_add(text, ",\"low\":");
  put_numbers(text, channels + 1, low);
  pawl_text_add(text, ",\"high\":");
  put_numbers(text, channels + 1, high);
  pawl_text_add(text, "}");
}

// ---- what switches --------------------------------------------------------------------------
// When a contact was closed: [[from, to], ...].
static void put_spans(PawlText* text, const PawlReportData* data, int c) {
  int count = c < data->contacts.count ? data->contacts.all[c].span_count : 0;
  pawl_text_add(text, ",\"closed\":[");
  for (int k = 0; k < count; k++) {
    const PawlReportSpan* span = &data->contacts.all[c].spans[k];
    pawl_text_add(text, k ? "," : "");
    put_numbers(text, 2, (double[]){span->from, span->to});
  }
  pawl_text_add(text, "]");
}

static void put_constraints(PawlText* text, const PawlWriter* writer) {
  const PawlModel* model = writer->report.model;
  const char* before = "";
  pawl_text_add(text, ",\"constraints\":[");
  for (int c = 0; c < model->constraint_count; c++) {
    const PawlConstraint* constraint = &model->constraints[c];
    pawl_text_printf(text, "%s{\"name\":", before);
    pawl_json_text(text, constraint->name);
    put_field(text, "kind", constraint->is_lock ? "lock" : "constraint");
    int mode = writer->end ? writer->end->modes[c] : -1;
    if (constraint->mode_count > 1 && mode >= 0 && mode < constraint->mode_count) {
      put_field(text, "end", constraint->modes[mode].name);
    }
    pawl_text_add(text, "}");
    before = ",";
  }
  for (int c = 0; c < model->contact_count; c++) {
    pawl_text_printf(text, "%s{\"name\":", before);
    pawl_json_text(text, model->contacts[c].name);
    pawl_text_add(text, ",\"kind\":\"contact\"");
    put_spans(text, writer->data, c);
    pawl_text_add(text, "}");
    before = ",";
  }
  pawl_text_add(text, "]");
}

static void put_event(PawlText* text, const PawlEvent* e, bool velocities) {
  pawl_text_add(text, "{\"t\":");
  pawl_json_number(text, e->t);
  put_field(text, "constraint", e->constraint);
  put_field(text, "from", e->from);
  put_field(text, "to", e->to);
  put_key(text, "lost");
  pawl_json_number(text, e->energy_lost);
  if (velocities) {
    put_key(text, "impulse");
    put_numbers(text, e->row_count, e->impulse);
    put_key(text, "before");
    put_numbers(text, e->v_count, e->v_before);
    put_key(text, "after");
    put_numbers(text, e->v_count, e->v_after);
  }
  pawl_text_add(text, "}");
}

static void put_events(PawlText* text, const PawlRecorder* recorder) {
  int count = pawl_recorder_event_count(recorder);
  long long numbers = 0;
  pawl_text_printf(text, ",\"event_count\":%d,\"events\":[", count);
  for (int k = 0; k < count && k < MOST_EVENTS; k++) {
    const PawlEvent* e = pawl_recorder_event(recorder, k);
    numbers += e->row_count + 2 * e->v_count;
    pawl_text_add(text, k ? "," : "");
    put_event(text, e, numbers <= MOST_EVENT_NUMBERS);
  }
  pawl_text_add(text, "]");
}

// ---- texts ----------------------------------------------------------------------------------
static void put_facts(PawlText* text, const PawlRecorder* recorder) {
  const char* name;
  double number;
  pawl_text_add(text, ",\"facts\":[");
  for (int k = 0; (name = pawl_recorder_fact_name(recorder, k)); k++) {
    pawl_text_add(text, k ? ",[" : "[");
    pawl_json_text(text, name);
    pawl_text_add(text, ",");
    if (pawl_recorder_fact_number(recorder, k, &number)) {
      pawl_json_number(text, number);
    } else {
      pawl_json_text(text, pawl_recorder_fact_value(recorder, k));
    }
    pawl_text_add(text, "]");
  }
  pawl_text_add(text, "]");
}

// Models too large to be written out have none; what refuses them says so.
static void put_equations(PawlText* text, const PawlModel* model) {
  PawlError err = {0};
  char* latex = NULL;
  PawlStatus status = pawl_model_equations(model, true, &latex, &err);
  bool good = status == PAWL_OK;
  text->failed |= status == PAWL_ERROR_MEMORY;
  bool brief = good && strlen(latex) <= MOST_LATEX;
  put_field(text, brief ? "latex" : "no_latex",
            brief  ? latex
            : good ? "The equations fill many pages; `pawl equations --latex` prints them."
                   : err.message);
  pawl_string_free(latex);
}

// JSON of others, in which < stands in texts only.
static void put_json(PawlText* text, const char* json) {
  for (const char* c = json; *c; c++) {
    pawl_text_add_bytes(text, *c == '<' ? "\\u003c" : c, *c == '<' ? 6 : 1);
  }
}

void pawl_report_describe(PawlText* text, const PawlWriter* writer, const PawlRecorder* recorder,
                          const double* low, const double* high) {
  const PawlReportData* data = writer->data;
  const PawlModel* model = writer->report.model;
  pawl_text_add(text, "{\"name\":");
  pawl_json_text(text, model->name);
  put_field(text, "about", model->about ? model->about : "");
  pawl_text_printf(text, ",\"samples\":%lld,\"rows\":%d,\"frames\":%d", data->samples,
                   pawl_thin_rows(data->curves), pawl_frames_count(data->frames));
  put_columns(text, data, recorder, low, high);
  put_rates(text, recorder);
  put_scene(text, model, data, low + data->column_count, high + data->column_count);
  put_constraints(text, writer);
  put_events(text, recorder);
  put_facts(text, recorder);
  put_equations(text, model);
  put_field(text, "text", writer->report.text ? writer->report.text : "");
  pawl_text_add(text, ",\"summary\":");
  put_json(text, writer->summary ? writer->summary : "null");
  pawl_text_add(text, "}");
}
