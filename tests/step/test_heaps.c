// SPDX-License-Identifier: Apache-2.0
// Heaps of bodies with friction: pyramids at rest and settling, in the plane and in space.
#include "step/disc_bin.h"
#include "step/heaps.h"
#include "step/method.h"

// ---- rest ---------------------------------------------------------------------------------------
// All forces from the first step on, in pyramids whose contacts depend on each other, too.
static void test_pyramids_rest(void** unused) {
  (void)unused;
  static const char* const texts[] = {APART, TOUCHING};
  static const char* const apart[] = {"B=12"};
  static const char* const touching[] = {"B=12", "s=2*r"};
  for (int k = 0; k < 2 * METHOD_COUNT; k++) {
    Motion m = heap(texts[k % 2], 1 + k % 2, k % 2 ? touching : apart);
    check_rests(&m, METHODS[k / 2], 1e-3, 20, 1e-12);
    motion_end(&m);
  }
}

// Contacts that rub push beside the smooth motion, whose matrix is then that of the masses, and is
// factored once.
static void test_smooth_factors_stay(void** unused) {
  (void)unused;
  static const char* const settings[] = {"B=5"};
  Motion m = heap(APART, 1, settings);
  check_rests(&m, "nsga-pva", 1e-3, 20, 1e-12);
  assert_true(pawl_stepper_info(m.stepper).factorizations <= 3);
  motion_end(&m);
}

// Gaps of which more are closed than can be, but for rounding: neighbours touch all around, and a
// body between five points that it touches.
static void test_jammed_rest(void** unused) {
  (void)unused;
  static const char* const settings[] = {"B=8", "s=2*r"};
  Motion m = heap(TOUCHING, 2, settings);
  check_rests(&m, "nsga-pva", 1e-3, 100, 1e-12);
  motion_end(&m);
#define AT(a, b, nx, ny, mu, tx, ty)                                              \
  "{gap: (x + (" #a ")*cos(p) - (" #b ")*sin(p) - 1.3 - (" #a ")*cos(0.4) + (" #b \
  ")*sin(0.4))*(" #nx ") + (y + (" #a ")*sin(p) + (" #b ")*cos(p) - 0.7 - (" #a   \
  ")*sin(0.4) - (" #b ")*cos(0.4))*(" #ny "), friction: " #mu ", slip: (x + (" #a \
  ")*cos(p) - (" #b ")*sin(p))*(" #tx ") + (y + (" #a ")*sin(p) + (" #b ")*cos(p))*(" #ty ")}\n"
  static const char body[] =
      "model: body\n"
      "coordinates: {x: 1.3, y: 0.7, p: 0.4}\n"
      "mass: {x: 1, y: 1, p: 0.1}\n"
      "forces: {x: -2.2081059665361327, y: 0.669328016123881, p: 0.25661255902297375}\n"
      "contacts:\n"
      "  c0: " AT(-0.5921567433307441, 0.18375135332657777, -0.40810674270560793,
                  0.9129342180892437, 1.5, -0.9129342180892437, -0.40810674270560793)
      "  c1: " AT(-0.2317887177066102, 1.0593067360723891, -0.5856609277053318,
                  0.8105561533659035, 0.5, -0.8105561533659035, -0.5856609277053318)
      "  c2: " AT(-0.43672340172450375, 0.5109960442054539, 0.6111851462381824,
                  -0.7914876606857567, 1.5, 0.7914876606857567, 0.6111851462381824)
      "  c3: " AT(0.4971462526356918, -0.12459262508925593, -0.6020871469380081,
                  0.7984303773605118, 0.8, -0.7984303773605118, -0.6020871469380081)
      "  c4: " AT(-0.32237903338943186, 0.6920905660553188, -0.32237217659845063,
                  0.9466130042182905, 0.3, -0.9466130042182905, -0.32237217659845063);
#undef AT
  m = heap(body, 0, NULL);
  check_rests(&m, "nsga-pva", 1e-3, 1000, 1e-11);  // gaps are met to 1e-12 of their terms
  motion_end(&m);
}

