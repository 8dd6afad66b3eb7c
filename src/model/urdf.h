// SPDX-License-Identifier: Apache-2.0
// Robots in URDF: the text becomes the tree of a model with `mechanism:`, `bodies:` and `joints:`
// (docs/bodies.md), whose nodes have their places in the URDF.
#pragma once

#include "base/text.h"
#include "model/node.h"
#include "model/pool.h"
#include "model/report.h"
#include "pawl/model.h"

// What a reader should know of a text that was read all the same: lines "robot.urdf:12: ...".
typedef struct PawlRemarks {  // all zero is empty
  PawlText warnings;          // the motion may not be what was meant
  PawlText notes;     // what was left out or changed, with little or no effect on the motion
  PawlText comments;  // more of that, for a file that is made of it
} PawlRemarks;

PAWL_PRINTF(2, 3) void pawl_remark(PawlText* lines, const char* format, ...);
void pawl_remarks_free(PawlRemarks* remarks);

// Is it XML? Models in YAML begin with no '<'.
bool pawl_text_is_xml(const char* text, size_t length);

// The tree of a robot, in the pool. NULL after reporting why.
PawlYaml* pawl_urdf_parse(PawlPool* pool, const char* text, size_t length, const PawlRobotDef* def,
                          PawlReport* report, PawlRemarks* remarks);
