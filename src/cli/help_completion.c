// SPDX-License-Identifier: Apache-2.0
// Completion for shells, from the tables of the commands.
#include <string.h>

#include "cli/help.h"

// The words of "-q, --quiet" one after the other; NULL behind the last.
static const char* next_word(const char** at, char room[40]) {
  *at += strspn(*at, ", ");
  int length = (int)strcspn(*at, ", ");
  snprintf(room, 40, "%.*s", length, *at);
  *at += length;
  return length > 0 ? room : NULL;
}

typedef void (*Visit)(void* context, const char* word, const char* argument, const char* text,
                      Value value);

// Calls `visit` for each name of each option of a command.
static void each_option(const Command* command, Visit visit, void* context) {
  char room[40], setting[60];
  PawlOptionInfo info;
  for (const Option* o = command->options; o && o->name; o++) {
    const char* at = o->name;
    while (next_word(&at, room)) {
      visit(context, room, o->argument, o->text, o->value);
    }
  }
  for (int k = 0; command->settings && pawl_simulate_option(k, &info); k++) {
    bool method = strcmp(info.name, "method") == 0 || strcmp(info.name, "smooth") == 0;
    snprintf(setting, sizeof setting, "--%s", info.name);
    visit(context, setting, "X", info.sentence, method ? VALUE_METHOD : VALUE_TEXT);
  }
}

static void print_methods(const char* between) {
  for (int k = 0; pawl_method(k); k++) {
    printf("%s%s", k ? between : "", pawl_method(k)->name);
  }
}

static void print_examples(const char* between) {
  for (const Example* e = examples; e->name; e++) {
    printf("%s%s", e == examples ? "" : between, e->name);
  }
}

// What stands behind a command, but for files.
static void print_words(const Command* command, const char* between) {
  if (command->place == PLACE_MODEL) {
    print_examples(between);
  }
  for (int k = 0; command->place == PLACE_WORD && command->word(k); k++) {
    printf("%s%s", k ? between : "", command->word(k));
  }
}

static bool takes_files(const Command* command) {
  return command->place == PLACE_MODEL || command->place == PLACE_FILE;
}

static void print_names(int count, const Command* const* commands) {
  for (int k = 0; k < count; k++) {
    printf("%s ", commands[k]->name);
  }
  printf("help");
}

// The first sentence or so, without what shells would read.
static void print_plain(const char* text) {
  for (int k = 0; text[k] && text[k] != ';' && text[k] != '\n' && k < 70; k++) {
    bool special = strchr("\"'`$\\[]():", text[k]) != NULL;
    putchar(special ? ' ' : text[k]);
  }
}

// ---- bash ---------------------------------------------------------------------------------------
static void bash_word(void* context, const char* word, const char* argument, const char* text,
                      Value value) {
  (void)context, (void)argument, (void)text, (void)value;
  printf("%s ", word);
}

// Behind which words a method, a file or anything is expected.
static void bash_value(void* context, const char* word, const char* argument, const char* text,
                       Value value) {
  (void)text;
  const Command* command = context;
  if (!argument) {
    return;
  }
  printf("    %s:%s) ", command->name, word);
  if (value == VALUE_METHOD) {  // one, or a list with commas
    printf("COMPREPLY=($(compgen -P \"$list\" -W \"$methods\" -- \"${cur##*,}\"))");
  } else if (value == VALUE_FILE) {
    printf("COMPREPLY=($(compgen -f -- \"$cur\"))");
  } else {
    printf("COMPREPLY=()");
  }
  printf("; return ;;\n");
}

// The words of the line. Bash divides --method=rk4 at the sign.
static void bash_begin(int count, const Command* const* commands) {
  printf(
      "# bash completion for pawl, made by `pawl help --completion bash`\n_pawl() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
      "command=${COMP_WORDS[1]} list=\"\"\n"
      "  case $cur in =) cur=\"\" ;; *,*) list=${cur%%,*}, ;; esac\n"
      "  [ \"$prev\" = = ] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  local methods=\"auto ");
  print_methods(" ");
  printf("\"\n  local commands=\"");
  print_names(count, commands);
  printf(
      "\" options=\"\" words=\"\" files=yes\n  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$cur\"))\n    return\n  fi\n"
      "  case $command:$prev in\n"
      "    help:help) COMPREPLY=($(compgen -W \"$commands --man --completion\" -- \"$cur\")); "
      "return ;;\n"
      "    help:--completion) COMPREPLY=($(compgen -W \"bash zsh fish\" -- \"$cur\")); return "
      ";;\n");
}

static void bash_command(const Command* command) {
  printf("    %s) options=\"", command->name);
  each_option(command, bash_word, NULL);
  printf("--help\" words=\"");
  print_words(command, " ");
  printf("\" files=%s ;;\n", takes_files(command) ? "yes" : "");
}

