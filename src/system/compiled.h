// SPDX-License-Identifier: Apache-2.0
// The programs of a system, and its small linear systems, as C, compiled while they are being
// interpreted, with the same bits.
//
// Every evaluation tells its programs when it is made, and every stepper its linear system.
// pawl_system_compile prints those that are there as one text; when it is compiled, each evaluation
// takes its functions before its next run, in its own thread, so that nothing changes under one
// that is under way.
#pragma once

#include <stdatomic.h>

#include "linalg/kkt_source.h"
#include "system/program.h"

typedef void PawlCompiledFunction(void);

typedef struct PawlCompiled PawlCompiled;

// Under the lock of the system. 0, or -1 when memory is short.
int pawl_compiled_add(PawlCompiled* compiled, PawlProgram* program);
void pawl_compiled_remove(PawlCompiled* compiled, PawlProgram* program);
// The functions of a program that is there, and of how many of its phases; NULL without.
PawlCompiledFunction* const* pawl_compiled_functions(const PawlCompiled* compiled,
                                                     const PawlProgram* program, int* phases);

// The same of a linear system, for the sets of rows that it has met; its place in the list, or -1.
int pawl_compiled_add_kkt(PawlCompiled* compiled, const PawlKkt* kkt);
void pawl_compiled_remove_kkt(PawlCompiled* compiled, int place);
// Gives it the functions that there are.
void pawl_compiled_adopt_kkt(const PawlCompiled* compiled, int place, PawlKkt* kkt);

// Whether phases or sets of rows were met for which there are no functions, since they were asked
// for last: pawl_system_compile has something to do. Takes the lock of the system.
bool pawl_compiled_is_behind(const PawlSystem* system);

// Compiles what there is and waits for it; `stop` may be NULL, or a number that ends it when it is
// not 0 any more: PAWL_STOPPED.
PAWL_CHECKED PawlStatus pawl_compiled_make(const PawlSystem* system, const volatile int* stop,
                                           PawlError* err);

// Grows whenever there are functions for more programs.
const atomic_int* pawl_compiled_generation(const PawlCompiled* compiled);
