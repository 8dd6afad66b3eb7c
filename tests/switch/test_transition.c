// SPDX-License-Identifier: Apache-2.0
// The jump by the law post in three forms: by hand, and on random systems with persistent and new
// rows, redundant ones among them, moving constraints and velocities a little off the persistent
// rows. The conditions of docs/theory/transition.md are recomputed here, and the forms compared.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "switch/transition.h"

enum { MOST = 24, FORMS = 3 };

typedef struct Case {
  int n, m;
  double M[MOST * MOST], G[MOST * MOST];  // by columns
  unsigned char before[MOST], after[MOST];
  double v[MOST], g_t[MOST];
  double U[MOST];  // impulsive forces
  bool pushed;
  bool sparse;  // zeros are left out of the pattern of G
} Case;

typedef struct Jump {
  PawlStatus status;
  double dv[MOST], Lambda[MOST];
  unsigned char dependent[MOST];
  int count;
} Jump;

typedef struct Patterns {
  int H_start[MOST + 1], H_index[MOST * MOST], G_start[MOST + 1], G_index[MOST * MOST];
  PawlPattern H, G;
  double G_values[MOST * MOST];
} Patterns;

static void make_patterns(const Case* c, Patterns* p) {
  int h = 0, g = 0;
  for (int j = 0; j < c->n; j++) {
    p->H_start[j] = h;
    p->G_start[j] = g;
    for (int i = 0; i < c->n; i++) {
      p->H_index[h++] = i;
    }
    for (int i = 0; i < c->m; i++) {
      if (!c->sparse || c->G[i + j * c->m] != 0.0) {
        p->G_values[g] = c->G[i + j * c->m];
        p->G_index[g++] = i;
      }
    }
  }
  p->H_start[c->n] = h;
  p->G_start[c->n] = g;
  p->H = (PawlPattern){c->n, c->n, p->H_start, p->H_index};
  p->G = (PawlPattern){c->m, c->n, p->G_start, p->G_index};
}

static Jump jump(const Case* c, PawlTransitionForm form) {
  Patterns p;
  Jump out = {0};
  PawlKkt* kkt = NULL;
  PawlTransition* t = NULL;
  make_patterns(c, &p);
  if (form == PAWL_TRANSITION_FULL) {
    assert_int_equal(pawl_kkt_create(&p.H, &p.G, PAWL_KKT_AUTO, &kkt, NULL), PAWL_OK);
  }
  assert_int_equal(pawl_transition_create(form, &p.H, &p.G, kkt, &t, NULL), PAWL_OK);
  long long allocated = pawl_alloc_count();
  out.status = c->pushed
                   ? pawl_transition_push(t, c->M, p.G_values, c->before, c->after, c->v, c->g_t,
                                          c->U, out.dv, out.Lambda)
                   : pawl_transition_solve(t, c->M, p.G_values, c->before, c->after, c->v, c->g_t,
                                           out.dv, out.Lambda, out.dependent, &out.count);
  if (form != PAWL_TRANSITION_FULL) {
    assert_int_equal(pawl_alloc_count(), allocated);
  }
  pawl_transition_destroy(t);
  pawl_kkt_destroy(kkt);
  return out;
}

// ---- random systems -----------------------------------------------------------------------------
typedef struct Random {
  unsigned long long state;
} Random;

static double uniform(Random* r) {  // -1 .. 1
  r->state = r->state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(r->state >> 11) * 0x1p-52 - 1.0;
}

static int whole(Random* r, int low, int high) {
  return low + (int)floor((uniform(r) + 1.0) / 2.0 * (high - low + 0.999999));
}

static double entry(const Case* c, int i, int j) {
  return c->G[i + j * c->m];
}

