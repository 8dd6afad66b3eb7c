// SPDX-License-Identifier: Apache-2.0
// The names of an element type behind a prefix (use.h). Texts are taken apart only as far as names:
// an expression, a key and the head of a loop have the same ones.
#include <stdio.h>
#include <string.h>

#include "model/use.h"

typedef struct Renaming {
  PawlLoader* loader;
  PawlNames names;   // those declared
  PawlNames points;  // of the ground, which keeps its name
  const char* prefix;
  const PawlYaml* use;
  const char* file;
} Renaming;

// ---- texts --------------------------------------------------------------------------------------

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static size_t name_length(const char* s) {
  size_t length = 0;
  while (is_letter(s[length]) || (length > 0 && is_digit(s[length]))) {
    length++;
  }
  return length;
}

// 2, 0.5, 1e-3; the 1 of 1..N.
static size_t number_length(const char* s) {
  size_t length = 0;
  while (is_digit(s[length]) || (s[length] == '.' && s[length + 1] != '.')) {
    length++;
  }
  size_t e = length;
  if (length > 0 && (s[e] == 'e' || s[e] == 'E')) {
    e += s[e + 1] == '+' || s[e + 1] == '-' ? 2 : 1;
    length = is_digit(s[e]) ? e : length;
    while (length > 0 && length >= e && is_digit(s[length])) {
      length++;
    }
  }
  return length;
}

static bool is_ground(const char* s, size_t length) {
  return length == strlen("ground") && strncmp(s, "ground", length) == 0;
}

static bool is_point(const Renaming* r, const char* s, size_t length) {
  char name[PAWL_MODEL_MAX_NAME + 1];
  if (length > PAWL_MODEL_MAX_NAME) {
    return false;
  }
  memcpy(name, s, length);
  name[length] = '\0';
  return pawl_names_find(&r->points, name) != NULL;
}

// A list at has the names at_1, at_2 and is a vector by its own.
static bool is_declared(const Renaming* r, const char* s, size_t length) {
  char name[PAWL_MODEL_MAX_NAME + 3];
  if (length > PAWL_MODEL_MAX_NAME || is_ground(s, length)) {
    return false;
  }
  memcpy(name, s, length);
  name[length] = '\0';
  if (pawl_names_find(&r->names, name)) {
    return true;
  }
  memcpy(name + length, "_1", sizeof "_1");
  return pawl_names_find(&r->names, name) != NULL;
}

// Writes the text with its names renamed to `out` (NULL: only counts); its length.
static size_t rewrite(const Renaming* r, const char* s, char* out) {
  size_t prefix = strlen(r->prefix), total = 0;
  bool part = false, dotted = false;  // behind the dot of tip.x; behind any dot
  bool ground = false;                // the name before that dot is the ground's
  while (*s) {
    size_t name = name_length(s), number = name > 0 ? 0 : number_length(s);
    size_t length = name > 0 ? name : number > 0 ? number : 1;
    if (name > 0 && (part ? ground && is_point(r, s, name) : is_declared(r, s, name))) {
      if (out) {
        memcpy(out + total, r->prefix, prefix);
        out[total + prefix] = '_';
      }
      total += prefix + 1;
    }
    if (out) {
      memcpy(out + total, s, length);
    }
    total += length;
    bool dot = *s == '.' && length == 1;
    ground = dot ? ground && !dotted : name > 0 && !part && is_ground(s, name);
    part = dot && !dotted && s[1] != '.';
    dotted = dot;
    s += length;
  }
  return total;
}

static bool rename_text(const Renaming* r, PawlYaml* node) {
  size_t length = rewrite(r, node->text, NULL);
  if (length == (size_t)node->length) {
    return true;
  }
  char* text = pawl_pool_alloc(&r->loader->pool, length + 1);
  if (!text) {
    return pawl_loader_no_memory(r->loader);
  }
  rewrite(r, node->text, text);
  node->text = text;
  node->length = (int)length;
  return true;
}

// ---- trees --------------------------------------------------------------------------------------

static bool is_for(const PawlYaml* key) {
  return strncmp(key->text, "for", 3) == 0 && (key->text[3] == ' ' || key->text[3] == '\t');
}

// Values that are words of the format, or text for people.
static bool is_word_key(const PawlYaml* map, const PawlYaml* key) {
  static const char* const words[] = {"unit",   "impact", "direction",   "on",       "engaged",
                                      "smooth", "cut",    "coordinates", "reaction", "assemble"};
  static const char* const guesses[] = {"true", "false", "start", "rate"};  // or an expression
  const PawlYaml* guess = strcmp(key->text, "guess") == 0 ? pawl_yaml_get(map, "guess") : NULL;
  for (size_t k = 0; guess && k < sizeof guesses / sizeof *guesses; k++) {
    if (guess->kind == PAWL_YAML_SCALAR && strcmp(guess->text, guesses[k]) == 0) {
      return true;
    }
  }
  if (strcmp(key->text, "on") == 0 && pawl_yaml_get(map, "value")) {
    return false;  // of a force, which acts on an expression
  }
  for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
    if (strcmp(key->text, words[k]) == 0) {
      return true;
    }
  }
  bool of_shape =
      pawl_yaml_get(map, "at") || pawl_yaml_get(map, "points") || pawl_yaml_get(map, "vector");
  return (strcmp(key->text, "start") == 0 && pawl_yaml_get(map, "modes")) ||
         (strcmp(key->text, "text") == 0 && of_shape);
}

// Maps whose keys are names of the model.
static bool has_names(const PawlYaml* node) {
  return node->kind == PAWL_YAML_MAP && node->key &&
         (strcmp(node->key->text, "set") == 0 || strcmp(node->key->text, "impulse") == 0);
}

