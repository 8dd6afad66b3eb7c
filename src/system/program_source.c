// SPDX-License-Identifier: Apache-2.0
// A program as C, with the steps that it is for, and again for each phase it has met: what open
// gates need, from the reset of the arrays to the results, as one function.
#include <stdio.h>

#include "expr/tape_source.h"
#include "system/program.h"

enum { STEPS = 3 };  // functions of kernels_ga.h

// The number of its rk4 step, or of the first of those of kernels_ga.h: a program has either.
static int step_function(const PawlProgram* p) {
  return pawl_tape_source_count(p->tape, p->group->lanes == 1);
}

// Of its first phase: all that is evaluated, and the rk4 step with it where it has stages.
static int phase_function(const PawlProgram* p) {
  bool stages = p->stages > 0 && !p->phases;
  return step_function(p) + (p->steps.shape.n > 0 ? STEPS : stages);
}

static int of_phase(const PawlProgram* p) {
  return p->stages > 0 ? 2 : 1;
}

int pawl_program_functions(const PawlProgram* p, int phases) {
  return phase_function(p) + phases * of_phase(p);
}

int pawl_program_phases(const PawlProgram* p) {
  return p->phases ? atomic_load_explicit(&p->phases->count, memory_order_acquire) : 0;
}

static const int* gates_of(const PawlProgram* p, int phase) {
  return p->phases->gates + phase * p->phases->gate_count;
}

int pawl_program_length(const PawlProgram* p, int phases) {
  int length = p->tape->instruction_count + pawl_program_functions(p, phases);
  for (int k = 0; k < phases; k++) {
    length += pawl_tape_phase_length(p->tape, p->phases->gate_count, gates_of(p, k));
  }
  return length;
}

static void print_numbers(PawlText* out, const char* name, int number, int count, const int* x) {
  pawl_text_printf(out, "static const int %s%d[] = {", name, number);
  for (int k = 0; k < count; k++) {
    pawl_text_printf(out, "%d, ", x[k]);
  }
  pawl_text_add(out, "0};\n");
}

static void print_columns(PawlText* out, const char* name, int number, int n,
                          PawlKernelsColumns at) {
  char label[32];
  snprintf(label, sizeof label, "%s_start", name);
  print_numbers(out, label, number, n + 1, at.start);
  snprintf(label, sizeof label, "%s_index", name);
  print_numbers(out, label, number, at.start[n], at.index);
}

static void print_shape(PawlText* out, const PawlKernelsShape* of, int first) {
  print_columns(out, "mass", first, of->n, of->mass);
  print_columns(out, "H", first, of->n, of->H);
  print_columns(out, "G", first, of->n, of->G);
  print_numbers(out, "diagonal", first, of->n, of->diagonal);
  pawl_text_printf(out, "#define SHAPE%d ((PawlKernelsShape){%d, %d", first, of->n, of->rows);
  static const char* const names[] = {"mass", "H", "G"};
  for (int k = 0; k < 3; k++) {
    pawl_text_printf(out, ", {%s_start%d, %s_index%d}", names[k], first, names[k], first);
  }
  pawl_text_printf(out, ", diagonal%d, %d, %d})\n", first, of->stays, of->turns);
}

// `whole`: the function that is all of it, or -1.
static void print_evaluation(PawlText* out, const char* name, int first, int which, int whole) {
  pawl_text_printf(out, "static double %s%d(const PawlKernelsGa* g) {\n", name, first);
  if (whole < 0) {
    pawl_text_printf(out, "  return g->%s(g);\n}\n", name);
  } else {
    pawl_text_printf(out,
                     "  return f%d(g->program[%d].registers, g->program[%d].from, "
                     "g->program[%d].to);\n}\n",
                     whole, which, which, which);
  }
}

void pawl_program_source_steps(PawlText* out, const PawlProgram* p, int first, int tangents) {
  const PawlProgramSteps* steps = &p->steps;
  const char* kind = steps->decoupled ? "pvv" : "pva";
  int number = first + step_function(p);
  print_shape(out, &steps->shape, first);
  print_evaluation(out, "evaluate", first, 0, steps->alone[0] ? first : -1);
  if (!steps->decoupled) {
    print_evaluation(out, "tangents", first, 1, steps->alone[1] ? tangents : -1);
  }
  pawl_text_printf(out,
                   "static void f%d(PawlKernelsGa* g) {\n"
                   "  pawl_kernels_ga_guess(SHAPE%d, g);\n"
                   "  pawl_kernels_%s_place(SHAPE%d, g);\n}\n",
                   number, first, kind, first);
  pawl_text_printf(out,
                   "__attribute__((flatten)) static PawlKernelsEnd f%d(PawlKernelsGa* g) {\n"
                   "  return pawl_kernels_%s(SHAPE%d, g, evaluate%d",
                   number + 1, kind, first, first);
  if (!steps->decoupled) {
    pawl_text_printf(out, ", tangents%d", first);
  }
  pawl_text_printf(out,
                   ");\n}\n"
                   "static void f%d(PawlKernelsGa* g) {\n  pawl_kernels_%s_take(SHAPE%d, g);\n}\n",
                   number + 2, kind, first);
}

