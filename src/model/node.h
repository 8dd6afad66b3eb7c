// SPDX-License-Identifier: Apache-2.0
// A node of the tree that YAML text becomes (yaml.h), with its place in the file.
#pragma once

#include <stdbool.h>

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
  // NULL, or the file of the element type that the node comes from, and its place there; line and
  // column are then those of the use.
  const char* file;
  int file_line, file_column;
  bool outside;  // the user's value for a parameter of an element type, until it is renamed
  bool judged;   // of a robot, which is judged by itself (urdf_judge.c)
  int count;     // LIST, MAP: children
  struct PawlYaml* first;
  struct PawlYaml* next;      // in the list or map that holds this node
  struct PawlYaml* key;       // its key when a map holds it
  struct PawlParsed* parsed;  // the text as an expression or a key, once it has been parsed
  const char* kept;           // the copy of `text` that outlives the tree, once it was needed
} PawlYaml;
