// SPDX-License-Identifier: Apache-2.0
// Advancing a state of a system in time by one method.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pawl/base.h"
#include "pawl/model.h"
#include "pawl/system.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct PawlStepper PawlStepper;  // owns its workspace, borrows the system

// What changes the energy of a run (docs/theory/energy.md), summed up since its start [J]; positive
// where energy comes in. The energy is that of the start plus the first six, but for errors.
typedef enum PawlWork {
  PAWL_WORK_FORCES,       // applied forces
  PAWL_WORK_DISSIPATION,  // Rayleigh's function
  PAWL_WORK_FRICTION,     // joints that slide
  PAWL_WORK_DRIVES,       // constraints that move with time
  PAWL_WORK_TIME,         // time in potential and kinetic energy
  PAWL_WORK_JUMPS,        // jumps at instants and impacts
  PAWL_WORK_ERROR,        // estimate of the error of the integrals above
  PAWL_WORK_TRAFFIC,      // sum of the sizes of all pieces but those of PAWL_WORK_TIME
  PAWL_WORK_NET,          // the same where what comes in and goes out in a piece cancels
  PAWL_WORK_START,        // energy at the start, as a simulation sets it
  PAWL_WORK_JOLTED,  // 1 right after an impact or a step through a region: multipliers are impulses
  PAWL_WORK_COUNT
} PawlWork;

// All that changes in a run: copied or saved and loaded (below), the run goes on with the same
// bits. Made by pawl_state_create; q, v, a and lambda may be written.
typedef struct PawlState {
  double t;          // [s]
  long long step;    // steps taken since the start
  double* q;         // sizes.q
  double* v;         // sizes.v
  double* a;         // sizes.v: the acceleration v'
  double* lambda;    // sizes.rows: multipliers, the force or torque of each constraint row
  int memory_count;  // what the method carries from step to step
  double* memory;
  double* work;  // PAWL_WORK_COUNT: zeros unless the stepper keeps works
  // the phase: everything discrete
  double* held;             // sizes.rows: the value that each lock holds; then sizes.inputs: inputs
  double* since;            // time of the last change of each constraint, then of each event [s]
  double* largest;          // the largest that each condition was
  double* blur;             // below this a condition counts as zero, after rows held it there
  double* bounces;          // of each located contact, how it was left from impact to impact
  int* sides;               // on which side of zero each condition was last seen
  int* passed;              // times of each schedule that have passed
  int mode_count;           // sizes.modes
  int* modes;               // the mode of each constraint, then counts of whole periods, contacts
  unsigned char* in_force;  // sizes.rows: what bounds the force of a row in force; 0: it has none
  unsigned char* active;    // sizes.rows: binds, and does not follow from other rows
  unsigned char* redundant;  // sizes.rows: in force, but follows from other rows
  int redundant_count;
  double redundant_off;  // how far rows in force were off when these were found, relative
  unsigned char* still;  // surfaces of regions that the motion cannot leave
  int still_count;
  size_t bytes;  // of the arrays, which lie behind each other from q on
} PawlState;

typedef struct PawlStepperInfo {  // work done since creation
  long long steps, newton_iterations, factorizations, evaluations;
  long long kinks;     // of forces and energies that were located: a step has ended there
  int redundant_rows;  // rows that depend on others at the start and are left out
  double cones;  // [1] of contacts with friction: the largest residual of their cones, (F8) at
                 // instants, (F33) of time steps
  long long relaxed, swept;  // time steps of theirs with a relaxed solution (F16), and by sweeps
} PawlStepperInfo;

// Which impact laws a method keeps where constraints switch by regions.
typedef enum PawlMethodLaws {
  PAWL_LAWS_NO_JUMP,     // none: rates do not jump
  PAWL_LAWS_POST,        // post
  PAWL_LAWS_DIRECTIONS,  // post; of the others the directions of the forces, but not the jump
  PAWL_LAWS_ALL,         // every law
} PawlMethodLaws;

// What a method is and can do. Help texts, refusals and checks of options are made from it.
typedef struct PawlMethodInfo {
  const char* name;     // "ga-p"
  const char* about;    // one line
  int order;            // of q and v in smooth motion
  int order_switching;  // the same between two switches of a model with regions, where it is less
  const char* holds;    // levels at which constraints hold: "position, velocity"
  const char* options;  // of simulate.def, those that only some methods use: "rtol atol"
  bool regions;         // takes steps in which constraints switch by regions
  bool contacts;        // knows contacts
  bool friction;        // and their friction
  // v' and multipliers are not those between jumps where contacts or regions switch: impulses are
  // in them, or the forces of what switches are not.
  bool apart;
  bool smooth;       // can be the method between the switches of event-driven
  bool adaptive;     // chooses its own steps by rtol and atol; `step` is that of the samples
  bool linear_only;  // refuses systems that are not linear
  bool sums_only;    // refuses systems whose coordinates do not move by sums: rotations
  bool action;       // refuses what does not follow from energies and one elastic contact
  bool absent;       // not in this build
  int largest;       // velocities that it takes at most; 0: any number
  PawlMethodLaws laws;
} PawlMethodInfo;
PAWL_API const PawlMethodInfo* pawl_method(int index);              // NULL past the end
PAWL_API const PawlMethodInfo* pawl_method_find(const char* name);  // NULL without; auto is none
// Whether an option of simulate.def has any effect with a method (and `smooth`, for event-driven).
PAWL_API bool pawl_method_uses(const PawlSimulateDef* def, const char* option);

