// SPDX-License-Identifier: Apache-2.0
// Rows with bounds and dry friction, by their compliance (docs/theory/friction.md).
#include "switch/friction.h"

#include <string.h>

#include "base/alloc.h"
#include "switch/friction_impl.h"

struct PawlFriction {
  PawlArena arena;
  int most, most_blocks;
  PawlFrictionWork work;
  PawlFrictionMatrix matrix;
  PawlFrictionForces forces;
  PawlFrictionLemke lemke;
  PawlFrictionSearch search;
  PawlFrictionBranch branch;
  PawlFrictionCone cone;
  PawlFrictionCenter center;
  PawlFrictionUnique unique;
  PawlFrictionWork kept;  // the arrays of a solution, while another is looked for
  double* own;            // m: D_ii; 0: the row does not move
};

// ---- creation -----------------------------------------------------------------------------------

static bool build(PawlFriction* f, int m, int blocks) {
  PawlArena* arena = &f->arena;
  int dense = m < PAWL_FRICTION_DENSE ? m : PAWL_FRICTION_DENSE;
  f->own = PAWL_NEW(arena, double, m);
  f->most = m;
  f->most_blocks = blocks;
  f->work.matrix = &f->matrix;
  f->work.forces = &f->forces;
  f->work.soft = PAWL_FRICTION_SOFT;
  f->work.loose = PAWL_ROWS_ROUNDING;
  return pawl_friction_work_alloc(&f->work, arena, m, blocks) &&
         pawl_friction_work_alloc(&f->kept, arena, m, blocks) &&
         pawl_friction_matrix_alloc(&f->matrix, arena, m, dense) &&
         pawl_friction_forces_alloc(&f->forces, arena, m) &&
         pawl_friction_lemke_alloc(&f->lemke, arena, dense) &&
         pawl_friction_search_alloc(&f->search, arena, m, blocks) &&
         pawl_friction_branch_alloc(&f->branch, arena, m) &&
         pawl_friction_feasible_alloc(&f->search.program, arena, dense) &&
         pawl_friction_cone_alloc(&f->cone, arena, m, blocks) &&
         pawl_friction_center_alloc(&f->center, arena, m) &&
         pawl_friction_unique_alloc(&f->unique, arena, m, blocks) && !arena->failed;
}

PawlStatus pawl_friction_create(int most_rows, int most_blocks, PawlFriction** out,
                                PawlError* err) {
  PawlFriction* f = pawl_alloc(1, sizeof *f);
  *out = f;
  if (!f || !build(f, most_rows, most_blocks)) {
    pawl_friction_destroy(f);
    *out = NULL;
    return pawl_fail_memory(err);
  }
  return PAWL_OK;
}

void pawl_friction_destroy(PawlFriction* friction) {
  if (friction) {
    pawl_friction_matrix_free(&friction->matrix);
    pawl_arena_free(&friction->arena);
    pawl_free(friction);
  }
}

static PawlStatus take(PawlFriction* f, const double* own) {
  const PawlFrictionMatrix* x = &f->matrix;
  bool finite = true;
  f->work.m = x->m;
  for (int i = 0; i < x->m; i++) {
    double d = x->given[pawl_friction_matrix_place(x, i, i)];
    f->own[i] = d > (own ? PAWL_DEPENDENT_PIVOT * own[i] : 0.0) ? d : 0.0;
  }
  for (int e = 0; e < x->start[x->m]; e++) {
    finite = finite && isfinite(x->given[e]);
  }
  return finite ? PAWL_OK : PAWL_RETRY;
}

PawlStatus pawl_friction_set(PawlFriction* f, int m, const double* D, const double* own) {
  assert(m >= 0 && m <= f->most && m <= PAWL_FRICTION_DENSE);
  pawl_friction_matrix_full(&f->matrix, m, D);
  return take(f, own);
}

