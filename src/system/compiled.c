// SPDX-License-Identifier: Apache-2.0
#include "system/compiled.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/module.h"
#include "base/worker.h"
#include "expr/tape_source.h"
#include "system/kernel_texts.h"
#include "system/system.h"

// A compiler takes a second for some thousands of instructions, and longer than in proportion for
// very long functions: what is beyond stays as it is.
enum { MOST_INSTRUCTIONS = 4000, MOST_TOGETHER = 20000 };

typedef struct Slot {
  const PawlProgram* program;  // NULL: free
  int wanted;                  // its first function in what is being compiled; -1: none
  PawlCompiledFunction* const* functions;
} Slot;

// What is under way belongs to the worker from `compiling` set to `compiling` cleared.
struct PawlCompiled {
  atomic_int generation;
  int slot_count, slot_capacity;  // from here to modules under the lock of the system
  Slot* slots;
  int module_count, module_capacity;
  PawlModule** modules;
  PawlWorker* worker;
  PawlModuleJob* job;
  atomic_bool compiling;
  PawlText source;
  PawlLock* lock;  // of the system
  PawlStatus status;
  PawlError err;
};

PawlCompiled* pawl_compiled_create(void) {
  return pawl_alloc(1, sizeof(PawlCompiled));
}

void pawl_compiled_destroy(PawlCompiled* c) {
  if (!c) {
    return;
  }
  if (c->job) {
    pawl_module_job_stop(c->job);
  }
  pawl_worker_destroy(c->worker);
  pawl_module_job_destroy(c->job);
  for (int k = 0; k < c->module_count; k++) {
    pawl_module_destroy(c->modules[k]);
  }
  pawl_free(c->modules);
  pawl_free(c->slots);
  pawl_text_free(&c->source);
  pawl_free(c);
}

// ---- programs -----------------------------------------------------------------------------------
static int free_slot(const PawlCompiled* c) {
  int k = 0;
  while (k < c->slot_count && c->slots[k].program) {
    k++;
  }
  return k;
}

int pawl_compiled_add(PawlCompiled* c, PawlProgram* program) {
  int k = free_slot(c);
  if (PAWL_GROW(c->slots, c->slot_capacity, k + 1) != 0) {
    return -1;
  }
  c->slot_count = k == c->slot_count ? k + 1 : c->slot_count;
  c->slots[k] = (Slot){program, -1, NULL};
  program->number = k;
  return 0;
}

void pawl_compiled_remove(PawlCompiled* c, PawlProgram* program) {
  if (program->number >= 0) {
    c->slots[program->number] = (Slot){NULL, -1, NULL};
    program->number = -1;
  }
}

PawlCompiledFunction* const* pawl_compiled_functions(const PawlCompiled* c,
                                                     const PawlProgram* program) {
  return program->number >= 0 ? c->slots[program->number].functions : NULL;
}

const atomic_int* pawl_compiled_generation(const PawlCompiled* c) {
  return &c->generation;
}

// ---- the text -----------------------------------------------------------------------------------
static bool is_wanted(const Slot* slot, int so_far) {
  int count = slot->program ? slot->program->tape->instruction_count : 0;
  return slot->program && !slot->functions && count <= MOST_INSTRUCTIONS &&
         so_far + count + pawl_program_functions(slot->program) <= MOST_TOGETHER;
}

// A text without what it includes of pawl: all of that is there.
static void print_text(PawlText* out, const char* text) {
  for (const char* line = text; *line;) {
    size_t length = strcspn(line, "\n");
    bool is_code = strncmp(line, "#include \"", 10) != 0 && strncmp(line, "#pragma once", 12) != 0;
    pawl_text_printf(out, "%.*s\n", is_code ? (int)length : 0, line);
    line += length + (line[length] == '\n');
  }
}

// The texts of the table: those of sines, which all modules have, or the others.
static void print_texts(PawlText* out, bool of_sines) {
  for (const PawlKernelText* k = pawl_kernel_texts; k->name; k++) {
    if ((strncmp(k->name, "elementary", 10) == 0) == of_sines) {
      print_text(out, k->text);
    }
  }
}

static bool has_steps(const PawlCompiled* c) {
  bool has = false;
  for (int k = 0; k < c->slot_count; k++) {
    const PawlProgram* p = c->slots[k].program;
    has |= p && (p->stages > 0 || p->steps.shape.n > 0);
  }
  return has;
}

