// SPDX-License-Identifier: Apache-2.0
// Rest positions by a flow that becomes Newton's method (docs/theory/equilibrium.md), where
// contacts are rows that only push and lambda are the forces of (R1):
//
//   M a = f + G^T lambda,   G a = 0, >= 0 of contacts without a gap    what still pulls at q  (E1)
//   s M (q+ - q) = f + G^T lambda,   g = 0, >= 0  at q+          a step, by Newton's method   (E2)
//   (K + s M) dq = M (a - s (q+ - q)) + G^T dlambda,   G dq = 0, G dq + g >= 0 of contacts,
//   K = -d(f + G^T lambda)/dq                                                                 (E3)
//
// Brakes hold by forces up to their capacity, |lambda| <= c, and slide beyond it.              (E6)
// A large s goes a little way along a, down the potential; s = 0 is Newton's method for the rest.
#include "pawl/equilibrium.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "linalg/sparse.h"
#include "model/model.h"
#include "run/start.h"
#include "switch/modes.h"
#include "switch/rows.h"
#include "switch/tolerances.h"
#include "system/system.h"

static const double SHRINKS = 0.7;  // corrections of a step, each of the one before
static const double QUICKER = 1.0 / 4, SLOWER = 8;
static const double FIRST_WAY = 0.1;  // of the largest coordinate, in the first step
enum {
  MOST_ITERATIONS = 1000,
  MOST_PROJECTIONS = 20,
  MOST_CORRECTIONS = 8,
  FEW_CORRECTIONS = 5,
  MOST_SAMPLES = 500,
  MOST_HALVINGS = 60,
  LEAST_TRIED = 1000,   // sets, in systems of any size
  MOST_TRIED = 2000000  // sets times velocities and rows
};

typedef enum Ask { PULL, PLACE, STEP, ASKS } Ask;  // (E1), (E4), (E3)

typedef struct Whole {
  PawlEquilibrium equilibrium;  // first: what the user sees
  PawlArena arena;
} Whole;

typedef struct Search {
  const PawlSystem* system;
  PawlArena* arena;
  PawlSizes n;
  PawlPattern H, G;
  PawlEval *eval, *tangents;
  PawlEval* watches;  // capacities; NULL where nothing holds by one
  PawlRows* rows;
  PawlPoint point;
  double* v;  // zeros, and the states
  double *q, *q_new, *q_before, *a, *a_new, *lambda, *mixed, *moved, *dq, *force, *S;
  double *lo, *hi, *b, *w, *mu;  // of (R1)
  double *capacity, *weight;     // rows: of brakes, and their share (R9); INFINITY: of all others
  unsigned char *set, *state;    // rows in force and contacts that push; PawlRowState, of the last
  unsigned char* states[ASKS];   // Ask, and of each: what its next solution begins with
  unsigned char* slid;           // rows: brakes that do not stand where they began
  double s;                      // of (E2) [1/s^2]
  double pull, stiff;            // accelerations at the start; K over M there
  double reach, farthest;        // the largest coordinate at the start, and one that is looked at
  bool kink;
  int iteration;
  long tried;  // sets of closed contacts beside the first of each problem                    (E7)
} Search;

static double dot(int n, const double* x, const double* y) {
  double sum = 0.0;
  for (int j = 0; j < n; j++) {
    sum += x[j] * y[j];
  }
  return sum;
}

static double largest(int n, const double* x) {
  double most = 0.0;
  for (int j = 0; j < n; j++) {
    most = fmax(most, fabs(x[j]));
  }
  return most;
}

// x M y
static double product(Search* s, const double* x, const double* y) {
  memset(s->force, 0, (size_t)s->n.v * sizeof(double));
  pawl_sparse_add(&s->H, pawl_eval_values(s->eval)->M, 1.0, y, s->force);
  return dot(s->n.v, x, s->force);
}

static double size_of(Search* s, const double* x) {
  return sqrt(fmax(0.0, product(s, x, x)));
}

// What changes are measured by: the largest coordinate, but not less than a part of that of the
// start; a search that ends at zero would follow it through all numbers there are.
static double extent(const Search* s, const double* q) {
  return fmax(largest(s->n.q, q), PAWL_REST_NEARLY * s->reach);
}

// Ended: the change is nothing, or as small as rounding lets it be.
static bool has_ended(double change, double before, double size) {
  return change <= PAWL_REST_FOUND * size ||
         (change <= PAWL_REST_NEARLY * size && change >= before);
}

