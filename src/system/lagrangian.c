// SPDX-License-Identifier: Apache-2.0
#include "system/lagrangian.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/model.h"

struct PawlLagrangian {
  PawlArena arena;
  int n;
  PawlBundle* bundle;
  double* out;  // all values, in the order of PawlLagrangianValues
  PawlLagrangianValues values;
};

// ---- what has a Lagrangian ----------------------------------------------------------------------
static int is_time(void* context, PawlOp leaf, int index) {
  (void)context, (void)index;
  return leaf == PAWL_OP_TIME;
}

static bool has_time(const PawlModel* model, PawlNode node) {
  return pawl_dag_leaves(model->dag, node, is_time, NULL) == 1;
}

static const char* term_obstacle(const PawlModel* model, const PawlTerm* term, char* room,
                                 size_t size) {
  if (term->kind == PAWL_TERM_FORCE) {
    snprintf(room, size, "the force on '%.200s' (it follows from energies alone)",
             model->coordinates[term->target].name);
    return room;
  }
  if (term->kind == PAWL_TERM_DISSIPATION) {
    return "the dissipation (it follows from energies alone)";
  }
  return has_time(model, term->node) ? "energies that depend on t" : NULL;
}

static const char* constraint_obstacle(const PawlModel* model, const PawlConstraint* c, char* room,
                                       size_t size) {
  if (c->triggered) {
    snprintf(room, size, "what engages and lets go ('%.200s')", c->name);
    return room;
  }
  if (c->modes[0].rate) {
    snprintf(room, size, "the rate equations ('%.200s': no energy leads to their forces)", c->name);
    return room;
  }
  for (int i = 0; i < c->modes[0].row_count; i++) {
    if (has_time(model, c->modes[0].rows[i].node)) {
      snprintf(room, size, "what depends on t (constraint '%.200s')", c->name);
      return room;
    }
  }
  return NULL;
}

static const char* model_obstacle(const PawlModel* model, char* room, size_t size) {
  const char* why = NULL;
  if (model->dynamic_count > 0 || model->input_count > 0) {
    return "states and inputs (it follows from energies alone)";
  }
  if (model->rotation_count > 0) {
    return "rotations in space (its path runs through a vector space)";
  }
  if (model->coordinate_count > PAWL_LAGRANGIAN_MOST) {
    snprintf(room, size, "the %d coordinates (at most %d: its matrices are full)",
             model->coordinate_count, (int)PAWL_LAGRANGIAN_MOST);
    return room;
  }
  for (int k = 0; k < model->term_count && !why; k++) {
    why = term_obstacle(model, &model->terms[k], room, size);
  }
  for (int k = 0; k < model->constraint_count && !why; k++) {
    why = constraint_obstacle(model, &model->constraints[k], room, size);
  }
  return why;
}

static int is_rate(void* context, PawlOp leaf, int index) {
  (void)context, (void)index;
  return leaf == PAWL_OP_V;
}

static PawlNode at_rest(void* context, PawlDag* to, PawlOp leaf, int index) {
  (void)context;
  return leaf == PAWL_OP_V ? pawl_dag_const(to, 0.0) : pawl_dag_leaf(to, leaf, index);
}

// Whether dL/dv_i is linear in the rates, and zero where they are, at the start.
static PawlStatus is_quadratic(PawlDag* dag, PawlNode L, int n, int i, const double* q, bool* yes) {
  PawlLeafValues start = {.q = q};
  PawlNode L_v = pawl_dag_partial(dag, L, PAWL_OP_V, i);
  double rest;
  PAWL_TRY(pawl_dag_value(dag, pawl_dag_copy(dag, dag, L_v, at_rest, NULL), &start, &rest, NULL));
  *yes &= rest == 0.0;
  for (int j = 0; j < n; j++) {
    int found = pawl_dag_leaves(dag, pawl_dag_partial(dag, L_v, PAWL_OP_V, j), is_rate, NULL);
    if (found < 0) {
      return PAWL_ERROR_MEMORY;
    }
    *yes &= found == 0;
  }
  return PAWL_OK;
}

// The form (10) of the paper.
static PawlStatus check_form(const PawlModel* model, bool* yes, PawlError* err) {
  int n = model->coordinate_count;
  PawlDag* dag = pawl_dag_create();
  double* q = pawl_alloc((size_t)n, sizeof *q);
  PawlNode L = dag ? pawl_lagrangian_node(model, dag) : PAWL_NO_NODE;
  PawlStatus status = q && L != PAWL_NO_NODE ? PAWL_OK : PAWL_ERROR_MEMORY;
  *yes = true;
  for (int i = 0; status == PAWL_OK && i < n; i++) {
    q[i] = model->coordinates[i].start;
  }
  for (int i = 0; status == PAWL_OK && *yes && i < n; i++) {
    status = is_quadratic(dag, L, n, i, q, yes);
  }
  pawl_free(q);
  pawl_dag_destroy(dag);
  return status ? pawl_fail_memory(err) : PAWL_OK;
}

