// SPDX-License-Identifier: Apache-2.0
// The loaded model as the later stages read it. Every expression is a node of one graph, `dag`; its
// leaves are parameters (PARAM), coordinates (Q), rates (V), states (STATE), inputs (INPUT), t,
// quaternions of rotations (QUAT),
// and, in outputs, events and the rates of states only, accelerations (A) and multipliers (LAMBDA).
// Families are expanded: one coordinate, term or constraint for each index, named "u[3]".
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "expr/dag.h"
#include "pawl/model.h"

#define PAWL_MODEL_MAX_NESTING 32         // maps and lists inside each other
#define PAWL_MODEL_MAX_NAME 200           // bytes of a name
#define PAWL_MODEL_MAX_FAMILY 10000000    // elements of one family
#define PAWL_MODEL_MAX_ELEMENTS 20000000  // coordinates, terms, constraint rows: of each kind
#define PAWL_MODEL_MAX_ROUNDS 200000000   // of all index ranges together
#define PAWL_MODEL_MAX_LOOP 50000000      // rounds of one family or loop

// Where something was written.
typedef struct PawlSource {
  int line, column;  // from 1
  const char* text;  // the expression as written
} PawlSource;

typedef struct PawlParameter {
  const char* name;
  const char* unit;  // "" where none is stated
  double value;
  int number_line;  // where only its number counts (another parameter, a start, a range); 0:
                    // nowhere
  int input;        // it may change: its place among the inputs plus 1; 0: it is a number
  PawlSource source;
} PawlParameter;

typedef struct PawlCoordinate {
  const char* name;
  const char* unit;  // "" where none is stated
  double start, rate;
  bool guess[2];  // start, rate: the start is assembled by changing these
  PawlSource source;
} PawlCoordinate;

// A rotation of a body (docs/theory/rotations.md): a unit quaternion in q, the angular velocity in
// the axes of the body in v. Its three velocities are entries of the coordinates (names
// R.omega.x, ...; `rate` is the start), behind those that are no rotations.
typedef struct PawlRotation {
  const char* name;
  const char* quaternion_names[4];  // R.q0, ...
  double start[4];
  PawlSource source;
} PawlRotation;

// A first-order state z' = s (docs/theory/states.md). With a rate it is stored as a velocity: the
// rate of entry `coordinate` of the coordinates, behind those that move. Without, it is a number
// that stays between events and is stored as an input.
typedef struct PawlStateDef {
  const char* name;
  int coordinate;     // -1: it has no rate
  int input;          // -1: it has one
  PawlNode rate;      // s(q, v, z, u, t, v', lambda)
  PawlSource source;  // of the rate, where there is one
} PawlStateDef;

// What is held between steps: an input, a state without rate, one that follows an expression from
// step to step, a parameter that may change.
typedef enum PawlInputKind {
  PAWL_INPUT_PLAIN,
  PAWL_INPUT_STATE,
  PAWL_INPUT_FOLLOWS,
  PAWL_INPUT_PARAMETER
} PawlInputKind;
typedef struct PawlInputDef {
  const char* name;
  const char* unit;  // "" where none is stated
  double start;
  PawlInputKind kind;
} PawlInputDef;

typedef enum PawlTermKind {
  PAWL_TERM_KINETIC,      // T(q, v, t) [J]
  PAWL_TERM_POTENTIAL,    // V(q, t) [J]
  PAWL_TERM_DISSIPATION,  // Rayleigh function D(q, v, t) [W]; the force is -dD/dv
  PAWL_TERM_FORCE,        // on coordinate `target`: f(q, v, t)
  // `mass: {x: m}` becomes a KINETIC term m/2 x'^2
} PawlTermKind;

