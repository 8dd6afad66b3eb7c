// SPDX-License-Identifier: Apache-2.0
// From eigenvalues to oscillators: which belong together, and how they are damped
// (docs/theory/linear.md, L18 and L19).
#include <math.h>
#include <stdlib.h>

#include "run/spectrum.h"

typedef struct Value {
  double real, imaginary;
} Value;

static PawlDamping judge(const PawlOscillator* o) {
  if (o->real[0] > 0.0 || o->real[1] > 0.0) {
    return PAWL_DAMPING_UNSTABLE;
  }
  if (o->ratio == 0.0) {
    return PAWL_DAMPING_UNDAMPED;
  }
  if (fabs(o->ratio - 1.0) <= PAWL_CRITICAL_TOLERANCE) {
    return PAWL_DAMPING_CRITICAL;
  }
  return o->ratio < 1.0 ? PAWL_DAMPING_UNDERDAMPED : PAWL_DAMPING_OVERDAMPED;
}

// The part of the eigenvector k that is positions.
static const double* shape(const PawlAnalysis* a, int k) {
  return a->vectors + (size_t)k * 2 * (size_t)a->free;
}

static double dot(int n, const double* x, const double* y) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    sum += x[i] * y[i];
  }
  return sum;
}

// The shape of eigenvalue k in the coordinates of the model. That of a pair is complex, x + i y;
// turned so that it is as real as can be, which is all of it without damping. (L20)
static const double* find_shape(PawlAnalysis* a, int k) {
  size_t n = (size_t)a->n, moving = n - (size_t)a->states;
  const double *x = shape(a, k), *T = a->reduction.T;
  double* q = PAWL_NEW(&a->out->arena, double, moving);
  double c = 1.0, s = 0.0, largest = 0.0;
  const double* y = x;
  if (a->imaginary[k] != 0.0) {
    y = shape(a, k + 1);
    double xy = dot(a->free, x, y), angle = atan2(2 * xy, dot(a->free, x, x) - dot(a->free, y, y));
    c = cos(angle / 2);
    s = sin(angle / 2);
  }
  for (size_t i = 0; q && i < moving; i++) {
    for (size_t j = 0; j < (size_t)a->free; j++) {
      q[i] += T[i + j * n] * (c * x[j] + s * y[j]);
    }
    largest = fabs(q[i]) > fabs(largest) ? q[i] : largest;
  }
  for (size_t i = 0; q && i < moving && largest != 0.0; i++) {
    q[i] /= largest;
  }
  return q;
}

static void add_oscillator(PawlAnalysis* a, PawlOscillator* list, double natural, double ratio,
                           int k, Value first, Value second) {
  PawlSpectrum* s = &a->out->spectrum;
  PawlOscillator* o = &list[s->oscillator_count++];
  double rate = a->rate, fastest = fmax(first.real, second.real);
  double slow = first.real == 0.0 && first.imaginary == 0.0 ? second.real : fastest;
  *o = (PawlOscillator){.natural = rate * natural,
                        .hertz = rate * natural / (2.0 * acos(-1.0)),
                        .damped = rate * fabs(first.imaginary),
                        .ratio = ratio,
                        .decay = slow == 0.0 ? 0.0 : -rate * slow,
                        .real = {rate * first.real, rate * second.real},
                        .imaginary = {rate * first.imaginary, rate * second.imaginary},
                        .shape = find_shape(a, k)};
  o->damping = judge(o);
}

// x^T K x / x^T x for the shape of an eigenvalue, in units of rate^2: the square of its natural
// frequency where damping does not mix the shapes.
static double stiffness(const PawlAnalysis* a, int k) {
  const double* x = shape(a, k);
  double sum = 0.0, square = dot(a->free, x, x);
  for (int j = 0; j < a->free; j++) {
    sum += x[j] * dot(a->free, a->K + (size_t)j * (size_t)a->n, x);
  }
  return square > 0.0 ? sum / square / a->rate / a->rate : 0.0;
}

// How badly two real eigenvalues fit together: their product should be that square.        (L19)
static double misfit(const PawlAnalysis* a, int i, int j) {
  double product = a->real[i] * a->real[j], square = stiffness(a, i);
  return fabs(product - square) / (fabs(product) + fabs(square));
}

static void pair_real(PawlAnalysis* a, PawlOscillator* list, int i, int j) {
  Value first = {a->real[i], 0.0}, second = {a->real[j], 0.0};
  double product = first.real * second.real;
  double natural = product > 0.0 ? sqrt(product) : 0.0;
  double ratio = product > 0.0 ? -(first.real + second.real) / 2.0 / natural : NAN;
  add_oscillator(a, list, natural, ratio, i, first, second);
}

