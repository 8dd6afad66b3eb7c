// SPDX-License-Identifier: Apache-2.0
// Evaluating a system: the arrays start from their constant part, and the program of each group
// adds what varies.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/copy.h"
#include "base/error.h"
#include "model/model.h"
#include "system/compiled.h"
#include "system/eval_again.h"

// As many of them at most stand behind each other and are reset by one copy.
enum { MOST_TOGETHER = 256 };

static bool wanted(const PawlEval* eval, PawlQuantity q) {
  return (eval->mask & pawl_quantity_mask(q)) != 0;
}

static bool is_reset(const PawlEval* eval, PawlQuantity q) {
  const PawlSystem* system = eval->system;
  return wanted(eval, q) && system->model && system->summed[q] && system->varies[q];
}

// One reset instead of several.
static bool join_resets(PawlEval* eval) {
  size_t count = 0, at = 0;
  for (int k = 0; k < eval->reset_count; k++) {
    count += (size_t)eval->resets[k].count;
  }
  if (eval->reset_count < 2 || count > MOST_TOGETHER) {
    return true;
  }
  double* array = PAWL_NEW(&eval->arena, double, count);
  double* base = PAWL_NEW(&eval->arena, double, count);
  for (int q = 0; array && base && q < PAWL_QUANTITY_COUNT; q++) {
    if (is_reset(eval, (PawlQuantity)q)) {
      size_t size = (size_t)eval->system->size[q];
      eval->array[q] = array + at;
      memcpy(base + at, eval->system->base[q], size * sizeof(double));
      at += size;
    }
  }
  eval->resets[0] = (PawlReset){.array = array, .base = base, .count = (int)count};
  eval->reset_count = 1;
  return array && base;
}

static bool is_zero(int count, const double* x) {
  int k = 0;
  while (k < count && x[k] == 0.0 && !signbit(x[k])) {
    k++;
  }
  return k == count;
}

// Of the evaluation that has this quantity already; NULL: neither.
static double* array_of(const PawlEval* const of[2], PawlQuantity q) {
  for (int k = 0; k < 2; k++) {
    if (of[k] && wanted(of[k], q)) {
      return of[k]->array[q];
    }
  }
  return NULL;
}

static PawlStatus make_arrays(PawlEval* eval, const PawlEval* const of[2], PawlError* err) {
  const PawlSystem* system = eval->system;
  for (int q = 0; q < PAWL_QUANTITY_COUNT; q++) {
    double* shared = array_of(of, (PawlQuantity)q);
    int size = wanted(eval, (PawlQuantity)q) ? system->size[q] : 0;
    eval->array[q] = shared ? shared : PAWL_NEW(&eval->arena, double, size);
    if (!eval->array[q]) {
      return pawl_fail_memory(err);
    }
    if (!wanted(eval, (PawlQuantity)q) || !system->model) {
      continue;
    }
    if (!shared) {
      memcpy(eval->array[q], system->base[q], (size_t)size * sizeof(double));
    }
    if (is_reset(eval, (PawlQuantity)q)) {
      const double* base = is_zero(system->size[q], system->base[q]) ? NULL : system->base[q];
      eval->resets[eval->reset_count++] =
          (PawlReset){eval->array[q], base, system->size[q], (PawlQuantity)q};
    }
  }
  if (!of[0] && !join_resets(eval)) {
    return pawl_fail_memory(err);
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
                              .G_turn = system->turns_tangents ? a[PAWL_Q_GTURN] : NULL,
                              .z = a[PAWL_Q_Z],
                              .z_rate = a[PAWL_Q_ZRATE],
                              .watch = a[PAWL_Q_WATCH],
                              .watch_rate = a[PAWL_Q_WATCHRATE],
                              .power = a[PAWL_Q_POWER],
                              .energy = a[PAWL_Q_ENERGY],
                              .outputs = a[PAWL_Q_OUTPUT]};
  return PAWL_OK;
}

