// SPDX-License-Identifier: Apache-2.0
// Rest positions by a flow that becomes Newton's method (docs/theory/equilibrium.md):
//
//   [M -G^T; G 0] [a; lambda] = [f; 0]                       what still pulls at q           (E1)
//   s M (q+ - q) = f + G^T lambda,  g = 0  at q+             a step, by Newton's method      (E2)
//   [K + s M  -G^T; G  0] [dq; .] = [M (a - s (q+ - q)); 0],   K = -d(f + G^T lambda)/dq     (E3)
//
// A large s goes a little way along a, down the potential; s = 0 is Newton's method for the rest.
#include "pawl/equilibrium.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "linalg/kkt.h"
#include "linalg/sparse.h"
#include "pawl/stepper.h"
#include "switch/tolerances.h"

static const double SHRINKS = 0.7;  // corrections of a step, each of the one before
static const double QUICKER = 1.0 / 4, SLOWER = 8;
static const double FIRST_WAY = 0.1;  // of the largest coordinate, in the first step
enum {
  MOST_ITERATIONS = 1000,
  MOST_TURNS = 10,
  MOST_PROJECTIONS = 20,
  MOST_CORRECTIONS = 8,
  FEW_CORRECTIONS = 5
};

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
  PawlKkt* kkt;
  PawlPoint point;
  double *q, *q_new, *q_before, *a, *a_new, *lambda, *moved, *dq, *dlambda, *force, *S;
  unsigned char *set, *turns;  // rows in force; how often a contact changed
  bool contacts;
  double s;  // of (E2) [1/s^2]
  int iteration;
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

// sqrt(x M x)
static double size_of(Search* s, const double* x) {
  memset(s->force, 0, (size_t)s->n.v * sizeof(double));
  pawl_sparse_add(&s->H, pawl_eval_values(s->eval)->M, 1.0, x, s->force);
  return sqrt(fmax(0.0, dot(s->n.v, x, s->force)));
}

// Ended: the change is nothing, or as small as rounding lets it be.
static bool has_ended(double change, double before, double size) {
  return change <= PAWL_REST_FOUND * size ||
         (change <= PAWL_REST_NEARLY * size && change >= before);
}

// ---- what pulls, and which contacts are closed --------------------------------------------------
static PawlStatus singular(const Search* s, PawlError* err) {
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "'%s': no rest position: the masses and rows are singular where the search is; "
                   "is a mass zero, or do constraints depend on each other?",
                   pawl_system_name(s->system));
}

static PawlStatus find_pull(Search* s, double* a, PawlError* err) {  // (E1)
  const PawlValues* values = pawl_eval_values(s->eval);
  PawlStatus status = pawl_kkt_factor(s->kkt, values->M, values->G, values->G, s->set);
  if (status != PAWL_OK) {
    return status == PAWL_RETRY ? singular(s, err) : pawl_fail_memory(err);
  }
  memcpy(a, values->f, (size_t)s->n.v * sizeof(double));
  memset(s->lambda, 0, (size_t)s->n.rows * sizeof(double));
  pawl_kkt_solve(s->kkt, a, s->lambda);
  return PAWL_OK;
}

// A closed contact that pulls opens; one that has no gap and is pressed closes. One at a time.
static bool change_contact(Search* s, const double* a) {
  const double* g = pawl_eval_values(s->eval)->g;
  memset(s->dlambda, 0, (size_t)s->n.rows * sizeof(double));
  pawl_sparse_add(&s->G, pawl_eval_values(s->eval)->G, 1.0, a, s->dlambda);
  double most = 0.0;
  int change = -1;
  for (int i = 0; i < s->n.rows; i++) {
    if (pawl_system_row_kind(s->system, i) == PAWL_ROW_BILATERAL || s->turns[i] > MOST_TURNS) {
      continue;
    }
    bool deep = !s->set[i] && g[i] < -PAWL_REST_TOUCHES;
    bool pressed = !s->set[i] && g[i] <= PAWL_REST_TOUCHES && s->dlambda[i] < 0.0;
    double wrong = s->set[i] ? -s->lambda[i] : deep ? INFINITY : pressed ? -s->dlambda[i] : 0.0;
    if (wrong > most) {
      most = wrong;
      change = i;
    }
  }
  if (change >= 0) {
    s->set[change] = !s->set[change];
    s->turns[change]++;
  }
  return change >= 0;
}

static PawlStatus evaluate(Search* s, const double* q, PawlError* err) {
  PawlPoint point = s->point;
  point.q = q;
  return pawl_eval_run(s->eval, &point, err);
}

