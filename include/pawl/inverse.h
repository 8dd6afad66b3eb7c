// SPDX-License-Identifier: Apache-2.0
// Inverse dynamics: the forces of drives that make a prescribed motion (docs/theory/inverse.md),
//
//   M v' = f + G^T lambda + B u,   the columns of B being the directions of the drives
//
// A drive is a coordinate, or a constraint or lock: its force then acts along the gradient of each
// of its rows, and it is no constraint here. Other constraints and locks are in the modes of the
// start of the model, those with regions in the region of the place. Contacts do not act.
#pragma once

#include "pawl/base.h"
#include "pawl/stepper.h"
#include "pawl/system.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PawlInverse PawlInverse;  // borrows the system

// For up to PAWL_INVERSE_MOST velocities (the matrices are full). `drives` are names; none stand
// for all coordinates. PAWL_ERROR_USAGE: a name that is neither, or given twice.
#define PAWL_INVERSE_MOST 1000
PAWL_API PAWL_CHECKED PawlStatus pawl_inverse_create(const PawlSystem* system, int drive_count,
                                                     const char* const* drives, PawlInverse** out,
                                                     PawlError* err);
PAWL_API void pawl_inverse_destroy(PawlInverse* inverse);  // NULL is allowed

// From here on in the modes of a state of the system (another topology), with what its locks hold.
PAWL_API void pawl_inverse_enter(PawlInverse* inverse, const PawlState* state);

PAWL_API int pawl_inverse_drive_count(const PawlInverse* inverse);  // one for each row of a lock
PAWL_API const char* pawl_inverse_drive_name(const PawlInverse* inverse, int drive);

// Completes a motion at time t of which some coordinates are given (flags by coordinate; NULL:
// all) by the constraints: q, v and a of the others, q being a guess before, and checks that all
// constraints hold. For systems in which velocities are the rates of coordinates, unless all are
// given. PAWL_ERROR_RUN: a coordinate is not determined, or a constraint is violated; the message
// names it.
PAWL_API PAWL_CHECKED PawlStatus pawl_inverse_complete(PawlInverse* inverse, double t,
                                                       const unsigned char* given, double* q,
                                                       double* v, double* a, PawlError* err);

typedef struct PawlInverseForces {  // arrays belong to the inverse, until it is called again
  const double* force;              // of each drive, of minimum norm where drives are redundant
  const double* lambda;             // rows: of minimum norm; zero for rows that do not hold
  double power;                     // of all drives [W]
  int freedom;                      // degrees of freedom that the constraints leave
  int reached;                      // of these, the ones that the drives can push
} PawlInverseForces;

// The forces for a motion that the constraints allow. PAWL_ERROR_RUN: the drives cannot make it;
// the message names the drives and the coordinate that lacks most. PAWL_RETRY: outside a domain.
PAWL_API PAWL_CHECKED PawlStatus pawl_inverse_solve(PawlInverse* inverse, double t, const double* q,
                                                    const double* v, const double* a,
                                                    PawlInverseForces* out, PawlError* err);

#ifdef __cplusplus
}
#endif
