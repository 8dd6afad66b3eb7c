// SPDX-License-Identifier: Apache-2.0
// A simulation from the inside, for what saves and loads it.
#pragma once

#include "run/moved.h"
#include "run/observe.h"
#include "run/poles.h"
#include "run/recorder.h"
#include "run/stream.h"

struct PawlSim {
  const PawlSystem* system;
  PawlSimDef def;
  PawlStepper* stepper;
  PawlState* state;
  PawlObserver* observer;
  PawlRecorder* recorder;
  PawlStream* stream;
  int columns;
  double *a, *lambda, *sample;  // the newest
  PawlMoved moved;
  PawlPoles* poles;  // NULL: no step can lead through one
  long long steps;   // of the whole run
  long long done;    // of these
  long long stride;  // steps between samples
  bool stopped;      // by an event
  bool under_way;    // a piece of the step has been taken
  bool compiles;     // what it evaluates is, or has been, given to a compiler
  PawlSummary summary;
  double noise;  // [J], that rounding makes of forces in balance (noise.c); 0: not measured
  PawlStepperInfo before;  // work done before the run was saved and loaded, which `stepper` does
                           // not know
};

// Whether the method, or the one between instants, has steps of its own (drift.c).
bool pawl_sim_adapts(const PawlSimulateDef* def);

// Fills a simulation whose system and def are set, up to a state that is ready for its first step.
PAWL_CHECKED PawlStatus pawl_sim_prepare(PawlSim* sim, PawlError* err);

// Sets sim->noise, at the state reached.
PAWL_CHECKED PawlStatus pawl_noise_measure(PawlSim* sim, PawlError* err);
