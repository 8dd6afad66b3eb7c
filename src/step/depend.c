// SPDX-License-Identifier: Apache-2.0
// Contacts without friction that depend on each other. Rows of a set have a small compliance about
// the pushes y' of the round before, one for all contacts of an island,
//
//   S x - B^T y = r,    J x + w0 + e (y - y') = 0,                                        (N86)
//
// so that no set is singular; what that changes is solved away, (T11). From y' = 0 pushes stay in
// the range of the rows, so that those which come out have the least sum of squares.
#include "step/depend.h"

#include <math.h>
#include <string.h>

#include "step/rub_islands.h"
#include "switch/tolerances.h"

enum { ROWS = PAWL_RUB_ROWS };
enum { PATIENT = 4, HURRIED = 1 };  // sets without fewer wrong contacts, before and after a center
enum { MOST_ROUNDS = 8, MOST_SETS = 40 };  // of (T11); tried from one beginning

// ---- creation -----------------------------------------------------------------------------------
static void allocate(PawlStepper* s, PawlDepend* p) {
  int n = s->sizes.v, rows = s->sizes.rows, count = s->contact_count;
  p->rows = rows;
  p->contact = PAWL_NEW(&s->arena, PawlRubContact, count);
  p->places = PAWL_NEW(&s->arena, PawlRubState, count);
  p->r = PAWL_NEW(&s->arena, double, n);
  p->kept_x = PAWL_NEW(&s->arena, double, n);
  p->hold = PAWL_NEW(&s->arena, double, rows);
  p->held = PAWL_NEW(&s->arena, double, rows);
  p->kept_hold = PAWL_NEW(&s->arena, double, rows);
  p->kept_r = PAWL_NEW(&s->arena, double, n);
  p->kept_push = PAWL_NEW(&s->arena, double, ROWS* count);
  p->first_push = PAWL_NEW(&s->arena, double, ROWS* count);
  p->nothing = PAWL_NEW(&s->arena, double, ROWS* count);
  p->soft = PAWL_NEW(&s->arena, double, n);
  p->body = PAWL_NEW(&s->arena, int, n);
  p->parent = PAWL_NEW(&s->arena, int, n);
  p->clashes = PAWL_NEW(&s->arena, unsigned char, n);
  p->kind = PAWL_NEW(&s->arena, int, count);
  p->closed = PAWL_NEW(&s->arena, int, count);
  p->known = PAWL_NEW(&s->arena, unsigned char, rows);
  p->problem = (PawlRubProblem){.matrix = &p->matrix,
                                .list = PAWL_NEW(&s->arena, int, count),
                                .w0 = PAWL_NEW(&s->arena, double, ROWS* count),
                                .size = PAWL_NEW(&s->arena, double, ROWS* count),
                                .own = PAWL_NEW(&s->arena, double, ROWS* count),
                                .kept = PAWL_NEW(&s->arena, unsigned char, count),
                                .hold = p->hold,
                                .r = p->r};
}

static bool have_same_velocities(const PawlRubMatrix* m, int a, int b) {
  int width = m->first[a + 1] - m->first[a];
  return width == m->first[b + 1] - m->first[b] &&
         memcmp(m->column + m->first[a], m->column + m->first[b], (size_t)width * sizeof(int)) == 0;
}

// Contacts by their velocities: p->kind.
static void sort_kinds(PawlDepend* p, int* head, int* next) {
  const PawlRubMatrix* m = &p->matrix;
  for (int k = 0; k < m->count; k++) {
    head[k] = -1;
  }
  for (int k = 0; k < m->count; k++) {
    unsigned hash = 1u;
    for (int e = m->first[k]; e < m->first[k + 1]; e++) {
      hash = hash * 16777619u + (unsigned)m->column[e];
    }
    int *bucket = &head[hash % (unsigned)m->count], other = *bucket;
    while (other >= 0 && !have_same_velocities(m, k, other)) {
      other = next[other];
    }
    p->kind[k] = other >= 0 ? other : k;
    if (other < 0) {
      next[k] = *bucket;
      *bucket = k;
    }
  }
}

