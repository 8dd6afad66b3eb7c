// SPDX-License-Identifier: Apache-2.0
// The table of methods against the manual, and its flags against what the methods do.
#include "page.h"
#include "step/motion.h"

// ---- the manual ---------------------------------------------------------------------------------
// "`rtol` `atol`"
static void quote_words(const char* list, char* out, size_t size) {
  size_t at = 0;
  out[0] = '\0';
  for (const char* word = list; *word;) {
    int length = (int)strcspn(word, " ");
    at += (size_t)snprintf(out + at, size - at, "%s`%.*s`", at ? " " : "", length, word);
    word += length + (word[length] == ' ');
  }
}

static const char* laws_text(const PawlMethodInfo* info) {
  static const char* const words[] = {"none", "post", "post (directions of others)", "all"};
  return info->regions ? words[info->laws] : "";
}

// "5, own steps", "2, between switches 1"
static void order_text(const PawlMethodInfo* info, char* out, size_t size) {
  int length = snprintf(out, size, "%d%s%s", info->order, info->adaptive ? ", own steps" : "",
                        info->linear_only ? ", linear models" : "");
  if (info->order_switching) {
    snprintf(out + length, size - (size_t)length, ", between switches %d", info->order_switching);
  }
}

// The row of a method as the manual ought to have it.
static void row_text(const PawlMethodInfo* info, char* out, size_t size) {
  char order[60], options[200];
  order_text(info, order, sizeof order);
  quote_words(info->options, options, sizeof options);
  snprintf(out, size, "\n| `%s` | %s | %s | %s | %s | %s | %s |\n", info->name, order,
           info->regions ? "yes" : "", laws_text(info), info->contacts ? "yes" : "", info->holds,
           options);
  for (char* at = out; (at = strstr(at, "|  |"));) {  // no blanks in an empty cell
    memmove(at + 2, at + 3, strlen(at + 3) + 1);
  }
}

static void test_manual_has_the_table(void** unused) {
  (void)unused;
  char* page = read_page("model-format.md");
  int wrong = 0;
  for (int k = 0; pawl_method(k); k++) {
    char row[600];
    row_text(pawl_method(k), row, sizeof row);
    if (!strstr(page, row)) {
      print_error("docs/model-format.md ought to have%s", row);
      wrong++;
    }
  }
  assert_int_equal(wrong, 0);
  free(page);
}

// Each word is an option, and each method that chooses its steps has the tolerances.
static void test_options_of_methods(void** unused) {
  (void)unused;
  PawlSimulateDef def = pawl_simulate_def_default();
  for (int k = 0; pawl_method(k); k++) {
    char words[200];
    int used = 0;
    PawlOptionInfo option;
    def.method = def.smooth = pawl_method(k)->name;
    for (int i = 0; pawl_simulate_option(i, &option); i++) {
      quote_words(pawl_method(k)->options, words, sizeof words);
      char quoted[64];
      snprintf(quoted, sizeof quoted, "`%s`", option.name);
      bool named = strstr(words, quoted) != NULL;
      used += named;
      assert_true(!named || pawl_method_uses(&def, option.name));
    }
    int count = 0;
    for (const char* at = words; (at = strchr(at, '`')); at++) {
      count++;
    }
    assert_int_equal(used, count / 2);
    assert_int_equal(pawl_method_uses(&def, "rtol"), pawl_method(k)->adaptive);
    assert_true(pawl_method_uses(&def, "step"));
  }
  def.method = "event-driven";
  def.smooth = "rk4";
  assert_true(pawl_method_uses(&def, "form") && !pawl_method_uses(&def, "rho"));
  assert_null(pawl_method_find("auto"));
  assert_ptr_equal(pawl_method_find("ga-p"), pawl_method(0));
}

// ---- impact laws --------------------------------------------------------------------------------
#define TRACK(law)                                              \
  "model: track\ncoordinates: {x: {rate: 1}, y: }\n"            \
  "kinetic: (x'^2 + y'^2)/2\nconstraints:\n  track:\n" law      \
  "    modes:\n      flat: {where: x < 0.3, equation: y = 0}\n" \
  "      ramp: {where: x > 0.3, equation: y = x - 0.3}\n"

// The kinetic energy behind the kink: the momentum along the ramp is kept (post), the energy
// (bisector), or the impulse is that of the flat track (pre). Half as much speed in x, and y' = x'.
static const struct {
  const char *word, *model;
  double energy;
} LAWS[] = {{"post", TRACK("    impact: post\n"), 0.25},
            {"bisector", TRACK("    impact: bisector\n"), 0.5},
            {"pre", TRACK("    impact: pre\n"), 1.0}};

