// SPDX-License-Identifier: Apache-2.0
// `constraints:` (plain, and with modes) and `locks:`. Their equations are read here; what makes
// them engage and let go is read by switching.c once the outputs are known.
#include <string.h>

#include "base/alloc.h"
#include "model/loader.h"

static const PawlUse equation_use = {
    "a constraint", PAWL_MAY_Q | PAWL_MAY_T | PAWL_MAY_WAIT | PAWL_MAY_KEPT,
    "a constraint between rates is written with rate:, as in {rate: \"x' = 2*y'\"}"};
static const PawlUse rate_use = {
    "a rate equation", PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_T | PAWL_MAY_WAIT,
    "it is linear in the rates, with coefficients of coordinates and t"};
static const PawlUse where_use = {
    "the region of a mode", PAWL_MAY_Q | PAWL_MAY_T,
    "what rates, states and inputs decide on is written with when: and release:"};

static const char* const body_keys[] = {"equation", "rate",     "impact",   "modes",    "start",
                                        "engaged",  "at",       "release",  "when",     "direction",
                                        "after",    "for",      "capacity", "friction", "smooth",
                                        "on",       "assemble", "set",      NULL};
static const char* const lock_keys[] = {
    "lock",      "rate",  "on",  "to",       "impact",   "engaged", "at",      "release", "when",
    "direction", "after", "for", "capacity", "friction", "smooth",  "part_of", NULL};

// ---- equations ------------------------------------------------------------------------------

typedef struct Rows {  // gathered for one mode
  PawlRow* row;
  int count, capacity;
} Rows;

// One row for each number of the equation.
static bool add_rows(PawlLoader* loader, PawlYaml* text, const PawlMatrix* g, Rows* rows) {
  int count = pawl_matrix_count(g);
  PawlMember member;
  if (!pawl_member(loader, loader->built, -1, &member)) {
    return false;
  }
  if (PAWL_GROW(rows->row, rows->capacity, rows->count + count) != 0) {
    return pawl_loader_no_memory(loader);
  }
  for (int k = 0; k < count; k++) {
    member.part = k;
    rows->row[rows->count++] = (PawlRow){g->at[k], member, pawl_loader_source(loader, text)};
  }
  return true;
}

static bool load_equation(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, bool rate,
                          Rows* rows) {
  PawlMatrix g;
  if (!pawl_equation(loader, text, scope, rate ? &rate_use : &equation_use, &g)) {
    return false;
  }
  const PawlAst* left = text->parsed->left;
  if (left->kind == PAWL_AST_COMPARE && !text->parsed->right) {
    pawl_report(&loader->report, text,
                "'%s' is a comparison; expected an equation such as y = 0 (one = sign)",
                pawl_quote(text->text).s);
    text->parsed->failed = true;
    return false;
  }
  for (int k = 0; rate && k < pawl_matrix_count(&g); k++) {
    if (g.at[k] != PAWL_LATER && !pawl_rate_is_linear(loader, text, "rate", g.at[k])) {
      text->parsed->failed = true;
      return false;
    }
  }
  return add_rows(loader, text, &g, rows);
}

static bool is_none(const PawlYaml* equations) {
  return !equations || pawl_yaml_is_null(equations) ||
         (equations->kind == PAWL_YAML_SCALAR && strcmp(equations->text, "none") == 0);
}

// One equation, a list of them, or none.
static bool load_rows(PawlLoader* loader, PawlYaml* equations, const PawlScope* scope,
                      PawlMode* mode) {
  if (is_none(equations)) {
    return true;
  }
  if (equations->kind == PAWL_YAML_MAP) {
    pawl_report(&loader->report, equations, "expected an equation or a list of equations");
    return false;
  }
  bool list = equations->kind == PAWL_YAML_LIST, good = true;
  Rows rows = {0};
  for (PawlYaml* child = list ? equations->first : equations; child;
       child = list ? child->next : NULL) {
    good &= load_equation(loader, child, scope, mode->rate, &rows);
  }
  mode->row_count = rows.count;
  mode->rows = pawl_loader_parts(loader, equations, rows.count, sizeof *mode->rows);
  if (mode->rows && rows.count > 0) {
    memcpy(mode->rows, rows.row, (size_t)rows.count * sizeof *rows.row);
  }
  pawl_free(rows.row);
  return good && mode->rows;
}

