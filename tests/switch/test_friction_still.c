// SPDX-License-Identifier: Apache-2.0
// Of several solutions the one in which no contact strays (docs/theory/friction.md, F39): rows of a
// pyramid of discs, at their places, of which the last falls onto the others. Forces within the
// cones that stop everything are there with mu = 0.8; with mu = 0.3 there are none from the third
// row on (a linear program of scipy says so for each of these).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "switch/friction.h"

enum {
  MOST_ROWS = 6,
  LARGE = 14,  // rows of a heap whose compliance is sparse
  MOST_DISCS = 105,
  MOST_PAIRS = 287,
  WIDTH = 4,
  MOST_M = 3 * MOST_PAIRS
};

typedef struct Heap {
  int rows, landed, discs, contacts, per;  // rows of each contact
  bool spatial;                            // discs are cylinders that may slip along their axes
  bool sparse;                             // D is given as such
  double x[MOST_DISCS], y[MOST_DISCS], mu;
  double v[MOST_DISCS * WIDTH];  // x, y, angle, z of each disc
  double G[MOST_M][MOST_DISCS * WIDTH];
  PawlFrictionBlock block[MOST_PAIRS];
} Heap;

typedef struct Answer {
  double lambda[MOST_M], w[MOST_M], slip[2 * MOST_PAIRS];
  unsigned char state[MOST_M], block_state[MOST_PAIRS];
  PawlFrictionResult info;
} Answer;

static const double MASS[WIDTH] = {1.0, 1.0, 0.005, 1.0};
static const double RADIUS = 0.1;

static int disc_of(const Heap* h, int row, int i) {
  int first = 0;
  for (int k = 0; k < row; k++) {
    first += h->rows - k;
  }
  return first + i;
}

// The contact of disc b on disc a; a < 0: on the ground.
static void touch(Heap* h, int a, int b) {
  double nx = a < 0 ? 0.0 : (h->x[b] - h->x[a]) / (2 * RADIUS);
  double ny = a < 0 ? 1.0 : (h->y[b] - h->y[a]) / (2 * RADIUS);
  int row = h->per * h->contacts;
  for (int side = 0; side < 2; side++) {
    int disc = side ? b : a, at = WIDTH * disc;
    double sign = side ? 1.0 : -1.0;
    if (disc >= 0) {
      h->G[row][at] = sign * nx;
      h->G[row][at + 1] = sign * ny;
      h->G[row + 1][at] = sign * ny;
      h->G[row + 1][at + 1] = -sign * nx;
      h->G[row + 1][at + 2] = RADIUS;
      if (h->spatial) {
        h->G[row + 2][at + 3] = sign;
      }
    }
  }
  h->block[h->contacts++] = (PawlFrictionBlock){
      .normal = row, .tangent = {row + 1, h->spatial ? row + 2 : -1}, .mu = h->mu};
}

// `landed` rows of a pyramid whose base has `rows` discs; the last of them comes with 1 m/s.
static Heap* heap(int rows, int landed, double mu, bool spatial) {
  Heap* h = calloc(1, sizeof *h);
  h->rows = rows;
  h->landed = landed;
  h->mu = mu;
  h->spatial = spatial;
  h->per = spatial ? 3 : 2;
  for (int k = 0; k < landed; k++) {
    for (int i = 0; i < rows - k; i++) {
      int b = disc_of(h, k, i);
      h->x[b] = 2 * RADIUS * (i + 0.5 * k);
      h->y[b] = RADIUS + sqrt(3.0) * RADIUS * k;
      h->v[WIDTH * b + 1] = k == landed - 1 ? -1.0 : 0.0;
      h->discs++;
    }
  }
  for (int k = 0; k < landed; k++) {
    for (int i = 0; i < rows - k; i++) {
      int b = disc_of(h, k, i);
      touch(h, k == 0 ? -1 : disc_of(h, k - 1, i), b);
      if (k > 0) {
        touch(h, disc_of(h, k - 1, i + 1), b);
      }
      if (i > 0) {
        touch(h, disc_of(h, k, i - 1), b);
      }
    }
  }
  return h;
}

static double row_times(const Heap* h, int i, const double* x) {
  double sum = 0.0;
  for (int j = 0; j < WIDTH * h->discs; j++) {
    sum += h->G[i][j] * x[j];
  }
  return sum;
}

// Where the search begins: with nothing, or with slips to either side by the bits of `start`.
static void begin(const Heap* h, int start, Answer* a) {
  memset(a, 0, sizeof *a);
  for (int c = 0; start > 0 && c < h->contacts; c++) {
    a->state[h->block[c].normal] = PAWL_ROW_FREE;
    a->block_state[c] = PAWL_FRICTION_SLIP;
    a->slip[2 * c] = (start >> c % 5) & 1 ? 1.0 : -1.0;
  }
}

