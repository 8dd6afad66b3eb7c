// SPDX-License-Identifier: Apache-2.0
// Random tests where every run calls a compiler (PAWL_NATIVE=on): a twentieth of their cases.
#pragma once

#include <stdlib.h>
#include <string.h>

static inline int few_if_compiled(int count) {
  const char* native = getenv("PAWL_NATIVE");
  return native && strcmp(native, "on") == 0 ? (count + 19) / 20 : count;
}
