// SPDX-License-Identifier: Apache-2.0
// Is a system stiff? A trial from its start: where an explicit method with steps of its own needs
// many evaluations for one step of the run, and an implicit one few, it is. The numbers of
// evaluations are counted, so that the answer does not depend on the machine.
#include <math.h>

#include "step/methods.h"

enum {
  CHEAP = 1000,        // evaluations of a step of the run; with fewer dopri is good enough
  GAIN = 4,            // evaluations of dopri that one of ark is worth: it solves, too
  HALVINGS = 24,       // the first piece of the trial is step/2^HALVINGS
  MOST_OF_PIECE = 20,  // times what is dear: a piece that needs more is none to judge by
  LARGEST_TRIAL = 100  // velocities: ark works with full matrices
};

typedef struct Trial {
  PawlStepper* stepper;
  PawlState* state;
} Trial;

static bool begin(const PawlNeeds* needs, const PawlSimulateDef* def, const char* smooth,
                  Trial* trial) {
  PawlSimulateDef own = *def;
  own.method = "event-driven";
  own.smooth = smooth;
  return pawl_stepper_create(needs->system, &own, &trial->stepper, NULL) == PAWL_OK &&
         pawl_state_create(trial->stepper, &trial->state, NULL) == PAWL_OK &&
         pawl_stepper_start(trial->stepper, trial->state, true, NULL) == PAWL_OK;
}

static void end(Trial* trial) {
  pawl_state_destroy(trial->state);
  pawl_stepper_destroy(trial->stepper);
}

static double evaluations(const Trial* trial) {
  return (double)pawl_stepper_info(trial->stepper).evaluations;
}

// Evaluations for the first step of the run and for each later one. The first is taken in pieces
// that double, so that a trial which turns out to need more than `dear` can be given up: then the
// rest goes on at the rate of its last piece. False when the motion cannot go on.
static bool take(Trial* trial, double step, double dear, double* first, double* later) {
  double done = 0.0, rate = 0.0, start = evaluations(trial), piece = ldexp(step, -HALVINGS);
  while (done < step && evaluations(trial) - start < dear) {
    double before = evaluations(trial);
    if (pawl_stepper_step(trial->stepper, trial->state, piece, NULL) != PAWL_OK) {
      return false;
    }
    rate = (evaluations(trial) - before) / piece;
    done += piece;
    piece = done;
  }
  *first = evaluations(trial) - start + rate * (step - done);
  *later = rate * step;
  if (done < step) {
    return true;
  }
  start = evaluations(trial);
  bool good = pawl_stepper_step(trial->stepper, trial->state, step, NULL) == PAWL_OK;
  *later = evaluations(trial) - start;
  return good;
}

static bool measure(const PawlNeeds* needs, const PawlSimulateDef* def, const char* smooth,
                    double dear, double* first, double* later) {
  Trial trial = {0};
  bool good = begin(needs, def, smooth, &trial);
  if (good) {
    trial.stepper->budget = evaluations(&trial) + MOST_OF_PIECE * dear;
    good = take(&trial, def->step, dear, first, later);
  }
  end(&trial);
  return good;
}

bool pawl_stiffness_found(const PawlNeeds* needs, const PawlSimulateDef* def) {
  double first, later, implicit_first, implicit_later;
  double more = fmax(0.0, def->until / def->step - 1.0);  // steps after the first
  return needs->velocities <= LARGEST_TRIAL && !pawl_method_ark.info.absent &&
         measure(needs, def, "dopri", CHEAP, &first, &later) && later > CHEAP &&
         measure(needs, def, "ark", later, &implicit_first, &implicit_later) &&
         GAIN * (implicit_first + more * implicit_later) < first + more * later;
}
