// SPDX-License-Identifier: Apache-2.0
// The derived equations, written out for a reader: the same derivation as for numbers
// (pawl_derive_item), with the parameters as symbols, in normal form.
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "expr/normal.h"
#include "model/model.h"
#include "system/symbols.h"

typedef struct Writer {
  const PawlModel* model;
  PawlDag* dag;
  PawlStyle style;
  PawlText text;
  const PawlSymbols* symbols;
} Writer;

// ---- names --------------------------------------------------------------------------------------
static bool is_greek(const char* word, size_t length) {
  static const char* const letters[] = {
      "alpha",  "beta",  "gamma", "delta", "epsilon", "zeta",  "eta",   "theta",
      "iota",   "kappa", "mu",    "nu",    "xi",      "pi",    "rho",   "sigma",
      "tau",    "phi",   "chi",   "psi",   "omega",   "Gamma", "Delta", "Theta",
      "Lambda", "Xi",    "Pi",    "Sigma", "Phi",     "Psi",   "Omega", "lambda"};
  for (size_t k = 0; k < sizeof letters / sizeof *letters; k++) {
    if (strlen(letters[k]) == length && strncmp(word, letters[k], length) == 0) {
      return true;
    }
  }
  return false;
}

// Text for LaTeX outside of formulas: its special characters are escaped, letters beyond ASCII are
// left to inputenc, those that pdflatex does not know become a box.
static void latex_text(PawlText* out, const char* text) {
  for (const char* c = text; *c; c++) {
    if (strchr("_%&#{}$", *c)) {
      pawl_text_printf(out, "\\%c", *c);
    } else if (*c == '\\') {
      pawl_text_add(out, "\\textbackslash{}");
    } else if (*c == '^' || *c == '~') {
      pawl_text_printf(out, "\\%c{}", *c);
    } else {
      pawl_text_add_bytes(out, c, 1);
    }
  }
}

// theta -> \theta, q1 -> q_{1}, phi_0 -> \phi_{0}, u[3] -> u_{3}; `accent` goes on the letter
// alone.
static void latex_name(PawlText* out, const char* name, const char* accent) {
  size_t word = 0;
  while (name[word] && !isdigit((unsigned char)name[word]) && name[word] != '_' &&
         name[word] != '[') {
    word++;
  }
  word = word ? word : strlen(name);
  if (accent[0]) {
    pawl_text_printf(out, "%s{", accent);
  }
  bool greek = is_greek(name, word);
  pawl_text_add(out, greek ? "\\" : word > 1 ? "\\mathrm{" : "");
  pawl_text_add_bytes(out, name, word);
  pawl_text_add(out, !greek && word > 1 ? "}" : "");
  pawl_text_add(out, accent[0] ? "}" : "");
  const char* rest = name + word + strspn(name + word, "_[");
  size_t length = strcspn(rest, "]");
  if (length > 0) {
    pawl_text_add(out, "_{\\mathrm{");
    for (size_t k = 0; k < length; k++) {
      pawl_text_add_bytes(out, rest[k] == '_' || rest[k] == '[' ? "," : &rest[k], 1);
    }
    pawl_text_add(out, "}}");
  }
  pawl_text_add(out, greek ? " " : "");
}

// pin,2; of a contact foot, and foot,2 of its friction.
static void row_name(const PawlModel* model, PawlText* out, bool latex, int row) {
  int number;
  const char* name = pawl_symbols_row(model, row, &number);
  if (latex) {
    latex_text(out, name);
  } else {
    pawl_text_add(out, name);
  }
  if (row < model->row_count || number > 0) {
    pawl_text_printf(out, ",%d", number + 1);
  }
}

static void quaternion_name(const PawlModel* model, PawlText* out, bool latex, int index) {
  const PawlRotation* r = &model->rotations[pawl_model_rotation(model, index / 4)];
  const char* name = r->quaternion_names[index % 4];
  if (latex) {
    latex_name(out, name, "");
  } else {
    pawl_text_add(out, name);
  }
}