// Allocates all that later steps need. `system` must outlive the stepper. `def` is copied.
PAWL_API PAWL_CHECKED PawlStatus pawl_stepper_create(const PawlSystem* system,
                                                     const PawlSimulateDef* def, PawlStepper** out,
                                                     PawlError* err);
PAWL_API void pawl_stepper_destroy(PawlStepper* stepper);  // NULL is allowed
// The options as they are used: with the method (and `smooth`) that auto chose in its place.
PAWL_API const PawlSimulateDef* pawl_stepper_def(const PawlStepper* stepper);
// Why auto chose it; "" where the method was named.
PAWL_API const char* pawl_stepper_reason(const PawlStepper* stepper);

// From here on steps integrate the works of their states. Systems of callbacks
// have none: what powers their forces have is not known. Cannot be undone.
PAWL_API PAWL_CHECKED PawlStatus pawl_stepper_keep_works(PawlStepper* stepper, PawlError* err);
// True when the system can have this work, PAWL_WORK_FORCES to PAWL_WORK_JUMPS; false for all
// where none are kept.
PAWL_API bool pawl_stepper_has_work(const PawlStepper* stepper, PawlWork work);

// A state at the system's start values, t = 0.
PAWL_API PAWL_CHECKED PawlStatus pawl_state_create(const PawlStepper* stepper, PawlState** out,
                                                   PawlError* err);
PAWL_API void pawl_state_destroy(PawlState* state);  // NULL is allowed

// A state goes on in another stepper of the same system and method with the same bits, whatever
// options other than the method it has been made with: `to` (of `stepper`) becomes `from` (of
// `of`), and the stepper takes over what `of` knows of its matrices. The two may be the same
// stepper. PAWL_ERROR_USAGE when they do not fit.
PAWL_API PAWL_CHECKED PawlStatus pawl_state_copy(PawlStepper* stepper, PawlState* to,
                                                 const PawlStepper* of, const PawlState* from,
                                                 PawlError* err);
// The same through plain bytes, for files: how many a state takes, writing them, and reading them.
// Bytes of another system or method, of another kind of machine, or damaged ones are
// PAWL_ERROR_USAGE with the reason, and the state is as before.
PAWL_API size_t pawl_state_size(const PawlStepper* stepper);
PAWL_API void pawl_state_save(const PawlStepper* stepper, const PawlState* state, void* bytes);
PAWL_API PAWL_CHECKED PawlStatus pawl_state_load(PawlStepper* stepper, PawlState* state,
                                                 const void* bytes, size_t size, PawlError* err);

// Makes a state ready for its first step: checks that q and v are on the constraints, and computes
// the acceleration and multipliers that belong to them. With `project` a start off the constraints
// is moved onto them by the least change in the metric of the mass matrix; without, it is
// PAWL_ERROR_RUN with a message that names the constraint and says by how much. Where friction of
// located contacts leaves no accelerations the impact without a collision is taken here: the state
// has the rates after it, and pawl_stepper_instants the impact, until the first step.
PAWL_API PAWL_CHECKED PawlStatus pawl_stepper_start(PawlStepper* stepper, PawlState* state,
                                                    bool project, PawlError* err);

// What the start found worth a warning (redundant rows, by name), or "".
PAWL_API const char* pawl_stepper_warning(const PawlStepper* stepper);

// Advances `state` by h > 0 [s]. PAWL_RETRY: not converged or outside a domain, `state` unchanged,
// a smaller h may work; the message names what is stuck.
PAWL_API PAWL_CHECKED PawlStatus pawl_stepper_step(PawlStepper* stepper, PawlState* state, double h,
                                                   PawlError* err);

// The multipliers of a state, `lambda` of length rows. Where rows depend on each other only the
// force that they make together is determined; then these are the multipliers of minimum norm that
// make it (allocates), else a copy of the state's.
PAWL_API PAWL_CHECKED PawlStatus pawl_stepper_multipliers(PawlStepper* stepper,
                                                          const PawlState* state, double* lambda,
                                                          PawlError* err);

// The accelerations of a state that belong to these multipliers, `a` of length v: with time
// stepping what contacts did in the last step is in both, as a mean over it, impulses of impacts
// included.
PAWL_API void pawl_stepper_accelerations(const PawlStepper* stepper, const PawlState* state,
                                         double* a);

