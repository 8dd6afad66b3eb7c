// SPDX-License-Identifier: Apache-2.0
// Inside of the translation of drawings to PDF: styles, paths, texts.
#pragma once

#include <stdbool.h>

#include "io/pdf.h"

typedef struct PawlPdfSpan {  // a part of the drawing's text
  const char* s;
  size_t length;
} PawlPdfSpan;

bool pawl_pdf_is(PawlPdfSpan span, const char* text);
// Reads a number in whatever locale and moves *at behind it and behind a comma or blanks; false
// when there is none.
bool pawl_pdf_number(const char** at, const char* end, double* number);

// --- pdf_style.c

typedef struct PawlPdfColour {
  bool none;
  double red, green, blue;  // 0 .. 1
} PawlPdfColour;

typedef enum PawlPdfAnchor { PAWL_PDF_START, PAWL_PDF_MIDDLE, PAWL_PDF_END } PawlPdfAnchor;

typedef struct PawlPdfStyle {
  PawlPdfColour fill, stroke;
  double opacity, fill_opacity, stroke_opacity;  // 0 .. 1
  double width;                                  // of lines [px]
  int dash_count;
  double dash[4];  // [px]
  bool round_cap, round_join;
  double font;  // size [px]
  bool bold;
  PawlPdfAnchor anchor;
} PawlPdfStyle;

PawlPdfStyle pawl_pdf_style_default(void);
// One property, of an attribute or of a style sheet; unknown ones do nothing.
void pawl_pdf_style_set(PawlPdfStyle* style, PawlPdfSpan name, PawlPdfSpan value);
// "name:value;name:value"
void pawl_pdf_style_list(PawlPdfStyle* style, PawlPdfSpan list);
// The rules of a style sheet that apply to an element with these classes ("event many").
void pawl_pdf_style_rules(PawlPdfStyle* style, PawlPdfSpan sheet, PawlPdfSpan element,
                          PawlPdfSpan classes);

// --- pdf_path.c

// The path data of SVG as operators of PDF.
void pawl_pdf_path(PawlText* out, PawlPdfSpan data);
void pawl_pdf_circle(PawlText* out, double x, double y, double radius);

// --- pdf_text.c

// Sets a line of text, in XML, at (x, y) in the coordinates of SVG, where y points down.
void pawl_pdf_text(PawlText* out, const PawlPdfStyle* style, double x, double y, PawlPdfSpan xml);
