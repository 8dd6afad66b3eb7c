// SPDX-License-Identifier: Apache-2.0
// The linear system of contacts with friction, for rub.c alone: bilateral rows hold, and each
// contact pushes against what its rows do, y_c = -C_c (J_c x + ...), so that
//
//   K x - B^T y = b,   J x = c  for bilateral rows,     K = S + sum_c B_c^T C_c J_c          (T9)
//
// with C_c a matrix of one to three rows: a contact that is hard (rub_sets.h) or between open and
// closed (rub_center.h). K couples what S couples and what touches, and nothing else.
#pragma once

#include "linalg/kkt.h"
#include "step/method.h"

enum { PAWL_RUB_ROWS = 3 };  // of a contact, at most: its own first, then its friction

typedef struct PawlRubContact {
  int normal, first, count;  // rows of the system: its own, and those of its friction
  double mu;
} PawlRubContact;

// Values of a problem: S in the order of its pattern, rows of contacts and bilateral rows.
typedef struct PawlRubValues {
  double *J, *B;            // of contact k: its rows from PAWL_RUB_ROWS first[k] on, one by one
  double *J_held, *B_held;  // in the order of PawlRubMatrix.G
  const double* S;
} PawlRubValues;

typedef struct PawlRubMatrix {
  PawlKkt* kkt;  // NULL: contacts touch too many velocities each for K to be made
  int n, count, bilateral, entries_H;
  const PawlRubContact* contact;
  int *first, *column;  // velocities of contact k: from first[k] on
  int *entry, *at;      // entries of G in contacts -> places in J and B; how many: `entries`
  int entries;
  PawlRubValues exact, coarse;  // coarse ones where factors are dear: else they are the exact ones
  bool rounds;
  const PawlRubValues* factored;  // those of the factors in use
  double *room_S, *most;          // room for these
  int* exponent;
  int* held_entry;  // entries of G in bilateral rows; how many: `held_count`
  int held_count;
  PawlPattern G, K;
  double* values;
  int *place_H, *pair_start, *pair;  // in K: of the entries of S; of contacts, velocity by velocity
  int* diagonal;                     // n: S_jj among the entries of S, or -1
  const PawlPattern* H;
  const unsigned char* active;
  long long factorizations;
} PawlRubMatrix;

PAWL_CHECKED PawlStatus pawl_rub_matrix_create(PawlStepper* s, int count,
                                               const PawlRubContact* contact, PawlRubMatrix* p,
                                               PawlError* err);
void pawl_rub_matrix_destroy(PawlRubMatrix* p);
// The values of a problem in the order of the system's patterns; S and `active` (rows: bilateral
// ones that hold) are kept as they are.
void pawl_rub_matrix_set(PawlRubMatrix* p, const double* S, const double* B, const double* J,
                         const unsigned char* active);
// Factors (T9) of these values, p->exact or p->coarse, for the `count` contacts in `list`; C: 9
// numbers a contact of the system, by rows. Coarse values are those of an earlier step as long as
// nothing moves, and then nothing is to be done. False: singular.
bool pawl_rub_matrix_factor(PawlRubMatrix* p, const PawlRubValues* values, int count,
                            const int* list, const double* C);
// x (n) holds b and receives x, y (bilateral rows) c and y.
void pawl_rub_matrix_solve(PawlRubMatrix* p, double* x, double* y);
// u = J_c x  and  x += B_c^T u, of one contact; u: PAWL_RUB_ROWS. `terms` (n, may be NULL): their
// sizes are added.
void pawl_rub_matrix_rates(const PawlRubMatrix* p, const PawlRubValues* values, int contact,
                           const double* x, double* u);
void pawl_rub_matrix_push(const PawlRubMatrix* p, const PawlRubValues* values, int contact,
                          const double* u, double* x, double* terms);
// b -= S x, and B^T y of bilateral rows added.
void pawl_rub_matrix_rest(const PawlRubMatrix* p, const double* x, const double* y, double* b);
// How large the terms of row j of that are, but for contacts and for S beside its diagonal.
double pawl_rub_matrix_terms(const PawlRubMatrix* p, int j, const double* x, const double* y);
// Whether two contacts are one that is stated twice, as a corner on a corner: the rows J of their
// gaps are the same but for rounding, and then the same to the bit, and so are B where they are
// alike. Both have the same velocities.                                                    (T34)
bool pawl_rub_matrix_unite(const PawlRubMatrix* p, int contact, int with);
// How easily row i of a contact moves by itself: by the masses of its velocities alone (coarse).
double pawl_rub_matrix_own(const PawlRubMatrix* p, int contact, int i);

// ---- one problem --------------------------------------------------------------------------------

// (T6) over the contacts in `list`; of contacts, arrays have PAWL_RUB_ROWS a contact of the system.
typedef struct PawlRubProblem {
  PawlRubMatrix* matrix;
  int count, *list;
  const double* r;            // n
  const double* hold;         // bilateral rows: what J x must be
  double *w0, *size;          // of contacts
  const unsigned char* kept;  // of each contact: solved for in this step already
  double* own;                // of contacts: pawl_rub_matrix_own, and never 0
  double tolerance;           // of `size`: what counts as nothing
  bool again;          // begun with the solution of an iteration before: it may solve this one, too
  double soft;         // rows yield by this part of their compliance about `near`; 0: not   (F38)
  const double* near;  // of contacts
} PawlRubProblem;
