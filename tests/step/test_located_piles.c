// SPDX-License-Identifier: Apache-2.0
// Discs and boxes that fall into a bin, with located instants (docs/theory/friction.md, section 9).
#include "step/located.h"

enum { ROOM = 16384 };

typedef struct Bin {
  const char* const* bodies;
  int count;
  double wall, mu;  // walls at -wall and wall
} Bin;

// Masses from 1 to 11.
static const char* const DISCS[] = {
    "shape: {disc: 0.0531, density: 158.318}, start: {at: [-0.09507, 0.13576]}, rate: {velocity: "
    "[-0.0449, 0.1558], omega: -1.3165}",
    "shape: {disc: 0.0864, density: 82.3053}, start: {at: [0.10555, 0.13552]}, rate: {velocity: "
    "[0.4139, -0.7776], omega: 0.0534}",
    "shape: {disc: 0.0780, density: 521.795}, start: {at: [-0.09503, 0.34787]}, rate: {velocity: "
    "[0.4683, -0.7138], omega: -0.6665}",
    "shape: {disc: 0.0728, density: 507.432}, start: {at: [0.09534, 0.34858]}, rate: {velocity: "
    "[-0.9439, -0.1880], omega: 1.0431}",
    "shape: {disc: 0.0595, density: 152.003}, start: {at: [-0.11395, 0.55869]}, rate: {velocity: "
    "[-0.8741, 0.0201], omega: 0.6895}",
    "shape: {disc: 0.0886, density: 55.9419}, start: {at: [0.10558, 0.55204]}, rate: {velocity: "
    "[0.9067, -0.8665], omega: -0.1940}",
    "shape: {disc: 0.0510, density: 515.699}, start: {at: [-0.11420, 0.76179]}, rate: {velocity: "
    "[0.4605, 0.2758], omega: 3.7249}",
    "shape: {disc: 0.0858, density: 56.1301}, start: {at: [0.09592, 0.76622]}, rate: {velocity: "
    "[0.7326, 0.4636], omega: 3.3111}",
    "shape: {disc: 0.0792, density: 155.257}, start: {at: [-0.11400, 0.97941]}, rate: {velocity: "
    "[-0.1165, 0.3661], omega: -4.6400}",
    "shape: {disc: 0.0755, density: 263.587}, start: {at: [0.09714, 0.97000]}, rate: {velocity: "
    "[-0.8250, 0.4403], omega: 0.4176}",
};

static const char* const BOXES[] = {
    "shape: {disc: 0.0549, density: 823.578}, start: {at: [-0.41742, 0.13576]}, rate: {velocity: "
    "[0.5514, -0.9557], omega: 2.6064}",
    "shape: {box: [0.0945, 0.0969], round: 0.01, density: 885.869}, start: {at: [-0.20332, "
    "0.13644], angle: -0.0867}, rate: {velocity: [0.0402, -0.4660], omega: -0.2958}",
    "shape: {box: [0.0922, 0.0912], round: 0.01, density: 972.578}, start: {at: [-0.00384, "
    "0.13254], angle: 0.0012}, rate: {velocity: [-0.7174, -0.7760], omega: -4.2447}",
    "shape: {disc: 0.0673, density: 186.164}, start: {at: [0.20639, 0.13804]}, rate: {velocity: "
    "[0.6712, 0.1072], omega: -0.4700}",
    "shape: {disc: 0.0590, density: 279.446}, start: {at: [0.42061, 0.13972]}, rate: {velocity: "
    "[0.5681, -0.1705], omega: -2.7630}",
    "shape: {disc: 0.0529, density: 1098.75}, start: {at: [-0.42668, 0.34021]}, rate: {velocity: "
    "[0.1339, -0.9289], omega: -2.0813}",
};

static void write_model(const Bin* bin, char* text) {
  int n = snprintf(text, ROOM,
                   "model: bin\n"
                   "mechanism: {gravity: [0, -9.81]}\n"
                   "bodies:\n"
                   "  ground: {shapes: {base: {plane: {}}, left: {plane: {at: [%g, 0], normal: [1, "
                   "0]}}, right: {plane: {at: [%g, 0], normal: [-1, 0]}}}}\n",
                   -bin->wall, bin->wall);
  for (int i = 0; i < bin->count; i++) {
    n += snprintf(text + n, (size_t)(ROOM - n), "  b%d: {%s}\n", i + 1, bin->bodies[i]);
  }
  n += snprintf(text + n, (size_t)(ROOM - n), "contacts:\n");
  for (int i = 1; i <= bin->count; i++) {
    static const char* const sides[] = {"base", "left", "right"};
    for (int k = 0; k < 3; k++) {
      n += snprintf(text + n, (size_t)(ROOM - n),
                    "  %s%d: {between: [ground.%s, b%d], friction: %g}\n", sides[k], i, sides[k], i,
                    bin->mu);
    }
    for (int j = i + 1; j <= bin->count; j++) {
      n += snprintf(text + n, (size_t)(ROOM - n),
                    "  pair%d_%d: {between: [b%d, b%d], friction: %g}\n", i, j, i, j, bin->mu);
    }
  }
  assert_true(n < ROOM);
}

static Run fall(const Bin* bin, const char* law, double until) {
  static char text[ROOM];
  Run run = {0};
  write_model(bin, text);
  run_need(&run, pawl_model_parse(text, strlen(text), "test.yaml", 0, NULL, &run.model, &run.err));
  run_derive(&run);
  run.def.simulate.smooth = "rk4";
  run.def.simulate.contact_law = law;
  run_to(&run, until, 1e-3);
  assert_false(pawl_sim_energy_drifts(run.sim));
  return run;
}

// What slips beyond its critical friction, wedged in between others, is stopped by impacts without
// a collision that no impulses at all obey the laws of, too. Without (F72) this ended at 0.6121 s;
// where what counts as no rate was another one for forces than for impacts, at 0.7795 s; and
// without (F73) at 0.7958 s.
static void test_wedged_discs(void** unused) {
  (void)unused;
  const Bin bin = {DISCS, (int)(sizeof DISCS / sizeof *DISCS), 0.3, 0.6};
  Run run = fall(&bin, "newton", 0.8);
  assert_true(run_events(&run) > 200);
  assert_non_null(strstr(pawl_sim_warning(run.sim), "stopped by an impact without a collision"));
  run_end(&run);
}

// A box that slips, and shares its load with others: the one with the least load cannot be without.
// Ended at 0.3221 s.                                                                       (F42)
static void test_loads_of_boxes(void** unused) {
  (void)unused;
  const Bin bin = {BOXES, (int)(sizeof BOXES / sizeof *BOXES), 0.6, 0.3};
  Run run = fall(&bin, "sequential", 0.35);
  assert_non_null(strstr(pawl_sim_warning(run.sim), "touch and carry nothing"));
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wedged_discs),
      cmocka_unit_test(test_loads_of_boxes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
