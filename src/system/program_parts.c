// SPDX-License-Identifier: Apache-2.0
// The lanes of a program on several threads. Lanes are cut into parts of a fixed length. A place
// that lanes of several parts add to belongs to the first of these parts, which adds at once; what
// the others have for it is kept and added behind the loop, in the order of lanes. Every place gets
// the addends that it gets from one thread, in the same order.
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "system/program.h"

enum {
  PART_LANES = 8 * PAWL_TAPE_WIDTH,  // enough work to be worth a look at the next part
  LEAST_PARTS = 4,                   // fewer take less time than threads to wake up
  LATE_FRACTION = 8,                 // one in so many results may be kept for later
};

struct PawlProgramParts {
  PawlPool* pool;
  double** registers;  // by thread
  uint64_t* late;      // (blocks * outputs) bit l: the place of lane l belongs to an earlier part
  int* start;          // (parts + 1) where what a part keeps begins in `kept`
  double* kept;
  double* check;  // (parts)
};

static int block_count(const PawlProgram* p) {
  return pawl_pool_parts(p->group->lanes, PAWL_TAPE_WIDTH);
}

static int lanes_of(const PawlProgram* p, int block) {
  int rest = p->group->lanes - block * PAWL_TAPE_WIDTH;
  return rest < PAWL_TAPE_WIDTH ? rest : PAWL_TAPE_WIDTH;
}

// ---- making -------------------------------------------------------------------------------------
static int largest_place(const PawlProgram* p, const double* array) {
  int most = 0;
  for (int k = 0; k < p->output_count; k++) {
    const PawlProgramOutput* o = &p->outputs[k];
    for (int l = 0; o->array == array && l < p->group->lanes; l++) {
      most = o->dest[l] > most ? o->dest[l] : most;
    }
  }
  return most;
}

// owner[i]: the first part with a lane that adds to array[i].
static void find_owners(const PawlProgram* p, const double* array, int* owner) {
  for (int k = 0; k < p->output_count; k++) {
    const PawlProgramOutput* o = &p->outputs[k];
    for (int l = 0; o->array == array && l < p->group->lanes; l++) {
      int part = l / PART_LANES, *of = &owner[o->dest[l]];
      *of = part < *of ? part : *of;
    }
  }
}

// Flags the results of one array that have to wait, and counts them by part in start[part + 1].
static void flag_late(const PawlProgram* p, const double* array, const int* owner, uint64_t* late,
                      int* start) {
  for (int k = 0; k < p->output_count; k++) {
    const PawlProgramOutput* o = &p->outputs[k];
    for (int l = 0; o->array == array && l < p->group->lanes; l++) {
      int part = l / PART_LANES, block = l / PAWL_TAPE_WIDTH;
      uint64_t flag = owner[o->dest[l]] != part;
      late[(size_t)block * (size_t)p->output_count + (size_t)k] |= flag << l % PAWL_TAPE_WIDTH;
      start[part + 1] += (int)flag;
    }
  }
}

static bool seen_before(const PawlProgram* p, int k) {
  for (int i = 0; i < k; i++) {
    if (p->outputs[i].array == p->outputs[k].array) {
      return true;
    }
  }
  return false;
}

static PawlStatus flag_all(const PawlProgram* p, struct PawlProgramParts* parts, PawlError* err) {
  for (int k = 0; k < p->output_count; k++) {
    const double* array = p->outputs[k].array;
    if (seen_before(p, k)) {
      continue;
    }
    int places = largest_place(p, array) + 1;
    int* owner = pawl_alloc((size_t)places, sizeof *owner);
    if (!owner) {
      return pawl_fail_memory(err);
    }
    for (int i = 0; i < places; i++) {
      owner[i] = INT32_MAX;
    }
    find_owners(p, array, owner);
    flag_late(p, array, owner, parts->late, parts->start);
    pawl_free(owner);
  }
  return PAWL_OK;
}

static bool make_registers(const PawlProgram* p, struct PawlProgramParts* parts, PawlArena* arena) {
  int threads = pawl_pool_threads(parts->pool);
  parts->registers = PAWL_NEW(arena, double*, threads);
  for (int k = 0; parts->registers && k < threads; k++) {
    size_t room = pawl_tape_room(p->tape, PAWL_TAPE_WIDTH);
    parts->registers[k] = k == 0 ? p->registers : PAWL_NEW(arena, double, room);
    if (parts->registers[k]) {
      pawl_tape_prepare(p->tape, PAWL_TAPE_WIDTH, parts->registers[k]);
    }
  }
  return !arena->failed;
}

