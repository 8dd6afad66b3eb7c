// SPDX-License-Identifier: Apache-2.0
// Locks from C, at the start and at the ends of steps; redundant locks; events that stop a run; a
// system of callbacks whose rows engage; and every method against the same exact answers.
#include "step/balance.h"
#include "step/lock_methods.h"
#include "switch/runs.h"

// ---- calls --------------------------------------------------------------------------------------
// Two masses on a frictionless rail, coupled by call at 0.3 and parted at 0.6.
static const char PAIR[] =
    "model: pair\ncoordinates: {x: {rate: 2}, y: }\nmass: {x: 1, y: 3}\n"
    "locks: {hook: {lock: x - y}}\nsimulate: {until: 1, step: 0.1}\n";

static void test_engage_by_call(void** unused) {
  (void)unused;
  EACH_METHOD(method, true) {
    Run run = run_text(PAIR);
    run.def.simulate.method = method;
    run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
    run_need(&run, pawl_sim_release(run.sim, "hook", &run.err));  // nothing to let go
    assert_int_equal(run_events(&run), 0);
    run_need(&run, pawl_sim_step(run.sim, 3, &run.err));
    run_need(&run, pawl_sim_engage(run.sim, "hook", &run.err));
    run_need(&run, pawl_sim_engage(run.sim, "hook", &run.err));  // engaged already
    CHECK_NEAR(pawl_sim_state(run.sim)->v[0], 0.5, 1e-14);
    run_need(&run, pawl_sim_step(run.sim, 3, &run.err));
    run_need(&run, pawl_sim_release(run.sim, "hook", &run.err));
    run_need(&run, pawl_sim_run(run.sim, NULL, NULL, &run.err));
    assert_true(pawl_sim_ended(run.sim));
    assert_int_equal(run_events(&run), 2);
    CHECK_NEAR(run_event(&run, 0)->t, 0.3, 1e-14);
    CHECK_NEAR(run_event(&run, 0)->impulse[0], -1.5, 1e-13);
    CHECK_NEAR(run_event(&run, 0)->energy_lost, 1.5, 1e-13);
    CHECK_NEAR(run_event(&run, 1)->t, 0.6, 1e-14);
    check_state(&run, (double[]){0.6 + 0.35, 0.35}, (double[]){0.5, 0.5}, 1e-13);
    run_end(&run);
  }
}

static void test_wrong_calls(void** unused) {
  (void)unused;
  Run run = run_text(PAIR);
  run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
  assert_int_equal(pawl_sim_engage(run.sim, "hok", &run.err), PAWL_ERROR_USAGE);
  assert_non_null(strstr(run.err.message, "hok"));
  run_end(&run);
  run = run_file("two-mass-coupled", NULL, NULL);  // its constraint holds for good
  run.def.simulate.method = "rk4";
  run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
  assert_int_equal(pawl_sim_release(run.sim, "coupling", &run.err), PAWL_ERROR_USAGE);
  run_end(&run);
}

// ---- where a time falls -------------------------------------------------------------------------
// x = t is stopped at `at`, y is accelerated: the rest of the step is taken, too.
static void check_time(double at, double step) {
  char text[256];
  snprintf(text, sizeof text,
           "model: time\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\nforces: {y: 2}\n"
           "locks: {stop: {lock: x, at: %.17g}}\nsimulate: {until: 1}\n",
           at);
  EACH_METHOD(method, true) {
    Run run = run_text(text);
    run.def.simulate.method = method;
    run_to(&run, 1, step);
    assert_int_equal(run_events(&run), 1);
    CHECK_NEAR(run_event(&run, 0)->t, at, 0);
    static const double near[] = {0.2, 1e-12, 1e-9, 1e-12};
    check_state(&run, (double[]){at, 1}, (double[]){0, 2}, near[grade_of(method)]);
    run_end(&run);
  }
}

static void test_times(void** unused) {
  (void)unused;
  check_time(0, 0.1);                // at the start
  check_time(0.3, 0.1);              // at the end of a step, but for rounding
  check_time(0.1 + 0.1 + 0.1, 0.1);  // the same, rounded otherwise
  check_time(0.34567, 0.1);          // inside
  check_time(0.3 + 1e-9, 0.1);       // just behind a step
  check_time(1.0, 0.1);              // at the end of the run
  check_time(0.99999, 1.0);          // the whole run is one step
}

