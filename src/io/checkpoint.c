// SPDX-License-Identifier: Apache-2.0
// Layout: a head, the saved run, and for each writer its mark.
#include "pawl/checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/text.h"
#include "io/file.h"
#include "io/writer.h"

enum { MOST_WRITERS = 1 << 20 };

typedef struct Head {
  char magic[8];
  uint64_t size, sum;  // of all; hash of what follows
} Head;

static const char MAGIC[8] = {'p', 'a', 'w', 'l', '-', 'c', 'p', '2'};

// ---- writing ------------------------------------------------------------------------------------
static PawlStatus put_run(const PawlSim* sim, PawlBytes* b, PawlError* err) {
  void* run;
  size_t size;
  PAWL_TRY(pawl_sim_save(sim, &run, &size, err));
  pawl_bytes_whole(b, (long long)size);
  pawl_bytes_add(b, run, size);
  pawl_sim_saved_free(run);
  return PAWL_OK;
}

static PawlStatus put_all(const PawlSim* sim, int count, PawlWriter* const* writers, PawlBytes* b,
                          PawlError* err) {
  Head head = {0};
  memcpy(head.magic, MAGIC, sizeof MAGIC);
  pawl_bytes_add(b, &head, sizeof head);
  PAWL_TRY(put_run(sim, b, err));
  pawl_bytes_whole(b, count);
  for (int k = 0; k < count; k++) {
    PAWL_TRY(pawl_writer_save(writers[k], b, err));
  }
  if (b->failed) {
    return pawl_fail_memory(err);
  }
  head.size = b->length;
  head.sum = pawl_hash(PAWL_HASH_START, b->data + sizeof head, b->length - sizeof head);
  memcpy(b->data, &head, sizeof head);
  return PAWL_OK;
}

PawlStatus pawl_checkpoint_write(const char* path, const PawlSim* sim, int writer_count,
                                 PawlWriter* const* writers, PawlError* err) {
  PawlBytes b = {0};
  PawlFile file;
  PawlStatus status = put_all(sim, writer_count, writers, &b, err);
  if (status == PAWL_OK && (status = pawl_file_open(&file, path, err)) == PAWL_OK) {
    status = pawl_file_write(&file, b.data, b.length, err);
    status = status ? status : pawl_file_sync(&file, err);
    status = pawl_file_close(&file, status, err);
  }
  pawl_bytes_free(&b);
  return status;
}

// ---- reading ------------------------------------------------------------------------------------
static PawlStatus check(const void* bytes, size_t size, PawlError* err) {
  Head head;
  if (size < sizeof head || memcmp(bytes, MAGIC, sizeof MAGIC) != 0) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "is no checkpoint, or of another version of pawl");
  }
  memcpy(&head, bytes, sizeof head);
  if (head.size != size) {
    return pawl_fail(err, PAWL_ERROR_USAGE,
                     "is damaged: it has %zu bytes, and was written with %llu", size,
                     (unsigned long long)head.size);
  }
  const unsigned char* rest = (const unsigned char*)bytes + sizeof head;
  return head.sum == pawl_hash(PAWL_HASH_START, rest, size - sizeof head)
             ? PAWL_OK
             : pawl_fail(err, PAWL_ERROR_USAGE, "is damaged: its checksum is wrong");
}

// The run goes on writing the files that it wrote: says which these are. `r` is at their number.
static PawlStatus check_writers(PawlReader r, int count, PawlError* err) {
  PawlText names = {0};
  int saved = pawl_reader_count(&r, MOST_WRITERS);
  for (int k = 0; k < saved && !r.failed; k++) {
    pawl_text_printf(&names, " -o %s", pawl_writer_saved_path(&r));
  }
  PawlStatus status = PAWL_OK;
  if (names.failed) {
    status = pawl_fail_memory(err);
  } else if (!r.failed && saved != count) {
    status = saved ? pawl_fail(err, PAWL_ERROR_USAGE,
                               "its run wrote its samples with%s; to go on, give the same (%d -o "
                               "given)",
                               names.s, count)
                   : pawl_fail(err, PAWL_ERROR_USAGE,
                               "its run wrote no samples to files, and cannot begin to: leave out "
                               "-o");
  }
  pawl_text_free(&names);
  return status;
}

static PawlStatus open_writers(PawlReader* r, const PawlSim* sim, int count,
                               PawlWriter* const* writers, PawlError* err) {
  (void)pawl_reader_count(r, MOST_WRITERS);
  for (int k = 0; k < count && !r->failed; k++) {
    PAWL_TRY(pawl_writer_load(writers[k], pawl_sim_recorder(sim), r, err));
  }
  return r->failed ? pawl_fail(err, PAWL_ERROR_USAGE, "is damaged: it ends too early") : PAWL_OK;
}

static PawlStatus take_all(const void* bytes, size_t size, const PawlSystem* system,
                           const PawlSimDef* def, int count, PawlWriter* const* writers,
                           PawlSim** out, PawlError* err) {
  PAWL_TRY(check(bytes, size, err));
  PawlReader r = {(const unsigned char*)bytes + sizeof(Head), size - sizeof(Head), false};
  long long run_size = pawl_reader_whole(&r);
  const void* run = run_size < 0 ? NULL : pawl_reader_skip(&r, (size_t)run_size);
  if (!run) {
    return pawl_fail(err, PAWL_ERROR_USAGE, "is damaged: it ends too early");
  }
  PAWL_TRY(check_writers(r, count, err));
  PAWL_TRY(pawl_sim_load(system, def, run, (size_t)run_size, out, err));
  return open_writers(&r, *out, count, writers, err);
}

// Puts the name of the file in front of a message.
static void name_file(const char* path, PawlError* err) {
  if (err) {
    PawlError inner = *err;
    pawl_fail(err, inner.status, "%s: %s", path, inner.message);
  }
}

PawlStatus pawl_checkpoint_read(const char* path, const PawlSystem* system, const PawlSimDef* def,
                                int writer_count, PawlWriter* const* writers, PawlSim** out,
                                PawlError* err) {
  void* bytes;
  size_t size;
  *out = NULL;
  PAWL_TRY(pawl_file_load(path, &bytes, &size, err));
  PawlStatus status = take_all(bytes, size, system, def, writer_count, writers, out, err);
  pawl_free(bytes);
  if (status != PAWL_OK) {
    name_file(path, err);
    for (int k = 0; k < writer_count; k++) {
      pawl_writer_leave(writers[k]);
    }
    pawl_sim_destroy(*out);
    *out = NULL;
  }
  return status;
}
