// SPDX-License-Identifier: Apache-2.0
#include "io/impacts.h"

#include <math.h>
#include <string.h>

#include "run/recorder.h"
#include "switch/tolerances.h"

bool pawl_impacts_averaged(const PawlRecorder* recorder) {
  const char* name;
  for (int k = 0; (name = pawl_recorder_fact_name(recorder, k)); k++) {
    if (strcmp(name, "method") == 0) {
      return strcmp(pawl_recorder_fact_value(recorder, k), "event-driven") != 0;
    }
  }
  return false;
}

static bool is_hit(const PawlEvent* event) {
  return strcmp(event->to, "hit") == 0;
}

bool pawl_impacts_any(const PawlRecorder* recorder) {
  if (!pawl_impacts_averaged(recorder)) {
    return false;
  }
  for (int k = 0; k < pawl_recorder_event_count(recorder); k++) {
    if (is_hit(pawl_recorder_event(recorder, k))) {
      return true;
    }
  }
  return false;
}

// The first event that is not earlier; events are in the order of their times.
static int first_event(const PawlRecorder* recorder, double t) {
  int low = 0, high = pawl_recorder_event_count(recorder);
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (pawl_recorder_event(recorder, middle)->t < t) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// A hit has the time of the end of its step, but for rounding.
static bool any_hit(const PawlRecorder* recorder, double from, double to) {
  double near = PAWL_STREAM_SAME_TIME * fmax(fabs(from), fabs(to));
  const PawlEvent* event;
  for (int k = first_event(recorder, from - near);
       (event = pawl_recorder_event(recorder, k)) && event->t <= to + near; k++) {
    if (is_hit(event)) {
      return true;
    }
  }
  return false;
}

static double time_of(const PawlRecorder* recorder, int sample) {
  return pawl_recorder_sample(recorder, sample)[0];
}

bool pawl_impacts_in(const PawlRecorder* recorder, int sample) {
  int group, last;
  pawl_recorder_grouping(recorder, &group, &last);
  if (group > 0) {
    int first = sample - sample % 2, second = first + 1;
    bool whole = second < pawl_recorder_sample_count(recorder);
    return any_hit(recorder, time_of(recorder, first), time_of(recorder, whole ? second : first));
  }
  double t = time_of(recorder, sample);
  return any_hit(recorder, t, t);
}
