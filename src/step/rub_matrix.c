// SPDX-License-Identifier: Apache-2.0
#include "step/rub_matrix.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "switch/tolerances.h"

enum { MOST_PAIRS = 1 << 24 };  // velocities of a contact by velocities of it, over all contacts

// ---- patterns -----------------------------------------------------------------------------------
// Which contact a row belongs to, or -1, and which of its rows it is.
typedef struct Rows {
  int *owner, *local;
} Rows;

static Rows find_rows(PawlStepper* s, const PawlRubMatrix* p) {
  Rows r = {PAWL_NEW(&s->arena, int, s->sizes.rows), PAWL_NEW(&s->arena, int, s->sizes.rows)};
  for (int i = 0; r.owner && i < s->sizes.rows; i++) {
    r.owner[i] = -1;
  }
  for (int k = 0; !s->arena.failed && k < p->count; k++) {
    const PawlRubContact* c = &p->contact[k];
    r.owner[c->normal] = k;
    r.local[c->normal] = 0;
    for (int i = 0; i < c->count; i++) {
      r.owner[c->first + i] = k;
      r.local[c->first + i] = 1 + i;
    }
  }
  return r;
}

// The velocities of each contact, ascending, since columns are gone through in order.
static void find_columns(const PawlStepper* s, const Rows* r, int* last, PawlRubMatrix* p) {
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < p->count; k++) {
      last[k] = -1;
    }
    for (int j = 0; j < p->n; j++) {
      for (int e = s->G.start[j]; e < s->G.start[j + 1]; e++) {
        int k = r->owner[s->G.index[e]];
        if (k < 0 || last[k] == j) {
          continue;
        }
        last[k] = j;
        if (pass == 0) {
          p->first[k + 2]++;
        } else {
          p->column[p->first[k + 1]++] = j;
        }
      }
    }
    for (int k = 0; pass == 0 && k < p->count; k++) {
      p->first[k + 2] += p->first[k + 1];
    }
  }
}

// Where the entries of G go: into contacts, or into the bilateral rows. `next`: contacts.
static void find_entries(const PawlStepper* s, const Rows* r, int* next, int* start, int* index,
                         PawlRubMatrix* p) {
  memcpy(next, p->first, (size_t)p->count * sizeof(int));
  for (int j = 0; j < p->n; j++) {
    start[j] = p->held_count;
    for (int e = s->G.start[j]; e < s->G.start[j + 1]; e++) {
      int i = s->G.index[e], k = r->owner[i];
      if (i < p->bilateral) {
        index[p->held_count] = i;
        p->held_entry[p->held_count++] = e;
      }
      if (k < 0) {
        continue;
      }
      int width = p->first[k + 1] - p->first[k];
      next[k] += p->column[next[k]] < j;
      p->entry[p->entries] = e;
      p->at[p->entries++] =
          PAWL_RUB_ROWS * p->first[k] + r->local[i] * width + next[k] - p->first[k];
    }
  }
  start[p->n] = p->held_count;
  p->G = (PawlPattern){p->bilateral, p->n, start, index};
}

// Contacts of each velocity: the velocities of each contact the other way round.
static void invert(const PawlRubMatrix* p, int* start, int* contact) {
  for (int e = 0; e < p->first[p->count]; e++) {
    start[p->column[e] + 2]++;
  }
  for (int j = 0; j < p->n; j++) {
    start[j + 2] += start[j + 1];
  }
  for (int k = 0; k < p->count; k++) {
    for (int e = p->first[k]; e < p->first[k + 1]; e++) {
      contact[start[p->column[e] + 1]++] = k;
    }
  }
}

static int ascending(const void* a, const void* b) {
  int p = *(const int*)a, q = *(const int*)b;
  return (p > q) - (p < q);
}

