// SPDX-License-Identifier: Apache-2.0
// HDF5 files, and the one place that includes hdf5.h. Layout, all strings UTF-8 of fixed length:
//   /                  each fact as an attribute
//   /samples/<column>  double[samples]; attributes name, unit, kind; columns in creation order
//   /events/t energy_lost                  double[events]
//   /events/constraint from to             string[events]
//   /events/impulse v_before v_after       double[events][longest], NaN where an event has fewer
// The file is built in memory and written by io/file: a failing disk leaves the HDF5 library with a
// file that it can neither write nor close and that makes it crash when the program ends.
// The HDF5 library prints errors by default; its handler is replaced for the time of a call, and
// the most specific line of what it would have printed becomes our message.
#include "io/file.h"
#include "pawl/report.h"

#ifndef PAWL_WITH_HDF5

bool pawl_has_hdf5(void) {
  return false;
}

PawlStatus pawl_write_hdf5(const PawlRecorder* recorder, const char* path, PawlError* err) {
  (void)recorder;
  return pawl_fail(err, PAWL_ERROR_USAGE,
                   "cannot write '%s': this pawl was built without HDF5; write a .csv file", path);
}

#else

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

// Samples are turned from rows to columns in tiles of this size, so that each row is read once for
// every TILE_COLUMNS columns and the tile (4 MB) stays small.
enum { TILE_COLUMNS = 32, TILE_ROWS = 16384 };
enum { NAME_BYTES = 512 };  // longest link name; a longer one is cut, its attribute is whole

typedef struct Scratch {  // room for one tile, and for the widest row of any field of the events
  int count;
  double* values;
} Scratch;

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

static bool put_facts(hid_t file, const PawlRecorder* recorder) {
  bool ok = true;
  for (int i = 0; ok && pawl_recorder_fact_name(recorder, i); i++) {
    const char* name = pawl_recorder_fact_name(recorder, i);
    ok = name[0] == '\0' || put_attribute(file, name, pawl_recorder_fact_value(recorder, i));
  }
  return ok;
}

static const char* kind_name(PawlColumnKind kind) {
  switch (kind) {
    case PAWL_COLUMN_TIME:
      return "time";
    case PAWL_COLUMN_COORDINATE:
      return "coordinate";
    case PAWL_COLUMN_RATE:
      return "rate";
    case PAWL_COLUMN_ACCELERATION:
      return "acceleration";
    case PAWL_COLUMN_MULTIPLIER:
      return "multiplier";
    case PAWL_COLUMN_ENERGY:
      return "energy";
    case PAWL_COLUMN_RESIDUAL:
      return "residual";
    case PAWL_COLUMN_OUTPUT:
      return "output";
  }
  return "";
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

static hid_t create_dataset(hid_t group, const char* link, hid_t type, int rank,
                            const hsize_t size[]) {
  hid_t space = H5Screate_simple(rank, size, NULL);
  hid_t list = H5Pcreate(H5P_LINK_CREATE);
  hid_t dataset = -1;
  if (space >= 0 && list >= 0 && H5Pset_char_encoding(list, H5T_CSET_UTF8) >= 0) {
    dataset = H5Dcreate2(group, link, type, space, list, H5P_DEFAULT, H5P_DEFAULT);
  }
  close_list(list);
  close_space(space);
  return dataset;
}

static hid_t create_column(hid_t group, const PawlRecorder* recorder, int column) {
  const PawlColumn* info = pawl_recorder_column(recorder, column);
  hsize_t size = (hsize_t)pawl_recorder_sample_count(recorder);
  char link[NAME_BYTES];
  if (!link_name(group, info->name, link)) {
    return -1;
  }
  hid_t dataset = create_dataset(group, link, H5T_IEEE_F64LE, 1, &size);
  if (dataset >= 0 &&
      !(put_attribute(dataset, "name", info->name) && put_attribute(dataset, "unit", info->unit) &&
        put_attribute(dataset, "kind", kind_name(info->kind)))) {
    H5Dclose(dataset);
    return -1;
  }
  return dataset;
}

// Rows `first` .. `first + count` of the leading dimension; `width` values a row for rank 2.
static bool write_rows(hid_t dataset, hid_t type, int rank, int first, int count, int width,
                       const void* values) {
  hsize_t start[2] = {(hsize_t)first, 0};
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

// Writes the samples first .. first + count of the columns starting at `column`.
static bool write_tile(const PawlRecorder* recorder, const hid_t datasets[], int column,
                       int columns, int first, int count, double* tile) {
  for (int i = 0; i < count; i++) {
    const double* sample = pawl_recorder_sample(recorder, first + i) + column;
    for (int j = 0; j < columns; j++) {
      tile[j * TILE_ROWS + i] = sample[j];
    }
  }
  bool ok = true;
  for (int j = 0; ok && j < columns; j++) {
    ok = write_rows(datasets[j], H5T_NATIVE_DOUBLE, 1, first, count, 1, tile + j * TILE_ROWS);
  }
  return ok;
}

// Up to TILE_COLUMNS columns, from `column` on.
static bool write_columns(hid_t group, const PawlRecorder* recorder, int column, int columns,
                          double* tile) {
  hid_t datasets[TILE_COLUMNS];
  int samples = pawl_recorder_sample_count(recorder);
  int opened = 0;
  bool ok = true;
  while (ok && opened < columns) {
    datasets[opened] = create_column(group, recorder, column + opened);
    ok = datasets[opened] >= 0;
    opened += ok;
  }
  for (int first = 0; ok && first < samples; first += TILE_ROWS) {
    int count = samples - first < TILE_ROWS ? samples - first : TILE_ROWS;
    ok = write_tile(recorder, datasets, column, columns, first, count, tile);
  }
  for (int i = 0; i < opened; i++) {
    ok = close_dataset(datasets[i]) && ok;
  }
  return ok;
}

static hid_t create_group(hid_t file, const char* name) {
  hid_t list = H5Pcreate(H5P_GROUP_CREATE);
  hid_t group = -1;
  if (list >= 0 &&
      H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0) {
    group = H5Gcreate2(file, name, H5P_DEFAULT, list, H5P_DEFAULT);
  }
  close_list(list);
  return group;
}

static bool write_samples(hid_t file, const PawlRecorder* recorder, double* tile) {
  hid_t group = create_group(file, "samples");
  int columns = pawl_recorder_column_count(recorder);
  bool ok = group >= 0;
  for (int column = 0; ok && column < columns; column += TILE_COLUMNS) {
    int count = columns - column < TILE_COLUMNS ? columns - column : TILE_COLUMNS;
    ok = write_columns(group, recorder, column, count, tile);
  }
  return group >= 0 && H5Gclose(group) >= 0 && ok;
}

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
  hid_t dataset = type < 0 ? -1 : create_dataset(group, text_fields[field], type, 1, &size);
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
    ok = write_rows(dataset, type, 1, first, count, 1, padded);
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
    ok = write_rows(dataset, H5T_NATIVE_DOUBLE, rank, first, count, width, scratch.values);
  }
  return ok;
}

