// SPDX-License-Identifier: Apache-2.0
// Styles: properties, lists of them, and the rules of a style sheet.
#include <string.h>

#include "io/pdf_impl.h"

bool pawl_pdf_is(PawlPdfSpan span, const char* text) {
  return strlen(text) == span.length && strncmp(span.s, text, span.length) == 0;
}

static bool is_digit(const char* at, const char* end) {
  return at < end && *at >= '0' && *at <= '9';
}

static double digits(const char** at, const char* end, double* unit) {
  double value = 0.0;
  for (*unit = 1.0; is_digit(*at, end); ++*at, *unit *= 10.0) {
    value = 10.0 * value + (**at - '0');
  }
  return value;
}

bool pawl_pdf_number(const char** at, const char* end, double* number) {
  const char* c = *at;
  while (c < end && strchr(" ,\n\t", *c)) {
    c++;
  }
  bool negative = c < end && *c == '-';
  c += negative || (c < end && *c == '+');
  if (!is_digit(c, end) && !(c < end && *c == '.' && is_digit(c + 1, end))) {
    return false;
  }
  double unit, value = digits(&c, end, &unit);
  if (c < end && *c == '.') {
    c++;
    double fraction = digits(&c, end, &unit);
    value += fraction / unit;
  }
  *number = negative ? -value : value;
  *at = c;
  return true;
}

static double number_of(PawlPdfSpan value, double otherwise) {
  const char* at = value.s;
  (void)pawl_pdf_number(&at, value.s + value.length, &otherwise);
  return otherwise;
}

static double hex(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
}

static PawlPdfColour colour_of(PawlPdfSpan value) {
  const char* s = value.s + 1;
  if (value.length == 4 && value.s[0] == '#') {
    return (PawlPdfColour){false, hex(s[0]) / 15.0, hex(s[1]) / 15.0, hex(s[2]) / 15.0};
  }
  if (value.length == 7 && value.s[0] == '#') {
    return (PawlPdfColour){false, (16.0 * hex(s[0]) + hex(s[1])) / 255.0,
                           (16.0 * hex(s[2]) + hex(s[3])) / 255.0,
                           (16.0 * hex(s[4]) + hex(s[5])) / 255.0};
  }
  return (PawlPdfColour){.none = true};
}

PawlPdfStyle pawl_pdf_style_default(void) {
  return (PawlPdfStyle){.stroke.none = true,
                        .opacity = 1.0,
                        .fill_opacity = 1.0,
                        .stroke_opacity = 1.0,
                        .width = 1.0,
                        .font = 11.0};
}

static void set_dash(PawlPdfStyle* style, PawlPdfSpan value) {
  const char *at = value.s, *end = value.s + value.length;
  style->dash_count = 0;
  while (style->dash_count < 4 && pawl_pdf_number(&at, end, &style->dash[style->dash_count])) {
    style->dash_count++;
  }
}

void pawl_pdf_style_set(PawlPdfStyle* style, PawlPdfSpan name, PawlPdfSpan value) {
  const struct {
    const char* name;
    double* to;
  } numbers[] = {{"opacity", &style->opacity},
                 {"fill-opacity", &style->fill_opacity},
                 {"stroke-opacity", &style->stroke_opacity},
                 {"stroke-width", &style->width},
                 {"font-size", &style->font}};
  for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
    if (pawl_pdf_is(name, numbers[k].name)) {
      *numbers[k].to = number_of(value, *numbers[k].to);
    }
  }
  if (pawl_pdf_is(name, "fill")) {
    style->fill = colour_of(value);
  } else if (pawl_pdf_is(name, "stroke")) {
    style->stroke = colour_of(value);
  } else if (pawl_pdf_is(name, "stroke-dasharray")) {
    set_dash(style, value);
  } else if (pawl_pdf_is(name, "stroke-linecap")) {
    style->round_cap = pawl_pdf_is(value, "round");
  } else if (pawl_pdf_is(name, "stroke-linejoin")) {
    style->round_join = pawl_pdf_is(value, "round");
  } else if (pawl_pdf_is(name, "font-weight")) {
    style->bold = pawl_pdf_is(value, "bold");
  } else if (pawl_pdf_is(name, "font")) {  // "11px Helvetica,..."
    style->font = number_of(value, style->font);
  } else if (pawl_pdf_is(name, "text-anchor")) {
    style->anchor = pawl_pdf_is(value, "end")      ? PAWL_PDF_END
                    : pawl_pdf_is(value, "middle") ? PAWL_PDF_MIDDLE
                                                   : PAWL_PDF_START;
  }
}

static PawlPdfSpan trim(const char* begin, const char* end) {
  while (begin < end && strchr(" \n\t", *begin)) {
    begin++;
  }
  while (end > begin && strchr(" \n\t", end[-1])) {
    end--;
  }
  return (PawlPdfSpan){begin, (size_t)(end - begin)};
}

static const char* find(const char* at, const char* end, char c) {
  const char* found = at < end ? memchr(at, c, (size_t)(end - at)) : NULL;
  return found ? found : end;
}

void pawl_pdf_style_list(PawlPdfStyle* style, PawlPdfSpan list) {
  const char *at = list.s, *end = list.s + list.length;
  while (at < end) {
    const char* stop = find(at, end, ';');
    const char* colon = find(at, stop, ':');
    if (colon < stop) {
      pawl_pdf_style_set(style, trim(at, colon), trim(colon + 1, stop));
    }
    at = stop + 1;
  }
}

static bool has_class(PawlPdfSpan classes, PawlPdfSpan wanted) {
  const char *at = classes.s, *end = classes.s + classes.length;
  while (at < end) {
    const char* stop = find(at, end, ' ');
    if ((size_t)(stop - at) == wanted.length && strncmp(at, wanted.s, wanted.length) == 0) {
      return true;
    }
    at = stop + 1;
  }
  return false;
}

// "text" or ".small"
static bool selects(PawlPdfSpan selector, PawlPdfSpan element, PawlPdfSpan classes) {
  if (selector.length > 1 && selector.s[0] == '.') {
    return has_class(classes, (PawlPdfSpan){selector.s + 1, selector.length - 1});
  }
  return selector.length == element.length && strncmp(selector.s, element.s, selector.length) == 0;
}

void pawl_pdf_style_rules(PawlPdfStyle* style, PawlPdfSpan sheet, PawlPdfSpan element,
                          PawlPdfSpan classes) {
  const char *at = sheet.s, *end = sheet.s + sheet.length;
  while (at < end) {
    const char* open = find(at, end, '{');
    const char* close = find(open, end, '}');
    bool applies = false;
    while (at < open) {  // "a,b{...}"
      const char* comma = find(at, open, ',');
      applies = applies || selects(trim(at, comma), element, classes);
      at = comma + 1;
    }
    if (applies && open < close) {
      pawl_pdf_style_list(style, (PawlPdfSpan){open + 1, (size_t)(close - open) - 1});
    }
    at = close + 1;
  }
}
