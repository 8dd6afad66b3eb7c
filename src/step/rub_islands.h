// SPDX-License-Identifier: Apache-2.0
// Contacts with friction by islands, for rub.c alone: what nothing couples is solved for itself, by
// its own compliance (switch/friction.h), or by sweeps (rub_sweep.h).
#pragma once

#include "step/rub.h"

// Velocities that masses, forces or bilateral rows (before `first_row`) couple belong to one body:
// of each v; how many there are. Room: v, rows.
int pawl_rub_islands_bodies(const PawlStepper* s, int first_row, int* body, int* room, int* last);
// Finds the islands of the problem under way; the rows of the largest.
int pawl_rub_islands_find(PawlRub* rub, const unsigned char* near);
// Solves it by these: as pawl_rub_solve.
PAWL_CHECKED PawlStatus pawl_rub_islands_solve(PawlStepper* s, PawlRub* rub,
                                               const PawlRubStep* step, double* x, double* y,
                                               unsigned char* closed, PawlError* err);
// Whether a problem has several solutions, where its islands are small: told once, with the
// contacts and their critical mu (docs/theory/friction.md, sections 6 and 9). y is room.
PAWL_CHECKED PawlStatus pawl_rub_islands_count(PawlStepper* s, PawlRub* rub,
                                               const PawlRubStep* step, const double* x, double* y,
                                               PawlError* err);