PawlStatus pawl_friction_set_sparse(PawlFriction* f, const PawlPattern* pattern, const double* D,
                                    const double* own) {
  assert(pattern->cols <= f->most);
  PAWL_TRY(pawl_friction_matrix_sparse(&f->matrix, pattern, D));
  return take(f, own);
}

double pawl_friction_given(const PawlFriction* f, int i, int j) {
  int place = pawl_friction_matrix_place(&f->matrix, i, j);
  return place >= 0 ? f->matrix.given[place] : 0.0;
}

// ---- the search ---------------------------------------------------------------------------------

// From the places and the forces before as they are.
static bool try_from(PawlFriction* f, PawlFrictionResult* result) {
  bool done;
  return pawl_friction_harden(&f->work, result, &done) == PAWL_OK && done &&
         !pawl_friction_gives_way(&f->work) &&
         pawl_friction_residual(&f->work) <= PAWL_FRICTION_SOLVED_TO;
}

static bool are_many(const PawlFrictionWork* k) {
  return k->blocks > PAWL_FRICTION_FEW;
}

// From the sets of convex problems, each with the shift of the rates that were found before. (F40)
static bool try_centers(PawlFriction* f, PawlFrictionResult* result) {
  enum { ROUNDS = 5 };
  PawlFrictionWork* k = &f->work;
  bool found = false, goes_on = pawl_friction_center_fits(k);
  for (int round = 0; !found && goes_on && round < ROUNDS; round++) {
    goes_on = pawl_friction_center(k, &f->center, round > 0, result);
    if (goes_on) {
      pawl_friction_center_places(k, &f->center, true);
      found = try_from(f, result);
    }
  }
  return found;
}

// By Lemke's method with one of its covering vectors.                                      (F7a)
static bool try_cover(PawlFriction* f, int cover, PawlFrictionResult* result) {
  PawlFrictionWork* k = &f->work;
  memset(k->before, 0, (size_t)k->m * sizeof(double));
  return pawl_friction_lemke(k, &f->lemke, PAWL_FRICTION_SOFT, cover, result) &&
         try_from(f, result);
}

// Vectors that are tried: an exchange costs the square of the rows.
static int covers_of(const PawlFrictionWork* k, const PawlFrictionProblem* problem) {
  enum { FEW_ROWS = 96, OF_FEW = 32, OF_FORCES = 4 };
  return k->m <= FEW_ROWS ? OF_FEW : problem->first ? OF_FORCES : 1;
}

// One way after the other. Rows that depend on each other may have forces only where they are
// rigid: the last way is without softness, from the forces that it finds itself.
static bool find(PawlFriction* f, const PawlFrictionProblem* problem, PawlFrictionResult* result) {
  PawlFrictionWork* k = &f->work;
  pawl_friction_search_from(k, &f->search);
  if (try_from(f, result)) {
    return true;
  }
  pawl_friction_hold_all(k);
  if (try_from(f, result) || (problem->rest && are_many(k) && try_centers(f, result))) {
    return true;
  }
  if (try_cover(f, 0, result)) {
    return true;
  }
  if (pawl_friction_lemke(k, &f->lemke, 0.0, 0, result) && pawl_friction_harden_set(k) &&
      try_from(f, result)) {
    return true;
  }
  bool found = false;
  for (int cover = 1; !found && are_many(k) && cover < covers_of(k, problem); cover++) {
    found = try_cover(f, cover, result);
  }
  return found;
}

// ---- what does not stray ------------------------------------------------------------------------

static bool has_cones(const PawlFrictionWork* k) {
  bool has = false;
  for (int b = 0; b < k->blocks; b++) {
    has = has || (pawl_friction_spatial(&k->block[b]) && !k->block[b].sliding);
  }
  return has;
}

// All rows hold and all blocks stick, by any forces within the bounds.                      (F33)
static bool holds_all(PawlFriction* f) {
  PawlFrictionWork* k = &f->work;
  pawl_friction_hold_all(k);
  return pawl_friction_feasible(k, &f->search.program) && !pawl_friction_drowned(k);
}

