// SPDX-License-Identifier: Apache-2.0
#include "expr/tape_source.h"

#include <string.h>

#include "base/alloc.h"
#include "expr/elementary.h"
#include "expr/table.h"
#include "expr/tape_uses.h"

// ---- operations --------------------------------------------------------------------------------
// Those that a compiler knows better than we do, as they stand in tape_ops.def.
static const char* const lines[] = {
#define TAPE_OP(operation, expression) [operation] = #expression,
#include "expr/tape_ops.def"
#undef TAPE_OP
};

static const char* const words[] = {
#define TAPE_OP(operation, expression) [operation] = #operation,
#include "expr/tape_ops.def"
#undef TAPE_OP
};

static bool is_line(PawlTapeOp op) {
  switch ((int)op) {
    case PAWL_TAPE_NEG:
    case PAWL_TAPE_ADD:
    case PAWL_TAPE_SUB:
    case PAWL_TAPE_MUL:
    case PAWL_TAPE_DIV:
    case PAWL_TAPE_MULADD:
    case PAWL_TAPE_MULSUB:
    case PAWL_TAPE_SUBMUL:
    case PAWL_TAPE_SQUARE:
    case PAWL_TAPE_LT:
    case PAWL_TAPE_LE:
    case PAWL_TAPE_IF:
    case PAWL_TAPE_AND:
    case PAWL_TAPE_OR:
    case PAWL_TAPE_SQRT:
    case PAWL_TAPE_ABS:
    case PAWL_TAPE_SIGN:
    case PAWL_TAPE_MIN:
    case PAWL_TAPE_MAX:
      return true;
    default:
      return false;
  }
}

static double value_of(int op, double a, double b) {
  return pawl_op_value((PawlOp)op, 0, a, b, 0.0);
}

static double table_of(double view, double a, double b, int arguments) {
  return arguments == 1 ? pawl_table_at(pawl_tape_view(view), a)
                        : pawl_table_at_two(pawl_tape_view(view), a, b);
}

static void sines_of(int op, int n, const double* x, double* y, double* cosine) {
  if (op == PAWL_TAPE_SINCOS) {
    pawl_sincos_lanes(n, x, y, cosine);
  } else {
    (op == PAWL_TAPE_SIN   ? pawl_sin_lanes
     : op == PAWL_TAPE_COS ? pawl_cos_lanes
                           : pawl_exp_lanes)(n, x, y);
  }
}

const PawlTapeHost pawl_tape_host = {value_of, pawl_powi, pawl_sincos_four, sines_of, table_of};

void pawl_tape_source_head(PawlText* out) {
  pawl_text_add(out,
                "#include <math.h>\n"
                "typedef struct Host {\n"
                "  double (*value)(int op, double a, double b);\n"
                "  double (*powi)(double a, int n);\n"
                "  void (*four)(double a, double b, double c, double d, double* y);\n"
                "  void (*sines)(int op, int n, const double* x, double* y, double* cosine);\n"
                "  double (*table)(double view, double a, double b, int arguments);\n"
                "} Host;\n"
                "static const Host* host;\n"
                "void pawl_begin(const Host* h) { host = h; }\n");
  for (size_t op = 0; op < sizeof lines / sizeof *lines; op++) {
    if (lines[op] && is_line((PawlTapeOp)op)) {
      pawl_text_printf(out, "#define %s(A, B, C) (%s)\n", words[op], lines[op]);
    }
  }
}

// As in elementary.c.
void pawl_tape_source_elementary(PawlText* out) {
  pawl_text_add(out,
                "static inline PawlSineCosine sincos_of(double x) {\n"
                "  return is_far(x) ? (PawlSineCosine){sin(x), cos(x)} : both_at_once(x);\n}\n"
                "static inline double sin_of(double x) {\n"
                "  return is_far(x) ? sin(x) : both_at_once(x).sine;\n}\n"
                "static inline double cos_of(double x) {\n"
                "  return is_far(x) ? cos(x) : both_at_once(x).cosine;\n}\n"
                "static inline double exp_of(double x) {\n"
                "  return is_steep(x) ? exp(x) : exponential(x);\n}\n"
                "static inline void four_of(double a, double b, double c, double d, double* y) {\n"
                "  const double x[4] = {a, b, c, d};\n"
                "  uint64_t beyond = 0;\n"
                "  for (int l = 0; l < 4; l++) {\n"
                "    PawlSineCosine of = both(x[l]);\n"
                "    beyond |= is_far(x[l]);\n"
                "    y[l] = of.sine;\n"
                "    y[l + 4] = of.cosine;\n"
                "  }\n"
                "  if (beyond) {\n"
                "    host->four(a, b, c, d, y);\n"
                "  }\n}\n");
}

