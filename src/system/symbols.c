// SPDX-License-Identifier: Apache-2.0
// The derivation of a model with its parameters as symbols.
#include "system/symbols.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "expr/normal.h"
#include "model/model.h"

static const PawlSymbolMode always = {-1, 0};

// ---- items --------------------------------------------------------------------------------------
static int keep(void* context, PawlQuantity quantity, int i, int j, PawlNode node) {
  PawlSymbols* s = context;
  if (!(s->wanted >> quantity & 1u)) {
    return 0;
  }
  if (PAWL_GROW(s->items, s->capacity, s->count + 1) != 0) {
    return -1;
  }
  s->items[s->count++] = (PawlSymbol){quantity, i, j, s->in, node};
  return 0;
}

static PawlNode same_leaf(void* context, PawlDag* to, PawlOp leaf, int index) {
  (void)context;
  return pawl_dag_leaf(to, leaf, index);
}

static PawlNode copy(PawlSymbols* s, PawlNode of_model) {
  return pawl_dag_copy(s->dag, s->model->dag, of_model, same_leaf, NULL);
}

static PawlStatus derive_node(PawlSymbols* s, PawlItemKind kind, int target, PawlNode node) {
  if (node == PAWL_NO_NODE) {
    return PAWL_ERROR_MEMORY;
  }
  PawlItem item = {kind, target, 1, &node, -1};
  return pawl_derive_item(s->dag, &item, &(PawlSpins){.model = s->model}, s->coordinate_count,
                          s->coordinates, keep, s);
}

static PawlStatus derive(PawlSymbols* s, PawlItemKind kind, int target, PawlNode of_model) {
  return derive_node(s, kind, target, copy(s, of_model));
}

static PawlStatus derive_mode(PawlSymbols* s, const PawlConstraint* constraint, int m) {
  const PawlMode* mode = &constraint->modes[m];
  for (int k = 0; k < mode->row_count; k++) {
    PawlItemKind kind = mode->rate ? PAWL_ITEM_RATE : PAWL_ITEM_CONSTRAINT;
    PAWL_TRY(derive(s, kind, constraint->first_row + k, mode->rows[k].node));
  }
  return PAWL_OK;
}

// f = -sign(g') F G^T while a joint slides.                                              (V7) (W7)
static PawlStatus derive_friction(PawlSymbols* s, const PawlConstraint* constraint) {
  const PawlMode* held = &constraint->modes[PAWL_MODE_HELD];
  PawlNode g = copy(s, held->rows[0].node), F = copy(s, constraint->switching->friction);
  int c = (int)(constraint - s->model->constraints);
  for (int j = 0; j < s->coordinate_count; j++) {
    PawlNode down = pawl_derive_sliding(s->dag, s->model, held->rate, g, F, j);
    PawlNode up = pawl_dag_neg(s->dag, down);
    s->in = (PawlSymbolMode){c, PAWL_MODE_UP};
    PAWL_TRY(derive_node(s, PAWL_ITEM_FRICTION, j, up));
    s->in.mode = PAWL_MODE_DOWN;
    PAWL_TRY(derive_node(s, PAWL_ITEM_FRICTION, j, down));
  }
  return PAWL_OK;
}

static PawlStatus derive_terms(PawlSymbols* s) {
  static const PawlItemKind kind_of[] = {
      [PAWL_TERM_KINETIC] = PAWL_ITEM_KINETIC,
      [PAWL_TERM_POTENTIAL] = PAWL_ITEM_POTENTIAL,
      [PAWL_TERM_DISSIPATION] = PAWL_ITEM_DISSIPATION,
      [PAWL_TERM_FORCE] = PAWL_ITEM_FORCE,
  };
  for (int k = 0; k < s->model->term_count; k++) {
    const PawlTerm* term = &s->model->terms[k];
    PAWL_TRY(derive(s, kind_of[term->kind], term->target, term->node));
  }
  return PAWL_OK;
}

// Those that hold for good.
static PawlStatus derive_plain(PawlSymbols* s) {
  for (int c = 0; c < s->model->constraint_count; c++) {
    const PawlConstraint* k = &s->model->constraints[c];
    if (k->mode_count == 1 || k->triggered) {
      PAWL_TRY(derive_mode(s, k, k->triggered ? PAWL_MODE_HELD : 0));
    }
  }
  return PAWL_OK;
}

static PawlStatus derive_modes(PawlSymbols* s) {
  for (int c = 0; c < s->model->constraint_count; c++) {
    const PawlConstraint* k = &s->model->constraints[c];
    for (int m = 0; m < k->mode_count; m++) {
      s->in = k->mode_count > 1 ? (PawlSymbolMode){c, m} : always;
      PAWL_TRY(derive_mode(s, k, m));
    }
    if (k->switching->capacity != PAWL_NO_NODE) {
      PAWL_TRY(derive_friction(s, k));
    }
  }
  s->in = always;
  return PAWL_OK;
}

