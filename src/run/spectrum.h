// SPDX-License-Identifier: Apache-2.0
// Inside a spectrum: what spectrum.c hands to oscillators.c.
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "pawl/spectrum.h"
#include "step/reduction.h"

typedef struct PawlWholeSpectrum {  // freed by pawl_spectrum_destroy
  PawlSpectrum spectrum;
  PawlArena arena;
} PawlWholeSpectrum;

typedef struct PawlAnalysis {  // of one call
  PawlArena arena;             // what is not kept
  PawlWholeSpectrum* out;
  PawlReduction reduction;
  int n, free;    // coordinates and states; n - rank
  int states;     // the last of the n
  double *K, *D;  // n-by-n in the basis T of the reduction
  double rate;    // unit of 1/time, a power of two, that makes numbers near 1; K and D are without
  double* C;      // the motion left free, 2 free by 2 free, in this unit
  double* raise;  // free by free: makes soft stiffness stiff, where ranks are asked for; or NULL
  double norm;    // of C
  double blur;    // of the stiffest: what numbers of K are known to
  double *real, *imaginary, *vectors;  // of C; shapes are the first `free` entries of a vector
  int zeros, chains;  // of C: eigenvalues zero, and how many eigenvectors they have
} PawlAnalysis;

// a->raise: of stiffness that is small beside the stiffest, and is none of rounding.         (L28)
PAWL_CHECKED PawlStatus pawl_softness_find(PawlAnalysis* analysis);
// Eigenvalues without damping, soft ones as exact as their own terms are.                    (L29)
bool pawl_softness_undamped(const PawlAnalysis* analysis);
PAWL_CHECKED PawlStatus pawl_softness_eigenvalues(PawlAnalysis* analysis);

// Fills the oscillators of the spectrum. PAWL_ERROR_MEMORY.
PAWL_CHECKED PawlStatus pawl_spectrum_oscillators(PawlAnalysis* analysis);
