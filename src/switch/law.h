// SPDX-License-Identifier: Apache-2.0
// The law of a jump: which gradient carries the impulse (docs/theory/impact.md).
#pragma once

#include "switch/dynamics.h"
#include "switch/impact.h"

#define PAWL_LAW_NONE (-1.0)  // rates are set, momentum is not looked at

typedef struct PawlLaw {
  PawlDynamics* dynamics;
  PawlImpact* impact;  // NULL for systems too large for gradients between two others
  PawlEval* rates;     // switching functions and their rates
  double *B, *v, *Lambda;
} PawlLaw;

// What was in force before a switch, for the law of the jump.
typedef struct PawlCrossing {
  PawlLaw* law;
  const PawlState* before;  // with its phase
  const double* G;          // gradient before
} PawlCrossing;

PAWL_CHECKED PawlStatus pawl_law_create(PawlDynamics* dynamics, PawlLaw* law, PawlError* err);
void pawl_law_destroy(PawlLaw* law);

// "post", "pre", "bisector", "none" or a number from 0 to 1.
PAWL_CHECKED PawlStatus pawl_law_parse(const char* text, double* epsilon, PawlError* err);
// The law of the constraints that differ between two sets of modes. What engages and lets go knows
// post and none; regions have what the model or the option says.
PAWL_CHECKED PawlStatus pawl_law_of(const PawlDynamics* dynamics, double t, const int* from,
                                    const int* to, PawlImpactLaw* law, PawlError* err);
// The least rate of the switching functions of the regions entered, relative to the largest before
// the jump: negative when the motion does not go on into them. INFINITY where no region changes.
PAWL_CHECKED PawlStatus pawl_law_gain(const PawlCrossing* crossing, const PawlPhase* after,
                                      const double* v, double* gain, PawlError* err);
// Fails when the motion would lead back.
PAWL_CHECKED PawlStatus pawl_law_check_gain(const PawlCrossing* crossing, const PawlPhase* after,
                                            PawlImpactLaw law, double gain, PawlError* err);
// The jump by a law between pre and post, with the choice of directions that lets the motion go on.
// `values` hold M, G and g_t after.
PAWL_CHECKED PawlStatus pawl_law_solve(const PawlCrossing* crossing, const PawlPhase* after,
                                       const PawlValues* values, PawlImpactLaw law, double* v_plus,
                                       double* Lambda, unsigned* flips, double* gain,
                                       PawlError* err);
// For a step with a switch in it: force directions between the gradient before and that of `values`
// (which hold M, G and g_t), in the order of the pattern. G itself without a crossing and for the
// law post. PAWL_RETRY: the motion would lead back.
PAWL_CHECKED PawlStatus pawl_law_directions(const PawlPhase* phase, const PawlValues* values,
                                            const double** B, PawlError* err);
