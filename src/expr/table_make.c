// SPDX-License-Identifier: Apache-2.0
// The polynomials of a table from its points (docs/theory/tables.md).
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "expr/table_inside.h"

// ---- moments of a cubic spline ------------------------------------------------------------------
// The second derivatives m at the points, from
//   h_{i-1} m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_i m_{i+1} = 6 (d_i - d_{i-1})                 (T4)
// with steps h_i and slopes d_i of the chords. The matrix is dominated by its diagonal, so that it
// is solved from the first row to the last without exchanges.

// Rows 1 .. n - 1 of a tridiagonal system; `upper` (n + 1) is scratch, m has the right sides and
// becomes the solution.
static void solve_rows(int n, const double* h, double* upper, double* m) {
  upper[0] = 0.0;
  for (int i = 1; i < n; i++) {
    double pivot = 2.0 * (h[i - 1] + h[i]) - h[i - 1] * upper[i - 1];
    upper[i] = h[i] / pivot;
    m[i] = (m[i] - h[i - 1] * m[i - 1]) / pivot;
  }
  for (int i = n - 2; i >= 1; i--) {
    m[i] -= upper[i] * m[i + 1];
  }
}

static void natural_moments(int n, const double* h, const double* d, double* upper, double* m) {
  m[0] = m[n] = 0.0;
  for (int i = 1; i < n; i++) {
    m[i] = 6.0 * (d[i] - d[i - 1]);
  }
  if (n > 1) {
    solve_rows(n, h, upper, m);
  }
}

// Row 0 has the pieces n - 1 and 0 about it. With m_0 = s the others are p + s w, p for the right
// sides and w for the columns of s; row 0 gives s.                                            (T5)
static void periodic_moments(int n, const double* h, const double* d, double* upper, double* w,
                             double* m) {
  m[0] = m[n] = 0.0;
  if (n < 2) {
    return;
  }
  for (int i = 0; i <= n; i++) {
    w[i] = 0.0;
  }
  for (int i = 1; i < n; i++) {
    m[i] = 6.0 * (d[i] - d[i - 1]);
  }
  w[1] -= h[0];
  w[n - 1] -= h[n - 1];
  solve_rows(n, h, upper, m);
  solve_rows(n, h, upper, w);
  double left = 6.0 * (d[0] - d[n - 1]) - h[0] * m[1] - h[n - 1] * m[n - 1];
  double s = left / (2.0 * (h[n - 1] + h[0]) + h[0] * w[1] + h[n - 1] * w[n - 1]);
  for (int i = 1; i < n; i++) {
    m[i] += s * w[i];
  }
  m[0] = m[n] = s;
}

typedef struct Line {  // of points: steps, slopes of chords, scratch
  int n;               // pieces
  double *h, *d, *upper, *w, *m;
} Line;

static int open_line(PawlArena* arena, Line* line, int n) {
  size_t count = (size_t)n + 1;
  double* room = PAWL_NEW(arena, double, 5 * count);
  if (!room) {
    return -1;
  }
  *line = (Line){n, room, room + count, room + 2 * count, room + 3 * count, room + 4 * count};
  return 0;
}

static void take_line(Line* line, const double* x, const double* y, size_t stride) {
  for (int i = 0; i < line->n; i++) {
    line->h[i] = x[i + 1] - x[i];
    line->d[i] = (y[(size_t)(i + 1) * stride] - y[(size_t)i * stride]) / line->h[i];
  }
}

static void find_moments(Line* line, bool periodic) {
  if (periodic) {
    periodic_moments(line->n, line->h, line->d, line->upper, line->w, line->m);
  } else {
    natural_moments(line->n, line->h, line->d, line->upper, line->m);
  }
}

// The polynomial of a piece from the values and moments at its ends.
static void from_moments(double h, double f0, double f1, double m0, double m1, double* c,
                         size_t stride) {
  c[0] = f0;
  c[stride] = (f1 - f0) / h - h * (2.0 * m0 + m1) / 6.0;
  c[2 * stride] = m0 / 2.0;
  c[3 * stride] = (m1 - m0) / (6.0 * h);
}

