// SPDX-License-Identifier: Apache-2.0
// Members of large families of which only the form was needed, built for those who need more.
#include "base/alloc.h"
#include "base/error.h"
#include "expr/matrix.h"
#include "expr/recipe.h"
#include "model/model.h"

enum { MOST_PLACES = 64 };  // of a member (again.c)

PawlNode pawl_model_node(const PawlModel* model, PawlNode* node, PawlMember member) {
  int moved[MOST_PLACES + 1];
  PawlNode roots[sizeof((PawlMatrix){0}).at / sizeof(PawlNode)];
  if (*node != PAWL_LATER) {
    return *node;
  }
  const PawlRecipeOf* of = &model->recipes[member.recipe];
  for (int p = 0; p < of->place_count; p++) {
    moved[p] = model->places[member.first + p] - of->base[p];
  }
  bool built = pawl_recipe_follow(of->recipe, model->dag, moved, false, roots) > 0;
  *node = built ? roots[member.part] : PAWL_LATER;
  return built ? *node : PAWL_NO_NODE;
}

static bool complete_constraint(const PawlModel* model, const PawlConstraint* constraint) {
  bool good = true;
  for (int m = 0; m < constraint->mode_count; m++) {
    PawlMode* mode = &constraint->modes[m];
    for (int k = 0; good && k < mode->row_count; k++) {
      PawlRow* row = &mode->rows[k];
      good = pawl_model_node(model, &row->node, row->member) != PAWL_NO_NODE;
    }
  }
  return good;
}

PawlStatus pawl_model_complete(const PawlModel* model, PawlError* err) {
  bool good = true;
  if (model->later_count == 0) {
    return PAWL_OK;
  }
  for (int k = 0; good && k < model->term_count; k++) {
    PawlTerm* term = &model->terms[k];
    good = pawl_model_node(model, &term->node, term->member) != PAWL_NO_NODE;
  }
  for (int c = 0; good && c < model->constraint_count; c++) {
    good = complete_constraint(model, &model->constraints[c]);
  }
  return good ? PAWL_OK : pawl_fail_memory(err);
}
