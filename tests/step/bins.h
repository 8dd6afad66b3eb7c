// SPDX-License-Identifier: Apache-2.0
// Texts of models with random bodies that fall into a bin or stand on each other, the same for the
// same number: what the energy of time stepping is measured with (tests/step/test_energy.c,
// bench/energy.c).
#pragma once

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum BinKind {
  BIN_DISCS,    // fall into a bin
  BIN_BOXES,    // the same, rounded and turned
  BIN_SPHERES,  // the same in space
  BIN_COLUMN,   // bricks that fall onto each other
  BIN_KINDS
} BinKind;

static const char* const BIN_NAMES[BIN_KINDS] = {"discs", "boxes", "spheres", "column"};

typedef struct Bin {
  BinKind kind;
  unsigned seed;
  int bodies;
  double heaviest;  // masses are from 1 kg to this
  double e, mu;     // of all contacts; e < 0: each has another
} Bin;

enum { BIN_TEXT = 60000 };  // room of a text with up to 16 bodies

typedef struct BinText {
  char* to;
  int used;
  uint64_t random;
} BinText;

static inline void bin_add(BinText* text, const char* format, ...) {
  va_list list;
  va_start(list, format);
  text->used += vsnprintf(text->to + text->used, (size_t)(BIN_TEXT - text->used), format, list);
  va_end(list);
}

// The next number from `least` to `most`, of a linear congruence.
static inline double bin_random(BinText* text, double least, double most) {
  text->random = text->random * 6364136223846793005u + 1442695040888963407u;
  return least + (most - least) * ((double)(text->random >> 11) / 9007199254740992.0);
}

static inline void bin_contact(const Bin* bin, BinText* text, int i, const char* other, int k) {
  double e = bin->e < 0.0 ? bin_random(text, 0, 1) : bin->e;
  char number[16] = "";
  if (k >= 0) {
    snprintf(number, sizeof number, "%d", k);
  }
  bin_add(text, "  c%d_%c%s: {between: [b%d, %s%s], restitution: %.3g", i, other[k < 0 ? 7 : 0],
          number, i, other, number, e);
  if (bin->mu > 0.0) {
    bin_add(text, ", friction: %g", bin->mu);
  }
  bin_add(text, "}\n");
}

static inline void bin_body(const Bin* bin, BinText* text, int i) {
  double mass = pow(bin->heaviest, bin_random(text, 0, 1)), r = bin_random(text, 0.05, 0.1);
  double x = bin_random(text, -0.15, 0.15), y = 0.12 + 0.21 * i, z = bin_random(text, -0.15, 0.15);
  bin_add(text, "  b%d: {mass: %.6g, ", i, mass);
  switch (bin->kind) {
    case BIN_DISCS:
      bin_add(text, "inertia: %.6g, shape: {disc: %.4g}, start: {at: [%.4g, %.4g]}, ",
              mass * r * r / 2, r, x, y);
      break;
    case BIN_BOXES:
      bin_add(text, "inertia: %.6g, shape: {box: [%.4g, %.4g], round: 0.005}, ",
              mass * (r * r + 0.01) / 12, r, 0.1);
      bin_add(text, "start: {at: [%.4g, %.4g], angle: %.4g}, ", x, y, bin_random(text, 0, 3));
      break;
    case BIN_SPHERES:
      bin_add(text, "inertia: [%.6g, %.6g, %.6g], shape: {sphere: %.4g}, ", 0.4 * mass * r * r,
              0.4 * mass * r * r, 0.4 * mass * r * r, r);
      bin_add(text, "start: {at: [%.4g, %.4g, %.4g]}, ", x, y, z);
      break;
    default:
      bin_add(text, "inertia: %.6g, shape: {box: [0.2, 0.1], round: 0.005}, ",
              mass * (0.04 + 0.01) / 12);
      bin_add(text, "start: {at: [%.4g, %.4g]}}\n", 0.05 * x, 0.05 + 0.1005 * i);
      return;
  }
  bin_add(text, "rate: {velocity: [%.3g, %.3g%s]}}\n", bin_random(text, -1, 1),
          bin_random(text, -1, 0), bin->kind == BIN_SPHERES ? ", 0.3" : "");
}

// The text of a bin goes to `to`, which has room for BIN_TEXT.
static inline const char* bin_text(const Bin* bin, char* to) {
  static const char* const planes[] = {"ground.base", "ground.left", "ground.right", "ground.wall",
                                       "ground.door"};
  BinText text = {to, 0, 1000003u * bin->seed + (unsigned)bin->kind};
  bool space = bin->kind == BIN_SPHERES;
  int walls = bin->kind == BIN_COLUMN ? 1 : space ? 5 : 3;
  bin_add(&text, "model: %s\nmechanism: {gravity: [0, -9.81%s]}\nbodies:\n  ground:\n    shapes:\n",
          BIN_NAMES[bin->kind], space ? ", 0" : "");
  const char* last = space ? ", 0" : "";
  bin_add(&text, "      base: {plane: {at: [0, 0%s], normal: [0, 1%s]}}\n", last, last);
  bin_add(&text, "      left: {plane: {at: [-0.3, 0%s], normal: [1, 0.2%s]}}\n", last, last);
  bin_add(&text, "      right: {plane: {at: [0.3, 0%s], normal: [-1, 0%s]}}\n", last, last);
  if (space) {
    bin_add(&text, "      wall: {plane: {at: [0, 0, -0.3], normal: [0, 0, 1]}}\n");
    bin_add(&text, "      door: {plane: {at: [0, 0, 0.3], normal: [0, 0.1, -1]}}\n");
  }
  for (int i = 0; i < bin->bodies; i++) {
    bin_body(bin, &text, i);
  }
  bin_add(&text, "contacts:\n");
  for (int i = 0; i < bin->bodies; i++) {
    for (int k = 0; k < walls && (i == 0 || bin->kind != BIN_COLUMN); k++) {
      bin_contact(bin, &text, i, planes[k], -1);
    }
    for (int k = bin->kind == BIN_COLUMN ? i - 1 : 0; k < i; k++) {
      if (k >= 0) {
        bin_contact(bin, &text, i, "b", k);
      }
    }
  }
  return to;
}
