// SPDX-License-Identifier: Apache-2.0
// The parameters of an element type and what a use gives for them (use.h): a number or expression,
// a list (`from: [0, 0]` has the names from_1, from_2), or one of some words (`mass: {one_of:
// [consistent, lumped]}` has mass_consistent and mass_lumped, 1 for the word chosen and 0 for the
// others).
#include <stdio.h>
#include <string.h>

#include "model/use.h"

static bool is_choice(const PawlYaml* parameter) {
  return parameter->kind == PAWL_YAML_MAP && pawl_yaml_get(parameter, "one_of");
}

// A parameter `key_part` with the value `node`, before `*at`.
static bool insert(PawlLoader* loader, const PawlYaml* parameter, const char* part, PawlYaml* node,
                   PawlYaml*** at) {
  char name[PAWL_MODEL_MAX_NAME + 1];
  int length = snprintf(name, sizeof name, "%s_%s", parameter->key->text, part);
  if (length < 0 || (size_t)length >= sizeof name) {
    pawl_report(&loader->report, parameter->key, "the name '%s' is too long", pawl_quote(name).s);
    return false;
  }
  PawlYaml* key = pawl_new_scalar(loader, name, parameter->key);
  if (!key || !node) {
    return false;
  }
  node->key = key;
  node->next = **at;
  **at = node;
  *at = &node->next;
  return true;
}

// Replaces the list at `*at` by its numbers, those of `given` where there is one.
static bool open_list(PawlLoader* loader, PawlYaml* map, PawlYaml** at, PawlYaml* given) {
  PawlYaml* parameter = *at;
  PawlYaml* from = given ? given : parameter;
  if (from->kind != PAWL_YAML_LIST || from->count != parameter->count) {
    pawl_report(&loader->report, from, "'%s' is a list of %d values",
                pawl_quote(parameter->key->text).s, parameter->count);
    return false;
  }
  *at = parameter->next;
  map->count += from->count - 1;
  int number = 1;
  PawlYaml* next;
  for (PawlYaml* item = from->first; item; item = next, number++) {
    char part[16];
    snprintf(part, sizeof part, "%d", number);
    next = item->next;
    item->outside = given != NULL;
    if (!insert(loader, parameter, part, item, &at)) {
      return false;
    }
  }
  return true;
}

static bool is_word(const PawlYaml* node) {
  return node->kind == PAWL_YAML_SCALAR && !pawl_yaml_is_null(node);
}

static void report_choice(PawlLoader* loader, const PawlYaml* parameter, const PawlYaml* words,
                          const PawlYaml* chosen) {
  PawlNearest nearest = {.wanted = is_word(chosen) ? chosen->text : ""};
  char list[160] = "";
  for (const PawlYaml* word = words->first; word; word = word->next) {
    size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", word->text);
    pawl_nearest_offer(&nearest, word->text);
  }
  pawl_report(&loader->report, chosen, "%s '%s': expected %s%s", pawl_quote(parameter->key->text).s,
              is_word(chosen) ? pawl_quote(chosen->text).s : "", list,
              pawl_did_you_mean(nearest.name).s);
}

static bool open_choice(PawlLoader* loader, PawlYaml* map, PawlYaml** at, PawlYaml* given) {
  static const char* const keys[] = {"one_of", "value", NULL};
  PawlYaml* parameter = *at;
  const PawlYaml* words = pawl_yaml_get(parameter, "one_of");
  bool good = pawl_yaml_check_keys(&loader->report, parameter, "a choice", keys);
  for (const PawlYaml* word = words->first; word; word = word->next) {
    good &= is_word(word);
  }
  if (!good || words->kind != PAWL_YAML_LIST || words->count == 0) {
    pawl_report(&loader->report, words, "one_of: expected a list of words");
    return false;
  }
  const PawlYaml* chosen = given ? given : pawl_yaml_get(parameter, "value");
  chosen = chosen ? chosen : words->first;
  bool found = false;
  *at = parameter->next;
  map->count += words->count - 1;
  for (const PawlYaml* word = words->first; word; word = word->next) {
    bool this = is_word(chosen) && strcmp(word->text, chosen->text) == 0;
    found |= this;
    if (!insert(loader, parameter, word->text, pawl_new_scalar(loader, this ? "1" : "0", word),
                &at)) {
      return false;
    }
  }
  if (!found) {
    report_choice(loader, parameter, words, chosen);
  }
  return found;
}

// The value of a plain parameter becomes what is given; its unit and bound stay.
static void replace(PawlYaml** at, PawlYaml* given) {
  PawlYaml* parameter = *at;
  if (parameter->kind == PAWL_YAML_MAP) {
    PawlYaml** value = &parameter->first;
    while (*value && strcmp((*value)->key->text, "value") != 0) {
      value = &(*value)->next;
    }
    if (*value) {
      at = value;
      parameter = *value;
    }
  }
  given->outside = true;
  given->key = parameter->key;
  given->next = parameter->next;
  *at = given;
}

static const char* const* known_keys(PawlLoader* loader, const PawlYaml* parameters) {
  int count = parameters && parameters->kind == PAWL_YAML_MAP ? parameters->count : 0, k = 0;
  const char** keys = pawl_pool_alloc(&loader->pool, ((size_t)count + 2) * sizeof *keys);
  if (!keys) {
    pawl_loader_no_memory(loader);
    return NULL;
  }
  keys[k++] = "element";
  for (const PawlYaml* p = count > 0 ? parameters->first : NULL; p; p = p->next) {
    keys[k++] = p->key->text;
  }
  return keys;
}

static bool has_no_value(const PawlYaml* parameter) {
  const PawlYaml* value =
      parameter->kind == PAWL_YAML_MAP ? pawl_yaml_get(parameter, "value") : parameter;
  return value && pawl_yaml_is_null(value);
}

static bool set_one(PawlLoader* loader, PawlYaml* map, PawlYaml** at, const PawlYaml* use,
                    const char* type) {
  PawlYaml* parameter = *at;
  PawlYaml* given = use ? pawl_yaml_get(use, parameter->key->text) : NULL;
  if (given && !(given = pawl_clone_node(loader, given))) {  // the use stays whole
    return false;
  }
  if (parameter->kind == PAWL_YAML_LIST) {
    return open_list(loader, map, at, given);
  }
  if (is_choice(parameter)) {
    return open_choice(loader, map, at, given);
  }
  if (given) {
    replace(at, given);
  } else if (use && has_no_value(parameter)) {
    pawl_report(&loader->report, use->key, "the element '%s' needs %s: (a parameter of '%s')",
                pawl_quote(use->key->text).s, pawl_quote(parameter->key->text).s,
                pawl_quote(type).s);
    return false;
  }
  return true;
}

bool pawl_set_arguments(PawlLoader* loader, PawlYaml* root, const PawlYaml* use, const char* type) {
  PawlYaml* map = pawl_yaml_get(root, "parameters");
  char what[96];
  if (use) {
    snprintf(what, sizeof what, "the element type '%.60s'", type);
    const char* const* keys = known_keys(loader, map);
    if (!keys || !pawl_yaml_check_keys(&loader->report, use, what, keys)) {
      return false;
    }
  }
  bool good = true;
  if (!map || map->kind != PAWL_YAML_MAP) {
    return true;
  }
  for (PawlYaml** at = &map->first; *at;) {
    PawlYaml* after = (*at)->next;
    good &= set_one(loader, map, at, use, type);
    while (*at && *at != after) {
      at = &(*at)->next;
    }
  }
  return good;
}
