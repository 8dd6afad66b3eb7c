// SPDX-License-Identifier: Apache-2.0
// Rules that pawl_dag_apply and pawl_dag_powi use while they build. Letters: x, y any node, c a
// constant, n a whole number. None looks at the sign of a constant or reorders what was written, so
// that the members of a family keep one shape.
//
//   constants    operations on constants are folded when the result is finite; 1/0 stays a node
//   sums         x + 0, x - 0, 0 - x; x - x = 0; x + (-y) = x - y; x - (-y) = x + y;
//                (-x) + y = y - x; (-x) - y = -(x + y); -(x - y) = y - x; -(-x) = x
//   like terms   (c1 x) + (c2 x) = (c1 + c2) x, where c x is also x, -x, x/c
//   products     x*0 = 0; x*1; x*(-1) = -x; (-x)*y = -(x*y); -(c x) = (-c) x;
//                (c1 x)*(c2 y) = (c1 c2)*(x*y); x^m x^n = x^(m+n) for m, n of one sign; x*(1/y) =
//                x/y
//   quotients    0/x = 0; x/1; x/(-1) = -x; (-x)/y = x/(-y) = -(x/y); (c1 x)/c2 = (c1/c2) x
//   powers       x^0 = 1; x^1; x^-1 = 1/x; x^n for |n| <= 64 as POWI; x^0.5 = sqrt x;
//                x^-0.5 = 1/sqrt x; (x^m)^n = x^(m n) unless both are negative;
//                even powers drop -x and abs x to x, odd ones let the sign out
//   functions    by the facts in function.def: f(-x) = -f(x) if odd, f(-x) = f(x) if even;
//                f(f(x)) = f(x), f(x, x) = x if idempotent
//   logic        x < x, x <= x and so on; not of a comparison; not not x of a truth value;
//                and, or with a constant; if(c, x, y); if(c, x, x) = x; if(not c, x, y) = if(c, y,
//                x)
//
// Quotients of constants are merged only where the result is exact, so 2*x/3 stays as written.
// Left alone because they would hide a fault: x/x, x^2 x^-1, sqrt(x)^2, exp(log x).
//
// Rules build with pawl_dag_apply again. That ends soon: each takes away a sign, a coefficient or
// a level of power, and none of these is nested in a node built by the rules (SCALE_ONCE).
#include <limits.h>

#include "expr/dag_store.h"

enum { NO_RULE = -2, LARGEST_POWER = 64 };

static bool has_op(const PawlDag* d, PawlNode node, PawlOp op) {
  return d->node[node].op == op;
}

static bool equals(const PawlDag* d, PawlNode node, double value) {
  return d->node[node].op == PAWL_OP_CONST && d->node[node].value == value;
}

static PawlNode arg(const PawlDag* d, PawlNode node, int k) {
  return d->node[node].arg[k];
}

// ---- coefficients ---------------------------------------------------------------------------
// A node seen as (n / d) x. A constant is n alone, with x = PAWL_NO_NODE.
typedef struct Term {
  double n, d;
  PawlNode x;
} Term;

static bool is_number(const PawlDag* d, PawlNode node, double* value) {
  return pawl_dag_is_const(d, node, value) && *value != 0.0 && isfinite(*value);
}

static Term term_of(const PawlDag* d, PawlNode node) {
  Term term = {1.0, 1.0, node};
  if (has_op(d, term.x, PAWL_OP_NEG)) {
    term.n = -1.0;
    term.x = arg(d, term.x, 0);
  }
  PawlNode x = term.x;
  double c;
  if (is_number(d, x, &c)) {
    return (Term){term.n * c, 1.0, PAWL_NO_NODE};
  }
  if (has_op(d, x, PAWL_OP_MUL) && is_number(d, arg(d, x, 0), &c)) {
    return (Term){term.n * c, 1.0, arg(d, x, 1)};
  }
  if (has_op(d, x, PAWL_OP_MUL) && is_number(d, arg(d, x, 1), &c)) {
    return (Term){term.n * c, 1.0, arg(d, x, 0)};
  }
  if (has_op(d, x, PAWL_OP_DIV) && is_number(d, arg(d, x, 1), &c)) {
    return (Term){term.n, c, arg(d, x, 0)};
  }
  return term;
}

