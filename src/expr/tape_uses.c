// SPDX-License-Identifier: Apache-2.0
#include "expr/tape_uses.h"

#include "base/alloc.h"

enum { NONE = -1, SEVERAL = -2 };

int pawl_tape_operands(const PawlInstruction* i) {
  bool three = i->op == PAWL_TAPE_MULADD || i->op == PAWL_TAPE_MULSUB || i->op == PAWL_TAPE_SUBMUL;
  bool one = i->op == PAWL_TAPE_SQUARE || i->op == PAWL_TAPE_SINCOS;
  return three ? 3 : one ? 1 : pawl_op_operands((PawlOp)i->op);
}

// ---- who reads a register -----------------------------------------------------------------------
static void note(PawlTapeReaders* r, int reg, int part) {
  r->of[reg] = part >= 0 && (r->of[reg] == NONE || r->of[reg] == part) ? part : SEVERAL;
}

static void find_readers(PawlTapeReaders* r) {
  const PawlTape* tape = r->tape;
  for (int k = 0; k <= tape->register_count; k++) {
    r->of[k] = NONE;
  }
  for (int p = 0; p < tape->part_count; p++) {
    for (int at = tape->parts[p].first; at < tape->parts[p].first + tape->parts[p].count; at++) {
      const PawlInstruction* i = &tape->code[at];
      const int operands[3] = {i->a, i->b, i->c};
      for (int k = 0; k < pawl_tape_operands(i); k++) {
        note(r, operands[k], p);
      }
    }
  }
  for (int e = 0; e < r->ends->count; e++) {
    for (int k = r->ends->start[e]; k < r->ends->start[e + 1]; k++) {
      note(r, r->ends->targets[k].reg, e == 0 ? 0 : tape->own_part[e - 1]);
    }
  }
}

int pawl_tape_readers_create(PawlTapeReaders* r, const PawlTape* tape, const PawlTapeEnds* ends) {
  size_t count = (size_t)tape->register_count + 1;
  *r = (PawlTapeReaders){.tape = tape,
                         .ends = ends,
                         .of = pawl_alloc(count, sizeof(int)),
                         .output = pawl_alloc(count, sizeof(bool)),
                         .part = NONE,
                         .end = NONE,
                         .next = pawl_alloc(count, sizeof(int)),
                         .written = pawl_alloc(count, sizeof(bool))};
  if (!r->of || !r->output || !r->next || !r->written) {
    return -1;
  }
  find_readers(r);
  for (int k = 0; k < tape->output_count; k++) {
    r->output[tape->outputs[k]] = true;
  }
  for (int k = 0; k <= tape->register_count; k++) {
    r->next[k] = PAWL_TAPE_NEVER;
  }
  return 0;
}

void pawl_tape_readers_free(PawlTapeReaders* r) {
  pawl_free(r->of);
  pawl_free(r->output);
  pawl_free(r->next);
  pawl_free(r->written);
}

// ---- backward through a function ----------------------------------------------------------------
static PawlTapePart code_of(const PawlTapeReaders* r) {
  return r->part >= 0 ? r->tape->parts[r->part] : (PawlTapePart){0};
}

static void set_next(PawlTapeReaders* r, int next) {
  for (int k = r->end < 0 ? 0 : r->ends->start[r->end];
       r->end >= 0 && k < r->ends->start[r->end + 1]; k++) {
    r->next[r->ends->targets[k].reg] = next;
  }
}

// Registers as before the last function, which has touched few of very many.
static void forget(PawlTapeReaders* r) {
  PawlTapePart code = code_of(r);
  for (int at = code.first; at < code.first + code.count; at++) {
    const PawlInstruction* i = &r->tape->code[at];
    const int operands[3] = {i->a, i->b, i->c};
    for (int k = 0; k < pawl_tape_operands(i); k++) {
      r->next[operands[k]] = PAWL_TAPE_NEVER;
    }
    r->written[i->dst] = false;
    if (i->op == PAWL_TAPE_SINCOS) {
      r->written[i->b] = false;
    }
  }
  set_next(r, PAWL_TAPE_NEVER);
}

bool pawl_tape_lasts(const PawlTapeReaders* r, int reg) {
  bool elsewhere = r->of[reg] != NONE && r->of[reg] != r->part;
  return !r->written[reg] && (elsewhere || (r->end < 0 && r->output[reg]));
}

static void pass_result(PawlTapeReaders* r, int reg, PawlTapeUses* uses, int k) {
  uses->first[k] = r->next[reg];
  uses->lasts[k] = pawl_tape_lasts(r, reg);
  r->next[reg] = PAWL_TAPE_NEVER;
  r->written[reg] = true;
}

void pawl_tape_uses(PawlTapeReaders* r, int part, int end, PawlTapeUses* uses) {
  forget(r);
  r->part = part;
  r->end = end;
  PawlTapePart code = code_of(r);
  set_next(r, code.first + code.count);
  for (int at = code.first + code.count - 1; at >= code.first; at--) {
    const PawlInstruction* i = &r->tape->code[at];
    const int operands[3] = {i->a, i->b, i->c};
    pass_result(r, i->dst, &uses[at], 0);
    if (i->op == PAWL_TAPE_SINCOS) {
      pass_result(r, i->b, &uses[at], 1);
    }
    int count = pawl_tape_operands(i);
    for (int k = 0; k < count; k++) {
      uses[at].next[k] = r->next[operands[k]];
    }
    for (int k = 0; k < count; k++) {
      r->next[operands[k]] = at;
    }
  }
}
