// SPDX-License-Identifier: Apache-2.0
// `joints:` (docs/bodies.md): reading them, the tree of joints that carries the bodies, and writing
// what they become.
//
// With P and S the places of the joint on its first and its second body, F = R1 turn the axes of
// the joint on the first, G = R2 those of the second, a joint with the values v has
//   G = F Q(v),   S = P + F d(v),   spin2 = (turn Q)^T spin1 + w(v, v')                        (J1)
// A joint of the tree defines one body by the other with (J1); any other joint is rows.
#pragma once

#include <string.h>

#include "model/bodies.h"

enum { PAWL_JOINT_VALUES = 3, PAWL_JOINT_ROWS = 6 };
#define PAWL_GEAR_WORD "gear"
#define PAWL_JOINT_POINT "$S = $P"  // rows by which the places of both bodies are one

// What a type is, in the plane or in space, as texts with places for what depends on the joint:
// $P $S $F $G as above, $T the transpose of F; $A the axis, $U and $W across it ($U, $W, $A by the
// right hand; of what rolls in space $A is the normal of the plane, and $X the axle); $u and $w,
// $x, $y and $z the same and the axes, as turned by what a joint keeps that catches; $1 $2 $3 the
// values, $7 $8 $9 their rates; $H the angle between the two frames, in the plane; $L length,
// pitch, ...; $@ the name of the constraint.
typedef struct PawlJointMotion {
  bool exists;
  const char* values[PAWL_JOINT_VALUES];  // their names; NULL behind the last
  const char* Q;                          // in the plane an angle; NULL: does not turn
  const char* d;                          // linear in the values; NULL: does not move
  const char* w;                          // linear in the rates; NULL: 0
  const char* rows[PAWL_JOINT_ROWS];
  const char* alone[PAWL_JOINT_ROWS];    // the last of them by (J3), which hold nowhere else
  const char* kept_axes[2];              // $u and $w, or $x and $y, where it catches (J4)
  const char* found[PAWL_JOINT_VALUES];  // the values where they are no coordinates
  const char *sine[PAWL_JOINT_VALUES], *cosine[PAWL_JOINT_VALUES];  // of those that are angles
  const char* drive;           // row by which the first value is $1
  const char* contact;         // where it rolls: no slip of the material there, across $A
  const char* kept;            // what stays as it is at the start, besides the rows
  const char *force, *torque;  // of the rows, on the second body, along F; NULL: none or not known
  const char *hold_force, *hold_torque;  // the same of what holds the value, which stands behind
  // What the rows carry besides where the value is driven, which acts on the body another way than
  // along the gradient of `found`: a torque on a screw, whose angle is found from its travel.
  const char *push_force, *push_torque;
  const char* load;     // what presses, of which friction is mu times; NULL: none
  const char* presses;  // the same where mu is not known, for a hint; NULL: none
  bool rows_only;       // never part of the tree
} PawlJointMotion;

typedef struct PawlJointType {
  const char* word;
  const char* extra;  // a key that it needs, for $L; NULL: none
  const char* lever;  // the key of the radius at which friction acts; NULL: on the value itself
  PawlJointMotion plane, space;
  PawlJointMotion wheel;  // space, with `axis`, where that makes another motion of it
} PawlJointType;

typedef struct PawlJoint {
  PawlPartName name;
  PawlYaml *key, *map;
  const PawlJointType* type;
  const PawlJointMotion* motion;  // of the type, in the plane or in space
  PawlBodyUse body[2];
  const char* at[2];     // in the frames of the bodies; NULL: the origin
  const char* named[2];  // the same as a point, "arm.tip"; NULL: it has no name
  const char* turn;      // NULL: not at all
  const char *A, *U, *W, *X, *L;
  const char *start[PAWL_JOINT_VALUES], *rate[PAWL_JOINT_VALUES];  // NULL: 0
  bool given[2];                                                   // the start, the rate are
  const PawlYaml* switching;                                       // the key `switch`
  bool cut;                                                        // not for the tree
  bool records;                    // the key `reaction`: its forces are outputs
  bool counts[PAWL_JOINT_VALUES];  // angles that count turns by (J5)
  bool in_tree;                    // carries a body
  bool carries_family;             // it may: all of one, or the first of a chain, forward
  bool is_coordinate;  // its values are: it is in the tree, and bodies have none of their own
  bool in_loop;
  bool closes;     // a loop: rows, at the start too
  bool alone;      // rows by (J3)
  bool keeps;      // axes where it catches, by (J4)
  bool gates;      // it opens, and what acts along its value with it: a state `closed`
  bool driven;     // the key `drive`: its start, too
  bool is_geared;  // some gear ties its rate to another
  bool is_gear;    // between the joints `geared`
  int geared[2];
  const char* offset;  // of the gear; NULL: as the starts have it
} PawlJoint;

typedef struct PawlJoints {
  PawlJoint* item;
  int count;
} PawlJoints;

