// SPDX-License-Identifier: Apache-2.0
// The page of pawl reproduce --out: figures of the papers, the table of all checks, the cost.
#pragma once

#include "cli/reproduce_cases.h"

typedef struct Page {
  FILE* body;  // in memory
  char* text;
  size_t length;
  int figures, not_drawn;
} Page;

// 0, or an exit code after a message. Close it in any case.
int page_open(Page* page);
void page_close(Page* page);

// The beginning of a paper with its figures: runs them, which takes a while.
void page_paper(Page* page, const Paper* paper);
// The checks of a case; `rows` of HTML are the caller's.
void page_case(Page* page, const Case* c, const char* method, const char* message);
void page_check(Page* page, const Check* check, double value, double difference, double allowed,
                bool pass);
void page_case_end(Page* page);
void page_paper_end(Page* page, int checks, int failed, double seconds);
// Writes DIR/index.html. 0, or an exit code after a message.
int page_write(Page* page, const char* folder, int checks, int failed, double seconds);

// ---- reproduce_figures.c
typedef struct Variant {  // a run
  const char* label;
  const char *method, *parameters, *settings;
} Variant;

typedef struct Panel {
  const char* title;
  const char* columns;  // "x, y"; names of the record with ", " between them; residuals are drawn
                        // by their logarithms
} Panel;

enum { MOST_VARIANTS = 5, MOST_PANELS = 6 };

typedef struct Figure {
  const char *paper, *number, *caption, *model;
  Variant variants[MOST_VARIANTS];  // end with a NULL method
  Panel panels[MOST_PANELS];        // end with NULL columns
} Figure;
extern const Figure figures[];  // in the order of the papers; ends with a NULL paper
