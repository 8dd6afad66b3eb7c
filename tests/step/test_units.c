// SPDX-License-Identifier: Apache-2.0
// Nothing depends on the units of length, mass and time: locks, sticking, surfaces and impacts run
// with each of them scaled by 1e-4 and 1e4, alone and together, and give the same events, and times
// and states that are equal after scaling back. In the texts L, M and T are the units, so that a
// force is a number times F = M*L/T^2.
#include "switch/runs.h"

enum { MOST_EVENTS = 32, MOST_COORDINATES = 4 };

typedef struct Units {
  double L, M, T;
} Units;

static const Units UNITS[] = {
    {1e-4, 1, 1},      {1e4, 1, 1},        {1, 1e-4, 1},    {1, 1e4, 1},      {1, 1, 1e-4},
    {1, 1, 1e4},       {1e-4, 1e-4, 1e-4}, {1e4, 1e4, 1e4}, {1e-4, 1e4, 1e4}, {1e-9, 1e6, 1e2},
    {1e9, 1e-6, 1e-2}, {1, 1e-12, 1},      {1e13, 1e24, 1}};

typedef struct Case {
  const char *name, *text, *method;
  double until, step, tolerance;
  int events;       // how many there must be; -1: it fails
  const char* why;  // part of its message, or its last event; NULL: not asked
} Case;

// What a run was, in units of 1.
typedef struct Outcome {
  PawlStatus status;
  int count;
  double t[MOST_EVENTS], impulse[MOST_EVENTS], lost[MOST_EVENTS];
  char what[MOST_EVENTS][160];  // event, or the message of a failure
  double q[MOST_COORDINATES], v[MOST_COORDINATES];
  int n;
} Outcome;

static void parse(Run* run, const char* text, Units u) {
  char lengths[32], masses[32], times[32];
  const char* overrides[3] = {lengths, masses, times};
  snprintf(lengths, sizeof lengths, "L=%g", u.L);
  snprintf(masses, sizeof masses, "M=%g", u.M);
  snprintf(times, sizeof times, "T=%g", u.T);
  run_need(run, pawl_model_parse(text, strlen(text), "test", 3, overrides, &run->model, &run->err));
  run_derive(run);
}

static void note_events(const Run* run, Units u, Outcome* out) {
  double energy = u.M * u.L * u.L / (u.T * u.T), momentum = u.M * u.L / u.T;
  out->count = run_events(run);
  assert_in_range(out->count, 0, MOST_EVENTS);
  for (int k = 0; k < out->count; k++) {
    const PawlEvent* e = run_event(run, k);
    out->t[k] = e->t / u.T;
    out->impulse[k] = e->row_count > 0 ? e->impulse[0] / momentum : 0.0;
    out->lost[k] = e->energy_lost / energy;
    snprintf(out->what[k], sizeof *out->what, "%s: %s to %s", e->constraint, e->from ? e->from : "",
             e->to ? e->to : "");
  }
}

static Outcome outcome(const Case* c, Units u) {
  static const char head[] = "parameters: {L: 1, M: 1, T: 1, F: M*L/T^2}\n";
  Outcome out = {0};
  Run run = {0};
  char text[2000];
  snprintf(text, sizeof text, "model: %s\n%s%ssimulate: {until: 1}\n", c->name, head, c->text);
  parse(&run, text, u);
  run.def.simulate.method = c->method;
  run.def.simulate.event_tolerance *= u.T;
  out.status = run_try(&run, c->until * u.T, c->step * u.T);
  if (out.status != PAWL_OK) {
    snprintf(out.what[0], sizeof *out.what, "%.159s", run.err.message);
    run_end(&run);
    return out;
  }
  note_events(&run, u, &out);
  out.n = pawl_system_sizes(run.system).v;
  for (int j = 0; j < out.n; j++) {
    out.q[j] = pawl_sim_state(run.sim)->q[j] / u.L;
    out.v[j] = pawl_sim_state(run.sim)->v[j] * u.T / u.L;
  }
  run_end(&run);
  return out;
}

static double furthest(int n, const double* x, const double* y) {
  double most = 0.0;
  for (int k = 0; k < n; k++) {
    most = fabs(x[k] - y[k]) > most || isnan(x[k]) ? fabs(x[k] - y[k]) : most;
  }
  return most;
}

