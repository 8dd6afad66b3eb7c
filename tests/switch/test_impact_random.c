// SPDX-License-Identifier: Apache-2.0
// The jump on thousands of random systems: the defining equations, the energy of the bisector and
// of every other law, invariance under another choice of rows, and agreement with a second way to
// the force directions that uses no singular values. Labels refer to docs/theory/impact.md.
#include "switch/jumps.h"

enum { MOST_N = 12, SAMPLES = 40 };  // 66 sizes, 2640 systems

typedef void (*Check)(Jump* jump, int m);

static void for_all_sizes(int samples, Check check) {
  jump_seed = 20240229;
  for (int n = 2; n <= MOST_N; n++) {
    for (int m = 1; m < n; m++) {
      for (int k = 0; k < samples; k++) {
        Jump jump = jump_random_system(n, m, m);
        check(&jump, m);
      }
    }
  }
}

static double random_epsilon(void) {
  return 0.5 + 0.5 * jump_random();
}

// Solves for a set of flips; returns false when G M^-1 B^T is singular.
static bool solved(Jump* jump, PawlImpactLaw law, unsigned flips) {
  PawlStatus status = jump_run(jump, law, flips);
  assert_true(status == PAWL_OK || status == PAWL_RETRY);
  return status == PAWL_OK;
}

// ---- principal pairs, from linalg, whose own tests check them -----------------------------------
typedef struct Pairs {
  int k;
  double angle[JUMP_MOST], u[JUMP_MOST][JUMP_MOST], w[JUMP_MOST][JUMP_MOST];
} Pairs;

static Pairs pairs_of(const Jump* jump) {
  static double A[JUMP_MOST * JUMP_MOST], B[JUMP_MOST * JUMP_MOST], W[JUMP_MOST * JUMP_MOST];
  static double U[JUMP_MOST * JUMP_MOST], V[JUMP_MOST * JUMP_MOST];
  double before[JUMP_MOST][JUMP_MOST], after[JUMP_MOST][JUMP_MOST], ignored[JUMP_MOST];
  int n = jump->n, a = take_active(jump, false, before, ignored);
  int b = take_active(jump, true, after, ignored);
  by_columns(a, n, before, A);
  by_columns(b, n, after, B);
  for (int j = 0; j < n; j++) {
    double column[JUMP_MOST] = {0};
    column[j] = 1.0;
    mass_solve(jump, column);
    memcpy(W + j * n, column, (size_t)n * sizeof(double));
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < i; j++) {
      W[i + j * n] = W[j + i * n];
    }
  }
  Pairs p;
  assert_int_equal(pawl_dense_principal_angles(a, b, n, A, B, W, 0.0, &p.k, p.angle, U, V),
                   PAWL_OK);
  for (int i = 0; i < p.k; i++) {
    memcpy(p.u[i], U + i * n, (size_t)n * sizeof(double));
    memcpy(p.w[i], V + i * n, (size_t)n * sizeof(double));
  }
  return p;
}

// Where in the angles the flips act: those above what the solver turns, in ascending order.
static bool flipped(const Pairs* p, int pair, unsigned flips) {
  int plane = 0;
  for (int i = 0; i < pair; i++) {
    plane += p->angle[i] > 1e-9;
  }
  return p->angle[pair] > 1e-9 && (flips >> plane & 1u);
}

// c of (J6): the cosine of the angle that is turned.
static double cosine_of(const Pairs* p, int pair, unsigned flips) {
  return flipped(p, pair, flips) ? -cos(p->angle[pair]) : cos(p->angle[pair]);
}

// The least of |e_i . w_i| over the planes: how far G M^-1 B^T is from being singular.
static double regularity(const Pairs* p, PawlImpactLaw law, unsigned flips) {
  double least = 1.0;
  for (int i = 0; i < p->k; i++) {
    double c = cosine_of(p, i, flips);
    double e_w = law.arc ? cos((1.0 - law.epsilon) * acos(fmax(-1.0, fmin(1.0, c))))
                         : (1.0 - law.epsilon) * c + law.epsilon;
    least = fmin(least, fabs(e_w));
  }
  return least;
}