// Moves q onto the rows in force: M dq = G^T mu, G dq = -g, until nothing changes.           (E4)
static PawlStatus onto_rows(Search* s, double* q, PawlError* err) {
  const PawlValues* values = pawl_eval_values(s->eval);
  double before = INFINITY;
  PAWL_TRY(evaluate(s, q, err));
  for (int k = 0; k < MOST_PROJECTIONS && memchr(s->set, 1, (size_t)s->n.rows); k++) {
    PawlStatus status = pawl_kkt_factor(s->kkt, values->M, values->G, values->G, s->set);
    if (status != PAWL_OK) {
      return status;
    }
    memset(s->force, 0, (size_t)s->n.v * sizeof(double));
    for (int i = 0; i < s->n.rows; i++) {
      s->dlambda[i] = s->set[i] ? -values->g[i] : 0.0;
    }
    pawl_kkt_solve(s->kkt, s->force, s->dlambda);
    double change = largest(s->n.v, s->force);
    if (has_ended(change, before, largest(s->n.q, q)) || change == 0.0) {
      return PAWL_OK;
    }
    before = change;
    memcpy(s->q_before, q, (size_t)s->n.q * sizeof(double));
    pawl_system_retract(s->system, s->q_before, s->force, q);
    PAWL_TRY(evaluate(s, q, err));
  }
  return memchr(s->set, 1, (size_t)s->n.rows) ? PAWL_RETRY : PAWL_OK;
}

// Values, what pulls and the forces at q, which is moved onto the rows. PAWL_RETRY: it is too far
// from them.
static PawlStatus look(Search* s, double* q, double* a, PawlError* err) {
  do {
    PAWL_TRY(onto_rows(s, q, err));
    PAWL_TRY(find_pull(s, a, err));
  } while (s->contacts && change_contact(s, a));
  return PAWL_OK;
}

// ---- steps --------------------------------------------------------------------------------------
// One iteration of Newton's method for (E2) from q_new, where a_new pulls; dq is its change. (E3)
static PawlStatus correct(Search* s, PawlError* err) {
  const PawlValues* values = pawl_eval_values(s->eval);
  PawlPoint point = s->point;
  point.q = s->q_new;
  PAWL_TRY(pawl_eval_run(s->tangents, &point, err));
  const double* K = pawl_eval_values(s->tangents)->K;
  for (int k = 0; k < s->H.start[s->n.v]; k++) {
    s->S[k] = K[k] + s->s * values->M[k];
  }
  PawlStatus status = pawl_kkt_factor(s->kkt, s->S, values->G, values->G, s->set);
  if (status != PAWL_OK) {
    return status;
  }
  for (int j = 0; j < s->n.v; j++) {
    s->force[j] = s->a_new[j] - s->s * s->moved[j];
  }
  memset(s->dq, 0, (size_t)s->n.v * sizeof(double));
  memset(s->dlambda, 0, (size_t)s->n.rows * sizeof(double));
  pawl_sparse_add(&s->H, values->M, 1.0, s->force, s->dq);
  pawl_kkt_solve(s->kkt, s->dq, s->dlambda);
  return PAWL_OK;
}

// True when the step went down: s is more than the potential bends up.
static bool went_down(Search* s) {
  memset(s->force, 0, (size_t)s->n.v * sizeof(double));
  pawl_sparse_add(&s->H, pawl_eval_values(s->eval)->M, 1.0, s->a, s->force);
  return dot(s->n.v, s->moved, s->force) >= 0.0;
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
    if (!(change <= SHRINKS * before)) {
      return PAWL_RETRY;
    }
    before = change;
    for (int j = 0; j < s->n.v; j++) {
      s->moved[j] += s->dq[j];
    }
    memcpy(s->q_before, s->q_new, (size_t)s->n.q * sizeof(double));
    pawl_system_retract(s->system, s->q_before, s->dq, s->q_new);
    if (!went_down(s)) {
      return PAWL_RETRY;
    }
    PAWL_TRY(look(s, s->q_new, s->a_new, err));
    if (change <= PAWL_REST_SOLVED * size_of(s, s->moved)) {
      return PAWL_OK;
    }
  }
  return PAWL_RETRY;
}

// What s begins with: a short way along a, or a part of the stiffness.
static double first_s(Search* s) {
  const double* M = pawl_eval_values(s->eval)->M;
  double pull = largest(s->n.v, s->a), far = largest(s->n.q, s->q), stiff = 0.0;
  PawlPoint point = s->point;
  point.q = s->q;
  if (pawl_eval_run(s->tangents, &point, NULL) == PAWL_OK) {
    const double* K = pawl_eval_values(s->tangents)->K;
    for (int j = 0; j < s->n.v; j++) {
      for (int k = s->H.start[j]; k < s->H.start[j + 1]; k++) {
        bool diagonal = s->H.index[k] == j && M[k] > 0.0;
        stiff = diagonal ? fmax(stiff, fabs(K[k]) / M[k]) : stiff;
      }
    }
  }
  double s_first = far > 0.0 ? pull / (FIRST_WAY * far) : stiff;
  return s_first > 0.0 ? s_first : 1.0;
}