// ---- monotone -----------------------------------------------------------------------------------

static double mean_slope(double before, double after) {
  return before * after <= 0.0 ? 0.0 : 0.5 * (before + after);
}

// Slopes at the points that keep every piece between its ends: into the circle of radius 3. (T6)
static void limit_slopes(int n, const double* d, double* m) {
  static const double RADIUS = 3.0;
  for (int i = 0; i < n; i++) {
    if (d[i] == 0.0) {
      m[i] = m[i + 1] = 0.0;
      continue;
    }
    double a = m[i] / d[i], b = m[i + 1] / d[i], far = sqrt(a * a + b * b);
    if (far > RADIUS) {
      m[i] = RADIUS / far * a * d[i];
      m[i + 1] = RADIUS / far * b * d[i];
    }
  }
}

static void monotone_slopes(Line* line, bool periodic) {
  int n = line->n;
  double *d = line->d, *m = line->m;
  m[0] = periodic ? mean_slope(d[n - 1], d[0]) : d[0];
  m[n] = periodic ? m[0] : d[n - 1];
  for (int i = 1; i < n; i++) {
    m[i] = mean_slope(d[i - 1], d[i]);
  }
  limit_slopes(n, d, m);
  if (periodic) {  // both have the sign of the mean slope; the smaller one fits both pieces
    m[0] = m[n] = fabs(m[0]) < fabs(m[n]) ? m[0] : m[n];
  }
}

static void from_slopes(double h, double f0, double d, double m0, double m1, double* c) {
  c[0] = f0;
  c[1] = m0;
  c[2] = (3.0 * d - 2.0 * m0 - m1) / h;
  c[3] = (m0 + m1 - 2.0 * d) / (h * h);
}

// ---- one argument -------------------------------------------------------------------------------

static PawlStatus fill_pieces(PawlTable* table, const PawlTableDef* def) {
  int n = def->count[0] - 1;
  bool periodic = def->outside == PAWL_TABLE_PERIODIC;
  PawlArena scratch = {0};
  Line line;
  table->coefficients = pawl_arena_alloc(&table->arena, (size_t)n, sizeof *table->coefficients);
  if (!table->coefficients || open_line(&scratch, &line, n) != 0) {
    pawl_arena_free(&scratch);
    return PAWL_ERROR_MEMORY;
  }
  take_line(&line, def->x, def->value, 1);
  if (def->method == PAWL_TABLE_CUBIC) {
    find_moments(&line, periodic);
  } else if (def->method == PAWL_TABLE_MONOTONE) {
    monotone_slopes(&line, periodic);
  }
  for (int i = 0; i < n; i++) {
    const double *f = def->value + i, *m = line.m + i;
    double* c = table->coefficients[i];
    if (def->method == PAWL_TABLE_CUBIC) {
      from_moments(line.h[i], f[0], f[1], m[0], m[1], c, 1);
    } else if (def->method == PAWL_TABLE_MONOTONE) {
      from_slopes(line.h[i], f[0], line.d[i], m[0], m[1], c);
    } else {
      c[0] = f[0];
      c[1] = line.d[i];
    }
  }
  table->ends[0] = def->value[0];
  table->ends[1] = def->value[n];
  pawl_arena_free(&scratch);
  return PAWL_OK;
}

// ---- two arguments ------------------------------------------------------------------------------

// Moments along one side of a grid, for every line of the other; zero for straight pieces.
static void grid_moments(const PawlTableDef* def, Line* line, int side, const double* f,
                         double* out) {
  int lines = def->count[1 - side];
  size_t stride = side == 0 ? (size_t)def->count[1] : 1,
         step = side == 0 ? 1 : (size_t)def->count[1];
  for (int k = 0; k < lines; k++) {
    size_t from = (size_t)k * step;
    line->n = def->count[side] - 1;
    take_line(line, side == 0 ? def->x : def->y, f + from, stride);
    find_moments(line, def->outside == PAWL_TABLE_PERIODIC);
    for (int i = 0; i <= line->n; i++) {
      out[from + (size_t)i * stride] = def->method == PAWL_TABLE_CUBIC ? line->m[i] : 0.0;
    }
  }
}

