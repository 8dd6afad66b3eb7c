// SPDX-License-Identifier: Apache-2.0
// One expression being built, for the files of expression.c alone.
#pragma once

#include <stdio.h>
#include <string.h>

#include "expr/recipe.h"
#include "model/expression.h"

enum { MOST_UNKNOWN = 8 };  // names of one expression that are reported

// One expression being built.
typedef struct PawlBuild {
  PawlLoader* loader;
  const PawlScope* scope;
  const PawlUse* use;
  bool numbers;          // parameters are taken by value
  bool silent;           // it failed because of something reported before
  unsigned contains;     // PAWL_MAY_... so far
  const PawlYaml* text;  // the scalar that is built
  int unknown_count;     // unknown names, each reported when it is met
  const char* unknown[MOST_UNKNOWN];
  PawlScope inner;                 // the scope with the indices of sums around the present place
  const PawlUserFunction* inside;  // the function whose body is being built; NULL: none
  const PawlMatrix* arguments;     // of its call
  int depth;                       // of functions inside functions
  int index[PAWL_MAX_INDICES];     // of the name that is asked for, known without the graph
} PawlBuild;

// Fills the error with a message about a part of the text; gives PAWL_NO_NODE.
#define PAWL_REFUSE(error, ast, ...) \
  pawl_build_refuse((error), (ast), snprintf((error)->message, sizeof(error)->message, __VA_ARGS__))

PawlNode pawl_build_refuse(PawlExprError* error, const PawlAst* ast, int length);
// Fails because of something that was reported before.
PawlNode pawl_build_silent(PawlBuild* build, PawlExprError* error, const PawlAst* ast);
// Notes that the expression contains `kinds`; false with a message when it may not.
bool pawl_build_admit(PawlBuild* build, const PawlAst* ast, unsigned kinds, PawlExprError* error);
// Reports the name and goes on with time in its place, so that all unknown names are found.
PawlMatrix pawl_build_unknown(PawlBuild* build, PawlDag* dag, const PawlAst* ast,
                              PawlExprError* error);

// The meanings of names, multipliers and calls, for pawl_ast_build.
PawlResolver pawl_build_resolver(PawlBuild* build);
PawlNode pawl_build_multiplier(void* context, PawlDag* dag, const PawlAst* call,
                               PawlExprError* error);
PawlMatrix pawl_build_call(void* context, PawlDag* dag, const PawlAst* call, const PawlMatrix* args,
                           PawlExprError* error);

// The number of a tree that needs no graph: of indices, and of parameters where these are taken by
// value.
bool pawl_build_number(PawlBuild* build, const PawlAst* ast, double* value);

// ---- the members of a family (again.c) ----------------------------------------------------------
typedef struct PawlAgain PawlAgain;
typedef struct PawlNotes PawlNotes;
// The text for the indices of the scope, built as an earlier member was. 1: built; 0: no member was
// noted that this one is like; -1: reported.
int pawl_again(PawlBuild* build, PawlDag* dag, const PawlYaml* text, PawlParsed* parsed,
               PawlMatrix* out);
// Around the building of a text: what happens in between is noted.
void pawl_again_begin(PawlBuild* build, PawlDag* dag, const PawlParsed* parsed);
void pawl_again_end(PawlBuild* build, PawlDag* dag, PawlParsed* parsed, const PawlMatrix* what,
                    bool good);
// Around the making of the leaves of a name with indices.
void pawl_again_look(const PawlBuild* build, const PawlAst* ast, const PawlFamily* family,
                     int element);
void pawl_again_looked(const PawlBuild* build);
void pawl_again_decided(const PawlBuild* build, const PawlAst* condition, bool holds);
// What is being built depends on more than elements and decisions.
void pawl_again_refuse(const PawlBuild* build);
void pawl_notes_destroy(PawlNotes* notes);
