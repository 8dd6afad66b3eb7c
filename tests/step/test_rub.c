// SPDX-License-Identifier: Apache-2.0
// Friction of contacts: closed forms (incline, belt, laws of mu, impacts with spin in the plane and
// in space), the conditions of Coulomb's law recomputed in every step, rest, energy, refusals.
#include <math.h>

#include "step/contacts.h"

static const char INCLINE[] =
    "model: incline\n"
    "parameters: {alpha: 0.5, mu: 0.6, v0: 2}\n"
    "coordinates: {x: {rate: v0}, y: }\n"
    "mass: {x: 2, y: 2}\n"
    "potential: 2*9.81*(x*sin(alpha) + y*cos(alpha))\n"
    "contacts: {plane: {gap: y, friction: mu, slip: x}}\n";

// A block with two feet, which slides and may tip over its front foot.
static const char BLOCK[] =
    "model: block\n"
    "parameters: {b: 0.2, c: 0.3, mu: 0.4, v0: 2, J: (b^2 + c^2)/3}\n"
    "coordinates: {x: {rate: v0}, y: {start: c}, p: }\n"
    "mass: {x: 1, y: 1, p: J}\n"
    "potential: 9.81*y\n"
    "contacts:\n"
    "  rear: {gap: y - b*sin(p) - c*cos(p), friction: mu, slip: x - b*cos(p) + c*sin(p)}\n"
    "  front: {gap: y + b*sin(p) - c*cos(p), friction: mu, slip: x + b*cos(p) + c*sin(p)}\n";

static const char PILE[] =
    "model: pile\n"
    "parameters: {B: 3, r: 0.1, mu: 0.8, s: 2.1*r, d: 'sqrt(4*r^2 - s^2/4)'}\n"
    "coordinates:\n"
    "  x[k=1..B,i=1..B-k+1]: {start: s*(i + (k-1)/2)}\n"
    "  y[k=1..B,i=1..B-k+1]: {start: r + d*(k-1)}\n"
    "  p[k=1..B,i=1..B-k+1]:\n"
    "define:\n"
    "  u[k=2..B,i=1..B-k+1,j=0..1]: x[k,i] - x[k-1,i+j]\n"
    "  v[k=2..B,i=1..B-k+1,j=0..1]: y[k,i] - y[k-1,i+j]\n"
    "mass:\n"
    "  x[k=1..B,i=1..B-k+1]: 1\n"
    "  y[k=1..B,i=1..B-k+1]: 1\n"
    "  p[k=1..B,i=1..B-k+1]: r^2/2\n"
    "potential: {for k=1..B: {for i=1..B-k+1: '9.81*y[k,i]'}}\n"
    "contacts:\n"
    "  ground[i=1..B]: {gap: 'y[1,i] - r', friction: mu, slip: \"x[1,i]' + r*p[1,i]'\"}\n"
    "  pair[k=2..B,i=1..B-k+1,j=0..1]:\n"
    "    gap: hypot(u[k,i,j], v[k,i,j]) - 2*r\n"
    "    friction: mu\n"
    "    slip: \"(v[k,i,j]*u[k,i,j]' - u[k,i,j]*v[k,i,j]')/hypot(u[k,i,j], v[k,i,j]) +\n"
    "      r*(p[k,i]' + p[k-1,i+j]')\"\n";

// ---- the law, recomputed ------------------------------------------------------------------------
// The rate of row i at a state, and its size.
static double rate_of(Motion* m, PawlEval* eval, int i, double* size) {
  PawlPoint point = state_point(m->state);
  NEED(pawl_eval_run(eval, &point, &m->err), &m->err);
  const PawlValues* values = pawl_eval_values(eval);
  PawlPattern G = pawl_system_pattern_G(m->system);
  double rate = values->g_t[i];
  *size = fabs(rate) + 1e-3;
  for (int j = 0; j < G.cols; j++) {
    for (int e = G.start[j]; e < G.start[j + 1]; e++) {
      double term = G.index[e] == i ? values->G[e] * m->state->v[j] : 0.0;
      rate += term;
      *size += fabs(term);
    }
  }
  return rate;
}

