// SPDX-License-Identifier: Apache-2.0
// A quarter car over a road of 10^5 measured points. Between two points the road is a straight
// line, so the car, which is linear, has a closed form there: from point to point its state is
// multiplied by the same matrix exponential. That is the reference; it knows nothing of tables,
// kinks and integrators.
#include "step/motion.h"

enum { POINTS = 100001, STATES = 4, SIZE = STATES + 2 };
static const double LENGTH = 1000.0;  // of the road [m]
static const double SPEED = 20.0;     // [m/s]
static const double M1 = 300.0, M2 = 40.0, K1 = 2e4, K2 = 2e5, C1 = 1500.0;

#define ROAD "test_road.csv"

// Waves of 25 m down to 0.5 m, their heights falling with the length; whole periods on the road.
static double height(int i) {
  double s = (double)(i % (POINTS - 1)) / (POINTS - 1), z = 0.0, pi = acos(-1.0);
  for (int k = 1; k <= 50; k += 7) {
    z += 0.02 / k * sin(2.0 * pi * 40.0 * k * s + k * k);
  }
  return z;
}

static void write_road(double* z) {
  FILE* file = fopen(ROAD, "w");
  assert_non_null(file);
  fprintf(file, "s [m],z [m]\n");
  for (int i = 0; i < POINTS; i++) {
    char text[40];
    snprintf(text, sizeof text, "%.9f", height(i));
    z[i] = strtod(text, NULL);
    fprintf(file, "%.5f,%s\n", LENGTH * i / (POINTS - 1), text);
  }
  fclose(file);
}

// ---- the reference ------------------------------------------------------------------------------
// y = (z1, z2, z1', z2', road, road'), y' = A y.
static void fill(double A[SIZE][SIZE]) {
  memset(A, 0, sizeof(double) * SIZE * SIZE);
  A[0][2] = A[1][3] = A[4][5] = 1.0;
  A[2][0] = -K1 / M1, A[2][1] = K1 / M1, A[2][2] = -C1 / M1, A[2][3] = C1 / M1;
  A[3][0] = K1 / M2, A[3][1] = -(K1 + K2) / M2, A[3][2] = C1 / M2, A[3][3] = -C1 / M2;
  A[3][4] = K2 / M2;
}

// exp(A h) by its series: |A h| < 4, 60 terms.
static void exponential(double h, double E[SIZE][SIZE]) {
  double A[SIZE][SIZE], term[SIZE][SIZE] = {{0}}, next[SIZE][SIZE];
  fill(A);
  for (int i = 0; i < SIZE; i++) {
    term[i][i] = 1.0;
  }
  memcpy(E, term, sizeof term);
  for (int k = 1; k <= 60; k++) {
    for (int i = 0; i < SIZE; i++) {
      for (int j = 0; j < SIZE; j++) {
        next[i][j] = 0.0;
        for (int l = 0; l < SIZE; l++) {
          next[i][j] += term[i][l] * A[l][j] * h / k;
        }
      }
    }
    memcpy(term, next, sizeof term);
    for (int i = 0; i < SIZE; i++) {
      for (int j = 0; j < SIZE; j++) {
        E[i][j] += term[i][j];
      }
    }
  }
}

// The state after `pieces` pieces of the road behind point `from`, from rest; beyond its end the
// road goes on as `more` says: again from the beginning, or level.
static void drive(const double* z, int from, int pieces, bool again, double y[SIZE]) {
  double h = LENGTH / (POINTS - 1) / SPEED, E[SIZE][SIZE], moved[SIZE];
  exponential(h, E);
  memset(y, 0, sizeof(double) * SIZE);
  for (int k = 0; k < pieces; k++) {
    int i = again ? (from + k) % (POINTS - 1) : k < POINTS - 1 ? k : POINTS - 1;
    int j = i < POINTS - 1 ? i + 1 : i;
    y[4] = z[i];
    y[5] = (z[j] - z[i]) / h;
    for (int r = 0; r < SIZE; r++) {
      moved[r] = 0.0;
      for (int c = 0; c < SIZE; c++) {
        moved[r] += E[r][c] * y[c];
      }
    }
    memcpy(y, moved, sizeof moved);
  }
}

// ---- runs ---------------------------------------------------------------------------------------

static void run(const char* place, const char* outside, const char* method, double until,
                double q[2], double v[2], int* kinks) {
  char text[900];
  bool moves = place[0] == 's';
  snprintf(text, sizeof text,
           "model: quarter-car\nparameters: {v: %g}\n"
           "tables: {road: {file: " ROAD
           ", x: s, y: z, outside: %s}}\n"
           "coordinates: {z1: , z2: %s}\nmass: {z1: %g, z2: %g%s}\n"
           "potential: [%g/2*(z1 - z2)^2, %g/2*(z2 - height)^2]\n"
           "define: {height: road(%s)}\ndissipation: %g/2*(z1' - z2')^2\n",
           SPEED, outside, moves ? ", s: {rate: v}" : "", M1, M2, moves ? ", s: 1e15" : "", K1, K2,
           place, C1);
  Motion m = motion_text(text);
  PawlSimDef def = pawl_sim_def_default();
  PawlSim* sim;
  def.simulate.method = method;
  def.simulate.step = 0.01;
  def.simulate.until = until;
  def.simulate.rtol = 1e-11;
  def.simulate.atol = 1e-13;
  NEED(pawl_sim_create(m.system, &def, &sim, &m.err), &m.err);
  NEED(pawl_sim_run(sim, NULL, NULL, &m.err), &m.err);
  const PawlState* state = pawl_sim_state(sim);
  memcpy(q, state->q, 2 * sizeof(double));
  memcpy(v, state->v, 2 * sizeof(double));
  *kinks = (int)pawl_sim_summary(sim).work.kinks;
  pawl_sim_destroy(sim);
  motion_end(&m);
}

