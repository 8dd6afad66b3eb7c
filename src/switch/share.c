// SPDX-License-Identifier: Apache-2.0
#include "switch/share.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "model/model.h"
#include "system/system.h"

// What sharing a force among rows that depend on each other needs.
typedef struct Sharing {
  double *x, *y;               // v, rows
  double* force;               // v: to be shared
  double* G;                   // weighed
  double *weights, *capacity;  // rows; capacity: infinite for rigid rows
  unsigned char* open;         // rows: not at their bound
} Sharing;

// Joints with a capacity share a load in proportion to it, and leave to rigid rows what these can
// carry: weights of the rows, 1 where there are no such joints.                              (V10)
static PawlStatus weigh(PawlWatching* w, const PawlState* state, const double* lambda, Sharing* h,
                        bool* limited, PawlError* err) {
  static const double RIGID = 1e4, LEAST = 1e-6;
  const PawlDynamics* s = w->dynamics;
  PawlPhase phase = pawl_phase_of(state, false);
  const double* watch;
  double most = 0.0;
  *limited = false;
  for (int i = 0; i < s->sizes.rows; i++) {
    h->weights[i] = 1.0;
    h->capacity[i] = INFINITY;
    h->open[i] = 1;
  }
  if (w->joint_count == 0) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_watch_look(w, &phase, state, state->v, state->a, lambda, &watch, err));
  for (int k = 0; k < w->joint_count; k++) {
    int c = w->joints[k];
    if (state->modes[c] == PAWL_MODE_HELD) {
      double capacity = fmax(watch[s->system->watches[c].capacity], 0.0);
      h->capacity[s->system->constraints[c].first_row] = capacity;
      most = fmax(most, capacity);
    }
  }
  for (int i = 0; most > 0.0 && i < s->sizes.rows; i++) {
    bool rigid = isinf(h->capacity[i]);
    h->weights[i] = rigid ? RIGID : fmax(sqrt(h->capacity[i] / most), LEAST);
    *limited |= !rigid;
  }
  return PAWL_OK;
}

// lambda of least (weighed) norm over the open rows that makes the force; those that are not open
// stay as they are. *made: it does make it.
static PawlStatus share(const PawlDynamics* s, const double* M, const double* G, Sharing* h,
                        double* lambda, bool* made) {
  int n = s->sizes.v, m = s->sizes.rows;
  double most = 0.0, off = 0.0;
  for (int j = 0; j < n; j++) {
    h->x[j] = -h->force[j];
    most = fmax(most, fabs(h->force[j]));
    for (int k = s->G.start[j]; k < s->G.start[j + 1]; k++) {
      int i = s->G.index[k];
      h->G[k] = G[k] * h->weights[i];
      h->x[j] += h->open[i] ? 0.0 : G[k] * lambda[i];
    }
  }
  memset(h->y, 0, (size_t)m * sizeof(double));
  PawlStatus status = pawl_kkt_min_norm(s->kkt, M, h->G, h->open, h->x, h->y, NULL);
  for (int i = 0; status == PAWL_OK && i < m; i++) {
    lambda[i] = h->open[i] ? h->weights[i] * h->y[i] : lambda[i];
  }
  for (int j = 0; j < n; j++) {
    double rest = h->force[j];
    for (int k = s->G.start[j]; k < s->G.start[j + 1]; k++) {
      rest -= G[k] * lambda[s->G.index[k]];
    }
    off = fmax(off, fabs(rest));
  }
  *made = status == PAWL_OK && off <= 1e-9 * most;
  return status;
}

// Joints beyond their capacity carry that much and the others the rest, as long as they can. When
// they cannot, lambda is that without bounds.
static PawlStatus share_bounded(const PawlDynamics* s, const double* M, const double* G, Sharing* h,
                                double* lambda) {
  int m = s->sizes.rows;
  bool made, bound = true;
  double* unbounded = h->capacity + m;
  PAWL_TRY(share(s, M, G, h, lambda, &made));
  memcpy(unbounded, lambda, (size_t)m * sizeof(double));
  while (bound && made) {
    bound = false;
    for (int i = 0; i < m; i++) {
      if (h->open[i] && fabs(lambda[i]) > h->capacity[i]) {
        lambda[i] = lambda[i] > 0.0 ? h->capacity[i] : -h->capacity[i];
        h->open[i] = 0;
        bound = true;
      }
    }
    if (bound) {
      PAWL_TRY(share(s, M, G, h, lambda, &made));
    }
  }
  if (!made) {
    memcpy(lambda, unbounded, (size_t)m * sizeof(double));
  }
  return PAWL_OK;
}

PawlStatus pawl_share_multipliers(PawlWatching* w, const PawlState* state, double* lambda,
                                  PawlError* err) {
  PawlDynamics* s = w->dynamics;
  const PawlValues* values;
  PawlPhase phase = pawl_phase_of(state, false);
  if (state->redundant_count == 0) {
    return PAWL_OK;
  }
  PAWL_TRY(pawl_dynamics_evaluate(s, &phase, state, &values, err));
  size_t n = (size_t)s->sizes.v, m = (size_t)s->sizes.rows, entries = (size_t)s->nonzeros_G;
  double* room = pawl_alloc(2 * n + 4 * m + entries, sizeof(double));
  unsigned char* open = pawl_alloc(m, 1);
  PawlStatus status = room && open ? PAWL_OK : pawl_fail_memory(err);
  if (status == PAWL_OK) {
    bool limited, made;
    double* rows = room + 2 * n;
    Sharing h = {room, rows, room + n, rows + 4 * m, rows + m, rows + 2 * m, open};
    status = weigh(w, state, lambda, &h, &limited, err);
    pawl_sparse_add_transposed(&s->G, values->G, 1.0, lambda, h.force);
    if (status == PAWL_OK) {
      PawlStatus shared = limited ? share_bounded(s, values->M, values->G, &h, lambda)
                                  : share(s, values->M, values->G, &h, lambda, &made);
      status = shared == PAWL_ERROR_MEMORY ? pawl_fail_memory(err) : PAWL_OK;
    }
  }
  pawl_free(room);
  pawl_free(open);
  return status;
}
