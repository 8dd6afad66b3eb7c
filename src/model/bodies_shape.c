// SPDX-License-Identifier: Apache-2.0
// Mass, centre of mass and inertia of a body from its shape. With m the mass, V the volume (in the
// plane the area), formulas of the shapes about their middle; those of a capsule are a cylinder and
// two halves of a sphere, whose centres are 3 r/8 from its ends (in the plane 4 r/(3 pi)).
#include <string.h>

#include "model/bodies.h"
#include "model/demand.h"

enum { MOST_SIZES = 3 };

typedef struct Shape {
  const char* word;
  int dimension, sizes;  // 2 plane, 3 space; numbers that it has
  // With $1 $2 $3 the sizes and $m the mass.
  const char* volume;
  const char* inertia[3];
} Shape;

#define ENDS "($2 + 4*$1/3)"  // of a capsule: its volume over that of a cylinder of length 1
static const Shape shapes[] = {
    {"box", 2, 2, "$1*$2", {"$m/12*($1^2 + $2^2)"}},
    {"disc", 2, 1, "pi*$1^2", {"$m/2*$1^2"}},
    {"capsule",
     2,
     2,
     "(2*$1*$2 + pi*$1^2)",
     {"$m*(2*$1*$2*($2^2 + 4*$1^2)/12 + pi*$1^2*($1^2/2 + $2^2/4 + 4*$1*$2/(3*pi)))"
      "/(2*$1*$2 + pi*$1^2)"}},
    {"box",
     3,
     3,
     "$1*$2*$3",
     {"$m/12*($2^2 + $3^2)", "$m/12*($1^2 + $3^2)", "$m/12*($1^2 + $2^2)"}},
    {"sphere", 3, 1, "4*pi/3*$1^3", {"0.4*$m*$1^2", "0.4*$m*$1^2", "0.4*$m*$1^2"}},
    {"cylinder",
     3,
     2,
     "pi*$1^2*$2",
     {"$m/12*(3*$1^2 + $2^2)", "$m/12*(3*$1^2 + $2^2)", "$m/2*$1^2"}},
    {"capsule",
     3,
     2,
     "pi*$1^2*" ENDS,
     {"$m*($2*(3*$1^2 + $2^2)/12 + 4*$1/3*(0.4*$1^2 + $2^2/4 + 0.375*$1*$2))/" ENDS,
      "$m*($2*(3*$1^2 + $2^2)/12 + 4*$1/3*(0.4*$1^2 + $2^2/4 + 0.375*$1*$2))/" ENDS,
      "$m*($2*$1^2/2 + 4*$1/3*0.4*$1^2)/" ENDS}},
};
#undef ENDS
enum { SHAPES = sizeof shapes / sizeof *shapes };

static const char* fill(PawlMade* made, const char* text, const char* mass,
                        const char* const sizes[]) {
  PawlText out = {0};
  for (const char* c = text; *c; c++) {
    if (*c == '$') {
      c++;
      pawl_text_add(&out, *c == 'm' ? mass : sizes[*c - '1']);
    } else {
      pawl_text_add_bytes(&out, c, 1);
    }
  }
  const char* filled = out.failed ? "" : pawl_say(made, "%s", out.s ? out.s : "");
  if (out.failed) {
    pawl_loader_no_memory(made->loader);
  }
  pawl_text_free(&out);
  return filled;
}

static void put(PawlMade* made, const PawlBody* body, const PawlYaml* like, const char* part,
                const char* text) {
  pawl_put(made, "parameters", like, pawl_part_key(made, &body->name, part), text);
}

// The mass as given, or by density; inertias that follow use it.
static void put_mass(PawlMade* made, const PawlBody* body, const PawlYaml* like,
                     const char* otherwise) {
  const PawlYaml* mass = pawl_part_get(body->map, "mass");
  put(made, body, mass ? mass : like, "mass",
      mass ? pawl_part_text(made, mass, "mass: an expression") : otherwise);
}

// ---- sizes ------------------------------------------------------------------------------------

static bool read_sizes(PawlMade* made, const PawlYaml* node, const Shape* shape,
                       const char* sizes[MOST_SIZES]) {
  bool list = node->kind == PAWL_YAML_LIST;
  if (shape->sizes == 1 ? list : !list || node->count != shape->sizes) {
    pawl_report(&made->loader->report, node, "%s: expected %d number%s%s", shape->word,
                shape->sizes, shape->sizes == 1 ? "" : "s, a list", PAWL_YAML_FLOW_HINT);
    return false;
  }
  const PawlYaml* item = list ? node->first : node;
  for (int k = 0; k < shape->sizes; k++, item = item->next) {
    const char* text = pawl_part_text(made, item, "a number");
    if (!text) {
      return false;
    }
    sizes[k] = pawl_factor(made, text);
  }
  return true;
}

static void write_plain(PawlMade* made, const PawlBody* body, const PawlYaml* node,
                        const Shape* shape, const char* density) {
  static const char* const parts[] = {"inertia_1", "inertia_2", "inertia_3"};
  const char* sizes[MOST_SIZES] = {"0", "0", "0"};
  const char* mass = pawl_part_use(made, &body->name, "mass");
  if (!read_sizes(made, node, shape, sizes)) {
    return;
  }
  put_mass(made, body, node,
           pawl_say(made, "%s*%s", density, fill(made, shape->volume, mass, sizes)));
  for (int k = 0; k < 3 && shape->inertia[k] && !pawl_part_get(body->map, "inertia"); k++) {
    put(made, body, node, made->dimension == 2 ? "inertia" : parts[k],
        fill(made, shape->inertia[k], mass, sizes));
  }
}

