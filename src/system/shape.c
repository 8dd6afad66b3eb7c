// SPDX-License-Identifier: Apache-2.0
// Tokens of a shape: kind, number of expressions; then for each node, operands first, its operation
// followed by: nothing (TIME), a slot (other leaves), or the index where it has one (POWI, tables)
// and the operands, each as the position of its node in the list; ROOT and a position ends an
// expression. TURNING stands before the first leaf of a rotation: its slot has two others, and its
// equations are not those of a plain coordinate. TARGET and a slot begin a
// force along another than the first of a rotation's.
#include "system/shape.h"

#include "base/alloc.h"

enum { ROOT = PAWL_OP_COUNT, TURNING, TARGET };

typedef struct Frame {
  PawlNode node;
  int next;  // operand to visit next
} Frame;

struct PawlShaper {
  const PawlDag* dag;
  int stamp;                                // of the present item
  int *node_stamp, *position;               // by node
  int *coordinate_stamp, *coordinate_slot;  // by coordinate
  int turning, turning_end;                 // coordinates of rotations, three each
  bool apart;                               // every use of a number has a slot of its own
  int *row_stamp, *row_slot;                // by row
  int node_count;                           // nodes encoded so far
  int token_count, token_capacity, stack_count, stack_capacity;
  int* tokens;
  Frame* stack;
  PawlBinding binding;
};

PawlShaper* pawl_shaper_create(const PawlDag* dag, int coordinates, int rows, int turning,
                               int turning_end) {
  PawlShaper* s = pawl_alloc(1, sizeof *s);
  if (!s) {
    return NULL;
  }
  s->turning = turning;
  s->turning_end = turning_end;
  size_t nodes = (size_t)pawl_dag_count(dag);
  s->dag = dag;
  s->node_stamp = pawl_alloc(nodes, sizeof(int));
  s->position = pawl_alloc(nodes, sizeof(int));
  s->coordinate_stamp = pawl_alloc((size_t)coordinates, sizeof(int));
  s->coordinate_slot = pawl_alloc((size_t)coordinates, sizeof(int));
  s->row_stamp = pawl_alloc((size_t)rows, sizeof(int));
  s->row_slot = pawl_alloc((size_t)rows, sizeof(int));
  if (!s->node_stamp || !s->position || !s->coordinate_stamp || !s->coordinate_slot ||
      !s->row_stamp || !s->row_slot) {
    pawl_shaper_destroy(s);
    return NULL;
  }
  return s;
}

void pawl_shaper_destroy(PawlShaper* s) {
  if (s) {
    pawl_free(s->node_stamp);
    pawl_free(s->position);
    pawl_free(s->coordinate_stamp);
    pawl_free(s->coordinate_slot);
    pawl_free(s->row_stamp);
    pawl_free(s->row_slot);
    pawl_free(s->tokens);
    pawl_free(s->stack);
    pawl_free(s->binding.coordinates);
    pawl_free(s->binding.rows);
    pawl_free(s->binding.numbers);
    pawl_free(s);
  }
}

static int put(PawlShaper* s, int token) {
  if (PAWL_GROW(s->tokens, s->token_capacity, s->token_count + 1) != 0) {
    return -1;
  }
  s->tokens[s->token_count++] = token;
  return 0;
}

// The three of a rotation get slots that follow each other.
static int coordinate_slot(PawlShaper* s, int coordinate) {
  PawlBinding* b = &s->binding;
  if (s->coordinate_stamp[coordinate] != s->stamp) {
    bool turns = coordinate >= s->turning && coordinate < s->turning_end;
    int first = turns ? coordinate - (coordinate - s->turning) % 3 : coordinate;
    int count = turns ? 3 : 1;
    if (turns && put(s, TURNING) != 0) {
      return -1;
    }
    if (PAWL_GROW(b->coordinates, b->coordinate_capacity, b->coordinate_count + count) != 0) {
      return -1;
    }
    for (int c = first; c < first + count; c++) {
      s->coordinate_stamp[c] = s->stamp;
      s->coordinate_slot[c] = b->coordinate_count;
      b->coordinates[b->coordinate_count++] = c;
    }
  }
  return s->coordinate_slot[coordinate];
}

