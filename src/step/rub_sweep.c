// SPDX-License-Identifier: Apache-2.0
// One contact after the other: with the impulses of all others as they are, w = D_c lambda + q_c
// over its own rows, which has one solution (docs/theory/moreau-jean.md, "Friction").
#include "step/rub_sweep.h"

#include <math.h>
#include <string.h>

#include "switch/friction_local.h"
#include "switch/tolerances.h"

typedef struct Local {
  PawlFrictionLocal of;
  int row[PAWL_FRICTION_LOCAL];
} Local;

static Local local_of(const PawlRubSweep* p, int contact) {
  const PawlFrictionBlock* block = &p->block[contact];
  Local l = {.of = {.count = 1, .mu = block->mu}, .row = {block->normal}};
  PawlFrictionLocal* of = &l.of;
  for (int i = 0; i < 2 && block->tangent[i] >= 0; i++) {
    l.row[of->count++] = block->tangent[i];
  }
  for (int i = 0; i < of->count; i++) {
    of->q[i] = p->w[l.row[i]];
    of->lambda[i] = p->lambda[l.row[i]];
    for (int j = 0; j < of->count; j++) {
      of->D[i][j] = p->D[l.row[i] + l.row[j] * p->m];
      of->q[i] -= of->D[i][j] * p->lambda[l.row[j]];
    }
  }
  return l;
}

// One sweep: the largest change, and the largest impulse, both times sqrt(D_ii).
static double sweep(const PawlRubSweep* p, double* size) {
  double change = 0.0;
  *size = 0.0;
  for (int c = 0; c < p->contacts; c++) {
    Local l = local_of(p, c);
    (void)pawl_friction_local_solve(&l.of);  // what is not solved is seen in the end
    for (int i = 0; i < l.of.count; i++) {
      double root = sqrt(fmax(l.of.D[i][i], 0.0)), by = l.of.lambda[i] - p->lambda[l.row[i]];
      const double* column = p->D + l.row[i] * p->m;
      p->lambda[l.row[i]] = l.of.lambda[i];
      for (int j = 0; by != 0.0 && j < p->m; j++) {
        p->w[j] += column[j] * by;
      }
      change = fmax(change, root * fabs(by));
      *size = fmax(*size, root * fabs(l.of.lambda[i]));
    }
  }
  return change;
}

static void find_rates(const PawlRubSweep* p) {
  memcpy(p->w, p->q, (size_t)p->m * sizeof(double));
  for (int j = 0; j < p->m; j++) {
    for (int i = 0; i < p->m; i++) {
      p->w[i] += p->D[i + j * p->m] * p->lambda[j];
    }
  }
}

double pawl_rub_sweep_off(const PawlRubSweep* p) {
  double off = 0.0, size = 0.0;
  find_rates(p);
  for (int c = 0; c < p->contacts; c++) {
    double w[PAWL_FRICTION_LOCAL];
    Local l = local_of(p, c);
    for (int i = 0; i < l.of.count; i++) {
      w[i] = p->w[l.row[i]];
    }
    off = fmax(off, pawl_friction_local_off(&l.of, w, &size));
  }
  return !isfinite(off) ? INFINITY : off > 0.0 ? off / size : 0.0;
}

double pawl_rub_sweep(const PawlRubSweep* p) {
  enum { AGAIN = 64 };  // sweeps after which w is computed anew
  double change = INFINITY, size = 0.0;
  for (int k = 0; k < p->most && change > PAWL_ROWS_EXACT * size; k++) {
    if (k % AGAIN == 0) {
      find_rates(p);
    }
    change = sweep(p, &size);
  }
  return size > 0.0 ? change / size : 0.0;
}
