// SPDX-License-Identifier: Apache-2.0
// Which contacts are closed: a linear complementarity problem between what they push and how far
// they are open, by principal pivoting (docs/theory/nsga.md, "Which contacts are closed").
#include "step/contacts.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"

static const double AT_REST = 1e-9;  // of the terms of a row: a contact that is closed at the start
static const double TOUCHING = 1e-9;  // of the terms of a row, at most: a gap that is none
static const double REGULAR = 1e-11;  // what is added to the diagonal of 1 of the compliance
enum { MOST_COUPLED = 1000 };         // contacts; with more of them each is looked at alone

PawlStatus pawl_contacts_create(PawlStepper* s, PawlContacts* c, PawlError* err) {
  for (int i = 0; i < s->sizes.rows; i++) {
    c->count += pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT;
  }
  int n = c->count;
  double** arrays[] = {&c->mobility, &c->q, &c->z, &c->w, &c->slack, &c->x, &c->r, &c->room};
  double** of_rows[] = {&c->push, &c->opening, &c->size};
  bool ok = true;
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
    ok = ok && (*arrays[k] = PAWL_NEW(&s->arena, double, n)) != NULL;
  }
  for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
    ok = ok && (*of_rows[k] = PAWL_NEW(&s->arena, double, s->sizes.rows)) != NULL;
  }
  if (n <= MOST_COUPLED) {
    int square = n * n;
    c->D = PAWL_NEW(&s->arena, double, square);
    c->LU = PAWL_NEW(&s->arena, double, square);
    ok = ok && c->D && c->LU;
  }
  c->row = PAWL_NEW(&s->arena, int, n);
  c->pivot = PAWL_NEW(&s->arena, int, n);
  c->list = PAWL_NEW(&s->arena, int, n);
  c->in = PAWL_NEW(&s->arena, unsigned char, n);
  c->allowed = PAWL_NEW(&s->arena, unsigned char, n);
  c->factored_in = PAWL_NEW(&s->arena, unsigned char, n);
  c->touching = PAWL_NEW(&s->arena, unsigned char, s->sizes.rows);
  if (!ok || !c->row || !c->pivot || !c->list || !c->in || !c->allowed || !c->factored_in ||
      !c->touching) {
    return pawl_fail_memory(err);
  }
  for (int i = 0, k = 0; i < s->sizes.rows; i++) {
    if (pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT) {
      c->row[k++] = i;
    }
  }
  return PAWL_OK;
}

// Column k of the compliance: how each contact moves when contact k pushes with 1.
static void compliance_column(PawlStepper* s, PawlContacts* c, int k, const double* B,
                              const double* J, double* x, double* y) {
  memset(x, 0, (size_t)s->sizes.v * sizeof(double));
  memset(y, 0, (size_t)s->sizes.rows * sizeof(double));
  for (int j = 0; j < s->G.cols; j++) {
    for (int e = s->G.start[j]; e < s->G.start[j + 1]; e++) {
      x[j] += s->G.index[e] == c->row[k] ? B[e] : 0.0;
    }
  }
  pawl_kkt_solve(s->kkt, x, y);
  pawl_dynamics_rows(&s->dynamics, J, x, NULL, y);
  double own = y[c->row[k]];
  c->mobility[k] = own > 0.0 ? sqrt(own) : 0.0;
  for (int i = 0; c->D && i < c->count; i++) {
    c->D[i + k * c->count] = y[c->row[i]];
  }
}

// D = J S^-1 B^T within the bilateral constraints.                                         (N20)
PawlStatus pawl_contacts_compliance(PawlStepper* s, PawlContacts* c, const double* S,
                                    const double* B, const double* J,
                                    const unsigned char* bilateral, double t, double* x, double* y,
                                    PawlError* err) {
  int n = c->count;
  s->dynamics.info.factorizations++;
  PawlStatus status = pawl_kkt_factor(s->kkt, S, B, J, bilateral);
  if (status != PAWL_OK) {
    return status == PAWL_RETRY ? pawl_dynamics_singular(&s->dynamics, S, J, bilateral, t, err)
                                : pawl_fail_memory(err);
  }
  for (int k = 0; k < n; k++) {
    compliance_column(s, c, k, B, J, x, y);
  }
  for (int k = 0; c->D && k < n * n; k++) {
    double scale = c->mobility[k % n] * c->mobility[k / n];
    c->D[k] = scale > 0.0 ? c->D[k] / scale : 0.0;
  }
  c->known = true;
  c->factored = false;
  return PAWL_OK;
}

