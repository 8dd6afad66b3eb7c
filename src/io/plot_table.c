// SPDX-License-Identifier: Apache-2.0
// The table of a plot. Each name of a list is a column, several columns (lambda(pin), u), or an
// expression of the model language over columns and parameters, which a tape evaluates.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "expr/ast.h"
#include "expr/tape.h"
#include "io/impacts.h"
#include "io/plot.h"
#include "io/writer.h"

enum { LONGEST_NAME = 512 };
static const size_t TABLE_BYTES = (size_t)1 << 30;

typedef struct Term {  // one column of the table
  int column;          // of the recorder; -1: the expression `node`
  PawlNode node;
  const char* text;
} Term;

typedef struct Table {
  const PawlRecorder* recorder;
  PawlArena arena;
  PawlDag* dag;
  PawlTape* tape;  // of all expressions, in the order of their terms; NULL without
  double* registers;
  Term* terms;
  int count, capacity;
  PawlRecorder* out;
} Table;

// ---- names --------------------------------------------------------------------------------------
static int find_column(const PawlRecorder* recorder, const char* name) {
  for (int j = 0; j < pawl_recorder_column_count(recorder); j++) {
    if (strcmp(pawl_recorder_column(recorder, j)->name, name) == 0) {
      return j;
    }
  }
  return -1;
}

static bool find_parameter(const PawlRecorder* recorder, const char* name, double* value) {
  static const char group[] = "parameters/";
  const char* fact;
  for (int k = 0; (fact = pawl_recorder_fact_name(recorder, k)); k++) {
    if (strncmp(fact, group, sizeof group - 1) == 0 && strcmp(fact + sizeof group - 1, name) == 0) {
      return pawl_recorder_fact_number(recorder, k, value);
    }
  }
  return false;
}

typedef struct Asker {  // who resolves the names of one expression
  const PawlRecorder* recorder;
  const char* text;
} Asker;

static PawlNode unknown(const PawlRecorder* recorder, const char* name, PawlExprError* error) {
  PawlNearest nearest = {.wanted = name};
  for (int j = 0; j < pawl_recorder_column_count(recorder); j++) {
    pawl_nearest_offer(&nearest, pawl_recorder_column(recorder, j)->name);
  }
  snprintf(error->message, sizeof error->message,
           "'%.60s' is neither a column nor a parameter of this run%s%.60s%s", name,
           nearest.name ? "; did you mean '" : "", nearest.name ? nearest.name : "",
           nearest.name ? "'?" : "");
  return PAWL_NO_NODE;
}

static PawlNode named(const Asker* asker, PawlDag* dag, const char* name, PawlExprError* error) {
  double value;
  int column = find_column(asker->recorder, name);
  if (column >= 0) {
    return pawl_dag_leaf(dag, PAWL_OP_Q, column);
  }
  return find_parameter(asker->recorder, name, &value) ? pawl_dag_const(dag, value)
                                                       : unknown(asker->recorder, name, error);
}

// u[i+1]'' as a column is called: u[3]''.
static PawlMatrix resolve(void* context, PawlDag* dag, const PawlAst* ast, const PawlNode* indices,
                          PawlExprError* error) {
  char name[LONGEST_NAME];
  size_t before = strcspn(ast->name, ".");  // tip[3].x has the name tip.x
  int used = snprintf(name, sizeof name, "%.*s", (int)(before < 200 ? before : 200), ast->name);
  for (int k = 0; k < ast->arg_count; k++) {
    double index = NAN;
    (void)pawl_dag_is_const(dag, indices[k], &index);
    used += snprintf(name + used, sizeof name - (size_t)used, "%s%.0f", k ? "," : "[", index);
  }
  used += snprintf(name + used, sizeof name - (size_t)used, "%s%.40s", ast->arg_count ? "]" : "",
                   ast->name + before);
  for (int k = 0; k < ast->primes && used < LONGEST_NAME - 1; k++) {
    name[used++] = '\'';
    name[used] = '\0';
  }
  return pawl_number(named(context, dag, name, error));
}

static void copy_without_blanks(const char* from, size_t length, char* to) {
  size_t used = 0;
  for (size_t k = 0; k < length && used < LONGEST_NAME - 1; k++) {
    if (!isspace((unsigned char)from[k])) {
      to[used++] = from[k];
    }
  }
  to[used] = '\0';
}

