// SPDX-License-Identifier: Apache-2.0
// What only the files that build expressions share.
#pragma once

#include "model/loader.h"

// The parsed text (as an equation or an expression), NULL when that failed now or before.
PawlParsed* pawl_parse_record(PawlLoader* loader, PawlYaml* text, const PawlScope* scope,
                              bool equation);

// The parsed text as it is written, nothing of its structure folded.
PawlParsed* pawl_parse_plain(PawlLoader* loader, PawlYaml* text);
// Parameters inside an index, a bound of a range, the row of a multiplier, or a condition that only
// parameters and indices decide become numbers: they shape the model.
void pawl_fold_structure(const PawlLoader* loader, const PawlScope* scope, PawlAst* ast);

// The first use of t in a tree; NULL without.
const PawlAst* pawl_find_time(const PawlAst* ast);

// The number of an element, -1 when there is none; and the words for why there is none.
int pawl_family_element(const PawlFamily* family, int dimension, const int index[]);
void pawl_family_missing(const PawlFamily* family, int dimension, const int index[], char* text,
                         size_t size);
bool pawl_to_whole(double value, int* whole);  // false when it is none, or no index

// Asks for a definition while definitions are being built: `*ready` is false when it has to be
// built first, which is noted in `pending`. Returns false with a message for a cycle.
bool pawl_definition_ready(PawlLoader* loader, int number, bool* ready, PawlExprError* error);
