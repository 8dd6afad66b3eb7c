// SPDX-License-Identifier: Apache-2.0
// pawl run: simulates a model and writes what was asked for. Ctrl-C or a hang-up ends the run after
// the present step; what was computed until then is written.
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/picture.h"

static const Option options[] = {
    {"-p", "NAME=VALUE", "set a parameter of the model; VALUE may be an expression", VALUE_TEXT,
     true},
    {"-o", "FILE",
     ("write the trajectory: FILE.csv, FILE.h5, FILE.html (as --report), or - for CSV on standard "
      "output; may be given several times"),
     VALUE_FILE, true},
    {"--report", "FILE.html",
     ("one page to look at and to pass on: the animation of the scene, curves, events, equations, "
      "warnings"),
     VALUE_FILE, true},
    {"--plot", "FILE",
     ("draw coordinates, rates, energies, outputs and multipliers, to FILE.svg, FILE.pdf or "
      "FILE.png"),
     VALUE_FILE, true},
    {"-y", "LIST",
     "draw these: \"x, theta', lambda(pin), l*sin(phi)\", columns and expressions of them",
     VALUE_TEXT, true},
    {"-x", "NAME", "over this and not over the time: a phase portrait", VALUE_TEXT, false},
    {"--animate", "FILE.svg",
     "a small picture of the motion that moves by itself, of the scene of the model", VALUE_FILE,
     true},
    {"--strobe", "N",
     ("N instants of it in one frame, for print; the file of --animate may then be .pdf or .png, "
      "too"),
     VALUE_TEXT, false},
    {"--window", "FROM:TO", "draw this window of time [s]; either may be left out", VALUE_TEXT,
     false},
    {"--size", "WxH", "the size of the drawing [px]; a height of 0 is what the panels need",
     VALUE_TEXT, false},
    {"--columns", "LIST", "the columns that -o writes: \"t, x, theta', lambda(pin)\"", VALUE_TEXT,
     false},
    {"--corrections", NULL,
     ("with columns nu, Lambda and lambda.smooth of each constraint (methods nsga-pvv, nsga-pva, "
      "ga-pv, ga-pva); also where --columns names one"),
     VALUE_NONE, false},
    {"--json", NULL, "print the summary as one JSON object on standard output", VALUE_NONE, true},
    {"--project", NULL, "move a start that is off the constraints onto them, and say what changed",
     VALUE_NONE, true},
    {"--keep", "NAMES", "coordinates and rates that --project leaves as they are: \"x, phi'\"",
     VALUE_TEXT, false},
    {"--checkpoint", "FILE",
     "write the whole run to FILE, from which it can go on after a crash, with --every", VALUE_FILE,
     false},
    {"--every", "S",
     ("each S seconds of simulated time, or more seldom where that would slow the run down by more "
      "than a fifth"),
     VALUE_TEXT, false},
    {"--restart", "FILE",
     ("go on from a checkpoint, with the same model, parameters, options and -o; the results are "
      "those of a run that was never interrupted"),
     VALUE_FILE, false},
    {"--no-balance", NULL,
     ("do not integrate the works that change the energy: faster, and the drift of the summary is "
      "then all that the energy has changed by"),
     VALUE_NONE, false},
    {"--strict", NULL, "warnings make the exit code 1", VALUE_NONE, false},
    {"-q, --quiet", NULL, "no summary and no progress", VALUE_NONE, true},
    {0}};

static volatile sig_atomic_t interrupted;

static void on_signal(int signal) {
  (void)signal;
  interrupted = 1;
}

// A hang-up ends the run as Ctrl-C does, unless it is ignored on purpose (nohup).
static void catch_signals(void) {
  struct sigaction before;
  struct sigaction action = {.sa_handler = on_signal};
  action.sa_flags = (int)SA_RESETHAND;  // a second Ctrl-C ends the program at once
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
    sigaction(SIGHUP, &action, NULL);
  }
}

// ---- outputs ------------------------------------------------------------------------------------
// By its ending; - is CSV on standard output. -1: none.
static int format_of(const char* path) {
  return strcmp(path, "-") == 0 ? PAWL_FORMAT_CSV : pawl_format_of(path);
}

// ".csv or .h5": the usual ending of each format, behind `before`.
static const char* endings(const char* before, const char* between, char* text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int k = 0; pawl_format_name(k) && used < size; k++) {
    used += (size_t)snprintf(text + used, size - used, "%s%s%s", k ? between : "", before,
                             pawl_format_ending(k, 0));
  }
  return text;
}

