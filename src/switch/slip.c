// SPDX-License-Identifier: Apache-2.0
#include "switch/slip.h"

#include <math.h>
#include <string.h>

#include "linalg/sparse.h"
#include "model/model.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

// ---- creation -----------------------------------------------------------------------------------
// Where the normal row of each entry of friction is; a tied system has such a place.
static void find_ties(PawlSlip* s) {
  for (int e = 0; e < s->G.start[s->G.cols]; e++) {
    s->tie[e] = -1;
  }
  for (int k = 0; k < s->count; k++) {
    const PawlSlipContact* c = &s->contact[k];
    for (int i = c->first; i < c->first + c->count; i++) {
      for (int p = s->rows.start[i]; p < s->rows.start[i + 1]; p++) {
        int e = s->rows.at[p];
        s->tie[e] = pawl_by_rows_find(&s->rows, c->normal, s->rows.column[p]);
      }
    }
  }
}

static void list_contacts(PawlSlip* s, int first, int end) {
  for (int row = first; row < end; row++) {
    PawlContactFriction of = pawl_system_friction(s->system, row);
    if (of.count > 0) {
      s->contact[s->count++] = (PawlSlipContact){.normal = row,
                                                 .mode = pawl_modes_of_contact(s->system, row),
                                                 .first = of.first,
                                                 .count = of.count,
                                                 .sticks = of.sticks,
                                                 .slides = of.slides,
                                                 .watch = of.watch};
    }
  }
}

typedef struct TiesOf {  // joints that a multiplier is tied to
  int *start, *joint;    // those of row i are joint[start[i]] .. joint[start[i + 1] - 1]
} TiesOf;

static void list_joints(PawlSlip* s) {
  const PawlSystem* system = s->system;
  for (int k = 0; k < system->tie_count; k++) {
    int c = system->ties[k].constraint;
    PawlSlipJoint* last = s->joint_count > 0 ? &s->joint[s->joint_count - 1] : NULL;
    if (!last || last->constraint != c) {
      last = &s->joint[s->joint_count++];
      *last = (PawlSlipJoint){.constraint = c,
                              .row = system->constraints[c].first_row,
                              .first = k,
                              .watch = system->watches[c].friction};
    }
    last->count++;
  }
}

// The least colour that no multiplier has which is tied to the same joint as `row`.
static int free_colour(const PawlSlip* s, const TiesOf* of, int row) {
  const PawlSystem* system = s->system;
  for (int colour = 0;; colour++) {
    bool taken = false;
    for (int p = of->start[row]; p < of->start[row + 1]; p++) {
      const PawlSlipJoint* joint = &s->joint[of->joint[p]];
      for (int i = joint->first; i < joint->first + joint->count; i++) {
        taken |= s->colour[system->ties[i].row] == colour;
      }
    }
    if (!taken) {
      return colour;
    }
  }
}

// Multipliers of one colour are tied to different joints: the forces of all of these tell the
// derivatives by them at once.
static PawlStatus colour_ties(PawlArena* arena, PawlSlip* s, PawlError* err) {
  const PawlSystem* system = s->system;
  int rows = s->G.rows, count = system->tie_count;
  TiesOf of = {PAWL_NEW(arena, int, (size_t)rows + 2), PAWL_NEW(arena, int, count)};
  if (arena->failed) {
    return pawl_fail_memory(err);
  }
  for (int i = 0; i < count; i++) {
    of.start[system->ties[i].row + 2]++;
  }
  for (int i = 0; i < rows; i++) {
    of.start[i + 2] += of.start[i + 1];
    s->colour[i] = -1;
  }
  for (int k = 0; k < s->joint_count; k++) {
    for (int i = s->joint[k].first; i < s->joint[k].first + s->joint[k].count; i++) {
      of.joint[of.start[system->ties[i].row + 1]++] = k;
    }
  }
  for (int i = 0; i < count; i++) {
    int* colour = &s->colour[system->ties[i].row];
    *colour = *colour < 0 ? free_colour(s, &of, system->ties[i].row) : *colour;
    s->colours = *colour >= s->colours ? *colour + 1 : s->colours;
  }
  return PAWL_OK;
}

