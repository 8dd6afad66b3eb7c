// SPDX-License-Identifier: Apache-2.0
// Flattening a graph into a tape. Nodes are taken in ascending order, which is an order of
// evaluation, but sines and cosines are brought together (tape_order.h); a product used once by a
// sum is fused into it, sin and cos of the same argument are computed together; registers are
// reused after the last use of what they hold, but a destination is never an operand of the same
// instruction. In a tape of several parts, which run or do not, what is read outside of its part
// keeps a register of its own.
#include "expr/tape.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "expr/tape_native.h"
#include "expr/tape_order.h"
#include "expr/tape_parts.h"

typedef struct Flattener {
  PawlDag* dag;
  PawlTape* tape;
  int count;             // nodes that the outputs need
  PawlNode* nodes;       // these, ascending
  int* local;            // node of the graph -> index in nodes
  int* uses;             // by index in nodes: instructions and outputs that read it
  int* last_use;         // instruction that reads it last; INT_MAX for outputs
  int* reg;              // register, -1 before it has one
  unsigned char* fused;  // computed inside the instruction of another node
  int* partner;          // cos of a sin and sin of a cos with the same argument, -1 without
  int* order;            // nodes that have an instruction, in the order of the code
  int* part;             // of each node with an instruction, 0 for others
  int* view;             // of a look into a table: the register with its address
  int* free_registers;   // stack
  int free_count;
} Flattener;

static const PawlDagNode* node_of(const Flattener* f, int i) {
  return pawl_dag_node(f->dag, f->nodes[i]);
}

static int operand(const Flattener* f, int i, int k) {
  return f->local[node_of(f, i)->arg[k]];
}

static PawlStatus allocate(Flattener* f, int output_count, const PawlNode* outputs,
                           PawlError* err) {
  const PawlNode* reached;
  f->count = pawl_dag_reach(f->dag, output_count, outputs, &reached);
  if (f->count < 0) {
    return pawl_fail_memory(err);
  }
  size_t n = (size_t)f->count, all = (size_t)pawl_dag_count(f->dag);
  f->nodes = pawl_alloc(n, sizeof(PawlNode));
  f->local = pawl_alloc(all, sizeof(int));
  f->uses = pawl_alloc(n, sizeof(int));
  f->last_use = pawl_alloc(n, sizeof(int));
  f->reg = pawl_alloc(n, sizeof(int));
  f->fused = pawl_alloc(n, 1);
  f->partner = pawl_alloc(n, sizeof(int));
  f->order = pawl_alloc(n, sizeof(int));
  f->part = pawl_alloc(n, sizeof(int));
  f->view = pawl_alloc(n, sizeof(int));
  f->free_registers = pawl_alloc(n, sizeof(int));
  PawlTape* tape = f->tape;
  tape->constants = pawl_alloc(n, sizeof(double));
  tape->inputs = pawl_alloc(n, sizeof(PawlTapeInput));
  tape->code = pawl_alloc(n, sizeof(PawlInstruction));
  tape->outputs = pawl_alloc((size_t)output_count, sizeof(int));
  if (!f->nodes || !f->local || !f->uses || !f->last_use || !f->reg || !f->fused || !f->partner ||
      !f->order || !f->part || !f->view || !f->free_registers || !tape->constants ||
      !tape->inputs || !tape->code || !tape->outputs) {
    return pawl_fail_memory(err);
  }
  memcpy(f->nodes, reached, n * sizeof(PawlNode));
  for (int i = 0; i < f->count; i++) {
    f->local[f->nodes[i]] = i;
    f->reg[i] = f->partner[i] = -1;
  }
  return PAWL_OK;
}

static void count_uses(Flattener* f, int output_count, const PawlNode* outputs) {
  for (int i = 0; i < f->count; i++) {
    for (int k = 0; k < pawl_op_operands(node_of(f, i)->op); k++) {
      f->uses[operand(f, i, k)]++;
    }
  }
  for (int k = 0; k < output_count; k++) {  // an output is used twice: it is never fused
    f->uses[f->local[outputs[k]]] += 2;
    f->last_use[f->local[outputs[k]]] = INT_MAX;
  }
}

// A sum takes in one product that nothing else reads.
static void fuse_products(Flattener* f) {
  for (int i = 0; i < f->count; i++) {
    PawlOp op = node_of(f, i)->op;
    if (op != PAWL_OP_ADD && op != PAWL_OP_SUB) {
      continue;
    }
    for (int k = 0; k < 2; k++) {
      int product = operand(f, i, k);
      if (node_of(f, product)->op == PAWL_OP_MUL && f->uses[product] == 1) {
        f->fused[product] = 1;
        break;
      }
    }
  }
}

static PawlStatus pair_sines(Flattener* f, PawlError* err) {
  int* sine_of = pawl_alloc((size_t)f->count, sizeof(int));  // argument -> sin or cos seen, plus 1
  if (!sine_of) {
    return pawl_fail_memory(err);
  }
  for (int i = 0; i < f->count; i++) {
    PawlOp op = node_of(f, i)->op;
    if (op != PAWL_OP_SIN && op != PAWL_OP_COS) {
      continue;
    }
    int argument = operand(f, i, 0), other = sine_of[argument] - 1;
    if (other >= 0) {  // the other function: the same one would be the same node
      f->partner[i] = other;
      f->partner[other] = i;
    }
    sine_of[argument] = i + 1;
  }
  pawl_free(sine_of);
  return PAWL_OK;
}