// ---- registers ---------------------------------------------------------------------------------
typedef struct Printer {
  PawlText* out;
  const PawlTape* tape;
  int width;    // of a register
  int* holder;  // register -> instruction whose result it holds, as a variable; -1: memory
  unsigned char* crosses;  // registers that are written in one function and read in another
  unsigned char* loaded;   // inputs that are variables
  int reset_count;
  const PawlTapeReset* resets;
} Printer;

// How many operands an instruction reads.
static int reads_of(const PawlInstruction* i, int reads[3]) {
  const int all[3] = {i->a, i->b, i->c};
  memcpy(reads, all, sizeof all);
  return pawl_tape_operands(i);
}

// A register as it is read.
static void put_register(Printer* p, int reg) {
  int input = reg - p->tape->constant_count;
  bool constant = input < 0;
  if (p->holder[reg] >= 0) {
    pawl_text_printf(p->out, "w%d%s", p->holder[reg],
                     p->tape->code[p->holder[reg]].dst == reg ? "" : "c");
  } else if (!constant && input < p->tape->input_count && p->loaded[input]) {
    pawl_text_printf(p->out, "x%d", input);
  } else if (p->width == 1 || constant) {
    pawl_text_printf(p->out, "r[%d]", reg * p->width);
  } else {
    pawl_text_printf(p->out, "r[%d + l]", reg * p->width);
  }
}

// Three of them, 0 for those that an operation does not have.
static void put_operands(Printer* p, const PawlInstruction* i) {
  int reads[3], count = reads_of(i, reads);
  for (int k = 0; k < 3; k++) {
    pawl_text_add(p->out, k > 0 ? ", " : "(");
    if (k < count) {
      put_register(p, reads[k]);
    } else {
      pawl_text_add(p->out, "0");
    }
  }
  pawl_text_add(p->out, ")");
}

static void put_pair(Printer* p, int a, int b) {
  put_register(p, a);
  pawl_text_add(p->out, ", ");
  put_register(p, b);
}

static void put_call(Printer* p, const PawlInstruction* i) {
  int reads[3], count = reads_of(i, reads), b = count > 1 ? i->b : i->a;
  if (i->op == PAWL_TAPE_POWI) {
    pawl_text_add(p->out, "host->powi(");
    put_register(p, i->a);
    pawl_text_printf(p->out, ", %d)", i->b);
  } else if (i->op == PAWL_TAPE_SIN || i->op == PAWL_TAPE_COS || i->op == PAWL_TAPE_EXP) {
    pawl_text_add(p->out, i->op == PAWL_TAPE_SIN   ? "sin_of("
                          : i->op == PAWL_TAPE_COS ? "cos_of("
                                                   : "exp_of(");
    put_register(p, i->a);
    pawl_text_add(p->out, ")");
  } else if (i->op == PAWL_TAPE_TABLE || i->op == PAWL_TAPE_TABLE2) {
    pawl_text_printf(p->out, "host->table(r[%d], ", i->c * p->width);
    put_pair(p, i->a, b);
    pawl_text_printf(p->out, ", %d)", count);
  } else {
    pawl_text_printf(p->out, "host->value(%d, ", (int)i->op);
    put_pair(p, i->a, b);
    pawl_text_add(p->out, ")");
  }
}

// The instruction as variables of its results.
static void put_instruction(Printer* p, int at) {
  const PawlInstruction* i = &p->tape->code[at];
  if (i->op == PAWL_TAPE_SINCOS) {
    pawl_text_printf(p->out, "  const PawlSineCosine y%d = sincos_of(", at);
    put_register(p, i->a);
    pawl_text_printf(p->out, ");\n  const double w%d = y%d.sine, w%dc = y%d.cosine;\n", at, at, at,
                     at);
    p->holder[i->b] = at;
  } else {
    pawl_text_printf(p->out, "  const double w%d = ", at);
    if (is_line(i->op)) {
      pawl_text_add(p->out, words[i->op]);
      put_operands(p, i);
    } else {
      put_call(p, i);
    }
    pawl_text_add(p->out, ";\n");
  }
  p->holder[i->dst] = at;
}

