// SPDX-License-Identifier: Apache-2.0
// Finding element types and adding their sections to a model (use.h).
#include "model/use.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "model/file.h"

enum { MOST_DEEP = 8 };  // uses inside uses

const char* const pawl_section_keys[] = {
    "model",     "about",    "parameters",  "coordinates", "define",      "kinetic",
    "potential", "mass",     "dissipation", "forces",      "constraints", "locks",
    "contacts",  "events",   "outputs",     "simulate",    "scene",       "projection",
    "use",       "elements", "functions",   "tables",      "springs",     "states",
    "inputs",    "include",  "bodies",      "joints",      "mechanism",   NULL};
const char* const pawl_named_sections[] = {
    "parameters", "coordinates", "define", "mass",    "forces",    "constraints",
    "locks",      "contacts",    "events", "outputs", "functions", "tables",
    "springs",    "states",      "inputs", "bodies",  "joints",    NULL};
const char* const pawl_item_sections[] = {"kinetic", "potential", "dissipation", "scene", NULL};

// ---- nodes --------------------------------------------------------------------------------------

PawlYaml* pawl_new_node(PawlLoader* loader, PawlYamlKind kind, const PawlYaml* like) {
  PawlYaml* node = pawl_pool_alloc(&loader->pool, sizeof *node);
  if (!node) {
    pawl_loader_no_memory(loader);
    return NULL;
  }
  *node = (PawlYaml){.kind = kind,
                     .line = like->line,
                     .column = like->column,
                     .shift = -1,
                     .file = like->file,
                     .file_line = like->file_line,
                     .file_column = like->file_column};
  return node;
}

PawlYaml* pawl_new_scalar(PawlLoader* loader, const char* text, const PawlYaml* like) {
  PawlYaml* node = pawl_new_node(loader, PAWL_YAML_SCALAR, like);
  if (!node) {
    return NULL;
  }
  node->plain = true;
  node->length = (int)strlen(text);
  node->text = pawl_pool_copy(&loader->pool, text, (size_t)node->length);
  if (!node->text) {
    pawl_loader_no_memory(loader);
    return NULL;
  }
  return node;
}

void pawl_append(PawlYaml* parent, PawlYaml* child) {
  PawlYaml** end = &parent->first;
  while (*end) {
    end = &(*end)->next;
  }
  *end = child;
  child->next = NULL;
  parent->count++;
}

void pawl_drop_section(PawlYaml* map, const char* key) {
  for (PawlYaml** at = &map->first; *at; at = &(*at)->next) {
    if (strcmp((*at)->key->text, key) == 0) {
      *at = (*at)->next;
      map->count--;
      return;
    }
  }
}

// Depth: that of the tree, PAWL_MODEL_MAX_NESTING.
PawlYaml* pawl_clone_node(PawlLoader* loader, const PawlYaml* node) {
  PawlYaml* copy = pawl_pool_alloc(&loader->pool, sizeof *copy);
  if (!copy) {
    pawl_loader_no_memory(loader);
    return NULL;
  }
  *copy = *node;
  copy->first = copy->next = copy->key = NULL;
  PawlYaml** end = &copy->first;
  for (const PawlYaml* child = node->first; child; child = child->next) {
    PawlYaml* inner = *end = pawl_clone_node(loader, child);
    if (!inner || (child->key && !(inner->key = pawl_clone_node(loader, child->key)))) {
      return NULL;
    }
    end = &inner->next;
  }
  return copy;
}

// ---- finding a type -----------------------------------------------------------------------------

typedef struct Type {
  PawlYaml* root;    // NULL: reported
  const char* file;  // where it is written
} Type;

char* pawl_path_beside(PawlLoader* loader, const char* file, const char* path) {
  const char* slash = path[0] == '/' ? NULL : strrchr(file, '/');
  size_t folder = slash ? (size_t)(slash - file) + 1 : 0;
  char* joined = pawl_pool_alloc(&loader->pool, folder + strlen(path) + 1);
  if (!joined) {
    pawl_loader_no_memory(loader);
    return NULL;
  }
  memcpy(joined, file, folder);
  memcpy(joined + folder, path, strlen(path) + 1);
  return joined;
}

