// SPDX-License-Identifier: Apache-2.0
// Of several motions of contacts with friction that one in which they hold, where they can, for
// rub.c alone (docs/theory/moreau-jean.md, "What can hold, holds").
#pragma once

#include "step/rub.h"

// After the search from the step before, which has `*found` something or not: in the first
// iteration of a step islands in which contacts slip or open aslant, or for which nothing is found,
// hold if the convex problem has it so. (T17)
PAWL_CHECKED PawlStatus pawl_rub_hold(PawlStepper* s, PawlRub* rub, const PawlRubStep* step,
                                      bool* found, PawlError* err);
// The solution of the problem, while another is looked for, and back.
void pawl_rub_hold_keep(PawlRub* rub, bool back);
