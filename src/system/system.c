// SPDX-License-Identifier: Apache-2.0
// Creating a system from a model or from callbacks, and what can be asked of it.
#include "system/system.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/model.h"
#include "system/rotation.h"

// ---- from a model -------------------------------------------------------------------------------
static PawlStatus refuse(const PawlModel* model, const PawlSource* source, const char* what,
                         const char* name, const char* why, PawlError* err) {
  return pawl_fail(err, PAWL_ERROR_MODEL, "%s:%d:%d: %s '%s': %s", model->file, source->line,
                   source->column, what, name, why);
}

// What the language knows and this version does not simulate.
static PawlStatus check_supported(const PawlModel* model, PawlError* err) {
  for (int k = 0; k < model->constraint_count; k++) {
    const PawlConstraint* c = &model->constraints[k];
    if (c->impact_none && !c->triggered) {
      return refuse(model, &c->source, "constraint", c->name,
                    "impact: none is for what engages and lets go (at, when); use post, pre, "
                    "bisector or a number",
                    err);
    }
    if (c->mode_count == 1 && c->modes[0].where != PAWL_NO_NODE) {
      return refuse(
          model, &c->source, "constraint", c->name,
          "has one mode with a region; what holds outside? Add a mode, with equation: none "
          "if nothing does",
          err);
    }
    for (int m = 0; c->mode_count > 1 && !c->triggered && m < c->mode_count; m++) {
      if (c->modes[m].where == PAWL_NO_NODE) {
        return refuse(model, &c->modes[m].source, "constraint", c->name,
                      "each of several modes needs a region (where)", err);
      }
    }
  }
  return PAWL_OK;
}

static PawlStatus number_rows(PawlSystem* system, PawlError* err) {
  const PawlModel* model = system->model;
  system->row_constraint = PAWL_NEW(&system->arena, int, system->sizes.rows);
  system->row_contact = PAWL_NEW(&system->arena, int, system->sizes.rows);
  if (!system->row_constraint || !system->row_contact) {
    return pawl_fail_memory(err);
  }
  for (int i = 0; i < model->row_count; i++) {
    system->row_contact[i] = -1;
  }
  for (int c = 0; c < model->constraint_count; c++) {
    for (int m = 0; m < model->constraints[c].mode_count; m++) {
      system->rates |= model->constraints[c].modes[m].rate;
    }
    for (int k = 0; k < model->constraints[c].row_count; k++) {
      system->row_constraint[model->constraints[c].first_row + k] = c;
    }
  }
  for (int k = 0; k < model->contact_count; k++) {
    const PawlContact* contact = &model->contacts[k];
    system->row_contact[system->first_contact + k] = k;
    for (int i = 0; i < contact->slip_count; i++) {
      system->row_contact[model->row_count + contact->first_slip + i] = k;
    }
  }
  for (int i = model->row_count; i < system->sizes.rows; i++) {
    system->row_constraint[i] = -1;
  }
  system->rates |= model->slip_count > 0;
  system->turns_tangents = system->rates || model->rotation_count > 0;
  return PAWL_OK;
}

// The constant part of the equations must be finite; the rest is checked in each evaluation.
static PawlStatus check_base(const PawlSystem* system, PawlError* err) {
  double check = 0.0;
  for (int q = 0; q < PAWL_QUANTITY_COUNT; q++) {
    for (int k = 0; k < system->size[q]; k++) {
      check += system->base[q][k] - system->base[q][k];
    }
  }
  return check == 0.0 ? PAWL_OK : pawl_system_constant_fault(system, err);
}

static PawlStatus list_inputs(PawlSystem* system, PawlError* err) {
  system->start_inputs = PAWL_NEW(&system->arena, double, system->sizes.inputs);
  for (int k = 0; system->start_inputs && k < system->sizes.inputs; k++) {
    system->start_inputs[k] = system->model->inputs[k].start;
  }
  system->zeros = PAWL_NEW(&system->arena, double, system->sizes.v + system->sizes.rows);
  return system->start_inputs && system->zeros ? PAWL_OK : pawl_fail_memory(err);
}

