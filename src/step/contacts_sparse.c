// SPDX-License-Identifier: Apache-2.0
// Many contacts: w(z) = opening + D (z - push) is asked of the sparse system of all rows,
//
//   S x - B^T z = -B^T push,    w = J x + opening,    0 <= z _|_ w >= 0                   (N27)
//
// with the bilateral rows held at J x = 0. The cost is that of a few sparse factorisations.
#include "step/contacts_sparse.h"

#include <math.h>
#include <string.h>

PawlStatus pawl_contacts_sparse_create(PawlStepper* s, PawlContactsSparse* p, PawlError* err) {
  double** of_rows[] = {&p->b, &p->lo, &p->hi, &p->z, &p->w};
  for (size_t k = 0; k < sizeof of_rows / sizeof *of_rows; k++) {
    *of_rows[k] = PAWL_NEW(&s->arena, double, s->sizes.rows);
  }
  p->S = PAWL_NEW(&s->arena, double, s->nonzeros_H);
  p->B = PAWL_NEW(&s->arena, double, s->G.start[s->sizes.v]);
  p->J = PAWL_NEW(&s->arena, double, s->G.start[s->sizes.v]);
  p->r = PAWL_NEW(&s->arena, double, s->sizes.v);
  p->x = PAWL_NEW(&s->arena, double, s->sizes.v);
  p->state = PAWL_NEW(&s->arena, unsigned char, s->sizes.rows);
  p->held = PAWL_NEW(&s->arena, unsigned char, s->sizes.rows);
  if (s->arena.failed) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_rows_create(&s->H, &s->G, PAWL_ROWS_SPARSE, &p->rows, err));
  s->rows = p->rows;
  return PAWL_OK;
}

void pawl_contacts_sparse_destroy(PawlContactsSparse* p) {
  pawl_rows_destroy(p->rows);
}

// Copies what differs; whether anything did.
static bool take(size_t bytes, double* to, const double* from) {
  bool differs = memcmp(to, from, bytes) != 0;
  if (differs) {
    memcpy(to, from, bytes);
  }
  return differs;
}

PawlStatus pawl_contacts_sparse_set(const PawlStepper* s, PawlContactsSparse* p, const double* S,
                                    const double* B, const double* J,
                                    const unsigned char* bilateral) {
  size_t of_G = (size_t)s->G.start[s->sizes.v] * sizeof(double);
  bool differs = take((size_t)s->nonzeros_H * sizeof(double), p->S, S);
  differs |= take(of_G, p->B, B);
  differs |= take(of_G, p->J, J);
  memcpy(p->held, bilateral, (size_t)s->sizes.rows);
  PawlStatus status =
      differs || !p->known ? pawl_rows_matrices(p->rows, p->S, p->B, p->J) : PAWL_OK;
  p->known = status == PAWL_OK;
  return status;
}

static void ask_rows(const PawlStepper* s, PawlContactsSparse* p, const PawlContactsAsk* ask) {
  size_t rows = (size_t)s->sizes.rows * sizeof(double);
  memset(p->b, 0, rows);
  memset(p->z, 0, rows);
  for (int i = 0; i < s->sizes.rows; i++) {
    PawlRowOf kind = p->held[i] ? PAWL_ROW_OF_EQUATION : PAWL_ROW_OF_LET_GO;
    pawl_row_bounds(kind, INFINITY, &p->lo[i], &p->hi[i]);
    p->state[i] = p->held[i] ? PAWL_ROW_FREE : PAWL_ROW_LOW;
  }
  for (int k = 0; k < ask->count; k++) {
    int i = ask->row[k];
    double slack = ask->slack[k];
    bool none = fabs(ask->opening[i]) <= slack, weak = fabs(ask->push[i]) * ask->own[k] <= slack;
    p->b[i] = none ? 0.0 : ask->opening[i];
    p->z[i] = none && weak ? 0.0 : -ask->push[i];
    p->hi[i] = ask->hi[k];
    p->state[i] = none && ask->hi[k] > 0.0 ? PAWL_ROW_FREE : ask->state[k];  // ties closed
  }
  memset(p->r, 0, (size_t)s->sizes.v * sizeof(double));
  pawl_sparse_add_transposed(&s->G, p->B, 1.0, p->z, p->r);
}

bool pawl_contacts_sparse_solve(const PawlStepper* s, PawlContactsSparse* p,
                                const PawlContactsAsk* ask, bool independent, bool* dependent) {
  PawlRowBounds bounds = {.lo = p->lo, .hi = p->hi, .independent = independent};
  PawlRowsResult result = {.lambda = p->z, .w = p->w, .state = p->state};
  ask_rows(s, p, ask);
  bool solved = pawl_rows_solve(p->rows, p->r, p->b, &bounds, p->x, &result) == PAWL_OK &&
                result.conflicts == 0;
  *dependent = result.dependent;
  if (*dependent) {
    return false;
  }
  for (int k = 0; k < ask->count; k++) {
    ask->z[k] = p->z[ask->row[k]];
    ask->w[k] = p->w[ask->row[k]];
    ask->state[k] = p->state[ask->row[k]];
  }
  return solved;
}
