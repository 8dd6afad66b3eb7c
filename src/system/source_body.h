// SPDX-License-Identifier: Apache-2.0
// Expressions as C (source.c prints the functions around them): names for what a model calls its
// things, and the lines that compute a set of nodes.
#pragma once

#include "base/arena.h"
#include "base/text.h"
#include "system/symbols.h"

// Names of C for those of a model, each once. The value of a state is the rate of its entry.
typedef struct PawlCNames {
  const PawlModel* model;
  PawlArena arena;
  const char *prefix, *type, *upper;  // of functions, of types, of constants
  const char** parameters;
  const char **values, **rates, **accelerations;  // by entry of the coordinates of the model
  const char** quaternions;                       // four for each rotation
  const char** inputs;
  // While they are made:
  int used_count, used_capacity;
  const char** used;
  bool members;  // of a struct, which hide nothing
} PawlCNames;

// PAWL_ERROR_MEMORY; free what there is in any case.
PAWL_CHECKED PawlStatus pawl_c_names_make(PawlCNames* names, const PawlModel* model);
void pawl_c_names_free(PawlCNames* names);

void pawl_c_number(PawlText* out, double value);  // with a point or an exponent

typedef enum PawlCScope { PAWL_C_UNKNOWN, PAWL_C_OUTER, PAWL_C_INNER } PawlCScope;

// The body of one function.
typedef struct PawlCBody {
  const PawlCNames* names;
  PawlDag* dag;
  PawlText* out;
  int node_count;
  struct PawlCTerm* terms;  // by node
  int temporary_count;      // values with a name of their own
  bool* functions;          // by PawlOp: a helper is used; of the caller
  bool* tables;             // by table of the model: it is looked into; of the caller
  bool failed;              // memory
} PawlCBody;

PAWL_CHECKED PawlStatus pawl_c_body_begin(PawlCBody* body);  // names, dag, out and flags are set
void pawl_c_body_end(PawlCBody* body);
// Lines, indented by `indent` spaces, that name what these nodes read and share. What is declared
// in the inner scope is forgotten by pawl_c_body_leave.
void pawl_c_body_declare(PawlCBody* body, int count, const PawlNode* nodes, PawlCScope scope,
                         int indent);
const char* pawl_c_body_text(const PawlCBody* body, PawlNode node);  // of one that was declared
void pawl_c_body_leave(PawlCBody* body);

// The helpers that were used, as functions of C.
void pawl_c_helpers(PawlText* out, const bool* functions);