static PawlStatus derive_model(PawlSystem* system, PawlError* err) {
  PAWL_TRY(check_supported(system->model, err));
  PAWL_TRY(list_inputs(system, err));
  PAWL_TRY(number_rows(system, err));
  PAWL_TRY(pawl_system_list_switches(system, err));
  PAWL_TRY(pawl_system_list_watches(system, err));
  PAWL_TRY(pawl_system_group(system, err));
  PAWL_TRY(pawl_system_scatter(system, err));
  return check_base(system, err);
}

static PawlSystem* make_system(void) {
  PawlSystem* system = pawl_alloc(1, sizeof *system);
  if (system) {
    system->lock = pawl_lock_create();
    system->compiled = pawl_compiled_create();
  }
  if (system && (!system->lock || !system->compiled)) {
    pawl_compiled_destroy(system->compiled);
    pawl_lock_destroy(system->lock);
    pawl_free(system);
    return NULL;
  }
  return system;
}

PawlStatus pawl_system_create(const PawlModel* model, PawlSystem** out, PawlError* err) {
  *out = NULL;
  PawlSystem* system = make_system();
  if (!system) {
    return pawl_fail_memory(err);
  }
  system->model = model;
  system->constraints = model->constraints;
  system->rotations = model->rotation_count;
  int velocities = model->coordinate_count + model->dynamic_count;
  system->sizes = (PawlSizes){.q = velocities + model->rotation_count,
                              .v = velocities,
                              .rows = model->row_count + model->slip_count + model->contact_count,
                              .outputs = model->output_count,
                              .states = model->dynamic_count,
                              .inputs = model->input_count};
  system->first_contact = model->row_count + model->slip_count;
  PawlStatus status = derive_model(system, err);
  if (status != PAWL_OK) {
    pawl_system_destroy(system);
    return status;
  }
  *out = system;
  return PAWL_OK;
}

void pawl_system_destroy(PawlSystem* system) {
  if (system) {
    for (int g = 0; g < system->group_count; g++) {
      pawl_dag_destroy(system->groups[g].dag);
      pawl_free(system->groups[g].entries);
    }
    pawl_arena_free(&system->arena);
    pawl_compiled_destroy(system->compiled);
    pawl_lock_destroy(system->lock);
    pawl_free(system);
  }
}

// ---- from callbacks -----------------------------------------------------------------------------
static const int* copy_ints(PawlArena* arena, const int* from, int count) {
  int* copy = PAWL_NEW(arena, int, count);
  if (copy && count > 0) {
    memcpy(copy, from, (size_t)count * sizeof(int));
  }
  return copy;
}

static PawlStatus full_pattern(PawlArena* arena, int rows, int cols, PawlPattern* out,
                               PawlError* err) {
  int* start = PAWL_NEW(arena, int, (size_t)cols + 1);
  int* index = PAWL_NEW(arena, int, (size_t)rows*(size_t)cols);
  if (!start || !index) {
    return pawl_fail_memory(err);
  }
  for (int col = 0; col < cols; col++) {
    start[col + 1] = start[col] + rows;
    for (int row = 0; row < rows; row++) {
      index[start[col] + row] = row;
    }
  }
  *out = (PawlPattern){rows, cols, start, index};
  return PAWL_OK;
}

static bool has_entry(const PawlPattern* p, int row, int col) {
  for (int k = p->start[col]; k < p->start[col + 1]; k++) {
    if (p->index[k] == row) {
      return true;
    }
  }
  return false;
}

static PawlStatus check_pattern(const PawlPattern* p, int rows, int cols, const char* name,
                                PawlError* err) {
  bool ok = p->rows == rows && p->cols == cols && p->start[0] == 0;
  for (int col = 0; ok && col < cols; col++) {
    ok = p->start[col] <= p->start[col + 1];
    for (int k = p->start[col]; ok && k < p->start[col + 1]; k++) {
      ok = p->index[k] >= 0 && p->index[k] < rows &&
           (k == p->start[col] || p->index[k - 1] < p->index[k]);
    }
  }
  return ok ? PAWL_OK
            : pawl_fail(err, PAWL_ERROR_USAGE,
                        "pattern %s: must be %d by %d with ascending row indices in each column",
                        name, rows, cols);
}

static PawlStatus copy_pattern(PawlArena* arena, const PawlPattern* from, int rows, int cols,
                               const char* name, PawlPattern* out, PawlError* err) {
  if (!from) {
    return full_pattern(arena, rows, cols, out, err);
  }
  PAWL_TRY(check_pattern(from, rows, cols, name, err));
  *out = (PawlPattern){rows, cols, copy_ints(arena, from->start, cols + 1),
                       copy_ints(arena, from->index, from->start[cols])};
  return out->start && out->index ? PAWL_OK : pawl_fail_memory(err);
}

