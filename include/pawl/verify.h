// SPDX-License-Identifier: Apache-2.0
// Do the modes of a model fit together? The conditions of Patil and Bruels, section 2: regions
// cover the motion and do not overlap; the two branches of a constraint meet on the switching
// surface; the surface is not tangent to either branch.
#pragma once

#include "pawl/base.h"
#include "pawl/stepper.h"
#include "pawl/system.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PawlVerifier PawlVerifier;  // borrows the system

PAWL_API PAWL_CHECKED PawlStatus pawl_verifier_create(const PawlSystem* system, PawlVerifier** out,
                                                      PawlError* err);
PAWL_API void pawl_verifier_destroy(PawlVerifier* verifier);  // NULL is allowed

// At any state: each constraint with regions is in exactly one of them. PAWL_ERROR_MODEL names the
// constraint, the regions and the point.
PAWL_API PAWL_CHECKED PawlStatus pawl_verify_regions(PawlVerifier* verifier, const PawlState* state,
                                                     PawlError* err);

// Around the motion: the same at points spread evenly, always the same ones, over the times and a
// box three times as wide in each coordinate as the states seen so far. PAWL_ERROR_MODEL names a
// gap, an overlap, or a region that holds none of these points and none of the states. Nothing is
// said of regions whose expressions have wraps or other kinks, which have no value without a
// motion.
PAWL_API PAWL_CHECKED PawlStatus pawl_verify_around(PawlVerifier* verifier, const PawlState* state,
                                                    PawlError* err);

// At a switch: both branches hold there, and [G; Z] has full rank before and after, Z being the
// gradient of the switching function. PAWL_ERROR_MODEL names the constraint, the condition and the
// point.
PAWL_API PAWL_CHECKED PawlStatus pawl_verify_switch(PawlVerifier* verifier,
                                                    const PawlInstant* instant, PawlError* err);

// Degrees of freedom of a configuration in a set of modes, with t fixed (docs/theory/freedom.md):
// by rank there, and by points next to it that are sampled.
typedef struct PawlFreedom {
  int differential;  // of the rates: n - rank G
  int local;         // of the motion: largest dimension of the configurations next to it
  bool regular;      // the differential degrees are the same at all points next to it
  int samples;       // points next to it that were found
} PawlFreedom;
// Locks hold what they would hold if they engaged here. For up to PAWL_FREEDOM_MOST velocities.
#define PAWL_FREEDOM_MOST 40
PAWL_API PAWL_CHECKED PawlStatus pawl_verify_freedom(const PawlSystem* system, double t,
                                                     const double* q, const int* modes,
                                                     PawlFreedom* out, PawlError* err);

// Which rate equations in force can be integrated to equations between coordinates and t, by
// themselves or with the other rows: `rows` (sizes.rows) gets 1 for them, 0 for all other rows. By
// Frobenius' condition at points around q (docs/theory/rate.md); a sum of rows that could be
// integrated where no row can is not seen. For up to PAWL_FREEDOM_MOST velocities, zeros beyond.
PAWL_API PAWL_CHECKED PawlStatus pawl_verify_integrable(const PawlSystem* system, double t,
                                                        const double* q, const int* modes,
                                                        unsigned char* rows, PawlError* err);

#ifdef __cplusplus
}
#endif
