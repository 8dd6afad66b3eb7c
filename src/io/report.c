// SPDX-License-Identifier: Apache-2.0
// A report: the page of web/ with the run in it, one file that needs nothing else. Samples are
// thinned while they come (thin.h), so that memory and file stay small however long the run is; the
// file is made when the run has ended.
#include "io/report.h"

#include <string.h>

#include "base/alloc.h"
#include "system/system.h"

enum { MOST_OF_A_KIND = 64 };     // columns of one kind that are shown
enum { CURVE_NUMBERS = 300000 };  // of all curves together, about
enum { FRAME_NUMBERS = 600000 };  // of all frames together, about
enum { MOST_CHANNELS = 20000 };   // of a scene that is shown
enum { LEAST_GROUPS = 256, MOST_GROUPS = 8192, LEAST_FRAMES = 64, MOST_FRAMES = 4096 };

static int between(int low, int value, int high) {
  return value < low ? low : value > high ? high : value;
}

// ---- which columns --------------------------------------------------------------------------
static bool is_shown(PawlColumnKind kind) {
  return kind != PAWL_COLUMN_ACCELERATION && kind != PAWL_COLUMN_CORRECTION;
}

// Columns of the kind of column j, which stand behind each other, from it on.
static int count_alike(const PawlRecorder* recorder, int j) {
  int count = 0, all = pawl_recorder_column_count(recorder);
  PawlColumnKind kind = pawl_recorder_column(recorder, j)->kind;
  while (j + count < all && pawl_recorder_column(recorder, j + count)->kind == kind) {
    count++;
  }
  return count;
}

// Of many of a kind the first, the last and some between them.
static bool is_chosen(int index, int count) {
  if (count <= MOST_OF_A_KIND) {
    return true;
  }
  long long last = MOST_OF_A_KIND - 1;
  return index == 0 || index * last / (count - 1) != (index - 1) * last / (count - 1);
}

static int first_of(const PawlRecorder* recorder, PawlColumnKind kind) {
  for (int j = 0; j < pawl_recorder_column_count(recorder); j++) {
    if (pawl_recorder_column(recorder, j)->kind == kind) {
      return j;
    }
  }
  return -1;
}

static void choose_columns(PawlReportData* data, const PawlRecorder* recorder) {
  for (int j = 0, count; j < data->width; j += count) {
    count = count_alike(recorder, j);
    bool shown = is_shown(pawl_recorder_column(recorder, j)->kind);
    for (int k = 0; shown && k < count; k++) {
      if (is_chosen(k, count)) {
        data->columns[data->column_count++] = j + k;
      }
    }
  }
  data->first_q = first_of(recorder, PAWL_COLUMN_COORDINATE);
  data->first_v = first_of(recorder, PAWL_COLUMN_RATE);
  data->first_a = first_of(recorder, PAWL_COLUMN_ACCELERATION);
  data->first_lambda = first_of(recorder, PAWL_COLUMN_MULTIPLIER);
}

// ---- samples --------------------------------------------------------------------------------
static void destroy(PawlReportData* data) {
  pawl_scene_destroy(data->scene);
  pawl_thin_destroy(data->curves);
  pawl_frames_destroy(data->frames);
  pawl_report_contacts_destroy(&data->contacts);
  pawl_free(data->columns);
  pawl_free(data->row);
  pawl_free(data->previous);
  pawl_free(data);
}

// The numbers of a frame: its time and, unless there are too many, the channels of the scene.
static int channels_of(const PawlReportData* data) {
  return data->scene_too_large ? 1 : pawl_scene_channels(data->scene) + 1;
}

