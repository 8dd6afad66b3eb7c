// SPDX-License-Identifier: Apache-2.0
// Rest positions: f + G^T lambda = 0 and g = 0 with all rates zero (docs/theory/equilibrium.md).
#pragma once

#include <stdbool.h>

#include "pawl/base.h"
#include "pawl/spectrum.h"
#include "pawl/system.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PawlEquilibrium {
  PawlPoint point;              // q and lambda at rest, rates and accelerations zero
  const unsigned char* active;  // rows: in force, or a contact that is closed
  double potential;             // [J]
  double acceleration;          // what is left of one, the largest [m/s^2, rad/s^2]
  int iterations;
  bool kink;  // rests in a kink of the forces, which drive back on its sides; lambda is between
} PawlEquilibrium;

// Seeks a rest position from `q` (sizes.q; NULL: the start of the model) at t = 0, in the modes of
// the start. The search goes down the potential, so that it ends at a stable position unless it
// begins at another. PAWL_ERROR_RUN: none was found, with the coordinate that still moves, or it is
// outside the region of its mode. Free `*out` with pawl_equilibrium_destroy.
PAWL_API PAWL_CHECKED PawlStatus pawl_equilibrium_find(const PawlSystem* system, const double* q,
                                                       PawlEquilibrium** out, PawlError* err);
PAWL_API void pawl_equilibrium_destroy(PawlEquilibrium* equilibrium);  // NULL is allowed

// Small motions about it, of any system: frequencies, damping, shapes. As pawl_spectrum_create.
// PAWL_ERROR_RUN in a kink, where forces do not go to zero with the motion.
PAWL_API PAWL_CHECKED PawlStatus pawl_spectrum_at(const PawlSystem* system,
                                                  const PawlEquilibrium* equilibrium,
                                                  PawlSpectrum** out, PawlError* err);

#ifdef __cplusplus
}
#endif
