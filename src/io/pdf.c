// SPDX-License-Identifier: Apache-2.0
// The elements of a drawing one after the other, and the document around them. A page has its
// origin at the lower left and points of 1/72 inch; one matrix turns that into the px of SVG.
#include "io/pdf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/pdf_impl.h"
#include "io/svg.h"

enum { MOST_ATTRIBUTES = 24, MOST_NESTING = 32, ALPHA_STEPS = 20 };
static const double POINTS = 0.75;  // in a px

typedef struct Attribute {
  PawlPdfSpan name, value;
} Attribute;

typedef struct Element {
  PawlPdfSpan name;
  bool closes, empty;  // </g>, <g/>
  int count;
  Attribute attributes[MOST_ATTRIBUTES];
} Element;

typedef struct Page {
  const char *at, *end;  // of the drawing
  PawlPdfSpan sheet;
  PawlText content;
  double width, height;  // [px]
  int depth;
  PawlPdfStyle styles[MOST_NESTING];  // of the groups that are open
} Page;

// ---- elements -----------------------------------------------------------------------------------
static const char* find(const char* at, const char* end, const char* any) {
  while (at < end && !strchr(any, *at)) {
    at++;
  }
  return at;
}

static PawlPdfSpan span(const char* begin, const char* end) {
  return (PawlPdfSpan){begin, (size_t)(end - begin)};
}

static void read_attributes(Page* page, Element* element) {
  const char* at = page->at;
  while (at < page->end && *at != '>' && *at != '/') {
    if (strchr(" \n\t", *at)) {
      at++;
      continue;
    }
    const char* equals = find(at, page->end, "=>");
    const char* open = find(equals, page->end, "\"'>");
    const char quote[2] = {open < page->end ? *open : '"', '\0'};
    const char* close = open < page->end ? find(open + 1, page->end, quote) : open;
    if (close >= page->end || *open == '>') {
      at = page->end;
      break;
    }
    if (element->count < MOST_ATTRIBUTES) {
      element->attributes[element->count++] = (Attribute){span(at, equals), span(open + 1, close)};
    }
    at = close + 1;
  }
  element->empty = at < page->end && *at == '/';
  at = find(at, page->end, ">");
  page->at = at < page->end ? at + 1 : at;
}

// The next element, behind whose > the page then stands; false at the end.
static bool next_element(Page* page, Element* element) {
  *element = (Element){0};
  const char* at = find(page->at, page->end, "<");
  if (at + 1 >= page->end) {
    return false;
  }
  element->closes = at[1] == '/';
  at += element->closes ? 2 : 1;
  const char* stop = find(at, page->end, " \n\t/>");
  element->name = span(at, stop);
  page->at = stop;
  read_attributes(page, element);
  return true;
}

static PawlPdfSpan attribute(const Element* element, const char* name) {
  for (int k = 0; k < element->count; k++) {
    if (pawl_pdf_is(element->attributes[k].name, name)) {
      return element->attributes[k].value;
    }
  }
  return (PawlPdfSpan){"", 0};
}

static double length_of(const Element* element, const char* name) {
  PawlPdfSpan value = attribute(element, name);
  const char* at = value.s;
  double number = 0.0;
  (void)pawl_pdf_number(&at, value.s + value.length, &number);
  return number;
}

// What stands between an element and its end, which must hold no other.
static PawlPdfSpan content_of(const Page* page) {
  return span(page->at, find(page->at, page->end, "<"));
}

static PawlPdfStyle style_of(const Page* page, const Element* element) {
  PawlPdfStyle style = page->styles[page->depth];
  double groups = style.opacity;
  style.opacity = 1.0;
  for (int k = 0; k < element->count; k++) {
    pawl_pdf_style_set(&style, element->attributes[k].name, element->attributes[k].value);
  }
  pawl_pdf_style_rules(&style, page->sheet, element->name, attribute(element, "class"));
  pawl_pdf_style_list(&style, attribute(element, "style"));
  style.opacity *= groups;
  return style;
}

// ---- operators ----------------------------------------------------------------------------------
static void put(Page* page, const char* operation, int count, const double* numbers) {
  for (int k = 0; k < count; k++) {
    // Angles and colours need more than 1/100.
    long thousandths = lround(10000.0 * numbers[k]);
    pawl_text_printf(&page->content, "%s%ld.%04ld ", thousandths < 0 ? "-" : "",
                     labs(thousandths) / 10000, labs(thousandths) % 10000);
  }
  pawl_text_add(&page->content, operation);
  pawl_text_add(&page->content, "\n");
}

static void put_colour(Page* page, const char* operation, PawlPdfColour colour) {
  put(page, operation, 3, (double[]){colour.red, colour.green, colour.blue});
}

static int alpha_step(double alpha) {
  return (int)lround(ALPHA_STEPS * fmin(1.0, fmax(0.0, alpha)));
}

