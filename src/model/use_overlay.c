// SPDX-License-Identifier: Apache-2.0
// Bodies and joints of an included file, and what the model that includes it says of the same ones:
// keys of the model stand over those of the file (use.h).
#include <string.h>

#include "model/use.h"

// Puts the entries of `over` into `base`: maps into maps, others in the place of what is there.
// Depth: that of the tree, PAWL_MODEL_MAX_NESTING.
static void overlay(PawlYaml* base, PawlYaml* over) {
  PawlYaml* next;
  for (PawlYaml* entry = over->first; entry; entry = next) {
    PawlYaml* there = pawl_yaml_get(base, entry->key->text);
    next = entry->next;
    if (there && there->kind == PAWL_YAML_MAP && entry->kind == PAWL_YAML_MAP) {
      overlay(there, entry);
      continue;
    }
    if (there) {
      pawl_drop_section(base, entry->key->text);
    }
    pawl_append(base, entry);
  }
}

// Entries of `own` that `included` has, too, go there.
static void overlay_entries(PawlYaml* own, PawlYaml* included) {
  PawlYaml* next;
  for (PawlYaml* entry = own->first; entry; entry = next) {
    PawlYaml* there = pawl_yaml_get(included, entry->key->text);
    next = entry->next;
    if (there && there->kind == PAWL_YAML_MAP && entry->kind == PAWL_YAML_MAP) {
      pawl_drop_section(own, entry->key->text);
      overlay(there, entry);
    }
  }
}

static PawlYaml* map_of(const PawlYaml* root, const char* section) {
  PawlYaml* map = pawl_yaml_get(root, section);
  return map && map->kind == PAWL_YAML_MAP ? map : NULL;
}

void pawl_overlay_parts(PawlYaml* root, PawlYaml* from) {
  static const char* const sections[] = {"bodies", "joints"};
  for (size_t k = 0; k < sizeof sections / sizeof *sections; k++) {
    PawlYaml *own = map_of(root, sections[k]), *included = map_of(from, sections[k]);
    if (own && included) {
      overlay_entries(own, included);
    }
  }
}
