// SPDX-License-Identifier: Apache-2.0
// Rate equations, w(q, v, t) = A(q, t) v + b(q, t) = 0 (docs/theory/rate.md): linear in the rates
// as they are written.
#include "base/alloc.h"
#include "base/text.h"
#include "model/loader.h"

enum { LINEAR = 1, MORE = 2 };  // degrees in the rates; MORE stands for anything else

// The degree of an operation from those of its operands.
static int degree_of(const PawlDagNode* node, const int* of) {
  int most = of[0] > of[1] ? of[0] : of[1];
  most = of[2] > most ? of[2] : most;
  switch (node->op) {
    case PAWL_OP_V:
      return LINEAR;
    case PAWL_OP_ADD:
    case PAWL_OP_SUB:
    case PAWL_OP_NEG:
      return most;
    case PAWL_OP_MUL:
      return of[0] + of[1] > LINEAR ? MORE : of[0] + of[1];
    case PAWL_OP_DIV:
      return of[1] > 0 ? MORE : of[0];
    case PAWL_OP_IF:
      return of[0] > 0 ? MORE : most;
    default:  // leaves, powers, functions and comparisons
      return most > 0 ? MORE : 0;
  }
}

// The addend of `root` that is not linear; `root` itself where that is no sum.
static PawlNode worst_addend(const PawlDag* dag, const int* degree, PawlNode root) {
  for (;;) {
    const PawlDagNode* node = pawl_dag_node(dag, root);
    bool sum = node->op == PAWL_OP_ADD || node->op == PAWL_OP_SUB || node->op == PAWL_OP_NEG;
    if (!sum) {
      return root;
    }
    root = degree[node->arg[0]] == MORE ? node->arg[0] : node->arg[1];
  }
}

// The degree of `root` in the rates, and the addend to blame; -1 when memory is short.
static int find_degree(PawlDag* dag, PawlNode root, PawlNode* blamed) {
  const PawlNode* nodes;
  int count = pawl_dag_reach(dag, 1, &root, &nodes);
  int* degree = count < 0 ? NULL : pawl_alloc((size_t)root + 1, sizeof(int));
  if (!degree) {
    return -1;
  }
  for (int k = 0; k < count; k++) {
    const PawlDagNode* node = pawl_dag_node(dag, nodes[k]);
    int of[3] = {0, 0, 0};
    for (int i = 0; i < pawl_op_operands(node->op); i++) {
      of[i] = degree[node->arg[i]];
    }
    degree[nodes[k]] = degree_of(node, of);
  }
  int found = degree[root];
  *blamed = found == MORE ? worst_addend(dag, degree, root) : root;
  pawl_free(degree);
  return found;
}

static void leaf_name(void* context, PawlText* out, PawlStyle style, PawlOp leaf, int index) {
  const PawlModel* model = context;
  (void)style;
  if (leaf == PAWL_OP_Q || leaf == PAWL_OP_V) {
    bool rate = leaf == PAWL_OP_V && pawl_model_spin(model, index) < 0;
    pawl_text_printf(out, "%s%s", model->coordinates[index].name, rate ? "'" : "");
  } else if (leaf == PAWL_OP_QUAT) {
    const PawlRotation* r = &model->rotations[pawl_model_rotation(model, index / 4)];
    pawl_text_add(out, r->quaternion_names[index % 4]);
  } else {
    pawl_text_add(out, leaf == PAWL_OP_PARAM ? model->parameters[index].name : "t");
  }
}

bool pawl_rate_is_linear(PawlLoader* loader, const PawlYaml* text, const char* key, PawlNode w) {
  PawlModel* model = loader->model;
  PawlNode blamed = w;
  int degree = find_degree(model->dag, w, &blamed);
  if (degree < 0) {
    return pawl_loader_no_memory(loader);
  }
  double value;
  if (pawl_dag_is_const(model->dag, w, &value) && value == 0.0) {
    return true;  // 0 = 0 holds always: a row that follows from others
  }
  if (degree == 0) {
    pawl_report(&loader->report, text,
                "%s: '%s' contains no rate such as x'; between coordinates write equation:", key,
                pawl_quote(text->text).s);
  } else if (degree == MORE) {
    PawlText term = {0};
    pawl_dag_print(&term, model->dag, blamed, PAWL_STYLE_TEXT, leaf_name, model);
    pawl_report(&loader->report, text,
                "%s: '%s' must be linear in the rates, and the term %s is not", key,
                pawl_quote(text->text).s, term.s ? term.s : "");
    pawl_text_free(&term);
  }
  return degree == LINEAR;
}