static void allocate(PawlArena* arena, PawlSlip* s, int contacts) {
  PawlSizes n = pawl_system_sizes(s->system);
  s->contact = PAWL_NEW(arena, PawlSlipContact, contacts);
  s->tie = PAWL_NEW(arena, int, s->G.start[n.v]);
  s->B = PAWL_NEW(arena, double, s->G.start[n.v]);
  s->mu = PAWL_NEW(arena, double, contacts);
  s->least = PAWL_NEW(arena, double, contacts);
  s->rate = PAWL_NEW(arena, double, n.rows);
  s->nothing = PAWL_NEW(arena, double, (size_t)n.v + (size_t)n.rows);
  s->joint = PAWL_NEW(arena, PawlSlipJoint, s->system->tie_count);
  s->modes = PAWL_NEW(arena, int, n.modes);
  s->lambda = PAWL_NEW(arena, double, n.rows);
  s->by = PAWL_NEW(arena, double, n.rows);
  s->colour = PAWL_NEW(arena, int, n.rows);
  s->dF = PAWL_NEW(arena, double, s->system->tie_count);
  s->push = PAWL_NEW(arena, double, n.v);
  s->p = PAWL_NEW(arena, double, n.v);
  s->slips = PAWL_NEW(arena, unsigned char, n.rows);
}

PawlStatus pawl_slip_create(PawlArena* arena, const PawlSystem* system, bool located,
                            PawlSlip** out, PawlError* err) {
  int first = 0, end = system->model ? pawl_modes_contacts(system, &first) : 0;
  bool rubs = located && first < end && system->model->slip_count > 0;
  *out = NULL;
  if (!rubs && system->tie_count == 0) {
    return PAWL_OK;
  }
  PawlSlip* s = PAWL_NEW(arena, PawlSlip, 1);
  if (!s) {
    return pawl_fail_memory(err);
  }
  *s = (PawlSlip){.system = system, .G = pawl_system_pattern_G(system)};
  allocate(arena, s, end - first);
  if (arena->failed) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(pawl_by_rows_create(arena, &s->G, &s->rows, err));
  list_contacts(s, first, rubs ? end : first);
  list_joints(s);
  PAWL_TRY(colour_ties(arena, s, err));
  find_ties(s);
  PAWL_TRY(pawl_spread_create(arena, &s->G, &s->rows, first, rubs ? end : first, &s->spread, err));
  unsigned mask = PAWL_GRADIENT | PAWL_TIME_GRADIENT | PAWL_WATCHES;
  mask |= system->kink_count > 0 ? PAWL_SURFACES : 0;
  PAWL_TRY(pawl_eval_create(system, mask, &s->eval, err));
  *out = s;
  return s->joint_count > 0 ? pawl_eval_create(system, PAWL_WATCHES, &s->forces, err) : PAWL_OK;
}

void pawl_slip_destroy(PawlSlip* s) {
  if (s) {
    pawl_eval_destroy(s->eval);
    pawl_eval_destroy(s->forces);
  }
}

// The direction of a slip that begins from rest in space has the length BEGINS + e, where it counts
// as 2^e fast at least.                                                                     (F32)
enum { BEGINS = 2048, MOST_EXPONENT = 1000 };

typedef struct Begun {  // of one that does not begin: 1 and nothing
  double length, least;
} Begun;

// ---- looking ------------------------------------------------------------------------------------
bool pawl_slip_slips(int mode) {
  return mode == PAWL_MODE_SLIPS || mode == PAWL_MODE_SLIPS_LIMIT;
}

bool pawl_slip_any(const PawlSlip* s, const PawlPhase* phase) {
  bool any = false;
  for (int k = 0; k < s->count; k++) {
    any |= pawl_slip_slips(phase->modes[s->contact[k].mode]);
  }
  return any;
}

static bool slides(const PawlSlip* s, const PawlPhase* phase, int k) {
  return phase->modes[s->joint[k].constraint] >= PAWL_MODE_UP;
}

bool pawl_slip_ties(const PawlSlip* s, const PawlPhase* phase) {
  bool any = false;
  for (int k = 0; k < s->joint_count; k++) {
    any |= slides(s, phase, k);
  }
  return any;
}

double pawl_slip_mu(const PawlSlip* s, int k, bool rests) {
  const PawlSlipContact* c = &s->contact[k];
  return c->watch >= 0 ? s->mu[k] : rests ? c->sticks : c->slides;
}

