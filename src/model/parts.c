// SPDX-License-Identifier: Apache-2.0
#include "model/parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/use.h"

// Takes the text over into the pool.
static const char* keep(PawlMade* made, PawlText* text) {
  char* copy = text->failed ? NULL
                            : pawl_pool_copy(&made->loader->pool, text->s ? text->s : "",
                                             text->s ? text->length : 0);
  pawl_text_free(text);
  if (!copy) {
    pawl_loader_no_memory(made->loader);
  }
  return copy ? copy : "";
}

const char* pawl_say(PawlMade* made, const char* format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  char* text = length < 0 ? NULL : pawl_pool_alloc(&made->loader->pool, (size_t)length + 1);
  if (text) {
    vsnprintf(text, (size_t)length + 1, format, again);
  } else {
    pawl_loader_no_memory(made->loader);
  }
  va_end(again);
  va_end(arguments);
  return text ? text : "";
}

// ---- what the user wrote ----------------------------------------------------------------------

// Depth: that of the tree, PAWL_MODEL_MAX_NESTING.
static bool add_text(PawlText* text, const PawlYaml* node) {
  if (node->kind == PAWL_YAML_SCALAR) {
    pawl_text_add(text, node->text);
    return !pawl_yaml_is_null(node);
  }
  bool good = node->kind == PAWL_YAML_LIST;
  pawl_text_add(text, "[");
  for (const PawlYaml* child = good ? node->first : NULL; child && good; child = child->next) {
    good = add_text(text, child);
    pawl_text_add(text, child->next ? ", " : "");
  }
  pawl_text_add(text, "]");
  return good;
}

const char* pawl_part_text(PawlMade* made, const PawlYaml* node, const char* what) {
  PawlText text = {0};
  if (!add_text(&text, node)) {
    pawl_text_free(&text);
    pawl_report(&made->loader->report, node, "expected %s%s", what, PAWL_YAML_FLOW_HINT);
    return NULL;
  }
  return keep(made, &text);
}

const char* pawl_part_vector(PawlMade* made, const PawlYaml* node, const char* what) {
  if (node->kind == PAWL_YAML_LIST) {
    if (made->dimension == 0 && (node->count == 2 || node->count == 3)) {
      made->dimension = node->count;
    }
    if (made->dimension != node->count) {
      pawl_report(&made->loader->report, node, "%s: expected %s, %d given%s", what,
                  made->dimension == 2   ? "two numbers, as places before it have"
                  : made->dimension == 3 ? "three numbers, as places before it have"
                                         : "two numbers, in the plane, or three, in space",
                  node->count, PAWL_YAML_FLOW_HINT);
      return NULL;
    }
  }
  return pawl_part_text(made, node, what);
}

static bool is_sequence(const char* word) {
  return strspn(word, "xyz") == 3 && word[3] == '\0' && word[0] != word[1] && word[1] != word[2];
}

const char* pawl_part_rotation(PawlMade* made, const PawlYaml* node, const char* what) {
  static const char* const axes[] = {"[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]"};
  if (node->kind != PAWL_YAML_MAP) {
    return pawl_part_text(made, node, what);
  }
  const PawlYaml* angles = node->first;
  bool good = node->count == 1 && is_sequence(angles->key->text) &&
              angles->kind == PAWL_YAML_LIST && angles->count == 3;
  const char* product = NULL;
  const PawlYaml* angle = good ? angles->first : NULL;
  for (int k = 0; k < 3 && good; k++, angle = angle->next) {
    const char* text = pawl_part_text(made, angle, "an angle");
    good = text != NULL;
    if (good && strcmp(text, "0") != 0) {
      const char* axis = axes[angles->key->text[k] - 'x'];
      product = pawl_product(made, product, pawl_say(made, "rotation(%s, %s)", axis, text));
    }
  }
  if (!good) {
    pawl_report(&made->loader->report, node,
                "%s: expected angles about three axes, such as {zyx: [0.1, 0.2, 0.3]}", what);
    return NULL;
  }
  return product ? product : "rotation([0, 0, 1], 0)";
}

static bool is_number_text(const char* text) {
  char* end;
  strtod(text, &end);
  return end != text && *end == '\0';
}

const char* pawl_factor(PawlMade* made, const char* text) {
  int depth = 0;
  if (is_number_text(text) && text[0] != '-' && text[0] != '+') {
    return text;
  }
  for (const char* c = text; *c; c++) {
    depth += *c == '(' || *c == '[' ? 1 : *c == ')' || *c == ']' ? -1 : 0;
    if (depth == 0 && strchr(" +-*/^<>=", *c)) {
      return pawl_say(made, "(%s)", text);
    }
  }
  return text;
}

