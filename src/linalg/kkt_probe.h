// SPDX-License-Identifier: Apache-2.0
// The probe: a sparse copy of a KKT system from which defects are taken out until it is regular.
// For diagnosis and for redundant rows, whatever the system's size; the caller's factorisation
// stays as it is.
//
// For S symmetric and semidefinite the null vectors (x, y) of the system split: S x = 0, J x = 0
// (a motion without inertia) and J^T y = 0 (a dependent row). So a column that turns out dependent
// in the elimination names a coordinate or a row, and with it taken out one defect is gone.
// docs/theory/kkt.md, section 4.
#pragma once

#include "linalg/kkt_impl.h"

typedef struct PawlProbe {
  PawlArena arena;
  PawlKkt* kkt;
  int n, m;
  double* S;        // in the pattern with a full diagonal
  int* diagonal_S;  // (n) entries of S
  int* diagonal;    // (n + m) places in kkt->values
  const double* J;
  unsigned char* active;   // (m) rows in the factorisation
  unsigned char* dropped;  // (m) rows taken out as dependent
  int column;              // lowest coordinate without inertia, or -1
  int* defects;            // (n + m)
  double *x, *y;           // (n), (m)
} PawlProbe;

// PAWL_OK or PAWL_ERROR_MEMORY; pawl_probe_free in either case. `active` may be NULL.
PAWL_CHECKED PawlStatus pawl_probe_build(PawlProbe* probe, const PawlKkt* kkt, const double* S,
                                         const double* J, const unsigned char* active);
void pawl_probe_free(PawlProbe* probe);

// Takes defects out: dependent rows into `dropped`, the lowest coordinate without inertia into
// `column` (it is given a mass). Then pawl_kkt_solve works on `kkt`, unless more defects were left
// than could be taken out one after the other; `column` is set in that case. PAWL_RETRY: a value is
// not finite.
PAWL_CHECKED PawlStatus pawl_probe_regularise(PawlProbe* probe);
int pawl_probe_dropped(const PawlProbe* probe);  // how many rows

// Which of the rows that depend on each other are dropped. `last` (m flags, or NULL): these count
// as later than all others. Does nothing where the table of their coefficients would be too large
// (64 MB). Changes the flags only: factor again before a solve.
typedef enum PawlProbeKeep {
  PAWL_PROBE_KEEP_EARLY,     // no dropped row depends on a later one
  PAWL_PROBE_KEEP_SPANNING,  // the kept rows span well: no coefficient above 2
} PawlProbeKeep;
PAWL_CHECKED PawlStatus pawl_probe_exchange(PawlProbe* probe, PawlProbeKeep keep,
                                            const unsigned char* last);
PAWL_CHECKED PawlStatus pawl_probe_factor(PawlProbe* probe);
