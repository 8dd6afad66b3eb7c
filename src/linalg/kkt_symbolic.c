// SPDX-License-Identifier: Apache-2.0
// Column k of L + U has an entry in every row that can be reached from the entries of A(:,k):
// from a row j < k to the rows of L(:,j) (Gilbert and Peierls). Rows are taken from an ordered set,
// lowest first, so that they come out ascending. Once some L(p,j) and U(j,p) are both present, the
// rows of L(:,j) below p are found through column p as well, and searches end at p (Eisenstat and
// Liu, "Exploiting structural symmetry in a sparse partial pivoting code", 1993): with a symmetric
// pattern each entry of L and U then costs one visit.
#include "linalg/kkt_symbolic.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"

#define WORD 6  // log2 of the bits in a word

// ---- an ordered set of rows --------------------------------------------------------------------

static inline void insert(PawlFactorPattern* set, int i) {
  set->bits[i >> WORD] |= UINT64_C(1) << (i & 63);
  set->words[i >> (2 * WORD)] |= UINT64_C(1) << ((i >> WORD) & 63);
}

// Removes and returns the lowest row. `word` is where to begin, and receives where it was found:
// later calls find higher rows. The set must not be empty.
static inline int take_lowest(PawlFactorPattern* set, int* word) {
  int w = *word;
  while (set->words[w] == 0) {
    w++;
  }
  *word = w;
  int b = (w << WORD) + __builtin_ctzll(set->words[w]);
  int i = (b << WORD) + __builtin_ctzll(set->bits[b]);
  set->bits[b] &= set->bits[b] - 1;
  if (set->bits[b] == 0) {
    set->words[w] &= set->words[w] - 1;
  }
  return i;
}

// ---- memory ------------------------------------------------------------------------------------

PawlStatus pawl_factor_pattern_create(PawlFactorPattern* p, PawlArena* arena, int size) {
  p->L_start = PAWL_NEW(arena, int, size + 1);
  p->U_start = PAWL_NEW(arena, int, size + 1);
  p->search_end = PAWL_NEW(arena, int, size);
  p->bits = PAWL_NEW(arena, uint64_t, (size >> WORD) + 1);
  p->words = PAWL_NEW(arena, uint64_t, (size >> (2 * WORD)) + 1);
  return p->L_start && p->U_start && p->search_end && p->bits && p->words ? PAWL_OK
                                                                          : PAWL_ERROR_MEMORY;
}

void pawl_factor_pattern_free(PawlFactorPattern* p) {
  pawl_free(p->L_index);
  pawl_free(p->U_index);
  p->L_index = p->U_index = NULL;
  p->L_room = p->U_room = 0;
}

// Doubles the room. Beyond what an int can count there is none.
static bool grow(int** index, int* room) {
  int more = *room > INT32_MAX / 2 ? 0 : 2 * *room + 64;
  int* larger = more > *room ? pawl_realloc(*index, (size_t)more, sizeof **index) : NULL;
  if (larger) {
    *index = larger;
    *room = more;
  }
  return larger != NULL;
}

static PawlStatus reserve(int** index, int* room, int need) {
  if (need > *room) {
    int* larger = pawl_realloc(*index, (size_t)need, sizeof **index);
    if (!larger) {
      return PAWL_ERROR_MEMORY;
    }
    *index = larger;
    *room = need;
  }
  return PAWL_OK;
}

PawlStatus pawl_factor_pattern_reserve(PawlFactorPattern* p, const PawlFactorPattern* like) {
  PAWL_TRY(reserve(&p->L_index, &p->L_room, like->L_room));
  return reserve(&p->U_index, &p->U_room, like->U_room);
}

// ---- the patterns ------------------------------------------------------------------------------

static inline void insert_below(PawlFactorPattern* p, int j) {
  for (int q = p->L_start[j] + 1; q < p->search_end[j]; q++) {
    insert(p, p->L_index[q]);
  }
}

// Ends later searches through L(:,j) at row k, if it has one there and none has ended them yet.
static void prune(PawlFactorPattern* p, int j, int k) {
  if (p->search_end[j] < p->L_start[j + 1]) {
    return;
  }
  for (int q = p->L_start[j] + 1; q < p->L_start[j + 1] && p->L_index[q] <= k; q++) {
    if (p->L_index[q] == k) {
      p->search_end[j] = q + 1;
    }
  }
}