static void put_store(Printer* p, int reg) {
  pawl_text_printf(p->out, p->width == 1 ? "  r[%d] = " : "  r[%d + l] = ", reg * p->width);
  put_register(p, reg);
  pawl_text_add(p->out, ";\n");
}

// ---- functions of a single lane ----------------------------------------------------------------
// Marks what a part, and the results that are taken with it, read of others.
static void mark_part(Printer* p, PawlTapePart part, int count, const PawlTapeTarget* targets,
                      unsigned char* written) {
  memset(written, 0, (size_t)p->tape->register_count + 1);
  for (int at = part.first; at < part.first + part.count; at++) {
    const PawlInstruction* i = &p->tape->code[at];
    int reads[3], all = reads_of(i, reads);
    for (int k = 0; k < all; k++) {
      p->crosses[reads[k]] |= !written[reads[k]];
    }
    written[i->dst] = 1;
    if (i->op == PAWL_TAPE_SINCOS) {
      written[i->b] = 1;
    }
  }
  for (int k = 0; k < count; k++) {
    p->crosses[targets[k].reg] |= !written[targets[k].reg];
  }
}

static void mark_parts(Printer* p, const PawlTapeEnds* ends, unsigned char* written) {
  const PawlTape* tape = p->tape;
  PawlTapePart none = {0};
  for (int k = 1; k < tape->part_count; k++) {
    mark_part(p, tape->parts[k], 0, NULL, written);
  }
  for (int k = 1; k < ends->count; k++) {
    int own = tape->own_part[k - 1];
    mark_part(p, own >= 0 ? tape->parts[own] : none, ends->start[k + 1] - ends->start[k],
              ends->targets + ends->start[k], written);
  }
}

// The inputs that the whole reads, as variables, and those that others read, to memory.
static void put_inputs(Printer* p) {
  const PawlTape* tape = p->tape;
  for (int k = 0; k < tape->input_count; k++) {
    PawlTapeInput input = tape->inputs[k];
    if (input.leaf != PAWL_OP_TURN) {
      p->loaded[k] = 1;
      pawl_text_printf(p->out, "  const double x%d = from[%d][%d];\n", k, (int)input.leaf,
                       input.index);
      if (p->crosses[tape->constant_count + k]) {
        put_store(p, tape->constant_count + k);
      }
    }
  }
}

// 2 to 4 at once; the last argument fills up.
static void put_sines(Printer* p, int at, int count) {
  const PawlInstruction* i = &p->tape->code[at];
  pawl_text_printf(p->out, "  double y%d[8];\n  four_of(", at);
  for (int k = 0; k < 4; k++) {
    put_register(p, i[k < count ? k : count - 1].a);
    pawl_text_add(p->out, ", ");
  }
  pawl_text_printf(p->out, "y%d);\n", at);
  for (int k = 0; k < count; k++) {
    pawl_text_printf(p->out, "  const double w%d = y%d[%d];\n", at + k, at,
                     i[k].op == PAWL_TAPE_COS ? 4 + k : k);
    p->holder[i[k].dst] = at + k;
    if (i[k].op == PAWL_TAPE_SINCOS) {
      pawl_text_printf(p->out, "  const double w%dc = y%d[%d];\n", at + k, at, 4 + k);
      p->holder[i[k].b] = at + k;
    }
  }
}

static void put_part(Printer* p, PawlTapePart part) {
  int end = part.first + part.count;
  for (int at = part.first, count; at<end; at += count> 1 ? count : 1) {
    count = pawl_tape_sines_at_once(p->tape, at, end);
    if (count > 1) {
      put_sines(p, at, count);
    } else {
      put_instruction(p, at);
    }
  }
}

// What the instructions of a part leave to other functions.
static void put_crossing(Printer* p, PawlTapePart part) {
  for (int at = part.first; at < part.first + part.count; at++) {
    const PawlInstruction* i = &p->tape->code[at];
    if (p->crosses[i->dst] && p->holder[i->dst] == at) {
      put_store(p, i->dst);
    }
    if (i->op == PAWL_TAPE_SINCOS && p->crosses[i->b] && p->holder[i->b] == at) {
      put_store(p, i->b);
    }
  }
}