static void leaf_name(void* context, PawlText* out, PawlStyle style, PawlOp leaf, int index) {
  const PawlModel* model = context;
  bool latex = style == PAWL_STYLE_LATEX;
  static const char* const primes[] = {"", "'", "''"};
  static const char* const accents[] = {"", "\\dot", "\\ddot"};
  int order = leaf == PAWL_OP_V ? 1 : leaf == PAWL_OP_A ? 2 : 0;
  order -= leaf == PAWL_OP_A && index >= model->coordinate_count;  // of a state
  order -= order > 0 && pawl_model_spin(model, index) >= 0;        // an angular velocity
  switch ((PawlLeaf)leaf) {
    case PAWL_LEAF_TIME:
      pawl_text_add(out, "t");
      return;
    case PAWL_LEAF_LAMBDA:
      pawl_text_add(out, latex ? "\\lambda_{\\text{" : "lambda(");
      row_name(model, out, latex, index);
      pawl_text_add(out, latex ? "}}" : ")");
      return;
    case PAWL_LEAF_PARAM:
      if (latex) {
        latex_name(out, model->parameters[index].name, "");
      } else {
        pawl_text_add(out, model->parameters[index].name);
      }
      return;
    case PAWL_LEAF_TURN:  // of a piece
      pawl_text_add(out, "turn");
      return;
    case PAWL_LEAF_CONST:  // the printer writes numbers itself
      return;
    case PAWL_LEAF_INPUT:
      if (latex) {
        latex_name(out, model->inputs[index].name, "");
      } else {
        pawl_text_add(out, model->inputs[index].name);
      }
      return;
    case PAWL_LEAF_QUAT:
      quaternion_name(model, out, latex, index);
      return;
    case PAWL_LEAF_STATE:
    case PAWL_LEAF_Q:
    case PAWL_LEAF_V:
    case PAWL_LEAF_A:
      if (latex) {
        latex_name(out, model->coordinates[index].name, accents[order]);
      } else {
        pawl_text_printf(out, "%s%s", model->coordinates[index].name, primes[order]);
      }
  }
}

void pawl_model_print(PawlText* out, const PawlModel* model, PawlNode node) {
  pawl_dag_print(out, model->dag, node, PAWL_STYLE_TEXT, leaf_name, (void*)model);
}

// ---- writing ------------------------------------------------------------------------------------
static void put_expression(Writer* w, PawlNode node) {
  pawl_dag_print(&w->text, w->dag, node, w->style, leaf_name, (void*)w->model);
}

enum { MOST_ADDENDS = 200 };

// The addends of a sum, in order; returns their count, 0 when `node` is no sum.
static int split_sum(const Writer* w, PawlNode node, PawlNode* addend, bool* minus) {
  int count = 0;
  PawlDagNode n = *pawl_dag_node(w->dag, node);
  while ((n.op == PAWL_OP_ADD || n.op == PAWL_OP_SUB) && count < MOST_ADDENDS - 1) {
    addend[count] = n.arg[1];
    minus[count++] = n.op == PAWL_OP_SUB;
    node = n.arg[0];
    n = *pawl_dag_node(w->dag, node);
  }
  if (count == 0) {
    return 0;
  }
  addend[count] = node;
  minus[count++] = false;
  for (int k = 0; k < count / 2; k++) {
    PawlNode other = addend[k];
    bool sign = minus[k];
    addend[k] = addend[count - 1 - k];
    minus[k] = minus[count - 1 - k];
    addend[count - 1 - k] = other;
    minus[count - 1 - k] = sign;
  }
  return count;
}

static bool is_sum(const Writer* w, PawlNode node) {
  PawlOp op = pawl_dag_node(w->dag, node)->op;
  return op == PAWL_OP_ADD || op == PAWL_OP_SUB;
}

static void put_indent(Writer* w, int depth) {
  pawl_text_add(&w->text, w->style == PAWL_STYLE_LATEX ? " \\\\\n  &" : "\n    ");
  for (int k = 0; k <= depth; k++) {
    pawl_text_add(&w->text, w->style == PAWL_STYLE_LATEX ? "\\quad " : "    ");
  }
}

static void put_long(Writer* w, PawlNode node, int depth);

