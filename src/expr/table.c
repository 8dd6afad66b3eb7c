// SPDX-License-Identifier: Apache-2.0
// Tables: finding a piece and adding up its polynomial (docs/theory/tables.md).
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "expr/table_inside.h"

const char* pawl_table_name(const PawlTable* table) {
  return table->name;
}

int pawl_table_arguments(const PawlTable* table) {
  return table->arguments;
}

PawlTableMethod pawl_table_method(const PawlTable* table) {
  return table->method;
}

PawlTableOutside pawl_table_outside(const PawlTable* table) {
  return table->outside;
}

void pawl_table_range(const PawlTable* table, double* from, double* to) {
  *from = table->axis[0].x[0];
  *to = table->axis[0].x[table->axis[0].pieces];
}

const PawlTableView* pawl_table_view(const PawlTable* table, int view) {
  return &table->views[view];
}

// ---- derivatives --------------------------------------------------------------------------------

int pawl_table_derivative(const PawlTable* table, int view, int by) {
  int most = table->method == PAWL_TABLE_LINEAR ? 1 : PAWL_TABLE_MOST_ORDER;
  if (table->arguments == 2) {
    int order[2] = {view / 4, view % 4};
    order[by]++;
    return order[by] > most ? -1 : 4 * order[0] + order[1];
  }
  if (view >= PAWL_TABLE_KNOT) {
    return -1;
  }
  // Between the points a position is linear; beyond them it is not, but only its side counts there.
  int order = view % 4 + 1;
  most = view >= PAWL_TABLE_POSITION ? PAWL_TABLE_MOST_ORDER : most;
  return order > most ? -1 : view + 1;
}

// ---- pieces -------------------------------------------------------------------------------------

static int cell_of(const PawlAxis* axis, double x) {
  double at = (x - axis->x[0]) * axis->scale;
  return at <= 0.0 ? 0 : at >= axis->cells ? axis->cells - 1 : (int)at;
}

