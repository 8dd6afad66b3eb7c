// SPDX-License-Identifier: Apache-2.0
// Reading `bodies:`.
#include "model/bodies.h"

#include <string.h>

#include "base/bytes.h"

static const char* const body_keys[] = {"mass",   "inertia", "centre", "shape", "shapes",
                                        "points", "start",   "rate",   NULL};
static const char* const ground_keys[] = {"points", "shape", "shapes", NULL};

// ---- one body ---------------------------------------------------------------------------------

// Looks at a place for its number of numbers alone; the text is read where it is written.
static bool check_places(PawlMade* made, const PawlYaml* map) {
  bool good = true;
  for (const PawlYaml* point = map ? map->first : NULL; point; point = point->next) {
    PawlPartName name;
    good &= pawl_part_vector(made, point, "a point") != NULL;
    good &= pawl_part_name(made, point->key, &name);
    if (strchr(point->key->text, '[')) {
      pawl_report(&made->loader->report, point->key, "a point of a body has no indices");
      good = false;
    }
  }
  return good;
}

static bool read_points(PawlMade* made, PawlBody* body) {
  static const char* const taken[] = {"at",   "centre",  "angle", "R", "omega", "spin",
                                      "mass", "inertia", "x",     "y", "z"};
  const PawlYaml* points = pawl_part_get(body->map, "points");
  if (points && points->kind != PAWL_YAML_MAP) {
    pawl_report(&made->loader->report, points, "points: expected a map of places");
    return false;
  }
  body->points = points;
  for (const PawlYaml* point = points ? points->first : NULL; point; point = point->next) {
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++) {
      if (strcmp(point->key->text, taken[k]) == 0) {
        pawl_report(&made->loader->report, point->key,
                    "a point cannot be called '%s', which every body has", taken[k]);
        return false;
      }
    }
  }
  return check_places(made, points);
}

static bool read_start(PawlMade* made, PawlBody* body) {
  static const char* const start_keys[] = {"at", "angle", "rotation", NULL};
  static const char* const rate_keys[] = {"velocity", "omega", NULL};
  PawlReport* report = &made->loader->report;
  const PawlYaml *start = pawl_part_get(body->map, "start"),
                 *rate = pawl_part_get(body->map, "rate");
  bool good = true;
  if (start && start->kind != PAWL_YAML_MAP) {
    pawl_report(report, start, "start: expected {at: place, angle: a} or {at: place, rotation: R}");
    return false;
  }
  if (rate && rate->kind != PAWL_YAML_MAP) {
    pawl_report(report, rate, "rate: expected {velocity: vector, omega: w}");
    return false;
  }
  good &= !start || pawl_yaml_check_keys(report, start, "the start of a body", start_keys);
  good &= !rate || pawl_yaml_check_keys(report, rate, "the rate of a body", rate_keys);
  const PawlYaml *at = pawl_part_get(start, "at"), *velocity = pawl_part_get(rate, "velocity");
  good &= !at || pawl_part_vector(made, at, "at");
  good &= !velocity || pawl_part_vector(made, velocity, "velocity");
  body->start = start;
  body->rate = rate;
  return good;
}

static bool read_body(PawlMade* made, PawlYaml* map, PawlBody* body) {
  *body = (PawlBody){.key = map->key, .map = map, .joint = -1, .chain = -1, .parent = -1};
  if (!pawl_part_name(made, map->key, &body->name)) {
    return false;
  }
  body->is_ground = strcmp(body->name.name, "ground") == 0;
  if (pawl_yaml_is_null(map)) {
    return true;
  }
  if (map->kind != PAWL_YAML_MAP) {
    pawl_report(&made->loader->report, map, "'%s': expected {mass: ..., inertia: ..., ...}",
                pawl_quote(map->key->text).s);
    return false;
  }
  const PawlYaml *centre = pawl_part_get(map, "centre"), *inertia = pawl_part_get(map, "inertia");
  bool space = inertia && inertia->kind == PAWL_YAML_LIST;
  made->dimension = made->dimension == 0 && space ? 3 : made->dimension;
  body->full = inertia && inertia->first && inertia->first->kind == PAWL_YAML_LIST;
  bool good =
      pawl_yaml_check_keys(&made->loader->report, map, body->is_ground ? "the ground" : "a body",
                           body->is_ground ? ground_keys : body_keys);
  good &= !centre || (body->centre = pawl_part_vector(made, centre, "centre")) != NULL;
  good &= read_points(made, body);
  return read_start(made, body) && good;
}

