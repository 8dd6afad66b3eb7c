// SPDX-License-Identifier: Apache-2.0
// HDF5 files back, in the layout that hdf5.c describes: columns with their names, units and kinds,
// tile by tile; the log of switches; the facts.
#include "io/read.h"

#ifndef PAWL_WITH_HDF5

PawlStatus pawl_hdf5_load(PawlReadSink* sink, PawlError* err) {
  return pawl_fail(err, PAWL_ERROR_USAGE, "cannot read '%s': this pawl was built without HDF5",
                   sink->path);
}

#else

#include <hdf5.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "io/writer.h"

enum { TILE_ROWS = 1024, TEXT_BYTES = 512 };

typedef struct Input {
  PawlReadSink* sink;
  hid_t file;
  int column_count;
  hsize_t rows;
  hid_t* datasets;
  char (*texts)[2][TEXT_BYTES];  // name and unit of each column
  double *tile, *sample;
} Input;

static PawlStatus broken(const Input* in, PawlError* err) {
  return pawl_fail(err, PAWL_ERROR_FILE, "cannot read '%s': it is not a trajectory of pawl",
                   in->sink->path);
}

// ---- attributes ---------------------------------------------------------------------------------
// A text of fixed length; false when there is none that fits.
static bool read_text(hid_t attribute, char text[TEXT_BYTES]) {
  hid_t type = H5Aget_type(attribute);
  bool ok = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
            H5Tget_size(type) < TEXT_BYTES;
  memset(text, 0, TEXT_BYTES);
  ok = ok && H5Aread(attribute, type, text) >= 0;
  if (type >= 0) {
    H5Tclose(type);
  }
  return ok;
}

static bool text_of(hid_t object, const char* name, char text[TEXT_BYTES]) {
  text[0] = '\0';
  if (H5Aexists(object, name) <= 0) {
    return false;
  }
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  bool ok = attribute >= 0 && read_text(attribute, text);
  if (attribute >= 0) {
    H5Aclose(attribute);
  }
  return ok;
}

typedef struct Facts {
  PawlRecorder* recorder;
  const char* group;  // "" of the root
  PawlError* err;
  PawlStatus status;
} Facts;

static PawlStatus add_fact(Facts* facts, hid_t attribute, const char* name) {
  char full[TEXT_BYTES], text[TEXT_BYTES];
  double number;
  hid_t type = H5Aget_type(attribute);
  bool is_number = type >= 0 && H5Tget_class(type) == H5T_FLOAT &&
                   H5Aread(attribute, H5T_NATIVE_DOUBLE, &number) >= 0;
  if (type >= 0) {
    H5Tclose(type);
  }
  snprintf(full, sizeof full, "%s%s%.400s", facts->group, facts->group[0] ? "/" : "", name);
  if (is_number) {
    return pawl_recorder_add_number(facts->recorder, full, number, facts->err);
  }
  return read_text(attribute, text)
             ? pawl_recorder_add_fact(facts->recorder, full, text, facts->err)
             : PAWL_OK;
}

static herr_t on_fact(hid_t object, const char* name, const H5A_info_t* info, void* context) {
  (void)info;
  Facts* facts = context;
  hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  if (attribute >= 0) {
    facts->status = add_fact(facts, attribute, name);
    H5Aclose(attribute);
  }
  return facts->status != PAWL_OK;
}

static PawlStatus read_facts(const Input* in, PawlError* err) {
  static const char* const groups[] = {"", "options", "parameters"};
  for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
    Facts facts = {in->sink->recorder, groups[k], err, PAWL_OK};
    if (k > 0 && H5Lexists(in->file, groups[k], H5P_DEFAULT) <= 0) {
      continue;
    }
    H5Aiterate_by_name(in->file, k > 0 ? groups[k] : "/", H5_INDEX_NAME, H5_ITER_INC, NULL, on_fact,
                       &facts, H5P_DEFAULT);
    PAWL_TRY(facts.status);
  }
  return PAWL_OK;
}

// ---- columns ------------------------------------------------------------------------------------
static PawlColumnKind kind_of(const char* name) {
  for (int kind = 0; pawl_kind_name((PawlColumnKind)kind)[0]; kind++) {
    if (strcmp(name, pawl_kind_name((PawlColumnKind)kind)) == 0) {
      return (PawlColumnKind)kind;
    }
  }
  return PAWL_COLUMN_OUTPUT;
}

static hssize_t length_of(hid_t dataset) {
  hid_t space = H5Dget_space(dataset);
  hssize_t length = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
  if (space >= 0) {
    H5Sclose(space);
  }
  return length;
}

