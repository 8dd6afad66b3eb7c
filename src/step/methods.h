// SPDX-License-Identifier: Apache-2.0
// The list of methods, and which of them can do what a system asks for.
#pragma once

#include "step/method.h"
#include "system/linear.h"

// What a system and the options ask of a method.
typedef struct PawlNeeds {
  const PawlSystem* system;
  int velocities;
  bool regions;             // constraints switch by regions or wrap
  bool contacts;            // there are contacts
  bool friction;            // and they have friction
  bool slips;               // friction hangs on multipliers between instants
  const char* contact_law;  // of impacts, where another than newton is asked for and differs; NULL
  // of the impact laws of these regions
  const char* other_law;  // the constraint whose law is not post, or the option; NULL: all are post
  bool option_law;        // the option `impact` sets the laws, not the model
  bool no_jump;           // impact: none
} PawlNeeds;
PAWL_CHECKED PawlStatus pawl_methods_needs(const PawlSystem* system, const PawlSimulateDef* def,
                                           PawlNeeds* needs, PawlError* err);

// Why a method cannot do it, the words behind "method ga-p cannot handle "; NULL: it can. The text
// is in `room`. Whether the system is linear is only looked at for methods that ask for it.
enum { PAWL_OBSTACLE_ROOM = 400 };
const char* pawl_methods_obstacle(const PawlMethodInfo* info, const PawlNeeds* needs, char* room);

// Finds def->method and, for event-driven, def->smooth, and whether they can do what is asked for.
// PAWL_ERROR_USAGE names what is in the way, and those that can.
PAWL_CHECKED PawlStatus pawl_methods_choose(const PawlSimulateDef* def, const PawlNeeds* needs,
                                            const PawlMethod** method, bool* event_driven,
                                            PawlError* err);

// Whether an implicit method is the better one for the start of a motion without contacts; false
// also where that could not be found out.
bool pawl_stiffness_found(const PawlNeeds* needs, const PawlSimulateDef* def);

// What `method: auto` stands for: sets def->method and def->smooth, and says why.
PAWL_CHECKED PawlStatus pawl_methods_auto(const PawlNeeds* needs, PawlSimulateDef* def,
                                          const char** reason, PawlError* err);