static bool is_plain(const PawlDag* d, PawlNode node) {
  return term_of(d, node).x == node;
}

static bool exact_ratio(double n, double d, double* ratio) {
  *ratio = n / d;
  return isfinite(*ratio) && *ratio != 0.0 && fma(*ratio, d, -n) == 0.0;
}

static bool whole_divisor(double n, double d, double* ratio) {
  return exact_ratio(d, n, ratio) && *ratio == floor(*ratio);
}

// (n / d) x where that can be written with one exact constant. SCALE_ONCE: x must carry no
// coefficient of its own, which bounds the depth of rules calling rules.
static PawlNode scaled(PawlDag* dag, double n, double d, PawlNode x) {
  double ratio;
  if (!isfinite(n) || !isfinite(d) || n == 0.0 || d == 0.0) {
    return NO_RULE;
  }
  if (n == d) {
    return x;
  }
  if (!is_plain(dag, x)) {
    return NO_RULE;
  }
  if (exact_ratio(n, d, &ratio)) {
    return pawl_dag_mul(dag, pawl_dag_const(dag, ratio), x);
  }
  if (whole_divisor(n, d, &ratio)) {
    return pawl_dag_div(dag, x, pawl_dag_const(dag, ratio));
  }
  return NO_RULE;
}

// ---- sums -----------------------------------------------------------------------------------
static PawlNode like_terms(PawlDag* d, PawlNode a, PawlNode b, double sign) {
  Term ta = term_of(d, a), tb = term_of(d, b);
  if (ta.x != tb.x || ta.x == PAWL_NO_NODE) {
    return NO_RULE;
  }
  bool same = ta.d == tb.d;
  double n = same ? ta.n + sign * tb.n : ta.n * tb.d + sign * tb.n * ta.d;
  if (n == 0.0) {
    return pawl_dag_const(d, 0.0);
  }
  return scaled(d, n, same ? ta.d : ta.d * tb.d, ta.x);
}

static PawlNode rule_add(PawlDag* d, PawlNode a, PawlNode b) {
  if (equals(d, a, 0.0)) {
    return b;
  }
  if (equals(d, b, 0.0)) {
    return a;
  }
  PawlNode merged = like_terms(d, a, b, 1.0);
  if (merged != NO_RULE) {
    return merged;
  }
  if (a == b) {
    return pawl_dag_mul(d, pawl_dag_const(d, 2.0), a);
  }
  if (has_op(d, b, PAWL_OP_NEG)) {
    return pawl_dag_sub(d, a, arg(d, b, 0));
  }
  return has_op(d, a, PAWL_OP_NEG) ? pawl_dag_sub(d, b, arg(d, a, 0)) : NO_RULE;
}

static PawlNode rule_sub(PawlDag* d, PawlNode a, PawlNode b) {
  if (a == b) {
    return pawl_dag_const(d, 0.0);
  }
  if (equals(d, a, 0.0)) {
    return pawl_dag_neg(d, b);
  }
  if (equals(d, b, 0.0)) {
    return a;
  }
  PawlNode merged = like_terms(d, a, b, -1.0);
  if (merged != NO_RULE) {
    return merged;
  }
  if (has_op(d, b, PAWL_OP_NEG)) {
    return pawl_dag_add(d, a, arg(d, b, 0));
  }
  return has_op(d, a, PAWL_OP_NEG) ? pawl_dag_neg(d, pawl_dag_add(d, arg(d, a, 0), b)) : NO_RULE;
}

static PawlNode rule_neg(PawlDag* d, PawlNode a) {
  if (has_op(d, a, PAWL_OP_NEG)) {
    return arg(d, a, 0);
  }
  if (has_op(d, a, PAWL_OP_SUB)) {
    return pawl_dag_sub(d, arg(d, a, 1), arg(d, a, 0));
  }
  if (has_op(d, a, PAWL_OP_MUL)) {
    Term term = term_of(d, a);
    return term.x == a ? NO_RULE : scaled(d, -term.n, 1.0, term.x);
  }
  return NO_RULE;
}