// ---- all of them ------------------------------------------------------------------------------

// Where the name stands in the table, or would stand.
static int* place_of(const PawlBodies* bodies, const char* name, size_t length) {
  int mask = bodies->table_size - 1,
      at = (int)(pawl_hash(PAWL_HASH_START, name, length) & (unsigned)mask);
  for (;; at = (at + 1) & mask) {
    int body = bodies->table[at] - 1;
    const char* known = body < 0 ? NULL : bodies->item[body].name.name;
    if (!known || (strncmp(known, name, length) == 0 && known[length] == '\0')) {
      return &bodies->table[at];
    }
  }
}

static bool make_table(PawlMade* made, PawlBodies* bodies) {
  for (bodies->table_size = 16; bodies->table_size < 2 * bodies->count;) {
    bodies->table_size *= 2;
  }
  bodies->table =
      pawl_pool_alloc(&made->loader->pool, (size_t)bodies->table_size * sizeof *bodies->table);
  for (int k = 0; bodies->table && k < bodies->count; k++) {
    const char* name = bodies->item[k].name.name;
    int* place = place_of(bodies, name, strlen(name));
    *place = *place ? *place : k + 1;
  }
  return bodies->table || pawl_loader_no_memory(made->loader);
}

bool pawl_read_bodies(PawlMade* made, PawlYaml* section, PawlBodies* bodies) {
  bool good = true;
  bool map = pawl_expect_map(made->loader, section, "bodies");
  size_t room = map ? (size_t)section->count + 1 : 1;
  bodies->item = pawl_pool_alloc(&made->loader->pool, room * sizeof *bodies->item);
  if (!bodies->item) {
    return pawl_loader_no_memory(made->loader);
  }
  bodies->item[0] = (PawlBody){
      .name = {"ground", "", ""}, .is_ground = true, .joint = -1, .chain = -1, .parent = -1};
  bodies->count = 1;
  for (PawlYaml* child = map ? section->first : NULL; child; child = child->next) {
    PawlBody body;
    good &= read_body(made, child, &body);
    if (body.is_ground) {
      bodies->item[0] = body;
    } else if (body.name.name) {  // with mistakes, too: joints may name it
      bodies->item[bodies->count++] = body;
    }
  }
  return make_table(made, bodies) && good;
}

const PawlBody* pawl_find_body(const PawlBodies* bodies, const char* name, size_t length) {
  int body = *place_of(bodies, name, length) - 1;
  return body < 0 ? NULL : &bodies->item[body];
}

// ---- its parts --------------------------------------------------------------------------------

const char* pawl_body_part(PawlMade* made, const PawlBodyUse* use, const char* part) {
  return pawl_part_use(made, &use->name, part);
}

const char* pawl_body_R(PawlMade* made, const PawlBodyUse* use, const char* prime) {
  return use->body->is_ground ? NULL
                              : pawl_say(made, "%s%s", pawl_body_part(made, use, "R"), prime);
}

const char* pawl_body_place(PawlMade* made, const PawlBodyUse* use, const char* local) {
  if (use->body->is_ground) {
    return local ? local : made->dimension == 3 ? "[0, 0, 0]" : "[0, 0]";
  }
  const char* arm =
      local ? pawl_say(made, "%s*%s", pawl_body_R(made, use, ""), pawl_factor(made, local)) : NULL;
  return pawl_sum(made, pawl_body_part(made, use, "at"), arm, NULL, NULL);
}

const char* pawl_body_velocity(PawlMade* made, const PawlBodyUse* use, const char* local) {
  if (use->body->is_ground) {
    return NULL;
  }
  const char* arm =
      local ? pawl_say(made, "%s*%s", pawl_body_R(made, use, "'"), pawl_factor(made, local)) : NULL;
  return pawl_sum(made, pawl_body_part(made, use, "at'"), arm, NULL, NULL);
}