// 0 when two outcomes are the same; says what differs otherwise.
static int differs(const Case* c, Units u, const Outcome* a, const Outcome* b) {
  const char* where = c->name;
  if (a->status != b->status || a->count != b->count) {
    print_error("%s (L %g, M %g, T %g): status %d with %d events, expected %d with %d; %s\n", where,
                u.L, u.M, u.T, (int)b->status, b->count, (int)a->status, a->count, b->what[0]);
    return 1;
  }
  for (int k = 0; k < a->count; k++) {
    if (strcmp(a->what[k], b->what[k]) != 0) {
      print_error("%s (L %g, M %g, T %g): event %d is '%s', expected '%s'\n", where, u.L, u.M, u.T,
                  k, b->what[k], a->what[k]);
      return 1;
    }
  }
  if (a->status != PAWL_OK && !strstr(b->what[0], c->why)) {
    print_error("%s (L %g, M %g, T %g): '%s'\n", where, u.L, u.M, u.T, b->what[0]);
    return 1;
  }
  double off = fmax(furthest(a->n, a->q, b->q), furthest(a->n, a->v, b->v));
  off = fmax(off, furthest(a->count, a->t, b->t));
  off = fmax(off, furthest(a->count, a->impulse, b->impulse));
  off = fmax(off, furthest(a->count, a->lost, b->lost));
  if (!(off <= c->tolerance)) {
    print_error("%s (L %g, M %g, T %g): off by %g\n", where, u.L, u.M, u.T, off);
    return 1;
  }
  return 0;
}

static void check_cases(int count, const Case* cases) {
  int wrong = 0;
  for (int k = 0; k < count; k++) {
    Outcome one = outcome(&cases[k], (Units){1, 1, 1});
    if (one.status != PAWL_OK ? cases[k].events >= 0 : one.count != cases[k].events) {
      print_error("%s: status %d, %d events, expected %d: %s\n", cases[k].name, (int)one.status,
                  one.count, cases[k].events, one.what[0]);
      wrong++;
    }
    if (one.count > 0 && cases[k].why && !strstr(one.what[one.count - 1], cases[k].why)) {
      print_error("%s: '%s', expected '%s'\n", cases[k].name, one.what[one.count - 1],
                  cases[k].why);
      wrong++;
    }
    for (size_t u = 0; u < sizeof UNITS / sizeof *UNITS; u++) {
      Outcome other = outcome(&cases[k], UNITS[u]);
      wrong += differs(&cases[k], UNITS[u], &one, &other);
    }
  }
  assert_int_equal(wrong, 0);
}
#define CHECK_CASES(cases) check_cases((int)(sizeof(cases) / sizeof *(cases)), (cases))