// A factor times a sum in brackets, the sum broken into lines. False when `node` is nothing like
// it.
static bool put_product(Writer* w, PawlNode node, int depth) {
  bool latex = w->style == PAWL_STYLE_LATEX;
  PawlDagNode n = *pawl_dag_node(w->dag, node);
  if (n.op == PAWL_OP_NEG) {
    PawlDagNode inner = *pawl_dag_node(w->dag, n.arg[0]);
    if (inner.op != PAWL_OP_MUL) {
      return false;
    }
    pawl_text_add(&w->text, "-");
    return put_product(w, n.arg[0], depth);
  }
  if (n.op != PAWL_OP_MUL || (!is_sum(w, n.arg[0]) && !is_sum(w, n.arg[1]))) {
    return false;
  }
  int sum = is_sum(w, n.arg[1]) ? 1 : 0;
  PawlOp other = pawl_dag_node(w->dag, n.arg[1 - sum])->op;
  bool brackets = other == PAWL_OP_ADD || other == PAWL_OP_SUB || other == PAWL_OP_NEG;
  pawl_text_add(&w->text, brackets ? "(" : "");
  put_expression(w, n.arg[1 - sum]);
  pawl_text_add(&w->text, brackets ? ")" : "");
  pawl_text_add(&w->text, latex ? "\\,\\bigl(" : "*(");
  put_long(w, n.arg[sum], depth + 1);
  pawl_text_add(&w->text, latex ? "\\bigr)" : ")");
  return true;
}

// An expression in lines: a long sum with one addend a line, also inside the brackets of a product.
static void put_long(Writer* w, PawlNode node, int depth) {
  enum { ONE_LINE = 90, LATEX_CHARACTERS = 200, DEEPEST = 6 };
  bool latex = w->style == PAWL_STYLE_LATEX;
  size_t before = w->text.length, limit = latex ? LATEX_CHARACTERS : ONE_LINE;
  put_expression(w, node);
  if (w->text.failed || w->text.length - before <= limit || depth > DEEPEST) {
    return;
  }
  size_t whole = w->text.length;
  PawlNode addend[MOST_ADDENDS];
  bool minus[MOST_ADDENDS];
  int count = split_sum(w, node, addend, minus);
  PawlOp op = pawl_dag_node(w->dag, node)->op;
  if (count == 0 && op != PAWL_OP_MUL && op != PAWL_OP_NEG) {
    return;
  }
  w->text.length = before;  // again, in parts
  if (count == 0 && !put_product(w, node, depth)) {
    w->text.length = whole;
    return;
  }
  for (int k = 0; k < count; k++) {
    if (k > 0) {
      put_indent(w, depth);
      pawl_text_add(&w->text, minus[k] ? "- " : "+ ");
    }
    PawlOp of = pawl_dag_node(w->dag, addend[k])->op;
    bool brackets = k > 0 && (of == PAWL_OP_ADD || of == PAWL_OP_SUB || of == PAWL_OP_NEG);
    pawl_text_add(&w->text, brackets ? "(" : "");
    put_long(w, addend[k], depth + 1);
    pawl_text_add(&w->text, brackets ? ")" : "");
  }
}

static void put_coordinate(Writer* w, int index) {
  leaf_name((void*)w->model, &w->text, w->style, PAWL_OP_Q, index);
}

// The left side: M[q1,q2], f[q1], G[pin,1; x].
static void put_symbol(Writer* w, const PawlSymbol* e) {
  static const char* const symbol[PAWL_QUANTITY_COUNT] = {
      [PAWL_Q_M] = "M",    [PAWL_Q_F] = "f",    [PAWL_Q_G] = "g",
      [PAWL_Q_GRAD] = "G", [PAWL_Q_GT] = "g_t", [PAWL_Q_GAMMA] = "gamma",
  };
  bool latex = w->style == PAWL_STYLE_LATEX;
  bool of_row = e->quantity == PAWL_Q_G || e->quantity == PAWL_Q_GRAD || e->quantity == PAWL_Q_GT ||
                e->quantity == PAWL_Q_GAMMA;
  if (e->quantity == PAWL_Q_ENERGY) {
    pawl_text_add(&w->text, e->i == 0 ? "T" : "V");
    return;
  }
  const char* name = symbol[e->quantity];
  pawl_text_add(&w->text, latex && name[0] == 'g' && name[1] == 'a' ? "\\gamma" : name);
  if (latex && e->quantity == PAWL_Q_GT) {
    w->text.length -= 3;
    pawl_text_add(&w->text, "\\partial_t g");
  }
  pawl_text_add(&w->text, latex ? "_{" : "[");
  if (of_row) {
    pawl_text_add(&w->text, latex ? "\\text{" : "");
    row_name(w->model, &w->text, latex, e->i);
    pawl_text_add(&w->text, latex ? "}" : "");
  } else {
    put_coordinate(w, e->i);
  }
  if (e->quantity == PAWL_Q_M || e->quantity == PAWL_Q_GRAD) {
    pawl_text_add(&w->text, of_row ? "; " : latex ? ", " : ",");
    put_coordinate(w, e->j);
  }
  pawl_text_add(&w->text, latex ? "}" : "]");
}

