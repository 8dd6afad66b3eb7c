// SPDX-License-Identifier: Apache-2.0
#include "switch/phase.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/model.h"
#include "switch/modes.h"

// Inputs, and a flag.
static size_t held_inputs(const PawlStateShape* n) {
  return n->inputs > 0 ? (size_t)n->inputs + 1 : 0;
}

size_t pawl_phase_state_bytes(const PawlStateShape* n) {
  size_t numbers = (size_t)n->q + 2 * (size_t)n->v + 2 * (size_t)n->rows + held_inputs(n) +
                   (size_t)n->memory + (size_t)n->since + 2 * (size_t)n->conditions +
                   (size_t)n->bounces + PAWL_WORK_COUNT;
  size_t integers = (size_t)n->conditions + (size_t)n->clocks + (size_t)n->modes;
  size_t flags = 3 * (size_t)n->rows + (size_t)n->surfaces;
  return numbers * sizeof(double) + integers * sizeof(int) + flags;
}

PawlStatus pawl_phase_state(const PawlStateShape* n, PawlState** out, PawlError* err) {
  size_t bytes = pawl_phase_state_bytes(n);
  PawlState* state = pawl_alloc(1, sizeof(PawlState) + bytes);
  *out = state;
  if (!state) {
    return pawl_fail_memory(err);
  }
  state->bytes = bytes;
  state->q = (double*)(state + 1);
  state->v = state->q + n->q;
  state->a = state->v + n->v;
  state->lambda = state->a + n->v;
  state->memory = state->lambda + n->rows;
  state->memory_count = n->memory;
  state->held = state->memory + n->memory;
  state->since = state->held + n->rows + held_inputs(n);
  state->largest = state->since + n->since;
  state->blur = state->largest + n->conditions;
  state->bounces = state->blur + n->conditions;
  state->work = state->bounces + n->bounces;
  state->sides = (int*)(state->work + PAWL_WORK_COUNT);
  state->passed = state->sides + n->conditions;
  state->modes = state->passed + n->clocks;
  state->mode_count = n->modes;
  state->in_force = (unsigned char*)(state->modes + n->modes);
  state->active = state->in_force + n->rows;
  state->redundant = state->active + n->rows;
  state->still = state->redundant + n->rows;
  return PAWL_OK;
}

void pawl_state_destroy(PawlState* state) {
  pawl_free(state);
}

// The arrays of a state lie behind each other, from q on.
void pawl_phase_copy(PawlState* to, const PawlState* from) {
  assert(to->bytes == from->bytes && to->mode_count == from->mode_count);
  to->t = from->t;
  to->step = from->step;
  to->redundant_count = from->redundant_count;
  to->redundant_off = from->redundant_off;
  to->still_count = from->still_count;
  memcpy(to->q, from->q, from->bytes);
}

// `count` bytes of 0 and 1, and how many are 1.
static bool are_flags(int count, const unsigned char* flags, int* set) {
  bool are = true;
  *set = 0;
  for (int i = 0; i < count; i++) {
    are = are && flags[i] <= 1;
    *set += flags[i];
  }
  return are;
}

static bool is_side(const PawlStateShape* n, int side) {
  return side >= -1 ? side < PAWL_SIDE_CLOSED + n->rows
                    : side <= -PAWL_SIDE_ZERO && side > -PAWL_SIDE_CLOSED - n->rows;
}

bool pawl_phase_is_possible(const PawlSystem* system, const PawlStateShape* n,
                            const PawlState* state) {
  int redundant, still;
  bool possible = pawl_modes_in_range(system, state->modes) &&
                  are_flags(n->rows, state->redundant, &redundant) &&
                  are_flags(n->surfaces, state->still, &still) &&
                  redundant == state->redundant_count && still == state->still_count;
  for (int k = 0; possible && k < n->conditions; k++) {
    possible = is_side(n, state->sides[k]);
  }
  for (int k = 0; possible && k < n->clocks; k++) {
    possible = state->passed[k] >= 0;
  }
  return possible;
}

PawlRowOf pawl_phase_row_of(const PawlSystem* system, int row) {
  if (pawl_system_row_kind(system, row) == PAWL_ROW_CONTACT) {
    return PAWL_ROW_OF_CONTACT;
  }
  if (pawl_system_row_kind(system, row) == PAWL_ROW_FRICTION) {
    return PAWL_ROW_OF_FRICTION;
  }
  int c = system->row_constraint ? system->row_constraint[row] : -1;
  bool joint = c >= 0 && system->constraints[c].triggered && system->watches[c].capacity >= 0;
  return joint ? PAWL_ROW_OF_JOINT : PAWL_ROW_OF_EQUATION;
}

void pawl_phase_activate(const PawlSystem* system, PawlState* state) {
  int rows = pawl_system_sizes(system).rows;
  assert(state->redundant_count >= 0 && state->redundant_count <= rows);
  pawl_modes_active(system, state->modes, state->active);
  for (int i = 0; i < rows; i++) {
    PawlRowOf kind = state->active[i] ? pawl_phase_row_of(system, i) : PAWL_ROW_OF_LET_GO;
    state->in_force[i] = (unsigned char)kind;
    state->active[i] = state->active[i] && !(state->redundant_count > 0 && state->redundant[i]);
  }
}
