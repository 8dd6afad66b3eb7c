// SPDX-License-Identifier: Apache-2.0
// The methods that know contacts, and a ball, for the tests of contacts.
#pragma once

#include "step/column.h"
#include "step/sight.h"

static const char* const METHODS[] = {"nsga-pva", "nsga-pvv", "moreau-jean"};
enum { METHOD_COUNT = 3 };

static const char BALL[] =
    "model: ball\n"
    "parameters: {cor: 0.5}\n"
    "coordinates: {y: {start: 1}}\n"
    "mass: {y: 2}\n"
    "potential: 20*y\n"
    "contacts: {floor: {gap: y, restitution: cor}}\n";

static inline Motion text_with(const char* text, const char* override) {
  Motion m = {0};
  NEED(pawl_model_parse(text, strlen(text), "test", 1, &override, &m.model, &m.err), &m.err);
  motion_derive(&m);
  return m;
}
