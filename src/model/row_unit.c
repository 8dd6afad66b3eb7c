// SPDX-License-Identifier: Apache-2.0
// The unit of a multiplier, J by the unit of its row. Parameters have no units, so the unit of a
// row is that of the coordinates which stand in it alone: x = r*phi is in metres where x is.
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

enum { UNKNOWN = 1000 };      // no power of a metre
enum { MOST_NODES = 10000 };  // looked at, of one row
enum { MOST_DEPTH = 1000 };

typedef struct Search {
  const PawlModel* model;
  int nodes, depth;  // looked at so far, and how deep it is now
} Search;

static int power_of(Search* search, PawlNode node);

static int power_of_unit(const char* unit) {
  return strcmp(unit, "m") == 0 ? 1 : strcmp(unit, "rad") == 0 ? 0 : UNKNOWN;
}

// Addends have one unit: that of any of which it is known.
static int power_of_sum(Search* search, const PawlDagNode* sum) {
  int a = power_of(search, sum->arg[0]), b = power_of(search, sum->arg[1]);
  bool contrary = a != UNKNOWN && b != UNKNOWN && a != b;
  return contrary ? UNKNOWN : a != UNKNOWN ? a : b;
}

static bool has_no_unit(const PawlModel* model, PawlNode node) {
  PawlOp op = pawl_dag_node(model->dag, node)->op;
  return op == PAWL_OP_CONST || op == PAWL_OP_SIN || op == PAWL_OP_COS;
}

static int power_of_product(Search* search, const PawlDagNode* product) {
  for (int k = 0; k < 2; k++) {
    if (has_no_unit(search->model, product->arg[k])) {
      return power_of(search, product->arg[1 - k]);
    }
  }
  int a = power_of(search, product->arg[0]), b = power_of(search, product->arg[1]);
  return a == UNKNOWN || b == UNKNOWN ? UNKNOWN : a + b;
}

static int times(int power, int factor) {
  return power == UNKNOWN || abs(factor) > 4 ? UNKNOWN : power * factor;
}

static int half(int power) {
  return power == UNKNOWN || power % 2 != 0 ? UNKNOWN : power / 2;
}

static int power_of_operation(Search* search, const PawlDagNode* node) {
  if (node->op == PAWL_OP_Q || node->op == PAWL_OP_V) {
    return power_of_unit(search->model->coordinates[node->index].unit);
  }
  if (node->op == PAWL_OP_PARAM) {
    return power_of_unit(search->model->parameters[node->index].unit);
  }
  if (node->op == PAWL_OP_ADD || node->op == PAWL_OP_SUB) {
    return power_of_sum(search, node);
  }
  if (node->op == PAWL_OP_MUL) {
    return power_of_product(search, node);
  }
  if (node->op == PAWL_OP_POWI) {
    return times(power_of(search, node->arg[0]), node->index);
  }
  if (node->op == PAWL_OP_SQRT) {
    return half(power_of(search, node->arg[0]));
  }
  bool same = node->op == PAWL_OP_NEG || node->op == PAWL_OP_ABS;
  return same ? power_of(search, node->arg[0]) : UNKNOWN;
}

// The k of m^k, or UNKNOWN. An angle has k = 0.
static int power_of(Search* search, PawlNode node) {
  if (node == PAWL_NO_NODE || search->nodes++ > MOST_NODES || search->depth > MOST_DEPTH) {
    return UNKNOWN;
  }
  search->depth++;
  int power = power_of_operation(search, pawl_dag_node(search->model->dag, node));
  search->depth--;
  return power;
}

static const char* unit_of_force(int power) {
  return power == 0 ? "N m" : power == 1 ? "N" : power == 2 ? "N/m" : "";
}

static int power_of_row(const PawlModel* model, PawlNode node) {
  return power_of(&(Search){.model = model}, node);
}

// What is built later has the unit of the member that its recipe was made of, as long as its
// coordinates have theirs.
static PawlNode node_of_row(const PawlModel* model, PawlRow* row) {
  if (row->node != PAWL_LATER) {
    return row->node;
  }
  const PawlRecipeOf* of = &model->recipes[row->member.recipe];
  bool same = true;
  for (int p = 0; same && p < of->place_count; p++) {
    const char* unit = model->coordinates[model->places[row->member.first + p]].unit;
    same = strcmp(unit, model->coordinates[of->base[p]].unit) == 0;
  }
  return same ? of->what[row->member.part] : pawl_model_node(model, &row->node, row->member);
}

const char* pawl_model_contact_unit(const PawlModel* model, int contact) {
  return unit_of_force(power_of_row(model, model->contacts[contact].gap));
}

// Modes may put rows of different units in one place, which then has none.
const char* pawl_model_row_unit(const PawlModel* model, int constraint, int row) {
  const PawlConstraint* c = &model->constraints[constraint];
  int power = UNKNOWN;
  for (int m = 0; m < c->mode_count; m++) {
    if (row >= c->modes[m].row_count) {
      continue;
    }
    int its = power_of_row(model, node_of_row(model, &c->modes[m].rows[row]));
    if (its == UNKNOWN || (power != UNKNOWN && its != power)) {
      return "";
    }
    power = its;
  }
  return unit_of_force(power);
}
