// SPDX-License-Identifier: Apache-2.0
// A scene at several instants, and where its points are in a picture.
#pragma once

#include "base/text.h"
#include "pawl/motion.h"
#include "system/scene.h"

typedef struct PawlMotionPoint {
  double x, y;  // [px], y points down
} PawlMotionPoint;

typedef struct PawlMotion {
  const PawlModel* model;
  const PawlRecorder* recorder;
  PawlScene* scene;
  const double* fixed;
  int channels;
  int frames;            // instants drawn, then
  int traced;            // those of traces, of the whole window
  double* times;         // [s] of all of them
  double* values;        // channels of all of them, row behind row
  double* spare;         // room for two rows
  double* nothing;       // multipliers that have no value
  bool impacts;          // there are samples whose multipliers have none
  double width, height;  // of the picture [px]
  double scale;          // px for a unit of length
  double left, top;      // of the picture, in units of the projection
  double force;          // px for a newton
  bool* late;            // of each shape: it stands still, and may hide what moves; in space
  int* order;            // room for all shapes, twice
  int* body;             // of each shape: the body that it encloses with others, -1 without
} PawlMotion;

// ---- motion_frames.c
// Looks at the scene at `frames` equal steps of the window, and at more for traces; finds the view
// that holds all of it. Destroy it in any case.
PAWL_CHECKED PawlStatus pawl_motion_look(PawlMotion* motion, const PawlMotionDef* def, int frames,
                                         PawlError* err);
void pawl_motion_destroy(PawlMotion* motion);
double pawl_motion_value(const PawlMotion* motion, int frame, PawlNode node);
// False when the point has no value at this instant.
bool pawl_motion_point(const PawlMotion* motion, int frame, const PawlNode node[3],
                       PawlMotionPoint* out);
// The same, or a direction, as it is seen: x to the right, y up, z towards the eye, in its own
// unit.
bool pawl_motion_seen(const PawlMotion* motion, int frame, const PawlNode node[3], double out[3]);
void pawl_motion_view(const PawlMotion* motion, const double p[3], double out[3]);
// Two directions at right angles to one of length 1, and to each other.
void pawl_motion_across(const double n[3], double u[3], double v[3]);
// A vector as it is seen, in its own unit, y down.
void pawl_motion_direction(const PawlMotion* motion, int frame, const PawlNode node[3], double* x,
                           double* y);
// Adds a circle about `centre` in the plane with that normal (of length 1), as `count` lines.
bool pawl_motion_ring(const PawlMotion* motion, PawlMotionPoint centre, const double normal[3],
                      double radius, int count, PawlText* out);
// The constraint or lock that colours a shape holds: it is a lock that is locked.
bool pawl_motion_locked(const PawlMotion* motion, int frame, const PawlShape* shape);
// Does anything of the shape move?
bool pawl_motion_moves(const PawlMotion* motion, const PawlShape* shape);

// ---- motion_shape.c
// Links and cylinders are painted twice: an outline and the inside, the side and the end that is
// seen. Layers are painted from the last to 0.
int pawl_motion_layers(const PawlMotion* motion, const PawlShape* shape);
// The path data of a shape at an instant, always the same commands for one shape; false, and
// nothing is added, where it has no value.
bool pawl_motion_path(const PawlMotion* motion, int frame, const PawlShape* shape, int layer,
                      PawlText* out);
// From the far end of a cylinder to the near one, as it is seen.
bool pawl_motion_axis(const PawlMotion* motion, int frame, const PawlShape* shape, double out[3]);

enum { PAWL_MOTION_SORTED = 1000 };  // shapes; of more the list decides

// ---- motion_closed.c
// For each shape the body that it encloses together with others, -1 without.
void pawl_motion_bodies(const PawlMotion* motion, int* body);

// ---- motion_depth.c
// The order in which shapes are painted in space: that given, changed where one shape hides
// another; ~s in the place of s where it is a side of a closed body that is not seen. False: no
// memory.
bool pawl_motion_sort(const PawlMotion* motion, int frame, int* order);
// Marks shapes that stand still and hide something that moves, at some instant. False: no memory.
bool pawl_motion_late(const PawlMotion* motion, bool* late);
// How bright the side of a shape is that is seen; 1 in the plane. Of a cylinder its end, or side.
double pawl_motion_light(const PawlMotion* motion, int frame, const PawlShape* shape, bool end);
