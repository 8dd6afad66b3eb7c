// SPDX-License-Identifier: Apache-2.0
#include "step/rub_sets.h"

#include <math.h>
#include <string.h>

#include "switch/tolerances.h"

enum { MOST_ROUNDS = 40, MOST_HARDER = 40, MOST_JOINS = 3, ROWS = PAWL_RUB_ROWS };
enum { LITTLE = 3 };           // patience that no search uses up sooner
enum { MANY = 3, WORSE = 4 };  // parts of all contacts; times the fewest that were wrong
enum { FEW_ROWS = 96 };  // of problems that are left to their islands where directions do not end

PawlStatus pawl_rub_sets_create(PawlStepper* s, const PawlRubMatrix* matrix, PawlRubSets* p,
                                PawlError* err) {
  int n = matrix->n, rows = ROWS * matrix->count;
  double** of_n[] = {&p->x, &p->dx, &p->b, &p->terms, &p->kept_x};
  for (size_t k = 0; k < sizeof of_n / sizeof *of_n; k++) {
    *of_n[k] = PAWL_NEW(&s->arena, double, n);
  }
  p->y = PAWL_NEW(&s->arena, double, rows);
  p->w = PAWL_NEW(&s->arena, double, rows);
  p->kept_y = PAWL_NEW(&s->arena, double, rows);
  p->C = PAWL_NEW(&s->arena, double, ROWS* rows);
  p->held = PAWL_NEW(&s->arena, double, matrix->bilateral);
  p->dheld = PAWL_NEW(&s->arena, double, matrix->bilateral);
  p->closed = PAWL_NEW(&s->arena, int, matrix->count);
  p->joined = PAWL_NEW(&s->arena, unsigned char, matrix->count);
  return s->arena.failed ? pawl_fail_memory(err) : PAWL_OK;
}

// ---- one set ------------------------------------------------------------------------------------
// Across the slip of a contact in space: friction turns with its rate.
static bool turns(const PawlRubContact* c, const PawlRubState* state) {
  return c->count == 2 && state->place == PAWL_RUB_SLIP && state->turns > 0.0;
}

// Rows that hold have a small compliance of their own; the friction of one that slips follows its
// normal row, and turns.                                                            (T10) (T31)
static void harden(const PawlRubProblem* q, int k, const PawlRubState* state, double* C) {
  const PawlRubContact* c = &q->matrix->contact[k];
  const double* own = q->own + ROWS * k;
  double soft = q->soft > 0.0 ? q->soft : PAWL_FRICTION_SOFT;
  memset(C, 0, 9 * sizeof *C);
  C[0] = 1.0 / (soft * own[0]);
  for (int i = 1; i <= c->count; i++) {
    if (state->place == PAWL_RUB_STICK) {
      C[ROWS * i + i] = 1.0 / (soft * own[i]);
    } else {
      C[ROWS * i] = -c->mu * state->direction[i - 1] * C[0];
    }
  }
  if (turns(c, state)) {
    const double *d = state->direction, across[2] = {-d[1], d[0]};
    double by = 1.0 / (1.0 / state->turns + soft * fmax(own[1], own[2]));
    for (int i = 0; i < 2; i++) {
      C[ROWS * (1 + i) + 1] = by * across[i] * across[0];
      C[ROWS * (1 + i) + 2] = by * across[i] * across[1];
    }
  }
}

// w + y/turns across the slip of what turns, 0 in the end; else w.                          (T31)
static void yielding(const PawlRubContact* c, const PawlRubState* state, const double* w,
                     const double* y, double* out) {
  memcpy(out, w, ROWS * sizeof *out);
  if (turns(c, state)) {
    const double* d = state->direction;
    double across = (d[0] * y[2] - d[1] * y[1]) / state->turns;
    out[1] -= across * d[1];
    out[2] += across * d[0];
  }
}

// Impulses of a set from those given.
static void fit(const PawlRubContact* c, const PawlRubState* state, double* y) {
  for (int i = 0; i <= c->count && state->place == PAWL_RUB_OPEN; i++) {
    y[i] = 0.0;
  }
  for (int i = 1; i <= c->count && state->place == PAWL_RUB_SLIP; i++) {
    y[i] = -c->mu * state->direction[i - 1] * y[0];
  }
}

