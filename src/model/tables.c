// SPDX-License-Identifier: Apache-2.0
// `tables:` functions through measured points, from a file or written down (docs/theory/tables.md).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include "model/expression.h"
#include "model/file.h"
#include "model/table_file.h"
#include "model/use.h"

static const char* const methods[] = {"linear", "cubic", "monotone", NULL};
static const char* const outsides[] = {"hold", "extend", "error", "periodic", NULL};

typedef struct Reading {
  PawlLoader* loader;
  PawlYaml* body;    // of the table
  PawlYaml* where;   // of its points: the place of mistakes in them
  const char* file;  // NULL: points are written down
  PawlColumns points;
  PawlTableDef def;
} Reading;

// ---- points -------------------------------------------------------------------------------------

static bool take_point(Reading* r, PawlYaml* point, int* capacity) {
  PawlColumns* out = &r->points;
  if (point->kind != PAWL_YAML_LIST || point->count != out->wanted) {
    pawl_report(&r->loader->report, point, "expected a point, [%s]",
                out->wanted == 2 ? "x, y" : "x, y, z");
    return false;
  }
  PawlYaml* number = point->first;
  for (int k = 0; k < out->wanted; k++, number = number->next) {
    int room = *capacity;
    double value;
    if (!pawl_value(r->loader, number, &PAWL_SCOPE_EMPTY, &value)) {
      return false;
    }
    if (PAWL_GROW(out->value[k], room, out->count + 1) != 0) {
      return pawl_loader_no_memory(r->loader);
    }
    out->value[k][out->count] = value;
  }
  if (PAWL_GROW(out->line, *capacity, out->count + 1) != 0) {
    return pawl_loader_no_memory(r->loader);
  }
  out->line[out->count++] = point->line;
  return true;
}

static bool take_points(Reading* r, PawlYaml* list) {
  int capacity = 0;
  const PawlYaml* first = list->first;
  if (list->kind != PAWL_YAML_LIST || !first || first->kind != PAWL_YAML_LIST) {
    pawl_report(&r->loader->report, list,
                "points: expected a list of points, [[x, y], [x, y], ...]");
    return false;
  }
  r->points.wanted = first->count == 3 ? 3 : 2;
  for (PawlYaml* point = list->first; point; point = point->next) {
    if (!take_point(r, point, &capacity)) {
      return false;
    }
  }
  return true;
}

static bool report_error(Reading* r, PawlStatus status, const PawlError* err) {
  if (status == PAWL_ERROR_MEMORY) {
    return pawl_loader_no_memory(r->loader);
  }
  pawl_report(&r->loader->report, r->where, "%.400s", err->message);
  return false;
}

static bool take_name(Reading* r, const char* key, int number) {
  static const char* const places[] = {"1", "2", "3"};
  PawlYaml* name = pawl_yaml_get(r->body, key);
  r->points.name[number] = places[number];
  return !name || pawl_load_text(r->loader, name, &r->points.name[number]);
}

static bool take_file(Reading* r, PawlYaml* path) {
  PawlLoader* loader = r->loader;
  const char* text_of_path;
  char* text = NULL;
  size_t length = 0;
  PawlError err = {0};
  bool two = pawl_yaml_get(r->body, "z") != NULL;
  r->points.wanted = two ? 3 : 2;
  if (!pawl_load_text(loader, path, &text_of_path) || !take_name(r, "x", 0) ||
      !take_name(r, "y", 1) || (two && !take_name(r, "z", 2))) {
    return false;
  }
  const char* from = path->file ? path->file : loader->model->file;
  r->file = pawl_path_beside(loader, from, text_of_path);
  if (!r->file) {
    return false;
  }
  PawlStatus status = pawl_read_file_up_to(r->file, PAWL_TABLE_MAX_BYTES, &text, &length, &err);
  if (status == PAWL_OK) {
    loader->model->text_hash = pawl_hash(loader->model->text_hash, text, length);
    status = pawl_columns_read(r->file, text, length, &r->points, &err);
  }
  pawl_free(text);
  return status == PAWL_OK || report_error(r, status, &err);
}

// ---- what is wrong with them --------------------------------------------------------------------