static PawlStatus no_rest(const Search* s, PawlError* err) {
  int worst = 0;
  for (int j = 0; j < s->n.v; j++) {
    worst = fabs(s->a[j]) > fabs(s->a[worst]) ? j : worst;
  }
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "'%s': no rest position was found in %d iterations; '%s' would still move with "
                   "an acceleration of %.3g; does nothing hold it?",
                   pawl_system_name(s->system), s->iteration,
                   s->n.q == s->n.v ? pawl_system_coordinate_name(s->system, worst) : "a velocity",
                   s->a[worst]);
}

static PawlStatus iterate(Search* s, PawlError* err) {
  PawlStatus status = look(s, s->q, s->a, err);
  if (status != PAWL_OK) {
    return status == PAWL_RETRY ? no_rest(s, err) : status;
  }
  double before = INFINITY, first = s->s = first_s(s);
  while (++s->iteration <= MOST_ITERATIONS && s->s > PAWL_REST_GIVEN_UP * first &&
         s->s < first / PAWL_REST_GIVEN_UP) {
    int corrections;
    status = take_step(s, &corrections, err);
    if (status == PAWL_RETRY) {
      s->s *= SLOWER;
      PAWL_TRY(look(s, s->q, s->a, err));
      continue;
    }
    PAWL_TRY(status);
    double change = largest(s->n.v, s->moved), size = largest(s->n.q, s->q_new);
    memcpy(s->q, s->q_new, (size_t)s->n.q * sizeof(double));
    memcpy(s->a, s->a_new, (size_t)s->n.v * sizeof(double));
    if (change == 0.0 || has_ended(change, before, size)) {
      return PAWL_OK;
    }
    before = change;
    s->s *= corrections <= FEW_CORRECTIONS ? QUICKER : 1.0;
  }
  return no_rest(s, err);
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
  s->dlambda = PAWL_NEW(s->arena, double, rows);
  s->S = PAWL_NEW(s->arena, double, s->H.start[v]);
  s->set = PAWL_NEW(s->arena, unsigned char, rows);
  s->turns = PAWL_NEW(s->arena, unsigned char, rows);
  return s->arena->failed ? pawl_fail_memory(err) : PAWL_OK;
}

// Modes, rows in force and values of locks are those of the start of a run.
static PawlStatus begin(Search* s, const double* q, PawlError* err) {
  PawlStepper* stepper = NULL;
  PawlState* state = NULL;
  PawlSimulateDef def = pawl_simulate_def_default();
  def.method = "nsga-pva";  // begins every model
  PAWL_TRY(pawl_stepper_create(s->system, &def, &stepper, err));
  PawlStatus status = pawl_state_create(stepper, &state, err);
  status = status ? status : pawl_stepper_start(stepper, state, true, err);
  if (status == PAWL_OK) {
    int* modes = PAWL_NEW(s->arena, int, s->n.modes);
    double* held = PAWL_NEW(s->arena, double, s->n.rows);
    double* zeros = PAWL_NEW(s->arena, double, s->n.v);
    if (!modes || !held || !zeros) {
      status = pawl_fail_memory(err);
    } else {
      memcpy(modes, state->modes, (size_t)s->n.modes * sizeof(int));
      memcpy(held, state->held, (size_t)s->n.rows * sizeof(double));
      memcpy(s->set, state->active, (size_t)s->n.rows);
      memcpy(s->q, q ? q : state->q, (size_t)s->n.q * sizeof(double));
      s->point =
          (PawlPoint){.v = zeros, .a = zeros, .lambda = s->lambda, .modes = modes, .held = held};
    }
  }
  pawl_state_destroy(state);
  pawl_stepper_destroy(stepper);
  for (int i = 0; status == PAWL_OK && i < s->n.rows; i++) {
    if (pawl_system_row_kind(s->system, i) != PAWL_ROW_BILATERAL) {
      s->contacts = true;
      s->set[i] = 0;
    }
  }
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
  PAWL_TRY(pawl_eval_create(s->system, PAWL_STIFFNESS, &s->tangents, err));
  PAWL_TRY(pawl_kkt_create(&s->H, &s->G, PAWL_KKT_AUTO, &s->kkt, err));
  return iterate(s, err);
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
    *out = e;
  } else {
    pawl_equilibrium_destroy(&whole->equilibrium);
    status = status == PAWL_RETRY ? PAWL_ERROR_RUN : status;
    if (err) {
      err->status = status;
    }
  }
  pawl_eval_destroy(s.eval);
  pawl_eval_destroy(s.tangents);
  pawl_kkt_destroy(s.kkt);
  return status;
}

void pawl_equilibrium_destroy(PawlEquilibrium* equilibrium) {
  if (equilibrium) {
    Whole* whole = (Whole*)equilibrium;  // its first member
    pawl_arena_free(&whole->arena);
    pawl_free(whole);
  }
}