static PawlStatus copy_names(PawlArena* arena, const char* const** names, const char* prefix,
                             int count, PawlError* err) {
  const char** copy = PAWL_NEW(arena, const char*, count);
  for (int k = 0; copy && k < count; k++) {
    char made[48];
    snprintf(made, sizeof made, "%s[%d]", prefix, k);
    const char* name = *names ? (*names)[k] : made;
    copy[k] = pawl_arena_copy(arena, name, strlen(name));
    if (!copy[k]) {
      return pawl_fail_memory(err);
    }
  }
  *names = copy;
  return copy ? PAWL_OK : pawl_fail_memory(err);
}

static PawlStatus copy_start(PawlArena* arena, const double** values, int count, PawlError* err) {
  double* copy = PAWL_NEW(arena, double, count);
  if (!copy) {
    return pawl_fail_memory(err);
  }
  if (*values) {
    memcpy(copy, *values, (size_t)count * sizeof(double));
  }
  *values = copy;
  return PAWL_OK;
}

static PawlStatus check_callbacks(const PawlCallbacks* c, PawlError* err) {
  if (c->sizes.v < 1 || c->sizes.q < 1 || c->sizes.rows < 0 || c->sizes.outputs < 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "sizes: %d coordinates, %d velocities, %d rows, %d outputs; at least one "
                     "coordinate and one velocity are needed",
                     c->sizes.q, c->sizes.v, c->sizes.rows, c->sizes.outputs);
  }
  if (!c->evaluate || !c->retract != !c->rates || (!c->retract && c->sizes.q != c->sizes.v)) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "evaluate is required; retract and rates are given together, and must be "
                     "where coordinates and velocities differ in number");
  }
  return PAWL_OK;
}

// Each row that can be engaged becomes a lock of one row.
static PawlStatus make_locks(PawlSystem* system, PawlError* err) {
  PawlCallbacks* c = &system->callbacks;
  int rows = c->sizes.rows;
  if (!c->engaged || rows == 0) {
    return PAWL_OK;
  }
  static const PawlMode modes[] = {{.name = "free", .where = PAWL_NO_NODE},
                                   {.name = "locked", .where = PAWL_NO_NODE, .row_count = 1},
                                   {.name = "waiting", .where = PAWL_NO_NODE}};
  PawlConstraint* locks = PAWL_NEW(&system->arena, PawlConstraint, rows);
  PawlSwitching* switching = PAWL_NEW(&system->arena, PawlSwitching, rows);
  system->row_constraint = PAWL_NEW(&system->arena, int, rows);
  system->watches = PAWL_NEW(&system->arena, PawlWatch, rows);
  if (!locks || !switching || !system->row_constraint || !system->watches) {
    return pawl_fail_memory(err);
  }
  for (int i = 0; i < rows; i++) {
    switching[i] = (PawlSwitching){.given = true,
                                   .engaged = c->engaged[i] != 0,
                                   .engage = {.when = PAWL_NO_NODE},
                                   .release = {.when = PAWL_NO_NODE},
                                   .capacity = PAWL_NO_NODE,
                                   .friction = PAWL_NO_NODE};
    locks[i] = (PawlConstraint){.name = c->row_names[i],
                                .impact = 1.0,
                                .mode_count = 3,
                                .modes = (PawlMode*)modes,
                                .start_mode = -1,
                                .row_count = 1,
                                .first_row = i,
                                .is_lock = true,
                                .triggered = true,
                                .snap_to = PAWL_NO_NODE,
                                .switching = &switching[i]};
    system->row_constraint[i] = i;
    system->watches[i] = (PawlWatch){-1, -1, -1, -1, -1, -1, false, false};
  }
  system->constraints = locks;
  system->constraint_count = rows;
  system->sizes.modes = rows;
  system->triggers = true;
  return PAWL_OK;
}

