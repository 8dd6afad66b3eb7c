// SPDX-License-Identifier: Apache-2.0
// One expression being built, for the files of expression.c alone.
#pragma once

#include <stdio.h>
#include <string.h>

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
