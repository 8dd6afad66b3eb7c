// SPDX-License-Identifier: Apache-2.0
// Three balls above each other that fall on a floor, with a restitution as text. (With 1/2 the
// bounces would end on steps exactly: ties.)
#pragma once

#define COLUMN_WITH(restitution)                                       \
  "model: column\n"                                                    \
  "coordinates: {a: {start: 0.3}, b: {start: 0.8}, c: {start: 1.5}}\n" \
  "mass: {a: 1, b: 2, c: 3}\n"                                         \
  "potential: 10*a + 20*b + 30*c\n"                                    \
  "contacts:\n"                                                        \
  "  floor: {gap: a, restitution: " restitution                        \
  "}\n"                                                                \
  "  ab: {gap: b - a - 0.2, restitution: " restitution                 \
  "}\n"                                                                \
  "  bc: {gap: c - b - 0.2, restitution: " restitution "}\n"
#define COLUMN COLUMN_WITH("0.47")