// What was written once for a family, and has the same form with other coordinates in all members
// of a recipe: those stand in PawlModel.places from `first` on, as many as the recipe has. Of a
// rotation it is the first of its velocities.
typedef struct PawlMember {
  int recipe;  // 0: none
  int first;
  int part;  // which number of a vector
} PawlMember;
// In the place of a node: that of a member of a large family, smooth and like those before it,
// which is built when somebody asks (pawl_model_complete). Only terms and rows have it.
#define PAWL_LATER (-2)

typedef struct PawlRecipeOf {
  struct PawlRecipe* recipe;
  int place_count;
  const int* base;       // the places of the member that it was made of
  const PawlNode* what;  // and what that is: as many numbers as it has
} PawlRecipeOf;

typedef struct PawlTerm {
  PawlTermKind kind;
  PawlNode node;
  PawlMember member;
  int target;      // FORCE: coordinate
  bool of_points;  // a spring between points: `source` is its name
  PawlSource source;
} PawlTerm;

typedef struct PawlRow {
  // g(q, t) = left - right, or w(q, v, t) of a rate equation; a positive multiplier pushes towards
  // growing g or w.
  PawlNode node;
  PawlMember member;
  PawlSource source;
} PawlRow;

typedef struct PawlMode {
  const char* name;
  PawlNode where;  // region, a comparison; PAWL_NO_NODE without
  int row_count;   // 0: disengaged
  bool rate;       // its rows are rate equations, linear in v (docs/theory/rate.md)
  PawlRow* rows;
  PawlSource source;
} PawlMode;

typedef enum PawlEngage { PAWL_ENGAGE_KEEP, PAWL_ENGAGE_SNAP, PAWL_ENGAGE_REFUSE } PawlEngage;
typedef enum PawlDirection {
  PAWL_DIRECTION_DOWN = -1,
  PAWL_DIRECTION_BOTH = 0,
  PAWL_DIRECTION_UP = 1
} PawlDirection;

// An instant: a list of times, or the zero crossing of an expression.
typedef struct PawlTrigger {
  int time_count;
  double* times;  // ascending [s]
  PawlNode when;  // PAWL_NO_NODE without
  PawlDirection direction;
  double after;          // least time since the last change [s]
  double every, offset;  // times offset + k every, k = 0, 1, ... [s]; every = 0: none
} PawlTrigger;

// What makes a constraint or lock engage and let go other than a region.
typedef struct PawlSwitching {
  bool given;    // any of the fields below was written
  bool engaged;  // at the start
  PawlTrigger engage, release;
  double duration;    // `for:` engaged this long [s]; 0 = until released
  PawlNode capacity;  // |multiplier| bound; PAWL_NO_NODE without
  PawlNode friction;  // kinetic friction beyond it; PAWL_NO_NODE: the capacity
  bool smooth;        // wait for zero relative rate
} PawlSwitching;

// The modes of a constraint that engages and lets go by anything but regions: `triggered`. Those of
// sliding exist only with a capacity: the value of its equation grows, or falls.
enum { PAWL_MODE_FREE, PAWL_MODE_HELD, PAWL_MODE_WAITING, PAWL_MODE_UP, PAWL_MODE_DOWN };
// Those of a contact where its instants are located; time stepping leaves it open here. With
// friction it sticks while it is closed, and the last two are those in which it slips instead.
enum {
  PAWL_MODE_OPEN,
  PAWL_MODE_CLOSED,
  PAWL_MODE_LIMIT,
  PAWL_MODE_SLIPS,
  PAWL_MODE_SLIPS_LIMIT,
  PAWL_CONTACT_MODE_COUNT
};

// `assemble:`, which holds where guesses of the start are found and never again: what of it does.
typedef enum PawlAtStart {
  PAWL_AT_START_NOT,
  PAWL_AT_START_BOTH,
  PAWL_AT_START_VALUE,
  PAWL_AT_START_RATE
} PawlAtStart;

