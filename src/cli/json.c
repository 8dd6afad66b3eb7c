// SPDX-License-Identifier: Apache-2.0
// Writing JSON: one value a line, indented, numbers as the shortest decimal that reads back.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static void print_text(FILE* to, const char* text) {
  fputc('"', to);
  for (const unsigned char* c = (const unsigned char*)text; *c; c++) {
    if (*c == '"' || *c == '\\') {
      fprintf(to, "\\%c", *c);
    } else if (*c < 0x20) {
      fprintf(to, "\\u%04x", *c);
    } else {
      fputc(*c, to);
    }
  }
  fputc('"', to);
}

const char* shortest(double value, char room[32]) {
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(room, 32, "%.*g", digits, value);
    if (strtod(room, NULL) == value) {
      break;
    }
  }
  return room;
}

static void print_number(FILE* to, double value) {
  char room[32];
  fputs(isfinite(value) ? shortest(value, room) : "null", to);
}

static bool any_begun;

bool json_begun(void) {
  return any_begun;
}

static void begin(Json* json, const char* key) {
  if (json->depth > 0) {
    fprintf(json->to, "%s\n%*s", json->first ? "" : ",", 2 * json->depth, "");
  }
  json->first = false;
  any_begun |= json->to == stdout;
  if (key) {
    print_text(json->to, key);
    fputs(": ", json->to);
  }
}

void json_open(Json* json, const char* key, char bracket) {
  begin(json, key);
  fputc(bracket, json->to);
  json->depth++;
  json->first = true;
}

void json_close(Json* json, char bracket) {
  json->depth--;
  if (!json->first) {
    fprintf(json->to, "\n%*s", 2 * json->depth, "");
  }
  fputc(bracket, json->to);
  json->first = false;
  if (json->depth == 0) {
    fputc('\n', json->to);
  }
}

void json_number(Json* json, const char* key, double value) {
  begin(json, key);
  print_number(json->to, value);
}

void json_whole(Json* json, const char* key, long long value) {
  begin(json, key);
  fprintf(json->to, "%lld", value);
}

void json_text(Json* json, const char* key, const char* text) {
  begin(json, key);
  print_text(json->to, text);
}

void json_bool(Json* json, const char* key, bool value) {
  begin(json, key);
  fputs(value ? "true" : "false", json->to);
}

void json_numbers(Json* json, const char* key, int count, const double* values) {
  begin(json, key);
  fputc('[', json->to);
  for (int k = 0; k < count; k++) {
    fputs(k ? ", " : "", json->to);
    print_number(json->to, values[k]);
  }
  fputc(']', json->to);
}
