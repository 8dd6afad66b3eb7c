// SPDX-License-Identifier: Apache-2.0
// Rotations among the `coordinates:`, {kind: rotation, start: ..., rate: [x, y, z]}
// (docs/theory/rotations.md). They stand behind the other coordinates.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "expr/elementary.h"
#include "model/loader.h"

// ---- entries ------------------------------------------------------------------------------------
static bool is_rotation(const PawlYaml* value) {
  const PawlYaml* kind =
      value && value->kind == PAWL_YAML_MAP ? pawl_yaml_get(value, "kind") : NULL;
  return kind && kind->kind == PAWL_YAML_SCALAR && strcmp(kind->text, "rotation") == 0;
}

void pawl_claim_rotations(PawlLoader* loader, PawlEntries* coordinates, PawlEntries* rotations) {
  int kept = 0;
  for (int k = 0; k < coordinates->count; k++) {
    PawlDeclared entry = coordinates->entry[k];
    if (!is_rotation(entry.value)) {
      coordinates->entry[kept++] = entry;
      continue;
    }
    entry.family->kind = PAWL_NAME_ROTATION;
    if (PAWL_GROW(rotations->entry, rotations->capacity, rotations->count + 1) != 0) {
      pawl_loader_no_memory(loader);
      return;
    }
    rotations->entry[rotations->count++] = entry;
  }
  coordinates->count = kept;
}

// ---- starts -------------------------------------------------------------------------------------
static void multiply(const double a[4], const double b[4], double out[4]) {
  const double product[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                             a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                             a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3],
                             a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1]};
  memcpy(out, product, sizeof product);
}

// A list of four numbers, of any length but zero.
static bool read_quaternion(PawlLoader* loader, PawlYaml* list, const PawlScope* scope,
                            double p[4]) {
  int k = 0;
  double square = 0.0;
  for (PawlYaml* child = list->first; child; child = child->next) {
    if (!pawl_value(loader, child, scope, &p[k])) {
      return false;
    }
    square += p[k] * p[k];
    k++;
  }
  if (!(square > 0.0)) {
    pawl_report(&loader->report, list, "a quaternion of length zero is no rotation");
    return false;
  }
  for (k = 0; k < 4; k++) {
    p[k] /= sqrt(square);
  }
  return true;
}

static bool is_sequence(const char* word) {
  bool axes = strspn(word, "xyz") == 3 && word[3] == '\0';
  return axes && word[0] != word[1] && word[1] != word[2];
}

// {zxz: [a, b, c]}: about z by a, then about the x of the turned frame by b, and so on.
static bool read_angles(PawlLoader* loader, PawlYaml* map, const PawlScope* scope, double p[4]) {
  PawlYaml* angles = map->first;
  PawlMatrix shape;
  double angle[9];
  if (map->count != 1 || !is_sequence(angles->key->text)) {
    pawl_report(&loader->report, map,
                "expected angles about three axes, such as {zxz: [0.1, 0.2, 0.3]}");
    return false;
  }
  if (!pawl_values(loader, angles, scope, &shape, angle)) {
    return false;
  }
  if (shape.rows != 3 || shape.cols != 1) {
    pawl_report(&loader->report, angles, "%s: expected three angles, found %s", angles->key->text,
                pawl_matrix_shape(&shape));
    return false;
  }
  memcpy(p, (const double[]){1, 0, 0, 0}, 4 * sizeof *p);
  for (int k = 0; k < 3; k++) {
    double turn[4] = {pawl_cos(angle[k] / 2)};
    turn[1 + angles->key->text[k] - 'x'] = pawl_sin(angle[k] / 2);
    multiply(p, turn, p);
  }
  return true;
}

// Whether R^T R = 1 and R keeps right hands. Expressions of a rotation are off by rounding, numbers
// that were written down by what they have lost: half of all digits is enough.
static bool is_rotation_matrix(const double R[9]) {
  double off = 0.0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      double sum = R[i] * R[j] + R[3 + i] * R[3 + j] + R[6 + i] * R[6 + j];
      off = fmax(off, fabs(sum - (i == j)));
    }
  }
  double hand = R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
                R[2] * (R[3] * R[7] - R[4] * R[6]);
  return off < sqrt(DBL_EPSILON) && hand > 0.0;
}

// From the largest of the four numbers, the others by division.
static void from_matrix(const double R[9], double p[4]) {
  double trace = R[0] + R[4] + R[8], largest = trace;
  int at = 0;
  for (int k = 0; k < 3; k++) {
    if (R[4 * k] > largest) {
      largest = R[4 * k];
      at = k + 1;
    }
  }
  if (at == 0) {
    p[0] = sqrt(1.0 + trace) / 2;
    p[1] = (R[7] - R[5]) / (4 * p[0]);
    p[2] = (R[2] - R[6]) / (4 * p[0]);
    p[3] = (R[3] - R[1]) / (4 * p[0]);
    return;
  }
  int i = at - 1, j = (i + 1) % 3, k = (i + 2) % 3;
  p[at] = sqrt(1.0 + 2 * R[4 * i] - trace) / 2;
  p[0] = (R[3 * k + j] - R[3 * j + k]) / (4 * p[at]);
  p[j + 1] = (R[3 * j + i] + R[3 * i + j]) / (4 * p[at]);
  p[k + 1] = (R[3 * k + i] + R[3 * i + k]) / (4 * p[at]);
}

