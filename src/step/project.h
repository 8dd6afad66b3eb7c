// SPDX-License-Identifier: Apache-2.0
// Back onto the constraints after a step (docs/theory/motion-forms.md, (E10) to (E12)): positions
// and velocities are moved by the least change, in the metric of M, that the rows which bind ask
// for. It takes the KKT matrix that is factored already and factors nothing: that of the end
// itself, where v' and lambda are at hand there and little is off, else one of a point near by.
#pragma once

#include "step/method.h"

typedef struct PawlProjection {
  PawlEval* place;  // M, f, g, G, g_t and what else was asked for; NULL: the system has no rows
  bool placed;      // it has been run at the point that comes next
  double *r, *r_v, *size;  // rows: what is off, and how large its terms are
  double *x, *x_v;         // v: a change
  const int* diagonal;     // v: places of the diagonal in M, -1 for none
} PawlProjection;

// Solves [M -G^T; G 0] [x; y] = [x; r] in place with a matrix of a point near by; r has an entry
// for every row, 0 where it does not bind.
typedef void PawlNearbySolve(PawlStepper* s, void* data, double* x, double* r);
PawlNearbySolve pawl_projection_by_kkt;  // with s->kkt; `data` is not used

// `also`: what `place` has besides, bits of PawlQuantity.
PAWL_CHECKED PawlStatus pawl_projection_create(PawlStepper* s, unsigned also, PawlProjection* p,
                                               PawlError* err);
void pawl_projection_destroy(PawlProjection* p);

// Moves q and v onto the rows of `phase` at time t. `*moved` (may be NULL) says whether anything
// was off. PAWL_RETRY: the point is too far off, or the rows are too near to being dependent, named
// in err; q and v are then of no use.
PAWL_CHECKED PawlStatus pawl_projection_apply(PawlStepper* s, PawlProjection* p,
                                              const PawlPhase* phase, PawlNearbySolve* solve,
                                              void* data, double t, double* q, double* v,
                                              bool* moved, PawlError* err);

// Whether any row of `phase` binds.
bool pawl_projection_any(const PawlStepper* s, const PawlProjection* p, const PawlPhase* phase);

// By how much q and v are expected to be moved; coordinates are numbers.
typedef struct PawlProjectionGuess {
  const double *q, *v;
} PawlProjectionGuess;

// The same where `place` has been run at (q, v), or (q, v) moved by a guess (NULL: none), M among
// its values, `solve` is with the matrix of this very point, and `a` is v' there. True: q and v are
// moved, to so near by this point that `a` and the multipliers serve for them (E13). False: more is
// off, and nothing has changed. By how much is in p->x and p->x_v.
bool pawl_projection_at_once(PawlStepper* s, PawlProjection* p, const PawlPhase* phase,
                             PawlNearbySolve* solve, void* data, const PawlProjectionGuess* guess,
                             const double* a, double* q, double* v);
