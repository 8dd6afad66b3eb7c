// SPDX-License-Identifier: Apache-2.0
// Equation labels refer to docs/theory/contacts.md.
#include "step/gaps.h"

#include <math.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/model.h"
#include "system/system.h"

enum { MOST_LOOKED_AT = 4096, MOST_NAMED = 3 };  // contacts

typedef struct Range {  // of the values that a node can have, and more
  double low, high;
} Range;

static const Range ANY = {-INFINITY, INFINITY}, POSITIVE = {0.0, INFINITY};

// ---- ranges of operations -----------------------------------------------------------------------
static double times(double a, double b) {
  return a == 0.0 || b == 0.0 ? 0.0 : a * b;  // no bound times nothing
}

static Range product(Range a, Range b) {
  double ll = times(a.low, b.low), lh = times(a.low, b.high), hl = times(a.high, b.low);
  double hh = times(a.high, b.high);
  return (Range){fmin(fmin(ll, lh), fmin(hl, hh)), fmax(fmax(ll, lh), fmax(hl, hh))};
}

static Range size(Range a) {
  double low = a.low > 0.0 ? a.low : a.high < 0.0 ? -a.high : 0.0;
  return (Range){low, fmax(-a.low, a.high)};
}

// a^n of a whole n.
static Range power(Range a, int n) {
  if (n < 0) {
    return n % 2 == 0 || a.low > 0.0 ? POSITIVE : ANY;
  }
  Range of = n % 2 == 0 ? size(a) : a;
  return (Range){pow(of.low, n), pow(of.high, n)};
}

static Range quotient(Range a, Range b) {
  return a.low >= 0.0 && b.low >= 0.0 ? POSITIVE : ANY;
}

static Range either(Range a, Range b) {
  return (Range){fmin(a.low, b.low), fmax(a.high, b.high)};
}

static Range function(PawlOp op, Range a, Range b) {
  switch ((int)op) {  // what is not here may be anything
    case PAWL_OP_ABS:
      return size(a);
    case PAWL_OP_SQRT:
      return (Range){sqrt(fmax(a.low, 0.0)), INFINITY};
    case PAWL_OP_HYPOT:
      return (Range){fmax(size(a).low, size(b).low), INFINITY};
    case PAWL_OP_EXP:
    case PAWL_OP_ACOS:
    case PAWL_OP_WRAP:
      return POSITIVE;
    case PAWL_OP_POW:  // of a base that is not negative
      return POSITIVE;
    case PAWL_OP_COSH:
      return (Range){1.0, INFINITY};
    case PAWL_OP_SIN:
    case PAWL_OP_COS:
    case PAWL_OP_TANH:
    case PAWL_OP_ERF:
    case PAWL_OP_SIGN:
      return (Range){-1.0, 1.0};
    case PAWL_OP_MIN:
      return (Range){fmin(a.low, b.low), fmin(a.high, b.high)};
    case PAWL_OP_MAX:
      return (Range){fmax(a.low, b.low), fmax(a.high, b.high)};
    default:
      return ANY;
  }
}

// ---- ranges of gaps -----------------------------------------------------------------------------
typedef struct Look {
  const PawlModel* model;
  const PawlNode* nodes;  // that gaps need, ascending
  int count;
  Range* ranges;
} Look;

static Range range_of(const Look* look, PawlNode node) {
  int low = 0, high = look->count - 1;
  while (low < high) {
    int middle = low + (high - low) / 2;
    low = look->nodes[middle] < node ? middle + 1 : low;
    high = look->nodes[middle] < node ? high : middle;
  }
  return look->ranges[low];
}

static Range range_of_node(const Look* look, const PawlDagNode* n) {
  Range arg[3] = {ANY, ANY, ANY};
  for (int k = 0; k < pawl_op_operands(n->op); k++) {
    arg[k] = range_of(look, n->arg[k]);
  }
  double value =
      n->op == PAWL_OP_PARAM ? pawl_model_parameter_value(look->model, n->index) : n->value;
  switch ((int)n->op) {
    case PAWL_OP_CONST:
    case PAWL_OP_PARAM:
      return isnan(value) ? ANY : (Range){value, value};
    case PAWL_OP_NEG:
      return (Range){-arg[0].high, -arg[0].low};
    case PAWL_OP_ADD:
      return (Range){arg[0].low + arg[1].low, arg[0].high + arg[1].high};
    case PAWL_OP_SUB:
      return (Range){arg[0].low - arg[1].high, arg[0].high - arg[1].low};
    case PAWL_OP_MUL:
      return n->arg[0] == n->arg[1] ? power(arg[0], 2) : product(arg[0], arg[1]);
    case PAWL_OP_DIV:
      return quotient(arg[0], arg[1]);
    case PAWL_OP_POWI:
      return power(arg[0], n->index);
    case PAWL_OP_IF:
      return either(arg[1], arg[2]);
    default:
      return function(n->op, arg[0], arg[1]);
  }
}

// The first contacts whose gap is nowhere negative and may be zero, to `names`.             (C20)
static PawlStatus find(const PawlStepper* s, int contacts, PawlNode* gaps, PawlText* names,
                       int* found, PawlError* err) {
  const PawlModel* model = s->system->model;
  Look look = {.model = model};
  for (int k = 0; k < contacts; k++) {
    gaps[k] = model->contacts[k].gap;
  }
  look.count = pawl_dag_reach(model->dag, contacts, gaps, &look.nodes);
  look.ranges = look.count < 0 ? NULL : pawl_alloc((size_t)look.count + 1, sizeof(Range));
  if (!look.ranges) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; k < look.count; k++) {
    look.ranges[k] = range_of_node(&look, pawl_dag_node(model->dag, look.nodes[k]));
  }
  for (int k = 0; k < contacts; k++) {
    if (range_of(&look, gaps[k]).low == 0.0 && (*found)++ < MOST_NAMED) {
      pawl_text_printf(names, "%s'%.100s'", *found > 1 ? ", " : "", model->contacts[k].name);
    }
  }
  pawl_free(look.ranges);
  return PAWL_OK;
}

PawlStatus pawl_gaps_look(PawlStepper* s, PawlError* err) {
  const PawlModel* model = s->system->model;
  int found = 0, contacts = model ? model->contact_count : 0;
  contacts = contacts < MOST_LOOKED_AT ? contacts : MOST_LOOKED_AT;
  if (contacts == 0) {
    return PAWL_OK;
  }
  PawlText names = {0}, line = {0};
  PawlNode* gaps = pawl_alloc((size_t)contacts, sizeof *gaps);
  PawlStatus status = gaps ? find(s, contacts, gaps, &names, &found, err) : pawl_fail_memory(err);
  pawl_free(gaps);
  if (status == PAWL_OK && found > 0) {
    pawl_text_printf(&line,
                     "the gap of %s%s%s is nowhere below zero, so that it is not seen to close: it "
                     "has to change its sign there, as y does and y^2 or abs(y) does not",
                     found == 1 ? "contact " : "contacts ", names.s ? names.s : "",
                     found > MOST_NAMED ? " and others" : "");
    bool failed =
        line.failed || names.failed || pawl_dynamics_warn(&s->dynamics, line.s) != PAWL_OK;
    status = failed ? pawl_fail_memory(err) : PAWL_OK;
  }
  pawl_text_free(&line);
  pawl_text_free(&names);
  return status;
}
