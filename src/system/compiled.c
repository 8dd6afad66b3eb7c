// SPDX-License-Identifier: Apache-2.0
#include "system/compiled.h"

#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/module.h"
#include "base/worker.h"
#include "expr/tape_source.h"
#include "system/kernel_texts.h"
#include "system/system.h"

// A compiler takes a second for some thousands of instructions, and longer than in proportion for
// very long functions: what is beyond stays as it is.
enum { MOST_INSTRUCTIONS = 4000, MOST_WITH_PHASES = 8000, MOST_TOGETHER = 20000 };
// A linear system of so many lines becomes part of the steps that use it, once in each phase; of
// longer ones the calls are not what takes time, and their copies do not stay in the caches.
enum { MOST_INSIDE = 400 };

typedef struct Slot {
  const PawlProgram* program;  // NULL: free
  bool listed;                 // it is being printed, if there is room
  int wanted;                  // its first function in what is being compiled; -1: none
  int wanted_phases;           // of which there are functions there
  PawlCompiledFunction* const* functions;
  int phases;  // of which there are functions
  int seen;    // phases that it had met when they were printed; -1: they never were
} Slot;

typedef struct KktSlot {
  const PawlKkt* kkt;         // NULL: free
  unsigned seen;              // sets that it had met when they were printed
  int wanted[PAWL_KKT_SETS];  // the first function of a set in what is being compiled; -1: none
  bool brief[PAWL_KKT_SETS];  // it may become part of steps
  PawlCompiledFunction* const* functions[PAWL_KKT_SETS];
} KktSlot;

// What is under way belongs to the worker from `compiling` set to `compiling` cleared.
struct PawlCompiled {
  atomic_int generation;
  int slot_count, slot_capacity;  // from here to modules under the lock of the system
  Slot* slots;
  int kkt_count, kkt_capacity;
  KktSlot* kkts;
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
  pawl_free(c->kkts);
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
  c->slots[k] = (Slot){.program = program, .wanted = -1, .seen = -1};
  program->number = k;
  return 0;
}

void pawl_compiled_remove(PawlCompiled* c, PawlProgram* program) {
  if (program->number >= 0) {
    c->slots[program->number] = (Slot){.wanted = -1, .seen = -1};
    program->number = -1;
  }
}

PawlCompiledFunction* const* pawl_compiled_functions(const PawlCompiled* c,
                                                     const PawlProgram* program, int* phases) {
  const Slot* slot = program->number >= 0 ? &c->slots[program->number] : NULL;
  *phases = slot ? slot->phases : 0;
  return slot ? slot->functions : NULL;
}

// ---- linear systems -----------------------------------------------------------------------------
static void clear_kkt(KktSlot* slot) {
  *slot = (KktSlot){0};
  for (int k = 0; k < PAWL_KKT_SETS; k++) {
    slot->wanted[k] = -1;
  }
}

int pawl_compiled_add_kkt(PawlCompiled* c, const PawlKkt* kkt) {
  int k = 0;
  while (k < c->kkt_count && c->kkts[k].kkt) {
    k++;
  }
  if (PAWL_GROW(c->kkts, c->kkt_capacity, k + 1) != 0) {
    return -1;
  }
  c->kkt_count = k == c->kkt_count ? k + 1 : c->kkt_count;
  clear_kkt(&c->kkts[k]);
  c->kkts[k].kkt = kkt;
  return k;
}

void pawl_compiled_remove_kkt(PawlCompiled* c, int place) {
  if (place >= 0) {
    clear_kkt(&c->kkts[place]);
  }
}

void pawl_compiled_adopt_kkt(const PawlCompiled* c, int place, PawlKkt* kkt) {
  for (int k = 0; place >= 0 && k < PAWL_KKT_SETS; k++) {
    if (c->kkts[place].functions[k]) {
      pawl_kkt_source_adopt(kkt, k, c->kkts[place].functions[k]);
    }
  }
}

const atomic_int* pawl_compiled_generation(const PawlCompiled* c) {
  return &c->generation;
}

// ---- the text -----------------------------------------------------------------------------------
// It was never printed, or has met phases since.
static bool is_new(const Slot* slot) {
  return slot->program && slot->program->tape->instruction_count <= MOST_INSTRUCTIONS &&
         pawl_program_phases(slot->program) > slot->seen;
}

// Steps have the program of their tangents inside: it goes with them.
static bool is_wanted(const PawlCompiled* c, const Slot* slot) {
  bool wanted = is_new(slot);
  for (int k = 0; slot->program && !wanted && k < c->slot_count; k++) {
    const Slot* of = &c->slots[k];
    wanted = is_new(of) && of->program->steps.shape.n > 0 &&
             of->program->steps.tangents == slot->program;
  }
  return wanted;
}