// Forces of the places that the interior point method has come to, one of many: those near the
// middle of all, where that is inside of their bounds; else any, or those that come nearer and
// nearer to their bounds.
static bool has_forces(PawlFriction* f, PawlFrictionResult* result) {
  PawlFrictionWork* k = &f->work;
  PawlFrictionCenter* c = &f->center;
  pawl_friction_center_places(k, c, false);
  if (pawl_friction_harden_near(k) && pawl_friction_residual(k) <= PAWL_FRICTION_SOLVED_TO) {
    return !pawl_friction_drowned(k);
  }
  bool polyhedral = !has_cones(k) && !f->matrix.sparse;
  if (polyhedral && pawl_friction_feasible(k, &f->search.program)) {
    return !pawl_friction_drowned(k);
  }
  bool further = pawl_friction_center_further(k, c, result);
  pawl_friction_center_places(k, c, false);
  pawl_friction_arrange(k);
  pawl_friction_values(k);
  return further && pawl_friction_residual(k) <= PAWL_FRICTION_SOLVED_TO &&
         !pawl_friction_drowned(k);
}

// More than at a border, where it has just begun.
static bool moves(const PawlFrictionWork* k) {
  bool any = false;
  for (int i = 0; i < k->m; i++) {
    any = any || (!pawl_friction_fixed(k, i) && fabs(k->w[i]) > PAWL_FRICTION_MOVES * k->size[i]);
  }
  return any;
}

// Rows with two bounds about zero, as those of brakes, from `lo` and `hi`, or with no force.
static void bound_brakes(PawlFrictionWork* k, const double* lo, const double* hi, bool none) {
  for (int i = 0; i < k->m; i++) {
    bool brake = k->owner[i] < 0 && isfinite(lo[i]) && isfinite(hi[i]) && lo[i] < 0.0;
    bool idle = none && brake && hi[i] > 0.0;
    k->lo[i] = idle ? 0.0 : lo[i];
    k->hi[i] = idle ? 0.0 : hi[i];
  }
}

// Whether the convex problem rests; near the border of a cone that shows further on only.
static bool comes_to_rest(PawlFriction* f, PawlFrictionResult* result) {
  PawlFrictionWork* k = &f->work;
  PawlFrictionCenter* c = &f->center;
  if (!pawl_friction_center_fits(k) || !pawl_friction_center(k, c, false, result)) {
    return false;
  }
  return !pawl_friction_center_slips(c) ||
         (pawl_friction_center_further(k, c, result) && !pawl_friction_center_slips(c));
}

// Rest beside brakes that carry nothing: without them the problem is convex.               (F33a)
static bool holds_without_brakes(PawlFriction* f, PawlFrictionResult* result) {
  PawlFrictionWork* k = &f->work;
  double *lo = f->kept.lo, *hi = f->kept.hi;
  memcpy(lo, k->lo, (size_t)k->m * sizeof(double));
  memcpy(hi, k->hi, (size_t)k->m * sizeof(double));
  bound_brakes(k, lo, hi, true);
  bool rests = comes_to_rest(f, result);
  bound_brakes(k, lo, hi, false);
  return rests && has_forces(f, result) && !moves(k);
}

// The solution of the convex problem, where nothing slips in it.                            (F39)
static bool holds(PawlFriction* f, PawlFrictionResult* result) {
  PawlFrictionWork* k = &f->work;
  bool fits = pawl_friction_center_fits(k);
  if (!fits || !pawl_friction_center(k, &f->center, false, result)) {
    return has_cones(k) ? !fits && holds_without_brakes(f, result) : holds_all(f);
  }
  return !pawl_friction_center_slips(&f->center) && has_forces(f, result);
}

