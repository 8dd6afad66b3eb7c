// SPDX-License-Identifier: Apache-2.0
// Axes with ticks at 1, 2 or 5 times a power of ten. A tick is a whole multiple of the step, so its
// label is put together from whole numbers and is exact.
#include <math.h>
#include <stdlib.h>

#include "io/svg.h"

enum { LONGEST_LABEL = 5 };  // digits of a label before an offset is taken out

bool pawl_svg_finite(double value) {
  return fabs(value) <= PAWL_SVG_HUGE;  // false for NaN
}

// x * 10^n; dividing for n < 0, since 10^22 is exact and 10^-1 is not.
static double scale10(double x, int n) {
  return n >= 0 ? x * pow(10.0, n) : x / pow(10.0, -n);
}

static double step_of(const PawlSvgAxis* axis) {
  return scale10(axis->mantissa, axis->power);
}

// The smallest of 1, 2, 5 times a power of ten that makes no more than `ticks` steps.
static void choose_step(PawlSvgAxis* axis, int ticks) {
  double raw = (axis->hi - axis->lo) / ticks;
  axis->power = (int)floor(log10(raw));
  double digit = scale10(raw, -axis->power);
  axis->mantissa = digit <= 1.0 ? 1 : digit <= 2.0 ? 2 : digit <= 5.0 ? 5 : 10;
  if (axis->mantissa == 10) {
    axis->mantissa = 1;
    axis->power++;
  }
}

// Takes a round number near the middle out of all labels.
static void take_offset(PawlSvgAxis* axis) {
  int digits = -(int)ceil(log10(axis->hi - axis->lo));
  double middle = axis->lo + 0.5 * (axis->hi - axis->lo);
  axis->offset = scale10(nearbyint(scale10(middle, digits)), -digits);
  axis->lo -= axis->offset;
  axis->hi -= axis->offset;
}

static double magnitude(double lo, double hi) {
  return fmax(fabs(lo), fabs(hi));
}

// A range of a few roundings is that of a constant: it gets a range of its own size.
static void widen(double* lo, double* hi, double margin) {
  double size = magnitude(*lo, *hi);
  double range = *hi - *lo;
  if (range <= PAWL_SVG_NO_RANGE * size || range < 1.0 / PAWL_SVG_HUGE) {
    double half = size >= 1e3 / PAWL_SVG_HUGE ? 0.1 * size : 1.0;
    *lo -= half;
    *hi += half;
  } else {
    *lo -= margin * range;
    *hi += margin * range;
  }
}

PawlSvgAxis pawl_svg_axis(double lo, double hi, double margin, int ticks) {
  widen(&lo, &hi, margin);
  PawlSvgAxis axis = {.lo = lo, .hi = hi};
  choose_step(&axis, ticks);
  if (magnitude(lo, hi) > scale10(step_of(&axis), LONGEST_LABEL)) {
    take_offset(&axis);
  }
  int digits = (int)floor(log10(magnitude(axis.lo, axis.hi)));
  if (digits >= LONGEST_LABEL || digits < -3) {
    axis.exponent = 3 * (int)floor(digits / 3.0);
  }
  axis.first = (int)ceil(axis.lo / step_of(&axis) - PAWL_SVG_LAST_TICK);
  axis.last = (int)floor(axis.hi / step_of(&axis) + PAWL_SVG_LAST_TICK);
  return axis;
}

double pawl_svg_axis_place(const PawlSvgAxis* axis, double value) {
  return ((value - axis->offset) - axis->lo) / (axis->hi - axis->lo);
}

double pawl_svg_axis_tick(const PawlSvgAxis* axis, int k) {
  return (k * step_of(axis) - axis->lo) / (axis->hi - axis->lo);
}

void pawl_svg_axis_label(PawlText* text, const PawlSvgAxis* axis, int k) {
  // The label is whole * 10^shift.
  long long whole = (long long)k * axis->mantissa;
  int shift = axis->power - axis->exponent;
  pawl_text_add(text, whole < 0 ? "\u2212" : "");
  whole = llabs(whole);
  for (; shift > 0 && whole != 0; shift--) {
    whole *= 10;
  }
  if (shift >= 0 || whole == 0) {
    pawl_text_printf(text, "%lld", whole);
    return;
  }
  long long unit = 1;
  for (int i = 0; i < -shift; i++) {
    unit *= 10;
  }
  pawl_text_printf(text, "%lld.%0*lld", whole / unit, -shift, whole % unit);
}

void pawl_svg_superscript(PawlText* text, int n) {
  static const char* const digits[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                       "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  pawl_text_add(text, n < 0 ? "\u207b" : "");
  n = abs(n);
  int unit = n >= 100 ? 100 : n >= 10 ? 10 : 1;
  for (; unit > 0; unit /= 10) {
    pawl_text_add(text, digits[n / unit % 10]);
  }
}

void pawl_svg_axis_factor(PawlText* text, const PawlSvgAxis* axis) {
  if (axis->exponent != 0) {
    pawl_text_add(text, "\u00d710");
    pawl_svg_superscript(text, axis->exponent);
  }
  if (axis->offset != 0.0) {
    pawl_text_add(text, axis->exponent != 0 ? " " : "");
    pawl_text_add(text, axis->offset < 0.0 ? "\u2212 " : "+ ");
    pawl_text_number(text, fabs(axis->offset));
  }
}
