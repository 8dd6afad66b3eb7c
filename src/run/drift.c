// SPDX-License-Identifier: Apache-2.0
// Whether the balance of energy closes. Equation labels refer to docs/theory/energy.md.
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "run/sim.h"
#include "switch/law.h"
#include "switch/tolerances.h"
#include "system/system.h"

double pawl_summary_energy_size(const PawlSummary* s) {
  return s->energy_moved;
}

bool pawl_sim_adapts(const PawlSimulateDef* def) {
  const char* name = strcmp(def->method, "event-driven") == 0 ? def->smooth : def->method;
  const PawlMethodInfo* method = pawl_method_find(name);
  return method && method->adaptive;
}

static const double FIXED_STEP = 1e-2, TIMES_RTOL = 1e4, OF_UNMOVED = 1e2,
                    OF_CANCELLED = 1e-2;  // (B14)

// What the tolerances explain, or one per cent; of the size.
static double tolerated(const PawlSim* sim) {
  const PawlSimulateDef* def = &sim->def.simulate;
  double own = pawl_sim_adapts(def) ? fmin(FIXED_STEP, TIMES_RTOL * def->rtol) : FIXED_STEP;
  return own + PAWL_ENERGY_NOISE;
}

// The same of kinetic energy that only stays: tolerances are relative to the whole rates.
static double tolerated_unmoved(const PawlSim* sim) {
  const PawlSimulateDef* def = &sim->def.simulate;
  return pawl_sim_adapts(def) ? fmin(FIXED_STEP, fmax(OF_UNMOVED * def->rtol, PAWL_ENERGY_NOISE))
                              : PAWL_ENERGY_NOISE;
}

// Works that cancelled others of their piece: a drive against its losses.
static double cancelled(const PawlSummary* s) {
  return s->works[PAWL_WORK_TRAFFIC] - s->works[PAWL_WORK_NET];
}

double pawl_sim_energy_tolerance(const PawlSim* sim) {
  PawlSummary s = pawl_sim_summary(sim);
  double size = pawl_summary_energy_size(&s);
  return tolerated(sim) + (size > 0.0 ? s.works[PAWL_WORK_ERROR] / size : 0.0);
}

bool pawl_sim_works_unknown(const PawlSim* sim) {
  PawlSummary s = pawl_sim_summary(sim);
  double size = pawl_summary_energy_size(&s) + cancelled(&s);
  return s.works[PAWL_WORK_ERROR] > tolerated(sim) * size + sim->noise;  // (B17)
}

bool pawl_sim_energy_drifts(const PawlSim* sim) {
  PawlSummary s = pawl_sim_summary(sim);
  double level = fmax(fabs(s.potential_low), fabs(s.potential_high));
  return sim->def.balance && sim->system->model &&
         s.energy_max_drift > pawl_sim_energy_tolerance(sim) * pawl_summary_energy_size(&s) +
                                  OF_CANCELLED * tolerated(sim) * cancelled(&s) +
                                  tolerated_unmoved(sim) * s.kinetic_max +
                                  PAWL_ENERGY_ROUNDING * level + sim->noise;
}

// The law by which a constraint of this name switches; negative where none does.
static double law_of(const PawlSim* sim, const char* name) {
  int c = pawl_system_find_constraint(sim->system, name);
  double epsilon = -1.0;
  if (c < 0 || !sim->system->model || sim->system->constraints[c].triggered) {
    return -1.0;
  }
  if (strcmp(sim->def.simulate.impact, "model") == 0) {
    return sim->system->constraints[c].impact;
  }
  return pawl_law_parse(sim->def.simulate.impact, &epsilon, NULL) == PAWL_OK ? epsilon : -1.0;
}

// Energy put in by jumps of constraints with a law from `low` up to `high`.
static double gain_of_laws(const PawlSim* sim, double low, double high, const char** constraint) {
  double gain = 0.0;
  *constraint = NULL;
  for (int k = 0; k < pawl_recorder_event_count(sim->recorder); k++) {
    const PawlEvent* e = pawl_recorder_event(sim->recorder, k);
    double law = e->energy_lost < 0.0 ? law_of(sim, e->constraint) : -1.0;
    if (law >= low && law < high) {
      *constraint = *constraint ? *constraint : e->constraint;
      gain -= e->energy_lost;
    }
  }
  return gain;
}

static const double BISECTOR = 0.5;  // the law from which on none adds energy

double pawl_sim_law_gain(const PawlSim* sim, const char** constraint) {
  return gain_of_laws(sim, 0.0, BISECTOR, constraint);
}

double pawl_sim_stray_gain(const PawlSim* sim, const char** constraint) {
  if (pawl_system_powers(sim->system) & 1u << PAWL_POWER_DRIVES) {  // what moves may push
    *constraint = NULL;
    return 0.0;
  }
  return gain_of_laws(sim, BISECTOR, INFINITY, constraint);
}
