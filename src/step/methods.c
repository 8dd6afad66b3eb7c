// SPDX-License-Identifier: Apache-2.0
// The list of methods, made from methods.def; all that is said of them is read from their tables.
#include "step/methods.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "model/model.h"
#include "switch/modes.h"
#include "system/mirror.h"
#include "system/system.h"

const PawlMethod pawl_method_event_driven = {
    .info = {.name = "event-driven",
             .about = "locates each switch, applies the jump and restarts; see --smooth",
             .order = 4,
             .holds = "those of `smooth`",
             .options = "smooth contact_law painleve",
             .regions = true,
             .contacts = true,
             .friction = true,
             .laws = PAWL_LAWS_ALL}};

static const PawlMethod* const methods[] = {
#define PAWL_METHOD(symbol) &pawl_method_##symbol,
#include "step/methods.def"
#undef PAWL_METHOD
};
enum { METHOD_COUNT = sizeof methods / sizeof *methods };

const PawlMethodInfo* pawl_method(int index) {
  return index >= 0 && index < METHOD_COUNT ? &methods[index]->info : NULL;
}

static const PawlMethod* find(const char* name) {
  for (int k = 0; k < METHOD_COUNT; k++) {
    if (strcmp(methods[k]->info.name, name) == 0) {
      return methods[k];
    }
  }
  return NULL;
}

const PawlMethodInfo* pawl_method_find(const char* name) {
  const PawlMethod* method = find(name);
  return method ? &method->info : NULL;
}

// ---- options ------------------------------------------------------------------------------------
// Whether a word is in a list of words with a space between.
static bool has_word(const char* list, const char* word) {
  size_t length = strlen(word);
  for (const char* at = list; (at = strstr(at, word)) != NULL; at += length) {
    if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {
      return true;
    }
  }
  return false;
}

bool pawl_method_uses(const PawlSimulateDef* def, const char* option) {
  const PawlMethodInfo* info = pawl_method_find(def->method);
  const PawlMethodInfo* smooth = pawl_method_find(def->smooth);
  bool special = false;
  for (int k = 0; k < METHOD_COUNT; k++) {
    special |= has_word(methods[k]->info.options, option);
  }
  return !special || !info || has_word(info->options, option) ||
         (info == &pawl_method_event_driven.info && smooth && has_word(smooth->options, option));
}

// ---- what a system asks for ---------------------------------------------------------------------
static bool by_regions(const PawlSystem* system, int constraint) {
  int first, rows;
  pawl_system_constraint_rows(system, constraint, &first, &rows);
  return rows > 0 && pawl_system_row_switches(system, first);
}

static void need_laws_of_model(PawlNeeds* needs) {
  const PawlSystem* system = needs->system;
  for (int c = 0; c < system->constraint_count && !needs->other_law; c++) {
    if (by_regions(system, c) && system->constraints[c].impact != 1.0) {
      needs->other_law = system->constraints[c].name;
    }
  }
}

// Of a single contact sequential is newton.
static const char* need_contact_law(const PawlSystem* system, const PawlSimulateDef* def) {
  int first, end = pawl_modes_contacts(system, &first);
  bool differs = (strcmp(def->contact_law, "poisson") == 0 && end > first) ||
                 (strcmp(def->contact_law, "sequential") == 0 && end > first + 1);
  return differs ? def->contact_law : NULL;
}

PawlStatus pawl_methods_needs(const PawlSystem* system, const PawlSimulateDef* def,
                              PawlNeeds* needs, PawlError* err) {
  PawlSizes n = pawl_system_sizes(system);
  *needs = (PawlNeeds){.system = system, .velocities = n.v};
  needs->regions = pawl_system_switches(system);
  needs->slips = system->tie_count > 0;
  for (int i = 0; i < n.rows; i++) {
    needs->contacts |= pawl_system_row_kind(system, i) == PAWL_ROW_CONTACT;
    needs->friction |= pawl_system_row_kind(system, i) == PAWL_ROW_FRICTION;
  }
  needs->contact_law = need_contact_law(system, def);
  if (strcmp(def->impact, "model") == 0) {
    need_laws_of_model(needs);
    return PAWL_OK;
  }
  double epsilon;
  PAWL_TRY(pawl_law_parse(def->impact, &epsilon, err));
  needs->option_law = true;
  needs->no_jump = epsilon == PAWL_LAW_NONE;
  needs->other_law = epsilon != 1.0 && !needs->no_jump ? "impact" : NULL;
  return PAWL_OK;
}