// ---- products and quotients -----------------------------------------------------------------
static PawlNode merge_coefficients(PawlDag* d, PawlNode a, PawlNode b) {
  Term ta = term_of(d, a), tb = term_of(d, b);
  if (ta.x == a || tb.x == b) {
    return NO_RULE;  // only one of them has a coefficient
  }
  double n = ta.n * tb.n, divisor = ta.d * tb.d;
  if (ta.x == PAWL_NO_NODE || tb.x == PAWL_NO_NODE) {
    return scaled(d, n, divisor, ta.x == PAWL_NO_NODE ? tb.x : ta.x);
  }
  double ratio;
  if (!is_plain(d, ta.x) || !is_plain(d, tb.x) ||
      !(exact_ratio(n, divisor, &ratio) || whole_divisor(n, divisor, &ratio))) {
    return NO_RULE;
  }
  PawlNode product = pawl_dag_mul(d, ta.x, tb.x);
  return product < 0 ? product : scaled(d, n, divisor, product);
}

// x^m x^n with m and n of one sign, so that no fault at x = 0 is lost.
static PawlNode merge_powers(PawlDag* d, PawlNode a, PawlNode b) {
  PawlNode x = has_op(d, a, PAWL_OP_POWI) ? arg(d, a, 0) : a;
  PawlNode y = has_op(d, b, PAWL_OP_POWI) ? arg(d, b, 0) : b;
  int m = x == a ? 1 : d->node[a].index;
  int n = y == b ? 1 : d->node[b].index;
  bool fits = m > -LARGEST_POWER && m < LARGEST_POWER && n > -LARGEST_POWER && n < LARGEST_POWER;
  if (x != y || (m > 0) != (n > 0) || !fits) {
    return NO_RULE;
  }
  return m + n <= LARGEST_POWER && m + n >= -LARGEST_POWER ? pawl_dag_powi(d, x, m + n) : NO_RULE;
}

static PawlNode rule_mul(PawlDag* d, PawlNode a, PawlNode b) {
  for (int k = 0; k < 2; k++) {
    PawlNode c = k == 0 ? a : b, other = k == 0 ? b : a;
    if (equals(d, c, 0.0)) {
      return c;
    }
    if (equals(d, c, 1.0)) {
      return other;
    }
    if (equals(d, c, -1.0)) {
      return pawl_dag_neg(d, other);
    }
  }
  PawlNode merged = merge_coefficients(d, a, b);
  if (merged != NO_RULE) {
    return merged;
  }
  bool negative_a = has_op(d, a, PAWL_OP_NEG), negative_b = has_op(d, b, PAWL_OP_NEG);
  if (negative_a || negative_b) {
    PawlNode product =
        pawl_dag_mul(d, negative_a ? arg(d, a, 0) : a, negative_b ? arg(d, b, 0) : b);
    return negative_a == negative_b ? product : pawl_dag_neg(d, product);
  }
  merged = merge_powers(d, a, b);
  if (merged != NO_RULE) {
    return merged;
  }
  if (has_op(d, b, PAWL_OP_DIV) && equals(d, arg(d, b, 0), 1.0)) {
    return pawl_dag_div(d, a, arg(d, b, 1));
  }
  if (has_op(d, a, PAWL_OP_DIV) && equals(d, arg(d, a, 0), 1.0)) {
    return pawl_dag_div(d, b, arg(d, a, 1));
  }
  return NO_RULE;
}

