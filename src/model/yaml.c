// SPDX-License-Identifier: Apache-2.0
// The wrapper of libyaml: its events become our tree. Nothing here knows what a model is.
//
// The depth of the tree is limited, so the open lists and maps fit a fixed stack, and every later
// walk over the tree may recurse.
#include "model/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/model.h"

typedef struct Open {  // a list or map whose end has not been read
  PawlYaml* node;
  PawlYaml* last;
  PawlYaml* key;  // a map's key that waits for its value
} Open;

typedef struct Builder {
  PawlPool* pool;
  PawlReport* report;
  PawlYaml* root;
  int documents, entries, depth;
  Open open[PAWL_MODEL_MAX_NESTING];
} Builder;

// ---- characters -----------------------------------------------------------------------------

// Bytes of the UTF-8 character at `s`, 0 when it is none. Surrogates and overlong forms are none.
static int character_length(const unsigned char* s, size_t left) {
  if (s[0] < 0x80) {
    return 1;
  }
  int length = s[0] >= 0xF0 && s[0] <= 0xF4   ? 4
               : s[0] >= 0xE0 && s[0] <= 0xEF ? 3
               : s[0] >= 0xC2 && s[0] <= 0xDF ? 2
                                              : 0;
  if (length == 0 || (size_t)length > left) {
    return 0;
  }
  for (int k = 1; k < length; k++) {
    if ((s[k] & 0xC0) != 0x80) {
      return 0;
    }
  }
  bool bad = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
             (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F);
  return bad ? 0 : length;
}

static bool check_characters(const char* text, size_t length, PawlReport* report) {
  int line = 1, column = 1;
  for (size_t k = 0; k < length;) {
    const unsigned char* s = (const unsigned char*)text + k;
    int bytes = character_length(s, length - k);
    bool control = s[0] < 0x20 && s[0] != '\t' && s[0] != '\n' && s[0] != '\r';
    if (bytes == 0 || control || s[0] == 0x7F) {
      pawl_report_at(report, line, column, "byte 0x%02X is not text; expected a YAML file in UTF-8",
                     (unsigned)s[0]);
      return false;
    }
    column++;
    if (s[0] == '\n') {
      line++;
      column = 1;
    }
    k += (size_t)bytes;
  }
  return true;
}

// ---- the tree -------------------------------------------------------------------------------

static PawlYaml* new_node(Builder* b, PawlYamlKind kind, const yaml_event_t* event) {
  int line = (int)event->start_mark.line + 1, column = (int)event->start_mark.column + 1;
  if (++b->entries > PAWL_MODEL_MAX_ENTRIES) {
    pawl_report_at(b->report, line, column, "the file has more than %d entries",
                   PAWL_MODEL_MAX_ENTRIES);
    return NULL;
  }
  PawlYaml* node = pawl_pool_alloc(b->pool, sizeof *node);
  if (!node) {
    b->report->no_memory = true;
    return NULL;
  }
  node->kind = kind;
  node->line = line;
  node->column = column;
  return node;
}

// Hangs a node into the innermost open list or map.
static bool attach(Builder* b, PawlYaml* node) {
  if (b->depth == 0) {
    b->root = node;
    return true;
  }
  Open* parent = &b->open[b->depth - 1];
  if (parent->node->kind == PAWL_YAML_MAP) {
    if (!parent->key) {
      if (node->kind != PAWL_YAML_SCALAR) {
        pawl_report(b->report, node, "a key must be text, not a list or a map" PAWL_YAML_FLOW_HINT);
        return false;
      }
      parent->key = node;
      return true;
    }
    node->key = parent->key;
    parent->key = NULL;
  }
  if (parent->last) {
    parent->last->next = node;
  } else {
    parent->node->first = node;
  }
  parent->last = node;
  parent->node->count++;
  return true;
}

static bool no_tag(Builder* b, const yaml_event_t* event, const yaml_char_t* anchor,
                   const yaml_char_t* tag) {
  if (anchor || tag) {
    pawl_report_at(b->report, (int)event->start_mark.line + 1, (int)event->start_mark.column + 1,
                   "YAML %s are not supported; an expression that begins with %s must be quoted",
                   anchor ? "anchors (&name)" : "tags (!name)", anchor ? "&" : "!");
  }
  return true;  // reported, and the text can still be read on
}

static int characters(const char* text, size_t length) {
  int count = 0;
  for (size_t k = 0; k < length; k++) {
    count += ((unsigned char)text[k] & 0xC0) != 0x80;
  }
  return count;
}

