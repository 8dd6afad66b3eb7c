// SPDX-License-Identifier: Apache-2.0
#include "model/names.h"

#include <string.h>

#include "base/alloc.h"
#include "model/model.h"

const char* pawl_name_kind_text(PawlNameKind kind) {
  static const char* const text[] = {
      [PAWL_NAME_PARAMETER] = "a parameter",   [PAWL_NAME_COORDINATE] = "a coordinate",
      [PAWL_NAME_DEFINITION] = "a definition", [PAWL_NAME_OUTPUT] = "an output",
      [PAWL_NAME_CONSTRAINT] = "a constraint", [PAWL_NAME_CONTACT] = "a contact",
      [PAWL_NAME_EVENT] = "an event",          [PAWL_NAME_FUNCTION] = "a function",
      [PAWL_NAME_TABLE] = "a table",           [PAWL_NAME_STATE] = "a state",
      [PAWL_NAME_INPUT] = "an input",          [PAWL_NAME_ROTATION] = "a rotation",
  };
  return text[kind];
}

// FNV-1a; the number of buckets is a power of two.
static unsigned hash(const char* name) {
  unsigned h = 2166136261u;
  for (; *name; name++) {
    h = (h ^ (unsigned char)*name) * 16777619u;
  }
  return h;
}

PawlFamily* pawl_names_find(const PawlNames* names, const char* name) {
  if (names->bucket_count == 0) {
    return NULL;
  }
  PawlFamily* family = names->buckets[hash(name) & (unsigned)(names->bucket_count - 1)];
  while (family && strcmp(family->name, name) != 0) {
    family = family->chain;
  }
  return family;
}

static bool grow(PawlNames* names) {
  int bucket_count = names->bucket_count ? 2 * names->bucket_count : 64;
  PawlFamily** buckets = pawl_alloc((size_t)bucket_count, sizeof *buckets);
  if (!buckets) {
    return false;
  }
  for (PawlFamily* family = names->first; family; family = family->next) {
    PawlFamily** bucket = &buckets[hash(family->name) & (unsigned)(bucket_count - 1)];
    family->chain = *bucket;
    *bucket = family;
  }
  pawl_free(names->buckets);
  names->buckets = buckets;
  names->bucket_count = bucket_count;
  return true;
}

PawlFamily* pawl_names_add(PawlNames* names, PawlPool* pool, const char* name) {
  if (names->count >= names->bucket_count && !grow(names)) {
    return NULL;
  }
  PawlFamily* family = pawl_pool_alloc(pool, sizeof *family);
  if (!family) {
    return NULL;
  }
  family->name = name;
  PawlFamily** bucket = &names->buckets[hash(name) & (unsigned)(names->bucket_count - 1)];
  family->chain = *bucket;
  *bucket = family;
  if (names->last) {
    names->last->next = family;
  } else {
    names->first = family;
  }
  names->last = family;
  names->count++;
  return family;
}

void pawl_names_offer(const PawlNames* names, PawlNearest* nearest) {
  for (const PawlFamily* family = names->first; family; family = family->next) {
    pawl_nearest_offer(nearest, family->name);
  }
}

void pawl_names_free(PawlNames* names) {
  pawl_free(names->buckets);
  *names = (PawlNames){0};
}

bool pawl_family_extend(PawlFamily* family, const int index[]) {
  bool empty = family->cell_count == 0;
  long long cells = 1;
  for (int k = 0; k < family->dimension; k++) {
    int low = empty || index[k] < family->low[k] ? index[k] : family->low[k];
    int high = empty || index[k] > family->high[k] ? index[k] : family->high[k];
    cells *= (long long)high - low + 1;
    if (cells > PAWL_MODEL_MAX_FAMILY) {
      return false;
    }
    family->low[k] = low;
    family->high[k] = high;
  }
  family->cell_count = (int)cells;
  return true;
}

bool pawl_family_fix(PawlFamily* family, PawlArena* arena) {
  family->cells = PAWL_NEW(arena, int, family->cell_count);
  if (!family->cells) {
    family->cell_count = 0;
    return false;
  }
  for (int k = 0; k < family->cell_count; k++) {
    family->cells[k] = -1;
  }
  return true;
}

int* pawl_family_cell(const PawlFamily* family, const int index[]) {
  if (!family->cells || family->cell_count == 0) {
    return NULL;
  }
  int cell = 0;
  for (int k = 0; k < family->dimension; k++) {
    if (index[k] < family->low[k] || index[k] > family->high[k]) {
      return NULL;
    }
    cell = cell * (family->high[k] - family->low[k] + 1) + (index[k] - family->low[k]);
  }
  return &family->cells[cell];
}

// The digits of a number, as %d writes them; returns the end.
static char* write_whole(char* to, int number) {
  char digits[12];
  int count = 0;
  unsigned rest = number < 0 ? 0u - (unsigned)number : (unsigned)number;
  do {
    digits[count++] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
  if (number < 0) {
    *to++ = '-';
  }
  while (count > 0) {
    *to++ = digits[--count];
  }
  return to;
}

const char* pawl_element_name(PawlPool* pool, const PawlFamily* family, const int index[]) {
  if (family->dimension == 0) {
    return pawl_pool_copy(pool, family->name, strlen(family->name));
  }
  char indices[PAWL_MAX_INDICES * 12 + 3], *end = indices;
  for (int k = 0; k < family->dimension; k++) {
    *end++ = k == 0 ? '[' : ',';
    end = write_whole(end, index[k]);
  }
  *end++ = ']';
  size_t base = strlen(family->name), used = (size_t)(end - indices);
  char* name = pawl_pool_alloc(pool, base + used + 1);
  if (name) {
    memcpy(name, family->name, base);
    memcpy(name + base, indices, used);
  }
  return name;
}
