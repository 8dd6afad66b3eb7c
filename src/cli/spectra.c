// SPDX-License-Identifier: Apache-2.0
// Spectra as text and JSON.
#include "cli/spectra.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool contacts_rub(const PawlSystem* system) {
  for (int k = 0; k < pawl_system_sizes(system).rows; k++) {
    if (pawl_system_row_kind(system, k) == PAWL_ROW_FRICTION) {
      return true;
    }
  }
  return false;
}

// "joint2 locked, joint3 free"; of many constraints only those that are not free.
void put_modes(const PawlSystem* system, const int* modes, char* out, size_t size) {
  enum { MANY = 5 };
  char room[200];
  size_t at = 0;
  int count = pawl_system_constraint_count(system), left_out = 0;
  out[0] = '\0';
  for (int c = 0; c < count; c++) {
    const char* mode = pawl_system_mode_name(system, c, modes, room, sizeof room);
    const char* name = pawl_system_constraint_name(system, c);
    bool idle = count > MANY && pawl_system_engages(system, c) && modes[c] == 0;
    bool fits = at + strlen(name) + strlen(mode) + 30 < size;
    if (mode[0] && !idle && fits) {
      at += (size_t)snprintf(out + at, size - at, "%s%s %s", at ? ", " : "", name, mode);
    }
    left_out += mode[0] && (idle || !fits);
  }
  if (left_out > 0) {
    snprintf(out + at, size - at, "%s%d %sfree", at ? ", " : "", left_out, at ? "others " : "");
  }
}

// The coordinates that take most part in a motion.
static void print_shape(const PawlSystem* system, const PawlSpectrum* s, const double* shape) {
  enum { MOST_SHOWN = 4 };
  static const double LITTLE = 0.05;
  int shown[MOST_SHOWN], count = 0;
  PawlSizes n = pawl_system_sizes(system);
  bool is_rate;
  if (n.v - n.states != s->coordinates || !pawl_system_velocity_name(system, 0, &is_rate)) {
    return;
  }
  for (; count < MOST_SHOWN; count++) {
    int best = -1;
    for (int k = 0; k < s->coordinates; k++) {
      bool taken = false;
      for (int i = 0; i < count; i++) {
        taken |= shown[i] == k;
      }
      bool more = best < 0 || fabs(shape[k]) > fabs(shape[best]);
      best = !taken && more && fabs(shape[k]) >= LITTLE ? k : best;
    }
    if (best < 0) {
      break;
    }
    shown[count] = best;
    printf("%s%s %.4g", count ? ", " : "    shape           ",
           pawl_system_velocity_name(system, best, &is_rate), shape[best]);
  }
  printf(count ? "\n" : "");
}

static void print_eigenvalues(const PawlSpectrum* s) {
  enum { MOST_SHOWN = 8 };
  printf("  eigenvalues       ");
  int zeros = s->algebraic;  // they come first
  if (zeros > 1) {
    printf("0 (%d times)", zeros);
  }
  int first = zeros > 1 ? zeros : 0;
  for (int k = first; k < s->eigenvalue_count && k < first + MOST_SHOWN; k++) {
    if (s->imaginary[k] == 0.0) {
      printf("%s%.6g", k ? ", " : "", s->real[k]);
    } else if (s->imaginary[k] > 0.0) {
      printf("%s%.6g +- %.6gi", k ? ", " : "", s->real[k], s->imaginary[k]);
    } else if (k == 0 || s->imaginary[k - 1] != -s->imaginary[k]) {
      printf("%s%.6g - %.6gi", k ? ", " : "", s->real[k], -s->imaginary[k]);
    }
  }
  printf("%s\n", s->eigenvalue_count > first + MOST_SHOWN ? ", ..." : "");
}

void print_spectrum(const PawlSystem* system, const int* modes, const PawlSpectrum* s,
                    const char* head) {
  enum { MOST_SHOWN = 12 };
  char text[200];
  put_modes(system, modes, text, sizeof text);
  printf("%-19s %s%s%d degree%s of freedom, %s\n", head, text, text[0] ? ": " : "",
         s->coordinates - s->rank, s->coordinates - s->rank == 1 ? "" : "s",
         s->oscillator_count > 0 ? pawl_damping_name(s->damping) : "no oscillation");
  print_eigenvalues(s);
  char of_rows[80] = "";
  if (!s->regular && s->rank > 0) {
    snprintf(of_rows, sizeof of_rows, " (%d and %d of them of the constraints)", 2 * s->rank,
             s->rank);
  }
  printf("  eigenvalue zero   algebraic multiplicity %d, geometric %d%s%s\n", s->algebraic,
         s->geometric, of_rows,
         s->regular ? (s->rank > 0 ? ": that of the constraints" : "")
                    : ": some free motion has no stiffness");
  for (int k = 0; k < s->oscillator_count && k < MOST_SHOWN; k++) {
    const PawlOscillator* o = &s->oscillators[k];
    if (isnan(o->ratio)) {
      printf("  no oscillation    %.9g and %.9g 1/s, %s\n", o->real[0], o->real[1],
             pawl_damping_name(o->damping));
      continue;
    }
    if (isinf(o->ratio)) {  // one eigenvalue alone: a state, a damper without a spring
      printf("  %-17s %.9g 1/s, time constant %.6g s\n", o->decay > 0.0 ? "decay" : "growth",
             fabs(o->decay), 1.0 / fabs(o->decay));
    } else {
      printf("  natural frequency %.9g rad/s = %.6g Hz, damping ratio %.6g, %s\n", o->natural,
             o->hertz, o->ratio, pawl_damping_name(o->damping));
    }
    if (s->coordinates > 1) {
      print_shape(system, s, o->shape);
    }
  }
}

void put_spectrum(Json* json, const PawlSystem* system, const int* modes, const PawlSpectrum* s) {
  char text[200];
  put_modes(system, modes, text, sizeof text);
  json_open(json, NULL, '{');
  json_text(json, "modes", text);
  json_whole(json, "degrees_of_freedom", s->coordinates - s->rank);
  json_text(json, "damping", pawl_damping_name(s->damping));
  json_whole(json, "zero_algebraic", s->algebraic);
  json_whole(json, "zero_geometric", s->geometric);
  json_numbers(json, "real", s->eigenvalue_count, s->real);
  json_numbers(json, "imaginary", s->eigenvalue_count, s->imaginary);
  json_open(json, "oscillators", '[');
  for (int k = 0; k < s->oscillator_count; k++) {
    json_open(json, NULL, '{');
    json_number(json, "natural", s->oscillators[k].natural);
    json_number(json, "hertz", s->oscillators[k].hertz);
    json_number(json, "ratio", s->oscillators[k].ratio);
    json_number(json, "decay", s->oscillators[k].decay);
    json_text(json, "damping", pawl_damping_name(s->oscillators[k].damping));
    json_numbers(json, "shape", s->coordinates, s->oscillators[k].shape);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_close(json, '}');
}
