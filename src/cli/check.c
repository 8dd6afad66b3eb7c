// SPDX-License-Identifier: Apache-2.0
// pawl check: what a model amounts to and whether it can start.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/spectra.h"

static const Option options[] = {
    {"-p", "NAME=VALUE", "set a parameter of the model; VALUE may be an expression, or [a, b]",
     VALUE_TEXT, true},
    {"--project", NULL, "check the start after moving it onto the constraints", VALUE_NONE, true},
    {"--keep", "NAMES", "coordinates and rates that --project leaves as they are: \"x, phi'\"",
     VALUE_TEXT, true},
    {"--json", NULL, "print one JSON object on standard output", VALUE_NONE, true},
    {"--strict", NULL, "warnings make the exit code 1", VALUE_NONE, true},
    {"--limits", NULL, "of a robot in URDF: make stops of the limits of joints", VALUE_NONE, false},
    {"--floating", NULL, "of a robot in URDF: let the base move freely", VALUE_NONE, false},
    {0}};

// A set of modes met along the run.
enum { MOST_SETS = 16 };
typedef struct ModeSet {
  int* modes;
  int freedoms;
  double t;  // met first [s]
} ModeSet;

// A change of topology met along the run, the first of its kind.
typedef struct Change {
  int *from, *to;
  double t;  // [s]
  PawlFreedom before, after;
} Change;

static const PawlError no_memory = {PAWL_ERROR_MEMORY, "out of memory"};

// Follows the run and looks at every state and every switch.
typedef struct Watch {
  PawlVerifier* verifier;
  const PawlSystem* system;
  const PawlSim* sim;
  int switches;
  int set_count;  // of those kept
  bool more;      // sets than are kept
  ModeSet sets[MOST_SETS];
  int change_count;  // of those kept
  Change changes[MOST_SETS];
  PawlStatus status;
  PawlError err;
  PawlError around;  // what is wrong with regions away from the run; no message: nothing
} Watch;

// Turns (counts of periods) do not make a set of their own.
static void keep_set(Watch* w) {
  const PawlState* state = pawl_sim_state(w->sim);
  for (int k = 0; k < w->set_count; k++) {
    if (pawl_system_same_modes(w->system, w->sets[k].modes, state->modes)) {
      return;
    }
  }
  size_t all = (size_t)pawl_system_sizes(w->system).modes * sizeof(int);
  if (w->set_count == MOST_SETS) {
    w->more = true;
    return;
  }
  int* modes = malloc(all + 1);
  if (!modes) {
    w->err = no_memory;
    w->status = PAWL_ERROR_MEMORY;
    return;
  }
  memcpy(modes, state->modes, all);
  PawlSizes n = pawl_system_sizes(w->system);
  int rows = pawl_system_rows_in_force(w->system, state->modes) -
             pawl_stepper_info(pawl_sim_stepper(w->sim)).redundant_rows;
  w->sets[w->set_count++] = (ModeSet){modes, n.v - n.states - rows, state->t};
}

// Mueller's Definition 1, once for each pair of sets.
static PawlStatus judge_change(Watch* w, const PawlInstant* i) {
  PawlSizes n = pawl_system_sizes(w->system);
  size_t bytes = (size_t)n.modes * sizeof(int);
  bool quiet = i->contact >= 0 || i->event >= 0 || i->refused >= 0 ||
               pawl_system_same_modes(w->system, i->from, i->to);
  for (int k = 0; k < w->change_count; k++) {
    quiet |= pawl_system_same_modes(w->system, w->changes[k].from, i->from) &&
             pawl_system_same_modes(w->system, w->changes[k].to, i->to);
  }
  if (quiet || w->change_count == MOST_SETS || n.v > PAWL_FREEDOM_MOST) {
    return PAWL_OK;
  }
  Change change = {.from = malloc(bytes + 1), .to = malloc(bytes + 1), .t = i->t};
  PawlStatus status = change.from && change.to ? PAWL_OK : PAWL_ERROR_MEMORY;
  PawlError reason = no_memory;
  if (status == PAWL_OK) {
    memcpy(change.from, i->from, bytes);
    memcpy(change.to, i->to, bytes);
    status = pawl_verify_freedom(w->system, i->t, i->q, i->from, &change.before, &reason);
    status =
        status ? status : pawl_verify_freedom(w->system, i->t, i->q, i->to, &change.after, &reason);
  }
  if (status == PAWL_OK) {
    w->changes[w->change_count++] = change;
    return PAWL_OK;
  }
  free(change.from);
  free(change.to);
  w->err = reason;
  return status == PAWL_ERROR_MEMORY ? status : PAWL_OK;  // where nothing can be said, nothing is
}

