// SPDX-License-Identifier: Apache-2.0
// Evaluating a system: for each group a tape of the entries that the mask names, run over its lanes
// in blocks, the results added to the constant part of the arrays. A single lane takes a path of
// its own without blocks.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "expr/tape.h"
#include "model/model.h"
#include "system/system.h"

typedef struct Output {
  int reg;          // register of the tape
  const int* dest;  // lane -> index in `array`
  double* array;
  bool assigns;  // one lane, and nothing else writes to this place
  int gate;      // of a single entry, -1 without
} Output;

typedef struct Program {  // a group under a mask
  const PawlGroup* group;
  PawlTape* tape;
  double* registers;
  int output_count;
  Output* outputs;
} Program;

typedef struct Reset {  // an array that starts from its constant part in each run
  double* array;
  const double* base;
  size_t bytes;
} Reset;

struct PawlEval {
  PawlArena arena;
  const PawlSystem* system;
  unsigned mask;
  PawlValues values;
  double* array[PAWL_QUANTITY_COUNT];
  int program_count, reset_count;
  Program* programs;
  Reset resets[PAWL_QUANTITY_COUNT];
  unsigned char* open;  // gates
};

static bool wanted(const PawlEval* eval, PawlQuantity q) {
  return (eval->mask & pawl_quantity_mask(q)) != 0;
}

static PawlStatus make_arrays(PawlEval* eval, PawlError* err) {
  const PawlSystem* system = eval->system;
  for (int q = 0; q < PAWL_QUANTITY_COUNT; q++) {
    eval->array[q] =
        PAWL_NEW(&eval->arena, double, wanted(eval, (PawlQuantity)q) ? system->size[q] : 0);
    if (!eval->array[q]) {
      return pawl_fail_memory(err);
    }
    if (!wanted(eval, (PawlQuantity)q) || !system->model) {
      continue;
    }
    size_t bytes = (size_t)system->size[q] * sizeof(double);
    memcpy(eval->array[q], system->base[q], bytes);
    if (system->summed[q] && system->varies[q]) {
      eval->resets[eval->reset_count++] = (Reset){eval->array[q], system->base[q], bytes};
    }
  }
  double** a = eval->array;
  eval->values = (PawlValues){.M = a[PAWL_Q_M],
                              .K = a[PAWL_Q_K],
                              .C = a[PAWL_Q_C],
                              .G = a[PAWL_Q_GRAD],
                              .f = a[PAWL_Q_F],
                              .g = a[PAWL_Q_G],
                              .g_t = a[PAWL_Q_GT],
                              .gamma = a[PAWL_Q_GAMMA],
                              .G_rate = a[PAWL_Q_GRATE],
                              .G_acceleration = a[PAWL_Q_GACC],
                              .z = a[PAWL_Q_Z],
                              .z_rate = a[PAWL_Q_ZRATE],
                              .watch = a[PAWL_Q_WATCH],
                              .watch_rate = a[PAWL_Q_WATCHRATE],
                              .energy = a[PAWL_Q_ENERGY],
                              .outputs = a[PAWL_Q_OUTPUT]};
  return PAWL_OK;
}

// Lists the entries of a group that the mask names and that change.
static int select_entries(PawlEval* eval, Program* p, PawlNode* nodes) {
  const PawlGroup* group = p->group;
  int count = 0;
  for (int k = 0; k < group->entry_count; k++) {
    const PawlEntry* e = &group->entries[k];
    if (e->constant || !wanted(eval, e->quantity)) {
      continue;
    }
    p->outputs[count] =
        (Output){0, e->dest, eval->array[e->quantity], !eval->system->summed[e->quantity], e->gate};
    nodes[count++] = e->node;
  }
  return count;
}

static PawlStatus make_program(PawlEval* eval, const PawlGroup* group, PawlError* err) {
  Program* p = &eval->programs[eval->program_count];
  p->group = group;
  p->outputs = PAWL_NEW(&eval->arena, Output, group->entry_count);
  PawlNode* nodes = pawl_alloc((size_t)group->entry_count, sizeof(PawlNode));
  if (!p->outputs || !nodes) {
    pawl_free(nodes);
    return pawl_fail_memory(err);
  }
  p->output_count = select_entries(eval, p, nodes);
  PawlStatus status = PAWL_OK;
  if (p->output_count > 0) {
    eval->program_count++;
    status = pawl_tape_create(group->dag, p->output_count, nodes, &p->tape, err);
  }
  pawl_free(nodes);
  if (!p->tape) {
    return status;
  }
  int width = group->lanes == 1 ? 1 : PAWL_TAPE_WIDTH;
  p->registers = PAWL_NEW(&eval->arena, double, pawl_tape_room(p->tape, width));
  if (!p->registers) {
    return pawl_fail_memory(err);
  }
  pawl_tape_prepare(p->tape, width, p->registers);
  for (int k = 0; k < p->output_count; k++) {
    p->outputs[k].reg = p->tape->outputs[k];
  }
  return status;
}

