// SPDX-License-Identifier: Apache-2.0
// The simulation loop: its times, what is recorded, the summary recomputed from the samples,
// stopping, smaller steps where one does not go whole, and failures.
#include "step/motion.h"

typedef struct Run {
  Motion m;
  PawlSimDef def;
  PawlSim* sim;
  PawlError err;
} Run;

static Run run_of(Motion m) {
  Run r = {.m = m, .def = pawl_sim_def_default()};
  r.def.simulate = m.def;
  return r;
}

static void create(Run* r) {
  pawl_sim_destroy(r->sim);
  NEED(pawl_sim_create(r->m.system, &r->def, &r->sim, &r->err), &r->err);
}

static void run(Run* r) {
  create(r);
  NEED(pawl_sim_run(r->sim, NULL, NULL, &r->err), &r->err);
}

static void end(Run* r) {
  pawl_sim_destroy(r->sim);
  motion_end(&r->m);
}

static int samples_of(const Run* r) {
  return pawl_recorder_sample_count(pawl_sim_recorder(r->sim));
}

static int column_of(const Run* r, const char* name) {
  const PawlRecorder* recorder = pawl_sim_recorder(r->sim);
  for (int k = 0; k < pawl_recorder_column_count(recorder); k++) {
    if (strcmp(pawl_recorder_column(recorder, k)->name, name) == 0) {
      return k;
    }
  }
  print_error("no column '%s'\n", name);
  fail();
  return -1;
}

static double value_of(const Run* r, int sample, const char* name) {
  return pawl_recorder_sample(pawl_sim_recorder(r->sim), sample)[column_of(r, name)];
}

// ---- times --------------------------------------------------------------------------------------
// Times are products, not sums: after 3000 steps of 0.1 the time is that of one multiplication.
static void test_times_are_multiples(void** unused) {
  (void)unused;
  Run r = run_of(motion_file("oscillator", NULL));
  r.def.simulate.step = 0.1;
  r.def.simulate.until = 300.0;
  run(&r);
  assert_int_equal(samples_of(&r), 3001);
  for (int k = 0; k < 3000; k++) {
    assert_true(value_of(&r, k, "t") == k * 0.1);  // exact
  }
  assert_true(value_of(&r, 3000, "t") == 300.0);
  assert_true(pawl_sim_summary(r.sim).t == 300.0);
  assert_int_equal(pawl_sim_summary(r.sim).work.steps, 3000);
  end(&r);
}

// 0.3 is not a multiple of 0.07: four steps and a short one. One step when the end is nearer.
static void test_last_step_is_short(void** unused) {
  (void)unused;
  Run r = run_of(motion_file("two-mass-free", NULL));
  r.def.simulate.step = 0.07;
  r.def.simulate.until = 0.3;
  run(&r);
  assert_int_equal(samples_of(&r), 6);
  assert_true(value_of(&r, 4, "t") == 4 * 0.07 && value_of(&r, 5, "t") == 0.3);
  CHECK_NEAR(value_of(&r, 5, "s1"), 0.5 * cos(0.3), 1e-7);  // the short step is a step in time too
  r.def.simulate.step = 1.0;
  run(&r);
  assert_int_equal(pawl_sim_summary(r.sim).work.steps, 1);
  assert_true(pawl_sim_state(r.sim)->t == 0.3);
  end(&r);
}

static void test_record_interval(void** unused) {
  (void)unused;
  Run r = run_of(motion_file("two-mass-free", NULL));
  r.def.simulate.step = 0.01;
  r.def.simulate.until = 1.05;
  r.def.simulate.record = 0.1;
  run(&r);
  assert_int_equal(samples_of(&r), 12);  // 0, 0.1, ..., 1.0, and the end
  for (int k = 0; k <= 10; k++) {
    CHECK_NEAR(value_of(&r, k, "t"), 0.1 * k, 1e-15);
  }
  assert_true(value_of(&r, 11, "t") == 1.05);
  r.def.simulate.step = 0.1;
  r.def.simulate.record = 0.3;  // three steps, though 0.3/0.1 rounds to less
  r.def.simulate.until = 1.2;
  run(&r);
  assert_int_equal(samples_of(&r), 5);
  r.def.simulate.step = 0.01;
  r.def.simulate.until = 1.05;
  r.def.simulate.record = 100.0;  // longer than the run: its two ends
  run(&r);
  assert_int_equal(samples_of(&r), 2);
  r.def.simulate.record = 1e-9;  // shorter than a step: every step
  run(&r);
  assert_int_equal(samples_of(&r), 106);
  end(&r);
}

