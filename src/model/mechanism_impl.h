// SPDX-License-Identifier: Apache-2.0
// What only the files of mechanism.c share.
#pragma once

#include "model/joints.h"

// A scene for a model that has none. `springs`: that section, may be NULL.
void pawl_write_mechanism_scene(PawlMade* made, const PawlBodies* bodies, const PawlJoints* joints,
                                const PawlYaml* springs, const char* gravity);