// Mistakes of a text that is read here belong to its own file and are reported at `where`.
static PawlYaml* parse(PawlLoader* loader, const PawlYaml* where, const char* file,
                       const char* text, size_t length) {
  PawlReport report = {.file = file};
  PawlYaml* root = pawl_loader_tree(loader, text, length, &report);
  if (report.no_memory) {
    pawl_loader_no_memory(loader);
    return NULL;
  }
  for (int k = 0; k < report.count && k < PAWL_REPORT_KEPT; k++) {
    pawl_report(&loader->report, where, "%s:%d:%d: %.300s", file, report.kept[k].line,
                report.kept[k].column, report.kept[k].text);
  }
  return report.count > 0 ? NULL : root;
}

static Type from_file(PawlLoader* loader, const PawlYaml* where, const char* file,
                      const char* path) {
  Type type = {NULL, pawl_path_beside(loader, file, path)};
  char* text = NULL;
  size_t length = 0;
  PawlError err = {0};
  if (!type.file) {
    return type;
  }
  PawlStatus status = pawl_read_file(type.file, &text, &length, &err);
  if (status == PAWL_OK) {
    type.root = parse(loader, where, type.file, text, length);
  } else if (status == PAWL_ERROR_MEMORY) {
    pawl_loader_no_memory(loader);
  } else {
    pawl_report(&loader->report, where, "%.300s", err.message);
  }
  pawl_free(text);
  return type;
}

static void report_unknown(PawlLoader* loader, const PawlYaml* name, const PawlYaml* elements) {
  PawlNearest nearest = {.wanted = name->text};
  char list[160] = "";
  size_t used = 0;
  for (const PawlElementText* e = pawl_element_texts; e->name; e++) {
    pawl_nearest_offer(&nearest, e->name);
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", e->name);
    used = used < sizeof list ? used : sizeof list - 1;
  }
  for (const PawlYaml* e = elements ? elements->first : NULL; e && e->key; e = e->next) {
    pawl_nearest_offer(&nearest, e->key->text);
  }
  pawl_report(&loader->report, name,
              "unknown element type '%s'; expected one of %s, or one of elements:%s",
              pawl_quote(name->text).s, list, pawl_did_you_mean(nearest.name).s);
}

// A type of `elements:` (a file, or written there), or one that comes with pawl.
static Type find_type(PawlLoader* loader, const PawlYaml* elements, const PawlYaml* name,
                      const char* file) {
  const PawlYaml* own =
      elements && elements->kind == PAWL_YAML_MAP ? pawl_yaml_get(elements, name->text) : NULL;
  if (own && own->kind == PAWL_YAML_MAP) {
    return (Type){pawl_clone_node(loader, own), file};
  }
  if (own && own->kind == PAWL_YAML_SCALAR && !pawl_yaml_is_null(own)) {
    return from_file(loader, own, file, own->text);
  }
  if (own) {
    pawl_report(&loader->report, own, "expected the file of an element type, or its sections");
    return (Type){NULL, file};
  }
  for (const PawlElementText* e = pawl_element_texts; e->name; e++) {
    if (strcmp(e->name, name->text) == 0) {
      return (Type){parse(loader, name, e->name, e->text, e->length), e->name};
    }
  }
  report_unknown(loader, name, elements);
  return (Type){NULL, file};
}

// ---- adding sections ----------------------------------------------------------------------------

static bool is_empty(const PawlYaml* section) {
  return pawl_yaml_is_null(section) || (section->kind != PAWL_YAML_SCALAR && section->count == 0);
}

// The place in the chain of sections that holds `name`, empty at the end of it when it is not
// there.
static PawlYaml** place_of(PawlYaml* root, const char* name) {
  PawlYaml** at = &root->first;
  while (*at && strcmp((*at)->key->text, name) != 0) {
    at = &(*at)->next;
  }
  return at;
}

static void put(PawlYaml* root, PawlYaml** at, PawlYaml* section, PawlYaml* key) {
  section->next = *at ? (*at)->next : NULL;
  section->key = *at ? (*at)->key : key;
  root->count += !*at;
  *at = section;
}

// A list of names, as `coordinates:` may have it, as a map.
static bool list_to_map(PawlLoader* loader, PawlYaml* list) {
  PawlYaml* child = list->first;
  list->kind = PAWL_YAML_MAP;
  list->first = NULL;
  list->count = 0;
  while (child) {
    PawlYaml* next = child->next;
    PawlYaml* nothing = pawl_new_scalar(loader, "", child);
    if (!nothing) {
      return false;
    }
    child->next = NULL;
    nothing->key = child;
    pawl_append(list, nothing);
    child = next;
  }
  return true;
}