static PawlStatus make_stores(PawlReportData* data, const PawlModel* model,
                              const PawlRecorder* recorder, PawlError* err) {
  data->columns = pawl_alloc((size_t)data->width, sizeof(int));
  data->row = pawl_alloc((size_t)data->width, sizeof(double));
  data->previous = pawl_alloc((size_t)data->width, sizeof(double));
  if (!data->columns || !data->row || !data->previous) {
    return pawl_fail_memory(err);
  }
  choose_columns(data, recorder);
  PAWL_TRY(pawl_report_contacts_create(&data->contacts, model, recorder, err));
  PAWL_TRY(pawl_scene_create(model, &data->scene, err));
  int groups = between(LEAST_GROUPS, CURVE_NUMBERS / 2 / data->column_count, MOST_GROUPS);
  data->scene_too_large = pawl_scene_channels(data->scene) > MOST_CHANNELS;
  int channels = channels_of(data);
  int frames = between(LEAST_FRAMES, FRAME_NUMBERS / channels, MOST_FRAMES);
  PAWL_TRY(pawl_thin_create(data->column_count, groups, &data->curves, err));
  return pawl_frames_create(channels, frames, &data->frames, err);
}

static PawlStatus open_report(PawlWriter* writer, const PawlRecorder* recorder, PawlError* err) {
  if (!writer->report.model) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "'%s': a report needs pawl_writer_report",
                     writer->path);
  }
  PawlReportData* data = pawl_alloc(1, sizeof *data);
  if (!data) {
    return pawl_fail_memory(err);
  }
  data->recorder = recorder;
  data->width = pawl_recorder_column_count(recorder);
  PawlStatus status = make_stores(data, writer->report.model, recorder, err);
  status = status ? status : pawl_file_open(&data->file, writer->path, err);
  if (status != PAWL_OK) {
    destroy(data);
    return status;
  }
  writer->data = data;
  return PAWL_OK;
}

static const double* leaves(const PawlReportData* data, int first) {
  return first < 0 ? NULL : data->previous + first;
}

// A frame of the sample that waited.
static void keep_frame(PawlReportData* data, bool side) {
  double* frame = pawl_frames_room(data->frames, side);
  PawlLeafValues at = {.t = data->previous[0],
                       .q = leaves(data, data->first_q),
                       .v = leaves(data, data->first_v),
                       .a = leaves(data, data->first_a),
                       .lambda = leaves(data, data->first_lambda)};
  frame[0] = at.t;
  if (!data->scene_too_large) {
    pawl_scene_look(data->scene, &at, frame + 1);
  }
}

static PawlStatus add_report(PawlWriter* writer, const double* sample, PawlError* err) {
  PawlReportData* data = writer->data;
  bool jump = data->any && sample[0] == data->previous[0];
  if (data->any && pawl_frames_wants(data->frames, jump || data->jumped)) {
    keep_frame(data, jump || data->jumped);
  }
  data->any = true;
  data->jumped = jump;
  data->samples++;
  memcpy(data->previous, sample, (size_t)data->width * sizeof(double));
  PAWL_TRY(pawl_report_contacts_add(&data->contacts, data->recorder, jump, data->previous, err));
  for (int k = 0; k < data->column_count; k++) {
    data->row[k] = data->previous[data->columns[k]];
  }
  pawl_thin_add(data->curves, data->row);
  return PAWL_OK;
}

static PawlStatus flush_report(PawlWriter* writer, PawlError* err) {
  (void)writer;
  (void)err;
  return PAWL_OK;  // there is nothing to read before the end
}

// ---- the file -------------------------------------------------------------------------------
typedef struct Numbers {  // all numbers of the page, column by column
  int rows, frames, columns, channels;
  double *values, *low, *high;
} Numbers;

static void free_numbers(Numbers* n) {
  pawl_free(n->values);
  pawl_free(n->low);
  pawl_free(n->high);
}

// Column k: curves first, then the time of the frames, then their channels.
static int take_column(const PawlReportData* data, const Numbers* n, int k) {
  if (k < n->columns) {
    pawl_thin_column(data->curves, k, n->values);
    return n->rows;
  }
  for (int i = 0; i < n->frames; i++) {
    n->values[i] = pawl_frames_row(data->frames, i)[k - n->columns];
  }
  return n->frames;
}

static PawlStatus find_ranges(const PawlReportData* data, Numbers* n, PawlError* err) {
  n->rows = pawl_thin_rows(data->curves);
  n->frames = pawl_frames_count(data->frames);
  n->columns = data->column_count;
  n->channels = channels_of(data);
  size_t all = (size_t)(n->columns + n->channels);
  n->values = pawl_alloc((size_t)(n->rows > n->frames ? n->rows : n->frames), sizeof(double));
  n->low = pawl_alloc(all, sizeof(double));
  n->high = pawl_alloc(all, sizeof(double));
  if (!n->values || !n->low || !n->high) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; k < (int)all; k++) {
    int count = take_column(data, n, k);
    pawl_pack_range(count, n->values, &n->low[k], &n->high[k]);
  }
  return PAWL_OK;
}

