// SPDX-License-Identifier: Apache-2.0
// Which mode each constraint is in. The discrete variables of a system are the mode of each
// constraint followed by the counts of whole periods (turns); see system/system.h.
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "pawl/system.h"

// The modes at the start: stated by the model, or of the region that holds q; on a surface, of the
// region that the motion enters. `z` and `z_rate` are the switching functions there.
// |z| up to `noise` counts as on the surface. PAWL_ERROR_MODEL when no region or more than one
// holds the start, naming them.
PAWL_CHECKED PawlStatus pawl_modes_start(const PawlSystem* system, const double* z,
                                         const double* z_rate, double noise, int* modes,
                                         PawlError* err);

// The same of the turns alone. True when one of them differs from what `modes` had: switching
// functions may contain turns, and are to be looked at again then.
bool pawl_modes_start_turns(const PawlSystem* system, const double* z, const double* z_rate,
                            double noise, int* modes);
// The modes after a step, from those before: a constraint keeps its mode while its switching
// function is >= -slack, then takes the region that holds it (the present one when none does).
// Returns true when `next` differs from `modes`.
bool pawl_modes_next(const PawlSystem* system, const double* z, double slack, const int* modes,
                     int* next);

// The smallest switching function of the present modes (positive inside), and the constraint.
double pawl_modes_margin(const PawlSystem* system, const double* z, const int* modes,
                         int* constraint);

// The smallest rate of the switching functions of those constraints whose mode differs between
// `from` and `to`, in mode `to`: >= 0 when the motion goes on into the new regions. A region whose
// switching function jumps with a turn is entered with that turn, and so is another turn.
double pawl_modes_entering(const PawlSystem* system, const double* z_rate, const int* from,
                           const int* to);

// Whether every constraint is in a mode that it has.
bool pawl_modes_in_range(const PawlSystem* system, const int* modes);

// The discrete variable of a contact, by its row: the last ones are those of contacts.
int pawl_modes_of_contact(const PawlSystem* system, int row);
// The rows that are contacts: from *first up to the returned one.
int pawl_modes_contacts(const PawlSystem* system, int* first);

// Rows in force, contacts among them: active[row] = 1.
void pawl_modes_active(const PawlSystem* system, const int* modes, unsigned char* active);
