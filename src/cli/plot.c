// SPDX-License-Identifier: Apache-2.0
// pawl plot: draws trajectories that were written to files.
#include <stdlib.h>
#include <string.h>

#include "cli/picture.h"

enum { LONGEST_NAME = 4096 };

static const Option options[] = {
    {"-o", "FILE",
     "FILE.svg, FILE.pdf or FILE.png; without it the name of the first run, with .svg", VALUE_FILE,
     true},
    {"-y", "LIST",
     ("what is drawn: \"x, theta', lambda(pin), l*sin(phi)\", columns and expressions of columns "
      "and parameters"),
     VALUE_TEXT, true},
    {"-x", "NAME", "the horizontal axis, for phase portraits; without it the time", VALUE_TEXT,
     true},
    {"--window", "FROM:TO", "times [s]; either may be left out", VALUE_TEXT, true},
    {"--size", "WxH", "in px, as 800x600; a height of 0 is what the panels need", VALUE_TEXT, true},
    {"-q, --quiet", NULL, "do not say what was written", VALUE_NONE, true},
    {0}};

// "runs/stiff.h5" is called stiff.
static char* name_of(const char* path) {
  const char* slash = strrchr(path, '/');
  char* name = strdup(slash ? slash + 1 : path);
  char* dot = name ? strrchr(name, '.') : NULL;
  if (dot && dot > name) {
    *dot = '\0';
  }
  return name;
}

typedef struct Runs {
  int count;
  PawlRecorder* runs[PAWL_PLOT_RUNS];
  char* names[PAWL_PLOT_RUNS];
} Runs;

static int read_runs(const Arguments* a, const PawlPlotDef* def, Runs* out) {
  PawlError err = {0};
  for (; out->count < a->file_count; out->count++) {
    int k = out->count;
    if (pawl_run_read(a->files[k], def->from, def->to, ENOUGH_TO_PLOT, &out->runs[k], &err)) {
      return report_error(&err);
    }
    out->names[k] = name_of(a->files[k]);
    if (!out->names[k]) {
      pawl_run_free(out->runs[k]);
      return complain_memory();
    }
  }
  return 0;
}

// Runs in several folders may have one name: they are called by their paths then.
static bool names_differ(const Runs* runs) {
  for (int k = 1; k < runs->count; k++) {
    for (int i = 0; i < k; i++) {
      if (strcmp(runs->names[i], runs->names[k]) == 0) {
        return false;
      }
    }
  }
  return true;
}

static int draw(const Arguments* a, PawlPlotDef* def, const Runs* runs) {
  char own[LONGEST_NAME];
  const PawlRecorder* shown[PAWL_PLOT_RUNS];
  const char* names[PAWL_PLOT_RUNS];
  bool differ = names_differ(runs);
  for (int k = 0; k < runs->count; k++) {
    shown[k] = runs->runs[k];
    names[k] = differ ? runs->names[k] : a->files[k];
  }
  const char* dot = strrchr(a->files[0], '.');
  snprintf(own, sizeof own, "%.*s.svg", (int)(dot - a->files[0]), a->files[0]);
  const char* path = a->output_count ? a->outputs[0] : own;
  return plot_runs(def, runs->count, shown, names, path, a->quiet);
}

static int check(const Arguments* a) {
  if (a->file_count == 0) {
    return complain(EXIT_USAGE, "a run is missing: a file that `pawl run -o FILE.h5` wrote");
  }
  if (a->output_count > 1) {
    return complain(EXIT_USAGE, "-o %s: one picture is drawn", a->outputs[1]);
  }
  return a->output_count ? picture_check("-o", a->outputs[0]) : 0;
}

static int run(int argc, char** argv) {
  Arguments a;
  Runs runs = {0};
  PawlPlotDef def;
  int code = read_arguments(argc, argv, "fFyq", &a);
  code = code ? code : check(&a);
  code = code ? code : plot_def(&a, &def);
  code = code ? code : read_runs(&a, &def, &runs);
  code = code ? code : draw(&a, &def, &runs);
  for (int k = 0; k < runs.count; k++) {
    pawl_run_free(runs.runs[k]);
    free(runs.names[k]);
  }
  return code;
}

const Command command_plot = {
    .name = "plot",
    .line = "draw runs that were written to files",
    .run = run,
    .usage = "RUN... [-o FILE] [-y LIST] [-x NAME] [--window FROM:TO] [--size WxH]",
    .about =
        "Draws runs that `pawl run -o RUN.h5` or RUN.csv wrote: one with its events, or up to "
        "12 in one picture, each quantity in a panel in which the runs are compared.",
    .options = options,
    .place = PLACE_FILE,
    .notes =
        "A CSV file holds neither units nor parameters nor events; HDF5 does. A file that is "
        "still being written, RUN.csv.part, can be drawn up to where it is."};
