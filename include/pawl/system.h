// SPDX-License-Identifier: Apache-2.0
// The equations of motion as functions of numbers:
//
//   q' = T(q) v                                    kinematics (T = I but for rotations)
//   M(q,v,t) v' = f(q,v,t) + G(q,t)^T lambda       dynamics
//   g(q,t) = 0                                     constraint rows
//   A(q,t) v + b(q,t) = 0                          rate equations: G = A, g_t = b, g = 0
//
// A positive multiplier pushes towards growing g, or growing A v. A system comes from a model or
// from the caller's own functions; what uses it cannot tell the difference.
#pragma once

#include "pawl/base.h"
#include "pawl/model.h"
#include "pawl/pattern.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PawlSystem PawlSystem;

// Derives everything and fixes the sparsity. `model` must outlive the system.
PAWL_API PAWL_CHECKED PawlStatus pawl_system_create(const PawlModel* model, PawlSystem** out,
                                                    PawlError* err);
PAWL_API void pawl_system_destroy(PawlSystem* system);  // NULL is allowed

// The equations of motion derived from a model, written out with its parameters as symbols: text,
// or a LaTeX document. Free `*out` with pawl_string_free. For models of up to PAWL_EQUATIONS_MOST
// coordinates; PAWL_ERROR_USAGE beyond.
#define PAWL_EQUATIONS_MOST 40
PAWL_API PAWL_CHECKED PawlStatus pawl_model_equations(const PawlModel* model, bool latex,
                                                      char** out, PawlError* err);
// The same as a file of C that compiles on its own, for models of up to PAWL_SOURCE_MOST
// coordinates: M, f, g, G, g_t, bias, energies and outputs as functions of numbers, parameters as
// members of a struct, modes of constraints as arguments. Results agree with those of an evaluation
// up to rounding; outside the domain of an operation C's own rules hold (1/0 is infinite).
#define PAWL_SOURCE_MOST 256
PAWL_API PAWL_CHECKED PawlStatus pawl_model_source(const PawlModel* model, char** out,
                                                   PawlError* err);
PAWL_API void pawl_string_free(char* text);  // NULL is allowed

// Has the C compiler of this machine compile what the evaluations and steppers of the system run
// that there are now, and waits for it or goes on meanwhile; they take the functions before their
// next run, with the same bits. Simulations with `native: on` do so by themselves. Nothing is lost
// where it fails.
PAWL_API PAWL_CHECKED PawlStatus pawl_system_compile(const PawlSystem* system, bool wait,
                                                     PawlError* err);

typedef struct PawlSizes {
  int q;        // coordinates
  int v;        // velocities
  int rows;     // constraint rows, then those of friction, then one for each contact
  int outputs;  // named outputs
  int modes;    // discrete variables: the mode of each constraint, then counts of whole periods,
                // then which contacts are closed
  int states;   // first-order states with a rate: the last of the velocities (and coordinates)
  int inputs;   // numbers that are held between steps: inputs, states without rate, parameters
} PawlSizes;
PAWL_API PawlSizes pawl_system_sizes(const PawlSystem* system);

PAWL_API const char* pawl_system_name(const PawlSystem* system);
// Names as the user wrote them; valid as long as the system.
PAWL_API const char* pawl_system_coordinate_name(const PawlSystem* system, int q);
PAWL_API const char* pawl_system_coordinate_unit(const PawlSystem* system, int q);  // "" unstated
// The name and unit of what velocity v is the rate of, or of the velocity itself (`*is_rate` false:
// R.omega.x of a rotation). NULL where a caller's functions have other velocities than coordinates.
PAWL_API const char* pawl_system_velocity_name(const PawlSystem* system, int v, bool* is_rate);
PAWL_API const char* pawl_system_velocity_unit(const PawlSystem* system, int v);
PAWL_API const char* pawl_system_output_name(const PawlSystem* system, int output);
PAWL_API const char* pawl_system_output_unit(const PawlSystem* system, int output);
// First-order states z' = s(q, v, z, u, t, lambda) are stored as velocities of which nothing
// depends on the integral (docs/theory/states.md): state k is v[sizes.v - sizes.states + k], its
// rate a[...], and its name and unit those of that coordinate, whose q has no meaning.
//
// Inputs by number; the names of states without rate and of parameters that may change are among
// them. -1 when there is none of this name.
PAWL_API int pawl_system_find_input(const PawlSystem* system, const char* name);
PAWL_API const char* pawl_system_input_name(const PawlSystem* system, int input);
PAWL_API const char* pawl_system_input_unit(const PawlSystem* system, int input);
PAWL_API double pawl_system_input_start(const PawlSystem* system, int input);

