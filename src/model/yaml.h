// SPDX-License-Identifier: Apache-2.0
// YAML text as a tree of scalars, lists and maps, each with its place in the file. Only plain data
// is accepted: one document, no anchors, aliases or tags, scalar keys, no key twice.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/pool.h"
#include "model/report.h"

#define PAWL_MODEL_MAX_ENTRIES 1000000  // scalars, lists and maps in one file

typedef enum PawlYamlKind { PAWL_YAML_SCALAR, PAWL_YAML_LIST, PAWL_YAML_MAP } PawlYamlKind;

typedef struct PawlYaml {
  PawlYamlKind kind;
  int line, column;  // from 1; the column counts characters
  // SCALAR: columns from `column` to the first character of the text (1 behind a quote); -1 when
  // the text in memory is not the text in the file (several lines, escapes).
  int shift;
  bool plain;          // SCALAR: written without quotes
  int length;          // SCALAR: bytes of text
  const char* text;    // SCALAR: terminated, no zero inside
  const char* origin;  // NULL, or where a text from outside the file was written
  int count;           // LIST, MAP: children
  struct PawlYaml* first;
  struct PawlYaml* next;      // in the list or map that holds this node
  struct PawlYaml* key;       // its key when a map holds it
  struct PawlParsed* parsed;  // the text as an expression or a key, once it has been parsed
  const char* kept;           // the copy of `text` that outlives the tree, once it was needed
} PawlYaml;

// NULL after reporting why. The tree lives in the pool.
PawlYaml* pawl_yaml_parse(PawlPool* pool, const char* text, size_t length, PawlReport* report);

bool pawl_yaml_is_null(const PawlYaml* node);                   // nothing, ~ or null
PawlYaml* pawl_yaml_get(const PawlYaml* map, const char* key);  // NULL without

// Reports every key of `map` that is not among `known` (ended by NULL). `what` says whose keys they
// are, e.g. "a lock".
bool pawl_yaml_check_keys(PawlReport* report, const PawlYaml* map, const char* what,
                          const char* const* known);

// Added to a message when YAML may have cut an expression apart.
#define PAWL_YAML_FLOW_HINT "; quote expressions that contain , [ ] { } inside { } or [ ]"
