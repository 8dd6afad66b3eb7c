// SPDX-License-Identifier: Apache-2.0
#include "system/program.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "expr/tape_native.h"
#include "model/model.h"

// ---- making -------------------------------------------------------------------------------------
typedef struct Selection {  // entries for a program
  int count;
  const PawlEntry** entries;
  PawlNode* nodes;
  int* gates;
} Selection;

static bool is_selected(const PawlEntry* e, unsigned mask) {
  return !e->constant && (mask & pawl_quantity_mask(e->quantity)) != 0;
}

// Entries in the order of their gates, those without first; `start` (gate_count + 2) receives where
// those of each gate begin, [g + 1] for gate g.
static void select_entries(const PawlGroup* group, unsigned mask, int gate_count, int* start,
                           Selection* s) {
  for (int k = 0; k < group->entry_count; k++) {
    const PawlEntry* e = &group->entries[k];
    if (is_selected(e, mask)) {
      start[e->gate + 2]++;
      s->count++;
    }
  }
  for (int g = 0; g <= gate_count; g++) {
    start[g + 1] += start[g];
  }
  for (int k = 0; k < group->entry_count; k++) {
    const PawlEntry* e = &group->entries[k];
    if (is_selected(e, mask)) {
      int at = start[e->gate + 1]++;
      s->entries[at] = e;
      s->nodes[at] = e->node;
      s->gates[at] = e->gate;
    }
  }
}

static PawlStatus make_registers(PawlProgram* p, PawlArena* arena, PawlError* err) {
  int width = p->group->lanes == 1 ? 1 : PAWL_TAPE_WIDTH;
  p->registers = PAWL_NEW(arena, double, pawl_tape_room(p->tape, width));
  if (!p->registers) {
    return pawl_fail_memory(err);
  }
  pawl_tape_prepare(p->tape, width, p->registers);
  return PAWL_OK;
}

// Families mostly read and write every so many numbers: no list is looked at then, unless they are
// few.
static int step_of(int count, const int* places) {
  enum { FEW = 8 };
  int step = count >= FEW ? places[1] - places[0] : 0, l = 2;
  while (l < count && places[l] - places[l - 1] == step) {
    l++;
  }
  return l < count ? 0 : step;
}

static bool is_listed(PawlOp leaf) {
  return leaf == PAWL_OP_Q || leaf == PAWL_OP_V || leaf == PAWL_OP_STATE || leaf == PAWL_OP_A ||
         leaf == PAWL_OP_LAMBDA;
}

static const int* input_places(const PawlGroup* group, PawlTapeInput input) {
  const int* all = input.leaf == PAWL_OP_LAMBDA ? group->rows : group->coordinates;
  return all + (size_t)input.index * (size_t)group->lanes;
}

static PawlStatus find_steps(PawlProgram* p, PawlArena* arena, PawlError* err) {
  const PawlGroup* group = p->group;
  p->input_steps = PAWL_NEW(arena, int, p->tape->input_count);
  if (!p->input_steps) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; group->lanes > 1 && k < p->tape->input_count; k++) {
    PawlTapeInput input = p->tape->inputs[k];
    p->input_steps[k] =
        is_listed(input.leaf) ? step_of(group->lanes, input_places(group, input)) : 0;
  }
  for (int k = 0; group->lanes > 1 && k < p->output_count; k++) {
    p->outputs[k].step = step_of(group->lanes, p->outputs[k].dest);
  }
  return PAWL_OK;
}

static PawlStatus make_outputs(PawlProgram* p, const PawlSystem* system, const Selection* s,
                               double* const* arrays, PawlArena* arena, PawlError* err) {
  p->output_count = s->count;
  p->outputs = PAWL_NEW(arena, PawlProgramOutput, s->count);
  if (!p->outputs) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; k < s->count; k++) {
    const PawlEntry* e = s->entries[k];
    double* array = arrays[e->quantity];
    p->outputs[k] = (PawlProgramOutput){.reg = p->tape->outputs[k],
                                        .dest = e->dest,
                                        .array = array,
                                        .place = array + e->dest[0],
                                        .quantity = (int)e->quantity,
                                        .assigns = !system->summed[e->quantity]};
  }
  return PAWL_OK;
}