// ---- locks --------------------------------------------------------------------------------------
static const Case LOCKS[] = {
    {"train",
     "coordinates: {x: {rate: 3*L/T}, y: {rate: L/T}, z: {rate: -2*L/T}}\n"
     "mass: {x: 2*M, y: M, z: 3*M}\n"
     "locks: {front: {lock: x - y, at: 0.35*T}, back: {lock: y - z, at: 0.35*T}}\n",
     "rk4", 1, 0.1, 1e-12, 2, NULL},
    {"snap",
     "coordinates: {x: {start: 0.1*L, rate: L/T}, y: {rate: L/T}}\nmass: {x: M, y: 2*M}\n"
     "locks: {stop: {lock: x - y, at: 0.35*T, on: snap, to: 0.5*L}}\n",
     "rk4", 1, 0.1, 1e-12, 1, NULL},
    {"refuse",
     "coordinates: {x: {start: 0.1*L, rate: L/T}, y: {rate: L/T}}\nmass: {x: M, y: 2*M}\n"
     "locks: {far: {lock: x, at: 0.35*T, on: refuse, to: 0.4501*L},\n"
     "        near: {lock: y, at: 0.35*T, on: refuse, to: 0.3500001*L}}\n",
     "rk4", 1, 0.1, 1e-12, 2, NULL},
    // at the origin all terms are zero: what is measured by is the other coordinate
    {"refuse_at_zero",
     "coordinates: {x: {start: -0.35*L, rate: L/T}, y: {start: L, rate: L/T}}\nmass: {x: M, y: "
     "M}\n"
     "locks: {far: {lock: x, at: 0.35*T, on: refuse, to: 1e-5*L},\n"
     "        near: {lock: x, at: 0.35*T, on: refuse, to: 1e-10*L}}\n",
     "rk4", 1, 0.1, 1e-12, 2, "near: free to locked"},
    {"moving",
     "coordinates: {x: {rate: L/T}, y: }\nmass: {x: M, y: 3*M}\n"
     "locks: {screw: {lock: x - y - 0.5*t*L/T, at: 1.05*T, for: 0.5*T}}\n",
     "rk4", 2, 0.1, 1e-12, 2, NULL},
    {"conditions",
     "coordinates: {x: {rate: L/T}, y: }\nmass: {x: M, y: M}\npotential: M/T^2*x^2/2\n"
     "forces: {y: F*sin(t/T)}\n"
     "locks: {stop: {lock: y, when: x - L/2, direction: up, after: 0.1*T,\n"
     "               release: {when: lambda(stop), direction: up}}}\n",
     "rk4", 10, 0.01, 1e-10, 4, NULL},
    {"smooth",
     "coordinates: {x: {rate: L/T}}\nmass: {x: M}\npotential: M/T^2*x^2/2\n"
     "locks: {stop: {lock: x, at: [0.5*T, 0.7*T], smooth: true, for: 2*T}}\n",
     "rk4", 4, 0.01, 1e-10, 3, NULL},
    {"held_rate",
     "coordinates: {x: {rate: L/T}, y: {start: L}}\nmass: {x: M, y: M}\n"
     "potential: M/T^2*(x - y)^2/2\n"
     "locks: {l: {lock: x, at: 0.3*T, release: {when: lambda(l) - 0.1*F}}}\n"
     "events: {e: {when: x'}}\n",
     "rk4", 4, 0.01, 1e-10, 2, NULL},
    // both come to zero together, however small a condition is; the third begins at zero
    {"ties",
     "coordinates: {x: {start: -L, rate: L/T}, y: }\nmass: {x: M, y: M}\nforces: {y: F}\n"
     "events: {a: {when: x/L}, b: {when: 1e-9*x/L}, c: {when: \"1e-9*y*(y - L/8)/L^2\"}}\n",
     "rk4", 2, 0.3, 1e-10, 3, NULL},
    {"redundant",
     "coordinates: {x: {rate: 2*L/T}, y: }\nmass: {x: M, y: 3*M}\nforces: {x: 4*F}\n"
     "locks: {one: {lock: x - y, at: 0.25*T}, two: {lock: x - y, at: 0.25*T}}\n",
     "rk4", 0.5, 0.1, 1e-12, 2, NULL},
    {"constraint",  // refused unless its equation holds; both coordinates are on it
     "coordinates: {x: {start: L, rate: L/T}, y: {start: 0.5*L, rate: 2*L/T}}\n"
     "mass: {x: M, y: M}\nconstraints: {pair: {equation: x = y, at: [0.3*T, 0.5*T]}}\n",
     "rk4", 1, 0.1, 1e-12, 2, NULL},
};

static void test_locks(void** unused) {
  (void)unused;
  CHECK_CASES(LOCKS);
}