// The constraint that a row belongs to, and the row's number in it, from 0. Of a contact row 0 is
// the contact, 1 and 2 are its friction.
PAWL_API const char* pawl_system_row_name(const PawlSystem* system, int row, int* number);
// The unit of its multiplier, J by that of the row: "N", "N m", "N/m"; "" where the units of the
// coordinates do not tell it. An impulse has the unit times a second.
PAWL_API const char* pawl_system_row_unit(const PawlSystem* system, int row);

// What a row demands of the motion.
typedef enum PawlRowKind {
  PAWL_ROW_BILATERAL,  // g = 0
  PAWL_ROW_CONTACT,    // 0 <= g, pushes only
  PAWL_ROW_FRICTION,   // the slip of a contact: |lambda| is at most mu times that of the contact
} PawlRowKind;
PAWL_API PawlRowKind pawl_system_row_kind(const PawlSystem* system, int row);
// True when the row is one of a rate equation in these modes (NULL: the first): it has no position
// level.
PAWL_API bool pawl_system_row_is_rate(const PawlSystem* system, int row, const int* modes);
// True when the row belongs to a constraint that can switch by its place.
PAWL_API bool pawl_system_row_switches(const PawlSystem* system, int row);
// Newton's coefficient of restitution of a contact row, 0 for others.
PAWL_API double pawl_system_restitution(const PawlSystem* system, int row);

// Bilateral rows in force in these modes.
PAWL_API int pawl_system_rows_in_force(const PawlSystem* system, const int* modes);
// True when some constraint can switch by its place (regions, or kinks in an equation).
PAWL_API bool pawl_system_switches(const PawlSystem* system);
// True when some constraint or lock engages and lets go by time, conditions, capacity or call, or
// when the model has events.
PAWL_API bool pawl_system_triggers(const PawlSystem* system);
// The constraint or lock of this name, -1 when there is none.
PAWL_API int pawl_system_find_constraint(const PawlSystem* system, const char* name);
// True when it engages and lets go by time, conditions, capacity or call.
PAWL_API bool pawl_system_engages(const PawlSystem* system, int constraint);
// Constraints and their modes; `modes` are discrete variables as in a PawlPoint.
PAWL_API int pawl_system_constraint_count(const PawlSystem* system);
PAWL_API const char* pawl_system_constraint_name(const PawlSystem* system, int constraint);
// The same equations in both: constraints in the same modes, kinks on the same sides; counts of
// whole periods may differ.
PAWL_API bool pawl_system_same_modes(const PawlSystem* system, const int* a, const int* b);
// True when an equation of a constraint has kinks (min, max, abs, sign, if) that the motion can
// cross.
PAWL_API bool pawl_system_kinked(const PawlSystem* system);
// How many modes a constraint can be held in or be free: those that change the rows in force. One
// that holds where a start is found has one: free.
PAWL_API int pawl_system_mode_count(const PawlSystem* system, int constraint);
PAWL_API const char* pawl_system_event_name(const PawlSystem* system, int event);
PAWL_API void pawl_system_constraint_rows(const PawlSystem* system, int constraint, int* first,
                                          int* count);
