// SPDX-License-Identifier: Apache-2.0
// On random models with locks, brakes, regions and contacts all methods log the same events and end
// in the same state, each to its order.
//
// The reference is rk4 with a fine step in independent coordinates, so that nothing drifts
// (event-driven by rk4 where there are regions). A contact without restitution is there a lock that
// catches and lets go; with restitution, where that lock would pull, or where velocities jump while
// it holds (its impulse might pull), contacts are located by event-driven. A model is left
// out when the reference alone cannot tell what happens: at the step of the others, or with the
// data of the model shifted by +-SHIFT (parameter s of random_models.h), it logs other events; the
// motion depends on the shift by more than the factor STEEPEST; or, where instants are not located,
// two are nearer than CROWDED steps, or a snap puts bodies into each other.
//
// A method of order p runs with the steps h and h/2. Both must log the events of the reference, and
// both must be as near to it, in times, q and v, as
//   SCALE steepness h^p + SPREAD |x(h) - x(h/2)|,
// steepness: the largest of 1 and |change|/SHIFT of the shifted reference. The second term lets a
// method pass whose error is large but falls; one that converges to something else fails. Where
// that is not enough for order 1, |x(h) - x(0.7 h)| counts, too: an instant may fall on a time that
// h and h/2 share. A method of order 1 errs by more than what sometimes decides an event (a hop
// lower than moreau-jean penetrates, a brake that sticks for a step): where it does not log the
// events of the reference it runs again with smaller steps, down to h/2^REFINED, and must do so
// there. Few runs may need that.
//
// Of every SOME_SCALED-th model, all methods also run with energies and forces 1e-4 and 1e4 times
// as large (masses in other units): the same events, and the same motion but for the tolerances of
// Newton's method.
//
//   test_random_models            1000 models; 100 in a build with sanitizers
//   test_random_models COUNT      so many in all
//   test_random_models PART SEED  shows one model if some method disagrees
//   test_random_models known      how many of the runs in the table of exceptions still disagree
#include <stdlib.h>
#include <string.h>

#include "few.h"
#include "pawl/pawl.h"
#include "run/random_models.h"

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1  // gcc says so by itself
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { PERCENT = 10 };
#else
enum { PERCENT = 100 };
#endif

enum { EVENTS_MOST = 100, PARTS = 4, REFINED = 8, SOME_SCALED = 5 };
static const double UNTIL = 1.5;          // [s]
static const double STEP = 1e-2;          // h of methods that locate all instants [s]
static const double STEP_FIRST = 2.5e-3;  // h where the instants of regions and contacts are not
static const double SHIFT = 5e-4;         // of the data, in SI units: the errors of order 2
static const double SHIFT_FIRST = 5e-3;   // and of order 1
static const double STEEPEST = 30;        // change of the motion over the shift
static const double STEEPEST_FIRST = 12;  // the same for methods of order 1
static const double SCALE = 20;           // error constant of order 2, in SI units
static const double SCALE_FIRST = 8;      // of order 1
static const double SPREAD = 4;           // 2 is the error of order 1 at h, 4/3 that of order 2
static const double CROWDED = 4;          // steps between two instants that are not located
static const double RARELY = 0.02;        // of the runs: those with smaller steps
static const double TOGETHER = 1e-6;      // events nearer than this have no order [s]
static const double ROUNDED = 1e-9;       // a jump that is none [m/s]
static const double SCALED = 1e-6;        // of the motion: what another unit of mass may change
static const double OWN_STEPS = 1e-5;     // what methods with steps of their own are good to
static const int COUNTS[PARTS] = {350, 350, 150, 150};  // models
static const char* const NAMES[PARTS] = {"locks", "brakes", "regions", "contacts"};

typedef struct Seen {
  double t;
  char what[64];  // "l0: free -> locked"
} Seen;

