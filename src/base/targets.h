// SPDX-License-Identifier: Apache-2.0
// Vector code for the machine at hand, chosen when the program starts. Only IEEE operations without
// contraction are used, so every choice gives the same bits.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(PAWL_NO_CLONES)
#define PAWL_MANY_TARGETS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PAWL_MANY_TARGETS
#endif

enum { PAWL_SEVERAL = 16 };  // numbers from which on a loop is worth a call of such code
enum { PAWL_MANY = 64 };     // and of arrays and lists of its own