// A folder that cannot be written to is known before the run, not after it.
static int check_folder(const char* path) {
  char* copy = strdup(path);
  if (!copy) {
    return complain_memory();
  }
  int failed = access(dirname(copy), W_OK) != 0;
  if (failed) {
    complain(EXIT_RUN, "%s: cannot be written: %s", path, strerror(errno));
  }
  free(copy);
  return failed ? EXIT_RUN : 0;
}

// Writing over the model itself is refused: same device and inode, whatever the path.
static int check_not_model(const Arguments* a, const char* path) {
  struct stat model, output;
  if (stat(a->model, &model) == 0 && stat(path, &output) == 0 && model.st_dev == output.st_dev &&
      model.st_ino == output.st_ino) {
    return complain(EXIT_USAGE, "%s is the model itself and would be replaced", path);
  }
  return 0;
}

static int check_target(const Arguments* a, const char* path) {
  int failed = check_not_model(a, path);
  return failed ? failed : check_folder(path);
}

static int check_motion(const Arguments* a) {
  PawlMotionDef def;
  if (a->strobe && !a->animate) {
    return complain(EXIT_USAGE, "--strobe says how --animate FILE draws; there is none");
  }
  int code = a->animate ? motion_def(a, &def) : 0;
  return code || !a->animate ? code : check_target(a, a->animate);
}

static int check_plot(const Arguments* a) {
  PawlPlotDef def;
  if (!a->plot && (a->plot_y || a->plot_x)) {
    return complain(EXIT_USAGE, "-y and -x say what --plot draws; there is none");
  }
  if (!a->plot && !a->animate && (a->window || a->size)) {
    return complain(EXIT_USAGE,
                    "--window and --size say what --plot or --animate draws; there is none");
  }
  if (!a->plot) {
    return 0;
  }
  int code = plot_def(a, &def);
  code = code ? code : picture_check("--plot", a->plot);
  return code ? code : check_target(a, a->plot);
}

static int check_outputs(const Arguments* a) {
  if (a->report && pawl_format_of(a->report) != PAWL_FORMAT_REPORT) {
    return complain(EXIT_USAGE, "--report %s: the name must end in .html", a->report);
  }
  for (int k = 0; k < a->output_count; k++) {
    const char* path = a->outputs[k];
    int format = format_of(path);
    char list[100];
    if (format < 0) {
      return complain(EXIT_USAGE, "-o %s: the name must end in %s, or be - for CSV", path,
                      endings("", " or ", list, sizeof list));
    }
    if (!pawl_format_exists(format)) {
      return complain(EXIT_USAGE, "-o %s: this pawl was built without %s", path,
                      pawl_format_name(format));
    }
    if (a->json && strcmp(path, "-") == 0) {
      return complain(EXIT_USAGE, "-o - and --json would both write to standard output");
    }
    for (int i = 0; i < k; i++) {
      if (strcmp(path, a->outputs[i]) == 0) {
        return complain(EXIT_USAGE, "-o %s is given twice", path);
      }
    }
    int failed = strcmp(path, "-") == 0 ? 0 : check_target(a, path);
    if (failed) {
      return failed;
    }
  }
  if (a->columns && a->output_count == 0) {
    return complain(EXIT_USAGE, "--columns chooses what -o FILE writes; there is no -o");
  }
  int code = check_motion(a);
  return code ? code : check_plot(a);
}

// The seconds of --every, 0 without; negative after a message.
static double checkpoint_interval(const Arguments* a) {
  char* end = NULL;
  double every = a->every ? strtod(a->every, &end) : 0.0;
  if (!a->checkpoint && !a->every) {
    return 0.0;
  }
  if (!a->checkpoint || !a->every) {
    complain(EXIT_USAGE, "--checkpoint FILE and --every S go together; %s is missing",
             a->checkpoint ? "--every" : "--checkpoint");
    return -1.0;
  }
  if (*end != '\0' || end == a->every || !(every > 0.0) || !isfinite(every)) {
    complain(EXIT_USAGE, "--every %s: a positive number of seconds is expected", a->every);
    return -1.0;
  }
  return every;
}

// What a checkpoint counts on: files that can be cut back, and a place of its own.
static int check_checkpoint(const Arguments* a) {
  if (checkpoint_interval(a) < 0.0) {
    return EXIT_USAGE;
  }
  for (int k = 0; (a->checkpoint || a->restart) && k < a->output_count; k++) {
    struct stat info;
    bool direct = stat(a->outputs[k], &info) == 0 && !S_ISREG(info.st_mode);
    if (direct || strcmp(a->outputs[k], "-") == 0) {
      return complain(EXIT_USAGE, "-o %s: %s needs a file, which a restart can cut back",
                      a->outputs[k], a->checkpoint ? "--checkpoint" : "--restart");
    }
    if (a->checkpoint && strcmp(a->outputs[k], a->checkpoint) == 0) {
      return complain(EXIT_USAGE, "--checkpoint %s is a file of -o, too", a->checkpoint);
    }
  }
  return a->checkpoint ? check_target(a, a->checkpoint) : 0;
}

