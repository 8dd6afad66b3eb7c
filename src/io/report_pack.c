// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "io/report.h"

void pawl_pack_range(int count, const double* values, double* low, double* high) {
  double least = INFINITY, greatest = -INFINITY;
  for (int k = 0; k < count; k++) {
    if (isfinite(values[k])) {
      least = fmin(least, values[k]);
      greatest = fmax(greatest, values[k]);
    }
  }
  *low = isfinite(least) ? least : 0.0;
  *high = isfinite(greatest) ? greatest : 0.0;
}

static PawlStatus flush(PawlPack* pack, PawlError* err) {
  PawlStatus status = pawl_file_write(pack->file, pack->block, pack->used, err);
  pack->used = 0;
  return status;
}

// Three bytes as four letters; of fewer, '=' stands for what is not there.
static PawlStatus put_group(PawlPack* pack, PawlError* err) {
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char* b = pack->waiting;
  int count = pack->waiting_count;
  uint32_t bits = (uint32_t)b[0] << 16 | (uint32_t)(count > 1 ? b[1] : 0) << 8 |
                  (uint32_t)(count > 2 ? b[2] : 0);
  for (int k = 0; k < 4; k++) {
    pack->block[pack->used++] = k <= count ? letters[bits >> (18 - 6 * k) & 63] : '=';
  }
  pack->waiting_count = 0;
  return pack->used + 4 <= sizeof pack->block ? PAWL_OK : flush(pack, err);
}

static PawlStatus put_float(PawlPack* pack, float value, PawlError* err) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  for (int k = 0; k < 4; k++) {
    pack->waiting[pack->waiting_count++] = (unsigned char)(bits >> 8 * k);
    if (pack->waiting_count == 3) {
      PAWL_TRY(put_group(pack, err));
    }
  }
  return PAWL_OK;
}

PawlStatus pawl_pack_add(PawlPack* pack, int count, const double* values, double low, double high,
                         PawlError* err) {
  double scale = high > low ? 1.0 / (high - low) : 0.0;
  for (int k = 0; k < count; k++) {
    float value = isfinite(values[k]) ? (float)((values[k] - low) * scale) : NAN;
    PAWL_TRY(put_float(pack, value, err));
  }
  return PAWL_OK;
}

PawlStatus pawl_pack_end(PawlPack* pack, PawlError* err) {
  if (pack->waiting_count > 0) {
    PAWL_TRY(put_group(pack, err));
  }
  return flush(pack, err);
}
