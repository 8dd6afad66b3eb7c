// SPDX-License-Identifier: Apache-2.0
// A model as a file of C that stands alone: its equations of motion as functions of numbers, with
// the names of the model.
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "expr/table_inside.h"
#include "model/model.h"
#include "system/source_body.h"

typedef struct Writer {
  const PawlModel* model;
  PawlSymbols symbols;
  PawlCNames names;
  PawlText functions;  // written before the head is, which has what they use
  PawlText text;
  PawlNode* roots;  // room for all symbols
  bool helpers[PAWL_OP_COUNT];
  bool* tables;
} Writer;

static int velocity_count(const Writer* w) {
  return w->model->coordinate_count + w->model->dynamic_count;
}

static int row_count(const Writer* w) {
  return w->model->row_count + w->model->slip_count + w->model->contact_count;
}

// ---- functions ----------------------------------------------------------------------------------
typedef struct Function {
  PawlQuantity quantity;
  const char *name, *array, *about;
  bool of_rows, of_velocities;  // its array has a row for each constraint row, a column for each v
} Function;

static const Function function_list[] = {
    {PAWL_Q_M, "mass", "M", "The mass matrix, row by row.", false, true},
    {PAWL_Q_F, "force", "f", "Forces.", false, false},
    {PAWL_Q_G, "position", "g", "Constraints and gaps: g = 0, g >= 0.", true, false},
    {PAWL_Q_GRAD, "gradient", "G", "dg/dq, row by row; of rate equations A.", true, true},
    {PAWL_Q_GT, "time_gradient", "g_t", "dg/dt at fixed q; of rate equations b.", true, false},
    {PAWL_Q_GAMMA, "bias", "bias", "d(G v + g_t)/dt where v' = 0: G v' + bias = 0.", true, false},
    {PAWL_Q_ENERGY, "energy", "energy", "Kinetic and potential energy [J].", false, false},
    {PAWL_Q_OUTPUT, "outputs", "out", "The outputs of the model.", false, false},
};
enum { FUNCTION_COUNT = sizeof function_list / sizeof *function_list };

static const char* row_name(const Writer* w, int row) {
  int number;
  return pawl_symbols_row(w->model, row, &number);
}

// What an entry belongs to, for its comment.
static void put_what(Writer* w, PawlText* to, const PawlSymbol* e) {
  const PawlCoordinate* of = w->model->coordinates;
  switch (e->quantity) {
    case PAWL_Q_M:
      pawl_text_printf(to, "%s, %s", of[e->i].name, of[e->j].name);
      break;
    case PAWL_Q_F:
      pawl_text_add(to, of[e->i].name);
      break;
    case PAWL_Q_GRAD:
      pawl_text_printf(to, "%s by %s", row_name(w, e->i), of[e->j].name);
      break;
    case PAWL_Q_ENERGY:
      pawl_text_add(to, e->i == 0 ? "kinetic" : "potential");
      break;
    case PAWL_Q_OUTPUT:
      pawl_text_add(to, w->model->outputs[e->i].name);
      break;
    default:
      pawl_text_add(to, row_name(w, e->i));
  }
}

static void put_entry(Writer* w, const PawlCBody* body, const Function* f, const PawlSymbol* e,
                      int indent) {
  PawlText* to = &w->functions;
  int index = f->of_velocities ? e->i * velocity_count(w) + e->j : e->i;
  pawl_text_printf(to, "%*s%s[%d] %s %s;  // ", indent, "", f->array, index,
                   e->in.constraint < 0 ? "=" : "+=", pawl_c_body_text(body, e->node));
  put_what(w, to, e);
  pawl_text_add(to, "\n");
}

static bool is_in(const PawlSymbol* e, const Function* f, PawlSymbolMode mode) {
  return e->quantity == f->quantity && e->in.constraint == mode.constraint &&
         (mode.constraint < 0 || e->in.mode == mode.mode);
}

// The entries of a function in one mode, or of none; returns their count.
static int put_entries(Writer* w, PawlCBody* body, const Function* f, PawlSymbolMode mode,
                       int indent) {
  int count = 0;
  for (int k = 0; k < w->symbols.count; k++) {
    if (is_in(&w->symbols.items[k], f, mode)) {
      w->roots[count++] = w->symbols.items[k].node;
    }
  }
  if (count == 0) {
    return 0;
  }
  if (mode.constraint >= 0) {
    pawl_text_printf(&w->functions, "    case %d: {\n", mode.mode);
  }
  pawl_c_body_declare(body, count, w->roots, mode.constraint < 0 ? PAWL_C_OUTER : PAWL_C_INNER,
                      indent);
  for (int k = 0; k < w->symbols.count; k++) {
    if (is_in(&w->symbols.items[k], f, mode)) {
      put_entry(w, body, f, &w->symbols.items[k], indent);
    }
  }
  if (mode.constraint >= 0) {
    pawl_text_add(&w->functions, "      break;\n    }\n");
    pawl_c_body_leave(body);
  }
  return count;
}

