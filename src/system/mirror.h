// SPDX-License-Identifier: Apache-2.0
// The projection P of the projected Hamilton principle (docs/theory/php.md): identity where the gap
// phi of the one contact is >= 0, and on the infeasible side a diffeomorphism onto the feasible
// one, from the model's `projection:` or in normal form. Beside it the bilateral rows that a motion
// keeps. Matrices are n-by-n by columns.
#pragma once

#include "system/lagrangian.h"

typedef struct PawlMirror PawlMirror;

// Why a system cannot be simulated by the principle, the words behind "method php cannot handle ";
// NULL: it can. The text is in `room` (size bytes). Fails when memory is short.
PAWL_CHECKED PawlStatus pawl_mirror_obstacle(const PawlSystem* system, char* room, size_t size,
                                             const char** why, PawlError* err);

// For a system that has a Lagrangian (pawl_lagrangian_obstacle) and at most one contact; without a
// contact P is the identity. PAWL_ERROR_USAGE: it cannot be, with the words behind "method php
// cannot handle " as message.
PAWL_CHECKED PawlStatus pawl_mirror_create(const PawlSystem* system, PawlMirror** out,
                                           PawlError* err);
void pawl_mirror_destroy(PawlMirror* mirror);  // NULL is allowed

bool pawl_mirror_has_contact(const PawlMirror* mirror);
double pawl_mirror_bound(const PawlMirror* mirror);    // a of Lemma 1; 0 where not used
double pawl_mirror_k(const PawlMirror* mirror);        // 0 where not used
int pawl_mirror_coordinate(const PawlMirror* mirror);  // of (12); -1 where not used
PawlLagrangian* pawl_mirror_lagrangian(PawlMirror* mirror);

// The functions below return false where a value is not finite, or Newton's method does not end.
// phi and its gradient (n, may be NULL).
bool pawl_mirror_gap(PawlMirror* mirror, const double* q, double* phi, double* gradient);
// The bilateral rows g (rows) and G (rows-by-n, by columns).
bool pawl_mirror_rows(PawlMirror* mirror, const double* q, double* g, double* G);
// q = P(z); the side is that of phi(z).
bool pawl_mirror_map(PawlMirror* mirror, const double* z, double* q);
// The z of the infeasible side with P(z) = q; z is the first guess.
bool pawl_mirror_lift(PawlMirror* mirror, const double* q, double* z);
// P' of the infeasible side at z, where q = P(z).
bool pawl_mirror_derivative(PawlMirror* mirror, const double* z, const double* q, double* P);
// A of (H19) at q over the bilateral rows flagged in `active` (NULL: all).
bool pawl_mirror_reflection(PawlMirror* mirror, const double* q, const unsigned char* active,
                            double* A);
// Angles of z into (-pi, pi].
void pawl_mirror_wrap(const PawlMirror* mirror, double* z);

// L(P(z), P'(z) z') of the infeasible side. PAWL_ERROR_USAGE: P is known as a relation only.
PAWL_CHECKED PawlStatus pawl_mirror_pull_back(PawlMirror* mirror, PawlLagrangian** out,
                                              PawlError* err);

// What random states of the box about the start say about P: largest deviations, relative to the
// size of the coordinates (at least 1).
typedef struct PawlMirrorCheck {
  int infeasible, boundary;  // states looked at
  bool flat;                 // the gradient of the gap vanishes on the boundary
  double unreached;          // normal form: least gap > 0 that no z has with its sign changed; or 0
  double continuity;         // |P(z) - z| on the boundary
  double outside;            // -phi(P(z)) where that is > 0
  double idempotence;        // |P(P(z)) - P(z)|
  double inverse;            // |z - P^-1(P(z))|, from a guess that is off
  double reflection;         // |P' - A| on the boundary, (11)
  double determinant;        // largest det P' on the infeasible side; negative
  // of P_h and Lemma 3; 0 without
  double onto, orthogonal, commute;
} PawlMirrorCheck;
PAWL_CHECKED PawlStatus pawl_mirror_check(PawlMirror* mirror, int samples, PawlMirrorCheck* check,
                                          PawlError* err);