static void test_too_many_steps(void** unused) {
  (void)unused;
  Run r = run_of(motion_file("oscillator", NULL));
  r.def.simulate.step = 1e-300;
  assert_int_equal(pawl_sim_create(r.m.system, &r.def, &r.sim, &r.err), PAWL_ERROR_USAGE);
  assert_null(r.sim);
  assert_non_null(strstr(r.err.message, "1e-300"));
  end(&r);
}

// ---- the summary --------------------------------------------------------------------------------
static void test_summary_from_samples(void** unused) {
  (void)unused;
  Run r = run_of(motion_file("pendulum", NULL));
  r.def.simulate.until = 1.0;
  run(&r);
  PawlSummary s = pawl_sim_summary(r.sim);
  double drift = 0.0, residual[3] = {0};
  static const char* const levels[3] = {"residual.position", "residual.velocity",
                                        "residual.acceleration"};
  int last = samples_of(&r) - 1;
  for (int k = 0; k <= last; k++) {
    drift = fmax(drift, fabs(value_of(&r, k, "energy") - value_of(&r, 0, "energy")));
    for (int level = 0; level < 3; level++) {
      residual[level] = fmax(residual[level], value_of(&r, k, levels[level]));
    }
  }
  assert_true(s.energy_start == value_of(&r, 0, "energy"));  // exact: the same numbers
  assert_true(s.energy_end == value_of(&r, last, "energy"));
  assert_true(s.energy_max_drift == drift);
  for (int level = 0; level < 3; level++) {
    assert_true(s.residual[level] == residual[level]);
  }
  assert_true(s.residual[0] < 1e-10);
  CHECK_NEAR(s.residual[1], 4.9238e-4, 1e-7);  // an independent program with the same scheme
  CHECK_NEAR(s.residual[2], 5.05646, 1e-4);
  CHECK_NEAR(s.energy_start, 60.0, 1e-13);
  assert_true(s.work.steps == 500 && s.smaller_steps == 0);
  assert_true(s.work.newton_iterations >= 500 && s.work.newton_iterations < 1000);
  assert_true(s.wall_seconds > 0.0);
  end(&r);
}

// Without samples the summary is the same, and the recorder is empty.
static void test_without_samples(void** unused) {
  (void)unused;
  Run r = run_of(motion_file("pendulum", NULL));
  r.def.simulate.until = 0.5;
  run(&r);
  PawlSummary with = pawl_sim_summary(r.sim);
  r.def.keep_samples = false;
  run(&r);
  PawlSummary without = pawl_sim_summary(r.sim);
  assert_int_equal(samples_of(&r), 0);
  assert_true(with.energy_max_drift == without.energy_max_drift);
  assert_true(with.energy_end == without.energy_end);
  assert_memory_equal(with.residual, without.residual, sizeof with.residual);
  assert_true(with.t == without.t);
  end(&r);
}

// ---- stopping -----------------------------------------------------------------------------------
typedef struct Stop {
  int after, calls;
  double last_t, until;
} Stop;

static int stop_after(void* context, double t, double until) {
  Stop* stop = context;
  assert_true(t > stop->last_t);
  stop->last_t = t;
  stop->until = until;
  return ++stop->calls == stop->after;
}