// The name of the mode that a constraint is in; may be written to `room` (size bytes).
PAWL_API const char* pawl_system_mode_name(const PawlSystem* system, int constraint,
                                           const int* modes, char* room, size_t size);
// True when a constraint is not in the same mode in the two sets.
PAWL_API bool pawl_system_switched(const PawlSystem* system, int constraint, const int* from,
                                   const int* to);

// The pattern of M, K and C (one for the three, with the whole diagonal), v-by-v, and that of G,
// rows-by-v.
PAWL_API PawlPattern pawl_system_pattern_H(const PawlSystem* system);
PAWL_API PawlPattern pawl_system_pattern_G(const PawlSystem* system);

// True when the model marks starts or rates as guesses: pawl_stepper_start changes these, and no
// others, until the constraints hold.
PAWL_API bool pawl_system_guesses(const PawlSystem* system);

// q and v as the model states them at t = 0; arrays of sizes q and v.
PAWL_API void pawl_system_start(const PawlSystem* system, double* q, double* v);

// out = q moved by the increment dq (length v): a sum, but for rotations. `out` may be `q`.
PAWL_API void pawl_system_retract(const PawlSystem* system, const double* q, const double* dq,
                                  double* out);
// q' = T(q) v; a copy when coordinates and velocities are the same.
PAWL_API void pawl_system_rates(const PawlSystem* system, const double* q, const double* v,
                                double* q_rate);

// True when M is the same at every point.
PAWL_API bool pawl_system_constant_mass(const PawlSystem* system);

// What was derived, for reports and benchmarks.
typedef struct PawlSystemInfo {
  int groups;         // sets of terms of one shape
  int largest_lanes;  // instances of the most frequent shape
  int nonzeros_H, nonzeros_G;
} PawlSystemInfo;
PAWL_API PawlSystemInfo pawl_system_info(const PawlSystem* system);

// ---- evaluation -------------------------------------------------------------------------------
enum {                               // what an evaluation computes
  PAWL_MASS = 1,                     // M
  PAWL_FORCE = 2,                    // f
  PAWL_STIFFNESS = 4,                // K = d(M a - f - G^T lambda)/dq
  PAWL_DAMPING = 8,                  // C = d(M a - f)/dv; -df/dv where M does not depend on v
  PAWL_POSITION = 16,                // g
  PAWL_GRADIENT = 32,                // G = dg/dq
  PAWL_TIME_GRADIENT = 64,           // g_t = dg/dt at fixed q
  PAWL_BIAS = 128,                   // gamma = d(G v + g_t)/dt at zero acceleration
  PAWL_ENERGY = 256,                 // kinetic and potential energy [J]
  PAWL_OUTPUTS = 512,                // the model's outputs
  PAWL_VELOCITY_TANGENT = 1024,      // d(G v + g_t)/dq
  PAWL_ACCELERATION_TANGENT = 2048,  // d(G a + gamma)/dq; d(G a + gamma)/dv is twice the former
  PAWL_SWITCHING = 4096,             // switching functions z and their rates z'
  PAWL_EVERYTHING = 8191,
};

// Where to evaluate. An array may be NULL where nothing asked for depends on it: `a` (length v, the
// acceleration v') enters K, C and outputs, `lambda` (length rows) K and outputs.
typedef struct PawlPoint {
  double t;  // [s]
  const double *q, *v, *a, *lambda;
  const int* modes;  // sizes.modes; NULL: every constraint in its first mode
  // rows: what a lock holds, g = expression - held; then the values of the inputs. NULL: zeros, and
  // the inputs of the start.
  const double* held;
} PawlPoint;

