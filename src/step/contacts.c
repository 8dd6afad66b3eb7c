// SPDX-License-Identifier: Apache-2.0
// Which contacts are closed: rows with the bounds (0, infinity) between what they push and how far
// they are open (switch/rows.h; docs/theory/nsga.md, "Which contacts are closed").
#include "step/contacts.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "switch/tolerances.h"

enum { MOST_DENSE = 32 };  // contacts; of more of them no matrix of compliances is made

// The entries of G of each contact, by rows.
static void index_entries(const PawlStepper* s, PawlContacts* c) {
  const PawlPattern* G = &s->G;
  int* end = c->first + 1;  // of the entries found so far
  for (int pass = 0; pass < 2; pass++) {
    for (int j = 0; j < G->cols; j++) {
      for (int e = G->start[j]; e < G->start[j + 1]; e++) {
        int k = G->index[e] - c->row[0];
        if (k >= 0 && pass == 1) {
          c->entry[end[k]] = e;
          c->column[end[k]] = j;
        }
        c->first[k >= 0 ? k + 1 + (pass == 0) : 0] += k >= 0;
      }
    }
    for (int k = 0; pass == 0 && k < c->count; k++) {
      c->first[k + 2] += c->first[k + 1];
    }
  }
}

PawlStatus pawl_contacts_create(PawlStepper* s, PawlContacts* c, PawlError* err) {
  c->count = s->contact_count;
  int n = c->count;
  double** of_contacts[] = {&c->mobility, &c->own, &c->q, &c->rounding,
                            &c->lo,       &c->hi,  &c->z, &c->w};
  double** of_rows[] = {&c->push, &c->opening, &c->size, &c->gap, &c->lead};
  for (size_t k = 0; k < sizeof of_contacts / sizeof *of_contacts; k++) {
    *of_contacts[k] = PAWL_NEW(&s->arena, double, n);
  }
  for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
    *of_rows[k] = PAWL_NEW(&s->arena, double, s->sizes.rows);
  }
  c->G = PAWL_NEW(&s->arena, double, s->G.start[s->sizes.v]);
  if (n <= MOST_DENSE) {
    c->D = PAWL_NEW(&s->arena, double, (size_t)n*(size_t)n);
  }
  c->row = PAWL_NEW(&s->arena, int, n);
  c->first = PAWL_NEW(&s->arena, int, n + 2);
  c->entry = PAWL_NEW(&s->arena, int, s->G.start[s->sizes.v]);
  c->column = PAWL_NEW(&s->arena, int, s->G.start[s->sizes.v]);
  c->in = PAWL_NEW(&s->arena, unsigned char, n);
  c->state = PAWL_NEW(&s->arena, unsigned char, n);
  c->touching = PAWL_NEW(&s->arena, unsigned char, s->sizes.rows);
  c->guess = PAWL_NEW(&s->arena, unsigned char, s->sizes.rows);
  if (s->arena.failed) {
    return pawl_fail_memory(err);
  }
  for (int i = 0, k = 0; i < s->sizes.rows; i++) {
    if (pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT) {
      c->row[k++] = i;
    }
  }
  if (n == 0) {
    return PAWL_OK;
  }
  index_entries(s, c);
  return c->D ? pawl_compliance_create(n, &c->solver, err)
              : pawl_contacts_sparse_create(s, &c->sparse, err);
}

void pawl_contacts_destroy(PawlContacts* c) {
  pawl_compliance_destroy(c->solver);
  pawl_contacts_sparse_destroy(&c->sparse);
}

// How fast walls that move by themselves do so, as a rate of the coordinates: |g_t| / sum_j |G_ij|.
static double fastest_wall(const PawlStepper* s, PawlContacts* c, const PawlValues* values) {
  double fastest = 0.0;
  bool moves = false;
  for (int k = 0; k < c->count; k++) {
    moves |= values->g_t[c->row[k]] != 0.0;
  }
  if (!moves) {
    return 0.0;
  }
  pawl_sparse_sizes(&s->G, values->G, NULL, 0.0, c->size);
  for (int k = 0; k < c->count; k++) {
    double size = c->size[c->row[k]], rate = fabs(values->g_t[c->row[k]]);
    fastest = size > 0.0 && rate > fastest * size ? rate / size : fastest;
  }
  return fastest;
}