// What was computed is kept and valid; the run can be taken up again and ends as it would have.
static void test_stop_and_go_on(void** unused) {
  (void)unused;
  Run whole = run_of(motion_file("pendulum", NULL)), parts = run_of(motion_file("pendulum", NULL));
  whole.def.simulate.until = parts.def.simulate.until = 0.2;
  run(&whole);
  create(&parts);
  Stop stop = {.after = 7};
  assert_int_equal(pawl_sim_run(parts.sim, stop_after, &stop, &parts.err), PAWL_STOPPED);
  assert_int_equal(stop.calls, 7);
  assert_true(stop.until == 0.2);
  assert_int_equal(samples_of(&parts), 8);
  assert_true(pawl_sim_summary(parts.sim).t == 7 * 2e-3);
  for (int k = 0; k < 8; k++) {
    assert_true(value_of(&parts, k, "theta") == value_of(&whole, k, "theta"));
  }
  NEED(pawl_sim_run(parts.sim, NULL, NULL, &parts.err), &parts.err);
  assert_int_equal(samples_of(&parts), 101);
  assert_memory_equal(pawl_sim_state(parts.sim)->q, pawl_sim_state(whole.sim)->q,
                      3 * sizeof(double));
  end(&whole);
  end(&parts);
}

// Asked to stop after the last step, the run is simply over.
static void test_stop_at_the_end(void** unused) {
  (void)unused;
  Run r = run_of(motion_file("oscillator", NULL));
  r.def.simulate.step = 0.1;
  r.def.simulate.until = 1.0;
  create(&r);
  Stop stop = {.after = 10};
  NEED(pawl_sim_run(r.sim, stop_after, &stop, &r.err), &r.err);
  assert_int_equal(samples_of(&r), 11);
  end(&r);
}

// Stopped between samples: those that were due are there, and none from the future.
static void test_stop_between_samples(void** unused) {
  (void)unused;
  Run r = run_of(motion_file("oscillator", NULL));
  r.def.simulate.step = 0.01;
  r.def.simulate.until = 1.0;
  r.def.simulate.record = 0.1;
  create(&r);
  Stop stop = {.after = 25};
  assert_int_equal(pawl_sim_run(r.sim, stop_after, &stop, &r.err), PAWL_STOPPED);
  int last = samples_of(&r) - 1;
  assert_true(value_of(&r, last, "t") <= 0.25);
  assert_true(last == 2 || (last == 3 && value_of(&r, last, "t") == 0.25));
  end(&r);
}

// ---- smaller steps and failures -----------------------------------------------------------------
// A large step that Newton's method refuses is taken in pieces; times stay multiples of the step.
static void test_smaller_steps(void** unused) {
  (void)unused;
  Run r = run_of(motion_file("pendulum", NULL));
  r.def.simulate.step = 0.1;
  r.def.simulate.until = 0.5;
  r.def.simulate.iterations = 3;
  run(&r);
  PawlSummary s = pawl_sim_summary(r.sim);
  assert_true(s.smaller_steps > 0);
  assert_true(s.work.steps > 5);
  assert_int_equal(samples_of(&r), 6);
  for (int k = 0; k <= 5; k++) {
    assert_true(value_of(&r, k, "t") == k * 0.1);
    assert_true(value_of(&r, k, "residual.position") < 1e-10);
  }
  end(&r);
}

// Friction that sticks has no acceleration on either side of sign(x'): the kink is named, and no
// other.
static void test_sticking_is_named(void** unused) {
  (void)unused;
  static const char* const methods[] = {"ga-p", "ga-pva", "nsga-pva", "moreau-jean"};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    Run r =
        run_of(motion_text("model: stick\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\n"
                           "potential: 50*x^2\nforces: {x: \"max(0, x - 5) - 3*sign(x')\"}\n"));
    r.def.simulate.method = methods[k];
    r.def.simulate.step = 1e-3;
    r.def.simulate.until = 3.0;
    create(&r);
    assert_int_equal(pawl_sim_run(r.sim, NULL, NULL, &r.err), PAWL_ERROR_RUN);
    assert_non_null(strstr(r.err.message, "did not converge"));
    assert_non_null(strstr(r.err.message, "sign(x') turns here, and "));
    assert_non_null(strstr(r.err.message, "a lock with a capacity"));
    end(&r);
  }
}