// ---- the defining equations ---------------------------------------------------------------------
static void check_equations(Jump* jump, int m) {
  (void)m;
  for (int arc = 0; arc < 2; arc++) {
    if (solved(jump, (PawlImpactLaw){random_epsilon(), arc}, 0)) {
      assert_true(jump_residual(jump) < 1e-12);  // (J1), relative; rounding of M^-1
    }
  }
}

static void test_equations(void** unused) {
  (void)unused;
  for_all_sizes(SAMPLES, check_equations);
}

// ---- energy -------------------------------------------------------------------------------------
static double relative_change(const Jump* jump) {
  double before = kinetic(jump, jump->v_minus);
  return (kinetic(jump, jump->v_plus) - before) / before;
}

static void check_bisector(Jump* jump, int m) {
  (void)m;
  for (int arc = 0; arc < 2; arc++) {
    assert_int_equal(jump_run(jump, (PawlImpactLaw){0.5, arc}, 0), PAWL_OK);
    CHECK_NEAR(relative_change(jump), 0.0, 1e-12);  // every angle <= 90 degrees: well conditioned
  }
}

static void test_bisector_conserves_energy(void** unused) {
  (void)unused;
  for_all_sizes(SAMPLES, check_bisector);
}

// A plane that is turned by more than 90 degrees amplifies rounding by 1 / (e . w)^2 with
// e . w = sin^2(theta / 2) for the chord: the tolerance of 1e-12 is weighted by that.
static void check_flips(Jump* jump, int m) {
  (void)m;
  Pairs p = pairs_of(jump);
  for (int arc = 0; arc < 2; arc++) {
    PawlImpactLaw law = {0.5, arc};
    assert_int_equal(jump_run(jump, law, 0), PAWL_OK);
    unsigned most = 1u << (jump->planes < 6 ? jump->planes : 6);
    for (unsigned flips = 1; flips < most; flips++) {
      double e_w = regularity(&p, (PawlImpactLaw){0.5, false}, flips);
      if (e_w > 1e-5 && solved(jump, law, flips)) {
        CHECK_NEAR(relative_change(jump) * e_w * e_w, 0.0, 1e-12);
      }
    }
  }
}

static void test_every_flip_conserves_energy(void** unused) {
  (void)unused;
  for_all_sizes(8, check_flips);
}

// (J6) and (J7): the planes do not know each other.
static double energy_change(const Jump* jump, const Pairs* p, PawlImpactLaw law, unsigned flips) {
  double sum = 0.0, eps = law.epsilon;
  for (int i = 0; i < p->k; i++) {
    double c = cosine_of(p, i, flips), s = sin(p->angle[i]), along = 0.0;
    if (s < 1e-9) {
      continue;
    }
    for (int j = 0; j < jump->n; j++) {  // s_i = d_i v-, with d_i beside u_i in its plane
      along += (p->w[i][j] - cos(p->angle[i]) * p->u[i][j]) / s * jump->v_minus[j];
    }
    double theta = acos(c);
    double factor = law.arc ? cos(eps * theta) / cos((1.0 - eps) * theta)
                            : ((1.0 - eps) + eps * c) / ((1.0 - eps) * c + eps);
    sum += 0.5 * along * along * (factor * factor - 1.0);
  }
  return sum;
}

static void check_formula(Jump* jump, int m) {
  (void)m;
  Pairs p = pairs_of(jump);
  for (int arc = 0; arc < 2; arc++) {
    for (unsigned flips = 0; flips < 3; flips++) {
      PawlImpactLaw law = {random_epsilon(), arc};
      double e_w = regularity(&p, law, flips);
      if (e_w > 1e-3 && solved(jump, law, flips)) {
        double change = kinetic(jump, jump->v_plus) - kinetic(jump, jump->v_minus);
        double size = kinetic(jump, jump->v_plus) + kinetic(jump, jump->v_minus);
        CHECK_NEAR(change, energy_change(jump, &p, law, flips), 1e-11 * size / e_w);
      }
    }
  }
}

static void test_energy_formula(void** unused) {
  (void)unused;
  for_all_sizes(8, check_formula);
}

