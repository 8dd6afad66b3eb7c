// SPDX-License-Identifier: Apache-2.0
// Rows of the dense KKT system with one entry, as locks on a coordinate have them: they say what
// that coordinate is, so that neither it nor the row's multiplier takes part in the elimination
// (docs/theory/kkt.md, section 6, (K13)).
#include "linalg/kkt_pins.h"

#include <math.h>
#include <string.h>

#include "linalg/kkt_impl.h"
#include "linalg/lu_small.h"

#define LARGEST_UNROLLED 8  // sizes with a substitution of their own

PawlStatus pawl_kkt_pins_create(PawlKkt* kkt) {
  PawlArena* arena = &kkt->arena;
  PawlKktPins* p = PAWL_NEW(arena, PawlKktPins, 1);
  if (!p) {
    return PAWL_ERROR_MEMORY;
  }
  size_t size = (size_t)kkt->size;
  p->pins = PAWL_NEW(arena, PawlKktPin, (size_t)kkt->n + 1);
  p->of = PAWL_NEW(arena, int, size);
  p->at = PAWL_NEW(arena, int, size);
  p->unknown = PAWL_NEW(arena, int, size);
  p->terms =
      PAWL_NEW(arena, PawlKktTerm, 2 * ((size_t)kkt->block_S.count + (size_t)kkt->block_J.count));
  p->u = PAWL_NEW(arena, double, size);
  p->R = PAWL_NEW(arena, double, size);
  p->C = PAWL_NEW(arena, double, size);
  p->t = PAWL_NEW(arena, double, size);
  kkt->pins = p;
  return arena->failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}

// ---- which rows pin -----------------------------------------------------------------------------
// The first active row of one entry for each coordinate; all unknowns are coordinates, then active
// rows. In small matrices of methods with tangents rows of contacts take turns in each step, and a
// layout costs more than it saves.
void pawl_kkt_pins_find(PawlKkt* kkt) {
  PawlKktPins* p = kkt->pins;
  int n = kkt->n, size = n + kkt->active_count;
  bool pays = kkt->mass_only || size > LARGEST_UNROLLED;
  kkt->pin_count = 0;
  for (int k = 0; k < size; k++) {
    p->of[k] = -1;
  }
  for (int a = 0; a < kkt->active_count && pays; a++) {
    int i = kkt->active[a], e = kkt->row_start[i];
    int entry = kkt->row_start[i + 1] == e + 1 ? kkt->row_entry[e] : -1;
    int j = entry < 0 ? -1 : kkt->block_J.col[entry];
    if (j >= 0 && p->of[j] < 0) {
      p->of[j] = p->of[n + a] = kkt->pin_count;
      p->pins[kkt->pin_count++] = (PawlKktPin){.j = j, .a = a, .entry = entry};
    }
  }
  p->on = p->on && kkt->pin_count > 0;
}

static bool are_large(const PawlKkt* kkt, const double* B, const double* J) {
  const PawlKktPins* p = kkt->pins;
  bool large = true;
  for (int k = 0; k < kkt->pin_count; k++) {
    int e = p->pins[k].entry;
    large = large && fabs(J[e] * kkt->block_J.factor[e]) >= PAWL_KKT_LEAST_PIN &&
            fabs(B[e] * kkt->block_B.factor[e]) >= PAWL_KKT_LEAST_PIN;
  }
  return large;
}

// ---- where entries go ---------------------------------------------------------------------------
static int order_unknowns(PawlKkt* kkt) {
  PawlKktPins* p = kkt->pins;
  int size = 0, all = kkt->n + kkt->active_count;
  for (int k = 0; k < all; k++) {
    if (p->of[k] < 0) {
      p->at[k] = size;
      p->unknown[size++] = k;
    }
    int i = k < kkt->n ? k : kkt->n + kkt->active[k - kkt->n];
    p->R[k] = kkt->row_scale[i];
    p->C[k] = kkt->col_scale[i];
  }
  return size;
}

// An entry in row `row` and column `col` of the unknowns, both without pins: in the matrix; else
// behind it, at `kept`.
static int place_of(const PawlKktPins* p, int size, int row, int col, int kept) {
  return p->of[row] < 0 && p->of[col] < 0 ? p->at[row] + p->at[col] * size : kept;
}

static void place_entries(PawlKkt* kkt, int size) {
  const PawlKktPins* p = kkt->pins;
  PawlKktBlock *S = &kkt->block_S, *B = &kkt->block_B, *J = &kkt->block_J;
  int n = kkt->n, behind_S = kkt->behind + B->count + J->count;
  for (int k = 0; k < S->count; k++) {
    S->place[k] = place_of(p, size, S->row[k], S->col[k], behind_S + k);
  }
  for (int a = 0; a < kkt->active_count; a++) {
    int i = kkt->active[a];
    for (int e = kkt->row_start[i]; e < kkt->row_start[i + 1]; e++) {
      int k = kkt->row_entry[e];
      B->place[k] = place_of(p, size, B->row[k], n + a, kkt->behind + k);
      J->place[k] = place_of(p, size, n + a, J->col[k], kkt->behind + B->count + k);
    }
  }
}

