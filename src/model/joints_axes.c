// SPDX-License-Identifier: Apache-2.0
// The directions of a joint: its axis and two across it.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/joints.h"

static const char* say_vector(PawlMade* made, const double v[3], int count) {
  PawlText text = {0};
  pawl_text_add(&text, "[");
  for (int k = 0; k < count; k++) {
    pawl_text_add(&text, k > 0 ? ", " : "");
    pawl_text_number(&text, v[k] == 0.0 ? 0.0 : v[k]);  // no -0
  }
  pawl_text_add(&text, "]");
  const char* said = text.failed ? "" : pawl_say(made, "%s", text.s);
  if (text.failed) {
    pawl_loader_no_memory(made->loader);
  }
  pawl_text_free(&text);
  return said;
}

static bool read_numbers(const PawlYaml* list, int count, double v[3]) {
  if (list->kind != PAWL_YAML_LIST || list->count != count) {
    return false;
  }
  int k = 0;
  for (const PawlYaml* child = list->first; child; child = child->next) {
    char* end = NULL;
    v[k] = child->kind == PAWL_YAML_SCALAR ? strtod(child->text, &end) : 0.0;
    if (!end || end == child->text || *end != '\0' || !isfinite(v[k++])) {
      return false;
    }
  }
  return true;
}

static void cross(const double a[3], const double b[3], double out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static bool normalise(double v[3]) {
  double length = hypot(hypot(v[0], v[1]), v[2]);
  for (int k = 0; k < 3; k++) {
    v[k] /= length;
  }
  return length > 0.0 && isfinite(length);
}

// A direction of three numbers; false after reporting.
static bool read_direction(PawlMade* made, const PawlJoint* joint, const char* key, double v[3]) {
  const PawlYaml* given = pawl_part_get(joint->map, key);
  if (!given) {
    return true;
  }
  if (!read_numbers(given, 3, v) || !normalise(v)) {
    pawl_report(&made->loader->report, given,
                "%s: expected three numbers, not all zero (turn: takes expressions)%s", key,
                PAWL_YAML_FLOW_HINT);
    return false;
  }
  return true;
}

// U across A: the next of the axes x, y, z that A lies along, or across the one it is farthest
// from.
static void choose_across(const double A[3], double U[3]) {
  int small = 0, large = 0;
  for (int k = 1; k < 3; k++) {
    small = fabs(A[k]) < fabs(A[small]) ? k : small;
    large = fabs(A[k]) > fabs(A[large]) ? k : large;
  }
  double e[3] = {0, 0, 0};
  if (fabs(A[large]) == 1.0) {
    U[0] = U[1] = U[2] = 0.0;
    U[(large + 1) % 3] = 1.0;
    return;
  }
  e[small] = 1.0;
  cross(e, A, U);
  normalise(U);
}

static bool read_axle(PawlMade* made, PawlJoint* joint) {
  double X[3] = {0, 0, 1};
  if (!read_direction(made, joint, "axis", X)) {
    return false;
  }
  joint->X = say_vector(made, X, 3);
  return true;
}

static bool space_axes(PawlMade* made, PawlJoint* joint) {
  double A[3] = {0, 0, 1}, U[3] = {1, 0, 0}, W[3];
  bool two = strcmp(joint->type->word, "universal") == 0, rolls = joint->motion->contact;
  if (!read_direction(made, joint, rolls ? "normal" : "axis", A) ||
      (rolls && !read_axle(made, joint))) {
    return false;
  }
  if (!two) {
    choose_across(A, U);
  } else if (!read_direction(made, joint, "axis2", U)) {
    return false;
  }
  double along = A[0] * U[0] + A[1] * U[1] + A[2] * U[2];
  if (fabs(along) > sqrt(DBL_EPSILON)) {  // half of all digits are right

    pawl_report(&made->loader->report, joint->key,
                "the axes of '%s' are not at right angles; choose axis2 across axis",
                pawl_quote(joint->key->text).s);
    return false;
  }
  cross(A, U, W);
  joint->A = say_vector(made, A, 3);
  joint->U = say_vector(made, U, 3);
  joint->W = say_vector(made, W, 3);
  return true;
}

static bool has_axis(const PawlJointMotion* motion) {
  bool found = motion->d != NULL;
  for (int k = 0; k < PAWL_JOINT_ROWS && motion->rows[k]; k++) {
    found = found || strstr(motion->rows[k], "$U");
  }
  return found;
}

// In the plane expressions will do, too: the direction across [a, b] is [-b, a].
static bool plane_axes(PawlMade* made, PawlJoint* joint) {
  const PawlYaml* given = pawl_part_get(joint->map, "axis");
  double A[3] = {1, 0, 0};
  if (given && !has_axis(joint->motion)) {
    pawl_report(&made->loader->report, given->key,
                "a joint of the type '%s' in the plane has no axis", joint->type->word);
    return false;
  }
  if (given && !read_numbers(given, 2, A)) {
    const char* text = given->kind == PAWL_YAML_LIST ? pawl_part_vector(made, given, "axis") : NULL;
    if (!text) {
      pawl_report(&made->loader->report, given,
                  "axis: expected two numbers or expressions, [a, b]%s", PAWL_YAML_FLOW_HINT);
      return false;
    }
    const char* b = pawl_part_text(made, given->first->next, "an expression");
    const char* a = pawl_part_text(made, given->first, "an expression");
    joint->A = pawl_say(made, "(%s/norm(%s))", text, text);
    joint->U = pawl_say(made, "([-(%s), %s]/norm(%s))", b ? b : "", a ? a : "", text);
    return a && b;
  }
  if (!normalise(A)) {
    pawl_report(&made->loader->report, given, "axis: not both numbers can be zero");
    return false;
  }
  joint->A = say_vector(made, A, 2);
  joint->U = say_vector(made, (const double[3]){-A[1], A[0], 0.0}, 2);
  return true;
}

bool pawl_joint_axes(PawlMade* made, PawlJoint* joint) {
  const PawlYaml* normal = pawl_part_get(joint->map, "normal");
  if (normal && !joint->motion->contact) {
    pawl_report(&made->loader->report, normal->key, "the joint '%s' has no normal; axis: says more",
                pawl_quote(joint->key->text).s);
    return false;
  }
  return made->dimension == 3 ? space_axes(made, joint) : plane_axes(made, joint);
}
