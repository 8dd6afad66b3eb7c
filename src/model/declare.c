// SPDX-License-Identifier: Apache-2.0
// Entering the names of a section. Several keys may add elements to one family (X[0], X[i=1..N]);
// therefore all keys are seen before the first element is made.
#include <string.h>

#include "base/alloc.h"
#include "model/loader.h"

bool pawl_expect_map(PawlLoader* loader, const PawlYaml* section, const char* what) {
  if (!section || pawl_yaml_is_null(section)) {
    return false;
  }
  if (section->kind != PAWL_YAML_MAP) {
    pawl_report(&loader->report, section, "%s: expected a map of names", what);
    return false;
  }
  return true;
}

// ---- claiming -------------------------------------------------------------------------------

static void clash(PawlLoader* loader, const PawlYaml* key, const PawlFamily* family) {
  pawl_report(&loader->report, key, "'%s' is already %s (line %d, column %d)",
              pawl_quote(family->name).s, pawl_name_kind_text(family->kind), family->where->line,
              family->where->column);
}

// Names of coordinates and outputs become columns of the results; these are taken.
static bool is_column(const char* name) {
  static const char* const columns[] = {"kinetic", "potential", "energy"};
  for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
    if (strcmp(name, columns[k]) == 0) {
      return true;
    }
  }
  return false;
}

static bool is_in_columns(PawlNameKind kind) {
  return kind == PAWL_NAME_COORDINATE || kind == PAWL_NAME_STATE || kind == PAWL_NAME_INPUT;
}

// False after reporting a name that cannot be taken.
static bool check_name(PawlLoader* loader, const PawlYaml* where, const char* name,
                       PawlNameKind kind) {
  // Constraints stand in lambda() alone, where a function without its arguments is a name.
  bool in_lambda =
      kind == PAWL_NAME_CONSTRAINT && pawl_expr_is_function(name) && strcmp(name, "lambda") != 0;
  bool in_expressions = kind != PAWL_NAME_CONTACT && kind != PAWL_NAME_EVENT && !in_lambda;
  bool in_columns = is_in_columns(kind) || kind == PAWL_NAME_OUTPUT;
  if (in_expressions && pawl_expr_reserved(name)) {
    pawl_report(&loader->report, where, "'%s' is a reserved word; choose another name",
                pawl_quote(name).s);
    return false;
  }
  if (in_columns && is_column(name)) {
    pawl_report(&loader->report, where,
                "'%s' is a column of every result; choose another name for this one",
                pawl_quote(name).s);
    return false;
  }
  if (strlen(name) > PAWL_MODEL_MAX_NAME) {
    pawl_report(&loader->report, where, "a name of %zu bytes; at most %d are allowed", strlen(name),
                PAWL_MODEL_MAX_NAME);
    return false;
  }
  return true;
}

// The family of a key: the one that an earlier key of the same section began, or a new one. NULL
// after reporting.
static PawlFamily* claim_family(PawlLoader* loader, const PawlYaml* where, const PawlAstKey* key,
                                PawlNames* names, const PawlNames* other, PawlNameKind kind) {
  if (!check_name(loader, where, key->name, kind)) {
    return NULL;
  }
  const PawlFamily* rival = other ? pawl_names_find(other, key->name) : NULL;
  if (rival && (other == &loader->constraints || is_in_columns(rival->kind))) {
    clash(loader, where, rival);
    return NULL;
  }
  PawlFamily* family = pawl_names_find(names, key->name);
  if (!family) {
    family = pawl_names_add(names, &loader->pool, key->name);
    if (!family) {
      pawl_loader_no_memory(loader);
      return NULL;
    }
    family->kind = kind;
    family->where = where;
    family->dimension = key->count;
  } else if (family->kind != kind || family->dimension + key->count == 0) {
    clash(loader, where, family);
    family->failed = true;  // which of the two is meant by a use is not known
    return NULL;
  } else if (family->dimension != key->count) {
    pawl_report(&loader->report, where, "'%s' has %d indices here and %d at line %d",
                pawl_quote(key->name).s, key->count, family->dimension, family->where->line);
    family->failed = true;
    return NULL;
  }
  return family;
}

static bool measure(PawlLoader* loader, const PawlDeclared* entry, const PawlAstKey* key) {
  PawlIndexer at;
  PawlFamily* family = entry->family;
  for (bool more = pawl_indexer_begin(&at, loader, entry->key, key, &PAWL_SCOPE_EMPTY); more;
       more = pawl_indexer_next(&at)) {
    if (!pawl_family_extend(family, at.value)) {
      pawl_report(&loader->report, entry->key,
                  "the family '%s' spans more than %d elements (from its lowest to its highest "
                  "indices)",
                  pawl_quote(family->name).s, PAWL_MODEL_MAX_FAMILY);
      at.failed = true;
      break;
    }
  }
  family->failed |= at.failed;
  return !at.failed;
}

