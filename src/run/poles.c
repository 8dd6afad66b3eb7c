// SPDX-License-Identifier: Apache-2.0
// Equation labels refer to docs/theory/poles.md.
#include "run/poles.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "model/model.h"
#include "switch/phase.h"
#include "switch/tolerances.h"
#include "system/bundle.h"
#include "system/system.h"

enum { MOST_POLES = 1000 };  // divisors looked at; with more, none is

typedef struct Pole {
  PawlNode node;    // the quotient, power or tangent
  PawlNode factor;  // where it changes its sign there is a pole; of a tangent: its argument
  bool tangent;
} Pole;

struct PawlPoles {
  PawlArena arena;
  const PawlSystem* system;
  PawlSizes sizes;
  int count;
  Pole* poles;
  PawlBundle* factors;
  PawlEval* forces;
  PawlState* kept;
  double* parameters;                  // of the model
  double *before, *after, *between;    // count: factors at the begin, at s, before s
  double *q, *v;                       // v: a place between the ends
  double *force_before, *force_after;  // v
};

// ---- which divisors -----------------------------------------------------------------------------
typedef struct Listing {
  const PawlModel* model;
  bool* positive;  // by node: never changes its sign, as it is written
  int count, found;
  Pole* poles;  // NULL: they are only counted
} Listing;

static bool is_positive(const Listing* l, const PawlDagNode* n) {
  double value;
  switch (n->op) {
    case PAWL_OP_CONST:
    case PAWL_OP_PARAM:  // a number: no sign of it changes
    case PAWL_OP_EXP:
    case PAWL_OP_COSH:
    case PAWL_OP_SQRT:
    case PAWL_OP_ABS:
      return true;
    case PAWL_OP_POWI:
      return n->index % 2 == 0 || l->positive[n->arg[0]];
    case PAWL_OP_NEG:
    case PAWL_OP_POW:
      return l->positive[n->arg[0]];
    case PAWL_OP_ADD:  // a negative number makes a difference of it
      return l->positive[n->arg[0]] && l->positive[n->arg[1]] &&
             !(pawl_dag_is_const(l->model->dag, n->arg[0], &value) && value < 0.0) &&
             !(pawl_dag_is_const(l->model->dag, n->arg[1], &value) && value < 0.0);
    case PAWL_OP_MUL:
    case PAWL_OP_DIV:
      return l->positive[n->arg[0]] && l->positive[n->arg[1]];
    default:
      return false;
  }
}

static void add(Listing* l, PawlNode node, PawlNode factor, bool tangent) {
  if (l->poles) {
    l->poles[l->found] = (Pole){node, factor, tangent};
  }
  l->found++;
}

// The factors of a divisor that can change their sign: x of x^2 (y + 1), and y + 1.            (P1)
static void add_factors(Listing* l, PawlNode node, PawlNode divisor) {
  const PawlDagNode* n = pawl_dag_node(l->model->dag, divisor);
  PawlNode first = n->arg[0], second = n->arg[1];
  if (l->found > MOST_POLES) {
    return;
  }
  if (n->op == PAWL_OP_POWI || n->op == PAWL_OP_NEG) {
    add_factors(l, node, first);
  } else if (n->op == PAWL_OP_MUL) {
    add_factors(l, node, first);
    add_factors(l, node, second);
  } else if (!l->positive[divisor]) {
    add(l, node, divisor, false);
  }
}

static void look_at(Listing* l, PawlNode node) {
  const PawlDagNode n = *pawl_dag_node(l->model->dag, node);
  if (n.op == PAWL_OP_DIV) {
    add_factors(l, node, n.arg[1]);
  } else if (n.op == PAWL_OP_POWI && n.index < 0) {
    add_factors(l, node, n.arg[0]);
  } else if (n.op == PAWL_OP_TAN && !l->positive[n.arg[0]]) {
    add(l, node, n.arg[0], true);
  }
}

