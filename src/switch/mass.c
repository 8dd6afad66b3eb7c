// SPDX-License-Identifier: Apache-2.0
#include "switch/mass.h"

#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "switch/tolerances.h"

enum { MOST_ENTRIES = 1 << 21, CHEAP_WORK = 100000 };  // of L; multiplications of a look

static void find_envelope(PawlMass* mass, size_t* entries, double* work) {
  const PawlPattern* H = &mass->H;
  for (int i = 0; i < H->cols; i++) {
    mass->first[i] = i;
  }
  for (int j = 0; j < H->cols; j++) {
    for (int k = H->start[j]; k < H->start[j + 1]; k++) {
      int i = H->index[k];
      mass->first[i] = i >= j && j < mass->first[i] ? j : mass->first[i];
    }
  }
  for (int i = 0; i < H->cols; i++) {
    double width = i - mass->first[i] + 1;
    mass->start[i] = *entries;
    *entries += (size_t)width;
    *work += width * width / 2;
  }
}

// The lower half by rows, one number behind the other.
static void find_places(PawlMass* mass) {
  const PawlPattern* H = &mass->H;
  for (int j = 0; j < H->cols; j++) {
    for (int k = H->start[j]; k < H->start[j + 1]; k++) {
      int i = H->index[k];
      mass->place[k] = i >= j ? i * (i + 1) / 2 + j : -1;
    }
  }
}

bool pawl_mass_create(PawlMass* mass, PawlArena* arena, const PawlPattern* H) {
  size_t n = (size_t)H->cols, entries = 0;
  double work = 0.0;
  *mass = (PawlMass){.H = *H,
                     .first = PAWL_NEW(arena, int, n),
                     .start = PAWL_NEW(arena, size_t, n),
                     .D = PAWL_NEW(arena, double, n),
                     .begin = PAWL_NEW(arena, double, n),
                     .period = 1};
  if (!mass->first || !mass->start || !mass->D || !mass->begin) {
    return false;
  }
  find_envelope(mass, &entries, &work);
  if (H->cols <= PAWL_SIZED_LARGEST) {
    mass->count = H->start[H->cols];
    mass->place = PAWL_NEW(arena, int, mass->count);
    if (!mass->place) {
      return false;
    }
    find_places(mass);
  }
  if (entries > MOST_ENTRIES) {
    return true;
  }
  mass->period = 1 + (long long)(work / CHEAP_WORK);
  mass->L = PAWL_NEW(arena, double, entries);
  return mass->L != NULL;
}

// The lower half of M into L, and its diagonal into D.
static void load(PawlMass* mass, const double* M) {
  const PawlPattern* H = &mass->H;
  int n = H->cols;
  memset(mass->D, 0, (size_t)n * sizeof(double));
  if (mass->L && n > 0) {
    size_t entries = mass->start[n - 1] + (size_t)(n - mass->first[n - 1]);
    memset(mass->L, 0, entries * sizeof(double));
  }
  for (int j = 0; j < n; j++) {
    for (int k = H->start[j]; k < H->start[j + 1]; k++) {
      int i = H->index[k];
      if (i == j) {
        mass->D[j] = M[k];
      }
      if (mass->L && i >= j) {
        mass->L[mass->start[i] + (size_t)(j - mass->first[i])] = M[k];
      }
    }
  }
}

// Row i of L and pivot i; the rows before are done. False: a zero pivot that something hangs on.
static bool eliminate(PawlMass* mass, int i, double diagonal) {
  int from = mass->first[i];
  double* row = mass->L + mass->start[i];  // row[j - from], from <= j <= i
  bool sound = true;
  for (int j = from; j < i; j++) {  // row becomes (L D)_ij
    int before = mass->first[j], low = before > from ? before : from;
    const double* other = mass->L + mass->start[j];
    for (int k = low; k < j; k++) {
      row[j - from] -= row[k - from] * other[k - before];
    }
    double left = row[j - from];
    sound = sound && !(mass->D[j] == 0.0 && left * left > PAWL_NO_MASS * diagonal * diagonal);
  }
  for (int j = from; j < i; j++) {  // and L_ij
    double entry = mass->D[j] > 0.0 ? row[j - from] / mass->D[j] : 0.0;
    mass->D[i] -= entry * row[j - from];
    row[j - from] = entry;
  }
  return sound;
}