static bool factor_values(PawlRubSets* p, const PawlRubProblem* q, const PawlRubState* state,
                          const PawlRubValues* values) {
  p->closed_count = 0;
  for (int a = 0; a < q->count; a++) {
    int k = q->list[a];
    if (state[k].place != PAWL_RUB_OPEN) {
      harden(q, k, &state[k], p->C + 9 * k);
      p->closed[p->closed_count++] = k;
    }
  }
  return pawl_rub_matrix_factor(q->matrix, values, p->closed_count, p->closed, p->C);
}

bool pawl_rub_sets_factor(PawlRubSets* p, const PawlRubProblem* q, const PawlRubState* state) {
  return factor_values(p, q, state, &q->matrix->exact);
}

static bool factor_set(PawlRubSets* p, const PawlRubProblem* q, const PawlRubState* state,
                       const PawlRubValues* values) {
  for (int a = 0; a < q->count; a++) {
    int k = q->list[a];
    if (q->soft > 0.0) {
      memcpy(p->y + ROWS * k, q->near + ROWS * k, ROWS * sizeof(double));
    }
    fit(&q->matrix->contact[k], &state[k], p->y + ROWS * k);
  }
  return factor_values(p, q, state, values);
}

static void rates(PawlRubSets* p, const PawlRubProblem* q) {
  for (int a = 0; a < q->count; a++) {
    int k = q->list[a];
    pawl_rub_matrix_rates(q->matrix, &q->matrix->exact, k, p->x, p->w + ROWS * k);
    for (int i = 0; i <= q->matrix->contact[k].count; i++) {
      int at = ROWS * k + i;
      p->w[at] += q->w0[at];
      p->w[at] += q->soft > 0.0 ? q->soft * q->own[at] * (p->y[at] - q->near[at]) : 0.0;  // (F38)
    }
  }
}

// The largest of the rates of rows that hold, of what rounding may leave.
static double loose(const PawlRubSets* p, const PawlRubProblem* q, const PawlRubState* state) {
  double most = 0.0;
  for (int a = 0; a < p->closed_count; a++) {
    int k = p->closed[a], rows = state[k].place == PAWL_RUB_STICK ? q->matrix->contact[k].count : 0;
    for (int i = 0; i <= rows; i++) {
      double w = fabs(p->w[ROWS * k + i]);
      most = w > most * q->size[ROWS * k + i] ? w / q->size[ROWS * k + i] : most;
    }
  }
  return most / PAWL_ROWS_ROUNDING;
}

static void times(const double* C, const double* w, int rows, double* u) {
  for (int i = 0; i < rows; i++) {
    u[i] = 0.0;
    for (int j = 0; j < rows; j++) {
      u[i] += C[ROWS * i + j] * w[j];
    }
  }
}

// What is left of both equations of (T6) is solved for once more, with the impulses so far in the
// place of those before.                                                                   (T11)
static void correct(PawlRubSets* p, const PawlRubProblem* q, const PawlRubState* state) {
  PawlRubMatrix* m = q->matrix;
  double u[ROWS], w[ROWS];
  memcpy(p->dx, p->b, (size_t)m->n * sizeof(double));
  for (int a = 0; a < p->closed_count; a++) {
    int k = p->closed[a], rows = 1 + m->contact[k].count;
    yielding(&m->contact[k], &state[k], p->w + ROWS * k, p->y + ROWS * k, w);
    times(p->C + 9 * k, w, rows, u);
    for (int i = 0; i < rows; i++) {
      u[i] = -u[i];
    }
    pawl_rub_matrix_push(m, m->factored, k, u, p->dx, NULL);
  }
  pawl_rub_matrix_solve(m, p->dx, p->dheld);
  for (int j = 0; j < m->n; j++) {
    p->x[j] += p->dx[j];
  }
  for (int i = 0; i < m->bilateral; i++) {
    p->held[i] += p->dheld[i];
  }
  for (int a = 0; a < p->closed_count; a++) {
    int k = p->closed[a], rows = 1 + m->contact[k].count;
    double moved[ROWS];
    pawl_rub_matrix_rates(m, m->factored, k, p->dx, moved);
    yielding(&m->contact[k], &state[k], p->w + ROWS * k, p->y + ROWS * k, w);
    for (int i = 0; i < rows; i++) {
      moved[i] += w[i];
    }
    times(p->C + 9 * k, moved, rows, u);
    for (int i = 0; i < rows; i++) {
      p->y[ROWS * k + i] -= u[i];
    }
  }
}