static int list_roots(const PawlModel* model, PawlNode* roots) {
  int count = 0;
  for (int k = 0; k < model->term_count; k++) {
    roots[count++] = model->terms[k].node;
  }
  for (int k = 0; k < model->state_count; k++) {
    if (model->states[k].rate != PAWL_NO_NODE) {
      roots[count++] = model->states[k].rate;
    }
  }
  return count;
}

// Nodes come operands first. -1: memory is short.
static int list(Listing* l, int root_count, const PawlNode* roots) {
  const PawlNode* nodes;
  int count = pawl_dag_reach(l->model->dag, root_count, roots, &nodes);
  l->found = 0;
  for (int k = 0; k < count; k++) {
    l->positive[nodes[k]] = is_positive(l, pawl_dag_node(l->model->dag, nodes[k]));
  }
  for (int k = 0; k < count && l->found <= MOST_POLES; k++) {
    look_at(l, nodes[k]);
  }
  return count;
}

static PawlStatus find(PawlPoles* p, PawlError* err) {
  const PawlModel* model = p->system->model;
  PawlNode* roots = PAWL_NEW(&p->arena, PawlNode, model->term_count + model->state_count);
  Listing l = {.model = model, .positive = PAWL_NEW(&p->arena, bool, pawl_dag_count(model->dag))};
  int count = roots && l.positive ? list_roots(model, roots) : -1;
  if (count < 0 || list(&l, count, roots) < 0) {
    return pawl_fail_memory(err);
  }
  if (l.found == 0 || l.found > MOST_POLES) {
    return PAWL_OK;
  }
  p->poles = l.poles = PAWL_NEW(&p->arena, Pole, l.found);
  if (!p->poles || list(&l, count, roots) < 0) {
    return pawl_fail_memory(err);
  }
  p->count = l.found;
  return PAWL_OK;
}

// ---- creation -----------------------------------------------------------------------------------
static PawlStatus bundle(PawlPoles* p, PawlError* err) {
  PawlNode* nodes = PAWL_NEW(&p->arena, PawlNode, p->count);
  if (!nodes) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; k < p->count; k++) {
    nodes[k] = p->poles[k].factor;
  }
  return pawl_bundle_create(p->system->model->dag, p->count, nodes, &p->factors, err);
}

static PawlStatus fill(PawlPoles* p, const PawlStepper* stepper, PawlError* err) {
  const PawlModel* model = p->system->model;
  int numbers = pawl_model_parameter_count(model);
  double** const of_v[] = {&p->q, &p->v, &p->force_before, &p->force_after};
  bool got = (p->parameters = PAWL_NEW(&p->arena, double, numbers));
  got = (p->before = PAWL_NEW(&p->arena, double, p->count)) && got;
  got = (p->after = PAWL_NEW(&p->arena, double, p->count)) && got;
  got = (p->between = PAWL_NEW(&p->arena, double, p->count)) && got;
  for (size_t k = 0; k < sizeof of_v / sizeof *of_v; k++) {
    got = (*of_v[k] = PAWL_NEW(&p->arena, double, p->sizes.q)) && got;  // no fewer than v
  }
  if (!got) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; k < numbers; k++) {
    p->parameters[k] = pawl_model_parameter_value(model, k);
  }
  PAWL_TRY(bundle(p, err));
  PAWL_TRY(pawl_eval_create(p->system, PAWL_FORCE, &p->forces, err));
  return pawl_state_create(stepper, &p->kept, err);
}

PawlStatus pawl_poles_create(const PawlSystem* system, const PawlStepper* stepper, PawlPoles** out,
                             PawlError* err) {
  *out = NULL;
  PawlPoles* p = system->model ? pawl_alloc(1, sizeof *p) : NULL;
  if (!p) {
    return system->model ? pawl_fail_memory(err) : PAWL_OK;
  }
  p->system = system;
  p->sizes = pawl_system_sizes(system);
  PawlStatus status = find(p, err);
  status = status || p->count == 0 ? status : fill(p, stepper, err);
  if (status != PAWL_OK || p->count == 0) {
    pawl_poles_destroy(p);
    return status;
  }
  *out = p;
  return PAWL_OK;
}