// ---- what pulls, and which contacts are closed --------------------------------------------------
static const char* name_of(const Search* s, int coordinate) {
  bool is_rate;
  const char* name = pawl_system_velocity_name(s->system, coordinate, &is_rate);
  return name ? name : "a velocity";
}

static bool is_away(const Search* s, const double* q) {
  return !(largest(s->n.q, q) <= s->farthest);
}

static const char* about_modes(const Search* s) {
  return pawl_system_switches(s->system) ? " The search stays in the modes of the start." : "";
}

static const char* about_friction(const Search* s) {
  bool any = false;
  for (int i = 0; i < s->n.rows; i++) {
    any = any || pawl_system_row_kind(s->system, i) == PAWL_ROW_FRICTION;
  }
  return any ? " Friction of contacts is left out." : "";
}

static int largest_of(int n, const double* x) {
  int worst = 0;
  for (int j = 0; j < n; j++) {
    worst = fabs(x[j]) > fabs(x[worst]) ? j : worst;
  }
  return worst;
}

// Contacts that close and open from step to step, as in heaps that fall apart, may do so through
// more sets than there is time for.                                                         (E7)
static bool has_tried_enough(const Search* s) {
  long most = MOST_TRIED / (s->n.v + s->n.rows + 1);
  return s->tried > (most > LEAST_TRIED ? most : LEAST_TRIED);
}

static PawlStatus no_rest(const Search* s, PawlError* err) {
  int far = largest_of(s->n.q, s->q), worst = largest_of(s->n.v, s->a);
  char away[300] = "";
  if (has_tried_enough(s)) {
    snprintf(away, sizeof away,
             "%ld sets of closed contacts were tried, and it is given up: they close and open from "
             "step to step; ",
             s->tried);
  }
  if (is_away(s, s->q)) {
    snprintf(away, sizeof away, "the search runs away along '%.200s', which is at %.3g by now; ",
             pawl_system_coordinate_name(s->system, far), s->q[far]);
  }
  return pawl_fail(
      err, PAWL_ERROR_RUN,
      "'%s': no rest position was found in %d iterations; %s'%s' would still move with "
      "an acceleration of %.3g; does nothing hold it?%s%s",
      pawl_system_name(s->system), s->iteration, away, name_of(s, worst), s->a[worst],
      about_modes(s), about_friction(s));
}

static PawlStatus singular(const Search* s, PawlError* err) {
  if (is_away(s, s->q_new)) {
    return no_rest(s, err);
  }
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "'%s': no rest position: the masses and rows are singular where the search is; "
                   "is a mass zero, or do constraints depend on each other?",
                   pawl_system_name(s->system));
}

static bool is_contact(const Search* s, int row) {
  return pawl_system_row_kind(s->system, row) == PAWL_ROW_CONTACT;
}

// Bounds and b of (R1): rows in force, and contacts, for PULL only those without a gap. Of a step
// the forces are the changes of lambda, so that nothing large cancels near the end.
static void set_rows(Search* s, Ask ask) {
  const double* g = pawl_eval_values(s->eval)->g;
  for (int i = 0; i < s->n.rows; i++) {
    bool contact = is_contact(s, i);
    bool in = contact ? ask != PULL || g[i] <= PAWL_REST_TOUCHES
                      : s->set[i] && !(ask == PLACE && s->slid[i]);
    double most = ask == PLACE ? INFINITY : s->capacity[i],
           there = ask == STEP ? s->lambda[i] : 0.0;
    s->lo[i] = !in ? 0.0 : contact ? -there : -most - there;
    s->hi[i] = !in ? 0.0 : contact ? INFINITY : most - there;
    s->b[i] = ask == PLACE || (ask == STEP && contact) ? g[i] : 0.0;
  }
}

// Brakes at their bounds slide.                                                              (E6)
static void see_slides(Search* s) {
  for (int i = 0; s->watches && i < s->n.rows; i++) {
    bool bound = s->state[i] == PAWL_ROW_LOW || s->state[i] == PAWL_ROW_HIGH;
    s->slid[i] |= bound && isfinite(s->capacity[i]);
  }
}

