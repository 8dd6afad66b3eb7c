// SPDX-License-Identifier: Apache-2.0
// What contacts would bring into a time step as energy, and how they are kept from it
// (docs/theory/moreau-jean.md, "Energy"). Contacts are looked at by islands: the parts of the
// system that those which push couple. What happens elsewhere is not their doing. Where an island
// gains its positions move with more of the velocities of the end, or its contacts are thrown back
// less.
#pragma once

#include "step/contacts.h"
#include "step/rub.h"

// What a contact with its friction adds to the energy in a step [J].
typedef struct PawlGainPart {
  double work;
  double size;   // of its terms
  double slack;  // by so much forces that change in the step make it uncertain
  double push;   // P (u - u^)
  double back;   // twice the energy with which it is thrown back
  int pushes;    // contacts that push
} PawlGainPart;

typedef struct PawlGain {
  int bodies, *body;  // parts of the system that contacts alone can couple; of each v
  int* parent;        // of each body: another of its island, or itself
  PawlGainPart* sum;  // of each island, at the body that is its own parent
  double* fall;       // of each island: what moving on by h dv takes from the energy
  double* kept;       // of each contact: this part of its restitution counts in this step
  double* shift;      // of each body: by so much of h dv its positions move on             (T26)
  double *before, *left;  // of each island, at a search: the shift before, and what was gained then
  bool shifted;           // one of them does
  int rounds;             // in which restitutions were made less in this step
  int searches;           // rounds of pawl_gain_search in it
  int looks;              // how often something was changed for the energy, in any way
} PawlGain;

PAWL_CHECKED PawlStatus pawl_gain_create(PawlStepper* s, PawlGain* gain, PawlError* err);
void pawl_gain_begin_step(const PawlStepper* s, PawlGain* gain);
// A judgement: first nothing has been added, then each contact that pushes.
void pawl_gain_begin(PawlGain* gain);
void pawl_gain_add(const PawlContacts* c, const PawlRub* rub, PawlGain* gain, int contact,
                   PawlGainPart part);
// Contacts of islands that gain, and are thrown back, are so with less: true where there are some.
// (T8)
bool pawl_gain_throw_less(const PawlContacts* c, PawlGain* gain);
int pawl_gain_island(PawlGain* gain, int v);                 // of coordinate v
bool pawl_gain_of_island(const PawlGain* gain, int island);  // it gains
// What it gains is not to count in what follows, and its shift is 0.
void pawl_gain_excuse(PawlGain* gain, int island);
// Islands that gain get the least shift for which they do not, up to `most`, and where none serves
// and contacts are thrown back these are so with less; true: something has changed. `base` is the
// shift that all positions have; dv and M dv are those of the step.                    (T8) (T26)
bool pawl_gain_restrain(const PawlStepper* s, const PawlContacts* c, PawlGain* gain,
                        const double* dv, const double* M_dv, double base, double most);
// The same where the effect of a shift is not known: what was added is what is gained with the
// shifts that there are, and the least shifts are searched for.                             (N61)
void pawl_gain_add_at(PawlGain* gain, int v, PawlGainPart part, double fall);  // of coordinate v
// Islands for which some was found gain nothing for what follows.
bool pawl_gain_search(PawlGain* gain, double most);
bool pawl_gain_is_left(const PawlGain* gain);  // an island gains even so
