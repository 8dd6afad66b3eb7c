// SPDX-License-Identifier: Apache-2.0
// Cases of this project for locks that hold up to a capacity and locks for one direction, with
// answers in closed form (evaluated with 40 digits; roots of closed forms where times are not
// explicit).
#include <math.h>

#include "cli/reproduce_cases.h"

#define EXACT "closed form, 40 digits"

// ---- a block on a belt --------------------------------------------------------------------------
// Slip time (2 pi - 2 atan(D w/vb))/w = 0.80086308744185953, stick time 2 D/vb = 2; see the model.
#define SLIP(n, t) \
  { "time of slip " #n " [s]", EVENT_TIME, NULL, 2 * n - 1, 0, t, 1e-8, 0 }
#define STICK(n, t) \
  { "time of stick " #n " [s]", EVENT_TIME, NULL, 2 * n, 0, t, 1e-8, 0 }
static const Check stick_slip[] = {
    {"switches", EVENT_COUNT, NULL, 0, 0, 13, 0, 0},
    SLIP(1, 2.5),
    STICK(1, 3.3008630874418595),
    SLIP(2, 5.3008630874418595),
    STICK(2, 6.101726174883719),
    SLIP(3, 8.101726174883719),
    STICK(3, 8.902589262325579),
    SLIP(4, 10.902589262325579),
    STICK(4, 11.703452349767438),
    SLIP(5, 13.703452349767438),
    STICK(5, 14.504315437209298),
    SLIP(6, 16.504315437209298),
    STICK(6, 17.305178524651157),
    SLIP(7, 19.305178524651157),
    {"x' after stick 1 [m/s]", RATE_AFTER, "x", 2, 0, 0.2, 1e-10, 0},
    {"energy lost in slip 7 [J]", ENERGY_LOST, NULL, 13, 0, 0, 1e-12, 0},
    {"x at 20 s [m]", VALUE, "x", 0, AT_END, 0.10164903958775539, 1e-8, 0},
    {"x' at 20 s [m/s]", VALUE, "x'", 0, AT_END, -0.23051665898759563, 1e-8, 0},
};

// ---- a clutch in a torsion line -----------------------------------------------------------------
static const Check torsion_line[] = {
    {"switches", EVENT_COUNT, NULL, 0, 0, 2, 0, 0},
    {"closes [s]", EVENT_TIME, NULL, 1, 0, 0.2, 1e-12, 0},
    {"sticks [s]", EVENT_TIME, NULL, 2, 0, 0.5528354641974441, 1e-8, 0},
    {"speed there [rad/s]", RATE_AFTER, "phi1", 2, 0, 20.979232888920112, 1e-6, 0},
    {"energy lost there [J]", ENERGY_LOST, NULL, 2, 0, 0, 1e-8, 0},
    {"phi1 at 2 s [rad]", VALUE, "phi1", 0, AT_END, 106.9245813545104, 1e-7, 0},
    {"phi2 at 2 s [rad]", VALUE, "phi2", 0, AT_END, 56.325815473008761, 1e-7, 0},
    {"phi3 at 2 s [rad]", VALUE, "phi3", 0, AT_END, 56.181025555088785, 1e-7, 0},
    {"phi1' at 2 s [rad/s]", VALUE, "phi1'", 0, AT_END, 52.126892584084147, 1e-7, 0},
    {"phi3' at 2 s [rad/s]", VALUE, "phi3'", 0, AT_END, 51.744772889909902, 1e-7, 0},
    {"torque of the clutch at 2 s [N m]", VALUE, "clutch_torque", 0, AT_END, 58.581739051803925,
     1e-5, 0},
};
static const Check torsion_sides[] = {
    {"torque before it sticks [N m]", OUTPUT_AFTER, "clutch_torque", 2, 0, 129.39876001621893, 1e-4,
     0},
};

// ---- a ratchet ----------------------------------------------------------------------------------
static const Check ratchet[] = {
    {"switches", EVENT_COUNT, NULL, 0, 0, 9, 0, 0},
    {"lifted off tooth 0 [s]", EVENT_TIME, NULL, 1, 0, 0.30408672398469636, 1e-9, 0},
    {"caught by tooth 3 [s]", EVENT_TIME, NULL, 2, 0, 1.0456494169070427, 1e-9, 0},
    {"th' before [rad/s]", RATE_BEFORE, "th", 2, 0, -2.1324137719609294, 1e-8, 0},
    {"th' after [rad/s]", RATE_AFTER, "th", 2, 0, 0, 1e-14, 0},
    {"impulse of the tooth [N m s]", IMPULSE, NULL, 2, 1, 0.42648275439218589, 1e-8, 0},
    {"energy lost [J]", ENERGY_LOST, NULL, 2, 0, 0.45471884948486388, 1e-8, 0},
    {"lifted off tooth 3 [s]", EVENT_TIME, NULL, 3, 0, 1.3040867239846964, 1e-9, 0},
    {"caught by tooth 12 [s]", EVENT_TIME, NULL, 8, 0, 4.0456494169070427, 1e-9, 0},
    {"th at 5 s [rad]", VALUE, "th", 0, AT_END, 4.0038155450329055, 1e-9, 0},
    {"th' at 5 s [rad/s]", VALUE, "th'", 0, AT_END, -1.228775589683753, 1e-8, 0},
};

// ---- a quarter of a car -------------------------------------------------------------------------
// Linear between its switches: exact motion exp(A t), roots by bisection, 40 digits.
#define MATRIX "scripts/reference-linear-switching: exp(A t) and bisection, 40 digits"
#define CAR(near, time)                                                                    \
  {"the damper locks, sliding [s]", EVENT_TIME, NULL, 2, 0, 0.13656798282921287, time, 0}, \
      {"slides back [s]", EVENT_TIME, NULL, 3, 0, 0.16575987704994008, time, 0},           \
      {"forth again [s]", EVENT_TIME, NULL, 5, 0, 0.22047902386316404, time, 0},           \
      {"and back [s]", EVENT_TIME, NULL, 6, 0, 0.26509617749916413, time, 0},              \
      {"sticks [s]", EVENT_TIME, NULL, 7, 0, 0.31078125915150926, time, 0},                \
      {"opens [s]", EVENT_TIME, NULL, 8, 0, 0.63656798282921287, time, 0},                 \
      {"zs at 0.2 s [m]", VALUE, "zs", 0, 0.2, 0.022126669749336445, near, 0},             \
      {"zu at 0.2 s [m]", VALUE, "zu", 0, 0.2, 0.0083275095049085018, near, 0},            \
      {"zs at 0.3 s [m]", VALUE, "zs", 0, 0.3, 0.026043231626537267, near, 0},             \
      {"zs' at 0.3 s [m/s]", VALUE, "zs'", 0, 0.3, -0.046942611883060831, 100 * near, 0},  \
      {"zs at 0.5 s [m]", VALUE, "zs", 0, 0.5, 0.03102554272866562, near, 0},              \
      {"zu at 0.5 s [m]", VALUE, "zu", 0, 0.5, 0.0047219212705421603, near, 0},            \
      {"zs at 1 s [m]", VALUE, "zs", 0, 1.0, -0.011608598657642395, near, 0},              \
      {"zs at 2 s [m]", VALUE, "zs", 0, AT_END, -0.004416130590168285, near, 0}, {         \
    "zs' at 2 s [m/s]", VALUE, "zs'", 0, AT_END, 0.018730121117462168, 100 * near, 0       \
  }
static const Check car[] = {CAR(1e-10, 1e-9)};

#define RUN(title, model, settings, list) \
  { title, model, "", "rk4,event-driven:rk4", settings, CASE_RUN, 0, 0, EXACT, CHECKS(list) }

// The exact solution of each mode, with the steps of the model.
#define LINEAR(title, model, list) \
  { title, model, "", "exponential", "", CASE_RUN, 0, 0, EXACT, CHECKS(list) }

static const Case cases[] = {
    RUN("A block sticks and slips on a belt", "stick-slip", "step=2e-3", stick_slip),
    RUN("A clutch slips and sticks", "torsion-line", "step=1e-4", torsion_line),
    {"A clutch slips and sticks, torque", "torsion-line", "", "rk4", "step=1e-4", CASE_INSTANTS, 0,
     0, EXACT, CHECKS(torsion_sides)},
    RUN("A ratchet", "ratchet", "", ratchet),
    {"A quarter of a car over a bump, static and kinetic friction", "quarter-car", "",
     "rk4,event-driven:rk4", "step=2e-4", CASE_RUN, 0, 0, MATRIX, CHECKS(car)},
    {"A quarter of a car over a bump, static and kinetic friction", "quarter-car", "", "dopri",
     "step=1e-3 rtol=1e-12 atol=1e-15", CASE_RUN, 0, 0, MATRIX, CHECKS(car)},
    LINEAR("A block sticks and slips on a belt", "stick-slip", stick_slip),
    LINEAR("A clutch slips and sticks", "torsion-line", torsion_line),
    LINEAR("A ratchet", "ratchet", ratchet),
};

const Paper paper_locks = {
    "locks", "Cases of this project: locks with a capacity and for one direction, closed forms",
    (int)(sizeof cases / sizeof *cases), cases};
