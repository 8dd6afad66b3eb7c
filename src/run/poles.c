// SPDX-License-Identifier: Apache-2.0
// Equation labels refer to docs/theory/poles.md.
#include "run/poles.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "expr/elementary.h"
#include "model/model.h"
#include "step/method.h"
#include "switch/phase.h"
#include "switch/tolerances.h"
#include "system/bundle.h"
#include "system/system.h"

enum {
  MOST_POLES = 1000,  // divisors looked at; with more, none is
  LOOKS = 4           // in a step, which may go through a pole and back
};

typedef enum Kind {
  CROSSED,  // a factor that may change its sign, or touch zero
  TANGENT,  // the same of the cosine of the factor
  TOUCHED   // one that is zero or more, and may touch zero
} Kind;

typedef struct Pole {
  PawlNode node;  // the quotient, power or tangent
  PawlNode factor;
  Kind kind;
} Pole;

struct PawlPoles {
  PawlArena arena;
  const PawlSystem* system;
  PawlSizes sizes;
  bool explicit;  // the stages of the method lie ahead, and may meet what the step does not
  const PawlStepper* bounces;  // whose contacts press, and bounce, within steps; NULL: it has none
  int count;
  Pole* poles;
  PawlBundle* factors;
  PawlEval* forces;
  PawlState* kept;
  double* parameters;  // of the model
  double* looks;       // (LOOKS + 1) rows of count: factors at the quarters of a step
  double* between;     // count: factors at another place
  double *q, *v;       // v: a place between the ends
  double *force_before, *force_after;  // v
};

