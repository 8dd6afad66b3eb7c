// SPDX-License-Identifier: Apache-2.0
// The program of a group under a mask: a tape of the entries that the mask names, run over the
// lanes in blocks, the results added to the arrays. A single lane takes a path of its own without
// blocks.
//
// What is behind a closed gate is left out: of a single lane the parts of the tape that no open
// gate needs, of many lanes those whose gate is closed. The choice is made when gates open and
// close, and kept from run to run. It does not change a bit of the results: every place gets the
// same addends in the same order.
#pragma once

#include <stdatomic.h>

#include "base/pool.h"
#include "base/text.h"
#include "expr/tape_native.h"
#include "system/kernels_ga.h"
#include "system/system.h"

typedef struct PawlReset {  // numbers that start from their constant part in each run
  double* array;
  const double* base;  // NULL: all 0
  int count;
  PawlQuantity quantity;  // where it is one
} PawlReset;

typedef struct PawlProgramOutput {
  int reg;          // register of the tape
  const int* dest;  // lane -> index in `array`
  int step;         // between these, where it is the same for all lanes; 0: it is not
  double* array;
  double* place;  // of the first lane
  int quantity;   // of `array`
  bool assigns;   // one lane, and nothing else writes to this place
  bool first;  // many lanes: no result of a run comes before these at their places (eval_first.h)
  const double* base;  // what is constant of them; NULL: nothing
} PawlProgramOutput;

typedef struct PawlStretch {
  int first, count;
  PawlTapeAdd* add;  // machine code for such outputs and the part of their gate; NULL without
} PawlStretch;

// Steps of kernels_ga.h that a program is the first to evaluate for, to be compiled with it.
typedef struct PawlProgramSteps {
  PawlKernelsShape shape;  // n = 0: there are none
  bool decoupled;          // pvv, else pva
  bool alone[2];           // one program is all there is of an evaluation, and of the tangents
  const struct PawlProgram* tangents;  // that one of these, else NULL
} PawlProgramSteps;

// Of a program that alone writes all that varies: what runs with the open gates that it has met do
// can be compiled as one function each, with the reset of the arrays. Others have none.
enum { PAWL_PROGRAM_PHASES = 8 };
typedef struct PawlProgramPhases {
  int gate_count;    // constraints that have gates
  int* gates;        // of each phase those that are open, as in PawlOpenGates
  atomic_int count;  // grows in the thread of the evaluation, and any may ask
  int reset_count;
  const PawlReset* resets;
  PawlTapeWhole* whole[PAWL_PROGRAM_PHASES];  // compiled; NULL: not yet
  PawlKernelsStep* step[PAWL_PROGRAM_PHASES];
} PawlProgramPhases;
// Behind the arrays by quantity: the k-th that is reset, and what it starts from.
#define PAWL_PROGRAM_RESET(k) (PAWL_QUANTITY_COUNT + 2 * (k))
#define PAWL_PROGRAM_BASE(k) (PAWL_PROGRAM_RESET(k) + 1)
enum { PAWL_PROGRAM_ARRAYS = 3 * PAWL_QUANTITY_COUNT };

