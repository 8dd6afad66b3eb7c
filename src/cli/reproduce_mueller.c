// SPDX-License-Identifier: Apache-2.0
// Cases of A. Mueller. Section 7, the robot, is further down. Section 6: the planar pendulum of
// three links whose joints 2 and 3 lock at 0.8 s and 1.3 s. The paper prints no numbers; the
// references come from a second program, DOP853 with a relative tolerance of 1e-13, whose errors
// are estimated at 6e-11 and less. The zero direction of q1 is seen in a figure of the paper only,
// so both are here: phi0 = 0, q1 from the horizontal, and phi0 = -pi/2, from the downward vertical.
// Signs are pawl's, M v' = f + G^T lambda; the paper's multipliers have the opposite sign.
#include <math.h>

#include "cli/reproduce_cases.h"

#define SECOND "a second program, DOP853 at 1e-13"

// All that moves at one time, to `near` (rates `rate`), and the energy [J].
#define SAMPLE(t, q1, q2, q3, v1, v2, v3, E, near, rate, energy)      \
  {"q1 at " #t " s [rad]", VALUE, "q1", 0, t, q1, near, 0},           \
      {"q2 at " #t " s [rad]", VALUE, "q2", 0, t, q2, near, 0},       \
      {"q3 at " #t " s [rad]", VALUE, "q3", 0, t, q3, near, 0},       \
      {"q1' at " #t " s [rad/s]", VALUE, "q1'", 0, t, v1, rate, 0},   \
      {"q2' at " #t " s [rad/s]", VALUE, "q2'", 0, t, v2, rate, 0},   \
      {"q3' at " #t " s [rad/s]", VALUE, "q3'", 0, t, v3, rate, 0}, { \
    "energy at " #t " s [J]", VALUE, "energy", 0, t, E, energy, 0     \
  }
// A lock: rates before and after, and the energy that it takes.
#define LOCK(n, t, a1, a2, a3, b1, b2, b3, lost, near, energy)                  \
  {"time of lock " #n " [s]", EVENT_TIME, NULL, n, 0, t, 1e-12, 0},             \
      {"q1' before lock " #n " [rad/s]", RATE_BEFORE, "q1", n, 0, a1, near, 0}, \
      {"q2' before lock " #n " [rad/s]", RATE_BEFORE, "q2", n, 0, a2, near, 0}, \
      {"q3' before lock " #n " [rad/s]", RATE_BEFORE, "q3", n, 0, a3, near, 0}, \
      {"q1' after lock " #n " [rad/s]", RATE_AFTER, "q1", n, 0, b1, near, 0},   \
      {"q2' after lock " #n " [rad/s]", RATE_AFTER, "q2", n, 0, b2, near, 0},   \
      {"q3' after lock " #n " [rad/s]", RATE_AFTER, "q3", n, 0, b3, near, 0}, { \
    "energy lost in lock " #n " [J]", ENERGY_LOST, NULL, n, 0, lost, energy, 0  \
  }

// ---- q1 from the horizontal
#define HORIZONTAL(near, rate, energy)                                                             \
  LOCK(1, 0.8, 1.271742747049326, -7.874079405994608, -8.93362145003137, -2.062268723570795, 0,    \
       -14.2005130578478, 438.8397087771482, rate, energy),                                        \
      LOCK(2, 1.3, -1.7901668001298823, 0, -11.854705171735894, -2.4127938463094463, 0, 0,         \
           2406.980630713657, rate, energy),                                                       \
      SAMPLE(0.4, -0.3357244649274471, 1.482081427178322, 0.4102195723490185, -3.8543421478866056, \
             2.3310305263185707, 1.7079183544972791, 3230.3948922022964, near, rate, energy),      \
      SAMPLE(1.0, -1.5190047112433571, 0.0913259905488054, -2.061824861471223, -3.918424243938485, \
             0, -10.936487292377782, 2791.555183425358, near, rate, energy),                       \
      SAMPLE(1.5, -3.232138449803759, 0.0913259905488054, -4.792568541207842, -1.3294021733905304, \
             0, 0, 384.57455271151935, near, rate, energy),                                        \
      SAMPLE(2.0, -3.1972679880325043, 0.0913259905488054, -4.792568541207842, 1.468635093244328,  \
             0, 0, 384.57455271166765, near, rate, energy),                                        \
      SAMPLE(2.5, -1.859977373660184, 0.0913259905488054, -4.792568541207842, 3.482153565334778,   \
             0, 0, 384.5745527115805, near, rate, energy),                                         \
      SAMPLE(3.0, -0.3866549282299121, 0.0913259905488054, -4.792568541207842, 1.8830751395035308, \
             0, 0, 384.57455271164577, near, rate, energy)

// ---- the same with the rates of locked joints set to zero and nothing else (fig. 2)
#define HORIZONTAL_NONE(near, rate, energy)                                                        \
  LOCK(1, 0.8, 1.271742747049326, -7.874079405994608, -8.93362145003137, 1.271742747049326, 0,     \
       -8.93362145003137, 5639.927024043898, rate, energy),                                        \
      LOCK(2, 1.3, -1.8707740785690907, 0, -6.278618850349983, -1.8707740785690907, 0, 0,          \
           -123.45871714587156, rate, energy),                                                     \
      SAMPLE(0.4, -0.3357244649274471, 1.482081427178322, 0.4102195723490185, -3.8543421478866056, \
             2.3310305263185707, 1.7079183544972791, 3230.3948922022964, near, rate, energy),      \
      SAMPLE(1.0, -0.9217238238583925, 0.0913259905488054, -1.0216394536681792,                    \
             1.2666238201237456, 0, -10.354496609848546, -2409.532131841685, near, rate, energy),  \
      SAMPLE(1.5, -1.516018668432383, 0.0913259905488054, -3.1818001759248653,                     \
             -2.2805767900594267, 0, 0, -2286.073414695742, near, rate, energy),                   \
      SAMPLE(2.0, -2.431220907418821, 0.0913259905488054, -3.1818001759248653,                     \
             -0.8977252750648655, 0, 0, -2286.0734146957298, near, rate, energy),                  \
      SAMPLE(2.5, -2.2260258499118377, 0.0913259905488054, -3.1818001759248653,                    \
             1.6345205313644513, 0, 0, -2286.0734146957416, near, rate, energy),                   \
      SAMPLE(3.0, -1.1684302096703758, 0.0913259905488054, -3.1818001759248653,                    \
             1.9948356883726144, 0, 0, -2286.0734146957584, near, rate, energy)

// ---- q1 from the downward vertical
#define HANGING(near, rate, energy)                                                               \
  LOCK(1, 0.8, -1.9122426918527147, -0.3080797948505646, 1.6337513513663213, -2.024475477805059,  \
       0, 1.3059326780650653, 0.5538407608578382, rate, energy),                                  \
      LOCK(2, 1.3, -0.45440420028470874, 0, -2.0384787045907515, -0.7548061575889464, 0, 0,       \
           32.189229071074806, rate, energy),                                                     \
      SAMPLE(0.4, 0.47802968620668485, 0.11342749218198935, 0.3799460787219405,                   \
             -0.42617590134937144, -0.9031038471040611, -2.675868383194091, -3088.451487003843,   \
             near, rate, energy),                                                                 \
      SAMPLE(1.0, -0.33731877522421744, -0.20336357675783023, 0.21995421651517383,                \
             -1.9739535214571353, 0, 2.5508553191751844, -3089.005327764703, near, rate, energy), \
      SAMPLE(1.5, -0.7953537650040662, -0.20336357675783023, 0.3044108905031777,                  \
             -0.030889905257299427, 0, 0, -3121.1945568357864, near, rate, energy),               \
      SAMPLE(2.0, -0.37793850289962094, -0.20336357675783023, 0.3044108905031777,                 \
             1.566073999396193, 0, 0, -3121.194556835812, near, rate, energy),                    \
      SAMPLE(2.5, 0.49381152723296584, -0.20336357675783023, 0.3044108905031777,                  \
             1.562177938434787, 0, 0, -3121.1945568358215, near, rate, energy),                   \
      SAMPLE(3.0, 0.9082363940027878, -0.20336357675783023, 0.3044108905031777,                   \
             -0.037833579219813035, 0, 0, -3121.194556835777, near, rate, energy)

// ---- the same, fig. 2
#define HANGING_NONE(near, rate, energy)                                                          \
  LOCK(1, 0.8, -1.9122426918527147, -0.3080797948505646, 1.6337513513663213, -1.9122426918527147, \
       0, 1.6337513513663213, 258.61567185377953, rate, energy),                                  \
      LOCK(2, 1.3, -0.3659298209236791, 0, -2.0770944340620248, -0.3659298209236791, 0, 0,        \
           185.46161541278025, rate, energy),                                                     \
      SAMPLE(0.4, 0.47802968620668485, 0.11342749218198935, 0.3799460787219405,                   \
             -0.42617590134937144, -0.9031038471040611, -2.675868383194091, -3088.451487003843,   \
             near, rate, energy),                                                                 \
      SAMPLE(1.0, -0.3122218024535724, -0.20336357675783023, 0.25783925141634517,                 \
             -1.8368972589356416, 0, 2.5882094194949414, -3347.067158857623, near, rate, energy), \
      SAMPLE(1.5, -0.663661349929457, -0.20336357675783023, 0.3381494063453151,                   \
             0.28772509704954863, 0, 0, -3532.528774270427, near, rate, energy),                  \
      SAMPLE(2.0, -0.17040313892959055, -0.20336357675783023, 0.3381494063453151,                 \
             1.5051959142587128, 0, 0, -3532.528774270456, near, rate, energy),                   \
      SAMPLE(2.5, 0.5614458331464972, -0.20336357675783023, 0.3381494063453151,                   \
             1.1225556286495406, 0, 0, -3532.5287742704536, near, rate, energy),                  \
      SAMPLE(3.0, 0.7560210772711334, -0.20336357675783023, 0.3381494063453151,                   \
             -0.40920869627102907, 0, 0, -3532.528774270425, near, rate, energy)

static const Check horizontal[] = {HORIZONTAL(1e-9, 1e-9, 1e-6)};
static const Check horizontal_none[] = {HORIZONTAL_NONE(1e-9, 1e-9, 1e-6)};
static const Check hanging[] = {HANGING(1e-9, 1e-9, 1e-6)};
static const Check hanging_none[] = {HANGING_NONE(1e-9, 1e-9, 1e-6)};
// Order 2: what nsga-pva reaches with the step of the paper.
static const Check horizontal_2[] = {HORIZONTAL(5e-6, 5e-5, 2e-2)};
static const Check hanging_2[] = {HANGING(5e-7, 5e-6, 1e-3)};

// Both sides of the locks: the momenta of the joints that stay free, and the accelerations and
// torques that follow. P1, P2, P3 are angular momenta about the joints, outputs of the model.
static const Check horizontal_sides[] = {
    {"jump of P1 in lock 1, relative", OUTPUT_JUMP, "P1", 1, 0, 0, 1e-12, 0},
    {"jump of P3 in lock 1, relative", OUTPUT_JUMP, "P3", 1, 0, 0, 1e-12, 0},
    {"P1 before lock 1 [kg m^2/s]", OUTPUT_BEFORE, "P1", 1, 0, -2291.6762593589947, 1e-6, 0},
    {"P1 after lock 1 [kg m^2/s]", OUTPUT_AFTER, "P1", 1, 0, -2291.6762593589942, 1e-6, 0},
    {"P2 before lock 1 [kg m^2/s]", OUTPUT_BEFORE, "P2", 1, 0, -1493.6431262570563, 1e-6, 0},
    {"P2 after lock 1 [kg m^2/s]", OUTPUT_AFTER, "P2", 1, 0, -1382.1787413683146, 1e-6, 0},
    {"P3 before lock 1 [kg m^2/s]", OUTPUT_BEFORE, "P3", 1, 0, -615.7161507459912, 1e-6, 0},
    {"P3 after lock 1 [kg m^2/s]", OUTPUT_AFTER, "P3", 1, 0, -615.7161507459912, 1e-6, 0},
    {"q1'' before lock 1 [rad/s^2]", ACCELERATION_BEFORE, "q1", 1, 0, -19.438135231742002, 1e-7, 0},
    {"q3'' before lock 1 [rad/s^2]", ACCELERATION_BEFORE, "q3", 1, 0, -217.78956648515157, 1e-7, 0},
    {"q1'' after lock 1 [rad/s^2]", ACCELERATION_AFTER, "q1", 1, 0, 38.34759027397144, 1e-7, 0},
    {"q3'' after lock 1 [rad/s^2]", ACCELERATION_AFTER, "q3", 1, 0, -77.65189142152494, 1e-7, 0},
    {"torque of joint 2 after lock 1 [N m]", OUTPUT_AFTER, "hold2", 1, 0, -2101.4340940654765, 1e-6,
     0},
    {"jump of P1 in lock 2, relative", OUTPUT_JUMP, "P1", 2, 0, 0, 1e-12, 0},
    {"P1 before lock 2 [kg m^2/s]", OUTPUT_BEFORE, "P1", 2, 0, -1841.3866363087097, 1e-6, 0},
    {"P1 after lock 2 [kg m^2/s]", OUTPUT_AFTER, "P1", 2, 0, -1841.3866363087104, 1e-6, 0},
    {"P2 before lock 2 [kg m^2/s]", OUTPUT_BEFORE, "P2", 2, 0, -1109.0344499381476, 1e-6, 0},
    {"P2 after lock 2 [kg m^2/s]", OUTPUT_AFTER, "P2", 2, 0, -844.7025175417903, 1e-6, 0},
    {"P3 before lock 2 [kg m^2/s]", OUTPUT_BEFORE, "P3", 2, 0, -502.79262936692123, 1e-6, 0},
    {"P3 after lock 2 [kg m^2/s]", OUTPUT_AFTER, "P3", 2, 0, -96.71241128568123, 1e-6, 0},
    {"q1'' before lock 2 [rad/s^2]", ACCELERATION_BEFORE, "q1", 2, 0, 33.58244055799653, 1e-7, 0},
    {"q3'' before lock 2 [rad/s^2]", ACCELERATION_BEFORE, "q3", 2, 0, -50.78155254626661, 1e-7, 0},
    {"q1'' after lock 2 [rad/s^2]", ACCELERATION_AFTER, "q1", 2, 0, 5.063814975252339, 1e-7, 0},
    {"torque of joint 2 after lock 2 [N m]", OUTPUT_AFTER, "hold2", 2, 0, 850.1572949743259, 1e-6,
     0},
    {"torque of joint 3 after lock 2 [N m]", OUTPUT_AFTER, "hold3", 2, 0, 985.4604555254762, 1e-6,
     0},
};
static const Check hanging_sides[] = {
    {"jump of P1 in lock 1, relative", OUTPUT_JUMP, "P1", 1, 0, 0, 1e-12, 0},
    {"jump of P3 in lock 1, relative", OUTPUT_JUMP, "P3", 1, 0, 0, 1e-12, 0},
    {"P1 before lock 1 [kg m^2/s]", OUTPUT_BEFORE, "P1", 1, 0, -1746.3779543110136, 1e-6, 0},
    {"P1 after lock 1 [kg m^2/s]", OUTPUT_AFTER, "P1", 1, 0, -1746.3779543110134, 1e-6, 0},
    {"P2 before lock 1 [kg m^2/s]", OUTPUT_BEFORE, "P2", 1, 0, -883.3194800155492, 1e-6, 0},
    {"P2 after lock 1 [kg m^2/s]", OUTPUT_AFTER, "P2", 1, 0, -879.7240429235064, 1e-6, 0},
    {"P3 before lock 1 [kg m^2/s]", OUTPUT_BEFORE, "P3", 1, 0, -228.85926166248987, 1e-6, 0},
    {"P3 after lock 1 [kg m^2/s]", OUTPUT_AFTER, "P3", 1, 0, -228.85926166248987, 1e-6, 0},
    {"q1'' before lock 1 [rad/s^2]", ACCELERATION_BEFORE, "q1", 1, 0, -8.113670479779737, 1e-7, 0},
    {"q3'' before lock 1 [rad/s^2]", ACCELERATION_BEFORE, "q3", 1, 0, 2.6936706513026962, 1e-7, 0},
    {"q1'' after lock 1 [rad/s^2]", ACCELERATION_AFTER, "q1", 1, 0, -2.376185741687513, 1e-7, 0},
    {"q3'' after lock 1 [rad/s^2]", ACCELERATION_AFTER, "q3", 1, 0, 18.84501400244014, 1e-7, 0},
    {"torque of joint 2 after lock 1 [N m]", OUTPUT_AFTER, "hold2", 1, 0, -180.74395197445168, 1e-6,
     0},
    {"jump of P1 in lock 2, relative", OUTPUT_JUMP, "P1", 2, 0, 0, 1e-12, 0},
    {"P1 before lock 2 [kg m^2/s]", OUTPUT_BEFORE, "P1", 2, 0, -725.2833664638058, 1e-6, 0},
    {"P1 after lock 2 [kg m^2/s]", OUTPUT_AFTER, "P1", 2, 0, -725.2833664638058, 1e-6, 0},
    {"P2 before lock 2 [kg m^2/s]", OUTPUT_BEFORE, "P2", 2, 0, -404.5843993441913, 1e-6, 0},
    {"P2 after lock 2 [kg m^2/s]", OUTPUT_AFTER, "P2", 2, 0, -374.4900863808231, 1e-6, 0},
    {"P3 before lock 2 [kg m^2/s]", OUTPUT_BEFORE, "P3", 2, 0, -138.46355146729366, 1e-6, 0},
    {"P3 after lock 2 [kg m^2/s]", OUTPUT_AFTER, "P3", 2, 0, -106.88193229356067, 1e-6, 0},
    {"q1'' before lock 2 [rad/s^2]", ACCELERATION_BEFORE, "q1", 2, 0, 5.531855848851112, 1e-7, 0},
    {"q3'' before lock 2 [rad/s^2]", ACCELERATION_BEFORE, "q3", 2, 0, -13.262310968474317, 1e-7, 0},
    {"q1'' after lock 2 [rad/s^2]", ACCELERATION_AFTER, "q1", 2, 0, 3.4421857072743394, 1e-7, 0},
    {"torque of joint 2 after lock 2 [N m]", OUTPUT_AFTER, "hold2", 2, 0, 123.03398526640196, 1e-6,
     0},
    {"torque of joint 3 after lock 2 [N m]", OUTPUT_AFTER, "hold3", 2, 0, 194.17459466467852, 1e-6,
     0},
};
static const Check horizontal_none_sides[] = {
    {"P1 before lock 1 [kg m^2/s]", OUTPUT_BEFORE, "P1", 1, 0, -2291.6762593589947, 1e-6, 0},
    {"P1 after lock 1 [kg m^2/s]", OUTPUT_AFTER, "P1", 1, 0, 560.6573240417135, 1e-6, 0},
    {"P2 before lock 1 [kg m^2/s]", OUTPUT_BEFORE, "P2", 1, 0, -1493.6431262570563, 1e-6, 0},
    {"P2 after lock 1 [kg m^2/s]", OUTPUT_AFTER, "P2", 1, 0, 61.11324352557915, 1e-6, 0},
    {"P3 before lock 1 [kg m^2/s]", OUTPUT_BEFORE, "P3", 1, 0, -615.7161507459912, 1e-6, 0},
    {"P3 after lock 1 [kg m^2/s]", OUTPUT_AFTER, "P3", 1, 0, -263.5382537783824, 1e-6, 0},
    {"P1 before lock 2 [kg m^2/s]", OUTPUT_BEFORE, "P1", 2, 0, -561.0563633965251, 1e-6, 0},
    {"P1 after lock 2 [kg m^2/s]", OUTPUT_AFTER, "P1", 2, 0, -1010.139713777436, 1e-6, 0},
    {"P2 before lock 2 [kg m^2/s]", OUTPUT_BEFORE, "P2", 2, 0, -226.63776091327946, 1e-6, 0},
    {"P2 after lock 2 [kg m^2/s]", OUTPUT_AFTER, "P2", 2, 0, -337.11857633787866, 1e-6, 0},
    {"P3 before lock 2 [kg m^2/s]", OUTPUT_BEFORE, "P3", 2, 0, -94.48193477849966, 1e-6, 0},
    {"P3 after lock 2 [kg m^2/s]", OUTPUT_AFTER, "P3", 2, 0, 133.80864662022572, 1e-6, 0},
};

// ---- section 7: the arm with six joints ---------------------------------------------------------
// The paper prints no data of its robot. The arm of the model has data of our own; its references
// come from a second program, whose errors are estimated at 6e-13 and less, and the places of the
// tool are its angles put into the six rotations, one after the other. Angles and places are held
// to `near`, rates and motor angles to 100 near, energies and impulses to 1000 near.
#define SECOND_ARM "a second program for an arm of our own, DOP853 at 1e-13"

// A brake that closes: where it finds the arm and its tool, rates before and after, the energy it
// takes.
#define BRAKE(n, t, q1, q2, q3, x, y, z, a1, a2, a3, b1, b2, b3, lost, near)             \
  {"time of brake " #n " [s]", EVENT_TIME, NULL, n, 0, t, 1e-12, 0},                     \
      {"q1 at brake " #n " [rad]", VALUE, "q[1]", 0, t, q1, near, 0},                    \
      {"q2 at brake " #n " [rad]", VALUE, "q[2]", 0, t, q2, near, 0},                    \
      {"q3 at brake " #n " [rad]", VALUE, "q[3]", 0, t, q3, near, 0},                    \
      {"x of the tool at brake " #n " [m]", VALUE, "tool_x", 0, t, x, near, 0},          \
      {"y of the tool at brake " #n " [m]", VALUE, "tool_y", 0, t, y, near, 0},          \
      {"z of the tool at brake " #n " [m]", VALUE, "tool_z", 0, t, z, near, 0},          \
      {"q1' before brake " #n " [rad/s]", RATE_BEFORE, "q[1]", n, 0, a1, 100 * near, 0}, \
      {"q2' before brake " #n " [rad/s]", RATE_BEFORE, "q[2]", n, 0, a2, 100 * near, 0}, \
      {"q3' before brake " #n " [rad/s]", RATE_BEFORE, "q[3]", n, 0, a3, 100 * near, 0}, \
      {"q1' after brake " #n " [rad/s]", RATE_AFTER, "q[1]", n, 0, b1, 100 * near, 0},   \
      {"q2' after brake " #n " [rad/s]", RATE_AFTER, "q[2]", n, 0, b2, 100 * near, 0},   \
      {"q3' after brake " #n " [rad/s]", RATE_AFTER, "q[3]", n, 0, b3, 100 * near, 0}, { \
    "energy lost in brake " #n " [J]", ENERGY_LOST, NULL, n, 0, lost, 1000 * near, 0     \
  }
// The arm at rest, with the angles of its motors.
#define REST(q1, q2, q3, x, y, z, m1, m2, m3, E, near)                              \
  {"q1 at rest [rad]", VALUE, "q[1]", 0, AT_END, q1, near, 0},                      \
      {"q2 at rest [rad]", VALUE, "q[2]", 0, AT_END, q2, near, 0},                  \
      {"q3 at rest [rad]", VALUE, "q[3]", 0, AT_END, q3, near, 0},                  \
      {"x of the tool at rest [m]", VALUE, "tool_x", 0, AT_END, x, near, 0},        \
      {"y of the tool at rest [m]", VALUE, "tool_y", 0, AT_END, y, near, 0},        \
      {"z of the tool at rest [m]", VALUE, "tool_z", 0, AT_END, z, near, 0},        \
      {"motor 1 at rest [rad]", VALUE, "motor[1]", 0, AT_END, m1, 100 * near, 0},   \
      {"motor 2 at rest [rad]", VALUE, "motor[2]", 0, AT_END, m2, 100 * near, 0},   \
      {"motor 3 at rest [rad]", VALUE, "motor[3]", 0, AT_END, m3, 100 * near, 0}, { \
    "energy at rest [J]", VALUE, "energy", 0, AT_END, E, 1000 * near, 0             \
  }
#define MOMENTA(n, a1, a2, a3, b1, b2, b3)                                           \
  {"P1 before brake " #n " [kg m^2/s]", OUTPUT_BEFORE, "P1", n, 0, a1, 1e-9, 0},     \
      {"P2 before brake " #n " [kg m^2/s]", OUTPUT_BEFORE, "P2", n, 0, a2, 1e-9, 0}, \
      {"P3 before brake " #n " [kg m^2/s]", OUTPUT_BEFORE, "P3", n, 0, a3, 1e-9, 0}, \
      {"P1 after brake " #n " [kg m^2/s]", OUTPUT_AFTER, "P1", n, 0, b1, 1e-9, 0},   \
      {"P2 after brake " #n " [kg m^2/s]", OUTPUT_AFTER, "P2", n, 0, b2, 1e-9, 0}, { \
    "P3 after brake " #n " [kg m^2/s]", OUTPUT_AFTER, "P3", n, 0, b3, 1e-9, 0        \
  }

#define ARM(near)                                                                                 \
  BRAKE(1, 0.05, 0.09644139667268478, 0.6670584708701193, 0.9649506588286936, 1.3969661597113567, \
        0.1351446183750901, 0.9491006832271363, 1.8533937383966899, 1.6959843033823854,           \
        1.0651524855717533, 0, 1.6564792246862405, 1.1241891814589693, 53.15280530988139, near),  \
      BRAKE(2, 0.1, 0.09644139667268478, 0.7656046082688631, 1.0116901303757386,                  \
            1.4192752646910052, 0.1373028349201404, 0.7624339483063712, 0, 2.3057439120362218,    \
            0.7004063069011852, 0, 0, 4.067437239026522, 55.977330247071905, near),               \
      BRAKE(3, 0.15, 0.09644139667268478, 0.7656046082688631, 1.2314900930336634,                 \
            1.3438131668794777, 0.1300025174860876, 0.5517009678216674, 0, 0, 4.716722419137567,  \
            0, 0, 0, 110.98322572476388, near),                                                   \
      REST(0.09644139667268478, 0.7656046082688631, 1.2314900930336634, 1.3438131668794777,       \
           0.1300025174860876, 0.5517009678216674, 9.644139667268478, 76.56046082688631,          \
           123.14900930336634, 932.8022692323324, near),                                          \
      {"impulse of brake 1 [N m s]", IMPULSE, NULL, 1, 1, -57.35727299463326, 1000 * near, 0},    \
      {"impulse of brake 2 [N m s]", IMPULSE, NULL, 2, 1, -48.55468116373586, 1000 * near, 0}, {  \
    "impulse of brake 3 [N m s]", IMPULSE, NULL, 3, 1, -47.05946878470611, 1000 * near, 0         \
  }
#define ARM_NONE(near)                                                                             \
  BRAKE(1, 0.05, 0.09644139667268478, 0.6670584708701193, 0.9649506588286936, 1.3969661597113567,  \
        0.1351446183750901, 0.9491006832271363, 1.8533937383966899, 1.6959843033823854,            \
        1.0651524855717533, 0, 1.6959843033823854, 1.0651524855717533, 51.77986836628156, near),   \
      BRAKE(2, 0.1, 0.09644139667268478, 0.7675673829404496, 1.00861352986518, 1.4204181866838683, \
            0.1374134029217231, 0.7626889333082817, 0, 2.3448563506330116, 0.6357100046396447, 0,  \
            0, 0.6357100046396447, 138.25925047794738, near),                                      \
      BRAKE(3, 0.15, 0.09644139667268478, 0.7675673829404496, 1.0570956082910894,                  \
            1.4078213562386197, 0.13619476649919832, 0.7148408422661752, 0, 0, 1.3023043852154, 0, \
            0, 0, 8.46061069777943, near),                                                         \
      REST(0.09644139667268478, 0.7675673829404496, 1.0570956082910894, 1.4078213562386197,        \
           0.13619476649919832, 0.7148408422661752, 9.644139667268478, 76.75673829404495,          \
           105.70956082910894, 954.4159009720429, near)

static const Check arm[] = {ARM(1e-11)};
static const Check arm_none[] = {ARM_NONE(1e-11)};
// Order 2 with the step of the model.
static const Check arm_2[] = {ARM(5e-7)};
static const Check arm_sides[] = {
    MOMENTA(1, 56.625232969620725, 88.01437268862442, 35.91421045805993, -0.7320400250125239,
            88.01437268862442, 35.91421045805992),
    MOMENTA(2, -0.9350759411040054, 107.81494734298751, 40.58145016274214, 0, 59.260266179251666,
            40.581450162742144),
    MOMENTA(3, 0, 60.59369521014811, 47.059468784706105, 0, 0, 0)};
static const Check arm_none_sides[] = {
    MOMENTA(1, 56.625232969620725, 88.01437268862442, 35.91421045805993, -0.7494983174956821,
            88.83343421284664, 35.91421045805993),
    MOMENTA(2, -0.949141833308249, 108.64917532000322, 40.55910978293191, 0, 9.276385826310294,
            6.34257699755305),
    MOMENTA(3, 0, 18.530542403881665, 12.993292188569331, 0, 0, 0)};

// ---- 8 docking ----------------------------------------------------------------------------------
// Formulas of the model: common rate 7.8/540 rad/s, velocity of the common centre (-0.02, 0.006)
// m/s, which is at 0.4 m from the centre of the station and at 1.6 m from that of the ship.
#define DOCKED (7.8 / 540)
static const Check docking[] = {
    {"time of docking [s]", EVENT_TIME, NULL, 1, 0, 10, 1e-9, 0},
    {"x1' after it [m/s]", RATE_AFTER, "x1", 1, 0, -0.02, 1e-12, 0},
    {"y1' after it [m/s]", RATE_AFTER, "y1", 1, 0, 0.006 - 0.4 * DOCKED, 1e-11, 0},
    {"p1' after it [rad/s]", RATE_AFTER, "p1", 1, 0, DOCKED, 1e-11, 0},
    {"y2' after it [m/s]", RATE_AFTER, "y2", 1, 0, 0.006 + 1.6 * DOCKED, 1e-11, 0},
    {"p2' after it [rad/s]", RATE_AFTER, "p2", 1, 0, DOCKED, 1e-11, 0},
    {"energy lost [J]", ENERGY_LOST, NULL, 1, 0,
     40 * (0.1 * 0.1 + 0.03 * 0.03) + 100 * 0.02 * 0.02 + 10 * 0.05 * 0.05 - 270 * DOCKED* DOCKED,
     1e-11, 0},
    {"p1 at 30 s [rad]", VALUE, "p1", 0, AT_END, 20 * DOCKED, 1e-9, 0},
    {"x1 at 30 s [m]", VALUE, "x1", 0, AT_END, -0.38342440345342, 1e-9, 0},  // -0.4 cos(20 w)
    {"momentum along x at 30 s [N s]", VALUE, "momentum_x", 0, AT_END, -10, 1e-11, 0},
    {"momentum along y at 30 s [N s]", VALUE, "momentum_y", 0, AT_END, 3, 1e-12, 0},
    {"angular momentum at 30 s [N m s]", VALUE, "spin", 0, AT_END, 9, 1e-11, 0},
};
static const Check docking_sides[] = {
    {"jump of the momentum along x, relative", OUTPUT_JUMP, "momentum_x", 1, 0, 0, 1e-12, 0},
    {"jump of the momentum along y, relative", OUTPUT_JUMP, "momentum_y", 1, 0, 0, 1e-12, 0},
    {"jump of the angular momentum, relative", OUTPUT_JUMP, "spin", 1, 0, 0, 1e-12, 0},
};

// ---- 1 an emergency stop ------------------------------------------------------------------------
#define SECOND_STOP "scripts/reference-emergency-stop: absolute angles, extrapolation of order 16"
static const Check emergency[] = {
    {"switches", EVENT_COUNT, NULL, 0, 0, 8, 0, 0},
    {"joint 3 sticks [s]", EVENT_TIME, NULL, 4, 0, 0.138734144791883, 1e-9, 0},
    {"q1' there [rad/s]", RATE_AFTER, "q1", 4, 0, 1.52404996102674, 1e-8, 0},
    {"q2' there [rad/s]", RATE_AFTER, "q2", 4, 0, 0.167174607529859, 1e-8, 0},
    {"joint 1 sticks [s]", EVENT_TIME, NULL, 5, 0, 0.716974500687155, 1e-9, 0},
    {"q2' there [rad/s]", RATE_AFTER, "q2", 5, 0, 1.28921334227248, 1e-8, 0},
    {"joint 3 is torn loose [s]", EVENT_TIME, NULL, 6, 0, 1.270110747305753, 1e-9, 0},
    {"q2' there [rad/s]", RATE_AFTER, "q2", 6, 0, 0.51083964752613, 1e-8, 0},
    {"joint 2 sticks [s]", EVENT_TIME, NULL, 7, 0, 1.511151974488741, 1e-9, 0},
    {"q3' there [rad/s]", RATE_AFTER, "q3", 7, 0, 0.56098157510562, 1e-8, 0},
    {"joint 3 sticks again [s]", EVENT_TIME, NULL, 8, 0, 1.715124875197159, 1e-9, 0},
    {"q1 at rest [rad]", VALUE, "q1", 0, AT_END, 0.658113250197562, 1e-9, 0},
    {"q2 at rest [rad]", VALUE, "q2", 0, AT_END, 1.62624012420959, 1e-9, 0},
    {"q3 at rest [rad]", VALUE, "q3", 0, AT_END, 0.413215520733354, 1e-9, 0},
    {"x of the tip at rest [m]", VALUE, "tip_x", 0, AT_END, -0.766410014234409, 1e-9, 0},
    {"y of the tip at rest [m]", VALUE, "tip_y", 0, AT_END, 1.79724023266497, 1e-9, 0},
    {"largest part of the energy that no work explains [J]", LARGEST, "energy.drift", 0, 0, 0, 1e-5,
     0},
};

// ---- 8 a spherical linkage with five joints, the palm of a hand ---------------------------------
#define SECOND_HAND "scripts/reference-spherical-five-bar: two angles, extrapolation, 60 digits"
static const Check hand[] = {
    {"x of axis 1 when joint 2 locks", VALUE, "x[1]", 0, 0.03, 0.28335066558901517, 1e-10, 0},
    {"y of axis 2", VALUE, "y[2]", 0, 0.03, 0.5155526543987772, 1e-10, 0},
    {"z of axis 3", VALUE, "z[3]", 0, 0.03, 0.54717168625550995, 1e-10, 0},
    {"x' of axis 1 before", RATE_BEFORE, "x[1]", 1, 0, 1.3659729461966963, 1e-8, 0},
    {"y' of axis 2 before", RATE_BEFORE, "y[2]", 1, 0, 1.0478783227789499, 1e-8, 0},
    {"z' of axis 3 before", RATE_BEFORE, "z[3]", 1, 0, 1.4469009835064619, 1e-8, 0},
    {"x' of axis 1 after", RATE_AFTER, "x[1]", 1, 0, 1.1503864989546485, 1e-8, 0},
    {"y' of axis 2 after", RATE_AFTER, "y[2]", 1, 0, 1.3237209431144344, 1e-8, 0},
    {"z' of axis 3 after", RATE_AFTER, "z[3]", 1, 0, 1.8238831830161066, 1e-8, 0},
    {"impulse of the lock [N m s]", IMPULSE, NULL, 1, 1, 0.00015740281797342537, 1e-11, 0},
    {"energy lost [J]", ENERGY_LOST, NULL, 1, 0, 6.6734798447407057e-5, 1e-11, 0},
    {"x' of axis 1 before joint 1 locks", RATE_BEFORE, "x[1]", 2, 0, 1.9957380554472539, 1e-8, 0},
    {"z' of axis 3 before", RATE_BEFORE, "z[3]", 2, 0, 3.0455437913469425, 1e-8, 0},
    {"z' of axis 3 after", RATE_AFTER, "z[3]", 2, 0, 0, 1e-12, 0},
    {"energy lost [J]", ENERGY_LOST, NULL, 2, 0, 0.0017135724562288987, 1e-11, 0},
    {"x of axis 2 at rest", VALUE, "x[2]", 0, AT_END, -0.63755023429510856, 1e-10, 0},
    {"z of axis 3 at rest", VALUE, "z[3]", 0, AT_END, 0.59589595540346594, 1e-10, 0},
};

// ---- quick and accurate -------------------------------------------------------------------------
// The three links of models/planar-3r-lock.yaml, up to where their middles are.
#define THREE_LINKS                                                          \
  "parameters: {L: 1, m: 108, J: 9.36, g: 9.81}\n"                           \
  "coordinates: {q1: {start: pi/6}, q2: {start: pi/6}, q3: {start: pi/6}}\n" \
  "define:\n"                                                                \
  "  a[1]: q1\n"                                                             \
  "  a[2]: a[1] + q2\n"                                                      \
  "  a[3]: a[2] + q3\n"                                                      \
  "  px[0]: 0\n"                                                             \
  "  py[0]: 0\n"                                                             \
  "  px[i=1..3]: px[i-1] + L*cos(a[i])\n"                                    \
  "  py[i=1..3]: py[i-1] + L*sin(a[i])\n"                                    \
  "  cx[i=1..3]: (px[i-1] + px[i])/2\n"                                      \
  "  cy[i=1..3]: (py[i-1] + py[i])/2\n"

// Joint 2 locks by a condition on the state that is met at 0.8 s: then all is as before.
static const char by_state[] =
    "model: planar-3r-state\n" THREE_LINKS
    "kinetic:\n"
    "  for i=1..3: m/2*(cx[i]'^2 + cy[i]'^2) + J/2*a[i]'^2\n"
    "potential:\n"
    "  for i=1..3: m*g*cy[i]\n"
    "locks:\n"
    "  joint2: {lock: q2, when: q2 - 0.0913259905488054, direction: down}\n"
    "  joint3: {lock: q3, at: 1.3}\n"
    "simulate: {until: 2, step: 1e-4}\n";

// Impulsive forces U on joints 1 and 3 while joint 2 locks, (22), (32), (37): momenta of the free
// joints are those before the lock and U, in whichever form.
static const char pushed[] =
    "model: planar-3r-push\n" THREE_LINKS
    "  h[i=1..3, j=i..3]: m*((cx[j] - px[i-1])*cy[j]' - (cy[j] - py[i-1])*cx[j]') + J*a[j]'\n"
    "kinetic:\n"
    "  for i=1..3: m/2*(cx[i]'^2 + cy[i]'^2) + J/2*a[i]'^2\n"
    "potential:\n"
    "  for i=1..3: m*g*cy[i]\n"
    "locks:\n"
    "  joint2: {lock: q2, at: 0.8}\n"
    "events:\n"
    "  push: {at: 0.8, impulse: {q1: 100, q3: -50}}\n"
    "outputs:\n"
    "  P1: h[1,1] + h[1,2] + h[1,3]\n"
    "  P3: h[3,3]\n"
    "simulate: {until: 1, step: 1e-4, record: 0.1}\n";

static const Check impulsive[] = {
    {"P1 after lock and push [kg m^2/s]", VALUE, "P1", 0, 0.8, -2291.6762593589947 + 100, 1e-6, 0},
    {"P3 after lock and push [kg m^2/s]", VALUE, "P3", 0, 0.8, -615.7161507459912 - 50, 1e-6, 0},
    {"q2' after lock and push [rad/s]", VALUE, "q2'", 0, 0.8, 0, 1e-12, 0},
    {"energy lost in the lock [J]", ENERGY_LOST, NULL, 1, 0, 438.8397087771482, 1e-6, 0},
    {"q1' before the push [rad/s]", RATE_BEFORE, "q1", 2, 0, -2.062268723570795, 1e-9, 0},
    {"largest part of the energy that no work explains [J]", LARGEST, "energy.drift", 0, 0, 0, 1e-6,
     0},
};

static const Check at_2[] = {
    {"time of lock 1 [s]", EVENT_TIME, NULL, 1, 0, 0.8, 1e-9, 0},
    SAMPLE(2.0, -3.1972679880325043, 0.0913259905488054, -4.792568541207842, 1.468635093244328, 0,
           0, 384.57455271166765, 1e-9, 1e-8, 1e-5)};

static const Check order_2[] = {
    {"order in q", ORDER_WHOLE, "q", 0, 0, 2, 0.15, 0},
    {"order in v", ORDER_WHOLE, "v", 0, 0, 2, 0.15, 0},
};
static const Check order_4[] = {
    {"order in q", ORDER_WHOLE, "q", 0, 0, 4, 0.3, 0},
    {"order in v", ORDER_WHOLE, "v", 0, 0, 4, 0.3, 0},
};

// Inverse dynamics, (8) and (9), of the recorded motion: drives at all joints, no lock. The free
// joints need no torque, and a locked joint the one of its lock.
static const Check inverse[] = {
    {"torque of joint 1 at 0.4 s [N m]", DRIVE, "q1", 0, 0.4, 0, 1e-8, 0},
    {"torque of joint 2 at 0.4 s [N m]", DRIVE, "q2", 0, 0.4, 0, 1e-8, 0},
    {"torque of joint 1 at 0.8 s [N m]", DRIVE, "q1", 0, 0.8, 0, 1e-8, 0},
    {"torque of joint 2 at 0.8 s [N m]", DRIVE, "q2", 0, 0.8, -2101.4340940654765, 1e-6, 0},
    {"torque of joint 3 at 0.8 s [N m]", DRIVE, "q3", 0, 0.8, 0, 1e-8, 0},
    {"torque of joint 1 at 1.3 s [N m]", DRIVE, "q1", 0, 1.3, 0, 1e-8, 0},
    {"torque of joint 2 at 1.3 s [N m]", DRIVE, "q2", 0, 1.3, 850.1572949743259, 1e-6, 0},
    {"torque of joint 3 at 1.3 s [N m]", DRIVE, "q3", 0, 1.3, 985.4604555254762, 1e-6, 0},
};

#define RUN(title, parameters, methods, settings, list)                                          \
  {                                                                                              \
    title, "planar-3r-lock", parameters, methods, "step=1e-4 " settings, CASE_RUN, 0, 0, SECOND, \
        CHECKS(list)                                                                             \
  }
#define SIDES(title, parameters, methods, settings, list)                                        \
  {                                                                                              \
    title, "planar-3r-lock", parameters, methods, "step=1e-4 until=1.5" settings, CASE_INSTANTS, \
        0, 0, SECOND, CHECKS(list)                                                               \
  }
#define ORDER(title, methods, high, low, list)                                           \
  {                                                                                      \
    title, "planar-3r-lock", "phi0=-pi/2", methods, "until=1.5", CASE_ORDERS, high, low, \
        "event-driven over rk4 with smaller steps", CHECKS(list)                         \
  }
#define QUICK(title, model, methods, settings) \
  { title, model, "", methods, settings, CASE_RUN, 0, 0, SECOND, CHECKS(at_2) }
#define ROBOT(title, methods, settings, kind, list) \
  { title, "robot-6r-brake", "", methods, settings, kind, 0, 0, SECOND_ARM, CHECKS(list) }
#define DOWN "phi0=-pi/2"

static const Case cases[] = {
    {"1 Emergency stop: brakes slide, stick and are torn loose", "emergency-stop", "",
     "rk4,event-driven:rk4", "", CASE_RUN, 0, 0, SECOND_STOP, CHECKS(emergency)},
    {"1 Emergency stop: brakes slide, stick and are torn loose", "emergency-stop", "", "dopri",
     "step=0.01 rtol=1e-12", CASE_RUN, 0, 0, SECOND_STOP, CHECKS(emergency)},
    RUN("6 Three links, joints 2 and 3 lock", "", "rk4,event-driven:rk4", "record=0.1", horizontal),
    RUN("6 Three links, hanging, joints 2 and 3 lock", DOWN, "rk4,event-driven:rk4", "record=0.1",
        hanging),
    RUN("6 Three links, transition projected (32)", "", "rk4", "record=0.1 transition=projected",
        horizontal),
    RUN("6 Three links, transition minimal (37)", "", "rk4", "record=0.1 transition=minimal",
        horizontal),
    RUN("6 Three links, projected equations (7)", "", "rk4", "record=0.1 form=projected",
        horizontal),
    RUN("6 Three links, minimal coordinates (12)", "", "rk4", "record=0.1 form=minimal",
        horizontal),
    RUN("6 Three links, inverse dynamics of the motion (8), (9)", "", "rk4", "record=0.1 until=1.5",
        inverse),
    {"6 Three links, impulsive forces U at the lock of joint 2", pushed, "", "rk4",
     "transition=full", CASE_RUN, 0, 0, SECOND, CHECKS(impulsive)},
    {"6 Three links, impulsive forces, projected (32)", pushed, "", "rk4", "transition=projected",
     CASE_RUN, 0, 0, SECOND, CHECKS(impulsive)},
    {"6 Three links, impulsive forces, minimal (37)", pushed, "", "rk4", "transition=minimal",
     CASE_RUN, 0, 0, SECOND, CHECKS(impulsive)},
    RUN("6 Three links, steps of its own", "", "dopri,event-driven:dopri",
        "record=0.1 rtol=1e-12 atol=1e-13", horizontal),
    RUN("6 Three links, joints 2 and 3 lock, time stepping", "", "nsga-pva", "record=0.1",
        horizontal_2),
    RUN("6 Three links, hanging, joints 2 and 3 lock, time stepping", DOWN, "nsga-pva",
        "record=0.1", hanging_2),
    RUN("6 Three links, inconsistent switching (fig. 2)", "", "rk4,event-driven:rk4",
        "record=0.1 impact=none", horizontal_none),
    RUN("6 Three links, hanging, inconsistent switching (fig. 2)", DOWN, "rk4",
        "record=0.1 impact=none", hanging_none),
    QUICK("6 Three links, 2 s in about a millisecond", "planar-3r-lock", "dopri",
          "step=1e-2 rtol=1e-10 atol=1e-12 until=2"),
    QUICK("6 Three links, 2 s in about four milliseconds", "planar-3r-lock", "rk4",
          "step=5e-4 until=2"),
    QUICK("6 Three links, joint 2 locks by a condition on the state", by_state, "dopri",
          "step=1e-2 rtol=1e-10 atol=1e-12"),
    QUICK("6 Three links, joint 2 locks by a condition on the state", by_state,
          "rk4,event-driven:rk4", "step=5e-4"),
    SIDES("6 Three links, both sides of the locks", "", "rk4,event-driven:rk4", "",
          horizontal_sides),
    SIDES("6 Three links, hanging, both sides of the locks", DOWN, "rk4", "", hanging_sides),
    SIDES("6 Three links, inconsistent switching, both sides of the locks", "", "rk4",
          " impact=none", horizontal_none_sides),
    ORDER("Orders across the locks, time stepping", "ga-pva,nsga-pva", 5e-3, 5e-4, order_2),
    ORDER("Orders across the locks, rk4", "rk4,event-driven:rk4", 1e-2, 2e-3, order_4),
    ROBOT("7 Arm with six joints, three brakes (figs. 7, 8)", "rk4,event-driven:rk4", "step=1e-4",
          CASE_RUN, arm),
    ROBOT("7 Arm with six joints, transition projected (32)", "rk4",
          "step=1e-4 transition=projected", CASE_RUN, arm),
    ROBOT("7 Arm with six joints, minimal coordinates (12), (37)", "rk4",
          "step=1e-4 transition=minimal form=minimal", CASE_RUN, arm),
    ROBOT("7 Arm with six joints, steps of its own", "dopri", "rtol=1e-12 atol=1e-13", CASE_RUN,
          arm),
    ROBOT("7 Arm with six joints, time stepping", "nsga-pva", "", CASE_RUN, arm_2),
    ROBOT("7 Arm with six joints, inconsistent switching (figs. 6, 8)", "rk4",
          "step=1e-4 impact=none", CASE_RUN, arm_none),
    ROBOT("7 Arm with six joints, both sides of the brakes", "rk4", "step=1e-4", CASE_INSTANTS,
          arm_sides),
    ROBOT("7 Arm with six joints, inconsistent switching, both sides of the brakes", "rk4",
          "step=1e-4 impact=none", CASE_INSTANTS, arm_none_sides),
    {"8 Five bars on a sphere become four, then a rigid palm", "spherical-five-bar", "",
     "rk4,event-driven:rk4", "", CASE_RUN, 0, 0, SECOND_HAND, CHECKS(hand)},
    {"8 Five bars on a sphere, minimal coordinates (12), (37)", "spherical-five-bar", "", "dopri",
     "rtol=1e-12 form=minimal transition=minimal", CASE_RUN, 0, 0, SECOND_HAND, CHECKS(hand)},
    {"8 Docking of two free bodies", "docking", "", "rk4,event-driven:rk4", "", CASE_RUN, 0, 0,
     "closed form", CHECKS(docking)},
    {"8 Docking of two free bodies, projected (32)", "docking", "", "dopri",
     "transition=projected rtol=1e-12", CASE_RUN, 0, 0, "closed form", CHECKS(docking)},
    {"8 Docking of two free bodies, both sides", "docking", "", "rk4", "", CASE_INSTANTS, 0, 0,
     "closed form", CHECKS(docking_sides)},
};

const Paper paper_mueller = {
    "mueller",
    "A. Mueller: Forward dynamics of variable topology mechanisms: the case of constraint "
    "activation",
    (int)(sizeof cases / sizeof *cases), cases};
