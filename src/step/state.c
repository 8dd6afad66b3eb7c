// SPDX-License-Identifier: Apache-2.0
// States as plain bytes: what they are made of, and what their stepper knows of its matrices. With
// both a run goes on with the same bits.
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "step/loop.h"
#include "step/method.h"

enum { VERSION = 5, MOST_NAME = 96 };

typedef struct Header {
  char magic[8];              // "pawl" and the order of bytes
  uint32_t version, padding;  // of this layout
  char system[MOST_NAME], method[MOST_NAME], smooth[MOST_NAME];
  uint64_t shape;       // hash of sizes and patterns
  uint64_t state, kkt;  // bytes
  uint64_t sum;         // hash of all else
  int64_t step;
  double t, redundant_off;
  int32_t redundant_count, still_count;
} Header;

// Fowler, Noll and Vo's hash.
static uint64_t hash(uint64_t start, const void* bytes, size_t count) {
  const unsigned char* b = bytes;
  for (size_t k = 0; k < count; k++) {
    start = (start ^ b[k]) * UINT64_C(1099511628211);
  }
  return start;
}

static uint64_t hash_pattern(uint64_t start, const PawlPattern* A) {
  start = hash(start, A->start, ((size_t)A->cols + 1) * sizeof(int));
  return hash(start, A->index, (size_t)A->start[A->cols] * sizeof(int));
}

static const uint64_t FIRST = UINT64_C(14695981039346656037);

static uint64_t hash_shape(const PawlStepper* s) {
  uint64_t shape = hash(FIRST, &s->sizes, sizeof s->sizes);
  return hash_pattern(hash_pattern(shape, &s->H), &s->G);
}

// Of the header without this sum, and what follows.
static uint64_t sum_of(const Header* header, const unsigned char* rest) {
  Header h = *header;
  h.sum = 0;
  return hash(hash(FIRST, &h, sizeof h), rest, h.state + h.kkt);
}

static size_t state_bytes(const PawlStepper* s) {
  PawlStateShape shape = pawl_stepper_shape(s);
  return pawl_phase_state_bytes(&shape);
}

enum { MORE = sizeof((PawlStepper*)NULL)->more_kkt / sizeof(PawlKkt*) };

// The solver and those of the method: k from 0 to MORE; may be NULL.
static PawlKkt* solver(const PawlStepper* s, int k) {
  return k == 0 ? s->kkt : s->more_kkt[k - 1];
}

static size_t kkt_bytes(const PawlStepper* s) {
  size_t bytes = 0;
  for (int k = 0; k <= MORE; k++) {
    bytes += solver(s, k) ? pawl_kkt_memory_bytes(solver(s, k)) : 0;
  }
  return bytes;
}

static void save_kkt(const PawlStepper* s, unsigned char* bytes) {
  for (int k = 0; k <= MORE; k++) {
    if (solver(s, k)) {
      pawl_kkt_save(solver(s, k), bytes);
      bytes += pawl_kkt_memory_bytes(solver(s, k));
    }
  }
}

static PawlStatus load_kkt(const PawlStepper* s, const unsigned char* bytes) {
  for (int k = 0; k <= MORE; k++) {
    if (solver(s, k)) {
      PAWL_TRY(pawl_kkt_load(solver(s, k), bytes));
      bytes += pawl_kkt_memory_bytes(solver(s, k));
    }
  }
  return PAWL_OK;
}

static Header header_of(const PawlStepper* s) {
  Header h = {.magic = {'p', 'a', 'w', 'l', 1, 2, 3, 4},
              .version = VERSION,
              .shape = hash_shape(s),
              .state = state_bytes(s),
              .kkt = kkt_bytes(s)};
  const uint16_t order = 0x0102;
  memcpy(h.magic + 4, &order, sizeof order);
  snprintf(h.system, sizeof h.system, "%s", pawl_system_name(s->system));
  snprintf(h.method, sizeof h.method, "%s", s->def.method);
  snprintf(h.smooth, sizeof h.smooth, "%s", s->method->info.name);
  return h;
}

size_t pawl_state_size(const PawlStepper* s) {
  return sizeof(Header) + state_bytes(s) + kkt_bytes(s);
}

