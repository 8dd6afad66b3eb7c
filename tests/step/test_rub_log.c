// SPDX-License-Identifier: Apache-2.0
// What time stepping logs of contacts with friction: as event-driven does, to a few steps.   (T12)
// And what it shows of accelerations beside them, to outputs and to conditions.
#include "step/rubbing.h"

static const char* const STEPPING[] = {"nsga-pva", "nsga-pvv", "moreau-jean", NULL};

// The first `count` events are those of event-driven, in their order.
static void logs_the_same(const char* text, double until, int count) {
  const double step = 1e-3;
  Run exact = run_text(text), run = run_text(text);
  exact.def.simulate.smooth = "dopri";
  run_to(&exact, until, 1e-2);
  assert_true(run_events(&exact) >= count);
  for (int k = 0; STEPPING[k]; k++) {
    run.def.simulate.method = STEPPING[k];
    run_to(&run, until, step);
    for (int i = 0; i < count; i++) {
      const PawlEvent* event = run_event(&exact, i);
      event_is(&run, i, event->t, event->constraint, event->from, event->to, 3 * step);
    }
  }
  run_end(&exact);
  run_end(&run);
}

// The head of a ladder leaves the wall with no rate and no force: slowly.
static void test_opens_slowly(void** unused) {
  (void)unused;
  logs_the_same(
      "model: ladder\nparameters: {L: 2, m: 3, th0: 1}\n"
      "coordinates: {x: {start: L/2*cos(th0)}, y: {start: L/2*sin(th0)}, th: {start: th0}}\n"
      "mass: {x: m, y: m, th: m*L^2/12}\npotential: 9.81*m*y\n"
      "contacts:\n"
      "  foot: {gap: y - L/2*sin(th), friction: 0.05, slip: x + L/2*cos(th)}\n"
      "  head: {gap: x - L/2*cos(th), friction: 0.3, slip: y + L/2*sin(th)}\n",
      0.6, 1);
}

// A force that grows slowly breaks it loose: it slips with the square of time.
static void test_slips_slowly(void** unused) {
  (void)unused;
  logs_the_same(
      "model: slow\ncoordinates: {x: , y: }\nmass: {x: 1, y: 1}\npotential: 10*y\n"
      "forces: {x: 2.999 + 0.01*t}\ncontacts: {f: {gap: y, friction: 0.3, slip: x}}\n",
      0.2, 1);
}

// The ground ends under it: the gap jumps.
static void test_edge(void** unused) {
  (void)unused;
  logs_the_same(
      "model: edge\ncoordinates: {x: {rate: 3}, y: {start: 1}}\nmass: {x: 1, y: 1}\n"
      "potential: 9.81*y\n"
      "contacts: {f: {gap: \"y - if(x < 1, 1, 0)\", friction: 0.3, slip: x}}\n",
      1.5, 3);
}

// Impulses: it slips, turns back, is thrown up, is pressed against the ground that it lies on.
static void test_kicks(void** unused) {
  (void)unused;
  static const struct {
    const char *rate, *impulse;
    int count;
  } cases[] = {{"0", "x: 3", 2}, {"1", "x: -3", 3}, {"0", "x: 3, y: 1", 3}, {"0", "y: -1", 2}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[512];
    snprintf(text, sizeof text,
             "model: kick\ncoordinates: {x: {rate: %s}, y: }\nmass: {x: 2, y: 2}\n"
             "potential: 9.81*2*y\ncontacts: {f: {gap: y, friction: 0.5, slip: x}}\n"
             "events: {kick: {at: 0.1, impulse: {%s}}}\n",
             cases[k].rate, cases[k].impulse);
    logs_the_same(text, 0.35, cases[k].count);
  }
}

// A belt starts, and one turns back, under what sticks to it.
static void test_belts(void** unused) {
  (void)unused;
  static const char* const belts[] = {"if(t < 0.1037, 0, 0.5)", "0.2*sign(t - 0.1037)"};
  for (size_t k = 0; k < sizeof belts / sizeof *belts; k++) {
    char text[512];
    snprintf(text, sizeof text,
             "model: belt\ncoordinates: {x: {rate: %s}, y: }\nmass: {x: 1, y: 1}\n"
             "potential: 9.81*y\ncontacts: {f: {gap: y, friction: 0.3, slip: \"x' - %s\"}}\n",
             k == 0 ? "0" : "-0.2", belts[k]);
    logs_the_same(text, 0.5, 2);
  }
}

