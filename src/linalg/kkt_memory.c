// SPDX-License-Identifier: Apache-2.0
// What a KKT solver remembers, as bytes: the scaling and the pivot order. All else in a solution
// follows from the values. The bytes are
//   header, exponents of R (size), exponents of C (size), P (size; 0 without pivots)
// and, with blocks, in the place of P the bytes of the rescue (0 where there is none).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/kkt_impl.h"

#define MAGIC UINT32_C(0x4b4b5431)  // "KKT1"

typedef struct Header {
  uint32_t magic;
  int32_t solver;
  uint64_t pattern;   // of the patterns of S and G
  uint64_t checksum;  // of all that follows the header
  uint8_t scaled, has_pivots, has_rescue, patience, unused[4];
} Header;

// ---- checksums (FNV-1a) ------------------------------------------------------------------------

static uint64_t mix(uint64_t sum, const void* bytes, size_t count) {
  const unsigned char* b = bytes;
  for (size_t k = 0; k < count; k++) {
    sum = (sum ^ b[k]) * UINT64_C(0x100000001b3);
  }
  return sum;
}

#define EMPTY_SUM UINT64_C(0xcbf29ce484222325)

static uint64_t mix_pattern(uint64_t sum, const PawlPattern* p) {
  const int sizes[] = {p->rows, p->cols};
  sum = mix(sum, sizes, sizeof sizes);
  sum = mix(sum, p->start, (size_t)(p->cols + 1) * sizeof *p->start);
  return mix(sum, p->index, (size_t)p->start[p->cols] * sizeof *p->index);
}

uint64_t pawl_kkt_pattern_sum(const PawlKkt* kkt) {
  return mix_pattern(mix_pattern(EMPTY_SUM, &kkt->S), &kkt->G);
}

// ---- layout ------------------------------------------------------------------------------------

typedef struct Layout {  // offsets in bytes
  size_t R, C, P, end;   // P: or the rescue
} Layout;

static Layout layout(const PawlKkt* kkt) {
  size_t size = (size_t)kkt->size;
  Layout l = {.R = sizeof(Header)};
  l.C = l.R + size * sizeof(int16_t);
  l.P = l.C + size * sizeof(int16_t);
  size_t of_klu = l.P + size * sizeof(int32_t), of_blocks = l.P + of_klu;
  l.end = kkt->klu ? of_klu : kkt->blocks ? of_blocks : l.P;
  if (kkt->blocks && pawl_kkt_blocks_are_loose(kkt)) {
    l.end = l.P + of_blocks;
  }
  return l;
}

size_t pawl_kkt_memory_bytes(const PawlKkt* kkt) {
  return layout(kkt).end;
}

// ---- saving ------------------------------------------------------------------------------------

static void put_exponents(int size, const double* scale, unsigned char* to) {
  for (int i = 0; i < size; i++) {
    int16_t exponent = (int16_t)ilogb(scale[i]);
    memcpy(to + (size_t)i * sizeof exponent, &exponent, sizeof exponent);
  }
}

void pawl_kkt_save(const PawlKkt* kkt, void* bytes) {
  unsigned char* to = bytes;
  Layout l = layout(kkt);
  const int* P = kkt->klu ? pawl_kkt_klu_order(kkt) : NULL;
  memset(to, 0, l.end);
  if (kkt->scaled) {
    put_exponents(kkt->size, kkt->row_scale, to + l.R);
    put_exponents(kkt->size, kkt->col_scale, to + l.C);
  }
  if (P) {
    memcpy(to + l.P, P, l.end - l.P);
  }
  if (kkt->rescue) {
    pawl_kkt_save(kkt->rescue, to + l.P);
  }
  Header header = {.magic = MAGIC,
                   .solver = (int32_t)kkt->info.solver,
                   .pattern = kkt->pattern_sum,
                   .checksum = mix(EMPTY_SUM, to + l.R, l.end - l.R),
                   .scaled = kkt->scaled,
                   .has_pivots = P != NULL,
                   .has_rescue = kkt->rescue != NULL,
                   .patience = (uint8_t)kkt->patience};
  memcpy(to, &header, sizeof header);
}

