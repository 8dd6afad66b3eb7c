// SPDX-License-Identifier: Apache-2.0
// Numbers and texts of a drawing. Numbers are put together from whole hundredths, which needs no
// printf and so never writes a locale's decimal comma.
#include <math.h>
#include <string.h>

#include "io/svg.h"

void pawl_svg_length(PawlText* text, double length) {
  long hundredths = lround(100.0 * length);
  long size = hundredths < 0 ? -hundredths : hundredths;
  pawl_text_add(text, hundredths < 0 ? "-" : "");
  if (size >= 100 || size == 0) {
    pawl_text_printf(text, "%ld", size / 100);
  }
  int fraction = (int)(size % 100);
  if (fraction % 10 != 0) {
    pawl_text_printf(text, ".%02d", fraction);
  } else if (fraction != 0) {
    pawl_text_printf(text, ".%d", fraction / 10);
  }
}

// The bytes of the UTF-8 character at s, 0 when there is none that XML allows.
static int character_bytes(const unsigned char* s) {
  if (s[0] < 0x80) {
    return (s[0] >= 0x20 && s[0] != 0x7f) || s[0] == '\t' || s[0] == '\n' ? 1 : 0;
  }
  int bytes = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
  long code = s[0] & (0xff >> (bytes + 1));
  if (s[0] < 0xc2 || s[0] > 0xf4) {
    return 0;
  }
  for (int i = 1; i < bytes; i++) {
    if ((s[i] & 0xc0) != 0x80) {
      return 0;
    }
    code = (code << 6) | (s[i] & 0x3f);
  }
  bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  bool surrogate = code >= 0xd800 && code <= 0xdfff;
  bool outside = code > 0x10ffff || code == 0xfffe || code == 0xffff;
  return overlong || surrogate || outside ? 0 : bytes;
}

static void add_character(PawlText* text, const char* s, int bytes) {
  switch (bytes == 1 ? *s : 0) {
    case '&':
      pawl_text_add(text, "&amp;");
      break;
    case '<':
      pawl_text_add(text, "&lt;");
      break;
    case '>':
      pawl_text_add(text, "&gt;");
      break;
    case '"':
      pawl_text_add(text, "&quot;");
      break;
    default:
      pawl_text_add_bytes(text, s, (size_t)bytes);
  }
}

static int character_count(const char* s) {
  int count = 0;
  while (*s) {
    int bytes = character_bytes((const unsigned char*)s);
    s += bytes > 0 ? bytes : 1;
    count++;
  }
  return count;
}

void pawl_svg_escape(PawlText* text, const char* s, int limit) {
  bool cut = character_count(s) > limit;
  for (int i = 0; *s && i < limit - cut; i++) {
    int bytes = character_bytes((const unsigned char*)s);
    if (bytes == 0) {
      pawl_text_add(text, "?");
      s++;
    } else {
      add_character(text, s, bytes);
      s += bytes;
    }
  }
  if (cut) {
    pawl_text_add(text, "\u2026");
  }
}

double pawl_svg_width(const char* s, int limit, double font) {
  double em = 0.0;
  for (int i = 0; *s && i < limit; i++) {
    int bytes = character_bytes((const unsigned char*)s);
    // Wide sans-serif fonts: about 0.6 em for letters, 0.4 for the narrow ones, 1 for ideographs.
    em += bytes >= 3 ? 1.0 : strchr("il.,:;'|![]() ", *s) ? 0.4 : 0.63;
    s += bytes > 0 ? bytes : 1;
  }
  return em * font;
}

void pawl_svg_attribute(PawlText* out, const char* name, double length) {
  pawl_text_printf(out, " %s=\"", name);
  pawl_svg_length(out, length);
  pawl_text_add(out, "\"");
}

void pawl_svg_line(PawlText* out, const char* class_name, double x1, double y1, double x2,
                   double y2) {
  pawl_text_printf(out, "<path class=\"%s\" d=\"M", class_name);
  pawl_svg_length(out, x1);
  pawl_text_add(out, " ");
  pawl_svg_length(out, y1);
  pawl_text_add(out, "L");
  pawl_svg_length(out, x2);
  pawl_text_add(out, " ");
  pawl_svg_length(out, y2);
  pawl_text_add(out, "\"/>\n");
}

void pawl_svg_text_begin(PawlText* out, const char* class_name, double x, double y) {
  pawl_text_printf(out, "<text class=\"%s\"", class_name);
  pawl_svg_attribute(out, "x", x);
  pawl_svg_attribute(out, "y", y);
  pawl_text_add(out, ">");
}

void pawl_svg_text_end(PawlText* out) {
  pawl_text_add(out, "</text>\n");
}