// On a branch beyond its border, where a step is not to end, it may be anything.
PawlStatus pawl_slip_check(PawlSlip* s, const PawlPhase* phase, int k, double t, const double* q,
                           const double* v, PawlError* err) {
  if (s->mu[k] < 0.0 && s->system->kink_count > 0 &&
      pawl_kinks_beyond(s->system, pawl_eval_values(s->eval)->z, phase->modes)) {
    s->mu[k] = 0.0;
  }
  PawlPoint point = pawl_phase_point(phase, t, q, v, s->nothing, s->nothing + s->G.cols);
  return pawl_system_check_friction(s->system, s->contact[k].normal, s->mu[k], &point, err);
}

// How loads are shared at G. True: some are spread.
static bool look_at_loads(PawlSlip* s, const PawlPhase* phase, const double* G) {
  for (int k = 0; k < s->count; k++) {
    const PawlSlipContact* c = &s->contact[k];
    s->slips[c->normal] = pawl_slip_slips(phase->modes[c->mode]);
  }
  return s->count > 0 && pawl_spread_look(&s->spread, phase, s->slips, G);
}

// What is slow beside the terms of its slip.                                                (F32)
static double least_speed(const PawlSlip* s, const double* v, int k) {
  const PawlSlipContact* c = &s->contact[k];
  const PawlValues* values = pawl_eval_values(s->eval);
  double size = 0.0;
  for (int i = c->first; i < c->first + c->count; i++) {
    size += fabs(values->g_t[i]);
    for (int p = s->rows.start[i]; p < s->rows.start[i + 1]; p++) {
      size += fabs(values->G[s->rows.at[p]] * v[s->rows.column[p]]);
    }
  }
  return PAWL_SLIP_BEGINS * size;
}

PawlStatus pawl_slip_look(PawlSlip* s, const PawlPhase* phase, double t, const double* q,
                          const double* v, PawlError* err) {
  PawlSizes n = pawl_system_sizes(s->system);
  PawlPhase held = *phase;
  if (pawl_slip_ties(s, phase)) {  // the rows of other modes read zero
    memcpy(s->modes, phase->modes, (size_t)n.modes * sizeof(int));
    for (int k = 0; k < s->joint_count; k++) {
      int* mode = &s->modes[s->joint[k].constraint];
      *mode = *mode >= PAWL_MODE_UP ? PAWL_MODE_HELD : *mode;
    }
    held.modes = s->modes;
  }
  PawlPoint point = pawl_phase_point(&held, t, q, v, s->nothing, s->nothing + n.v);
  PAWL_TRY(pawl_eval_run(s->eval, &point, err));
  const PawlValues* values = pawl_eval_values(s->eval);
  memcpy(s->rate, values->g_t, (size_t)n.rows * sizeof(double));
  pawl_sparse_add(&s->G, values->G, 1.0, v, s->rate);
  s->spreads = look_at_loads(s, phase, values->G);
  s->looked = t;
  for (int k = 0; k < s->count; k++) {
    int watch = s->contact[k].watch;
    s->mu[k] = watch >= 0 ? values->watch[watch] : s->contact[k].slides;
    s->least[k] = least_speed(s, v, k);
    if (phase->modes[s->contact[k].mode] != PAWL_MODE_OPEN) {
      PAWL_TRY(pawl_slip_check(s, phase, k, t, q, v, err));
    }
  }
  return PAWL_OK;
}

bool pawl_slip_begins(const PawlSlip* s, const PawlPhase* phase, int k) {
  const double* held = phase->held + s->contact[k].first;
  return s->contact[k].count > 1 && hypot(held[0], held[1]) > 1.5;
}

static Begun begun(const PawlSlip* s, const PawlPhase* phase, int k) {
  const double* held = phase->held + s->contact[k].first;
  if (!pawl_slip_begins(s, phase, k)) {
    return (Begun){1.0, 0.0};
  }
  double length = rint(hypot(held[0], held[1]));
  return (Begun){length, fmax(s->least[k], ldexp(1.0, (int)length - BEGINS))};
}

