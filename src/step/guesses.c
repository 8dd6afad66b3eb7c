// SPDX-License-Identifier: Apache-2.0
// Which coordinates and rates a start may change, and which rows it asks for.
#include "step/guesses.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "model/model.h"
#include "step/assemble.h"
#include "step/loop.h"
#include "system/system.h"

// The modes that the place of a state asks for, and what locks hold there.
static PawlStatus find_modes(PawlStepper* s, PawlState* state, PawlError* err) {
  memset(state->held, 0, (size_t)s->sizes.rows * sizeof(double));
  memset(state->modes, 0, pawl_phase_mode_bytes(state));
  pawl_phase_activate(s->system, state);
  return s->loop ? pawl_loop_start(s, state, err) : PAWL_OK;
}

// How much of the name of a velocity is that of what it moves: of a rotation, whose velocities are
// R.omega.x, ..., the name R; nothing for the others.
static int position_length(const char* name, bool is_rate) {
  static const char of_rotation[] = ".omega.x";
  size_t length = strlen(name), end = sizeof of_rotation - 1;
  if (is_rate || length < end) {
    return (int)length;
  }
  return strcmp(name + length - end, of_rotation) == 0 ? (int)(length - end) : 0;
}

// "a, b": the coordinates, or rates, that were marked as guesses.
static void name_guesses(const PawlStepper* s, int level, char* room, size_t size) {
  enum { MOST_NAMED = 6, MOST_SHOWN = 40 };
  int named = 0;
  size_t used = 0;
  room[0] = '\0';
  for (int i = 0; i < s->sizes.v; i++) {
    bool is_rate;
    const char* name = pawl_system_velocity_name(s->system, i, &is_rate);
    int shown = level == 1 ? (int)strlen(name) : position_length(name, is_rate);
    bool guessed = pawl_system_guessed(s->system, i, level == 1) && shown > 0;
    if (guessed && named++ < MOST_NAMED) {
      int length =
          snprintf(room + used, size - used, "%s%.*s%s", used > 0 ? ", " : "",
                   shown < MOST_SHOWN ? shown : MOST_SHOWN, name, level == 1 && is_rate ? "'" : "");
      used += length > 0 && (size_t)length < size - used ? (size_t)length : 0;
    }
  }
  snprintf(room + used, size - used, "%s", named > MOST_NAMED ? ", ..." : "");
}

// What holds at the start alone is in force while it is found; find_modes lets it go.
static void hold_at_start(const PawlStepper* s, PawlState* state) {
  for (int c = 0; c < s->system->constraint_count; c++) {
    state->modes[c] = s->system->constraints[c].at_start ? PAWL_MODE_HELD : state->modes[c];
  }
}

static bool asks_at_start(const PawlStepper* s) {
  bool any = false;
  for (int c = 0; c < s->system->constraint_count && !any; c++) {
    any = s->system->constraints[c].at_start;
  }
  return any;
}

// ", with 'a', 'b'": what holds at the start alone.
static void name_at_start(const PawlStepper* s, char* room, size_t size) {
  enum { MOST_NAMED = 4 };
  int named = 0;
  size_t used = 0;
  room[0] = '\0';
  for (int c = 0; c < s->system->constraint_count && named <= MOST_NAMED; c++) {
    const PawlConstraint* constraint = &s->system->constraints[c];
    if (constraint->at_start && named++ < MOST_NAMED) {
      int length = snprintf(room + used, size - used, "%s'%.40s'", used > 0 ? ", " : ", with ",
                            constraint->name);
      used += length > 0 && (size_t)length < size - used ? (size_t)length : 0;
    }
  }
  snprintf(room + used, size - used, "%s", named > MOST_NAMED ? ", ..." : "");
}

static void leave_half(const PawlStepper* s, unsigned char* left) {
  static const unsigned char flags[] = {
      [PAWL_AT_START_VALUE] = PAWL_LEFT_VELOCITY, [PAWL_AT_START_RATE] = PAWL_LEFT_POSITION};
  for (int c = 0; c < s->system->constraint_count; c++) {
    const PawlConstraint* constraint = &s->system->constraints[c];
    for (int k = 0; constraint->at_start && k < constraint->row_count; k++) {
      left[constraint->first_row + k] = flags[constraint->at_start];
    }
  }
}

