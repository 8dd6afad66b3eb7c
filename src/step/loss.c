// SPDX-License-Identifier: Apache-2.0
#include "step/loss.h"

#include <math.h>
#include <string.h>

#include "switch/tolerances.h"

struct PawlLossIsland {
  double work, slack, moved;  // of its velocities
  double lost, others, size;  // of its contacts: hits, the others, the sizes of both
  double weight;
  bool hit, beyond;  // something is; a contact does more than all that moves has
};

PawlStatus pawl_loss_create(PawlStepper* s, const PawlRub* rub, const PawlGain* gain,
                            PawlLoss* loss, PawlError* err) {
  loss->of = PAWL_NEW(&s->arena, PawlLossOf, s->contact_count);
  loss->island = PAWL_NEW(&s->arena, PawlLossIsland, gain->bodies);
  loss->known = rub->contacts > 0 && rub->first_row == 0 && pawl_system_constant_mass(s->system);
  return s->arena.failed ? pawl_fail_memory(err) : PAWL_OK;
}

static PawlLossIsland* island_of(PawlLoss* loss, const PawlContacts* c, PawlGain* gain, int k) {
  bool moves = c->first[k] < c->first[k + 1];
  return moves ? &loss->island[pawl_gain_island(gain, c->column[c->first[k]])] : NULL;
}

void pawl_loss_begin(PawlLoss* loss, const PawlContacts* c, const PawlRub* rub, PawlGain* gain,
                     const double* impulse) {
  pawl_gain_begin(gain);
  memset(loss->island, 0, (size_t)gain->bodies * sizeof *loss->island);
  for (int k = 0; k < c->count; k++) {
    if (impulse[c->row[k]] > 0.0) {
      pawl_gain_add(c, rub, gain, k, (PawlGainPart){0});
    }
  }
}

void pawl_loss_add_at(PawlLoss* loss, PawlGain* gain, int v, double work, double slack,
                      double moved) {
  PawlLossIsland* i = &loss->island[pawl_gain_island(gain, v)];
  i->work += work;
  i->slack += slack;
  i->moved += moved;
}

static double other(const PawlLossOf* of) {
  return of->hit ? 0.0 : of->rubbed + of->dragged;
}

static void sum_up(PawlLossIsland* i, const PawlLossOf* of) {
  double each = of->hit ? of->lost : other(of);
  i->lost += of->hit ? of->lost : 0.0;
  i->weight += of->hit ? of->weight : 0.0;
  i->others += other(of);
  i->size += fabs(each);
  i->hit |= of->hit;
  i->beyond |= fabs(each) > PAWL_LOSS_BEYOND * i->moved;
}

// Whether what is left over is more than rounding, and than what forces make uncertain.
static bool is_off(const PawlLossIsland* i, double left) {
  return fabs(left) > PAWL_LOSS_KNOWN * (i->size + fabs(i->work)) + PAWL_GAIN_KNOWN * i->slack;
}

static void share(const PawlLossIsland* i, PawlLossOf* of) {
  double part = i->weight > 0.0 ? of->weight / i->weight : 0.0;
  double left = i->others - i->work - i->lost;
  if (i->beyond) {  // impulses that hold each other: products of them tell nothing
    double rubbed = i->hit || i->others == 0.0 ? 0.0 : i->work * (other(of) / i->others);
    of->lost = of->hit ? -i->work * part : of->lost;
    of->rubbed = of->hit ? of->rubbed : rubbed;
    of->dragged = of->hit ? of->dragged : 0.0;
  } else if (of->hit && is_off(i, left)) {
    of->lost += left * part;
  }
}

void pawl_loss_share(PawlLoss* loss, const PawlContacts* c, PawlGain* gain) {
  for (int k = 0; k < c->count; k++) {
    PawlLossIsland* i = island_of(loss, c, gain, k);
    if (i) {
      sum_up(i, &loss->of[k]);
    }
  }
  for (int k = 0; k < c->count; k++) {
    PawlLossIsland* i = island_of(loss, c, gain, k);
    if (i) {
      share(i, &loss->of[k]);
    }
  }
}