const char* pawl_sum(PawlMade* made, const char* a, const char* b, const char* c,
                     const char* minus) {
  const char* terms[] = {a, b, c};
  PawlText text = {0};
  for (size_t k = 0; k < 3; k++) {
    if (terms[k]) {
      pawl_text_add(&text, text.length > 0 ? " + " : "");
      pawl_text_add(&text, terms[k]);
    }
  }
  if (minus) {
    pawl_text_printf(&text, text.length > 0 ? " - %s" : "-%s", minus);
  }
  return text.length > 0 || text.failed ? keep(made, &text) : NULL;
}

const char* pawl_product(PawlMade* made, const char* a, const char* b) {
  return !a ? b : !b ? a : pawl_say(made, "%s*%s", a, b);
}

const char* pawl_component(PawlMade* made, const char* vector, int k) {
  return vector ? pawl_say(made, "(%s).%c", vector, 'x' + k) : NULL;
}

bool pawl_part_is_true(PawlMade* made, const PawlYaml* map, const char* key) {
  const PawlYaml* node = pawl_part_get(map, key);
  bool flag = false;
  return node && pawl_flag(made->loader, node, &flag) && flag;
}

PawlYaml* pawl_part_get(const PawlYaml* map, const char* key) {
  PawlYaml* node = map && map->kind == PAWL_YAML_MAP ? pawl_yaml_get(map, key) : NULL;
  return node && !pawl_yaml_is_null(node) ? node : NULL;
}

// ---- names ------------------------------------------------------------------------------------

// "[i]" of the range "[i=1..N]": what stands before each = sign.
static const char* index_of(PawlMade* made, const char* range) {
  PawlText text = {0};
  int depth = 0;
  bool open = true;  // behind '[' or ',', before '='
  for (const char* c = range; *c; c++) {
    depth += *c == '[' || *c == '(' ? 1 : *c == ']' || *c == ')' ? -1 : 0;
    bool entry = (*c == ',' && depth == 1) || (*c == ']' && depth == 0);
    open = open || entry;
    open = open && *c != '=';
    if (open) {
      pawl_text_add_bytes(&text, c, 1);
    }
  }
  return keep(made, &text);
}

bool pawl_part_name(PawlMade* made, const PawlYaml* key, PawlPartName* out) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  size_t length = key->kind == PAWL_YAML_SCALAR ? strspn(key->text, letters) : 0;
  char last = length > 0 && key->text[length] == '[' ? ']' : '\0';
  if (length > 0 && pawl_expr_reserved(key->text)) {
    pawl_report(&made->loader->report, key, "'%s' is a reserved word; choose another name",
                pawl_quote(key->text).s);
    *out = (PawlPartName){key->text, "", ""};  // for joints that name it
    return false;
  }
  bool good = length > 0 && !(key->text[0] >= '0' && key->text[0] <= '9') &&
              (last ? key->text[key->length - 1] == last : key->text[length] == '\0');
  if (!good) {
    pawl_report(&made->loader->report, key,
                "'%s' cannot be the name of a body or joint: letters, digits and _",
                key->kind == PAWL_YAML_SCALAR ? pawl_quote(key->text).s : "");
    return false;
  }
  out->name = pawl_say(made, "%.*s", (int)length, key->text);
  out->range = key->text + length;
  out->index = last ? index_of(made, out->range) : "";
  return true;
}

const char* pawl_part_key(PawlMade* made, const PawlPartName* name, const char* part) {
  return pawl_say(made, "%s%s%s%s", name->name, *part ? "." : "", part, name->range);
}

const char* pawl_part_use(PawlMade* made, const PawlPartName* name, const char* part) {
  return pawl_say(made, "%s%s%s%s", name->name, name->index, *part ? "." : "", part);
}

// ---- what is written --------------------------------------------------------------------------

// Behind the last entry, without a walk through all of a long section.
static void append(PawlMade* made, PawlYaml* parent, PawlYaml* child) {
  enum { LONG = 16, ENDS = sizeof made->ends / sizeof *made->ends };
  int k = 0;
  while (k < ENDS && made->ends[k].of && made->ends[k].of != parent) {
    k++;
  }
  if (k < ENDS && made->ends[k].of) {
    made->ends[k].last->next = child;
    child->next = NULL;
    parent->count++;
  } else {
    pawl_append(parent, child);
  }
  if (k < ENDS && parent->count > LONG) {
    made->ends[k].of = parent;
    made->ends[k].last = child;
  }
}