// out = D x over all contacts, of x that are not 0.
static void compliance_times(const PawlContacts* c, const double* x, double* out) {
  int n = c->count;
  memset(out, 0, (size_t)n * sizeof(double));
  for (int j = 0; j < n; j++) {
    for (int i = 0; x[j] != 0.0 && i < n; i++) {
      out[i] += (c->D ? c->D[i + j * n] : (double)(i == j)) * x[j];
    }
  }
}

// Lists the contacts that are in and factors their part of D + REGULAR, unless these were the last
// ones; how many they are. Often the levels and iterations of a step have the same contacts in.
static int factor_closed(PawlContacts* c) {
  int n = c->count, m = 0;
  for (int i = 0; i < n; i++) {
    c->list[m] = i;
    m += c->in[i];
  }
  if (!c->D || m == 0 || (c->factored && memcmp(c->in, c->factored_in, (size_t)n) == 0)) {
    return m;
  }
  for (int j = 0; j < m; j++) {
    for (int i = 0; i < m; i++) {
      c->LU[i + j * m] = c->D[c->list[i] + c->list[j] * n] + (i == j ? REGULAR : 0.0);
    }
  }
  memcpy(c->factored_in, c->in, (size_t)n);
  c->factored = pawl_lu_factor(m, c->LU, c->pivot, 0.0) == 0;
  return c->factored ? m : 0;
}

// The largest |w| of the contacts that are in; whether some is more than its slack.
static double largest_closed(const PawlContacts* c, int m, bool* more) {
  double most = 0.0;
  *more = false;
  for (int k = 0; k < m; k++) {
    double w = fabs(c->w[c->list[k]]);
    most = fmax(most, w);
    *more |= w > 0.5 * c->slack[c->list[k]];
  }
  return most;
}

// w = D z + q with w = 0 for the contacts that are in and z = 0 for the others. Adding REGULAR to
// the diagonal and repeating with what is left is exact for independent contacts and tends to the
// z of minimum norm for others; when these contradict each other some z falls with every repetition
// until it is negative. False when none does and w does not become 0.                      (N22)
static bool solve_closed(PawlContacts* c) {
  enum { REPEATED = 60 };
  static const double LEFT = 1e-3, ROUNDING = 1e-15;  // of q; of q and z for each contact
  int n = c->count, m = factor_closed(c);
  bool more;
  memset(c->z, 0, (size_t)n * sizeof(double));
  memcpy(c->w, c->q, (size_t)n * sizeof(double));
  double before = largest_closed(c, m, &more), after = before, size = before;
  for (int repeat = 0; repeat < REPEATED && more && after > ROUNDING * m * size; repeat++) {
    for (int k = 0; k < m; k++) {
      c->r[k] = c->x[k] = -c->w[c->list[k]];
    }
    if (c->D) {
      pawl_lu_solve(m, c->LU, c->pivot, c->r, c->x);
    }
    for (int k = 0; k < m; k++) {
      c->z[c->list[k]] += c->x[k];
      size = fmax(size, fabs(c->z[c->list[k]]));
    }
    compliance_times(c, c->z, c->room);
    for (int i = 0; i < n; i++) {
      c->w[i] = c->q[i] + c->room[i];
    }
    after = largest_closed(c, m, &more);
  }
  return !more || after <= LEFT * before;
}

static bool violated(const PawlContacts* c, int i) {
  return c->allowed[i] && (c->in[i] ? c->z[i] : c->w[i]) < -c->slack[i];
}