// More than half way to the new gradient loses, less gains; without flips.
static void check_loss_and_gain(Jump* jump, int m) {
  (void)m;
  for (int arc = 0; arc < 2; arc++) {
    double epsilon = random_epsilon();
    Pairs p = pairs_of(jump);
    double e_w = regularity(&p, (PawlImpactLaw){epsilon, arc}, 0);
    if (solved(jump, (PawlImpactLaw){epsilon, arc}, 0)) {
      double change = relative_change(jump), rounding = 1e-12 / (e_w * e_w);
      assert_true(epsilon > 0.5 ? change <= rounding : change >= -rounding);
    }
  }
}

static void test_loss_and_gain(void** unused) {
  (void)unused;
  for_all_sizes(8, check_loss_and_gain);
}

// ---- a second way to the force directions -------------------------------------------------------
// Orthonormal rows in the metric of M^-1, by Gram and Schmidt, twice.
static void orthonormal(const Jump* jump, int m, double rows[][JUMP_MOST]) {
  for (int i = 0; i < m; i++) {
    for (int pass = 0; pass < 2; pass++) {
      for (int k = 0; k < i; k++) {
        double along = metric(jump, rows[k], rows[i]);
        for (int j = 0; j < jump->n; j++) {
          rows[i][j] -= along * rows[k][j];
        }
      }
      double size = sqrt(metric(jump, rows[i], rows[i]));
      for (int j = 0; j < jump->n; j++) {
        rows[i][j] /= size;
      }
    }
  }
}

// X <- its orthogonal polar factor, by Newton's method X <- (X + X^-T) / 2.
static void polar(int m, double X[][JUMP_MOST]) {
  for (int step = 0; step < 60; step++) {
    double inverse[JUMP_MOST][JUMP_MOST];  // inverse[j] is column j of X^-1
    for (int j = 0; j < m; j++) {
      double A[JUMP_MOST][JUMP_MOST];
      memcpy(A, X, sizeof A);
      memset(inverse[j], 0, sizeof *inverse);
      inverse[j][j] = 1.0;
      gauss(m, A, inverse[j]);
    }
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < m; j++) {
        X[i][j] = 0.5 * (X[i][j] + inverse[i][j]);
      }
    }
  }
}

// With orthonormal rows Q- and Q the directions are (1 - e) Q- + e P Q, where P is the orthogonal
// factor of Q- M^-1 Q^T: it pairs the rows of Q with those of Q- as the principal vectors do.
static void reference_chord(const Jump* jump, int m, double epsilon, double E[][JUMP_MOST]) {
  double before[JUMP_MOST][JUMP_MOST], after[JUMP_MOST][JUMP_MOST], P[JUMP_MOST][JUMP_MOST];
  double ignored[JUMP_MOST];
  take_active(jump, false, before, ignored);
  take_active(jump, true, after, ignored);
  orthonormal(jump, m, before);
  orthonormal(jump, m, after);
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < m; j++) {
      P[i][j] = metric(jump, before[i], after[j]);
    }
  }
  polar(m, P);
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < jump->n; j++) {
      E[i][j] = (1.0 - epsilon) * before[i][j];
      for (int l = 0; l < m; l++) {
        E[i][j] += epsilon * P[i][l] * after[l][j];
      }
    }
  }
}

static void check_chord(Jump* jump, int m) {
  double E[JUMP_MOST][JUMP_MOST], G[JUMP_MOST][JUMP_MOST], rate[JUMP_MOST], v[JUMP_MOST];
  Pairs p = pairs_of(jump);
  double epsilon = random_epsilon(), e_w = regularity(&p, (PawlImpactLaw){epsilon, false}, 0);
  double pairing = cos(p.angle[p.k - 1]);  // near 90 degrees the pairing is undetermined
  if (pairing > 1e-4 && e_w > 1e-4) {
    assert_int_equal(jump_run(jump, (PawlImpactLaw){epsilon, false}, 0), PAWL_OK);
    reference_chord(jump, m, epsilon, E);
    take_active(jump, true, G, rate);
    reference_jump(jump, m, G, rate, E, jump->v_minus, v);
    double tolerance = 1e-12 * speed(jump, jump->v_minus) / (pairing * e_w * e_w);
    CHECK_NEAR(speed_between(jump, v, jump->v_plus), 0.0, tolerance);
  }
}