// Orthonormal rows of the flagged rows of G, one after the other; returns their number. `left` (m)
// receives what each row adds to those before it, relative to its length.
static int orthonormal(const Case* c, const unsigned char* flags, double Q[MOST][MOST],
                       double* left) {
  int rank = 0;
  for (int i = 0; i < c->m; i++) {
    double u[MOST], square = 0.0, rest = 0.0;
    left[i] = 0.0;
    for (int j = 0; j < c->n; j++) {
      u[j] = entry(c, i, j);
      square += u[j] * u[j];
    }
    if (!flags[i] || square == 0.0 || rank == c->n) {
      continue;
    }
    for (int pass = 0; pass < 2; pass++) {
      for (int k = 0; k < rank; k++) {
        double part = 0.0;
        for (int j = 0; j < c->n; j++) {
          part += Q[k][j] * u[j];
        }
        for (int j = 0; j < c->n; j++) {
          u[j] -= part * Q[k][j];
        }
      }
    }
    for (int j = 0; j < c->n; j++) {
      rest += u[j] * u[j];
    }
    left[i] = sqrt(rest / square);
    if (left[i] > 1e-9) {
      for (int j = 0; j < c->n; j++) {
        Q[rank][j] = u[j] / sqrt(rest);
      }
      rank++;
    }
  }
  return rank;
}

// Rows: mostly independent, every fourth or so a sum of rows before it.
static void random_rows(Random* r, Case* c, bool redundant) {
  for (int i = 0; i < c->m; i++) {
    bool sum = redundant && i > 0 && whole(r, 0, 3) == 0;
    for (int j = 0; j < c->n; j++) {
      c->G[i + j * c->m] = sum || (c->sparse && whole(r, 0, 2) == 0) ? 0.0 : 2.0 * uniform(r);
    }
    for (int k = 0; sum && k < i; k++) {
      double factor = whole(r, 0, 1) ? uniform(r) : 0.0;
      for (int j = 0; j < c->n; j++) {
        c->G[i + j * c->m] += factor * entry(c, k, j);
      }
    }
  }
}

// M = (1 + B) (1 + B)^T with a small B; rates of the constraints from a velocity that satisfies all
// of them; v- from one that satisfies the persistent rows, and a little off these.
static void random_motion(Random* r, Case* c, bool moving, double off) {
  double B[MOST][MOST], w[MOST], Q[MOST][MOST], left[MOST];
  unsigned char persistent[MOST];
  for (int i = 0; i < c->n; i++) {
    for (int j = 0; j < c->n; j++) {
      B[i][j] = (i == j ? 1.0 : 0.0) + 0.5 * uniform(r) / sqrt(c->n);
    }
  }
  for (int i = 0; i < c->n; i++) {
    for (int j = 0; j < c->n; j++) {
      c->M[i + j * c->n] = 0.0;
      for (int k = 0; k < c->n; k++) {
        c->M[i + j * c->n] += B[i][k] * B[j][k];
      }
    }
    w[i] = moving ? uniform(r) : 0.0;
    c->v[i] = uniform(r);
  }
  for (int i = 0; i < c->m; i++) {
    persistent[i] = c->before[i] && c->after[i];
    c->g_t[i] = 0.0;
    for (int j = 0; j < c->n; j++) {
      c->g_t[i] -= entry(c, i, j) * w[j];
    }
  }
  int rank = orthonormal(c, persistent, Q, left);
  for (int k = 0; k < rank; k++) {
    double part = 0.0;
    for (int j = 0; j < c->n; j++) {
      part += Q[k][j] * c->v[j];
    }
    for (int j = 0; j < c->n; j++) {
      c->v[j] -= part * Q[k][j];
    }
  }
  for (int j = 0; j < c->n; j++) {
    c->v[j] += w[j] + off * uniform(r);
  }
}