bool pawl_program_ends(const PawlProgram* p, PawlTapeEnds* ends) {
  int gates = p->tape->gate_count;
  int* start = pawl_alloc((size_t)gates + 2, sizeof *start);
  PawlTapeTarget* targets = pawl_alloc((size_t)p->output_count, sizeof *targets);
  *ends = (PawlTapeEnds){gates + 1, start, targets, p->adds};
  if (!start || !targets) {
    return false;
  }
  memcpy(start + 1, p->gate_outputs, (size_t)(gates + 1) * sizeof *start);
  for (int k = 0; k < p->output_count; k++) {
    const PawlProgramOutput* o = &p->outputs[k];
    targets[k] = (PawlTapeTarget){o->reg, o->assigns, o->place, o->quantity, o->dest[0]};
  }
  return true;
}

void pawl_program_free_ends(const PawlTapeEnds* ends) {
  pawl_free((void*)ends->start);
  pawl_free((void*)ends->targets);
}

// Machine code for a single lane. Each tape maps a page or more, of which a process has a limited
// number: models with very many terms of their own are interpreted.
static PawlStatus make_code(PawlProgram* p, const PawlSystem* system, PawlArena* arena,
                            PawlError* err) {
  enum { MOST_GROUPS = 256 };
  PawlTapeEnds ends;
  p->adds = PAWL_NEW(arena, PawlTapeAdd*, p->tape->gate_count);
  if (!p->adds) {
    return pawl_fail_memory(err);
  }
  if (p->group->lanes > 1 || system->group_count > MOST_GROUPS) {
    return PAWL_OK;
  }
  bool failed = !pawl_program_ends(p, &ends) || pawl_tape_compile(p->tape, &ends) != 0;
  pawl_program_free_ends(&ends);
  p->whole = p->tape->whole;
  return failed ? pawl_fail_memory(err) : PAWL_OK;
}

// Room for what the open gates let in.
static PawlStatus make_choice(PawlProgram* p, const PawlSystem* system, PawlArena* arena,
                              PawlError* err) {
  bool single = p->group->lanes == 1, gated = p->group->gates;
  int lanes = gated ? p->group->lanes : 0;
  p->parts = PAWL_NEW(arena, PawlTapePart, single ? p->tape->part_count : 0);
  p->chosen = PAWL_NEW(arena, bool, single ? p->tape->part_count : 0);
  p->stretches = PAWL_NEW(arena, PawlStretch, single ? system->gated_count + 1 : 0);
  p->blocks = PAWL_NEW(arena, PawlStretch, (lanes + PAWL_TAPE_WIDTH - 1) / PAWL_TAPE_WIDTH);
  p->lanes = PAWL_NEW(arena, int, lanes);
  return p->parts && p->chosen && p->stretches && p->blocks && p->lanes ? PAWL_OK
                                                                        : pawl_fail_memory(err);
}

// A single lane reads quaternions as any other number of q.
static void name_quaternions(const PawlProgram* p, const PawlSystem* system) {
  for (int k = 0; p->group->lanes == 1 && k < p->tape->input_count; k++) {
    PawlTapeInput* input = &p->tape->inputs[k];
    if (input->leaf == PAWL_OP_QUAT) {
      *input = (PawlTapeInput){PAWL_OP_Q, pawl_quat_place(system->model->turning, input->index)};
    }
  }
}

static PawlStatus make_program(PawlProgram* p, const PawlSystem* system, unsigned mask,
                               double* const* arrays, PawlArena* arena, Selection* s,
                               PawlError* err) {
  const PawlGroup* group = p->group;
  int* start = PAWL_NEW(arena, int, (size_t)system->gate_count + 2);
  if (!start) {
    return pawl_fail_memory(err);
  }
  select_entries(group, mask, system->gate_count, start, s);
  if (s->count == 0) {
    return PAWL_OK;
  }
  p->gate_outputs = start;
  bool gated = start[0] < s->count;
  PAWL_TRY(pawl_tape_create_gated(group->dag, s->count, s->nodes, gated ? system->gate_count : 0,
                                  s->gates, &p->tape, err));
  name_quaternions(p, system);
  PAWL_TRY(make_registers(p, arena, err));
  PAWL_TRY(make_outputs(p, system, s, arrays, arena, err));
  PAWL_TRY(find_steps(p, arena, err));
  PAWL_TRY(make_code(p, system, arena, err));
  return make_choice(p, system, arena, err);
}

