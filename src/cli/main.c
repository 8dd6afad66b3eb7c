// SPDX-License-Identifier: Apache-2.0
// pawl: the command line.
#include <string.h>

#include "cli/help.h"

static const Command* const commands[] = {
    &command_run,     &command_plot,     &command_check,     &command_equilibrium, &command_inverse,
    &command_compare, &command_converge, &command_reproduce, &command_equations,   &command_compile,
    &command_import,  &command_bench,    &command_models};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_help(FILE* to) {
  fprintf(to,
          "pawl %s: simulates mechanical systems whose constraints switch\n\n"
          "usage: pawl COMMAND [ARGUMENTS]\n\n",
          pawl_version());
  for (int k = 0; k < COMMAND_COUNT; k++) {
    fprintf(to, "  %-11s %s\n", commands[k]->name, commands[k]->line);
  }
  fprintf(to,
          "\n`pawl COMMAND --help` shows what matters first, `pawl help COMMAND` everything.\n"
          "Try: pawl run pendulum --plot pendulum.svg\n"
          "A model is a file, - for standard input, or the name of an example (pawl models).\n"
          "exit codes: 0 good, 1 the run failed, 2 bad usage or bad model, 130 interrupted\n");
}

const char* method_reason(const PawlSim* sim) {
  const char* reason = pawl_stepper_reason(pawl_sim_stepper(sim));
  return reason[0] ? reason : "stated";
}

const char* method_label(const PawlSimulateDef* def, char* room, size_t size) {
  bool over = strcmp(def->method, "event-driven") == 0;
  snprintf(room, size, "%s%s%s", def->method, over ? " over " : "", over ? def->smooth : "");
  return room;
}

bool list_users(const char* option, char* text, size_t size) {
  PawlSimulateDef def = pawl_simulate_def_default();
  int users = 0, count = 0;
  text[0] = '\0';
  for (; pawl_method(count); count++) {
    def.method = def.smooth = pawl_method(count)->name;
    if (pawl_method_uses(&def, option)) {
      size_t used = strlen(text);
      snprintf(text + used, size - used, "%s%s", users++ ? ", " : "", def.method);
    }
  }
  return users < count;
}

static bool asks_for(const char* option, int argc, char** argv) {
  for (int k = 0; k < argc; k++) {
    if (strcmp(argv[k], option) == 0) {
      return true;
    }
  }
  return false;
}

static int run_command(const Command* command, int argc, char** argv) {
  if (asks_for("--help", argc, argv) || asks_for("-h", argc, argv)) {
    help_short(command);
    return EXIT_GOOD;
  }
  bool json = asks_for("--json", argc, argv);  // before the command takes its options out of argv
  int code = command->run(argc, argv);
  if (code != EXIT_GOOD && json && !json_begun()) {
    print_json_failure(code);
  }
  return code;
}

static const Command* find_command(const char* name) {
  for (int k = 0; k < COMMAND_COUNT; k++) {
    if (strcmp(name, commands[k]->name) == 0) {
      return commands[k];
    }
  }
  return NULL;
}

static int unknown_command(const char* name) {
  complain(EXIT_USAGE, "unknown command '%s'", name);
  fputc('\n', stderr);
  print_help(stderr);
  return EXIT_USAGE;
}

// pawl help [COMMAND | --man | --completion SHELL]
static int run_help(int argc, char** argv) {
  if (argc == 0) {
    print_help(stdout);
    return EXIT_GOOD;
  }
  if (strcmp(argv[0], "--man") == 0) {
    help_manual(COMMAND_COUNT, commands);
    return EXIT_GOOD;
  }
  if (strcmp(argv[0], "--completion") == 0) {
    return help_completion(argc > 1 ? argv[1] : "", COMMAND_COUNT, commands);
  }
  const Command* command = find_command(argv[0]);
  if (!command) {
    return unknown_command(argv[0]);
  }
  help_full(command);
  return EXIT_GOOD;
}

static int run_named(const char* name, int argc, char** argv) {
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
    return run_help(strcmp(name, "help") == 0 ? argc : 0, argv);
  }
  if (strcmp(name, "--version") == 0) {
    printf("pawl %s\n", pawl_version());
    return EXIT_GOOD;
  }
  const Command* command = find_command(name);
  return command ? run_command(command, argc, argv) : unknown_command(name);
}

int main(int argc, char** argv) {
  if (argc < 2) {
    print_help(stderr);
    return EXIT_USAGE;
  }
  pawl_hdf5_stay_open();
  int code = run_named(argv[1], argc - 2, argv + 2);
  if (fflush(stdout) != 0) {
    perror("pawl: standard output");
    return EXIT_RUN;
  }
  return code;
}