static PawlStatus derive_contacts(PawlSymbols* s) {
  const PawlModel* model = s->model;
  for (int k = 0; k < model->contact_count; k++) {
    const PawlContact* contact = &model->contacts[k];
    for (int i = 0; i < contact->slip_count; i++) {
      PAWL_TRY(
          derive(s, PAWL_ITEM_SLIP, model->row_count + contact->first_slip + i, contact->slip[i]));
    }
    PAWL_TRY(
        derive(s, PAWL_ITEM_CONSTRAINT, model->row_count + model->slip_count + k, contact->gap));
  }
  return PAWL_OK;
}

static PawlStatus derive_states(PawlSymbols* s) {
  for (int k = 0; k < s->model->state_count; k++) {
    const PawlStateDef* state = &s->model->states[k];
    if (state->rate != PAWL_NO_NODE) {
      PAWL_TRY(
          derive_node(s, PAWL_ITEM_UNIT, state->coordinate, pawl_dag_const(s->dag, 1.0)));  // (Z1)
      PAWL_TRY(derive(s, PAWL_ITEM_STATE, state->coordinate, state->rate));
    }
  }
  for (int k = 0; k < s->model->output_count; k++) {
    PAWL_TRY(derive(s, PAWL_ITEM_OUTPUT, k, s->model->outputs[k].node));
  }
  return PAWL_OK;
}

// ---- all ----------------------------------------------------------------------------------------
static int compare(const void* a, const void* b) {
  const PawlSymbol *x = a, *y = b;
  int by[] = {(int)x->quantity - (int)y->quantity, x->i - y->i, x->j - y->j,
              x->in.constraint - y->in.constraint, x->in.mode - y->in.mode};
  for (size_t k = 0; k < sizeof by / sizeof *by; k++) {
    if (by[k] != 0) {
      return by[k];
    }
  }
  return x->node - y->node;  // of one place: in the order derived
}

static bool same_place(const PawlSymbol* x, const PawlSymbol* y) {
  return x->quantity == y->quantity && x->i == y->i && x->j == y->j &&
         x->in.constraint == y->in.constraint && x->in.mode == y->in.mode;
}

// One item for each place, in normal form.
static PawlStatus unite(PawlSymbols* s) {
  int kept = 0;
  if (s->count > 0) {
    qsort(s->items, (size_t)s->count, sizeof *s->items, compare);
  }
  for (int k = 0; k < s->count; k++) {
    if (kept > 0 && same_place(&s->items[kept - 1], &s->items[k])) {
      PawlSymbol* last = &s->items[kept - 1];
      last->node = pawl_dag_add(s->dag, last->node, s->items[k].node);
    } else {
      s->items[kept++] = s->items[k];
    }
  }
  s->count = kept;
  for (int k = 0; k < kept; k++) {
    s->items[k].node = pawl_dag_normal(s->dag, s->items[k].node);
    if (s->items[k].node == PAWL_NO_NODE) {
      return PAWL_ERROR_MEMORY;
    }
  }
  return PAWL_OK;
}

PawlStatus pawl_symbols_derive(PawlSymbols* s, const PawlModel* model, bool all) {
  *s = (PawlSymbols){.model = model, .dag = pawl_dag_create(), .in = always};
  s->wanted = 1u << PAWL_Q_M | 1u << PAWL_Q_F | 1u << PAWL_Q_G | 1u << PAWL_Q_GRAD |
              1u << PAWL_Q_GT | 1u << PAWL_Q_GAMMA | 1u << PAWL_Q_ENERGY | 1u << PAWL_Q_OUTPUT;
  s->coordinate_count = model->coordinate_count + (all ? model->dynamic_count : 0);
  s->coordinates = pawl_alloc((size_t)s->coordinate_count, sizeof(int));
  if (!s->dag || !s->coordinates) {
    return PAWL_ERROR_MEMORY;
  }
  PAWL_TRY(pawl_model_complete(model, NULL));
  for (int k = 0; k < s->coordinate_count; k++) {
    s->coordinates[k] = k;
  }
  pawl_dag_share_tables(s->dag, model->dag);
  PAWL_TRY(derive_terms(s));
  if (all) {
    PAWL_TRY(derive_modes(s));
    PAWL_TRY(derive_contacts(s));
    PAWL_TRY(derive_states(s));
  } else {
    PAWL_TRY(derive_plain(s));
  }
  return unite(s);
}

void pawl_symbols_free(PawlSymbols* s) {
  pawl_dag_destroy(s->dag);
  pawl_free(s->items);
  pawl_free(s->coordinates);
  *s = (PawlSymbols){0};
}

const char* pawl_symbols_row(const PawlModel* model, int row, int* number) {
  int first_gap = model->row_count + model->slip_count;
  for (int c = 0; c < model->constraint_count && row < model->row_count; c++) {
    const PawlConstraint* k = &model->constraints[c];
    if (row >= k->first_row && row < k->first_row + k->row_count) {
      *number = row - k->first_row;
      return k->name;
    }
  }
  for (int c = 0; c < model->contact_count && row < first_gap; c++) {
    int slip = row - model->row_count - model->contacts[c].first_slip;
    if (slip >= 0 && slip < model->contacts[c].slip_count) {
      *number = slip + 1;
      return model->contacts[c].name;
    }
  }
  *number = 0;
  return row >= first_gap ? model->contacts[row - first_gap].name : "";
}