// lambda(pin, 2) as it is written, without blanks.
static PawlNode multiplier(void* context, PawlDag* dag, const PawlAst* call, PawlExprError* error) {
  const Asker* asker = context;
  char name[LONGEST_NAME];
  copy_without_blanks(asker->text + call->begin, (size_t)(call->end - call->begin), name);
  return named(asker, dag, name, error);
}

static bool knows(void* context, const char* name) {
  const Asker* asker = context;
  double value;
  return find_column(asker->recorder, name) >= 0 || find_parameter(asker->recorder, name, &value);
}

// ---- terms --------------------------------------------------------------------------------------
static PawlStatus add_term(Table* table, Term term, PawlError* err) {
  if (PAWL_GROW(table->terms, table->capacity, table->count + 1) != 0) {
    return pawl_fail_memory(err);
  }
  table->terms[table->count++] = term;
  return PAWL_OK;
}

static PawlStatus add_column(Table* table, int column, PawlError* err) {
  return add_term(table,
                  (Term){column, PAWL_NO_NODE, pawl_recorder_column(table->recorder, column)->name},
                  err);
}

static PawlStatus fail_expression(const char* text, PawlStatus status, const PawlExprError* error,
                                  PawlError* err) {
  return status == PAWL_ERROR_MEMORY
             ? pawl_fail_memory(err)
             : pawl_fail(err, PAWL_ERROR_USAGE, "plot: '%.100s': %s", text, error->message);
}

static PawlStatus add_expression(Table* table, const char* text, PawlError* err) {
  PawlExprError error = {0};
  PawlAst* ast;
  PawlNode node;
  Asker asker = {table->recorder, text};
  PawlResolver resolver = {
      .context = &asker, .resolve = resolve, .multiplier = multiplier, .knows = knows};
  table->dag = table->dag ? table->dag : pawl_dag_create();
  if (!table->dag) {
    return pawl_fail_memory(err);
  }
  PawlStatus status = pawl_ast_parse(&table->arena, text, strlen(text), &ast, &error);
  status = status ? status : pawl_ast_build(table->dag, ast, &resolver, &node, &error);
  return status ? fail_expression(text, status, &error, err)
                : add_term(table, (Term){-1, node, text}, err);
}

// One name of a list, which lives in the arena: all columns that it stands for, or an expression.
static PawlStatus add_name(Table* table, const char* text, PawlError* err) {
  char name[LONGEST_NAME];
  int *columns = NULL, count = 0;
  PawlError none = {0};
  copy_without_blanks(text, strlen(text), name);
  PawlStatus status = pawl_columns_choose(table->recorder, name, &columns, &count, &none);
  if (status == PAWL_OK) {
    for (int k = 0; status == PAWL_OK && k < count; k++) {
      status = add_column(table, columns[k], err);
    }
  } else {
    status = status == PAWL_ERROR_MEMORY ? pawl_fail_memory(err) : add_expression(table, text, err);
  }
  pawl_free(columns);
  return status;
}

// The next of a list, up to a comma outside brackets, without blanks around it.
static const char* next_of(Table* table, const char** at) {
  int depth = 0;
  const char* begin = *at + strspn(*at, " \t\n");
  const char* end = begin;
  for (; *end && (depth > 0 || *end != ','); end++) {
    depth += (*end == '(' || *end == '[') - (*end == ')' || *end == ']');
  }
  *at = *end == ',' ? end + 1 : end;
  while (end > begin && isspace((unsigned char)end[-1])) {
    end--;
  }
  return pawl_arena_copy(&table->arena, begin, (size_t)(end - begin));
}

static PawlStatus add_list(Table* table, const char* list, PawlError* err) {
  for (const char* at = list; *at;) {
    const char* text = next_of(table, &at);
    if (!text) {
      return pawl_fail_memory(err);
    }
    if (!text[0]) {
      return pawl_fail(err, PAWL_ERROR_USAGE, "plot: '%.100s': a name is missing beside a comma",
                       list);
    }
    PAWL_TRY(add_name(table, text, err));
  }
  return PAWL_OK;
}

