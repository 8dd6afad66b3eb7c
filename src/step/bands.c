// SPDX-License-Identifier: Apache-2.0
#include "step/bands.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/model.h"
#include "step/kinks.h"
#include "switch/tolerances.h"
#include "system/system.h"

struct PawlBands {
  PawlEval* eval;  // switching functions
  int first, count;
  double* z;    // of the kinks at the end of the last step
  double t;     // then; NAN: nothing is known
  bool silent;  // told
};

PawlStatus pawl_bands_create(PawlStepper* s, PawlBands** out, PawlError* err) {
  const PawlSystem* system = s->system;
  *out = NULL;
  if (system->kink_count < 2 || pawl_kinks_wanted(s)) {
    return PAWL_OK;
  }
  PawlBands* b = PAWL_NEW(&s->arena, PawlBands, 1);
  double* z = b ? PAWL_NEW(&s->arena, double, system->kink_count) : NULL;
  if (!z) {
    return pawl_fail_memory(err);
  }
  *b = (PawlBands){.first = system->turn_count, .count = system->kink_count, .z = z, .t = NAN};
  PAWL_TRY(pawl_eval_create(system, PAWL_SURFACES, &b->eval, err));
  *out = b;
  return PAWL_OK;
}

void pawl_bands_destroy(PawlBands* b) {
  if (b) {
    pawl_eval_destroy(b->eval);
  }
}

static bool has_turned(const PawlBands* b, const PawlSystem* system, const double* z, int k) {
  const PawlTurn* turn = &system->turns[b->first + k];
  return turn->felt && !turn->counts && (z[k] > 0.0) != (b->z[k] > 0.0);
}

// Two that turn in one step, with the same way up to its sign, and not at one place: they are the
// ends of a band.                                                                             (K3)
static bool are_ends(const PawlBands* b, const double* z, int i, int j) {
  double way = fabs(z[i] - b->z[i]), other = fabs(z[j] - b->z[j]);
  double width = fabs(fabs(z[i]) - fabs(z[j]));
  return fabs(other - way) <= PAWL_SAME_WAY * way && width > PAWL_SAME_WAY * way;
}

static bool find_band(const PawlBands* b, const PawlSystem* system, const double* z, int ends[2]) {
  for (int i = 0; i < b->count; i++) {
    for (int j = has_turned(b, system, z, i) ? i + 1 : b->count; j < b->count; j++) {
      if (has_turned(b, system, z, j) && are_ends(b, z, i, j)) {
        ends[0] = b->first + i;
        ends[1] = b->first + j;
        return true;
      }
    }
  }
  return false;
}

static PawlStatus warn(PawlStepper* s, double t, const int ends[2], PawlError* err) {
  const PawlModel* model = s->system->model;
  PawlText text = {0};
  pawl_text_printf(&text, "%s has gone beyond both ", s->def.method);
  pawl_model_print(&text, model, s->system->turns[ends[0]].node);
  pawl_text_add(&text, " and ");
  pawl_model_print(&text, model, s->system->turns[ends[1]].node);
  pawl_text_printf(&text,
                   " in the step to t = %.6g s: what acts between them was not felt; a smaller "
                   "step helps, or event-driven",
                   t);
  PawlStatus status = text.failed ? PAWL_ERROR_MEMORY : pawl_dynamics_warn(&s->dynamics, text.s);
  pawl_text_free(&text);
  return status == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
}

PawlStatus pawl_bands_look(PawlStepper* s, double begin, const PawlState* state, PawlError* err) {
  PawlBands* b = s->bands;
  int ends[2] = {0};
  if (b->silent) {
    return PAWL_OK;
  }
  PawlPhase phase = pawl_phase_of(state, false);
  PawlPoint point = pawl_phase_point(&phase, state->t, state->q, state->v, NULL, NULL);
  if (pawl_eval_run(b->eval, &point, NULL) != PAWL_OK) {
    b->t = NAN;  // where the step itself needs no value
    return PAWL_OK;
  }
  const double* z = pawl_eval_values(b->eval)->z + s->system->guard_count + b->first;
  b->silent = b->t == begin && find_band(b, s->system, z, ends);
  memcpy(b->z, z, (size_t)b->count * sizeof(double));
  b->t = state->t;
  return b->silent ? warn(s, state->t, ends, err) : PAWL_OK;
}