// |lambda_T| <= mu lambda_N; where it slips, lambda_T = -mu lambda_N against the slip. Contact k,
// the first of `of` rows of friction is row t, planar. Returns 0 open, 1 sticks, 2 slips.
static int check_law(Motion* m, PawlEval* eval, int contact, int t, double mu) {
  double lambda[MOTION_MOST], size;
  NEED(pawl_stepper_multipliers(m->stepper, m->state, lambda, &m->err), &m->err);
  double N = lambda[contact], T = lambda[t], u = rate_of(m, eval, t, &size);
  assert_true(N >= 0.0 && fabs(T) <= mu * N * (1.0 + 1e-9));
  if (N > 0.0 && fabs(u) > 1e-8 * size) {
    CHECK_NEAR(T, -copysign(mu * N, u), 1e-7 * mu * N);
  }
  double gap_size, rate = rate_of(m, eval, contact, &gap_size);
  assert_true(N == 0.0 || rate >= -1e-8 * gap_size);
  return N == 0.0 ? 0 : fabs(u) > 1e-8 * size ? 2 : 1;
}

static PawlEval* rates(Motion* m) {
  PawlEval* eval = NULL;
  NEED(pawl_eval_create(m->system, PAWL_POSITION | PAWL_GRADIENT | PAWL_TIME_GRADIENT, &eval,
                        &m->err),
       &m->err);
  return eval;
}

static void test_law_in_every_step(void** unused) {
  (void)unused;
  static const char* const texts[] = {INCLINE, BLOCK, PILE};
  static const char* const settings[] = {"mu=0.3", "mu=0.9", "mu=0.2"};
  static const double mu[] = {0.3, 0.9, 0.2};
  for (int k = 0; k < METHOD_COUNT * 3; k++) {
    Motion m = text_with(texts[k % 3], settings[k % 3]);
    PawlEval* eval = rates(&m);
    int seen[3] = {0, 0, 0}, contacts = m.n.rows / 2;
    motion_start(&m, METHODS[k / 3]);
    for (int step = 0; step < 300; step++) {
      motion_step(&m, 1e-3);
      for (int c = 0; c < contacts; c++) {
        seen[check_law(&m, eval, contacts + c, c, mu[k % 3])]++;
      }
    }
    assert_true(seen[2] > 20 && (k % 3 == 0 || seen[0] + seen[1] > 0));
    pawl_eval_destroy(eval);
    motion_end(&m);
  }
}

// ---- closed forms -------------------------------------------------------------------------------
// Thrown up, it stops after v0/a and stays there, or slides back.
static void test_incline(void** unused) {
  (void)unused;
  const double g = 9.81, alpha = 0.5, v0 = 2.0;
  for (int k = 0; k < 2 * METHOD_COUNT; k++) {
    bool sticks = k % 2 == 0;
    double mu = sticks ? 0.6 : 0.3, up = g * (sin(alpha) + mu * cos(alpha)), t1 = v0 / up;
    double down = sticks ? 0.0 : g * (sin(alpha) - mu * cos(alpha));
    double x = v0 * v0 / (2 * up) - down * (1 - t1) * (1 - t1) / 2, off[2];
    for (int i = 0; i < 2; i++) {
      Motion m = text_with(INCLINE, sticks ? "mu=0.6" : "mu=0.3");
      motion_run(&m, METHODS[k / 2], 1.0, i ? 2000 : 1000, NULL);
      off[i] = fabs(m.state->q[0] - x);
      CHECK_NEAR(m.state->v[0], -down * (1 - t1), sticks ? 1e-12 : 3e-3);
      CHECK_NEAR(m.state->q[1], 0.0, 1e-14);
      motion_end(&m);
    }
    assert_true(off[0] < 2e-3 && off[1] < 1e-3);  // a step in which it stops: v h at most
  }
}

