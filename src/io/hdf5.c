// SPDX-License-Identifier: Apache-2.0
// HDF5 files, and the one place that includes hdf5.h. Layout, all strings UTF-8 of fixed length:
//   /                  each fact as an attribute; facts "options/step", "parameters/m" as
//   attributes
//                      of the groups /options and /parameters; numbers as doubles
//   /samples/<column>  double[samples]; attributes name, unit, kind; columns in creation order
//   /events/t energy_lost                  double[events]
//   /events/constraint from to             string[events]
//   /events/impulse v_before v_after       double[events][longest], NaN where an event has fewer
// Samples gather in a tile, and the library is called only when the tile is full or a flush is due:
// it then appends the tile to every column and flushes. In between, the file on the disk is as of
// the last flush and can be read, whatever happens to the program; only a program that is killed
// inside a flush may leave one that cannot. A run shorter than one tile leaves plain, unchunked
// columns. Events are written at the end.
// A failing disk leaves the HDF5 library with a file that it can neither write nor close and that
// makes it crash when the program ends. Hence room on the disk is reserved before each call, and
// what cannot be reserved (pipes, devices) is built in memory and written at the end.
// The HDF5 library prints errors by default; its handler is replaced for the time of a call, and
// the most specific line of what it would have printed becomes our message.
#include "io/file.h"
#include "io/writer.h"

#ifndef PAWL_WITH_HDF5

bool pawl_has_hdf5(void) {
  return false;
}

void pawl_hdf5_stay_open(void) {}

static PawlStatus refuse(PawlWriter* writer, const PawlRecorder* recorder, PawlError* err) {
  (void)recorder;
  return pawl_fail(err, PAWL_ERROR_USAGE,
                   "cannot write '%s': this pawl was built without HDF5; write a .csv file",
                   writer->path);
}

const PawlWriterFormat pawl_hdf5_format = {.open = refuse};

bool pawl_hdf5_read(const char* path, uint64_t first, int count, int column_count, double* values) {
  (void)path, (void)first, (void)count, (void)column_count, (void)values;
  return false;
}

#else

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"

// A tile has TILE_ROWS samples, fewer where these would be more than TILE_VALUES numbers (16 MB).
// It is also the chunk of a column.
enum { TILE_ROWS = 4096, FEWEST_TILE_ROWS = 64, TILE_VALUES = 1 << 21 };
enum { NAME_BYTES = 512 };  // longest link name; a longer one is cut, its attribute is whole

typedef struct Scratch {  // room for the widest row of any field of the events, and for many others
  int count;
  double* values;
} Scratch;

typedef struct Hdf5 {
  PawlFile target;
  const PawlRecorder* recorder;  // names and units of the columns
  hid_t file;                    // -1 before it is created
  PawlArena arena;               // links
  int tile_rows;
  size_t tile_values;
  const char** links;  // the name of each column in /samples; NULL until it is made
  double* tile;        // by columns, each of tile_rows
  int used;            // rows in the tile
  hsize_t written;     // rows in the file
  bool no_memory;      // of ours, inside a call of the library
} Hdf5;

typedef struct Reason {  // what the HDF5 library says of its first failure
  char text[256];
  bool known;
} Reason;

static herr_t keep_innermost(unsigned depth, const H5E_error2_t* error, void* data) {
  Reason* reason = data;
  if (depth == 0 && error->desc && !reason->known) {
    reason->known = true;
    snprintf(reason->text, sizeof reason->text, "%s", error->desc);
  }
  return 0;
}

static herr_t on_failure(hid_t stack, void* data) {
  return H5Ewalk2(stack, H5E_WALK_UPWARD, keep_innermost, data);
}

// Closing -1, "never opened", is left out.
static void close_type(hid_t id) {
  if (id >= 0) {
    H5Tclose(id);
  }
}
static void close_space(hid_t id) {
  if (id >= 0) {
    H5Sclose(id);
  }
}
static void close_list(hid_t id) {
  if (id >= 0) {
    H5Pclose(id);
  }
}
static bool close_dataset(hid_t id) {
  return id >= 0 && H5Dclose(id) >= 0;
}