typedef struct PawlProgram {
  const PawlGroup* group;
  PawlTape* tape;
  double* registers;
  int output_count;
  PawlProgramOutput* outputs;  // those without a gate first, then by gate
  int* input_steps;            // of the inputs of many lanes, as `step` of an output
  int* gate_outputs;           // single lane: gate g has outputs gate_outputs[g] .. [g + 1] - 1
  PawlTapeWhole* whole;        // machine code, NULL without: what needs no gate, with its outputs
  PawlTapeAdd** adds;          // of each gate; NULLs without
  double* const* to;           // the arrays by quantity (PAWL_PROGRAM_ARRAYS)
  int number;                  // among the programs of the system (compiled.h)
  int stages, stage_rows;      // it is all that explicit steps evaluate, for as many velocities and
                               // rows; 0: it is not
  PawlKernelsStep* step;       // such a step, compiled with it; NULL without
  PawlProgramSteps steps;
  PawlKernelsGaSteps ga;      // compiled
  PawlProgramPhases* phases;  // NULL: it has none

  // What the open gates let in. Single lane: parts of the tape and stretches of the outputs, with
  // machine code those that it does not contain.
  int part_count, stretch_count, operations;
  PawlTapePart* parts;
  bool* chosen;  // by part of the tape; all false but while choosing
  PawlStretch* stretches;
  // Lanes with gates: blocks of `lanes`, which lists those that are open.
  int block_count, lane_count;
  PawlStretch* blocks;
  int* lanes;

  struct PawlProgramParts* parts_of_lanes;  // among threads; NULL: one runs them all
} PawlProgram;

// The gates that are open: one of each constraint that has gates, and a flag for each gate.
typedef struct PawlOpenGates {
  int count;
  int* gates;  // of the k-th constraint that has some, -1: none
  bool* flags;
} PawlOpenGates;

// For the entries of `group` that `mask` names and that change; `arrays` by quantity. What is
// allocated is in `arena`, but for the tape. Without such an entry `program->tape` stays NULL.
PAWL_CHECKED PawlStatus pawl_program_create(const PawlSystem* system, const PawlGroup* group,
                                            unsigned mask, double* const* arrays, PawlArena* arena,
                                            PawlProgram* program, PawlError* err);
void pawl_program_free(PawlProgram* program);

// Before the first run and whenever other gates are open. Allocates nothing.
void pawl_program_choose(PawlProgram* program, const PawlOpenGates* open);
// The phase of these open gates, from now on if it is new; -1: there is no room, or none have code.
int pawl_program_meet(PawlProgram* program, const PawlOpenGates* open);

// Where the results of a single lane go: those without a gate, then by gate. False when memory is
// short.
bool pawl_program_ends(const PawlProgram* program, PawlTapeEnds* ends);
void pawl_program_free_ends(const PawlTapeEnds* ends);

// Phases that were met, and about how many instructions the program has with so many of them. Any
// thread may ask.
int pawl_program_phases(const PawlProgram* program);
int pawl_program_length(const PawlProgram* program, int phases);
// The program as C (expr/tape_source.h) with so many of its phases, from function `first` on, and
// how many these are. 0, or -1 when memory is short.
int pawl_program_source(PawlText* out, const PawlProgram* program, int phases, int first);
int pawl_program_functions(const PawlProgram* program, int phases);
// Behind all programs: its steps. `tangents`: the first function of theirs in this text, or -1.
void pawl_program_source_steps(PawlText* out, const PawlProgram* program, int first, int tangents);
void pawl_program_names(PawlText* out, const PawlProgram* program, int phases,
                        int first);  // in a list
// Takes compiled functions in the place of what it had. Gates are to be chosen anew.
void pawl_program_adopt(PawlProgram* program, int phases, void (*const* functions)(void));
// Lets the threads of a pool, which must outlive the program, share the lanes, where these are many
// and have few places in common. Runs give the same bits as without.
PAWL_CHECKED PawlStatus pawl_program_share(PawlProgram* program, PawlPool* pool, PawlArena* arena,
                                           PawlError* err);

// The arrays of a point by leaf.
typedef struct PawlSources {
  const double* leaf[PAWL_LEAF_INPUT + 1];
} PawlSources;

PAWL_INLINE PawlSources pawl_program_sources(const PawlSystem* system, const PawlPoint* point) {
  // Neither constants nor parameters are inputs of a single lane, and time has the index 0.
  PawlSources from;
  from.leaf[PAWL_LEAF_TIME] = &point->t;
  from.leaf[PAWL_LEAF_Q] = point->q;
  from.leaf[PAWL_LEAF_V] = from.leaf[PAWL_LEAF_STATE] = point->v;
  from.leaf[PAWL_LEAF_A] = point->a;
  from.leaf[PAWL_LEAF_LAMBDA] = point->lambda;
  from.leaf[PAWL_LEAF_INPUT] = pawl_system_inputs(system, point);
  return from;
}

