// SPDX-License-Identifier: Apache-2.0
// Comma-separated values after RFC 4180, with plain line ends. Lines go to the file whole. What has
// no value (NaN) is an empty cell. Samples are gathered as numbers; a batch of them is printed and
// written by a thread beside the run, while the next one is gathered. Runs with less than a batch
// have no such thread.
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "base/worker.h"
#include "io/decimal.h"
#include "io/file.h"
#include "io/writer.h"

enum {
  BLOCK_BYTES = 1 << 16,   // text gathered between two writes
  BATCH_NUMBERS = 1 << 12  // gathered before they are printed
};

typedef struct Csv {
  PawlFile file;
  int columns;
  bool in_order;     // they are the first of a sample
  int capacity;      // rows of a batch
  double* batch[2];  // gathered, and being printed; rows of `columns` numbers
  int filling;       // which of them is gathered
  int count;         // its rows
  PawlWorker* worker;
  bool has_begun;  // the worker was asked for
  // Of the worker while it works
  int printing;  // rows
  PawlDecimals powers;
  char* block;  // room for BLOCK_BYTES and one line
  size_t used;
  PawlStatus status;  // of its writes: after a failure nothing more is written
  PawlError error;
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
  pawl_worker_destroy(csv->worker);
  pawl_free(csv->batch[0]);
  pawl_free(csv->batch[1]);
  pawl_free(csv->block);
  pawl_free(csv);
}

static PawlStatus open_part(const PawlWriter* writer, Csv* csv, PawlError* err) {
  return writer->again ? pawl_file_open_again(&csv->file, writer->path, ".part", writer->again, err)
                       : pawl_file_open_part(&csv->file, writer->path, err);
}

static Csv* create(int columns) {
  Csv* csv = pawl_alloc(1, sizeof *csv);
  if (!csv) {
    return NULL;
  }
  csv->columns = columns;
  csv->capacity = columns < BATCH_NUMBERS / 2 ? BATCH_NUMBERS / (columns + 1) : 1;
  size_t numbers = (size_t)csv->capacity * (size_t)columns + 1;
  csv->batch[0] = pawl_alloc(numbers, sizeof(double));
  csv->batch[1] = pawl_alloc(numbers, sizeof(double));
  csv->block = pawl_alloc(BLOCK_BYTES + (size_t)columns * (PAWL_DECIMAL_LENGTH + 1) + 1, 1);
  if (!csv->batch[0] || !csv->batch[1] || !csv->block) {
    destroy(csv);
    return NULL;
  }
  return csv;
}

static bool are_in_order(const PawlWriter* writer) {
  int k = 0;
  while (k < writer->column_count && writer->columns[k] == k) {
    k++;
  }
  return k == writer->column_count;
}

static PawlStatus open_csv(PawlWriter* writer, const PawlRecorder* recorder, PawlError* err) {
  Csv* csv = create(writer->column_count);
  PawlStatus status = csv ? open_part(writer, csv, err) : pawl_fail_memory(err);
  if (status == PAWL_OK) {
    pawl_decimals_fill(&csv->powers);
    csv->in_order = are_in_order(writer);
    status = writer->again ? PAWL_OK : write_header(writer, recorder, csv, err);
    status = status ? pawl_file_close(&csv->file, status, err) : PAWL_OK;
  }
  if (status != PAWL_OK && csv) {
    destroy(csv);
    return status;
  }
  writer->data = csv;
  return status;
}

// ---- printing, in the worker --------------------------------------------------------------------
static void write_block(Csv* csv) {
  if (csv->status == PAWL_OK) {
    csv->status = pawl_file_write(&csv->file, csv->block, csv->used, &csv->error);
  }
  csv->used = 0;
}

static void print_batch(void* context) {
  Csv* csv = context;
  const double* rows = csv->batch[1 - csv->filling];
  for (int k = 0; k < csv->printing; k++) {
    const double* row = rows + (size_t)k * (size_t)csv->columns;
    csv->used += pawl_decimal_row(&csv->powers, csv->columns, row, csv->block + csv->used);
    if (csv->used >= BLOCK_BYTES) {
      write_block(csv);
    }
  }
  write_block(csv);
}

// ---- gathering, in the run ----------------------------------------------------------------------
static PawlStatus wait_csv(Csv* csv, PawlError* err) {
  pawl_worker_wait(csv->worker);
  if (csv->status != PAWL_OK && err) {
    *err = csv->error;
  }
  return csv->status;
}

static PawlStatus hand_over(Csv* csv, PawlError* err) {
  PAWL_TRY(wait_csv(csv, err));
  csv->printing = csv->count;
  csv->filling = 1 - csv->filling;
  csv->count = 0;
  pawl_worker_give(csv->worker, print_batch, csv);
  return PAWL_OK;
}

static PawlStatus flush_csv(PawlWriter* writer, PawlError* err) {
  Csv* csv = writer->data;
  PAWL_TRY(hand_over(csv, err));
  return wait_csv(csv, err);
}

static void gather(const Csv* csv, const int* columns, const double* sample, double* row) {
  if (csv->in_order) {
    memcpy(row, sample, (size_t)csv->columns * sizeof *row);
    return;
  }
  for (int i = 0; i < csv->columns; i++) {
    row[i] = sample[columns[i]];
  }
}

static PawlStatus add_csv(PawlWriter* writer, const double* sample, PawlError* err) {
  Csv* csv = writer->data;
  double* row = csv->batch[csv->filling] + (size_t)csv->count * (size_t)csv->columns;
  gather(csv, writer->columns, sample, row);
  if (++csv->count < csv->capacity) {
    return PAWL_OK;
  }
  if (!csv->has_begun) {
    csv->worker = pawl_worker_create();
    csv->has_begun = true;
  }
  return hand_over(csv, err);
}

static PawlStatus close_csv(PawlWriter* writer, const PawlRecorder* recorder, PawlStatus so_far,
                            PawlError* err) {
  (void)recorder;
  Csv* csv = writer->data;
  PawlStatus status = so_far ? so_far : flush_csv(writer, err);
  pawl_worker_wait(csv->worker);
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
