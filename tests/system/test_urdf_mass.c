// SPDX-License-Identifier: Apache-2.0
// Random robots in URDF: mass matrix and forces of the model that is read against those of the
// links as written, by homogeneous transforms from link to link. Nothing is merged here: a fixed
// joint is one that does not move.
#include "setup.h"

enum { LINKS = 9, MOVING = 5, ROBOTS = 60, TEXT = 16384 };

typedef struct Transform {
  double at[4][4];
} Transform;

typedef struct Link {
  int parent;
  char type;  // r evolute, p rismatic, f ixed
  double xyz[3], rpy[3], axis[3], damping;
  bool heavy;
  double mass, centre[3], turn[3], inertia[6];  // xx xy xz yy yz zz
  int coordinate;                               // -1: none
} Link;

// ---- a robot by lot -----------------------------------------------------------------------------

static void lot(Random* r, int count, double size, double x[]) {
  for (int k = 0; k < count; k++) {
    x[k] = random_between(r, -size, size);
  }
}

static void random_mass(Random* r, Link* link) {
  link->mass = random_between(r, 0.5, 4);
  lot(r, 3, 0.3, link->centre);
  lot(r, 3, 3, link->turn);
  double products[3];
  lot(r, 3, 0.01, products);
  double a = random_between(r, 0.05, 0.1), b = random_between(r, 0.05, 0.1);
  double inertia[6] = {a, products[0], products[1], b, products[2], 0.8 * (a + b)};
  memcpy(link->inertia, inertia, sizeof inertia);
}

static void random_robot(Random* r, Link links[LINKS]) {
  int moving = 0;
  for (int k = 0; k < LINKS; k++) {
    Link* link = &links[k];
    *link = (Link){.parent = k > 0 ? random_below(r, k) : -1, .type = 'f', .coordinate = -1};
    if (k > 0 && moving < MOVING && random_below(r, 3) > 0) {
      link->type = random_below(r, 3) > 0 ? 'r' : 'p';
      moving++;
    }
    lot(r, 3, 0.5, link->xyz);
    lot(r, 3, 3, link->rpy);
    lot(r, 3, 1, link->axis);
    link->damping = random_below(r, 2) ? random_between(r, 0, 2) : 0;
    link->heavy = link->type != 'f' || random_below(r, 2);
    random_mass(r, link);
  }
}

static void write_robot(const Link links[LINKS], char* text) {
  char* s = text + sprintf(text, "<robot name='lot'>");
  for (int k = 0; k < LINKS; k++) {
    const Link* l = &links[k];
    s += sprintf(s, "<link name='l%d'>", k);
    if (l->heavy) {
      s += sprintf(s,
                   "<inertial><origin xyz='%.17g %.17g %.17g' rpy='%.17g %.17g %.17g'/><mass "
                   "value='%.17g'/><inertia ixx='%.17g' ixy='%.17g' ixz='%.17g' iyy='%.17g' "
                   "iyz='%.17g' izz='%.17g'/></inertial>",
                   l->centre[0], l->centre[1], l->centre[2], l->turn[0], l->turn[1], l->turn[2],
                   l->mass, l->inertia[0], l->inertia[1], l->inertia[2], l->inertia[3],
                   l->inertia[4], l->inertia[5]);
    }
    s += sprintf(s, "</link>\n");
  }
  for (int k = 1; k < LINKS; k++) {
    const Link* l = &links[k];
    s += sprintf(s,
                 "<joint name='j%d' type='%s'><parent link='l%d'/><child link='l%d'/><origin "
                 "xyz='%.17g %.17g %.17g' rpy='%.17g %.17g %.17g'/><axis xyz='%.17g %.17g "
                 "%.17g'/><dynamics damping='%.17g'/></joint>\n",
                 k,
                 l->type == 'r'   ? "revolute"
                 : l->type == 'p' ? "prismatic"
                                  : "fixed",
                 l->parent, k, l->xyz[0], l->xyz[1], l->xyz[2], l->rpy[0], l->rpy[1], l->rpy[2],
                 l->axis[0], l->axis[1], l->axis[2], l->damping);
  }
  sprintf(s, "</robot>\n");
}

// ---- by transforms ------------------------------------------------------------------------------

