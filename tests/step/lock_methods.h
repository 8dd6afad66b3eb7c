// SPDX-License-Identifier: Apache-2.0
// The methods that the tests of locks go through: all of this build, those for linear systems only
// where the model is linear; not php, which refuses locks, forces and dissipation.
#pragma once

#include <stdbool.h>
#include <string.h>

#include "pawl/pawl.h"

static inline bool is_linear_only(const char* method) {
  return strcmp(method, "taylor") == 0 || strcmp(method, "exponential") == 0;
}

typedef enum Grade {
  GRADE_FIRST,    // order 1
  GRADE_SECOND,   // order 2; moreau-jean, too, where nothing but its own constraints is implicit
  GRADE_CHOOSES,  // its own steps, good to a tolerance
  GRADE_FINE,     // order 4 and more
} Grade;

static inline Grade grade_of(const char* method) {
  int order = 0;
  for (int k = 0; pawl_method(k); k++) {
    order = strcmp(pawl_method(k)->name, method) == 0 ? pawl_method(k)->order : order;
  }
  bool chooses =
      strcmp(method, "dopri") == 0 || strcmp(method, "ark") == 0 || strcmp(method, "ida") == 0;
  bool first = strcmp(method, "ga-v-implicit") == 0;
  return chooses                                            ? GRADE_CHOOSES
         : first                                            ? GRADE_FIRST
         : order == 2 || strcmp(method, "moreau-jean") == 0 ? GRADE_SECOND
                                                            : GRADE_FINE;
}

// The next name from `*index` on; NULL past the end.
static inline const char* next_method(int* index, bool linear) {
  const PawlMethodInfo* info;
  while ((info = pawl_method((*index)++)) != NULL) {
    if (!info->action && (linear || !is_linear_only(info->name))) {
      return info->name;
    }
  }
  return NULL;
}

// A loop over the methods: name is the loop variable.
#define EACH_METHOD(name, linear)                                            \
  for (int each_##name = 0, once_##name = 0; !once_##name; once_##name = 1)  \
    for (const char* name = next_method(&each_##name, linear); name != NULL; \
         name = next_method(&each_##name, linear))
