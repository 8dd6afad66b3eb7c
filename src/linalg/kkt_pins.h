// SPDX-License-Identifier: Apache-2.0
// Rows that pin a coordinate, and what the solution needs of them (kkt_pins.c). Unknowns are the
// coordinates, then the active rows.
#pragma once

#include <stdbool.h>

// [1] The smallest entry of a row that pins: as small as 1 / MOST_GROWTH of lu.c.
#define PAWL_KKT_LEAST_PIN (1.0 / 64.0)

typedef struct PawlKktTerm {
  int value;    // in `values`
  int unknown;  // by which it is multiplied, or the equation of the matrix that it goes to
} PawlKktTerm;

typedef struct PawlKktPin {
  int j, a, entry;  // coordinate, place among the active rows, entry of G
  int column, row;  // where its terms begin: S_ij, J_bj of column j, S_jk, -B_bj of row j
} PawlKktPin;

struct PawlKktPins {
  bool on;
  bool listed;         // the terms of each pin
  PawlKktPin* pins;    // (n + 1) the last one ends the terms of the one before
  int* of;             // (size) the pin of an unknown, -1: it takes part
  int* at;             // (size) where an unknown that takes part stands in the matrix
  int* unknown;        // (size) the unknown at a place of the matrix
  PawlKktTerm* terms;  // (2 (entries of S and G))
  double* u;           // (size) unknowns; scaled
  double *R, *C;       // (size) of these
  double* t;           // (size)
};
