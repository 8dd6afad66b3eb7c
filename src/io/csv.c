// SPDX-License-Identifier: Apache-2.0
// Comma-separated values after RFC 4180, with plain line ends.
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "io/file.h"
#include "pawl/report.h"

enum { BLOCK_BYTES = 1 << 16 };  // text gathered between two writes

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

static void add_header(PawlText* text, const PawlRecorder* recorder) {
  int columns = pawl_recorder_column_count(recorder);
  for (int i = 0; i < columns; i++) {
    pawl_text_add(text, i > 0 ? "," : "");
    add_name(text, pawl_recorder_column(recorder, i)->name);
  }
  pawl_text_add(text, "\n");
}

static void add_number(PawlText* text, double value) {
  if (isnan(value)) {
    pawl_text_add(text, "nan");  // never "-nan"
  } else {
    pawl_text_number(text, value);
  }
}

static PawlStatus flush(PawlText* text, PawlFile* file, PawlError* err) {
  if (text->failed) {
    return pawl_fail_memory(err);
  }
  PawlStatus status = pawl_file_write(file, text->s, text->length, err);
  text->length = 0;
  return status;
}

static PawlStatus write_rows(const PawlRecorder* recorder, PawlText* text, PawlFile* file,
                             PawlError* err) {
  int columns = pawl_recorder_column_count(recorder);
  int samples = pawl_recorder_sample_count(recorder);
  for (int i = 0; i < samples; i++) {
    const double* sample = pawl_recorder_sample(recorder, i);
    for (int j = 0; j < columns; j++) {
      pawl_text_add_bytes(text, ",", j > 0 ? 1 : 0);
      add_number(text, sample[j]);
    }
    pawl_text_add(text, "\n");
    if (text->failed || text->length >= BLOCK_BYTES) {
      PAWL_TRY(flush(text, file, err));
    }
  }
  return PAWL_OK;
}

PawlStatus pawl_write_csv(const PawlRecorder* recorder, const char* path, PawlError* err) {
  PawlFile file;
  PAWL_TRY(pawl_file_open(&file, path, err));
  PawlText text = {0};
  add_header(&text, recorder);
  PawlStatus status = write_rows(recorder, &text, &file, err);
  if (status == PAWL_OK) {
    status = flush(&text, &file, err);
  }
  pawl_text_free(&text);
  return pawl_file_close(&file, status, err);
}