PawlStatus pawl_lagrangian_obstacle(const PawlSystem* system, char* room, size_t size,
                                    const char** why, PawlError* err) {
  if (!system->model) {
    *why = "systems of callbacks (it needs energies as expressions)";
    return PAWL_OK;
  }
  if (system->model->coordinate_count <= PAWL_LAGRANGIAN_MOST) {  // more are refused unseen
    PAWL_TRY(pawl_model_complete(system->model, err));
  }
  *why = model_obstacle(system->model, room, size);
  if (*why) {
    return PAWL_OK;
  }
  bool quadratic;
  PAWL_TRY(check_form(system->model, &quadratic, err));
  *why = quadratic ? NULL : "a kinetic energy that is not of the form v'M(q)v/2";
  return PAWL_OK;
}

// ---- building -----------------------------------------------------------------------------------
static PawlNode number_for_parameter(void* context, PawlDag* to, PawlOp leaf, int index) {
  const PawlModel* model = context;
  return leaf == PAWL_OP_PARAM ? pawl_dag_const(to, model->parameters[index].value)
                               : pawl_dag_leaf(to, leaf, index);
}

PawlNode pawl_lagrangian_copy(const PawlModel* model, PawlDag* dag, PawlNode node) {
  return pawl_dag_copy(dag, model->dag, node, number_for_parameter, (void*)model);
}

PawlNode pawl_lagrangian_node(const PawlModel* model, PawlDag* dag) {
  PawlNode L = pawl_dag_const(dag, 0.0);
  for (int k = 0; k < model->term_count; k++) {
    PawlNode term = pawl_lagrangian_copy(model, dag, model->terms[k].node);
    bool kinetic = model->terms[k].kind == PAWL_TERM_KINETIC;
    L = kinetic ? pawl_dag_add(dag, L, term) : pawl_dag_sub(dag, L, term);
  }
  return L;
}

// L; L_q; L_v; L_qq; L_vv; L_qv.
static void list_derivatives(PawlDag* dag, PawlNode L, int n, PawlNode* nodes) {
  PawlNode *L_q = nodes + 1, *L_v = L_q + n, *L_qq = L_v + n, *L_vv = L_qq + n * n,
           *L_qv = L_vv + n * n;
  nodes[0] = L;
  for (int i = 0; i < n; i++) {
    L_q[i] = pawl_dag_partial(dag, L, PAWL_OP_Q, i);
    L_v[i] = pawl_dag_partial(dag, L, PAWL_OP_V, i);
  }
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      L_qq[i + j * n] = pawl_dag_partial(dag, L_q[i], PAWL_OP_Q, j);
      L_vv[i + j * n] = pawl_dag_partial(dag, L_v[i], PAWL_OP_V, j);
      L_qv[i + j * n] = pawl_dag_partial(dag, L_q[i], PAWL_OP_V, j);
    }
  }
}

static PawlStatus fill(PawlLagrangian* l, PawlDag* dag, PawlNode L, PawlError* err) {
  int n = l->n, count = 1 + 2 * n + 3 * n * n;
  PawlNode* nodes = PAWL_NEW(&l->arena, PawlNode, count);
  l->out = PAWL_NEW(&l->arena, double, count);
  if (!nodes || !l->out) {
    return pawl_fail_memory(err);
  }
  list_derivatives(dag, L, n, nodes);
  double *L_q = l->out + 1, *L_qq = L_q + 2 * n;
  l->values = (PawlLagrangianValues){.L = l->out,
                                     .L_q = L_q,
                                     .L_v = L_q + n,
                                     .L_qq = L_qq,
                                     .L_vv = L_qq + n * n,
                                     .L_qv = L_qq + 2 * n * n};
  return pawl_bundle_create(dag, count, nodes, &l->bundle, err);
}

PawlStatus pawl_lagrangian_create(PawlDag* dag, PawlNode L, int n, PawlLagrangian** out,
                                  PawlError* err) {
  *out = NULL;
  PawlLagrangian* l = pawl_alloc(1, sizeof *l);
  if (!l) {
    return pawl_fail_memory(err);
  }
  l->n = n;
  PawlStatus status = fill(l, dag, L, err);
  if (status != PAWL_OK) {
    pawl_lagrangian_destroy(l);
    return status;
  }
  *out = l;
  return PAWL_OK;
}

void pawl_lagrangian_destroy(PawlLagrangian* l) {
  if (l) {
    pawl_bundle_destroy(l->bundle);
    pawl_arena_free(&l->arena);
    pawl_free(l);
  }
}

const PawlLagrangianValues* pawl_lagrangian_run(PawlLagrangian* l, const double* q,
                                                const double* v) {
  PawlLeafValues at = {.q = q, .v = v};
  return pawl_bundle_run(l->bundle, &at, l->out) ? &l->values : NULL;
}