PawlStatus pawl_program_create(const PawlSystem* system, const PawlGroup* group, unsigned mask,
                               double* const* arrays, PawlArena* arena, PawlProgram* program,
                               PawlError* err) {
  size_t most = (size_t)group->entry_count;
  Selection s = {0, pawl_alloc(most, sizeof(PawlEntry*)), pawl_alloc(most, sizeof(PawlNode)),
                 pawl_alloc(most, sizeof(int))};
  *program = (PawlProgram){.group = group, .to = arrays, .number = -1};
  PawlStatus status = s.entries && s.nodes && s.gates
                          ? make_program(program, system, mask, arrays, arena, &s, err)
                          : pawl_fail_memory(err);
  pawl_free(s.entries);
  pawl_free(s.nodes);
  pawl_free(s.gates);
  return status;
}

void pawl_program_free(PawlProgram* program) {
  pawl_tape_destroy(program->tape);
  program->tape = NULL;
}

// ---- choosing -----------------------------------------------------------------------------------
static void choose_stretch(PawlProgram* p, int first, int end, PawlTapeAdd* add) {
  if (first < end) {
    p->stretches[p->stretch_count++] = (PawlStretch){first, end - first, add};
  }
}

// Parts that follow each other run as one, unless they have code of their own.
static void choose_part(PawlProgram* p, PawlTapePart part) {
  PawlTapePart* last = p->part_count > 0 ? &p->parts[p->part_count - 1] : NULL;
  if (last && !part.code && last->first + last->count == part.first) {
    last->count += part.count;
  } else if (part.count > 0) {
    p->parts[p->part_count++] = part;
  }
}

static void choose_parts(PawlProgram* p, int gate) {
  const PawlTape* tape = p->tape;
  for (int k = tape->gate_start[gate]; k < tape->gate_start[gate + 1]; k++) {
    int part = tape->gate_parts[k];
    bool with_results = p->whole && part == tape->own_part[gate];
    if (!p->chosen[part]) {
      p->chosen[part] = true;
      p->operations += tape->parts[part].count;
      if (!with_results) {
        choose_part(p, tape->parts[part]);
      }
    }
  }
}

// Open gates ascend, so that a place that several write to gets its addends in the order of gates.
static void choose_gates(PawlProgram* p, const PawlOpenGates* open) {
  p->part_count = p->stretch_count = 0;
  p->operations = p->tape->parts[0].count;
  if (!p->whole) {
    choose_part(p, p->tape->parts[0]);
    choose_stretch(p, 0, p->gate_outputs[0], NULL);
  }
  for (int k = 0; p->tape->gate_count > 0 && k < open->count; k++) {
    int gate = open->gates[k];
    if (gate >= 0) {
      choose_parts(p, gate);
      choose_stretch(p, p->gate_outputs[gate], p->gate_outputs[gate + 1], p->adds[gate]);
    }
  }
  memset(p->chosen, 0, (size_t)p->tape->part_count * sizeof(bool));
}

// Open lanes move together in each block, not across blocks: that would change the order of sums.
static void choose_lanes(PawlProgram* p, const PawlOpenGates* open) {
  const int* gates = p->group->gates;
  p->block_count = p->lane_count = 0;
  for (int first = 0; first < p->group->lanes; first += PAWL_TAPE_WIDTH) {
    int before = p->lane_count;
    for (int l = first; l < p->group->lanes && l < first + PAWL_TAPE_WIDTH; l++) {
      if (gates[l] < 0 || open->flags[gates[l]]) {
        p->lanes[p->lane_count++] = l;
      }
    }
    if (p->lane_count > before) {
      p->blocks[p->block_count++] = (PawlStretch){before, p->lane_count - before, NULL};
    }
  }
}

int pawl_program_meet(PawlProgram* p, const PawlOpenGates* open) {
  PawlProgramPhases* phases = p->phases;
  int count = phases ? atomic_load_explicit(&phases->count, memory_order_relaxed) : 0, k = 0;
  size_t bytes = (size_t)open->count * sizeof(int);
  while (k < count && memcmp(phases->gates + k * open->count, open->gates, bytes) != 0) {
    k++;
  }
  if (!phases || k == PAWL_PROGRAM_PHASES) {
    return -1;
  }
  if (k == count) {
    memcpy(phases->gates + k * open->count, open->gates, bytes);
    atomic_store_explicit(&phases->count, k + 1, memory_order_release);
  }
  return k;
}

void pawl_program_choose(PawlProgram* program, const PawlOpenGates* open) {
  if (program->group->lanes == 1) {
    choose_gates(program, open);
  } else if (program->group->gates) {
    choose_lanes(program, open);
  }
}

long long pawl_program_operations(const PawlProgram* program) {
  const PawlGroup* group = program->group;
  long long count = group->lanes == 1 ? program->operations : program->tape->instruction_count;
  return count * (group->gates ? program->lane_count : group->lanes);
}