static void print_bash(int count, const Command* const* commands) {
  bash_begin(count, commands);
  for (int k = 0; k < count; k++) {
    each_option(commands[k], bash_value, (void*)commands[k]);
  }
  printf("  esac\n  case $command in\n");
  for (int k = 0; k < count; k++) {
    bash_command(commands[k]);
  }
  printf(
      "    *) files=\"\" ;;\n  esac\n  case $cur in\n"
      "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")) ;;\n"
      "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")\n"
      "      ${files:+$(compgen -f -- \"$cur\")}) ;;\n"
      "  esac\n}\ncomplete -o filenames -F _pawl pawl\n");
}

// ---- zsh ----------------------------------------------------------------------------------------
static void zsh_option(void* context, const char* word, const char* argument, const char* text,
                       Value value) {
  (void)context;
  bool list = argument && strchr(argument, ',');
  printf("        '*%s%s[", word, argument && word[1] == '-' ? "=" : "");  // also --step=1e-3
  print_plain(text);
  printf("]");
  if (argument && value == VALUE_METHOD) {
    printf(": :%s", list ? "_values -s , method " : "(auto ");
    print_methods(" ");
    printf(list ? "" : ")");
  } else if (argument) {
    printf(": :%s", value == VALUE_FILE ? "_files" : " ");
  }
  printf("' \\\n");
}

// What stands behind the command.
static void zsh_places(const Command* command) {
  if (command->place == PLACE_NONE) {
    return;
  }
  printf(" \\\n        '*: :{_alternative \"words:word:(");
  print_words(command, " ");
  printf(")\"%s}'", takes_files(command) ? " \"files:file:_files\"" : "");
}

static void print_zsh(int count, const Command* const* commands) {
  printf(
      "#compdef pawl\n# zsh completion for pawl, made by `pawl help --completion zsh`\n_pawl() {\n"
      "  local -a commands=(\n");
  for (int k = 0; k < count; k++) {
    printf("    '%s:", commands[k]->name);
    print_plain(commands[k]->line);
    printf("'\n");
  }
  printf(
      "    'help:all that a command takes'\n  )\n"
      "  if (( CURRENT == 2 )) || [[ CURRENT -eq 3 && $words[2] == help ]]; then\n"
      "    _describe command commands\n    (( CURRENT == 3 )) && compadd -- --man --completion\n"
      "    return\n  fi\n"
      "  if [[ $words[CURRENT-1] == --completion ]]; then compadd bash zsh fish; return; fi\n"
      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n");
  for (int k = 0; k < count; k++) {
    printf("    %s)\n      _arguments \\\n", commands[k]->name);
    each_option(commands[k], zsh_option, NULL);
    printf("        '--help[what matters first]'");
    zsh_places(commands[k]);
    printf(" ;;\n");
  }
  printf("  esac\n}\n_pawl \"$@\"\n");
}

// ---- fish ---------------------------------------------------------------------------------------
static void fish_option(void* context, const char* word, const char* argument, const char* text,
                        Value value) {
  const Command* command = context;
  bool letter = word[1] != '-';
  printf("complete -c pawl -n '__fish_seen_subcommand_from %s' %s %s", command->name,
         letter ? "-s" : "-l", word + (letter ? 1 : 2));
  if (argument && value == VALUE_METHOD) {
    printf(" -x -a 'auto ");
    print_methods(" ");
    printf("'");
  } else if (argument) {
    printf(" %s", value == VALUE_FILE ? "-r" : "-x");
  }
  printf(" -d '");
  print_plain(text);
  printf("'\n");
}

static void print_fish(int count, const Command* const* commands) {
  printf("# fish completion for pawl, made by `pawl help --completion fish`\n");
  for (int k = 0; k < count; k++) {
    printf("complete -c pawl -f -n __fish_use_subcommand -a %s -d '", commands[k]->name);
    print_plain(commands[k]->line);
    printf("'\n");
  }
  printf(
      "complete -c pawl -f -n __fish_use_subcommand -a help -d 'all that a command takes'\n"
      "complete -c pawl -f -n '__fish_seen_subcommand_from help' -a '");
  print_names(count, commands);
  printf(
      "'\ncomplete -c pawl -n '__fish_seen_subcommand_from help' -l man -d 'the manual page'\n"
      "complete -c pawl -n '__fish_seen_subcommand_from help' -l completion -x -a 'bash zsh fish' "
      "-d 'of a shell'\n");
  for (int k = 0; k < count; k++) {
    printf("complete -c pawl %s-n '__fish_seen_subcommand_from %s' -a '",
           takes_files(commands[k]) ? "" : "-f ", commands[k]->name);
    print_words(commands[k], " ");
    printf("'\n");
    each_option(commands[k], fish_option, (void*)commands[k]);
  }
}

int help_completion(const char* shell, int count, const Command* const* commands) {
  const struct {
    const char* name;
    void (*print)(int, const Command* const*);
  } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
  for (size_t k = 0; k < sizeof shells / sizeof *shells; k++) {
    if (strcmp(shell, shells[k].name) == 0) {
      shells[k].print(count, commands);
      return 0;
    }
  }
  return complain(EXIT_USAGE, "--completion %s: bash, zsh and fish are known", shell);
}