// A block at rest on an incline does not creep, whatever the method does inside of a step.
static void test_no_creep(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = text_with(INCLINE, "v0=0");
    motion_run(&m, METHODS[k], 20.0, 20000, NULL);
    CHECK_NEAR(m.state->q[0], 0.0, 1e-13);
    CHECK_NEAR(m.state->v[0], 0.0, 1e-13);
    motion_end(&m);
  }
}

// Sliding on two feet: forces by the balance of moments, N = m g/2 (1 +- mu c/b). It tips over the
// front foot for mu > b/c.
static void test_block(void** unused) {
  (void)unused;
  const double b = 0.2, c = 0.3, mu = 0.4, g = 9.81;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = text_with(BLOCK, "mu=0.4");
    double lambda[4];
    motion_run(&m, METHODS[k], 0.2, 200, NULL);
    NEED(pawl_stepper_multipliers(m.stepper, m.state, lambda, &m.err), &m.err);
    CHECK_NEAR(lambda[2], g / 2 * (1 - mu * c / b), 1e-6);
    CHECK_NEAR(lambda[3], g / 2 * (1 + mu * c / b), 1e-6);
    CHECK_NEAR(m.state->v[0], 2.0 - mu * g * 0.2, 1e-9);
    motion_end(&m);
    m = text_with(BLOCK, "mu=0.8");
    motion_run(&m, METHODS[k], 0.01, 100, NULL);
    // What the front foot carries turns it about its centre, J p'' = (b - mu c) N; the foot stays,
    // y'' = -b p'' at the beginning: N = m g/(1 - b (mu c - b)/J).
    double J = (b * b + c * c) / 3, moment = 0.8 * c - b, N = g / (1 - b * moment / J);
    CHECK_NEAR(m.state->v[2], -moment * N / J * 0.01, 0.01 * moment * N / J * 0.01);
    motion_end(&m);
  }
}

// On a belt of speed 1, pressed by N = 10 (1 + sin(5 t)/2): x'' = mu N until it goes along.
static void test_belt(void** unused) {
  (void)unused;
  static const char text[] =
      "model: belt\n"
      "coordinates: {x: , y: }\nmass: {x: 4, y: 4}\n"
      "forces: {y: '-10*(1 + sin(5*t)/2)'}\n"
      "contacts: {belt: {gap: y, friction: 0.5, slip: x' - 1}}\n";
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(text);
    double t = 0.6, v = 0.5 * 10 / 4 * (t + (1 - cos(5 * t)) / 10), off[2];
    for (int i = 0; i < 2; i++) {
      motion_run(&m, METHODS[k], t, i ? 600 : 300, NULL);
      off[i] = fabs(m.state->v[0] - v);
    }
    assert_true(off[0] < 2e-3 && off[1] < 0.6 * off[0] + 1e-12);  // order 1 or better
    motion_run(&m, METHODS[k], 2.0, 1000, NULL);
    CHECK_NEAR(m.state->v[0], 1.0, 1e-12);
    motion_end(&m);
  }
}

// Pulled by 2 t: it breaks loose at mu_s m g and goes on with mu_k m g.
static void test_static_and_kinetic(void** unused) {
  (void)unused;
  static const char text[] =
      "model: pull\n"
      "coordinates: {x: , y: }\nmass: {x: 1, y: 1}\npotential: 10*y\nforces: {x: 2*t}\n"
      "contacts: {f: {gap: y, friction: {static: 0.4, kinetic: 0.3}, slip: x}}\n";
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(text);
    motion_run(&m, METHODS[k], 1.99, 1990, NULL);
    CHECK_NEAR(m.state->v[0], 0.0, 1e-12);
    motion_run(&m, METHODS[k], 3.0, 3000, NULL);
    CHECK_NEAR(m.state->v[0], (9.0 - 4.0) - 3.0 * 1.0, 5e-3);
    motion_end(&m);
  }
}