// Values in the order of the patterns; arrays of what the mask left out are not meaningful.
typedef struct PawlValues {
  double *M, *K, *C;        // nonzeros of H
  double* G;                // nonzeros of G
  double* f;                // v
  double *g, *g_t, *gamma;  // rows
  double* energy;           // 2: kinetic, potential [J]
  double* outputs;          // outputs
  double *G_rate,
      *G_acceleration;         // nonzeros of G: the tangents of velocity and acceleration level
  double* G_turn;              // what d(G a + gamma)/dv is beyond 2 G_rate; NULL: nothing
  double *z, *z_rate;          // switching functions, see src/switch
  double *watch, *watch_rate;  // conditions, capacities and the like, see src/switch/watch.h
  double* power;               // what changes the energy, see src/step/works.h
} PawlValues;

// A plan for one mask: the programs, their registers and the arrays for the results. Belongs to one
// thread at a time; any number may exist for a system, which must outlive them. Threads may make
// and use evaluations, steppers and simulations of one system at the same time.
typedef struct PawlEval PawlEval;
PAWL_API PAWL_CHECKED PawlStatus pawl_eval_create(const PawlSystem* system, unsigned mask,
                                                  PawlEval** out, PawlError* err);
PAWL_API void pawl_eval_destroy(PawlEval* eval);  // NULL is allowed
// Computes; allocates nothing unless it fails. PAWL_RETRY: a term is outside its domain or
// overflows at this point (a smaller step may avoid it); the message names the term, where it is
// written and t.
PAWL_API PAWL_CHECKED PawlStatus pawl_eval_run(PawlEval* eval, const PawlPoint* point,
                                               PawlError* err);
PAWL_API const PawlValues* pawl_eval_values(const PawlEval* eval);
// Operations times lanes of one run in the modes of the last one (before: in the first modes), for
// benchmarks.
PAWL_API long long pawl_eval_operations(const PawlEval* eval);

// ---- a system of the caller's own functions ---------------------------------------------------
typedef struct PawlCallbacks {
  void* context;     // handed to every function
  const char* name;  // of the system; NULL: "callbacks"
  PawlSizes sizes;
  // Sparsity; NULL stands for full matrices. H must hold the whole diagonal.
  const PawlPattern *H, *G;
  // Names; NULL (the array) stands for q[0], q[1], ... and constraint[0], ...
  const char* const* coordinate_names;
  const char* const* row_names;
  const char* const* output_names;
  const double *q_start, *v_start;  // NULL stands for zeros
  // Rows that can be engaged and released during a run (pawl_sim_engage), each by itself: flags by
  // row, 1 engaged at the start, 0 not; NULL: every row holds for good. A row that engages holds
  // the value that its g has then. `evaluate` gives all rows always.
  const unsigned char* engaged;
  // Rows of rate equations A(q,t) v + b(q,t) = 0, which have no position level: flags by row; NULL:
  // none. `evaluate` gives for them g = 0, G = A, g_t = b and gamma = d(A v + b)/dt at zero
  // acceleration; with PAWL_VELOCITY_TANGENT d(A v + b)/dq, and with PAWL_ACCELERATION_TANGENT
  // d(A a + gamma)/dq and, in G_turn, d(A a + gamma)/dv less twice d(A v + b)/dq (zero for other
  // rows). The pattern G has a place for each of these.
  const unsigned char* rate_rows;
  // Fills the arrays of `values` that `mask` names, all entries of each. Returns 0, or non-zero
  // when the point is outside the domain.
  int (*evaluate)(void* context, unsigned mask, const PawlPoint* point, PawlValues* values);
  // Both NULL: q' = v.
  void (*retract)(void* context, const double* q, const double* dq, double* out);
  void (*rates)(void* context, const double* q, const double* v, double* q_rate);
} PawlCallbacks;

// Copies all that `callbacks` points to, but `context`, which must outlive the system.
PAWL_API PAWL_CHECKED PawlStatus pawl_system_create_callbacks(const PawlCallbacks* callbacks,
                                                              PawlSystem** out, PawlError* err);

#ifdef __cplusplus
}
#endif