PawlStatus pawl_eval_create(const PawlSystem* system, unsigned mask, PawlEval** out,
                            PawlError* err) {
  *out = NULL;
  PawlEval* eval = pawl_alloc(1, sizeof *eval);
  if (!eval) {
    return pawl_fail_memory(err);
  }
  eval->system = system;
  eval->mask = mask;
  PawlStatus status = make_arrays(eval, err);
  if (status == PAWL_OK) {
    eval->programs = PAWL_NEW(&eval->arena, Program, system->group_count);
    eval->open = PAWL_NEW(&eval->arena, unsigned char, system->gate_count);
    status = eval->programs && eval->open ? PAWL_OK : pawl_fail_memory(err);
  }
  for (int g = 0; status == PAWL_OK && g < system->group_count; g++) {
    status = make_program(eval, &system->groups[g], err);
  }
  if (status != PAWL_OK) {
    pawl_eval_destroy(eval);
    return status;
  }
  *out = eval;
  return PAWL_OK;
}

void pawl_eval_destroy(PawlEval* eval) {
  if (eval) {
    for (int k = 0; k < eval->program_count; k++) {
      pawl_tape_destroy(eval->programs[k].tape);
    }
    pawl_arena_free(&eval->arena);
    pawl_free(eval);
  }
}

const PawlValues* pawl_eval_values(const PawlEval* eval) {
  return &eval->values;
}

long long pawl_eval_operations(const PawlEval* eval) {
  long long count = 0;
  for (int k = 0; k < eval->program_count; k++) {
    count += (long long)eval->programs[k].tape->instruction_count * eval->programs[k].group->lanes;
  }
  return count;
}

static const double* source(const PawlPoint* point, PawlOp leaf) {
  switch ((PawlLeaf)leaf) {
    case PAWL_LEAF_Q:
      return point->q;
    case PAWL_LEAF_V:
      return point->v;
    case PAWL_LEAF_A:
      return point->a;
    case PAWL_LEAF_LAMBDA:
    case PAWL_LEAF_CONST:  // these and below have no array, the callers see to them
    case PAWL_LEAF_PARAM:
    case PAWL_LEAF_TIME:
    case PAWL_LEAF_TURN:
      break;
  }
  return point->lambda;
}

static double input_value(const PawlEval* eval, const PawlPoint* point, PawlTapeInput input) {
  switch ((PawlLeaf)input.leaf) {
    case PAWL_LEAF_TIME:
      return point->t;
    case PAWL_LEAF_TURN:
      return point->modes ? point->modes[eval->system->constraint_count + input.index] : 0;
    case PAWL_LEAF_CONST:  // never an input
    case PAWL_LEAF_PARAM:  // a number in a group of one lane
    case PAWL_LEAF_Q:
    case PAWL_LEAF_V:
    case PAWL_LEAF_A:
    case PAWL_LEAF_LAMBDA:
      break;
  }
  return source(point, input.leaf)[input.index];
}

// Runs the single lane; slots are global indices. Returns 0 when every result is finite, else NaN.
static double run_single(const PawlEval* eval, const Program* p, const PawlPoint* point) {
  const PawlTape* tape = p->tape;
  double* r = p->registers;
  double* in = r + tape->constant_count;
  for (int k = 0; k < tape->input_count; k++) {
    in[k] = input_value(eval, point, tape->inputs[k]);
  }
  pawl_tape_run_one(tape, r);
  double check = 0.0;
  for (int k = 0; k < p->output_count; k++) {
    const Output* o = &p->outputs[k];
    if (o->gate >= 0 && !eval->open[o->gate]) {
      continue;
    }
    double value = r[o->reg];
    double* place = &o->array[*o->dest];
    *place = o->assigns ? value : *place + value;
    check += value - value;  // NaN when the value is not finite
  }
  return check;
}

static void load_block(const Program* p, const PawlPoint* point, int first, int lanes) {
  const PawlGroup* group = p->group;
  const PawlTape* tape = p->tape;
  for (int k = 0; k < tape->input_count; k++) {
    PawlTapeInput input = tape->inputs[k];
    double* row = p->registers + (size_t)(tape->constant_count + k) * PAWL_TAPE_WIDTH;
    size_t at = (size_t)input.index * (size_t)group->lanes + (size_t)first;
    if (input.leaf == PAWL_OP_TIME) {
      for (int l = 0; l < lanes; l++) {
        row[l] = point->t;
      }
    } else if (input.leaf == PAWL_OP_PARAM) {
      memcpy(row, group->numbers + at, (size_t)lanes * sizeof(double));
    } else {
      const int* map = (input.leaf == PAWL_OP_LAMBDA ? group->rows : group->coordinates) + at;
      const double* from = source(point, input.leaf);
      for (int l = 0; l < lanes; l++) {
        row[l] = from[map[l]];
      }
    }
  }
}