static bool open_column(Input* in, hid_t group, int j, PawlColumn* column) {
  char kind[TEXT_BYTES];
  in->datasets[j] =
      H5Oopen_by_idx(group, ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, (hsize_t)j, H5P_DEFAULT);
  hid_t dataset = in->datasets[j];
  if (dataset < 0 || H5Iget_type(dataset) != H5I_DATASET ||
      !text_of(dataset, "name", in->texts[j][0]) || !text_of(dataset, "kind", kind)) {
    return false;
  }
  (void)text_of(dataset, "unit", in->texts[j][1]);
  *column = (PawlColumn){in->texts[j][0], in->texts[j][1], kind_of(kind)};
  hssize_t rows = length_of(dataset);
  in->rows = j == 0 || rows < (hssize_t)in->rows ? (hsize_t)(rows > 0 ? rows : 0) : in->rows;
  return rows >= 0;
}

static bool allocate(Input* in) {
  size_t count = (size_t)in->column_count;
  in->datasets = pawl_alloc(count + 1, sizeof *in->datasets);
  in->texts = pawl_alloc(count + 1, sizeof *in->texts);
  in->tile = pawl_alloc((count + 1) * TILE_ROWS, sizeof(double));
  in->sample = pawl_alloc(count + 1, sizeof(double));
  for (int j = 0; in->datasets && j < in->column_count; j++) {
    in->datasets[j] = -1;
  }
  return in->datasets && in->texts && in->tile && in->sample;
}

static PawlStatus open_columns(Input* in, hid_t group, PawlError* err) {
  H5G_info_t info;
  if (H5Gget_info(group, &info) < 0 || info.nlinks < 1 || info.nlinks > 1000000) {
    return broken(in, err);
  }
  in->column_count = (int)info.nlinks;
  PawlColumn* columns = pawl_alloc((size_t)in->column_count, sizeof *columns);
  PawlStatus status = allocate(in) && columns ? PAWL_OK : pawl_fail_memory(err);
  for (int j = 0; status == PAWL_OK && j < in->column_count; j++) {
    status = open_column(in, group, j, &columns[j]) ? PAWL_OK : broken(in, err);
  }
  status = status ? status : pawl_read_begin(in->sink, in->column_count, columns, err);
  pawl_free(columns);
  return status;
}