typedef struct Outcome {
  PawlStatus status;
  char message[400];
  bool pulled;  // a lock in the place of a contact had to pull, or may have
  int holding;  // locks in the place of contacts, up to the event looked at
  int count;
  Seen events[EVENTS_MOST];
  double x[2 * RANDOM_MOST];  // q, v at the end
} Outcome;

// ---- exceptions ---------------------------------------------------------------------------------
// What does not agree yet. A row that is taken out switches its runs on.
typedef struct Exception {
  const char* method;  // EVERY: the reference is wrong
  RandomPart part;
  int seed;           // of one model; ANY
  unsigned features;  // models with all of these
  const char* why;
} Exception;
enum { ANY = -1 };
#define EVERY ""

#define LEADS_BACK "the jump at the kink leads back, and no method is right"

static const Exception EXCEPTIONS[] = {
    {"moreau-jean", PART_CONTACTS, 24, 0, LEADS_BACK},
};
enum { EXCEPTION_COUNT = sizeof EXCEPTIONS / sizeof *EXCEPTIONS };

// The row for this run; ANY without.
static int exception_of(const RandomModel* m, const char* method) {
  for (int k = 0; k < EXCEPTION_COUNT; k++) {
    const Exception* e = &EXCEPTIONS[k];
    bool named = strcmp(e->method, EVERY) == 0 || strcmp(e->method, method) == 0;
    if (named && e->part == m->part && (e->seed == ANY || e->seed == m->seed) &&
        (m->features & e->features) == e->features) {
      return k;
    }
  }
  return ANY;
}

// ---- one run ------------------------------------------------------------------------------------
static bool jumps(const PawlEvent* event) {
  double most = 0;
  for (int k = 0; k < event->v_count; k++) {
    most = fmax(most, fabs(event->v_after[k] - event->v_before[k]));
  }
  return most > ROUNDED;
}

// Contacts show as hits, whether they are contacts or locks in their place; time stepping does not
// log that they open.
static void note(Outcome* out, const PawlEvent* event) {
  bool contact = event->constraint[0] == 'c', pull = event->constraint[0] == 'p';
  out->pulled |= pull || (!contact && out->holding > 0 && jumps(event));
  out->holding += !contact ? 0 : strcmp(event->to, "locked") == 0 ? 1 : out->holding > 0 ? -1 : 0;
  static const char* const quiet[] = {"free", "open", "closed", "rest"};
  bool skip = pull;
  for (int k = 0; contact && k < 4; k++) {
    skip |= strcmp(event->to, quiet[k]) == 0;
  }
  if (skip) {
    return;
  }
  if (out->count < EVENTS_MOST) {
    Seen* seen = &out->events[out->count];
    seen->t = event->t;
    if (contact) {
      snprintf(seen->what, sizeof seen->what, "%s: hit", event->constraint);
    } else {
      snprintf(seen->what, sizeof seen->what, "%s: %s -> %s", event->constraint, event->from,
               event->to);
    }
  }
  out->count++;
}

// Events of one instant in the order of their names.
static void sort_together(Outcome* out) {
  int count = out->count < EVENTS_MOST ? out->count : EVENTS_MOST;
  for (int k = 1; k < count; k++) {
    for (int j = k; j > 0 && out->events[j].t - out->events[j - 1].t < TOGETHER &&
                    strncmp(out->events[j].what, out->events[j - 1].what, 2) < 0;
         j--) {
      Seen swap = out->events[j];
      out->events[j] = out->events[j - 1];
      out->events[j - 1] = swap;
    }
  }
}

static void keep(Outcome* out, const PawlSim* sim, int n) {
  const PawlRecorder* log = pawl_sim_recorder(sim);
  for (int k = 0; k < pawl_recorder_event_count(log); k++) {
    note(out, pawl_recorder_event(log, k));
  }
  sort_together(out);
  memcpy(out->x, pawl_sim_state(sim)->q, (size_t)n * sizeof(double));
  memcpy(out->x + n, pawl_sim_state(sim)->v, (size_t)n * sizeof(double));
}

