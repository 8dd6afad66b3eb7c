// SPDX-License-Identifier: Apache-2.0
// Inside a system: terms of one shape are lanes of one group. A group has a small graph of its own,
// whose leaves are slots (Q(s), V(s), A(s): coordinate slot s; LAMBDA(k): row slot k; PARAM(c):
// number slot c; STATE(s) is a rate, INPUT(k) and TURN(k) are global), and a list of entries:
// expressions together with where they go. Terms whose shape is rare share the last group, which
// has one lane and slots equal to global indices.
#pragma once

#include "base/arena.h"
#include "base/lock.h"
#include "base/pool.h"
#include "expr/dag.h"
#include "pawl/system.h"

typedef enum PawlQuantity {
  PAWL_Q_M,
  PAWL_Q_F,
  PAWL_Q_K,
  PAWL_Q_C,
  PAWL_Q_G,     // position g
  PAWL_Q_GRAD,  // gradient G
  PAWL_Q_GT,
  PAWL_Q_GAMMA,
  PAWL_Q_ENERGY,
  PAWL_Q_OUTPUT,
  PAWL_Q_GRATE,  // d(G v + g_t)/dq
  PAWL_Q_GACC,   // d(G a + gamma)/dq
  PAWL_Q_GTURN,  // d(G a + gamma)/dv - 2 d(G v + g_t)/dq, which rate rows alone have          (W5)
  PAWL_Q_Z,      // switching functions: of the guards, then of the turns and of the kinks
  PAWL_Q_ZRATE,
  PAWL_Q_WATCH,  // see PawlWatch
  PAWL_Q_WATCHRATE,
  PAWL_Q_POWER,  // see PawlPower
  PAWL_QUANTITY_COUNT
} PawlQuantity;  // bit k of a mask is quantity k of this list: see pawl_quantity_mask

unsigned pawl_quantity_mask(PawlQuantity quantity);
// Forces depend on no rate, whatever the modes.
bool pawl_system_undamped(const PawlSystem* system);
// True when what `mask` names changes with modes and turns alone; with `modes`, while these stay.
bool pawl_system_steady(const PawlSystem* system, unsigned mask, const int* modes);
// Flags the entries of the pattern H (as many) that M has; the others belong to K and C alone, and
// are 0 in M. False for systems of callbacks: nothing is known.
bool pawl_system_flag_mass(const PawlSystem* system, unsigned char* flags);
// Masks for the switching functions without their rates, for what is watched, for its rates, and
// for powers.
enum { PAWL_SURFACES = 8192, PAWL_WATCHES = 16384, PAWL_WATCH_RATES = 32768, PAWL_POWERS = 65536 };

typedef struct PawlEntry {
  PawlQuantity quantity;
  PawlNode node;
  int i, j;  // slots: M, K, C (coordinate, coordinate); G (row, coordinate); f (coordinate);
             // g, g_t, gamma (row); energy (0 kinetic, 1 potential); output (0)
  int gate;  // counts only while this gate is open; -1: always (lane groups have gates by lane)
  bool constant;  // depends on number slots only: it is in the base values, not on a tape
  int* dest;      // lanes: index in the array of the quantity
} PawlEntry;

typedef struct PawlGroup {
  PawlDag* dag;
  int lanes;
  int coordinate_count, row_count, number_count;  // slots
  int* coordinates;                               // slot s of lane l: [s * lanes + l]
  int* rows;
  double* numbers;
  int* outputs;  // lane -> output; OUTPUT groups only
  int* gates;    // lane -> gate or -1; NULL: no gates
  int entry_count, entry_capacity;
  PawlEntry* entries;
} PawlGroup;