// False: rows nearly but not quite dependent came up, where 1e-12 cannot be asked.
static bool random_case(Random* r, Case* c, bool redundant) {
  double Q[MOST][MOST], left[MOST];
  memset(c, 0, sizeof *c);
  c->n = whole(r, 1, 12);
  c->m = whole(r, 0, redundant ? c->n + 4 : c->n);
  c->sparse = whole(r, 0, 1);
  random_rows(r, c, redundant);
  for (int i = 0; i < c->m; i++) {
    int kind = whole(r, 0, 7);  // persistent, new, released, or never in force
    c->before[i] = kind <= 2 || kind == 6;
    c->after[i] = kind <= 5;
  }
  orthonormal(c, c->after, Q, left);
  for (int i = 0; i < c->m; i++) {
    if (left[i] > 1e-12 && left[i] < 0.1) {
      return false;
    }
  }
  random_motion(r, c, whole(r, 0, 1), whole(r, 0, 1) ? 1e-6 : 0.0);
  return true;
}

// ---- the defining conditions --------------------------------------------------------------------
static void check_conditions(const Case* c, const Jump* s, double tolerance) {
  double Q[MOST][MOST], left[MOST], most = 1e-3;
  for (int i = 0; i < c->m; i++) {
    most = fmax(most, fabs(s->Lambda[i]));
    if (!c->after[i]) {
      assert_true(s->Lambda[i] == 0.0);
    }
  }
  for (int i = 0; i < c->n; i++) {  // M dv = G^T Lambda + U
    double sum = -c->U[i];
    for (int j = 0; j < c->n; j++) {
      sum += c->M[i + j * c->n] * s->dv[j];
    }
    for (int k = 0; k < c->m; k++) {
      sum -= entry(c, k, i) * s->Lambda[k];
    }
    CHECK_NEAR(sum / most, 0.0, tolerance);
  }
  for (int i = 0; i < c->m; i++) {  // G v+ = -g_t
    double sum = c->g_t[i];
    for (int j = 0; j < c->n; j++) {
      sum += entry(c, i, j) * (c->v[j] + s->dv[j]);
    }
    if (c->after[i]) {
      CHECK_NEAR(sum, 0.0, tolerance);
    }
  }
  if (c->pushed) {
    return;  // dependent rows are not told
  }
  int rank = orthonormal(c, c->after, Q, left), flagged = 0, total = 0;
  for (int i = 0; i < c->m; i++) {  // flags: nothing outside the rows before
    total += c->after[i];
    flagged += s->dependent[i];
    assert_int_equal(s->dependent[i], c->after[i] && left[i] <= 1e-9);
  }
  assert_int_equal(flagged, total - rank);
  assert_int_equal(s->count, flagged);
}

// Lambda = G w for some w, over the rows after: then it is orthogonal to all that G^T maps to zero,
// so it is the shortest. For it the columns of G are orthogonalised, the largest that is left
// first.
static void check_minimum_norm(const Case* c, const Jump* s, double tolerance) {
  double U[MOST][MOST], rest[MOST], most = 1e-3;  // U: columns
  for (int i = 0; i < c->m; i++) {
    rest[i] = s->Lambda[i];
    most = fmax(most, fabs(rest[i]));
    for (int j = 0; j < c->n; j++) {
      U[j][i] = c->after[i] ? entry(c, i, j) : 0.0;
    }
  }
  for (int step = 0; step < c->n; step++) {
    int best = 0;
    double square = 0.0;
    for (int j = 0; j < c->n; j++) {
      double sum = 0.0;
      for (int i = 0; i < c->m; i++) {
        sum += U[j][i] * U[j][i];
      }
      best = sum > square ? j : best;
      square = fmax(square, sum);
    }
    if (square < 1e-16) {
      break;
    }
    double q[MOST];
    for (int i = 0; i < c->m; i++) {
      q[i] = U[best][i] / sqrt(square);
    }
    for (int j = 0; j <= c->n; j++) {  // out of the columns, and of Lambda
      double *u = j < c->n ? U[j] : rest, part = 0.0;
      for (int i = 0; i < c->m; i++) {
        part += q[i] * u[i];
      }
      for (int i = 0; i < c->m; i++) {
        u[i] -= part * q[i];
      }
    }
  }
  for (int i = 0; i < c->m; i++) {
    CHECK_NEAR(rest[i] / most, 0.0, tolerance);
  }
}

