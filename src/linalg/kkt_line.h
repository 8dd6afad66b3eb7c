// SPDX-License-Identifier: Apache-2.0
// What kkt_line.c, which uses the code of small systems, and kkt_line_write.c, which writes it,
// know of each other.
#pragma once

#include <stdatomic.h>

#include "base/code.h"
#include "base/text.h"
#include "linalg/kkt_impl.h"

enum {
  PAWL_KKT_LINE_UNKNOWNS = 10,  // most of the matrix: a column is in as many registers
  PAWL_KKT_LINE_PINNED = 12,  // with the coordinates that rows pin (kkt_pins.c), in registers, too
};

// The numbers that code reads: first these, then R, C and the factors of S, B and J.
typedef enum PawlKktLineNumber {
  PAWL_KKT_LINE_ZERO,
  PAWL_KKT_LINE_ONE,
  PAWL_KKT_LINE_SMALLEST,
  PAWL_KKT_LINE_LARGEST,
  PAWL_KKT_LINE_MOST_GROWTH,
  PAWL_KKT_LINE_INFINITE,
  PAWL_KKT_LINE_LEAST_PIN,
  PAWL_KKT_LINE_TRACE,   // of S, 1 at least; and
  PAWL_KKT_LINE_MOST_D,  // the most that the sum may be where S stays
  PAWL_KKT_LINE_FIRST
} PawlKktLineNumber;

// Sets of active rows that have code of their own.
typedef struct PawlKktLineSet {
  unsigned rows;  // a bit for each that is active
  bool pinned;    // those of one entry are left out
  int uses;       // without code
  bool loose;     // it cannot be judged by what (K14) says
  PawlKktCodeFactor *factor, *factor_rows;
  PawlKktCodeSolve *solve, *solve_rows;
  unsigned char* code;  // memory of all, where it is machine code
} PawlKktLineSet;

struct PawlKktLine {
  bool off;
  bool foreign;  // no machine code can be written here
  PawlKktLineSet sets[PAWL_KKT_SETS];
  int set_count;
  atomic_uint met;      // a bit for each set that was in use: others may ask for it (kkt_source.h)
  PawlKktLineSet* set;  // of the active rows; NULL: there was no room
  size_t bytes;         // of the machine code of a set
  double* table;
  int R, C, S, B, J;  // where they begin in it
};

// The functions of a set in their order. Those of rows alone factor where S stays, and solve where
// x is 0.
typedef enum PawlKktLineFunction {
  PAWL_KKT_LINE_FACTOR,
  PAWL_KKT_LINE_FACTOR_ROWS,
  PAWL_KKT_LINE_SOLVE,
  PAWL_KKT_LINE_SOLVE_ROWS
} PawlKktLineFunction;

// Writes them for the active rows that there are, one after the other, and where each begins.
// `pinned`: rows of one entry are left out. `failed` of `code` where there is no room.
void pawl_kkt_line_write_code(PawlKkt* kkt, bool pinned, PawlCode* code,
                              size_t begin[PAWL_KKT_FUNCTIONS]);
// The same as C, as functions f<first>, f<first + 1>, ... False: it has no such code.
bool pawl_kkt_line_write_source(PawlKkt* kkt, bool pinned, PawlText* out, int first);