PawlMassKind pawl_mass_look(PawlMass* mass, const double* M, int* column, double* pivot) {
  PawlMassKind kind = PAWL_MASS_DEFINITE;
  *column = -1;
  *pivot = 0.0;
  load(mass, M);
  for (int i = 0; i < mass->H.cols; i++) {
    double diagonal = mass->D[i];
    bool sound = !mass->L || eliminate(mass, i, diagonal);
    double d = mass->D[i];
    if (!sound || d < -PAWL_NO_MASS * fabs(diagonal) || diagonal < 0.0) {
      *column = i;
      *pivot = d;
      return PAWL_MASS_INDEFINITE;
    }
    if (!(d > PAWL_NO_MASS * diagonal)) {
      mass->D[i] = 0.0;
      *column = kind == PAWL_MASS_DEFINITE ? i : *column;
      kind = PAWL_MASS_SEMIDEFINITE;
    }
  }
  return kind;
}

// The pivots of `eliminate`, as long as none is near zero. A: the lower half by rows.
PAWL_INLINE bool are_pivots_positive(int n, double* A) {
  double D[PAWL_SIZED_LARGEST];
  for (int i = 0; i < n; i++) {
    double *row = A + i * (i + 1) / 2, diagonal = row[i];
    for (int j = 1; j < i; j++) {
      for (int k = 0; k < j; k++) {
        row[j] -= row[k] * A[j * (j + 1) / 2 + k];
      }
    }
    D[i] = diagonal;
    for (int j = 0; j < i; j++) {
      double entry = row[j] / D[j];
      D[i] -= entry * row[j];
      row[j] = entry;
    }
    if (!(D[i] > PAWL_NO_MASS * diagonal && diagonal > 0.0)) {
      return false;
    }
  }
  return true;
}

bool pawl_mass_is_definite(const PawlMass* mass, const double* M) {
  double A[PAWL_SIZED_LARGEST * (PAWL_SIZED_LARGEST + 1) / 2] = {0};
  int n = mass->H.cols;
  if (!mass->place) {
    return false;
  }
  for (int k = 0; k < mass->count; k++) {
    if (mass->place[k] >= 0) {
      A[mass->place[k]] = M[k];
    }
  }
  bool positive = true;
  switch (n) {
#define JUDGE(size)                          \
  case size:                                 \
    positive = are_pivots_positive(size, A); \
    break;
    JUDGE(1)
    JUDGE(2)
    JUDGE(3)
    JUDGE(4)
    JUDGE(5)
    JUDGE(6)
    JUDGE(7)
    JUDGE(8)
#undef JUDGE
    default:
      break;
  }
  return positive;
}

void pawl_mass_keep(PawlMass* mass) {
  memcpy(mass->begin, mass->D, (size_t)mass->H.cols * sizeof(double));
}

int pawl_mass_lost(PawlMass* mass, const double* M, double* pivot) {
  static const double NEARLY_ALL = 0.01;  // [1] of the pivot at the start
  int column;
  double least = NEARLY_ALL;
  if (pawl_mass_look(mass, M, &column, pivot) == PAWL_MASS_INDEFINITE) {
    return column;
  }
  column = -1;
  for (int i = 0; i < mass->H.cols; i++) {
    if (mass->begin[i] > 0.0 && mass->D[i] < least * mass->begin[i]) {
      least = mass->D[i] / mass->begin[i];
      *pivot = mass->D[i];
      column = i;
    }
  }
  return column;
}
