// SPDX-License-Identifier: Apache-2.0
// Where small dense blocks do not suit (an entry of L or a pivot says so, or most rows are idle)
// the same system is factored by KLU, in a solver of its own with its own scaling and pivots. It is
// created when it is needed first, and only its word makes a matrix singular. Where
// blocks have left entries of S out, it is made of blocks with all of S, and has one of its own.
#include "linalg/kkt_impl.h"

PawlStatus pawl_kkt_rescue_create(PawlKkt* kkt) {
  if (kkt->rescue) {
    return PAWL_OK;
  }
  return pawl_kkt_blocks_are_loose(kkt)
             ? pawl_kkt_create_tight(kkt, &kkt->rescue)
             : pawl_kkt_create(&kkt->S, &kkt->G, PAWL_KKT_KLU, &kkt->rescue, NULL);
}

PawlStatus pawl_kkt_rescue(PawlKkt* kkt, const double* S, const double* B, const double* J,
                           const unsigned char* active) {
  kkt->patience -= kkt->patience > 0;
  PAWL_TRY(pawl_kkt_rescue_create(kkt));
  PawlStatus status = kkt->rescue_fits ? pawl_kkt_factor_again(kkt->rescue, S, B, J, active)
                                       : pawl_kkt_factor(kkt->rescue, S, B, J, active);
  kkt->info.full = kkt->rescue->info.full;
  kkt->rescued = status == PAWL_OK;
  kkt->rescue_fits = kkt->rescued && kkt->rescue->klu;
  return status;
}
