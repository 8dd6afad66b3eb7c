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

// True when a bound of the ranges uses an index of them: the rounds are then known by counting
// only.
// The first operand is followed by the loop, since trees lean to the left.
static bool uses_index(const PawlAst* ast, const PawlAstKey* key) {
  for (;; ast = ast->args[0]) {
    for (int k = 0; ast->kind == PAWL_AST_NAME && k < key->count; k++) {
      if (key->range[k].var && strcmp(key->range[k].var, ast->name) == 0) {
        return true;
      }
    }
    for (int k = 1; k < ast->arg_count; k++) {
      if (uses_index(ast->args[k], key)) {
        return true;
      }
    }
    if (ast->arg_count == 0) {
      return false;
    }
  }
}

static bool is_box(const PawlAstKey* key) {
  for (int k = 0; k < key->count; k++) {
    const PawlAstRange* range = &key->range[k];
    if (uses_index(range->low, key) || (range->var && uses_index(range->high, key))) {
      return false;
    }
  }
  return true;
}

static long long length_of(const PawlIndexer* at, int level) {
  long long length = (long long)at->high[level] - at->value[level] + 1;
  return length > 0 ? length : 0;
}

// The rounds of a box: the product of its lengths, all known at its first round. Of others: those
// of the innermost range are added up for as many outer rounds as can be counted in no time.
static long long count_rounds(const PawlIndexer* first) {
  enum { MOST_OUTER = 100000 };
  int levels = first->key->count;
  long long rounds = 1;
  if (is_box(first->key)) {
    for (int k = 0; k < levels; k++) {
      rounds *= length_of(first, k);
    }
    return rounds;
  }
  PawlIndexer at = *first;
  long long spent = at.loader->rounds;
  bool more = true;
  rounds = 0;
  for (int k = 0; more && k < MOST_OUTER && rounds <= PAWL_MODEL_MAX_LOOP; k++) {
    rounds += length_of(&at, levels - 1);
    at.value[levels - 1] = at.high[levels - 1] + 1;
    more = settle(&at, levels);
  }
  at.loader->rounds = spent;  // the rounds themselves come later
  return rounds;
}

static bool check_rounds(PawlIndexer* at) {
  if (at->key->count < 2) {
    return true;
  }
  long long rounds = count_rounds(at);
  if (rounds <= PAWL_MODEL_MAX_LOOP) {
    return true;
  }
  pawl_report_part(&at->loader->report, at->where, at->key->range[0].begin,
                   "these ranges have %s%lld rounds; at most %d are allowed",
                   is_box(at->key) ? "" : "more than ", rounds, PAWL_MODEL_MAX_LOOP);
  at->failed = true;
  return false;
}

bool pawl_indexer_begin(PawlIndexer* at, PawlLoader* loader, PawlYaml* where, const PawlAstKey* key,
                        const PawlScope* outer) {
  *at = (PawlIndexer){
      .loader = loader, .where = where, .key = key, .scope = *outer, .outer = outer->count};
  at->failed = !enter_variables(at);
  return !at->failed && settle(at, 0) && check_rounds(at);
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