static PawlStatus mark_rates(PawlSystem* system, PawlError* err) {
  PawlCallbacks* c = &system->callbacks;
  if (!c->rate_rows) {
    return PAWL_OK;
  }
  system->rate_rows = PAWL_NEW(&system->arena, unsigned char, c->sizes.rows);
  if (!system->rate_rows) {
    return pawl_fail_memory(err);
  }
  for (int i = 0; i < c->sizes.rows; i++) {
    system->rate_rows[i] = c->rate_rows[i] != 0;
    system->rates |= c->rate_rows[i] != 0;
    system->turns_tangents = system->rates;
  }
  c->rate_rows = NULL;  // copied
  return PAWL_OK;
}

static PawlStatus fill_callbacks(PawlSystem* system, PawlError* err) {
  PawlCallbacks* c = &system->callbacks;
  PawlArena* arena = &system->arena;
  PawlSizes s = c->sizes;
  PAWL_TRY(check_callbacks(c, err));
  PAWL_TRY(copy_pattern(arena, c->H, s.v, s.v, "H", &system->H, err));
  PAWL_TRY(copy_pattern(arena, c->G, s.rows, s.v, "G", &system->G, err));
  for (int k = 0; k < s.v; k++) {
    if (!has_entry(&system->H, k, k)) {
      return pawl_fail(err, PAWL_ERROR_USAGE, "pattern H: the diagonal entry %d is missing", k);
    }
  }
  const char* name = c->name ? c->name : "callbacks";
  c->name = pawl_arena_copy(arena, name, strlen(name));
  c->H = &system->H;
  c->G = &system->G;
  if (!c->name) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(copy_names(arena, &c->coordinate_names, "q", s.q, err));
  PAWL_TRY(copy_names(arena, &c->row_names, "constraint", s.rows, err));
  PAWL_TRY(copy_names(arena, &c->output_names, "output", s.outputs, err));
  PAWL_TRY(copy_start(arena, &c->q_start, s.q, err));
  PAWL_TRY(copy_start(arena, &c->v_start, s.v, err));
  PAWL_TRY(make_locks(system, err));
  c->engaged = NULL;  // copied to the locks
  PAWL_TRY(mark_rates(system, err));
  pawl_system_measure(system);
  return PAWL_OK;
}

PawlStatus pawl_system_create_callbacks(const PawlCallbacks* callbacks, PawlSystem** out,
                                        PawlError* err) {
  *out = NULL;
  PawlSystem* system = make_system();
  if (!system) {
    return pawl_fail_memory(err);
  }
  system->callbacks = *callbacks;
  system->sizes = callbacks->sizes;
  system->sizes.states = system->sizes.inputs = 0;  // those of a caller are velocities of its own
  PawlStatus status = fill_callbacks(system, err);
  if (status != PAWL_OK) {
    pawl_system_destroy(system);
    return status;
  }
  *out = system;
  return PAWL_OK;
}

// ---- what can be asked --------------------------------------------------------------------------
PawlSizes pawl_system_sizes(const PawlSystem* system) {
  return system->sizes;
}

const char* pawl_system_name(const PawlSystem* system) {
  return system->model ? system->model->name : system->callbacks.name;
}

// The rotation that number q of the coordinates belongs to, -1 for others; where that begins; and
// the velocity of one that is no rotation.
static int rotation_at(const PawlModel* model, int q) {
  int rotation = (q - model->turning) / 4;
  return q >= model->turning && rotation < model->rotation_count ? rotation : -1;
}

static int first_of(const PawlModel* model, int rotation) {
  return model->turning + 4 * rotation;
}

static int velocity_at(const PawlModel* model, int q) {
  return q < model->turning ? q : q - model->rotation_count;
}

const char* pawl_system_velocity_name(const PawlSystem* system, int v, bool* is_rate) {
  *is_rate = !system->model || pawl_model_spin(system->model, v) < 0;
  if (system->model) {
    return system->model->coordinates[v].name;
  }
  return system->sizes.q == system->sizes.v ? system->callbacks.coordinate_names[v] : NULL;
}

const char* pawl_system_velocity_unit(const PawlSystem* system, int v) {
  return system->model ? system->model->coordinates[v].unit : "";
}

const char* pawl_system_coordinate_name(const PawlSystem* system, int q) {
  if (!system->model) {
    return system->callbacks.coordinate_names[q];
  }
  int rotation = rotation_at(system->model, q), first = first_of(system->model, rotation);
  return rotation >= 0 ? system->model->rotations[rotation].quaternion_names[q - first]
                       : system->model->coordinates[velocity_at(system->model, q)].name;
}