// The step of kernels.h with the whole of the program inside.
static void print_step(PawlText* out, const PawlProgram* p, int whole, int number) {
  pawl_text_printf(out,
                   "static double e%d(const PawlKernelsPoint* at) {\n"
                   "  return f%d(at->registers, at->from, at->to);\n}\n"
                   "__attribute__((flatten)) static int f%d(const PawlKernelsPoint* at, const "
                   "PawlKernelsRk4* s) {\n"
                   "  return pawl_kernels_rk4(%d, %d, at, e%d, s);\n}\n",
                   number, whole, number, p->stages, p->stage_rows, number);
}

void pawl_program_names(PawlText* out, const PawlProgram* p, int phases, int first) {
  pawl_tape_source_names(out, p->tape, p->group->lanes == 1, first);
  for (int k = step_function(p); k < pawl_program_functions(p, phases); k++) {
    pawl_text_printf(out, "  (F)f%d,\n", first + k);
  }
}

// The arrays that begin anew, behind those of quantities (PawlProgramPhases).
static void list_resets(const PawlProgram* p, PawlTapeReset* resets) {
  for (int k = 0; k < p->phases->reset_count; k++) {
    const PawlReset* reset = &p->phases->resets[k];
    resets[k] = (PawlTapeReset){.array = reset->array,
                                .count = reset->count,
                                .to = PAWL_PROGRAM_RESET(k),
                                .base = reset->base ? PAWL_PROGRAM_BASE(k) : -1};
  }
}

static int print_phases(PawlText* out, const PawlProgram* p, const PawlTapeEnds* ends, int phases,
                        int first) {
  PawlTapeReset resets[PAWL_QUANTITY_COUNT];
  int failed = 0;
  if (phases > 0) {
    list_resets(p, resets);
  }
  for (int k = 0; k < phases; k++) {
    int number = first + phase_function(p) + k * of_phase(p);
    failed |= pawl_tape_source_phase(out, p->tape, ends, p->phases->gate_count, gates_of(p, k),
                                     p->phases->reset_count, resets, number);
    if (p->stages > 0) {
      print_step(out, p, number, number + 1);
    }
  }
  return failed;
}

int pawl_program_source(PawlText* out, const PawlProgram* p, int phases, int first) {
  if (p->group->lanes > 1) {
    return pawl_tape_source_block(out, p->tape, first);
  }
  PawlTapeEnds ends;
  int failed = pawl_program_ends(p, &ends) ? pawl_tape_source(out, p->tape, &ends, first) : -1;
  failed = failed ? failed : print_phases(out, p, &ends, phases, first);
  pawl_program_free_ends(&ends);
  if (!failed && p->stages > 0 && !p->phases) {
    print_step(out, p, first, first + step_function(p));
  }
  return failed;
}

static void adopt_phases(const PawlProgram* p, int phases, void (*const* functions)(void)) {
  for (int k = 0; k < phases; k++) {
    void (*const* of)(void) = functions + phase_function(p) + k * of_phase(p);
    p->phases->whole[k] = (PawlTapeWhole*)of[0];
    p->phases->step[k] = p->stages > 0 ? (PawlKernelsStep*)of[1] : NULL;
  }
}

void pawl_program_adopt(PawlProgram* p, int phases, void (*const* functions)(void)) {
  PawlTape* tape = p->tape;
  void (*const* steps)(void) = functions + step_function(p);
  if (p->steps.shape.n > 0) {
    p->ga = (PawlKernelsGaSteps){(void (*)(PawlKernelsGa*))steps[0],
                                 (PawlKernelsEnd(*)(PawlKernelsGa*))steps[1],
                                 (void (*)(PawlKernelsGa*))steps[2]};
  }
  if (p->group->lanes > 1) {
    tape->block = (PawlTapeBlock*)functions[0];
    return;
  }
  p->whole = (PawlTapeWhole*)functions[0];
  p->step = p->stages > 0 && !p->phases ? (PawlKernelsStep*)steps[0] : NULL;
  adopt_phases(p, phases, functions);
  for (int k = 1; k < tape->part_count; k++) {
    tape->parts[k].code = (void (*)(double*))functions[1 + k];
  }
  for (int g = 0; g < tape->gate_count; g++) {
    p->adds[g] = (PawlTapeAdd*)functions[1 + tape->part_count + g];
  }
}
