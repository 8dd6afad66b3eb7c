// SPDX-License-Identifier: Apache-2.0
// Small pictures of a motion, for papers and pages: the scene of a model (docs/model-format.md) as
// an animation, or several instants in one frame.
#pragma once

#include <stdbool.h>

#include "pawl/base.h"
#include "pawl/model.h"
#include "pawl/recorder.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PawlMotionDef {  // start from pawl_motion_def_default()
  int strobe;                   // instants drawn in one frame, the last one strongest; 0: it moves
  double from, to;              // window of time [s]; infinite: all
  int width, height;            // largest [px]; 0: 640
  int frame;                    // > 0: that instant of the animation alone, 1 the first
} PawlMotionDef;

PAWL_API PawlMotionDef pawl_motion_def_default(void);
PAWL_API bool pawl_model_has_scene(const PawlModel* model);

// How many instants an animation of what `recorder` has kept shows, in how many seconds.
PAWL_API int pawl_motion_frames(const PawlMotionDef* def, const PawlRecorder* recorder,
                                double* seconds);

// Draws the run of `model` that `recorder` has kept, equal scales on both axes, to a file: an SVG
// that moves by itself in every browser (and stands still for readers who want less motion), in
// real time where that is between 2 and 20 s, or, of several instants or one, SVG or PDF by the
// ending. Spatial scenes are seen from the front (-y), the left and above.
// PAWL_ERROR_USAGE: the model has no scene, or there are no samples.
PAWL_API PAWL_CHECKED PawlStatus pawl_motion_write(const PawlModel* model,
                                                   const PawlRecorder* recorder,
                                                   const PawlMotionDef* def, const char* path,
                                                   PawlError* err);

#ifdef __cplusplus
}
#endif