// Terms of column j for the equations that take part, or of row j with the other unknowns.
static int list_S(PawlKkt* kkt, const PawlKktPin* pin, bool column, int next) {
  const PawlKktPins* p = kkt->pins;
  const PawlKktBlock* S = &kkt->block_S;
  for (int k = 0; k < S->count; k++) {
    if (column && S->col[k] == pin->j && p->of[S->row[k]] < 0) {
      p->terms[next++] = (PawlKktTerm){S->place[k], p->at[S->row[k]]};
    } else if (!column && S->row[k] == pin->j) {
      p->terms[next++] = (PawlKktTerm){S->place[k], S->col[k]};
    }
  }
  return next;
}

static int list_G(PawlKkt* kkt, const PawlKktPin* pin, bool column, int next) {
  const PawlKktPins* p = kkt->pins;
  const PawlKktBlock* G = column ? &kkt->block_J : &kkt->block_B;
  for (int a = 0; a < kkt->active_count; a++) {
    int i = kkt->active[a], unknown = kkt->n + a;
    for (int e = kkt->row_start[i]; a != pin->a && e < kkt->row_start[i + 1]; e++) {
      int k = kkt->row_entry[e];
      if (kkt->block_J.col[k] == pin->j && (!column || p->of[unknown] < 0)) {
        p->terms[next++] = (PawlKktTerm){G->place[k], column ? p->at[unknown] : unknown};
      }
    }
  }
  return next;
}

void pawl_kkt_pins_fit(PawlKkt* kkt) {
  kkt->dense_size = order_unknowns(kkt);
  place_entries(kkt, kkt->dense_size);
  kkt->pins->listed = false;
}

void pawl_kkt_pins_list(PawlKkt* kkt) {
  PawlKktPins* p = kkt->pins;
  int next = 0;
  for (int k = 0; k < kkt->pin_count; k++) {
    PawlKktPin* pin = &p->pins[k];
    pin->column = next;
    next = list_G(kkt, pin, true, list_S(kkt, pin, true, next));
    pin->row = next;
    next = list_G(kkt, pin, false, list_S(kkt, pin, false, next));
  }
  p->pins[kkt->pin_count].column = next;
  p->listed = true;
}

void pawl_kkt_pins_choose(PawlKkt* kkt, const double* B, const double* J, bool allowed) {
  PawlKktPins* p = kkt->pins;
  bool on = allowed && are_large(kkt, B, J);
  kkt->kept[kkt->turn].pinned = on;
  if (on != p->on) {
    p->on = on;
    pawl_kkt_dense_fit(kkt);
  }
}

void pawl_kkt_pins_turn(PawlKkt* kkt, bool on) {
  if (kkt->pin_count > 0 && on != kkt->pins->on) {
    kkt->pins->on = on;
    pawl_kkt_dense_fit(kkt);
  }
}

void pawl_kkt_pins_invert(PawlKkt* kkt) {
  for (int k = 0; k < kkt->pin_count; k++) {
    int e = kkt->pins->pins[k].entry;
    double *J = kkt->values + kkt->block_J.place[e], *B = kkt->values + kkt->block_B.place[e];
    *J = 1.0 / *J;
    *B = 1.0 / *B;
  }
}

bool pawl_kkt_pins_are_on(const PawlKkt* kkt) {
  return kkt->pins && kkt->pins->on;
}

// ---- solution -----------------------------------------------------------------------------------
static void substitute(int size, const double* LU, double* t) {
  switch (size) {
#define SUBSTITUTE(size)             \
  case size:                         \
    pawl_lu_substitute(size, LU, t); \
    return;
    SUBSTITUTE(1)
    SUBSTITUTE(2)
    SUBSTITUTE(3)
    SUBSTITUTE(4)
    SUBSTITUTE(5)
    SUBSTITUTE(6)
    SUBSTITUTE(7)
    SUBSTITUTE(LARGEST_UNROLLED)
#undef SUBSTITUTE
    default:
      pawl_lu_substitute(size, LU, t);
  }
}

// y holds the active rows alone.
void pawl_kkt_pins_solve(PawlKkt* kkt, double* x, double* y) {
  const PawlKktPins* p = kkt->pins;
  if (!p->listed) {
    pawl_kkt_pins_list(kkt);
  }
  const double* A = kkt->values;
  double *u = p->u, *t = p->t;
  int n = kkt->n, size = kkt->dense_size, all = n + kkt->active_count;
  for (int k = 0; k < size; k++) {
    int i = p->unknown[k];
    t[k] = (i < n ? x[i] : y[i - n]) * p->R[i];
  }
  for (int k = 0; k < kkt->pin_count; k++) {
    const PawlKktPin* pin = &p->pins[k];
    double z = y[pin->a] * p->R[n + pin->a] * A[kkt->block_J.place[pin->entry]];
    u[pin->j] = z;
    for (int e = pin->column; e < pin->row; e++) {
      t[p->terms[e].unknown] -= A[p->terms[e].value] * z;
    }
  }
  substitute(size, A, t);
  for (int k = 0; k < size; k++) {
    u[p->unknown[k]] = t[k];
  }
  for (int k = kkt->pin_count - 1; k >= 0; k--) {
    const PawlKktPin* pin = &p->pins[k];
    double sum = x[pin->j] * p->R[pin->j];
    for (int e = pin->row; e < p->pins[k + 1].column; e++) {
      sum -= A[p->terms[e].value] * u[p->terms[e].unknown];
    }
    u[n + pin->a] = sum * A[kkt->block_B.place[pin->entry]];
  }
  for (int k = 0; k < all; k++) {
    *(k < n ? x + k : y + (k - n)) = u[k] * p->C[k] + 0.0;  // no negative zeros
  }
}
