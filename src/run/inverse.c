// SPDX-License-Identifier: Apache-2.0
// Forces of a prescribed motion (docs/theory/inverse.md), after A. Mueller, Forward dynamics of
// variable topology mechanisms, eqs. (8) and (9):
//
//   r = M a - f                                    what the motion asks for                    (D1)
//   Z^T (r - B u) = 0,  G Z = 0, Z^T Z = I         projected on what the rows allow            (D2)
//   u = (Z^T B)^+ Z^T r                            of minimum norm                             (D3)
//   lambda = (G^T)^+ (r - B u)                     what is left is for the constraints         (D4)
#include "pawl/inverse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "linalg/lapack.h"
#include "linalg/sparse.h"
#include "model/model.h"
#include "run/start.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

enum { MOST_ITERATIONS = 50, MOST_ROUNDS = 20 };

typedef struct Drive {
  const char* name;
  int velocity, row;  // one of them; the other is -1
} Drive;

struct PawlInverse {
  PawlArena arena;
  const PawlSystem* system;
  PawlSizes n;
  PawlEval *eval, *surfaces;
  int drive_count;
  Drive* drives;
  unsigned char* driven;  // constraints
  int* modes;
  int* next;
  double* held;
  unsigned char* set;  // rows that hold
  double *force, *lambda, *required, *size, *rate, *left;
  double fastest[2];  // the largest rate and acceleration of the motion so far
};

// ---- what is made at the beginning --------------------------------------------------------------
// The rows that hold, with those of the drives engaged.
static void set_rows(PawlInverse* s) {
  for (int c = 0; c < s->system->constraint_count; c++) {
    if (s->driven[c] && pawl_system_engages(s->system, c)) {
      s->modes[c] = PAWL_MODE_HELD;
    }
  }
  pawl_modes_active(s->system, s->modes, s->set);
  for (int d = 0; d < s->drive_count; d++) {
    if (s->drives[d].row >= 0) {
      s->set[s->drives[d].row] = 0;
    }
  }
}

void pawl_inverse_enter(PawlInverse* s, const PawlState* state) {
  memcpy(s->modes, state->modes, (size_t)s->n.modes * sizeof(int));
  memcpy(s->held, state->held, (size_t)(s->n.rows + s->n.inputs) * sizeof(double));
  set_rows(s);
}

static PawlStatus enter_start(PawlInverse* s, PawlError* err) {
  PawlStarted start;
  PawlStatus status = pawl_started_create(s->system, &start, err);
  if (status == PAWL_OK) {
    pawl_inverse_enter(s, start.state);
  }
  pawl_started_destroy(&start);
  return status;
}

static int find_coordinate(const PawlSystem* system, const char* name) {
  PawlSizes n = pawl_system_sizes(system);
  for (int k = 0; n.q == n.v && k < n.q; k++) {
    if (strcmp(pawl_system_coordinate_name(system, k), name) == 0) {
      return k;
    }
  }
  return -1;
}

static PawlStatus unknown_drive(const PawlSystem* system, const char* name, PawlError* err) {
  PawlNearest nearest = {.wanted = name};
  for (int k = 0; k < pawl_system_sizes(system).q; k++) {
    pawl_nearest_offer(&nearest, pawl_system_coordinate_name(system, k));
  }
  for (int c = 0; c < pawl_system_constraint_count(system); c++) {
    pawl_nearest_offer(&nearest, pawl_system_constraint_name(system, c));
  }
  const char* best = nearest.name;
  return pawl_fail(err, PAWL_ERROR_USAGE,
                   "the drive '%.100s' is neither a coordinate nor a constraint or lock%s%.100s%s",
                   name, best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "");
}

static PawlStatus add_drive(PawlInverse* s, const char* name, int velocity, int row,
                            PawlError* err) {
  for (int d = 0; d < s->drive_count; d++) {
    if (s->drives[d].velocity == velocity && s->drives[d].row == row) {
      return pawl_fail(err, PAWL_ERROR_USAGE, "the drive '%.100s' is given twice", name);
    }
  }
  s->drives[s->drive_count++] = (Drive){name, velocity, row};
  return PAWL_OK;
}

