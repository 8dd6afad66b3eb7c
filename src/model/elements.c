// SPDX-License-Identifier: Apache-2.0
// From a name and its indices to the number of an element, and the words for why there is none.
#include <math.h>
#include <stdio.h>

#include "model/expression.h"

enum { MAX_INDEX = 1000000000 };

static void range_text(const PawlFamily* family, char* text, size_t size) {
  int used = 0;
  for (int k = 0; k < family->dimension && used >= 0 && (size_t)used < size; k++) {
    used += snprintf(text + used, size - (size_t)used, "%s%d..%d", k > 0 ? ", " : "",
                     family->low[k], family->high[k]);
  }
}

void pawl_family_missing(const PawlFamily* family, int dimension, const int index[], char* text,
                         size_t size) {
  const char* name = family->name;
  char box[96] = "";
  range_text(family, box, sizeof box);
  if (dimension != family->dimension && family->dimension == 0) {
    snprintf(text, size, "'%s' has no indices", pawl_quote(name).s);
  } else if (dimension != family->dimension) {
    snprintf(text, size, "'%s' is a family and needs %d %s in brackets (%s)", pawl_quote(name).s,
             family->dimension, family->dimension == 1 ? "index" : "indices", box);
  } else if (family->cell_count == 0) {
    snprintf(text, size, "'%s' has no elements: its range is empty", pawl_quote(name).s);
  } else {
    char at[64] = "";
    int used = 0;
    for (int k = 0; k < dimension; k++) {
      used += snprintf(at + used, sizeof at - (size_t)used, "%s%d", k > 0 ? "," : "", index[k]);
    }
    snprintf(text, size, "'%s[%s]' does not exist; the indices of '%s' are %s", pawl_quote(name).s,
             at, pawl_quote(name).s, box);
  }
}

int pawl_family_element(const PawlFamily* family, int dimension, const int index[]) {
  const int* cell = dimension == family->dimension ? pawl_family_cell(family, index) : NULL;
  return cell ? *cell : -1;
}

int pawl_find_element(PawlLoader* loader, const PawlNames* names, PawlNameKind kind,
                      const PawlYaml* where, const char* name, int dimension, const int index[]) {
  const PawlFamily* family = pawl_names_find(names, name);
  if (!family || family->kind != kind) {
    PawlNearest nearest = {.wanted = name};
    bool seek = !pawl_report_is_full(&loader->report);
    for (const PawlFamily* other = names->first; other && seek; other = other->next) {
      if (other->kind == kind) {
        pawl_nearest_offer(&nearest, other->name);
      }
    }
    if (!loader->names_incomplete) {
      pawl_report(&loader->report, where, "'%s' is not %s%s", pawl_quote(name).s,
                  pawl_name_kind_text(kind), pawl_did_you_mean(nearest.name).s);
    }
    return -1;
  }
  int element = pawl_family_element(family, dimension, index);
  if (element < 0 && !family->failed) {
    char text[320];
    pawl_family_missing(family, dimension, index, text, sizeof text);
    pawl_report(&loader->report, where, "%s", text);
  }
  return element;
}

bool pawl_to_whole(double value, int* whole) {
  if (!(fabs(value) <= MAX_INDEX) || value != floor(value)) {
    return false;
  }
  *whole = (int)value;
  return true;
}
