// SPDX-License-Identifier: Apache-2.0
// A four-bar linkage that several tests look at: its bodies, with links of 0.4, 1 and 0.8 m.
#pragma once

#define FOUR_BAR_BODIES                                                              \
  "bodies:\n"                                                                        \
  "  crank: {mass: 1, inertia: 0.02, centre: [0.2, 0], points: {end: [0.4, 0]}}\n"   \
  "  coupler: {mass: 2, inertia: 0.2, centre: [0.5, 0.1], points: {end: [1, 0]}}\n"  \
  "  rocker: {mass: 1.5, inertia: 0.1, centre: [0.4, 0], points: {end: [0.8, 0]}}\n" \
  "joints:\n"                                                                        \
  "  a: {revolute: [ground, crank], start: 0.9, rate: 3}\n"                          \
  "  c: {revolute: [coupler, rocker], at: [coupler.end, rocker.end]}\n"