static void run(const PawlSystem* system, const char* method, const char* form, double h,
                Outcome* out) {
  PawlSimDef def = pawl_sim_def_default();
  PawlSim* sim = NULL;
  PawlError err = {0};
  *out = (Outcome){0};
  def.simulate.method = method;
  def.simulate.form = form;
  def.simulate.step = h;
  def.simulate.until = UNTIL;
  if (strcmp(method, "dopri") == 0) {
    def.simulate.rtol = 1e-11;
  }
  def.keep_samples = false;
  out->status = pawl_sim_create(system, &def, &sim, &err);
  if (out->status == PAWL_OK) {
    out->status = pawl_sim_run(sim, NULL, NULL, &err);
    keep(out, sim, pawl_system_sizes(system).q);
  }
  snprintf(out->message, sizeof out->message, "%.399s", err.message);
  pawl_sim_destroy(sim);
}

// ---- comparison ---------------------------------------------------------------------------------
static bool same_events(const Outcome* a, const Outcome* b) {
  bool same = a->status == b->status && a->count == b->count && a->count <= EVENTS_MOST;
  for (int k = 0; same && k < a->count; k++) {
    same = strcmp(a->events[k].what, b->events[k].what) == 0;
  }
  return same;
}

// The largest difference of times, q and v; of outcomes with the same events.
static double distance(const Outcome* a, const Outcome* b, int n) {
  double most = 0;
  for (int k = 0; k < a->count; k++) {
    most = fmax(most, fabs(a->events[k].t - b->events[k].t));
  }
  for (int k = 0; k < 2 * n; k++) {
    double d = fabs(a->x[k] - b->x[k]);
    most = isnan(most) || d <= most ? most : d;  // NaN stays
  }
  return most;
}

static void show(const char* name, const Outcome* o, int n) {
  print_message("%s: status %d %s\n", name, (int)o->status, o->message);
  for (int k = 0; k < o->count && k < EVENTS_MOST; k++) {
    print_message("    %.9f %s\n", o->events[k].t, o->events[k].what);
  }
  for (int k = 0; k < 2 * n; k++) {
    print_message("  %.9g", o->x[k]);
  }
  print_message("\n");
}

// ---- one model ----------------------------------------------------------------------------------
typedef enum Verdict { TRIED, FAILS, UNCERTAIN, STEEP } Verdict;

typedef struct Case {
  RandomModel model;
  PawlModel* parsed;
  PawlSystem* system;
  Outcome reference;
  double steepness;
  bool by_contacts;       // the reference has contacts, and no locks in their place
  bool first_order;       // regions or contacts, whose instants the methods do not locate
  bool certain_at_first;  // an error of order 1 changes no event
  double h;
  int refined;  // runs with steps smaller than h/2
  bool shown;   // the model, in a complaint
  bool silent;  // no complaints
} Case;

static PawlSystem* derive(const char* text, const char* override, PawlModel** model) {
  PawlError err = {0};
  PawlSystem* system = NULL;
  const char* overrides[] = {override};
  if (pawl_model_parse(text, strlen(text), "random", override != NULL, overrides, model, &err) !=
          PAWL_OK ||
      pawl_system_create(*model, &system, &err) != PAWL_OK) {
    print_error("%s\n", err.message);
    fputs(text, stderr);
    fail();
  }
  return system;
}

static const char* reference_method(const Case* c) {
  return c->by_contacts || c->model.features & HAS_REGION ? "event-driven" : "rk4";
}

static void run_reference(const Case* c, const char* override, double h, Outcome* out) {
  static RandomText text;
  PawlModel* model = NULL;
  random_whole(&c->model, !c->by_contacts, &text);
  PawlSystem* system = derive(text.text, override, &model);
  run(system, reference_method(c), "minimal", h, out);
  pawl_system_destroy(system);
  pawl_model_destroy(model);
}

