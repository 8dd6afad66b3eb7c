// SPDX-License-Identifier: Apache-2.0
// Values of expressions modulo a prime, at places chosen at random: whether two of them are the
// same function, without rounding and whatever their size. docs/theory/squares.md, (Q5).
#pragma once

#include <stdint.h>

#include "expr/dag.h"

// The residues of `count` nodes at the place with this number, `values` of that length. Leaves are
// CONST, TIME, Q and V; operations are + - * /, whole powers, sine and cosine, whose values for an
// argument are a point of the unit circle. `*known` is false where some node is of another kind or
// a divisor is zero. Returns 0, or -1 when memory is short.
int pawl_residues(PawlDag* dag, int count, const PawlNode* nodes, int place, uint64_t* values,
                  bool* known);
