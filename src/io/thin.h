// SPDX-License-Identifier: Apache-2.0
// Keeping of a long run what a picture needs, in memory that does not grow with it.
//
// PawlThin: rows put together in groups of neighbours; of each column the least and the greatest
// value of a group stay, in their order, so that no spike is lost. The first and the last row stay
// as they are, so that curves begin and end with the states of the run. Two rows at one time, the
// sides of a jump, are never in one group, unless there are too many of them. PawlFrames: rows as
// they were, every 2^n-th of them, and both sides of jumps.
#pragma once

#include <stdbool.h>

#include "base/error.h"

typedef struct PawlThin PawlThin;

// `width` columns, the first of them the time; at most `most` >= 4 groups are kept.
PAWL_CHECKED PawlStatus pawl_thin_create(int width, int most, PawlThin** out, PawlError* err);
void pawl_thin_destroy(PawlThin* thin);  // NULL is allowed
void pawl_thin_add(PawlThin* thin, const double* row);
int pawl_thin_rows(const PawlThin* thin);  // one or two a group, and the last: 2 `most` at most
// Copies a column, pawl_thin_rows numbers.
void pawl_thin_column(const PawlThin* thin, int column, double* out);

typedef struct PawlFrames PawlFrames;

// Rows of `width` numbers; at most `most` >= 4 are kept.
PAWL_CHECKED PawlStatus pawl_frames_create(int width, int most, PawlFrames** out, PawlError* err);
void pawl_frames_destroy(PawlFrames* frames);  // NULL is allowed
// True when the next row is to be kept; it is counted in any case. `side`: it is a side of a jump.
// The row is then to be written where pawl_frames_room says.
bool pawl_frames_wants(PawlFrames* frames, bool side);
double* pawl_frames_room(PawlFrames* frames, bool side);
int pawl_frames_count(const PawlFrames* frames);
const double* pawl_frames_row(const PawlFrames* frames, int frame);
