// SPDX-License-Identifier: Apache-2.0
// Spectra as text and JSON, for check and equilibrium.
#pragma once

#include "cli/cli.h"

// "joint2 locked, joint3 free"; of many constraints only those that are not free.
void put_modes(const PawlSystem* system, const int* modes, char* out, size_t size);
// Eigenvalues, zero, frequencies, damping and shapes, behind the word `head`.
void print_spectrum(const PawlSystem* system, const int* modes, const PawlSpectrum* s,
                    const char* head);
// Whether contacts have friction, which rest positions leave out.
bool contacts_rub(const PawlSystem* system);
void put_spectrum(Json* json, const PawlSystem* system, const int* modes, const PawlSpectrum* s);