// `first`: before what is there, since a parameter may use earlier ones only.
static bool add_named(PawlLoader* loader, PawlYaml* root, PawlYaml* section, bool first) {
  PawlYaml** at = place_of(root, section->key->text);
  if (section->kind == PAWL_YAML_LIST && !list_to_map(loader, section)) {
    return false;
  }
  if (!*at || is_empty(*at)) {
    put(root, at, section, section->key);
    return true;
  }
  if ((*at)->kind == PAWL_YAML_LIST && !list_to_map(loader, *at)) {
    return false;
  }
  if ((*at)->kind == PAWL_YAML_MAP && section->kind == PAWL_YAML_MAP) {
    PawlYaml* before = first ? section->first : (*at)->first;
    PawlYaml* after = first ? (*at)->first : section->first;
    (*at)->first = before;
    PawlYaml** end = &(*at)->first;
    while (*end) {
      end = &(*end)->next;
    }
    *end = after;
    (*at)->count += section->count;
  }
  return true;  // the loader reports what is no map
}

static bool add_items(PawlLoader* loader, PawlYaml* root, PawlYaml* section, bool first) {
  PawlYaml** at = place_of(root, section->key->text);
  if (!*at || is_empty(*at)) {
    put(root, at, section, section->key);
    return true;
  }
  PawlYaml* both = pawl_new_node(loader, PAWL_YAML_LIST, *at);
  if (!both) {
    return false;
  }
  PawlYaml* there = *at;
  PawlYaml* parts[] = {first ? section : there, first ? there : section};
  put(root, at, both, there->key);
  for (size_t k = 0; k < 2; k++) {
    bool open = parts[k]->kind == PAWL_YAML_LIST;  // its items, not a list in the list
    PawlYaml* next = NULL;
    for (PawlYaml* item = open ? parts[k]->first : parts[k]; item; item = next) {
      next = open ? item->next : NULL;
      item->key = NULL;
      pawl_append(both, item);
    }
  }
  return true;
}

// What the model says of its mechanism comes before what a part says.
static bool add_options(PawlLoader* loader, PawlYaml* root, PawlYaml* section) {
  PawlYaml** at = place_of(root, section->key->text);
  if (!*at || is_empty(*at)) {
    put(root, at, section, section->key);
    return true;
  }
  bool maps = (*at)->kind == PAWL_YAML_MAP && section->kind == PAWL_YAML_MAP;
  for (const PawlYaml* child = maps ? section->first : NULL; child; child = child->next) {
    if (pawl_yaml_get(*at, child->key->text)) {
      continue;
    }
    PawlYaml* copy = pawl_clone_node(loader, child);
    if (!copy || !(copy->key = pawl_clone_node(loader, child->key))) {
      return false;
    }
    pawl_append(*at, copy);
  }
  return true;
}

static bool is_among(const char* const* list, const char* name) {
  for (; *list; list++) {
    if (strcmp(*list, name) == 0) {
      return true;
    }
  }
  return false;
}

bool pawl_add_sections(PawlLoader* loader, PawlYaml* root, PawlYaml* from, bool first) {
  PawlYaml* next;
  bool good = true;
  for (PawlYaml* section = from->first; section && good; section = next) {
    next = section->next;
    section->next = NULL;
    if (is_empty(section)) {
      continue;
    }
    if (is_among(pawl_named_sections, section->key->text)) {
      good = add_named(loader, root, section, first);
    } else if (is_among(pawl_item_sections, section->key->text)) {
      good = add_items(loader, root, section, first);
    } else if (strcmp(section->key->text, "mechanism") == 0) {
      good = add_options(loader, root, section);
    }
  }
  return good;
}

// ---- uses ---------------------------------------------------------------------------------------