static bool claim_entry(PawlLoader* loader, PawlYaml* key, PawlYaml* value, PawlNames* names,
                        const PawlNames* other, PawlNameKind kind, PawlEntries* entries) {
  if (key->kind != PAWL_YAML_SCALAR) {
    pawl_report(&loader->report, key, "expected a name");
    loader->names_incomplete = true;
    return false;
  }
  const PawlAstKey* parsed = pawl_key(loader, key);
  if (!parsed) {
    loader->names_incomplete = true;
    return false;
  }
  PawlDeclared entry = {.key = key, .value = value};
  entry.family = claim_family(loader, key, parsed, names, other, kind);
  if (!entry.family || !measure(loader, &entry, parsed)) {
    return false;
  }
  if (PAWL_GROW(entries->entry, entries->capacity, entries->count + 1) != 0) {
    return pawl_loader_no_memory(loader);
  }
  entries->entry[entries->count++] = entry;
  return true;
}

bool pawl_claim(PawlLoader* loader, PawlYaml* section, PawlNames* names, const PawlNames* other,
                PawlNameKind kind, PawlEntries* entries) {
  bool good = true;
  for (PawlYaml* child = section ? section->first : NULL; child; child = child->next) {
    bool in_map = section->kind == PAWL_YAML_MAP;
    good &= claim_entry(loader, in_map ? child->key : child, in_map ? child : NULL, names, other,
                        kind, entries);
  }
  return good;
}

// ---- filling --------------------------------------------------------------------------------

const char* pawl_declared_name(PawlLoader* loader, const PawlDeclared* entry,
                               const PawlIndexer* at) {
  const char* name = pawl_element_name(&loader->kept, entry->family, at->value);
  if (!name) {
    pawl_loader_no_memory(loader);
  }
  return name;
}

static bool fix_boxes(PawlLoader* loader, const PawlEntries* entries) {
  for (int k = 0; k < entries->count; k++) {
    PawlFamily* family = entries->entry[k].family;
    if (family->cells) {
      continue;
    }
    loader->cells += family->cell_count;
    loader->coming += family->cell_count;
    if (loader->cells > PAWL_MODEL_MAX_ELEMENTS) {
      pawl_report(&loader->report, entries->entry[k].key,
                  "the families up to here span more than %d elements together",
                  PAWL_MODEL_MAX_ELEMENTS);
      return false;
    }
    if (!pawl_family_fix(family, &loader->arena)) {
      return pawl_loader_no_memory(loader);
    }
  }
  return true;
}

static void report_twice(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  const char* name = pawl_element_name(&loader->pool, entry->family, at->value);
  if (!name) {
    pawl_loader_no_memory(loader);
    return;
  }
  pawl_report(&loader->report, entry->key, "'%s' is defined twice (the family begins at line %d)",
              pawl_quote(name).s, entry->family->where->line);
}

static void fill_entry(PawlLoader* loader, const PawlDeclared* entry, PawlAddElement add) {
  const PawlAstKey* key = pawl_key(loader, entry->key);
  PawlIndexer at;
  if (!key) {
    return;
  }
  for (bool more = pawl_indexer_begin(&at, loader, entry->key, key, &PAWL_SCOPE_EMPTY); more;
       more = pawl_indexer_next(&at)) {
    int* cell = pawl_family_cell(entry->family, at.value);
    if (!cell) {
      break;  // the box was measured with the same indices
    }
    if (*cell >= 0) {
      report_twice(loader, entry, &at);
      break;
    }
    *cell = add(loader, entry, &at);
    if (*cell < 0) {
      entry->family->failed = true;
      break;
    }
  }
}

void pawl_fill(PawlLoader* loader, PawlEntries* entries, PawlAddElement add) {
  loader->coming = 0;
  if (fix_boxes(loader, entries)) {
    for (int k = 0; k < entries->count; k++) {
      fill_entry(loader, &entries->entry[k], add);
    }
  }
  loader->coming = 0;
  pawl_free(entries->entry);
  *entries = (PawlEntries){0};
}

void pawl_declare(PawlLoader* loader, PawlYaml* section, PawlNames* names, const PawlNames* other,
                  PawlNameKind kind, PawlAddElement add) {
  PawlEntries entries = {0};
  pawl_claim(loader, section, names, other, kind, &entries);
  pawl_fill(loader, &entries, add);
}