// ---- what a method can do -----------------------------------------------------------------------
// Laws are asked for by the model or by an option; directions alone are taken from an option.
static const char* law_obstacle(PawlMethodLaws laws, const PawlNeeds* needs, char* room) {
  if (laws == PAWL_LAWS_NO_JUMP && !needs->no_jump) {
    return "any impact law but none at the switching constraints";
  }
  if (laws != PAWL_LAWS_NO_JUMP && needs->no_jump) {
    return "impact = none at the switching constraints";
  }
  bool kept = !needs->other_law || laws == PAWL_LAWS_ALL || laws == PAWL_LAWS_NO_JUMP ||
              (laws == PAWL_LAWS_DIRECTIONS && needs->option_law);
  if (kept) {
    return NULL;
  }
  snprintf(room, PAWL_OBSTACLE_ROOM, "impact laws other than post (constraint '%.200s')",
           needs->other_law);
  return needs->option_law ? "impact laws other than post" : room;
}

static const char MEMORY[] = "what memory is short for";  // an obstacle of its own

static const char* linear_obstacle(const PawlNeeds* needs, char* room) {
  const char* why;
  if (pawl_system_linearity(needs->system, &why) != PAWL_NONLINEAR) {
    return NULL;
  }
  if (!why) {
    return MEMORY;
  }
  snprintf(room, PAWL_OBSTACLE_ROOM, "what is not linear (%.300s)", why);
  return room;
}

static const char* action_obstacle(const PawlNeeds* needs, char* room) {
  const char* why;
  return pawl_mirror_obstacle(needs->system, room, PAWL_OBSTACLE_ROOM, &why, NULL) == PAWL_OK
             ? why
             : MEMORY;
}

// A joint without `friction` slides with its capacity.                                      (F26)
static const char* tie_obstacle(const PawlNeeds* needs, char* room) {
  const PawlConstraint* k = &needs->system->constraints[needs->system->ties[0].constraint];
  if (k->switching->friction != k->switching->capacity) {
    return "friction that hangs on multipliers";
  }
  snprintf(room, PAWL_OBSTACLE_ROOM,
           "friction that hangs on multipliers ('%.100s' slides with its capacity, since it has no "
           "`friction` of its own; with one that hangs on none they can)",
           k->name);
  return room;
}

const char* pawl_methods_obstacle(const PawlMethodInfo* info, const PawlNeeds* needs, char* room) {
  if (needs->regions && !info->regions) {
    return "the switching constraints";
  }
  if (needs->contacts && !info->contacts) {
    return "the contacts";
  }
  if (needs->friction && !info->friction) {
    return "the friction of the contacts";
  }
  if (needs->contact_law && info != &pawl_method_event_driven.info) {
    snprintf(room, PAWL_OBSTACLE_ROOM,
             "contact_law = %s (it has newton alone, for all contacts at once)",
             needs->contact_law);
    return room;
  }
  bool own = info->linear_only || info->action ||
             (info->contacts && !info->smooth && info != &pawl_method_event_driven.info);
  if (needs->slips && own) {
    return needs->system->tie_count > 0
               ? tie_obstacle(needs, room)
               : "the friction of the contacts, which hangs on their forces";
  }
  if (needs->system->rates && strcmp(info->holds ? info->holds : "", "position") == 0) {
    return needs->slips && needs->system->tie_count == 0
               ? "the friction of the contacts (it holds positions alone)"
               : "the rate equations (it holds positions alone)";
  }
  // which steps have as impulses alone
  bool apart = info->apart || (needs->friction && info != &pawl_method_event_driven.info);
  if (apart && needs->system->rates_react && (needs->regions || needs->contacts)) {
    return "the rates of states with accelerations or multipliers (its own have impulses in them "
           "where contacts or regions switch, or lack the forces there)";
  }
  const char* law = needs->regions ? law_obstacle(info->laws, needs, room) : NULL;
  if (law) {
    return law;
  }
  if (info->largest > 0 && needs->velocities > info->largest) {
    snprintf(room, PAWL_OBSTACLE_ROOM, "the %d velocities (at most %d: its matrices are full)",
             needs->velocities, info->largest);
    return room;
  }
  if (info->sums_only && !pawl_system_adds_up(needs->system)) {
    return "coordinates whose rates are not the velocities (rotations)";
  }
  return info->linear_only ? linear_obstacle(needs, room)
         : info->action    ? action_obstacle(needs, room)
                           : NULL;
}