static inline bool push(int** index, int* room, int* count, int row) {
  if (*count == *room && !grow(index, room)) {
    return false;
  }
  (*index)[(*count)++] = row;
  return true;
}

// Empties the set into column k; it holds the rows of A(:,k), k, and `size` as its end. Returns
// false when memory is short.
static bool find_column(PawlFactorPattern* p, int size, int k) {
  int L_count = p->L_start[k], U_count = p->U_start[k], word = 0;
  bool ok = true;
  int row = take_lowest(p, &word);
  for (; row < k; row = take_lowest(p, &word)) {
    ok = ok && push(&p->U_index, &p->U_room, &U_count, row);
    insert_below(p, row);
  }
  ok = ok && push(&p->U_index, &p->U_room, &U_count, k);
  for (; row < size; row = take_lowest(p, &word)) {
    ok = ok && push(&p->L_index, &p->L_room, &L_count, row);
  }
  p->U_start[k + 1] = U_count;
  p->L_start[k + 1] = p->search_end[k] = L_count;
  return ok;
}

PawlStatus pawl_factor_pattern_find(PawlFactorPattern* p, int size, const int* Q, const int* start,
                                    const int* row) {
  p->L_start[0] = p->U_start[0] = 0;
  for (int k = 0; k < size; k++) {
    for (int a = start[Q[k]]; a < start[Q[k] + 1]; a++) {
      insert(p, row[a] < size ? row[a] : size);
    }
    insert(p, k);
    insert(p, size);
    if (!find_column(p, size, k)) {
      return PAWL_ERROR_MEMORY;
    }
    for (int u = p->U_start[k]; u < p->U_start[k + 1] - 1; u++) {
      prune(p, p->U_index[u], k);
    }
  }
  return PAWL_OK;
}

// ---- a symmetric pattern ------------------------------------------------------------------------

static int compare(const void* a, const void* b) {
  int i = *(const int*)a, j = *(const int*)b;
  return (i > j) - (i < j);
}

static void sort(int count, int* list) {
  enum { FEW = 32 };
  if (count > FEW) {
    qsort(list, (size_t)count, sizeof *list, compare);
    return;
  }
  for (int k = 1; k < count; k++) {
    int i = list[k], at = k;
    for (; at > 0 && list[at - 1] > i; at--) {
      list[at] = list[at - 1];
    }
    list[at] = i;
  }
}

static bool push_new(PawlFactorPattern* p, int count, const int* rows, int k, int* seen, int* at) {
  bool ok = true;
  for (int a = 0; ok && a < count; a++) {
    int i = rows[a];
    if (i > k && seen[i] != k) {
      seen[i] = k;
      ok = push(&p->L_index, &p->L_room, at, i);
    }
  }
  return ok;
}

// Column k of L has the rows of A(:,k), and those of every column whose first row below its
// diagonal is k.
PawlStatus pawl_factor_pattern_find_even(PawlFactorPattern* p, int size, const int* start,
                                         const int* row, int* seen) {
  enum { NONE = -1 };
  int *first = p->U_start, *next = p->search_end, count = 0;  // columns by that row
  for (int k = 0; k < size; k++) {
    first[k] = seen[k] = NONE;
  }
  p->L_start[0] = 0;
  for (int k = 0; k < size; k++) {
    int from = count;
    bool ok = push(&p->L_index, &p->L_room, &count, k) &&
              push_new(p, start[k + 1] - start[k], row + start[k], k, seen, &count);
    for (int c = first[k]; ok && c != NONE; c = next[c]) {
      int begin = p->L_start[c], rows = p->L_start[c + 1] - begin;
      while (ok && p->L_room - count < rows) {
        ok = grow(&p->L_index, &p->L_room);
      }
      ok = ok && push_new(p, rows, p->L_index + begin, k, seen, &count);
    }
    if (!ok) {
      return PAWL_ERROR_MEMORY;
    }
    sort(count - from - 1, p->L_index + from + 1);
    p->L_start[k + 1] = count;
    if (count > from + 1) {
      int* head = &first[p->L_index[from + 1]];
      next[k] = *head;
      *head = k;
    }
  }
  return PAWL_OK;
}