// PAWL_RETRY: no x, or rows that contradict each other.
static PawlStatus solve_rows(Search* s, Ask ask, const double* H, const double* r, double* x,
                             double* lambda) {
  const double* G = pawl_eval_values(s->eval)->G;
  s->state = s->states[ask];
  set_rows(s, ask);
  PAWL_TRY(pawl_rows_matrices(s->rows, H, G, G));
  PawlRowBounds bounds = {.lo = s->lo, .hi = s->hi, .weight = s->watches ? s->weight : NULL};
  PawlRowsResult result = {.lambda = lambda, .w = s->w, .state = s->state};
  PawlStatus status = pawl_rows_solve(s->rows, r, s->b, &bounds, x, &result);
  s->tried += result.rounds + result.exchanges - 1;
  if (status != PAWL_OK) {
    memset(s->state, PAWL_ROW_UNKNOWN, (size_t)s->n.rows);
    return status;
  }
  see_slides(s);
  return result.conflicts > 0 ? PAWL_RETRY : PAWL_OK;
}

static PawlStatus find_pull(Search* s, double* a, PawlError* err) {  // (E1)
  const PawlValues* values = pawl_eval_values(s->eval);
  PawlStatus status = solve_rows(s, PULL, values->M, values->f, a, s->lambda);
  if (status != PAWL_OK) {
    return status == PAWL_RETRY ? singular(s, err) : pawl_fail_memory(err);
  }
  for (int i = 0; i < s->n.rows; i++) {
    bool pushes = s->state[i] == PAWL_ROW_FREE || s->state[i] == PAWL_ROW_FOLLOWS;
    s->set[i] = is_contact(s, i) ? pushes : s->set[i];
  }
  return PAWL_OK;
}

// The point at q: all rates are zero, and states have the places of their coordinates.        (Z8)
static PawlPoint point_at(Search* s, const double* q) {
  PawlPoint point = s->point;
  for (int k = pawl_moving(s->n); k < s->n.v; k++) {
    s->v[k] = q[k];
  }
  point.q = q;
  return point;
}

static PawlStatus evaluate(Search* s, const double* q, PawlError* err) {
  PawlPoint point = point_at(s, q);
  return pawl_eval_run(s->eval, &point, err);
}

static void move(const Search* s, const double* from, const double* dq, double* to) {
  pawl_system_retract(s->system, from, dq, to);
  for (int k = pawl_moving(s->n); k < s->n.v; k++) {
    to[k] = from[k] + dq[k];
  }
}

// -d(f + G^T lambda) by coordinates and, in their columns, by states.
static PawlStatus stiffness(Search* s, const double* q, const double** K, PawlError* err) {
  PawlPoint point = point_at(s, q);
  PAWL_TRY(pawl_eval_run(s->tangents, &point, err));
  const PawlValues* values = pawl_eval_values(s->tangents);
  for (int k = s->H.start[pawl_moving(s->n)]; k < s->H.start[s->n.v]; k++) {
    values->K[k] = values->C[k];
  }
  *K = values->K;
  return PAWL_OK;
}

// Moves q onto the rows in force and out of all contacts: M dq = G^T mu, G dq + g = 0, >= 0, until
// nothing changes.                                                                          (E4)
static PawlStatus onto_rows(Search* s, double* q, PawlError* err) {
  double before = INFINITY;
  PAWL_TRY(evaluate(s, q, err));
  for (int k = 0; k < MOST_PROJECTIONS && s->n.rows > 0; k++) {
    memset(s->force, 0, (size_t)s->n.v * sizeof(double));
    PAWL_TRY(solve_rows(s, PLACE, pawl_eval_values(s->eval)->M, s->force, s->dq, s->mu));
    double change = largest(s->n.v, s->dq);
    if (has_ended(change, before, extent(s, q)) || change == 0.0) {
      return PAWL_OK;
    }
    before = change;
    memcpy(s->q_before, q, (size_t)s->n.q * sizeof(double));
    move(s, s->q_before, s->dq, q);
    PAWL_TRY(evaluate(s, q, err));
  }
  return s->n.rows > 0 ? PAWL_RETRY : PAWL_OK;
}

// The brakes: what holds or slides at the start by a capacity.
static bool is_brake(const Search* s, int constraint) {
  int mode = s->point.modes[constraint];
  return s->system->constraints[constraint].triggered &&
         s->system->watches[constraint].capacity >= 0 &&
         (mode == PAWL_MODE_HELD || mode >= PAWL_MODE_UP);
}