// The instruction of node i with operands as indices in nodes; -1 where there is none.
static PawlInstruction translate(const Flattener* f, int i) {
  const PawlDagNode* node = node_of(f, i);
  int count = pawl_op_operands(node->op);
  PawlInstruction ins = {(PawlTapeOp)node->op, i, -1, -1, -1};
  ins.a = count > 0 ? operand(f, i, 0) : -1;
  ins.b = count > 1 ? operand(f, i, 1) : -1;
  ins.c = count > 2 ? operand(f, i, 2) : -1;
  if (node->op == PAWL_OP_ADD || node->op == PAWL_OP_SUB) {
    int left = ins.a, right = ins.b;
    if (f->fused[left] || f->fused[right]) {
      int product = f->fused[left] ? left : right;
      ins.a = operand(f, product, 0);
      ins.b = operand(f, product, 1);
      ins.c = product == left ? right : left;
      ins.op = node->op == PAWL_OP_ADD ? PAWL_TAPE_MULADD
               : product == left       ? PAWL_TAPE_MULSUB
                                       : PAWL_TAPE_SUBMUL;
    }
  } else if (node->op == PAWL_OP_POWI && node->index == 2) {
    ins.op = PAWL_TAPE_SQUARE;
  } else if (f->partner[i] >= 0) {
    ins.op = PAWL_TAPE_SINCOS;
    ins.dst = node->op == PAWL_OP_SIN ? i : f->partner[i];
    ins.b = node->op == PAWL_OP_SIN ? f->partner[i] : i;
  }
  return ins;
}

// Lists the nodes that have an instruction, ascending.
static void list_code(Flattener* f) {
  for (int i = 0; i < f->count; i++) {
    bool second_of_pair = f->partner[i] >= 0 && f->partner[i] < i;
    if (!pawl_op_is_leaf(node_of(f, i)->op) && !f->fused[i] && !second_of_pair) {
      f->order[f->tape->instruction_count++] = i;
    }
  }
}

static int part_of(const Flattener* f, int i) {
  return f->part[f->partner[i] >= 0 && f->partner[i] < i ? f->partner[i] : i];
}

static void emit(Flattener* f) {
  for (int at = 0; at < f->tape->instruction_count; at++) {
    int i = f->order[at];
    PawlInstruction ins = translate(f, i);
    f->tape->code[at] = ins;
    int reads[3] = {ins.a, ins.op == PAWL_TAPE_SINCOS ? -1 : ins.b, ins.c};
    for (int k = 0; k < 3; k++) {
      if (reads[k] >= 0 && part_of(f, reads[k]) != f->part[i]) {
        f->last_use[reads[k]] = INT_MAX;
      } else if (reads[k] >= 0 && f->last_use[reads[k]] < at) {
        f->last_use[reads[k]] = at;
      }
    }
  }
}

static bool is_table(const PawlDagNode* node) {
  return node->op == PAWL_OP_TABLE || node->op == PAWL_OP_TABLE2;
}

// The address of a view, as a constant of the tape.
static double view_of(const Flattener* f, const PawlDagNode* node) {
  const PawlTableView* view =
      pawl_table_view(pawl_dag_table_of(f->dag, node), node->index % PAWL_TABLE_VIEWS);
  double held = 0.0;
  _Static_assert(sizeof view <= sizeof held, "an address fits into a register of the tape");
  memcpy(&held, &view, sizeof view);
  return held;
}

static void place_leaves(Flattener* f) {
  PawlTape* tape = f->tape;
  for (int i = 0; i < f->count; i++) {
    if (node_of(f, i)->op == PAWL_OP_CONST) {
      f->reg[i] = tape->constant_count;
      tape->constants[tape->constant_count++] = node_of(f, i)->value;
    } else if (is_table(node_of(f, i))) {
      f->view[i] = tape->constant_count;
      tape->constants[tape->constant_count++] = view_of(f, node_of(f, i));
    }
  }
  for (int i = 0; i < f->count; i++) {
    const PawlDagNode* node = node_of(f, i);
    if (pawl_op_is_leaf(node->op) && node->op != PAWL_OP_CONST) {
      f->reg[i] = tape->constant_count + tape->input_count;
      tape->inputs[tape->input_count++] = (PawlTapeInput){node->op, node->index};
      if (node->op == PAWL_OP_TURN) {
        tape->first_turn = tape->end_turn == 0 ? tape->input_count - 1 : tape->first_turn;
        tape->end_turn = tape->input_count;
      }
    }
  }
  tape->register_count = tape->constant_count + tape->input_count;
}