// The gate of the k-th constraint that has gates, in these modes; -1 without one.
static int gate_in(const PawlSystem* system, int k, const int* modes) {
  PawlGated gated = system->gated[k];
  int mode = modes ? modes[gated.constraint] : 0;
  return mode >= 0 && mode < gated.mode_count ? gated.first_gate + mode : -1;
}

static void open_gate(PawlOpenGates* open, int k, int gate) {
  if (open->gates[k] >= 0) {
    open->flags[open->gates[k]] = false;
  }
  if (gate >= 0) {
    open->flags[gate] = true;
  }
  open->gates[k] = gate;
}

// Which function is all of a run, now that these gates are open.
static void find_whole(PawlEval* eval) {
  PawlProgram* p = eval->programs;
  eval->whole = eval->bare ? p->whole : NULL;
  eval->step = eval->bare ? p->step : NULL;
  eval->but_held = NULL;
  int phase = eval->program_count == 1 ? pawl_program_meet(p, &eval->open) : -1;
  if (phase >= 0) {
    PawlTapeWhole* whole = p->phases->whole[phase];
    eval->whole = eval->holds ? NULL : whole;
    eval->but_held = eval->holds ? whole : NULL;
    eval->step = p->phases->step[phase];
  }
}

static void open_gates(PawlEval* eval, const int* modes) {
  for (int k = 0; k < eval->open.count; k++) {
    open_gate(&eval->open, k, gate_in(eval->system, k, modes));
    eval->modes[k] = modes ? modes[eval->system->gated[k].constraint] : 0;
  }
  for (int k = 0; k < eval->program_count; k++) {
    pawl_program_choose(&eval->programs[k], &eval->open);
  }
  find_whole(eval);
}

// One program of a single lane writes all that varies but what locks hold, and reads no number of
// the modes.
static bool is_one(const PawlEval* eval) {
  return eval->program_count == 1 && eval->list_count == 0 && eval->programs->group->lanes == 1 &&
         eval->programs->tape->end_turn == 0 && !eval->system->rates_react;
}

// A program that alone writes all that varies can be compiled together with the steps it is for,
// and for the phases that it meets, where it has gates or arrays start anew.
static PawlStatus offer_phases(PawlEval* eval, PawlError* err) {
  PawlProgram* p = eval->programs;
  if (!is_one(eval)) {
    return PAWL_OK;
  }
  if (eval->stages) {
    p->stages = eval->system->sizes.v;
    p->stage_rows = eval->system->sizes.rows;
  }
  if (eval->reset_count == 0 && eval->open.count == 0) {
    return PAWL_OK;
  }
  PawlProgramPhases* phases = PAWL_NEW(&eval->arena, PawlProgramPhases, 1);
  if (!phases ||
      !(phases->gates = PAWL_NEW(&eval->arena, int, PAWL_PROGRAM_PHASES * eval->open.count))) {
    return pawl_fail_memory(err);
  }
  phases->gate_count = eval->open.count;
  phases->reset_count = eval->reset_count;
  phases->resets = eval->resets;
  for (int k = 0; k < eval->reset_count; k++) {
    eval->array[PAWL_PROGRAM_RESET(k)] = eval->resets[k].array;
    eval->array[PAWL_PROGRAM_BASE(k)] = (double*)eval->resets[k].base;
  }
  p->phases = phases;
  return PAWL_OK;
}

// A family of contacts, or of their friction.
static bool is_of_contacts(const PawlSystem* system, const PawlGroup* group) {
  bool all = group->lanes > 1 && group->row_count > 0;
  for (int k = 0; all && k < group->row_count * group->lanes; k++) {
    PawlRowKind kind = pawl_system_row_kind(system, group->rows[k]);
    all = kind == PAWL_ROW_CONTACT || kind == PAWL_ROW_FRICTION;
  }
  return all;
}

