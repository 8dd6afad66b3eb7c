// SPDX-License-Identifier: Apache-2.0
// The sections of several texts as one text (use.h). Added to each other they may have a key twice,
// which the loader takes and YAML does not: forces and masses of one coordinate become a sum, and
// names that nothing refers to, those of springs and of forces along something, get a number.
#include <stdio.h>
#include <string.h>

#include "model/use.h"

static bool same_key(const PawlYaml* a, const PawlYaml* b) {
  return strcmp(a->key->text, b->key->text) == 0;
}

static bool has_key(const PawlYaml* map, const char* text) {
  return pawl_yaml_get(map, text) != NULL;
}

// "(a) + (b)" in the place of a.
static bool add(PawlLoader* loader, PawlYaml* a, const PawlYaml* b) {
  size_t room = strlen(a->text) + strlen(b->text) + sizeof "() + ()";
  char* text = pawl_pool_alloc(&loader->pool, room);
  if (!text) {
    return pawl_loader_no_memory(loader);
  }
  a->length = snprintf(text, room, "(%s) + (%s)", a->text, b->text);
  a->text = text;
  a->plain = a->plain && b->plain;
  return true;
}

// name_2, or the first number that is free.
static bool number(PawlLoader* loader, const PawlYaml* map, PawlYaml* key) {
  size_t name = strcspn(key->text, "["), room = strlen(key->text) + 16;
  char* text = pawl_pool_alloc(&loader->pool, room);
  if (!text) {
    return pawl_loader_no_memory(loader);
  }
  int k = 2;
  do {
    key->length = snprintf(text, room, "%.*s_%d%s", (int)name, key->text, k++, key->text + name);
  } while (has_key(map, text));
  key->text = text;
  return true;
}

// What follows `first` with its key; false when memory is short.
static bool unite_with(PawlLoader* loader, PawlYaml* map, PawlYaml* first) {
  for (PawlYaml** at = &first->next; *at;) {
    PawlYaml* other = *at;
    bool sums = first->kind == PAWL_YAML_SCALAR && other->kind == PAWL_YAML_SCALAR;
    if (!same_key(first, other)) {
      at = &other->next;
    } else if (sums) {
      *at = other->next;
      map->count--;
      if (!add(loader, first, other)) {
        return false;
      }
    } else {  // a name that nothing refers to has a map
      if (!number(loader, map, other->kind == PAWL_YAML_MAP ? other->key : first->key)) {
        return false;
      }
      at = &other->next;
    }
  }
  return true;
}

static bool unite(PawlLoader* loader, PawlYaml* map) {
  bool good = true;
  for (PawlYaml* child = map->first; child && good; child = child->next) {
    good = unite_with(loader, map, child);
  }
  return good;
}

// The file of a table is written as seen from the part that names it.
static bool find_file(PawlLoader* loader, PawlYaml* table, const char* from) {
  PawlYaml* file = table->kind == PAWL_YAML_MAP ? pawl_yaml_get(table, "file") : NULL;
  if (!file || !file->file || file->kind != PAWL_YAML_SCALAR) {
    return true;
  }
  const char* slash = strrchr(from, '/');
  size_t folder = slash ? (size_t)(slash - from) + 1 : 0;
  const char* path = pawl_path_beside(loader, file->file, file->text);
  if (!path) {
    return false;
  }
  file->text = strncmp(path, from, folder) == 0 ? path + folder : path;
  file->length = (int)strlen(file->text);
  return true;
}

bool pawl_unite_keys(PawlLoader* loader, PawlYaml* root, const char* file) {
  static const char* const sections[] = {"mass", "forces", "springs"};
  bool good = true;
  for (size_t k = 0; k < sizeof sections / sizeof *sections && good; k++) {
    PawlYaml* section = pawl_yaml_get(root, sections[k]);
    good = !section || section->kind != PAWL_YAML_MAP || unite(loader, section);
  }
  const PawlYaml* tables = pawl_yaml_get(root, "tables");
  bool map = tables && tables->kind == PAWL_YAML_MAP;
  for (PawlYaml* table = map ? tables->first : NULL; table && good; table = table->next) {
    good = find_file(loader, table, file);
  }
  return good;
}