// ---- loading -----------------------------------------------------------------------------------

static int exponent_at(const unsigned char* from, int i) {
  int16_t exponent;
  memcpy(&exponent, from + (size_t)i * sizeof exponent, sizeof exponent);
  return exponent;
}

static bool exponents_fit(int size, const unsigned char* from) {
  bool fit = true;
  for (int i = 0; i < size; i++) {
    fit = fit && abs(exponent_at(from, i)) <= PAWL_KKT_LARGEST_EXPONENT;
  }
  return fit;
}

// `seen` (size) is scratch.
static bool is_permutation(int size, const unsigned char* from, unsigned char* seen) {
  for (int k = 0; k < size; k++) {
    seen[k] = 0;
  }
  for (int k = 0; k < size; k++) {
    int32_t row;
    memcpy(&row, from + (size_t)k * sizeof row, sizeof row);
    if (row < 0 || row >= size || seen[row]) {
      return false;
    }
    seen[row] = 1;
  }
  return true;
}

static bool is_ours(const PawlKkt* kkt, const Header* header, const unsigned char* from) {
  Layout l = layout(kkt);
  return header->magic == MAGIC && header->solver == (int32_t)kkt->info.solver &&
         header->pattern == kkt->pattern_sum && header->scaled <= 1 &&
         header->has_pivots <= (kkt->klu != NULL) && header->has_rescue <= (kkt->blocks != NULL) &&
         header->patience <= PAWL_KKT_PATIENCE &&
         header->checksum == mix(EMPTY_SUM, from + l.R, l.end - l.R) &&
         exponents_fit(kkt->size, from + l.R) && exponents_fit(kkt->size, from + l.C) &&
         (!header->has_pivots || is_permutation(kkt->size, from + l.P, (unsigned char*)kkt->work));
}

static void take_exponents(int size, const unsigned char* from, double* scale) {
  for (int i = 0; i < size; i++) {
    scale[i] = ldexp(1.0, exponent_at(from, i));
  }
}

// A rescue without saved bytes begins anew, as one that is created later.
static PawlStatus load_rescue(PawlKkt* kkt, const unsigned char* from) {
  kkt->rescued = kkt->rescue_fits = false;
  if (!from) {
    pawl_kkt_destroy(kkt->rescue);
    kkt->rescue = NULL;
    return PAWL_OK;
  }
  PAWL_TRY(pawl_kkt_rescue_create(kkt));
  return pawl_kkt_load(kkt->rescue, from);
}

PawlStatus pawl_kkt_load(PawlKkt* kkt, const void* bytes) {
  const unsigned char* from = bytes;
  Layout l = layout(kkt);
  Header header;
  memcpy(&header, from, sizeof header);
  if (!is_ours(kkt, &header, from)) {
    return PAWL_ERROR_USAGE;
  }
  if (kkt->blocks) {
    PAWL_TRY(load_rescue(kkt, header.has_rescue ? from + l.P : NULL));
    kkt->patience = header.patience;
  }
  take_exponents(kkt->size, from + l.R, kkt->row_scale);
  take_exponents(kkt->size, from + l.C, kkt->col_scale);
  pawl_kkt_use_scale(kkt);
  kkt->scaled = header.scaled;
  pawl_kkt_forget(kkt);
  return kkt->klu ? pawl_kkt_klu_set_order(kkt, header.has_pivots ? from + l.P : NULL) : PAWL_OK;
}

void pawl_kkt_renew(PawlKkt* kkt) {
  kkt->rescued = kkt->rescue_fits = kkt->scaled = false;
  kkt->patience = 0;
  pawl_kkt_forget(kkt);
  if (kkt->klu) {
    pawl_kkt_klu_choose_order(kkt);
  }
  if (kkt->rescue) {
    pawl_kkt_renew(kkt->rescue);
  }
}
