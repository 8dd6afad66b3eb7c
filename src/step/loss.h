// SPDX-License-Identifier: Apache-2.0
// What contacts with friction take from the energy in a step, island by island, so that what is
// logged and accounted for adds up to what the motion has lost (docs/theory/moreau-jean.md,
// "Energy").
#pragma once

#include "step/gain.h"

// Of a contact [J]: what it takes where it is hit, else what its friction brings and drags; and by
// how much it is met, for shares.
typedef struct PawlLossOf {
  bool hit;
  double lost, rubbed, dragged, weight;
} PawlLossOf;

typedef struct PawlLossIsland PawlLossIsland;

typedef struct PawlLoss {
  bool known;              // energies of islands tell it: no bilateral rows, constant masses
  PawlLossOf* of;          // contacts
  PawlLossIsland* island;  // at the body that is its own parent, as those of PawlGain
} PawlLoss;

PAWL_CHECKED PawlStatus pawl_loss_create(PawlStepper* s, const PawlRub* rub, const PawlGain* gain,
                                         PawlLoss* loss, PawlError* err);
// First islands, of the contacts in loss->of that push by `impulse` (rows); then each velocity:
// what contacts do to the energy by it [J], by how much forces that change make that uncertain, and
// the energy that it has and gets.
void pawl_loss_begin(PawlLoss* loss, const PawlContacts* c, const PawlRub* rub, PawlGain* gain,
                     const double* impulse);
void pawl_loss_add_at(PawlLoss* loss, PawlGain* gain, int v, double work, double slack,
                      double moved);
// Shares it among loss->of.                                                                 (T30)
void pawl_loss_share(PawlLoss* loss, const PawlContacts* c, PawlGain* gain);
