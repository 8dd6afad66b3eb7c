// SPDX-License-Identifier: Apache-2.0
// Kinetic energies that are sums of squares, or of products, of forms that are linear in the rates,
// as those of bodies are: derived from the forms, which stay as they are written and share what
// they have in common, where multiplying out would repeat it (docs/theory/squares.md).
#pragma once

#include "system/system.h"

// An addend c s r of T: s and r linear in the rates, c free of them; s = r in a square.
typedef struct PawlSquare {
  PawlNode c, s, r;
} PawlSquare;

typedef struct PawlSquares {
  int count, capacity;
  PawlSquare* terms;
} PawlSquares;

// Appends the addends of T. 1; 0 when T is not such a sum, and nothing is appended; -1: no memory.
// Only operations without corners or jumps are taken: arithmetic, sine and cosine.
int pawl_squares_take(PawlSquares* squares, PawlDag* dag, PawlNode T);
void pawl_squares_free(PawlSquares* squares);

// Derives M, f, K and C of all of them together. `coordinates` (count) are those that occur, the
// three of a rotation one after the other; `spins` tells which these are, NULL: none.
PAWL_CHECKED PawlStatus pawl_squares_derive(const PawlSquares* squares, PawlDag* dag,
                                            const PawlSpins* spins, int count,
                                            const int* coordinates, PawlSink sink, void* context);
