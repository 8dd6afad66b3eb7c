// SPDX-License-Identifier: Apache-2.0
// Columns of numbers from a text file, for tables.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pawl/base.h"

#define PAWL_TABLE_MAX_BYTES 1073741824  // of a file
#define PAWL_TABLE_MAX_POINTS 10000000   // of a table; of two arguments PAWL_TABLE_MAX_GRID
#define PAWL_TABLE_MAX_GRID 1000000

enum { PAWL_TABLE_COLUMNS = 3 };

// Which columns are wanted: by name, or, for a whole number, by place from 1.
typedef struct PawlColumns {
  int wanted;  // 2 or 3
  const char* name[PAWL_TABLE_COLUMNS];
  int count;                          // rows
  double* value[PAWL_TABLE_COLUMNS];  // to be freed by pawl_columns_free, whatever the status
  int* line;                          // of each row in the file
} PawlColumns;

// Fields stand between commas, semicolons, tabs or blanks, the first of these that the first row
// has; a row that begins with # and an empty one are skipped; the first row may have names. On
// failure (PAWL_ERROR_MODEL, PAWL_ERROR_MEMORY) the message begins with the file and its line.
PAWL_CHECKED PawlStatus pawl_columns_read(const char* file, const char* text, size_t length,
                                          PawlColumns* columns, PawlError* err);
void pawl_columns_free(PawlColumns* columns);

// The decimal number that fills the whole of a text, in the notation of C whatever the locale is.
bool pawl_read_number(const char* text, size_t length, double* value);