// Adds the rows of open lanes only.
static void add_gated(const PawlEval* eval, const int* gates, const double* row, const int* dest,
                      int lanes, double* array, double* check) {
  for (int l = 0; l < lanes; l++) {
    if (gates[l] < 0 || eval->open[gates[l]]) {
      array[dest[l]] += row[l];
      check[l] += row[l] - row[l];
    }
  }
}

static double run_lanes(const PawlEval* eval, const Program* p, const PawlPoint* point) {
  int all = p->group->lanes;
  double check[PAWL_TAPE_WIDTH] = {0};
  for (int first = 0; first < all; first += PAWL_TAPE_WIDTH) {
    int lanes = all - first < PAWL_TAPE_WIDTH ? all - first : PAWL_TAPE_WIDTH;
    load_block(p, point, first, lanes);
    pawl_tape_run_block(p->tape, p->registers, lanes);
    for (int k = 0; k < p->output_count; k++) {
      const Output* o = &p->outputs[k];
      const double* row = p->registers + (size_t)o->reg * PAWL_TAPE_WIDTH;
      const int* dest = o->dest + first;
      if (p->group->gates) {
        add_gated(eval, p->group->gates + first, row, dest, lanes, o->array, check);
        continue;
      }
      for (int l = 0; l < lanes; l++) {
        check[l] += row[l] - row[l];
      }
      for (int l = 0; l < lanes; l++) {
        o->array[dest[l]] += row[l];
      }
    }
  }
  double sum = 0.0;
  for (int l = 0; l < PAWL_TAPE_WIDTH; l++) {
    sum += check[l];
  }
  return sum;
}

// g = expression - held, for locks.
static void subtract_held(const PawlEval* eval, const PawlPoint* point) {
  if (eval->system->triggers && point->held && wanted(eval, PAWL_Q_G)) {
    double* g = eval->values.g;
    for (int i = 0; i < eval->system->sizes.rows; i++) {
      g[i] -= point->held[i];
    }
  }
}

// Rows of callbacks that are not engaged read as zero, like those of a model behind a closed gate.
static void clear_released(const PawlEval* eval, const PawlPoint* point) {
  const PawlSystem* system = eval->system;
  const PawlQuantity rows[] = {PAWL_Q_G, PAWL_Q_GT, PAWL_Q_GAMMA};
  const PawlQuantity entries[] = {PAWL_Q_GRAD, PAWL_Q_GRATE, PAWL_Q_GACC};
  if (!system->triggers || !point->modes) {
    return;
  }
  for (int q = 0; q < 3; q++) {
    for (int i = 0; wanted(eval, rows[q]) && i < system->sizes.rows; i++) {
      eval->array[rows[q]][i] *= point->modes[i] == PAWL_MODE_HELD;
    }
    int count = wanted(eval, entries[q]) ? system->G.start[system->G.cols] : 0;
    for (int k = 0; k < count; k++) {
      eval->array[entries[q]][k] *= point->modes[system->G.index[k]] == PAWL_MODE_HELD;
    }
  }
}

static PawlStatus run_callbacks(PawlEval* eval, const PawlPoint* point, PawlError* err) {
  const PawlCallbacks* c = &eval->system->callbacks;
  double check = 0.0;
  if (c->evaluate(c->context, eval->mask, point, &eval->values) != 0) {
    return pawl_fail(err, PAWL_RETRY, "t = %.10g: the system's own functions refused this point",
                     point->t);
  }
  clear_released(eval, point);
  subtract_held(eval, point);
  for (int q = 0; q < PAWL_QUANTITY_COUNT; q++) {
    for (int k = 0; wanted(eval, (PawlQuantity)q) && k < eval->system->size[q]; k++) {
      check += eval->array[q][k] - eval->array[q][k];
    }
  }
  return check == 0.0 ? PAWL_OK
                      : pawl_fail(err, PAWL_RETRY,
                                  "t = %.10g: the system's own functions gave a value that is "
                                  "not finite",
                                  point->t);
}

PawlStatus pawl_eval_run(PawlEval* eval, const PawlPoint* point, PawlError* err) {
  if (!eval->system->model) {
    return run_callbacks(eval, point, err);
  }
  for (int k = 0; k < eval->reset_count; k++) {
    memcpy(eval->resets[k].array, eval->resets[k].base, eval->resets[k].bytes);
  }
  for (int k = 0; k < eval->system->gate_count; k++) {
    PawlGate gate = eval->system->gates[k];
    eval->open[k] = (point->modes ? point->modes[gate.constraint] : 0) == gate.mode;
  }
  double check = 0.0;
  for (int k = 0; k < eval->program_count; k++) {
    const Program* p = &eval->programs[k];
    check += p->group->lanes == 1 ? run_single(eval, p, point) : run_lanes(eval, p, point);
  }
  subtract_held(eval, point);
  return check == 0.0 ? PAWL_OK : pawl_system_fault(eval->system, eval->mask, point, err);
}