// Capacities at q; those that hang on forces, with the forces of the last look.              (E6)
static PawlStatus find_capacities(Search* s, const double* q, PawlError* err) {
  if (!s->watches) {
    return PAWL_OK;
  }
  PawlPoint point = point_at(s, q);
  PAWL_TRY(pawl_eval_run(s->watches, &point, err));
  const double* watch = pawl_eval_values(s->watches)->watch;
  for (int c = 0; c < s->system->constraint_count; c++) {
    if (is_brake(s, c)) {
      double capacity = watch[s->system->watches[c].capacity];
      int row = s->system->constraints[c].first_row;
      if (!(capacity >= 0.0)) {
        return pawl_fail(err, PAWL_ERROR_RUN, "'%s': the capacity of '%s' is %.6g, must be >= 0",
                         pawl_system_name(s->system), s->system->constraints[c].name, capacity);
      }
      s->capacity[row] = capacity;
      s->weight[row] = fmax(sqrt(capacity), PAWL_LEAST_WEIGHT);
    }
  }
  return PAWL_OK;
}

// Values, what pulls and the forces at q, which is moved onto the rows. PAWL_RETRY: it is too far
// from them.
static PawlStatus look(Search* s, double* q, double* a, PawlError* err) {
  PAWL_TRY(onto_rows(s, q, err));
  PAWL_TRY(find_capacities(s, q, err));
  return find_pull(s, a, err);
}

// ---- steps --------------------------------------------------------------------------------------
// One iteration of Newton's method for (E2) from q_new, where a_new pulls; dq is its change. (E3)
static PawlStatus correct(Search* s, PawlError* err) {
  const PawlValues* values = pawl_eval_values(s->eval);
  const double* K;
  PAWL_TRY(stiffness(s, s->q_new, &K, err));
  for (int k = 0; k < s->H.start[s->n.v]; k++) {
    s->S[k] = K[k] + s->s * values->M[k];
  }
  memset(s->force, 0, (size_t)s->n.v * sizeof(double));
  pawl_sparse_add(&s->H, values->M, 1.0, s->a_new, s->force);
  pawl_sparse_add(&s->H, values->M, -s->s, s->moved, s->force);
  return solve_rows(s, STEP, s->S, s->force, s->dq, s->mu);
}

// True when the step went down: s is more than the potential bends up.
static bool went_down(Search* s) {
  return product(s, s->moved, s->a) >= 0.0;
}

// Solves (E2) from q: q_new, a_new, moved. PAWL_RETRY: Newton's method does not end, or the step
// goes up.
static PawlStatus take_step(Search* s, int* corrections, PawlError* err) {
  double before = INFINITY;
  memcpy(s->q_new, s->q, (size_t)s->n.q * sizeof(double));
  memcpy(s->a_new, s->a, (size_t)s->n.v * sizeof(double));
  memset(s->moved, 0, (size_t)s->n.v * sizeof(double));
  for (*corrections = 1; *corrections <= MOST_CORRECTIONS; ++*corrections) {
    PAWL_TRY(correct(s, err));
    double change = size_of(s, s->dq);
    bool rounding = largest(s->n.v, s->dq) <= PAWL_REST_FOUND * extent(s, s->q_new);
    if (!rounding && !(change <= SHRINKS * before)) {
      return PAWL_RETRY;
    }
    before = change;
    for (int j = 0; j < s->n.v; j++) {
      s->moved[j] += s->dq[j];
    }
    memcpy(s->q_before, s->q_new, (size_t)s->n.q * sizeof(double));
    move(s, s->q_before, s->dq, s->q_new);
    if (!rounding && !went_down(s)) {
      return PAWL_RETRY;
    }
    PAWL_TRY(look(s, s->q_new, s->a_new, err));
    if (rounding || change <= PAWL_REST_SOLVED * size_of(s, s->moved)) {
      return PAWL_OK;
    }
  }
  return PAWL_RETRY;
}

// What s begins with: a short way along a, or a part of the stiffness.
static double first_s(Search* s) {
  const double* M = pawl_eval_values(s->eval)->M;
  double pull = largest(s->n.v, s->a), far = s->reach, stiff = 0.0;
  const double* K;
  if (stiffness(s, s->q, &K, NULL) == PAWL_OK) {
    for (int j = 0; j < s->n.v; j++) {
      for (int k = s->H.start[j]; k < s->H.start[j + 1]; k++) {
        bool diagonal = s->H.index[k] == j && M[k] > 0.0;
        stiff = diagonal ? fmax(stiff, fabs(K[k]) / M[k]) : stiff;
      }
    }
  }
  s->pull = pull;
  s->stiff = stiff;
  double s_first = far > 0.0 ? pull / (FIRST_WAY * far) : stiff;
  return s_first > 0.0 ? s_first : 1.0;
}