static PawlNode rule_div(PawlDag* d, PawlNode a, PawlNode b) {
  if (equals(d, a, 0.0) && !equals(d, b, 0.0)) {
    return a;
  }
  if (equals(d, b, 1.0)) {
    return a;
  }
  if (equals(d, b, -1.0)) {
    return pawl_dag_neg(d, a);
  }
  double c;
  if (is_number(d, b, &c)) {
    Term term = term_of(d, a);
    if (term.x != a && term.x != PAWL_NO_NODE) {
      PawlNode merged = scaled(d, term.n, term.d * c, term.x);
      if (merged != NO_RULE) {
        return merged;
      }
    }
  }
  if (has_op(d, a, PAWL_OP_NEG)) {
    return pawl_dag_neg(d, pawl_dag_div(d, arg(d, a, 0), b));
  }
  return has_op(d, b, PAWL_OP_NEG) ? pawl_dag_neg(d, pawl_dag_div(d, a, arg(d, b, 0))) : NO_RULE;
}

// ---- powers ---------------------------------------------------------------------------------
static PawlNode power_of_power(PawlDag* d, PawlNode a, int n) {
  int m = d->node[a].index;
  if ((m < 0 && n < 0) || m > LARGEST_POWER || m < -LARGEST_POWER || n > LARGEST_POWER ||
      n < -LARGEST_POWER || m * n > LARGEST_POWER || m * n < -LARGEST_POWER) {
    return NO_RULE;
  }
  return pawl_dag_powi(d, arg(d, a, 0), m * n);
}

static PawlNode rule_powi(PawlDag* d, PawlNode a, int n) {
  bool even = n % 2 == 0;
  if (has_op(d, a, PAWL_OP_NEG)) {
    PawlNode power = pawl_dag_powi(d, arg(d, a, 0), n);
    return even ? power : pawl_dag_neg(d, power);
  }
  if (has_op(d, a, PAWL_OP_ABS) && even) {
    return pawl_dag_powi(d, arg(d, a, 0), n);
  }
  return has_op(d, a, PAWL_OP_POWI) ? power_of_power(d, a, n) : NO_RULE;
}

PawlNode pawl_dag_powi(PawlDag* d, PawlNode a, int exponent) {
  if (!pawl_dag_has(d, a) || exponent == INT_MIN) {
    return PAWL_NO_NODE;
  }
  if (exponent == 0) {
    return pawl_dag_const(d, 1.0);
  }
  if (exponent == 1) {
    return a;
  }
  if (has_op(d, a, PAWL_OP_CONST)) {
    double value = pawl_powi(d->node[a].value, exponent);
    if (isfinite(value)) {
      return pawl_dag_const(d, value);
    }
  }
  if (exponent == -1) {
    return pawl_dag_div(d, pawl_dag_const(d, 1.0), a);
  }
  PawlNode simple = rule_powi(d, a, exponent);
  return simple != NO_RULE
             ? simple
             : pawl_dag_make(d, PAWL_OP_POWI, exponent, a, PAWL_NO_NODE, PAWL_NO_NODE);
}

static PawlNode rule_pow(PawlDag* d, PawlNode a, PawlNode b) {
  double exponent;
  if (!pawl_dag_is_const(d, b, &exponent)) {
    return NO_RULE;
  }
  if (exponent == floor(exponent) && fabs(exponent) <= LARGEST_POWER) {
    return pawl_dag_powi(d, a, (int)exponent);
  }
  if (exponent == 0.5) {
    return pawl_dag_unary(d, PAWL_OP_SQRT, a);
  }
  if (exponent == -0.5) {
    return pawl_dag_div(d, pawl_dag_const(d, 1.0), pawl_dag_unary(d, PAWL_OP_SQRT, a));
  }
  return NO_RULE;
}

// ---- functions and logic --------------------------------------------------------------------
// By the facts of the table.
static PawlNode rule_function(PawlDag* d, PawlOp op, PawlNode a, PawlNode b) {
  if (pawl_op_has(op, PAWL_FACT_IDEMPOTENT) && (b >= 0 ? a == b : has_op(d, a, op))) {
    return a;
  }
  if (!has_op(d, a, PAWL_OP_NEG)) {
    return NO_RULE;
  }
  if (pawl_op_has(op, PAWL_FACT_ODD)) {
    return pawl_dag_neg(d, pawl_dag_unary(d, op, arg(d, a, 0)));
  }
  return pawl_op_has(op, PAWL_FACT_EVEN) ? pawl_dag_unary(d, op, arg(d, a, 0)) : NO_RULE;
}