// A string of `size` bytes, the final zero included.
static hid_t string_type(size_t size) {
  hid_t type = H5Tcopy(H5T_C_S1);
  if (type >= 0 && (H5Tset_size(type, size) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
    H5Tclose(type);
    return -1;
  }
  return type;
}

static bool put_attribute(hid_t object, const char* name, const char* value) {
  hid_t type = string_type(strlen(value) + 1);
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t list = H5Pcreate(H5P_ATTRIBUTE_CREATE);
  bool ok = type >= 0 && space >= 0 && list >= 0 && H5Pset_char_encoding(list, H5T_CSET_UTF8) >= 0;
  if (ok) {
    hid_t attribute = H5Acreate2(object, name, type, space, list, H5P_DEFAULT);
    ok = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    if (attribute >= 0) {
      H5Aclose(attribute);
    }
  }
  close_list(list);
  close_space(space);
  close_type(type);
  return ok;
}

static bool put_number(hid_t object, const char* name, double value) {
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t list = H5Pcreate(H5P_ATTRIBUTE_CREATE);
  bool ok = space >= 0 && list >= 0 && H5Pset_char_encoding(list, H5T_CSET_UTF8) >= 0;
  if (ok) {
    hid_t attribute = H5Acreate2(object, name, H5T_IEEE_F64LE, space, list, H5P_DEFAULT);
    ok = attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0;
    if (attribute >= 0) {
      H5Aclose(attribute);
    }
  }
  close_list(list);
  close_space(space);
  return ok;
}

static hid_t create_group(hid_t file, const char* name) {
  hid_t list = H5Pcreate(H5P_GROUP_CREATE);
  hid_t group = -1;
  if (list >= 0 && H5Pset_obj_track_times(list, false) >= 0 &&
      H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0) {
    group = H5Gcreate2(file, name, H5P_DEFAULT, list, H5P_DEFAULT);
  }
  close_list(list);
  return group;
}

static bool put_fact(hid_t object, const PawlRecorder* recorder, int fact, size_t skip) {
  const char* name = pawl_recorder_fact_name(recorder, fact) + skip;
  double number;
  if (name[0] == '\0') {
    return true;
  }
  return pawl_recorder_fact_number(recorder, fact, &number)
             ? put_number(object, name, number)
             : put_attribute(object, name, pawl_recorder_fact_value(recorder, fact));
}

// The groups whose attributes are the facts with their name in front.
static const char* const fact_groups[] = {"options", "parameters"};
enum { FACT_GROUPS = sizeof fact_groups / sizeof *fact_groups };

static int group_of(const char* fact) {
  size_t length = strcspn(fact, "/");
  for (int g = 0; fact[length] == '/' && g < FACT_GROUPS; g++) {
    if (strlen(fact_groups[g]) == length && strncmp(fact, fact_groups[g], length) == 0) {
      return g;
    }
  }
  return -1;
}

// The facts of one group, -1 for those of the root.
static bool put_facts(hid_t object, const PawlRecorder* recorder, int group) {
  size_t skip = group >= 0 ? strlen(fact_groups[group]) + 1 : 0;
  bool ok = true;
  for (int i = 0; ok && pawl_recorder_fact_name(recorder, i); i++) {
    if (group_of(pawl_recorder_fact_name(recorder, i)) == group) {
      ok = put_fact(object, recorder, i, skip);
    }
  }
  return ok;
}

static bool put_fact_groups(hid_t file, const PawlRecorder* recorder) {
  bool ok = true;
  for (int g = 0; ok && g < FACT_GROUPS; g++) {
    hid_t group = create_group(file, fact_groups[g]);
    ok = group >= 0 && put_facts(group, recorder, g);
    ok = group >= 0 && H5Gclose(group) >= 0 && ok;
  }
  return ok;
}

// A link name of our own for each column: '/' would open a group and "." means the group itself.
static bool link_name(hid_t group, const char* name, char link[NAME_BYTES]) {
  size_t length = strlen(name);
  length = length < NAME_BYTES - 16 ? length : NAME_BYTES - 16;
  memcpy(link, name, length);
  link[length] = '\0';
  for (size_t i = 0; i < length; i++) {
    link[i] = link[i] == '/' ? '|' : link[i];
  }
  if (length == 0 || strcmp(link, ".") == 0) {
    memcpy(link, "_", 2);
    length = 1;
  }
  htri_t taken = H5Lexists(group, link, H5P_DEFAULT);
  for (int i = 2; taken > 0; i++) {
    snprintf(link + length, NAME_BYTES - length, "~%d", i);
    taken = H5Lexists(group, link, H5P_DEFAULT);
  }
  return taken == 0;
}

// With `chunk` > 0 a dataset that grows, in chunks of so many rows; rank 1 then.
static hid_t create_dataset(hid_t group, const char* link, hid_t type, int rank,
                            const hsize_t size[], hsize_t chunk) {
  const hsize_t endless = H5S_UNLIMITED;
  hid_t space = H5Screate_simple(rank, size, chunk ? &endless : NULL);
  hid_t list = H5Pcreate(H5P_LINK_CREATE);
  hid_t how = H5Pcreate(H5P_DATASET_CREATE);
  hid_t dataset = -1;
  if (space >= 0 && list >= 0 && how >= 0 && H5Pset_char_encoding(list, H5T_CSET_UTF8) >= 0 &&
      H5Pset_obj_track_times(how, false) >= 0 && (!chunk || H5Pset_chunk(how, 1, &chunk) >= 0)) {
    dataset = H5Dcreate2(group, link, type, space, list, how, H5P_DEFAULT);
  }
  close_list(how);
  close_list(list);
  close_space(space);
  return dataset;
}

// Rows `first` .. `first + count` of the leading dimension; `width` values a row for rank 2.
static bool write_rows(hid_t dataset, hid_t type, int rank, hsize_t first, int count, int width,
                       const void* values) {
  hsize_t start[2] = {first, 0};
  hsize_t size[2] = {(hsize_t)count, (hsize_t)width};
  hid_t whole = H5Dget_space(dataset);
  hid_t part = H5Screate_simple(rank, size, NULL);
  bool ok = whole >= 0 && part >= 0 &&
            H5Sselect_hyperslab(whole, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
            H5Dwrite(dataset, type, part, whole, H5P_DEFAULT, values) >= 0;
  close_space(part);
  close_space(whole);
  return ok;
}

// ---- samples --------------------------------------------------------------------------------
static hid_t create_column(const Hdf5* f, hid_t group, const PawlColumn* info, const char* link,
                           bool grows) {
  hsize_t size = grows ? 0 : (hsize_t)f->used;
  hid_t dataset =
      create_dataset(group, link, H5T_IEEE_F64LE, 1, &size, grows ? (hsize_t)f->tile_rows : 0);
  if (dataset >= 0 &&
      !(put_attribute(dataset, "name", info->name) && put_attribute(dataset, "unit", info->unit) &&
        put_attribute(dataset, "kind", pawl_kind_name(info->kind)))) {
    H5Dclose(dataset);
    return -1;
  }
  return dataset;
}

static hid_t make_column(Hdf5* f, hid_t group, const PawlColumn* info, int column, bool grows) {
  char link[NAME_BYTES];
  if (!link_name(group, info->name, link)) {
    return -1;
  }
  f->links[column] = pawl_arena_copy(&f->arena, link, strlen(link));
  f->no_memory |= !f->links[column];
  return f->links[column] ? create_column(f, group, info, link, grows) : -1;
}

static bool append(Hdf5* f, hid_t dataset, int column, bool grows) {
  hsize_t size = f->written + (hsize_t)f->used;
  return (!grows || H5Dset_extent(dataset, &size) >= 0) &&
         (f->used == 0 || write_rows(dataset, H5T_NATIVE_DOUBLE, 1, f->written, f->used, 1,
                                     f->tile + (size_t)column * (size_t)f->tile_rows));
}

// Appends the tile to every column; the columns are made with the first. One that is also the last
// makes columns of fixed size.
static bool write_tile(Hdf5* f, const PawlWriter* writer, const PawlRecorder* recorder, bool last) {
  bool make = f->written == 0, grows = !make || !last;
  hid_t group = H5Gopen2(f->file, "samples", H5P_DEFAULT);
  bool ok = group >= 0;
  for (int j = 0; ok && j < writer->column_count; j++) {
    const PawlColumn* info = pawl_recorder_column(recorder, writer->columns[j]);
    hid_t dataset =
        make ? make_column(f, group, info, j, grows) : H5Dopen2(group, f->links[j], H5P_DEFAULT);
    ok = dataset >= 0 && append(f, dataset, j, grows);
    ok = close_dataset(dataset) && ok;
  }
  ok = group >= 0 && H5Gclose(group) >= 0 && ok;
  f->written += (hsize_t)f->used;
  f->used = 0;
  return ok && H5Fflush(f->file, H5F_SCOPE_GLOBAL) >= 0;
}

// ---- events ---------------------------------------------------------------------------------
// The fields of an event, by number, so that one function writes any of them.
static const char* const text_fields[] = {"constraint", "from", "to"};
static const char* const number_fields[] = {"t", "energy_lost", "impulse", "v_before", "v_after"};

static const char* text_field(const PawlEvent* event, int field) {
  return field == 0 ? event->constraint : field == 1 ? event->from : event->to;
}

static int number_field(const PawlEvent* event, int field, const double** values) {
  const double* const pointers[] = {&event->t, &event->energy_lost, event->impulse, event->v_before,
                                    event->v_after};
  const int counts[] = {1, 1, event->row_count, event->v_count, event->v_count};
  *values = pointers[field];
  return counts[field];
}

static int longest_text(const PawlRecorder* recorder, int field) {
  int events = pawl_recorder_event_count(recorder);
  int longest = 0;
  for (int i = 0; i < events; i++) {
    int length = (int)strlen(text_field(pawl_recorder_event(recorder, i), field));
    longest = length > longest ? length : longest;
  }
  return longest;
}

static int longest_numbers(const PawlRecorder* recorder, int field) {
  int events = pawl_recorder_event_count(recorder);
  int longest = 0;
  for (int i = 0; i < events; i++) {
    const double* values;
    int count = number_field(pawl_recorder_event(recorder, i), field, &values);
    longest = count > longest ? count : longest;
  }
  return longest;
}

static bool write_text_field(hid_t group, const PawlRecorder* recorder, int field,
                             Scratch scratch) {
  int events = pawl_recorder_event_count(recorder);
  int width = longest_text(recorder, field) + 1;
  hsize_t size = (hsize_t)events;
  hid_t type = string_type((size_t)width);
  hid_t dataset = type < 0 ? -1 : create_dataset(group, text_fields[field], type, 1, &size, 0);
  bool ok = dataset >= 0;
  int batch = scratch.count / width;
  for (int first = 0; ok && first < events; first += batch) {
    int count = events - first < batch ? events - first : batch;
    char* padded = (char*)scratch.values;
    memset(padded, 0, (size_t)count * (size_t)width);
    for (int i = 0; i < count; i++) {
      const char* text = text_field(pawl_recorder_event(recorder, first + i), field);
      memcpy(padded + (size_t)i * (size_t)width, text, strlen(text));
    }
    ok = write_rows(dataset, type, 1, (hsize_t)first, count, 1, padded);
  }
  ok = close_dataset(dataset) && ok;
  close_type(type);
  return ok;
}

static bool write_number_rows(hid_t dataset, const PawlRecorder* recorder, int field, int rank,
                              int width, Scratch scratch) {
  int events = pawl_recorder_event_count(recorder);
  int batch = scratch.count / width;
  bool ok = true;
  for (int first = 0; ok && first < events; first += batch) {
    int count = events - first < batch ? events - first : batch;
    double* padded = scratch.values;
    for (int i = 0; i < count; i++) {
      const double* values;
      int have = number_field(pawl_recorder_event(recorder, first + i), field, &values);
      for (int j = 0; j < width; j++) {
        *padded++ = j < have ? values[j] : NAN;
      }
    }
    ok = write_rows(dataset, H5T_NATIVE_DOUBLE, rank, (hsize_t)first, count, width, scratch.values);
  }
  return ok;
}

static bool write_number_field(hid_t group, const PawlRecorder* recorder, int field,
                               Scratch scratch) {
  int rank = field < 2 ? 1 : 2;
  int width = longest_numbers(recorder, field);
  hsize_t size[2] = {(hsize_t)pawl_recorder_event_count(recorder), (hsize_t)width};
  hid_t dataset = create_dataset(group, number_fields[field], H5T_IEEE_F64LE, rank, size, 0);
  bool ok = dataset >= 0;
  if (ok && width > 0) {
    ok = write_number_rows(dataset, recorder, field, rank, width, scratch);
  }
  return close_dataset(dataset) && ok;
}

static bool write_events(hid_t file, const PawlRecorder* recorder, Scratch scratch) {
  hid_t group = create_group(file, "events");
  bool ok = group >= 0;
  for (int field = 0; ok && field < 5; field++) {
    ok = write_number_field(group, recorder, field, scratch);
  }
  for (int field = 0; ok && field < 3; field++) {
    ok = write_text_field(group, recorder, field, scratch);
  }
  return group >= 0 && H5Gclose(group) >= 0 && ok;
}

static int scratch_count(const PawlRecorder* recorder) {
  int count = TILE_ROWS;
  for (int field = 0; field < 5; field++) {
    int numbers = longest_numbers(recorder, field);
    count = numbers > count ? numbers : count;
  }
  for (int field = 0; field < 3; field++) {
    int text = longest_text(recorder, field) + 1;
    count = text > count ? text : count;
  }
  return count;
}

// ---- the file -------------------------------------------------------------------------------
// In the format of HDF5 1.8: the one before has no attributes over 64 kB, the ones after mark a
// file that is being written so that it cannot be opened. In memory only for what is written
// directly; the name is never opened then. Nothing is set that the file would have to remember
// beside its root (H5Pset_istore_k): that part always has times, and the same run is to give the
// same bytes.
static bool create_file(Hdf5* f) {
  const size_t growth = 1 << 20;
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), create = H5Pcreate(H5P_FILE_CREATE);
  bool ok = access >= 0 && create >= 0 &&
            H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0 &&
            H5Pset_obj_track_times(create, false) >= 0;
#if H5_VERSION_GE(1, 10, 7)
  ok = ok && H5Pset_file_locking(access, false, true) >= 0;  // others may look at the part
#endif
  if (!f->target.temporary) {
    ok = ok && H5Pset_fapl_core(access, growth, false) >= 0;
  }
  const char* name = f->target.temporary ? f->target.temporary : f->target.name;
  f->file = ok ? H5Fcreate(name, H5F_ACC_TRUNC, create, access) : -1;
  close_list(create);
  close_list(access);
  return f->file >= 0;
}

static bool begin_file(Hdf5* f, const PawlRecorder* recorder) {
  hid_t group = create_file(f) ? create_group(f->file, "samples") : -1;
  return group >= 0 && H5Gclose(group) >= 0 && put_facts(f->file, recorder, -1) &&
         put_fact_groups(f->file, recorder) && H5Fflush(f->file, H5F_SCOPE_GLOBAL) >= 0;
}

// The bytes of a file in memory, which stay the library's. NULL on failure.
static const void* image_bytes(hid_t file, size_t* length) {
  ssize_t size = H5Fget_file_image(file, NULL, 0);
  void** bytes = NULL;
  if (size <= 0 || H5Fget_vfd_handle(file, H5P_DEFAULT, (void**)&bytes) < 0) {
    return NULL;
  }
  *length = (size_t)size;
  return *bytes;
}

// ---- calls of the library -------------------------------------------------------------------
typedef struct Quiet {  // our error handler in place of the present one
  H5E_auto2_t handler;
  void* data;
  Reason reason;
} Quiet;

static bool begin_quiet(Quiet* quiet) {
  *quiet = (Quiet){.reason = {"the HDF5 library failed", false}};
  return H5open() >= 0 && H5Eget_auto2(H5E_DEFAULT, &quiet->handler, &quiet->data) >= 0 &&
         H5Eset_auto2(H5E_DEFAULT, on_failure, &quiet->reason) >= 0;
}

static PawlStatus end_quiet(const Quiet* quiet, const Hdf5* f, bool ok, PawlError* err) {
  H5Eset_auto2(H5E_DEFAULT, quiet->handler, quiet->data);
  return ok             ? PAWL_OK
         : f->no_memory ? pawl_fail_memory(err)
                        : pawl_fail(err, PAWL_ERROR_FILE, "cannot write '%s': %s", f->target.name,
                                    quiet->reason.text);
}

// HDF5 ends the program, or crashes, when it runs out of memory. What it may ask for in a call, its
// caches and some tiles, is taken and given back to it.
static PawlStatus probe(const Hdf5* f, PawlError* err) {
  enum { CACHES = 4 << 20, TILES = 4 };
  void* memory = pawl_alloc(CACHES + TILES * f->tile_values * sizeof(double), 1);
  pawl_free(memory);
  return memory ? PAWL_OK : pawl_fail_memory(err);
}

// Room on the disk for `more` bytes of content and what the library needs to keep it.
static PawlStatus reserve(Hdf5* f, unsigned long long more, PawlError* err) {
  PAWL_TRY(probe(f, err));
  const unsigned long long slack = 1 << 16;
  hsize_t size = 0;
  if (f->file >= 0 && H5Fget_filesize(f->file, &size) < 0) {
    return pawl_fail(err, PAWL_ERROR_FILE, "cannot write '%s': its size is unknown",
                     f->target.name);
  }
  return pawl_file_reserve(&f->target, size + more + slack, err);
}

// A chunk and a node of its index for every column, and what describes a column.
static unsigned long long tile_bytes(const Hdf5* f, const PawlWriter* writer) {
  const unsigned long long node = 1 << 13, description = 1 << 11;
  unsigned long long chunk = (unsigned long long)f->tile_rows * sizeof(double);
  unsigned long long column = 2 * chunk + node + (f->written ? 0 : description);
  return column * (unsigned long long)writer->column_count;
}

static PawlStatus put_tile(Hdf5* f, const PawlWriter* writer, const PawlRecorder* recorder,
                           bool last, PawlError* err) {
  PAWL_TRY(reserve(f, tile_bytes(f, writer), err));
  Quiet quiet;
  bool ok = begin_quiet(&quiet) && write_tile(f, writer, recorder, last);
  return end_quiet(&quiet, f, ok, err);
}

static unsigned long long facts_bytes(const PawlRecorder* recorder) {
  unsigned long long bytes = 0, overhead = 256;
  for (int i = 0; pawl_recorder_fact_name(recorder, i); i++) {
    bytes += overhead + 2 * strlen(pawl_recorder_fact_name(recorder, i)) +
             strlen(pawl_recorder_fact_value(recorder, i));
  }
  return bytes;
}

static unsigned long long events_bytes(const PawlRecorder* recorder) {
  unsigned long long width = 0;
  for (int field = 0; field < 5; field++) {
    width += sizeof(double) * (unsigned long long)longest_numbers(recorder, field);
  }
  for (int field = 0; field < 3; field++) {
    width += 1 + (unsigned long long)longest_text(recorder, field);
  }
  return width * (unsigned long long)pawl_recorder_event_count(recorder);
}

static PawlStatus put_events(Hdf5* f, const PawlRecorder* recorder, PawlError* err) {
  PAWL_TRY(reserve(f, events_bytes(recorder), err));
  Scratch scratch = {scratch_count(recorder), NULL};
  scratch.values = pawl_alloc((size_t)scratch.count, sizeof *scratch.values);
  if (!scratch.values) {
    return pawl_fail_memory(err);
  }
  Quiet quiet;
  bool ok = begin_quiet(&quiet) && write_events(f->file, recorder, scratch) &&
            H5Fflush(f->file, H5F_SCOPE_GLOBAL) >= 0;
  pawl_free(scratch.values);
  return end_quiet(&quiet, f, ok, err);
}

// ---- the format -----------------------------------------------------------------------------
// Closes the library's side. What was built in memory goes to its target; a file loses the room
// that was reserved and not used.
static PawlStatus close_library(Hdf5* f, PawlStatus so_far, PawlError* err) {
  PawlStatus status = so_far;
  Quiet quiet;
  bool ok = begin_quiet(&quiet);
  size_t length = 0;
  hsize_t size = 0;
  if (ok && status == PAWL_OK && !f->target.temporary) {
    const void* bytes = image_bytes(f->file, &length);
    ok = bytes != NULL;
    status = ok ? pawl_file_write(&f->target, bytes, length, err) : PAWL_OK;
  }
  ok = H5Fget_filesize(f->file, &size) >= 0 && ok;
  ok = H5Fclose(f->file) >= 0 && ok;
  ok = (!f->target.temporary || ftruncate(f->target.descriptor, (off_t)size) == 0) && ok;
  PawlStatus closed = end_quiet(&quiet, f, ok, status == PAWL_OK ? err : NULL);
  return status ? status : closed;
}

static void destroy(Hdf5* f) {
  pawl_arena_free(&f->arena);
  pawl_free(f->tile);
  pawl_free(f->links);
  pawl_free(f);
}

static PawlStatus finish_file(Hdf5* f, const PawlWriter* writer, PawlStatus so_far,
                              PawlError* err) {
  PawlStatus status = f->file >= 0 ? close_library(f, so_far, err) : so_far;
  if (status != PAWL_OK && writer->keep_part) {
    pawl_file_leave(&f->target);
  } else {
    status = pawl_file_close(&f->target, status, err);
  }
  destroy(f);
  return status;
}

static PawlStatus allocate(Hdf5* f, const PawlWriter* writer, PawlError* err) {
  int columns = writer->column_count > 0 ? writer->column_count : 1;
  f->tile_rows = TILE_VALUES / columns;
  f->tile_rows = f->tile_rows > TILE_ROWS ? TILE_ROWS : f->tile_rows;
  f->tile_rows = f->tile_rows < FEWEST_TILE_ROWS ? FEWEST_TILE_ROWS : f->tile_rows;
  f->links = pawl_alloc((size_t)columns, sizeof *f->links);
  f->tile_values = (size_t)columns * (size_t)f->tile_rows;
  f->tile = pawl_alloc(f->tile_values, sizeof(double));
  return f->links && f->tile ? PAWL_OK : pawl_fail_memory(err);
}

static PawlStatus open_hdf5(PawlWriter* writer, const PawlRecorder* recorder, PawlError* err) {
  Hdf5* f = pawl_alloc(1, sizeof *f);
  if (!f) {
    return pawl_fail_memory(err);
  }
  f->file = -1;
  f->recorder = recorder;
  PawlStatus status = allocate(f, writer, err);
  status = status ? status : pawl_file_open_part(&f->target, writer->path, err);
  if (status != PAWL_OK) {
    destroy(f);
    return status;
  }
  status = reserve(f, facts_bytes(recorder), err);
  if (status == PAWL_OK) {
    Quiet quiet;
    bool ok = begin_quiet(&quiet) && begin_file(f, recorder);
    status = end_quiet(&quiet, f, ok, err);
  }
  if (status != PAWL_OK) {
    PawlWriter nothing_to_keep = {.keep_part = false};
    return finish_file(f, &nothing_to_keep, status, err);
  }
  writer->data = f;
  return PAWL_OK;
}

static PawlStatus flush_hdf5(PawlWriter* writer, PawlError* err) {
  Hdf5* f = writer->data;
  return f->used > 0 ? put_tile(f, writer, f->recorder, false, err) : PAWL_OK;
}

static PawlStatus add_hdf5(PawlWriter* writer, const double* sample, PawlError* err) {
  Hdf5* f = writer->data;
  if (f->used == f->tile_rows) {
    PAWL_TRY(flush_hdf5(writer, err));
  }
  double* to = f->tile + f->used++;
  for (int j = 0; j < writer->column_count; j++, to += f->tile_rows) {
    *to = sample[writer->columns[j]];
  }
  return PAWL_OK;
}

static PawlStatus close_hdf5(PawlWriter* writer, const PawlRecorder* recorder, PawlStatus so_far,
                             PawlError* err) {
  Hdf5* f = writer->data;
  PawlStatus status = so_far;
  if (status == PAWL_OK && (f->used > 0 || f->written == 0)) {
    status = put_tile(f, writer, recorder, true, err);
  }
  status = status ? status : put_events(f, recorder, err);
  return finish_file(f, writer, status, err);
}

const PawlWriterFormat pawl_hdf5_format = {open_hdf5, add_hdf5, flush_hdf5, close_hdf5, NULL};

// ---- reading back -----------------------------------------------------------------------------
static bool read_column(hid_t group, int column, hsize_t first, hsize_t count, double* values) {
  hid_t dataset =
      H5Oopen_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, (hsize_t)column, H5P_DEFAULT);
  hid_t whole = dataset >= 0 ? H5Dget_space(dataset) : -1;
  hid_t part = H5Screate_simple(1, &count, NULL);
  bool ok = whole >= 0 && part >= 0 &&
            H5Sget_simple_extent_npoints(whole) >= (hssize_t)(first + count) &&
            H5Sselect_hyperslab(whole, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0 &&
            H5Dread(dataset, H5T_NATIVE_DOUBLE, part, whole, H5P_DEFAULT, values) >= 0;
  close_space(part);
  close_space(whole);
  return dataset >= 0 && H5Oclose(dataset) >= 0 && ok;
}

static bool read_columns(hid_t file, uint64_t first, int count, int column_count, double* values) {
  hid_t group = file >= 0 ? H5Gopen2(file, "samples", H5P_DEFAULT) : -1;
  bool ok = group >= 0;
  for (int j = 0; ok && j < column_count; j++) {
    ok = read_column(group, j, first, (hsize_t)count, values + (size_t)j * (size_t)count);
  }
  return group >= 0 && H5Gclose(group) >= 0 && ok;
}

bool pawl_hdf5_read(const char* path, uint64_t first, int count, int column_count, double* values) {
  Quiet quiet;
  if (!begin_quiet(&quiet)) {
    return false;
  }
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  bool ok = read_columns(file, first, count, column_count, values);
  ok = file >= 0 && H5Fclose(file) >= 0 && ok;
  H5Eset_auto2(H5E_DEFAULT, quiet.handler, quiet.data);
  return ok;
}

bool pawl_has_hdf5(void) {
  return true;
}

void pawl_hdf5_stay_open(void) {
  (void)H5dont_atexit();  // too late where others have opened it
}

#endif

PawlStatus pawl_write_hdf5(const PawlRecorder* recorder, const char* path, PawlError* err) {
  return pawl_write_whole(&pawl_hdf5_format, recorder, path, err);
}