static PawlStatus add_constraint(PawlInverse* s, int c, PawlError* err) {
  int first, count;
  pawl_system_constraint_rows(s->system, c, &first, &count);
  s->driven[c] = 1;
  for (int r = 0; r < count; r++) {
    PawlText text = {0};
    const char* name = pawl_system_constraint_name(s->system, c);
    pawl_text_add(&text, name);
    if (count > 1) {
      pawl_text_printf(&text, ",%d", r + 1);
    }
    char* kept = text.s ? pawl_arena_copy(&s->arena, text.s, strlen(text.s)) : NULL;
    pawl_text_free(&text);
    PAWL_TRY(kept ? add_drive(s, kept, -1, first + r, err) : pawl_fail_memory(err));
  }
  return PAWL_OK;
}

static const char* velocity_name(PawlInverse* s, int j) {
  if (s->n.q == s->n.v) {
    return pawl_system_coordinate_name(s->system, j);
  }
  char text[32];
  int length = snprintf(text, sizeof text, "v[%d]", j);
  return pawl_arena_copy(&s->arena, text, (size_t)length);
}

static PawlStatus add_drives(PawlInverse* s, int count, const char* const* names, PawlError* err) {
  for (int j = 0; count == 0 && j < s->n.v; j++) {
    const char* name = velocity_name(s, j);
    PAWL_TRY(name ? add_drive(s, name, j, -1, err) : pawl_fail_memory(err));
  }
  for (int d = 0; d < count; d++) {
    int q = find_coordinate(s->system, names[d]);
    int c = q < 0 ? pawl_system_find_constraint(s->system, names[d]) : -1;
    if (q < 0 && c < 0) {
      return unknown_drive(s->system, names[d], err);
    }
    PAWL_TRY(q >= 0 ? add_drive(s, pawl_system_coordinate_name(s->system, q), q, -1, err)
                    : add_constraint(s, c, err));
  }
  return PAWL_OK;
}

static PawlStatus allocate(PawlInverse* s, int drive_count, PawlError* err) {
  size_t v = (size_t)s->n.v, rows = (size_t)s->n.rows;
  size_t most = v + rows + (size_t)drive_count;
  s->drives = PAWL_NEW(&s->arena, Drive, most);
  s->driven = PAWL_NEW(&s->arena, unsigned char, s->system->constraint_count);
  s->modes = PAWL_NEW(&s->arena, int, s->n.modes);
  s->next = PAWL_NEW(&s->arena, int, s->n.modes);
  s->held = PAWL_NEW(&s->arena, double, rows + (size_t)s->n.inputs);
  s->set = PAWL_NEW(&s->arena, unsigned char, rows);
  s->force = PAWL_NEW(&s->arena, double, most);
  s->lambda = PAWL_NEW(&s->arena, double, rows);
  s->required = PAWL_NEW(&s->arena, double, v);
  s->left = PAWL_NEW(&s->arena, double, v);
  s->size = PAWL_NEW(&s->arena, double, v > rows ? v : rows);
  s->rate = PAWL_NEW(&s->arena, double, rows);
  return s->arena.failed ? pawl_fail_memory(err) : PAWL_OK;
}

static PawlStatus fill(PawlInverse* s, int drive_count, const char* const* drives, PawlError* err) {
  if (s->n.v > PAWL_INVERSE_MOST) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "'%s' has %d velocities; inverse dynamics is for at most %d",
                     pawl_system_name(s->system), s->n.v, PAWL_INVERSE_MOST);
  }
  PAWL_TRY(allocate(s, drive_count, err));
  PAWL_TRY(add_drives(s, drive_count, drives, err));
  PAWL_TRY(pawl_eval_create(
      s->system,
      PAWL_MASS | PAWL_FORCE | PAWL_POSITION | PAWL_GRADIENT | PAWL_TIME_GRADIENT | PAWL_BIAS,
      &s->eval, err));
  if (pawl_system_switches(s->system)) {
    PAWL_TRY(pawl_eval_create(s->system, PAWL_SWITCHING, &s->surfaces, err));
  }
  return enter_start(s, err);
}

PawlStatus pawl_inverse_create(const PawlSystem* system, int drive_count, const char* const* drives,
                               PawlInverse** out, PawlError* err) {
  *out = NULL;
  if (pawl_system_sizes(system).states > 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "'%s' has first-order states: their values do not follow from a prescribed "
                     "motion, and inverse dynamics does not know them",
                     pawl_system_name(system));
  }
  PawlInverse* s = pawl_alloc(1, sizeof *s);
  if (!s) {
    return pawl_fail_memory(err);
  }
  s->system = system;
  s->n = pawl_system_sizes(system);
  PawlStatus status = fill(s, drive_count, drives, err);
  if (status != PAWL_OK) {
    pawl_inverse_destroy(s);
    return status;
  }
  *out = s;
  return PAWL_OK;
}

