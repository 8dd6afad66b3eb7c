// SPDX-License-Identifier: Apache-2.0
// Contacts with Coulomb friction, in closed form (evaluated with 30 digits), by integration of high
// order with the law of friction written out, or by a second program: at located instants to 1e-9,
// in time stepping at first order.
#include <math.h>

#include "cli/reproduce_cases.h"

#define LOCATED "event-driven:rk4,event-driven:dopri"
#define TIME_STEPPING "nsga-pva,nsga-pvv,moreau-jean"
#define EXACT "closed form"

// ---- a block on an incline ----------------------------------------------------------------------
// Up with x'' = -g (sin a + mu cos a) until v0/(-x''); it stays, or slides back with
// x'' = -g (sin a - mu cos a).
static const Check incline[] = {
    {"stops [s]", EVENT_TIME, NULL, 1, 0, 0.20266267354522645, 1e-9, 1.5},
    {"and stays at [m]", VALUE, "x", 0, AT_END, 0.20266267354522645, 1e-9, 0.1},
    {"friction holds [N]", VALUE, "friction", 0, AT_END, 9.406329067414463, 1e-9, 0.1},
};
static const Check slides_back[] = {
    {"turns [s]", EVENT_TIME, NULL, 1, 0, 0.2745031830476741, 1e-9, 1.5},
    {"x at 1 s [m]", VALUE, "x", 0, AT_END, -0.28353873333899347, 1e-9, 3},
};

// ---- a belt, and a normal force that changes ----------------------------------------------------
// mu (m g + 4 t) - 3 t = 4.905 - t draws the block to the speed of the belt, 1, and holds it until
// friction is 3 t, at 4.905 s; then it falls behind with (t - 4.905)^2/2.
static const char belt_text[] =
    "model: belt\n"
    "coordinates: {x: , y: }\n"
    "mass: {x: 1, y: 1}\n"
    "potential: 9.81*y\n"
    "forces: {x: -3*t, y: -4*t}\n"
    "contacts: {belt: {gap: y, friction: 0.5, slip: \"x' - 1\"}}\n"
    "simulate: {until: 6}\n";
static const Check belt[] = {
    {"goes with the belt [s]", EVENT_TIME, NULL, 1, 0, 0.20829636872838228, 1e-9, 1.5},
    {"falls behind [s]", EVENT_TIME, NULL, 2, 0, 4.905, 1e-9, 0},
    {"x at 6 s [m]", VALUE, "x", 0, AT_END, 5.6777828725628677, 1e-9, 1},
    {"x' at 6 s [m/s]", VALUE, "x'", 0, AT_END, 0.4004875, 1e-9, 3},
};
// Time stepping tells a slip that begins without an acceleration some steps late.
static const Check belt_steps[] = {
    {"goes with the belt [s]", EVENT_TIME, NULL, 1, 0, 0.20829636872838228, 1e-9, 1.5},
    {"x at 6 s [m]", VALUE, "x", 0, AT_END, 5.6777828725628677, 1e-9, 1},
    {"x' at 6 s [m/s]", VALUE, "x'", 0, AT_END, 0.4004875, 1e-9, 3},
};

// ---- a sliding block that tips ------------------------------------------------------------------
// Its friction 0.8 t grows until its moment, mu m g h, is that of the weight about the front
// corner, m g b: at b/(0.8 h). Then it turns about the corner, which slides on.
static const char tips_text[] =
    "model: tips\n"
    "parameters: {b: 0.1, h: 0.25}\n"
    "coordinates: {x: {rate: 5}, y: {start: h}, p: }\n"
    "mass: {x: 1, y: 1, p: (b^2 + h^2)/3}\n"
    "potential: 9.81*y\n"
    "contacts:\n"
    "  back: {gap: y - b*sin(p) - h*cos(p), friction: 0.8*t, slip: x - b*cos(p) + h*sin(p)}\n"
    "  front: {gap: y + b*sin(p) - h*cos(p), friction: 0.8*t, slip: x + b*cos(p) + h*sin(p)}\n"
    "simulate: {until: 0.8}\n";
static const Check tips[] = {
    {"tips [s]", EVENT_TIME, NULL, 1, 0, 0.5, 1e-9, 3},
    {"x' as it tips [m/s]", RATE_BEFORE, "x", 1, 0, 4.019, 1e-9, 12},
    {"p at 0.8 s [rad]", VALUE, "p", 0, AT_END, -0.58945679174864, 1e-9, 4},
    {"x at 0.8 s [m]", VALUE, "x", 0, AT_END, 3.32542900483482, 1e-9, 3},
};

