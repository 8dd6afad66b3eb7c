// SPDX-License-Identifier: Apache-2.0
// Cases of this project, with answers in closed form, for what the papers leave out: several rows
// that switch at once, a constraint that moves, two constraints that switch at the same instant,
// modes with different numbers of rows, and a linkage with more rows than it needs.
#include <math.h>

#include "cli/reproduce_cases.h"

#define EXACT "closed form"
#define TIME_STEPPING "nsga-pvv,nsga-pva,moreau-jean"
// moreau-jean does not correct positions: it may end a step just above the floor and land again.
#define LANDING "nsga-pvv,nsga-pva"

// ---- models of this project ---------------------------------------------------------------------
// The foot of a ramp comes towards the point and goes: k = 3 + t/4 - t^2/16. They meet at
// sqrt(84) - 6; seen from the foot the jump is that of a kink at rest.
static const Check moving_kink[] = {
    {"time of the kink [s]", EVENT_TIME, NULL, 1, 0, 3.1651513899116797, 1e-8, 2},
    {"x' after it [m/s]", RATE_AFTER, "x", 1, 0, 0.42717803813052, 1e-8, 1},
    {"y' after it [m/s]", RATE_AFTER, "y", 1, 0, 0.57282196186948, 1e-8, 1},
    {"energy lost [J]", ENERGY_LOST, NULL, 1, 0, 0.24469696186947998, 1e-8, 1},
    {"x at 6 s [m]", VALUE, "x", 0, AT_END, 4.125, 1e-8, 5},
    {"y at 6 s [m]", VALUE, "y", 0, AT_END, 1.8750000000000002, 1e-8, 5},
};
static const Check moving_kink_force[] = {
    {"force of the ramp at 6 s [N]", VALUE, "lambda(track)", 0, AT_END, 0.0625, 1e-8, 0},
};
static const Check moving_kink_bisector[] = {
    {"x' after the kink [m/s]", RATE_AFTER, "x", 1, 0, 0.6644486635620226, 1e-8, 1},
    {"x at 6 s [m]", VALUE, "x", 0, AT_END, 4.797626302719282, 1e-8, 5},
};
// Two beads on two tracks, side by side: the velocity is s (1, a, 1, b) and
// s+ = s- (m1 (1 + a1 a2) + m2 (1 + b1 b2)) / (m1 (1 + a2^2) + m2 (1 + b2^2)) = 0.7 * 3.5/9.125.
static const Check two_tracks[] = {
    {"switches", EVENT_COUNT, NULL, 0, 0, 2, 0, 0},
    {"time of the first [s]", EVENT_TIME, NULL, 1, 0, 1.4285714285714286, 1e-8, 1.1},
    {"time of the second [s]", EVENT_TIME, NULL, 2, 0, 1.4285714285714286, 1e-8, 1.1},
    {"x1' after them [m/s]", RATE_AFTER, "x1", 1, 0, 0.26849315068493146, 1e-8, 0},
    {"y2' after them [m/s]", RATE_AFTER, "y2", 2, 0, 0.26849315068493146, 1e-8, 0},
    {"energy lost in both [J]", INSTANT_LOST, NULL, 1, 0, 1.0645333904109588, 1e-8, 0},
    {"impulse of the first track [N s]", IMPULSE, NULL, 1, 1, -1.102739726027397, 1e-8, 0},
    {"impulse of the second track [N s]", IMPULSE, NULL, 2, 1, 1.3304794520547945, 1e-8, 0},
    {"x1 at 3 s [m]", VALUE, "x1", 0, AT_END, 1.421917808219178, 1e-8, 1},
};
static const Check two_tracks_bisector[] = {
    {"x1' after the kinks [m/s]", RATE_AFTER, "x1", 1, 0, 0.5526399903229132, 1e-8, 0},
    {"energy lost in both [J]", INSTANT_LOST, NULL, 1, 0, 0, 1e-12, 0},
};
// A load changes trolleys: (m2 + m + J k^2) s2'+ = m2 v2 + m v1 cos(beta).
static const Check load_transfer[] = {
    {"time of the transfer [s]", EVENT_TIME, NULL, 1, 0, 1.3, 1e-8, 1.1},
    {"s1' after it [m/s]", RATE_AFTER, "s1", 1, 0, 2, 1e-8, 0},
    {"s2' after it [m/s]", RATE_AFTER, "s2", 1, 0, 0.7668914547561761, 1e-8, 0},
    {"phi' after it [rad/s]", RATE_AFTER, "phi", 1, 0, 1.1503371821342643, 1e-8, 0},
    {"energy lost [J]", ENERGY_LOST, NULL, 1, 0, 2.4048135817157177, 1e-8, 0},
    {"impulse of row 1 [N s]", IMPULSE, NULL, 1, 1, -2.671705036471894, 1e-8, 0},
    {"impulse of row 2 [N s]", IMPULSE, NULL, 1, 2, 0.766891454756176, 1e-8, 0},
    {"impulse of row 3 [N m s]", IMPULSE, NULL, 1, 3, 0.5751685910671321, 1e-8, 0},
    {"s2 at 3 s [m]", VALUE, "s2", 0, AT_END, 1.3037154730854994, 1e-8, 3},
};
static const Check load_transfer_bisector[] = {
    {"energy lost [J]", ENERGY_LOST, NULL, 1, 0, 0, 1e-11, 0},
};
// Off the table without a shock, sqrt(2 H/g) in the air, m g H lost on landing.
static const Check table_edge[] = {
    {"switches", EVENT_COUNT, NULL, 0, 0, 2, 0, 0},
    {"time at the edge [s]", EVENT_TIME, NULL, 1, 0, 0.5, 1e-8, 1.1},
    {"energy lost there [J]", ENERGY_LOST, NULL, 1, 0, 0, 1e-8, 1},
    {"time of landing [s]", EVENT_TIME, NULL, 2, 0, 1.0530012636093309, 1e-8, 3},
    {"y' before it [m/s]", RATE_BEFORE, "y", 2, 0, -5.424942396007538, 1e-8, 20},
    {"y' after it [m/s]", RATE_AFTER, "y", 2, 0, 0, 1e-8, 0},
    {"energy lost there [J]", ENERGY_LOST, NULL, 2, 0, 29.43, 1e-8, 1},
    {"impulse of the floor [N s]", IMPULSE, NULL, 2, 1, 10.849884792015075, 1e-8, 20},
    {"x at 3 s [m]", VALUE, "x", 0, AT_END, 6, 1e-8, 1},
    {"force of the floor at 3 s [N]", VALUE, "lambda(ground)", 0, AT_END, 19.62, 1e-8, 0},
};