void pawl_inverse_destroy(PawlInverse* s) {
  if (s) {
    pawl_eval_destroy(s->eval);
    pawl_eval_destroy(s->surfaces);
    pawl_arena_free(&s->arena);
    pawl_free(s);
  }
}

int pawl_inverse_drive_count(const PawlInverse* s) {
  return s->drive_count;
}

const char* pawl_inverse_drive_name(const PawlInverse* s, int drive) {
  return s->drives[drive].name;
}

// ---- dense matrices -----------------------------------------------------------------------------
static int count_rows(const PawlInverse* s) {
  int count = 0;
  for (int r = 0; r < s->n.rows; r++) {
    count += s->set[r];
  }
  return count;
}

// The rows that hold, over the velocities that are not `given` (NULL: all): m-by-width.
static double* dense_rows(const PawlInverse* s, const unsigned char* given, int m, int* width,
                          PawlArena* arena) {
  const PawlPattern* P = &s->system->G;
  const double* values = pawl_eval_values(s->eval)->G;
  double* G = PAWL_NEW(arena, double, (size_t)m*(size_t)s->n.v + 1);
  *width = 0;
  for (int j = 0; G && j < s->n.v; j++) {
    if (given && given[j]) {
      continue;
    }
    double* column = G + (size_t)(*width)++ * (size_t)m;
    for (int e = P->start[j], at = 0, r = 0; e < P->start[j + 1]; e++) {
      for (; r < P->index[e]; r++) {
        at += s->set[r];
      }
      if (s->set[r]) {
        column[at] = values[e];
      }
    }
  }
  return G;
}

// x = A^+ b by singular values: x (n) of minimum norm, b (m).
static void solve_least(const PawlSvd* svd, int rank, const double* b, double* x) {
  memset(x, 0, (size_t)svd->n * sizeof(double));
  for (int k = 0; k < rank; k++) {
    double sum = 0.0;
    for (int i = 0; i < svd->m; i++) {
      sum += svd->U[i + k * svd->m] * b[i];
    }
    for (int j = 0; j < svd->n; j++) {
      x[j] += svd->Vt[k + j * svd->n] * (sum / svd->s[k]);
    }
  }
}

// x = (A^T)^+ b: x (m), b (n).
static void solve_transposed(const PawlSvd* svd, int rank, const double* b, double* x) {
  memset(x, 0, (size_t)svd->m * sizeof(double));
  for (int k = 0; k < rank; k++) {
    double sum = 0.0;
    for (int j = 0; j < svd->n; j++) {
      sum += svd->Vt[k + j * svd->n] * b[j];
    }
    for (int i = 0; i < svd->m; i++) {
      x[i] += svd->U[i + k * svd->m] * (sum / svd->s[k]);
    }
  }
}

static PawlStatus not_solved(const PawlInverse* s, PawlStatus status, double t, PawlError* err) {
  return status == PAWL_ERROR_MEMORY
             ? pawl_fail_memory(err)
             : pawl_fail(err, PAWL_ERROR_RUN, "'%s': numbers at t = %.6g are not finite",
                         pawl_system_name(s->system), t);
}

static PawlStatus evaluate(PawlInverse* s, double t, const double* q, const double* v,
                           PawlError* err) {
  PawlPoint point = {t, q, v, NULL, NULL, s->modes, s->held};
  return pawl_eval_run(s->eval, &point, err);
}

// ---- completing a motion ------------------------------------------------------------------------
typedef struct Completion {
  PawlInverse* s;
  const unsigned char* given;
  double t, *q, *v, *a;
  bool place;       // a position is looked for, not rates
  PawlArena arena;  // of one solution
} Completion;

static double largest(int n, const double* x) {
  double most = 0.0;
  for (int j = 0; j < n; j++) {
    most = fmax(most, fabs(x[j]));
  }
  return most;
}