void pawl_poles_destroy(PawlPoles* p) {
  if (p) {
    pawl_bundle_destroy(p->factors);
    pawl_eval_destroy(p->forces);
    pawl_state_destroy(p->kept);
    pawl_arena_free(&p->arena);
    pawl_free(p);
  }
}

// ---- a step -------------------------------------------------------------------------------------
static void measure(PawlPoles* p, const PawlState* state, double t, const double* q,
                    const double* v, double* factors) {
  PawlLeafValues at = {.t = t,
                       .param = p->parameters,
                       .q = q,
                       .v = v,
                       .a = state->a,
                       .lambda = state->lambda,
                       .input = state->held + p->sizes.rows,
                       .turning = p->system->model->turning};
  (void)pawl_bundle_run(p->factors, &at, factors);  // NaN is on no side
  for (int k = 0; k < p->count; k++) {
    factors[k] = p->poles[k].tangent ? cos(factors[k]) : factors[k];
  }
}

void pawl_poles_begin(PawlPoles* p, const PawlState* state) {
  pawl_phase_copy(p->kept, state);
  measure(p, state, state->t, state->q, state->v, p->before);
}

// The motion at the fraction s of the step, by Hermite's cubic; rates along a line, and so
// quaternions.
static double place(PawlPoles* p, const PawlState* end, double s) {
  const PawlState* begin = p->kept;
  double h = end->t - begin->t, r = 1.0 - s;
  int plain = p->system->model->turning;
  for (int i = 0; i < plain; i++) {
    double dq = end->q[i] - begin->q[i];
    p->q[i] =
        begin->q[i] + s * s * (3.0 - 2.0 * s) * dq + h * s * r * (r * begin->v[i] - s * end->v[i]);
  }
  for (int i = plain; i < p->sizes.q; i++) {
    p->q[i] = begin->q[i] + s * (end->q[i] - begin->q[i]);
  }
  for (int i = 0; i < p->sizes.v; i++) {
    p->v[i] = begin->v[i] + s * (end->v[i] - begin->v[i]);
  }
  pawl_system_tidy(p->system, p->q);
  return begin->t + s * h;
}

// A place before s where the factor is near zero, not at it: a thousandth of what it is at the
// nearer of 0 and s.
static double approach(PawlPoles* p, const PawlState* end, int pole, double s) {
  enum { MOST_HALVINGS = 60 };
  double first = p->before[pole], last = p->after[pole], low = 0.0, high = s, t = end->t;
  double near = PAWL_NEAR_POLE * fmin(fabs(first), fabs(last));
  for (int k = 0; k < MOST_HALVINGS; k++) {
    double middle = 0.5 * (low + high);
    t = place(p, end, middle);
    measure(p, end, t, p->q, p->v, p->between);
    double value = p->between[pole];
    if (fabs(value) <= near) {
      break;
    }
    *((value > 0.0) == (first > 0.0) ? &low : &high) = middle;
  }
  return t;
}

// f at a place of the step, NULL where it has no value.
static const double* force(PawlPoles* p, const PawlState* state, double t, const double* q,
                           const double* v) {
  PawlPhase phase = pawl_phase_of(state, false);
  PawlPoint point = pawl_phase_point(&phase, t, q, v, state->a, state->lambda);
  return pawl_eval_run(p->forces, &point, NULL) == PAWL_OK ? pawl_eval_values(p->forces)->f : NULL;
}

static bool keep_force(PawlPoles* p, const PawlState* state, double* out) {
  const double* f = force(p, state, state->t, state->q, state->v);
  if (f) {
    memcpy(out, f, (size_t)p->sizes.v * sizeof(double));
  }
  return f != NULL;
}