// Rows of column j of K: those of S, and those that share a contact with it. `mark`: n, < j.
static int column_of_K(const PawlRubMatrix* p, const int* start, const int* contact, int j,
                       int* mark, int* out) {
  int count = 0;
  for (int e = p->H->start[j]; e < p->H->start[j + 1]; e++) {
    mark[p->H->index[e]] = j;
    out[count++] = p->H->index[e];
  }
  for (int a = start[j]; a < start[j + 1]; a++) {
    for (int e = p->first[contact[a]]; e < p->first[contact[a] + 1]; e++) {
      int i = p->column[e];
      if (mark[i] != j) {
        mark[i] = j;
        out[count++] = i;
      }
    }
  }
  qsort(out, (size_t)count, sizeof(int), ascending);
  return count;
}

static bool make_K(PawlStepper* s, PawlRubMatrix* p) {
  int n = p->n;
  int *start = PAWL_NEW(&s->arena, int, n + 2), *mark = PAWL_NEW(&s->arena, int, n + 1);
  int *contact = PAWL_NEW(&s->arena, int, p->first[p->count] + 1), *index = NULL;
  int *out = PAWL_NEW(&s->arena, int, n + 1), *begin = PAWL_NEW(&s->arena, int, n + 1);
  if (s->arena.failed) {
    return false;
  }
  invert(p, start, contact);
  for (int pass = 0; pass < 2; pass++) {
    index = pass ? PAWL_NEW(&s->arena, int, begin[n] + 1) : NULL;
    memset(mark, -1, (size_t)n * sizeof(int));
    for (int j = 0; j < n && !s->arena.failed; j++) {
      int count = column_of_K(p, start, contact, j, mark, pass ? index + begin[j] : out);
      begin[j + 1] = begin[j] + count;
    }
  }
  p->K = (PawlPattern){n, n, begin, index};
  p->values = PAWL_NEW(&s->arena, double, begin[n] + 1);
  return !s->arena.failed;
}