// The place of a point: file and line, or the line of the model.
static PawlQuote place_of(const Reading* r, int point) {
  PawlQuote place;
  snprintf(place.s, sizeof place.s, "%s%sline %d",
           r->file ? strrchr(r->file, '/') ? strrchr(r->file, '/') + 1 : r->file : "",
           r->file ? ", " : "", r->points.line[point]);
  return place;
}

static bool check_count(Reading* r, int count, const char* of) {
  if (count < 2) {
    pawl_report(&r->loader->report, r->where, "%d point%s%s; a table needs at least 2", count,
                count == 1 ? "" : "s", of);
  }
  return count >= 2;
}

static bool check_ascending(Reading* r) {
  const double* x = r->points.value[0];
  for (int k = 1; k < r->points.count; k++) {
    if (!(x[k] > x[k - 1])) {
      pawl_report(
          &r->loader->report, r->where,
          "%s: x = %.10g after %.10g; the points of a table must be in ascending order, each "
          "x once",
          place_of(r, k).s, x[k], x[k - 1]);
      return false;
    }
  }
  return true;
}

// The last value takes the place of the first one, so they must agree.
static bool check_period(Reading* r) {
  int last = r->points.count - 1;
  const double* y = r->points.value[1];
  if (r->def.outside == PAWL_TABLE_PERIODIC && y[last] != y[0]) {
    pawl_report(&r->loader->report, r->where,
                "a periodic table must end with the value that it begins with: %.10g and %.10g "
                "(%s)",
                y[0], y[last], place_of(r, last).s);
    return false;
  }
  return true;
}

static bool make_line(Reading* r) {
  if (!check_count(r, r->points.count, "") || !check_ascending(r) || !check_period(r)) {
    return false;
  }
  r->def.count[0] = r->points.count;
  r->def.x = r->points.value[0];
  r->def.value = r->points.value[1];
  return true;
}

// ---- grids --------------------------------------------------------------------------------------