double pawl_slip_rate(const PawlSlip* s, const PawlPhase* phase, int k, double* u) {
  const PawlSlipContact* c = &s->contact[k];
  const double* held = phase->held + c->first;
  Begun b = begun(s, phase, k);
  double along = 0.0, speed = 0.0, unit = 1.0 / b.length;
  for (int i = 0; i < c->count; i++) {
    u[i] = s->rate[c->first + i];
    along += unit * held[i] * u[i];
  }
  double more = unit < 1.0 ? fmax(b.least - along, 0.0) : 0.0;
  for (int i = 0; i < c->count; i++) {
    u[i] += more * unit * held[i];
    speed = hypot(speed, u[i]);
  }
  return along + more < 0.0 ? -speed : speed;
}

double pawl_slip_speed(const PawlSlip* s, const PawlPhase* phase, int k) {
  const PawlSlipContact* c = &s->contact[k];
  Begun b = begun(s, phase, k);
  double u[PAWL_MOST_SLIPS], along = 0.0;
  if (!pawl_slip_begins(s, phase, k)) {
    return pawl_slip_rate(s, phase, k, u);
  }
  for (int i = c->first; i < c->first + c->count; i++) {
    along += s->rate[i] * phase->held[i] / b.length;
  }
  return along + b.least;
}

void pawl_slip_direction(const PawlSlip* s, const PawlPhase* phase, int k, double* d) {
  const PawlSlipContact* c = &s->contact[k];
  double u[PAWL_MOST_SLIPS], speed = c->count > 1 ? pawl_slip_rate(s, phase, k, u) : 0.0;
  double length = begun(s, phase, k).length;
  if (s->given && c->count > 1) {
    memcpy(d, s->given + 2 * k, 2 * sizeof(double));
    return;
  }
  for (int i = 0; i < c->count; i++) {  // in a plane there are but two
    d[i] = speed != 0.0 ? u[i] / speed : phase->held[c->first + i] / length;
  }
}

void pawl_slip_begin(double* held, const double* along, double least, int count) {
  int exponent = least > 0.0 ? ilogb(least) : -MOST_EXPONENT;
  exponent = exponent < -MOST_EXPONENT ? -MOST_EXPONENT : exponent;
  exponent = exponent > MOST_EXPONENT ? MOST_EXPONENT : exponent;
  for (int i = 0; i < count; i++) {
    held[i] = (count > 1 ? BEGINS + exponent : 1.0) * along[i];
  }
}

void pawl_slip_turn(const PawlSlip* s, const PawlPhase* phase, int k, double* held) {
  Begun b = begun(s, phase, k);
  bool begins = b.length > 1.0 && pawl_slip_speed(s, phase, k) < PAWL_SLIP_BEGUN * b.least;
  double d[PAWL_MOST_SLIPS];
  pawl_slip_direction(s, phase, k, d);
  for (int i = 0; i < s->contact[k].count; i++) {
    held[i] = begins ? b.length * d[i] : d[i];
  }
}

// ---- forces -------------------------------------------------------------------------------------
// Whether rates are needed: directions turn, or mu changes.
static bool needs_look(const PawlSlip* s, const PawlPhase* phase) {
  bool yes = false;
  for (int k = 0; k < s->count; k++) {
    const PawlSlipContact* c = &s->contact[k];
    yes |= pawl_slip_slips(phase->modes[c->mode]) && (c->count > 1 || c->watch >= 0);
  }
  return yes;
}

static void tie_contacts(PawlSlip* s, const PawlPhase* phase, const double* G) {
  for (int k = 0; k < s->count; k++) {
    const PawlSlipContact* c = &s->contact[k];
    double d[PAWL_MOST_SLIPS], mu = pawl_slip_mu(s, k, false);
    if (!pawl_slip_slips(phase->modes[c->mode])) {
      continue;
    }
    pawl_slip_direction(s, phase, k, d);
    for (int i = 0; i < c->count; i++) {
      for (int p = s->rows.start[c->first + i]; p < s->rows.start[c->first + i + 1]; p++) {
        int e = s->rows.at[p];
        s->B[s->tie[e]] -= mu * d[i] * G[e];  // (F20)
      }
    }
  }
}

