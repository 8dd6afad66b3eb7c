// SPDX-License-Identifier: Apache-2.0
// Changes of a model's text after which it often still is one: numbers, names, operators and lines
// in the place of others.
#pragma once

#include <stddef.h>

// Of libFuzzer: changes bytes, and returns how many there are then.
size_t LLVMFuzzerMutate(unsigned char* data, size_t size, size_t most);

// Changes `size` bytes of `text`, which has room for `most`; returns how many there are then.
size_t mutate_model(unsigned char* text, size_t size, size_t most, unsigned seed);