// A ball falls into a region that the model does not know: samples up to there, then the failure.
static void test_failure_keeps_samples(void** unused) {
  (void)unused;
  Run r =
      run_of(motion_text("model: pit\ncoordinates: {depth: {start: 1, rate: -2}}\n"
                         "mass: {depth: 1}\npotential: 1e-3*sqrt(depth)\n"));
  static const char* const methods[] = {"ga-p", "rk4"};
  for (int k = 0; k < 2; k++) {
    r.def.simulate.method = methods[k];
    r.def.simulate.step = 0.01;
    r.def.simulate.until = 2.0;
    create(&r);
    assert_int_equal(pawl_sim_run(r.sim, NULL, NULL, &r.err), PAWL_ERROR_RUN);
    assert_int_equal(r.err.status, PAWL_ERROR_RUN);
    assert_non_null(strstr(r.err.message, "test:4"));
    int count = samples_of(&r);
    assert_true(count >= 45 && count <= 52);  // it is there at about 0.5 s
    for (int i = 0; i < count; i++) {
      assert_true(value_of(&r, i, "depth") >= 0.0);
      assert_true(isfinite(value_of(&r, i, "energy")));
    }
    assert_true(pawl_sim_summary(r.sim).smaller_steps > 0);
  }
  end(&r);
}

// rk4 leaves the constraints where they become dependent: the summary shows by how much.
static void test_drift_is_reported(void** unused) {
  (void)unused;
  Run r =
      run_of(motion_text("model: drag\ncoordinates: {x: {rate: 1}, y: {start: 1}}\n"
                         "mass: {x: 1, y: 1}\nsimulate: {method: rk4, step: 0.01}\n"
                         "constraints: {circle: x^2 + y^2 = 1, wall: x = t}\n"));
  r.def.simulate.until = 0.5;
  run(&r);
  assert_true(pawl_sim_summary(r.sim).drift < 1e-6);
  r.def.simulate.until = 1.5;
  create(&r);
  if (pawl_sim_run(r.sim, NULL, NULL, &r.err) == PAWL_OK) {
    assert_true(pawl_sim_summary(r.sim).drift > 1e-3);
  }
  end(&r);
}

static void test_record_is_full(void** unused) {
  (void)unused;
  Run r = run_of(motion_file("oscillator", NULL));
  r.def.simulate.until = 100.0;
  r.def.memory_limit = 100000;
  assert_int_equal(pawl_sim_create(r.m.system, &r.def, &r.sim, &r.err), PAWL_ERROR_USAGE);
  assert_null(r.sim);
  const char* way_out = strstr(r.err.message, "record = ");
  assert_non_null(way_out);
  r.def.simulate.record = strtod(way_out + strlen("record = "), NULL);
  run(&r);  // what the message proposes goes
  assert_true(samples_of(&r) > 1000);
  r.def.simulate.record = 0.0;
  r.def.keep_samples = false;
  run(&r);  // and so does keeping nothing
  end(&r);
}

// ---- passing samples on -------------------------------------------------------------------------
typedef struct Passed {
  int count, fail_at;
  double rows[64][16];
} Passed;

static PawlStatus pass(void* context, const PawlRecorder* recorder, const double* sample,
                       PawlError* err) {
  Passed* p = context;
  if (p->count == p->fail_at) {
    *err = (PawlError){PAWL_ERROR_FILE, "no more"};
    return PAWL_ERROR_FILE;
  }
  memcpy(p->rows[p->count++], sample,
         (size_t)pawl_recorder_column_count(recorder) * sizeof(double));
  return PAWL_OK;
}

