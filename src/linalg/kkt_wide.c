// SPDX-License-Identifier: Apache-2.0
// Block elimination of the KKT matrix: two nodes side by side, with symmetry (K11). The operations
// of each are those that it has alone, in the same order.
#include <stdint.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/targets.h"
#include "linalg/kkt_blocks.h"

#define WIDE PAWL_KKT_WIDE
#define MOST 64  // numbers of a small node, see kkt_shapes.def

typedef double Wide __attribute__((vector_size(WIDE * sizeof(double))));
typedef long long Bits __attribute__((vector_size(WIDE * sizeof(long long))));
typedef Wide Loose __attribute__((aligned(sizeof(double)), may_alias));  // as arrays of doubles are

PAWL_INLINE void load(int count, const double* from, Wide* to) {
  for (int k = 0; k < count; k++) {
    to[k] = *(const Loose*)(from + WIDE * k);
  }
}

PAWL_INLINE void store(int count, const Wide* from, double* to) {
  for (int k = 0; k < count; k++) {
    *(Loose*)(to + WIDE * k) = from[k];
  }
}

PAWL_INLINE Wide size_of(Wide x) {
  return (Wide)((Bits)x & INT64_MAX);
}

// Of each, a where it is larger, or smaller, else b; compilers take them apart.
#if defined(__SSE2__)
PAWL_INLINE Wide larger(Wide a, Wide b) {
  return _mm_max_pd(a, b);
}

