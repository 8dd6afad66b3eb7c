// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <ctype.h>
#include <string.h>

enum { WIDTH = 96, INDENT = 21 };

// ---- paragraphs ---------------------------------------------------------------------------------
// Words up to the width, further lines indented; `at` is the column that has been reached.
static void print_wrapped(const char* text, int indent, int at) {
  bool begun = false;
  while (*text) {
    text += strspn(text, " ");
    int length = (int)strcspn(text, " \n");
    if (begun && at + 1 + length > WIDTH) {
      printf("\n%*s", indent, "");
      at = indent;
      begun = false;
    }
    printf("%s%.*s", begun ? " " : "", length, text);
    at += length + begun;
    begun = true;
    text += length;
    if (*text == '\n') {
      printf("\n%*s", text[1] ? indent : 0, "");
      at = indent;
      begun = false;
      text++;
    }
  }
  printf("\n");
}

void help_entry(const char* head, const char* text) {
  int length = printf("  %s", head);
  if (length >= INDENT) {
    printf("\n%*s", INDENT, "");
  } else {
    printf("%*s", INDENT - length, "");
  }
  print_wrapped(text, INDENT, INDENT);
}

// "-q, --quiet", "--plot FILE"
static const char* option_head(const Option* option, char* room, size_t size) {
  snprintf(room, size, "%s%s%s", option->name, option->argument ? " " : "",
           option->argument ? option->argument : "");
  return room;
}

// ---- help ---------------------------------------------------------------------------------------
static void print_usage(const Command* command) {
  const char* line = command->usage;
  for (const char* before = "usage: pawl "; *line; before = "       pawl ") {
    int length = (int)strcspn(line, "\n");
    printf("%s%s%s%.*s\n", before, command->name, length ? " " : "", length, line);
    line += length + (line[length] == '\n');
  }
  printf("\n");
}

// Returns how many were left out.
static int print_options(const Command* command, bool all) {
  char head[80];
  int left_out = 0;
  for (const Option* o = command->options; o && o->name; o++) {
    if (all || o->often) {
      help_entry(option_head(o, head, sizeof head), o->text);
    }
    left_out += !all && !o->often;
  }
  return left_out;
}

// Those of the simulation that matter first.
static bool often_set(const char* option) {
  return strcmp(option, "method") == 0 || strcmp(option, "step") == 0 ||
         strcmp(option, "until") == 0;
}

static void print_setting(const PawlOptionInfo* info, bool users) {
  char head[40], list[400] = "", text[1000];
  snprintf(head, sizeof head, "--%s %s", info->name, info->unit[0] == '1' ? "X" : info->unit);
  bool special = users && list_users(info->name, list, sizeof list);
  snprintf(text, sizeof text, "%s (default %s)%s%s%s", info->sentence, info->fallback,
           special ? " [" : "", special ? list : "", special ? "]" : "");
  help_entry(head, text);
}

static int print_settings(bool all) {
  PawlOptionInfo info;
  int left_out = 0;
  for (int k = 0; pawl_simulate_option(k, &info); k++) {
    if (all || often_set(info.name)) {
      print_setting(&info, all);
    }
    left_out += !all && !often_set(info.name);
  }
  return left_out;
}

void help_short(const Command* command) {
  print_usage(command);
  print_wrapped(command->about, 0, 0);
  printf("%s", command->options || command->settings ? "\n" : "");
  int more = print_options(command, false);
  more += command->settings ? print_settings(false) : 0;
  if (command->extra) {
    command->extra();
  }
  if (more > 0) {
    printf("\n`pawl help %s` has %d more option%s%s.\n", command->name, more, more == 1 ? "" : "s",
           command->settings ? " and lists the methods" : "");
  } else if (command->notes || command->terms) {
    printf("\n`pawl help %s` says more.\n", command->name);
  }
}

static void print_methods(void) {
  printf("\nmethods:\n");
  help_entry("auto", "one of these, by what the model asks for");
  for (int k = 0; pawl_method(k); k++) {
    help_entry(pawl_method(k)->name, pawl_method(k)->about);
  }
  char text[600] = "between the switches of event-driven (--smooth):";
  for (int k = 0, shown = 0; pawl_method(k); k++) {
    size_t used = strlen(text);
    if (pawl_method(k)->smooth) {
      snprintf(text + used, sizeof text - used, "%s%s", shown++ ? ", " : " ", pawl_method(k)->name);
    }
  }
  printf("\n");
  print_wrapped(text, 0, 0);
}

