// SPDX-License-Identifier: Apache-2.0
// The equations of motion in the forms that explicit methods integrate
// (docs/theory/motion-forms.md):
//
//   index-1    [M -G^T; G 0] [v'; lambda] = [f; -gamma], by the KKT solver
//   projected  v' = M^-1 N^T f - G_M^+ gamma, with the null space projector N in the metric of M
//   minimal    F^T M F s'' = F^T (f - M b), with independent velocities s'
//
// In the minimal form the dependent coordinates and velocities are found from the constraints at
// every point; in the others the end of a step is moved onto the constraints. So positions do not
// drift. A method calls pawl_forms_load at the beginning of a step, pawl_forms_begin,
// pawl_forms_accelerate for each stage, pawl_forms_arrive for its end, and pawl_forms_save when it
// succeeds.
#pragma once

#include "step/method.h"
#include "step/project.h"

typedef enum PawlFormKind {
  PAWL_FORM_INDEX_1,
  PAWL_FORM_PROJECTED,
  PAWL_FORM_MINIMAL,
} PawlFormKind;

typedef struct PawlReduced PawlReduced;

typedef struct PawlForms {
  PawlFormKind kind;
  PawlEval* eval;        // M, f, G, gamma
  PawlReduced* reduced;  // workspace of the other forms; NULL for index-1
  PawlPhase phase;       // of the step under way
  PawlProjection onto;   // of index-1 and projected
  int apart;             // steps to come whose projection is made before v' and lambda; -1: none,
                         // and `change` is a guess of the next
  bool guesses;          // steps of this length are guessed from the last
  double *change, *v_change;  // v: by how much the projection has moved q and v; NULL: no guesses
} PawlForms;

// The form is stepper->def.form; PAWL_ERROR_USAGE with the list for an unknown word. Allocates from
// the stepper's arena.
PAWL_CHECKED PawlStatus pawl_forms_create(PawlStepper* s, PawlForms* forms, PawlError* err);
void pawl_forms_destroy(PawlForms* forms);

// The choice of dependent velocities is part of a state, so that equal states go on equally: its
// `memory` begins with one number for each row, 0 or 1 + the dependent velocity that stands for it.
// In the other forms the first of them is `apart`, and behind the rows are `change` and `v_change`
// where the method states memory_vectors = 2; it states memory_rows = 1.
void pawl_forms_start(const PawlStepper* s, PawlState* state);  // forgets the choice

// Takes over the phase of a step of length h and the choice of a state, or none; and puts the
// choice back.
void pawl_forms_load(const PawlStepper* s, PawlForms* forms, const PawlPhase* phase,
                     const PawlState* state, double h);
void pawl_forms_save(const PawlStepper* s, const PawlForms* forms, PawlState* state);

PAWL_CHECKED PawlStatus pawl_forms_choose(PawlStepper* s, PawlForms* forms, double t,
                                          const double* q, const double* v, PawlError* err);
PAWL_CHECKED PawlStatus pawl_forms_reduced(PawlStepper* s, PawlForms* forms, double t, double* q,
                                           double* v, double* a, double* lambda, PawlError* err);

// Before a step from (t, q, v), which is on the constraints: in the minimal form chooses
// independent velocities, when there are none or the last are worn out.
static inline PawlStatus pawl_forms_begin(PawlStepper* s, PawlForms* forms, double t,
                                          const double* q, const double* v, PawlError* err) {
  return forms->kind == PAWL_FORM_MINIMAL ? pawl_forms_choose(s, forms, t, q, v, err) : PAWL_OK;
}

// v' and lambda at (t, q, v). In the minimal form q and v are put on the constraints first, by
// moving dependent ones alone. PAWL_RETRY: singular, outside a domain, or too far off the
// constraints.
static inline PawlStatus pawl_forms_accelerate(PawlStepper* s, PawlForms* forms, double t,
                                               double* q, double* v, double* a, double* lambda,
                                               PawlError* err) {
  if (forms->kind != PAWL_FORM_INDEX_1) {
    return pawl_forms_reduced(s, forms, t, q, v, a, lambda, err);
  }
  PawlPoint point = pawl_phase_point(&forms->phase, t, q, v, NULL, NULL);
  s->dynamics.info.evaluations++;
  PAWL_TRY(pawl_method_run(s, &forms->phase, forms->eval, &point, err));
  return pawl_dynamics_accelerate(&s->dynamics, &forms->phase, pawl_eval_values(forms->eval), t, q,
                                  v, a, lambda, err);
}

// The same at the end of a step, where q and v are put on the constraints in every form. Needs a
// stage near by just before: its matrix serves the projection.
PAWL_CHECKED PawlStatus pawl_forms_arrive(PawlStepper* s, PawlForms* forms, double t, double* q,
                                          double* v, double* a, double* lambda, PawlError* err);
// The rest of it, from where v' and lambda have been computed at the end, moved by the guess if
// there is one, with more off than they serve for.
PAWL_CHECKED PawlStatus pawl_forms_arrive_off(PawlStepper* s, PawlForms* forms, double t, double* q,
                                              double* v, double* a, double* lambda, PawlError* err);