static PawlStatus create(PawlStepper* s, int first_row, bool many, PawlDepend* p, PawlError* err) {
  allocate(s, p);
  int* last = PAWL_NEW(&s->arena, int, s->sizes.rows);
  int* next = PAWL_NEW(&s->arena, int, s->contact_count);
  p->many = many;
  p->counter = &s->dynamics.info.factorizations;
  if (s->arena.failed) {
    return pawl_fail_memory(err);
  }
  for (int k = 0; k < s->contact_count; k++) {
    p->contact[k].normal = first_row + k;
  }
  (void)pawl_rub_islands_bodies(s, first_row, p->body, p->parent, last);
  PAWL_TRY(pawl_rub_matrix_create(s, s->contact_count, p->contact, &p->matrix, err));
  s->more_kkt[1] = p->matrix.kkt;
  sort_kinds(p, p->closed, next);
  p->asked = p->problem.w0;
  PAWL_TRY(pawl_rub_sets_create(s, &p->matrix, &p->sets, err));
  return pawl_rub_center_create(s, &p->matrix, &p->center, err);
}

void pawl_depend_destroy(PawlDepend* p) {
  if (p) {
    pawl_rub_matrix_destroy(&p->matrix);
  }
}

// ---- islands ------------------------------------------------------------------------------------
static int root(int* parent, int i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

static int island_of(PawlDepend* p, int contact) {
  return root(p->parent, p->body[p->matrix.column[p->matrix.first[contact]]]);
}

// One compliance for all contacts of the problem in an island: that of the one which moves most
// easily.
static void share_softness(PawlDepend* p) {
  const PawlRubMatrix* m = &p->matrix;
  PawlRubProblem* q = &p->problem;
  for (int b = 0; b < m->n; b++) {
    p->parent[b] = b;
    p->soft[b] = 0.0;
  }
  for (int a = 0; a < q->count; a++) {
    int k = q->list[a];
    for (int e = m->first[k] + 1; e < m->first[k + 1]; e++) {
      int i = root(p->parent, p->body[m->column[m->first[k]]]);
      int j = root(p->parent, p->body[m->column[e]]);
      p->parent[i > j ? i : j] = i > j ? j : i;
    }
  }
  for (int a = 0; a < q->count; a++) {
    double* most = &p->soft[island_of(p, q->list[a])];
    *most = fmax(*most, pawl_rub_matrix_own(m, q->list[a], 0));
  }
  for (int a = 0; a < q->count; a++) {
    double own = p->soft[island_of(p, q->list[a])];
    q->own[ROWS * q->list[a]] = own > 0.0 ? own : 1.0;
  }
}

static bool touches_any(const PawlRubMatrix* m, int contact) {
  return m->first[contact] < m->first[contact + 1];
}

// ---- what is known ------------------------------------------------------------------------------
static bool is_known(const PawlDepend* p, const unsigned char* set) {
  return p->is_known && memcmp(p->known, set, (size_t)p->rows) == 0;
}

// Counts contact k among those of its velocities; whether it is not the first.
static bool is_second(PawlDepend* p, int k) {
  return p->closed[p->kind[k]]++ > 0;
}

static void begin_count(PawlDepend* p) {
  memset(p->closed, 0, (size_t)p->matrix.count * sizeof(int));
}

static bool expects(void* depend, const unsigned char* set) {
  PawlDepend* p = depend;
  bool yes = is_known(p, set);
  begin_count(p);
  for (int k = 0; p->many && !yes && k < p->matrix.count; k++) {
    yes = set[p->contact[k].normal] && is_second(p, k);
  }
  return yes && p->matrix.kkt != NULL;
}

static void note(void* depend, const unsigned char* set) {
  PawlDepend* p = depend;
  memcpy(p->known, set, (size_t)p->rows);
  p->is_known = true;
}

// Contacts that a search begins with: ties closed.
static bool begins_closed(const PawlContactsAsk* ask, int k) {
  bool none = fabs(ask->opening[ask->row[k]]) <= ask->slack[k];
  return ask->hi[k] > 0.0 && (none || ask->state[k] == PAWL_ROW_FREE);
}

static bool asks(void* depend, const PawlContactsSparse* matrices, const PawlContactsAsk* ask) {
  PawlDepend* p = depend;
  bool same = p->is_known && memcmp(p->known, matrices->held, (size_t)ask->row[0]) == 0;
  bool twice = false;
  begin_count(p);
  for (int k = 0; (same || !twice) && k < ask->count; k++) {
    bool closed = begins_closed(ask, k);
    same = same && p->known[ask->row[k]] == closed;
    twice = twice || (closed && is_second(p, k));
  }
  return same || (p->many && twice);
}

// ---- one set ------------------------------------------------------------------------------------
static void soften(PawlDepend* p, int count, const int* list) {
  for (int a = 0; a < count; a++) {
    double* C = p->sets.C + 9 * list[a];
    memset(C, 0, 9 * sizeof *C);
    C[0] = 1.0 / (PAWL_FRICTION_SOFT * p->problem.own[ROWS * list[a]]);
  }
}

// What is left of the equations: b, rates of closed contacts in w, bilateral rows in dheld.
static void leave(PawlDepend* p, const double* x, const double* held) {
  PawlRubMatrix* m = &p->matrix;
  PawlRubSets* t = &p->sets;
  memcpy(t->b, p->r, (size_t)m->n * sizeof(double));
  for (int a = 0; a < t->closed_count; a++) {
    int k = t->closed[a];
    pawl_rub_matrix_push(m, &m->exact, k, t->y + ROWS * k, t->b, NULL);
    pawl_rub_matrix_rates(m, &m->exact, k, x, t->w + ROWS * k);
    t->w[ROWS * k] += p->asked[ROWS * k];
  }
  pawl_rub_matrix_rest(m, x, held, t->b);
  memcpy(t->dheld, p->hold, (size_t)m->bilateral * sizeof(double));
  for (int j = 0; j < m->n; j++) {
    for (int e = m->G.start[j]; e < m->G.start[j + 1]; e++) {
      t->dheld[m->G.index[e]] -= m->exact.J_held[e] * x[j];
    }
  }
  for (int i = 0; i < m->bilateral; i++) {
    t->dheld[i] = m->active[i] ? t->dheld[i] : 0.0;
  }
}

// The size of velocities, by their masses.
static double size_of(const PawlDepend* p, const double* x) {
  const PawlRubMatrix* m = &p->matrix;
  double size = 0.0;
  for (int j = 0; j < m->n; j++) {
    double S = m->diagonal[j] >= 0 ? fabs(m->exact.S[m->diagonal[j]]) : 0.0;
    size += S * x[j] * x[j];
  }
  return sqrt(size);
}

// One round; how much pushes have changed.
static double add_round(PawlDepend* p, double* x, double* held) {
  PawlRubMatrix* m = &p->matrix;
  PawlRubSets* t = &p->sets;
  double change = 0.0;
  leave(p, x, held);
  memcpy(t->dx, t->b, (size_t)m->n * sizeof(double));
  for (int a = 0; a < t->closed_count; a++) {
    int k = t->closed[a];
    double u[ROWS] = {-t->C[9 * k] * t->w[ROWS * k]};
    pawl_rub_matrix_push(m, m->factored, k, u, t->dx, NULL);
  }
  pawl_rub_matrix_solve(m, t->dx, t->dheld);
  for (int j = 0; j < m->n; j++) {
    x[j] += t->dx[j];
  }
  for (int i = 0; i < m->bilateral; i++) {
    held[i] += t->dheld[i];
  }
  for (int a = 0; a < t->closed_count; a++) {
    int k = t->closed[a];
    double moved[ROWS];
    pawl_rub_matrix_rates(m, m->factored, k, t->dx, moved);
    double dy = t->C[9 * k] * (moved[0] + t->w[ROWS * k]);
    t->y[ROWS * k] -= dy;
    change = fmax(change, fabs(dy));
  }
  return change;
}

// Rounds of (T11) from x = 0 and pushes as they are, until these have settled (`of_y`), or x.
// False: numbers overflow, or coarse factors do not lead there.
static bool solve_rounds(PawlDepend* p, bool of_y, double* x, double* held) {
  const PawlRubMatrix* m = &p->matrix;
  double before = 1.0, most = 0.0, part = 0.0;
  memset(x, 0, (size_t)m->n * sizeof(double));
  memset(held, 0, (size_t)m->bilateral * sizeof(double));
  for (int round = 0; round < MOST_ROUNDS; round++) {
    double pushed = add_round(p, x, held), change = of_y ? pushed : size_of(p, p->sets.dx);
    most = fmax(most, change);
    part = most > 0.0 ? change / most : 0.0;
    if (part * part <= PAWL_DEPEND_ENDS * before) {
      return true;
    }
    if (!isfinite(part) || (round > 2 && part > PAWL_DEPEND_SHRINKS * before)) {
      break;
    }
    before = part;
  }
  return isfinite(part) && m->factored == &m->exact;
}

// x, held and pushes next to those in sets.y, with the factors in use. Rows that contradict each
// other, if only by rounding, leave 1/e of it in the pushes. So these are found once more, from
// what x leaves of the balance without them: rows do not ask for anything then, none contradict,
// and pushes stay in the range of the rows. What that adds to x is next to nothing.
static bool solve_factored(PawlDepend* p) {
  PawlRubMatrix* m = &p->matrix;
  PawlRubSets* t = &p->sets;
  size_t rows = (size_t)(ROWS * m->count) * sizeof(double);
  memcpy(t->kept_y, t->y, rows);
  if (!solve_rounds(p, false, p->kept_x, p->held)) {
    return false;
  }
  memcpy(p->kept_r, p->r, (size_t)m->n * sizeof(double));
  memcpy(t->y, t->kept_y, rows);
  leave(p, p->kept_x, p->held);
  memcpy(p->r, t->b, (size_t)m->n * sizeof(double));
  for (int a = 0; a < t->closed_count; a++) {  // of which y' has its part already
    pawl_rub_matrix_push(m, &m->exact, t->closed[a],
                         (double[ROWS]){-t->kept_y[ROWS * t->closed[a]]}, p->r, NULL);
  }
  memcpy(p->kept_hold, p->hold, (size_t)m->bilateral * sizeof(double));
  memset(p->hold, 0, (size_t)m->bilateral * sizeof(double));
  double* asked = p->asked;
  p->asked = p->nothing;
  bool solved = solve_rounds(p, true, t->x, t->held);
  p->asked = asked;
  memcpy(p->r, p->kept_r, (size_t)m->n * sizeof(double));
  memcpy(p->hold, p->kept_hold, (size_t)m->bilateral * sizeof(double));
  for (int j = 0; j < m->n; j++) {
    t->x[j] += p->kept_x[j];
  }
  for (int i = 0; i < m->bilateral; i++) {
    t->held[i] += p->held[i];
  }
  return solved;
}

// The same of the contacts in sets.closed, with coarse factors where these suffice.       (T16)
static bool solve_set(PawlDepend* p) {
  PawlRubMatrix* m = &p->matrix;
  PawlRubSets* t = &p->sets;
  long long before = m->factorizations;
  soften(p, t->closed_count, t->closed);
  bool solved = false;
  memcpy(p->kept_push, t->y, (size_t)(ROWS * m->count) * sizeof(double));
  for (int exact = !m->rounds; exact <= 1 && !solved; exact++) {
    memcpy(t->y, p->kept_push, (size_t)(ROWS * m->count) * sizeof(double));
    solved = pawl_rub_matrix_factor(m, exact ? &m->exact : &m->coarse, t->closed_count, t->closed,
                                    t->C) &&
             solve_factored(p);
  }
  *p->counter += m->factorizations - before;
  return solved;
}

// ---- which push ---------------------------------------------------------------------------------
static void ask_problem(PawlDepend* p, const PawlContactsSparse* matrices,
                        const PawlContactsAsk* ask) {
  PawlRubMatrix* m = &p->matrix;
  PawlRubProblem* q = &p->problem;
  pawl_rub_matrix_set(m, matrices->S, matrices->B, matrices->J, matrices->held);
  memset(p->r, 0, (size_t)m->n * sizeof(double));
  memset(p->hold, 0, (size_t)m->bilateral * sizeof(double));
  q->count = 0;
  q->tolerance = ask->tolerance;
  for (int k = 0; k < ask->count; k++) {
    int i = ask->row[k];
    double slack = ask->slack[k], y[ROWS] = {-ask->push[i]};
    bool none = fabs(ask->opening[i]) <= slack, weak = fabs(ask->push[i]) * ask->own[k] <= slack;
    q->w0[ROWS * k] = none ? 0.0 : ask->opening[i];
    q->size[ROWS * k] = ask->size[i];
    if (y[0] != 0.0 && !(none && weak)) {
      pawl_rub_matrix_push(m, &m->exact, k, y, p->r, NULL);
    }
    if (ask->hi[k] > 0.0 && touches_any(m, k)) {
      q->list[q->count++] = k;
    }
  }
  share_softness(p);
}

// Where a search begins: the guess of who is closed, or none, and pushes next to none; `keep`:
// those that push at the iterate, and pushes next to these.
static void begin_with(PawlDepend* p, const PawlContactsAsk* ask, bool guess, bool keep) {
  for (int a = 0; a < p->problem.count; a++) {
    int k = p->problem.list[a];
    bool closed = guess && (keep ? ask->push[ask->row[k]] > 0.0 : begins_closed(ask, k));
    p->places[k] = (PawlRubState){.place = closed ? PAWL_RUB_STICK : PAWL_RUB_OPEN};
    memset(p->sets.y + ROWS * k, 0, ROWS * sizeof(double));
    p->sets.y[ROWS * k] = keep && closed ? fmax(ask->push[ask->row[k]], 0.0) : 0.0;
  }
}

static bool pushes_any(const PawlDepend* p, const PawlContactsAsk* ask) {
  bool any = false;
  for (int a = 0; a < p->problem.count; a++) {
    any |= ask->push[ask->row[p->problem.list[a]]] > 0.0;
  }
  return any;
}

// Rates of all contacts of the problem; in `clashes` which islands have closed rows that contradict
// each other.
static void find_rates(PawlDepend* p) {
  const PawlRubProblem* q = &p->problem;
  PawlRubSets* t = &p->sets;
  memset(p->clashes, 0, (size_t)p->matrix.n);
  for (int a = 0; a < q->count; a++) {
    int k = q->list[a];
    double w[ROWS];
    pawl_rub_matrix_rates(&p->matrix, &p->matrix.exact, k, t->x, w);
    t->w[ROWS * k] = w[0] + q->w0[ROWS * k];
    bool closed = p->places[k].place != PAWL_RUB_OPEN;
    if (closed && fabs(t->w[ROWS * k]) > q->tolerance * q->size[ROWS * k]) {
      p->clashes[island_of(p, k)] = 1;
    }
  }
}

// Moves contacts that come out wrong to the other place; how many. Where rows contradict each other
// those open that are more than met, and nothing else is told. A push that pulls by no more than
// what opens its contact by the tolerance of its terms is none.
static int mend(PawlDepend* p) {
  const PawlRubProblem* q = &p->problem;
  PawlRubSets* t = &p->sets;
  double least = PAWL_ROWS_ROUNDING * pawl_rub_sets_largest(t, q);
  int wrong = 0;
  find_rates(p);
  for (int a = 0; a < q->count; a++) {
    int k = q->list[a];
    double slack = q->tolerance * q->size[ROWS * k], w = t->w[ROWS * k];
    bool open = p->places[k].place == PAWL_RUB_OPEN, clashes = p->clashes[island_of(p, k)];
    bool pulls = t->y[ROWS * k] < -fmax(least, slack / q->own[ROWS * k]);
    if (clashes ? !open && w > slack : open ? w < -slack : pulls) {
      p->places[k].place = open ? PAWL_RUB_STICK : PAWL_RUB_OPEN;
      wrong++;
    }
  }
  return wrong;
}

static bool holds(const PawlDepend* p) {
  bool all = true;
  for (int a = 0; a < p->sets.closed_count; a++) {
    int at = ROWS * p->sets.closed[a];
    all = all && fabs(p->sets.w[at]) <= PAWL_RUB_LOOSE * p->problem.size[at];  // (T29)
  }
  return all;
}

// From the places and pushes that there are, with so many sets at most, and `patience` of them
// without fewer wrong contacts. False: that does not end.
static bool try_sets(PawlDepend* p, int most, int patience) {
  PawlRubProblem* q = &p->problem;
  PawlRubSets* t = &p->sets;
  int fewest = q->count + 1, left = patience;
  memcpy(p->first_push, t->y, (size_t)(ROWS * p->matrix.count) * sizeof(double));
  for (int round = 0; round < most && left >= 0; round++) {
    memcpy(t->y, p->first_push, (size_t)(ROWS * p->matrix.count) * sizeof(double));
    t->closed_count = 0;
    for (int a = 0; a < q->count; a++) {
      int k = q->list[a];
      bool closed = p->places[k].place != PAWL_RUB_OPEN;
      t->y[ROWS * k] = closed ? t->y[ROWS * k] : 0.0;
      t->closed[t->closed_count] = k;
      t->closed_count += closed;
    }
    if (!solve_set(p)) {
      return false;
    }
    int wrong = mend(p);
    if (wrong == 0) {
      return holds(p);
    }
    left = wrong < fewest ? patience : left - 1;
    fewest = wrong < fewest ? wrong : fewest;
  }
  return false;
}

// From nothing, and by sets from where that ends: next to pushes in the middle of all that serve.
static bool try_center(PawlDepend* p, double end) {
  if (!pawl_rub_center_go_on(&p->center, &p->problem, end)) {
    return false;
  }
  pawl_rub_center_conclude(&p->center, &p->problem, p->places, p->sets.y);
  return try_sets(p, MOST_SETS, HURRIED);
}

// What that ends with itself, but for rounding of its products.
static bool take_center(PawlDepend* p, double end) {
  if (!pawl_rub_center_go_on(&p->center, &p->problem, end)) {
    return false;
  }
  pawl_rub_center_conclude(&p->center, &p->problem, p->places, p->sets.y);
  memcpy(p->sets.x, p->center.x, (size_t)p->matrix.n * sizeof(double));
  find_rates(p);
  return true;
}

// Pushes of least squares, where none of them pulls; else some next to those that there are.
static bool search(PawlDepend* p, const PawlContactsAsk* ask) {
  bool pushes = pushes_any(p, ask);
  begin_with(p, ask, true, false);
  if (try_sets(p, pushes ? 1 : MOST_SETS, PATIENT)) {
    return true;
  }
  begin_with(p, ask, true, true);
  if (pushes && try_sets(p, MOST_SETS, PATIENT)) {
    return true;
  }
  begin_with(p, ask, false, false);
  if (try_sets(p, MOST_SETS, HURRIED)) {
    return true;
  }
  pawl_rub_center_begin(&p->center, &p->problem, PAWL_RUB_SHIFT_NONE);
  double end = PAWL_RUB_CENTERED;
  return try_center(p, end) || try_center(p, end * end) || take_center(p, end * end);
}

static void take(const PawlDepend* p, const PawlContactsAsk* ask) {
  for (int k = 0; k < ask->count; k++) {
    ask->z[k] = 0.0;
    ask->w[k] = ask->opening[ask->row[k]];
    ask->state[k] = PAWL_ROW_LOW;
  }
  for (int a = 0; a < p->problem.count; a++) {
    int k = p->problem.list[a];
    bool closed = p->places[k].place != PAWL_RUB_OPEN;
    double w = p->sets.w[ROWS * k];
    ask->z[k] = closed ? fmax(p->sets.y[ROWS * k], 0.0) : 0.0;
    ask->w[k] = closed || fabs(w) <= ask->slack[k] ? 0.0 : w;
    ask->state[k] = closed ? PAWL_ROW_FREE : PAWL_ROW_LOW;
  }
}

// Which of the contacts that may be closed push, from where ask->state begins: 0 <= z _|_ w >= 0 of
// (N27), with the least sum of squares of z where none of these pulls. False: none was found.
static bool choose(void* depend, const PawlContactsSparse* matrices, const PawlContactsAsk* ask) {
  PawlDepend* p = depend;
  if (!p->matrix.kkt) {
    return false;
  }
  ask_problem(p, matrices, ask);
  bool found = search(p, ask);
  if (found) {
    take(p, ask);
  }
  return found;
}

// ---- a set that is known ------------------------------------------------------------------------
static void list_set(PawlDepend* p, const unsigned char* set) {
  PawlRubProblem* q = &p->problem;
  q->count = 0;
  for (int k = 0; k < p->matrix.count; k++) {
    if (set[p->contact[k].normal] && touches_any(&p->matrix, k)) {
      q->list[q->count] = p->sets.closed[q->count] = k;
      q->count++;
    }
  }
  p->sets.closed_count = q->count;
  share_softness(p);
}

// [S -B^T; G 0] over the rows of `set`, of which contacts depend on each other: x is unique, y of
// contacts has the least sum of squares, and rows that contradict each other are met in the mean.
// PAWL_RETRY: singular for another reason, x and y are as before.
static PawlStatus solve(void* depend, const double* S, const double* B, const double* G,
                        const unsigned char* set, double* x, double* y) {
  PawlDepend* p = depend;
  PawlRubMatrix* m = &p->matrix;
  PawlRubProblem* q = &p->problem;
  if (!m->kkt) {
    return PAWL_RETRY;
  }
  note(p, set);
  pawl_rub_matrix_set(m, S, B, G, set);
  list_set(p, set);
  memcpy(p->r, x, (size_t)m->n * sizeof(double));
  memcpy(p->hold, y, (size_t)m->bilateral * sizeof(double));
  memset(p->sets.y, 0, (size_t)(ROWS * m->count) * sizeof(double));
  for (int a = 0; a < q->count; a++) {
    q->w0[ROWS * q->list[a]] = -y[p->contact[q->list[a]].normal];
  }
  if (!solve_set(p)) {
    return PAWL_RETRY;
  }
  memcpy(x, p->sets.x, (size_t)m->n * sizeof(double));
  for (int i = 0; i < m->bilateral; i++) {
    y[i] = set[i] ? p->sets.held[i] : 0.0;
  }
  for (int k = 0; k < m->count; k++) {
    y[p->contact[k].normal] = p->sets.y[ROWS * k];
  }
  return PAWL_OK;
}

// ---- interface ----------------------------------------------------------------------------------
static void begin(void* depend) {
  ((PawlDepend*)depend)->is_known = false;
}

PawlStatus pawl_depend_create(PawlStepper* s, PawlContacts* contacts, PawlDepend** out,
                              PawlError* err) {
  bool rubs = false;
  for (int i = 0; i < s->sizes.rows; i++) {
    rubs |= pawl_system_row_kind(s->system, i) == PAWL_ROW_FRICTION;
  }
  *out = NULL;
  if (rubs || contacts->count < 2) {
    return PAWL_OK;
  }
  PawlDepend* p = *out = PAWL_NEW(&s->arena, PawlDepend, 1);
  if (!p) {
    return pawl_fail_memory(err);
  }
  contacts->depend = (PawlContactsDepend){p, begin, note, asks, choose};
  s->dynamics.dependent = (PawlDependent){.of = p, .expects = expects, .solve = solve};
  return create(s, contacts->row[0], !contacts->D, p, err);
}
