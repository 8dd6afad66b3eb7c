// SPDX-License-Identifier: Apache-2.0
// Moving a start onto the constraints while some of its coordinates and rates stay as stated
// (docs/theory/initial.md).
#pragma once

#include "pawl/stepper.h"

enum { PAWL_ASSEMBLY_MOST = 2000 };  // coordinates, and rates, that may change

// Rows that need not hold: neither they nor their rates, or one of both.
enum { PAWL_LEFT_POSITION = 1, PAWL_LEFT_VELOCITY = 2, PAWL_LEFT_BOTH = 3 };

typedef struct PawlAssemblyDef {
  const bool* kept[2];        // flags of coordinates, of rates: these stay
  const unsigned char* left;  // rows: 0, or PAWL_LEFT_...; NULL: all must hold
  const char* how[2];         // for messages: "the position of the start cannot be <how>"
  // Without mass the changes have no metric: then each counts the same. And a step from far away
  // may be shortened.
  bool any_metric;
  double nearly;  // [1] of the terms of rows: starts that are farther off are refused; 0: none are
} PawlAssemblyDef;

// q and v of `state` are as stated; its modes are known. They become those that satisfy the rows in
// force, by the least change in the metric of the mass matrix of what may change. PAWL_ERROR_RUN:
// that cannot be; the message names the rows and how far they are off.
PAWL_CHECKED PawlStatus pawl_assemble(const PawlSystem* system, PawlState* state,
                                      const PawlAssemblyDef* def, PawlError* err);