static PawlStatus no_place(const Search* s, PawlError* err) {
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "'%s': no rest position: from the start the search finds no place on all "
                   "constraints and outside all contacts; do they contradict each other?%s",
                   pawl_system_name(s->system), about_modes(s));
}

static PawlStatus iterate(Search* s, PawlError* err) {
  s->farthest = PAWL_REST_AWAY * fmax(1.0, largest(s->n.q, s->q));
  PawlStatus status = look(s, s->q, s->a, err);
  if (status != PAWL_OK) {
    return status == PAWL_RETRY ? no_place(s, err) : status;
  }
  s->reach = largest(s->n.q, s->q);
  double before = INFINITY, first = s->s = first_s(s);
  while (++s->iteration <= MOST_ITERATIONS && s->s > PAWL_REST_GIVEN_UP * first &&
         s->s < first / PAWL_REST_GIVEN_UP && !has_tried_enough(s)) {
    int corrections;
    status = take_step(s, &corrections, err);
    bool stepped = status == PAWL_OK;
    if (status == PAWL_RETRY) {
      s->s *= SLOWER;
      status = look(s, s->q, s->a, err);
    }
    if (status != PAWL_OK) {
      return status == PAWL_RETRY ? no_rest(s, err) : status;
    }
    if (!stepped) {
      continue;
    }
    double change = largest(s->n.v, s->moved), size = extent(s, s->q_new);
    memcpy(s->q, s->q_new, (size_t)s->n.q * sizeof(double));
    memcpy(s->a, s->a_new, (size_t)s->n.v * sizeof(double));
    if (is_away(s, s->q)) {
      return no_rest(s, err);
    }
    if (change == 0.0 || has_ended(change, before, size)) {
      return PAWL_OK;
    }
    before = change;
    s->s *= corrections <= FEW_CORRECTIONS ? QUICKER : 1.0;
  }
  return no_rest(s, err);
}

// What counts as no acceleration at q: beside those at the start, of forces without rows, and what
// the stiffness makes of the coordinates.
static double no_pull(Search* s) {
  const PawlValues* values = pawl_eval_values(s->eval);
  double most = fmax(s->pull, s->stiff * fmax(s->reach, largest(s->n.q, s->q)));
  for (int j = 0; j < s->n.v; j++) {
    for (int k = s->H.start[j]; k < s->H.start[j + 1]; k++) {
      bool diagonal = s->H.index[k] == j && values->M[k] > 0.0;
      most = diagonal ? fmax(most, fabs(values->f[j]) / values->M[k]) : most;
    }
  }
  return PAWL_REST_PULLS * most;
}

// The search stands still, but not at rest: next to a place where rows depend on each other no way
// along them is straight.
static PawlStatus stands_still(const Search* s, PawlError* err) {
  int worst = largest_of(s->n.v, s->a);
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "'%s': no rest position: the search stands still where '%s' would move with an "
                   "acceleration of %.3g (%s = %.6g); is it a singular position of the "
                   "constraints? Begin beyond it",
                   pawl_system_name(s->system), name_of(s, worst), s->a[worst],
                   pawl_system_coordinate_name(s->system, 0), s->q[0]);
}

// ---- kinks --------------------------------------------------------------------------------------
// The pull a_new next to q, `way` along the direction `moved`; q_new is that place.
static PawlStatus look_beside(Search* s, double way, PawlError* err) {
  for (int j = 0; j < s->n.v; j++) {
    s->dq[j] = way * s->moved[j];
  }
  move(s, s->q, s->dq, s->q_new);
  return look(s, s->q_new, s->a_new, err);
}

// Halves the way along a over which the pull turns round, and moves q there: a is the pull on this
// side, a_new that on the other. *turns: it does.
static PawlStatus halve(Search* s, double way, bool* turns, PawlError* err) {
  memcpy(s->moved, s->a, (size_t)s->n.v * sizeof(double));
  PAWL_TRY(look_beside(s, way, err));
  *turns = product(s, s->moved, s->a_new) < 0.0;
  double near = 0.0, far = way;
  for (int k = 0; *turns && k < MOST_HALVINGS; k++) {
    double middle = near + (far - near) / 2;
    PAWL_TRY(look_beside(s, middle, err));
    *(product(s, s->moved, s->a_new) < 0.0 ? &far : &near) = middle;
  }
  PAWL_TRY(look_beside(s, near, err));
  memcpy(s->a, s->a_new, (size_t)s->n.v * sizeof(double));
  memcpy(s->mixed, s->lambda, (size_t)s->n.rows * sizeof(double));
  PAWL_TRY(look_beside(s, far, err));
  for (int j = 0; j < s->n.v; j++) {
    s->dq[j] = near * s->moved[j];
  }
  memcpy(s->q_before, s->q, (size_t)s->n.q * sizeof(double));
  move(s, s->q_before, s->dq, s->q);
  return PAWL_OK;
}

