// SPDX-License-Identifier: Apache-2.0
// One correction of U or W (docs/theory/nsga.md): M U = B^T nu, M W = B^T Lambda.
#include <string.h>

#include "base/copy.h"
#include "step/ga_loops.h"
#include "step/nsga.h"

// Numbers that may be those of another step, or of another evaluation in it, are compared with what
// is kept.
static PawlStatus factor_anew(PawlStepper* s, const PawlNsga* d, const double* M,
                              const unsigned char* set) {
  const double* G = pawl_eval_values(d->eval)->G;
  bool again = s->dynamics.steady || d->decoupled;
  if (again && pawl_kkt_holds(s->kkt, M, d->B, G, set)) {
    return PAWL_OK;
  }
  s->dynamics.info.factorizations++;
  if (again) {
    return pawl_kkt_factor_and_keep(s->kkt, M, d->B, G, set);
  }
  PAWL_TRY(pawl_kkt_factor(s->kkt, M, d->B, G, set));
  pawl_kkt_name(s->kkt);
  return PAWL_OK;
}

// Factors [M -B^T; G 0] over `set`, unless the last factorisation was of the same numbers, as that
// of the other correction of an iteration is, or its factors serve as well.                 (A24)
static PawlStatus factor(PawlStepper* s, PawlNsga* d, const double* M, const unsigned char* set) {
  if ((d->held_now || (d->ga.holding && !d->decoupled)) &&
      pawl_kkt_is_still(s->kkt, d->held, set)) {
    return PAWL_OK;
  }
  d->held_now = false;
  PAWL_TRY(factor_anew(s, d, M, set));
  d->held = pawl_kkt_current(s->kkt);
  d->held_now = !d->decoupled;
  return PAWL_OK;
}

static bool all_zero(int n, const double* x) {
  for (int j = 0; j < n; j++) {
    if (x[j] != 0.0) {
      return false;
    }
  }
  return true;
}

static bool no_row(int m, const unsigned char* set) {
  return m == 0 || !memchr(set, 1, (size_t)m);
}

// ---- in parts -----------------------------------------------------------------------------------
// A contact of a long bar moves few of its coordinates by U and W. These and their corrections are
// 0 outside of the parts that `moved` names.
static bool is_zero_part(const double* x, PawlPart part) {
  return all_zero(part.end - part.first, x + part.first);
}

void pawl_nsga_clear_corrections(const PawlStepper* s, PawlNsga* d) {
  double* of[] = {d->U, d->W, d->du, d->dU, d->dW};
  if (d->ga.columns) {
    pawl_nsga_apart_clear(d);
    pawl_nsga_note_moved(s, d, 0);
    return;
  }
  d->ga.columns = d->apart.column;
  if (!d->ga.moved) {  // the others are set as a whole, but where they may be left so
    memset(d->U, 0, (size_t)s->sizes.v * sizeof(double));
    memset(d->W, 0, (size_t)s->sizes.v * sizeof(double));
    for (int k = 2; d->apart.column && k < 5; k++) {
      pawl_copy_zeros(s->sizes.v, of[k]);
    }
    return;
  }
  for (int p = 0; p < pawl_pool_parts(s->sizes.v, PAWL_GA_PART); p++) {
    PawlPart part = pawl_ga_part_of(s, p);
    for (int k = 0; k < 5 && d->ga.moved[p]; k++) {
      pawl_copy_zeros(part.end - part.first, of[k] + part.first);
    }
  }
  pawl_nsga_note_moved(s, d, 0);
}

void pawl_nsga_note_moved(const PawlStepper* s, PawlNsga* d, int everywhere) {
  if (d->ga.moved) {
    memset(d->ga.moved, everywhere, (size_t)pawl_pool_parts(s->sizes.v, PAWL_GA_PART));
  }
}

// du = -M x over the columns of the parts.
static void subtract_inertia(const PawlStepper* s, PawlNsga* d, const double* M, const double* x) {
  const PawlPattern* H = &s->H;
  for (int j = 0; j < s->sizes.v; j++) {
    if (!d->ga.moved[j / PAWL_GA_PART]) {
      j += PAWL_GA_PART - 1 - j % PAWL_GA_PART;
      continue;
    }
    double scaled = -x[j];
    for (int k = H->start[j]; scaled != 0.0 && k < H->start[j + 1]; k++) {
      double term = M[k] * scaled;
      d->du[H->index[k]] += term;
      d->ga.moved[H->index[k] / PAWL_GA_PART] |= term != 0.0;
    }
  }
}

PAWL_APART static bool is_nothing(const PawlStepper* s, const PawlNsga* d, const double* x) {
  bool zero = true;
  for (int p = 0; zero && p < pawl_pool_parts(s->sizes.v, PAWL_GA_PART); p++) {
    zero = !d->ga.moved[p] || is_zero_part(x, pawl_ga_part_of(s, p));
  }
  return zero;
}

