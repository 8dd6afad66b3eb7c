// SPDX-License-Identifier: Apache-2.0
// What is said of rows that follow from others: which were left out, and whose multipliers are not
// unique. (X8) and (X8a) stand in docs/theory/transition.md.
#include <math.h>
#include <string.h>

#include "model/model.h"
#include "switch/dynamics.h"
#include "switch/tolerances.h"
#include "system/system.h"

// Flags equations that follow from others; how many. Contacts under one body share what they
// carry, and their friction too: that is nothing to be warned of.
static int flag_equations(const PawlDynamics* d, const PawlState* state, unsigned char* flags) {
  int count = 0;
  for (int i = 0; i < d->sizes.rows; i++) {
    bool idle = pawl_dynamics_leaves_to_contacts(d, state, i);
    flags[i] =
        state->redundant[i] && !idle && pawl_system_row_kind(d->system, i) == PAWL_ROW_BILATERAL;
    count += flags[i];
  }
  return count;
}

// "redundant constraints: 'b' (row 1) follows"; nothing where there are none.
static void name_redundant(PawlDynamics* d, const PawlState* state, PawlText* text) {
  unsigned char* flags = (unsigned char*)d->room;
  int count = flag_equations(d, state, flags);
  if (count > 0) {
    pawl_text_add(text, "redundant constraints: ");
    pawl_dynamics_list_rows(d, flags, text);
    pawl_text_add(text, count == 1 ? " follows" : " follow");
  }
}

// Whether something holds by a capacity: what follows from others is shared by (V10), then.
static bool holds_by_capacity(const PawlDynamics* d, const PawlState* state) {
  bool any = false;
  for (int c = 0; c < d->system->constraint_count; c++) {
    any = any || (d->system->constraints[c].triggered && d->system->watches[c].capacity >= 0 &&
                  state->modes[c] == PAWL_MODE_HELD);
  }
  return any;
}

// The rows whose multipliers are not unique: those with a part in a combination of rows that is
// nothing. Rows r that were left out are each one of the others, G_r = c G_A; with weights z that
// no rule of the model knows
//   [ M  -G_A^T ] [ x ]   [ G_r^T z ]
//   [ G_A   0   ] [ y ] = [    0    ]     has  x = 0,  y = -c^T z,                          (X8a)
// which is zero where c is. False: nothing was found.
static bool flag_shared(PawlDynamics* d, const PawlState* state, const PawlValues* values,
                        unsigned char* flags) {
  static const double GOLDEN = 0.6180339887498949;  // for the weights
  int m = d->sizes.rows;
  double *length = d->room, *y = length + m, *x = y + m;
  if (pawl_dynamics_factor(d, values, state->active) != PAWL_OK) {
    return false;
  }
  memset(d->room, 0, (size_t)(2 * m + d->sizes.v) * sizeof(double));
  for (int k = 0; k < d->nonzeros_G; k++) {
    length[d->G.index[k]] += values->G[k] * values->G[k];
  }
  for (int j = 0; j < d->sizes.v; j++) {
    for (int k = d->G.start[j]; k < d->G.start[j + 1]; k++) {
      int i = d->G.index[k];
      double z = state->redundant[i] ? 1.0 + fmod(GOLDEN * (i + 1), 1.0) : 0.0;
      x[j] += z > 0.0 && length[i] > 0.0 ? z * values->G[k] / sqrt(length[i]) : 0.0;
    }
  }
  pawl_kkt_solve(d->kkt, x, y);
  for (int i = 0; i < m; i++) {
    bool shared = state->redundant[i] || fabs(y[i]) * sqrt(length[i]) > PAWL_REDUNDANT_PART;
    flags[i] = shared && pawl_system_row_kind(d->system, i) == PAWL_ROW_BILATERAL;
  }
  return true;
}

// "; not unique are the multipliers of 'a' (row 3), 'b' (row 1)"
static void name_shared(PawlDynamics* d, const PawlState* state, const PawlValues* values,
                        PawlText* text) {
  unsigned char* flags = (unsigned char*)(d->room + 2 * d->sizes.rows + d->sizes.v);
  if (flag_shared(d, state, values, flags)) {
    pawl_text_add(text, "; not unique are the multipliers of ");
    (void)pawl_dynamics_list_rows(d, flags, text);
  }
}

static PawlStatus add_redundant(PawlDynamics* d, const PawlState* state, const PawlValues* values,
                                const char* names, PawlError* err) {
  PawlText text = {0};
  pawl_text_printf(&text, "%s%s", d->warning ? d->warning : "", d->warning ? "\n" : "");
  if (d->warning) {
    pawl_text_printf(&text, "t = %.10g: ", state->t);
  }
  pawl_text_printf(
      &text,
      "%s from the others to 1e-6 of their directions: left out, and multipliers are those of "
      "minimum norm%s%s",
      names, holds_by_capacity(d, state) ? ", among capacities in proportion to them" : "",
      d->system->rates_react
          ? ", but rates of states see those of the rows that are left, and 0 of these"
          : "");
  name_shared(d, state, values, &text);
  d->warning = text.failed ? NULL : pawl_arena_copy(d->arena, text.s, text.length);
  pawl_text_free(&text);
  return d->warning ? PAWL_OK : pawl_fail_memory(err);
}

// The rows that follow from others are named once for each set.
PawlStatus pawl_dynamics_warn_redundant(PawlDynamics* d, const PawlState* state,
                                        const PawlValues* values, PawlError* err) {
  enum { MOST_WARNINGS = 8 };
  PawlText names = {0};
  PawlStatus status = PAWL_OK;
  name_redundant(d, state, &names);
  if (names.failed) {
    status = pawl_fail_memory(err);
  } else if (names.s && (!d->warning || !strstr(d->warning, names.s))) {
    status =
        d->warnings++ < MOST_WARNINGS ? add_redundant(d, state, values, names.s, err) : PAWL_OK;
  }
  pawl_text_free(&names);
  return status;
}
