// SPDX-License-Identifier: Apache-2.0
// Time stepping through regions (docs/theory/switching.md): a step is taken with the modes that
// hold at its end. They are found by taking the step with the present ones, looking where it ends,
// and taking it again with the modes of that place until they agree; when modes return that were
// tried before, the last are kept. A mode that was entered in that way from outside of its region
// is not left while the motion leads on into the region.
#pragma once

#include "step/method.h"
#include "switch/surfaces.h"

typedef struct PawlRegions {
  PawlSurfaces* surfaces;
  PawlLaw* law;
  PawlState* before;  // at the beginning of the step
  PawlState* trial;   // the same, with the phase that is tried
  int *next, *tried;  // modes; tried: a list of sets
  double *G, *impulse;
  double* v;         // at the end of the step without a switch
  double* z;         // switching functions at the end of the step in the present modes
  int rest, longer;  // steps to come whose room is not asked for; after the next that is no use
  bool renewed;      // the last step that was asked for had to look at it anew
} PawlRegions;

PAWL_CHECKED PawlStatus pawl_regions_create(PawlStepper* stepper, PawlSurfaces* surfaces,
                                            PawlLaw* law, const PawlStateShape* shape,
                                            PawlRegions* regions, PawlError* err);
void pawl_regions_destroy(PawlRegions* regions);
// On failure the state is as before, and nothing is logged.
PAWL_CHECKED PawlStatus pawl_regions_step(PawlStepper* stepper, PawlRegions* regions,
                                          PawlState* state, double h, PawlError* err);
// Names a constraint that no region holds.
PawlStatus pawl_regions_none(const PawlSystem* system, double t, int constraint, PawlError* err);
