// SPDX-License-Identifier: Apache-2.0
// Reading back a trajectory that `pawl run -o FILE.csv` wrote, as the reference of a comparison.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/study.h"

enum { MOST_CSV_COLUMNS = 100000 };

static PawlStatus fail(PawlError* err, PawlStatus status, const char* file, const char* what) {
  err->status = status;
  snprintf(err->message, sizeof err->message, "%.1000s: %s", file, what);
  return status;
}

static char* read_all(const char* file, PawlError* err) {
  FILE* from = fopen(file, "rb");
  size_t length = 0, room = 1 << 16;
  char* text = from ? malloc(room) : NULL;
  while (text) {
    length += fread(text + length, 1, room - length - 1, from);
    if (length < room - 1) {
      break;
    }
    char* more = realloc(text, room *= 2);
    if (!more) {
      free(text);
    }
    text = more;
  }
  if (!text || ferror(from)) {
    fail(err, PAWL_ERROR_FILE, file, strerror(errno));
    free(text);
    text = NULL;
  } else {
    text[length] = '\0';
  }
  if (from) {
    fclose(from);
  }
  return text;
}

// The next name of the header, unquoted in place. NULL behind the last.
static char* next_name(char** at, bool* last) {
  char* name = *at;
  if (*last) {
    return NULL;
  }
  if (*name == '"') {
    char* to = name;
    char* from = name + 1;
    while (*from && !(from[0] == '"' && from[1] != '"')) {
      from += from[0] == '"';
      *to++ = *from++;
    }
    char* end = from + (*from == '"');
    *last = *end != ',';
    *at = end + !*last;
    *to = '\0';
    return name;
  }
  char* end = name + strcspn(name, ",");
  *last = *end == '\0';
  *at = end + !*last;
  *end = '\0';
  return name;
}

// For each column of the file the place of its value: column of `like`, or -1. Files of the same
// model have the same order, so the next column is tried before all others.
static int read_header(char* line, const PawlRecorder* like, int* places) {
  int count = 0, expected = 0;
  bool last = false;
  for (char* name; (name = next_name(&line, &last));) {
    if (count == MOST_CSV_COLUMNS) {
      return -1;
    }
    const PawlColumn* column = pawl_recorder_column(like, expected);
    places[count] = column && strcmp(column->name, name) == 0 ? expected : study_column(like, name);
    expected = places[count++] + 1;
  }
  return count;
}

typedef struct Wanted {
  int first, width;
} Wanted;

// A name that stands twice in a header counts twice; such a file is not one of pawl's.
static bool has_columns(const int* places, int count, Wanted w) {
  int found = 0;
  for (int k = 0; k < count; k++) {
    found += places[k] >= w.first && places[k] < w.first + w.width;
  }
  return found == w.width;
}

static int count_lines(const char* text) {
  int lines = 0;
  for (const char* c = text; *c; c++) {
    lines += *c == '\n';
  }
  return lines;
}

// One line of numbers into `values`, by place; an empty cell, but for the first, is NaN. False when
// it is not a line of `count` numbers.
static bool read_line(char** at, int count, const int* places, double* values) {
  for (int k = 0; k < count; k++) {
    char* end;
    bool empty = k > 0 && **at != '\0' && strchr(",\n", **at);
    double x = empty ? NAN : strtod(*at, &end);
    end = empty ? *at : end;
    if ((end == *at && !empty) || (*end != (k + 1 < count ? ',' : '\n') && *end != '\0')) {
      return false;
    }
    if (places[k] >= 0) {
      values[places[k]] = x;
    }
    *at = end + (*end != '\0');
  }
  return true;
}