PAWL_INLINE Wide smaller(Wide a, Wide b) {
  return _mm_min_pd(a, b);
}
#else
PAWL_INLINE Wide larger(Wide a, Wide b) {
  return (Wide){a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
}

PAWL_INLINE Wide smaller(Wide a, Wide b) {
  return (Wide){a[0] < b[0] ? a[0] : b[0], a[1] < b[1] ? a[1] : b[1]};
}
#endif

typedef struct Judged {
  Wide top, least;
} Judged;

PAWL_INLINE Judged factor_pivots(int p, int r, Wide* u, Judged j) {
  const int width = p + r;
  for (int k = 0; k < p; k++) {
    Wide *row = u + k * width, d = 1.0 / row[k], most = {0.0};
    j.least = smaller(size_of(row[k]), j.least);
    row[k] = d;
    for (int c = k + 1; c < width; c++) {
      most = larger(size_of(row[c]), most);
    }
    j.top = larger(size_of(most * d), j.top);
    for (int i = k + 1; i < p; i++) {
      Wide factor = row[i] * d;
      for (int c = i; c < width; c++) {
        u[i * width + c] -= factor * row[c];
      }
    }
  }
  return j;
}

PAWL_INLINE void take(double* values, int place, int beside, bool level, Wide sum) {
  if (level) {
    *(Loose*)(values + place) -= sum;
  } else {
    values[place] -= sum[0];
    values[beside] -= sum[1];
  }
}

PAWL_INLINE Judged factor(const PawlKktBlocks* b, const PawlKktNode* node, int p, int r, bool level,
                          double* values, Judged j) {
  const int *place = b->plan + node[0].plan, *beside = b->plan + node[1].plan;
  Wide u[MOST];
  load(p * (p + r), values + node->U, u);
  j = factor_pivots(p, r, u, j);
  store(p * (p + r), u, values + node->U);
  for (int i = 0; i < r; i++) {
    Wide l[PAWL_KKT_PIVOTS];
    for (int k = 0; k < p; k++) {
      l[k] = node->sign * u[k * (p + r) + k] * u[k * (p + r) + p + i];
    }
    for (int c = i; c < r; c++) {
      Wide sum = l[0] * u[p + c];
      for (int k = 1; k < p; k++) {
        sum += l[k] * u[k * (p + r) + p + c];
      }
      take(values, place[i * r + c], beside[i * r + c], level, sum);
    }
  }
  return j;
}

PAWL_MANY_TARGETS const PawlKktNode* pawl_kkt_wide_factor(const PawlKktBlocks* b,
                                                          const PawlKktNode* node, double* values,
                                                          PawlKktJudged* judged) {
  const PawlKktNode* end = b->nodes + b->count;
  Judged j = {{0.0, 0.0}, {judged->least, judged->least}};
  for (; node < end && node->step == WIDE; node += WIDE) {
    switch (2 * node->shape + node->level) {
#define SHAPE(p, r)                              \
  case 2 * PAWL_KKT_SHAPE(p, r):                 \
    j = factor(b, node, p, r, false, values, j); \
    break;                                       \
  case 2 * PAWL_KKT_SHAPE(p, r) + 1:             \
    j = factor(b, node, p, r, true, values, j);  \
    break;
#include "linalg/kkt_shapes.def"
#undef SHAPE
    }
  }
  for (int s = 0; s < WIDE; s++) {
    judged->top = j.top[s] > judged->top ? j.top[s] : judged->top;
    judged->least = j.least[s] < judged->least ? j.least[s] : judged->least;
  }
  return node;
}

// w <- D^-1 L^-1 w
PAWL_INLINE void down(const PawlKktBlocks* b, const PawlKktNode* node, int p, int r, bool level,
                      const double* values, double* w) {
  const int *rest = b->rest + node[0].rest, *beside = b->rest + node[1].rest;
  Wide u[MOST], v[PAWL_KKT_PIVOTS];
  load(p * (p + r), values + node->U, u);
  load(p, w + node->spot, v);
  for (int k = 0; k < p; k++) {
    v[k] *= u[k * (p + r) + k];
    for (int i = k + 1; i < p; i++) {
      v[i] -= u[k * (p + r) + i] * v[k];
    }
  }
  store(p, v, w + node->spot);
  for (int i = 0; i < r; i++) {
    Wide sum = u[p + i] * v[0];
    for (int k = 1; k < p; k++) {
      sum += u[k * (p + r) + p + i] * v[k];
    }
    take(w, rest[i], beside[i], level, node->sign * sum);
  }
}

// w <- (D^-1 U)^-1 w
PAWL_INLINE void up(const PawlKktBlocks* b, const PawlKktNode* node, int p, int r, bool level,
                    const double* values, double* w) {
  const int *rest = b->rest + node[0].rest, *beside = b->rest + node[1].rest;
  Wide u[MOST], v[PAWL_KKT_PIVOTS], at[PAWL_KKT_PIVOTS];
  load(p * (p + r), values + node->U, u);
  load(p, w + node->spot, at);
  for (int k = 0; k < p; k++) {
    v[k] = (Wide){0.0};
  }
  for (int i = 0; i < r; i++) {
    Wide given = {w[rest[i]], w[level ? rest[i] + 1 : beside[i]]};
    for (int k = 0; k < p; k++) {
      v[k] += u[k * (p + r) + p + i] * given;
    }
  }
  for (int k = p - 1; k >= 0; k--) {
    for (int i = k + 1; i < p; i++) {
      v[k] += u[k * (p + r) + i] * v[i];
    }
    v[k] = at[k] - u[k * (p + r) + k] * v[k];
  }
  store(p, v, w + node->spot);
}

PAWL_MANY_TARGETS const PawlKktNode* pawl_kkt_wide_down(const PawlKktBlocks* b,
                                                        const PawlKktNode* node,
                                                        const double* values, double* w) {
  const PawlKktNode* end = b->nodes + b->count;
  for (; node < end && node->step == WIDE; node += WIDE) {
    switch (2 * node->shape + node->level) {
#define SHAPE(p, r)                        \
  case 2 * PAWL_KKT_SHAPE(p, r):           \
    down(b, node, p, r, false, values, w); \
    break;                                 \
  case 2 * PAWL_KKT_SHAPE(p, r) + 1:       \
    down(b, node, p, r, true, values, w);  \
    break;
#include "linalg/kkt_shapes.def"
#undef SHAPE
    }
  }
  return node;
}

PAWL_MANY_TARGETS const PawlKktNode* pawl_kkt_wide_up(const PawlKktBlocks* b,
                                                      const PawlKktNode* node, const double* values,
                                                      double* w) {
  for (; node >= b->nodes && node->step == WIDE; node -= WIDE) {
    const PawlKktNode* first = node - (WIDE - 1);
    switch (2 * first->shape + first->level) {
#define SHAPE(p, r)                       \
  case 2 * PAWL_KKT_SHAPE(p, r):          \
    up(b, first, p, r, false, values, w); \
    break;                                \
  case 2 * PAWL_KKT_SHAPE(p, r) + 1:      \
    up(b, first, p, r, true, values, w);  \
    break;
#include "linalg/kkt_shapes.def"
#undef SHAPE
    }
  }
  return node;
}