static unsigned mask_of(const PawlEval* eval, const PawlGroup* group) {
  static const unsigned IDLE = PAWL_STIFFNESS | PAWL_DAMPING | PAWL_ACCELERATION_TANGENT;
  return eval->idle && is_of_contacts(eval->system, group) ? eval->mask & ~IDLE : eval->mask;
}

static PawlStatus make_programs(PawlEval* eval, PawlError* err) {
  const PawlSystem* system = eval->system;
  eval->programs = PAWL_NEW(&eval->arena, PawlProgram, system->group_count);
  eval->open.count = system->gated_count;
  eval->open.gates = PAWL_NEW(&eval->arena, int, system->gated_count);
  eval->open.flags = PAWL_NEW(&eval->arena, bool, system->gate_count);
  eval->modes = PAWL_NEW(&eval->arena, int, system->gated_count);
  if (eval->arena.failed) {
    return pawl_fail_memory(err);
  }
  for (int g = 0; g < system->group_count; g++) {
    PawlProgram* program = &eval->programs[eval->program_count];
    PawlStatus status =
        pawl_program_create(system, &system->groups[g], mask_of(eval, &system->groups[g]),
                            eval->array, &eval->arena, program, err);
    eval->program_count += program->tape != NULL;
    PAWL_TRY(status);
    if (program->tape && pawl_compiled_add(system->compiled, program) != 0) {
      return pawl_fail_memory(err);
    }
  }
  for (int k = 0; k < eval->open.count; k++) {
    eval->open.gates[k] = -1;
  }
  open_gates(eval, NULL);
  return PAWL_OK;
}

// One program writes all that varies, whatever the modes.
static bool is_alone(const PawlEval* eval) {
  const PawlProgram* p = eval->programs;
  return eval->program_count == 1 && eval->reset_count == 0 && eval->open.count == 0 &&
         p->group->lanes == 1 && p->tape->end_turn == 0 && !eval->holds &&
         !eval->system->rates_react;
}

void pawl_eval_offer_steps(PawlEval* eval, const PawlEval* tangents, PawlKernelsShape shape) {
  if (!eval->repeats) {
    return;
  }
  bool alone = tangents && is_alone(tangents);
  pawl_lock_take(eval->system->lock);
  eval->programs->steps = (PawlProgramSteps){.shape = shape,
                                             .decoupled = !tangents,
                                             .alone = {is_alone(eval), alone},
                                             .tangents = alone ? tangents->programs : NULL};
  pawl_lock_leave(eval->system->lock);
}

void pawl_eval_tie(PawlEval* eval, PawlKkt* kkt, int compiled_kkt) {
  eval->kkt = kkt;
  eval->compiled_kkt = compiled_kkt;
}

// Nobody writes to it but a run: locks subtract from g what they hold, friction adds to f.
static bool is_kept(const PawlEval* eval, PawlQuantity q) {
  const PawlSystem* system = eval->system;
  return q == PAWL_Q_F ? system->gate_count == 0 && !system->tied
         : q == PAWL_Q_G
             ? !eval->holds
             : q == PAWL_Q_M || q == PAWL_Q_K || q == PAWL_Q_C || q == PAWL_Q_GRAD ||
                   q == PAWL_Q_GRATE || q == PAWL_Q_GACC || q == PAWL_Q_GT || q == PAWL_Q_GAMMA;
}

// Large arrays are not reset where most first results can be stored.
static PawlStatus store_first(PawlEval* eval, PawlError* err) {
  int left = 0;
  for (int k = 0; k < eval->reset_count; k++) {
    PawlReset reset = eval->resets[k];
    bool done = false;
    if (reset.count > MOST_TOGETHER && is_kept(eval, reset.quantity)) {
      int* count = &eval->lists[eval->list_count].count;
      PAWL_TRY(pawl_eval_first(eval->programs, eval->program_count, reset.quantity, reset.array,
                               eval->system->base[reset.quantity], reset.count, &eval->arena,
                               &eval->lists[eval->list_count].spots, count, &done, err));
      eval->list_count += done;
    }
    eval->resets[left] = reset;
    left += !done;
  }
  eval->reset_count = left;
  return PAWL_OK;
}

