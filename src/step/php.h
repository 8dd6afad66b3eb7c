// SPDX-License-Identifier: Apache-2.0
// Inside php: pieces of a step by the discrete action, and the impact between two of them
// (docs/theory/php.md).
#pragma once

#include "step/method.h"
#include "system/mirror.h"

typedef enum PawlPhpCrossing {
  PAWL_PHP_FREE,      // the impact time is a variable of the action (H10)
  PAWL_PHP_MOMENTUM,  // the momentum condition (H13)
  PAWL_PHP_UNCUT,     // no node at the boundary
} PawlPhpCrossing;

typedef struct PawlPhp {
  PawlPhpCrossing crossing;
  PawlMirror* mirror;
  PawlLagrangian* L;       // of the projection
  PawlLagrangian* pulled;  // L(P(z), P'(z) z'); NULL but for uncut
  int n, rows;
  int in_count, *in;       // bilateral rows that bind
  unsigned char* active;   // the same by flags
  double step;             // the whole step; a piece far shorter counts as short
  double *q, *p, *v;       // where the piece under way begins; v: first guess of w, then velocity
  double *w, *m;           // its mean velocity and midpoint
  double *q1, *p1;         // its end
  double E;                // L_v w - L of the piece
  double* z;               // the end of the step on the side that the path is on
  double* v_before;        // before an impact
  double *gradient, *A;    // phi' and the reflection at an impact
  double *g, *G0, *G1;     // rows at the beginning and the end of a piece
  double *J, *LU, *b, *x;  // of Newton's method: n + rows + 1
  double *a, *lambda;      // of the end
  int* pivot;
} PawlPhp;

// What is wrong where a piece does not end well.
typedef enum PawlPhpFault {
  PAWL_PHP_GOOD,
  PAWL_PHP_DOMAIN,    // a value is not finite
  PAWL_PHP_SINGULAR,  // a matrix is
  PAWL_PHP_ENDLESS,   // Newton's method does not end
  PAWL_PHP_GRAZING,   // no impact has the energy of the piece before
} PawlPhpFault;

// Solves (H4), with rows (H17), for w over a piece of length tau by the Lagrangian L, and sets m,
// q1, p1 and E. `iterations` are counted up.
PawlPhpFault pawl_php_piece(PawlPhp* d, PawlLagrangian* L, double tau, const PawlSimulateDef* def,
                            long long* iterations);
// The velocity of the momentum p at q; p is made to fit the rows (H18).
PawlPhpFault pawl_php_settle(PawlPhp* d, const double* q, double* p, double* v);
// The impact at q, p, v (settled), before a piece of length tau: the impulse Lambda of (H9) by
// (H10) or (H13). E is that of the piece before.
PawlPhpFault pawl_php_impact(PawlPhp* d, double tau, const PawlSimulateDef* def, double* Lambda,
                             long long* iterations);
