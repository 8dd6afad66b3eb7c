// SPDX-License-Identifier: Apache-2.0
// Frames and masses in space.
#include <math.h>
#include <string.h>

#include "expr/elementary.h"
#include "model/inertia.h"
#include "model/urdf_impl.h"

const PawlFrame pawl_frame_one = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};

// ---- frames -------------------------------------------------------------------------------------

PawlFrame pawl_frame_rpy(const double p[3], const double rpy[3]) {
  double cr = pawl_cos(rpy[0]), sr = pawl_sin(rpy[0]), cp = pawl_cos(rpy[1]), sp = pawl_sin(rpy[1]),
         cy = pawl_cos(rpy[2]), sy = pawl_sin(rpy[2]);
  return (PawlFrame){{{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr},  // (U1)
                      {sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr},
                      {-sp, cp * sr, cp * cr}},
                     {p[0], p[1], p[2]}};
}

// R x
static void turn(const double R[3][3], const double x[3], double out[3]) {
  for (int i = 0; i < 3; i++) {
    out[i] = R[i][0] * x[0] + R[i][1] * x[1] + R[i][2] * x[2];
  }
}

PawlFrame pawl_frame_times(const PawlFrame* a, const PawlFrame* b) {
  PawlFrame out;
  turn(a->R, b->p, out.p);
  for (int i = 0; i < 3; i++) {
    out.p[i] += a->p[i];
    for (int j = 0; j < 3; j++) {
      out.R[i][j] = a->R[i][0] * b->R[0][j] + a->R[i][1] * b->R[1][j] + a->R[i][2] * b->R[2][j];
    }
  }
  return out;
}

static void unit(const double axis[3], double u[3]) {
  double length = hypot(hypot(axis[0], axis[1]), axis[2]);
  for (int i = 0; i < 3; i++) {
    u[i] = axis[i] / length;
  }
}

// R = cos 1 + (1 - cos) u u^T + sin [u]
PawlFrame pawl_frame_turned(const double axis[3], double angle) {
  double u[3], c = pawl_cos(angle), s = pawl_sin(angle);
  unit(axis, u);
  PawlFrame out = {{{c, -s * u[2], s * u[1]}, {s * u[2], c, -s * u[0]}, {-s * u[1], s * u[0], c}},
                   {0, 0, 0}};
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out.R[i][j] += (1.0 - c) * u[i] * u[j];
    }
  }
  return out;
}

PawlFrame pawl_frame_moved(const double axis[3], double way) {
  double u[3];
  unit(axis, u);
  PawlFrame out = pawl_frame_one;
  for (int i = 0; i < 3; i++) {
    out.p[i] = way * u[i];
  }
  return out;
}

// The roll is that of Rz(yaw)^T R, so that it fits whatever yaw came out.
void pawl_frame_angles(const PawlFrame* frame, double zyx[3]) {
  const double(*R)[3] = frame->R;
  double flat = hypot(R[0][0], R[1][0]);
  double yaw = flat > DBL_EPSILON ? atan2(R[1][0], R[0][0]) : 0.0;
  double c = pawl_cos(yaw), s = pawl_sin(yaw);
  zyx[0] = yaw;
  zyx[1] = atan2(-R[2][0], flat);
  zyx[2] = atan2(s * R[0][2] - c * R[1][2], c * R[1][1] - s * R[0][1]);
}

double pawl_tidy_number(double x, double size) {
  return fabs(x) <= PAWL_URDF_ROUNDING * size ? 0.0 : x;
}

// ---- masses -------------------------------------------------------------------------------------

// I += m (x^2 1 - x x^T), the mass m at the place x.                                           (U2)
static void add_point(double I[3][3], double m, const double x[3]) {
  double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      I[i][j] += m * ((i == j ? square : 0.0) - x[i] * x[j]);
    }
  }
}

// out = R I R^T
static void turn_inertia(const PawlFrame* frame, const PawlMassive* body, double out[3][3]) {
  const double(*R)[3] = frame->R, (*I)[3] = body->I;
  double RI[3][3];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      RI[i][j] = R[i][0] * I[0][j] + R[i][1] * I[1][j] + R[i][2] * I[2][j];
    }
  }
  for (int i = 0; i < 3; i++) {
    for (int j = i; j < 3; j++) {
      out[i][j] = out[j][i] = RI[i][0] * R[j][0] + RI[i][1] * R[j][1] + RI[i][2] * R[j][2];
    }
  }
}

void pawl_massive_add(PawlMassive* whole, const PawlFrame* frame, const PawlMassive* part) {
  double at[3], from_whole[3], from_part[3], I[3][3];
  turn(frame->R, part->centre, at);
  turn_inertia(frame, part, I);
  double mass = whole->mass + part->mass;
  double share = mass != 0.0 ? part->mass / mass : 0.0;
  for (int i = 0; i < 3; i++) {
    double apart = at[i] + frame->p[i] - whole->centre[i];
    from_whole[i] = -share * apart;  // the old centres as seen from the new one
    from_part[i] = (1.0 - share) * apart;
    whole->centre[i] += share * apart;
    for (int j = 0; j < 3; j++) {
      whole->I[i][j] += I[i][j];
    }
  }
  add_point(whole->I, whole->mass, from_whole);  // (U2)
  add_point(whole->I, part->mass, from_part);
  whole->mass = mass;
}

void pawl_massive_moments(const PawlMassive* body, double moments[3]) {
  pawl_principal_moments(body->I, moments);
}