static int find_place(const PawlPattern* K, int i, int j) {
  int low = K->start[j], high = K->start[j + 1] - 1;
  while (low < high) {
    int middle = (low + high) / 2;
    if (K->index[middle] < i) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  assert(K->index[low] == i);
  return low;
}

static void find_places(PawlRubMatrix* p) {
  int at = 0;
  for (int j = 0; j < p->n; j++) {
    p->diagonal[j] = -1;
    for (int e = p->H->start[j]; e < p->H->start[j + 1]; e++) {
      p->place_H[e] = find_place(&p->K, p->H->index[e], j);
      p->diagonal[j] = p->H->index[e] == j ? e : p->diagonal[j];
    }
  }
  for (int k = 0; k < p->count; k++) {
    p->pair_start[k] = at;
    for (int b = p->first[k]; b < p->first[k + 1]; b++) {
      for (int a = p->first[k]; a < p->first[k + 1]; a++) {
        p->pair[at++] = find_place(&p->K, p->column[a], p->column[b]);
      }
    }
  }
}

// How many pairs there are, at most MOST_PAIRS + 1.
static int count_pairs(const PawlRubMatrix* p) {
  long long pairs = 0;
  for (int k = 0; k < p->count && pairs <= MOST_PAIRS; k++) {
    long long width = p->first[k + 1] - p->first[k];
    pairs += width * width;
  }
  return pairs > MOST_PAIRS ? MOST_PAIRS + 1 : (int)pairs;
}

static void make_values(PawlStepper* s, const PawlRubMatrix* p, size_t places, PawlRubValues* v) {
  v->J = PAWL_NEW(&s->arena, double, places);
  v->B = PAWL_NEW(&s->arena, double, places);
  v->J_held = PAWL_NEW(&s->arena, double, p->held_count + 1);
  v->B_held = PAWL_NEW(&s->arena, double, p->held_count + 1);
}

static bool find_patterns(PawlStepper* s, PawlRubMatrix* p, bool* fits) {
  int entries = s->G.start[p->n];
  Rows rows = find_rows(s, p);
  int *room = PAWL_NEW(&s->arena, int, p->count + 1), *start = PAWL_NEW(&s->arena, int, p->n + 1);
  int* index = PAWL_NEW(&s->arena, int, entries + 1);
  p->first = PAWL_NEW(&s->arena, int, p->count + 2);
  p->column = PAWL_NEW(&s->arena, int, entries);
  p->entry = PAWL_NEW(&s->arena, int, entries);
  p->at = PAWL_NEW(&s->arena, int, entries);
  p->held_entry = PAWL_NEW(&s->arena, int, entries);
  p->pair_start = PAWL_NEW(&s->arena, int, p->count + 1);
  p->place_H = PAWL_NEW(&s->arena, int, p->entries_H);
  p->diagonal = PAWL_NEW(&s->arena, int, p->n);
  if (s->arena.failed) {
    return false;
  }
  find_columns(s, &rows, room, p);
  find_entries(s, &rows, room, start, index, p);
  size_t places = PAWL_RUB_ROWS * (size_t)p->first[p->count];
  int pairs = count_pairs(p);
  *fits = pairs <= MOST_PAIRS;
  make_values(s, p, places, &p->exact);
  p->pair = PAWL_NEW(&s->arena, int, *fits ? pairs : 0);
  if (s->arena.failed || (*fits && !make_K(s, p))) {
    return false;
  }
  if (*fits) {
    find_places(p);
  }
  return true;
}

// Factors of full matrices and of bands cost about as much as the few solutions that rounding asks
// for.
static PawlStatus make_coarse(PawlStepper* s, PawlRubMatrix* p, PawlError* err) {
  PawlKktSolver solver = p->kkt ? pawl_kkt_info(p->kkt).solver : PAWL_KKT_DENSE;
  p->coarse = p->exact;
  p->rounds = solver == PAWL_KKT_BLOCKS || solver == PAWL_KKT_KLU;
  if (p->rounds) {
    make_values(s, p, PAWL_RUB_ROWS * (size_t)p->first[p->count], &p->coarse);
    p->room_S = PAWL_NEW(&s->arena, double, p->entries_H + 1);
    p->exponent = PAWL_NEW(&s->arena, int, p->n);
    p->most = PAWL_NEW(&s->arena, double, p->bilateral);
  }
  return s->arena.failed ? pawl_fail_memory(err) : PAWL_OK;
}

PawlStatus pawl_rub_matrix_create(PawlStepper* s, int count, const PawlRubContact* contact,
                                  PawlRubMatrix* p, PawlError* err) {
  bool fits = false;
  p->n = s->sizes.v;
  p->count = count;
  p->contact = contact;
  p->H = &s->H;
  p->entries_H = s->nonzeros_H;
  p->bilateral = 0;
  for (int i = 0; i < s->sizes.rows; i++) {  // the rows of contacts and of friction are the last
    p->bilateral += pawl_system_row_kind(s->system, i) == PAWL_ROW_BILATERAL;
  }
  if (!find_patterns(s, p, &fits)) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(fits ? pawl_kkt_create(&p->K, &p->G, PAWL_KKT_AUTO, &p->kkt, err) : PAWL_OK);
  if (fits) {
    pawl_kkt_rough(p->kkt);  // (T11)
  }
  return make_coarse(s, p, err);
}

void pawl_rub_matrix_destroy(PawlRubMatrix* p) {
  pawl_kkt_destroy(p->kkt);
}

// ---- values -------------------------------------------------------------------------------------
// The power of two that a size belongs to. The border is no number that models like to have.
static int exponent_of(double size) {
  int e;
  frexp(size / PAWL_RUB_BORDER, &e);
  return e;
}

// x + big - big: the nearest multiple of 2^-PAWL_RUB_BITS of 2^exponent.                   (T16)
static double rounder(int exponent) {
  return ldexp(1.5, 52 - PAWL_RUB_BITS + exponent);
}

static void round_row(int count, const double* from, double* to) {
  double most = 0.0;
  for (int k = 0; k < count; k++) {
    most = fmax(most, fabs(from[k]));
  }
  double big = rounder(exponent_of(most));
  for (int k = 0; k < count; k++) {
    to[k] = (from[k] + big) - big;
  }
}

static void round_contacts(const PawlRubMatrix* p, const double* from, double* to) {
  for (int k = 0; k < p->count; k++) {
    int width = p->first[k + 1] - p->first[k];
    for (int i = 0; i <= p->contact[k].count; i++) {
      int at = PAWL_RUB_ROWS * p->first[k] + i * width;
      round_row(width, from + at, to + at);
    }
  }
}

static void round_held(const PawlRubMatrix* p, const double* from, double* to) {
  memset(p->most, 0, (size_t)p->bilateral * sizeof(double));
  for (int e = 0; e < p->held_count; e++) {
    p->most[p->G.index[e]] = fmax(p->most[p->G.index[e]], fabs(from[e]));
  }
  for (int e = 0; e < p->held_count; e++) {
    double big = rounder(exponent_of(p->most[p->G.index[e]]));
    to[e] = (from[e] + big) - big;
  }
}

// Of rows and columns alike, so that what was symmetric stays so.
static void round_S(PawlRubMatrix* p, const double* S) {
  for (int j = 0; j < p->n; j++) {
    double most = 0.0;
    for (int e = p->H->start[j]; e < p->H->start[j + 1]; e++) {
      most = fmax(most, fabs(S[e]));
    }
    p->exponent[j] = exponent_of(most);
  }
  for (int j = 0; j < p->n; j++) {
    for (int e = p->H->start[j]; e < p->H->start[j + 1]; e++) {
      double big = rounder((p->exponent[j] + p->exponent[p->H->index[e]]) / 2);
      p->room_S[e] = (S[e] + big) - big;
    }
  }
  p->coarse.S = p->room_S;
}

void pawl_rub_matrix_set(PawlRubMatrix* p, const double* S, const double* B, const double* J,
                         const unsigned char* active) {
  PawlRubValues* v = &p->exact;
  v->S = S;
  p->active = active;
  for (int k = 0; k < p->entries; k++) {
    v->J[p->at[k]] = J[p->entry[k]];
    v->B[p->at[k]] = B[p->entry[k]];
  }
  for (int k = 0; k < p->held_count; k++) {
    v->J_held[k] = J[p->held_entry[k]];
    v->B_held[k] = B[p->held_entry[k]];
  }
  if (p->rounds) {
    round_S(p, S);
    round_contacts(p, v->J, p->coarse.J);
    round_contacts(p, v->B, p->coarse.B);
    round_held(p, v->J_held, p->coarse.J_held);
    round_held(p, v->B_held, p->coarse.B_held);
  } else {
    p->coarse.S = S;
  }
}

// A row becomes that of another where it is the same but for rounding; false: it is not.
static bool unite_row(double* to, const double* with, int width) {
  double most = 0.0, off = 0.0;
  for (int a = 0; a < width; a++) {
    most = fmax(most, fabs(with[a]));
    off = fmax(off, fabs(to[a] - with[a]));
  }
  if (!(off <= PAWL_RUB_TWINS * most)) {
    return false;
  }
  memcpy(to, with, (size_t)width * sizeof(double));
  return true;
}

bool pawl_rub_matrix_unite(const PawlRubMatrix* p, int contact, int with) {
  int width = p->first[contact + 1] - p->first[contact];
  int to = PAWL_RUB_ROWS * p->first[contact], from = PAWL_RUB_ROWS * p->first[with];
  if (!unite_row(p->exact.J + to, p->exact.J + from, width)) {
    return false;
  }
  (void)unite_row(p->exact.B + to, p->exact.B + from, width);  // may be that of a mean  (N31)
  if (p->rounds) {
    round_row(width, p->exact.J + to, p->coarse.J + to);
    round_row(width, p->exact.B + to, p->coarse.B + to);
  }
  return true;
}

// K += B_c^T C_c J_c
static void add_contact(PawlRubMatrix* p, const PawlRubValues* v, int k, const double* C) {
  int width = p->first[k + 1] - p->first[k], rows = 1 + p->contact[k].count;
  const double *J = v->J + PAWL_RUB_ROWS * p->first[k], *B = v->B + PAWL_RUB_ROWS * p->first[k];
  const int* place = p->pair + p->pair_start[k];
  for (int b = 0; b < width; b++, place += width) {
    double force[PAWL_RUB_ROWS] = {0.0, 0.0, 0.0};
    for (int i = 0; i < rows; i++) {
      for (int j = 0; j < rows; j++) {
        force[i] += C[PAWL_RUB_ROWS * i + j] * J[j * width + b];
      }
    }
    for (int i = 0; i < rows; i++) {
      for (int a = 0; force[i] != 0.0 && a < width; a++) {
        p->values[place[a]] += B[i * width + a] * force[i];
      }
    }
  }
}

bool pawl_rub_matrix_factor(PawlRubMatrix* p, const PawlRubValues* values, int count,
                            const int* list, const double* C) {
  p->factored = values;
  memset(p->values, 0, (size_t)p->K.start[p->n] * sizeof(double));
  for (int e = 0; e < p->entries_H; e++) {
    p->values[p->place_H[e]] = values->S[e];
  }
  for (int k = 0; k < count; k++) {
    add_contact(p, values, list[k], C + 9 * list[k]);
  }
  if (pawl_kkt_holds(p->kkt, p->values, values->B_held, values->J_held, p->active)) {
    return true;
  }
  p->factorizations++;
  return pawl_kkt_factor_and_keep(p->kkt, p->values, values->B_held, values->J_held, p->active) ==
         PAWL_OK;
}

void pawl_rub_matrix_solve(PawlRubMatrix* p, double* x, double* y) {
  pawl_kkt_solve(p->kkt, x, y);
}

void pawl_rub_matrix_rates(const PawlRubMatrix* p, const PawlRubValues* values, int contact,
                           const double* x, double* u) {
  int from = p->first[contact], width = p->first[contact + 1] - from;
  const double* J = values->J + PAWL_RUB_ROWS * from;
  for (int i = 0; i <= p->contact[contact].count; i++) {
    u[i] = 0.0;
    for (int a = 0; a < width; a++) {
      u[i] += J[i * width + a] * x[p->column[from + a]];
    }
  }
}

void pawl_rub_matrix_push(const PawlRubMatrix* p, const PawlRubValues* values, int contact,
                          const double* u, double* x, double* terms) {
  int from = p->first[contact], width = p->first[contact + 1] - from;
  const double* B = values->B + PAWL_RUB_ROWS * from;
  for (int i = 0; i <= p->contact[contact].count; i++) {
    for (int a = 0; u[i] != 0.0 && a < width; a++) {
      double term = B[i * width + a] * u[i];
      x[p->column[from + a]] += term;
      if (terms) {
        terms[p->column[from + a]] += fabs(term);
      }
    }
  }
}

void pawl_rub_matrix_rest(const PawlRubMatrix* p, const double* x, const double* y, double* b) {
  for (int j = 0; j < p->n; j++) {
    for (int e = p->H->start[j]; e < p->H->start[j + 1]; e++) {
      b[p->H->index[e]] -= p->exact.S[e] * x[j];
    }
    for (int e = p->G.start[j]; e < p->G.start[j + 1]; e++) {
      b[j] += p->exact.B_held[e] * y[p->G.index[e]];
    }
  }
}

double pawl_rub_matrix_terms(const PawlRubMatrix* p, int j, const double* x, const double* y) {
  int e = p->diagonal[j];
  double size = e >= 0 ? fabs(p->exact.S[e] * x[j]) : 0.0;
  for (int k = p->G.start[j]; k < p->G.start[j + 1]; k++) {
    size += fabs(p->exact.B_held[k] * y[p->G.index[k]]);
  }
  return size;
}

double pawl_rub_matrix_own(const PawlRubMatrix* p, int contact, int i) {
  int from = p->first[contact], width = p->first[contact + 1] - from;
  const double* J = p->coarse.J + PAWL_RUB_ROWS * from + i * width;
  double own = 0.0;
  for (int a = 0; a < width; a++) {
    int e = p->diagonal[p->column[from + a]];
    double mass = e >= 0 ? p->coarse.S[e] : 0.0;
    own += mass > 0.0 ? J[a] * J[a] / mass : 0.0;
  }
  return own;
}