// The writers of all -o, fed sample by sample while the run goes on.
typedef struct Outputs {
  int count;
  PawlWriter* writers[MOST_OUTPUTS];
  bool reports;  // some of them are
  char* text;    // of the model, for these; NULL: not known
  const PawlModel* model;
  char* summary;  // for these, JSON; NULL without
} Outputs;

// FILE.part of a run that was killed gives way to that of this run.
static void tell_of_part(const Arguments* a, const char* path) {
  char part[4096];
  int length = snprintf(part, sizeof part, "%s.part", path);
  bool there = length > 0 && length < (int)sizeof part && access(part, F_OK) == 0;
  if (there && !a->restart && !a->quiet) {
    fprintf(stderr, "%s is of a run that did not end; it is replaced\n", part);
  }
}

static int begin_report(const Arguments* a, const PawlModel* model, Outputs* out) {
  out->reports = true;
  int code = out->text ? 0 : model_text(a, &out->text);
  code = code ? code : report_begin(model, out->text, out->writers[out->count]);
  if (code) {
    pawl_writer_destroy(out->writers[out->count]);
  }
  return code;
}

static int open_outputs(const Arguments* a, const PawlModel* model, Outputs* out) {
  PawlError err = {0};
  for (; out->count < a->output_count; out->count++) {
    const char* path = a->outputs[out->count];
    int format = format_of(path);
    bool report = format == PAWL_FORMAT_REPORT;
    tell_of_part(a, path);
    if (pawl_writer_create((PawlFormat)format, path, report ? NULL : a->columns,
                           &out->writers[out->count], &err) != PAWL_OK) {
      return report_error(&err);
    }
    int code = report ? begin_report(a, model, out) : 0;
    if (code) {
      return code;
    }
    if ((a->checkpoint || a->restart) &&
        pawl_writer_resumable(out->writers[out->count], &err) != PAWL_OK) {
      pawl_writer_destroy(out->writers[out->count]);
      return report_error(&err);
    }
  }
  return 0;
}

static void destroy_outputs(Outputs* out) {
  for (int k = 0; k < out->count; k++) {
    pawl_writer_destroy(out->writers[k]);
  }
  free(out->text);
  free(out->summary);
}

static PawlStatus write_sample(void* context, const PawlRecorder* recorder, const double* sample,
                               PawlError* err) {
  Outputs* out = context;
  PawlStatus status = PAWL_OK;
  for (int k = 0; status == PAWL_OK && k < out->count; k++) {
    status = pawl_writer_add(out->writers[k], recorder, sample, err);
  }
  return status;
}

static int after_writing(PawlStatus status, const PawlError* err, const char* path, bool quiet) {
  if (status != PAWL_OK) {
    return report_error(err);
  }
  if (!quiet && strcmp(path, "-") != 0) {
    fprintf(stderr, "wrote %s\n", path);
  }
  return 0;
}

// All are tried, also when one fails.
static int finish_outputs(const Arguments* a, const PawlSim* sim, Outputs* out, bool ended) {
  const PawlRecorder* recorder = pawl_sim_recorder(sim);
  int code = 0;
  for (int k = 0; k < out->count; k++) {
    PawlError err = {0};
    pawl_writer_summary(out->writers[k], out->summary, pawl_sim_state(sim));
    PawlStatus status = pawl_writer_finish(out->writers[k], recorder, &err);
    int failed = after_writing(status, &err, a->outputs[k], a->quiet);
    code = failed ? failed : code;
    if (!failed && ended) {
      pawl_writer_forget(out->writers[k]);
    }
  }
  if (a->plot) {
    PawlPlotDef def;
    int failed = plot_def(a, &def);
    failed = failed ? failed : plot_runs(&def, 1, &recorder, NULL, a->plot, a->quiet);
    code = failed ? failed : code;
  }
  if (a->animate) {
    int failed = motion_draw(a, out->model, recorder);
    code = failed ? failed : code;
  }
  return code;
}

// ---- progress -----------------------------------------------------------------------------------
typedef struct Progress {
  bool shown;
  int calls;
  double begin, last;
  // checkpoints
  const char* file;  // NULL without
  double every;      // [s]
  double next;       // time of the next one [s]
  double spent;      // on those so far [s of the clock]
  const PawlSim* sim;
  const Outputs* out;
  PawlError failed;  // of a checkpoint; ends the run
} Progress;