static void put_block(Writer* w, PawlQuantity quantity, const char* title) {
  bool latex = w->style == PAWL_STYLE_LATEX, any = false;
  for (int k = 0; k < w->symbols->count; k++) {
    const PawlSymbol* e = &w->symbols->items[k];
    if (e->quantity != quantity || (quantity == PAWL_Q_M && e->i > e->j)) {
      continue;
    }
    if (!any) {
      pawl_text_printf(&w->text, latex ? "\\paragraph{%s}\n\\begin{align*}\n" : "\n%s\n", title);
    } else if (latex) {
      pawl_text_add(&w->text, " \\\\\n");
    }
    any = true;
    pawl_text_add(&w->text, latex ? "  " : "    ");
    put_symbol(w, e);
    pawl_text_add(&w->text, latex ? " &= " : " = ");
    put_long(w, e->node, 0);
    pawl_text_add(&w->text, latex ? "" : "\n");
  }
  if (any && latex) {
    pawl_text_add(&w->text, "\n\\end{align*}\n");
  }
}

// ---- lines --------------------------------------------------------------------------------------
static bool is_latex(const Writer* w) {
  return w->style == PAWL_STYLE_LATEX;
}

static void put_words(Writer* w, const char* words) {
  if (is_latex(w)) {
    latex_text(&w->text, words);
  } else {
    pawl_text_add(&w->text, words);
  }
}

// "constraint pin, while engaged: ", up to end_line.
static void begin_line(Writer* w, const char* what, const char* name) {
  pawl_text_add(&w->text, is_latex(w) ? "\n\\noindent " : "\n");
  put_words(w, what);
  put_words(w, " ");
  put_words(w, name);
}

static void end_line(Writer* w) {
  pawl_text_add(&w->text, is_latex(w) ? "\\\\\n" : "\n");
}

static void put_sign(Writer* w, const char* latex, const char* text) {
  pawl_text_add(&w->text, is_latex(w) ? latex : text);
}

static void put_node(Writer* w, PawlDag* dag, PawlNode node) {
  pawl_dag_print(&w->text, dag, node, w->style, leaf_name, (void*)w->model);
}

// A node among words.
static void put_formula(Writer* w, PawlNode node) {
  put_sign(w, "$", "");
  put_node(w, w->model->dag, node);
  put_sign(w, "$", "");
}

// g = a - b is written a = b.
static void put_equation(Writer* w, PawlDag* dag, PawlNode g) {
  PawlDagNode node = *pawl_dag_node(dag, g);
  bool sides = node.op == PAWL_OP_SUB;
  put_sign(w, "$", "");
  put_node(w, dag, sides ? node.arg[0] : g);
  pawl_text_add(&w->text, " = ");
  if (sides) {
    put_node(w, dag, node.arg[1]);
  } else {
    pawl_text_add(&w->text, "0");
  }
  put_sign(w, "$", "");
}

// As written in the model, in LaTeX as it was understood.
static void put_row(Writer* w, const PawlRow* row, bool is_lock) {
  if (!is_latex(w)) {
    pawl_text_add(&w->text, row->source.text ? row->source.text : "");
  } else if (is_lock) {
    put_formula(w, row->node);
  } else {
    put_equation(w, w->model->dag, row->node);
  }
}

static void put_mode(Writer* w, const PawlConstraint* c, const PawlMode* mode) {
  for (int r = 0; r < mode->row_count || (r == 0 && mode->row_count == 0); r++) {
    begin_line(w, "constraint", c->name);
    put_words(w, ", mode ");
    put_words(w, mode->name ? mode->name : "");
    if (mode->where != PAWL_NO_NODE) {
      put_words(w, " where ");
      put_formula(w, mode->where);
    }
    put_words(w, ": ");
    if (mode->row_count == 0) {
      put_words(w, "no equation");
    } else {
      put_row(w, &mode->rows[r], false);
    }
    end_line(w);
  }
}

