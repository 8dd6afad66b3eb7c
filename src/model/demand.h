// SPDX-License-Identifier: Apache-2.0
// What numbers of bodies and joints must be. They are demanded where the text is read, and looked
// at when all parameters have their values; those that are known later only (they depend on time or
// coordinates) are not.
#pragma once

#include "model/parts.h"

typedef enum PawlDemandKind {
  PAWL_DEMAND_POSITIVE,
  PAWL_DEMAND_NOT_NEGATIVE,
  PAWL_DEMAND_NOT_ZERO,
  PAWL_DEMAND_EQUAL,     // two, up to rounding of the largest of all that are given
  PAWL_DEMAND_INERTIA,   // of a symmetric matrix: 11, 22, 33, 12, 13, 23
  PAWL_DEMAND_ROTATION,  // of a matrix: its determinant and the sum of its squares
  PAWL_DEMAND_OUTLINE    // of a polygon: x and y of its corners, counter-clockwise, not crossing
} PawlDemandKind;

typedef struct PawlDemand {
  PawlDemandKind kind;
  PawlYaml* key;  // of the body or joint, with the range of a family
  PawlYaml** text;
  int count;
  const char* what;  // how the message begins: "the mass of 'arm' is negative"
  struct PawlDemand* next;
} PawlDemand;

// Mistakes are at the place of `like`. Where a text is NULL, which has been reported, nothing is.
void pawl_demand(PawlMade* made, PawlDemandKind kind, const PawlPartName* of, const PawlYaml* like,
                 const char* what, int count, const char* const texts[]);
void pawl_demand_one(PawlMade* made, PawlDemandKind kind, const PawlPartName* of,
                     const PawlYaml* like, const char* what, const char* text);
// Of a shape of a body: `sizes` are those of its word, box: [a, b]. Corners of a polygon are
// counter-clockwise and its edges do not cross.
void pawl_demand_shape(PawlMade* made, const PawlPartName* of, const PawlYaml* sizes);

// `turn:` of a joint or shape in space: a matrix that turns and does nothing else.
void pawl_demand_rotation(PawlMade* made, const PawlPartName* of, const PawlYaml* like,
                          const char* text);

// Reports, or warns of, those that do not hold.
void pawl_judge_demands(PawlLoader* loader);
