// SPDX-License-Identifier: Apache-2.0
// Gaps that are nowhere negative (docs/theory/contacts.md, (C20)): their contacts are not seen to
// close.
#pragma once

#include "step/method.h"

// Warns of them, once, with the first of their names.
PAWL_CHECKED PawlStatus pawl_gaps_look(PawlStepper* stepper, PawlError* err);
