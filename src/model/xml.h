// SPDX-License-Identifier: Apache-2.0
// XML text as a tree of elements with their attributes, each with its place in the file. Text
// between elements, comments and instructions are passed over. Nothing outside the text is ever
// read, and a document type that declares something (entities that unfold into gigabytes, default
// attributes) is refused.
#pragma once

#include <stddef.h>

#include "model/pool.h"
#include "model/report.h"

#define PAWL_XML_MAX_ENTRIES 1000000  // elements and attributes in one file
#define PAWL_XML_MAX_NESTING 64       // elements inside each other

typedef struct PawlXmlAttribute {
  const char *name, *value;
  struct PawlXmlAttribute* next;
} PawlXmlAttribute;

typedef struct PawlXml {
  const char* name;
  int line, column;  // from 1, of its '<'
  PawlXmlAttribute* attributes;
  struct PawlXml *first, *next;
} PawlXml;

// The outermost element, in the pool. NULL after reporting why.
PawlXml* pawl_xml_parse(PawlPool* pool, const char* text, size_t length, PawlReport* report);

const char* pawl_xml_get(const PawlXml* element, const char* attribute);  // NULL without
// The first child of this name; the next one after `child`. NULL without.
const PawlXml* pawl_xml_child(const PawlXml* element, const char* name);
const PawlXml* pawl_xml_again(const PawlXml* child);
