// SPDX-License-Identifier: Apache-2.0
// Contacts with friction from soft to hard, for rub.c alone: rows yield to their forces by a part
// of their own compliance, which becomes less from level to level (docs/theory/friction.md, "Large
// systems"). What one contact does reaches few others at first, and each level is near the one
// before. What it ends with begins a search by sets.
#pragma once

#include "step/rub_local.h"
#include "step/rub_path.h"

typedef struct PawlRubSoft {
  double *y, *w;       // of contacts: the iterate
  double *near, *raw;  // of the last level that was solved: impulses, and rates without (F38)
  PawlRubState *state, *kept;  // of the iterate; of that level
  double* last;                // of the natural map, in the iterations before
  PawlRubPath path;
} PawlRubSoft;

PAWL_CHECKED PawlStatus pawl_rub_soft_create(PawlStepper* s, const PawlRubMatrix* matrix,
                                             PawlRubSoft* p, PawlError* err);
// From `state` and the impulses in sets->y, which receive where it ends. False: no level was
// solved.
bool pawl_rub_soft_solve(PawlRubSoft* p, PawlRubSets* sets, PawlRubLocal* local,
                         PawlFriction* solver, PawlRubProblem* problem, PawlRubState* state);