// Forces that hold them exist, and so does a motion in which they fall apart; rest is taken.  (T17)
static void test_rest_of_several(void** unused) {
  (void)unused;
  static const char* const settings[][3] = {{"B=4", "s=2*r", "mu=0.5"}, {"B=5", "s=2*r", "mu=0.6"}};
  for (int k = 0; k < 2 * METHOD_COUNT; k++) {
    Motion m = heap(APART, 3, settings[k % 2]);
    check_rests(&m, METHODS[k / 2], 1e-3, 20, 1e-12);
    assert_non_null(strstr(pawl_stepper_warning(m.stepper), "they hold"));
    motion_end(&m);
  }
}

// The same where instants are located.                                                      (F33)
static void test_located_rest(void** unused) {
  (void)unused;
  static const char* const settings[][3] = {{"B=3", "s=2*r", "mu=0.45"},
                                            {"B=3", "s=2*r", "mu=0.5"},
                                            {"B=5", "s=2*r", "mu=0.6"},
                                            {"B=3", "s=2*r", "mu=0.9"},
                                            {"B=4", "s=2*r", "mu=0.6"}};
  for (int k = 0; k < 5; k++) {
    Motion m = heap(k < 3 ? APART : TOUCHING, 3, settings[k]);
    check_rests(&m, "event-driven", 1e-3, 20, 1e-12);
    motion_end(&m);
  }
}

static long long factorizations(const Motion* m) {
  long long count = 0;
  for (int k = 0; k < 2; k++) {
    const PawlKkt* kkt = m->stepper->more_kkt[k];
    count += kkt ? pawl_kkt_info(kkt).factorizations : 0;
  }
  return count;
}

// A heap at rest is solved with the factors that there are, (T16), and one that is loaded and has
// to make them anew goes on with the same bits.
static void test_factors_stay(void** unused) {
  (void)unused;
  static const char* const settings[] = {"B=20"};
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = heap(APART, 1, settings), other = heap(APART, 1, settings);
    motion_start(&m, METHODS[k]);
    motion_start(&other, METHODS[k]);
    assert_int_equal(pawl_kkt_info(m.stepper->more_kkt[0]).solver, PAWL_KKT_BLOCKS);
    for (int i = 0; i < 50; i++) {
      motion_step(&m, 1e-3);
    }
    NEED(pawl_state_copy(other.stepper, other.state, m.stepper, m.state, &m.err), &m.err);
    long long before = factorizations(&m);
    for (int i = 0; i < 20; i++) {
      motion_step(&m, 1e-3);
      motion_step(&other, 1e-3);
    }
    assert_true(factorizations(&m) <= before + 1);
    assert_memory_equal(m.state->q, other.state->q, (size_t)m.n.q * sizeof(double));
    assert_memory_equal(m.state->v, other.state->v, (size_t)m.n.v * sizeof(double));
    motion_end(&m);
    motion_end(&other);
  }
}

typedef struct Numbers {
  double q[MOTION_MOST], v[MOTION_MOST];
} Numbers;

static void check_same(const Motion* m, const Numbers* first, const PawlState* state) {
  assert_memory_equal(state->q, first->q, (size_t)m->n.q * sizeof(double));
  assert_memory_equal(state->v, first->v, (size_t)m->n.v * sizeof(double));
}

// A pyramid falls apart: started again the same stepper takes the same steps, to the bit, and a
// state that is copied into another goes on with them, whatever was looked at aside.
static void test_same_bits(void** unused) {
  (void)unused;
  enum { STEPS = 40, CUT = 26 };
  static const char* const settings[] = {"B=6", "s=2*r", "drop=0.0005", "mu=0.3"};
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = heap(TOUCHING, 4, settings), other = heap(TOUCHING, 4, settings);
    static Numbers first[STEPS];
    assert_in_range(m.n.v, 1, MOTION_MOST);
    motion_start(&m, METHODS[k]);
    motion_stepper(&other, METHODS[k]);
    for (int i = 0; i < STEPS; i++) {
      motion_step(&m, 1e-3);
      memcpy(first[i].q, m.state->q, (size_t)m.n.q * sizeof(double));
      memcpy(first[i].v, m.state->v, (size_t)m.n.v * sizeof(double));
      if (i == CUT) {
        NEED(pawl_state_copy(other.stepper, other.state, m.stepper, m.state, &m.err), &m.err);
      } else if (i > CUT) {
        motion_step(&other, 1e-3);
        check_same(&m, &first[i], other.state);
      }
    }
    pawl_system_start(m.system, m.state->q, m.state->v);
    m.state->t = 0.0;
    m.state->step = 0;
    NEED(pawl_stepper_start(m.stepper, m.state, false, &m.err), &m.err);
    for (int i = 0; i < STEPS; i++) {
      motion_step(&m, 1e-3);
      check_same(&m, &first[i], m.state);
    }
    motion_end(&m);
    motion_end(&other);
  }
}