// The number that a target adds to, where that begins anew: which one of which reset. -1: none.
static int find_reset(const Printer* p, const PawlTapeTarget* target, int* offset) {
  for (int k = 0; k < p->reset_count; k++) {
    const PawlTapeReset* reset = &p->resets[k];
    if (target->place >= reset->array && target->place < reset->array + reset->count) {
      *offset = (int)(target->place - reset->array);
      return k;
    }
  }
  return -1;
}

static void put_targets(Printer* p, int count, const PawlTapeTarget* targets) {
  for (int k = 0; k < count; k++) {
    int offset, reset = find_reset(p, &targets[k], &offset);
    if (reset >= 0) {
      pawl_text_printf(p->out, "  s%d_%d %s ", reset, offset, targets[k].assigns ? "=" : "+=");
    } else {
      pawl_text_printf(p->out, "  to[%d][%d] %s ", targets[k].array, targets[k].index,
                       targets[k].assigns ? "=" : "+=");
    }
    put_register(p, targets[k].reg);
    pawl_text_add(p->out, ";\n  check += ");
    put_register(p, targets[k].reg);
    pawl_text_add(p->out, " - ");
    put_register(p, targets[k].reg);
    pawl_text_add(p->out, ";\n");
  }
}

static void put_results(Printer* p, int count, const PawlTapeTarget* targets) {
  pawl_text_add(p->out, "  double check = 0.0;\n");
  put_targets(p, count, targets);
  pawl_text_add(p->out, "  return check;\n}\n");
}

static void begin_function(Printer* p) {
  for (int k = 0; k <= p->tape->register_count; k++) {
    p->holder[k] = -1;
  }
  memset(p->loaded, 0, (size_t)p->tape->input_count);
}

static void put_whole(Printer* p, const PawlTapeEnds* ends, int number) {
  begin_function(p);
  pawl_text_printf(p->out,
                   "static double f%d(double* restrict r, const double* const* restrict from,\n"
                   "                  double* const* restrict to) {\n",
                   number);
  put_inputs(p);
  put_part(p, p->tape->parts[0]);
  put_crossing(p, p->tape->parts[0]);
  put_results(p, ends->start[1], ends->targets);
}

static void put_shared(Printer* p, PawlTapePart part, int number) {
  begin_function(p);
  pawl_text_printf(p->out, "static void f%d(double* restrict r) {\n", number);
  put_part(p, part);
  put_crossing(p, part);
  pawl_text_add(p->out, "}\n");
}

static void put_gate(Printer* p, const PawlTapeEnds* ends, int gate, int number) {
  int own = p->tape->own_part[gate], first = ends->start[gate + 1];
  begin_function(p);
  pawl_text_printf(p->out, "static double f%d(double* restrict r, double* const* restrict to) {\n",
                   number);
  if (own >= 0) {
    put_part(p, p->tape->parts[own]);
  }
  put_results(p, ends->start[gate + 2] - first, ends->targets + first);
}

static bool is_own(const PawlTape* tape, int part) {
  for (int g = 0; g < tape->gate_count; g++) {
    if (tape->own_part[g] == part) {
      return true;
    }
  }
  return false;
}

// ---- one function of all that open gates need ---------------------------------------------------
// Lists the parts that several gates share, each once, in the order in which they are run. How
// many.
static int list_shared(const PawlTape* tape, int open_count, const int* open, int* parts) {
  int count = 0;
  for (int k = 0; tape->gate_count > 0 && k < open_count; k++) {
    for (int i = open[k] < 0 ? 0 : tape->gate_start[open[k]];
         open[k] >= 0 && i < tape->gate_start[open[k] + 1]; i++) {
      int part = tape->gate_parts[i], seen = 0;
      while (seen < count && parts[seen] != part) {
        seen++;
      }
      if (seen == count && part != 0 && part != tape->own_part[open[k]]) {
        parts[count++] = part;
      }
    }
  }
  return count;
}

static void put_begins(const Printer* p) {
  for (int k = 0; k < p->reset_count; k++) {
    for (int i = 0; i < p->resets[k].count; i++) {
      if (p->resets[k].base >= 0) {
        pawl_text_printf(p->out, "  double s%d_%d = to[%d][%d];\n", k, i, p->resets[k].base, i);
      } else {
        pawl_text_printf(p->out, "  double s%d_%d = 0.0;\n", k, i);
      }
    }
  }
}

