// SPDX-License-Identifier: Apache-2.0
// Columns and pyramids of discs (radius 1/2, mass 1) with friction by the sparse form. One step of
// time stepping: x are velocities after it, M x - G^T lambda = M v + h f.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "check.h"
#include "switch/friction.h"

typedef struct Pile {
  int discs, blocks, n, m;
  PawlFrictionBlock* block;
  PawlPattern H, G;
  int *start_H, *index_H, *start_G, *index_G;
  double *values_H, *values_G;
  double *r, *b, *lo, *hi;
} Pile;

typedef struct Contact {
  int a, b;     // discs; a = -1: the floor
  double n[2];  // from a to b
} Contact;

static int compare_entries(const void* a, const void* b) {
  const double *p = a, *q = b;
  return p[0] != q[0] ? (p[0] > q[0]) - (p[0] < q[0]) : (p[1] > q[1]) - (p[1] < q[1]);
}

// G by columns from triples (column, row, value).
static void make_rows(Pile* p, const Contact* contact, double mu) {
  double* triple = malloc(sizeof(double) * 3 * 12 * (size_t)p->blocks);
  int count = 0;
  for (int k = 0; k < p->blocks; k++) {
    const Contact* c = &contact[k];
    double t[2] = {c->n[1], -c->n[0]};
    p->block[k] = (PawlFrictionBlock){.normal = 2 * k, .tangent = {2 * k + 1, -1}, .mu = mu};
    p->lo[2 * k] = 0.0;
    p->hi[2 * k] = INFINITY;
    for (int side = 0; side < 2; side++) {
      int disc = side ? c->b : c->a;
      double sign = side ? 1.0 : -1.0;
      for (int j = 0; disc >= 0 && j < 2; j++) {
        double normal[] = {3 * disc + j, 2 * k, sign * c->n[j]};
        double tangent[] = {3 * disc + j, 2 * k + 1, sign * t[j]};
        memcpy(triple + 3 * count++, normal, sizeof normal);
        memcpy(triple + 3 * count++, tangent, sizeof tangent);
      }
      double turn[] = {3 * disc + 2, 2 * k + 1, 0.5};  // both surfaces move by R omega
      if (disc >= 0) {
        memcpy(triple + 3 * count++, turn, sizeof turn);
      }
    }
  }
  qsort(triple, (size_t)count, 3 * sizeof(double), compare_entries);
  p->index_G = calloc((size_t)count, sizeof(int));
  p->values_G = calloc((size_t)count, sizeof(double));
  for (int e = 0; e < count; e++) {
    p->start_G[(int)triple[3 * e] + 1]++;
    p->index_G[e] = (int)triple[3 * e + 1];
    p->values_G[e] = triple[3 * e + 2];
  }
  for (int j = 0; j < p->n; j++) {
    p->start_G[j + 1] += p->start_G[j];
  }
  p->G = (PawlPattern){p->m, p->n, p->start_G, p->index_G};
  free(triple);
}

static Pile make_pile(int discs, int blocks, const Contact* contact, double mu) {
  static const double STEP = 1e-3, WEIGHT = 9.81;
  Pile p = {.discs = discs, .blocks = blocks, .n = 3 * discs, .m = 2 * blocks};
  size_t n = (size_t)p.n, m = (size_t)p.m;
  p.block = calloc((size_t)blocks, sizeof *p.block);
  p.start_H = calloc(n + 1, sizeof(int));
  p.index_H = calloc(n, sizeof(int));
  p.start_G = calloc(n + 1, sizeof(int));
  p.values_H = calloc(n, sizeof(double));
  p.r = calloc(n, sizeof(double));
  p.b = calloc(m, sizeof(double));
  p.lo = calloc(m, sizeof(double));
  p.hi = calloc(m, sizeof(double));
  for (int j = 0; j < p.n; j++) {
    p.start_H[j + 1] = j + 1;
    p.index_H[j] = j;
    p.values_H[j] = j % 3 == 2 ? 0.125 : 1.0;
    p.r[j] = j % 3 == 1 ? -STEP * WEIGHT : 0.0;
  }
  p.H = (PawlPattern){p.n, p.n, p.start_H, p.index_H};
  make_rows(&p, contact, mu);
  return p;
}