static bool new_modes(PawlLoader* loader, const PawlYaml* where, int count,
                      PawlConstraint* constraint) {
  constraint->modes = pawl_loader_parts(loader, where, count, sizeof *constraint->modes);
  constraint->mode_count = count;
  for (int k = 0; constraint->modes && k < count; k++) {
    constraint->modes[k].where = PAWL_NO_NODE;
  }
  return constraint->modes != NULL;
}

static bool load_plain(PawlLoader* loader, PawlYaml* equations, bool rate, const PawlScope* scope,
                       PawlConstraint* constraint) {
  if (is_none(equations) || (equations->kind == PAWL_YAML_LIST && equations->count == 0)) {
    pawl_report_at(&loader->report, constraint->source.line, constraint->source.column,
                   "the constraint '%s' has no equation", pawl_quote(constraint->name).s);
    return false;
  }
  if (!new_modes(loader, equations, 1, constraint)) {
    return false;
  }
  constraint->modes[0].source = constraint->source;
  constraint->modes[0].rate = rate;
  bool good = load_rows(loader, equations, scope, constraint->modes);
  constraint->row_count = constraint->modes[0].row_count;
  return good;
}

// ---- modes ----------------------------------------------------------------------------------

static bool is_comparison(const PawlAst* ast) {
  return ast->kind == PAWL_AST_COMPARE ||
         (ast->kind == PAWL_AST_OPERATE &&
          (ast->op == PAWL_OP_AND || ast->op == PAWL_OP_OR || ast->op == PAWL_OP_NOT));
}

static bool load_where(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, PawlNode* node) {
  const PawlAst* ast = pawl_parse(loader, text, scope);
  if (!ast) {
    return false;
  }
  if (!is_comparison(ast)) {
    pawl_report(&loader->report, text, "where: '%s': expected a comparison such as x < l",
                pawl_quote(text->text).s);
    text->parsed->failed = true;
    return false;
  }
  return pawl_expression(loader, text, scope, &where_use, node);
}

static bool load_mode(PawlLoader* loader, PawlYaml* body, const PawlScope* scope, PawlMode* mode) {
  static const char* const keys[] = {"where", "equation", "rate", NULL};
  mode->source = pawl_loader_source(loader, body->key);
  mode->name = mode->source.text;
  if (!mode->name) {
    return false;
  }
  if (body->kind != PAWL_YAML_MAP) {
    return load_rows(loader, body, scope, mode);
  }
  bool good = pawl_yaml_check_keys(&loader->report, body, "a mode", keys);
  PawlYaml* where = pawl_yaml_get(body, "where");
  if (where) {
    good &= load_where(loader, where, scope, &mode->where);
  }
  PawlYaml *equation = pawl_yaml_get(body, "equation"), *rate = pawl_yaml_get(body, "rate");
  if (equation && rate) {
    pawl_report(&loader->report, rate->key, "a mode has either equation: or rate:");
    return false;
  }
  mode->rate = rate != NULL;
  return load_rows(loader, rate ? rate : equation, scope, mode) && good;
}

static bool find_start(PawlLoader* loader, const PawlYaml* start, PawlConstraint* constraint) {
  if (!start) {
    return true;
  }
  const char* wanted = start->kind == PAWL_YAML_SCALAR ? start->text : "";
  PawlNearest nearest = {.wanted = wanted};
  for (int k = 0; k < constraint->mode_count; k++) {
    if (strcmp(constraint->modes[k].name, wanted) == 0) {
      constraint->start_mode = k;
      return true;
    }
    pawl_nearest_offer(&nearest, constraint->modes[k].name);
  }
  pawl_report(&loader->report, start, "start: '%s' is not a mode of '%s'%s", pawl_quote(wanted).s,
              pawl_quote(constraint->name).s, pawl_did_you_mean(nearest.name).s);
  return false;
}