static PawlStatus undetermined(const Completion* c, const PawlSvd* svd, int rank, PawlError* err) {
  int worst = -1, column = 0;
  double most = -1.0;
  for (int j = 0; j < c->s->n.v; j++) {
    if (c->given[j]) {
      continue;
    }
    double free = 0.0;  // how far it moves without the rows noticing
    for (int k = rank; k < svd->n; k++) {
      free = fmax(free, fabs(svd->Vt[k + column * svd->n]));
    }
    column++;
    if (free > most) {
      most = free;
      worst = j;
    }
  }
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "'%s' at t = %.6g: the motion and the constraints do not determine '%s'; give "
                   "its motion, too. (To let it move by itself write the motion as a constraint "
                   "and run the model: its multiplier is the force.)",
                   pawl_system_name(c->s->system), c->t,
                   pawl_system_coordinate_name(c->s->system, worst));
}

// The largest entry of the part of b (rows that hold) that G_u cannot make; *row: which row.
static double out_of_reach(const PawlInverse* s, const PawlSvd* svd, int rank, const double* b,
                           int* row) {
  double most = 0.0;
  for (int r = 0, at = 0; r < s->n.rows; r++) {
    if (!s->set[r]) {
      continue;
    }
    double left = 0.0;
    for (int r2 = 0, i = 0; r2 < s->n.rows; r2++) {
      if (s->set[r2]) {
        double onto = 0.0;
        for (int k = 0; k < rank; k++) {
          onto += svd->U[at + k * svd->m] * svd->U[i + k * svd->m];
        }
        left += ((i == at ? 1.0 : 0.0) - onto) * b[r2];
        i++;
      }
    }
    if (fabs(left) > most) {
      most = fabs(left);
      *row = r;
    }
    at++;
  }
  return most;
}

static PawlStatus no_place(const Completion* c, int row, double off, PawlError* err) {
  int number;
  const char* name = pawl_system_row_name(c->s->system, row, &number);
  return pawl_fail(
      err, PAWL_ERROR_RUN,
      "'%s' at t = %.6g: no place with this motion was found: '%s' (row %d) is off by "
      "%.3g, and nothing that is not given changes it there; is the motion out of reach?",
      pawl_system_name(c->s->system), c->t, name, number + 1, off);
}

// Rows of a place that nothing can meet there are the mistake, before what they do not determine.
static PawlStatus not_regular(const Completion* c, const PawlSvd* svd, int rank, const double* b,
                              PawlError* err) {
  int row = 0;
  double off = c->place ? out_of_reach(c->s, svd, rank, b, &row) : 0.0;
  return off > PAWL_MEETS * largest(c->s->n.q, c->q) ? no_place(c, row, off, err)
                                                     : undetermined(c, svd, rank, err);
}

// Solves G_u x_u = b for what is not given, b by row; adds to x.
static PawlStatus solve_free(Completion* c, const double* b, double* x, PawlError* err) {
  PawlInverse* s = c->s;
  int m = count_rows(s), width, rank;
  PawlSvd svd;
  double* G = dense_rows(s, c->given, m, &width, &c->arena);
  double* right = PAWL_NEW(&c->arena, double, m + 1);
  double* free = PAWL_NEW(&c->arena, double, s->n.v);
  PawlStatus status = c->arena.failed ? PAWL_ERROR_MEMORY : pawl_svd(&c->arena, m, width, G, &svd);
  if (status != PAWL_OK) {
    return not_solved(s, status, c->t, err);
  }
  rank = pawl_svd_rank(&svd, PAWL_INVERSE_RANK);
  if (rank < width) {
    return not_regular(c, &svd, rank, b, err);
  }
  for (int r = 0, at = 0; r < s->n.rows; r++) {
    if (s->set[r]) {
      right[at++] = b[r];
    }
  }
  solve_least(&svd, rank, right, free);
  for (int j = 0, at = 0; j < s->n.v; j++) {
    x[j] += c->given[j] ? 0.0 : free[at++];
  }
  pawl_arena_free(&c->arena);
  return PAWL_OK;
}