static bool write_number_field(hid_t group, const PawlRecorder* recorder, int field,
                               Scratch scratch) {
  int rank = field < 2 ? 1 : 2;
  int width = longest_numbers(recorder, field);
  hsize_t size[2] = {(hsize_t)pawl_recorder_event_count(recorder), (hsize_t)width};
  hid_t dataset = create_dataset(group, number_fields[field], H5T_IEEE_F64LE, rank, size);
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

// A file in memory only, in the format of HDF5 1.8: the one before has no attributes over 64 kB.
// The name is never opened; it only tells files in memory apart.
static hid_t create_image(const char* name) {
  const size_t growth = 1 << 20;
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  hid_t file = -1;
  if (access >= 0 && H5Pset_fapl_core(access, growth, false) >= 0 &&
      H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0) {
    file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  }
  close_list(access);
  return file;
}

static bool fill_image(hid_t file, const PawlRecorder* recorder, Scratch scratch) {
  return put_facts(file, recorder) && write_samples(file, recorder, scratch.values) &&
         write_events(file, recorder, scratch) && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
}

// The bytes of the file, which stay the library's. NULL on failure.
static const void* image_bytes(hid_t file, size_t* length) {
  ssize_t size = H5Fget_file_image(file, NULL, 0);
  void** bytes = NULL;
  if (size <= 0 || H5Fget_vfd_handle(file, H5P_DEFAULT, (void**)&bytes) < 0) {
    return NULL;
  }
  *length = (size_t)size;
  return *bytes;
}

// Builds the image and writes it. `*library_failed` tells the two kinds of failure apart: `err` is
// filled only when writing failed.
static PawlStatus write_image(const PawlRecorder* recorder, PawlFile* target, Scratch scratch,
                              bool* library_failed, PawlError* err) {
  hid_t file = create_image(target->name);
  if (file < 0) {
    *library_failed = true;
    return PAWL_ERROR_FILE;
  }
  size_t length = 0;
  const void* bytes = fill_image(file, recorder, scratch) ? image_bytes(file, &length) : NULL;
  *library_failed = !bytes;
  PawlStatus status = bytes ? pawl_file_write(target, bytes, length, err) : PAWL_ERROR_FILE;
  H5Fclose(file);
  return status;
}

static int scratch_count(const PawlRecorder* recorder) {
  int count = TILE_COLUMNS * TILE_ROWS;
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

// Writes with our error handler in place of the present one.
static PawlStatus write_quietly(const PawlRecorder* recorder, PawlFile* target, Scratch scratch,
                                PawlError* err) {
  H5E_auto2_t handler = NULL;
  void* handler_data = NULL;
  Reason reason = {"the HDF5 library failed", false};
  bool library_failed = true;
  PawlStatus status = PAWL_ERROR_FILE;
  if (H5open() >= 0 && H5Eget_auto2(H5E_DEFAULT, &handler, &handler_data) >= 0 &&
      H5Eset_auto2(H5E_DEFAULT, on_failure, &reason) >= 0) {
    status = write_image(recorder, target, scratch, &library_failed, err);
    H5Eset_auto2(H5E_DEFAULT, handler, handler_data);
  }
  if (library_failed) {
    return pawl_fail(err, status, "cannot write '%s': %s", target->name, reason.text);
  }
  return status;
}

bool pawl_has_hdf5(void) {
  return true;
}

PawlStatus pawl_write_hdf5(const PawlRecorder* recorder, const char* path, PawlError* err) {
  PawlFile file;
  PAWL_TRY(pawl_file_open(&file, path, err));
  Scratch scratch = {scratch_count(recorder), NULL};
  scratch.values = pawl_alloc((size_t)scratch.count, sizeof *scratch.values);
  PawlStatus status =
      scratch.values ? write_quietly(recorder, &file, scratch, err) : pawl_fail_memory(err);
  pawl_free(scratch.values);
  return pawl_file_close(&file, status, err);
}

#endif