// The right side of a correction without a force; false: there is nothing to correct by it.
PAWL_APART static bool parts_balance(const PawlStepper* s, PawlNsga* d, const double* M,
                                     const double* x, const double* y) {
  const PawlPattern* G = &s->G;
  for (int p = 0; p < pawl_pool_parts(s->sizes.v, PAWL_GA_PART); p++) {
    PawlPart part = pawl_ga_part_of(s, p);
    d->ga.moved[p] |= G->start[part.end] > G->start[part.first];
    if (d->ga.moved[p]) {
      pawl_copy_zeros(part.end - part.first, d->du + part.first);
    }
  }
  subtract_inertia(s, d, M, x);
  pawl_sparse_line_add_transposed(&s->dynamics.by_G, d->B, 1.0, y, d->du);
  return !is_nothing(s, d, d->du);
}

PAWL_APART static void parts_add(const PawlStepper* s, PawlNsga* d, double* x) {
  for (int p = 0; p < pawl_pool_parts(s->sizes.v, PAWL_GA_PART); p++) {
    PawlPart part = pawl_ga_part_of(s, p);
    d->ga.moved[p] = d->ga.moved[p] || !is_zero_part(d->du, part);
    for (int j = part.first; d->ga.moved[p] && j < part.end; j++) {
      x[j] += d->du[j];
    }
  }
}

// ---- a correction -------------------------------------------------------------------------------
// -(M x - B^T y - force) in du; false: it is 0.
PAWL_INLINE bool correction_balance(PawlStepper* s, PawlNsga* d, const double* M,
                                    const double* force, const double* x, const double* y) {
  int n = s->sizes.v;
  if (d->ga.moved && !force) {
    return parts_balance(s, d, M, x, y);
  }
  if (d->ga.moved) {
    pawl_nsga_note_moved(s, d, 1);
  }
  if (force) {
    pawl_copy(n, force, d->du);
  } else {
    pawl_copy_zeros(n, d->du);
    if (d->ga.still || (x == d->W && d->W_still)) {
      return false;  // x and y are 0: rows are all that there is
    }
  }
  pawl_sparse_line_add(&s->dynamics.by_H, M, -1.0, x, d->du);
  pawl_sparse_line_add_transposed(&s->dynamics.by_G, d->B, 1.0, y, d->du);
  return !all_zero(n, d->du);
}

PAWL_INLINE void add_correction(const PawlStepper* s, PawlNsga* d, double* x) {
  if (d->ga.moved) {
    parts_add(s, d, x);
    return;
  }
  for (int j = 0; j < s->sizes.v; j++) {
    x[j] += d->du[j];
  }
}

// Solves [M -B^T; G 0] [dx; dy] = -[M x - B^T y - force; c] over the rows of `set`; adds dx and dy.
PawlStatus pawl_nsga_correct(PawlStepper* s, PawlNsga* d, double t, const double* M,
                             const double* force, const unsigned char* set, double* x, double* y,
                             const double* c, PawlError* err) {
  const PawlValues* values = pawl_eval_values(d->eval);
  int m = s->sizes.rows;
  if (d->apart.column && !force && pawl_nsga_apart_correct(s, d, set, x, y, c)) {
    return PAWL_OK;
  }
  d->ga.columns = force ? NULL : d->ga.columns;  // it moves others, too
  d->corrected = false;
  if (!force && no_row(m, set) &&
      (d->ga.still || (d->ga.moved ? is_nothing(s, d, x) : all_zero(s->sizes.v, x)))) {
    memset(y, 0, (size_t)m * sizeof(double));
    return PAWL_OK;
  }
  for (int i = 0; i < m; i++) {
    y[i] = set[i] ? y[i] : 0.0;
    d->dnu[i] = set[i] ? -c[i] : 0.0;
  }
  if (!correction_balance(s, d, M, force, x, y) && all_zero(m, d->dnu)) {
    return PAWL_OK;  // already solved
  }
  d->corrected = true;
  d->ga.still = false;
  d->W_still = d->W_still && x != d->W;
  d->ga.placed = d->ga.placed && d->ga.moved;
  bool singular = pawl_dynamics_expects(&s->dynamics, set);
  PawlStatus status = singular ? PAWL_RETRY : factor(s, d, M, set);
  if (status == PAWL_RETRY) {  // perhaps contacts that depend on each other
    d->held = -1;
    d->held_now = false;
    pawl_nsga_note_moved(s, d, 1);
    PAWL_TRY(
        pawl_dynamics_solve(&s->dynamics, values, M, d->B, values->G, set, t, d->du, d->dnu, err));
  } else if (status != PAWL_OK) {
    return pawl_fail_memory(err);
  } else {
    pawl_kkt_solve(s->kkt, d->du, d->dnu);
  }
  add_correction(s, d, x);
  for (int i = 0; i < m; i++) {
    y[i] += d->dnu[i];
  }
  return PAWL_OK;
}
