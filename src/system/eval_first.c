// SPDX-License-Identifier: Apache-2.0
#include "system/eval_first.h"

#include <math.h>

#include "base/alloc.h"
#include "base/error.h"

enum { SPOT_FRACTION = 8 };  // of the places: as many may be reset one by one

typedef struct Look {
  PawlQuantity quantity;
  unsigned char* state;  // by place: WRITTEN, LISTED
  int listed;
} Look;

enum { WRITTEN = 1, LISTED = 2 };

// Called for each result of a program, in the order in which a run has them.
typedef void Visit(Look* look, PawlProgramOutput* o, int place);

PAWL_INLINE void visit_block(Look* look, PawlProgram* p, int first, int end, Visit* visit) {
  for (int k = 0; k < p->output_count; k++) {
    PawlProgramOutput* o = &p->outputs[k];
    for (int l = first; o->quantity == (int)look->quantity && l < end; l++) {
      visit(look, o, o->dest[l]);
    }
  }
}

PAWL_INLINE void visit_all(Look* look, PawlProgram* programs, int count, Visit* visit) {
  for (int g = 0; g < count; g++) {
    int lanes = programs[g].group->lanes;
    for (int first = 0; first < lanes; first += PAWL_TAPE_WIDTH) {
      int rest = lanes - first;
      visit_block(look, &programs[g], first,
                  rest < PAWL_TAPE_WIDTH ? lanes : first + PAWL_TAPE_WIDTH, visit);
    }
  }
}

// An output is the first for all of its lanes, or adds.
PAWL_INLINE void find_later(Look* look, PawlProgramOutput* o, int place) {
  o->first = o->first && !(look->state[place] & WRITTEN);
  look->state[place] |= WRITTEN;
}

PAWL_INLINE void list_others(Look* look, PawlProgramOutput* o, int place) {
  if (!(look->state[place] & WRITTEN) && !o->first) {
    look->state[place] |= LISTED;
    look->listed++;
  }
  look->state[place] |= WRITTEN;
}

static void clear(Look* look, int size) {
  for (int k = 0; k < size; k++) {
    look->state[k] &= (unsigned char)~WRITTEN;
  }
}

static bool is_plain(const PawlProgramOutput* o, int lanes, const double* base) {
  int l = 0;
  while (l < lanes && base[o->dest[l]] == 0.0 && !signbit(base[o->dest[l]])) {
    l++;
  }
  return l == lanes;
}

// Single lanes have machine code that adds, and lanes behind gates may be left out.
static void set_outputs(PawlProgram* programs, int count, PawlQuantity q, const double* base,
                        bool first) {
  for (int g = 0; g < count; g++) {
    const PawlGroup* group = programs[g].group;
    for (int k = 0; k < programs[g].output_count; k++) {
      PawlProgramOutput* o = &programs[g].outputs[k];
      if (o->quantity == (int)q && group->lanes > 1) {
        o->first = first && !group->gates;
        o->base = base;
      }
    }
  }
}

static void drop_zeros(PawlProgram* programs, int count, PawlQuantity q) {
  for (int g = 0; g < count; g++) {
    for (int k = 0; k < programs[g].output_count; k++) {
      PawlProgramOutput* o = &programs[g].outputs[k];
      if (o->quantity == (int)q && o->first && is_plain(o, programs[g].group->lanes, o->base)) {
        o->base = NULL;
      }
    }
  }
}

static PawlStatus list(const Look* look, double* array, const double* base, int size,
                       PawlArena* arena, PawlSpot** spots, PawlError* err) {
  *spots = PAWL_NEW(arena, PawlSpot, look->listed);
  if (!*spots) {
    return pawl_fail_memory(err);
  }
  int count = 0;
  for (int k = 0; k < size; k++) {
    if (look->state[k] & LISTED) {
      (*spots)[count++] = (PawlSpot){array + k, base[k]};
    }
  }
  return PAWL_OK;
}

PawlStatus pawl_eval_first(PawlProgram* programs, int program_count, PawlQuantity q, double* array,
                           const double* base, int size, PawlArena* arena, PawlSpot** spots,
                           int* count, bool* done, PawlError* err) {
  Look look = {q, pawl_alloc((size_t)size, 1), 0};
  if (!look.state) {
    return pawl_fail_memory(err);
  }
  set_outputs(programs, program_count, q, base, true);
  visit_all(&look, programs, program_count, find_later);
  clear(&look, size);
  visit_all(&look, programs, program_count, list_others);
  PawlStatus status = PAWL_OK;
  *done = look.listed <= size / SPOT_FRACTION;
  *count = *done ? look.listed : 0;
  if (*done) {
    drop_zeros(programs, program_count, q);
    status = list(&look, array, base, size, arena, spots, err);
  } else {
    set_outputs(programs, program_count, q, base, false);
  }
  pawl_free(look.state);
  return status;
}
