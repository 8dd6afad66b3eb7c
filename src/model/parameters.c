// SPDX-License-Identifier: Apache-2.0
// `parameters:` numbers with names, or families of them, each an expression of earlier ones. An
// override from outside takes the place of the written expression, so that later parameters follow
// it.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "model/loader.h"

static bool is_space(char c) {
  return c == ' ' || c == '\t';
}

// "name = expression" as a scalar with its key, as if the file had it; NULL after reporting.
static PawlYaml* parse_override(PawlLoader* loader, const char* override) {
  PawlYaml* value = pawl_pool_alloc(&loader->pool, sizeof *value);
  PawlYaml* key = pawl_pool_alloc(&loader->pool, sizeof *key);
  char* text = pawl_pool_copy(&loader->pool, override, strlen(override));
  char* origin = pawl_pool_alloc(&loader->pool, strlen(override) + sizeof "-p ");
  if (!value || !key || !text || !origin) {
    pawl_loader_no_memory(loader);
    return NULL;
  }
  memcpy(origin, "-p ", 3);
  memcpy(origin + 3, override, strlen(override));
  *key = *value =
      (PawlYaml){.kind = PAWL_YAML_SCALAR, .origin = origin, .plain = true, .shift = -1};
  char* equals = strchr(text, '=');
  if (!equals || equals == text) {
    pawl_report(&loader->report, key, "expected name=expression");
    return NULL;
  }
  char* end = equals;
  while (end > text && is_space(end[-1])) {
    end--;
  }
  *end = '\0';
  while (is_space(*text)) {
    text++;
  }
  key->text = text;
  key->length = (int)strlen(text);
  value->text = equals + 1;
  value->length = (int)strlen(equals + 1);
  value->key = key;
  return value;
}

// Claims the name of a parameter, or of a family of them; NULL after reporting.
static PawlFamily* claim(PawlLoader* loader, PawlYaml* key) {
  const PawlAstKey* parsed = pawl_key(loader, key);
  if (!parsed) {
    loader->names_incomplete = true;
    return NULL;
  }
  const PawlFamily* other = pawl_names_find(&loader->names, parsed->name);
  if (other || pawl_expr_reserved(parsed->name)) {
    if (other) {
      pawl_report(&loader->report, key, "'%s' is already a parameter (line %d)",
                  pawl_quote(parsed->name).s, other->where->line);
    } else {
      pawl_report(&loader->report, key, "'%s' is a reserved word; choose another name",
                  pawl_quote(key->text).s);
    }
    return NULL;
  }
  PawlFamily* family = pawl_names_add(&loader->names, &loader->pool, parsed->name);
  if (!family) {
    pawl_loader_no_memory(loader);
    return NULL;
  }
  family->kind = PAWL_NAME_PARAMETER;
  family->where = key;
  family->dimension = parsed->count;
  return family;
}

// Finds the expression and the unit in what was written.
static PawlYaml* open_body(PawlLoader* loader, PawlYaml* value, const char** unit) {
  static const char* const keys[] = {"value", "unit", "above", NULL};
  *unit = "";
  if (value->kind != PAWL_YAML_MAP) {
    return value;
  }
  if (!pawl_yaml_check_keys(&loader->report, value, "a parameter", keys)) {
    return NULL;
  }
  PawlYaml* text = pawl_yaml_get(value, "unit");
  if (text && !pawl_load_text(loader, text, unit)) {
    return NULL;
  }
  text = pawl_yaml_get(value, "value");
  if (!text) {
    pawl_report(&loader->report, value, "a parameter needs value:");
  }
  return text;
}

// `above: 0` in what was written. What the value was computed from is told, since that is where
// the mistake may be.
static bool check_above(PawlLoader* loader, const PawlFamily* family, PawlYaml* written,
                        const PawlYaml* text, double value) {
  PawlYaml* bound = written->kind == PAWL_YAML_MAP ? pawl_yaml_get(written, "above") : NULL;
  double above = 0.0;
  if (!bound) {
    return true;
  }
  if (!pawl_value(loader, bound, &PAWL_SCOPE_EMPTY, &above)) {
    return false;
  }
  if (!(value > above)) {
    bool plain = strspn(text->text, "+-.0123456789eE") == strlen(text->text);
    pawl_report(&loader->report, text, "'%s'%s%s is %.6g, but must be above %.6g",
                pawl_quote(family->name).s, plain ? "" : " = ",
                plain ? "" : pawl_quote(text->text).s, value, above);
  }
  return value > above;
}

// ---- overrides ------------------------------------------------------------------------------

typedef struct Override {
  const PawlFamily* family;  // NULL: refused
  int dimension;             // 0 for a family: all its elements
  int index[PAWL_MAX_INDICES];
  PawlYaml* value;
} Override;

typedef struct Overrides {
  Override* item;
  int count;
} Overrides;

