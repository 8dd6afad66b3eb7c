// SPDX-License-Identifier: Apache-2.0
#include "step/sundials_vector.h"

#ifdef PAWL_WITH_SUNDIALS

#include <nvector/nvector_serial.h>

#include "base/alloc.h"

// What the functions for serial vectors expect, and behind it what ours need.
typedef struct Content {
  struct _N_VectorContent_Serial serial;
  PawlVectors* pool;
  double* own;  // what was allocated; SUNDIALS may have put other numbers in its place
} Content;

static void destroy(N_Vector v) {
  Content* c = v->content;
  if (c && v == c->pool->spare) {
    return;  // it may stand for several
  }
  if (c) {
    pawl_free(c->own);
    pawl_free(c);
  }
  v->content = NULL;
  N_VFreeEmpty(v);
}

static bool fill(N_Vector v, PawlVectors* pool, sunindextype length) {
  Content* c = v->content = pawl_alloc(1, sizeof *c);
  if (!c) {
    return false;
  }
  c->pool = pool;
  c->serial.length = length;
  c->serial.own_data = SUNTRUE;
  c->serial.data = c->own = pawl_alloc((size_t)length, sizeof(double));
  return c->own != NULL;
}

static N_Vector make(PawlVectors* pool, sunindextype length);

static N_Vector clone(N_Vector w) {
  const Content* c = w->content;
  N_Vector v = make(c->pool, c->serial.length);
  c->pool->starved |= !v;
  return v ? v : c->pool->spare;
}

static N_Vector make(PawlVectors* pool, sunindextype length) {
  N_Vector v = N_VNewEmpty(pool->context);
  if (!v) {
    return NULL;
  }
  if (N_VCopyOps(pool->serial, v) != 0) {
    N_VFreeEmpty(v);
    return NULL;
  }
  v->ops->nvclone = v->ops->nvcloneempty = clone;
  v->ops->nvdestroy = destroy;
  if (!fill(v, pool, length)) {
    destroy(v);
    return NULL;
  }
  return v;
}

PawlStatus pawl_vectors_create(PawlVectors* pool, int length, SUNContext context, PawlError* err) {
  pool->context = context;
  pool->serial = N_VNewEmpty_Serial(length, context);
  pool->spare = pool->serial ? make(pool, length) : NULL;
  return pool->spare ? PAWL_OK : pawl_fail_memory(err);
}

void pawl_vectors_destroy(PawlVectors* pool) {
  N_Vector spare = pool->spare;
  pool->spare = NULL;
  if (spare) {
    destroy(spare);
  }
  if (pool->serial) {
    N_VDestroy(pool->serial);
  }
}

N_Vector pawl_vectors_new(PawlVectors* pool) {
  const Content* c = pool->spare->content;
  return make(pool, c->serial.length);
}

#else
typedef int PawlSundialsVectorAbsent;  // a file must not be empty
#endif
