// SPDX-License-Identifier: Apache-2.0
// Colours and names of the curves. A name stands to the right of the panel, near the end of its
// curve, and a leader line in the curve's colour joins the two.
#include <math.h>

#include "io/svg.h"

// The palette of Okabe and Ito, without its yellow, which is lost on white.
static const char* const palette[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#555555"};
enum { PALETTE = sizeof palette / sizeof *palette };
static const char* const energy_palette[] = {"#e69f00", "#56b4e9", "#222222"};
// From dark to light, for many curves of one family; readable in grey too.
static const char* const ramp[PAWL_SVG_CURVES] = {"#440154", "#482173", "#433e85", "#38588c",
                                                  "#2d708e", "#25858e", "#1e9b8a", "#2ab07f",
                                                  "#52c569", "#7ac943", "#a2cc1f", "#c9c51b"};

const char* pawl_svg_palette(int k) {
  return palette[(k < 0 ? 0 : k) % PALETTE];
}

int pawl_svg_palette_size(void) {
  return PALETTE;
}

const char* pawl_svg_colour(const PawlSvgPanel* panel, int curve) {
  if (panel->kind == PAWL_COLUMN_ENERGY && panel->kind_total <= 3) {
    return energy_palette[panel->curves[curve].rank];
  }
  if (panel->kind_total <= PALETTE) {
    return palette[panel->curves[curve].rank];  // x and x' look alike
  }
  if (panel->curve_count <= PALETTE) {
    return palette[curve];
  }
  return ramp[curve * (PAWL_SVG_CURVES - 1) / (panel->curve_count - 1)];
}

const char* pawl_svg_dash(const PawlSvgPanel* panel, int curve) {
  static const char* const dashes[] = {"", " stroke-dasharray=\"9 5\"", " stroke-dasharray=\"3 4\"",
                                       " stroke-dasharray=\"9 4 2 4\""};
  return panel->compares ? dashes[panel->curves[curve].rank % 4] : "";
}

typedef struct Name {
  int curve;
  double end, y;  // height of the curve's end and of the name
} Name;

// Height of the last value that can be drawn.
static double curve_end(const PawlSvgCurve* curve, const PawlSvgFrame* frame) {
  for (int i = pawl_recorder_sample_count(curve->recorder) - 1; i >= 0; i--) {
    double value = pawl_recorder_sample(curve->recorder, i)[curve->column];
    if (pawl_svg_finite(value)) {
      return frame->top + frame->height * (1.0 - pawl_svg_axis_place(frame->y, value));
    }
  }
  return frame->top;
}

static void sort_names(Name names[], int count) {
  for (int i = 1; i < count; i++) {
    Name name = names[i];
    int j = i;
    for (; j > 0 && names[j - 1].end > name.end; j--) {
      names[j] = names[j - 1];
    }
    names[j] = name;
  }
}

// Pushes names that overlap apart, then into the height of the panel.
static void spread_names(Name names[], int count, double low, double high) {
  for (int round = 0; round < 100; round++) {
    for (int i = 0; i + 1 < count; i++) {
      double missing = PAWL_SVG_LINE - (names[i + 1].y - names[i].y);
      if (missing > 0.0) {
        names[i].y -= 0.5 * missing;
        names[i + 1].y += 0.5 * missing;
      }
    }
  }
  for (int i = 0; i < count; i++) {
    names[i].y = fmax(names[i].y, i > 0 ? names[i - 1].y + PAWL_SVG_LINE : low);
  }
  for (int i = count - 1; i >= 0; i--) {
    names[i].y = fmin(names[i].y, i + 1 < count ? names[i + 1].y - PAWL_SVG_LINE : high);
  }
}

static void draw_name(PawlText* text, const PawlSvgPanel* panel, const Name* at, double right) {
  pawl_text_printf(text, "<path class=\"leader\" stroke=\"%s\"%s d=\"M",
                   pawl_svg_colour(panel, at->curve), pawl_svg_dash(panel, at->curve));
  pawl_svg_length(text, right + 2.0);
  pawl_text_add(text, " ");
  pawl_svg_length(text, at->end);
  pawl_text_add(text, "L");
  pawl_svg_length(text, right + 8.0);
  pawl_text_add(text, " ");
  pawl_svg_length(text, at->y);
  pawl_text_add(text, "h10\"/>");
  pawl_svg_text_begin(text, "name", right + PAWL_SVG_NAME_SHIFT, at->y + 4.0);
  pawl_svg_escape(text, panel->curves[at->curve].name, PAWL_SVG_NAME);
  pawl_svg_text_end(text);
}

void pawl_svg_names(PawlText* text, const PawlSvgPanel* panel, const PawlSvgFrame* frame) {
  Name names[PAWL_SVG_CURVES];
  for (int i = 0; i < panel->curve_count; i++) {
    double end = curve_end(&panel->curves[i], frame);
    names[i] = (Name){i, end, end};
  }
  sort_names(names, panel->curve_count);
  double right = frame->left + frame->width;
  double low = frame->top + 0.5 * PAWL_SVG_LINE;
  if (panel->total > panel->curve_count) {
    pawl_svg_text_begin(text, "small", right + PAWL_SVG_NAME_SHIFT, low + 3.0);
    pawl_text_printf(text, "%d of %d shown", panel->curve_count, panel->total);
    pawl_svg_text_end(text);
    low += PAWL_SVG_LINE;
  }
  double high = frame->top + frame->height - 0.5 * PAWL_SVG_LINE;
  spread_names(names, panel->curve_count, low, high);
  for (int i = 0; i < panel->curve_count; i++) {
    draw_name(text, panel, &names[i], right);
  }
}