// A snap knows no contacts: it may put bodies into each other, which only methods that correct
// positions take back.
static bool snaps_into_contact(const Case* c) {
  const Seen* e = c->reference.events;
  bool into = false;
  for (int k = 0; k + 1 < c->reference.count; k++) {
    bool together = e[k + 1].t - e[k].t <= TOGETHER, hit = e[k].what[0] == 'c';
    into |= together && hit != (e[k + 1].what[0] == 'c') && e[hit ? k + 1 : k].what[0] == 'l';
  }
  return into && c->model.features & HAS_SNAP;
}

// Whether instants of which some are not located lie so near to each other that a step of the
// others may hold two of them.
static bool is_crowded(const Case* c) {
  const Seen* e = c->reference.events;
  for (int k = 0; c->first_order && k < c->reference.count; k++) {
    double next = k + 1 < c->reference.count ? e[k + 1].t : UNTIL;
    if (next - e[k].t < CROWDED * c->h && next - e[k].t > TOGETHER) {
      return true;
    }
  }
  return false;
}

// The same events with the data shifted both ways; raises the steepness.
static bool is_certain(Case* c, double shift, double h) {
  static Outcome other;
  char override[32];
  bool certain = true;
  for (int sign = -1; certain && sign <= 1; sign += 2) {
    snprintf(override, sizeof override, "s=%g", sign * shift);
    run_reference(c, override, h, &other);
    certain = same_events(&c->reference, &other);
    if (certain) {
      c->steepness = fmax(c->steepness, distance(&c->reference, &other, c->model.n) / shift);
    }
  }
  return certain;
}

static void make_reference(Case* c) {
  c->by_contacts = (c->model.features & (HAS_BOUNCE | HAS_TWO_CONTACTS)) != 0;
  run_reference(c, NULL, c->h / 4, &c->reference);
  if (c->reference.pulled) {
    c->by_contacts = true;
    run_reference(c, NULL, c->h / 4, &c->reference);
  }
}

// Whether the events are the same with an error of order 1 in the data.
static bool is_certain_at_first(Case* c) {
  double steepness = c->steepness;
  bool certain = is_certain(c, SHIFT_FIRST, c->h) && c->steepness <= STEEPEST_FIRST;
  c->steepness = c->first_order ? c->steepness : steepness;
  return certain;
}

static Verdict judge(Case* c) {
  static Outcome other;
  c->first_order = (c->model.features & (HAS_REGION | HAS_CONTACT)) != 0;
  c->h = c->first_order ? STEP_FIRST : STEP;
  c->steepness = 1;
  make_reference(c);
  if (c->reference.status != PAWL_OK) {
    return FAILS;
  }
  run_reference(c, NULL, c->h, &other);
  if (is_crowded(c) || snaps_into_contact(c) || !same_events(&c->reference, &other) ||
      (!c->first_order && !is_certain(c, SHIFT, c->h))) {
    return UNCERTAIN;
  }
  c->certain_at_first = is_certain_at_first(c);
  return c->steepness > STEEPEST                  ? STEEP
         : c->first_order && !c->certain_at_first ? UNCERTAIN
                                                  : TRIED;
}

// ---- one method ---------------------------------------------------------------------------------
static bool chooses_steps(const char* method) {
  return strcmp(method, "dopri") == 0 || strcmp(method, "ark") == 0 || strcmp(method, "ida") == 0;
}

static bool in_list(const char* method, const char* const* list) {
  for (; *list; list++) {
    if (strcmp(*list, method) == 0) {
      return true;
    }
  }
  return false;
}

static bool can_run(const RandomModel* m, const char* method) {
  static const char* const contacts[] = {"nsga-pvv", "nsga-pva", "moreau-jean", "event-driven",
                                         NULL};
  static const char* const regions[] = {"nsga-pvv", "nsga-pva", "moreau-jean", "event-driven",
                                        NULL};
  static const char* const linear[] = {"taylor", "exponential", NULL};
  return m->features & HAS_CONTACT  ? in_list(method, contacts)
         : m->features & HAS_REGION ? in_list(method, regions)
                                    : m->linear || !in_list(method, linear);
}