static void free_pile(Pile* p) {
  void* all[] = {p->block,    p->start_H, p->index_H, p->start_G, p->index_G, p->values_H,
                 p->values_G, p->r,       p->b,       p->lo,      p->hi};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    free(all[k]);
  }
}

static Pile column(int discs, double mu) {
  Contact* contact = calloc((size_t)discs, sizeof *contact);
  for (int k = 0; k < discs; k++) {
    contact[k] = (Contact){k - 1, k, {0.0, 1.0}};
  }
  Pile p = make_pile(discs, discs, contact, mu);
  free(contact);
  return p;
}

static int disc_of(int base, int level, int k) {
  return level * base - level * (level - 1) / 2 + k;
}

// Pyramids side by side: `base` discs on the floor, one fewer in every level above. Neighbours of a
// level may touch.
static Pile pyramids(int copies, int base, bool touching, double mu) {
  int discs = base * (base + 1) / 2, count = 0;
  Contact* contact = calloc((size_t)(4 * discs * copies), sizeof *contact);
  double half = 0.5, high = sqrt(0.75);
  for (int first = 0; first < copies * discs; first += discs) {
    for (int level = 0; level < base; level++) {
      for (int k = 0; k < base - level; k++) {
        int disc = first + disc_of(base, level, k);
        if (level == 0) {
          contact[count++] = (Contact){-1, disc, {0.0, 1.0}};
        } else {
          int below = first + disc_of(base, level - 1, k);
          contact[count++] = (Contact){below, disc, {half, high}};
          contact[count++] = (Contact){below + 1, disc, {-half, high}};
        }
        if (k > 0 && touching) {
          contact[count++] = (Contact){disc - 1, disc, {1.0, 0.0}};
        }
      }
    }
  }
  Pile p = make_pile(copies * discs, count, contact, mu);
  free(contact);
  return p;
}

// ---- solutions ----------------------------------------------------------------------------------

typedef struct Answer {
  double *x, *lambda, *w, *slip;
  unsigned char *state, *block_state;
  PawlFrictionResult info;
} Answer;

static Answer make_answer(const Pile* p) {
  Answer a = {.x = calloc((size_t)p->n, sizeof(double)),
              .lambda = calloc((size_t)p->m, sizeof(double)),
              .w = calloc((size_t)p->m, sizeof(double)),
              .slip = calloc((size_t)p->m, sizeof(double)),
              .state = calloc((size_t)p->m, 1),
              .block_state = calloc((size_t)p->m, 1)};
  a.info = (PawlFrictionResult){
      .lambda = a.lambda, .w = a.w, .state = a.state, .block_state = a.block_state, .slip = a.slip};
  return a;
}

static void free_answer(Answer* a) {
  void* all[] = {a->x, a->lambda, a->w, a->slip, a->state, a->block_state};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    free(all[k]);
  }
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static PawlFrictionRows* make_solver(const Pile* p) {
  PawlFrictionRows* f;
  assert_int_equal(pawl_friction_rows_create(&p->H, &p->G, p->blocks, p->block, &f, NULL), PAWL_OK);
  return f;
}

static void solve(PawlFrictionRows* f, const Pile* p, const double* near, Answer* a) {
  PawlFrictionProblem problem = {
      .lo = p->lo, .hi = p->hi, .blocks = p->blocks, .block = p->block, .near = near};
  assert_int_equal(pawl_friction_rows_matrices(f, p->values_H, p->values_G), PAWL_OK);
  assert_int_equal(pawl_friction_rows_solve(f, p->r, p->b, &problem, a->x, &a->info), PAWL_OK);
}