const char* pawl_system_coordinate_unit(const PawlSystem* system, int q) {
  bool plain = system->model && rotation_at(system->model, q) < 0;
  return plain ? system->model->coordinates[velocity_at(system->model, q)].unit : "";
}

int pawl_system_find_input(const PawlSystem* system, const char* name) {
  for (int k = 0; k < system->sizes.inputs; k++) {
    if (strcmp(system->model->inputs[k].name, name) == 0) {
      return k;
    }
  }
  return -1;
}

const char* pawl_system_input_name(const PawlSystem* system, int input) {
  return system->model->inputs[input].name;
}

const char* pawl_system_input_unit(const PawlSystem* system, int input) {
  return system->model->inputs[input].unit;
}

double pawl_system_input_start(const PawlSystem* system, int input) {
  return system->model->inputs[input].start;
}

const char* pawl_system_output_name(const PawlSystem* system, int output) {
  return system->model ? system->model->outputs[output].name
                       : system->callbacks.output_names[output];
}

const char* pawl_system_output_unit(const PawlSystem* system, int output) {
  return system->model ? system->model->outputs[output].unit : "";
}

const char* pawl_system_row_name(const PawlSystem* system, int row, int* number) {
  if (!system->model) {
    *number = 0;
    return system->callbacks.row_names[row];
  }
  int k = system->row_contact[row];
  if (k >= 0) {
    const PawlContact* contact = &system->model->contacts[k];
    bool slips = row < system->first_contact;
    *number = slips ? 1 + row - system->model->row_count - contact->first_slip : 0;
    return contact->name;
  }
  const PawlConstraint* c = &system->constraints[system->row_constraint[row]];
  *number = row - c->first_row;
  return c->name;
}

const char* pawl_system_row_unit(const PawlSystem* system, int row) {
  if (!system->model) {
    return "";
  }
  int contact = row - (system->sizes.rows - system->model->contact_count);  // they are the last
  int c = system->row_constraint[row];
  return contact >= 0 ? pawl_model_contact_unit(system->model, contact)
         : c >= 0 ? pawl_model_row_unit(system->model, c, row - system->constraints[c].first_row)
                  : "";
}

PawlRowKind pawl_system_row_kind(const PawlSystem* system, int row) {
  if (!system->model || row < system->model->row_count) {
    return PAWL_ROW_BILATERAL;
  }
  return row < system->first_contact ? PAWL_ROW_FRICTION : PAWL_ROW_CONTACT;
}

double pawl_system_restitution(const PawlSystem* system, int row) {
  return pawl_system_row_kind(system, row) == PAWL_ROW_CONTACT
             ? system->model->contacts[row - system->first_contact].restitution
             : 0.0;
}

PawlContactFriction pawl_system_friction(const PawlSystem* system, int row) {
  assert(pawl_system_row_kind(system, row) == PAWL_ROW_CONTACT);
  const PawlContact* contact = &system->model->contacts[row - system->first_contact];
  return (PawlContactFriction){.count = contact->slip_count,
                               .first = system->model->row_count + contact->first_slip,
                               .sticks = contact->sticks,
                               .slides = contact->slides,
                               .watch = system->friction_watches[row - system->first_contact]};
}

PawlPattern pawl_system_pattern_H(const PawlSystem* system) {
  return system->H;
}

PawlPattern pawl_system_pattern_G(const PawlSystem* system) {
  return system->G;
}

bool pawl_system_guessed(const PawlSystem* system, int coordinate, bool rate) {
  return system->model && system->model->coordinates[coordinate].guess[rate];
}

bool pawl_system_guesses(const PawlSystem* system) {
  bool any = false;
  for (int k = 0; system->model && k < system->sizes.v && !any; k++) {
    any = pawl_system_guessed(system, k, false) || pawl_system_guessed(system, k, true);
  }
  return any;
}

void pawl_system_start(const PawlSystem* system, double* q, double* v) {
  const PawlModel* model = system->model;
  for (int k = 0; k < system->sizes.q; k++) {
    int rotation = model ? rotation_at(model, k) : -1;
    q[k] = !model          ? system->callbacks.q_start[k]
           : rotation >= 0 ? model->rotations[rotation].start[k - first_of(model, rotation)]
                           : model->coordinates[velocity_at(model, k)].start;
  }
  for (int k = 0; k < system->sizes.v; k++) {
    v[k] = system->model ? system->model->coordinates[k].rate : system->callbacks.v_start[k];
  }
}

