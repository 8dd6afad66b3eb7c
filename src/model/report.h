// SPDX-License-Identifier: Apache-2.0
// The mistakes found in a model text. They are collected, so that one reading tells the user all of
// them, and given out at the end in the order of the text: "file:line:column: what is wrong".
#pragma once

#include <stdbool.h>

#include "pawl/base.h"

struct PawlYaml;

enum { PAWL_REPORT_KEPT = 20, PAWL_REPORT_TEXT = 400 };

typedef struct PawlMistake {
  int line, column;    // from 1; line 0: not in the file
  const char* origin;  // where a mistake outside the file was written, e.g. "-p m=1+"
  char text[PAWL_REPORT_TEXT];
} PawlMistake;

typedef struct PawlReport {  // all zero but `file` is an empty report
  const char* file;
  int count;       // mistakes found; the first PAWL_REPORT_KEPT are kept
  bool no_memory;  // an allocation failed, the rest cannot be trusted
  PawlMistake kept[PAWL_REPORT_KEPT];
} PawlReport;

// No further mistake will be shown: a search for the nearest name is not worth its time.
static inline bool pawl_report_is_full(const PawlReport* report) {
  return report->count >= PAWL_REPORT_KEPT;
}

// A mistake at a place of the file; at the beginning of a node; at byte `begin` of a node's text.
PAWL_PRINTF(4, 5)
void pawl_report_at(PawlReport* report, int line, int column, const char* format, ...);
PAWL_PRINTF(3, 4)
void pawl_report(PawlReport* report, const struct PawlYaml* node, const char* format, ...);
PAWL_PRINTF(4, 5)
void pawl_report_part(PawlReport* report, const struct PawlYaml* node, int begin,
                      const char* format, ...);

// PAWL_OK when nothing went wrong; otherwise fills `err` (may be NULL) with all mistakes.
PAWL_CHECKED PawlStatus pawl_report_finish(PawlReport* report, PawlError* err);

// User text made fit for a message: one line, cut where it is long.
typedef struct PawlQuote {
  char s[64];
} PawlQuote;
PawlQuote pawl_quote(const char* text);
PawlQuote pawl_quote_part(const char* text, int begin, int end);

// "; did you mean 'x'?", or "" for NULL.
PawlQuote pawl_did_you_mean(const char* name);
