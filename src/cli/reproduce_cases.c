// SPDX-License-Identifier: Apache-2.0
// The papers of the benchmark.
#include "cli/reproduce_cases.h"

const Paper* const papers[] = {&paper_patil,   &paper_bruls,    &paper_mueller,  &paper_pekarek,
                               &paper_kovanda, &paper_locks,    &paper_new,      &paper_rate,
                               &paper_states,  &paper_contacts, &paper_friction, NULL};