// The steps of programs, which may have others inside.
static void print_steps(PawlCompiled* c) {
  for (int k = 0; k < c->slot_count; k++) {
    const Slot* slot = &c->slots[k];
    if (slot->wanted >= 0 && slot->program->steps.shape.n > 0) {
      int tangents = -1;
      for (int j = 0; j < c->slot_count; j++) {
        bool found = c->slots[j].program && c->slots[j].program == slot->program->steps.tangents;
        tangents = found ? c->slots[j].wanted : tangents;
      }
      pawl_program_source_steps(&c->source, slot->program, slot->wanted, tangents);
    }
  }
}

// The functions of all programs that have none yet, and their list. How many there are.
static int print_programs(PawlCompiled* c) {
  int count = 0, instructions = 0;
  c->source.length = 0;
  pawl_tape_source_head(&c->source);
  print_texts(&c->source, true);
  pawl_tape_source_elementary(&c->source);
  if (has_steps(c)) {
    pawl_text_add(&c->source,
                  "#define PAWL_INLINE static inline __attribute__((always_inline))\n"
                  "#define PAWL_KERNELS_IN_MODULE\n");
    print_texts(&c->source, false);
  }
  for (int k = 0; k < c->slot_count; k++) {
    Slot* slot = &c->slots[k];
    slot->wanted = -1;
    if (is_wanted(slot, instructions)) {
      instructions +=
          slot->program->tape->instruction_count + pawl_program_functions(slot->program);
      c->source.failed |= pawl_program_source(&c->source, slot->program, count) != 0;
      slot->wanted = count;
      count += pawl_program_functions(slot->program);
    }
  }
  print_steps(c);
  pawl_text_add(&c->source, "typedef void (*F)(void);\nconst F pawl_functions[] = {\n");
  for (int k = 0; k < c->slot_count; k++) {
    if (c->slots[k].wanted >= 0) {
      pawl_program_names(&c->source, c->slots[k].program, c->slots[k].wanted);
    }
  }
  pawl_text_add(&c->source, "  0};\n");
  return count;
}

// ---- compiling ----------------------------------------------------------------------------------
static PawlStatus publish(PawlCompiled* c, PawlModule* module, PawlError* err) {
  PawlCompiledFunction* const* functions = pawl_module_find(module, "pawl_functions");
  void* symbol = pawl_module_find(module, "pawl_begin");
  void (*begin)(const PawlTapeHost*);
  if (!functions || !symbol ||
      PAWL_GROW(c->modules, c->module_capacity, c->module_count + 1) != 0) {
    pawl_module_destroy(module);
    return pawl_fail_memory(err);
  }
  memcpy(&begin, &symbol, sizeof begin);  // a pointer to data becomes one to code
  begin(&pawl_tape_host);
  c->modules[c->module_count++] = module;
  for (int k = 0; k < c->slot_count; k++) {
    Slot* slot = &c->slots[k];
    if (slot->wanted >= 0) {
      slot->functions = functions + slot->wanted;
      slot->wanted = -1;
    }
  }
  atomic_fetch_add(&c->generation, 1);
  return PAWL_OK;
}

static void compile(void* context) {
  PawlCompiled* c = context;
  PawlModule* module;
  c->status = pawl_module_create(c->source.s, c->source.length, c->job, &module, &c->err);
  if (c->status == PAWL_OK) {
    pawl_lock_take(c->lock);
    c->status = publish(c, module, &c->err);
    pawl_lock_leave(c->lock);
  }
  atomic_store(&c->compiling, false);
}

static PawlStatus begin(PawlCompiled* c, PawlError* err) {
  if (!c->job) {
    c->job = pawl_module_job_create();
  }
  if (!c->worker) {
    c->worker = pawl_worker_create();
  }
  int count = print_programs(c);
  if (!c->job || !c->worker || c->source.failed) {
    return pawl_fail_memory(err);
  }
  if (count > 0) {
    atomic_store(&c->compiling, true);
    pawl_worker_give(c->worker, compile, c);
  }
  return PAWL_OK;
}

PawlStatus pawl_system_compile(const PawlSystem* system, bool wait, PawlError* err) {
  PawlCompiled* c = system->compiled;
  if (!system->model) {
    return PAWL_OK;
  }
  pawl_lock_take(system->lock);
  bool busy = atomic_load(&c->compiling);
  c->lock = system->lock;
  PawlStatus status = busy ? PAWL_OK : begin(c, err);
  pawl_lock_leave(system->lock);
  if (status != PAWL_OK || !wait) {
    return status;
  }
  pawl_worker_wait(c->worker);
  if (c->status != PAWL_OK && err) {
    *err = c->err;
  }
  return c->status;
}