// For node i. Of several parts any may run after any other, so what is kept gets a register that
// nothing else had.
static int take_register(Flattener* f, int i) {
  bool fresh = f->free_count == 0 || (f->tape->part_count > 1 && f->last_use[i] == INT_MAX);
  return fresh ? f->tape->register_count++ : f->free_registers[--f->free_count];
}

// Returns the register of a temporary whose last use is instruction `at`.
static void release(Flattener* f, int i, int at) {
  int first_temporary = f->tape->constant_count + f->tape->input_count;
  if (i >= 0 && f->last_use[i] == at && f->reg[i] >= first_temporary) {
    f->free_registers[f->free_count++] = f->reg[i];
    f->last_use[i] = -1;  // once, also when it is read twice by the instruction
  }
}

static void place_temporaries(Flattener* f) {
  for (int at = 0; at < f->tape->instruction_count; at++) {
    PawlInstruction* ins = &f->tape->code[at];
    const PawlInstruction in = *ins;
    bool pair = in.op == PAWL_TAPE_SINCOS;
    f->reg[in.dst] = ins->dst = take_register(f, in.dst);
    if (pair) {
      f->reg[in.b] = take_register(f, in.b);
    }
    ins->a = in.a >= 0 ? f->reg[in.a] : 0;
    ins->b = in.b >= 0 ? f->reg[in.b] : 0;
    ins->c = in.c >= 0 ? f->reg[in.c] : 0;
    if (in.op == PAWL_TAPE_POWI) {
      ins->b = node_of(f, in.dst)->index;
    } else if (in.op == PAWL_TAPE_TABLE || in.op == PAWL_TAPE_TABLE2) {
      ins->c = f->view[in.dst];
    }
    release(f, in.a, at);
    release(f, pair ? -1 : in.b, at);
    release(f, in.c, at);
  }
}

static void free_flattener(Flattener* f) {
  pawl_free(f->nodes);
  pawl_free(f->local);
  pawl_free(f->uses);
  pawl_free(f->last_use);
  pawl_free(f->reg);
  pawl_free(f->fused);
  pawl_free(f->partner);
  pawl_free(f->order);
  pawl_free(f->part);
  pawl_free(f->view);
  pawl_free(f->free_registers);
}

static PawlStatus divide(Flattener* f, int output_count, const PawlNode* outputs, int gate_count,
                         const int* gates, PawlError* err) {
  PawlTapeGraph graph = {f->dag, f->count, f->nodes, f->local, f->partner};
  PawlTapeOutputs wanted = {output_count, outputs, gate_count, gates};
  if (pawl_tape_divide(f->tape, &graph, &wanted, f->order, f->part) != 0 ||
      pawl_tape_gather_sines(f->tape, &graph, f->order, f->part) != 0) {
    return pawl_fail_memory(err);
  }
  return PAWL_OK;
}

PawlStatus pawl_tape_create(PawlDag* dag, int output_count, const PawlNode* outputs, PawlTape** out,
                            PawlError* err) {
  return pawl_tape_create_gated(dag, output_count, outputs, 0, NULL, out, err);
}

PawlStatus pawl_tape_create_gated(PawlDag* dag, int output_count, const PawlNode* outputs,
                                  int gate_count, const int* gates, PawlTape** out,
                                  PawlError* err) {
  *out = NULL;
  Flattener f = {.dag = dag, .tape = pawl_alloc(1, sizeof(PawlTape))};
  if (!f.tape) {
    return pawl_fail_memory(err);
  }
  PawlStatus status = allocate(&f, output_count, outputs, err);
  if (status == PAWL_OK) {
    count_uses(&f, output_count, outputs);
    fuse_products(&f);
    status = pair_sines(&f, err);
  }
  if (status == PAWL_OK) {
    list_code(&f);
    status = divide(&f, output_count, outputs, gate_count, gates, err);
  }
  if (status == PAWL_OK) {
    emit(&f);
    place_leaves(&f);
    place_temporaries(&f);
    f.tape->output_count = output_count;
    for (int k = 0; k < output_count; k++) {
      f.tape->outputs[k] = f.reg[f.local[outputs[k]]];
    }
    *out = f.tape;
  } else {
    pawl_tape_destroy(f.tape);
  }
  free_flattener(&f);
  return status;
}

void pawl_tape_destroy(PawlTape* tape) {
  if (tape) {
    pawl_tape_discard(tape);
    pawl_free(tape->constants);
    pawl_free(tape->inputs);
    pawl_free(tape->code);
    pawl_free(tape->outputs);
    pawl_free(tape->parts);
    pawl_free(tape->gate_start);
    pawl_free(tape->gate_parts);
    pawl_free(tape->own_part);
    pawl_free(tape);
  }
}

size_t pawl_tape_room(const PawlTape* tape, int width) {
  // At least one register: an operand that an operation does not have reads register 0.
  return (size_t)(tape->register_count + 1) * (size_t)width;
}

void pawl_tape_prepare(const PawlTape* tape, int width, double* registers) {
  for (int k = 0; k < tape->constant_count; k++) {
    for (int l = 0; l < width; l++) {
      registers[(size_t)k * (size_t)width + (size_t)l] = tape->constants[k];
    }
  }
}