// Conditions see the friction of the instant: what is pulled loose, x'' = 10 t - 3; what draws
// along what rubs, lambda = F/2 + 2; and in space under a load that grows, x'' = -3 (1 + t). (V46)
static void test_conditions(void** unused) {
  (void)unused;
  static const struct {
    const char* text;
    double t;
  } cases[] = {
      {"model: loose\ncoordinates: {x: , y: }\nmass: {x: 2, y: 2}\npotential: 20*y\n"
       "forces: {x: 20*t}\nevents: {fires: {when: x'' - 5}}\n"
       "contacts: {f: {gap: y, friction: {static: 0.5, kinetic: 0.3}, slip: x}}\n",
       0.8},
      {"model: drawn\ncoordinates: {x: , z: , y: }\nmass: {x: 1, z: 1, y: 1}\npotential: 10*y\n"
       "forces: {z: 10*t}\nconstraints: {rod: z = x}\n"
       "events: {fires: {when: abs(lambda(rod)) - 6}}\n"
       "contacts: {f: {gap: y, friction: 0.4, slip: x}}\n",
       0.8},
      {"model: puck\ncoordinates: {x: {rate: 3}, z: {rate: 4}, y: }\nmass: {x: 1, z: 1, y: 1}\n"
       "forces: {y: -10 - 10*t}\nevents: {fires: {when: x'' + 4, direction: down}}\n"
       "contacts: {f: {gap: y, friction: 0.5, slip: [x, z]}}\n",
       1.0 / 3},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    Run run = run_text(cases[k].text);
    for (int i = 0; STEPPING[i]; i++) {
      int fired = 0;
      run.def.simulate.method = STEPPING[i];
      run_to(&run, 0.9, 0.01);
      for (int e = 0; e < run_events(&run); e++) {
        bool is = strcmp(run_event(&run, e)->constraint, "fires") == 0;
        fired += is;
        if (is) {
          CHECK_NEAR(run_event(&run, e)->t, cases[k].t, 1e-9);
        }
      }
      assert_int_equal(fired, 1);
    }
    run_end(&run);
  }
}

// A ball with spin on a rod that falls, hits, slips and rolls: what is shown of accelerations and
// of multipliers balances, M v' = f + G^T lambda, in flight, in impacts and closed. (N55)
static void test_balance(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: ball\ncoordinates: {x: {start: -1, rate: 1}, y: {start: 0.3}, p: {rate: 30}, z: "
      "{rate: 2}}\n"
      "mass: {x: 2, y: 2, p: 0.008, z: 1}\npotential: 20*y + 5*z^2\n"
      "constraints: {rod: z = 2*x + 2}\n"
      "contacts: {f: {gap: y - 0.1, restitution: 0.5, friction: 0.2, slip: x' + 0.1*p'}}\n"
      "outputs:\n  a: 2*x'' + 2*lambda(rod) - lambda(f, 2)\n"
      "  b: 2*y'' + 20 - lambda(f)\n  c: 0.008*p'' - 0.1*lambda(f, 2)\n"
      "  d: z'' + 10*z - lambda(rod)\n");
  run.def.keep_samples = true;
  for (int i = 0; STEPPING[i]; i++) {
    run.def.simulate.method = STEPPING[i];
    run_to(&run, 1.0, 1e-3);
    const PawlRecorder* r = pawl_sim_recorder(run.sim);
    int count = pawl_recorder_sample_count(r), end = pawl_recorder_column_count(r);
    assert_int_equal(count, 1001);
    for (int k = 1; k < count; k++) {
      const double* sample = pawl_recorder_sample(r, k);
      for (int c = 0; c < end; c++) {
        const char* name = pawl_recorder_column(r, c)->name;
        bool is = strlen(name) == 1 && strchr("abcd", name[0]);
        if (is && fabs(sample[c]) > (i < 2 ? 1e-7 : 0.1)) {
          print_error("%s: %s = %g at t = %g\n", STEPPING[i], name, sample[c], sample[0]);
          fail();
        }
      }
    }
  }
  run_end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_balance),      cmocka_unit_test(test_conditions),
      cmocka_unit_test(test_opens_slowly), cmocka_unit_test(test_slips_slowly),
      cmocka_unit_test(test_edge),         cmocka_unit_test(test_kicks),
      cmocka_unit_test(test_belts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