static int watch_step(void* context, double t, double until) {
  Watch* w = context;
  const PawlStepper* stepper = pawl_sim_stepper(w->sim);
  (void)t;
  (void)until;
  for (int k = 0; w->status == PAWL_OK && k < pawl_stepper_instants(stepper); k++) {
    w->switches++;
    w->status = pawl_verify_switch(w->verifier, pawl_stepper_instant(stepper, k), &w->err);
    w->status = w->status ? w->status : judge_change(w, pawl_stepper_instant(stepper, k));
  }
  if (w->status == PAWL_OK) {
    w->status = pawl_verify_regions(w->verifier, pawl_sim_state(w->sim), &w->err);
  }
  keep_set(w);
  return w->status != PAWL_OK;
}

// Runs the model to its end by the method that is best for it; problems go to `err`.
static PawlStatus follow(const PawlSystem* system, PawlSimDef def, Watch* w, PawlError* err) {
  PawlSim* sim = NULL;
  w->system = system;
  def.simulate.method = "auto";
  PawlStatus status = pawl_verifier_create(system, &w->verifier, err);
  status = status ? status : pawl_sim_create(system, &def, &sim, err);
  w->sim = sim;
  if (status == PAWL_OK) {
    keep_set(w);
    status = w->status;
  }
  if (status == PAWL_OK) {
    status = pawl_sim_run(sim, watch_step, w, err);
  }
  if (status == PAWL_OK &&
      pawl_verify_around(w->verifier, pawl_sim_state(sim), &w->around) == PAWL_OK) {
    w->around.message[0] = '\0';
  }
  if (w->status != PAWL_OK) {
    status = w->status;
    *err = w->err;
  }
  pawl_sim_destroy(sim);
  pawl_verifier_destroy(w->verifier);
  return status;
}

// What linear models have, for each set of modes.
typedef struct Spectra {
  const PawlSystem* system;
  int count;
  int* modes[MOST_SETS];
  PawlSpectrum* list[MOST_SETS];
  PawlEquilibrium* rest;  // of a model that is not linear; NULL: none was found
  PawlSpectrum* about;    // small motions there
} Spectra;

typedef struct Findings {
  PawlSizes n;
  PawlSystemInfo info;
  double derive_seconds;
  int rows;  // bilateral, in force at the start
  int redundant;
  int rate_rows;              // of rate equations, in force and not redundant
  unsigned char* integrable;  // of each row; NULL: no rate equations
  const char* problem;        // NULL: none
  const char* warning;
  const Watch* along;  // the run; NULL: the model does not switch
  const PawlSim* sim;  // NULL when the start failed
  const Spectra* spectra;
  PawlSummary summary;
  const PawlState* state;  // NULL when the start failed
  const double* lambda;
} Findings;

// A change is regular where its configuration is a regular point before and after.
static bool is_regular(const Change* c) {
  return c->before.regular && c->after.regular;
}

static void print_along(const PawlSystem* system, const Findings* f) {
  const Watch* w = f->along;
  char text[200];
  printf("switches            %d along the run; %s\n", w->switches,
         f->problem                     ? "see the message"
         : pawl_system_switches(system) ? "regions cover it, branches meet, surfaces are crossed"
                                        : "each was taken");
  for (int k = 0; k < w->set_count; k++) {
    put_modes(system, w->sets[k].modes, text, sizeof text);
    printf("%-19s %d degree%s of freedom%s%s (from t = %.6g s)\n", k == 0 ? "modes" : "",
           w->sets[k].freedoms, w->sets[k].freedoms == 1 ? "" : "s", text[0] ? ": " : "", text,
           w->sets[k].t);
  }
  if (w->more) {
    printf("%-19s and more\n", "");
  }
  for (int k = 0; k < w->change_count; k++) {
    const Change* c = &w->changes[k];
    printf("%-19s %s at t = %.6g s: degrees of freedom %d -> %d (local), %d -> %d (differential)\n",
           k == 0 ? "changes" : "", is_regular(c) ? "regular" : "singular", c->t, c->before.local,
           c->after.local, c->before.differential, c->after.differential);
  }
}

