// SPDX-License-Identifier: Apache-2.0
// Planar blocks: all rows in the wrong place change it at once (docs/theory/friction.md, section
// 3).
#include <string.h>

#include "switch/friction_impl.h"

// A block that opens or closes begins with sticking.
static void change_rows(PawlFrictionWork* k) {
  for (int i = 0; i < k->m; i++) {
    k->next[i] = (unsigned char)pawl_friction_belongs(k, i);
  }
  for (int b = 0; b < k->blocks; b++) {
    int n = k->block[b].normal;
    bool opens_or_closes = k->next[n] != k->place[n];
    for (int j = 0; opens_or_closes && j < 1 + pawl_friction_spatial(&k->block[b]); j++) {
      k->next[k->block[b].tangent[j]] = PAWL_ROW_FREE;
    }
    bool joint = k->lo[n] < 0.0 && pawl_friction_turned(k, b);
    k->sign[b] = (signed char)(joint ? -k->sign[b] : k->sign[b]);
  }
  memcpy(k->place, k->next, (size_t)k->m);
}

PawlStatus pawl_friction_blocks(PawlFrictionWork* k, PawlFrictionResult* result, bool* done) {
  enum { PATIENCE = 6 };
  int fewest = k->m + k->blocks + 1, patience = PATIENCE;
  *done = false;
  while (patience >= 0) {
    pawl_friction_arrange(k);
    PAWL_TRY(k->ops->solve(k));
    result->rounds++;
    int count = pawl_friction_count_wrong(k);
    patience = count < fewest ? PATIENCE : patience - 1;
    fewest = count < fewest ? count : fewest;
    *done = count == 0;
    if (*done) {
      return PAWL_OK;
    }
    change_rows(k);
  }
  return PAWL_OK;
}
