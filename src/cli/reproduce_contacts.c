// SPDX-License-Identifier: Apache-2.0
// Contacts whose impacts, limits and flights have closed forms, or quadratures: at located instants
// to 1e-9, and at rest also in time stepping.
#include <math.h>

#include "cli/reproduce_cases.h"

#define LOCATED "event-driven:rk4,event-driven:dopri"

// t_k = sqrt(2 H/g) (1 + 2 (e + ... + e^k)), limit sqrt(2 H/g) (1 + e)/(1 - e).
static const Check ball[] = {
    {"first impact [s]", EVENT_TIME, NULL, 1, 0, 0.4515236409857309, 1e-10, 0},
    {"second impact [s]", EVENT_TIME, NULL, 2, 0, 1.110748156824898, 1e-10, 0},
    {"tenth impact [s]", EVENT_TIME, NULL, 10, 0, 2.749356687632863, 1e-10, 0},
    {"rate after the first impact [m/s]", RATE_AFTER, "y", 1, 0, 3.2334962501911201, 1e-10, 0},
    {"limit of the impacts [s]", EVENT_TIME, NULL, 38, 0, 2.893095921871535, 1e-10, 0},
    {"height at the end [m]", VALUE, "y", 0, AT_END, 0, 1e-10, 0},
};
// With gravity along -y and a restitution of 0.6: the times of tests/step/test_bouncing_pendulum.c.
static const Check pendulum[] = {
    {"first impact [s]", EVENT_TIME, NULL, 1, 0, 0.4861104432972008, 1e-9, 0},
    {"second impact [s]", EVENT_TIME, NULL, 2, 0, 1.1244838848562013, 1e-9, 0},
    {"third impact [s]", EVENT_TIME, NULL, 3, 0, 1.5505835051991699, 1e-9, 0},
    {"fourth impact [s]", EVENT_TIME, NULL, 4, 0, 1.8213504423330198, 1e-9, 0},
};
// On one corner p'^2 = 2 (U(p0) - U(p))/I(p); at an impact p' becomes (J - m b^2)/(J + m b^2) of
// it.
static const Check block[] = {
    {"first impact [s]", EVENT_TIME, NULL, 2, 0, 0.13851326099400388, 1e-9, 0},
    {"second impact [s]", EVENT_TIME, NULL, 3, 0, 0.3006995375845547, 1e-9, 0},
    {"third impact [s]", EVENT_TIME, NULL, 6, 0, 0.4077232806994972, 1e-9, 0},
    {"energy at the end [J]", VALUE, "energy", 0, AT_END, 7.848, 1e-9, 0},
};
// Impacts go from ball to ball, one after the other: equal balls exchange their rates, and the last
// one leaves with that of the first. Time stepping has another law, for all contacts at once. The
// first comes after a quarter of a period: sqrt(l/g) K(sin(p0/2)).
static const Check cradle[] = {
    {"the row is hit [s]", EVENT_TIME, NULL, 1, 0, 0.22943809243163152, 1e-9, 0},
    {"rate of the last ball after that [rad/s]", RATE_AFTER, "p[5]", 4, 0, 4.139393213667984, 1e-8,
     0},
    {"the last ball rises to [rad]", LARGEST, "p[5]", 0, 0, 0.6, 1e-5, 0},
    {"the balls between do not move [rad]", LARGEST, "p[3]", 0, 0, 0, 1e-9, 0},
};
// Leaves at sin(w t) = g/(A w^2) and lands where its parabola meets the table.
static const Check table[] = {
    {"leaves the table [s]", EVENT_TIME, NULL, 1, 0, 0.019212970491206575, 1e-9, 0},
    {"lands [s]", EVENT_TIME, NULL, 2, 0, 0.16446063259160434, 1e-9, 0},
    {"leaves again [s]", EVENT_TIME, NULL, 3, 0, 0.2286524807305261, 1e-9, 0},
};
static const Check plates[] = {
    {"height of the uppermost [m]", VALUE, "y[10]", 0, AT_END, 0.95, 1e-9, 0},
    {"the ground carries [N]", VALUE, "lowest", 0, AT_END, 98.1, 1e-6, 0},
    {"the sixth carries [N]", VALUE, "half", 0, AT_END, 49.05, 1e-6, 0},
    {"the lowest rests [m/s]", VALUE, "x[1]'", 0, AT_END, 0, 1e-10, 0},
    {"the uppermost rests [m/s]", VALUE, "x[10]'", 0, AT_END, 0, 1e-10, 0},
};

static const Case cases[] = {
    {"A ball that bounces to rest", "bouncing-ball", "", LOCATED, "", CASE_RUN, 0, 0, "closed form",
     CHECKS(ball)},
    {"The bouncing pendulum", "bouncing-pendulum", "ay=-10 cor=0.6", LOCATED, "step=1e-3", CASE_RUN,
     0, 0, "quadrature", CHECKS(pendulum)},
    {"A block that rocks to rest", "rocking-block", "", LOCATED, "step=1e-3", CASE_RUN, 0, 0,
     "quadrature", CHECKS(block)},
    {"Newton's cradle", "newtons-cradle", "", LOCATED, "step=1e-3", CASE_RUN, 0, 0,
     "elliptic integral", CHECKS(cradle)},
    {"A ball on a table that shakes", "driven-table", "", LOCATED, "", CASE_RUN, 0, 0,
     "root of a closed form", CHECKS(table)},
    {"A column of plates with friction", "column-of-plates", "", "nsga-pva,nsga-pvv,event-driven",
     "", CASE_RUN, 0, 0, "statics", CHECKS(plates)},
};

const Paper paper_contacts = {"contacts", "Contacts: impacts, flights and rest in closed form",
                              (int)(sizeof cases / sizeof *cases), cases};
