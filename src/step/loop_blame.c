// SPDX-License-Identifier: Apache-2.0
#include "step/loop_blame.h"

#include <math.h>
#include <stdio.h>

#include "model/model.h"
#include "step/loop_change.h"
#include "switch/modes.h"
#include "system/system.h"

// All that may fire: what has an end fires each of them a few times.
int pawl_blame_guard_count(const PawlLoop* l) {
  return l->guards.condition_count + l->guards.clock_count + l->kinks.count +
         pawl_system_surface_count(l->guards.dynamics->system);
}

// How often constraint c changed, or refused to, from a time on.
static int changes_of(const PawlStepper* s, int c, double since) {
  int count = 0;
  for (int k = 0; k < s->log.count; k++) {
    const PawlInstant* i = s->log.instants[k];
    count +=
        i->t >= since && (i->refused == c || pawl_system_switched(s->system, c, i->from, i->to));
  }
  return count;
}

static int hits_of(const PawlStepper* s, int row, double since) {
  int count = 0;
  for (int k = 0; k < s->log.count; k++) {
    count += s->log.instants[k]->t >= since && s->log.instants[k]->contact == row;
  }
  return count;
}

static int firings_of(const PawlStepper* s, int event, double since) {
  int count = 0;
  for (int k = 0; k < s->log.count; k++) {
    count += s->log.instants[k]->t >= since && s->log.instants[k]->event == event;
  }
  return count;
}

// "; most often constraint 'hook', 33 times"; nothing where nothing is in the log since then. How
// often, that is.
static int name_worst(const PawlStepper* s, double since, char* text, size_t size) {
  int most = 0;
  text[0] = '\0';
  for (int c = 0; c < s->system->constraint_count; c++) {
    int count = changes_of(s, c, since);
    if (count > most) {
      most = count;
      snprintf(text, size, "; most often constraint '%.100s', %d times",
               pawl_system_constraint_name(s->system, c), count);
    }
  }
  int first, end = pawl_modes_contacts(s->system, &first);
  for (int row = first; row < end; row++) {
    int count = hits_of(s, row, since), number;
    if (count > most) {
      most = count;
      snprintf(text, size, "; most often contact '%.100s', %d times",
               pawl_system_row_name(s->system, row, &number), count);
    }
  }
  for (int e = 0; s->system->model && e < s->system->model->event_count; e++) {
    int count = firings_of(s, e, since);
    if (count > most) {
      most = count;
      snprintf(text, size, "; most often event '%.100s', %d times",
               pawl_system_event_name(s->system, e), count);
    }
  }
  return most;
}

// The contact whose margin is negative at the last look; -1: none. It may change without an entry.
static int contact_of(const PawlGuards* g) {
  int row = -1;
  for (int k = 0; k < g->armed_count; k++) {
    const PawlGuard* guard = &g->all[g->armed[k]];
    bool contact = guard->what >= PAWL_GUARD_GAP && guard->what <= PAWL_GUARD_SLIP;
    row = row < 0 && contact && g->margins[k] < 0.0 ? guard->at : row;
  }
  return row;
}

// Whether a least time between changes could be given: conditions have one.
static bool has_conditions(const PawlLoop* l) {
  bool any = false;
  for (int k = 0; k < l->guards.count; k++) {
    any |= l->guards.all[k].what == PAWL_GUARD_CONDITION;
  }
  return any;
}

PawlStatus pawl_blame_instant(const PawlStepper* s, const PawlState* state, int count, double slack,
                              PawlError* err) {
  char worst[200];
  int number, row = contact_of(&s->loop->guards);
  if (row >= 0) {
    return pawl_fail(err, PAWL_ERROR_RUN,
                     "t = %.10g: contact '%s' has found no state that stays after %d changes at "
                     "this one instant; a time-stepping method (nsga-pva, nsga-pvv) passes it",
                     state->t, pawl_system_row_name(s->system, row, &number), count);
  }
  (void)name_worst(s, state->t - fmax(slack, 0.0), worst, sizeof worst);
  return pawl_fail(
      err, PAWL_ERROR_RUN,
      "t = %.10g: changes bring about changes without an end, %d at this one instant%s%s", state->t,
      count, worst,
      has_conditions(s->loop) ? ". A least time between changes (after) ends it" : "");
}

// What passes such a point, by what the model has.
static const char* advice_of(const PawlStepper* s) {
  const PawlLoop* l = s->loop;
  bool times = has_conditions(l);
  if (pawl_change_has_impacts(s) && !l->event_driven) {  // it is time stepping already
    return times ? ". Joints with a capacity beside contacts: event-driven decides both in one "
                   "problem; conditions: give a least time between changes (after)"
                 : ". Joints with a capacity beside contacts: event-driven decides both in one "
                   "problem";
  }
  bool jumps = l->guards.contacts || pawl_system_surface_count(l->guards.dynamics->system) > 0;
  return jumps && times ? ". Regions and contacts: a time-stepping method (nsga-pva, nsga-pvv) "
                          "passes such a point; conditions: give a least time between changes "
                          "(after)"
         : jumps        ? ". A time-stepping method (nsga-pva, nsga-pvv) passes such a point"
         : times        ? ". Conditions: give a least time between changes (after)"
                        : "";
}

PawlStatus pawl_blame_step(const PawlStepper* s, const PawlState* state, double begin, int count,
                           PawlError* err) {
  char worst[200];
  int logged = name_worst(s, begin, worst, sizeof worst);
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: switches accumulate here, %d instants in one step%s%s%s", state->t,
                   count, worst,
                   logged == 0          ? ", none of which changes anything"
                   : logged < count / 4 ? " (others change nothing, or not that)"
                                        : "",
                   advice_of(s));
}