// a, with its forces `mixed`, becomes the smallest of what lies between a and a_new.         (E5)
static void mix(Search* s) {
  for (int j = 0; j < s->n.v; j++) {
    s->moved[j] = s->a_new[j] - s->a[j];
  }
  double jump = product(s, s->moved, s->moved);
  double share = jump > 0.0 ? fmin(1.0, fmax(0.0, -product(s, s->moved, s->a) / jump)) : 0.0;
  for (int j = 0; j < s->n.v; j++) {
    s->a[j] += share * s->moved[j];
  }
  for (int i = 0; i < s->n.rows; i++) {
    s->mixed[i] += share * (s->lambda[i] - s->mixed[i]);
  }
}

static PawlStatus stuck(const Search* s, PawlError* err) {
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "'%s': no rest position: the search is stuck at a kink of the forces (abs, min, "
                   "max, sign, if), along which an acceleration of %.3g is left; begin nearer",
                   pawl_system_name(s->system), largest(s->n.v, s->a));
}

// Where the search has ended with accelerations left, forces have a kink: a becomes the smallest of
// what lies between the pulls around q, 0 when it rests there.
static PawlStatus mix_around(Search* s, double way, double first, PawlError* err) {
  for (int k = 0; k < MOST_SAMPLES; k++) {
    mix(s);
    double left = largest(s->n.v, s->a);
    if (left <= PAWL_REST_PULLS * first) {
      break;
    }
    memcpy(s->moved, s->a, (size_t)s->n.v * sizeof(double));
    PAWL_TRY(look_beside(s, way / left, err));
  }
  return PAWL_OK;
}

// Goes along a, the kink, for as long as it is pulled that way. False: it is not.
static PawlStatus slide(Search* s, double way, bool* slides, PawlError* err) {
  double near = 0.0, far = way / largest(s->n.v, s->a);
  memcpy(s->moved, s->a, (size_t)s->n.v * sizeof(double));
  PAWL_TRY(look_beside(s, far, err));
  for (int k = 0; k < MOST_HALVINGS && product(s, s->moved, s->a_new) > 0.0; k++) {
    near = far;
    far *= 2;
    PAWL_TRY(look_beside(s, far, err));
  }
  *slides = near > 0.0;
  for (int k = 0; *slides && k < MOST_HALVINGS; k++) {
    double middle = near + (far - near) / 2;
    PAWL_TRY(look_beside(s, middle, err));
    *(product(s, s->moved, s->a_new) > 0.0 ? &near : &far) = middle;
  }
  PAWL_TRY(look_beside(s, near, err));
  memcpy(s->q, s->q_new, (size_t)s->n.q * sizeof(double));
  return PAWL_OK;
}

// The search has ended at q: at rest, in a kink or not (s->kink), or *slides along a kink.
static PawlStatus judge(Search* s, bool* slides, PawlError* err) {
  double nothing = no_pull(s);
  *slides = false;
  if (largest(s->n.v, s->a) <= nothing) {
    return PAWL_OK;
  }
  if (s->system->kink_count == 0) {
    return stands_still(s, err);
  }
  double way = PAWL_REST_BESIDE * fmax(largest(s->n.q, s->q), DBL_MIN);
  bool turns;
  PAWL_TRY(halve(s, way / largest(s->n.v, s->a), &turns, err));
  double first = largest(s->n.v, s->a);
  s->kink = turns && first > nothing;
  if (s->kink) {
    PAWL_TRY(mix_around(s, way, first, err));
  }
  if (largest(s->n.v, s->a) > (s->kink ? PAWL_REST_IN_KINK * first : nothing)) {
    s->kink = false;
    PAWL_TRY(slide(s, way, slides, err));
    return *slides ? PAWL_OK : stuck(s, err);
  }
  memcpy(s->lambda, s->mixed, (size_t)s->n.rows * sizeof(double));
  return evaluate(s, s->q, err);
}

