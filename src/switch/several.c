// SPDX-License-Identifier: Apache-2.0
#include "switch/several.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "switch/tolerances.h"
#include "system/system.h"

// Without force in this solution, and without a gap: what it carries in the end is a matter of how
// loads are shared (F28).
static bool only_touches(const PawlGrip* g, const PawlGripIsland* island, int b) {
  int at = island->first + g->block[b].normal;
  return !g->strikes && g->block_state[b] == PAWL_FRICTION_OPEN &&
         fabs(g->w[at]) <= PAWL_ROWS_ROUNDING * g->size[at];
}

// "contact 'p' sticks, 'q' slips"
static void list_contacts(const PawlGrip* g, const PawlGripIsland* island, PawlText* out) {
  enum { MOST_NAMES = 8 };
  static const char* const does[] = {[PAWL_FRICTION_UNKNOWN] = "is left open",
                                     [PAWL_FRICTION_OPEN] = "carries nothing",
                                     [PAWL_FRICTION_STICK] = "sticks",
                                     [PAWL_FRICTION_SLIP] = "slips"};
  for (int i = 0; i < island->blocks && i < MOST_NAMES; i++) {
    int number, b = island->first_block + i, row = g->slip->contact[g->block_of[b]].normal;
    pawl_text_printf(out, "%s'%s' %s", i > 0 ? ", " : "contact ",
                     pawl_system_row_name(g->dynamics->system, row, &number),
                     only_touches(g, island, b) ? "touches" : does[g->block_state[b]]);
  }
  if (island->blocks > MOST_NAMES) {
    pawl_text_printf(out, " and %d more touch", island->blocks - MOST_NAMES);
  }
}

PawlStatus pawl_several_tell(PawlGrip* g, double t, const char* what, PawlError* err) {
  PawlDynamics* d = g->dynamics;
  PawlText text = {0};
  int number;
  if (g->told || g->several < 0) {
    return PAWL_OK;
  }
  g->told = true;
  bool refuse = strcmp(d->def->painleve, "refuse") == 0;
  pawl_text_printf(&text, "t = %.10g: several %s obey the laws of friction%s ", t, what,
                   refuse ? ": in one" : ": taken is the one in which");
  list_contacts(g, &g->island[g->several], &text);
  if (g->critical > 1.0) {
    pawl_text_printf(
        &text, "; '%s' has %.6g times its critical friction (Painleve)",
        pawl_system_row_name(d->system, g->slip->contact[g->critical_of].normal, &number),
        g->critical);
  }
  pawl_text_add(&text, refuse ? "" : " (later ones are not named)");
  PawlStatus status = text.failed ? pawl_fail_memory(err)
                      : refuse    ? pawl_fail(err, PAWL_ERROR_RUN, "%s", text.s)
                                  : pawl_dynamics_warn(d, text.s);
  pawl_text_free(&text);
  return status;
}
