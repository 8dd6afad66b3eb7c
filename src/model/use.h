// SPDX-License-Identifier: Apache-2.0
// `use:` and `include:`, a model inside a model. An element type is a model text with parameters; a
// use of it is that text with its own names behind a prefix, its parameters set, and its sections
// added to those of the model. This happens on the tree of the text, before anything of it is
// understood, so that the loader and everything after it see an ordinary model.
#pragma once

#include "model/loader.h"

// The element types that come with pawl, from models/elements; ends with a NULL name.
typedef struct PawlElementText {
  const char *name, *text;
  size_t length;
} PawlElementText;
extern const PawlElementText pawl_element_texts[];

// Replaces `use:` and `elements:` of the tree by what they stand for, and parameters that are lists
// or choices by numbers. `file` is the path of the text, from which paths in it start. False after
// reporting; what could be expanded is.
bool pawl_expand_uses(PawlLoader* loader, PawlYaml* root, const char* file);

// Makes an expanded tree one that can be written as a text and read again: no key twice, and files
// of tables as seen from `file`. False when memory is short.
bool pawl_unite_keys(PawlLoader* loader, PawlYaml* root, const char* file);

extern const char* const pawl_section_keys[];  // of a model; ends with NULL

// `path` as seen from the folder of `file`; NULL when memory is short.
char* pawl_path_beside(PawlLoader* loader, const char* file, const char* path);

// ---- inside -------------------------------------------------------------------------------------

// The sections that an element type may have; its others (`about`, `simulate`) concern it alone.
extern const char* const pawl_named_sections[];  // maps of names; ends with NULL
extern const char* const pawl_item_sections[];   // lists of items

// Puts `prefix_` (NULL: nothing) before every name that the tree declares, where it is declared and
// where it is used, and gives its nodes the place of `use`, noting the place in `file` where they
// were written.
bool pawl_rename(PawlLoader* loader, PawlYaml* root, const char* prefix, const PawlYaml* use,
                 const char* file);
// Before the sections of an included file are added: what the model says of a body or joint of the
// file goes into its entry there.
void pawl_overlay_parts(PawlYaml* root, PawlYaml* from);
// Sets the parameters of the tree by the arguments of `use` (NULL: none).
bool pawl_set_arguments(PawlLoader* loader, PawlYaml* root, const PawlYaml* use, const char* type);

// New nodes in the place of `like`; NULL when memory is short.
PawlYaml* pawl_new_node(PawlLoader* loader, PawlYamlKind kind, const PawlYaml* like);
PawlYaml* pawl_new_scalar(PawlLoader* loader, const char* text, const PawlYaml* like);
PawlYaml* pawl_clone_node(PawlLoader* loader, const PawlYaml* node);
void pawl_append(PawlYaml* parent, PawlYaml* child);

// Adds the sections of `from` to those of `root`, before what is there or behind it. False when
// memory is short. And takes one away.
bool pawl_add_sections(PawlLoader* loader, PawlYaml* root, PawlYaml* from, bool first);
void pawl_drop_section(PawlYaml* map, const char* key);