// ---- three rows along the arc
// --------------------------------------------------------------------------------- x drives three
// sliders from x = 1 on: y1 = s, y2 = s/2, y3 = -s with s = x - 1. The inertia felt by x grows from
// 1 to 1 + 1*1 + 2/4 + 3*1 = 5.5 kg.
static const char three_rows[] =
    "model: three-rows\n"
    "coordinates: {x: {rate: 1}, y1: {}, y2: {}, y3: {}}\n"
    "mass: {x: 1, y1: 1, y2: 2, y3: 3}\n"
    "constraints:\n"
    "  drive:\n"
    "    modes:\n"
    "      idle: {where: x < 1, equation: [y1 = 0, y2 = 0, y3 = 0]}\n"
    "      driving: {where: x > 1, equation: [y1 = x - 1, y2 = (x - 1)/2, y3 = 1 - x]}\n"
    "simulate: {until: 2, step: 1e-3, rho: 0.9}\n";

static const Check rows_post[] = {
    {"time of the switch [s]", EVENT_TIME, NULL, 1, 0, 1, 1e-8, 1.1},
    {"x' after it [m/s]", RATE_AFTER, "x", 1, 0, 1 / 5.5, 1e-8, 0},
    {"y3' after it [m/s]", RATE_AFTER, "y3", 1, 0, -1 / 5.5, 1e-8, 0},
    {"impulse of row 1 [N s]", IMPULSE, NULL, 1, 1, 1 / 5.5, 1e-8, 0},
    {"impulse of row 2 [N s]", IMPULSE, NULL, 1, 2, 1 / 5.5, 1e-8, 0},
    {"impulse of row 3 [N s]", IMPULSE, NULL, 1, 3, -3 / 5.5, 1e-8, 0},
    {"energy lost [J]", ENERGY_LOST, NULL, 1, 0, 0.5 - 0.5 / 5.5, 1e-8, 0},
    {"x at 2 s [m]", VALUE, "x", 0, AT_END, 1 + 1 / 5.5, 1e-8, 1},
};
// sqrt(1 / 5.5): all of the energy in the larger inertia.
static const Check rows_bisector[] = {
    {"x' after the switch [m/s]", RATE_AFTER, "x", 1, 0, 0.4264014327112209, 1e-8, 0},
    {"energy lost [J]", ENERGY_LOST, NULL, 1, 0, 0, 1e-12, 0},
};
// One principal angle, tan theta = sqrt(4.5); along the arc the energy changes by the square of
// cos(0.7 theta) / cos(0.3 theta).
static const Check rows_arc[] = {
    {"kinetic energy at 2 s [J]", VALUE, "kinetic", 0, AT_END, 0.2778391130526175, 1e-8, 0},
};