static void check_law(Motion* m, const PawlMethodInfo* info, bool named, int law) {
  const char* name = info->name;
  bool able = info->regions &&
              (info->laws == PAWL_LAWS_ALL || (info->laws != PAWL_LAWS_NO_JUMP && law == 0) ||
               (info->laws == PAWL_LAWS_DIRECTIONS && named));
  if (motion_can(m, name) != able) {
    fail_msg("%s %s the law %s", name, able ? "refuses" : "takes", LAWS[law].word);
  }
  if (!able) {
    char list[600], word[40];  // ", a, b,"
    const char* names = strstr(m->err.message, "these can: ");
    assert_non_null(names);
    snprintf(list, sizeof list, ", %s,", names + strlen("these can: "));
    snprintf(word, sizeof word, ", %s,", name);
    assert_non_null(strstr(list, ", nsga-pva,"));
    assert_null(strstr(list, word));
    return;
  }
  motion_run(m, name, 0.8, 800, NULL);
  double v = m->state->v[0], w = m->state->v[1], energy = 0.5 * (v * v + w * w);
  bool kept = law == 0 || info->laws == PAWL_LAWS_ALL;
  if ((fabs(energy - LAWS[law].energy) < 1e-6) != kept) {
    fail_msg("%s: %.9g J behind the kink by %s", name, energy, LAWS[law].word);
  }
  assert_int_equal(pawl_stepper_warning(m->stepper)[0] != '\0', !kept);
}

// Every method keeps the laws that its table names, and refuses what it cannot keep.
static void test_laws(void** unused) {
  (void)unused;
  for (int law = 0; law < 3; law++) {
    Motion stated = motion_text(LAWS[law].model), named = motion_text(TRACK(""));
    named.def.impact = LAWS[law].word;
    stated.def.rho = named.def.rho = 0.5;  // what ga-p leaves of the kink dies out
    for (int k = 0; pawl_method(k); k++) {
      check_law(&stated, pawl_method(k), false, law);
      check_law(&named, pawl_method(k), true, law);
    }
    motion_end(&stated);
    motion_end(&named);
  }
}

// Without a jump: ga-a alone.
static void test_no_jump(void** unused) {
  (void)unused;
  Motion m = motion_text(TRACK(""));
  m.def.impact = "none";
  for (int k = 0; pawl_method(k); k++) {
    assert_int_equal(motion_can(&m, pawl_method(k)->name),
                     pawl_method(k)->regions && pawl_method(k)->laws == PAWL_LAWS_NO_JUMP);
  }
  motion_run(&m, "ga-a", 0.8, 800, NULL);
  CHECK_NEAR(m.state->v[0], 1.0, 1e-12);
  motion_end(&m);
}

// ---- auto ---------------------------------------------------------------------------------------
// What auto takes; "" for `smooth` where event-driven is not chosen.
static void check_choice(Motion m, const char* method, const char* smooth, const char* reason) {
  motion_start(&m, "auto");
  const PawlSimulateDef* def = pawl_stepper_def(m.stepper);
  if (strcmp(def->method, method) != 0 || (*smooth && strcmp(def->smooth, smooth) != 0) ||
      !strstr(pawl_stepper_reason(m.stepper), reason)) {
    fail_msg("'%s' has %s over %s (%s), not %s over %s (%s)", pawl_system_name(m.system),
             def->method, def->smooth, pawl_stepper_reason(m.stepper), method, smooth, reason);
  }
  motion_end(&m);
}

// A pendulum on a rod that is all but rigid: with damping its strain dies out at once and an
// explicit method still needs steps as short as that; without it the strain goes on and on, and
// must be followed.
#define ROD(damping)                                           \
  "model: rod\ncoordinates: {phi: 1, x: 0}\n"                  \
  "define: {px: sin(phi)*(1 + x), py: -cos(phi)*(1 + x)}\n"    \
  "kinetic: (px'^2 + py'^2)/2\npotential: 9.81*py + 5e9*x^2\n" \
  "dissipation: " damping "*x'^2\nsimulate: {step: 0.01}\n"

static void test_auto_of_stiff_motion(void** unused) {
  (void)unused;
  if (pawl_method_find("ark")->absent) {
    skip();
  }
  check_choice(motion_text(ROD("5e5")), "ark", "", "stiff");
  check_choice(motion_text(ROD("5e5") "events: {low: {when: phi}}\n"), "event-driven", "ark",
               "stiff");
  check_choice(motion_text(ROD("0")), "dopri", "", "smooth");
}

#define BALLS(count, law)                                            \
  "model: balls\nparameters: {N: " count                             \
  "}\n"                                                              \
  "coordinates: {'x[i=1..N]': {start: i}}\nmass: {'x[i=1..N]': 1}\n" \
  "contacts: {'c[i=1..N-1]': {gap: 'x[i+1] - x[i] - 0.5'}}\n"        \
  "simulate: {contact_law: " law "}\n"

