// SPDX-License-Identifier: Apache-2.0
#include "step/rub_islands.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "step/rub_sweep.h"

enum { FEW_SWEEPS = 30, MANY_SWEEPS = 20000 };

// ---- bodies -------------------------------------------------------------------------------------
static int root(int* parent, int i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]];
    i = parent[i];
  }
  return i;
}

static void join(int* parent, int i, int j) {
  int a = root(parent, i), b = root(parent, j);
  parent[a > b ? a : b] = a > b ? b : a;
}

int pawl_rub_islands_bodies(const PawlStepper* s, int first_row, int* body, int* room, int* last) {
  int n = s->sizes.v, *parent = body, count = 0;
  for (int j = 0; j < n; j++) {
    parent[j] = j;
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    last[i] = -1;
  }
  for (int j = 0; j < n; j++) {
    for (int e = s->H.start[j]; e < s->H.start[j + 1]; e++) {
      join(parent, j, s->H.index[e]);
    }
    for (int e = s->G.start[j]; e < s->G.start[j + 1]; e++) {
      int i = s->G.index[e];
      if (i < first_row && last[i] >= 0) {
        join(parent, j, last[i]);
      }
      last[i] = j;
    }
  }
  for (int j = 0; j < n; j++) {  // the least of a set is its root, and has its number already
    int r = root(parent, j);
    body[j] = r == j ? j : r;
  }
  for (int j = 0; j < n; j++) {
    room[j] = body[j] == j ? count++ : -1;
  }
  for (int j = 0; j < n; j++) {
    body[j] = room[body[j]];
  }
  return count;
}

// ---- islands ------------------------------------------------------------------------------------
// Rows of friction of a contact in the problem.
static int slips_of(const PawlRub* rub, int contact) {
  return rub->problem.matrix->contact[contact].count;
}

static void join_bodies(PawlRub* rub, int row) {
  int k = row - rub->first_row;
  for (int e = rub->first[k] + 1; e < rub->first[k + 1]; e++) {
    join(rub->parent, rub->body[rub->column[rub->first[k]]], rub->body[rub->column[e]]);
  }
}

static void join_contact(PawlRub* rub, int contact) {
  const PawlContactFriction* of = &rub->of[contact];
  int normal = pawl_rub_row(rub, contact), k = normal - rub->first_row;
  join_bodies(rub, normal);
  for (int i = of->first; i < of->first + slips_of(rub, contact); i++) {
    int j = i - rub->first_row;
    join_bodies(rub, i);
    if (rub->first[j] < rub->first[j + 1] && rub->first[k] < rub->first[k + 1]) {
      join(rub->parent, rub->body[rub->column[rub->first[k]]],
           rub->body[rub->column[rub->first[j]]]);
    }
  }
}

// The contacts that may be closed, in islands: rows of each contact behind one another, its own row
// first.
static void find_islands(PawlRub* rub, const unsigned char* near) {
  for (int b = 0; b < rub->bodies; b++) {
    rub->parent[b] = b;
    rub->head[b] = -1;
  }
  for (int k = 0; k < rub->contacts; k++) {
    if (near[pawl_rub_row(rub, k)]) {
      join_contact(rub, k);
    }
  }
  for (int k = rub->contacts - 1; k >= 0; k--) {
    int row = pawl_rub_row(rub, k) - rub->first_row;
    bool moves = rub->first[row] < rub->first[row + 1];
    if (near[pawl_rub_row(rub, k)] && moves) {
      int r = root(rub->parent, rub->body[rub->column[rub->first[row]]]);
      rub->next[k] = rub->head[r];
      rub->head[r] = k;
    }
  }
  int count = 0;
  rub->islands = 0;
  for (int b = 0; b < rub->bodies; b++) {
    for (int k = rub->head[b]; k >= 0; k = rub->next[k]) {
      rub->row[count++] = pawl_rub_row(rub, k);
      for (int i = 0; i < slips_of(rub, k); i++) {
        rub->row[count++] = rub->of[k].first + i;
      }
    }
    if (rub->head[b] >= 0) {
      rub->island[rub->islands] = rub->head[b];
      rub->start[++rub->islands] = count;
    }
  }
}

// ---- compliance ---------------------------------------------------------------------------------
static double product(const PawlRub* rub, const double* G, int row, const double* x) {
  double sum = 0.0;
  int k = row - rub->first_row;
  for (int e = rub->first[k]; e < rub->first[k + 1]; e++) {
    sum += G[rub->entry[e]] * x[rub->column[e]];
  }
  return sum;
}

