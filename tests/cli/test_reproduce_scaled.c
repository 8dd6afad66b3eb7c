// SPDX-License-Identifier: Apache-2.0
// The benchmark in other units: every case of `pawl reproduce` with energies times C (all forces,
// masses, capacities and impulses with them) and times times s. The model is changed after it was
// read, so that nothing but the numbers differs, and every check must pass as it does without: the
// same relative accuracy, the same events.
//
// usage: test_reproduce_scaled C s [PAPER]...
#include "model/model.h"
#include <cli/reproduce.c>
#undef main

typedef struct Units {
  double C, s;
} Units;

// ---- the model ----------------------------------------------------------------------------------
// What a leaf of the old units is in the new ones: t = t_new/s, v = s v_new, lambda = lambda_new/C.
// States and inputs keep their values.
static PawlNode old_leaf(void* context, PawlDag* dag, PawlOp leaf, int index) {
  const Units* u = context;
  double factor = leaf == PAWL_OP_TIME     ? 1.0 / u->s
                  : leaf == PAWL_OP_V      ? u->s
                  : leaf == PAWL_OP_A      ? u->s * u->s
                  : leaf == PAWL_OP_LAMBDA ? 1.0 / u->C
                                           : 1.0;
  PawlNode node = pawl_dag_leaf(dag, leaf, index);
  return factor == 1.0 ? node : pawl_dag_mul(dag, pawl_dag_const(dag, factor), node);
}

static void scale(PawlModel* m, Units u, double factor, PawlNode* node) {
  if (*node == PAWL_NO_NODE) {
    return;
  }
  PawlNode same = pawl_dag_copy(m->dag, m->dag, *node, old_leaf, &u);
  *node = factor == 1.0 ? same : pawl_dag_mul(m->dag, pawl_dag_const(m->dag, factor), same);
}

static void scale_trigger(PawlModel* m, Units u, PawlTrigger* trigger) {
  for (int k = 0; k < trigger->time_count; k++) {
    trigger->times[k] *= u.s;
  }
  trigger->after *= u.s;
  trigger->every *= u.s;
  trigger->offset *= u.s;
  scale(m, u, 1.0, &trigger->when);
}

static void scale_constraint(PawlModel* m, Units u, PawlConstraint* c) {
  for (int k = 0; k < c->mode_count; k++) {
    scale(m, u, 1.0, &c->modes[k].where);
    for (int r = 0; r < c->modes[k].row_count; r++) {
      scale(m, u, c->modes[k].rate ? 1.0 / u.s : 1.0, &c->modes[k].rows[r].node);
    }
  }
  scale(m, u, 1.0, &c->snap_to);
  scale(m, u, u.C, &c->switching->capacity);
  scale(m, u, u.C, &c->switching->friction);
  scale_trigger(m, u, &c->switching->engage);
  scale_trigger(m, u, &c->switching->release);
  c->switching->duration *= u.s;
}

static void scale_model(PawlModel* m, Units u) {
  if (pawl_model_complete(m, NULL) != PAWL_OK) {  // nodes that nobody has asked for yet
    exit(EXIT_FAILURE);
  }
  for (int k = 0; k < m->coordinate_count; k++) {
    m->coordinates[k].rate /= u.s;
  }
  for (int k = 0; k < m->state_count; k++) {
    scale(m, u, 1.0 / u.s, &m->states[k].rate);
  }
  for (int k = 0; k < m->set_count; k++) {
    scale(m, u, 1.0, &m->sets[k].node);
  }
  for (int k = 0; k < m->term_count; k++) {
    bool power = m->terms[k].kind == PAWL_TERM_DISSIPATION;
    scale(m, u, power ? u.C / u.s : u.C, &m->terms[k].node);
  }
  for (int k = 0; k < m->constraint_count; k++) {
    scale_constraint(m, u, &m->constraints[k]);
  }
  for (int k = 0; k < m->contact_count; k++) {
    scale(m, u, 1.0, &m->contacts[k].gap);
    scale(m, u, 1.0, &m->contacts[k].friction);
    for (int i = 0; i < m->contacts[k].slip_count; i++) {
      scale(m, u, 1.0 / u.s, &m->contacts[k].slip[i]);
    }
  }
  for (int k = 0; k < m->event_count; k++) {
    scale_trigger(m, u, &m->events[k].trigger);
  }
  for (int k = 0; k < m->impulse_count; k++) {
    scale(m, u, u.C * u.s, &m->impulses[k].node);
  }
  for (int k = 0; k < m->output_count; k++) {
    scale(m, u, 1.0, &m->outputs[k].node);  // outputs keep their values
  }
}

// atol is one number for coordinates and rates: that of the smaller ones.
static void scale_def(Units u, PawlSimulateDef* def) {
  def->until *= u.s;
  def->step *= u.s;
  def->record *= u.s;
  def->event_tolerance *= u.s;
  def->baumgarte /= u.s;
  def->atol *= fmin(1.0, 1.0 / u.s);
}

// ---- the checks ---------------------------------------------------------------------------------
static bool begins_with(const char* text, const char* start) {
  return strncmp(text, start, strlen(start)) == 0;
}

static double unit_of_column(const PawlModel* m, Units u, const char* name) {
  size_t length = strlen(name);
  for (int k = 0; k < m->output_count; k++) {
    if (strcmp(m->outputs[k].name, name) == 0) {
      return 1.0;
    }
  }
  if (begins_with(name, "lambda(") || begins_with(name, "lambda.smooth(")) {
    return u.C;
  }
  if (begins_with(name, "Lambda(")) {
    return u.C * u.s;
  }
  if (begins_with(name, "nu(")) {
    return u.C * u.s * u.s;
  }
  if (begins_with(name, "energy") || begins_with(name, "kinetic") ||
      begins_with(name, "potential") || begins_with(name, "work.")) {
    return u.C;
  }
  if (strcmp(name, "residual.velocity") == 0 ||
      (length > 1 && name[length - 1] == '\'' && name[length - 2] != '\'')) {
    return 1.0 / u.s;
  }
  return strcmp(name, "residual.acceleration") == 0 || name[length - 1] == '\'' ? 1.0 / (u.s * u.s)
                                                                                : 1.0;
}