// Thrown up a slope of tan 0.45, with mu_k = 0.05 it would slide back: mu_s = 0.5 holds it where it
// comes to rest, whatever part of the step that is, 0.44 does not; a slip in space alike.
static void test_static_holds_what_turns(void** unused) {
  (void)unused;
  static const char text[] =
      "model: thrown\nparameters: {mu: %s, g: 10, a: atan(0.45)}\n"
      "coordinates: {x: {rate: 1}, y: , z: }\nmass: {x: 1, y: 1, z: 1}\n"
      "potential: g*(y*cos(a) + x*sin(a))\n"
      "contacts: {f: {gap: y, friction: {static: mu, kinetic: 0.05}, slip: %s}}\n";
  static const char* const slips[] = {"x'", "[x', z']"};
  double s = 10.0 * sin(atan(0.45)), N = 10.0 * cos(atan(0.45));
  double stop = 1.0 / (s + 0.05 * N), back = (s - 0.05 * N) * (1.0 - stop);
  for (int k = 0; k < 2 * METHOD_COUNT; k++) {
    char held[512], loose[512];
    snprintf(held, sizeof held, text, "0.5", slips[k / METHOD_COUNT]);
    snprintf(loose, sizeof loose, text, "0.44", slips[k / METHOD_COUNT]);
    for (int steps = 90; steps < 110; steps += 3) {
      Motion m = motion_text(held);
      motion_run(&m, METHODS[k % METHOD_COUNT], 1.0, steps, NULL);
      CHECK_NEAR(m.state->v[0], 0.0, 1e-15);
      CHECK_NEAR(m.state->q[0], 0.5 * stop, 2e-4);  // a step squared: rest comes at the end of one
      motion_end(&m);
      m = motion_text(loose);
      motion_run(&m, METHODS[k % METHOD_COUNT], 1.0, steps, NULL);
      // it may rest for the end of one step, and break loose by mu_s in the next
      CHECK_NEAR(m.state->v[0], -back, 2.0 * (s - 0.05 * N) / steps);
      motion_end(&m);
    }
  }
}

// mu = 0.1 + 0.05 slip: v' = -g mu has v = (v0 + 2) exp(-g/20 t) - 2.
static void test_friction_of_slip(void** unused) {
  (void)unused;
  static const char text[] =
      "model: viscous\n"
      "coordinates: {x: {rate: -3}, y: }\nmass: {x: 1, y: 1}\npotential: 10*y\n"
      "contacts: {f: {gap: y, friction: 0.1 + 0.05*slip, slip: x}}\n";
  double off[2];
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(text);
    for (int i = 0; i < 2; i++) {
      motion_run(&m, METHODS[k], 1.0, i ? 2000 : 1000, NULL);
      off[i] = fabs(m.state->v[0] + (3.0 + 2.0) * exp(-0.5) - 2.0);
    }
    assert_true(off[0] < 1e-3);
    CHECK_NEAR(off[0] / off[1], 2.0, 0.05);  // mu is that of the beginning of a step
    motion_end(&m);
  }
}

// A solid ball hits the ground without gravity: the normal rate turns by e; its contact point stops
// where 2/7 of its slip is at most mu (1 + e) of the normal rate, and slips on else.
static void test_ball_in_space(void** unused) {
  (void)unused;
  static const char text[] =
      "model: ball\n"
      "parameters: {w: 2, r: 0.1, mu: 0.3}\n"
      "coordinates: {x: {rate: 3*w/5}, y: {rate: 4*w/5}, z: {start: r + 0.0105, rate: -1}, a: , b: "
      "}\n"
      "mass: {x: 1, y: 1, z: 1, a: 0.4*r^2, b: 0.4*r^2}\n"
      "contacts: {f: {gap: z - r, restitution: 0.5, friction: mu, slip: [\"x' - r*b'\", \"y' + "
      "r*a'\"]}}\n";
  for (int k = 0; k < 2 * METHOD_COUNT; k++) {
    double w = k % 2 ? 1.0 : 2.0, tangential = fmin(2.0 / 7 * w, 0.3 * 1.5);
    Motion m = text_with(text, k % 2 ? "w=1" : "w=2");
    motion_run(&m, METHODS[k / 2], 0.02, 20, NULL);
    const double* v = m.state->v;
    CHECK_NEAR(v[2], 0.5, 1e-12);
    CHECK_NEAR(v[0], 0.6 * (w - tangential), 1e-11);
    CHECK_NEAR(v[1], 0.8 * (w - tangential), 1e-11);
    CHECK_NEAR(v[3] * 0.1, -0.8 * tangential * 2.5, 1e-11);
    CHECK_NEAR(v[4] * 0.1, 0.6 * tangential * 2.5, 1e-11);
    motion_end(&m);
  }
}

