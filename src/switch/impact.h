// SPDX-License-Identifier: Apache-2.0
// The jump of the velocities when constraints switch (docs/theory/impact.md):
//
//   M (v+ - v-) = B^T Lambda,   G v+ = -g_t                                              (J1)
//
// with the force directions B between the gradient before, G-, and after, G. `epsilon` = 1 takes
// B = G (momentum in the free directions is kept, energy is lost), 0 takes G-, 1/2 the bisector,
// which keeps the energy. Between, the row spaces are joined plane by plane of principal vectors in
// the metric of M^-1: by the chord, or by the arc.
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "pawl/pattern.h"

typedef struct PawlImpact PawlImpact;

typedef struct PawlImpactLaw {
  double epsilon;  // 0 .. 1
  bool arc;        // geodesic instead of chord
} PawlImpactLaw;

// Workspace for n velocities and at most m rows; dense, so meant for n up to some hundreds.
PAWL_CHECKED PawlStatus pawl_impact_create(int n, int m, PawlImpact** out, PawlError* err);
void pawl_impact_destroy(PawlImpact* impact);  // NULL is allowed

// The mass matrix of the jump; PAWL_RETRY when it is singular.
PAWL_CHECKED PawlStatus pawl_impact_mass(PawlImpact* impact, const PawlPattern* H, const double* M);

// Rows in force before and, called after that, those after, in the order of the pattern G; `active`
// has one flag a row.
PAWL_CHECKED PawlStatus pawl_impact_before(PawlImpact* impact, const PawlPattern* G,
                                           const double* values, const unsigned char* active);
PAWL_CHECKED PawlStatus pawl_impact_after(PawlImpact* impact, const PawlPattern* G,
                                          const double* values, const unsigned char* active);

// Computes B for a law. Returns the number k of planes with an angle: bits 0..k-1 of a flip mask
// turn the direction of G in each plane. PAWL_RETRY: LAPACK failed.
PAWL_CHECKED PawlStatus pawl_impact_directions(PawlImpact* impact, PawlImpactLaw law, int* planes);

// B in the order of the pattern G, rows that are not in force after as in `values_of_G`; the
// pattern must have room for it (the system makes G full where a constraint can switch).
void pawl_impact_gradient(PawlImpact* impact, unsigned flips, const PawlPattern* G,
                          const double* values_of_G, double* values);

// Solves (J1) from v_minus (n): v_plus (n), and Lambda by row of the pattern, set for active rows
// only. `rate` (rows of the pattern) holds g_t: G v+ = -rate. `flips` as above.
// PAWL_RETRY: G M^-1 B^T is singular.
PAWL_CHECKED PawlStatus pawl_impact_solve(PawlImpact* impact, unsigned flips, const double* v_minus,
                                          const double* rate, double* v_plus, double* Lambda);

// The largest principal angle between the two row spaces [rad], of the last pawl_impact_directions.
double pawl_impact_angle(const PawlImpact* impact);
