// SPDX-License-Identifier: Apache-2.0
// Block elimination of a KKT matrix of medium size as machine code without a loop
// (docs/theory/kkt.md, section 8), written by kkt_script_write.c. Its operations are those of
// kkt_blocks.c and kkt_wide.c in the same order, and factors go to the same places, so that bits
// are the same and either may solve with the factors of the other.
//
// What is judged is judged more strictly than there: where a judgement fails, the loops decide.
// A matrix gets its code when it has been factored a number of times with all rows active.
#include "linalg/kkt_script.h"

#include <float.h>
#include <string.h>

enum {
  MOST_UNKNOWNS = 160,  // beyond, code does not stay in the nearest cache
  MOST_NUMBERS = 8192,  // of the factors
  OFTEN = 32,           // factorisations after which there is code
  MOST_BYTES = 1 << 19  // of code; pages that are not written to are not there
};

// Of an entry of L: below what the loops refine solutions from; its square for (K15).
static const double GROWTH_LIMIT = 31.0;

static void fill_table(PawlKktScript* s) {
  for (int k = 2 * PAWL_KKT_SCRIPT_FIRST; k < s->count; k++) {
    s->table[k] = *s->from[k];
  }
}

void pawl_kkt_script_scale(PawlKkt* kkt) {
  if (kkt->blocks && kkt->blocks->script) {
    fill_table(kkt->blocks->script);
  }
}

// memcpy: a pointer to data becomes one to code.
#define POINT(to, from) memcpy(&(to), &(unsigned char*){from}, sizeof(unsigned char*))

// Without memory, or such as may not be executed, there is no code from now on.
static void write_code(PawlKkt* kkt, bool even) {
  PawlKktScript* s = kkt->blocks->script;
  PawlKktScriptCode* to = &s->codes[even];
  unsigned char* at = to->code = pawl_code_map(MOST_BYTES);
  PawlCode code = {.at = at, .capacity = at ? MOST_BYTES : 0};
  size_t solve;
  pawl_kkt_script_write(kkt, s, even, &code, &solve);
  if (code.failed || !pawl_code_seal(at, MOST_BYTES)) {
    s->off = true;
    return;
  }
  fill_table(s);
  POINT(to->factor, at);
  POINT(to->solve, at + solve);
}

static bool suits(const PawlKkt* kkt) {
  const PawlKktBlocks* b = kkt->blocks;
  bool fits = kkt->size <= MOST_UNKNOWNS && b->value_count <= MOST_NUMBERS && b->masses_first &&
              b->loose_count == 0 && b->run_count == 0;
  for (int s = 0; fits && s < b->count; s++) {
    fits = b->nodes[s].pieces == 0 && b->nodes[s].p <= PAWL_KKT_SCRIPT_PIVOTS;
  }
  return fits;
}

static PawlKktScriptField take_field(PawlArena* arena, size_t count) {
  return (PawlKktScriptField){.state = PAWL_NEW(arena, unsigned char, count),
                              .source = PAWL_NEW(arena, PawlKktScriptSource, count)};
}

static void begin_table(PawlKktScript* s) {
  const double first[PAWL_KKT_SCRIPT_FIRST] = {[PAWL_KKT_SCRIPT_ONE] = 1.0,
                                               [PAWL_KKT_SCRIPT_MINUS] = -1.0,
                                               [PAWL_KKT_SCRIPT_SMALLEST] = PAWL_KKT_SUSPICIOUS,
                                               [PAWL_KKT_SCRIPT_LARGEST] = PAWL_KKT_DRIFT,
                                               [PAWL_KKT_SCRIPT_GROWTH] = GROWTH_LIMIT,
                                               [PAWL_KKT_SCRIPT_FINITE] = DBL_MAX};
  for (int k = 0; k < PAWL_KKT_SCRIPT_FIRST; k++) {
    s->table[2 * k] = s->table[2 * k + 1] = first[k];
  }
  s->count = 2 * PAWL_KKT_SCRIPT_FIRST;
}

PawlStatus pawl_kkt_script_create(PawlKkt* kkt) {
  PawlArena* arena = &kkt->arena;
  PawlKktBlocks* b = kkt->blocks;
  if (!suits(kkt)) {
    return PAWL_OK;
  }
  PawlKktScript* s = b->script = PAWL_NEW(arena, PawlKktScript, 1);
  if (!s) {
    return PAWL_ERROR_MEMORY;
  }
  // Both scripts read each factor once, maybe with a gap before it.
  s->capacity =
      2 * PAWL_KKT_SCRIPT_FIRST + 4 * (kkt->block_S.count + 2 * kkt->block_J.count + 2 * kkt->size);
  s->table = PAWL_NEW(arena, double, s->capacity);
  s->from = PAWL_NEW(arena, const double*, s->capacity);
  s->values = take_field(arena, b->value_count);
  s->w = take_field(arena, (size_t)kkt->size);
  s->unknown = PAWL_NEW(arena, int, kkt->size);
  if (arena->failed) {
    return PAWL_ERROR_MEMORY;
  }
  begin_table(s);
  for (int k = 0; k < kkt->size; k++) {
    s->unknown[b->at[k]] = k;
  }
  return PAWL_OK;
}

void pawl_kkt_script_destroy(PawlKkt* kkt) {
  PawlKktScript* s = kkt->blocks ? kkt->blocks->script : NULL;
  for (int k = 0; s && k < 2; k++) {
    pawl_code_unmap(s->codes[k].code, MOST_BYTES);
  }
}

void pawl_kkt_script_stop(PawlKkt* kkt) {
  if (kkt->blocks && kkt->blocks->script) {
    kkt->blocks->script->off = true;
  }
}

// Which there is for matrices like this one; NULL: none.
static PawlKktScriptCode* code_of(const PawlKkt* kkt) {
  PawlKktScript* s = kkt->blocks->script;
  bool fits = s && !s->off && kkt->inactive_count == 0 && s->codes[kkt->blocks->even].factor;
  return fits ? &s->codes[kkt->blocks->even] : NULL;
}

bool pawl_kkt_script_factor(PawlKkt* kkt, const double* S, const double* B, const double* J) {
  PawlKktBlocks* b = kkt->blocks;
  PawlKktScript* s = b->script;
  PawlKktKept* kept = &kkt->kept[kkt->turn];
  PawlKktScriptCode* code = code_of(kkt);
  if (!code && s && !s->off && kkt->inactive_count == 0 && ++s->uses[b->even] > OFTEN) {
    write_code(kkt, b->even);
    code = code_of(kkt);
  }
  if (!code) {
    return false;
  }
  if (code->patience > 0) {
    code->patience--;
    return false;
  }
  if (!kept->clean) {
    memset(kkt->values, 0, b->value_count * sizeof *kkt->values);
    kept->clean = true;
  }
  bool done = code->factor(kkt->values, s->table, S, B, J);
  kkt->info.by_code += done;
  code->patience = done ? 0 : PAWL_KKT_PATIENCE - 1;
  b->refine = false;
  return done;
}

bool pawl_kkt_script_solve(const PawlKkt* kkt, double* x, double* y) {
  const PawlKktScriptCode* code = code_of(kkt);
  if (code) {
    code->solve(kkt->values, kkt->blocks->script->table, x, y, kkt->work);
  }
  return code != NULL;
}