// Whether a force grows towards the place where the factor is zero: not so at a gap of the formula
// alone, sin(x)/x, or where something else bounds it, atan(1/x).                              (P2)
static bool grows(PawlPoles* p, const PawlState* end, int pole, double s) {
  if (!keep_force(p, p->kept, p->force_before) || !keep_force(p, end, p->force_after)) {
    return false;  // no answer is wrong without a word
  }
  double t = approach(p, end, pole, s), most = 0.0;
  const double* f = force(p, p->kept, t, p->q, p->v);
  for (int i = 0; i < p->sizes.v; i++) {
    most = fmax(most, fmax(fabs(p->force_before[i]), fabs(p->force_after[i])));
  }
  for (int i = 0; f && i < p->sizes.v; i++) {
    double ends = fmax(fabs(p->force_before[i]), fabs(p->force_after[i]));
    if (fabs(f[i]) > PAWL_POLE_GROWTH * fmax(ends, PAWL_NO_FORCE * most)) {
      return true;
    }
  }
  return !f;
}

static PawlStatus fail(PawlPoles* p, PawlState* state, int pole, PawlError* err) {
  PawlText whole = {0}, factor = {0};
  pawl_model_print(&whole, p->system->model, p->poles[pole].node);
  pawl_model_print(&factor, p->system->model, p->poles[pole].factor);
  PawlStatus status =
      whole.failed || factor.failed
          ? pawl_fail_memory(err)
          : pawl_fail(
                err, PAWL_RETRY,
                "t = %.10g: the step from t = %.10g leads through a pole of '%s' (at a zero of "
                "'%s%s%s'), where a force grows beyond all bounds: the motion ends there or "
                "turns back before, which this step is too long to see; dopri and ark do",
                state->t, p->kept->t, whole.s, p->poles[pole].tangent ? "cos(" : "", factor.s,
                p->poles[pole].tangent ? ")" : "");
  pawl_text_free(&whole);
  pawl_text_free(&factor);
  pawl_phase_copy(state, p->kept);
  return status;
}

// A stage of the step has met the pole, and the step has not: rates change by far more than the
// accelerations at both ends could make them.                                                (P3)
static int find_kicked(const PawlPoles* p, const PawlState* end) {
  double h = end->t - p->kept->t, most = 0.0;
  for (int i = 0; i < p->sizes.v; i++) {
    most = fmax(most, fmax(fabs(p->kept->v[i]), fabs(end->v[i])));
  }
  for (int i = 0; i < p->sizes.v; i++) {
    double kick = fabs(end->v[i] - p->kept->v[i]);
    double smooth = fabs(h) * fmax(fabs(p->kept->a[i]), fabs(end->a[i]));
    if (kick > PAWL_POLE_GROWTH * fmax(smooth, PAWL_NO_FORCE * most)) {
      return i;
    }
  }
  return -1;
}

static PawlStatus fail_kicked(PawlPoles* p, PawlState* state, int i, PawlError* err) {
  (void)pawl_fail(
      err, PAWL_RETRY,
      "t = %.10g: in the step from t = %.10g the rate of '%s' changes from %.4g to %.4g, "
      "far more than the forces at both ends make it: there is a pole on the way",
      state->t, p->kept->t, p->system->model->coordinates[i].name, p->kept->v[i], state->v[i]);
  pawl_phase_copy(state, p->kept);
  return PAWL_RETRY;
}

PawlStatus pawl_poles_end(PawlPoles* p, PawlState* state, bool jumped, PawlError* err) {
  enum { LOOKS = 4 };  // a step may go through a pole and back
  for (int look = 1; look <= LOOKS; look++) {
    double s = (double)look / LOOKS, t = place(p, state, s);
    measure(p, state, t, p->q, p->v, p->after);
    for (int k = 0; k < p->count; k++) {
      if (p->before[k] * p->after[k] < 0.0 && grows(p, state, k, s)) {
        return fail(p, state, k, err);
      }
    }
  }
  int kicked = jumped ? -1 : find_kicked(p, state);
  return kicked >= 0 ? fail_kicked(p, state, kicked, err) : PAWL_OK;
}