// n^T M dv = 0 for every direction n that the rows after allow.
static void check_free_momentum(const Case* c, const Jump* s, double tolerance) {
  double Q[MOST][MOST], left[MOST];
  int rank = orthonormal(c, c->after, Q, left);
  for (int d = 0; d < c->n; d++) {
    double free[MOST] = {0}, sum = 0.0;
    free[d] = 1.0;
    for (int k = 0; k < rank; k++) {
      double part = 0.0;
      for (int j = 0; j < c->n; j++) {
        part += Q[k][j] * free[j];
      }
      for (int j = 0; j < c->n; j++) {
        free[j] -= part * Q[k][j];
      }
    }
    for (int i = 0; i < c->n; i++) {
      for (int j = 0; j < c->n; j++) {
        sum += free[i] * c->M[i + j * c->n] * s->dv[j];
      }
    }
    CHECK_NEAR(sum, 0.0, tolerance);
  }
}

static double compare(const Case* c, const Jump* a, const Jump* b) {
  double worst = 0.0, dv = 1e-3, Lambda = 1e-3;
  for (int j = 0; j < c->n; j++) {
    dv = fmax(dv, fabs(a->dv[j]));
  }
  for (int i = 0; i < c->m; i++) {
    Lambda = fmax(Lambda, fabs(a->Lambda[i]));
  }
  for (int j = 0; j < c->n; j++) {
    worst = fmax(worst, fabs(a->dv[j] - b->dv[j]) / dv);
  }
  for (int i = 0; i < c->m; i++) {
    worst = fmax(worst, fabs(a->Lambda[i] - b->Lambda[i]) / Lambda);
  }
  return worst;
}

// With impulsive forces: persistent rows answer to them, too. (22), (32) and (37) of the paper.
static void test_pushed(void** state) {
  (void)state;
  Random r = {3};
  for (int done = 0; done < 2000;) {
    Case c;
    if (!random_case(&r, &c, done % 2 == 1)) {
      continue;
    }
    Jump s[FORMS];
    c.pushed = true;
    for (int j = 0; j < c.n; j++) {
      c.U[j] = uniform(&r);
    }
    for (int form = 0; form < FORMS; form++) {
      s[form] = jump(&c, (PawlTransitionForm)form);
      assert_int_equal(s[form].status, PAWL_OK);
      check_conditions(&c, &s[form], 1e-12);
      check_minimum_norm(&c, &s[form], 1e-12);
      CHECK_NEAR(compare(&c, &s[0], &s[form]), 0.0, 1e-9);  // free motions by the inverse of M
    }
    done++;
  }
}

static void check_random(unsigned long long seed, bool redundant) {
  Random r = {seed};
  double worst = 0.0;
  int with_dependent = 0, with_both = 0;
  for (int done = 0; done < 3000;) {
    Case c;
    if (!random_case(&r, &c, redundant)) {
      continue;
    }
    Jump s[FORMS];
    for (int form = 0; form < FORMS; form++) {
      s[form] = jump(&c, (PawlTransitionForm)form);
      assert_int_equal(s[form].status, PAWL_OK);
      check_conditions(&c, &s[form], 1e-12);
      check_minimum_norm(&c, &s[form], 1e-12);
      check_free_momentum(&c, &s[form], 1e-12);
      worst = fmax(worst, compare(&c, &s[0], &s[form]));
      assert_memory_equal(s[form].dependent, s[0].dependent, sizeof s[0].dependent);
    }
    int persistent = 0, added = 0;
    for (int i = 0; i < c.m; i++) {
      persistent += c.before[i] && c.after[i];
      added += c.after[i] && !c.before[i];
    }
    with_dependent += s[0].count > 0;
    with_both += persistent > 0 && added > 0;
    done++;
  }
  if (!(worst <= 1e-12)) {
    fail_msg("the forms differ by %g", worst);
  }
  assert_true(with_both > 1200);
  assert_true(!redundant || with_dependent > 1000);
}