// (T2): the last point at or before x, but the last piece at the end. x is inside the range.
static int find_piece(const PawlAxis* axis, double x) {
  int cell = cell_of(axis, x);
  int low = axis->before[cell], high = axis->before[cell + 1];
  // Points of lower cells are at or before x, those of higher ones after it.
  while (low < high) {
    int middle = low + (high - low + 1) / 2;
    if (axis->x[middle] <= x) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low < axis->pieces ? low : axis->pieces - 1;
}

PawlStatus pawl_axis_make(PawlArena* arena, PawlAxis* axis, int count, const double* x) {
  axis->pieces = count - 1;
  axis->cells = count - 1;
  axis->x = PAWL_NEW(arena, double, count);
  axis->before = PAWL_NEW(arena, int, axis->cells + 1);
  if (!axis->x || !axis->before) {
    return PAWL_ERROR_MEMORY;
  }
  memcpy(axis->x, x, (size_t)count * sizeof *x);
  axis->scale = axis->cells / (x[count - 1] - x[0]);
  // before[c]: the last point in a cell before c, the first point where there is none.
  for (int i = 0; i < count; i++) {
    int cell = cell_of(axis, x[i]);
    if (cell < axis->cells) {
      axis->before[cell + 1] = i;
    }
  }
  for (int c = 1; c <= axis->cells; c++) {
    axis->before[c] = axis->before[c] > axis->before[c - 1] ? axis->before[c] : axis->before[c - 1];
  }
  return PAWL_OK;
}

// ---- polynomials --------------------------------------------------------------------------------

// The derivative of this order of c[0] + c[1] u + c[2] u^2 + c[3] u^3.                        (T1)
static double polynomial(const double* c, double u, int order) {
  switch (order) {
    case 0:
      return ((c[3] * u + c[2]) * u + c[1]) * u + c[0];
    case 1:
      return (3.0 * c[3] * u + 2.0 * c[2]) * u + c[1];
    case 2:
      return 6.0 * c[3] * u + 2.0 * c[2];
    default:
      return 6.0 * c[3];
  }
}

// A straight line: the same operations as where its piece is held.                            (T3)
static double line(double level, double slope, double u, int order) {
  return order == 0 ? level + slope * u : order == 1 ? slope : 0.0;
}

typedef struct Place {
  int piece;    // -1 before the first point, `pieces` after the last, where these have a rule
  double u;     // from the beginning of the piece, or from the end of the range
  double turn;  // whole periods before it
} Place;

// Where x is; beyond the ends by the rule of the table.
static Place locate(const PawlTable* table, const PawlAxis* axis, double x) {
  double first = axis->x[0], last = axis->x[axis->pieces], turn = 0.0;
  if (table->outside == PAWL_TABLE_PERIODIC) {
    double period = last - first;
    turn = floor((x - first) / period);
    x -= turn * period;
    x = x < first ? first : x > last ? last : x;  // rounding
  } else if (x < first) {
    return (Place){-1, x - first, 0.0};
  } else if (x > last) {
    return (Place){axis->pieces, x - last, 0.0};
  }
  int piece = find_piece(axis, x);
  return (Place){piece, x - axis->x[piece], turn};
}

static double outside_value(const PawlTable* table, bool after, double u, int order) {
  int at = after ? table->axis[0].pieces - 1 : 0;
  const double* x = table->axis[0].x;
  const double* c = table->coefficients[at];
  double end = after ? x[at + 1] - x[at] : 0.0;
  switch (table->outside) {
    case PAWL_TABLE_HOLD:
      return order == 0 ? table->ends[after] : 0.0;
    case PAWL_TABLE_EXTEND:
      return line(table->ends[after], polynomial(c, end, 1), u, order);
    default:
      return NAN;
  }
}

// ---- one argument -------------------------------------------------------------------------------

static double value_at(const PawlTable* table, double x, int order) {
  const PawlAxis* axis = &table->axis[0];
  Place at = locate(table, axis, x);
  if (at.piece < 0 || at.piece == axis->pieces) {
    return outside_value(table, at.piece >= 0, at.u, order);
  }
  const double* c = table->coefficients[at.piece];
  return table->method == PAWL_TABLE_LINEAR ? line(c[0], c[1], at.u, order)
                                            : polynomial(c, at.u, order);
}

// d^order/dx^order of 1 - 1/(1 + x/w) for order >= 1, and that itself.
static double squeezed(double x, double w, int order) {
  double d = 1.0 + x / w, factor = -1.0 / d;
  for (int k = 1; k <= order; k++) {
    factor *= -k / (d * w);
  }
  return order == 0 ? 1.0 + factor : factor;
}

// (T8). A rule for the outside is a piece before the first and one after the last; without one the
// first and the last piece have no end. What has no end is squeezed into one unit.
static double position_at(const PawlTable* table, double x, int order) {
  const PawlAxis* axis = &table->axis[0];
  bool holds = table->outside == PAWL_TABLE_HOLD, turns = table->outside == PAWL_TABLE_PERIODIC;
  int n = axis->pieces;
  Place at = locate(table, axis, x);
  double sign = order % 2 == 0 ? -1.0 : 1.0, first = axis->x[1] - axis->x[0];
  if (turns || (holds && at.piece >= 0 && at.piece < n) || (at.piece > 0 && at.piece < n - 1)) {
    double w = axis->x[at.piece + 1] - axis->x[at.piece];
    return order == 0 ? at.turn * n + at.piece + at.u / w : order == 1 ? 1.0 / w : 0.0;
  }
  if (at.piece < 0 && holds) {
    return sign * squeezed(-at.u, first, order);
  }
  if (holds) {
    return (order == 0 ? n : 0.0) + squeezed(at.u, axis->x[n] - axis->x[n - 1], order);
  }
  if (at.piece <= 0 && n > 1) {
    return (order == 0 ? 1.0 : 0.0) + sign * squeezed(axis->x[1] - x, first, order);
  }
  double w = axis->x[n] - axis->x[n - 1];
  if (n > 1) {
    return (order == 0 ? n - 1.0 : 0.0) + squeezed(x - axis->x[n - 1], w, order);
  }
  return order == 0 ? 0.5 : 0.0;  // one piece: no border
}

// Of piece n, which is a whole number: its first point, the value there, its slope.           (T3)
static double piece_at(const PawlTable* table, double number, int view) {
  const PawlAxis* axis = &table->axis[0];
  int pieces = axis->pieces;
  double turn = 0.0;
  if (table->outside == PAWL_TABLE_PERIODIC) {
    turn = floor(number / pieces);
    number -= turn * pieces;
  }
  bool holds = table->outside == PAWL_TABLE_HOLD;
  if (holds && (number < 0.0 || number >= pieces)) {
    bool after = number >= pieces;
    return view == PAWL_TABLE_KNOT    ? axis->x[after ? pieces : 0]
           : view == PAWL_TABLE_LEVEL ? table->ends[after]
                                      : 0.0;
  }
  int n = number < 0.0 ? 0 : number >= pieces ? pieces - 1 : (int)number;
  double period = axis->x[pieces] - axis->x[0];
  return view == PAWL_TABLE_KNOT ? axis->x[n] + turn * period
                                 : table->coefficients[n][view - PAWL_TABLE_LEVEL];
}

double pawl_table_at(const PawlTableView* view, double x) {
  if (isnan(x)) {
    return NAN;
  }
  int which = view->view;
  return which >= PAWL_TABLE_KNOT       ? piece_at(view->table, x, which)
         : which >= PAWL_TABLE_POSITION ? position_at(view->table, x, which - PAWL_TABLE_POSITION)
                                        : value_at(view->table, x, which);
}

// ---- two arguments ------------------------------------------------------------------------------

// Beyond an end the value is that at the end (hold), or a straight line through it (extend).
typedef struct Side {
  int piece;
  double u;       // in the piece
  double beyond;  // of the end
  int order;      // asked for
  bool none;      // the derivative is zero there
  bool fault;
} Side;

static Side side_of(const PawlTable* table, const PawlAxis* axis, double x, int order) {
  Place at = locate(table, axis, x);
  bool before = at.piece < 0, after = at.piece == axis->pieces;
  Side side = {at.piece, at.u, 0.0, order, false, false};
  if (!before && !after) {
    return side;
  }
  side.piece = after ? axis->pieces - 1 : 0;
  side.u = after ? axis->x[side.piece + 1] - axis->x[side.piece] : 0.0;
  side.beyond = table->outside == PAWL_TABLE_EXTEND ? at.u : 0.0;
  side.none = order > (table->outside == PAWL_TABLE_EXTEND ? 1 : 0);
  side.fault = table->outside == PAWL_TABLE_ERROR;
  return side;
}

// The derivatives of these orders at a place of a cell.                                       (T7)
static double cell_value(const PawlTable* table, const Side* x, const Side* y, int kx, int ky) {
  const double* c =
      table->cells + 16 * ((size_t)x->piece * (size_t)table->axis[1].pieces + (size_t)y->piece);
  double along[4];
  for (int k = 0; k < 4; k++) {
    along[k] = polynomial(c + 4 * k, y->u, ky);
  }
  return polynomial(along, x->u, kx);
}

double pawl_table_at_two(const PawlTableView* view, double x, double y) {
  const PawlTable* table = view->table;
  if (isnan(x) || isnan(y)) {
    return NAN;
  }
  Side a = side_of(table, &table->axis[0], x, view->view / 4);
  Side b = side_of(table, &table->axis[1], y, view->view % 4);
  if (a.fault || b.fault) {
    return NAN;
  }
  if (a.none || b.none) {
    return 0.0;
  }
  double value = cell_value(table, &a, &b, a.order, b.order);
  bool on_x = a.beyond != 0.0 && a.order == 0, on_y = b.beyond != 0.0 && b.order == 0;
  value += on_x ? a.beyond * cell_value(table, &a, &b, 1, b.order) : 0.0;
  value += on_y ? b.beyond * cell_value(table, &a, &b, a.order, 1) : 0.0;
  value += on_x && on_y ? a.beyond * b.beyond * cell_value(table, &a, &b, 1, 1) : 0.0;
  return value;
}
