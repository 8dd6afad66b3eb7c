// SPDX-License-Identifier: Apache-2.0
// What kkt_script.c, which uses the machine code of blocks, and kkt_script_write.c, which writes
// it, know of each other.
#pragma once

#include "base/code.h"
#include "linalg/kkt_blocks.h"

enum { PAWL_KKT_SCRIPT_PIVOTS = 12 };  // most of a node: a solution has them in as many registers

// The numbers that code reads: first these, each twice, then factors of entries and unknowns.
typedef enum PawlKktScriptNumber {
  PAWL_KKT_SCRIPT_ZERO,
  PAWL_KKT_SCRIPT_ONE,
  PAWL_KKT_SCRIPT_MINUS,
  PAWL_KKT_SCRIPT_SMALLEST,  // pivot, by the largest entry
  PAWL_KKT_SCRIPT_LARGEST,   // entry
  PAWL_KKT_SCRIPT_GROWTH,    // largest entry of L
  PAWL_KKT_SCRIPT_FINITE,    // the largest number
  PAWL_KKT_SCRIPT_FIRST
} PawlKktScriptNumber;

typedef struct PawlKktScriptSource {  // where a number is given
  int base, index;
  const double* factor;
} PawlKktScriptSource;

typedef struct PawlKktScriptField {  // an array that code works on
  int base;
  unsigned char* state;
  PawlKktScriptSource* source;
} PawlKktScriptField;

typedef struct PawlKktScriptCode {  // for matrices with symmetry, or without
  PawlKktCodeFactor* factor;
  PawlKktScriptSolve* solve;
  unsigned char* code;
  int patience;  // factorisations that go to the loops since the judgement failed
} PawlKktScriptCode;

struct PawlKktScript {
  bool off;
  int uses[2];
  PawlKktScriptCode codes[2];  // uneven, even
  double* table;               // of both
  const double** from;         // where its numbers are
  int count, capacity;
  PawlKktScriptField values, w;  // room for the writer
  int* unknown;                  // (size) at a place of a vector
};

// Writes to `code` a function that factors and, from `solve` on, one that solves; `failed` where
// there is no room, or a pivot is always zero.
void pawl_kkt_script_write(const PawlKkt* kkt, PawlKktScript* script, bool even, PawlCode* code,
                           size_t* solve);