// ---- pieces -------------------------------------------------------------------------------------
// The nodes of the model with the kinks of constraints as the branches of these turns.
static int map_piece(Writer* w, const PawlSystem* system, const int* turns, PawlNode* map) {
  const PawlDag* from = w->model->dag;
  int failed = 0;
  for (int k = 0; k < pawl_dag_count(from); k++) {
    PawlDagNode n = *pawl_dag_node(from, k);
    PawlNode arg[3] = {PAWL_NO_NODE, PAWL_NO_NODE, PAWL_NO_NODE};
    int turn = 0;
    for (int a = 0; a < pawl_op_operands(n.op); a++) {
      arg[a] = map[n.arg[a]];
    }
    while (turn < system->turn_count && system->turns[turn].node != k) {
      turn++;
    }
    map[k] = turn < system->turn_count
                 ? pawl_kink_branch(w->dag, &n, arg,
                                    system->turns[turn].counts
                                        ? pawl_dag_leaf(w->dag, PAWL_OP_TURN, turn)
                                        : pawl_dag_const(w->dag, turns[turn]))
             : n.op == PAWL_OP_CONST ? pawl_dag_const(w->dag, n.value)
             : pawl_op_is_leaf(n.op) ? pawl_dag_leaf(w->dag, n.op, n.index)
                                     : pawl_dag_rebuild(w->dag, &n, arg);
    failed |= map[k] == PAWL_NO_NODE;
  }
  return failed;
}

static void put_piece(Writer* w, const PawlSystem* system, int c, const int* modes,
                      const PawlNode* map) {
  const PawlMode* mode = &w->model->constraints[c].modes[modes[c]];
  char room[200];
  for (int r = 0; r < mode->row_count; r++) {
    begin_line(w, "constraint", w->model->constraints[c].name);
    put_words(w, " where ");
    put_words(w, pawl_system_mode_name(system, c, modes, room, sizeof room));
    put_sign(w, ": $", ": ");
    PawlNode g = pawl_dag_normal(w->dag, map[mode->rows[r].node]);
    if (g != PAWL_NO_NODE) {
      put_node(w, w->dag, g);
    }
    put_sign(w, " = 0$", " = 0");
    end_line(w);
  }
}

// The pieces of a plain constraint with kinks: all sides of the first few, of the others one.
static PawlStatus put_pieces(Writer* w, const PawlSystem* system, int c) {
  enum { MOST_SIDES = 4 };
  int sides[MOST_SIDES], count = 0;
  int* modes = pawl_alloc((size_t)system->sizes.modes, sizeof(int));
  PawlNode* map = pawl_alloc((size_t)pawl_dag_count(w->model->dag), sizeof(PawlNode));
  PawlStatus status = modes && map ? PAWL_OK : PAWL_ERROR_MEMORY;
  for (int k = 0; k < system->turn_count && count < MOST_SIDES; k++) {
    if (pawl_system_uses_turn(system, k, c, 0) && !system->turns[k].counts) {
      sides[count++] = k;
    }
  }
  for (unsigned piece = 0; status == PAWL_OK && count > 0 && piece < 1u << count; piece++) {
    for (int k = 0; k < count; k++) {
      modes[system->constraint_count + sides[k]] = piece >> k & 1u ? 1 : -1;
    }
    status =
        map_piece(w, system, modes + system->constraint_count, map) ? PAWL_ERROR_MEMORY : PAWL_OK;
    if (status == PAWL_OK) {
      put_piece(w, system, c, modes, map);
    }
  }
  pawl_free(modes);
  pawl_free(map);
  return status;
}

// Of a model that cannot be simulated nothing is said.
static PawlStatus put_kinks(Writer* w) {
  PawlSystem* system = NULL;
  PawlStatus status = pawl_system_create(w->model, &system, NULL);
  if (status != PAWL_OK) {
    return status == PAWL_ERROR_MEMORY ? status : PAWL_OK;
  }
  for (int c = 0; status == PAWL_OK && c < w->model->constraint_count; c++) {
    if (w->model->constraints[c].mode_count == 1) {
      status = put_pieces(w, system, c);
    }
  }
  pawl_system_destroy(system);
  return status;
}