static PawlYaml* with_key(PawlMade* made, PawlYaml* node, const char* key, const PawlYaml* like) {
  if (node) {
    node->key = pawl_new_scalar(made->loader, key, like);
  }
  return node && node->key ? node : NULL;
}

static PawlYaml* section_of(PawlMade* made, const char* name, PawlYamlKind kind,
                            const PawlYaml* like) {
  PawlYaml* section = made->root ? pawl_yaml_get(made->root, name) : NULL;
  if (!section && made->root) {
    section = with_key(made, pawl_new_node(made->loader, kind, like), name, like);
    if (section) {
      pawl_append(made->root, section);
    }
  }
  return section;
}

void pawl_set(PawlMade* made, PawlYaml* map, const PawlYaml* like, const char* key,
              const char* text) {
  PawlYaml* node = map && text ? pawl_new_scalar(made->loader, text, like) : NULL;
  if (with_key(made, node, key, like)) {
    append(made, map, node);
  }
}

void pawl_set_node(PawlMade* made, PawlYaml* map, const char* key, const PawlYaml* node) {
  PawlYaml* copy = map && node ? pawl_clone_node(made->loader, node) : NULL;
  if (with_key(made, copy, key, node)) {
    append(made, map, copy);
  }
}

PawlYaml* pawl_set_list(PawlMade* made, PawlYaml* map, const PawlYaml* like, const char* key) {
  PawlYaml* list = with_key(made, pawl_new_node(made->loader, PAWL_YAML_LIST, like), key, like);
  if (list && map) {
    append(made, map, list);
  }
  return list;
}

void pawl_add_item(PawlMade* made, PawlYaml* list, const PawlYaml* like, const char* text) {
  PawlYaml* node = list && text ? pawl_new_scalar(made->loader, text, like) : NULL;
  if (node) {
    append(made, list, node);
  }
}

void pawl_put(PawlMade* made, const char* section, const PawlYaml* like, const char* key,
              const char* text) {
  pawl_set(made, section_of(made, section, PAWL_YAML_MAP, like), like, key, text);
}

PawlYaml* pawl_put_map(PawlMade* made, const char* section, const PawlYaml* like, const char* key) {
  PawlYaml* of = section_of(made, section, PAWL_YAML_MAP, like);
  PawlYaml* map = with_key(made, pawl_new_node(made->loader, PAWL_YAML_MAP, like), key, like);
  if (of && map) {
    append(made, of, map);
  }
  return map;
}

void pawl_put_item(PawlMade* made, const char* section, const PawlYaml* like, const char* text) {
  pawl_add_item(made, section_of(made, section, PAWL_YAML_LIST, like), like, text);
}

PawlYaml* pawl_set_map(PawlMade* made, PawlYaml* map, const PawlYaml* like, const char* key) {
  PawlYaml* inner = with_key(made, pawl_new_node(made->loader, PAWL_YAML_MAP, like), key, like);
  if (inner && map) {
    append(made, map, inner);
  }
  return inner;
}

PawlYaml* pawl_put_node(PawlMade* made, const char* section, const PawlYaml* like,
                        const PawlPartName* of) {
  PawlYaml* list = section_of(made, section, PAWL_YAML_LIST, like);
  PawlYaml *item = pawl_new_node(made->loader, PAWL_YAML_MAP, like), *outer = item;
  if (item && strchr(of->range, '=')) {
    int length = (int)strlen(of->range) - 2;
    PawlYaml* loop = pawl_new_node(made->loader, PAWL_YAML_MAP, like);
    PawlYaml* items =
        pawl_set_list(made, loop, like, pawl_say(made, "for %.*s", length, of->range + 1));
    if (!loop || !items) {
      return NULL;
    }
    append(made, items, item);
    outer = loop;
  }
  if (list && outer) {
    append(made, list, outer);
  }
  return item;
}

void pawl_put_each(PawlMade* made, const char* section, const PawlYaml* like,
                   const PawlPartName* of, const char* text) {
  size_t length = strlen(of->range);
  if (!strchr(of->range, '=')) {
    pawl_put_item(made, section, like, text);
    return;
  }
  PawlYaml* list = section_of(made, section, PAWL_YAML_LIST, like);
  PawlYaml* loop = pawl_new_node(made->loader, PAWL_YAML_MAP, like);
  if (list && loop) {
    pawl_set(made, loop, like, pawl_say(made, "for %.*s", (int)length - 2, of->range + 1), text);
    append(made, list, loop);
  }
}
