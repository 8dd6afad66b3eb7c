// SPDX-License-Identifier: Apache-2.0
// pawl run: simulates a model and writes what was asked for. Ctrl-C or a hang-up ends the run; what
// was computed until then is written.
#include "cli/run.h"

#include <string.h>

#include "cli/picture.h"

static const Option options[] = {
    {"-p", "NAME=VALUE", "set a parameter of the model; VALUE may be an expression, or [a, b]",
     VALUE_TEXT, true},
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
    {"--animate", "FILE",
     ("a small picture of the motion, of the scene of the model: FILE.svg moves by itself; "
      "FILE.gif "
      "and FILE.mp4 are made with the programs rsvg-convert and ffmpeg"),
     VALUE_FILE, true},
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
    {"--limits", NULL, "of a robot in URDF: make stops of the limits of joints", VALUE_NONE, false},
    {"--floating", NULL, "of a robot in URDF: let the base move freely", VALUE_NONE, false},
    {"-q, --quiet", NULL, "no summary and no progress", VALUE_NONE, true},
    {0}};

static int finish(const Arguments* a, const PawlSystem* system, const PawlSim* sim, RunOutputs* out,
                  const Projection* projection, PawlStatus status, const PawlError* err) {
  out->summary = out->reports ? run_summary_text(system, sim, projection, status, err) : NULL;
  int code = run_finish_outputs(a, sim, out, status == PAWL_OK);
  if (!a->quiet) {
    run_print_summary(system, sim);
  }
  run_print_warnings(sim);
  code = code ? code : strict_code(a);
  if (status == PAWL_STOPPED) {
    code = complain(EXIT_INTERRUPTED, "interrupted; the results up to here are complete");
  } else if (status != PAWL_OK) {
    code = report_error(err);
  }
  if (a->json) {
    run_print_json(stdout, system, sim, projection, code, NULL);
  }
  return code;
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
  return run_check_uses(a, def, false);
}

static PawlStatus create_sim(const Arguments* a, const PawlSystem* system, const PawlSimDef* def,
                             const RunOutputs* out, PawlSim** sim, PawlError* err) {
  return a->restart
             ? pawl_checkpoint_read(a->restart, system, def, out->count, out->writers, sim, err)
             : pawl_sim_create(system, def, sim, err);
}

// Creates, runs and reports; `def` is complete.
static int run_sim(const Arguments* a, const PawlSystem* system, const PawlSimDef* def,
                   RunOutputs* out) {
  PawlError err = {0};
  PawlSim* sim;
  if (create_sim(a, system, def, out, &sim, &err) != PAWL_OK) {
    return report_error(&err);
  }
  int code = show_choice(a, sim);
  code = code ? code : run_check_names(a, sim);
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
  RunOutputs out = {.model = model};
  int code = simulate_def(a, model, &def.simulate);
  code = code ? code : run_check_uses(a, &def.simulate, true);
  def.project = a->project;
  def.keep = a->keep;
  def.balance = !a->no_balance;
  def.corrections = a->corrections || pawl_columns_corrections(a->columns) ||
                    pawl_columns_corrections(a->plot_y) || pawl_columns_corrections(a->plot_x);
  def.keep_samples = def.keep_sides = a->plot != NULL || a->animate != NULL;
  def.keep_most = ENOUGH_TO_PLOT;
  def.on_sample = a->output_count > 0 ? run_write_sample : NULL;
  def.on_sample_context = &out;
  def.stop = run_catch_signals();
  if (!code && a->animate && !pawl_model_has_scene(model)) {
    code =
        complain(EXIT_USAGE,
                 "--animate %s: the model has no scene to draw; docs/model-format.md says how to "
                 "write one",
                 a->animate);
  }
  code = code ? code : run_open_outputs(a, model, &out);
  code = code ? code : run_sim(a, system, &def, &out);
  run_destroy_outputs(&out);
  return code;
}

static int run(int argc, char** argv) {
  Arguments a;
  int code = read_arguments(argc, argv, "mpsoyajPqScbR", &a);
  code = code ? code : run_check_outputs(&a);
  code = code ? code : run_check_checkpoint(&a);
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
        "recorded samples (--record), that of velocities also on both sides of jumps."};