// A gate is one mode of a constraint that has several: what it contributes counts while the
// constraint is in that mode. A guard is the switching function of a mode's region, positive
// inside. A turn is what a kink of a constraint stands for between switches (kinks.c): of wrap and
// floor the count of whole periods, of the others the side, 1 or -1. Its switching function is what
// is counted, or what has that side. A kink of forces and energies is the same, but free to be
// plain: its variable is 0 then, else 1 or -1, or 2 n + 1 for the count n. Kinks follow the turns
// in all lists.
typedef struct PawlGate {
  int constraint, mode;
  bool turned;  // its switching function contains turns
} PawlGate;

typedef struct PawlGated {  // a constraint with gates: first_gate + mode
  int constraint, first_gate, mode_count;
} PawlGated;

typedef struct PawlTurn {
  PawlNode node;              // of the model
  bool counts;                // wrap, floor: whole periods; else a side
  bool turned;                // its switching function contains turns
  int constraint;             // the first that it was found in
  unsigned char* uses;        // modes of constraints whose equations change with it
  const char *below, *above;  // how the two sides are called; NULL for what counts
  int place;                  // of a kink of time alone: among the operations on t
  bool felt;                  // of a kink: by the motion; else only by conditions and gaps
  bool slides;                // of a kink: held while one of its sliders does, plain else
} PawlTurn;

// A kink that rates decide on, in the friction or the capacity of a constraint, or, behind these, a
// contact.
typedef struct PawlSlider {
  int kink, of;
} PawlSlider;

// How an expression of time alone runs: each is also the next.
typedef enum PawlCourse {
  PAWL_COURSE_STEPS,  // constant between kinks
  PAWL_COURSE_LINES,  // linear in t between kinks
  PAWL_COURSE_ANY,
} PawlCourse;

// An operation on t that decides on a kink.
typedef struct PawlTimeNode {
  PawlOp op;
  int index;  // exponent of POWI
  double value;
  int arg[3];              // places
  const PawlTable* table;  // that it looks into; NULL for other operations
  bool pieces;             // a table of straight pieces
} PawlTimeNode;

// start + slope t, up to a time; of a kink: its side or count.
typedef struct PawlLine {
  double start, slope, until, kappa;
} PawlLine;

// What the evaluations of forces on the way of a step have seen of the kinks that are held.
typedef struct PawlSides {
  double least;                  // margin, so far
  const unsigned char* ignored;  // kinks
} PawlSides;

// Expressions that are looked at between steps: places in the array `watch`, -1 without. The array
// `watch_rate` holds d/dt of each at its place, along q' = v, v' = a, t' = 1 with the acceleration
// of the point (E12), so a point for PAWL_WATCH_RATES has v and a. Accelerations and multipliers
// that occur in a condition count as constants there: of a condition that reacts the rate is that
// of the rest, no time derivative. Rates exist of engage, release, rate and of the conditions of
// events; those of capacity, friction and to, which cross nothing, read 0. A rate that is not
// finite (of hypot(x', y') at rest) is no fault: who asks for rates alone judges them.
typedef struct PawlWatch {
  int engage, release;           // conditions
  int capacity, friction, rate;  // bound of the multiplier, force while sliding, rate of the row
  int to;                        // value to snap to
  bool engage_reacts;            // accelerations or multipliers occur in it
  bool release_reacts;
} PawlWatch;

// Places in the array `power`: what changes the energy T + V (docs/theory/energy.md).
typedef enum PawlPower {
  PAWL_POWER_FORCES,       // v . F [W]                                                    (B3)
  PAWL_POWER_DISSIPATION,  // -v . dD/dv                                                   (B4)
  PAWL_POWER_FRICTION,     // the same as of forces, of joints that slide                  (B5)
  PAWL_POWER_DRIVES,       // -lambda . g_t                                                (B6)
  PAWL_POWER_TIME,         // dV/dt - dT/dt at fixed q and v                               (B7)
  PAWL_POWER_SHIFT,        // no power: 2 T - v . dT/dv [J], zero where T is quadratic in v (B8)
  PAWL_POWER_COUNT
} PawlPower;