// ---- linear models ------------------------------------------------------------------------------
// Calls `visit` for each set of modes that has rows of its own; only the first MOST_SETS.
static PawlStatus each_set(const PawlSystem* system,
                           PawlStatus (*visit)(void* context, const int* modes, PawlError* err),
                           void* context, PawlError* err) {
  int count = pawl_system_constraint_count(system);
  int* modes = calloc((size_t)pawl_system_sizes(system).modes + 1, sizeof(int));
  PawlStatus status = modes ? PAWL_OK : PAWL_ERROR_MEMORY;
  if (!modes) {
    *err = no_memory;
  }
  for (int set = 0; status == PAWL_OK && set < MOST_SETS; set++) {
    status = visit(context, modes, err);
    int c = 0;
    while (c < count && ++modes[c] >= pawl_system_mode_count(system, c)) {
      modes[c++] = 0;
    }
    if (c == count) {
      break;
    }
  }
  free(modes);
  return status;
}

static PawlStatus add_spectrum(void* context, const int* modes, PawlError* err) {
  Spectra* x = context;
  size_t bytes = (size_t)pawl_system_sizes(x->system).modes * sizeof(int);
  PawlSpectrum* spectrum = NULL;
  PawlStatus status = pawl_spectrum_create(x->system, modes, 0.0, &spectrum, err);
  if (status != PAWL_OK) {
    return status;
  }
  int* copy = malloc(bytes + 1);
  if (!copy) {
    pawl_spectrum_destroy(spectrum);
    *err = no_memory;
    return PAWL_ERROR_MEMORY;
  }
  memcpy(copy, modes, bytes);
  x->modes[x->count] = copy;
  x->list[x->count++] = spectrum;
  return PAWL_OK;
}

// Of few constraints every set of modes, of many, and with kinks, those that the run has met.
// Nonlinear models have
// no spectrum, and nothing is said then: the only failure is PAWL_ERROR_MEMORY.
static PawlStatus find_spectra(const Watch* along, Spectra* x, PawlError* err) {
  enum { MOST_ENGAGING = 3 };
  PawlError reason = {0};
  int engaging = pawl_system_kinked(x->system) ? MOST_ENGAGING + 1 : 0;
  for (int c = 0; c < pawl_system_constraint_count(x->system); c++) {
    engaging += pawl_system_mode_count(x->system, c) > 1;
  }
  PawlStatus status = PAWL_OK;
  if (engaging <= MOST_ENGAGING || !along) {
    status = each_set(x->system, add_spectrum, x, &reason);
  }
  for (int k = 0; engaging > MOST_ENGAGING && along && status == PAWL_OK && k < along->set_count;
       k++) {
    status = add_spectrum(x, along->sets[k].modes, &reason);
  }
  if (status == PAWL_ERROR_MEMORY) {
    *err = reason;
  }
  return status == PAWL_ERROR_MEMORY ? status : PAWL_OK;
}

static void show_spectra(const Spectra* x, Json* json) {
  for (int k = 0; k < x->count; k++) {
    if (json) {
      put_spectrum(json, x->system, x->modes[k], x->list[k]);
    } else {
      print_spectrum(x->system, x->modes[k], x->list[k], "linear");
    }
  }
}

// A model that is not linear is looked at where it can rest; nothing is said when it cannot, or is
// too large. The only failure is PAWL_ERROR_MEMORY.
static PawlStatus find_rest(Spectra* x, PawlError* err) {
  enum { MOST_THAT_RUB = 64 };  // slips of contacts: a heap rests by friction, if it does
  PawlError reason = {0};
  int rub = 0;
  for (int i = 0; i < pawl_system_sizes(x->system).rows; i++) {
    rub += pawl_system_row_kind(x->system, i) == PAWL_ROW_FRICTION;
  }
  if (x->count > 0 || pawl_system_sizes(x->system).v > PAWL_SPECTRUM_MOST || rub > MOST_THAT_RUB) {
    return PAWL_OK;
  }
  PawlStatus status = pawl_equilibrium_find(x->system, NULL, &x->rest, &reason);
  status = status ? status : pawl_spectrum_at(x->system, x->rest, &x->about, &reason);
  if (status == PAWL_ERROR_MEMORY) {
    *err = reason;
  }
  return status == PAWL_ERROR_MEMORY ? status : PAWL_OK;
}

