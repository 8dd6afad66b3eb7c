// SPDX-License-Identifier: Apache-2.0
// What the files of grip share.
#pragma once

#include "switch/grip.h"

// grip_compliance.c: with room for dense islands of up to `rows` rows at first.
PAWL_CHECKED PawlStatus pawl_grip_compliance_create(PawlGrip* g, int rows, PawlError* err);
void pawl_grip_compliance_free(PawlGrip* g);
// D of all islands. Rigid rows are eliminated, and their matrix factored.
PAWL_CHECKED PawlStatus pawl_grip_compliance_find(PawlGrip* g, const PawlValues* values,
                                                  PawlError* err);
// That of an island to the solver, which has room for its rows.
PAWL_CHECKED PawlStatus pawl_grip_compliance_give(PawlGrip* g, const PawlValues* values,
                                                  const PawlGripIsland* island);