// ---- running ------------------------------------------------------------------------------------
static const double* source(const PawlPoint* point, PawlOp leaf) {
  switch ((PawlLeaf)leaf) {
    case PAWL_LEAF_Q:
    case PAWL_LEAF_QUAT:
      return point->q;
    case PAWL_LEAF_V:
    case PAWL_LEAF_STATE:
      return point->v;
    case PAWL_LEAF_A:
      return point->a;
    case PAWL_LEAF_LAMBDA:
    case PAWL_LEAF_CONST:  // these and below have no array, the callers see to them
    case PAWL_LEAF_PARAM:
    case PAWL_LEAF_TIME:
    case PAWL_LEAF_INPUT:
    case PAWL_LEAF_TURN:
      break;
  }
  return point->lambda;
}

static double turn(const PawlSystem* system, const PawlPoint* point, int index) {
  int turns = system->sizes.modes - system->constraint_count;  // then the modes of constraints
  int place = index < turns ? system->constraint_count + index : index - turns;
  return point->modes ? point->modes[place] : 0;
}

void pawl_program_load_turns(const PawlProgram* p, const PawlSystem* system,
                             const PawlPoint* point) {
  const PawlTape* tape = p->tape;
  double* in = p->registers + tape->constant_count;
  for (int k = tape->first_turn; k < tape->end_turn; k++) {
    if (tape->inputs[k].leaf == PAWL_OP_TURN) {
      in[k] = turn(system, point, tape->inputs[k].index);
    }
  }
}

static double add_outputs(const PawlProgram* p, PawlStretch stretch) {
  const PawlProgramOutput* end = p->outputs + stretch.first + stretch.count;
  double check = 0.0;
  for (const PawlProgramOutput* o = p->outputs + stretch.first; o < end; o++) {
    double value = p->registers[o->reg];
    *o->place = o->assigns ? value : *o->place + value;
    check += value - value;  // NaN when the value is not finite
  }
  return check;
}

// Runs the single lane; slots are global indices.
static double run_single(const PawlProgram* p, const PawlSystem* system, const PawlPoint* point,
                         const PawlSources* from) {
  const PawlTape* tape = p->tape;
  double *in = p->registers + tape->constant_count, check = 0.0;
  for (int k = 0; k < tape->input_count; k++) {
    PawlTapeInput input = tape->inputs[k];
    in[k] = input.leaf == PAWL_OP_TURN ? turn(system, point, input.index)
                                       : from->leaf[input.leaf][input.index];
  }
  for (int k = 0; k < p->part_count; k++) {
    pawl_tape_run_part(tape, p->parts[k], p->registers);
  }
  for (int k = 0; k < p->stretch_count; k++) {
    check += add_outputs(p, p->stretches[k]);
  }
  return check;
}

static void load_same(double* row, int lanes, double value) {
  for (int l = 0; l < lanes; l++) {
    row[l] = value;
  }
}

static void load_quaternion(double* row, int lanes, const double* q, const int* first, int number,
                            int turning) {
  for (int l = 0; l < lanes; l++) {
    row[l] = q[pawl_quat_place(turning, 4 * first[l] + number)];
  }
}

// Of the lanes from `first` on; `places` are those of all.
PAWL_INLINE void load_row(const double* from, const int* places, int step, int first, int lanes,
                          double* row) {
  const double* at = from + places[0] + (ptrdiff_t)step * first;
  if (step == 0) {
    for (int l = 0; l < lanes; l++) {
      row[l] = from[places[first + l]];
    }
  } else if (step == 1) {
    memcpy(row, at, (size_t)lanes * sizeof(double));
  } else {
    for (int l = 0; l < lanes; l++, at += step) {
      row[l] = *at;
    }
  }
}

static void load_block(const PawlProgram* p, const PawlSystem* system, const PawlPoint* point,
                       int first, int lanes, double* registers) {
  const PawlGroup* group = p->group;
  const PawlTape* tape = p->tape;
  for (int k = 0; k < tape->input_count; k++) {
    PawlTapeInput input = tape->inputs[k];
    double* row = registers + (size_t)(tape->constant_count + k) * PAWL_TAPE_WIDTH;
    size_t at = (size_t)input.index * (size_t)group->lanes + (size_t)first;
    if (input.leaf == PAWL_OP_TIME) {
      load_same(row, lanes, point->t);
    } else if (input.leaf == PAWL_OP_INPUT) {
      load_same(row, lanes, pawl_system_inputs(system, point)[input.index]);
    } else if (input.leaf == PAWL_OP_TURN) {
      load_same(row, lanes, turn(system, point, input.index));
    } else if (input.leaf == PAWL_OP_QUAT) {
      at = (size_t)(input.index / 4) * (size_t)group->lanes + (size_t)first;
      load_quaternion(row, lanes, point->q, group->coordinates + at, input.index % 4,
                      system->model->turning);
    } else if (input.leaf == PAWL_OP_PARAM) {
      memcpy(row, group->numbers + at, (size_t)lanes * sizeof(double));
    } else {
      load_row(source(point, input.leaf), input_places(group, input), p->input_steps[k], first,
               lanes, row);
    }
  }
}

