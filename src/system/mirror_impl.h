// SPDX-License-Identifier: Apache-2.0
// What the files of the projection share.
#pragma once

#include <stdint.h>

#include "model/model.h"
#include "system/mirror.h"

struct PawlMirror {
  PawlArena arena;
  const PawlModel* model;
  int n, rows;
  PawlDag* dag;
  PawlNode L, phi;         // phi: PAWL_NO_NODE without a contact
  PawlNode* delta;         // n: Delta_i of (H14); 0 for `coordinate`; NULL with a map
  PawlNode* explicit_map;  // n: P of the infeasible side as expressions; NULL: a relation only
  const char* contact;
  int coordinate;
  double k, bound;
  PawlLagrangian* lagrangian;
  PawlBundle* gap;        // phi, phi'
  PawlBundle* bilateral;  // g, G
  PawlBundle* relation;   // R(z, q), R_z, R_q with z as Q and q as A
  PawlBundle* slope;      // Delta_i, dDelta_i/dq_j
  PawlBundle* onto;       // P_h, P_h'
  // work
  double *gap_out, *row_out, *relation_out, *slope_out, *onto_out;
  double *J, *LU, *r, *d, *x, *zero, *trial;
  double *A, *B, *z, *q, *W;  // of checks
  int* pivot;
  unsigned char* none;  // rows: no row binds
  uint64_t random;
};

// A number in [-1, 1), the next of a fixed row.
double pawl_mirror_random(PawlMirror* p);
// A state of the box about the start.
void pawl_mirror_sample(PawlMirror* p, double* z);
// Solves A x = b for a full matrix (by columns), which is kept; false: singular.
bool pawl_mirror_solve(PawlMirror* p, int n, const double* A, const double* b, double* x);
// Lambda of (H15) at q by its Frobenius norm; NaN where it is not finite.
double pawl_mirror_slope(PawlMirror* p, const double* q);
// Builds all from the model.
PAWL_CHECKED PawlStatus pawl_mirror_build(PawlMirror* p, PawlError* err);
// Refuses what P is not; PAWL_ERROR_USAGE.
PAWL_CHECKED PawlStatus pawl_mirror_judge(PawlMirror* p, PawlError* err);
