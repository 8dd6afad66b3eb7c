// SPDX-License-Identifier: Apache-2.0
// Comma-separated values back. Lines may end in CR LF; a last line without an end is of a program
// that still writes, and left out. Names tell the kind of a column; units are not known.
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "io/plot.h"
#include "io/read.h"

enum { LONGEST_CELL = 64 };

typedef struct Csv {
  FILE* file;
  PawlText line;
  long long number;  // of the line, from 1
  int column_count, capacity;
  char** names;
  double* sample;
} Csv;

// ---- lines and cells ----------------------------------------------------------------------------
// The next whole line, without its end; false at the end of the file.
static bool next_line(Csv* csv) {
  char part[4096];
  csv->line.length = 0;
  while (fgets(part, sizeof part, csv->file)) {
    size_t length = strlen(part);
    bool whole = length > 0 && part[length - 1] == '\n';
    length -= whole;
    length -= whole && length > 0 && part[length - 1] == '\r';
    pawl_text_add_bytes(&csv->line, part, length);
    if (whole) {
      csv->number++;
      return !csv->line.failed;
    }
  }
  return false;
}

// The cell at `at` into `cell`, quotes taken off; where the next one begins, NULL behind the last.
static const char* next_cell(const char* at, PawlText* cell) {
  cell->length = 0;
  pawl_text_add(cell, "");
  bool quoted = *at == '"';
  for (at += quoted; *at && (quoted || *at != ','); at++) {
    if (quoted && *at == '"') {
      if (at[1] != '"') {
        quoted = false;
        continue;
      }
      at++;
    }
    pawl_text_add_bytes(cell, at, 1);
  }
  return *at == ',' ? at + 1 : NULL;
}

// The program may have set a locale with a decimal comma, in which strtod reads that.
static bool number_of(const char* text, double* number) {
  char copy[LONGEST_CELL + 8];
  size_t length = strlen(text), point = strcspn(text, ".");
  const char* sign = localeconv()->decimal_point;
  if (length == 0) {
    *number = NAN;
    return true;
  }
  if (length > LONGEST_CELL || strlen(sign) > 4) {
    return false;
  }
  snprintf(copy, sizeof copy, "%.*s%s%s", (int)point, text, point < length ? sign : "",
           point < length ? text + point + 1 : "");
  char* end;
  *number = strtod(copy, &end);
  return *end == '\0';
}

// ---- columns ------------------------------------------------------------------------------------
static bool begins(const char* name, const char* with) {
  return strncmp(name, with, strlen(with)) == 0;
}

// A coordinate has a rate.
static bool has_rate(const Csv* csv, const char* name) {
  size_t length = strlen(name);
  for (int j = 0; j < csv->column_count; j++) {
    const char* other = csv->names[j];
    if (strlen(other) == length + 1 && begins(other, name) && other[length] == '\'') {
      return true;
    }
  }
  return false;
}

static PawlColumnKind kind_of(const Csv* csv, const char* name) {
  static const struct {
    const char* begin;
    PawlColumnKind kind;
  } beginnings[] = {{"lambda(", PAWL_COLUMN_MULTIPLIER}, {"lambda.smooth(", PAWL_COLUMN_CORRECTION},
                    {"nu(", PAWL_COLUMN_CORRECTION},     {"Lambda(", PAWL_COLUMN_CORRECTION},
                    {"residual.", PAWL_COLUMN_RESIDUAL}, {"work.", PAWL_COLUMN_WORK},
                    {"energy.", PAWL_COLUMN_WORK},       {"z(", PAWL_COLUMN_PATH}};
  for (size_t k = 0; k < sizeof beginnings / sizeof *beginnings; k++) {
    if (begins(name, beginnings[k].begin)) {
      return beginnings[k].kind;
    }
  }
  size_t length = strlen(name);
  bool prime = length > 1 && name[length - 1] == '\'';
  if (prime) {
    return name[length - 2] == '\'' ? PAWL_COLUMN_ACCELERATION : PAWL_COLUMN_RATE;
  }
  bool energy = !strcmp(name, "kinetic") || !strcmp(name, "potential") || !strcmp(name, "energy");
  return strcmp(name, "t") == 0 ? PAWL_COLUMN_TIME
         : energy               ? PAWL_COLUMN_ENERGY
         : has_rate(csv, name)  ? PAWL_COLUMN_COORDINATE
                                : PAWL_COLUMN_OUTPUT;
}

