// SPDX-License-Identifier: Apache-2.0
// Models with first-order states, inputs and actions, against another formulation and another
// method (scripts/reference-controlled), whose numbers stand here.
#include <math.h>

#include "cli/reproduce_cases.h"

#define SECOND "scripts/reference-controlled: extrapolation of order 16"
#define PRECISE "rk4,dopri,event-driven:rk4"

static const Check continuous[] = {
    {"angle at 0.5 s [rad]", VALUE, "phi", 0, 0.5, 1.8047650590507158, 1e-9, 0},
    {"rate at 0.5 s [rad/s]", VALUE, "phi'", 0, 0.5, 3.3660244672411457, 1e-8, 0},
    {"integral part at 0.5 s [N m]", VALUE, "I", 0, 0.5, 1.8719688833513253, 1e-8, 0},
    {"angle at 1 s [rad]", VALUE, "phi", 0, 1, 2.4679767279834626, 1e-9, 0},
    {"integral part at 1 s [N m]", VALUE, "I", 0, 1, 3.0858474250638133, 1e-8, 0},
    {"angle at 5 s [rad]", VALUE, "phi", 0, AT_END, 2.499987880770315, 1e-9, 0},
    {"integral part at 5 s [N m]", VALUE, "I", 0, AT_END, 2.9355148779991698, 1e-8, 0},
};
static const Check sampled[] = {
    {"angle at 0.5 s [rad]", VALUE, "phi", 0, 0.5, 1.8051762452226945, 1e-9, 0},
    {"rate at 0.5 s [rad/s]", VALUE, "phi'", 0, 0.5, 3.3461275792603358, 1e-8, 0},
    {"angle at 1 s [rad]", VALUE, "phi", 0, 1, 2.460170694814647, 1e-9, 0},
    {"angle at 2 s [rad]", VALUE, "phi", 0, 2, 2.51106139614381, 1e-9, 0},
    {"angle at 5 s [rad]", VALUE, "phi", 0, AT_END, 2.499986427112232, 1e-9, 0},
    {"samples", VALUE, "ticks", 0, AT_END, 501, 0, 0},
};
static const Check motor[] = {
    {"the clutch sticks at [s]", EVENT_TIME, NULL, 3, 0, 0.6838710083490067, 1e-8, 0},
    {"current at 0.5 s [A]", VALUE, "i", 0, 0.5, 18.596194829845928, 1e-6, 0},
    {"crank at 0.5 s [rad]", VALUE, "phi", 0, 0.5, 2.221967422711508, 1e-7, 0},
    {"torque of the clutch at 0.5 s [N m]", VALUE, "torque", 0, 0.5, -5.187988300580324, 1e-7, 0},
    {"current at 1 s [A]", VALUE, "i", 0, 1, 20.63328364516624, 1e-6, 0},
    {"slider at 1 s [m]", VALUE, "x", 0, 1, 0.3861924055797702, 1e-7, 0},
    {"torque of the clutch at 1 s [N m]", VALUE, "torque", 0, 1, -4.8573687294395205, 1e-6, 0},
    {"current at 2 s [A]", VALUE, "i", 0, AT_END, 18.634023750012375, 1e-6, 0},
    {"slider at 2 s [m]", VALUE, "x", 0, AT_END, 0.30013667868781524, 1e-7, 0},
    {"torque of the clutch at 2 s [N m]", VALUE, "torque", 0, AT_END, -2.6828409125392794, 1e-6, 0},
};
// Methods of order 2.
static const Check motor_second[] = {
    {"the clutch sticks at [s]", EVENT_TIME, NULL, 3, 0, 0.6838710083490067, 1e-6, 0},
    {"current at 2 s [A]", VALUE, "i", 0, AT_END, 18.634023750012375, 5e-5, 0},
};

static const Case cases[] = {
    {"A PID controller with anti-windup", "pid-pendulum", "", PRECISE, "step=1e-3", CASE_RUN, 0, 0,
     SECOND, CHECKS(continuous)},
    {"The same sampled at 100 Hz", "pid-pendulum-sampled", "", PRECISE, "step=1e-3", CASE_RUN, 0, 0,
     SECOND, CHECKS(sampled)},
    {"A motor, a clutch and a slider-crank", "motor-clutch", "", PRECISE, "step=2.5e-4", CASE_RUN,
     0, 0, SECOND, CHECKS(motor)},
    {"A motor, a clutch and a slider-crank", "motor-clutch", "", "ga-pva,nsga-pva", "step=2.5e-4",
     CASE_RUN, 0, 0, SECOND, CHECKS(motor_second)},
};

const Paper paper_states = {"states", "Models with states, inputs and actions",
                            (int)(sizeof cases / sizeof *cases), cases};
