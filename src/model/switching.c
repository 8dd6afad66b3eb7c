// SPDX-License-Identifier: Apache-2.0
// What makes a constraint or a lock engage and let go: times, zero crossings, durations, capacity.
#include <string.h>

#include "model/loader.h"

static const PawlUse capacity_use = {
    "a capacity", PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_T | PAWL_MAY_LAMBDA | PAWL_MAY_OUTPUT, NULL};

// A number with a lower bound.
static bool load_time(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, bool positive,
                      double* value) {
  if (!text) {
    return true;
  }
  if (!pawl_value(loader, text, scope, value)) {
    return false;
  }
  if (*value < 0.0 || (positive && *value == 0.0)) {
    pawl_report(&loader->report, text, "'%s' = %g s, must be %s 0", pawl_quote(text->text).s,
                *value, positive ? ">" : ">=");
    text->parsed->failed = true;
    return false;
  }
  return true;
}

static bool load_times(PawlLoader* loader, PawlYaml* at, const PawlScope* scope,
                       PawlTrigger* trigger) {
  bool list = at->kind == PAWL_YAML_LIST;
  int count = list ? at->count : 1;
  trigger->times = pawl_loader_parts(loader, at, count, sizeof *trigger->times);
  if (!trigger->times) {
    return false;
  }
  PawlYaml* child = list ? at->first : at;
  for (int k = 0; k < count; k++, child = child->next) {
    double* time = &trigger->times[k];
    if (!load_time(loader, child, scope, false, time)) {
      return false;
    }
    if (k > 0 && time[0] <= time[-1]) {
      pawl_report(&loader->report, child, "the times of at: must ascend; %g follows %g", time[0],
                  time[-1]);
      return false;
    }
  }
  trigger->time_count = count;
  return true;
}

bool pawl_load_trigger(PawlLoader* loader, PawlYaml* map, const PawlScope* scope,
                       PawlTrigger* trigger) {
  static const char* const words[] = {"down", "both", "up", NULL};
  PawlYaml *at = pawl_yaml_get(map, "at"), *when = pawl_yaml_get(map, "when");
  const PawlYaml* direction = pawl_yaml_get(map, "direction");
  *trigger = (PawlTrigger){.when = PAWL_NO_NODE};
  bool good = !at || load_times(loader, at, scope, trigger);
  good &= !when || pawl_expression(loader, when, scope, &PAWL_USE_WATCH, &trigger->when);
  good &= load_time(loader, pawl_yaml_get(map, "after"), scope, false, &trigger->after);
  if (direction && !when) {
    pawl_report(&loader->report, direction->key, "direction: needs when:");
    good = false;
  } else if (direction) {
    int word = pawl_load_word(loader, direction, "direction", words);
    trigger->direction = (PawlDirection)(word - 1);
    good &= word >= 0;
  }
  return good;
}

static bool load_release(PawlLoader* loader, PawlYaml* release, const PawlScope* scope,
                         PawlTrigger* trigger) {
  static const char* const keys[] = {"at", "when", "direction", "after", NULL};
  if (!release) {
    return true;
  }
  if (release->kind != PAWL_YAML_MAP) {
    pawl_report(&loader->report, release, "release: expected a map with at: or when:");
    return false;
  }
  bool good = pawl_yaml_check_keys(&loader->report, release, "release", keys);
  good &= pawl_load_trigger(loader, release, scope, trigger);
  if (good && trigger->time_count == 0 && trigger->when == PAWL_NO_NODE) {
    pawl_report(&loader->report, release, "release: needs at: or when:");
    return false;
  }
  return good;
}

static bool load_capacity(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                          PawlSwitching* switching) {
  PawlYaml* capacity = pawl_yaml_get(body, "capacity");
  PawlYaml* friction = pawl_yaml_get(body, "friction");
  if (friction && !capacity) {
    pawl_report(&loader->report, friction->key, "friction: needs capacity:");
    return false;
  }
  return (!capacity ||
          pawl_expression(loader, capacity, scope, &capacity_use, &switching->capacity)) &&
         (!friction ||
          pawl_expression(loader, friction, scope, &capacity_use, &switching->friction));
}

const PawlYaml* pawl_switching_given(const PawlYaml* body) {
  static const char* const keys[] = {"engaged", "at",  "release",  "when",     "direction",
                                     "after",   "for", "capacity", "friction", "smooth"};
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
    const PawlYaml* given = pawl_yaml_get(body, keys[k]);
    if (given) {
      return given;
    }
  }
  return NULL;
}

static bool load_switching(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                           PawlConstraint* constraint) {
  PawlSwitching* switching = &constraint->switching;
  switching->given = pawl_switching_given(body) != NULL;
  bool good = pawl_load_trigger(loader, body, scope, &switching->engage);
  good &= load_release(loader, pawl_yaml_get(body, "release"), scope, &switching->release);
  good &= load_time(loader, pawl_yaml_get(body, "for"), scope, true, &switching->duration);
  good &= load_capacity(loader, body, scope, switching);
  bool triggered = switching->engage.time_count > 0 || switching->engage.when != PAWL_NO_NODE;
  switching->engaged = !constraint->is_lock && !triggered;
  const PawlYaml* engaged = pawl_yaml_get(body, "engaged");
  const PawlYaml* smooth = pawl_yaml_get(body, "smooth");
  good &= !engaged || pawl_flag(loader, engaged, &switching->engaged);
  good &= !smooth || pawl_flag(loader, smooth, &switching->smooth);
  return good;
}

// A constraint of a family repeats the mistake of the one before it: one report is enough.
void pawl_load_switching(PawlLoader* loader) {
  const PawlYaml* failed = NULL;
  for (int k = 0; k < loader->switching_count; k++) {
    const PawlSwitchingTask* task = &loader->switching[k];
    const PawlAstKey* key = pawl_key(loader, task->key);
    if (!key || task->body == failed) {
      continue;
    }
    PawlScope scope = pawl_scope_at(key, task->index);
    if (!load_switching(loader, task->body, &scope,
                        &loader->model->constraints[task->constraint])) {
      failed = task->body;
    }
  }
}