static void print_terms(const Command* command) {
  printf("\n%s:\n", command->terms_title);
  for (const Option* t = command->terms; t->name; t++) {
    help_entry(t->name, t->text);
  }
}

void help_full(const Command* command) {
  print_usage(command);
  print_wrapped(command->about, 0, 0);
  printf("%s", command->options ? "\n" : "");
  print_options(command, true);
  if (command->extra) {
    command->extra();
  }
  if (command->terms) {
    print_terms(command);
  }
  if (command->notes) {
    printf("\n");
    print_wrapped(command->notes, 0, 0);
  }
  if (command->settings) {
    printf(
        "\noptions of the simulation (over `simulate:` in the model), [methods that use them]:\n");
    print_settings(true);
    print_methods();
  }
}

// ---- the manual page ----------------------------------------------------------------------------
// Backslashes and dots at the beginning of a line mean something else there, and - is a hyphen.
static void man_text(const char* text) {
  bool start = true;
  for (const char* c = text; *c; c++) {
    if (start && (*c == '.' || *c == '\'')) {
      printf("\\&");
    }
    start = *c == '\n';
    if (*c == '\\') {
      printf("\\e");
    } else if (*c == '-') {
      printf("\\-");
    } else if (*c == '\n') {
      printf("\n.PP\n");
    } else {
      putchar(*c);
    }
  }
}

static void man_entry(const char* head, const char* text) {
  printf(".TP\n.B ");
  man_text(head);
  printf("\n");
  man_text(text);
  printf("\n");
}

static void man_option(const Option* option) {
  char head[80];
  man_entry(option_head(option, head, sizeof head), option->text);
}

static void man_command(const Command* command) {
  printf(".SS pawl ");
  man_text(command->name);
  printf("\n");
  const char* line = command->usage;
  do {
    int length = (int)strcspn(line, "\n");
    char usage[400];
    snprintf(usage, sizeof usage, "pawl %s %.*s", command->name, length, line);
    printf(".PP\n.B ");
    man_text(usage);
    printf("\n");
    line += length + (line[length] == '\n');
  } while (*line);
  printf(".PP\n");
  man_text(command->about);
  printf("\n");
  for (const Option* o = command->options; o && o->name; o++) {
    man_option(o);
  }
  if (command->settings) {
    printf(".PP\nAnd the options of the simulation, below.\n");
  }
  if (command->terms) {
    printf(".PP\n");
    man_text(command->terms_title);
    printf(":\n");
    for (const Option* t = command->terms; t->name; t++) {
      man_option(t);
    }
  }
  if (command->notes) {
    printf(".PP\n");
    man_text(command->notes);
    printf("\n");
  }
}

static void man_settings(void) {
  PawlOptionInfo info;
  printf(".SH OPTIONS OF THE SIMULATION\nThey stand over\n.B simulate:\nin the model.\n");
  for (int k = 0; pawl_simulate_option(k, &info); k++) {
    char head[80], text[500];
    snprintf(head, sizeof head, "--%s %s", info.name, info.unit[0] == '1' ? "X" : info.unit);
    snprintf(text, sizeof text, "%s (default %s)", info.sentence, info.fallback);
    man_entry(head, text);
  }
  printf(".SH METHODS\n");
  for (int k = 0; pawl_method(k); k++) {
    man_entry(pawl_method(k)->name, pawl_method(k)->about);
  }
}

void help_manual(int count, const Command* const* commands) {
  printf(
      ".TH PAWL 1 \"\" \"pawl %s\" \"User Commands\"\n"
      ".SH NAME\npawl \\- simulates mechanical systems whose constraints switch\n"
      ".SH SYNOPSIS\n.B pawl\n.I COMMAND\n.RI [ ARGUMENTS ]\n"
      ".SH DESCRIPTION\n"
      "A model is a file, \\- for standard input, or the name of an example, which\n"
      ".B pawl models\nlists.\n.B pawl\n.I COMMAND\n.B \\-\\-help\nshows what matters first,\n"
      ".B pawl help\n.I COMMAND\neverything.\n.SH COMMANDS\n",
      pawl_version());
  for (int k = 0; k < count; k++) {
    man_command(commands[k]);
  }
  man_settings();
  printf(
      ".SH EXIT STATUS\n0 good, 1 the run failed, 2 bad usage or bad model, 130 interrupted.\n"
      ".SH EXAMPLES\n.nf\npawl run pendulum \\-\\-plot pendulum.svg\n"
      "pawl models pendulum > mine.yaml\npawl check mine.yaml\n"
      "pawl run mine.yaml \\-o mine.h5 \\-p L=2\n.fi\n");
}