static bool has_modes(const Writer* w, const Function* f, int c) {
  for (int k = 0; k < w->symbols.count; k++) {
    if (w->symbols.items[k].quantity == f->quantity && w->symbols.items[k].in.constraint == c) {
      return true;
    }
  }
  return false;
}

static void put_modes(Writer* w, PawlCBody* body, const Function* f) {
  enum { INNER = 6 };
  for (int c = 0; c < w->model->constraint_count; c++) {
    if (!has_modes(w, f, c)) {
      continue;
    }
    pawl_text_printf(&w->functions, "  switch (at->modes ? at->modes[%d] : 0) {  // %s\n", c,
                     w->model->constraints[c].name);
    for (int m = 0; m < w->model->constraints[c].mode_count; m++) {
      put_entries(w, body, f, (PawlSymbolMode){c, m}, INNER);
    }
    pawl_text_add(&w->functions, "    default:\n      break;\n  }\n");
  }
}

static int length_of(const Writer* w, const Function* f) {
  int rows = f->of_rows                     ? row_count(w)
             : f->quantity == PAWL_Q_ENERGY ? 2
             : f->quantity == PAWL_Q_OUTPUT ? w->model->output_count
                                            : velocity_count(w);
  return rows * (f->of_velocities ? velocity_count(w) : 1);
}

// Something engages, and may hold the value that it finds.
static bool holds(const PawlModel* model) {
  for (int c = 0; c < model->constraint_count; c++) {
    if (model->constraints[c].triggered) {
      return true;
    }
  }
  return false;
}

static PawlStatus put_function(Writer* w, const Function* f) {
  PawlText* to = &w->functions;
  PawlCBody body = {.names = &w->names,
                    .dag = w->symbols.dag,
                    .out = to,
                    .functions = w->helpers,
                    .tables = w->tables};
  PAWL_TRY(pawl_c_body_begin(&body));
  int length = length_of(w, f);
  pawl_text_printf(to,
                   "// %s\nvoid %s_%s(const %sParameters* p, const %sPoint* at, double %s[%d]) {\n"
                   "  (void)p;\n  (void)at;\n  memset(%s, 0, %d * sizeof *%s);\n",
                   f->about, w->names.prefix, f->name, w->names.type, w->names.type, f->array,
                   length, f->array, length, f->array);
  put_entries(w, &body, f, (PawlSymbolMode){-1, 0}, 2);
  put_modes(w, &body, f);
  if (f->quantity == PAWL_Q_G && holds(w->model)) {
    pawl_text_printf(
        to, "  for (int k = 0; at->held && k < %d; k++) {\n    g[k] -= at->held[k];\n  }\n",
        length);
  }
  pawl_text_add(to, "}\n\n");
  pawl_c_body_end(&body);
  return body.failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}

// q' = T(q) v                                                                                (O2)
static PawlStatus put_rates(Writer* w) {
  PawlText* to = &w->functions;
  const PawlModel* model = w->model;
  pawl_text_printf(to, "// q' = T(q) v\nvoid %s_rates(const %sPoint* at, double q_rate[%d]) {\n",
                   w->names.prefix, w->names.type, velocity_count(w) + model->rotation_count);
  pawl_text_printf(to, "  memcpy(q_rate, at->v, %d * sizeof *q_rate);\n", model->turning);
  PawlNode nodes[4];
  PawlStatus status = PAWL_OK;
  for (int r = 0; r < model->rotation_count && status == PAWL_OK; r++) {
    int first = model->turning + 3 * r;
    PawlCBody body = {.names = &w->names,
                      .dag = w->symbols.dag,
                      .out = to,
                      .functions = w->helpers,
                      .tables = w->tables};
    for (int k = 0; k < 4; k++) {
      nodes[k] = pawl_dag_spin(w->symbols.dag, 4 * first + k);
      status = nodes[k] == PAWL_NO_NODE ? PAWL_ERROR_MEMORY : status;
    }
    status = status ? status : pawl_c_body_begin(&body);
    if (status == PAWL_OK) {
      pawl_text_printf(to, "  {  // %s\n", model->rotations[r].name);
      pawl_c_body_declare(&body, 4, nodes, PAWL_C_OUTER, 4);
      for (int k = 0; k < 4; k++) {
        pawl_text_printf(to, "    q_rate[%d] = %s;\n",
                         pawl_quat_place(model->turning, 4 * first + k),
                         pawl_c_body_text(&body, nodes[k]));
      }
      pawl_text_add(to, "  }\n");
      pawl_c_body_end(&body);
      status = body.failed ? PAWL_ERROR_MEMORY : PAWL_OK;
    }
  }
  for (int k = 0; k < model->dynamic_count; k++) {
    pawl_text_printf(to, "  q_rate[%d] = 0.0;  // of a state\n",
                     model->coordinate_count + model->rotation_count + k);
  }
  pawl_text_add(to, "}\n");
  return status;
}

