// SPDX-License-Identifier: Apache-2.0
// Random trees and loops of bodies in space against Newton and Euler: with the accelerations that
// pawl finds, places, velocities and accelerations of all bodies are computed outwards joint by
// joint, forces of inertia from them, and their power along the velocity of each joint value must
// be zero (with the force of the joint that closes a loop, which pawl gives, too). Nothing of this
// is derived from energies.
//   w2 = w1 + F w,  S = P + F d,  F = R1 turn,  R2 = F Q
#include "few.h"
#include "switch/random_numbers.h"
#include "switch/runs.h"

enum { MOST = 5, MOST_VALUES = 3, ROOM = 8192 };

typedef struct Vec {
  double x[3];
} Vec;
typedef struct Mat {
  double m[3][3];
} Mat;

// ---- vectors ----------------------------------------------------------------------------------

static Vec add(Vec a, Vec b) {
  return (Vec){{a.x[0] + b.x[0], a.x[1] + b.x[1], a.x[2] + b.x[2]}};
}
static Vec scale(double k, Vec a) {
  return (Vec){{k * a.x[0], k * a.x[1], k * a.x[2]}};
}
static Vec cross(Vec a, Vec b) {
  return (Vec){{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2],
                a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}
static double dot(Vec a, Vec b) {
  return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}
static Vec apply(const Mat* A, Vec v) {
  Vec out;
  for (int i = 0; i < 3; i++) {
    out.x[i] = A->m[i][0] * v.x[0] + A->m[i][1] * v.x[1] + A->m[i][2] * v.x[2];
  }
  return out;
}
static Vec back(const Mat* A, Vec v) {
  Vec out;
  for (int i = 0; i < 3; i++) {
    out.x[i] = A->m[0][i] * v.x[0] + A->m[1][i] * v.x[1] + A->m[2][i] * v.x[2];
  }
  return out;
}
static Mat times(const Mat* A, const Mat* B) {
  Mat out;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out.m[i][j] = A->m[i][0] * B->m[0][j] + A->m[i][1] * B->m[1][j] + A->m[i][2] * B->m[2][j];
    }
  }
  return out;
}
// By the formula of Rodrigues; `u` of length 1.
static Mat turn_by(Vec u, double angle) {
  Mat out;
  double c = cos(angle), s = sin(angle);
  Vec e[3] = {{{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}};
  for (int j = 0; j < 3; j++) {
    Vec v = add(scale(c, e[j]), add(scale(s, cross(u, e[j])), scale((1 - c) * dot(u, e[j]), u)));
    for (int i = 0; i < 3; i++) {
      out.m[i][j] = v.x[i];
    }
  }
  return out;
}

// ---- mechanisms -------------------------------------------------------------------------------

typedef enum Type { REVOLUTE, PRISMATIC, CYLINDRICAL, SCREW, UNIVERSAL, SPHERICAL, WELD } Type;
static const struct {
  const char* word;
  int values;
} types[] = {{"revolute", 1},  {"prismatic", 1}, {"cylindrical", 2}, {"screw", 1},
             {"universal", 2}, {"spherical", 3}, {"weld", 0}};

typedef struct Link {  // a body with the joint that carries it
  Type type;
  int parent;  // -1: the ground
  Vec at[2], axis, axis2, turn_axis, centre, inertia, product;
  double turn_angle, pitch, mass;
  double q[MOST_VALUES], v[MOST_VALUES], a[MOST_VALUES];
} Link;

typedef struct Motion {  // of a body: its frame, angular velocity and that of its origin, rates
  Mat R;
  Vec p, w, v, alpha, a;
} Motion;

typedef struct Mechanism {
  int count;
  Link link[MOST];
  bool loop;  // the last body hangs on the ground by a ball, too
  Vec hook, force;
} Mechanism;

static double between(Random* r, double low, double high) {
  return low + (high - low) * uniform(r);
}
static Vec random_vector(Random* r, double size) {
  Vec v;
  for (int k = 0; k < 3; k++) {
    v.x[k] = between(r, -size, size);
  }
  return v;
}
static Vec unit(Vec v) {
  return scale(1.0 / sqrt(dot(v, v)), v);
}

static Link random_link(Random* r, int parent) {
  Link link = {.type = (Type)whole(r, 0, 6), .parent = parent};
  link.at[0] = random_vector(r, 0.5);
  link.at[1] = random_vector(r, 0.5);
  link.axis = unit(random_vector(r, 1));
  link.axis2 = unit(cross(link.axis, random_vector(r, 1)));
  link.turn_axis = unit(random_vector(r, 1));
  link.turn_angle = between(r, -2, 2);
  link.pitch = between(r, 0.1, 1);
  link.mass = between(r, 0.5, 2);
  link.centre = random_vector(r, 0.3);
  link.inertia = (Vec){{between(r, 0.3, 0.6), between(r, 0.3, 0.6), between(r, 0.3, 0.6)}};
  link.product = random_vector(r, 0.05);
  for (int k = 0; k < MOST_VALUES; k++) {
    link.q[k] = link.type == SPHERICAL ? 0.0 : between(r, -1, 1);
    link.v[k] = between(r, -1, 1);
  }
  return link;
}

// ---- Newton and Euler -------------------------------------------------------------------------

typedef struct Relative {
  Mat Q;
  Vec w, wdot, d, ddot, dddot;  // in the axes F
} Relative;

static Relative relative(const Link* l, const double v[], const double a[]) {
  Vec none = {{0, 0, 0}};
  Relative r = {turn_by(l->axis, 0), none, none, none, none, none};
  bool turns =
      l->type == REVOLUTE || l->type == CYLINDRICAL || l->type == SCREW || l->type == UNIVERSAL;
  if (turns) {
    r.Q = turn_by(l->axis, l->q[0]);
    r.w = scale(v[0], l->axis);
    r.wdot = scale(a[0], l->axis);
  }
  int along = l->type == CYLINDRICAL ? 1 : 0;
  double ahead = l->type == SCREW ? l->pitch / (2 * acos(-1.0)) : 1.0;
  if (l->type == PRISMATIC || l->type == CYLINDRICAL || l->type == SCREW) {
    r.d = scale(ahead * l->q[along], l->axis);
    r.ddot = scale(ahead * v[along], l->axis);
    r.dddot = scale(ahead * a[along], l->axis);
  }
  if (l->type == UNIVERSAL) {
    Vec second = apply(&r.Q, l->axis2);
    Mat turned = turn_by(l->axis2, l->q[1]);
    r.wdot = add(r.wdot, add(scale(a[1], second), scale(v[1], cross(r.w, second))));
    r.w = add(r.w, scale(v[1], second));
    r.Q = times(&r.Q, &turned);
  }
  if (l->type == SPHERICAL) {  // starts without rotation: the axes of both are the same
    r.w = (Vec){{v[0], v[1], v[2]}};
    r.wdot = (Vec){{a[0], a[1], a[2]}};
  }
  return r;
}

static Motion point_of(const Motion* m, Vec local) {
  Vec arm = apply(&m->R, local);
  Motion at = *m;
  at.p = add(m->p, arm);
  at.v = add(m->v, cross(m->w, arm));
  at.a = add(m->a, add(cross(m->alpha, arm), cross(m->w, cross(m->w, arm))));
  return at;
}

static Motion carry(const Motion* parent, const Link* l, const double v[], const double a[]) {
  Relative r = relative(l, v, a);
  Mat turn = turn_by(l->turn_axis, l->turn_angle), F = times(&parent->R, &turn);
  Motion at = point_of(parent, l->at[0]), out;
  Vec d = apply(&F, r.d), ddot = apply(&F, r.ddot), w = apply(&F, r.w);
  at.p = add(at.p, d);
  at.a =
      add(at.a, add(cross(at.alpha, d), add(cross(at.w, cross(at.w, d)),
                                            add(scale(2, cross(at.w, ddot)), apply(&F, r.dddot)))));
  at.v = add(at.v, add(cross(at.w, d), ddot));
  out = at;
  out.R = times(&F, &r.Q);
  out.alpha = add(at.alpha, add(apply(&F, r.wdot), cross(at.w, w)));
  out.w = add(at.w, w);
  return point_of(&out, scale(-1, l->at[1]));  // from the joint to the origin of the frame
}

// All bodies, where the rates are those of the mechanism, or 1 for one value and 0 for all others
// (`only` >= 0), without accelerations.
static void move_all(const Mechanism* m, int only, Motion out[]) {
  Motion ground = {.R = turn_by((Vec){{0, 0, 1}}, 0)};
  int first = 0;
  for (int k = 0; k < m->count; k++) {
    const Link* l = &m->link[k];
    double v[MOST_VALUES], a[MOST_VALUES];
    for (int i = 0; i < MOST_VALUES; i++) {
      v[i] = only >= 0 ? (only == first + i && i < types[l->type].values) : l->v[i];
      a[i] = only >= 0 ? 0.0 : l->a[i];
    }
    first += types[l->type].values;
    out[k] = carry(l->parent < 0 ? &ground : &out[l->parent], l, v, a);
  }
}

// J w in the axes of the ground.
static Vec turn_momentum(const Link* l, const Mat* R, Vec w) {
  Vec s = back(R, w), p = l->product, J = l->inertia;
  Vec h = {{J.x[0] * s.x[0] + p.x[0] * s.x[1] + p.x[1] * s.x[2],
            p.x[0] * s.x[0] + J.x[1] * s.x[1] + p.x[2] * s.x[2],
            p.x[1] * s.x[0] + p.x[2] * s.x[1] + J.x[2] * s.x[2]}};
  return apply(R, h);
}

// The power of all forces along a unit rate of one value.
static double power(const Mechanism* m, int value) {
  Motion real[MOST], virtual[MOST];
  double sum = 0.0;
  move_all(m, -1, real);
  move_all(m, value, virtual);
  for (int k = 0; k < m->count; k++) {
    const Link* l = &m->link[k];
    Motion c = point_of(&real[k], l->centre), along = point_of(&virtual[k], l -> centre);
    Vec weight = {{0, 0, -9.81}};
    Vec f = scale(l->mass, add(weight, scale(-1, c.a)));
    Vec n = add(turn_momentum(l, &c.R, c.alpha), cross(c.w, turn_momentum(l, &c.R, c.w)));
    sum += dot(f, along.v) - dot(n, along.w);
  }
  if (m->loop) {
    Motion hook = point_of(&virtual[m->count - 1], m -> hook);
    sum += dot(m->force, hook.v);
  }
  return sum;
}

// ---- texts ------------------------------------------------------------------------------------

static const char* say(Vec v) {
  static char room[8][96];
  static int next = 0;
  char* out = room[next++ % 8];
  snprintf(out, 96, "[%.17g, %.17g, %.17g]", v.x[0], v.x[1], v.x[2]);
  return out;
}

static int write_values(char* text, size_t room, const Link* l, const char* key, const double x[]) {
  int values = types[l->type].values, used = 0;
  if (values == 0 || (l->type == SPHERICAL && strcmp(key, "start") == 0)) {
    return 0;
  }
  used += snprintf(text, room, ", %s: %s", key, values > 1 ? "[" : "");
  for (int k = 0; k < values; k++) {
    used += snprintf(text + used, room - (size_t)used, "%s%.17g", k ? ", " : "", x[k]);
  }
  return used + snprintf(text + used, room - (size_t)used, "%s", values > 1 ? "]" : "");
}

static void write_text(const Mechanism* m, char* text) {
  int used = snprintf(text, ROOM, "model: m\nmechanism: {gravity: [0, 0, -9.81]}\nbodies:\n");
  for (int k = 0; k < m->count; k++) {
    const Link* l = &m->link[k];
    const double *J = l->inertia.x, *p = l->product.x;
    used +=
        snprintf(text + used, ROOM - (size_t)used,
                 "  b%d: {mass: %.17g, centre: %s, inertia: [[%.17g, %.17g, %.17g], [%.17g, "
                 "%.17g, %.17g], [%.17g, %.17g, %.17g]]}\n",
                 k, l->mass, say(l->centre), J[0], p[0], p[1], p[0], J[1], p[2], p[1], p[2], J[2]);
  }
  used += snprintf(text + used, ROOM - (size_t)used, "joints:\n");
  for (int k = 0; k < m->count; k++) {
    const Link* l = &m->link[k];
    char parent[16] = "ground";
    if (l->parent >= 0) {
      snprintf(parent, sizeof parent, "b%d", l->parent);
    }
    used += snprintf(text + used, ROOM - (size_t)used,
                     "  j%d: {%s: [%s, b%d], at: [%s, %s], axis: %s, turn: \"rotation(%s, %.17g)\"",
                     k, types[l->type].word, parent, k, say(l->at[0]), say(l->at[1]), say(l->axis),
                     say(l->turn_axis), l->turn_angle);
    if (l->type == UNIVERSAL) {
      used += snprintf(text + used, ROOM - (size_t)used, ", axis2: %s", say(l->axis2));
    }
    if (l->type == SCREW) {
      used += snprintf(text + used, ROOM - (size_t)used, ", pitch: %.17g", l->pitch);
    }
    used += write_values(text + used, ROOM - (size_t)used, l, "start", l->q);
    used += write_values(text + used, ROOM - (size_t)used, l, "rate", l->v);
    used += snprintf(text + used, ROOM - (size_t)used, "}\n");
  }
  if (m->loop) {
    Motion at[MOST];
    move_all(m, -1, at);
    Motion hook = point_of(&at[m->count - 1], m->hook);
    used += snprintf(text + used, ROOM - (size_t)used,
                     "  close: {spherical: [ground, b%d], at: [%s, %s], cut: true}\n", m->count - 1,
                     say(hook.p), say(m->hook));
  }
  used += snprintf(text + used, ROOM - (size_t)used,
                   "coordinates: {idle: }\nmass: {idle: 1}\nsimulate: {method: rk4, until: 1e-6, "
                   "step: 1e-6}\n");
  assert_true(used < ROOM);
}

// ---- the comparison ---------------------------------------------------------------------------

static double first_value(const Run* run, const char* name) {
  const PawlRecorder* recorder = pawl_sim_recorder(run->sim);
  for (int k = 0; k < pawl_recorder_column_count(recorder); k++) {
    if (strcmp(pawl_recorder_column(recorder, k)->name, name) == 0) {
      return pawl_recorder_sample(recorder, 0)[k];
    }
  }
  print_error("no column %s\n", name);
  fail();
  return 0.0;
}

static void read_accelerations(const Run* run, Mechanism* m) {
  static const char* const names[][3] = {{"angle''"},
                                         {"travel''"},
                                         {"angle''", "travel''"},
                                         {"angle''"},
                                         {"angle''", "angle2''"},
                                         {"R.omega.x'", "R.omega.y'", "R.omega.z'"},
                                         {NULL}};
  for (int k = 0; k < m->count; k++) {
    Link* l = &m->link[k];
    for (int i = 0; i < types[l->type].values; i++) {
      char name[64];
      snprintf(name, sizeof name, "j%d.%s", k, names[l->type][i]);
      l->a[i] = first_value(run, name);
    }
  }
  for (int i = 0; i < 3 && m->loop; i++) {
    char name[32];
    snprintf(name, sizeof name, "lambda(close,%d)", i + 1);
    m->force.x[i] = first_value(run, name);
  }
}

// ---- rates of loops ---------------------------------------------------------------------------

static double* rate_of(Mechanism* m, int value) {
  int link = 0;
  for (; value >= types[m->link[link].type].values; link++) {
    value -= types[m->link[link].type].values;
  }
  return &m->link[link].v[value];
}

static Motion hook_of(const Mechanism* m, int only) {
  Motion all[MOST];
  move_all(m, only, all);
  return point_of(&all[m->count - 1], m->hook);
}

// A y = b for the matrix with the columns a; false where it is next to singular.
static bool solve(const Vec a[3], Vec b, Vec* y) {
  Vec n = cross(a[1], a[2]);
  double det = dot(a[0], n), size = sqrt(dot(a[0], a[0]) * dot(n, n));
  y->x[0] = dot(b, n) / det;
  y->x[1] = dot(b, cross(a[2], a[0])) / det;
  y->x[2] = dot(b, cross(a[0], a[1])) / det;
  return fabs(det) > 1e-3 * size;
}

// The nearest rates with which the hook stays where it is: v - J^T (J J^T)^-1 J v, with the columns
// of J its velocities by one value each. None where it is not free to move along some direction.
static void close_rates(Mechanism* m, int values) {
  Vec JJ[3] = {{{0}}}, y = {{0}}, moved = hook_of(m, -1).v;
  for (int k = 0; k < values; k++) {
    Vec column = hook_of(m, k).v;
    for (int i = 0; i < 3; i++) {
      JJ[i] = add(JJ[i], scale(column.x[i], column));
    }
  }
  bool good = solve(JJ, moved, &y);
  for (int k = 0; k < values; k++) {
    *rate_of(m, k) = good ? *rate_of(m, k) - dot(hook_of(m, k).v, y) : 0.0;
  }
}

static Mechanism random_mechanism(Random* r, bool loop) {
  Mechanism m = {.count = whole(r, 1, MOST), .loop = loop};
  for (int k = 0; k < m.count; k++) {
    m.link[k] = random_link(r, whole(r, -1, k - 1));
  }
  m.hook = random_vector(r, 0.5);
  return m;
}

// True when the mechanism could be compared: a loop without freedom is refused by pawl. *moves: how
// fast its last body turns.
static bool check_one(Random* r, bool loop, double* moves) {
  static char text[ROOM];
  Mechanism m = random_mechanism(r, loop);
  int values = 0;
  for (int k = 0; k < m.count; k++) {
    values += types[m.link[k].type].values;
  }
  if (values < (loop ? 6 : 1)) {
    return false;
  }
  if (loop) {
    close_rates(&m, values);
  }
  write_text(&m, text);
  Run run = run_text(text);
  run.def.simulate = pawl_model_simulate(run.model);
  run.def.keep_samples = true;
  if (loop && run_try(&run, 1e-6, 1e-6) != PAWL_OK) {  // a row that nothing can move
    run_end(&run);
    return false;
  }
  run_to(&run, 1e-6, 1e-6);
  read_accelerations(&run, &m);
  for (int k = 0; k < values; k++) {
    double size = 1e-9 * (1.0 + sqrt(dot(m.force, m.force)));
    for (int i = 0; i < m.count; i++) {
      size += 1e-10 * (fabs(m.link[i].a[0]) + fabs(m.link[i].a[1]) + fabs(m.link[i].a[2]));
    }
    if (!(fabs(power(&m, k)) <= size)) {
      print_error("value %d of:\n", k);
      fputs(text, stderr);  // longer than cmocka prints
    }
    CHECK_NEAR(power(&m, k), 0.0, size);
  }
  Motion hook = hook_of(&m, -1);
  for (int i = 0; i < 3 && loop; i++) {
    CHECK_NEAR(hook.v.x[i], 0.0, 1e-12);
    CHECK_NEAR(hook.a.x[i], 0.0, 1e-8);
  }
  *moves = sqrt(dot(hook_of(&m, -1).w, hook_of(&m, -1).w));
  run_end(&run);
  return true;
}

static void check_many(unsigned long long seed, int count, bool loop) {
  Random r = {seed};
  int moving = 0;
  for (int done = 0, tried = 0; done < count; tried++) {
    double moves = 0;
    assert_true(tried < 10 * count);
    done += check_one(&r, loop, &moves);
    moving += moves > 0.01;
  }
  assert_true(moving > count / 2);
}

static void test_trees(void** unused) {
  (void)unused;
  check_many(1, few_if_compiled(700), false);
}

static void test_loops(void** unused) {
  (void)unused;
  check_many(2, few_if_compiled(300), true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_trees),
      cmocka_unit_test(test_loops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
