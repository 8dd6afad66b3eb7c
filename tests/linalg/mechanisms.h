// SPDX-License-Identifier: Apache-2.0
// KKT matrices of mechanisms at random: bodies with masses, joints between them along trees, with
// loops, and on nets.
#pragma once

#include <math.h>

#include "linalg/kkt.h"
#include "systems.h"

typedef struct Mechanism {
  int n, m, S_count, G_count;
  int *S_start, *S_index, *G_start, *G_index;
  unsigned char* mass;
  double *S, *B, *J;
} Mechanism;

typedef struct Kind {
  int bodies, size;  // coordinates of a body
  int rows;          // of a joint
  int loops;         // joints beyond those of the tree
  bool net;          // joints to the right and up, of a square of bodies
  bool dense;        // masses are full, else diagonal
  bool star;         // their last coordinate alone knows the others
  bool tangents;     // entries of S between bodies of a joint
  bool uneven;       // B is not J, S is not symmetric
  bool holes;        // rows do not know all coordinates of their bodies
} Kind;

static inline void* take(size_t count, size_t size) {
  void* memory = calloc(count + 1, size);
  assert_non_null(memory);
  return memory;
}

// The bodies of joint k: a tree first, then loops. -1 is the ground.
static inline void joint_bodies(const Kind* kind, int k, int* a, int* b) {
  int side = (int)sqrt((double)kind->bodies), across = side * (side - 1);
  if (kind->net) {
    *a = k < across ? k : (k - across) / (side - 1) * side + (k - across) % (side - 1);
    *b = k < across ? k + side : *a + 1;
    return;
  }
  double r = 0.5 + 0.5 * test_random(), s = 0.5 + 0.5 * test_random();
  *b = k < kind->bodies ? k : (int)(s * kind->bodies);
  *a = k < kind->bodies ? (k == 0 ? -1 : k - 1 - (int)(r * (k < 4 ? k : 4))) : (int)(r * *b) - 1;
}

static inline int joint_count(const Kind* kind) {
  int side = (int)sqrt((double)kind->bodies);
  return kind->net ? 2 * side * (side - 1) : kind->bodies + kind->loops;
}

// Blocks between bodies, dense where something is, then compressed.
static inline void compress(int rows, int cols, const unsigned char* has, int* start, int* index,
                            int* count) {
  *count = 0;
  for (int j = 0; j < cols; j++) {
    for (int i = 0; i < rows; i++) {
      if (has[(size_t)j * (size_t)rows + (size_t)i]) {
        index[(*count)++] = i;
      }
    }
    start[j + 1] = *count;
  }
}

typedef struct Full {  // all blocks by columns
  double *S, *B, *J;
  unsigned char *has_S, *has_G, *mass;
} Full;

static inline void add_mass(const Kind* kind, int n, int body, Full* f) {
  int d = kind->size;
  for (int i = 0; i < d; i++) {
    for (int j = 0; j < d; j++) {
      size_t at = (size_t)(body * d + j) * (size_t)n + (size_t)(body * d + i);
      size_t mirror = (size_t)(body * d + i) * (size_t)n + (size_t)(body * d + j);
      if (i == j || kind->dense || (kind->star && (i == d - 1 || j == d - 1))) {
        f->has_S[at] = f->mass[at] = 1;
        f->S[at] = i == j ? 2.0 + test_random() : i < j ? 0.3 * test_random() : f->S[mirror];
        f->S[at] += kind->uneven && i > j ? 0.05 * test_random() : 0.0;
      }
    }
  }
}

static inline void add_tangent(const Kind* kind, int n, int a, int b, Full* f) {
  int d = kind->size;
  for (int i = 0; i < d && a >= 0; i++) {
    for (int j = 0; j < d && a != b; j++) {
      size_t at = (size_t)(b * d + j) * (size_t)n + (size_t)(a * d + i);
      size_t mirror = (size_t)(a * d + i) * (size_t)n + (size_t)(b * d + j);
      f->has_S[at] = f->has_S[mirror] = 1;
      f->S[at] = f->S[mirror] = 0.02 * test_random();
      f->S[at] += kind->uneven ? 0.01 * test_random() : 0.0;
    }
  }
}

static inline void add_rows(const Kind* kind, int m, int joint, int body, Full* f) {
  for (int i = 0; i < kind->rows; i++) {
    for (int j = 0; j < kind->size && body >= 0; j++) {
      if (kind->holes && i != j && (i + j) % 3 != 0) {
        continue;
      }
      size_t at = (size_t)(body * kind->size + j) * (size_t)m + (size_t)(joint * kind->rows + i);
      f->has_G[at] = 1;
      f->J[at] = test_random() + (i == j ? 1.5 : 0.0);
      f->B[at] = f->J[at] + (kind->uneven ? 0.05 * test_random() : 0.0);
    }
  }
}

static inline Mechanism mechanism(const Kind* kind) {
  int joints = joint_count(kind), n = kind->bodies * kind->size, m = joints * kind->rows;
  size_t S = (size_t)n * (size_t)n, G = (size_t)m * (size_t)n;
  Full f = {take(S, sizeof(double)),
            take(G, sizeof(double)),
            take(G, sizeof(double)),
            take(S, 1),
            take(G, 1),
            take(S, 1)};
  Mechanism k = {.n = n, .m = m};
  k.S_start = take((size_t)n + 1, sizeof(int));
  k.G_start = take((size_t)n + 1, sizeof(int));
  k.S_index = take(S, sizeof(int));
  k.G_index = take(G, sizeof(int));
  k.mass = take(S, 1);
  k.S = take(S, sizeof(double));
  k.B = take(G, sizeof(double));
  k.J = take(G, sizeof(double));
  for (int b = 0; b < kind->bodies; b++) {
    add_mass(kind, n, b, &f);
  }
  for (int c = 0; c < joints; c++) {
    int a, b;
    joint_bodies(kind, c, &a, &b);
    add_rows(kind, m, c, a, &f);
    add_rows(kind, m, c, b, &f);
    if (kind->tangents) {
      add_tangent(kind, n, a, b, &f);
    }
  }
  compress(n, n, f.has_S, k.S_start, k.S_index, &k.S_count);
  compress(m, n, f.has_G, k.G_start, k.G_index, &k.G_count);
  for (int j = 0; j < n; j++) {
    for (int e = k.S_start[j]; e < k.S_start[j + 1]; e++) {
      size_t at = (size_t)j * (size_t)n + (size_t)k.S_index[e];
      k.S[e] = f.S[at];
      k.mass[e] = f.mass[at];
    }
    for (int e = k.G_start[j]; e < k.G_start[j + 1]; e++) {
      size_t at = (size_t)j * (size_t)m + (size_t)k.G_index[e];
      k.B[e] = f.B[at];
      k.J[e] = f.J[at];
    }
  }
  free(f.S), free(f.B), free(f.J), free(f.has_S), free(f.has_G), free(f.mass);
  return k;
}

static inline void mechanism_free(Mechanism* k) {
  free(k->S_start), free(k->S_index), free(k->G_start), free(k->G_index);
  free(k->mass), free(k->S), free(k->B), free(k->J);
}

static inline PawlKkt* kkt_of(const Mechanism* k, PawlKktSolver solver) {
  PawlKkt* kkt;
  PawlPattern S = {k->n, k->n, k->S_start, k->S_index}, G = {k->m, k->n, k->G_start, k->G_index};
  assert_int_equal(pawl_kkt_create(&S, &G, solver, &kkt, NULL), PAWL_OK);
  return kkt;
}