static void put_style(Page* page, const PawlPdfStyle* style) {
  if (!style->fill.none) {
    put_colour(page, "rg", style->fill);
  }
  if (!style->stroke.none) {
    put_colour(page, "RG", style->stroke);
    put(page, "w", 1, &style->width);
    pawl_text_printf(&page->content, "%d J %d j [", style->round_cap, style->round_join);
    for (int k = 0; k < style->dash_count; k++) {
      pawl_svg_length(&page->content, style->dash[k]);
      pawl_text_add(&page->content, " ");
    }
    pawl_text_add(&page->content, "] 0 d\n");
  }
  int fill = alpha_step(style->opacity * style->fill_opacity);
  int stroke = alpha_step(style->opacity * style->stroke_opacity);
  if (fill < ALPHA_STEPS || stroke < ALPHA_STEPS) {
    pawl_text_printf(&page->content, "/f%d gs /s%d gs\n", fill, stroke);
  }
}

// The functions of `transform`: translate, rotate, scale.
static void put_transform(Page* page, PawlPdfSpan list) {
  const char *at = list.s, *end = list.s + list.length;
  while (at < end) {
    const char* open = find(at, end, "(");
    PawlPdfSpan name = span(at + strspn(at, " ,"), open);
    double n[2] = {0.0, 0.0};
    if (open >= end) {
      return;
    }
    at = open + 1;
    int count = pawl_pdf_number(&at, end, &n[0]) ? 1 : 0;
    count += pawl_pdf_number(&at, end, &n[1]) ? 1 : 0;
    double angle = n[0] / 57.29577951308232;
    if (pawl_pdf_is(name, "translate")) {
      put(page, "cm", 6, (double[]){1, 0, 0, 1, n[0], n[1]});
    } else if (pawl_pdf_is(name, "rotate")) {
      put(page, "cm", 6, (double[]){cos(angle), sin(angle), -sin(angle), cos(angle), 0, 0});
    } else if (pawl_pdf_is(name, "scale")) {
      put(page, "cm", 6, (double[]){n[0], 0, 0, count > 1 ? n[1] : n[0], 0, 0});
    }
    at = find(at, end, ")");
    at += at < end;
  }
}

static void paint(Page* page, const PawlPdfStyle* style) {
  static const char* const operations[] = {"B\n", "f\n", "S\n", "n\n"};  // fill and stroke, ...
  pawl_text_add(&page->content, operations[2 * style->fill.none + style->stroke.none]);
}

// ---- shapes -------------------------------------------------------------------------------------
static void draw_rect(Page* page, const Element* element) {
  bool whole = pawl_pdf_is(attribute(element, "width"), "100%");
  put(page, "re", 4,
      (double[]){length_of(element, "x"), length_of(element, "y"),
                 whole ? page->width : length_of(element, "width"),
                 whole ? page->height : length_of(element, "height")});
}

static void draw_line(Page* page, const Element* element) {
  put(page, "m", 2, (double[]){length_of(element, "x1"), length_of(element, "y1")});
  put(page, "l", 2, (double[]){length_of(element, "x2"), length_of(element, "y2")});
}

static void draw_points(Page* page, const Element* element, bool closed) {
  PawlPdfSpan points = attribute(element, "points");
  const char *at = points.s, *end = points.s + points.length;
  double p[2];
  for (const char* operation = "m";
       pawl_pdf_number(&at, end, &p[0]) && pawl_pdf_number(&at, end, &p[1]); operation = "l") {
    put(page, operation, 2, p);
  }
  pawl_text_add(&page->content, closed ? "h\n" : "");
}

// True for the shapes that are painted.
static bool draw_shape(Page* page, const Element* element) {
  if (pawl_pdf_is(element->name, "path")) {
    pawl_pdf_path(&page->content, attribute(element, "d"));
  } else if (pawl_pdf_is(element->name, "rect")) {
    draw_rect(page, element);
  } else if (pawl_pdf_is(element->name, "line")) {
    draw_line(page, element);
  } else if (pawl_pdf_is(element->name, "circle")) {
    pawl_pdf_circle(&page->content, length_of(element, "cx"), length_of(element, "cy"),
                    length_of(element, "r"));
  } else if (pawl_pdf_is(element->name, "polygon") || pawl_pdf_is(element->name, "polyline")) {
    draw_points(page, element, pawl_pdf_is(element->name, "polygon"));
  } else {
    return false;
  }
  return true;
}

static void draw_element(Page* page, const Element* element) {
  PawlPdfStyle style = style_of(page, element);
  bool text = pawl_pdf_is(element->name, "text");
  size_t before = page->content.length;
  pawl_text_add(&page->content, "q\n");
  put_style(page, &style);
  put_transform(page, attribute(element, "transform"));
  if (text) {
    pawl_pdf_text(&page->content, &style, length_of(element, "x"), length_of(element, "y"),
                  content_of(page));
  } else if (draw_shape(page, element)) {
    paint(page, &style);
  } else {
    page->content.length = before;  // nothing that is drawn
    return;
  }
  pawl_text_add(&page->content, "Q\n");
}