void pawl_contacts_measure(const PawlStepper* s, PawlContacts* c, const PawlState* state,
                           const PawlValues* values) {
  if (c->depend.of) {
    c->depend.begin(c->depend.of);
  }
  double h = s->def.step, wall = fastest_wall(s, c, values);
  double fall = pawl_dynamics_fall(&s->dynamics, values);
  double push = fmax(pawl_dynamics_largest(pawl_moving(s->sizes), state->a), fall) + wall / h;
  double v = pawl_dynamics_largest(pawl_moving(s->sizes), state->v), pace = v + h * push;
  double q = pawl_dynamics_largest(s->sizes.q, state->q);
  c->least_a = PAWL_SMALLEST_PART * push;
  c->least_v = PAWL_SMALLEST_PART * pace;
  c->least_q = PAWL_SMALLEST_PART * (q + h * pace);
  c->slow = h * fall + PAWL_SLOWEST_PART * (v + wall) + PAWL_SLOWEST_MOVE * q / h;
}

// Column k of the compliance: how each contact moves when contact k pushes with 1.
static void compliance_column(PawlStepper* s, PawlContacts* c, int k, const double* B,
                              const double* J, double* x, double* y) {
  memset(x, 0, (size_t)s->sizes.v * sizeof(double));
  memset(y, 0, (size_t)s->sizes.rows * sizeof(double));
  for (int e = c->first[k]; e < c->first[k + 1]; e++) {
    x[c->column[e]] += B[c->entry[e]];
  }
  pawl_kkt_solve(s->kkt, x, y);
  pawl_dynamics_rows(&s->dynamics, J, x, NULL, y);
  double own = y[c->row[k]];
  c->mobility[k] = own > 0.0 ? sqrt(own) : 0.0;
  for (int i = 0; i < c->count; i++) {
    c->D[i + k * c->count] = y[c->row[i]];
  }
}

// How easily each contact would move if nothing held it: by the masses of its coordinates alone.
static void own_compliance(const PawlStepper* s, PawlContacts* c, const double* S,
                           const double* J) {
  memset(c->push, 0, (size_t)s->sizes.rows * sizeof(double));
  for (int j = pawl_sparse_next(&s->G, 0); j < s->G.cols; j = pawl_sparse_next(&s->G, j + 1)) {
    double mass = 0.0;
    for (int k = s->H.start[j]; k < s->H.start[j + 1]; k++) {
      mass = s->H.index[k] == j ? S[k] : mass;
    }
    for (int e = s->G.start[j]; e < s->G.start[j + 1]; e++) {
      c->push[s->G.index[e]] += mass > 0.0 ? J[e] * J[e] / mass : 0.0;
    }
  }
  for (int k = 0; k < c->count; k++) {
    c->own[k] = fmax(c->push[c->row[k]], c->mobility[k] * c->mobility[k]);
  }
}

static PawlStatus factor(PawlStepper* s, const double* S, const double* B, const double* J,
                         const unsigned char* set) {
  bool again = s->dynamics.steady;  // then the numbers may be those of another step
  if (again && pawl_kkt_holds(s->kkt, S, B, J, set)) {
    return PAWL_OK;
  }
  s->dynamics.info.factorizations++;
  return again ? pawl_kkt_factor_and_keep(s->kkt, S, B, J, set)
               : pawl_kkt_factor(s->kkt, S, B, J, set);
}

// Many contacts: the matrices themselves.                                                  (N27)
static PawlStatus keep_matrices(PawlStepper* s, PawlContacts* c, const double* S, const double* B,
                                const double* J, const unsigned char* bilateral) {
  memset(c->mobility, 0, (size_t)c->count * sizeof(double));
  own_compliance(s, c, S, J);
  for (int k = 0; k < c->count; k++) {
    c->mobility[k] = sqrt(c->own[k]);
  }
  return pawl_contacts_sparse_set(s, &c->sparse, S, B, J, bilateral);
}

static PawlStatus overflow(double t, PawlError* err) {
  return pawl_fail(err, PAWL_RETRY, "t = %.10g: numbers overflow in the contacts", t);
}

