// SPDX-License-Identifier: Apache-2.0
// Runs by each method between instants, and their events, for tests of located contacts.
#pragma once

#include "switch/runs.h"

static const char* const EXACT[] = {"rk4", "dopri", "taylor", "exponential", NULL};
static const char* const ALL[] = {
    "rk4",  "dopri",        "taylor",        "exponential", "ark",   "ida",    "ga-p",
    "ga-v", "ga-v-between", "ga-v-implicit", "ga-a",        "ga-pv", "ga-pva", NULL};

// Runs with a method between the instants; false: it is not in this build.
static inline bool run_with(Run* run, const char* smooth, double until, double step) {
  run->def.simulate.smooth = smooth;
  if (pawl_method_find(smooth)->absent) {
    return false;
  }
  run_to(run, until, step);
  return true;
}

static inline const PawlEvent* event_is(const Run* run, int k, double t, const char* name,
                                        const char* to, double tolerance) {
  const PawlEvent* event = run_event(run, k);
  CHECK_NEAR(event->t, t, tolerance);
  assert_string_equal(event->constraint, name);
  assert_string_equal(event->to, to);
  return event;
}