// ---- a constraint that moves --------------------------------------------------------------------
// A bead on a rod that stands still until 1 s and then turns with w = 2 rad/s: r = cosh(w (t - 1)).
static const char turning_rod[] =
    "model: turning-rod\n"
    "parameters: {w: 2, m: 1.5}\n"
    "coordinates: {x: {start: 1}, y: {}}\n"
    "mass: {x: m, y: m}\n"
    "constraints:\n"
    "  rod:\n"
    "    modes:\n"
    "      still: {where: t < 1, equation: y = 0}\n"
    "      turning: {where: t > 1, equation: y*cos(w*(t - 1)) = x*sin(w*(t - 1))}\n"
    "simulate: {until: 1.7, step: 1e-3, rho: 0.9}\n";

// tau = 0.7 s, w tau = 1.4: r = cosh 1.4, force across the rod 2 m w r' = 2 m w^2 sinh 1.4.
static const Check rod[] = {
    {"y' after the start [m/s]", RATE_AFTER, "y", 1, 0, 2, 1e-8, 0.1},
    {"impulse of the rod [N s]", IMPULSE, NULL, 1, 1, 3, 1e-8, 0.1},
    {"energy lost (brought in by the rod) [J]", ENERGY_LOST, NULL, 1, 0, -3, 1e-8, 0.1},
    {"x at 1.7 s [m]", VALUE, "x", 0, AT_END, 0.3655820668313851, 1e-8, 2},
    {"y at 1.7 s [m]", VALUE, "y", 0, AT_END, 2.1196023119542637, 1e-8, 15},
};
static const Check rod_force[] = {
    {"force across the rod at 1.7 s [N]", VALUE, "lambda(rod)", 0, AT_END, 22.851618017418406, 1e-8,
     0},
};

// ---- modes with different numbers of rows -------------------------------------------------------
// A mass on a spring is held until 1 s, swings freely until 2 s, and is then coupled to a second
// mass that has been sliding on. Momentum decides the common speed.
static const char hold_and_couple[] =
    "model: hold-and-couple\n"
    "parameters: {k: 8, m1: 2, m2: 1}\n"
    "coordinates: {x: {start: 0.3}, s: {rate: 0.5}}\n"
    "mass: {x: m1, s: m2}\n"
    "potential: k/2*x^2\n"
    "constraints:\n"
    "  clutch:\n"
    "    modes:\n"
    "      held: {where: t < 1, equation: x = 0.3}\n"
    "      free: {where: 1 < t < 2}\n"
    "      coupled: {where: t > 2, equation: x - s = 0.3*cos(2) - 1}\n"
    "simulate: {until: 3, step: 1e-3, rho: 0.9}\n";

// x(2) = 0.3 cos 2, x'(2) = -0.6 sin 2; then (2 x'(2) + 0.5)/3 and the frequency sqrt(8/3).
static const Check clutch[] = {
    {"switches", EVENT_COUNT, NULL, 0, 0, 2, 0, 0},
    {"time of the release [s]", EVENT_TIME, NULL, 1, 0, 1, 1e-8, 1.1},
    {"energy lost there [J]", ENERGY_LOST, NULL, 1, 0, 0, 1e-8, 1},
    {"x' before the coupling [m/s]", RATE_BEFORE, "x", 2, 0, -0.545578456095409, 1e-8, 2},
    {"x' after the coupling [m/s]", RATE_AFTER, "x", 2, 0, -0.197052304063606, 1e-8, 2},
    {"s' after the coupling [m/s]", RATE_AFTER, "s", 2, 0, -0.197052304063606, 1e-8, 2},
    {"energy lost there [J]", ENERGY_LOST, NULL, 2, 0, 0.36441143595028624, 1e-8, 2},
    {"x at 3 s [m]", VALUE, "x", 0, AT_END, -0.11267617362420466, 1e-8, 2},
    {"x' at 3 s [m/s]", VALUE, "x'", 0, AT_END, 0.21572340877358975, 1e-8, 2},
};