static PawlStatus search_position(Completion* c, PawlError* err) {
  PawlInverse* s = c->s;
  double before = INFINITY;
  for (int k = 0; k < MOST_ITERATIONS; k++) {
    PAWL_TRY(evaluate(s, c->t, c->q, c->v, err));
    const double* g = pawl_eval_values(s->eval)->g;
    for (int r = 0; r < s->n.rows; r++) {
      s->rate[r] = -g[r];
    }
    memset(s->left, 0, (size_t)s->n.v * sizeof(double));
    PAWL_TRY(solve_free(c, s->rate, s->left, err));
    double change = largest(s->n.v, s->left), size = largest(s->n.q, c->q);
    for (int j = 0; j < s->n.v; j++) {
      c->q[j] += s->left[j];
    }
    if (change <= PAWL_ROUNDING * size || (change <= PAWL_MEETS * size && change >= before)) {
      break;
    }
    before = change;
  }
  return PAWL_OK;
}

// Rate equations determine no place.
static PawlStatus find_position(Completion* c, PawlError* err) {
  PawlInverse* s = c->s;
  for (int r = 0; r < s->n.rows; r++) {
    s->set[r] &= !pawl_system_row_is_rate(s->system, r, s->modes);
  }
  c->place = true;
  PawlStatus status = search_position(c, err);
  c->place = false;
  set_rows(s);
  PAWL_TRY(status);
  return evaluate(s, c->t, c->q, c->v, err);
}

// Rates or accelerations of what is not given: G x = -b.
static PawlStatus find_rates(Completion* c, const double* b, double* x, PawlError* err) {
  PawlInverse* s = c->s;
  for (int j = 0; j < s->n.v; j++) {
    x[j] = c->given[j] ? x[j] : 0.0;
  }
  for (int r = 0; r < s->n.rows; r++) {
    s->rate[r] = -b[r];
  }
  pawl_sparse_add(&s->system->G, pawl_eval_values(s->eval)->G, -1.0, x, s->rate);
  return solve_free(c, s->rate, x, err);
}

static PawlStatus violated(const Completion* c, int row, const char* what, double by,
                           PawlError* err) {
  int number;
  const char* name = pawl_system_row_name(c->s->system, row, &number);
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "'%s' at t = %.6g: the motion violates '%s' (row %d): %s is %.3g",
                   pawl_system_name(c->s->system), c->t, name, number + 1, what, by);
}

// Whether g, G v + g_t or G a + gamma (`offset`) is zero in the rows that hold. x: q, v or a. What
// has come to rest has rates that are rounding of those before.
static PawlStatus check_rows(Completion* c, const double* x, const double* offset, int level,
                             const char* what, PawlError* err) {
  bool position = level == 0;
  PawlInverse* s = c->s;
  const double* G = pawl_eval_values(s->eval)->G;
  memcpy(s->rate, offset, (size_t)s->n.rows * sizeof(double));
  if (!position) {
    pawl_sparse_add(&s->system->G, G, 1.0, x, s->rate);
  }
  double most = largest(position ? s->n.q : s->n.v, x);
  if (!position) {
    most = s->fastest[level - 1] = fmax(s->fastest[level - 1], most);
  }
  if (!position || s->n.q == s->n.v) {
    pawl_sparse_sizes(&s->system->G, G, x, PAWL_SMALLEST_PART * most, s->size);
  }
  for (int r = 0; r < s->n.rows; r++) {
    double size =
        (position && s->n.q != s->n.v ? most : s->size[r]) + (position ? 0 : fabs(offset[r]));
    if (s->set[r] && !(fabs(s->rate[r]) <= PAWL_MEETS * size)) {
      return violated(c, r, what, s->rate[r], err);
    }
  }
  return PAWL_OK;
}

static PawlStatus complete_in_modes(Completion* c, bool all, PawlError* err) {
  PawlInverse* s = c->s;
  const PawlValues* values = pawl_eval_values(s->eval);
  PAWL_TRY(all ? evaluate(s, c->t, c->q, c->v, err) : find_position(c, err));
  PAWL_TRY(check_rows(c, c->q, values->g, 0, "its residual", err));
  PAWL_TRY(all ? PAWL_OK : find_rates(c, values->g_t, c->v, err));
  PAWL_TRY(check_rows(c, c->v, values->g_t, 1, "its rate", err));
  PAWL_TRY(evaluate(s, c->t, c->q, c->v, err));  // gamma depends on the rates
  PAWL_TRY(all ? PAWL_OK : find_rates(c, values->gamma, c->a, err));
  return check_rows(c, c->a, values->gamma, 2, "its acceleration", err);
}