static void push(const PawlRub* rub, const double* B, int row, double by, double* x) {
  int k = row - rub->first_row;
  for (int e = rub->first[k]; e < rub->first[k + 1]; e++) {
    x[rub->column[e]] += by * B[rub->entry[e]];
  }
}

// The islands from `from` on whose compliances have room; where the next begins.
static int batch(const PawlRub* rub, int from) {
  size_t room = (size_t)rub->most * (size_t)rub->most + 9 * (size_t)rub->rows, used = 0;
  int k = from;
  for (; k < rub->islands; k++) {
    size_t m = (size_t)(rub->start[k + 1] - rub->start[k]);
    used += m * m;
    if (used > room) {
      break;
    }
  }
  return k;
}

// D of islands `from` to `end` - 1, one behind the other: they do not feel each other, so that the
// p-th rows of all of them are pushed at once.
static void find_compliances(PawlStepper* s, PawlRub* rub, const PawlRubStep* step, int from,
                             int end, double* y) {
  int most = 0;
  for (int k = from; k < end; k++) {
    int m = rub->start[k + 1] - rub->start[k];
    most = m > most ? m : most;
  }
  for (int p = 0; p < most; p++) {
    memset(rub->x, 0, (size_t)s->sizes.v * sizeof(double));
    memset(y, 0, (size_t)s->sizes.rows * sizeof(double));
    for (int k = from; k < end; k++) {
      if (rub->start[k] + p < rub->start[k + 1]) {
        push(rub, step->B, rub->row[rub->start[k] + p], 1.0, rub->x);
      }
    }
    pawl_kkt_solve(s->kkt, rub->x, y);
    double* D = rub->D;
    for (int k = from; k < end; k++) {
      int m = rub->start[k + 1] - rub->start[k];
      for (int i = 0; p < m && i < m; i++) {
        D[i + p * m] = product(rub, step->J, rub->row[rub->start[k] + i], rub->x);
      }
      D += m * m;
    }
  }
}

// How easily a row would move if nothing held it.
static double own_compliance(const PawlStepper* s, const PawlRub* rub, const PawlRubStep* step,
                             int row, double D) {
  double own = 0.0;
  int k = row - rub->first_row;
  for (int e = rub->first[k]; e < rub->first[k + 1]; e++) {
    double J = step->J[rub->entry[e]], mass = 0.0;
    int j = rub->column[e];
    for (int i = s->H.start[j]; i < s->H.start[j + 1]; i++) {
      mass = s->H.index[i] == j ? step->S[i] : mass;
    }
    own += mass > 0.0 ? J * J / mass : 0.0;
  }
  return fmax(own, D);
}

// ---- one island ---------------------------------------------------------------------------------
// Where to begin: as in the step before; what did not slip sticks.
static void guess_block(const PawlRub* rub, const PawlRubStep* step, int contact, int at,
                        int block) {
  int first = rub->of[contact].first, tangents = slips_of(rub, contact);
  double N = step->guess[pawl_rub_row(rub, contact)], T[2] = {0.0, 0.0}, size = 0.0;
  rub->state[at] = N > 0.0 || rub->rests[contact] ? PAWL_ROW_FREE : PAWL_ROW_UNKNOWN;
  if (tangents == 0) {
    return;
  }
  for (int i = 0; i < tangents; i++) {
    T[i] = step->guess[first + i];
    size = hypot(size, T[i]);
  }
  bool slips = N > 0.0 && size > 0.0 && size >= PAWL_RUB_STICKS * rub->mu[contact] * N;
  rub->block_state[block] = slips                            ? PAWL_FRICTION_SLIP
                            : N > 0.0 || rub->rests[contact] ? PAWL_FRICTION_STICK
                                                             : PAWL_FRICTION_UNKNOWN;
  for (int i = 0; i < 2; i++) {
    rub->slip[2 * block + i] = slips ? -T[i] / size : 0.0;
  }
}

// Rows and blocks of island k in the places of its rows; the numbers of contacts and of blocks.
static int ask_island(const PawlRub* rub, const PawlRubStep* step, int k, int* blocks) {
  int count = 0, at = rub->start[k];
  *blocks = 0;
  for (int c = rub->island[k]; c >= 0; c = rub->next[c]) {
    int tangents = slips_of(rub, c);
    PawlFrictionBlock block = {.normal = at - rub->start[k], .tangent = {-1, -1}, .mu = rub->mu[c]};
    guess_block(rub, step, c, at, *blocks);
    pawl_row_bounds(PAWL_ROW_OF_CONTACT, INFINITY, &rub->lo[at], &rub->hi[at]);
    at++;
    for (int i = 0; i < tangents; i++) {
      rub->state[at] = PAWL_ROW_UNKNOWN;
      block.tangent[i] = at - rub->start[k];
      pawl_row_bounds(PAWL_ROW_OF_FRICTION, INFINITY, &rub->lo[at], &rub->hi[at]);
      at++;
    }
    rub->each[count++] = block;
    if (tangents > 0) {
      rub->block[(*blocks)++] = block;
    }
  }
  return count;
}