static void print_rest(const Spectra* x) {
  enum { MOST_SHOWN = 6 };
  int count = pawl_system_sizes(x->system).q;
  if (!x->about) {
    return;
  }
  printf("can rest at         ");
  for (int k = 0; k < count && k < MOST_SHOWN; k++) {
    printf("%s%s = %.6g", k ? ", " : "", pawl_system_coordinate_name(x->system, k),
           x->rest->point.q[k]);
  }
  printf("%s%s\n", count > MOST_SHOWN ? ", ...; pawl equilibrium has all" : "",
         contacts_rub(x->system) ? "; without friction of contacts" : "");
  print_spectrum(x->system, x->rest->point.modes, x->about, "small motions");
}

static void free_spectra(Spectra* x) {
  pawl_spectrum_destroy(x->about);
  pawl_equilibrium_destroy(x->rest);
  for (int k = 0; k < x->count; k++) {
    free(x->modes[k]);
    pawl_spectrum_destroy(x->list[k]);
  }
}

// ---- rate equations -----------------------------------------------------------------------------
// The slip of a contact that sticks is none: it counts as little as the contact does.
static bool is_rate_equation(const PawlSystem* system, int row, const int* modes) {
  return pawl_system_row_is_rate(system, row, modes) &&
         pawl_system_row_kind(system, row) != PAWL_ROW_FRICTION;
}

// Counts those in force at the start and finds which of them follow from equations between
// coordinates. The only failure is PAWL_ERROR_MEMORY.
static PawlStatus find_rates(const PawlSystem* system, Findings* f, PawlError* err) {
  const PawlState* state = f->state;
  for (int i = 0; state && i < f->n.rows; i++) {
    f->rate_rows += state->active[i] && is_rate_equation(system, i, state->modes);
  }
  if (f->rate_rows == 0) {
    return PAWL_OK;
  }
  f->integrable = calloc((size_t)f->n.rows, 1);
  PawlError reason = no_memory;
  PawlStatus status = f->integrable ? pawl_verify_integrable(system, state->t, state->q,
                                                             state->modes, f->integrable, &reason)
                                    : PAWL_ERROR_MEMORY;
  if (status == PAWL_ERROR_MEMORY) {
    *err = reason;
  }
  return status == PAWL_ERROR_MEMORY ? status : PAWL_OK;
}

static void print_rates(const PawlSystem* system, const Findings* f) {
  for (int i = 0; f->integrable && i < f->n.rows; i++) {
    int number;
    const char* name = pawl_system_row_name(system, i, &number);
    if (f->integrable[i] && is_rate_equation(system, i, f->state->modes)) {
      printf(
          "integrable          rate equation '%s' (row %d): it is the derivative of an equation\n"
          "                    between coordinates; with equation: positions could not drift\n",
          name, number + 1);
    }
  }
}

static void put_rates(const PawlSystem* system, const Findings* f, Json* json) {
  json_open(json, "integrable", '[');
  for (int i = 0; f->integrable && i < f->n.rows; i++) {
    int number;
    const char* name = pawl_system_row_name(system, i, &number);
    if (f->integrable[i] && is_rate_equation(system, i, f->state->modes)) {
      json_open(json, NULL, '{');
      json_text(json, "constraint", name);
      json_whole(json, "row", number + 1);
      json_close(json, '}');
    }
  }
  json_close(json, ']');
}

static bool is_located(const PawlSim* sim) {
  return strcmp(pawl_stepper_def(pawl_sim_stepper(sim))->method, "event-driven") == 0;
}

