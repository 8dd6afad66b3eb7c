// SPDX-License-Identifier: Apache-2.0
// Loads of contacts that slip and that no equation determines (docs/theory/friction.md, section 9):
// rows in force that depend on each other, sum n_j G_j = 0, may carry alpha n_j more each, and
// where contacts that slip are among them, their friction grows with it. Where that moves
// something, the motion hangs on alpha. It knows no instant.
#pragma once

#include "switch/dynamics.h"

// A gap whose contact slips with a load that is not determined and that (F28) does not spread, of
// these the one with the least lambda; -1: none. The factors of the dynamics are others then.
PAWL_CHECKED PawlStatus pawl_loose_find(PawlDynamics* d, const PawlState* state,
                                        const PawlValues* values, const double* lambda, int* row,
                                        PawlError* err);