static Transform times(Transform a, Transform b) {
  Transform c;
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 4; j++) {
      c.at[i][j] = 0;
      for (int k = 0; k < 4; k++) {
        c.at[i][j] += a.at[i][k] * b.at[k][j];
      }
    }
  }
  return c;
}

static Transform shift(const double x[3]) {
  return (Transform){{{1, 0, 0, x[0]}, {0, 1, 0, x[1]}, {0, 0, 1, x[2]}, {0, 0, 0, 1}}};
}

// About the axis k = 0, 1, 2.
static Transform turn(int k, double angle) {
  Transform t = shift((const double[]){0, 0, 0});
  int i = (k + 1) % 3, j = (k + 2) % 3;
  t.at[i][i] = t.at[j][j] = cos(angle);
  t.at[j][i] = sin(angle);
  t.at[i][j] = -sin(angle);
  return t;
}

// About fixed x, then y, then z, as URDF says of rpy.
static Transform origin(const double xyz[3], const double rpy[3]) {
  return times(times(times(shift(xyz), turn(2, rpy[2])), turn(1, rpy[1])), turn(0, rpy[0]));
}

// About any axis: turned into z, about z, and back.
static Transform about(const double axis[3], double angle) {
  double yaw = atan2(axis[1], axis[0]), pitch = atan2(hypot(axis[0], axis[1]), axis[2]);
  Transform there = times(turn(2, yaw), turn(1, pitch));
  Transform back = times(turn(1, -pitch), turn(2, -yaw));
  return times(times(there, turn(2, angle)), back);
}

static Transform joint_motion(const Link* l, const double* q) {
  double value = l->coordinate < 0 ? 0.0 : q[l->coordinate];
  if (l->type == 'r') {
    return about(l->axis, value);
  }
  double length = sqrt(l->axis[0] * l->axis[0] + l->axis[1] * l->axis[1] + l->axis[2] * l->axis[2]);
  double x[3] = {0, 0, 0};
  for (int k = 0; k < 3 && l->type == 'p'; k++) {
    x[k] = value * l->axis[k] / length;
  }
  return shift(x);
}

// Columns of the velocities of the centre (v) and of the turning (w) of link k by coordinate.
static void jacobian(const Link links[], const Transform frames[], int k, const double centre[3],
                     double v[MOVING][3], double w[MOVING][3]) {
  memset(v, 0, MOVING * sizeof *v);
  memset(w, 0, MOVING * sizeof *w);
  for (int j = k; j > 0; j = links[j].parent) {
    const Link* l = &links[j];
    if (l->coordinate < 0) {
      continue;
    }
    double a[3], arm[3], length = 0;
    for (int i = 0; i < 3; i++) {
      a[i] = 0;
      for (int c = 0; c < 3; c++) {
        a[i] += frames[j].at[i][c] * l->axis[c];
      }
      arm[i] = centre[i] - frames[j].at[i][3];
      length += l->axis[i] * l->axis[i];
    }
    for (int i = 0; i < 3; i++) {
      int m = (i + 1) % 3, n = (i + 2) % 3;
      double across = a[m] * arm[n] - a[n] * arm[m];
      v[l->coordinate][i] = (l->type == 'r' ? across : a[i]) / sqrt(length);
      w[l->coordinate][i] = l->type == 'r' ? a[i] / sqrt(length) : 0.0;
    }
  }
}