// The first multiple of --every behind t.
static double next_checkpoint(const Progress* p, double t) {
  return p->every * (floor(t / p->every) + 1.0);
}

// A checkpoint waits for the disk. The first second that they take is free; beyond it they may take
// a fifth of the run, and some that are due are left out.
static bool is_affordable(const Progress* p, double now) {
  static const double FREE = 1.0, SHARE = 0.2;
  return p->spent <= FREE + SHARE * (now - p->begin);
}

// An end needs no checkpoint: its results are complete.
static bool checkpoint_fails(Progress* p, double t) {
  if (!p->file || t < p->next || pawl_sim_ended(p->sim)) {
    return false;
  }
  p->next = next_checkpoint(p, t);
  double begin = seconds_now();
  if (!is_affordable(p, begin)) {
    return false;
  }
  PawlStatus status =
      pawl_checkpoint_write(p->file, p->sim, p->out->count, p->out->writers, &p->failed);
  p->spent += seconds_now() - begin;
  return status != PAWL_OK;
}

static int on_step(void* context, double t, double until) {
  enum { CALLS_BETWEEN_LOOKS = 16 };
  Progress* p = context;
  if (checkpoint_fails(p, t)) {
    return 1;
  }
  if (p->shown && ++p->calls % CALLS_BETWEEN_LOOKS == 0) {
    double now = seconds_now();
    if (now - p->last > 0.1 && now - p->begin > 0.5) {
      p->last = now;
      double left = (now - p->begin) * (until - t) / t;
      fprintf(stderr, "\r\033[Kt = %.4g of %.4g s, %.0f%%, %.0f s left", t, until, 100 * t / until,
              left);
    }
  }
  return interrupted;
}

// ---- summary ------------------------------------------------------------------------------------
static void print_state(const PawlSystem* system, const PawlState* state) {
  enum { MOST_SHOWN = 8 };
  PawlSizes n = pawl_system_sizes(system);
  fprintf(stderr, "at t = %.10g:", state->t);
  for (int k = 0; k < n.q && k < MOST_SHOWN; k++) {
    bool is_state = k >= n.q - n.states;
    fprintf(stderr, "%s %s = %.9g", k ? "," : "", pawl_system_coordinate_name(system, k),
            is_state ? state->v[k] : state->q[k]);
  }
  fprintf(stderr, "%s\n", n.q > MOST_SHOWN ? ", ..." : "");
}

// Whether an impact law has made energy that is worth a warning, into `text`.
static bool law_gains(const PawlSim* sim, double moved, char* text, size_t room) {
  static const double WORTH_A_WARNING = 1e-2;
  const char* constraint;
  double gain = pawl_sim_law_gain(sim, &constraint);
  if (!constraint || gain <= WORTH_A_WARNING * moved) {
    return false;
  }
  snprintf(
      text, room,
      "jumps of constraint '%.100s' have put %.4g J into the motion: its impact law pushes along "
      "the gradient that was, which can make energy; bisector keeps it, and post loses some",
      constraint, gain);
  return true;
}

// What a user should know of a run that ended well, one text each; NULL past the last.
static const char* warning_of(const PawlSim* sim, int index) {
  static const double DRIFT_WORTH_A_WARNING = 1e-3, VELOCITY_DRIFT_WORTH_A_WARNING = 1e-2;
  static char text[400];
  PawlSummary s = pawl_sim_summary(sim);
  const char* list[7];
  int count = 0;
  if (law_gains(sim, s.energy_moved, text, sizeof text)) {
    list[count++] = text;
  }
  if (pawl_sim_warning(sim)[0]) {
    list[count++] = pawl_sim_warning(sim);
  }
  if (s.drift > DRIFT_WORTH_A_WARNING) {
    list[count++] =
        "positions have drifted off the constraints by more than 0.1%; a smaller step, or a "
        "method that holds positions, helps";
  }
  if (s.velocity_drift > VELOCITY_DRIFT_WORTH_A_WARNING) {
    list[count++] =
        "velocities violate the constraints by more than 1%: expected right after a switch "
        "with ga-p or ga-a, else a sign that the step is too large";
  }
  if (pawl_sim_energy_drifts(sim) && !pawl_sim_works_unknown(sim)) {  // else it says nothing
    const PawlSimulateDef* def = pawl_stepper_def(pawl_sim_stepper(sim));
    list[count++] = strstr(pawl_sim_warning(sim), "energy leaps by")
                        ? "the energy drifts by more than the works explain: the leaps named above "
                          "are in it, and smaller steps or tolerances do not change them"
                    : pawl_method_uses(def, "rtol")
                        ? "the energy drifts by more than the works and the tolerances explain; "
                          "smaller rtol and atol, or another method, help"
                        : "the energy drifts by more than 1% of what the run has moved, and no "
                          "work explains it; a smaller step, or a method of higher order, helps";
  }
  if (pawl_sim_works_unknown(sim)) {
    list[count++] =
        "the steps are too coarse to know the works: their integrals may be wrong by more than "
        "the energy is allowed to drift, and so the motion between the steps; a smaller step helps";
  }
  return index < count ? list[index] : NULL;
}