// As many dampers without spring as zeros that stand alone: the real eigenvalues whose shape has
// least stiffness beside their own square.
static void take_relaxations(PawlAnalysis* a, PawlOscillator* list, bool* taken, int count) {
  for (; count > 0; count--) {
    int best = -1;
    double least = INFINITY;
    for (int k = 0; k < 2 * a->free; k++) {
      double soft = fabs(stiffness(a, k)) / (a->real[k] * a->real[k]);
      if (!taken[k] && soft < least) {
        least = soft;
        best = k;
      }
    }
    if (best < 0) {
      return;
    }
    taken[best] = true;
    add_oscillator(a, list, 0.0, INFINITY, best, (Value){0, 0}, (Value){a->real[best], 0});
  }
}

static void take_real_pairs(PawlAnalysis* a, PawlOscillator* list, bool* taken) {
  for (int i = 0; i < 2 * a->free; i++) {
    if (taken[i]) {
      continue;
    }
    int best = -1;
    double least = INFINITY;
    for (int j = i + 1; j < 2 * a->free; j++) {
      double off = taken[j] ? INFINITY : misfit(a, i, j);
      if (off < least) {
        least = off;
        best = j;
      }
    }
    taken[i] = true;
    if (best < 0) {
      add_oscillator(a, list, 0.0, INFINITY, i, (Value){0, 0}, (Value){a->real[i], 0});
      return;
    }
    taken[best] = true;
    pair_real(a, list, i, best);
  }
}

static int by_frequency(const void* a, const void* b) {
  const PawlOscillator *x = a, *y = b;
  double keys[2] = {x->natural - y->natural, x->decay - y->decay};
  for (int k = 0; k < 2; k++) {
    if (keys[k] != 0.0) {
      return keys[k] < 0.0 ? -1 : 1;
    }
  }
  return 0;
}

// States that decay say nothing about oscillations beside them: with `states` a relaxation counts
// only where it grows, or where there is nothing else.
static PawlDamping judge_all(const PawlSpectrum* s, bool states) {
  PawlDamping all = PAWL_DAMPING_NONE;
  bool oscillates =
      s->oscillator_count > 0 && !isinf(s->oscillators[s->oscillator_count - 1].ratio);
  for (int k = 0; k < s->oscillator_count; k++) {
    PawlDamping one = s->oscillators[k].damping;
    if (states && oscillates && isinf(s->oscillators[k].ratio) && one != PAWL_DAMPING_UNSTABLE) {
      continue;
    }
    bool light = one <= PAWL_DAMPING_UNDERDAMPED && all <= PAWL_DAMPING_UNDERDAMPED;
    if (one == PAWL_DAMPING_UNSTABLE || all == PAWL_DAMPING_UNSTABLE) {
      all = PAWL_DAMPING_UNSTABLE;
    } else if (all == PAWL_DAMPING_NONE || light) {
      all = one > all ? one : all;
    } else if (one != all) {
      all = PAWL_DAMPING_MIXED;
    }
  }
  return all;
}

PawlStatus pawl_spectrum_oscillators(PawlAnalysis* a) {
  PawlSpectrum* s = &a->out->spectrum;
  int count = 2 * a->free;
  PawlOscillator* list = PAWL_NEW(&a->out->arena, PawlOscillator, count);
  bool* taken = PAWL_NEW(&a->arena, bool, count);
  if (!list || !taken) {
    return PAWL_ERROR_MEMORY;
  }
  s->oscillators = list;
  for (int k = 0; k < count; k++) {
    double x = a->real[k], y = a->imaginary[k], size = hypot(x, y);
    taken[k] = y != 0.0 || size == 0.0;
    if (y > 0.0) {
      add_oscillator(a, list, size, x == 0.0 ? 0.0 : -x / size, k, (Value){x, y}, (Value){x, -y});
    }
  }
  // Zeros come in chains of one (a damper without spring) or two (neither).
  s->rigid = a->zeros > a->chains ? a->zeros - a->chains : 0;
  take_relaxations(a, list, taken, 2 * a->chains - a->zeros);
  take_real_pairs(a, list, taken);
  qsort(list, (size_t)s->oscillator_count, sizeof *list, by_frequency);
  s->damping = judge_all(s, a->states > 0);
  return a->out->arena.failed ? PAWL_ERROR_MEMORY : PAWL_OK;
}