static PawlStatus add_usual(Table* table, PawlError* err) {
  static const PawlColumnKind usual[] = {PAWL_COLUMN_COORDINATE, PAWL_COLUMN_PATH,
                                         PAWL_COLUMN_RATE,       PAWL_COLUMN_ENERGY,
                                         PAWL_COLUMN_OUTPUT,     PAWL_COLUMN_MULTIPLIER};
  for (size_t k = 0; k < sizeof usual / sizeof *usual; k++) {
    for (int j = 0; j < pawl_recorder_column_count(table->recorder); j++) {
      if (pawl_recorder_column(table->recorder, j)->kind == usual[k]) {
        PAWL_TRY(add_column(table, j, err));
      }
    }
  }
  return PAWL_OK;
}

static int time_column(const PawlRecorder* recorder) {
  for (int j = 0; j < pawl_recorder_column_count(recorder); j++) {
    if (pawl_recorder_column(recorder, j)->kind == PAWL_COLUMN_TIME) {
      return j;
    }
  }
  return -1;
}

static PawlStatus choose(Table* table, const PawlPlotDef* def, PawlError* err) {
  int time = time_column(table->recorder);
  if (time < 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "plot: the run has no column of the time, t");
  }
  PAWL_TRY(add_column(table, time, err));
  PAWL_TRY(def->x ? add_list(table, def->x, err) : add_column(table, time, err));
  if (table->count != PAWL_PLOT_CURVES) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "plot: '%.100s' must be one quantity, for the horizontal axis", def->x);
  }
  PAWL_TRY(def->y ? add_list(table, def->y, err) : add_usual(table, err));
  return table->count > PAWL_PLOT_CURVES
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_USAGE, "plot: nothing is named that can be drawn");
}

// ---- the table ----------------------------------------------------------------------------------
static PawlStatus make_tape(Table* table, PawlError* err) {
  PawlNode* nodes = pawl_alloc((size_t)table->count, sizeof *nodes);
  int count = 0;
  if (!nodes) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; k < table->count; k++) {
    if (table->terms[k].column < 0) {
      nodes[count++] = table->terms[k].node;
    }
  }
  PawlStatus status = PAWL_OK;
  if (count > 0) {
    status = pawl_tape_create(table->dag, count, nodes, &table->tape, err);
  }
  pawl_free(nodes);
  if (status || !table->tape) {
    return status;
  }
  table->registers = pawl_alloc(pawl_tape_room(table->tape, 1), sizeof(double));
  if (!table->registers) {
    return pawl_fail_memory(err);
  }
  pawl_tape_prepare(table->tape, 1, table->registers);
  return PAWL_OK;
}

static PawlStatus make_out(Table* table, PawlError* err) {
  PawlColumn* columns = pawl_alloc((size_t)table->count, sizeof *columns);
  if (!columns) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; k < table->count; k++) {
    const Term* term = &table->terms[k];
    columns[k] = term->column >= 0 ? *pawl_recorder_column(table->recorder, term->column)
                                   : (PawlColumn){term->text, "", PAWL_COLUMN_OUTPUT};
  }
  PawlStatus status = pawl_recorder_create(table->count, columns, TABLE_BYTES, &table->out, err);
  pawl_free(columns);
  return status;
}

static void run_tape(Table* table, const double* sample) {
  const PawlTape* tape = table->tape;
  for (int k = 0; tape && k < tape->input_count; k++) {
    PawlTapeInput input = tape->inputs[k];
    int column = input.leaf == PAWL_OP_TIME ? table->terms[PAWL_PLOT_TIME].column : input.index;
    table->registers[tape->constant_count + k] = sample[column];
  }
  if (tape) {
    pawl_tape_run_one(tape, table->registers);
  }
}

// The row of one sample; `before` and `part` > 0: between the two, linearly.
static PawlStatus add_row(Table* table, const double* before, const double* sample, double part,
                          double** out, PawlError* err) {
  double* row;
  PAWL_TRY(pawl_recorder_add(table->out, &row, err));
  for (int pass = before ? 0 : 1, expression = 0; pass < 2; pass++, expression = 0) {
    const double* from = pass == 0 ? before : sample;
    run_tape(table, from);
    for (int k = 0; k < table->count; k++) {
      int column = table->terms[k].column;
      double value =
          column >= 0 ? from[column] : table->registers[table->tape->outputs[expression++]];
      row[k] = pass == 1 && before ? row[k] + part * (value - row[k]) : value;
    }
  }
  *out = row;
  return PAWL_OK;
}