// ---- tables -------------------------------------------------------------------------------------
static void put_numbers(PawlText* to, int count, const double* values) {
  enum { IN_A_LINE = 6 };
  for (int k = 0; k < count; k++) {
    pawl_text_add(to, k % IN_A_LINE == 0 ? "\n    " : " ");
    pawl_c_number(to, values[k]);
    pawl_text_add(to, k + 1 < count ? "," : "");
  }
}

static void put_table(Writer* w, int number) {
  const PawlTable* table = w->model->tables.item[number];
  const PawlAxis* axis = &table->axis[0];
  PawlText* to = &w->text;
  int n = axis->pieces;
  pawl_text_printf(
      to,
      "// Table %s: pieces c0 + c1 u + c2 u^2 + c3 u^3 behind its points; derivatives of "
      "any order.\nstatic double %s_table_%d(double x, int order) {\n"
      "  static const double at[%d] = {",
      table->name, w->names.prefix, number, n + 1);
  put_numbers(to, n + 1, axis->x);
  pawl_text_printf(to, "};\n  static const double c[%d][4] = {", n);
  for (int k = 0; k < n; k++) {
    pawl_text_add(to, "\n   {");
    put_numbers(to, 4, table->coefficients[k]);
    pawl_text_add(to, k + 1 < n ? "}," : "}");
  }
  pawl_text_add(to, "};\n  double beyond = 0.0;\n");
  if (table->outside == PAWL_TABLE_PERIODIC) {
    pawl_text_printf(to, "  x -= floor((x - at[0])/(at[%d] - at[0]))*(at[%d] - at[0]);\n", n, n);
  } else {
    pawl_text_printf(
        to,
        "  if (x < at[0] || x > at[%d]) {\n    double end = x < at[0] ? at[0] : at[%d];\n"
        "    beyond = x - end;\n    x = end;\n  }\n",
        n, n);
  }
  pawl_text_printf(
      to,
      "  int low = 0, high = %d;\n  while (low < high) {\n"
      "    int middle = (low + high + 1)/2;\n    if (at[middle] <= x) {\n"
      "      low = middle;\n    } else {\n      high = middle - 1;\n    }\n  }\n"
      "  double u = x - at[low];\n"
      "  double slope = (3.0*c[low][3]*u + 2.0*c[low][2])*u + c[low][1];\n"
      "  double value = ((c[low][3]*u + c[low][2])*u + c[low][1])*u + c[low][0];\n"
      "  if (beyond != 0.0) {\n    return %s;\n  }\n"
      "  return order == 0 ? value : order == 1 ? slope\n"
      "         : order == 2 ? 6.0*c[low][3]*u + 2.0*c[low][2] : 6.0*c[low][3];\n}\n\n",
      n - 1,
      table->outside == PAWL_TABLE_HOLD ? "order == 0 ? value : 0.0"
      : table->outside == PAWL_TABLE_EXTEND
          ? "order == 0 ? value + slope*beyond : order == 1 ? slope : 0.0"
          : "NAN");
}

// ---- the head -----------------------------------------------------------------------------------
// Words of the user in a comment, which end with its line.
static void put_words(PawlText* to, const char* words) {
  for (const char* c = words; *c; c++) {
    pawl_text_add_bytes(to, iscntrl((unsigned char)*c) ? " " : c, 1);
  }
}