static void print_findings(const PawlSystem* system, const Findings* f) {
  enum { MOST_SHOWN = 12 };
  printf("model               %s\n", pawl_system_name(system));
  printf("coordinates         %d\n", f->n.q - f->n.states);
  if (f->n.states > 0) {
    printf("states              %d with a rate\n", f->n.states);
  }
  if (f->n.inputs > 0) {
    printf("inputs              %d, with states that have no rate\n", f->n.inputs);
  }
  printf("constraint rows     %d, contacts included%s\n", f->n.rows,
         f->redundant ? " (some redundant)" : "");
  if (f->state) {
    int freedoms = f->n.v - f->n.states - f->rows + f->redundant;
    if (f->rate_rows > 0) {
      printf("degrees of freedom  %d of position, %d of velocity: %d rate equation%s\n",
             freedoms + f->rate_rows, freedoms, f->rate_rows, f->rate_rows == 1 ? "" : "s");
    } else {
      printf("degrees of freedom  %d\n", freedoms);
    }
    print_rates(system, f);
    printf("start               position residual %.3g, velocity residual %.3g\n",
           f->summary.residual[0], f->summary.residual[1]);
    printf("energy              %.10g J\n", f->summary.energy_start);
  }
  printf(
      "equations           %d group%s of terms, largest with %d lanes; nonzeros: mass and "
      "tangents %d, gradient %d\n",
      f->info.groups, f->info.groups == 1 ? "" : "s", f->info.largest_lanes, f->info.nonzeros_H,
      f->info.nonzeros_G);
  printf("derived in          %.3g ms\n", 1e3 * f->derive_seconds);
  if (f->sim) {
    char method[64];
    printf("method              %s (%s)\n",
           method_label(pawl_stepper_def(pawl_sim_stepper(f->sim)), method, sizeof method),
           method_reason(f->sim));
    printf("factorisation       %s\n", pawl_stepper_factorization(pawl_sim_stepper(f->sim)));
  }
  int along;
  double k_used, k_least;
  if (f->sim && pawl_stepper_normal_form(pawl_sim_stepper(f->sim), &along, &k_used, &k_least)) {
    printf("projection          normal form along %s, k = %.6g; Lemma 1 asks for more than %.6g\n",
           pawl_system_coordinate_name(system, along), k_used, k_least);
  }
  int moving = f->n.v - f->n.states;
  if (f->sim && contacts_rub(system) && !is_located(f->sim)) {
    printf(
        "accelerations       and multipliers without contacts that rub: time stepping finds these "
        "in its\n                    first step\n");
  }
  for (int k = 0; f->state && f->n.q != f->n.v && k < moving && k < MOST_SHOWN; k++) {
    bool is_rate;
    const char* name = pawl_system_velocity_name(system, k, &is_rate);
    printf("%-19s rate %.9g, acceleration %.9g\n", name ? name : "v", f->state->v[k],
           f->state->a[k]);
  }
  for (int k = 0; f->state && f->n.q == f->n.v && k < moving && k < MOST_SHOWN; k++) {
    printf("%-19s start %.9g, rate %.9g, acceleration %.9g\n",
           pawl_system_coordinate_name(system, k), f->state->q[k], f->state->v[k], f->state->a[k]);
  }
  for (int k = moving; f->state && k < f->n.v && k < moving + MOST_SHOWN; k++) {
    printf("%-19s start %.9g, rate %.9g\n",
           pawl_system_coordinate_name(system, k + f->n.q - f->n.v), f->state->v[k],
           f->state->a[k]);
  }
  for (int k = 0; k < f->n.inputs && k < MOST_SHOWN; k++) {
    printf("%-19s start %.9g\n", pawl_system_input_name(system, k),
           pawl_system_input_start(system, k));
  }
  for (int k = 0; f->state && k < f->n.rows && k < MOST_SHOWN; k++) {
    int number;
    const char* name = pawl_system_row_name(system, k, &number);
    printf("%s (row %d)  multiplier %.9g\n", name, number + 1, f->lambda[k]);
  }
  if (f->along) {
    print_along(system, f);
  }
  show_spectra(f->spectra, NULL);
  print_rest(f->spectra);
  printf("%s\n", f->problem ? "NOT READY: see the message" : "ready to run");
}

