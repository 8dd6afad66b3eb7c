// SPDX-License-Identifier: Apache-2.0
// The spectrum of a linear system in one set of modes (of any system about a rest position:
// equilibrium.h): eigenvalues of z' = C z, z = (q, v), the
// structure of its eigenvalue zero, and the oscillators that the motion is made of
// (docs/theory/linear.md).
#pragma once

#include <stdbool.h>

#include "pawl/base.h"
#include "pawl/system.h"

#ifdef __cplusplus
extern "C" {
#endif

// How a motion dies out. Of a whole system: that of all its oscillators, where undamped ones beside
// underdamped ones count as underdamped and states that decay beside oscillators do not count;
// PAWL_DAMPING_MIXED when they differ otherwise.
typedef enum PawlDamping {
  PAWL_DAMPING_NONE,         // there is no oscillator
  PAWL_DAMPING_UNDAMPED,     // ratio = 0 to rounding
  PAWL_DAMPING_UNDERDAMPED,  // 0 < ratio < 1
  PAWL_DAMPING_CRITICAL,     // ratio = 1 within PAWL_CRITICAL_TOLERANCE
  PAWL_DAMPING_OVERDAMPED,   // ratio > 1
  PAWL_DAMPING_UNSTABLE,     // an eigenvalue with a positive real part
  PAWL_DAMPING_MIXED,
} PawlDamping;
PAWL_API const char* pawl_damping_name(PawlDamping damping);  // "underdamped"

// A double eigenvalue is computed as two that are 1e-8 apart; in the ratio that is 1e-16.
#define PAWL_CRITICAL_TOLERANCE 1e-9

// Two eigenvalues that belong together: a conjugate pair, or two real ones l1, l2 with natural
// frequency sqrt(l1 l2). A damper without a spring, and a first-order state, has l1 = 0: natural 0,
// ratio infinity, time constant 1 / decay.
typedef struct PawlOscillator {
  double natural;                // natural frequency |l| [rad/s]
  double hertz;                  // the same [Hz]
  double damped;                 // frequency of the damped vibration, |imaginary part| [rad/s]
  double ratio;                  // damping ratio [1]; NaN for real eigenvalues of opposite sign
  double decay;                  // the slower decay rate, -real part [1/s]
  double real[2], imaginary[2];  // the two eigenvalues [1/s]
  PawlDamping damping;
  const double* shape;  // of the motion: one number for each coordinate, the largest is 1
} PawlOscillator;

typedef struct PawlSpectrum {
  int coordinates;  // n
  int rank;         // independent constraint rows in force
  // All 2 n eigenvalues of C [1/s], by ascending absolute value; zero is exact.
  int eigenvalue_count;
  const double *real, *imaginary;
  // The eigenvalue zero: ranks of C, C^2, C^3, ... up to the first that repeats the one before,
  // or is 2 n or 0; 2 n - the last is the algebraic multiplicity, 2 n - the first the geometric
  // one.
  int rank_count;
  const int* ranks;
  int algebraic, geometric;
  // Zero is only there for the constraints: algebraic = 2 rank, geometric = rank, as in Theorem 1
  // of Kovanda and Hozman. Otherwise the motion that constraints leave free has a part without
  // stiffness.
  bool regular;
  // The motion that the constraints leave free, by ascending natural frequency.
  int oscillator_count;
  const PawlOscillator* oscillators;
  int rigid;            // motions with neither stiffness nor damping, which go on for ever
  PawlDamping damping;  // of the whole
} PawlSpectrum;

// The spectrum in `modes` (as in a PawlPoint; NULL: every constraint in its first mode). Where
// coefficients depend on time: with those of time t [s]. Free `*out` with pawl_spectrum_destroy.
// PAWL_ERROR_USAGE: the system is not linear, with the term that is not, or too large.
#define PAWL_SPECTRUM_MOST 500  // coordinates
PAWL_API PAWL_CHECKED PawlStatus pawl_spectrum_create(const PawlSystem* system, const int* modes,
                                                      double t, PawlSpectrum** out, PawlError* err);
PAWL_API void pawl_spectrum_destroy(PawlSpectrum* spectrum);  // NULL is allowed

#ifdef __cplusplus
}
#endif
