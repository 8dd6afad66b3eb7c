// SPDX-License-Identifier: Apache-2.0
// Comma-separated values after RFC 4180, with plain line ends. Lines go to the file whole. What has
// no value (NaN) is an empty cell.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "io/decimal.h"
#include "io/file.h"
#include "io/writer.h"

enum { BLOCK_BYTES = 1 << 16 };  // text gathered between two writes

typedef struct Csv {
  PawlFile file;
  PawlDecimals powers;
  char* block;  // room for BLOCK_BYTES and one line
  size_t used;
} Csv;

// ---- the header -----------------------------------------------------------------------------
static void add_name(PawlText* text, const char* name) {
  if (!strpbrk(name, ",\"\r\n")) {
    pawl_text_add(text, name);
    return;
  }
  pawl_text_add(text, "\"");
  for (const char* c = name; *c; c++) {
    pawl_text_add_bytes(text, "\"\"", *c == '"' ? 2 : 0);
    pawl_text_add_bytes(text, c, *c == '"' ? 0 : 1);
  }
  pawl_text_add(text, "\"");
}

static PawlStatus write_header(const PawlWriter* writer, const PawlRecorder* recorder, Csv* csv,
                               PawlError* err) {
  PawlText text = {0};
  for (int i = 0; i < writer->column_count; i++) {
    pawl_text_add(&text, i > 0 ? "," : "");
    add_name(&text, pawl_recorder_column(recorder, writer->columns[i])->name);
  }
  pawl_text_add(&text, "\n");
  PawlStatus status =
      text.failed ? pawl_fail_memory(err) : pawl_file_write(&csv->file, text.s, text.length, err);
  pawl_text_free(&text);
  return status;
}

// ---- the format -----------------------------------------------------------------------------
static void destroy(Csv* csv) {
  pawl_free(csv->block);
  pawl_free(csv);
}

static PawlStatus open_part(const PawlWriter* writer, Csv* csv, PawlError* err) {
  return writer->again ? pawl_file_open_again(&csv->file, writer->path, ".part", writer->again, err)
                       : pawl_file_open_part(&csv->file, writer->path, err);
}

static PawlStatus open_csv(PawlWriter* writer, const PawlRecorder* recorder, PawlError* err) {
  Csv* csv = pawl_alloc(1, sizeof *csv);
  if (!csv) {
    return pawl_fail_memory(err);
  }
  size_t line = (size_t)writer->column_count * (PAWL_DECIMAL_LENGTH + 1) + 1;
  csv->block = pawl_alloc(BLOCK_BYTES + line, 1);
  PawlStatus status = csv->block ? open_part(writer, csv, err) : pawl_fail_memory(err);
  if (status == PAWL_OK) {
    pawl_decimals_fill(&csv->powers);
    status = writer->again ? PAWL_OK : write_header(writer, recorder, csv, err);
    status = status ? pawl_file_close(&csv->file, status, err) : PAWL_OK;
  }
  if (status != PAWL_OK) {
    destroy(csv);
    return status;
  }
  writer->data = csv;
  return PAWL_OK;
}

static PawlStatus flush_csv(PawlWriter* writer, PawlError* err) {
  Csv* csv = writer->data;
  PawlStatus status = pawl_file_write(&csv->file, csv->block, csv->used, err);
  csv->used = 0;
  return status;
}

static PawlStatus add_csv(PawlWriter* writer, const double* sample, PawlError* err) {
  Csv* csv = writer->data;
  char* at = csv->block + csv->used;
  for (int i = 0; i < writer->column_count; i++) {
    double value = sample[writer->columns[i]];
    at += isnan(value) ? 0 : pawl_decimal_print(&csv->powers, value, at);
    *at++ = ',';
  }
  if (writer->column_count > 0) {
    at--;
  }
  *at++ = '\n';
  csv->used = (size_t)(at - csv->block);
  return csv->used < BLOCK_BYTES ? PAWL_OK : flush_csv(writer, err);
}

static PawlStatus close_csv(PawlWriter* writer, const PawlRecorder* recorder, PawlStatus so_far,
                            PawlError* err) {
  (void)recorder;
  Csv* csv = writer->data;
  PawlStatus status = so_far ? so_far : flush_csv(writer, err);
  if (status != PAWL_OK && writer->keep_part) {
    pawl_file_leave(&csv->file);
  } else {
    status = pawl_file_close(&csv->file, status, err);
  }
  destroy(csv);
  return status;
}

static PawlFile* file_csv(const PawlWriter* writer) {
  Csv* csv = writer->data;
  return &csv->file;
}

const PawlWriterFormat pawl_csv_format = {open_csv, add_csv, flush_csv, close_csv, file_csv};

PawlStatus pawl_write_csv(const PawlRecorder* recorder, const char* path, PawlError* err) {
  return pawl_write_whole(&pawl_csv_format, recorder, path, err);
}
