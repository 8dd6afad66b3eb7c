// SPDX-License-Identifier: Apache-2.0
// `parameters:` numbers with names, each an expression of earlier ones. An override from outside
// takes the place of the written expression, so that later parameters follow it.
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

// Claims the name of a parameter; its number is the cell of the family. NULL after reporting.
static PawlFamily* claim(PawlLoader* loader, PawlYaml* key, int number) {
  const PawlAstKey* parsed = pawl_key(loader, key);
  if (!parsed) {
    loader->names_incomplete = true;
    return NULL;
  }
  if (parsed->count > 0 || pawl_expr_reserved(parsed->name)) {
    pawl_report(&loader->report, key,
                parsed->count > 0 ? "'%s': a parameter cannot be a family"
                                  : "'%s' is a reserved word; choose another name",
                pawl_quote(key->text).s);
    loader->names_incomplete |= parsed->count > 0;
    return NULL;
  }
  PawlFamily* family = pawl_names_add(&loader->names, &loader->pool, parsed->name);
  if (!family) {
    pawl_loader_no_memory(loader);
    return NULL;
  }
  family->kind = PAWL_NAME_PARAMETER;
  family->where = key;
  family->cell_count = 1;
  if (!pawl_family_fix(family, &loader->arena)) {
    pawl_loader_no_memory(loader);
    family->failed = true;
    return NULL;
  }
  family->cells[0] = number;
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

static bool evaluate(PawlLoader* loader, const PawlFamily* family, PawlYaml* written,
                     PawlYaml* override) {
  PawlModel* model = loader->model;
  PawlParameter parameter = {.name = family->name, .unit = ""};
  PawlYaml* text = open_body(loader, written, &parameter.unit);
  if (override) {
    text = override;
  }
  if (!text || !pawl_value(loader, text, &PAWL_SCOPE_EMPTY, &parameter.value) ||
      !check_above(loader, family, written, text, parameter.value)) {
    return false;
  }
  parameter.name = pawl_pool_copy(&loader->kept, family->name, strlen(family->name));
  parameter.source = pawl_loader_source(loader, text);
  model->parameters[family->cells[0]] = parameter;
  return parameter.name || pawl_loader_no_memory(loader);
}

// The last override of each name counts. `chosen` has one place for each parameter.
static void match_overrides(PawlLoader* loader, int override_count, const char* const* overrides,
                            PawlYaml** chosen) {
  for (int k = 0; k < override_count; k++) {
    PawlYaml* value = parse_override(loader, overrides[k]);
    if (!value) {
      continue;
    }
    const PawlFamily* family = pawl_names_find(&loader->names, value->key->text);
    if (family) {
      chosen[family->cells[0]] = value;
    } else if (!loader->names_incomplete) {
      PawlNearest nearest = {.wanted = value->key->text};
      pawl_names_offer(&loader->names, &nearest);
      pawl_report(&loader->report, value->key, "'%s' is not a parameter of the model%s",
                  pawl_quote(value->key->text).s, pawl_did_you_mean(nearest.name).s);
    }
  }
}

static void evaluate_all(PawlLoader* loader, PawlYaml* section, PawlFamily* family,
                         PawlYaml** chosen) {
  for (PawlYaml* child = section ? section->first : NULL; child && family; child = child->next) {
    if (family->where != child->key) {
      continue;  // its name was refused
    }
    family->failed = !evaluate(loader, family, child, chosen[family->cells[0]]);
    loader->parameters_done++;
    family = family->next;
  }
}

void pawl_load_parameters(PawlLoader* loader, PawlYaml* section, int override_count,
                          const char* const* overrides) {
  if (!pawl_expect_map(loader, section, "parameters")) {
    section = NULL;
  }
  PawlModel* model = loader->model;
  int count = section ? section->count : 0;
  PawlYaml** chosen = pawl_alloc((size_t)count, sizeof *chosen);
  model->parameters = pawl_alloc((size_t)count, sizeof *model->parameters);
  if (!chosen || !model->parameters) {
    pawl_loader_no_memory(loader);
    pawl_free(chosen);
    return;
  }
  for (PawlYaml* child = section ? section->first : NULL; child; child = child->next) {
    if (claim(loader, child->key, model->parameter_count)) {
      model->parameter_count++;
    }
  }
  if (!loader->report.no_memory) {
    match_overrides(loader, override_count, overrides, chosen);
    evaluate_all(loader, section, loader->names.first, chosen);
  }
  pawl_free(chosen);
}
