// SPDX-License-Identifier: Apache-2.0
// Vectors of SUNDIALS that can run out of memory. Its own make N_VClone write through NULL, and so
// does every solver that is made while memory is short. A clone of these that finds none is the
// spare one of its pool, which says that it is starved: whoever made the solver looks there before
// anything is believed.
#pragma once

#ifdef PAWL_WITH_SUNDIALS

#include <stdbool.h>
#include <sundials/sundials_nvector.h>

#include "base/error.h"

typedef struct PawlVectors {
  SUNContext context;
  N_Vector serial;  // without data: SUNDIALS' functions
  N_Vector spare;
  bool starved;
} PawlVectors;

// A pool for vectors of this length. `pool` must stay where it is. On failure, too, it is to be
// destroyed.
PAWL_CHECKED PawlStatus pawl_vectors_create(PawlVectors* pool, int length, SUNContext context,
                                            PawlError* err);
// After all vectors of the pool.
void pawl_vectors_destroy(PawlVectors* pool);
// One of zeros; NULL when memory is short. N_VDestroy ends it.
N_Vector pawl_vectors_new(PawlVectors* pool);

#endif