// A rest position in a region that its mode does not have is none.
static PawlStatus check_modes(Search* s, PawlError* err) {
  PawlEval* eval;
  char room[64];
  int constraint = 0;
  if (!pawl_system_switches(s->system)) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_eval_create(s->system, PAWL_SWITCHING, &eval, err));
  PawlPoint point = point_at(s, s->q);
  PawlStatus status = pawl_eval_run(eval, &point, err);
  if (status == PAWL_OK && pawl_modes_margin(s->system, pawl_eval_values(eval)->z, point.modes,
                                             &constraint) < -PAWL_REST_TOUCHES) {
    status = pawl_fail(
        err, PAWL_ERROR_RUN,
        "'%s': no rest position in the modes of the start, in which the search stays: the one "
        "found is outside the region of '%s' of '%s'; begin in the mode that it is in",
        pawl_system_name(s->system),
        pawl_system_mode_name(s->system, constraint, point.modes, room, sizeof room),
        pawl_system_constraint_name(s->system, constraint));
  }
  pawl_eval_destroy(eval);
  return status;
}

// A rate equation A v + b = 0 lets nothing rest where b is not zero, beside the terms b_q q.
static PawlStatus judge_rates(const Search* s, const PawlValues* values, PawlError* err) {
  for (int i = 0; i < s->n.rows; i++) {
    double size = 0.0, b = values->g_t[i];
    for (int j = 0; j < s->n.v; j++) {
      for (int k = s->G.start[j]; k < s->G.start[j + 1]; k++) {
        size += s->G.index[k] == i ? fabs(values->G_rate[k] * s->q[j]) : 0.0;
      }
    }
    int number;
    if (s->set[i] && fabs(b) > PAWL_REST_PULLS * size &&
        pawl_system_row_is_rate(s->system, i, s->point.modes)) {
      return pawl_fail(err, PAWL_ERROR_RUN,
                       "'%s' cannot rest: the rate equation '%s' is off by %.3g where all rates "
                       "are zero",
                       pawl_system_name(s->system), pawl_system_row_name(s->system, i, &number), b);
    }
  }
  return PAWL_OK;
}

static PawlStatus check_rates(const Search* s, PawlError* err) {
  PawlEval* eval;
  PawlPoint point = s->point;
  point.q = s->q;
  if (!s->system->rates) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_eval_create(s->system, PAWL_TIME_GRADIENT | PAWL_VELOCITY_TANGENT, &eval, err));
  PawlStatus status = pawl_eval_run(eval, &point, err);
  status = status ? status : judge_rates(s, pawl_eval_values(eval), err);
  pawl_eval_destroy(eval);
  return status;
}

// ---- the beginning ------------------------------------------------------------------------------
static PawlStatus allocate(Search* s, PawlError* err) {
  size_t v = (size_t)s->n.v, rows = (size_t)s->n.rows;
  double** arrays[] = {&s->a, &s->a_new, &s->dq, &s->moved, &s->force};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
    *arrays[k] = PAWL_NEW(s->arena, double, v);
  }
  s->q = PAWL_NEW(s->arena, double, s->n.q);
  s->q_new = PAWL_NEW(s->arena, double, s->n.q);
  s->q_before = PAWL_NEW(s->arena, double, s->n.q);
  s->lambda = PAWL_NEW(s->arena, double, rows);
  double** more[] = {&s->lo, &s->hi, &s->b, &s->w, &s->mu, &s->mixed, &s->capacity, &s->weight};
  for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
    *more[k] = PAWL_NEW(s->arena, double, rows);
  }
  s->S = PAWL_NEW(s->arena, double, s->H.start[v]);
  s->set = PAWL_NEW(s->arena, unsigned char, rows);
  for (int k = 0; k < ASKS; k++) {
    s->states[k] = PAWL_NEW(s->arena, unsigned char, rows);
  }
  s->slid = PAWL_NEW(s->arena, unsigned char, rows);
  return s->arena->failed ? pawl_fail_memory(err) : PAWL_OK;
}

