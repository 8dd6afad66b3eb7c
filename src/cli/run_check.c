// SPDX-License-Identifier: Apache-2.0
// pawl run: what can be known to be wrong before the first step: files, options, names.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/picture.h"
#include "cli/run.h"

int run_format_of(const char* path) {
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
  return failed ? failed : folder_check(path);
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

int run_check_outputs(const Arguments* a) {
  if (a->report && pawl_format_of(a->report) != PAWL_FORMAT_REPORT) {
    return complain(EXIT_USAGE, "--report %s: the name must end in .html", a->report);
  }
  for (int k = 0; k < a->output_count; k++) {
    const char* path = a->outputs[k];
    int format = run_format_of(path);
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
  if (a->plot && a->animate && strcmp(a->plot, a->animate) == 0) {
    return complain(EXIT_USAGE, "--plot and --animate would both write %s", a->plot);
  }
  int code = check_motion(a);
  return code ? code : check_plot(a);
}

double run_checkpoint_interval(const Arguments* a) {
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
int run_check_checkpoint(const Arguments* a) {
  if (run_checkpoint_interval(a) < 0.0) {
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
int run_check_uses(const Arguments* a, const PawlSimulateDef* def, bool named) {
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

// What a plot names, and its window, must be there, which is known before the run.
int run_check_names(const Arguments* a, const PawlSim* sim) {
  PawlPlotDef def;
  PawlError err = {0};
  int code = a->plot || a->window ? plot_def(a, &def) : 0;
  double begin = pawl_sim_state(sim)->t, end = pawl_stepper_def(pawl_sim_stepper(sim))->until;
  if (!code && a->window && !(def.from < end && def.to > begin)) {
    return complain(EXIT_USAGE, "--window %s: the run goes from %g s to %g s", a->window, begin,
                    end);
  }
  return code || !a->plot || (!a->plot_y && !a->plot_x) ||
                 pawl_plot_check(&def, pawl_sim_recorder(sim), &err) == PAWL_OK
             ? code
             : report_error(&err);
}