// ---- tangents -----------------------------------------------------------------------------------
bool pawl_slip_turns(PawlSlip* s, const PawlPhase* phase, const double* lambda) {
  bool any = false;
  for (int k = 0; k < s->count; k++) {
    any |= s->contact[k].count > 1 && pawl_slip_slips(phase->modes[s->contact[k].mode]);
  }
  if (any) {
    memcpy(s->lambda, lambda, (size_t)s->G.rows * sizeof(double));
    if (s->spreads) {
      pawl_spread_loads(&s->spread, s->lambda);
    }
  }
  return any;
}

// f = -mu lambda_N G_T^T d with d = u/|u|, dd = n n^T du/|u| and n normal to d.               (F30)
int pawl_slip_turning(PawlSlip* s, const PawlPhase* phase, int k, const int** columns,
                      const double** p, double* weight) {
  const PawlSlipContact* c = &s->contact[k];
  double d[PAWL_MOST_SLIPS], u[PAWL_MOST_SLIPS], speed = pawl_slip_rate(s, phase, k, u);
  if (c->count < 2 || !pawl_slip_slips(phase->modes[c->mode]) || speed == 0.0) {
    return 0;
  }
  pawl_slip_direction(s, phase, k, d);
  const double *G = pawl_eval_values(s->eval)->G, n[2] = {-d[1], d[0]};
  int first = s->rows.start[c->normal], end = s->rows.start[c->normal + 1];
  for (int e = first; e < end; e++) {
    s->p[e - first] = 0.0;
    for (int i = 0; i < 2; i++) {
      int at = pawl_by_rows_find(&s->rows, c->first + i, s->rows.column[e]);
      s->p[e - first] += at < 0 ? 0.0 : n[i] * G[at];
    }
  }
  *columns = s->rows.column + first;
  *p = s->p;
  *weight = pawl_slip_mu(s, k, false) * s->lambda[c->normal] / speed;
  return end - first;
}

// ---- friction that hangs on multipliers ---------------------------------------------------------
PawlStatus pawl_slip_look_at_joints(PawlSlip* s, const PawlPhase* phase, double t, const double* q,
                                    const double* v, const double* lambda, PawlError* err) {
  PawlPoint point = pawl_phase_point(phase, t, q, v, s->nothing, lambda);
  return pawl_eval_run(s->forces, &point, err);
}

// F of a joint at the last look.
static double force_of(const PawlSlip* s, int k) {
  return pawl_eval_values(s->forces)->watch[s->joint[k].watch];
}

double pawl_slip_joint_force(const PawlSlip* s, const PawlPhase* phase, int k) {
  double F = slides(s, phase, k) ? force_of(s, k) : 0.0;
  return phase->modes[s->joint[k].constraint] == PAWL_MODE_UP ? -F : F;
}

// How far each tied multiplier is varied, to s->by: by the largest of those that it is tied with.
static void measure_ties(PawlSlip* s, const double* lambda) {
  const PawlTie* ties = s->system->ties;
  memset(s->by, 0, (size_t)s->G.rows * sizeof(double));
  for (int k = 0; k < s->joint_count; k++) {
    const PawlSlipJoint* joint = &s->joint[k];
    double largest = 0.0;
    for (int i = joint->first; i < joint->first + joint->count; i++) {
      largest = fmax(largest, fabs(lambda[ties[i].row]));
    }
    double by = largest > 0.0 ? PAWL_VARIED * largest : PAWL_VARIED;
    for (int i = joint->first; i < joint->first + joint->count; i++) {
      s->by[ties[i].row] = fmax(s->by[ties[i].row], by);
    }
  }
}

// F of all joints with the multipliers of one colour varied; added to dF.
static PawlStatus vary_colour(PawlSlip* s, const PawlPhase* phase, int colour, double sign,
                              double t, const double* q, const double* v, const double* lambda,
                              PawlError* err) {
  const PawlTie* ties = s->system->ties;
  memcpy(s->lambda, lambda, (size_t)s->G.rows * sizeof(double));
  for (int i = 0; i < s->system->tie_count; i++) {
    int row = ties[i].row;
    s->lambda[row] = s->colour[row] == colour ? lambda[row] + sign * s->by[row] : s->lambda[row];
  }
  PAWL_TRY(pawl_slip_look_at_joints(s, phase, t, q, v, s->lambda, err));
  for (int k = 0; k < s->joint_count; k++) {
    const PawlSlipJoint* joint = &s->joint[k];
    for (int i = joint->first; i < joint->first + joint->count; i++) {
      int row = ties[i].row;
      s->dF[i] += s->colour[row] == colour ? sign * force_of(s, k) / (2 * s->by[row]) : 0.0;
    }
  }
  return PAWL_OK;
}

