// SPDX-License-Identifier: Apache-2.0
// Reading the file of a model.
#pragma once

#include <stddef.h>

#include "pawl/base.h"

// All of a file, to be freed with pawl_free whatever the status.
PAWL_CHECKED PawlStatus pawl_read_file(const char* path, char** text, size_t* length,
                                       PawlError* err);
// The same of a file that may be larger than a model.
PAWL_CHECKED PawlStatus pawl_read_file_up_to(const char* path, size_t most, char** text,
                                             size_t* length, PawlError* err);
// PAWL_ERROR_MODEL beyond PAWL_MODEL_MAX_BYTES.
PAWL_CHECKED PawlStatus pawl_check_size(size_t length, const char* name, PawlError* err);