static int order_of(const Case* c, const PawlMethodInfo* method) {
  bool locates = !c->first_order || strcmp(method->name, "event-driven") == 0;
  return locates ? method->order : 1;
}

static double allowed(const Case* c, const PawlMethodInfo* method, double h) {
  int order = order_of(c, method);
  double scale = order == 1 ? SCALE_FIRST : SCALE;
  return chooses_steps(method->name) ? OWN_STEPS * c->steepness
                                     : scale * c->steepness * pow(h, order < 4 ? order : 4);
}

static void complain(Case* c, const char* method, double h, const Outcome* o, double difference,
                     double bound) {
  if (!c->shown) {
    static RandomText text;
    random_whole(&c->model, false, &text);
    fputs(text.text, stderr);
    show("reference", &c->reference, c->model.n);
    c->shown = true;
  }
  print_error("%s, h = %g: difference %.3g, allowed %.3g\n", method, h, difference, bound);
  show(method, o, c->model.n);
}

// Whether the outcome is that of the reference, within the bound.
static bool agrees(Case* c, const char* method, double h, const Outcome* o, double bound) {
  bool same = same_events(&c->reference, o);
  double difference = same ? distance(&c->reference, o, c->model.n) : INFINITY;
  if (!(difference <= bound)) {
    if (c->silent) {
      return false;
    }
    complain(c, method, h, o, difference, bound);
    return false;
  }
  return true;
}

// Runs with steps h and h/2; returns h. Methods of order 1: as small as the events ask for.
static double run_twice(Case* c, const PawlMethodInfo* method, Outcome* coarse, Outcome* fine) {
  double h = c->h;
  run(c->system, method->name, "index-1", h, coarse);
  run(c->system, method->name, "index-1", h / 2, fine);
  for (int k = 0; k < REFINED && order_of(c, method) == 1 &&
                  !(same_events(&c->reference, coarse) && same_events(&c->reference, fine));
       k++) {
    c->refined += k == 0;
    h /= 2;
    *coarse = *fine;
    run(c->system, method->name, "index-1", h / 2, fine);
  }
  return h;
}

// Four times the change between two steps, which is that of the error where it falls with them.
static double spread_of(const Case* c, const Outcome* one, const Outcome* other) {
  return same_events(one, other) ? SPREAD * distance(one, other, c->model.n) : 0;
}

// An instant that is not located errs by the part of the step that is left after it. Where it falls
// on a time that h and h/2 share, both err alike and their change says nothing: a third run with
// steps of another length tells.
static double spread_off_grid(const Case* c, const PawlMethodInfo* method, double h,
                              const Outcome* coarse) {
  static const double OTHER = 0.7;
  static Outcome between;
  if (order_of(c, method) != 1) {
    return 0.0;
  }
  run(c->system, method->name, "index-1", OTHER * h, &between);
  return spread_of(c, coarse, &between);
}

static bool is_within(const Case* c, const PawlMethodInfo* method, double h, const Outcome* o,
                      double spread) {
  return same_events(&c->reference, o) &&
         distance(&c->reference, o, c->model.n) <= allowed(c, method, h) + spread;
}

static bool try_method(Case* c, const PawlMethodInfo* method) {
  static Outcome coarse, fine;
  if (chooses_steps(method->name)) {
    run(c->system, method->name, "index-1", c->h, &coarse);
    return agrees(c, method->name, c->h, &coarse, allowed(c, method, c->h));
  }
  double h = run_twice(c, method, &coarse, &fine);
  double spread = spread_of(c, &coarse, &fine);
  if (!is_within(c, method, h, &coarse, spread) || !is_within(c, method, h / 2, &fine, spread)) {
    spread = fmax(spread, spread_off_grid(c, method, h, &coarse));
  }
  return agrees(c, method->name, h, &coarse, allowed(c, method, h) + spread) &&
         agrees(c, method->name, h / 2, &fine, allowed(c, method, h / 2) + spread);
}

