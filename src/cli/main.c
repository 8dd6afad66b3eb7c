// SPDX-License-Identifier: Apache-2.0
// pawl: the command line.
#include <string.h>

#include "cli/cli.h"

static const Command* const commands[] = {
    &command_run,       &command_plot,    &command_check,    &command_equilibrium,
    &command_inverse,   &command_compare, &command_converge, &command_reproduce,
    &command_equations, &command_bench,   &command_models};
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
          "\n`pawl COMMAND --help` describes a command. Try: pawl run pendulum --plot "
          "pendulum.svg\n"
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

static void print_methods(void) {
  printf("\nmethods:\n  %-18s %s\n", "auto", "one of these, by what the model asks for");
  for (int k = 0; pawl_method(k); k++) {
    printf("  %-18s %s\n", pawl_method(k)->name, pawl_method(k)->about);
  }
  printf("\nbetween the switches of event-driven (--smooth):");
  for (int k = 0, shown = 0; pawl_method(k); k++) {
    if (pawl_method(k)->smooth) {
      printf("%s%s", shown++ ? ", " : " ", pawl_method(k)->name);
    }
  }
  printf("\n");
}

void print_settings_help(void) {
  PawlOptionInfo info;
  printf("\noptions of the simulation (over `simulate:` in the model), [methods that use them]:\n");
  for (int k = 0; pawl_simulate_option(k, &info); k++) {
    char head[40];
    snprintf(head, sizeof head, "--%s %s", info.name, info.unit[0] == '1' ? "X" : info.unit);
    char users[400];
    bool special = list_users(info.name, users, sizeof users);
    printf("  %-18s %s (default %s)%s%s%s\n", head, info.sentence, info.fallback,
           special ? " [" : "", special ? users : "", special ? "]" : "");
  }
  print_methods();
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
    command->help();
    return EXIT_GOOD;
  }
  bool json = asks_for("--json", argc, argv);  // before the command takes its options out of argv
  int code = command->run(argc, argv);
  if (code != EXIT_GOOD && json && !json_begun()) {
    print_json_failure(code);
  }
  return code;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    print_help(stderr);
    return EXIT_USAGE;
  }
  pawl_hdf5_stay_open();
  const char* name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
    print_help(stdout);
    return EXIT_GOOD;
  }
  if (strcmp(name, "--version") == 0) {
    printf("pawl %s\n", pawl_version());
    return EXIT_GOOD;
  }
  for (int k = 0; k < COMMAND_COUNT; k++) {
    if (strcmp(name, commands[k]->name) == 0) {
      int code = run_command(commands[k], argc - 2, argv + 2);
      if (fflush(stdout) != 0) {
        perror("pawl: standard output");
        return EXIT_RUN;
      }
      return code;
    }
  }
  complain(EXIT_USAGE, "unknown command '%s'", name);
  fputc('\n', stderr);
  print_help(stderr);
  return EXIT_USAGE;
}
