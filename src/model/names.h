// SPDX-License-Identifier: Apache-2.0
// What a model's names stand for. A name is a family: `x` has one element, `u[i=0..N]` has one for
// each index. Families are found by hashing the name, elements by arithmetic on the indices.
#pragma once

#include <stdbool.h>

#include "base/text.h"
#include "expr/ast.h"
#include "model/pool.h"

struct PawlYaml;

typedef enum PawlNameKind {
  PAWL_NAME_PARAMETER,
  PAWL_NAME_COORDINATE,
  PAWL_NAME_ROTATION,  // and its parts
  PAWL_NAME_DEFINITION,
  PAWL_NAME_STATE,
  PAWL_NAME_INPUT,
  PAWL_NAME_OUTPUT,
  PAWL_NAME_CONSTRAINT,
  PAWL_NAME_CONTACT,
  PAWL_NAME_EVENT,
  PAWL_NAME_FUNCTION,
  PAWL_NAME_TABLE,
} PawlNameKind;
const char* pawl_name_kind_text(PawlNameKind kind);  // "a coordinate"

// What a name of a rotation stands for: R, R.omega, R.q0 to R.q3.
enum {
  PAWL_ROTATION_MATRIX,
  PAWL_ROTATION_OMEGA,
  PAWL_ROTATION_QUATERNION,
  PAWL_ROTATION_PARTS = 6
};

typedef struct PawlFamily {
  const char* name;
  PawlNameKind kind;
  const struct PawlYaml* where;  // its first key
  int part;                      // ROTATION: PAWL_ROTATION_...
  bool failed;                   // its declaration was wrong and reported: stay silent about uses
  int dimension;                 // indices, 0 for a plain name
  // The elements lie in a box of indices, the last index running fastest. `cells` holds the
  // element's number in its section, -1 where the box has no element.
  int low[PAWL_MAX_INDICES], high[PAWL_MAX_INDICES];
  int cell_count;
  int* cells;
  struct PawlFamily* chain;  // same hash
  struct PawlFamily* next;   // in the order of declaration
} PawlFamily;

typedef struct PawlNames {  // all zero is empty
  PawlFamily** buckets;
  int bucket_count, count;
  PawlFamily *first, *last;
} PawlNames;

PawlFamily* pawl_names_find(const PawlNames* names, const char* name);  // NULL: unknown
// Adds a name that is not there yet; NULL when memory is short. `name` must outlive the table.
PawlFamily* pawl_names_add(PawlNames* names, PawlPool* pool, const char* name);
void pawl_names_offer(const PawlNames* names, PawlNearest* nearest);  // every name
void pawl_names_free(PawlNames* names);  // the families belong to their pool

// Widens the box to hold `index`; false when it would pass PAWL_MODEL_MAX_FAMILY cells.
bool pawl_family_extend(PawlFamily* family, const int index[]);
// Makes the cells of the final box, all empty; false when memory is short.
bool pawl_family_fix(PawlFamily* family, PawlArena* arena);
// The cell of an index, NULL when it lies outside the box.
int* pawl_family_cell(const PawlFamily* family, const int index[]);

// "u", "u[3]", "a[1,2]"; NULL when memory is short.
const char* pawl_element_name(PawlPool* pool, const PawlFamily* family, const int index[]);