static void print_json(const PawlSystem* system, const Findings* f, const Projection* projection,
                       int code) {
  Json json = {stdout, 0, true};
  json_open(&json, NULL, '{');
  json_text(&json, "model", pawl_system_name(system));
  json_status(&json, code);
  json_whole(&json, "coordinates", f->n.q - f->n.states);
  json_whole(&json, "states", f->n.states);
  json_whole(&json, "inputs", f->n.inputs);
  json_whole(&json, "constraint_rows", f->n.rows);
  json_whole(&json, "groups", f->info.groups);
  json_whole(&json, "largest_lanes", f->info.largest_lanes);
  json_number(&json, "derive_seconds", f->derive_seconds);
  json_bool(&json, "ready", !f->problem);
  projection_json(projection, &json);
  if (f->sim) {
    json_text(&json, "method", pawl_stepper_def(pawl_sim_stepper(f->sim))->method);
    json_text(&json, "factorisation", pawl_stepper_factorization(pawl_sim_stepper(f->sim)));
    json_text(&json, "method_reason", method_reason(f->sim));
    int along;
    double k, k_c;
    if (pawl_stepper_normal_form(pawl_sim_stepper(f->sim), &along, &k, &k_c)) {
      json_open(&json, "normal_form", '{');
      json_text(&json, "along", pawl_system_coordinate_name(system, along));
      json_number(&json, "k", k);
      json_number(&json, "k_c", k_c);
      json_close(&json, '}');
    }
  }
  if (f->state) {
    json_whole(&json, "redundant_rows", f->redundant);
    json_whole(&json, "degrees_of_freedom", f->n.v - f->n.states - f->rows + f->redundant);
    json_whole(&json, "degrees_of_freedom_position",
               f->n.v - f->n.states - f->rows + f->redundant + f->rate_rows);
    put_rates(system, f, &json);
    json_number(&json, "position_residual", f->summary.residual[0]);
    json_number(&json, "velocity_residual", f->summary.residual[1]);
    json_number(&json, "energy", f->summary.energy_start);
  }
  json_whole(&json, "switches", f->along ? f->along->switches : -1);
  json_open(&json, "modes", '[');
  for (int k = 0; f->along && k < f->along->set_count; k++) {
    char text[200];
    put_modes(system, f->along->sets[k].modes, text, sizeof text);
    json_open(&json, NULL, '{');
    json_text(&json, "modes", text);
    json_whole(&json, "degrees_of_freedom", f->along->sets[k].freedoms);
    json_number(&json, "from", f->along->sets[k].t);
    json_close(&json, '}');
  }
  json_close(&json, ']');
  json_open(&json, "changes", '[');
  for (int k = 0; f->along && k < f->along->change_count; k++) {
    const Change* c = &f->along->changes[k];
    json_open(&json, NULL, '{');
    json_number(&json, "t", c->t);
    json_bool(&json, "regular", is_regular(c));
    json_whole(&json, "local_before", c->before.local);
    json_whole(&json, "local_after", c->after.local);
    json_whole(&json, "differential_before", c->before.differential);
    json_whole(&json, "differential_after", c->after.differential);
    json_close(&json, '}');
  }
  json_close(&json, ']');
  json_open(&json, "linear", '[');
  show_spectra(f->spectra, &json);
  json_close(&json, ']');
  json_open(&json, "small_motions", '[');
  if (f->spectra->about) {
    put_spectrum(&json, system, f->spectra->rest->point.modes, f->spectra->about);
  }
  json_close(&json, ']');
  json_text(&json, "problem", f->problem ? f->problem : "");
  json_text(&json, "warning", f->warning);
  json_close(&json, '}');
}

// The model is judged, not the method: where that one cannot run it, another begins, and what the
// first says is a warning.
static PawlStatus begin(const PawlSystem* system, PawlSimDef* def, PawlSim** sim, PawlError* err) {
  PawlStatus status = pawl_sim_create(system, def, sim, err);
  if (status != PAWL_ERROR_USAGE || !pawl_method_find(def->simulate.method) ||
      !pawl_method_find(def->simulate.smooth)) {
    return status;
  }
  PawlError first = *err;
  PawlSimulateDef simulate = def->simulate;
  def->simulate.method = "auto";
  status = pawl_sim_create(system, def, sim, err);
  if (status == PAWL_ERROR_USAGE) {  // it was not the method
    def->simulate = simulate;
    *err = first;
  } else {
    warn(first.message);
  }
  return status;
}