// Between samples at 2.8 and 3.2 the track bends at t = 3: the sides of the jump, by hand.
static void test_both_sides_of_a_jump_are_passed_on(void** unused) {
  (void)unused;
  Run r = run_of(motion_file("kinked-track", NULL));
  Passed p = {.fail_at = -1};
  r.def.simulate.step = 0.4;
  r.def.simulate.until = 3.2;
  r.def.simulate.method = "event-driven";
  r.def.on_sample = pass;
  r.def.on_sample_context = &p;
  run(&r);
  assert_int_equal(samples_of(&r), 9);
  assert_int_equal(p.count, 11);
  int speed = column_of(&r, "x'"), energy = column_of(&r, "energy"), force = column_of(&r, "y''");
  int jumps = 0;
  for (int i = 1; i < p.count; i++) {
    if (p.rows[i][0] == p.rows[i - 1][0]) {
      jumps++;
      CHECK_NEAR(p.rows[i][0], 3.0, 1e-9);
      CHECK_NEAR(p.rows[i - 1][speed], 1.0, 1e-9);
      CHECK_NEAR(p.rows[i][speed], 0.5, 1e-9);
      CHECK_NEAR(p.rows[i - 1][energy], 0.5, 1e-9);
      CHECK_NEAR(p.rows[i][energy], 0.25, 1e-9);
      CHECK_NEAR(p.rows[i - 1][force], 0.0, 1e-9);
    }
  }
  assert_int_equal(jumps, 1);
  end(&r);
}

// With keep_sides the recorder has what a listener gets, also without one.
static void test_both_sides_are_kept(void** unused) {
  (void)unused;
  for (int listened = 0; listened < 2; listened++) {
    Run r = run_of(motion_file("kinked-track", NULL));
    Passed p = {.fail_at = -1};
    r.def.simulate.step = 0.4;
    r.def.simulate.until = 3.2;
    r.def.simulate.method = "event-driven";
    r.def.keep_sides = true;
    r.def.on_sample = listened ? pass : NULL;
    r.def.on_sample_context = &p;
    run(&r);
    assert_int_equal(samples_of(&r), 11);
    int speed = column_of(&r, "x'");
    const double* sides[2] = {pawl_recorder_sample(pawl_sim_recorder(r.sim), 8),
                              pawl_recorder_sample(pawl_sim_recorder(r.sim), 9)};
    CHECK_NEAR(sides[0][0], sides[1][0], 0.0);
    CHECK_NEAR(sides[0][speed], 1.0, 1e-9);
    CHECK_NEAR(sides[1][speed], 0.5, 1e-9);
    for (int i = 0; i < p.count; i++) {
      CHECK_NEAR(p.rows[i][speed], pawl_recorder_sample(pawl_sim_recorder(r.sim), i)[speed], 0.0);
    }
    end(&r);
  }
}

// A mass under the force 3 is held from 0.55 to 0.95, between samples: on each side the motion of
// its phase, by every method that steps to an instant.
static void test_sides_have_accelerations(void** unused) {
  (void)unused;
  static const char* const methods[] = {"rk4",  "dopri",  "ga-p",     "ga-v",
                                        "ga-a", "taylor", "nsga-pvv", "nsga-pva"};
  static const double expected[4][3] = {{3, 0, 3}, {0, -3, 0}, {0, -3, 0}, {3, 0, 3}};
  for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
    Run r = run_of(
        motion_text("model: held\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\nforces: {x: 3}\n"
                    "locks: {stop: {lock: x, at: 0.55, release: {at: 0.95}}}\noutputs: {a: x''}\n"
                    "simulate: {until: 1, step: 0.1}\n"));
    Passed p = {.fail_at = -1};
    r.def.simulate.method = methods[m];
    r.def.on_sample = pass;
    r.def.on_sample_context = &p;
    run(&r);
    int a = column_of(&r, "x''"), force = column_of(&r, "lambda(stop)"), of_a = column_of(&r, "a");
    int residual = column_of(&r, "residual.position"), side = 0;
    for (int i = 1; i < p.count; i++) {
      if (p.rows[i][0] == p.rows[i - 1][0]) {
        for (int k = i - 1; k <= i; k++, side++) {
          CHECK_NEAR(p.rows[k][a], expected[side][0], 1e-9);
          CHECK_NEAR(p.rows[k][force], expected[side][1], 1e-9);
          CHECK_NEAR(p.rows[k][of_a], expected[side][2], 1e-9);
          CHECK_NEAR(p.rows[k][residual], 0.0, 1e-12);
        }
      }
    }
    assert_int_equal(side, 4);
    end(&r);
  }
}