// A block with w_N < mu |w_T|: it slips, or opens aslant.
static bool block_strays(const PawlFrictionWork* k, int b) {
  const PawlFrictionBlock* block = &k->block[b];
  int n = block->normal, t = block->tangent[0], u = block->tangent[1];
  double T = u < 0 ? fabs(k->w[t]) : hypot(k->w[t], k->w[u]), mu = k->mu[b];
  return mu * T - k->w[n] > PAWL_FRICTION_MOVES * (mu * k->size[t] + k->size[n]);
}

// The first that strays, or, where the problem is not convex, any if something moves; -1: none.
static int straying_block(const PawlFrictionWork* k) {
  bool convex = pawl_friction_center_fits(k);
  int found = -1;
  for (int b = 0; b < k->blocks; b++) {
    found = found < 0 && (convex ? block_strays(k, b) : moves(k)) ? b : found;
  }
  return found;
}

static void copy_solution(const PawlFrictionWork* from, int m, int blocks, PawlFrictionWork* to) {
  size_t numbers = (size_t)m * sizeof(double), bytes = (size_t)m;
  memcpy(to->lambda, from->lambda, numbers);
  memcpy(to->w, from->w, numbers);
  memcpy(to->size, from->size, numbers);
  memcpy(to->tie, from->tie, numbers);
  memcpy(to->before, from->before, numbers);
  memcpy(to->place, from->place, bytes);
  memcpy(to->in, from->in, bytes);
  memcpy(to->sign, from->sign, (size_t)blocks);
}

// What does not stray before all else, where it is asked for; else where nothing was found, since
// forces that are one of many may be beyond what softened rows find.                        (F39)
static bool find_still(PawlFriction* f, PawlFrictionResult* result, bool rest, bool found) {
  PawlFrictionWork* k = &f->work;
  int strays = found && rest ? straying_block(k) : -1;
  if (found && strays < 0) {
    return true;
  }
  copy_solution(k, k->m, k->blocks, &f->kept);
  if (rest ? holds(f, result) : !has_cones(k) && holds_all(f)) {
    result->strays = strays;
    return true;
  }
  copy_solution(&f->kept, k->m, k->blocks, k);
  return found;
}

static bool find_any(PawlFriction* f, const PawlFrictionProblem* problem,
                     PawlFrictionResult* result) {
  if (!problem->rest || !problem->first || !are_many(&f->work)) {
    return find_still(f, result, problem->rest, find(f, problem, result));
  }
  if (holds(f, result)) {
    return true;
  }
  pawl_friction_begin(&f->work, result);
  return find(f, problem, result);
}

// ---- how many -----------------------------------------------------------------------------------

// Without any force nothing is violated, while there are some: this is a motion of its own.
static bool could_part(const PawlFrictionWork* k) {
  bool parts = true, pressed = false;
  for (int i = 0; i < k->m; i++) {
    bool bounded = k->owner[i] >= 0 || (k->lo[i] == 0.0 && k->hi[i] > 0.0);
    bool opens = k->q[i] > PAWL_FRICTION_MOVES * k->size[i];
    parts = parts && bounded && (k->owner[i] >= 0 || opens);
    pressed = pressed || fabs(k->w[i] - k->q[i]) > PAWL_FRICTION_MOVES * k->size[i];
  }
  return parts && pressed;
}

// How many solutions are known. Lambda and w stay.                                          (F45)
static int count_solutions(PawlFriction* f, PawlFrictionResult* result) {
  PawlFrictionWork* k = &f->work;
  if (pawl_friction_unique(k, &f->unique)) {
    return 1;
  }
  bool parts = could_part(k);
  copy_solution(k, k->m, k->blocks, &f->kept);
  int others = pawl_friction_search_others(k, &f->search, result);
  copy_solution(&f->kept, k->m, k->blocks, k);
  return 1 + (others > 0 ? others : parts);
}

// ---- what is stable -----------------------------------------------------------------------------

static bool is_unstable(const PawlFrictionWork* k) {
  return k->least_pivot >= PAWL_FRICTION_SHARED && pawl_friction_turned_set(k);
}