static void put_ends(const Printer* p) {
  for (int k = 0; k < p->reset_count; k++) {
    for (int i = 0; i < p->resets[k].count; i++) {
      pawl_text_printf(p->out, "  to[%d][%d] = s%d_%d;\n", p->resets[k].to, i, k, i);
    }
  }
}

static void put_phase(Printer* p, const PawlTapeEnds* ends, int open_count, const int* open,
                      int shared_count, const int* shared, int number) {
  const PawlTape* tape = p->tape;
  begin_function(p);
  pawl_text_printf(p->out,
                   "static double f%d(double* restrict r, const double* const* restrict from,\n"
                   "                  double* const* restrict to) {\n  double check = 0.0;\n",
                   number);
  put_begins(p);
  put_inputs(p);
  put_part(p, tape->parts[0]);
  put_targets(p, ends->start[1], ends->targets);
  for (int k = 0; k < shared_count; k++) {
    put_part(p, tape->parts[shared[k]]);
  }
  for (int k = 0; tape->gate_count > 0 && k < open_count; k++) {
    int gate = open[k], own = gate >= 0 ? tape->own_part[gate] : -1;
    if (own >= 0) {
      put_part(p, tape->parts[own]);
    }
    if (gate >= 0) {
      int first = ends->start[gate + 1];
      put_targets(p, ends->start[gate + 2] - first, ends->targets + first);
    }
  }
  put_ends(p);
  pawl_text_add(p->out, "  return check;\n}\n");
}

// ---- functions of lanes ------------------------------------------------------------------------
// Loops over lanes: the lines that follow each other in one, so that it becomes vector code, each
// call in one of its own. A long loop would run out of registers.
enum { MOST_LINES = 192 };

static int end_of_loop(const PawlTape* tape, int first) {
  int at = first;
  while (at < tape->instruction_count && at < first + MOST_LINES && is_line(tape->code[at].op)) {
    at++;
  }
  return at > first ? at : first + 1;
}

// Flags instructions whose result is read behind their loop; `loop` (instructions) is that of each.
static void mark_results(const Printer* p, const int* loop, unsigned char* kept) {
  const PawlTape* tape = p->tape;
  for (int at = 0; at < tape->instruction_count; at++) {
    const PawlInstruction* i = &tape->code[at];
    int reads[3], count = reads_of(i, reads);
    for (int k = 0; k < count; k++) {
      int holder = p->holder[reads[k]];
      if (holder >= 0 && loop[holder] != loop[at]) {
        kept[holder] = 1;
      }
    }
    p->holder[i->dst] = at;
    if (i->op == PAWL_TAPE_SINCOS) {
      p->holder[i->b] = at;
    }
  }
  for (int k = 0; k < tape->output_count; k++) {
    if (p->holder[tape->outputs[k]] >= 0) {
      kept[p->holder[tape->outputs[k]]] = 1;
    }
  }
}

// What has a loop of its own. False: it has not.
static bool put_rows(Printer* p, const PawlInstruction* i) {
  if (!pawl_tape_is_sine(i->op) && i->op != PAWL_TAPE_EXP) {
    return false;
  }
  int cosine = i->op == PAWL_TAPE_SINCOS ? i->b : i->dst;
  pawl_text_printf(p->out, "  host->sines(%d, lanes, r + %d, r + %d, r + %d);\n", (int)i->op,
                   i->a * p->width, i->dst * p->width, cosine * p->width);
  return true;
}

static void put_loop(Printer* p, int first, int end, const unsigned char* kept) {
  if (put_rows(p, &p->tape->code[first])) {
    return;
  }
  begin_function(p);
  pawl_text_add(p->out, "#pragma GCC ivdep\n  for (int l = 0; l < lanes; l++) {\n");
  for (int at = first; at < end; at++) {
    put_instruction(p, at);
  }
  for (int at = first; at < end; at++) {
    const PawlInstruction* i = &p->tape->code[at];
    if (kept[at] && p->holder[i->dst] == at) {
      put_store(p, i->dst);
    }
  }
  pawl_text_add(p->out, "  }\n");
}