static bool keeps(const PawlConstraint* constraint) {
  return constraint->triggered && constraint->on_engage == PAWL_ENGAGE_KEEP;
}

// What keeps an offset holds what it finds, so that its rows are left: those of locks, whose values
// are found, and those of constraints where nothing of theirs is found. Others, such as a joint
// that may open, are `closed`.
static void leave_kept(const PawlStepper* s, unsigned char* left, bool closed) {
  enum { LEFT_IF_GIVEN = 4 };
  PawlPattern G = pawl_system_pattern_G(s->system);
  memset(left, 0, (size_t)s->sizes.rows);
  for (int c = 0; c < s->system->constraint_count; c++) {
    const PawlConstraint* constraint = &s->system->constraints[c];
    bool always = constraint->is_lock || !closed;
    for (int k = 0; keeps(constraint) && k < constraint->row_count; k++) {
      left[constraint->first_row + k] = always ? PAWL_LEFT_POSITION : LEFT_IF_GIVEN;
    }
  }
  for (int i = 0; i < s->sizes.v; i++) {
    bool guessed = pawl_system_guessed(s->system, i, false);
    for (int p = G.start[i]; guessed && p < G.start[i + 1]; p++) {
      left[G.index[p]] &= PAWL_LEFT_POSITION;
    }
  }
  for (int i = 0; i < s->sizes.rows; i++) {
    left[i] = left[i] ? PAWL_LEFT_POSITION : 0;
  }
}

// What is closed has no offset, and the states that it sets are as they start.
static void close_kept(const PawlStepper* s, const unsigned char* left, PawlState* state) {
  for (int c = 0; c < s->system->constraint_count; c++) {
    const PawlConstraint* constraint = &s->system->constraints[c];
    bool closes = false;
    for (int k = 0; keeps(constraint) && k < constraint->row_count; k++) {
      int row = constraint->first_row + k;
      state->held[row] = left[row] ? state->held[row] : 0.0;
      closes |= !left[row];
    }
    for (int k = 0; closes && k < constraint->set_count; k++) {
      int input = s->system->model->sets[constraint->first_set + k].input;
      pawl_phase_inputs(state, s->system)[input] = s->system->start_inputs[input];
    }
  }
}

// How the start is looked for.
typedef struct Attempt {
  bool closed;    // what keeps an offset is closed where something of it is found
  double nearly;  // > 0: coordinates that were given change, too, where this much at most is off
} Attempt;

// Changes what was guessed until the constraints hold. The modes belong to the place that is found,
// so they are asked for again; what locks hold is the value there, at rest.
static PawlStatus assemble_with(PawlStepper* s, PawlState* state, bool* kept, unsigned char* left,
                                int* modes, Attempt how_far, PawlError* err) {
  enum { MOST_ROUNDS = 8 };
  size_t n = (size_t)s->sizes.v;
  char names[300], with[220], how[2][580];
  name_at_start(s, with, sizeof with);
  for (int level = 0; level < 2; level++) {
    name_guesses(s, level, names, sizeof names);
    if (names[0]) {
      snprintf(how[level], sizeof how[level], "assembled by changing %s alone%s", names, with);
    } else {
      snprintf(how[level], sizeof how[level], "as given");
    }
  }
  PawlAssemblyDef def = {.kept = {kept, kept + n},
                         .left = left,
                         .how = {how[0], how[1]},
                         .any_metric = true,
                         .nearly = how_far.nearly};
  for (int i = 0; i < s->sizes.v; i++) {
    kept[i] = how_far.nearly == 0.0 && !pawl_system_guessed(s->system, i, false);
    kept[n + (size_t)i] = !pawl_system_guessed(s->system, i, true);
  }
  leave_kept(s, left, how_far.closed);
  for (int k = 0; s->loop && k < s->watching.joint_count; k++) {
    int row = s->system->constraints[s->watching.joints[k]].first_row;
    left[row] = left[row] ? PAWL_LEFT_BOTH : 0;  // what holds by a capacity slides
  }
  leave_half(s, left);
  for (int round = 0; round < MOST_ROUNDS; round++) {
    memcpy(modes, state->modes, pawl_phase_mode_bytes(state));
    hold_at_start(s, state);
    close_kept(s, left, state);
    PAWL_TRY(pawl_assemble(s->system, state, &def, err));
    PAWL_TRY(find_modes(s, state, err));
    if (memcmp(modes, state->modes, pawl_phase_mode_bytes(state)) == 0) {
      return PAWL_OK;
    }
  }
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "the start cannot be %s: the modes of the constraints change with each try",
                   how[0]);
}

