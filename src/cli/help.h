// SPDX-License-Identifier: Apache-2.0
// What the commands are and take, as tables: the help that is printed, the manual page and the
// completion of shells are made of them.
#pragma once

#include "cli/cli.h"

// `pawl COMMAND --help`: the options that are used often.
void help_short(const Command* command);
// `pawl help COMMAND`: all of them, those of the simulation, the methods, and notes.
void help_full(const Command* command);
// The manual page, pawl.1, in the macros of man.
void help_manual(int count, const Command* const* commands);
// The completion of "bash", "zsh" or "fish". 0, or EXIT_USAGE after a message for another.
int help_completion(const char* shell, int count, const Command* const* commands);
// One entry of a list, "head  text", for what a command prints itself.
void help_entry(const char* head, const char* text);
