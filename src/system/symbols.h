// SPDX-License-Identifier: Apache-2.0
// What is derived from a model with its parameters as symbols, for those who write it down
// (equations.c, source.c): the same derivation as for numbers (pawl_derive_item), each place of M,
// f, G, ... once, in normal form. Kinks are the functions that they are.
#pragma once

#include "system/system.h"

// A mode of a constraint; what belongs to none holds always.
typedef struct PawlSymbolMode {
  int constraint, mode;
} PawlSymbolMode;

typedef struct PawlSymbol {
  PawlQuantity quantity;
  int i, j;           // as in a PawlEntry, of coordinates and rows of the model
  PawlSymbolMode in;  // constraint -1: always
  PawlNode node;      // of PawlSymbols.dag
} PawlSymbol;

typedef struct PawlSymbols {
  const PawlModel* model;
  PawlDag* dag;
  int count, capacity;
  PawlSymbol* items;  // by quantity, then i, j and mode
  int coordinate_count;
  int* coordinates;  // 0, 1, ...
  // While deriving:
  unsigned wanted;    // quantities, bit by PawlQuantity
  PawlSymbolMode in;  // what is derived now
} PawlSymbols;

// Energies, forces and constraints that hold for good, of locks and the like as they are while
// engaged; `all`: every mode of every constraint, friction of joints that slide, contacts, states
// and outputs, too. PAWL_ERROR_MEMORY; free what there is in any case.
PAWL_CHECKED PawlStatus pawl_symbols_derive(PawlSymbols* symbols, const PawlModel* model, bool all);
void pawl_symbols_free(PawlSymbols* symbols);

// The constraint or contact that a row of the model belongs to, and the row's number in it, from 0;
// of a contact 0 is the gap, 1 and 2 are its friction. As pawl_system_row_name, without a system.
const char* pawl_symbols_row(const PawlModel* model, int row, int* number);