static void test_large_pyramid_rests(void** unused) {
  (void)unused;
  static const char* const settings[] = {"B=30"};  // 900 contacts
  Motion m = heap(APART, 1, settings);
  check_rests(&m, "moreau-jean", 1e-3, 5, 1e-12);
  motion_end(&m);
}

// Forces balance the weights: what the ground carries, and each contact within its cone.
static void test_forces_of_pyramid(void** unused) {
  (void)unused;
  enum { B = 10, CONTACTS = B * B + B * (B - 1) / 2 };
  static const char* const settings[] = {"B=10", "s=2*r"};
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = heap(TOUCHING, 2, settings);
    double lambda[2 * CONTACTS], carried = 0.0;
    assert_int_equal(m.n.rows, 2 * CONTACTS);
    motion_start(&m, METHODS[k]);
    motion_step(&m, 1e-3);
    NEED(pawl_stepper_multipliers(m.stepper, m.state, lambda, &m.err), &m.err);
    for (int c = 0; c < CONTACTS; c++) {
      double N = lambda[CONTACTS + c], T = lambda[c];
      assert_true(N >= 0.0 && fabs(T) <= 0.8 * N * (1.0 + 1e-9) + 1e-9);
      carried += c < B ? N : 0.0;
    }
    CHECK_NEAR(carried, 9.81 * B * (B + 1) / 2, 1e-7);
    motion_end(&m);
  }
}

// At the start forces are those of the rest, friction included.
static void test_start(void** unused) {
  (void)unused;
  static const char* const settings[] = {"B=6"};
  Motion m = heap(APART, 1, settings);
  motion_start(&m, "moreau-jean");
  for (int j = 0; j < m.n.v; j++) {
    CHECK_NEAR(m.state->a[j], 0.0, 1e-9);
  }
  motion_end(&m);
}

// ---- motion -------------------------------------------------------------------------------------
static double energy(const Motion* m, int discs) {
  double sum = 0.0;
  for (int i = 0; i < discs; i++) {
    const double *q = m->state->q, *v = m->state->v;
    double spin = v[2 * discs + i], x = v[i], y = v[discs + i];
    sum += 0.5 * (x * x + y * y + 0.005 * spin * spin) + 9.81 * q[discs + i];
  }
  return sum;
}

// A step, in halves where it does not converge, as a run takes it.
static void take_step(Motion* m, double h, int halvings) {
  PawlStatus status = pawl_stepper_step(m->stepper, m->state, h, &m->err);
  if (status == PAWL_RETRY && halvings > 0) {
    take_step(m, h / 2, halvings - 1);
    take_step(m, h / 2, halvings - 1);
  } else {
    NEED(status, &m->err);
  }
}

// Steps whose last iterations go to and fro by next to nothing are no relaxed ones: this pyramid
// has four within 90, and cones are met. (T33)
static void test_to_and_fro(void** unused) {
  (void)unused;
  static const char* const settings[] = {"B=10", "s=2*r", "drop=0.0005", "mu=0.3"};
  Motion m = heap(TOUCHING, 4, settings);
  motion_start(&m, "nsga-pvv");
  for (int i = 0; i < 90; i++) {
    take_step(&m, 1e-3, 10);
  }
  PawlStepperInfo info = pawl_stepper_info(m.stepper);
  assert_int_equal(info.relaxed, 0);
  assert_true(info.cones <= 1e-12);
  motion_end(&m);
}