static int check(const Arguments* a, const PawlModel* model, const PawlSystem* system,
                 double derive_seconds) {
  PawlError err = {0};
  PawlSimDef def = pawl_sim_def_default();
  int code = simulate_def(a, model, &def.simulate);
  if (code) {
    return code;
  }
  def.project = a->project;
  def.keep = a->keep;
  def.keep_samples = false;
  PawlSim* sim = NULL;
  PawlStatus status = begin(system, &def, &sim, &err);
  Findings f = {.n = pawl_system_sizes(system),
                .info = pawl_system_info(system),
                .derive_seconds = derive_seconds,
                .problem = status == PAWL_OK ? NULL : err.message,
                .warning = sim ? pawl_sim_warning(sim) : "",
                .sim = sim,
                .state = sim ? pawl_sim_state(sim) : NULL,
                .lambda = sim ? pawl_sim_multipliers(sim) : NULL};
  Watch along = {0};
  if (status == PAWL_OK && (pawl_system_switches(system) || pawl_system_triggers(system))) {
    f.along = &along;
    status = follow(system, def, &along, &err);
    f.problem = status == PAWL_OK ? NULL : err.message;
  }
  Spectra spectra = {.system = system};
  f.spectra = &spectra;
  if (status != PAWL_ERROR_MEMORY) {
    PawlError short_of = {0};
    if (find_spectra(f.along, &spectra, &short_of) != PAWL_OK ||
        (sim && find_rest(&spectra, &short_of) != PAWL_OK)) {
      status = PAWL_ERROR_MEMORY;
      err = short_of;
    }
  }
  Projection* projection = NULL;
  if (a->project && sim && status != PAWL_ERROR_MEMORY) {
    PawlError short_of = {0};
    if (projection_create(system, f.state, &projection, &short_of) != PAWL_OK) {
      status = PAWL_ERROR_MEMORY;
      err = short_of;
    }
  }
  f.problem = status == PAWL_OK ? NULL : err.message;
  if (sim) {
    f.rows = pawl_system_rows_in_force(system, f.state->modes);
    f.summary = pawl_sim_summary(sim);
    f.redundant = f.summary.work.redundant_rows;
  }
  PawlError short_of = {0};
  if (status != PAWL_ERROR_MEMORY && find_rates(system, &f, &short_of) != PAWL_OK) {
    status = PAWL_ERROR_MEMORY;
    err = short_of;
    f.problem = err.message;
  }
  warn(f.warning);
  if (along.around.message[0]) {
    warn(along.around.message);
    f.warning = f.warning[0] ? f.warning : along.around.message;
  }
  projection_print(projection);
  code = status == PAWL_OK ? strict_code(a) : report_error(&err);
  if (a->json) {
    print_json(system, &f, projection, code);
  } else {
    print_findings(system, &f);
  }
  projection_destroy(projection);
  free(f.integrable);
  free_spectra(&spectra);
  for (int k = 0; k < along.set_count; k++) {
    free(along.sets[k].modes);
  }
  for (int k = 0; k < along.change_count; k++) {
    free(along.changes[k].from);
    free(along.changes[k].to);
  }
  pawl_sim_destroy(sim);
  return code;
}

static int run(int argc, char** argv) {
  Arguments a;
  int code = read_arguments(argc, argv, "mpsjPSR", &a);
  if (code) {
    return code;
  }
  PawlError err = {0};
  double begin = seconds_now();
  PawlModel* model = load_model(&a, &err);
  PawlSystem* system = NULL;
  if (model && pawl_model_read_scene(model, &err) == PAWL_OK &&
      pawl_system_create(model, &system, &err) == PAWL_OK) {
    code = check(&a, model, system, seconds_now() - begin);
  } else {
    code = report_error(&err);
  }
  pawl_system_destroy(system);
  pawl_model_destroy(model);
  return code;
}

const Command command_check = {
    .name = "check",
    .line = "degrees of freedom, redundancy, consistency of the start",
    .run = run,
    .usage = "MODEL [-p NAME=VALUE]... [--project] [--json]",
    .about =
        "Reads MODEL, derives its equations and tells: degrees of freedom, redundant "
        "constraints, how well the start satisfies the constraints, and the accelerations and "
        "constraint forces it begins with. Exit code 1 or 2 when something is wrong.",
    .options = options,
    .settings = true,
    .notes =
        "A model that switches is run to its end, by `method: auto`: degrees of freedom in "
        "each set of modes that it meets; do the regions cover the motion, and the places "
        "around it, do the branches of a constraint meet on the surface, is it crossed and "
        "not touched? Each change of topology is regular or singular, with the local and "
        "differential degrees of freedom before and after (docs/theory/freedom.md; by "
        "sampling). Of a linear model: eigenvalues, the multiplicity of zero, natural "
        "frequencies, damping ratios and shapes in each set of modes; of any other model the "
        "same of small motions about a rest position (`pawl equilibrium`), but for heaps of more "
        "than 64 contacts that rub."};