// Two slips as a list and as a vector are the same.
static void test_slip_of_vector(void** unused) {
  (void)unused;
#define SLIDER(slip)                                                                      \
  "model: slider\ncoordinates: {x: {rate: 1}, y: {rate: 0.5}, z: }\n"                     \
  "mass: {x: 1, y: 1, z: 1}\npotential: 9.81*z\ndefine: {p: '[x, y]', w: \"[x', y']\"}\n" \
  "contacts: {floor: {gap: z, friction: 0.3, slip: " slip "}}\n"
  static const char* const texts[] = {SLIDER("[x, y]"), SLIDER("p"), SLIDER("w")};
#undef SLIDER
  double end[3][2];
  for (int k = 0; k < 3; k++) {
    Motion m = motion_text(texts[k]);
    motion_run(&m, "moreau-jean", 0.1, 100, NULL);
    memcpy(end[k], m.state->q, sizeof *end);
    motion_end(&m);
  }
  assert_memory_equal(end[1], end[0], sizeof *end);
  assert_memory_equal(end[2], end[0], sizeof *end);
}

// A disc that rolls in a bowl, as a pendulum of the length (R - r) (1 + c): second order.
static void test_bowl(void** unused) {
  (void)unused;
  static const char text[] =
      "model: bowl\nparameters: {R: 1, r: 0.1, c: 0.4}\n"
      "coordinates: {x: {start: (R-r)*sin(0.3)}, y: {start: R - (R-r)*cos(0.3)}, p: }\n"
      "mass: {x: 1, y: 1, p: c*r^2}\npotential: 9.81*y\n"
      "define: {d: '[x, y - R]', n: d/norm(d)}\n"
      "contacts: {bowl: {gap: R - r - norm(d), friction: 0.5, slip: \"x'*(-n.y) + y'*n.x + "
      "r*p'\"}}\n";
  Motion one = motion_text(
      "model: pendulum\ncoordinates: {q: {start: 0.3}}\nmass: {q: 1}\n"
      "potential: -9.81/(0.9*1.4)*cos(q)\n");
  motion_run(&one, "rk4", 1.0, 10000, NULL);
  for (int k = 0; k < 2; k++) {  // moreau-jean has the gradient of the end
    double off[2];
    for (int i = 0; i < 2; i++) {
      Motion m = motion_text(text);
      motion_run(&m, METHODS[k], 1.0, 500 << i, NULL);
      off[i] = fabs(m.state->q[0] - 0.9 * sin(one.state->q[0]));
      motion_end(&m);
    }
    assert_true(off[0] < 2e-5 && off[0] > 3.0 * off[1]);
  }
  motion_end(&one);
}

// ---- rest and energy ----------------------------------------------------------------------------
static void test_pile_rests(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = motion_text(PILE);
    double start[MOTION_MOST], position;
    pawl_system_start(m.system, start, start + m.n.q);
    motion_run(&m, METHODS[k], 2.0, 2000, &position);
    assert_true(position < 1e-9);
    for (int j = 0; j < m.n.q; j++) {
      CHECK_NEAR(m.state->q[j], start[j], 1e-12);
      CHECK_NEAR(m.state->v[j], 0.0, 1e-12);
    }
    motion_end(&m);
  }
}