// Contacts whose rows act on each other, with all their rows.
static PawlStatus give_sparse(const Heap* h, PawlFriction* f, const double* D) {
  int m = h->per * h->contacts, count = 0;
  int *start = calloc((size_t)m + 1, sizeof(int)), *index = calloc((size_t)(m * m), sizeof(int));
  double* values = calloc((size_t)(m * m), sizeof(double));
  for (int j = 0; j < m; j++) {
    start[j] = count;
    for (int i = 0; i < m; i++) {
      bool there = false;
      for (int k = 0; k < h->per * h->per; k++) {
        int row = i - i % h->per + k % h->per, column = j - j % h->per + k / h->per;
        there = there || D[row + column * m] != 0.0;
      }
      index[count] = i;
      values[count] = D[i + j * m];
      count += there;
    }
  }
  start[m] = count;
  PawlPattern pattern = {m, m, start, index};
  PawlStatus status = pawl_friction_set_sparse(f, &pattern, values, NULL);
  free(start);
  free(index);
  free(values);
  return status;
}

static void solve(const Heap* h, bool rest, int start, Answer* a) {
  int m = h->per * h->contacts;
  double *D = calloc((size_t)(m * m), sizeof(double)), q[MOST_M], lo[MOST_M] = {0.0}, hi[MOST_M];
  double x[MOST_DISCS * WIDTH];
  PawlFriction* f;
  for (int j = 0; j < m; j++) {
    for (int c = 0; c < WIDTH * h->discs; c++) {
      x[c] = h->G[j][c] / MASS[c % WIDTH];
    }
    for (int i = 0; i < m; i++) {
      D[i + j * m] = row_times(h, i, x);
    }
    q[j] = row_times(h, j, h->v);
    hi[j] = INFINITY;
  }
  begin(h, start, a);
  a->info = (PawlFrictionResult){.lambda = a->lambda,
                                 .w = a->w,
                                 .state = a->state,
                                 .block_state = a->block_state,
                                 .slip = a->slip};
  PawlFrictionProblem problem = {
      .q = q, .lo = lo, .hi = hi, .blocks = h->contacts, .block = h->block, .rest = rest};
  assert_int_equal(pawl_friction_create(m, h->contacts, &f, NULL), PAWL_OK);
  PawlStatus status = h->sparse ? give_sparse(h, f, D) : pawl_friction_set(f, m, D, NULL);
  assert_int_equal(status, PAWL_OK);
  assert_int_equal(pawl_friction_solve(f, &problem, &a->info), PAWL_OK);
  pawl_friction_destroy(f);
  free(D);
}

static double tangent(const Heap* h, const double* of_rows, int c) {
  const int* t = h->block[c].tangent;
  return hypot(of_rows[t[0]], h->spatial ? of_rows[t[1]] : 0.0);
}

// (F1) and (F2) of the velocities that the impulses make, recomputed; returns the largest rate.
static double check(const Heap* h, const Answer* a) {
  double v[MOST_DISCS * WIDTH], w[MOST_M], most = 0.0;
  memcpy(v, h->v, sizeof v);
  for (int i = 0; i < h->per * h->contacts; i++) {
    for (int j = 0; j < WIDTH * h->discs; j++) {
      v[j] += h->G[i][j] * a->lambda[i] / MASS[j % WIDTH];
    }
  }
  for (int i = 0; i < h->per * h->contacts; i++) {
    w[i] = row_times(h, i, v);
    most = fmax(most, fabs(w[i]));
  }
  for (int c = 0; c < h->contacts; c++) {
    int n = h->block[c].normal;
    double push = a->lambda[n], rub = tangent(h, a->lambda, c), slip = tangent(h, w, c);
    assert_true(push >= 0.0 && w[n] > -1e-9 && fabs(push * w[n]) < 1e-9);
    assert_true(rub <= h->mu * push * (1 + 1e-12));
    double power = 0.0;
    for (int k = 0; k + 1 < h->per; k++) {
      power += a->lambda[h->block[c].tangent[k]] * w[h->block[c].tangent[k]];
    }
    CHECK_NEAR(power, -h->mu * push * slip, 1e-9);
  }
  return most;
}

// Some contact slips, or opens aslant.
static bool strays(const Heap* h, const Answer* a) {
  bool any = false;
  for (int c = 0; c < h->contacts; c++) {
    any |= a->w[h->block[c].normal] < h->mu * tangent(h, a->w, c) - 1e-6;
  }
  return any;
}