static bool add_scalar(Builder* b, const yaml_event_t* event) {
  const char* text = (const char*)event->data.scalar.value;
  size_t length = event->data.scalar.length;
  PawlYaml* node = new_node(b, PAWL_YAML_SCALAR, event);
  if (!node) {
    return false;
  }
  if (memchr(text, '\0', length)) {  // "\0" in double quotes
    pawl_report(b->report, node, "the text contains a zero byte");
    length = strlen(text);
  }
  node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
  node->length = (int)length;
  node->text = pawl_pool_copy(b->pool, text, length);
  int quotes = node->plain ? 0 : 2;
  int width = (int)event->end_mark.column - (int)event->start_mark.column;
  bool same =
      event->start_mark.line == event->end_mark.line && width == characters(text, length) + quotes;
  node->shift = same ? quotes / 2 : -1;
  if (!node->text) {
    b->report->no_memory = true;
    return false;
  }
  return no_tag(b, event, event->data.scalar.anchor, event->data.scalar.tag) && attach(b, node);
}

static bool open_node(Builder* b, PawlYamlKind kind, const yaml_event_t* event) {
  PawlYaml* node = new_node(b, kind, event);
  if (!node || !attach(b, node)) {
    return false;
  }
  if (b->depth == PAWL_MODEL_MAX_NESTING) {
    pawl_report(b->report, node, "maps and lists are nested more than %d deep",
                PAWL_MODEL_MAX_NESTING);
    return false;
  }
  b->open[b->depth++] = (Open){.node = node};
  return true;
}

static int by_key(const void* a, const void* b) {
  const PawlYaml *one = *(PawlYaml*const*)a, *two = *(PawlYaml*const*)b;
  int order = strcmp(one->text, two->text);
  if (order == 0) {
    order = one->line != two->line ? (one->line < two->line ? -1 : 1)
                                   : (one->column > two->column) - (one->column < two->column);
  }
  return order;
}

// Sorting keeps the check fast for a map of any size.
static bool check_duplicates(Builder* b, const PawlYaml* map) {
  if (map->count < 2) {
    return true;
  }
  PawlYaml** keys = pawl_alloc((size_t)map->count, sizeof *keys);
  if (!keys) {
    b->report->no_memory = true;
    return false;
  }
  int count = 0;
  for (PawlYaml* child = map->first; child; child = child->next) {
    keys[count++] = child->key;
  }
  qsort(keys, (size_t)count, sizeof *keys, by_key);
  for (int k = 1; k < count; k++) {
    if (strcmp(keys[k - 1]->text, keys[k]->text) == 0) {
      pawl_report(b->report, keys[k], "the key '%s' is given twice; first at line %d, column %d",
                  pawl_quote(keys[k]->text).s, keys[k - 1]->line, keys[k - 1]->column);
    }
  }
  pawl_free(keys);
  return true;
}

// ---- what commas have cut -------------------------------------------------------------------
// Inside { } and [ ] YAML ends a text at a comma: of {x: max(y, 0)} it makes the entries `x: max(y`
// and `0)`. Pieces whose parentheses close together are put together again: a value with a report
// that says what to do, a key, as of {f(a, b): ...}, without one.

static int open_brackets(const PawlYaml* text) {
  int open = 0;
  for (const char* c = text->text; *c; c++) {
    open += (*c == '(') - (*c == ')');
  }
  return open;
}

static bool is_piece(const PawlYaml* node) {
  return node->kind == PAWL_YAML_SCALAR && node->plain;
}

// The piece that an entry adds to a text that is open: its key without a value, or an item.
static PawlYaml* piece_of(PawlYaml* entry) {
  return entry->key ? (pawl_yaml_is_null(entry) ? entry->key : NULL) : entry;
}

static bool join(Builder* b, PawlYaml* text, const PawlYaml* piece) {
  char* joined = pawl_pool_alloc(b->pool, (size_t)text->length + (size_t)piece->length + 3);
  if (!joined) {
    b->report->no_memory = true;
    return false;
  }
  memcpy(joined, text->text, (size_t)text->length);
  memcpy(joined + text->length, ", ", 2);
  memcpy(joined + text->length + 2, piece->text, (size_t)piece->length + 1);
  text->text = joined;
  text->length += piece->length + 2;
  return true;
}

// The entry whose piece closes what `first` opens; NULL when there is none.
static PawlYaml* find_last(const PawlYaml* text, PawlYaml* first) {
  int open = open_brackets(text);
  for (PawlYaml* entry = first; entry; entry = entry->next) {
    const PawlYaml* piece = piece_of(entry);
    if (!piece || !is_piece(piece)) {
      return NULL;
    }
    open += open_brackets(piece);
    if (open <= 0) {
      return open == 0 ? entry : NULL;
    }
  }
  return NULL;
}