static bool check_regions(PawlLoader* loader, const PawlYaml* modes,
                          const PawlConstraint* constraint) {
  const PawlYaml* child = modes->first;
  for (int k = 0; k < constraint->mode_count; k++, child = child->next) {
    if (constraint->modes[k].where == PAWL_NO_NODE && constraint->start_mode < 0) {
      pawl_report(&loader->report, child->key,
                  "the mode '%s' has no where:, so the constraint needs start: to say in which "
                  "mode it begins",
                  pawl_quote(constraint->modes[k].name).s);
      return false;
    }
  }
  return true;
}

static bool load_modes(PawlLoader* loader, PawlYaml* body, PawlYaml* modes, const PawlScope* scope,
                       PawlConstraint* constraint) {
  if (modes->kind != PAWL_YAML_MAP || modes->count == 0) {
    pawl_report(&loader->report, modes, "modes: expected a map, mode: {where: ..., equation: ...}");
    return false;
  }
  if (!new_modes(loader, modes, modes->count, constraint)) {
    return false;
  }
  bool good = true;
  PawlMode* mode = constraint->modes;
  for (PawlYaml* child = modes->first; child; child = child->next, mode++) {
    good &= load_mode(loader, child, scope, mode);
    if (mode->row_count > constraint->row_count) {
      constraint->row_count = mode->row_count;
    }
  }
  if (good && constraint->row_count == 0) {
    pawl_report(&loader->report, modes, "no mode of '%s' has an equation",
                pawl_quote(constraint->name).s);
    return false;
  }
  return good && find_start(loader, pawl_yaml_get(body, "start"), constraint) &&
         check_regions(loader, modes, constraint);
}

// ---- bodies ---------------------------------------------------------------------------------

bool pawl_model_impact_word(const char* word, double* impact) {
  static const struct {
    const char* word;
    double value;
  } laws[] = {{"post", 1.0}, {"pre", 0.0}, {"bisector", 0.5}};
  for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
    if (strcmp(word, laws[k].word) == 0) {
      *impact = laws[k].value;
      return true;
    }
  }
  return false;
}

static bool load_impact(PawlLoader* loader, PawlYaml* text, const PawlScope* scope,
                        PawlConstraint* constraint) {
  if (!text) {
    return true;
  }
  constraint->impact_given = true;
  if (text->kind == PAWL_YAML_SCALAR) {
    if (pawl_model_impact_word(text->text, &constraint->impact)) {
      return true;
    }
    constraint->impact_none = strcmp(text->text, "none") == 0;
    if (constraint->impact_none) {
      return true;
    }
  }
  if (!pawl_value(loader, text, scope, &constraint->impact)) {
    return false;
  }
  if (constraint->impact < 0.0 || constraint->impact > 1.0) {
    pawl_report(&loader->report, text,
                "impact = %g; expected post, pre, bisector, none or a number in [0, 1]",
                constraint->impact);
    return false;
  }
  return true;
}

static bool refuse_switching(PawlLoader* loader, const PawlYaml* body) {
  const PawlYaml* given = pawl_switching_given(body);
  if (given) {
    pawl_report(&loader->report, given->key,
                "'%s' cannot be combined with modes:", given->key->text);
  }
  return !given;
}

// What engaging does where the equation does not hold: a lock keeps what it finds.
static bool load_on(PawlLoader* loader, const PawlYaml* body, PawlConstraint* constraint) {
  static const char* const words[] = {"keep", "snap", "refuse", NULL};
  const PawlYaml* on = pawl_yaml_get(body, "on");
  constraint->on_engage = constraint->is_lock ? PAWL_ENGAGE_KEEP : PAWL_ENGAGE_REFUSE;
  if (on) {
    int word = pawl_load_word(loader, on, "on:", words);
    if (word < 0) {
      return false;
    }
    constraint->on_engage = (PawlEngage)word;
  }
  return true;
}

// Of a rate equation.
static bool refuse_values(PawlLoader* loader, const PawlYaml* body) {
  const PawlYaml *on = pawl_yaml_get(body, "on"), *to = pawl_yaml_get(body, "to");
  const PawlYaml* given = on ? on : to;
  if (given) {
    pawl_report(&loader->report, given->key,
                "%s: is for equations of coordinates; a rate equation has no value to keep or to "
                "snap to",
                given->key->text);
  }
  return !given;
}