// Depth: that of the tree, PAWL_MODEL_MAX_NESTING.
static bool rename_value(const Renaming* r, PawlYaml* node) {
  if (node->outside) {  // what the user wrote: names of the model
    node->outside = false;
    return true;
  }
  if (node->kind == PAWL_YAML_SCALAR) {
    return rename_text(r, node);
  }
  bool good = true;
  for (PawlYaml* child = node->first; child && good; child = child->next) {
    if (child->key && (is_for(child->key) || has_names(node))) {
      good = rename_text(r, child->key);
    }
    if (good && !(child->key && is_word_key(node, child->key))) {
      good = rename_value(r, child);
    }
  }
  return good;
}

// A name that nothing refers to: of a spring, of a force along something.
static bool is_label(const PawlYaml* section, const PawlYaml* child) {
  const char* name = section->key->text;
  return strcmp(name, "springs") == 0 ||
         (strcmp(name, "forces") == 0 && child->kind == PAWL_YAML_MAP);
}

static bool rename_label(const Renaming* r, PawlYaml* key) {
  size_t length = strlen(r->prefix) + strlen(key->text) + 2;
  if (is_declared(r, key->text, name_length(key->text))) {
    return rename_text(r, key);
  }
  char* text = pawl_pool_alloc(&r->loader->pool, length);
  if (!text) {
    return pawl_loader_no_memory(r->loader);
  }
  key->length = snprintf(text, length, "%s_%s", r->prefix, key->text);
  key->text = text;
  return true;
}

static bool rename_section(const Renaming* r, PawlYaml* section, bool named) {
  if (!named || section->kind != PAWL_YAML_MAP) {
    return rename_value(r, section);
  }
  bool good = true, tables = strcmp(section->key->text, "tables") == 0;
  for (PawlYaml* child = section->first; child && good; child = child->next) {
    // Of a table only points are expressions: the rest are names of files and columns.
    PawlYaml* value =
        tables && child->kind == PAWL_YAML_MAP ? pawl_yaml_get(child, "points") : child;
    good = is_label(section, child) ? rename_label(r, child->key) : rename_text(r, child->key);
    good = good && (!value || rename_value(r, value));
  }
  return good;
}

static bool declare(Renaming* r, PawlNames* names, const PawlYaml* key) {
  if (key->kind != PAWL_YAML_SCALAR) {
    return true;
  }
  const char* name = pawl_pool_copy(&r->loader->pool, key->text, name_length(key->text));
  if (!name) {
    return pawl_loader_no_memory(r->loader);
  }
  if (!name[0] || pawl_names_find(names, name)) {
    return true;
  }
  return pawl_names_add(names, &r->loader->pool, name) || pawl_loader_no_memory(r->loader);
}

// The points of the ground, NULL without.
static PawlYaml* ground_points(const PawlYaml* root) {
  const PawlYaml* node = root;
  static const char* const way[] = {"bodies", "ground", "points"};
  for (size_t k = 0; k < 3 && node; k++) {
    node = node->kind == PAWL_YAML_MAP ? pawl_yaml_get(node, way[k]) : NULL;
  }
  return node && node->kind == PAWL_YAML_MAP ? (PawlYaml*)node : NULL;
}

static bool declare_all(Renaming* r, const PawlYaml* root) {
  bool good = true;
  for (int k = 0; pawl_named_sections[k]; k++) {
    const char* name = pawl_named_sections[k];
    const PawlYaml* section = pawl_yaml_get(root, name);
    bool adds =
        strcmp(name, "mass") != 0 && strcmp(name, "forces") != 0 && strcmp(name, "springs") != 0;
    for (const PawlYaml* child = section && adds ? section->first : NULL; child && good;
         child = child->next) {
      good = declare(r, &r->names, child->key ? child->key : child);
    }
  }
  const PawlYaml* points = ground_points(root);
  for (const PawlYaml* p = points ? points->first : NULL; p && good; p = p->next) {
    good = declare(r, &r->points, p->key);
  }
  return good;
}

// The place of the use for messages; where a node was written stays known.
static void move(const Renaming* r, PawlYaml* node) {
  if (node->outside) {
    return;
  }
  if (!node->file) {
    node->file = r->file;
    node->file_line = node->line;
    node->file_column = node->column;
  }
  node->line = r->use->line;
  node->column = r->use->column;
  node->shift = -1;
  for (PawlYaml* child = node->first; child; child = child->next) {
    if (child->key) {
      move(r, child->key);
    }
    move(r, child);
  }
}

bool pawl_rename(PawlLoader* loader, PawlYaml* root, const char* prefix, const PawlYaml* use,
                 const char* file) {
  Renaming r = {.loader = loader, .prefix = prefix, .use = use, .file = file};
  move(&r, root);
  if (!prefix) {
    return true;
  }
  bool good = declare_all(&r, root);
  for (int k = 0; pawl_named_sections[k] && good; k++) {
    PawlYaml* section = pawl_yaml_get(root, pawl_named_sections[k]);
    good = !section || rename_section(&r, section, true);
  }
  for (int k = 0; pawl_item_sections[k] && good; k++) {
    PawlYaml* section = pawl_yaml_get(root, pawl_item_sections[k]);
    good = !section || rename_section(&r, section, false);
  }
  PawlYaml *mechanism = pawl_yaml_get(root, "mechanism"), *points = ground_points(root);
  good = good && (!mechanism || rename_value(&r, mechanism));
  for (PawlYaml* p = points ? points->first : NULL; p && good; p = p->next) {
    good = rename_label(&r, p->key);
  }
  pawl_names_free(&r.names);
  pawl_names_free(&r.points);
  return good;
}