static PawlStatus fail(PawlStepper* s, const PawlRub* rub, const PawlRubStep* step, int k,
                       const char* why, PawlError* err) {
  int number;
  return pawl_fail(err, PAWL_RETRY, "t = %.10g: %s at contact '%.100s'%s", step->t, why,
                   pawl_system_row_name(s->system, rub->row[rub->start[k]], &number),
                   rub->next[rub->island[k]] >= 0 ? " and those that it meets" : "");
}

// By sets of rows; false: no solution was found.
static PawlStatus try_sets(PawlRub* rub, int at, int m, int blocks, const double* D, bool* found) {
  PAWL_TRY(pawl_friction_set(rub->solver, m, D, rub->own + at));
  PawlFrictionProblem problem = {.q = rub->q + at,
                                 .size = rub->size + at,
                                 .lo = rub->lo + at,
                                 .hi = rub->hi + at,
                                 .blocks = blocks,
                                 .block = rub->block};
  PawlFrictionResult result = {.lambda = rub->lambda + at,
                               .w = rub->w + at,
                               .state = rub->state + at,
                               .block_state = rub->block_state,
                               .slip = rub->slip};
  PawlStatus status = pawl_friction_solve(rub->solver, &problem, &result);
  *found = status == PAWL_OK &&
           (result.verdict == PAWL_FRICTION_SOLVED || result.verdict == PAWL_FRICTION_SEVERAL);
  return status == PAWL_ERROR_USAGE ? PAWL_OK : status;
}

// `most` sweeps, after which impulses change by less than `end` of the largest and obey the laws:
// what sweeps leave as it is need not.                                                     (F62)
static bool try_sweeps(PawlRub* rub, const PawlRubStep* step, int at, int m, int contacts,
                       const double* D, int most, double end) {
  for (int i = 0; i < m; i++) {
    rub->lambda[at + i] = step->guess[rub->row[at + i]];
  }
  PawlRubSweep sweep = {.m = m,
                        .D = D,
                        .q = rub->q + at,
                        .contacts = contacts,
                        .block = rub->each,
                        .lambda = rub->lambda + at,
                        .w = rub->w + at,
                        .most = most};
  rub->swept++;
  return pawl_rub_sweep(&sweep) <= end && pawl_rub_sweep_off(&sweep) <= PAWL_RUB_MET;
}

// Which contacts of an island carry an impulse, and where their friction sticks.
static void note_closed(const PawlRub* rub, int at, int contacts, unsigned char* closed) {
  for (int c = 0; c < contacts; c++) {
    const PawlFrictionBlock* block = &rub->each[c];
    double N = rub->lambda[at + block->normal], T = 0.0;
    for (int i = 0; i < 2 && block->tangent[i] >= 0; i++) {
      T = hypot(T, rub->lambda[at + block->tangent[i]]);
    }
    closed[rub->row[at + block->normal]] = N > 0.0;
    for (int i = 0; i < 2 && block->tangent[i] >= 0; i++) {
      closed[rub->row[at + block->tangent[i]]] = T < PAWL_RUB_STICKS * block->mu * N;
    }
  }
}

static PawlStatus solve_island(PawlStepper* s, PawlRub* rub, const PawlRubStep* step, int k,
                               const double* D, unsigned char* closed, PawlError* err) {
  int at = rub->start[k], m = rub->start[k + 1] - at, blocks;
  int contacts = ask_island(rub, step, k, &blocks);
  bool found;
  for (int i = 0; i < m; i++) {
    rub->own[at + i] = own_compliance(s, rub, step, rub->row[at + i], D[i + i * m]);
  }
  // Impulses that depend on each other stay what they are as long as they serve.
  if (try_sweeps(rub, step, at, m, contacts, D, FEW_SWEEPS, PAWL_ROWS_ROUNDING)) {
    note_closed(rub, at, contacts, closed);
    return PAWL_OK;
  }
  PawlStatus status = try_sets(rub, at, m, blocks, D, &found);
  if (status != PAWL_OK) {
    return status == PAWL_RETRY ? fail(s, rub, step, k, "numbers overflow", err)
                                : pawl_fail_memory(err);
  }
  if (!found && !try_sweeps(rub, step, at, m, contacts, D, MANY_SWEEPS, PAWL_RUB_SWEPT)) {
    return fail(
        s, rub, step, k,
        step->bare ? "no positions were found" : "no impulses within the friction were found", err);
  }
  note_closed(rub, at, contacts, closed);
  return PAWL_OK;
}