static Override read_override(PawlLoader* loader, const char* text) {
  PawlYaml* value = parse_override(loader, text);
  const PawlAstKey* key = value ? pawl_key(loader, value->key) : NULL;
  Override override = {.value = value};
  if (!key) {
    return override;
  }
  const PawlFamily* family = pawl_names_find(&loader->names, key->name);
  bool fits = family && (key->count == 0 || key->count == family->dimension);
  if (!fits && !loader->names_incomplete) {
    PawlNearest nearest = {.wanted = key->name};
    pawl_names_offer(&loader->names, &nearest);
    pawl_report(&loader->report, value->key, "'%s' is not a parameter of the model%s",
                pawl_quote(value->key->text).s, pawl_did_you_mean(nearest.name).s);
  }
  override.family = fits ? family : NULL;
  override.dimension = key->count;
  for (int k = 0; fits && k < key->count; k++) {
    if (key->range[k].var ||
        !pawl_whole(loader, value->key, key->range[k].low, &PAWL_SCOPE_EMPTY, &override.index[k])) {
      pawl_report(&loader->report, value->key, "expected the index of one element, or no index");
      override.family = NULL;
      break;
    }
  }
  return override;
}

enum { MOST_PARTS = 3 };  // of a list that is a vector

// "name_k = part" as if it was given; NULL: no memory.
static char* say_part(PawlLoader* loader, const char* name, int k, const char* begin, int length) {
  size_t room = strlen(name) + (size_t)length + sizeof "_1=";
  char* said = pawl_pool_alloc(&loader->pool, room);
  if (said) {
    snprintf(said, room, "%s_%d=%.*s", name, k, length, begin);
  }
  return said;
}

// The parts of "[a, b]", each as say_part() says it; how many, 0 where it is no list of this kind.
static int split_list(PawlLoader* loader, const char* name, const char* list,
                      char* parts[MOST_PARTS]) {
  int count = 0, depth = 0;
  const char* begin = list + 1;
  for (const char* at = list; *at; at++) {
    depth += *at == '(' || *at == '[' ? 1 : *at == ')' || *at == ']' ? -1 : 0;
    bool ends = depth == 0 && *at == ']';
    if (ends || (depth == 1 && *at == ',')) {
      if (count == MOST_PARTS || begin + strspn(begin, " \t") == at) {
        return 0;
      }
      parts[count] = say_part(loader, name, count + 1, begin, (int)(at - begin));
      count++;
      begin = at + 1;
    }
    if (ends) {
      return at[1 + strspn(at + 1, " \t")] == '\0' ? count : 0;
    }
  }
  return 0;
}

// How many parameters name_1, name_2, ... there are: a list in the model.
static int count_parts(const PawlLoader* loader, const char* name) {
  char part[PAWL_MODEL_MAX_NAME + 16];
  int count = 0;
  for (bool more = true; more; count += more) {
    snprintf(part, sizeof part, "%.*s_%d", PAWL_MODEL_MAX_NAME, name, count + 1);
    more = count <= MOST_PARTS && pawl_names_find(&loader->names, part);
  }
  return count;
}

// The parts of a list of `wanted` from outside; 0 after reporting what is none.
static int read_list(PawlLoader* loader, const PawlYaml* whole, int wanted,
                     char* parts[MOST_PARTS]) {
  const char* name = whole->key->text;
  const char* list = whole->text + strspn(whole->text, " \t");
  int count = *list == '[' ? split_list(loader, name, list, parts) : 0;
  if (count == wanted) {
    return count;
  }
  pawl_report(&loader->report, whole->key, "'%s' is a list of %d: expected %s=%s, or %s_1=...",
              pawl_quote(name).s, wanted, pawl_quote(name).s, wanted == 2 ? "[a, b]" : "[a, b, c]",
              pawl_quote(name).s);
  return 0;
}

// "g = [0, -1]" of a list g stands for g_1 = 0 and g_2 = -1: adds these, or what is given as it is.
static void add_override(PawlLoader* loader, Overrides* given, const char* text) {
  char* parts[MOST_PARTS] = {NULL};
  PawlYaml* whole = parse_override(loader, text);
  if (!whole) {
    return;
  }
  bool own = pawl_names_find(&loader->names, whole->key->text) != NULL;
  int wanted = own ? 0 : count_parts(loader, whole->key->text);
  if (wanted < 2 || wanted > MOST_PARTS) {
    given->item[given->count++] = read_override(loader, text);
    return;
  }
  int count = read_list(loader, whole, wanted, parts);
  for (int k = 0; k < count; k++) {
    Override part = parts[k] ? read_override(loader, parts[k]) : (Override){0};
    if (!part.value) {
      pawl_loader_no_memory(loader);
      return;
    }
    part.value->origin = part.value->key->origin = whole->origin;
    given->item[given->count++] = part;
  }
}