static void check_energy(Motion* m, const char* method, int discs, int steps) {
  motion_start(m, method);
  double before = energy(m, discs), first = before;
  for (int i = 0; i < steps; i++) {
    take_step(m, 1e-3, 10);
    double after = energy(m, discs);
    assert_true(after <= before + 1e-6 * first);  // what the order of a method does to a fall
    before = after;
  }
}

// A pyramid whose rows fall onto each other, and then apart: discs roll, slide, hit and let go, and
// energy never grows.
static void test_collapses(void** unused) {
  (void)unused;
  static const char* const settings[] = {"B=7", "drop=0.0005", "mu=0.9"};
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = heap(APART, 3, settings);
    check_energy(&m, METHODS[k], 28, 100);
    motion_end(&m);
  }
}

// Larger ones, of which steps are left whose places no search by sets finds: they end, all the
// same, and cones are met to what (F16) leaves.
static void test_large_collapse(void** unused) {
  (void)unused;
  static const char* const settings[] = {"B=10", "drop=0.0005"};
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = heap(APART, 2, settings);
    check_energy(&m, METHODS[k], 55, 60);
    assert_true(pawl_stepper_info(m.stepper).cones < 1e-3);
    motion_end(&m);
  }
}

// Contacts that change are solved for by themselves: without (T18) 34 of these steps are left with
// a relaxed solution.
static void test_few_by_themselves(void** unused) {
  (void)unused;
  static const char* const settings[] = {"B=10", "s=2*r", "drop=0.0005", "mu=0.3"};
  Motion m = heap(TOUCHING, 4, settings);
  check_energy(&m, "nsga-pva", 55, 120);
  assert_true(pawl_stepper_info(m.stepper).relaxed <= 5);
  assert_true(pawl_stepper_info(m.stepper).cones < 1e-3);
  motion_end(&m);
}

// Rows that fall onto each other and touch their neighbours come to rest, without a step in halves.
static void test_pyramid_settles(void** unused) {
  (void)unused;
  static const char* const settings[] = {"B=16", "s=2*r", "drop=0.0005"};
  Motion m = heap(TOUCHING, 3, settings);
  motion_start(&m, "nsga-pva");
  for (int i = 0; i < 150; i++) {
    motion_step(&m, 1e-3);
  }
  assert_true(largest_of(m.n.v, m.state->v) < 1e-10);
  assert_true(pawl_stepper_info(m.stepper).cones < 1e-5);
  motion_end(&m);
}

// A column whose discs fall onto each other comes to rest.
static void test_settles(void** unused) {
  (void)unused;
  static const char* const settings[] = {"drop=0.0005"};
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = heap(DISCS, 1, settings);
    check_energy(&m, METHODS[k], 20, 300);
    assert_true(largest_of(m.n.v, m.state->v) < 1e-10);
    motion_end(&m);
  }
}

// (T7) and 0 <= u _|_ P >= 0 at the end of a step, from M, G and v alone; the number of contacts
// that slip.
static int check_laws(Motion* m, PawlEval* eval, double mu, double* rate, double* size) {
  PawlPoint point = state_point(m->state);
  NEED(pawl_eval_run(eval, &point, &m->err), &m->err);
  const PawlValues* values = pawl_eval_values(eval);
  PawlPattern G = pawl_system_pattern_G(m->system);
  const double* lambda = m->state->lambda;
  int contacts = m->n.rows / 2, slips = 0;
  double rounding = 1e-12 * largest_of(m->n.rows, lambda);  // PAWL_ROWS_ROUNDING
  for (int i = 0; i < m->n.rows; i++) {
    rate[i] = values->g_t[i];
    size[i] = 1e-3;
  }
  for (int j = 0; j < G.cols; j++) {
    for (int e = G.start[j]; e < G.start[j + 1]; e++) {
      rate[G.index[e]] += values->G[e] * m->state->v[j];
      size[G.index[e]] += fabs(values->G[e] * m->state->v[j]);
    }
  }
  for (int c = 0; c < contacts; c++) {
    double N = lambda[contacts + c], T = lambda[c], slack = 1e-8 * size[contacts + c];
    assert_true(N >= 0.0 && fabs(T) <= mu * N + rounding);
    assert_true(N == 0.0 || fabs(rate[contacts + c]) <= slack);
    if (N > 0.0 && fabs(rate[c]) > 1e-8 * size[c]) {
      CHECK_NEAR(T, -copysign(mu * N, rate[c]), rounding);
      slips++;
    }
  }
  return slips;
}