static void find_lone(PawlEval* eval) {
  const PawlProgram* p = eval->programs;
  bool alone = eval->program_count == 1 && !eval->holds && !eval->system->rates_react;
  eval->lone = alone && eval->system->model && p->whole && p->tape->end_turn == 0 ? p : NULL;
  eval->bare = eval->lone && eval->reset_count == 0 && eval->open.count == 0;
  find_whole(eval);
}

static PawlStatus create(const PawlSystem* system, unsigned mask, const PawlEval* const of[2],
                         PawlEval** out, PawlError* err) {
  *out = NULL;
  PawlEval* eval = pawl_alloc(1, sizeof *eval);
  if (!eval) {
    return pawl_fail_memory(err);
  }
  eval->system = system;
  eval->stages = mask & PAWL_STAGES;
  eval->idle = mask & PAWL_IDLE_CONTACTS;
  mask &= ~(PAWL_STAGES | PAWL_IDLE_CONTACTS);
  eval->mask = mask & PAWL_FORCE && system->kink_count > 0 ? mask | PAWL_SURFACES : mask;
  eval->holds = system->triggers && wanted(eval, PAWL_Q_G);
  eval->compiled = pawl_compiled_generation(system->compiled);
  eval->generation = atomic_load(eval->compiled);
  PawlStatus status = make_arrays(eval, of, err);
  if (status == PAWL_OK) {
    pawl_lock_take(system->lock);
    status = make_programs(eval, err);
    status = status ? status : store_first(eval, err);
    status = status ? status : offer_phases(eval, err);
    pawl_lock_leave(system->lock);
  }
  if (status != PAWL_OK) {
    pawl_eval_destroy(eval);
    return status;
  }
  find_lone(eval);
  eval->repeats = system->model && !system->rates_react && eval->program_count > 0;
  *out = eval;
  return PAWL_OK;
}

PawlStatus pawl_eval_create(const PawlSystem* system, unsigned mask, PawlEval** out,
                            PawlError* err) {
  return create(system, mask, (const PawlEval* const[2]){NULL, NULL}, out, err);
}

PawlStatus pawl_eval_create_part(const PawlEval* const of[2], unsigned mask, PawlEval** out,
                                 PawlError* err) {
  return create(of[0]->system, mask, of, out, err);
}

bool pawl_eval_is_timeless(const PawlEval* eval) {
  bool timed = !eval->system->model;
  for (int p = 0; p < eval->program_count; p++) {
    const PawlTape* tape = eval->programs[p].tape;
    for (int k = 0; k < tape->input_count; k++) {
      timed |= tape->inputs[k].leaf == PAWL_OP_TIME;
    }
  }
  return !timed;
}

PawlStatus pawl_eval_share(PawlEval* eval, PawlPool* pool, PawlError* err) {
  for (int k = 0; k < eval->program_count; k++) {
    PAWL_TRY(pawl_program_share(&eval->programs[k], pool, &eval->arena, err));
  }
  return PAWL_OK;
}

void pawl_eval_destroy(PawlEval* eval) {
  if (eval) {
    pawl_lock_take(eval->system->lock);
    for (int k = 0; k < eval->program_count; k++) {
      pawl_compiled_remove(eval->system->compiled, &eval->programs[k]);
      pawl_program_free(&eval->programs[k]);
    }
    pawl_lock_leave(eval->system->lock);
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
    count += pawl_program_operations(&eval->programs[k]);
  }
  return count;
}

// g = expression - held, for locks. What is held of contacts is the direction of their slip.
void pawl_eval_subtract_held(const PawlEval* eval, const PawlPoint* point) {
  double* g = eval->values.g;
  const PawlSystem* system = eval->system;
  int rows = system->model ? system->model->row_count : system->sizes.rows;
  for (int i = 0; point->held && i < rows; i++) {
    g[i] -= point->held[i];
  }
}