// A lock, or a constraint that engages and lets go.
static void put_triggered(Writer* w, const PawlConstraint* c) {
  const char* what = c->is_lock ? "lock" : "constraint";
  const PawlMode* mode = &c->modes[PAWL_MODE_HELD];
  for (int r = 0; r < mode->row_count; r++) {
    begin_line(w, what, c->name);
    put_words(w, !c->is_lock  ? ", while engaged: "
                 : mode->rate ? ", while locked: "
                 : c->on_engage == PAWL_ENGAGE_KEEP
                     ? ", while locked held at the value that it engages with: "
                     : ", while locked held at the value of to: ");
    put_row(w, &mode->rows[r], c->is_lock && !mode->rate);
    end_line(w);
  }
  if (c->switching->capacity != PAWL_NO_NODE) {
    begin_line(w, what, c->name);
    put_words(w, ", while sliding the force: ");
    put_sign(w, "$-\\operatorname{sign}(\\text{rate})\\,G^T$ times ", "-sign(rate) G^T times ");
    put_formula(w, c->switching->friction);
    end_line(w);
  }
}

static void put_states(Writer* w) {
  const PawlModel* model = w->model;
  for (int k = 0; k < model->state_count; k++) {
    const PawlStateDef* state = &model->states[k];
    begin_line(w, "state", state->name);
    put_words(w, ": ");
    put_words(w, state->name);
    put_words(w, "' = ");
    if (state->rate == PAWL_NO_NODE) {
      put_words(w, "0, between events");
    } else {
      put_formula(w, state->rate);
    }
    end_line(w);
  }
}

static void put_friction(Writer* w, const PawlContact* contact) {
  if (contact->slip_count == 0) {
    return;
  }
  put_words(w, ", friction ");
  if (contact->friction != PAWL_NO_NODE) {
    put_formula(w, contact->friction);
    return;
  }
  pawl_text_number(&w->text, contact->sticks);
  if (contact->slides != contact->sticks) {
    put_words(w, " at rest, ");
    pawl_text_number(&w->text, contact->slides);
    put_words(w, " sliding");
  }
}

static void put_contact(Writer* w, const PawlContact* contact) {
  begin_line(w, "contact", contact->name);
  put_words(w, ": gap ");
  put_formula(w, contact->gap);
  put_sign(w, " $\\ge 0$, restitution ", " >= 0, restitution ");
  pawl_text_number(&w->text, contact->restitution);
  for (int k = 0; k < contact->slip_count; k++) {
    put_words(w, k == 0 ? ", slip " : " and ");
    put_formula(w, contact->slip[k]);
  }
  put_friction(w, contact);
  end_line(w);
}

// What holds only at times: constraints with modes, with switching, locks, contacts.
static void put_switching(Writer* w) {
  const PawlModel* model = w->model;
  for (int c = 0; c < model->constraint_count; c++) {
    const PawlConstraint* k = &model->constraints[c];
    if (k->triggered) {
      put_triggered(w, k);
    }
    for (int m = 0; m < k->mode_count && k->mode_count > 1 && !k->triggered; m++) {
      put_mode(w, k, &k->modes[m]);
    }
  }
  for (int k = 0; k < model->contact_count; k++) {
    put_contact(w, &model->contacts[k]);
  }
}

static bool has_rates(const PawlModel* model) {
  for (int c = 0; c < model->constraint_count; c++) {
    for (int m = 0; m < model->constraints[c].mode_count; m++) {
      if (model->constraints[c].modes[m].rate) {
        return true;
      }
    }
  }
  return false;
}

// Those that hold all the time; the others are in the lists of modes and of what engages.
static void put_rates(Writer* w) {
  for (int c = 0; c < w->model->constraint_count; c++) {
    const PawlConstraint* k = &w->model->constraints[c];
    const PawlMode* mode = &k->modes[0];
    for (int r = 0; k->mode_count == 1 && mode->rate && r < mode->row_count; r++) {
      begin_line(w, "rate equation", k->name);
      put_words(w, ": ");
      put_row(w, &mode->rows[r], false);
      end_line(w);
    }
  }
}

