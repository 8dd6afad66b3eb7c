// SPDX-License-Identifier: Apache-2.0
// The end of a step of a small system whose rows bind: v', lambda and the projection onto the rows
// (docs/theory/motion-forms.md, (E13) and (E14)) with nothing between the machine code of the
// equations and that of the linear system, as direct.h does for stages. The operations are those of
// pawl_forms_arrive in the form index-1, and so are the bits.
#pragma once

#include "step/forms.h"
#include "system/kernels.h"

typedef enum PawlArrived {
  PAWL_ARRIVED_NOT,  // something is not as usual: nothing was done
  PAWL_ARRIVED_OFF,  // much is off: pawl_forms_arrive_off goes on
  PAWL_ARRIVED,      // the state is that of the end
} PawlArrived;

// From the sums q and v of the stages of a step of length h, by what these were computed with; `a`
// and `lambda` are those of the last stage, and become those of the end. Coordinates are numbers.
PawlArrived pawl_arrive(PawlStepper* s, PawlForms* forms, const PawlPhase* phase,
                        const PawlKernelsPoint* at, PawlState* state, double h, const double* q,
                        const double* v, double* a, double* lambda);