// 0 <= z _|_ D z + q >= 0 by principal pivoting: all contacts in the wrong place change it; when
// that does not make them fewer, the first of them alone, which ends for every P-matrix.   (N21)
static bool pivot_contacts(PawlContacts* c) {
  enum { BLOCKS = 5 };
  int fewest = c->count + 1, blocks = BLOCKS, most = 100 + 20 * c->count;
  for (int k = 0; k < most; k++) {
    bool consistent = solve_closed(c);
    int wrong = 0;
    for (int i = 0; i < c->count; i++) {
      wrong += violated(c, i);
    }
    if (wrong == 0) {
      return consistent;
    }
    blocks = wrong < fewest ? BLOCKS : blocks - 1;
    fewest = wrong < fewest ? wrong : fewest;
    for (int i = 0; i < c->count; i++) {
      if (violated(c, i)) {
        c->in[i] = !c->in[i];
        if (blocks < 0) {
          break;
        }
      }
    }
  }
  return false;
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

// Contacts that depend on each other may have the right sum in parts that pull: then those of the
// complementarity problem take their place.                                                (N23)
static bool share(PawlContacts* c) {
  bool pulls = false;
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    if (c->in[k] && fabs(c->opening[i]) > c->slack[k] * c->mobility[k]) {
      return false;  // not there yet
    }
    pulls |= c->in[k] && c->push[i] * c->mobility[k] < -2.0 * c->slack[k];
  }
  for (int k = 0; pulls && k < c->count; k++) {
    c->push[c->row[k]] = c->in[k] ? c->z[k] / c->mobility[k] : 0.0;
  }
  return pulls;
}

static bool touches(const PawlContacts* c, const PawlChoice* choice, int row, double opening) {
  return opening <= fmin(choice->tolerance, TOUCHING) * c->size[row];
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
    c->touching[i] = set[i] || (allowed && touches(c, choice, i, c->opening[i]));
  }
  return true;
}

bool pawl_contacts_choose(PawlContacts* c, const PawlChoice* choice, unsigned char* set,
                          bool* changed) {
  if (!choice->first && complementary(c, choice, set)) {
    return true;
  }
  for (int k = 0; k < c->count; k++) {
    c->z[k] = c->push[c->row[k]] * c->mobility[k];
  }
  compliance_times(c, c->z, c->q);
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    double scale = c->mobility[k] > 0.0 ? 1.0 / c->mobility[k] : 0.0;
    double opening = scale * c->opening[i];
    c->allowed[k] = scale > 0.0 && (!choice->allowed || choice->allowed[i]);
    c->slack[k] = scale * choice->tolerance * c->size[i];
    c->q[k] = opening - c->q[k];
    c->in[k] = c->allowed[k] && (choice->first ? c->z[k] - opening >= 0.0 : set[i]);
  }
  bool solved = pivot_contacts(c);
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    unsigned char closed = c->in[k] || (choice->grow && set[i] && c->allowed[k]);
    c->touching[i] = closed || (c->allowed[k] && touches(c, choice, i, c->w[k] * c->mobility[k]));
    *changed |= closed != set[i];
    set[i] = closed;
  }
  *changed |= solved && share(c);
  return solved;
}

// Contacts with no gap and no rate: rows of `set`.
static int resting_contacts(const PawlStepper* s, PawlContacts* c, const PawlState* state,
                            const PawlValues* values, unsigned char* set) {
  int count = 0;
  const double* of_q = s->sizes.q == s->sizes.v ? state->q : NULL;
  pawl_sparse_sizes(&s->G, values->G, of_q, PAWL_SMALLEST_SIZE, c->push);
  pawl_sparse_sizes(&s->G, values->G, state->v, PAWL_SMALLEST_SIZE, c->size);
  pawl_dynamics_rows(&s->dynamics, values->G, state->v, values->g_t, c->opening);
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    set[i] = values->g[i] <= AT_REST * c->push[i] && fabs(c->opening[i]) <= AT_REST * c->size[i];
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
  if (resting_contacts(s, c, state, values, set) == 0) {
    return PAWL_OK;
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    bool contact = pawl_system_row_kind(s->system, i) == PAWL_ROW_CONTACT;
    c->touching[i] = contact ? set[i] : 0;
    set[i] = pawl_phase_binds(phase, i);
  }
  PAWL_TRY(pawl_contacts_compliance(s, c, values->M, values->G, values->G, set, state->t, x,
                                    c->push, err));
  PawlChoice choice = {.allowed = c->touching, .tolerance = AT_REST, .first = true};
  memset(c->push, 0, (size_t)s->sizes.rows * sizeof(double));
  pawl_dynamics_rows(&s->dynamics, values->G, state->a, values->gamma, c->opening);
  pawl_sparse_sizes(&s->G, values->G, state->a, PAWL_SMALLEST_SIZE, c->size);
  if (!pawl_contacts_choose(c, &choice, set, &changed) || !changed) {
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