static void test_engaged_at_start(void** unused) {
  (void)unused;
  Run run = run_text(
      "model: start\ncoordinates: {x: {start: 0.7}}\nmass: {x: 2}\nforces: {x: 6}\n"
      "locks: {brake: {lock: x, engaged: true, release: {at: 0.5}}}\nsimulate: {until: 1}\n");
  run.def.simulate.method = "rk4";
  run.def.keep_samples = true;
  run_to(&run, 1, 0.1);
  const PawlRecorder* r = pawl_sim_recorder(run.sim);
  int lambda = -1;
  for (int c = 0; c < pawl_recorder_column_count(r); c++) {
    lambda = strcmp(pawl_recorder_column(r, c)->name, "lambda(brake)") == 0 ? c : lambda;
  }
  assert_true(lambda >= 0);
  CHECK_NEAR(pawl_recorder_sample(r, 0)[lambda], -6, 1e-13);
  check_state(&run, (double[]){0.7 + 3.0 / 2 * 0.25}, (double[]){1.5}, 1e-13);
  run_end(&run);
}

// ---- redundant locks ----------------------------------------------------------------------------
// Three locks of the same joint, one of them of twice the angle: the jump is that of one; impulses
// and multipliers share by minimum norm: r_i = c_i / (1 + 1 + 4).
static void test_redundant(void** unused) {
  (void)unused;
  EACH_METHOD(method, true) {
    Run run = run_text(
        "model: twice\ncoordinates: {x: {rate: 2}, y: }\nmass: {x: 1, y: 3}\nforces: {x: 4}\n"
        "locks:\n  one: {lock: x - y, at: 0.25}\n  two: {lock: x - y, at: 0.25}\n"
        "  both: {lock: 2*(x - y), at: 0.25}\nsimulate: {until: 0.5}\n");
    run.def.simulate.method = method;
    run_to(&run, 0.5, 0.1);
    assert_int_equal(run_events(&run), 3);
    double v = 3.0 / 4;  // (2 + 4 * 0.25) / 4
    check_list("v+", 2, run_event(&run, 0)->v_after, (double[]){v, v}, 1e-12);
    for (int e = 0; e < 3; e++) {
      double share = (e == 2 ? 2.0 : 1.0) / 6;
      CHECK_NEAR(run_event(&run, e)->impulse[0], 3 * -v * share, 1e-12);
      CHECK_NEAR(pawl_sim_multipliers(run.sim)[e], -3 * share, 1e-10);
    }
    assert_non_null(strstr(pawl_sim_warning(run.sim), "redundant"));
    check_list("v", 2, pawl_sim_state(run.sim)->v, (double[]){v + 0.25, v + 0.25}, 1e-12);
    run_end(&run);
  }
}

// ---- events -------------------------------------------------------------------------------------
static void test_stop(void** unused) {
  (void)unused;
  EACH_METHOD(method, true) {
    Run run = run_text(
        "model: thrown\ncoordinates: {x: {rate: 3}, y: {rate: 4}}\nkinetic: (x'^2 + y'^2)/2\n"
        "potential: 10*y\nevents:\n  top: {when: y', direction: down}\n"
        "  landing: {when: y, direction: down, after: 0.1, stop: true}\n  tick: {at: [0.25, 0.5]}\n"
        "simulate: {until: 2}\n");
    run.def.simulate.method = method;
    run_to(&run, 2, 0.06);
    assert_true(pawl_sim_ended(run.sim));
    assert_int_equal(run_events(&run), 4);
    static const double times[] = {0.25, 0.4, 0.5, 0.8};
    static const char* const names[] = {"tick", "top", "tick", "landing"};
    for (int e = 0; e < 4; e++) {
      CHECK_NEAR(run_event(&run, e)->t, times[e], 1e-10);
      assert_string_equal(run_event(&run, e)->constraint, names[e]);
    }
    CHECK_NEAR(pawl_sim_summary(run.sim).t, 0.8, 1e-10);
    CHECK_NEAR(pawl_sim_state(run.sim)->q[0], 2.4, 1e-9);
    run_end(&run);
  }
}

// ---- every method -------------------------------------------------------------------------------
// models/two-mass-control and -damped have instants of their own choice; each method finds them to
// its order, and they shrink with h^2 or h^4.
static void test_orders(void** unused) {
  (void)unused;
  static const double expected[] = {1.7249164600844875, 2.7249164600844877, 3.9921635016000785};
  static const double order[] = {1, 2, 0, 4}, most[] = {0.1, 1e-3, 1e-7, 1e-6};
  EACH_METHOD(method, true) {
    Grade grade = grade_of(method);
    double error[2];
    for (int halving = 0; halving < 2; halving++) {
      Run run = run_file("two-mass-damped", NULL, NULL);
      run.def.simulate.method = method;
      run_to(&run, 4.5, halving ? 0.02 : 0.04);
      assert_int_equal(run_events(&run), 3);
      error[halving] = 0.0;
      for (int e = 0; e < 3; e++) {
        error[halving] = fmax(error[halving], fabs(run_event(&run, e)->t - expected[e]));
      }
      run_end(&run);
    }
    if (grade != GRADE_CHOOSES && error[0] > 1e-11) {  // else exact
      CHECK_NEAR(log2(error[0] / error[1]), order[grade], 0.35);
    }
    CHECK_NEAR(error[1], 0, most[grade]);
  }
}