// True when a node is 0 or 1 by its operation.
static bool is_truth(const PawlDag* d, PawlNode a) {
  return pawl_op_is_logical(d->node[a].op);
}

static PawlNode truth_of(PawlDag* d, PawlNode a) {
  return is_truth(d, a) ? a
                        : pawl_dag_apply(d, PAWL_OP_NE, a, pawl_dag_const(d, 0.0), PAWL_NO_NODE);
}

static PawlNode rule_not(PawlDag* d, PawlNode a) {
  PawlNode x = arg(d, a, 0), y = arg(d, a, 1);
  if (has_op(d, a, PAWL_OP_LT)) {
    return pawl_dag_apply(d, PAWL_OP_LE, y, x, PAWL_NO_NODE);
  }
  if (has_op(d, a, PAWL_OP_LE)) {
    return pawl_dag_apply(d, PAWL_OP_LT, y, x, PAWL_NO_NODE);
  }
  if (has_op(d, a, PAWL_OP_EQ)) {
    return pawl_dag_apply(d, PAWL_OP_NE, x, y, PAWL_NO_NODE);
  }
  if (has_op(d, a, PAWL_OP_NE)) {
    return pawl_dag_apply(d, PAWL_OP_EQ, x, y, PAWL_NO_NODE);
  }
  return has_op(d, a, PAWL_OP_NOT) ? truth_of(d, x) : NO_RULE;
}

// `and` (absorbing 0) or `or` (absorbing anything else).
static PawlNode rule_and_or(PawlDag* d, PawlOp op, PawlNode a, PawlNode b) {
  if (a == b) {
    return truth_of(d, a);
  }
  double value;
  for (int k = 0; k < 2; k++) {
    if (!pawl_dag_is_const(d, k == 0 ? a : b, &value) || isnan(value)) {
      continue;
    }
    if ((value != 0.0) == (op == PAWL_OP_OR)) {
      return pawl_dag_const(d, op == PAWL_OP_OR);
    }
    return truth_of(d, k == 0 ? b : a);
  }
  return NO_RULE;
}

static PawlNode rule_if(PawlDag* d, PawlNode condition, PawlNode a, PawlNode b) {
  double value;
  if (pawl_dag_is_const(d, condition, &value) && !isnan(value)) {
    return value != 0.0 ? a : b;
  }
  if (a == b) {
    return a;
  }
  if (has_op(d, condition, PAWL_OP_NOT)) {
    return pawl_dag_apply(d, PAWL_OP_IF, arg(d, condition, 0), b, a);
  }
  return NO_RULE;
}

static PawlNode rule_compare(PawlDag* d, PawlOp op, PawlNode a, PawlNode b) {
  return a == b ? pawl_dag_const(d, op == PAWL_OP_LE || op == PAWL_OP_EQ) : NO_RULE;
}

// ---- the dispatch ---------------------------------------------------------------------------
static PawlNode fold(PawlDag* d, PawlOp op, PawlNode a, PawlNode b, PawlNode c) {
  double value[3] = {0.0, 0.0, 0.0};
  PawlNode operand[3] = {a, b, c};
  for (int k = 0; k < pawl_op_operands(op); k++) {
    if (!pawl_dag_is_const(d, operand[k], &value[k])) {
      return NO_RULE;
    }
  }
  double result = pawl_op_value(op, 0, value[0], value[1], value[2]);
  return isfinite(result) ? pawl_dag_const(d, result) : NO_RULE;
}

