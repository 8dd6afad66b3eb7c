// SPDX-License-Identifier: Apache-2.0
// A small KKT system whose factorisation is machine code, for callers that factor and solve again
// and again with one set of active rows: what pawl_kkt_factor and pawl_kkt_solve look up each time.
// Plain C that needs nothing else: modules of compiled C have this text, too (system/kernels.h).
#pragma once

typedef struct PawlKktDirect {
  // The matrix of S, B and J becomes its factors in `values`; 0: it is left to pawl_kkt_factor, to
  // which nothing has happened. NULL: for solutions alone.
  int (*factor)(double* values, const double* table, const double* S, const double* B,
                const double* J);
  // y of rows that are not active is 0.
  void (*solve)(const double* values, const double* table, double* x, double* y);
  // The same with 0 in the place of what x holds, which is not looked at.
  void (*solve_rows)(const double* values, const double* table, double* x, double* y);
  double* values;
  const double* table;
} PawlKktDirect;

// Calls them. A module has its own, which know the functions that are in it, too.
#ifndef PAWL_KERNELS_IN_MODULE
static inline int pawl_kkt_direct_factor(const PawlKktDirect* by, const double* S, const double* B,
                                         const double* J) {
  return by->factor(by->values, by->table, S, B, J);
}
static inline void pawl_kkt_direct_solve(const PawlKktDirect* by, double* x, double* y) {
  by->solve(by->values, by->table, x, y);
}
#endif