// What takes the place of the text of an element; the last override counts. NULL: nothing does.
static PawlYaml* find_override(const Overrides* overrides, const PawlFamily* family,
                               const int index[]) {
  for (int k = overrides->count - 1; k >= 0; k--) {
    const Override* override = &overrides->item[k];
    bool same = override->family == family;
    for (int i = 0; same && i < override->dimension; i++) {
      same = override->index[i] == index[i];
    }
    if (same) {
      return override->value;
    }
  }
  return NULL;
}

static void check_elements(PawlLoader* loader, const Overrides* overrides,
                           const PawlFamily* family) {
  for (int k = 0; k < overrides->count; k++) {
    const Override* override = &overrides->item[k];
    const int* cell = override->family == family && override->dimension > 0
                          ? pawl_family_cell(family, override->index)
                          : NULL;
    if (override->family == family && override->dimension > 0 && (!cell || *cell < 0)) {
      pawl_report(&loader->report, override->value->key, "there is no element '%s'",
                  pawl_quote(override->value->key->text).s);
    }
  }
}

// ---- values ---------------------------------------------------------------------------------

static bool evaluate(PawlLoader* loader, PawlFamily* family, PawlYaml* written,
                     const PawlIndexer* at, const Overrides* overrides) {
  PawlModel* model = loader->model;
  PawlParameter parameter = {.unit = ""};
  PawlYaml* text = open_body(loader, written, &parameter.unit);
  PawlYaml* override = find_override(overrides, family, at->value);
  if (override) {
    text = override;
  }
  if (!text || !pawl_value(loader, text, &at->scope, &parameter.value) ||
      !check_above(loader, family, written, text, parameter.value) ||
      !PAWL_ROOM(loader, written, model->parameters, loader->parameter_capacity,
                 model->parameter_count)) {
    return false;
  }
  parameter.name = pawl_element_name(&loader->kept, family, at->value);
  parameter.source = pawl_loader_source(loader, text);
  *pawl_family_cell(family, at->value) = model->parameter_count;
  model->parameters[model->parameter_count++] = parameter;
  return parameter.name || pawl_loader_no_memory(loader);
}

// The box of the indices, empty cells; false after reporting.
static bool measure(PawlLoader* loader, PawlFamily* family, PawlYaml* key,
                    const PawlAstKey* parsed) {
  PawlIndexer at;
  for (bool more = pawl_indexer_begin(&at, loader, key, parsed, &PAWL_SCOPE_EMPTY); more;
       more = pawl_indexer_next(&at)) {
    if (!pawl_family_extend(family, at.value)) {
      pawl_report(&loader->report, key, "the family '%s' spans more than %d elements",
                  pawl_quote(family->name).s, PAWL_MODEL_MAX_FAMILY);
      return false;
    }
  }
  return !at.failed && (pawl_family_fix(family, &loader->arena) || pawl_loader_no_memory(loader));
}

static bool evaluate_family(PawlLoader* loader, PawlFamily* family, PawlYaml* child,
                            const Overrides* overrides) {
  const PawlAstKey* parsed = pawl_key(loader, child->key);
  PawlIndexer at;
  bool good = parsed && measure(loader, family, child->key, parsed);
  loader->parameter_open = family;
  for (bool more = good && pawl_indexer_begin(&at, loader, child->key, parsed, &PAWL_SCOPE_EMPTY);
       more && good; more = pawl_indexer_next(&at)) {
    good = evaluate(loader, family, child, &at, overrides);
  }
  loader->parameter_open = NULL;
  check_elements(loader, overrides, family);
  return good;
}

static void evaluate_all(PawlLoader* loader, PawlYaml* section, const Overrides* overrides) {
  PawlFamily* family = loader->names.first;
  for (PawlYaml* child = section ? section->first : NULL; child && family; child = child->next) {
    if (family->where == child->key) {  // else its name was refused
      family->failed = !evaluate_family(loader, family, child, overrides);
      family = family->next;
    }
  }
}

void pawl_load_parameters(PawlLoader* loader, PawlYaml* section, int override_count,
                          const char* const* overrides) {
  if (!pawl_expect_map(loader, section, "parameters")) {
    section = NULL;
  }
  Overrides given = {pawl_alloc(MOST_PARTS * (size_t)override_count, sizeof(Override)), 0};
  if (!given.item) {
    pawl_loader_no_memory(loader);
    return;
  }
  for (PawlYaml* child = section ? section->first : NULL; child; child = child->next) {
    claim(loader, child->key);
  }
  if (!loader->report.no_memory) {
    for (int k = 0; k < override_count; k++) {
      add_override(loader, &given, overrides[k]);
    }
    evaluate_all(loader, section, &given);
  }
  pawl_free(given.item);
}