PawlStatus pawl_program_share(PawlProgram* p, PawlPool* pool, PawlArena* arena, PawlError* err) {
  int count = pawl_pool_parts(p->group->lanes, PART_LANES);
  if (pawl_pool_threads(pool) == 1 || p->group->gates || count < LEAST_PARTS) {
    return PAWL_OK;
  }
  struct PawlProgramParts* parts = PAWL_NEW(arena, struct PawlProgramParts, 1);
  if (!parts) {
    return pawl_fail_memory(err);
  }
  parts->pool = pool;
  parts->late = PAWL_NEW(arena, uint64_t, (size_t)block_count(p) * (size_t)p->output_count);
  parts->start = PAWL_NEW(arena, int, count + 1);
  parts->check = PAWL_NEW(arena, double, count);
  if (!make_registers(p, parts, arena)) {
    return pawl_fail_memory(err);
  }
  PAWL_TRY(flag_all(p, parts, err));
  for (int k = 0; k < count; k++) {
    parts->start[k + 1] += parts->start[k];
  }
  parts->kept = PAWL_NEW(arena, double, parts->start[count]);
  if (!parts->kept) {
    return pawl_fail_memory(err);
  }
  bool few = parts->start[count] <= p->group->lanes / LATE_FRACTION * p->output_count;
  p->parts_of_lanes = few ? parts : NULL;
  return PAWL_OK;
}

// ---- running ------------------------------------------------------------------------------------
typedef struct Run {
  const PawlProgram* p;
  const PawlSystem* system;
  const PawlPoint* point;
} Run;

// Adds a row of results to its places, but for those that wait, which go to `kept`.
static double* add_row(const PawlProgramOutput* o, const double* row, int first, int lanes,
                       uint64_t late, double* kept) {
  const int* dest = o->dest + first;
  if (late == 0) {
    pawl_program_add(o, first, lanes, row);
    return kept;
  }
  for (int l = 0; l < lanes; l++) {
    if (late >> l & 1) {
      *kept++ = row[l];
    } else {
      o->array[dest[l]] += row[l];
    }
  }
  return kept;
}

static void run_part(void* context, PawlPart part) {
  const Run* run = context;
  const PawlProgram* p = run->p;
  const struct PawlProgramParts* parts = p->parts_of_lanes;
  double *registers = parts->registers[part.thread],
         *kept = parts->kept + parts->start[part.number];
  double check[PAWL_TAPE_WIDTH] = {0}, sum = 0.0;
  for (int first = part.first; first < part.end; first += PAWL_TAPE_WIDTH) {
    int block = first / PAWL_TAPE_WIDTH, lanes = lanes_of(p, block);
    const uint64_t* late = parts->late + (size_t)block * (size_t)p->output_count;
    pawl_program_run_block(p, run->system, run->point, first, lanes, registers);
    for (int k = 0; k < p->output_count; k++) {
      const double* row = registers + (size_t)p->outputs[k].reg * PAWL_TAPE_WIDTH;
      for (int l = 0; l < lanes; l++) {
        check[l] += row[l] - row[l];
      }
      kept = add_row(&p->outputs[k], row, first, lanes, late[k], kept);
    }
  }
  for (int l = 0; l < PAWL_TAPE_WIDTH; l++) {
    sum += check[l];
  }
  parts->check[part.number] = sum;
}

// What had to wait, in the order of lanes.
static void add_kept(const PawlProgram* p) {
  const struct PawlProgramParts* parts = p->parts_of_lanes;
  const double* kept = parts->kept;
  const uint64_t* late = parts->late;
  for (int block = 0; block < block_count(p); block++) {
    for (int k = 0; k < p->output_count; k++, late++) {
      const PawlProgramOutput* o = &p->outputs[k];
      for (int l = 0; *late != 0 && l < lanes_of(p, block); l++) {
        if (*late >> l & 1) {
          o->array[o->dest[block * PAWL_TAPE_WIDTH + l]] += *kept++;
        }
      }
    }
  }
}

double pawl_program_run_shared(const PawlProgram* p, const PawlSystem* system,
                               const PawlPoint* point) {
  Run run = {p, system, point};
  const struct PawlProgramParts* parts = p->parts_of_lanes;
  pawl_pool_loop(parts->pool, p->group->lanes, PART_LANES, run_part, &run);
  add_kept(p);
  double check = 0.0;
  for (int k = 0; k < pawl_pool_parts(p->group->lanes, PART_LANES); k++) {
    check += parts->check[k];
  }
  return check;
}