// A value and the entries behind it that are its rest.
static bool mend_value(Builder* b, PawlYaml* parent, PawlYaml* value) {
  PawlYaml* last =
      is_piece(value) && open_brackets(value) > 0 ? find_last(value, value->next) : NULL;
  if (!last) {
    return true;
  }
  for (PawlYaml* entry = value->next;; entry = entry->next) {
    if (!join(b, value, piece_of(entry))) {
      return false;
    }
    parent->count--;
    if (entry == last) {
      break;
    }
  }
  value->next = last->next;
  pawl_report(b->report, value,
              "inside { } or [ ] YAML cuts '%s' at its comma; put all of it in quotes: \"%.250s\"",
              pawl_quote(value->text).s, value->text);
  return true;
}

// A key without a value, and the one behind it that closes it and has the value.
static bool mend_key(Builder* b, PawlYaml* map, PawlYaml* entry) {
  while (entry->next && pawl_yaml_is_null(entry) && open_brackets(entry->key) > 0) {
    PawlYaml *rest = entry->next, *key = entry->key;
    if (!join(b, key, rest->key)) {
      return false;
    }
    *entry = *rest;
    entry->key = key;
    map->count--;
  }
  return true;
}

static bool mend(Builder* b, PawlYaml* parent) {
  for (PawlYaml* entry = parent->first; entry; entry = entry->next) {
    if ((entry->key && !mend_key(b, parent, entry)) || !mend_value(b, parent, entry)) {
      return false;
    }
  }
  return true;
}

static bool close_node(Builder* b) {
  PawlYaml* node = b->open[--b->depth].node;
  return mend(b, node) && (node->kind == PAWL_YAML_LIST || check_duplicates(b, node));
}

static bool begin_document(Builder* b, const yaml_event_t* event) {
  if (++b->documents > 1) {
    pawl_report_at(b->report, (int)event->start_mark.line + 1, (int)event->start_mark.column + 1,
                   "a second YAML document begins here; a file holds one model");
    return false;
  }
  return true;
}

static bool handle(Builder* b, const yaml_event_t* event) {
  switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
      return begin_document(b, event);
    case YAML_SCALAR_EVENT:
      return add_scalar(b, event);
    case YAML_SEQUENCE_START_EVENT:
      no_tag(b, event, event->data.sequence_start.anchor, event->data.sequence_start.tag);
      return open_node(b, PAWL_YAML_LIST, event);
    case YAML_MAPPING_START_EVENT:
      no_tag(b, event, event->data.mapping_start.anchor, event->data.mapping_start.tag);
      return open_node(b, PAWL_YAML_MAP, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      return close_node(b);
    case YAML_ALIAS_EVENT:
      pawl_report_at(b->report, (int)event->start_mark.line + 1, (int)event->start_mark.column + 1,
                     "YAML aliases (*name) are not supported; an expression that begins with * "
                     "must be quoted");
      return false;
    default:
      return true;
  }
}

// ---- parsing --------------------------------------------------------------------------------

// The byte of the text at a mark; marks count characters.
static size_t byte_at(const char* text, size_t length, size_t mark) {
  size_t byte = 0;
  for (; byte < length && mark > 0; mark--) {
    int bytes = character_length((const unsigned char*)text + byte, length - byte);
    byte += bytes > 0 ? (size_t)bytes : 1;
  }
  return byte;
}

static int depth_step(char c) {
  return (c == '(' || c == '[') - (c == ')' || c == ']');
}

// Where the entry of { } around a bracket begins: behind the last brace, colon or comma, not
// counting commas inside of brackets.
static size_t begin_of_entry(const char* text, size_t at) {
  size_t begin = at;
  while (begin > 0 && !strchr("{\r\n", text[begin - 1]) &&
         !(begin > 1 && text[begin - 1] == ' ' && text[begin - 2] == ':')) {
    begin--;
  }
  int depth = 0;
  for (size_t k = begin; k < at; k++) {
    depth += depth_step(text[k]);
    begin = depth == 0 && text[k] == ',' ? k + 1 : begin;
  }
  while (begin < at && text[begin] == ' ') {
    begin++;
  }
  return begin;
}

// The name or expression around a bracket, to be shown in quotes.
static PawlQuote piece_around(const char* text, size_t length, size_t at) {
  size_t begin = begin_of_entry(text, at), end = begin;
  for (int depth = 0; end < length && !strchr("\r\n", text[end]); end++) {
    bool colon = text[end] == ':' && end + 1 < length && strchr(" \t\r\n", text[end + 1]);
    if (depth <= 0 && (colon || text[end] == ',' || text[end] == '}')) {
      break;
    }
    depth += depth_step(text[end]);
  }
  while (end > begin && text[end - 1] == ' ') {
    end--;
  }
  return pawl_quote_part(text + begin, 0, (int)(end - begin));
}