// Forces of a step with an impact have no value; where they are asked for by name, they are what
// the run has written.
static void forget_impact(const Table* table, double* row) {
  for (int k = 0; k < table->count; k++) {
    int column = table->terms[k].column;
    PawlColumnKind kind =
        column >= 0 ? pawl_recorder_column(table->recorder, column)->kind : PAWL_COLUMN_OUTPUT;
    row[k] = kind == PAWL_COLUMN_MULTIPLIER ? NAN : row[k];
  }
}

// The samples of the window, with its ends where they fall between two samples.
static PawlStatus add_rows(Table* table, double from, double to, bool as_written, PawlError* err) {
  int time = table->terms[PAWL_PLOT_TIME].column;
  const double* before = NULL;
  bool impacts = !as_written && pawl_impacts_any(table->recorder);
  double* row;
  for (int i = 0; i < pawl_recorder_sample_count(table->recorder); i++) {
    const double* sample = pawl_recorder_sample(table->recorder, i);
    const double ends[] = {from, to};
    for (int k = 0; before && k < 2; k++) {
      if (before[time] < ends[k] && ends[k] < sample[time]) {
        double part = (ends[k] - before[time]) / (sample[time] - before[time]);
        PAWL_TRY(add_row(table, before, sample, part, &row, err));
      }
    }
    if (!(sample[time] < from) && !(sample[time] > to)) {
      PAWL_TRY(add_row(table, NULL, sample, 1.0, &row, err));
      if (impacts && pawl_impacts_in(table->recorder, i)) {
        forget_impact(table, row);
      }
    }
    before = sample;
  }
  return PAWL_OK;
}

// An empty picture would say that all is well.
static PawlStatus check_rows(const Table* table, const PawlPlotDef* def, PawlError* err) {
  int time = table->terms[PAWL_PLOT_TIME].column,
      count = pawl_recorder_sample_count(table->recorder);
  if (pawl_recorder_sample_count(table->out) > 0) {
    return PAWL_OK;
  }
  if (count == 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "plot: the run has no samples to draw");
  }
  double first = pawl_recorder_sample(table->recorder, 0)[time];
  double last = pawl_recorder_sample(table->recorder, count - 1)[time];
  bool early = first > def->to;
  return pawl_fail(err, PAWL_ERROR_USAGE,
                   "plot: nothing is between %g s and %g s; the run %s at %g s", def->from, def->to,
                   early ? "begins" : "ends", early ? first : last);
}

static PawlStatus copy_facts(const Table* table, PawlError* err) {
  const char* name;
  for (int k = 0; (name = pawl_recorder_fact_name(table->recorder, k)); k++) {
    PAWL_TRY(pawl_recorder_add_fact(table->out, name, pawl_recorder_fact_value(table->recorder, k),
                                    err));
  }
  return PAWL_OK;
}

static PawlStatus copy_events(const Table* table, double from, double to, PawlError* err) {
  for (int k = 0; k < pawl_recorder_event_count(table->recorder); k++) {
    const PawlEvent* event = pawl_recorder_event(table->recorder, k);
    if (event->t >= from && event->t <= to) {
      PAWL_TRY(pawl_recorder_add_event(table->out, event, err));
    }
  }
  return PAWL_OK;
}

static PawlStatus build(Table* table, const PawlPlotDef* def, PawlError* err) {
  PAWL_TRY(choose(table, def, err));
  PAWL_TRY(make_tape(table, err));
  PAWL_TRY(make_out(table, err));
  PAWL_TRY(add_rows(table, def->from, def->to, def->y != NULL, err));
  PAWL_TRY(check_rows(table, def, err));
  PAWL_TRY(copy_facts(table, err));
  return copy_events(table, def->from, def->to, err);
}

PawlStatus pawl_plot_table(const PawlPlotDef* def, const PawlRecorder* recorder, PawlRecorder** out,
                           PawlError* err) {
  Table table = {.recorder = recorder};
  PawlStatus status = build(&table, def, err);
  pawl_free(table.terms);
  pawl_free(table.registers);
  pawl_tape_destroy(table.tape);
  pawl_dag_destroy(table.dag);
  pawl_arena_free(&table.arena);
  if (status != PAWL_OK) {
    pawl_recorder_destroy(table.out);
    table.out = NULL;
  }
  *out = table.out;
  return status;
}

bool pawl_plot_units_known(const PawlRecorder* recorder) {
  const char* name;
  for (int k = 0; (name = pawl_recorder_fact_name(recorder, k)); k++) {
    if (strcmp(name, PAWL_FACT_NO_UNITS) == 0) {
      return false;
    }
  }
  return true;
}
