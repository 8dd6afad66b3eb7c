// SPDX-License-Identifier: Apache-2.0
// A tree as YAML text that reads back to the same tree.
#pragma once

#include "model/node.h"
#include "pawl/model.h"

void pawl_write_tree(const PawlYaml* root, PawlOnText on_text, void* context);
