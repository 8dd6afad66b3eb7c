// SPDX-License-Identifier: Apache-2.0
// Cases of this project for rate equations: closed forms, and a disc by a second program.
#include <math.h>

#include "cli/reproduce_cases.h"

#define EXACT "closed form, see the model"

// ---- the sleigh of Chaplygin --------------------------------------------------------------------
// Places are integrals of the closed form of speed and heading, by Simpson's rule.
#define SLEIGH(near)                                                                             \
  {"x at 4 s [m]", VALUE, "x", 0, AT_END, 0.8059288043780514, near, 0},                          \
      {"y at 4 s [m]", VALUE, "y", 0, AT_END, 4.2908783399967145, near, 0},                      \
      {"phi at 4 s [rad]", VALUE, "phi", 0, AT_END, 1.5957029802608802, near, 0},                \
      {"phi' at 4 s [rad/s]", VALUE, "phi'", 0, AT_END, 0.005209965284121592, near, 0},          \
      {"speed at 4 s [m/s]", VALUE, "speed", 0, AT_END, 1.220652114830896, near, 0}, {           \
    "side force at 4 s [N]", VALUE, "side_force", 0, AT_END, 0.0061544082021857145, 10 * near, 0 \
  }
static const Check sleigh[] = {SLEIGH(1e-9)};
static const Check sleigh_order[] = {
    {"order of q", ORDER_WHOLE, "q", 0, 0, 2, 0.1, 0},
    {"order of v", ORDER_WHOLE, "v", 0, 0, 2, 0.1, 0},
};

// ---- a disc that rolls and falls ----------------------------------------------------------------
static const Check disc[] = {
    {"x at 3 s [m]", VALUE, "x", 0, AT_END, 0.8834025648679914, 1e-9, 0},
    {"y at 3 s [m]", VALUE, "y", 0, AT_END, -6.561887686735889, 1e-9, 0},
    {"phi at 3 s [rad]", VALUE, "phi", 0, AT_END, -2.7697411915758687, 1e-9, 0},
    {"theta at 3 s [rad]", VALUE, "theta", 0, AT_END, 0.5307911399814061, 1e-9, 0},
    {"psi at 3 s [rad]", VALUE, "psi", 0, AT_END, 20.12150515643948, 1e-9, 0},
    {"phi' at 3 s [rad/s]", VALUE, "phi'", 0, AT_END, -2.6697102395774235, 1e-9, 0},
    {"theta' at 3 s [rad/s]", VALUE, "theta'", 0, AT_END, 0.4187073441847329, 1e-9, 0},
};
static const Check straight[] = {
    {"x at 3 s [m]", VALUE, "x", 0, AT_END, 9, 1e-9, 0},
    {"y at 3 s [m]", VALUE, "y", 0, AT_END, 0, 1e-12, 0},
    {"theta at 3 s [rad]", VALUE, "theta", 0, AT_END, 0, 1e-12, 0},
};

// ---- a skate whose blade is turned --------------------------------------------------------------
static const Check turned[] = {
    {"switches", EVENT_COUNT, NULL, 0, 0, 1, 0, 0},
    {"the blade turns [s]", EVENT_TIME, NULL, 1, 0, 0.7687935489912782, 1e-8, 1.1},
    {"x' after it [m/s]", RATE_AFTER, "x", 1, 0, 2.6077613645517355, 1e-8, 4},
    {"y' after it [m/s]", RATE_AFTER, "y", 1, 0, 2.602543821019849, 1e-8, 4},
    {"phi' after it [rad/s]", RATE_AFTER, "phi", 1, 0, 0.5, 1e-10, 0},
    {"energy lost [J]", ENERGY_LOST, NULL, 1, 0, 72.79038975668031, 1e-6, 300},
    {"impulse of the blade [N s]", IMPULSE, NULL, 1, 1, 93.46040215407612, 1e-6, 200},
    {"x at 2.5 s [m]", VALUE, "x", 0, AT_END, 5.1403003099161495, 1e-8, 8},
    {"y at 2.5 s [m]", VALUE, "y", 0, AT_END, 6.382325557933584, 1e-8, 8},
};

// ---- a wheel that slips and rolls ---------------------------------------------------------------
static const Check wheel[] = {
    {"switches", EVENT_COUNT, NULL, 0, 0, 3, 0, 0},
    {"begins to roll [s]", EVENT_TIME, NULL, 1, 0, 0.16989466530750932, 1e-9, 0},
    {"spins [s]", EVENT_TIME, NULL, 2, 0, 2.32435, 1e-9, 0},
    {"rolls again [s]", EVENT_TIME, NULL, 3, 0, 3.1723498027334163, 1e-9, 0},
    {"energy lost there [J]", ENERGY_LOST, NULL, 3, 0, 0, 1e-9, 0},
    {"x' at 4 s [m/s]", VALUE, "x'", 0, AT_END, 7.2592592592592595, 1e-9, 0},
    {"x at 4 s [m]", VALUE, "x", 0, AT_END, 15.055913785943353, 1e-8, 0},
};

#define FINE "rtol=1e-12 atol=1e-13"
#define RUN(title, model, parameters, methods, settings, origin, list) \
  { title, model, parameters, methods, settings, CASE_RUN, 0, 0, origin, CHECKS(list) }

static const Case cases[] = {
    RUN("A skate with its mass ahead of the blade", "skater", "", "dopri", FINE, EXACT, sleigh),
    RUN("A skate with its mass ahead of the blade, minimal form", "skater", "", "dopri",
        FINE " form=minimal", EXACT, sleigh),
    {"A skate with its mass ahead of the blade, orders", "skater", "",
     "ga-v,ga-a,ga-pv,ga-pva,nsga-pvv,nsga-pva", "until=2", CASE_ORDERS, 2e-2, 2e-3, EXACT,
     CHECKS(sleigh_order)},
    RUN("A disc rolls and falls", "rolling-disc", "", "dopri", FINE,
        "scripts/reference-rolling-disc: vectors, extrapolation", disc),
    RUN("A disc rolls upright", "rolling-disc", "lean=0 fall=0 turn=0", "dopri,rk4,ga-pva,nsga-pva",
        "", EXACT, straight),
    RUN("A skate whose blade is turned", "skate-turn", "", "event-driven:rk4", "step=1e-3", EXACT,
        turned),
    {"A skate whose blade is turned", "skate-turn", "", "nsga-pvv,nsga-pva,moreau-jean",
     "step=1.1e-3", CASE_STEPPING, 0, 0, EXACT, CHECKS(turned)},
    RUN("A wheel slips and rolls", "wheel-slip", "", "rk4,dopri,event-driven:rk4,exponential", "",
        EXACT, wheel),
};

const Paper paper_rate = {"rate", "Cases of this project: rate equations",
                          (int)(sizeof cases / sizeof *cases), cases};