// ---- balls with spin ----------------------------------------------------------------------------
// An impulse P = (1 + e) m v along the normal stops the slip s where 2/7 m s <= mu P, else it takes
// 7/2 mu P/m of it. With mu = 0.3 the first impact does, with 0.1 the third.
static const Check grips[] = {
    {"first impact [s]", EVENT_TIME, NULL, 1, 0, 0.42409584822436271, 1e-9, 1.5},
    {"x' after it [m/s]", RATE_AFTER, "x", 1, 0, 0.028571428571428571, 1e-9, 1},
    {"y' after it [m/s]", RATE_AFTER, "y", 1, 0, -0.67142857142857143, 1e-9, 1},
    {"spin about y after it [rad/s]", RATE_AFTER, "b", 1, 0, 0.2380952380952381, 1e-9, 10},
};
static const Check limit[] = {
    {"limit of the impacts [s]", EVENT_TIME, NULL, 34, 0, 2.403209806604722, 1e-9, 0},
    {"x at 3 s [m]", VALUE, "x", 0, AT_END, 0.49769310970366663, 1e-9, 0},
};
static const Check grips_late[] = {
    {"x' after the first impact [m/s]", RATE_AFTER, "x", 1, 0, 0.54852760710865341, 1e-9, 2},
    {"x' after the second [m/s]", RATE_AFTER, "x", 2, 0, 0.23249693208471079, 1e-9, 4},
    {"y' after the second [m/s]", RATE_AFTER, "y", 2, 0, -0.42551840542726051, 1e-9, 4},
    {"third impact [s]", EVENT_TIME, NULL, 3, 0, 1.433443966998346, 1e-9, 4},
    {"x' after the third [m/s]", RATE_AFTER, "x", 3, 0, 0.028571428571428571, 1e-9, 4},
};
// In a plane the slip is 1 + 0.12*20.
static const char disc_text[] =
    "model: disc\n"
    "parameters: {m: 0.6, r: 0.12, J: 0.4*m*r^2, mu: 0.3}\n"
    "coordinates: {x: {rate: 1}, z: {start: r + 0.8822}, b: {rate: -20}}\n"
    "mass: {x: m, z: m, b: J}\n"
    "potential: m*9.81*z\n"
    "contacts: {floor: {gap: z - r, restitution: 0.7, friction: mu, slip: \"x' - r*b'\"}}\n"
    "simulate: {until: 3}\n";
static const Check disc[] = {
    {"first impact [s]", EVENT_TIME, NULL, 1, 0, 0.42409584822436271, 1e-9, 1.5},
    {"x' after it [m/s]", RATE_AFTER, "x", 1, 0, 0.028571428571428571, 1e-9, 1},
    {"spin after it [rad/s]", RATE_AFTER, "b", 1, 0, 0.2380952380952381, 1e-9, 10},
};

// ---- a slip that begins from rest in space ------------------------------------------------------
// On a slope of 0.3, pulled aside with 3 t: it slips where |(g sin a, 3 t)| is mu g cos a.
static const char aside_text[] =
    "model: drawn-aside\n"
    "parameters: {a: 0.3}\n"
    "coordinates: {x: , y: , z: }\n"
    "mass: {x: 1, y: 1, z: 1}\n"
    "potential: 9.81*(z*cos(a) + x*sin(a))\n"
    "forces: {y: 3*t}\n"
    "contacts: {slope: {gap: z, friction: 0.5, slip: [x, y]}}\n"
    "simulate: {until: 1.7, rtol: 1e-11}\n";
static const Check aside[] = {
    {"slips [s]", EVENT_TIME, NULL, 1, 0, 1.2271642098420699, 1e-9, 3},
    {"x at 1.7 s [m]", VALUE, "x", 0, AT_END, -0.0226302251602, 1e-9, 0.1},
    {"y at 1.7 s [m]", VALUE, "y", 0, AT_END, 0.0363865053704, 1e-9, 0.1},
};

// ---- Painleve's rod -----------------------------------------------------------------------------
// Its tip carries m g/(1 + 3 cos th (cos th - mu sin th)): the divisor is zero at 0.820761 rad and
// 1.308635 rad with mu = 1.6. Between these no forces hold it, and the impact without a collision
// leaves it turning about its tip with 3 v0 sin th/(4 l).
static const Check rod_below[] = {
    {"force below the critical angle [N]", VALUE, "lambda(tip)", 0, 0, 4851.6036075546648, 1e-6, 0},
    {"mu over the critical one", VALUE, "beyond", 0, 0, 0.99915618621013052, 1e-12, 0},
};
static const Check rod_above[] = {
    {"force above the other one [N]", VALUE, "lambda(tip)", 0, 0, 2701.0090056131898, 1e-6, 0},
};
static const Check rod_between[] = {
    {"it is hit at [s]", EVENT_TIME, NULL, 1, 0, 0, 1e-12, 0},
    {"th' after it [rad/s]", RATE_AFTER, "th", 1, 0, 2.5244129544236895, 1e-9, 0},
    {"loss [J]", ENERGY_LOST, NULL, 1, 0, 0.93788987258964321, 1e-9, 0},
};