// The friction of a constraint with a capacity hangs on the multiplier of a row.
typedef struct PawlTie {
  int constraint, row;
} PawlTie;

struct PawlConstraint;

struct PawlSystem {
  PawlArena arena;
  PawlLock* lock;                 // walks over the graphs leave marks there: one at a time
  struct PawlCompiled* compiled;  // compiled.h
  const PawlModel* model;         // NULL for callbacks
  PawlCallbacks callbacks;        // used when model is NULL
  PawlSizes sizes;
  const struct PawlConstraint* constraints;  // of the model, or one for each row of callbacks
  int first_contact;                         // row of the first contact
  int* row_contact;                          // row -> contact; -1 for constraints
  int* friction_watches;  // of each contact: the place of its mu(slip) that is watched, or -1
  int tie_count;          // in the order of constraints
  PawlTie* ties;
  bool bounds_react;         // some capacity hangs on multipliers
  int* row_constraint;       // row -> constraint; -1 for contacts
  double* row_constants;     // row -> the size of the numbers that are added up in g, in the mode
                             // where it is largest; NULL: there are none
  bool triggers;             // some constraint is triggered, or there are events
  bool rates;                // some mode has rate equations
  int rotations;             // of the model
  bool turns_tangents;       // some row has a G_turn: of rate equations, or with rotations
  unsigned char* rate_rows;  // flags, of callbacks; NULL for models
  int watch_count;
  PawlWatch* watches;    // of each constraint
  int* event_watches;    // of each event, -1 for times
  bool* event_reacts;    // accelerations or multipliers occur in it
  int first_impulse;     // where the values of the impulses of the model are watched
  int first_set;         // the same of what events set
  bool* set_reacts;      // accelerations or multipliers occur in it
  bool rates_react;      // in the rate of some state: v' and lambda come first, then z' (Z4)
  double* start_inputs;  // sizes.inputs
  double* zeros;  // v + rows: stand for v' and lambda where a rate reacts and they are not known
  bool* presses;  // of each place that is watched: a condition with the force of a contact
  PawlPattern H, G;
  bool tied;     // rows of gaps have places for what their friction pushes (pawl_system_tie)
  bool turning;  // and H for the tangents of friction whose direction turns
  int constraint_count, gated_count, gate_count, guard_count, turn_count, kink_count;
  PawlGated* gated;
  PawlGate* guards;
  PawlTurn* turns;
  int slider_count;
  PawlSlider* sliders;
  int timed_count;  // kinks of forces and energies that time alone decides on, behind the others
  int plain_count;  // too many of them: plain functions
  bool gaps_kink;   // some of them are in gaps of contacts
  bool slips_kink;  // or in the slips of these
  int time_count;
  PawlTimeNode* times;
  int* first_mode;          // of each constraint, in the lists of PawlTurn.uses
  bool has_sides;           // some turn is a side
  bool turned;              // some switching function contains turns
  struct PawlReach* reach;  // reach.h; NULL: nothing is known of how soon regions are left
  int group_count;
  PawlGroup* groups;
  int size[PAWL_QUANTITY_COUNT];      // length of each array
  double* base[PAWL_QUANTITY_COUNT];  // the constant part of each array
  bool summed[PAWL_QUANTITY_COUNT];   // more than one group writes to it: results are added to base
  bool varies[PAWL_QUANTITY_COUNT];   // some entry is not constant
  unsigned moves;        // mask of what some entry of changes also while modes and turns stay
  unsigned* gate_moves;  // the same by gate, of entries behind it
};

// The friction of a contact.
typedef struct PawlContactFriction {
  int count;              // rows of friction, 0: none
  int first;              // the first of them
  double sticks, slides;  // mu at rest and while it slips, where `watch` is -1
  int watch;              // place of mu among what is watched, or -1
} PawlContactFriction;
PawlContactFriction pawl_system_friction(const PawlSystem* system, int row);

