// SPDX-License-Identifier: Apache-2.0
#include "model/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/node.h"

static bool is_continuation(char byte) {  // of a character of several bytes in UTF-8
  return ((unsigned char)byte & 0xC0) == 0x80;
}

// " (beam.yaml:12:5)", where what an element type says was written.
static void add_place(PawlMistake* mistake, const PawlYaml* node) {
  char place[120];
  int length = snprintf(place, sizeof place, " (%.80s:%d:%d)", node->file, node->file_line,
                        node->file_column);
  size_t used = strlen(mistake->text), room = sizeof mistake->text - 1 - (size_t)length;
  snprintf(mistake->text + (used < room ? used : room), sizeof place, "%s", place);
}

// `node` may be NULL.
static void add(PawlReport* report, int line, int column, const PawlYaml* node, const char* format,
                va_list arguments) {
  if (report->count < PAWL_REPORT_KEPT) {
    PawlMistake* mistake = &report->kept[report->count];
    *mistake = (PawlMistake){.line = line, .column = column, .origin = node ? node->origin : NULL};
    vsnprintf(mistake->text, sizeof mistake->text, format, arguments);
    if (node && node->file) {
      add_place(mistake, node);
    }
  }
  report->count++;
}

void pawl_report_at(PawlReport* report, int line, int column, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add(report, line, column, NULL, format, arguments);
  va_end(arguments);
}

void pawl_report(PawlReport* report, const PawlYaml* node, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add(report, node->line, node->column, node, format, arguments);
  va_end(arguments);
}

// Columns count characters. The text of a scalar that was folded or had escapes does not lie in the
// file as it is in memory; then the beginning of the scalar is all that can be said.
void pawl_report_part(PawlReport* report, const PawlYaml* node, int begin, const char* format,
                      ...) {
  int column = node->column;
  if (node->kind == PAWL_YAML_SCALAR && node->shift >= 0) {
    column += node->shift;
    for (int k = 0; k < begin && k < node->length; k++) {
      column += !is_continuation(node->text[k]);
    }
  }
  va_list arguments;
  va_start(arguments, format);
  add(report, node->line, column, node, format, arguments);
  va_end(arguments);
}

static int by_place(const void* a, const void* b) {
  const PawlMistake *one = a, *two = b;
  if (one->line != two->line) {
    return one->line < two->line ? -1 : 1;
  }
  return (one->column > two->column) - (one->column < two->column);
}

PawlStatus pawl_report_finish(PawlReport* report, PawlError* err) {
  if (report->no_memory) {
    return pawl_fail_memory(err);
  }
  if (report->count == 0) {
    return PAWL_OK;
  }
  int kept = report->count < PAWL_REPORT_KEPT ? report->count : PAWL_REPORT_KEPT;
  qsort(report->kept, (size_t)kept, sizeof *report->kept, by_place);
  if (err) {
    err->message[0] = '\0';
  }
  for (int k = 0; k < kept; k++) {
    const PawlMistake* mistake = &report->kept[k];
    if (mistake->line > 0) {
      pawl_fail_more(err, PAWL_ERROR_MODEL, "%s:%d:%d: %s", report->file, mistake->line,
                     mistake->column, mistake->text);
    } else {
      pawl_fail_more(err, PAWL_ERROR_MODEL, "%s: %s", pawl_quote(mistake->origin).s, mistake->text);
    }
  }
  if (report->count > kept) {
    pawl_fail_more(err, PAWL_ERROR_MODEL, "%s: and %d more", report->file, report->count - kept);
  }
  return PAWL_ERROR_MODEL;
}

PawlQuote pawl_quote_part(const char* text, int begin, int end) {
  static const char cut[] = "...";
  enum { ROOM = (int)sizeof(((PawlQuote*)0)->s) - (int)sizeof cut };
  PawlQuote quote;
  int length = end - begin;
  bool too_long = length > ROOM;
  if (too_long) {
    length = ROOM;
    while (length > 0 && is_continuation(text[begin + length])) {
      length--;
    }
  }
  for (int k = 0; k < length; k++) {
    unsigned char byte = (unsigned char)text[begin + k];
    quote.s[k] = byte < 0x20 || byte == 0x7F ? ' ' : (char)byte;
  }
  memcpy(quote.s + length, too_long ? cut : "", too_long ? sizeof cut : 1);
  return quote;
}

PawlQuote pawl_quote(const char* text) {
  enum { FAR = 4096 };  // beyond what is shown; the length of a long text does not matter
  int length = 0;
  while (length < FAR && text[length] != '\0') {
    length++;
  }
  return pawl_quote_part(text, 0, length);
}

PawlQuote pawl_did_you_mean(const char* name) {
  PawlQuote quote = {{0}};
  if (name) {
    snprintf(quote.s, sizeof quote.s, "; did you mean '%.40s'?", name);
  }
  return quote;
}