// Numbers of the modes, which are no arrays of doubles.
void pawl_program_load_turns(const PawlProgram* program, const PawlSystem* system,
                             const PawlPoint* point);
double pawl_program_interpret(const PawlProgram* program, const PawlSystem* system,
                              const PawlPoint* point, const PawlSources* from);

// What the open gates ask for, after the machine code of what needs none. A part serves outputs of
// such gates.
PAWL_INLINE double pawl_program_run_gates(const PawlProgram* program) {
  double check = 0.0;
  for (int k = 0; k < program->part_count; k++) {
    program->parts[k].code(program->registers);
  }
  for (int k = 0; k < program->stretch_count; k++) {
    check += program->stretches[k].add(program->registers, program->to);
  }
  return check;
}

// Stores the results of the lanes from `first` on, as sums with what is constant: a zero that is
// added makes -0 to 0, as it does where arrays are reset.
PAWL_INLINE void pawl_program_store(const PawlProgramOutput* o, int first, int lanes,
                                    const double* restrict row) {
  const int *dest = o->dest + first, step = o->step;
  const double* restrict base = o->base;
  double* restrict to = o->array;
  if (step == 0) {
    for (int l = 0; l < lanes; l++) {
      to[dest[l]] = (base ? base[dest[l]] : 0.0) + row[l];
    }
    return;
  }
  to = o->place + (ptrdiff_t)step * first;  // a look at the list would wait for memory
  base = base ? base + (to - o->array) : NULL;
  if (base) {
    for (int l = 0; l < lanes; l++) {
      to[l * step] = base[l * step] + row[l];
    }
  } else if (step == 1) {
    for (int l = 0; l < lanes; l++) {
      to[l] = 0.0 + row[l];
    }
  } else {
    for (int l = 0; l < lanes; l++, to += step) {
      *to = 0.0 + row[l];
    }
  }
}

// Adds the results of the lanes from `first` on to their places.
PAWL_INLINE void pawl_program_add(const PawlProgramOutput* o, int first, int lanes,
                                  const double* restrict row) {
  const int *dest = o->dest + first, step = o->step;
  if (o->first) {
    pawl_program_store(o, first, lanes, row);
    return;
  }
  if (step == 0) {
    for (int l = 0; l < lanes; l++) {
      o->array[dest[l]] += row[l];
    }
    return;
  }
  double* restrict to = o->place + (ptrdiff_t)step * first;
  if (step == 1) {
    for (int l = 0; l < lanes; l++) {
      to[l] += row[l];
    }
    return;
  }
  for (int l = 0; l < lanes; l++, to += step) {
    *to += row[l];
  }
}

// 0 when every result is finite, else NaN. `from`: the sources of `point`.
PAWL_INLINE double pawl_program_run(const PawlProgram* program, const PawlSystem* system,
                                    const PawlPoint* point, const PawlSources* from) {
  if (!program->whole) {
    return pawl_program_interpret(program, system, point, from);
  }
  if (program->tape->end_turn > 0) {
    pawl_program_load_turns(program, system, point);
  }
  double check = program->whole(program->registers, from->leaf, program->to);
  return check + pawl_program_run_gates(program);
}
// One block of lanes, into registers of the caller's choice: inputs and operations.
void pawl_program_run_block(const PawlProgram* program, const PawlSystem* system,
                            const PawlPoint* point, int first, int lanes, double* registers);
double pawl_program_run_shared(const PawlProgram* program, const PawlSystem* system,
                               const PawlPoint* point);  // program_parts.c
// Operations times lanes of a run with the gates last chosen.
long long pawl_program_operations(const PawlProgram* program);