// Whether two solutions are different motions.
static bool differ(const PawlFrictionWork* a, const double* w, int m) {
  bool any = false;
  for (int i = 0; i < m; i++) {
    any = any || fabs(a->w[i] - w[i]) > PAWL_FRICTION_MOVES * a->size[i];
  }
  return any;
}

// A stable solution in the place of one that is not, which then is one of several: most covering
// vectors of Lemke's method lead to such. True: they are different motions.                 (F43)
static bool take_stable(PawlFriction* f, const PawlFrictionProblem* problem,
                        PawlFrictionResult* result) {
  PawlFrictionWork* k = &f->work;
  if (!is_unstable(k)) {
    return false;
  }
  bool found = false;
  copy_solution(k, k->m, k->blocks, &f->kept);
  for (int cover = 0; !found && cover < covers_of(k, problem); cover++) {
    found = try_cover(f, cover, result) && !is_unstable(k);
  }
  if (!found) {
    copy_solution(&f->kept, k->m, k->blocks, k);
  }
  return found && differ(k, f->kept.w, k->m);
}

static PawlFrictionVerdict decide(PawlFriction* f, const PawlFrictionProblem* problem,
                                  PawlFrictionResult* result) {
  bool found = find_any(f, problem, result);
  result->solutions = found;
  if ((!found || problem->all) && pawl_friction_search(&f->work, &f->search, result)) {
    result->solutions = f->search.known;
    result->unstable = f->search.known > 1 && f->search.any_turned;
    found = f->search.known > 0 && pawl_friction_residual(&f->work) <= PAWL_FRICTION_SOLVED_TO;
    if (!found) {
      return f->search.known == 0 ? PAWL_FRICTION_NONE : PAWL_FRICTION_NOT_CONVERGED;
    }
  } else if (!found && problem->halves) {
    bool known = pawl_friction_branch(&f->work, &f->branch, &f->search.program, result, &found);
    result->solutions = found;
    if (!found) {
      return known ? PAWL_FRICTION_NONE : PAWL_FRICTION_NOT_CONVERGED;
    }
  } else if (found) {
    result->unstable = take_stable(f, problem, result);
    result->solutions = result->unstable ? 2 : problem->count ? count_solutions(f, result) : 1;
  }
  return !found                  ? PAWL_FRICTION_NOT_CONVERGED
         : result->solutions > 1 ? PAWL_FRICTION_SEVERAL
                                 : PAWL_FRICTION_SOLVED;
}

static PawlFrictionVerdict by_cones(PawlFriction* f, const PawlFrictionProblem* problem,
                                    PawlFrictionResult* result) {
  bool found = pawl_friction_cone(&f->work, &f->cone, result);
  found = found && pawl_friction_residual(&f->work) <= PAWL_FRICTION_SOLVED_TO;
  found = find_still(f, result, problem->rest, found);
  result->solutions = found + (found && problem->count && could_part(&f->work));
  return !found                  ? PAWL_FRICTION_NOT_CONVERGED
         : result->solutions > 1 ? PAWL_FRICTION_SEVERAL
                                 : PAWL_FRICTION_SOLVED;
}

PawlStatus pawl_friction_solve(PawlFriction* f, const PawlFrictionProblem* problem,
                               PawlFrictionResult* result) {
  PawlFrictionWork* k = &f->work;
  assert(problem->blocks <= f->most_blocks);
  if (!pawl_friction_frame(k, problem, f->own)) {
    return PAWL_RETRY;
  }
  pawl_friction_matrix_scale(&f->matrix, f->own, k->s);
  pawl_friction_begin(k, result);
  result->strays = -1;
  result->unstable = false;
  result->verdict = has_cones(k) ? by_cones(f, problem, result) : decide(f, problem, result);
  pawl_friction_show(k, result);
  return PAWL_OK;
}