static void test_auto(void** unused) {
  (void)unused;
  check_choice(motion_file("oscillator", NULL), "exponential", "", "linear");
  check_choice(motion_file("two-mass-engage", NULL), "event-driven", "exponential", "linear");
  check_choice(motion_text(LAWS[1].model), "event-driven", "exponential", "linear");
  check_choice(motion_file("pendulum", NULL), "dopri", "", "smooth");
  check_choice(motion_file("planar-3r-lock", NULL), "event-driven", "dopri", "located");
  check_choice(motion_file("cam-follower", NULL), "event-driven", "dopri", "located");
  check_choice(motion_file("bouncing-pendulum", NULL), "event-driven", "dopri", "few contacts");
  check_choice(motion_file("spinning-ball", NULL), "event-driven", "dopri", "few contacts");
  // the law that a model asks for, of however many contacts; of one contact all are one
  check_choice(motion_text(BALLS("12", "sequential")), "event-driven", "dopri", "law of contacts");
  check_choice(motion_text(BALLS("12", "poisson")), "event-driven", "dopri", "law of contacts");
  check_choice(motion_text(BALLS("12", "newton")), "nsga-pva", "", "contacts, many of them");
  check_choice(motion_text(BALLS("2", "sequential")), "event-driven", "dopri", "few contacts");
  check_choice(motion_file("elastic-bar", NULL), "nsga-pva", "", "contacts");
  check_choice(motion_file("chain", "N=150"), "dopri", "", "smooth");
  check_choice(motion_file("chain", "N=700"), "ga-pva", "", "large");
}

// Without a word on the method: the reproducer of a bisector track that lost half of its energy.
static void test_default_keeps_the_law(void** unused) {
  (void)unused;
  Motion m = motion_text(LAWS[1].model);
  assert_string_equal(m.def.method, "auto");
  motion_run(&m, m.def.method, 1.0, 1000, NULL);
  double v = sqrt(0.5);
  CHECK_NEAR(m.state->q[0], 0.3 + 0.7 * v, 1e-9);
  CHECK_NEAR(m.state->v[0], v, 1e-9);
  CHECK_NEAR(m.state->v[1], v, 1e-9);
  motion_stepper(&m, "nsga-pva");
  assert_string_equal(pawl_stepper_reason(m.stepper), "");
  motion_end(&m);
}

// A step that leads over a band without an evaluation in it is told of, with its time; a wide band,
// and two kinks that turn in one step by chance, are not.
static void test_tells_of_bands(void** unused) {
  (void)unused;
  static const struct {
    const char* force;
    const char* told;
  } cases[] = {{"if(0.4011 < x and x < 0.4019, 1000, 0)",
                "has gone beyond both 0.4011 < x and x < 0.4019 in the step to t = 0.41 s"},
               {"max(0, x - 0.2) + min(0, x - 0.4)", NULL},
               {"max(0, x - 0.4015) + abs(0.4015 - x)", NULL},
               {"max(0, x - 0.4015) + max(0, x^2 - 0.4015^2)", NULL}};
  static const char* const methods[] = {"nsga-pva", "ga-p", "moreau-jean"};
  for (int k = 0; k < 12; k++) {
    char text[300];
    snprintf(text, sizeof text,
             "model: b\ncoordinates: {x: {rate: 1}}\nmass: {x: 1}\nforces: {x: \"%s\"}\n",
             cases[k / 3].force);
    Motion m = motion_text(text);
    m.def.step = 0.01;
    motion_start(&m, methods[k % 3]);
    for (int step = 0; step < 100; step++) {
      motion_step(&m, 0.01);
    }
    const char *told = cases[k / 3].told, *said = pawl_stepper_warning(m.stepper);
    assert_true(told ? strstr(said, told) != NULL : said[0] == '\0');
    motion_end(&m);
  }
}

// Kinks of forces that the choice does not locate are told, and only those.
static void test_auto_tells_of_kinks(void** unused) {
  (void)unused;
  static const char kink[] =
      "model: a\ncoordinates: {x: {rate: 1}, y: {start: 5}}\nmass: {x: 1, y: 1}\n"
      "forces: {x: \"if(0.4001 < x and x < 0.4004, 1000, 0)\"}\n%s";
  static const char* const rest[] = {"contacts: {\"floor[i=1..9]\": {gap: y + 100*i}}\n", ""};
  for (int k = 0; k < 2; k++) {
    char text[300];
    snprintf(text, sizeof text, kink, rest[k]);
    Motion m = motion_text(text);
    motion_start(&m, "auto");
    bool told = strstr(pawl_stepper_warning(m.stepper),
                       "nsga-pva does not locate the 2 kinks of forces, such as 0.4001 < x");
    assert_int_equal(told, k == 0);
    assert_null(strstr(pawl_stepper_reason(m.stepper), "smooth"));
    motion_stepper(&m, k == 0 ? "nsga-pva" : "dopri");
    assert_string_equal(pawl_stepper_warning(m.stepper), "");
    motion_end(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_manual_has_the_table),
      cmocka_unit_test(test_options_of_methods),
      cmocka_unit_test(test_laws),
      cmocka_unit_test(test_no_jump),
      cmocka_unit_test(test_auto),
      cmocka_unit_test(test_auto_of_stiff_motion),
      cmocka_unit_test(test_auto_tells_of_kinks),
      cmocka_unit_test(test_tells_of_bands),
      cmocka_unit_test(test_default_keeps_the_law),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