static void put_block(Printer* p, int* loop, unsigned char* kept, int number) {
  int count = p->tape->instruction_count;
  for (int first = 0, end; first < count; first = end) {
    end = end_of_loop(p->tape, first);
    for (int at = first; at < end; at++) {
      loop[at] = first;
    }
  }
  begin_function(p);
  mark_results(p, loop, kept);
  pawl_text_printf(p->out, "static void f%d(double* restrict r, int lanes) {\n", number);
  for (int first = 0, end; first < count; first = end) {
    end = end_of_loop(p->tape, first);
    put_loop(p, first, end, kept);
  }
  pawl_text_add(p->out, "}\n");
}

// ---- the whole ---------------------------------------------------------------------------------
static bool open_printer(Printer* p) {
  size_t registers = (size_t)p->tape->register_count + 1;
  p->holder = pawl_alloc(registers, sizeof(int));
  p->crosses = pawl_alloc(registers, 1);
  p->loaded = pawl_alloc((size_t)p->tape->input_count, 1);
  return p->holder && p->crosses && p->loaded;
}

static int close_printer(Printer* p, bool good) {
  pawl_free(p->holder);
  pawl_free(p->crosses);
  pawl_free(p->loaded);
  return good && !p->out->failed ? 0 : -1;
}

int pawl_tape_source(PawlText* out, const PawlTape* tape, const PawlTapeEnds* ends, int first) {
  Printer p = {.out = out, .tape = tape, .width = 1};
  unsigned char* written = pawl_alloc((size_t)tape->register_count + 1, 1);
  bool good = open_printer(&p) && written;
  if (good) {
    mark_parts(&p, ends, written);
    put_whole(&p, ends, first);
    for (int k = 1; k < tape->part_count; k++) {
      if (!is_own(tape, k)) {
        put_shared(&p, tape->parts[k], first + 1 + k);
      }
    }
    for (int g = 0; g < tape->gate_count; g++) {
      put_gate(&p, ends, g, first + 1 + tape->part_count + g);
    }
  }
  pawl_free(written);
  return close_printer(&p, good);
}

int pawl_tape_source_phase(PawlText* out, const PawlTape* tape, const PawlTapeEnds* ends,
                           int open_count, const int* open, int reset_count,
                           const PawlTapeReset* resets, int number) {
  Printer p = {.out = out, .tape = tape, .width = 1, .reset_count = reset_count, .resets = resets};
  int* shared = pawl_alloc((size_t)tape->part_count, sizeof *shared);
  bool good = open_printer(&p) && shared;
  if (good) {
    int count = list_shared(tape, open_count, open, shared);
    put_phase(&p, ends, open_count, open, count, shared, number);
  }
  pawl_free(shared);
  return close_printer(&p, good);
}

int pawl_tape_phase_length(const PawlTape* tape, int open_count, const int* open) {
  int count = tape->parts[0].count;
  for (int k = 0; tape->gate_count > 0 && k < open_count; k++) {
    for (int i = 0; open[k] >= 0 && i < tape->gate_start[open[k] + 1] - tape->gate_start[open[k]];
         i++) {
      count += tape->parts[tape->gate_parts[tape->gate_start[open[k]] + i]].count;
    }
  }
  return count;
}

int pawl_tape_source_block(PawlText* out, const PawlTape* tape, int first) {
  Printer p = {.out = out, .tape = tape, .width = PAWL_TAPE_WIDTH};
  int* loop = pawl_alloc((size_t)tape->instruction_count, sizeof *loop);
  unsigned char* kept = pawl_alloc((size_t)tape->instruction_count, 1);
  bool good = open_printer(&p) && loop && kept;
  if (good) {
    put_block(&p, loop, kept, first);
  }
  pawl_free(loop);
  pawl_free(kept);
  return close_printer(&p, good);
}

int pawl_tape_source_count(const PawlTape* tape, bool single) {
  return single ? 1 + tape->part_count + tape->gate_count : 1;
}

void pawl_tape_source_names(PawlText* out, const PawlTape* tape, bool single, int first) {
  for (int k = 0; k < pawl_tape_source_count(tape, single); k++) {
    int part = single && k >= 1 && k <= tape->part_count ? k - 1 : -1;
    bool none = part == 0 || (part > 0 && is_own(tape, part));
    if (none) {
      pawl_text_add(out, "  0,\n");
    } else {
      pawl_text_printf(out, "  (F)f%d,\n", first + k);
    }
  }
}
