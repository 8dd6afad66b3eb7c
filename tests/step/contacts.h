// SPDX-License-Identifier: Apache-2.0
// The methods that know contacts, and a ball, for the tests of contacts.
#pragma once

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

// Three balls above each other. (With 1/2 the bounces would end on steps exactly: ties.)
static const char COLUMN[] =
    "model: column\n"
    "coordinates: {a: {start: 0.3}, b: {start: 0.8}, c: {start: 1.5}}\n"
    "mass: {a: 1, b: 2, c: 3}\n"
    "potential: 10*a + 20*b + 30*c\n"
    "contacts:\n"
    "  floor: {gap: a, restitution: 0.47}\n"
    "  ab: {gap: b - a - 0.2, restitution: 0.47}\n"
    "  bc: {gap: c - b - 0.2, restitution: 0.47}\n";