// ---- Sarrus' linkage ----------------------------------------------------------------------------
// All follows from the angle phi of both chains: M(phi) phi'' + M'/2 phi'^2 + V' = 0, integrated to
// 20 digits by Taylor series (M and V are in tests/run/test_mechanisms.c). The height is sin(phi),
// the knees turn with -2 phi', and the platform does not lean.
static const Check sarrus[] = {
    {"height at 2 s [m]", VALUE, "height", 0, AT_END, 0.48017072702948325, 1e-9, 0},
    {"angle of the links at 2 s [rad]", VALUE, "fold", 0, AT_END, 0.50084933483044070, 1e-9, 0},
    {"rate of a knee at 2 s [rad/s]", VALUE, "knee", 0, AT_END, 0.43817865466106888, 1e-9, 0},
    {"largest lean of the platform", LARGEST, "lean", 0, 0, 0, 1e-10, 0},
};

#define EVENTS(title, model, settings, list) \
  { title, model, "", "event-driven:rk4", settings, CASE_RUN, 0, 0, EXACT, CHECKS(list) }
#define STEPPING(title, model, settings, list) \
  { title, model, "", TIME_STEPPING, settings, CASE_STEPPING, 0, 0, EXACT, CHECKS(list) }

static const Case cases[] = {
    EVENTS("A kink that moves", "moving-kink", "step=1e-4", moving_kink),
    EVENTS("A kink that moves, force", "moving-kink", "step=1e-4", moving_kink_force),
    STEPPING("A kink that moves", "moving-kink", "step=1e-3", moving_kink),
    EVENTS("A kink that moves, bisector", "moving-kink", "step=1e-4 impact=bisector",
           moving_kink_bisector),
    EVENTS("Two constraints at the same instant", "bar-on-two-tracks", "step=1e-4", two_tracks),
    STEPPING("Two constraints at the same instant", "bar-on-two-tracks", "step=1e-3", two_tracks),
    EVENTS("Two constraints at the same instant, bisector", "bar-on-two-tracks",
           "step=1e-4 impact=bisector", two_tracks_bisector),
    EVENTS("Three rows: a load changes trolleys", "load-transfer", "step=1e-4", load_transfer),
    STEPPING("Three rows: a load changes trolleys", "load-transfer", "step=1.1e-3", load_transfer),
    EVENTS("Three rows: a load changes trolleys, bisector", "load-transfer",
           "step=1e-4 impact=bisector", load_transfer_bisector),
    EVENTS("Off a table, through the air, onto the floor", "table-edge", "step=1e-4", table_edge),
    {"Off a table, through the air, onto the floor", "table-edge", "", LANDING, "step=1.1e-3",
     CASE_STEPPING, 0, 0, EXACT, CHECKS(table_edge)},
    EVENTS("Three rows that switch at once", three_rows, "step=1e-4", rows_post),
    STEPPING("Three rows that switch at once", three_rows, "step=1.1e-3", rows_post),
    EVENTS("Three rows that switch at once, bisector", three_rows, "step=1e-4 impact=bisector",
           rows_bisector),
    STEPPING("Three rows that switch at once, bisector", three_rows, "step=1.1e-3 impact=bisector",
             rows_bisector),
    EVENTS("Three rows that switch at once, 0.7 along the arc", three_rows,
           "step=1e-4 impact=0.7 between=arc", rows_arc),
    EVENTS("A rod that starts to turn", turning_rod, "step=1e-4", rod),
    EVENTS("A rod that starts to turn, force", turning_rod, "step=1e-4", rod_force),
    STEPPING("A rod that starts to turn", turning_rod, "step=1.1e-3", rod),
    EVENTS("Held, free, coupled: one, no and one row", hold_and_couple, "step=1e-4", clutch),
    STEPPING("Held, free, coupled: one, no and one row", hold_and_couple, "step=1.1e-3", clutch),
    {"A linkage with a redundant row (Sarrus)", "sarrus", "", "dopri,rk4", "step=1e-3", CASE_RUN, 0,
     0, "one angle, to 20 digits", CHECKS(sarrus)},
};

const Paper paper_new = {"new", "Cases of this project, with answers in closed form",
                         (int)(sizeof cases / sizeof *cases), cases};