// ---- the whole ----------------------------------------------------------------------------------
static PawlStatus factor(PawlStepper* s, const PawlRubStep* step, PawlError* err) {
  if (pawl_kkt_holds(s->kkt, step->S, step->B, step->J, step->bilateral)) {
    return PAWL_OK;
  }
  s->dynamics.info.factorizations++;
  PawlStatus status = pawl_kkt_factor_and_keep(s->kkt, step->S, step->B, step->J, step->bilateral);
  return status == PAWL_RETRY
             ? pawl_dynamics_singular(&s->dynamics, step->S, step->J, step->bilateral, step->t, err)
         : status == PAWL_OK ? PAWL_OK
                             : pawl_fail_memory(err);
}

// Whether D of all islands is that of the last problem.
static bool is_held(const PawlStepper* s, PawlRub* rub) {
  int count = rub->start[rub->islands];
  bool same = rub->of_factor == pawl_kkt_info(s->kkt).current && rub->held == count &&
              memcmp(rub->held_row, rub->row, (size_t)count * sizeof(int)) == 0;
  rub->of_factor = pawl_kkt_info(s->kkt).current;
  rub->held = count;
  memcpy(rub->held_row, rub->row, (size_t)count * sizeof(int));
  return same;
}

static PawlStatus solve_islands(PawlStepper* s, PawlRub* rub, const PawlRubStep* step, double* y,
                                unsigned char* closed, PawlError* err) {
  bool held = is_held(s, rub);
  for (int from = 0, end; from < rub->islands; from = end) {
    end = batch(rub, from);
    if (end == from || rub->start[from + 1] - rub->start[from] > rub->most) {
      rub->of_factor = 0;
      return fail(s, rub, step, from, "too many contacts with friction hang together", err);
    }
    bool all = from == 0 && end == rub->islands;
    if (!held || !all) {
      find_compliances(s, rub, step, from, end, y);
      rub->of_factor = all ? rub->of_factor : 0;
    }
    const double* D = rub->D;
    for (int k = from; k < end; k++) {
      int m = rub->start[k + 1] - rub->start[k];
      PAWL_TRY(solve_island(s, rub, step, k, D, closed, err));
      D += m * m;
    }
  }
  return PAWL_OK;
}

int pawl_rub_islands_find(PawlRub* rub, const unsigned char* near) {
  int most = 0;
  find_islands(rub, near);
  for (int k = 0; k < rub->islands; k++) {
    int rows = rub->start[k + 1] - rub->start[k];
    most = rows > most ? rows : most;
  }
  return most;
}

// w without the impulses of contacts.
static void find_right_side(PawlStepper* s, PawlRub* rub, const PawlRubStep* step, const double* x,
                            double* y) {
  memcpy(rub->x, x, (size_t)s->sizes.v * sizeof(double));
  for (int i = 0; i < s->sizes.rows; i++) {
    y[i] = step->bilateral[i] ? -step->w0[i] : 0.0;
  }
  pawl_kkt_solve(s->kkt, rub->x, y);
  for (int k = 0; k < rub->start[rub->islands]; k++) {
    int row = rub->row[k];
    rub->q[k] = step->w0[row] + product(rub, step->J, row, rub->x);
    rub->size[k] = step->tolerance / PAWL_ROWS_ROUNDING * step->size[row];
  }
}

PawlStatus pawl_rub_islands_solve(PawlStepper* s, PawlRub* rub, const PawlRubStep* step, double* x,
                                  double* y, unsigned char* closed, PawlError* err) {
  PAWL_TRY(factor(s, step, err));
  find_right_side(s, rub, step, x, y);
  memcpy(closed, step->bilateral, (size_t)s->sizes.rows);
  PAWL_TRY(solve_islands(s, rub, step, y, closed, err));
  for (int i = 0; i < s->sizes.rows; i++) {
    y[i] = step->bilateral[i] ? -step->w0[i] : 0.0;
  }
  for (int k = 0; k < rub->start[rub->islands]; k++) {
    push(rub, step->B, rub->row[k], rub->lambda[k], x);
  }
  pawl_kkt_solve(s->kkt, x, y);
  for (int k = 0; k < rub->start[rub->islands]; k++) {
    y[rub->row[k]] = rub->lambda[k];
  }
  return PAWL_OK;
}

