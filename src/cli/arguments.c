// SPDX-License-Identifier: Apache-2.0
// Reading the command line, loading the model it names, and reporting errors.
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

static int bad(const char* what, const char* argument) {
  return complain(EXIT_USAGE, "%s '%s'; pawl COMMAND --help lists the options of a command", what,
                  argument);
}

// The canonical name of a setting, so that "--step=1" needs no copy.
static const char* setting_name(const char* name, size_t length) {
  PawlOptionInfo info;
  for (int k = 0; pawl_simulate_option(k, &info); k++) {
    if (strlen(info.name) == length && strncmp(info.name, name, length) == 0) {
      return info.name;
    }
  }
  return NULL;
}

typedef struct Reader {
  int argc, at;
  char** argv;
  const char* takes;
  Arguments* out;
} Reader;

static bool takes(const Reader* r, char letter) {
  return strchr(r->takes, letter) != NULL;
}

// The value of an option: behind '=' or the next argument; NULL when there is none.
static const char* value_of(Reader* r, const char* option) {
  const char* equals = strncmp(option, "--", 2) == 0 ? strchr(option, '=') : NULL;
  if (equals) {
    return equals + 1;
  }
  return r->at + 1 < r->argc ? r->argv[++r->at] : NULL;
}

static int add_text(Reader* r, const char* option, int* count, int most, const char** list) {
  const char* value = value_of(r, option);
  if (!value) {
    return bad("a value is missing behind", option);
  }
  if (*count == most) {
    return bad("too many of", option);
  }
  list[(*count)++] = value;
  return 0;
}

static bool is_flag(const char* argument, const char* flag, size_t length) {
  return strlen(flag) == length && strncmp(argument, flag, length) == 0;
}

static int read_option(Reader* r, const char* a) {
  Arguments* out = r->out;
  size_t length = strncmp(a, "--", 2) == 0 ? strcspn(a, "=") : strlen(a);
  if (takes(r, 'p') && (is_flag(a, "-p", length) || is_flag(a, "--parameter", length))) {
    return add_text(r, a, &out->override_count, MOST_OVERRIDES, out->overrides);
  }
  if ((takes(r, 'o') || takes(r, 'F')) &&
      (is_flag(a, "-o", length) || is_flag(a, "--output", length))) {
    return add_text(r, a, &out->output_count, MOST_OUTPUTS, out->outputs);
  }
  if ((takes(r, 'o') || takes(r, 'g')) && is_flag(a, "--plot", length)) {
    out->plot = value_of(r, a);
    return out->plot ? 0 : bad("a file name is missing behind", a);
  }
  if (takes(r, 'o') && is_flag(a, "--report", length)) {
    int failed = add_text(r, a, &out->output_count, MOST_OUTPUTS, out->outputs);
    out->report = failed ? NULL : out->outputs[out->output_count - 1];
    return failed;
  }
  if (takes(r, 'P') && is_flag(a, "--keep", length)) {
    out->keep = value_of(r, a);
    return out->keep ? 0 : bad("names of coordinates or rates are missing behind", a);
  }
  if (takes(r, 'o') && is_flag(a, "--columns", length)) {
    out->columns = value_of(r, a);
    return out->columns ? 0 : bad("names of columns are missing behind", a);
  }
  const struct {
    char letter;
    const char *name, *missing;
    const char** to;
  } texts[] = {{'c', "--checkpoint", "a file name is missing behind", &out->checkpoint},
               {'c', "--every", "a time is missing behind", &out->every},
               {'c', "--restart", "a file name is missing behind", &out->restart},
               {'a', "--animate", "a file name is missing behind", &out->animate},
               {'a', "--strobe", "a number is missing behind", &out->strobe},
               {'y', "-y", "names of columns are missing behind", &out->plot_y},
               {'y', "-x", "the name of a column is missing behind", &out->plot_x},
               {'y', "--window", "times are missing behind", &out->window},
               {'y', "--size", "a size is missing behind", &out->size}};
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    if (takes(r, texts[k].letter) && is_flag(a, texts[k].name, length)) {
      *texts[k].to = value_of(r, a);
      return *texts[k].to ? 0 : bad(texts[k].missing, a);
    }
  }
  if (takes(r, 's') && length > 2 && setting_name(a + 2, length - 2)) {
    const char* value = value_of(r, a);
    if (!value) {
      return bad("a value is missing behind", a);
    }
    if (out->setting_count == MOST_SETTINGS) {
      return bad("too many options at", a);
    }
    out->settings[out->setting_count++] = (Setting){setting_name(a + 2, length - 2), value};
    return 0;
  }
  const struct {
    char letter;
    const char* name;
    bool* flag;
  } flags[] = {{'j', "--json", &out->json},
               {'P', "--project", &out->project},
               {'q', "--quiet", &out->quiet},
               {'q', "-q", &out->quiet},
               {'S', "--strict", &out->strict},
               {'b', "--no-balance", &out->no_balance},
               {'o', "--corrections", &out->corrections},
               {'R', "--limits", &out->limits},
               {'R', "--floating", &out->floating},
               {'l', "--latex", &out->latex}};
  for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
    if (takes(r, flags[k].letter) && strcmp(a, flags[k].name) == 0) {
      *flags[k].flag = true;
      return 0;
    }
  }
  return bad("unknown option", a);
}

