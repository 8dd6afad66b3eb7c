// SPDX-License-Identifier: Apache-2.0
// Tables: functions of one or two numbers that go through given points (docs/theory/tables.md).
//
// A table never changes once it is made, so any number of threads may look into it. What a piece is
// made of is computed when the table is made; to look a value up is to find the piece and to add up
// a polynomial. Pieces are found by a grid over the range with about as many cells as there are
// points, and a binary search among the few points of a cell: nothing is remembered from one look
// to the next.
#pragma once

#include <stdbool.h>

#include "pawl/base.h"

typedef enum PawlTableMethod {
  PAWL_TABLE_LINEAR,
  PAWL_TABLE_CUBIC,     // natural, or periodic: two continuous derivatives
  PAWL_TABLE_MONOTONE,  // Fritsch and Carlson: one continuous derivative, no overshoot
} PawlTableMethod;

typedef enum PawlTableOutside {
  PAWL_TABLE_HOLD,      // the value at the end
  PAWL_TABLE_EXTEND,    // straight on with the slope at the end
  PAWL_TABLE_ERROR,     // NaN
  PAWL_TABLE_PERIODIC,  // from the beginning again
} PawlTableOutside;

// What of a table an operation of the graph asks for; its node has table * PAWL_TABLE_VIEWS + view.
// Of two arguments: 4 * (derivatives by x) + (derivatives by y).
enum {
  PAWL_TABLE_VALUE = 0,     // and its derivatives up to the third
  PAWL_TABLE_POSITION = 4,  // i + (x - x_i)/(x_{i+1} - x_i), and its derivatives
  PAWL_TABLE_KNOT = 8,      // of a piece, by its number: x_i,
  PAWL_TABLE_LEVEL = 9,     // the value there,
  PAWL_TABLE_SLOPE = 10,    // and the slope
  PAWL_TABLE_VIEWS = 16,
  PAWL_TABLE_MOST_ORDER = 3,
};

typedef struct PawlTable PawlTable;
typedef struct PawlTableView {
  const PawlTable* table;
  int view;
} PawlTableView;

typedef struct PawlTableDef {
  const char* name;  // copied
  PawlTableMethod method;
  PawlTableOutside outside;
  int count[2];         // points along x and, of two arguments, y; else 0
  const double *x, *y;  // ascending; y of two arguments only
  const double* value;  // value[i], or value[i * count[1] + j]
} PawlTableDef;

// Checks nothing: at least two points a side, strictly ascending and finite numbers, and of a
// periodic one the last value equal to the first, are the caller's to see to. The data is copied.
// PAWL_ERROR_MEMORY.
PAWL_CHECKED PawlStatus pawl_table_create(const PawlTableDef* def, PawlTable** out);
void pawl_table_destroy(PawlTable* table);  // NULL is allowed

const char* pawl_table_name(const PawlTable* table);
int pawl_table_arguments(const PawlTable* table);  // 1 or 2
PawlTableMethod pawl_table_method(const PawlTable* table);
PawlTableOutside pawl_table_outside(const PawlTable* table);
void pawl_table_range(const PawlTable* table, double* from, double* to);  // of x
const PawlTableView* pawl_table_view(const PawlTable* table, int view);
// The view that is the derivative by argument `by` (0 or 1); -1 where that is zero everywhere.
int pawl_table_derivative(const PawlTable* table, int view, int by);

double pawl_table_at(const PawlTableView* view, double x);
double pawl_table_at_two(const PawlTableView* view, double x, double y);

// The tables of a model, by number.
typedef struct PawlTables {
  int count, capacity;
  PawlTable** item;
} PawlTables;