// True when the place is in other regions than the modes; these are then of the place.
static PawlStatus follow_regions(PawlInverse* s, double t, const double* q, const double* v,
                                 bool* changed, PawlError* err) {
  *changed = false;
  if (s->surfaces) {
    PawlPoint point = {t, q, v, NULL, NULL, s->modes, s->held};
    PAWL_TRY(pawl_eval_run(s->surfaces, &point, err));
    *changed = pawl_modes_next(s->system, pawl_eval_values(s->surfaces)->z, 0.0, s->modes, s->next);
    memcpy(s->modes, s->next, (size_t)s->n.modes * sizeof(int));
    set_rows(s);
  }
  return PAWL_OK;
}

static bool is_all(const unsigned char* given, int count) {
  return !given || !memchr(given, 0, (size_t)count);
}

PawlStatus pawl_inverse_complete(PawlInverse* s, double t, const unsigned char* given, double* q,
                                 double* v, double* a, PawlError* err) {
  bool all = is_all(given, s->n.q), changed = true;
  if (!all && s->n.q != s->n.v) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "'%s': velocities are not the rates of coordinates; all must be given",
                     pawl_system_name(s->system));
  }
  for (int j = 0; !all && j < s->n.v; j++) {  // what is not given need not be set
    v[j] = given[j] ? v[j] : 0.0;
    a[j] = given[j] ? a[j] : 0.0;
  }
  Completion c = {.s = s, .given = given, .t = t, .q = q, .v = v, .a = a};
  PawlStatus status = follow_regions(s, t, q, v, &changed, err);
  changed = true;
  for (int k = 0; status == PAWL_OK && changed && k < MOST_ROUNDS; k++) {
    status = complete_in_modes(&c, all, err);
    status = status ? status : follow_regions(s, t, q, v, &changed, err);
  }
  pawl_arena_free(&c.arena);
  return status;
}

// ---- forces -------------------------------------------------------------------------------------
static PawlStatus unreached(PawlInverse* s, double t, const double* missing, int freedom,
                            int reached, PawlError* err) {
  PawlText names = {0};
  int worst = 0;
  for (int d = 0; d < s->drive_count; d++) {
    pawl_text_printf(&names, "%s%s", d ? ", " : "", s->drives[d].name);
  }
  for (int j = 0; j < s->n.v; j++) {
    worst = fabs(missing[j]) > fabs(missing[worst]) ? j : worst;
  }
  const char* name = velocity_name(s, worst);
  pawl_fail(err, PAWL_ERROR_RUN,
            "'%s' at t = %.6g: the drives %.500s cannot make this motion: '%s' lacks a force of "
            "%.4g; the constraints leave %d degrees of freedom, and the drives reach %d",
            pawl_system_name(s->system), t, names.s ? names.s : "", name ? name : "?",
            missing[worst], freedom, reached);
  pawl_text_free(&names);
  return PAWL_ERROR_RUN;
}

// r = M a - f (D1); returns how large its terms are.
static double find_required(PawlInverse* s, const double* a) {
  const PawlValues* values = pawl_eval_values(s->eval);
  double most = 0.0;
  memset(s->required, 0, (size_t)s->n.v * sizeof(double));
  pawl_sparse_add(&s->system->H, values->M, 1.0, a, s->required);
  for (int j = 0; j < s->n.v; j++) {
    most = fmax(most, fabs(s->required[j]) + fabs(values->f[j]));
    s->required[j] -= values->f[j];
  }
  return most;
}

// B, v-by-drives.
static double* directions(const PawlInverse* s, PawlArena* arena) {
  const PawlPattern* P = &s->system->G;
  const double* G = pawl_eval_values(s->eval)->G;
  double* B = PAWL_NEW(arena, double, (size_t)s->n.v*(size_t)s->drive_count + 1);
  for (int d = 0; B && d < s->drive_count; d++) {
    double* column = B + (size_t)d * (size_t)s->n.v;
    if (s->drives[d].velocity >= 0) {
      column[s->drives[d].velocity] = 1.0;
    }
    for (int j = 0; s->drives[d].row >= 0 && j < s->n.v; j++) {
      for (int e = P->start[j]; e < P->start[j + 1]; e++) {
        column[j] = P->index[e] == s->drives[d].row ? G[e] : column[j];
      }
    }
  }
  return B;
}

