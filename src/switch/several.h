// SPDX-License-Identifier: Apache-2.0
// Several motions that obey the laws of friction (docs/theory/friction.md, sections 6 and 9): said
// once, with the contacts and the one that is taken.
#pragma once

#include "switch/grip.h"

// After a solution that counted: `what` ("accelerations") there are several of. The run ends where
// the option `painleve` has it.
PAWL_CHECKED PawlStatus pawl_several_tell(PawlGrip* grip, double t, const char* what,
                                          PawlError* err);
