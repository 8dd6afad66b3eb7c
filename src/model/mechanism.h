// SPDX-License-Identifier: Apache-2.0
// `bodies:`, `joints:` and `mechanism:` (docs/bodies.md). They are replaced by ordinary sections on
// the tree of the text, before anything of it is understood, as uses of elements are (use.h).
#pragma once

#include "model/loader.h"

// False after reporting. A tree without these sections stays as it is.
bool pawl_expand_mechanism(PawlLoader* loader, PawlYaml* root);