static bool load_body(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                      PawlConstraint* constraint) {
  if (body->kind != PAWL_YAML_MAP) {
    return load_plain(loader, body, false, scope, constraint);
  }
  bool good = pawl_yaml_check_keys(&loader->report, body, "a constraint", body_keys);
  good &= load_impact(loader, pawl_yaml_get(body, "impact"), scope, constraint);
  PawlYaml *equation = pawl_yaml_get(body, "equation"), *modes = pawl_yaml_get(body, "modes");
  PawlYaml* rate = pawl_yaml_get(body, "rate");
  const PawlYaml* start = pawl_yaml_get(body, "start");
  if ((equation && modes) || (rate && (equation || modes))) {
    pawl_report(&loader->report, modes ? modes->key : rate->key,
                "a constraint has either equation:, rate: or modes:");
    return false;
  }
  if (rate && !refuse_values(loader, body)) {
    return false;
  }
  if (modes) {
    return load_modes(loader, body, modes, scope, constraint) && refuse_switching(loader, body) &&
           good;
  }
  if (start) {
    pawl_report(&loader->report, start->key, "start: is for a constraint with modes:");
    good = false;
  }
  return load_on(loader, body, constraint) && good &&
         load_plain(loader, rate ? rate : equation, rate != NULL, scope, constraint);
}

static bool load_snap(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                      PawlConstraint* lock) {
  PawlYaml* to = pawl_yaml_get(body, "to");
  if (!load_on(loader, body, lock)) {
    return false;
  }
  if (!to) {
    return true;
  }
  if (lock->on_engage == PAWL_ENGAGE_KEEP) {
    pawl_report(&loader->report, to->key, "to: needs on: snap or on: refuse");
    return false;
  }
  PawlUse use = equation_use;
  use.may &= ~(unsigned)(PAWL_MAY_WAIT | PAWL_MAY_KEPT);
  return pawl_expression(loader, to, scope, &use, &lock->snap_to);
}

static int is_coordinate(void* context, PawlOp leaf, int index) {
  (void)context;
  (void)index;
  return leaf == PAWL_OP_Q || leaf == PAWL_OP_QUAT;
}

// `lock: expression`: what it holds must be able to move.
static bool load_held(PawlLoader* loader, PawlYaml* text, const PawlScope* scope,
                      PawlConstraint* lock) {
  if (!load_plain(loader, text, false, scope, lock)) {
    return false;
  }
  if (lock->row_count != 1) {
    pawl_report(&loader->report, text, "lock: '%s' is a vector of %d; a lock holds one number",
                pawl_quote(text->text).s, lock->row_count);
    return false;
  }
  PawlRow* row = lock->modes[0].rows;
  PawlNode node = pawl_model_node(loader->model, &row->node, row->member);
  if (node == PAWL_NO_NODE) {
    return pawl_loader_no_memory(loader);
  }
  if (pawl_dag_leaves(loader->model->dag, node, is_coordinate, NULL) == 0) {
    pawl_report(&loader->report, text,
                "lock: '%s' depends on no coordinate, so there is nothing to hold",
                pawl_quote(text->text).s);
    return false;
  }
  return true;
}

static bool load_lock(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                      PawlConstraint* lock) {
  lock->is_lock = true;
  if (body->kind != PAWL_YAML_MAP) {
    pawl_report(&loader->report, body, "a lock is a map: {lock: expression, ...}");
    return false;
  }
  bool good = pawl_yaml_check_keys(&loader->report, body, "a lock", lock_keys);
  good &= load_impact(loader, pawl_yaml_get(body, "impact"), scope, lock);
  PawlYaml *held = pawl_yaml_get(body, "lock"), *rate = pawl_yaml_get(body, "rate");
  PawlYaml* text = held ? held : rate;
  if (!text || (held && rate)) {
    pawl_report(&loader->report, rate ? rate->key : body,
                "the lock '%s' needs lock: with the expression to hold, or rate: with an equation "
                "of rates",
                pawl_quote(lock->name).s);
    return false;
  }
  if (text->kind == PAWL_YAML_LIST) {
    pawl_report(&loader->report, text, "%s: expected one expression", text->key->text);
    return false;
  }
  if (rate) {
    return refuse_values(loader, body) && load_on(loader, body, lock) &&
           load_plain(loader, rate, true, scope, lock) && good;
  }
  return load_snap(loader, body, scope, lock) && load_held(loader, held, scope, lock) && good;
}

