// SPDX-License-Identifier: Apache-2.0
#include "model/write.h"

#include <stdio.h>
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
  char first = s[0] == '-' || s[0] == '.' ? s[1] : s[0];
  return first >= '0' && first <= '9' && s[strspn(s, "0123456789.eE+-")] == '\0';
}

// Bytes of the character at `s` where YAML ends a line at it or does not read it, else 0: those
// below U+0020, from U+007F to U+009F, U+2028, U+2029, U+FEFF, U+FFFE and U+FFFF.
static int unreadable_bytes(const unsigned char* s) {
  bool two = s[0] == 0xC2 && s[1] < 0xA0, ends = s[0] == 0xE2 && s[1] == 0x80 && (s[2] | 1) == 0xA9;
  bool mark = s[0] == 0xEF && s[1] == 0xBB && s[2] == 0xBF;
  bool none = s[0] == 0xEF && s[1] == 0xBF && s[2] >= 0xBE;
  return s[0] < 0x20 || s[0] == 0x7F ? 1 : two ? 2 : ends || mark || none ? 3 : 0;
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
    if (unreadable_bytes((const unsigned char*)c) > 0 || (*c == ':' && !c[1])) {
      return false;
    }
  }
  size_t length = strlen(s);
  return length == 0 || s[length - 1] != ' ';
}

static void put_escaped(const Writer* w, const unsigned char* s, int bytes) {
  char escape[8];
  unsigned code = bytes == 1 ? s[0] : bytes == 2 ? s[0] & 0x1Fu : s[0] & 0x0Fu;
  for (int k = 1; k < bytes; k++) {
    code = code << 6 | (s[k] & 0x3Fu);
  }
  snprintf(escape, sizeof escape, "\\u%04X", code & 0xFFFFu);
  put(w, escape);
}

// One character inside of double quotes; its bytes.
static int put_quoted(const Writer* w, const char* c) {
  int unreadable = unreadable_bytes((const unsigned char*)c);
  if (*c == '\n' || *c == '\t' || *c == '\r') {
    put(w, *c == '\n' ? "\\n" : *c == '\t' ? "\\t" : "\\r");
    return 1;
  }
  if (unreadable > 0) {
    put_escaped(w, (const unsigned char*)c, unreadable);
    return unreadable;
  }
  put(w, *c == '"' || *c == '\\' ? "\\" : "");
  w->on_text(w->context, c, 1);
  return 1;
}

static void put_scalar(const Writer* w, const PawlYaml* node) {
  if (is_plain(node)) {
    put(w, node->text);
    return;
  }
  put(w, "\"");
  for (const char* c = node->text; *c; c += put_quoted(w, c)) {
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