// p->b and p->dheld: what is left of the equations; the first relative to its terms.
static double left(PawlRubSets* p, const PawlRubProblem* q) {
  PawlRubMatrix* m = q->matrix;
  double most = 0.0;
  for (int j = 0; j < m->n; j++) {
    p->b[j] = q->r[j];
    p->terms[j] = fabs(q->r[j]);
  }
  for (int a = 0; a < p->closed_count; a++) {
    pawl_rub_matrix_push(m, &m->exact, p->closed[a], p->y + ROWS * p->closed[a], p->b, p->terms);
  }
  pawl_rub_matrix_rest(m, p->x, p->held, p->b);
  memcpy(p->dheld, q->hold, (size_t)m->bilateral * sizeof(double));
  for (int j = 0; j < m->n; j++) {
    for (int e = m->G.start[j]; e < m->G.start[j + 1]; e++) {
      p->dheld[m->G.index[e]] -= m->exact.J_held[e] * p->x[j];
    }
    double size = pawl_rub_matrix_terms(m, j, p->x, p->held) + p->terms[j];
    most = fabs(p->b[j]) > most * size ? fabs(p->b[j]) / size : most;
  }
  for (int i = 0; i < m->bilateral; i++) {
    p->dheld[i] = m->active[i] ? p->dheld[i] : 0.0;
  }
  return most / PAWL_ROWS_ROUNDING;
}

// Nothing is left of the bilateral rows, to the last bit.                                  (N80)
static bool rows_are_met(const PawlRubSets* p, const PawlRubMatrix* m) {
  bool met = true;
  for (int i = 0; i < m->bilateral; i++) {
    met &= p->dheld[i] == 0.0;
  }
  return met;
}

// x, y and w of a set; false: singular, or too coarse to lead there.
static bool solve_set_by(PawlRubSets* p, const PawlRubProblem* q, const PawlRubState* state,
                         const PawlRubValues* values) {
  PawlRubMatrix* m = q->matrix;
  double before = INFINITY;
  if (!factor_set(p, q, state, values)) {
    return false;
  }
  memset(p->x, 0, (size_t)m->n * sizeof(double));
  memset(p->held, 0, (size_t)m->bilateral * sizeof(double));
  for (int k = 0; k < MOST_HARDER; k++) {
    double off = left(p, q);
    rates(p, q);
    off = fmax(off, loose(p, q, state));
    bool may_end = k > 0 || (q->again && rows_are_met(p, m));
    if ((may_end && off <= 1.0) || (k > 2 && off > 0.5 * before)) {
      return isfinite(off) && (values == &m->exact || off <= PAWL_RUB_FAR);
    }
    if (k > 1 && values != &m->exact && off > PAWL_RUB_LEADS * before) {
      return false;
    }
    before = off;
    correct(p, q, state);
  }
  return true;
}

static bool solve_set(PawlRubSets* p, const PawlRubProblem* q, const PawlRubState* state) {
  return solve_set_by(p, q, state, &q->matrix->exact);
}

// The set to begin with. Where nothing moves the factors of its coarse values are there already.
static bool solve_first_set(PawlRubSets* p, const PawlRubProblem* q, const PawlRubState* state) {
  size_t rows = (size_t)q->matrix->count * ROWS * sizeof(double);
  if (!q->matrix->rounds) {
    return solve_set(p, q, state);
  }
  memcpy(p->kept_y, p->y, rows);
  if (solve_set_by(p, q, state, &q->matrix->coarse)) {
    return true;
  }
  memcpy(p->y, p->kept_y, rows);
  return solve_set(p, q, state);
}

// ---- what is wrong with it ----------------------------------------------------------------------
static double length_of(const PawlRubContact* c, const double* x) {
  return c->count == 0 ? 0.0 : c->count == 1 ? fabs(x[1]) : hypot(x[1], x[2]);
}

static void turn(const PawlRubContact* c, PawlRubState* state, const double* along, double by) {
  for (int i = 0; i < 2; i++) {
    state->direction[i] = i < c->count ? by * along[1 + i] : 0.0;
  }
}