// A hit within a time step: no accelerations and forces just before it, those of the sample after.
static void test_no_value_before_a_hit(void** unused) {
  (void)unused;
  Run r = run_of(
      motion_text("model: drop\ncoordinates: {y: {start: 1}}\nmass: {y: 1}\npotential: 10*y\n"
                  "contacts: {floor: {gap: y}}\noutputs: {N: lambda(floor), twice: 2*y}\n"
                  "simulate: {until: 0.6, step: 0.02, method: nsga-pva}\n"));
  Passed p = {.fail_at = -1};
  r.def.on_sample = pass;
  r.def.on_sample_context = &p;
  run(&r);
  int hits = 0;
  static const char* const unknown[] = {"y''", "lambda(floor)", "N", "residual.acceleration"};
  for (int i = 1; i < p.count; i++) {
    if (p.rows[i][0] == p.rows[i - 1][0]) {
      hits++;
      for (int k = 0; k < 4; k++) {
        int column = column_of(&r, unknown[k]);
        assert_true(isnan(p.rows[i - 1][column]) && isfinite(p.rows[i][column]));
      }
      CHECK_NEAR(p.rows[i - 1][column_of(&r, "twice")], 0.0, 1e-12);
    }
  }
  assert_int_equal(hits, 1);
  end(&r);
}

static void test_a_listener_ends_the_run(void** unused) {
  (void)unused;
  Run r = run_of(motion_file("oscillator", NULL));
  Passed p = {.fail_at = 5};
  r.def.on_sample = pass;
  r.def.on_sample_context = &p;
  create(&r);
  assert_int_equal(pawl_sim_run(r.sim, NULL, NULL, &r.err), PAWL_ERROR_FILE);
  assert_string_equal(r.err.message, "no more");
  assert_int_equal(p.count, 5);
  end(&r);
}

// A bad start is known at creation.
static void test_start_off_the_constraints(void** unused) {
  (void)unused;
  Run r =
      run_of(motion_text("model: off\ncoordinates: {x: {start: 1}}\nmass: {x: 1}\n"
                         "constraints: {post: x = 0}\n"));
  assert_int_equal(pawl_sim_create(r.m.system, &r.def, &r.sim, &r.err), PAWL_ERROR_RUN);
  assert_null(r.sim);
  assert_non_null(strstr(r.err.message, "'post'"));
  r.def.project = true;
  run(&r);
  assert_true(pawl_sim_state(r.sim)->q[0] == 0.0);
  end(&r);
}

static void test_warning_is_passed_on(void** unused) {
  (void)unused;
  Run r =
      run_of(motion_text("model: twice\ncoordinates: {x: {}, y: {}}\nmass: {x: 1, y: 1}\n"
                         "constraints: {a: x = y, b: y = x}\n"));
  run(&r);
  assert_non_null(strstr(pawl_sim_warning(r.sim), "'b' (row 1)"));
  assert_int_equal(pawl_sim_summary(r.sim).work.redundant_rows, 1);
  end(&r);
}

// ---- events -------------------------------------------------------------------------------------
static const PawlEvent* event_of(const Run* r, int k) {
  assert_true(k < pawl_recorder_event_count(pawl_sim_recorder(r->sim)));
  return pawl_recorder_event(pawl_sim_recorder(r->sim), k);
}