static void check(const char* place, const char* outside, const char* method, int pieces,
                  const double* z, double off) {
  double y[SIZE], q[2], v[2], h = LENGTH / (POINTS - 1) / SPEED;
  int kinks;
  drive(z, strcmp(place, "s + 900") == 0 ? 90000 : 0, pieces, strcmp(outside, "periodic") == 0, y);
  run(place, outside, method, pieces * h, q, v, &kinks);
  print_message("%s %s %s: off by %.2g m, %.2g m/s; %d kinks\n", place, outside, method,
                fabs(q[1] - y[1]), fabs(v[1] - y[3]), kinks);
  for (int k = 0; k < 2; k++) {
    CHECK_NEAR(q[k], y[k], off);
    CHECK_NEAR(v[k], y[2 + k], 100.0 * off);  // rad/s of the wheel
  }
  int inside = pieces < POINTS - 1 ? pieces : POINTS - 1;
  assert_true(off > 1e-9 || kinks >= (strcmp(outside, "periodic") == 0 ? pieces : inside) - 1);
}

static double* z;

// The time at which each point is met is known beforehand.
static void test_road_in_time(void** state) {
  (void)state;
  check("v*t", "hold", "dopri", POINTS - 1 + 5000, z, 3e-12);
  check("v*t", "hold", "rk4", 20000, z, 3e-10);
}

// The points are found on the way.
static void test_road_in_space(void** state) {
  (void)state;
  check("s", "extend", "dopri", 20000, z, 3e-12);
}

static void test_periodic_road(void** state) {
  (void)state;
  check("v*t", "periodic", "dopri", POINTS - 1 + 20000, z, 3e-12);
  check("s + 900", "periodic", "dopri", 12000, z, 3e-12);
}

// Time stepping does not stop at kinks; it is of its order all the same.
static void test_time_stepping(void** state) {
  (void)state;
  check("v*t", "hold", "ga-pva", 4000, z, 1e-3);
}

// ---- in an equation -----------------------------------------------------------------------------

static void slide(const char* track, const char* tables, double q[2], double v[2], int* events) {
  char text[600];
  snprintf(text, sizeof text,
           "model: ramp\ncoordinates: {x: {rate: 2}, y: }\nmass: {x: 1, y: 1}\n"
           "forces: {x: -0.1*x'}\ntables: %s\n"
           "constraints: {track: {equation: \"y = %s\", impact: bisector}}\n",
           tables, track);
  Motion m = motion_text(text);
  PawlSimDef def = pawl_sim_def_default();
  PawlSim* sim;
  def.simulate.method = "event-driven";
  def.simulate.step = 0.01;
  def.simulate.until = 3.0;
  NEED(pawl_sim_create(m.system, &def, &sim, &m.err), &m.err);
  NEED(pawl_sim_run(sim, NULL, NULL, &m.err), &m.err);
  memcpy(q, pawl_sim_state(sim)->q, 2 * sizeof(double));
  memcpy(v, pawl_sim_state(sim)->v, 2 * sizeof(double));
  *events = pawl_recorder_event_count(pawl_sim_recorder(sim));
  pawl_sim_destroy(sim);
  motion_end(&m);
}

// The corners of a track are switches, as those of max are.
static void test_track(void** state) {
  (void)state;
  double q[2][2], v[2][2];
  int events[2];
  slide("max(0, x - 1)/2 - max(0, x - 2)", "", q[0], v[0], &events[0]);
  slide("f(x)", "{f: {points: [[0, 0], [1, 0], [2, 0.5], [9, -3]], outside: extend}}", q[1], v[1],
        &events[1]);
  assert_int_equal(events[0], 2);
  assert_int_equal(events[1], 2);
  for (int k = 0; k < 2; k++) {
    CHECK_NEAR(q[1][k], q[0][k], 1e-12);
    CHECK_NEAR(v[1][k], v[0][k], 1e-12);
  }
}

// Beyond its end a table says so; it is not blamed for what others do.
static void check_fault(const char* potential, const char* part) {
  char text[400];
  snprintf(text, sizeof text,
           "model: m\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n"
           "tables: {f: {points: [[0, 0], [2, 0]]}}\npotential: %s\n",
           potential);
  Motion m = motion_text(text);
  PawlSimDef def = pawl_sim_def_default();
  PawlSim* sim;
  def.simulate.method = "rk4";
  def.simulate.step = 0.01;
  def.simulate.until = 3.0;
  NEED(pawl_sim_create(m.system, &def, &sim, &m.err), &m.err);
  assert_int_not_equal(pawl_sim_run(sim, NULL, NULL, &m.err), PAWL_OK);
  print_message("%s\n", m.err.message);
  assert_non_null(strstr(m.err.message, part));
  pawl_sim_destroy(sim);
  motion_end(&m);
}

static void test_faults(void** state) {
  (void)state;
  check_fault("f(x)", "'f(x)' has no finite value");
  check_fault("f(x)", "the table goes from 0 to 2");
  check_fault("x + f(x/2) + log(1 - t)", "'log(1 - t)' has no finite value");
}

static int open_road(void** state) {
  (void)state;
  z = malloc(POINTS * sizeof *z);
  write_road(z);
  return 0;
}

static int close_road(void** state) {
  (void)state;
  free(z);
  remove(ROAD);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_road_in_time),  cmocka_unit_test(test_road_in_space),
      cmocka_unit_test(test_periodic_road), cmocka_unit_test(test_time_stepping),
      cmocka_unit_test(test_track),         cmocka_unit_test(test_faults),
  };
  return cmocka_run_group_tests(tests, open_road, close_road);
}