// q moves by sums, so that q[j] and v[j] belong together.
bool pawl_system_adds_up(const PawlSystem* system);
// Quaternions of length 1 again, after steps that move them by sums.
void pawl_system_normalise(const PawlSystem* system, double* q);
static inline void pawl_system_tidy(const PawlSystem* system, double* q) {
  if (system->rotations > 0) {
    pawl_system_normalise(system, q);
  }
}

// Velocities without the states behind them, whose sizes say nothing about a motion.
static inline int pawl_moving(PawlSizes n) {
  return n.v - n.states;
}

// The inputs at a point: behind what locks hold, or those of the start.
static inline const double* pawl_system_inputs(const PawlSystem* system, const PawlPoint* point) {
  return point->held ? point->held + system->sizes.rows : system->start_inputs;
}

// What a system has of compiled programs (compiled.h); NULL when memory is short.
struct PawlCompiled* pawl_compiled_create(void);
void pawl_compiled_destroy(struct PawlCompiled* compiled);  // ends what is under way; NULL: nothing

// A piece of mechanics: an addend of an energy, a force, the rows of a constraint, an output.
typedef enum PawlItemKind {
  PAWL_ITEM_KINETIC,
  PAWL_ITEM_POTENTIAL,
  PAWL_ITEM_DISSIPATION,
  PAWL_ITEM_FORCE,       // on coordinate slot `target`
  PAWL_ITEM_FRICTION,    // the same, of a joint that slides
  PAWL_ITEM_STATE,       // the rate of the state that is stored as rate `target`
  PAWL_ITEM_UNIT,        // its mass, 1
  PAWL_ITEM_CONSTRAINT,  // `count` rows, row slots target .. target + count - 1
  PAWL_ITEM_RATE,        // the same, of rate equations
  PAWL_ITEM_SLIP,        // the same, of the slip of a contact
  PAWL_ITEM_OUTPUT,
  PAWL_ITEM_GUARD,      // switching function `target`
  PAWL_ITEM_KINK,       // the same, without its rate
  PAWL_ITEM_WATCH,      // place `target` of what is watched
  PAWL_ITEM_CONDITION,  // the same, and of its rate
} PawlItemKind;

typedef struct PawlItem {
  PawlItemKind kind;
  int target;
  int count;              // expressions
  const PawlNode* nodes;  // of the graph that the item is in
  int gate;               // -1 without
} PawlItem;

// Which powers the terms of the system can have: bit PAWL_POWER_FORCES and so on. 0 for a system
// that conserves its energy between jumps, and for callbacks, whose powers are not known.
unsigned pawl_system_powers(const PawlSystem* system);

// Which coordinate slots are angular velocities.
typedef struct PawlSpins {
  const PawlModel* model;
  const int* coordinates;  // of slot s: [s * stride]; NULL: slots are coordinates
  int stride;
} PawlSpins;

// Receives a derived expression that is not the constant 0. Returns 0, or -1 when out of memory.
typedef int (*PawlSink)(void* context, PawlQuantity quantity, int i, int j, PawlNode node);

// Derives all that an item contributes (docs/theory/equations.md). `coordinates` (count, ascending)
// are the coordinate slots that occur in it, a force's target included. `spins` NULL: no rotations.
PAWL_CHECKED PawlStatus pawl_derive_item(PawlDag* dag, const PawlItem* item, const PawlSpins* spins,
                                         int coordinate_count, const int* coordinates,
                                         PawlSink sink, void* context);
// What friction F along the gradient of a row g (of a rate equation g = w) does to coordinate j
// where its joint slides down: F dg/dq_j, or F dw/dv_j; up it is minus this. PAWL_NO_NODE when
// memory is short.                                                                      (V7) (W7)
PawlNode pawl_derive_sliding(PawlDag* dag, const PawlModel* model, bool rate, PawlNode g,
                             PawlNode F, int j);