// What corrected the smooth motion in the last step (docs/theory/nsga.md), one number for each row:
// nu at position level [kg m for a row in metres], Lambda at velocity level [N s], and the
// multipliers of the smooth motion [N], without Lambda / h. They belong to the state.
typedef struct PawlCorrections {
  const double *nu, *Lambda, *smooth;
} PawlCorrections;
// False for methods that correct nothing: `out` is then left alone.
PAWL_API bool pawl_stepper_corrections(const PawlStepper* stepper, const PawlState* state,
                                       PawlCorrections* out);

// The path z of which q is the projection (method php), sizes.v numbers that belong to the state;
// NULL for other methods.
PAWL_API const double* pawl_stepper_path(const PawlStepper* stepper, const PawlState* state);
// The normal form by which php maps z: along which coordinate, with which k, and the k_c that a
// smaller k must not reach. False where there is none: another method, no contact, a map given.
PAWL_API bool pawl_stepper_normal_form(const PawlStepper* stepper, int* coordinate, double* k,
                                       double* k_c);

// An instant of the last step at which constraints switched or a contact was hit. Arrays belong to
// the stepper; contacts that change at the end of a time step have theirs in common.
typedef struct PawlInstant {
  int contact;           // row of the contact, -1 without
  int event;             // event of the model, -1 without
  int refused;           // constraint that did not engage, -1 without; else: constraints switched
  bool pushed;           // impulsive forces acted: of `event`, or (-1) of a call
  bool assigned;         // `event` has set states or inputs
  bool seen;             // friction of `contact` has changed, as the end of a time step shows
  double t;              // [s]
  const int *from, *to;  // modes before and after
  const double* q;
  const double* v_before;  // v
  const double* v_after;   // v
  const double* impulse;   // rows [N s]
  const double* loss;      // rows [J]: the part of energy_lost that each row took
  const double* push;      // v [N s]: the impulsive forces, where `pushed`
  double energy_lost;      // [J], of the whole instant
  // Both sides of a jump, after pawl_stepper_note_sides. NaN where there is no value: when a method
  // goes through a contact or a region within a step, and behind a jump while a contact is closed.
  const double *a_before, *a_after;            // v
  const double *lambda_before, *lambda_after;  // rows
  const double *held_before, *held_after;      // rows: what locks hold; then the inputs
} PawlInstant;
// From now on instants have accelerations and multipliers, which takes a little time at each.
PAWL_API void pawl_stepper_note_sides(PawlStepper* stepper);
PAWL_API int pawl_stepper_instants(const PawlStepper* stepper);
PAWL_API const PawlInstant* pawl_stepper_instant(const PawlStepper* stepper, int index);

// Asks a constraint or lock to engage or to let go now, between two steps, as `at` does: the jump
// is taken and logged as an instant. What is engaged (released) already stays as it is.
PAWL_API PAWL_CHECKED PawlStatus pawl_stepper_engage(PawlStepper* stepper, PawlState* state,
                                                     int constraint, PawlError* err);
PAWL_API PAWL_CHECKED PawlStatus pawl_stepper_release(PawlStepper* stepper, PawlState* state,
                                                      int constraint, PawlError* err);
// Impulsive forces U (v) [N s] act now, between two steps: velocities jump by M dv = U + G^T
// Lambda, G dv = 0, with the rows in force (docs/theory/transition.md). Logged as an instant, with
// the energy that they bring (energy_lost < 0). Joints with a capacity give way; a contact that is
// closed answers in the step that follows.
PAWL_API PAWL_CHECKED PawlStatus pawl_stepper_push(PawlStepper* stepper, PawlState* state,
                                                   const double* U, PawlError* err);
// An input (pawl_system_find_input) has this value from the state's time on; it takes effect with
// the next step, and is held until it is set again. Costs no look-up, and where the value is the
// same nothing at all. A number that is not finite is PAWL_ERROR_USAGE.
PAWL_API PAWL_CHECKED PawlStatus pawl_stepper_set_input(PawlStepper* stepper, PawlState* state,
                                                        int input, double value, PawlError* err);
PAWL_API double pawl_state_input(const PawlStepper* stepper, const PawlState* state, int input);
// A step ends with PAWL_STOPPED soon after *flag is other than 0, the state as it was before: steps
// of a method with steps of its own, or with thousands of instants, may take long. NULL: none does.
PAWL_API void pawl_stepper_stop_by(PawlStepper* stepper, const volatile int* flag);
// True when an event with `stop` ended the last step: the state is that of the event.
PAWL_API bool pawl_stepper_stopped(const PawlStepper* stepper);

PAWL_API PawlStepperInfo pawl_stepper_info(const PawlStepper* stepper);
// The factorisation that the structure of mass, tangents and gradient asks for: "dense", "band" or
// "sparse".
PAWL_API const char* pawl_stepper_factorization(const PawlStepper* stepper);

#ifdef __cplusplus
}
#endif