// A pyramid of 330 contacts that falls apart: laws hold in all steps but a few. Its levels of
// softness are solved along paths (F50).
static void test_paths(void** unused) {
  (void)unused;
  static const char* const settings[] = {"B=15", "s=2*r", "drop=0.0005", "mu=0.3"};
  Motion m = heap(TOUCHING, 4, settings);
  PawlEval* eval = NULL;
  double *rate = calloc((size_t)m.n.rows, sizeof *rate),
         *size = calloc((size_t)m.n.rows, sizeof *size);
  long long before = 0;
  int slips = 0;
  NEED(
      pawl_eval_create(m.system, PAWL_POSITION | PAWL_GRADIENT | PAWL_TIME_GRADIENT, &eval, &m.err),
      &m.err);
  motion_start(&m, "moreau-jean");
  for (int i = 0; i < 120; i++) {
    take_step(&m, 1e-3, 10);
    long long relaxed = pawl_stepper_info(m.stepper).relaxed;
    slips += relaxed == before ? check_laws(&m, eval, 0.3, rate, size) : 0;
    before = relaxed;
  }
  assert_true(slips > 1000);
  assert_true(before <= 4);
  free(rate);
  free(size);
  pawl_eval_destroy(eval);
  motion_end(&m);
}

// Laws hold in every step, and what has no friction begins with the slip that it has: 6.2 sets an
// iteration are factored where it begins with sticking, 2.7 so.
static void test_bin_fills(void** unused) {
  (void)unused;
  static const char* const mu[] = {"mu=0", "mu=0.3", "mu=1"};
  static const double value[] = {0.0, 0.3, 1.0};
  for (int k = 0; k < 3; k++) {
    Motion m = heap(DISC_BIN, 1, &mu[k]);
    PawlEval* eval = NULL;
    double *rate = calloc((size_t)m.n.rows, sizeof *rate),
           *size = calloc((size_t)m.n.rows, sizeof *size);
    int slips = 0;
    NEED(pawl_eval_create(m.system, PAWL_POSITION | PAWL_GRADIENT | PAWL_TIME_GRADIENT, &eval,
                          &m.err),
         &m.err);
    motion_start(&m, "moreau-jean");
    for (int i = 0; i < 400; i++) {
      take_step(&m, 1e-3, 10);
      slips += check_laws(&m, eval, value[k], rate, size);
    }
    assert_true(slips > 500);
    assert_true(k > 0 || factorizations(&m) < 4 * pawl_stepper_info(m.stepper).newton_iterations);
    assert_int_equal(pawl_stepper_info(m.stepper).relaxed, 0);
    assert_true(pawl_stepper_info(m.stepper).cones < 1e-10);
    free(rate);
    free(size);
    pawl_eval_destroy(eval);
    motion_end(&m);
  }
}

// A column of spheres, two slips each, pushed apart sideways: within a round cone in every step.
static const char SPHERES[] =
    "model: spheres\n"
    "parameters: {N: 12, r: 0.1, mu: 0.3}\n"
    "coordinates:\n"
    "  'x[i=1..N]': {rate: 0.02*sin(i)}\n"
    "  'y[i=1..N]': {rate: 0.02*cos(3*i)}\n"
    "  'z[i=1..N]': {start: (2*i - 1)*r}\n"
    "  'a[i=1..N]':\n"
    "  'b[i=1..N]':\n"
    "mass: {'x[i=1..N]': 1, 'y[i=1..N]': 1, 'z[i=1..N]': 1, 'a[i=1..N]': 0.4*r^2, "
    "'b[i=1..N]': 0.4*r^2}\n"
    "potential: {for i=1..N: '9.81*z[i]'}\n"
    "contacts:\n"
    "  ground: {gap: 'z[1] - r', friction: mu, slip: [\"x[1]' - r*b[1]'\", \"y[1]' + r*a[1]'\"]}\n"
    "  pair[i=2..N]:\n"
    "    gap: 'z[i] - z[i-1] - 2*r'\n"
    "    friction: mu\n"
    "    slip: [\"x[i]' - x[i-1]' - r*(b[i]' + b[i-1]')\", "
    "\"y[i]' - y[i-1]' + r*(a[i]' + a[i-1]')\"]\n";