// Derives what an item does to the energy: PAWL_Q_POWER at the places of PawlPower.
PAWL_CHECKED PawlStatus pawl_derive_powers(PawlDag* dag, const PawlItem* item, int coordinate_count,
                                           const int* coordinates, PawlSink sink, void* context);

// Sorts the terms of the model into groups, derives each, fills system->groups.
PAWL_CHECKED PawlStatus pawl_system_group(PawlSystem* system, PawlError* err);
// Lists gates, guards and turns of the model.
PAWL_CHECKED PawlStatus pawl_system_list_switches(PawlSystem* system, PawlError* err);
// Counts what is watched.
PAWL_CHECKED PawlStatus pawl_system_list_watches(PawlSystem* system, PawlError* err);
// The kinks of constraints, and those of forces and energies.
PAWL_CHECKED PawlStatus pawl_system_list_turns(PawlSystem* system, PawlError* err);
// Whether the start (or rate) of a coordinate is a guess.
bool pawl_system_guessed(const PawlSystem* system, int coordinate, bool rate);
// The leaf TURN that is the mode of constraint c: those of constraints follow turns and kinks.
static inline int pawl_system_mode_turn(const PawlSystem* system, int c) {
  return system->sizes.modes - system->constraint_count + c;
}
// How many switching functions there are.
static inline int pawl_system_surface_count(const PawlSystem* system) {
  return system->guard_count + system->turn_count + system->kink_count;
}
// True when an equation of constraint c in this mode changes with turn k.
bool pawl_system_uses_turn(const PawlSystem* system, int k, int c, int mode);
// The switching function of a region: z > 0 inside, built in `dag` from a node of `from`; `map`
// gives the nodes of `dag` for its operands. PAWL_NO_NODE when the region is not made of
// comparisons (or memory is short).
PawlNode pawl_system_guard(PawlDag* dag, const PawlDag* from, const PawlNode* map, PawlNode where);
// The branch of a kink for its turn, built from its operands in `dag`, which has the same tables.
PawlNode pawl_kink_branch(PawlDag* dag, const PawlDagNode* kink, const PawlNode* arg,
                          PawlNode turn);
// The margin of a turn with this value: positive inside its period, or on its side.
static inline double pawl_turn_margin(const PawlTurn* turn, double z, int value) {
  double above = z - value, below = value + 1 - z;
  return !turn->counts ? value * z : above < below ? above : below;
}
// Whether a turn with this value is left: beyond its border, or, for a count of what jumps with
// other turns, on the upper one, which belongs to the next.
static inline bool pawl_turn_is_left(const PawlTurn* turn, double z, int value, double slack) {
  return pawl_turn_margin(turn, z, value) < -slack ||
         (turn->counts && turn->turned && z >= value + 1);
}
// That of a kink, INFINITY for one that is free; and the variable that holds it on the side of z.
double pawl_kink_margin(const PawlTurn* kink, double z, int mode);
int pawl_kink_side(const PawlTurn* kink, double z);
bool pawl_kink_is_left(const PawlTurn* kink, double z, int mode);
// The least of all kinks but those that are ignored; `each` (may be NULL): of every kink.
double pawl_kinks_margin(const PawlSystem* system, const double* z, const int* modes,
                         const unsigned char* ignored, double* each);
// Whether a place is beyond some kink that is held.
bool pawl_kinks_beyond(const PawlSystem* system, const double* z, const int* modes);
// Which are to be held in these modes (kink_count flags): all but those of friction that does not
// slide.                                                                                      (K4)
void pawl_kinks_in_use(const PawlSystem* system, const int* modes, int* used);
// Those of time alone (PawlSystem.timed_count). The course of an operation, from those of its
// operands; and, once the kinks are known, the operations that decide on them.
PawlCourse pawl_course_of(const PawlDag* dag, const PawlDagNode* node, const PawlCourse* of);
PAWL_CHECKED PawlStatus pawl_system_list_times(PawlSystem* system, PawlError* err);
// The variables that hold them just after t: 1 below, -1 above (the other way than elsewhere), odd
// for counts, 2 for sign(0), 0 to let one free. Returns up to when; `room` is for time_count lines.
double pawl_times_look(const PawlSystem* system, double t, PawlLine* room, int* modes);
// A kink of time that may be free; `turn` as above.
PawlNode pawl_kink_timed(PawlDag* dag, const PawlDagNode* kink, const PawlNode* arg, PawlNode plain,
                         PawlNode turn);
