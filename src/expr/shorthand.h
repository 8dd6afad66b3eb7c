// SPDX-License-Identifier: Apache-2.0
// Functions that stand for expressions of others; shorthand.def is the table.
#pragma once

#include "expr/dag.h"

enum {
#define PAWL_SHORTHAND(name, ...) PAWL_SHORTHAND_##name,
#include "expr/shorthand.def"
  PAWL_SHORTHANDS
};

typedef struct PawlShorthand {
  const char* word;
  int operands;
} PawlShorthand;
extern const PawlShorthand pawl_shorthand_info[PAWL_SHORTHANDS];

int pawl_shorthand_find(const char* word);  // -1: no such word
// `args` are as many nodes as it has operands.
PawlNode pawl_shorthand_build(PawlDag* dag, int shorthand, const PawlNode* args);