// D = J S^-1 B^T within the bilateral constraints.                                         (N20)
PawlStatus pawl_contacts_compliance(PawlStepper* s, PawlContacts* c, const double* S,
                                    const double* B, const double* J,
                                    const unsigned char* bilateral, double t, double* x, double* y,
                                    PawlError* err) {
  int n = c->count;
  assert(n == s->contact_count && (bilateral || s->sizes.rows == 0));
  if (!c->D) {
    c->known = true;
    PawlStatus kept = keep_matrices(s, c, S, B, J, bilateral);
    return kept == PAWL_RETRY ? overflow(t, err) : kept;
  }
  PawlStatus status = factor(s, S, B, J, bilateral);
  if (status != PAWL_OK) {
    return status == PAWL_RETRY ? pawl_dynamics_singular(&s->dynamics, S, J, bilateral, t, err)
                                : pawl_fail_memory(err);
  }
  if (c->of != pawl_kkt_info(s->kkt).current) {  // else nothing has changed since it was found
    for (int k = 0; k < n; k++) {
      compliance_column(s, c, k, B, J, x, y);
    }
    own_compliance(s, c, S, J);
    c->of = pawl_kkt_info(s->kkt).current;
  }
  c->known = true;
  status = pawl_compliance_set(c->solver, n, c->D, c->own);
  return status == PAWL_RETRY ? overflow(t, err) : status;
}

// w = D z + q with the contacts that may be closed as rows (0, infinity) and the others let go.
// False: some rows contradict each other.                                               (N21) (N22)
static bool solve_rows(PawlContacts* c) {
  PawlRowBounds bounds = {.lo = c->lo, .hi = c->hi};
  PawlRowsResult result = {.lambda = c->z, .w = c->w, .state = c->state};
  bool solved = pawl_compliance_solve(c->solver, c->q, c->rounding, &bounds, &result) == PAWL_OK &&
                result.conflicts == 0;
  c->depends = solved && result.following > 0;
  return solved;
}

// Of contacts that depend on each other, as far as that is known or comes out.              (N86)
static bool solve_any(const PawlStepper* s, PawlContacts* c, PawlContactsAsk* ask) {
  const PawlContactsDepend* by = &c->depend;
  bool dependent = by->of && by->asks(by->of, &c->sparse, ask), none;
  if (!dependent && pawl_contacts_sparse_solve(s, &c->sparse, ask, by->of != NULL, &dependent)) {
    return true;
  }
  c->depends = dependent && by->choose(by->of, &c->sparse, ask);
  if (c->depends) {
    return true;
  }
  return dependent && pawl_contacts_sparse_solve(s, &c->sparse, ask, false, &none);
}

// The same for many contacts. `exact`: z itself is wanted, and not only who pushes.         (N27)
static bool solve_sparse(const PawlStepper* s, PawlContacts* c, double tolerance, bool exact) {
  for (int k = 0; k < c->count; k++) {
    c->q[k] = exact ? 0.0 : PAWL_ROWS_ROUNDING * c->rounding[k];
  }
  PawlContactsAsk ask = {.count = c->count,
                         .row = c->row,
                         .push = c->push,
                         .opening = c->opening,
                         .slack = c->q,
                         .own = c->own,
                         .hi = c->hi,
                         .size = c->size,
                         .tolerance = tolerance,
                         .z = c->z,
                         .w = c->w,
                         .state = c->state};
  return solve_any(s, c, &ask);
}

bool pawl_contacts_idle(const PawlContacts* c, const double* push, const double* opening,
                        const unsigned char* set) {
  bool idle = true;
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    idle = idle && !set[i] && push[i] == 0.0 && opening[i] > 0.0;
  }
  return idle;
}

// It pulls by more than what is none of its opening asks for.
static bool pulls(const PawlContacts* c, int k) {
  double own = c->mobility[k] * c->mobility[k], slack = PAWL_ROWS_ROUNDING * c->rounding[k];
  return c->push[c->row[k]] * own < -2.0 * slack;
}

// Contacts that depend on each other may have the right sum in parts that pull: then those of the
// row problem take their place.                                                            (N23)
static bool share(const PawlStepper* s, PawlContacts* c, double tolerance) {
  bool any = false;
  for (int k = 0; k < c->count; k++) {
    double slack = PAWL_ROWS_ROUNDING * c->rounding[k];
    if (c->in[k] && fabs(c->opening[c->row[k]]) > slack) {
      return false;  // not there yet
    }
    any |= c->in[k] && pulls(c, k);
  }
  bool known = c->D || c->depends;  // z is what they push
  if (any && !known && !solve_sparse(s, c, tolerance, true)) {
    return false;
  }
  for (int k = 0; any && k < c->count; k++) {
    c->push[c->row[k]] = c->in[k] ? c->z[k] : 0.0;
  }
  return any;
}

