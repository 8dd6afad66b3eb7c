// SPDX-License-Identifier: Apache-2.0
// Whether restitution with friction has brought energy into a time step, and of which contacts
// (docs/theory/moreau-jean.md, "Friction"). Contacts are looked at by islands: the parts of the
// system that those which push couple. What happens elsewhere is not their doing.
#pragma once

#include "step/rub.h"

// What a contact with its friction adds to the energy in a step [J].
typedef struct PawlGainPart {
  double work;
  double size;   // of its terms
  double slack;  // more than this is no error of the step
  bool thrown;   // it is thrown back, faster than what is logged
} PawlGainPart;

typedef struct PawlGain {
  int* parent;              // of each body: another of its island, or itself
  PawlGainPart* sum;        // of each island, at the body that is its own parent
  unsigned char* given_up;  // of each contact: it is not thrown back in this step
} PawlGain;

PAWL_CHECKED PawlStatus pawl_gain_create(PawlStepper* s, const PawlRub* rub, PawlGain* gain,
                                         PawlError* err);
void pawl_gain_begin_step(const PawlRub* rub, PawlGain* gain);  // all are thrown back
// A judgement: first nothing has been added, then each contact that pushes, then those of islands
// with more energy are given up; true: one that was thrown back is among them.            (T8)
void pawl_gain_begin(const PawlRub* rub, PawlGain* gain);
void pawl_gain_add(const PawlRub* rub, PawlGain* gain, int contact, PawlGainPart part);
bool pawl_gain_give_up(const PawlStepper* s, const PawlRub* rub, PawlGain* gain);