// ---- callbacks ----------------------------------------------------------------------------------
// A particle in the plane under gravity; row 0 holds x, row 1 holds y - x^2. Full matrices.
static int evaluate(void* context, unsigned mask, const PawlPoint* at, PawlValues* x) {
  (void)context;
  double px = at->q[0];
  if (mask & PAWL_MASS) {
    memcpy(x->M, (double[]){1, 0, 0, 1}, 4 * sizeof(double));
  }
  if (mask & PAWL_FORCE) {
    memcpy(x->f, (double[]){0, -10}, 2 * sizeof(double));
  }
  if (mask & PAWL_STIFFNESS) {
    memset(x->K, 0, 4 * sizeof(double));
    x->K[0] = at->lambda ? 2 * at->lambda[1] : 0.0;
  }
  if (mask & PAWL_DAMPING) {
    memset(x->C, 0, 4 * sizeof(double));
  }
  if (mask & PAWL_POSITION) {
    x->g[0] = px;
    x->g[1] = at->q[1] - px * px;
  }
  if (mask & PAWL_GRADIENT) {
    memcpy(x->G, (double[]){1, -2 * px, 0, 1}, 4 * sizeof(double));  // by columns
  }
  if (mask & PAWL_TIME_GRADIENT) {
    x->g_t[0] = x->g_t[1] = 0.0;
  }
  if (mask & PAWL_BIAS) {
    x->gamma[0] = 0.0;
    x->gamma[1] = -2 * at->v[0] * at->v[0];
  }
  if (mask & PAWL_VELOCITY_TANGENT) {
    memset(x->G_rate, 0, 4 * sizeof(double));
    x->G_rate[1] = -2 * at->v[0];
  }
  if (mask & PAWL_ACCELERATION_TANGENT) {
    memset(x->G_acceleration, 0, 4 * sizeof(double));
    x->G_acceleration[1] = at->a ? -2 * at->a[0] : 0.0;
  }
  if (mask & PAWL_ENERGY) {
    x->energy[0] = (at->v[0] * at->v[0] + at->v[1] * at->v[1]) / 2;
    x->energy[1] = 10 * at->q[1];
  }
  return 0;
}

static void test_callbacks(void** unused) {
  (void)unused;
  EACH_METHOD(method, false) {
    static const char* const rows[] = {"hold", "rail"};
    static const double q[] = {0.5, 0.25}, v[] = {2, 0};
    PawlCallbacks own = {.sizes = {.q = 2, .v = 2, .rows = 2},
                         .row_names = rows,
                         .q_start = q,
                         .v_start = v,
                         .engaged = (const unsigned char[]){0, 0},
                         .evaluate = evaluate};
    Run run = {0};
    run_need(&run, pawl_system_create_callbacks(&own, &run.system, &run.err));
    run.def = pawl_sim_def_default();
    run.def.simulate.method = method;
    run.def.simulate.until = 1;
    run.def.simulate.step = 1e-3;
    run_need(&run, pawl_sim_create(run.system, &run.def, &run.sim, &run.err));
    const PawlState* state = pawl_sim_state(run.sim);
    run_need(&run, pawl_sim_engage(run.sim, "rail", &run.err));
    // v along (1, 2 x) = (1, 1): half of each
    check_list("v+", 2, state->v, (double[]){1, 1}, 1e-13);
    run_need(&run, pawl_sim_step(run.sim, 100, &run.err));
    double held = state->q[0], rail = state->q[1] - held * held;
    CHECK_NEAR(rail, 0, strcmp(method, "moreau-jean") == 0 ? 1e-3 : 1e-6);
    run_need(&run, pawl_sim_engage(run.sim, "hold", &run.err));  // captures x
    CHECK_NEAR(largest_of(2, state->v), 0, 1e-12);
    run_need(&run, pawl_sim_step(run.sim, 100, &run.err));
    CHECK_NEAR(state->q[0], held, 1e-12);
    run_need(&run, pawl_sim_release(run.sim, "rail", &run.err));
    run_need(&run, pawl_sim_step(run.sim, 100, &run.err));
    CHECK_NEAR(state->v[1], -1, 1e-9);  // falls freely beside the held x
    CHECK_NEAR(state->q[0], held, 1e-12);
    assert_int_equal(run_events(&run), 3);
    run_end(&run);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_engage_by_call), cmocka_unit_test(test_wrong_calls),
      cmocka_unit_test(test_times),          cmocka_unit_test(test_engaged_at_start),
      cmocka_unit_test(test_redundant),      cmocka_unit_test(test_stop),
      cmocka_unit_test(test_orders),         cmocka_unit_test(test_callbacks),
  };
  return cmocka_run_group_tests_name("lock calls", tests, NULL, NULL);
}
