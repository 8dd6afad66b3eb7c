// SPDX-License-Identifier: Apache-2.0
// Back onto the constraints after a step (docs/theory/motion-forms.md, (E10) to (E12)): positions
// and velocities are moved by the least change, in the metric of M, that the rows which bind ask
// for. It takes the KKT matrix that is factored already, of a point near by, and factors nothing.
#pragma once

#include "step/method.h"

typedef struct PawlProjection {
  PawlEval* place;   // g, G and g_t; NULL: the system has no rows
  double *r, *size;  // rows: what is off, and how large its terms are
  double* x;         // v: a change
} PawlProjection;

// Solves [M -G^T; G 0] [x; y] = [x; r] in place with a matrix of a point near by; r has an entry
// for every row, 0 where it does not bind.
typedef void PawlNearbySolve(PawlStepper* s, void* data, double* x, double* r);
PawlNearbySolve pawl_projection_by_kkt;  // with s->kkt; `data` is not used

PAWL_CHECKED PawlStatus pawl_projection_create(PawlStepper* s, PawlProjection* p, PawlError* err);
void pawl_projection_destroy(PawlProjection* p);

// Moves q and v onto the rows of `phase` at time t. `*moved` (may be NULL) says whether anything
// was off. PAWL_RETRY: the point is too far off, or the rows are too near to being dependent, named
// in err; q and v are then of no use.
PAWL_CHECKED PawlStatus pawl_projection_apply(PawlStepper* s, PawlProjection* p,
                                              const PawlPhase* phase, PawlNearbySolve* solve,
                                              void* data, double t, double* q, double* v,
                                              bool* moved, PawlError* err);
