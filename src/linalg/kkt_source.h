// SPDX-License-Identifier: Apache-2.0
// The factorisation and the solution of a small KKT system as C, for modules of compiled C
// (system/compiled.h): what kkt_line.c writes as machine code, by the same schedule and with the
// same bits, once for each set of active rows.
#pragma once

#include "base/text.h"
#include "linalg/kkt.h"

enum {
  PAWL_KKT_SETS = 8,       // of active rows that have code of their own
  PAWL_KKT_FUNCTIONS = 4,  // of a set: factor, factor where S stays, solve, solve where x is 0
};

// The sets that were in use so far, a bit for each. Any thread may ask.
unsigned pawl_kkt_source_sets(const PawlKkt* kkt);
// Functions f<first>, f<first + 1>, ... of a set, behind the text of base/sized.h and math.h. Any
// thread may call it, the solver is not touched. 0; -1 when memory is short; 1: the set has no
// such functions.
int pawl_kkt_source(const PawlKkt* kkt, int set, PawlText* out, int first);
// Their names in a list of pointers.
void pawl_kkt_source_names(const PawlKkt* kkt, PawlText* out, int first);
// Takes compiled functions of a set in the place of machine code. In the thread of the solver, at
// any time.
void pawl_kkt_source_adopt(PawlKkt* kkt, int set, void (*const* functions)(void));
