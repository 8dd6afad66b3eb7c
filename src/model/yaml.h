// SPDX-License-Identifier: Apache-2.0
// YAML text as a tree of scalars, lists and maps, each with its place in the file. Only plain data
// is accepted: one document, no anchors, aliases or tags, scalar keys, no key twice.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/node.h"
#include "model/pool.h"
#include "model/report.h"

#define PAWL_MODEL_MAX_ENTRIES 1000000  // scalars, lists and maps in one file

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
