// SPDX-License-Identifier: Apache-2.0
// Why a KKT system is singular.
#include <string.h>

#include "linalg/kkt_probe.h"

static PawlStatus diagnose(PawlProbe* probe, const unsigned char* last) {
  PAWL_TRY(pawl_probe_regularise(probe));
  return pawl_probe_exchange(probe, PAWL_PROBE_KEEP_EARLY, last);
}

PawlStatus pawl_kkt_diagnose(PawlKkt* kkt, const double* S, const double* J,
                             const unsigned char* active, int* column, unsigned char* rows) {
  return pawl_kkt_diagnose_last(kkt, S, J, active, NULL, column, rows);
}

PawlStatus pawl_kkt_diagnose_last(PawlKkt* kkt, const double* S, const double* J,
                                  const unsigned char* active, const unsigned char* last,
                                  int* column, unsigned char* rows) {
  PawlProbe probe = {0};
  *column = -1;
  PawlStatus status = pawl_probe_build(&probe, kkt, S, J, active);
  status = status == PAWL_OK ? diagnose(&probe, last) : status;
  if (status == PAWL_OK) {
    *column = probe.column;
    if (probe.m > 0) {
      memcpy(rows, probe.dropped, (size_t)probe.m);
    }
  }
  pawl_probe_free(&probe);
  return status;
}