static void put_about(Writer* w) {
  const PawlModel* m = w->model;
  PawlText* to = &w->text;
  pawl_text_add(to, "// ");
  put_words(to, m->name);
  pawl_text_printf(to,
                   ": equations of motion, printed by pawl %s.\n//\n"
                   "//   q' = T(q) v\n//   M(q,t) v' = f(q,v,t) + G(q,t)^T lambda\n"
                   "//   g(q,t) = 0,  G v + g_t = 0,  G v' + bias = 0\n//\n// coordinates:",
                   pawl_version());
  for (int k = 0; k < velocity_count(w); k++) {
    pawl_text_printf(to, "%s %s%s", k ? "," : "", m->coordinates[k].name,
                     k < m->coordinate_count ? "" : " (a state: v, with its rate in f)");
  }
  pawl_text_add(to, "\n");
  for (int c = 0; c < m->constraint_count; c++) {
    const PawlConstraint* k = &m->constraints[c];
    pawl_text_printf(to, "// rows %d .. %d: %s", k->first_row, k->first_row + k->row_count - 1,
                     k->name);
    for (int i = 0; i < k->mode_count && k->mode_count > 1; i++) {
      static const char* const word[] = {"free", "engaged", "waiting", "sliding up",
                                         "sliding down"};
      pawl_text_printf(to, "%s %d %s", i ? "," : "; modes", i,
                       k->triggered       ? word[i]
                       : k->modes[i].name ? k->modes[i].name
                                          : "");
    }
    pawl_text_add(to, "\n");
  }
  for (int c = 0; c < m->contact_count; c++) {
    const PawlContact* k = &m->contacts[c];
    pawl_text_printf(to, "// row %d: gap of contact %s", m->row_count + m->slip_count + c, k->name);
    for (int i = 0; i < k->slip_count; i++) {
      pawl_text_printf(to, ", slip in row %d", m->row_count + k->first_slip + i);
    }
    pawl_text_add(to, "\n");
  }
}

static bool reads(const PawlSymbols* symbols, PawlOp leaf, int index) {
  for (int k = 0; k < pawl_dag_count(symbols->dag); k++) {
    const PawlDagNode* n = pawl_dag_node(symbols->dag, k);
    if (n->op == leaf && n->index == index) {
      return true;
    }
  }
  return false;
}

static void put_parameters(Writer* w) {
  PawlText* to = &w->text;
  int count = 0;
  pawl_text_printf(to, "typedef struct %sParameters {\n", w->names.type);
  for (int k = 0; k < w->model->parameter_count; k++) {
    if (reads(&w->symbols, PAWL_OP_PARAM, k)) {
      const char* unit = w->model->parameters[k].unit;
      pawl_text_printf(to, "  double %s;%s", w->names.parameters[k], unit[0] ? "  // [" : "");
      put_words(to, unit);
      pawl_text_add(to, unit[0] ? "]\n" : "\n");
      count++;
    }
  }
  pawl_text_printf(to, "%s} %sParameters;\n\n", count ? "" : "  double none;\n", w->names.type);
  pawl_text_printf(to, "// As in the model.\nconst %sParameters %s_parameters = {", w->names.type,
                   w->names.prefix);
  for (int k = 0; k < w->model->parameter_count; k++) {
    if (reads(&w->symbols, PAWL_OP_PARAM, k)) {
      pawl_text_printf(to, "\n    .%s = ", w->names.parameters[k]);
      pawl_c_number(to, w->model->parameters[k].value);
      pawl_text_add(to, ",");
    }
  }
  pawl_text_add(to, count ? "\n};\n\n" : "0.0};\n\n");
}

static void put_sizes(Writer* w) {
  const char* u = w->names.upper;
  int rotations = w->model->rotation_count;
  pawl_text_printf(&w->text, "enum { %s_Q = %d, %s_V = %d, %s_ROWS = %d, %s_OUTPUTS = %d };\n\n", u,
                   velocity_count(w) + rotations, u, velocity_count(w), u, row_count(w), u,
                   w->model->output_count);
  pawl_text_printf(&w->text,
                   "// Where to evaluate. An array may be NULL where nothing reads it.\n"
                   "typedef struct %sPoint {\n  double t;                // [s]\n"
                   "  const double *q, *v;     // places and velocities\n"
                   "  const double *a, *lambda;  // v' and multipliers, which outputs may read\n"
                   "  const double* u;         // inputs\n"
                   "  const int* modes;        // of each constraint; NULL: the first\n"
                   "  const double* held;      // what each row holds; NULL: 0\n} %sPoint;\n\n",
                   w->names.type, w->names.type);
}

