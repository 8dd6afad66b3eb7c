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

long long pawl_indexer_rounds(const PawlIndexer* first) {
  return is_box(first->key) ? count_rounds(first) : 0;
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

bool pawl_indexer_last(PawlIndexer* at) {
  for (int k = 0; k < at->key->count; k++) {
    at->failed = k > 0 && !open_level(at, k);
    if (at->failed || at->value[k] > at->high[k]) {
      return false;
    }
    at->value[k] = at->high[k];
  }
  show(at, at->key->count);
  return true;
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

// ---- loops inside loops -------------------------------------------------------------------------
// The next loop among the children of a loop's body, or a list of more of them; NULL after the
// last. Whatever else is written there is one round.
static PawlYaml* next_loop(PawlLoader* loader, const PawlYaml* body, PawlYaml* child, int* looks,
                           const PawlAstKey** key) {
  for (; child && --*looks >= 0; child = child->next) {
    bool is_for = false;
    *key = body->kind == PAWL_YAML_MAP ? pawl_loop_key(loader, child->key, &is_for) : NULL;
    if (*key || (body->kind == PAWL_YAML_LIST && child->kind != PAWL_YAML_SCALAR)) {
      return child;
    }
  }
  return NULL;
}

static bool uses_any(const PawlAstKey* inner, const PawlAstKey* outer) {
  for (int k = 0; k < inner->count; k++) {
    if (uses_index(inner->range[k].low, outer) ||
        (inner->range[k].var && uses_index(inner->range[k].high, outer))) {
      return true;
    }
  }
  return false;
}

// The bounds of a loop inside `body` use an index of `key`.
static bool leans_on(PawlLoader* loader, PawlYaml* body, const PawlAstKey* key, int* looks) {
  const PawlAstKey* inner;
  for (PawlYaml* child = body->first;
       (child = next_loop(loader, body, child, looks, &inner)) != NULL; child = child->next) {
    if ((inner && uses_any(inner, key)) || leans_on(loader, child, key, looks)) {
      return true;
    }
  }
  return false;
}

static long long at_most_one_more(long long rounds) {
  return rounds > PAWL_MODEL_MAX_LOOP ? PAWL_MODEL_MAX_LOOP + 1LL : rounds;
}

static bool count_inside(PawlLoader* loader, PawlYaml* body, const PawlScope* scope, int* looks,
                         long long* rounds);

// The rounds of a loop with those of the loops inside it: of its first round, where they are the
// same in every round; else round by round, as many as `looks` allow.
static bool count_loop(PawlLoader* loader, PawlYaml* body, const PawlAstKey* key,
                       const PawlScope* scope, int* looks, long long* rounds) {
  PawlIndexer at;
  bool leans = leans_on(loader, body, key, looks);
  *rounds = 0;
  for (bool more = pawl_indexer_begin(&at, loader, body->key, key, scope); more;
       more = leans && --*looks >= 0 && *rounds <= PAWL_MODEL_MAX_LOOP && pawl_indexer_next(&at)) {
    long long inside;
    if (!count_inside(loader, body, &at.scope, looks, &inside)) {
      return false;
    }
    *rounds = at_most_one_more(*rounds + (leans ? inside : inside * count_rounds(&at)));
  }
  return !at.failed;
}

// Depth: that of the tree, PAWL_MODEL_MAX_NESTING.
static bool count_inside(PawlLoader* loader, PawlYaml* body, const PawlScope* scope, int* looks,
                         long long* rounds) {
  const PawlAstKey* key;
  *rounds = 0;
  for (PawlYaml* child = body->first; (child = next_loop(loader, body, child, looks, &key)) != NULL;
       child = child->next) {
    long long inside;
    if (key ? !count_loop(loader, child, key, scope, looks, &inside)
            : !count_inside(loader, child, scope, looks, &inside)) {
      return false;
    }
    *rounds = at_most_one_more(*rounds + inside);
  }
  *rounds += *rounds == 0;
  return true;
}

bool pawl_loop_check(PawlLoader* loader, PawlYaml* body, const PawlAstKey* key) {
  int looks = 100000;  // what can be counted in no time
  long long rounds, spent = loader->rounds;
  if (!count_loop(loader, body, key, &PAWL_SCOPE_EMPTY, &looks, &rounds)) {
    return false;
  }
  loader->rounds = spent;  // the rounds themselves come later
  if (rounds > PAWL_MODEL_MAX_LOOP) {
    pawl_report(&loader->report, body->key,
                "this loop and those inside it have more than %d rounds together",
                PAWL_MODEL_MAX_LOOP);
  }
  return rounds <= PAWL_MODEL_MAX_LOOP;
}
