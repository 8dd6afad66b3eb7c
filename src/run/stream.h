// SPDX-License-Identifier: Apache-2.0
// Passing samples on as they are recorded, with both sides of every jump: two samples at its time,
// the one before and the one after it. Where a recorded sample has the time of a jump, it is one of
// the two. Of several jumps at one time the first and the last side are passed on.
#pragma once

#include "base/bytes.h"
#include "pawl/run.h"
#include "run/observe.h"

typedef struct PawlStream PawlStream;  // borrows all that it is given

PAWL_CHECKED PawlStatus pawl_stream_create(const PawlSystem* system, PawlObserver* observer,
                                           PawlRecorder* recorder, const PawlSimDef* def,
                                           PawlStream** out, PawlError* err);
void pawl_stream_destroy(PawlStream* stream);  // NULL is allowed

PAWL_CHECKED PawlStatus pawl_stream_sample(PawlStream* stream, const double* sample,
                                           PawlError* err);
// Both sides of an instant. `state` is the state at the end of its step. What an instant does not
// know (stepper.h) is NaN: accelerations, multipliers, and outputs in which these occur.
// *velocity, the largest |G v + g_t| so far, grows to that of both sides.
PAWL_CHECKED PawlStatus pawl_stream_instant(PawlStream* stream, const PawlState* state,
                                            const PawlInstant* instant, double* velocity,
                                            PawlError* err);
// Passes on what waited for a sample of the same time, for a run that ends without one.
PAWL_CHECKED PawlStatus pawl_stream_end(PawlStream* stream, PawlError* err);

// What waits, for a run that is saved and goes on later.
void pawl_stream_save(const PawlStream* stream, PawlBytes* bytes);
void pawl_stream_load(PawlStream* stream, PawlReader* reader);
