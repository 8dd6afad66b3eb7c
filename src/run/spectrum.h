// SPDX-License-Identifier: Apache-2.0
// Inside a spectrum: what spectrum.c hands to oscillators.c.
#pragma once

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
  double norm;    // of C
  double *real, *imaginary, *vectors;  // of C; shapes are the first `free` entries of a vector
  int zeros, chains;  // of C: eigenvalues zero, and how many eigenvectors they have
} PawlAnalysis;

// Fills the oscillators of the spectrum. PAWL_ERROR_MEMORY.
PAWL_CHECKED PawlStatus pawl_spectrum_oscillators(PawlAnalysis* analysis);