// f, its moments along x, along y, and along both, at the corners of a cell.                  (T7)
static void fill_cell(const PawlTableDef* def, double* const f[4], int i, int j, double* c) {
  double hx = def->x[i + 1] - def->x[i], hy = def->y[j + 1] - def->y[j];
  size_t ny = (size_t)def->count[1], at = (size_t)i * ny + (size_t)j;
  double of_x[4][4];  // along x: of f and its moments along y, at both ends of y
  for (int k = 0; k < 4; k++) {
    size_t corner = at + (size_t)(k % 2);
    const double *value = f[k < 2 ? 0 : 2], *moment = f[k < 2 ? 1 : 3];
    from_moments(hx, value[corner], value[corner + ny], moment[corner], moment[corner + ny],
                 of_x[k], 1);
  }
  for (int k = 0; k < 4; k++) {  // row k: the power k of x
    from_moments(hy, of_x[0][k], of_x[1][k], of_x[2][k], of_x[3][k], c + 4 * k, 1);
  }
}

static PawlStatus fill_cells(PawlTable* table, const PawlTableDef* def) {
  int nx = def->count[0] - 1, ny = def->count[1] - 1;
  size_t points = (size_t)def->count[0] * (size_t)def->count[1];
  PawlArena scratch = {0};
  Line line;
  double* f[4] = {PAWL_NEW(&scratch, double, points), PAWL_NEW(&scratch, double, points),
                  PAWL_NEW(&scratch, double, points), PAWL_NEW(&scratch, double, points)};
  table->cells = PAWL_NEW(&table->arena, double, 16 * (size_t)nx * (size_t)ny);
  if (!table->cells || open_line(&scratch, &line, nx > ny ? nx : ny) != 0 || scratch.failed) {
    pawl_arena_free(&scratch);
    return PAWL_ERROR_MEMORY;
  }
  memcpy(f[0], def->value, points * sizeof(double));
  grid_moments(def, &line, 0, f[0], f[1]);
  grid_moments(def, &line, 1, f[0], f[2]);
  grid_moments(def, &line, 1, f[1], f[3]);
  for (int i = 0; i < nx; i++) {
    for (int j = 0; j < ny; j++) {
      fill_cell(def, f, i, j, table->cells + 16 * ((size_t)i * (size_t)ny + (size_t)j));
    }
  }
  pawl_arena_free(&scratch);
  return PAWL_OK;
}

// ---- the whole ----------------------------------------------------------------------------------

static PawlStatus fill(PawlTable* table, const PawlTableDef* def) {
  table->method = def->method;
  table->outside = def->outside;
  table->arguments = def->count[1] > 0 ? 2 : 1;
  table->name = pawl_arena_copy(&table->arena, def->name, strlen(def->name));
  for (int k = 0; k < PAWL_TABLE_VIEWS; k++) {
    table->views[k] = (PawlTableView){table, k};
  }
  PAWL_TRY(pawl_axis_make(&table->arena, &table->axis[0], def->count[0], def->x));
  if (table->arguments == 2) {
    PAWL_TRY(pawl_axis_make(&table->arena, &table->axis[1], def->count[1], def->y));
    PAWL_TRY(fill_cells(table, def));
  } else {
    PAWL_TRY(fill_pieces(table, def));
  }
  return table->name ? PAWL_OK : PAWL_ERROR_MEMORY;
}

PawlStatus pawl_table_create(const PawlTableDef* def, PawlTable** out) {
  *out = NULL;
  PawlTable* table = pawl_alloc(1, sizeof *table);
  PawlStatus status = table ? fill(table, def) : PAWL_ERROR_MEMORY;
  if (status != PAWL_OK) {
    pawl_table_destroy(table);
    return status;
  }
  *out = table;
  return PAWL_OK;
}

void pawl_table_destroy(PawlTable* table) {
  if (table) {
    pawl_arena_free(&table->arena);
    pawl_free(table);
  }
}