// ---- polygons ---------------------------------------------------------------------------------

// Sums over the edges p, q of its corners, counter-clockwise (their names `a`, `b`, ...).
static void write_polygon(PawlMade* made, PawlBody* body, const PawlYaml* corners,
                          const char* density) {
  bool good = corners->kind == PAWL_YAML_LIST && corners->count >= 3;
  PawlText area = {0}, first[2] = {{0}, {0}}, second = {0};
  for (const PawlYaml* p = good ? corners->first : NULL; p && good; p = p->next) {
    const PawlYaml* q = p->next ? p->next : corners->first;
    const char *a = pawl_part_vector(made, p, "a corner"),
               *b = pawl_part_vector(made, q, "a corner");
    good = a && b;
    const char* plus = area.length > 0 ? " + " : "";
    pawl_text_printf(&area, "%scross(%s, %s)/2", plus, a, b);
    for (int k = 0; k < 2; k++) {
      pawl_text_printf(&first[k], "%scross(%s, %s)*(%s + %s).%c/6", plus, a, b, a, b, 'x' + k);
    }
    pawl_text_printf(&second, "%scross(%s, %s)*(dot(%s, %s) + dot(%s, %s) + dot(%s, %s))/12", plus,
                     a, b, a, a, a, b, b, b);
  }
  bool failed = area.failed || first[0].failed || first[1].failed || second.failed;
  if (failed) {
    pawl_loader_no_memory(made->loader);
  } else if (!good) {
    pawl_report(&made->loader->report, corners, "polygon: expected three corners [x, y] or more");
  } else {
    const char* b = pawl_part_use(made, &body->name, "");
    put(made, body, corners, "area", area.s);
    put(made, body, corners, "middle_1", pawl_say(made, "(%s)/%s.area", first[0].s, b));
    put(made, body, corners, "middle_2", pawl_say(made, "(%s)/%s.area", first[1].s, b));
    put_mass(made, body, corners, pawl_say(made, "%s*%s.area", density, b));
    if (!pawl_part_get(body->map, "inertia")) {
      put(made, body, corners, "inertia",
          pawl_say(made, "%s.mass*((%s)/%s.area - %s.middle_1^2 - %s.middle_2^2)", b, second.s, b,
                   b, b));
    }
    body->centre = body->centre ? body->centre : pawl_say(made, "[%s.middle_1, %s.middle_2]", b, b);
  }
  pawl_text_free(&area);
  pawl_text_free(&first[0]);
  pawl_text_free(&first[1]);
  pawl_text_free(&second);
}

// ---- the shape of a body ----------------------------------------------------------------------

static const PawlYaml* find_shape(PawlMade* made, const PawlYaml* map, const Shape** shape) {
  const PawlYaml* polygon = made->dimension == 2 ? pawl_part_get(map, "polygon") : NULL;
  *shape = NULL;
  for (int k = 0; k < SHAPES && !polygon; k++) {
    const PawlYaml* node =
        shapes[k].dimension == made->dimension ? pawl_part_get(map, shapes[k].word) : NULL;
    if (node) {
      *shape = &shapes[k];
      return node;
    }
  }
  if (!polygon) {
    pawl_report(
        &made->loader->report, map, "a shape in %s is one of %s",
        made->dimension == 2 ? "the plane" : "space",
        made->dimension == 2 ? "box, disc, capsule, polygon" : "box, sphere, cylinder, capsule");
  }
  return polygon;
}

bool pawl_body_shape(PawlMade* made, PawlBody* body) {
  static const char* const keys[] = {"box",     "disc", "sphere",  "cylinder", "capsule",
                                     "polygon", "at",   "density", "round",    NULL};
  const PawlYaml* map = pawl_part_get(body->map, "shape");
  int mistakes = made->loader->report.count;
  if (!map) {
    return true;
  }
  if (map->kind != PAWL_YAML_MAP) {
    pawl_report(&made->loader->report, map, "shape: expected {box: [a, b], density: d}");
    return false;
  }
  const Shape* shape;
  const PawlYaml *node = pawl_yaml_check_keys(&made->loader->report, map, "a shape", keys)
                             ? find_shape(made, map, &shape)
                             : NULL,
                 *density = pawl_part_get(map, "density"), *at = pawl_part_get(map, "at");
  if (!node) {
    return false;
  }
  if (at && !body->centre) {
    body->centre = pawl_part_vector(made, at, "at");
  }
  const char* d = density ? pawl_part_text(made, density, "a density") : NULL;
  pawl_demand_shape(made, &body->name, node);
  if (d) {
    pawl_demand_one(made, PAWL_DEMAND_NOT_NEGATIVE, &body->name, density,
                    pawl_say(made, "the density of '%s' is negative", body->name.name), d);
  }
  body->shaped = d || pawl_part_get(body->map, "mass");
  d = pawl_factor(made, d ? d : "0");
  if (body->shaped && shape) {
    write_plain(made, body, node, shape, d);
  } else if (body->shaped) {
    write_polygon(made, body, node, d);
  }
  return made->loader->report.count == mistakes;
}