bool pawl_contacts_touches(const PawlContacts* c, double tolerance, int row, double opening) {
  assert(tolerance > 0.0 && c->size[row] >= 0.0);
  return opening <= fmin(tolerance, PAWL_CONTACT_TOUCHING) * c->size[row];
}

// The iterate is complementary with this set already.
static bool complementary(PawlContacts* c, const PawlChoice* choice, const unsigned char* set) {
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    double slack = choice->tolerance * c->size[i];
    bool allowed = !choice->allowed || choice->allowed[i];
    bool fits = set[i] ? allowed && c->push[i] >= 0.0 && fabs(c->opening[i]) <= slack
                       : c->push[i] == 0.0 && (!allowed || c->opening[i] >= -slack);
    if (!fits) {
      return false;
    }
  }
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    bool allowed = !choice->allowed || choice->allowed[i];
    c->touching[i] =
        set[i] || (allowed && pawl_contacts_touches(c, choice->tolerance, i, c->opening[i]));
  }
  return true;
}

// q = opening - D push: how far each would be open if none pushed.
static void ask(PawlContacts* c, const PawlChoice* choice, const unsigned char* set) {
  int n = c->count;
  for (int k = 0; k < n; k++) {
    int i = c->row[k];
    bool allowed = c->mobility[k] > 0.0 && (!choice->allowed || choice->allowed[i]);
    c->q[k] = c->opening[i];
    c->rounding[k] = choice->tolerance / PAWL_ROWS_ROUNDING * c->size[i];
    allowed |= !choice->allowed && c->own[k] > 0.0;
    PawlRowOf kind = allowed ? PAWL_ROW_OF_CONTACT : PAWL_ROW_OF_LET_GO;
    pawl_row_bounds(kind, INFINITY, &c->lo[k], &c->hi[k]);
    bool guess = choice->first ? !c->D && c->guess[i] : set[i];
    c->state[k] = guess ? PAWL_ROW_FREE : choice->first ? PAWL_ROW_UNKNOWN : PAWL_ROW_LOW;
  }
  for (int j = 0; c->D && j < n; j++) {
    double push = c->push[c->row[j]];
    for (int k = 0; push != 0.0 && k < n; k++) {
      c->q[k] -= push * c->D[k + j * n];
    }
  }
}

bool pawl_contacts_choose(const PawlStepper* s, PawlContacts* c, const PawlChoice* choice,
                          unsigned char* set, bool* changed) {
  assert(c->known && choice->tolerance > 0.0);
  if (!choice->first && complementary(c, choice, set)) {
    return true;
  }
  ask(c, choice, set);
  c->depends = false;
  bool sparse = !c->D,
       solved = sparse ? solve_sparse(s, c, choice->tolerance, false) : solve_rows(c);
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    bool touches_only = c->state[k] == PAWL_ROW_LOW && c->w[k] == 0.0 && c->hi[k] > 0.0 &&
                        !(sparse && c->depends);  // it would pull there
    c->in[k] = c->state[k] == PAWL_ROW_FREE || c->state[k] == PAWL_ROW_FOLLOWS ||
               (touches_only && (choice->first || (set[i] && !pulls(c, k))));  // stays        (N83)
    unsigned char closed = c->in[k] || (choice->grow && set[i] && c->hi[k] > 0.0);
    c->touching[i] =
        closed || (c->hi[k] > 0.0 && pawl_contacts_touches(c, choice->tolerance, i, c->w[k]));
    *changed |= closed != set[i];
    set[i] = closed;
  }
  *changed |= solved && share(s, c, choice->tolerance);
  if (c->depend.of && c->depends) {
    c->depend.note(c->depend.of, set);
  }
  return solved;
}