extern const PawlJointType pawl_joint_types[];  // ends with a NULL word

static inline int pawl_joint_value_count(const PawlJoint* joint) {
  int count = 0;
  while (count < PAWL_JOINT_VALUES && joint->motion->values[count]) {
    count++;
  }
  return count;
}
// Whether its value is a rotation.
static inline bool pawl_joint_is_ball(const PawlJoint* joint) {
  return joint->motion->values[0] && strcmp(joint->motion->values[0], "R") == 0;
}

// Whether it holds at the start: it has no `switch`, or one that is engaged then.
bool pawl_joint_is_closed(const PawlJoint* joint);

// Reads the section (may be NULL). False after reporting.
bool pawl_read_joints(PawlMade* made, PawlYaml* section, const PawlBodies* bodies,
                      PawlJoints* joints);
bool pawl_joint_axes(PawlMade* made, PawlJoint* joint);
// `gear: [first, second]` and its offset; and what follows from all of them together.
bool pawl_read_gear_offset(PawlMade* made, PawlJoint* gear);
bool pawl_read_gear(PawlMade* made, const PawlJoints* joints, PawlJoint* gear);
bool pawl_follow_gears(PawlMade* made, PawlJoints* joints);
// Bodies of families that move by themselves do so each from its own start: true after reporting
// one that the joint gives.
bool pawl_refuse_joint_start(PawlMade* made, const PawlJoint* joint);
// Looks for joints that carry families, where values of joints are to be coordinates; a family with
// a joint that is a constraint moves by itself. False after reporting one that neither fits.
bool pawl_find_chains(PawlMade* made, PawlBodies* bodies, PawlJoints* joints);
// Chooses the tree: fills joint, parent, depth and order of bodies, in_tree and in_loop of joints.
// `order` has room for all bodies; parents come before those that they carry.
bool pawl_joint_tree(PawlMade* made, PawlBodies* bodies, PawlJoints* joints, int order[]);

// A text of the type with its places filled in. `values` and `rates` stand for $1 to $3, $7 to $9.
const char* pawl_joint_fill(PawlMade* made, const PawlJoint* joint, const char* text,
                            const char* const values[], const char* const rates[]);
// "elbow.angle" of each value, and with a prime.
void pawl_joint_values(PawlMade* made, const PawlJoint* joint, const char* prime,
                       const char* out[PAWL_JOINT_VALUES]);

// Whether its values (k = 0), or rates (1), at the start are found: those of a loop, those that a
// drive gives, and rates that gears tie, that are not given.
static inline bool pawl_joint_guesses(const PawlJoint* joint, int k) {
  return (joint->in_loop || joint->driven || (k == 1 && joint->is_geared)) && !joint->given[k];
}

// Values as coordinates, and the body that it carries by definitions (J1).
void pawl_write_tree_joint(PawlMade* made, const PawlJoint* joint, const PawlBody* body);
// Rows, and values as definitions.
void pawl_write_row_joint(PawlMade* made, const PawlJoint* joint, bool with_values);
// Rows by which its start, or rate, is kept where others are found (J2).
void pawl_write_joint_kept(PawlMade* made, const PawlJoint* joint, bool start, bool rate);
// What stays as it is at the start, and what rolls, besides the rows.
void pawl_write_joint_slip(PawlMade* made, const PawlJoint* joint);
// The keys of `switch` for a constraint, with `on` where that says what becomes of an offset.
void pawl_set_joint_switch(PawlMade* made, const PawlJoint* joint, PawlYaml* map, bool with_on);
// The start of the body that it carries, where that has coordinates of its own.
void pawl_joint_start(PawlMade* made, const PawlJoint* joint, const PawlBodies* bodies,
                      PawlBody* body, PawlBodyStart* start);
// Whether friction is mu times what the joint carries, which its rows know.
bool pawl_joint_rubs(const PawlJoint* joint);
// Something that acts along the value, while the joint is closed.
const char* pawl_joint_gated(PawlMade* made, const PawlJoint* joint, const char* text);
// Springs, motors, stops, locks: whether there are any; and them.
bool pawl_joint_has_acts(const PawlJoint* joint);
void pawl_write_joint_acts(PawlMade* made, const PawlJoint* joint);
// Which of its angles count turns by (J5): those that something looks at; and such an angle.
void pawl_find_turns(PawlMade* made, PawlJoint* joint, const PawlYaml* root);
const char* pawl_joint_turned(PawlMade* made, const PawlJoint* joint, int value);
// Outputs of the key `reaction`: what rows, and locks along the value, give the second body.
void pawl_write_joint_reaction(PawlMade* made, const PawlJoint* joint);
// Outputs of the key `power`: that of each act along the value, and their sum.
void pawl_write_joint_power(PawlMade* made, const PawlJoint* joint);
void pawl_write_gear(PawlMade* made, const PawlJoint* gear, const PawlJoints* joints);