// ---- how many -----------------------------------------------------------------------------------
// mu over the critical one of a contact alone.                                              (F24)
static double beyond(const PawlFrictionBlock* block, const double* D, int m) {
  double own = D[block->normal + block->normal * m], across[2] = {0.0, 0.0};
  for (int i = 0; i < 2 && block->tangent[i] >= 0; i++) {
    across[i] = D[block->normal + block->tangent[i] * m];
  }
  return own > 0.0 ? block->mu * hypot(across[0], across[1]) / own : 0.0;
}

static PawlStatus tell_several(PawlStepper* s, PawlRub* rub, double t, int k, const double* D,
                               PawlError* err) {
  PawlText text = {0};
  double most = 1.0;
  int number, m = rub->start[k + 1] - rub->start[k], at = 0;
  const char *farthest = NULL, *before = "contact ";
  rub->told = true;
  pawl_text_printf(&text, "t = %.10g: several motions obey the laws of friction at ", t);
  for (int c = rub->island[k]; c >= 0; c = rub->next[c]) {
    const char* name = pawl_system_row_name(s->system, pawl_rub_row(rub, c), &number);
    double of = beyond(&rub->each[at++], D, m);
    pawl_text_printf(&text, "%s'%s'", before, name);
    before = ", ";
    farthest = of > most ? name : farthest;
    most = fmax(most, of);
  }
  if (farthest) {
    pawl_text_printf(&text, "; '%s' has %.6g times its critical friction (Painleve)", farthest,
                     most);
  }
  bool refuse = strcmp(s->def.painleve, "refuse") == 0;
  pawl_text_add(&text, refuse ? "" : " (later ones are not named)");
  PawlStatus status = text.failed ? PAWL_ERROR_MEMORY
                      : refuse    ? pawl_fail(err, PAWL_ERROR_RUN, "%s", text.s)
                                  : pawl_dynamics_warn(&s->dynamics, text.s);
  pawl_text_free(&text);
  return status == PAWL_ERROR_MEMORY ? pawl_fail_memory(err) : status;
}

// Island k, whose compliance is D.
static PawlStatus count_island(PawlStepper* s, PawlRub* rub, const PawlRubStep* step, int k,
                               const double* D, PawlError* err) {
  int at = rub->start[k], m = rub->start[k + 1] - at, blocks;
  (void)ask_island(rub, step, k, &blocks);
  for (int i = 0; i < m; i++) {
    rub->own[at + i] = own_compliance(s, rub, step, rub->row[at + i], D[i + i * m]);
  }
  if (blocks == 0 || rub->told || pawl_friction_set(rub->solver, m, D, rub->own + at) != PAWL_OK) {
    return PAWL_OK;
  }
  PawlFrictionProblem problem = {.q = rub->q + at,
                                 .size = rub->size + at,
                                 .lo = rub->lo + at,
                                 .hi = rub->hi + at,
                                 .blocks = blocks,
                                 .block = rub->block,
                                 .count = true,
                                 .rest = true};
  PawlFrictionResult result = {.lambda = rub->lambda + at,
                               .w = rub->w + at,
                               .state = rub->state + at,
                               .block_state = rub->block_state,
                               .slip = rub->slip};
  PawlStatus status = pawl_friction_solve(rub->solver, &problem, &result);
  bool several =
      status == PAWL_OK && (result.verdict == PAWL_FRICTION_SEVERAL || result.strays >= 0);
  return several ? tell_several(s, rub, step->t, k, D, err) : PAWL_OK;
}

PawlStatus pawl_rub_islands_count(PawlStepper* s, PawlRub* rub, const PawlRubStep* step,
                                  const double* x, double* y, PawlError* err) {
  enum { MOST = 3 * PAWL_FRICTION_FEW };  // rows
  int most = pawl_rub_islands_find(rub, step->near);
  if (most == 0 || most > MOST || most > rub->most) {
    return PAWL_OK;
  }
  PAWL_TRY(factor(s, step, err));
  find_right_side(s, rub, step, x, y);
  rub->of_factor = 0;  // D is made anew for the problem itself
  for (int from = 0, end; from < rub->islands; from = end) {
    end = batch(rub, from);
    find_compliances(s, rub, step, from, end, y);
    const double* D = rub->D;
    for (int k = from; k < end; k++) {
      int m = rub->start[k + 1] - rub->start[k];
      PAWL_TRY(count_island(s, rub, step, k, D, err));
      D += m * m;
    }
  }
  return PAWL_OK;
}
