// SPDX-License-Identifier: Apache-2.0
// The sums of a balance of forces, of a part of the coordinates.
#include <math.h>

#include "base/targets.h"
#include "step/ga_loops.h"
#include "switch/tolerances.h"

static inline double larger(double a, double b) {
  return a > b ? a : b;
}

enum { LANES = 32 };  // sums and largest numbers side by side, in vectors

// Of many, the same in vectors; `count` is a multiple of LANES.
PAWL_MANY_TARGETS static PawlGaSums sum_many(int count, const double* restrict r,
                                             const double* restrict terms,
                                             const double* restrict weight) {
  double error[LANES] = {0}, size[LANES] = {0}, massless[LANES] = {0}, own[LANES] = {0};
  double part[LANES], light[LANES];
  for (int j = 0; j < count; j += LANES) {
    for (int k = 0; k < LANES; k++) {
      double of = terms[j + k], M = weight[j + k], mass = M > 0.0 ? M : INFINITY;
      part[k] = fabs(r[j + k]) / of;
      light[k] = M > 0.0 ? 0.0 : 1.0;
      error[k] += r[j + k] * r[j + k] / mass;
      size[k] += of * of / mass;
    }
    for (int k = 0; k < LANES; k++) {
      double counts = fabs(r[j + k]) > PAWL_FLUSHED ? part[k] : 0.0, alone = counts * light[k];
      massless[k] = alone > massless[k] ? alone : massless[k];
      own[k] = counts > own[k] ? counts : own[k];
    }
  }
  PawlGaSums sums = {0};
  for (int k = 0; k < LANES; k++) {
    sums.error += error[k];
    sums.size += size[k];
    sums.massless = larger(sums.massless, massless[k]);
    sums.own = larger(sums.own, own[k]);
  }
  return sums;
}

// The same where every coordinate has a mass and is balanced by itself, as most often: of the
// largest nothing is asked then but that it is small. False: it is not so.
PAWL_MANY_TARGETS static bool sum_usual(int count, const double* restrict r,
                                        const double* restrict terms, const double* restrict weight,
                                        PawlGaSums* restrict sums) {
  double error[LANES] = {0}, size[LANES] = {0}, most[LANES] = {0}, least[LANES];
  for (int k = 0; k < LANES; k++) {
    least[k] = INFINITY;
  }
  for (int j = 0; j < count; j += LANES) {
    for (int k = 0; k < LANES; k++) {
      double of = terms[j + k], M = weight[j + k], inverse = 1.0 / M;
      double over = fabs(r[j + k]) - PAWL_OWN_BALANCE * of;
      error[k] += r[j + k] * r[j + k] * inverse;
      size[k] += of * of * inverse;
      most[k] = over > most[k] ? over : most[k];
      least[k] = M < least[k] ? M : least[k];
    }
  }
  double over = 0.0, lightest = INFINITY;
  *sums = (PawlGaSums){0};
  for (int k = 0; k < LANES; k++) {
    sums->error += error[k];
    sums->size += size[k];
    over = larger(over, most[k]);
    lightest = least[k] < lightest ? least[k] : lightest;
  }
  return over <= PAWL_FLUSHED && lightest > 0.0;
}

// Of fewer: numbers in vectors, sums one by one.
PAWL_MANY_TARGETS static PawlGaSums sum_several(int count, const double* restrict r,
                                                const double* restrict terms,
                                                const double* restrict weight) {
  double error[PAWL_MANY], size[PAWL_MANY], mass[PAWL_MANY], light[PAWL_MANY], own[PAWL_MANY];
  for (int j = 0; j < count; j++) {
    mass[j] = weight[j] > 0.0 ? weight[j] : INFINITY;
  }
  for (int j = 0; j < count; j++) {
    light[j] = weight[j] > 0.0 ? 0.0 : 1.0;
  }
  for (int j = 0; j < count; j++) {
    error[j] = r[j] * r[j] / mass[j];
    size[j] = terms[j] * terms[j] / mass[j];
    own[j] = fabs(r[j]) / terms[j];
  }
  for (int j = 0; j < count; j++) {
    own[j] = fabs(r[j]) > PAWL_FLUSHED ? own[j] : 0.0;
  }
  PawlGaSums sums = {0};
  for (int j = 0; j < count; j++) {
    sums.error += error[j];
    sums.size += size[j];
    sums.massless = larger(own[j] * light[j], sums.massless);
    sums.own = larger(own[j], sums.own);
  }
  return sums;
}

// And as usual.
PAWL_MANY_TARGETS static bool sum_several_usual(int count, const double* restrict r,
                                                const double* restrict terms,
                                                const double* restrict weight,
                                                PawlGaSums* restrict sums) {
  double error[PAWL_MANY], size[PAWL_MANY], over = 0.0, lightest = INFINITY;
  for (int j = 0; j < count; j++) {
    double inverse = 1.0 / weight[j];
    error[j] = r[j] * r[j] * inverse;
    size[j] = terms[j] * terms[j] * inverse;
  }
  for (int j = 0; j < count; j++) {
    double more = fabs(r[j]) - PAWL_OWN_BALANCE * terms[j];
    over = more > over ? more : over;
    lightest = weight[j] < lightest ? weight[j] : lightest;
  }
  *sums = (PawlGaSums){0};
  for (int j = 0; j < count; j++) {
    sums->error += error[j];
    sums->size += size[j];
  }
  return over <= PAWL_FLUSHED && lightest > 0.0;
}

PawlGaSums pawl_ga_balance_part(int count, const double* r_of, const double* terms,
                                const double* weight) {
  PawlGaSums sums = {0};
  if (count >= PAWL_SEVERAL && count < PAWL_MANY) {
    bool usual = sum_several_usual(count, r_of, terms, weight, &sums);
    return usual ? sums : sum_several(count, r_of, terms, weight);
  }
  if (count >= PAWL_MANY) {
    int whole = count / LANES * LANES;
    if (!sum_usual(whole, r_of, terms, weight, &sums)) {
      sums = sum_many(whole, r_of, terms, weight);
    }
    r_of += whole;
    terms += whole;
    weight += whole;
    count -= whole;
  }
  for (int j = 0; j < count; j++) {
    double r = fabs(r_of[j]), of = terms[j], M = weight[j];
    if (M > 0.0) {
      sums.error += r * r / M;
      sums.size += of * of / M;
    } else if (of > 0.0) {
      sums.massless = larger(sums.massless, r / of);
    }
    if (r > sums.own * of && r > PAWL_FLUSHED) {
      sums.own = of > 0.0 ? r / of : INFINITY;
    }
  }
  return sums;
}