// "rk4, ga-p": those that can; with `smooth`, those that event-driven can have between switches.
static void list_able(const PawlNeeds* needs, bool smooth, PawlText* list) {
  char room[PAWL_OBSTACLE_ROOM];
  PawlNeeds quiet = *needs;
  quiet.regions = quiet.contacts = quiet.friction = false;
  quiet.contact_law = NULL;
  quiet.slips |= needs->friction;
  for (int k = 0; k < METHOD_COUNT; k++) {
    const PawlMethodInfo* info = &methods[k]->info;
    if (info->absent || (smooth && !info->smooth)) {
      continue;
    }
    const char* obstacle = pawl_methods_obstacle(info, smooth ? &quiet : needs, room);
    list->failed |= obstacle == MEMORY;
    if (!obstacle) {
      pawl_text_printf(list, "%s%s", list->length ? ", " : "", info->name);
    }
  }
}

static PawlStatus refuse(const PawlMethodInfo* info, const PawlNeeds* needs, const char* obstacle,
                         bool smooth, PawlError* err) {
  PawlText list = {0};
  if (obstacle == MEMORY) {
    return pawl_fail_memory(err);
  }
  list_able(needs, smooth, &list);
  PawlStatus status =
      list.failed
          ? pawl_fail_memory(err)
          : pawl_fail(err, PAWL_ERROR_USAGE, "method %s cannot handle %s of '%s'; %s%s", info->name,
                      obstacle, pawl_system_name(needs->system),
                      list.length ? "these can: " : "no method can", list.length ? list.s : "");
  pawl_text_free(&list);
  return status;
}

static PawlStatus unknown(const char* name, PawlError* err) {
  PawlNearest nearest = {.wanted = name};
  PawlText list = {0};
  pawl_nearest_offer(&nearest, "auto");
  for (int k = 0; k < METHOD_COUNT; k++) {
    pawl_nearest_offer(&nearest, methods[k]->info.name);
    pawl_text_printf(&list, ", %s", methods[k]->info.name);
  }
  pawl_fail(err, PAWL_ERROR_USAGE, "unknown method '%.100s'; this version has auto%s%s%s%s", name,
            list.s ? list.s : "", nearest.name ? "; did you mean '" : "",
            nearest.name ? nearest.name : "", nearest.name ? "'?" : "");
  pawl_text_free(&list);
  return PAWL_ERROR_USAGE;
}

static PawlStatus choose_smooth(const char* name, const PawlNeeds* needs, const PawlMethod** method,
                                PawlError* err) {
  char room[PAWL_OBSTACLE_ROOM];
  PawlNeeds quiet = *needs;
  quiet.regions = quiet.contacts = quiet.friction = false;
  quiet.contact_law = NULL;
  quiet.slips |= needs->friction;
  *method = find(name);
  if (*method && (*method)->info.smooth) {
    const char* obstacle = pawl_methods_obstacle(&(*method)->info, &quiet, room);
    return obstacle ? refuse(&(*method)->info, needs, obstacle, true, err) : PAWL_OK;
  }
  PawlText list = {0};
  list_able(needs, true, &list);
  pawl_fail(err, PAWL_ERROR_USAGE, "smooth = %.100s: must be a method for smooth motion: %s", name,
            list.s ? list.s : "");
  pawl_text_free(&list);
  return PAWL_ERROR_USAGE;
}

PawlStatus pawl_methods_choose(const PawlSimulateDef* def, const PawlNeeds* needs,
                               const PawlMethod** method, bool* event_driven, PawlError* err) {
  char room[PAWL_OBSTACLE_ROOM];
  const PawlMethod* found = find(def->method);
  if (!found) {
    return unknown(def->method, err);
  }
  const char* obstacle = pawl_methods_obstacle(&found->info, needs, room);
  if (obstacle) {
    return refuse(&found->info, needs, obstacle, false, err);
  }
  *event_driven = found == &pawl_method_event_driven;
  if (*event_driven) {
    PAWL_TRY(choose_smooth(def->smooth, needs, &found, err));
  }
  *method = found;
  return PAWL_OK;
}

