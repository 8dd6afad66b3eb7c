// SPDX-License-Identifier: Apache-2.0
// Writing sections of a model: what bodies and joints are replaced by (mechanism.h). Texts live in
// the pool of the loader; where memory is short they are empty, which the loader's report knows.
#pragma once

#include "model/loader.h"

typedef struct PawlMade {
  PawlLoader* loader;
  PawlYaml* root;  // the sections written so far
  struct {
    PawlYaml *of, *last;
  } ends[24];      // the last entries of those that have become long
  int dimension;   // of all places: 2 in the plane, 3 in space; 0: not known yet
  bool by_joints;  // coordinates: joint was asked for
  bool demanded;   // all demands of numbers have been made: pictures read shapes again
} PawlMade;

PAWL_PRINTF(2, 3) const char* pawl_say(PawlMade* made, const char* format, ...);

// ---- what the user wrote ----------------------------------------------------------------------

// The text of an expression: a scalar, or the numbers of a vector or rows of a matrix, "[1, 0]".
// NULL after reporting what is neither; `what` says what was expected.
const char* pawl_part_text(PawlMade* made, const PawlYaml* node, const char* what);
// A vector with as many numbers as places have; the first one that is met decides on that.
const char* pawl_part_vector(PawlMade* made, const PawlYaml* node, const char* what);
// A rotation in space: an expression, or {zyx: [a, b, c]}.
const char* pawl_part_rotation(PawlMade* made, const PawlYaml* node, const char* what);
// The text in parentheses, where it needs them to be a factor.
const char* pawl_factor(PawlMade* made, const char* text);
// The sum of those that are not NULL; `minus` is subtracted. NULL when nothing is left.
const char* pawl_sum(PawlMade* made, const char* a, const char* b, const char* c,
                     const char* minus);
// a*b, either of which may be NULL, a matrix that is one.
const char* pawl_product(PawlMade* made, const char* a, const char* b);
// The component k of a vector, 0 to 2; that of NULL is NULL.
const char* pawl_component(PawlMade* made, const char* vector, int k);
bool pawl_part_is_true(PawlMade* made, const PawlYaml* map, const char* key);
// `key` of a map that is one and has something there; NULL without.
PawlYaml* pawl_part_get(const PawlYaml* map, const char* key);

// A name with indices as it is declared, "link[i=1..N]": "link", "[i=1..N]" and "[i]".
typedef struct PawlPartName {
  const char *name, *range, *index;
} PawlPartName;
// False after reporting a key that is no name.
bool pawl_part_name(PawlMade* made, const PawlYaml* key, PawlPartName* out);
// "link.tip[i=1..N]", a key; "link[i].tip", its use.
const char* pawl_part_key(PawlMade* made, const PawlPartName* name, const char* part);
const char* pawl_part_use(PawlMade* made, const PawlPartName* name, const char* part);

// ---- what is written --------------------------------------------------------------------------

// `key: text` in a section; `like` is the place for messages.
void pawl_put(PawlMade* made, const char* section, const PawlYaml* like, const char* key,
              const char* text);
// `key:` with a map, or a list; NULL when memory is short.
PawlYaml* pawl_put_map(PawlMade* made, const char* section, const PawlYaml* like, const char* key);
void pawl_put_item(PawlMade* made, const char* section, const PawlYaml* like, const char* text);
// The same for each element of a family: `for i=1..N: text`.
void pawl_put_each(PawlMade* made, const char* section, const PawlYaml* like,
                   const PawlPartName* of, const char* text);
// A map as an item of a section, in a loop where `of` is a family; NULL when memory is short.
PawlYaml* pawl_put_node(PawlMade* made, const char* section, const PawlYaml* like,
                        const PawlPartName* of);
PawlYaml* pawl_set_map(PawlMade* made, PawlYaml* map, const PawlYaml* like, const char* key);
// Entries of a map (may be NULL) and items of a list; a text that is NULL is left out.
void pawl_set(PawlMade* made, PawlYaml* map, const PawlYaml* like, const char* key,
              const char* text);
void pawl_set_node(PawlMade* made, PawlYaml* map, const char* key, const PawlYaml* node);
PawlYaml* pawl_set_list(PawlMade* made, PawlYaml* map, const PawlYaml* like, const char* key);
void pawl_add_item(PawlMade* made, PawlYaml* list, const PawlYaml* like, const char* text);