static void test_independent_rows(void** state) {
  (void)state;
  check_random(1, false);
}

static void test_redundant_rows(void** state) {
  (void)state;
  check_random(2, true);
}

// ---- by hand ------------------------------------------------------------------------------------
// Masses 1 and 3 with speeds 2 and 0 couple: both go on with 1/2, and the impulse is 3/2.
static void test_two_masses(void** state) {
  (void)state;
  Case c = {.n = 2, .m = 1, .M = {1, 0, 0, 3}, .G = {1, -1}, .after = {1}, .v = {2, 0}, .g_t = {0}};
  for (int form = 0; form < FORMS; form++) {
    Jump s = jump(&c, (PawlTransitionForm)form);
    assert_int_equal(s.status, PAWL_OK);
    CHECK_NEAR(s.dv[0], -1.5, 1e-15);
    CHECK_NEAR(s.dv[1], 0.5, 1e-15);
    CHECK_NEAR(s.Lambda[0], -1.5, 1e-15);
    assert_int_equal(s.count, 0);
  }
}

// The same row three times, persistent in the middle, with the third twice as long: impulses of
// minimum norm go as 1 : 1 : 2, and rows 2 and 3 follow from row 1.
static void test_one_row_three_times(void** state) {
  (void)state;
  Case c = {.n = 2,
            .m = 3,
            .M = {1, 0, 0, 3},
            .G = {1, 1, 2, -1, -1, -2},
            .before = {0, 1, 0},
            .after = {1, 1, 1},
            .v = {2, 0},
            .g_t = {0}};
  for (int form = 0; form < FORMS; form++) {
    Jump s = jump(&c, (PawlTransitionForm)form);
    assert_int_equal(s.status, PAWL_OK);
    CHECK_NEAR(s.dv[0], -1.5, 4e-15);
    CHECK_NEAR(s.Lambda[0], -0.25, 4e-15);
    CHECK_NEAR(s.Lambda[1], -0.25, 4e-15);
    CHECK_NEAR(s.Lambda[2], -0.5, 4e-15);
    assert_true(!s.dependent[0] && s.dependent[1] && s.dependent[2] && s.count == 2);
  }
}

// x' = 1 and x' = 2 are asked of one mass: least squares give 3/2.
static void test_contradiction(void** state) {
  (void)state;
  Case c = {.n = 1, .m = 2, .M = {2}, .G = {1, 1}, .after = {1, 1}, .g_t = {-1, -2}};
  for (int form = 0; form < FORMS; form++) {
    Jump s = jump(&c, (PawlTransitionForm)form);
    assert_int_equal(s.status, PAWL_OK);
    CHECK_NEAR(s.dv[0], 1.5, 4e-15);
    CHECK_NEAR(s.Lambda[0], 1.5, 4e-15);
    CHECK_NEAR(s.Lambda[1], 1.5, 4e-15);
  }
}

// A coordinate without mass that a row ties to one with mass is no trouble; a free one is.
static void test_no_mass(void** state) {
  (void)state;
  Case c = {.n = 3,
            .m = 2,
            .M = {0, 0, 0, 0, 2, 0, 0, 0, 3},
            .G = {1, 0, -1, 1, 0, -1},
            .after = {1, 1},
            .v = {0, 1, 0},
            .g_t = {0}};
  for (int persistent = 0; persistent < 2; persistent++) {
    c.before[0] = (unsigned char)persistent;
    c.v[0] = persistent;
    for (int form = 0; form < FORMS; form++) {
      c.after[0] = 1;
      Jump s = jump(&c, (PawlTransitionForm)form);
      assert_int_equal(s.status, PAWL_OK);
      for (int j = 0; j < 3; j++) {
        CHECK_NEAR(c.v[j] + s.dv[j], 0.4, 1e-14);  // 2 of 5 kg had 1 m/s
      }
      CHECK_NEAR(s.Lambda[0], 0.0, 1e-14);
      CHECK_NEAR(s.Lambda[1], -1.2, 1e-14);
      c.after[0] = 0;
      assert_int_equal(jump(&c, (PawlTransitionForm)form).status, PAWL_RETRY);
    }
  }
}