typedef struct PawlConstraint {
  const char* name;
  double impact;      // 1 post, 0 pre, 0.5 bisector, or between; used at a change of mode
  bool impact_given;  // written by the user
  bool impact_none;   // `impact: none`
  int mode_count;     // 1 and a NULL mode name for a plain constraint
  PawlMode* modes;
  int start_mode;  // of modes named by `start:`; -1 = decided by the regions
  int row_count;   // rows of its largest mode
  int first_row;   // global index of its first row
  bool is_lock;    // one row, the expression; its reference value is captured at engagement
  bool triggered;  // a lock, or a constraint with `switching->given`: modes as listed above
  PawlAtStart at_start;
  int part_of;  // the constraint that it lets go with, plus 1; 0: none
  PawlEngage on_engage;
  PawlNode snap_to;          // for snap and refuse; PAWL_NO_NODE = 0
  int first_set, set_count;  // of the sets of the model: what its equations keep of the instant
  PawlSwitching* switching;  // one for all of a model that do not
  PawlSource source;
} PawlConstraint;

enum { PAWL_MOST_SLIPS = 2 };  // rows of friction of a contact: planar, spatial

typedef struct PawlContact {
  const char* name;
  PawlNode gap;  // g(q, t) >= 0
  double restitution;
  int slip_count;                  // 0: no friction
  PawlNode slip[PAWL_MOST_SLIPS];  // rates at which it slips, linear in the rates
  int first_slip;                  // rows of friction of the contacts before it
  bool drags;                      // something of a slip is no rate: a belt
  double sticks, slides;           // mu at rest, and while it slips
  PawlNode friction;               // mu(q, v, t) while it slips; PAWL_NO_NODE: `slides`
  PawlSource source;
} PawlContact;

// A part of `impulse:` of an event: [N s] on one coordinate, an expression of q, v and t.
typedef struct PawlImpulse {
  int coordinate;
  PawlNode node;
} PawlImpulse;

// A part of `set:` of an event or a constraint: a state or an input takes the value of an
// expression.
typedef struct PawlSet {
  int coordinate;  // of the state; -1: an input
  int input;
  bool keeps;    // of a constraint
  bool follows;  // of no event: after every step
  PawlNode node;
  PawlSource source;
} PawlSet;

typedef struct PawlEventDef {
  const char* name;
  PawlTrigger trigger;
  bool stop;                         // ends the run
  int first_impulse, impulse_count;  // of the impulses of the model
  int first_set, set_count;          // of its sets
  PawlSource source;
} PawlEventDef;

typedef struct PawlOutput {
  const char* name;
  const char* unit;
  PawlNode node;
  int components;   // 1; of a vector 2 or 3 for the first of its numbers, 0 for the others
  bool reacts;      // accelerations or multipliers occur in it
  bool of_contact;  // the multiplier of a contact occurs in it
  PawlSource source;
} PawlOutput;

typedef enum PawlShapeKind {
  PAWL_SHAPE_LINE,
  PAWL_SHAPE_POLYGON,
  PAWL_SHAPE_DISC,
  PAWL_SHAPE_SPRING,
  PAWL_SHAPE_LINK,     // a body along a line
  PAWL_SHAPE_GROUND,   // what does not move: tracks, walls, guides
  PAWL_SHAPE_BALL,     // sphere
  PAWL_SHAPE_JOINT,    // a pin
  PAWL_SHAPE_FORCE,    // an arrow
  PAWL_SHAPE_TRACE,    // the path of a point
  PAWL_SHAPE_TEXT,     // words at a point
  PAWL_SHAPE_SURFACE,  // a grid of points
  PAWL_SHAPE_GRAVITY,  // its direction
  PAWL_SHAPE_CYLINDER  // between two points, with flat ends
} PawlShapeKind;