// A contact that slips: whether its slip has the direction that was taken, which is then mended.
static bool slips_wrong(const PawlRubContact* c, PawlRubState* state, const double* w,
                        const double* y, const double* size, double tolerance, bool many) {
  double along = 0.0, across = 0.0, slack = 0.0;
  for (int i = 0; i < c->count; i++) {
    along += state->direction[i] * w[1 + i];
    slack = fmax(slack, tolerance * size[1 + i]);
  }
  for (int i = 0; i < c->count; i++) {
    across = fmax(across, fabs(w[1 + i] - along * state->direction[i]));
  }
  if (along < -slack) {
    state->place = PAWL_RUB_STICK;
    return true;
  }
  if (across <= slack) {
    return false;
  }
  double slip = length_of(c, w);
  turn(c, state, w, 1.0 / slip);
  state->turns = many ? c->mu * fmax(y[0], 0.0) / slip : 0.0;
  return true;
}

double pawl_rub_sets_turns(const PawlRubProblem* q, int k, double R, double T) {
  const double* own = q->own + ROWS * k;
  return T > R && ROWS * q->count > FEW_ROWS ? R / (fmax(own[1], own[2]) * (T - R)) : 0.0;
}

// Moves a contact that is wrong to another place; whether it was.
static bool mend(const PawlRubProblem* q, int k, const double* w, const double* y, double least,
                 PawlRubState* state) {
  const PawlRubContact* c = &q->matrix->contact[k];
  const double* size = q->size + ROWS * k;
  double N = y[0], T = length_of(c, y);
  if (state->place == PAWL_RUB_OPEN) {
    bool wrong = w[0] < -q->tolerance * size[0];
    state->place = wrong ? PAWL_RUB_STICK : PAWL_RUB_OPEN;
    return wrong;
  }
  if (N < -least) {
    state->place = PAWL_RUB_OPEN;
    return true;
  }
  if (state->place == PAWL_RUB_SLIP) {
    return slips_wrong(c, state, w, y, size, q->tolerance, ROWS * q->count > FEW_ROWS);
  }
  bool wrong = c->count > 0 && T > c->mu * fmax(N, 0.0) + least;
  if (wrong) {
    state->place = PAWL_RUB_SLIP;
    turn(c, state, y, -1.0 / T);
    state->turns = pawl_rub_sets_turns(q, k, c->mu * fmax(N, 0.0), T);
  }
  return wrong;
}

double pawl_rub_sets_largest(const PawlRubSets* p, const PawlRubProblem* q) {
  double most = 0.0;
  for (int a = 0; a < q->count; a++) {
    for (int i = 0; i < ROWS; i++) {
      most = fmax(most, fabs(p->y[ROWS * q->list[a] + i]));
    }
  }
  return most;
}

// Open contacts that slide and do not part carry a share of the load, too; how many.  (F28)
static int join(PawlRubSets* p, const PawlRubProblem* q, PawlRubState* state) {
  int count = 0;
  for (int a = 0; a < q->count; a++) {
    int k = q->list[a];
    const PawlRubContact* c = &q->matrix->contact[k];
    const double *w = p->w + ROWS * k, *size = q->size + ROWS * k;
    double slip = length_of(c, w);
    if (state[k].place == PAWL_RUB_OPEN && p->joined[k] < MOST_JOINS &&
        w[0] <= q->tolerance * size[0] &&
        slip > q->tolerance * fmax(size[1], c->count > 1 ? size[2] : 0.0)) {
      state[k].place = PAWL_RUB_SLIP;
      turn(c, &state[k], w, 1.0 / slip);
      state[k].turns = 0.0;
      p->joined[k]++;
      count++;
    }
  }
  return count;
}

bool pawl_rub_sets_one(PawlRubSets* p, const PawlRubProblem* q, const PawlRubState* state) {
  return solve_set(p, q, state);
}

int pawl_rub_sets_mend(PawlRubSets* p, const PawlRubProblem* q, PawlRubState* state) {
  double least = PAWL_ROWS_ROUNDING * pawl_rub_sets_largest(p, q);
  int wrong = 0;
  for (int a = 0; a < q->count; a++) {
    int k = q->list[a];
    wrong += mend(q, k, p->w + ROWS * k, p->y + ROWS * k, least, &state[k]);
  }
  return wrong;
}

// Rows that hold may contradict each other, as those of a wedged body that is thrown back: then
// impulses that hold each other grow round by round and hide it from what counts as wrong.  (T29)
bool pawl_rub_sets_hold(const PawlRubSets* p, const PawlRubProblem* q, const PawlRubState* state) {
  return loose(p, q, state) * PAWL_ROWS_ROUNDING <= PAWL_RUB_LOOSE;
}