// Mistakes of YAML that are made often, by what stands at the place. False: none of them.
static bool report_usual(const yaml_parser_t* parser, PawlReport* report, const char* text,
                         size_t length) {
  int line = (int)parser->problem_mark.line + 1, column = (int)parser->problem_mark.column + 1;
  size_t at = byte_at(text, length, parser->problem_mark.index);
  bool flow = parser->context && strstr(parser->context, "flow");
  if ((parser->problem && strstr(parser->problem, "tab")) || (at < length && text[at] == '\t')) {
    pawl_report_at(report, line, column,
                   "a tab indents this line, which YAML does not allow; use spaces instead");
    return true;
  }
  if (flow && at < length && text[at] == '[') {
    pawl_report_at(report, line, column,
                   "'[' inside { } begins a list for YAML; put the name or expression in quotes: "
                   "\"%s\"",
                   piece_around(text, length, at).s);
    return true;
  }
  return false;
}

static void report_syntax(const yaml_parser_t* parser, PawlReport* report, const char* text,
                          size_t length) {
  if (parser->error == YAML_MEMORY_ERROR) {
    report->no_memory = true;
    return;
  }
  if (report_usual(parser, report, text, length)) {
    return;
  }
  const char* problem = parser->problem ? parser->problem : "the text cannot be read";
  const char* context = parser->context ? parser->context : "";
  bool flow = strstr(context, "flow") != NULL;
  pawl_report_at(report, (int)parser->problem_mark.line + 1, (int)parser->problem_mark.column + 1,
                 "not valid YAML: %s%s%s%s", problem, *context ? " " : "", context,
                 flow ? PAWL_YAML_FLOW_HINT : "");
}

static bool read_events(Builder* b, yaml_parser_t* parser, const char* text, size_t length) {
  for (;;) {
    yaml_event_t event;
    if (!yaml_parser_parse(parser, &event)) {
      report_syntax(parser, b->report, text, length);
      return false;
    }
    bool end = event.type == YAML_STREAM_END_EVENT;
    bool good = handle(b, &event);
    yaml_event_delete(&event);
    if (end || !good) {
      return good;
    }
  }
}

PawlYaml* pawl_yaml_parse(PawlPool* pool, const char* text, size_t length, PawlReport* report) {
  if (!check_characters(text, length, report)) {
    return NULL;
  }
  yaml_parser_t parser;
  if (!yaml_parser_initialize(&parser)) {
    report->no_memory = true;
    return NULL;
  }
  yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser, (const unsigned char*)text, length);
  Builder builder = {.pool = pool, .report = report};
  bool good = read_events(&builder, &parser, text, length);
  yaml_parser_delete(&parser);
  if (good && !builder.root) {
    pawl_report_at(report, 1, 1,
                   "the file is empty; a model needs at least model: and "
                   "coordinates:");
  }
  return good ? builder.root : NULL;
}

// ---- reading --------------------------------------------------------------------------------

bool pawl_yaml_is_null(const PawlYaml* node) {
  return node->kind == PAWL_YAML_SCALAR && node->plain &&
         (node->length == 0 || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

PawlYaml* pawl_yaml_get(const PawlYaml* map, const char* key) {
  for (PawlYaml* child = map->first; child; child = child->next) {
    if (strcmp(child->key->text, key) == 0) {
      return child;
    }
  }
  return NULL;
}

static bool is_known(const char* key, const char* const* known) {
  for (; *known; known++) {
    if (strcmp(key, *known) == 0) {
      return true;
    }
  }
  return false;
}

// A piece of an expression that YAML cut at a comma stands as a key without a value.
static bool looks_cut(const PawlYaml* child) {
  return pawl_yaml_is_null(child) && strpbrk(child->key->text, "()[]+-*/^=<> ") != NULL;
}

static void report_unknown(PawlReport* report, const PawlYaml* child, const char* what,
                           const char* const* known) {
  enum { SHORT_LIST = 6 };  // beyond, a near name says more than all names
  PawlNearest nearest = {.wanted = child->key->text};
  PawlText list = {0};
  int count = 0;
  for (; known[count] && !pawl_report_is_full(report); count++) {
    pawl_nearest_offer(&nearest, known[count]);
    pawl_text_printf(&list, "%s%s", count > 0 ? ", " : "; expected one of ", known[count]);
  }
  bool show = list.s && (!nearest.name || count <= SHORT_LIST);
  pawl_report(report, child->key, "unknown key '%s' in %s%s%s%s", pawl_quote(child->key->text).s,
              what, show ? list.s : "", pawl_did_you_mean(nearest.name).s,
              looks_cut(child) ? PAWL_YAML_FLOW_HINT : "");
  report->no_memory |= list.failed;
  pawl_text_free(&list);
}

bool pawl_yaml_check_keys(PawlReport* report, const PawlYaml* map, const char* what,
                          const char* const* known) {
  bool good = true;
  for (const PawlYaml* child = map->first; child; child = child->next) {
    if (!is_known(child->key->text, known)) {
      report_unknown(report, child, what, known);
      good = false;
    }
  }
  return good;
}
