// SPDX-License-Identifier: Apache-2.0
// Texts, in three of the fonts that every reader of PDF has: /F1 Helvetica, /F2 its bold, /F3
// Symbol for Greek and signs. Raised digits are small digits that are lifted.
#include <string.h>

#include "io/pdf_impl.h"
#include "io/svg.h"

static const double RAISED_SIZE = 0.65, RAISED_BY = 0.35;  // [1] of the font size

// Advance widths of Helvetica from the blank to ~, in 1/1000 of the font size.
static const short widths[] = {
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};

typedef enum Font { PLAIN, SYMBOL, RAISED } Font;

typedef struct Glyph {
  Font font;
  unsigned char code;  // in the encoding of the font
} Glyph;

static const struct {
  long from;
  const char* codes;  // of the characters from there on
  Font font;
} ranges[] = {
    {0x391, "ABGDEZHQIKLMNXOPR?STUFCYW", SYMBOL},
    {0x3b1, "abgdezhqiklmnxoprVstujcyw", SYMBOL},
    {0x2070, "0", RAISED},
    {0x2074, "456789+-", RAISED},
    {0xb2, "23", RAISED},
    {0xb9, "1", RAISED},
    {0x2212, "-", SYMBOL},
    {0x2192, "\xae", SYMBOL},
    {0x221e, "\xa5", SYMBOL},
    {0x2264, "\xa3\xb3", SYMBOL},
    {0x2248, "\xbb", SYMBOL},
    {0x2032, "\xa2", SYMBOL},
    {0x2026, "\x85", PLAIN},
    {0x2013, "\x96\x97", PLAIN},
};

static Glyph glyph_of(long code) {
  for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
    long place = code - ranges[k].from;
    if (place >= 0 && place < (long)strlen(ranges[k].codes)) {
      return (Glyph){ranges[k].font, (unsigned char)ranges[k].codes[place]};
    }
  }
  bool latin = (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0xff);
  return (Glyph){PLAIN, latin ? (unsigned char)code : '?'};
}

static double width_of(Glyph glyph) {
  bool known = glyph.code >= 0x20 && glyph.code < 0x7f && glyph.font != SYMBOL;
  double width = known ? widths[glyph.code - 0x20] / 1000.0 : 0.56;
  return glyph.font == RAISED ? RAISED_SIZE * width : width;
}

// The next character of XML and moves *at behind it.
static long next_character(const char** at, const char* end) {
  static const struct {
    const char* text;
    char code;
  } entities[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}};
  for (size_t k = 0; k < sizeof entities / sizeof *entities; k++) {
    size_t length = strlen(entities[k].text);
    if ((size_t)(end - *at) >= length && strncmp(*at, entities[k].text, length) == 0) {
      *at += length;
      return entities[k].code;
    }
  }
  unsigned char first = (unsigned char)*(*at)++;
  int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  long code = more ? first & (0x3f >> more) : first;
  for (; more > 0 && *at < end; more--) {
    code = (code << 6) | ((unsigned char)*(*at)++ & 0x3f);
  }
  return code;
}

static double width_of_text(PawlPdfSpan xml) {
  double width = 0.0;
  for (const char* at = xml.s; at < xml.s + xml.length;) {
    width += width_of(glyph_of(next_character(&at, xml.s + xml.length)));
  }
  return width;
}

static void add_code(PawlText* out, unsigned char code) {
  if (code == '(' || code == ')' || code == '\\') {
    pawl_text_add(out, "\\");
  }
  if (code < 0x7f) {
    pawl_text_add_bytes(out, (const char*)&code, 1);
  } else {
    pawl_text_printf(out, "\\%03o", code);
  }
}

static void choose_font(PawlText* out, const PawlPdfStyle* style, Font font) {
  pawl_text_add(out, font == SYMBOL ? "/F3 " : style->bold ? "/F2 " : "/F1 ");
  pawl_svg_length(out, style->font * (font == RAISED ? RAISED_SIZE : 1.0));
  pawl_text_add(out, " Tf ");
  pawl_svg_length(out, font == RAISED ? RAISED_BY * style->font : 0.0);
  pawl_text_add(out, " Ts (");
}

void pawl_pdf_text(PawlText* out, const PawlPdfStyle* style, double x, double y, PawlPdfSpan xml) {
  const char* end = xml.s + xml.length;
  double part = style->anchor == PAWL_PDF_END ? 1.0 : style->anchor == PAWL_PDF_MIDDLE ? 0.5 : 0.0;
  pawl_text_add(out, "BT 1 0 0 -1 ");
  pawl_svg_length(out, x - part * style->font * width_of_text(xml));
  pawl_text_add(out, " ");
  pawl_svg_length(out, y);
  pawl_text_add(out, " Tm ");
  Font font = PLAIN;
  choose_font(out, style, font);
  for (const char* at = xml.s; at < end;) {
    Glyph glyph = glyph_of(next_character(&at, end));
    if (glyph.font != font) {
      pawl_text_add(out, ") Tj ");
      font = glyph.font;
      choose_font(out, style, font);
    }
    add_code(out, glyph.code);
  }
  pawl_text_add(out, ") Tj ET\n");
}
