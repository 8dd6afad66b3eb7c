// SPDX-License-Identifier: Apache-2.0
// Cases of J. Kovanda and J. Hozman, section 4: two masses on springs with a switchable constraint
// between them, and the passage of a singular position (sections 1 and 5). The paper prints closed
// forms and no numbers but the times; the references are these closed forms, evaluated with 40
// digits, with roots to 1e-35. Signs are pawl's: lambda pushes mass 1 forward.
#include <math.h>

#include "cli/reproduce_cases.h"

#define EXACT "closed form, 40 digits"

// Both masses at one time.
#define SAMPLE(t, s1, s2, v1, v2, near)                                                         \
  {"s1 at " #t, VALUE, "s1", 0, t, s1, near, 0}, {"s2 at " #t, VALUE, "s2", 0, t, s2, near, 0}, \
      {"s1' at " #t, VALUE, "s1'", 0, t, v1, near, 0}, {                                        \
    "s2' at " #t, VALUE, "s2'", 0, t, v2, near, 0                                               \
  }
// A switch without a shock: rates before and after are the same, no energy is lost.
#define SWITCH(n, t, v, near, time)                           \
  {"time of switch " #n, EVENT_TIME, NULL, n, 0, t, time, 0}, \
      {"s1' before it", RATE_BEFORE, "s1", n, 0, v, near, 0}, \
      {"s1' after it", RATE_AFTER, "s1", n, 0, v, near, 0},   \
      {"s2' before it", RATE_BEFORE, "s2", n, 0, v, near, 0}, \
      {"s2' after it", RATE_AFTER, "s2", n, 0, v, near, 0}, { \
    "energy lost in it", ENERGY_LOST, NULL, n, 0, 0, 1e-12, 0 \
  }
// Its accelerations and the force of the coupling on both sides: eqs. (53), (54), (57), (58).
#define SIDES(n, a1, a2, b1, b2, force, force_after, near)                                 \
  {"s1'' before switch " #n, ACCELERATION_BEFORE, "s1", n, 0, a1, near, 0},                \
      {"s2'' before it", ACCELERATION_BEFORE, "s2", n, 0, a2, near, 0},                    \
      {"s1'' after it", ACCELERATION_AFTER, "s1", n, 0, b1, near, 0},                      \
      {"s2'' after it", ACCELERATION_AFTER, "s2", n, 0, b2, near, 0},                      \
      {"force of the coupling before it", OUTPUT_BEFORE, "force", n, 0, force, near, 0}, { \
    "force of the coupling after it", OUTPUT_AFTER, "force", n, 0, force_after, near, 0    \
  }

// ---- 4.1 free and coupled
#define FREE(near)                                                                                 \
  SAMPLE(1, 0.2701511529340699, 0.351844907875699, -0.42073549240394825, -0.6172728764571666,      \
         near),                                                                                    \
      SAMPLE(2, -0.2080734182735712, -0.434368636702479, -0.45464871341284085,                     \
             -0.2379483919805911, near),                                                           \
      SAMPLE(5, 0.14183109273161312, -0.43960172525948166, 0.4794621373315692, 0.1837161281554671, \
             near),                                                                                \
      SAMPLE(10, -0.4195357645382262, -0.16152385379027073, 0.2720105554446849,                    \
             -0.932496768511128, near),                                                            \
      SAMPLE(20, 0.20404103090669598, 0.30124094339378277, -0.45647262536381383,                   \
             0.7391004465673924, near)

#define COUPLED(near)                                                                            \
  SAMPLE(1, 0.29740794689516953, -0.20259205310483044, -0.3580588361162105, -0.3580588361162105, \
         near),                                                                                  \
      SAMPLE(2, -0.06410697253193916, -0.5641069725319392, -0.2808784237857664,                  \
             -0.2808784237857664, near),                                                         \
      SAMPLE(5, 0.4676167310832863, -0.032383268916713705, 0.16735985930735495,                  \
             0.16735985930735495, near),                                                         \
      SAMPLE(10, 0.37675898096753835, -0.12324101903246164, 0.3022017626358292,                  \
             0.3022017626358292, near),                                                          \
      SAMPLE(20, 0.0981660165031109, -0.4018339834968891, 0.38094160618778433,                   \
             0.38094160618778433, near),                                                         \
      {"force of the coupling at 1", VALUE, "force", 0, 1, 1.1912438294721108, near, 0},         \
      {"force of the coupling at 2", VALUE, "force", 0, 2, 2.505843536479779, near, 0},          \
      {"force of the coupling at 5", VALUE, "force", 0, 5, 0.572302796060777, near, 0},          \
      {"force of the coupling at 10", VALUE, "force", 0, 10, 0.9026946146634969, near, 0}, {     \
    "force of the coupling at 20", VALUE, "force", 0, 20, 1.9157599399886878, near, 0            \
  }

// ---- 4.2 decoupling at 12
#define RELEASE(near)                                                                \
  {"switches", EVENT_COUNT, NULL, 0, 0, 1, 0, 0},                                    \
      SWITCH(1, 12.0, -0.3862517958781087, near, 1e-12),                             \
      SAMPLE(5, 0.4676167310832863, -0.032383268916713705, 0.16735985930735495,      \
             0.16735985930735495, near),                                             \
      SAMPLE(11.99, 0.21181527835781747, -0.28818472164218256, -0.38566244185133663, \
             -0.38566244185133663, near),                                            \
      SAMPLE(12.01, 0.20408281202948758, -0.2958335247384278, -0.3883120054232466,   \
             -0.371554236939001, near),                                              \
      SAMPLE(15, -0.26038240284973607, -0.33728746799737164, 0.3530396748353992,     \
             -0.08261805155499087, near),                                            \
      SAMPLE(20, -0.41239895556736783, -0.025646109694687346, -0.14954300106869217,  \
             -0.7565390327476657, near),                                             \
      SAMPLE(25, 0.026418424811753095, 0.327864260046655, -0.43787906384314884,      \
             -0.19535879223477565, near)

#define RELEASE_SIDES(near)                                                                      \
  SIDES(1, -0.05630317724064827, -0.05630317724064827, -0.20795566330980872, 1.4602216834509563, \
        1.5165248606916046, 0, near)

// ---- 4.2 coupling, asked for at 10
#define ENGAGE(near, time)                                                                         \
  {"switches, the wait included", EVENT_COUNT, NULL, 0, 0, 2, 0, 0},                               \
      SWITCH(2, 10.764552867705163, 0.48671651318179027, near, time),                              \
      {"distance held", VALUE, "distance", 0, AT_END, 0.2761819354932378, near, 0},                \
      SAMPLE(5, 0.14183109273161312, -0.43960172525948166, 0.4794621373315692, 0.1837161281554671, \
             near),                                                                                \
      SAMPLE(10, -0.4195357645382262, -0.16152385379027073, 0.2720105554446849,                    \
             -0.932496768511128, near),                                                            \
      SAMPLE(11, 0.006429454807892674, -0.2697524806853451, 0.5339181599636992,                    \
             0.5339181599636992, near),                                                            \
      SAMPLE(12, 0.47905710366371024, 0.2028751681704725, 0.3013984443756054, 0.3013984443756054,  \
             near),                                                                                \
      SAMPLE(15, -0.36122414919526413, -0.6374060846885019, -0.1220054232743726,                   \
             -0.1220054232743726, near),                                                           \
      SAMPLE(20, -0.27226623597779087, -0.5484481714710286, -0.3377376582113946,                   \
             -0.3377376582113946, near)

#define ENGAGE_SIDES(near)                                                                     \
  SIDES(2, 0.11448596331498533, 1.9533394940411155, 0.2816544661082699, 0.2816544661082699, 0, \
        1.6716850279328455, near)

// ---- 4.3 intentional control
#define INTENTIONAL(near)                                                                          \
  {"switches", EVENT_COUNT, NULL, 0, 0, 23, 0, 0},                                                 \
      {"time of switch 1", EVENT_TIME, NULL, 1, 0, 1.885895172992195, near, 0},                    \
      {"time of switch 2", EVENT_TIME, NULL, 2, 0, 2.885895172992195, near, 0},                    \
      {"time of switch 3", EVENT_TIME, NULL, 3, 0, 4.144279709122297, near, 0},                    \
      {"time of switch 4", EVENT_TIME, NULL, 4, 0, 5.144279709122297, near, 0},                    \
      {"time of switch 5", EVENT_TIME, NULL, 5, 0, 6.506121897540116, near, 0},                    \
      {"time of switch 6", EVENT_TIME, NULL, 6, 0, 7.506121897540116, near, 0},                    \
      {"time of switch 7", EVENT_TIME, NULL, 7, 0, 8.85294127766876, near, 0},                     \
      {"time of switch 8", EVENT_TIME, NULL, 8, 0, 9.85294127766876, near, 0},                     \
      {"time of switch 9", EVENT_TIME, NULL, 9, 0, 11.04640838200865, near, 0},                    \
      {"time of switch 10", EVENT_TIME, NULL, 10, 0, 12.04640838200865, near, 0},                  \
      {"time of switch 11", EVENT_TIME, NULL, 11, 0, 14.550595936480532, near, 0},                 \
      {"time of switch 12", EVENT_TIME, NULL, 12, 0, 15.550595936480532, near, 0},                 \
      {"time of switch 13", EVENT_TIME, NULL, 13, 0, 17.089074062219066, near, 0},                 \
      {"time of switch 14", EVENT_TIME, NULL, 14, 0, 18.089074062219066, near, 0},                 \
      {"time of switch 15", EVENT_TIME, NULL, 15, 0, 19.619065323565508, near, 0},                 \
      {"time of switch 16", EVENT_TIME, NULL, 16, 0, 20.619065323565508, near, 0},                 \
      {"time of switch 17", EVENT_TIME, NULL, 17, 0, 22.222222865772213, near, 0},                 \
      {"time of switch 18", EVENT_TIME, NULL, 18, 0, 23.222222865772213, near, 0},                 \
      {"time of switch 19", EVENT_TIME, NULL, 19, 0, 24.771911774202792, near, 0},                 \
      {"time of switch 20", EVENT_TIME, NULL, 20, 0, 25.771911774202792, near, 0},                 \
      {"time of switch 21", EVENT_TIME, NULL, 21, 0, 27.321620678025727, near, 0},                 \
      {"time of switch 22", EVENT_TIME, NULL, 22, 0, 28.321620678025727, near, 0},                 \
      {"time of switch 23", EVENT_TIME, NULL, 23, 0, 29.869541336378738, near, 0},                 \
      SAMPLE(1, 0.2701511529340699, 0.351844907875699, -0.42073549240394825, -0.6172728764571666,  \
             near),                                                                                \
      SAMPLE(2, -0.2069601256985213, -0.445454037830532, -0.43479656315139315,                     \
             -0.43479656315139315, near),                                                          \
      SAMPLE(5, 0.14827315588383738, 0.8065232598038807, 0.05022845030375264, 0.05022845030375264, \
             near),                                                                                \
      SAMPLE(10, -0.08392703751692929, 0.4330035992377852, -0.43141621128622587,                   \
             -0.7942936896175886, near),                                                           \
      SAMPLE(15, 0.3499136694295861, -0.5364389861069347, -0.2758079553183935,                     \
             -0.2758079553183935, near),                                                           \
      SAMPLE(20, 0.023651927447761616, -0.2651503887544961, 0.5345246163220648,                    \
             0.5345246163220648, near),                                                            \
      SAMPLE(25, -0.41186418226209026, 0.6005780810579974, 0.004356775906194501,                   \
             0.004356775906194501, near),                                                          \
      SAMPLE(30, 0.2712600101003678, 0.09182468117946042, -0.49744997088194576,                    \
             -0.49744997088194576, near),                                                          \
  {                                                                                                \
    "energy at 30", VALUE, "energy", 0, AT_END, 1.75, near, 0                                      \
  }

#define INTENTIONAL_SIDES(near)                                                                   \
  SIDES(1, 0.15495522616018428, 1.9672456914609748, 0.3197089048238925, 0.3197089048238925, 0,    \
        1.6475367866370825, near),                                                                \
      SIDES(2, 0.6360425713955004, 0.6360425713955004, 0.38693324831269665, 3.127135802223537,    \
            2.4910932308280365, 0, near),                                                         \
      SIDES(3, 0.056703168791808166, -3.007734675641176, -0.22188208979300858,                    \
            -0.22188208979300858, 0, -2.7858525858481675, near),                                  \
      SIDES(4, -0.5041312072659855, -0.5041312072659855, -0.1502795173550416, -4.042648106375425, \
            -3.5385168991094393, 0, near)

// ---- 4.4 the same with damping
#define DAMPED(near)                                                                              \
  {"switches", EVENT_COUNT, NULL, 0, 0, 20, 0, 0},                                                \
      {"time of switch 1", EVENT_TIME, NULL, 1, 0, 1.7249164600844875, near, 0},                  \
      {"time of switch 2", EVENT_TIME, NULL, 2, 0, 2.7249164600844877, near, 0},                  \
      {"time of switch 3", EVENT_TIME, NULL, 3, 0, 3.9921635016000785, near, 0},                  \
      {"time of switch 4", EVENT_TIME, NULL, 4, 0, 4.9921635016000785, near, 0},                  \
      {"time of switch 5", EVENT_TIME, NULL, 5, 0, 6.417154409172674, near, 0},                   \
      {"time of switch 6", EVENT_TIME, NULL, 6, 0, 7.417154409172674, near, 0},                   \
      {"time of switch 7", EVENT_TIME, NULL, 7, 0, 8.874924908470128, near, 0},                   \
      {"time of switch 8", EVENT_TIME, NULL, 8, 0, 9.874924908470128, near, 0},                   \
      {"time of switch 9", EVENT_TIME, NULL, 9, 0, 11.101447424442435, near, 0},                  \
      {"time of switch 10", EVENT_TIME, NULL, 10, 0, 12.101447424442435, near, 0},                \
      {"time of switch 11", EVENT_TIME, NULL, 11, 0, 14.083234710205149, near, 0},                \
      {"time of switch 12", EVENT_TIME, NULL, 12, 0, 15.083234710205149, near, 0},                \
      {"time of switch 13", EVENT_TIME, NULL, 13, 0, 16.843890765837916, near, 0},                \
      {"time of switch 14", EVENT_TIME, NULL, 14, 0, 17.843890765837916, near, 0},                \
      {"time of switch 15", EVENT_TIME, NULL, 15, 0, 21.241254968189192, near, 0},                \
      {"time of switch 16", EVENT_TIME, NULL, 16, 0, 22.241254968189192, near, 0},                \
      {"time of switch 17", EVENT_TIME, NULL, 17, 0, 23.94036709140198, near, 0},                 \
      {"time of switch 18", EVENT_TIME, NULL, 18, 0, 24.94036709140198, near, 0},                 \
      {"time of switch 19", EVENT_TIME, NULL, 19, 0, 26.721344406088797, near, 0},                \
      {"time of switch 20", EVENT_TIME, NULL, 20, 0, 27.721344406088797, near, 0},                \
      SAMPLE(1, 0.2774958603089492, 0.2787517678545938, -0.4003950536766547, -0.5417836192976561, \
             near),                                                                               \
      SAMPLE(2, -0.1624920858637116, -0.30215707353712723, -0.3808455978705814,                   \
             -0.3808455978705814, near),                                                          \
      SAMPLE(5, 0.055401636371443345, 0.5118752031042275, 0.08877387909151128,                    \
             0.06892023710450017, near),                                                          \
      SAMPLE(10, -0.09414911015500334, 0.09332251020873913, -0.13530637385867372,                 \
             -0.2023452023166409, near),                                                          \
      SAMPLE(15, 0.09347887159878636, -0.08664767019714373, -0.0812924706630461,                  \
             -0.0812924706630461, near),                                                          \
      SAMPLE(20, 0.06281320159942035, -0.005280123647031569, 0.07317883707434691,                 \
             0.056349687189988215, near),                                                         \
      SAMPLE(25, -0.056129169247080786, 0.05478127071119261, 0.03167574502019149,                 \
             0.01167519551608309, near),                                                          \
      SAMPLE(30, -0.031095055764382946, -0.001395178533181702, -0.042601717157117996,             \
             -0.006333877742877079, near),                                                        \
  {                                                                                               \
    "energy at 30", VALUE, "energy", 0, AT_END, 0.013933969300105318, near, 0                     \
  }

#define DAMPED_SIDES(near)                                                                     \
  SIDES(1, 0.09213323377894364, 1.1589911072617962, 0.1891203131864757, 0.1891203131864757, 0, \
        0.9698707940753206, near),                                                             \
      SIDES(2, 0.5160057515686851, 0.5160057515686851, 0.33184922192589716, 2.357571047996564, \
            1.8415652964278788, 0, near),                                                      \
      SIDES(3, 0.12407138934636873, -1.6624000422066385, -0.03833510443117737,                 \
            -0.03833510443117737, 0, -1.624064937775461, near),                                \
      SIDES(4, -0.2942935894201409, -0.2942935894201409, -0.06363149964553783,                 \
            -2.6009144871661714, -2.3066208977460305, 0, near)

// To 1e-8, and T_C to 1e-10, by methods whose order allows it.
static const Check free_masses[] = {FREE(1e-8)}, coupled[] = {COUPLED(1e-8)},
                   release[] = {RELEASE(1e-8)}, release_sides[] = {RELEASE_SIDES(1e-8)},
                   engage[] = {ENGAGE(1e-8, 1e-10)}, engage_sides[] = {ENGAGE_SIDES(1e-8)},
                   intentional[] = {INTENTIONAL(1e-8)},
                   intentional_sides[] = {INTENTIONAL_SIDES(1e-8)}, damped[] = {DAMPED(1e-8)},
                   damped_sides[] = {DAMPED_SIDES(1e-8)};
// The series of the paper, p = 4 with tau = 0.01, is off by t w (w tau)^4/120, which is 9e-8 for
// the second mass, w = sqrt(5), at t = 20. The coupled masses, w = 1.17, are good to 1e-8.
static const Check free_masses_4[] = {FREE(1e-7)}, release_4[] = {RELEASE(1e-7)},
                   engage_4[] = {ENGAGE(1e-7, 1e-7)}, intentional_4[] = {INTENTIONAL(1e-7)},
                   damped_4[] = {DAMPED(1e-7)};

// Accelerations of fig. 1 and 2, from the same closed forms.
#define ACCELERATIONS(t, a1, a2)                       \
  {"s1'' at " #t, VALUE, "s1''", 0, t, a1, 1e-8, 0}, { \
    "s2'' at " #t, VALUE, "s2''", 0, t, a2, 1e-8, 0    \
  }
static const Check free_accelerations[] = {
    ACCELERATIONS(0, -0.5, 0),
    ACCELERATIONS(1, -0.2701511529340699, -1.7592245393784949),
    ACCELERATIONS(2, 0.2080734182735712, 2.171843183512395),
    ACCELERATIONS(5, -0.14183109273161312, 2.1980086262974083),
    ACCELERATIONS(10, 0.4195357645382262, 0.8076192689513537),
    ACCELERATIONS(20, -0.20404103090669598, -1.5062047169689137)};
static const Check coupled_accelerations[] = {
    ACCELERATIONS(0, -0.45454545454545453, -0.45454545454545453),
    ACCELERATIONS(1, -0.17828356394795847, -0.17828356394795847),
    ACCELERATIONS(2, 0.314691326179917, 0.314691326179917),
    ACCELERATIONS(5, -0.4103864514772086, -0.4103864514772086),
    ACCELERATIONS(10, -0.28648951950118867, -0.28648951950118867),
    ACCELERATIONS(20, 0.09340997749575787, 0.09340997749575787)};

// ---- 1 a vibration absorber, a rotor that balances itself
#define MATRIX "scripts/reference-linear-switching: exp(A t), 40 digits"
static const Check absorber[] = {
    {"x1 at 8 s, clamped [m]", VALUE, "x1", 0, 8, -0.0021558919614841173, 1e-9, 0},
    {"x1' at 8 s, clamped [m/s]", VALUE, "x1'", 0, 8, 1.8778343241530307, 1e-8, 0},
    {"x1 at 12 s, free [m]", VALUE, "x1", 0, 12, -0.010723743304111567, 1e-9, 0},
    {"x2 at 12 s, free [m]", VALUE, "x2", 0, 12, -0.058678613095038895, 1e-9, 0},
    {"x1 at 40 s, free [m]", VALUE, "x1", 0, AT_END, -0.00058422723786463682, 1e-9, 0},
    {"x2 at 40 s, free [m]", VALUE, "x2", 0, AT_END, 0.0012991653041530779, 1e-9, 0},
    // |X1| of the steady motion; 0.0632 m while the absorber is clamped
    {"largest x1 from 38 s on [m]", LARGEST, "x1", 0, 38, 0.00058736897941951612, 5e-6, 0},
    {"largest x2 from 38 s on [m]", LARGEST, "x2", 0, 38, 0.022034166922836903, 2e-5, 0},
};
static const Check absorber_sides[] = {
    {"force of the clamp before it opens [N]", OUTPUT_BEFORE, "clamp_force", 1, 0,
     9.8588543053332733, 1e-6, 0},
    {"x1'' does not jump but by the clamp force/m1 [m/s^2]", ACCELERATION_AFTER, "x1", 1, 0,
     9.8588543053332733 / 5 + 9.8588543053332733 / 50, 1e-6, 0},
    {"x2'' after it opens [m/s^2]", ACCELERATION_AFTER, "x2", 1, 0, 0, 1e-6, 0},
};
static const Check balanced[] = {
    {"x at 40 s, balls held [m]", VALUE, "x", 0, 40, 0.00019821011202173043, 1e-10, 0},
    {"y at 40 s, balls held [m]", VALUE, "y", 0, 40, -0.00052297005716421013, 1e-10, 0},
    {"b1 when it is locked, 2 pi/3 [rad]", VALUE, "b1", 0, AT_END, 2.0943951023931955, 1e-9, 0},
    {"b2 when it is locked [rad]", VALUE, "b2", 0, AT_END, -2.0943951023931955, 1e-9, 0},
    {"unbalance left [kg m]", VALUE, "unbalance", 0, AT_END, 0, 1e-12, 0},
    {"largest whirl from 380 s on [m]", LARGEST, "whirl", 0, 380, 0, 1e-12, 0},
};

// ---- 1, 5 a parallelogram through its change points
// ----------------------------------------------- A pendulum, by quadrature; each change point is
// an entry and an exit, of two constraints each.
static const Check four_bar[] = {
    {"switches", EVENT_COUNT, NULL, 0, 0, 56, 0, 0},
    {"time of the first lock [s]", EVENT_TIME, NULL, 1, 0, 0.2404791579632091, 1e-9, 0},
    {"q1' there [rad/s]", RATE_AFTER, "q1", 1, 0, 9.05631338205026, 1e-9, 0},
    {"time of its release [s]", EVENT_TIME, NULL, 3, 0, 0.2832418953195121, 1e-9, 0},
    {"q1' there [rad/s]", RATE_AFTER, "q1", 3, 0, 9.651613706091553, 1e-9, 0},
    {"energy lost there [J]", ENERGY_LOST, NULL, 3, 0, 0, 1e-12, 0},
    {"time of the second lock [s]", EVENT_TIME, NULL, 5, 0, 0.5479276701282697, 1e-9, 0},
    {"q1 at 5 s [rad]", VALUE, "q1", 0, AT_END, 46.608406743011325, 1e-9, 0},
    {"q2 at 5 s [rad]", VALUE, "q2", 0, AT_END, 0, 1e-12, 0},
    {"q3 at 5 s [rad]", VALUE, "q3", 0, AT_END, 46.608406743011325, 1e-9, 0},
    {"q1' at 5 s [rad/s]", VALUE, "q1'", 0, AT_END, 8.58885322286126, 1e-9, 0},
};

#define RUN(title, model, how, list) \
  { title, model, "", how, CASE_RUN, 0, 0, EXACT, CHECKS(list) }
#define BOTH(title, model, settings, list) \
  { title, model, "", SERIES settings, CASE_INSTANTS, 0, 0, EXACT, CHECKS(list) }
#define PAPER "taylor", "step=0.01 order=4"               // as in the paper
#define SERIES "taylor,exponential", "step=0.01 order=6"  // order is for taylor
#define OTHERS "rk4,event-driven:rk4", "step=0.002"

static const Case cases[] = {
    RUN("4.1 Two masses, free", "two-mass-free", PAPER " until=30", free_masses_4),
    RUN("4.1 Two masses, free", "two-mass-free", SERIES " until=30", free_masses),
    RUN("4.1 Two masses, free, accelerations (fig. 1)", "two-mass-free", SERIES " until=30",
        free_accelerations),
    RUN("4.1 Two masses, coupled", "two-mass-coupled", PAPER " until=30", coupled),
    RUN("4.1 Two masses, coupled, accelerations (fig. 2)", "two-mass-coupled", SERIES " until=30",
        coupled_accelerations),
    RUN("4.1 Two masses, coupled", "two-mass-coupled", SERIES " until=30", coupled),
    RUN("4.2 Two masses, decoupling", "two-mass-release", PAPER " until=30", release_4),
    RUN("4.2 Two masses, decoupling", "two-mass-release", SERIES " until=30", release),
    RUN("4.2 Two masses, decoupling", "two-mass-release", OTHERS " until=30", release),
    BOTH("4.2 Two masses, decoupling, both sides", "two-mass-release", "", release_sides),
    RUN("4.2 Two masses, coupling at equal rates", "two-mass-engage", PAPER " until=30", engage_4),
    RUN("4.2 Two masses, coupling at equal rates", "two-mass-engage", SERIES " until=30", engage),
    RUN("4.2 Two masses, coupling at equal rates", "two-mass-engage", OTHERS " until=30", engage),
    BOTH("4.2 Two masses, coupling at equal rates, both sides", "two-mass-engage", "",
         engage_sides),
    RUN("4.3 Two masses, intentional control", "two-mass-control", PAPER, intentional_4),
    RUN("4.3 Two masses, intentional control", "two-mass-control", SERIES, intentional),
    RUN("4.3 Two masses, intentional control", "two-mass-control", OTHERS, intentional),
    BOTH("4.3 Two masses, intentional control, both sides", "two-mass-control", " until=6",
         intentional_sides),
    RUN("4.4 Two masses, damped, intentional control", "two-mass-damped", PAPER, damped_4),
    RUN("4.4 Two masses, damped, intentional control", "two-mass-damped", SERIES, damped),
    RUN("4.4 Two masses, damped, intentional control", "two-mass-damped", OTHERS, damped),
    BOTH("4.4 Two masses, damped, intentional control, both sides", "two-mass-damped", " until=6",
         damped_sides),
    {"1 A vibration absorber that is switched on", "vibration-absorber", "", "rk4",
     "step=2e-4 record=0.01", CASE_RUN, 0, 0, MATRIX, CHECKS(absorber)},
    {"1 A vibration absorber that is switched on", "vibration-absorber", "", "dopri",
     "step=0.01 rtol=1e-11", CASE_RUN, 0, 0, MATRIX, CHECKS(absorber)},
    {"1 A vibration absorber that is switched on, both sides", "vibration-absorber", "", "dopri",
     "step=0.01 rtol=1e-11 until=9", CASE_INSTANTS, 0, 0, MATRIX, CHECKS(absorber_sides)},
    {"1 A rotor that balances itself", "balancing", "", "dopri", "step=0.1 rtol=1e-11 atol=1e-15",
     CASE_RUN, 0, 0, MATRIX, CHECKS(balanced)},
    {"1, 5 A parallelogram through its change points", "four-bar", "", "rk4,dopri,event-driven:rk4",
     "", CASE_RUN, 0, 0, "quadrature, 40 digits", CHECKS(four_bar)},
};

const Paper paper_kovanda = {
    "kovanda",
    "J. Kovanda, J. Hozman: Equations of motion of mechanical systems with switchable constraints",
    (int)(sizeof cases / sizeof *cases), cases};