static void open_group(Page* page, const Element* element) {
  if (element->empty || page->depth + 1 >= MOST_NESTING) {
    return;
  }
  PawlPdfStyle style = style_of(page, element);
  page->styles[++page->depth] = style;
  pawl_text_add(&page->content, "q\n");
  put_transform(page, attribute(element, "transform"));
}

static void draw_page(Page* page) {
  Element element;
  while (next_element(page, &element)) {
    bool group = pawl_pdf_is(element.name, "g");
    if (element.closes && group && page->depth > 0) {
      page->depth--;
      pawl_text_add(&page->content, "Q\n");
    } else if (element.closes) {
      continue;
    } else if (group) {
      open_group(page, &element);
    } else if (pawl_pdf_is(element.name, "svg")) {
      page->width = length_of(&element, "width");
      page->height = length_of(&element, "height");
    } else if (pawl_pdf_is(element.name, "style")) {
      page->sheet = content_of(page);
    } else {
      draw_element(page, &element);
    }
  }
}

// ---- the document -------------------------------------------------------------------------------
enum { OBJECTS = 8 };  // catalogue, pages, page, content, three fonts; from 1

static void begin_object(PawlText* out, int number, size_t places[]) {
  places[number] = out->length;
  pawl_text_printf(out, "%d 0 obj\n", number);
}

static void add_page(PawlText* out, const Page* page) {
  pawl_text_add(out, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 ");
  pawl_svg_length(out, POINTS * page->width);
  pawl_text_add(out, " ");
  pawl_svg_length(out, POINTS * page->height);
  pawl_text_add(out,
                "]/Contents 4 0 R/Resources<</Font<</F1 5 0 R/F2 6 0 R/F3 7 0 R>>/ExtGState<<");
  for (int k = 0; k <= ALPHA_STEPS; k++) {
    int hundredths = 100 * k / ALPHA_STEPS;
    pawl_text_printf(out, "/f%d<</ca %d.%02d>>/s%d<</CA %d.%02d>>", k, hundredths / 100,
                     hundredths % 100, k, hundredths / 100, hundredths % 100);
  }
  pawl_text_add(out, ">>>>>>\nendobj\n");
}

static void add_content(PawlText* out, const Page* page) {
  PawlText head = {0};
  pawl_text_printf(&head, ".75 0 0 -.75 0 ");
  pawl_svg_length(&head, POINTS * page->height);
  pawl_text_add(&head, " cm\n");
  const char* content = page->content.s ? page->content.s : "";
  pawl_text_printf(out, "<</Length %zu>>\nstream\n", head.length + page->content.length);
  pawl_text_add(out, head.s ? head.s : "");
  pawl_text_add_bytes(out, content, page->content.length);
  pawl_text_add(out, "\nendstream\nendobj\n");
  out->failed = out->failed || head.failed || page->content.failed;
  pawl_text_free(&head);
}

static void add_document(PawlText* out, const Page* page) {
  static const char* const fonts[] = {"Helvetica", "Helvetica-Bold", "Symbol"};
  size_t places[OBJECTS] = {0};
  pawl_text_add(out, "%PDF-1.4\n");
  begin_object(out, 1, places);
  pawl_text_add(out, "<</Type/Catalog/Pages 2 0 R>>\nendobj\n");
  begin_object(out, 2, places);
  pawl_text_add(out, "<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n");
  begin_object(out, 3, places);
  add_page(out, page);
  begin_object(out, 4, places);
  add_content(out, page);
  for (int k = 0; k < 3; k++) {
    begin_object(out, 5 + k, places);
    pawl_text_printf(out, "<</Type/Font/Subtype/Type1/BaseFont/%s%s>>\nendobj\n", fonts[k],
                     k < 2 ? "/Encoding/WinAnsiEncoding" : "");
  }
  size_t table = out->length;
  pawl_text_printf(out, "xref\n0 %d\n0000000000 65535 f \n", OBJECTS);
  for (int k = 1; k < OBJECTS; k++) {
    pawl_text_printf(out, "%010zu 00000 n \n", places[k]);
  }
  pawl_text_printf(out, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%zu\n%%%%EOF\n", OBJECTS,
                   table);
}

PawlStatus pawl_pdf(const char* svg, PawlText* out, PawlError* err) {
  Page page = {.at = svg, .end = svg + strlen(svg), .sheet = {"", 0}};
  page.styles[0] = pawl_pdf_style_default();
  draw_page(&page);
  add_document(out, &page);
  pawl_text_free(&page.content);
  return out->failed ? pawl_fail_memory(err) : PAWL_OK;
}
