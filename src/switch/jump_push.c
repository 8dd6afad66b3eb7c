// SPDX-License-Identifier: Apache-2.0
// Instants at which no mode is asked for: impulsive forces, and what events set.
#include <assert.h>
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/hold.h"
#include "switch/jump_impl.h"
#include "switch/modes.h"
#include "switch/tolerances.h"
#include "system/system.h"

// ---- impulsive forces ---------------------------------------------------------------------------
// M dv = G^T Lambda + U over the rows in force that carry impulses.                          (X11)
static PawlStatus push_velocities(PawlJump* j, PawlState* state, const PawlValues* values,
                                  const double* U, PawlError* err) {
  PawlDynamics* d = j->dynamics;
  (void)pawl_jump_list_added(j, state);
  (void)pawl_jump_leave_out_joints(j, state);
  d->info.factorizations++;
  PawlStatus status = pawl_transition_push(j->transition, values->M, values->G, j->persistent,
                                           j->set, state->v, values->g_t, U, j->dv, j->impulse);
  return pawl_jump_add(j, status, state, values, err);
}

PawlStatus pawl_jump_push(PawlJump* j, PawlState* state, const double* U, int event,
                          PawlError* err) {
  const PawlValues* values;
  bool slides;
  double after;
  PAWL_TRY(pawl_jump_clean_rates(j, state, state->modes, err));
  pawl_jump_keep(j, state);
  PAWL_TRY(pawl_jump_evaluate(j, state, &values, err));
  double before = values->energy[0] + values->energy[1];
  pawl_jump_clear_impulses(j);
  PAWL_TRY(push_velocities(j, state, values, U, err));
  pawl_jump_slide(j, state, values, &slides);
  if (slides) {
    PAWL_TRY(pawl_jump_evaluate(j, state, &values, err));
    PAWL_TRY(pawl_jump_reduce(j, state, values, err));
  }
  PAWL_TRY(pawl_jump_settle_after(j, state, &after, err));
  double lost = before - after - pawl_jump_loss_of_contacts(j, state);
  PAWL_TRY(pawl_log_push(j->log, state, event, j->before->v, U, j->impulse, lost, err));
  return pawl_jump_log_rest(j, state, err);
}

// ---- states and inputs --------------------------------------------------------------------------
static void assign(const PawlJump* j, PawlState* state, const PawlEventDef* event) {
  const PawlSystem* system = j->dynamics->system;
  for (int k = event->first_set; k < event->first_set + event->set_count; k++) {
    const PawlSet* set = &system->model->sets[k];
    double* target = set->coordinate >= 0 ? &state->v[set->coordinate]
                                          : &pawl_phase_inputs(state, system)[set->input];
    *target = j->guards->assign_values[k];
  }
}

// A clock that ticks all the time is not logged, but where it changes the energy.
static PawlStatus log_assigned(PawlJump* j, const PawlState* state, double lost, PawlError* err) {
  const PawlModel* model = j->dynamics->system->model;
  const PawlGuards* g = j->guards;
  bool logged = false;
  for (int k = 0; k < g->assign_count; k++) {
    if (model->events[g->assigns[k]].trigger.every == 0.0) {
      PAWL_TRY(
          pawl_log_assign(j->log, state, g->assigns[k], j->before->v, logged ? 0.0 : lost, err));
      logged = true;
    }
  }
  int event = g->assign_count > 0 ? g->assigns[0] : -1;
  return logged || lost == 0.0 ? PAWL_OK
                               : pawl_log_assign(j->log, state, event, j->before->v, lost, err);
}

PawlStatus pawl_jump_assign(PawlJump* j, PawlState* state, PawlError* err) {
  const PawlSystem* system = j->dynamics->system;
  const PawlValues* values;
  double after;
  PAWL_TRY(pawl_jump_clean_rates(j, state, state->modes, err));
  pawl_jump_keep(j, state);
  PAWL_TRY(pawl_jump_evaluate(j, state, &values, err));
  double before = values->energy[0] + values->energy[1];
  for (int k = 0; k < j->guards->assign_count; k++) {
    assign(j, state, &system->model->events[j->guards->assigns[k]]);
  }
  pawl_jump_clear_impulses(j);
  PAWL_TRY(pawl_jump_settle_after(j, state, &after, err));
  double met = pawl_jump_loss_of_contacts(j, state), lost = before - after - met;
  bool rounds = met != 0.0 && fabs(lost) <= PAWL_ROUNDING * (fabs(before) + fabs(met));
  PAWL_TRY(log_assigned(j, state, rounds ? 0.0 : lost, err));
  return pawl_jump_log_rest(j, state, err);
}