// ---- all ----------------------------------------------------------------------------------------
typedef struct Tally {
  int models, fails, uncertain, steep, excepted, tried, refined, scaled, wrong, events;
} Tally;

// Runs that the table of exceptions leaves out, when asked for: how many, and how many disagree.
typedef struct Known {
  int runs, wrong;
} Known;
static Known known[EXCEPTION_COUNT];
static bool try_known = false;

static void try_exception(Case* c, const PawlMethodInfo* method, int row) {
  if (try_known) {
    c->silent = true;
    known[row].runs++;
    known[row].wrong += !try_method(c, method);
  }
}

static void try_or_except(Case* c, const PawlMethodInfo* method, Tally* tally) {
  int row = exception_of(&c->model, method->name);
  if (row != ANY) {
    tally->excepted++;
    try_exception(c, method, row);
  } else if (!try_known) {
    tally->tried++;
    tally->wrong += !try_method(c, method);
  }
}

static void try_methods(Case* c, Tally* tally) {
  static RandomText text;
  random_whole(&c->model, false, &text);
  c->system = derive(text.text, NULL, &c->parsed);
  for (int k = 0; pawl_method(k); k++) {
    const PawlMethodInfo* method = pawl_method(k);
    if (!method->action && can_run(&c->model, method->name) &&
        (order_of(c, method) > 1 || c->certain_at_first)) {
      try_or_except(c, method, tally);
    }
  }
  pawl_system_destroy(c->system);
  pawl_model_destroy(c->parsed);
}

// ---- other units of mass ------------------------------------------------------------------------
static bool is_same_scaled(Case* c, const char* method, const char* scale) {
  static Outcome one, other;
  static RandomText text;
  PawlModel* model = NULL;
  random_whole(&c->model, false, &text);
  PawlSystem* system = derive(text.text, scale, &model);
  run(c->system, method, "index-1", c->h, &one);
  run(system, method, "index-1", c->h, &other);
  pawl_system_destroy(system);
  pawl_model_destroy(model);
  double difference = same_events(&one, &other) ? distance(&one, &other, c->model.n) : INFINITY;
  if (!(difference <= SCALED * c->steepness)) {
    complain(c, method, c->h, &other, difference, SCALED * c->steepness);
    show("with c = 1", &one, c->model.n);
    print_error("%s\n", scale);
    return false;
  }
  return true;
}

static void try_scaled(Case* c, Tally* tally) {
  static const char* const scales[] = {"c=1e-4", "c=1e4"};
  static RandomText text;
  random_whole(&c->model, false, &text);
  c->system = derive(text.text, NULL, &c->parsed);
  for (int k = 0; pawl_method(k); k++) {
    const PawlMethodInfo* method = pawl_method(k);
    for (int s = 0; s < 2 && !method->action && can_run(&c->model, method->name); s++) {
      tally->wrong += !is_same_scaled(c, method->name, scales[s]);
      tally->scaled++;
    }
  }
  pawl_system_destroy(c->system);
  pawl_model_destroy(c->parsed);
}

static void try_model(RandomPart part, int seed, Tally* tally) {
  static Case c;
  c = (Case){0};
  random_make(&c.model, part, seed);
  tally->models++;
  Verdict verdict = judge(&c);
  tally->fails += verdict == FAILS;
  tally->uncertain += verdict == UNCERTAIN;
  tally->steep += verdict == STEEP;
  int wrong = tally->wrong;
  if (verdict == TRIED) {
    tally->events += c.reference.count;
    try_methods(&c, tally);
  }
  if (verdict == TRIED && seed % SOME_SCALED == 0 && !try_known) {
    try_scaled(&c, tally);
  }
  tally->refined += c.refined;
  if (tally->wrong > wrong) {
    print_error("this was: test_random_models %d %d\n\n", (int)part, seed);
  }
}

