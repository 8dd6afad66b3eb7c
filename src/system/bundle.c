// SPDX-License-Identifier: Apache-2.0
#include "system/bundle.h"

#include "base/alloc.h"
#include "base/error.h"
#include "expr/tape.h"
#include "expr/tape_native.h"

struct PawlBundle {
  PawlTape* tape;
  double* registers;
};

static PawlStatus fill(PawlBundle* b, PawlDag* dag, int count, const PawlNode* nodes,
                       PawlError* err) {
  for (int k = 0; k < count; k++) {
    if (nodes[k] == PAWL_NO_NODE) {
      return pawl_fail_memory(err);
    }
  }
  PAWL_TRY(pawl_tape_create(dag, count, nodes, &b->tape, err));
  if (pawl_tape_compile(b->tape, NULL) != 0) {
    return pawl_fail_memory(err);
  }
  b->registers = pawl_alloc(pawl_tape_room(b->tape, 1), sizeof(double));
  if (!b->registers) {
    return pawl_fail_memory(err);
  }
  pawl_tape_prepare(b->tape, 1, b->registers);
  return PAWL_OK;
}

PawlStatus pawl_bundle_create(PawlDag* dag, int count, const PawlNode* nodes, PawlBundle** out,
                              PawlError* err) {
  *out = NULL;
  PawlBundle* b = pawl_alloc(1, sizeof *b);
  if (!b) {
    return pawl_fail_memory(err);
  }
  PawlStatus status = fill(b, dag, count, nodes, err);
  if (status != PAWL_OK) {
    pawl_bundle_destroy(b);
    return status;
  }
  *out = b;
  return PAWL_OK;
}

void pawl_bundle_destroy(PawlBundle* b) {
  if (b) {
    pawl_tape_destroy(b->tape);
    pawl_free(b->registers);
    pawl_free(b);
  }
}

static double leaf_value(const PawlLeafValues* at, PawlTapeInput input) {
  switch ((PawlLeaf)input.leaf) {
    case PAWL_LEAF_CONST:
      break;
    case PAWL_LEAF_PARAM:
      return at->param[input.index];
    case PAWL_LEAF_TIME:
      return at->t;
    case PAWL_LEAF_Q:
      return at->q[input.index];
    case PAWL_LEAF_V:
    case PAWL_LEAF_STATE:
      return at->v[input.index];
    case PAWL_LEAF_A:
      return at->a[input.index];
    case PAWL_LEAF_LAMBDA:
      return at->lambda[input.index];
    case PAWL_LEAF_INPUT:
      return at->input[input.index];
    case PAWL_LEAF_QUAT:
      return at->q[pawl_quat_place(at->turning, input.index)];
    case PAWL_LEAF_TURN:
      return at->turn[input.index];
  }
  return NAN;
}

bool pawl_bundle_run(PawlBundle* b, const PawlLeafValues* at, double* out) {
  const PawlTape* tape = b->tape;
  bool finite = true;
  for (int i = 0; i < tape->input_count; i++) {
    b->registers[tape->constant_count + i] = leaf_value(at, tape->inputs[i]);
  }
  pawl_tape_run_one(tape, b->registers);
  for (int k = 0; k < tape->output_count; k++) {
    out[k] = b->registers[tape->outputs[k]];
    finite &= isfinite(out[k]) != 0;
  }
  return finite;
}