static void test_chord_by_polar_factors(void** unused) {
  (void)unused;
  for_all_sizes(4, check_chord);
}

// What must not be done: half the sum of the matrices, (29) of Patil and Bruels. For several rows
// it neither keeps the energy nor gives the same motion when a row is written twice as long.
static void test_interpolated_matrices(void** unused) {
  (void)unused;
  int changed = 0, depends = 0, count = 0;
  jump_seed = 3;
  for (int k = 0; k < 200; k++, count++) {
    Jump jump = jump_random_system(5, 2, 2);
    double G[JUMP_MOST][JUMP_MOST], E[JUMP_MOST][JUMP_MOST], rate[JUMP_MOST], v[2][JUMP_MOST];
    for (int twice = 0; twice < 2; twice++) {
      take_active(&jump, true, G, rate);
      for (int i = 0; i < 2; i++) {
        for (int j = 0; j < jump.n; j++) {
          E[i][j] = 0.5 * (jump.before[i][j] + (1 + twice) * G[i][j]);
        }
      }
      reference_jump(&jump, 2, G, rate, E, jump.v_minus, v[twice]);
    }
    double size = speed(&jump, jump.v_minus);
    changed += fabs(speed(&jump, v[0]) - size) > 0.1 * size;
    depends += speed_between(&jump, v[0], v[1]) > 0.1 * size;
  }
  assert_true(changed > count / 4 && depends > count / 4);
}

// One row: (45) of Patil and Bruels, unit rows in the metric, the sign that makes the angle acute.
static void test_chord_of_one_row(void** unused) {
  (void)unused;
  jump_seed = 4;
  for (int k = 0; k < 500; k++) {
    Jump jump = jump_random_system(2 + k % 9, 1, 1);
    double a = sqrt(metric(&jump, jump.before[0], jump.before[0])), epsilon = random_epsilon();
    double b = sqrt(metric(&jump, jump.after[0], jump.after[0])), c = 0.0, B[JUMP_MOST];
    c = metric(&jump, jump.before[0], jump.after[0]) / (a * b);
    double sign = c < 0 ? -1.0 : 1.0;
    if ((1 - epsilon) * fabs(c) + epsilon < 1e-6) {
      continue;
    }
    assert_int_equal(jump_run(&jump, (PawlImpactLaw){epsilon, false}, 0), PAWL_OK);
    for (int j = 0; j < jump.n; j++) {
      B[j] = b * ((1 - epsilon) * sign * jump.before[0][j] / a + epsilon * jump.after[0][j] / b);
      CHECK_NEAR(jump.B[0][j], B[j], 1e-12 * b * sqrt(jump.M[j][j]));
    }
  }
}

// ---- the ends -----------------------------------------------------------------------------------
static void check_ends(Jump* jump, int m) {
  double G[JUMP_MOST][JUMP_MOST], before[JUMP_MOST][JUMP_MOST], rate[JUMP_MOST], v[JUMP_MOST];
  take_active(jump, true, G, rate);
  take_active(jump, false, before, rate);
  for (int arc = 0; arc < 2; arc++) {
    // post: the projection that the KKT matrix of M and G makes, and B = G to the last bit
    assert_int_equal(jump_run(jump, (PawlImpactLaw){1.0, arc}, 0), PAWL_OK);
    reference_jump(jump, m, G, rate, G, jump->v_minus, v);
    CHECK_NEAR(speed_between(jump, v, jump->v_plus), 0.0, 1e-12 * speed(jump, jump->v_minus));
    for (int r = 0; r < m; r++) {
      assert_memory_equal(jump->B[r], jump->after[r], (size_t)jump->n * sizeof(double));
    }
    // pre: the impulse is along the rows before
    Pairs p = pairs_of(jump);
    double e_w = regularity(&p, (PawlImpactLaw){0.0, false}, 0);
    if (e_w > 1e-3) {
      assert_int_equal(jump_run(jump, (PawlImpactLaw){0.0, arc}, 0), PAWL_OK);
      reference_jump(jump, m, G, rate, before, jump->v_minus, v);
      double tolerance = 1e-12 * speed(jump, jump->v_minus) / (e_w * e_w);
      CHECK_NEAR(speed_between(jump, v, jump->v_plus), 0.0, tolerance);
    }
  }
}

