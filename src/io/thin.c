// SPDX-License-Identifier: Apache-2.0
#include "io/thin.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

// ---- groups with their extremes -------------------------------------------------------------
struct PawlThin {
  int width, most, count;
  int size;         // rows that a group may have
  bool mixes;       // sides of jumps are too many to be kept apart
  int* rows;        // of each group
  double* extreme;  // of each group: `width` first ones, `width` second ones
  bool any;
  double* last;  // the row that came last, in no group yet; the first has one to itself
};

PawlStatus pawl_thin_create(int width, int most, PawlThin** out, PawlError* err) {
  *out = NULL;
  PawlThin* thin = pawl_alloc(1, sizeof *thin);
  if (!thin) {
    return pawl_fail_memory(err);
  }
  *thin = (PawlThin){.width = width, .most = most, .size = 1};
  thin->rows = pawl_alloc((size_t)most, sizeof(int));
  thin->extreme = pawl_alloc((size_t)most, 2 * (size_t)width * sizeof(double));
  thin->last = pawl_alloc((size_t)width, sizeof(double));
  if (!thin->rows || !thin->extreme || !thin->last) {
    pawl_thin_destroy(thin);
    return pawl_fail_memory(err);
  }
  *out = thin;
  return PAWL_OK;
}

void pawl_thin_destroy(PawlThin* thin) {
  if (thin) {
    pawl_free(thin->rows);
    pawl_free(thin->extreme);
    pawl_free(thin->last);
    pawl_free(thin);
  }
}

static double* group_of(const PawlThin* thin, int group) {
  return thin->extreme + 2 * (size_t)thin->width * (size_t)group;
}

// One more value into the extremes, which stay in the order in which they came.
static void fold(double* first, double* second, double value) {
  if (isnan(value)) {
    return;
  }
  double least = fmin(*first, *second), greatest = fmax(*first, *second);
  if (isnan(least)) {
    *first = *second = value;
  } else if (value < least || value > greatest) {
    *first = value < least ? greatest : least;
    *second = value;
  }
}

static void fold_row(const PawlThin* thin, int group, const double* row) {
  double *first = group_of(thin, group), *second = first + thin->width;
  for (int j = 0; j < thin->width; j++) {
    fold(&first[j], &second[j], row[j]);
  }
}

// True when a group that begins with a row of time t may be put to group `a`.
static bool may_join(const PawlThin* thin, int a, double t) {
  const double* last = group_of(thin, a) + thin->width;
  return a > 0 && (thin->mixes || t > last[0]);
}

// Joins neighbours, two at a time.
static void join_neighbours(PawlThin* thin) {
  size_t row = (size_t)thin->width, bytes = 2 * row * sizeof(double);
  int kept = 0;
  for (int k = 0; k < thin->count; kept++) {
    memmove(group_of(thin, kept), group_of(thin, k), bytes);
    thin->rows[kept] = thin->rows[k];
    k++;
    if (k < thin->count && may_join(thin, kept, group_of(thin, k)[0])) {
      fold_row(thin, kept, group_of(thin, k));
      fold_row(thin, kept, group_of(thin, k) + row);
      thin->rows[kept] += thin->rows[k];
      k++;
    }
  }
  thin->count = kept;
}

static void make_room(PawlThin* thin) {
  thin->size *= 2;
  join_neighbours(thin);
  if (thin->count > thin->most / 4 * 3) {
    thin->mixes = true;
    join_neighbours(thin);
  }
}

static void add_to_groups(PawlThin* thin, const double* row) {
  int last = thin->count - 1;
  if (last >= 0 && thin->rows[last] < thin->size && may_join(thin, last, row[0])) {
    fold_row(thin, last, row);
    thin->rows[last]++;
    return;
  }
  if (thin->count == thin->most) {
    make_room(thin);
  }
  double* group = group_of(thin, thin->count);
  memcpy(group, row, (size_t)thin->width * sizeof(double));
  memcpy(group + thin->width, row, (size_t)thin->width * sizeof(double));
  thin->rows[thin->count++] = 1;
}

void pawl_thin_add(PawlThin* thin, const double* row) {
  if (thin->any) {
    add_to_groups(thin, thin->last);
  }
  memcpy(thin->last, row, (size_t)thin->width * sizeof(double));
  thin->any = true;
}

int pawl_thin_rows(const PawlThin* thin) {
  int rows = thin->any ? 1 : 0;
  for (int k = 0; k < thin->count; k++) {
    rows += thin->rows[k] > 1 ? 2 : 1;
  }
  return rows;
}

void pawl_thin_column(const PawlThin* thin, int column, double* out) {
  for (int k = 0; k < thin->count; k++) {
    *out++ = group_of(thin, k)[column];
    if (thin->rows[k] > 1) {
      *out++ = group_of(thin, k)[thin->width + column];
    }
  }
  if (thin->any) {
    *out = thin->last[column];
  }
}

// ---- rows as they were ----------------------------------------------------------------------
struct PawlFrames {
  int width, most, count;
  bool mixes;              // sides of jumps are too many to be kept
  long long seen, stride;  // rows so far; of those that are no sides every stride-th is kept
  long long* index;        // of each frame kept; -1: a side
  double* rows;
};

PawlStatus pawl_frames_create(int width, int most, PawlFrames** out, PawlError* err) {
  *out = NULL;
  PawlFrames* frames = pawl_alloc(1, sizeof *frames);
  if (!frames) {
    return pawl_fail_memory(err);
  }
  *frames = (PawlFrames){.width = width, .most = most, .stride = 1};
  frames->index = pawl_alloc((size_t)most, sizeof *frames->index);
  frames->rows = pawl_alloc((size_t)most, (size_t)width * sizeof(double));
  if (!frames->index || !frames->rows) {
    pawl_frames_destroy(frames);
    return pawl_fail_memory(err);
  }
  *out = frames;
  return PAWL_OK;
}

void pawl_frames_destroy(PawlFrames* frames) {
  if (frames) {
    pawl_free(frames->index);
    pawl_free(frames->rows);
    pawl_free(frames);
  }
}

static double* frame_at(const PawlFrames* f, int frame) {
  return f->rows + (size_t)f->width * (size_t)frame;
}

static void drop_every_other(PawlFrames* f) {
  int kept = 0;
  f->stride *= 2;
  for (int k = 0; k < f->count; k++) {
    bool keep = f->index[k] < 0 ? !f->mixes || k % 2 == 0 : f->index[k] % f->stride == 0;
    if (keep) {
      memmove(frame_at(f, kept), frame_at(f, k), (size_t)f->width * sizeof(double));
      f->index[kept++] = f->index[k];
    }
  }
  f->count = kept;
}

bool pawl_frames_wants(PawlFrames* f, bool side) {
  return f->seen++ % f->stride == 0 || (side && !f->mixes);
}

double* pawl_frames_room(PawlFrames* f, bool side) {
  if (f->count == f->most) {
    drop_every_other(f);
    f->mixes |= f->count > f->most / 4 * 3;
    while (f->count == f->most) {
      drop_every_other(f);
    }
  }
  f->index[f->count] = side && !f->mixes ? -1 : f->seen - 1;
  return frame_at(f, f->count++);
}

int pawl_frames_count(const PawlFrames* f) {
  return f->count;
}

const double* pawl_frames_row(const PawlFrames* f, int frame) {
  return frame_at(f, frame);
}