// ---- sticking -----------------------------------------------------------------------------------
static const Case STICKING[] = {
    {"brake",
     "coordinates: {x: {rate: 2*L/T}}\nmass: {x: M}\n"
     "locks: {brake: {lock: x, at: 0.5*T, capacity: 4*F, friction: 3*F}}\n",
     "rk4", 2, 0.03, 1e-9, 2, NULL},
    {"reversal",
     "coordinates: {x: {rate: 2*L/T}}\nmass: {x: M}\nforces: {x: -5*F}\n"
     "locks: {brake: {lock: x, at: 0, capacity: 4*F, friction: 3*F}}\n",
     "rk4", 2, 0.03, 1e-9, 2, NULL},
    {"tears_off",
     "coordinates: [x]\nmass: {x: M}\nforces: {x: 6*F*t/T}\n"
     "locks: {hold: {lock: x, engaged: true, capacity: 4*F, friction: 3*F}}\n",
     "rk4", 1, 0.01, 1e-9, 1, NULL},
    {"two_blocks",
     "coordinates: {x: {rate: 6*L/T}, y: }\nmass: {x: M, y: M}\n"
     "locks: {upper: {lock: y - x, engaged: true, capacity: 4*F, friction: 3*F},\n"
     "        ground: {lock: x, engaged: true, capacity: 2.5*F, friction: 2*F}}\n",
     "rk4", 4, 0.04, 1e-9, 2, NULL},
    {"shock_beside",
     "coordinates: {x: {rate: 3*L/T}, y: {rate: 3*L/T}}\nmass: {x: M, y: M}\n"
     "locks: {joint: {lock: y - x, engaged: true, capacity: 4*F, friction: 3*F},\n"
     "        wall: {lock: x, at: 0.5*T}}\n",
     "rk4", 2, 0.03, 1e-9, 3, NULL},
    {"half_swings",
     "coordinates: {x: {start: L}}\nmass: {x: M}\npotential: 8*M/T^2*x^2\n"
     "locks: {friction: {lock: x, engaged: true, capacity: 2.1*F, friction: 1.6*F}}\n",
     "rk4", 5, 1e-2, 1e-9, 5, NULL},
    {"shared",
     "coordinates: [x]\nmass: {x: M}\nforces: {x: 3*F*t/T}\n"
     "locks: {one: {lock: x, engaged: true, capacity: F, friction: 0.5*F},\n"
     "        two: {lock: 3*x, engaged: true, capacity: 0.7*F, friction: 0.5*F}}\n",
     "rk4", 2, 0.01, 1e-9, 2, NULL},
    {"coupled",
     "coordinates: {x: {rate: 2*L/T}, y: {rate: 2*L/T}}\nmass: {x: M, y: M}\n"
     "locks: {couple: {lock: x - y, engaged: true},\n"
     "        left: {lock: x, engaged: true, capacity: 1.5*F, friction: F},\n"
     "        right: {lock: y, engaged: true, capacity: 2.5*F, friction: 2*F}}\n",
     "rk4", 3, 0.03, 1e-9, 2, NULL},
    {"turned_by_a_jump",
     "coordinates: {x: {rate: -L/T}, y: {rate: 5*L/T}}\nmass: {x: M, y: M}\n"
     "locks: {brake: {lock: x, at: 0, capacity: 0.1*F}, hook: {lock: x - y, at: 0.5*T}}\n",
     "rk4", 2, 0.1, 1e-9, 3, NULL},
    {"across",
     "coordinates: {x: {rate: L/T}}\nmass: {x: M}\nforces: {x: -2*F}\n"
     "locks: {l: {lock: x, engaged: true, capacity: F}}\n"
     "events: {e: {when: \"x'' + 1.7*L/T^2\", direction: up}, f: {when: x' + 0.001*L/T}}\n",
     "rk4", 1, 0.01, 1e-9, 3, NULL},
    {"driven",
     "coordinates: {x: {rate: L/T}}\nmass: {x: M}\nconstraints: {drive: x = L*sin(t/T)}\n"
     "locks: {b: {lock: x, engaged: true, capacity: F}}\n",
     "rk4", 2, 1e-3, 1e-5, 1, NULL},
    {"rest_by_jump",
     "coordinates: {x: {rate: L/T}, y: {rate: -1.5*L/T}}\nmass: {x: M, y: M}\nforces: {x: F}\n"
     "locks: {b: {lock: x, at: 0, capacity: 5*F, friction: 0}, hook: {lock: x - y, at: 0.5*T}}\n",
     "rk4", 1, 0.1, 1e-9, 3, NULL},
};

static void test_sticking(void** unused) {
  (void)unused;
  CHECK_CASES(STICKING);
}

// ---- surfaces and laws --------------------------------------------------------------------------
static const Case SURFACES[] = {
    {"track_post",
     "coordinates: {x: {rate: L/T}, y: }\nmass: {x: M, y: M}\n"
     "constraints: {track: {modes: {flat: {where: x < 3*L, equation: y = 0},\n"
     "                              ramp: {where: x > 3*L, equation: y = x - 3*L}}}}\n",
     "event-driven", 6, 0.01, 1e-10, 1, NULL},
    {"track_bisector",
     "coordinates: {x: {rate: L/T}, y: }\nmass: {x: M, y: 2*M}\n"
     "constraints: {track: {impact: bisector, modes: {flat: {where: x < 3*L, equation: y = 0},\n"
     "                              ramp: {where: x > 3*L, equation: y = x - 3*L}}}}\n",
     "event-driven", 6, 0.01, 1e-10, 1, NULL},
    {"more_rows",  // than before: the second has no partner to be between
     "coordinates: {x: {rate: L/T}, y: , z: {rate: L/T}}\nmass: {x: M, y: 2*M, z: 3*M}\n"
     "constraints: {track: {impact: 0.7, modes: {flat: {where: x < 3*L, equation: y = 0},\n"
     "         ramp: {where: x > 3*L, equation: [y = x - 3*L, z = x]}}}}\n",
     "event-driven", 6, 0.01, 1e-10, 1, NULL},
    // lands on the surface of its own region, and stays on it for good
    {"landing",
     "coordinates: {x: {rate: L/T}, y: {start: L}}\nmass: {x: M, y: M}\npotential: 2*F*y\n"
     "constraints: {base: {modes: {air: {where: y > 0, equation: none},\n"
     "                              ground: {where: y < 0, equation: y = 0}}}}\n",
     "event-driven", 3, 0.01, 1e-9, 1, NULL},
    {"landing_on_a_slope",
     "coordinates: {x: {start: -L, rate: 2*L/T}, y: {start: L}}\nmass: {x: M, y: M}\n"
     "potential: 2*F*y\n"
     "constraints: {base: {modes: {air: {where: y > x/2, equation: none},\n"
     "                              ground: {where: y < x/2, equation: y = x/2}}}}\n",
     "event-driven", 3, 0.01, 1e-9, 1, NULL},
    // the method drifts off a curved floor, which is the surface of its region
    {"bowl",
     "coordinates: {x: {start: 0.5*L}, y: }\nmass: {x: M, y: M}\npotential: 2*F*y\n"
     "constraints: {bowl: {modes: {air: {where: (x^2 + y^2)/L < 4*L, equation: none},\n"
     "                             wall: {where: (x^2 + y^2)/L > 4*L,\n"
     "                                    equation: (x^2 + y^2)/L = 4*L}}}}\n",
     "event-driven", 6, 0.05, 1e-8, 1, NULL},
    {"turns",
     "coordinates: {x: {rate: L/T}, y: {start: L/16, rate: -0.25*L/T}}\nmass: {x: M, y: M}\n"
     "constraints: {saw: \"y = (wrap(x, L) - L/2)^2/(4*L)\"}\n",
     "event-driven", 2.5, 0.01, 1e-9, 2, NULL},
};