// ---- auto ---------------------------------------------------------------------------------------
// Systems beyond this are stepped by a sparse implicit method.
enum { LARGE = 600 };
// The exponential of a system is found by full matrices of twice this size.
enum { LARGEST_EXPONENTIAL = 100 };

// Whether anything happens at an instant: equations that hold where a start is found do not.
static bool has_instants(const PawlSystem* system) {
  bool any = !system->model || system->model->event_count > 0;
  for (int c = 0; !any && c < system->constraint_count; c++) {
    any = system->constraints[c].triggered && !system->constraints[c].at_start;
  }
  return pawl_system_triggers(system) && any;
}

// Contacts that are worth an instant each: every impact ends a step, and one of a large system
// costs as much as many of them.
static bool has_few_contacts(const PawlNeeds* needs) {
  enum { FEW = 8, SMALL = 40 };
  int first, end = pawl_modes_contacts(needs->system, &first);
  return needs->system->model && end - first <= FEW && needs->velocities <= SMALL;
}

static PawlStatus is_plain_linear(const PawlNeeds* needs, bool* yes, PawlError* err) {
  const char* why = "";
  PawlLinearity linearity = needs->velocities <= LARGEST_EXPONENTIAL
                                ? pawl_system_linearity(needs->system, &why)
                                : PAWL_NONLINEAR;
  *yes = linearity == PAWL_LINEAR;
  return linearity == PAWL_NONLINEAR && !why ? pawl_fail_memory(err) : PAWL_OK;
}

// Why a method with steps by tolerance was chosen where nothing switches.
static const char* by_tolerance(const PawlSystem* system, bool stiff) {
  if (system->plain_count > 0) {
    return stiff ? "steps follow the tolerance; the motion is stiff at the start"
                 : "steps follow the tolerance";
  }
  if (system->kink_count + system->timed_count > 0) {
    return stiff ? "the motion is stiff at the start; steps follow the tolerance and end at the "
                   "kinks of forces"
                 : "steps follow the tolerance and end at the kinks of forces";
  }
  return stiff ? "the motion is smooth and stiff at the start; steps follow the tolerance"
               : "the motion is smooth; steps follow the tolerance";
}

PawlStatus pawl_methods_auto(const PawlNeeds* needs, PawlSimulateDef* def, const char** reason,
                             PawlError* err) {
  bool located = needs->regions || has_instants(needs->system);
  bool large = needs->velocities > LARGE, linear;
  PAWL_TRY(is_plain_linear(needs, &linear, err));
  if (needs->contact_law) {
    def->smooth = pawl_stiffness_found(needs, def) ? "ark" : "dopri";
    def->method = "event-driven";
    *reason = "the law of contacts that is asked for is one of located impacts";
  } else if (needs->contacts && has_few_contacts(needs) && !pawl_stiffness_found(needs, def)) {
    def->smooth = "dopri";
    def->method = "event-driven";
    *reason = "the instants of few contacts are located, with steps by tolerance between them";
  } else if (needs->contacts) {
    def->method = "nsga-pva";
    *reason = "there are contacts, many of them or in a large or stiff system";
  } else if (large && needs->regions) {
    def->method = "nsga-pva";
    *reason = "constraints switch by regions in a large system";
  } else if (large) {
    def->method = "ga-pva";
    *reason = "the system is large";
  } else if (linear) {
    def->method = located ? "event-driven" : "exponential";
    def->smooth = "exponential";
    *reason = located ? "the equations are linear between the instants that are located"
                      : "the equations are linear";
  } else {
    bool stiff = pawl_stiffness_found(needs, def);
    def->smooth = stiff ? "ark" : "dopri";
    def->method = located ? "event-driven" : def->smooth;
    *reason = located && stiff ? "instants are located, with implicit steps by tolerance between "
                                 "them: the motion is stiff at the start"
              : located        ? "instants are located, with steps by tolerance between them"
                               : by_tolerance(needs->system, stiff);
  }
  return PAWL_OK;
}
