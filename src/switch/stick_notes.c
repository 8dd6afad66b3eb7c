// SPDX-License-Identifier: Apache-2.0
#include "switch/stick_notes.h"

#include "model/model.h"
#include "system/system.h"

// Contacts that press in more places than can be told apart, and slip: how they share their load
// may decide how they are slowed down, which rigid bodies do not say. It is told once.       (F28)
PawlStatus pawl_stick_note_shares(PawlDynamics* d, const unsigned char* group, double t,
                                  PawlError* err) {
  PawlText names = {0}, line = {0};
  (void)pawl_dynamics_list_rows(d, group, &names);
  pawl_text_printf(&line,
                   "t = %.6g: the motion depends on how %s share their load while they slip, which "
                   "rigid bodies do not say: they carry it as springs of the same stiffness would",
                   t, names.s ? names.s : "contacts");
  PawlStatus status = line.s ? pawl_dynamics_warn(d, line.s) : PAWL_ERROR_MEMORY;
  pawl_text_free(&names);
  pawl_text_free(&line);
  return status == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
}

PawlStatus pawl_stick_not_determined(const PawlDynamics* d, const PawlState* state, int row,
                                     PawlError* err) {
  int number;
  return pawl_fail(err, PAWL_ERROR_RUN,
                   "t = %.10g: how contact '%s' shares its load with others that slip is not "
                   "determined: event-driven cannot go on%s",
                   state->t, pawl_system_row_name(d->system, row, &number),
                   d->system->tie_count == 0 ? "; nsga-pva and moreau-jean can"
                                             : ", and friction that hangs on multipliers leaves "
                                               "no other method");
}

PawlStatus pawl_stick_note_loose(PawlStick* s, const PawlState* state, int slips, PawlError* err) {
  PawlText names = {0}, line = {0};
  int number, count = pawl_dynamics_list_rows(s->dynamics, s->spared, &names);
  if (s->spared_told || (count == 0 && slips < 0)) {
    pawl_text_free(&names);
    return PAWL_OK;
  }
  s->spared_told = true;
  pawl_text_printf(&line, "t = %.6g: the motion depends on the load of ", state->t);
  if (count > 0) {
    pawl_text_printf(&line,
                     "%s, which could be any while they slip (rigid bodies do not say): they "
                     "touch and carry nothing (later ones are not named)",
                     names.s ? names.s : "contacts");
  } else {
    pawl_text_printf(&line,
                     "contacts that slip, which could be any (rigid bodies do not say): it "
                     "is taken as that at which contact '%s' begins to slip (later ones are "
                     "not named)",
                     pawl_system_row_name(s->dynamics->system, slips, &number));
  }
  PawlStatus status = line.s ? pawl_dynamics_warn(s->dynamics, line.s) : PAWL_ERROR_MEMORY;
  pawl_text_free(&names);
  pawl_text_free(&line);
  return status == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
}

PawlStatus pawl_stick_note_shared_slip(PawlDynamics* d, const PawlState* state, PawlError* err) {
  PawlSpread* spread = d->slip ? &d->slip->spread : NULL;
  PawlPhase phase = pawl_phase_of(state, false);
  if (!spread || state->redundant_count == 0 || !pawl_slip_any(d->slip, &phase) ||
      !d->slip->spreads || !spread->matters || spread->told) {
    return PAWL_OK;
  }
  spread->told = true;
  (void)pawl_spread_flag(spread);
  return pawl_stick_note_shares(d, spread->group, state->t, err);
}

PawlStatus pawl_stick_tell_rubbing(PawlStick* s, double t, int constraint, PawlError* err) {
  if (s->rubs_told) {
    return PAWL_OK;
  }
  PawlText line = {0};
  pawl_text_printf(
      &line,
      "t = %.6g: '%s' lets go beside a closed contact with friction, which time stepping knows as "
      "a mean over a step: when it does so, and with what force it slides while nothing moves, may "
      "not be what rigid bodies do; event-driven has both in one problem",
      t, s->dynamics->system->constraints[constraint].name);
  PawlStatus status = line.s ? pawl_dynamics_warn(s->dynamics, line.s) : PAWL_ERROR_MEMORY;
  pawl_text_free(&line);
  s->rubs_told = true;
  return status == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
}

PawlStatus pawl_stick_note_rubbing(PawlStick* s, const PawlState* state, PawlError* err) {
  int slides = -1;
  for (int k = 0; s->rubs && k < s->watching->joint_count; k++) {
    bool lets_go = s->was[k] && state->modes[s->watching->joints[k]] >= PAWL_MODE_UP;
    slides = lets_go && slides < 0 ? s->watching->joints[k] : slides;
  }
  return slides < 0 ? PAWL_OK : pawl_stick_tell_rubbing(s, state->t, slides, err);
}