static PawlStatus read_header(Csv* csv, const char* path, PawlError* err) {
  PawlText cell = {0};
  if (!next_line(csv) || csv->line.length == 0) {
    return csv->line.failed ? pawl_fail_memory(err)
                            : pawl_fail(err, PAWL_ERROR_FILE, "'%s' has no header line", path);
  }
  PawlStatus status = PAWL_OK;
  for (const char* at = csv->line.s; at && status == PAWL_OK;) {
    at = next_cell(at, &cell);
    char* name = cell.failed ? NULL : pawl_alloc(cell.length + 1, 1);
    if (!name || PAWL_GROW(csv->names, csv->capacity, csv->column_count + 1) != 0) {
      pawl_free(name);
      status = pawl_fail_memory(err);
    } else {
      memcpy(name, cell.s, cell.length);
      csv->names[csv->column_count++] = name;
    }
  }
  pawl_text_free(&cell);
  return status;
}

static PawlStatus begin(Csv* csv, PawlReadSink* sink, PawlError* err) {
  PawlColumn* columns = pawl_alloc((size_t)csv->column_count, sizeof *columns);
  csv->sample = pawl_alloc((size_t)csv->column_count, sizeof *csv->sample);
  PawlStatus status = columns && csv->sample ? PAWL_OK : pawl_fail_memory(err);
  for (int j = 0; status == PAWL_OK && j < csv->column_count; j++) {
    PawlColumnKind kind = kind_of(csv, csv->names[j]);
    columns[j] = (PawlColumn){csv->names[j], kind == PAWL_COLUMN_TIME ? "s" : "", kind};
  }
  status = status ? status : pawl_read_begin(sink, csv->column_count, columns, err);
  pawl_free(columns);
  return status ? status : pawl_recorder_add_fact(sink->recorder, PAWL_FACT_NO_UNITS, "", err);
}

// ---- samples ------------------------------------------------------------------------------------
static PawlStatus read_sample(Csv* csv, const char* path, PawlText* cell, PawlError* err) {
  int count = 0;
  for (const char* at = csv->line.s; at; count++) {
    at = next_cell(at, cell);
    if (cell->failed) {
      return pawl_fail_memory(err);
    }
    if (count < csv->column_count && !number_of(cell->s, &csv->sample[count])) {
      return pawl_fail(err, PAWL_ERROR_FILE, "'%s', line %lld: '%.40s' is not a number", path,
                       csv->number, cell->s);
    }
  }
  return count == csv->column_count
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_FILE, "'%s', line %lld: %d cells, and %d columns", path,
                         csv->number, count, csv->column_count);
}

static PawlStatus read_samples(Csv* csv, PawlReadSink* sink, PawlError* err) {
  PawlText cell = {0};
  PawlStatus status = PAWL_OK;
  while (status == PAWL_OK && !sink->done && next_line(csv)) {
    status = read_sample(csv, sink->path, &cell, err);
    status = status ? status : pawl_read_sample(sink, csv->sample, err);
  }
  pawl_text_free(&cell);
  return status == PAWL_OK && csv->line.failed ? pawl_fail_memory(err) : status;
}

PawlStatus pawl_csv_load(PawlReadSink* sink, PawlError* err) {
  Csv csv = {.file = fopen(sink->path, "rb")};
  if (!csv.file) {
    return pawl_fail(err, PAWL_ERROR_FILE, "cannot read '%s': %s", sink->path, strerror(errno));
  }
  PawlStatus status = read_header(&csv, sink->path, err);
  status = status ? status : begin(&csv, sink, err);
  status = status ? status : read_samples(&csv, sink, err);
  if (status == PAWL_OK && ferror(csv.file)) {
    status = pawl_fail(err, PAWL_ERROR_FILE, "cannot read '%s': %s", sink->path, strerror(errno));
  }
  fclose(csv.file);
  for (int j = 0; j < csv.column_count; j++) {
    pawl_free(csv.names[j]);
  }
  pawl_free(csv.names);
  pawl_free(csv.sample);
  pawl_text_free(&csv.line);
  return status;
}