PawlStatus pawl_contacts_contradiction(PawlStepper* s, const PawlPhase* phase,
                                       const PawlValues* values, const double* b,
                                       const unsigned char* allowed, double t, const char* what,
                                       PawlError* err) {
  PawlRowProblem* p = &s->watching.rows;
  PawlRowsResult result;
  PAWL_TRY(pawl_watch_make_problem(&s->watching, err));
  memset(p->r, 0, (size_t)s->sizes.v * sizeof(double));
  for (int i = 0; i < s->sizes.rows; i++) {
    bool contact = pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT;
    bool holds = contact ? !allowed || allowed[i] : pawl_phase_binds(phase, i);
    PawlRowOf kind = holds ? pawl_phase_row_of(s->system, i) : PAWL_ROW_OF_LET_GO;
    pawl_row_bounds(kind, INFINITY, &p->lo[i], &p->hi[i]);
    p->weight[i] = 1.0;
    p->b[i] = b[i];
  }
  PawlStatus status = pawl_watch_solve(&s->watching, values, &result, err);
  if (status != PAWL_OK || result.conflicts == 0) {
    return status == PAWL_RETRY ? PAWL_OK : status;
  }
  PawlText names = {0};
  pawl_dynamics_list_rows(&s->dynamics, p->conflict, &names);
  pawl_fail(err, PAWL_ERROR_RUN, "t = %.10g: %s contradict each other: no %s satisfies all of them",
            t, names.s ? names.s : "some rows", what);
  pawl_text_free(&names);
  return PAWL_ERROR_RUN;
}

// ---- contacts that are passed -------------------------------------------------------------------
// Where the tangents of both ends meet: no convex gap is lower in between.                    (N26)
static double lowest(double h, double g_n, double rate_n, double g, double rate) {
  double after = (g - g_n - rate * h) / (rate_n - rate);
  return after > 0.0 && after < h ? fmin(g, g_n + rate_n * after) : fmin(g, g_n);
}

// The rate of contact k at the end of a step by the gradient of its beginning.
static double rate_by_old_gradient(const PawlContacts* c, const PawlPassage* p, int k) {
  double rate = c->lead[c->row[k]];
  for (int e = c->first[k]; e < c->first[k + 1]; e++) {
    rate += c->G[c->entry[e]] * p->v[c->column[e]];
  }
  return rate;
}

// What rounding may leave of the gap of contact k, by what its terms may be.
static double no_gap(const PawlContacts* c, int k) {
  double size = 0.0;
  for (int e = c->first[k]; e < c->first[k + 1]; e++) {
    size += fabs(c->G[c->entry[e]]);
  }
  return PAWL_CONTACT_TOUCHING * size * c->least_q / PAWL_SMALLEST_PART;
}

// The rate has turned because the gradient did, as on the far side of a thin wall, and not because
// the velocity did. What rests at the end has been met.
static bool is_passed(const PawlContacts* c, const PawlPassage* p, int k) {
  int i = c->row[k];
  double rate_n = p->rate_before[i], rate = p->rate[i];
  bool closed = p->ahead > 0.0 && c->gap[i] <= 0.0;  // an impulse is due
  bool leaves = closed || rate > PAWL_SLOWEST_LOGGED * c->slow;
  return rate_n < -PAWL_PASSED_SLOWEST * c->slow && leaves &&
         (closed || p->gap[i] + p->ahead * rate >= -no_gap(c, k)) &&
         lowest(p->h, c->gap[i], rate_n, p->gap[i], rate) < 0.0 &&
         rate_by_old_gradient(c, p, k) < PAWL_PASSED_PART * rate_n;
}

// Thrown back where it opens: its gradient has turned past the rate of its impact.           (N47)
static bool is_turned(const PawlStepper* s, const PawlContacts* c, const PawlPassage* p, int k) {
  int i = c->row[k];
  return p->turned && p->turned[i] >= 0.0 && p->impulse[i] > 0.0 &&
         p->rate_before[i] < -PAWL_PASSED_SLOWEST * c->slow &&
         pawl_system_restitution(s->system, i) > 0.0;
}

void pawl_contacts_begin(const PawlStepper* s, PawlContacts* c, const PawlValues* values) {
  size_t rows = (size_t)s->sizes.rows * sizeof(double);
  memcpy(c->gap, values->g, rows);
  memcpy(c->lead, values->g_t, rows);
  memcpy(c->G, values->G, (size_t)s->G.start[s->sizes.v] * sizeof(double));
}

static PawlStatus warn_of_passed(PawlStepper* s, const PawlPassage* p, int i, PawlError* err) {
  char line[300];
  int number;
  snprintf(line, sizeof line,
           "t = %.10g: contact '%.100s' may have been passed: its gap closes at a rate of %.3g and "
           "opens again within a step of %.3g s; a smaller step meets it",
           p->t, pawl_system_row_name(s->system, i, &number), -p->rate_before[i], p->h);
  return pawl_dynamics_warn(&s->dynamics, line) == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
}