// Its functions from function `count` on, as long as there is room. How many there are then.
static int print_program(PawlCompiled* c, Slot* slot, int count, int* instructions) {
  const PawlProgram* p = slot->program;
  int room = MOST_TOGETHER - *instructions, phases = pawl_program_phases(p);
  slot->seen = phases;
  if (pawl_program_length(p, 0) > room) {
    return count;
  }
  room = room < MOST_WITH_PHASES ? room : MOST_WITH_PHASES;
  while (phases > 0 && pawl_program_length(p, phases) > room) {
    phases--;
  }
  slot->wanted = count;
  slot->wanted_phases = phases;
  c->source.failed |= pawl_program_source(&c->source, p, phases, count) != 0;
  *instructions += pawl_program_length(p, phases);
  return count + pawl_program_functions(p, phases);
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

// The texts of the table whose names begin with this.
static void print_texts(PawlText* out, const char* name) {
  for (const PawlKernelText* k = pawl_kernel_texts; k->name; k++) {
    if (strncmp(k->name, name, strlen(name)) == 0) {
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

static int count_lines(const PawlText* text, size_t from) {
  int count = 0;
  for (size_t k = from; k < text->length; k++) {
    count += text->s[k] == '\n';
  }
  return count;
}

// The functions of a set of rows as function `count` and those behind it, and how many lines they
// have. 0: it has none, or there is no room for them.
static int print_set(PawlCompiled* c, const PawlKkt* kkt, int set, int count, int room) {
  size_t before = c->source.length;
  int failed = pawl_kkt_source(kkt, set, &c->source, count);
  c->source.failed |= failed < 0;
  int lines = failed || c->source.failed ? 0 : count_lines(&c->source, before);
  if (lines == 0 || lines > room) {
    c->source.length = before;
    return 0;
  }
  return lines;
}

// The functions of the sets that a linear system has met, from function `count` on. How many there
// are then. Those that have some are printed again, so that steps have them inside.
static int print_kkt(PawlCompiled* c, KktSlot* slot, int count, int* instructions) {
  unsigned met = slot->kkt ? pawl_kkt_source_sets(slot->kkt) : 0;
  slot->seen = met;
  for (int k = 0; k < PAWL_KKT_SETS; k++) {
    int room = MOST_TOGETHER - *instructions;
    int lines = met >> k & 1 ? print_set(c, slot->kkt, k, count, room) : 0;
    slot->wanted[k] = lines > 0 ? count : -1;
    slot->brief[k] = lines <= MOST_INSIDE;
    *instructions += lines;
    count += lines > 0 ? PAWL_KKT_FUNCTIONS : 0;
  }
  return count;
}

// A call of each set that is brief, where it is the one that is wanted.
static void print_brief(PawlCompiled* c, const char* name, const char* arguments, int offset) {
  for (int k = 0; k < c->kkt_count * PAWL_KKT_SETS; k++) {
    const KktSlot* slot = &c->kkts[k / PAWL_KKT_SETS];
    int of = slot->wanted[k % PAWL_KKT_SETS] + offset;
    if (of >= offset && slot->brief[k % PAWL_KKT_SETS]) {
      pawl_text_printf(&c->source, "by->%s == f%d ? f%d(by->values, by->table, %s) : ", name, of,
                       of, arguments);
    }
  }
  pawl_text_printf(&c->source, "by->%s(by->values, by->table, %s);\n}\n", name, arguments);
}

// The calls of kkt_direct.h: what is brief in this text may become part of the caller.
static void print_calls(PawlCompiled* c) {
  enum { FACTOR = 0, SOLVE = 2 };  // as PAWL_KKT_FUNCTIONS says
  pawl_text_add(&c->source,
                "PAWL_INLINE int pawl_kkt_direct_factor(const PawlKktDirect* by, const double* S,\n"
                "    const double* B, const double* J) {\n  return ");
  print_brief(c, "factor", "S, B, J", FACTOR);
  pawl_text_add(&c->source,
                "PAWL_INLINE void pawl_kkt_direct_solve(const PawlKktDirect* by, double* x, "
                "double* y) {\n  ");
  print_brief(c, "solve", "x, y", SOLVE);
}

static void print_kkt_names(PawlCompiled* c) {
  for (int k = 0; k < c->kkt_count * PAWL_KKT_SETS; k++) {
    const KktSlot* slot = &c->kkts[k / PAWL_KKT_SETS];
    if (slot->wanted[k % PAWL_KKT_SETS] >= 0) {
      pawl_kkt_source_names(slot->kkt, &c->source, slot->wanted[k % PAWL_KKT_SETS]);
    }
  }
}

// Whether there is anything that was not printed yet.
static bool has_new(const PawlCompiled* c) {
  bool found = false;
  for (int k = 0; k < c->slot_count; k++) {
    found |= is_new(&c->slots[k]);
  }
  for (int k = 0; k < c->kkt_count; k++) {
    const KktSlot* slot = &c->kkts[k];
    found |= slot->kkt && (pawl_kkt_source_sets(slot->kkt) & ~slot->seen) != 0;
  }
  return found;
}

// The functions of all linear systems, of programs that have none yet, and their list. How many
// there are.
static int print_all(PawlCompiled* c) {
  int count = 0, instructions = 0;
  c->source.length = 0;
  pawl_tape_source_head(&c->source);
  pawl_text_add(&c->source, "#define PAWL_INLINE static inline __attribute__((always_inline))\n");
  print_texts(&c->source, "sized");
  print_texts(&c->source, "elementary");
  pawl_tape_source_elementary(&c->source);
  for (int k = 0; k < c->kkt_count; k++) {
    count = print_kkt(c, &c->kkts[k], count, &instructions);
  }
  if (has_steps(c)) {
    pawl_text_add(&c->source, "#define PAWL_KERNELS_IN_MODULE\n");
    print_texts(&c->source, "kkt_direct");
    print_calls(c);
    print_texts(&c->source, "kernels");
  }
  for (int k = 0; k < c->slot_count; k++) {
    c->slots[k].listed = is_wanted(c, &c->slots[k]);
    c->slots[k].wanted = -1;
  }
  for (int k = 0; k < c->slot_count; k++) {
    Slot* slot = &c->slots[k];
    if (slot->listed) {
      count = print_program(c, slot, count, &instructions);
    }
  }
  print_steps(c);
  pawl_text_add(&c->source, "typedef void (*F)(void);\nconst F pawl_functions[] = {\n");
  print_kkt_names(c);
  for (int k = 0; k < c->slot_count; k++) {
    if (c->slots[k].wanted >= 0) {
      const Slot* slot = &c->slots[k];
      pawl_program_names(&c->source, slot->program, slot->wanted_phases, slot->wanted);
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
      slot->phases = slot->wanted_phases;
      slot->wanted = -1;
    }
  }
  for (int k = 0; k < c->kkt_count * PAWL_KKT_SETS; k++) {
    KktSlot* slot = &c->kkts[k / PAWL_KKT_SETS];
    int* wanted = &slot->wanted[k % PAWL_KKT_SETS];
    if (*wanted >= 0) {
      slot->functions[k % PAWL_KKT_SETS] = functions + *wanted;
      *wanted = -1;
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

// Memory was short: all is printed again when somebody asks the next time.
static void forget(PawlCompiled* c) {
  pawl_text_free(&c->source);
  for (int k = 0; k < c->slot_count; k++) {
    c->slots[k].seen = c->slots[k].wanted = -1;
  }
  for (int k = 0; k < c->kkt_count; k++) {
    c->kkts[k].seen = 0;
  }
}

static PawlStatus begin(PawlCompiled* c, PawlError* err) {
  if (!c->job) {
    c->job = pawl_module_job_create();
  }
  if (!c->worker) {
    c->worker = pawl_worker_create();
  }
  int count = has_new(c) ? print_all(c) : 0;
  if (!c->job || !c->worker || c->source.failed) {
    forget(c);
    return pawl_fail_memory(err);
  }
  if (count > 0) {
    atomic_store(&c->compiling, true);
    pawl_worker_give(c->worker, compile, c);
  }
  return PAWL_OK;
}

bool pawl_compiled_is_behind(const PawlSystem* system) {
  PawlCompiled* c = system->compiled;
  if (!system->model || atomic_load(&c->compiling)) {
    return false;
  }
  pawl_lock_take(system->lock);
  bool behind = has_new(c);
  pawl_lock_leave(system->lock);
  return behind;
}

// Until what is under way has ended, or `*stop` is not 0 any more, which ends it.
static void wait_for(PawlCompiled* c, const volatile int* stop) {
  while (stop && atomic_load(&c->compiling)) {
    if (*stop != 0) {
      pawl_module_job_stop(c->job);
    }
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  pawl_worker_wait(c->worker);
}

PawlStatus pawl_compiled_make(const PawlSystem* system, const volatile int* stop, PawlError* err) {
  PAWL_TRY(pawl_system_compile(system, false, err));
  PawlCompiled* c = system->compiled;
  if (!system->model) {
    return PAWL_OK;
  }
  wait_for(c, stop);
  if (c->status != PAWL_OK && err) {
    *err = c->err;
  }
  return c->status;
}

PawlStatus pawl_system_compile(const PawlSystem* system, bool wait, PawlError* err) {
  if (wait) {
    return pawl_compiled_make(system, NULL, err);
  }
  PawlCompiled* c = system->compiled;
  if (!system->model) {
    return PAWL_OK;
  }
  pawl_lock_take(system->lock);
  bool busy = atomic_load(&c->compiling);
  c->lock = system->lock;
  PawlStatus status = busy ? PAWL_OK : begin(c, err);
  pawl_lock_leave(system->lock);
  return status;
}
