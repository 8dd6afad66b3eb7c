// SPDX-License-Identifier: Apache-2.0
// Cases of D. Pekarek and T. D. Murphey: a particle over a ground of sines, a bar that bounces on
// one of its tips, free and on a guide, and a pendulum at a wall. The paper prints no numbers;
// masses, starts and gravity are ours. References come from programs that step no action: closed
// forms between impacts with 50 digits (particle, free bar), elliptic integrals (pendulum), and
// Runge-Kutta steps of 5e-5 s in two coordinates (guide).
#include <math.h>

#include "cli/reproduce_cases.h"

#define DIGITS "closed forms between impacts, 50 digits"
#define ELLIPTIC "quadrature of the pendulum, 1e-13"
#define REDUCED "a second program, Runge-Kutta in two coordinates, 1e-11"

// Impact n: its time, the rate of one coordinate after it and the impulse.
#define HIT(n, t, name, rate, impulse, time, near)                          \
  {"time of impact " #n " [s]", EVENT_TIME, NULL, n, 0, t, time, 0},        \
      {name "' after impact " #n, RATE_AFTER, name, n, 0, rate, near, 0}, { \
    "impulse of impact " #n " [N s]", IMPULSE, NULL, n, 1, impulse, near, 0 \
  }

// ---- the particle -------------------------------------------------------------------------------
#define PARTICLE(time, near)                                                            \
  HIT(1, 1.1058890297363453, "x", -0.5248777874238121, 21.730882564795436, time, near), \
      HIT(2, 3.223402483475696, "x", 8.764159722517459, 5.276493329579714, time, near), \
      HIT(3, 3.3900457390676237, "x", -3.538975070690751, 16.414395188614357, time, near)
static const Check particle_free[] = {PARTICLE(2e-6, 4e-5)};
static const Check particle_momentum[] = {
    PARTICLE(1e-11, 1e-9), {"energy at the end [J]", VALUE, "energy", 0, AT_END, 39.74, 1e-11, 0}};
static const Check particle_uncut[] = {PARTICLE(2e-2, 0.5)};
static const Check particle_pva[] = {
    {"time of impact 1 [s]", EVENT_TIME, NULL, 1, 0, 1.1058890297363453, 1e-3, 0},
    {"time of impact 2 [s]", EVENT_TIME, NULL, 2, 0, 3.223402483475696, 2e-2, 0}};

// ---- the bar ------------------------------------------------------------------------------------
#define BAR(time, near)                                                                        \
  HIT(1, 0.41830443491416053, "theta", 13.602462292085837, 2.877321680749692, time, near),     \
      HIT(2, 0.6646937547446952, "theta", -16.801006080678313, 5.917067240430685, time, near), \
      HIT(3, 0.8162637512811627, "theta", 6.020980626839986, 3.808908622284448, time, near),   \
      HIT(4, 1.622543762138332, "theta", 11.721995354865644, 4.911427637032606, time, near), { \
    "x' at the end [m/s]", VALUE, "x'", 0, AT_END, 0.3, 1e-15, 0                               \
  }
// Nearly upright: small turns at first, then a tip that slaps the floor.
#define UPRIGHT(time, near)                                                                     \
  HIT(1, 0.3193073532895428, "theta", 0.7508262437383935, 6.257302509644265, time, near),       \
      HIT(2, 0.9763561673625487, "theta", 11.47485979609439, 3.6396060021391548, time, near),   \
      HIT(3, 1.3305849451672092, "theta", -15.170230061774047, 4.481220709436467, time, near),  \
      HIT(4, 1.5291801498790154, "theta", 9.454342588955791, 4.1041569813273595, time, near), { \
    "energy at the end [J]", VALUE, "energy", 0, AT_END, 9.855, 1e-3 * (near), 0                \
  }
static const Check upright_momentum[] = {UPRIGHT(1e-11, 1e-9)};
static const Check bar_free[] = {BAR(1e-5, 1e-3)};
static const Check bar_momentum[] = {BAR(1e-11, 1e-9)};
// ---- on the guide -------------------------------------------------------------------------------
static const Check guide[] = {
    HIT(1, 0.4601354887484, "theta", 13.562611989092, 2.762479423942, 1e-6, 2e-5),
    HIT(2, 0.6994987425104, "theta", -16.744288909790, 6.144867777246, 1e-6, 2e-5),
    HIT(3, 0.8467605133871, "theta", 5.415941483086, 3.702422517283, 1e-6, 2e-5),
    {"largest distance from the guide [m]", LARGEST, "residual.position", 0, 0, 0, 1e-14, 0},
    {"largest rate across the guide [m/s]", LARGEST, "residual.velocity", 0, 0, 0, 1e-14, 0}};

// ---- the pendulum -------------------------------------------------------------------------------
#define WALL(time, near)                                                                      \
  HIT(1, 0.2759519186505253, "theta", -2.8299437410926234, 6.535475122845291, time, near),    \
      HIT(2, 0.7320375526932383, "theta", 6.480078581487318, 14.965100453566524, time, near), \
      HIT(6, 2.5563800888640906, "theta", 6.480078581487318, 14.965100453566524, time, near)
static const Check wall_free[] = {WALL(3e-5, 3e-4)};
static const Check wall_momentum[] = {WALL(3e-6, 3e-5)};
// From rest: it falls to one of the two places only, over and over.
#define REST(n, t) HIT(n, t, "theta", 4.570482544814036, 10.555077310299477, 3e-6, 3e-5)
static const Check rest_momentum[] = {REST(1, 0.5121109557146695), REST(2, 1.5363328671440084),
                                      REST(3, 2.5605547785733473)};

// ---- energy over 10^5 steps ---------------------------------------------------------------------
#define TENTHS(E, near)                                                     \
  {"energy after 1/10 of the run [J]", VALUE, "energy", 0, 20, E, near, 0}, \
      {"after 3/10", VALUE, "energy", 0, 60, E, near, 0},                   \
      {"after 5/10", VALUE, "energy", 0, 100, E, near, 0},                  \
      {"after 7/10", VALUE, "energy", 0, 140, E, near, 0},                  \
      {"after 9/10", VALUE, "energy", 0, 180, E, near, 0},                  \
      {"at the end", VALUE, "energy", 0, AT_END, E, near, 0}, {             \
    "largest [J]", LARGEST, "energy", 0, 0, E, near, 0                      \
  }
static const Check wander_particle[] = {TENTHS(39.74, 2e-3)};
static const Check exact_particle[] = {TENTHS(39.74, 1e-9)};
static const Check exact_bar[] = {TENTHS(11.858666666666666, 1e-9)};
static const Check bounded_guide[] = {TENTHS(11.81366666666667, 1e-5)};
static const Check bounded_wall[] = {TENTHS(12.5, 6e-5)};

// ---- orders -------------------------------------------------------------------------------------
static const Check order_2[] = {{"order in q", ORDER_WHOLE, "q", 0, 0, 2, 0.5, 0},
                                {"order in v", ORDER_WHOLE, "v", 0, 0, 2, 0.5, 0}};
static const Check order_1[] = {{"order in q", ORDER_WHOLE, "q", 0, 0, 1, 0.4, 0},
                                {"order in v", ORDER_WHOLE, "v", 0, 0, 1, 0.4, 0}};
static const Check order_4[] = {{"order in q", ORDER_WHOLE, "q", 0, 0, 4, 0.3, 0},
                                {"order in v", ORDER_WHOLE, "v", 0, 0, 4, 0.3, 0}};
static const Check order_2_located[] = {{"order in q", ORDER_WHOLE, "q", 0, 0, 2, 0.1, 0},
                                        {"order in v", ORDER_WHOLE, "v", 0, 0, 2, 0.1, 0}};

#define RUN(title, model, parameters, settings, origin, list) \
  { title, model, parameters, "php", settings, CASE_RUN, 0, 0, origin, CHECKS(list) }
#define ORDER(title, methods, settings, list)                                         \
  {                                                                                   \
    title, "sine-ground", "", methods, "until=3.3" settings, CASE_ORDERS, 8e-3, 5e-4, \
        "php with the momentum condition and smaller steps, exact here", CHECKS(list) \
  }
#define PATH(title, smooth, list)                                                                \
  {                                                                                              \
    title, "sine-ground-path", "", "event-driven", "until=3.3 " smooth, CASE_ORDERS, 2e-3, 2e-4, \
        "the same with smaller steps", CHECKS(list)                                              \
  }
#define LONG "step=2e-3 until=200 record=0.2"

static const Case cases[] = {
    RUN("I Particle on sines, free impact time", "sine-ground", "", "until=3.4 step=1e-3", DIGITS,
        particle_free),
    RUN("I Particle on sines, momentum condition (7)", "sine-ground", "",
        "until=3.4 step=1e-2 crossing=momentum", DIGITS, particle_momentum),
    RUN("I Particle on sines, boundary inside a step", "sine-ground", "",
        "until=3.4 step=1e-3 crossing=uncut", DIGITS, particle_uncut),
    {"I Particle on sines, time stepping", "sine-ground", "", "nsga-pva",
     "until=3.3 step=1e-3 rho=1", CASE_RUN, 0, 0, DIGITS, CHECKS(particle_pva)},
    RUN("III.C Bar, free impact time", "bouncing-bar", "", "until=2 step=1e-3", DIGITS, bar_free),
    RUN("III.C Bar, momentum condition (7)", "bouncing-bar", "", "step=1e-2 crossing=momentum",
        DIGITS, bar_momentum),
    RUN("III.C Bar, nearly upright, momentum condition", "bouncing-bar",
        "y0=1 theta0=0.02 omega0=0", "step=1e-2 crossing=momentum", DIGITS, upright_momentum),
    RUN("IV.D Bar on a guide", "bar-on-guide", "", "until=1 step=1e-3 crossing=momentum", REDUCED,
        guide),
    RUN("V.A Pendulum at a wall, free impact time", "pendulum-wall", "", "until=3 step=1e-3",
        ELLIPTIC, wall_free),
    RUN("V.A Pendulum at a wall, momentum condition (7)", "pendulum-wall", "",
        "until=3 step=1e-3 crossing=momentum", ELLIPTIC, wall_momentum),
    RUN("V.A Pendulum at a wall, from rest, momentum condition", "pendulum-wall",
        "theta0=0.2 omega0=0", "until=3 step=1e-3 crossing=momentum", ELLIPTIC, rest_momentum),
    RUN("I Particle, 1e5 steps and 230 impacts, free impact time", "sine-ground", "", LONG,
        "conserved", wander_particle),
    RUN("I Particle, 1e5 steps and 230 impacts, momentum condition", "sine-ground", "",
        LONG " crossing=momentum", "conserved", exact_particle),
    RUN("III.C Bar, 1e5 steps and 390 impacts, momentum condition", "bouncing-bar", "",
        LONG " crossing=momentum", "conserved", exact_bar),
    RUN("IV.D Bar on a guide, 1e5 steps and 370 impacts, momentum condition", "bar-on-guide", "",
        LONG " crossing=momentum", "conserved", bounded_guide),
    RUN("V.A Pendulum, 1e5 steps and 440 impacts, momentum condition", "pendulum-wall", "",
        LONG " crossing=momentum", "conserved", bounded_wall),
    ORDER("Orders across impacts, free impact time", "php", "", order_2),
    ORDER("Orders across impacts, boundary inside a step", "php", " crossing=uncut", order_1),
    ORDER("Orders across impacts, time stepping", "nsga-pva", " rho=1", order_1),
    PATH("Orders across impacts, the path z located, rk4", "smooth=rk4", order_4),
    PATH("Orders across impacts, the path z located, ga-p", "smooth=ga-p", order_2_located),
};

const Paper paper_pekarek = {
    "pekarek", "D. Pekarek, T. D. Murphey: Global projections for variational nonsmooth mechanics",
    (int)(sizeof cases / sizeof *cases), cases};
