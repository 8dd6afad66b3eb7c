// SPDX-License-Identifier: Apache-2.0
// Contacts without friction that depend on each other where forces do not go along their gradients:
// boxes that land on a face, whose closed corners push along the mean of both ends (N31), and a
// table on four legs beside a constraint that switches by its bisector. They share the load (N84).
#include <string.h>

#include "step/rubbing.h"

static const char* const METHODS_OF_TIME[] = {"nsga-pvv", "nsga-pva", "moreau-jean"};
static const double WEIGHT = 9.81;  // [N]

// ---- boxes --------------------------------------------------------------------------------------
// The same numbers in every run, in [-1, 1].
static double next_number(unsigned long long* seed) {
  *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(*seed >> 11) * 0x1p-52 - 1.0;
}

// A box that is thrown aslant; a cube has no forces of its own turning, and keeps its energy in
// flight.
static void describe_box(char* text, size_t room, int k, bool cube, double restitution) {
  unsigned long long seed = 1000 + (unsigned long long)k;
  double x[7];
  for (int i = 0; i < 7; i++) {
    x[i] = next_number(&seed);
  }
  snprintf(text, room,
           "model: box\nmechanism: {gravity: [0, 0, -9.81]}\nbodies:\n"
           "  ground: {shapes: {top: {plane: {}}}}\n"
           "  b: {mass: 1, shape: {box: %s}, start: {at: [0, 0, 0.3], rotation: "
           "\"rotation([%.3f, %.3f, %.3f], %.3f)\"}, rate: {omega: [%.3f, %.3f, %.3f]}}\n"
           "contacts: {g: {between: [ground.top, b], restitution: %g}}\n",
           cube ? "[0.2, 0.2, 0.2]" : "[0.3, 0.2, 0.1]", x[0], x[1], x[2] + 1.5, 0.8 + 0.7 * x[3],
           3 * x[4], 3 * x[5], 3 * x[6], restitution);
}

// Its weight is on its corners. Where positions are held it lies on a face, in equal parts on four
// of them; else corners are as far off as the last impact has left them, and it tumbles on by that.
static void check_at_rest(const Run* run, bool held) {
  const PawlState* end = pawl_sim_state(run->sim);
  const double* lambda = pawl_sim_multipliers(run->sim);
  PawlSizes n = pawl_system_sizes(run->system);
  double sum = 0.0;
  int pushing = 0;
  for (int i = 0; i < n.rows; i++) {
    assert_true(lambda[i] >= 0.0);
    sum += lambda[i];
    pushing += lambda[i] > 0.0;
    CHECK_NEAR(lambda[i], held && lambda[i] > 0.0 ? WEIGHT / 4 : lambda[i], 1e-6);
  }
  CHECK_NEAR(sum, WEIGHT, held ? 1e-9 : 1e-2);
  assert_true(pushing == 4 || !held);
  CHECK_NEAR(end->v[2], 0.0, 1e-12);
  for (int j = 3; j < 6; j++) {  // the vertical is one of its axes
    double others = hypot(end->v[3 + (j - 2) % 3], end->v[3 + (j - 1) % 3]);
    double turns = fmax(fabs(end->v[3]), fmax(fabs(end->v[4]), fabs(end->v[5])));
    CHECK_NEAR(others, fabs(end->v[j]) == turns && held ? 0.0 : others, 1e-9);
  }
}

// The most that a step adds to the energy; rows at one instant are both sides of a jump.
static double most_gained(const Run* run) {
  const PawlRecorder* r = pawl_sim_recorder(run->sim);
  int energy = 0;
  while (strcmp(pawl_recorder_column(r, energy)->name, "energy") != 0) {
    energy++;
  }
  double most = -INFINITY, before = INFINITY;
  for (int k = 0; k < pawl_recorder_sample_count(r); k++) {
    const double *sample = pawl_recorder_sample(r, k), *next = k + 1 < pawl_recorder_sample_count(r)
                                                                   ? pawl_recorder_sample(r, k + 1)
                                                                   : NULL;
    if (!next || next[0] > sample[0]) {
      most = fmax(most, sample[energy] - before);
      before = sample[energy];
    }
  }
  return most;
}

// `gain`: with each method, nothing but what smooth motions do by themselves.
static void land(int count, double step, bool cube, const double gain[3]) {
  for (int k = 0; k < 2 * count; k++) {
    char text[700];
    describe_box(text, sizeof text, k / 2, cube, k % 2 == 0 ? 0.0 : 0.3);
    Run run = run_text(text);
    run.def.keep_samples = true;
    for (int m = 0; m < 3; m++) {
      run.def.simulate.method = METHODS_OF_TIME[m];
      run_to(&run, 2.0, step);
      check_at_rest(&run, m < 2);
      assert_true(most_gained(&run) <= gain[m]);
    }
    run_end(&run);
  }
}

static void test_boxes(void** unused) {
  (void)unused;
  land(12, 1e-2, false, (const double[]){5e-4, 5e-4, 5e-4});
  land(12, 1e-3, false, (const double[]){2e-5, 2e-5, 2e-5});
  land(1, 1e-4, false, (const double[]){1e-6, 1e-6, 1e-6});
}

static void test_cubes(void** unused) {
  (void)unused;
  land(12, 1e-3, true, (const double[]){1e-14, 1e-5, 1e-14});  // of 5 J
}

// ---- a table ------------------------------------------------------------------------------------
// Its legs and the track, whose impulse goes between two gradients, are one system in the step of
// the corner. What the table carries stays as it was.
static void test_table(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: table\nparameters: {a: 0.1, b: 0.2}\n"
      "coordinates: {z: , p: , r: , s: {start: 0.0503, rate: 1}, w: }\n"
      "mass: {z: 1, p: 0.01, r: 0.01, s: 1, w: 1}\npotential: 9.81*z\n"
      "constraints:\n  track: {equation: \"w = max(0, s - 0.5)\", impact: bisector}\n"
      "contacts: {c1: {gap: z + a*p + b*r}, c2: {gap: z - a*p + b*r}, "
      "c3: {gap: z + a*p - b*r}, c4: {gap: z - a*p - b*r}}\n");
  for (int m = 0; m < 3; m++) {
    run.def.simulate.method = METHODS_OF_TIME[m];
    run_to(&run, 1.0, 1e-3);
    const PawlState* end = pawl_sim_state(run.sim);
    const double* lambda = pawl_sim_multipliers(run.sim);
    CHECK_NEAR(end->v[3], sqrt(0.5), 1e-9);  // the bisector keeps the energy
    CHECK_NEAR(end->v[4], sqrt(0.5), 1e-9);
    for (int j = 0; j < 3; j++) {
      CHECK_NEAR(end->q[j], 0.0, 1e-12);
    }
    for (int i = 1; i < 5; i++) {
      CHECK_NEAR(lambda[i], WEIGHT / 4, 1e-9);
    }
  }
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_boxes),
      cmocka_unit_test(test_cubes),
      cmocka_unit_test(test_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