static double kinetic(const Motion* m, double J) {
  const double* v = m->state->v;
  return 0.5 * (v[0] * v[0] + v[1] * v[1] + J * v[2] * v[2]);
}

// A rod that hits the ground with its tip, at random: no impact brings in energy, though Newton's
// law alone would in some (T. R. Kane's paradox).
static void test_no_energy_from_impacts(void** unused) {
  (void)unused;
  unsigned long long seed = 7;
  for (int k = 0; k < 300; k++) {
    double r[4];
    for (int i = 0; i < 4; i++) {
      seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
      r[i] = (double)(seed >> 11) * 0x1p-53;
    }
    char text[600];
    snprintf(text, sizeof text,
             "model: rod\ncoordinates: {x: {rate: %.17g}, y: {start: 'sin(%.17g) + 0.004', rate: "
             "-1}, p: {start: %.17g, rate: %.17g}}\nmass: {x: 1, y: 1, p: 0.3}\n"
             "contacts: {tip: {gap: y - sin(p), restitution: 0.9, friction: %.17g, slip: x - "
             "cos(p)}}\n",
             6 * r[0] - 3, 1.4 * r[1] + 0.1, 1.4 * r[1] + 0.1, 4 * r[2] - 2, 1.5 * r[3]);
    Motion m = motion_text(text);
    motion_start(&m, METHODS[k % METHOD_COUNT]);
    double before = kinetic(&m, 0.3);
    for (int i = 0; i < 20; i++) {
      motion_step(&m, 1e-3);
    }
    assert_true(kinetic(&m, 0.3) <= before * (1 + 1e-3));
    motion_end(&m);
  }
}

// A run that is copied to another stepper goes on with the same bits.
static void test_copied(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT * 2; k++) {
    Motion one = text_with(k % 2 ? PILE : BLOCK, "mu=0.5"),
           other = text_with(k % 2 ? PILE : BLOCK, "mu=0.5");
    motion_start(&one, METHODS[k / 2]);
    motion_start(&other, METHODS[k / 2]);
    for (int i = 0; i < 40; i++) {
      motion_step(&one, 1e-3);
    }
    NEED(pawl_state_copy(other.stepper, other.state, one.stepper, one.state, &one.err), &one.err);
    for (int i = 0; i < 40; i++) {
      motion_step(&one, 1e-3);
      motion_step(&other, 1e-3);
    }
    assert_memory_equal(one.state->q, other.state->q, (size_t)one.n.q * sizeof(double));
    assert_memory_equal(one.state->v, other.state->v, (size_t)one.n.v * sizeof(double));
    motion_end(&one);
    motion_end(&other);
  }
}

// No step allocates, once the first have found their pivots.
static void test_no_allocation(void** unused) {
  (void)unused;
  for (int k = 0; k < METHOD_COUNT; k++) {
    Motion m = text_with(BLOCK, "mu=0.9");
    motion_start(&m, METHODS[k]);
    motion_step(&m, 1e-3);
    long long before = pawl_alloc_count();
    for (int i = 0; i < 200; i++) {
      motion_step(&m, 1e-3);
    }
    assert_int_equal(pawl_alloc_count(), before);
    motion_end(&m);
  }
}

// ---- refusals -----------------------------------------------------------------------------------
static void test_refusals(void** unused) {
  (void)unused;
  Motion m = motion_text(INCLINE);
  assert_false(motion_can(&m, "rk4"));
  assert_false(motion_can(&m, "php"));
  assert_non_null(strstr(m.err.message, "the friction of the contacts"));
  assert_true(motion_can(&m, "nsga-pva"));
  motion_end(&m);
  m = motion_text(
      "model: ice\ncoordinates: {x: {rate: 1}, y: }\nmass: {x: 1, y: 1}\npotential: 10*y\n"
      "contacts: {f: {gap: y, friction: 0.1 - x, slip: x}}\n");
  for (int k = 0; k < METHOD_COUNT; k++) {
    motion_start(&m, METHODS[k]);
    PawlStatus status = PAWL_OK;
    for (int i = 0; i < 200 && status == PAWL_OK; i++) {
      status = pawl_stepper_step(m.stepper, m.state, 1e-3, &m.err);
    }
    assert_int_equal(status, PAWL_ERROR_RUN);
    assert_non_null(strstr(m.err.message, "the friction of contact 'f' is -0.00"));
  }
  motion_end(&m);
}