// How much of the patience a set takes that has no fewer contacts wrong than one before it. In
// large problems changes all at once lead nowhere where a third of all contacts is wrong, or many
// times as many as once. (T36)
static int tries(const PawlRubProblem* q, int wrong, int fewest, int patience) {
  bool few = ROWS * q->count <= FEW_ROWS || patience <= LITTLE;
  bool worse = WORSE * fewest < wrong && WORSE * wrong > q->count;
  return few ? 1 : worse ? patience + 1 : MANY * wrong > q->count ? MANY : 1;
}

bool pawl_rub_sets_solve(PawlRubSets* p, const PawlRubProblem* q, int patience,
                         PawlRubState* state) {
  int fewest = q->count + 1, left = patience;
  memset(p->joined, 0, (size_t)q->matrix->count);
  for (int round = 0; round < MOST_ROUNDS && left >= 0; round++) {
    if (!(round == 0 ? solve_first_set(p, q, state) : solve_set(p, q, state))) {
      return false;
    }
    int wrong = pawl_rub_sets_mend(p, q, state);
    if (wrong == 0 && join(p, q, state) == 0) {
      return pawl_rub_sets_hold(p, q, state);
    }
    left = wrong < fewest ? patience : left - tries(q, wrong, fewest, patience);
    fewest = wrong < fewest ? wrong : fewest;
  }
  return false;
}

// ---- shares -------------------------------------------------------------------------------------
// Loads of what slips that differ from those found, up and down without pattern.
static void vary(PawlRubSets* p, const PawlRubProblem* q, const PawlRubState* state) {
  unsigned seed = 12345u;
  for (int a = 0; a < q->count; a++) {
    double* y = p->y + ROWS * q->list[a];
    seed = seed * 1103515245u + 12345u;
    double by = 1.0 + (seed >> 16 & 1u ? PAWL_SHARE_VARIED : -PAWL_SHARE_VARIED);
    for (int i = 0; i < ROWS && state[q->list[a]].place == PAWL_RUB_SLIP; i++) {
      y[i] *= by;
    }
  }
}

// Flags contacts that slip whose loads have stayed as they were varied; how many.
static int flag_varied(const PawlRubSets* p, const PawlRubProblem* q, const PawlRubState* state,
                       unsigned char* group) {
  int count = 0;
  double least = PAWL_SHARE_STAYED * pawl_rub_sets_largest(p, q);
  for (int a = 0; a < q->count; a++) {
    int k = q->list[a];
    if (state[k].place == PAWL_RUB_SLIP && fabs(p->y[ROWS * k] - p->kept_y[ROWS * k]) > least) {
      group[q->matrix->contact[k].normal] = 1;
      count++;
    }
  }
  return count;
}

// Whether the motion has changed, of what the loads do: max |S_jj dx_j| over the largest term.
static bool has_moved(PawlRubSets* p, const PawlRubProblem* q) {
  const PawlRubMatrix* m = q->matrix;
  double most = 0.0, size = 0.0;
  memset(p->terms, 0, (size_t)m->n * sizeof(double));
  memset(p->b, 0, (size_t)m->n * sizeof(double));
  for (int a = 0; a < q->count; a++) {
    pawl_rub_matrix_push(m, &m->exact, q->list[a], p->y + ROWS * q->list[a], p->b, p->terms);
  }
  for (int j = 0; j < m->n; j++) {
    double S = m->diagonal[j] >= 0 ? m->exact.S[m->diagonal[j]] : 0.0;
    most = fmax(most, fabs(S * (p->x[j] - p->kept_x[j])));
    size = fmax(size, p->terms[j]);
  }
  return most > PAWL_SHARE_MATTERS * size;
}

bool pawl_rub_sets_shares(PawlRubSets* p, const PawlRubProblem* q, const PawlRubState* state,
                          unsigned char* group) {
  size_t n = (size_t)q->matrix->n * sizeof(double);
  size_t rows = (size_t)q->matrix->count * ROWS * sizeof(double);
  memcpy(p->kept_x, p->x, n);
  memcpy(p->kept_y, p->y, rows);
  vary(p, q, state);
  bool yes = solve_set(p, q, state) && flag_varied(p, q, state, group) > 1 && has_moved(p, q);
  memcpy(p->y, p->kept_y, rows);
  bool again = solve_set(p, q, state);  // held rows, and w
  memcpy(p->x, p->kept_x, n);
  memcpy(p->y, p->kept_y, rows);
  return yes && again;
}