int read_arguments(int argc, char** argv, const char* takes_letters, Arguments* out) {
  *out = (Arguments){0};
  Reader r = {argc, 0, argv, takes_letters, out};
  for (; r.at < argc; r.at++) {
    const char* a = argv[r.at];
    if (strcmp(a, "--help") == 0 || strcmp(a, "-h") == 0) {
      out->help = true;
      return 0;
    }
    if (a[0] == '-' && a[1] != '\0') {
      int failed = read_option(&r, a);
      if (failed) {
        return failed;
      }
    } else if (takes(&r, 'f') && out->file_count < MOST_FILES) {
      out->files[out->file_count++] = a;
    } else if (!takes(&r, 'm') || out->model) {
      return bad("unexpected argument", a);
    } else {
      out->model = a;
    }
  }
  if (out->keep && !out->project) {
    return complain(EXIT_USAGE, "--keep says what --project leaves alone; there is no --project");
  }
  if (takes(&r, 'm') && !out->model) {
    return complain(
        EXIT_USAGE,
        "a model is missing: a file, - for standard input, or a name that `pawl models` "
        "lists");
  }
  return 0;
}

static const Example* find_example(const char* name) {
  for (const Example* e = examples; e->name; e++) {
    if (strcmp(e->name, name) == 0) {
      return e;
    }
  }
  return NULL;
}

// The model on standard input. One byte more than a model may have is read, so that the library
// refuses what is too long.
static PawlStatus parse_standard_input(const Arguments* arguments, PawlModel** out,
                                       PawlError* err) {
  size_t room = (size_t)PAWL_MODEL_MAX_BYTES + 1;
  char* text = malloc(room);
  size_t length = text ? fread(text, 1, room, stdin) : 0;
  PawlStatus status = PAWL_ERROR_MODEL;
  if (!text) {
    *err = (PawlError){PAWL_ERROR_MEMORY, "out of memory"};
    status = PAWL_ERROR_MEMORY;
  } else if (ferror(stdin)) {
    *err = (PawlError){PAWL_ERROR_MODEL, "standard input cannot be read"};
  } else {
    PawlRobotDef def = robot_def(arguments);
    status = pawl_model_parse_robot(text, length, "<stdin>", &def, arguments->override_count,
                                    arguments->overrides, out, err);
  }
  free(text);
  return status;
}

PawlRobotDef robot_def(const Arguments* arguments) {
  return (PawlRobotDef){.limits = arguments->limits, .floating = arguments->floating};
}

bool tell_remarks(const Arguments* arguments, const char* warnings, const char* notes,
                  PawlError* err) {
  if (!arguments->quiet) {
    note(notes);
  }
  if (warnings[0] && arguments->strict) {
    err->status = PAWL_ERROR_MODEL;
    snprintf(err->message, sizeof err->message, "%s", warnings);
    return false;
  }
  warn(warnings);
  return true;
}

static PawlStatus load_named(const Arguments* arguments, PawlModel** out, PawlError* err) {
  bool is_file = !arguments->example && access(arguments->model, F_OK) == 0;
  const Example* example = is_file ? NULL : find_example(arguments->model);
  PawlRobotDef def = robot_def(arguments);
  PawlStatus status =
      example ? pawl_model_parse(example->text, example->length, example->name,
                                 arguments->override_count, arguments->overrides, out, err)
              : pawl_model_load_robot(arguments->model, &def, arguments->override_count,
                                      arguments->overrides, out, err);
  if (status == PAWL_ERROR_FILE) {
    err->status = PAWL_ERROR_MODEL;  // a model that cannot be read is bad usage, not a failed run
    if (access(arguments->model, F_OK) != 0) {
      complain(EXIT_USAGE, "'%s' is neither a file nor an example; `pawl models` lists these",
               arguments->model);
    }
  }
  return status;
}

PawlModel* load_model(const Arguments* arguments, PawlError* err) {
  PawlModel* model = NULL;
  PawlStatus status = strcmp(arguments->model, "-") == 0
                          ? parse_standard_input(arguments, &model, err)
                          : load_named(arguments, &model, err);
  if (status == PAWL_OK &&
      !tell_remarks(arguments, pawl_model_warnings(model), pawl_model_notes(model), err)) {
    pawl_model_destroy(model);
    return NULL;
  }
  return status == PAWL_OK ? model : NULL;
}

int simulate_def(const Arguments* arguments, const PawlModel* model, PawlSimulateDef* out) {
  PawlError err = {0};
  *out = pawl_model_simulate(model);
  for (int k = 0; k < arguments->setting_count; k++) {
    const Setting* s = &arguments->settings[k];
    if (pawl_simulate_def_set(out, s->name, s->value, &err) != PAWL_OK) {
      return report_error(&err);
    }
  }
  return 0;
}

double seconds_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