// Every row that lands is stopped with all others, also where velocities with slip are found.
static int check_landing(int rows, int landed, int start) {
  static Answer a, other;
  Heap* h = heap(rows, landed, 0.8, false);
  solve(h, true, start, &a);
  assert_int_equal(a.info.verdict, PAWL_FRICTION_SOLVED);
  CHECK_NEAR(check(h, &a), 0.0, 1e-12);
  solve(h, false, start, &other);
  bool slips = other.info.verdict == PAWL_FRICTION_SOLVED && check(h, &other) > 1e-3;
  assert_true(a.info.strays < 0 || (slips && strays(h, &other)));
  free(h);
  return a.info.strays >= 0;
}

static void test_rest_is_taken(void** unused) {
  (void)unused;
  int told = 0;
  for (int rows = 2; rows <= MOST_ROWS; rows++) {
    for (int landed = 1; landed <= rows; landed++) {
      for (int start = 0; start < 32; start += 5) {
        told += check_landing(rows, landed, start);
      }
    }
  }
  assert_true(told >= 3);
}

// Where none is, the law holds all the same, and what is found moves.
static void test_motion_where_rest_is_not(void** unused) {
  (void)unused;
  static Answer a;
  for (int rows = 3; rows <= MOST_ROWS; rows++) {
    for (int landed = 3; landed <= rows; landed++) {
      Heap* h = heap(rows, landed, 0.3, false);
      solve(h, true, 0, &a);
      assert_int_equal(a.info.verdict, PAWL_FRICTION_SOLVED);
      assert_true(check(h, &a) > 1e-3 && strays(h, &a) && a.info.strays < 0);
      free(h);
    }
  }
}

// The same with two tangential rows.
static void test_rest_in_space(void** unused) {
  (void)unused;
  static Answer a;
  for (int rows = 2; rows <= 5; rows++) {
    for (int landed = 1; landed <= rows; landed++) {
      Heap* h = heap(rows, landed, 0.8, true);
      solve(h, true, 0, &a);
      assert_int_equal(a.info.verdict, PAWL_FRICTION_SOLVED);
      CHECK_NEAR(check(h, &a), 0.0, 1e-12);
      free(h);
    }
  }
}

// A solution that does not stray is left as it is, to the bit: one disc on the ground.
static void test_one_solution_keeps_its_bits(void** unused) {
  (void)unused;
  static Answer a, other;
  for (int push = -3; push <= 3; push++) {
    Heap* h = heap(1, 1, 0.4, false);
    h->v[0] = 0.7 * push;  // sticks, or slips
    solve(h, true, 0, &a);
    solve(h, false, 0, &other);
    assert_true(a.info.strays < 0);
    assert_memory_equal(a.lambda, other.lambda, sizeof a.lambda);
    assert_memory_equal(a.w, other.w, sizeof a.w);
    free(h);
  }
}

// A sparse compliance has the same answers: all is stopped where it can be; the same velocities
// where no contact strays. Heaps of any size, from a hundred contacts on.
static void test_sparse(void** unused) {
  (void)unused;
  static Answer a, other;
  for (int rows = 2; rows <= MOST_ROWS; rows++) {
    for (int spatial = 0; spatial < 2; spatial++) {
      Heap* h = heap(rows, rows, 0.8, spatial);
      h->sparse = true;
      solve(h, true, 0, &a);
      assert_int_equal(a.info.verdict, PAWL_FRICTION_SOLVED);
      CHECK_NEAR(check(h, &a), 0.0, 1e-12);
      for (int j = 0; j < h->discs; j++) {  // all fly apart: nothing strays
        h->v[WIDTH * j + 1] = h->y[j];
      }
      solve(h, true, 0, &a);
      h->sparse = false;
      solve(h, true, 0, &other);
      for (int i = 0; i < h->per * h->contacts; i++) {
        CHECK_NEAR(a.w[i], other.w[i], 1e-12);
      }
      free(h);
    }
  }
  for (int landed = 1; landed <= LARGE; landed += 3) {
    Heap* h = heap(LARGE, landed, 0.8, false);
    h->sparse = true;
    solve(h, true, 0, &a);
    assert_int_equal(a.info.verdict, PAWL_FRICTION_SOLVED);
    CHECK_NEAR(check(h, &a), 0.0, 1e-12);
    free(h);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rest_is_taken), cmocka_unit_test(test_motion_where_rest_is_not),
      cmocka_unit_test(test_rest_in_space), cmocka_unit_test(test_one_solution_keeps_its_bits),
      cmocka_unit_test(test_sparse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
