// SPDX-License-Identifier: Apache-2.0
// Block elimination of the KKT matrix: two nodes side by side, with symmetry (`even`, K11) or
// without. The operations of each are those that it has alone, in the same order.
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

PAWL_INLINE Judged factor_even_pivots(int p, int r, Wide* u, Judged j) {
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

PAWL_INLINE Judged factor_pivots(int p, int r, Wide* u, Wide* l, Judged j) {
  const int width = p + r;
  for (int k = 0; k < p; k++) {
    Wide *row = u + k * width, *of_k = l + k * r, d = 1.0 / row[k];
    j.least = smaller(size_of(row[k]), j.least);
    row[k] = d;
    for (int i = 0; i < r; i++) {
      of_k[i] *= d;
      j.top = larger(size_of(of_k[i]), j.top);
    }
    for (int i = k + 1; i < p; i++) {
      Wide *next = u + i * width, factor = next[k] * d, across = row[i];
      next[k] = factor;
      j.top = larger(size_of(factor), j.top);
      for (int c = k + 1; c < width; c++) {
        next[c] -= factor * row[c];
      }
      for (int c = 0; c < r; c++) {
        l[i * r + c] -= across * of_k[c];
      }
    }
  }
  return j;
}

// Two nodes: where their numbers and lists begin. What belongs to nodes follows each other in
// memory as they do, so that only their kinds are read. Places and rests are those that are listed,
// moved on in the values by `values`; and in a vector, to `w`.
typedef struct Pair {
  ptrdiff_t U, L, spot, values;
  const int *rest, *plan;
  double* w;
} Pair;

PAWL_INLINE Pair first_pair(const PawlKktBlocks* b, const PawlKktNode* node, double* w) {
  return (Pair){node->U, node->L, node->spot, 0, b->rest + node->rest, b->plan + node->plan, w};
}

// -1 for masses, 1 for rows.
PAWL_INLINE double sign_of(const PawlKktBlocks* b, Pair at) {
  return at.spot < b->coordinates ? -1.0 : 1.0;
}

// The pair after it (`way` 1), or, with the sizes of that one, before it (-1).
PAWL_INLINE Pair beyond(Pair at, int p, int r, int way) {
  at.U += way * WIDE * p * (p + r);
  at.L += way * WIDE * p * r;
  at.spot += way * WIDE * p;
  at.rest += way * WIDE * r;
  at.plan += way * WIDE * r * r;
  return at;
}

// After a period its lists serve again, moved on.
PAWL_INLINE Pair again(Pair at, PawlKktRepeat by, int way) {
  at.rest -= way * by.rest;
  at.plan -= way * by.plan;
  at.values += way * by.values;
  at.w = at.w ? at.w + way * by.vector : NULL;
  return at;
}

// The stretch that a pair is in, by its kind.
PAWL_INLINE PawlKktRepeat stretch_of(const PawlKktBlocks* b, const unsigned short* kind,
                                     bool even) {
  return even ? *pawl_kkt_repeats_at(b, (int)(kind - b->kinds)) : (PawlKktRepeat){.end = b->count};
}

PAWL_INLINE const unsigned short* earlier(const unsigned short* a, const unsigned short* b) {
  return a < b ? a : b;
}

PAWL_INLINE const unsigned short* later(const unsigned short* a, const unsigned short* b) {
  return a > b ? a : b;
}

PAWL_INLINE void take(double* values, int place, int beside, bool level, Wide sum) {
  if (level) {
    *(Loose*)(values + place) -= sum;
  } else {
    values[place] -= sum[0];
    values[beside] -= sum[1];
  }
}

// w <- D^-1 L^-1 w of two nodes with symmetry, whose numbers are u.
PAWL_INLINE void down_by(const PawlKktBlocks* b, Pair at, int p, int r, bool level, const Wide* u,
                         double* w) {
  const int *rest = at.rest, *beside = rest + r;
  double sign = sign_of(b, at);
  Wide v[PAWL_KKT_PIVOTS];
  load(p, w + at.spot, v);
  for (int k = 0; k < p; k++) {
    v[k] *= u[k * (p + r) + k];
    for (int i = k + 1; i < p; i++) {
      v[i] -= u[k * (p + r) + i] * v[k];
    }
  }
  store(p, v, w + at.spot);
  for (int i = 0; i < r; i++) {
    Wide sum = u[p + i] * v[0];
    for (int k = 1; k < p; k++) {
      sum += u[k * (p + r) + p + i] * v[k];
    }
    take(at.w, rest[i], beside[i], level, sign * sum);
  }
}

// `w`: a right side that goes down on the way, with symmetry; NULL: none.
PAWL_INLINE Judged factor(const PawlKktBlocks* b, Pair at, int p, int r, bool even, bool level,
                          double* values, double* w, Judged j) {
  const int *place = at.plan, *beside = place + r * r;
  double sign = sign_of(b, at);
  Wide u[MOST], l[MOST];
  load(p * (p + r), values + at.U, u);
  if (even) {
    j = factor_even_pivots(p, r, u, j);
    for (int k = 0; k < p; k++) {
      Wide scale = sign * u[k * (p + r) + k];
      for (int i = 0; i < r; i++) {
        l[k * r + i] = scale * u[k * (p + r) + p + i];
      }
    }
  } else {
    load(p * r, values + at.L, l);
    j = factor_pivots(p, r, u, l, j);
    store(p * r, l, values + at.L);
  }
  store(p * (p + r), u, values + at.U);
  for (int i = 0; i < r; i++) {
    for (int c = even ? i : 0; c < r; c++) {
      Wide sum = l[i] * u[p + c];
      for (int k = 1; k < p; k++) {
        sum += l[k * r + i] * u[k * (p + r) + p + c];
      }
      take(values + at.values, place[i * r + c], beside[i * r + c], level, sum);
    }
  }
  if (w) {
    down_by(b, at, p, r, level, u, w);
  }
  return j;
}

PAWL_INLINE const PawlKktNode* factor_all(const PawlKktBlocks* b, const PawlKktNode* node,
                                          const PawlKktNode* last, bool even, double* values,
                                          double* w, PawlKktJudged* judged) {
  const unsigned short *kind = b->kinds + (node - b->nodes), *end = b->kinds + (last - b->nodes);
  Judged j = {{0.0, 0.0}, {judged->least, judged->least}};
  while (kind < end && *kind != PAWL_KKT_ALONE) {
    PawlKktRepeat by = stretch_of(b, kind, even);
    const unsigned short* until = earlier(end, b->kinds + by.end);
    Pair at = first_pair(b, b->nodes + (kind - b->kinds), w);
    for (int left = by.period; kind < until && *kind != PAWL_KKT_ALONE; kind += WIDE) {
      switch (*kind) {
#define SHAPE(p, r)                                     \
  case PAWL_KKT_KIND(p, r, false):                      \
    j = factor(b, at, p, r, even, false, values, w, j); \
    at = beyond(at, p, r, 1);                           \
    break;                                              \
  case PAWL_KKT_KIND(p, r, true):                       \
    j = factor(b, at, p, r, even, true, values, w, j);  \
    at = beyond(at, p, r, 1);                           \
    break;
#include "linalg/kkt_shapes.def"
#undef SHAPE
      }
      if (--left == 0) {
        at = again(at, by, 1);
        left = by.period;
      }
    }
  }
  for (int s = 0; s < WIDE; s++) {
    judged->top = j.top[s] > judged->top ? j.top[s] : judged->top;
    judged->least = j.least[s] < judged->least ? j.least[s] : judged->least;
  }
  return b->nodes + (kind - b->kinds);
}

PAWL_MANY_TARGETS static const PawlKktNode* factor_even(const PawlKktBlocks* b,
                                                        const PawlKktNode* node,
                                                        const PawlKktNode* end, double* values,
                                                        PawlKktJudged* judged) {
  return factor_all(b, node, end, true, values, NULL, judged);
}

PAWL_MANY_TARGETS static const PawlKktNode* factor_uneven(const PawlKktBlocks* b,
                                                          const PawlKktNode* node,
                                                          const PawlKktNode* end, double* values,
                                                          PawlKktJudged* judged) {
  return factor_all(b, node, end, false, values, NULL, judged);
}

PAWL_MANY_TARGETS static const PawlKktNode* factor_even_down(const PawlKktBlocks* b,
                                                             const PawlKktNode* node,
                                                             const PawlKktNode* end, double* values,
                                                             double* w, PawlKktJudged* judged) {
  return factor_all(b, node, end, true, values, w, judged);
}

const PawlKktNode* pawl_kkt_wide_factor(const PawlKktBlocks* b, const PawlKktNode* node,
                                        const PawlKktNode* end, double* values, double* w,
                                        PawlKktJudged* judged) {
  if (w) {
    return factor_even_down(b, node, end, values, w, judged);
  }
  return (b->even ? factor_even : factor_uneven)(b, node, end, values, judged);
}

// w <- L^-1 w; with symmetry D^-1 L^-1 w.
PAWL_INLINE void down(const PawlKktBlocks* b, Pair at, int p, int r, bool even, bool level,
                      const double* values, double* w) {
  const int *rest = at.rest, *beside = rest + r;
  Wide u[MOST], l[MOST], v[PAWL_KKT_PIVOTS];
  load(p * (p + r), values + at.U, u);
  if (even) {
    down_by(b, at, p, r, level, u, w);
    return;
  }
  load(p * r, values + at.L, l);
  load(p, w + at.spot, v);
  for (int k = 0; k < p; k++) {
    for (int i = k + 1; i < p; i++) {
      v[i] -= u[i * (p + r) + k] * v[k];
    }
  }
  store(p, v, w + at.spot);
  for (int i = 0; i < r; i++) {
    Wide sum = l[i] * v[0];
    for (int k = 1; k < p; k++) {
      sum += l[k * r + i] * v[k];
    }
    take(at.w, rest[i], beside[i], level, sum);
  }
}

// w <- U^-1 w; with symmetry (D^-1 U)^-1 w.
PAWL_INLINE void up(Pair at, int p, int r, bool even, bool level, const double* values, double* w) {
  const int *rest = at.rest, *beside = rest + r;
  const double* known = at.w;
  Wide u[MOST], v[PAWL_KKT_PIVOTS], own[PAWL_KKT_PIVOTS];
  load(p * (p + r), values + at.U, u);
  load(p, w + at.spot, own);
  for (int k = 0; k < p; k++) {
    v[k] = even ? (Wide){0.0} : own[k];
  }
  for (int i = 0; i < r; i++) {
    Wide given = {known[rest[i]], known[level ? rest[i] + 1 : beside[i]]};
    for (int k = 0; k < p; k++) {
      Wide term = u[k * (p + r) + p + i] * given;
      v[k] = even ? v[k] + term : v[k] - term;
    }
  }
  for (int k = p - 1; k >= 0; k--) {
    for (int i = k + 1; i < p; i++) {
      Wide term = u[k * (p + r) + i] * v[i];
      v[k] = even ? v[k] + term : v[k] - term;
    }
    Wide scaled = u[k * (p + r) + k] * v[k];
    v[k] = even ? own[k] - scaled : scaled;
  }
  store(p, v, w + at.spot);
}

PAWL_INLINE const PawlKktNode* down_all(const PawlKktBlocks* b, const PawlKktNode* node,
                                        const PawlKktNode* last, bool even, const double* values,
                                        double* w) {
  const unsigned short *kind = b->kinds + (node - b->nodes), *end = b->kinds + (last - b->nodes);
  while (kind < end && *kind != PAWL_KKT_ALONE) {
    PawlKktRepeat by = stretch_of(b, kind, even);
    const unsigned short* until = earlier(end, b->kinds + by.end);
    Pair at = first_pair(b, b->nodes + (kind - b->kinds), w);
    for (int left = by.period; kind < until && *kind != PAWL_KKT_ALONE; kind += WIDE) {
      switch (*kind) {
#define SHAPE(p, r)                            \
  case PAWL_KKT_KIND(p, r, false):             \
    down(b, at, p, r, even, false, values, w); \
    at = beyond(at, p, r, 1);                  \
    break;                                     \
  case PAWL_KKT_KIND(p, r, true):              \
    down(b, at, p, r, even, true, values, w);  \
    at = beyond(at, p, r, 1);                  \
    break;
#include "linalg/kkt_shapes.def"
#undef SHAPE
      }
      if (--left == 0) {
        at = again(at, by, 1);
        left = by.period;
      }
    }
  }
  return b->nodes + (kind - b->kinds);
}

PAWL_INLINE const PawlKktNode* up_all(const PawlKktBlocks* b, const PawlKktNode* node,
                                      const PawlKktNode* last, bool even, const double* values,
                                      double* w) {
  const unsigned short *kind = b->kinds + (node - b->nodes), *end = b->kinds + (last - b->nodes);
  while (kind >= end && *kind != PAWL_KKT_ALONE) {
    PawlKktRepeat by = stretch_of(b, kind, even);
    const unsigned short* from = later(end, b->kinds + by.first);
    const PawlKktNode* first = b->nodes + (kind - b->kinds) - (WIDE - 1);
    Pair at = beyond(first_pair(b, first, w), first->p, first->r, 1);
    for (int left = by.period; kind >= from && *kind != PAWL_KKT_ALONE; kind -= WIDE) {
      switch (*kind) {
#define SHAPE(p, r)                       \
  case PAWL_KKT_KIND(p, r, false):        \
    at = beyond(at, p, r, -1);            \
    up(at, p, r, even, false, values, w); \
    break;                                \
  case PAWL_KKT_KIND(p, r, true):         \
    at = beyond(at, p, r, -1);            \
    up(at, p, r, even, true, values, w);  \
    break;
#include "linalg/kkt_shapes.def"
#undef SHAPE
      }
      if (--left == 0) {
        at = again(at, by, -1);
        left = by.period;
      }
    }
  }
  return b->nodes + (kind - b->kinds);
}

#define SWEEP(name, all, even)                                                  \
  PAWL_MANY_TARGETS static const PawlKktNode* name(                             \
      const PawlKktBlocks* b, const PawlKktNode* node, const PawlKktNode* last, \
      const double* values, double* w) {                                        \
    return all(b, node, last, even, values, w);                                 \
  }
SWEEP(down_even, down_all, true)
SWEEP(down_uneven, down_all, false)
SWEEP(up_even, up_all, true)
SWEEP(up_uneven, up_all, false)
#undef SWEEP

const PawlKktNode* pawl_kkt_wide_down(const PawlKktBlocks* b, const PawlKktNode* node,
                                      const PawlKktNode* end, const double* values, double* w) {
  return (b->even ? down_even : down_uneven)(b, node, end, values, w);
}

const PawlKktNode* pawl_kkt_wide_up(const PawlKktBlocks* b, const PawlKktNode* node,
                                    const PawlKktNode* first, const double* values, double* w) {
  return (b->even ? up_even : up_uneven)(b, node, first, values, w);
}