static double unit_of(const PawlModel* m, Units u, CaseKind kind, const Check* c) {
  if (kind == CASE_DISTURBED) {
    return c->name ? u.C : 1.0 / (u.s * u.s);
  }
  switch (c->measure) {
    case EVENT_TIME:
    case CLOSED_FROM:
    case CLOSED_UNTIL:
    case QUIET_FROM:
      return u.s;
    case RATE_BEFORE:
    case RATE_AFTER:
      return 1.0 / u.s;
    case ACCELERATION_BEFORE:
    case ACCELERATION_AFTER:
      return 1.0 / (u.s * u.s);
    case ENERGY_LOST:
    case INSTANT_LOST:
    case DRIVE:
      return u.C;
    case IMPULSE:
      return u.C * u.s;
    case VALUE:
    case LARGEST:
    case SUM:
    case LOWEST:
    case MEAN:
    case RISE:
      return unit_of_column(m, u, c->name);
    case INTEGRAL:
      return u.s * unit_of_column(m, u, c->name);
    case EVENT_COUNT:
    case SAW_RATE:
    case SAW_FORCE:
    case SAW_COLUMN:
    case DECAY:
    case ITERATIONS:
    case ORDER_BEFORE:
    case ORDER_WHOLE:
    case ORDER_GRAPH:
    case OUTPUT_BEFORE:
    case OUTPUT_AFTER:
    case OUTPUT_JUMP:
      return 1.0;
  }
  return NAN;
}

static void scale_check(const PawlModel* m, Units u, CaseKind kind, Check* c) {
  double unit = unit_of(m, u, kind, c);
  c->at *= c->measure == IMPULSE ? 1.0 : u.s;  // of IMPULSE a row
  c->reference *= unit;
  c->allowed *= unit;
  c->per_step *= unit / u.s;
}

// ---- running ------------------------------------------------------------------------------------
static void tell(const Trial* t, const char* method, PawlStatus status) {
  for (int k = 0; k < t->c->check_count; k++) {
    const Outcome* o = &t->outcomes[k];
    if (status == PAWL_OK && !o->pass) {
      fprintf(stderr, "FAIL %s: %s: %s: %.11g, not %.11g: off by %.2g, allowed %.2g; C = %g (%g)\n",
              t->c->title, method, t->c->checks[k].what, o->value, t->c->checks[k].reference,
              o->difference, o->allowed, o->constant, t->c->checks[k].per_step);
    }
  }
  if (status != PAWL_OK) {
    fprintf(stderr, "FAIL %s: %s: %s\n", t->c->title, method, t->err.message);
  }
}

static void try_scaled(const Case* c, const char* method, Units u, Report* report) {
  Case scaled = *c;
  Check* checks = calloc((size_t)c->check_count, sizeof *checks);
  Trial t = {.c = &scaled, .outcomes = calloc((size_t)c->check_count, sizeof *t.outcomes)};
  PawlStatus status = checks && t.outcomes ? prepare(&t, method) : PAWL_ERROR_MEMORY;
  if (status == PAWL_OK) {
    memcpy(checks, c->checks, (size_t)c->check_count * sizeof *checks);
    for (int k = 0; k < c->check_count; k++) {
      scale_check(t.model, u, c->kind, &checks[k]);
    }
    scaled.checks = checks;
    scaled.high *= u.s;
    scaled.low *= u.s;
    scale_model(t.model, u);
    scale_def(u, &t.def);
    status = pawl_system_create(t.model, &t.system, &t.err);
  }
  status = status ? status : run_trial(&t);
  for (int k = 0; k < c->check_count; k++) {
    report->checks++;
    report->failed += status != PAWL_OK || !t.outcomes[k].pass;
  }
  tell(&t, method, status);
  trial_destroy(&t);
  free(checks);
}

// Orders are not asked for, which takes long and whose errors the other cases judge. A mean over a
// time in milliseconds cannot be asked for in other units of time.
static bool is_left_out(const Case* c, Units u) {
  bool out = c->kind == CASE_ORDERS;
  for (int k = 0; k < c->check_count; k++) {
    out = out || (c->checks[k].measure == MEAN && u.s != 1.0);
  }
  return out;
}

int main(int argc, char** argv) {
  enum { MOST_PAPERS = 32 };
  bool chosen[MOST_PAPERS] = {false};
  Wishes wishes = {0};
  if (argc < 3 || choose(argc - 3, argv + 3, chosen, &wishes)) {
    fprintf(stderr, "usage: %s C s [PAPER]...\n", argv[0]);
    return 2;
  }
  Units u = {strtod(argv[1], NULL), strtod(argv[2], NULL)};
  Report report = {0};
  for (int p = 0; papers[p]; p++) {
    for (int k = 0; chosen[p] && k < papers[p]->case_count; k++) {
      const Case* c = &papers[p]->cases[k];
      char methods[256], *names[MOST_METHODS];
      snprintf(methods, sizeof methods, "%s", c->methods);
      int count = is_left_out(c, u) ? 0 : study_split(methods, ',', MOST_METHODS, names);
      for (int i = 0; i < count; i++) {
        try_scaled(c, names[i], u, &report);
      }
    }
  }
  printf("%d checks, %d failed\n", report.checks, report.failed);
  return report.failed > 0 || report.checks == 0;
}