// Rates of a body's own axes, turned by its quaternion.
static void turn_out(const double* q, const double* w, double* out) {
  double t[3];
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    t[i] = 2.0 * (q[1 + j] * w[k] - q[1 + k] * w[j]);
  }
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    out[i] = w[i] + q[0] * t[i] + q[1 + j] * t[k] - q[1 + k] * t[j];
  }
}

// A spinning sphere, thrown onto the ground: what each step does to its momentum along the ground
// is friction against the slip that is left. Its slips are rates of a body whose axes turn. (N85)
static void test_thrown_sphere(void** unused) {
  (void)unused;
  static const char* const methods[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
  const double mu = 0.3, g = 9.81, r = 0.08, h = 2e-3;
  int slips = 0;
  for (int k = 0; k < 24; k++) {
    char text[600];
    double a = 1.7 * k, worst = 0.0;
    snprintf(text, sizeof text,
             "model: s\nmechanism: {gravity: [0, 0, -%g]}\nbodies:\n"
             "  ground: {shapes: {table: {plane: {}}}}\n"
             "  s: {shape: {sphere: %g}, mass: 2, inertia: [0.01, 0.01, 0.01],\n"
             "    start: {at: [0, 0, 0.1]},\n"
             "    rate: {velocity: [%.3f, %.3f, 0.4], omega: [%.3f, %.3f, %.3f]}}\n"
             "contacts: {f: {between: [ground.table, s], friction: %g, restitution: 0.2}}\n",
             g, r, 2 * cos(a), 2 * sin(a), 9 * sin(2 * a), 9 * cos(3 * a), 9 * sin(5 * a + 1), mu);
    Motion m = motion_text(text);
    motion_start(&m, methods[k % 3]);
    for (int step = 0; step < 200; step++) {
      double before[3], u[2], P[2], *v = m.state->v, w[3];
      memcpy(before, v, sizeof before);
      motion_step(&m, h);
      turn_out(m.state->q + 3, v + 3, w);  // to the axes of the ground
      u[0] = v[0] - r * w[1];
      u[1] = v[1] + r * w[0];
      P[0] = 2.0 * (v[0] - before[0]);
      P[1] = 2.0 * (v[1] - before[1]);
      double N = 2.0 * (v[2] - before[2] + g * h), slip = hypot(u[0], u[1]);
      if (N > 1e-6 && slip > 1e-3) {
        worst = fmax(worst, hypot(P[0] + mu * N * u[0] / slip, P[1] + mu * N * u[1] / slip) / N);
        slips++;
      }
    }
    CHECK_NEAR(worst, 0.0, 1e-8);
    motion_end(&m);
  }
  assert_true(slips > 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_law_in_every_step),
      cmocka_unit_test(test_incline),
      cmocka_unit_test(test_no_creep),
      cmocka_unit_test(test_block),
      cmocka_unit_test(test_belt),
      cmocka_unit_test(test_static_and_kinetic),
      cmocka_unit_test(test_static_holds_what_turns),
      cmocka_unit_test(test_friction_of_slip),
      cmocka_unit_test(test_ball_in_space),
      cmocka_unit_test(test_slip_of_vector),
      cmocka_unit_test(test_bowl),
      cmocka_unit_test(test_pile_rests),
      cmocka_unit_test(test_no_energy_from_impacts),
      cmocka_unit_test(test_copied),
      cmocka_unit_test(test_no_allocation),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_thrown_sphere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