static void test_ends(void** unused) {
  (void)unused;
  for_all_sizes(4, check_ends);
}

// Next to its ends a law is next to the law of the end.
static void check_continuity(Jump* jump, int m) {
  double v[JUMP_MOST];
  for (unsigned k = 0; k < 4; k++) {
    bool arc = k % 2;
    assert_int_equal(jump_run(jump, (PawlImpactLaw){1.0, arc}, 0), PAWL_OK);
    memcpy(v, jump->v_plus, sizeof v);
    assert_int_equal(jump_run(jump, (PawlImpactLaw){1.0 - 1e-9, arc}, k / 2), PAWL_OK);
    double turned = k < 2 ? 1e-8 : 1e-6;  // a small angle turned round makes the arc steep
    CHECK_NEAR(speed_between(jump, v, jump->v_plus), 0.0, turned * speed(jump, jump->v_minus));
    for (int r = 0; r < m; r++) {
      double size = sqrt(metric(jump, jump->after[r], jump->after[r]));
      for (int j = 0; j < jump->n; j++) {
        CHECK_NEAR(jump->B[r][j], jump->after[r][j], turned * size * sqrt(jump->M[j][j]));
      }
    }
  }
}

static void test_continuity(void** unused) {
  (void)unused;
  for_all_sizes(2, check_continuity);
}

// ---- invariance ---------------------------------------------------------------------------------
// rows <- T rows
static void change_rows(const Jump* jump, int m, double T[][JUMP_MOST], double rows[][JUMP_MOST]) {
  double out[JUMP_MOST][JUMP_MOST] = {0};
  for (int i = 0; i < m; i++) {
    for (int k = 0; k < m; k++) {
      for (int j = 0; j < jump->n; j++) {
        out[i][j] += T[i][k] * rows[k][j];
      }
    }
  }
  memcpy(rows, out, sizeof out);
}

// kind 0: other lengths, 1: other signs, 2: other order, 3: any regular combination.
static void random_change(int kind, int m, double T[][JUMP_MOST]) {
  memset(T, 0, sizeof(double) * JUMP_MOST * JUMP_MOST);
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < m; j++) {
      double one = i == j;
      T[i][j] = kind == 0   ? one * pow(10.0, 6.0 * jump_random())
                : kind == 1 ? one * (jump_random() < 0 ? -1.0 : 1.0)
                : kind == 2 ? (double)(j == (i + 1) % m)
                            : 2.0 * one + jump_random() / m;
    }
  }
}

// The same motion, and B and Lambda that follow the rows: B' = T B.
static void check_invariance(Jump* jump, int m) {
  Pairs p = pairs_of(jump);
  double T[JUMP_MOST][JUMP_MOST], T_before[JUMP_MOST][JUMP_MOST];
  for (int kind = 0; kind < 4; kind++) {
    PawlImpactLaw law = {0.25 + 0.75 * fabs(jump_random()), kind % 2};
    unsigned flips = (unsigned)kind % 2;
    double e_w = regularity(&p, law, flips), pairing = cos(p.angle[p.k - 1]);
    if (e_w < 1e-3 || pairing < 1e-3) {
      continue;
    }
    Jump other = *jump;
    random_change(kind, m, T);
    random_change(kind, m, T_before);
    change_rows(jump, m, T, other.after);
    change_rows(jump, m, T_before, other.before);
    assert_int_equal(jump_run(jump, law, flips), PAWL_OK);
    assert_int_equal(jump_run(&other, law, flips), PAWL_OK);
    double tolerance = 1e-11 * speed(jump, jump->v_minus) / (pairing * e_w * e_w);
    CHECK_NEAR(speed_between(jump, jump->v_plus, other.v_plus), 0.0, tolerance);
    change_rows(jump, m, T, jump->B);
    for (int r = 0; r < m; r++) {
      for (int j = 0; j < jump->n; j++) {
        double size = sqrt(metric(jump, other.after[r], other.after[r]) * jump->M[j][j]);
        CHECK_NEAR(other.B[r][j], jump->B[r][j], 1e-10 * size / pairing);
      }
    }
  }
}

static void test_invariance(void** unused) {
  (void)unused;
  for_all_sizes(6, check_invariance);
}

