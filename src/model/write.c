// SPDX-License-Identifier: Apache-2.0
#include "model/write.h"

#include <string.h>

typedef struct Writer {
  PawlOnText on_text;
  void* context;
} Writer;

static void put(const Writer* w, const char* text) {
  w->on_text(w->context, text, strlen(text));
}

static void indent(const Writer* w, int depth) {
  for (int k = 0; k < depth; k++) {
    put(w, "  ");
  }
}

static bool is_number(const char* s) {
  return strchr("0123456789", s[0] == '-' || s[0] == '.' ? s[1] : s[0]) && s[0] &&
         s[strspn(s, "0123456789.eE+-")] == '\0';
}

// Text that means itself in block style. An empty or null-like text is plain only where it was.
static bool is_plain(const PawlYaml* node) {
  static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_(.";
  const char* s = node->text;
  if (node->plain && is_number(s)) {
    return true;
  }
  if (!node->plain || (s[0] && !strchr(first, s[0])) || strstr(s, ": ") || strstr(s, " #")) {
    return false;
  }
  for (const char* c = s; *c; c++) {
    if ((unsigned char)*c < 0x20 || (*c == ':' && !c[1])) {
      return false;
    }
  }
  size_t length = strlen(s);
  return length == 0 || s[length - 1] != ' ';
}

static void put_scalar(const Writer* w, const PawlYaml* node) {
  if (is_plain(node)) {
    put(w, node->text);
    return;
  }
  put(w, "\"");
  for (const char* c = node->text; *c; c++) {
    if (*c == '\n' || *c == '\t' || *c == '\r') {
      put(w, *c == '\n' ? "\\n" : *c == '\t' ? "\\t" : "\\r");
      continue;
    }
    if (*c == '"' || *c == '\\') {
      put(w, "\\");
    }
    w->on_text(w->context, c, 1);
  }
  put(w, "\"");
}

static void put_node(const Writer* w, const PawlYaml* node, int depth);

static bool is_name(const char* s) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  return s[0] && s[strspn(s, letters)] == '\0';
}

// Numbers and names stand in one line.
static bool is_short(const PawlYaml* list) {
  bool good = list->kind == PAWL_YAML_LIST;
  for (const PawlYaml* item = list->first; item && good; item = item->next) {
    good = item->kind == PAWL_YAML_SCALAR && item->plain &&
           (is_number(item->text) || is_name(item->text));
  }
  return good;
}

static void put_short(const Writer* w, const PawlYaml* list) {
  put(w, " [");
  for (const PawlYaml* item = list->first; item; item = item->next) {
    put(w, item->text);
    put(w, item->next ? ", " : "]\n");
  }
}

// What stands behind "key:" or "-".
static void put_value(const Writer* w, const PawlYaml* node, int depth) {
  if (node->kind == PAWL_YAML_SCALAR) {
    put(w, node->length > 0 || !node->plain ? " " : "");
    put_scalar(w, node);
    put(w, "\n");
  } else if (node->count == 0) {
    put(w, node->kind == PAWL_YAML_LIST ? " []\n" : " {}\n");
  } else if (is_short(node)) {
    put_short(w, node);
  } else {
    put(w, "\n");
    put_node(w, node, depth);
  }
}

// Depth: that of the tree, PAWL_MODEL_MAX_NESTING.
static void put_node(const Writer* w, const PawlYaml* node, int depth) {
  for (const PawlYaml* child = node->first; child; child = child->next) {
    indent(w, depth);
    if (node->kind == PAWL_YAML_MAP) {
      put_scalar(w, child->key);
      put(w, ":");
    } else {
      put(w, "-");
    }
    put_value(w, child, depth + 1);
  }
}

void pawl_write_tree(const PawlYaml* root, PawlOnText on_text, void* context) {
  Writer w = {on_text, context};
  put_node(&w, root, 0);
}