static bool keeps_offsets(const PawlStepper* s) {
  bool any = false;
  for (int c = 0; c < s->system->constraint_count && !any; c++) {
    any = keeps(&s->system->constraints[c]) && !s->system->constraints[c].is_lock;
  }
  return any;
}

// Tries one way after the other, each from the start as stated: what keeps offsets closed, and
// open; all coordinates where they nearly fit. The first message counts.
static PawlStatus try_all(PawlStepper* s, PawlState* state, bool* kept, unsigned char* left,
                          int* modes, double* stated, PawlError* err) {
  static const double NEARLY = 1e-2;  // [1] of the terms of a row
  size_t q = (size_t)s->sizes.q, v = (size_t)s->sizes.v;
  bool closed = keeps_offsets(s);
  const Attempt attempts[] = {{closed, 0.0}, {false, 0.0}, {closed, NEARLY}};
  PawlStatus status = PAWL_ERROR_RUN;
  memcpy(stated, state->q, q * sizeof *stated);
  memcpy(stated + q, state->v, v * sizeof *stated);
  for (int k = 0; k < 3 && status == PAWL_ERROR_RUN; k++) {
    PawlError later = {0};
    if (k == 1 && !closed) {
      continue;
    }
    if (k > 0) {
      memcpy(state->q, stated, q * sizeof *stated);
      memcpy(state->v, stated + q, v * sizeof *stated);
      PAWL_TRY(find_modes(s, state, err));
    }
    PawlStatus found =
        assemble_with(s, state, kept, left, modes, attempts[k], k == 2 ? &later : err);
    if (found == PAWL_ERROR_MEMORY) {
      return pawl_fail_memory(err);
    }
    status = k < 2 || found == PAWL_OK ? found : status;
  }
  return status;
}

static PawlStatus assemble(PawlStepper* s, PawlState* state, bool project, PawlError* err) {
  size_t q = (size_t)s->sizes.q, v = (size_t)s->sizes.v;
  bool* kept = pawl_alloc(2 * v, sizeof *kept);
  unsigned char* left = pawl_alloc((size_t)s->sizes.rows, 1);
  int* modes = pawl_alloc(1, pawl_phase_mode_bytes(state) + sizeof *modes);
  double* stated = pawl_alloc(q + v, sizeof *stated);
  PawlStatus status = kept && left && modes && stated
                          ? try_all(s, state, kept, left, modes, stated, err)
                          : pawl_fail_memory(err);
  if (status == PAWL_ERROR_RUN && project) {  // moves everything as little as possible
    memcpy(state->q, stated, q * sizeof *stated);
    memcpy(state->v, stated + q, v * sizeof *stated);
    status = find_modes(s, state, err);
  }
  pawl_free(kept);
  pawl_free(left);
  pawl_free(modes);
  pawl_free(stated);
  return status;
}

// Modes first, as the start states them.
PawlStatus pawl_guesses_find(PawlStepper* s, PawlState* state, bool project, PawlError* err) {
  PAWL_TRY(find_modes(s, state, err));
  bool any = pawl_system_guesses(s->system) || asks_at_start(s);
  return any ? assemble(s, state, project, err) : PAWL_OK;
}