static bool is_name(const char* text) {
  static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  static const char later[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  return text[0] && strchr(first, text[0]) && text[strspn(text, later)] == '\0';
}

static bool expand(PawlLoader* loader, PawlYaml* root, const char* file, int depth);

static bool expand_use(PawlLoader* loader, PawlYaml* root, PawlYaml* use, const char* file,
                       int depth) {
  PawlYaml* name = use->kind == PAWL_YAML_MAP ? pawl_yaml_get(use, "element") : NULL;
  if (!is_name(use->key->text)) {
    pawl_report(&loader->report, use->key,
                "'%s' cannot be the name of a use: letters, digits and _",
                pawl_quote(use->key->text).s);
    return false;
  }
  if (!name || name->kind != PAWL_YAML_SCALAR || pawl_yaml_is_null(name)) {
    pawl_report(&loader->report, use, "'%s': expected {element: TYPE, ...}",
                pawl_quote(use->key->text).s);
    return false;
  }
  Type type = find_type(loader, pawl_yaml_get(root, "elements"), name, file);
  if (!type.root) {
    return false;
  }
  if (type.root->kind != PAWL_YAML_MAP) {
    pawl_report(&loader->report, name, "the element type '%s' is not a map of sections",
                pawl_quote(name->text).s);
    return false;
  }
  return pawl_yaml_check_keys(&loader->report, type.root, "an element type", pawl_section_keys) &&
         expand(loader, type.root, type.file, depth + 1) &&
         pawl_set_arguments(loader, type.root, use, name->text) &&
         pawl_rename(loader, type.root, use->key->text, use->key, type.file) &&
         pawl_add_sections(loader, root, type.root, false);
}

// ---- includes -----------------------------------------------------------------------------------

// The sections of a file, with `prefix` before its names (NULL: as they are).
static bool include_file(PawlLoader* loader, PawlYaml* root, PawlYaml* path, const char* prefix,
                         const char* file, int depth) {
  if (path->kind != PAWL_YAML_SCALAR || pawl_yaml_is_null(path)) {
    pawl_report(&loader->report, path, "include: expected the path of a file");
    return false;
  }
  if (prefix && !is_name(prefix)) {
    pawl_report(&loader->report, path->key, "'%s' cannot be a prefix: letters, digits and _",
                pawl_quote(prefix).s);
    return false;
  }
  Type part = from_file(loader, path, file, path->text);
  if (part.root && part.root->kind != PAWL_YAML_MAP) {
    pawl_report(&loader->report, path, "'%s' is not a map of sections", pawl_quote(path->text).s);
    return false;
  }
  bool good =
      part.root &&
      pawl_yaml_check_keys(&loader->report, part.root, "an included file", pawl_section_keys) &&
      expand(loader, part.root, part.file, depth + 1) &&
      pawl_set_arguments(loader, part.root, NULL, NULL) &&
      pawl_rename(loader, part.root, prefix, path, part.file);
  if (good) {
    pawl_overlay_parts(root, part.root);
  }
  return good && pawl_add_sections(loader, root, part.root, true);
}

// A path, a list of them, or a map from prefixes to paths. The last one first, so that what it adds
// in front stays in order.
static bool expand_includes(PawlLoader* loader, PawlYaml* root, const char* file, int depth) {
  PawlYaml* includes = pawl_yaml_get(root, "include");
  if (!includes || pawl_yaml_is_null(includes)) {
    return true;
  }
  if (includes->kind == PAWL_YAML_SCALAR) {
    return include_file(loader, root, includes, NULL, file, depth);
  }
  bool good = true;
  for (int k = includes->count - 1; k >= 0; k--) {
    PawlYaml* path = includes->first;
    for (int i = 0; i < k; i++) {
      path = path->next;
    }
    good &= include_file(loader, root, path, path->key ? path->key->text : NULL, file, depth);
  }
  return good;
}

static bool expand(PawlLoader* loader, PawlYaml* root, const char* file, int depth) {
  const PawlYaml *uses = pawl_yaml_get(root, "use"), *include = pawl_yaml_get(root, "include");
  if (depth > MOST_DEEP) {
    pawl_report(&loader->report, uses ? uses : root, "more than %d %s", MOST_DEEP,
                include ? "files inside each other; does one include itself?"
                        : "uses inside each other; does a type use itself?");
    return false;
  }
  bool good = expand_includes(loader, root, file, depth);
  if (pawl_expect_map(loader, uses, "use")) {
    for (PawlYaml* use = uses->first; use; use = use->next) {
      good &= expand_use(loader, root, use, file, depth);
    }
  }
  pawl_drop_section(root, "use");
  pawl_drop_section(root, "elements");
  pawl_drop_section(root, "include");
  return good;
}

bool pawl_expand_uses(PawlLoader* loader, PawlYaml* root, const char* file) {
  if (root->kind != PAWL_YAML_MAP) {
    return true;  // reported by the loader
  }
  bool good = expand(loader, root, file, 0);
  return pawl_set_arguments(loader, root, NULL, NULL) && good;
}

const char* pawl_element_name_of(int index) {
  return pawl_element_texts[index].name;
}

const char* pawl_element_text_of(int index) {
  return pawl_element_texts[index].text;
}