void pawl_state_save(const PawlStepper* s, const PawlState* state, void* bytes) {
  Header h = header_of(s);
  unsigned char* rest = (unsigned char*)bytes + sizeof h;
  assert(state->bytes == h.state);
  h.step = state->step;
  h.t = state->t;
  h.redundant_count = state->redundant_count;
  h.still_count = state->still_count;
  h.redundant_off = state->redundant_off;
  memcpy(rest, state->q, h.state);
  save_kkt(s, rest + h.state);
  h.sum = sum_of(&h, rest);
  memcpy(bytes, &h, sizeof h);
}

static PawlStatus refuse(PawlError* err, const char* why) {
  return pawl_fail(err, PAWL_ERROR_USAGE, "the saved state %s", why);
}

// Whether the bytes were saved by a stepper like this one.
static PawlStatus check(const PawlStepper* s, const Header* h, size_t size, PawlError* err) {
  Header own = header_of(s);
  if (size < sizeof *h || memcmp(h->magic, own.magic, sizeof own.magic) != 0) {
    return refuse(err, "is none, or of another kind of machine");
  }
  if (h->version != own.version) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "the saved state has layout %u, this pawl reads %u",
                     h->version, own.version);
  }
  if (memcmp(h->system, own.system, MOST_NAME) != 0 || h->shape != own.shape) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "the saved state is of the system '%.95s', not of this '%.95s', or its model "
                     "has changed since",
                     h->system, own.system);
  }
  if (memcmp(h->method, own.method, MOST_NAME) != 0 ||
      memcmp(h->smooth, own.smooth, MOST_NAME) != 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "the saved state is of the method %.95s (%.95s), not of %.95s (%.95s)",
                     h->method, h->smooth, own.method, own.smooth);
  }
  return h->state == own.state && h->kkt == own.kkt && size == sizeof *h + h->state + h->kkt
             ? PAWL_OK
             : refuse(err, "has another size: it is cut short, or its model has changed since");
}

static void take(const Header* h, const unsigned char* arrays, PawlState* state) {
  state->step = h->step;
  state->t = h->t;
  state->redundant_count = h->redundant_count;
  state->still_count = h->still_count;
  state->redundant_off = h->redundant_off;
  memcpy(state->q, arrays, h->state);
}

// A right checksum says that bytes are as they were written, not that a stepper wrote them.
static PawlStatus check_phase(const PawlStepper* s, const Header* h, const unsigned char* arrays,
                              PawlError* err) {
  PawlState* trial;
  PawlStateShape shape = pawl_stepper_shape(s);
  assert(h->state == pawl_phase_state_bytes(&shape));
  PAWL_TRY(pawl_phase_state(&shape, &trial, err));
  take(h, arrays, trial);
  bool possible = pawl_phase_is_possible(s->system, &shape, trial);
  pawl_state_destroy(trial);
  return possible ? PAWL_OK : refuse(err, "is damaged: it has modes that its constraints have not");
}

PawlStatus pawl_state_load(PawlStepper* s, PawlState* state, const void* bytes, size_t size,
                           PawlError* err) {
  Header h = {0};
  const unsigned char* rest = (const unsigned char*)bytes + sizeof h;
  memcpy(&h, bytes, size < sizeof h ? size : sizeof h);
  PAWL_TRY(check(s, &h, size, err));
  if (sum_of(&h, rest) != h.sum) {
    return refuse(err, "is damaged: its checksum is wrong");
  }
  PAWL_TRY(check_phase(s, &h, rest, err));
  PawlStatus status = load_kkt(s, rest + h.state);
  if (status != PAWL_OK) {
    return status == PAWL_ERROR_MEMORY ? pawl_fail_memory(err)
                                       : refuse(err, "does not fit the matrices of this system");
  }
  take(&h, rest, state);
  pawl_phase_activate(s->system, state);
  pawl_loop_forget(s->loop);
  return PAWL_OK;
}

PawlStatus pawl_state_copy(PawlStepper* s, PawlState* to, const PawlStepper* of,
                           const PawlState* from, PawlError* err) {
  size_t size = pawl_state_size(of);
  void* bytes = pawl_alloc(1, size);
  if (!bytes) {
    return pawl_fail_memory(err);
  }
  pawl_state_save(of, from, bytes);
  PawlStatus status = pawl_state_load(s, to, bytes, size, err);
  pawl_free(bytes);
  return status;
}