// 4 times the first slot of the rotation, plus which number of the quaternion.
static int quaternion_slot(PawlShaper* s, int index) {
  int slot = coordinate_slot(s, index / 4);
  return slot < 0 ? -1 : 4 * slot + index % 4;
}

static int row_slot(PawlShaper* s, int row) {
  PawlBinding* b = &s->binding;
  if (s->row_stamp[row] != s->stamp) {
    if (PAWL_GROW(b->rows, b->row_capacity, b->row_count + 1) != 0) {
      return -1;
    }
    s->row_stamp[row] = s->stamp;
    s->row_slot[row] = b->row_count;
    b->rows[b->row_count++] = row;
  }
  return s->row_slot[row];
}

static int number_slot(PawlShaper* s, double value) {
  PawlBinding* b = &s->binding;
  if (PAWL_GROW(b->numbers, b->number_capacity, b->number_count + 1) != 0) {
    return -1;
  }
  b->numbers[b->number_count] = value;
  return b->number_count++;  // a node is met once, so equal numbers share a slot unless `apart`
}

static int put_leaf(PawlShaper* s, const PawlDagNode* node) {
  int slot = -1;
  switch ((PawlLeaf)node->op) {
    case PAWL_LEAF_TIME:
      return put(s, PAWL_OP_TIME);
    case PAWL_LEAF_CONST:
      slot = number_slot(s, node->value);
      break;
    case PAWL_LEAF_LAMBDA:
      slot = row_slot(s, node->index);
      break;
    case PAWL_LEAF_INPUT:
      slot = node->index;  // not a slot either
      break;
    case PAWL_LEAF_TURN:
      s->binding.turns = true;
      slot = node->index;  // not a slot: terms with different turns have different shapes
      break;
    case PAWL_LEAF_QUAT:
      slot = quaternion_slot(s, node->index);
      break;
    case PAWL_LEAF_PARAM:  // a number by now (fold_parameters)
    case PAWL_LEAF_Q:
    case PAWL_LEAF_V:
    case PAWL_LEAF_A:
    case PAWL_LEAF_STATE:
      slot = coordinate_slot(s, node->index);
      break;
  }
  return slot < 0 || put(s, (int)node->op) != 0 || put(s, slot) != 0 ? -1 : 0;
}

static bool has_index(PawlOp op) {
  return op == PAWL_OP_POWI || op == PAWL_OP_TABLE || op == PAWL_OP_TABLE2;
}

// A number that is written where it is used, just before the node that uses it.
static bool is_apart(const PawlShaper* s, PawlNode id) {
  return s->apart && pawl_dag_node(s->dag, id)->op == PAWL_OP_CONST;
}

static int put_numbers_apart(PawlShaper* s, const PawlDagNode* node) {
  for (int k = 0; k < pawl_op_operands(node->op); k++) {
    if (is_apart(s, node->arg[k])) {
      s->position[node->arg[k]] = s->node_count++;
      if (put_leaf(s, pawl_dag_node(s->dag, node->arg[k])) != 0) {
        return -1;
      }
    }
  }
  return 0;
}

static int put_node(PawlShaper* s, PawlNode id) {
  const PawlDagNode* node = pawl_dag_node(s->dag, id);
  if (put_numbers_apart(s, node) != 0) {
    return -1;
  }
  s->node_stamp[id] = s->stamp;
  s->position[id] = s->node_count++;
  if (pawl_op_is_leaf(node->op)) {
    return put_leaf(s, node);
  }
  if (put(s, (int)node->op) != 0 || (has_index(node->op) && put(s, node->index) != 0)) {
    return -1;
  }
  for (int k = 0; k < pawl_op_operands(node->op); k++) {
    if (put(s, s->position[node->arg[k]]) != 0) {
      return -1;
    }
  }
  return 0;
}