static void test_spheres(void** unused) {
  (void)unused;
  enum { N = 12 };
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(SPHERES);
    double lambda[3 * N];
    motion_start(&m, METHODS[k]);
    for (int i = 0; i < 100; i++) {
      motion_step(&m, 1e-3);
      NEED(pawl_stepper_multipliers(m.stepper, m.state, lambda, &m.err), &m.err);
      for (int c = 0; c < N; c++) {
        double n = lambda[2 * N + c], t = hypot(lambda[2 * c], lambda[2 * c + 1]);
        CHECK_NEAR(n, 9.81 * (N - c), 1e-6);
        assert_true(t <= 0.3 * n * (1.0 + 1e-9));
      }
    }
    motion_end(&m);
  }
}

// Thirty spheres in four layers, just apart within a layer, that friction cannot hold: all slips
// are small, and turn. Every step has a solution. (With the directions of the set before in the
// place of (T31) there was none in the first.)
static const char PILE[] =
    "model: pile\n"
    "parameters: {K: 4, r: 0.1, mu: 0.6, s: 2.01*r, h: 'sqrt(4*r^2 - s^2/2)'}\n"
    "functions:\n"
    "  one(x, y, z, u, v, w): (u*z - w*x)/hypot(x, z)\n"
    "  two(x, y, z, u, v, w): (v*(x^2 + z^2) - y*(u*x + w*z))/hypot(x, z)/hypot(x, y, z)\n"
    "mass: {'x[k=1..K,i=1..K-k+1,j=1..K-k+1]': 1, 'y[k=1..K,i=1..K-k+1,j=1..K-k+1]': 1,\n"
    "  'z[k=1..K,i=1..K-k+1,j=1..K-k+1]': 1, 'a[k=1..K,i=1..K-k+1,j=1..K-k+1]': 0.4*r^2,\n"
    "  'b[k=1..K,i=1..K-k+1,j=1..K-k+1]': 0.4*r^2, 'c[k=1..K,i=1..K-k+1,j=1..K-k+1]': 0.4*r^2}\n"
    "potential: {for k=1..K: {for i=1..K-k+1: {for j=1..K-k+1: '9.81*z[k,i,j]'}}}\n"
    "coordinates:\n"
    "  x[k=1..K,i=1..K-k+1,j=1..K-k+1]: {start: s*(i + k/2)}\n"
    "  y[k=1..K,i=1..K-k+1,j=1..K-k+1]: {start: s*(j + k/2)}\n"
    "  z[k=1..K,i=1..K-k+1,j=1..K-k+1]: {start: r + h*(k - 1)}\n"
    "  a[k=1..K,i=1..K-k+1,j=1..K-k+1]:\n"
    "  b[k=1..K,i=1..K-k+1,j=1..K-k+1]:\n"
    "  c[k=1..K,i=1..K-k+1,j=1..K-k+1]:\n";