// Modes, rows in force and values of locks are those of the start of a run.
static PawlStatus enter(Search* s, const PawlState* state, const double* q, PawlError* err) {
  int* modes = PAWL_NEW(s->arena, int, s->n.modes);
  double* held = PAWL_NEW(s->arena, double, s->n.rows + s->n.inputs);
  double* zeros = PAWL_NEW(s->arena, double, s->n.v);
  s->v = PAWL_NEW(s->arena, double, s->n.v);
  if (!modes || !held || !zeros || !s->v) {
    return pawl_fail_memory(err);
  }
  memcpy(modes, state->modes, (size_t)s->n.modes * sizeof(int));
  memcpy(held, state->held, (size_t)(s->n.rows + s->n.inputs) * sizeof(double));
  memcpy(s->q, q ? q : state->q, (size_t)s->n.q * sizeof(double));
  for (int k = pawl_moving(s->n); k < s->n.v; k++) {
    s->q[k] = state->v[k];
  }
  s->point = (PawlPoint){.v = s->v, .a = zeros, .lambda = s->lambda, .modes = modes, .held = held};
  for (int i = 0; i < s->n.rows; i++) {
    s->set[i] = is_contact(s, i) ? 0 : state->active[i];
    s->capacity[i] = s->weight[i] = INFINITY;
  }
  return PAWL_OK;
}

// Brakes hold where they are, also those that slide at the start and would with rates.         (E6)
static PawlStatus hold_brakes(Search* s, PawlError* err) {
  int *modes = (int*)s->point.modes, brakes = 0;
  double* held = (double*)s->point.held;
  for (int c = 0; c < s->system->constraint_count; c++) {
    if (is_brake(s, c)) {
      modes[c] = PAWL_MODE_HELD;
      s->set[s->system->constraints[c].first_row] = 1;
      brakes++;
    }
  }
  if (brakes == 0) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_eval_create(s->system, PAWL_WATCHES, &s->watches, err));
  PAWL_TRY(evaluate(s, s->q, err));
  for (int c = 0; c < s->system->constraint_count; c++) {
    int row = s->system->constraints[c].first_row;
    held[row] += is_brake(s, c) ? pawl_eval_values(s->eval)->g[row] : 0.0;
  }
  return PAWL_OK;
}

static PawlStatus begin(Search* s, const double* q, PawlError* err) {
  PawlStarted start;
  PawlStatus status = pawl_started_create(s->system, &start, err);
  status = status ? status : enter(s, start.state, q, err);
  pawl_started_destroy(&start);
  return status;
}

static PawlStatus search(Search* s, const double* q, PawlError* err) {
  s->n = pawl_system_sizes(s->system);
  s->H = pawl_system_pattern_H(s->system);
  s->G = pawl_system_pattern_G(s->system);
  PAWL_TRY(allocate(s, err));
  PAWL_TRY(begin(s, q, err));
  PAWL_TRY(pawl_eval_create(s->system,
                            PAWL_MASS | PAWL_FORCE | PAWL_POSITION | PAWL_GRADIENT | PAWL_ENERGY,
                            &s->eval, err));
  PAWL_TRY(pawl_eval_create(s->system, PAWL_STIFFNESS | PAWL_DAMPING, &s->tangents, err));
  PAWL_TRY(pawl_rows_create(&s->H, &s->G, PAWL_ROWS_AUTO, &s->rows, err));
  PAWL_TRY(hold_brakes(s, err));
  for (bool slides = true; slides;) {
    PAWL_TRY(iterate(s, err));
    PawlStatus status = judge(s, &slides, err);
    if (status != PAWL_OK) {
      return status == PAWL_RETRY ? stuck(s, err) : status;
    }
  }
  PAWL_TRY(check_rates(s, err));
  return check_modes(s, err);
}

PawlStatus pawl_equilibrium_find(const PawlSystem* system, const double* q, PawlEquilibrium** out,
                                 PawlError* err) {
  *out = NULL;
  Whole* whole = pawl_alloc(1, sizeof *whole);
  if (!whole) {
    return pawl_fail_memory(err);
  }
  Search s = {.system = system, .arena = &whole->arena};
  PawlStatus status = search(&s, q, err);
  if (status == PAWL_OK) {
    PawlEquilibrium* e = &whole->equilibrium;
    e->point = s.point;
    e->point.q = s.q;
    e->active = s.set;
    e->potential = pawl_eval_values(s.eval)->energy[1];
    e->acceleration = largest(s.n.v, s.a);
    e->iterations = s.iteration;
    e->kink = s.kink;
    *out = e;
  } else {
    pawl_equilibrium_destroy(&whole->equilibrium);
  }
  pawl_eval_destroy(s.eval);
  pawl_eval_destroy(s.tangents);
  pawl_eval_destroy(s.watches);
  pawl_rows_destroy(s.rows);
  return status;
}

void pawl_equilibrium_destroy(PawlEquilibrium* equilibrium) {
  if (equilibrium) {
    Whole* whole = (Whole*)equilibrium;  // its first member
    pawl_arena_free(&whole->arena);
    pawl_free(whole);
  }
}