static PawlStatus write_text(PawlFile* file, const char* text, PawlError* err) {
  return pawl_file_write(file, text, strlen(text), err);
}

static PawlStatus write_description(PawlWriter* writer, const PawlRecorder* recorder,
                                    const Numbers* n, PawlError* err) {
  PawlReportData* data = writer->data;
  PawlText text = {0};
  pawl_report_describe(&text, writer, recorder, n->low, n->high);
  PawlStatus status =
      text.failed ? pawl_fail_memory(err) : pawl_file_write(&data->file, text.s, text.length, err);
  pawl_text_free(&text);
  return status;
}

static PawlStatus write_numbers(PawlReportData* data, const Numbers* n, PawlError* err) {
  PawlPack pack = {.file = &data->file};
  for (int k = 0; k < n->columns + n->channels; k++) {
    int count = take_column(data, n, k);
    PAWL_TRY(pawl_pack_add(&pack, count, n->values, n->low[k], n->high[k], err));
  }
  return pawl_pack_end(&pack, err);
}

// The page up to its mark, the run, the rest of the page.
static PawlStatus write_page(PawlWriter* writer, const PawlRecorder* recorder, Numbers* n,
                             PawlError* err) {
  PawlReportData* data = writer->data;
  PAWL_TRY(find_ranges(data, n, err));
  const char* rest = writer->page_mark + strlen(PAWL_REPORT_MARK);
  PAWL_TRY(
      pawl_file_write(&data->file, writer->page, (size_t)(writer->page_mark - writer->page), err));
  PAWL_TRY(write_text(&data->file, "<script type=\"application/json\" id=\"run\">", err));
  PAWL_TRY(write_description(writer, recorder, n, err));
  PAWL_TRY(write_text(&data->file, "</script>\n<script type=\"text/plain\" id=\"numbers\">", err));
  PAWL_TRY(write_numbers(data, n, err));
  PAWL_TRY(write_text(&data->file, "</script>\n", err));
  return write_text(&data->file, rest, err);
}

static PawlStatus close_report(PawlWriter* writer, const PawlRecorder* recorder, PawlStatus so_far,
                               PawlError* err) {
  PawlReportData* data = writer->data;
  Numbers numbers = {0};
  PawlStatus status = so_far;
  if (status == PAWL_OK && data->any) {
    keep_frame(data, true);  // the end is always there
  }
  status = status ? status : pawl_report_contacts_end(&data->contacts, err);
  status = status ? status : write_page(writer, recorder, &numbers, err);
  free_numbers(&numbers);
  status = pawl_file_close(&data->file, status, err);
  destroy(data);
  return status;
}

const PawlWriterFormat pawl_report_format = {open_report, add_report, flush_report, close_report,
                                             NULL};

PawlStatus pawl_writer_report(PawlWriter* writer, const PawlReportDef* def, PawlError* err) {
  void* page;
  size_t length;
  PAWL_TRY(pawl_file_load(def->page, &page, &length, err));
  pawl_free(writer->page);
  writer->page = pawl_alloc(length + 1, 1);
  if (writer->page) {
    memcpy(writer->page, page, length);
  }
  pawl_free(page);
  if (!writer->page) {
    return pawl_fail_memory(err);
  }
  writer->report = *def;
  writer->page_mark = strstr(writer->page, PAWL_REPORT_MARK);
  return writer->page_mark ? PAWL_OK
                           : pawl_fail(err, PAWL_ERROR_USAGE,
                                       "'%s' is no page of a report: there is no '%s' in it",
                                       def->page, PAWL_REPORT_MARK);
}

void pawl_writer_summary(PawlWriter* writer, const char* json, const PawlState* end) {
  writer->summary = json;
  writer->end = end;
}

bool pawl_model_is_spatial(const PawlModel* model) {
  return model->spatial;
}