void pawl_program_run_block(const PawlProgram* p, const PawlSystem* system, const PawlPoint* point,
                            int first, int lanes, double* registers) {
  load_block(p, system, point, first, lanes, registers);
  pawl_tape_run_block(p->tape, registers, lanes);
}

static double run_lanes(const PawlProgram* p, const PawlSystem* system, const PawlPoint* point) {
  int all = p->group->lanes;
  double check[PAWL_TAPE_WIDTH] = {0};
  for (int first = 0; first < all; first += PAWL_TAPE_WIDTH) {
    int lanes = all - first < PAWL_TAPE_WIDTH ? all - first : PAWL_TAPE_WIDTH;
    pawl_program_run_block(p, system, point, first, lanes, p->registers);
    for (int k = 0; k < p->output_count; k++) {
      const PawlProgramOutput* o = &p->outputs[k];
      const double* row = p->registers + (size_t)o->reg * PAWL_TAPE_WIDTH;
      for (int l = 0; l < lanes; l++) {
        check[l] += row[l] - row[l];
      }
      pawl_program_add(o, first, lanes, row);
    }
  }
  double sum = 0.0;
  for (int l = 0; l < PAWL_TAPE_WIDTH; l++) {
    sum += check[l];
  }
  return sum;
}

// The inputs of the listed lanes.
static void load_open(const PawlProgram* p, const PawlSystem* system, const PawlPoint* point,
                      int count, const int* lanes) {
  const PawlGroup* group = p->group;
  const PawlTape* tape = p->tape;
  for (int k = 0; k < tape->input_count; k++) {
    PawlTapeInput input = tape->inputs[k];
    double* row = p->registers + (size_t)(tape->constant_count + k) * PAWL_TAPE_WIDTH;
    size_t at = (size_t)input.index * (size_t)group->lanes;
    const int* map = input.leaf == PAWL_OP_LAMBDA ? group->rows : group->coordinates;
    if (input.leaf == PAWL_OP_QUAT) {
      at = (size_t)(input.index / 4) * (size_t)group->lanes;
      for (int l = 0; l < count; l++) {
        int place = 4 * map[at + (size_t)lanes[l]] + input.index % 4;
        row[l] = point->q[pawl_quat_place(system->model->turning, place)];
      }
      continue;
    }
    for (int l = 0; l < count; l++) {
      row[l] = input.leaf == PAWL_OP_TIME    ? point->t
               : input.leaf == PAWL_OP_INPUT ? pawl_system_inputs(system, point)[input.index]
               : input.leaf == PAWL_OP_PARAM
                   ? group->numbers[at + (size_t)lanes[l]]
                   : source(point, input.leaf)[map[at + (size_t)lanes[l]]];
    }
  }
}

static double run_open(const PawlProgram* p, const PawlSystem* system, const PawlPoint* point) {
  double check = 0.0;
  for (int b = 0; b < p->block_count; b++) {
    int count = p->blocks[b].count;
    const int* lanes = p->lanes + p->blocks[b].first;
    load_open(p, system, point, count, lanes);
    pawl_tape_run_block(p->tape, p->registers, count);
    for (int k = 0; k < p->output_count; k++) {
      const PawlProgramOutput* o = &p->outputs[k];
      const double* row = p->registers + (size_t)o->reg * PAWL_TAPE_WIDTH;
      for (int l = 0; l < count; l++) {
        o->array[o->dest[lanes[l]]] += row[l];
        check += row[l] - row[l];
      }
    }
  }
  return check;
}

double pawl_program_interpret(const PawlProgram* program, const PawlSystem* system,
                              const PawlPoint* point, const PawlSources* from) {
  return program->group->lanes == 1 ? run_single(program, system, point, from)
         : program->parts_of_lanes  ? pawl_program_run_shared(program, system, point)
         : program->group->gates    ? run_open(program, system, point)
                                    : run_lanes(program, system, point);
}