static bool allocate(Path* out, int lines, const Wanted* wanted, const bool* there) {
  for (int part = 0; part < PARTS; part++) {
    size_t numbers = ((size_t)lines + 1) * (size_t)(wanted[part].width + 1);
    for (int k = 0; k < 2; k++) {
      Curve* c = k ? &out->graph[part] : &out->curve[part];
      c->width = wanted[part].width;
      c->t = malloc(((size_t)lines + 1) * sizeof(double));
      c->x = malloc(numbers * sizeof(double));
      bool slope = k == 0 && there[part + 1] && wanted[part + 1].width == wanted[part].width;
      c->slope = slope ? malloc(numbers * sizeof(double)) : NULL;
      if (!c->t || !c->x || (slope && !c->slope)) {
        return false;
      }
    }
  }
  return true;
}

// Sides of a jump without accelerations belong to the graph only.
static bool is_side(const double* values, const Wanted* accelerations) {
  for (int k = 0; k < accelerations->width; k++) {
    if (isnan(values[accelerations->first + k])) {
      return true;
    }
  }
  return false;
}

static void keep_line(Path* out, const double* values, const Wanted* wanted) {
  for (int part = 0; part < PARTS; part++) {
    for (int k = is_side(values, &wanted[PARTS]); k < 2; k++) {
      Curve* c = k ? &out->graph[part] : &out->curve[part];
      size_t at = (size_t)c->count * (size_t)c->width, bytes = (size_t)c->width * sizeof(double);
      c->t[c->count] = values[0];
      memcpy(c->x + at, values + wanted[part].first, bytes);
      if (c->slope) {
        memcpy(c->slope + at, values + wanted[part + 1].first, bytes);
      }
      c->count++;
    }
  }
}

static PawlStatus read_table(const char* file, char* text, const PawlRecorder* like, int* places,
                             double* values, Path* out, PawlError* err) {
  static const PawlColumnKind kinds[PARTS + 1] = {PAWL_COLUMN_COORDINATE, PAWL_COLUMN_RATE,
                                                  PAWL_COLUMN_ACCELERATION};
  char* body = strchr(text, '\n');
  if (!body) {
    return fail(err, PAWL_ERROR_USAGE, file, "is not a table: it has no header line and numbers");
  }
  *body++ = '\0';
  int count = read_header(text, like, places);
  Wanted wanted[PARTS + 1];
  bool there[PARTS + 1];
  for (int k = 0; k <= PARTS; k++) {
    wanted[k] = (Wanted){0, 0};
    wanted[k].width = study_columns(like, kinds[k], &wanted[k].first);
    there[k] = count > 0 && has_columns(places, count, wanted[k]);
  }
  if (count < 1 || places[0] != 0 || !there[0] || !there[1]) {
    return fail(err, PAWL_ERROR_USAGE, file,
                "lacks columns of the model: t, every coordinate and every rate are needed, as "
                "`pawl run -o` writes them");
  }
  if (!allocate(out, count_lines(body) + 1, wanted, there)) {
    return fail(err, PAWL_ERROR_MEMORY, file, "out of memory");
  }
  for (int line = 2; *body; line++) {
    if (!read_line(&body, count, places, values)) {
      char what[80];
      snprintf(what, sizeof what, "line %d is not a line of %d numbers", line, count);
      return fail(err, PAWL_ERROR_USAGE, file, what);
    }
    keep_line(out, values, wanted);
  }
  if (out->curve[0].count < 2) {
    return fail(err, PAWL_ERROR_USAGE, file, "has fewer than two samples");
  }
  out->end = out->curve[0].t[out->curve[0].count - 1];
  return PAWL_OK;
}

PawlStatus path_of_csv(const char* file, const PawlRecorder* like, Path* out, PawlError* err) {
  *out = (Path){.first_switch = INFINITY};
  char* text = read_all(file, err);
  int* places = malloc(MOST_CSV_COLUMNS * sizeof *places);
  double* values = calloc((size_t)pawl_recorder_column_count(like) + 1, sizeof(double));
  PawlStatus status = PAWL_ERROR_FILE;
  if (text && places && values) {
    status = read_table(file, text, like, places, values, out, err);
  } else if (text) {
    status = fail(err, PAWL_ERROR_MEMORY, file, "out of memory");
  }
  free(text);
  free(places);
  free(values);
  if (status != PAWL_OK) {
    path_destroy(out);
  }
  return status;
}
