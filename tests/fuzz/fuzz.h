// SPDX-License-Identifier: Apache-2.0
// What the targets share. Each fuzz_*.c of this folder is one target of libFuzzer; scripts/fuzz
// runs them.
#pragma once

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pawl/pawl.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed);

// What must hold, whatever the input.
#define NEED(condition) \
  do {                  \
    if (!(condition)) { \
      abort();          \
    }                   \
  } while (0)

// Numbers of four digits and exponents may ask for families of millions, which take their time and
// memory rightly.
static inline bool asks_for_much(const uint8_t* data, size_t size) {
  int digits = 0;
  for (size_t k = 0; k < size; k++) {
    digits = isdigit(data[k]) ? digits + 1 : 0;
    bool exponent = k > 0 && tolower(data[k]) == 'e' && isdigit(data[k - 1]) && k + 1 < size &&
                    data[k + 1] != '-';
    if (digits > 3 || exponent) {
      return true;
    }
  }
  return false;
}
