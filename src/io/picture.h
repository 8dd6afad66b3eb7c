// SPDX-License-Identifier: Apache-2.0
// Drawings to files.
#pragma once

#include "base/error.h"
#include "base/text.h"

// Writes a drawing to a file, SVG or PDF by its ending, whole or not at all.
PAWL_CHECKED PawlStatus pawl_picture_write(const PawlText* svg, const char* path, PawlError* err);
