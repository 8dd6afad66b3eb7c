// SPDX-License-Identifier: Apache-2.0
// `bodies:` (docs/bodies.md): reading them, and writing what they become.
#pragma once

#include "model/parts.h"

typedef struct PawlBody {
  PawlPartName name;
  PawlYaml *key, *map;
  bool is_ground;
  const char* centre;  // place of the centre of mass in the frame of the body; NULL: its origin
  const PawlYaml* points;
  const PawlYaml *start, *rate;  // as given; NULL without
  bool full;                     // space: the inertia is a matrix, not three numbers
  bool shaped;                   // the shape gives what is not given of mass and inertia
  // How it is carried, by joints_tree.c.
  int joint;               // the joint that it hangs on; -1: none
  int chain;               // of a family, the joint by which all but the first hang on it; -1: none
  int parent;              // the body on the other side of it
  bool forward;            // the parent is the first body of the joint
  int depth;               // joints up to the ground or to a free body
  bool is_free;            // it has coordinates of its own
  bool guess[2];           // its start, its rate are found
  const char *R0, *spin0;  // space: rotation and spin at the start, of parameters; NULL: none
} PawlBody;

typedef struct PawlBodies {
  PawlBody* item;  // the first one is the ground
  int count;
  int table_size;  // power of two
  int* table;      // hash of a name -> body + 1
} PawlBodies;

// Reads the section (may be NULL). False after reporting.
bool pawl_read_bodies(PawlMade* made, PawlYaml* section, PawlBodies* bodies);
// Mass, inertia and centre from the shape, as far as they are not given.
bool pawl_body_shape(PawlMade* made, PawlBody* body);
// The body of a name such as "link"; NULL without.
const PawlBody* pawl_find_body(const PawlBodies* bodies, const char* name, size_t length);

// A body as an expression means it: link[i+1].
typedef struct PawlBodyUse {
  const PawlBody* body;
  PawlPartName name;
} PawlBodyUse;
// "link[i+1].tip"
const char* pawl_body_part(PawlMade* made, const PawlBodyUse* use, const char* part);
// Its rotation as a factor; NULL for the ground, whose axes are those of space.
const char* pawl_body_R(PawlMade* made, const PawlBodyUse* use, const char* prime);
// The place of a point `local` (NULL: the origin of the frame); with a prime its velocity, which is
// NULL for the ground.
const char* pawl_body_place(PawlMade* made, const PawlBodyUse* use, const char* local);
const char* pawl_body_velocity(PawlMade* made, const PawlBodyUse* use, const char* local);

// Parameters, energies, points: what does not depend on how the body is carried.
void pawl_write_body(PawlMade* made, const PawlBody* body, const char* gravity);
// Coordinates of its own: centre of mass and rotation. `at` and `velocity` are the place of its
// frame and its rate at the start, `angle` and `omega` those of its angle, in the plane; NULL: 0.
typedef struct PawlBodyStart {
  const char *at, *velocity, *angle, *omega;
} PawlBodyStart;
void pawl_write_free_body(PawlMade* made, const PawlBody* body, const PawlBodyStart* start);
// The start as the user gave it; fills R0 and spin0. False after reporting.
bool pawl_body_start(PawlMade* made, PawlBody* body, PawlBodyStart* start);
// Of a body that hangs on others, whose angle or R and spin, and at are defined by the joint.
void pawl_write_carried_body(PawlMade* made, const PawlBody* body);
void pawl_write_ground(PawlMade* made, const PawlBody* ground);
