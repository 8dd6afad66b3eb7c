// SPDX-License-Identifier: Apache-2.0
// When the friction of a step acts, and by how much it so moves the positions
// (docs/theory/nsga.md, "Friction"): an impulse that acts tau before the end of a step moves them
// by tau times what it does to the rates,
//
//   M U = B^T nu + B_T^T ((h/2) Lambda0_T + tau (Lambda_T - Lambda0_T)) + ...                (N65)
//
// Lambda0 being what contacts that touch all along would do if nothing hit: that acts all along,
// (N28). A contact that hits does so at an instant of the step, and what stands below it takes its
// impulse at that instant, too.
#include <math.h>
#include <string.h>

#include "step/nsga.h"
#include "step/rub_islands.h"

static void act_evenly(PawlNsga* d) {
  d->even = true;
  for (int k = 0; k < d->rub.contacts; k++) {
    d->tau[k] = 0.5 * d->ga.h;
  }
}

void pawl_nsga_begin_drag(const PawlStepper* s, PawlNsga* d) {
  d->timed = d->rested = false;
  memset(d->Lambda_rest, 0, (size_t)s->sizes.rows * sizeof(double));
  act_evenly(d);
}

static bool hits(const PawlNsga* d, int i) {
  return d->near[i] && d->rate_before[i] < -PAWL_SLOWEST_LOGGED * d->contacts.slow;
}

static bool any_hits(const PawlNsga* d) {
  bool any = false;
  for (int k = 0; k < d->contacts.count; k++) {
    any |= hits(d, d->contacts.row[k]);
  }
  return any;
}

// ---- without the hits ---------------------------------------------------------------------------
// Contacts that have no part in it leave `near`, and come back.
static bool leave_out(PawlNsga* d, bool back) {
  bool stays = false;
  for (int k = 0; k < d->contacts.count; k++) {
    int i = d->contacts.row[k];
    if (back) {
      d->near[i] = d->kept_near[i];
    } else {
      d->kept_near[i] = d->near[i];
      d->near[i] = d->near[i] && d->loose[i] == PAWL_NSGA_STAYS && !hits(d, i);
      stays |= d->near[i];
    }
  }
  return stays;
}

// The rates of all rows by the velocities of the iterate.
static const double* rates(const PawlStepper* s, PawlNsga* d) {
  const PawlValues* values = pawl_eval_values(d->eval);
  for (int j = 0; j < s->sizes.v; j++) {
    d->impulse[j] = d->ga.v[j] + d->W[j];
  }
  pawl_dynamics_rows(&s->dynamics, values->G, d->impulse, values->g_t, d->acceleration);
  return d->acceleration;
}

// How long before the end of the step each gap closes that does, by the rates of both ends without
// the hits: g_n + u_n t + (u - u_n)/(2 h) t^2 = 0.
static void find_since(const PawlStepper* s, PawlNsga* d) {
  const double *rate = rates(s, d), h = d->ga.h;
  for (int k = 0; k < d->contacts.count; k++) {
    int i = d->contacts.row[k];
    double gap = fmax(d->contacts.gap[i], 0.0), u = d->rate_before[i], a = (rate[i] - u) / h;
    double reach = u * u - 2.0 * a * gap;
    double until = reach > 0.0 && u < 0.0 ? 2.0 * gap / (sqrt(reach) - u) : h;
    d->since[k] = fmax(h - until, 0.0);
  }
}

PawlStatus pawl_nsga_rub_rest(PawlStepper* s, PawlNsga* d, const PawlPhase* phase, double t,
                              const double* force, bool* rubbed, PawlError* err) {
  *rubbed = leave_out(d, false);
  PawlStatus status = *rubbed ? pawl_nsga_rub(s, d, phase, t, force, err) : PAWL_OK;
  leave_out(d, true);
  find_since(s, d);
  if (*rubbed && status == PAWL_OK) {
    memcpy(d->Lambda_rest, d->Lambda, (size_t)s->sizes.rows * sizeof(double));
    d->rub.asked = false;
  }
  return status;
}

bool pawl_nsga_needs_rest(PawlNsga* d) {
  bool needs = !d->rested && any_hits(d);
  d->rested |= needs;
  return needs;
}

