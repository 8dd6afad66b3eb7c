// SPDX-License-Identifier: Apache-2.0
// Index ranges: `u[i=0..N]` and `for i=0..N, j=0..i`. The bounds of a range may use the indices to
// its left. Every round, and with more weight every evaluation of bounds, counts towards one limit
// for the whole model, so that no text, however short, can keep the loader busy for long.
#include <string.h>

#include "model/loader.h"

const PawlScope PAWL_SCOPE_EMPTY = {0};

static bool check_variable(PawlIndexer* at, const PawlAstRange* range) {
  PawlReport* report = &at->loader->report;
  const char* name = range->var;
  const PawlFamily* family = pawl_names_find(&at->loader->names, name);
  if (pawl_expr_reserved(name)) {
    pawl_report_part(report, at->where, range->begin, "'%s' is a reserved word, not an index",
                     pawl_quote(name).s);
  } else if (family) {
    pawl_report_part(report, at->where, range->begin,
                     "the index '%s' has the name of %s (line %d); choose another",
                     pawl_quote(name).s, pawl_name_kind_text(family->kind), family->where->line);
  } else if (at->scope.count == PAWL_SCOPE_MAX) {
    pawl_report_part(report, at->where, range->begin, "more than %d indices inside each other",
                     PAWL_SCOPE_MAX);
  } else {
    for (int k = 0; k < at->scope.count; k++) {
      if (strcmp(at->scope.name[k], name) == 0) {
        pawl_report_part(report, at->where, range->begin, "the index '%s' is already in use here",
                         pawl_quote(name).s);
        return false;
      }
    }
    return true;
  }
  return false;
}

static bool enter_variables(PawlIndexer* at) {
  for (int k = 0; k < at->key->count; k++) {
    const PawlAstRange* range = &at->key->range[k];
    if (range->var) {
      if (!check_variable(at, range)) {
        return false;
      }
      at->scope.name[at->scope.count++] = range->var;
    }
  }
  return true;
}

// Puts the first `levels` present values into the scope and hides the later variables.
static void show(PawlIndexer* at, int levels) {
  at->scope.count = at->outer;
  for (int k = 0; k < levels; k++) {
    if (at->key->range[k].var) {
      at->scope.value[at->scope.count++] = at->value[k];
    }
  }
}

static bool open_level(PawlIndexer* at, int level) {
  enum { WEIGHT = 20 };  // of evaluating two bounds, in rounds of a plain range
  const PawlAstRange* range = &at->key->range[level];
  if (!pawl_loader_spend(at->loader, at->where, WEIGHT)) {
    return false;
  }
  show(at, level);
  int low, high;
  if (!pawl_whole(at->loader, at->where, range->low, &at->scope, &low)) {
    return false;
  }
  high = low;
  if (range->var && !pawl_whole(at->loader, at->where, range->high, &at->scope, &high)) {
    return false;
  }
  if ((long long)high - low >= PAWL_MODEL_MAX_FAMILY) {
    pawl_report_part(&at->loader->report, at->where, range->begin,
                     "the range %d..%d has more than %d indices", low, high, PAWL_MODEL_MAX_FAMILY);
    return false;
  }
  at->value[level] = low;
  at->high[level] = high;
  return true;
}

// Opens the levels from `level` on, moving outer ones forward while inner ones are empty.
static bool settle(PawlIndexer* at, int level) {
  for (;;) {
    while (level > 0 && at->value[level - 1] > at->high[level - 1]) {
      if (--level == 0) {
        return false;
      }
      at->value[level - 1]++;
    }
    if (level == at->key->count) {
      show(at, level);
      return true;
    }
    if (!open_level(at, level)) {
      at->failed = true;
      return false;
    }
    level++;
  }
}

bool pawl_indexer_begin(PawlIndexer* at, PawlLoader* loader, PawlYaml* where, const PawlAstKey* key,
                        const PawlScope* outer) {
  *at = (PawlIndexer){
      .loader = loader, .where = where, .key = key, .scope = *outer, .outer = outer->count};
  at->failed = !enter_variables(at);
  return !at->failed && settle(at, 0);
}

bool pawl_indexer_next(PawlIndexer* at) {
  int level = at->key->count;
  if (level == 0) {
    return false;
  }
  at->failed = !pawl_loader_spend(at->loader, at->where, 1);
  if (at->failed) {
    return false;
  }
  at->value[level - 1]++;
  return settle(at, level);
}

PawlScope pawl_scope_at(const PawlAstKey* key, const int index[]) {
  PawlScope scope = {0};
  for (int k = 0; k < key->count; k++) {
    if (key->range[k].var) {
      scope.name[scope.count] = key->range[k].var;
      scope.value[scope.count++] = index[k];
    }
  }
  return scope;
}