static void print_events(const PawlRecorder* recorder, double size) {
  enum { MOST_SHOWN = 3 };
  int count = pawl_recorder_event_count(recorder);
  for (int k = 0; k < count && k < MOST_SHOWN; k++) {
    const PawlEvent* e = pawl_recorder_event(recorder, k);
    fprintf(stderr, "%s%s %s at %.6g s", k ? ", " : "", e->constraint, e->to, e->t);
    if (fabs(e->energy_lost) > 1e-9 * size) {
      fprintf(stderr, " (%.4g J %s)", fabs(e->energy_lost), e->energy_lost > 0 ? "lost" : "gained");
    }
  }
  if (count > MOST_SHOWN) {
    fprintf(stderr, ", and %d more; --json lists all", count - MOST_SHOWN);
  }
  fprintf(stderr, "%s", count ? "\n" : "");
}

static const char* const work_names[] = {
    [PAWL_WORK_FORCES] = "forces",     [PAWL_WORK_DISSIPATION] = "dissipation",
    [PAWL_WORK_FRICTION] = "friction", [PAWL_WORK_DRIVES] = "drives",
    [PAWL_WORK_TIME] = "time",         [PAWL_WORK_JUMPS] = "jumps"};

// "energy 4 J -> 1 J: dissipation -2 J, jumps -1 J; largest drift 1e-9 J"
static void print_energy(const PawlSim* sim, const PawlSummary* s) {
  const char* before = ": ";
  fprintf(stderr, "energy %.10g J -> %.10g J", s->energy_start, s->energy_end);
  for (int k = 0; k <= PAWL_WORK_JUMPS; k++) {
    if (pawl_stepper_has_work(pawl_sim_stepper(sim), (PawlWork)k)) {
      fprintf(stderr, "%s%s %.7g J", before, work_names[k], s->works[k]);
      before = ", ";
    }
  }
  fprintf(stderr, "; largest drift %.3g J\n", s->energy_max_drift);
}

static void print_summary(const PawlSystem* system, const PawlSim* sim) {
  PawlSummary s = pawl_sim_summary(sim);
  const PawlSimulateDef* def = pawl_stepper_def(pawl_sim_stepper(sim));
  fprintf(stderr, "%s: %s, %lld steps of %g s to t = %.10g s in %.3g s (%.3g us per step)\n",
          pawl_system_name(system), def->method, s.work.steps, def->step, s.t, s.wall_seconds,
          s.work.steps ? 1e6 * s.wall_seconds / (double)s.work.steps : 0.0);
  if (s.smaller_steps) {
    fprintf(stderr,
            "%lld steps did not converge, or passed a contact, and were taken in smaller "
            "pieces\n",
            s.smaller_steps);
  }
  if (s.work.kinks) {
    fprintf(stderr, "%lld step%s ended at a kink\n", s.work.kinks, s.work.kinks == 1 ? "" : "s");
  }
  print_events(pawl_sim_recorder(sim),
               fabs(s.energy_start) + fabs(s.energy_end) + s.energy_max_drift);
  print_state(system, pawl_sim_state(sim));
  print_energy(sim, &s);
  if (pawl_system_sizes(system).rows > 0) {
    fprintf(stderr, "largest residuals: position %.2g, velocity %.2g, acceleration %.2g\n",
            s.residual[0], s.residual[1], s.residual[2]);
  }
}

static void json_named(Json* json, const char* key, const PawlSystem* system, int first, int end,
                       const double* values) {
  PawlSizes n = pawl_system_sizes(system);
  json_open(json, key, '{');
  for (int k = first; k < end; k++) {
    char name[32];
    snprintf(name, sizeof name, "v[%d]", k);
    bool named = n.q == n.v || key[0] == 'q';
    json_number(json, named ? pawl_system_coordinate_name(system, k) : name, values[k]);
  }
  json_close(json, '}');
}

static void json_inputs(Json* json, const PawlSystem* system, const PawlSim* sim) {
  json_open(json, "inputs", '{');
  for (int k = 0; k < pawl_system_sizes(system).inputs; k++) {
    json_number(json, pawl_system_input_name(system, k), pawl_sim_input(sim, k));
  }
  json_close(json, '}');
}

