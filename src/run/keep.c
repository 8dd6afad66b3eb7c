// SPDX-License-Identifier: Apache-2.0
#include "run/keep.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "step/assemble.h"

typedef struct Keep {
  PawlArena arena;
  const PawlSystem* system;
  PawlState* state;
  PawlSizes n;
  const char* names;  // for messages
  bool* kept[2];      // of coordinates, of rates
  double* start[2];   // as stated
} Keep;

// ---- names ----------------------------------------------------------------------------------
// The text without spaces, up to a comma; returns what is behind it.
static const char* next_name(const char* at, char* name, size_t size) {
  size_t used = 0;
  int depth = 0;
  for (; *at && (depth > 0 || *at != ','); at++) {
    depth += (*at == '[') - (*at == ']');
    if (!isspace((unsigned char)*at) && used + 1 < size) {
      name[used++] = *at;
    }
  }
  name[used] = '\0';
  return *at == ',' ? at + 1 : at;
}

static bool mark(Keep* k, const char* name) {
  size_t length = strlen(name);
  int level = length > 0 && name[length - 1] == '\'';
  for (int i = 0; i < k->n.q; i++) {
    const char* known = pawl_system_coordinate_name(k->system, i);
    if (strlen(known) == length - (size_t)level && strncmp(known, name, strlen(known)) == 0) {
      return k->kept[level][i] = true;
    }
  }
  return false;
}

static PawlStatus read_names(Keep* k, PawlError* err) {
  char name[300];
  for (const char* at = k->names; *at;) {
    at = next_name(at, name, sizeof name);
    if (!mark(k, name)) {
      return pawl_fail(err, PAWL_ERROR_USAGE,
                       "keep: '%.100s' is neither a coordinate nor a rate of '%s'", name,
                       pawl_system_name(k->system));
    }
  }
  return PAWL_OK;
}

static bool has_moved(const Keep* k) {
  const double* now[2] = {k->state->q, k->state->v};
  for (int level = 0; level < 2; level++) {
    for (int i = 0; i < k->n.q; i++) {
      if (k->kept[level][i] && now[level][i] != k->start[level][i]) {
        return true;
      }
    }
  }
  return false;
}

// ---- both levels ----------------------------------------------------------------------------
static PawlStatus allocate(Keep* k, PawlError* err) {
  for (int level = 0; level < 2; level++) {
    k->kept[level] = PAWL_NEW(&k->arena, bool, k->n.v);
    k->start[level] = PAWL_NEW(&k->arena, double, k->n.v);
  }
  return k->arena.failed ? pawl_fail_memory(err) : PAWL_OK;
}

static PawlStatus keep_start(Keep* k, PawlStepper* stepper, PawlError* err) {
  if (k->n.q != k->n.v || k->n.v > PAWL_ASSEMBLY_MOST) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "keep: only for systems with as many rates as coordinates, at most %d",
                     PAWL_ASSEMBLY_MOST);
  }
  PAWL_TRY(allocate(k, err));
  PAWL_TRY(read_names(k, err));
  pawl_system_start(k->system, k->start[0], k->start[1]);
  if (!has_moved(k)) {
    return PAWL_OK;
  }
  char how[400];
  snprintf(how, sizeof how, "projected while %.300s is kept", k->names);
  PawlAssemblyDef def = {.kept = {k->kept[0], k->kept[1]}, .how = {how, how}};
  pawl_system_start(k->system, k->state->q, k->state->v);
  PAWL_TRY(pawl_assemble(k->system, k->state, &def, err));
  return pawl_stepper_start(stepper, k->state, false, err);
}

PawlStatus pawl_keep_start(const PawlSystem* system, PawlStepper* stepper, PawlState* state,
                           const char* keep, PawlError* err) {
  Keep k = {.system = system, .state = state, .n = pawl_system_sizes(system), .names = keep};
  PawlStatus status = keep_start(&k, stepper, err);
  pawl_arena_free(&k.arena);
  return status;
}