// ---- which divisors -----------------------------------------------------------------------------
typedef struct Listing {
  const PawlModel* model;
  bool* positive;  // by node: never changes its sign, as it is written
  bool* away;      // the same: is never zero
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

static bool is_away(const Listing* l, const PawlDagNode* n, bool positive) {
  switch (n->op) {
    case PAWL_OP_CONST:
    case PAWL_OP_PARAM:  // a number, and whoever divides by it knows it
    case PAWL_OP_EXP:
    case PAWL_OP_COSH:
      return true;
    case PAWL_OP_SQRT:
    case PAWL_OP_ABS:
    case PAWL_OP_POWI:
    case PAWL_OP_POW:
    case PAWL_OP_NEG:
      return l->away[n->arg[0]];
    case PAWL_OP_ADD:
      return positive && (l->away[n->arg[0]] || l->away[n->arg[1]]);
    case PAWL_OP_MUL:
    case PAWL_OP_DIV:
      return l->away[n->arg[0]] && l->away[n->arg[1]];
    default:
      return false;
  }
}

static void add(Listing* l, PawlNode node, PawlNode factor, Kind kind) {
  if (l->poles) {
    l->poles[l->found] = (Pole){node, factor, kind};
  }
  l->found++;
}

// The factors of a divisor that can be zero: x of x^2 (y + 1), and y + 1; x^2 + y^2 of its root.
//                                                                                           (P1)
static void add_factors(Listing* l, PawlNode node, PawlNode divisor) {
  const PawlDagNode* n = pawl_dag_node(l->model->dag, divisor);
  PawlNode first = n->arg[0], second = n->arg[1];
  if (l->found > MOST_POLES) {
    return;
  }
  if (n->op == PAWL_OP_POWI || n->op == PAWL_OP_NEG || n->op == PAWL_OP_SQRT ||
      n->op == PAWL_OP_ABS || n->op == PAWL_OP_POW) {
    add_factors(l, node, first);
  } else if (n->op == PAWL_OP_MUL) {
    add_factors(l, node, first);
    add_factors(l, node, second);
  } else if (!l->away[divisor]) {
    add(l, node, divisor, l->positive[divisor] ? TOUCHED : CROSSED);
  }
}

static void look_at(Listing* l, PawlNode node) {
  const PawlDagNode n = *pawl_dag_node(l->model->dag, node);
  double power;
  if (n.op == PAWL_OP_DIV) {
    add_factors(l, node, n.arg[1]);
  } else if (n.op == PAWL_OP_POWI && n.index < 0) {
    add_factors(l, node, n.arg[0]);
  } else if (n.op == PAWL_OP_POW && pawl_dag_is_const(l->model->dag, n.arg[1], &power) &&
             power < 0.0) {
    add_factors(l, node, n.arg[0]);
  } else if (n.op == PAWL_OP_TAN && !l->positive[n.arg[0]]) {
    add(l, node, n.arg[0], TANGENT);
  }
}

static int list_roots(const PawlModel* model, PawlNode* roots) {
  int count = 0;
  for (int k = 0; k < model->term_count; k++) {
    if (model->terms[k].node != PAWL_LATER) {  // which has none
      roots[count++] = model->terms[k].node;
    }
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
    const PawlDagNode* n = pawl_dag_node(l->model->dag, nodes[k]);
    l->positive[nodes[k]] = is_positive(l, n);
    l->away[nodes[k]] = is_away(l, n, l->positive[nodes[k]]);
  }
  for (int k = 0; k < count && l->found <= MOST_POLES; k++) {
    look_at(l, nodes[k]);
  }
  return count;
}

static PawlStatus find(PawlPoles* p, PawlError* err) {
  const PawlModel* model = p->system->model;
  PawlNode* roots = PAWL_NEW(&p->arena, PawlNode, model->term_count + model->state_count);
  int size = pawl_dag_count(model->dag);
  Listing l = {.model = model,
               .positive = PAWL_NEW(&p->arena, bool, size),
               .away = PAWL_NEW(&p->arena, bool, size)};
  int count = roots && l.positive && l.away ? list_roots(model, roots) : -1;
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
  if (p->count == 0) {
    return pawl_state_create(stepper, &p->kept, err);
  }
  bool got = (p->parameters = PAWL_NEW(&p->arena, double, numbers));
  got = (p->looks = PAWL_NEW(&p->arena, double, (LOOKS + 1) * p->count)) && got;
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

static bool is_explicit(const PawlSimulateDef* def) {
  const char* name = strcmp(def->method, "event-driven") == 0 ? def->smooth : def->method;
  return strcmp(name, "rk4") == 0;
}

static bool goes_through_impacts(const PawlSimulateDef* def) {
  return strcmp(def->method, "event-driven") != 0 && pawl_method_find(def->method)->contacts;
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
  p->explicit = is_explicit(pawl_stepper_def(stepper));
  p->bounces = goes_through_impacts(pawl_stepper_def(stepper)) ? stepper : NULL;
  PawlStatus status = find(p, err);
  bool needless = p->count == 0 && !(p->explicit && !pawl_system_constant_mass(system));
  status = status || needless ? status : fill(p, stepper, err);
  if (status != PAWL_OK || needless) {
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
    factors[k] = p->poles[k].kind == TANGENT ? pawl_cos(factors[k]) : factors[k];
  }
}

static double* look_of(const PawlPoles* p, int look) {
  return p->looks + (size_t)look * (size_t)p->count;
}

void pawl_poles_begin(PawlPoles* p, const PawlState* state) {
  pawl_phase_copy(p->kept, state);
  if (p->count > 0) {
    measure(p, state, state->t, state->q, state->v, look_of(p, 0));
  }
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

// A place before the look where the factor is near zero, not at it: a thousandth of what it is at
// the nearer of the begin and there.
static double approach(PawlPoles* p, const PawlState* end, int pole, int look) {
  enum { MOST_HALVINGS = 60 };
  double first = look_of(p, 0)[pole], last = look_of(p, look)[pole], low = 0.0;
  double high = (double)look / LOOKS, t = end->t;
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

// Whether a force grows towards p->q, p->v, where the factor is nearly zero: not so at a gap of the
// formula alone, sin(x)/x, or where something else bounds it, atan(1/x).                      (P2)
static bool grows(PawlPoles* p, const PawlState* end, double t) {
  if (!keep_force(p, p->kept, p->force_before) || !keep_force(p, end, p->force_after)) {
    return false;  // no answer is wrong without a word
  }
  double most = 0.0;
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
  Kind kind = p->poles[pole].kind;
  pawl_model_print(&whole, p->system->model, p->poles[pole].node);
  pawl_model_print(&factor, p->system->model, p->poles[pole].factor);
  PawlStatus status =
      whole.failed || factor.failed
          ? pawl_fail_memory(err)
          : pawl_fail(
                err, PAWL_RETRY,
                "t = %.10g: the step from t = %.10g leads through a pole of '%s' (%s a zero of "
                "'%s%s%s'), where a force grows beyond all bounds: the motion ends there or "
                "turns back before, which this step is too long to see; dopri and ark do",
                state->t, p->kept->t, whole.s, kind == TOUCHED ? "at or near" : "at",
                kind == TANGENT ? "cos(" : "", factor.s, kind == TANGENT ? ")" : "");
  pawl_text_free(&whole);
  pawl_text_free(&factor);
  pawl_phase_copy(state, p->kept);
  return status;
}

// A stage of the step has met the pole, and the step has not: rates change by far more than the
// accelerations at both ends could make them.                                                (P3)
static int find_kicked(const PawlPoles* p, const PawlState* end) {
  double h = end->t - p->kept->t, most = 0.0, far = 0.0;
  for (int i = 0; i < p->sizes.v; i++) {
    most = fmax(most, fmax(fabs(p->kept->v[i]), fabs(end->v[i])));
  }
  for (int i = 0; i < p->sizes.q; i++) {
    far = fmax(far, fabs(end->q[i]));
  }
  double none = fmax(PAWL_NO_FORCE * most, DBL_EPSILON * far / fabs(h));  // moves nothing
  for (int i = 0; i < p->sizes.v; i++) {
    double kick = end->v[i] - p->kept->v[i], a = p->kept->a[i], b = end->a[i];
    double smooth = fabs(h) * fmax(fabs(a), fabs(b));
    bool against = p->explicit && a * b > 0.0 && kick * h * a < 0.0;  // both
    if (fabs(kick) > (against ? 1.0 : PAWL_POLE_GROWTH) * fmax(smooth, none)) {
      return i;
    }
  }
  return -1;
}

// Accelerations at both ends of a step do not tell of its impulses, and bounces too small for the
// log are no instants.
static bool is_pressed(const PawlPoles* p, const PawlState* end) {
  bool pressed = false;
  for (int i = 0; p->bounces && i < p->sizes.rows; i++) {
    bool contact = pawl_system_row_kind(p->system, i) == PAWL_ROW_CONTACT;
    pressed |= contact &&
               (p->kept->lambda[i] > 0.0 || end->lambda[i] > 0.0 ||
                (p->bounces->method->impulse && p->bounces->method->impulse(p->bounces, i) != 0.0));
  }
  return pressed;
}

static PawlStatus fail_kicked(PawlPoles* p, PawlState* state, int i, PawlError* err) {
  (void)pawl_fail(
      err, PAWL_RETRY,
      "t = %.10g: in the step from t = %.10g the rate of '%s' changes from %.4g to %.4g, "
      "far more than the forces at both ends make it: there is a pole on the way, or a place where "
      "the mass matrix is singular",
      state->t, p->kept->t, p->system->model->coordinates[i].name, p->kept->v[i], state->v[i]);
  pawl_phase_copy(state, p->kept);
  return PAWL_RETRY;
}

// At a look: a factor that has changed its sign since the begin, -1 without.
static int find_crossed(PawlPoles* p, const PawlState* end, int look) {
  const double *before = look_of(p, 0), *now = look_of(p, look);
  for (int k = 0; k < p->count; k++) {
    if (p->poles[k].kind != TOUCHED && before[k] * now[k] < 0.0) {
      double t = approach(p, end, k, look);
      if (grows(p, end, t)) {
        return k;
      }
    }
  }
  return -1;
}

// Where the parabola through three looks from `first` on is least, of 0 .. 1 of the step, and how
// much that is; false: at an end of it, or at none.                                          (P4)
static bool find_least(const PawlPoles* p, int pole, int first, double* s, double* least) {
  double begin = fabs(look_of(p, first)[pole]), middle = fabs(look_of(p, first + 1)[pole]);
  double end = fabs(look_of(p, first + 2)[pole]);
  double a = 0.5 * (begin + end) - middle, b = 0.5 * (end - begin);
  if (!(a > 0.0 && fabs(b) < 2.0 * a)) {
    return false;
  }
  *s = (first + 1.0 - 0.5 * b / a) / LOOKS;
  *least = middle - 0.25 * b * b / a;
  return true;
}

static double size_at(PawlPoles* p, const PawlState* end, int pole, double s) {
  double t = place(p, end, s);
  measure(p, end, t, p->q, p->v, p->between);
  return fabs(p->between[pole]);
}

// The place within a quarter of s where the factor is least, by thirds of what is left; its time.
static double descend(PawlPoles* p, const PawlState* end, int pole, double s) {
  enum { THIRDS = 40 };  // (2/3)^40 = 1e-7 of the step
  double low = fmax(0.0, s - 1.0 / LOOKS), high = fmin(1.0, s + 1.0 / LOOKS);
  for (int k = 0; k < THIRDS; k++) {
    double third = (high - low) / 3.0, first = low + third, second = high - third;
    bool before = size_at(p, end, pole, first) < size_at(p, end, pole, second);
    *(before ? &high : &low) = before ? second : first;
  }
  return place(p, end, 0.5 * (low + high));
}

// The same right behind the begin, or right before the end, where looks do not see it: the factor
// falls there, and is larger at the next look.
static bool dips_at_end(PawlPoles* p, const PawlState* end, int pole, bool first) {
  static const double NEAR = 1.0 / 256.0;  // of the step
  double here = fabs(look_of(p, first ? 0 : LOOKS)[pole]);
  return here < fabs(look_of(p, first ? 1 : LOOKS - 1)[pole]) &&
         size_at(p, end, pole, first ? NEAR : 1.0 - NEAR) < here;
}

static bool is_touched(PawlPoles* p, const PawlState* end, int pole, double s) {
  double t = descend(p, end, pole, s);
  return grows(p, end, t);
}

// A factor that comes near to zero between the ends, -1 without.
static int find_touched(PawlPoles* p, const PawlState* end) {
  double s, least;
  for (int k = 0; k < p->count; k++) {
    double ends = fmin(fabs(look_of(p, 0)[k]), fabs(look_of(p, LOOKS)[k]));
    for (int first = 0; first + 2 <= LOOKS; first++) {
      if (find_least(p, k, first, &s, &least) && least < PAWL_TOUCHES_POLE * ends &&
          is_touched(p, end, k, s)) {
        return k;
      }
    }
    if ((dips_at_end(p, end, k, true) && is_touched(p, end, k, 0.0)) ||
        (dips_at_end(p, end, k, false) && is_touched(p, end, k, 1.0))) {
      return k;
    }
  }
  return -1;
}

PawlStatus pawl_poles_end(PawlPoles* p, PawlState* state, bool jumped, PawlError* err) {
  for (int look = 1; p->count > 0 && look <= LOOKS; look++) {
    double t = place(p, state, (double)look / LOOKS);
    measure(p, state, t, p->q, p->v, look_of(p, look));
    int crossed = find_crossed(p, state, look);
    if (crossed >= 0) {
      return fail(p, state, crossed, err);
    }
  }
  int touched = find_touched(p, state);
  if (touched >= 0) {
    return fail(p, state, touched, err);
  }
  int kicked = jumped || is_pressed(p, state) ? -1 : find_kicked(p, state);
  return kicked >= 0 ? fail_kicked(p, state, kicked, err) : PAWL_OK;
}
