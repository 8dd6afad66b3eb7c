// SPDX-License-Identifier: Apache-2.0
// Nothing depends on the units of length, mass and time: locks, sticking, surfaces, impacts and
// what must fail.
#include "units.h"

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
    // what comes to zero with x fires with it, although x is held from then on; what has come to
    // rest near zero long before does not
    {"ties_and_a_lock",
     "coordinates: {x: {start: -L, rate: L/T}, y: {rate: L/T}}\nmass: {x: M, y: M}\n"
     "locks: {stop: {lock: x, when: x}}\n"
     "events: {b: {when: 2*x}, c: {when: \"L*exp(-28*t/T)\"}}\n",
     "rk4", 2, 0.3, 1e-10, 2, NULL},
    {"redundant",
     "coordinates: {x: {rate: 2*L/T}, y: }\nmass: {x: M, y: 3*M}\nforces: {x: 4*F}\n"
     "locks: {one: {lock: x - y, at: 0.25*T}, two: {lock: x - y, at: 0.25*T}}\n",
     "rk4", 0.5, 0.1, 1e-12, 2, NULL},
    // the same rows in numbers of very different size; how they share impulses depends on these
    {"redundant_by_other_rows",
     "coordinates: {x: {rate: 2*L/T}, y: }\nmass: {x: 1.3*M, y: 2.7*M}\nforces: {x: 4.1*F}\n"
     "locks: {one: {lock: x - y, at: 0.25*T}, two: {lock: 1e6*(x - y)/L, at: 0.25*T}}\n",
     "rk4", 0.5, 0.1, 10, 2, NULL},
    // y is x in small units, with little inertia: x can move, although y moves 1e9 times as much
    {"gear",
     "coordinates: {x: {start: 0.1*L, rate: L/T}, y: {start: 1e8*L, rate: 1e9*L/T}}\n"
     "mass: {x: M, y: 1e-9*M}\nconstraints: {gear: 1e-9*y = x}\nevents: {e: {when: x - 0.5*L}}\n",
     "ga-p", 1, 0.1, 1e-3, 1, NULL},
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
    // first both are at their bounds; with the friction of the upper one the lower one would turn
    // back, and holds
    {"holds_after_all",
     "coordinates: [x, y]\nmass: {x: M, y: M}\nforces: {y: 6*F}\n"
     "locks: {upper: {lock: y - x, at: 0, capacity: 4*F, friction: 0.5*F},\n"
     "        lower: {lock: x, at: 0, capacity: 3*F, friction: 3*F}}\n",
     "rk4", 0.5, 0.01, 1e-9, 2, "lower: free to locked"},
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
    // what it takes hold of is at rest, but for rounding and for the drift of the method
    {"holds_what_is_held",
     "coordinates: {x: {rate: 0.3*L/T}, y: {rate: L/T}}\nmass: {x: M, y: 3*M}\n"
     "forces: {x: F*sin(3*t/T)}\n"
     "locks: {a: {lock: x - 0.3*y, engaged: true}, b: {lock: 7*x - 2.1*y, at: 0.5*T,\n"
     "        capacity: F}}\n",
     "rk4", 1, 0.03, 1e-9, 1, "b: free to locked"},
    {"holds_what_drifts",
     "coordinates: {x: {start: L}, y: {rate: L/T}}\nmass: {x: M, y: M}\n"
     "constraints: {ring: (x^2 + y^2)/L = L}\n"
     "locks: {b: {lock: (x^2 + y^2)/L, at: 0.5*T, capacity: F}}\n",
     "ga-p", 1, 0.01, 1e-8, 1, "b: free to locked"},
    // next to no rate, 1e-9 of the fastest, of what a drive accelerates: it slides on
    {"holds_what_is_driven",
     "coordinates: {x: {rate: L/T}, y: {rate: L/T}}\nmass: {x: M, y: M}\n"
     "constraints: {drive: x = L*sin(t/T)}\n"
     "locks: {b: {lock: x, at: 1.5707963257948966*T, capacity: F}}\n",
     "rk4", 2, 0.03, 1e-8, 2, NULL},
    // the drift of the method is not left as a velocity where joints are judged
    {"lets_go_without_drift",
     "coordinates: {x: {start: L}, y: {rate: L/T}, w: }\nmass: {x: M, y: M, w: M}\n"
     "forces: {y: 5*F*cos(9*t/T)}\n"
     "locks: {ring: {lock: (x^2 + y^2)/L, engaged: true, release: {at: 0.5*T}},\n"
     "        brake: {lock: w, engaged: true, capacity: F}}\n",
     "ga-p", 1, 0.05, 1e-8, 1, NULL},
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
    {"landing_on_a_slope_with_rounding",
     "coordinates: {x: {start: -L, rate: 2*L/T}, y: {start: L}}\nmass: {x: M, y: M}\n"
     "potential: 2*F*y\n"
     "constraints: {base: {modes: {air: {where: y > 0.3*x, equation: none},\n"
     "                              ground: {where: y < 0.3*x, equation: 7*y = 2.1*x}}}}\n",
     "event-driven", 3, 0.01, 1e-9, 1, NULL},
    // the method drifts off a curved floor, which is the surface of its region
    {"bowl",
     "coordinates: {x: {start: 0.5*L}, y: }\nmass: {x: M, y: M}\npotential: 2*F*y\n"
     "constraints: {bowl: {modes: {air: {where: (x^2 + y^2)/L < 4*L, equation: none},\n"
     "                             wall: {where: (x^2 + y^2)/L > 4*L,\n"
     "                                    equation: (x^2 + y^2)/L = 4*L}}}}\n",
     "event-driven", 6, 0.05, 1e-8, 1, NULL},
    // the ground is its own surface but for rounding, which differs from step to step
    {"stands_on_a_surface_with_noise",
     "coordinates: {x: {start: L, rate: L/T}, y: }\nmass: {x: M, y: M}\npotential: 2*F*y\n"
     "define: {noise: x*(sin(t/T)^2 + cos(t/T)^2 - 1) - 4e-15*L}\n"
     "constraints: {base: {start: ground, modes: {air: {where: y > noise, equation: none},\n"
     "                                  ground: {where: y < noise, equation: 1e-9*y = 0}}}}\n",
     "moreau-jean", 2, 0.01, 1e-9, 0, NULL},
    // and a slope along which it moves but for rounding of the rates
    {"moves_along_a_surface_with_noise",
     "coordinates: {x: {start: L, rate: L/T}, y: {start: 0.3*L, rate: (0.1 + 0.2)*L/T}}\n"
     "mass: {x: M, y: M}\npotential: 2*F*y\n"
     "define: {noise: x*(sin(t/T)^2 + cos(t/T)^2 - 1) - 4e-15*L}\n"
     "constraints: {base: {start: ground, modes: {\n"
     "      air: {where: y - 0.3*x > noise, equation: none},\n"
     "      ground: {where: y - 0.3*x < noise, equation: 1e-9*(7*y - 2.1*x) = 0}}}}\n",
     "moreau-jean", 2, 0.01, 1e-9, 0, NULL},
    // two regions with a seam of rounding between them, far from the origin and at it
    {"seam_far_away",
     "coordinates: {x: {start: 299.99*L, rate: 0.1*L/T}, y: }\nmass: {x: M, y: M}\n"
     "constraints: {track: {modes: {flat: {where: x < 300*L, equation: y = 0},\n"
     "         ramp: {where: x > 1000*(0.1 + 0.2)*L, equation: y = 0}}}}\n",
     "event-driven", 1, 0.01, 1e-7, 1, NULL},
    {"seam_at_zero",
     "coordinates: {x: {start: -0.105*L, rate: L/T}, y: }\nmass: {x: M, y: M}\n"
     "constraints: {track: {modes: {flat: {where: x < 0, equation: y = 0},\n"
     "         ramp: {where: x > 1e-17*L, equation: y = 0}}}}\n",
     "event-driven", 1, 0.01, 1e-9, 1, NULL},
    {"turns",
     "coordinates: {x: {rate: L/T}, y: {start: L/16, rate: -0.25*L/T}}\nmass: {x: M, y: M}\n"
     "constraints: {saw: \"y = (wrap(x, L) - L/2)^2/(4*L)\"}\n",
     "event-driven", 2.5, 0.01, 1e-9, 2, NULL},
};