// (F1), (F2), recomputed: largest departure, of the largest force or rate. All D_ii are near 2.
static double off(const Pile* p, const Answer* a) {
  double *w = calloc((size_t)p->m, sizeof(double)), worst = 0.0, size = 0.0;
  for (int j = 0; j < p->n; j++) {
    double left = p->values_H[j] * a->x[j] - p->r[j];
    for (int e = p->start_G[j]; e < p->start_G[j + 1]; e++) {
      w[p->index_G[e]] += p->values_G[e] * a->x[j];
      left -= p->values_G[e] * a->lambda[p->index_G[e]];
    }
    worst = fmax(worst, fabs(left));
    size = fmax(size, fmax(fabs(p->r[j]), fabs(a->x[j])));
  }
  for (int k = 0; k < p->blocks; k++) {
    double N = a->lambda[2 * k], T = a->lambda[2 * k + 1], limit = p->block[k].mu * N;
    worst = fmax(worst, fabs(N - fmax(N - w[2 * k], 0.0)));
    worst = fmax(worst, fabs(T - fmin(fmax(T - w[2 * k + 1], -limit), limit)));
    size = fmax(size, fabs(N));
  }
  free(w);
  return worst / size;
}

static int closed(const Pile* p, const Answer* a) {
  int count = 0;
  for (int k = 0; k < p->blocks; k++) {
    count += a->block_state[k] != PAWL_FRICTION_OPEN;
  }
  return count;
}

// Solves without a start and then with one, and prints what it takes.
static void measure(const char* name, const Pile* p, Answer* a) {
  enum { REPEATED = 3 };
  PawlFrictionRows* f = make_solver(p);
  double* near = calloc((size_t)p->m, sizeof(double));
  double start = seconds(), cold, warm;
  solve(f, p, NULL, a);
  cold = seconds() - start;
  int rounds = a->info.rounds, sweeps = a->info.sweeps;
  start = seconds();
  for (int k = 0; k < REPEATED; k++) {
    memcpy(near, a->lambda, (size_t)p->m * sizeof(double));
    solve(f, p, near, a);
  }
  warm = (seconds() - start) / REPEATED;
  int count = closed(p, a) > 0 ? closed(p, a) : 1;
  print_message(
      "%s: %d discs, %d contacts, %d closed; %d sets, %d sweeps %.3g ms, warm %d sets %.3g ms, "
      "%.2f us a closed contact; off %.1e, residual %.1e\n",
      name, p->discs, p->blocks, closed(p, a), rounds, sweeps, 1e3 * cold, a->info.rounds,
      1e3 * warm, 1e6 * warm / count, off(p, a), a->info.residual);
  free(near);
  pawl_friction_rows_destroy(f);
}

// At rest: contact k carries what is above it.
static void test_columns_rest(void** state) {
  (void)state;
  for (int discs = 10; discs <= 10000; discs *= 10) {
    Pile p = column(discs, 0.3);
    Answer a = make_answer(&p);
    measure("column", &p, &a);
    assert_int_equal(a.info.verdict, PAWL_FRICTION_SOLVED);
    assert_true(off(&p, &a) <= 1e-10);
    for (int k = 0; k < discs; k++) {
      assert_int_equal(a.block_state[k], PAWL_FRICTION_STICK);
      CHECK_NEAR(a.lambda[2 * k], 9.81e-3 * (discs - k), 1e-11 * discs);
    }
    free_answer(&a);
    free_pile(&p);
  }
}

static void check_pyramids(const char* name, int copies, int base, bool touching) {
  Pile p = pyramids(copies, base, touching, 0.9);
  Answer a = make_answer(&p);
  measure(name, &p, &a);
  assert_int_equal(a.info.verdict, PAWL_FRICTION_SOLVED);
  assert_true(off(&p, &a) <= 1e-10);
  assert_int_equal(a.info.rounds, 1);  // found again at once
  for (int j = 0; j < p.n; j++) {
    CHECK_NEAR(a.x[j], 0.0, 1e-14);
  }
  free_answer(&a);
  free_pile(&p);
}

static void test_pyramids_rest(void** state) {
  (void)state;
  for (int base = 4; base <= 16; base *= 2) {
    check_pyramids("pyramid", 1, base, true);
  }
}

static void test_many_pyramids_rest(void** state) {
  (void)state;
  for (int copies = 1; copies <= 100; copies *= 10) {
    check_pyramids("pyramids of 8", copies, 8, false);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns_rest),
      cmocka_unit_test(test_pyramids_rest),
      cmocka_unit_test(test_many_pyramids_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