// M, and the slope of the potential energy, of the links that move.
static void reference(const Link links[LINKS], const double* q, double M[MOVING][MOVING],
                      double slope[MOVING]) {
  static const int entry[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  Transform frames[LINKS];
  memset(M, 0, MOVING * sizeof *M);
  memset(slope, 0, MOVING * sizeof *slope);
  for (int k = 0; k < LINKS; k++) {
    const Link* l = &links[k];
    frames[k] = k > 0 ? times(times(frames[l->parent], origin(l->xyz, l->rpy)), joint_motion(l, q))
                      : shift((const double[]){0, 0, 0});
    if (!l->heavy) {
      continue;
    }
    Transform mass = times(frames[k], origin(l->centre, l->turn));
    double centre[3] = {mass.at[0][3], mass.at[1][3], mass.at[2][3]};
    double v[MOVING][3], w[MOVING][3], local[MOVING][3];
    jacobian(links, frames, k, centre, v, w);
    for (int i = 0; i < MOVING; i++) {
      slope[i] += 9.81 * l->mass * v[i][2];
      for (int c = 0; c < 3; c++) {  // in the axes of the inertia
        local[i][c] = w[i][0] * mass.at[0][c] + w[i][1] * mass.at[1][c] + w[i][2] * mass.at[2][c];
      }
    }
    for (int i = 0; i < MOVING; i++) {
      for (int j = 0; j < MOVING; j++) {
        for (int c = 0; c < 3; c++) {
          M[i][j] += l->mass * v[i][c] * v[j][c];
          for (int d = 0; d < 3; d++) {
            M[i][j] += local[i][c] * l->inertia[entry[c][d]] * local[j][d];
          }
        }
      }
    }
  }
}

// ---- compared -----------------------------------------------------------------------------------

static int number_coordinates(const PawlSystem* system, Link links[LINKS]) {
  int n = pawl_system_sizes(system).q;
  for (int i = 0; i < n; i++) {
    int joint = atoi(pawl_system_coordinate_name(system, i) + 1);  // j3.angle
    assert_in_range(joint, 1, LINKS - 1);
    links[joint].coordinate = i;
  }
  return n;
}

// f = -sum_ij (dM_kj/dq_i - dM_ij/dq_k / 2) v_i v_j - dV/dq_k - damping, by differences of M.
static void reference_force(const Link links[LINKS], int n, double* q, const double* v, double* f) {
  const double h = 1e-5;
  double slope[MOVING], plus[MOVING][MOVING], minus[MOVING][MOVING], none[MOVING];
  double D[MOVING][MOVING][MOVING];  // D[i] = dM/dq_i
  for (int i = 0; i < n; i++) {
    double q_i = q[i];
    q[i] = q_i + h;
    reference(links, q, plus, none);
    q[i] = q_i - h;
    reference(links, q, minus, none);
    q[i] = q_i;
    for (int k = 0; k < n * MOVING; k++) {
      D[i][k / MOVING][k % MOVING] =
          (plus[k / MOVING][k % MOVING] - minus[k / MOVING][k % MOVING]) / (2 * h);
    }
  }
  reference(links, q, plus, slope);
  for (int k = 0; k < n; k++) {
    f[k] = -slope[k];
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        f[k] -= (D[i][k][j] - 0.5 * D[k][i][j]) * v[i] * v[j];
      }
    }
  }
  for (int k = 1; k < LINKS; k++) {
    if (links[k].coordinate >= 0) {
      f[links[k].coordinate] -= links[k].damping * v[links[k].coordinate];
    }
  }
}

static void check_robot(Random* r, const char* text, Link links[LINKS]) {
  Setup s = setup_text(text);
  int n = number_coordinates(s.system, links);
  double dense[MOVING * MOVING], M[MOVING][MOVING], slope[MOVING], f[MOVING];
  Place p = random_place(s.system, r);
  lot(r, n, 3, p.q);
  const PawlValues* values = run_at(s.eval, &p);
  to_dense(pawl_system_pattern_H(s.system), values->M, dense);
  reference(links, p.q, M, slope);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      CHECK_NEAR(dense[i * n + j], M[i][j], 1e-12);  // [kg m^2], of 1 to 100
    }
  }
  reference_force(links, n, p.q, p.v, f);
  for (int i = 0; i < n; i++) {
    CHECK_NEAR(values->f[i], f[i], 1e-6);  // differences have half the digits
  }
  place_free(&p);
  setup_free(&s);
}

static void test_random_robots(void** state) {
  (void)state;
  Random r = {20261};
  char* text = malloc(TEXT);
  assert_non_null(text);
  int checked = 0;
  for (int k = 0; k < ROBOTS; k++) {
    Link links[LINKS];
    random_robot(&r, links);
    write_robot(links, text);
    bool moves = strstr(text, "revolute") || strstr(text, "prismatic");
    if (moves) {
      check_robot(&r, text, links);
      checked++;
    }
  }
  assert_true(checked > ROBOTS / 2);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_robots)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
