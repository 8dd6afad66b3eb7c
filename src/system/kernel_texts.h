// SPDX-License-Identifier: Apache-2.0
// The texts of base/sized.h, linalg/kkt_direct.h and system/kernels.h, for modules of compiled C.
#pragma once

#include <stddef.h>

typedef struct PawlKernelText {
  const char *name, *text;
  size_t length;
} PawlKernelText;
extern const PawlKernelText pawl_kernel_texts[];  // the last has no name
