// SPDX-License-Identifier: Apache-2.0
// The panels of a plot whose curves were chosen. A user who puts x and y beside each other wants to
// see them in one panel, so nothing but the unit divides them; what has no known unit has a panel
// of its own, and so have the multipliers of each constraint.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "io/plot.h"
#include "io/svg.h"

static bool same_stem(const char* a, const char* b) {
  size_t length = strcspn(a, "[,)'");
  return length == strcspn(b, "[,)'") && strncmp(a, b, length) == 0;
}

static bool is_energy(const PawlColumn* column) {
  return column->kind == PAWL_COLUMN_ENERGY;
}

// An index is no part of the unit, primes are.
static bool same_kind(const PawlColumn* a, const PawlColumn* b) {
  return a->kind == b->kind && same_stem(a->name, b->name) &&
         (a->kind != PAWL_COLUMN_OUTPUT || strchr(a->name, '[') || strcmp(a->name, b->name) == 0);
}

static bool may_share(const PawlRecorder* table, const PawlColumn* a, const PawlColumn* b) {
  if (is_energy(a) && is_energy(b)) {
    return true;
  }
  bool known = pawl_plot_units_known(table) && a->unit[0] && b->unit[0];
  bool forces = a->kind == PAWL_COLUMN_MULTIPLIER || b->kind == PAWL_COLUMN_MULTIPLIER;
  return known && !forces ? strcmp(a->unit, b->unit) == 0
                          : same_kind(a, b) && strcmp(a->unit, b->unit) == 0;
}

static void widen(PawlSvgPanel* panel, const PawlRecorder* table, int column) {
  for (int i = 0; i < pawl_recorder_sample_count(table); i++) {
    double value = pawl_recorder_sample(table, i)[column];
    if (pawl_svg_finite(value)) {
      panel->lo = fmin(panel->lo, value);
      panel->hi = fmax(panel->hi, value);
    }
  }
}

static void add_curve(PawlSvgPanel* panel, const PawlRecorder* table, int column, int x, int rank,
                      const char* name) {
  panel->total++;
  if (panel->curve_count < PAWL_SVG_CURVES) {
    panel->curves[panel->curve_count++] =
        (PawlSvgCurve){table, column, x, PAWL_PLOT_TIME, rank, name};
    widen(panel, table, column);
  }
}

// A portrait has another column than the time on its horizontal axis.
static int x_column(const PawlRecorder* table) {
  const PawlColumn* x = pawl_recorder_column(table, PAWL_PLOT_X);
  return x->kind == PAWL_COLUMN_TIME ? PAWL_PLOT_TIME : PAWL_PLOT_X;
}

static PawlSvgPanel empty_panel(const PawlColumn* column, int curves) {
  return (PawlSvgPanel){.kind = PAWL_COLUMN_OUTPUT,
                        .unit = column->unit,
                        .kind_total = curves,
                        .lo = INFINITY,
                        .hi = -INFINITY};
}

static void share_by_unit(const PawlRecorder* table, PawlSvgPanel panels[], int* count,
                          int* left_out) {
  int columns = pawl_recorder_column_count(table);
  for (int j = PAWL_PLOT_CURVES; j < columns; j++) {
    const PawlColumn* column = pawl_recorder_column(table, j);
    int at = 0;
    while (at < *count &&
           !may_share(table, pawl_recorder_column(table, panels[at].curves[0].column), column)) {
      at++;
    }
    if (at == PAWL_SVG_PANELS) {
      ++*left_out;
      continue;
    }
    if (at == *count) {
      panels[(*count)++] = empty_panel(column, columns - PAWL_PLOT_CURVES);
    }
    add_curve(&panels[at], table, j, x_column(table), j - PAWL_PLOT_CURVES, column->name);
  }
}

static int column_of_name(const PawlRecorder* table, const char* name) {
  for (int j = PAWL_PLOT_CURVES; j < pawl_recorder_column_count(table); j++) {
    if (strcmp(pawl_recorder_column(table, j)->name, name) == 0) {
      return j;
    }
  }
  return -1;
}

static bool never_acts(const PawlSvgPanel* panel, PawlColumnKind kind) {
  return panel->lo > panel->hi ||
         (kind == PAWL_COLUMN_MULTIPLIER && panel->lo == 0.0 && panel->hi == 0.0);
}

static void compare_tables(int table_count, const PawlRecorder* const* tables,
                           const char* const* names, PawlSvgPanel panels[], int* count,
                           int* left_out) {
  int columns = pawl_recorder_column_count(tables[0]);
  for (int j = PAWL_PLOT_CURVES; j < columns; j++) {
    const PawlColumn* column = pawl_recorder_column(tables[0], j);
    PawlSvgPanel panel = empty_panel(column, table_count);
    panel.compares = true;
    for (int k = 0; k < table_count; k++) {
      int other = column_of_name(tables[k], column->name);
      if (other >= 0) {
        add_curve(&panel, tables[k], other, x_column(tables[k]), k, names[k]);
      }
    }
    bool room = *count < PAWL_SVG_PANELS, drawn = !never_acts(&panel, column->kind);
    if (room && drawn) {
      panels[(*count)++] = panel;
    }
    *left_out += drawn && !room;
  }
}

// Panels in which no value can be drawn go.
static void drop_empty(PawlSvgPanel panels[], int* count) {
  int kept = 0;
  for (int i = 0; i < *count; i++) {
    if (panels[i].lo <= panels[i].hi) {
      panels[kept++] = panels[i];
    }
  }
  *count = kept;
}

void pawl_svg_panels_chosen(int table_count, const PawlRecorder* const* tables,
                            const char* const* names, PawlSvgPanel panels[], int* count,
                            int* left_out) {
  *count = *left_out = 0;
  if (names) {
    compare_tables(table_count, tables, names, panels, count, left_out);
  } else {
    share_by_unit(tables[0], panels, count, left_out);
  }
  drop_empty(panels, count);
}