static int percent = PERCENT;

// Models that some method, or the reference, once had wrong.
static const struct {
  RandomPart part;
  int seed;
} MENDED[] = {
    {PART_BRAKES, 2013},   {PART_BRAKES, 2057},   {PART_BRAKES, 2129},   {PART_BRAKES, 2144},
    {PART_CONTACTS, 2006}, {PART_CONTACTS, 2066}, {PART_CONTACTS, 2094}, {PART_CONTACTS, 3119},
    {PART_CONTACTS, 3121}, {PART_CONTACTS, 3272}, {PART_BRAKES, 3304},   {PART_BRAKES, 4025},
    {PART_LOCKS, 4285},    {PART_BRAKES, 5053},   {PART_BRAKES, 3058},   {PART_CONTACTS, 6103}};

static void test_mended(void** unused) {
  (void)unused;
  Tally tally = {0};
  for (size_t k = 0; k < sizeof MENDED / sizeof *MENDED; k++) {
    try_model(MENDED[k].part, MENDED[k].seed, &tally);
  }
  assert_int_equal(tally.wrong, 0);
  assert_int_equal(tally.fails + tally.uncertain + tally.steep, 0);
}

static void try_part(RandomPart part) {
  Tally tally = {0};
  int count = few_if_compiled(COUNTS[part] * percent / 100);
  for (int seed = 0; seed < count; seed++) {
    try_model(part, seed, &tally);
  }
  int left_out = tally.fails + tally.uncertain + tally.steep;
  print_message(
      "%s: %d models with %d events, %d left out (the reference fails %d, is uncertain %d, steep "
      "%d); %d runs, %d with smaller steps, %d in other units, %d disagree, %d excepted\n",
      NAMES[part], tally.models, tally.events, left_out, tally.fails, tally.uncertain, tally.steep,
      tally.tried, tally.refined, tally.scaled, tally.wrong, tally.excepted);
  assert_int_equal(tally.wrong, 0);
  assert_true(tally.refined <= RARELY * tally.tried);
  assert_true(4 * left_out < tally.models);  // else nothing is tested
}

static void test_locks(void** unused) {
  (void)unused;
  try_part(PART_LOCKS);
}
static void test_brakes(void** unused) {
  (void)unused;
  try_part(PART_BRAKES);
}
static void test_regions(void** unused) {
  (void)unused;
  try_part(PART_REGIONS);
}
static void test_contacts(void** unused) {
  (void)unused;
  try_part(PART_CONTACTS);
}

static int show_model(RandomPart part, int seed) {
  Tally tally = {0};
  try_model(part, seed, &tally);
  print_message("%s\n", tally.fails       ? "left out: the reference fails"
                        : tally.uncertain ? "left out: uncertain"
                        : tally.steep     ? "left out: steep"
                                          : "tried");
  return tally.wrong > 0;
}

static void show_known(void) {
  for (int k = 0; k < EXCEPTION_COUNT; k++) {
    const Exception* e = &EXCEPTIONS[k];
    print_message("%-13s %-8s %05x: %d of %d disagree; %s\n", e->method, NAMES[e->part],
                  e->features, known[k].wrong, known[k].runs, e->why);
  }
}

int main(int count, char** arguments) {
  if (count == 3) {
    return show_model((RandomPart)(atoi(arguments[1]) % PARTS), atoi(arguments[2]));
  }
  try_known = count == 2 && strcmp(arguments[1], "known") == 0;
  percent = count == 2 && !try_known ? atoi(arguments[1]) / 10 : PERCENT;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_locks), cmocka_unit_test(test_brakes), cmocka_unit_test(test_regions),
      cmocka_unit_test(test_contacts), cmocka_unit_test(test_mended)};
  int failed = cmocka_run_group_tests_name("random models", tests, NULL, NULL);
  if (try_known) {
    show_known();
  }
  return failed;
}