static void put_head(Writer* w) {
  const PawlModel* model = w->model;
  if (w->style == PAWL_STYLE_LATEX) {
    pawl_text_add(&w->text,
                  "\\documentclass{article}\n\\usepackage{amsmath}\n"
                  "\\usepackage[utf8]{inputenc}\n\\usepackage[T1]{fontenc}\n"
                  "\\usepackage[margin=2cm]{geometry}\n\\begin{document}\n");
    pawl_text_add(&w->text, "\\section*{Equations of motion: ");
    latex_text(&w->text, model->name);
    pawl_text_add(&w->text, "}\n");
    pawl_text_add(&w->text,
                  "\\[ M(q)\\,\\ddot q = f(q, \\dot q, t) + G(q,t)^T \\lambda, \\qquad "
                  "g(q,t) = 0, \\qquad G = \\partial g/\\partial q \\]\n");
    pawl_text_add(&w->text, has_rates(model)
                                ? "\\[ A(q,t)\\,\\dot q + b(q,t) = 0, \\qquad G = A, "
                                  "\\qquad g_t = b \\quad\\text{of rate equations} \\]\n"
                                : "");
    pawl_text_add(&w->text, "$M$ is symmetric; entries not listed are zero.\n");
    return;
  }
  pawl_text_printf(&w->text,
                   "%s: M q'' = f + G^T lambda, g = 0%s\n\n"
                   "M is symmetric; entries not listed are zero.\nparameters:",
                   model->name, has_rates(model) ? ", A q' + b = 0" : "");
  for (int k = 0; k < model->parameter_count; k++) {
    pawl_text_printf(&w->text, "%s %s = ", k ? "," : "", model->parameters[k].name);
    pawl_text_number(&w->text, model->parameters[k].value);
  }
  pawl_text_add(&w->text, model->parameter_count ? "\n" : " none\n");
}

static PawlStatus write_all(Writer* w) {
  bool rates = has_rates(w->model);
  put_head(w);
  put_block(w, PAWL_Q_ENERGY, "Energies: kinetic T, potential V");
  put_block(w, PAWL_Q_M, "Mass matrix M");
  put_block(w, PAWL_Q_F, "Forces f");
  put_block(w, PAWL_Q_G, "Constraints g = 0");
  put_block(w, PAWL_Q_GRAD,
            rates ? "Gradient G = dg/dq, of rate equations G = A" : "Gradient G = dg/dq");
  put_block(
      w, PAWL_Q_GT,
      rates ? "Time gradient g_t = dg/dt, of rate equations g_t = b" : "Time gradient g_t = dg/dt");
  put_block(w, PAWL_Q_GAMMA, "Acceleration bias gamma: G q'' + gamma = 0");
  put_rates(w);
  put_states(w);
  put_switching(w);
  PAWL_TRY(put_kinks(w));
  if (w->style == PAWL_STYLE_LATEX) {
    pawl_text_add(&w->text, "\\end{document}\n");
  }
  return PAWL_OK;
}

PawlStatus pawl_model_equations(const PawlModel* model, bool latex, char** out, PawlError* err) {
  *out = NULL;
  if (model->coordinate_count > PAWL_EQUATIONS_MOST) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "%s has %d coordinates; equations are written out for at most %d. Try a "
                     "smaller family, such as -p N=3",
                     model->name, model->coordinate_count, PAWL_EQUATIONS_MOST);
  }
  PAWL_TRY(pawl_model_complete(model, err));
  PawlSymbols symbols;
  PawlStatus status = pawl_symbols_derive(&symbols, model, false);
  Writer w = {.model = model,
              .dag = symbols.dag,
              .symbols = &symbols,
              .style = latex ? PAWL_STYLE_LATEX : PAWL_STYLE_TEXT};
  if (status == PAWL_OK) {
    status = write_all(&w);
  }
  pawl_symbols_free(&symbols);
  if (status != PAWL_OK || w.text.failed) {
    pawl_text_free(&w.text);
    return pawl_fail_memory(err);
  }
  *out = w.text.s;
  return PAWL_OK;
}

void pawl_string_free(char* text) {
  pawl_free(text);
}