// ---- when ---------------------------------------------------------------------------------------
// What hits in an island: how often, by which impulses, and the sums of tau and of both.
typedef struct Hits {
  int count;
  double tau, Lambda, moment;
} Hits;
static Hits hits_of(const PawlNsga* d, int island) {
  const PawlRub* rub = &d->rub;
  Hits all = {0};
  for (int a = rub->start[island]; a < rub->start[island + 1]; a++) {
    int i = rub->row[a], k = i - pawl_rub_row(rub, 0);
    if (k >= 0 && hits(d, i)) {
      all.count++;
      all.tau += d->since[k];
      all.Lambda += d->Lambda[i];
      all.moment += d->Lambda[i] * d->since[k];
    }
  }
  return all;
}

// A contact of an island that carried something comes off: its force ends at the hit, too, and what
// it did before is not known from both impulses.
static bool comes_off(const PawlNsga* d, int island, const double* rate) {
  const PawlRub* rub = &d->rub;
  bool off = false;
  for (int a = rub->start[island]; a < rub->start[island + 1]; a++) {
    int i = rub->row[a];
    off |= i >= pawl_rub_row(rub, 0) && d->Lambda_rest[i] > 0.0 && !(d->Lambda[i] > 0.0) &&
           rate[i] > PAWL_SLOWEST_LOGGED * d->contacts.slow;
  }
  return off;
}

static void time_island(PawlNsga* d, int island, const Hits* all) {
  const PawlRub* rub = &d->rub;
  double mean = all->Lambda > 0.0 ? all->moment / all->Lambda : all->tau / all->count;
  for (int a = rub->start[island]; a < rub->start[island + 1]; a++) {
    int k = rub->row[a] - pawl_rub_row(rub, 0);
    if (k >= 0) {
      d->tau[k] = mean;
    }
  }
}

void pawl_nsga_time_drag(const PawlStepper* s, PawlNsga* d) {
  if (d->timed || !any_hits(d)) {
    return;
  }
  const double* rate = rates(s, d);
  act_evenly(d);
  d->rub.problem.matrix = &d->rub.matrix;
  (void)pawl_rub_islands_find(&d->rub, d->near);
  for (int island = 0; island < d->rub.islands; island++) {
    Hits all = hits_of(d, island);
    d->timed |= all.Lambda > 0.0;
    if (all.count > 0 && !comes_off(d, island, rate)) {
      time_island(d, island, &all);
      d->even = false;
    }
  }
}

bool pawl_nsga_spread_drag(PawlNsga* d) {
  bool changes = !d->even;
  d->even = d->timed = true;
  return changes;
}

// ---- what it moves ------------------------------------------------------------------------------
// What the impulse of row i of contact k moves.
static double moves(const PawlNsga* d, int k, int i, double Lambda) {
  double half = 0.5 * d->ga.h, rest = d->Lambda_rest[i], tau = d->tau[k];
  return tau == half ? half * Lambda : half * rest + tau * (Lambda - rest);
}

void pawl_nsga_guess_press(PawlNsga* d) {
  for (int k = 0; !d->even && k < d->contacts.count; k++) {
    int i = d->contacts.row[k];
    d->nu[i] = fmax(moves(d, k, i, d->Lambda[i]), 0.0);
  }
}

void pawl_nsga_add_drag(const PawlStepper* s, PawlNsga* d, double* force) {
  const PawlSparseLine* by_G = &s->dynamics.by_G;
  if (d->even) {
    pawl_sparse_line_add_transposed(by_G, d->B, 0.5 * d->ga.h, d->drag, force);
    return;
  }
  memset(d->dnu, 0, (size_t)s->sizes.rows * sizeof(double));
  for (int k = 0; k < d->rub.contacts; k++) {
    const PawlContactFriction* of = &d->rub.of[k];
    for (int i = of->first; i < of->first + of->count; i++) {
      d->dnu[i] = moves(d, k, i, d->drag[i]);
    }
  }
  pawl_sparse_line_add_transposed(by_G, d->B, 1.0, d->dnu, force);
}