// Rows of callbacks that are not engaged read as zero, like those of a model behind a closed gate.
static void clear_released(const PawlEval* eval, const PawlPoint* point) {
  const PawlSystem* system = eval->system;
  const PawlQuantity rows[] = {PAWL_Q_G, PAWL_Q_GT, PAWL_Q_GAMMA};
  const PawlQuantity entries[] = {PAWL_Q_GRAD, PAWL_Q_GRATE, PAWL_Q_GACC, PAWL_Q_GTURN};
  if (!system->triggers || !point->modes) {
    return;
  }
  for (int q = 0; q < 3; q++) {
    for (int i = 0; wanted(eval, rows[q]) && i < system->sizes.rows; i++) {
      eval->array[rows[q]][i] *= point->modes[i] == PAWL_MODE_HELD;
    }
  }
  for (int q = 0; q < (system->turns_tangents ? 4 : 3); q++) {
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
  if (eval->holds) {
    pawl_eval_subtract_held(eval, point);
  }
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

void pawl_eval_see_kinks(const PawlEval* eval, const int* modes, PawlSides* sides) {
  if (eval->mask & PAWL_FORCE) {
    double margin = pawl_kinks_margin(eval->system, eval->values.z, modes, sides->ignored, NULL);
    sides->least = fmin(sides->least, margin);
  }
}

static PawlStatus fault(const PawlEval* eval, const PawlPoint* point, PawlError* err) {
  pawl_lock_take(eval->system->lock);
  PawlStatus status = pawl_system_fault(eval->system, eval->mask, point, err);
  pawl_lock_leave(eval->system->lock);
  return status;
}

// Rates that react are computed again once v' and lambda are known (Z4).
static PawlPoint complete(const PawlSystem* system, const PawlPoint* point) {
  PawlPoint whole = *point;
  whole.a = point->a ? point->a : system->zeros;
  whole.lambda = point->lambda ? point->lambda : system->zeros;
  return whole;
}

// Functions that have been compiled since the last run.
PAWL_APART static void adopt(PawlEval* eval, const int* modes) {
  const PawlSystem* system = eval->system;
  pawl_lock_take(system->lock);
  eval->generation = atomic_load(eval->compiled);
  for (int k = 0; k < eval->program_count; k++) {
    int phases;
    PawlCompiledFunction* const* functions =
        pawl_compiled_functions(system->compiled, &eval->programs[k], &phases);
    if (functions) {
      pawl_program_adopt(&eval->programs[k], phases, functions);
    }
  }
  if (eval->kkt) {
    pawl_compiled_adopt_kkt(system->compiled, eval->compiled_kkt, eval->kkt);
  }
  pawl_lock_leave(system->lock);
  open_gates(eval, modes);
  find_lone(eval);
}

bool pawl_eval_settle_anew(PawlEval* eval, const int* modes) {
  if (eval->generation != atomic_load_explicit(eval->compiled, memory_order_acquire)) {
    adopt(eval, modes);
  }
  if (!eval->repeats) {
    return false;
  }
  if (!pawl_eval_are_open(eval, modes)) {
    open_gates(eval, modes);
  }
  return true;
}

// 0, or NaN where something is not finite, but for what is watched.
static double check_unwatched(const PawlEval* eval) {
  double check = 0.0;
  for (int q = 0; q < PAWL_QUANTITY_COUNT; q++) {
    bool counts = q != PAWL_Q_WATCH && wanted(eval, (PawlQuantity)q);
    for (int k = 0; counts && k < eval->system->size[q]; k++) {
      check += eval->array[q][k] - eval->array[q][k];
    }
  }
  return check;
}

// The same of what is watched, but for the friction of contacts and what events set and push.
static double check_watched(const PawlEval* eval) {
  const PawlSystem* system = eval->system;
  int next = 0;  // contact: their friction comes in their order, and last
  double check = 0.0;
  for (int k = 0; k < system->first_impulse; k++) {
    while (next < system->model->contact_count && system->friction_watches[next] < k) {
      next++;
    }
    bool rubs = next < system->model->contact_count && system->friction_watches[next] == k;
    check += rubs ? 0.0 : eval->values.watch[k] - eval->values.watch[k];
  }
  return check;
}

// A value that is not finite: what events set and push matters at their instants alone, and the
// friction of a contact while that is closed, where they are checked, and a condition may have no
// rate where it has a value; all else is a fault.
static PawlStatus judge(const PawlEval* eval, const PawlPoint* point, PawlError* err) {
  bool good = eval->mask == PAWL_WATCH_RATES ||
              ((eval->mask & PAWL_WATCHES) && check_unwatched(eval) + check_watched(eval) == 0.0);
  return good ? PAWL_OK : fault(eval, point, err);
}

double pawl_eval_again_any(const PawlEval* eval, const PawlPoint* point, const PawlSources* from) {
  double check = 0.0;
  if (eval->but_held) {
    check = eval->but_held(eval->programs->registers, from->leaf, eval->programs->to);
  } else {
    pawl_eval_reset(eval);
    for (int k = 0; k < eval->program_count; k++) {
      check += pawl_program_run(&eval->programs[k], eval->system, point, from);
    }
  }
  if (eval->holds) {
    pawl_eval_subtract_held(eval, point);
  }
  return check;
}

PAWL_INLINE PawlStatus run(PawlEval* eval, const PawlPoint* point, PawlError* err) {
  if (!pawl_eval_are_open(eval, point->modes)) {
    open_gates(eval, point->modes);
  }
  PawlSources from = pawl_program_sources(eval->system, point);
  double check = pawl_eval_again(eval, point, &from);
  return check == 0.0 ? PAWL_OK : judge(eval, point, err);
}

PAWL_APART static PawlStatus run_complete(PawlEval* eval, const PawlPoint* point, PawlError* err) {
  PawlPoint whole = complete(eval->system, point);
  return run(eval, &whole, err);
}

PAWL_APART static PawlStatus run_any(PawlEval* eval, const PawlPoint* point, PawlError* err) {
  if (!eval->system->model) {
    return run_callbacks(eval, point, err);
  }
  if (eval->system->rates_react) {
    return run_complete(eval, point, err);
  }
  return run(eval, point, err);
}

PAWL_APART static PawlStatus run_lone(PawlEval* eval, const PawlPoint* point, PawlError* err) {
  const PawlProgram* p = eval->lone;
  double check;
  if (!pawl_eval_are_open(eval, point->modes)) {
    open_gates(eval, point->modes);
  }
  PawlSources from = pawl_program_sources(eval->system, point);
  if (eval->whole) {
    check = eval->whole(p->registers, from.leaf, p->to);
  } else {
    pawl_eval_reset(eval);
    check = p->whole(p->registers, from.leaf, p->to);
    check += p->part_count + p->stretch_count > 0 ? pawl_program_run_gates(p) : 0.0;
  }
  return check == 0.0 ? PAWL_OK : judge(eval, point, err);
}

PawlStatus pawl_eval_run(PawlEval* eval, const PawlPoint* point, PawlError* err) {
  if (eval->generation != atomic_load_explicit(eval->compiled, memory_order_acquire)) {
    adopt(eval, point->modes);
  }
  if (!eval->bare) {
    return eval->lone ? run_lone(eval, point, err) : run_any(eval, point, err);
  }
  const PawlProgram* p = eval->lone;
  PawlSources from = pawl_program_sources(eval->system, point);
  double check = p->whole(p->registers, from.leaf, p->to);
  return check == 0.0 ? PAWL_OK : judge(eval, point, err);
}