static void put_start(Writer* w) {
  const PawlModel* m = w->model;
  PawlText* to = &w->text;
  int n = velocity_count(w);
  pawl_text_printf(
      to, "// At t = 0, as the model states it.\nvoid %s_start(double q[%d], double v[%d]) {\n",
      w->names.prefix, n + m->rotation_count, n);
  for (int k = 0; k < m->turning; k++) {
    pawl_text_printf(to, "  q[%d] = ", k);
    pawl_c_number(to, m->coordinates[k].start);
    pawl_text_printf(to, ";  // %s\n", m->coordinates[k].name);
  }
  for (int k = 0; k < 4 * m->rotation_count; k++) {
    pawl_text_printf(to, "  q[%d] = ", m->turning + k);
    pawl_c_number(to, m->rotations[k / 4].start[k % 4]);
    pawl_text_printf(to, ";  // %s\n", m->rotations[k / 4].quaternion_names[k % 4]);
  }
  for (int k = 0; k < m->dynamic_count; k++) {
    pawl_text_printf(to, "  q[%d] = 0.0;\n", m->coordinate_count + m->rotation_count + k);
  }
  for (int k = 0; k < n; k++) {
    pawl_text_printf(to, "  v[%d] = ", k);
    pawl_c_number(to, m->coordinates[k].rate);
    pawl_text_printf(to, ";  // %s%s\n", m->coordinates[k].name, k < m->turning ? "'" : "");
  }
  pawl_text_add(to, "}\n\n");
}

static void put_head(Writer* w) {
  put_about(w);
  pawl_text_add(&w->text, "#include <math.h>\n#include <string.h>\n\n");
  put_sizes(w);
  put_parameters(w);
  pawl_c_helpers(&w->text, w->helpers);
  for (int k = 0; k < w->model->tables.count; k++) {
    if (w->tables[k]) {
      put_table(w, k);
    }
  }
  put_start(w);
}

// ---- all ----------------------------------------------------------------------------------------
static PawlStatus write_all(Writer* w) {
  size_t room = (size_t)(w->symbols.count > 0 ? w->symbols.count : 1);
  w->roots = pawl_alloc(room, sizeof *w->roots);
  w->tables = pawl_alloc((size_t)w->model->tables.count + 1, sizeof *w->tables);
  if (!w->roots || !w->tables) {
    return PAWL_ERROR_MEMORY;
  }
  for (int k = 0; k < FUNCTION_COUNT; k++) {
    if (length_of(w, &function_list[k]) > 0) {
      PAWL_TRY(put_function(w, &function_list[k]));
    }
  }
  PAWL_TRY(put_rates(w));
  put_head(w);
  pawl_text_add(&w->text, w->functions.s ? w->functions.s : "");
  return w->text.failed || w->functions.failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}

static PawlStatus refuse(const PawlModel* model, PawlError* err) {
  enum { MOST_POINTS = 10000 };
  if (model->coordinate_count + model->dynamic_count > PAWL_SOURCE_MOST) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "%s has %d coordinates; C is printed for at most %d. Try a smaller family, "
                     "such as -p N=3",
                     model->name, model->coordinate_count + model->dynamic_count, PAWL_SOURCE_MOST);
  }
  for (int k = 0; k < model->tables.count; k++) {
    const PawlTable* table = model->tables.item[k];
    if (table->arguments == 2 || table->axis[0].pieces >= MOST_POINTS) {
      return pawl_fail(err, PAWL_ERROR_USAGE,
                       "table '%s' cannot be printed as C: it has %s; tables of one argument "
                       "with up to %d points can",
                       table->name, table->arguments == 2 ? "two arguments" : "more points",
                       MOST_POINTS);
    }
  }
  return PAWL_OK;
}

PawlStatus pawl_model_source(const PawlModel* model, char** out, PawlError* err) {
  *out = NULL;
  PAWL_TRY(refuse(model, err));
  Writer w = {.model = model};
  PawlStatus status = pawl_c_names_make(&w.names, model);
  status = status ? status : pawl_symbols_derive(&w.symbols, model, true);
  status = status ? status : write_all(&w);
  pawl_symbols_free(&w.symbols);
  pawl_c_names_free(&w.names);
  pawl_text_free(&w.functions);
  pawl_free(w.roots);
  pawl_free(w.tables);
  if (status != PAWL_OK) {
    pawl_text_free(&w.text);
    return pawl_fail_memory(err);
  }
  *out = w.text.s;
  return PAWL_OK;
}
