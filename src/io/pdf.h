// SPDX-License-Identifier: Apache-2.0
// Drawings as PDF. What pawl draws is SVG of a few elements (rect, path, line, circle, polygon,
// text, g with translate and rotate, one style sheet of classes); these are translated one by one,
// so that a drawing looks the same in both. Text is set in Helvetica and Symbol, which every reader
// has.
#pragma once

#include "base/error.h"
#include "base/text.h"

// Appends the PDF of a drawing of pawl's own; other SVG may lose what is not named above.
PAWL_CHECKED PawlStatus pawl_pdf(const char* svg, PawlText* out, PawlError* err);