void pawl_system_retract(const PawlSystem* system, const double* q, const double* dq, double* out) {
  if (system->callbacks.retract) {
    system->callbacks.retract(system->callbacks.context, q, dq, out);
    return;
  }
  int moving = system->sizes.q - system->sizes.states, rotations = system->rotations;
  int plain = moving - 4 * rotations;
  for (int k = 0; k < plain; k++) {
    out[k] = q[k] + dq[k];
  }
  for (int r = 0; r < rotations; r++) {
    pawl_rotation_move(q + plain + 4 * r, dq + plain + 3 * r, out + plain + 4 * r);
  }
  for (int k = moving; k < system->sizes.q; k++) {
    out[k] = q[k];  // (Z1)
  }
}

bool pawl_system_adds_up(const PawlSystem* system) {
  return !system->callbacks.retract && !system->callbacks.rates && system->rotations == 0;
}

void pawl_system_normalise(const PawlSystem* system, double* q) {
  int first = system->sizes.q - system->sizes.states - 4 * system->rotations;
  for (int r = 0; r < system->rotations; r++) {
    pawl_rotation_normalise(q + first + 4 * r);
  }
}

void pawl_system_rates(const PawlSystem* system, const double* q, const double* v, double* q_rate) {
  if (system->callbacks.rates) {
    system->callbacks.rates(system->callbacks.context, q, v, q_rate);
    return;
  }
  int moving = system->sizes.q - system->sizes.states, rotations = system->rotations;
  int plain = moving - 4 * rotations;
  memcpy(q_rate, v, (size_t)plain * sizeof(double));
  for (int r = 0; r < rotations; r++) {
    pawl_rotation_rate(q + plain + 4 * r, v + plain + 3 * r, q_rate + plain + 4 * r);
  }
  for (int k = moving; k < system->sizes.q; k++) {
    q_rate[k] = 0.0;  // (Z1)
  }
}

bool pawl_system_constant_mass(const PawlSystem* system) {
  return system->model && !system->varies[PAWL_Q_M];
}

bool pawl_system_undamped(const PawlSystem* system) {
  bool none = system->model && !system->varies[PAWL_Q_C];
  for (int k = 0; none && k < system->size[PAWL_Q_C]; k++) {
    none = system->base[PAWL_Q_C][k] == 0.0;
  }
  return none;
}

bool pawl_system_steady(const PawlSystem* system, unsigned mask, const int* modes) {
  unsigned moves = system->moves;
  for (int k = 0; k < system->gated_count; k++) {
    PawlGated gated = system->gated[k];
    const unsigned* of_mode = system->gate_moves + gated.first_gate;
    int mode = modes ? modes[gated.constraint] : 0, end = modes ? mode + 1 : gated.mode_count;
    for (; mode >= 0 && mode < gated.mode_count && mode < end; mode++) {
      moves |= of_mode[mode];
    }
  }
  return system->model && !(moves & mask);
}

bool pawl_system_flag_mass(const PawlSystem* system, unsigned char* flags) {
  const PawlPattern* H = &system->H;
  for (int j = 0; system->model && j < H->cols; j++) {
    for (int k = H->start[j]; k < H->start[j + 1]; k++) {
      flags[k] = H->index[k] == j || system->base[PAWL_Q_M][k] != 0.0;
    }
  }
  for (int g = 0; g < system->group_count; g++) {
    const PawlGroup* group = &system->groups[g];
    for (int k = 0; k < group->entry_count; k++) {
      const PawlEntry* e = &group->entries[k];
      for (int lane = 0; e->quantity == PAWL_Q_M && lane < group->lanes; lane++) {
        flags[e->dest[lane]] = 1;
      }
    }
  }
  return system->model != NULL;
}

PawlSystemInfo pawl_system_info(const PawlSystem* system) {
  PawlSystemInfo info = {system->group_count, 0, system->H.start[system->sizes.v],
                         system->G.start[system->sizes.v]};
  for (int g = 0; g < system->group_count; g++) {
    int lanes = system->groups[g].lanes;
    info.largest_lanes = lanes > info.largest_lanes ? lanes : info.largest_lanes;
  }
  return info;
}