static int compare_numbers(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// The different numbers of a column, ascending; their count, -1 without memory.
static int list_numbers(PawlArena* arena, const double* from, int count, double** out) {
  *out = PAWL_NEW(arena, double, count);
  if (!*out) {
    return -1;
  }
  memcpy(*out, from, (size_t)count * sizeof(double));
  qsort(*out, (size_t)count, sizeof(double), compare_numbers);
  int kept = 0;
  for (int k = 0; k < count; k++) {
    if (kept == 0 || (*out)[k] != (*out)[kept - 1]) {
      (*out)[kept++] = (*out)[k];
    }
  }
  return kept;
}

static int place_in(const double* sorted, int count, double x) {
  const double* at = bsearch(&x, sorted, (size_t)count, sizeof x, compare_numbers);
  return (int)(at - sorted);
}

// Every place of the grid once.
static bool fill_grid(Reading* r, const double* x, const double* y, double* value, int* seen) {
  const int* count = r->def.count;
  for (int k = 0; k < r->points.count; k++) {
    int i = place_in(x, count[0], r->points.value[0][k]);
    int j = place_in(y, count[1], r->points.value[1][k]);
    size_t at = (size_t)i * (size_t)count[1] + (size_t)j;
    if (seen[at]) {
      pawl_report(&r->loader->report, r->where, "%s: the point %.10g, %.10g is there twice",
                  place_of(r, k).s, x[i], y[j]);
      return false;
    }
    seen[at] = 1;
    value[at] = r->points.value[2][k];
  }
  for (size_t at = 0; at < (size_t)count[0] * (size_t)count[1]; at++) {
    if (!seen[at]) {
      pawl_report(&r->loader->report, r->where,
                  "the points are no grid: there is none at %.10g, %.10g", x[at / (size_t)count[1]],
                  y[at % (size_t)count[1]]);
      return false;
    }
  }
  return true;
}

static bool make_grid(Reading* r, PawlArena* scratch) {
  double *x, *y;
  int nx = list_numbers(scratch, r->points.value[0], r->points.count, &x);
  int ny = list_numbers(scratch, r->points.value[1], r->points.count, &y);
  if (nx < 0 || ny < 0) {
    return pawl_loader_no_memory(r->loader);
  }
  if (!check_count(r, nx, " along x") || !check_count(r, ny, " along y")) {
    return false;
  }
  bool large = (long long)nx * ny > PAWL_TABLE_MAX_GRID;
  const char* wrong = r->def.method == PAWL_TABLE_MONOTONE    ? "method: monotone"
                      : r->def.outside == PAWL_TABLE_PERIODIC ? "outside: periodic"
                                                              : NULL;
  if (large || wrong) {
    pawl_report(&r->loader->report, r->where,
                large ? "the grid has more than %s points" : "%s is for tables of one argument",
                large ? "1000000" : wrong);
    return false;
  }
  double* value = PAWL_NEW(scratch, double, (size_t)nx*(size_t)ny);
  int* seen = PAWL_NEW(scratch, int, (size_t)nx*(size_t)ny);
  if (!value || !seen) {
    return pawl_loader_no_memory(r->loader);
  }
  r->def.count[0] = nx;
  r->def.count[1] = ny;
  r->def.x = x;
  r->def.y = y;
  r->def.value = value;
  return fill_grid(r, x, y, value, seen);
}

// ---- the section --------------------------------------------------------------------------------

static bool read_words(Reading* r) {
  PawlYaml* method = pawl_yaml_get(r->body, "method");
  PawlYaml* outside = pawl_yaml_get(r->body, "outside");
  int m = method ? pawl_load_word(r->loader, method, "method", methods) : PAWL_TABLE_LINEAR;
  int o = outside ? pawl_load_word(r->loader, outside, "outside", outsides) : PAWL_TABLE_ERROR;
  r->def.method = (PawlTableMethod)m;
  r->def.outside = (PawlTableOutside)o;
  return m >= 0 && o >= 0;
}

static bool read_points(Reading* r) {
  PawlYaml *file = pawl_yaml_get(r->body, "file"), *points = pawl_yaml_get(r->body, "points");
  if (!file == !points) {
    pawl_report(&r->loader->report, r->body, "a table needs file: or points:%s",
                file ? ", not both" : "");
    return false;
  }
  r->where = file ? file : points;
  return file ? take_file(r, file) : take_points(r, points);
}

static bool add_table(Reading* r) {
  PawlTables* tables = &r->loader->model->tables;
  PawlArena scratch = {0};
  bool good = r->points.wanted == 3 ? make_grid(r, &scratch) : make_line(r);
  if (good && PAWL_GROW(tables->item, tables->capacity, tables->count + 1) == 0 &&
      pawl_table_create(&r->def, &tables->item[tables->count]) == PAWL_OK) {
    tables->count++;
  } else if (good) {
    good = pawl_loader_no_memory(r->loader);
  }
  pawl_arena_free(&scratch);
  return good;
}

static bool read_table(PawlLoader* loader, PawlYaml* body) {
  static const char* const keys[] = {"file", "points", "x", "y", "z", "method", "outside", NULL};
  Reading r = {.loader = loader, .body = body, .def = {.name = body->key->text}};
  if (body->kind != PAWL_YAML_MAP) {
    pawl_report(&loader->report, body, "expected a table, {file: ...} or {points: [[x, y], ...]}");
    return false;
  }
  bool good = pawl_yaml_check_keys(&loader->report, body, "a table", keys) && read_words(&r) &&
              read_points(&r) && add_table(&r);
  pawl_columns_free(&r.points);
  return good;
}

void pawl_load_tables(PawlLoader* loader, PawlYaml* section) {
  pawl_dag_set_tables(loader->model->dag, &loader->model->tables);
  pawl_dag_set_tables(loader->values, &loader->model->tables);
  if (!pawl_expect_map(loader, section, "tables")) {
    return;
  }
  for (PawlYaml* child = section->first; child; child = child->next) {
    const PawlAstKey* key = pawl_key(loader, child->key);
    if (!key) {
      continue;
    }
    if (key->count > 0 || pawl_expr_is_function(key->name)) {
      pawl_report(&loader->report, child->key,
                  key->count > 0 ? "'%s': a table cannot be a family"
                                 : "'%s' is a function of the language; choose another name",
                  pawl_quote(child->key->text).s);
      continue;
    }
    PawlFamily* family = pawl_add_function_name(loader, child->key, key->name, PAWL_NAME_TABLE);
    if (family && read_table(loader, child)) {
      family->cells[0] = loader->model->tables.count - 1;
      family->failed = false;
    }
  }
}