// A switch is logged with the names of its constraint and modes and what jumped.
static void test_event_of_a_switch(void** unused) {
  (void)unused;
  Run r = run_of(motion_file("kinked-track", NULL));
  run(&r);
  assert_int_equal(pawl_recorder_event_count(pawl_sim_recorder(r.sim)), 1);
  const PawlEvent* e = event_of(&r, 0);
  assert_string_equal(e->constraint, "track");
  assert_string_equal(e->from, "flat");
  assert_string_equal(e->to, "ramp");
  CHECK_NEAR(e->t, 3.0, 1e-11);
  CHECK_NEAR(e->energy_lost, 0.25, 1e-12);
  assert_true(e->row_count == 1 && e->v_count == 2);
  CHECK_NEAR(e->impulse[0], 0.5, 1e-12);
  CHECK_NEAR(e->v_before[0], 1.0, 1e-12);
  CHECK_NEAR(e->v_after[1], 0.5, 1e-12);
  CHECK_NEAR(pawl_sim_summary(r.sim).energy_start - pawl_sim_summary(r.sim).energy_end, 0.25,
             1e-12);
  end(&r);
}

// Periods of a wrap are named by their number; a family's elements by their own names.
static void test_event_of_a_turn(void** unused) {
  (void)unused;
  Run r = run_of(motion_file("cam-follower", "fy=5"));
  run(&r);
  assert_int_equal(pawl_recorder_event_count(pawl_sim_recorder(r.sim)), 2);
  for (int k = 0; k < 2; k++) {
    assert_string_equal(event_of(&r, k)->constraint, "cam");
    assert_string_equal(event_of(&r, k)->from, k ? "turn 1" : "turn 0");
    assert_string_equal(event_of(&r, k)->to, k ? "turn 2" : "turn 1");
  }
  end(&r);
}

static void test_event_of_a_contact(void** unused) {
  (void)unused;
  Run r = run_of(motion_text(
      "model: ball\ncoordinates: {x: {}, y: {start: 1}}\nmass: {x: 1, y: 2}\npotential: 20*y\n"
      "constraints: {guide: x = 0}\ncontacts: {floor: {gap: y, restitution: 0.5}}\n"
      "simulate: {method: nsga-pva, until: 0.6, step: 1e-3}\n"));
  run(&r);
  assert_int_equal(pawl_recorder_event_count(pawl_sim_recorder(r.sim)), 1);
  const PawlEvent* e = event_of(&r, 0);
  assert_string_equal(e->constraint, "floor");
  CHECK_NEAR(e->t, sqrt(0.2), 1.5e-3);
  assert_int_equal(e->row_count, 1);
  CHECK_NEAR(e->impulse[0], 2 * 1.5 * sqrt(20.0), 0.05);  // m (1 + e) v, h late
  CHECK_NEAR(e->energy_lost, 15.0, 0.05);
  end(&r);
}

// A step that is taken in pieces logs each switch once.
static void test_events_of_smaller_steps(void** unused) {
  (void)unused;
  Run r = run_of(motion_file("pothole-wheel", NULL));
  r.def.simulate.method = "nsga-pva";
  r.def.simulate.iterations = 5;
  r.def.simulate.step = 0.1;
  run(&r);
  assert_true(pawl_sim_summary(r.sim).smaller_steps > 0);
  assert_int_equal(pawl_recorder_event_count(pawl_sim_recorder(r.sim)), 3);
  assert_string_equal(event_of(&r, 2)->to, "after");
  end(&r);
}

// A lock that cannot give way meets a stop that moves at 2 s, in a step that has met a ball's hit
// before: what led there is known, the state up to a thousandth of a step.
static void test_events_of_a_failed_step(void** unused) {
  (void)unused;
  Run r = run_of(motion_text(
      "model: stop\ncoordinates: {z: {start: 10}, w: {start: 1}}\nmass: {z: 1, w: 1}\n"
      "potential: 9.81*z\ncontacts: {ball: {gap: z, restitution: 0.5}, stop: {gap: w - 0.5*t}}\n"
      "locks: {rigid: {lock: w, at: 0.01}}\n"
      "simulate: {method: event-driven, until: 3, step: 0.7}\n"));
  create(&r);
  assert_int_equal(pawl_sim_run(r.sim, NULL, NULL, &r.err), PAWL_ERROR_RUN);
  assert_non_null(strstr(r.err.message, "t = 2: 'rigid'"));
  CHECK_NEAR(pawl_sim_state(r.sim)->t, 2.0, 1e-3);
  assert_int_equal(pawl_recorder_event_count(pawl_sim_recorder(r.sim)), 2);
  assert_string_equal(event_of(&r, 1)->constraint, "ball");
  CHECK_NEAR(event_of(&r, 1)->t, sqrt(20 / 9.81), 1e-11);
  end(&r);
}