PawlStatus pawl_contacts_passed(PawlStepper* s, PawlContacts* c, const PawlPassage* p,
                                PawlError* err) {
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k], number;
    bool passed = is_passed(c, p, k), shorter = p->h > PAWL_PASSED_SHORTEST * s->def.step;
    if (!passed && !(shorter && is_turned(s, c, p, k))) {
      continue;
    }
    if (shorter) {
      return pawl_fail(err, PAWL_RETRY, "t = %.10g: contact '%.100s' is passed within a step", p->t,
                       pawl_system_row_name(s->system, i, &number));
    }
    PAWL_TRY(warn_of_passed(s, p, i, err));
  }
  return PAWL_OK;
}

bool pawl_contacts_stays(const PawlStepper* s, const PawlContacts* c, const PawlState* state,
                         double gap, double rate, double h, int row) {
  bool pressed = c->drift && (state->lambda[row] > 0.0 || state->memory[row] > 0.0);
  return pressed && fabs(rate) <= PAWL_SLOWEST_LOGGED * c->slow &&
         gap <= 0.5 * fmax(h, s->def.step) * c->slow;
}

int pawl_contacts_resting(const PawlStepper* s, PawlContacts* c, const PawlState* state,
                          const PawlValues* values, unsigned char* set) {
  int count = 0;
  const double* of_q = s->sizes.q == s->sizes.v ? state->q : NULL;
  pawl_contacts_measure(s, c, state, values);
  pawl_sparse_sizes(&s->G, values->G, of_q, c->least_q, c->push);
  pawl_sparse_sizes(&s->G, values->G, state->v, c->least_v, c->size);
  pawl_dynamics_rows(&s->dynamics, values->G, state->v, values->g_t, c->opening);
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    bool rests = values->g[i] <= PAWL_CONTACT_CLOSED * c->push[i] &&
                 fabs(c->opening[i]) <= PAWL_CONTACT_CLOSED * c->size[i];
    set[i] = rests || pawl_contacts_stays(s, c, state, values->g[i], c->opening[i], 0.0, i);
    count += set[i];
  }
  return count;
}

// 0 <= lambda _|_ G v' + gamma >= 0 for the contacts at rest.                              (N24)
PawlStatus pawl_contacts_start(PawlStepper* s, PawlContacts* c, const PawlPhase* phase,
                               PawlState* state, double* x, unsigned char* set, PawlError* err) {
  const PawlValues* values;
  bool changed = false;
  if (c->count == 0) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_dynamics_evaluate(&s->dynamics, phase, state, &values, err));
  if (pawl_contacts_resting(s, c, state, values, set) == 0) {
    return PAWL_OK;
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    bool contact = pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT;
    c->touching[i] = contact ? set[i] : 0;
    set[i] = pawl_phase_binds(phase, i);
  }
  PAWL_TRY(pawl_contacts_compliance(s, c, values->M, values->G, values->G, set, state->t, x,
                                    c->push, err));
  PawlChoice choice = {.allowed = c->touching, .tolerance = PAWL_CONTACT_CLOSED, .first = true};
  memset(c->push, 0, (size_t)s->sizes.rows * sizeof(double));
  pawl_dynamics_rows(&s->dynamics, values->G, state->a, values->gamma, c->opening);
  pawl_sparse_sizes(&s->G, values->G, state->a, c->least_a, c->size);
  if (!pawl_contacts_choose(s, c, &choice, set, &changed)) {
    pawl_contacts_resting(s, c, state, values, set);
    return pawl_contacts_contradiction(s, phase, values, values->gamma, set, state->t,
                                       "acceleration", err);
  }
  if (!changed) {
    return PAWL_OK;
  }
  memcpy(x, values->f, (size_t)s->sizes.v * sizeof(double));
  for (int i = 0; i < s->sizes.rows; i++) {
    c->push[i] = set[i] ? -values->gamma[i] : 0.0;
  }
  PAWL_TRY(pawl_dynamics_solve(&s->dynamics, values, values->M, values->G, values->G, set, state->t,
                               x, c->push, err));
  memcpy(state->a, x, (size_t)s->sizes.v * sizeof(double));
  memcpy(state->lambda, c->push, (size_t)s->sizes.rows * sizeof(double));
  return PAWL_OK;
}