// In the mask of pawl_eval_create: explicit steps are taken with it, so that they may be compiled
// together (kernels.h).
#define PAWL_STAGES (1u << 30)
// With tangents, where multipliers of contacts and of their friction are zero, and no accelerations
// of theirs are asked for: families of these add nothing to K and C, and have no d(G a + gamma).
#define PAWL_IDLE_CONTACTS (1u << 29)
// Lets the threads of a pool, which must outlive it, share the evaluation where that is long.
PAWL_CHECKED PawlStatus pawl_eval_share(PawlEval* eval, PawlPool* pool, PawlError* err);
bool pawl_eval_is_timeless(const PawlEval* eval);  // its results do not depend on t by itself
// After an evaluation of forces in these modes: notes what it has seen of kinks.
void pawl_eval_see_kinks(const PawlEval* eval, const int* modes, PawlSides* sides);
// The same for a kink that may be free: `plain` then.
PawlNode pawl_kink_eased(PawlDag* dag, const PawlDagNode* kink, const PawlNode* arg, PawlNode plain,
                         PawlNode turn);
// Whether a node looks into a table of straight pieces, whose corners are located.
bool pawl_kink_is_table(const PawlDag* dag, const PawlDagNode* node);
// What it counts, or what has the side; as pawl_system_guard.
PawlNode pawl_kink_surface(PawlDag* dag, const PawlDag* from, const PawlNode* map, PawlNode node);
// Appends an expression of the model with the names of the model.
void pawl_model_print(PawlText* out, const PawlModel* model, PawlNode node);
// From the entries of all groups: patterns, destinations and base values.
PAWL_CHECKED PawlStatus pawl_system_scatter(PawlSystem* system, PawlError* err);
// Sets the lengths of the arrays from the sizes and patterns.
void pawl_system_measure(PawlSystem* system);
// The same system, with places in the rows of gaps for what their friction pushes, for methods that
// locate where contacts slip; with `turning` also in H, for how their friction turns with v (F30).
// It borrows all but its patterns; the caller holds the lock.
PAWL_CHECKED PawlStatus pawl_system_tie(const PawlSystem* system, bool turning, PawlSystem** out,
                                        PawlError* err);
void pawl_system_untie(PawlSystem* tied);  // NULL is allowed

// Names in `err` the first term that is not finite at the point, or whose derivatives that `mask`
// asks for are not; PAWL_RETRY.
PawlStatus pawl_system_fault(const PawlSystem* system, unsigned mask, const PawlPoint* point,
                             PawlError* err);
// Whether the friction mu of a contact (its row) that is closed at the point may be: a negative one
// is PAWL_ERROR_RUN, one that is not finite PAWL_RETRY and said as above. While a contact is open
// it is not asked, and may be anything.
PAWL_CHECKED PawlStatus pawl_system_check_friction(const PawlSystem* system, int row, double mu,
                                                   const PawlPoint* point, PawlError* err);
// The same for what is not finite at any point; PAWL_ERROR_MODEL.
PawlStatus pawl_system_constant_fault(const PawlSystem* system, PawlError* err);
// How large the terms of each row's g are that cancel at the point, the largest of all modes; 0 for
// rows of callbacks and of rates. Allocates: for points where rows cannot be met.           (E15)
PAWL_CHECKED PawlStatus pawl_system_row_terms(const PawlSystem* system, const PawlPoint* point,
                                              double* terms, PawlError* err);