// Z^T x for the last columns of V: those that no row sees.
static void project(const PawlSvd* rows, int rank, const double* x, double* out) {
  for (int k = rank; k < rows->n; k++) {
    out[k - rank] = 0.0;
    for (int j = 0; j < rows->n; j++) {
      out[k - rank] += rows->Vt[k + j * rows->n] * x[j];
    }
  }
}

typedef struct Projected {  // (D2)
  PawlSvd rows, reach;      // of G, and of Z^T B
  int rank;                 // of G
  double *B, *z;            // directions of the drives; room for a projected vector, or rows
} Projected;

static PawlStatus decompose(PawlInverse* s, PawlArena* arena, Projected* p) {
  int n = s->n.v, m = count_rows(s), width;
  double* G = dense_rows(s, NULL, m, &width, arena);
  p->B = directions(s, arena);
  p->z = PAWL_NEW(arena, double, n + m + 1);
  PAWL_TRY(arena->failed ? PAWL_ERROR_MEMORY : pawl_svd(arena, m, n, G, &p->rows));
  p->rank = pawl_svd_rank(&p->rows, PAWL_INVERSE_RANK);
  size_t freedom = (size_t)(n - p->rank);
  double* A = PAWL_NEW(arena, double, freedom*(size_t)s->drive_count + 1);
  if (!A) {
    return PAWL_ERROR_MEMORY;
  }
  for (int d = 0; d < s->drive_count; d++) {
    project(&p->rows, p->rank, p->B + (size_t)d * (size_t)n, A + (size_t)d * freedom);
  }
  return pawl_svd(arena, n - p->rank, s->drive_count, A, &p->reach);
}

// r - B u, and what the drives do with the velocities v.
static double take_drives_off(PawlInverse* s, const double* B, const double* v) {
  double power = 0.0;
  memcpy(s->left, s->required, (size_t)s->n.v * sizeof(double));
  for (int d = 0; d < s->drive_count; d++) {
    for (int j = 0; j < s->n.v; j++) {
      double force = B[j + d * s->n.v] * s->force[d];
      s->left[j] -= force;
      power += force * v[j];
    }
  }
  return power;
}

// left = Z z: what is missing, by coordinate.
static void put_back(const Projected* p, int n, double* left) {
  memset(left, 0, (size_t)n * sizeof(double));
  for (int k = p->rank; k < n; k++) {
    for (int j = 0; j < n; j++) {
      left[j] += p->rows.Vt[k + j * n] * p->z[k - p->rank];
    }
  }
}

static PawlStatus solve(PawlInverse* s, const PawlPoint* at, double size, PawlArena* arena,
                        PawlInverseForces* out, PawlError* err) {
  Projected p = {0};
  PawlStatus status = decompose(s, arena, &p);
  if (status != PAWL_OK) {
    return not_solved(s, status, at->t, err);
  }
  out->freedom = s->n.v - p.rank;
  out->reached = pawl_svd_rank(&p.reach, PAWL_INVERSE_RANK);
  project(&p.rows, p.rank, s->required, p.z);
  solve_least(&p.reach, out->reached, p.z, s->force);  // (D3)
  out->power = take_drives_off(s, p.B, at->v);
  project(&p.rows, p.rank, s->left, p.z);
  if (!(largest(out->freedom, p.z) <= PAWL_UNREACHED * size)) {
    put_back(&p, s->n.v, s->left);
    return unreached(s, at->t, s->left, out->freedom, out->reached, err);
  }
  solve_transposed(&p.rows, p.rank, s->left, p.z);  // (D4)
  for (int r = 0, k = 0; r < s->n.rows; r++) {
    s->lambda[r] = s->set[r] ? p.z[k++] : 0.0;
  }
  return PAWL_OK;
}

PawlStatus pawl_inverse_solve(PawlInverse* s, double t, const double* q, const double* v,
                              const double* a, PawlInverseForces* out, PawlError* err) {
  bool changed;
  PawlPoint at = {.t = t, .q = q, .v = v, .a = a};
  *out = (PawlInverseForces){.force = s->force, .lambda = s->lambda};
  PAWL_TRY(follow_regions(s, t, q, v, &changed, err));
  PAWL_TRY(evaluate(s, t, q, v, err));
  double size = find_required(s, a);
  PawlArena arena = {0};
  PawlStatus status = solve(s, &at, size, &arena, out, err);
  pawl_arena_free(&arena);
  return status;
}