// ---- adding ---------------------------------------------------------------------------------

static bool note_switching(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  if (PAWL_GROW(loader->switching, loader->switching_capacity, loader->switching_count + 1) != 0) {
    return pawl_loader_no_memory(loader);
  }
  PawlSwitchingTask* task = &loader->switching[loader->switching_count++];
  *task = (PawlSwitchingTask){
      .constraint = loader->model->constraint_count, .key = entry->key, .body = entry->value};
  memcpy(task->index, at->value, sizeof task->index);
  return true;
}

static bool count_rows(PawlLoader* loader, const PawlYaml* where, PawlConstraint* constraint) {
  PawlModel* model = loader->model;
  constraint->first_row = model->row_count;
  if (constraint->row_count > PAWL_MODEL_MAX_ELEMENTS - model->row_count) {
    pawl_report(&loader->report, where, "the constraints have more than %d rows",
                PAWL_MODEL_MAX_ELEMENTS);
    return false;
  }
  model->row_count += constraint->row_count;
  return true;
}

// Of its own for what switches.
static PawlSwitching* new_switching(PawlLoader* loader, bool switches) {
  if (!switches && loader->no_switching) {
    return loader->no_switching;
  }
  PawlSwitching* made = pawl_pool_alloc(&loader->kept, sizeof *made);
  if (!made) {
    pawl_loader_no_memory(loader);
    return NULL;
  }
  *made = (PawlSwitching){.engaged = true,
                          .engage = {.when = PAWL_NO_NODE},
                          .release = {.when = PAWL_NO_NODE},
                          .capacity = PAWL_NO_NODE,
                          .friction = PAWL_NO_NODE};
  loader->no_switching = switches ? loader->no_switching : made;
  return made;
}

static int add(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at, bool is_lock) {
  PawlModel* model = loader->model;
  if (!PAWL_ROOM(loader, entry->key, model->constraints, loader->constraint_capacity,
                 model->constraint_count)) {
    return -1;
  }
  bool switches = entry->value->kind == PAWL_YAML_MAP && !pawl_yaml_get(entry->value, "modes");
  PawlConstraint constraint = {
      .name = pawl_declared_name(loader, entry, at),
      .impact = 1.0,
      .start_mode = -1,
      .snap_to = PAWL_NO_NODE,
      .switching = new_switching(loader, switches),
      .source = pawl_loader_source(loader, entry->key),
  };
  if (!constraint.name || !constraint.switching) {
    return -1;
  }
  bool good = is_lock ? load_lock(loader, entry->value, &at->scope, &constraint)
                      : load_body(loader, entry->value, &at->scope, &constraint);
  if (!good || !count_rows(loader, entry->key, &constraint) ||
      (switches && !note_switching(loader, entry, at))) {
    return -1;
  }
  model->constraints[model->constraint_count] = constraint;
  return model->constraint_count++;
}

static int add_constraint(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  return add(loader, entry, at, false);
}

static int add_lock(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  return add(loader, entry, at, true);
}

void pawl_load_constraints(PawlLoader* loader, PawlYaml* constraints, PawlYaml* locks) {
  PawlEntries plain = {0}, locked = {0};
  if (pawl_expect_map(loader, constraints, "constraints")) {
    pawl_claim(loader, constraints, &loader->constraints, NULL, PAWL_NAME_CONSTRAINT, &plain);
  }
  if (pawl_expect_map(loader, locks, "locks")) {
    pawl_claim(loader, locks, &loader->constraints, NULL, PAWL_NAME_CONSTRAINT, &locked);
  }
  pawl_fill(loader, &plain, add_constraint);
  pawl_fill(loader, &locked, add_lock);
}