// Leaving all regions ends the run; what was recorded before stays.
static void test_leaving_all_regions(void** unused) {
  (void)unused;
  static const char* const methods[] = {"event-driven", "nsga-pva", "moreau-jean", "ga-p"};
  for (int k = 0; k < 4; k++) {
    Run r = run_of(motion_text(
        "model: hole\ncoordinates: {x: {rate: 1}, y: {}}\nmass: {x: 1, y: 1}\n"
        "constraints:\n  track:\n    modes:\n"
        "      flat: {where: x < 1, equation: y = 0}\n"
        "      ramp: {where: x > 1.5, equation: y = x - 1.5}\nsimulate: {until: 3, step: 0.03}\n"));
    r.def.simulate.method = methods[k];
    create(&r);
    assert_int_equal(pawl_sim_run(r.sim, NULL, NULL, &r.err), PAWL_ERROR_RUN);
    assert_non_null(strstr(r.err.message, "constraint 'track'"));
    CHECK_NEAR(value_of(&r, samples_of(&r) - 1, "t"), 1.0, 0.03);
    end(&r);
  }
}

static void test_every_allocation_can_fail(void** unused) {
  (void)unused;
  Run r = run_of(motion_file("pendulum", NULL));
  r.def.simulate.until = 0.02;
  PawlStatus status = PAWL_ERROR_MEMORY;
  int n = 1;
  for (; status != PAWL_OK && n < 2000; n++) {
    pawl_alloc_fail_at(n);
    status = pawl_sim_create(r.m.system, &r.def, &r.sim, &r.err);
    status = status ? status : pawl_sim_run(r.sim, NULL, NULL, &r.err);
    pawl_alloc_fail_at(0);
    pawl_sim_destroy(r.sim);
    r.sim = NULL;
    assert_true(status == PAWL_OK || status == PAWL_ERROR_MEMORY);
  }
  assert_true(n > 10 && n < 2000);
  end(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_times_are_multiples),
      cmocka_unit_test(test_last_step_is_short),
      cmocka_unit_test(test_record_interval),
      cmocka_unit_test(test_too_many_steps),
      cmocka_unit_test(test_summary_from_samples),
      cmocka_unit_test(test_without_samples),
      cmocka_unit_test(test_stop_and_go_on),
      cmocka_unit_test(test_stop_at_the_end),
      cmocka_unit_test(test_stop_between_samples),
      cmocka_unit_test(test_smaller_steps),
      cmocka_unit_test(test_sticking_is_named),
      cmocka_unit_test(test_failure_keeps_samples),
      cmocka_unit_test(test_drift_is_reported),
      cmocka_unit_test(test_record_is_full),
      cmocka_unit_test(test_both_sides_of_a_jump_are_passed_on),
      cmocka_unit_test(test_both_sides_are_kept),
      cmocka_unit_test(test_sides_have_accelerations),
      cmocka_unit_test(test_no_value_before_a_hit),
      cmocka_unit_test(test_a_listener_ends_the_run),
      cmocka_unit_test(test_start_off_the_constraints),
      cmocka_unit_test(test_warning_is_passed_on),
      cmocka_unit_test(test_event_of_a_switch),
      cmocka_unit_test(test_event_of_a_turn),
      cmocka_unit_test(test_event_of_a_contact),
      cmocka_unit_test(test_events_of_smaller_steps),
      cmocka_unit_test(test_events_of_a_failed_step),
      cmocka_unit_test(test_leaving_all_regions),
      cmocka_unit_test(test_every_allocation_can_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