static PawlNode rule(PawlDag* d, PawlOp op, PawlNode a, PawlNode b, PawlNode c) {
  switch (op) {
    case PAWL_OP_NEG:
      return rule_neg(d, a);
    case PAWL_OP_ADD:
      return rule_add(d, a, b);
    case PAWL_OP_SUB:
      return rule_sub(d, a, b);
    case PAWL_OP_MUL:
      return rule_mul(d, a, b);
    case PAWL_OP_DIV:
      return rule_div(d, a, b);
    case PAWL_OP_POW:
      return rule_pow(d, a, b);
#define PAWL_FUNCTION(name, ...) case PAWL_OP_##name:
#include "expr/op.def"
      return rule_function(d, op, a, b);
    case PAWL_OP_LT:
    case PAWL_OP_LE:
    case PAWL_OP_EQ:
    case PAWL_OP_NE:
      return rule_compare(d, op, a, b);
    case PAWL_OP_AND:
    case PAWL_OP_OR:
      return rule_and_or(d, op, a, b);
    case PAWL_OP_NOT:
      return rule_not(d, a);
    case PAWL_OP_IF:
      return rule_if(d, a, b, c);
    case PAWL_OP_POWI:  // pawl_dag_powi has its rules
    case PAWL_OP_TABLE:
    case PAWL_OP_TABLE2:
#define PAWL_LEAF(name, ...) case PAWL_OP_##name:
#include "expr/op.def"
    case PAWL_OP_COUNT:
      break;
  }
  return NO_RULE;
}

PawlNode pawl_dag_apply(PawlDag* dag, PawlOp op, PawlNode a, PawlNode b, PawlNode c) {
  if (pawl_op_is_leaf(op) || op >= PAWL_OP_COUNT || op == PAWL_OP_POWI || op == PAWL_OP_TABLE ||
      op == PAWL_OP_TABLE2) {
    return PAWL_NO_NODE;
  }
  int operands = pawl_op_operands(op);
  if (!pawl_dag_has(dag, a) || (operands > 1 && !pawl_dag_has(dag, b)) ||
      (operands > 2 && !pawl_dag_has(dag, c))) {
    return PAWL_NO_NODE;
  }
  b = operands > 1 ? b : PAWL_NO_NODE;
  c = operands > 2 ? c : PAWL_NO_NODE;
  PawlNode simple = fold(dag, op, a, b, c);
  if (simple == NO_RULE) {
    simple = rule(dag, op, a, b, c);
  }
  return simple != NO_RULE ? simple : pawl_dag_make(dag, op, 0, a, b, c);
}

PawlNode pawl_dag_table(PawlDag* dag, int table, int view, PawlNode a, PawlNode b) {
  if (!dag->tables || table < 0 || table >= dag->tables->count || !pawl_dag_has(dag, a)) {
    return PAWL_NO_NODE;
  }
  const PawlTable* looked = dag->tables->item[table];
  bool two = pawl_table_arguments(looked) == 2;
  if (two && !pawl_dag_has(dag, b)) {
    return PAWL_NO_NODE;
  }
  if (view < 0) {
    return pawl_dag_const(dag, 0.0);
  }
  double x, y = 0.0;
  if (pawl_dag_is_const(dag, a, &x) && (!two || pawl_dag_is_const(dag, b, &y))) {
    const PawlTableView* at = pawl_table_view(looked, view);
    double value = two ? pawl_table_at_two(at, x, y) : pawl_table_at(at, x);
    if (isfinite(value)) {
      return pawl_dag_const(dag, value);
    }
  }
  return pawl_dag_make(dag, two ? PAWL_OP_TABLE2 : PAWL_OP_TABLE, table * PAWL_TABLE_VIEWS + view,
                       a, two ? b : PAWL_NO_NODE, PAWL_NO_NODE);
}

PawlNode pawl_dag_rebuild(PawlDag* dag, const PawlDagNode* like, const PawlNode arg[3]) {
  switch (like->op) {
    case PAWL_OP_POWI:
      return pawl_dag_powi(dag, arg[0], like->index);
    case PAWL_OP_TABLE:
    case PAWL_OP_TABLE2:
      return pawl_dag_table(dag, like->index / PAWL_TABLE_VIEWS, like->index % PAWL_TABLE_VIEWS,
                            arg[0], arg[1]);
    default:
      return pawl_dag_apply(dag, like->op, arg[0], arg[1], arg[2]);
  }
}