typedef struct PawlShape {  // of `scene:`
  PawlShapeKind kind;
  bool spatial;  // its points have three numbers
  int point_count;
  PawlNode (*points)[3];  // x, y, z (PAWL_NO_NODE in the plane). DISC: centre, normal (in space);
                          // FORCE: where it acts, its vector; GRAVITY: its vector
  int row_length;         // SURFACE: points in a row of its grid
  PawlNode radius;        // DISC, BALL, CYLINDER; LINK: half its width; PAWL_NO_NODE without
  const char* of;         // the constraint, lock or contact whose mode colours it; NULL without
  const char* text;       // beside it; NULL without
  PawlSource source;
} PawlShape;

// `projection:` of the infeasible side of a contact onto the feasible one.
typedef struct PawlProjectionDef {
  int coordinate;         // in which the gap is monotone; -1: to be found
  double k;               // of the normal form; 0: to be chosen
  double reach;           // half the width of the box about the start in which it is checked
  PawlNode* map;          // one a coordinate, on the infeasible side; NULL: the normal form
  PawlNode* constraints;  // one a coordinate: onto the bilateral constraints; NULL without
  unsigned char* angles;  // flags by coordinate: on the circle; NULL: none
} PawlProjectionDef;

struct PawlModel {
  PawlArena arena;
  PawlDag* dag;
  const char *file, *name, *about;
  const char *warnings, *notes;  // on the reading, lines; "" without
  int parameter_count, coordinate_count, term_count, constraint_count, row_count, slip_count,
      contact_count, event_count, impulse_count, output_count, shape_count;
  int state_count, dynamic_count, input_count, set_count, follow_count;
  int turning;  // coordinates that are no rotation: the first ones
  int rotation_count;
  PawlRotation* rotations;
  PawlParameter* parameters;
  // One for each velocity: coordinate_count that move, then dynamic_count states: `rate` is z.
  PawlCoordinate* coordinates;
  PawlStateDef* states;
  PawlInputDef* inputs;
  PawlSet* sets;
  PawlTerm* terms;
  PawlConstraint* constraints;  // plain, with modes, and locks, in the order written
  PawlContact* contacts;
  PawlEventDef* events;
  PawlImpulse* impulses;
  PawlOutput* outputs;
  PawlShape* shapes;
  bool spatial;               // some shape of the scene is
  struct PawlLoader* unread;  // what reads the scene, as long as rounds of it are left out; or NULL
  PawlTables tables;          // that nodes of `dag` look into
  int recipe_count, place_count;
  PawlRecipeOf* recipes;  // from 1 on
  int* places;            // coordinates of members
  long long later_count;  // nodes that are PAWL_LATER
  PawlProjectionDef projection;
  PawlSimulateDef simulate;
  uint64_t text_hash;  // of the text it was read from
};

// Builds all nodes that are PAWL_LATER, for those who look at every member; done once.
PAWL_CHECKED PawlStatus pawl_model_complete(const PawlModel* model, PawlError* err);
void pawl_loader_free(struct PawlLoader* loader);  // NULL is allowed
// The one of a term or row, built now if need be; PAWL_NO_NODE without memory.
PawlNode pawl_model_node(const PawlModel* model, PawlNode* node, PawlMember member);

// The unit of the multiplier of a row of a constraint, and of a contact; "" where that cannot be
// told from the units of the coordinates.
const char* pawl_model_row_unit(const PawlModel* model, int constraint, int row);
const char* pawl_model_contact_unit(const PawlModel* model, int contact);

// 0 1 2 where velocity v is an angular velocity about x, y, z of a body; -1 for others.
static inline int pawl_model_spin(const PawlModel* model, int v) {
  bool turns = model->rotation_count > 0 && v >= model->turning && v < model->coordinate_count;
  return turns ? (v - model->turning) % 3 : -1;
}
// The number of the rotation that it belongs to.
static inline int pawl_model_rotation(const PawlModel* model, int v) {
  return (v - model->turning) / 3;
}

// The law of a jump by its word: post, pre or bisector.
bool pawl_model_impact_word(const char* word, double* impact);
