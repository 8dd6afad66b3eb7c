// SPDX-License-Identifier: Apache-2.0
// Loads of contacts that slip and that no equation determines (docs/theory/friction.md, section 9):
// rows in force that depend on each other, sum n_j G_j = 0, may carry alpha n_j more each, and
// where contacts that slip are among them, their friction grows with it. Where that moves
// something, the motion hangs on alpha. It knows no instant.
#pragma once

#include "switch/dynamics.h"

typedef struct PawlLoose {
  int row;       // a gap that is to carry nothing; -1: all loads are determined
  bool reached;  // loads were changed up to where it does, within the cones: all that was decided
                 // stays as it is. Else it is the one that slips with the least load
  bool slips;    // not that: it comes to its cone there, and is to slip
} PawlLoose;

// Of contacts that slip with a load that is not determined and that (F28) does not spread. The
// factors of the dynamics are others then.                                            (F42) (F48)
PAWL_CHECKED PawlStatus pawl_loose_find(PawlDynamics* d, const PawlState* state,
                                        const PawlValues* values, double* lambda, PawlLoose* out,
                                        PawlError* err);