// ---- samples ------------------------------------------------------------------------------------
static bool read_part(hid_t dataset, hsize_t first, hsize_t count, double* values) {
  hid_t whole = H5Dget_space(dataset);
  hid_t part = H5Screate_simple(1, &count, NULL);
  bool ok = whole >= 0 && part >= 0 &&
            H5Sselect_hyperslab(whole, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0 &&
            H5Dread(dataset, H5T_NATIVE_DOUBLE, part, whole, H5P_DEFAULT, values) >= 0;
  if (part >= 0) {
    H5Sclose(part);
  }
  if (whole >= 0) {
    H5Sclose(whole);
  }
  return ok;
}

static PawlStatus read_tile(Input* in, hsize_t first, hsize_t count, PawlError* err) {
  for (int j = 0; j < in->column_count; j++) {
    if (!read_part(in->datasets[j], first, count, in->tile + (size_t)j * TILE_ROWS)) {
      return broken(in, err);
    }
  }
  for (hsize_t i = 0; i < count; i++) {
    for (int j = 0; j < in->column_count; j++) {
      in->sample[j] = in->tile[(size_t)j * TILE_ROWS + i];
    }
    PAWL_TRY(pawl_read_sample(in->sink, in->sample, err));
  }
  return PAWL_OK;
}

static PawlStatus read_samples(Input* in, PawlError* err) {
  for (hsize_t first = 0; first < in->rows && !in->sink->done; first += TILE_ROWS) {
    hsize_t count = in->rows - first < TILE_ROWS ? in->rows - first : TILE_ROWS;
    PAWL_TRY(read_tile(in, first, count, err));
  }
  return PAWL_OK;
}

// ---- events -------------------------------------------------------------------------------------
typedef struct Log {
  hssize_t count;
  double *t, *lost;
  char* texts[3];  // constraint, from, to, all of one length each
  size_t size[3];
  bool no_memory;
} Log;

static double* read_numbers(hid_t file, const char* path, Log* log) {
  hssize_t count = log->count;
  double* values = pawl_alloc((size_t)count + 1, sizeof *values);
  log->no_memory = log->no_memory || !values;
  hid_t dataset = values ? H5Dopen2(file, path, H5P_DEFAULT) : -1;
  bool ok = dataset >= 0 && length_of(dataset) == count &&
            H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
  if (dataset >= 0) {
    H5Dclose(dataset);
  }
  if (!ok) {
    pawl_free(values);
  }
  return ok ? values : NULL;
}

static char* read_texts(hid_t file, const char* path, Log* log, size_t* size) {
  hssize_t count = log->count;
  hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
  hid_t type = dataset >= 0 ? H5Dget_type(dataset) : -1;
  bool ok = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
            length_of(dataset) == count;
  *size = ok ? H5Tget_size(type) : 0;
  char* texts = ok ? pawl_alloc((size_t)count * *size + 1, 1) : NULL;
  log->no_memory = log->no_memory || (ok && !texts);
  ok = texts && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0;
  if (type >= 0) {
    H5Tclose(type);
  }
  if (dataset >= 0) {
    H5Dclose(dataset);
  }
  if (!ok) {
    pawl_free(texts);
  }
  return ok ? texts : NULL;
}

static PawlStatus add_events(const Input* in, const Log* log, PawlError* err) {
  for (hssize_t i = 0; i < log->count; i++) {
    char texts[3][TEXT_BYTES];
    for (int k = 0; k < 3; k++) {
      size_t size = log->size[k] < TEXT_BYTES - 1 ? log->size[k] : TEXT_BYTES - 1;
      memcpy(texts[k], log->texts[k] + (size_t)i * log->size[k], size);
      texts[k][size] = '\0';
    }
    PawlEvent event = {.t = log->t[i],
                       .constraint = texts[0],
                       .from = texts[1],
                       .to = texts[2],
                       .energy_lost = log->lost[i]};
    PAWL_TRY(pawl_recorder_add_event(in->sink->recorder, &event, err));
  }
  return PAWL_OK;
}

// A run that was killed has no log.
static PawlStatus read_events(const Input* in, PawlError* err) {
  static const char* const names[] = {"events/constraint", "events/from", "events/to"};
  if (H5Lexists(in->file, "events", H5P_DEFAULT) <= 0) {
    return PAWL_OK;
  }
  hid_t times = H5Dopen2(in->file, "events/t", H5P_DEFAULT);
  Log log = {.count = times >= 0 ? length_of(times) : 0};
  if (times >= 0) {
    H5Dclose(times);
  }
  if (log.count <= 0) {
    return PAWL_OK;
  }
  log.t = read_numbers(in->file, "events/t", &log);
  log.lost = read_numbers(in->file, "events/energy_lost", &log);
  bool ok = log.t && log.lost;
  for (int k = 0; k < 3; k++) {
    log.texts[k] = read_texts(in->file, names[k], &log, &log.size[k]);
    ok = ok && log.texts[k];
  }
  PawlStatus status = ok              ? add_events(in, &log, err)
                      : log.no_memory ? pawl_fail_memory(err)
                                      : broken(in, err);
  for (int k = 0; k < 3; k++) {
    pawl_free(log.texts[k]);
  }
  pawl_free(log.lost);
  pawl_free(log.t);
  return status;
}

// ---- the file -----------------------------------------------------------------------------------
static PawlStatus read_file(Input* in, PawlError* err) {
  in->file = H5Fopen(in->sink->path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (in->file < 0) {
    return pawl_fail(err, PAWL_ERROR_FILE, "cannot read '%s': it is not there or not HDF5",
                     in->sink->path);
  }
  bool there = H5Lexists(in->file, "samples", H5P_DEFAULT) > 0;
  hid_t group = there ? H5Gopen2(in->file, "samples", H5P_DEFAULT) : -1;
  PawlStatus status = group >= 0 ? open_columns(in, group, err) : broken(in, err);
  if (group >= 0) {
    H5Gclose(group);
  }
  status = status ? status : read_samples(in, err);
  status = status ? status : read_facts(in, err);
  return status ? status : read_events(in, err);
}

static void close_input(Input* in) {
  for (int j = 0; in->datasets && j < in->column_count; j++) {
    if (in->datasets[j] >= 0) {
      H5Oclose(in->datasets[j]);
    }
  }
  if (in->file >= 0) {
    H5Fclose(in->file);
  }
  pawl_free(in->datasets);
  pawl_free(in->texts);
  pawl_free(in->tile);
  pawl_free(in->sample);
}

PawlStatus pawl_hdf5_load(PawlReadSink* sink, PawlError* err) {
  H5E_auto2_t handler;
  void* data;
  Input in = {.sink = sink, .file = -1};
  if (H5open() < 0 || H5Eget_auto2(H5E_DEFAULT, &handler, &data) < 0) {
    return pawl_fail(err, PAWL_ERROR_FILE, "the HDF5 library does not start");
  }
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);  // it prints errors by default
  PawlStatus status = read_file(&in, err);
  close_input(&in);
  H5Eset_auto2(H5E_DEFAULT, handler, data);
  return status;
}

#endif
