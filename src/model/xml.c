// SPDX-License-Identifier: Apache-2.0
// The wrapper of expat: its calls become our tree. Nothing here knows what a robot is.
#include "model/xml.h"

#include <expat.h>
#include <string.h>

#include "base/alloc.h"

typedef struct Open {  // an element whose end has not been read
  PawlXml *element, *last;
} Open;

typedef struct Builder {
  XML_Parser parser;
  PawlPool* pool;
  PawlReport* report;
  PawlXml* root;
  int entries, depth;
  bool stopped;  // reported already
  Open open[PAWL_XML_MAX_NESTING];
} Builder;

// ---- memory -------------------------------------------------------------------------------------

static void* take(size_t size) {
  return pawl_alloc(1, size);
}

static void* resize(void* old, size_t size) {
  return pawl_realloc(old, 1, size);
}

// ---- the tree -----------------------------------------------------------------------------------

static int line_of(const Builder* b) {
  return (int)XML_GetCurrentLineNumber(b->parser);
}

static int column_of(const Builder* b) {
  return (int)XML_GetCurrentColumnNumber(b->parser) + 1;
}

static void stop(Builder* b) {
  b->stopped = true;
  XML_StopParser(b->parser, XML_FALSE);
}

static void stop_without_memory(Builder* b) {
  b->report->no_memory = true;
  stop(b);
}

static bool count_entry(Builder* b) {
  if (++b->entries <= PAWL_XML_MAX_ENTRIES) {
    return true;
  }
  pawl_report_at(b->report, line_of(b), column_of(b),
                 "the file has more than %d elements and attributes", PAWL_XML_MAX_ENTRIES);
  stop(b);
  return false;
}

static bool add_attributes(Builder* b, PawlXml* element, const XML_Char** pairs) {
  PawlXmlAttribute** end = &element->attributes;
  for (; pairs[0]; pairs += 2, end = &(*end)->next) {
    if (!count_entry(b)) {
      return false;
    }
    PawlXmlAttribute* a = pawl_pool_alloc(b->pool, sizeof *a);
    bool good = a && (a->name = pawl_pool_copy(b->pool, pairs[0], strlen(pairs[0]))) &&
                (a->value = pawl_pool_copy(b->pool, pairs[1], strlen(pairs[1])));
    if (!good) {
      stop_without_memory(b);
      return false;
    }
    *end = a;
  }
  return true;
}

static void attach(Builder* b, PawlXml* element) {
  if (b->depth == 0) {
    b->root = element;
    return;
  }
  Open* parent = &b->open[b->depth - 1];
  *(parent->last ? &parent->last->next : &parent->element->first) = element;
  parent->last = element;
}

static void XMLCALL begin_element(void* context, const XML_Char* name, const XML_Char** pairs) {
  Builder* b = context;
  if (b->stopped || !count_entry(b)) {
    return;
  }
  if (b->depth == PAWL_XML_MAX_NESTING) {
    pawl_report_at(b->report, line_of(b), column_of(b), "elements are nested more than %d deep",
                   PAWL_XML_MAX_NESTING);
    stop(b);
    return;
  }
  PawlXml* element = pawl_pool_alloc(b->pool, sizeof *element);
  if (!element || !(element->name = pawl_pool_copy(b->pool, name, strlen(name)))) {
    stop_without_memory(b);
    return;
  }
  element->line = line_of(b);
  element->column = column_of(b);
  if (add_attributes(b, element, pairs)) {
    attach(b, element);
    b->open[b->depth++] = (Open){element, NULL};
  }
}

static void XMLCALL end_element(void* context, const XML_Char* name) {
  Builder* b = context;
  (void)name;
  b->depth -= !b->stopped;
}

static void XMLCALL begin_doctype(void* context, const XML_Char* name, const XML_Char* system,
                                  const XML_Char* public, int declares) {
  Builder* b = context;
  (void)name, (void)system, (void)public;
  if (declares) {
    pawl_report_at(b->report, line_of(b), column_of(b),
                   "the document type declares entities or the like, which are not read");
    stop(b);
  }
}

// ---- parsing ------------------------------------------------------------------------------------

static void report_failure(Builder* b) {
  enum XML_Error code = XML_GetErrorCode(b->parser);
  if (b->stopped) {
    return;
  }
  if (code == XML_ERROR_NO_MEMORY) {
    b->report->no_memory = true;
    return;
  }
  pawl_report_at(b->report, line_of(b), column_of(b), "this is not XML: %s", XML_ErrorString(code));
}

PawlXml* pawl_xml_parse(PawlPool* pool, const char* text, size_t length, PawlReport* report) {
  const XML_Memory_Handling_Suite memory = {take, resize, pawl_free};
  Builder b = {.pool = pool, .report = report};
  b.parser = XML_ParserCreate_MM(NULL, &memory, NULL);
  if (!b.parser) {
    report->no_memory = true;
    return NULL;
  }
  XML_SetUserData(b.parser, &b);
  XML_SetElementHandler(b.parser, begin_element, end_element);
  XML_SetStartDoctypeDeclHandler(b.parser, begin_doctype);
  bool good = XML_Parse(b.parser, text, (int)length, XML_TRUE) == XML_STATUS_OK;
  if (!good) {
    report_failure(&b);
  }
  XML_ParserFree(b.parser);
  return good ? b.root : NULL;
}

// ---- looking ------------------------------------------------------------------------------------

const char* pawl_xml_get(const PawlXml* element, const char* attribute) {
  for (const PawlXmlAttribute* a = element->attributes; a; a = a->next) {
    if (strcmp(a->name, attribute) == 0) {
      return a->value;
    }
  }
  return NULL;
}

static const PawlXml* find(const PawlXml* from, const char* name) {
  while (from && strcmp(from->name, name) != 0) {
    from = from->next;
  }
  return from;
}

const PawlXml* pawl_xml_child(const PawlXml* element, const char* name) {
  return find(element->first, name);
}

const PawlXml* pawl_xml_again(const PawlXml* child) {
  return find(child->next, child->name);
}