static void test_not_finite(void** state) {
  (void)state;
  const double bad[] = {NAN, INFINITY};
  for (int k = 0; k < 2; k++) {
    for (int form = 0; form < FORMS; form++) {
      Case c = {.n = 2,
                .m = 2,
                .M = {1, 0, 0, 3},
                .G = {1, 1, -1, 1},
                .before = {1},
                .after = {1, 1},
                .v = {2, 0}};
      Case M = c, G = c, v = c, g_t = c;
      M.M[3] = bad[k];
      G.G[1] = bad[k];
      v.v[1] = bad[k];
      g_t.g_t[1] = bad[k];
      assert_int_equal(jump(&c, (PawlTransitionForm)form).status, PAWL_OK);
      assert_int_equal(jump(&M, (PawlTransitionForm)form).status, PAWL_RETRY);
      assert_int_equal(jump(&G, (PawlTransitionForm)form).status, PAWL_RETRY);
      assert_int_equal(jump(&v, (PawlTransitionForm)form).status, PAWL_RETRY);
      assert_int_equal(jump(&g_t, (PawlTransitionForm)form).status, PAWL_RETRY);
    }
  }
}

// Rows and masses in other units change the numbers, and nothing else.
static void test_units(void** state) {
  (void)state;
  Random r = {3};
  for (int done = 0; done < 200;) {
    Case c, d;
    if (!random_case(&r, &c, false)) {
      continue;
    }
    done++;
    d = c;
    for (int i = 0; i < c.m; i++) {
      double unit = pow(10.0, whole(&r, -6, 6));
      d.g_t[i] *= unit;
      for (int j = 0; j < c.n; j++) {
        d.G[i + j * c.m] *= unit;
      }
    }
    for (int form = 0; form < FORMS; form++) {
      Jump a = jump(&c, (PawlTransitionForm)form), b = jump(&d, (PawlTransitionForm)form);
      assert_int_equal(b.status, PAWL_OK);
      for (int j = 0; j < c.n; j++) {
        CHECK_NEAR(b.dv[j], a.dv[j], 1e-11);
      }
    }
  }
}

static void test_words(void** state) {
  (void)state;
  PawlTransitionForm form;
  PawlError err = {0};
  assert_int_equal(pawl_transition_parse("minimal", &form, &err), PAWL_OK);
  assert_int_equal(form, PAWL_TRANSITION_MINIMAL);
  assert_int_equal(pawl_transition_parse("little", &form, &err), PAWL_ERROR_USAGE);
  assert_non_null(strstr(err.message, "full, projected or minimal"));
}

static void test_memory_runs_out(void** state) {
  (void)state;
  Case c = {.n = 2, .m = 1, .M = {1, 0, 0, 3}, .G = {1, -1}};
  Patterns p;
  make_patterns(&c, &p);
  for (int form = 1; form < FORMS; form++) {
    for (int nth = 1; nth <= 2; nth++) {
      PawlTransition* t;
      pawl_alloc_fail_at(nth);
      assert_int_equal(pawl_transition_create((PawlTransitionForm)form, &p.H, &p.G, NULL, &t, NULL),
                       PAWL_ERROR_MEMORY);
      pawl_alloc_fail_at(0);
      assert_null(t);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_masses),
      cmocka_unit_test(test_one_row_three_times),
      cmocka_unit_test(test_contradiction),
      cmocka_unit_test(test_no_mass),
      cmocka_unit_test(test_independent_rows),
      cmocka_unit_test(test_redundant_rows),
      cmocka_unit_test(test_pushed),
      cmocka_unit_test(test_not_finite),
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_memory_runs_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