static void test_surfaces(void** unused) {
  (void)unused;
  CHECK_CASES(SURFACES);
}

// ---- linear systems -----------------------------------------------------------------------------
static const Case LINEAR[] = {
    {"located_by_a_series",
     "coordinates: {x: {start: L}, y: {rate: L/T}}\nmass: {x: M, y: M}\n"
     "potential: 2*M/T^2*x^2\nevents: {e: {when: x - 0.3*L}, f: {when: y - 0.77*L}}\n",
     "exponential", 2, 0.05, 1e-11, 2, NULL},
    // without the small row z would be at 0.3 L at 0.9 T, with it 1.03 T
    {"rows_of_any_size",
     "coordinates: {x: {start: L}, y: {start: L}, z: {start: L}}\nmass: {x: M, y: 2*M, z: M}\n"
     "potential: 2*M/T^2*x^2 + M/T^2*z^2\n"
     "constraints: {a: x = y, b: 1e-13*(y - z) = 0}\nevents: {e: {when: z - 0.3*L}}\n",
     "exponential", 1, 0.05, 1e-9, 0, NULL},
};

static void test_linear(void** unused) {
  (void)unused;
  CHECK_CASES(LINEAR);
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
    {"gap_between_regions",
     "coordinates: {x: {rate: L/T}, y: }\nmass: {x: M, y: M}\n"
     "constraints: {track: {modes: {flat: {where: x < 0.3*L, equation: y = 0},\n"
     "                              ramp: {where: x > 0.30001*L, equation: y = 0}}}}\n",
     "event-driven", 1, 0.01, 0, -1, "no other region"},
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
      cmocka_unit_test(test_locks),    cmocka_unit_test(test_sticking),
      cmocka_unit_test(test_surfaces), cmocka_unit_test(test_linear),
      cmocka_unit_test(test_failures),
  };
  return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
