// SPDX-License-Identifier: Apache-2.0
// Choosing columns by name: "t, x, theta', lambda(pin)". Spaces do not count. A name without its
// row or index stands for all of them.
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "io/writer.h"

enum { LONGEST_NAME = 512 };

// The next name up to a comma outside brackets, without spaces, into `name`. NULL past the last.
static const char* next_name(const char* at, char name[LONGEST_NAME]) {
  int depth = 0, used = 0;
  for (; *at && (depth > 0 || *at != ','); at++) {
    depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
    if (!isspace((unsigned char)*at) && used < LONGEST_NAME - 1) {
      name[used++] = *at;
    }
  }
  name[used] = '\0';
  return *at == ',' ? at + 1 : at;
}

// "lambda(pin)" stands for lambda(pin,1), lambda(pin,2); "lambda" for those of all constraints; "u"
// for u[0], u[1]; "u'" for u[0]', ...; "work" for work.forces, ...
static bool stands_for(const char* name, const char* column) {
  size_t length = strlen(name);
  if (strcmp(name, "work") == 0 && strncmp(column, "work.", 5) == 0) {
    return true;
  }
  if (length > 0 && name[length - 1] == ')' && strncmp(name, column, length - 1) == 0) {
    return column[length - 1] == ',';
  }
  if (length > 0 && strncmp(name, column, length) == 0 && column[length] == '(') {
    return true;
  }
  size_t stem = strcspn(name, "'");
  const char* bracket = strchr(column, ']');
  return strncmp(name, column, stem) == 0 && column[stem] == '[' && bracket &&
         strcmp(bracket + 1, name + stem) == 0;
}

// Adds the columns of that name; false when there is none.
static bool choose(const PawlRecorder* recorder, const char* name, int* columns, int* count) {
  int all = pawl_recorder_column_count(recorder), before = *count;
  for (int exact = 1; exact >= 0 && *count == before; exact--) {
    for (int j = 0; j < all; j++) {
      const char* column = pawl_recorder_column(recorder, j)->name;
      if (exact ? strcmp(column, name) == 0 : stands_for(name, column)) {
        columns[(*count)++] = j;
      }
    }
  }
  return *count > before;
}

static PawlStatus no_such_column(const PawlRecorder* recorder, const char* name, PawlError* err) {
  PawlNearest nearest = {.wanted = name};
  for (int j = 0; j < pawl_recorder_column_count(recorder); j++) {
    pawl_nearest_offer(&nearest, pawl_recorder_column(recorder, j)->name);
  }
  return pawl_fail(err, PAWL_ERROR_USAGE, "columns: '%.100s' is not a column of this run%s%s%s",
                   name, nearest.name ? "; did you mean '" : "", nearest.name ? nearest.name : "",
                   nearest.name ? "'?" : "");
}

// How many names a list can hold at most.
static int count_names(const char* wanted) {
  int count = 1;
  for (; *wanted; wanted++) {
    count += *wanted == ',';
  }
  return count;
}

PawlStatus pawl_columns_choose(const PawlRecorder* recorder, const char* wanted, int** columns,
                               int* count, PawlError* err) {
  int all = pawl_recorder_column_count(recorder);
  *count = 0;
  // A name given again is written again.
  *columns = pawl_alloc((size_t)all * (size_t)(wanted ? count_names(wanted) : 1), sizeof(int));
  if (!*columns) {
    return pawl_fail_memory(err);
  }
  for (int j = 0; !wanted && j < all; j++) {
    if (pawl_recorder_column(recorder, j)->kind != PAWL_COLUMN_WORK) {
      (*columns)[(*count)++] = j;
    }
  }
  char name[LONGEST_NAME];
  for (const char* at = wanted; at && *at;) {
    at = next_name(at, name);
    if (!choose(recorder, name, *columns, count)) {
      return no_such_column(recorder, name, err);
    }
  }
  return PAWL_OK;
}

bool pawl_columns_corrections(const char* wanted) {
  static const char* const names[] = {"nu", "Lambda", "lambda.smooth"};
  char name[LONGEST_NAME];
  for (const char* at = wanted; at && *at;) {
    at = next_name(at, name);
    name[strcspn(name, "(")] = '\0';
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
      if (strcmp(name, names[k]) == 0) {
        return true;
      }
    }
  }
  return false;
}

const char* pawl_kind_name(PawlColumnKind kind) {
  switch (kind) {
    case PAWL_COLUMN_TIME:
      return "time";
    case PAWL_COLUMN_COORDINATE:
      return "coordinate";
    case PAWL_COLUMN_RATE:
      return "rate";
    case PAWL_COLUMN_ACCELERATION:
      return "acceleration";
    case PAWL_COLUMN_MULTIPLIER:
      return "multiplier";
    case PAWL_COLUMN_ENERGY:
      return "energy";
    case PAWL_COLUMN_RESIDUAL:
      return "residual";
    case PAWL_COLUMN_OUTPUT:
      return "output";
    case PAWL_COLUMN_WORK:
      return "work";
    case PAWL_COLUMN_PATH:
      return "path";
    case PAWL_COLUMN_CORRECTION:
      return "correction";
    case PAWL_COLUMN_STATE:
      return "state";
    case PAWL_COLUMN_STATE_RATE:
      return "state rate";
    case PAWL_COLUMN_INPUT:
      return "input";
  }
  return "";
}
