// SPDX-License-Identifier: Apache-2.0
// What the files of the URDF reader share. A robot is read into links and joints (urdf_read.c);
// these are connected to a tree, and links that fixed joints hold together become one body
// (urdf_connect.c), get names that expressions can have (urdf_names.c), are judged
// (urdf_judge.c) and written as a tree of nodes (urdf_write.c).
#pragma once

#include <float.h>

#include "model/names.h"
#include "model/urdf.h"
#include "model/xml.h"

// ---- tolerances ---------------------------------------------------------------------------------

// What a few products of numbers leave of a zero, relative to the largest of them.
#define PAWL_URDF_ROUNDING (8 * DBL_EPSILON)
// How far from a right angle a shape may be turned and still lies along the axes [rad]: files say
// 1.57 and mean it.
#define PAWL_URDF_RIGHT_ANGLE 1e-3

// ---- frames and masses (urdf_space.c) -----------------------------------------------------------

typedef struct PawlFrame {  // of a point with the place x in the frame: R x + p outside
  double R[3][3], p[3];
} PawlFrame;

extern const PawlFrame pawl_frame_one;
// R = Rz(yaw) Ry(pitch) Rx(roll), URDF's order of `rpy`.                                       (U1)
PawlFrame pawl_frame_rpy(const double p[3], const double rpy[3]);
PawlFrame pawl_frame_times(const PawlFrame* a, const PawlFrame* b);
PawlFrame pawl_frame_turned(const double axis[3], double angle);
PawlFrame pawl_frame_moved(const double axis[3], double way);
// yaw, pitch, roll of (U1), to rounding also where the pitch is a right angle.
void pawl_frame_angles(const PawlFrame* frame, double zyx[3]);

typedef struct PawlMassive {
  double mass, centre[3];
  double I[3][3];  // about the centre [kg m^2]
} PawlMassive;

// Adds a part, given in `frame`, to a whole.
void pawl_massive_add(PawlMassive* whole, const PawlFrame* frame, const PawlMassive* part);
void pawl_massive_moments(const PawlMassive* body, double moments[3]);  // principal, ascending

// Without what rounding leaves of a zero among numbers of this size.
double pawl_tidy_number(double x, double size);

// ---- the robot ----------------------------------------------------------------------------------

typedef enum PawlUrdfGeometry {
  PAWL_URDF_BOX,
  PAWL_URDF_CYLINDER,
  PAWL_URDF_CAPSULE,
  PAWL_URDF_SPHERE
} PawlUrdfGeometry;

typedef struct PawlUrdfShape {
  const PawlXml* xml;
  PawlUrdfGeometry geometry;
  bool collision;  // or visual
  double size[3];  // edges; radius, length; radius
  PawlFrame frame;
  struct PawlUrdfShape* next;
} PawlUrdfShape;

typedef struct PawlUrdfLink {
  const PawlXml* xml;
  const char *name, *id;  // as written, and as an expression may have it
  bool has_mass;          // <inertial> is given
  PawlMassive own;        // in the frame of the link
  PawlUrdfShape *shapes, *last_shape;
  // By urdf_connect.c.
  int joint;              // that carries it; -1: it is the root
  int first_child, last;  // joints that it carries, by `next_child`; -1 behind the last
  int body;               // the link whose frame is that of its body; itself for a body
  PawlFrame in_body;      // its frame in that of the body
  PawlFrame start;        // of a body: its frame in that of the root at the start
  PawlMassive whole;      // of a body: all of it
  bool whole_has_mass;
  int next_in_body, last_in_body;  // links of a body, from the body on; -1 behind the last
} PawlUrdfLink;

typedef enum PawlUrdfType {
  PAWL_URDF_REVOLUTE,
  PAWL_URDF_CONTINUOUS,
  PAWL_URDF_PRISMATIC,
  PAWL_URDF_FIXED,
  PAWL_URDF_FLOATING,
  PAWL_URDF_PLANAR,
  PAWL_URDF_TYPES
} PawlUrdfType;

typedef struct PawlUrdfJoint {
  const PawlXml* xml;
  const char *name, *id;
  PawlUrdfType type;
  int parent, child, next_child;
  double xyz[3], rpy[3], axis[3];
  PawlFrame frame;  // of xyz and rpy
  const PawlXml *limit, *mimic;
  double low, high, damping, friction;
  const char* master_name;
  int master;  // the joint that it mimics; -1: none
  double multiplier, offset;
  double start;
  int visited, follower;  // of the walk along mimics
} PawlUrdfJoint;

typedef struct PawlUrdf {
  PawlPool* pool;
  PawlReport* report;
  PawlRemarks* remarks;
  PawlRobotDef def;
  const PawlXml* xml;
  PawlUrdfLink* links;
  PawlUrdfJoint* joints;
  int link_count, joint_count;
  int root;        // link
  bool on_ground;  // the body of the root is the ground itself
  int* order;      // links, parents first
  PawlNames link_names, joint_names, ids;
} PawlUrdf;

// Each gives false after reporting, or when memory is short.
bool pawl_urdf_read(PawlUrdf* u);
bool pawl_urdf_connect(PawlUrdf* u);
bool pawl_urdf_name(PawlUrdf* u);
void pawl_urdf_judge(PawlUrdf* u);
void pawl_urdf_left_out(PawlUrdf* u);  // remarks on what is not read
PawlYaml* pawl_urdf_write(PawlUrdf* u);

bool pawl_urdf_no_memory(PawlUrdf* u);  // notes it; returns false
// A name that is free, in the pool, made of `name`, else of `name_suffix`, else with a number
// behind it; `point`: of a point of a body. NULL when memory is short.
const char* pawl_urdf_free_name(PawlUrdf* u, const char* name, const char* suffix, bool point);

// Has a value along which something acts: revolute, continuous, prismatic.
static inline bool pawl_urdf_has_value(const PawlUrdfJoint* joint) {
  return joint->type == PAWL_URDF_REVOLUTE || joint->type == PAWL_URDF_CONTINUOUS ||
         joint->type == PAWL_URDF_PRISMATIC;
}
// Bounds that stops can be made of.
static inline bool pawl_urdf_has_limits(const PawlUrdfJoint* joint) {
  return joint->limit && joint->low < joint->high &&
         (joint->type == PAWL_URDF_REVOLUTE || joint->type == PAWL_URDF_PRISMATIC);
}