// The facts "GROUP/name" of the run as an object.
static void json_facts(Json* json, const char* group, const PawlRecorder* recorder) {
  size_t length = strlen(group);
  const char* name;
  json_open(json, group, '{');
  for (int k = 0; (name = pawl_recorder_fact_name(recorder, k)); k++) {
    double number;
    if (strncmp(name, group, length) != 0 || name[length] != '/') {
      continue;
    }
    if (pawl_recorder_fact_number(recorder, k, &number)) {
      json_number(json, name + length + 1, number);
    } else {
      json_text(json, name + length + 1, pawl_recorder_fact_value(recorder, k));
    }
  }
  json_close(json, '}');
}

static void json_events(Json* json, const PawlRecorder* recorder) {
  json_open(json, "events", '[');
  for (int k = 0; k < pawl_recorder_event_count(recorder); k++) {
    const PawlEvent* e = pawl_recorder_event(recorder, k);
    json_open(json, NULL, '{');
    json_number(json, "t", e->t);
    json_text(json, "constraint", e->constraint);
    json_text(json, "from", e->from);
    json_text(json, "to", e->to);
    json_number(json, "energy_lost", e->energy_lost);
    json_numbers(json, "impulse", e->row_count, e->impulse);
    json_numbers(json, "v_before", e->v_count, e->v_before);
    json_numbers(json, "v_after", e->v_count, e->v_after);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void json_works(Json* json, const PawlSim* sim, const PawlSummary* s) {
  json_open(json, "work", '{');
  for (int k = 0; k <= PAWL_WORK_JUMPS; k++) {
    if (pawl_stepper_has_work(pawl_sim_stepper(sim), (PawlWork)k)) {
      json_number(json, work_names[k], s->works[k]);
    }
  }
  json_close(json, '}');
  json_number(json, "work_error", s->works[PAWL_WORK_ERROR]);
}

// `reason`, for reports: why a run ended early; they have the events elsewhere. NULL: not for one.
static void print_json(FILE* to, const PawlSystem* system, const PawlSim* sim,
                       const Projection* projection, int code, const char* reason) {
  PawlSummary s = pawl_sim_summary(sim);
  const PawlSimulateDef* def = pawl_stepper_def(pawl_sim_stepper(sim));
  const PawlState* state = pawl_sim_state(sim);
  PawlSizes n = pawl_system_sizes(system);
  Json json = {to, 0, true};
  json_open(&json, NULL, '{');
  json_text(&json, "model", pawl_system_name(system));
  json_status(&json, code);
  if (reason) {
    json_text(&json, "reason", reason);
  }
  json_text(&json, "method", def->method);
  json_text(&json, "method_reason", method_reason(sim));
  json_number(&json, "step", def->step);
  json_facts(&json, "options", pawl_sim_recorder(sim));
  json_facts(&json, "parameters", pawl_sim_recorder(sim));
  projection_json(projection, &json);
  json_whole(&json, "steps", s.work.steps);
  json_whole(&json, "smaller_steps", s.smaller_steps);
  json_whole(&json, "newton_iterations", s.work.newton_iterations);
  json_whole(&json, "factorizations", s.work.factorizations);
  json_whole(&json, "kinks", s.work.kinks);
  json_number(&json, "wall_seconds", s.wall_seconds);
  json_open(&json, "final", '{');
  json_number(&json, "t", state->t);
  json_named(&json, "q", system, 0, n.q - n.states, state->q);
  json_named(&json, "v", system, 0, n.v - n.states, state->v);
  if (n.states > 0) {
    json_named(&json, "states", system, n.v - n.states, n.v, state->v);
  }
  if (n.inputs > 0) {
    json_inputs(&json, system, sim);
  }
  json_close(&json, '}');
  json_open(&json, "energy", '{');
  json_number(&json, "start", s.energy_start);
  json_number(&json, "end", s.energy_end);
  json_number(&json, "max_drift", s.energy_max_drift);
  json_number(&json, "size", pawl_summary_energy_size(&s));
  json_works(&json, sim, &s);
  json_close(&json, '}');
  json_open(&json, "residual", '{');
  json_number(&json, "position", s.residual[0]);
  json_number(&json, "velocity", s.residual[1]);
  json_number(&json, "acceleration", s.residual[2]);
  json_close(&json, '}');
  json_open(&json, "warnings", '[');
  for (int k = 0; warning_of(sim, k); k++) {
    for (const char* at = warning_of(sim, k); *at;) {  // one entry a line
      char line[1000];
      int length = (int)strcspn(at, "\n");
      snprintf(line, sizeof line, "%.*s", length, at);
      json_text(&json, NULL, line);
      at += length + (at[length] == '\n');
    }
  }
  json_close(&json, ']');
  if (!reason) {
    json_events(&json, pawl_sim_recorder(sim));
  }
  json_close(&json, '}');
}

// The summary for reports; NULL when memory is short, which leaves it out.
static char* summary_text(const PawlSystem* system, const PawlSim* sim,
                          const Projection* projection, PawlStatus status, const PawlError* err) {
  char* text = NULL;
  size_t length;
  FILE* to = open_memstream(&text, &length);
  if (to) {
    int code = status == PAWL_OK ? EXIT_GOOD : status == PAWL_STOPPED ? EXIT_INTERRUPTED : EXIT_RUN;
    print_json(to, system, sim, projection, code, code == EXIT_RUN ? err->message : "");
    fclose(to);
  }
  return text;
}

// ---- the command --------------------------------------------------------------------------------
static void print_warnings(const PawlSim* sim) {
  for (int k = 0; warning_of(sim, k); k++) {
    warn(warning_of(sim, k));
  }
}

static int finish(const Arguments* a, const PawlSystem* system, const PawlSim* sim, Outputs* out,
                  const Projection* projection, PawlStatus status, const PawlError* err) {
  out->summary = out->reports ? summary_text(system, sim, projection, status, err) : NULL;
  int code = finish_outputs(a, sim, out, status == PAWL_OK);
  if (!a->quiet) {
    print_summary(system, sim);
  }
  print_warnings(sim);
  code = code ? code : strict_code(a);
  if (status == PAWL_STOPPED) {
    code = complain(EXIT_INTERRUPTED, "interrupted; the results up to here are complete");
  } else if (status != PAWL_OK) {
    code = report_error(err);
  }
  if (a->json) {
    print_json(stdout, system, sim, projection, code, NULL);
  }
  return code;
}

// How accurate a run is to be: auto may choose a method that is so without being told.
static bool says_accuracy(const char* option) {
  static const char* const OPTIONS[] = {"rtol", "atol", "tolerance", "iterations"};
  for (size_t k = 0; k < sizeof OPTIONS / sizeof *OPTIONS; k++) {
    if (strcmp(option, OPTIONS[k]) == 0) {
      return true;
    }
  }
  return false;
}

// An option that the method has no use for would be ignored, which is an error; only a warning
// where auto chose the method and the option asks for accuracy alone.
static int check_uses(const Arguments* a, const PawlSimulateDef* def, bool named) {
  char method[64], users[400], text[600];
  for (int k = 0; k < a->setting_count; k++) {
    const Setting* given = &a->settings[k];
    if (pawl_method_uses(def, given->name)) {
      continue;
    }
    (void)list_users(given->name, users, sizeof users);
    snprintf(text, sizeof text, "--%s %.60s: the method %s%s has no use for it; these have: %s",
             given->name, given->value, method_label(def, method, sizeof method),
             named ? "" : ", chosen by auto,", users);
    if (named || !says_accuracy(given->name)) {
      return complain(EXIT_USAGE, "%s", text);
    }
    warn(text);
  }
  return 0;
}

// What auto chose, and what it makes of the options.
static int show_choice(const Arguments* a, const PawlSim* sim) {
  char method[64];
  const PawlSimulateDef* def = pawl_stepper_def(pawl_sim_stepper(sim));
  const char* reason = pawl_stepper_reason(pawl_sim_stepper(sim));
  if (!reason[0]) {
    return 0;
  }
  if (!a->quiet) {
    fprintf(stderr, "method %s: %s\n", method_label(def, method, sizeof method), reason);
  }
  return check_uses(a, def, false);
}

// What a plot names must be there, which is known before the run.
static int check_names(const Arguments* a, const PawlSim* sim) {
  PawlPlotDef def;
  PawlError err = {0};
  int code = a->plot && (a->plot_y || a->plot_x) ? plot_def(a, &def) : 0;
  return code || !a->plot || (!a->plot_y && !a->plot_x) ||
                 pawl_plot_check(&def, pawl_sim_recorder(sim), &err) == PAWL_OK
             ? code
             : report_error(&err);
}

static PawlStatus create_sim(const Arguments* a, const PawlSystem* system, const PawlSimDef* def,
                             const Outputs* out, PawlSim** sim, PawlError* err) {
  return a->restart
             ? pawl_checkpoint_read(a->restart, system, def, out->count, out->writers, sim, err)
             : pawl_sim_create(system, def, sim, err);
}

static PawlStatus run_to_end(const Arguments* a, PawlSim* sim, const Outputs* out, PawlError* err) {
  double now = seconds_now();
  Progress progress = {.shown = !a->quiet && isatty(STDERR_FILENO),
                       .begin = now,
                       .last = now,
                       .file = a->checkpoint,
                       .every = checkpoint_interval(a),
                       .sim = sim,
                       .out = out};
  progress.next = a->checkpoint ? next_checkpoint(&progress, pawl_sim_state(sim)->t) : 0.0;
  PawlStatus status = pawl_sim_run(sim, on_step, &progress, err);
  if (progress.shown) {
    fputs("\r\033[K", stderr);
  }
  if (status == PAWL_STOPPED && progress.failed.status != PAWL_OK) {
    *err = progress.failed;
    status = progress.failed.status;
  }
  return status;
}

// Creates, runs and reports; `def` is complete.
static int run_sim(const Arguments* a, const PawlSystem* system, const PawlSimDef* def,
                   Outputs* out) {
  PawlError err = {0};
  PawlSim* sim;
  if (create_sim(a, system, def, out, &sim, &err) != PAWL_OK) {
    return report_error(&err);
  }
  int code = show_choice(a, sim);
  code = code ? code : check_names(a, sim);
  if (code) {
    pawl_sim_destroy(sim);
    return code;
  }
  // Of a run that goes on, that was told before.
  bool placed = (a->project || pawl_system_guesses(system)) && !a->restart;
  Projection* projection = NULL;
  if (placed && projection_create(system, pawl_sim_state(sim), &projection, &err) != PAWL_OK) {
    pawl_sim_destroy(sim);
    return report_error(&err);
  }
  if (!a->quiet) {
    projection_print(projection);
  }
  PawlStatus status = run_to_end(a, sim, out, &err);
  code = finish(a, system, sim, out, projection, status, &err);
  projection_destroy(projection);
  pawl_sim_destroy(sim);
  return code;
}

static int simulate(const Arguments* a, const PawlModel* model, const PawlSystem* system) {
  PawlSimDef def = pawl_sim_def_default();
  Outputs out = {.model = model};
  int code = simulate_def(a, model, &def.simulate);
  code = code ? code : check_uses(a, &def.simulate, true);
  def.project = a->project;
  def.keep = a->keep;
  def.balance = !a->no_balance;
  def.corrections = a->corrections || pawl_columns_corrections(a->columns) ||
                    pawl_columns_corrections(a->plot_y) || pawl_columns_corrections(a->plot_x);
  def.keep_samples = def.keep_sides = a->plot != NULL || a->animate != NULL;
  def.keep_most = ENOUGH_TO_PLOT;
  def.on_sample = a->output_count > 0 ? write_sample : NULL;
  def.on_sample_context = &out;
  catch_signals();
  if (!code && a->animate && !pawl_model_has_scene(model)) {
    code =
        complain(EXIT_USAGE,
                 "--animate %s: the model has no scene to draw; docs/model-format.md says how to "
                 "write one",
                 a->animate);
  }
  code = code ? code : open_outputs(a, model, &out);
  code = code ? code : run_sim(a, system, &def, &out);
  destroy_outputs(&out);
  return code;
}

static int run(int argc, char** argv) {
  Arguments a;
  int code = read_arguments(argc, argv, "mpsoyajPqScb", &a);
  code = code ? code : check_outputs(&a);
  code = code ? code : check_checkpoint(&a);
  if (code) {
    return code;
  }
  PawlError err = {0};
  PawlModel* model = load_model(&a, &err);
  PawlSystem* system = NULL;
  if (model && pawl_system_create(model, &system, &err) == PAWL_OK) {
    code = simulate(&a, model, system);
  } else {
    code = report_error(&err);
  }
  pawl_system_destroy(system);
  pawl_model_destroy(model);
  return code;
}

const Command command_run = {
    .name = "run",
    .line = "simulate a model",
    .run = run,
    .usage = "MODEL [-p NAME=VALUE]... [-o FILE]... [--report FILE] [--plot FILE] [--step h] ...",
    .about =
        "Simulates MODEL: a file, - for standard input, or the name of an example (`pawl "
        "models`).",
    .options = options,
    .settings = true,
    .notes =
        "A trajectory is written to FILE.part while the run goes on and is called FILE at its "
        "end, also when the run fails or is interrupted; should pawl be killed, FILE.part can "
        "be read up to the last second. At a jump there are two rows with its time, before "
        "and after it.\n"
        "The energy of the summary is a balance: the works that changed it, and a drift that "
        "none of them explains, a warning where it is more than the accuracy of the method "
        "(docs/theory/energy.md). Drift and residuals of the summary are judged at the "
        "recorded samples (--record)."};