// A sphere and one of the four below it.
static const char PILE_DEFINES[] =
    "  X#[k=2..K,i=1..K-k+1,j=1..K-k+1]: x[k,i,j] - x[k-1,i+p,j+q]\n"
    "  Y#[k=2..K,i=1..K-k+1,j=1..K-k+1]: y[k,i,j] - y[k-1,i+p,j+q]\n"
    "  Z#[k=2..K,i=1..K-k+1,j=1..K-k+1]: z[k,i,j] - z[k-1,i+p,j+q]\n"
    "  A#[k=2..K,i=1..K-k+1,j=1..K-k+1]: \"(a[k,i,j]' + a[k-1,i+p,j+q]')/2\"\n"
    "  B#[k=2..K,i=1..K-k+1,j=1..K-k+1]: \"(b[k,i,j]' + b[k-1,i+p,j+q]')/2\"\n"
    "  C#[k=2..K,i=1..K-k+1,j=1..K-k+1]: \"(c[k,i,j]' + c[k-1,i+p,j+q]')/2\"\n"
    "  U#[k=2..K,i=1..K-k+1,j=1..K-k+1]: \"X#[k,i,j]' - B#[k,i,j]*Z#[k,i,j] + "
    "C#[k,i,j]*Y#[k,i,j]\"\n"
    "  V#[k=2..K,i=1..K-k+1,j=1..K-k+1]: \"Y#[k,i,j]' - C#[k,i,j]*X#[k,i,j] + "
    "A#[k,i,j]*Z#[k,i,j]\"\n"
    "  W#[k=2..K,i=1..K-k+1,j=1..K-k+1]: \"Z#[k,i,j]' - A#[k,i,j]*Y#[k,i,j] + "
    "B#[k,i,j]*X#[k,i,j]\"\n";
static const char PILE_PAIR[] =
    "  pair#[k=2..K,i=1..K-k+1,j=1..K-k+1]:\n"
    "    gap: 'hypot(X#[k,i,j], Y#[k,i,j], Z#[k,i,j]) - 2*r'\n"
    "    friction: mu\n"
    "    slip: ['one(X#[k,i,j], Y#[k,i,j], Z#[k,i,j], U#[k,i,j], V#[k,i,j], W#[k,i,j])',\n"
    "      'two(X#[k,i,j], Y#[k,i,j], Z#[k,i,j], U#[k,i,j], V#[k,i,j], W#[k,i,j])']\n";
static const char PILE_FLOOR[] =
    "  floor[i=1..K,j=1..K]: {gap: 'z[1,i,j] - r', friction: mu,\n"
    "    slip: [\"x[1,i,j]' - r*b[1,i,j]'\", \"y[1,i,j]' + r*a[1,i,j]'\"]}\n";

// Four times, with the digits of the sphere below in the place of #, +p and +q.
static char* add_four(char* out, const char* text) {
  for (int k = 0; k < 4; k++) {
    char p = (char)('0' + k / 2), q = (char)('0' + k % 2);
    for (const char* c = text; *c; c++) {
      if (*c == '#') {
        *out++ = p;
        *out++ = q;
      } else {
        bool index = c > text && c[-1] == '+';
        *out++ = index && *c == 'p' ? p : index && *c == 'q' ? q : *c;
      }
    }
  }
  *out = '\0';
  return out;
}

static void test_pile_of_spheres(void** unused) {
  (void)unused;
  char text[12000];
  char* end = text + sprintf(text, "%sdefine:\n", PILE);
  end = add_four(end, PILE_DEFINES);
  end += sprintf(end, "contacts:\n%s", PILE_FLOOR);
  add_four(end, PILE_PAIR);
  Motion m = motion_text(text);
  motion_start(&m, "nsga-pvv");
  for (int i = 0; i < 15; i++) {
    motion_step(&m, 1e-3);
  }
  PawlStepperInfo info = pawl_stepper_info(m.stepper);
  assert_int_equal(info.relaxed, 0);
  assert_int_equal(info.swept, 0);
  assert_true(info.cones < 1e-12);
  motion_end(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pyramids_rest),
      cmocka_unit_test(test_large_pyramid_rests),
      cmocka_unit_test(test_smooth_factors_stay),
      cmocka_unit_test(test_factors_stay),
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_to_and_fro),
      cmocka_unit_test(test_jammed_rest),
      cmocka_unit_test(test_rest_of_several),
      cmocka_unit_test(test_located_rest),
      cmocka_unit_test(test_forces_of_pyramid),
      cmocka_unit_test(test_start),
      cmocka_unit_test(test_collapses),
      cmocka_unit_test(test_large_collapse),
      cmocka_unit_test(test_few_by_themselves),
      cmocka_unit_test(test_pyramid_settles),
      cmocka_unit_test(test_settles),
      cmocka_unit_test(test_paths),
      cmocka_unit_test(test_bin_fills),
      cmocka_unit_test(test_spheres),
      cmocka_unit_test(test_pile_of_spheres),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