// Encodes the nodes under `root`, operands before the node, in the order in which a reader meets
// them: the order of creation would depend on what was built before.
static int put_tree(PawlShaper* s, PawlNode root) {
  s->stack_count = 0;
  if (PAWL_GROW(s->stack, s->stack_capacity, 1) != 0) {
    return -1;
  }
  if (s->node_stamp[root] != s->stamp) {
    s->stack[s->stack_count++] = (Frame){root, 0};
  }
  while (s->stack_count > 0) {
    Frame* top = &s->stack[s->stack_count - 1];
    const PawlDagNode* node = pawl_dag_node(s->dag, top->node);
    if (top->next < pawl_op_operands(node->op)) {
      PawlNode operand = node->arg[top->next++];
      if (s->node_stamp[operand] != s->stamp && !is_apart(s, operand)) {
        if (PAWL_GROW(s->stack, s->stack_capacity, s->stack_count + 1) != 0) {
          return -1;
        }
        s->stack[s->stack_count++] = (Frame){operand, 0};
      }
    } else {
      s->stack_count--;
      if (s->node_stamp[top->node] != s->stamp && put_node(s, top->node) != 0) {
        return -1;
      }
    }
  }
  return put(s, ROOT) != 0 || put(s, s->position[root]) != 0 ? -1 : 0;
}

bool pawl_item_acts(const PawlItem* item) {
  return item->kind == PAWL_ITEM_FORCE || item->kind == PAWL_ITEM_FRICTION ||
         item->kind == PAWL_ITEM_STATE || item->kind == PAWL_ITEM_UNIT;
}

int pawl_shape_encode(PawlShaper* s, const PawlItem* item, bool apart, const int** tokens,
                      const PawlBinding** binding) {
  s->stamp++;
  s->apart = apart;
  s->token_count = s->node_count = 0;
  s->binding.coordinate_count = s->binding.row_count = s->binding.number_count = 0;
  s->binding.turns = false;
  if (put(s, (int)item->kind) != 0 || put(s, item->count) != 0) {
    return -1;
  }
  int target = pawl_item_acts(item) ? coordinate_slot(s, item->target) : 0;
  if (target < 0 || (target > 0 && (put(s, TARGET) != 0 || put(s, target) != 0))) {
    return -1;
  }
  bool binds = item->kind == PAWL_ITEM_CONSTRAINT || item->kind == PAWL_ITEM_RATE ||
               item->kind == PAWL_ITEM_SLIP;
  for (int k = 0; binds && k < item->count; k++) {
    if (row_slot(s, item->target + k) < 0) {
      return -1;
    }
  }
  for (int k = 0; k < item->count; k++) {
    if (put_tree(s, item->nodes[k]) != 0) {
      return -1;
    }
  }
  *tokens = s->tokens;
  *binding = &s->binding;
  return s->token_count;
}

static PawlNode build_leaf(PawlDag* dag, PawlOp op, int slot, const PawlSlotNodes* slots) {
  if (op == PAWL_OP_CONST) {
    return slots->numbers[slot];
  }
  if (op == PAWL_OP_TURN || op == PAWL_OP_INPUT) {
    return pawl_dag_leaf(dag, op, slot);
  }
  const int* map = op == PAWL_OP_LAMBDA ? slots->rows : slots->coordinates;
  if (op == PAWL_OP_QUAT) {
    return pawl_dag_leaf(dag, op, map ? 4 * map[slot / 4] + slot % 4 : slot);
  }
  return pawl_dag_leaf(dag, op, map ? map[slot] : slot);
}

int pawl_shape_build(PawlDag* dag, int token_count, const int* tokens, const PawlSlotNodes* slots,
                     PawlNode* scratch, PawlNode* roots) {
  int built = 0, root_count = 0;
  for (int at = 2; at < token_count;) {
    int token = tokens[at++];
    if (token == TURNING || token == TARGET) {
      at += token == TARGET;
      continue;
    }
    if (token == ROOT) {
      roots[root_count++] = scratch[tokens[at++]];
      continue;
    }
    PawlOp op = (PawlOp)token;
    PawlNode node;
    if (op == PAWL_OP_TIME) {
      node = pawl_dag_leaf(dag, PAWL_OP_TIME, 0);
    } else if (pawl_op_is_leaf(op)) {
      node = build_leaf(dag, op, tokens[at++], slots);
    } else {
      PawlDagNode like = {.op = op, .index = has_index(op) ? tokens[at++] : 0};
      PawlNode arg[3] = {PAWL_NO_NODE, PAWL_NO_NODE, PAWL_NO_NODE};
      for (int k = 0; k < pawl_op_operands(op); k++) {
        arg[k] = scratch[tokens[at++]];
      }
      node = pawl_dag_rebuild(dag, &like, arg);
    }
    if (node == PAWL_NO_NODE) {
      return -1;
    }
    scratch[built++] = node;
  }
  return root_count;
}