static bool read_matrix(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, double p[4]) {
  PawlMatrix shape;
  double R[9];
  if (!pawl_values(loader, text, scope, &shape, R)) {
    return false;
  }
  if (shape.rows != 3 || shape.cols != 3) {
    pawl_report(&loader->report, text,
                "expected a rotation such as rotation([0, 0, 1], 0.3), found %s",
                pawl_matrix_shape(&shape));
    return false;
  }
  if (!is_rotation_matrix(R)) {
    pawl_report(&loader->report, text, "this matrix is no rotation");
    return false;
  }
  from_matrix(R, p);
  return true;
}

static bool read_start(PawlLoader* loader, PawlYaml* start, const PawlScope* scope, double p[4]) {
  return start->kind == PAWL_YAML_MAP ? read_angles(loader, start, scope, p)
         : start->kind == PAWL_YAML_LIST && start->count == 4
             ? read_quaternion(loader, start, scope, p)
             : read_matrix(loader, start, scope, p);
}

static bool read_rate(PawlLoader* loader, PawlYaml* rate, const PawlScope* scope, double omega[3]) {
  PawlMatrix shape;
  double values[9];
  if (!pawl_values(loader, rate, scope, &shape, values)) {
    return false;
  }
  if (shape.rows != 3 || shape.cols != 1) {
    pawl_report(&loader->report, rate,
                "rate: expected the angular velocity [x, y, z] in the axes of the body, found %s",
                pawl_matrix_shape(&shape));
    return false;
  }
  memcpy(omega, values, 3 * sizeof *omega);
  return true;
}

// ---- adding -------------------------------------------------------------------------------------
static const char* part_name(PawlLoader* loader, const char* name, const char* part) {
  size_t length = strlen(name), more = strlen(part);
  char* text = pawl_pool_alloc(&loader->kept, length + more + 1);
  if (!text) {
    pawl_loader_no_memory(loader);
    return NULL;
  }
  memcpy(text, name, length);
  memcpy(text + length, part, more + 1);
  return text;
}

// Guesses of a rotation are those of each of its velocities: that it may turn about this axis.
static bool add_velocities(PawlLoader* loader, const PawlDeclared* entry, const PawlRotation* r,
                           const double omega[3]) {
  static const char* const parts[] = {".omega.x", ".omega.y", ".omega.z"};
  PawlModel* model = loader->model;
  PawlYaml* guess = pawl_yaml_get(entry->value, "guess");
  for (int k = 0; k < 3; k++) {
    const char* name = part_name(loader, r->name, parts[k]);
    if (!name || !PAWL_ROOM(loader, entry->key, model->coordinates, loader->coordinate_capacity,
                            model->coordinate_count)) {
      return false;
    }
    PawlCoordinate* added = &model->coordinates[model->coordinate_count++];
    *added = (PawlCoordinate){.name = name, .unit = "rad", .rate = omega[k], .source = r->source};
    if (guess && !pawl_yaml_is_null(guess)) {
      pawl_load_guess(loader, guess, added);
    }
  }
  return true;
}

static int add_rotation(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  static const char* const keys[] = {"kind", "start", "rate", "guess", NULL};
  static const char* const parts[] = {".q0", ".q1", ".q2", ".q3"};
  PawlModel* model = loader->model;
  PawlRotation r = {.name = pawl_element_name(&loader->kept, entry->family, at->value),
                    .start = {1, 0, 0, 0},
                    .source = pawl_loader_source(loader, entry->key)};
  double omega[3] = {0, 0, 0};
  PawlYaml *start = pawl_yaml_get(entry->value, "start"),
           *rate = pawl_yaml_get(entry->value, "rate");
  bool good = pawl_yaml_check_keys(&loader->report, entry->value, "a rotation", keys);
  good &= !start || pawl_yaml_is_null(start) || read_start(loader, start, &at->scope, r.start);
  good &= !rate || pawl_yaml_is_null(rate) || read_rate(loader, rate, &at->scope, omega);
  for (int k = 0; r.name && k < 4; k++) {
    r.quaternion_names[k] = part_name(loader, r.name, parts[k]);
    good &= r.quaternion_names[k] != NULL;
  }
  if (!r.name || !good || !add_velocities(loader, entry, &r, omega) ||
      !PAWL_ROOM(loader, entry->key, model->rotations, loader->rotation_capacity,
                 model->rotation_count)) {
    return -1;
  }
  model->rotations[model->rotation_count] = r;
  return model->rotation_count++;
}

// R.omega and R.q0 to R.q3 are families with the elements of R.
static bool name_parts(PawlLoader* loader, const PawlFamily* family) {
  static const char* const parts[] = {".omega", ".q0", ".q1", ".q2", ".q3"};
  for (int k = 0; k < 5; k++) {
    const char* name = part_name(loader, family->name, parts[k]);
    PawlFamily* part = name ? pawl_names_add(&loader->names, &loader->pool, name) : NULL;
    if (!part) {
      return pawl_loader_no_memory(loader);
    }
    PawlFamily places = *part;
    *part = *family;
    part->name = places.name;
    part->chain = places.chain;
    part->next = places.next;
    part->part = PAWL_ROTATION_OMEGA + k;
  }
  return true;
}

void pawl_load_rotations(PawlLoader* loader, PawlEntries* rotations) {
  int count = rotations->count;
  PawlFamily** families = pawl_alloc((size_t)count, sizeof(PawlFamily*));
  for (int k = 0; families && k < count; k++) {
    families[k] = rotations->entry[k].family;
  }
  pawl_fill(loader, rotations, add_rotation);
  for (int k = 0; families && k < count; k++) {
    bool first = true;  // several keys may fill one family
    for (int j = 0; j < k; j++) {
      first &= families[j] != families[k];
    }
    if (first && !name_parts(loader, families[k])) {
      break;
    }
  }
  if (!families) {
    pawl_loader_no_memory(loader);
  }
  pawl_free(families);
}