static void test_surfaces(void** unused) {
  (void)unused;
  CHECK_CASES(SURFACES);
}

// ---- what must fail -----------------------------------------------------------------------------
static const Case FAILURES[] = {
    {"no_velocities",
     "coordinates: {x: {rate: L/T}}\nmass: {x: M}\n"
     "locks: {a: {lock: x, at: 0.5*T}, b: {lock: x - 1e-5*t*L/T, at: 0.5*T}}\n",
     "rk4", 1, 0.1, 0, -1, "no velocities satisfy"},
    {"no_accelerations",
     "coordinates: {x: {rate: L/T}}\nmass: {x: M}\nforces: {x: F}\n"
     "locks: {a: {lock: x, at: 0.5*T}, b: {lock: x - 1e-4*(t/T - 0.5)^2*L, at: 0.5*T}}\n",
     "rk4", 1, 0.1, 0, -1, "no accelerations satisfy"},
    {"no_snap",
     "coordinates: {x: {rate: L/T}}\nmass: {x: M}\n"
     "locks: {a: {lock: x, at: 0.4*T}, b: {lock: x, at: 0.5*T, on: snap, to: 0.401*L}}\n",
     "rk4", 1, 0.1, 0, -1, "cannot be met by a snap"},
    {"apart",
     "coordinates: {x: {rate: L/T}, y: }\nmass: {x: M, y: M}\n"
     "constraints: {track: {modes: {flat: {where: x < 3*L, equation: y = 0},\n"
     "                              ramp: {where: x > 3*L, equation: y = x - 2.9999*L}}}}\n",
     "event-driven", 6, 0.01, 0, -1, "is off by"},
    {"leads_back",
     "coordinates: {x: {rate: L/T}, y: }\nmass: {x: M, y: M}\n"
     "constraints: {track: {modes: {flat: {where: x < 3*L, equation: y = 0},\n"
     "   ramp: {where: x > 3*L, equation: x + y = 3*L - 1.00001*(t - 3*T)*L/T}}}}\n",
     "event-driven", 6, 0.01, 0, -1, "leads back"},
    {"off_at_the_start",
     "coordinates: {x: {start: L}, y: {start: 0.99999*L}}\nmass: {x: M, y: M}\n"
     "constraints: {pair: x = y}\n",
     "rk4", 1, 0.1, 0, -1, "position is off"},
    {"off_at_the_origin",
     "coordinates: {x: , y: {start: 1e-8*L}, z: {start: L}}\nmass: {x: M, y: M, z: M}\n"
     "constraints: {pair: x = y}\n",
     "rk4", 1, 0.1, 0, -1, "position is off"},
    {"off_by_rates",
     "coordinates: {x: {rate: L/T}, y: {rate: 0.99999*L/T}}\nmass: {x: M, y: M}\n"
     "constraints: {pair: x = y}\n",
     "rk4", 1, 0.1, 0, -1, "velocity is off"},
};

static void test_failures(void** unused) {
  (void)unused;
  CHECK_CASES(FAILURES);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_locks),
      cmocka_unit_test(test_sticking),
      cmocka_unit_test(test_surfaces),
      cmocka_unit_test(test_failures),
  };
  return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
