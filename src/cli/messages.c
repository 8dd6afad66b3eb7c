// SPDX-License-Identifier: Apache-2.0
// What the command line says of failures and warnings: on standard error for people, and kept for
// the object of --json, which every command prints also when it fails.
#include <stdarg.h>
#include <string.h>

#include "cli/cli.h"

static char kept[PAWL_ERROR_TEXT];  // all complaints, one a line
static int warnings;

static void keep(const char* line, int length) {
  size_t used = strlen(kept);
  snprintf(kept + used, sizeof kept - used, "%s%.*s", used ? "\n" : "", length, line);
}

// Calls `say` with each line of a text.
static void each_line(const char* text, void (*say)(const char* line, int length)) {
  for (const char* line = text; *line;) {
    int length = (int)strcspn(line, "\n");
    say(line, length);
    line += length + (line[length] == '\n');
  }
}

static void say_complaint(const char* line, int length) {
  fprintf(stderr, "pawl: %.*s\n", length, line);
  keep(line, length);
}

static void say_warning(const char* line, int length) {
  fprintf(stderr, "pawl: warning: %.*s\n", length, line);
  warnings++;
}

static void say_note(const char* line, int length) {
  fprintf(stderr, "pawl: note: %.*s\n", length, line);
}

int complain(int code, const char* format, ...) {
  char text[PAWL_ERROR_TEXT];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  each_line(text, say_complaint);
  return code;
}

int complain_memory(void) {
  return complain(EXIT_RUN, "out of memory");
}

int report_error(const PawlError* err) {
  each_line(err->message, say_complaint);
  switch (err->status) {
    case PAWL_ERROR_MODEL:
    case PAWL_ERROR_USAGE:
      return EXIT_USAGE;
    default:
      return EXIT_RUN;
  }
}

void warn(const char* text) {
  each_line(text, say_warning);
}

void note(const char* text) {
  each_line(text, say_note);
}

int strict_code(const Arguments* arguments) {
  return arguments->strict && warnings > 0
             ? complain(EXIT_RUN, "--strict: %d warning%s", warnings, warnings == 1 ? "" : "s")
             : EXIT_GOOD;
}

void json_status(Json* json, int code) {
  json_text(json, "status",
            code == EXIT_GOOD          ? "ok"
            : code == EXIT_INTERRUPTED ? "interrupted"
                                       : "failed");
  if (code != EXIT_GOOD) {
    json_text(json, "message", kept);
  }
}

void print_json_failure(int code) {
  Json json = {stdout, 0, true};
  json_open(&json, NULL, '{');
  json_status(&json, code);
  json_close(&json, '}');
}