// dF/dlambda of all ties by central differences: Newton's method needs no more than their size.
static PawlStatus vary_forces(PawlSlip* s, const PawlPhase* phase, double t, const double* q,
                              const double* v, const double* lambda, PawlError* err) {
  measure_ties(s, lambda);
  memset(s->dF, 0, (size_t)s->system->tie_count * sizeof(double));
  for (int c = 0; c < s->colours; c++) {
    PAWL_TRY(vary_colour(s, phase, c, 1.0, t, q, v, lambda, err));
    PAWL_TRY(vary_colour(s, phase, c, -1.0, t, q, v, lambda, err));
  }
  return PAWL_OK;
}

// B_k and push of one joint.                                                                  (F26)
static void tie_joint(PawlSlip* s, const PawlSlipJoint* joint, double sign, double F,
                      const double* lambda) {
  const double* G = pawl_eval_values(s->eval)->G;
  for (int i = joint->first; i < joint->first + joint->count; i++) {
    F -= s->dF[i] * lambda[s->system->ties[i].row];
  }
  for (int p = s->rows.start[joint->row]; p < s->rows.start[joint->row + 1]; p++) {
    int j = s->rows.column[p];
    double along = sign * G[s->rows.at[p]];
    s->push[j] += F * along;
    for (int i = joint->first; i < joint->first + joint->count; i++) {
      s->B[pawl_by_rows_find(&s->rows, s->system->ties[i].row, j)] += s->dF[i] * along;
    }
  }
}

static PawlStatus tie_joints(PawlSlip* s, const PawlPhase* phase, double t, const double* q,
                             const double* v, const double* lambda, PawlError* err) {
  memset(s->push, 0, (size_t)s->G.cols * sizeof(double));
  PAWL_TRY(vary_forces(s, phase, t, q, v, lambda, err));
  PAWL_TRY(pawl_slip_look_at_joints(s, phase, t, q, v, lambda, err));
  for (int k = 0; k < s->joint_count; k++) {
    double sign = phase->modes[s->joint[k].constraint] == PAWL_MODE_UP ? -1.0 : 1.0;
    if (slides(s, phase, k)) {
      tie_joint(s, &s->joint[k], sign, force_of(s, k), lambda);
    }
  }
  return PAWL_OK;
}

PawlStatus pawl_slip_directions(PawlSlip* s, const PawlPhase* phase, const double* G, double t,
                                const double* q, const double* v, const double* lambda,
                                const double** B, PawlError* err) {
  bool ties = pawl_slip_ties(s, phase);
  *B = G;
  if (!ties && !pawl_slip_any(s, phase)) {
    return PAWL_OK;
  }
  PAWL_TRY(ties || needs_look(s, phase) ? pawl_slip_look(s, phase, t, q, v, err) : PAWL_OK);
  memcpy(s->B, G, (size_t)s->G.start[s->G.cols] * sizeof(double));
  tie_contacts(s, phase, G);
  s->spreads = look_at_loads(s, phase, G);
  if (s->spreads) {
    pawl_spread_push(&s->spread, s->B);
  }
  *B = s->B;
  return ties ? tie_joints(s, phase, t, q, v, lambda, err) : PAWL_OK;
}

void pawl_slip_forces(const PawlSlip* s, const PawlPhase* phase, double* lambda) {
  if (s->spreads) {
    pawl_spread_loads(&s->spread, lambda);
  }
  for (int k = 0; k < s->count; k++) {
    const PawlSlipContact* c = &s->contact[k];
    double d[PAWL_MOST_SLIPS], mu = pawl_slip_mu(s, k, false);
    if (pawl_slip_slips(phase->modes[c->mode])) {
      pawl_slip_direction(s, phase, k, d);
      for (int i = 0; i < c->count; i++) {
        lambda[c->first + i] = -mu * lambda[c->normal] * d[i];
      }
    }
  }
}