// ---- unequal numbers of rows --------------------------------------------------------------------
// Rows that are added lose what they alone would take, rows that go lose nothing.
static void test_unequal_rows(void** unused) {
  (void)unused;
  jump_seed = 5;
  for (int n = 2; n <= MOST_N; n++) {
    for (int k = 0; k < 20; k++) {
      int before = 1 + (int)(fabs(jump_random()) * (n - 1)), extra = 0;
      int after = 1 + (int)(fabs(jump_random()) * (n - 1));
      Jump jump = jump_random_system(n, before, after);
      assert_int_equal(jump_run(&jump, (PawlImpactLaw){0.5, k % 2}, 0), PAWL_OK);
      assert_true(jump_residual(&jump) < 1e-12);
      assert_true(jump.planes <= (before < after ? before : after));
      Pairs p = pairs_of(&jump);
      double rows[JUMP_MOST][JUMP_MOST], lost = 0.0;
      memcpy(rows, p.w, sizeof rows);
      for (; p.k + extra < after; extra++) {
        memcpy(rows[p.k + extra], jump.after[extra], sizeof *rows);
      }
      orthonormal(&jump, p.k + extra, rows);
      for (int i = p.k; i < p.k + extra; i++) {  // (J8)
        double along = dot(n, rows[i], jump.v_minus);
        lost += 0.5 * along * along;
      }
      double change = kinetic(&jump, jump.v_minus) - kinetic(&jump, jump.v_plus);
      CHECK_NEAR(change, lost, 1e-11 * kinetic(&jump, jump.v_minus));
    }
  }
}

// ---- moving constraints -------------------------------------------------------------------------
// Both sets of rows move with one velocity v_s: seen from there the bisector keeps the energy, and
// what the kinetic energy gains is the work v_s . M (v+ - v-) of what moves the constraints.
static void check_moving(Jump* jump, int m) {
  double v_s[JUMP_MOST], arrive[JUMP_MOST], leave[JUMP_MOST], work = 0.0;
  for (int j = 0; j < jump->n; j++) {
    v_s[j] = jump_random() / sqrt(jump->M[j][j]);
  }
  for (int r = 0; r < m; r++) {
    jump->rate_before[r] = -dot(jump->n, jump->before[r], v_s);
    jump->rate_after[r] = -dot(jump->n, jump->after[r], v_s);
  }
  jump_meet_before(jump);
  assert_int_equal(jump_run(jump, (PawlImpactLaw){0.5, m % 2}, 0), PAWL_OK);
  assert_true(jump_residual(jump) < 1e-12);
  for (int j = 0; j < jump->n; j++) {
    arrive[j] = jump->v_minus[j] - v_s[j];
    leave[j] = jump->v_plus[j] - v_s[j];
  }
  double size = kinetic(jump, jump->v_plus) + kinetic(jump, jump->v_minus) + kinetic(jump, v_s);
  CHECK_NEAR(kinetic(jump, leave), kinetic(jump, arrive), 1e-12 * size);
  for (int i = 0; i < jump->n; i++) {
    for (int j = 0; j < jump->n; j++) {
      work += v_s[i] * jump->M[i][j] * (jump->v_plus[j] - jump->v_minus[j]);
    }
  }
  double change = kinetic(jump, jump->v_plus) - kinetic(jump, jump->v_minus);
  CHECK_NEAR(change, work, 1e-11 * size);  // (J9)
}

static void test_moving_constraints(void** unused) {
  (void)unused;
  for_all_sizes(4, check_moving);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equations),
      cmocka_unit_test(test_bisector_conserves_energy),
      cmocka_unit_test(test_every_flip_conserves_energy),
      cmocka_unit_test(test_energy_formula),
      cmocka_unit_test(test_loss_and_gain),
      cmocka_unit_test(test_chord_by_polar_factors),
      cmocka_unit_test(test_interpolated_matrices),
      cmocka_unit_test(test_chord_of_one_row),
      cmocka_unit_test(test_ends),
      cmocka_unit_test(test_continuity),
      cmocka_unit_test(test_invariance),
      cmocka_unit_test(test_unequal_rows),
      cmocka_unit_test(test_moving_constraints),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