// ---- a slider with clearance --------------------------------------------------------------------
// The first 20 impacts by a second program: extrapolation of order 16 between the impacts, the law
// of impact solved case by case.
static const Check clearance[] = {
    {"impact 1, top right [s]", EVENT_TIME, NULL, 1, 0, 0.002255614616572047, 1e-10, 0},
    {"impact 2, top left [s]", EVENT_TIME, NULL, 2, 0, 0.002634684677497123, 1e-10, 0},
    {"impact 3, top right [s]", EVENT_TIME, NULL, 3, 0, 0.0026806681949914342, 1e-10, 0},
    {"impact 4, top left [s]", EVENT_TIME, NULL, 4, 0, 0.002694396628984856, 1e-10, 0},
    {"impact 5, top right [s]", EVENT_TIME, NULL, 5, 0, 0.002699617517145099, 1e-10, 0},
    {"impact 10, top left [s]", EVENT_TIME, NULL, 10, 0, 0.002703418517318401, 1e-10, 0},
    {"impact 15, top right [s]", EVENT_TIME, NULL, 15, 0, 0.0027034839394169344, 1e-10, 0},
    {"impact 20, top left [s]", EVENT_TIME, NULL, 20, 0, 0.002703485112570751, 1e-10, 0},
    {"slider' after impact 20 [rad/s]", RATE_AFTER, "slider", 20, 0, 14.675096993581857, 1e-6, 0},
};

#define RUN(title, model, parameters, methods, settings, list) \
  { title, model, parameters, methods, settings, CASE_RUN, 0, 0, EXACT, CHECKS(list) }
#define STEPPING(title, model, parameters, list) \
  { title, model, parameters, TIME_STEPPING, "step=1e-3", CASE_STEPPING, 0, 0, EXACT, CHECKS(list) }

static const Case cases[] = {
    RUN("A block on an incline that stays", "incline-block", "", LOCATED, "", incline),
    STEPPING("A block on an incline that stays", "incline-block", "", incline),
    RUN("A block on an incline that slides back", "incline-block", "mu=0.3", LOCATED, "",
        slides_back),
    STEPPING("A block on an incline that slides back", "incline-block", "mu=0.3", slides_back),
    RUN("A belt and a normal force that grows", belt_text, "", LOCATED, "", belt),
    STEPPING("A belt and a normal force that grows", belt_text, "", belt_steps),
    RUN("A sliding block that tips", tips_text, "", LOCATED, "", tips),
    STEPPING("A sliding block that tips", tips_text, "", tips),
    RUN("A ball with spin that grips", "spinning-ball", "", LOCATED, "", grips),
    RUN("A ball with spin that comes to roll", "spinning-ball", "", LOCATED, "", limit),
    RUN("A ball with spin that slips twice", "spinning-ball", "mu=0.1", LOCATED, "", grips_late),
    STEPPING("A ball with spin that grips", "spinning-ball", "", grips),
    RUN("A disc with spin that grips", disc_text, "", LOCATED, "", disc),
    STEPPING("A disc with spin that grips", disc_text, "", disc),
    {"A block drawn aside on a slope", aside_text, "", LOCATED, "", CASE_RUN, 0, 0,
     "integration of high order", CHECKS(aside)},
    {"A block drawn aside on a slope", aside_text, "", TIME_STEPPING, "step=1e-3", CASE_STEPPING, 0,
     0, "integration of high order", CHECKS(aside)},
    RUN("Painleve's rod, just below", "painleve-rod", "th0=0.82", LOCATED, "", rod_below),
    RUN("Painleve's rod, just above", "painleve-rod", "th0=1.31", LOCATED, "", rod_above),
    RUN("Painleve's rod, a shock", "painleve-rod", "th0=1", LOCATED, "", rod_between),
    {"A slider-crank with clearance", "clearance", "", "event-driven:rk4,event-driven:dopri",
     "step=1e-5", CASE_RUN, 0, 0, "a second program", CHECKS(clearance)},
};

const Paper paper_friction = {"friction", "Contacts with friction: closed forms and a mechanism",
                              (int)(sizeof cases / sizeof *cases), cases};
